/* SPDX-License-Identifier: MIT */
/* compiler.h - the compiler extensions that the product uses, each under a name of its own */
#ifndef RTL_BASE_COMPILER_H
#define RTL_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define RTL_LIKELY(x) __builtin_expect(!!(x), 1)
#define RTL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RTL_NOINLINE __attribute__((noinline))
#define RTL_INLINE inline __attribute__((always_inline))
#define RTL_COLD __attribute__((cold, noinline))
#define RTL_UNUSED __attribute__((unused))
/* For functions that run on a stack unknown to the address sanitizer. */
#define RTL_FOREIGN_STACK __attribute__((no_sanitize_address))
/* For a function that copies with general registers what was stored with them: a load of a vector
 * can't be forwarded from two stores. */
#if defined(__x86_64__) && !defined(__clang__)
#define RTL_NO_VECTORS __attribute__((target("general-regs-only")))
#else
#define RTL_NO_VECTORS
#endif
#ifdef __x86_64__
/* For a function that multiplies without carry. Its caller asks the processor whether it can. */
#define RTL_CARRYLESS __attribute__((target("pclmul,sse4.1")))
#endif
/* For a function that reads what other threads write, and checks it. */
#define RTL_NO_TSAN __attribute__((no_sanitize_thread))
#define EXPORT __attribute__((visibility("default")))
/* For a variable that hot paths read: -fvisibility does not apply to declarations, so without this
 * it would be accessed through the global offset table. */
#define RTL_HIDDEN __attribute__((visibility("hidden")))

/* A pause in a loop that waits for another thread's next few instructions. */
#if defined(__x86_64__) || defined(__i386__)
#define RTL_RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RTL_RELAX() __asm__ volatile("yield" ::: "memory")
#else
#define RTL_RELAX() __asm__ volatile("" ::: "memory")
#endif

/* Write-combined stores (to device memory) complete before the stores that follow. */
#if defined(__x86_64__) || defined(__i386__)
#define RTL_STORE_FENCE() __builtin_ia32_sfence()
#else
#define RTL_STORE_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/* The processor's time-stamp counter, where programs can read it; else 0. The second form is
 * ordered after earlier and before later instructions. */
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

/* Fetches a cache line that will be written soon. The instruction is a no-op where unsupported; in
 * code for any x86-64 the builtin would only fetch the line for reading. */
#if defined(__x86_64__)
#define RTL_PREFETCH_WRITE(p) __asm__ volatile("prefetchw %0" ::"m"(*(const char *)(p)))
#else
#define RTL_PREFETCH_WRITE(p) __builtin_prefetch((p), 1)
#endif

/* Keeps the variable in memory, where each use costs a load; in a callee-saved register it costs a
 * push and a pop. For values needed before and after a call, in otherwise short functions. */
#define RTL_IN_MEMORY(variable) __asm__ volatile("" : "+m"(variable))

/* Hides the pointer's origin from the compiler: members are addressed by offsets from one address,
 * not by an address each. */
#define RTL_AS_ONE(pointer) __asm__("" : "+r"(pointer))

/* The frame address of the function that contains this, or into which it is inlined. */
#define RTL_FRAME() ((uintptr_t)__builtin_frame_address(0))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The structure of which `item` is the member. */
#define RTL_CONTAINER_OF(item, type, member)                                                       \
	((type *)(void *)((char *)(item)-offsetof(type, member)))

#endif
