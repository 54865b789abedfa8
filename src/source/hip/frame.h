/* SPDX-License-Identifier: MIT */
/* frame.h - what the generated HIP wrappers call
 *
 *	EXPORT int hipMemset(void *dst, int value, size_t sizeBytes)
 *	{
 *		int (*real)(void *, int, size_t) = hip_real(HIP_OP_hipMemset);
 *		struct api_call call;
 *		int ret;
 *
 *		if (!real)
 *			return HIP_NOT_LOADED;
 *		if (!hip_enter(&call))
 *			return real(dst, value, sizeBytes);
 *		ret = real(dst, value, sizeBytes);
 *		... fills words, if api_args ...
 *		hip_leave(HIP_OP_hipMemset, &call, ret, words, nr);
 *		return ret;
 *	}
 *
 * All of it on any thread at any time: before librtl's constructor, after the end of the trace.
 */
#ifndef RTL_SOURCE_HIP_FRAME_H
#define RTL_SOURCE_HIP_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/api/call.h"

/* hipErrorSharedObjectInitFailed: the symbol was ours, and there is no libamdhip64 behind it. */
#define HIP_NOT_LOADED 303

/* By op; NULL until looked up. Emitted with the wrappers, as many as there are ops. */
extern _Atomic(void *) hip_real_fns[];

/* Looks the function up: RTLD_NEXT, else in the libamdhip64 that is loaded with local scope. NULL: nowhere. */
void *hip_resolve(uint32_t op);

/* HOT: the runtime's function. */
static inline void *hip_real(uint32_t op)
{
	/* acquire: pairs with the release in hip_resolve() */
	void *fn = atomic_load_explicit(&hip_real_fns[op], memory_order_acquire);

	return RTL_LIKELY(fn != NULL) ? fn : hip_resolve(op);
}

/* The first HIP call starts the trace where that is wanted; after that this never runs again. */
bool hip_enter_first(struct api_call *c);
extern _Atomic bool hip_started;

/* HOT: false: pass the call on. */
static inline bool hip_enter(struct api_call *c)
{
	/* relaxed: set once; whoever misses it takes the slow way */
	if (RTL_UNLIKELY(!atomic_load_explicit(&hip_started, memory_order_relaxed)))
		return hip_enter_first(c);
	return api_enter(REC_API_HIP, c);
}

static inline void hip_leave(uint32_t op, struct api_call *c, int32_t status, const uint64_t *words,
			     uint32_t nr_words)
{
	api_leave(REC_API_HIP, op, c, status, words, nr_words);
}

/* Words of arguments. Within hip_enter() and hip_leave(); they preserve errno. */
uint64_t hip_word_text(const char *text); /* string id; NULL gives 0 */
/* The kernel's mangled name as a string id, 0 when it is not known: by the host function's address, or by
 * hipFunction_t. Asks the runtime once for each, `ok` false: only what is known already. */
uint64_t hip_word_host_function(const void *function, bool ok);
uint64_t hip_word_function(const void *handle, bool ok);
/* A module or a fat binary was unloaded: addresses and handles may come to mean another kernel. */
void hip_forget_names(void);

#endif
