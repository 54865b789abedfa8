/* SPDX-License-Identifier: MIT */
/* queues.h - queues of the program, the callbacks of the client */
#ifndef RTL_LIB_LIBROCPROFILER64_QUEUES_H
#define RTL_LIB_LIBROCPROFILER64_QUEUES_H

#include "v1.h"

/* A queue that the program has made. */
struct seen_queue {
	struct seen_queue *next;
	const hsa_queue_t *_Atomic hsa; /* NULL: it was destroyed */
	uint32_t id;			/* in the order of their creation */
	bool has_times;			/* of rocprofiler_queue_create_profiled() */
};

struct client_callbacks {
	rocprofiler_queue_callbacks_t fn;
	void *data;
	bool is_on; /* dispatch callbacks */
};

void queues_install(const struct hsa_mirror_root *root);
void queues_forget(void);
/* Any thread; no lock. One that was made in another way gets its number now. NULL: no memory. */
struct seen_queue *queues_find(const hsa_queue_t *queue);
/* HOT: the callbacks as they are. False: dispatches are not to be shown. */
bool queues_callbacks(struct client_callbacks *c);
/* False: there are callbacks with other data, which stay. */
bool queues_set_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data);
void queues_remove_callbacks(void);
/* Whether dispatches are to be shown now. */
bool queues_switch_callbacks(bool on);

/* ---- dispatch.c ---- */
/* Once: queues are made from now on so that their kernels count. */
void dispatch_start(const struct rtl_core *core);
/* Before HSA's tables are taken: what the core does with them is wanted. */
void dispatch_on_runtime(void);
/* Dispatch callbacks are wanted, or no longer. */
void dispatch_switch(bool on);
/* Times of asynchronous copies are logged from now on. */
void dispatch_log_copies(void);
/* dispatch_handle() will be called for the context, or will not. */
void dispatch_expect(struct context *c, bool on);
/* One completion of the group, which was expected: context_done(). The handler may close the
 * context. */
void dispatch_handle(struct group *g);
/* What is in flight forgets the context; no other thread is in its handler any more. False: one is,
 * for a second already. */
bool dispatch_close(struct context *c);
/* This thread is in a dispatch callback. */
bool dispatch_is_in_callback(void);
/* Waits, for a second at most, until the handlers of dispatches that are over were called. */
void dispatch_settle(void);

#endif
