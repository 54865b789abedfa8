/* SPDX-License-Identifier: MIT */
/* records.c - what is in records, when they come, and what may be done meanwhile
 *
 * With fake_hip.c for the runtime: each call and operation is the test's own. Built for both
 * generations. Exits with whether anything was not as it should be.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../support/expect.h"
#include "support/fake_hip.h"
#include "roctracer/roctracer_ext.h"

#define API ACTIVITY_DOMAIN_HIP_API
#define OPS ACTIVITY_DOMAIN_HIP_OPS
#define EXT ACTIVITY_DOMAIN_EXT_API

static int nr_wrong;

/* What a pool has delivered. */
struct seen {
	activity_record_t records[512];
	char names[512][64];
	unsigned nr, nr_batches, batches[64];
	pthread_t thread;
	/* what the callback does besides, once */
	void (*inside)(struct seen *s);
	roctracer_pool_t *pool;
	struct timespec sleep;
};

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = (const void *)begin, *last = (const void *)end;
	void (*inside)(struct seen *);
	struct seen *s = arg;

	IS(begin < end, 1);
	IS((end - begin) % 64, 0);
	if (s->nr_batches)
		IS(pthread_equal(s->thread, pthread_self()) != 0, 1);
	s->thread = pthread_self();
	s->batches[s->nr_batches++ % 64] = (unsigned)(last - r);
	for (; r < last && s->nr < 512; roctracer_next_record(r, &r)) {
#if GENERATION == 4
		if (r->domain == OPS && r->op == 0)
			snprintf(s->names[s->nr], sizeof(s->names[0]), "%s", r->kernel_name);
#endif
		s->records[s->nr++] = *r;
	}
	nanosleep(&s->sleep, NULL);
	inside = s->inside;
	s->inside = NULL;
	if (inside)
		inside(s);
}

static roctracer_pool_t *open_pool(struct seen *s, size_t size)
{
	roctracer_properties_t props = { .mode = 0xdeadbeef, /* junk, which is ignored */
					 .buffer_size = size,
					 .buffer_callback_fun = on_records,
					 .buffer_callback_arg = s };

	memset(s, 0, sizeof(*s));
	IS(roctracer_open_pool_expl(&props, &s->pool), 0);
	return s->pool;
}

/* an even address, which fake_hip.c has a name for */
static const uint64_t kernel = 1;

static void launch(void)
{
	const struct grid one = { 1, 1, 1 };

	hipLaunchKernel(&kernel, one, one, NULL, 0, NULL);
}

static void allocate(unsigned nr)
{
	void *data = NULL;

	while (nr--) {
		hipMalloc(&data, 64);
		hipFree(data);
	}
}

static unsigned count(const struct seen *s, uint32_t domain, uint32_t op)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr; i++)
		nr += s->records[i].domain == domain && s->records[i].op == op;
	return nr;
}

static const activity_record_t *find(const struct seen *s, uint32_t domain, uint32_t op)
{
	static const activity_record_t none;

	for (unsigned i = 0; i < s->nr; i++) {
		if (s->records[i].domain == domain && s->records[i].op == op)
			return &s->records[i];
	}
	return &none;
}

static void all_off(struct seen *s)
{
	hipDeviceSynchronize();
	IS(roctracer_disable_callback(), 0);
	IS(roctracer_disable_activity(), 0);
	IS(roctracer_close_pool_expl(s->pool), 0);
}

/* ---- batches --------------------------------------------------------------------------------- */

static struct seen a, b;

static void batches(void)
{
	/* a whole number of records, always on the same thread, which is not this one */
	open_pool(&a, 640);
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	allocate(35);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(a.nr, 35);
	IS(a.nr_batches, 4);
	IS(a.batches[0] == 10 && a.batches[1] == 10 && a.batches[2] == 10 && a.batches[3] == 5, 1);
	IS(pthread_equal(a.thread, pthread_self()), 0);
	/* nothing written: no callback */
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(a.nr_batches, 4);
	/* what is left comes when the pool is closed */
	allocate(3);
	all_off(&a);
	IS(a.nr, 38);
	/* a slow callback holds writers up; nothing is lost */
	open_pool(&a, 128);
	a.sleep.tv_nsec = 1000000;
	IS(roctracer_enable_op_activity_expl(API, ID_FREE, a.pool), 0);
	allocate(100);
	all_off(&a);
	IS(count(&a, API, ID_FREE), 100);
	IS(a.nr, 100);
}

/* ---- in the pool's own callback -------------------------------------------------------------- */

static void flush_and_close(struct seen *s)
{
	uint64_t now = 0;

	IS(roctracer_get_timestamp(&now), 0);
	IS(now > 0, 1);
	IS(strcmp(roctracer_op_string(API, ID_MALLOC, 0), "hipMalloc"), 0);
	IS(roctracer_flush_activity_expl(s->pool), 0);
	IS(roctracer_close_pool_expl(s->pool) != 0, 1);
	/* more than the pool holds, into the pool itself */
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, s->pool), 0);
	allocate(20);
}

static void inside_of_the_callback(void)
{
	open_pool(&a, 256);
	a.inside = flush_and_close;
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	allocate(1);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(count(&a, API, ID_MALLOC), 21);
	all_off(&a);
	IS(a.nr, 21);
}

/* ---- without memory -------------------------------------------------------------------------- */

static _Thread_local bool has_no_memory;

/* In front of libc's: what the library cannot have while its thread has no memory. */
__attribute__((visibility("default"))) void *realloc(void *ptr, size_t size)
{
	static void *(*next)(void *, size_t);

	if (has_no_memory)
		return NULL;
	if (!next)
		next = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	return next(ptr, size);
}

static void without_memory(struct seen *s)
{
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, s->pool), 0);
	has_no_memory = true;
	allocate(20);
	has_no_memory = false;
}

/* Four records go to the half that is free, sixteen to the list on the side. */
static void lost_without_memory(int (*deliver)(roctracer_pool_t *pool))
{
	const char *text;

	open_pool(&a, 256);
	a.inside = without_memory;
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	allocate(1);
	IS(deliver(a.pool), GENERATION == 1 ? 1 : ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION);
	text = roctracer_error_string();
	IS(strstr(text, "no memory: 16 records lost") != NULL, 1);
	free((void *)text);
}

static int flush(roctracer_pool_t *pool)
{
	return roctracer_flush_activity_expl(pool);
}

static int close_pool(roctracer_pool_t *pool)
{
	return roctracer_close_pool_expl(pool);
}

static void losses(void)
{
	lost_without_memory(flush);
	/* said once; what was not lost comes */
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(count(&a, API, ID_MALLOC), 5);
	all_off(&a);
	lost_without_memory(close_pool);
	IS(count(&a, API, ID_MALLOC), 5);
}

/* ---- several pools --------------------------------------------------------------------------- */

static void two_pools(void)
{
	char from[64] = "", to[64];

	/* a name that is requested first does not prevent that */
	IS(strcmp(roctracer_op_string(OPS, 0, 0x11f0), "KernelExecution"), 0);
	open_pool(&a, 4096);
	open_pool(&b, 4096);
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	IS(roctracer_enable_op_activity_expl(OPS, 1, b.pool), 0);
	IS(roctracer_enable_op_activity_expl(API, ID_MEMCPY, b.pool), 0);
	for (int i = 0; i < 5; i++) {
		launch();
		hipMemcpy(to, from, sizeof(to), 1);
	}
	hipDeviceSynchronize();
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(roctracer_flush_activity_expl(b.pool), 0);
	IS(a.nr, 5);
	IS(count(&a, OPS, 0), 5);
	IS(b.nr, 10);
	IS(count(&b, OPS, 1), 5);
	/* an operation goes on to another pool */
	IS(roctracer_enable_op_activity_expl(OPS, 0, b.pool), 0);
	launch();
	hipDeviceSynchronize();
	IS(roctracer_close_pool_expl(a.pool), 0);
	IS(a.nr, 5);
	/* a pool that is closed while operations write to it: they are disabled, the others go
	 * on */
	open_pool(&a, 4096);
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	IS(roctracer_close_pool_expl(a.pool), 0);
	allocate(3);
	launch();
	all_off(&b);
	IS(count(&b, OPS, 0), 2);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void fields(void)
{
	static char long_name[600];
	const activity_record_t *call, *op;
	char from[64] = "", to[64];

	open_pool(&a, 256);
	IS(roctracer_enable_domain_activity_expl(API, a.pool), 0);
	IS(roctracer_enable_domain_activity_expl(OPS, a.pool), 0);
	launch();
	hipMemcpy(to, from, sizeof(to), 1);
	hipDeviceSynchronize();
	IS(roctracer_flush_activity_expl(a.pool), 0);
	call = find(&a, API, ID_LAUNCH);
	op = find(&a, OPS, 0);
	/* what a record has no value for is 0, not what was there before */
	IS(call->kind == 0 && call->bytes == 0 && call->queue_id == 0, 1);
	IS(call->process_id && call->thread_id && call->begin_ns <= call->end_ns, 1);
	IS(op->correlation_id, call->correlation_id);
	IS(op->kind, 0x11f0);
	IS(op->queue_id, 1);
	IS(find(&a, OPS, 1)->correlation_id, find(&a, API, ID_MEMCPY)->correlation_id);
	/* names larger than a half, and an inner call that does not replace the outer one */
	memset(long_name, 'k', sizeof(long_name) - 1);
	memset(&a.records, 0, sizeof(a.records));
	a.nr = 0;
	hipModuleLaunchKernel(long_name, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	hipDeviceSynchronize();
	IS(roctracer_flush_activity_expl(a.pool), 0);
	op = find(&a, OPS, 0);
	IS(op->correlation_id, find(&a, API, ID_MODULE_LAUNCH)->correlation_id);
	IS(count(&a, API, ID_SYNCHRONIZE), 2);
#if GENERATION == 4
	IS(strncmp(a.names[op - a.records], long_name, 63), 0);
#endif
	all_off(&a);
}

static void *many_pairs(void *arg)
{
	IS(roctracer_activity_push_external_correlation_id((uintptr_t)arg), 0);
	allocate(20);
	IS(roctracer_activity_pop_external_correlation_id(NULL), 0);
	return arg;
}

static void external_ids(void)
{
	pthread_t threads[4];

	open_pool(&a, 640);
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	IS(roctracer_activity_push_external_correlation_id(7), 0);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, many_pairs, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	allocate(1);
	IS(roctracer_activity_pop_external_correlation_id(NULL), 0);
	allocate(1);
	all_off(&a);
	IS(count(&a, API, ID_MALLOC), 82);
	IS(count(&a, EXT, 1), 81);
	/* whatever other threads write, the id is right before its call */
	for (unsigned i = 0; i + 1 < a.nr; i++) {
		const activity_record_t *r = &a.records[i];

		if (r->domain != EXT)
			continue;
		IS(r[1].domain, API);
		IS(r[1].correlation_id, r->correlation_id);
		IS(r->begin_ns == 0 && r->end_ns == 0, 1);
	}
}

/* ---- what ends after it was switched on or off ----------------------------------------------- */

/* What was held ends now; what has come since, in the order of the launches: how many, the first's
 * id. */
static uint64_t release(unsigned nr)
{
	fake_hip_hold_gpu(false);
	hipDeviceSynchronize();
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(a.nr, nr);
	a.nr = 0;
	fake_hip_hold_gpu(true);
	return nr ? a.records[0].correlation_id : 0;
}

static void what_ends_later(void)
{
	uint64_t first;

	open_pool(&a, 4096);
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	/* submitted and over while it is on */
	launch();
	first = release(1);
	IS(first > 0, 1);
	/* submitted before the enabling: no record */
	IS(roctracer_disable_op_activity(OPS, 0), 0);
	launch();
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	launch();
	IS(release(1) > first, 1);
	/* submitted before the stop, and after it */
	launch();
	roctracer_stop();
	launch();
	first = release(1);
	IS(first > 0, 1);
	launch();
	roctracer_start();
	launch();
	IS(release(1) > first, 1);
	/* stopped and started in between is as good as on */
	launch();
	roctracer_stop();
	roctracer_start();
	IS(release(1) > first, 1);
	/* disabled: no record; enabled again: a record with its id */
	launch();
	launch();
	IS(roctracer_disable_op_activity(OPS, 0), 0);
	release(0);
	launch();
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	launch();
	IS(roctracer_disable_op_activity(OPS, 0), 0);
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	IS(release(1) > first, 1);
	fake_hip_hold_gpu(false);
	all_off(&a);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static unsigned nr_enter[2], nr_exit[2];
static uint64_t last_id;
static int what_inside;

static void on_call(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const struct call_data *d = data;
	unsigned which = *(unsigned *)arg;

	IS(domain, API);
	if (d->phase == ACTIVITY_API_PHASE_EXIT) {
		nr_exit[which]++;
		IS(d->correlation, last_id);
		return;
	}
	nr_enter[which]++;
	last_id = d->correlation;
	if (what_inside == 1)
		IS(roctracer_disable_op_callback(API, cid), 0);
	if (what_inside == 2)
		roctracer_stop();
}

static void expect(unsigned first_enter, unsigned first_exit, unsigned second)
{
	IS(nr_enter[0], first_enter);
	IS(nr_exit[0], first_exit);
	IS(nr_enter[1], second);
	IS(nr_exit[1], second);
	memset(nr_enter, 0, sizeof(nr_enter));
	memset(nr_exit, 0, sizeof(nr_exit));
}

/* Callbacks and records in turn: only what is enabled is reported. */
static void callbacks_and_records(void)
{
	static unsigned first = 0, second = 1;

	open_pool(&a, 4096);
	for (unsigned way = 0; way < 8; way++) {
		a.nr = 0;
		if (way & 1)
			IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &first), 0);
		if (way & 2)
			IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
		allocate(2);
		IS(roctracer_flush_activity_expl(a.pool), 0);
		expect(way & 1 ? 2 : 0, way & 1 ? 2 : 0, 0);
		IS(a.nr, way & 2 ? 2 : 0);
		/* both of a call have one id */
		if ((way & 3) == 3)
			IS(a.records[1].correlation_id, last_id);
		IS(roctracer_disable_op_callback(API, ID_MALLOC), 0);
		IS(roctracer_disable_op_activity(API, ID_MALLOC), 0);
	}
	/* the newest callback holds, through a stop and a start as well */
	IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &first), 0);
	IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &second), 0);
	roctracer_stop();
	allocate(1);
	roctracer_start();
	allocate(1);
	expect(0, 0, 1);
	/* what is enabled while stopped waits for the start */
	roctracer_stop();
	IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &first), 0);
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
	a.nr = 0;
	allocate(1);
	roctracer_start();
	allocate(1);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	expect(1, 1, 0);
	IS(a.nr, 1);
	/* disabled, or stopped, between begin and end: no end, and when stopped no record */
	what_inside = 1;
	allocate(2);
	expect(1, 0, 0);
	IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &first), 0);
	what_inside = 2;
	a.nr = 0;
	allocate(1);
	roctracer_start();
	what_inside = 0;
	IS(roctracer_flush_activity_expl(a.pool), 0);
	expect(1, 0, 0);
	IS(a.nr, 2);
	all_off(&a);
}

/* ROCTRACER_OP_ANY instead of a call is all of them, and nothing but calls of HIP's. */
static void any_call(void)
{
	static unsigned first = 0;
	const int refused = GENERATION == 1 ? 7 : -3;

	open_pool(&a, 4096);
	IS(roctracer_enable_op_callback(API, ROCTRACER_OP_ANY, on_call, &first), 0);
	IS(roctracer_enable_op_activity_expl(API, ROCTRACER_OP_ANY, a.pool), 0);
	allocate(2);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	expect(4, 4, 0);
	IS(count(&a, API, ID_MALLOC), 2);
	IS(count(&a, API, ID_FREE), 2);
	IS(roctracer_disable_op_activity(API, ROCTRACER_OP_ANY), 0);
	allocate(1);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	expect(2, 2, 0);
	IS(a.nr, 4);
	IS(roctracer_disable_op_callback(API, ROCTRACER_OP_ANY), 0);
	allocate(1);
	expect(0, 0, 0);
	IS(roctracer_enable_op_activity_expl(OPS, ROCTRACER_OP_ANY, a.pool), refused);
	all_off(&a);
}

/* Up to 5.3 HIP reports every command but kernels as a copy, markers too. */
static void codes_of_commands(void)
{
	uint32_t op = 77, kind = 77;

	IS(roctracer_op_code(OPS, "Marker", &op, &kind), 0);
	IS(op, 1);
	IS(kind, 0x11fe);
	IS(roctracer_op_code(OPS, "KernelExecution", &op, &kind), 0);
	IS(op, 0);
	IS(kind, 0x11f0);
}

/* ---- calls of which only records are wanted -------------------------------------------------- */

static const uint32_t of_sequence[] = { ID_MALLOC, ID_FREE, ID_LAUNCH, ID_MODULE_LAUNCH,
					ID_SYNCHRONIZE };
#define NR_OF_SEQUENCE (sizeof(of_sequence) / sizeof(of_sequence[0]))

static void for_sequence(activity_rtapi_callback_t fn, uint32_t only)
{
	static unsigned first = 0;

	for (size_t i = 0; i < NR_OF_SEQUENCE; i++) {
		uint32_t id = of_sequence[i];

		if (fn && (!only || id == only))
			IS(roctracer_enable_op_callback(API, id, fn, &first), 0);
		else
			IS(roctracer_disable_op_callback(API, id), 0);
	}
}

/* By id; operations, which come when they are over, before their calls. */
static int by_id(const void *p, const void *q)
{
	const activity_record_t *one = p, *other = q;

	if (one->correlation_id != other->correlation_id)
		return one->correlation_id < other->correlation_id ? -1 : 1;
	return (int)one->domain - (int)other->domain;
}

/* Calls alone, with an external id, nested, with operations. What they gave is in `s`. */
static void run_sequence(struct seen *s)
{
	static char kernel_of_module[] = "kernel of a module";

	s->nr = 0;
	allocate(2);
	IS(roctracer_activity_push_external_correlation_id(77), 0);
	allocate(1);
	launch();
	IS(roctracer_activity_pop_external_correlation_id(NULL), 0);
	hipModuleLaunchKernel(kernel_of_module, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	hipDeviceSynchronize();
	IS(roctracer_flush_activity_expl(s->pool), 0);
	qsort(s->records, s->nr, sizeof(s->records[0]), by_id);
}

static void any_callback(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)domain;
	(void)cid;
	(void)data;
	(void)arg;
}

/* Whether both have the same records, but for the times; ids count from the first one. */
static void same_records(const struct seen *one, const struct seen *other)
{
	IS(other->nr, one->nr);
	for (unsigned i = 0; i < one->nr && i < other->nr; i++) {
		const activity_record_t *p = &one->records[i], *q = &other->records[i];

		IS(q->domain, p->domain);
		IS(q->op, p->op);
		IS(q->kind, p->kind);
		IS(q->correlation_id - other->records[0].correlation_id,
		   p->correlation_id - one->records[0].correlation_id);
		if (p->domain == EXT)
			IS(q->external_id, p->external_id);
		if (p->domain != API)
			continue;
		IS(q->thread_id, p->thread_id);
		IS(q->process_id, p->process_id);
		IS(q->bytes, p->bytes);
		IS(q->begin_ns <= q->end_ns, 1);
	}
}

/* The records of a client do not depend on whether it, or another, has callbacks as well. */
static void same_records_with_and_without_callbacks(void)
{
	const struct timespec moment = { 0, 100000000 };
	uint64_t before, after;

	open_pool(&a, 8192);
	/* the pool's thread compares the counter with the clock; after that calls may be alone */
	nanosleep(&moment, NULL);
	for (size_t i = 0; i < NR_OF_SEQUENCE; i++)
		IS(roctracer_enable_op_activity_expl(API, of_sequence[i], a.pool), 0);
	IS(roctracer_enable_op_activity_expl(OPS, 0, a.pool), 0);
	IS(roctracer_get_timestamp(&before), 0);
	run_sequence(&a);
	IS(roctracer_get_timestamp(&after), 0);
	/* six allocations and releases, two launches, two waits, one of them in a launch; three
	 * external ids */
	IS(count(&a, API, ID_MALLOC) + count(&a, API, ID_FREE), 6);
	IS(count(&a, API, ID_SYNCHRONIZE), 2);
	IS(count(&a, EXT, 1), 3);
	IS(count(&a, OPS, 0), 2);
	IS(find(&a, OPS, 0)->correlation_id, find(&a, API, ID_LAUNCH)->correlation_id);
	for (unsigned i = 0; i < a.nr; i++) {
		if (a.records[i].domain != API)
			continue;
		IS(a.records[i].begin_ns + 1000 >= before, 1);
		IS(a.records[i].end_ns <= after + 1000, 1);
	}
	b = a;
	for_sequence(any_callback, 0);
	run_sequence(&a);
	same_records(&b, &a);
	for (size_t i = 0; i < NR_OF_SEQUENCE; i++) {
		for_sequence(any_callback, of_sequence[i]);
		run_sequence(&a);
		same_records(&b, &a);
	}
	for_sequence(NULL, 0);
	run_sequence(&a);
	same_records(&b, &a);
	all_off(&a);
}

static void enable_malloc(void)
{
	IS(roctracer_enable_op_activity_expl(API, ID_MALLOC, a.pool), 0);
}

static void disable_malloc(void)
{
	IS(roctracer_disable_op_activity(API, ID_MALLOC), 0);
}

static void stop_and_start(void)
{
	roctracer_stop();
	roctracer_start();
}

static void enable_callback(void)
{
	static unsigned first = 0;

	IS(roctracer_enable_op_callback(API, ID_MALLOC, on_call, &first), 0);
}

static void disable_callback(void)
{
	IS(roctracer_disable_op_callback(API, ID_MALLOC), 0);
}

/* `nr` records of what has been called since. */
static void expect_records(unsigned nr)
{
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(a.nr, nr);
	a.nr = 0;
}

/* A call whose begin and end lie on two sides of a change. */
static void changes_within_a_call(void)
{
	open_pool(&a, 4096);
	IS(fake_hip_around(ID_MALLOC, enable_malloc), 0);
	expect_records(0);
	IS(fake_hip_around(ID_MALLOC, NULL), 1);
	expect_records(1);
	IS(fake_hip_around(ID_MALLOC, disable_malloc), 1);
	expect_records(0);
	IS(fake_hip_around(ID_MALLOC, NULL), 0);
	enable_malloc();
	IS(fake_hip_around(ID_MALLOC, roctracer_stop), 1);
	expect_records(0);
	IS(fake_hip_around(ID_MALLOC, roctracer_start), 0);
	expect_records(0);
	IS(fake_hip_around(ID_MALLOC, stop_and_start), 1);
	expect_records(1);
	/* a callback that comes or goes within the call does not change its record */
	IS(fake_hip_around(ID_MALLOC, enable_callback), 1);
	expect_records(1);
	expect(0, 0, 0);
	IS(fake_hip_around(ID_MALLOC, disable_callback), 1);
	expect_records(1);
	IS(fake_hip_around(ID_MALLOC, NULL), 1);
	expect_records(1);
	all_off(&a);
}

static jmp_buf back;

static void leave(void)
{
	longjmp(back, 1);
}

static void call_inner(void)
{
	IS(fake_hip_around(ID_FREE, NULL), 1);
	IS(fake_hip_around(ID_MALLOC, NULL), 1);
}

static void nested_and_left(void)
{
	open_pool(&a, 4096);
	enable_malloc();
	IS(roctracer_enable_op_activity_expl(API, ID_FREE, a.pool), 0);
	IS(fake_hip_around(ID_MALLOC, call_inner), 1);
	IS(roctracer_flush_activity_expl(a.pool), 0);
	IS(a.nr, 3);
	/* delivered in the order of their ends; ids in that of their begins */
	IS(a.records[0].correlation_id, a.records[2].correlation_id + 1);
	IS(a.records[1].correlation_id, a.records[2].correlation_id + 2);
	IS(a.records[2].op, ID_MALLOC);
	IS(a.records[2].begin_ns <= a.records[0].begin_ns, 1);
	IS(a.records[0].end_ns <= a.records[1].begin_ns, 1);
	IS(a.records[1].end_ns <= a.records[2].end_ns, 1);
	a.nr = 0;
	/* a call that never returns has no record, and the next ones are as before */
	for (int i = 0; i < 3; i++) {
		if (setjmp(back) == 0)
			fake_hip_around(ID_MALLOC, leave);
	}
	IS(fake_hip_around(ID_MALLOC, call_inner), 1);
	IS(fake_hip_around(ID_MALLOC, NULL), 1);
	expect_records(4);
	IS(a.records[3].correlation_id, a.records[2].correlation_id + 3);
	all_off(&a);
}

static void *many_calls(void *arg)
{
	allocate(40);
	return arg;
}

static void ids_of_threads(void)
{
	enum { THREADS = 4, ROUNDS = 2, A_ROUND = 320 };
	uint64_t largest[ROUNDS] = { 0 };

	open_pool(&a, 640);
	enable_malloc();
	IS(roctracer_enable_op_activity_expl(API, ID_FREE, a.pool), 0);
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[THREADS];

		a.nr = 0;
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, many_calls, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		IS(roctracer_flush_activity_expl(a.pool), 0);
		IS(a.nr, A_ROUND);
		for (unsigned i = 0; i < a.nr; i++) {
			const activity_record_t *r = &a.records[i];

			/* A round begins when the calls of the one before are over. Inside of a
			 * round a call's id says nothing about other threads' calls: a thread can
			 * be preempted between its id and its begin. */
			if (round > 0)
				IS(r->correlation_id > largest[round - 1], 1);
			if (r->correlation_id > largest[round])
				largest[round] = r->correlation_id;
			for (unsigned k = 0; k < i; k++) {
				const activity_record_t *earlier = &a.records[k];

				IS(earlier->correlation_id != r->correlation_id, 1);
				if (earlier->thread_id == r->thread_id)
					IS(earlier->correlation_id < r->correlation_id &&
						   earlier->end_ns <= r->begin_ns,
					   1);
			}
		}
	}
	all_off(&a);
}

int main(void)
{
	batches();
	inside_of_the_callback();
	losses();
	two_pools();
	fields();
	external_ids();
	what_ends_later();
	callbacks_and_records();
	any_call();
	codes_of_commands();
	same_records_with_and_without_callbacks();
	changes_within_a_call();
	nested_and_left();
	ids_of_threads();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
