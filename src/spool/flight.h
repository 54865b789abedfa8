/* SPDX-License-Identifier: MIT */
/* flight.h - keeps the disk half of a trace within the limits of a flight recorder
 *
 * The limits are in the trace's header (flight_bytes, flight_ns), so that every drainer keeps to
 * them: the harvester, and `rtl trace`. One thread for each struct flight.
 */
#ifndef RTL_SPOOL_FLIGHT_H
#define RTL_SPOOL_FLIGHT_H

#include <stdint.h>

#include "spool/drain.h"

#define FLIGHT_PAST 32u

/* Where the disk half ended at past times, oldest first; for a limit of time. Zeroed at first. */
struct flight {
	struct {
		uint64_t at_ns, end;
	} past[FLIGHT_PAST];
	uint32_t nr;
};

/* Sets the limits from RTL_FLIGHT_RECORDER. In the traced process, before the trace is drained. */
void flight_init(struct spool_header *h);

/* Removes what is beyond the limits; the caller has the right to drain. now_ns: BOOTTIME. What
 * drain_evict() returns; 0 without limits. */
int64_t flight_step(struct flight *f, struct drain *d, uint64_t now_ns);

#endif
