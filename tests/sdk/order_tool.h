/* SPDX-License-Identifier: MIT */
/* order_tool.h - a tool that counts: calls of HIP and HSA, dispatches, copies. C and C++. */
#ifndef RTL_TESTS_SDK_ORDER_TOOL_H
#define RTL_TESTS_SDK_ORDER_TOOL_H

#include <pthread.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>

static rocprofiler_context_id_t order_context;
static rocprofiler_status_t order_status;
static int order_hip, order_compiler, order_hsa, order_dispatches, order_copies, order_objects;
/* copies and dispatches whose ids are not those of HSA's call that makes them */
static int order_strange, order_strange_kernels;

static void order_callback(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *u,
			   void *a)
{
#if ROCPROFILER_SDK_ABI > 0
	static __thread uint64_t extension, core, core_ancestor;
#endif
	int *count = NULL;

	(void)u;
	(void)a;
#if ROCPROFILER_SDK_ABI > 0
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API)
		extension =
			r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? r.correlation_id.internal : 0;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY &&
	    r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER && r.correlation_id.internal != extension)
		__atomic_fetch_add(&order_strange, 1, __ATOMIC_RELAXED);
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API) {
		core = r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? r.correlation_id.internal : 0;
		core_ancestor = r.correlation_id.ancestor;
	}
	/* HSA's store to the doorbell, whose ancestor is HIP's launch where that is shown */
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH &&
	    r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER &&
	    (r.correlation_id.internal != core || r.correlation_id.ancestor != core_ancestor ||
	     !core_ancestor != !order_hip))
		__atomic_fetch_add(&order_strange_kernels, 1, __ATOMIC_RELAXED);
#endif
	/* code that registers itself has no calls where HIP's own callbacks show them */
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API &&
	    r.operation != ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration)
		return;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API)
		count = &order_hip;
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API)
		count = &order_compiler;
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API)
		count = &order_hsa;
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT)
		count = &order_objects;
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY)
		count = &order_copies;
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH &&
		 r.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE)
		count = &order_dispatches;
	if (count && r.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void *order_start(void *arg)
{
	order_status = rocprofiler_start_context(order_context);
	return arg;
}

static int order_init(rocprofiler_client_finalize_t finish, void *arg)
{
	static const rocprofiler_callback_tracing_kind_t kinds[] = {
		ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
		ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
		ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
	};
	int failed = rocprofiler_create_context(&order_context);
	pthread_t thread;

	(void)finish;
	(void)arg;
	/* without HIP's: the last five */
	for (size_t i = getenv("ORDER_BLIND") ? 2 : 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		failed |= rocprofiler_configure_callback_tracing_service(order_context, kinds[i],
									 NULL, 0, order_callback,
									 NULL);
	/* this one may be within hsa_init() */
	if (!getenv("ORDER_THREAD") || pthread_create(&thread, NULL, order_start, NULL))
		order_start(NULL);
	else
		pthread_join(thread, NULL);
	return failed | order_status;
}

static void order_fini(void *arg)
{
	(void)arg;
	printf("hip %d configured %d hsa %s dispatches %d copies %d objects %s\n", order_hip,
	       order_compiler, order_hsa ? "some" : "none", order_dispatches, order_copies,
	       order_objects ? "some" : "none");
	if (order_strange)
		printf("copies of another call %d\n", order_strange);
	if (order_strange_kernels)
		printf("dispatches of another call %d\n", order_strange_kernels);
	fflush(stdout);
}

static rocprofiler_tool_configure_result_t order_result = { sizeof(order_result), order_init,
							    order_fini, NULL };

#ifdef __cplusplus
extern "C"
#endif
	rocprofiler_tool_configure_result_t *
	rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      rocprofiler_client_id_t *id)
{
	(void)version;
	(void)text;
	(void)priority;
	id->name = "order";
	return &order_result;
}

#endif
