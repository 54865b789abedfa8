/* SPDX-License-Identifier: MIT */
/* reduce.c - rocprofiler-sdk's expressions as those of expression.h */
#include "counter/reduce.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/metric.h"

#define NAME_MAX_SIZE 128u

struct text {
	const char *from;
	char *to;
	size_t at, size;
};

/* Puts what a function of rocprofiler-sdk is, from its bracket on. False: it is of another form. */
typedef bool (*put_fn)(const struct counter_gpu *gpu, struct text *t);

static size_t name_size(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static bool put(struct text *t, const char *s, size_t n)
{
	if (t->at + n + 1 > t->size)
		return false;
	memcpy(t->to + t->at, s, n);
	t->at += n;
	t->to[t->at] = 0;
	return true;
}

static void skip_blanks(struct text *t)
{
	t->from += strspn(t->from, " \t\n");
}

/* A name; false: there is none. */
static bool take_name(struct text *t, char name[NAME_MAX_SIZE])
{
	size_t n;

	skip_blanks(t);
	n = name_size(t->from);
	if (n >= NAME_MAX_SIZE)
		return false;
	memcpy(name, t->from, n);
	name[n] = 0;
	t->from += n;
	return n > 0;
}

static bool take(struct text *t, char c)
{
	skip_blanks(t);
	if (*t->from != c)
		return false;
	t->from++;
	return true;
}

/* The function of expression.h; NULL: there is none. */
static const char *function_of(const char *how)
{
	static const char *const functions[][2] = { { "sum", "sum" },
						    { "avr", "avr" },
						    { "avg", "avr" },
						    { "min", "min" },
						    { "max", "max" } };

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(how, functions[i][0]) == 0)
			return functions[i][1];
	return NULL;
}

/* A number in brackets: [3]. */
static bool take_index(struct text *t, unsigned int *index)
{
	char digits[NAME_MAX_SIZE], *end;

	if (!take(t, '[') || !take_name(t, digits) || !take(t, ']'))
		return false;
	*index = (unsigned int)strtoul(digits, &end, 10);
	return !*end;
}

/* Behind "select": (NAME,[DIMENSION_XCC=[0],DIMENSION_INSTANCE=[3]]) becomes NAME[3]. An index of
 * rtl's is of all dies: only the first of a GPU's one die is selected. */
static bool put_selected(const struct counter_gpu *gpu, struct text *t)
{
	char name[NAME_MAX_SIZE], dimension[NAME_MAX_SIZE], error[METRIC_ERROR_SIZE];
	char whole[2 * NAME_MAX_SIZE + 16];
	unsigned int index, instance = 0;
	bool has_instance = false;
	struct metric m;
	int n;

	if (!take(t, '(') || !take_name(t, name) || !take(t, ',') || !take(t, '['))
		return false;
	do {
		if (!take_name(t, dimension) || !take(t, '=') || !take_index(t, &index))
			return false;
		if (strcmp(dimension, "DIMENSION_INSTANCE") == 0) {
			has_instance = true;
			instance = index;
		} else if (strcmp(dimension, "DIMENSION_XCC") != 0 || index ||
			   strncmp(gpu->name, "gfx94", 5) == 0 ||
			   strncmp(gpu->name, "gfx95", 5) == 0) {
			return false;
		}
	} while (take(t, ','));
	if (!take(t, ']') || !take(t, ')') || !has_instance || !metric_find(gpu, name, &m, error) ||
	    m.kind != METRIC_BASIC || instance >= m.block->instances)
		return false;
	n = snprintf(whole, sizeof(whole), "%s[%u]", name, instance);
	return put(t, whole, (size_t)n);
}

/* Behind "accumulate": (NAME,HIGH_RES) becomes the counter that counts what the one before it
 * counts, behind NAME. */
static bool put_accumulated(const struct counter_gpu *gpu, struct text *t)
{
	char name[NAME_MAX_SIZE], how[NAME_MAX_SIZE], error[METRIC_ERROR_SIZE];
	char whole[2 * NAME_MAX_SIZE + 16];
	const char *counter;
	struct metric m;
	int n;

	if (!take(t, '(') || !take_name(t, name) || !take(t, ',') || !take_name(t, how) ||
	    !take(t, ')') || !metric_find(gpu, name, &m, error) || m.kind != METRIC_BASIC)
		return false;
	counter = strcmp(how, "HIGH_RES") == 0 ? "SQ_ACCUM_PREV_HIRES" :
		  strcmp(how, "LOW_RES") == 0  ? "SQ_ACCUM_PREV" :
						 NULL;
	if (strcmp(how, "NONE") == 0)
		n = snprintf(whole, sizeof(whole), "(%s)", name);
	else if (counter && strcmp(m.block->name, "SQ") == 0 &&
		 metric_find(gpu, counter, &m, error))
		n = snprintf(whole, sizeof(whole), "(%s*0+%s)", name, counter);
	else
		return false;
	return put(t, whole, (size_t)n);
}

/* Behind "reduce": (NAME,sum) becomes sum(NAME,N), N being the instances of the counter's block. Of
 * one of the functions above it is what that one is. */
static bool put_reduced(const struct counter_gpu *gpu, struct text *t)
{
	char name[NAME_MAX_SIZE], how[NAME_MAX_SIZE], error[METRIC_ERROR_SIZE];
	char whole[2 * NAME_MAX_SIZE + 16];
	put_fn inner = NULL;
	struct metric m;
	int n;

	if (!take(t, '(') || !take_name(t, name))
		return false;
	if (strcmp(name, "select") == 0)
		inner = put_selected;
	else if (strcmp(name, "accumulate") == 0)
		inner = put_accumulated;
	if ((inner && !inner(gpu, t)) || !take(t, ',') || !take_name(t, how) || !take(t, ')') ||
	    !function_of(how))
		return false;
	if (inner)
		return true;
	if (metric_find(gpu, name, &m, error) && m.kind == METRIC_BASIC)
		n = snprintf(whole, sizeof(whole), "%s(%s,%u)", function_of(how), name,
			     m.block->instances);
	else
		n = snprintf(whole, sizeof(whole), "(%s)", name);
	return put(t, whole, (size_t)n);
}

/* NULL: the name is no function's. */
static put_fn function_named(const char *name, size_t n)
{
	static const struct {
		const char *name;
		put_fn put;
	} functions[] = { { "reduce", put_reduced },
			  { "select", put_selected },
			  { "accumulate", put_accumulated } };

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == n && memcmp(functions[i].name, name, n) == 0)
			return functions[i].put;
	return NULL;
}

char *reduce_translate(const struct counter_gpu *gpu, const char *expression)
{
	size_t size = strlen(expression) * 8 + 2 * NAME_MAX_SIZE;
	struct text t = { .from = expression, .to = alloc_zero(1, size), .size = size };
	bool good = t.to != NULL;

	while (good && *t.from) {
		size_t n = name_size(t.from);

		put_fn function = function_named(t.from, n);

		if (function) {
			t.from += n;
			good = function(gpu, &t);
			continue;
		}
		n = n ? n : 1;
		good = put(&t, t.from, n);
		t.from += n;
	}
	if (good)
		return t.to;
	alloc_free(t.to);
	return NULL;
}
