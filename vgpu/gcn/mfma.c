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
 * Of a sparse A, and of the B with it, the steps of k are in halves if a lane has 8 elements of A:
 * its first four are of the first half. A lane's indices are those of its elements.
 *
 * EXEC is ignored. On gfx90a denormals of half floats and bfloat16, and of their results, are zero,
 * those of single and double precision are kept, and MODE is ignored. On gfx942 they are all kept,
 * but for A and B of single precision, where MODE decides. XF32 is single precision whose fraction
 * is rounded to 10 bits, to the nearest; the hardware's sums may have other roundings.
 */
#include "mfma.h"

#include <math.h>
#include <stddef.h>

#include "fp8.h"
#include "valu.h"
#include "valu_math.h"

/* MODE: denormal sources of single precision are kept */
#define MODE_KEEPS_DENORMS 0x10u

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

static unsigned int bits_of(const struct gcn_mfma *m)
{
	switch (m->type) {
	case MFMA_I8:
	case MFMA_F8:
		return 8;
	case MFMA_F16:
	case MFMA_BF16:
		return 16;
	default:
		return m->type == MFMA_F64 ? 64 : 32;
	}
}

/* denormals of the short types are zero */
static bool flushes(const struct gcn_inst *i)
{
	return i->arch == GCN_GFX90A && (i->mfma->type == MFMA_F16 || i->mfma->type == MFMA_BF16);
}

static uint32_t xf32(uint32_t v)
{
	bool number = (v & 0x7f800000) != 0x7f800000;

	return number ? (v + 0xfff + (v >> 13 & 1)) & ~0x1fffu : v;
}

/* Element `n` of a lane's part of A (source 0) or B: a float's or an integer's bits. */
static uint32_t element(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int source,
			unsigned int lane, unsigned int n)
{
	const struct gcn_mfma *m = i->mfma;
	unsigned int bits = bits_of(m), reg = i->src[source] - GCN_SRC_VGPR;
	uint32_t v = w->vgpr[reg + n * bits / 32][lane] >> n * bits % 32;

	switch (m->type) {
	case MFMA_F16:
		v &= 0xffff;
		return f32_bits(f16_from(flushes(i) ? flush_f16(v) : v));
	case MFMA_BF16:
		return flushes(i) ? flush_f32(v << 16) : v << 16;
	case MFMA_I8:
		return (uint32_t)(int32_t)(int8_t)v;
	case MFMA_F8:
		return f32_bits(fp8_to_f32(v & 255, m->bf8 >> source & 1 ? &fp8_e5m2 : &fp8_e4m3));
	case MFMA_XF32:
		return xf32(v);
	default:
		return i->arch != GCN_GFX90A && !(w->mode & MODE_KEEPS_DENORMS) ? flush_f32(v) : v;
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

				if (source && m->type != MFMA_F64)
					lane = b_lane(blgp(i), lane);
				if (m->type == MFMA_F64)
					to->f64[at] = element_f64(w, reg, lane);
				else
					to->i32[at] = (int32_t)element(w, i, source, lane,
								       k % m->per_lane);
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

/* Elements of A or B that a lane has of one half of k, and their number in the lane; k counts the
 * elements that there are. */
static unsigned int sparse_in_lane(const struct gcn_mfma *m, unsigned int per_half,
				   unsigned int nr_k, unsigned int k, unsigned int *n)
{
	unsigned int halves = m->per_lane / 4, of_half = nr_k / halves;

	*n = k / of_half * per_half + k % per_half;
	return k % of_half / per_half;
}

/* A's elements with the rows of B that they are multiplied with, and B. */
static void load_sparse(const struct gcn_wave *w, const struct gcn_inst *i, union mfma_in *a,
			uint8_t *at, union mfma_in *b)
{
	const struct gcn_mfma *m = i->mfma;
	unsigned int index = i->src[2] - GCN_SRC_VGPR, first = 0, n;

	/* a register has the indices of four, or two, instructions */
	if (!(cbsz(i) & 3))
		first = m->per_lane == 4 ? (abid(i) & 3) * 8 : (abid(i) & 1) * 16;
	for (unsigned int k = 0; k < m->k / 2u; k++) {
		unsigned int group = sparse_in_lane(m, 4, m->k / 2u, k, &n);

		for (unsigned int row = 0; row < m->size; row++) {
			unsigned int lane = row + m->size * group;
			uint32_t which = w->vgpr[index][lane] >> (first + 2 * n) & 3;

			a->i32[k * m->size + row] = (int32_t)element(w, i, 0, lane, n);
			at[k * m->size + row] = (uint8_t)(k / 2 * 4 + which);
		}
	}
	for (unsigned int k = 0; k < m->k; k++) {
		unsigned int group = sparse_in_lane(m, 8, m->k, k, &n);

		for (unsigned int l = 0; l < m->size; l++)
			b->i32[k * m->size + l] = (int32_t)element(w, i, 1, l + m->size * group, n);
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

/* NaNs as the other instructions give them. */
static void finish(const struct gcn_inst *i, union mfma_out *d)
{
	const struct gcn_mfma *m = i->mfma;

	for (unsigned int n = 0; n < nr_out(m) && m->type != MFMA_I8; n++) {
		if (m->type == MFMA_F64 && isnan(d->f64[n]))
			d->f64[n] = f64_from(0x7ff8000000000000);
		else if (m->type != MFMA_F64 && isnan(d->f32[n]))
			d->f32[n] = f32_from(0x7fc00000);
		else if (flushes(i))
			d->f32[n] = f32_from(flush_f32(f32_bits(d->f32[n])));
	}
}

static const struct mfma_math *math_of_host(void)
{
	return GCN_MOST >= GCN_AVX2 && valu_has_v3() ? &mfma_math_v3 : &mfma_math_base;
}

static void count(struct gcn_wave *w, const struct gcn_mfma *m)
{
	w->run->mfma[m->type]++;
	/* two for each product and sum */
	w->run->mfma_mops[m->type] += nr_out(m) * m->k * 2 / GCN_MFMA_MOPS;
	w->run->mfma_cycles += m->cycles;
}

/* gfx942: of doubles, bits of BLGP negate A, B and C. */
static void negate(const struct gcn_inst *i, union mfma_in *a, union mfma_in *b, union mfma_out *c)
{
	const struct gcn_mfma *m = i->mfma;
	unsigned int nr = m->size * m->k * m->blocks, bits = blgp(i);

	for (unsigned int n = 0; n < nr && bits & 3; n++) {
		a->f64[n] = bits & 1 ? -a->f64[n] : a->f64[n];
		b->f64[n] = bits & 2 ? -b->f64[n] : b->f64[n];
	}
	for (unsigned int n = 0; n < nr_out(m) && bits & 4; n++)
		c->f64[n] = -c->f64[n];
}

static void run(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct mfma_math *math = math_of_host();
	const struct gcn_mfma *m = i->mfma;
	union mfma_in a, b;
	union mfma_out d;

	load_in(w, i, 0, &a);
	load_in(w, i, 1, &b);
	if (i->src[2] >= GCN_SRC_VGPR)
		move_out(w, m, i->src[2] - GCN_SRC_VGPR, &d, false);
	else
		load_constant(w, i, &d);
	if (flushes(i)) {
		for (unsigned int n = 0; n < nr_out(m); n++)
			d.f32[n] = f32_from(flush_f32(f32_bits(d.f32[n])));
	}
	if (m->type == MFMA_F64) {
		negate(i, &a, &b, &d);
		math->f64(m, a.f64, b.f64, d.f64);
	} else if (m->type == MFMA_I8) {
		math->i32(m, a.i32, b.i32, d.i32);
	} else {
		math->f32(m, a.f32, b.f32, d.f32);
	}
	finish(i, &d);
	move_out(w, m, i->dst, &d, true);
	count(w, m);
}

/* D is C, too. */
static void run_sparse(struct gcn_wave *w, const struct gcn_inst *i)
{
	const struct mfma_math *math = math_of_host();
	const struct gcn_mfma *m = i->mfma;
	uint8_t at[32 * 16];
	union mfma_in a, b;
	union mfma_out d;

	load_sparse(w, i, &a, at, &b);
	move_out(w, m, i->dst, &d, false);
	if (m->type == MFMA_I8)
		math->sparse_i32(m, a.i32, at, b.i32, d.i32);
	else
		math->sparse_f32(m, a.f32, at, b.f32, d.f32);
	finish(i, &d);
	move_out(w, m, i->dst, &d, true);
	count(w, m);
}

static bool is_aligned(const struct gcn_inst *i)
{
	const struct gcn_mfma *m = i->mfma;
	/* C and D are never a single register */
	unsigned int odd = i->dst | (i->src[2] >= GCN_SRC_VGPR && !m->sparse ? i->src[2] : 0);

	if (m->per_lane * bits_of(m) > 32)
		odd |= i->src[0] | i->src[1];
	return !(odd & 1);
}

static const struct gcn_mfma *find(const struct gcn_inst *i)
{
	const struct mfma_table *t = i->arch == GCN_GFX942 ? &mfma_gfx942 : &mfma_gfx90a;

	for (unsigned int n = 0; n < t->nr; n++) {
		if (t->ops[n].op == i->op)
			return &t->ops[n];
	}
	return NULL;
}

bool mfma_is_sparse(const struct gcn_inst *i)
{
	const struct gcn_mfma *m = find(i);

	return m && m->sparse;
}

/* an instruction has one or the other, and its name is read without knowing which */
_Static_assert(!offsetof(struct gcn_mfma, name) && !offsetof(struct gcn_valu, name),
	       "names come first");

static bool is_register(unsigned int code)
{
	return code >= GCN_SRC_VGPR;
}

void mfma_bind(struct gcn_inst *i)
{
	const struct gcn_mfma *m = i->mfma = find(i);

	i->run = gcn_run_illegal;
	/* A, B and indices are registers, C may be a constant */
	if (!m || !is_register(i->src[0]) || !is_register(i->src[1]) ||
	    (m->sparse ? !is_register(i->src[2]) : i->src[2] < 128) ||
	    (i->src[2] > 248 && !is_register(i->src[2])))
		return;
	i->run = !is_aligned(i) ? gcn_run_misaligned : m->sparse ? run_sparse : run;
	/* what they do there is not documented */
	if (m->type == MFMA_F64 && (cbsz(i) || abid(i) || (blgp(i) && i->arch == GCN_GFX90A)))
		i->run = gcn_run_unimplemented;
	if (!m->sparse && 1u << cbsz(i) > m->blocks)
		i->run = gcn_run_illegal;
}
