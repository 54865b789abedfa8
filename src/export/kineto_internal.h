/* SPDX-License-Identifier: MIT */
/* kineto_internal.h - what kineto.c (header, files) and kineto_events.c (events) share */
#ifndef RTL_EXPORT_KINETO_INTERNAL_H
#define RTL_EXPORT_KINETO_INTERNAL_H

#include "export/chrome_trace/chrome_trace_internal.h"

/* Events of t->q->only, or of all where the input does not tell processes apart. */
int kineto_events_write(struct chrome_trace *t);

#endif
