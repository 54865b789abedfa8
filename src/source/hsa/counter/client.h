/* SPDX-License-Identifier: MIT */
/* client.h - who wants dispatches counted: the faces, and the user (RTL_PMC)
 *
 * A client is asked for each dispatch of a GPU on which it is active, once, before the dispatch is
 * submitted, and in the order of the queue. It answers with a profile, or NULL. When the dispatch
 * was recorded and the counters were read it gets the values; it gets a reason instead where the
 * dispatch could not be counted. So each answer with a profile has its result, exactly one.
 *
 * WHERE: `ask` runs on a thread that rings a doorbell of the queue, with the queue's turn: the
 * program's own thread, within its call. That is where AMD's tools expect it, and the harvester,
 * which serves all queues, does not wait for a tool. Two rare cases differ: a thread that rings
 * while another one submits leaves its packets to that one; packets that became valid without a
 * doorbell are the harvester's. So the thread that made the dispatch is d->tid, not necessarily the
 * current one. `done` runs on any thread: one that rings a doorbell or waits for a signal, the
 * harvester, one that destroys the queue or ends the runtime. librtl holds no lock then, but the
 * program or the tool may: so `done` takes no lock under which either calls HSA, and passes results
 * on to a thread of its own.
 *
 * WHAT IT MAY DO: `ask` may make profiles, allocate, use HSA's memory and signals, take locks that
 * are not held while a doorbell is rung. It must not wait for a dispatch or for another thread that
 * rings doorbells, nor destroy the queue. A dispatch that it makes itself is not recorded. `done`
 * must not wait for a dispatch either.
 *
 * Clients that want the same dispatch: it is counted for all of them if the events fit in one pass;
 * else for one of them, each in its turn, and the others get the reason.
 *
 *   operation           | client_ask | client_copy, _consume, _fail | client_switch
 *   --------------------+------------+------------------------------+--------------
 *   client_ask          | the turn   | the turn                     | any: what was asked for
 *                                                                   before is counted all the same
 *   client_copy, ...    |            | the turn                     | any
 */
#ifndef RTL_SOURCE_HSA_CLIENT_H
#define RTL_SOURCE_HSA_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/bus.h"
#include "source/hsa/agent.h"
#include "source/hsa/counter/profile.h"
#include "source/hsa/queue/queue.h"

struct thread;

#define CLIENT_MAX 4u	       /* of faces */
#define CLIENT_USER CLIENT_MAX /* RTL_PMC: beside them */

struct client_dispatch {
	/* As its EVENT_DISPATCH will be, but without times, and possibly with correlation id 0 if
	 * one of HIP's own threads has written it, or nothing is known of its thread. */
	const struct event_dispatch *d;
	uint32_t agent; /* number of the GPU */
	hsa_agent_t agent_handle;
	const hsa_queue_t *hsa;
	const hsa_kernel_dispatch_packet_t *packet; /* a copy */
};

struct client_result {
	uint32_t queue, agent;
	uint64_t packet;
	uint64_t user;	 /* of the answer */
	const char *why; /* NULL: it was counted */
	/* Counted: those of the client's profile, as profile_read() stores them. */
	const uint64_t *values;
	uint32_t nr_values;
	uint64_t begin_ns, end_ns; /* 0: not known; also of one that was not counted */
};

struct counter_client {
	struct profile *(*ask)(const struct client_dispatch *d, uint64_t *user);
	void (*done)(const struct client_result *r);
};

/* Queues that are made from now on can be counted. Returns the client's number; -ENOSPC. It is not
 * active yet. `client` stays. */
int client_register(const struct counter_client *client);

/* The client is asked for dispatches of a GPU, AGENT_NONE: of all, from now on, or no longer. For
 * each GPU and client it is on or off. Any thread. */
void client_switch(int client, uint32_t agent, bool on);

/* ---- for counter.c and interpose.c ----------------------------------------------------------- */

struct client_want {
	struct profile *profile; /* the answer has one user of it */
	uint64_t user;
	uint32_t client;
};

/* What clients answered for a dispatch. */
struct client_answers {
	uint64_t number; /* 1 + index of the packet; 0: none */
	uint32_t queue_index;
	hsa_kernel_dispatch_packet_t packet;
	hsa_queue_type32_t queue_type;
	uint32_t nr;
	struct client_want wants[CLIENT_MAX + 1]; /* profile NULL: CLIENT_USER */
};

/* Clients that are active: bits by number, for each GPU. CLIENT_HOLD: a dispatch is being counted:
 * the others wait. */
#define CLIENT_HOLD (UINT32_C(1) << 31)
extern _Atomic uint32_t client_bits[AGENT_MAX];

/* HOT: whether dispatches of this GPU are asked for. */
static inline bool client_is_any(uint32_t agent)
{
	/* relaxed: a dispatch that is submitted meanwhile is counted or not */
	return agent < AGENT_MAX &&
	       atomic_load_explicit(&client_bits[agent], memory_order_relaxed) != 0;
}

/* How often dispatches of the GPU that waited were submitted together: beside the one that is being
 * counted. */
extern _Atomic uint32_t client_releases[AGENT_MAX];
/* Before they are submitted, packets [from, asked) of its queue. */
static inline void client_release(uint32_t agent, uint64_t from, uint64_t asked)
{
	/* release: pairs with counter.c, which looks when the counters were read */
	if (from < asked && agent < AGENT_MAX)
		atomic_fetch_add_explicit(&client_releases[agent], 1, memory_order_release);
}

/* A dispatch of the GPU is being counted. */
void client_hold(uint32_t agent, bool on);

/* Whether any client is registered. */
bool client_is_registered(void);

/* Space for the answers of a queue of `size` packets. False: no memory. */
bool client_prepare(struct queue *q, uint32_t size);
/* Clients are not asked for dispatches of the queue. */
void client_unprepare(struct queue *q);

/* Asks for the valid packets [from, end) that clients were not asked for. `t`: this thread, within
 * a hook; NULL: not in a hook yet. If the queue can't be counted (granted is UINT64_MAX) clients
 * get that as the result at once. Returns the end of the packets that may be
 * submitted: `end`; on a thread that must not ask clients (counter_help()) the end of those for
 * which they were asked before. Turn. */
uint64_t client_ask(struct queue *q, struct thread *t, uint64_t from, uint64_t end);
/* Whether packet `index` is a dispatch that clients were asked for, and waits for
 * counted_grant(). Turn. */
bool client_is_waiting(const struct queue *q, uint64_t index);
/* The packet is next: asks if necessary; whether it has to wait: a client wants it, or a dispatch
 * is being counted, or the packets before it may wait for another queue: if it began while one is
 * counted, that one's counts would have no value. Turn. */
bool client_holds(struct queue *q, struct thread *t, uint64_t index, uint64_t end);
/* Copies the answers for the packet; each profile has one more user. Turn. */
void client_copy(const struct queue *q, uint64_t index, struct client_answers *to);
/* The copy's users end. */
void client_drop(struct client_answers *a);
/* The dispatch is submitted: its results are the caller's to give. Turn. */
void client_consume(struct queue *q, uint64_t index);
/* The dispatches [from, to) are submitted without being counted. Turn. */
void client_fail(struct queue *q, uint64_t from, uint64_t to, const char *why);
/* Gives a result. CLIENT_USER has no function: it is counter.c's. */
void client_give(uint32_t client, const struct client_result *r);
/* Answers that wait, in all queues. */
uint32_t client_nr_waiting(void);

#endif
