/* SPDX-License-Identifier: MIT */
/* api_client.c - roctracer without a GPU: statuses, texts, names, pools, external ids, start and
 * stop
 *
 * Built for each generation: GENERATION 1 expects the statuses of ROCm 5.2, 4 those of today. Exits
 * with the number of what was not as it should be.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/expect.h"
#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_roctx.h"

#define S(old, today) (GENERATION == 1 ? (old) : (today))
#define BAD_DOMAIN S(4, -2)

static int nr_wrong;

/* The newest error holds `part`, begins with the function's name and is the caller's own copy. */
static void error_has(const char *function, const char *part)
{
	const char *a = roctracer_error_string(), *b = roctracer_error_string();

	IS(a != b, 1);
	TEXT(a, b);
	if (strncmp(a, function, strlen(function)) != 0 || !strstr(a, part)) {
		printf("error text \"%s\" lacks %s or %s\n", a, function, part);
		nr_wrong++;
	}
	IS(a[strlen(a) - 1] == '\n', GENERATION == 1);
	free((void *)a);
	free((void *)b);
}

static void never(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)data;
	(void)arg;
	printf("callback of domain %u, op %u\n", domain, cid);
	nr_wrong++;
}

static void unused(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)domain;
	(void)cid;
	(void)data;
	(void)arg;
}

static void *fresh_thread(void *arg)
{
	const char *text = roctracer_error_string();

	TEXT(text, "");
	free((void *)text);
	return arg;
}

static void errors(void)
{
	uint32_t op = 77, kind = 77;
	pthread_t thread;
	const char *text = roctracer_error_string();

	TEXT(text, "");
	free((void *)text);
	IS(roctracer_version_major(), 4);
	IS(roctracer_version_minor(), S(0, 1));
	IS(roctracer_major_version(), roctracer_version_major());
	IS(roctracer_minor_version(), roctracer_version_minor());
	IS(ROCTRACER_API_PHASE_ENTER, ACTIVITY_API_PHASE_ENTER);
	IS((roctracer_api_phase_t)ROCTRACER_API_PHASE_EXIT, ACTIVITY_API_PHASE_EXIT);
	TEXT(roctracer_id_string(ACTIVITY_DOMAIN_HIP_API, 108), "hipMalloc");

	/* op_code */
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &op, &kind), 0);
	IS(op, 108);
	IS(kind, 0);
	kind = 77;
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "no such function", &op, &kind), S(5, -3));
	error_has("roctracer_op_code(), ", "no such function");
	IS(op, 0);
	IS(kind, 77);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "unknown", &op, NULL), S(5, -3));
	IS(op, 0);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "hsa_queue_create", &op, NULL), 0);
	IS(op, 7);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "hsa_no", &op, &kind), S(5, -3));
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, op, 0), "unknown");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, op - 2, 0),
	     "hsa_ext_image_create_with_layout");
	IS(roctracer_op_code(99, "x", &op, NULL), BAD_DOMAIN);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, NULL, &op, NULL), S(5, -3));
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "hsa_init", NULL, NULL), S(5, -3));

	/* properties: unset, NULL, bad */
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HIP_API, NULL), 0);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_API, NULL), 0);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_OPS, NULL), 0);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HIP_OPS, NULL), 0);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_EVT, NULL), 0);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_ROCTX, NULL), BAD_DOMAIN);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_KFD_API, NULL), BAD_DOMAIN);
	IS(roctracer_set_properties((activity_domain_t)8, NULL), BAD_DOMAIN);
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, NULL), S(5, -3));
	error_has("roctracer_set_properties(), ", "NULL");

	/* the text stays after a success, and belongs to the thread */
	IS(roctracer_disable_api_callback(), 0);
	error_has("roctracer_set_properties(), ", "NULL");
	pthread_create(&thread, NULL, fresh_thread, NULL);
	pthread_join(thread, NULL);
	IS(roctracer_get_timestamp(NULL), S(5, -3));
}

static void names(void)
{
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, 107, 0), "hipLaunchKernel");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, 0, 0), "unknown");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, 60000, 0), "unknown");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, 0, 0), "hsa_init");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0), "InternalMarker");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 1, 0x11f0), "KernelExecution");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x11f3), "CopyDeviceToHost");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x11f4), "CopyHostToDevice");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x11fe), "Marker");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x1203), "CopyDeviceToDevice2D");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x1207), "FillBuffer");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x120d), "SvmUnmap");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x9999), "Unknown command type");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_EXT_API, 9, 9), "EXT_API");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, 1, 0), "COPY");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, 3, 0), "PCSAMPLE");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_EVT, 5, 0), "CODEOBJ");
	/* operations that do not exist: see roctracer.h */
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, 60000, 0), "unknown");
	TEXT(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 60000, 0x11f0), "KernelExecution");
	IS(roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, 4, 0) == NULL, 1);
	error_has("roctracer_op_string(), ", "4");
	IS(roctracer_op_string(ACTIVITY_DOMAIN_HSA_EVT, 6, 0) == NULL, 1);
	IS(roctracer_op_string(ACTIVITY_DOMAIN_ROCTX, 0, 0) == NULL, 1);
	error_has("roctracer_op_string(), ", "6");
	IS(roctracer_op_string(ACTIVITY_DOMAIN_KFD_API, 0, 0) == NULL, 1);
	IS(roctracer_op_string(1000, 0, 0) == NULL, 1);
}

/* Each operation's name has the operation's code. */
static void code_is(uint32_t domain, const char *name, uint32_t op, uint32_t kind)
{
	uint32_t its_op = 77, its_kind = 77;

	IS(roctracer_op_code(domain, name, &its_op, &its_kind), 0);
	IS(its_op, op);
	IS(its_kind, kind);
	its_op = 77;
	IS(roctracer_op_code(domain, name, &its_op, NULL), 0);
	IS(its_op, op);
	if (domain != ACTIVITY_DOMAIN_ROCTX)
		TEXT(roctracer_op_string(domain, its_op, its_kind), name);
}

static void no_code_is(uint32_t domain, const char *name, uint32_t op)
{
	uint32_t its_op = 77, its_kind = 77;

	IS(roctracer_op_code(domain, name, &its_op, &its_kind), S(5, -3));
	error_has("roctracer_op_code(), ", name);
	IS(its_op, op);
	IS(its_kind, 77);
}

static void codes(void)
{
	static const char *const roctx[] = { "roctxMarkA", "roctxRangePushA", "roctxRangePop",
					     "roctxRangeStartA", "roctxRangeStop" };
	uint32_t op = 77;

	for (uint32_t i = 0; i < 4; i++)
		code_is(ACTIVITY_DOMAIN_HSA_OPS, roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, i, 0),
			i, 0);
	for (uint32_t i = 0; i < 6; i++)
		code_is(ACTIVITY_DOMAIN_HSA_EVT, roctracer_op_string(ACTIVITY_DOMAIN_HSA_EVT, i, 0),
			i, 0);
	for (uint32_t i = 0; i < 5; i++)
		code_is(ACTIVITY_DOMAIN_ROCTX, roctx[i], i, 0);
	code_is(ACTIVITY_DOMAIN_EXT_API, "EXT_API", ACTIVITY_EXT_OP_EXTERN_ID, 0);
	code_is(ACTIVITY_DOMAIN_HSA_API, "hsa_init", 0, 0);
	/* without HIP in the process they are those of the newest */
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "KernelExecution", 0, 0x11f0);
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "Task", 0, 0x11f1);
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "CopyHostToDevice", 1, 0x11f4);
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "Marker", 2, 0x11fe);
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "SvmUnmap", 1, 0x120d);
	code_is(ACTIVITY_DOMAIN_HIP_OPS, "InternalMarker", 1, 0);
	no_code_is(ACTIVITY_DOMAIN_HIP_API, "COPY", 0);
	no_code_is(ACTIVITY_DOMAIN_HIP_OPS, "COPY", 3);
	no_code_is(ACTIVITY_DOMAIN_HIP_OPS, "Unknown command type", 3);
	no_code_is(ACTIVITY_DOMAIN_HSA_OPS, "copy", 4);
	no_code_is(ACTIVITY_DOMAIN_HSA_EVT, "COPY", 6);
	no_code_is(ACTIVITY_DOMAIN_ROCTX, "roctxMark", 5);
	no_code_is(ACTIVITY_DOMAIN_EXT_API, "ext", 2);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_KFD_API, "hsaKmtOpenKFD", &op, NULL), BAD_DOMAIN);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_NUMBER, "hsa_init", &op, NULL), BAD_DOMAIN);
	IS(op, 77);
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HSA_OPS, NULL, &op, NULL), S(5, -3));
	IS(roctracer_op_code(ACTIVITY_DOMAIN_HSA_OPS, "COPY", NULL, NULL), S(5, -3));
}

static void domains(void)
{
	static const activity_domain_t valid[] = {
		ACTIVITY_DOMAIN_HSA_API, ACTIVITY_DOMAIN_HSA_OPS, ACTIVITY_DOMAIN_HIP_OPS,
		ACTIVITY_DOMAIN_HIP_API, ACTIVITY_DOMAIN_ROCTX,	  ACTIVITY_DOMAIN_HSA_EVT,
	};
	static const activity_domain_t bad[] = { ACTIVITY_DOMAIN_KFD_API, (activity_domain_t)8,
						 (activity_domain_t)12345 };

	for (unsigned i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		IS(roctracer_disable_domain_callback(valid[i]), 0);
		IS(roctracer_enable_domain_callback(valid[i], never, NULL), 0);
		IS(roctracer_enable_op_callback(valid[i], 1, never, NULL), 0);
		IS(roctracer_enable_op_callback(valid[i], 1, NULL, NULL), 0);
		IS(roctracer_disable_op_callback(valid[i], 1), 0);
		IS(roctracer_disable_domain_callback(valid[i]), 0);
		IS(roctracer_disable_domain_activity(valid[i]), 0);
		IS(roctracer_disable_op_activity(valid[i], 1), 0);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		IS(roctracer_enable_domain_callback(bad[i], never, NULL), BAD_DOMAIN);
		IS(roctracer_enable_op_callback(bad[i], 0, never, NULL), BAD_DOMAIN);
		IS(roctracer_disable_domain_callback(bad[i]), BAD_DOMAIN);
		IS(roctracer_disable_op_callback(bad[i], 0), BAD_DOMAIN);
		IS(roctracer_disable_domain_activity(bad[i]), BAD_DOMAIN);
		IS(roctracer_disable_op_activity(bad[i], 0), BAD_DOMAIN);
	}
	IS(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_EXT_API, never, NULL), 0);
	IS(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_EXT_API), 0);
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_EXT_API, 0, never, NULL), BAD_DOMAIN);
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, 60000, never, NULL), S(6, -3));
	error_has("roctracer_enable_op_callback(), ", "60000");
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, 0, never, NULL), S(6, 0));
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, 0), 0);
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, 5, never, NULL), S(8, -3));
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, 60000, never, NULL), S(0, -3));
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_OPS, 4, never, NULL), S(0, -3));
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_OPS, 3, never, NULL), S(7, -3));
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, 6, never, NULL), S(0, -3));
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_EXT_API, 0), BAD_DOMAIN);
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, 60000), S(6, -3));
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, 5), S(8, -3));
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_OPS, 3), S(7, -3));
	IS(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, 60000), S(0, -3));
	IS(roctracer_disable_op_activity(ACTIVITY_DOMAIN_EXT_API, 0), BAD_DOMAIN);
	IS(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HIP_API, 60000), S(6, -3));
	IS(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HIP_OPS, 3), S(7, -3));
	IS(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_EXT_API), 0);
	/* the calls for all domains do not stop half-way */
	IS(roctracer_enable_callback(never, NULL), 0);
	IS(roctracer_disable_callback(), 0);
}

static int nr_allocated, nr_freed;

static void allocate(char **ptr, size_t size, void *arg)
{
	if (*ptr && !size) {
		free(*ptr);
		*ptr = NULL;
		nr_freed++;
		return;
	}
	*(size_t *)arg = size;
	*ptr = malloc(size);
	nr_allocated++;
}

static void no_records(const char *begin, const char *end, void *arg)
{
	(void)arg;
	printf("%ld bytes of records\n", (long)(end - begin));
	nr_wrong++;
}

static void pools(void)
{
	size_t nr_bytes = 0;
	roctracer_properties_t props = { .buffer_size = 0x1000,
					 .alloc_fun = allocate,
					 .alloc_arg = &nr_bytes,
					 .buffer_callback_fun = no_records };
	roctracer_properties_t bare = { .buffer_size = 0 };
	roctracer_pool_t *a = NULL, *b = NULL;
	activity_record_t records[2];
	const activity_record_t *next;

	IS(roctracer_default_pool() == NULL, 1);
	IS(roctracer_close_pool(), 0);
	IS(roctracer_flush_activity(), 0);
	IS(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HIP_API, 1), S(0, -4));
	IS(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API), S(0, -4));
	IS(roctracer_enable_activity(), S(0, -4));
	IS(roctracer_open_pool_expl(NULL, &a), S(5, -3));

	IS(roctracer_open_pool_expl(&props, &a), 0);
	IS(a != NULL, 1);
	IS(nr_bytes >= 2 * 0x1000, 1);
	IS(roctracer_default_pool() == NULL, 1);
	IS(roctracer_open_pool(&bare), 0);
	b = roctracer_default_pool();
	IS(b != NULL && b != a, 1);
	IS(roctracer_open_pool(&bare), S(1, -5));
	error_has("roctracer_open_pool_expl(), ", "already");
	IS(roctracer_default_pool_expl(a) == b, 1);
	IS(roctracer_default_pool() == a, 1);

	IS(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HIP_API, 60000), S(6, -3));
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HIP_OPS, 3, a), S(7, -3));
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, 4, a), S(0, -3));
	IS(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_KFD_API, a), BAD_DOMAIN);
	IS(roctracer_enable_domain_activity_expl((activity_domain_t)8, a), BAD_DOMAIN);
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_KFD_API, 0, a), BAD_DOMAIN);
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_EXT_API, 0, a), BAD_DOMAIN);
	IS(roctracer_enable_op_activity_expl((activity_domain_t)12345, 0, a), BAD_DOMAIN);
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, 60000, a), S(0, -3));
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_EVT, 6, a), S(0, -3));
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_ROCTX, 5, a), S(8, -3));
	IS(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HIP_API, 0, a), S(6, 0));
	IS(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_ROCTX, a), 0);
	IS(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_EXT_API, a), 0);
	IS(roctracer_enable_activity(), 0);
	IS(roctracer_flush_activity(), 0);
	IS(roctracer_flush_activity_expl(b), 0);
	IS(roctracer_disable_api_activity(), 0);

	/* the default pool by its handle: no default any more */
	IS(roctracer_close_pool_expl(a), 0);
	IS(roctracer_default_pool() == NULL, 1);
	IS(roctracer_close_pool_expl(b), 0);
	IS(nr_allocated, 1);
	IS(nr_freed, 1);
	for (int i = 0; i < 100; i++) {
		IS(roctracer_open_pool(&props), 0);
		IS(roctracer_close_pool(), 0);
	}
	IS(nr_freed, 101);
	IS(roctracer_next_record(records, &next), 0);
	IS(next == records + 1, 1);
}

static void external_ids(void)
{
	activity_correlation_id_t id = 77;

	IS(roctracer_activity_pop_external_correlation_id(&id), S(1, -7));
	IS(id, 0);
	IS(roctracer_activity_pop_external_correlation_id(NULL), S(1, -7));
	for (uint64_t i = 1; i <= 1000; i++)
		IS(roctracer_activity_push_external_correlation_id(i * 3), 0);
	IS(roctracer_activity_pop_external_correlation_id(NULL), 0);
	for (uint64_t i = 999; i >= 1; i--) {
		IS(roctracer_activity_pop_external_correlation_id(&id), 0);
		IS(id, i * 3);
	}
	IS(roctracer_activity_pop_external_correlation_id(&id), S(1, -7));
}

static void *fails_and_reads_text(void *arg)
{
	for (int i = 0; i < 100; i++) {
		IS(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_KFD_API), BAD_DOMAIN);
		free((void *)roctracer_error_string());
	}
	return arg;
}

/* Errors, their texts, threads that had errors, and callbacks of markers leak no memory. */
static void leaks(void)
{
	size_t before = 0, after;
	pthread_t thread;

	IS(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, unused, NULL), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100; i++) {
			fails_and_reads_text(NULL);
			roctxMarkA("a text that is not kept");
			roctxRangeStop(roctxRangeStartA("another"));
			pthread_create(&thread, NULL, fails_and_reads_text, NULL);
			pthread_join(thread, NULL);
		}
		if (!round)
			before = mallinfo2().uordblks;
	}
	after = mallinfo2().uordblks;
#ifdef __SANITIZE_ADDRESS__
	after = before; /* its allocator does not count here; it finds leaks itself */
#endif
	IS(after < before + 4096, 1);
	IS(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX), 0);
}

static int nr_started, nr_stopped;

static void on_start(void)
{
	nr_started++;
}

static void on_stop(void)
{
	nr_stopped++;
}

static char mark_seen[32];

static void on_mark(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	IS(domain, 5);
	IS(cid, 0);
	IS(arg == NULL, 1);
	snprintf(mark_seen, sizeof(mark_seen), "%s", (const char *)data);
}

static void control(void)
{
	roctracer_ext_properties_t hooks = { on_start, on_stop };
	uint64_t a = 0, b = 0;

	roctracer_stop();
	roctracer_start();
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, &hooks), 0);
	roctracer_start();
	IS(nr_started, 0);
	roctracer_stop();
	roctracer_stop();
	roctracer_start();
	roctracer_start();
	IS(nr_started, 1);
	IS(nr_stopped, 1);
	IS(roctracer_get_timestamp(&a), 0);
	IS(roctracer_get_timestamp(&b), 0);
	IS(a > 0 && b >= a, 1);
	roctracer_mark("no handler");
	IS(roctracer_set_properties(ACTIVITY_DOMAIN_HIP_API, (void *)on_mark), 0);
	roctracer_mark("text");
	TEXT(mark_seen, "text");
	IS(roctracer_load(), 1);
	roctracer_flush_buf();
	roctracer_unload();
}

static int nr_ranges;

static void on_range(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const roctx_api_data_t *d = data;

	IS(domain, ACTIVITY_DOMAIN_ROCTX);
	TEXT((const char *)arg, "argument");
	if (cid == ROCTX_API_ID_roctxMarkA)
		TEXT(d->args.message, "mark");
	nr_ranges++;
	/* a callback may disable itself */
	if (nr_ranges == S(6, 7))
		IS(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX), 0);
}

static void ranges(void)
{
	static char argument[] = "argument";

	IS(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_range, argument), 0);
	roctxMarkA("mark");
	roctxRangePushA("push");
	roctxRangePop();
	roctxRangeStop(roctxRangeStartA("start"));
	IS(nr_ranges, 5);
	/* tracing that is stopped goes on for roctx, but for clients of 5.2 */
	roctracer_stop();
	roctxMarkA("mark");
	roctracer_start();
	IS(nr_ranges, S(5, 6));
	roctxMarkA("mark");
	roctxMarkA("mark");
	IS(nr_ranges, S(6, 7));
	IS(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, 2, on_range, argument), 0);
	roctxRangePushA("push");
	roctxRangePop();
	IS(nr_ranges, S(7, 8));
	IS(roctracer_disable_callback(), 0);
	roctxRangePop();
	IS(nr_ranges, S(7, 8));
}

/* The child of a fork may do what its parent did: nothing waits for a thread that is not there. */
static void forks(void)
{
	roctracer_properties_t props = { .buffer_size = 0x1000, .buffer_callback_fun = no_records };
	int status = -1;
	pid_t pid;

	IS(roctracer_open_pool(&props), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		roctracer_flush_activity();
		roctracer_close_pool();
#ifdef __SANITIZE_THREAD__
		_exit(0); /* it has no threads in such a child */
#endif
		_exit(roctracer_open_pool(&props) == 0 && roctracer_close_pool() == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	IS(status, 0);
	IS(roctracer_close_pool(), 0);
}

static atomic_bool forks_are_over;

static void *busy(void *arg)
{
	roctracer_properties_t props = { .buffer_size = 256, .buffer_callback_fun = no_records };
	roctracer_pool_t *pool;

	while (!atomic_load(&forks_are_over)) {
		IS(roctracer_open_pool_expl(&props, &pool), 0);
		IS(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, unused, arg), 0);
		IS(roctracer_default_pool() == NULL, 1);
		IS(roctracer_close_pool_expl(pool), 0);
	}
	return arg;
}

/* Whatever other threads are at when a process forks, the child finds every lock free. */
static void forks_while_threads_work(void)
{
	roctracer_properties_t props = { .buffer_size = 256, .buffer_callback_fun = no_records };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, busy, NULL);
	for (int i = 0; i < 50; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX);
			roctracer_default_pool();
#ifndef __SANITIZE_THREAD__
			if (roctracer_open_pool(&props) || roctracer_close_pool())
				_exit(1);
#endif
			_exit(0);
		}
		waitpid(pid, &status, 0);
		IS(status, 0);
	}
	(void)props;
	atomic_store(&forks_are_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	IS(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX), 0);
}

int main(void)
{
	errors();
	names();
	codes();
	domains();
	pools();
	external_ids();
	control();
	leaks();
	ranges();
	forks();
	forks_while_threads_work();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
