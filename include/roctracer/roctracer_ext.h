/* SPDX-License-Identifier: MIT */
/* roctracer_ext.h - start and stop of tracing, external correlation ids */
#ifndef ROCTRACER_EXT_H_
#define ROCTRACER_EXT_H_

#include "roctracer.h"

typedef void (*roctracer_start_cb_t)(void);
typedef void (*roctracer_stop_cb_t)(void);

/* For roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API); each may be NULL. */
typedef struct {
	roctracer_start_cb_t start_cb;
	roctracer_stop_cb_t stop_cb;
} roctracer_ext_properties_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Tracing is on at first. While it is off there are no callbacks of HIP and HSA and no records, but
 * enabled operations stay enabled. Callbacks of roctx continue, except for clients up to 5.3: those
 * that are linked to libroctracer64.so.1, and processes with a HIP up to 5.3. */
ROCTRACER_API void roctracer_start(void);
ROCTRACER_API void roctracer_stop(void);

/* Each thread has a stack of external ids. While it is not empty, the record of each call is
 * preceded by one of domain EXT_API with the call's correlation id and the id at the top. */
ROCTRACER_API roctracer_status_t
roctracer_activity_push_external_correlation_id(activity_correlation_id_t id);
/* `last_id` may be NULL. An empty stack is an error, and *last_id is 0. */
ROCTRACER_API roctracer_status_t
roctracer_activity_pop_external_correlation_id(activity_correlation_id_t *last_id);

#ifdef __cplusplus
}
#endif

#endif
