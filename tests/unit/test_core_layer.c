/* SPDX-License-Identifier: MIT */
/* test_core_layer.c - librtl's functions are put into the right slots of every layout, and no
 * others */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "event/life.h"
#include "source/hsa/code/code_calls.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/real.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static void *core_before[HSA_CORE_NR], *amd_before[FAKE_MAX_AMD];

/* Index of each entry, from the headers of 5.2.3 and the two insertions of 5.5 and 5.6; written by
 * hand, independent of the mirror. */
static const struct {
	unsigned index;
	void *ours; /* NULL: a static function */
} amd_entries[] = {
	{ 2, (void *)queue_calls_set_profiler },
	{ 3, (void *)copy_profiling_enable },
	{ 4, (void *)harvest_dispatch_time },
	{ 5, (void *)copy_time },
	{ 7, NULL }, /* handlers of signals, and waits for any of several */
	{ 9, NULL },
	{ 15, (void *)copy_async },
	{ 22, (void *)copy_fill },
	{ 38, (void *)copy_rect },
};
/* Entries of later tables: the index of each from the first table that has it on. */
static const struct {
	unsigned index;
	void *ours; /* NULL: a static function */
} later_entries[] = {
	{ 16, (void *)copy_async_on_engine }, { 71, NULL }, /* waits for all of several signals */
	{ 76, (void *)queue_calls_acquire },  { 77, (void *)queue_calls_release },
	{ 78, (void *)copy_batch },	      { 86, (void *)queue_calls_create_described },
};
static const struct {
	unsigned index;
	void *ours; /* NULL: a static function */
} core_entries[] = {
	{ 0, NULL }, /* hsa_init() and hsa_shut_down() */
	{ 1, NULL },
	{ 7, (void *)queue_calls_create },
	{ 9, (void *)queue_calls_destroy },
	{ 10, (void *)queue_calls_inactivate },
	{ 13,
	  NULL }, /* loading a write index; from here to 24 storing, swapping and adding to it */
	{ 14, NULL },
	{ 15, NULL },
	{ 16, NULL },
	{ 17, NULL },
	{ 18, NULL },
	{ 19, NULL },
	{ 20, NULL },
	{ 21, NULL },
	{ 22, NULL },
	{ 23, NULL },
	{ 24, NULL },
	{ 35, (void *)copy_blocking },
	{ 38, NULL },
	{ 39, NULL }, /* loads of signals, stores, waits */
	{ 40, NULL },
	{ 41, NULL },
	{ 42, NULL },
	{ 43, NULL },
	{ 44, NULL },
	{ 57, NULL }, /* exchanges, to 60; compare-and-swaps, from 69 */
	{ 58, NULL },
	{ 59, NULL },
	{ 60, NULL },
	{ 69, NULL },
	{ 70, NULL },
	{ 71, NULL },
	{ 72, NULL },
	{ 84, (void *)code_calls_destroy },
	{ 86, (void *)code_calls_freeze },
	{ 102, NULL }, /* silent stores to signals */
	{ 103, NULL },
	{ 106, NULL }, /* waits for any of a group of signals */
	{ 107, NULL },
};
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void load(unsigned nr)
{
	fake_setup(NULL);
	fake_build_tables(nr);
	memcpy(core_before, fake.core.entry, sizeof(core_before));
	memcpy(amd_before, fake.amd.entry, sizeof(amd_before));
	CHECK(table_take(&fake.root));
}

static void check_core(void)
{
	unsigned changed = 0;

	for (unsigned i = 0; i < HSA_CORE_NR; i++)
		changed += fake.core.entry[i] != core_before[i];
	CHECK_EQ_UINT(changed, NR(core_entries));
	for (unsigned i = 0; i < NR(core_entries); i++) {
		CHECK(fake.core.entry[core_entries[i].index] != core_before[core_entries[i].index]);
		if (core_entries[i].ours)
			CHECK_EQ_PTR(fake.core.entry[core_entries[i].index], core_entries[i].ours);
	}
}

/* Whether a table of `nr` entries has the function at `index` of later tables. */
static bool has_later(unsigned index, unsigned nr)
{
	if (index == 16)
		return nr >= 55;
	return index < nr && !(index == 86 && nr == 88);
}

static void check_entry(void *const *entry, unsigned at, const void *ours)
{
	CHECK(entry[at] != amd_before[at]);
	if (ours)
		CHECK_EQ_PTR(entry[at], ours);
}

/* Checks that a table of `nr` entries has librtl's functions in the expected entries, and no
 * others. */
static void check_amd(void *const *entry, unsigned nr)
{
	unsigned changed = 0, expected = NR(amd_entries);

	for (unsigned i = 0; i < FAKE_MAX_AMD; i++)
		changed += entry[i] != amd_before[i];
	for (unsigned i = 0; i < NR(amd_entries); i++) {
		unsigned at = amd_entries[i].index;

		at += at >= 16 && nr >= 55 ? 2 : 0;
		check_entry(entry, at, amd_entries[i].ours);
	}
	for (unsigned i = 0; i < NR(later_entries); i++) {
		if (!has_later(later_entries[i].index, nr))
			continue;
		expected++;
		check_entry(entry, later_entries[i].index, later_entries[i].ours);
	}
	CHECK_EQ_UINT(changed, expected);
}

static void check_works(void)
{
	struct fake_queue *q = fake_queue_create(64);

	fake_submit_dispatch(q, 1);
	fake_run_all(q);
	fake_check_dispatches(1, 1, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static void check_layout(unsigned nr)
{
	load(nr);
	check_core();
	check_amd(fake.amd.entry, nr);
	CHECK_EQ_UINT(fake.amd.version.minor_id, 16 + 8 * nr);
	check_works();
}

TEST(wrappers_land_in_the_48_entries_of_5_2)
{
	check_layout(48);
}

TEST(wrappers_land_in_the_51_entries_of_5_5)
{
	check_layout(51);
}

TEST(wrappers_land_in_the_55_entries_of_5_6)
{
	check_layout(55);
}

TEST(wrappers_land_in_the_67_entries_of_6_0)
{
	check_layout(67);
}

TEST(wrappers_land_in_the_68_entries_of_6_1)
{
	check_layout(68);
}

TEST(wrappers_land_in_the_70_entries_of_6_2)
{
	check_layout(70);
}

TEST(wrappers_land_in_the_71_entries_of_6_3)
{
	check_layout(71);
}

TEST(wrappers_land_in_the_74_entries_of_7_0)
{
	check_layout(74);
}

TEST(wrappers_land_in_the_78_entries_with_counted_queues)
{
	check_layout(78);
}

TEST(wrappers_land_in_the_79_entries_with_batch_copies)
{
	check_layout(79);
}

TEST(wrappers_land_in_the_87_entries_with_described_queues)
{
	check_layout(87);
}

TEST(wrappers_land_in_the_88_entries_of_development_builds)
{
	check_layout(88);
}

TEST(wrappers_land_in_the_91_entries_of_10_0)
{
	check_layout(91);
}

/* Larger than any known table: entries behind the known functions stay unchanged. */
TEST(known_head_of_unknown_larger_layout_is_used)
{
	load(FAKE_MAX_AMD);
	check_core();
	check_amd(fake.amd.entry, FAKE_MAX_AMD);
	check_works();
}

TEST(known_head_of_unknown_much_larger_layout_is_used)
{
	static struct {
		struct hsa_mirror_version version;
		void *entry[4000];
	} large;

	fake_setup(NULL);
	fake_build_tables(FAKE_MAX_AMD);
	large.version = fake.amd.version;
	large.version.major_id = 9;
	large.version.minor_id = sizeof(large);
	memcpy(large.entry, fake.amd.entry, sizeof(fake.amd.entry));
	fake.root.version.major_id = 9;
	fake.root.amd_ext = &large;
	memcpy(core_before, fake.core.entry, sizeof(core_before));
	memcpy(amd_before, fake.amd.entry, sizeof(amd_before));
	CHECK(table_take(&fake.root));
	check_core();
	check_amd(large.entry, FAKE_MAX_AMD);
	CHECK_EQ_UINT(large.version.minor_id, sizeof(large));
	check_works();
}

TEST(table_without_extensions_is_unchanged)
{
	fake_setup(NULL);
	fake_build_tables(48);
	memcpy(core_before, fake.core.entry, sizeof(core_before));
	fake.root.amd_ext = NULL;
	CHECK(!table_take(&fake.root));
	fake.root.amd_ext = &fake.amd;
	fake.root.version.minor_id = 24; /* the size ends before amd_ext */
	CHECK(!table_take(&fake.root));
	CHECK(!real_ready());
	CHECK_MEM_EQ(core_before, fake.core.entry, sizeof(core_before));
}

TEST(table_without_essential_function_is_unchanged)
{
	fake_setup(NULL);
	fake_build_tables(48);
	fake.amd.entry[31] = NULL; /* hsa_amd_signal_create */
	memcpy(amd_before, fake.amd.entry, sizeof(amd_before));
	CHECK(!table_take(&fake.root));
	CHECK_MEM_EQ(amd_before, fake.amd.entry, sizeof(amd_before));
	fake_build_tables(30); /* too short for it */
	memcpy(amd_before, fake.amd.entry, sizeof(amd_before));
	CHECK(!table_take(&fake.root));
	CHECK_MEM_EQ(amd_before, fake.amd.entry, sizeof(amd_before));
}

TEST(missing_optional_functions_stay_missing)
{
	static const unsigned optional[] = { 3, 4, 5, 15, 22, 26, 34, 35, 36, 38, 39 };
	struct fake_queue *q;

	fake_setup(NULL);
	fake_build_tables(48);
	for (unsigned i = 0; i < NR(optional); i++)
		fake.amd.entry[optional[i]] = NULL;
	fake.core.entry[35] = fake.core.entry[84] = fake.core.entry[98] = NULL;
	fake.core.entry[102] = fake.core.entry[103] = NULL;
	CHECK(table_take(&fake.root));
	for (unsigned i = 0; i < NR(optional); i++)
		CHECK_NULL(fake.amd.entry[optional[i]]);
	CHECK_NULL(fake.core.entry[35]);
	CHECK_NULL(fake.core.entry[84]);
	CHECK_NULL(fake.core.entry[102]);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	fake_gpu_run(q, 1);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
}

TEST(tables_loaded_twice_are_wrapped_once)
{
	void *after[HSA_CORE_NR];

	load(48);
	memcpy(after, fake.core.entry, sizeof(after));
	CHECK(table_take(&fake.root));
	CHECK_MEM_EQ(after, fake.core.entry, sizeof(after));
	CHECK(real.hsa_queue_create != queue_calls_create);
	fake_submit_dispatch(fake_queue_create(64), 1);
}

static void use(uint32_t id)
{
	struct fake_queue *q = fake_queue_create(64);

	fake_submit_dispatch(q, id);
	fake_gpu_run(q, 1);
	fake_submit_dispatch(q, id + 1);
	fake_internal_queue(64);
}

TEST(runtime_restarted_many_times_is_traced)
{
	setenv("RTL_DRAIN_MS", "1", 1);
	fake_open(NULL, 48);
	for (uint32_t i = 0; i < 600; i++) { /* more than there are slots for internal queues */
		use(2 * i);
		table_drop();
		CHECK(!real_ready());
		CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed) + i + 1,
			      atomic_load(&fake.nr_signals_made)); /* the one that still runs */
		fake_build_tables(i % 2 ? 48 : 71);
		CHECK(table_take(&fake.root));
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1200);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1200);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 600);
	CHECK_EQ_UINT(sink_record_losses(), 600);
	CHECK_LE_UINT(queue_count(), 2);
}

TEST(dropped_tables_are_restored_and_taken_again)
{
	hsa_queue_create_fn_t before;

	setenv("RTL_DRAIN_MS", "1", 1);
	load(91);
	before = real.hsa_queue_create;
	use(1);
	table_drop();
	CHECK_MEM_EQ(fake.core.entry, core_before, sizeof(core_before));
	CHECK_MEM_EQ(fake.amd.entry, amd_before, sizeof(amd_before));
	CHECK(table_take(&fake.root)); /* a runtime that restarts without having reset its tables */
	CHECK_EQ_PTR((void *)real.hsa_queue_create, (void *)before);
	check_core();
	use(3);
	fake_harvest();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 3);
}

TEST(unload_finishes_copies)
{
	hsa_signal_t s;

	setenv("RTL_DRAIN_MS", "1", 1);
	fake_open(NULL, 48);
	s = fake_signal(1);
	CHECK_EQ_INT(fake_copy(64, s), HSA_STATUS_SUCCESS);
	table_drop();
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
	fake_build_tables(48);
	CHECK(table_take(&fake.root));
	fake_harvest(); /* does not read the old signal, which may be freed */
	CHECK_EQ_UINT(sink_record_count(EVENT_COPY), 1);
}

TEST(unload_without_load_does_nothing)
{
	fake_setup(NULL);
	table_drop();
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(gpu_fault_ends_pending_dispatches_and_is_passed_on)
{
	hsa_amd_event_t event = { .event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT };
	struct fake_queue *q;

	load(48);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	fake_submit_dispatch(q, 2);
	fake_gpu_run(q, 1);
	CHECK_EQ_UINT(fake.fault_handler(&event, NULL), HSA_STATUS_ERROR);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
}
