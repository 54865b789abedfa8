/* SPDX-License-Identifier: MIT */
/* test_hsa_table.c - the generated table mirror against the known layout of each ROCm release
 *
 * Sizes and indices are written here by hand, independently of codegen/models/layouts.json.
 */
#include "support/test.h"

#include <stdlib.h>

#include "hsa_table_gen.h"

#define MAX_SLOTS 128

/* A table as a runtime lays it out: each entry holds its own index, offset by one. */
struct fake_table {
	struct hsa_mirror_version version;
	void *entry[MAX_SLOTS];
};

static void fill(struct fake_table *table, uint32_t minor_id)
{
	memset(table, 0, sizeof(*table));
	table->version.major_id = 2;
	table->version.minor_id = minor_id;
	for (uintptr_t i = 0; i < MAX_SLOTS; i++)
		table->entry[i] = (void *)(i + 1);
}

/* Index of a function in an amd_ext table of that size, -1 if the table lacks it. */
static int amd_index(uint32_t minor_id, enum hsa_amd_id id)
{
	static struct fake_table table;
	void **slot;

	fill(&table, minor_id);
	slot = hsa_table_amd_slot(&table, id);
	return slot ? (int)(uintptr_t)*slot - 1 : -1;
}

/* One row per release; entries = (minor - 16) / 8. */
static const struct release {
	const char *rocm;
	uint32_t root;
	uint32_t amd_ext;
	int entries;
	const char *layout;
	enum hsa_amd_id last;
} releases[] = {
	{ "5.2.3", 48, 400, 48, "5.2", HSA_AMD_queue_cu_get_mask },
	{ "5.5", 48, 424, 51, "5.5", HSA_AMD_queue_cu_get_mask },
	{ "5.6", 48, 456, 55, "5.6", HSA_AMD_portable_close_dmabuf },
	{ "5.7", 48, 456, 55, "5.6", HSA_AMD_portable_close_dmabuf },
	{ "6.0", 48, 552, 67, "5.6", HSA_AMD_vmem_get_alloc_properties_from_handle },
	{ "6.1", 56, 560, 68, "5.6", HSA_AMD_agent_set_async_scratch_limit },
	{ "6.2", 64, 576, 70, "5.6", HSA_AMD_vmem_address_reserve_align },
	{ "6.3", 64, 584, 71, "5.6", HSA_AMD_enable_logging },
	{ "7.0", 64, 608, 74, "5.6", HSA_AMD_portable_export_dmabuf_v2 },
};

#define NR_RELEASES (sizeof(releases) / sizeof(releases[0]))

TEST(layout_of_each_release_has_its_size)
{
	CHECK_EQ_INT(HSA_CORE_NR, 125);
	CHECK_EQ_UINT(HSA_TABLE_BYTES(HSA_CORE_NR), 1016);
	CHECK_EQ_INT(HSA_IMAGE_NR, 13);
	CHECK_EQ_INT(HSA_FINALIZER_NR, 6);
	CHECK_EQ_INT(HSA_TOOLS_NR, 6);
	for (size_t i = 0; i < NR_RELEASES; i++)
		CHECK_EQ_UINT(HSA_TABLE_BYTES(releases[i].entries), releases[i].amd_ext);
}

TEST(table_of_each_release_has_no_hole)
{
	for (size_t i = 0; i < NR_RELEASES; i++) {
		const struct release *r = &releases[i];
		bool seen[MAX_SLOTS] = { false };
		int nr = 0;

		CHECK_STR_EQ(hsa_table_layout(r->amd_ext)->name, r->layout);
		for (int id = 0; id < HSA_AMD_NR; id++) {
			int at = amd_index(r->amd_ext, (enum hsa_amd_id)id);

			if (at < 0)
				continue;
			CHECK_LT_INT(at, r->entries);
			CHECK_MSG(!seen[at], "%s: two functions at index %d", r->rocm, at);
			seen[at] = true;
			nr++;
		}
		CHECK_MSG(nr == r->entries, "%s: %d functions placed, not %d", r->rocm, nr,
			  r->entries);
		CHECK_EQ_INT(amd_index(r->amd_ext, r->last), r->entries - 1);
	}
}

TEST(root_pointers_within_root_size_exist)
{
	struct hsa_mirror_root root = { 0 };

	for (size_t i = 0; i < NR_RELEASES; i++) {
		root.version.minor_id = releases[i].root;
		CHECK(HSA_ROOT_HAS(&root, core));
		CHECK(HSA_ROOT_HAS(&root, amd_ext));
		CHECK(HSA_ROOT_HAS(&root, finalizer_ext));
		CHECK(HSA_ROOT_HAS(&root, image_ext));
		CHECK_EQ_INT(HSA_ROOT_HAS(&root, tools), releases[i].root >= 56);
		CHECK_EQ_INT(HSA_ROOT_HAS(&root, pc_sampling), releases[i].root >= 64);
	}
	root.version.minor_id = 0;
	CHECK(!HSA_ROOT_HAS(&root, core));
}

TEST(rocm_5_5_moves_entry_47_by_three)
{
	CHECK_EQ_INT(amd_index(400, HSA_AMD_queue_cu_get_mask), 47);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_spm_acquire), 47);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_spm_release), 48);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_spm_set_dest_buffer), 49);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_queue_cu_get_mask), 50);
	CHECK_EQ_INT(amd_index(400, HSA_AMD_spm_acquire), -1);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_svm_prefetch_async), 46);
}

TEST(rocm_5_6_moves_entries_from_16_on_by_two)
{
	CHECK_EQ_INT(amd_index(456, HSA_AMD_memory_async_copy_on_engine), 16);
	CHECK_EQ_INT(amd_index(456, HSA_AMD_memory_copy_engine_status), 17);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_memory_async_copy_on_engine), -1);
	for (int id = 0; id < HSA_AMD_NR; id++) {
		int old = amd_index(424, (enum hsa_amd_id)id);

		if (old < 0)
			continue;
		for (size_t i = 2; i < NR_RELEASES; i++)
			CHECK_EQ_INT(amd_index(releases[i].amd_ext, (enum hsa_amd_id)id),
				     old < 16 ? old : old + 2);
	}
}

TEST(intercept_functions_have_index_of_each_release)
{
	CHECK_EQ_INT(amd_index(400, HSA_AMD_queue_intercept_create), 35);
	CHECK_EQ_INT(amd_index(400, HSA_AMD_queue_intercept_register), 36);
	CHECK_EQ_INT(amd_index(400, HSA_AMD_runtime_queue_create_register), 39);
	CHECK_EQ_INT(amd_index(424, HSA_AMD_queue_intercept_create), 35);
	for (size_t i = 2; i < NR_RELEASES; i++) {
		CHECK_EQ_INT(amd_index(releases[i].amd_ext, HSA_AMD_queue_intercept_create), 37);
		CHECK_EQ_INT(amd_index(releases[i].amd_ext, HSA_AMD_queue_intercept_register), 38);
		CHECK_EQ_INT(amd_index(releases[i].amd_ext, HSA_AMD_runtime_queue_create_register),
			     41);
	}
}

TEST(functions_appended_later_have_their_indices)
{
	CHECK_EQ_INT(amd_index(608, HSA_AMD_vmem_address_reserve), 55);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_vmem_get_alloc_properties_from_handle), 66);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_agent_set_async_scratch_limit), 67);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_queue_get_info), 68);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_vmem_address_reserve_align), 69);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_enable_logging), 70);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_signal_wait_all), 71);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_memory_get_preferred_copy_engine), 72);
	CHECK_EQ_INT(amd_index(608, HSA_AMD_portable_export_dmabuf_v2), 73);
}

TEST(entry_beyond_table_size_is_missing)
{
	/* whole entries only: one byte less hides it */
	CHECK_EQ_INT(amd_index(16, HSA_AMD_coherency_get_type), -1);
	CHECK_EQ_INT(amd_index(0, HSA_AMD_coherency_get_type), -1);
	CHECK_EQ_INT(amd_index(24, HSA_AMD_coherency_get_type), 0);
	CHECK_EQ_INT(amd_index(24, HSA_AMD_coherency_set_type), -1);
	CHECK_EQ_INT(amd_index(399, HSA_AMD_queue_cu_get_mask), -1);
	CHECK_EQ_INT(amd_index(399, HSA_AMD_svm_prefetch_async), 46);
	CHECK_EQ_INT(amd_index(584, HSA_AMD_signal_wait_all), -1);
	CHECK_EQ_INT(amd_index(592, HSA_AMD_signal_wait_all), 71);
	CHECK_NULL(hsa_table_amd_slot(NULL, HSA_AMD_coherency_get_type));
	CHECK_NULL(hsa_table_core_slot(NULL, HSA_CORE_init));
}

TEST(unknown_larger_table_has_known_head)
{
	static const uint32_t sizes[] = { 752, 1024, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct hsa_layout *layout = hsa_table_layout(sizes[i]);

		CHECK_EQ_PTR(layout, hsa_table_layout(744));
		for (int id = 0; id < HSA_AMD_NR; id++) {
			CHECK_EQ_INT(amd_index(sizes[i], (enum hsa_amd_id)id),
				     amd_index(744, (enum hsa_amd_id)id));
			CHECK_LT_INT(layout->slot[id], 91);
		}
	}
}

TEST(queue_create_has_index_of_its_table)
{
	CHECK_EQ_INT(amd_index(608, HSA_AMD_queue_create), -1);
	CHECK_EQ_INT(amd_index(624, HSA_AMD_counted_queue_acquire), -1);
	CHECK_EQ_INT(amd_index(640, HSA_AMD_counted_queue_acquire), 76);
	CHECK_EQ_INT(amd_index(648, HSA_AMD_memory_async_batch_copy), 78);
	CHECK_EQ_INT(amd_index(712, HSA_AMD_queue_create), 86);
	CHECK_EQ_INT(amd_index(744, HSA_AMD_queue_create), 86);
	/* development builds: other functions are at 86 and 87 */
	CHECK_EQ_INT(amd_index(720, HSA_AMD_queue_create), -1);
	CHECK_EQ_INT(amd_index(720, HSA_AMD_counted_queue_release), 77);
}

TEST(size_between_known_layouts_has_common_head_only)
{
	static const uint32_t sizes[] = { 408, 416, 432, 440, 448 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK_STR_EQ(hsa_table_layout(sizes[i])->name, "unknown");
		CHECK_EQ_INT(amd_index(sizes[i], HSA_AMD_memory_async_copy), 15);
		CHECK_EQ_INT(amd_index(sizes[i], HSA_AMD_agent_memory_pool_get_info), -1);
		CHECK_EQ_INT(amd_index(sizes[i], HSA_AMD_queue_intercept_create), -1);
	}
}

TEST(core_ids_are_indices_limited_by_size)
{
	struct fake_table table;

	fill(&table, 1016);
	CHECK_EQ_PTR(hsa_table_core_slot(&table, HSA_CORE_init), &table.entry[0]);
	CHECK_EQ_PTR(hsa_table_core_slot(&table, HSA_CORE_queue_create), &table.entry[7]);
	CHECK_EQ_PTR(hsa_table_core_slot(&table, HSA_CORE_executable_freeze), &table.entry[86]);
	CHECK_EQ_PTR(hsa_table_core_slot(&table, HSA_CORE_executable_iterate_program_symbols),
		     &table.entry[124]);
	CHECK_NULL(hsa_table_core_slot(&table, HSA_CORE_NR));
	fill(&table, 16 + 8 * 7);
	CHECK_NULL(hsa_table_core_slot(&table, HSA_CORE_queue_create));
	CHECK_EQ_PTR(hsa_table_core_slot(&table, HSA_CORE_agent_get_info), &table.entry[6]);
}

TEST(finalizer_table_ignores_its_version)
{
	struct fake_table table;

	fill(&table, 0);
	table.version.major_id = 0;
	for (int id = 0; id < HSA_FINALIZER_NR; id++)
		CHECK_EQ_PTR(hsa_table_finalizer_slot(&table, (enum hsa_finalizer_id)id),
			     &table.entry[id]);
	CHECK_NULL(hsa_table_finalizer_slot(&table, HSA_FINALIZER_NR));
	CHECK_NULL(hsa_table_finalizer_slot(NULL, HSA_FINALIZER_program_create));
}

TEST(image_and_tools_entries_are_limited_by_size)
{
	struct fake_table table;

	fill(&table, HSA_TABLE_BYTES(14));
	CHECK_EQ_PTR(hsa_table_image_slot(&table, HSA_IMAGE_image_create_with_layout),
		     &table.entry[12]);
	fill(&table, HSA_TABLE_BYTES(12));
	CHECK_NULL(hsa_table_image_slot(&table, HSA_IMAGE_image_create_with_layout));
	fill(&table, HSA_TABLE_BYTES(6));
	CHECK_EQ_PTR(hsa_table_tools_slot(&table, HSA_TOOLS_scratch_event_async_reclaim_end),
		     &table.entry[5]);
	CHECK_NULL(hsa_table_tools_slot(&table, HSA_TOOLS_NR));
}

TEST(entry_names_are_function_names)
{
	CHECK_STR_EQ(hsa_table_core_name(HSA_CORE_queue_create), "hsa_queue_create");
	CHECK_STR_EQ(hsa_table_amd_name(HSA_AMD_queue_intercept_create),
		     "hsa_amd_queue_intercept_create");
	CHECK_STR_EQ(hsa_table_image_name(HSA_IMAGE_image_create), "hsa_ext_image_create");
	CHECK_STR_EQ(hsa_table_finalizer_name(HSA_FINALIZER_program_create),
		     "hsa_ext_program_create");
	CHECK_STR_EQ(hsa_table_tools_name(HSA_TOOLS_scratch_event_free_end),
		     "hsa_amd_tool_scratch_event_free_end");
	CHECK_NULL(hsa_table_core_name(HSA_CORE_NR));
	CHECK_NULL(hsa_table_amd_name(HSA_AMD_NR));
#define SAME_NAME(function, id) CHECK_STR_EQ(hsa_table_core_name(id), #function);
	HSA_CORE_LIST(SAME_NAME)
#undef SAME_NAME
#define SAME_NAME(function, id) CHECK_STR_EQ(hsa_table_amd_name(id), #function);
	HSA_AMD_LIST(SAME_NAME)
#undef SAME_NAME
}

static hsa_status_t on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
			      hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
			      const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
			      int engine_id, bool force_copy_on_sdma)
{
	(void)dst, (void)dst_agent, (void)src, (void)src_agent, (void)num_dep_signals;
	(void)dep_signals, (void)completion_signal;
	return size == 8 && engine_id == 2 && force_copy_on_sdma ? HSA_STATUS_SUCCESS :
								   HSA_STATUS_ERROR;
}

TEST(replaced_entry_is_called_through_its_type)
{
	struct fake_table table;
	hsa_amd_memory_async_copy_on_engine_fn_t call;
	void **slot;

	fill(&table, 456);
	slot = hsa_table_amd_slot(&table, HSA_AMD_memory_async_copy_on_engine);
	CHECK_EQ_PTR(slot, &table.entry[16]);
	*slot = (void *)on_engine;
	call = (hsa_amd_memory_async_copy_on_engine_fn_t)*slot;
	CHECK_EQ_INT(call(NULL, (hsa_agent_t){ 0 }, NULL, (hsa_agent_t){ 0 }, 8, 0, NULL,
			  (hsa_signal_t){ 0 }, 2, true),
		     HSA_STATUS_SUCCESS);
}
