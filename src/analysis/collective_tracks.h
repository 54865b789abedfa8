/* SPDX-License-Identifier: MIT */
/* collective_tracks.h - collectives as slices of tracks, which viewers show
 *
 * A track is of the ranks that share a communicator or queue. A collective is two slices, one after
 * the other: the time in which those that had come waited for the last one, and the transfer.
 * Collectives whose ranks have different clocks, or of which a time is missing, are left out.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_TRACKS_H
#define RTL_ANALYSIS_COLLECTIVE_TRACKS_H

#include "analysis/collective.h"

/* Valid until the function that gets it returns. */
struct collective_slices {
	const struct collective_one *one;
	const struct collective_party *parties;
	size_t track;		/* number of its track, from 0 */
	const char *track_name; /* "communicator 0 of rank 0 and 3 more" */
	/* ns, begin < end: the wait until `middle`, the transfer from there. What is before the end
	 * of the collective before is cut off: slices of a track don't overlap. */
	int64_t begin, middle, end;
	int64_t skew_ns, transfer_ns; /* of the whole collective */
	/* "wait for rank 3 (launched late)": with the cause where most of the time is skew */
	const char *wait;
};

typedef int (*collective_slices_fn)(void *arg, const struct collective_slices *slices);
/* Calls `put` for each collective that all ranks of its track have reached. Memory as
 * collective_read(), and 8 bytes for each track. 0, -errno with q->res->error, or what `put`
 * returned. */
int collective_tracks_read(struct query *q, collective_slices_fn put, void *arg);

#endif
