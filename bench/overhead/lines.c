/* SPDX-License-Identifier: MIT */
/* lines.c - counts how often a cache line of librtl's passes from one thread to another
 *
 * A librtl that is compiled with -fsanitize=thread tells each access to memory that its own code
 * makes. This library stands in for the sanitizer's: it knows of each line which thread wrote
 * it last, and which have seen that. An access counts as a passage if, with a processor for each
 * thread, the line would have to come from another one: a read of what another thread has written
 * since, a write to what another thread has seen. Accesses of the C library for librtl (memcpy of
 * sizes that the compiler doesn't know), of the runtime and of the program are not seen.
 *
 * When the program ends, BENCH_LINES gets a line for each thread: passages, lines, name. One lock,
 * which slows the program: counts are meant, no times. Not part of the product.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define VISIBLE __attribute__((visibility("default")))

enum { LINE = 64, SLOTS = 1 << 20, THREADS = 64 };

struct line {
	uintptr_t number; /* address / LINE; 0: a free slot */
	uint64_t seen;	  /* bits of threads that have what was written last */
	uint64_t passed;  /* bits of threads for which a passage was counted */
	bool written;
};

static struct line lines[SLOTS];
static struct {
	uint64_t passages, lines;
	char name[16];
} threads[THREADS];
static int nr_threads;
static bool is_full;
static volatile char lock;
static __thread int me;	     /* 1: the first thread */
static __thread bool inside; /* a signal's handler must not wait for its thread */

static struct line *line_of(uintptr_t number)
{
	size_t at = number * 0x9e3779b97f4a7c15u >> 44;

	for (size_t i = 0; i < SLOTS; i++, at++) {
		struct line *l = &lines[at % SLOTS];

		if (l->number == number)
			return l;
		if (!l->number) {
			l->number = number;
			return l;
		}
	}
	is_full = true;
	return NULL;
}

static void touch_line(uintptr_t number, bool write)
{
	uint64_t bit = UINT64_C(1) << (me - 1);
	struct line *l = line_of(number);

	if (!l)
		return;
	if (write ? (l->seen & ~bit) != 0 : l->written && !(l->seen & bit)) {
		threads[me - 1].passages++;
		threads[me - 1].lines += !(l->passed & bit);
		l->passed |= bit;
		/* a thread gets its name after its first access */
		prctl(PR_GET_NAME, threads[me - 1].name);
	}
	l->seen = write ? bit : l->seen | bit;
	l->written |= write;
}

static void touch(const volatile void *at, size_t size, bool write)
{
	uintptr_t first = (uintptr_t)at / LINE, last = ((uintptr_t)at + size - 1) / LINE;

	if (inside || !size)
		return;
	inside = true;
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (!me)
		me = nr_threads < THREADS ? ++nr_threads : THREADS;
	for (; first <= last; first++)
		touch_line(first, write);
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	inside = false;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("BENCH_LINES");
	FILE *f = path && !is_full ? fopen(path, "w") : NULL;

	for (int i = 0; f && i < nr_threads; i++)
		if (threads[i].passages)
			fprintf(f, "%llu %llu %s\n", (unsigned long long)threads[i].passages,
				(unsigned long long)threads[i].lines, threads[i].name);
	if (f)
		fclose(f);
}

/* ---- what the compiler calls ---- */

VISIBLE void __tsan_init(void);
VISIBLE void __tsan_init(void)
{
}

VISIBLE void __tsan_func_entry(void *caller);
VISIBLE void __tsan_func_entry(void *caller)
{
	(void)caller;
}

VISIBLE void __tsan_func_exit(void);
VISIBLE void __tsan_func_exit(void)
{
}

#define PLAIN(name, size, write)                                                                   \
	VISIBLE void __tsan_##name(void *at);                                                      \
	VISIBLE void __tsan_##name(void *at)                                                       \
	{                                                                                          \
		touch(at, size, write);                                                            \
	}
#define PLAIN_OF(size)                                                                             \
	PLAIN(read##size, size, false)                                                             \
	PLAIN(write##size, size, true)                                                             \
	PLAIN(unaligned_read##size, size, false)                                                   \
	PLAIN(unaligned_write##size, size, true)
PLAIN_OF(1)
PLAIN_OF(2)
PLAIN_OF(4)
PLAIN_OF(8)
PLAIN_OF(16)

VISIBLE void __tsan_read_range(void *at, size_t size);
VISIBLE void __tsan_read_range(void *at, size_t size)
{
	touch(at, size, false);
}

VISIBLE void __tsan_write_range(void *at, size_t size);
VISIBLE void __tsan_write_range(void *at, size_t size)
{
	touch(at, size, true);
}

VISIBLE void __tsan_atomic_thread_fence(int order);
VISIBLE void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

VISIBLE void __tsan_atomic_signal_fence(int order);
VISIBLE void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* in the strictest order, whatever was asked for */
#define CHANGE(type, bits, name)                                                                   \
	VISIBLE type __tsan_atomic##bits##_##name(volatile type *at, type value, int order);       \
	VISIBLE type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)        \
	{                                                                                          \
		(void)order;                                                                       \
		touch(at, sizeof(type), true);                                                     \
		return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                               \
	}
#define EXCHANGE(type, bits, name)                                                                 \
	VISIBLE int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at,               \
								  type *expected, type value,      \
								  int order, int otherwise);       \
	VISIBLE int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at,               \
								  type *expected, type value,      \
								  int order, int otherwise)        \
	{                                                                                          \
		(void)order;                                                                       \
		(void)otherwise;                                                                   \
		touch(at, sizeof(type), true);                                                     \
		return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,   \
						   __ATOMIC_SEQ_CST);                              \
	}
#define ATOMIC(type, bits)                                                                         \
	VISIBLE type __tsan_atomic##bits##_load(const volatile type *at, int order);               \
	VISIBLE type __tsan_atomic##bits##_load(const volatile type *at, int order)                \
	{                                                                                          \
		(void)order;                                                                       \
		touch(at, sizeof(type), false);                                                    \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                      \
	}                                                                                          \
	VISIBLE void __tsan_atomic##bits##_store(volatile type *at, type value, int order);        \
	VISIBLE void __tsan_atomic##bits##_store(volatile type *at, type value, int order)         \
	{                                                                                          \
		(void)order;                                                                       \
		touch(at, sizeof(type), true);                                                     \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                     \
	}                                                                                          \
	VISIBLE type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order);     \
	VISIBLE type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)      \
	{                                                                                          \
		(void)order;                                                                       \
		touch(at, sizeof(type), true);                                                     \
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                           \
	}                                                                                          \
	CHANGE(type, bits, fetch_add)                                                              \
	CHANGE(type, bits, fetch_sub)                                                              \
	CHANGE(type, bits, fetch_and)                                                              \
	CHANGE(type, bits, fetch_or)                                                               \
	CHANGE(type, bits, fetch_xor)                                                              \
	EXCHANGE(type, bits, strong)                                                               \
	EXCHANGE(type, bits, weak)
ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)
