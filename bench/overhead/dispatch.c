/* SPDX-License-Identifier: MIT */
/* dispatch.c - puts dispatches on an HSA queue and prints the cost for the calling thread
 *
 *	dispatch do=submit [kind=plain|signal] [gpu=busy|free] [blocks=400] [block=256] [size=1024]
 *		blocks of packets are timed, never more in flight than a quarter of the ring; in
 *		between, untimed, all of them complete. busy: the GPU runs a long kernel while the
 *		block is submitted; free: it takes the packets as they come, and on the virtual GPU,
 *		which polls their cache lines from another processor, that slows the stores down
 *	dispatch do=spaced [kind=...] [count=20000] [gap=20]
 *		single packets, `gap` µs of other work between them
 *	dispatch do=rate [rate=10000] [seconds=5]	processor time of the harvester's thread
 *							meanwhile
 *	dispatch do=idle [seconds=3]			the same, without dispatches
 *	dispatch do=flood [seconds=2]			the same, at the virtual GPU's maximum rate
 *	dispatch do=count [count=N] [shapes=1] [kind=...]	only N dispatches
 *	dispatch do=init				the time of hsa_init()
 *	dispatch do=store [blocks=400] [block=256]	stores to a signal that is not a doorbell
 *	dispatch do=load, do=wait			loads of a signal that is 0, and waits for
 *							it, nothing in flight
 *	dispatch do=shared [count=2000]			from two dispatches that share a signal to
 *							its value 0
 *	dispatch do=round [count=4000]			a dispatch and the wait for it
 *	dispatch do=counted [count=4000]		the same between packets that start and read
 *							two counters, each waited for
 *	dispatch do=line				a cache line from one processor to another
 *							and back
 * pin=0: the kernel decides on which processors threads run.
 */
#include "bench_queue.h"

/* AMD's header defines this in every file that includes it (5.2 to 7.2). */
extern const unsigned HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE __attribute__((weak));
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include <pthread.h>
#include <stdatomic.h>

#define HARVESTER "rtl-harvest"

static int hold_gpu;

static void do_submit(uint64_t blocks)
{
	uint64_t *ticks = calloc(blocks, sizeof(*ticks)), warm = blocks / 8;
	double tick_ns = bench_tick_ns();

	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin;

		if (hold_gpu)
			hold();
		begin = bench_ticks();
		timed_block(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		synchronise();
	}
	bench_print_blocks(ticks, blocks, block, tick_ns);
	free(ticks);
}

/* The other work walks through some memory, as programs do. */
static void do_spaced(uint64_t count, uint64_t gap_us)
{
	static volatile char other[256 << 10];
	uint64_t *ticks = calloc(count, sizeof(*ticks));
	double tick_ns = bench_tick_ns();

	for (uint64_t i = 0; i < count + 256; i++) {
		uint64_t begin, gap_end = bench_ns() + gap_us * 1000;
		size_t at = 0;

		begin = bench_ticks();
		submit_nr(i % 128);
		if (i >= 256)
			ticks[i - 256] = bench_ticks() - begin;
		while (bench_ns() < gap_end)
			for (int k = 0; k < 64; k++, at = (at + 64) % sizeof(other))
				other[at]++;
		if (i % 128 == 127)
			synchronise();
	}
	bench_print_blocks(ticks, count, 1, tick_ns);
	free(ticks);
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static void print_use(uint64_t nr, uint64_t begin_ns, uint64_t used_before)
{
	uint64_t used = bench_thread_ns(HARVESTER) - used_before, ns = bench_ns() - begin_ns;

	printf("{\"dispatches\": %llu, \"rate\": %.0f, \"percent\": %.4f, \"ns_each\": %.1f}\n",
	       (unsigned long long)nr, (double)nr * 1e9 / (double)ns,
	       (double)used * 100 / (double)ns, nr ? (double)used / (double)nr : 0.0);
}

/* A dispatch now and then, evenly. */
static void do_rate(uint64_t rate, uint64_t seconds)
{
	uint64_t nr = rate * seconds, warm = rate / 2, used = 0, begin = 0;
	uint64_t start = bench_ns();

	for (uint64_t i = 0; i < warm + nr; i++) {
		if (i == warm) {
			begin = bench_ns();
			used = bench_thread_ns(HARVESTER);
		}
		sleep_until(start + i * 1000000000u / rate);
		submit(&packet);
		if (i % 128 == 127)
			synchronise();
	}
	print_use(nr, begin, used);
	synchronise();
}

static void do_idle(uint64_t seconds)
{
	uint64_t used, begin;

	timed_block(block);
	synchronise();
	sleep_until(bench_ns() + 1500000000u);
	used = bench_thread_ns(HARVESTER);
	begin = bench_ns();
	sleep_until(begin + seconds * 1000000000u);
	print_use(0, begin, used);
}

/* As timed_block(). */
__attribute__((noinline)) static void timed_stores(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		hsa_signal_store_relaxed(done, 1);
}

__attribute__((noinline)) static void timed_loads(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		if (hsa_signal_load_scacquire(done))
			die("the signal is not 0");
}

__attribute__((noinline)) static void timed_waits(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					  HSA_WAIT_STATE_ACTIVE);
}

/* Blocks of calls on the signal `done`. */
static void do_calls(void (*timed_calls)(uint64_t), uint64_t blocks)
{
	uint64_t *ticks = calloc(blocks, sizeof(*ticks));
	double tick_ns = bench_tick_ns();

	for (uint64_t i = 0; i < blocks; i++) {
		uint64_t begin = bench_ticks();

		timed_calls(block);
		ticks[i] = bench_ticks() - begin;
	}
	bench_print_blocks(ticks, blocks, block, tick_ns);
	free(ticks);
}

static void do_shared(uint64_t count)
{
	uint64_t *ticks = calloc(count, sizeof(*ticks));
	double tick_ns = bench_tick_ns();

	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin = bench_ticks();

		hsa_signal_store_relaxed(done, 2);
		packet.completion_signal = done;
		submit(&packet);
		submit(&packet);
		while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
						 HSA_WAIT_STATE_ACTIVE) > 0)
			;
		ticks[i] = bench_ticks() - begin;
	}
	packet.completion_signal.handle = 0;
	bench_print_blocks(ticks, count, 1, tick_ns);
	free(ticks);
}

/* Submits a packet and waits for it. Signals are at the same offset of all packets. */
static void round_of(void *p)
{
	hsa_signal_store_relaxed(done, 1);
	((hsa_kernel_dispatch_packet_t *)p)->completion_signal = done;
	submit(p);
	while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_ACTIVE) > 0)
		;
}

/* SQ_WAVES and SQ_INSTS_VALU of gfx900, as RTL_PMC has them in bench.py. */
static void make_counters(hsa_ext_amd_aql_pm4_packet_t parts[3])
{
	static hsa_ven_amd_aqlprofile_event_t events[] = {
		{ HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 0, 4 },
		{ HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 0, 26 },
	};
	static hsa_ven_amd_aqlprofile_profile_t p = { .events = events, .event_count = 2 };
	hsa_ven_amd_aqlprofile_1_00_pfn_t aql;
	hsa_amd_memory_pool_t pool = { 0 };

	p.agent = gpu;
	HSA(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(aql),
						 &aql));
	HSA(aql.hsa_ven_amd_aqlprofile_start(&p, NULL));
	hsa_amd_agent_iterate_memory_pools(cpu, found_pool, &pool);
	HSA(hsa_amd_memory_pool_allocate(pool, (p.command_buffer.size + 4095) & ~4095u, 0,
					 &p.command_buffer.ptr));
	HSA(hsa_amd_memory_pool_allocate(pool, (p.output_buffer.size + 4095) & ~4095u, 0,
					 &p.output_buffer.ptr));
	HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, p.command_buffer.ptr));
	HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, p.output_buffer.ptr));
	memset(parts, 0, 3 * sizeof(*parts));
	HSA(aql.hsa_ven_amd_aqlprofile_start(&p, &parts[0]));
	HSA(aql.hsa_ven_amd_aqlprofile_read(&p, &parts[1]));
	HSA(aql.hsa_ven_amd_aqlprofile_stop(&p, &parts[2]));
	for (int i = 0; i < 3; i++)
		parts[i].header = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
}

static void do_round(uint64_t count, int is_counted)
{
	uint64_t *ticks = calloc(count, sizeof(*ticks));
	hsa_ext_amd_aql_pm4_packet_t parts[3];
	double tick_ns = bench_tick_ns();

	if (is_counted)
		make_counters(parts);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin = bench_ticks();

		if (is_counted)
			round_of(&parts[0]);
		round_of(&packet);
		if (is_counted) {
			submit(&parts[1]);
			round_of(&parts[2]);
		}
		ticks[i] = bench_ticks() - begin;
	}
	packet.completion_signal.handle = 0;
	bench_print_blocks(ticks, count, 1, tick_ns);
	free(ticks);
}

static void do_flood(uint64_t seconds)
{
	uint64_t nr = 0, begin = bench_ns(), used = bench_thread_ns(HARVESTER);

	while (bench_ns() - begin < seconds * 1000000000u) {
		timed_block(block);
		synchronise();
		nr += block;
	}
	print_use(nr, begin, used);
}

static void do_count(uint64_t count, uint64_t shapes)
{
	for (uint64_t i = 0; i < count; i++) {
		packet.grid_size_x = (uint32_t)(64 * (1 + i % shapes));
		submit_nr(i % block);
		if (i % block == block - 1)
			synchronise();
	}
	synchronise();
	printf("{\"dispatches\": %llu}\n", (unsigned long long)count);
}

static _Alignas(128) _Atomic uint64_t line;

static void *answer(void *rounds)
{
	for (uint64_t i = 1; i < *(uint64_t *)rounds * 2; i += 2) {
		while (atomic_load_explicit(&line, memory_order_acquire) != i)
			;
		atomic_store_explicit(&line, i + 1, memory_order_release);
	}
	return NULL;
}

static int do_line(void)
{
	uint64_t rounds = 100000, begin;
	pthread_t thread;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		die("one processor alone");
	bench_pin(0);
	if (pthread_create(&thread, NULL, answer, &rounds) != 0)
		die("no thread");
	bench_pin(1);
	begin = bench_ns();
	for (uint64_t i = 0; i < rounds * 2; i += 2) {
		atomic_store_explicit(&line, i + 1, memory_order_release);
		while (atomic_load_explicit(&line, memory_order_acquire) != i + 2)
			;
	}
	printf("{\"ns\": %.1f}\n", (double)(bench_ns() - begin) / (double)rounds);
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = bench_text(argc, argv, "do", "submit");
	uint64_t size = bench_num(argc, argv, "size", 1024), begin, init_ns;
	int pin = bench_num(argc, argv, "pin", 1) != 0;

	block = bench_num(argc, argv, "block", 256);
	with_signals = !strcmp(bench_text(argc, argv, "kind", "plain"), "signal");
	hold_gpu = !strcmp(bench_text(argc, argv, "gpu", "busy"), "busy");
	if (!block || block > MAX_BLOCK || block > size / 4)
		die("a block is at most a quarter of the ring");
	if (!strcmp(what, "line"))
		return do_line();
	if (pin)
		bench_pin(0);
	begin = bench_ns();
	HSA(hsa_init());
	init_ns = bench_ns() - begin;
	if (!strcmp(what, "init")) {
		printf("{\"us\": %.1f}\n", (double)init_ns / 1000);
	} else {
		set_up((uint32_t)size);
		if (pin)
			bench_pin(1);
		if (!strcmp(what, "submit"))
			do_submit(bench_num(argc, argv, "blocks", 400));
		else if (!strcmp(what, "spaced"))
			do_spaced(bench_num(argc, argv, "count", 20000),
				  bench_num(argc, argv, "gap", 20));
		else if (!strcmp(what, "rate"))
			do_rate(bench_num(argc, argv, "rate", 10000),
				bench_num(argc, argv, "seconds", 5));
		else if (!strcmp(what, "store"))
			do_calls(timed_stores, bench_num(argc, argv, "blocks", 400));
		else if (!strcmp(what, "load") || !strcmp(what, "wait")) {
			hsa_signal_store_relaxed(done, 0);
			do_calls(*what == 'l' ? timed_loads : timed_waits,
				 bench_num(argc, argv, "blocks", 400));
		} else if (!strcmp(what, "shared"))
			do_shared(bench_num(argc, argv, "count", 2000));
		else if (!strcmp(what, "round") || !strcmp(what, "counted"))
			do_round(bench_num(argc, argv, "count", 4000), *what == 'c');
		else if (!strcmp(what, "idle"))
			do_idle(bench_num(argc, argv, "seconds", 3));
		else if (!strcmp(what, "flood"))
			do_flood(bench_num(argc, argv, "seconds", 2));
		else if (!strcmp(what, "count"))
			do_count(bench_num(argc, argv, "count", 100000),
				 bench_num(argc, argv, "shapes", 1));
		else
			die("unknown do=");
		tear_down();
	}
	fflush(stdout);
	HSA(hsa_shut_down());
	return 0;
}
