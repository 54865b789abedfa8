/* SPDX-License-Identifier: MIT */
/* aqlprofile.c - libhsa-amd-aqlprofile64 of the virtual GPU: the functions that HSA's runtime looks
 * up
 *
 * Profilers get them as HSA's extension AQLPROFILE: packets that program and read performance
 * counters (pmc.c), or start and stop a thread trace (trace.c), which the virtual GPU's command
 * processor executes like any others. The library knows the virtual GPU's architectures, and asks
 * the runtime for the agent's (gpu.c). It links libc alone.
 *
 * Threads:  any; a profile is in the hands of one at a time.
 * Fails:    with a status; hsa_ven_amd_aqlprofile_error_string() has the text of the thread's last
 *           one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "coords.h"
#include "pmc.h"
#include "point.h"
#include "stream.h"
#include "trace.h"

#define EXPORT __attribute__((visibility("default")))

/* What HSA's runtime demands; the extension's version that it is asked for is 1. */
#define VERSION_MAJOR 2u
#define VERSION_MINOR 0u

/* Sizes that are enough for a profile whose events are not known yet, as AMD's library answers. */
#define COMMAND_SIZE 0x2000u
#define OUTPUT_SIZE 0x1800u

/* An attribute of get_info() without an enumerator: a command that waits for the queue's
 * kernels. */
#define INFO_WAIT_IDLE 8

static _Thread_local char error_text[256];

__attribute__((format(printf, 2, 3))) static hsa_status_t fail(hsa_status_t status,
							       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error_text, sizeof(error_text), format, args);
	va_end(args);
	return status;
}

/* AQLPROFILE_READ_API=0: counters are read by the packet that stops them. */
static bool has_read(void)
{
	const char *value = getenv("AQLPROFILE_READ_API");

	return !value || strtol(value, NULL, 10) != 0;
}

/* AMD's header has these two in its table of functions alone. */
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void);
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void);

uint32_t hsa_ven_amd_aqlprofile_version_major(void)
{
	return VERSION_MAJOR;
}

uint32_t hsa_ven_amd_aqlprofile_version_minor(void)
{
	return VERSION_MINOR;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char **str)
{
	if (!str)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*str = error_text;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_event(hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *e)
{
	const struct block *b = blocks_find((uint32_t)e->block_name);
	const struct blocks_gpu *gpu = blocks_gpu(agent);
	uint32_t nr = blocks_instances(gpu, (uint32_t)e->block_name);

	if (!b)
		return fail(HSA_STATUS_ERROR, "%s has no block %d", gpu->name, (int)e->block_name);
	if (e->block_index >= nr)
		return fail(HSA_STATUS_ERROR, "block %s has no instance %u: it has %u", b->name,
			    e->block_index, nr);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_validate_event(
	hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result)
{
	if (!event || !result)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "validate_event: a null pointer");
	*result = check_event(agent, event) == HSA_STATUS_SUCCESS;
	return HSA_STATUS_SUCCESS;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static bool is_trace(const profile_t *p)
{
	return p->type == HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
}

static hsa_status_t check_trace(const profile_t *p, const char *function)
{
	char text[160] = "";
	hsa_status_t status;

	if (p->event_count == UINT32_MAX)
		return fail(HSA_STATUS_ERROR, "%s: the virtual GPU does not sample PCs", function);
	if (p->event_count)
		return fail(HSA_STATUS_ERROR,
			    "%s: the virtual GPU does not sample counters in a trace: %u events",
			    function, p->event_count);
	status = trace_check(p, text, sizeof(text));
	return status == HSA_STATUS_SUCCESS ? status : fail(status, "%s: %s", function, text);
}

static hsa_status_t check_profile(const profile_t *p, const char *function)
{
	uint32_t at = 0;
	const char *wrong;

	if (p && is_trace(p))
		return check_trace(p, function);
	if (!p || (!p->events && p->event_count))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "%s: a null pointer", function);
	if (p->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "%s: no profile is of type %d",
			    function, (int)p->type);
	wrong = pmc_check(p, &at);
	if (wrong)
		return fail(HSA_STATUS_ERROR,
			    "%s: event %u (block %d, instance %u, counter %u): %s", function, at,
			    (int)p->events[at].block_name, p->events[at].block_index,
			    p->events[at].counter_id, wrong);
	return HSA_STATUS_SUCCESS;
}

/* Raises the size of a buffer that there is not yet. */
static hsa_status_t check_buffer(hsa_ven_amd_aqlprofile_descriptor_t *buffer, uint32_t size,
				 const char *which)
{
	if (buffer->ptr && buffer->size < size)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "start: the %s buffer has %u bytes, %u are needed", which, buffer->size,
			    size);
	if (buffer->size < size)
		buffer->size = size;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t point_to_part(const profile_t *p, enum commands_part part,
				  hsa_ext_amd_aql_pm4_packet_t *packet, const char *function)
{
	hsa_status_t status = check_profile(p, function);
	uint32_t size;
	const void *at;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!packet || !p->command_buffer.ptr)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "%s: a null pointer", function);
	commands_part(p, part, &at, &size);
	point_to(packet, at, size);
	return HSA_STATUS_SUCCESS;
}

/* Without a packet, or without buffers, only their sizes are answered. */
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_start(hsa_ven_amd_aqlprofile_profile_t *profile,
						 hsa_ext_amd_aql_pm4_packet_t *aql_start_packet)
{
	hsa_status_t status = check_profile(profile, "start");
	struct commands buffer;
	const struct commands *c;
	uint32_t output;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	c = is_trace(profile) ? trace_commands(profile, &buffer) : &pmc_commands_read_at_stop;
	output = is_trace(profile) ? trace_output_size(profile) : pmc_output_size(profile);
	status = check_buffer(&profile->output_buffer, output, "output");
	if (status == HSA_STATUS_SUCCESS)
		status = check_buffer(&profile->command_buffer, commands_size(c, profile),
				      "command");
	if (status != HSA_STATUS_SUCCESS || !aql_start_packet)
		return status;
	if (!profile->output_buffer.ptr || !profile->command_buffer.ptr)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "start: the profile has no buffers");
	if (is_trace(profile) && (uintptr_t)profile->output_buffer.ptr % TRACE_ALIGN)
		return fail(
			HSA_STATUS_ERROR_INVALID_ARGUMENT,
			"start: the output buffer of a trace, %p, has to begin at a multiple of %u",
			profile->output_buffer.ptr, TRACE_ALIGN);
	commands_write(!is_trace(profile) && has_read() ? &pmc_commands : c, profile);
	return point_to_part(profile, COMMANDS_START, aql_start_packet, "start");
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_stop(const hsa_ven_amd_aqlprofile_profile_t *profile,
						hsa_ext_amd_aql_pm4_packet_t *aql_stop_packet)
{
	return point_to_part(profile, COMMANDS_STOP, aql_stop_packet, "stop");
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_read(const hsa_ven_amd_aqlprofile_profile_t *profile,
						hsa_ext_amd_aql_pm4_packet_t *aql_read_packet)
{
	if (!has_read())
		return fail(HSA_STATUS_ERROR, "read: AQLPROFILE_READ_API=0 turned it off");
	if (profile && is_trace(profile))
		return fail(HSA_STATUS_ERROR, "read: a trace is read when it is stopped");
	return point_to_part(profile, COMMANDS_READ, aql_read_packet, "read");
}

EXPORT hsa_status_t
hsa_ven_amd_aqlprofile_legacy_get_pm4(const hsa_ext_amd_aql_pm4_packet_t *aql_packet, void *data)
{
	(void)aql_packet;
	(void)data;
	return fail(HSA_STATUS_ERROR, "legacy_get_pm4: gfx9 takes PM4 packets from AQL packets");
}

/* ---- data ------------------------------------------------------------------------------------ */

/* What a callback's answer means to iterate_data(). */
static hsa_status_t answer(hsa_status_t status)
{
	return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

/* A sample for each shader engine. That a buffer was too small is no error:
 * hsa_ven_amd_aqlprofile_error_string() says so. */
static hsa_status_t iterate_trace(const profile_t *p,
				  hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	uint32_t nr = trace_samples(p);

	error_text[0] = '\0';
	for (uint32_t n = 0; n < nr; n++) {
		struct trace_sample s = trace_sample(p, n);

		if (s.bad_memory)
			return fail(HSA_STATUS_ERROR,
				    "iterate_data: the GPU could not write the output buffer of "
				    "shader engine %u",
				    s.se);
		if (s.full)
			fail(HSA_STATUS_SUCCESS,
			     "iterate_data: the output buffer of shader engine %u was full: %u "
			     "tokens are lost",
			     s.se, s.lost);
	}
	for (uint32_t n = 0; n < nr && status == HSA_STATUS_SUCCESS; n++) {
		struct trace_sample s = trace_sample(p, n);
		hsa_ven_amd_aqlprofile_info_data_t d = {
			.sample_id = s.se,
			.trace_data = { .ptr = s.at, .size = s.size },
		};

		status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &d, data);
	}
	return answer(status);
}

/* The samples of one die, of each event in turn. */
static hsa_status_t iterate_die(const profile_t *p, uint32_t die,
				hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
	const struct blocks_gpu *gpu = blocks_gpu(p->agent);
	const uint64_t *event = p->output_buffer.ptr;

	for (uint32_t i = 0; i < p->event_count; i++) {
		hsa_ven_amd_aqlprofile_info_data_t d = { .pmc_data.event = p->events[i] };
		uint32_t nr = blocks_samples(gpu, (uint32_t)p->events[i].block_name);
		uint32_t of_die = nr / gpu->dies;

		for (d.sample_id = 0; d.sample_id < of_die; d.sample_id++) {
			hsa_status_t status;

			d.pmc_data.result = event[die * of_die + d.sample_id];
			status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &d, data);
			if (status != HSA_STATUS_SUCCESS)
				return status;
		}
		event += nr;
	}
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t
hsa_ven_amd_aqlprofile_iterate_data(const hsa_ven_amd_aqlprofile_profile_t *profile,
				    hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
	hsa_status_t status = check_profile(profile, "iterate_data");

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!callback || !profile->output_buffer.ptr)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "iterate_data: a null pointer");
	if (is_trace(profile) && !profile->command_buffer.ptr)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "iterate_data: the profile has no command buffer");
	if (is_trace(profile))
		return iterate_trace(profile, callback, data);
	/* die by die, as AMD's; in memory the samples of an event follow each other */
	for (uint32_t die = 0; die < blocks_gpu(profile->agent)->dies; die++) {
		status = iterate_die(profile, die, callback, data);
		if (status != HSA_STATUS_SUCCESS)
			return answer(status);
	}
	return HSA_STATUS_SUCCESS;
}

static bool is_event(const hsa_ven_amd_aqlprofile_event_t *a,
		     const hsa_ven_amd_aqlprofile_event_t *b)
{
	return a->block_name == b->block_name && a->block_index == b->block_index &&
	       a->counter_id == b->counter_id;
}

/* Adds the sample that the caller's *arg asks for; UINT32_MAX: all of its event. */
static hsa_status_t add_sample(hsa_ven_amd_aqlprofile_info_type_t type,
			       hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	hsa_ven_amd_aqlprofile_info_data_t *wanted = arg;

	(void)type;
	if (is_event(&d->pmc_data.event, &wanted->pmc_data.event) &&
	    (wanted->sample_id == UINT32_MAX || wanted->sample_id == d->sample_id))
		wanted->pmc_data.result += d->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

/* Sets the caller's *arg to the sample of its sample_id. */
static hsa_status_t take_trace(hsa_ven_amd_aqlprofile_info_type_t type,
			       hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	hsa_ven_amd_aqlprofile_info_data_t *wanted = arg;

	(void)type;
	if (wanted->sample_id != d->sample_id)
		return HSA_STATUS_SUCCESS;
	wanted->trace_data = d->trace_data;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t get_trace(const profile_t *p, hsa_ven_amd_aqlprofile_info_data_t *wanted)
{
	hsa_status_t status;

	if (!is_trace(p))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: no profile of a trace");
	wanted->trace_data = (hsa_ven_amd_aqlprofile_descriptor_t){ NULL, 0 };
	status = hsa_ven_amd_aqlprofile_iterate_data(p, take_trace, wanted);
	if (status == HSA_STATUS_SUCCESS && !wanted->trace_data.ptr)
		return fail(HSA_STATUS_ERROR, "get_info: the trace has no shader engine %u",
			    wanted->sample_id);
	return status;
}

static hsa_status_t get_data(const profile_t *p, hsa_ven_amd_aqlprofile_info_data_t *wanted)
{
	if (is_trace(p))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: no profile of counters");
	wanted->pmc_data.result = 0;
	return hsa_ven_amd_aqlprofile_iterate_data(p, add_sample, wanted);
}

static hsa_status_t get_counters(const profile_t *p, uint32_t *counters)
{
	hsa_status_t status;

	if (!p->events || !p->event_count)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: an event is needed");
	status = check_event(p->agent, &p->events[0]);
	if (status == HSA_STATUS_SUCCESS)
		*counters = blocks_find((uint32_t)p->events[0].block_name)->counters;
	return status;
}

static hsa_status_t get_id(const profile_t *p, hsa_ven_amd_aqlprofile_id_query_t *query)
{
	const struct blocks_gpu *gpu = blocks_gpu(p->agent);
	int id = query->name ? blocks_id(query->name) : -1;

	if (id < 0)
		return fail(HSA_STATUS_ERROR, "%s has no block '%s'", gpu->name,
			    query->name ? query->name : "");
	query->id = (uint32_t)id;
	query->instance_count = blocks_instances(gpu, (uint32_t)id);
	return HSA_STATUS_SUCCESS;
}

/* Once for the size of the command buffer, once to fill it, and the packet that points to it. */
static hsa_status_t get_command(const profile_t *p, int what, hsa_ext_amd_aql_pm4_packet_t *packet)
{
	uint32_t code[4];
	struct stream s = { code, 0 };

	if (what == INFO_WAIT_IDLE)
		STREAM_PUT(&s, STREAM_EVENT_WRITE, 0x407);
	else /* COMPUTE_PERFCOUNT_ENABLE */
		STREAM_PUT(&s, STREAM_SET_SH_REG, 0x20b,
			   what == HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD);
	if (!packet) {
		/* the function's type has the profile constant */
		((profile_t *)(uintptr_t)p)->command_buffer.size = s.nr * 4;
		return HSA_STATUS_SUCCESS;
	}
	if (!p->command_buffer.ptr || p->command_buffer.size != s.nr * 4)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "get_info: the command buffer has %u bytes, not %u",
			    p->command_buffer.size, s.nr * 4);
	memcpy(p->command_buffer.ptr, code, s.nr * 4);
	point_to(packet, p->command_buffer.ptr, s.nr * 4);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_get_info(const hsa_ven_amd_aqlprofile_profile_t *profile,
						    hsa_ven_amd_aqlprofile_info_type_t attribute,
						    void *value)
{
	bool is_command = attribute == HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD ||
			  attribute == HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD ||
			  (int)attribute == INFO_WAIT_IDLE;

	if (!profile || (!value && !is_command))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: a null pointer");
	if (is_command)
		return get_command(profile, (int)attribute, value);
	switch (attribute) {
	case HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE:
		*(uint32_t *)value = COMMAND_SIZE;
		return HSA_STATUS_SUCCESS;
	case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE:
		*(uint32_t *)value = OUTPUT_SIZE;
		return HSA_STATUS_SUCCESS;
	case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA:
		return get_data(profile, value);
	case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS:
		return get_counters(profile, value);
	case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID:
		return get_id(profile, value);
	case HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA:
		return get_trace(profile, value);
	default:
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: no attribute is %d",
			    (int)attribute);
	}
}

/* ---- coordinates, and marks in traces: of AMD's header from ROCm 6.2 on ---------------------- */

typedef hsa_status_t (*dimension_fn)(int id, const char *name);

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(dimension_fn callback);
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(hsa_agent_t agent,
							       hsa_ven_amd_aqlprofile_event_t event,
							       uint32_t sample_id,
							       coords_fn *callback, void *userdata);
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_att_marker(profile_t *profile,
						      hsa_ext_amd_aql_pm4_packet_t *packet,
						      uint32_t data, int channel);

hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(dimension_fn callback)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!callback)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "iterate_event_ids: a null pointer");
	for (int id = 0; id < COORDS_NR && status == HSA_STATUS_SUCCESS; id++)
		status = callback(id, coords_name(id));
	return status;
}

/* `sample_id`: of iterate_data(), the shader engine. */
hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(hsa_agent_t agent,
							hsa_ven_amd_aqlprofile_event_t event,
							uint32_t sample_id, coords_fn *callback,
							void *userdata)
{
	const struct blocks_gpu *gpu = blocks_gpu(agent);

	if (!callback)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "iterate_event_coord: a null pointer");
	if (event.block_index >= blocks_extent(gpu, (uint32_t)event.block_name) ||
	    sample_id >= blocks_samples(gpu, (uint32_t)event.block_name))
		return fail(HSA_STATUS_ERROR,
			    "iterate_event_coord: %s has no sample %u of block %d, instance %u",
			    gpu->name, sample_id, (int)event.block_name, event.block_index);
	return coords_iterate(gpu, &event, sample_id, callback, userdata);
}

hsa_status_t hsa_ven_amd_aqlprofile_att_marker(profile_t *profile,
					       hsa_ext_amd_aql_pm4_packet_t *packet, uint32_t data,
					       int channel)
{
	(void)profile;
	(void)packet;
	(void)data;
	(void)channel;
	return fail(HSA_STATUS_ERROR, "att_marker: the virtual GPU's traces have no marks");
}
