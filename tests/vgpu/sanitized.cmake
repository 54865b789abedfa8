# SPDX-License-Identifier: MIT
# The same under the sanitizers. Python is not built with them, so they are loaded ahead of it. One set of rows is enough: that
# for AVX2, where this machine has it, which is the source for any x86-64 and its own parts.
set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1)
foreach(lib gcn gcn_valu_base)
	get_target_property(files ${lib} SOURCES)
	list(FILTER files EXCLUDE REGEX "TARGET_OBJECTS")
	list(TRANSFORM files PREPEND ${src}/../../vgpu/)
	add_library(${lib}_asan OBJECT ${files})
	target_compile_definitions(${lib}_asan PRIVATE _GNU_SOURCE HSA_LARGE_MODEL)
	target_include_directories(${lib}_asan SYSTEM PRIVATE ${VGPU_HSA_INCLUDE})
	target_compile_options(${lib}_asan PRIVATE ${sanitize} -ffp-contract=off -fvisibility=hidden)
	set_target_properties(${lib}_asan PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endforeach()
set(flags "")
if(EXISTS /proc/cpuinfo)
	file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
endif()
if(flags MATCHES " avx2 ")
	target_compile_options(gcn_valu_base_asan PRIVATE -march=x86-64-v3)
endif()
target_compile_definitions(gcn_asan PRIVATE GCN_MOST=0)
add_library(gcn_inst_asan SHARED inst_lib.c)
set_target_properties(gcn_inst_asan PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${out})
# vgpu_sanitized_driver(TARGET FOLDER OPTION...): what is preloaded, behind the sanitizer's library
function(vgpu_sanitized_driver target folder)
	get_target_property(files vgpu_driver SOURCES)
	list(TRANSFORM files PREPEND ${src}/../../vgpu/)
	add_library(${target} SHARED ${files})
	target_include_directories(${target} SYSTEM PRIVATE ${VGPU_HSA_INCLUDE})
	target_include_directories(${target} PRIVATE ${src}/../../vgpu)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE HSA_LARGE_MODEL)
	target_compile_options(${target} PRIVATE ${ARGN} -U_FORTIFY_SOURCE -g1 -O1 -fvisibility=hidden)
	target_link_libraries(${target} PRIVATE Threads::Threads)
	target_link_options(${target} PRIVATE ${ARGN} -Wl,--version-script=${src}/../../vgpu/driver/exports.map -Wl,-z,nodelete -Wl,-z,now)
	set_target_properties(${target} PROPERTIES OUTPUT_NAME vgpu LIBRARY_OUTPUT_DIRECTORY ${folder} C_STANDARD 11 C_EXTENSIONS OFF)
endfunction()
vgpu_sanitized_driver(vgpu_driver_asan ${out}/asan ${sanitize})
# and the driver's engine, for AMD's runtimes
get_target_property(files vgpu_engine SOURCES)
list(TRANSFORM files PREPEND ${src}/../../vgpu/)
add_library(vgpu_engine_asan SHARED ${files})
target_link_options(vgpu_engine_asan PRIVATE -Wl,--version-script=${src}/../../vgpu/driver/engine.map -Wl,-z,nodelete -Wl,-z,now)
target_include_directories(vgpu_engine_asan SYSTEM PRIVATE ${VGPU_HSA_INCLUDE})
target_compile_definitions(vgpu_engine_asan PRIVATE HSA_LARGE_MODEL)
set_target_properties(vgpu_engine_asan PROPERTIES OUTPUT_NAME vgpu_engine LIBRARY_OUTPUT_DIRECTORY ${out}/asan)
# and the AQLprofile library
get_target_property(files vgpu_aqlprofile SOURCES)
list(TRANSFORM files PREPEND ${src}/../../vgpu/)
add_library(vgpu_aqlprofile_asan SHARED ${files})
target_include_directories(vgpu_aqlprofile_asan SYSTEM PRIVATE ${VGPU_HSA_INCLUDE})
target_compile_definitions(vgpu_aqlprofile_asan PRIVATE _GNU_SOURCE HSA_LARGE_MODEL)
target_compile_options(vgpu_aqlprofile_asan PRIVATE ${sanitize} -fvisibility=hidden)
target_link_options(vgpu_aqlprofile_asan PRIVATE -fsanitize=address,undefined)
set_target_properties(vgpu_aqlprofile_asan PROPERTIES
	OUTPUT_NAME hsa-amd-aqlprofile64 SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${out}/asan C_STANDARD 11)
foreach(lib gcn_inst_asan vgpu_engine_asan)
	target_include_directories(${lib} PRIVATE ${src}/../../vgpu)
	target_compile_definitions(${lib} PRIVATE _GNU_SOURCE)
	target_compile_options(${lib} PRIVATE ${sanitize} -fvisibility=hidden)
	target_link_libraries(${lib} PRIVATE gcn_asan gcn_valu_base_asan m)
	target_link_options(${lib} PRIVATE -fsanitize=address,undefined)
	set_target_properties(${lib} PROPERTIES C_STANDARD 11)
endforeach()
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan
	OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libubsan.so OUTPUT_VARIABLE ubsan
	OUTPUT_STRIP_TRAILING_WHITESPACE)

# vgpu_sanitized_test(NAME TIMEOUT COMMAND...)
function(vgpu_sanitized_test name timeout)
	if(CMAKE_C_COMPILER_ID STREQUAL GNU)
		add_test(NAME vgpu.${name}_sanitized COMMAND ${VGPU_PYTHON} ${ARGN})
		set_tests_properties(vgpu.${name}_sanitized PROPERTIES LABELS vgpu TIMEOUT ${timeout}
			ENVIRONMENT "LD_PRELOAD=${asan} ${ubsan};ASAN_OPTIONS=detect_leaks=0;${env};RTL_TEST_VGPU=${out}/asan;RTL_TEST_PRELOAD=${asan} ${ubsan};RTL_TEST_TMP=${out}/tmp_asan")
	endif()
endfunction()
vgpu_sanitized_test(instructions 120 ${src}/inst_test.py --lib $<TARGET_FILE:gcn_inst_asan>)
vgpu_sanitized_test(fuzz 120 ${src}/fuzz_test.py --lib $<TARGET_FILE:gcn_inst_asan> --runs 500)
vgpu_sanitized_test(fuzz_gfx90a 120 ${src}/fuzz_test.py --lib $<TARGET_FILE:gcn_inst_asan> --arch gfx90a --runs 150)
# functions of the drivers below
vgpu_sanitized_test(packets 240 ${src}/test_vgpu.py
	batches_complete_in_order barrier_packets_wait_for_dependencies copies_return_what_was_written
	copies_work_without_atomics pointer_queries_describe_allocations
	many_queues_are_created_and_destroyed forked_child_exits_and_execs)
# the driver alone, by threads and processes that use it at the same time, and its files
vgpu_sanitized_test(driver 240 ${src}/test_vgpu.py
	threads_open_map_allocate_fork_and_exec_at_the_same_time descriptors_of_the_driver_may_be_copied_and_are_devices
	memory_of_the_driver_is_counted_mapped_and_freed events_of_the_driver_wake_threads_and_have_ages
	queue_of_the_driver_completes_a_packet_with_an_interrupt forked_child_is_refused_and_opens_the_driver_itself
	memory_of_the_driver_is_shared_with_another_process)
vgpu_sanitized_test(pmc 240 ${src}/test_pmc.py)
set(more)
if("$ENV{RTL_TEST_LONG}")
	set(more kernels_at_o0_give_right_results examples_at_o2_print_right_results
		hundred_random_kernels_match_host)
endif()
vgpu_sanitized_test(exec 600 ${src}/test_exec.py
	kernels_at_o2_give_right_results copies_by_kernels_give_right_bytes
	overlapping_kernels_have_separate_scratch kernel_reading_freed_memory_is_a_fault
	trap_stops_queue_with_error examples_at_o3_on_4_gpus_print_right_results ${more})

# The whole engine under the thread sanitizer, without the rows for newer processors: threads of the virtual GPU among themselves.
# Runtimes are not built with it: what they and programs access is in tsan.supp.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	foreach(lib gcn gcn_valu_base vgpu_engine)
		get_target_property(files ${lib} SOURCES)
		list(FILTER files EXCLUDE REGEX "TARGET_OBJECTS")
		list(TRANSFORM files PREPEND ${src}/../../vgpu/)
		list(APPEND tsan_files ${files})
	endforeach()
	add_library(vgpu_engine_tsan SHARED ${tsan_files})
	target_include_directories(vgpu_engine_tsan SYSTEM PRIVATE ${VGPU_HSA_INCLUDE})
	target_compile_definitions(vgpu_engine_tsan PRIVATE _GNU_SOURCE HSA_LARGE_MODEL GCN_MOST=0)
	# a wave's fence orders what the simulated program does: there is nothing in it for the sanitizer
	target_compile_options(vgpu_engine_tsan PRIVATE -fsanitize=thread -g1 -O1 -ffp-contract=off -fvisibility=hidden -Wno-tsan)
	target_link_libraries(vgpu_engine_tsan PRIVATE Threads::Threads m)
	target_link_options(vgpu_engine_tsan PRIVATE -fsanitize=thread -Wl,--version-script=${src}/../../vgpu/driver/engine.map
		-Wl,-z,nodelete -Wl,-z,now)
	set_target_properties(vgpu_engine_tsan PROPERTIES
		OUTPUT_NAME vgpu_engine LIBRARY_OUTPUT_DIRECTORY ${out}/tsan C_STANDARD 11 C_EXTENSIONS OFF)
	vgpu_sanitized_driver(vgpu_driver_tsan ${out}/tsan -fsanitize=thread)
	execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libtsan.so OUTPUT_VARIABLE tsan
		OUTPUT_STRIP_TRAILING_WHITESPACE)
	add_test(NAME vgpu.threads_race_free COMMAND ${out}/threads_test)
	set_tests_properties(vgpu.threads_race_free PROPERTIES LABELS "vgpu;tsan" TIMEOUT 120
		PASS_REGULAR_EXPRESSION "^0 failures" FAIL_REGULAR_EXPRESSION "ThreadSanitizer"
		ENVIRONMENT "LD_PRELOAD=${tsan} ${out}/tsan/libvgpu.so;VGPU_THREADS=4;TSAN_OPTIONS=report_signal_unsafe=0:suppressions=${src}/tsan.supp")
	# threads of a program that open, map, allocate, fork and exec
	add_test(NAME vgpu.driver_race_free COMMAND ${out}/storm_test 32 12)
	set_tests_properties(vgpu.driver_race_free PROPERTIES LABELS "vgpu;tsan" TIMEOUT 120
		PASS_REGULAR_EXPRESSION "^ok" FAIL_REGULAR_EXPRESSION "ThreadSanitizer"
		ENVIRONMENT "LD_PRELOAD=${tsan} ${out}/tsan/libvgpu.so;TSAN_OPTIONS=report_signal_unsafe=0:suppressions=${src}/tsan.supp")
endif()
