/* SPDX-License-Identifier: MIT */
/* selection.c - --range: recording is on while a range of the user's choice is open
 *
 * Owns:     the number of selected ranges that are open, and the ids of the started ones.
 * Threads:  any.
 * Hot path: all: no lock, no malloc, no system call. Names are compared here and not by fnmatch(),
 * which may allocate.
 * Fails:    more than MAX_STARTED started ranges at once: the range is not selected, with a
 *           warning.
 */
#define LOG_TOPIC "roctx"
#include "source/roctx/selection.h"

#include <stdatomic.h>

#include "base/capture.h"
#include "base/env.h"
#include "base/log.h"
#include "event/pause.h"

#define MAX_STARTED 1024u

/* set in init, constant afterwards */
bool selection_is_used;
static const char *pattern;
static struct capture_range range;
/* atomic */
static _Atomic uint64_t nr_seen;
static _Atomic uint64_t started[MAX_STARTED]; /* ids; 0: free */

void selection_init(void)
{
	char error[CAPTURE_ERROR_SIZE];

	pattern = env_str(ENV_RANGE);
	selection_is_used = env_is_set(ENV_RANGE) && capture_range(pattern, &range, error) == 0;
	atomic_store_explicit(&nr_seen, 0, memory_order_relaxed);
	pause_ranges(selection_is_used);
}

bool selection_open_slow(const char *message)
{
	if (!capture_like(pattern, range.size, message))
		return false;
	if (atomic_fetch_add_explicit(&nr_seen, 1, memory_order_relaxed) + 1 != range.number &&
	    range.number)
		return false;
	pause_range_opened();
	return true;
}

void selection_close(void)
{
	pause_range_closed();
}

void selection_start(uint64_t id, const char *message)
{
	if (!selection_open(message))
		return;
	for (uint32_t i = 0; i < MAX_STARTED; i++) {
		uint64_t none = 0;

		/* relaxed: the program gets the id only after this */
		if (atomic_compare_exchange_strong_explicit(&started[(id + i) % MAX_STARTED], &none,
							    id, memory_order_relaxed,
							    memory_order_relaxed))
			return;
	}
	log_warn("range %llu: more than %u selected ranges are open; it does not start recording",
		 (unsigned long long)id, MAX_STARTED);
	selection_close();
}

void selection_stop_slow(uint64_t id)
{
	/* relaxed, all of it: a thread that stops a range got its id behind its start */
	if (!id || !pause_any_range())
		return;
	for (uint32_t i = 0; i < MAX_STARTED; i++) {
		_Atomic uint64_t *slot = &started[(id + i) % MAX_STARTED];
		uint64_t there = id;

		/* of two threads that stop the range one succeeds */
		if (atomic_load_explicit(slot, memory_order_relaxed) == id &&
		    atomic_compare_exchange_strong_explicit(slot, &there, 0, memory_order_relaxed,
							    memory_order_relaxed)) {
			selection_close();
			return;
		}
	}
}
