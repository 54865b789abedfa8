/* SPDX-License-Identifier: MIT */
/* kmt_layout.h - where the thunk's versions put what they tell
 *
 * Two structures grew with the thunk, in their middle: node properties and IO links. Everything else writes the
 * structures of the headers that it is compiled with (5.2), and these two are then spread. A library has one
 * layout, chosen when it is built (VGPU_THUNK), since a runtime never says which one it wants.
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
	size_t node_size, io_link_size;
	struct kmt_layout_piece pieces[4]; /* of a node's properties; ends at a size of 0 */
};

extern const struct kmt_layout kmt_layout;

/* What 6.0 put in place of the 12 reserved bytes at the end of a node's properties. */
struct kmt_layout_tail {
	HSAuint32 nr_xcc, kfd_gpu_id, family_id;
};

/* Writes the properties of a node to `out`, kmt_layout.node_size bytes. */
void kmt_layout_node(const HsaNodeProperties *props, const struct kmt_layout_tail *tail, void *out);

/* Writes `link` as element `i` of an array. */
void kmt_layout_io_link(const HsaIoLinkProperties *link, void *array, size_t i);

#endif
