/* SPDX-License-Identifier: MIT */
/* kmt_layout.h - where the thunk's versions put what they tell
 *
 * Three structures grew with the thunk, two of them in their middle: node properties, IO links and caches.
 * Everything else writes the structures of the headers that it is compiled with (5.2), and these are then spread.
 * libhsakmt.so.1 has one layout, chosen when it is built (VGPU_THUNK), since a runtime never says which one it
 * wants. libdtif.so serves 7.0 and all that follow: it looks at the runtime that loads it (kmt_dtif.c).
 */
#ifndef VGPU_KMT_LAYOUT_H
#define VGPU_KMT_LAYOUT_H

#include <stddef.h>

#include <hsakmt.h>

/* Bytes that stay together: what comes between two pieces is new in the version, and 0. */
struct kmt_layout_piece {
	size_t from, size, to;
};

struct kmt_layout {
	size_t node_size, io_link_size, cache_size;
	size_t wall_clock_at;		   /* WallClockKHz of a node, 64 bits; 0: it has none */
	struct kmt_layout_piece pieces[5]; /* of a node's properties; ends at a size of 0 */
};

/* Constant from the first call of the thunk on. */
extern const struct kmt_layout *kmt_layout;

/* The runtime knows the structures of ROCm 10. Only where VGPU_THUNK is 70, before the thunk is opened. */
void kmt_layout_choose_newest(void);

/* What 6.0 put in place of the 12 reserved bytes at the end of a node's properties, and what came later. */
struct kmt_layout_tail {
	HSAuint32 nr_xcc, kfd_gpu_id, family_id;
};

/* Writes the properties of a node to `out`, kmt_layout->node_size bytes. */
void kmt_layout_node(const HsaNodeProperties *props, const struct kmt_layout_tail *tail,
		     HSAuint64 wall_clock_khz, void *out);

/* Writes `link`, or `cache`, as element `i` of an array. */
void kmt_layout_io_link(const HsaIoLinkProperties *link, void *array, size_t i);
void kmt_layout_cache(const HsaCacheProperties *cache, void *array, size_t i);

#endif
