# SPDX-License-Identifier: MIT
# find_package(roctracer) gives the targets roctracer::roctracer64 and roctracer::roctx64, and
# roctracer_INCLUDE_DIRS, roctracer_LIBRARIES
get_filename_component(roctracer_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(roctracer_prefix "${roctracer_libdir}/.." ABSOLUTE)
set(roctracer_INCLUDE_DIRS "${roctracer_prefix}/include")
set(roctracer_LIBRARIES roctracer::roctracer64 roctracer::roctx64)
foreach(name roctracer64 roctx64)
	if(NOT TARGET roctracer::${name})
		add_library(roctracer::${name} SHARED IMPORTED)
		set_target_properties(roctracer::${name} PROPERTIES
			IMPORTED_LOCATION "${roctracer_libdir}/lib${name}.so.4"
			IMPORTED_SONAME "lib${name}.so.4"
			IMPORTED_LINK_DEPENDENT_LIBRARIES "${roctracer_libdir}/librtl.so.1"
			INTERFACE_INCLUDE_DIRECTORIES "${roctracer_INCLUDE_DIRS}")
	endif()
endforeach()
