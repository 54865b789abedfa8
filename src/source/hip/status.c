/* SPDX-License-Identifier: MIT */
/* status.c - the status of the HIP call that has just returned
 *
 * Each call of HIP leaves its status in an integer of the thread's: hipPeekAtLastError() returns it
 * up to HIP 5, and from 6 on, where the last error is that of the last call that failed,
 * hipExtGetLastError(), which also resets it. Asking costs a HIP call, with callbacks of its own:
 * some 300 instructions, half of what a tool's pair of callbacks takes. So the integer is looked
 * for once, among the runtime's thread-local variables: the only one that has the status of each of
 * five calls. A thread at the end of a call that has succeeded does that while it has no last
 * error, and leaves both as they were. If there is not exactly one such integer, each status is
 * asked for.
 *
 * Owns:     where the integer is.
 * Threads:  any.
 * Hot path: status_before(), status_after().
 */
#define LOG_TOPIC "hip"
#include "source/hip/status.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/loaded.h"
#include "base/log.h"
#include "event/thread.h"
#include "source/hip/frame.h"

typedef int (*status_fn)(void);

/* The loader's, for a variable of a library: https://www.akkadia.org/drepper/tls.pdf, 3.4 */
struct tls_index {
	unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_index *index);

/* The thread-local variables of the library that has `code`. */
struct block {
	const void *code;
	size_t module, size;
	const int *at; /* this thread's; NULL: not found */
};

enum { UNKNOWN, SEARCHING, FOUND, ASKED_FOR };

/* set in status_find(), constant after */
static status_fn peek, reset;
static status_fn last; /* of the call before it, in HIP 6 and later */
static int (*get_device)(int *device);
static int (*set_device)(int device);
static _Atomic int state;
static struct tls_index where; /* of FOUND */

bool status_find(void)
{
	peek = (status_fn)hip_find("hipPeekAtLastError");
	last = (status_fn)hip_find("hipExtGetLastError");
	reset = (status_fn)hip_find("hipGetLastError");
	get_device = (int (*)(int *))hip_find("hipGetDevice");
	set_device = (int (*)(int))hip_find("hipSetDevice");
	if (!peek || !reset || !get_device || !set_device)
		atomic_store_explicit(&state, ASKED_FOR, memory_order_relaxed);
	return peek != NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct block *b = arg;

	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data))
		return 1;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_TLS)
			b->size = p->p_memsz;
	}
	if (!loaded_has(info, b->code))
		return 0;
	b->module = info->dlpi_tls_modid;
	b->at = info->dlpi_tls_data;
	return 1;
}

#define MAX_CANDIDATES 16u

/* Of `nr` candidates, those that have the value; *nr_left of them. */
static void keep(const int **candidates, uint32_t *nr, int value)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < *nr; i++)
		if (*(const volatile int *)candidates[i] == value)
			candidates[left++] = candidates[i];
	*nr = left;
}

/* Calls that fail, each with a status of its own, and others that succeed; then there is no last
 * error again. NULL: there is no such integer, or more than one. */
static RTL_COLD const int *search(const struct block *b)
{
	const int *candidates[MAX_CANDIDATES];
	int first = set_device(-1), second, device;
	uint32_t nr = 0;

	for (size_t i = 0; i < b->size / sizeof(int) && first; i++)
		if (((const volatile int *)b->at)[i] == first && nr < MAX_CANDIDATES)
			candidates[nr++] = &b->at[i];
	second = get_device(NULL);
	keep(candidates, &nr, second);
	/* the last error of HIP 6 and later stays */
	keep(candidates, &nr, get_device(&device));
	keep(candidates, &nr, set_device(-1));
	(void)reset();
	keep(candidates, &nr, get_device(&device));
	return nr == 1 && first != second ? candidates[0] : NULL;
}

/* After a call that has succeeded. The caller has marked the thread: its calls of HIP are
 * librtl's. */
static RTL_COLD void find_word(void)
{
	struct block b = { .code = (const void *)(uintptr_t)peek };
	const int *word;
	int unknown = UNKNOWN;

	/* relaxed: the thread that finds it publishes it below */
	if (peek() ||
	    !atomic_compare_exchange_strong_explicit(&state, &unknown, SEARCHING,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	dl_iterate_phdr(look_at, &b);
	word = b.at ? search(&b) : NULL;
	if (word) {
		where.module = b.module;
		where.offset = (unsigned long)((const char *)word - (const char *)b.at);
	}
	log_info("the status of calls is %s", word ? "read" : "asked for");
	/* release: pairs with the acquire in read_word() */
	atomic_store_explicit(&state, word ? FOUND : ASKED_FOR, memory_order_release);
}

/* Calls a function of HIP for librtl itself. */
static RTL_NOINLINE int ask(status_fn fn)
{
	struct thread *t = &thread_self;
	bool was_in_hook = t->in_hook;
	int saved = errno, status;

	t->in_hook = true;
	status = fn();
	if (!status && RTL_UNLIKELY(atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN))
		find_word();
	t->in_hook = was_in_hook;
	errno = saved;
	return status;
}

/* false: it was not found. */
static RTL_INLINE bool read_word(int32_t *status)
{
	/* acquire: pairs with find_word() */
	if (RTL_UNLIKELY(atomic_load_explicit(&state, memory_order_acquire) != FOUND))
		return false;
	*status = *(const volatile int *)__tls_get_addr(&where);
	return true;
}

int32_t status_before(bool is_last_call)
{
	int32_t status;

	return (is_last_call || !last) && read_word(&status) ? status : ask(peek);
}

int32_t status_after(void)
{
	int32_t status;

	/* from 6 on peek() may return an older error */
	return RTL_LIKELY(read_word(&status)) ? status : ask(last ? last : peek);
}
