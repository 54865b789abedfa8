/* SPDX-License-Identifier: MIT */
/* quick.h - the frame around an API call in the usual case, inline in the wrapper
 *
 * Most of what recording a launch costs are the two calls of call.h, the registers that they save,
 * and sizes that are constants in the wrapper alone. The wrappers of functions that are called as
 * often (`quick` in codegen/models/hip_roles.json) are therefore made of three functions:
 *
 *	static int quick_hipFoo(int a)
 *	{
 *		int (*real)(int) = hip_known(HIP_OP_hipFoo);
 *		struct api_quick call;
 *		uint64_t *word;
 *		int ret;
 *
 *		if (!api_quick_enter(API_HIP, SPECIAL_FOR_HIP, &call))
 *			return any_hipFoo(a);
 *		ret = real(a);
 *		word = api_quick_leave(API_HIP, HIP_OP_hipFoo, &call, false, ret, 1);
 *		if (!word)
 *			return late_hipFoo(call.begin, call.correlation, ret, a);
 *		if (!api_args) {
 *			api_quick_bare(call.lane, word);
 *			return ret;
 *		}
 *		word[0] = a;
 *		api_quick_done(&call, word, 1);
 *		return ret;
 *	}
 *
 * any_hipFoo() is the wrapper that other functions have. It is called while a special bit is
 * set. The function's symbol leads to it (hip_entries[], source/hip/frame.h) while a
 * subscriber wants the call, and until the first call has been recorded. late_hipFoo() emits an
 * event where the lane is full.
 */
#ifndef RTL_SOURCE_API_QUICK_H
#define RTL_SOURCE_API_QUICK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "event/lane.h"
#include "event/special.h"
#include "event/thread.h"
#include "source/api/call.h"
#include "spool/format.h"

/* On the wrapper's stack; nothing takes its address, so that it can stay in registers. */
struct api_quick {
	uint64_t begin; /* RTL_TICKS() */
	uint64_t correlation;
	struct lane *lane;
};

/* HOT: the head of a call's record: what is before the id by one store. */
static RTL_INLINE void api_quick_head(struct rec_head *h, uint32_t size, uint32_t flags,
				      uint32_t tid)
{
	uint32_t first = REC_API | size / 8 << 8 | flags << 16;

	_Static_assert(offsetof(struct rec_head, size8) == 1 &&
			       offsetof(struct rec_head, flags) == 2 &&
			       offsetof(struct rec_head, id) == sizeof(first) &&
			       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		       "as in format.h");
	memcpy(h, &first, sizeof(first));
	/* gcc would put the two numbers together in a vector register, which takes longer */
	atomic_signal_fence(memory_order_seq_cst);
	h->id = tid;
}

/* HOT: false: the call needs any_NAME(), and nothing was changed. Otherwise api_quick_leave()
 * follows. `bits`: the special bits of the domain. */
static RTL_INLINE bool api_quick_enter(enum api_domain domain, enum special bits,
				       struct api_quick *c)
{
	struct thread *t = &thread_self;
	uint64_t id = t->corr_next;

	if (RTL_UNLIKELY(special_any(bits) || t->kept_out_or_inside || id >= t->corr_end ||
			 (t->call_left_out | t->corr_current)))
		return false;
	t->corr_next = id + 1;
	t->api_inside = 1u << domain;
	t->api_frame[domain] = RTL_FRAME();
	c->correlation = t->corr_current = id;
	c->begin = RTL_TICKS();
	return true;
}

/* HOT: the real function has returned. `is_launch`: the record takes the thread's flag of launches.
 * Returns where its `nr_words` words are to be written; api_quick_done() follows. NULL: the lane is
 * full, and api_quick_late() records the call; the flag is still there. */
static RTL_INLINE uint64_t *api_quick_leave(enum api_domain domain, uint32_t op,
					    struct api_quick *c, bool is_launch, int32_t status,
					    uint32_t nr_words)
{
	uint32_t size = (uint32_t)sizeof(struct rec_api) + nr_words * 8u;
	struct thread *t = &thread_self;
	/* first, because it may call a function: later values then need no saved registers */
	struct clock_span span = clock_span_inline_ns(c->begin, RTL_TICKS());
	struct rec_api *r;

	t->api_inside = 0;
	t->corr_current = 0;
	c->lane = t->lane;
	if (RTL_UNLIKELY(!lane_begin(c->lane, size)))
		return NULL;
	r = (struct rec_api *)(void *)c->lane->pos;
	api_quick_head(&r->h, size, is_launch ? thread_take_configured() : 0, t->tid);
	r->begin_ns = span.begin_ns;
	r->end_ns = span.end_ns;
	r->correlation = c->correlation;
	r->parent = 0;
	r->op = (uint16_t)op;
	r->domain = (uint8_t)domain;
	r->nr_words = (uint8_t)nr_words;
	r->status = status;
	return r->words;
}

/* HOT: the words have been written, from `word` on. */
static RTL_INLINE void api_quick_done(const struct api_quick *c, uint64_t *word, uint32_t nr_words)
{
	lane_end(c->lane, (uint8_t *)(word + nr_words));
}

/* HOT: the same without words: RTL_ARGS=0. */
void api_quick_bare(struct lane *l, uint64_t *word);

/* After api_quick_leave() returned NULL; the arguments are those of api_leave(). Preserves
 * errno. */
void api_quick_late(enum api_domain domain, uint32_t op, uint64_t begin, uint64_t correlation,
		    uint16_t flags, int32_t status, const uint64_t *words, uint32_t nr_words);

#endif
