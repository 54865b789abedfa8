/* SPDX-License-Identifier: MIT */
/* packet.h - AQL packets: their kinds and members, and the plan of the packets submitted for one */
#ifndef RTL_SOURCE_HSA_PACKET_H
#define RTL_SOURCE_HSA_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hsa/hsa.h>

#include "base/compiler.h"
#include "spool/format.h"

/* A vendor-specific packet has its kind in its third byte (hsa_ext_amd.h). */
#define PACKET_AMD_EXT_DISPATCH 3u

/* gfx1250's dispatch: the grid is given in clusters of work-groups. All other members are at the
 * offsets of hsa_kernel_dispatch_packet_t. */
struct packet_ext_dispatch {
	uint16_t header;
	uint8_t amd_format, setup;
	uint16_t workgroup_size[3], reserved0;
	uint32_t cluster_count_x;
	uint16_t cluster_count_y, cluster_count_z;
	uint8_t cluster_size[3], perf_hint;
	uint32_t private_segment_size, group_segment_size;
	uint64_t kernel_object;
	uint64_t kernarg_address;
	hsa_signal_t dep_signal, completion_signal;
};
_Static_assert(sizeof(struct packet_ext_dispatch) == 64, "AQL packet");

union packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier;
	struct packet_ext_dispatch ext;
	unsigned char bytes[64];
};
_Static_assert(sizeof(union packet) == 64, "AQL packet");

/* The part of a packet that describes it later: everything but its arguments and signals. */
struct packet_head {
	unsigned char bytes[40];
};
#define SAME(member, of_spool)                                                                     \
	(offsetof(hsa_kernel_dispatch_packet_t, member) == offsetof(struct spool_packet, of_spool))
_Static_assert(sizeof(struct packet_head) == sizeof(struct spool_packet) && SAME(setup, format) &&
		       SAME(workgroup_size_x, group) && SAME(grid_size_x, grid) &&
		       SAME(private_segment_size, private_size) &&
		       SAME(group_segment_size, group_size) && SAME(kernel_object, object),
	       "as in format.h");
#undef SAME

/* The packet type of a header. */
static inline uint32_t packet_type(uint16_t header)
{
	return header & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/* HOT: whether the packet starts a kernel. */
static inline bool packet_is_dispatch(const union packet *p)
{
	uint32_t type = packet_type(p->header);

	return RTL_LIKELY(type == HSA_PACKET_TYPE_KERNEL_DISPATCH) ||
	       (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
		p->ext.amd_format == PACKET_AMD_EXT_DISPATCH);
}

/* Whether the processor may wait for a signal at this packet. What a vendor's packet does is not
 * known. */
static inline bool packet_may_wait(const union packet *p)
{
	uint32_t type = packet_type(p->header);

	if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
		return type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && !packet_is_dispatch(p);
	for (uint32_t i = 0; i < 5; i++)
		if (p->barrier.dep_signal[i].handle)
			return true;
	return false;
}

/* Whether a processed packet was a dispatch: its header is "invalid" by then. A PM4 packet has its
 * command in the workgroup size field (over 1024), a barrier packet has zeros there. */
static inline bool packet_was_dispatch(const union packet *p)
{
	const hsa_kernel_dispatch_packet_t *d = &p->dispatch;

	return d->setup >= 1 && d->setup <= 3 && d->workgroup_size_x >= 1 &&
	       d->workgroup_size_x <= 1024 && d->kernel_object && d->reserved0 == 0 &&
	       d->reserved2 == 0;
}

/* Whether a processed packet was gfx1250's dispatch, as packet_was_dispatch(). A three-dimensional
 * plain dispatch looks the same. */
static inline bool packet_was_ext_dispatch(const union packet *p)
{
	const struct packet_ext_dispatch *e = &p->ext;

	return e->amd_format == PACKET_AMD_EXT_DISPATCH && e->workgroup_size[0] >= 1 &&
	       e->workgroup_size[0] <= 1024 && e->kernel_object && e->reserved0 == 0;
}

/* The completion signal, which every kind of packet that has one has at the same offset. 0: none.
 */
static inline hsa_signal_t packet_signal(const union packet *p)
{
	return p->dispatch.completion_signal;
}

/* HOT: keeps the head of `p`. */
static inline void packet_keep_head(struct packet_head *h, const union packet *p)
{
	memcpy(h->bytes, p, sizeof(h->bytes));
}

/* The packet of `h`; members that were not kept are zero. */
static inline void packet_of_head(union packet *p, const struct packet_head *h)
{
	memcpy(p, h->bytes, sizeof(h->bytes));
	memset(p->bytes + sizeof(h->bytes), 0, sizeof(*p) - sizeof(h->bytes));
}

/* A barrier packet without dependencies; `fences` of the packet header. */
static inline void packet_make_barrier(union packet *p, uint16_t fences)
{
	memset(p, 0, sizeof(*p));
	p->barrier.header =
		(uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | fences);
}

/* Makes `b` complete `owner` after `ours`, the signal of packet `p`, is completed. */
static inline void packet_make_completion(union packet *b, const union packet *p, hsa_signal_t ours,
					  hsa_signal_t owner)
{
	packet_make_barrier(b, p->header & (uint16_t)~0x1ffu); /* fences yes, barrier bit no */
	b->barrier.dep_signal[0] = ours;
	b->barrier.completion_signal = owner;
}

/* The packets submitted for one packet of the program: itself, and librtl's around it. For
 * intercept queues; interposition adds no packet. */
#define PACKET_PLAN_SLOTS 4u
struct packet_plan {
	union packet before[PACKET_PLAN_SLOTS], packet, after[PACKET_PLAN_SLOTS];
	uint32_t nr_before, nr_after;
};

/* Copies the plan's packets to `out`, in order. Returns their number. */
static inline uint32_t packet_plan_put(const struct packet_plan *plan, union packet *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->nr_before; i++)
		out[n++] = plan->before[i];
	out[n++] = plan->packet;
	for (uint32_t i = 0; i < plan->nr_after; i++)
		out[n++] = plan->after[i];
	return n;
}

#endif
