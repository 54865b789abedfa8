/* SPDX-License-Identifier: MIT */
/* recorder.h - the sink that writes the trace */
#ifndef RTL_RECORDER_RECORDER_H
#define RTL_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "event/bus.h"

extern const struct sink recorder_sink;

/* The header of the open trace; NULL: none is open. Any thread; its memory stays readable. */
const struct spool_header *recorder_trace(void);

/* The sink of life_init() is attached when the trace starts. These open and close traces while the
 * process runs, one after
 * another: each is a spool of its own. Any thread, outside of hooks, with no lock held; they wait
 * for each other, and for threads that write a record, 2 s at most beside the disk. */

/* Opens a trace whose disk half is in `dir`; everything submitted and called from the return on is
 * in it. `output`: the database to write if it is still open when the process ends; "": none. 0;
 * -EBUSY: one is open; -ESHUTDOWN: life_state is not LIFE_ON; -EDEADLK: within a hook; or why there
 * is no spool. */
int recorder_open(const char *dir, const char *output);

/* Closes the open trace: it is complete in its disk half, whose path is copied to `path`. What
 * completes later is recorded as unfinished. 0; -ENOENT: none is open; -EIO: the rest could not be
 * written, and `rtl recover` can do so; the other errors as above. */
int recorder_close(char *path, size_t size);

/* Any thread. */
bool recorder_is_open(void);

/* Copies the path of the open trace's disk half, "" if none is open. Any thread. */
void recorder_path(char *path, size_t size);

/* This process is about to execute another program: the open trace says so from now on. false: none
 * is open, or the caller is a child that shares the memory. Else recorder_stays() is called if the
 * exec fails. Any thread, also in a signal handler. */
bool recorder_executes(void);
void recorder_stays(void);

/* Others than the recorder want operations (true): sources are not paused when a trace is
 * closed. */
void recorder_keep_sources(bool on);

/* Of the open trace, or zeros. Any thread. */
struct recorder_counts {
	uint64_t calls, kernels, copies, markers;
	uint64_t loss[SPOOL_NR_REASONS];
};
void recorder_count(struct recorder_counts *counts);

/* Called by librtl's destructor, as its last action: reports events that came after the trace was
 * closed and could not be counted in the file. */
void recorder_last_words(void);

#endif
