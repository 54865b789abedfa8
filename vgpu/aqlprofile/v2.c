/* SPDX-License-Identifier: MIT */
/* v2.c - AQLprofile's second interface: counters by the packets of the first one
 *
 * Agents are described by the caller, without HSA's runtime; their handles are those that
 * blocks_gpu() takes. The caller's callbacks allocate a command buffer and an output buffer, which
 * the host can access. Thread traces and streamed counters are refused.
 *
 * Owns:     what a handle of packets stands for, until delete.
 * Threads:  any; a handle is in the hands of one at a time.
 * Fails:    with a status.
 */
#include "v2.h"

#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "coords.h"
#include "pmc.h"
#include "point.h"

#define EXPORT __attribute__((visibility("default")))

#define MAGIC UINT64_C(0x76325f7061636b73)

/* What a handle points to. */
struct packets {
	uint64_t magic;
	profile_t profile;
	aqlprofile_memory_dealloc_callback_t free;
	void *userdata;
	aqlprofile_pmc_event_t *asked; /* as the caller has them */
	hsa_ven_amd_aqlprofile_event_t events[];
};

EXPORT hsa_status_t aqlprofile_get_version(aqlprofile_version_t *version)
{
	if (!version)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*version = (aqlprofile_version_t){ 3, 0, 0 };
	return HSA_STATUS_SUCCESS;
}

/* ---- agents ---------------------------------------------------------------------------------- */

EXPORT hsa_status_t aqlprofile_register_agent(aqlprofile_agent_handle_t *agent,
					      const aqlprofile_agent_info_t *info)
{
	hsa_agent_t found;

	if (!agent || !info || !info->agent_gfxip)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	found = blocks_agent(info->agent_gfxip);
	if (!found.handle)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	agent->handle = found.handle;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t *agent,
						   const void *info, int version)
{
	if (version < V2_AGENT_INFO_FIRST || version > V2_AGENT_INFO_LAST)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return aqlprofile_register_agent(agent, info);
}

static hsa_agent_t agent_of(aqlprofile_agent_handle_t agent)
{
	return (hsa_agent_t){ .handle = agent.handle };
}

/* ---- events ---------------------------------------------------------------------------------- */

static hsa_ven_amd_aqlprofile_event_t event_of(const aqlprofile_pmc_event_t *e)
{
	return (hsa_ven_amd_aqlprofile_event_t){ .block_name = e->block_name,
						 .block_index = e->block_index,
						 .counter_id = e->event_id };
}

EXPORT hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent,
						  const aqlprofile_pmc_event_t *event, bool *result)
{
	if (!event || !result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!blocks_is_agent(agent_of(agent)))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	*result = !event->flags &&
		  event->block_index < blocks_instances(blocks_gpu(agent_of(agent)),
							(uint32_t)event->block_name);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_id(const struct blocks_gpu *gpu, hsa_ven_amd_aqlprofile_id_query_t *query)
{
	int id = query->name ? blocks_id(query->name) : -1;

	if (id < 0)
		return HSA_STATUS_ERROR;
	query->id = (uint32_t)id;
	query->instance_count = blocks_extent(gpu, (uint32_t)id);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_get_pmc_info(const aqlprofile_pmc_profile_t *profile, int attribute,
					    void *value)
{
	const struct block *b;

	if (!profile || !value)
		return HSA_STATUS_ERROR;
	if (!blocks_is_agent(agent_of(profile->agent)))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (attribute == V2_INFO_BLOCK_ID)
		return get_id(blocks_gpu(agent_of(profile->agent)), value);
	if (attribute != V2_INFO_BLOCK_COUNTERS || !profile->events || !profile->event_count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	b = blocks_find((uint32_t)profile->events[0].block_name);
	if (!b)
		return HSA_STATUS_ERROR;
	*(uint32_t *)value = b->counters;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_iterate_event_ids(aqlprofile_eventname_callback_t callback,
						 void *data)
{
	hsa_status_t status = callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;

	for (int id = 0; id < COORDS_NR && status == HSA_STATUS_SUCCESS; id++)
		status = callback(id, coords_name(id), data);
	return status;
}

/* `counter_id`: of aqlprofile_pmc_iterate_data(), the shader engine. */
EXPORT hsa_status_t aqlprofile_iterate_event_coord(aqlprofile_agent_handle_t agent,
						   aqlprofile_pmc_event_t event,
						   uint64_t counter_id,
						   aqlprofile_coordinate_callback_t callback,
						   void *userdata)
{
	const hsa_ven_amd_aqlprofile_event_t e = event_of(&event);

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!blocks_is_agent(agent_of(agent)))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return coords_iterate(blocks_gpu(agent_of(agent)), &e, counter_id, callback, userdata);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void release(struct packets *p)
{
	if (p->profile.command_buffer.ptr)
		p->free(p->profile.command_buffer.ptr, p->userdata);
	if (p->profile.output_buffer.ptr)
		p->free(p->profile.output_buffer.ptr, p->userdata);
	p->magic = 0;
	free(p->asked);
	free(p);
}

static hsa_status_t allocate(hsa_ven_amd_aqlprofile_descriptor_t *buffer, uint32_t size,
			     uint32_t hint, aqlprofile_memory_alloc_callback_t alloc_cb,
			     void *userdata)
{
	aqlprofile_buffer_desc_flags_t flags = {
		V2_DEVICE_ACCESS | V2_HOST_ACCESS | hint << V2_HINT_SHIFT,
	};
	hsa_status_t status = alloc_cb(&buffer->ptr, size, flags, userdata);

	buffer->size = size;
	if (status != HSA_STATUS_SUCCESS)
		buffer->ptr = NULL;
	return status == HSA_STATUS_SUCCESS && !buffer->ptr ? HSA_STATUS_ERROR_OUT_OF_RESOURCES :
							      status;
}

/* The events of the profile, and what pmc.c makes packets of. NULL: no memory. */
static struct packets *copy_profile(const aqlprofile_pmc_profile_t *profile)
{
	struct packets *p = calloc(1, sizeof(*p) + profile->event_count * sizeof(p->events[0]));

	if (!p)
		return NULL;
	p->asked = malloc((profile->event_count + 1) * sizeof(*p->asked));
	if (!p->asked) {
		free(p);
		return NULL;
	}
	p->magic = MAGIC;
	for (uint32_t i = 0; i < profile->event_count; i++) {
		p->asked[i] = profile->events[i];
		p->events[i] = event_of(&profile->events[i]);
	}
	p->profile = (profile_t){ .agent = agent_of(profile->agent),
				  .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
				  .events = p->events,
				  .event_count = profile->event_count };
	return p;
}

static void point_at(const profile_t *p, enum commands_part part,
		     hsa_ext_amd_aql_pm4_packet_t *packet)
{
	const void *at;
	uint32_t size;

	commands_part(p, part, &at, &size);
	memset(packet, 0, sizeof(*packet));
	point_to(packet, at, size);
}

static hsa_status_t check(const aqlprofile_pmc_profile_t *profile)
{
	if (!profile->events || !profile->event_count || profile->event_count > INT16_MAX)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!blocks_is_agent(agent_of(profile->agent)))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	for (uint32_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].flags)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t fill(struct packets *p, aqlprofile_memory_alloc_callback_t alloc_cb)
{
	profile_t *profile = &p->profile;
	uint32_t wrong;
	hsa_status_t status;

	if (pmc_check(profile, &wrong))
		return HSA_STATUS_ERROR;
	status = allocate(&profile->output_buffer, pmc_output_size(profile),
			  V2_HINT_DEVICE_UNCACHED, alloc_cb, p->userdata);
	if (status == HSA_STATUS_SUCCESS)
		status = allocate(&profile->command_buffer, commands_size(&pmc_commands, profile),
				  V2_HINT_HOST, alloc_cb, p->userdata);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	memset(profile->output_buffer.ptr, 0, profile->output_buffer.size);
	commands_write(&pmc_commands, profile);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t *handle,
						  aqlprofile_pmc_aql_packets_t *packets,
						  aqlprofile_pmc_profile_t profile,
						  aqlprofile_memory_alloc_callback_t alloc_cb,
						  aqlprofile_memory_dealloc_callback_t dealloc_cb,
						  aqlprofile_memory_copy_t memcpy_cb,
						  void *userdata)
{
	hsa_status_t status = check(&profile);
	struct packets *p;

	(void)memcpy_cb; /* the host can access both buffers */
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!handle || !packets || !alloc_cb || !dealloc_cb)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	p = copy_profile(&profile);
	if (!p)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	p->free = dealloc_cb;
	p->userdata = userdata;
	status = fill(p, alloc_cb);
	if (status != HSA_STATUS_SUCCESS) {
		release(p);
		return status;
	}
	point_at(&p->profile, COMMANDS_START, &packets->start_packet);
	point_at(&p->profile, COMMANDS_STOP, &packets->stop_packet);
	point_at(&p->profile, COMMANDS_READ, &packets->read_packet);
	handle->handle = (uintptr_t)p;
	return HSA_STATUS_SUCCESS;
}

static struct packets *packets_of(aqlprofile_handle_t handle)
{
	struct packets *p = (struct packets *)(uintptr_t)handle.handle;

	return p && p->magic == MAGIC ? p : NULL;
}

EXPORT void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle)
{
	struct packets *p = packets_of(handle);

	if (p)
		release(p);
}

EXPORT hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle,
						aqlprofile_pmc_data_callback_t callback,
						void *userdata)
{
	const struct packets *p = packets_of(handle);
	const uint64_t *sample;

	if (!p || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	sample = p->profile.output_buffer.ptr;
	for (uint32_t i = 0; i < p->profile.event_count; i++) {
		uint32_t nr = blocks_samples(blocks_gpu(p->profile.agent),
					     (uint32_t)p->asked[i].block_name);

		for (uint32_t se = 0; se < nr; se++) {
			hsa_status_t status = callback(p->asked[i], se, *sample++, userdata);

			if (status == HSA_STATUS_INFO_BREAK)
				return HSA_STATUS_SUCCESS;
			if (status != HSA_STATUS_SUCCESS)
				return status;
		}
	}
	return HSA_STATUS_SUCCESS;
}

/* ---- what the virtual GPU does not have ------------------------------------------------------ */

/* The caller passes arguments, which are in registers or its own frame: none is read. */
#define REFUSES(function)                                                                          \
	EXPORT hsa_status_t function(void)                                                         \
	{                                                                                          \
		return HSA_STATUS_ERROR;                                                           \
	}
REFUSES(aqlprofile_att_create_packets)
REFUSES(aqlprofile_att_iterate_data)
REFUSES(aqlprofile_att_codeobj_marker)
REFUSES(aqlprofile_att_get_buffer_packets)
REFUSES(aqlprofile_att_update_buffer_status)
REFUSES(aqlprofile_spm_create_packets)
REFUSES(aqlprofile_spm_start)
REFUSES(aqlprofile_spm_stop)
REFUSES(aqlprofile_spm_decode_stream_v1)
REFUSES(aqlprofile_spm_decode_query)
REFUSES(aqlprofile_spm_is_event_supported)

/* No packets were made. */
EXPORT void aqlprofile_att_delete_packets(aqlprofile_handle_t handle)
{
	(void)handle;
}

EXPORT void aqlprofile_spm_delete_packets(aqlprofile_handle_t handle)
{
	(void)handle;
}
