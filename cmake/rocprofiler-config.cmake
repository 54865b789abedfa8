# SPDX-License-Identifier: MIT
# find_package(rocprofiler) gives the target rocprofiler::rocprofiler64, and rocprofiler_INCLUDE_DIRS, rocprofiler_LIBRARIES
get_filename_component(rocprofiler_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(rocprofiler_prefix "${rocprofiler_libdir}/.." ABSOLUTE)
set(rocprofiler_INCLUDE_DIRS "${rocprofiler_prefix}/include")
set(rocprofiler_LIBRARIES rocprofiler::rocprofiler64)
# the headers include HSA's
find_path(rocprofiler_hsa_INCLUDE_DIR hsa/hsa.h HINTS ${ROCM_PATH}/include $ENV{ROCM_PATH}/include PATHS /opt/rocm/include)
mark_as_advanced(rocprofiler_hsa_INCLUDE_DIR)
if(rocprofiler_hsa_INCLUDE_DIR)
	list(APPEND rocprofiler_INCLUDE_DIRS "${rocprofiler_hsa_INCLUDE_DIR}")
else()
	set(rocprofiler_FOUND FALSE)
	set(rocprofiler_NOT_FOUND_MESSAGE "hsa/hsa.h was not found; ROCM_PATH may say where ROCm is")
endif()
if(NOT TARGET rocprofiler::rocprofiler64)
	add_library(rocprofiler::rocprofiler64 SHARED IMPORTED)
	set_target_properties(rocprofiler::rocprofiler64 PROPERTIES
		IMPORTED_LOCATION "${rocprofiler_libdir}/librocprofiler64.so.1"
		IMPORTED_SONAME "librocprofiler64.so.1"
		IMPORTED_LINK_DEPENDENT_LIBRARIES "${rocprofiler_libdir}/librtl.so.1"
		INTERFACE_INCLUDE_DIRECTORIES "${rocprofiler_INCLUDE_DIRS}")
endif()
