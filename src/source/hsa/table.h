/* SPDX-License-Identifier: MIT */
/* table.h - the runtime's API table: the real functions, and ours put in their place
 *
 * Threads: table_load() and table_unload() run inside of hsa_init() and hsa_shut_down(), under ROCr's
 *          own lock. `real` is constant between them.
 */
#ifndef RTL_SOURCE_HSA_TABLE_H
#define RTL_SOURCE_HSA_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa_table_gen.h"

/* Every function of the runtime that this source calls: X(function, table, its name in the
 * table's ids, is it essential). */
#define TABLE_REAL(X)                                                                              \
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
	X(hsa_queue_add_write_index_relaxed, CORE, queue_add_write_index_relaxed, 0)               \
	X(hsa_queue_add_write_index_scacquire, CORE, queue_add_write_index_scacquire, 0)           \
	X(hsa_queue_add_write_index_screlease, CORE, queue_add_write_index_screlease, 0)           \
	X(hsa_queue_add_write_index_scacq_screl, CORE, queue_add_write_index_scacq_screl, 0)       \
	X(hsa_queue_cas_write_index_relaxed, CORE, queue_cas_write_index_relaxed, 0)               \
	X(hsa_queue_cas_write_index_scacquire, CORE, queue_cas_write_index_scacquire, 0)           \
	X(hsa_queue_cas_write_index_screlease, CORE, queue_cas_write_index_screlease, 0)           \
	X(hsa_queue_cas_write_index_scacq_screl, CORE, queue_cas_write_index_scacq_screl, 0)       \
	X(hsa_queue_store_write_index_relaxed, CORE, queue_store_write_index_relaxed, 0)           \
	X(hsa_queue_store_write_index_screlease, CORE, queue_store_write_index_screlease, 0)       \
	X(hsa_queue_inactivate, CORE, queue_inactivate, 1)                                         \
	X(hsa_signal_destroy, CORE, signal_destroy, 1)                                             \
	X(hsa_memory_copy, CORE, memory_copy, 0)                                                   \
	X(hsa_executable_freeze, CORE, executable_freeze, 0)                                       \
	X(hsa_executable_destroy, CORE, executable_destroy, 0)                                     \
	X(hsa_executable_iterate_symbols, CORE, executable_iterate_symbols, 0)                     \
	X(hsa_executable_symbol_get_info, CORE, executable_symbol_get_info, 0)                     \
	X(hsa_amd_signal_create, AMD, signal_create, 1)                                            \
	X(hsa_amd_profiling_set_profiler_enabled, AMD, profiling_set_profiler_enabled, 1)          \
	X(hsa_amd_profiling_async_copy_enable, AMD, profiling_async_copy_enable, 0)                \
	X(hsa_amd_profiling_get_dispatch_time, AMD, profiling_get_dispatch_time, 0)                \
	X(hsa_amd_profiling_get_async_copy_time, AMD, profiling_get_async_copy_time, 0)            \
	X(hsa_amd_profiling_convert_tick_to_system_domain, AMD,                                    \
	  profiling_convert_tick_to_system_domain, 1)                                              \
	X(hsa_amd_memory_async_copy, AMD, memory_async_copy, 0)                                    \
	X(hsa_amd_memory_async_copy_rect, AMD, memory_async_copy_rect, 0)                          \
	X(hsa_amd_memory_async_copy_on_engine, AMD, memory_async_copy_on_engine, 0)                \
	X(hsa_amd_memory_fill, AMD, memory_fill, 0)                                                \
	X(hsa_amd_queue_intercept_create, AMD, queue_intercept_create, 1)                          \
	X(hsa_amd_queue_intercept_register, AMD, queue_intercept_register, 1)                      \
	X(hsa_amd_register_system_event_handler, AMD, register_system_event_handler, 0)            \
	X(hsa_amd_runtime_queue_create_register, AMD, runtime_queue_create_register, 0)

struct table_real {
#define X(fn, table, name, need) fn##_fn_t fn;
	TABLE_REAL(X)
#undef X
};
extern struct table_real real;

enum table_mode { TABLE_MODE_LITE, TABLE_MODE_STANDARD, TABLE_MODE_FULL };
extern enum table_mode table_mode; /* set in table_load(), constant after */

/* Queues of more packets are not intercepted: this runtime's build is known to do harm then (rocr.h). Set
 * in table_load(), constant after. */
extern uint32_t table_max_queue;

/* Takes the table over. `root` is what OnLoad() was given. false: this runtime can't be traced
 * (said why in the log); the table is untouched then. */
bool table_load(void *root);

/* Puts `fn` in the place of a core function that this runtime has. */
void table_replace_core(const struct hsa_mirror_root *root, enum hsa_core_id id, void *fn);

/* NULL, or called when the table has been taken over, to put more in front of what it holds now. Set
 * before threads. */
extern void (*table_taken)(const struct hsa_mirror_root *root);

/* The runtime is going away: finishes what is in flight, forgets every HSA object. */
void table_unload(void);

/* Whether `real` may be called and signals may be read. */
bool table_ready(void);

#endif
