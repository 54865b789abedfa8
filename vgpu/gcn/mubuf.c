/* SPDX-License-Identifier: MIT */
/* mubuf.c - buffer instructions: compilers use them for scratch memory on gfx900, and for buffer
 * intrinsics
 *
 * The resource is four scalar registers: base 47:0, stride 61:48, swizzle 63, number of records
 * 95:64, index stride 118:117, "add the lane's number" 119.
 */
#include <stddef.h>

#include "format.h"
#include "memory.h"

struct resource {
	uint64_t base;
	uint32_t stride, records, index_stride;
	bool swizzle, add_tid;
};

static struct resource resource_of(const struct gcn_wave *w, const struct gcn_inst *i)
{
	const uint32_t *v = &w->sgpr[i->src[1]];

	return (struct resource){
		.base = v[0] | (uint64_t)(v[1] & 0xffff) << 32,
		.stride = v[1] >> 16 & 0x3fff,
		.swizzle = v[1] >> 31,
		.records = v[2],
		.index_stride = 8u << (v[3] >> 21 & 3),
		.add_tid = v[3] >> 23 & 1,
	};
}

/* The address of a lane's access of `bytes`; false: out of the buffer's range. */
static bool lane_addr(const struct gcn_wave *w, const struct gcn_inst *i, const struct resource *b,
		      unsigned int lane, uint32_t more, unsigned int bytes, uint64_t *addr)
{
	const uint32_t *va = &w->vgpr[i->src[0] - GCN_SRC_VGPR][lane];
	bool offen = i->word[0] >> 12 & 1, idxen = i->word[0] >> 13 & 1;
	uint32_t soffset = gcn_src32(w, i, i->src[2]);
	uint32_t index = idxen ? *va : 0;
	/* with both, the index comes first */
	uint32_t offset = (offen ? va[idxen ? GCN_LANES : 0] : 0) + (uint32_t)i->imm + more;

	if (b->add_tid)
		index += lane;
	if (!b->stride && !b->swizzle) {
		uint64_t limit = b->records > soffset ? b->records - soffset : 0;

		if ((uint64_t)offset + bytes > limit)
			return false;
	} else if (b->stride && index >= b->records) {
		return false;
	}
	if (!b->swizzle) {
		*addr = b->base + soffset + (uint64_t)index * b->stride + offset;
		return true;
	}
	*addr = b->base + soffset +
		((uint64_t)(index / b->index_stride) * b->stride + offset / 4 * 4) *
			b->index_stride +
		(index % b->index_stride) * 4 + offset % 4;
	return true;
}

/* Elements of a swizzled buffer are dwords: wider values are split. */
static void move_lane(struct gcn_wave *w, const struct gcn_inst *i, const struct resource *b,
		      unsigned int lane, unsigned char *buf, unsigned int bytes, bool write)
{
	for (unsigned int at = 0; at < bytes;) {
		unsigned int n = b->swizzle && bytes > 4 ? 4 : bytes;
		uint64_t addr;
		bool in = lane_addr(w, i, b, lane, at, n, &addr);
		void *host = in ? memory_host(w->run, addr, n) : NULL;

		if (in && !host) {
			gcn_stop(w, GCN_MEMORY_FAULT, addr);
			return;
		}
		if (in && write)
			memory_put(host, buf + at, n);
		else if (in)
			memory_fetch(buf + at, host, n);
		else if (!write)
			memset(buf + at, 0, n);
		at += n;
	}
}

/* All lanes of a wave that use scratch memory in the same way read or write a row of 64 dwords. */
static uint32_t *whole_row(struct gcn_wave *w, const struct gcn_inst *i, const struct resource *b,
			   unsigned int bytes)
{
	uint64_t addr;

	if (!b->swizzle || !b->add_tid || b->stride || bytes != 4 || b->index_stride != 64 ||
	    gcn_exec(w) != UINT64_MAX || i->word[0] >> 12 & 3)
		return NULL;
	if (i->imm & 3 || !lane_addr(w, i, b, 0, 0, 4, &addr) || addr & 3)
		return NULL;
	return memory_host(w->run, addr, 256);
}

/* Loads a dword for each lane into LDS, one after the other from M0 and the instruction's offset
 * on, which the address has, too. */
static void load_to_lds(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
			enum memory_form form)
{
	uint32_t to = (w->sgpr[GCN_REG_M0] & 0xffff) + (uint32_t)i->imm;
	/* by way of a row behind the registers */
	uint32_t *row = w->vgpr[GCN_VGPR_ROWS - 1];
	struct resource b = resource_of(w, i);
	unsigned char buf[4];
	gcn_row kept;

	memcpy(kept, row, sizeof(kept));
	for (uint64_t left = gcn_exec(w); left && w->run->status == GCN_RUNNING;) {
		unsigned int l = memory_next(&left);
		unsigned char *p = memory_lds(w, to + l * 4, 4);

		move_lane(w, i, &b, l, buf, bytes, false);
		memory_to_regs(w, GCN_VGPR_ROWS - 1, l, buf, bytes, form);
		if (p)
			memory_put32(p, row[l]);
	}
	memcpy(row, kept, sizeof(kept));
}

static void move(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		 enum memory_form form, bool write)
{
	struct resource b = resource_of(w, i);
	uint32_t *row = form == MEMORY_PLAIN ? whole_row(w, i, &b, bytes) : NULL;
	unsigned char buf[16];

	if (i->word[0] >> 16 & 1) {
		load_to_lds(w, i, bytes, form);
		return;
	}
	if (write)
		memory_stored(w->run);
	if (row) {
		if (write)
			memcpy(row, w->vgpr[i->dst], 256);
		else
			memcpy(w->vgpr[i->dst], row, 256);
		return;
	}
	for (uint64_t left = gcn_exec(w); left && w->run->status == GCN_RUNNING;) {
		unsigned int l = memory_next(&left);

		if (write)
			memory_from_regs(w, i->dst, l, buf, bytes, form);
		move_lane(w, i, &b, l, buf, bytes, write);
		if (!write)
			memory_to_regs(w, i->dst, l, buf, bytes, form);
	}
}

/* Formatted buffers: the resource's fourth word has the format, as an image's has. */
static void move_format(struct gcn_wave *w, const struct gcn_inst *i, unsigned int nr, bool write)
{
	struct resource b = resource_of(w, i);
	uint32_t v = w->sgpr[i->src[1] + 3];
	struct format f = { (uint8_t)(v >> 15 & 15), (uint8_t)(v >> 12 & 7), { 0 } };
	unsigned int bytes = format_bytes(&f);

	for (unsigned int n = 0; n < 4; n++)
		f.select[n] = v >> 3 * n & 7;
	if (!bytes || b.swizzle) {
		gcn_stop(w, GCN_UNIMPLEMENTED, 0);
		return;
	}
	if (write)
		memory_stored(w->run);
	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint32_t channels[4] = { 0, 0, 0, 0 };
		uint64_t addr;
		bool in = lane_addr(w, i, &b, l, 0, bytes, &addr);
		void *at = in ? memory_host(w->run, addr, bytes) : NULL;

		if (in && !at) {
			gcn_stop(w, GCN_MEMORY_FAULT, addr);
			return;
		}
		for (unsigned int n = 0; n < nr && write; n++)
			channels[n] = w->vgpr[i->dst + n][l];
		if (in && write)
			format_store(&f, channels, at);
		else if (in)
			format_load(&f, at, channels);
		for (unsigned int n = 0; n < nr && !write; n++)
			w->vgpr[i->dst + n][l] = channels[n];
	}
}

static void atomic(struct gcn_wave *w, const struct gcn_inst *i, enum atomic_op op,
		   unsigned int bytes)
{
	struct resource b = resource_of(w, i);
	unsigned int nr = bytes / 4;
	bool returns = i->word[0] >> 14 & 1;

	memory_stored(w->run);

	for (uint64_t left = gcn_exec(w); left;) {
		unsigned int l = memory_next(&left);
		uint64_t v[2], old = 0, addr;

		for (unsigned int n = 0; n < 2; n++) {
			v[n] = w->vgpr[i->dst + n * nr][l];
			if (nr == 2)
				v[n] |= (uint64_t)w->vgpr[i->dst + n * nr + 1][l] << 32;
		}
		if (lane_addr(w, i, &b, l, 0, bytes, &addr)) {
			void *at = addr % bytes ? NULL : memory_host(w->run, addr, bytes);

			if (!at) {
				gcn_stop(w, GCN_MEMORY_FAULT, addr);
				return;
			}
			old = nr == 2 ? atomic_run64(at, op, v[0], v[1]) :
					atomic_run32(at, op, (uint32_t)v[0], (uint32_t)v[1]);
		}
		if (!returns)
			continue;
		w->vgpr[i->dst][l] = (uint32_t)old;
		if (nr == 2)
			w->vgpr[i->dst + 1][l] = (uint32_t)(old >> 32);
	}
}

#define LOAD(name, bytes, form)                                                                    \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		move(w, i, bytes, form, false);                                                    \
	}
#define STORE(name, bytes, form)                                                                   \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		move(w, i, bytes, form, true);                                                     \
	}
#define ATOMIC(name, op)                                                                           \
	static void buffer_atomic_##name(struct gcn_wave *w, const struct gcn_inst *i)             \
	{                                                                                          \
		atomic(w, i, op, 4);                                                               \
	}                                                                                          \
	static void buffer_atomic_##name##_x2(struct gcn_wave *w, const struct gcn_inst *i)        \
	{                                                                                          \
		atomic(w, i, op, 8);                                                               \
	}

#define ATOMIC_ONE(name, op, bytes)                                                                \
	static void buffer_atomic_##name(struct gcn_wave *w, const struct gcn_inst *i)             \
	{                                                                                          \
		atomic(w, i, op, bytes);                                                           \
	}
#define FORMAT(name, nr, write)                                                                    \
	static void name(struct gcn_wave *w, const struct gcn_inst *i)                             \
	{                                                                                          \
		move_format(w, i, nr, write);                                                      \
	}

FORMAT(buffer_load_format_x, 1, false)
FORMAT(buffer_load_format_xy, 2, false)
FORMAT(buffer_load_format_xyz, 3, false)
FORMAT(buffer_load_format_xyzw, 4, false)
FORMAT(buffer_store_format_x, 1, true)
FORMAT(buffer_store_format_xy, 2, true)
FORMAT(buffer_store_format_xyz, 3, true)
FORMAT(buffer_store_format_xyzw, 4, true)
LOAD(buffer_load_ubyte, 1, MEMORY_U8)
LOAD(buffer_load_sbyte, 1, MEMORY_I8)
LOAD(buffer_load_ushort, 2, MEMORY_U16)
LOAD(buffer_load_sshort, 2, MEMORY_I16)
LOAD(buffer_load_dword, 4, MEMORY_PLAIN)
LOAD(buffer_load_dwordx2, 8, MEMORY_PLAIN)
LOAD(buffer_load_dwordx3, 12, MEMORY_PLAIN)
LOAD(buffer_load_dwordx4, 16, MEMORY_PLAIN)
LOAD(buffer_load_ubyte_d16, 1, MEMORY_U8_LO)
LOAD(buffer_load_ubyte_d16_hi, 1, MEMORY_U8_HI)
LOAD(buffer_load_sbyte_d16, 1, MEMORY_I8_LO)
LOAD(buffer_load_sbyte_d16_hi, 1, MEMORY_I8_HI)
LOAD(buffer_load_short_d16, 2, MEMORY_16_LO)
LOAD(buffer_load_short_d16_hi, 2, MEMORY_16_HI)
STORE(buffer_store_byte, 1, MEMORY_U8)
STORE(buffer_store_byte_d16_hi, 1, MEMORY_U8_HI)
STORE(buffer_store_short, 2, MEMORY_U16)
STORE(buffer_store_short_d16_hi, 2, MEMORY_16_HI)
STORE(buffer_store_dword, 4, MEMORY_PLAIN)
STORE(buffer_store_dwordx2, 8, MEMORY_PLAIN)
STORE(buffer_store_dwordx3, 12, MEMORY_PLAIN)
STORE(buffer_store_dwordx4, 16, MEMORY_PLAIN)
ATOMIC(swap, ATOMIC_SWAP)
ATOMIC(cmpswap, ATOMIC_CMPSWAP)
ATOMIC(add, ATOMIC_ADD)
ATOMIC(sub, ATOMIC_SUB)
ATOMIC(smin, ATOMIC_SMIN)
ATOMIC(umin, ATOMIC_UMIN)
ATOMIC(smax, ATOMIC_SMAX)
ATOMIC(umax, ATOMIC_UMAX)
ATOMIC(and, ATOMIC_AND)
ATOMIC(or, ATOMIC_OR)
ATOMIC(xor, ATOMIC_XOR)
ATOMIC(inc, ATOMIC_INC)
ATOMIC(dec, ATOMIC_DEC)
ATOMIC_ONE(add_f32, ATOMIC_ADD_F, 4)
ATOMIC_ONE(pk_add_f16, ATOMIC_PK_ADD_F16, 4)
ATOMIC_ONE(add_f64, ATOMIC_ADD_F, 8)
ATOMIC_ONE(min_f64, ATOMIC_MIN_F, 8)
ATOMIC_ONE(max_f64, ATOMIC_MAX_F, 8)

/* caches hold nothing here */
static void nothing(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)w;
	(void)i;
}

#define RD(name)                                                                                   \
	{                                                                                          \
#name, name, GCN_VMEM_RD, .only = 0                                                \
	}
#define WR(name)                                                                                   \
	{                                                                                          \
#name, name, GCN_VMEM_WR, .only = 0                                                \
	}
#define GFX90A(name)                                                                               \
	{                                                                                          \
#name, name, GCN_VMEM_WR, .only = GCN_SINCE_GFX90A                                 \
	}
#define MISSING(name)                                                                              \
	{                                                                                          \
#name, NULL, GCN_VMEM_RD, .only = 0                                                \
	}

const struct gcn_entry gcn_mubuf[128] = {
	[0] = RD(buffer_load_format_x),
	[1] = RD(buffer_load_format_xy),
	[2] = RD(buffer_load_format_xyz),
	[3] = RD(buffer_load_format_xyzw),
	[4] = WR(buffer_store_format_x),
	[5] = WR(buffer_store_format_xy),
	[6] = WR(buffer_store_format_xyz),
	[7] = WR(buffer_store_format_xyzw),
	[8] = MISSING(buffer_load_format_d16_x),
	[9] = MISSING(buffer_load_format_d16_xy),
	[10] = MISSING(buffer_load_format_d16_xyz),
	[11] = MISSING(buffer_load_format_d16_xyzw),
	[12] = MISSING(buffer_store_format_d16_x),
	[13] = MISSING(buffer_store_format_d16_xy),
	[14] = MISSING(buffer_store_format_d16_xyz),
	[15] = MISSING(buffer_store_format_d16_xyzw),
	[16] = RD(buffer_load_ubyte),
	[17] = RD(buffer_load_sbyte),
	[18] = RD(buffer_load_ushort),
	[19] = RD(buffer_load_sshort),
	[20] = RD(buffer_load_dword),
	[21] = RD(buffer_load_dwordx2),
	[22] = RD(buffer_load_dwordx3),
	[23] = RD(buffer_load_dwordx4),
	[24] = WR(buffer_store_byte),
	[25] = WR(buffer_store_byte_d16_hi),
	[26] = WR(buffer_store_short),
	[27] = WR(buffer_store_short_d16_hi),
	[28] = WR(buffer_store_dword),
	[29] = WR(buffer_store_dwordx2),
	[30] = WR(buffer_store_dwordx3),
	[31] = WR(buffer_store_dwordx4),
	[32] = RD(buffer_load_ubyte_d16),
	[33] = RD(buffer_load_ubyte_d16_hi),
	[34] = RD(buffer_load_sbyte_d16),
	[35] = RD(buffer_load_sbyte_d16_hi),
	[36] = RD(buffer_load_short_d16),
	[37] = RD(buffer_load_short_d16_hi),
	[38] = MISSING(buffer_load_format_d16_hi_x),
	[39] = MISSING(buffer_store_format_d16_hi_x),
	[40] = { "buffer_wbl2", nothing, GCN_MISC, .only = GCN_SINCE_GFX90A },
	[41] = { "buffer_invl2", nothing, GCN_MISC, .only = GCN_ONLY_GFX90A },
	[61] = MISSING(buffer_store_lds_dword),
	[62] = { "buffer_wbinvl1", nothing, GCN_MISC, .only = 0 },
	[63] = { "buffer_wbinvl1_vol", nothing, GCN_MISC, .only = 0 },
	[64] = WR(buffer_atomic_swap),
	[65] = WR(buffer_atomic_cmpswap),
	[66] = WR(buffer_atomic_add),
	[67] = WR(buffer_atomic_sub),
	[68] = WR(buffer_atomic_smin),
	[69] = WR(buffer_atomic_umin),
	[70] = WR(buffer_atomic_smax),
	[71] = WR(buffer_atomic_umax),
	[72] = WR(buffer_atomic_and),
	[73] = WR(buffer_atomic_or),
	[74] = WR(buffer_atomic_xor),
	[75] = WR(buffer_atomic_inc),
	[76] = WR(buffer_atomic_dec),
	[77] = GFX90A(buffer_atomic_add_f32),
	[78] = GFX90A(buffer_atomic_pk_add_f16),
	[79] = GFX90A(buffer_atomic_add_f64),
	[80] = GFX90A(buffer_atomic_min_f64),
	[81] = GFX90A(buffer_atomic_max_f64),
	[96] = WR(buffer_atomic_swap_x2),
	[97] = WR(buffer_atomic_cmpswap_x2),
	[98] = WR(buffer_atomic_add_x2),
	[99] = WR(buffer_atomic_sub_x2),
	[100] = WR(buffer_atomic_smin_x2),
	[101] = WR(buffer_atomic_umin_x2),
	[102] = WR(buffer_atomic_smax_x2),
	[103] = WR(buffer_atomic_umax_x2),
	[104] = WR(buffer_atomic_and_x2),
	[105] = WR(buffer_atomic_or_x2),
	[106] = WR(buffer_atomic_xor_x2),
	[107] = WR(buffer_atomic_inc_x2),
	[108] = WR(buffer_atomic_dec_x2),
};

const struct gcn_entry *gcn_mubuf_entry(const struct gcn_inst *i)
{
	static const struct gcn_entry inv = { "buffer_inv", nothing, GCN_MISC, .only = 0 };

	return i->op == 41 && i->arch == GCN_GFX942 ? &inv : &gcn_mubuf[i->op];
}
