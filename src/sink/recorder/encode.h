/* SPDX-License-Identifier: MIT */
/* encode.h - events to records */
#ifndef RTL_RECORDER_ENCODE_H
#define RTL_RECORDER_ENCODE_H

#include <stdbool.h>

struct buf;
struct event;

/* HOT: writes `ev` to the thread's chunk. false: there was no room, nothing is written (of a long
 * string, maybe its beginning). Owner thread of `b`. */
bool encode_event(struct buf *b, const struct event *ev);

/* Gives back what encode_event() keeps for a buf. Owner thread. */
void encode_done(struct buf *b);

#endif
