/* SPDX-License-Identifier: MIT */
/* rccl.h - calls of RCCL, from librtl's symbols or its dispatch table to recorder and subscribers
 *
 * The generated wrappers (rccl_wrap_gen.c) are librtl's symbols, in front of the library's, and
 * functions in the dispatch table that RCCL offers from 6.3 on, where it was built with
 * rocprofiler-register. Each does
 *
 *	real = rccl_real(op);
 *	call = rccl_begin(op, &args, RTL_FRAME());
 *	ret = real(arguments);
 *	if (call)
 *		live_wrapper_end(call, &ret, op, ret, words, nr_words);
 *
 * A call of RCCL is not the origin of what is submitted within it: the calls of HIP that it makes
 * are, which are recorded as the program's.
 */
#ifndef RTL_SOURCE_RCCL_RCCL_H
#define RTL_SOURCE_RCCL_RCCL_H

#include <stdint.h>

#include "base/compiler.h"
#include "rccl_ops_gen.h"
#include "source/api/call.h"
#include "source/api/live.h"
#include "source/hip/lookup.h"

/* ncclInvalidUsage: the symbol was ours, and there is no librccl behind it. */
#define RCCL_NOT_LOADED 5
#define RCCL_SUCCESS 0
#define RCCL_IN_PROGRESS 7 /* of a communicator that does not block: its handle is known */

/* Emitted with the wrappers, by op. */
extern const struct api_op rccl_ops[];
extern void *const rccl_wrappers[];

/* The library's function; NULL: it is not loaded, or has none. Any thread. Preserves errno. */
void *rccl_real(uint32_t op);
/* Begins a call, before the library's function runs. NULL: no subscriber wants it, or another
 * wrapper shows it already. */
struct live_frame *rccl_begin(uint32_t op, void *args, uintptr_t frame);
/* What is recorded of a communicator's id: the same on all its ranks. */
uint64_t rccl_identity(const struct rccl_unique_id *id);
/* The handle that a function has stored at `out`; 0: it failed, or there is none. */
uint64_t rccl_handle(int status, const void *out);
/* Puts the wrappers into the entries of RCCL's dispatch table: its size in bytes, then functions by
 * their numbers. Once. */
void rccl_take_table(void *table);
/* For programs that look its functions up. */
extern const struct lookup_front rccl_front;

#endif
