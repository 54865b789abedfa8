/* SPDX-License-Identifier: MIT */
/* counting.h - the services that count, as contexts have them */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_COUNTING_H
#define RTL_LIB_LIBROCPROFILER_SDK_COUNTING_H

#include "context.h"

/* Whether any context has a service that counts. */
bool counting_is_configured(void);
/* The context becomes active: what it counts is counted from now on. An error: it does not become
 * active. */
rocprofiler_status_t counting_start(struct context *c);
/* Whether the context counts dispatches. */
bool counting_has(const struct context *c);
void counting_stop(struct context *c);

#endif
