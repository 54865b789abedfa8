/* SPDX-License-Identifier: MIT */
/* fuzz_counter.c - any text as an expression of a metric, as a counter's name, and as a set of
 * names
 *
 * The first byte chooses the GPU and the rules of the expression.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counter/expression.h"
#include "counter/plan.h"

#define NAMES_MAX 6u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool value_of(const char *name, int32_t index, void *arg, double *value)
{
	(void)arg;
	*value = (double)strlen(name) + index;
	return name[0] != 'x';
}

static bool any_name(const char *name, int32_t index, void *arg)
{
	*(size_t *)arg += strlen(name) + (size_t)(index + 1);
	return true;
}

static void as_expression(const char *text, enum expression_rules rules)
{
	char error[EXPRESSION_ERROR_SIZE];
	struct expression *e = expression_parse(text, rules, error);
	double value;
	size_t sum = 0;

	if (!e && !error[0])
		abort();
	if (!e)
		return;
	expression_names(e, any_name, &sum);
	expression_value(e, value_of, NULL, &value);
	expression_free(e);
}

/* Blanks separate the names. */
static void as_names(const struct counter_gpu *gpu, char *text)
{
	const char *names[NAMES_MAX];
	char error[METRIC_ERROR_SIZE], *rest;
	struct plan plan;
	uint32_t nr = 0;

	for (char *name = strtok_r(text, " ", &rest); name && nr < NAMES_MAX;
	     name = strtok_r(NULL, " ", &rest))
		names[nr++] = name;
	if (!plan_make(gpu, names, nr, &plan, error)) {
		if (!error[0])
			abort();
		return;
	}
	plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[0] : 0;
	char *text = strndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0);

	if (!text)
		return 0;
	as_expression(text, how & 1 ? EXPRESSION_V1 : EXPRESSION_ORDINARY);
	as_names(&counter_gpus[(how >> 1) % counter_nr_gpus], text);
	free(text);
	return 0;
}
