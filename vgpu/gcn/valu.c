/* SPDX-License-Identifier: MIT */
/* valu.c - vector instructions: which functions run one, on this processor */
#include "valu.h"

#include <stddef.h>
#include <string.h>

#include "direct.h"
#include "rows.h"

#define ENC_OPS 1024

/* single-precision multiply-adds that are not fused: not on gfx942 */
enum { OP_MAC_F32 = 22, OP_MAD_LEGACY_F32 = 448, OP_MAD_F32 = 449 };

static struct {
	const struct gcn_valu *valu;
	const struct valu_direct *direct;
} by_op[GCN_ARCH_NR][GCN_ENC_NR][ENC_OPS];
static const struct row_kind *kind;
static enum gcn_processor most = GCN_AVX512;
static bool ready;

/* of direct handlers: there are less than half as many */
#define NAMES 512

/* The slot of a name: where it is, or would be. */
static unsigned int slot_of(const struct valu_direct *const *by_name, const char *name)
{
	unsigned int at = 0;

	for (const char *c = name; *c; c++)
		at = at * 31 + (unsigned char)*c;
	while (by_name[at % NAMES] && strcmp(by_name[at % NAMES]->name, name) != 0)
		at++;
	return at % NAMES;
}

static void add_names(const struct valu_direct **by_name)
{
	const struct valu_direct *d;

	for (unsigned int k = 0; k < sizeof(kind->direct) / sizeof(kind->direct[0]); k++) {
		for (unsigned int n = 0; (d = kind->direct[k](n)); n++)
			by_name[slot_of(by_name, d->name)] = d;
	}
}

static void add_tables(enum gcn_arch_id arch, const struct valu_table *const *t,
		       const struct valu_direct *const *by_name)
{
	for (unsigned int k = 0; t[k]; k++) {
		for (unsigned int n = 0; n < t[k]->nr; n++) {
			const struct gcn_valu *v = &t[k]->ops[n];

			by_op[arch][v->enc][v->op].valu = v;
			by_op[arch][v->enc][v->op].direct = by_name[slot_of(by_name, v->name)];
		}
	}
}

static const struct valu_table *const base[] = { &valu_int_base, &valu_f32_base, &valu_f16_base,
						 &valu_f64_base, &valu_cmp_base, NULL };
#if GCN_MOST >= 1
static const struct valu_table *const v3[] = { &valu_int_v3, &valu_f32_v3, &valu_f16_v3,
					       &valu_f64_v3, &valu_cmp_v3, NULL };
#endif
#if GCN_MOST >= 2
static const struct valu_table *const v4[] = { &valu_int_v4, &valu_f32_v4, &valu_f16_v4,
					       &valu_f64_v4, &valu_cmp_v4, NULL };
#endif

/* What the host's processor has. */
static enum gcn_processor processor(void)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
	    !__builtin_cpu_supports("bmi2"))
		return GCN_X86_64;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
	    !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
	    !__builtin_cpu_supports("avx512vl"))
		return GCN_AVX2;
	return GCN_AVX512;
}

static void init(void)
{
	enum gcn_processor p = processor();
	const struct valu_table *const *tables = base;
	const struct valu_table *of_gfx90a = &valu_gfx90a_base, *of_gfx942 = &valu_gfx942_base;
	const struct valu_direct *by_name[NAMES] = { NULL };

	if (p > most)
		p = most;
	kind = &rows_base;
#if GCN_MOST >= 1
	if (p >= GCN_AVX2) {
		kind = &rows_v3;
		tables = v3;
		of_gfx90a = &valu_gfx90a_v3;
		of_gfx942 = &valu_gfx942_v3;
	}
#endif
#if GCN_MOST >= 2
	if (p >= GCN_AVX512) {
		kind = &rows_v4;
		tables = v4;
		of_gfx90a = &valu_gfx90a_v4;
		of_gfx942 = &valu_gfx942_v4;
	}
#endif
	add_names(by_name);
	for (enum gcn_arch_id arch = 0; arch < GCN_ARCH_NR; arch++)
		add_tables(arch, tables, by_name);
	/* after the others: some of their opcodes are others' on earlier architectures */
	add_tables(GCN_GFX90A, (const struct valu_table *const[]){ of_gfx90a, NULL }, by_name);
	add_tables(GCN_GFX942, (const struct valu_table *const[]){ of_gfx90a, of_gfx942, NULL },
		   by_name);
	by_op[GCN_GFX942][GCN_VOP2][OP_MAC_F32].valu = NULL;
	by_op[GCN_GFX942][GCN_VOP3][OP_MAD_LEGACY_F32].valu = NULL;
	by_op[GCN_GFX942][GCN_VOP3][OP_MAD_F32].valu = NULL;
	ready = true;
}

bool valu_has_v3(void)
{
	return rows_kind() != &rows_base;
}

void gcn_processor(enum gcn_processor p)
{
	most = p;
	ready = false;
}

const struct row_kind *rows_kind(void)
{
	if (!ready)
		init();
	return kind;
}

static const struct gcn_valu *find_valu(const struct gcn_inst *i)
{
	if (!ready)
		init();
	return i->op < ENC_OPS ? by_op[i->arch][i->enc][i->op].valu : NULL;
}

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
		if (valu_width(v->src[n]) == 64 ||
		    (valu_width(v->src[n]) == 16 && i->src[n] < GCN_SRC_VGPR))
			return false;
	}
	return valu_width(v->dst) != 64;
}

/* Whether all operands are 32- or 64-bit registers and constants, with signs at most. */
static bool is_wide(const struct gcn_inst *i, const struct gcn_valu *v)
{
	if (i->ext || i->omod || i->clamp || i->op_sel || i->enc == GCN_VOP3P)
		return false;
	if (v->flags & (VALU_KEEP_HI | VALU_ACC_HI | VALU_NO_DENORM) || valu_width(v->dst) == 16)
		return false;
	for (unsigned int n = 0; n < 3; n++) {
		if (valu_width(v->src[n]) == 16)
			return false;
	}
	return true;
}

/* in VOP3 */
enum { OP_LSHLREV_B64 = 655 };

static bool is_shift_pair(const struct gcn_inst *i, const struct gcn_valu *v)
{
	return v->enc == GCN_VOP3 && v->op == OP_LSHLREV_B64 && is_wide(i, v) && !i->neg &&
	       !i->abs && i->src[0] < GCN_SRC_VGPR && i->src[1] >= GCN_SRC_VGPR;
}

static bool is_aligned(const struct gcn_inst *i, const struct gcn_valu *v)
{
	unsigned int odd = valu_width(v->dst) == 64 ? i->dst : 0;

	for (unsigned int n = 0; n < 3; n++)
		odd |= valu_width(v->src[n]) == 64 && i->src[n] >= GCN_SRC_VGPR ? i->src[n] : 0;
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
	i->class = valu_class(v->name);
	if (v->flags & VALU_ACC)
		i->src[2] = i->dst + GCN_SRC_VGPR;
	for (unsigned int n = 0; n < 3; n++) {
		if (v->src[n] == VALU_none)
			i->src[n] = GCN_SRC_NONE;
	}
	for (unsigned int n = 0; n < 3; n++) {
		if (valu_width(v->src[n]))
			i->reads |= (uint8_t)(GCN_READS << n);
		if (valu_width(v->src[n]) == 64)
			i->reads |= (uint8_t)(GCN_READS_64 << n);
	}
	if (valu_width(v->dst) == 64)
		i->reads |= GCN_WRITES_64;
	if (is_simple(i, v))
		i->run = v->run[VALU_ANY] ? v->run[VALU_ANY] : kind->plain;
	else if (is_shift_pair(i, v))
		i->run = kind->shift_pair;
	else
		i->run = is_wide(i, v) ? kind->wide : kind->any;
	if (gcn_archs[i->arch].even && !is_aligned(i, v))
		i->run = gcn_run_misaligned;
}

/* A constant becomes the instruction's `literal`. */
static enum valu_form find_form(struct gcn_inst *i)
{
	unsigned int code = i->src[0];

	for (unsigned int n = 1; n < 3; n++) {
		if (i->reads & GCN_READS << n && i->src[n] < GCN_SRC_VGPR)
			return VALU_ANY;
	}
	if (code >= GCN_SRC_VGPR)
		return code == GCN_SRC_NONE ? VALU_ANY : VALU_ROWS;
	if (code < 128 || code == GCN_SRC_LITERAL)
		return VALU_SCALAR;
	if (code >= GCN_SRC_VCCZ)
		return VALU_ANY;
	i->literal = gcn_const32[code - 128];
	return VALU_SCALAR;
}

/* DWORD: what SDWA selects if nothing of a register */
enum { SDWA_DWORD = 6, SDWA_SEXT = 0x08080000 };

/* The handler of direct.h, or NULL. */
static struct gcn_both find_form_direct(const struct gcn_inst *i)
{
	const struct valu_direct *d = by_op[i->arch][i->enc][i->op].direct;
	const struct gcn_both none = { NULL, NULL };
	unsigned int scalars = 0;

	if (!d || i->omod || i->clamp || i->op_sel || i->ext == GCN_EXT_DPP)
		return none;
	for (unsigned int n = 0; n < d->nr; n++)
		scalars |= (unsigned int)(i->src[n] < GCN_SRC_VGPR) << n;
	if (i->ext)
		return i->neg || i->abs || scalars || i->ext_word & SDWA_SEXT ||
				       (i->ext_word >> 8 & 7) != SDWA_DWORD ?
			       none :
			       d->sdwa;
	return i->neg || i->abs ? d->of_signs[scalars] : d->run[scalars];
}

void valu_bind_form(struct gcn_inst *i)
{
	const struct gcn_valu *v = i->valu;
	bool hot = v && v->run[VALU_ANY] && i->run == v->run[VALU_ANY];
	gcn_fn *direct = NULL;

	if (!v || i->enc == GCN_VOP3P)
		return;
	if (hot || i->run == kind->plain || i->run == kind->wide || i->run == kind->shift_pair ||
	    i->run == kind->any)
		direct = find_form_direct(i).run;
	if (direct)
		i->run = direct;
	else if (hot)
		i->run = v->run[find_form(i)];
}

gcn_step_fn *valu_step(const struct gcn_inst *i, enum gcn_leaves *what)
{
	struct gcn_both direct = { NULL, NULL };

	if (i->valu)
		direct = find_form_direct(i);
	if (direct.run != i->run)
		return NULL;
	*what = by_op[i->arch][i->enc][i->op].direct->leaves;
	return direct.step;
}
