/* SPDX-License-Identifier: MIT */
/* hash.hpp - handles and agents as keys of unordered containers, with operators.hpp */
#ifndef ROCPROFILER_SDK_CXX_HASH_HPP
#define ROCPROFILER_SDK_CXX_HASH_HPP

#include <rocprofiler-sdk/cxx/operators.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace std
{
#define ROCPROFILER_SDK_CXX_HASH(type)                                                             \
	template <> struct hash<type> {                                                            \
		size_t operator()(const type &value) const noexcept                                \
		{                                                                                  \
			return hash<uint64_t>{}(::rocprofiler::sdk::details::key_of(value));       \
		}                                                                                  \
	};
ROCPROFILER_SDK_CXX_HANDLES(ROCPROFILER_SDK_CXX_HASH)
ROCPROFILER_SDK_CXX_HASH(rocprofiler_agent_v0_t)
#undef ROCPROFILER_SDK_CXX_HASH
} // namespace std

#endif
