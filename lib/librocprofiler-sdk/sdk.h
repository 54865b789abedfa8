/* SPDX-License-Identifier: MIT */
/* sdk.h - limits of librocprofiler-sdk, and the headers that all of its files need
 *
 *	basic.c         versions, statuses, time
 *	names.c         kinds and operations by name
 *	state.c         the core, how far the tools are
 *	registration.c  tools: found, configured, initialised, finalised; the way in
 *	context.c       contexts: what they want
 *	activation.c    contexts are started and stopped; their callback services
 *	buffer.c        buffers of records
 *	buffered.c      services with buffers; records of calls
 *	flush.c         waits for what a buffer is to contain
 *	threads.c       the threads that call tools' functions for buffers
 *	retire.c        the end of calls' ids
 *	intercept.c     tables for tools' own functions
 *	external.c      ids of the tool's own
 *	calls.c         HIP's and HSA's calls become callbacks and records
 *	correlate.c     the ids that what a call does has
 *	rccl.c          the numbers of RCCL's functions
 *	markers.c       roctx's calls do; marker_ranges.c: its ranges as one
 *	shown.c         what callbacks and records of calls share
 *	code_object.c   code objects and their kernels
 *	host_functions.c functions of the host that stand for kernels
 *	agents.c        processors; topology.c, agents_hsa.c and products.c tell of them
 *	operations.h    GPU operations: kernel dispatches, memory copies
 *	dispatch_ids.c  ids of dispatches
 *	count.h         counters of dispatches and of GPUs; counting.h: of contexts
 *	args.c          arguments of calls, with their texts
 *	tables.h        kinds, operations, arguments, from codegen/models/sdk
 *
 * Files use those of lower layers: tools/check_links.py finds circles. Each source is compiled for
 * either ABI of the library (defines.h). No lock is held while a tool's code runs.
 */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_SDK_H
#define RTL_LIB_LIBROCPROFILER_SDK_SDK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../librtl/core.h"
#include "base/compiler.h"
#include "rocprofiler-sdk/registration.h"
#include "rocprofiler-sdk/rocprofiler.h"
#include "tables.h"

#define SDK_NR_KINDS ((uint32_t)ROCPROFILER_CALLBACK_TRACING_LAST)
#define SDK_NR_BUFFER_KINDS ((uint32_t)ROCPROFILER_BUFFER_TRACING_LAST)
#define SDK_MAX_OPERATIONS 1024u
#define SDK_MAX_CONTEXTS 4096u
/* of contexts with services other than device counting: a bit of a mask each */
#define SDK_MAX_SLOTS 64u
#define SDK_MAX_CLIENTS 64u
/* ids of agents are the driver's nodes from here on; 0 is none */
#define SDK_FIRST_AGENT UINT64_C(2048)

#endif
