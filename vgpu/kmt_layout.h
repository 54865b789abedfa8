/* SPDX-License-Identifier: MIT */
/* kmt_layout.h - the structures of the thunk's versions
 *
 * Three structures grew with the thunk, two of them in their middle: node properties, IO links and caches.
 * The other files write the structures of the headers of 5.2, and this one converts them to the version's layout.
 * libhsakmt.so.1 has one layout, chosen at build time (VGPU_THUNK), since a runtime does not pass its
 * version. libdtif.so serves 7.0 and later: it inspects the runtime that loads it (kmt_dtif.c).
 */
#ifndef VGPU_KMT_LAYOUT_H
#define VGPU_KMT_LAYOUT_H

#include <stddef.h>

#include <hsakmt.h>

/* Bytes that stay together: members between two pieces are new in the version, and 0. */
struct kmt_layout_piece {
	size_t from, size, to;
};

struct kmt_layout {
	size_t node_size, io_link_size, cache_size;
	size_t wall_clock_at;		   /* WallClockKHz of a node, 64 bits; 0: it has none */
	struct kmt_layout_piece pieces[5]; /* of a node's properties; ends at a size of 0 */
};

/* Constant after the first call of the thunk. */
extern const struct kmt_layout *kmt_layout;

/* Selects the structures of ROCm 10. Only if VGPU_THUNK is 70, before the thunk is opened. */
void kmt_layout_choose_newest(void);

/* The members that 6.0 has instead of the 12 reserved bytes at the end of a node's properties, and later ones. */
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
