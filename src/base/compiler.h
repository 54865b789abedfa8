/* SPDX-License-Identifier: MIT */
/* compiler.h - the compiler's extensions that the product uses, each under a name of ours */
#ifndef RTL_BASE_COMPILER_H
#define RTL_BASE_COMPILER_H

#include <stdint.h>

#define RTL_LIKELY(x) __builtin_expect(!!(x), 1)
#define RTL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RTL_NOINLINE __attribute__((noinline))
#define RTL_INLINE inline __attribute__((always_inline))
#define RTL_COLD __attribute__((cold, noinline))
#define RTL_UNUSED __attribute__((unused))
/* For what runs on a stack that the address sanitizer does not know of. */
#define RTL_FOREIGN_STACK __attribute__((no_sanitize_address))
#define RTL_EXPORT __attribute__((visibility("default")))
/* For a variable that hot paths read: a declaration of it is not hidden by -fvisibility, and is then reached by way of
 * the global offset table. */
#define RTL_HIDDEN __attribute__((visibility("hidden")))

/* A pause in a loop that waits for another thread's next few instructions. */
#if defined(__x86_64__) || defined(__i386__)
#define RTL_RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RTL_RELAX() __asm__ volatile("yield" ::: "memory")
#else
#define RTL_RELAX() __asm__ volatile("" ::: "memory")
#endif

/* Stores that were combined on their way (to memory of a device) are done before those that follow. */
#if defined(__x86_64__) || defined(__i386__)
#define RTL_STORE_FENCE() __builtin_ia32_sfence()
#else
#define RTL_STORE_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/* The processor's time-stamp counter, where it has one that programs can read; else 0. The second
 * form is read neither before what stands in front of it nor after what stands behind it. */
#if defined(__x86_64__)
#define RTL_TICKS() __builtin_ia32_rdtsc()
#define RTL_TICKS_ORDERED() (__builtin_ia32_lfence(), rtl_ticks_fenced(__builtin_ia32_rdtsc()))
static inline uint64_t rtl_ticks_fenced(uint64_t ticks)
{
	__builtin_ia32_lfence();
	return ticks;
}
#else
#define RTL_TICKS() UINT64_C(0)
#define RTL_TICKS_ORDERED() UINT64_C(0)
#endif

/* Fetches a cache line that is to be written soon. The instruction is a no-op where it is unknown;
 * the builtin would only fetch the line for reading in code for any x86-64. */
#if defined(__x86_64__)
#define RTL_PREFETCH_WRITE(p) __asm__ volatile("prefetchw %0" ::"m"(*(const char *)(p)))
#else
#define RTL_PREFETCH_WRITE(p) __builtin_prefetch((p), 1)
#endif

/* Has the variable live in memory, where it costs a load when it is used; in a register that callees save it costs a
 * push and a pop. For what is needed before and after a call, in functions that do little else. */
#define RTL_IN_MEMORY(variable) __asm__ volatile("" : "+m"(variable))

/* The pointer as one that the compiler knows nothing of: one address to which members' offsets are added, not an
 * address for each member. */
#define RTL_AS_ONE(pointer) __asm__("" : "+r"(pointer))

/* The address of the frame of the function that this is written in, or that it is inlined into. */
#define RTL_FRAME() ((uintptr_t)__builtin_frame_address(0))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
