/* SPDX-License-Identifier: MIT */
/* version.hpp - versions as one number, and in parts */
#ifndef ROCPROFILER_SDK_CXX_VERSION_HPP
#define ROCPROFILER_SDK_CXX_VERSION_HPP

#include <rocprofiler-sdk/fwd.h>

#include <cstdint>

namespace rocprofiler
{
namespace sdk
{
namespace version
{
#if ROCPROFILER_SDK_ABI > 0
/* Of major * Factor * Factor + minor * Factor + patch. */
template <std::uint64_t Factor = 100>
constexpr rocprofiler_version_triplet_t compute_version_triplet(std::uint64_t version)
{
	return rocprofiler_version_triplet_t{
		static_cast<std::uint32_t>(version / (Factor * Factor)),
		static_cast<std::uint32_t>(version % (Factor * Factor) / Factor),
		static_cast<std::uint32_t>(version % Factor),
	};
}
#endif
} // namespace version
} // namespace sdk
} // namespace rocprofiler

#endif
