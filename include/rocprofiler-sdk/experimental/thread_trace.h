/* SPDX-License-Identifier: MIT */
/* thread_trace.h - thread traces of shader engines: declared, and answered with NOT_IMPLEMENTED */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_H
#define ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_H

#include <rocprofiler-sdk/experimental/thread-trace/agent.h>
#include <rocprofiler-sdk/experimental/thread-trace/core.h>
#include <rocprofiler-sdk/experimental/thread-trace/dispatch.h>
#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder.h>
#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder_types.h>

#endif
