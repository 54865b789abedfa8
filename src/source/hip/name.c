/* SPDX-License-Identifier: MIT */
/* name.c - texts and kernel names as string ids
 *
 * Owns:     the table of functions with known names.
 * Threads:  any.
 * Hot path: a function that is in the table - no lock, no call.
 * Fails:    a text that can't be read and a name that is not known are 0.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "event/bus.h"
#include "source/hip/frame.h"

#define TABLE_SIZE 4096u /* a power of two */
#define MAX_PROBES 8u
#define KEY_BUSY UINT64_C(1) /* no function has this address */
#define PAGE 4096u

struct entry {
	_Atomic uint64_t key;	/* address or handle, 0: empty */
	_Atomic uint64_t value; /* generation << 32 | string id */
};

static struct entry table[TABLE_SIZE];
_Atomic uint32_t hip_names_generation;

static uint32_t hash_of(uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

/* HOT: true: found; *id may be 0. */
static bool look_up(uint64_t key, uint32_t now, uint32_t *id)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		struct entry *e = &table[(hash_of(key) + i) % TABLE_SIZE];
		/* acquire: pairs with the release in remember(): the value is this key's, ... */
		uint64_t its = atomic_load_explicit(&e->key, memory_order_acquire);
		uint64_t value;

		if (!its)
			return false;
		if (its != key)
			continue;
		value = atomic_load_explicit(&e->value, memory_order_acquire);
		/* ... or the key has changed, if the slot was given to another in the meantime */
		if (atomic_load_explicit(&e->key, memory_order_relaxed) != key ||
		    value >> 32 != now)
			return false;
		*id = (uint32_t)value;
		return true;
	}
	return false;
}

/* Takes an empty slot, the one that the key has already, or the last one that may hold it. */
static void remember(uint64_t key, uint32_t now, uint32_t id)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		struct entry *e = &table[(hash_of(key) + i) % TABLE_SIZE];
		uint64_t its = atomic_load_explicit(&e->key, memory_order_relaxed);

		if (its && its != key && i < MAX_PROBES - 1)
			continue;
		/* acquire: a reader that sees the value sees that the key was not the old one */
		if (its == KEY_BUSY ||
		    !atomic_compare_exchange_strong_explicit(&e->key, &its, KEY_BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			/* another thread writes this slot; the name is looked up again next time */
			return;
		/* release: pairs with look_up() */
		atomic_store_explicit(&e->value, (uint64_t)now << 32 | id, memory_order_release);
		atomic_store_explicit(&e->key, key, memory_order_release);
		return;
	}
}

void hip_forget_names(void)
{
	/* relaxed: the program itself orders its unloading and its launches */
	atomic_fetch_add_explicit(&hip_names_generation, 1, memory_order_relaxed);
}

/* Copies as much of the text as can be read, without a fault. -1: the system call is not
 * permitted. */
static ssize_t read_text(const char *text, char *to)
{
	size_t first = PAGE - (size_t)(uintptr_t)text % PAGE;
	struct iovec local = { to, HIP_TEXT_MAX };
	struct iovec remote[2] = { { (void *)(uintptr_t)text, first },
				   { (void *)((uintptr_t)text + first), HIP_TEXT_MAX - first } };
	ssize_t n = process_vm_readv(getpid(), &local, 1, remote, first < HIP_TEXT_MAX ? 2 : 1, 0);

	if (n < 0 && errno == EFAULT)
		n = 0;
	return n;
}

static RTL_COLD uint64_t intern(const char *text, size_t size)
{
	struct thread *t = thread_get();
	uint64_t id;

	/* a signal handler of the program that interrupts us must not take the bus's lock */
	t->in_hook = true;
	id = bus_string(text, size);
	t->in_hook = false;
	return id;
}

uint64_t hip_word_text(const char *text)
{
	char copy[HIP_TEXT_MAX];
	int saved = errno;
	uint64_t id = 0;
	ssize_t n;

	if (!text)
		return 0;
	/* the call may have failed because of the pointer */
	n = read_text(text, copy);
	if (n > 0)
		id = intern(copy, strnlen(copy, (size_t)n));
	else if (n < 0)
		id = intern(text, strnlen(text, HIP_TEXT_MAX));
	errno = saved;
	return id;
}

typedef const char *(*by_function_fn)(const void *handle);
typedef const char *(*by_address_fn)(const void *function, void *stream);

static RTL_COLD const char *ask(const void *function, bool is_handle)
{
	/* relaxed: all threads find the same value */
	static _Atomic(void *) fns[2];
	static const char *const names[2] = { "hipKernelNameRefByPtr", "hipKernelNameRef" };
	void *fn = atomic_load_explicit(&fns[is_handle], memory_order_relaxed);
	struct thread *t = thread_get();
	bool was_in_hook = t->in_hook;
	const char *text;

	if (!fn) {
		fn = hip_find(names[is_handle]);
		if (!fn)
			return NULL;
		atomic_store_explicit(&fns[is_handle], fn, memory_order_relaxed);
	}
	/* the runtime calls exported functions of its own: not calls of the program's */
	t->in_hook = true;
	text = is_handle ? ((by_function_fn)fn)(function) : ((by_address_fn)fn)(function, NULL);
	t->in_hook = was_in_hook;
	return text;
}

enum { ASK_GET_NAME, ASK_PEEK, ASK_TAKE, ASK_NR };

/* From HIP 7.2 on a kernel of a library may be passed instead of a host function. false: the
 * runtime can't be asked now, because a failure would replace the error that the program may still
 * read. */
static RTL_COLD bool ask_library(const void *kernel, const char **text)
{
	/* relaxed: all threads find the same value */
	static _Atomic(void *) fns[ASK_NR];
	static const char *const names[ASK_NR] = { "hipKernelGetName", "hipPeekAtLastError",
						   "hipGetLastError" };
	struct thread *t = thread_get();
	void *fn[ASK_NR];
	bool can;

	for (int i = 0; i < ASK_NR; i++) {
		fn[i] = atomic_load_explicit(&fns[i], memory_order_relaxed);
		if (!fn[i])
			fn[i] = hip_find(names[i]);
		if (!fn[i])
			return true;
		atomic_store_explicit(&fns[i], fn[i], memory_order_relaxed);
	}
	/* not a call of the program's */
	t->in_hook = true;
	can = ((int (*)(void))fn[ASK_PEEK])() == 0;
	if (can && ((int (*)(const char **, const void *))fn[ASK_GET_NAME])(text, kernel) != 0) {
		*text = NULL;
		((int (*)(void))fn[ASK_TAKE])();
	}
	t->in_hook = false;
	return can;
}

static uint64_t name_of(const void *function, bool is_handle, bool ok)
{
	uint64_t key = (uint64_t)(uintptr_t)function;
	uint32_t now, id = 0;
	const char *text;
	bool known = true;
	int saved;

	if (key <= KEY_BUSY)
		return 0;
	now = atomic_load_explicit(&hip_names_generation, memory_order_relaxed);
	if (RTL_LIKELY(look_up(key, now, &id)) || !ok)
		return id;
	saved = errno;
	text = ask(function, is_handle);
	if (!text && !is_handle)
		known = ask_library(function, &text);
	if (text)
		id = (uint32_t)intern(text, strnlen(text, HIP_TEXT_MAX));
	if (known)
		remember(key, now, id);
	errno = saved;
	return id;
}

void hip_find_name_slow(const void *function, bool ok)
{
	uint32_t now = atomic_load_explicit(&hip_names_generation, memory_order_relaxed);
	uint64_t id = name_of(function, false, ok);
	struct thread *t = &thread_self;

	t->name_id = (uint32_t)id;
	/* a function without a name is looked up again */
	t->name_key = id ? function : NULL;
	t->name_generation = now;
}

uint64_t hip_word_function(const void *handle, bool ok)
{
	return name_of(handle, true, ok);
}
