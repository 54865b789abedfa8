/* SPDX-License-Identifier: MIT */
/* dictionary.c - counters and metrics by name
 *
 * Threads:  any.
 */
#include "v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "counter/metrics_xml.h"

/* Of ROCP_METRICS, read once. */
GUARDED_LOCK(lock, LOCK_V1_DICTIONARY);
static struct metrics_file *file RTL_GUARDED_BY(lock);
static char file_error[METRICS_FILE_ERROR_SIZE];

RTL_REQUIRES(lock)
static const struct counter_gpu *of_file(const char *path, const char *name, char *error)
{
	const struct counter_gpu *of = NULL;
	char why[METRICS_FILE_ERROR_SIZE];

	if (!file && !file_error[0])
		file = metrics_xml_open(path, EXPRESSION_V1, file_error);
	if (file)
		of = metrics_file_gpu(file, name, METRICS_FILE_ALONE, why);
	if (!of)
		snprintf(error, METRIC_ERROR_SIZE, "ROCP_METRICS: xml error: %.280s",
			 file ? why : file_error);
	return of;
}

const struct counter_gpu *dictionary_get(const struct gpu *gpu, char *error)
{
	const char *path = getenv("ROCP_METRICS");
	const struct counter_gpu *of;

	if (path && *path && !getauxval(AT_SECURE)) {
		lock_take(&lock);
		of = of_file(path, gpu->name, error);
		lock_drop(&lock);
		return of;
	}
	of = gpus_find(gpu->name);
	if (!of)
		snprintf(error, METRIC_ERROR_SIZE, "the counters of %s are not known", gpu->name);
	return of;
}

/* BLOCK:EVENT is of a block with one instance. */
static bool check_raw(const struct metric *m, char *error)
{
	if (m->instance >= 0 || m->block->instances == 1)
		return true;
	snprintf(error, METRIC_ERROR_SIZE,
		 "Malformed indexed metric name '%s': block %s has the instances 0 to %u", m->name,
		 m->block->name, m->block->instances - 1);
	return false;
}

bool dictionary_find(const struct counter_gpu *of, const char *name, struct metric *m, char *error)
{
	char why[METRIC_ERROR_SIZE];
	const char *colon = strchr(name, ':'), *open = strchr(name, '[');

	if (colon && open && open < colon && colon[-1] != ']') {
		snprintf(error, METRIC_ERROR_SIZE, "Malformed metric name '%.200s'", name);
		return false;
	}
	if (metric_find(of, name, m, why)) {
		if (m->kind == METRIC_BASIC)
			m->name = name;
		return !colon || check_raw(m, error);
	}
	snprintf(error, METRIC_ERROR_SIZE, "input metric '%.60s' is not found: %.220s", name, why);
	return false;
}

bool dictionary_constant(const struct gpu *gpu, const char *name, double *value)
{
	const struct {
		const char *name;
		uint32_t value;
	} constants[DICTIONARY_NR_CONSTANTS] = {
		{ "CU_NUM", gpu->units },   { "MAX_WAVE_SIZE", gpu->wave },
		{ "SE_NUM", gpu->engines }, { "SIMD_NUM", gpu->simds },
		{ "XCC_NUM", gpu->dies },
	};

	for (size_t i = 0; i < ARRAY_SIZE(constants); i++) {
		if (strcmp(constants[i].name, name) != 0)
			continue;
		*value = constants[i].value;
		return true;
	}
	return false;
}

void dictionary_event_name(const struct counter_gpu *of, const struct metric_event *e,
			   char name[DICTIONARY_NAME_SIZE])
{
	const struct counter_basic *b = NULL;

	for (uint32_t i = 0; i < of->nr_basics && !b; i++)
		if (of->basics[i].block == e->block && of->basics[i].event == e->event)
			b = &of->basics[i];
	if (b && e->block->instances == 1)
		snprintf(name, DICTIONARY_NAME_SIZE, "%s", b->name);
	else if (b)
		snprintf(name, DICTIONARY_NAME_SIZE, "%s[%u]", b->name, e->instance);
	else
		snprintf(name, DICTIONARY_NAME_SIZE, "%s[%u]:%u", e->block->name, e->instance,
			 e->event);
}
