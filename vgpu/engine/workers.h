/* SPDX-License-Identifier: MIT */
/* workers.h - the threads that run a kernel's workgroups beside the engine's */
#ifndef VGPU_WORKERS_H
#define VGPU_WORKERS_H

#include <stdint.h>

struct gcn_run;

/* Runs a slice of a dispatch on all threads, `budget` instructions on the calling one and as long
 * on the others; returns when all have ended it. The engine's thread. */
void workers_run(struct gcn_run *r, int64_t budget);

/* In a forked child, which has none of the threads. */
void workers_forked(void);

#endif
