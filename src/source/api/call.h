/* SPDX-License-Identifier: MIT */
/* call.h - the frame around every wrapped API call of the program, HIP's and HSA's
 *
 * A wrapper calls api_enter(), the real function, and api_leave(); where api_enter() returns false,
 * api_pass() instead. Between the two the thread's `corr_current` is the call's correlation id,
 * which packets and copies take. A call within a call of the same domain is the library's own and
 * not recorded. An HSA call within a HIP call is recorded, with the HIP call as its parent.
 * Operations belong to the outermost call.
 *
 * A call that is left by longjmp() or an exception never reaches api_leave(). A later call
 * recognises it by the address of its stack frame: a call from that address or above it can't be
 * within it.
 *
 * api_enter(), api_leave(): any thread. api_switch(), api_want(): any thread; a call in progress
 * ends as it began.
 */
#ifndef RTL_SOURCE_API_CALL_H
#define RTL_SOURCE_API_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/thread.h"
#include "spool/format.h"

/* What a function is of a launch <<<...>>>, of which the compiler's code makes several calls:
 * nothing; a call that prepares it; the last one that does; the launch that follows. */
enum api_step { API_NO_STEP, API_PREPARES, API_PREPARES_LAST, API_LAUNCHES };

/* A function of a domain, constant. The signature is that of rec_op; NULL: calls are not recorded,
 * only subscribers see them. */
struct api_op {
	const char *name;
	const char *signature;
	uint8_t step; /* enum api_step */
};

struct api_call {
	struct thread *thread;
	uint64_t begin_ns, correlation, parent;
	uint16_t flags; /* REC_F_*; 0 at first */
};

/* Domains whose calls surround those of others, and are not the origin of operations: a bit for
 * each. */
#define API_AROUND (1u << API_RCCL | 1u << API_MPI)

/* The API that a call belongs to. Each domain numbers its operations. */
enum api_domain {
#define API_DOMAIN(name, text) API_##name = REC_API_##name,
	/* API_HIP: enum hip_op; API_HSA: enum hsa_op; API_RCCL: enum rccl_op; API_MPI: enum mpi_op
	 * of librtlmpi */
	REC_API_EACH_DOMAIN(API_DOMAIN)
#undef API_DOMAIN
	/* HIP's calls by its runtime's callbacks, with the numbers of the runtime's release:
	 * HIP_API_ID_... */
	API_HIP_CALLBACKS = REC_API_NR_DOMAINS,
	API_NR_DOMAINS
};
#define API_MAX_OPERATIONS 1024u

/* The mask of each operation: the recorder's bit, and two for each subscriber (live.h). The
 * recorder's is set for all of HIP at first; the first HIP call decides whether it stays. */
#define API_RECORDED 0x80u
/* Instead of the recorder's bit: the user leaves the call out (filter.h), and it is counted. */
#define API_LEFT_OUT 0x8000u
#define API_SUBSCRIBERS (0xffffu & ~(API_RECORDED | API_LEFT_OUT))
extern RTL_HIDDEN _Atomic uint16_t api_masks[API_NR_DOMAINS][API_MAX_OPERATIONS];

/* HOT */
static inline uint32_t api_wanted(enum api_domain domain, uint32_t operation)
{
	/* relaxed: a call that runs while the mask changes may be seen or not */
	return atomic_load_explicit(&api_masks[domain][operation], memory_order_relaxed);
}

/* Sets or clears `bits` of the operation's mask. Ignores numbers beyond API_MAX_OPERATIONS. */
void api_want(enum api_domain domain, uint32_t operation, uint16_t bits, bool on);

/* Whether arguments are recorded (RTL_ARGS). Set in api_init(), constant after. */
extern RTL_HIDDEN bool api_args;

/* Reads RTL_ARGS. After env_init(), before the first call is recorded. */
void api_init(void);

/* Names the functions of a domain, and decides which of them the user leaves out. `ops` has `nr`
 * entries and lives for ever, `named` has `nr` zeros. `entries`, which may be NULL, has the
 * functions to which the symbols jump: api_want() sets that of its operation to that of
 * `ordinary`. */
void api_define(enum api_domain domain, const struct api_op *ops, _Atomic uint8_t *named,
		_Atomic(void *) *entries, void *const *ordinary, uint32_t nr);

/* Starts or stops recording the calls of a domain. Any thread. */
void api_switch(enum api_domain domain, bool on);

/* Counts a call that the user leaves out, unless it is the library's own, within a call of its
 * domain. Operations that it submits are not missed. api_pass_at() follows. `frame`: as below. */
void api_leave_out(enum api_domain domain, uintptr_t frame);
/* Whether the user leaves out calls of the function. */
bool api_is_left_out(enum api_domain domain, uint32_t operation);
/* Whether calls of the function have records, unless the user leaves them out. After
 * api_define(). */
bool api_has_record(enum api_domain domain, uint32_t operation);

/* HOT: `frame`: the address of the wrapper's frame. */
bool api_enter_slow(enum api_domain domain, struct api_call *c, uintptr_t frame);

/* The same for a call that is not the origin of operations: those that it submits belong to the
 * calls of another domain that it makes. */
bool api_enter_around(enum api_domain domain, struct api_call *c, uintptr_t frame);

/* HOT: the real function has returned. `words`: its arguments in the order of the op's signature;
 * nr_words may be 0. Preserves errno. */
void api_leave(enum api_domain domain, uint32_t op, struct api_call *c, int32_t status,
	       const uint64_t *words, uint32_t nr_words);

/* The same, for a call that has ended before, at `end_ns`: what a wrapper finds out about it is not
 * part of its time. */
void api_leave_at(enum api_domain domain, uint32_t op, struct api_call *c, uint64_t end_ns,
		  int32_t status, const uint64_t *words, uint32_t nr_words);

/* HOT: false: the call is not recorded. Preserves errno. */
static RTL_INLINE bool api_enter(enum api_domain domain, uint32_t op, struct api_call *c)
{
	uint32_t wanted_by = api_wanted(domain, op);

	if (RTL_UNLIKELY(wanted_by & API_LEFT_OUT))
		api_leave_out(domain, RTL_FRAME());
	return RTL_UNLIKELY(wanted_by & API_RECORDED) && api_enter_slow(domain, c, RTL_FRAME());
}

/* HOT: a call that was not recorded has returned. If it was left out by a pause or a filter, later
 * operations of the thread no longer belong to it. `frame`: the address of the wrapper's frame. */
static inline void api_pass_at(uintptr_t frame)
{
	if (RTL_UNLIKELY(thread_self.call_left_out == frame))
		thread_leave_out(&thread_self, 0);
}

static RTL_INLINE void api_pass(void)
{
	api_pass_at(RTL_FRAME());
}

/* Whether the function's name has been recorded. */
bool api_is_named(enum api_domain domain, uint32_t op);

/* Whether this thread is inside of a recorded call of the domain. */
bool api_inside(enum api_domain domain);

#endif
