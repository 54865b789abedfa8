/* SPDX-License-Identifier: MIT */
/* table.c - the runtime's API table: the real functions, and ours put in their place
 *
 * One librtl.so serves every layout of the tables: slots are looked up through the generated index
 * maps, each guarded by the table's own size (codegen/README.md).
 *
 * Threads: table_load() and table_unload() under ROCr's init lock.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/table.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/rocr.h"
#include "event/join.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/author.h"
#include "source/hsa/codeobj.h"
#include "source/hsa/copy.h"
#include "source/hsa/harvest.h"
#include "source/hsa/queue.h"
#include "source/hsa/rtqueue.h"
#include "source/hsa/watch.h"

struct table_real real;
enum table_mode table_mode = TABLE_MODE_STANDARD;
void (*table_taken)(const struct hsa_mirror_root *root);

uint32_t table_max_queue = UINT32_MAX;

static _Atomic bool ready;
/* What stood in place of queue_create() when the table had been taken over. */
static void *first_seen;

/* A batch crosses the 256 entries of a staging buffer in some builds of ROCm 7.2, which carry the
 * same table ids as their neighbours (facts: ROCr PR 2185 to 4066). Tables of up to this many entries
 * belong to runtimes that hand over packets one by one (run: 5.2.3, 6.1.2, 6.3). */
#define LAST_SAFE_AMD_ENTRIES 71u

bool table_ready(void)
{
	return atomic_load(&ready); /* seq_cst: see harvest.c's tick() */
}

static void *get_core(const struct hsa_mirror_root *root, enum hsa_core_id id)
{
	void **slot = hsa_table_core_slot(root->core, id);

	return slot ? *slot : NULL;
}

static void *get_amd(const struct hsa_mirror_root *root, enum hsa_amd_id id)
{
	void **slot = hsa_table_amd_slot(root->amd_ext, id);

	return slot ? *slot : NULL;
}

static bool read_real(const struct hsa_mirror_root *root, const char **missing)
{
	*missing = NULL;
#define CORE(name) get_core(root, HSA_CORE_##name)
#define AMD(name) get_amd(root, HSA_AMD_##name)
#define X(fn, table, name, need)                                                                   \
	real.fn = (fn##_fn_t)table(name);                                                          \
	if ((need) && !real.fn)                                                                    \
		*missing = #fn;
	TABLE_REAL(X)
#undef X
#undef CORE
#undef AMD
	return *missing == NULL;
}

/* The child of a fork has nobody who would finish what the fork interrupted. */
static bool forked(void)
{
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

static hsa_status_t on_signal_destroy(hsa_signal_t signal)
{
	if (signal.handle && !forked()) {
		watch_destroy(signal_of(signal));
		harvest_forget(signal_of(signal));
		if (join_is_on())
			join_forget(signal.handle);
	}
	return real.hsa_signal_destroy(signal);
}

/* A runtime that came back without having reset its table: `real` is still right. */
static bool is_ours(const struct hsa_mirror_root *root)
{
	void *its = get_core(root, HSA_CORE_queue_create);

	return its == (void *)queue_create || (its && its == first_seen);
}

void table_replace_core(const struct hsa_mirror_root *root, enum hsa_core_id id, void *fn)
{
	void **slot = hsa_table_core_slot(root->core, id);

	if (slot && *slot)
		*slot = fn;
}

static void replace_amd(const struct hsa_mirror_root *root, enum hsa_amd_id id, void *fn)
{
	void **slot = hsa_table_amd_slot(root->amd_ext, id);

	if (slot && *slot)
		*slot = fn;
}

static void replace(const struct hsa_mirror_root *root)
{
	table_replace_core(root, HSA_CORE_queue_create, (void *)queue_create);
	table_replace_core(root, HSA_CORE_queue_destroy, (void *)queue_destroy);
	table_replace_core(root, HSA_CORE_queue_inactivate, (void *)queue_inactivate);
	table_replace_core(root, HSA_CORE_signal_destroy, (void *)on_signal_destroy);
	table_replace_core(root, HSA_CORE_memory_copy, (void *)copy_blocking);
	if (real.hsa_executable_destroy)
		table_replace_core(root, HSA_CORE_executable_freeze, (void *)codeobj_freeze);
	table_replace_core(root, HSA_CORE_executable_destroy, (void *)codeobj_destroy);
	replace_amd(root, HSA_AMD_profiling_set_profiler_enabled, (void *)queue_set_profiler);
	replace_amd(root, HSA_AMD_profiling_async_copy_enable, (void *)copy_profiling_enable);
	replace_amd(root, HSA_AMD_profiling_get_dispatch_time, (void *)harvest_dispatch_time);
	replace_amd(root, HSA_AMD_profiling_get_async_copy_time, (void *)copy_time);
	replace_amd(root, HSA_AMD_memory_async_copy, (void *)copy_async);
	replace_amd(root, HSA_AMD_memory_async_copy_rect, (void *)copy_rect);
	replace_amd(root, HSA_AMD_memory_async_copy_on_engine, (void *)copy_async_on_engine);
	replace_amd(root, HSA_AMD_memory_fill, (void *)copy_fill);
	author_install(root);
}

static bool is_runtimes_clock(clockid_t id)
{
	uint64_t ts = 0, now;

	if (real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ts) != HSA_STATUS_SUCCESS)
		return false;
	now = clock_read_ns(id);
	return now >= ts && now - ts < 1000000;
}

/* Which clock of the host the runtime calls system time. */
static void find_clock(void)
{
	static const clockid_t candidates[] = { CLOCK_BOOTTIME, CLOCK_MONOTONIC,
						CLOCK_MONOTONIC_RAW, CLOCK_REALTIME };
	const unsigned nr = sizeof(candidates) / sizeof(candidates[0]);
	uint64_t hz = 0;

	real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
	/* again, for this thread may be preempted between two readings */
	for (unsigned i = 0; hz == 1000000000 && i < 4 * nr; i++) {
		if (is_runtimes_clock(candidates[i % nr])) {
			clock_select(candidates[i % nr]);
			return;
		}
	}
	log_warn(
		"system clock: the runtime's is none of the host's; markers and kernels may be off");
}

static void choose_mode(const struct hsa_mirror_root *root)
{
	const char *mode = env_str(ENV_MODE);
	uint32_t size = ((const struct hsa_mirror_version *)root->amd_ext)->minor_id;

	table_mode = TABLE_MODE_STANDARD;
	if (strcmp(mode, "lite") == 0)
		table_mode = TABLE_MODE_LITE;
	if (strcmp(mode, "full") != 0)
		return;
	if (size <= HSA_TABLE_BYTES(LAST_SAFE_AMD_ENTRIES))
		table_mode = TABLE_MODE_FULL;
	else
		log_warn(
			"mode full: this runtime may overflow its staging buffer on graph batches; "
			"using mode standard");
}

/* By the file that the runtime's functions are in. */
static void look_for_faults(void)
{
	const struct rocr_fault *fault;
	char path[PATH_MAX];
	struct rocr rocr;
	Dl_info info;

	table_max_queue = UINT32_MAX;
	if (!dladdr((void *)real.hsa_system_get_info, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, path))
		return;
	rocr_version(&rocr, path);
	fault = rocr_fault(&rocr);
	if (!fault)
		return;
	table_max_queue = fault->max_queue;
	log_warn("runtime: %s: %s; queues of more than %u packets are not traced", path,
		 fault->what, fault->max_queue);
}

bool table_load(void *root_table)
{
	const struct hsa_mirror_root *root = root_table;
	const char *missing;

	if (table_ready()) /* named in HSA_TOOLS_LIB and found by its symbol */
		return true;
	if (!life_start())
		return false;
	if (!HSA_ROOT_HAS(root, amd_ext) || !root->core || !root->amd_ext) {
		log_warn("runtime: its API table has no AMD extensions; nothing is traced");
		return false;
	}
	if (!is_ours(root) && !read_real(root, &missing)) {
		log_warn("runtime: its API table lacks %s; nothing is traced", missing);
		return false;
	}
	choose_mode(root);
	look_for_faults();
	find_clock();
	agent_scan();
	codeobj_init();
	atomic_store_explicit(&ready, true, memory_order_release);
	if (real.hsa_amd_profiling_async_copy_enable)
		real.hsa_amd_profiling_async_copy_enable(true);
	if (real.hsa_amd_register_system_event_handler)
		real.hsa_amd_register_system_event_handler(harvest_on_fault, NULL);
	if (real.hsa_amd_runtime_queue_create_register)
		real.hsa_amd_runtime_queue_create_register(rtqueue_on_create, NULL);
	replace(root);
	if (table_taken)
		table_taken(root);
	first_seen = get_core(root, HSA_CORE_queue_create);
	return true;
}

void table_unload(void)
{
	if (!table_ready() || forked())
		return;
	harvest_stop(clock_now_ns() + env_uint(ENV_DRAIN_MS) * UINT64_C(1000000));
	/* From here on the life thread leaves HSA objects alone. */
	atomic_store(&ready, false);
	harvest_wait_tick();
	queue_reset();
	rtqueue_reset();
	watch_reset();
	codeobj_reset();
}
