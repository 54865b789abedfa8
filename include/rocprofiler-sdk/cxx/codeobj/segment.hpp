/* SPDX-License-Identifier: MIT */
/* segment.hpp - which loaded code object, or which row of a table of lines, has an address */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_SEGMENT_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_SEGMENT_HPP

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>

namespace rocprofiler
{
namespace sdk
{
namespace codeobj
{
namespace segment
{
using marker_id_t = std::size_t;

/* Ranges that overlap are equal, and an address is equal to the range that has it (its own size is
 * 0): in a set or a map whose ranges do not overlap, find({ address, 0, 0 }) finds the range. */
struct address_range_t {
	std::uint64_t addr{ 0 };
	std::uint64_t size{ 0 };
	marker_id_t id{ 0 };

	bool inrange(std::uint64_t address) const
	{
		return address >= addr && address - addr < size;
	}
	bool operator==(const address_range_t &other) const
	{
		return inrange(other.addr) || other.inrange(addr);
	}
	bool operator<(const address_range_t &other) const
	{
		return addr < other.addr && !(*this == other);
	}
};

/* The ranges of loaded code objects. For one thread at a time: a look-up is kept for the next
 * one. */
class CodeobjTableTranslator : public std::set<address_range_t>
{
public:
	/* No range has it: std::out_of_range. */
	address_range_t find_codeobj_in_range(std::uint64_t addr)
	{
		if (!last_.inrange(addr)) {
			const auto found = find(address_range_t{ addr, 0, 0 });

			if (found == end())
				throw std::out_of_range("no code object is loaded at this address");
			last_ = *found;
		}
		return last_;
	}
	void clear_cache()
	{
		last_ = address_range_t{};
	}
	bool remove(const address_range_t &range)
	{
		clear_cache();
		return erase(range) > 0;
	}
	bool remove(std::uint64_t addr)
	{
		return remove(address_range_t{ addr, 0, 0 });
	}

private:
	address_range_t last_{};
};
} // namespace segment
} // namespace codeobj
} // namespace sdk
} // namespace rocprofiler

#endif
