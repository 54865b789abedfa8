/* SPDX-License-Identifier: MIT */
/* created.c - librocprofiler-sdk: counters that tools make of others, by an expression
 *
 * A created counter is one more metric of its GPU: the GPU's list is replaced by one that has it.
 * Lists and texts are never freed: sets of counters may use them.
 *
 * Owns:     the texts.
 * Threads:  any; one creates at a time.
 */
#define LOG_TOPIC "rocprofiler-sdk"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "count.h"
#include "counter/reduce.h"

#if ROCPROFILER_SDK_ABI > 0

#define NAME_MAX_SIZE 128u
#define TEXT_MAX 65536u

/* ---- creating -------------------------------------------------------------------------------- */

/* The GPU's list with one more metric. NULL: no memory. */
static struct counter_gpu *with_metric(const struct counter_gpu *gpu,
				       const struct counter_derived *d)
{
	struct counter_gpu *more = alloc_heap(sizeof(*more));
	struct counter_derived *all = alloc_zero(gpu->nr_deriveds + 1, sizeof(*all));

	if (!more || !all) {
		alloc_free(more);
		alloc_free(all);
		return NULL;
	}
	if (gpu->nr_deriveds)
		memcpy(all, gpu->deriveds, gpu->nr_deriveds * sizeof(*all));
	all[gpu->nr_deriveds] = *d;
	*more = *gpu;
	more->deriveds = all;
	more->nr_deriveds++;
	return more;
}

static bool can_be_counted(const struct counter_gpu *gpu, const char *name)
{
	struct metric_events events = { 0 };
	char error[METRIC_ERROR_SIZE];
	bool good = metric_add_events(gpu, name, &events, error);

	if (!good)
		log_info("rocprofiler_create_counter(): %s: %s", name, error);
	metric_events_free(&events);
	return good;
}

struct creating {
	struct counting_gpu *gpu;
	const char *expression; /* as it was given */
	struct counter_derived derived;
	rocprofiler_counter_id_t *id;
};

static rocprofiler_status_t create(void *arg)
{
	struct creating *k = arg;
	const struct counter_gpu *gpu = counters_list(k->gpu);
	char error[METRIC_ERROR_SIZE];
	struct counter_gpu *more;
	struct metric m;

	k->derived.expression = reduce_translate(gpu, k->expression);
	if (!k->derived.expression || metric_find(gpu, k->derived.name, &m, error))
		return ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED;
	more = with_metric(gpu, &k->derived);
	if (!more)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	if (!can_be_counted(more, k->derived.name)) {
		alloc_free((void *)(uintptr_t)more->deriveds);
		alloc_free(more);
		return ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED;
	}
	if (counters_add(k->gpu, more, k->derived.name, k->id))
		return ROCPROFILER_STATUS_SUCCESS;
	alloc_free((void *)(uintptr_t)more->deriveds);
	alloc_free(more);
	return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return n && n < NAME_MAX_SIZE && !isdigit((unsigned char)name[0]);
}

EXPORT rocprofiler_status_t rocprofiler_create_counter(const char *name, size_t name_len,
						       const char *expr, size_t expr_len,
						       const char *description,
						       size_t description_len,
						       rocprofiler_agent_id_t agent,
						       rocprofiler_counter_id_t *counter_id)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	struct creating k = { .id = counter_id };
	char *own_name, *given, *own_description;
	bool known;

	if (!name || !expr || !counter_id || !name_len || !expr_len || expr_len > TEXT_MAX ||
	    (description_len && !description))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	k.gpu = counters_of(agent, &known);
	if (!k.gpu)
		return known ? ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED :
			       ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
	own_name = alloc_string_n(name, name_len);
	given = alloc_string_n(expr, expr_len);
	own_description = alloc_string_n(description ? description : "", description_len);
	if (own_name && given && own_description) {
		k.expression = given;
		k.derived = (struct counter_derived){ own_name, NULL, own_description, "",
						      EXPRESSION_ORDINARY };
		status = is_name(own_name) ? counters_change(create, &k) :
					     ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED;
	}
	alloc_free(given);
	if (status == ROCPROFILER_STATUS_SUCCESS)
		return status;
	alloc_free(own_name);
	alloc_free(own_description);
	alloc_free((void *)(uintptr_t)k.derived.expression);
	return status;
}

#endif
