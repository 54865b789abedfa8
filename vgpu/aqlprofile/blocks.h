/* SPDX-License-Identifier: MIT */
/* blocks.h - counter blocks of gfx900, gfx90a and gfx942: their names, counters, instances and
 * registers
 *
 * Registers are dword addresses. Constant data; any thread.
 */
#ifndef VGPU_AQLPROFILE_BLOCKS_H
#define VGPU_AQLPROFILE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "types.h"

enum { BLOCKS_TRACED_ENGINES = 4, BLOCKS_SLOTS_MAX = 8 }; /* traced: by a thread trace, on both */

/* How a counter of the block is programmed. */
enum blocks_way {
	BLOCKS_PLAIN, /* the select register gets the event */
	BLOCKS_SQ,    /* and SQ's mask and control register follow */
	/* of the memory controllers: a control register clears, chooses and starts counters */
	BLOCKS_MEMORY,
};

struct block {
	const char *name; /* as in files of metrics; NULL: no such block */
	enum blocks_way way;
	uint32_t counters,
		instances; /* counters: of each instance, at once; instances: of gfx900 */
	bool per_se;	   /* a sample for each shader engine */
	uint32_t control;  /* BLOCKS_MEMORY */
	struct {
		uint32_t select, lo, hi;
	} slot[BLOCKS_SLOTS_MAX];
};

/* What the virtual GPU's architectures have of the blocks (gpu.c). */
struct blocks_gpu {
	const char *name;
	uint32_t dies, shader_engines;				 /* shader_engines: of a die */
	uint8_t instances[HSA_VEN_AMD_AQLPROFILE_BLOCKS_NUMBER]; /* 0: those of gfx900 */
	uint32_t engine_units; /* of an engine that there are, of TA, TCP and TD; 0: all */
};

/* `agent`: of the profile: the runtime's, or of blocks_agent(). */
const struct blocks_gpu *blocks_gpu(hsa_agent_t agent);
/* An agent of this architecture ("gfx90a:sramecc+"), without the runtime; 0: the virtual GPU has
 * none. */
hsa_agent_t blocks_agent(const char *gfxip);
bool blocks_is_agent(hsa_agent_t agent);

/* `id`: hsa_ven_amd_aqlprofile_block_name_t. NULL: there is no such block. */
const struct block *blocks_find(uint32_t id);
/* Its id; -1: there is none of this name. */
int blocks_id(const char *name);
/* Instances of a block that an event may name; those behind blocks_extent() count nothing. Samples
 * of an event: of each die, one for each shader engine, or one. */
uint32_t blocks_instances(const struct blocks_gpu *gpu, uint32_t id);
uint32_t blocks_extent(const struct blocks_gpu *gpu, uint32_t id);
uint32_t blocks_samples(const struct blocks_gpu *gpu, uint32_t id);

#endif
