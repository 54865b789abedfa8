/* SPDX-License-Identifier: MIT */
/* flat.c - FLAT, GLOBAL and SCRATCH instructions
 *
 * A flat address whose high half is that of an aperture is in LDS or in scratch memory, lane by
 * lane; the others, and all addresses of GLOBAL, are global.
 */
#include <stddef.h>

#include "memory.h"

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL };

enum { SADDR_NONE = 0x7f };

/* Lane addresses; for SEG_SCRATCH offsets into the lane's own memory. */
static void addresses(struct gcn_wave *w, const struct gcn_inst *i, struct memory_access *a)
{
	const uint32_t *lo = w->vgpr[i->src[0] - GCN_SRC_VGPR], *hi = lo + GCN_LANES;
	uint64_t imm = (uint64_t)(int64_t)i->imm;

	a->active = gcn_exec(w);
	if (i->sdst == SEG_SCRATCH) {
		/* the offset is a vector register or a scalar one; on gfx942 both, one or none */
		bool scalar = i->src[2] != SADDR_NONE;
		bool vector = w->run->arch->own_scratch ? i->word[0] >> 13 & 1 : !scalar;
		uint32_t base = (scalar ? w->sgpr[i->src[2]] : 0) + (uint32_t)imm;

		for (unsigned int l = 0; l < GCN_LANES; l++)
			a->addr[l] = (vector ? lo[l] : 0) + base;
	} else if (i->sdst == SEG_GLOBAL && i->src[2] != SADDR_NONE) {
		uint64_t base = gcn_get64(w, i->src[2]) + imm;

		for (unsigned int l = 0; l < GCN_LANES; l++)
			a->addr[l] = base + lo[l];
	} else {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			a->addr[l] = (lo[l] | (uint64_t)hi[l] << 32) + imm;
	}
}

/* Active lanes whose flat address is in the aperture with this high half. */
static uint64_t in_aperture(const struct memory_access *a, uint32_t high)
{
	uint64_t m = 0;

	for (unsigned int l = 0; l < GCN_LANES; l++)
		m |= (uint64_t)((uint32_t)(a->addr[l] >> 32) == high) << l;
	return m & a->active;
}

static void in_lds(struct gcn_wave *w, const struct gcn_inst *i, const struct memory_access *a,
		   enum memory_form form)
{
	for (uint64_t left = a->active; left;) {
		unsigned int l = memory_next(&left);
		unsigned char *p = memory_lds(w, (uint32_t)a->addr[l], a->bytes);
		static const unsigned char zero[16];

		if (!a->write)
			memory_to_regs(w, i->dst, l, p ? p : zero, a->bytes, form);
		else if (p)
			memory_from_regs(w, i->src[1] - GCN_SRC_VGPR, l, p, a->bytes, form);
	}
}

/* The instruction may be within a block: it says where the wave stopped. */
static void stopped(struct gcn_wave *w, const struct gcn_inst *i)
{
	if (!w->run->stopped_at)
		w->run->stopped_at = i;
}

static void in_scratch(struct gcn_wave *w, const struct gcn_inst *i, const struct memory_access *a,
		       enum memory_form form)
{
	uint64_t base = gcn_get64(w, GCN_REG_FLAT_SCRATCH);
	unsigned char buf[16];

	for (uint64_t left = a->active; left;) {
		unsigned int l = memory_next(&left);

		if (a->write)
			memory_from_regs(w, i->src[1] - GCN_SRC_VGPR, l, buf, a->bytes, form);
		if (!memory_scratch(w, base, (uint32_t)a->addr[l], l, buf, a->bytes, a->write)) {
			stopped(w, i);
			return;
		}
		if (!a->write)
			memory_to_regs(w, i->dst, l, buf, a->bytes, form);
	}
}

static void in_global(struct gcn_wave *w, const struct gcn_inst *i, struct memory_access *a,
		      enum memory_form form)
{
	if (!memory_check(w, a)) {
		stopped(w, i);
		return;
	}
	if (a->write)
		memory_store(w, a, i->src[1] - GCN_SRC_VGPR, form);
	else
		memory_load(w, a, i->dst, form);
	if (!a->write && memory_may_poll(i) && a->active)
		memory_polled(w, a->addr[__builtin_ctzll(a->active)]);
}

static void move(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		 enum memory_form form, bool write)
{
	struct memory_access a;
	uint64_t lds, scratch, all;

	a.bytes = bytes;
	a.write = write;
	a.atomic = false;
	addresses(w, i, &a);
	if (i->sdst == SEG_GLOBAL) {
		in_global(w, i, &a, form);
		return;
	}
	if (i->sdst == SEG_SCRATCH) {
		in_scratch(w, i, &a, form);
		return;
	}
	lds = in_aperture(&a, GCN_LDS_HI);
	scratch = in_aperture(&a, GCN_SCRATCH_HI);
	all = a.active;
	a.active = all & ~lds & ~scratch;
	in_global(w, i, &a, form);
	if (lds) {
		a.active = lds;
		in_lds(w, i, &a, form);
	}
	if (scratch) {
		a.active = scratch;
		in_scratch(w, i, &a, form);
	}
}

/* Loads that write a dword for each lane into LDS, one after the other from M0 and the
 * instruction's offset on, which the address has, too. */
static void to_lds(struct gcn_wave *w, const struct gcn_inst *i, unsigned int bytes,
		   enum memory_form form)
{
	uint32_t to = (w->sgpr[GCN_REG_M0] & 0x3fffc) + (uint32_t)i->imm;
	struct gcn_inst load = *i;
	gcn_row kept;

	/* by way of a row behind the registers */
	load.dst = GCN_VGPR_ROWS - 1;
	memcpy(kept, w->vgpr[load.dst], sizeof(kept));
	move(w, &load, bytes, form, false);
	for (uint64_t left = w->run->status == GCN_RUNNING ? gcn_exec(w) : 0; left;) {
		unsigned int l = memory_next(&left);
		unsigned char *p = memory_lds(w, to + l * 4, 4);

		if (p)
			memory_put32(p, w->vgpr[load.dst][l]);
	}
	memcpy(w->vgpr[load.dst], kept, sizeof(kept));
}

/* The host address of this lane's atomic; NULL: none, and the wave was stopped unless it is outside
 * of LDS. */
static void *atomic_at(struct gcn_wave *w, const struct gcn_inst *i, uint64_t addr,
		       unsigned int lane, unsigned int bytes)
{
	uint32_t high = i->sdst == SEG_FLAT ? (uint32_t)(addr >> 32) : 0;
	void *at;

	if (i->sdst == SEG_SCRATCH || (high == GCN_SCRATCH_HI && i->sdst == SEG_FLAT)) {
		/* a lane's own memory is contiguous for 4 bytes only */
		addr = gcn_get64(w, GCN_REG_FLAT_SCRATCH) + (uint64_t)((uint32_t)addr / 4) * 256 +
		       lane * 4;
		if (bytes > 4) {
			gcn_stop(w, GCN_UNIMPLEMENTED, addr);
			return NULL;
		}
	} else if (high == GCN_LDS_HI) {
		return addr % bytes ? NULL : memory_lds(w, (uint32_t)addr, bytes);
	}
	at = addr % bytes ? NULL : memory_host(w->run, addr, bytes);
	if (!at)
		gcn_stop(w, GCN_MEMORY_FAULT, addr);
	return at;
}

static void atomic(struct gcn_wave *w, const struct gcn_inst *i, enum atomic_op op,
		   unsigned int bytes)
{
	unsigned int data = i->src[1] - GCN_SRC_VGPR, nr = bytes / 4;
	bool returns = i->word[0] >> 16 & 1;
	struct memory_access a = { .bytes = bytes, .write = true, .atomic = true };

	addresses(w, i, &a);
	if (w->run->has_cache && i->sdst != SEG_SCRATCH) {
		uint64_t elsewhere = i->sdst == SEG_FLAT ? in_aperture(&a, GCN_LDS_HI) |
								   in_aperture(&a, GCN_SCRATCH_HI) :
							   0;

		cache_access(&w->run->lead->cache, &w->run->counters, a.addr, a.active & ~elsewhere,
			     bytes, true);
	}
	memory_stored(w->run);
	for (uint64_t left = a.active; left;) {
		unsigned int l = memory_next(&left);
		uint64_t v[2] = { 0, 0 }, old;
		void *p = atomic_at(w, i, a.addr[l], l, bytes);

		if (w->run->status != GCN_RUNNING)
			return;
		for (unsigned int n = 0; n < 2; n++) {
			v[n] = w->vgpr[data + n * nr][l];
			if (nr == 2)
				v[n] |= (uint64_t)w->vgpr[data + n * nr + 1][l] << 32;
		}
		if (!p)
			old = 0;
		else if (nr == 2)
			old = atomic_run64(p, op, v[0], v[1]);
		else
			old = atomic_run32(p, op, (uint32_t)v[0], (uint32_t)v[1]);
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
#define TO_LDS(name, bytes, form)                                                                  \
	static void flat_load_lds_##name(struct gcn_wave *w, const struct gcn_inst *i)             \
	{                                                                                          \
		to_lds(w, i, bytes, form);                                                         \
	}
#define ATOMIC_ONE(name, op, bytes)                                                                \
	static void flat_atomic_##name(struct gcn_wave *w, const struct gcn_inst *i)               \
	{                                                                                          \
		atomic(w, i, op, bytes);                                                           \
	}
#define ATOMIC(name, op)                                                                           \
	static void flat_atomic_##name(struct gcn_wave *w, const struct gcn_inst *i)               \
	{                                                                                          \
		atomic(w, i, op, 4);                                                               \
	}                                                                                          \
	static void flat_atomic_##name##_x2(struct gcn_wave *w, const struct gcn_inst *i)          \
	{                                                                                          \
		atomic(w, i, op, 8);                                                               \
	}

LOAD(flat_load_ubyte, 1, MEMORY_U8)
LOAD(flat_load_sbyte, 1, MEMORY_I8)
LOAD(flat_load_ushort, 2, MEMORY_U16)
LOAD(flat_load_sshort, 2, MEMORY_I16)
LOAD(flat_load_dword, 4, MEMORY_PLAIN)
LOAD(flat_load_dwordx2, 8, MEMORY_PLAIN)
LOAD(flat_load_dwordx3, 12, MEMORY_PLAIN)
LOAD(flat_load_dwordx4, 16, MEMORY_PLAIN)
LOAD(flat_load_ubyte_d16, 1, MEMORY_U8_LO)
LOAD(flat_load_ubyte_d16_hi, 1, MEMORY_U8_HI)
LOAD(flat_load_sbyte_d16, 1, MEMORY_I8_LO)
LOAD(flat_load_sbyte_d16_hi, 1, MEMORY_I8_HI)
LOAD(flat_load_short_d16, 2, MEMORY_16_LO)
LOAD(flat_load_short_d16_hi, 2, MEMORY_16_HI)
TO_LDS(ubyte, 1, MEMORY_U8)
TO_LDS(sbyte, 1, MEMORY_I8)
TO_LDS(ushort, 2, MEMORY_U16)
TO_LDS(sshort, 2, MEMORY_I16)
TO_LDS(dword, 4, MEMORY_PLAIN)
STORE(flat_store_byte, 1, MEMORY_U8)
STORE(flat_store_byte_d16_hi, 1, MEMORY_U8_HI)
STORE(flat_store_short, 2, MEMORY_U16)
STORE(flat_store_short_d16_hi, 2, MEMORY_16_HI)
STORE(flat_store_dword, 4, MEMORY_PLAIN)
STORE(flat_store_dwordx2, 8, MEMORY_PLAIN)
STORE(flat_store_dwordx3, 12, MEMORY_PLAIN)
STORE(flat_store_dwordx4, 16, MEMORY_PLAIN)
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
ATOMIC_ONE(pk_add_bf16, ATOMIC_PK_ADD_BF16, 4)
ATOMIC_ONE(add_f64, ATOMIC_ADD_F, 8)
ATOMIC_ONE(min_f64, ATOMIC_MIN_F, 8)
ATOMIC_ONE(max_f64, ATOMIC_MAX_F, 8)

/* decode.c makes GCN_VMEM_RD and _WR of these for the GLOBAL and SCRATCH forms */
#define RD(name)                                                                                   \
	{                                                                                          \
#name, name, GCN_FLAT_RD, .only = 0                                                \
	}
#define GFX90A(name)                                                                               \
	{                                                                                          \
#name, name, GCN_FLAT_WR, .only = GCN_SINCE_GFX90A                                 \
	}
#define TO_LDS_OF(name)                                                                            \
	{                                                                                          \
#name, name, GCN_FLAT_RD, .only = GCN_ONLY_GFX942                                  \
	}
#define GFX942(name)                                                                               \
	{                                                                                          \
#name, name, GCN_FLAT_WR, .only = GCN_ONLY_GFX942                                  \
	}
#define WR(name)                                                                                   \
	{                                                                                          \
#name, name, GCN_FLAT_WR, .only = 0                                                \
	}

const struct gcn_entry gcn_flat[128] = {
	[16] = RD(flat_load_ubyte),
	[17] = RD(flat_load_sbyte),
	[18] = RD(flat_load_ushort),
	[19] = RD(flat_load_sshort),
	[20] = RD(flat_load_dword),
	[21] = RD(flat_load_dwordx2),
	[22] = RD(flat_load_dwordx3),
	[23] = RD(flat_load_dwordx4),
	[24] = WR(flat_store_byte),
	[25] = WR(flat_store_byte_d16_hi),
	[26] = WR(flat_store_short),
	[27] = WR(flat_store_short_d16_hi),
	[28] = WR(flat_store_dword),
	[29] = WR(flat_store_dwordx2),
	[30] = WR(flat_store_dwordx3),
	[31] = WR(flat_store_dwordx4),
	[32] = RD(flat_load_ubyte_d16),
	[33] = RD(flat_load_ubyte_d16_hi),
	[34] = RD(flat_load_sbyte_d16),
	[35] = RD(flat_load_sbyte_d16_hi),
	[36] = RD(flat_load_short_d16),
	[37] = RD(flat_load_short_d16_hi),
	[38] = TO_LDS_OF(flat_load_lds_ubyte),
	[39] = TO_LDS_OF(flat_load_lds_sbyte),
	[40] = TO_LDS_OF(flat_load_lds_ushort),
	[41] = TO_LDS_OF(flat_load_lds_sshort),
	[42] = TO_LDS_OF(flat_load_lds_dword),
	[64] = WR(flat_atomic_swap),
	[65] = WR(flat_atomic_cmpswap),
	[66] = WR(flat_atomic_add),
	[67] = WR(flat_atomic_sub),
	[68] = WR(flat_atomic_smin),
	[69] = WR(flat_atomic_umin),
	[70] = WR(flat_atomic_smax),
	[71] = WR(flat_atomic_umax),
	[72] = WR(flat_atomic_and),
	[73] = WR(flat_atomic_or),
	[74] = WR(flat_atomic_xor),
	[75] = WR(flat_atomic_inc),
	[77] = GFX90A(flat_atomic_add_f32),
	[78] = GFX90A(flat_atomic_pk_add_f16),
	[79] = GFX90A(flat_atomic_add_f64),
	[80] = GFX90A(flat_atomic_min_f64),
	[82] = GFX942(flat_atomic_pk_add_bf16),
	[81] = GFX90A(flat_atomic_max_f64),
	[76] = WR(flat_atomic_dec),
	[96] = WR(flat_atomic_swap_x2),
	[97] = WR(flat_atomic_cmpswap_x2),
	[98] = WR(flat_atomic_add_x2),
	[99] = WR(flat_atomic_sub_x2),
	[100] = WR(flat_atomic_smin_x2),
	[101] = WR(flat_atomic_umin_x2),
	[102] = WR(flat_atomic_smax_x2),
	[103] = WR(flat_atomic_umax_x2),
	[104] = WR(flat_atomic_and_x2),
	[105] = WR(flat_atomic_or_x2),
	[106] = WR(flat_atomic_xor_x2),
	[107] = WR(flat_atomic_inc_x2),
	[108] = WR(flat_atomic_dec_x2),
};
