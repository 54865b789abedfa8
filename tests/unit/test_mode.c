/* SPDX-License-Identifier: MIT */
/* test_mode.c - which packets are traced and how queues are made, by environment and runtime */
#include <stdlib.h>
#include <unistd.h>

#include "source/hsa/mode.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

/* Opens a runtime with `nr` table entries and the current RTL_QUEUES; returns the log message. */
static const char *open_and_get_log(unsigned nr)
{
	const char *path = test_tmpfile("log");

	setenv("RTL_LOG_FILE", path, 1);
	fake_open(NULL, nr);
	return access(path, R_OK) == 0 ? test_text_of(path) : "";
}

static void check_interposed(const char *queues, unsigned nr)
{
	if (queues)
		setenv("RTL_QUEUES", queues, 1);
	CHECK_STR_EQ(open_and_get_log(nr), "");
	CHECK(!mode_intercepts);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_PLAIN);
}

TEST(queues_are_interposed_by_default)
{
	check_interposed(NULL, 48);
}

TEST(auto_mode_interposes_queues)
{
	check_interposed("auto", 71);
}

TEST(interpose_mode_interposes_queues)
{
	check_interposed("interpose", 76);
}

static void check_intercepted(unsigned nr)
{
	setenv("RTL_QUEUES", "intercept", 1);
	CHECK_STR_EQ(open_and_get_log(nr), "");
	CHECK(mode_intercepts);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_INTERCEPTED);
}

TEST(intercept_mode_intercepts_queues_on_5_2)
{
	check_intercepted(48);
}

TEST(intercept_mode_intercepts_queues_on_7_0)
{
	check_intercepted(74);
}

TEST(intercept_mode_intercepts_queues_on_10_0)
{
	check_intercepted(87);
}

/* The table of 7.2, whose intercept queues overflow their staging buffer. */
TEST(intercept_mode_interposes_queues_on_faulty_7_2)
{
	const char *said;

	setenv("RTL_QUEUES", "intercept", 1);
	said = open_and_get_log(76);
	CHECK_EQ_UINT(fake.amd.version.minor_id, 624);
	CHECK_STR_HAS(said, "warn hsa: RTL_QUEUES=intercept: not with this runtime");
	CHECK_STR_HAS(said, "queues are interposed");
	CHECK(!mode_intercepts);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_PLAIN);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static void check_without(unsigned index)
{
	const char *path = test_tmpfile("log");

	setenv("RTL_LOG_FILE", path, 1);
	setenv("RTL_QUEUES", "intercept", 1);
	fake_setup(NULL);
	fake_build_tables(48);
	fake.amd.entry[index] = NULL;
	CHECK(table_take(&fake.root));
	CHECK_STR_HAS(test_text_of(path), "this runtime has no intercept queues");
	CHECK(!mode_intercepts);
	CHECK_EQ_INT(fake_queue_create(64)->kind, FAKE_PLAIN);
}

TEST(intercept_mode_without_intercept_create_interposes_queues)
{
	check_without(35);
}

TEST(intercept_mode_without_callback_function_interposes_queues)
{
	check_without(36);
}

static void check_mode(const char *text, enum mode expected)
{
	fake_open(text, 0);
	CHECK_EQ_INT(mode_packets, expected);
}

TEST(standard_mode_is_the_default)
{
	check_mode(NULL, MODE_STANDARD);
}

TEST(lite_mode_is_accepted)
{
	check_mode("lite", MODE_LITE);
}

TEST(full_mode_is_accepted_on_every_runtime)
{
	fake_open("full", 76);
	CHECK_EQ_INT(mode_packets, MODE_FULL);
}

TEST(modes_of_other_sources_mean_standard_mode)
{
	check_mode("hip", MODE_STANDARD);
}
