/* SPDX-License-Identifier: MIT */
/* ownsyscalls.cpp - the system calls that a launching thread makes, counted by the kernel
 *
 *	ownsyscalls launches=1000 idle_us=0
 *
 * Waits for the stream after each 100 launches; with idle_us= after each, and sleeps before it.
 * Only the launches are
 * counted: meanwhile the kernel raises SIGSYS before every system call of this thread
 * (prctl(PR_SET_SYSCALL_USER_DISPATCH), Linux 5.11), whose handler counts it and carries it out.
 * stdout: a line "LIBRARY NUMBER COUNT" for each library and number, where the library is the one
 * that called libc, and "counted" at the end; or "unavailable".
 */
#include "hip_common.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* 0: system calls pass; 1: each raises SIGSYS (SYSCALL_DISPATCH_FILTER_*) */
static volatile char selector;
static struct made {
	char library[64];
	long number, count;
} made[256];

__global__ void k(int *p)
{
	if (p)
		*p = 1;
}

/* System calls between own_begin and own_end pass: that of the handler, and its return. */
#ifndef __HIP_DEVICE_COMPILE__
__asm__(".text\n"
	"own_begin:\n"
	"own_call:\n" /* long own_call(const greg_t r[7]): number, six arguments */
	"	mov %rdi, %r11\n"
	"	mov 0(%r11), %rax\n"
	"	mov 8(%r11), %rdi\n"
	"	mov 16(%r11), %rsi\n"
	"	mov 24(%r11), %rdx\n"
	"	mov 32(%r11), %r10\n"
	"	mov 40(%r11), %r8\n"
	"	mov 48(%r11), %r9\n"
	"	syscall\n"
	"	ret\n"
	"own_return:\n"
	/* mov $15, %rax: rt_sigreturn, as unwinders know it */
	".byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0\n"
	"	syscall\n"
	"	ud2\n" /* the kernel compares the address behind the instruction */
	"own_end:\n");
#endif
extern "C" {
extern const char own_begin[], own_end[];
long own_call(const greg_t *number_and_arguments);
void own_return();
}

/* The library of the innermost frame that is not libc's, behind those of the handler and of the
 * signal. */
static const char *find_library()
{
	void *frames[32];
	int nr = backtrace(frames, 32), i = 0;
	Dl_info info;

	while (i < nr && frames[i] != (void *)own_return)
		i++;
	for (i++; i < nr; i++) {
		const char *name = dladdr(frames[i], &info) && info.dli_fname ? info.dli_fname :
										"?";
		const char *slash = strrchr(name, '/');

		name = slash ? slash + 1 : name;
		if (strncmp(name, "libc.so", 7) && strncmp(name, "ld-linux", 8))
			return name;
	}
	return "?";
}

static void count(long number)
{
	const char *library = find_library();

	for (struct made &m : made) {
		if (!m.count)
			snprintf(m.library, sizeof(m.library), "%s", library);
		if (m.count && (m.number != number || strcmp(m.library, library) != 0))
			continue;
		m.number = number;
		m.count++;
		return;
	}
}

static void on_syscall(int, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const greg_t call[] = { info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX],
				r[REG_R10],	  r[REG_R8],  r[REG_R9] };

	count(info->si_syscall);
	r[REG_RAX] = own_call(call);
}

/* The kernel's form of struct sigaction, since glibc's has a restorer of its own. */
static bool handle_sigsys()
{
	const struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)();
		unsigned long mask;
	} action = { on_syscall, SA_SIGINFO | SA_NODEFER | 0x04000000 /* SA_RESTORER */, own_return,
		     0 };

	return syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, 8) == 0;
}

/* In a function of its own: the compiler must not move launches across it. */
static __attribute__((noinline)) void watch(bool on)
{
	selector = on;
}

int main(int argc, char **argv)
{
	long launches = arg_num(argc, argv, "launches", 1000);
	long idle_us = arg_num(argc, argv, "idle_us", 0);
	hipStream_t stream;

	HIP(hipStreamCreate(&stream));
	/* as many in flight as later, so that what grows has grown */
	for (int i = 0; i < 2000; i++)
		k<<<1, 64, 0, stream>>>(nullptr);
	HIP(hipStreamSynchronize(stream));
	find_library(); /* its first call loads the unwinder */
	if (!handle_sigsys() || prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, own_begin,
				      own_end - own_begin, &selector) != 0) {
		printf("unavailable\n");
		return 0;
	}
	for (long i = 0; i < launches; i++) {
		if (idle_us) {
			watch(false);
			usleep(idle_us);
		}
		watch(true);
		k<<<1, 64, 0, stream>>>(nullptr);
		if (i % 100 == 99 || idle_us) {
			watch(false);
			HIP(hipStreamSynchronize(stream));
		}
	}
	watch(false);
	HIP(hipStreamSynchronize(stream));
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
	for (const struct made &m : made)
		if (m.count)
			printf("%s %ld %ld\n", m.library, m.number, m.count);
	printf("counted\n");
	return 0;
}
