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

#include "records_events_gen.h"
#include "spool/format.h"

#endif
