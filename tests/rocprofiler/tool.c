/* SPDX-License-Identifier: MIT */
/* tool.c - a tool plug-in of rocprofiler (ROCP_TOOL_LIB): counts each dispatch of a program that
 * knows nothing of it
 *
 * Built several times: TOOL_PLAIN has OnLoadTool() beside OnLoadToolProp(), TOOL_BROKEN lacks
 * OnUnloadTool(), TOOL_NONE both functions that load it.
 * TOOL_NAMES are the features, SQ_WAVES,VALUInsts,GRBM_GUI_ACTIVE if it is not set: sets of them
 * have a ; between. So many dispatches as TOOL_ROUND are counted with a set, then as many with the
 * next. TT is a thread trace, whose value is the number of its instances. Writes what it has seen
 * to the file TOOL_OUTPUT, a line for each kernel and HSA event, when it ends.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rocprofiler/rocprofiler.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX (1 << 17)

#define MAX_FEATURES 128
#define MAX_SETS 16

struct set {
	const char *names[MAX_FEATURES];
	uint32_t nr;
};

struct entry {
	rocprofiler_feature_t *features;
	const struct set *set;
	rocprofiler_dispatch_record_t *record;
	char kernel[128];
	uint32_t agent, queue, thread;
	_Atomic bool is_done;
};

static struct entry *entries[MAX];
static _Atomic int nr_entries, nr_events[6], nr_wrong;
static const char *loaded_by = "nothing";
static rocprofiler_settings_t given;
static uint32_t nr_metrics;
static struct set sets[MAX_SETS];
static int nr_sets, per_round = 1;

static bool on_complete(rocprofiler_group_t group, void *arg)
{
	struct entry *e = arg;

	nr_wrong += rocprofiler_group_get_data(&group) != HSA_STATUS_SUCCESS;
	nr_wrong += rocprofiler_get_metrics(group.context) != HSA_STATUS_SUCCESS;
	nr_wrong += e->record && !(e->record->begin < e->record->end);
	nr_wrong += rocprofiler_close(group.context) != HSA_STATUS_SUCCESS;
	e->is_done = true;
	return false;
}

static void as_trace(rocprofiler_feature_t *f)
{
	static rocprofiler_parameter_t unit = {
		.parameter_name = HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET
	};

	f->kind = ROCPROFILER_FEATURE_KIND_TRACE;
	f->parameters = &unit;
	f->parameter_count = 1;
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
				rocprofiler_group_t *group)
{
	struct entry *e = calloc(1, sizeof(*e));
	rocprofiler_properties_t properties = { .handler = on_complete, .handler_arg = e };
	rocprofiler_t *context = NULL;
	int i = nr_entries++;

	(void)arg;
	if (!e || i >= MAX)
		return HSA_STATUS_ERROR;
	e->set = &sets[i / per_round % nr_sets];
	e->features = calloc(e->set->nr, sizeof(*e->features));
	for (uint32_t k = 0; k < e->set->nr; k++) {
		e->features[k].name = e->set->names[k];
		if (strcmp(e->set->names[k], "TT") == 0)
			as_trace(&e->features[k]);
	}
	snprintf(e->kernel, sizeof(e->kernel), "%s",
		 data->kernel_name ? data->kernel_name : "none");
	e->agent = data->agent_index;
	e->queue = data->queue_id;
	e->thread = data->thread_id;
	e->record = (rocprofiler_dispatch_record_t *)(uintptr_t)data->record;
	entries[i] = e;
	if (rocprofiler_open(data->agent, e->features, e->set->nr, &context, 0, &properties) !=
	    HSA_STATUS_SUCCESS)
		return HSA_STATUS_ERROR;
	return rocprofiler_get_group(context, 0, group);
}

static hsa_status_t on_hsa(rocprofiler_hsa_cb_id_t id, const rocprofiler_hsa_callback_data_t *data,
			   void *arg)
{
	nr_wrong += arg != nr_events || !data;
	nr_events[id]++;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t count(const rocprofiler_info_data_t info, void *data)
{
	(void)info;
	++*(uint32_t *)data;
	return HSA_STATUS_SUCCESS;
}

static void read_sets(void)
{
	const char *wanted = getenv("TOOL_NAMES"), *round = getenv("TOOL_ROUND");
	char *rest = strdup(wanted ? wanted : "SQ_WAVES,VALUInsts,GRBM_GUI_ACTIVE"), *set, *name;

	while ((set = strsep(&rest, ";")) != NULL && nr_sets < MAX_SETS) {
		struct set *to = &sets[nr_sets++];

		while ((name = strsep(&set, ",")) != NULL && to->nr < MAX_FEATURES)
			to->names[to->nr++] = name;
	}
	if (round)
		per_round = (int)strtol(round, NULL, 10);
}

static void load(void)
{
	const rocprofiler_queue_callbacks_t callbacks = { .dispatch = on_dispatch };
	const rocprofiler_hsa_callbacks_t hsa = { on_hsa, on_hsa, on_hsa, on_hsa, on_hsa, on_hsa };

	read_sets();
	nr_wrong += rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC, count,
					     &nr_metrics) != HSA_STATUS_SUCCESS;
	nr_wrong += rocprofiler_set_queue_callbacks(callbacks, NULL) != HSA_STATUS_SUCCESS;
	nr_wrong += rocprofiler_set_hsa_callbacks(hsa, nr_events) != HSA_STATUS_SUCCESS;
}

#ifdef TOOL_NONE
void not_exported(rocprofiler_settings_t *settings);
__attribute__((visibility("hidden"))) void not_exported(rocprofiler_settings_t *settings)
#else
EXPORT void OnLoadToolProp(rocprofiler_settings_t *settings)
#endif
{
	loaded_by = "OnLoadToolProp";
	given = *settings;
	settings->timestamp_on = 1;
	settings->hsa_intercepting = getenv("TOOL_HSA") != NULL;
	settings->memcopy_tracking = getenv("TOOL_COPIES") != NULL;
	settings->opt_mode = getenv("TOOL_OPT") != NULL;
	settings->k_concurrent = getenv("TOOL_CONCURRENT") != NULL;
	if (getenv("TOOL_TRACE_SIZE"))
		settings->trace_size = (uint32_t)strtoul(getenv("TOOL_TRACE_SIZE"), NULL, 10);
	if (getenv("TOOL_TRACE_HOST"))
		settings->trace_local = 0;
	load();
}

#ifdef TOOL_PLAIN
EXPORT void OnLoadTool(void)
{
	loaded_by = "OnLoadTool";
	load();
}
#endif

static double value_of(const rocprofiler_data_t *d)
{
	if (d->kind == ROCPROFILER_DATA_KIND_BYTES)
		return d->result_bytes.instance_count;
	return d->kind == ROCPROFILER_DATA_KIND_INT64 ? (double)d->result_int64 : d->result_double;
}

static void write_output(void)
{
	const char *path = getenv("TOOL_OUTPUT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "loaded by %s metrics %d wrong %d\n", loaded_by, nr_metrics > 0, nr_wrong);
	fprintf(f, "settings %u %u %u %u %u %d %u %u %u %u\n", given.intercept_mode,
		given.code_obj_tracking, given.memcopy_tracking, given.trace_size,
		given.trace_local, given.timeout == UINT64_MAX, given.timestamp_on,
		given.hsa_intercepting, given.k_concurrent, given.opt_mode);
	fprintf(f, "events %d %d %d %d %d %d\n", nr_events[0], nr_events[1], nr_events[2],
		nr_events[3], nr_events[4], nr_events[5]);
	for (int i = 0; i < nr_entries && i < MAX; i++) {
		const struct entry *e = entries[i];

		fprintf(f, "dispatch\t%d\t%u\t%u\t%d\t%llu\t%llu\t%s", e->is_done, e->agent,
			e->queue, e->thread != 0,
			(unsigned long long)(e->record ? e->record->begin : 0),
			(unsigned long long)(e->record ? e->record->end : 0), e->kernel);
		for (uint32_t k = 0; k < e->set->nr; k++)
			fprintf(f, "\t%s=%.17g", e->set->names[k], value_of(&e->features[k].data));
		fputc('\n', f);
	}
	fclose(f);
}

/* HIP's programs end without hsa_shut_down(): tools have a destructor. */
__attribute__((destructor)) static void end(void)
{
	for (int i = 0, ms = 0; i < nr_entries && ms < 5000; ms++) {
		while (i < nr_entries && entries[i]->is_done)
			i++;
		if (i < nr_entries)
			usleep(1000);
	}
	write_output();
}

#ifndef TOOL_BROKEN
EXPORT void OnUnloadTool(void)
{
	nr_wrong += rocprofiler_remove_queue_callbacks() != HSA_STATUS_SUCCESS;
}
#endif
