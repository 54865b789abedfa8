/* SPDX-License-Identifier: MIT */
/* external.h - ids of the tool's own */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_EXTERNAL_H
#define RTL_LIB_LIBROCPROFILER_SDK_EXTERNAL_H

#include "context.h"

/* A tool has pushed an id, or configured a request for ids. */
extern RTL_HIDDEN _Atomic bool external_is_used;
/* HOT: false: every id is 0. */
static inline bool external_any(void)
{
	/* relaxed: a thread sees its own push */
	return atomic_load_explicit(&external_is_used, memory_order_relaxed);
}
/* HOT: the id of the context's own for a call or operation of thread `tid`. */
rocprofiler_user_data_t external_of(struct context *c, uint64_t tid,
				    rocprofiler_external_correlation_id_request_kind_t kind,
				    uint32_t operation, uint64_t internal);
/* HOT: the same again, but for an id that was asked for. */
void external_again(struct context *c, uint64_t tid,
		    rocprofiler_external_correlation_id_request_kind_t kind,
		    rocprofiler_user_data_t *value);

typedef void (*external_use_fn)(void);
/* `fn` is called when ids of tools' own come into use; at once if they are. */
void external_on_use(external_use_fn fn);

#endif
