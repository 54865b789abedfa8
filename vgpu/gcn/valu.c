/* SPDX-License-Identifier: MIT */
/* valu.c - vector instructions: operands in, modifiers, results out
 *
 * A plain instruction on 32-bit registers works on the registers' rows directly. All others go through copies
 * of their operands, to which SDWA, DPP, op_sel, absolute value, negation and the flushing of denormals are
 * applied, and a row for the result, which is scaled, clamped and blended into the register by EXEC.
 */
#include "valu.h"

#include <fenv.h>
#include <stddef.h>
#include <string.h>

#include "valu_math.h"
#include "valu_operand.h"

#define ENC_OPS 1024

static const struct gcn_valu *by_op[GCN_ARCH_NR][GCN_ENC_NR][ENC_OPS];
static bool ready;

static void add_table(enum gcn_arch_id arch, const struct valu_table *t)
{
	for (unsigned int n = 0; n < t->nr; n++)
		by_op[arch][t->ops[n].enc][t->ops[n].op] = &t->ops[n];
}

bool valu_has_v3(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi2");
#else
	return false;
#endif
}

static void init(void)
{
	static const struct valu_table *const common[2][5] = {
		{ &valu_int_base, &valu_f32_base, &valu_f16_base, &valu_f64_base, &valu_cmp_base },
		{ &valu_int_v3, &valu_f32_v3, &valu_f16_v3, &valu_f64_v3, &valu_cmp_v3 },
	};
	bool v3 = valu_has_v3();

	for (enum gcn_arch_id arch = 0; arch < GCN_ARCH_NR; arch++) {
		for (unsigned int n = 0; n < 5; n++)
			add_table(arch, common[v3][n]);
	}
	/* after the others: some of its opcodes are others' on gfx900 */
	add_table(GCN_GFX90A, v3 ? &valu_gfx90a_v3 : &valu_gfx90a_base);
	ready = true;
}

static const struct gcn_valu *find_valu(const struct gcn_inst *i)
{
	if (!ready)
		init();
	return i->op < ENC_OPS ? by_op[i->arch][i->enc][i->op] : NULL;
}

static bool is_float(unsigned int type)
{
	return type == VALU_f32 || type == VALU_f64 || type == VALU_f16 || type == VALU_h16;
}

static unsigned int width(unsigned int type)
{
	switch (type) {
	case VALU_none:
	case VALU_mask:
		return 0;
	case VALU_u64:
	case VALU_i64:
	case VALU_f64:
	case VALU_p32:
		return 64;
	case VALU_u16:
	case VALU_i16:
	case VALU_f16:
	case VALU_h16:
		return 16;
	default:
		return 32;
	}
}

static void run_plain(struct gcn_wave *w, const struct gcn_inst *i);
static void run_any(struct gcn_wave *w, const struct gcn_inst *i);

bool valu_writes_mask(const struct gcn_inst *i)
{
	const struct gcn_valu *v = find_valu(i);

	return v && v->flags & VALU_CARRY_OUT;
}

const char *valu_name(const struct gcn_inst *i)
{
	const char *name = NULL;

	if (i->valu)
		return i->valu->name;
	valu_special(i, &name);
	return name;
}

/* Whether all operands are 32-bit registers and constants without modifiers. */
static bool is_simple(const struct gcn_inst *i, const struct gcn_valu *v)
{
	if (i->ext || i->neg || i->abs || i->omod || i->clamp || i->op_sel || i->enc == GCN_VOP3P)
		return false;
	if (v->flags & (VALU_KEEP_HI | VALU_ACC_HI | VALU_NO_DENORM))
		return false;
	for (unsigned int n = 0; n < 3; n++) {
		if (width(v->src[n]) == 64 || (width(v->src[n]) == 16 && i->src[n] < GCN_SRC_VGPR))
			return false;
	}
	return width(v->dst) != 64;
}

static bool is_aligned(const struct gcn_inst *i, const struct gcn_valu *v)
{
	unsigned int odd = width(v->dst) == 64 ? i->dst : 0;

	for (unsigned int n = 0; n < 3; n++)
		odd |= width(v->src[n]) == 64 && i->src[n] >= GCN_SRC_VGPR ? i->src[n] : 0;
	return !(odd & 1);
}

void valu_bind(struct gcn_inst *i)
{
	const struct gcn_valu *v = find_valu(i);
	const char *name;
	gcn_fn *special = valu_special(i, &name);

	if (special || !v) {
		i->run = special && !i->ext ? special : gcn_run_illegal;
		return;
	}
	i->valu = v;
	if (v->flags & VALU_ACC)
		i->src[2] = i->dst + GCN_SRC_VGPR;
	for (unsigned int n = 0; n < 3; n++) {
		if (v->src[n] == VALU_none)
			i->src[n] = GCN_SRC_NONE;
	}
	i->simple = is_simple(i, v);
	i->run = i->simple ? run_plain : run_any;
	if (gcn_archs[i->arch].even && !is_aligned(i, v))
		i->run = gcn_run_misaligned;
}

/* The masks that it reads: VCC in the short form, a pair of scalar registers in the long one. */
static uint64_t mask_in(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int flags)
{
	if (flags & VALU_VCC_IN)
		return gcn_get64(w, GCN_REG_VCC);
	if (!(flags & VALU_CARRY_IN))
		return 0;
	if (i->src[2] < 128)
		return gcn_get64(w, i->src[2]);
	if (i->src[2] < GCN_SRC_VGPR)
		return gcn_src64(w, i, i->src[2]);
	return gcn_get64(w, GCN_REG_VCC);
}

static void mask_out(struct gcn_wave *w, const struct gcn_inst *i, const struct valu_args *a)
{
	unsigned int flags = i->valu->flags;
	uint64_t exec = gcn_exec(w);

	if (!(flags & (VALU_CARRY_OUT | VALU_COMPARE)))
		return;
	gcn_set64(w, i->sdst & 127, a->mask & exec);
	if (flags & VALU_CMPX)
		gcn_set64(w, GCN_REG_EXEC, a->mask & exec);
}

static void blend32(struct gcn_wave *w, uint32_t *to, const uint32_t *from)
{
	const uint32_t *m = gcn_mask(w);

	for (unsigned int l = 0; l < GCN_LANES; l++)
		to[l] ^= (to[l] ^ from[l]) & m[l];
}

static const void *plain_source(struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
				uint32_t *scratch)
{
	uint32_t v;

	if (i->src[n] >= GCN_SRC_VGPR)
		return i->src[n] == GCN_SRC_NONE ? scratch : w->vgpr[i->src[n] - GCN_SRC_VGPR];
	v = gcn_src32(w, i, i->src[n]);
	for (unsigned int l = 0; l < GCN_LANES; l++)
		scratch[l] = v;
	return scratch;
}

static void run_plain(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct gcn_valu *v = i->valu;
	gcn_row scratch[2], result;
	struct valu_args a;
	uint32_t *d = w->vgpr[i->dst];
	bool whole = gcn_exec(w) == UINT64_MAX;

	if (!w->fp_plain || w->idx_on) {
		run_any(w, i);
		return;
	}
	a.mask = mask_in(w, i, v->flags);
	a.s[0] = plain_source(w, i, 0, scratch[0]);
	a.s[1] = v->src[1] ? plain_source(w, i, 1, scratch[1]) : NULL;
	a.s[2] = NULL;
	if (width(v->src[2])) {
		/* there are two scalar operands at most, and src1's buffer is free unless it is one of them */
		uint32_t *free_row = i->src[1] < GCN_SRC_VGPR ? scratch[0] : scratch[1];

		if (i->src[2] < GCN_SRC_VGPR && i->src[1] < GCN_SRC_VGPR &&
		    i->src[0] < GCN_SRC_VGPR) {
			run_any(w, i);
			return;
		}
		a.s[2] = plain_source(w, i, 2, free_row);
	}
	a.clamp = 0;
	a.mode = w->mode;
	a.sel = 0;
	a.d = whole ? d : result;
	v->fn(&a);
	if (!whole && v->dst)
		blend32(w, d, result);
	mask_out(w, i, &a);
}

static void set_rounding(unsigned int round)
{
	static const int how[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	fesetround(how[round & 3]);
}

/* MODE's rounding for the type that is computed in: 1:0 for single precision, 3:2 for half and double */
static unsigned int rounding(const struct gcn_wave *w, const struct gcn_valu *v)
{
	unsigned int type = is_float(v->dst) ? v->dst : v->src[0];

	if (v->enc == GCN_VOP3P)
		return (v->dst == VALU_p32 ? w->mode : w->mode >> 2) & 3;
	if (!is_float(type))
		return 0;
	return (type == VALU_f32 ? w->mode : w->mode >> 2) & 3;
}

static void finish(struct gcn_wave *w, const struct gcn_inst *i, struct valu_args *a,
		   union valu_scratch *result)
{
	const struct gcn_valu *v = i->valu;
	unsigned int bits = width(v->dst), dst = i->dst;

	if (!v->dst)
		return;
	if (w->idx_on && w->idx_mode & 8)
		dst = (dst + (w->sgpr[GCN_REG_M0] & 255)) & 255;
	if (is_float(v->dst) && v->enc != GCN_VOP3P)
		valu_result(w, i, a->d, bits);
	if (bits == 64) {
		const uint64_t exec =
			gcn_exec(w) &
			(i->ext == GCN_EXT_DPP ? valu_dpp_mask(w, i, UINT64_MAX) : UINT64_MAX);

		for (unsigned int l = 0; l < GCN_LANES; l++) {
			if (!(exec >> l & 1))
				continue;
			w->vgpr[dst][l] = (uint32_t)result->u64[l];
			w->vgpr[dst + 1][l] = (uint32_t)(result->u64[l] >> 32);
		}
		return;
	}
	if (i->ext == GCN_EXT_SDWA) {
		valu_sdwa_result(i, result->u32, w->vgpr[dst]);
	} else if (v->flags & VALU_ACC_HI) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] |= w->vgpr[dst][l] & 0xffff;
	} else if (bits == 16 && i->op_sel & 8 && i->enc != GCN_VOP3P) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] = result->u32[l] << 16 | (w->vgpr[dst][l] & 0xffff);
	} else if (bits == 16 && v->flags & VALU_KEEP_HI) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			result->u32[l] = (result->u32[l] & 0xffff) | (w->vgpr[dst][l] & 0xffff0000);
	}
	if (i->ext == GCN_EXT_DPP)
		valu_dpp_keep(w, i, result->u32, w->vgpr[dst]);
	blend32(w, w->vgpr[dst], result->u32);
}

static void run_any(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct gcn_valu *v = i->valu;
	union valu_scratch scratch[3], result;
	struct valu_args a = { .d = &result, .clamp = i->clamp, .mode = w->mode };
	unsigned int round = w->fp_plain ? 0 : rounding(w, v);

	a.mask = mask_in(w, i, v->flags);
	for (unsigned int n = 0; n < 3; n++) {
		if (width(v->src[n]))
			valu_source(w, i, n, v->src[n], width(v->src[n]), &scratch[n]);
		a.s[n] = &scratch[n];
	}
	if (i->enc == GCN_VOP3P)
		a.sel = i->op_sel | (uint32_t)i->op_sel_hi << 3 | (uint32_t)i->neg << 6 |
			(uint32_t)i->neg_hi << 9 | (uint32_t)i->neg_hi << 12;
	if (round)
		set_rounding(round);
	v->fn(&a);
	if (round)
		set_rounding(0);
	finish(w, i, &a, &result);
	if (i->ext == GCN_EXT_DPP)
		a.mask = valu_dpp_mask(w, i, a.mask);
	mask_out(w, i, &a);
}
