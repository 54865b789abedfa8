/* SPDX-License-Identifier: MIT */
/* utility.hpp - numbers as texts */
#ifndef ROCPROFILER_SDK_CXX_UTILITY_HPP
#define ROCPROFILER_SDK_CXX_UTILITY_HPP

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>

namespace rocprofiler
{
namespace sdk
{
namespace utility
{
/* 0x and at least `width` digits. */
template <typename Tp> inline std::string as_hex(Tp value, std::size_t width = 0)
{
	std::ostringstream out;

	out << "0x" << std::hex << std::setw(static_cast<int>(width)) << std::setfill('0')
	    << static_cast<std::uint64_t>(value);
	return out.str();
}

inline std::string as_hex(const void *value, std::size_t width = 0)
{
	return as_hex(reinterpret_cast<std::uintptr_t>(value), width);
}
} // namespace utility
} // namespace sdk
} // namespace rocprofiler

#endif
