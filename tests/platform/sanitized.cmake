# SPDX-License-Identifier: MIT
# Binaries built with the address sanitizer, in programs on the runtimes of this machine and of other suites. The
# programs and the virtual GPU are those of the unsanitized build, with the sanitizer's library preloaded.
if(NOT RTL_SANITIZE MATCHES "^address" OR NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
	return()
endif()
set(RTL_TEST_PROGRAMS ${CMAKE_BINARY_DIR}/../dev/tests CACHE PATH "programs for sanitized binaries to trace")
# rtl finds the virtual GPU beside itself
file(CREATE_LINK ../dev/vgpu ${CMAKE_BINARY_DIR}/vgpu SYMBOLIC)

# By soname: each system has its own file. The options ignore HIP's deletes and signal stacks, and leaks of ROCm.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${RTL_READELF} -d ${asan} OUTPUT_VARIABLE asan)
string(REGEX MATCH "libasan\\.so\\.[0-9]+" asan "${asan}")
set(sanitized_env
	"RTL_TEST_PROGRAMS=${RTL_TEST_PROGRAMS};RTL_TEST_PRELOAD=${asan}"
	"ASAN_OPTIONS=verify_asan_link_order=0:use_sigaltstack=0:new_delete_type_mismatch=0:detect_leaks=0")

foreach(row
		"platform/420_sanitized;planted_error_is_found"
		"scenario/010_exact;full_mode_is_exact;kernels_with_events_and_ranges_are_exact;copies_on_one_gpu_are_exact;tools_lib_alone_is_exact"
		"scenario/040_roctx;messages_are_recorded_byte_for_byte;roctx_in_signal_handler_is_counted"
		"scenario/050_processes;process_family_becomes_one_database;direct_mode_writes_each_format"
		"scenario/070_hip_calls;each_kind_of_operation_has_its_call;graph_operations_have_the_call_of_their_launch"
		"scenario/071_hip_errors;errors_hip;errors_callback"
		"scenario/072_hip_dlsym;linked_dlsym_auto;callback_backend_records_calls_of_many_threads"
		"scenario/080_hip_life;calls_before_main_and_at_exit_are_recorded_once;dlsym_does_not_find_functions_of_later_hip"
		"rocprofiler/410_dispatches;storm_of_threads_pools_groups_and_stops_loses_nothing;dispatches_of_a_queue_that_ends_have_their_handlers"
		"rocprofiler/400_sampling;each_legal_order_of_calls_has_its_values"
		"fault/110_endings;underscore_exit;fork;thread_death;storm_of_queues_ends_as_untraced;queue_error;occupied_descriptors_are_left_alone")
	list(POP_FRONT row script)
	set(file ${CMAKE_SOURCE_DIR}/tests/${script}.py)
	rtl_case_tests(${file} sanitized 240 ONLY ${row} ENV ${sanitized_env})
	# ROCr 6.1.2 has no lock around a list of its own: docs/compat/versions.md
	list(REMOVE_ITEM row storm_of_queues_ends_as_untraced)
	if(script MATCHES "^rocprofiler") # the same code
		continue()
	endif()
	foreach(suite debian13 experimental)
		rtl_case_tests(${file} ${suite} 240 PREFIX ${suite}.sanitized ONLY ${row} RUN ${userland} ${suite} run python3
			ENV ${sanitized_env} RTL_TEST_TMP=${CMAKE_BINARY_DIR}/tests/${suite})
	endforeach()
endforeach()
