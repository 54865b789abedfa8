/* SPDX-License-Identifier: MIT */
/* disassembly.hpp - the bytes of a code object, its kernels and its instructions as text, by AMD's
 * comgr
 *
 * Needs comgr's header and -lamd_comgr of the program that includes it. What fails is an exception
 * with a text; nothing is printed.
 */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_DISASSEMBLY_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_DISASSEMBLY_HPP

#if __has_include(<amd_comgr/amd_comgr.h>)
#include <amd_comgr/amd_comgr.h>
#elif __has_include(<amd_comgr.h>)
#include <amd_comgr.h>
#else
#error "rocprofiler-sdk/cxx/codeobj needs comgr's header amd_comgr.h (Debian: libamd-comgr-dev)"
#endif

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
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
/* The bytes that a URI of a code object names: file://PATH, with #offset=N&size=N if it is a part
 * of the file. A text without "://" is a path. Not memory://: what it names is in another process,
 * or gone; memory_base of the code object's record is not. std::runtime_error if it can't be read,
 * or not whole. */
class CodeObjectBinary
{
public:
	explicit CodeObjectBinary(const std::string &uri) : m_uri(uri)
	{
		const std::size_t scheme_end = uri.find("://");
		std::string path = uri;
		std::string part;

		if (scheme_end != std::string::npos) {
			std::string scheme = uri.substr(0, scheme_end);

			std::transform(scheme.begin(), scheme.end(), scheme.begin(),
				       [](unsigned char c) {
					       return static_cast<char>(std::tolower(c));
				       });
			if (scheme != "file")
				throw std::runtime_error(uri + ": only file:// can be read, not " +
							 scheme + "://");
			const std::size_t path_begin = scheme_end + 3;
			const std::size_t path_end = uri.find_first_of("#?", path_begin);

			path = decoded(uri.substr(path_begin, path_end - path_begin));
			if (path_end != std::string::npos)
				part = uri.substr(path_end + 1);
		}
		read(path, number_in(part, "offset"), number_in(part, "size"));
	}

	std::string m_uri;
	std::vector<char> buffer;

private:
	/* %41 is A */
	static std::string decoded(const std::string &text)
	{
		std::string plain;

		for (std::size_t i = 0; i < text.size(); i++) {
			if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) &&
			    is_hex(text[i + 2])) {
				plain += static_cast<char>(
					std::stoi(text.substr(i + 1, 2), nullptr, 16));
				i += 2;
			} else {
				plain += text[i];
			}
		}
		return plain;
	}
	static bool is_hex(char c)
	{
		return std::isxdigit(static_cast<unsigned char>(c)) != 0;
	}
	/* N of name=N, in "name=N&name=N" */
	std::optional<std::uint64_t> number_in(const std::string &part,
					       const std::string &name) const
	{
		std::size_t at = 0;

		while (at < part.size()) {
			const std::size_t end = std::min(part.find('&', at), part.size());

			if (part.compare(at, name.size() + 1, name + "=") == 0) {
				const std::string value = part.substr(at + name.size() + 1,
								      end - at - name.size() - 1);

				try {
					return std::stoull(value, nullptr, 0);
				} catch (const std::logic_error &) {
					throw std::runtime_error(m_uri + ": " + name +
								 " is not a number: " + value);
				}
			}
			at = end + 1;
		}
		return std::nullopt;
	}
	void read(const std::string &path, std::optional<std::uint64_t> offset,
		  std::optional<std::uint64_t> size)
	{
		std::ifstream file(path, std::ios::binary | std::ios::ate);

		if (!file)
			throw std::runtime_error(path + ": can't be opened");
		const std::uint64_t file_size = static_cast<std::uint64_t>(file.tellg());
		const std::uint64_t begin = offset.value_or(0);

		if (begin > file_size || size.value_or(0) > file_size - begin)
			throw std::runtime_error(m_uri + ": the file ends before the code object");
		/* size=0 is all that follows, as without a size */
		buffer.resize(size.value_or(0) ? *size : file_size - begin);
		file.seekg(static_cast<std::streamoff>(begin));
		if (!file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())))
			throw std::runtime_error(path + ": can't be read");
	}
};

struct SymbolInfo {
	std::string name{};
	std::uint64_t faddr = 0; /* offset in the file */
	std::uint64_t vaddr = 0; /* address in the code object, as if it was loaded at 0 */
	std::uint64_t mem_size = 0;
};

/* One code object. Copies the bytes. For one thread at a time. What comgr refuses:
 * std::runtime_error. */
class DisassemblyInstance
{
public:
	DisassemblyInstance(const char *codeobj_data, std::uint64_t codeobj_size)
		: buffer(codeobj_data, codeobj_data + codeobj_size)
	{
		try {
			check(amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data),
			      "amd_comgr_create_data");
			check(amd_comgr_set_data(data, buffer.size(), buffer.data()),
			      "amd_comgr_set_data");
			std::size_t length = 0;

			check(amd_comgr_get_data_isa_name(data, &length, nullptr),
			      "amd_comgr_get_data_isa_name");
			std::vector<char> isa(length + 1);

			check(amd_comgr_get_data_isa_name(data, &length, isa.data()),
			      "amd_comgr_get_data_isa_name");
			check(amd_comgr_create_disassembly_info(
				      isa.data(), memory_callback, inst_callback,
				      [](std::uint64_t, void *) {}, &info),
			      "amd_comgr_create_disassembly_info");
		} catch (...) {
			release();
			throw;
		}
	}
	DisassemblyInstance(const DisassemblyInstance &) = delete;
	DisassemblyInstance &operator=(const DisassemblyInstance &) = delete;
	~DisassemblyInstance()
	{
		release();
	}

	/* The instruction at an offset in the file, and its size in bytes. */
	std::pair<std::string, std::size_t> ReadInstruction(std::uint64_t faddr)
	{
		std::uint64_t size = 0;

		if (faddr >= buffer.size())
			throw std::runtime_error(
				"no instruction there: the offset is behind the code object's end");
		last_instruction.clear();
		check(amd_comgr_disassemble_instruction(info, address_of(faddr), this, &size),
		      "amd_comgr_disassemble_instruction");
		return { std::exchange(last_instruction, {}), size };
	}

	/* The functions of the code object, by their addresses in it. */
	std::map<std::uint64_t, SymbolInfo> &GetKernelMap()
	{
		symbol_map.clear();
		check(amd_comgr_iterate_symbols(data, symbol_callback, this),
		      "amd_comgr_iterate_symbols");
		return symbol_map;
	}

	/* The offset in the file of what is loaded at an address of the code object; none if
	 * nothing of the file is. */
	std::optional<std::uint64_t> va2fo(std::uint64_t va) const
	{
		Elf64_Ehdr header;

		if (!copy_out(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		    header.e_ident[EI_CLASS] != ELFCLASS64 ||
		    header.e_phentsize < sizeof(Elf64_Phdr))
			return std::nullopt;
		for (unsigned i = 0; i < header.e_phnum; i++) {
			Elf64_Phdr part;

			if (!copy_out(header.e_phoff + std::uint64_t{ i } * header.e_phentsize,
				      &part))
				return std::nullopt;
			if (part.p_type == PT_LOAD && va >= part.p_vaddr &&
			    va - part.p_vaddr < part.p_filesz)
				return va - part.p_vaddr + part.p_offset;
		}
		return std::nullopt;
	}

	static amd_comgr_status_t symbol_callback(amd_comgr_symbol_t symbol, void *user_data)
	{
		auto &self = *static_cast<DisassemblyInstance *>(user_data);
		amd_comgr_symbol_type_t type = AMD_COMGR_SYMBOL_TYPE_NOTYPE;
		std::uint64_t name_length = 0;
		SymbolInfo found;
		const auto ask = [symbol](amd_comgr_symbol_info_t what, void *value) {
			return amd_comgr_symbol_get_info(symbol, what, value) ==
			       AMD_COMGR_STATUS_SUCCESS;
		};

		if (!ask(AMD_COMGR_SYMBOL_INFO_TYPE, &type))
			return AMD_COMGR_STATUS_ERROR;
		if (type != AMD_COMGR_SYMBOL_TYPE_FUNC)
			return AMD_COMGR_STATUS_SUCCESS;
		if (!ask(AMD_COMGR_SYMBOL_INFO_VALUE, &found.vaddr) ||
		    !ask(AMD_COMGR_SYMBOL_INFO_SIZE, &found.mem_size) ||
		    !ask(AMD_COMGR_SYMBOL_INFO_NAME_LENGTH, &name_length))
			return AMD_COMGR_STATUS_ERROR;
		/* comgr writes the terminator as well */
		std::vector<char> name(name_length + 1);

		if (!ask(AMD_COMGR_SYMBOL_INFO_NAME, name.data()))
			return AMD_COMGR_STATUS_ERROR;
		found.name.assign(name.data());
		if (const auto offset = self.va2fo(found.vaddr)) {
			found.faddr = *offset;
			self.symbol_map[found.vaddr] = std::move(found);
		}
		return AMD_COMGR_STATUS_SUCCESS;
	}
	/* comgr reads the code at `from`, an address in the buffer: never beyond its end. */
	static std::uint64_t memory_callback(std::uint64_t from, char *to, std::uint64_t size,
					     void *user_data)
	{
		const auto &self = *static_cast<DisassemblyInstance *>(user_data);
		const std::uint64_t begin = self.address_of(0);
		const std::uint64_t end = begin + self.buffer.size();

		if (from < begin || from >= end)
			return 0;
		size = std::min(size, end - from);
		std::memcpy(to, self.buffer.data() + (from - begin), size);
		return size;
	}
	static void inst_callback(const char *instruction, void *user_data)
	{
		if (instruction)
			static_cast<DisassemblyInstance *>(user_data)->last_instruction =
				instruction + std::strspn(instruction, " \t");
	}

	std::vector<char> buffer;
	std::string last_instruction;
	amd_comgr_disassembly_info_t info{};
	amd_comgr_data_t data{};
	std::map<std::uint64_t, SymbolInfo> symbol_map;

private:
	std::uint64_t address_of(std::uint64_t offset) const
	{
		return reinterpret_cast<std::uintptr_t>(buffer.data()) + offset;
	}
	template <typename Tp> bool copy_out(std::uint64_t offset, Tp *to) const
	{
		if (offset > buffer.size() || buffer.size() - offset < sizeof(Tp))
			return false;
		std::memcpy(to, buffer.data() + offset, sizeof(Tp));
		return true;
	}
	void release()
	{
		if (info.handle)
			amd_comgr_destroy_disassembly_info(info);
		if (data.handle)
			amd_comgr_release_data(data);
	}
	static void check(amd_comgr_status_t status, const char *call)
	{
		const char *why = "unknown status";

		if (status == AMD_COMGR_STATUS_SUCCESS)
			return;
		amd_comgr_status_string(status, &why);
		throw std::runtime_error(std::string(call) + ": " + why);
	}
};
} // namespace disassembly
} // namespace codeobj
} // namespace sdk
} // namespace rocprofiler

#endif
