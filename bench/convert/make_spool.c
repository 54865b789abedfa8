/* SPDX-License-Identifier: MIT */
/* make_spool.c - writes a raw trace of N dispatches, like that of a training program
 *
 *	make_spool dispatches=1000000 [calls=0] [kernels=120] [shapes=400] [queues=4] [gpus=2]
 *	[layers=16] [noise=0] [seed=1] [collectives=0] [begin=0]
 *
 * Written by the recorder itself into RTL_SPOOL_DIR: agents, queues, kernels with mangled names,
 * and dispatches in `layers` ranges to a step. With calls=1 each dispatch has its hipLaunchKernel,
 * with arguments of 8 words; with calls=2 no two of those are the same. With noise=NS each duration
 * is longer by up to NS, always by the same numbers of a seed. With collectives=N there are N
 * collectives of all GPUs and no dispatches, 20 us apart from the time begin=NS on (0:
 * now): a GPU comes up to `noise` late, and all end together. Ranks are processes with the same
 * `begin`. Nothing runs on a GPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "overhead/bench_common.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/location.h"
#include "event/bus.h"
#include "sink/recorder/recorder.h"

#define OP_LAUNCH 100u

#define COLLECTIVE_NS 20000

static uint64_t nr_kernels, nr_shapes, nr_queues, nr_gpus, nr_layers, calls, noise;
static uint32_t kernel_names[4096];
static uint32_t tid;
static uint64_t state; /* of next_noise() */
static uint64_t now_ns;

static void emit_agents(void)
{
	for (uint32_t i = 0; i <= nr_gpus; i++) {
		struct event ev = { .kind = EVENT_AGENT };

		ev.agent.index = i;
		ev.agent.handle = 0x1000 + i;
		ev.agent.name = bus_string(i ? "gfx90a" : "AMD EPYC", SIZE_MAX);
		ev.agent.product = bus_string(i ? "AMD Instinct MI250X" : "AMD EPYC", SIZE_MAX);
		ev.agent.vendor = bus_string("AMD", SIZE_MAX);
		ev.agent.agent_type = i ? REC_AGENT_GPU : REC_AGENT_CPU;
		ev.agent.gpu_index = i ? i - 1 : UINT32_MAX;
		ev.agent.node = i;
		ev.agent.nr_cu = 110;
		ev.agent.wave_size = 64;
		bus_emit(&ev);
	}
}

static void emit_queues(void)
{
	for (uint32_t i = 0; i < nr_queues; i++) {
		struct event ev = { .kind = EVENT_QUEUE };

		ev.queue.index = i;
		ev.queue.agent = 1 + i % (uint32_t)nr_gpus;
		ev.queue.size = 16384;
		ev.queue.tid = tid;
		ev.queue.hsa_id = i;
		ev.queue.handle = 0x7f0000000000 + i * 4096u;
		ev.queue.time_ns = now_ns;
		bus_emit(&ev);
	}
}

/* Returns the number in the string table. */
static uint32_t emit_kernel(uint32_t i, const char *name)
{
	struct event ev = { .kind = EVENT_KERNEL };

	ev.kernel.id = i + 1;
	ev.kernel.name = bus_string(name, SIZE_MAX);
	ev.kernel.agent = 1 + i % (uint32_t)nr_gpus;
	ev.kernel.kernarg_size = 56;
	ev.kernel.object = 0x7f1000000000 + i * 64u;
	bus_emit(&ev);
	return ev.kernel.name;
}

static void emit_kernels(void)
{
	char name[512];

	for (uint32_t i = 0; i < nr_kernels; i++) {
		snprintf(
			name, sizeof(name),
			"_ZN2at6native29vectorized_elementwise_kernelILi%uENS0_13BinaryFunctorIfffNS0_"
			"15binary_internal10MulFunctorIfEEEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_.kd",
			i);
		kernel_names[i] = emit_kernel(i, name);
	}
}

static void emit_op(void)
{
	struct event ev = { .kind = EVENT_OP };

	ev.op.domain = REC_API_HIP;
	ev.op.op = OP_LAUNCH;
	ev.op.name = bus_string("hipLaunchKernel", SIZE_MAX);
	ev.op.signature = bus_string("function_address:p:kernel,kernel:s:name,numBlocks:d:grid,"
				     "dimBlocks:d:block,sharedMemBytes:z:shared,stream:h:stream",
				     SIZE_MAX);
	bus_emit(&ev);
}

/* Runs the recorder's upkeep, so that the buffers never fill up. */
static void upkeep(void)
{
	while (bus_tick(clock_now_ns()) == 0)
		;
}

static void push(uint64_t marker, uint64_t layer)
{
	struct event ev = { .kind = EVENT_MARKER };
	char text[64];

	ev.marker.size = (uint32_t)snprintf(text, sizeof(text), "model/layer%llu/forward",
					    (unsigned long long)layer);
	ev.marker.text = text;
	ev.marker.time_ns = now_ns;
	ev.marker.marker = marker;
	ev.marker.kind = REC_MARKER_PUSH;
	ev.marker.tid = tid;
	bus_emit(&ev);
}

static void pop(uint64_t marker)
{
	struct event ev = { .kind = EVENT_MARKER_END };

	ev.end.id = tid;
	ev.end.marker = marker;
	ev.end.time_ns = now_ns;
	bus_emit(&ev);
}

/* Below `noise`, and as irregular as measured times are. */
static uint64_t next_noise(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return noise ? (state >> 33) % noise : 0;
}

/* The call that launches the dispatch, from 2 us before its begin on. */
static void emit_call(const struct event_dispatch *d, uint64_t i)
{
	uint64_t words[8] = { 0x400000 + d->kernel * 16u,
			      kernel_names[d->kernel - 1],
			      d->grid[0] / d->group[0] | UINT64_C(1) << 32,
			      1,
			      d->group[0] | UINT64_C(1) << 32,
			      1,
			      calls == 2 ? i : 0,
			      0x7f2000000000 + d->queue * 256u };
	struct event ev = { .kind = EVENT_API };

	ev.api.begin_ns = d->begin_ns - 2000;
	ev.api.end_ns = d->begin_ns - 500 - next_noise() % 1000;
	ev.api.correlation = d->correlation;
	ev.api.tid = tid;
	ev.api.op = OP_LAUNCH;
	ev.api.domain = REC_API_HIP;
	ev.api.nr_words = 8;
	ev.api.words = words;
	bus_emit(&ev);
}

static void emit_dispatch(uint64_t i, uint64_t marker)
{
	struct event ev = { .kind = EVENT_DISPATCH };
	struct event_dispatch *d = &ev.dispatch;
	uint64_t shape = (i * UINT64_C(2654435761) >> 7) % nr_shapes, ns = 2000 + shape * 37;

	ns += next_noise();
	d->kernel = (uint32_t)(1 + shape % nr_kernels);
	d->queue = (uint32_t)(i % nr_queues);
	d->tid = tid;
	d->grid[0] = (uint32_t)(256 * (1 + shape));
	d->grid[1] = d->grid[2] = 1;
	d->group[0] = 256;
	d->group[1] = d->group[2] = 1;
	d->packet = i / nr_queues;
	d->correlation = i + 1;
	d->marker = marker;
	d->begin_ns = now_ns;
	d->end_ns = now_ns + ns;
	d->begin_ticks = now_ns / 10;
	d->end_ticks = (now_ns + ns) / 10;
	now_ns += ns + 500;
	if (calls)
		emit_call(d, i);
	bus_emit(&ev);
}

/* The kernels of one collective, on the first queue of each GPU. */
static void emit_collective(uint64_t i, uint64_t begin_ns)
{
	for (uint32_t gpu = 0; gpu < nr_gpus; gpu++) {
		struct event ev = { .kind = EVENT_DISPATCH };
		struct event_dispatch *d = &ev.dispatch;

		d->kernel = 1 + gpu;
		d->queue = gpu;
		d->tid = tid;
		d->grid[0] = 4096;
		d->group[0] = 256;
		d->grid[1] = d->grid[2] = d->group[1] = d->group[2] = 1;
		d->packet = i;
		d->correlation = i * nr_gpus + gpu + 1;
		d->begin_ns = begin_ns + i * COLLECTIVE_NS + next_noise();
		d->end_ns = begin_ns + i * COLLECTIVE_NS + noise + 5000;
		bus_emit(&ev);
	}
}

static int make_collectives(uint64_t nr, uint64_t begin_ns)
{
	for (uint32_t i = 0; i < nr_gpus; i++)
		emit_kernel(i, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
			       "(ncclDevKernelArgsStorage<4096ul>).kd");
	for (uint64_t i = 0; i < nr; i++) {
		emit_collective(i, begin_ns);
		if (i * nr_gpus % 256 < nr_gpus)
			upkeep();
	}
	bus_stop();
	printf("{\"collectives\": %llu}\n", (unsigned long long)nr);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t collectives = bench_num(argc, argv, "collectives", 0);
	uint64_t nr = bench_num(argc, argv, "dispatches", 1000000), marker = 0;

	nr_kernels = bench_num(argc, argv, "kernels", 120);
	nr_shapes = bench_num(argc, argv, "shapes", 400);
	nr_queues = bench_num(argc, argv, "queues", 4);
	nr_gpus = bench_num(argc, argv, "gpus", 2);
	nr_layers = bench_num(argc, argv, "layers", 16);
	calls = bench_num(argc, argv, "calls", 0);
	noise = bench_num(argc, argv, "noise", 0);
	state = bench_num(argc, argv, "seed", 1);
	if (nr_kernels > sizeof(kernel_names) / sizeof(kernel_names[0]))
		return 2;
	if (!nr_kernels || !nr_shapes || !nr_queues || !nr_gpus || !nr_layers)
		return 2;
	if (collectives && (nr_queues < nr_gpus || noise + 5000 > COLLECTIVE_NS))
		return 2;
	env_init();
	log_init();
	if (location_init() || bus_attach(&recorder_sink)) {
		fprintf(stderr, "make_spool: the recorder does not start\n");
		return 1;
	}
	tid = (uint32_t)getpid();
	now_ns = clock_now_ns();
	emit_agents();
	emit_queues();
	if (collectives)
		return make_collectives(collectives, bench_num(argc, argv, "begin", now_ns));
	emit_kernels();
	if (calls)
		emit_op();
	for (uint64_t i = 0; i < nr; i++) {
		if (i % 64 == 0) {
			if (marker)
				pop(marker);
			marker += 2;
			push(marker, i / 64 % nr_layers);
		}
		emit_dispatch(i, marker);
		if (i % 1024 == 0)
			upkeep();
	}
	if (marker)
		pop(marker);
	bus_stop();
	printf("{\"dispatches\": %llu, \"calls\": %llu, \"markers\": %llu}\n",
	       (unsigned long long)nr, (unsigned long long)(calls ? nr : 0),
	       (unsigned long long)(marker / 2));
	return 0;
}
