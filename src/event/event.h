/* SPDX-License-Identifier: MIT */
/* event.h - what sources emit and sinks receive, within the process
 *
 * An event is borrowed for the call: a sink copies what it keeps. Times are ns of ROCr's system
 * clock (clock_now_ns() of base/clock.h), ticks are the GPU's. Kinds and structures are generated
 * from records.json, as the records on disk are.
 */
#ifndef RTL_EVENT_EVENT_H
#define RTL_EVENT_EVENT_H

#include <stdint.h>

#include "event/format.h"
#include "records_events_gen.h"

/* In the correlation id of a dispatch, copy or barrier: it was submitted while recording was paused
 * (pause.h), and is only for sinks other than the recorder. Never in a trace. */
#define EVENT_LEFT_OUT (UINT64_C(1) << 63)
/* With EVENT_LEFT_OUT: it was left out by a filter (filter.h), not by a pause. */
#define EVENT_BY_KERNEL (UINT64_C(1) << 61)
#define EVENT_BY_GPU (UINT64_C(1) << 60)
/* The id itself. */
#define EVENT_ID (EVENT_BY_GPU - 1)
/* In the same field: the HIP call that submitted it was missed. bus_emit() removes the bit and
 * counts `api_missed`, so that only recorded operations are counted. No sink sees it. */
#define EVENT_MISSED (UINT64_C(1) << 62)

#endif
