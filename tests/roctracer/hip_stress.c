/* SPDX-License-Identifier: MIT */
/* hip_stress.c - 8 threads enable and disable everything of HIP while 8 others call it
 *
 *	hip_stress SECONDS
 *
 * With fake_hip.c for the runtime, so that it can run under a sanitizer. Reports meanwhile are
 * consistent: a callback comes with its own argument, an exit with its enter, a record with its
 * times and id. When the changing is over everything is reported once. Prints what is wrong; so
 * does the exit status.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_hip.h"
#include "roctracer/roctracer_ext.h"
#include "stress.h"

#define NR_ROUNDS 500u
#define LAUNCHES 4u
/* calls and operations of a round */
#define CALLS (LAUNCHES + 3)
#define OPS (LAUNCHES + 1)

static atomic_ulong nr_seen, nr_entered, nr_exited;
static uint32_t malloc_id, launch_id;
/* the call that this thread is in: its callback's id */
static _Thread_local uint64_t open_call;

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if (call)                                                                          \
			fail(#call);                                                               \
	} while (0)

void on_call(uint32_t domain, uint32_t cid, const void *data, const void *arg, const int *its)
{
	const struct call_data *d = data;

	if (domain != ACTIVITY_DOMAIN_HIP_API || arg != its || !d->correlation || d->phase > 1)
		fail("a callback with another's argument, or without an id");
	if (cid == malloc_id && d->args[2] != 64)
		fail("arguments of hipMalloc");
	if (d->phase == ACTIVITY_API_PHASE_ENTER) {
		open_call = d->correlation;
		atomic_fetch_add(&nr_entered, 1);
	} else {
		if (open_call != d->correlation)
			fail("an exit without its enter");
		atomic_fetch_add(&nr_exited, 1);
	}
	atomic_fetch_add(&nr_seen, 1);
}

/* Of the last part: calls and operations by the ids that the calls had. */
static struct {
	uint64_t first;
	uint32_t nr_api, nr_ops, nr_external;
	uint8_t *api, *op;
} counted;
#define MAX_IDS (NR_THREADS * NR_ROUNDS * CALLS + 64)

static void count(uint8_t *each, uint64_t id, uint32_t *nr)
{
	if (id - counted.first >= MAX_IDS)
		fail("an id that was not given");
	else if (each[id - counted.first]++)
		fail("twice");
	(*nr)++;
}

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = (const void *)begin, *last = (const void *)end;

	for (; r < last; roctracer_next_record(r, &r)) {
		bool is_op = r->domain == ACTIVITY_DOMAIN_HIP_OPS;
		bool is_kernel = is_op && r->op == 0;

		if (r->begin_ns > r->end_ns)
			fail("a record whose times are wrong");
		/* of a call that began before anything was enabled */
		if (!arg && is_op && !r->correlation_id) {
			if (is_kernel && strcmp(r->kernel_name, "unknown kernel") != 0)
				fail("name of a kernel from before the enabling");
			continue;
		}
		if (!r->correlation_id)
			fail("a record without an id");
		if (is_kernel && strcmp(r->kernel_name, "fake_kernel") != 0)
			fail("name of a kernel");
		if (!arg)
			continue;
		if (r->domain == ACTIVITY_DOMAIN_HIP_API)
			count(counted.api, r->correlation_id, &counted.nr_api);
		else if (r->domain == ACTIVITY_DOMAIN_HIP_OPS)
			count(counted.op, r->correlation_id, &counted.nr_ops);
		else
			counted.nr_external++;
	}
}

static void *change(void *arg)
{
	unsigned n = (unsigned)((int *)arg - arguments), round = 0;
	roctracer_properties_t props = { .buffer_size = 256, .buffer_callback_fun = on_records };
	roctracer_pool_t *pool;

	while (!atomic_load(&over)) {
		CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, callbacks[n], arg));
		CHECK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, launch_id, callbacks[n],
						   arg));
		CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
		CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
		CHECK(roctracer_flush_activity());
		if (round++ % 4 == n % 4) {
			CHECK(roctracer_open_pool_expl(&props, &pool));
			CHECK(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HIP_OPS, pool));
			CHECK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HIP_API, malloc_id,
								pool));
			CHECK(roctracer_close_pool_expl(pool));
		}
		CHECK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, launch_id));
		CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
		if (n % 2)
			CHECK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API));
		if (n % 4 == 3)
			CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
		roctracer_stop();
		roctracer_start();
	}
	return arg;
}

/* an even address, which fake_hip.c has a name for */
static const uint64_t kernel = 1;

static void one_round(void)
{
	const struct grid one = { 1, 1, 1 };
	char host[64] = "";
	void *data = NULL;

	hipMalloc(&data, sizeof(host));
	hipMemcpy(data, host, sizeof(host), 1);
	for (unsigned i = 0; i < LAUNCHES; i++)
		hipLaunchKernel(&kernel, one, one, NULL, 0, NULL);
	hipFree(data);
}

static void *call(void *arg)
{
	activity_correlation_id_t id = 0;

	for (unsigned i = 0; !atomic_load(&over); i++) {
		CHECK(roctracer_activity_push_external_correlation_id(i));
		one_round();
		CHECK(roctracer_activity_pop_external_correlation_id(&id));
		if (id != i)
			fail("an external id");
		if (i % 16 == 0)
			hipDeviceSynchronize();
	}
	return arg;
}

static void *call_exactly(void *arg)
{
	for (unsigned i = 0; i < NR_ROUNDS; i++)
		one_round();
	return arg;
}

static void changing(time_t seconds)
{
	roctracer_properties_t props = { .buffer_size = 4096, .buffer_callback_fun = on_records };

	CHECK(roctracer_open_pool(&props));
	run(call, change, seconds);
	CHECK(roctracer_disable_callback());
	CHECK(roctracer_disable_activity());
	hipDeviceSynchronize();
	CHECK(roctracer_close_pool());
	if (!atomic_load(&nr_seen))
		fail("no callback was called");
}

static uint64_t first_id;

static void get_id(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)domain;
	(void)cid;
	(void)arg;
	first_id = ((const struct call_data *)data)->correlation;
}

/* After all the changes each call and operation is reported once. */
static void everything_once(void)
{
	roctracer_properties_t props = { .buffer_size = 4096,
					 .buffer_callback_fun = on_records,
					 .buffer_callback_arg = &counted };
	uint32_t nr_calls = NR_THREADS * NR_ROUNDS * CALLS;
	uint32_t nr_ops = NR_THREADS * NR_ROUNDS * OPS;

	CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, get_id, NULL));
	hipDeviceSynchronize();
	counted.first = first_id + 1;
	counted.api = calloc(MAX_IDS, 1);
	counted.op = calloc(MAX_IDS, 1);
	atomic_store(&nr_entered, 0);
	atomic_store(&nr_exited, 0);
	CHECK(roctracer_open_pool(&props));
	CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, callbacks[NR_THREADS],
					       &arguments[NR_THREADS]));
	CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
	CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
	run(call_exactly, NULL, 0);
	CHECK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API));
	CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
	hipDeviceSynchronize();
	CHECK(roctracer_flush_activity());
	if (counted.nr_api != nr_calls || counted.nr_ops != nr_ops || counted.nr_external)
		fail("records of the last part");
	if (atomic_load(&nr_entered) != nr_calls || atomic_load(&nr_exited) != nr_calls)
		fail("callbacks of the last part");
	printf("%u calls, %u operations\n", counted.nr_api, counted.nr_ops);
	CHECK(roctracer_disable_activity());
	CHECK(roctracer_close_pool());
	free(counted.api);
	free(counted.op);
}

int main(int argc, char **argv)
{
	CHECK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &malloc_id, NULL));
	CHECK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipLaunchKernel", &launch_id, NULL));
	changing(argc > 1 ? strtol(argv[1], NULL, 10) : 1);
	everything_once();
	return verdict();
}
