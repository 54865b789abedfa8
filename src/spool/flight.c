/* SPDX-License-Identifier: MIT */
/* flight.c - what is beyond the limits of a flight recorder
 *
 * Threads:  one for each struct flight.
 * Not here: removing it (drain.c).
 *
 * A limit is exceeded by an eighth before anything is removed, so that the carried definitions are
 * seldom written again.
 */
#include "spool/flight.h"

#include <stdatomic.h>
#include <string.h>

#include "base/capture.h"
#include "base/env.h"

#define SLACK 8u /* a limit's part */

void flight_init(struct spool_header *h)
{
	char error[CAPTURE_ERROR_SIZE];
	uint64_t bytes = 0, ns = 0;

	if (!env_is_set(ENV_FLIGHT_RECORDER) ||
	    capture_flight(env_str(ENV_FLIGHT_RECORDER), &bytes, &ns, error))
		return;
	atomic_store_explicit(&h->flight_bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&h->flight_ns, ns, memory_order_relaxed);
}

static void drop_oldest(struct flight *f, uint32_t nr)
{
	f->nr -= nr;
	memmove(f->past, f->past + nr, f->nr * sizeof(f->past[0]));
}

/* Where the disk half ended `ns` ago, or earlier; 0: not known. */
static uint64_t end_then(struct flight *f, uint64_t end, uint64_t now_ns, uint64_t ns)
{
	uint32_t nr = 0;

	if (!f->nr || now_ns - f->past[f->nr - 1].at_ns >= ns / SLACK) {
		if (f->nr == FLIGHT_PAST)
			drop_oldest(f, 1);
		f->past[f->nr].at_ns = now_ns;
		f->past[f->nr++].end = end;
	}
	while (nr < f->nr && now_ns - f->past[nr].at_ns >= ns)
		nr++;
	if (!nr)
		return 0;
	end = f->past[nr - 1].end;
	drop_oldest(f, nr);
	return end;
}

int64_t flight_step(struct flight *f, struct drain *d, uint64_t now_ns)
{
	struct spool_header *h = d->header;
	/* relaxed: constant since the trace began, or written by this thread */
	uint64_t bytes = atomic_load_explicit(&h->flight_bytes, memory_order_relaxed);
	uint64_t ns = atomic_load_explicit(&h->flight_ns, memory_order_relaxed);
	uint64_t from = atomic_load_explicit(&h->kept_from, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&h->disk_end, memory_order_acquire), upto = 0;

	if (bytes && end - from > bytes + bytes / SLACK)
		upto = end - bytes;
	if (ns)
		upto = end_then(f, end, now_ns, ns);
	return upto > from ? drain_evict(d, upto) : 0;
}
