/* SPDX-License-Identifier: MIT */
/* fake_parts.h - shared by the files of the fake runtime; tests include fake_hsa.h */
#ifndef RTL_SUPPORT_FAKE_PARTS_H
#define RTL_SUPPORT_FAKE_PARTS_H

#include "support/fake_hsa.h"

#ifdef RTL_SANITIZE_ADDRESS
#include <sanitizer/lsan_interface.h>
/* The source under test keeps signals and queues in memory that the leak sanitizer does not see. */
#define FAKE_KEPT(p) __lsan_ignore_object(p)
#else
#define FAKE_KEPT(p) ((void)0)
#endif

#define FAKE_TICKS_BASE (UINT64_C(1) << 32)
#define FAKE_AGENT_BASE UINT64_C(0xa9e000)

struct fake_signal {
	amd_signal_t amd; /* must be first */
	uint64_t magic;
	struct fake_queue *doorbell_of; /* NULL: an ordinary signal */
	_Atomic bool copying;
	_Atomic uint64_t copy_begin, copy_end;
};

/* Zeroed memory that is kept for ever. */
void *fake_memory(size_t size);

/* The signal, which is alive. */
struct fake_signal *fake_signal_check(hsa_signal_t s);
/* Of `kind`; for a doorbell with its queue. */
hsa_signal_t fake_signal_make(int64_t kind, int64_t value, struct fake_queue *doorbell_of);
/* As the packet processor completes a packet: times, then the value. */
void fake_signal_complete(const struct fake_queue *q, hsa_signal_t s, uint64_t begin, uint64_t end);

/* The runtime's function `how` stored to a doorbell. */
void fake_queue_rang(struct fake_queue *q, int64_t value, enum hsa_core_id how);

/* The GPU is about to get packets or a copy. */
void fake_gets_work(void);

/* Each puts its functions into fake.core and fake.amd; `nr`: entries of the latter. */
void fake_signal_fill(unsigned nr);
void fake_queue_fill(unsigned nr);
void fake_copy_fill(unsigned nr);

/* Puts `fn` into a table of `nr` entries, into the slot that is `index` in ROCm 5.2.3. */
void fake_fill_amd(unsigned nr, unsigned index, void *fn);

#endif
