/* SPDX-License-Identifier: MIT */
/* code_printing.hpp - instructions of loaded code objects with the lines of the source that they
 * come from
 *
 * Needs comgr (disassembly.hpp) and the header and -ldw of elfutils of the program that includes
 * it. Objects are for one thread at a time.
 */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_CODE_PRINTING_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_CODE_PRINTING_HPP

#include "disassembly.hpp"
#include "segment.hpp"

#if __has_include(<elfutils/libdw.h>)
#include <dwarf.h>
#include <elfutils/libdw.h>
#else
#error "rocprofiler-sdk/cxx/codeobj/code_printing.hpp needs elfutils' header elfutils/libdw.h (Debian: libdw-dev)"
#endif

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rocprofiler
{
namespace sdk
{
namespace codeobj
{
namespace disassembly
{
using marker_id_t = segment::marker_id_t;

struct Instruction {
	Instruction() = default;
	Instruction(std::string &&text, std::size_t bytes) : inst(std::move(text)), size(bytes)
	{
	}

	std::string inst{};
	/* FILE:LINE; of inlined code, also the places where it was inlined, from the inside out:
	 * FILE:LINE -> FILE:LINE */
	std::string comment{};
	std::uint64_t faddr{ 0 };   /* offset in the file */
	std::uint64_t vaddr{ 0 };   /* address in the code object, as if it was loaded at 0 */
	std::size_t size{ 0 };	    /* in bytes */
	std::uint64_t ld_addr{ 0 }; /* where it is loaded; 0 if the code object is not */
	marker_id_t codeobj_id{ 0 };

	static constexpr std::string_view separator = " -> ";
};

namespace details
{
/* The lines of a code object's DWARF, by address; without DWARF none. */
class line_table
{
public:
	line_table(const char *code_object, std::uint64_t size)
	{
		const memory_file file(code_object, size);
		const std::unique_ptr<Dwarf, int (*)(Dwarf *)> dwarf(dwarf_begin(file.descriptor,
										 DWARF_C_READ),
								     dwarf_end);
		Dwarf_Off unit = 0;
		Dwarf_Off next = 0;
		std::size_t header = 0;

		if (!dwarf)
			return;
		for (; dwarf_nextcu(dwarf.get(), unit, &next, &header, nullptr, nullptr, nullptr) ==
		       0;
		     unit = next) {
			Dwarf_Die top;

			if (!dwarf_offdie(dwarf.get(), unit + header, &top))
				continue;
			read_lines(&top);
			read_inlined(&top, &top);
		}
	}
	/* Each line up to the next one, or to the end of its sequence. */
	std::map<segment::address_range_t, std::string> ranges()
	{
		std::map<segment::address_range_t, std::string> result;

		for (auto at = lines_.begin(); at != lines_.end(); ++at) {
			const auto next = std::next(at);

			if (at->second.empty() || next == lines_.end())
				continue;
			result.emplace_hint(result.end(),
					    segment::address_range_t{ at->first,
								      next->first - at->first, 0 },
					    std::move(at->second));
		}
		return result;
	}

private:
	/* libdw reads files */
	struct memory_file {
		memory_file(const char *bytes, std::uint64_t size)
			: descriptor(::memfd_create("code object", MFD_CLOEXEC))
		{
			while (descriptor >= 0 && size > 0) {
				const ssize_t written = ::write(descriptor, bytes, size);

				if (written <= 0) {
					::close(descriptor);
					descriptor = -1;
					break;
				}
				bytes += written;
				size -= static_cast<std::uint64_t>(written);
			}
			if (descriptor < 0)
				throw std::runtime_error("no memory for a copy of the code object");
		}
		memory_file(const memory_file &) = delete;
		memory_file &operator=(const memory_file &) = delete;
		~memory_file()
		{
			::close(descriptor);
		}

		int descriptor;
	};

	void read_lines(Dwarf_Die *top)
	{
		Dwarf_Lines *rows = nullptr;
		std::size_t count = 0;

		if (dwarf_getsrclines(top, &rows, &count) != 0)
			return;
		for (std::size_t i = 0; i < count; i++) {
			Dwarf_Line *const row = dwarf_onesrcline(rows, i);
			Dwarf_Addr address = 0;
			bool ends = false;
			int number = 0;

			if (!row || dwarf_lineaddr(row, &address) != 0)
				continue;
			if (dwarf_lineendsequence(row, &ends) == 0 && ends) {
				/* another sequence may begin there */
				lines_.emplace(address, std::string());
				continue;
			}
			const char *const file = dwarf_linesrc(row, nullptr, nullptr);

			/* line 0: code that has none; it belongs to the line before */
			if (file && dwarf_lineno(row, &number) == 0 && number != 0)
				lines_[address] = place(file, static_cast<Dwarf_Word>(number));
		}
	}
	/* Outer calls come first: each adds its place in front of those that are there. */
	void read_inlined(Dwarf_Die *parent, Dwarf_Die *top)
	{
		Dwarf_Die die;

		if (dwarf_child(parent, &die) != 0)
			return;
		do {
			if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
				add_caller(&die, caller_of(&die, top));
			read_inlined(&die, top);
		} while (dwarf_siblingof(&die, &die) == 0);
	}
	static std::string caller_of(Dwarf_Die *die, Dwarf_Die *top)
	{
		Dwarf_Attribute attribute;
		Dwarf_Word file = 0;
		Dwarf_Word line = 0;
		Dwarf_Files *files = nullptr;
		std::size_t count = 0;

		if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
		    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0 ||
		    dwarf_getsrcfiles(top, &files, &count) != 0 || file >= count)
			return {};
		const char *const name = dwarf_filesrc(files, file, nullptr, nullptr);

		return name ? place(name, line) : std::string();
	}
	void add_caller(Dwarf_Die *die, const std::string &caller)
	{
		Dwarf_Addr base = 0;
		Dwarf_Addr low = 0;
		Dwarf_Addr high = 0;
		std::ptrdiff_t at = 0;

		if (caller.empty())
			return;
		while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
			for (auto line = lines_.lower_bound(low);
			     line != lines_.end() && line->first < high; ++line) {
				if (line->second.empty())
					continue;
				const std::size_t own =
					std::min(line->second.find(Instruction::separator),
						 line->second.size());

				line->second.insert(own,
						    std::string(Instruction::separator) + caller);
			}
		}
	}
	static std::string place(const char *file, Dwarf_Word line)
	{
		return std::string(file) + ':' + std::to_string(line);
	}

	std::map<Dwarf_Addr, std::string> lines_;
};
} // namespace details

/* A code object: its functions, its lines, its instructions. std::runtime_error if comgr can't read
 * it. */
class CodeobjDecoderComponent
{
public:
	CodeobjDecoderComponent(const char *codeobj_data, std::uint64_t codeobj_size)
		: disassembly(std::make_unique<DisassemblyInstance>(codeobj_data, codeobj_size)),
		  m_line_number_map(details::line_table(codeobj_data, codeobj_size).ranges())
	{
		try {
			m_symbol_map = disassembly->GetKernelMap();
		} catch (const std::runtime_error &) {
			/* instructions can be read without names */
		}
	}

	std::optional<std::uint64_t> va2fo(std::uint64_t vaddr) const
	{
		return disassembly->va2fo(vaddr);
	}
	std::unique_ptr<Instruction> disassemble_instruction(std::uint64_t faddr,
							     std::uint64_t vaddr)
	{
		auto [text, size] = disassembly->ReadInstruction(faddr);
		auto read = std::make_unique<Instruction>(std::move(text), size);
		const auto line = m_line_number_map.find({ vaddr, 0, 0 });

		read->faddr = faddr;
		read->vaddr = vaddr;
		if (line != m_line_number_map.end())
			read->comment = line->second;
		return read;
	}

	std::map<std::uint64_t, SymbolInfo> m_symbol_map{};
	std::vector<std::shared_ptr<Instruction>> instructions{}; /* the caller's */
	std::unique_ptr<DisassemblyInstance> disassembly{};
	std::map<segment::address_range_t, std::string> m_line_number_map{};
};

/* A code object that is loaded at an address: load_delta and load_size of its record. */
class LoadedCodeobjDecoder
{
public:
	/* `filepath`: a URI or a path, see CodeObjectBinary. */
	LoadedCodeobjDecoder(const char *filepath, std::uint64_t load_address,
			     std::uint64_t memsize)
		: load_addr(load_address), load_end_(load_address + memsize)
	{
		if (!filepath)
			throw std::runtime_error("no name of a file with a code object");
		const CodeObjectBinary file(filepath);

		decoder_ = std::make_unique<CodeobjDecoderComponent>(file.buffer.data(),
								     file.buffer.size());
	}
	LoadedCodeobjDecoder(const void *data, std::uint64_t size, std::uint64_t load_address,
			     std::size_t memsize)
		: load_addr(load_address), load_end_(load_address + memsize),
		  decoder_(
			  std::make_unique<CodeobjDecoderComponent>(static_cast<const char *>(data),
								    size))
	{
	}

	/* The instruction that is loaded at an address; null where the code object has nothing. */
	std::unique_ptr<Instruction> get(std::uint64_t ld_addr)
	{
		const auto faddr = ld_addr < load_addr ? std::nullopt :
							 decoder_->va2fo(ld_addr - load_addr);

		if (!faddr)
			return nullptr;
		auto read = decoder_->disassemble_instruction(*faddr, ld_addr - load_addr);

		if (read->size == 0)
			return nullptr;
		read->ld_addr = ld_addr;
		return read;
	}
	std::uint64_t begin() const
	{
		return load_addr;
	}
	std::uint64_t end() const
	{
		return load_end_;
	}
	std::uint64_t size() const
	{
		return load_end_ - load_addr;
	}
	bool inrange(std::uint64_t addr) const
	{
		return addr >= load_addr && addr < load_end_;
	}
	/* Of the function that begins at the address; null if none does. Valid as long as this
	 * object. */
	const char *getSymbolName(std::uint64_t addr) const
	{
		const auto found = decoder_->m_symbol_map.find(addr - load_addr);

		return found == decoder_->m_symbol_map.end() ? nullptr : found->second.name.c_str();
	}
	/* By address in the code object. */
	std::map<std::uint64_t, SymbolInfo> &getSymbolMap() const
	{
		return decoder_->m_symbol_map;
	}

	const std::uint64_t load_addr;

private:
	std::uint64_t load_end_;
	std::unique_ptr<CodeobjDecoderComponent> decoder_;
};

/* Code objects by id. */
class CodeobjMap
{
public:
	CodeobjMap() = default;
	virtual ~CodeobjMap() = default;

	virtual void addDecoder(const char *filepath, marker_id_t id, std::uint64_t load_addr,
				std::uint64_t memsize)
	{
		decoders[id] = std::make_shared<LoadedCodeobjDecoder>(filepath, load_addr, memsize);
	}
	virtual void addDecoder(const void *data, std::size_t memory_size, marker_id_t id,
				std::uint64_t load_addr, std::uint64_t memsize)
	{
		decoders[id] = std::make_shared<LoadedCodeobjDecoder>(data, memory_size, load_addr,
								      memsize);
	}
	virtual bool removeDecoderbyId(marker_id_t id)
	{
		return decoders.erase(id) > 0;
	}
	/* At an offset from where the code object is loaded. Null if there is no such code object,
	 * or nothing there. */
	std::unique_ptr<Instruction> get(marker_id_t id, std::uint64_t offset)
	{
		const auto found = decoders.find(id);
		auto read = found == decoders.end() ?
				    nullptr :
				    found->second->get(found->second->begin() + offset);

		if (read)
			read->codeobj_id = id;
		return read;
	}
	const char *getSymbolName(marker_id_t id, std::uint64_t offset)
	{
		const auto found = decoders.find(id);

		if (found == decoders.end() || offset >= found->second->size())
			return nullptr;
		return found->second->getSymbolName(found->second->begin() + offset);
	}

protected:
	std::unordered_map<marker_id_t, std::shared_ptr<LoadedCodeobjDecoder>> decoders{};
};

/* Code objects by id and by the address where they are loaded. */
class CodeobjAddressTranslate : public CodeobjMap
{
public:
	CodeobjAddressTranslate() = default;
	~CodeobjAddressTranslate() override = default;

	void addDecoder(const char *filepath, marker_id_t id, std::uint64_t load_addr,
			std::uint64_t memsize) override
	{
		CodeobjMap::addDecoder(filepath, id, load_addr, memsize);
		table_.insert({ load_addr, memsize, id });
	}
	void addDecoder(const void *data, std::size_t memory_size, marker_id_t id,
			std::uint64_t load_addr, std::uint64_t memsize) override
	{
		CodeobjMap::addDecoder(data, memory_size, id, load_addr, memsize);
		table_.insert({ load_addr, memsize, id });
	}
	virtual bool removeDecoder(marker_id_t id, std::uint64_t load_addr)
	{
		return table_.remove(load_addr) && removeDecoderbyId(id);
	}
	bool removeDecoder(marker_id_t id)
	{
		const auto found = decoders.find(id);

		return found != decoders.end() && removeDecoder(id, found->second->begin());
	}
	/* At an address. No code object is loaded there: std::out_of_range. */
	std::unique_ptr<Instruction> get(std::uint64_t vaddr)
	{
		const segment::address_range_t range = table_.find_codeobj_in_range(vaddr);

		return CodeobjMap::get(range.id, vaddr - range.addr);
	}
	/* At an offset in a code object; id 0: at an address. */
	std::unique_ptr<Instruction> get(marker_id_t id, std::uint64_t offset)
	{
		return id == 0 ? get(offset) : CodeobjMap::get(id, offset);
	}
	using CodeobjMap::getSymbolName;
	const char *getSymbolName(std::uint64_t vaddr)
	{
		for (const auto &[id, decoder] : decoders)
			if (decoder->inrange(vaddr))
				return decoder->getSymbolName(vaddr);
		return nullptr;
	}
	/* All functions, by the addresses where they are loaded. */
	std::map<std::uint64_t, SymbolInfo> getSymbolMap() const
	{
		std::map<std::uint64_t, SymbolInfo> all;

		for (const auto &[id, decoder] : decoders)
			for (const auto &[vaddr, symbol] : decoder->getSymbolMap())
				all[vaddr + decoder->load_addr] = symbol;
		return all;
	}
	/* Those of one code object, by their addresses in it. */
	std::map<std::uint64_t, SymbolInfo> getSymbolMap(marker_id_t id) const
	{
		const auto found = decoders.find(id);

		return found == decoders.end() ? std::map<std::uint64_t, SymbolInfo>() :
						 found->second->getSymbolMap();
	}

private:
	segment::CodeobjTableTranslator table_{};
};
} // namespace disassembly
} // namespace codeobj
} // namespace sdk

/* its name before 1.0 */
namespace codeobj = sdk::codeobj;
} // namespace rocprofiler

#endif
