/* SPDX-License-Identifier: MIT */
/* relay.h - items that threads of the core or of the program hand to a thread of the face, which
 * runs the client's functions
 *
 * In the order in which they were sent. A face has a relay for each kind of item; it and its thread
 * stay for the process.
 */
#ifndef RTL_LIB_FACE_RELAY_H
#define RTL_LIB_FACE_RELAY_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A member of what is sent. */
struct relay_item {
	struct relay_item *next;
};

/* On the relay's thread, all signals blocked, no lock held. The item is the function's. */
typedef void (*relay_fn)(struct relay_item *item);

/* Zeroed before relay_start(). */
struct relay {
	_Atomic(struct relay_item *) arrived; /* the newest first */
	sem_t has_arrived;
	_Atomic bool is_asleep; /* until it is woken */
	_Atomic uint64_t nr_sent, nr_delivered;
	relay_fn deliver;
};

/* Starts the thread. Once. false: there can be none. */
bool relay_start(struct relay *r, relay_fn deliver);

/* HOT: any thread, after relay_start(). No lock, and a system call only if the thread may sleep. */
void relay_send(struct relay *r, struct relay_item *item);

/* HOT: waits for the relay's thread, 1 ms at most, while it is far behind: for threads whose work
 * becomes items, so that the memory of those stays small where a client is slow. On the relay's own
 * thread it does not wait. */
void relay_relieve(const struct relay *r);

/* Waits until what was sent before was delivered, `ns` at most. Not on the relay's own thread. */
void relay_settle(struct relay *r, uint64_t ns);

/* This thread is in `deliver` of the relay. */
bool relay_is_current(const struct relay *r);

#endif
