/* SPDX-License-Identifier: MIT */
/* ranges.c - pushes and pops roctx ranges and prints the cost of a pair
 *
 *	ranges LIBRARY [do=pair|mark|count|floor] [blocks=400] [block=256] [count=100000]
 *
 * floor: two reads of the clock and two cache lines of stores, the minimum for a pair.
 */
#include "bench_common.h"

#include <dlfcn.h>

static int (*push)(const char *);
static int (*pop)(void);
static void (*mark)(const char *);

static void *find(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "ranges: %s\n", dlerror());
		exit(1);
	}
	return p;
}

static void pairs(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		push("layer/attention");
		pop();
	}
}

static void marks(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		mark("layer/attention");
}

static void floors(uint64_t nr)
{
	static volatile uint64_t lines[16 * 4096];

	for (uint64_t i = 0; i < nr; i++) {
		volatile uint64_t *to = &lines[i % 4096 * 16];

		to[0] = bench_ns();
		for (int k = 1; k < 8; k++)
			to[k] = i;
		to[8] = bench_ns();
		for (int k = 9; k < 16; k++)
			to[k] = i;
	}
}

static void rest(void)
{
	struct timespec ts = { 0, 1000000 };

	nanosleep(&ts, NULL);
}

int main(int argc, char **argv)
{
	const char *what = bench_text(argc, argv, "do", "pair");
	uint64_t blocks = bench_num(argc, argv, "blocks", 400), warm = blocks / 8;
	uint64_t block = bench_num(argc, argv, "block", 256);
	uint64_t count = bench_num(argc, argv, "count", 100000);
	void (*work)(uint64_t) = !strcmp(what, "floor") ? floors :
				 !strcmp(what, "mark")	? marks :
							  pairs;
	uint64_t *ticks = calloc(blocks, sizeof(*ticks));
	double tick_ns = bench_tick_ns();
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (!lib || !ticks) {
		fprintf(stderr, "ranges: %s\n", argc > 1 ? dlerror() : "which library?");
		return 1;
	}
	push = (int (*)(const char *))find(lib, "roctxRangePushA");
	pop = (int (*)(void))find(lib, "roctxRangePop");
	mark = (void (*)(const char *))find(lib, "roctxMarkA");
	if (!strcmp(what, "count")) {
		for (uint64_t i = 0; i < count; i += 1000) {
			pairs(count - i < 1000 ? count - i : 1000);
			rest();
		}
		printf("{\"pairs\": %llu}\n", (unsigned long long)count);
		return 0;
	}
	bench_pin(0);
	work(1);
	bench_pin(1);
	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin = bench_ticks();

		work(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		rest();
	}
	bench_print_blocks(ticks, blocks, block, tick_ns);
	free(ticks);
	return 0;
}
