/* SPDX-License-Identifier: MIT */
/* step_tool.c - a tool without rocprofiler_configure(): it calls rocprofiler_force_configure() when
 * steps.cpp tells it to, or in its constructor if STEP_CTOR has its name
 *
 * TOOL is its name. Counts launches and the program's kernels; says what was called, and with which
 * status.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "step_tool.h"

static rocprofiler_context_id_t context, code;
static _Atomic int nr_launches, nr_open, nr_kernels, nr_configured, nr_initialized;
static int ctor_status = -1;
static uint32_t its_priority;

static void on_call(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *arg)
{
	(void)user_data;
	(void)arg;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		nr_open++;
	} else {
		nr_open--;
		nr_launches++;
	}
}

static void on_code(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *arg)
{
	const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *data =
		record.payload;

	(void)user_data;
	(void)arg;
	if (strstr(data->kernel_name, "step_kernel"))
		nr_kernels += record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD ? 1 : -1;
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	const rocprofiler_tracing_operation_t launch =
		ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel;
	const rocprofiler_tracing_operation_t symbol =
		ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER;
	int phase = 7;

	(void)fini;
	(void)data;
	nr_initialized++;
	rocprofiler_is_initialized(&phase);
	if (phase != -1)
		printf("%s: phase %d within initialize\n", TOOL, phase);
	if (rocprofiler_create_context(&code) || rocprofiler_create_context(&context) ||
	    rocprofiler_configure_callback_tracing_service(code,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   &symbol, 1, on_code, NULL) ||
	    rocprofiler_configure_callback_tracing_service(
		    context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &launch, 1, on_call,
		    NULL) ||
	    rocprofiler_start_context(code) || rocprofiler_start_context(context))
		printf("%s: a service is refused\n", TOOL);
	return 0;
}

static void finalize(void *data)
{
	(void)data;
	printf("%s: finalize, kernels %d\n", TOOL, nr_kernels);
	fflush(stdout);
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *text, uint32_t priority, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      NULL };

	(void)version;
	(void)text;
	nr_configured++;
	its_priority = priority;
	id->name = TOOL;
	return &result;
}

__attribute__((constructor)) static void start(void)
{
	const char *named = getenv("STEP_CTOR");

	if (named && strstr(named, TOOL))
		ctor_status = (int)rocprofiler_force_configure(configure);
}

ROCPROFILER_PUBLIC_API int step_force(void)
{
	return (int)rocprofiler_force_configure(configure);
}

ROCPROFILER_PUBLIC_API int step_start(void)
{
	return (int)rocprofiler_start_context(context);
}

ROCPROFILER_PUBLIC_API int step_stop(void)
{
	return (int)rocprofiler_stop_context(context);
}

ROCPROFILER_PUBLIC_API void step_report(void)
{
	if (ctor_status >= 0)
		printf("%s: constructor %d\n", TOOL, ctor_status);
	printf("%s: configured %d, initialized %d, priority %u, launches %d, open %d, kernels %d\n",
	       TOOL, nr_configured, nr_initialized, its_priority, nr_launches, nr_open, nr_kernels);
	fflush(stdout);
}
