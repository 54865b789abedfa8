/* SPDX-License-Identifier: MIT */
/* trace.c - features of kind TRACE: thread traces of a context, by AQLprofile
 *
 * All features of the kind are one profile, with their parameters. It belongs to group 0, starts
 * and stops with it, and its data is there after the stop. In a context for intercepted dispatches
 * its packets enclose those of the counters, and its memory is the profile's: a dispatch may be in
 * flight when the context is closed.
 *
 * Threads:  a context is on one thread at a time.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "source/hsa/queue/packet.h"
#include "v1.h"

#define VENDOR_HEADER                                                                              \
	(uint16_t)(HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |                     \
		   1u << HSA_PACKET_HEADER_BARRIER |                                               \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |             \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

/* AQLprofile's command buffer: after a record of sizes, what the GPU says of each shader engine's
 * trace */
#define CONTROL_AT 24u
#define CONTROL_SIZE 32u
#define STATUS_FULL (UINT32_C(1) << 31)

#define PAGE 4096u

struct trace {
	hsa_ven_amd_aqlprofile_profile_t aql;
	hsa_ven_amd_aqlprofile_parameter_t *parameters;
	uint32_t *features, nr; /* by index */
	bool has_data;
	bool is_lent; /* the buffers are the profile's */
	union packet start, stop;
	void *copy; /* in host memory, for features that ask for one */
};

static hsa_ven_amd_aqlprofile_1_00_pfn_t aql;

static const char *aql_error(void)
{
	const char *text = NULL;

	if (!aql.hsa_ven_amd_aqlprofile_error_string ||
	    aql.hsa_ven_amd_aqlprofile_error_string(&text) != HSA_STATUS_SUCCESS || !text)
		return "";
	return text;
}

/* ---- features -------------------------------------------------------------------------------- */

static bool grow(struct trace *t, uint32_t nr_parameters)
{
	uint32_t n = t->aql.parameter_count + nr_parameters;
	void *parameters = alloc_resize(t->parameters, (n + 1), sizeof(*t->parameters));
	void *features;

	if (!parameters)
		return false;
	t->parameters = parameters;
	features = alloc_resize(t->features, (t->nr + 1), sizeof(*t->features));
	if (features)
		t->features = features;
	return features != NULL;
}

hsa_status_t trace_add(struct context *c, uint32_t index, const char *api)
{
	rocprofiler_feature_t *f = &c->features[index];

	if (f->kind & ROCPROFILER_FEATURE_KIND_SPM_MOD)
		return error_set(HSA_STATUS_ERROR, api, "add_trace",
				 "feature %u: streams of counters (SPM_MOD) are not there", index);
	if (f->kind & ROCPROFILER_FEATURE_KIND_PCSMP_MOD)
		return error_set(
			HSA_STATUS_ERROR, api, "add_trace",
			"feature %u: samples of the program counter (PCSMP_MOD) are not there",
			index);
	/* AMD's library ends the process */
	if (!f->parameters && f->parameter_count)
		return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, api, "add_trace",
				 "feature %u: 'parameters' is NULL", index);
	if (!c->trace)
		c->trace = alloc_zero(1, sizeof(*c->trace));
	if (!c->trace || !grow(c->trace, f->parameter_count))
		return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "add_trace", "no memory");
	f->kind = ROCPROFILER_FEATURE_KIND_TRACE;
	for (uint32_t i = 0; i < f->parameter_count; i++)
		c->trace->parameters[c->trace->aql.parameter_count++] = f->parameters[i];
	c->trace->features[c->trace->nr++] = index;
	return HSA_STATUS_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t p, void *data)
{
	hsa_amd_memory_pool_t *found = data;
	uint32_t segment = 0;

	hsa.hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	*found = p;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;

	hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_CPU)
		return HSA_STATUS_SUCCESS;
	return hsa.hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, data);
}

static hsa_status_t allocate_from(hsa_amd_memory_pool_t pool, size_t size, void **memory)
{
	const struct rtl_core *core = link_core();

	/* the runtime's tables are not librtl's: there is no replay either */
	if (!core || core->profile_allocate(pool, size, memory) != HSA_STATUS_SUCCESS)
		return hsa.hsa_amd_memory_pool_allocate(pool, size, 0, memory);
	return HSA_STATUS_SUCCESS;
}

/* Memory of the host, or of the GPU; either can access it. NULL: there is none. */
static void *allocate(const struct gpu *gpu, size_t size, bool is_local)
{
	hsa_amd_memory_pool_t pool = { 0 };
	void *memory = NULL;

	if (is_local)
		hsa.hsa_amd_agent_iterate_memory_pools(gpu->agent, look_at_pool, &pool);
	else
		hsa.hsa_iterate_agents(look_at_agent, &pool);
	size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (!pool.handle || allocate_from(pool, size, &memory) != HSA_STATUS_SUCCESS)
		return NULL;
	if (is_local ||
	    hsa.hsa_amd_agents_allow_access(1, &gpu->agent, NULL, memory) == HSA_STATUS_SUCCESS)
		return memory;
	hsa.hsa_amd_memory_pool_free(memory);
	return NULL;
}

/* ---- the profile ----------------------------------------------------------------------------- */

static bool find_aql(void)
{
	/* asked for a library that is not there, the runtime prints (5.2.3) */
	return dlopen("libhsa-amd-aqlprofile64.so", RTLD_LAZY | RTLD_LOCAL) &&
	       hsa.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1,
							sizeof(aql), &aql) == HSA_STATUS_SUCCESS;
}

static void set_packet(union packet *to, const hsa_ext_amd_aql_pm4_packet_t *from)
{
	memcpy(to, from, sizeof(*to));
	to->header = VENDOR_HEADER;
}

static hsa_status_t refused(const char *api)
{
	return error_set(HSA_STATUS_ERROR, api, "make_trace", "AQLprofile refuses the trace: %s",
			 aql_error());
}

hsa_status_t trace_make(struct context *c, const char *api)
{
	struct trace *t = c->trace;
	struct group *g = &c->groups[0];
	hsa_ext_amd_aql_pm4_packet_t start, stop;

	if (!find_aql())
		return error_set(HSA_STATUS_ERROR, api, "make_trace",
				 "there is no AQLprofile (libhsa-amd-aqlprofile64.so)");
	t->aql.agent = c->gpu->agent;
	t->aql.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
	t->aql.parameters = t->parameters;
	t->aql.output_buffer.size = settings.trace_size;
	if (aql.hsa_ven_amd_aqlprofile_start(&t->aql, NULL) != HSA_STATUS_SUCCESS)
		return refused(api);
	t->aql.command_buffer.ptr = allocate(c->gpu, t->aql.command_buffer.size, false);
	t->aql.output_buffer.ptr =
		allocate(c->gpu, t->aql.output_buffer.size, settings.trace_local != 0);
	if (!t->aql.command_buffer.ptr || !t->aql.output_buffer.ptr)
		return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "make_trace",
				 "no memory for a trace of %u bytes", t->aql.output_buffer.size);
	memset(&start, 0, sizeof(start));
	memset(&stop, 0, sizeof(stop));
	if (aql.hsa_ven_amd_aqlprofile_start(&t->aql, &start) != HSA_STATUS_SUCCESS ||
	    aql.hsa_ven_amd_aqlprofile_stop(&t->aql, &stop) != HSA_STATUS_SUCCESS)
		return refused(api);
	set_packet(&t->start, &start);
	set_packet(&t->stop, &stop);
	if (!(c->mode & ROCPROFILER_MODE_STANDALONE)) {
		void *const memory[] = { t->aql.command_buffer.ptr, t->aql.output_buffer.ptr };

		if (!link_core() || link_core()->profile_enclose(&g->profile, c->gpu->agent,
								 &t->start, &t->stop, memory))
			return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "make_trace",
					 "no memory");
		t->is_lent = true;
	}
	for (uint32_t i = 0; i < t->nr; i++)
		g->features[g->nr_features++] = &c->features[t->features[i]];
	return HSA_STATUS_SUCCESS;
}

void trace_close(struct context *c)
{
	struct trace *t = c->trace;
	void *const memory[] = { t->copy, t->aql.command_buffer.ptr, t->aql.output_buffer.ptr };

	for (size_t i = 0; i < (t->is_lent ? 1 : ARRAY_SIZE(memory)); i++)
		if (memory[i])
			hsa.hsa_amd_memory_pool_free(memory[i]);
	alloc_free(t->parameters);
	alloc_free(t->features);
	alloc_free(t);
	c->trace = NULL;
}

/* ---- start, stop ----------------------------------------------------------------------------- */

static hsa_status_t put(struct context *c, const union packet *p, const char *api)
{
	if (put_packet(c->queue, p, c->groups[0].done))
		return HSA_STATUS_SUCCESS;
	return error_set(HSA_STATUS_ERROR, api, "submit",
			 "the context's queue stays full for longer than the timeout");
}

hsa_status_t trace_start(struct context *c, const char *api)
{
	c->trace->has_data = false;
	return put(c, &c->trace->start, api);
}

hsa_status_t trace_stop(struct context *c, const char *api)
{
	c->trace->has_data = true;
	return put(c, &c->trace->stop, api);
}

/* ---- data ------------------------------------------------------------------------------------ */

struct collecting {
	struct context *c;
	char *to; /* NULL: instances are only counted */
	size_t used, size;
	uint32_t instances, full;
};

static hsa_status_t collect(hsa_ven_amd_aqlprofile_info_type_t type,
			    hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	struct collecting *k = arg;
	uint32_t size, padded;

	if (type != HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA)
		return HSA_STATUS_SUCCESS;
	k->instances++;
	size = d->trace_data.size;
	padded = (size + 3) & ~UINT32_C(3);
	if (!k->to)
		return HSA_STATUS_SUCCESS;
	if (k->used + sizeof(size) + padded > k->size)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	memcpy(k->to + k->used, &size, sizeof(size));
	if (size)
		hsa.hsa_memory_copy(k->to + k->used + sizeof(size), d->trace_data.ptr, size);
	k->used += sizeof(size) + padded;
	return HSA_STATUS_SUCCESS;
}

/* The shader engines whose buffer was full; 0: none. */
static uint32_t count_full(const struct context *c)
{
	const char *control = (const char *)c->trace->aql.command_buffer.ptr + CONTROL_AT;
	uint32_t full = 0, status;

	for (uint32_t i = 0; i < c->gpu->engines; i++) {
		memcpy(&status, control + (size_t)i * CONTROL_SIZE, sizeof(status));
		full += (status & STATUS_FULL) != 0;
	}
	return full;
}

static bool wants_copy(const struct context *c)
{
	for (uint32_t i = 0; i < c->trace->nr; i++)
		if (c->features[c->trace->features[i]].data.result_bytes.copy)
			return true;
	return false;
}

void trace_counted(struct context *c, bool is_there)
{
	c->trace->has_data = is_there;
}

static hsa_status_t iterate(struct trace *t, hsa_ven_amd_aqlprofile_data_callback_t fn, void *arg)
{
	return aql.hsa_ven_amd_aqlprofile_iterate_data(&t->aql, fn, arg);
}

static void set_data(struct context *c, const struct collecting *k)
{
	struct trace *t = c->trace;

	for (uint32_t i = 0; i < t->nr; i++) {
		rocprofiler_data_t *d = &c->features[t->features[i]].data;
		bool copy = d->result_bytes.copy && k->to;

		d->kind = ROCPROFILER_DATA_KIND_BYTES;
		d->result_bytes.ptr = copy ? t->copy : t->aql.output_buffer.ptr;
		d->result_bytes.size = copy ? (uint32_t)k->used : t->aql.output_buffer.size;
		d->result_bytes.instance_count = k->instances;
	}
}

/* With a full buffer the data is there, and the status says so. */
hsa_status_t trace_store(struct context *c, const char *api)
{
	struct trace *t = c->trace;
	struct collecting k = { .c = c };
	uint32_t full;

	if (!t->has_data)
		return HSA_STATUS_SUCCESS;
	if (wants_copy(c)) {
		/* a count for each instance, and padding */
		k.size = (size_t)t->aql.output_buffer.size + PAGE;
		if (!t->copy)
			t->copy = allocate(c->gpu, k.size, false);
		k.to = t->copy;
		if (!k.to)
			return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "iterate_data",
					 "no memory for a copy of the trace");
	}
	if (iterate(t, collect, &k) != HSA_STATUS_SUCCESS)
		return error_set(HSA_STATUS_ERROR, api, "iterate_data",
				 "AQLprofile has no data of the trace: %s", aql_error());
	set_data(c, &k);
	full = count_full(c);
	if (full)
		return error_set(
			HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "iterate_data",
			"trace buffer overflow: the buffers of %u of %u shader engines were full; trace_size is %u bytes",
			full, k.instances, settings.trace_size);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_iterate_trace_data(rocprofiler_t *context,
						   rocprofiler_trace_data_callback_t callback,
						   void *data)
{
	struct context *c = context_of(context, __func__);
	hsa_status_t status;

	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	NEED(callback);
	if (!c->trace)
		return FAIL("iterate_trace_data", "the context has no traces");
	if (!c->trace->has_data)
		return FAIL("iterate_trace_data", "the trace was not stopped");
	status = iterate(c->trace, callback, data);
	if (status != HSA_STATUS_SUCCESS)
		error_set(status, __func__, "iterate_data", "%s", aql_error());
	return status;
}
