/* SPDX-License-Identifier: MIT */
/* name_info.hpp - the same as cxx/name_info.hpp: some tools include this one */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_NAME_INFO_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_NAME_INFO_HPP

#include <rocprofiler-sdk/cxx/name_info.hpp>

#endif
