/* SPDX-License-Identifier: MIT */
/* definitions.c - librocprofiler-sdk: definitions of counters instead of ours, or beside them: a
 * tool's text, a file of the user's
 *
 * Both are read when the first list of a GPU is made; what is not understood is warned of, and goes
 * without effect. AMD's library ends the process then.
 *
 * Owns:     the text, and what was read, which is never freed: lists point into it.
 * Threads:  any.
 */
#define LOG_TOPIC "rocprofiler-sdk"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <rocprofiler-sdk/experimental/counters.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "base/log.h"
#include "count.h"
#include "counter/metrics_yaml.h"

struct agents_list {
	struct agents_list *next;
	const struct counter_gpu *gpu;
	char agent[64];
};

GUARDED_LOCK(lock, LOCK_SDK_DEFINITIONS);
static char *given RTL_GUARDED_BY(lock);
static bool appends RTL_GUARDED_BY(lock), is_loaded RTL_GUARDED_BY(lock);
static struct agents_list *made RTL_GUARDED_BY(lock);

/* ---- the tool's text ------------------------------------------------------------------------- */

#if ROCPROFILER_SDK_ABI > 0
EXPORT rocprofiler_status_t rocprofiler_load_counter_definition(const char *yaml, size_t size,
								rocprofiler_counter_flag_t flags)
{
	char *text, *other;
	bool late;

	if (!yaml && size)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	/* an empty one takes an earlier one back */
	text = size ? alloc_string_n(yaml, size) : NULL;
	if (size && !text)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	lock_take(&lock);
	late = is_loaded;
	other = late ? text : given;
	if (!late) {
		given = text;
		appends = flags == ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION;
	}
	lock_drop(&lock);
	alloc_free(other);
	return late ? ROCPROFILER_STATUS_ERROR : ROCPROFILER_STATUS_SUCCESS;
}
#endif

/* ---- the user's file ------------------------------------------------------------------------- */

/* The text of the file, to be freed. NULL: there is none. */
static char *read_file(char path[METRICS_YAML_PATH_SIZE])
{
	const char *folders = getenv("ROCPROFILER_METRICS_PATH");
	char error[METRICS_FILE_ERROR_SIZE];
	char *text;

	if (!folders || !*folders || getauxval(AT_SECURE))
		return NULL;
	if (!metrics_yaml_find(folders, path)) {
		log_info("ROCPROFILER_METRICS_PATH: %s: no config.yaml and no counter_defs.yaml",
			 folders);
		return NULL;
	}
	text = metrics_yaml_read(path, error);
	if (!text)
		log_warn("ROCPROFILER_METRICS_PATH: %s", error);
	return text;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct counter_gpu *parse(const struct metrics_text *texts, uint32_t nr,
				       const char *agent, enum metrics_file_use use)
{
	char error[METRICS_FILE_ERROR_SIZE];
	struct metrics_file *f = metrics_yaml_parse(texts, nr, agent, use, error);
	const struct counter_gpu *gpu = f ? metrics_file_gpu(f, agent, use, error) : NULL;

	if (gpu)
		return gpu;
	log_warn("definitions of counters: %s", error);
	metrics_file_close(f);
	return NULL;
}

RTL_REQUIRES(lock) static const struct counter_gpu *make(const char *agent)
{
	char path[METRICS_YAML_PATH_SIZE];
	char *file = given && !appends ? NULL : read_file(path);
	/* what comes first counts */
	const struct metrics_text texts[] = { { "rocprofiler_load_counter_definition()", given },
					      { path, file } };
	bool has_given = given != NULL, has_file = file != NULL;
	enum metrics_file_use use = has_file || (has_given && !appends) ? METRICS_FILE_ALONE :
									  METRICS_FILE_EXTENDS;
	const struct counter_gpu *gpu = NULL;

	if (has_given || has_file)
		gpu = parse(&texts[!has_given], (uint32_t)has_given + has_file, agent, use);
	if (!gpu && has_given && has_file)
		gpu = parse(&texts[1], 1, agent, METRICS_FILE_ALONE);
	alloc_free(file);
	return gpu;
}

RTL_REQUIRES(lock)
static const struct counter_gpu *get(const char *agent, const struct counter_gpu *shipped)
{
	struct agents_list *l = made;

	while (l && strcmp(l->agent, agent) != 0)
		l = l->next;
	if (l)
		return l->gpu;
	l = alloc_zero(1, sizeof(*l));
	if (!l)
		return shipped;
	l->gpu = make(agent);
	if (!l->gpu)
		l->gpu = shipped;
	snprintf(l->agent, sizeof(l->agent), "%s", agent);
	l->next = made;
	made = l;
	return l->gpu;
}

const struct counter_gpu *definitions_of(const char *agent)
{
	const struct counter_gpu *shipped = gpus_find(agent), *gpu;

	lock_take(&lock);
	is_loaded = true;
	gpu = shipped ? get(agent, shipped) : NULL;
	lock_drop(&lock);
	return gpu;
}
