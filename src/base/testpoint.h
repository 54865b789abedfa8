/* SPDX-License-Identifier: MIT */
/* testpoint.h - named points between two steps that other threads can observe
 *
 * RTL_TEST_STALL=name[:ms] in a debug build stalls every thread that reaches that point, for ms
 * (default 1000). RTL_TEST_SWALLOW=number,... makes one record of each of these types get lost, the
 * correlation id of one dispatch (31), or the id of each thread but the first (30). Without
 * RTL_DEBUG_CHECKS nothing is compiled in.
 */
#ifndef RTL_BASE_TESTPOINT_H
#define RTL_BASE_TESTPOINT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef RTL_DEBUG_CHECKS
#include <stdatomic.h>

extern _Atomic(const char *) testpoint_name; /* NULL: none */
void testpoint_hit(const char *name);
/* The default is RTL_TEST_STALL's; tests may set it. `name` must be static. */
void testpoint_set(const char *name, uint64_t ms);
/* The next thread that reaches the point calls `fn` there, once, and is not stalled: what else
 * happens between the two steps. Tests only. */
void testpoint_run(const char *name, void (*fn)(void));
void testpoint_init(void);

/* Numbers beyond those of records: a dispatch loses its correlation id; all threads have the id of
 * the first. */
#define TESTPOINT_CORRELATION 31u
#define TESTPOINT_THREADS 30u

/* Whether the step of that number is left out: once, if RTL_TEST_SWALLOW has the number. */
extern _Atomic uint32_t testpoint_swallowed; /* a bit for each number */
bool testpoint_swallows(uint32_t number);
/* The id that a thread has in the trace. */
uint32_t testpoint_tid(uint32_t tid);
#define RTL_TESTPOINT_TID(tid)                                                                     \
	do {                                                                                       \
		if (atomic_load_explicit(&testpoint_swallowed, memory_order_relaxed))              \
			*(tid) = testpoint_tid(*(tid));                                            \
	} while (0)
#define RTL_TESTPOINT_SWALLOWS(number)                                                             \
	(atomic_load_explicit(&testpoint_swallowed, memory_order_relaxed) &&                       \
	 testpoint_swallows(number))

#define RTL_TESTPOINT(name)                                                                        \
	do {                                                                                       \
		if (atomic_load_explicit(&testpoint_name, memory_order_relaxed))                   \
			testpoint_hit(name);                                                       \
	} while (0)
#else
#define RTL_TESTPOINT(name) ((void)0)
#define RTL_TESTPOINT_SWALLOWS(number) false
#define RTL_TESTPOINT_TID(tid) ((void)0)
static inline void testpoint_set(const char *name, uint64_t ms)
{
	(void)name;
	(void)ms;
}
static inline void testpoint_init(void)
{
}
#endif

#endif
