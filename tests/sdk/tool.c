/* SPDX-License-Identifier: MIT */
/* tool.c - a tool as a library: prints what it is called for, with its name: TOOL */
#include <stdio.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static void say(const char *what, long number)
{
	dprintf(STDOUT_FILENO, "%s: %s %ld\n", TOOL, what, number);
}

static void on_marker(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	(void)user_data;
	(void)arg;
	say(record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? "enter" : "exit", record.operation);
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_context_id_t context = { 0 };

	(void)fini;
	say("initialize", data != NULL);
	say("context", rocprofiler_create_context(&context));
	say("service", rocprofiler_configure_callback_tracing_service(
			       context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0,
			       on_marker, NULL));
	say("start", rocprofiler_start_context(context));
	return 0;
}

static void finalize(void *data)
{
	int status = 7;

	rocprofiler_is_finalized(&status);
	say("finalize", data != NULL ? status : 99);
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      &result };

	(void)runtime_version;
	id->name = TOOL;
	say("version", version);
	say("priority", priority);
	return &result;
}
