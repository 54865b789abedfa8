/* SPDX-License-Identifier: MIT */
/* bench_record.c - the time in which the recorder writes one record
 *
 *	bench_record [do=record|floor] [blocks=400] [block=256]
 *
 * The recorder alone, without sources and without the upkeep thread: its work is done
 * between the timed blocks. floor: a dispatch record's bytes stored into warm memory.
 */
#include "overhead/bench_common.h"

#include "base/env.h"
#include "base/log.h"
#include "base/location.h"
#include "event/bus.h"
#include "sink/recorder/recorder.h"

static void fill(struct event *ev, uint64_t i)
{
	struct event_dispatch *d = &ev->dispatch;

	d->begin_ticks = 100000 + i * 10;
	d->end_ticks = d->begin_ticks + 5;
	d->begin_ns = 4000000 + i * 400;
	d->end_ns = d->begin_ns + 200;
	d->packet = i;
	d->correlation = i + 1;
}

static void records(uint64_t nr)
{
	static struct event ev = {
		.kind = EVENT_DISPATCH,
		.dispatch = { .kernel = 1, .tid = 1, .grid = { 64, 1, 1 }, .group = { 64, 1, 1 } }
	};
	static uint64_t next;

	ev.dispatch.tid = (uint32_t)getpid();
	for (uint64_t i = 0; i < nr; i++) {
		fill(&ev, next++);
		bus_emit(&ev);
	}
}

static void floors(uint64_t nr)
{
	static uint64_t memory[6 * 512];

	for (uint64_t i = 0; i < nr; i++)
		for (int k = 0; k < 6; k++)
			__atomic_store_n(&memory[i % 512 * 6 + (uint64_t)k], i, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	uint64_t blocks = bench_num(argc, argv, "blocks", 400), warm = blocks / 8;
	uint64_t block = bench_num(argc, argv, "block", 256);
	int floor = !strcmp(bench_text(argc, argv, "do", "record"), "floor");
	uint64_t *ticks = calloc(blocks, sizeof(*ticks));
	double tick_ns = bench_tick_ns();

	env_init();
	log_init();
	if (!ticks || location_init() || bus_attach(&recorder_sink)) {
		fprintf(stderr, "bench_record: the recorder does not start\n");
		return 1;
	}
	bench_pin(1);
	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin = bench_ticks();

		if (floor)
			floors(block);
		else
			records(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		if (!floor)
			bus_tick(bench_ns());
	}
	bus_stop();
	bench_print_blocks(ticks, blocks, block, tick_ns);
	free(ticks);
	return 0;
}
