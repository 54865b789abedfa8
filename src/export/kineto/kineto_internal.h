/* SPDX-License-Identifier: MIT */
/* kineto_internal.h - shared by kineto.c (header, files) and kineto_events.c (events) */
#ifndef RTL_EXPORT_KINETO_KINETO_INTERNAL_H
#define RTL_EXPORT_KINETO_KINETO_INTERNAL_H

#include "export/trace_event.h"

/* Writes the events of t->q->only, or of all processes if the input does not distinguish them. */
int kineto_events_write(struct trace_events *t);

#endif
