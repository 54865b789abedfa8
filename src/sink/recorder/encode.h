/* SPDX-License-Identifier: MIT */
/* encode.h - encodes events as records */
#ifndef RTL_RECORDER_ENCODE_H
#define RTL_RECORDER_ENCODE_H

#include <stdbool.h>

struct buf;
struct event;

/* HOT: writes `ev` to the thread's chunk. false: no space, nothing is written (except perhaps the
 * beginning of a long string). Owner thread of `b`. */
bool encode_event(struct buf *b, const struct event *ev);

/* A new trace, whose chunks have the numbers of others. While no thread records. */
void encode_restart(void);

/* Releases encode_event()'s cache for a buf. Owner thread. */
void encode_done(struct buf *b);

#endif
