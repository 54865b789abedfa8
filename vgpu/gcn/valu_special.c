/* SPDX-License-Identifier: MIT */
/* valu_special.c - vector instructions that are not functions over rows
 *
 * Those that move values between lanes and scalar registers use EXEC in different ways, or ignore
 * it.
 */
#include <stddef.h>

#include "valu.h"

static void v_nop(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

static uint32_t lane_of(struct gcn_wave *w, const struct gcn_inst *i, unsigned int lane)
{
	if (i->src[0] >= GCN_SRC_VGPR)
		return w->vgpr[i->src[0] - GCN_SRC_VGPR][lane];
	return gcn_src32(w, i, i->src[0]);
}

static void v_readfirstlane_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t exec = gcn_exec(w);

	w->sgpr[i->dst & 127] = lane_of(w, i, exec ? (unsigned int)__builtin_ctzll(exec) : 0);
}

static void v_readlane_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->sgpr[i->dst & 127] = lane_of(w, i, gcn_src32(w, i, i->src[1] & 255) & 63);
}

static void v_writelane_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	w->vgpr[i->dst][gcn_src32(w, i, i->src[1] & 255) & 63] = gcn_src32(w, i, i->src[0] & 255);
}

static void v_swap_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint32_t *a = w->vgpr[i->dst], *b = w->vgpr[i->src[0] & 255];
	const uint32_t *m = gcn_mask(w);

	for (unsigned int l = 0; l < GCN_LANES; l++) {
		uint32_t x = (a[l] ^ b[l]) & m[l];

		a[l] ^= x;
		b[l] ^= x;
	}
}

/* between the two files of registers, which are one here */
static void v_accvgpr_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *m = gcn_mask(w);
	uint32_t *d = w->vgpr[i->dst];

	for (unsigned int l = 0; l < GCN_LANES; l++)
		d[l] ^= (d[l] ^ lane_of(w, i, l)) & m[l];
}

static const struct {
	uint16_t op;
	uint8_t enc, only;
	const char *name;
	gcn_fn *run;
} specials[] = {
	{ 0, GCN_VOP1, 0, "v_nop", v_nop },
	{ 2, GCN_VOP1, 0, "v_readfirstlane_b32", v_readfirstlane_b32 },
	{ 53, GCN_VOP1, 0, "v_clrexcp", v_nop },
	{ 55, GCN_VOP1, 0, "v_screen_partition_4se_b32", NULL },
	{ 81, GCN_VOP1, 0, "v_swap_b32", v_swap_b32 },
	{ 82, GCN_VOP1, GCN_SINCE_GFX90A, "v_accvgpr_mov_b32", v_accvgpr_b32 },
	{ 88, GCN_VOP3P, GCN_SINCE_GFX90A, "v_accvgpr_read_b32", v_accvgpr_b32 },
	{ 89, GCN_VOP3P, GCN_SINCE_GFX90A, "v_accvgpr_write_b32", v_accvgpr_b32 },
	{ 452, GCN_VOP3, 0, "v_cubeid_f32", NULL },
	{ 453, GCN_VOP3, 0, "v_cubesc_f32", NULL },
	{ 454, GCN_VOP3, 0, "v_cubetc_f32", NULL },
	{ 455, GCN_VOP3, 0, "v_cubema_f32", NULL },
	{ 487, GCN_VOP3, 0, "v_mqsad_u32_u8", NULL },
	{ 496, GCN_VOP3, 0, "v_cvt_pkaccum_u8_f32", NULL },
	{ 624, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p1_f32", NULL },
	{ 625, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p2_f32", NULL },
	{ 626, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_mov_f32", NULL },
	{ 628, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p1ll_f16", NULL },
	{ 629, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p1lv_f16", NULL },
	{ 630, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p2_legacy_f16", NULL },
	{ 631, GCN_VOP3, GCN_ONLY_GFX900, "v_interp_p2_f16", NULL },
	{ 649, GCN_VOP3, 0, "v_readlane_b32", v_readlane_b32 },
	{ 650, GCN_VOP3, 0, "v_writelane_b32", v_writelane_b32 },
};

gcn_fn *valu_special(const struct gcn_inst *i, const char **name)
{
	for (unsigned int n = 0; n < sizeof(specials) / sizeof(specials[0]); n++) {
		if (specials[n].op == i->op && specials[n].enc == i->enc &&
		    (!specials[n].only || specials[n].only >> i->arch & 1)) {
			*name = specials[n].name;
			return specials[n].run ? specials[n].run : gcn_run_unimplemented;
		}
	}
	*name = NULL;
	return NULL;
}
