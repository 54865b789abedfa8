# SPDX-License-Identifier: MIT
# packages.cmake - what `make package` makes: rocm-trace-lite_*.deb, rocm-trace-lite-dev_*.deb and a tar.gz
#
# Components: runtime (of all), program (bin/rtl), plain (what is only in the archive and in an installation), debian (only in
# .deb), standalone (bin/rtl with SQLite, expat and zlib in it: the archive), dev (headers, links for the linker).

# bin/rtl of the archive runs without libraries but libc: distributions differ in which of them they install.
find_library(RTL_SQLITE_ARCHIVE libsqlite3.a)
find_library(RTL_EXPAT_ARCHIVE libexpat.a)
find_library(RTL_ZLIB_ARCHIVE libz.a)
mark_as_advanced(RTL_SQLITE_ARCHIVE RTL_EXPAT_ARCHIVE RTL_ZLIB_ARCHIVE)
set(archive_program program)
if(TARGET prog_rtl AND RTL_SQLITE_ARCHIVE AND RTL_EXPAT_ARCHIVE AND RTL_ZLIB_ARCHIVE AND NOT RTL_SANITIZE AND NOT RTL_COVER AND NOT RTL_TSA)
	add_executable(rtl_standalone src/cli/cmd/main.c src/cli/cmd/standalone.c)
	target_link_libraries(rtl_standalone PRIVATE rtl_flags rtl_cli m)
	# whole and in front of -lsqlite3 and its like, which then add nothing
	target_link_options(rtl_standalone PRIVATE -Wl,--as-needed -static-libstdc++ -static-libgcc
		-Wl,--whole-archive,${RTL_SQLITE_ARCHIVE},${RTL_EXPAT_ARCHIVE},${RTL_ZLIB_ARCHIVE},--no-whole-archive)
	set_target_properties(rtl_standalone PROPERTIES OUTPUT_NAME rtl RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/standalone)
	install(TARGETS rtl_standalone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT standalone EXCLUDE_FROM_ALL)
	set(archive_program standalone)
	foreach(package libsqlite3-0 libexpat1 zlib1g)
		install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
			RENAME ${package} COMPONENT standalone EXCLUDE_FROM_ALL OPTIONAL)
	endforeach()
endif()

# ---- files of Debian's packages alone ----
set(deb ${CMAKE_BINARY_DIR}/deb)
set(RTL_DEB_VERSION ${PROJECT_VERSION}-1)
# The person who builds the packages, as for dch and its like; else a name of a domain that never exists (RFC 2606).
if("$ENV{DEBEMAIL}" MATCHES "^[^ <>@]+@[^ <>@]+$" AND NOT "$ENV{DEBFULLNAME}" STREQUAL "")
	set(RTL_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
	set(RTL_MAINTAINER "rocm-trace-lite maintainers <maintainers@rocm-trace-lite.invalid>")
endif()
file(READ ${CMAKE_SOURCE_DIR}/LICENSE license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)" holder "${license}")
string(REPLACE "Copyright (c) " "" RTL_HOLDER "${holder}")
string(REGEX REPLACE "^.*\nPermission is" "Permission is" license "${license}")
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(STRIP "${license}" license)
string(REPLACE "\n" "\n " RTL_LICENSE " ${license}")
configure_file(cmake/debian/copyright.in ${deb}/copyright @ONLY)
configure_file(cmake/debian/changelog.in ${deb}/changelog @ONLY)
function(gzipped file out)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
	get_filename_component(folder ${out} DIRECTORY)
	file(MAKE_DIRECTORY ${folder})
	execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${out} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
gzipped(${deb}/changelog ${deb}/changelog.Debian.gz)
gzipped(${CMAKE_SOURCE_DIR}/CHANGELOG.md ${deb}/changelog.gz)
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
foreach(page ${pages})
	get_filename_component(name ${page} NAME)
	gzipped(${page} ${deb}/man1/${name}.gz)
endforeach()
install(DIRECTORY ${deb}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/completions/_rtl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
	COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${deb}/copyright ${deb}/changelog.Debian.gz ${deb}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR}
	COMPONENT debian EXCLUDE_FROM_ALL)
foreach(row "debian;rocm-trace-lite" "debian_dev;rocm-trace-lite-dev")
	list(GET row 0 component)
	list(GET row 1 name)
	install(FILES ${CMAKE_SOURCE_DIR}/cmake/debian/${name}.overrides RENAME ${name}
		DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${deb}/copyright ${deb}/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/rocm-trace-lite-dev
	COMPONENT debian_dev EXCLUDE_FROM_ALL)

# ---- CPack ----
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME rocm-trace-lite)
set(CPACK_PACKAGE_VENDOR rocm-trace-lite)
set(CPACK_PACKAGE_CONTACT "${RTL_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/packages_of_generator.cmake)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_FILE_NAME rocm-trace-lite-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_RTL_ARCHIVE_PROGRAM ${archive_program})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_MAIN_PACKAGE_NAME rocm-trace-lite)
set(CPACK_DEBIAN_MAIN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_MAIN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
# what programs on the GPU, and the virtual one, need: whichever is there; AMD's package is the last. rtl tui loads ncurses,
# rtl rocprofv3 -i libyaml, and rtl convert libotf2
set(CPACK_DEBIAN_MAIN_PACKAGE_RECOMMENDS "libncursesw6, libyaml-0-2, libamdhip64-5 | libamdhip64-6 | libamdhip64-7 | hip-runtime-amd")
set(CPACK_DEBIAN_MAIN_PACKAGE_SUGGESTS "rocm-trace-lite-dev, sqlite3, libopen-trace-format2-10")
set(CPACK_DEBIAN_MAIN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers ${CMAKE_SOURCE_DIR}/cmake/debian/shlibs)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tracer and profiler for programs on AMD GPUs")
set(CPACK_DEBIAN_MAIN_DESCRIPTION "The command rtl records what an unmodified program does on AMD GPUs: each HIP
call, kernel, copy and roctx range, with times and causes. It prints where the
time went, and writes pages for browsers and files for other tools.

A virtual GPU on which AMD's HIP and HSA runtimes run is included, and an
example program, so that it works on machines without a GPU. Replacements of
AMD's libroctracer64, libroctx64, librocprofiler64 and librocprofiler-sdk are
in a directory of their own.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME rocm-trace-lite-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "rocm-trace-lite (= ${RTL_DEB_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libhsa-runtime-dev | hsa-rocr-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION "For programs that record themselves with rocm-trace-lite: header, CMake package
and pkg-config file of librtl. And the same for its replacements of AMD's
libroctracer64, libroctx64, librocprofiler64 and librocprofiler-sdk, in a
directory of their own.")
include(CPack)
foreach(component runtime program debian)
	cpack_add_component(${component} GROUP main)
endforeach()
foreach(component dev debian_dev)
	cpack_add_component(${component} GROUP dev)
endforeach()
