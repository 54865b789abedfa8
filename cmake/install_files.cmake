# SPDX-License-Identifier: MIT
# install_files.cmake - installed files besides the targets, which install themselves
set(headers FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/rtl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev ${headers})

# Libraries with AMD's names form a prefix: lib/, include/, CMake packages, pkg-config files. librtl is linked into it.
set(drop_in_include ${RTL_DROP_IN_DIR}/include)
set(drop_in_lib ${RTL_DROP_IN_DIR}/lib)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/roctracer ${CMAKE_SOURCE_DIR}/include/rocprofiler
	${CMAKE_SOURCE_DIR}/include/rocprofiler-sdk ${CMAKE_SOURCE_DIR}/include/rocprofiler-sdk-roctx
	${CMAKE_BINARY_DIR}/gen/rocprofiler-sdk DESTINATION ${drop_in_include} COMPONENT dev ${headers})
install(FILES ${CMAKE_BINARY_DIR}/gen/hsa_prof_str.h ${CMAKE_BINARY_DIR}/gen/hsa_ostream_ops.h
	${CMAKE_BINARY_DIR}/gen/hip_ostream_ops.h DESTINATION ${drop_in_include}/roctracer COMPONENT dev)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/gen/link)
file(CREATE_LINK ../../../librtl.so.1 ${CMAKE_BINARY_DIR}/gen/link/librtl.so.1 SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/gen/link/librtl.so.1 DESTINATION ${drop_in_lib})

# the virtual GPU can be built alone, so its build does not name this project's folders
if(TARGET vgpu_driver)
	install(TARGETS vgpu_driver vgpu_engine LIBRARY DESTINATION ${RTL_PRIVATE_DIR}/vgpu NAMELINK_SKIP)
endif()

configure_file(cmake/rocm-trace-lite.pc.in ${CMAKE_BINARY_DIR}/rocm-trace-lite.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rocm-trace-lite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

configure_file(cmake/rocm-trace-lite-config.cmake.in
	${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config.cmake @ONLY)
foreach(row "roctracer64;4.1.0;roctracer;callbacks and records of HIP and HSA" "roctx64;4.1.0;roctracer;annotations of programs"
	"rocprofiler64;8.0.0;rocprofiler;performance counters and traces of AMD GPUs")
	list(GET row 0 RTL_PC_NAME)
	list(GET row 1 RTL_PC_VERSION)
	list(GET row 2 RTL_PC_FOLDER)
	list(GET row 3 RTL_PC_WHAT)
	configure_file(cmake/roctracer.pc.in ${CMAKE_BINARY_DIR}/${RTL_PC_NAME}.pc @ONLY)
	install(FILES ${CMAKE_BINARY_DIR}/${RTL_PC_NAME}.pc DESTINATION ${drop_in_lib}/pkgconfig COMPONENT dev)
endforeach()

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/roctracer-config-version.cmake
	VERSION 4.1.0 COMPATIBILITY SameMajorVersion)
install(FILES cmake/roctracer-config.cmake ${CMAKE_BINARY_DIR}/cmake/roctracer-config-version.cmake
	DESTINATION ${drop_in_lib}/cmake/roctracer COMPONENT dev)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/rocprofiler-config-version.cmake
	VERSION 8.0.0 COMPATIBILITY SameMajorVersion)
install(FILES cmake/rocprofiler-config.cmake ${CMAKE_BINARY_DIR}/cmake/rocprofiler-config-version.cmake
	DESTINATION ${drop_in_lib}/cmake/rocprofiler COMPONENT dev)
foreach(RTL_PACKAGE rocprofiler-sdk rocprofiler-sdk-roctx)
	configure_file(cmake/rocprofiler-sdk-config.cmake.in ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config.cmake @ONLY)
	configure_file(cmake/rocprofiler-sdk-config-version.cmake ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config-version.cmake COPYONLY)
	install(FILES ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config.cmake ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config-version.cmake
		DESTINATION ${drop_in_lib}/cmake/${RTL_PACKAGE} COMPONENT dev)
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config-version.cmake
	VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config.cmake
	${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config-version.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rocm-trace-lite COMPONENT dev)

install(FILES ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT plain)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
	FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "man" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles RENAME rocm-trace-lite)

# The example that is installed: a program, the library with the example itself, its source.
if(TARGET prog_any_hip)
	install(TARGETS prog_any_hip RUNTIME DESTINATION ${RTL_PRIVATE_DIR}/examples)
	install(FILES ${CMAKE_BINARY_DIR}/examples/frames.so DESTINATION ${RTL_PRIVATE_DIR}/examples)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/examples/frames.cpp ${CMAKE_SOURCE_DIR}/examples/check.h
	DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
