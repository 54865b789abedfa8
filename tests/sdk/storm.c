/* SPDX-License-Identifier: MIT */
/* storm.c - 16 threads call roctx while others start and stop contexts; small buffers, slow
 * callbacks
 *
 * Arguments: calls=N of each thread, seed=N. Each context has callbacks and a buffer of 4 KiB.
 * Every call that its callbacks have seen comes once in a record: all of them if it is lossless;
 * what lacks is what was reported as dropped if it is not. Built for each ABI.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "client.h"
#include "roctracer/roctx.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define NR_THREADS 16
#define NR_CONTEXTS 4
#define NR_IDS (UINT64_C(1) << 27)

struct tested {
	rocprofiler_context_id_t id;
	rocprofiler_buffer_id_t buffer;
	_Atomic uint64_t *seen; /* a bit for each id: callbacks have seen it, records have not */
	_Atomic uint64_t nr_seen;
	/* the callback thread's */
	uint64_t nr_records, nr_dropped, nr_calls;
};

static int nr_wrong;
static struct tested contexts[NR_CONTEXTS];
static long nr_each, seed;
static _Atomic bool is_over;
static rocprofiler_client_finalize_t end_client;

static bool is_lossless(const struct tested *t)
{
	return (t - contexts) % 2 == 0;
}

static void on_marker(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	uint64_t id = record.correlation_id.internal;
	struct tested *t = arg;

	(void)user_data;
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
		return;
	IS(id < NR_IDS, 1);
	IS(t->seen[id / 64] >> id % 64 & 1, 0);
	t->seen[id / 64] |= UINT64_C(1) << id % 64;
	t->nr_seen++;
}

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
		       rocprofiler_record_header_t **headers, size_t nr, void *data,
		       uint64_t nr_dropped)
{
	const struct timespec pause = { 0, 50000 };
	struct tested *t = data;

	IS(context.handle, t->id.handle);
	IS(buffer.handle, t->buffer.handle);
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_buffer_tracing_marker_api_record_t *r = headers[i]->payload;
		uint64_t id = r->correlation_id.internal;

		IS(t->seen[id / 64] >> id % 64 & 1, 1);
		t->seen[id / 64] &= ~(UINT64_C(1) << id % 64);
	}
	t->nr_records += nr;
	t->nr_dropped += nr_dropped;
	t->nr_calls++;
	nanosleep(&pause, NULL);
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_callback_thread_t thread;

	(void)data;
	end_client = fini;
	for (int i = 0; i < NR_CONTEXTS; i++) {
		struct tested *t = &contexts[i];

		t->seen = calloc(NR_IDS / 64, sizeof(*t->seen));
		IS(t->seen != NULL, 1);
		IS(rocprofiler_create_context(&t->id), OK);
		IS(rocprofiler_create_buffer(t->id, 4096, i < 2 ? 2048 : 4096,
					     is_lossless(t) ? ROCPROFILER_BUFFER_POLICY_LOSSLESS :
							      ROCPROFILER_BUFFER_POLICY_DISCARD,
					     on_records, t, &t->buffer),
		   OK);
		IS(rocprofiler_configure_callback_tracing_service(
			   t->id, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_marker,
			   t),
		   OK);
		IS(rocprofiler_configure_buffer_tracing_service(
			   t->id, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, t->buffer),
		   OK);
		/* two threads, two buffers each */
		if (i == 2)
			IS(rocprofiler_create_callback_thread(&thread), OK);
		if (i >= 2)
			IS(rocprofiler_assign_callback_thread(t->buffer, thread), OK);
	}
	return 0;
}

SDK_CLIENT("storm")

static void *mark(void *arg)
{
	for (long i = 0; i < nr_each; i++)
		roctxMarkA("mark");
	return arg;
}

/* Starts, stops, flushes at random. */
static void *meddle(void *arg)
{
	unsigned int state = (unsigned int)seed + (unsigned int)(uintptr_t)arg;

	while (!is_over) {
		const struct tested *t = &contexts[rand_r(&state) % NR_CONTEXTS];

		switch (rand_r(&state) % 4) {
		case 0:
			rocprofiler_stop_context(t->id);
			break;
		case 1:
			IS(rocprofiler_flush_buffer(t->buffer), OK);
			break;
		default:
			IS(rocprofiler_start_context(t->id), OK);
			break;
		}
		usleep((useconds_t)(rand_r(&state) % 500));
	}
	return NULL;
}

static uint64_t count_left(const struct tested *t)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < NR_IDS / 64; i++)
		nr += (uint64_t)__builtin_popcountll(t->seen[i]);
	return nr;
}

static void check(const struct tested *t)
{
	IS(t->nr_records + t->nr_dropped, t->nr_seen);
	IS(count_left(t), t->nr_dropped);
	if (is_lossless(t))
		IS(t->nr_dropped, 0);
	printf("%s: %llu calls, %llu records in %llu parts, %llu dropped\n",
	       is_lossless(t) ? "lossless" : "discard", (unsigned long long)t->nr_seen,
	       (unsigned long long)t->nr_records, (unsigned long long)t->nr_calls,
	       (unsigned long long)t->nr_dropped);
}

static long option(int argc, char **argv, const char *name, long value)
{
	size_t length = strlen(name);

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
			value = strtol(argv[i] + length + 1, NULL, 10);
	return value;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS], meddlers[2];

	nr_each = option(argc, argv, "calls", 2000);
	seed = option(argc, argv, "seed", 1);
	roctxMarkA("first");
	for (int i = 0; i < NR_CONTEXTS; i++)
		IS(rocprofiler_start_context(contexts[i].id), OK);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, mark, NULL);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&meddlers[i], NULL, meddle, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(meddlers[i], NULL);
	/* the rest is delivered before the end */
	end_client(*client);
	for (int i = 0; i < NR_CONTEXTS; i++)
		check(&contexts[i]);
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
