/* SPDX-License-Identifier: MIT */
/* serialization.hpp - records, agents and names to archives of cereal's kind, and back
 *
 *	serialization/save.hpp	save(archive, structure) for all structures
 *	serialization/load.hpp	load(archive, structure) for those that describe agents and code
 *	details/archive.hpp	with cereal, or without
 */
#ifndef ROCPROFILER_SDK_CXX_SERIALIZATION_HPP
#define ROCPROFILER_SDK_CXX_SERIALIZATION_HPP

#include <rocprofiler-sdk/cxx/details/archive.hpp>
#include <rocprofiler-sdk/cxx/serialization/load.hpp>
#include <rocprofiler-sdk/cxx/serialization/save.hpp>

#endif
