/* SPDX-License-Identifier: MIT */
/* test_table.c - the registry of the runtime's tables: layers are installed, removed, refused,
 * reinstalled */
#include <stdlib.h>

#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/test.h"

/* The entry that the layers of these tests change. */
#define ENTRY 20
#define OTHER 30

static void *core_before[HSA_CORE_NR], *amd_before[FAKE_MAX_AMD];
static char events[64]; /* "a" for layer A's install, "-a" for its removal, ... */

static void note(const char *text)
{
	strncat(events, text, sizeof(events) - strlen(events) - 1);
}

static void *mark(char layer)
{
	return (void *)(uintptr_t)(0x1000 + layer);
}

static void *found[128]; /* by layer: the value it found at ENTRY */
static bool refuses[128];

static bool install(const struct hsa_mirror_root *root, char layer)
{
	const char name[2] = { layer, 0 };
	void **slot = hsa_table_core_slot(root->core, (enum hsa_core_id)ENTRY);

	note(name);
	found[(int)layer] = *slot;
	*slot = mark(layer);
	*hsa_table_amd_slot(root->amd_ext, (enum hsa_amd_id)(layer - 'a')) = mark(layer);
	return !refuses[(int)layer];
}

#define LAYER(letter)                                                                              \
	static bool install_##letter(const struct hsa_mirror_root *root)                           \
	{                                                                                          \
		return install(root, #letter[0]);                                                  \
	}                                                                                          \
	static void remove_##letter(void)                                                          \
	{                                                                                          \
		note("-" #letter);                                                                 \
	}                                                                                          \
	static const struct table_layer layer_##letter = { .name = #letter,                        \
							   .install = install_##letter,            \
							   .remove = remove_##letter };
LAYER(a)
LAYER(b)
LAYER(c)

static bool install_nothing(const struct hsa_mirror_root *root)
{
	(void)root;
	note("n");
	return true;
}

static const struct table_layer layer_nothing = { .name = "nothing", .install = install_nothing };

static void open_tables(void)
{
	static const struct table_layer *const layers[] = { &layer_a, &layer_b, NULL };

	fake_build_tables(48);
	memcpy(core_before, fake.core.entry, sizeof(core_before));
	memcpy(amd_before, fake.amd.entry, sizeof(amd_before));
	table_init(layers);
}

static void check_untouched(void)
{
	CHECK_MEM_EQ(fake.core.entry, core_before, sizeof(core_before));
	CHECK_MEM_EQ(fake.amd.entry, amd_before, sizeof(amd_before));
}

TEST(later_layer_is_in_front_of_earlier_one)
{
	open_tables();
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "ab");
	CHECK_EQ_PTR(found['a'], core_before[ENTRY]);
	CHECK_EQ_PTR(found['b'], mark('a'));
	CHECK_EQ_PTR(fake.core.entry[ENTRY], mark('b'));
	CHECK_EQ_PTR(fake.amd.entry[0], mark('a'));
	CHECK_EQ_PTR(fake.amd.entry[1], mark('b'));
}

TEST(dropped_tables_are_restored)
{
	open_tables();
	CHECK(table_take(&fake.root));
	table_drop();
	check_untouched();
	CHECK_STR_EQ(events, "ab-b-a"); /* removed in reverse order */
	table_drop();
	CHECK_STR_EQ(events, "ab-b-a");
}

TEST(drop_without_take_does_nothing)
{
	open_tables();
	table_drop();
	CHECK_STR_EQ(events, "");
	check_untouched();
}

TEST(refusing_layer_leaves_tables_unchanged)
{
	open_tables();
	CHECK(table_add_layer(&layer_c));
	refuses['b'] = true;
	CHECK(!table_take(&fake.root));
	check_untouched();
	CHECK_STR_EQ(events, "ab-a"); /* layers in front of it are not installed */
	table_drop();
	CHECK_STR_EQ(events, "ab-a");
	/* another runtime may be accepted */
	refuses['b'] = false;
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "ab-aabc");
}

TEST(refusing_first_layer_leaves_tables_unchanged)
{
	open_tables();
	refuses['a'] = true;
	CHECK(!table_take(&fake.root));
	check_untouched();
	CHECK_STR_EQ(events, "a");
}

TEST(entry_changed_later_by_another_tool_is_not_restored)
{
	void *others = (void *)0x77;

	open_tables();
	CHECK(table_take(&fake.root));
	fake.core.entry[ENTRY] = others;
	fake.core.entry[OTHER] = others;
	table_drop();
	CHECK_EQ_PTR(fake.core.entry[ENTRY], others);
	CHECK_EQ_PTR(fake.core.entry[OTHER], others);
	CHECK_EQ_PTR(fake.amd.entry[0], amd_before[0]);
}

TEST(tables_taken_two_ways_are_patched_once)
{
	open_tables();
	CHECK(table_take(&fake.root));
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "ab");
	CHECK_EQ_PTR(fake.core.entry[ENTRY], mark('b'));
	table_drop();
	check_untouched();
}

TEST(layer_without_changes_is_installed_once)
{
	static const struct table_layer *const layers[] = { &layer_nothing, NULL };

	fake_build_tables(48);
	table_init(layers);
	CHECK(table_take(&fake.root));
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "n");
	table_drop();
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "nn");
}

TEST(tables_reset_without_notice_are_patched_again)
{
	open_tables();
	CHECK(table_take(&fake.root));
	memcpy(fake.core.entry, core_before, sizeof(core_before));
	memcpy(fake.amd.entry, amd_before, sizeof(amd_before));
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "ab-b-aab");
	CHECK_EQ_PTR(found['a'], core_before[ENTRY]);
	CHECK_EQ_PTR(fake.core.entry[ENTRY], mark('b'));
	table_drop();
	check_untouched();
}

TEST(tables_of_other_runtime_replace_previous_tables)
{
	struct hsa_mirror_root second;

	open_tables();
	CHECK(table_take(&fake.root));
	memcpy(fake.core.entry, core_before, sizeof(core_before));
	memcpy(fake.amd.entry, amd_before, sizeof(amd_before));
	second = fake.root;
	CHECK(table_take(&second));
	CHECK_STR_EQ(events, "ab-b-aab");
	table_drop();
	check_untouched();
	CHECK_STR_EQ(events, "ab-b-aab-b-a");
}

TEST(layer_added_after_take_is_installed_at_once)
{
	open_tables();
	CHECK(table_take(&fake.root));
	CHECK(table_add_layer(&layer_c));
	CHECK_STR_EQ(events, "abc");
	CHECK_EQ_PTR(found['c'], mark('b'));
	CHECK_EQ_PTR(fake.core.entry[ENTRY], mark('c'));
	CHECK(table_take(&fake.root)); /* by the other of the two ways */
	CHECK_STR_EQ(events, "abc");
	table_drop();
	check_untouched();
	CHECK_STR_EQ(events, "abc-c-b-a");
}

TEST(layer_added_before_take_is_installed_at_take)
{
	open_tables();
	CHECK(table_add_layer(&layer_c));
	CHECK_STR_EQ(events, "");
	check_untouched();
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, "abc");
}

TEST(refusing_late_layer_leaves_other_layers_installed)
{
	open_tables();
	CHECK(table_take(&fake.root));
	refuses['c'] = true;
	CHECK(table_add_layer(&layer_c));
	CHECK_STR_EQ(events, "abc");
	CHECK_EQ_PTR(fake.core.entry[ENTRY], mark('b'));
	CHECK_EQ_PTR(fake.amd.entry[2], amd_before[2]);
	table_drop();
	check_untouched();
	CHECK_STR_EQ(events, "abc-b-a");
}

TEST(dropped_layers_are_installed_again_at_next_take)
{
	open_tables();
	for (int i = 0; i < 100; i++) {
		events[0] = '\0';
		CHECK(table_take(&fake.root));
		if (i == 3)
			CHECK(table_add_layer(&layer_c));
		CHECK_STR_EQ(events, i < 3 ? "ab" : "abc");
		events[0] = '\0';
		table_drop();
		CHECK_STR_EQ(events, i < 3 ? "-b-a" : "-c-b-a");
		check_untouched();
	}
}

TEST(layer_beyond_the_limit_is_refused)
{
	struct table_layer more[TABLE_MAX_LAYERS];
	char expected[TABLE_MAX_LAYERS + 1] = "ab";

	open_tables();
	for (unsigned i = 2; i < TABLE_MAX_LAYERS; i++) {
		more[i] = layer_nothing;
		expected[i] = 'n';
		CHECK(table_add_layer(&more[i]));
	}
	CHECK(!table_add_layer(&layer_nothing));
	/* one that was added before is not added again */
	CHECK(table_add_layer(&more[2]));
	CHECK(table_take(&fake.root));
	CHECK_STR_EQ(events, expected);
}

TEST(tables_without_extensions_are_unchanged)
{
	open_tables();
	fake.root.amd_ext = NULL;
	CHECK(!table_take(&fake.root));
	fake.root.amd_ext = &fake.amd;
	fake.root.core = NULL;
	CHECK(!table_take(&fake.root));
	fake.root.core = &fake.core;
	fake.root.version.minor_id = 24; /* the size ends before amd_ext */
	CHECK(!table_take(&fake.root));
	CHECK_STR_EQ(events, "");
	check_untouched();
}

static struct {
	struct hsa_mirror_version version;
	void *entry[16];
} image, finalizer;

static bool install_extensions(const struct hsa_mirror_root *root)
{
	*hsa_table_image_slot(root->image_ext, HSA_IMAGE_image_create) = mark('i');
	*hsa_table_finalizer_slot(root->finalizer_ext, HSA_FINALIZER_program_destroy) = mark('f');
	return true;
}

TEST(image_and_finalizer_tables_are_restored)
{
	static const struct table_layer layer = { .name = "extensions",
						  .install = install_extensions };
	static const struct table_layer *const layers[] = { &layer, NULL };
	void *image_before[16], *finalizer_before[16];

	fake_build_tables(48);
	image.version.minor_id = HSA_TABLE_BYTES(HSA_IMAGE_NR);
	/* the finalizer's version is all zero, as ROCr leaves it */
	for (uintptr_t i = 0; i < 16; i++) {
		image.entry[i] = (void *)(i + 1);
		finalizer.entry[i] = (void *)(i + 100);
	}
	memcpy(image_before, image.entry, sizeof(image_before));
	memcpy(finalizer_before, finalizer.entry, sizeof(finalizer_before));
	fake.root.image_ext = &image;
	fake.root.finalizer_ext = &finalizer;
	table_init(layers);
	CHECK(table_take(&fake.root));
	CHECK_EQ_PTR(image.entry[HSA_IMAGE_image_create], mark('i'));
	CHECK_EQ_PTR(finalizer.entry[HSA_FINALIZER_program_destroy], mark('f'));
	table_drop();
	CHECK_MEM_EQ(image.entry, image_before, sizeof(image_before));
	CHECK_MEM_EQ(finalizer.entry, finalizer_before, sizeof(finalizer_before));
}
