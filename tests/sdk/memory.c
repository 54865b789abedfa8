/* SPDX-License-Identifier: MIT */
/* memory.c - a lossless buffer whose function does not return, and a heap that is empty: what is
 * lost is counted
 *
 * The program's own functions of the heap stand in front of the C library's, and fail on request.
 * Each function that needs memory has the first, the second ... of its allocations fail: it says
 * so, changes nothing, and works the next time. Built for each ABI.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "client.h"
#include "roctracer/roctx.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define NR 200

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static int nr_wrong;
static _Atomic bool is_held, is_empty;
static _Atomic uint64_t nr_calls, nr_records, nr_dropped, nr_failed;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_finalize_t end_client;

/* Of this thread's allocations so many succeed before one fails; below 0: all succeed. */
static _Thread_local int nr_good = -1;

static bool fails(void)
{
	if (!is_empty && (nr_good < 0 || nr_good-- > 0))
		return false;
	nr_failed++;
	errno = ENOMEM;
	return true;
}

ROCPROFILER_PUBLIC_API void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

ROCPROFILER_PUBLIC_API void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

ROCPROFILER_PUBLIC_API void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t nr, void *data, uint64_t lost)
{
	(void)headers;
	(void)data;
	IS(c.handle, context.handle);
	IS(b.handle, buffer.handle);
	while (is_held)
		usleep(1000);
	nr_records += nr;
	nr_dropped += lost;
}

#if ROCPROFILER_SDK_ABI > 0
#define NR_RANGES 50

static _Atomic uint64_t nr_ranges, nr_ranges_dropped;
static rocprofiler_buffer_id_t ranges;

static void on_ranges(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		      rocprofiler_record_header_t **headers, size_t nr, void *data, uint64_t lost)
{
	(void)c;
	(void)b;
	(void)headers;
	(void)data;
	nr_ranges += nr;
	nr_ranges_dropped += lost;
}

static void ask_for_ranges(void)
{
	IS(rocprofiler_create_buffer(context, 65536, 65536, ROCPROFILER_BUFFER_POLICY_DISCARD,
				     on_ranges, NULL, &ranges),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(
		   context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, NULL, 0, ranges),
	   OK);
}

/* What is kept of an open range needs memory: without, its record is counted. */
static void open_ranges(void)
{
	uint64_t before = nr_failed;

	roctxRangePushA("outer");
	is_empty = true;
	for (int i = 1; i < NR_RANGES; i++)
		roctxRangePushA("inner");
	is_empty = false;
	for (int i = 0; i < NR_RANGES; i++)
		roctxRangePop();
	roctxRangePushA("last");
	roctxRangePop();
	IS(rocprofiler_flush_buffer(ranges), OK);
	IS(nr_failed > before && nr_ranges_dropped > 0, true);
	IS(nr_ranges + nr_ranges_dropped, NR_RANGES + 1);
}
#endif

static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		      void *arg)
{
	(void)user;
	(void)arg;
	nr_calls += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
}

/* ---- functions that need memory -------------------------------------------------------------- */

static rocprofiler_status_t make_context(void)
{
	rocprofiler_context_id_t id = { 0 };

	return rocprofiler_create_context(&id);
}

static rocprofiler_buffer_id_t made;

static rocprofiler_status_t make_buffer(void)
{
	made.handle = 0;
	return rocprofiler_create_buffer(context, 4096, 1024, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
					 on_records, NULL, &made);
}

static rocprofiler_status_t make_thread(void)
{
	rocprofiler_callback_thread_t id = { 0 };

	return rocprofiler_create_callback_thread(&id);
}

static rocprofiler_status_t push_id(void)
{
	const rocprofiler_user_data_t value = { .value = 1 };

	/* a thread that has none yet */
	return rocprofiler_push_external_correlation_id(context,
							(rocprofiler_thread_id_t)getpid() + 1,
							value);
}

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
		       rocprofiler_tracing_operation_t operation, uint32_t number,
		       const void *value, int32_t indirections, const char *type, const char *name,
		       const char *text, int32_t dereferences, void *arg)
{
	(void)kind;
	(void)operation;
	(void)value;
	(void)indirections;
	(void)type;
	(void)dereferences;
	(void)arg;
	IS(number, 0);
	TEXT(name, "message");
	TEXT(text, "text");
	return 0;
}

static rocprofiler_status_t look_at_arguments(void)
{
	rocprofiler_callback_tracing_marker_api_data_t call = { .size = sizeof(call) };
	const rocprofiler_callback_tracing_record_t record = {
		.kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		.operation = ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA,
		.payload = &call,
	};

	call.args.roctxMarkA.message = "text";
	return rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 1,
									NULL);
}

/* Returns how many allocations it needs. */
static int run_out_in(rocprofiler_status_t (*call)(void), rocprofiler_status_t expected)
{
	for (int nr = 0; nr < 100; nr++) {
		uint64_t before = nr_failed;
		rocprofiler_status_t status;

		nr_good = nr;
		status = call();
		nr_good = -1;
		if (nr_failed == before) {
			IS(status, OK);
			return nr;
		}
		/* it may do without */
		if (status != OK)
			IS(status, expected);
	}
	IS("an end" == NULL, true);
	return 0;
}

static void run_out(void)
{
	IS(run_out_in(make_context, ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR), 1);
	IS(run_out_in(make_thread, ROCPROFILER_STATUS_ERROR) > 0, true);
	IS(run_out_in(make_buffer, ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND) >= 4, true);
	IS(rocprofiler_destroy_buffer(made), OK);
	IS(run_out_in(push_id, ROCPROFILER_STATUS_ERROR) > 0, true);
	IS(run_out_in(look_at_arguments, ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES) > 0, true);
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	(void)data;
	end_client = fini;
	IS(rocprofiler_create_context(&context), OK);
	IS(rocprofiler_create_buffer(context, 1024, 1024, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_records, NULL, &buffer),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(context,
							ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,
							NULL, 0, buffer),
	   OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_marker, NULL),
	   OK);
#if ROCPROFILER_SDK_ABI > 0
	ask_for_ranges();
#endif
	run_out();
	IS(rocprofiler_start_context(context), OK);
	return 0;
}

SDK_CLIENT("memory")

/* A thread's first call is not shown without memory, and leaves no trace. */
static void *mark_without_memory(void *arg)
{
	roctxMarkA("lost");
	return arg;
}

int main(void)
{
	pthread_t thread;
	uint64_t before;

	/* what a thread needs is made by its first call */
	roctxMarkA("first");
#if ROCPROFILER_SDK_ABI > 0
	IS(rocprofiler_flush_buffer(ranges), OK);
	nr_ranges = 0;
	open_ranges();
#endif
	IS(rocprofiler_flush_buffer(buffer), OK);
	is_held = true;
	IS(pthread_create(&thread, NULL, mark_without_memory, NULL), 0);
	pthread_join(thread, NULL);
	before = nr_calls;
	is_empty = true;
	for (int i = 0; i < NR; i++)
		roctxMarkA("mark");
	is_empty = false;
	IS(nr_calls, before + NR);
	is_held = false;
	roctxMarkA("last");
	IS(rocprofiler_flush_buffer(buffer), OK);
	end_client(*client);
	IS(nr_records + nr_dropped, nr_calls);
	IS(nr_failed > 0 && nr_dropped > 0 && nr_records > 0, 1);
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
