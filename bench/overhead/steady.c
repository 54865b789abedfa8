/* SPDX-License-Identifier: MIT */
/* steady.c - counts system calls, allocations and locks of a dispatching thread, once everything is
 * warm
 *
 *	steady [kind=plain|signal] [blocks=200] [block=256] [size=1024]
 *
 * System calls are caught by the kernel's syscall user dispatch, the heap and mutexes by functions
 * of the same name in this program, which come first in the order of lookup. Only this thread is
 * counted, and only while it submits. Exit status 77: this kernel has no syscall user dispatch.
 */
#include "bench_queue.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define DISPATCH_ON 1
#define ALLOW 0
#define BLOCK 1
#define VISIBLE __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);

static _Thread_local volatile int counting;
static volatile unsigned char selector = ALLOW;
static volatile uint64_t nr_calls;
static _Thread_local uint64_t nr_allocations, nr_locks;
static volatile long first_call = -1;
static int (*real_lock)(pthread_mutex_t *m);

VISIBLE void *malloc(size_t size)
{
	nr_allocations += counting != 0;
	return __libc_malloc(size);
}

VISIBLE void *calloc(size_t nr, size_t size)
{
	nr_allocations += counting != 0;
	return __libc_calloc(nr, size);
}

VISIBLE void *realloc(void *p, size_t size)
{
	nr_allocations += counting != 0;
	return __libc_realloc(p, size);
}

VISIBLE int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (!real_lock)
		real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	nr_locks += counting != 0;
	return real_lock(m);
}

/* Makes the system call for the program, and lets calls through from then on until the
 * next block. */
static void on_call(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	long result;

	(void)sig;
	(void)info;
	selector = ALLOW;
	if (first_call < 0)
		first_call = (long)regs[REG_RAX];
	nr_calls++;
	result = syscall((long)regs[REG_RAX], regs[REG_RDI], regs[REG_RSI], regs[REG_RDX],
			 regs[REG_R10], regs[REG_R8], regs[REG_R9]);
	regs[REG_RAX] = result < 0 ? -errno : result;
}

static void counted_block(void)
{
	counting = 1;
	selector = BLOCK;
	timed_block(block);
	selector = ALLOW;
	counting = 0;
}

int main(int argc, char **argv)
{
	uint64_t blocks = bench_num(argc, argv, "blocks", 200);
	uint64_t size = bench_num(argc, argv, "size", 1024);
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	block = bench_num(argc, argv, "block", 256);
	with_signals = !strcmp(bench_text(argc, argv, "kind", "plain"), "signal");
	if (!block || block > MAX_BLOCK || block > size / 4)
		die("a block is at most a quarter of the ring");
	HSA(hsa_init());
	set_up((uint32_t)size);
	/* warm: every slot of every ring was used, and the harvester has made enough signals */
	for (uint64_t i = 0; i < 64; i++) {
		timed_block(block);
		synchronise();
	}
	action.sa_sigaction = on_call;
	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, 0L, 0L, &selector)) {
		printf("no syscall user dispatch in this kernel: %s\n", strerror(errno));
		return 77;
	}
	for (uint64_t i = 0; i < blocks; i++) {
		struct timespec pause = { 0, 2000000 };

		counted_block();
		synchronise();
		/* lets the harvester run, also on a busy machine */
		nanosleep(&pause, NULL);
	}
	printf("{\"dispatches\": %llu, \"syscalls\": %llu, \"first_syscall\": %ld, "
	       "\"allocations\": %llu, \"locks\": %llu}\n",
	       (unsigned long long)(blocks * block), (unsigned long long)nr_calls, first_call,
	       (unsigned long long)nr_allocations, (unsigned long long)nr_locks);
	tear_down();
	fflush(stdout);
	HSA(hsa_shut_down());
	return 0;
}
