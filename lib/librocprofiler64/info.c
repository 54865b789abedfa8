/* SPDX-License-Identifier: MIT */
/* info.c - what there is: get_info, iterate_info, query_info; versions
 *
 * Threads:  any.
 */
#include "v1.h"

#include <string.h>

typedef hsa_status_t (*info_fn)(const rocprofiler_info_data_t info, void *data);

EXPORT uint32_t rocprofiler_version_major(void)
{
	return ROCPROFILER_VERSION_MAJOR;
}

EXPORT uint32_t rocprofiler_version_minor(void)
{
	return ROCPROFILER_VERSION_MINOR;
}

EXPORT uint32_t rocprofiler_major_version(void)
{
	return ROCPROFILER_VERSION_MAJOR;
}

EXPORT uint32_t rocprofiler_minor_version(void)
{
	return ROCPROFILER_VERSION_MINOR;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static const char trace_name[] = "TT";

static const struct {
	uint32_t code;
	const char *name, *description;
} parameters[] = {
	{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, "COMPUTE_UNIT_TARGET",
	  "the compute unit whose waves are traced" },
	{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK, "VM_ID_MASK",
	  "the address spaces whose waves are traced" },
	{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK, "MASK", "the SIMD units that are traced" },
	{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, "TOKEN_MASK",
	  "the kinds of tokens that are written" },
	{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK2, "TOKEN_MASK2",
	  "the classes of instructions that are written" },
};

/* ---- one GPU --------------------------------------------------------------------------------- */

struct visit {
	const char *api;
	rocprofiler_info_kind_t kind;
	const rocprofiler_info_data_t *query; /* NULL: everything */
	info_fn fn;
	void *arg;
	uint32_t count; /* instead of fn */
};

static bool is_same(const char *wanted, const char *have)
{
	return !wanted || (have && strcmp(wanted, have) == 0);
}

static bool matches(const rocprofiler_info_data_t *q, const rocprofiler_info_data_t *d)
{
	switch (d->kind) {
	case ROCPROFILER_INFO_KIND_METRIC:
		return is_same(q->metric.name, d->metric.name) &&
		       is_same(q->metric.description, d->metric.description) &&
		       is_same(q->metric.expr, d->metric.expr) &&
		       is_same(q->metric.block_name, d->metric.block_name) &&
		       (!q->metric.instances || q->metric.instances == d->metric.instances) &&
		       (!q->metric.block_counters ||
			q->metric.block_counters == d->metric.block_counters);
	case ROCPROFILER_INFO_KIND_TRACE:
		return is_same(q->trace.name, d->trace.name) &&
		       is_same(q->trace.description, d->trace.description) &&
		       (!q->trace.parameter_count ||
			q->trace.parameter_count == d->trace.parameter_count);
	default:
		/* every code is one, and so is 0: it is not looked at */
		return is_same(q->trace_parameter.trace_name, d->trace_parameter.trace_name) &&
		       is_same(q->trace_parameter.parameter_name,
			       d->trace_parameter.parameter_name) &&
		       is_same(q->trace_parameter.description, d->trace_parameter.description);
	}
}

static hsa_status_t show(struct visit *v, const rocprofiler_info_data_t *d)
{
	if (v->query && !matches(v->query, d))
		return HSA_STATUS_SUCCESS;
	v->count++;
	return v->fn ? v->fn(*d, v->arg) : HSA_STATUS_SUCCESS;
}

static hsa_status_t show_metrics(struct visit *v, const struct gpu *gpu,
				 const struct counter_gpu *of)
{
	rocprofiler_info_data_t d;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	memset(&d, 0, sizeof(d));
	d.agent_index = gpu->index;
	d.kind = ROCPROFILER_INFO_KIND_METRIC;
	for (uint32_t i = 0; i < of->nr_basics && status == HSA_STATUS_SUCCESS; i++) {
		const struct counter_basic *b = &of->basics[i];

		d.metric.name = b->name;
		d.metric.instances = b->block->instances;
		d.metric.description = b->description ? b->description : "";
		d.metric.block_name = b->block->name;
		d.metric.block_counters = b->block->counters;
		status = show(v, &d);
	}
	memset(&d.metric, 0, sizeof(d.metric));
	d.metric.instances = 1;
	for (uint32_t i = 0; i < of->nr_deriveds && status == HSA_STATUS_SUCCESS; i++) {
		const struct counter_derived *m = &of->deriveds[i];

		d.metric.name = m->name;
		d.metric.expr = m->expression;
		d.metric.description = m->description ? m->description : "";
		status = show(v, &d);
	}
	return status;
}

static hsa_status_t show_traces(struct visit *v, const struct gpu *gpu)
{
	rocprofiler_info_data_t d;

	memset(&d, 0, sizeof(d));
	d.agent_index = gpu->index;
	d.kind = ROCPROFILER_INFO_KIND_TRACE;
	d.trace.name = trace_name;
	d.trace.description = "Thread Trace";
	d.trace.parameter_count = ARRAY_SIZE(parameters);
	return show(v, &d);
}

static hsa_status_t show_parameters(struct visit *v, const struct gpu *gpu)
{
	rocprofiler_info_data_t d;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	memset(&d, 0, sizeof(d));
	d.agent_index = gpu->index;
	d.kind = ROCPROFILER_INFO_KIND_TRACE_PARAMETER;
	for (size_t i = 0; i < ARRAY_SIZE(parameters) && status == HSA_STATUS_SUCCESS; i++) {
		d.trace_parameter.code = parameters[i].code;
		d.trace_parameter.trace_name = trace_name;
		d.trace_parameter.parameter_name = parameters[i].name;
		d.trace_parameter.description = parameters[i].description;
		status = show(v, &d);
	}
	return status;
}

static hsa_status_t visit_gpu(struct visit *v, const struct gpu *gpu)
{
	const struct counter_gpu *of;
	char error[METRIC_ERROR_SIZE];

	if (v->kind == ROCPROFILER_INFO_KIND_TRACE)
		return show_traces(v, gpu);
	if (v->kind == ROCPROFILER_INFO_KIND_TRACE_PARAMETER)
		return show_parameters(v, gpu);
	of = dictionary_get(gpu, error);
	if (!of)
		return error_set(HSA_STATUS_ERROR, v->api, "get_metrics", "%s", error);
	return show_metrics(v, gpu, of);
}

/* A GPU, or all of them. */
static hsa_status_t visit(struct visit *v, const hsa_agent_t *agent)
{
	hsa_status_t status = runtime_ready(v->api);
	const struct gpu *gpu;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (agent) {
		gpu = runtime_gpu(*agent);
		if (!gpu)
			return error_set(HSA_STATUS_ERROR, v->api, "get_agent",
					 "agent is not found: handle 0x%llx is no GPU",
					 (unsigned long long)agent->handle);
		return visit_gpu(v, gpu);
	}
	for (uint32_t i = 0; i < runtime_nr_gpus() && status == HSA_STATUS_SUCCESS; i++)
		status = visit_gpu(v, runtime_gpu_at(i));
	return status;
}

static hsa_status_t iterate(struct visit *v, const hsa_agent_t *agent)
{
	hsa_status_t status;

	if (v->kind != ROCPROFILER_INFO_KIND_METRIC && v->kind != ROCPROFILER_INFO_KIND_TRACE &&
	    v->kind != ROCPROFILER_INFO_KIND_TRACE_PARAMETER)
		return error_set(HSA_STATUS_ERROR, v->api, "iterate", "unknown info kind(%u)",
				 (unsigned)v->kind);
	status = visit(v, agent);
	return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

/* ---- the functions --------------------------------------------------------------------------- */

/* Instances one by one, and the constants of the GPU. */
static uint32_t count_metrics(const struct counter_gpu *of)
{
	uint32_t n = of->nr_deriveds + DICTIONARY_NR_CONSTANTS;

	for (uint32_t i = 0; i < of->nr_basics; i++)
		n += of->basics[i].block->instances;
	return n;
}

static hsa_status_t add_metrics(const char *api, const struct gpu *gpu, uint32_t *n)
{
	char error[METRIC_ERROR_SIZE];
	const struct counter_gpu *of = dictionary_get(gpu, error);

	if (!of)
		return error_set(HSA_STATUS_ERROR, api, "get_metrics", "%s", error);
	*n += count_metrics(of);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_metric_count(const char *api, const hsa_agent_t *agent, uint32_t *n)
{
	hsa_status_t status = runtime_ready(api);
	const struct gpu *gpu = agent && status == HSA_STATUS_SUCCESS ? runtime_gpu(*agent) : NULL;

	*n = 0;
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (gpu)
		return add_metrics(api, gpu, n);
	if (agent)
		return error_set(HSA_STATUS_ERROR, api, "get_agent",
				 "agent is not found: handle 0x%llx is no GPU",
				 (unsigned long long)agent->handle);
	for (uint32_t i = 0; i < runtime_nr_gpus() && status == HSA_STATUS_SUCCESS; i++)
		status = add_metrics(api, runtime_gpu_at(i), n);
	return status;
}

EXPORT hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
					 void *data)
{
	struct visit v = { .api = __func__ };
	hsa_status_t status;

	NEED(data);
	switch (kind) {
	case ROCPROFILER_INFO_KIND_METRIC_COUNT:
		return get_metric_count(__func__, agent, data);
	case ROCPROFILER_INFO_KIND_TRACE_COUNT:
		v.kind = ROCPROFILER_INFO_KIND_TRACE;
		break;
	case ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT:
		v.kind = ROCPROFILER_INFO_KIND_TRACE_PARAMETER;
		break;
	default:
		return FAIL("get_info", "unknown info kind(%u)", (unsigned)kind);
	}
	status = visit(&v, agent);
	if (status == HSA_STATUS_SUCCESS)
		*(uint32_t *)data = v.count;
	return status;
}

EXPORT hsa_status_t rocprofiler_iterate_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
					     info_fn callback, void *data)
{
	struct visit v = { .api = __func__, .kind = kind, .fn = callback, .arg = data };
	hsa_status_t status;

	NEED(callback);
	status = iterate(&v, agent);
	/* the callback's status */
	if (status != HSA_STATUS_SUCCESS && v.count)
		error_set(status, __func__, "iterate", "iterate_info error, info kind(%u)",
			  (unsigned)kind);
	return status;
}

EXPORT hsa_status_t rocprofiler_query_info_data(const hsa_agent_t *agent,
						rocprofiler_info_kind_t kind,
						const rocprofiler_info_data_t *query,
						info_fn callback, void *data)
{
	struct visit v = {
		.api = __func__, .kind = kind, .query = query, .fn = callback, .arg = data
	};
	hsa_status_t status;

	NEED(callback);
	status = iterate(&v, agent);
	if (status != HSA_STATUS_SUCCESS && v.count)
		error_set(status, __func__, "iterate", "query_info error, info kind(%u)",
			  (unsigned)kind);
	return status;
}

EXPORT hsa_status_t rocprofiler_query_info(const hsa_agent_t *agent, rocprofiler_info_query_t query,
					   info_fn callback, void *data)
{
	rocprofiler_info_data_t wanted;
	struct visit v = { .api = __func__, .fn = callback, .arg = data };

	NEED(callback);
	memset(&wanted, 0, sizeof(wanted));
	v.kind = ROCPROFILER_INFO_KIND_TRACE_PARAMETER;
	/* no name is at such an address: it is a kind */
	if ((uintptr_t)query.trace_parameter.trace_name <=
	    ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT)
		v.kind = query.info_kind;
	else
		wanted.trace_parameter.trace_name = query.trace_parameter.trace_name;
	v.query = v.kind == ROCPROFILER_INFO_KIND_TRACE_PARAMETER ? &wanted : NULL;
	return iterate(&v, agent);
}
