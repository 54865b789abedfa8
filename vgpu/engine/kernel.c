/* SPDX-License-Identifier: MIT */
/* kernel.c - what a kernel does and how long it takes
 *
 * Owns:     the free runs of the interpreter.
 * Threads:  the engine's, under its lock.
 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "../gcn/gcn.h"
#include "../gcn/symbol.h"
#include "host.h"
#include "host.h"
#include "knobs.h"
#include "perf.h"
#include "queue.h"
#include "sqtt.h"
#include "workers.h"

/* instructions in a slice, of each thread: about half a millisecond */
#define SLICE 20000
/* before a dispatch is shared among threads: a small one ends before they would wake up;
 * instructions may take long, too */
#define ALONE 3000
#define ALONE_STEP 100
#define ALONE_NS 10000

#define SPARE_MAX 64

static struct gcn_run *spare[SPARE_MAX];
static unsigned int nr_spare;

static uint64_t ticks_now(unsigned int gpu)
{
	return clock_ticks(gpu, clock_now());
}

static const struct gcn_host host = {
	.range = host_range,
	.generation = &host_generation,
	.interrupt = host_event_set,
	.ticks = ticks_now,
};

static uint64_t groups(uint32_t grid, uint16_t group)
{
	return group ? ((uint64_t)grid + group - 1) / group : 1;
}

uint64_t kernel_duration_ns(const hsa_kernel_dispatch_packet_t *packet, uint64_t insts)
{
	double items, nr_groups, ns = (double)knobs.kernel_ns;

	if (knobs.model == KNOBS_MODEL_INSTS) {
		ns += (double)insts * knobs.ns_per_inst;
	} else if (knobs.model == KNOBS_MODEL_GRID) {
		items = (double)packet->grid_size_x * packet->grid_size_y * packet->grid_size_z;
		nr_groups = (double)groups(packet->grid_size_x, packet->workgroup_size_x) *
			    (double)groups(packet->grid_size_y, packet->workgroup_size_y) *
			    (double)groups(packet->grid_size_z, packet->workgroup_size_z);
		ns += items * knobs.ns_per_item + nr_groups * knobs.ns_per_group;
	} else {
		return knobs.kernel_ns;
	}
	/* at most about 11 days */
	return ns < 1e15 ? (uint64_t)ns : (uint64_t)1e15;
}

bool kernel_wants_scratch(const struct queue *q, const void *packet)
{
	const hsa_kernel_dispatch_packet_t *d = packet;

	if (knobs.exec == KNOBS_EXEC_OFF || !d->private_segment_size)
		return false;
	return !q->aq->compute_tmpring_size ||
	       d->private_segment_size > q->aq->scratch_wave64_lane_byte_size;
}

bool kernel_waits_for_scratch(const struct queue *q, const void *packet)
{
	const hsa_kernel_dispatch_packet_t *d = packet;

	for (unsigned int i = 0; i < q->nr_flights && d->private_segment_size; i++) {
		const hsa_kernel_dispatch_packet_t *other = (const void *)q->flights[i].packet;

		if (q->flights[i].executing && other->private_segment_size)
			return true;
	}
	return false;
}

static uint64_t error_code(enum gcn_status status)
{
	switch (status) {
	case GCN_BAD_DIMS:
		return 2;
	case GCN_BAD_LDS:
	case GCN_NEEDS_SCRATCH:
		return 4;
	case GCN_BAD_CODE:
		return 8;
	case GCN_BAD_GROUP:
		return 64;
	case GCN_TRAP:
		return 0x80000000;
	default:
		return 0x40000000;
	}
}

static const char *reason(enum gcn_status status)
{
	static const char *const names[] = {
		[GCN_MEMORY_FAULT] = "memory_fault",
		[GCN_ILLEGAL] = "illegal_instruction",
		[GCN_UNIMPLEMENTED] = "unimplemented_instruction",
		[GCN_TRAP] = "trap",
		[GCN_BAD_DIMS] = "bad_dimensions",
		[GCN_BAD_GROUP] = "bad_workgroup",
		[GCN_BAD_LDS] = "bad_lds_size",
		[GCN_BAD_CODE] = "bad_code_object",
		[GCN_NEEDS_SCRATCH] = "no_scratch",
	};

	return names[status];
}

/* Once for each mnemonic with VGPU_EXEC=auto, every time with =on. */
static void report_unimplemented(const struct gcn_stop *s, const char *kernel)
{
	static char seen[32][sizeof(s->text)];
	static unsigned int nr;
	size_t len = strcspn(s->text, " ");

	if (knobs.exec == KNOBS_EXEC_AUTO) {
		for (unsigned int n = 0; n < nr; n++) {
			if (!strncmp(seen[n], s->text, len) && !seen[n][len])
				return;
		}
		if (nr < sizeof(seen) / sizeof(seen[0]))
			memcpy(seen[nr++], s->text, len);
	}
	fprintf(stderr, "vgpu: %s+0x%llx: %s (%08x %08x) is not implemented\n", kernel,
		(unsigned long long)s->offset, s->text, s->word[0], s->word[1]);
}

static void report_illegal(const struct gcn_stop *s, const char *kernel, unsigned int gpu)
{
	fprintf(stderr, "vgpu: %s+0x%llx: %s (%08x %08x) is illegal on %s: %s\n", kernel,
		(unsigned long long)s->offset, s->text, s->word[0], s->word[1],
		gcn_archs[knobs.arch[gpu]].name, s->why ? s->why : "there is no such instruction");
}

static void fail(struct queue *q, struct queue_flight *f, enum gcn_status status)
{
	const hsa_kernel_dispatch_packet_t *d = (const void *)f->packet;
	const struct gcn_stop *s = gcn_run_stop(f->run);
	struct log_where where = queue_where(q);
	char name[256];

	symbol_name(&host, d->kernel_object, name, sizeof(name));
	if (status == GCN_UNIMPLEMENTED)
		report_unimplemented(s, name);
	else if (status == GCN_ILLEGAL)
		report_illegal(s, name, q->gpu);
	log_stop(&where, reason(status), f->index, name, s);
	log_flush();
	if (status == GCN_MEMORY_FAULT) {
		q->dead = true;
		host_memory_fault(q->gpu, s->addr, 0);
	} else {
		cp_aql_error(q, error_code(status), f->index);
	}
	kernel_end(f);
}

static enum kernel_state after_slice(struct queue *q, struct queue_flight *f,
				     enum gcn_status status)
{
	if (status == GCN_RUNNING)
		return gcn_run_waits(f->run) ? KERNEL_WAITS : KERNEL_RUNNING;
	if (status == GCN_DONE)
		return KERNEL_OVER;
	fail(q, f, status);
	return KERNEL_FAILED;
}

/* Runtimes from 7.0 on give the size of a queue's scratch memory only to the hardware:
 * COMPUTE_TMPRING_SIZE has the number of waves (bits 11:0) and the bytes of each (bits 24:12, in
 * units of 1024). */
static uint64_t scratch_size(const amd_queue_t *aq)
{
	uint64_t waves = aq->compute_tmpring_size & 0xfff;
	uint64_t wave_bytes = (aq->compute_tmpring_size >> 12 & 0x1fff) * 1024;

	return aq->scratch_backing_memory_byte_size ? aq->scratch_backing_memory_byte_size :
						      waves * wave_bytes;
}

static enum gcn_status run_alone(struct gcn_run *r)
{
	uint64_t until = clock_now() + ALONE_NS;
	enum gcn_status status = GCN_RUNNING;

	for (unsigned int n = 0; n < ALONE && status == GCN_RUNNING; n += ALONE_STEP) {
		status = gcn_run_slice(r, ALONE_STEP);
		if (gcn_run_waits(r) || clock_now() > until)
			break;
	}
	return status;
}

enum kernel_state kernel_begin(struct queue *q, struct queue_flight *f)
{
	struct gcn_launch launch = {
		.host = &host,
		.arch = (enum gcn_arch_id)knobs.arch[q->gpu],
		.packet = f->packet,
		.queue = (uintptr_t)q->aq,
		.dispatch_id = f->index,
		.gpu = q->gpu,
		.scratch_base = q->aq->scratch_backing_memory_location,
		.scratch_size = scratch_size(q->aq),
		.scratch_lane_bytes = q->aq->scratch_wave64_lane_byte_size,
		.cache_model = knobs.counters || perf_counting(q->gpu),
	};

	enum gcn_status status;

	f->waves = sqtt_waves_begin(q->gpu, (const void *)f->packet);
	if (knobs.exec == KNOBS_EXEC_OFF) {
		if (f->waves)
			sqtt_waves_all(f->waves, (const void *)f->packet);
		return KERNEL_OVER;
	}
	if (f->waves) {
		launch.group_end = sqtt_waves_group;
		launch.group_arg = f->waves;
	}
	memcpy(launch.scratch_srd, q->aq->scratch_resource_descriptor, sizeof(launch.scratch_srd));
	f->run = nr_spare ? spare[--nr_spare] : gcn_run_create();
	if (!f->run) {
		cp_aql_error(q, error_code(GCN_BAD_CODE), f->index);
		return KERNEL_FAILED;
	}
	status = gcn_run_start(f->run, &launch);
	if (status == GCN_RUNNING)
		status = knobs.threads > 1 ? run_alone(f->run) : gcn_run_slice(f->run, SLICE);
	return after_slice(q, f, status);
}

enum kernel_state kernel_continue(struct queue *q, struct queue_flight *f)
{
	if (knobs.threads == 1 || !gcn_run_several(f->run))
		return after_slice(q, f, gcn_run_slice(f->run, SLICE));
	workers_run(f->run, SLICE);
	return after_slice(q, f, gcn_run_close(f->run));
}

void kernel_end(struct queue_flight *f)
{
	sqtt_waves_free(f->waves);
	f->waves = NULL;
	if (!f->run)
		return;
	if (nr_spare < SPARE_MAX)
		spare[nr_spare++] = f->run;
	else
		gcn_run_destroy(f->run);
	f->run = NULL;
}

void kernel_code_changed(void)
{
	gcn_code_changed();
}
