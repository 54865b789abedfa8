/* SPDX-License-Identifier: MIT */
/* mfma.c - matrix instructions: which lanes and registers hold which elements
 *
 * With g = 64 / size groups of lanes, which are blocks or steps of k:
 *
 *     A, B   row or column in lane % size; block and k / per_lane in the lane's group; k % per_lane
 *            in the lane's registers
 *     C, D   column in lane % size; four rows after each other in a lane's registers, the next four
 *            in the next group; blocks after each other in the registers. Blocks of 4 x 4 are the
 *            groups themselves. Of doubles a lane holds every fourth row.
 *
 * EXEC is ignored. Denormals of half floats and bfloat16, and of their results, are zero, as on
 * MI200; those of single and double precision are kept. MODE is ignored.
 */
#include "mfma.h"

#include <math.h>
#include <stddef.h>

#include "valu.h"
#include "valu_math.h"

static const struct gcn_mfma table[] = {
	{ "v_mfma_f32_32x32x1f32", 64, MFMA_F32, 32, 1, 2, 1, 64 },
	{ "v_mfma_f32_16x16x1f32", 65, MFMA_F32, 16, 1, 4, 1, 32 },
	{ "v_mfma_f32_4x4x1f32", 66, MFMA_F32, 4, 1, 16, 1, 8 },
	{ "v_mfma_f32_32x32x2f32", 68, MFMA_F32, 32, 2, 1, 1, 64 },
	{ "v_mfma_f32_16x16x4f32", 69, MFMA_F32, 16, 4, 1, 1, 32 },
	{ "v_mfma_f32_32x32x4f16", 72, MFMA_F16, 32, 4, 2, 4, 64 },
	{ "v_mfma_f32_16x16x4f16", 73, MFMA_F16, 16, 4, 4, 4, 32 },
	{ "v_mfma_f32_4x4x4f16", 74, MFMA_F16, 4, 4, 16, 4, 8 },
	{ "v_mfma_f32_32x32x8f16", 76, MFMA_F16, 32, 8, 1, 4, 64 },
	{ "v_mfma_f32_16x16x16f16", 77, MFMA_F16, 16, 16, 1, 4, 32 },
	{ "v_mfma_i32_32x32x4i8", 80, MFMA_I8, 32, 4, 2, 4, 64 },
	{ "v_mfma_i32_16x16x4i8", 81, MFMA_I8, 16, 4, 4, 4, 32 },
	{ "v_mfma_i32_4x4x4i8", 82, MFMA_I8, 4, 4, 16, 4, 8 },
	{ "v_mfma_i32_32x32x8i8", 84, MFMA_I8, 32, 8, 1, 4, 64 },
	{ "v_mfma_i32_16x16x16i8", 85, MFMA_I8, 16, 16, 1, 4, 32 },
	{ "v_mfma_f32_32x32x4bf16_1k", 99, MFMA_BF16, 32, 4, 2, 4, 64 },
	{ "v_mfma_f32_16x16x4bf16_1k", 100, MFMA_BF16, 16, 4, 4, 4, 32 },
	{ "v_mfma_f32_4x4x4bf16_1k", 101, MFMA_BF16, 4, 4, 16, 4, 8 },
	{ "v_mfma_f32_32x32x8bf16_1k", 102, MFMA_BF16, 32, 8, 1, 4, 64 },
	{ "v_mfma_f32_16x16x16bf16_1k", 103, MFMA_BF16, 16, 16, 1, 4, 32 },
	{ "v_mfma_f32_32x32x2bf16", 104, MFMA_BF16, 32, 2, 2, 2, 64 },
	{ "v_mfma_f32_16x16x2bf16", 105, MFMA_BF16, 16, 2, 4, 2, 32 },
	{ "v_mfma_f32_4x4x2bf16", 107, MFMA_BF16, 4, 2, 16, 2, 8 },
	{ "v_mfma_f32_32x32x4bf16", 108, MFMA_BF16, 32, 4, 1, 2, 64 },
	{ "v_mfma_f32_16x16x8bf16", 109, MFMA_BF16, 16, 8, 1, 2, 32 },
	{ "v_mfma_f64_16x16x4f64", 110, MFMA_F64, 16, 4, 1, 1, 32 },
	{ "v_mfma_f64_4x4x4f64", 111, MFMA_F64, 4, 4, 4, 1, 16 },
};

static unsigned int cbsz(const struct gcn_inst *i)
{
	return i->word[0] >> 8 & 7;
}

static unsigned int abid(const struct gcn_inst *i)
{
	return i->word[0] >> 11 & 15;
}

static unsigned int blgp(const struct gcn_inst *i)
{
	return i->word[1] >> 29;
}

/* The lane whose B lane l uses. */
static unsigned int b_lane(unsigned int pattern, unsigned int l)
{
	switch (pattern) {
	case 0:
		return l;
	case 1:
	case 2:
		return l % 32 + (pattern - 1) * 32;
	case 3:
		return (l + 16) % 64;
	default:
		return l % 16 + (pattern - 4) * 16;
	}
}

/* The block whose A a block uses. */
static unsigned int a_block(const struct gcn_inst *i, unsigned int block)
{
	unsigned int group = 1u << cbsz(i);

	return (block & ~(group - 1)) + abid(i) % group;
}

static unsigned int in_lane(const struct gcn_mfma *m, unsigned int block, unsigned int k,
			    unsigned int at)
{
	return at + m->size * (block + m->blocks * (k / m->per_lane));
}

/* Element `n` of a lane's part of A or B: a float's, a double's or an integer's bits. */
static uint32_t element(const struct gcn_wave *w, const struct gcn_mfma *m, unsigned int reg,
			unsigned int lane, unsigned int n)
{
	unsigned int bits = m->type == MFMA_F32 ? 32 : m->type == MFMA_I8 ? 8 : 16;
	uint32_t v = w->vgpr[reg + n * bits / 32][lane] >> n * bits % 32;

	switch (m->type) {
	case MFMA_F16:
		return f32_bits(f16_from(flush_f16(v & 0xffff)));
	case MFMA_BF16:
		return flush_f32(v << 16);
	case MFMA_I8:
		return (uint32_t)(int32_t)(int8_t)v;
	default:
		return v;
	}
}

static double element_f64(const struct gcn_wave *w, unsigned int reg, unsigned int lane)
{
	return f64_from(w->vgpr[reg][lane] | (uint64_t)w->vgpr[reg + 1][lane] << 32);
}

static void load_in(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int source,
		    union mfma_in *to)
{
	const struct gcn_mfma *m = i->mfma;
	unsigned int reg = i->src[source] - GCN_SRC_VGPR, at = 0;

	for (unsigned int n = 0; n < m->blocks; n++) {
		unsigned int block = source ? n : a_block(i, n) % m->blocks;

		for (unsigned int k = 0; k < m->k; k++) {
			for (unsigned int row = 0; row < m->size; row++, at++) {
				unsigned int lane = in_lane(m, block, k, row);

				if (source)
					lane = b_lane(blgp(i), lane);
				if (m->type == MFMA_F64)
					to->f64[at] = element_f64(w, reg, lane);
				else
					to->i32[at] =
						(int32_t)element(w, m, reg, lane, k % m->per_lane);
			}
		}
	}
}

/* Where an element of C and D is: its lane, and its register counted in elements. */
static unsigned int out_at(const struct gcn_mfma *m, unsigned int block, unsigned int row,
			   unsigned int column, unsigned int *reg)
{
	unsigned int groups = 64 / m->size;

	if (m->type == MFMA_F64) {
		*reg = m->size == 4 ? 0 : row / 4;
		return m->size == 4 ? column + 4 * block + 16 * row : column + 16 * (row % 4);
	}
	if (m->size == 4) {
		*reg = row;
		return column + 4 * block;
	}
	*reg = block * (m->size / groups) + row / 4 / groups * 4 + row % 4;
	return column + m->size * (row / 4 % groups);
}

static void move_out(struct gcn_wave *w, const struct gcn_mfma *m, unsigned int first,
		     union mfma_out *d, bool write)
{
	unsigned int at = 0, reg;

	for (unsigned int n = 0; n < m->blocks; n++) {
		for (unsigned int row = 0; row < m->size; row++) {
			for (unsigned int column = 0; column < m->size; column++, at++) {
				unsigned int l = out_at(m, n, row, column, &reg);
				bool wide = m->type == MFMA_F64;
				uint32_t *v = &w->vgpr[first + reg * (1 + wide)][l];

				if (wide && write) {
					v[0] = (uint32_t)f64_bits(d->f64[at]);
					v[GCN_LANES] = (uint32_t)(f64_bits(d->f64[at]) >> 32);
				} else if (wide) {
					d->f64[at] = f64_from(v[0] | (uint64_t)v[GCN_LANES] << 32);
				} else if (write) {
					*v = (uint32_t)d->i32[at];
				} else {
					d->i32[at] = (int32_t)*v;
				}
			}
		}
	}
}

static unsigned int nr_out(const struct gcn_mfma *m)
{
	return m->size * m->size * m->blocks;
}

static void load_constant(const struct gcn_wave *w, const struct gcn_inst *i, union mfma_out *d)
{
	for (unsigned int n = 0; n < nr_out(i->mfma); n++) {
		if (i->mfma->type == MFMA_F64)
			d->f64[n] = f64_from(gcn_src64(w, i, i->src[2]));
		else
			d->i32[n] = (int32_t)gcn_src32(w, i, i->src[2]);
	}
}

/* NaNs as the other instructions give them; denormals of the short types are zero. */
static void finish(const struct gcn_mfma *m, union mfma_out *d)
{
	for (unsigned int n = 0; n < nr_out(m) && m->type != MFMA_I8; n++) {
		if (m->type == MFMA_F64 && isnan(d->f64[n]))
			d->f64[n] = f64_from(0x7ff8000000000000);
		else if (m->type != MFMA_F64 && isnan(d->f32[n]))
			d->f32[n] = f32_from(0x7fc00000);
		else if (m->type == MFMA_F16 || m->type == MFMA_BF16)
			d->f32[n] = f32_from(flush_f32(f32_bits(d->f32[n])));
	}
}

static void run(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct mfma_math *math = GCN_MOST >= GCN_AVX2 && valu_has_v3() ? &mfma_math_v3 :
									       &mfma_math_base;
	const struct gcn_mfma *m = i->mfma;
	union mfma_in a, b;
	union mfma_out d;

	load_in(w, i, 0, &a);
	load_in(w, i, 1, &b);
	if (i->src[2] >= GCN_SRC_VGPR)
		move_out(w, m, i->src[2] - GCN_SRC_VGPR, &d, false);
	else
		load_constant(w, i, &d);
	if (m->type == MFMA_F16 || m->type == MFMA_BF16) {
		for (unsigned int n = 0; n < nr_out(m); n++)
			d.f32[n] = f32_from(flush_f32(f32_bits(d.f32[n])));
	}
	if (m->type == MFMA_F64)
		math->f64(m, a.f64, b.f64, d.f64);
	else if (m->type == MFMA_I8)
		math->i32(m, a.i32, b.i32, d.i32);
	else
		math->f32(m, a.f32, b.f32, d.f32);
	finish(m, &d);
	move_out(w, m, i->dst, &d, true);
	w->run->mfma[m->type]++;
	/* two for each product and sum */
	w->run->mfma_mops[m->type] += nr_out(m) * m->k * 2 / GCN_MFMA_MOPS;
	w->run->mfma_cycles += m->cycles;
}

static bool is_aligned(const struct gcn_mfma *m, const struct gcn_inst *i)
{
	unsigned int odd = i->dst | (i->src[2] >= GCN_SRC_VGPR ? i->src[2] : 0);

	/* C and D are never a single register */
	if (m->type == MFMA_F64 || (m->per_lane == 4 && m->type != MFMA_I8))
		odd |= i->src[0] | i->src[1];
	return !(odd & 1);
}

/* an instruction has one or the other, and its name is read without knowing which */
_Static_assert(!offsetof(struct gcn_mfma, name) && !offsetof(struct gcn_valu, name),
	       "names come first");

void mfma_bind(struct gcn_inst *i)
{
	i->run = gcn_run_illegal;
	for (unsigned int n = 0; n < sizeof(table) / sizeof(table[0]); n++) {
		if (table[n].op == i->op)
			i->mfma = &table[n];
	}
	/* A and B are registers, C may be a constant */
	if (!i->mfma || i->src[0] < GCN_SRC_VGPR || i->src[1] < GCN_SRC_VGPR || i->src[2] < 128 ||
	    (i->src[2] > 248 && i->src[2] < GCN_SRC_VGPR))
		return;
	i->run = is_aligned(i->mfma, i) ? run : gcn_run_misaligned;
	/* what they do there is not documented */
	if (i->mfma->type == MFMA_F64 && (cbsz(i) || abid(i) || blgp(i)))
		i->run = gcn_run_unimplemented;
	if (1u << cbsz(i) > i->mfma->blocks)
		i->run = gcn_run_illegal;
}
