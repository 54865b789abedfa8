/* SPDX-License-Identifier: MIT */
/* ds.c - LDS: loads, stores, atomics, and the exchange of values between lanes
 *
 * The sum of address and offset has 32 bits: compilers fold a negative address into the offset.
 */
#include <stddef.h>

#include "memory.h"

static const uint32_t *address_row(const struct gcn_wave *w, const struct gcn_inst *i)
{
	return w->vgpr[i->src[0] - GCN_SRC_VGPR];
}

static unsigned int data_reg(const struct gcn_inst *i, unsigned int n)
{
	return i->src[1 + n] - GCN_SRC_VGPR;
}

static void load(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		 enum memory_form form)
{
	const uint32_t *addr = address_row(w, i);
	static const unsigned char zero[16];
	uint32_t from[GCN_LANES];

	/* the address register may be one of the destinations */
	memcpy(from, addr, sizeof(from));
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		const void *p = memory_lds(w, from[l] + (uint32_t)i->imm, bytes);

		memory_to_regs(w, i->dst, l, p ? p : zero, bytes, form);
	}
}

static void store(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		  enum memory_form form)
{
	const uint32_t *addr = address_row(w, i);

	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		void *p = memory_lds(w, addr[l] + (uint32_t)i->imm, bytes);

		if (p)
			memory_from_regs(w, data_reg(i, 0), l, p, bytes, form);
	}
}

/* The offset of the n-th of two accesses; `scale` is the unit of the 8-bit offsets. */
static uint32_t offset_of(const struct gcn_inst *i, unsigned int n, unsigned int scale)
{
	return ((uint32_t)i->imm >> (8 * n) & 255) * scale;
}

static void load2(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		  unsigned int scale)
{
	static const unsigned char zero[8];
	uint32_t from[GCN_LANES];

	memcpy(from, address_row(w, i), sizeof(from));
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);

		for (unsigned int n = 0; n < 2; n++) {
			const void *p = memory_lds(w, from[l] + offset_of(i, n, scale), bytes);

			memory_to_regs(w, i->dst + n * bytes / 4, l, p ? p : zero, bytes,
				       MEMORY_PLAIN);
		}
	}
}

static void store2(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		   unsigned int scale)
{
	const uint32_t *addr = address_row(w, i);

	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);

		for (unsigned int n = 0; n < 2; n++) {
			void *p = memory_lds(w, addr[l] + offset_of(i, n, scale), bytes);

			if (p)
				memory_from_regs(w, data_reg(i, n), l, p, bytes, MEMORY_PLAIN);
		}
	}
}

static uint64_t data_of(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int n,
			unsigned int lane, unsigned int bytes)
{
	unsigned int reg = data_reg(i, n);
	uint64_t v = w->vgpr[reg][lane];

	return bytes == 8 ? v | (uint64_t)w->vgpr[reg + 1][lane] << 32 : v;
}

static uint64_t atomic_lane(void *p, enum atomic_op op, uint64_t data, uint64_t data2,
			    unsigned int bytes)
{
	if (bytes == 8)
		return atomic_local64(p, op, data, data2);
	return atomic_local32(p, op, (uint32_t)data, (uint32_t)data2);
}

static void put_old(struct gcn_wave *w, unsigned int reg, unsigned int lane, uint64_t old,
		    unsigned int bytes)
{
	w->vgpr[reg][lane] = (uint32_t)old;
	if (bytes == 8)
		w->vgpr[reg + 1][lane] = (uint32_t)(old >> 32);
}

/* What histograms do. */
static void add(struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *addr = address_row(w, i), *data = w->vgpr[data_reg(i, 0)];

	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint32_t offset = addr[l] + (uint32_t)i->imm;
		uint32_t *p = offset % 4 ? NULL : memory_lds(w, offset, 4);

		if (p)
			*p += data[l];
	}
}

/* In the order of lanes. A misaligned address is out of range. */
static void atomic(struct gcn_wave *w, const struct gcn_inst *i, enum atomic_op op,
		   unsigned int bytes, bool returns)
{
	bool swapped = op == ATOMIC_CMPSWAP || op == ATOMIC_CMPSWAP_F;
	uint32_t from[GCN_LANES];

	if (op == ATOMIC_ADD && bytes == 4 && !returns) {
		add(w, i);
		return;
	}

	memcpy(from, address_row(w, i), sizeof(from));
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint32_t offset = from[l] + (uint32_t)i->imm;
		uint64_t old = 0;
		void *p = offset % bytes ? NULL : memory_lds(w, offset, bytes);
		/* the value to compare with comes first here */
		uint64_t data = data_of(w, i, swapped ? 1 : 0, l, bytes);
		uint64_t data2 = data_of(w, i, swapped ? 0 : 1, l, bytes);

		if (p)
			old = atomic_lane(p, op, data, data2, bytes);
		if (returns)
			put_old(w, i->dst, l, old, bytes);
	}
}

static void exchange2(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		      unsigned int scale)
{
	uint32_t from[GCN_LANES];

	memcpy(from, address_row(w, i), sizeof(from));
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint64_t data[2] = { data_of(w, i, 0, l, bytes), data_of(w, i, 1, l, bytes) };

		for (unsigned int n = 0; n < 2; n++) {
			uint32_t offset = from[l] + offset_of(i, n, scale);
			void *p = offset % bytes ? NULL : memory_lds(w, offset, bytes);
			uint64_t old = p ? atomic_lane(p, ATOMIC_SWAP, data[n], 0, bytes) : 0;

			put_old(w, i->dst + n * bytes / 4, l, old, bytes);
		}
	}
}

#define LOAD(name, bytes, form)                                                                    \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		load(w, i, bytes, form);                                                           \
	}
#define STORE(name, bytes, form)                                                                   \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		store(w, i, bytes, form);                                                          \
	}
#define TWO(name, what, bytes, scale)                                                              \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		what(w, i, bytes, scale);                                                          \
	}
#define ATOMIC(name, type, op, bytes)                                                              \
	static void ds_##name##_##type(struct gcn_wave *w, const struct gcn_inst *i)               \
	{                                                                                          \
		atomic(w, i, op, bytes, false);                                                    \
	}                                                                                          \
	static void ds_##name##_rtn_##type(struct gcn_wave *w, const struct gcn_inst *i)           \
	{                                                                                          \
		atomic(w, i, op, bytes, true);                                                     \
	}
#define ATOMIC_RTN(name, op, bytes)                                                                \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		atomic(w, i, op, bytes, true);                                                     \
	}

ATOMIC(add, u32, ATOMIC_ADD, 4)
ATOMIC(sub, u32, ATOMIC_SUB, 4)
ATOMIC(rsub, u32, ATOMIC_RSUB, 4)
ATOMIC(inc, u32, ATOMIC_INC, 4)
ATOMIC(dec, u32, ATOMIC_DEC, 4)
ATOMIC(min, i32, ATOMIC_SMIN, 4)
ATOMIC(max, i32, ATOMIC_SMAX, 4)
ATOMIC(min, u32, ATOMIC_UMIN, 4)
ATOMIC(max, u32, ATOMIC_UMAX, 4)
ATOMIC(and, b32, ATOMIC_AND, 4)
ATOMIC(or, b32, ATOMIC_OR, 4)
ATOMIC(xor, b32, ATOMIC_XOR, 4)
ATOMIC(mskor, b32, ATOMIC_MSKOR, 4)
ATOMIC(cmpst, b32, ATOMIC_CMPSWAP, 4)
ATOMIC(cmpst, f32, ATOMIC_CMPSWAP_F, 4)
ATOMIC(min, f32, ATOMIC_MIN_F, 4)
ATOMIC(max, f32, ATOMIC_MAX_F, 4)
ATOMIC(add, f32, ATOMIC_ADD_F, 4)
ATOMIC(pk_add, f16, ATOMIC_PK_ADD_F16, 4)
ATOMIC(pk_add, bf16, ATOMIC_PK_ADD_BF16, 4)
ATOMIC(add, u64, ATOMIC_ADD, 8)
ATOMIC(sub, u64, ATOMIC_SUB, 8)
ATOMIC(rsub, u64, ATOMIC_RSUB, 8)
ATOMIC(inc, u64, ATOMIC_INC, 8)
ATOMIC(dec, u64, ATOMIC_DEC, 8)
ATOMIC(min, i64, ATOMIC_SMIN, 8)
ATOMIC(max, i64, ATOMIC_SMAX, 8)
ATOMIC(min, u64, ATOMIC_UMIN, 8)
ATOMIC(max, u64, ATOMIC_UMAX, 8)
ATOMIC(and, b64, ATOMIC_AND, 8)
ATOMIC(or, b64, ATOMIC_OR, 8)
ATOMIC(xor, b64, ATOMIC_XOR, 8)
ATOMIC(mskor, b64, ATOMIC_MSKOR, 8)
ATOMIC(cmpst, b64, ATOMIC_CMPSWAP, 8)
ATOMIC(cmpst, f64, ATOMIC_CMPSWAP_F, 8)
ATOMIC(add, f64, ATOMIC_ADD_F, 8)
ATOMIC(min, f64, ATOMIC_MIN_F, 8)
ATOMIC(max, f64, ATOMIC_MAX_F, 8)
ATOMIC_RTN(ds_wrxchg_rtn_b32, ATOMIC_SWAP, 4)
ATOMIC_RTN(ds_wrxchg_rtn_b64, ATOMIC_SWAP, 8)
ATOMIC_RTN(ds_wrap_rtn_b32, ATOMIC_WRAP, 4)
TWO(ds_wrxchg2_rtn_b32, exchange2, 4, 4)
TWO(ds_wrxchg2st64_rtn_b32, exchange2, 4, 256)
TWO(ds_wrxchg2_rtn_b64, exchange2, 8, 8)
TWO(ds_wrxchg2st64_rtn_b64, exchange2, 8, 512)
TWO(ds_write2_b32, store2, 4, 4)
TWO(ds_write2st64_b32, store2, 4, 256)
TWO(ds_write2_b64, store2, 8, 8)
TWO(ds_write2st64_b64, store2, 8, 512)
TWO(ds_read2_b32, load2, 4, 4)
TWO(ds_read2st64_b32, load2, 4, 256)
TWO(ds_read2_b64, load2, 8, 8)
TWO(ds_read2st64_b64, load2, 8, 512)
STORE(ds_write_b32, 4, MEMORY_PLAIN)
STORE(ds_write_b8, 1, MEMORY_U8)
STORE(ds_write_b16, 2, MEMORY_U16)
STORE(ds_write_b64, 8, MEMORY_PLAIN)
STORE(ds_write_b8_d16_hi, 1, MEMORY_U8_HI)
STORE(ds_write_b16_d16_hi, 2, MEMORY_16_HI)
STORE(ds_write_b96, 12, MEMORY_PLAIN)
STORE(ds_write_b128, 16, MEMORY_PLAIN)
LOAD(ds_read_b32, 4, MEMORY_PLAIN)
LOAD(ds_read_i8, 1, MEMORY_I8)
LOAD(ds_read_u8, 1, MEMORY_U8)
LOAD(ds_read_i16, 2, MEMORY_I16)
LOAD(ds_read_u16, 2, MEMORY_U16)
LOAD(ds_read_b64, 8, MEMORY_PLAIN)
LOAD(ds_read_u8_d16, 1, MEMORY_U8_LO)
LOAD(ds_read_u8_d16_hi, 1, MEMORY_U8_HI)
LOAD(ds_read_i8_d16, 1, MEMORY_I8_LO)
LOAD(ds_read_i8_d16_hi, 1, MEMORY_I8_HI)
LOAD(ds_read_u16_d16, 2, MEMORY_16_LO)
LOAD(ds_read_u16_d16_hi, 2, MEMORY_16_HI)
LOAD(ds_read_b96, 12, MEMORY_PLAIN)
LOAD(ds_read_b128, 16, MEMORY_PLAIN)

/* The lane that lane l reads: with bit 15 any lane of its quad, else by masks within 32 lanes. */
static unsigned int swizzle_lane(uint32_t pattern, unsigned int l)
{
	if (pattern & 0x8000)
		return (l & ~3u) | (pattern >> (l & 3) * 2 & 3);
	return (l & ~31u) | ((((l & pattern) | pattern >> 5) ^ pattern >> 10) & 31);
}

static void ds_swizzle_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t exec = gcn_exec(w);
	gcn_row from;

	memcpy(from, address_row(w, i), sizeof(from));
	for (uint64_t left = exec; left;) {
		unsigned int l = memory_next(&left);
		unsigned int lane = swizzle_lane((uint32_t)i->imm, l);

		w->vgpr[i->dst][l] = exec >> lane & 1 ? from[lane] : 0;
	}
}

/* Each active lane sends its value to a lane; of several the highest wins, and a lane that gets
 * none is set to 0. */
static void ds_permute_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *to = address_row(w, i), *data = w->vgpr[data_reg(i, 0)];
	uint64_t exec = gcn_exec(w);
	gcn_row got = { 0 };

	for (uint64_t left = exec; left;) {
		unsigned int l = memory_next(&left);

		got[(to[l] + (uint32_t)i->imm) / 4 & 63] = data[l];
	}
	for (uint64_t left = exec; left;) {
		unsigned int l = memory_next(&left);

		w->vgpr[i->dst][l] = got[l];
	}
}

/* Each active lane reads the value of a lane; an inactive one gives 0. */
static void ds_bpermute_b32(struct gcn_wave *w, const struct gcn_inst *i)
{
	uint64_t exec = gcn_exec(w);
	gcn_row at, from;

	memcpy(at, address_row(w, i), sizeof(at));
	memcpy(from, w->vgpr[data_reg(i, 0)], sizeof(from));
	for (uint64_t left = exec; left;) {
		unsigned int l = memory_next(&left);
		unsigned int lane = (at[l] + (uint32_t)i->imm) / 4 & 63;

		w->vgpr[i->dst][l] = exec >> lane & 1 ? from[lane] : 0;
	}
}

static void ds_nop(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

/* Barriers of the whole dispatch, one wave of each workgroup. The count comes with each, so that
 * the one of ds_gws_init is not needed. */
static void ds_gws_init(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

/* A wave that has to wait executes it again in its next turn. */
static void ds_gws_barrier(struct gcn_wave *w, const struct gcn_inst *i)
{
	struct gcn_run *lead = w->run->lead;
	uint64_t exec = gcn_exec(w);
	uint32_t all = exec ? address_row(w, i)[__builtin_ctzll(exec)] : 0;

	if (!w->gws_waits) {
		w->gws_passed = __atomic_load_n(&lead->gws_passed, __ATOMIC_RELAXED);
		w->gws_waits = true;
		/* both ends of the order: what each wave did before is visible to all behind the
		 * barrier */
		if (__atomic_fetch_add(&lead->gws_arrived, 1, __ATOMIC_ACQ_REL) == all) {
			__atomic_store_n(&lead->gws_arrived, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&lead->gws_passed, w->gws_passed + 1, __ATOMIC_RELEASE);
		}
	}
	w->gws_waits = __atomic_load_n(&lead->gws_passed, __ATOMIC_ACQUIRE) == w->gws_passed;
	if (w->gws_waits) {
		w->pc -= i->nr_words * 4u;
		w->run->yield = true;
	}
}

#define E(name)                                                                                    \
	{                                                                                          \
#name, name, GCN_LDS, .only = 0                                                    \
	}
#define GFX90A(name)                                                                               \
	{                                                                                          \
#name, name, GCN_LDS, .only = GCN_SINCE_GFX90A                                     \
	}
#define GFX942(name)                                                                               \
	{                                                                                          \
#name, name, GCN_LDS, .only = GCN_ONLY_GFX942                                      \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_LDS, .only = 0                                                    \
	}

const struct gcn_entry gcn_ds[256] = {
	[0] = E(ds_add_u32),
	[1] = E(ds_sub_u32),
	[2] = E(ds_rsub_u32),
	[3] = E(ds_inc_u32),
	[4] = E(ds_dec_u32),
	[5] = E(ds_min_i32),
	[6] = E(ds_max_i32),
	[7] = E(ds_min_u32),
	[8] = E(ds_max_u32),
	[9] = E(ds_and_b32),
	[10] = E(ds_or_b32),
	[11] = E(ds_xor_b32),
	[12] = E(ds_mskor_b32),
	[13] = E(ds_write_b32),
	[14] = E(ds_write2_b32),
	[15] = E(ds_write2st64_b32),
	[16] = E(ds_cmpst_b32),
	[17] = E(ds_cmpst_f32),
	[18] = E(ds_min_f32),
	[19] = E(ds_max_f32),
	[20] = E(ds_nop),
	[21] = E(ds_add_f32),
	[23] = GFX942(ds_pk_add_f16),
	[24] = GFX942(ds_pk_add_bf16),
	[29] = MISSING(ds_write_addtid_b32),
	[30] = E(ds_write_b8),
	[31] = E(ds_write_b16),
	[32] = E(ds_add_rtn_u32),
	[33] = E(ds_sub_rtn_u32),
	[34] = E(ds_rsub_rtn_u32),
	[35] = E(ds_inc_rtn_u32),
	[36] = E(ds_dec_rtn_u32),
	[37] = E(ds_min_rtn_i32),
	[38] = E(ds_max_rtn_i32),
	[39] = E(ds_min_rtn_u32),
	[40] = E(ds_max_rtn_u32),
	[41] = E(ds_and_rtn_b32),
	[42] = E(ds_or_rtn_b32),
	[43] = E(ds_xor_rtn_b32),
	[44] = E(ds_mskor_rtn_b32),
	[45] = E(ds_wrxchg_rtn_b32),
	[46] = E(ds_wrxchg2_rtn_b32),
	[47] = E(ds_wrxchg2st64_rtn_b32),
	[48] = E(ds_cmpst_rtn_b32),
	[49] = E(ds_cmpst_rtn_f32),
	[50] = E(ds_min_rtn_f32),
	[51] = E(ds_max_rtn_f32),
	[52] = E(ds_wrap_rtn_b32),
	[53] = E(ds_add_rtn_f32),
	[54] = E(ds_read_b32),
	[55] = E(ds_read2_b32),
	[56] = E(ds_read2st64_b32),
	[57] = E(ds_read_i8),
	[58] = E(ds_read_u8),
	[59] = E(ds_read_i16),
	[60] = E(ds_read_u16),
	[61] = E(ds_swizzle_b32),
	[62] = E(ds_permute_b32),
	[63] = E(ds_bpermute_b32),
	[64] = E(ds_add_u64),
	[65] = E(ds_sub_u64),
	[66] = E(ds_rsub_u64),
	[67] = E(ds_inc_u64),
	[68] = E(ds_dec_u64),
	[69] = E(ds_min_i64),
	[70] = E(ds_max_i64),
	[71] = E(ds_min_u64),
	[72] = E(ds_max_u64),
	[73] = E(ds_and_b64),
	[74] = E(ds_or_b64),
	[75] = E(ds_xor_b64),
	[76] = E(ds_mskor_b64),
	[77] = E(ds_write_b64),
	[78] = E(ds_write2_b64),
	[79] = E(ds_write2st64_b64),
	[80] = E(ds_cmpst_b64),
	[81] = E(ds_cmpst_f64),
	[82] = E(ds_min_f64),
	[83] = E(ds_max_f64),
	[84] = E(ds_write_b8_d16_hi),
	[85] = E(ds_write_b16_d16_hi),
	[86] = E(ds_read_u8_d16),
	[87] = E(ds_read_u8_d16_hi),
	[88] = E(ds_read_i8_d16),
	[89] = E(ds_read_i8_d16_hi),
	[90] = E(ds_read_u16_d16),
	[91] = E(ds_read_u16_d16_hi),
	[92] = GFX90A(ds_add_f64),
	[96] = E(ds_add_rtn_u64),
	[97] = E(ds_sub_rtn_u64),
	[98] = E(ds_rsub_rtn_u64),
	[99] = E(ds_inc_rtn_u64),
	[100] = E(ds_dec_rtn_u64),
	[101] = E(ds_min_rtn_i64),
	[102] = E(ds_max_rtn_i64),
	[103] = E(ds_min_rtn_u64),
	[104] = E(ds_max_rtn_u64),
	[105] = E(ds_and_rtn_b64),
	[106] = E(ds_or_rtn_b64),
	[107] = E(ds_xor_rtn_b64),
	[108] = E(ds_mskor_rtn_b64),
	[109] = E(ds_wrxchg_rtn_b64),
	[110] = E(ds_wrxchg2_rtn_b64),
	[111] = E(ds_wrxchg2st64_rtn_b64),
	[112] = E(ds_cmpst_rtn_b64),
	[113] = E(ds_cmpst_rtn_f64),
	[114] = E(ds_min_rtn_f64),
	[115] = E(ds_max_rtn_f64),
	[118] = E(ds_read_b64),
	[119] = E(ds_read2_b64),
	[120] = E(ds_read2st64_b64),
	[124] = GFX90A(ds_add_rtn_f64),
	[126] = MISSING(ds_condxchg32_rtn_b64),
	[152] = MISSING(ds_gws_sema_release_all),
	[153] = E(ds_gws_init),
	[154] = MISSING(ds_gws_sema_v),
	[155] = MISSING(ds_gws_sema_br),
	[156] = MISSING(ds_gws_sema_p),
	[157] = E(ds_gws_barrier),
	[182] = MISSING(ds_read_addtid_b32),
	[183] = GFX942(ds_pk_add_rtn_f16),
	[184] = GFX942(ds_pk_add_rtn_bf16),
	[189] = MISSING(ds_consume),
	[190] = MISSING(ds_append),
	[222] = E(ds_write_b96),
	[223] = E(ds_write_b128),
	[254] = E(ds_read_b96),
	[255] = E(ds_read_b128),
};
