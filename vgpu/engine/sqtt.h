/* SPDX-License-Identifier: MIT */
/* sqtt.h - thread trace of a GPU: registers that start and stop it, and the tokens of waves that it
 * writes to memory
 *
 * While a GPU's trace is on, each dispatch that begins gets a struct sqtt_waves, which records the
 * waves of its workgroups as they end. When the dispatch completes, its tokens are written to the
 * buffers of the shader engines.
 *
 * Threads: the engine's, under the engine's lock.
 */
#ifndef VGPU_SQTT_H
#define VGPU_SQTT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

enum { SQTT_SES = 4, SQTT_CUS_OF_SE = 16, SQTT_SIMDS = 4, SQTT_SLOTS = 10 };

/* Token types: also their bits in SQ_THREAD_TRACE_TOKEN_MASK. */
enum { SQTT_WAVE_START = 3, SQTT_WAVE_END = 6, SQTT_INST = 10 };

/* A token as it is in memory; docs/virtual-gpu.md describes it. Its size is the unit of
 * SQ_THREAD_TRACE_WPTR. */
struct sqtt_token {
	uint8_t type, se, cu, simd, slot, gpu;
	uint16_t wave;	/* in its workgroup */
	uint64_t time;	/* ticks of the GPU's counter */
	uint32_t group; /* number of the workgroup, x first */
	uint32_t
		/* start and end: hsa_queue_t.id; INST: instructions that the wave executed */
		value;
	uint64_t packet; /* the dispatch's index in its queue */
};

/* Registers are dword addresses. `index`: GRBM_GFX_INDEX. */
bool sqtt_has_register(uint32_t reg);
void sqtt_write(unsigned int gpu, uint32_t index, uint32_t reg, uint32_t value);
uint32_t sqtt_read(unsigned int gpu, uint32_t index, uint32_t reg);

/* ---- dispatches (sqtt_waves.c) ---- */

struct sqtt_waves;

/* Where and when a dispatch ran; times are ticks. */
struct sqtt_dispatch {
	unsigned int gpu;
	uint64_t queue, packet, begin, end;
};

/* NULL: the GPU's trace is off, or there is no memory. */
struct sqtt_waves *sqtt_waves_begin(unsigned int gpu, const hsa_kernel_dispatch_packet_t *packet);
/* A workgroup ended: the instructions of each of its waves. `waves`: a struct sqtt_waves. */
void sqtt_waves_group(void *waves, uint64_t group, const uint64_t *insts, unsigned int nr);
/* Records all workgroups of a dispatch that is not executed, as if all waves were alike. */
void sqtt_waves_all(struct sqtt_waves *w, const hsa_kernel_dispatch_packet_t *packet);
/* Writes the tokens, and frees. NULL is allowed. */
void sqtt_waves_end(struct sqtt_waves *w, const struct sqtt_dispatch *d);
void sqtt_waves_free(struct sqtt_waves *w);

/* ---- buffers, for sqtt_waves.c ---- */

/* Counts starts of traces: waves of an earlier one write nothing. 0: the trace is off. */
uint64_t sqtt_session(unsigned int gpu);
/* Tokens that there is space for. */
uint64_t sqtt_space(unsigned int gpu, unsigned int se);
bool sqtt_wants(unsigned int gpu, unsigned int type);
/* Whether the trace has instructions of waves on this unit. */
bool sqtt_chosen(unsigned int gpu, const struct sqtt_token *t);
/* Appends; a token that finds no space is counted as lost. */
void sqtt_put(unsigned int gpu, const struct sqtt_token *t);
void sqtt_lost(unsigned int gpu, unsigned int se, uint64_t tokens);

#endif
