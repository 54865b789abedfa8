/* SPDX-License-Identifier: MIT */
/* play.h - the scenarios of the self-test's program: one for each run
 *
 * Each does something of which it knows the outcome without any tracing (kernels count themselves
 * in the GPU's memory, copies are read back), and writes that to its account.
 */
#ifndef RTL_SELFTEST_PLAY_H
#define RTL_SELFTEST_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "selftest/kernels.h"
#include "selftest/runtime.h"

/* "name=value" of the command line, or the default. */
const char *play_text(const char *name, const char *otherwise);
uint64_t play_number(const char *name, uint64_t otherwise);

/* The code for an ISA, from the file that an earlier run has left (code=PREFIX), or compiled now.
 * Ends the process if it can't be. */
void play_code(const char *isa, struct kernels_code *out);

/* Kernels on one GPU of HIP. */
struct play_gpu {
	int device;
	hip_function count_a, count_b, spin;
	uint32_t *counters; /* in its memory: A at [0], B at [16], spin at [32] */
};
enum { PLAY_A = 0, PLAY_B = 16, PLAY_SPIN = 32, PLAY_COUNTERS = 48 };

/* Loads HIP and HSA, and the kernels on the first `devices` GPUs (0: all). Returns their number. */
unsigned int play_open(struct play_gpu gpus[RUNTIME_GPUS_MAX], unsigned int devices);
/* Reads the counters of a GPU. It must be idle. */
void play_read(const struct play_gpu *gpu, uint32_t out[PLAY_COUNTERS]);
void play_launch(const struct play_gpu *gpu, hip_function kernel, int counter, hip_stream stream);
/* Launches `launches` kernels, A and B in turn, on `streams` streams of each of `threads` threads,
 * thread n on GPU n modulo their number; waits, and adds launched_ and counted_ numbers to the
 * account. */
void play_counts(const struct play_gpu *gpus, unsigned int nr, unsigned int threads,
		 unsigned int streams, unsigned int launches);

/* The scenarios. */
void play_probe(void);
void play_count(void);
void play_copies(void);
void play_graphs(void);
void play_events(void);
void play_overhead(void);
void play_ranges(void);
void play_hsa(void);
void play_roctracer(void);
void play_sdk(void);
void play_rocprofiler(void);

#endif
