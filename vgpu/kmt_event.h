/* SPDX-License-Identifier: MIT */
/* kmt_event.h - events, with which the device wakes host threads */
#ifndef VGPU_KMT_EVENT_H
#define VGPU_KMT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* Signals the event with this id; unknown ids are ignored. Any thread. */
void kmt_event_set(uint32_t id);

/* Whether a host thread waits for this event alone (hsaKmtWaitOnEvent). Any thread. */
bool kmt_event_blocks(uint32_t id);

/* Reports a memory fault at `addr` by `gpu` through the event for memory faults. If there is none, as on ROCr 7.2.4 with
 * HSA_ENABLE_DTIF=1, prints the fault and aborts: the program would wait for ever. */
void kmt_event_memory_fault(unsigned int gpu, uint64_t addr, unsigned int error_type);

/* The range of the mailboxes, if it contains `addr`; like kmt_memory_range(). Any thread. */
bool kmt_event_mailboxes(uint64_t addr, uint64_t *lo, uint64_t *hi);

/* Around fork(). */
void kmt_event_lock(void);
void kmt_event_unlock(void);

#endif
