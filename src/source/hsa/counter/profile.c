/* SPDX-License-Identifier: MIT */
/* profile.c - what a GPU counts in one pass: its events, and the packets that start, read and stop the counters
 *
 * Owns:     the table of AQLprofile's functions, and the pool that the command processor reads packets from.
 * Threads:  one at a time; under ROCr's lock where queues are made.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/profile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "event/bus.h"
#include "source/hsa/agent.h"
#include "source/hsa/table/real.h"

/* AMD's header defines this in every file that includes it (5.2 to 7.2). */
extern const unsigned HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE __attribute__((weak));
#include <hsa/hsa_ven_amd_aqlprofile.h>

/* Memory that the GPU may execute commands from; older runtimes know no such flag and refuse it. */
#define POOL_EXECUTABLE 4u

#define VENDOR_HEADER                                                                              \
	(uint16_t)(HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |                     \
		   1u << HSA_PACKET_HEADER_BARRIER |                                               \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |             \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

struct profile {
	hsa_ven_amd_aqlprofile_profile_t aql;
	hsa_ven_amd_aqlprofile_event_t *events;
	uint32_t nr_values;
	union packet packets[PROFILE_STOP + 1];
	uint32_t description; /* id of the string that describes the events; 0: not emitted yet */
};

static hsa_ven_amd_aqlprofile_1_00_pfn_t aql;
static enum { UNKNOWN, FOUND, MISSING } aql_state;
static hsa_amd_memory_pool_t pool;

static const char *error_text(void)
{
	const char *text = NULL;

	if (!aql.hsa_ven_amd_aqlprofile_error_string ||
	    aql.hsa_ven_amd_aqlprofile_error_string(&text) != HSA_STATUS_SUCCESS || !text)
		return "";
	return text;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t p, void *data)
{
	const uint32_t wanted = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
	uint32_t segment = 0, flags = 0;

	(void)data;
	real.hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	real.hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (segment != HSA_AMD_SEGMENT_GLOBAL || !(flags & wanted))
		return HSA_STATUS_SUCCESS;
	pool = p;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;

	real.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_CPU)
		return HSA_STATUS_SUCCESS;
	return real.hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, data);
}

/* Host memory that the GPU can access. NULL: none. */
static void *allocate(hsa_agent_t agent, size_t size)
{
	void *memory = NULL;

	size = (size + 4095) & ~(size_t)4095;
	if (real.hsa_amd_memory_pool_allocate(pool, size, POOL_EXECUTABLE, &memory) !=
		    HSA_STATUS_SUCCESS &&
	    real.hsa_amd_memory_pool_allocate(pool, size, 0, &memory) != HSA_STATUS_SUCCESS)
		return NULL;
	memset(memory, 0, size);
	if (real.hsa_amd_agents_allow_access(1, &agent, NULL, memory) == HSA_STATUS_SUCCESS)
		return memory;
	real.hsa_amd_memory_pool_free(memory);
	return NULL;
}

void profile_free_memory(void *memory)
{
	if (memory)
		real.hsa_amd_memory_pool_free(memory);
}

/* ---- AQLprofile ------------------------------------------------------------------------------ */

static bool find(void)
{
	if (!real.hsa_system_get_major_extension_table || !real.hsa_amd_memory_pool_allocate ||
	    !real.hsa_amd_memory_pool_free || !real.hsa_amd_memory_pool_get_info ||
	    !real.hsa_amd_agent_iterate_memory_pools || !real.hsa_amd_agents_allow_access)
		return false;
	/* asked for a library that is not there, the runtime prints (5.2.3) */
	if (!dlopen("libhsa-amd-aqlprofile64.so", RTLD_LAZY | RTLD_LOCAL))
		return false;
	if (real.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(aql),
						      &aql) != HSA_STATUS_SUCCESS)
		return false;
	real.hsa_iterate_agents(look_at_agent, NULL);
	return pool.handle != 0;
}

bool profile_available(void)
{
	if (aql_state == UNKNOWN) {
		aql_state = find() ? FOUND : MISSING;
		if (aql_state == MISSING)
			log_warn(
				"counters: the HSA runtime finds no libhsa-amd-aqlprofile64.so (package hsa-amd-aqlprofile)");
	}
	return aql_state == FOUND;
}

void profile_forget(void)
{
	aql_state = UNKNOWN;
	pool.handle = 0;
}

static void set_packet(union packet *to, const hsa_ext_amd_aql_pm4_packet_t *from)
{
	memcpy(to, from, sizeof(*to));
	to->header = VENDOR_HEADER;
}

bool profile_enable(hsa_agent_t agent, union packet *packet, void **command)
{
	hsa_ven_amd_aqlprofile_profile_t p = { .agent = agent,
					       .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC };
	const hsa_ven_amd_aqlprofile_info_type_t what = HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD;
	hsa_ext_amd_aql_pm4_packet_t made;

	*command = NULL;
	memset(&made, 0, sizeof(made));
	if (aql.hsa_ven_amd_aqlprofile_get_info(&p, what, NULL) != HSA_STATUS_SUCCESS)
		return false;
	p.command_buffer.ptr = *command = allocate(agent, p.command_buffer.size);
	if (!*command ||
	    aql.hsa_ven_amd_aqlprofile_get_info(&p, what, &made) != HSA_STATUS_SUCCESS) {
		profile_free_memory(*command);
		return false;
	}
	set_packet(packet, &made);
	return true;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static hsa_status_t count_sample(hsa_ven_amd_aqlprofile_info_type_t type,
				 hsa_ven_amd_aqlprofile_info_data_t *data, void *arg)
{
	struct profile *p = arg;

	(void)data;
	p->nr_values += type == HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA;
	return HSA_STATUS_SUCCESS;
}

static bool set_events(struct profile *p, const char *isa, uint32_t pass)
{
	struct chosen_event *chosen = alloc_pages(CHOSEN_MAX_EVENTS * sizeof(*chosen));
	uint32_t n = chosen ? chosen_events(isa, pass, chosen) : 0;

	for (uint32_t i = 0; i < n; i++)
		p->events[i] = (hsa_ven_amd_aqlprofile_event_t){
			.block_name = (hsa_ven_amd_aqlprofile_block_name_t)chosen[i].block,
			.block_index = chosen[i].instance,
			.counter_id = chosen[i].event,
		};
	if (chosen)
		alloc_pages_free(chosen, CHOSEN_MAX_EVENTS * sizeof(*chosen));
	p->aql.events = p->events;
	p->aql.event_count = n;
	return n != 0;
}

static bool make_packets(struct profile *p)
{
	hsa_ext_amd_aql_pm4_packet_t made[PROFILE_STOP + 1];

	memset(made, 0, sizeof(made));
	if (aql.hsa_ven_amd_aqlprofile_start(&p->aql, &made[PROFILE_START]) != HSA_STATUS_SUCCESS ||
	    aql.hsa_ven_amd_aqlprofile_stop(&p->aql, &made[PROFILE_STOP]) != HSA_STATUS_SUCCESS ||
	    aql.hsa_ven_amd_aqlprofile_read(&p->aql, &made[PROFILE_READ]) != HSA_STATUS_SUCCESS)
		return false;
	for (unsigned i = 0; i <= PROFILE_STOP; i++)
		set_packet(&p->packets[i], &made[i]);
	return aql.hsa_ven_amd_aqlprofile_iterate_data(&p->aql, count_sample, p) ==
	       HSA_STATUS_SUCCESS;
}

static bool make(struct profile *p, const char *isa, uint32_t pass)
{
	if (!set_events(p, isa, pass) ||
	    aql.hsa_ven_amd_aqlprofile_start(&p->aql, NULL) != HSA_STATUS_SUCCESS)
		return false;
	p->aql.command_buffer.ptr = allocate(p->aql.agent, p->aql.command_buffer.size);
	p->aql.output_buffer.ptr = allocate(p->aql.agent, p->aql.output_buffer.size);
	return p->aql.command_buffer.ptr && p->aql.output_buffer.ptr && make_packets(p);
}

struct profile *profile_make(hsa_agent_t agent, const char *isa, uint32_t pass)
{
	struct profile *p = alloc_pages(sizeof(*p));

	if (!p)
		return NULL;
	p->aql.agent = agent;
	p->aql.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
	p->events = alloc_pages(CHOSEN_MAX_EVENTS * sizeof(*p->events));
	if (p->events && make(p, isa, pass))
		return p;
	log_warn("counters: AQLprofile does not count the events of pass %u on %s: %s", pass + 1,
		 isa, error_text());
	profile_free(p);
	return NULL;
}

void profile_free(struct profile *p)
{
	profile_free_memory(p->aql.command_buffer.ptr);
	profile_free_memory(p->aql.output_buffer.ptr);
	if (p->events)
		alloc_pages_free(p->events, CHOSEN_MAX_EVENTS * sizeof(*p->events));
	alloc_pages_free(p, sizeof(*p));
}

const union packet *profile_packet(const struct profile *p, enum profile_part part)
{
	return &p->packets[part];
}

uint32_t profile_nr_values(const struct profile *p)
{
	return p->nr_values;
}

struct reading {
	uint64_t *values;
	uint32_t nr, most;
};

static hsa_status_t take_sample(hsa_ven_amd_aqlprofile_info_type_t type,
				hsa_ven_amd_aqlprofile_info_data_t *data, void *arg)
{
	struct reading *r = arg;

	if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
		return HSA_STATUS_SUCCESS;
	if (r->nr == r->most)
		return HSA_STATUS_ERROR;
	r->values[r->nr++] = data->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

bool profile_read(struct profile *p, uint64_t *values)
{
	struct reading r = { .values = values, .most = p->nr_values };

	return aql.hsa_ven_amd_aqlprofile_iterate_data(&p->aql, take_sample, &r) ==
		       HSA_STATUS_SUCCESS &&
	       r.nr == r.most;
}

/* ---- description ----------------------------------------------------------------------------- */

#define EVENT_TEXT 48u

struct describing {
	const struct profile *p;
	uint32_t event, nr_samples;
	char *text;
	size_t size;
};

static void end_event(struct describing *d)
{
	const hsa_ven_amd_aqlprofile_event_t *e = &d->p->events[d->event];

	d->size += (size_t)snprintf(d->text + d->size, EVENT_TEXT, "%s%u.%u.%ux%u",
				    d->size ? "," : "", (unsigned)e->block_name, e->block_index,
				    e->counter_id, d->nr_samples);
}

/* A sample 0 begins the next event. */
static hsa_status_t describe_sample(hsa_ven_amd_aqlprofile_info_type_t type,
				    hsa_ven_amd_aqlprofile_info_data_t *data, void *arg)
{
	struct describing *d = arg;

	if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
		return HSA_STATUS_SUCCESS;
	if (d->nr_samples && !data->sample_id) {
		end_event(d);
		d->nr_samples = 0;
		if (++d->event == d->p->aql.event_count)
			return HSA_STATUS_ERROR;
	}
	d->nr_samples++;
	return HSA_STATUS_SUCCESS;
}

uint32_t profile_description(struct profile *p)
{
	size_t size = (size_t)p->aql.event_count * EVENT_TEXT;
	struct describing d = { .p = p };

	if (p->description)
		return p->description;
	d.text = alloc_pages(size);
	if (!d.text)
		return 0;
	if (aql.hsa_ven_amd_aqlprofile_iterate_data(&p->aql, describe_sample, &d) ==
	    HSA_STATUS_SUCCESS) {
		end_event(&d);
		p->description = bus_string(d.text, d.size);
	}
	alloc_pages_free(d.text, size);
	return p->description;
}
