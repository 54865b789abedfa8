/* SPDX-License-Identifier: MIT */
/* fini_tool.cpp - a tool with objects of its own: whether it is finalized, and gets its records,
 * before they are destroyed
 *
 * FINI_REFUSE: initialize returns -1. Lines go to stderr: streams may have ended.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <cstdio>
#include <cstdlib>
#include <string>

static bool is_alive;

struct object {
	explicit object(bool *where) : alive(where)
	{
		*alive = true;
	}
	~object()
	{
		*alive = false;
	}
	bool *alive;
};

static object global{ &is_alive };
static bool is_late_alive;
static rocprofiler_context_id_t context = ROCPROFILER_CONTEXT_NONE;
static rocprofiler_buffer_id_t buffer;
static size_t nr_records, nr_late;

static void take(rocprofiler_context_id_t, rocprofiler_buffer_id_t, rocprofiler_record_header_t **,
		 size_t nr, void *, uint64_t)
{
	nr_records += nr;
	if (!is_alive || !is_late_alive)
		nr_late += nr;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	static object local{ &is_late_alive };

	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 1 << 20, 900000, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  take, nullptr, &buffer);
	rocprofiler_configure_buffer_tracing_service(context,
						     ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
						     nullptr, 0, buffer);
	rocprofiler_start_context(context);
	return std::getenv("FINI_REFUSE") ? -1 : 0;
}

static void finalize(void *)
{
	std::fprintf(stderr, "finalize: objects %s and %s, %zu records, %zu late\n",
		     is_alive ? "alive" : "dead", is_late_alive ? "alive" : "dead", nr_records,
		     nr_late);
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = "fini";
	return &result;
}
