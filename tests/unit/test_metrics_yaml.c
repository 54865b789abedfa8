/* SPDX-License-Identifier: MIT */
/* test_metrics_yaml.c - YAML as JSON, and rocprofiler-sdk's definitions of counters in it */
#include "counter/metrics_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/metric.h"
#include "counter/metrics_xml.h"
#include "counter/yaml_text.h"
#include "support/test.h"

static char error[METRICS_FILE_ERROR_SIZE];

static void check_json(const char *text, const char *wanted)
{
	char why[YAML_TEXT_ERROR_SIZE];
	char *json = yaml_text_to_json(text, why);

	CHECK_STR_EQ(json ? json : why, wanted);
	alloc_free(json);
}

TEST(scalars_go_on_on_further_lines)
{
	check_json("a: one\n  two\n\n  three\nb: 'it''s\n    so'\nc: \"x\n\n  y\\tz\"\n",
		   "{\"a\":\"one two\\u000athree\",\"b\":\"it's so\",\"c\":\"x\\u000ay\\u0009z\"}");
	check_json("- one\n  two # not this\n- a:\n    b\n    c\n  d: e\n",
		   "[\"one two\",{\"a\":\"b c\",\"d\":\"e\"}]");
	check_json("a:\n- one\n-  two\nb: 1\n", "{\"a\":[\"one\",\"two\"],\"b\":\"1\"}");
}

TEST(commas_and_brackets_outside_of_brackets_are_text)
{
	check_json("a: f(x,y)[1]\nb: [f(x), y]\nc:\n- p,q\n- g{2}\n",
		   "{\"a\":\"f(x,y)[1]\",\"b\":[\"f(x)\",\"y\"],\"c\":[\"p,q\",\"g{2}\"]}");
}

TEST(quote_that_is_not_closed_is_said)
{
	check_json("a: 'b\nc: d\n", "1: a quote is not closed: ''b'");
}

#define HEAD "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n"

static const char own[] = HEAD
	"  - name: MINE\n    description: \"a \\\"text\\\"\"\n    definitions:\n"
	"    - architectures:\n      - gfx900\n      - gfx90a\n      block: TCC\n      event: 18\n"
	"  - name: OF_MINE\n    description: of it\n    definitions:\n"
	"    - architectures: [gfx900]\n      expression: reduce(MINE,sum)*CU_NUM+LATER\n"
	"  - name: LATER\n    description: below\n    definitions:\n"
	"    - architectures: [gfx900]\n      expression: reduce(MINE,max)\n";
/* what AMD's own file has and rtl has not */
static const char theirs[] = HEAD
	"  - name: CU_NUM\n    description: n\n    definitions:\n"
	"    - architectures: [gfx900]\n      expression: simd_count/simd_per_cu\n"
	"  - name: MINE\n    description: another\n    definitions:\n"
	"    - architectures: [gfx900]\n      block: TCC\n      event: 7\n"
	"  - name: NEW\n    description: n\n    definitions:\n"
	"    - architectures: [gfx900]\n      block: NEWBLOCK\n      event: 1\n"
	"  - name: OF_NEW\n    description: n\n    definitions:\n"
	"    - architectures: [gfx900]\n      expression: reduce(NEW,sum)\n"
	"  - name: STRANGE\n    description: n\n    definitions:\n"
	"    - architectures: [gfx900]\n      expression: whatever(SQ_WAVES,[X=[0:3]])\n"
	"  - name: LARGE\n    description: n\n    definitions:\n"
	"    - architectures: [gfx900]\n      block: SQ\n      event: 4294967296\n"
	"  - name: GOOD\n    description: n\n    definitions:\n"
	"    - architectures: [gfx1250, gfx900]\n      block: SQ\n      event: 4\n"
	"    - architectures: [gfx942]\n      block: SQ\n      event: 5\n"
	"  - description: nothing\n";

static const struct counter_gpu *list(struct metrics_file *f, enum metrics_file_use use)
{
	const struct counter_gpu *gpu = f ? metrics_file_gpu(f, "gfx900", use, error) : NULL;

	if (!gpu)
		fprintf(stderr, "%s\n", error);
	return gpu;
}

static bool has(const struct counter_gpu *gpu, const char *name, struct metric *m)
{
	char why[METRIC_ERROR_SIZE];

	return gpu && metric_find(gpu, name, m, why);
}

/* The excerpt is XML, which the traced process reads. */
TEST(excerpt_of_text_that_is_not_utf8_reads_back)
{
	static const char text[] = HEAD
		"  - name: MINE\n    description: \"caf\xe9 \xef\xbf\xbf <b>\"\n    definitions:\n"
		"    - architectures: [gfx900]\n      block: TCC\n      event: 18\n";
	const struct metrics_text file = { "a.yaml", text };
	const char *const names[] = { "MINE" };
	struct metrics_file *f =
		metrics_yaml_parse(&file, 1, "gfx900", METRICS_FILE_EXTENDS, error);
	char *excerpt;

	CHECK(f && metrics_file_gpu(f, "gfx900", METRICS_FILE_EXTENDS, error));
	excerpt = metrics_xml_excerpt(f, "gfx900", names, 1, error);
	CHECK_STR_HAS(excerpt, "caf&#92;xe9 ? &#60;b>");
	metrics_file_close(f);
	f = metrics_xml_parse("excerpt", excerpt, strlen(excerpt), EXPRESSION_ORDINARY, error);
	CHECK_STR_EQ(f ? "" : error, "");
	metrics_file_close(f);
	free(excerpt);
}

TEST(definitions_of_one_gpu_stand_beside_its_own_or_alone)
{
	const struct metrics_text one = { "own", own };

	for (enum metrics_file_use use = METRICS_FILE_EXTENDS; use <= METRICS_FILE_ALONE; use++) {
		struct metrics_file *f = metrics_yaml_parse(&one, 1, "gfx900", use, error);
		const struct counter_gpu *gpu = list(f, use);
		struct metric m = { 0 };

		CHECK(has(gpu, "MINE", &m));
		CHECK_STR_EQ(m.description, "a \"text\"");
		CHECK_STR_EQ(m.block->name, "TCC");
		CHECK_EQ_UINT(m.event, 18);
		CHECK(has(gpu, "OF_MINE", &m));
		CHECK_STR_EQ(m.expression, "sum(MINE,16)*CU_NUM+LATER");
		CHECK(has(gpu, "SQ_WAVES", &m) == (use == METRICS_FILE_EXTENDS));
		metrics_file_close(f);
	}
}

TEST(what_a_gpu_can_not_count_is_left_out_and_the_first_text_counts)
{
	const struct metrics_text texts[] = { { "own", own }, { "theirs", theirs } };
	struct metrics_file *f = metrics_yaml_parse(texts, 2, "gfx900", METRICS_FILE_ALONE, error);
	const struct counter_gpu *gpu = list(f, METRICS_FILE_ALONE);
	struct metric m = { 0 };

	CHECK(has(gpu, "MINE", &m) && m.event == 18);
	CHECK(has(gpu, "GOOD", &m) && m.event == 4);
	CHECK(has(gpu, "CU_NUM", &m) && m.kind == METRIC_CONSTANT);
	CHECK(!has(gpu, "NEW", &m) && !has(gpu, "OF_NEW", &m) && !has(gpu, "STRANGE", &m));
	CHECK(!has(gpu, "LARGE", &m));
	CHECK(gpu && gpu->nr_basics == 2 && gpu->nr_deriveds == 2);
	metrics_file_close(f);
}

TEST(text_that_is_none_is_refused_with_its_name)
{
	const char *const wrong[][2] = { { "a: b\n", "it: has no list 'counters'" },
					 { "[\n", "it:" },
					 { "rocprofiler-sdk:\n  counters: x\n", "has no list" },
					 { "rocprofiler-sdk: []\n", "has no list" } };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct metrics_text texts[] = { { "own", own }, { "it", wrong[i][0] } };

		CHECK(!metrics_yaml_parse(texts, 2, "gfx900", METRICS_FILE_EXTENDS, error));
		CHECK_STR_HAS(error, wrong[i][1]);
	}
}

TEST(definitions_survive_each_failing_allocation)
{
	const struct metrics_text one = { "own", own };

	for (uint64_t n = 1;; n++) {
		struct metrics_file *f;
		bool ended;

		alloc_fail_at(n);
		f = metrics_yaml_parse(&one, 1, "gfx900", METRICS_FILE_EXTENDS, error);
		if (f)
			(void)metrics_file_gpu(f, "gfx900", METRICS_FILE_EXTENDS, error);
		metrics_file_close(f);
		ended = alloc_nr_calls() < n;
		alloc_fail_at(0);
		if (ended)
			return;
	}
}
