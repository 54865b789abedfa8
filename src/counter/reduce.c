/* SPDX-License-Identifier: MIT */
/* reduce.c - rocprofiler-sdk's expressions as those of expression.h */
#include "counter/reduce.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/metric.h"

#define NAME_MAX_SIZE 128u

struct text {
	const char *from;
	char *to;
	size_t at, size;
};

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

/* Behind "reduce": (NAME,sum) becomes sum(NAME,N), N being the instances of the counter's block. */
static bool put_reduced(const struct counter_gpu *gpu, struct text *t)
{
	char name[NAME_MAX_SIZE], how[NAME_MAX_SIZE], error[METRIC_ERROR_SIZE];
	char whole[2 * NAME_MAX_SIZE + 16];
	struct metric m;
	int n;

	if (!take(t, '(') || !take_name(t, name) || !take(t, ',') || !take_name(t, how) ||
	    !take(t, ')') || !function_of(how))
		return false;
	if (metric_find(gpu, name, &m, error) && m.kind == METRIC_BASIC)
		n = snprintf(whole, sizeof(whole), "%s(%s,%u)", function_of(how), name,
			     m.block->instances);
	else
		n = snprintf(whole, sizeof(whole), "(%s)", name);
	return put(t, whole, (size_t)n);
}

char *reduce_translate(const struct counter_gpu *gpu, const char *expression)
{
	size_t size = strlen(expression) * 4 + 2 * NAME_MAX_SIZE;
	struct text t = { .from = expression, .to = alloc_zero(1, size), .size = size };
	bool good = t.to != NULL;

	while (good && *t.from) {
		size_t n = name_size(t.from);

		if (n == 6 && memcmp(t.from, "reduce", n) == 0) {
			t.from += n;
			good = put_reduced(gpu, &t);
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
