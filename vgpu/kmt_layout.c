/* SPDX-License-Identifier: MIT */
/* kmt_layout.c - where the thunk's versions put what they tell
 *
 *     VGPU_THUNK   versions     node properties                          IO link
 *     52           5.2 to 6.2   356 bytes                                48
 *     63           6.3          360: OverrideEngineId after EngineId     52
 *     70           7.0          368: NumNeuralCores after NumFComputeCores,
 *                               Capability2 after Capability             52
 *
 * Threads:  any; everything is constant.
 */
#include "kmt_layout.h"

#include <assert.h>
#include <string.h>

#define AT(member) offsetof(HsaNodeProperties, member)
#define SIZE sizeof(HsaNodeProperties)

/* the tables below are written for these */
static_assert(SIZE == 356 && sizeof(HsaIoLinkProperties) == 48, "headers of another thunk");
static_assert(AT(NumMemoryBanks) == 8 && AT(MaxWavesPerSIMD) == 32 && AT(VendorId) == 72,
	      "headers of another thunk");

const struct kmt_layout kmt_layout = {
#if VGPU_THUNK == 52
	.node_size = 356,
	.io_link_size = 48,
	.pieces = { { 0, SIZE, 0 } },
#elif VGPU_THUNK == 63
	.node_size = 360,
	.io_link_size = 52,
	.pieces = {
		{ 0, AT(VendorId), 0 },
		{ AT(VendorId), SIZE - AT(VendorId), AT(VendorId) + 4 },
	},
#elif VGPU_THUNK == 70
	.node_size = 368,
	.io_link_size = 52,
	.pieces = {
		{ 0, AT(NumMemoryBanks), 0 },
		{ AT(NumMemoryBanks), AT(MaxWavesPerSIMD) - AT(NumMemoryBanks), AT(NumMemoryBanks) + 4 },
		{ AT(MaxWavesPerSIMD), AT(VendorId) - AT(MaxWavesPerSIMD), AT(MaxWavesPerSIMD) + 8 },
		{ AT(VendorId), SIZE - AT(VendorId), AT(VendorId) + 12 },
	},
#else
#error "VGPU_THUNK names no layout"
#endif
};

void kmt_layout_node(const HsaNodeProperties *props, const struct kmt_layout_tail *tail, void *out)
{
	const size_t nr_pieces = sizeof(kmt_layout.pieces) / sizeof(kmt_layout.pieces[0]);
	HsaNodeProperties whole = *props;

	static_assert(sizeof(*tail) == sizeof(whole.Reserved), "the tail fills what was reserved");
	memcpy(whole.Reserved, tail, sizeof(*tail));
	memset(out, 0, kmt_layout.node_size);
	for (size_t i = 0; i < nr_pieces && kmt_layout.pieces[i].size; i++) {
		const struct kmt_layout_piece *p = &kmt_layout.pieces[i];

		memcpy((char *)out + p->to, (const char *)&whole + p->from, p->size);
	}
}

void kmt_layout_io_link(const HsaIoLinkProperties *link, void *array, size_t i)
{
	char *out = (char *)array + i * kmt_layout.io_link_size;

	memset(out, 0, kmt_layout.io_link_size);
	memcpy(out, link, sizeof(*link));
}
