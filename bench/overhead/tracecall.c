/* SPDX-License-Identifier: MIT */
/* tracecall.c - a cheap HIP call under roctracer's API, and under a minimal tracer
 *
 *	tracecall library=libroctracer64.so do=WHAT [blocks=2000] [block=256] [pin=1]
 *
 * untraced: no tracer. callbacks, record, disabled: requested of libroctracer64: a callback at
 * begin and end, a record in a pool, and neither, after both were enabled. Each has its floor,
 * functions of this program that HIP calls like the library's: least_callbacks, least_record (two
 * reads of the time-stamp counter and a cache line of stores), least_disabled. For HIP up to 5.3,
 * in which such functions can be registered.
 */
#include "bench_common.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "roctracer/roctracer.h"

int hipGetDevice(int *device);

static void timed_block(uint64_t nr)
{
	int device;

	for (uint64_t i = 0; i < nr; i++)
		(void)hipGetDevice(&device);
}

/* ---- the minimal tracer ---------------------------------------------------------------------- */

#define LINES 16384u /* of 64 bytes */

static struct {
	uint64_t correlation;
	uint32_t phase, reserved;
	uint64_t args[510];
} call_data;
static volatile uint64_t memory[LINES * 8];
static uint64_t line;

static void *least_called(uint32_t id, void *record, const void *data, void *arg)
{
	(void)id;
	(void)record;
	(void)data;
	call_data.phase = 0;
	call_data.correlation++;
	return arg ? NULL : &call_data;
}

static void *least_recorded(uint32_t id, void *record, const void *data, void *arg)
{
	volatile uint64_t *to = &memory[line % LINES * 8];

	(void)record;
	(void)data;
	if (!arg) {
		to[0] = bench_ticks();
		return &call_data;
	}
	for (unsigned k = 2; k < 8; k++)
		to[k] = id;
	to[1] = bench_ticks();
	line++;
	return NULL;
}

static void *least_unwanted(uint32_t id, void *record, const void *data, void *arg)
{
	(void)id;
	(void)record;
	(void)data;
	(void)arg;
	return NULL;
}

static void nothing(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	(void)domain;
	(void)id;
	(void)data;
	(void)arg;
}

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "tracecall: %s\n", what);
	exit(1);
}

/* The runtime's own function, not one that a library interposes. */
static void *runtime(const char *name)
{
	void *hip = dlopen("libamdhip64.so.5", RTLD_LAZY | RTLD_NOLOAD);
	void *fn = hip ? dlsym(hip, name) : NULL;

	need(fn != NULL, "HIP's callbacks of 5.3 and earlier are not there");
	return fn;
}

static void least(void *(*fn)(uint32_t, void *, const void *, void *), uint32_t id, bool callbacks)
{
	int (*sync)(uint32_t, void *, void *) =
		(int (*)(uint32_t, void *, void *))runtime("hipRegisterActivityCallback");
	int (*user)(uint32_t, void *, void *) =
		(int (*)(uint32_t, void *, void *))runtime("hipRegisterApiCallback");

	need(sync(id, (void *)fn, &call_data) == 0, "hipRegisterActivityCallback()");
	if (callbacks)
		need(user(id, (void *)nothing, NULL) == 0, "hipRegisterApiCallback()");
}

/* ---- the library ----------------------------------------------------------------------------- */

static void no_records(const char *begin, const char *end, void *arg)
{
	(void)begin;
	(void)end;
	(void)arg;
}

static void by_library(void *library, const char *what, uint32_t id)
{
	roctracer_properties_t props = { .buffer_size = 1 << 20,
					 .buffer_callback_fun = no_records };
	int (*enable)(activity_domain_t, uint32_t, activity_rtapi_callback_t, void *) =
		(int (*)(activity_domain_t, uint32_t, activity_rtapi_callback_t,
			 void *))dlsym(library, "roctracer_enable_op_callback");
	int (*disable)(activity_domain_t, uint32_t) =
		(int (*)(activity_domain_t, uint32_t))dlsym(library,
							    "roctracer_disable_op_callback");
	int (*open)(const roctracer_properties_t *, roctracer_pool_t **) =
		(int (*)(const roctracer_properties_t *,
			 roctracer_pool_t **))dlsym(library, "roctracer_open_pool_expl");
	int (*record)(activity_domain_t, uint32_t, roctracer_pool_t *) =
		(int (*)(activity_domain_t, uint32_t,
			 roctracer_pool_t *))dlsym(library, "roctracer_enable_op_activity_expl");

	if (!strcmp(what, "record")) {
		need(open(&props, NULL) == 0, "roctracer_open_pool_expl()");
		need(record(ACTIVITY_DOMAIN_HIP_API, id, NULL) == 0, "enable the activity");
		return;
	}
	need(enable(ACTIVITY_DOMAIN_HIP_API, id, nothing, NULL) == 0, "enable the callback");
	if (!strcmp(what, "disabled"))
		need(disable(ACTIVITY_DOMAIN_HIP_API, id) == 0, "disable the callback");
}

static void prepare(int argc, char **argv, const char *what)
{
	int (*code)(uint32_t, const char *, uint32_t *, uint32_t *);
	void *library;
	uint32_t id = 0;

	if (!strcmp(what, "untraced"))
		return;
	library = dlopen(bench_text(argc, argv, "library", "libroctracer64.so"), RTLD_NOW);
	need(library != NULL, "the library is not there");
	code = (int (*)(uint32_t, const char *, uint32_t *, uint32_t *))dlsym(library,
									      "roctracer_op_code");
	need(code(ACTIVITY_DOMAIN_HIP_API, "hipGetDevice", &id, NULL) == 0, "hipGetDevice's id");
	if (!strcmp(what, "least_callbacks"))
		least(least_called, id, true);
	else if (!strcmp(what, "least_record"))
		least(least_recorded, id, false);
	else if (!strcmp(what, "least_disabled"))
		least(least_unwanted, id, false);
	else
		by_library(library, what, id);
}

int main(int argc, char **argv)
{
	const char *what = bench_text(argc, argv, "do", "untraced");
	uint64_t blocks = bench_num(argc, argv, "blocks", 2000);
	uint64_t block = bench_num(argc, argv, "block", 256), warm = blocks / 8;
	bool pin = bench_num(argc, argv, "pin", 1) != 0;
	uint64_t *ticks = calloc(blocks ? blocks : 1, sizeof(*ticks));
	double tick_ns;
	int device;

	if (!blocks || !block || !ticks)
		return 2;
	/* threads that it starts run on the other processor */
	if (pin)
		bench_pin(0);
	prepare(argc, argv, what);
	need(hipGetDevice(&device) == 0, "no device");
	if (pin)
		bench_pin(1);
	tick_ns = bench_tick_ns();
	usleep(100000);
	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin = bench_ticks();

		timed_block(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		if (i % 16 == 0)
			usleep(2000);
	}
	bench_print_blocks(ticks, blocks, block, tick_ns);
	free(ticks);
	return 0;
}
