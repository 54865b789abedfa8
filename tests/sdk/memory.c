/* SPDX-License-Identifier: MIT */
/* memory.c - a lossless buffer whose function does not return, and a heap that is empty: what is lost is counted
 *
 * The program's own functions of the heap stand in front of the C library's, and fail on request. Built for each ABI.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
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
static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t end_client;

static bool fails(void)
{
	if (!is_empty)
		return false;
	nr_failed++;
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

static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		      void *arg)
{
	(void)user;
	(void)arg;
	nr_calls += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
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
	IS(rocprofiler_start_context(context), OK);
	return 0;
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, NULL,
							      NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	id->name = "memory";
	client = id;
	return &result;
}

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
