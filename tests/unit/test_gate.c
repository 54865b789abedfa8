/* SPDX-License-Identifier: MIT */
/* test_gate.c - rows of a comparison, and the conditions on them */
#include "analysis/gate.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "support/test.h"

/* Runs with one kernel: `ns` a launch, which varies with the run, and `launches` of them. */
static void add_runs(struct diff *d, int side, const char *name, int64_t ns, int64_t launches)
{
	for (size_t i = 0; i < d->nr_runs[side]; i++) {
		int64_t median = ns + (int64_t)i * 7 + side, total = median * launches;
		int64_t wall = total + 1000;

		CHECK_OK(diff_add(d, side, DIFF_KERNEL, DIFF_MEDIAN, name, &median, 1));
		CHECK_OK(diff_add(d, side, DIFF_KERNEL, DIFF_TOTAL, name, &total, 1));
		CHECK_OK(diff_add(d, side, DIFF_KERNEL, DIFF_COUNT, name, &launches, 1));
		CHECK_OK(diff_add(d, side, DIFF_RUN, DIFF_WALL, "all", &wall, 1));
	}
}

static const struct diff_row *find_row(const struct diff *d, enum diff_kind kind,
				       enum diff_measure measure, const char *name)
{
	for (size_t i = 0; i < d->nr; i++)
		if (d->rows[i].kind == kind && d->rows[i].measure == measure &&
		    strcmp(d->rows[i].name, name) == 0)
			return &d->rows[i];
	return NULL;
}

static struct gate *check_gate(const struct diff *d, const char *text)
{
	char error[GATE_ERROR_SIZE];
	struct gate *gate;

	CHECK_OK(gate_parse(text, &gate, error));
	CHECK_OK(gate_check(gate, d));
	return gate;
}

static enum gate_state state_of(const struct diff *d, const char *text, size_t *needed)
{
	struct gate *gate = check_gate(d, text);
	enum gate_state state = gate->results[0].state;

	if (needed)
		*needed = gate->runs_needed;
	gate_free(gate);
	return state;
}

TEST(ten_times_the_launches_differ_also_in_one_run)
{
	struct diff d = { .pooled = true, .nr_runs = { 1, 1 } };
	const struct diff_row *count;

	add_runs(&d, 0, "gemm", 1000, 2000);
	add_runs(&d, 1, "gemm", 1000, 20000);
	CHECK_OK(diff_compare(&d, 1));
	count = find_row(&d, DIFF_KERNEL, DIFF_COUNT, "gemm");
	CHECK_NOT_NULL(count);
	CHECK_STR_EQ(diff_verdicts[count->verdict], "more often");
	CHECK_NEAR(count->result.change, 9, 1e-12);
	CHECK(diff_is_news(count));
	CHECK_EQ_UINT(d.nr_verdicts[DIFF_MORE], 1);
	CHECK_EQ_INT(state_of(&d, "kernel.count:gemm > 0%", NULL), GATE_FAILED);
	CHECK_EQ_INT(state_of(&d, "kernel.count:gemm > 1000%", NULL), GATE_PASSED);
	CHECK_EQ_INT(state_of(&d, "kernel.count:gemm < 0%", NULL), GATE_PASSED);
	CHECK_EQ_INT(state_of(&d, "kernel.total:gemm > 0%", NULL), GATE_UNDECIDED);
	CHECK_EQ_INT(state_of(&d, "wall > 0%", NULL), GATE_UNDECIDED);
	diff_fini(&d);
}

TEST(each_measure_of_whole_runs_can_be_asked_for)
{
	struct diff d = { .nr_runs = { 5, 5 } };

	for (int side = 0; side < 2; side++)
		for (int m = DIFF_TOTAL; m <= DIFF_BUSY; m++)
			for (int64_t run = 0; run < 5; run++) {
				int64_t value = 1000 + run + 500 * side;

				CHECK_OK(diff_add(&d, side, DIFF_RUN, (enum diff_measure)m, "all",
						  &value, 1));
			}
	CHECK_OK(diff_compare(&d, 1));
	CHECK_EQ_INT(state_of(&d, "total > +5%", NULL), GATE_FAILED);
	CHECK_EQ_INT(state_of(&d, "count > 5", NULL), GATE_FAILED);
	CHECK_EQ_INT(state_of(&d, "wall > 60%", NULL), GATE_PASSED);
	CHECK_EQ_INT(state_of(&d, "busy > +5 %", NULL), GATE_FAILED);
	diff_fini(&d);
}

TEST(gate_says_how_many_runs_it_needs_and_fires_with_them)
{
	static const char *const conditions[] = {
		"kernel:gemm > +5%", "wall > 5", "kernel.total:gemm > 5%",
		"kernel:.* > 5%; kernel.total:.* > 5%; wall > 5%"
	};

	for (size_t c = 0; c < 4; c++) {
		size_t needed = 0;

		for (size_t runs = 2; runs <= 12; runs++) {
			struct diff d = { .nr_runs = { runs, runs } };
			enum gate_state state;

			add_runs(&d, 0, "gemm", 1000, 10);
			add_runs(&d, 1, "gemm", 2000, 10);
			CHECK_OK(diff_compare(&d, 1));
			state = state_of(&d, conditions[c], &needed);
			CHECK_EQ_INT(state, runs < needed ? GATE_UNDECIDED : GATE_FAILED);
			diff_fini(&d);
		}
		CHECK_GE_UINT(needed, 3);
		CHECK_LE_UINT(needed, 6);
	}
}

TEST(names_on_one_side_have_totals_and_numbers_but_no_median)
{
	struct diff d = { .nr_runs = { 5, 5 } };

	add_runs(&d, 0, "old", 1000, 10);
	add_runs(&d, 1, "new", 1000, 10);
	CHECK_OK(diff_compare(&d, 1));
	CHECK_EQ_INT(find_row(&d, DIFF_KERNEL, DIFF_MEDIAN, "old")->verdict, DIFF_ONLY_A);
	CHECK_EQ_INT(state_of(&d, "kernel:new > 5%", NULL), GATE_UNDECIDED);
	CHECK_EQ_INT(state_of(&d, "kernel.total:new > 5%", NULL), GATE_FAILED);
	CHECK_EQ_INT(state_of(&d, "kernel.count:old < 0%", NULL), GATE_FAILED);
	CHECK_EQ_INT(state_of(&d, "kernel.count:old > 0%", NULL), GATE_PASSED);
	CHECK_EQ_INT(state_of(&d, "kernel:none > 0%", NULL), GATE_UNMATCHED);
	diff_fini(&d);
}

TEST(run_without_a_name_has_it_zero_times)
{
	struct diff d = { .nr_runs = { 2, 2 } };
	const int64_t three = 3;
	const struct diff_row *row;

	CHECK_OK(diff_add(&d, 0, DIFF_COPY, DIFF_COUNT, "HtoD", &three, 1));
	CHECK_OK(diff_add(&d, 1, DIFF_COPY, DIFF_COUNT, "HtoD", &three, 1));
	CHECK_OK(diff_add(&d, 1, DIFF_COPY, DIFF_COUNT, "HtoD", &three, 1));
	CHECK_OK(diff_compare(&d, 1));
	row = find_row(&d, DIFF_COPY, DIFF_COUNT, "HtoD");
	CHECK_EQ_UINT(row->sides[0].nr, 2);
	CHECK_EQ_INT(row->verdict, DIFF_TOO_FEW); /* 0 or 3 times: the number is random */
	diff_fini(&d);
}

TEST(equal_numbers_are_equal_with_any_number_of_runs)
{
	struct diff d = { .nr_runs = { 2, 3 } };

	add_runs(&d, 0, "gemm", 1000, 10);
	add_runs(&d, 1, "gemm", 1000, 10);
	CHECK_OK(diff_compare(&d, 1));
	CHECK_EQ_INT(find_row(&d, DIFF_KERNEL, DIFF_COUNT, "gemm")->verdict, DIFF_EQUAL);
	CHECK_EQ_INT(state_of(&d, "kernel.count:gemm > 0%", NULL), GATE_PASSED);
	diff_fini(&d);
}

TEST(wrong_conditions_are_refused_with_a_reason)
{
	static const char *const wrong[] = { "gemm > 5%",     "kernel:gemm > five",
					     "thread:x > 5%", "kernel.busy:x > 5%",
					     "median > 5%",   "run:all > 5%",
					     " ; ",	      "kernel:x 5%",
					     "wall > " };
	char error[GATE_ERROR_SIZE];
	struct gate *gate;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ_INT(gate_parse(wrong[i], &gate, error), -EINVAL);
		CHECK_NULL(gate);
		CHECK_STR_HAS(error, "is no condition");
	}
	CHECK_EQ_INT(gate_parse("kernel:( > 5%", &gate, error), -EINVAL);
	CHECK_STR_HAS(error, "no regular expression");
}

static int compare_once(void)
{
	struct diff d = { .nr_runs = { 3, 3 } };
	char error[GATE_ERROR_SIZE];
	struct gate *gate = NULL;
	int ret = gate_parse("kernel:gemm > 5%; wall > 5%", &gate, error);
	const int64_t values[] = { 1, 2, 3, 4, 5 };

	for (int side = 0; side < 2 && !ret; side++)
		ret = diff_add(&d, side, DIFF_KERNEL, DIFF_MEDIAN, "gemm", values + side, 3);
	for (int side = 0; side < 2 && !ret; side++)
		ret = diff_add(&d, side, DIFF_RUN, DIFF_WALL, "all", values + side, 2);
	if (!ret)
		ret = diff_compare(&d, 1);
	if (!ret)
		ret = gate_check(gate, &d);
	gate_free(gate);
	diff_fini(&d);
	return ret;
}

TEST(each_failed_allocation_is_an_error)
{
	uint64_t n = 1;

	for (;; n++) {
		int ret;

		alloc_fail_at(n);
		ret = compare_once();
		if (ret == 0)
			break;
		CHECK_EQ_INT(ret, -ENOMEM);
		CHECK_LT_UINT(n, 1000);
	}
	alloc_fail_at(0);
	CHECK_GT_UINT(n, 10);
}
