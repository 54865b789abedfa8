/* SPDX-License-Identifier: MIT */
/* hsa_layout.h - the numbers of HSA's calls in ROCm 5.2.3, and where their arguments lie in any
 * release
 *
 * NUMBER(id, function), ARGUMENT(function, member, offset in hsa_api_data_t, size): recorded from a
 * build of AMD's generated header.
 */
#ifndef RTL_TESTS_ROCTRACER_HSA_LAYOUT_H
#define RTL_TESTS_ROCTRACER_HSA_LAYOUT_H

/* clang-format off */
#define HSA_LAYOUT_NUMBERS(NUMBER) \
	NUMBER(0, hsa_init) \
	NUMBER(1, hsa_shut_down) \
	NUMBER(2, hsa_system_get_info) \
	NUMBER(3, hsa_system_extension_supported) \
	NUMBER(4, hsa_system_get_extension_table) \
	NUMBER(5, hsa_iterate_agents) \
	NUMBER(6, hsa_agent_get_info) \
	NUMBER(7, hsa_queue_create) \
	NUMBER(8, hsa_soft_queue_create) \
	NUMBER(9, hsa_queue_destroy) \
	NUMBER(10, hsa_queue_inactivate) \
	NUMBER(11, hsa_queue_load_read_index_scacquire) \
	NUMBER(12, hsa_queue_load_read_index_relaxed) \
	NUMBER(13, hsa_queue_load_write_index_scacquire) \
	NUMBER(14, hsa_queue_load_write_index_relaxed) \
	NUMBER(15, hsa_queue_store_write_index_relaxed) \
	NUMBER(16, hsa_queue_store_write_index_screlease) \
	NUMBER(17, hsa_queue_cas_write_index_scacq_screl) \
	NUMBER(18, hsa_queue_cas_write_index_scacquire) \
	NUMBER(19, hsa_queue_cas_write_index_relaxed) \
	NUMBER(20, hsa_queue_cas_write_index_screlease) \
	NUMBER(21, hsa_queue_add_write_index_scacq_screl) \
	NUMBER(22, hsa_queue_add_write_index_scacquire) \
	NUMBER(23, hsa_queue_add_write_index_relaxed) \
	NUMBER(24, hsa_queue_add_write_index_screlease) \
	NUMBER(25, hsa_queue_store_read_index_relaxed) \
	NUMBER(26, hsa_queue_store_read_index_screlease) \
	NUMBER(27, hsa_agent_iterate_regions) \
	NUMBER(28, hsa_region_get_info) \
	NUMBER(29, hsa_agent_get_exception_policies) \
	NUMBER(30, hsa_agent_extension_supported) \
	NUMBER(31, hsa_memory_register) \
	NUMBER(32, hsa_memory_deregister) \
	NUMBER(33, hsa_memory_allocate) \
	NUMBER(34, hsa_memory_free) \
	NUMBER(35, hsa_memory_copy) \
	NUMBER(36, hsa_memory_assign_agent) \
	NUMBER(37, hsa_signal_create) \
	NUMBER(38, hsa_signal_destroy) \
	NUMBER(39, hsa_signal_load_relaxed) \
	NUMBER(40, hsa_signal_load_scacquire) \
	NUMBER(41, hsa_signal_store_relaxed) \
	NUMBER(42, hsa_signal_store_screlease) \
	NUMBER(43, hsa_signal_wait_relaxed) \
	NUMBER(44, hsa_signal_wait_scacquire) \
	NUMBER(45, hsa_signal_and_relaxed) \
	NUMBER(46, hsa_signal_and_scacquire) \
	NUMBER(47, hsa_signal_and_screlease) \
	NUMBER(48, hsa_signal_and_scacq_screl) \
	NUMBER(49, hsa_signal_or_relaxed) \
	NUMBER(50, hsa_signal_or_scacquire) \
	NUMBER(51, hsa_signal_or_screlease) \
	NUMBER(52, hsa_signal_or_scacq_screl) \
	NUMBER(53, hsa_signal_xor_relaxed) \
	NUMBER(54, hsa_signal_xor_scacquire) \
	NUMBER(55, hsa_signal_xor_screlease) \
	NUMBER(56, hsa_signal_xor_scacq_screl) \
	NUMBER(57, hsa_signal_exchange_relaxed) \
	NUMBER(58, hsa_signal_exchange_scacquire) \
	NUMBER(59, hsa_signal_exchange_screlease) \
	NUMBER(60, hsa_signal_exchange_scacq_screl) \
	NUMBER(61, hsa_signal_add_relaxed) \
	NUMBER(62, hsa_signal_add_scacquire) \
	NUMBER(63, hsa_signal_add_screlease) \
	NUMBER(64, hsa_signal_add_scacq_screl) \
	NUMBER(65, hsa_signal_subtract_relaxed) \
	NUMBER(66, hsa_signal_subtract_scacquire) \
	NUMBER(67, hsa_signal_subtract_screlease) \
	NUMBER(68, hsa_signal_subtract_scacq_screl) \
	NUMBER(69, hsa_signal_cas_relaxed) \
	NUMBER(70, hsa_signal_cas_scacquire) \
	NUMBER(71, hsa_signal_cas_screlease) \
	NUMBER(72, hsa_signal_cas_scacq_screl) \
	NUMBER(73, hsa_isa_from_name) \
	NUMBER(74, hsa_isa_get_info) \
	NUMBER(75, hsa_isa_compatible) \
	NUMBER(76, hsa_code_object_serialize) \
	NUMBER(77, hsa_code_object_deserialize) \
	NUMBER(78, hsa_code_object_destroy) \
	NUMBER(79, hsa_code_object_get_info) \
	NUMBER(80, hsa_code_object_get_symbol) \
	NUMBER(81, hsa_code_symbol_get_info) \
	NUMBER(82, hsa_code_object_iterate_symbols) \
	NUMBER(83, hsa_executable_create) \
	NUMBER(84, hsa_executable_destroy) \
	NUMBER(85, hsa_executable_load_code_object) \
	NUMBER(86, hsa_executable_freeze) \
	NUMBER(87, hsa_executable_get_info) \
	NUMBER(88, hsa_executable_global_variable_define) \
	NUMBER(89, hsa_executable_agent_global_variable_define) \
	NUMBER(90, hsa_executable_readonly_variable_define) \
	NUMBER(91, hsa_executable_validate) \
	NUMBER(92, hsa_executable_get_symbol) \
	NUMBER(93, hsa_executable_symbol_get_info) \
	NUMBER(94, hsa_executable_iterate_symbols) \
	NUMBER(95, hsa_status_string) \
	NUMBER(96, hsa_extension_get_name) \
	NUMBER(97, hsa_system_major_extension_supported) \
	NUMBER(98, hsa_system_get_major_extension_table) \
	NUMBER(99, hsa_agent_major_extension_supported) \
	NUMBER(100, hsa_cache_get_info) \
	NUMBER(101, hsa_agent_iterate_caches) \
	NUMBER(102, hsa_signal_silent_store_relaxed) \
	NUMBER(103, hsa_signal_silent_store_screlease) \
	NUMBER(104, hsa_signal_group_create) \
	NUMBER(105, hsa_signal_group_destroy) \
	NUMBER(106, hsa_signal_group_wait_any_scacquire) \
	NUMBER(107, hsa_signal_group_wait_any_relaxed) \
	NUMBER(108, hsa_agent_iterate_isas) \
	NUMBER(109, hsa_isa_get_info_alt) \
	NUMBER(110, hsa_isa_get_exception_policies) \
	NUMBER(111, hsa_isa_get_round_method) \
	NUMBER(112, hsa_wavefront_get_info) \
	NUMBER(113, hsa_isa_iterate_wavefronts) \
	NUMBER(114, hsa_code_object_get_symbol_from_name) \
	NUMBER(115, hsa_code_object_reader_create_from_file) \
	NUMBER(116, hsa_code_object_reader_create_from_memory) \
	NUMBER(117, hsa_code_object_reader_destroy) \
	NUMBER(118, hsa_executable_create_alt) \
	NUMBER(119, hsa_executable_load_program_code_object) \
	NUMBER(120, hsa_executable_load_agent_code_object) \
	NUMBER(121, hsa_executable_validate_alt) \
	NUMBER(122, hsa_executable_get_symbol_by_name) \
	NUMBER(123, hsa_executable_iterate_agent_symbols) \
	NUMBER(124, hsa_executable_iterate_program_symbols) \
	NUMBER(125, hsa_amd_coherency_get_type) \
	NUMBER(126, hsa_amd_coherency_set_type) \
	NUMBER(127, hsa_amd_profiling_set_profiler_enabled) \
	NUMBER(128, hsa_amd_profiling_async_copy_enable) \
	NUMBER(129, hsa_amd_profiling_get_dispatch_time) \
	NUMBER(130, hsa_amd_profiling_get_async_copy_time) \
	NUMBER(131, hsa_amd_profiling_convert_tick_to_system_domain) \
	NUMBER(132, hsa_amd_signal_async_handler) \
	NUMBER(133, hsa_amd_async_function) \
	NUMBER(134, hsa_amd_signal_wait_any) \
	NUMBER(135, hsa_amd_queue_cu_set_mask) \
	NUMBER(136, hsa_amd_memory_pool_get_info) \
	NUMBER(137, hsa_amd_agent_iterate_memory_pools) \
	NUMBER(138, hsa_amd_memory_pool_allocate) \
	NUMBER(139, hsa_amd_memory_pool_free) \
	NUMBER(140, hsa_amd_memory_async_copy) \
	NUMBER(141, hsa_amd_agent_memory_pool_get_info) \
	NUMBER(142, hsa_amd_agents_allow_access) \
	NUMBER(143, hsa_amd_memory_pool_can_migrate) \
	NUMBER(144, hsa_amd_memory_migrate) \
	NUMBER(145, hsa_amd_memory_lock) \
	NUMBER(146, hsa_amd_memory_unlock) \
	NUMBER(147, hsa_amd_memory_fill) \
	NUMBER(148, hsa_amd_interop_map_buffer) \
	NUMBER(149, hsa_amd_interop_unmap_buffer) \
	NUMBER(150, hsa_amd_image_create) \
	NUMBER(151, hsa_amd_pointer_info) \
	NUMBER(152, hsa_amd_pointer_info_set_userdata) \
	NUMBER(153, hsa_amd_ipc_memory_create) \
	NUMBER(154, hsa_amd_ipc_memory_attach) \
	NUMBER(155, hsa_amd_ipc_memory_detach) \
	NUMBER(156, hsa_amd_signal_create) \
	NUMBER(157, hsa_amd_ipc_signal_create) \
	NUMBER(158, hsa_amd_ipc_signal_attach) \
	NUMBER(159, hsa_amd_register_system_event_handler) \
	NUMBER(160, hsa_amd_queue_intercept_create) \
	NUMBER(161, hsa_amd_queue_intercept_register) \
	NUMBER(162, hsa_amd_queue_set_priority) \
	NUMBER(163, hsa_amd_memory_async_copy_rect) \
	NUMBER(164, hsa_amd_runtime_queue_create_register) \
	NUMBER(165, hsa_amd_memory_lock_to_pool) \
	NUMBER(166, hsa_amd_register_deallocation_callback) \
	NUMBER(167, hsa_amd_deregister_deallocation_callback) \
	NUMBER(168, hsa_amd_signal_value_pointer) \
	NUMBER(169, hsa_amd_svm_attributes_set) \
	NUMBER(170, hsa_amd_svm_attributes_get) \
	NUMBER(171, hsa_amd_svm_prefetch_async) \
	NUMBER(172, hsa_amd_queue_cu_get_mask) \
	NUMBER(173, hsa_ext_image_get_capability) \
	NUMBER(174, hsa_ext_image_data_get_info) \
	NUMBER(175, hsa_ext_image_create) \
	NUMBER(176, hsa_ext_image_import) \
	NUMBER(177, hsa_ext_image_export) \
	NUMBER(178, hsa_ext_image_copy) \
	NUMBER(179, hsa_ext_image_clear) \
	NUMBER(180, hsa_ext_image_destroy) \
	NUMBER(181, hsa_ext_sampler_create) \
	NUMBER(182, hsa_ext_sampler_destroy) \
	NUMBER(183, hsa_ext_image_get_capability_with_layout) \
	NUMBER(184, hsa_ext_image_data_get_info_with_layout) \
	NUMBER(185, hsa_ext_image_create_with_layout)

#define HSA_LAYOUT_ARGUMENTS(ARGUMENT) \
	ARGUMENT(hsa_system_get_info, attribute, 24, 4) \
	ARGUMENT(hsa_system_get_info, value, 32, 8) \
	ARGUMENT(hsa_system_extension_supported, extension, 24, 2) \
	ARGUMENT(hsa_system_extension_supported, version_major, 26, 2) \
	ARGUMENT(hsa_system_extension_supported, version_minor, 28, 2) \
	ARGUMENT(hsa_system_extension_supported, result, 32, 8) \
	ARGUMENT(hsa_system_get_extension_table, extension, 24, 2) \
	ARGUMENT(hsa_system_get_extension_table, version_major, 26, 2) \
	ARGUMENT(hsa_system_get_extension_table, version_minor, 28, 2) \
	ARGUMENT(hsa_system_get_extension_table, table, 32, 8) \
	ARGUMENT(hsa_iterate_agents, callback, 24, 8) \
	ARGUMENT(hsa_iterate_agents, data, 32, 8) \
	ARGUMENT(hsa_agent_get_info, agent, 24, 8) \
	ARGUMENT(hsa_agent_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_agent_get_info, value, 40, 8) \
	ARGUMENT(hsa_queue_create, agent, 24, 8) \
	ARGUMENT(hsa_queue_create, size, 32, 4) \
	ARGUMENT(hsa_queue_create, type, 36, 4) \
	ARGUMENT(hsa_queue_create, callback, 40, 8) \
	ARGUMENT(hsa_queue_create, data, 48, 8) \
	ARGUMENT(hsa_queue_create, private_segment_size, 56, 4) \
	ARGUMENT(hsa_queue_create, group_segment_size, 60, 4) \
	ARGUMENT(hsa_queue_create, queue, 64, 8) \
	ARGUMENT(hsa_soft_queue_create, region, 24, 8) \
	ARGUMENT(hsa_soft_queue_create, size, 32, 4) \
	ARGUMENT(hsa_soft_queue_create, type, 36, 4) \
	ARGUMENT(hsa_soft_queue_create, features, 40, 4) \
	ARGUMENT(hsa_soft_queue_create, doorbell_signal, 48, 8) \
	ARGUMENT(hsa_soft_queue_create, queue, 56, 8) \
	ARGUMENT(hsa_queue_destroy, queue, 24, 8) \
	ARGUMENT(hsa_queue_inactivate, queue, 24, 8) \
	ARGUMENT(hsa_queue_load_read_index_scacquire, queue, 24, 8) \
	ARGUMENT(hsa_queue_load_read_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_load_write_index_scacquire, queue, 24, 8) \
	ARGUMENT(hsa_queue_load_write_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_store_write_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_store_write_index_relaxed, value, 32, 8) \
	ARGUMENT(hsa_queue_store_write_index_screlease, queue, 24, 8) \
	ARGUMENT(hsa_queue_store_write_index_screlease, value, 32, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacq_screl, queue, 24, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacq_screl, expected, 32, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacq_screl, value, 40, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacquire, queue, 24, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacquire, expected, 32, 8) \
	ARGUMENT(hsa_queue_cas_write_index_scacquire, value, 40, 8) \
	ARGUMENT(hsa_queue_cas_write_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_cas_write_index_relaxed, expected, 32, 8) \
	ARGUMENT(hsa_queue_cas_write_index_relaxed, value, 40, 8) \
	ARGUMENT(hsa_queue_cas_write_index_screlease, queue, 24, 8) \
	ARGUMENT(hsa_queue_cas_write_index_screlease, expected, 32, 8) \
	ARGUMENT(hsa_queue_cas_write_index_screlease, value, 40, 8) \
	ARGUMENT(hsa_queue_add_write_index_scacq_screl, queue, 24, 8) \
	ARGUMENT(hsa_queue_add_write_index_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_queue_add_write_index_scacquire, queue, 24, 8) \
	ARGUMENT(hsa_queue_add_write_index_scacquire, value, 32, 8) \
	ARGUMENT(hsa_queue_add_write_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_add_write_index_relaxed, value, 32, 8) \
	ARGUMENT(hsa_queue_add_write_index_screlease, queue, 24, 8) \
	ARGUMENT(hsa_queue_add_write_index_screlease, value, 32, 8) \
	ARGUMENT(hsa_queue_store_read_index_relaxed, queue, 24, 8) \
	ARGUMENT(hsa_queue_store_read_index_relaxed, value, 32, 8) \
	ARGUMENT(hsa_queue_store_read_index_screlease, queue, 24, 8) \
	ARGUMENT(hsa_queue_store_read_index_screlease, value, 32, 8) \
	ARGUMENT(hsa_agent_iterate_regions, agent, 24, 8) \
	ARGUMENT(hsa_agent_iterate_regions, callback, 32, 8) \
	ARGUMENT(hsa_agent_iterate_regions, data, 40, 8) \
	ARGUMENT(hsa_region_get_info, region, 24, 8) \
	ARGUMENT(hsa_region_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_region_get_info, value, 40, 8) \
	ARGUMENT(hsa_agent_get_exception_policies, agent, 24, 8) \
	ARGUMENT(hsa_agent_get_exception_policies, profile, 32, 4) \
	ARGUMENT(hsa_agent_get_exception_policies, mask, 40, 8) \
	ARGUMENT(hsa_agent_extension_supported, extension, 24, 2) \
	ARGUMENT(hsa_agent_extension_supported, agent, 32, 8) \
	ARGUMENT(hsa_agent_extension_supported, version_major, 40, 2) \
	ARGUMENT(hsa_agent_extension_supported, version_minor, 42, 2) \
	ARGUMENT(hsa_agent_extension_supported, result, 48, 8) \
	ARGUMENT(hsa_memory_register, ptr, 24, 8) \
	ARGUMENT(hsa_memory_register, size, 32, 8) \
	ARGUMENT(hsa_memory_deregister, ptr, 24, 8) \
	ARGUMENT(hsa_memory_deregister, size, 32, 8) \
	ARGUMENT(hsa_memory_allocate, region, 24, 8) \
	ARGUMENT(hsa_memory_allocate, size, 32, 8) \
	ARGUMENT(hsa_memory_allocate, ptr, 40, 8) \
	ARGUMENT(hsa_memory_free, ptr, 24, 8) \
	ARGUMENT(hsa_memory_copy, dst, 24, 8) \
	ARGUMENT(hsa_memory_copy, src, 32, 8) \
	ARGUMENT(hsa_memory_copy, size, 40, 8) \
	ARGUMENT(hsa_memory_assign_agent, ptr, 24, 8) \
	ARGUMENT(hsa_memory_assign_agent, agent, 32, 8) \
	ARGUMENT(hsa_memory_assign_agent, access, 40, 4) \
	ARGUMENT(hsa_signal_create, initial_value, 24, 8) \
	ARGUMENT(hsa_signal_create, num_consumers, 32, 4) \
	ARGUMENT(hsa_signal_create, consumers, 40, 8) \
	ARGUMENT(hsa_signal_create, signal, 48, 8) \
	ARGUMENT(hsa_signal_destroy, signal, 24, 8) \
	ARGUMENT(hsa_signal_load_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_load_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_store_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_store_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_store_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_store_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_wait_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_wait_relaxed, condition, 32, 4) \
	ARGUMENT(hsa_signal_wait_relaxed, compare_value, 40, 8) \
	ARGUMENT(hsa_signal_wait_relaxed, timeout_hint, 48, 8) \
	ARGUMENT(hsa_signal_wait_relaxed, wait_state_hint, 56, 4) \
	ARGUMENT(hsa_signal_wait_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_wait_scacquire, condition, 32, 4) \
	ARGUMENT(hsa_signal_wait_scacquire, compare_value, 40, 8) \
	ARGUMENT(hsa_signal_wait_scacquire, timeout_hint, 48, 8) \
	ARGUMENT(hsa_signal_wait_scacquire, wait_state_hint, 56, 4) \
	ARGUMENT(hsa_signal_and_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_and_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_and_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_and_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_and_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_and_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_and_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_and_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_or_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_or_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_or_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_or_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_or_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_or_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_or_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_or_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_xor_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_xor_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_xor_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_xor_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_xor_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_xor_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_xor_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_xor_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_exchange_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_exchange_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_exchange_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_exchange_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_exchange_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_exchange_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_exchange_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_exchange_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_add_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_add_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_add_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_add_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_add_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_add_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_add_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_add_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_subtract_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_subtract_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_subtract_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_subtract_scacquire, value, 32, 8) \
	ARGUMENT(hsa_signal_subtract_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_subtract_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_subtract_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_subtract_scacq_screl, value, 32, 8) \
	ARGUMENT(hsa_signal_cas_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_cas_relaxed, expected, 32, 8) \
	ARGUMENT(hsa_signal_cas_relaxed, value, 40, 8) \
	ARGUMENT(hsa_signal_cas_scacquire, signal, 24, 8) \
	ARGUMENT(hsa_signal_cas_scacquire, expected, 32, 8) \
	ARGUMENT(hsa_signal_cas_scacquire, value, 40, 8) \
	ARGUMENT(hsa_signal_cas_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_cas_screlease, expected, 32, 8) \
	ARGUMENT(hsa_signal_cas_screlease, value, 40, 8) \
	ARGUMENT(hsa_signal_cas_scacq_screl, signal, 24, 8) \
	ARGUMENT(hsa_signal_cas_scacq_screl, expected, 32, 8) \
	ARGUMENT(hsa_signal_cas_scacq_screl, value, 40, 8) \
	ARGUMENT(hsa_isa_from_name, name, 24, 8) \
	ARGUMENT(hsa_isa_from_name, isa, 32, 8) \
	ARGUMENT(hsa_isa_get_info, isa, 24, 8) \
	ARGUMENT(hsa_isa_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_isa_get_info, index, 36, 4) \
	ARGUMENT(hsa_isa_get_info, value, 40, 8) \
	ARGUMENT(hsa_isa_compatible, code_object_isa, 24, 8) \
	ARGUMENT(hsa_isa_compatible, agent_isa, 32, 8) \
	ARGUMENT(hsa_isa_compatible, result, 40, 8) \
	ARGUMENT(hsa_code_object_serialize, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_serialize, alloc_callback, 32, 8) \
	ARGUMENT(hsa_code_object_serialize, callback_data, 40, 8) \
	ARGUMENT(hsa_code_object_serialize, options, 48, 8) \
	ARGUMENT(hsa_code_object_serialize, serialized_code_object, 56, 8) \
	ARGUMENT(hsa_code_object_serialize, serialized_code_object_size, 64, 8) \
	ARGUMENT(hsa_code_object_deserialize, serialized_code_object, 24, 8) \
	ARGUMENT(hsa_code_object_deserialize, serialized_code_object_size, 32, 8) \
	ARGUMENT(hsa_code_object_deserialize, options, 40, 8) \
	ARGUMENT(hsa_code_object_deserialize, code_object, 48, 8) \
	ARGUMENT(hsa_code_object_destroy, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_get_info, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_code_object_get_info, value, 40, 8) \
	ARGUMENT(hsa_code_object_get_symbol, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_get_symbol, symbol_name, 32, 8) \
	ARGUMENT(hsa_code_object_get_symbol, symbol, 40, 8) \
	ARGUMENT(hsa_code_symbol_get_info, code_symbol, 24, 8) \
	ARGUMENT(hsa_code_symbol_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_code_symbol_get_info, value, 40, 8) \
	ARGUMENT(hsa_code_object_iterate_symbols, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_iterate_symbols, callback, 32, 8) \
	ARGUMENT(hsa_code_object_iterate_symbols, data, 40, 8) \
	ARGUMENT(hsa_executable_create, profile, 24, 4) \
	ARGUMENT(hsa_executable_create, executable_state, 28, 4) \
	ARGUMENT(hsa_executable_create, options, 32, 8) \
	ARGUMENT(hsa_executable_create, executable, 40, 8) \
	ARGUMENT(hsa_executable_destroy, executable, 24, 8) \
	ARGUMENT(hsa_executable_load_code_object, executable, 24, 8) \
	ARGUMENT(hsa_executable_load_code_object, agent, 32, 8) \
	ARGUMENT(hsa_executable_load_code_object, code_object, 40, 8) \
	ARGUMENT(hsa_executable_load_code_object, options, 48, 8) \
	ARGUMENT(hsa_executable_freeze, executable, 24, 8) \
	ARGUMENT(hsa_executable_freeze, options, 32, 8) \
	ARGUMENT(hsa_executable_get_info, executable, 24, 8) \
	ARGUMENT(hsa_executable_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_executable_get_info, value, 40, 8) \
	ARGUMENT(hsa_executable_global_variable_define, executable, 24, 8) \
	ARGUMENT(hsa_executable_global_variable_define, variable_name, 32, 8) \
	ARGUMENT(hsa_executable_global_variable_define, address, 40, 8) \
	ARGUMENT(hsa_executable_agent_global_variable_define, executable, 24, 8) \
	ARGUMENT(hsa_executable_agent_global_variable_define, agent, 32, 8) \
	ARGUMENT(hsa_executable_agent_global_variable_define, variable_name, 40, 8) \
	ARGUMENT(hsa_executable_agent_global_variable_define, address, 48, 8) \
	ARGUMENT(hsa_executable_readonly_variable_define, executable, 24, 8) \
	ARGUMENT(hsa_executable_readonly_variable_define, agent, 32, 8) \
	ARGUMENT(hsa_executable_readonly_variable_define, variable_name, 40, 8) \
	ARGUMENT(hsa_executable_readonly_variable_define, address, 48, 8) \
	ARGUMENT(hsa_executable_validate, executable, 24, 8) \
	ARGUMENT(hsa_executable_validate, result, 32, 8) \
	ARGUMENT(hsa_executable_get_symbol, executable, 24, 8) \
	ARGUMENT(hsa_executable_get_symbol, module_name, 32, 8) \
	ARGUMENT(hsa_executable_get_symbol, symbol_name, 40, 8) \
	ARGUMENT(hsa_executable_get_symbol, agent, 48, 8) \
	ARGUMENT(hsa_executable_get_symbol, call_convention, 56, 4) \
	ARGUMENT(hsa_executable_get_symbol, symbol, 64, 8) \
	ARGUMENT(hsa_executable_symbol_get_info, executable_symbol, 24, 8) \
	ARGUMENT(hsa_executable_symbol_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_executable_symbol_get_info, value, 40, 8) \
	ARGUMENT(hsa_executable_iterate_symbols, executable, 24, 8) \
	ARGUMENT(hsa_executable_iterate_symbols, callback, 32, 8) \
	ARGUMENT(hsa_executable_iterate_symbols, data, 40, 8) \
	ARGUMENT(hsa_status_string, status, 24, 4) \
	ARGUMENT(hsa_status_string, status_string, 32, 8) \
	ARGUMENT(hsa_extension_get_name, extension, 24, 2) \
	ARGUMENT(hsa_extension_get_name, name, 32, 8) \
	ARGUMENT(hsa_system_major_extension_supported, extension, 24, 2) \
	ARGUMENT(hsa_system_major_extension_supported, version_major, 26, 2) \
	ARGUMENT(hsa_system_major_extension_supported, version_minor, 32, 8) \
	ARGUMENT(hsa_system_major_extension_supported, result, 40, 8) \
	ARGUMENT(hsa_system_get_major_extension_table, extension, 24, 2) \
	ARGUMENT(hsa_system_get_major_extension_table, version_major, 26, 2) \
	ARGUMENT(hsa_system_get_major_extension_table, table_length, 32, 8) \
	ARGUMENT(hsa_system_get_major_extension_table, table, 40, 8) \
	ARGUMENT(hsa_agent_major_extension_supported, extension, 24, 2) \
	ARGUMENT(hsa_agent_major_extension_supported, agent, 32, 8) \
	ARGUMENT(hsa_agent_major_extension_supported, version_major, 40, 2) \
	ARGUMENT(hsa_agent_major_extension_supported, version_minor, 48, 8) \
	ARGUMENT(hsa_agent_major_extension_supported, result, 56, 8) \
	ARGUMENT(hsa_cache_get_info, cache, 24, 8) \
	ARGUMENT(hsa_cache_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_cache_get_info, value, 40, 8) \
	ARGUMENT(hsa_agent_iterate_caches, agent, 24, 8) \
	ARGUMENT(hsa_agent_iterate_caches, callback, 32, 8) \
	ARGUMENT(hsa_agent_iterate_caches, data, 40, 8) \
	ARGUMENT(hsa_signal_silent_store_relaxed, signal, 24, 8) \
	ARGUMENT(hsa_signal_silent_store_relaxed, value, 32, 8) \
	ARGUMENT(hsa_signal_silent_store_screlease, signal, 24, 8) \
	ARGUMENT(hsa_signal_silent_store_screlease, value, 32, 8) \
	ARGUMENT(hsa_signal_group_create, num_signals, 24, 4) \
	ARGUMENT(hsa_signal_group_create, signals, 32, 8) \
	ARGUMENT(hsa_signal_group_create, num_consumers, 40, 4) \
	ARGUMENT(hsa_signal_group_create, consumers, 48, 8) \
	ARGUMENT(hsa_signal_group_create, signal_group, 56, 8) \
	ARGUMENT(hsa_signal_group_destroy, signal_group, 24, 8) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, signal_group, 24, 8) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, conditions, 32, 8) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, compare_values, 40, 8) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, wait_state_hint, 48, 4) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, signal, 56, 8) \
	ARGUMENT(hsa_signal_group_wait_any_scacquire, value, 64, 8) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, signal_group, 24, 8) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, conditions, 32, 8) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, compare_values, 40, 8) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, wait_state_hint, 48, 4) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, signal, 56, 8) \
	ARGUMENT(hsa_signal_group_wait_any_relaxed, value, 64, 8) \
	ARGUMENT(hsa_agent_iterate_isas, agent, 24, 8) \
	ARGUMENT(hsa_agent_iterate_isas, callback, 32, 8) \
	ARGUMENT(hsa_agent_iterate_isas, data, 40, 8) \
	ARGUMENT(hsa_isa_get_info_alt, isa, 24, 8) \
	ARGUMENT(hsa_isa_get_info_alt, attribute, 32, 4) \
	ARGUMENT(hsa_isa_get_info_alt, value, 40, 8) \
	ARGUMENT(hsa_isa_get_exception_policies, isa, 24, 8) \
	ARGUMENT(hsa_isa_get_exception_policies, profile, 32, 4) \
	ARGUMENT(hsa_isa_get_exception_policies, mask, 40, 8) \
	ARGUMENT(hsa_isa_get_round_method, isa, 24, 8) \
	ARGUMENT(hsa_isa_get_round_method, fp_type, 32, 4) \
	ARGUMENT(hsa_isa_get_round_method, flush_mode, 36, 4) \
	ARGUMENT(hsa_isa_get_round_method, round_method, 40, 8) \
	ARGUMENT(hsa_wavefront_get_info, wavefront, 24, 8) \
	ARGUMENT(hsa_wavefront_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_wavefront_get_info, value, 40, 8) \
	ARGUMENT(hsa_isa_iterate_wavefronts, isa, 24, 8) \
	ARGUMENT(hsa_isa_iterate_wavefronts, callback, 32, 8) \
	ARGUMENT(hsa_isa_iterate_wavefronts, data, 40, 8) \
	ARGUMENT(hsa_code_object_get_symbol_from_name, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_get_symbol_from_name, module_name, 32, 8) \
	ARGUMENT(hsa_code_object_get_symbol_from_name, symbol_name, 40, 8) \
	ARGUMENT(hsa_code_object_get_symbol_from_name, symbol, 48, 8) \
	ARGUMENT(hsa_code_object_reader_create_from_file, file, 24, 4) \
	ARGUMENT(hsa_code_object_reader_create_from_file, code_object_reader, 32, 8) \
	ARGUMENT(hsa_code_object_reader_create_from_memory, code_object, 24, 8) \
	ARGUMENT(hsa_code_object_reader_create_from_memory, size, 32, 8) \
	ARGUMENT(hsa_code_object_reader_create_from_memory, code_object_reader, 40, 8) \
	ARGUMENT(hsa_code_object_reader_destroy, code_object_reader, 24, 8) \
	ARGUMENT(hsa_executable_create_alt, profile, 24, 4) \
	ARGUMENT(hsa_executable_create_alt, default_float_rounding_mode, 28, 4) \
	ARGUMENT(hsa_executable_create_alt, options, 32, 8) \
	ARGUMENT(hsa_executable_create_alt, executable, 40, 8) \
	ARGUMENT(hsa_executable_load_program_code_object, executable, 24, 8) \
	ARGUMENT(hsa_executable_load_program_code_object, code_object_reader, 32, 8) \
	ARGUMENT(hsa_executable_load_program_code_object, options, 40, 8) \
	ARGUMENT(hsa_executable_load_program_code_object, loaded_code_object, 48, 8) \
	ARGUMENT(hsa_executable_load_agent_code_object, executable, 24, 8) \
	ARGUMENT(hsa_executable_load_agent_code_object, agent, 32, 8) \
	ARGUMENT(hsa_executable_load_agent_code_object, code_object_reader, 40, 8) \
	ARGUMENT(hsa_executable_load_agent_code_object, options, 48, 8) \
	ARGUMENT(hsa_executable_load_agent_code_object, loaded_code_object, 56, 8) \
	ARGUMENT(hsa_executable_validate_alt, executable, 24, 8) \
	ARGUMENT(hsa_executable_validate_alt, options, 32, 8) \
	ARGUMENT(hsa_executable_validate_alt, result, 40, 8) \
	ARGUMENT(hsa_executable_get_symbol_by_name, executable, 24, 8) \
	ARGUMENT(hsa_executable_get_symbol_by_name, symbol_name, 32, 8) \
	ARGUMENT(hsa_executable_get_symbol_by_name, agent, 40, 8) \
	ARGUMENT(hsa_executable_get_symbol_by_name, symbol, 48, 8) \
	ARGUMENT(hsa_executable_iterate_agent_symbols, executable, 24, 8) \
	ARGUMENT(hsa_executable_iterate_agent_symbols, agent, 32, 8) \
	ARGUMENT(hsa_executable_iterate_agent_symbols, callback, 40, 8) \
	ARGUMENT(hsa_executable_iterate_agent_symbols, data, 48, 8) \
	ARGUMENT(hsa_executable_iterate_program_symbols, executable, 24, 8) \
	ARGUMENT(hsa_executable_iterate_program_symbols, callback, 32, 8) \
	ARGUMENT(hsa_executable_iterate_program_symbols, data, 40, 8) \
	ARGUMENT(hsa_amd_coherency_get_type, agent, 24, 8) \
	ARGUMENT(hsa_amd_coherency_get_type, type, 32, 8) \
	ARGUMENT(hsa_amd_coherency_set_type, agent, 24, 8) \
	ARGUMENT(hsa_amd_coherency_set_type, type, 32, 4) \
	ARGUMENT(hsa_amd_profiling_set_profiler_enabled, queue, 24, 8) \
	ARGUMENT(hsa_amd_profiling_set_profiler_enabled, enable, 32, 4) \
	ARGUMENT(hsa_amd_profiling_async_copy_enable, enable, 24, 1) \
	ARGUMENT(hsa_amd_profiling_get_dispatch_time, agent, 24, 8) \
	ARGUMENT(hsa_amd_profiling_get_dispatch_time, signal, 32, 8) \
	ARGUMENT(hsa_amd_profiling_get_dispatch_time, time, 40, 8) \
	ARGUMENT(hsa_amd_profiling_get_async_copy_time, signal, 24, 8) \
	ARGUMENT(hsa_amd_profiling_get_async_copy_time, time, 32, 8) \
	ARGUMENT(hsa_amd_profiling_convert_tick_to_system_domain, agent, 24, 8) \
	ARGUMENT(hsa_amd_profiling_convert_tick_to_system_domain, agent_tick, 32, 8) \
	ARGUMENT(hsa_amd_profiling_convert_tick_to_system_domain, system_tick, 40, 8) \
	ARGUMENT(hsa_amd_signal_async_handler, signal, 24, 8) \
	ARGUMENT(hsa_amd_signal_async_handler, cond, 32, 4) \
	ARGUMENT(hsa_amd_signal_async_handler, value, 40, 8) \
	ARGUMENT(hsa_amd_signal_async_handler, handler, 48, 8) \
	ARGUMENT(hsa_amd_signal_async_handler, arg, 56, 8) \
	ARGUMENT(hsa_amd_async_function, callback, 24, 8) \
	ARGUMENT(hsa_amd_async_function, arg, 32, 8) \
	ARGUMENT(hsa_amd_signal_wait_any, signal_count, 24, 4) \
	ARGUMENT(hsa_amd_signal_wait_any, signals, 32, 8) \
	ARGUMENT(hsa_amd_signal_wait_any, conds, 40, 8) \
	ARGUMENT(hsa_amd_signal_wait_any, values, 48, 8) \
	ARGUMENT(hsa_amd_signal_wait_any, timeout_hint, 56, 8) \
	ARGUMENT(hsa_amd_signal_wait_any, wait_hint, 64, 4) \
	ARGUMENT(hsa_amd_signal_wait_any, satisfying_value, 72, 8) \
	ARGUMENT(hsa_amd_queue_cu_set_mask, queue, 24, 8) \
	ARGUMENT(hsa_amd_queue_cu_set_mask, num_cu_mask_count, 32, 4) \
	ARGUMENT(hsa_amd_queue_cu_set_mask, cu_mask, 40, 8) \
	ARGUMENT(hsa_amd_memory_pool_get_info, memory_pool, 24, 8) \
	ARGUMENT(hsa_amd_memory_pool_get_info, attribute, 32, 4) \
	ARGUMENT(hsa_amd_memory_pool_get_info, value, 40, 8) \
	ARGUMENT(hsa_amd_agent_iterate_memory_pools, agent, 24, 8) \
	ARGUMENT(hsa_amd_agent_iterate_memory_pools, callback, 32, 8) \
	ARGUMENT(hsa_amd_agent_iterate_memory_pools, data, 40, 8) \
	ARGUMENT(hsa_amd_memory_pool_allocate, memory_pool, 24, 8) \
	ARGUMENT(hsa_amd_memory_pool_allocate, size, 32, 8) \
	ARGUMENT(hsa_amd_memory_pool_allocate, flags, 40, 4) \
	ARGUMENT(hsa_amd_memory_pool_allocate, ptr, 48, 8) \
	ARGUMENT(hsa_amd_memory_pool_free, ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, dst, 24, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, dst_agent, 32, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, src, 40, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, src_agent, 48, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, size, 56, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, num_dep_signals, 64, 4) \
	ARGUMENT(hsa_amd_memory_async_copy, dep_signals, 72, 8) \
	ARGUMENT(hsa_amd_memory_async_copy, completion_signal, 80, 8) \
	ARGUMENT(hsa_amd_agent_memory_pool_get_info, agent, 24, 8) \
	ARGUMENT(hsa_amd_agent_memory_pool_get_info, memory_pool, 32, 8) \
	ARGUMENT(hsa_amd_agent_memory_pool_get_info, attribute, 40, 4) \
	ARGUMENT(hsa_amd_agent_memory_pool_get_info, value, 48, 8) \
	ARGUMENT(hsa_amd_agents_allow_access, num_agents, 24, 4) \
	ARGUMENT(hsa_amd_agents_allow_access, agents, 32, 8) \
	ARGUMENT(hsa_amd_agents_allow_access, flags, 40, 8) \
	ARGUMENT(hsa_amd_agents_allow_access, ptr, 48, 8) \
	ARGUMENT(hsa_amd_memory_pool_can_migrate, src_memory_pool, 24, 8) \
	ARGUMENT(hsa_amd_memory_pool_can_migrate, dst_memory_pool, 32, 8) \
	ARGUMENT(hsa_amd_memory_pool_can_migrate, result, 40, 8) \
	ARGUMENT(hsa_amd_memory_migrate, ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_migrate, memory_pool, 32, 8) \
	ARGUMENT(hsa_amd_memory_migrate, flags, 40, 4) \
	ARGUMENT(hsa_amd_memory_lock, host_ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_lock, size, 32, 8) \
	ARGUMENT(hsa_amd_memory_lock, agents, 40, 8) \
	ARGUMENT(hsa_amd_memory_lock, num_agent, 48, 4) \
	ARGUMENT(hsa_amd_memory_lock, agent_ptr, 56, 8) \
	ARGUMENT(hsa_amd_memory_unlock, host_ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_fill, ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_fill, value, 32, 4) \
	ARGUMENT(hsa_amd_memory_fill, count, 40, 8) \
	ARGUMENT(hsa_amd_interop_map_buffer, num_agents, 24, 4) \
	ARGUMENT(hsa_amd_interop_map_buffer, agents, 32, 8) \
	ARGUMENT(hsa_amd_interop_map_buffer, interop_handle, 40, 4) \
	ARGUMENT(hsa_amd_interop_map_buffer, flags, 44, 4) \
	ARGUMENT(hsa_amd_interop_map_buffer, size, 48, 8) \
	ARGUMENT(hsa_amd_interop_map_buffer, ptr, 56, 8) \
	ARGUMENT(hsa_amd_interop_map_buffer, metadata_size, 64, 8) \
	ARGUMENT(hsa_amd_interop_map_buffer, metadata, 72, 8) \
	ARGUMENT(hsa_amd_interop_unmap_buffer, ptr, 24, 8) \
	ARGUMENT(hsa_amd_image_create, agent, 24, 8) \
	ARGUMENT(hsa_amd_image_create, image_descriptor, 32, 8) \
	ARGUMENT(hsa_amd_image_create, image_layout, 40, 8) \
	ARGUMENT(hsa_amd_image_create, image_data, 48, 8) \
	ARGUMENT(hsa_amd_image_create, access_permission, 56, 4) \
	ARGUMENT(hsa_amd_image_create, image, 64, 8) \
	ARGUMENT(hsa_amd_pointer_info, ptr, 24, 8) \
	ARGUMENT(hsa_amd_pointer_info, info, 32, 8) \
	ARGUMENT(hsa_amd_pointer_info, alloc, 40, 8) \
	ARGUMENT(hsa_amd_pointer_info, num_agents_accessible, 48, 8) \
	ARGUMENT(hsa_amd_pointer_info, accessible, 56, 8) \
	ARGUMENT(hsa_amd_pointer_info_set_userdata, ptr, 24, 8) \
	ARGUMENT(hsa_amd_pointer_info_set_userdata, userdata, 32, 8) \
	ARGUMENT(hsa_amd_ipc_memory_create, ptr, 24, 8) \
	ARGUMENT(hsa_amd_ipc_memory_create, len, 32, 8) \
	ARGUMENT(hsa_amd_ipc_memory_create, handle, 40, 8) \
	ARGUMENT(hsa_amd_ipc_memory_attach, handle, 24, 8) \
	ARGUMENT(hsa_amd_ipc_memory_attach, len, 32, 8) \
	ARGUMENT(hsa_amd_ipc_memory_attach, num_agents, 40, 4) \
	ARGUMENT(hsa_amd_ipc_memory_attach, mapping_agents, 48, 8) \
	ARGUMENT(hsa_amd_ipc_memory_attach, mapped_ptr, 56, 8) \
	ARGUMENT(hsa_amd_ipc_memory_detach, mapped_ptr, 24, 8) \
	ARGUMENT(hsa_amd_signal_create, initial_value, 24, 8) \
	ARGUMENT(hsa_amd_signal_create, num_consumers, 32, 4) \
	ARGUMENT(hsa_amd_signal_create, consumers, 40, 8) \
	ARGUMENT(hsa_amd_signal_create, attributes, 48, 8) \
	ARGUMENT(hsa_amd_signal_create, signal, 56, 8) \
	ARGUMENT(hsa_amd_ipc_signal_create, signal, 24, 8) \
	ARGUMENT(hsa_amd_ipc_signal_create, handle, 32, 8) \
	ARGUMENT(hsa_amd_ipc_signal_attach, handle, 24, 8) \
	ARGUMENT(hsa_amd_ipc_signal_attach, signal, 32, 8) \
	ARGUMENT(hsa_amd_register_system_event_handler, callback, 24, 8) \
	ARGUMENT(hsa_amd_register_system_event_handler, data, 32, 8) \
	ARGUMENT(hsa_amd_queue_intercept_create, agent_handle, 24, 8) \
	ARGUMENT(hsa_amd_queue_intercept_create, size, 32, 4) \
	ARGUMENT(hsa_amd_queue_intercept_create, type, 36, 4) \
	ARGUMENT(hsa_amd_queue_intercept_create, callback, 40, 8) \
	ARGUMENT(hsa_amd_queue_intercept_create, data, 48, 8) \
	ARGUMENT(hsa_amd_queue_intercept_create, private_segment_size, 56, 4) \
	ARGUMENT(hsa_amd_queue_intercept_create, group_segment_size, 60, 4) \
	ARGUMENT(hsa_amd_queue_intercept_create, queue, 64, 8) \
	ARGUMENT(hsa_amd_queue_intercept_register, queue, 24, 8) \
	ARGUMENT(hsa_amd_queue_intercept_register, callback, 32, 8) \
	ARGUMENT(hsa_amd_queue_intercept_register, user_data, 40, 8) \
	ARGUMENT(hsa_amd_queue_set_priority, queue, 24, 8) \
	ARGUMENT(hsa_amd_queue_set_priority, priority, 32, 4) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, dst, 24, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, dst_offset, 32, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, src, 40, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, src_offset, 48, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, range, 56, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, range__val, 64, 12) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, copy_agent, 80, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, dir, 88, 4) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, num_dep_signals, 92, 4) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, dep_signals, 96, 8) \
	ARGUMENT(hsa_amd_memory_async_copy_rect, completion_signal, 104, 8) \
	ARGUMENT(hsa_amd_runtime_queue_create_register, callback, 24, 8) \
	ARGUMENT(hsa_amd_runtime_queue_create_register, user_data, 32, 8) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, host_ptr, 24, 8) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, size, 32, 8) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, agents, 40, 8) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, num_agent, 48, 4) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, pool, 56, 8) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, flags, 64, 4) \
	ARGUMENT(hsa_amd_memory_lock_to_pool, agent_ptr, 72, 8) \
	ARGUMENT(hsa_amd_register_deallocation_callback, ptr, 24, 8) \
	ARGUMENT(hsa_amd_register_deallocation_callback, callback, 32, 8) \
	ARGUMENT(hsa_amd_register_deallocation_callback, user_data, 40, 8) \
	ARGUMENT(hsa_amd_deregister_deallocation_callback, ptr, 24, 8) \
	ARGUMENT(hsa_amd_deregister_deallocation_callback, callback, 32, 8) \
	ARGUMENT(hsa_amd_signal_value_pointer, signal, 24, 8) \
	ARGUMENT(hsa_amd_signal_value_pointer, value_ptr, 32, 8) \
	ARGUMENT(hsa_amd_svm_attributes_set, ptr, 24, 8) \
	ARGUMENT(hsa_amd_svm_attributes_set, size, 32, 8) \
	ARGUMENT(hsa_amd_svm_attributes_set, attribute_list, 40, 8) \
	ARGUMENT(hsa_amd_svm_attributes_set, attribute_count, 48, 8) \
	ARGUMENT(hsa_amd_svm_attributes_get, ptr, 24, 8) \
	ARGUMENT(hsa_amd_svm_attributes_get, size, 32, 8) \
	ARGUMENT(hsa_amd_svm_attributes_get, attribute_list, 40, 8) \
	ARGUMENT(hsa_amd_svm_attributes_get, attribute_count, 48, 8) \
	ARGUMENT(hsa_amd_svm_prefetch_async, ptr, 24, 8) \
	ARGUMENT(hsa_amd_svm_prefetch_async, size, 32, 8) \
	ARGUMENT(hsa_amd_svm_prefetch_async, agent, 40, 8) \
	ARGUMENT(hsa_amd_svm_prefetch_async, num_dep_signals, 48, 4) \
	ARGUMENT(hsa_amd_svm_prefetch_async, dep_signals, 56, 8) \
	ARGUMENT(hsa_amd_svm_prefetch_async, completion_signal, 64, 8) \
	ARGUMENT(hsa_amd_queue_cu_get_mask, queue, 24, 8) \
	ARGUMENT(hsa_amd_queue_cu_get_mask, num_cu_mask_count, 32, 4) \
	ARGUMENT(hsa_amd_queue_cu_get_mask, cu_mask, 40, 8) \
	ARGUMENT(hsa_ext_image_get_capability, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_get_capability, geometry, 32, 4) \
	ARGUMENT(hsa_ext_image_get_capability, image_format, 40, 8) \
	ARGUMENT(hsa_ext_image_get_capability, capability_mask, 48, 8) \
	ARGUMENT(hsa_ext_image_data_get_info, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_data_get_info, image_descriptor, 32, 8) \
	ARGUMENT(hsa_ext_image_data_get_info, access_permission, 40, 4) \
	ARGUMENT(hsa_ext_image_data_get_info, image_data_info, 48, 8) \
	ARGUMENT(hsa_ext_image_create, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_create, image_descriptor, 32, 8) \
	ARGUMENT(hsa_ext_image_create, image_data, 40, 8) \
	ARGUMENT(hsa_ext_image_create, access_permission, 48, 4) \
	ARGUMENT(hsa_ext_image_create, image, 56, 8) \
	ARGUMENT(hsa_ext_image_import, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_import, src_memory, 32, 8) \
	ARGUMENT(hsa_ext_image_import, src_row_pitch, 40, 8) \
	ARGUMENT(hsa_ext_image_import, src_slice_pitch, 48, 8) \
	ARGUMENT(hsa_ext_image_import, dst_image, 56, 8) \
	ARGUMENT(hsa_ext_image_import, image_region, 64, 8) \
	ARGUMENT(hsa_ext_image_export, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_export, src_image, 32, 8) \
	ARGUMENT(hsa_ext_image_export, dst_memory, 40, 8) \
	ARGUMENT(hsa_ext_image_export, dst_row_pitch, 48, 8) \
	ARGUMENT(hsa_ext_image_export, dst_slice_pitch, 56, 8) \
	ARGUMENT(hsa_ext_image_export, image_region, 64, 8) \
	ARGUMENT(hsa_ext_image_copy, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_copy, src_image, 32, 8) \
	ARGUMENT(hsa_ext_image_copy, src_offset, 40, 8) \
	ARGUMENT(hsa_ext_image_copy, dst_image, 48, 8) \
	ARGUMENT(hsa_ext_image_copy, dst_offset, 56, 8) \
	ARGUMENT(hsa_ext_image_copy, range, 64, 8) \
	ARGUMENT(hsa_ext_image_clear, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_clear, image, 32, 8) \
	ARGUMENT(hsa_ext_image_clear, data, 40, 8) \
	ARGUMENT(hsa_ext_image_clear, image_region, 48, 8) \
	ARGUMENT(hsa_ext_image_destroy, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_destroy, image, 32, 8) \
	ARGUMENT(hsa_ext_sampler_create, agent, 24, 8) \
	ARGUMENT(hsa_ext_sampler_create, sampler_descriptor, 32, 8) \
	ARGUMENT(hsa_ext_sampler_create, sampler, 40, 8) \
	ARGUMENT(hsa_ext_sampler_destroy, agent, 24, 8) \
	ARGUMENT(hsa_ext_sampler_destroy, sampler, 32, 8) \
	ARGUMENT(hsa_ext_image_get_capability_with_layout, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_get_capability_with_layout, geometry, 32, 4) \
	ARGUMENT(hsa_ext_image_get_capability_with_layout, image_format, 40, 8) \
	ARGUMENT(hsa_ext_image_get_capability_with_layout, image_data_layout, 48, 4) \
	ARGUMENT(hsa_ext_image_get_capability_with_layout, capability_mask, 56, 8) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, image_descriptor, 32, 8) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, access_permission, 40, 4) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, image_data_layout, 44, 4) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, image_data_row_pitch, 48, 8) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, image_data_slice_pitch, 56, 8) \
	ARGUMENT(hsa_ext_image_data_get_info_with_layout, image_data_info, 64, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, agent, 24, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, image_descriptor, 32, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, image_data, 40, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, access_permission, 48, 4) \
	ARGUMENT(hsa_ext_image_create_with_layout, image_data_layout, 52, 4) \
	ARGUMENT(hsa_ext_image_create_with_layout, image_data_row_pitch, 56, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, image_data_slice_pitch, 64, 8) \
	ARGUMENT(hsa_ext_image_create_with_layout, image, 72, 8)
/* clang-format on */

#endif
