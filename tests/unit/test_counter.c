/* SPDX-License-Identifier: MIT */
/* test_counter.c - expressions of metrics, names of counters, passes */
#include "base/alloc.h"
#include "counter/expression.h"
#include "counter/plan.h"
#include "counter/reduce.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions ----------------------------------------------------------------------------- */

/* A is 7, B is 0, C[i] is i + 1. */
static bool value_of(const char *name, int32_t index, void *arg, double *value)
{
	(void)arg;
	*value = index + 1;
	if (strcmp(name, "A") == 0)
		*value = 7;
	else if (strcmp(name, "B") == 0)
		*value = 0;
	else
		return strcmp(name, "C") == 0;
	return true;
}

static double evaluate(const char *text, enum expression_rules rules)
{
	char error[EXPRESSION_ERROR_SIZE];
	struct expression *e = expression_parse(text, rules, error);
	double value = -1;

	if (!e) {
		fprintf(stderr, "%s\n", error);
		return -1e9;
	}
	CHECK(expression_value(e, value_of, NULL, &value));
	expression_free(e);
	return value;
}

static bool is(double a, double b)
{
	return a >= b - 1e-9 && a <= b + 1e-9;
}

TEST(ordinary_operators_have_their_usual_meaning)
{
	CHECK(is(evaluate("10-3-2", EXPRESSION_ORDINARY), 5));
	CHECK(is(evaluate("10 - 2*3 + 1", EXPRESSION_ORDINARY), 5));
	CHECK(is(evaluate("100/5/2", EXPRESSION_ORDINARY), 10));
	CHECK(is(evaluate("-A+2*-3", EXPRESSION_ORDINARY), -13));
	CHECK(is(evaluate("(1+2)*(A-4)", EXPRESSION_ORDINARY), 9));
	CHECK(is(evaluate("0.5*A", EXPRESSION_ORDINARY), 3.5));
	CHECK(is(evaluate("5000000000", EXPRESSION_ORDINARY), 5e9));
}

TEST(functions_are_over_instances)
{
	CHECK(is(evaluate("sum(C,4)", EXPRESSION_ORDINARY), 10));
	CHECK(is(evaluate("avr(C,4)", EXPRESSION_ORDINARY), 2.5));
	CHECK(is(evaluate("min(C,4)+max(C,4)", EXPRESSION_ORDINARY), 5));
	CHECK(is(evaluate("C[2]", EXPRESSION_ORDINARY), 3));
}

TEST(division_by_zero_makes_the_whole_value_zero)
{
	CHECK(is(evaluate("5+A/B", EXPRESSION_ORDINARY), 0));
	CHECK(is(evaluate("5+A/B", EXPRESSION_V1), 0));
}

TEST(rules_of_rocprofiler_v1_are_kept_for_its_files)
{
	CHECK(is(evaluate("10-3-2", EXPRESSION_V1), 9));
	CHECK(is(evaluate("10-3*2", EXPRESSION_V1), 4));
	CHECK(is(evaluate("100/5/2", EXPRESSION_V1), 10));
	CHECK(is(evaluate("-A", EXPRESSION_V1), -7));
	CHECK(is(evaluate("A*", EXPRESSION_V1), 0));
	CHECK(is(evaluate("5000000000", EXPRESSION_V1), 705032704));
	CHECK(is(evaluate("(1+2", EXPRESSION_V1), 3));
	CHECK(is(evaluate("1+2)*9", EXPRESSION_V1), 3));
}

TEST(what_is_no_expression_is_refused_with_its_column)
{
	static const struct {
		const char *text;
		enum expression_rules rules;
		const char *error;
	} all[] = {
		{ "", EXPRESSION_ORDINARY, "an operand is missing at column 1" },
		{ "1+", EXPRESSION_ORDINARY, "an operand is missing at column 3" },
		{ "1 2", EXPRESSION_ORDINARY, "an operator is expected at column 3" },
		{ "(1", EXPRESSION_ORDINARY, "')' is expected at column 3" },
		{ "1)", EXPRESSION_ORDINARY, "an operator is expected at column 2" },
		{ "sum(C)", EXPRESSION_ORDINARY, "the number of instances and ')'" },
		{ "sum(,4)", EXPRESSION_ORDINARY, "a counter's name is expected" },
		{ "C[x]", EXPRESSION_ORDINARY, "an instance's number and ']'" },
		{ "C[-1]", EXPRESSION_ORDINARY, "an instance's number and ']'" },
		{ "C[4097]", EXPRESSION_ORDINARY, "an instance's number and ']'" },
		{ "C[99999999999999999999]", EXPRESSION_ORDINARY, "an instance's number and ']'" },
		{ "sum(C,0)", EXPRESSION_ORDINARY, "the number of instances and ')'" },
		{ "sum(C,4097)", EXPRESSION_ORDINARY, "the number of instances and ')'" },
		{ "2x", EXPRESSION_ORDINARY, "a number or a name is expected" },
		{ "0.5", EXPRESSION_V1, "a number or a name is expected" },
		{ "1 +2", EXPRESSION_V1, "an operator is expected at column 2" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char error[EXPRESSION_ERROR_SIZE];
		struct expression *e = expression_parse(all[i].text, all[i].rules, error);

		CHECK(!e);
		CHECK_STR_HAS(error, all[i].error);
	}
}

TEST(largest_numbers_of_instances_are_accepted)
{
	static const char *const all[] = { "C[4096]", "C[0]", "sum(C,4096)", "sum(C,1)" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char error[EXPRESSION_ERROR_SIZE];
		struct expression *e = expression_parse(all[i], EXPRESSION_ORDINARY, error);

		CHECK_MSG(e != NULL, "%s: %s", all[i], error);
		expression_free(e);
	}
}

TEST(deep_brackets_are_refused)
{
	char text[2048], error[EXPRESSION_ERROR_SIZE];

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(!expression_parse(text, EXPRESSION_ORDINARY, error));
	CHECK_STR_HAS(error, "nested too deeply");
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t nr_events(const char *gpu, const char *name)
{
	char error[METRIC_ERROR_SIZE];
	struct metric_events e = { 0 };
	uint32_t nr = metric_add_events(gpus_find(gpu), name, &e, error) ? e.nr : 0;

	metric_events_free(&e);
	return nr;
}

TEST(agents_have_the_counters_of_their_family)
{
	CHECK_STR_EQ(gpus_find("gfx902")->name, "gfx900");
	CHECK_STR_EQ(gpus_find("gfx906:sramecc+:xnack-")->name, "gfx906");
	CHECK_STR_EQ(gpus_find("gfx942")->name, "gfx940");
	CHECK_STR_EQ(gpus_find("gfx1036")->name, "gfx1030");
	CHECK_STR_EQ(gpus_find("gfx1103")->name, "gfx1100");
	CHECK(!gpus_find("gfx1201"));
}

TEST(names_stand_for_events)
{
	CHECK_EQ_INT(nr_events("gfx900", "SQ_WAVES"), 1);
	CHECK_EQ_INT(nr_events("gfx900", "TCC_HIT"), 16);
	CHECK_EQ_INT(nr_events("gfx90a", "TCC_HIT"), 32);
	CHECK_EQ_INT(nr_events("gfx900", "TCC_HIT[3]"), 1);
	CHECK_EQ_INT(nr_events("gfx900", "L2CacheHit"), 32);
	/* SIMD_NUM is a constant */
	CHECK_EQ_INT(nr_events("gfx900", "VALUBusy"), 2);
	CHECK_EQ_INT(nr_events("gfx900", "TCC:20"), 16);
	CHECK_EQ_INT(nr_events("gfx900", "SQ[0]:4"), 1);
}

TEST(unknown_names_are_refused_with_what_is_near)
{
	static const struct {
		const char *name, *error;
	} all[] = {
		{ "SQ_WAVE", "gfx900 has no counter 'SQ_WAVE'; did you mean 'SQ_WAVES'?" },
		{ "ABCDEFGHIJ", "gfx900 has no counter 'ABCDEFGHIJ'" },
		{ "TCC_HIT[16]", "block TCC has the instances 0 to 15" },
		{ "SQ[1]:4", "block SQ has the instances 0 to 0" },
		{ "SQX:4", "gfx900 has no block 'SQX'" },
		{ "SQ:x", "behind ':' stands the number of an event" },
		{ "TCC_HIT[", "is not NAME or NAME[INSTANCE]" },
		{ "L2CacheHit[1]", "gfx900 has no counter 'L2CacheHit[1]'" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char error[METRIC_ERROR_SIZE];
		struct metric m;

		CHECK(!metric_find(gpus_find("gfx900"), all[i].name, &m, error));
		CHECK_STR_HAS(error, all[i].error);
	}
}

/* ---- passes ---------------------------------------------------------------------------------- */

#define NR(a) (uint32_t)(sizeof(a) / sizeof((a)[0]))

static struct plan plan_of(const char *gpu, const char *const *names, uint32_t nr)
{
	char error[METRIC_ERROR_SIZE];
	struct plan plan;
	bool good = plan_make(gpus_find(gpu), names, nr, &plan, error);

	if (!good)
		fprintf(stderr, "%s\n", error);
	CHECK(good);
	return plan;
}

TEST(what_fits_is_counted_in_one_pass)
{
	static const char *const names[] = { "SQ_WAVES", "SQ_INSTS_VALU", "FETCH_SIZE", "GPUBusy",
					     "VALUBusy" };
	struct plan plan = plan_of("gfx900", names, NR(names));

	CHECK_EQ_INT(plan.nr, 1);
	CHECK_EQ_INT(plan.passes[0].nr_metrics, 5);
	CHECK(plan.is_least);
	plan_free(&plan);
}

TEST(nine_counters_of_a_block_of_eight_need_two_passes)
{
	static const char *const names[] = { "SQ:1", "SQ:2", "SQ:3", "SQ:4", "SQ:5",
					     "SQ:6", "SQ:7", "SQ:8", "SQ:9" };
	struct plan plan = plan_of("gfx900", names, NR(names));

	CHECK_EQ_INT(plan.nr, 2);
	CHECK_EQ_INT(plan.passes[0].nr_metrics + plan.passes[1].nr_metrics, 9);
	CHECK(plan.is_least);
	plan_free(&plan);
}

/* Whether the metrics of a group fit together, counted here. */
static bool group_fits(const struct counter_gpu *gpu, const char *const *names,
		       const uint32_t *group, uint32_t nr, uint32_t which)
{
	char error[METRIC_ERROR_SIZE];
	struct metric_events e = { 0 };
	bool fits = true;

	for (uint32_t i = 0; i < nr; i++)
		if (group[i] == which)
			CHECK(metric_add_events(gpu, names[i], &e, error));
	for (uint32_t i = 0; i < e.nr; i++) {
		uint32_t used = 0;

		for (uint32_t k = 0; k < e.nr; k++)
			used += e.all[k].block == e.all[i].block &&
				e.all[k].instance == e.all[i].instance;
		fits = fits && used <= e.all[i].block->counters;
	}
	metric_events_free(&e);
	return fits;
}

/* The fewest groups of all ways to divide the metrics: group[i] of `nr`, of which `used` are in
 * use. */
static uint32_t fewest(const struct counter_gpu *gpu, const char *const *names, uint32_t *group,
		       uint32_t nr, uint32_t i, uint32_t used)
{
	uint32_t best = UINT32_MAX;

	if (i == nr)
		return used;
	for (group[i] = 0; group[i] <= used; group[i]++) {
		uint32_t n;

		if (!group_fits(gpu, names, group, i + 1, group[i]))
			continue;
		n = fewest(gpu, names, group, nr, i + 1, used + (group[i] == used));
		best = n < best ? n : best;
	}
	return best;
}

TEST(no_plan_of_a_small_set_has_fewer_passes)
{
	const struct counter_gpu *gpu = gpus_find("gfx90a");
	uint32_t seed = 1, nr_several = 0;

	for (unsigned int round = 0; round < 100; round++) {
		const char *names[5];
		uint32_t group[5];
		struct plan plan;

		for (uint32_t i = 0; i < NR(names); i++) {
			seed = seed * 1664525u + 1013904223u;
			names[i] = gpu->deriveds[(seed >> 8) % gpu->nr_deriveds].name;
		}
		plan = plan_of("gfx90a", names, NR(names));
		CHECK(plan.is_least);
		CHECK_EQ_INT(plan.nr, fewest(gpu, names, group, NR(names), 0, 0));
		nr_several += plan.nr > 1;
		plan_free(&plan);
	}
	/* the sets are not all trivial */
	CHECK_GT_INT(nr_several, 5);
}

TEST(passes_keep_the_order_of_names)
{
	static const char *const names[] = { "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES", "SQ_WAVES" };
	struct plan plan = plan_of("gfx90a", names, NR(names));

	CHECK_EQ_INT(plan.nr, 1);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ_INT(plan.passes[0].metrics[i], i);
	CHECK_EQ_INT(plan.passes[0].events.nr, 3);
	plan_free(&plan);
}

/* MeanOccupancyPerCU accumulates SQ_LEVEL_WAVES: events 5 and 185 of SQ. */
TEST(what_accumulates_stays_behind_its_counter)
{
	static const char *const apart[] = { "SQ_LEVEL_WAVES", "SQ_WAVES", "MeanOccupancyPerCU",
					     "MeanOccupancyPerActiveCU" };
	static const char *const taken[] = { "SQ_INST_LEVEL_LDS", "SQ_ACCUM_PREV_HIRES",
					     "MeanOccupancyPerCU" };
	struct plan plan = plan_of("gfx90a", apart, NR(apart));
	const struct metric_events *e = &plan.passes[0].events;

	CHECK_EQ_INT(plan.nr, 1);
	CHECK_EQ_INT(e->all[0].event, 5);
	CHECK_EQ_INT(e->all[1].event, 185);
	CHECK_EQ_INT(e->all[2].event, 4);
	plan_free(&plan);
	/* the one that is named has its own before it */
	plan = plan_of("gfx90a", taken, NR(taken));
	CHECK_EQ_INT(plan.nr, 2);
	plan_free(&plan);
}

TEST(every_metric_of_every_gpu_fits_in_a_pass)
{
	for (uint32_t g = 0; g < counter_nr_gpus; g++)
		for (uint32_t i = 0; i < counter_gpus[g].nr_deriveds; i++) {
			struct plan plan =
				plan_of(counter_gpus[g].name, &counter_gpus[g].deriveds[i].name, 1);

			CHECK_EQ_INT(plan.nr, 1);
			plan_free(&plan);
		}
}

TEST(unknown_name_in_a_set_is_refused)
{
	static const char *const names[] = { "SQ_WAVES", "NOTHING_LIKE_IT" };
	char error[METRIC_ERROR_SIZE];
	struct plan plan;

	CHECK(!plan_make(gpus_find("gfx900"), names, 2, &plan, error));
	CHECK_STR_HAS(error, "NOTHING_LIKE_IT");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each allocation fails in turn: an error that says so, and no damage; in the end all is well. */
TEST(plan_without_memory_says_so)
{
	static const char *const names[] = { "SQ_WAVES", "L2CacheHit", "VALUBusy", "TCC_HIT",
					     "FETCH_SIZE" };
	bool good = false;

	for (uint64_t n = 1; !good; n++) {
		char error[METRIC_ERROR_SIZE] = "";
		struct plan plan = { 0 };

		CHECK_LT_UINT(n, 100000);
		alloc_fail_at(n);
		good = plan_make(gpus_find("gfx900"), names, NR(names), &plan, error);
		alloc_fail_at(0);
		if (good)
			plan_free(&plan);
		else
			CHECK_STR_HAS(error, "memory");
	}
}

static bool four(const char *name, int32_t index, void *arg, double *value)
{
	(void)name;
	(void)index;
	(void)arg;
	*value = 4;
	return true;
}

TEST(expression_without_memory_has_no_value)
{
	bool good = false;

	for (uint64_t n = 1; !good; n++) {
		char error[EXPRESSION_ERROR_SIZE] = "";
		struct expression *e;
		double value = 0;

		CHECK_LT_UINT(n, 1000);
		alloc_fail_at(n);
		e = expression_parse("sum(A,4)*(B[2]+C-1)/max(D,8)+A+B+C+D+A+B+C+D+A+B+C+D",
				     EXPRESSION_ORDINARY, error);
		if (!e)
			CHECK_STR_HAS(error, "memory");
		good = e && expression_value(e, four, NULL, &value);
		alloc_fail_at(0);
		expression_free(e);
		if (good)
			CHECK_NEAR(value, 16 * 7 / 4.0 + 48, 1e-9);
	}
}

TEST(reductions_are_functions_over_the_instances_of_a_block)
{
	static const char *const functions[][2] = { { "sum", "sum" },
						    { "avr", "avr" },
						    { "avg", "avr" },
						    { "min", "min" },
						    { "max", "max" } };
	const struct counter_gpu *gpu = gpus_find("gfx900");
	char *text;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		char from[64], to[64];

		snprintf(from, sizeof(from), "2*reduce(TCC_HIT, %s)+1", functions[i][0]);
		snprintf(to, sizeof(to), "2*%s(TCC_HIT,16)+1", functions[i][1]);
		text = reduce_translate(gpu, from);
		CHECK_STR_EQ(text, to);
		alloc_free(text);
	}
	text = reduce_translate(gpu, "reduce(L2CacheHit,max)");
	CHECK_STR_EQ(text, "(L2CacheHit)");
	alloc_free(text);
	CHECK_NULL(reduce_translate(gpu, "reduce(TCC_HIT,mean)"));
	CHECK_NULL(reduce_translate(gpu, "reduce(TCC_HIT)"));
}

static void check_translated(const char *gpu, const char *from, const char *to)
{
	char *text = reduce_translate(gpus_find(gpu), from);

	if (to)
		CHECK_STR_EQ(text, to);
	else
		CHECK_NULL(text);
	alloc_free(text);
}

TEST(selections_and_accumulations_are_counters)
{
	check_translated("gfx90a", "2*select(TCC_HIT,[DIMENSION_XCC=[0], DIMENSION_INSTANCE=[31]])",
			 "2*TCC_HIT[31]");
	check_translated("gfx942", "select(TCC_HIT,[DIMENSION_INSTANCE=[3]])", "TCC_HIT[3]");
	check_translated("gfx90a", "reduce( select(TCC_HIT,[DIMENSION_INSTANCE=[3]]), sum)/2",
			 "TCC_HIT[3]/2");
	check_translated("gfx90a", "accumulate(SQ_INST_LEVEL_LDS,HIGH_RES)",
			 "(SQ_INST_LEVEL_LDS*0+SQ_ACCUM_PREV_HIRES)");
	check_translated("gfx90a", "reduce(accumulate(SQ_LEVEL_WAVES,LOW_RES),max)",
			 "(SQ_LEVEL_WAVES*0+SQ_ACCUM_PREV)");
	check_translated("gfx90a", "accumulate(SQ_WAVES,NONE)", "(SQ_WAVES)");
	/* instances that are not there, all of a die, a die of several, other dimensions */
	check_translated("gfx90a", "select(TCC_HIT,[DIMENSION_INSTANCE=[32]])", NULL);
	check_translated("gfx90a", "select(TCC_HIT,[DIMENSION_XCC=[0]])", NULL);
	check_translated("gfx942", "select(TCC_HIT,[DIMENSION_XCC=[0],DIMENSION_INSTANCE=[3]])",
			 NULL);
	check_translated("gfx90a", "select(SQ_WAVES,[DIMENSION_SHADER_ENGINE=[0]])", NULL);
	check_translated("gfx90a", "accumulate(TCC_HIT,HIGH_RES)", NULL);
	check_translated("gfx900", "accumulate(SQ_WAVES,HIGH_RES)", NULL);
	check_translated("gfx90a", "accumulate(SQ_WAVES)", NULL);
}
