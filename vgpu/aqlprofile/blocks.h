/* SPDX-License-Identifier: MIT */
/* blocks.h - counter blocks of gfx900: their names, counters, instances and registers
 *
 * Registers are dword addresses. Constant data; any thread.
 */
#ifndef VGPU_AQLPROFILE_BLOCKS_H
#define VGPU_AQLPROFILE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum { BLOCKS_SHADER_ENGINES = 4, BLOCKS_SLOTS_MAX = 8 };

/* How a counter of the block is programmed. */
enum blocks_way {
	BLOCKS_PLAIN, /* the select register gets the event */
	BLOCKS_SQ,    /* and SQ's mask and control register follow */
	BLOCKS_MEMORY, /* of the memory controllers: a control register clears, chooses and starts counters */
};

struct block {
	const char *name; /* as in files of metrics; NULL: no such block */
	enum blocks_way way;
	uint32_t counters, instances; /* counters: of each instance, at once */
	bool per_se;		      /* a sample for each shader engine */
	uint32_t control;	      /* BLOCKS_MEMORY */
	struct {
		uint32_t select, lo, hi;
	} slot[BLOCKS_SLOTS_MAX];
};

/* `id`: hsa_ven_amd_aqlprofile_block_name_t. NULL: gfx900 has no such block. */
const struct block *blocks_find(uint32_t id);
/* Its id; -1: there is none of this name. */
int blocks_id(const char *name);
/* Samples of an event of the block. */
static inline uint32_t blocks_samples(const struct block *b)
{
	return b->per_se ? BLOCKS_SHADER_ENGINES : 1;
}

#endif
