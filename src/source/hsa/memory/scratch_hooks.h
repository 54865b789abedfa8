/* SPDX-License-Identifier: MIT */
/* scratch_hooks.h - functions in the runtime's table for tools that see its events of scratch
 * memory
 *
 * Runtimes from ROCm 6.1 on call an entry of that table when they begin to allocate, free or take
 * back scratch memory, and when it is done, on the thread that does it. librtl and
 * librocprofiler-sdk each put functions of their own there.
 */
#ifndef RTL_SOURCE_HSA_SCRATCH_HOOKS_H
#define RTL_SOURCE_HSA_SCRATCH_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "hsa_table_gen.h"

/* The runtime's events as hsa_amd_tool.h has them, which ROCm 5 lacks: this is the end of an
 * allocation; its begin has no more than the dispatch, the others no more than the flags. */
struct scratch_event {
	int kind; /* hsa_amd_tool_event_kind_t */
	const hsa_queue_t *queue;
	int flags;		/* hsa_amd_event_scratch_alloc_flag_t */
	uint64_t dispatch_id;	/* packet index */
	size_t size, num_slots; /* bytes; waves */
};
/* An entry of the table; the runtime's own are NULL. The argument is a union of pointers, by
 * value. */
typedef hsa_status_t (*scratch_fn)(const struct scratch_event *event);

static inline hsa_status_t scratch_call(scratch_fn next, const struct scratch_event *e)
{
	return next ? next(e) : HSA_STATUS_SUCCESS;
}

static inline void scratch_hook(const struct hsa_mirror_root *root, const scratch_fn *ours,
				scratch_fn *next)
{
	for (uint32_t i = 0; i < HSA_TOOLS_NR; i++) {
		void **slot = hsa_table_tools_slot(root->tools, (enum hsa_tools_id)i);

		/* a runtime that comes up again may have kept its table */
		if (!slot || *slot == (void *)ours[i])
			continue;
		next[i] = (scratch_fn)*slot;
		*slot = (void *)ours[i];
	}
}

/* Defines hook_tools(root), which puts functions into the table that call begin(event, KIND) and
 * end(event, KIND) of the file. Another tool's function is called first at a begin and last at an
 * end: outside of the time between them. false: the runtime has no such table. */
#define SCRATCH_HOOKS(ALLOC, FREE, RECLAIM)                                                        \
	static scratch_fn next_tools[HSA_TOOLS_NR];                                                \
	SCRATCH_HOOK(alloc, ALLOC)                                                                 \
	SCRATCH_HOOK(free, FREE)                                                                   \
	SCRATCH_HOOK(async_reclaim, RECLAIM)                                                       \
	static bool hook_tools(const struct hsa_mirror_root *root)                                 \
	{                                                                                          \
		static const scratch_fn ours[HSA_TOOLS_NR] = {                                     \
			[HSA_TOOLS_scratch_event_alloc_start] = alloc_start,                       \
			[HSA_TOOLS_scratch_event_alloc_end] = alloc_end,                           \
			[HSA_TOOLS_scratch_event_free_start] = free_start,                         \
			[HSA_TOOLS_scratch_event_free_end] = free_end,                             \
			[HSA_TOOLS_scratch_event_async_reclaim_start] = async_reclaim_start,       \
			[HSA_TOOLS_scratch_event_async_reclaim_end] = async_reclaim_end,           \
		};                                                                                 \
                                                                                                   \
		if (!HSA_ROOT_HAS(root, tools) || !root->tools)                                    \
			return false;                                                              \
		scratch_hook(root, ours, next_tools);                                              \
		return true;                                                                       \
	}
#define SCRATCH_HOOK(name, KIND)                                                                   \
	static hsa_status_t name##_start(const struct scratch_event *e)                            \
	{                                                                                          \
		hsa_status_t status =                                                              \
			scratch_call(next_tools[HSA_TOOLS_scratch_event_##name##_start], e);       \
                                                                                                   \
		begin(e, KIND);                                                                    \
		return status;                                                                     \
	}                                                                                          \
	static hsa_status_t name##_end(const struct scratch_event *e)                              \
	{                                                                                          \
		end(e, KIND);                                                                      \
		return scratch_call(next_tools[HSA_TOOLS_scratch_event_##name##_end], e);          \
	}

#endif
