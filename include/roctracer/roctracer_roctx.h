/* SPDX-License-Identifier: MIT */
/* roctracer_roctx.h - roctx calls in callbacks, and their data
 *
 * One callback for each call, before it takes effect; there are no phases. Messages belong to the
 * program and are valid during the callback only. Members that a call does not use are zero.
 */
#ifndef ROCTRACER_ROCTX_H_
#define ROCTRACER_ROCTX_H_

#include <stdbool.h>
#include <stdint.h>

#include "ext/prof_protocol.h"
#include "roctx.h"

enum roctx_api_id_t {
	ROCTX_API_ID_roctxMarkA = 0,
	ROCTX_API_ID_roctxRangePushA = 1,
	ROCTX_API_ID_roctxRangePop = 2,
	ROCTX_API_ID_roctxRangeStartA = 3,
	ROCTX_API_ID_roctxRangeStop = 4,
	ROCTX_API_ID_NUMBER
};
#ifndef __cplusplus
typedef enum roctx_api_id_t roctx_api_id_t;
#endif

typedef struct roctx_api_data_s {
	union {
		struct {
			const char *message;
			roctx_range_id_t id;
		};
		struct {
			const char *message;
		} roctxMarkA;
		struct {
			const char *message;
		} roctxRangePushA;
		struct {
			const char *message;
		} roctxRangePop;
		struct {
			const char *message;
			roctx_range_id_t id;
		} roctxRangeStartA;
		struct {
			const char *message;
			roctx_range_id_t id;
		} roctxRangeStop;
	} args;
} roctx_api_data_t;

/* libroctx64.so.1: an open range of some thread. */
typedef struct roctx_range_data_s {
	const char *message;
	uint32_t tid;
} roctx_range_data_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the process' one callback: `fn` is called with ACTIVITY_DOMAIN_ROCTX, the call's id and a
 * roctx_api_data_t; its result is ignored. NULL removes it. */
ROCTX_API void roctxRegisterTracerCallback(int (*fn)(activity_domain_t domain, uint32_t op,
						     void *data));

/* Sets the callback of one op, in addition to the above; false for an op that does not exist. */
ROCTX_API bool RegisterApiCallback(uint32_t op, void *callback, void *arg);
ROCTX_API bool RemoveApiCallback(uint32_t op);

/* libroctx64.so.1 only. Calls `callback` for the open ranges of all threads, innermost first within
 * a thread. The callback must not call roctx functions. */
ROCTX_API void RangeStackIterate(void (*callback)(const roctx_range_data_t *range, void *arg),
				 void *arg);

#ifdef __cplusplus
}
#endif

#endif
