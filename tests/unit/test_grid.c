/* SPDX-License-Identifier: MIT */
/* test_grid.c - the same cells as table, CSV and JSON */
#include "cli/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ui.h"
#include "support/test.h"

static const struct sheet_column columns[] = {
	{ "name", "NAME", SHEET_NAME, .drop = 0 },
	{ "calls", "CALLS", SHEET_COUNT, .drop = 0 },
	{ "total_ns", "TOTAL", SHEET_TIME, .drop = 0 },
	{ "share", "SHARE", SHEET_SHARE, .drop = 0 },
	{ "bytes", NULL, SHEET_BYTES, .drop = 0 },
};

/* What the grid prints, with stdout redirected to a file. */
static const char *printed(enum grid_format format, unsigned int width, const char *name)
{
	const struct grid_style style = { .format = format, .width = width };
	struct sheet t = { 0 };
	const struct sheet_cell cells[] = { { .text = name },
					    { .num = 1234567 },
					    { .num = 1500 },
					    { .real = 0.25 },
					    { .none = true } };

	sheet_columns(&t, columns, 5);
	sheet_row(&t, cells);
	CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
	grid_print(&t, &style);
	sheet_fini(&t);
	return test_text_of(test_tmpfile("out"));
}

TEST(table_scales_units_and_aligns_columns)
{
	CHECK_STR_EQ(printed(GRID_TEXT, 0, "vadd"), "NAME      CALLS     TOTAL  SHARE\n"
						    "vadd  1,234,567  1.500 us  25.0%\n");
}

TEST(long_name_is_cut_to_table_width)
{
	const char *text = printed(GRID_TEXT, 50, "a_kernel_with_a_name_that_is_too_long_for_it");

	CHECK_STR_HAS(text, "\na_kernel_with_a_nam...  1,234,567");
	CHECK_STR_HAS(printed(GRID_TEXT, 0, "a_kernel_with_a_name_that_is_too_long_for_it"),
		      "a_name_that_is_too_long_for_it ");
}

TEST(name_that_is_typed_is_whole_and_others_are_cut)
{
	static const struct sheet_column three[] = {
		{ "name", "NAME", SHEET_NAME, .is_typed = true },
		{ "unit", "UNIT", SHEET_NAME, .drop = 0 },
		{ "meaning", "MEANING", SHEET_NAME, .drop = 0 },
	};
	const struct sheet_cell cells[] = {
		{ .text = "A_COUNTER_WITH_A_LONG_NAME" },
		{ .text = "instructions of a wavefront" },
		{ .text = "a text that is longer than all of the others in the row" },
	};
	const struct grid_style style = { .width = 64 };
	struct sheet t = { 0 };

	sheet_columns(&t, three, 3);
	sheet_row(&t, cells);
	CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
	grid_print(&t, &style);
	sheet_fini(&t);
	CHECK_STR_HAS(test_text_of(test_tmpfile("out")),
		      "A_COUNTER_WITH_A_LONG_NAME  instructions of...  a text that i...");
}

TEST(csv_has_whole_numbers_and_quoted_names)
{
	CHECK_STR_EQ(printed(GRID_CSV, 20, "f(int, \"x\")"),
		     "name,calls,total_ns,share,bytes\n"
		     "\"f(int, \"\"x\"\")\",1234567,1500,0.250000,\n");
}

TEST(json_has_same_keys_as_csv)
{
	CHECK_STR_EQ(printed(GRID_JSON, 20, "f\n"),
		     "[\n {\"name\":\"f\\n\",\"calls\":1234567,\"total_ns\":1500,\"share\":0.25,"
		     "\"bytes\":null}\n]\n");
}

TEST(control_characters_are_replaced_in_table)
{
	CHECK_STR_HAS(printed(GRID_TEXT, 0, "a\033[31mb"), "a?[31mb");
}

TEST(cut_text_keeps_utf8_sequences_whole)
{
	char buf[64];

	CHECK_STR_EQ(grid_cut(buf, sizeof(buf), "äöüäöüäöü", 6), "äöü...");
	CHECK_STR_EQ(grid_cut(buf, sizeof(buf), "äöü", 3), "äöü");
	CHECK_STR_EQ(grid_cut(buf, sizeof(buf), "abcdef", 2), "...");
	CHECK_STR_EQ(grid_cut(buf, 12, "abcdefghijklmnop", 20), "abcd...");
}

/* A range in a range: its depth and its mark are on a screen alone. */
TEST(name_has_depth_and_mark_on_a_screen)
{
	static const struct sheet_column one[] = { { "name", "NAME", SHEET_NAME, .drop = 0 } };
	const struct sheet_cell outer = { .text = "step" };
	const struct sheet_cell inner = { .text = "forward", .depth = 1, .mark = " (start/stop)" };

	for (int format = GRID_TEXT; format <= GRID_CSV; format++) {
		const struct grid_style style = { .format = (enum grid_format)format };
		struct sheet t = { 0 };

		sheet_columns(&t, one, 1);
		sheet_row(&t, &outer);
		sheet_row(&t, &inner);
		CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
		grid_print(&t, &style);
		sheet_fini(&t);
		CHECK_STR_EQ(test_text_of(test_tmpfile("out")),
			     format == GRID_TEXT ? "NAME\nstep\n  forward (start/stop)\n" :
						   "name\nstep\nforward\n");
	}
}

TEST(number_is_formatted_with_unit)
{
	char buf[UI_NUMBER_SIZE];

	CHECK_STR_EQ(ui_time(buf, 0), "0 ns");
	CHECK_STR_EQ(ui_time(buf, 999), "999 ns");
	CHECK_STR_EQ(ui_time(buf, 1000), "1.000 us");
	CHECK_STR_EQ(ui_time(buf, 99999), "100.0 us");
	CHECK_STR_EQ(ui_time(buf, 999949), "999.9 us");
	CHECK_STR_EQ(ui_time(buf, 999950), "1.000 ms");
	CHECK_STR_EQ(ui_time(buf, 61000000000), "61.00 s");
	CHECK_STR_EQ(ui_bytes(buf, 1023), "1023 B");
	CHECK_STR_EQ(ui_bytes(buf, 1024), "1.000 KiB");
	CHECK_STR_EQ(ui_bytes(buf, 1073741824), "1.000 GiB");
	CHECK_STR_EQ(ui_count(buf, 0), "0");
	CHECK_STR_EQ(ui_count(buf, 18446744073709551615u), "18,446,744,073,709,551,615");
}

static const struct sheet_column spans[] = {
	{ "delay_ns", "DELAY", SHEET_SPAN, .drop = 0 },
	{ "bytes", "BYTES", SHEET_BYTES, .drop = 0 },
	{ "rate", "RATE", SHEET_RATE, .drop = 0 },
};

static const char *printed_spans(enum grid_format format, enum grid_units units)
{
	const struct grid_style style = { .format = format, .units = units };
	struct sheet t = { 0 };
	const struct sheet_cell cells[] = { { .num = (uint64_t)-1500 },
					    { .num = 1536 },
					    { .real = 2048 } };
	static char text[512];
	FILE *file;

	sheet_columns(&t, spans, 3);
	sheet_row(&t, cells);
	CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
	grid_print(&t, &style);
	sheet_fini(&t);
	file = fopen(test_tmpfile("out"), "r");
	CHECK_NOT_NULL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

TEST(negative_time_is_printed)
{
	CHECK_STR_HAS(printed_spans(GRID_TEXT, GRID_UNITS_AUTO), "-1.500 us  1.500 KiB");
	CHECK_STR_EQ(printed_spans(GRID_CSV, GRID_UNITS_AUTO),
		     "delay_ns,bytes,rate\n-1500,1536,2048\n");
	CHECK_STR_HAS(printed_spans(GRID_JSON, GRID_UNITS_AUTO),
		      "{\"delay_ns\":-1500,\"bytes\":1536,");
}

TEST(units_option_overrides_format)
{
	CHECK_STR_EQ(printed_spans(GRID_TEXT, GRID_UNITS_RAW),
		     "DELAY  BYTES  RATE\n-1500   1536  2048\n");
	CHECK_STR_EQ(printed_spans(GRID_CSV, GRID_UNITS_SCALED),
		     "delay_ns,bytes,rate\n-1.500 us,1.500 KiB,2.000 KiB/s\n");
	CHECK_STR_HAS(
		printed_spans(GRID_JSON, GRID_UNITS_SCALED),
		"{\"delay_ns\":\"-1.500 us\",\"bytes\":\"1.500 KiB\",\"rate\":\"2.000 KiB/s\"}");
}

TEST(narrow_table_drops_the_columns_with_the_highest_numbers)
{
	static const struct sheet_column four[] = {
		{ "name", "NAME", SHEET_NAME, .drop = 0 },
		{ "first", "FIRST", SHEET_COUNT, .drop = 1 },
		{ "third", "THIRD", SHEET_COUNT, .drop = 3 },
		{ "second", "SECOND", SHEET_COUNT, .drop = 2 },
	};
	const struct sheet_cell cells[] = {
		{ .text = "kernel_name" }, { .num = 1000 }, { .num = 1000 }, { .num = 1000 }
	};
	static const char *const heads[] = { "FIRST  THIRD  SECOND", "FIRST  SECOND", "FIRST" };
	static const unsigned int widths[] = { 34, 27, 19 };

	for (size_t i = 0; i < 3; i++) {
		const struct grid_style style = { .width = widths[i] };
		struct sheet t = { 0 };
		const char *text;

		sheet_columns(&t, four, 4);
		sheet_row(&t, cells);
		CHECK_NOT_NULL(freopen(test_tmpfile("out"), "w", stdout));
		grid_print(&t, &style);
		sheet_fini(&t);
		text = test_text_of(test_tmpfile("out"));
		CHECK_STR_HAS(text, heads[i]);
		CHECK((strstr(text, "THIRD") != NULL) == (i < 1));
		CHECK((strstr(text, "SECOND") != NULL) == (i < 2));
	}
}
