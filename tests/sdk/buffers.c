/* SPDX-License-Identifier: MIT */
/* buffers.c - buffers of rocprofiler-sdk without a GPU: statuses, threads, records of roctx's calls
 *
 * Built for each ABI. Prints what is not as it should be, and "N wrong"; exits with 1 if there is
 * anything.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "roctracer/roctx.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define ERROR(name) ROCPROFILER_STATUS_ERROR_##name
#define ABI ROCPROFILER_SDK_ABI
#define MAX_SEEN 20000

typedef rocprofiler_buffer_tracing_marker_api_record_t record_t;

static int nr_wrong;
static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t end_client;
static rocprofiler_context_id_t context, subset_context, unused;
static rocprofiler_buffer_id_t buffer, subset_buffer, busy_buffer, doomed_buffer, discarding,
	retiring;
static rocprofiler_callback_thread_t own_thread;

/* what a buffer has delivered */
struct seen {
	int nr_calls, nr;
	uint64_t nr_dropped, tid;
	record_t records[MAX_SEEN];
};
static struct seen seen, seen_subset, seen_busy, seen_discarding;
/* ids that were retired */
static rocprofiler_buffer_tracing_correlation_id_retirement_record_t retired[MAX_SEEN];
static int nr_retired;
/* what callbacks have seen of the same calls, when they ended */
static struct {
	uint64_t internal, external, tid;
	int operation;
} calls[MAX_SEEN];
static int nr_calls;
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;

/* of newer releases of roctx than its header is of */
static int (*pause_profiler)(uint64_t tid);

static _Atomic bool is_held, is_holding;
static int nr_before, nr_after, nr_others;

static void on_records(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
		       rocprofiler_record_header_t **headers, size_t nr, void *data,
		       uint64_t nr_dropped)
{
	struct seen *s = data;

	IS(nr > 0, 1);
	if (s == &seen) {
		IS(id.handle, context.handle);
		IS(buffer_id.handle, buffer.handle);
	}
	s->nr_calls++;
	s->nr_dropped += nr_dropped;
	s->tid = (uint64_t)gettid();
	for (size_t i = 0; i < nr; i++) {
		const record_t *r = headers[i]->payload;

		IS(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_TRACING);
		IS(headers[i]->kind, r->kind);
		IS(headers[i]->hash, (uint64_t)r->kind << 32 | 1);
		IS(headers[i]->hash,
		   rocprofiler_record_header_compute_hash(headers[i]->category, headers[i]->kind));
		IS(r->size, sizeof(*r));
		if (s->nr < MAX_SEEN)
			s->records[s->nr++] = *r;
	}
	is_holding = is_held;
	while (is_held)
		usleep(1000);
	is_holding = false;
}

static void on_retired(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
		       rocprofiler_record_header_t **headers, size_t nr, void *data,
		       uint64_t nr_dropped)
{
	(void)id;
	(void)buffer_id;
	(void)data;
	IS(nr_dropped, 0);
	for (size_t i = 0; i < nr && nr_retired < MAX_SEEN; i++) {
		retired[nr_retired] =
			*(const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *)
				 headers[i]
					 ->payload;
		IS(headers[i]->kind, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT);
		IS(retired[nr_retired].kind, headers[i]->kind);
		IS(retired[nr_retired].size, sizeof(retired[0]));
		nr_retired++;
	}
}

/* Makes calls, flushes and destroys, all of which must not wait for itself. */
static void on_busy(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
		    rocprofiler_record_header_t **headers, size_t nr, void *data,
		    uint64_t nr_dropped)
{
	on_records(id, buffer_id, headers, nr, data, nr_dropped);
	if (seen_busy.nr_calls > 1)
		return;
	for (int i = 0; i < 500; i++)
		pause_profiler(0);
	IS(rocprofiler_flush_buffer(buffer_id), ERROR(BUFFER_BUSY));
	IS(rocprofiler_destroy_buffer(buffer_id), ERROR(BUFFER_BUSY));
}

static void on_marker(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	(void)user_data;
	(void)arg;
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT || nr_calls == MAX_SEEN)
		return;
	pthread_mutex_lock(&calls_lock);
	calls[nr_calls].internal = record.correlation_id.internal;
	calls[nr_calls].external = record.correlation_id.external.value;
	calls[nr_calls].tid = record.thread_id;
	calls[nr_calls++].operation = (int)record.operation;
	pthread_mutex_unlock(&calls_lock);
}

static rocprofiler_status_t make(size_t size, size_t watermark, int policy, void *data,
				 rocprofiler_buffer_id_t *id)
{
	return rocprofiler_create_buffer(context, size, watermark,
					 (rocprofiler_buffer_policy_t)policy,
					 data == &seen_busy ? on_busy : on_records, data, id);
}

#define LOSSLESS ROCPROFILER_BUFFER_POLICY_LOSSLESS
#define DISCARD ROCPROFILER_BUFFER_POLICY_DISCARD

static void check_creation(void)
{
	rocprofiler_buffer_id_t again;

	IS(make(4096, 2048, ROCPROFILER_BUFFER_POLICY_NONE, &seen, &buffer),
	   ERROR(INVALID_ARGUMENT));
	IS(make(4096, 2048, ROCPROFILER_BUFFER_POLICY_LAST, &seen, &buffer),
	   ERROR(INVALID_ARGUMENT));
	IS(make(4096, 2048, LOSSLESS, &seen, NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_create_buffer(context, 4096, 2048, LOSSLESS, NULL, NULL, &buffer),
	   ERROR(INVALID_ARGUMENT));
	IS(nr_before, 0);
	IS(make(4096, 10 * sizeof(record_t), LOSSLESS, &seen, &buffer), OK);
	IS(buffer.handle != 0, 1);
	/* the thread that all buffers have at first */
	IS(nr_before == 1 && nr_after == 1, 1);
	again = buffer;
	IS(make(4096, 2048, LOSSLESS, &seen, &again), ERROR(SERVICE_ALREADY_CONFIGURED));
	IS(make(4096, 4096, LOSSLESS, &seen_subset, &subset_buffer), OK);
	IS(make(1024, 8192, LOSSLESS, &seen_busy, &busy_buffer), OK);
	IS(make(4096, 4096, LOSSLESS, &seen_subset, &doomed_buffer), OK);
	IS(make(4096, 1, DISCARD, &seen_discarding, &discarding), OK);
	IS(rocprofiler_create_buffer(context, 4096, 2048, LOSSLESS, on_retired, NULL, &retiring),
	   OK);
	/* more memory than there is */
	again.handle = 0;
	IS(make(SIZE_MAX, 0, LOSSLESS, &seen, &again), ERROR(BUFFER_NOT_FOUND));
}

static void check_threads(void)
{
	rocprofiler_callback_thread_t none = { 99 };
	rocprofiler_buffer_id_t nothing = { 99 };

	IS(rocprofiler_create_callback_thread(NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_create_callback_thread(&own_thread), OK);
	IS(own_thread.handle != 0, 1);
	IS(nr_before == 2 && nr_after == 2, 1);
	IS(nr_others, 0);
	IS(rocprofiler_assign_callback_thread(buffer, none), ERROR(THREAD_NOT_FOUND));
	IS(rocprofiler_assign_callback_thread(nothing, own_thread), ERROR(BUFFER_NOT_FOUND));
	IS(rocprofiler_assign_callback_thread(subset_buffer, own_thread), OK);
}

static rocprofiler_status_t serve(rocprofiler_context_id_t c, int kind, rocprofiler_buffer_id_t b)
{
	return rocprofiler_configure_buffer_tracing_service(c,
							    (rocprofiler_buffer_tracing_kind_t)kind,
							    NULL, 0, b);
}

static void check_services(void)
{
	const rocprofiler_tracing_operation_t wrong[] = { 5000,
							  (rocprofiler_tracing_operation_t)-1 };
	const rocprofiler_tracing_operation_t push[] = {
		ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA
	};
	const rocprofiler_buffer_id_t none = { 0 }, nothing = { 99 };
	const rocprofiler_context_id_t no_context = { 77 };

	for (int i = 0; i < 2; i++)
		IS(rocprofiler_configure_buffer_tracing_service(
			   context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, &wrong[i], 1,
			   buffer),
		   ERROR(OPERATION_NOT_FOUND));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, none),
	   ERROR(BUFFER_NOT_FOUND));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, nothing),
	   ERROR(BUFFER_NOT_FOUND));
	IS(serve(no_context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, buffer),
	   ERROR(CONTEXT_NOT_FOUND));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_NONE, buffer), ERROR(KIND_NOT_FOUND));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_LAST, buffer), ERROR(KIND_NOT_FOUND));
	IS(serve(context, 99, buffer), ERROR(KIND_NOT_FOUND));
	/* as with AMD's library and a driver that does not tell of its events */
#if ABI > 0
	for (int kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE;
	     kind <= ROCPROFILER_BUFFER_TRACING_KFD_QUEUE; kind++)
		IS(serve(context, kind, buffer), ERROR(INCOMPATIBLE_KERNEL));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_HIP_STREAM, buffer), OK);
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_HIP_STREAM, buffer),
	   ERROR(SERVICE_ALREADY_CONFIGURED));
#else
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_PAGE_MIGRATION, buffer),
	   ERROR(INCOMPATIBLE_KERNEL));
#endif
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, buffer), OK);
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, buffer),
	   ERROR(SERVICE_ALREADY_CONFIGURED));
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API, busy_buffer), OK);
	IS(serve(context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, retiring), OK);
	IS(serve(unused, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, discarding), OK);
	IS(rocprofiler_configure_buffer_tracing_service(subset_context,
							ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,
							push, 1, subset_buffer),
	   OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_marker, NULL),
	   OK);
}

static void before_thread(rocprofiler_runtime_library_t library, void *data)
{
	IS(library, ROCPROFILER_LIBRARY);
	IS(data == &nr_wrong, 1);
	IS(nr_before, nr_after);
	nr_before++;
}

static void after_thread(rocprofiler_runtime_library_t library, void *data)
{
	IS(library, ROCPROFILER_LIBRARY);
	IS(data == &nr_wrong, 1);
	nr_after++;
	IS(nr_before, nr_after);
}

static void of_others(rocprofiler_runtime_library_t library, void *data)
{
	(void)library;
	++*(int *)data;
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	(void)data;
	end_client = fini;
	IS(rocprofiler_create_context(&context), OK);
	IS(rocprofiler_create_context(&subset_context), OK);
	IS(rocprofiler_create_context(&unused), OK);
	IS(rocprofiler_at_internal_thread_create(before_thread, after_thread, 0, &nr_wrong), OK);
	IS(rocprofiler_at_internal_thread_create(NULL, NULL, ROCPROFILER_LIBRARY, NULL), OK);
	IS(rocprofiler_at_internal_thread_create(of_others, of_others, ROCPROFILER_HIP_LIBRARY,
						 &nr_others),
	   OK);
	check_creation();
	check_threads();
	check_services();
	return 0;
}

static int nr_at_end;

/* What was not flushed was delivered before. */
static void finalize(void *data)
{
	(void)data;
	nr_at_end = seen.nr;
	IS(rocprofiler_flush_buffer(buffer), OK);
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	client = id;
	id->name = "buffers";
	IS(make(4096, 2048, LOSSLESS, &seen, &buffer), ERROR(CONFIGURATION_LOCKED));
	return &result;
}

static void *mark_some(void *arg)
{
	rocprofiler_user_data_t id = { .value = (uint64_t)gettid() };

	rocprofiler_push_external_correlation_id(context, (uint64_t)gettid(), id);
	for (int i = 0; i < 100; i++) {
		roctxRangePushA("range");
		roctxMarkA("mark");
		roctxRangePop();
	}
	rocprofiler_pop_external_correlation_id(context, (uint64_t)gettid(), NULL);
	return arg;
}

static int by_internal(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int by_record(const void *a, const void *b)
{
	uint64_t x = ((const record_t *)a)->correlation_id.internal;
	uint64_t y = ((const record_t *)b)->correlation_id.internal;

	return x < y ? -1 : x > y;
}

static int by_retired(const void *a, const void *b)
{
	const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *x = a, *y = b;

	return x->internal_correlation_id < y->internal_correlation_id ?
		       -1 :
		       x->internal_correlation_id > y->internal_correlation_id;
}

/* Each call's id is retired once, when the call is over. */
static void check_retired(void)
{
	IS(rocprofiler_flush_buffer(retiring), OK);
	qsort(retired, (size_t)nr_retired, sizeof(retired[0]), by_retired);
	IS(nr_retired, seen.nr);
	for (int i = 0; i < nr_retired && i < seen.nr; i++) {
		IS(retired[i].internal_correlation_id, seen.records[i].correlation_id.internal);
		IS(retired[i].timestamp >= seen.records[i].end_timestamp, 1);
	}
}

/* Each record is the call that a callback has seen. */
static void check_equal(void)
{
	uint64_t now = 0;

	rocprofiler_get_timestamp(&now);
	qsort(calls, (size_t)nr_calls, sizeof(calls[0]), by_internal);
	qsort(seen.records, (size_t)seen.nr, sizeof(record_t), by_record);
	IS(seen.nr, nr_calls);
	for (int i = 0; i < seen.nr && i < nr_calls; i++) {
		const record_t *r = &seen.records[i];

		IS(r->kind, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API);
		IS(r->operation, calls[i].operation);
		IS(r->correlation_id.internal, calls[i].internal);
		IS(r->correlation_id.external.value, calls[i].external);
		IS(r->thread_id, calls[i].tid);
		IS(r->start_timestamp > 0 && r->start_timestamp <= r->end_timestamp &&
			   r->end_timestamp <= now,
		   1);
	}
}

static void check_records(void)
{
	pthread_t threads[4];
	int nr_batches;

	roctxMarkA("not yet");
	IS(rocprofiler_start_context(context), OK);
	IS(rocprofiler_start_context(subset_context), OK);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, mark_some, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	IS(rocprofiler_flush_buffer(buffer), OK);
	IS(nr_calls, 4 * 300);
	check_equal();
	check_retired();
	IS(seen.nr_dropped, 0);
	/* by watermark: about 10 at a time */
	IS(seen.nr_calls >= 10, 1);
	IS(rocprofiler_flush_buffer(subset_buffer), OK);
	IS(seen_subset.nr, 400);
	for (int i = 0; i < seen_subset.nr; i++)
		IS(seen_subset.records[i].operation,
		   ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA);
	/* one of its own */
	IS(seen.tid && seen_subset.tid && seen.tid != seen_subset.tid, 1);
	/* nothing came since */
	nr_batches = seen.nr_calls;
	IS(rocprofiler_flush_buffer(buffer), OK);
	IS(seen.nr_calls, nr_batches);
}

/* The watermark counts bytes of records: ten of these. */
static void check_watermark(void)
{
	int nr = seen.nr, nr_batches = seen.nr_calls;

	for (int i = 0; i < 9; i++)
		roctxMarkA("mark");
	usleep(50000);
	IS(seen.nr, nr);
	roctxMarkA("the tenth");
	for (int i = 0; i < 5000 && seen.nr == nr; i++)
		usleep(1000);
	usleep(20000);
	IS(seen.nr, nr + 10);
	IS(seen.nr_calls, nr_batches + 1);
}

static void check_callback_thread(void)
{
	pause_profiler(0);
	IS(rocprofiler_flush_buffer(busy_buffer), OK);
	for (int i = 0; i < 5000 && seen_busy.nr < 501; i++)
		usleep(1000);
	IS(seen_busy.nr, 501);
	for (int i = 0; i < seen_busy.nr; i++) {
		IS(seen_busy.records[i].kind, ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API);
		IS(!i || seen_busy.records[i].correlation_id.internal >
				   seen_busy.records[i - 1].correlation_id.internal,
		   1);
	}
	IS(seen_busy.nr_dropped, 0);
}

/* All that were written are delivered or reported. */
static void check_discarding(void)
{
	const int nr = 5000;

	IS(rocprofiler_stop_context(context), OK);
	IS(rocprofiler_start_context(unused), OK);
	is_held = true;
	for (int i = 0; i < nr; i++)
		roctxMarkA("mark");
	is_held = false;
	IS(rocprofiler_flush_buffer(discarding), OK);
	IS(seen_discarding.nr_dropped > (uint64_t)nr / 2, 1);
	IS(seen_discarding.nr + (int)seen_discarding.nr_dropped, nr);
	roctxMarkA("one more");
	IS(rocprofiler_flush_buffer(discarding), OK);
	IS(seen_discarding.nr + (int)seen_discarding.nr_dropped, nr + 1);
	IS(rocprofiler_stop_context(unused), OK);
	IS(rocprofiler_start_context(context), OK);
}

/* A lossless buffer makes a thread wait for a bounded time, and keeps everything. */
static void check_stalled(void)
{
	int nr = seen.nr;

	errno = 77;
	is_held = true;
	for (int i = 0; i < 300; i++)
		roctxMarkA("mark");
	IS(is_holding, 1);
	IS(errno, 77);
	IS(seen.nr < nr + 300, 1);
	is_held = false;
	IS(rocprofiler_flush_buffer(buffer), OK);
	IS(seen.nr, nr + 300);
}

static void check_destruction(void)
{
	const rocprofiler_buffer_id_t none = { 99 };
	int nr = seen_subset.nr;

	IS(rocprofiler_flush_buffer(none), ERROR(BUFFER_NOT_FOUND));
	IS(rocprofiler_destroy_buffer(none), ERROR(BUFFER_NOT_FOUND));
	IS(rocprofiler_destroy_buffer(doomed_buffer), OK);
	IS(rocprofiler_destroy_buffer(doomed_buffer), ERROR(BUFFER_NOT_FOUND));
	roctxRangePushA("never delivered");
	IS(rocprofiler_destroy_buffer(subset_buffer), OK);
	roctxRangePushA("nowhere to go");
	IS(rocprofiler_flush_buffer(subset_buffer), ERROR(BUFFER_NOT_FOUND));
	IS(seen_subset.nr, nr);
}

static void check_locked(void)
{
	rocprofiler_callback_thread_t thread = { 0 };
	rocprofiler_buffer_id_t id = { 0 };

	IS(make(4096, 2048, LOSSLESS, &seen, &id), ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_create_callback_thread(&thread), ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_assign_callback_thread(buffer, own_thread), ERROR(CONFIGURATION_LOCKED));
	IS(serve(unused, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, buffer),
	   ERROR(CONFIGURATION_LOCKED));
}

/* In the child nothing is delivered, and nothing waits. */
static void check_fork(void)
{
	int status = -1;
	pid_t pid;

	roctxMarkA("before");
	pid = fork();
	if (pid == 0) {
		int nr = seen.nr;

		for (int i = 0; i < 1000; i++)
			roctxMarkA("in the child");
		rocprofiler_flush_buffer(buffer);
		_exit(seen.nr == nr ? 0 : 3);
	}
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
}

static void check_end(void)
{
	int nr;

	IS(rocprofiler_flush_buffer(buffer), OK);
	nr = seen.nr;
	roctxMarkA("not flushed");
	IS(seen.nr, nr);
	end_client(*client);
	IS(nr_at_end, nr + 1);
	roctxMarkA("after the end");
	IS(rocprofiler_flush_buffer(buffer), ERROR(FINALIZED));
	IS(seen.nr, nr + 1);
}

int main(void)
{
	*(void **)&pause_profiler = dlsym(RTLD_DEFAULT, "roctxProfilerPause");
	roctxMarkA("first");
	check_locked();
	check_records();
	check_watermark();
	check_callback_thread();
	check_discarding();
	check_stalled();
	check_fork();
	check_destruction();
	check_end();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
