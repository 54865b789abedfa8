# SPDX-License-Identifier: MIT
# rtl.cmake - the project's build commands; a module's CMakeLists.txt needs no others
#
# rtl_module(NAME [DEPS mod...] [LIBS external...] [OPTIONS flag...] SOURCES file...)
#	PIC static library. DEPS are other modules, passed on to users; LIBS are system libraries.
# rtl_shared(TARGET SONAME libx.so.N MAP file [DEPS mod...] [LIBS ...] [NEEDED soname...]
#            [DIR build-subdir] [INSTALL install-subdir] [NO_TEST] [SOURCES file...])
#	Shared library with a version script, with all of DEPS and their dependencies.
#	A ctest compares its exports with the map, and its NEEDED with libc, the loader, NEEDED.
#	Modules named in SHARED_DEPS are rtl_shared targets that it links to, found by $ORIGIN.
# rtl_old_soname(TARGET NAME MAJOR)
#	Makes an rtl_shared target NAME.so.MAJOR beside the one to which NAME.so points.
# rtl_program(NAME [DEPS mod...] [LIBS ...] [DIR build-subdir] [INSTALL install-subdir] SOURCES file...)
#	Executable, by default in build/bin, installed to bin; INSTALL none keeps it in the tree.
# rtl_unit_test(test_x [DEPS mod...] [LIBS ...] [TIMEOUT s] [SOURCES file...])
#	Program of tests/unit/test_x.c; one ctest unit.x.<name> for each TEST(<name>) in it.
# rtl_hip_program(NAME file [DIR examples|tests|...] [OPTIONS flag...] [DEPENDS target...])
#	Compiles a .cpp or .c file with hipcc for gfx900 into build/<DIR>/NAME.
# rtl_script_test(NAME COMMAND ... [LABELS label...] [TIMEOUT s] [ENV VAR=value...] [SERIAL])
#	A ctest of any command, run in the build directory. Exit status 77 means skipped: the
#	reason is the command's last line of output. Tests in tests/promises.txt have the label promise, too.

set(RTL_OPT "-O2 -g1" CACHE STRING "optimisation and debug flags")
set(RTL_SANITIZE "" CACHE STRING "value of -fsanitize=, empty for none")
option(RTL_TESTS "build tests and benchmarks, too" ON)
option(RTL_WERROR "warnings are errors" OFF)
option(RTL_DEBUG_CHECKS "build the internal checks (lock ranks, held-asserts) in" OFF)
option(RTL_TSA "clang's thread-safety analysis" OFF)
option(RTL_COVER "gcov counters" OFF)

set(RTL_LIB_DIR ${CMAKE_INSTALL_LIBDIR})
set(RTL_PRIVATE_DIR ${CMAKE_INSTALL_LIBDIR}/rocm-trace-lite)
# Libraries and headers with the names of AMD's: in a prefix of their own, or they would shadow AMD's for every program.
set(RTL_DROP_IN_DIR ${RTL_PRIVATE_DIR}/drop-in)

separate_arguments(rtl_opt_list UNIX_COMMAND "${RTL_OPT}")
set(RTL_WARNINGS -Wall -Wextra -Wshadow -Wundef -Wformat=2 -Wwrite-strings -Wvla)
set(RTL_WARNINGS_C -Wstrict-prototypes -Wmissing-prototypes)
if(RTL_WERROR)
	list(APPEND RTL_WARNINGS -Werror)
endif()
if(RTL_TSA)
	list(APPEND RTL_WARNINGS_C -Wthread-safety -Werror=thread-safety -Wno-format-nonliteral)
endif()

# Flags for compiling and for linking everything.
add_library(rtl_flags INTERFACE)
target_compile_options(rtl_flags INTERFACE ${rtl_opt_list} ${RTL_WARNINGS}
	"$<$<COMPILE_LANGUAGE:C>:${RTL_WARNINGS_C}>"
	-fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
	-fno-semantic-interposition)
target_compile_definitions(rtl_flags INTERFACE _GNU_SOURCE)
target_include_directories(rtl_flags INTERFACE
	${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/gen)
target_link_options(rtl_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
if(RTL_TSA)
	# src/base/lock.h
	target_compile_definitions(rtl_flags INTERFACE RTL_TSA=1)
endif()
if(RTL_DEBUG_CHECKS)
	target_compile_definitions(rtl_flags INTERFACE RTL_DEBUG_CHECKS=1)
endif()
if(RTL_SANITIZE)
	target_compile_options(rtl_flags INTERFACE -fsanitize=${RTL_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(rtl_flags INTERFACE -fsanitize=${RTL_SANITIZE})
	string(REGEX MATCH "^[a-z]+" rtl_sanitize_name "${RTL_SANITIZE}")
	string(TOUPPER "RTL_SANITIZE_${rtl_sanitize_name}" rtl_sanitize_def)
	target_compile_definitions(rtl_flags INTERFACE ${rtl_sanitize_def}=1)
endif()
if(RTL_COVER)
	target_compile_options(rtl_flags INTERFACE --coverage)
	target_link_options(rtl_flags INTERFACE --coverage)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)

find_program(RTL_HIPCC hipcc)
find_program(RTL_PYTHON NAMES python3 REQUIRED)
find_program(RTL_READELF readelf REQUIRED)
find_program(RTL_NM nm REQUIRED)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/promises.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/tests/promises.txt RTL_PROMISES REGEX "^[a-z]")
list(TRANSFORM RTL_PROMISES REPLACE "^[^ ]+ +" "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/known_failures.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/tests/known_failures.txt RTL_KNOWN_FAILURES REGEX "^[a-z]")
list(TRANSFORM RTL_KNOWN_FAILURES REPLACE " .*" "")
# CMake builds with "None": neither -DNDEBUG nor flags of its own.

function(rtl_module name)
	cmake_parse_arguments(A "" "" "DEPS;LIBS;OPTIONS;SOURCES" ${ARGN})
	if(A_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "rtl_module(${name}): not understood: ${A_UNPARSED_ARGUMENTS}")
	endif()
	add_library(${name} STATIC ${A_SOURCES})
	target_compile_options(${name} PRIVATE ${A_OPTIONS})
	target_link_libraries(${name} PRIVATE rtl_flags PUBLIC ${A_DEPS} ${A_LIBS})
	set_property(TARGET ${name} PROPERTY RTL_DEPS ${A_DEPS})
	set_target_properties(${name} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/obj)
endfunction()

function(rtl_shared target)
	cmake_parse_arguments(A "NO_TEST" "SONAME;MAP;DIR;INSTALL"
		"DEPS;SHARED_DEPS;LIBS;NEEDED;SOURCES" ${ARGN})
	if(A_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "rtl_shared(${target}): not understood: ${A_UNPARSED_ARGUMENTS}")
	endif()
	if(NOT A_SONAME MATCHES "^lib(.+)\\.so\\.([0-9]+)$")
		message(FATAL_ERROR "rtl_shared(${target}): SONAME must look like libx.so.1")
	endif()
	set(base ${CMAKE_MATCH_1})
	set(major ${CMAKE_MATCH_2})
	if(NOT A_DIR)
		set(A_DIR lib)
	endif()
	if(NOT A_INSTALL)
		set(A_INSTALL ${RTL_LIB_DIR})
	endif()
	get_filename_component(map ${A_MAP} ABSOLUTE)

	if(NOT A_SOURCES)
		# CMake requires at least one source file.
		set(A_SOURCES ${CMAKE_BINARY_DIR}/gen/empty.c)
		file(WRITE ${A_SOURCES} "typedef int rtl_empty;\n")
	endif()
	add_library(${target} SHARED ${A_SOURCES})
	set_target_properties(${target} PROPERTIES
		OUTPUT_NAME ${base}
		SOVERSION ${major}
		VERSION ${major}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
		LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${A_DIR}
		LINK_DEPENDS ${map}
		BUILD_RPATH "$ORIGIN"
		BUILD_RPATH_USE_ORIGIN ON
		INSTALL_RPATH "$ORIGIN")
	# Whole archives, because nothing in the library calls its exported functions. The plain
	# link that follows orders the build and adds nothing.
	foreach(dep ${A_DEPS})
		target_link_options(${target} PRIVATE
			"-Wl,--whole-archive,$<TARGET_FILE:${dep}>,--no-whole-archive")
	endforeach()
	target_link_options(${target} PRIVATE
		-Wl,--version-script=${map} -Wl,-z,nodelete -Wl,--as-needed)
	if(NOT RTL_SANITIZE)
		target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--no-undefined)
	endif()
	target_link_libraries(${target} PRIVATE rtl_flags ${A_DEPS} ${A_SHARED_DEPS} ${A_LIBS})
	install(TARGETS ${target} LIBRARY DESTINATION ${A_INSTALL} NAMELINK_COMPONENT dev)

	if(NOT A_NO_TEST AND NOT RTL_SANITIZE AND NOT RTL_COVER)
		set(needed --needed libc.so.6 --needed ld-linux-x86-64.so.2)
		foreach(n ${A_NEEDED})
			list(APPEND needed --needed ${n})
		endforeach()
		rtl_script_test(abi.exports.${A_SONAME} LABELS abi TIMEOUT 30 COMMAND
			${RTL_PYTHON} ${CMAKE_SOURCE_DIR}/tools/check_exports.py
			--map ${map} --soname ${A_SONAME} --nm ${RTL_NM} --readelf ${RTL_READELF}
			${needed} $<TARGET_FILE:${target}>)
	endif()
endfunction()

# A second library of the same name: NAME.so.MAJOR only; the linker finds the other one.
function(rtl_old_soname target name major)
	set_property(TARGET ${target} PROPERTY SOVERSION)
	set_property(TARGET ${target} PROPERTY VERSION)
	set_target_properties(${target} PROPERTIES NO_SONAME ON PREFIX "" OUTPUT_NAME ${name}
		SUFFIX .so.${major})
	target_link_options(${target} PRIVATE -Wl,-soname,${name}.so.${major})
endfunction()

function(rtl_program name)
	cmake_parse_arguments(A "" "DIR;INSTALL" "DEPS;LIBS;SOURCES" ${ARGN})
	if(A_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "rtl_program(${name}): not understood: ${A_UNPARSED_ARGUMENTS}")
	endif()
	if(NOT A_DIR)
		set(A_DIR bin)
	endif()
	# A target named as a module (rtl, bench) would clash: targets get a prefix, files don't.
	add_executable(prog_${name} ${A_SOURCES})
	target_link_libraries(prog_${name} PRIVATE rtl_flags ${A_DEPS} ${A_LIBS})
	set_target_properties(prog_${name} PROPERTIES OUTPUT_NAME ${name}
		RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${A_DIR})
	if(NOT A_INSTALL AND A_DIR STREQUAL bin)
		set(A_INSTALL ${CMAKE_INSTALL_BINDIR})
	endif()
	if(A_INSTALL AND NOT A_INSTALL STREQUAL none)
		install(TARGETS prog_${name} RUNTIME DESTINATION ${A_INSTALL} COMPONENT program)
	endif()
endfunction()

function(rtl_unit_test name)
	if(NOT RTL_TESTS)
		return()
	endif()
	cmake_parse_arguments(A "" "TIMEOUT" "DEPS;LIBS;OPTIONS;SOURCES" ${ARGN})
	if(A_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "rtl_unit_test(${name}): not understood: ${A_UNPARSED_ARGUMENTS}")
	endif()
	if(NOT A_TIMEOUT)
		set(A_TIMEOUT 60)
	endif()
	set(file ${CMAKE_SOURCE_DIR}/tests/unit/${name}.c)
	add_executable(${name} ${file} ${A_SOURCES})
	target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
	target_compile_options(${name} PRIVATE ${A_OPTIONS})
	target_link_libraries(${name} PRIVATE rtl_flags rtl_test_support ${A_DEPS} ${A_LIBS})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/unit)

	# The list of tests is read from the source, so that ctest knows them before the build.
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
	string(REGEX REPLACE "^test_" "" short ${name})
	file(STRINGS ${file} lines REGEX "^TEST(_SLOW)?\\([a-z0-9_]+\\)")
	foreach(line ${lines})
		string(REGEX REPLACE "^TEST(_SLOW)?\\(([a-z0-9_]+)\\).*" "\\2" test "${line}")
		add_test(NAME unit.${short}.${test} COMMAND ${name} ${test})
		set_tests_properties(unit.${short}.${test} PROPERTIES LABELS unit
			SKIP_RETURN_CODE 77 TIMEOUT ${A_TIMEOUT}
			ENVIRONMENT "RTL_STRICT=1;RTL_TEST_TIMEOUT=${A_TIMEOUT}")
	endforeach()
	if(NOT lines)
		message(WARNING "tests/unit/${name}.c has no line that begins with TEST(")
	endif()
endfunction()

function(rtl_hip_program name file)
	cmake_parse_arguments(A "" "DIR" "OPTIONS;DEPENDS" ${ARGN})
	if(NOT A_DIR)
		if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/examples")
			set(A_DIR examples)
		else()
			set(A_DIR tests)
		endif()
	endif()
	if(RTL_SANITIZE OR RTL_TSA)
		# these presets check the product's code
		add_custom_target(hip_${name})
		return()
	endif()
	if(NOT RTL_HIPCC)
		message(STATUS "hipcc not found: ${A_DIR}/${name} is not built")
		add_custom_target(hip_${name})
		return()
	endif()
	get_filename_component(src ${file} ABSOLUTE)
	set(out ${CMAKE_BINARY_DIR}/${A_DIR}/${name})
	set(dep ${CMAKE_CURRENT_BINARY_DIR}/${name}.hip.d)
	file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${A_DIR})
	set(lang "")
	if(src MATCHES "\\.c$")
		set(lang -std=gnu11 -D__HIP_PLATFORM_AMD__)
	endif()
	# clang 15 leaves two empty directories of each HIP compilation
	set(tmp ${CMAKE_CURRENT_BINARY_DIR}/${name}.tmp)
	add_custom_command(OUTPUT ${out}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${tmp}
		COMMAND ${CMAKE_COMMAND} -E env TMPDIR=${tmp} ${RTL_HIPCC} --offload-arch=gfx900 -O2 -g1 -Wall ${lang} -D_GNU_SOURCE
			-I${CMAKE_SOURCE_DIR}/include -MD -MF ${dep} -MT ${out} ${A_OPTIONS} ${src} -o ${out}
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${tmp}
		DEPENDS ${src} ${A_DEPENDS}
		DEPFILE ${dep}
		COMMENT "hipcc ${A_DIR}/${name}"
		VERBATIM)
	add_custom_target(hip_${name} ALL DEPENDS ${out})
endfunction()

function(rtl_script_test name)
	if(NOT RTL_TESTS)
		return()
	endif()
	cmake_parse_arguments(A "SERIAL" "TIMEOUT" "COMMAND;LABELS;ENV" ${ARGN})
	if(A_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "rtl_script_test(${name}): not understood: ${A_UNPARSED_ARGUMENTS}")
	endif()
	if(NOT A_TIMEOUT)
		set(A_TIMEOUT 60)
	endif()
	if(name IN_LIST RTL_PROMISES)
		list(APPEND A_LABELS promise)
		set_property(GLOBAL APPEND PROPERTY RTL_PROMISES_KEPT ${name})
	endif()
	if(name IN_LIST RTL_KNOWN_FAILURES)
		set_property(GLOBAL APPEND PROPERTY RTL_KNOWN_FAILURES_SHOWN ${name})
	endif()
	add_test(NAME ${name} COMMAND ${A_COMMAND} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
	set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${A_TIMEOUT}
		LABELS "${A_LABELS}"
		ENVIRONMENT "RTL_BUILD=${CMAKE_BINARY_DIR};RTL_SOURCE=${CMAKE_SOURCE_DIR};${A_ENV}")
	if(A_SERIAL)
		set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
	endif()
endfunction()
