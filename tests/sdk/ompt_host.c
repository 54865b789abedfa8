/* SPDX-License-Identifier: MIT */
/* ompt_host.c - a program of LLVM's OpenMP on the host, which is its own tool
 *
 * Exits with 1 if an event of the program's regions, tasks and loops is missing or is there twice,
 * or if a call of HIP's or a mark in a region has another ancestor. HIP need not have a GPU.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "client.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define OP(name) ROCPROFILER_OMPT_ID_##name
enum { THREADS = 4, LOOPS = 10, TASK_REGIONS = 4, TASKS = 5, N = 1000 };
enum { REGIONS = LOOPS + 1 + TASK_REGIONS, CALLS = THREADS + 1 + TASK_REGIONS * TASKS };

static int nr_wrong;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_finalize_t end_client;
static _Atomic uint64_t seen[ROCPROFILER_OMPT_ID_LAST][3]; /* by phase: none, enter, exit */
static uint64_t recorded[ROCPROFILER_OMPT_ID_LAST];
static _Atomic uint64_t nr_loops, nr_implicit, nr_explicit;
static _Thread_local uint64_t inside;
/* the thread's regions that are open, the innermost last */
static _Thread_local struct {
	rocprofiler_tracing_operation_t operation;
	uint64_t id;
} open[64];
static _Thread_local unsigned int nr_open;
static _Atomic uint64_t nr_calls, nr_marks;
static void (*mark)(const char *);

static uint64_t innermost(void)
{
	return nr_open ? open[nr_open - 1].id : 0;
}

/* Regions end in any order, and the newest of an operation first. */
static void close_region(rocprofiler_tracing_operation_t operation)
{
	unsigned int i = nr_open;

	while (i && open[i - 1].operation != operation)
		i--;
	IS(i > 0, 1);
	for (; i && i < nr_open; i++)
		open[i - 1] = open[i];
	nr_open -= nr_open > 0;
}

/* Of HIP, and of roctx. */
static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *arg)
{
	(void)user;
	(void)arg;
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
		return;
	if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API)
		nr_calls++;
	else
		nr_marks++;
	IS(record.correlation_id.ancestor, innermost());
}

/* What a region does beside its work. */
static void call(void)
{
	int nr = 0;

	(void)hipGetDeviceCount(&nr);
	mark("in a region");
}

static void on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		     void *arg)
{
	const rocprofiler_callback_tracing_ompt_data_t *data = record.payload;
	const rocprofiler_ompt_args_t *args = &data->args;

	(void)arg;
	seen[record.operation][record.phase]++;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user->value = record.correlation_id.internal;
		IS(record.correlation_id.ancestor, innermost());
		if (nr_open < 64) {
			open[nr_open].operation = record.operation;
			open[nr_open++].id = user->value;
		}
		if (record.operation == OP(work)) {
			nr_loops += args->work.work_type == ompt_work_loop ||
				    args->work.work_type == ompt_work_loop_static;
			inside = record.correlation_id.internal;
		}
		nr_implicit += record.operation == OP(implicit_task) &&
			       (args->implicit_task.flags & ompt_task_implicit) != 0;
	} else if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) {
		IS(user->value, record.correlation_id.internal);
		close_region(record.operation);
	}
	if (record.operation == OP(task_create) &&
	    (args->task_create.flags & ompt_task_explicit) != 0) {
		nr_explicit++;
		/* within the region of `single` */
		IS(record.correlation_id.ancestor, inside);
	}
}

static void on_records(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg, uint64_t lost)
{
	(void)of;
	(void)id;
	(void)arg;
	IS(lost, 0);
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_buffer_tracing_ompt_record_t *r = headers[i]->payload;

		recorded[r->operation]++;
		IS(r->start_timestamp > 0 && r->start_timestamp <= r->end_timestamp, 1);
	}
}

static int initialize(rocprofiler_client_finalize_t fini, void *arg)
{
	(void)arg;
	end_client = fini;
	IS(rocprofiler_create_context(&context), OK);
	IS(rocprofiler_configure_callback_tracing_service(context,
							  ROCPROFILER_CALLBACK_TRACING_OMPT, NULL,
							  0, on_event, NULL),
	   OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL),
	   OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_call, NULL),
	   OK);
	IS(rocprofiler_create_buffer(context, 65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_records, NULL, &buffer),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_OMPT,
							NULL, 0, buffer),
	   OK);
	IS(rocprofiler_start_context(context), OK);
	return 0;
}

SDK_CLIENT("ompt_host")

static void work(void)
{
	long sum = 0, want = 0;
	_Atomic long tasks = 0;

	for (int n = 0; n < LOOPS; n++) {
#pragma omp parallel for num_threads(THREADS) schedule(static) reduction(+ : sum)
		for (long i = 0; i < N; i++)
			sum += i * n;
		want += (long)n * N * (N - 1) / 2;
	}
#pragma omp parallel num_threads(THREADS)
	call();
	call();
	for (int n = 0; n < TASK_REGIONS; n++) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
		for (int i = 0; i < TASKS; i++) {
#pragma omp task
			{
				call();
				tasks++;
			}
		}
	}
	IS(sum, want);
	IS(tasks, TASK_REGIONS * TASKS);
}

int main(void)
{
	enum { NONE = ROCPROFILER_CALLBACK_PHASE_NONE, ENTER, EXIT };

	*(void **)&mark = dlsym(RTLD_DEFAULT, "roctxMarkA");
	if (!mark)
		return 1;
	work();
	IS(nr_calls, CALLS);
	IS(nr_marks, CALLS);
	IS(client != NULL, 1);
	IS(rocprofiler_flush_buffer(buffer), OK);
	IS(seen[OP(callback_functions)][NONE], 1);
	IS(seen[OP(thread_begin)][NONE], THREADS);
	IS(seen[OP(parallel_begin)][NONE], REGIONS);
	IS(seen[OP(parallel_end)][NONE], REGIONS);
	IS(nr_implicit, REGIONS * THREADS);
	IS(nr_loops, LOOPS * THREADS);
	IS(nr_explicit, TASK_REGIONS * TASKS);
	IS(seen[OP(work)][ENTER], seen[OP(work)][EXIT]);
	IS(recorded[OP(work)], seen[OP(work)][EXIT]);
	IS(recorded[OP(parallel_begin)], REGIONS);
	IS(recorded[OP(task_create)], seen[OP(task_create)][NONE]);
	/* workers end the task of their last region when the next one begins, or with OpenMP */
	IS(seen[OP(implicit_task)][ENTER] - seen[OP(implicit_task)][EXIT], THREADS);
	IS(recorded[OP(implicit_task)], seen[OP(implicit_task)][EXIT]);
	if (client)
		end_client(*client);
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
