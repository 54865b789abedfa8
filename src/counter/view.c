/* SPDX-License-Identifier: MIT */
/* view.c - sets of metrics that answer a question about a kernel, each with the most that a GPU can
 * do */
#include "counter/view.h"

#include <string.h>

#include "counter/metric.h"

#define PART_SIZE 256u

bool view_exists(const char *view)
{
	for (uint32_t i = 0; i < counter_nr_view_rows; i++)
		if (strcmp(counter_view_rows[i].view, view) == 0)
			return true;
	return false;
}

const struct counter_peaks *view_peaks(const char *gpu)
{
	for (uint32_t i = 0; i < counter_nr_peaks; i++)
		if (strcmp(counter_all_peaks[i].gpu, gpu) == 0)
			return &counter_all_peaks[i];
	return NULL;
}

static bool evaluate(const char *text, expression_value_fn fn, void *arg, double *value)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *e = expression_parse(text, EXPRESSION_ORDINARY, why);
	bool good = e && expression_value(e, fn, arg, value);

	expression_free(e);
	return good;
}

bool view_value(const struct counter_view_row *row, expression_value_fn fn, void *arg,
		double *value)
{
	return evaluate(row->expression, fn, arg, value);
}

bool view_peak(const struct counter_view_row *row, expression_value_fn fn, void *arg, double *value)
{
	bool has = false;

	for (const char *at = row->peak; *at;) {
		size_t n = strcspn(at, ";");
		char part[PART_SIZE] = "";
		double one;

		memcpy(part, at, n < PART_SIZE ? n : PART_SIZE - 1);
		at += n + (at[n] == ';');
		if (!evaluate(part, fn, arg, &one))
			return false;
		if (one > 0 && (!has || one < *value))
			*value = one;
		has |= one > 0;
	}
	return has;
}

/* ---- the metrics of a view ------------------------------------------------------------------- */

struct found {
	const struct counter_gpu *gpu;
	const char **names;
	uint32_t nr, size;
	bool lacks; /* the row needs what the GPU has not */
};

static bool is_of_kernel(const char *name)
{
	static const char *const all[] = { "TIME_NS", "CLOCK_MHZ", "WAVES_PER_CU", "LANES",
					   "FP16",    "FP32",	   "FP64",	   "DRAM_GBS" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(name, all[i]) == 0)
			return true;
	return false;
}

/* The GPU's own text of the name: the expression's is freed. */
static const char *own_name(const struct counter_gpu *gpu, const char *name)
{
	for (uint32_t i = 0; i < gpu->nr_deriveds; i++)
		if (strcmp(gpu->deriveds[i].name, name) == 0)
			return gpu->deriveds[i].name;
	for (uint32_t i = 0; i < gpu->nr_basics; i++)
		if (strcmp(gpu->basics[i].name, name) == 0)
			return gpu->basics[i].name;
	return NULL;
}

static bool check_name(const char *name, int32_t index, void *arg)
{
	struct found *f = arg;

	(void)index;
	if (!is_of_kernel(name) && strcmp(name, "CU_NUM") != 0 && !own_name(f->gpu, name))
		f->lacks = true;
	return true;
}

static bool add_name(const char *name, int32_t index, void *arg)
{
	struct found *f = arg;
	const char *own = own_name(f->gpu, name);

	(void)index;
	for (uint32_t i = 0; own && i < f->nr; i++)
		if (strcmp(f->names[i], own) == 0)
			own = NULL;
	if (own && f->nr < f->size)
		f->names[f->nr++] = own;
	return true;
}

uint32_t view_metrics(const struct counter_gpu *gpu, const char *view, const char **names,
		      uint32_t size)
{
	struct found f = { .gpu = gpu, .names = names, .size = size };

	for (uint32_t i = 0; i < counter_nr_view_rows; i++) {
		const struct counter_view_row *row = &counter_view_rows[i];
		char why[EXPRESSION_ERROR_SIZE];
		struct expression *e =
			strcmp(row->view, view) == 0 ?
				expression_parse(row->expression, EXPRESSION_ORDINARY, why) :
				NULL;

		if (!e)
			continue;
		f.lacks = false;
		expression_names(e, check_name, &f);
		if (!f.lacks)
			expression_names(e, add_name, &f);
		expression_free(e);
	}
	return f.nr;
}
