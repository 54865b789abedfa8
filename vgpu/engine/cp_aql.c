/* SPDX-License-Identifier: MIT */
/* cp_aql.c - command processor: AQL packets
 *
 * A slot holds a packet when its index is below write_dispatch_id and its header's type is not
 * INVALID; the doorbell's value is ignored (several producers may ring in any order), unless
 * VGPU_DOORBELL=strict: then it is the index of the last packet that may be processed, and beyond
 * the write index it is an error. A packet's life:
 *
 *     seen      its header was found valid; that time is recorded: no packet begins before it
 *     begun     at the later of that time and the queue's gate (the end of the packets before a
 *               barrier)
 *     due       its end is reached
 *     complete  header := INVALID, read_dispatch_id := index + 1, timestamps, value, mailbox, event
 *
 * Threads:  the engine's, under the engine's lock.
 * Not here: what a kernel does and how long it takes (kernel.c), injected faults (fault.c).
 */
#include "cp_aql.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cp_pm4.h"
#include "deliver.h"
#include "engine.h"
#include "../gcn/gcn.h"
#include "../gcn/wave.h"
#include "kernel.h"
#include "host.h"
#include "knobs.h"
#include "mem.h"
#include "perf.h"
#include "sqtt.h"
#include "vtime.h"

/* packets begun in one visit, so that other queues get their turn */
#define BATCH 256

/* queue numbers whose progress VGPU_HOLD can use */
#define NUMBERS_MAX 4096

enum {
	INACTIVE_SCRATCH = 1,
	ERROR_BAD_DIMENSIONS = 2,
	ERROR_BAD_LDS = 4,
	ERROR_BAD_PACKET = 32,
	ERROR_BAD_GROUP = 64,
	ERROR_BAD_VENDOR_PACKET = 256,
};

enum {
	VENDOR_PM4_IB = 1,
	VENDOR_BARRIER_VALUE = 2,
	VENDOR_EXT_DISPATCH = 3, /* gfx1250's way to launch a kernel (hsa_ext_amd.h of ROCm 10) */
};

static uint64_t completed[NUMBERS_MAX];

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool deterministic(void)
{
	return knobs.clock == KNOBS_CLOCK_DETERMINISTIC;
}

static uint64_t to_ticks(const struct queue *q, uint64_t ns, uint64_t vns)
{
	return deterministic() ? clock_virtual_ticks(q->gpu, vns) : clock_ticks(q->gpu, ns);
}

static amd_signal_t *signal_of(uint64_t handle)
{
	return mem_ptr(handle);
}

static unsigned char *slot_of(const struct queue *q, uint64_t index)
{
	return q->ring + (index & (q->size - 1)) * QUEUE_PACKET_SIZE;
}

static unsigned int type_of(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static bool barrier_bit(const void *packet)
{
	return mem_load16(packet) >> HSA_PACKET_HEADER_BARRIER & 1;
}

static void free_slot(struct queue *q, uint64_t index)
{
	mem_store16(slot_of(q, index), HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE);
	/* pairs with the acquire of producers: the slot is free before they see the index */
	mem_store64(&q->aq->read_dispatch_id, index + 1);
}

/* The packet's last steps, in the order on which the runtime depends. */
static void signal_done(struct queue *q, uint64_t handle, uint64_t begin, uint64_t end, bool stamp,
			uint64_t end_vns, bool lose_event)
{
	if (!handle)
		return;
	if (stamp) {
		signal_of(handle)->start_ts = begin;
		signal_of(handle)->end_ts = end;
	}
	deliver_signal(q, handle, end_vns, lose_event);
}

static bool profiled(const struct queue *q)
{
	return mem_load32(&q->aq->queue_properties) & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
}

static void complete_dispatch(struct queue *q, struct queue_flight *f)
{
	const hsa_kernel_dispatch_packet_t *d = (const void *)f->packet;
	struct log_where where = queue_where(q);
	uint64_t shift = (uint64_t)f->shift_ns, late = shift + (uint64_t)f->stretch_ns;
	uint64_t begin = to_ticks(q, f->begin_ns + shift, f->begin_vns + shift);
	uint64_t end = to_ticks(q, f->end_ns + late, f->end_vns + late);

	sqtt_waves_end(f->waves,
		       &(struct sqtt_dispatch){ q->gpu, q->number, f->index, begin, end });
	f->waves = NULL;
	if (f->swap) {
		uint64_t t = begin;

		begin = end;
		end = t;
	}
	log_dispatch(&where, f->index, d, begin, end,
		     f->run && knobs.counters ? gcn_run_counters(f->run) : NULL);
	kernel_end(f);
	if (!f->slot_freed)
		free_slot(q, f->index);
	q->completed++;
	if (q->number < NUMBERS_MAX)
		completed[q->number]++;
	signal_done(q, f->lose_signal ? 0 : d->completion_signal.handle, begin, end, f->stamp,
		    f->end_vns, f->lose_event);
}

/* Completes a barrier or vendor packet at `ns`. */
static void complete_other(struct queue *q, const char *kind, uint64_t ns, uint64_t vns)
{
	uint64_t handle = mem_get64(slot_of(q, q->next) + 56);
	struct log_where where = queue_where(q);
	uint64_t ticks = to_ticks(q, ns, vns);

	log_packet(&where, kind, q->next, ticks, ticks, handle);
	free_slot(q, q->next);
	signal_done(q, handle, ticks, ticks, profiled(q), vns, false);
	q->next++;
	q->gate_ns = max64(q->gate_ns, ns);
	q->gate_vns = max64(q->gate_vns, vns);
	q->last_ns = max64(q->last_ns, ns);
	q->last_vns = max64(q->last_vns, vns);
}

/* The driver's exception number for an error code of queue_inactive_signal. */
static unsigned int exception_of(uint64_t code)
{
	static const struct {
		uint64_t code;
		unsigned int exception;
	} map[] = {
		{ 2, 16 },   { 4, 17 },	  { 8, 18 },	     { 32, 20 },	{ 64, 21 },
		{ 128, 22 }, { 256, 23 }, { 0x20000000, 6 }, { 0x40000000, 4 }, { 0x80000000, 2 },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (map[i].code == code)
			return map[i].exception;
	}
	return 4;
}

/* Writes to queue_inactive_signal, and wakes its waiting threads. */
static void report_inactive(struct queue *q, uint64_t code)
{
	amd_signal_t *s = signal_of(q->aq->queue_inactive_signal.handle);

	if (!s)
		return;
	mem_store64(&s->value, code);
	if (s->event_mailbox_ptr) {
		mem_store64(mem_ptr(s->event_mailbox_ptr), s->event_id);
		host_event_set(s->event_id);
	}
}

void cp_aql_error(struct queue *q, uint64_t code, uint64_t index)
{
	struct log_where where = queue_where(q);

	log_fault(&where, fault_name(FAULT_QUEUE_ERROR), index);
	log_flush();
	q->dead = true;
	if (q->error_reason) {
		uint64_t mask = 1ull << (exception_of(code) - 1);

		mem_store64(q->error_reason, mask);
		if (q->error_event)
			host_event_set(q->error_event);
		return;
	}
	report_inactive(q, code);
}

/*
 * If a kernel needs more scratch memory than the queue has, requests it from the runtime. The queue
 * stops until the runtime answers by storing 0, or stops the queue.
 */
static bool scratch_missing(struct queue *q, const void *packet)
{
	if (!kernel_wants_scratch(q, packet))
		return false;
	if (!q->scratch_asked) {
		q->scratch_asked = true;
		report_inactive(q, INACTIVE_SCRATCH);
	}
	return true;
}

/* Whether the request is unanswered. The kernel that waits begins when it is answered. */
static bool scratch_pending(struct queue *q)
{
	amd_signal_t *s = signal_of(q->aq->queue_inactive_signal.handle);

	if (q->scratch_asked && (!s || !mem_load64(&s->value))) {
		q->scratch_asked = false;
		q->gate_ns = max64(q->gate_ns, clock_now());
	}
	return q->scratch_asked;
}

/* Unless VGPU_DOORBELL=lenient: reads the doorbell. false: its value is not below the write
 * index. */
static bool take_doorbell(struct queue *q)
{
	uint64_t value = mem_load64(q->doorbell);

	if (value == QUEUE_NOT_RUNG || value < q->rung)
		return true;
	/* read after the doorbell: producers move the index before they ring */
	if (knobs.doorbell == KNOBS_DOORBELL_STRICT &&
	    value >= mem_load64(&q->aq->write_dispatch_id))
		return false;
	q->rung = value + 1;
	return true;
}

/* The index up to which packets may be valid. */
static uint64_t announced(const struct queue *q)
{
	return knobs.doorbell == KNOBS_DOORBELL_LENIENT ? mem_load64(&q->aq->write_dispatch_id) :
							  q->rung;
}

/* Records which packets have become valid, and when. */
static uint64_t scan_packets(struct queue *q)
{
	uint64_t first = q->seen;
	uint64_t end = announced(q);
	uint64_t limit = q->aq->read_dispatch_id + q->size;
	uint64_t now;

	/* producers reserve an index before its slot is free: it still has an older packet */
	if (end > limit)
		end = limit;
	while (q->seen < end && type_of(mem_load16(slot_of(q, q->seen))) != HSA_PACKET_TYPE_INVALID)
		q->seen++;
	now = clock_now();
	for (uint64_t i = first; i < q->seen; i++)
		q->seen_ns[i & (q->size - 1)] = now;
	return now;
}

static void name_queue(struct queue *q)
{
	struct log_where where;

	q->number = q->aq->hsa_queue.id;
	q->named = true;
	where = queue_where(q);
	log_queue(&where, true, "aql", q->size);
}

/* Applies the injected faults of this dispatch; false: it must not run. */
static bool apply_faults(struct queue *q, struct queue_flight *f)
{
	struct log_where where = queue_where(q);
	const struct fault_rule *r;
	const hsa_kernel_dispatch_packet_t *d = (const void *)f->packet;
	const struct fault_event event = { .gpu = q->gpu,
					   .queue = (int64_t)q->number,
					   .signal = d->completion_signal.handle != 0 };

	r = fault_match(FAULT_QUEUE_ERROR, &event);
	if (r) {
		cp_aql_error(q, r->code, f->index);
		return false;
	}
	r = fault_match(FAULT_MEMORY, &event);
	if (r) {
		engine_memory_fault(q, f->index, mem_get64(f->packet + 40),
				    (unsigned int)r->code & 7);
		return false;
	}
	r = fault_match(FAULT_SLOW, &event);
	f->factor = r ? r->factor : 1;
	if (fault_match(FAULT_HANG, &event)) {
		log_fault(&where, fault_name(FAULT_HANG), f->index);
		f->never = true;
	}
	f->hold = fault_match(FAULT_HOLD, &event);
	if (fault_match(FAULT_NO_TIMESTAMPS, &event))
		f->stamp = false;
	f->swap = fault_match(FAULT_SWAP_TIMESTAMPS, &event) != NULL;
	f->lose_event = fault_match(FAULT_LOST_EVENT, &event) != NULL;
	f->lose_signal = fault_match(FAULT_LOST_SIGNAL, &event) != NULL;
	f->skip = fault_match(FAULT_SKIP, &event) != NULL;
	r = fault_match(FAULT_SHIFT_TIMESTAMPS, &event);
	f->shift_ns = r ? r->shift_ns : 0;
	r = fault_match(FAULT_STRETCH_TIMESTAMPS, &event);
	f->stretch_ns = r ? r->shift_ns : 0;
	if (fault_match(FAULT_EXIT_ABORT, &event))
		fault_abort_at_exit();
	return true;
}

static bool due(const struct queue_flight *f, uint64_t now)
{
	if (f->executing || now < f->end_ns)
		return false;
	return !f->hold || f->hold->until >= NUMBERS_MAX ||
	       completed[f->hold->until] >= f->hold->done;
}

/* Completes packets that are due; returns whether there were any. */
static bool complete_due(struct queue *q, uint64_t now)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < q->nr_flights; i++) {
		struct queue_flight *f = &q->flights[i];

		if (due(f, now)) {
			/* VGPU_HOLD: it ends when it is released */
			if (f->hold)
				f->end_ns = now;
			if (q->nr_flights == knobs.overlap)
				q->gate_ns = max64(q->gate_ns, f->end_ns);
			q->last_ns = max64(q->last_ns, f->end_ns);
			complete_dispatch(q, f);
		} else {
			if (kept != i)
				q->flights[kept] = *f;
			kept++;
		}
	}
	if (kept == q->nr_flights)
		return false;
	q->nr_flights = kept;
	return true;
}

/* Sets the end, from begin and duration. */
static void set_end(struct queue *q, struct queue_flight *f)
{
	const struct gcn_counters *counters = f->run ? gcn_run_counters(f->run) : NULL;
	uint64_t ns = kernel_duration_ns((const void *)f->packet, counters ? counters->insts : 0);

	if (counters)
		perf_count(q->gpu, q->counts_waves, counters);

	if (knobs.model == KNOBS_MODEL_MEASURED && f->run)
		ns = max64(clock_now(), f->begin_ns) - f->begin_ns;
	if (mem_get64(f->packet + offsetof(hsa_kernel_dispatch_packet_t, completion_signal)))
		ns += knobs.signal_ns;
	if (f->factor != 1)
		ns = (uint64_t)((double)ns * f->factor);
	f->executing = false;
	f->end_ns = f->never ? QUEUE_NEVER : f->begin_ns + ns;
	f->end_vns = f->begin_vns + (f->never ? 0 : ns);
	if (knobs.overlap == 1)
		q->gate_vns = q->last_vns = f->end_vns;
}

/* Runs a slice of each dispatch in execution; true if there was any. *waits: but all of them wait
 * for others. */
static bool execute_slices(struct queue *q, bool *waits)
{
	enum kernel_state state;
	bool any = false, works = false;

	for (unsigned int i = 0; i < q->nr_flights && !q->dead; i++) {
		struct queue_flight *f = &q->flights[i];

		if (!f->executing)
			continue;
		any = true;
		state = kernel_continue(q, f);
		works |= state != KERNEL_WAITS;
		if (state == KERNEL_OVER)
			set_end(q, f);
	}
	*waits = any && !works;
	return any;
}

/* Converts gfx1250's dispatch packet, which has the grid as clusters of work-groups, to a plain
 * one; the other members are the same. */
static void lower_ext_dispatch(unsigned char *packet)
{
	hsa_kernel_dispatch_packet_t *d = (void *)packet;
	uint32_t clusters[3] = { mem_get32(packet + 12), mem_load16(packet + 16),
				 mem_load16(packet + 18) };
	uint32_t size[3] = { packet[20], packet[21], packet[22] };

	d->header = (uint16_t)((d->header & ~0xffu) | HSA_PACKET_TYPE_KERNEL_DISPATCH);
	d->setup = packet[3];
	d->grid_size_x = clusters[0] * size[0] * d->workgroup_size_x;
	d->grid_size_y = clusters[1] * size[1] * d->workgroup_size_y;
	d->grid_size_z = clusters[2] * size[2] * d->workgroup_size_z;
	d->reserved2 = 0;
}

/* The error by which hardware refuses a dispatch, whatever its kernel does; 0: none. */
static uint64_t form_error(const hsa_kernel_dispatch_packet_t *d)
{
	uint64_t items = (uint64_t)d->workgroup_size_x * d->workgroup_size_y * d->workgroup_size_z;

	/* 1 to 3 dimensions; the other bits of the field are reserved, and 0 */
	if (d->setup < 1 || d->setup > 3 || !d->grid_size_x || !d->grid_size_y || !d->grid_size_z)
		return ERROR_BAD_DIMENSIONS;
	if (!items || items > GCN_WAVES_MAX * GCN_LANES)
		return ERROR_BAD_GROUP;
	return d->group_segment_size > GCN_LDS_SIZE ? ERROR_BAD_LDS : 0;
}

static bool begin_dispatch(struct queue *q, uint64_t now)
{
	struct queue_flight *f;
	enum kernel_state state = KERNEL_OVER;
	uint64_t error;

	if (q->nr_flights >= knobs.overlap)
		return false;
	f = &q->flights[q->nr_flights];
	memcpy(f->packet, slot_of(q, q->next), QUEUE_PACKET_SIZE);
	if (type_of(mem_load16(f->packet)) == HSA_PACKET_TYPE_VENDOR_SPECIFIC)
		lower_ext_dispatch(f->packet);
	/* before its scratch memory is asked for: one of a wrong form may have any size */
	error = form_error((const void *)f->packet);
	if (error) {
		cp_aql_error(q, error, q->next);
		return false;
	}
	/* for a larger request the runtime frees the present scratch memory: wait until no kernel
	 * uses it */
	if (kernel_waits_for_scratch(q, slot_of(q, q->next)) ||
	    scratch_missing(q, slot_of(q, q->next)))
		return false;
	f->index = q->next;
	f->run = NULL;
	f->waves = NULL;
	f->hold = NULL;
	f->swap = f->lose_event = f->never = f->executing = false;
	f->stamp = profiled(q);
	if (!apply_faults(q, f))
		return false;

	f->begin_ns = max64(q->gate_ns, q->seen_ns[q->next & (q->size - 1)]);
	if (knobs.model == KNOBS_MODEL_MEASURED)
		f->begin_ns = max64(f->begin_ns, now);
	f->begin_vns = q->gate_vns;
	q->next++;
	/* a kernel that hangs has no end */
	if (!f->never && !f->skip)
		state = kernel_begin(q, f);
	if (state == KERNEL_FAILED)
		return false;
	f->executing = state == KERNEL_RUNNING || state == KERNEL_WAITS;
	if (!f->executing)
		set_end(q, f);
	if (knobs.overlap > 1) {
		q->gate_ns = f->begin_ns;
		free_slot(q, f->index);
		f->slot_freed = true;
	} else {
		f->slot_freed = false;
		if (due(f, now)) {
			q->gate_ns = q->last_ns = f->end_ns;
			complete_dispatch(q, f);
			return true;
		}
	}
	q->nr_flights++;
	return true;
}

static bool begin_ext_dispatch(struct queue *q, const unsigned char *packet, uint64_t now)
{
	uint64_t dep_signal = mem_get64(packet + 48);

	return (!dep_signal || !deliver_value(dep_signal)) && begin_dispatch(q, now);
}

/* Whether the dependencies of a barrier packet are satisfied. *vns: since when. */
static bool barrier_ready(const unsigned char *packet, bool any, bool *has_deps, uint64_t *vns)
{
	bool all_done = true, one_done = false;
	uint64_t latest = 0, earliest = QUEUE_NEVER;

	*has_deps = false;
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t handle = mem_get64(packet + 8 + i * 8);

		if (!handle)
			continue;
		*has_deps = true;
		if (deliver_value(handle)) {
			all_done = false;
			continue;
		}
		one_done = true;
		if (deterministic()) {
			uint64_t t = vtime_get(handle);

			latest = max64(latest, t);
			earliest = t < earliest ? t : earliest;
		}
	}
	*vns = !*has_deps ? 0 : any ? earliest : latest;
	return !*has_deps || (any ? one_done : all_done);
}

static bool value_ready(const unsigned char *packet, bool *has_deps, uint64_t *vns)
{
	uint64_t handle = mem_get64(packet + 8);
	int64_t want = (int64_t)mem_get64(packet + 16);
	int64_t have;

	*vns = 0;
	*has_deps = handle != 0;
	if (!handle)
		return true;
	have = deliver_value(handle) & (int64_t)mem_get64(packet + 24);
	*vns = deterministic() ? vtime_get(handle) : 0;
	switch (mem_get32(packet + 32)) {
	case HSA_SIGNAL_CONDITION_EQ:
		return have == want;
	case HSA_SIGNAL_CONDITION_NE:
		return have != want;
	case HSA_SIGNAL_CONDITION_LT:
		return have < want;
	default:
		return have >= want;
	}
}

/* Runs PM4 packets, after all packets before them; true: they are done. */
static bool run_pm4(struct queue *q, const unsigned char *packet)
{
	enum cp_pm4_state state;
	uint64_t addr;

	if (q->nr_flights)
		return false;
	state = cp_pm4_run(q, packet, &addr);
	q->pm4_more = state == CP_PM4_MORE;
	switch (state) {
	case CP_PM4_DONE:
		/* the runtime sends it after it has loaded code */
		kernel_code_changed();
		return true;
	case CP_PM4_WAITS:
	case CP_PM4_MORE:
		return false;
	case CP_PM4_FAULT:
		engine_memory_fault(q, q->next, addr, 0);
		return false;
	default:
		cp_aql_error(q, ERROR_BAD_PACKET, q->next);
		return false;
	}
}

/* Barrier-AND, barrier-OR and vendor packets complete as soon as their dependencies are
 * satisfied. */
static bool begin_other_packet(struct queue *q, unsigned int type, uint64_t now)
{
	const unsigned char *packet = slot_of(q, q->next);
	const char *kind = "barrier";
	uint64_t ns, vns = 0;
	bool ready = true, has_deps = false;

	if (type != HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
		ready = barrier_ready(packet, type == HSA_PACKET_TYPE_BARRIER_OR, &has_deps, &vns);
	} else if (packet[2] == VENDOR_BARRIER_VALUE) {
		ready = value_ready(packet, &has_deps, &vns);
	} else if (packet[2] == VENDOR_PM4_IB) {
		ready = run_pm4(q, packet);
		kind = "vendor";
	} else {
		cp_aql_error(q, ERROR_BAD_VENDOR_PACKET, q->next);
		return false;
	}
	if (!ready)
		return false;
	/* the signal changed at some time up to now: later packets begin now at the earliest */
	ns = max64(q->gate_ns, q->seen_ns[q->next & (q->size - 1)]);
	if (has_deps)
		ns = max64(ns, now);
	complete_other(q, kind, ns, max64(q->gate_vns, vns));
	return true;
}

/* Begins the packet at the head if it may begin now. */
static bool begin_packet(struct queue *q, uint64_t now)
{
	const unsigned char *packet = slot_of(q, q->next);
	unsigned int type = type_of(mem_load16(packet));

	if (q->nr_flights && (knobs.overlap == 1 || barrier_bit(packet)))
		return false;
	if (barrier_bit(packet))
		q->gate_ns = max64(q->gate_ns, q->last_ns);

	switch (type) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return begin_dispatch(q, now);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		if (packet[2] == VENDOR_EXT_DISPATCH)
			return begin_ext_dispatch(q, packet, now);
		return begin_other_packet(q, type, now);
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		return begin_other_packet(q, type, now);
	default:
		cp_aql_error(q, ERROR_BAD_PACKET, q->next);
		return false;
	}
}

struct queue_visit cp_aql_serve(struct queue *q)
{
	struct queue_visit v = { .wake_ns = QUEUE_NEVER };
	uint64_t now;

	if (q->nr_late)
		v.progress = deliver_serve(q, clock_now(), &v.wake_ns);
	if (q->dead || (q->paused && !q->nr_flights) || scratch_pending(q))
		return v;
	if (knobs.doorbell != KNOBS_DOORBELL_LENIENT && !take_doorbell(q)) {
		cp_aql_error(q, ERROR_BAD_PACKET, mem_load64(q->doorbell));
		v.progress = true;
		return v;
	}
	/* no packets and none running: the usual case, one load */
	if (!q->nr_flights && announced(q) == q->next)
		return v;

	now = scan_packets(q);
	if (!q->named && q->next < q->seen)
		name_queue(q);
	if (q->nr_flights) {
		if (execute_slices(q, &v.waits))
			v.progress = true;
		if (complete_due(q, now)) {
			v.progress = true;
			v.waits = false;
		}
	}
	for (unsigned int i = 0; i < BATCH && q->next < q->seen && !q->paused && !q->dead; i++) {
		if (!begin_packet(q, now))
			break;
		v.progress = true;
		v.waits = false;
	}
	if (q->pm4_more) {
		v.progress = true;
		v.waits = false;
	}
	for (unsigned int i = 0; i < q->nr_flights; i++) {
		/* a held packet is checked again after others made progress */
		if (!q->flights[i].executing && q->flights[i].end_ns > now &&
		    q->flights[i].end_ns < v.wake_ns)
			v.wake_ns = q->flights[i].end_ns;
	}
	return v;
}
