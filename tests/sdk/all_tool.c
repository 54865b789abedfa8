/* SPDX-License-Identifier: MIT */
/* all_tool.c - a tool with one context for every kind that there is, as callbacks and as records;
 * writes what it gets to ALL_TOOL_OUT
 *
 * A line is
 *	call KIND OPERATION PHASE id thread result
 *	args id name=value ..., tabs between them; of a call that has ended, its strings in
 *	quotation marks, and no other pointer followed rargs the same of a record
 *	record KIND OPERATION id thread begin end
 *	refused callback|buffer KIND status
 * in the order in which it comes. Results are those of HIP's, HSA's and RCCL's calls, else 0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;

static const char *callback_kind(rocprofiler_callback_tracing_kind_t kind)
{
	const char *name = NULL;

	rocprofiler_query_callback_tracing_kind_name(kind, &name, NULL);
	return name ? name : "unknown";
}

static const char *buffer_kind(rocprofiler_buffer_tracing_kind_t kind)
{
	const char *name = NULL;

	rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL);
	return name ? name : "unknown";
}

static long long result_of(const rocprofiler_callback_tracing_record_t *r)
{
	const rocprofiler_callback_tracing_hip_api_data_t *hip = r->payload;
	const rocprofiler_callback_tracing_hsa_api_data_t *hsa = r->payload;

	switch (r->kind) {
	case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
		return hip->retval.int_retval;
	case ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API:
		return (int)hsa->retval.hsa_status_t_retval;
	default:
		return 0;
	}
}

/* The arguments of a call. */
struct args {
	char text[4096];
	size_t size;
};

static void add_arg(struct args *a, const void *value, const char *type, const char *name,
		    const char *text)
{
	const char *const *string = value;
	int n;

	if (strcmp(type, "PKc") == 0 && *string)
		n = snprintf(a->text + a->size, sizeof(a->text) - a->size, "\t%s=\"%.200s\"", name,
			     *string);
	else
		n = snprintf(a->text + a->size, sizeof(a->text) - a->size, "\t%s=%s", name, text);
	if (n > 0 && (size_t)n < sizeof(a->text) - a->size)
		a->size += (size_t)n;
	/* a line for each call */
	for (char *c = strchr(a->text, '\n'); c; c = strchr(c, '\n'))
		*c = ' ';
}

static int on_arg(rocprofiler_callback_tracing_kind_t kind,
		  rocprofiler_tracing_operation_t operation, uint32_t number,
		  const void *const value, int32_t indirections, const char *type, const char *name,
		  const char *text, int32_t derefs, void *data)
{
	(void)operation;
	(void)number;
	(void)indirections;
	(void)derefs;
	/* names of what is registered have the type of memory */
	if (kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API && strcmp(type, "Pc") == 0)
		type = "PKc";
	add_arg(data, value, type, name, text);
	return 0;
}

/* The same of calls that have no argument. */
static void get_args(rocprofiler_callback_tracing_record_t r, struct args *into)
{
	into->size = 0;
	into->text[0] = '\0';
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		rocprofiler_iterate_callback_tracing_kind_operation_args(r, on_arg, 0, into);
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		    void *data)
{
	const char *operation = NULL;
	struct args args;

	(void)user;
	(void)data;
	get_args(r, &args);
	rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &operation,
							       NULL);
	pthread_mutex_lock(&lock);
	if (out)
		fprintf(out, "call %s %s %d %llu %llu %lld\n", callback_kind(r.kind),
			operation ? operation : "unknown", (int)r.phase,
			(unsigned long long)r.correlation_id.internal,
			(unsigned long long)r.thread_id,
			r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT ? result_of(&r) : 0);
	if (out && args.size)
		fprintf(out, "args %llu%s\n", (unsigned long long)r.correlation_id.internal,
			args.text);
	pthread_mutex_unlock(&lock);
}

#if ROCPROFILER_SDK_ABI > 0
static int on_record_arg(rocprofiler_buffer_tracing_kind_t kind,
			 rocprofiler_tracing_operation_t operation, uint32_t number,
			 const void *const value, int32_t indirections, const char *type,
			 const char *name, const char *text, void *data)
{
	(void)kind;
	(void)operation;
	(void)number;
	(void)value;
	(void)indirections;
	/* the call is over: strings may be gone */
	add_arg(data, NULL, strcmp(type, "PKc") ? type : "", name, text);
	return 0;
}

static void write_record_args(const rocprofiler_record_header_t *h)
{
	const rocprofiler_buffer_tracing_hip_api_record_t *call = h->payload;
	struct args args = { .size = 0 };

	if (h->kind != ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT &&
	    h->kind != ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT)
		return;
	rocprofiler_iterate_buffer_tracing_record_args(*h, on_record_arg, &args);
	if (args.size)
		fprintf(out, "rargs %llu%s\n", (unsigned long long)call->correlation_id.internal,
			args.text);
}
#else
static void write_record_args(const rocprofiler_record_header_t *h)
{
	(void)h;
}
#endif

/* Where a record has its times and its thread: those of calls, and the others. */
static void write_record(const rocprofiler_record_header_t *h)
{
	const rocprofiler_buffer_tracing_hip_api_record_t *call = h->payload;
	const rocprofiler_buffer_tracing_kernel_dispatch_record_t *kernel = h->payload;
	const rocprofiler_buffer_tracing_memory_copy_record_t *copy = h->payload;
	uint64_t thread = call->thread_id, begin = call->start_timestamp, end = call->end_timestamp;
	const char *operation = NULL;

	if (h->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT)
		return;
	if (h->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
		thread = kernel->thread_id;
		begin = kernel->start_timestamp;
		end = kernel->end_timestamp;
	} else if (h->kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY) {
		thread = copy->thread_id;
		begin = copy->start_timestamp;
		end = copy->end_timestamp;
	}
	rocprofiler_query_buffer_tracing_kind_operation_name(call->kind, call->operation,
							     &operation, NULL);
	fprintf(out, "record %s %s %llu %llu %llu %llu\n", buffer_kind(call->kind),
		operation ? operation : "unknown",
		(unsigned long long)call->correlation_id.internal, (unsigned long long)thread,
		(unsigned long long)begin, (unsigned long long)end);
	write_record_args(h);
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t nr, void *data, uint64_t lost)
{
	(void)c;
	(void)b;
	(void)data;
	pthread_mutex_lock(&lock);
	if (out && lost)
		fprintf(out, "lost %llu\n", (unsigned long long)lost);
	for (size_t i = 0; out && i < nr; i++)
		write_record(headers[i]);
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_status_t status;

	(void)fini;
	(void)data;
	/* the thread that has the lock may be the library's, which the child lacks, and a child
	 * that exits calls HIP */
	pthread_atfork(before_fork, after_fork, after_fork);
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 1 << 20, 1 << 19, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	for (int kind = 1; kind < ROCPROFILER_CALLBACK_TRACING_LAST; kind++) {
		status = rocprofiler_configure_callback_tracing_service(
			context, (rocprofiler_callback_tracing_kind_t)kind, NULL, 0, on_call, NULL);
		if (status != ROCPROFILER_STATUS_SUCCESS)
			fprintf(out, "refused callback %s %d\n", callback_kind(kind), status);
	}
	for (int kind = 1; kind < ROCPROFILER_BUFFER_TRACING_LAST; kind++) {
		status = rocprofiler_configure_buffer_tracing_service(
			context, (rocprofiler_buffer_tracing_kind_t)kind, NULL, 0, buffer);
		if (status != ROCPROFILER_STATUS_SUCCESS)
			fprintf(out, "refused buffer %s %d\n", buffer_kind(kind), status);
	}
	rocprofiler_start_context(context);
	return 0;
}

static void finalize(void *data)
{
	FILE *f;

	(void)data;
	rocprofiler_flush_buffer(buffer);
	pthread_mutex_lock(&lock);
	f = out;
	out = NULL;
	pthread_mutex_unlock(&lock);
	if (f)
		fclose(f);
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      NULL };
	const char *path = getenv("ALL_TOOL_OUT");

	(void)version;
	(void)runtime_version;
	(void)priority;
	id->name = "all";
	out = path ? fopen(path, "w") : NULL;
	/* a forked child that exits writes what is in the buffer once more */
	if (out)
		setvbuf(out, NULL, _IOLBF, 1 << 16);
	return out ? &result : NULL;
}
