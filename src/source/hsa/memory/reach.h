/* SPDX-License-Identifier: MIT */
/* reach.h - the memory that kernels of a GPU can reach: what a replay saves, and what it must not
 * touch
 *
 * Known are the allocations that a program makes through the runtime, host memory that it locks or
 * shares with a GPU, mapped virtual memory, and the code objects, whose variables are in them.
 * Signals and the runtime's own memory are not in the table.
 *
 * While a replay runs (reach_keep()), calls that free memory of a GPU, or share it, wait for its
 * end, RTL_PMC_WAIT_MS at most.
 *
 * Only with RTL_PMC_REPLAY. Threads: any; the calls take a lock, no launch does.
 */
#ifndef RTL_SOURCE_HSA_REACH_H
#define RTL_SOURCE_HSA_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "hsa_table_gen.h"

enum reach_kind {
	REACH_OWN,	  /* of one GPU, which alone has access */
	REACH_NOBODYS,	  /* mapped, and no GPU has access yet */
	REACH_HOST,	  /* of the host, or the host has access */
	REACH_OTHER_GPU,  /* another GPU has access, too */
	REACH_OTHER_USER, /* another process or device may have access */
	REACH_UNKNOWN,	  /* allocations that can't be distinguished: no kernel is replayed */
};

struct reach_range {
	uint64_t base, size;
	uint64_t handle; /* of mapped memory; 0: it is none */
	uint32_t agent;	 /* the GPU that has it; AGENT_NONE: none */
	uint32_t kind;	 /* enum reach_kind */
	bool is_pinned;	 /* memory of the host that is there as long as a lock of it */
};

/* Puts librtl's functions into the table. */
void reach_install(const struct hsa_mirror_root *root);
void reach_reset(void);

/* A code object was loaded. */
void reach_add_code(uint32_t agent, uint64_t base, uint64_t size);
/* It goes away; reach_settle(), which waits for replays, was called before, without locks. */
void reach_settle(void);
void reach_remove_code(uint64_t base);

/* What is known at one moment, by address. */
struct reach_view {
	struct reach_range *ranges;
	size_t nr, cap;
	uint64_t version; /* of the table; 0: never read */
	bool is_complete; /* false: memory was allocated that is not in the table */
};
/* Makes the view a new one if the table has changed. False: no memory. */
bool reach_read(struct reach_view *v);
void reach_free(struct reach_view *v);
/* The range with that address, or NULL. */
const struct reach_range *reach_find(const struct reach_view *v, uint64_t address);
/* Whether the table still has the range, as it was. */
bool reach_has(const struct reach_range *r);

/* A replay begins (true), before it reads the table, or ends. */
void reach_keep(bool on);

#endif
