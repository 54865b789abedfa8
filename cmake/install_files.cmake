# SPDX-License-Identifier: MIT
# install_files.cmake - installed files besides the targets, which install themselves
if(EXISTS ${CMAKE_SOURCE_DIR}/include/rtl)
	install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/rtl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
		FILES_MATCHING PATTERN "*.h")
endif()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/roctracer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${CMAKE_BINARY_DIR}/gen/hsa_prof_str.h ${CMAKE_BINARY_DIR}/gen/hsa_ostream_ops.h
	${CMAKE_BINARY_DIR}/gen/hip_ostream_ops.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/roctracer)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/rocprofiler DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	FILES_MATCHING PATTERN "*.h")

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/rocprofiler-sdk ${CMAKE_SOURCE_DIR}/include/rocprofiler-sdk-roctx
	${CMAKE_BINARY_DIR}/gen/rocprofiler-sdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# the virtual GPU can be built alone, so its build does not name this project's folders
if(TARGET vgpu_hsakmt)
	install(TARGETS vgpu_hsakmt LIBRARY DESTINATION ${RTL_PRIVATE_DIR}/vgpu)
endif()

configure_file(cmake/rocm-trace-lite.pc.in ${CMAKE_BINARY_DIR}/rocm-trace-lite.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rocm-trace-lite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_file(cmake/rocm-trace-lite-config.cmake.in
	${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config.cmake @ONLY)
foreach(row "roctracer64;4.1.0;roctracer;callbacks and records of HIP and HSA" "roctx64;4.1.0;roctracer;annotations of programs"
	"rocprofiler64;8.0.0;rocprofiler;performance counters and traces of AMD GPUs")
	list(GET row 0 RTL_PC_NAME)
	list(GET row 1 RTL_PC_VERSION)
	list(GET row 2 RTL_PC_FOLDER)
	list(GET row 3 RTL_PC_WHAT)
	configure_file(cmake/roctracer.pc.in ${CMAKE_BINARY_DIR}/${RTL_PC_NAME}.pc @ONLY)
	install(FILES ${CMAKE_BINARY_DIR}/${RTL_PC_NAME}.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/roctracer-config-version.cmake
	VERSION 4.1.0 COMPATIBILITY SameMajorVersion)
install(FILES cmake/roctracer-config.cmake ${CMAKE_BINARY_DIR}/cmake/roctracer-config-version.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roctracer)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/rocprofiler-config-version.cmake
	VERSION 8.0.0 COMPATIBILITY SameMajorVersion)
install(FILES cmake/rocprofiler-config.cmake ${CMAKE_BINARY_DIR}/cmake/rocprofiler-config-version.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rocprofiler)
foreach(RTL_PACKAGE rocprofiler-sdk rocprofiler-sdk-roctx)
	configure_file(cmake/rocprofiler-sdk-config.cmake.in ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config.cmake @ONLY)
	configure_file(cmake/rocprofiler-sdk-config-version.cmake ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config-version.cmake COPYONLY)
	install(FILES ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config.cmake ${CMAKE_BINARY_DIR}/cmake/${RTL_PACKAGE}-config-version.cmake
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${RTL_PACKAGE})
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config-version.cmake
	VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config.cmake
	${CMAKE_BINARY_DIR}/cmake/rocm-trace-lite-config-version.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rocm-trace-lite)

install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
	${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
	FILES_MATCHING PATTERN "*.md")
