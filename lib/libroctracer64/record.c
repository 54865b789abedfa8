/* SPDX-License-Identifier: MIT */
/* record.c - records of calls and operations, into the client's pools
 *
 * Owns:     whether tracing is stopped; the process's number.
 * Threads:  any.
 * Hot path: record_write_call(): no lock but the pool's.
 */
#include "record.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../face/per_thread.h"
#include "roctracer/roctracer_hsa.h"

static uint32_t process_id;
_Atomic bool record_stopped;

static void set_process(void)
{
	process_id = (uint32_t)getpid();
}

void record_start(void)
{
	set_process();
	pthread_atfork(NULL, NULL, set_process);
}

static void fill_call(activity_record_t *r, uint32_t domain, uint32_t op,
		      const struct live_call *call)
{
	uint64_t begin_ns = call->begin_ns;

	/* loaded alone: a load together with its neighbour would wait for the store of a moment
	 * ago */
	RTL_AS_ONE(begin_ns);
	*r = (activity_record_t){ .domain = domain, .op = op };
	r->correlation_id = call->correlation;
	r->begin_ns = begin_ns;
	r->end_ns = call->end_ns;
	r->process_id = process_id;
	r->thread_id = call->tid;
}

/* Goes before the record of a call of a thread that has an external id. */
static void fill_external(activity_record_t *r, uint64_t correlation, uint64_t id)
{
	*r = (activity_record_t){ .domain = ACTIVITY_DOMAIN_EXT_API,
				  .op = ACTIVITY_EXT_OP_EXTERN_ID };
	r->correlation_id = correlation;
	r->external_id = id;
}

/* With the thread's external id, if it has one, or where the half is full. */
static RTL_NOINLINE void write_call(struct buffer *pool, uint32_t domain, uint32_t op,
				    const struct live_call *call)
{
	activity_record_t records[2];
	uint32_t nr = 0;
	int saved = errno;
	uint64_t id;

	if (per_thread_external(&id))
		fill_external(&records[nr++], call->correlation, id);
	fill_call(&records[nr++], domain, op, call);
	buffer_write(pool, records, nr, NULL, 0);
	errno = saved;
}

void record_write_call(struct buffer *pool, uint32_t domain, uint32_t op,
		       const struct live_call *call)
{
	struct buffer_space space;
	uint64_t id;

	if (RTL_UNLIKELY(per_thread_external(&id) || !buffer_reserve(pool, 1, 0, &space))) {
		write_call(pool, domain, op, call);
		return;
	}
	fill_call((activity_record_t *)(void *)space.entries, domain, op, call);
	/* hands over at the watermark, which this library's pools don't have: errno stays */
	buffer_commit(pool, &space);
}

void record_write_op(struct buffer *pool, const activity_record_t *r)
{
	bool has_name = r->op == HSA_OP_ID_DISPATCH && r->kernel_name;

	buffer_write(pool, r, 1, has_name ? r->kernel_name : NULL,
		     has_name ? strlen(r->kernel_name) + 1 : 0);
}
