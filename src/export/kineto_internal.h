/* SPDX-License-Identifier: MIT */
/* kineto_internal.h - what kineto.c (header, files) and kineto_events.c (events) share */
#ifndef RTL_EXPORT_KINETO_INTERNAL_H
#define RTL_EXPORT_KINETO_INTERNAL_H

#include "export/perfetto_internal.h"

/* The number of an operation's stream, from 1. Of what no stream is known of, queues take the numbers behind
 * those of the process' streams. */
int64_t kineto_stream_of(const struct perfetto *p, const int64_t *op);
/* Events of p->only, or of all where the input does not tell processes apart. */
int kineto_events_write(struct perfetto *p);

#endif
