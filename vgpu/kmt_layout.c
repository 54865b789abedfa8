/* SPDX-License-Identifier: MIT */
/* kmt_layout.c - the structures of the thunk's versions
 *
 *     VGPU_THUNK   versions     node properties                          IO link   cache
 *     52           5.2 to 6.2   356 bytes                                48        1056
 *     63           6.3          360: OverrideEngineId after EngineId     52        1056
 *     70           7.0 to 7.2   368: NumNeuralCores after NumFComputeCores,
 *                               Capability2 after Capability             52        1056
 *                  10.0         396: seven members at the end            52        1060
 *
 * Threads:  any; everything is constant once the thunk is open.
 */
#include "kmt_layout.h"

#include <assert.h>
#include <string.h>

#define AT(member) offsetof(HsaNodeProperties, member)
#define SIZE sizeof(HsaNodeProperties)

/* the tables below are written for these */
static_assert(SIZE == 356 && sizeof(HsaIoLinkProperties) == 48 &&
		      sizeof(HsaCacheProperties) == 1056,
	      "headers of another thunk");
static_assert(AT(NumMemoryBanks) == 8 && AT(MaxWavesPerSIMD) == 32 && AT(VendorId) == 72,
	      "headers of another thunk");

#define PIECES_70                                                                                  \
	{                                                                                          \
		{ 0, AT(NumMemoryBanks), 0 },                                                      \
			{ AT(NumMemoryBanks), AT(MaxWavesPerSIMD) - AT(NumMemoryBanks),            \
			  AT(NumMemoryBanks) + 4 },                                                \
			{ AT(MaxWavesPerSIMD), AT(VendorId) - AT(MaxWavesPerSIMD),                 \
			  AT(MaxWavesPerSIMD) + 8 },                                               \
			{ AT(VendorId), SIZE - AT(VendorId), AT(VendorId) + 12 },                  \
	}

static const struct kmt_layout built = {
	.cache_size = sizeof(HsaCacheProperties),
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
	.pieces = PIECES_70,
#else
#error "VGPU_THUNK names no layout"
#endif
};

const struct kmt_layout *kmt_layout = &built;

#if VGPU_THUNK == 70
void kmt_layout_choose_newest(void)
{
	static const struct kmt_layout newest = {
		.node_size = 396,
		.io_link_size = 52,
		.cache_size = 1060,
		.wall_clock_at = 384,
		.pieces = PIECES_70,
	};

	kmt_layout = &newest;
}
#endif

void kmt_layout_node(const HsaNodeProperties *props, const struct kmt_layout_tail *tail,
		     HSAuint64 wall_clock_khz, void *out)
{
	HsaNodeProperties whole = *props;

	static_assert(sizeof(*tail) == sizeof(whole.Reserved), "the tail fills what was reserved");
	memcpy(whole.Reserved, tail, sizeof(*tail));
	memset(out, 0, kmt_layout->node_size);
	for (size_t i = 0; kmt_layout->pieces[i].size; i++) {
		const struct kmt_layout_piece *p = &kmt_layout->pieces[i];

		memcpy((char *)out + p->to, (const char *)&whole + p->from, p->size);
	}
	if (kmt_layout->wall_clock_at)
		memcpy((char *)out + kmt_layout->wall_clock_at, &wall_clock_khz,
		       sizeof(wall_clock_khz));
}

static void put_element(void *array, size_t i, size_t size, const void *from, size_t from_size)
{
	char *out = (char *)array + i * size;

	memset(out, 0, size);
	memcpy(out, from, from_size);
}

void kmt_layout_io_link(const HsaIoLinkProperties *link, void *array, size_t i)
{
	put_element(array, i, kmt_layout->io_link_size, link, sizeof(*link));
}

void kmt_layout_cache(const HsaCacheProperties *cache, void *array, size_t i)
{
	put_element(array, i, kmt_layout->cache_size, cache, sizeof(*cache));
}
