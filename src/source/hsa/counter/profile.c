/* SPDX-License-Identifier: MIT */
/* profile.c - what a GPU counts in one pass: its events, and the packets that start, read and stop
 * the counters
 *
 * Owns:     the table of AQLprofile's functions, and the pool that the command processor reads
 *           packets from.
 * Threads:  any; finding AQLprofile is under `lock`.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/bus.h"
#include "source/hsa/completion/signal.h"
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

#define PROFILE_MEMORY 2u

#define QUEUE_SIZE 64u
#define WAIT_ROUNDS 20000u /* of 50 us */

/* SQ_ACCUM_PREV and SQ_ACCUM_PREV_HIRES (gfx90a, gfx94x, gfx10.3) count what the counter before
 * them counts. */
#define IS_ACCUMULATING(e)                                                                         \
	((e)->block_name == HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ &&                                \
	 ((e)->counter_id == 1 || (e)->counter_id == 184 || (e)->counter_id == 185))

struct profile {
	_Atomic uint32_t nr_users;
	uint64_t serial;
	hsa_ven_amd_aqlprofile_profile_t aql;
	hsa_ven_amd_aqlprofile_event_t *events;
	uint32_t nr_values;
	uint32_t *nr_samples; /* of each event */
	uint32_t *next;	      /* of each event, while samples are read: where its next one goes */
	union packet packets[PROFILE_AFTER + 1];
	bool is_enclosed;
	void *memory[PROFILE_MEMORY + 1]; /* of the packets that enclose it */
	uint32_t description; /* id of the string that describes the events; 0: not emitted yet */
};

/* Free profiles that are kept: tools of rocprofiler make one for each dispatch, whose memory costs
 * more than the count. */
#define MAX_SPARE 32u

static struct lock lock = LOCK_INIT(LOCK_PROFILE);
static struct profile *spare[MAX_SPARE] RTL_GUARDED_BY(lock);
static uint32_t nr_spare RTL_GUARDED_BY(lock);
static hsa_ven_amd_aqlprofile_1_00_pfn_t aql;
static enum { UNKNOWN, FOUND, MISSING } aql_state RTL_GUARDED_BY(lock);
static hsa_amd_memory_pool_t pool;
static _Atomic uint64_t last_serial;

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

hsa_status_t profile_allocate(hsa_amd_memory_pool_t from, size_t size, void **memory)
{
	return real.hsa_amd_memory_pool_allocate ?
		       real.hsa_amd_memory_pool_allocate(from, size, 0, memory) :
		       HSA_STATUS_ERROR_NOT_INITIALIZED;
}

void profile_free_memory(void *memory)
{
	if (memory)
		real.hsa_amd_memory_pool_free(memory);
}

/* ---- AQLprofile ------------------------------------------------------------------------------ */

static bool find(void)
{
	if (!real_ready() && !real_find())
		return false;
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
	bool found;

	lock_take(&lock);
	if (aql_state == UNKNOWN) {
		aql_state = find() ? FOUND : MISSING;
		if (aql_state == MISSING)
			log_warn(
				"counters: the HSA runtime finds no libhsa-amd-aqlprofile64.so (package hsa-amd-aqlprofile)");
	}
	found = aql_state == FOUND;
	lock_drop(&lock);
	return found;
}

void profile_forget(void)
{
	lock_take(&lock);
	nr_spare = 0; /* their memory was the runtime's */
	aql_state = UNKNOWN;
	pool.handle = 0;
	lock_drop(&lock);
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

/* ---- queues ---------------------------------------------------------------------------------- */

void profile_put(hsa_queue_t *hsa, const union packet *packet, hsa_signal_t done)
{
	uint64_t index = real.hsa_queue_load_write_index_relaxed(hsa);
	union packet *slot = (union packet *)hsa->base_address + index % hsa->size;
	union packet copy = *packet;

	copy.dispatch.completion_signal = done;
	copy.header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
	*slot = copy;
	/* the packet processor may take the packet as soon as its header is valid */
	__atomic_store_n(&slot->header, packet->header, __ATOMIC_RELEASE);
	real.hsa_queue_store_write_index_screlease(hsa, index + 1);
	real.hsa_signal_store_screlease(hsa->doorbell_signal, (hsa_signal_value_t)index);
}

bool profile_wait(hsa_signal_t done)
{
	const struct timespec nap = { .tv_nsec = 50000 };

	for (unsigned round = 0; round < WAIT_ROUNDS; round++) {
		if (signal_value(signal_of(done)) == 0)
			return true;
		sys_nap(&nap);
	}
	return false;
}

bool profile_queue_open(hsa_agent_t agent, struct profile_queue *q)
{
	*q = (struct profile_queue){ 0 };
	if (!real_ready() ||
	    real.hsa_amd_signal_create(1, 0, NULL, 0, &q->done) != HSA_STATUS_SUCCESS)
		return false;
	if (real.hsa_queue_create(agent, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				  UINT32_MAX, &q->hsa) == HSA_STATUS_SUCCESS)
		return true;
	q->hsa = NULL;
	profile_queue_close(q);
	return false;
}

void profile_queue_close(struct profile_queue *q)
{
	if (q->hsa && real_ready())
		real.hsa_queue_destroy(q->hsa);
	if (q->done.handle && real_ready())
		real.hsa_signal_destroy(q->done);
	*q = (struct profile_queue){ 0 };
}

bool profile_queue_run(const struct profile_queue *q, const struct profile *p,
		       enum profile_part part)
{
	if (!real_ready())
		return false;
	__atomic_store_n(&signal_of(q->done)->value, 1, __ATOMIC_RELEASE);
	profile_put(q->hsa, profile_packet(p, part), q->done);
	return profile_wait(q->done);
}

bool profile_enable_queue(hsa_agent_t agent, hsa_queue_t *hsa)
{
	hsa_signal_t done = { 0 };
	union packet packet;
	void *command;
	bool is_done;

	if (real.hsa_amd_signal_create(1, 0, NULL, 0, &done) != HSA_STATUS_SUCCESS)
		return false;
	if (!profile_enable(agent, &packet, &command)) {
		real.hsa_signal_destroy(done);
		return false;
	}
	profile_put(hsa, &packet, done);
	is_done = profile_wait(done);
	if (is_done) { /* else the GPU may still read both */
		profile_free_memory(command);
		real.hsa_signal_destroy(done);
	}
	return is_done;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static bool is_counter(hsa_ven_amd_aqlprofile_info_type_t type)
{
	return type == HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA;
}

/* Samples come die by die: of each die those of its events in their order, the shader engines of an
 * event one behind the other. In front of all are those of blocks that no die has (UMC of gfx94x),
 * whose sample_id is the block's. An event may be there twice (SQ_ACCUM_PREV). */
struct samples {
	struct profile *p;
	uint32_t event; /* of the last sample */
	bool has_event;
	uint64_t *values; /* NULL: they are counted */
};

static bool is_event(const hsa_ven_amd_aqlprofile_event_t *a,
		     const hsa_ven_amd_aqlprofile_event_t *b)
{
	return a->block_name == b->block_name && a->block_index == b->block_index &&
	       a->counter_id == b->counter_id;
}

/* The event that a sample is of: the last one, or the next one in the order that is equal.
 * event_count: there is none. */
static uint32_t event_of(const struct samples *s, const hsa_ven_amd_aqlprofile_info_data_t *data)
{
	const struct profile *p = s->p;
	uint32_t nr = p->aql.event_count, first = s->has_event ? s->event + 1 : 0;

	if (s->has_event && data->sample_id &&
	    is_event(&p->events[s->event], &data->pmc_data.event))
		return s->event;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t at = (first + i) % nr;

		if (is_event(&p->events[at], &data->pmc_data.event))
			return at;
	}
	return nr;
}

static hsa_status_t take_sample(hsa_ven_amd_aqlprofile_info_type_t type,
				hsa_ven_amd_aqlprofile_info_data_t *data, void *arg)
{
	struct samples *s = arg;
	struct profile *p = s->p;
	uint32_t event;

	if (!is_counter(type))
		return HSA_STATUS_SUCCESS;
	event = event_of(s, data);
	if (event == p->aql.event_count)
		return HSA_STATUS_ERROR;
	s->event = event;
	s->has_event = true;
	if (!s->values) {
		p->nr_samples[event]++;
		p->nr_values++;
		return HSA_STATUS_SUCCESS;
	}
	/* that it is none of the event behind is seen at the end */
	if (p->next[event] == p->nr_values)
		return HSA_STATUS_ERROR;
	s->values[p->next[event]++] = data->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

/* Counts the samples of each event; with `values` it reads them. */
static bool read_samples(struct profile *p, uint64_t *values)
{
	struct samples s = { .p = p, .values = values };
	uint32_t nr = p->aql.event_count, end = 0;

	for (uint32_t i = 0; i < nr; end += p->nr_samples[i++])
		p->next[i] = end;
	if (aql.hsa_ven_amd_aqlprofile_iterate_data(&p->aql, take_sample, &s) != HSA_STATUS_SUCCESS)
		return false;
	end = 0;
	for (uint32_t i = 0; i < nr; i++) {
		end += p->nr_samples[i];
		if (!p->nr_samples[i] || (values && p->next[i] != end))
			return false;
	}
	return true;
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
	return read_samples(p, NULL);
}

static bool set_events(struct profile *p, const struct profile_event *events, uint32_t nr)
{
	p->events = alloc_pages(nr * sizeof(*p->events));
	p->nr_samples = alloc_pages(nr * sizeof(*p->nr_samples));
	p->next = alloc_pages(nr * sizeof(*p->next));
	p->aql.events = p->events;
	p->aql.event_count = nr;
	if (!p->events || !p->nr_samples || !p->next)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		p->events[i] = (hsa_ven_amd_aqlprofile_event_t){
			.block_name = (hsa_ven_amd_aqlprofile_block_name_t)events[i].block,
			.block_index = events[i].instance,
			.counter_id = events[i].event,
		};
	return true;
}

static int fill(struct profile *p, const struct profile_event *events, uint32_t nr, char *why)
{
	snprintf(why, PROFILE_WHY_SIZE, "no memory");
	if (!set_events(p, events, nr))
		return -ENOMEM;
	if (aql.hsa_ven_amd_aqlprofile_start(&p->aql, NULL) != HSA_STATUS_SUCCESS) {
		snprintf(why, PROFILE_WHY_SIZE, "AQLprofile refuses: %s", error_text());
		return -EINVAL;
	}
	p->aql.command_buffer.ptr = allocate(p->aql.agent, p->aql.command_buffer.size);
	p->aql.output_buffer.ptr = allocate(p->aql.agent, p->aql.output_buffer.size);
	if (!p->aql.command_buffer.ptr || !p->aql.output_buffer.ptr)
		return -ENOMEM;
	if (make_packets(p)) {
		why[0] = 0;
		return 0;
	}
	snprintf(why, PROFILE_WHY_SIZE, "AQLprofile makes no packets: %s", error_text());
	return -EINVAL;
}

static struct profile *new_profile(hsa_agent_t agent)
{
	struct profile *p = alloc_pages(sizeof(*p));

	if (!p)
		return NULL;
	atomic_store_explicit(&p->nr_users, 1, memory_order_relaxed);
	p->serial = atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed) + 1;
	p->aql.agent = agent;
	p->aql.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
	return p;
}

static void free_profile(struct profile *p)
{
	uint32_t nr = p->aql.event_count;

	profile_free_memory(p->aql.command_buffer.ptr);
	profile_free_memory(p->aql.output_buffer.ptr);
	for (uint32_t i = 0; i < PROFILE_MEMORY; i++)
		profile_free_memory(p->memory[i]);
	if (p->events)
		alloc_pages_free(p->events, nr * sizeof(*p->events));
	if (p->nr_samples)
		alloc_pages_free(p->nr_samples, nr * sizeof(*p->nr_samples));
	if (p->next)
		alloc_pages_free(p->next, nr * sizeof(*p->next));
	alloc_pages_free(p, sizeof(*p));
}

/* False: there are enough, or it is a special one. */
static bool keep_spare(struct profile *p)
{
	bool kept;

	if (p->is_enclosed || !p->nr_values)
		return false;
	lock_take(&lock);
	kept = nr_spare < MAX_SPARE && aql_state == FOUND;
	if (kept)
		spare[nr_spare++] = p;
	lock_drop(&lock);
	return kept;
}

static bool has_events(const struct profile *p, const struct profile_event *events, uint32_t nr)
{
	if (p->aql.event_count != nr)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		const hsa_ven_amd_aqlprofile_event_t *e = &p->events[i];

		if ((uint32_t)e->block_name != events[i].block ||
		    e->block_index != events[i].instance || e->counter_id != events[i].event)
			return false;
	}
	return true;
}

/* NULL: there is none. */
static struct profile *take_spare(hsa_agent_t agent, const struct profile_event *events,
				  uint32_t nr)
{
	struct profile *p = NULL;

	lock_take(&lock);
	for (uint32_t i = nr_spare; i-- && !p;) {
		if (spare[i]->aql.agent.handle != agent.handle || !has_events(spare[i], events, nr))
			continue;
		p = spare[i];
		spare[i] = spare[--nr_spare];
	}
	lock_drop(&lock);
	if (p)
		atomic_store_explicit(&p->nr_users, 1, memory_order_relaxed);
	return p;
}

void profile_free_spares(void)
{
	lock_take(&lock);
	while (nr_spare)
		free_profile(spare[--nr_spare]);
	lock_drop(&lock);
}

void profile_free(struct profile *p)
{
	/* acq_rel: what the others did with it comes before the end */
	if (atomic_fetch_sub_explicit(&p->nr_users, 1, memory_order_acq_rel) == 1 && !keep_spare(p))
		free_profile(p);
}

int profile_make(hsa_agent_t agent, const struct profile_event *events, uint32_t nr, char *why,
		 struct profile **made)
{
	struct profile *p;
	int error;

	*made = NULL;
	if (!nr || nr > PROFILE_MAX_EVENTS) {
		snprintf(why, PROFILE_WHY_SIZE, "%u events, not 1 to %u", nr, PROFILE_MAX_EVENTS);
		return -EINVAL;
	}
	if (!profile_available()) {
		snprintf(why, PROFILE_WHY_SIZE, "the HSA runtime finds no AQLprofile");
		return -ENOTSUP;
	}
	*made = take_spare(agent, events, nr);
	if (*made) {
		why[0] = 0;
		return 0;
	}
	p = new_profile(agent);
	if (!p) {
		snprintf(why, PROFILE_WHY_SIZE, "no memory");
		return -ENOMEM;
	}
	error = fill(p, events, nr, why);
	if (error)
		profile_free(p);
	else
		*made = p;
	return error;
}

int profile_enclose(struct profile **events, hsa_agent_t agent, const union packet *before,
		    const union packet *after, void *const *memory)
{
	struct profile *p = *events ? *events : new_profile(agent);

	if (!p)
		return -ENOMEM;
	p->is_enclosed = true;
	p->packets[PROFILE_BEFORE] = *before;
	p->packets[PROFILE_AFTER] = *after;
	for (uint32_t i = 0; i < PROFILE_MEMORY && memory[i]; i++)
		p->memory[i] = memory[i];
	*events = p;
	return 0;
}

void profile_get(struct profile *p)
{
	/* relaxed: the caller has it already */
	atomic_fetch_add_explicit(&p->nr_users, 1, memory_order_relaxed);
}

const union packet *profile_packet(const struct profile *p, enum profile_part part)
{
	bool is_there = part >= PROFILE_BEFORE ? p->is_enclosed : p->aql.event_count != 0;

	return is_there ? &p->packets[part] : NULL;
}

uint32_t profile_nr_values(const struct profile *p)
{
	return p->nr_values;
}

uint32_t profile_nr_samples(const struct profile *p, uint32_t event)
{
	return p->nr_samples[event];
}

uint32_t profile_first_value(const struct profile *p, uint32_t event)
{
	uint32_t at = 0;

	while (event)
		at += p->nr_samples[--event];
	return at;
}

uint64_t profile_serial(const struct profile *p)
{
	return p->serial;
}

/* ---- several profiles as one ----------------------------------------------------------------- */

/* The position of an event; event_count: it is not there. */
static uint32_t find_event(const struct profile *p, const hsa_ven_amd_aqlprofile_event_t *e)
{
	uint32_t i = 0;

	while (i < p->aql.event_count && !is_event(&p->events[i], e))
		i++;
	return i;
}

static bool has_accumulating(const struct profile *p)
{
	for (uint32_t i = 0; i < p->aql.event_count; i++)
		if (IS_ACCUMULATING(&p->events[i]))
			return true;
	return false;
}

/* Whether they have the same events in the same order. */
static bool is_same(const struct profile *a, const struct profile *b)
{
	uint32_t n = a->aql.event_count;

	for (uint32_t i = 0; i < n && n == b->aql.event_count; i++)
		if (find_event(b, &a->events[i]) != i)
			return false;
	return n == b->aql.event_count;
}

/* Adds the events of profile `i` that the earlier ones do not have. Their number. */
static uint32_t add_new(struct profile *const *all, uint32_t i, struct profile_event *to)
{
	uint32_t nr = 0, before;

	for (uint32_t e = 0; e < all[i]->aql.event_count; e++) {
		const hsa_ven_amd_aqlprofile_event_t *event = &all[i]->events[e];

		for (before = 0; before < i; before++)
			if (find_event(all[before], event) < all[before]->aql.event_count)
				break;
		if (before == i)
			to[nr++] = (struct profile_event){ (uint32_t)event->block_name,
							   event->block_index, event->counter_id };
	}
	return nr;
}

int profile_unite(struct profile *const *all, uint32_t nr, char *why, struct profile **made)
{
	struct profile_event *events;
	uint32_t most = 0, n = 0;
	int error;

	*made = NULL;
	for (uint32_t i = 0; i < nr; i++) {
		most += all[i]->aql.event_count;
		if (all[i]->is_enclosed) {
			snprintf(why, PROFILE_WHY_SIZE, "a trace is recorded for one client alone");
			return -EINVAL;
		}
		if (has_accumulating(all[i]) && !is_same(all[i], all[0])) {
			snprintf(why, PROFILE_WHY_SIZE, "SQ_ACCUM_PREV depends on the order");
			return -EINVAL;
		}
	}
	events = alloc_pages(most * sizeof(*events));
	if (!events) {
		snprintf(why, PROFILE_WHY_SIZE, "no memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i++)
		n += add_new(all, i, events + n);
	error = profile_make(all[0]->aql.agent, events, n, why, made);
	alloc_pages_free(events, most * sizeof(*events));
	return error;
}

bool profile_project(const struct profile *from, const uint64_t *values, const struct profile *to,
		     uint64_t *to_values)
{
	for (uint32_t i = 0; i < to->aql.event_count; i++) {
		uint32_t e = find_event(from, &to->events[i]);

		if (e == from->aql.event_count || from->nr_samples[e] != to->nr_samples[i])
			return false;
		memcpy(to_values, values + profile_first_value(from, e),
		       to->nr_samples[i] * sizeof(*values));
		to_values += to->nr_samples[i];
	}
	return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool profile_read(struct profile *p, uint64_t *values)
{
	return !p->aql.event_count || read_samples(p, values);
}

/* ---- description ----------------------------------------------------------------------------- */

#define EVENT_TEXT 48u

uint32_t profile_description(struct profile *p)
{
	size_t size = (size_t)p->aql.event_count * EVENT_TEXT, at = 0;
	char *text;

	if (p->description)
		return p->description;
	text = alloc_pages(size);
	if (!text)
		return 0;
	for (uint32_t i = 0; i < p->aql.event_count; i++) {
		const hsa_ven_amd_aqlprofile_event_t *e = &p->events[i];

		at += (size_t)snprintf(text + at, EVENT_TEXT, "%s%u.%u.%ux%u", i ? "," : "",
				       (unsigned)e->block_name, e->block_index, e->counter_id,
				       p->nr_samples[i]);
	}
	p->description = bus_string(text, at);
	alloc_pages_free(text, size);
	return p->description;
}
