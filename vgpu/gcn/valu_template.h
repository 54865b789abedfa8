/* SPDX-License-Identifier: MIT */
/* valu_template.h - makes functions over rows, and a table of them, out of a list of instructions
 *
 * The including file says VALU_LIST, the list's file name, and VALU_NAME, what its table is called. A line is
 *
 *	OP(encoding, opcode, name, result, source, source, source, flags, expression of a, b, c)
 *	OP_CARRY(... expression, expression of the lane's carry)
 *	OP_CMP(opcode, name, source, source, flags, expression)
 *
 * where the expression may also use l, the lane; cin, its bit of the mask read; mode, clamp, and sel.
 */
#include "valu.h"
#include "valu_div.h"
#include "valu_math.h"
#include "valu_packed.h"

#ifndef VALU_SUFFIX
#define VALU_SUFFIX base
#endif
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

typedef uint32_t __attribute__((may_alias)) row_u32;
typedef int32_t __attribute__((may_alias)) row_i32;
typedef float __attribute__((may_alias)) row_f32;
typedef uint64_t __attribute__((may_alias)) row_u64;
typedef int64_t __attribute__((may_alias)) row_i64;
typedef double __attribute__((may_alias)) row_f64;

#define TYPE_none int
#define TYPE_mask int
#define TYPE_u32 uint32_t
#define TYPE_i32 int32_t
#define TYPE_f32 float
#define TYPE_u64 uint64_t
#define TYPE_i64 int64_t
#define TYPE_f64 double
#define TYPE_u16 uint32_t
#define TYPE_i16 int32_t
#define TYPE_f16 float
#define TYPE_p16 uint32_t
#define TYPE_h16 uint32_t

#define LOAD_none(p) 0
#define LOAD_mask(p) 0
#define LOAD_u32(p) ((const row_u32 *)(p))[l]
#define LOAD_i32(p) ((const row_i32 *)(p))[l]
#define LOAD_f32(p) ((const row_f32 *)(p))[l]
#define LOAD_u64(p) ((const row_u64 *)(p))[l]
#define LOAD_i64(p) ((const row_i64 *)(p))[l]
#define LOAD_f64(p) ((const row_f64 *)(p))[l]
#define LOAD_u16(p) (((const row_u32 *)(p))[l] & 0xffff)
#define LOAD_i16(p) ((int32_t)(int16_t)((const row_u32 *)(p))[l])
#define LOAD_f16(p) f16_from(((const row_u32 *)(p))[l])
#define LOAD_p16(p) ((const row_u32 *)(p))[l]
#define LOAD_h16(p) ((const row_u32 *)(p))[l]

#define STORE_u32(v) ((row_u32 *)d_)[l] = (v)
#define STORE_i32(v) ((row_i32 *)d_)[l] = (v)
#define STORE_f32(v) ((row_f32 *)d_)[l] = (v)
#define STORE_u64(v) ((row_u64 *)d_)[l] = (v)
#define STORE_i64(v) ((row_i64 *)d_)[l] = (v)
#define STORE_f64(v) ((row_f64 *)d_)[l] = (v)
#define STORE_u16(v) ((row_u32 *)d_)[l] = (uint32_t)(v)&0xffff
#define STORE_i16(v) ((row_u32 *)d_)[l] = (uint32_t)(v)&0xffff
#define STORE_f16(v) ((row_u32 *)d_)[l] = f16_bits(v)
#define STORE_p16(v) ((row_u32 *)d_)[l] = (v)
#define STORE_h16(v) ((row_u32 *)d_)[l] = (v)

/* source and destination are the same row or different ones, never shifted against each other */
#ifdef __clang__
#define FOR_LANES                                                                                  \
	_Pragma("clang loop vectorize(assume_safety)") for (unsigned int l = 0; l < GCN_LANES; l++)
#else
#define FOR_LANES _Pragma("GCC ivdep") for (unsigned int l = 0; l < GCN_LANES; l++)
#endif

#define SOURCES(S0, S1, S2)                                                                        \
	TYPE_##S0 a = LOAD_##S0(s0_);                                                              \
	TYPE_##S1 b = LOAD_##S1(s1_);                                                              \
	TYPE_##S2 c = LOAD_##S2(s2_);                                                              \
	uint32_t cin = (uint32_t)(mask >> l) & 1;                                                  \
	(void)a, (void)b, (void)c, (void)cin

/* locals: the compiler must see that nothing that is stored changes them */
#define SETTINGS                                                                                   \
	void *const d_ = a_->d;                                                                    \
	const void *const s0_ = a_->s[0], *const s1_ = a_->s[1], *const s2_ = a_->s[2];            \
	const uint32_t mode = a_->mode, clamp = a_->clamp, sel = a_->sel;                          \
	const uint64_t mask = a_->mask;                                                            \
	(void)d_, (void)s0_, (void)s1_, (void)s2_;                                                 \
	(void)mode, (void)clamp, (void)sel, (void)mask

/* Lanes' 0 and 1 to the bits of a mask. */
static inline uint64_t pack_mask(const uint8_t *m)
{
	uint64_t r = 0;

	for (unsigned int n = 0; n < 8; n++) {
		uint64_t v;

		memcpy(&v, m + n * 8, sizeof(v));
		r |= (v * 0x0102040810204080) >> 56 << (n * 8);
	}
	return r;
}

#define OP(enc, op, name, D, S0, S1, S2, flags, ...)                                               \
	static void fn_##name(struct valu_args *a_)                                                \
	{                                                                                          \
		SETTINGS;                                                                          \
		FOR_LANES                                                                          \
		{                                                                                  \
			SOURCES(S0, S1, S2);                                                       \
			STORE_##D((__VA_ARGS__));                                                  \
		}                                                                                  \
	}
#define OP_CARRY(enc, op, name, D, S0, S1, S2, flags, value, carry)                                \
	static void fn_##name(struct valu_args *a_)                                                \
	{                                                                                          \
		uint8_t m[GCN_LANES];                                                              \
		SETTINGS;                                                                          \
		FOR_LANES                                                                          \
		{                                                                                  \
			SOURCES(S0, S1, S2);                                                       \
			m[l] = (carry);                                                            \
			STORE_##D((value));                                                        \
		}                                                                                  \
		a_->mask = pack_mask(m);                                                           \
	}
#define OP_CMP(op, name, S0, S1, flags, ...)                                                       \
	static void fn_##name(struct valu_args *a_)                                                \
	{                                                                                          \
		uint8_t m[GCN_LANES];                                                              \
		SETTINGS;                                                                          \
		FOR_LANES                                                                          \
		{                                                                                  \
			SOURCES(S0, S1, none);                                                     \
			m[l] = (__VA_ARGS__);                                                      \
		}                                                                                  \
		a_->mask = pack_mask(m);                                                           \
	}
#include VALU_LIST
#undef OP
#undef OP_CARRY
#undef OP_CMP

#define OP(enc, op, name, D, S0, S1, S2, flags, ...)                                               \
	{ #name, fn_##name, op, GCN_##enc, VALU_##D, { VALU_##S0, VALU_##S1, VALU_##S2 }, flags },
#define OP_CARRY(enc, op, name, D, S0, S1, S2, flags, value, carry)                                \
	{ #name,                                                                                   \
	  fn_##name,                                                                               \
	  op,                                                                                      \
	  GCN_##enc,                                                                               \
	  VALU_##D,                                                                                \
	  { VALU_##S0, VALU_##S1, VALU_##S2 },                                                     \
	  (flags) | VALU_CARRY_OUT },
#define OP_CMP(op, name, S0, S1, flags, ...)                                                       \
	{ #name,                                                                                   \
	  fn_##name,                                                                               \
	  op,                                                                                      \
	  GCN_VOPC,                                                                                \
	  VALU_none,                                                                               \
	  { VALU_##S0, VALU_##S1, VALU_none },                                                     \
	  (flags) | VALU_COMPARE },

static const struct gcn_valu ops[] = {
#include VALU_LIST
};

const struct valu_table PASTE(VALU_NAME, VALU_SUFFIX) = { ops, sizeof(ops) / sizeof(ops[0]) };
