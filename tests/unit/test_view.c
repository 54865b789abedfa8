/* SPDX-License-Identifier: MIT */
/* test_view.c - sets of metrics with the most that a GPU can do */
#include "counter/view.h"

#include <stdio.h>
#include <string.h>

#include "counter/plan.h"
#include "support/test.h"

/* 1000 ns, 10 CUs of 64 lanes at 1000 MHz: 640 Gop/s; 100 GB/s; the metrics as given. */
struct values {
	double ops, kib, dram_gbs;
};

static bool value_of(const char *name, int32_t index, void *arg, double *value)
{
	const struct values *v = arg;
	const struct {
		const char *name;
		double value;
	} all[] = { { "TIME_NS", 1000 },	 { "CU_NUM", 10 },
		    { "CLOCK_MHZ", 1000 },	 { "LANES", 64 },
		    { "DRAM_GBS", v->dram_gbs }, { "SQ_THREAD_CYCLES_VALU", v->ops },
		    { "FETCH_SIZE", v->kib },	 { "WRITE_SIZE", 0 } };

	(void)index;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(name, all[i].name) == 0) {
			*value = all[i].value;
			return true;
		}
	return false;
}

static const struct counter_view_row *find(const char *view, const char *name)
{
	for (uint32_t i = 0; i < counter_nr_view_rows; i++)
		if (strcmp(counter_view_rows[i].view, view) == 0 &&
		    strcmp(counter_view_rows[i].name, name) == 0)
			return &counter_view_rows[i];
	return NULL;
}

static bool is(double a, double b)
{
	return a >= b - 1e-9 && a <= b + 1e-9;
}

TEST(roof_is_the_lower_one_of_computing_and_memory)
{
	const struct counter_view_row *ops = find("roofline", "ops");
	struct values v = { 1024, 1, 100 }; /* an operation for each byte */
	double value = 0, peak = 0;

	CHECK(ops && view_value(ops, value_of, &v, &value) && is(value, 1.024));
	CHECK(ops && view_peak(ops, value_of, &v, &peak) && is(peak, 100));
	v.ops = 102400; /* a hundred */
	CHECK(ops && view_peak(ops, value_of, &v, &peak) && is(peak, 640));
	v.dram_gbs = 0; /* not known: it is no limit */
	CHECK(ops && view_peak(ops, value_of, &v, &peak) && is(peak, 640));
}

TEST(what_is_not_known_has_no_value_and_no_peak)
{
	const struct counter_view_row *fp32 = find("roofline", "fp32"),
				      *dram = find("roofline", "dram");
	struct values v = { 1, 1, 0 };
	double value;

	CHECK(fp32 && !view_value(fp32, value_of, &v, &value));
	CHECK(dram && view_value(dram, value_of, &v, &value) && is(value, 1.024));
	CHECK(dram && !view_peak(dram, value_of, &v, &value));
}

TEST(each_gpu_has_counters_for_each_view)
{
	static const char *const views[] = { "compute", "memory", "roofline" };
	const char *names[64];

	for (uint32_t g = 0; g < counter_nr_gpus; g++)
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			char error[METRIC_ERROR_SIZE];
			struct plan plan = { 0 };
			uint32_t nr = view_metrics(&counter_gpus[g], views[i], names, 64);

			if (!plan_make(&counter_gpus[g], names, nr, &plan, error))
				fprintf(stderr, "%s %s: %s\n", counter_gpus[g].name, views[i],
					error);
			/* gfx10.3 and gfx11 count neither writes to memory nor, gfx11, busy
			 * units */
			if (!(nr && plan.nr))
				CHECK(strncmp(counter_gpus[g].name, "gfx1", 4) == 0 &&
				      strcmp(views[i], "memory") != 0);
			plan_free(&plan);
			CHECK(view_peaks(counter_gpus[g].name));
		}
	CHECK(view_exists("roofline") && !view_exists("SQ_WAVES"));
	CHECK(!view_peaks("gfx1250"));
}
