/* SPDX-License-Identifier: MIT */
/* real.h - the runtime's functions, as the core layer found them in the tables
 *
 * Threads: real_read() and real_set_ready() within hsa_init() and hsa_shut_down(), under ROCr's own
 *          lock. `real` is constant between them.
 */
#ifndef RTL_SOURCE_HSA_REAL_H
#define RTL_SOURCE_HSA_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "hsa_table_gen.h"

/* Every runtime function that the HSA source calls: X(function, table, its name in the table's ids,
 * whether it is essential). */
#define REAL_FUNCTIONS(X)                                                                          \
	X(hsa_init, CORE, init, 1)                                                                 \
	X(hsa_shut_down, CORE, shut_down, 1)                                                       \
	X(hsa_system_get_info, CORE, system_get_info, 1)                                           \
	X(hsa_status_string, CORE, status_string, 0)                                               \
	X(hsa_system_get_major_extension_table, CORE, system_get_major_extension_table, 0)         \
	X(hsa_iterate_agents, CORE, iterate_agents, 1)                                             \
	X(hsa_agent_get_info, CORE, agent_get_info, 1)                                             \
	X(hsa_queue_create, CORE, queue_create, 1)                                                 \
	X(hsa_queue_destroy, CORE, queue_destroy, 1)                                               \
	X(hsa_queue_load_read_index_scacquire, CORE, queue_load_read_index_scacquire, 1)           \
	X(hsa_queue_load_write_index_relaxed, CORE, queue_load_write_index_relaxed, 1)             \
	X(hsa_queue_load_write_index_scacquire, CORE, queue_load_write_index_scacquire, 1)         \
	X(hsa_queue_add_write_index_relaxed, CORE, queue_add_write_index_relaxed, 1)               \
	X(hsa_queue_add_write_index_scacquire, CORE, queue_add_write_index_scacquire, 1)           \
	X(hsa_queue_add_write_index_screlease, CORE, queue_add_write_index_screlease, 1)           \
	X(hsa_queue_add_write_index_scacq_screl, CORE, queue_add_write_index_scacq_screl, 1)       \
	X(hsa_queue_cas_write_index_relaxed, CORE, queue_cas_write_index_relaxed, 1)               \
	X(hsa_queue_cas_write_index_scacquire, CORE, queue_cas_write_index_scacquire, 1)           \
	X(hsa_queue_cas_write_index_screlease, CORE, queue_cas_write_index_screlease, 1)           \
	X(hsa_queue_cas_write_index_scacq_screl, CORE, queue_cas_write_index_scacq_screl, 1)       \
	X(hsa_queue_store_write_index_relaxed, CORE, queue_store_write_index_relaxed, 1)           \
	X(hsa_queue_store_write_index_screlease, CORE, queue_store_write_index_screlease, 1)       \
	X(hsa_queue_inactivate, CORE, queue_inactivate, 1)                                         \
	X(hsa_signal_destroy, CORE, signal_destroy, 1)                                             \
	X(hsa_signal_store_relaxed, CORE, signal_store_relaxed, 1)                                 \
	X(hsa_signal_store_screlease, CORE, signal_store_screlease, 1)                             \
	X(hsa_signal_silent_store_relaxed, CORE, signal_silent_store_relaxed, 0)                   \
	X(hsa_signal_silent_store_screlease, CORE, signal_silent_store_screlease, 0)               \
	X(hsa_signal_load_relaxed, CORE, signal_load_relaxed, 0)                                   \
	X(hsa_signal_load_scacquire, CORE, signal_load_scacquire, 0)                               \
	X(hsa_signal_wait_relaxed, CORE, signal_wait_relaxed, 0)                                   \
	X(hsa_signal_wait_scacquire, CORE, signal_wait_scacquire, 0)                               \
	X(hsa_signal_exchange_relaxed, CORE, signal_exchange_relaxed, 0)                           \
	X(hsa_signal_exchange_scacquire, CORE, signal_exchange_scacquire, 0)                       \
	X(hsa_signal_exchange_screlease, CORE, signal_exchange_screlease, 0)                       \
	X(hsa_signal_exchange_scacq_screl, CORE, signal_exchange_scacq_screl, 0)                   \
	X(hsa_signal_cas_relaxed, CORE, signal_cas_relaxed, 0)                                     \
	X(hsa_signal_cas_scacquire, CORE, signal_cas_scacquire, 0)                                 \
	X(hsa_signal_cas_screlease, CORE, signal_cas_screlease, 0)                                 \
	X(hsa_signal_cas_scacq_screl, CORE, signal_cas_scacq_screl, 0)                             \
	X(hsa_signal_group_wait_any_relaxed, CORE, signal_group_wait_any_relaxed, 0)               \
	X(hsa_signal_group_wait_any_scacquire, CORE, signal_group_wait_any_scacquire, 0)           \
	X(hsa_memory_copy, CORE, memory_copy, 0)                                                   \
	X(hsa_memory_allocate, CORE, memory_allocate, 0)                                           \
	X(hsa_memory_free, CORE, memory_free, 0)                                                   \
	X(hsa_executable_freeze, CORE, executable_freeze, 0)                                       \
	X(hsa_executable_destroy, CORE, executable_destroy, 0)                                     \
	X(hsa_executable_iterate_symbols, CORE, executable_iterate_symbols, 0)                     \
	X(hsa_executable_symbol_get_info, CORE, executable_symbol_get_info, 0)                     \
	X(hsa_amd_signal_create, AMD, signal_create, 1)                                            \
	X(hsa_amd_signal_wait_any, AMD, signal_wait_any, 0)                                        \
	X(hsa_amd_signal_wait_all, AMD, signal_wait_all, 0)                                        \
	X(hsa_amd_signal_async_handler, AMD, signal_async_handler, 0)                              \
	X(hsa_amd_profiling_set_profiler_enabled, AMD, profiling_set_profiler_enabled, 1)          \
	X(hsa_amd_profiling_async_copy_enable, AMD, profiling_async_copy_enable, 0)                \
	X(hsa_amd_profiling_get_dispatch_time, AMD, profiling_get_dispatch_time, 0)                \
	X(hsa_amd_profiling_get_async_copy_time, AMD, profiling_get_async_copy_time, 0)            \
	X(hsa_amd_profiling_convert_tick_to_system_domain, AMD,                                    \
	  profiling_convert_tick_to_system_domain, 1)                                              \
	X(hsa_amd_memory_async_copy, AMD, memory_async_copy, 0)                                    \
	X(hsa_amd_memory_async_copy_rect, AMD, memory_async_copy_rect, 0)                          \
	X(hsa_amd_memory_async_copy_on_engine, AMD, memory_async_copy_on_engine, 0)                \
	X(hsa_amd_memory_async_batch_copy, AMD, memory_async_batch_copy, 0)                        \
	X(hsa_amd_memory_fill, AMD, memory_fill, 0)                                                \
	X(hsa_amd_queue_create, AMD, queue_create, 0)                                              \
	X(hsa_amd_counted_queue_acquire, AMD, counted_queue_acquire, 0)                            \
	X(hsa_amd_counted_queue_release, AMD, counted_queue_release, 0)                            \
	X(hsa_amd_queue_intercept_create, AMD, queue_intercept_create, 0)                          \
	X(hsa_amd_queue_intercept_register, AMD, queue_intercept_register, 0)                      \
	X(hsa_amd_agent_iterate_memory_pools, AMD, agent_iterate_memory_pools, 0)                  \
	X(hsa_amd_memory_pool_get_info, AMD, memory_pool_get_info, 0)                              \
	X(hsa_amd_agent_memory_pool_get_info, AMD, agent_memory_pool_get_info, 0)                  \
	X(hsa_amd_memory_pool_allocate, AMD, memory_pool_allocate, 0)                              \
	X(hsa_amd_memory_pool_free, AMD, memory_pool_free, 0)                                      \
	X(hsa_amd_agents_allow_access, AMD, agents_allow_access, 0)                                \
	X(hsa_amd_pointer_info, AMD, pointer_info, 0)                                              \
	X(hsa_amd_memory_lock, AMD, memory_lock, 0)                                                \
	X(hsa_amd_memory_lock_to_pool, AMD, memory_lock_to_pool, 0)                                \
	X(hsa_amd_memory_unlock, AMD, memory_unlock, 0)                                            \
	X(hsa_amd_ipc_memory_create, AMD, ipc_memory_create, 0)                                    \
	X(hsa_amd_ipc_memory_attach, AMD, ipc_memory_attach, 0)                                    \
	X(hsa_amd_ipc_memory_detach, AMD, ipc_memory_detach, 0)                                    \
	X(hsa_amd_interop_map_buffer, AMD, interop_map_buffer, 0)                                  \
	X(hsa_amd_interop_unmap_buffer, AMD, interop_unmap_buffer, 0)                              \
	X(hsa_amd_portable_export_dmabuf, AMD, portable_export_dmabuf, 0)                          \
	X(hsa_amd_svm_attributes_set, AMD, svm_attributes_set, 0)                                  \
	X(hsa_amd_vmem_handle_create, AMD, vmem_handle_create, 0)                                  \
	X(hsa_amd_vmem_handle_release, AMD, vmem_handle_release, 0)                                \
	X(hsa_amd_vmem_map, AMD, vmem_map, 0)                                                      \
	X(hsa_amd_vmem_unmap, AMD, vmem_unmap, 0)                                                  \
	X(hsa_amd_vmem_set_access, AMD, vmem_set_access, 0)                                        \
	X(hsa_amd_vmem_export_shareable_handle, AMD, vmem_export_shareable_handle, 0)              \
	X(hsa_amd_queue_cu_get_mask, AMD, queue_cu_get_mask, 0)                                    \
	X(hsa_amd_queue_cu_set_mask, AMD, queue_cu_set_mask, 0)                                    \
	X(hsa_amd_register_system_event_handler, AMD, register_system_event_handler, 0)            \
	X(hsa_amd_runtime_queue_create_register, AMD, runtime_queue_create_register, 0)

struct real_functions {
#define X(fn, table, name, need) fn##_fn_t fn;
	REAL_FUNCTIONS(X)
#undef X
};
extern RTL_HIDDEN struct real_functions real;

/* Fills `real`. false: an essential function is missing; *missing is its name. */
bool real_read(const struct hsa_mirror_root *root, const char **missing);

/* Where the runtime gave no tables: fills `real` with the functions that it exports. Nothing is
 * traced then; faces may use the runtime. Any thread, one at a time. */
bool real_find(void);

/* Whether `real` may be called and signals may be read. Any thread. */
bool real_ready(void);
void real_set_ready(bool ready);

#endif
