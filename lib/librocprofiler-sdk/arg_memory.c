/* SPDX-License-Identifier: MIT */
/* arg_memory.c - librocprofiler-sdk: reads what arguments point to, which may be anything
 *
 * Most pointers lead to the stack of the thread that makes the call, or to constants of the
 * program: both are there as long as the thread is, and are read at once. The kernel reads all
 * else: an address without memory is an error, not a signal.
 *
 * Owns:     what is known of each thread's stack and of the program's constants.
 * Threads:  any.
 * Fails:    what is not known to be there is read by the kernel.
 */
#include "arg_memory.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"

#define PAGE 4096u
#define NR_CONSTANTS 4u

struct range {
	uintptr_t begin, end;
};

static _Thread_local struct range stack;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* set under `once` */
static struct range constants[NR_CONSTANTS];
static _Atomic pid_t *own_pid; /* 0 in the child of a fork; NULL: not known */

static int find_constants(struct dl_phdr_info *info, size_t size, void *unneeded)
{
	uint32_t nr = 0;

	(void)size;
	(void)unneeded;
	for (uint32_t i = 0; i < info->dlpi_phnum && nr < NR_CONSTANTS; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		/* of the file: what is behind its end need not be there */
		if (p->p_type == PT_LOAD && (p->p_flags & (PF_R | PF_W)) == PF_R)
			constants[nr++] = (struct range){ begin, begin + p->p_filesz };
	}
	/* the first one is the program, which stays */
	return 1;
}

static void start(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	dl_iterate_phdr(find_constants, NULL);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, PAGE, MADV_WIPEONFORK) == 0)
		own_pid = page;
	else
		munmap(page, PAGE);
}

static pid_t get_pid(void)
{
	/* relaxed: each thread that stores it stores the same */
	pid_t pid = own_pid ? atomic_load_explicit(own_pid, memory_order_relaxed) : 0;

	if (pid)
		return pid;
	pid = getpid();
	if (own_pid)
		atomic_store_explicit(own_pid, pid, memory_order_relaxed);
	return pid;
}

static void find_stack(void)
{
	pthread_attr_t attr;
	void *begin;
	size_t size;

	/* not again if it fails */
	stack.begin = stack.end = 1;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &begin, &size) == 0)
		stack = (struct range){ (uintptr_t)begin, (uintptr_t)begin + size };
	pthread_attr_destroy(&attr);
}

static bool has(const struct range *r, uintptr_t at, size_t size)
{
	return at >= r->begin && at < r->end && size <= r->end - at;
}

/* The range in which this address is for certain, and may be read to the end; NULL: it is not
 * known. */
static const struct range *known_at(uintptr_t at)
{
	uintptr_t frame = RTL_FRAME();

	if (RTL_UNLIKELY(!stack.end))
		find_stack();
	/* a coroutine has a stack of its own */
	if (at >= frame && has(&stack, frame, 1) && has(&stack, at, 1))
		return &stack;
	for (uint32_t i = 0; i < NR_CONSTANTS; i++)
		if (has(&constants[i], at, 1))
			return &constants[i];
	return NULL;
}

/* The program may write there meanwhile, and what follows a text in the stack is not the program's
 * to read. */
RTL_FOREIGN_STACK RTL_NO_TSAN static size_t copy_text(char *to, const volatile char *from,
						      size_t size)
{
	size_t n = 0;

	while (n < size && (to[n] = from[n]) != '\0')
		n++;
	return n;
}

RTL_FOREIGN_STACK RTL_NO_TSAN static void copy(char *to, const volatile char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

static size_t read_by_kernel(void *to, const void *from, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)from, size };
	ssize_t n = process_vm_readv(get_pid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

size_t arg_memory_read(void *to, const void *from, size_t size)
{
	const struct range *r;

	pthread_once(&once, start);
	r = known_at((uintptr_t)from);
	if (!r || !has(r, (uintptr_t)from, size))
		return read_by_kernel(to, from, size);
	copy(to, from, size);
	return size;
}

/* To the end of the page first: the next one need not be there. */
static size_t read_text_by_kernel(char *to, const char *from, size_t size)
{
	size_t to_page = PAGE - ((uintptr_t)from & (PAGE - 1)),
	       first = size < to_page ? size : to_page;
	size_t n = read_by_kernel(to, from, first);

	if (n == first && n < size && !memchr(to, 0, n))
		n += read_by_kernel(to + n, from + n, size - n);
	return n;
}

size_t arg_memory_read_text(char *to, const char *from, size_t size, bool *is_readable)
{
	const struct range *r;
	size_t n;

	pthread_once(&once, start);
	r = known_at((uintptr_t)from);
	*is_readable = true;
	if (r) {
		size_t there = r->end - (uintptr_t)from;

		return copy_text(to, from, there < size ? there : size);
	}
	n = read_text_by_kernel(to, from, size);
	*is_readable = n != 0;
	return strnlen(to, n);
}
