/* SPDX-License-Identifier: MIT */
/* signal.h - ROCr's signals in memory: the fields that the GPU writes, and the kinds of signals
 *
 * The GPU writes results, times, then the value: the times are complete when the value has dropped.
 * An owner may set the value again at once.
 */
#ifndef RTL_SOURCE_HSA_SIGNAL_H
#define RTL_SOURCE_HSA_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#ifndef HSA_LARGE_MODEL
#define HSA_LARGE_MODEL                                                                            \
	1 /* HOT: whether `s` is the doorbell of a hardware queue. Doorbell kinds
			   * are negative (AMD_SIGNAL_KIND_DOORBELL and its legacy form), kinds of
			   * signals with a value are not. */
#endif
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

static inline hsa_signal_t signal_handle(const amd_signal_t *s)
{
	return (hsa_signal_t){ .handle = (uint64_t)(uintptr_t)s };
}

static inline amd_signal_t *signal_of(hsa_signal_t s)
{
	return (amd_signal_t *)(uintptr_t)s.handle;
}

/* HOT: is it the doorbell of a hardware queue? Those kinds are negative (AMD_SIGNAL_KIND_DOORBELL
 * and its legacy form), those of signals with a value are not. */
static inline bool signal_is_doorbell(hsa_signal_t s)
{
	return s.handle && *(const int64_t *)(uintptr_t)s.handle < 0;
}

static inline int64_t signal_value(const amd_signal_t *s)
{
	return __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
}

static inline uint64_t signal_end_ticks(const amd_signal_t *s)
{
	return __atomic_load_n(&s->end_ts, __ATOMIC_ACQUIRE);
}

static inline uint64_t signal_begin_ticks(const amd_signal_t *s)
{
	return __atomic_load_n(&s->start_ts, __ATOMIC_RELAXED);
}

static inline void signal_clear_ticks(amd_signal_t *s)
{
	__atomic_store_n(&s->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->end_ts, 0, __ATOMIC_RELAXED);
}

#endif
