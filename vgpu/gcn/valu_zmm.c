/* SPDX-License-Identifier: MIT */
/* valu_zmm.c - the vector instructions on 32 bits that kernels use most, on AVX-512
 *
 * A handler does what that of valu_plain.h does with the instruction's function over rows; here the
 * kind of each source is a constant, values of scalar sources and masks stay in registers, and NaNs
 * are looked for once in a row.
 */
#include "direct.h"
#include "zmm.h"

#if defined(__AVX512F__)

#define FLOAT(v) _mm512_castsi512_ps(v)
#define BITS(v) _mm512_castps_si512(v)

typedef __m512i part_fn(__m512i a, __m512i b, __m512i c);
typedef __mmask16 test_fn(__m512i a, __m512i b);

#define PART(name, expr)                                                                           \
	ZMM __m512i name(__m512i a, __m512i b, __m512i c)                                          \
	{                                                                                          \
		(void)a, (void)b, (void)c;                                                         \
		return expr;                                                                       \
	}

/* ---- integers -------------------------------------------------------------------------------- */

ZMM bool run_int(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, part_fn *fn,
		 unsigned int nr, unsigned int scalars)
{
	const __m512i none = _mm512_setzero_si512();
	__m512i part[4];

	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	ZMM_SOURCE(2, scalars);
	FOR_PARTS
	{
		part[k] = fn(src0[k], nr > 1 ? src1[k] : none, nr > 2 ? src2[k] : none);
	}
	zmm_put(w->vgpr[i->dst], part, gcn_exec(w), rows);
	return true;
}

static const int thirty_one = 31;

#define AMOUNT(v) _mm512_and_si512(v, _mm512_set1_epi32(thirty_one))

ZMM __m512i mul_hi(__m512i a, __m512i b)
{
	__m512i even = _mm512_mul_epu32(a, b);
	__m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));

	return _mm512_mask_mov_epi32(_mm512_srli_epi64(even, 32), 0xaaaa, odd);
}

PART(v_mov_b32, a)
#define LOW16(v) _mm512_and_si512(v, _mm512_set1_epi32(0xffff))
#define AMOUNT16(v) _mm512_and_si512(v, _mm512_set1_epi32(15))

PART(v_lshlrev_b16, LOW16(_mm512_sllv_epi32(b, AMOUNT16(a))))
PART(v_lshrrev_b16, _mm512_srlv_epi32(LOW16(b), AMOUNT16(a)))
PART(v_not_b32, _mm512_ternarylogic_epi32(a, a, a, 0x55))
PART(v_add_u32, _mm512_add_epi32(a, b))
PART(v_sub_u32, _mm512_sub_epi32(a, b))
PART(v_subrev_u32, _mm512_sub_epi32(b, a))
PART(v_lshrrev_b32, _mm512_srlv_epi32(b, AMOUNT(a)))
PART(v_ashrrev_i32, _mm512_srav_epi32(b, AMOUNT(a)))
PART(v_lshlrev_b32, _mm512_sllv_epi32(b, AMOUNT(a)))
PART(v_and_b32, _mm512_and_si512(a, b))
PART(v_or_b32, _mm512_or_si512(a, b))
PART(v_xor_b32, _mm512_xor_si512(a, b))
PART(v_min_i32, _mm512_min_epi32(a, b))
PART(v_max_i32, _mm512_max_epi32(a, b))
PART(v_min_u32, _mm512_min_epu32(a, b))
PART(v_max_u32, _mm512_max_epu32(a, b))
PART(v_mul_lo_u32, _mm512_mullo_epi32(a, b))
PART(v_mul_hi_u32, mul_hi(a, b))
PART(v_lshl_add_u32, _mm512_add_epi32(_mm512_sllv_epi32(a, AMOUNT(b)), c))
PART(v_add_lshl_u32, _mm512_sllv_epi32(_mm512_add_epi32(a, b), AMOUNT(c)))
PART(v_add3_u32, _mm512_add_epi32(_mm512_add_epi32(a, b), c))
PART(v_lshl_or_b32, _mm512_or_si512(_mm512_sllv_epi32(a, AMOUNT(b)), c))
PART(v_and_or_b32, _mm512_ternarylogic_epi32(a, b, c, 0xea))
PART(v_or3_b32, _mm512_ternarylogic_epi32(a, b, c, 0xfe))
PART(v_cvt_f32_i32, BITS(_mm512_cvtepi32_ps(a)))
PART(v_cvt_f32_u32, BITS(_mm512_cvtepu32_ps(a)))

/* no number makes a NaN */
PART(v_rcp_f32, BITS(_mm512_div_ps(_mm512_set1_ps(1), FLOAT(a))))
PART(v_rcp_iflag_f32, v_rcp_f32(a, b, c))

/* ---- single precision ------------------------------------------------------------------------ */

ZMM __mmask16 is_nan(__m512i v)
{
	return _mm512_cmp_ps_mask(FLOAT(v), FLOAT(v), _CMP_UNORD_Q);
}

ZMM __mmask16 either_nan(__m512i a, __m512i b)
{
	return _mm512_cmp_ps_mask(FLOAT(a), FLOAT(b), _CMP_UNORD_Q);
}

/* A source with its sign. */
ZMM __m512i sign(const struct gcn_inst *i, unsigned int n, __m512i v)
{
	const __m512i keep = _mm512_set1_epi32(i->abs >> n & 1 ? INT32_MAX : -1);
	const __m512i flip = _mm512_set1_epi32(i->neg >> n & 1 ? INT32_MIN : 0);

	return _mm512_ternarylogic_epi32(v, keep, flip, 0x6a);
}

ZMM bool run_float(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, part_fn *fn,
		   unsigned int nr, unsigned int scalars, bool signs)
{
	const __m512i none = _mm512_setzero_si512();
	__m512i part[4];
	__mmask16 nan;

	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	ZMM_SOURCE(2, scalars);
#define INPUT(n) (signs ? sign(i, n, src##n[k]) : src##n[k])
#define INPUTS                                                                                     \
	const __m512i a = INPUT(0), b = nr > 1 ? INPUT(1) : none;                                  \
	const __m512i c = nr > 2 ? INPUT(2) : none
	FOR_PARTS
	{
		INPUTS;
		part[k] = fn(a, b, c);
	}
	nan = either_nan(part[0], part[1]);
	/* of numbers alone: the device's own NaN */
	if (__builtin_expect(!_kortestz_mask16_u8(nan, either_nan(part[2], part[3])), 0)) {
		FOR_PARTS
		{
			INPUTS;
			nan = is_nan(part[k]) & (__mmask16) ~(is_nan(a) | is_nan(b) | is_nan(c));
			part[k] =
				_mm512_mask_mov_epi32(part[k], nan, _mm512_set1_epi32(0x7fc00000));
		}
	}
#undef INPUT
#undef INPUTS
	zmm_put(w->vgpr[i->dst], part, gcn_exec(w), rows);
	return true;
}

PART(v_add_f32, BITS(_mm512_add_ps(FLOAT(a), FLOAT(b))))
PART(v_sub_f32, BITS(_mm512_sub_ps(FLOAT(a), FLOAT(b))))
PART(v_subrev_f32, BITS(_mm512_sub_ps(FLOAT(b), FLOAT(a))))
PART(v_mul_f32, BITS(_mm512_mul_ps(FLOAT(a), FLOAT(b))))
PART(v_sqrt_f32, BITS(_mm512_sqrt_ps(FLOAT(a))))
PART(v_fma_f32, BITS(_mm512_fmadd_ps(FLOAT(a), FLOAT(b), FLOAT(c))))

/* ---- masks ----------------------------------------------------------------------------------- */

ZMM bool run_select(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		    unsigned int scalars)
{
	__m512i part[4];
	unsigned int at;
	uint64_t mask;

	if (!zmm_mask_at(i, &at))
		return false;
	mask = zmm_mask(w, at);
	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	FOR_PARTS
	{
		part[k] = _mm512_mask_mov_epi32(src0[k], (__mmask16)(mask >> k * 16), src1[k]);
	}
	zmm_put(w->vgpr[i->dst], part, gcn_exec(w), rows);
	return true;
}

ZMM bool run_compare(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		     test_fn *fn, unsigned int scalars)
{
	__mmask16 m[4];

	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	FOR_PARTS
	{
		m[k] = fn(src0[k], src1[k]);
	}
	gcn_set64(w, i->sdst & 127, zmm_bits(m[0], m[1], m[2], m[3]) & gcn_exec(w));
	return true;
}

#define TEST(name, expr)                                                                           \
	ZMM __mmask16 name(__m512i a, __m512i b)                                                   \
	{                                                                                          \
		return expr;                                                                       \
	}
#define TEST_INT(cmp, how)                                                                         \
	TEST(v_cmp_##cmp##_i32, _mm512_cmp_epi32_mask(a, b, how))                                  \
	TEST(v_cmp_##cmp##_u32, _mm512_cmp_epu32_mask(a, b, how))                                  \
	TEST(v_cmp_##cmp##_u16, _mm512_cmp_epu32_mask(LOW16(a), LOW16(b), how))
#define TEST_FLOAT(cmp, how) TEST(v_cmp_##cmp##_f32, _mm512_cmp_ps_mask(FLOAT(a), FLOAT(b), how))

TEST_INT(lt, _MM_CMPINT_LT)
TEST_INT(eq, _MM_CMPINT_EQ)
TEST_INT(le, _MM_CMPINT_LE)
TEST_INT(gt, _MM_CMPINT_NLE)
TEST_INT(ne, _MM_CMPINT_NE)
TEST_INT(ge, _MM_CMPINT_NLT)
TEST_FLOAT(lt, _CMP_LT_OQ)
TEST_FLOAT(eq, _CMP_EQ_OQ)
TEST_FLOAT(le, _CMP_LE_OQ)
TEST_FLOAT(gt, _CMP_GT_OQ)
TEST_FLOAT(lg, _CMP_NEQ_OQ)
TEST_FLOAT(ge, _CMP_GE_OQ)
TEST_FLOAT(o, _CMP_ORD_Q)
TEST_FLOAT(u, _CMP_UNORD_Q)
TEST_FLOAT(nge, _CMP_NGE_UQ)
TEST_FLOAT(nlg, _CMP_EQ_UQ)
TEST_FLOAT(ngt, _CMP_NGT_UQ)
TEST_FLOAT(nle, _CMP_NLE_UQ)
TEST_FLOAT(neq, _CMP_NEQ_UQ)
TEST_FLOAT(nlt, _CMP_NLT_UQ)

/* Sums and differences with carries. */
enum carry { ADD, SUB, SUBREV };

ZMM __m512i carry_part(enum carry how, __m512i a, __m512i b, bool in, __mmask16 cin, __mmask16 *out)
{
	const __m512i one = _mm512_set1_epi32(1);
	__m512i r;

	if (how == SUBREV) {
		r = a;
		a = b;
		b = r;
	}
	if (how == ADD) {
		r = _mm512_add_epi32(a, b);
		*out = _mm512_cmplt_epu32_mask(r, a);
		if (in) {
			/* the sum of all ones and a carry is 0 */
			*out |= _mm512_mask_cmpeq_epi32_mask(cin, r, _mm512_set1_epi32(-1));
			r = _mm512_mask_add_epi32(r, cin, r, one);
		}
	} else {
		r = _mm512_sub_epi32(a, b);
		*out = _mm512_cmplt_epu32_mask(a, b);
		if (in) {
			*out |= _mm512_mask_cmpeq_epi32_mask(cin, a, b);
			r = _mm512_mask_sub_epi32(r, cin, r, one);
		}
	}
	return r;
}

ZMM bool run_carry(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows,
		   enum carry how, bool in, unsigned int scalars)
{
	uint64_t exec = gcn_exec(w), cin = 0;
	__m512i part[4];
	unsigned int at;
	__mmask16 m[4];

	if (in && !zmm_mask_at(i, &at))
		return false;
	if (in)
		cin = zmm_mask(w, at);
	ZMM_SOURCE(0, scalars);
	ZMM_SOURCE(1, scalars);
	FOR_PARTS
	{
		part[k] = carry_part(how, src0[k], src1[k], in, (__mmask16)(cin >> k * 16), &m[k]);
	}
	zmm_put(w->vgpr[i->dst], part, exec, rows);
	gcn_set64(w, i->sdst & 127, zmm_bits(m[0], m[1], m[2], m[3]) & exec);
	return true;
}

ZMM_CLASSES(32, __mmask16, 0x7f800000, 0x800000, 0x400000)

/* Of one set for all lanes. */
ZMM bool run_class(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows)
{
	uint32_t set = gcn_src32(w, i, i->src[1]);
	__mmask16 m[4];

	ZMM_SOURCE(0, 0);
	FOR_PARTS
	{
		m[k] = zmm_classes32(src0[k], set);
	}
	gcn_set64(w, i->sdst & 127, zmm_bits(m[0], m[1], m[2], m[3]) & gcn_exec(w));
	return true;
}

/* ---- parts of registers (SDWA) --------------------------------------------------------------- */

struct sdwa {
	__m128i at;
	__m512i keep;
};

ZMM struct sdwa sdwa_of(const struct gcn_inst *i, unsigned int n)
{
	unsigned int sel = i->ext_word >> (16 + 8 * n) & 7;
	unsigned int at = sel < 4 ? sel * 8 : sel < 6 ? (sel - 4) * 16 : 0;

	return (struct sdwa){ _mm_cvtsi32_si128((int)at), _mm512_set1_epi32(sel < 4 ? 0xff :
									    sel < 6 ? 0xffff :
										      -1) };
}

ZMM __m512i sdwa_get(const uint32_t *row, unsigned int k, const struct sdwa *s)
{
	return _mm512_and_si512(_mm512_srl_epi32(_mm512_loadu_si512(row + k * 16), s->at), s->keep);
}

/* Of two registers, without signs, to a whole register. */
ZMM bool run_sdwa(struct gcn_wave *w, const struct gcn_inst *i, struct zmm_rows *rows, part_fn *fn)
{
	struct sdwa first = sdwa_of(i, 0), second = sdwa_of(i, 1);
	__m512i part[4];

	FOR_PARTS
	{
		__m512i a = sdwa_get(w->vgpr[i->src[0] - GCN_SRC_VGPR], k, &first);
		__m512i b = sdwa_get(w->vgpr[i->src[1] - GCN_SRC_VGPR], k, &second);

		part[k] = fn(a, b, b);
	}
	zmm_put(w->vgpr[i->dst], part, gcn_exec(w), rows);
	return true;
}

/* ---- handlers -------------------------------------------------------------------------------- */

#define FORM(name, form, call) ZMM_HANDLER(name##_##form, call)
#define INT1(name)                                                                                 \
	FORM(name, 0, run_int(w, i, rows, name, 1, 0))                                             \
	FORM(name, 1, run_int(w, i, rows, name, 1, 1))
#define FORMS2(name, what, ...)                                                                    \
	FORM(name, 0, what(w, i, rows, __VA_ARGS__, 0))                                            \
	FORM(name, 1, what(w, i, rows, __VA_ARGS__, 1))                                            \
	FORM(name, 2, what(w, i, rows, __VA_ARGS__, 2))                                            \
	FORM(name, 3, what(w, i, rows, __VA_ARGS__, 3))
#define INT2(name) FORMS2(name, run_int, name, 2)
#define INT2_SDWA(name) INT2(name) FORM(name, sdwa, run_sdwa(w, i, rows, name))
#define INT3(name)                                                                                 \
	FORMS2(name, run_int, name, 3)                                                             \
	FORM(name, 4, run_int(w, i, rows, name, 3, 4))                                             \
	FORM(name, 5, run_int(w, i, rows, name, 3, 5))                                             \
	FORM(name, 6, run_int(w, i, rows, name, 3, 6))
#define FLOAT2(name)                                                                               \
	FORM(name, 0, run_float(w, i, rows, name, 2, 0, false))                                    \
	FORM(name, 1, run_float(w, i, rows, name, 2, 1, false))                                    \
	FORM(name, 2, run_float(w, i, rows, name, 2, 2, false))                                    \
	FORM(name, 3, run_float(w, i, rows, name, 2, 3, false))                                    \
	FORM(name, 0s, run_float(w, i, rows, name, 2, 0, true))                                    \
	FORM(name, 1s, run_float(w, i, rows, name, 2, 1, true))                                    \
	FORM(name, 2s, run_float(w, i, rows, name, 2, 2, true))                                    \
	FORM(name, 3s, run_float(w, i, rows, name, 2, 3, true))
#define FLOAT1(name)                                                                               \
	FORM(name, 0, run_float(w, i, rows, name, 1, 0, false))                                    \
	FORM(name, 0s, run_float(w, i, rows, name, 1, 0, true))
#define FLOAT3(name)                                                                               \
	FORM(name, 0, run_float(w, i, rows, name, 3, 0, false))                                    \
	FORM(name, 1, run_float(w, i, rows, name, 3, 1, false))                                    \
	FORM(name, 2, run_float(w, i, rows, name, 3, 2, false))                                    \
	FORM(name, 3, run_float(w, i, rows, name, 3, 3, false))                                    \
	FORM(name, 4, run_float(w, i, rows, name, 3, 4, false))                                    \
	FORM(name, 5, run_float(w, i, rows, name, 3, 5, false))                                    \
	FORM(name, 6, run_float(w, i, rows, name, 3, 6, false))                                    \
	FORM(name, 0s, run_float(w, i, rows, name, 3, 0, true))                                    \
	FORM(name, 1s, run_float(w, i, rows, name, 3, 1, true))                                    \
	FORM(name, 2s, run_float(w, i, rows, name, 3, 2, true))                                    \
	FORM(name, 3s, run_float(w, i, rows, name, 3, 3, true))                                    \
	FORM(name, 4s, run_float(w, i, rows, name, 3, 4, true))                                    \
	FORM(name, 5s, run_float(w, i, rows, name, 3, 5, true))                                    \
	FORM(name, 6s, run_float(w, i, rows, name, 3, 6, true))
#define SELECT(name)                                                                               \
	FORM(name, 0, run_select(w, i, rows, 0))                                                   \
	FORM(name, 1, run_select(w, i, rows, 1))                                                   \
	FORM(name, 2, run_select(w, i, rows, 2))                                                   \
	FORM(name, 3, run_select(w, i, rows, 3))
#define COMPARE(name) FORMS2(name, run_compare, name)
#define CARRY(name, how, in) FORMS2(name, run_carry, how, in)
#define CLASS(name) FORM(name, 2, run_class(w, i, rows))

#define LIST_COMPARE(X)                                                                            \
	X(v_cmp_lt_i32)                                                                            \
	X(v_cmp_eq_i32)                                                                            \
	X(v_cmp_le_i32)                                                                            \
	X(v_cmp_gt_i32)                                                                            \
	X(v_cmp_ne_i32)                                                                            \
	X(v_cmp_ge_i32)                                                                            \
	X(v_cmp_lt_u32)                                                                            \
	X(v_cmp_eq_u32)                                                                            \
	X(v_cmp_le_u32)                                                                            \
	X(v_cmp_gt_u32)                                                                            \
	X(v_cmp_ne_u32)                                                                            \
	X(v_cmp_ge_u32)                                                                            \
	X(v_cmp_lt_u16)                                                                            \
	X(v_cmp_eq_u16)                                                                            \
	X(v_cmp_le_u16)                                                                            \
	X(v_cmp_gt_u16)                                                                            \
	X(v_cmp_ne_u16)                                                                            \
	X(v_cmp_ge_u16)                                                                            \
	X(v_cmp_lt_f32)                                                                            \
	X(v_cmp_eq_f32)                                                                            \
	X(v_cmp_le_f32)                                                                            \
	X(v_cmp_gt_f32)                                                                            \
	X(v_cmp_lg_f32)                                                                            \
	X(v_cmp_ge_f32)                                                                            \
	X(v_cmp_o_f32)                                                                             \
	X(v_cmp_u_f32)                                                                             \
	X(v_cmp_nge_f32)                                                                           \
	X(v_cmp_nlg_f32) X(v_cmp_ngt_f32) X(v_cmp_nle_f32) X(v_cmp_neq_f32) X(v_cmp_nlt_f32)
#define LIST_INT1(X)                                                                               \
	X(v_mov_b32) X(v_not_b32) X(v_cvt_f32_i32) X(v_cvt_f32_u32) X(v_rcp_f32) X(v_rcp_iflag_f32)
#define LIST_INT2(X)                                                                               \
	X(v_lshlrev_b16)                                                                           \
	X(v_lshrrev_b16)                                                                           \
	X(v_subrev_u32)                                                                            \
	X(v_min_i32) X(v_max_i32) X(v_min_u32) X(v_max_u32) X(v_mul_lo_u32) X(v_mul_hi_u32)
#define LIST_INT2_SDWA(X)                                                                          \
	X(v_add_u32)                                                                               \
	X(v_sub_u32)                                                                               \
	X(v_lshrrev_b32) X(v_ashrrev_i32) X(v_lshlrev_b32) X(v_and_b32) X(v_or_b32) X(v_xor_b32)
#define LIST_INT3(X)                                                                               \
	X(v_lshl_add_u32)                                                                          \
	X(v_add_lshl_u32) X(v_add3_u32) X(v_lshl_or_b32) X(v_and_or_b32) X(v_or3_b32)
#define LIST_FLOAT2(X) X(v_add_f32) X(v_sub_f32) X(v_subrev_f32) X(v_mul_f32)

LIST_COMPARE(COMPARE)
LIST_INT1(INT1)
LIST_INT2(INT2)
LIST_INT2_SDWA(INT2_SDWA)
LIST_INT3(INT3)
LIST_FLOAT2(FLOAT2)
FLOAT3(v_fma_f32)
FLOAT1(v_sqrt_f32)
SELECT(v_cndmask_b32)
CARRY(v_add_co_u32, ADD, false)
CARRY(v_sub_co_u32, SUB, false)
CARRY(v_subrev_co_u32, SUBREV, false)
CARRY(v_addc_co_u32, ADD, true)
CARRY(v_subb_co_u32, SUB, true)
CARRY(v_subbrev_co_u32, SUBREV, true)
CLASS(v_cmp_class_f32)

#define ROW1(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 1,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1) } },
#define ROW_COMPARE(n)                                                                             \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_AS_BEFORE,                                                          \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3) } },
#define ROW2(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3) } },
#define ROW2_SDWA(n)                                                                               \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3) },           \
	  .sdwa = ZMM_BOTH(n##_sdwa) },
#define ROW3(n)                                                                                    \
	{ .name = #n,                                                                              \
	  .nr = 3,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3),             \
		   ZMM_BOTH(n##_4), ZMM_BOTH(n##_5), ZMM_BOTH(n##_6) } },
#define ROW2F(n)                                                                                   \
	{ .name = #n,                                                                              \
	  .nr = 2,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3) },           \
	  .of_signs = { ZMM_BOTH(n##_0s), ZMM_BOTH(n##_1s), ZMM_BOTH(n##_2s),                      \
			ZMM_BOTH(n##_3s) } },
#define ROW3F(n)                                                                                   \
	{ .name = #n,                                                                              \
	  .nr = 3,                                                                                 \
	  .leaves = GCN_LEAVES_ROW,                                                                \
	  .run = { ZMM_BOTH(n##_0), ZMM_BOTH(n##_1), ZMM_BOTH(n##_2), ZMM_BOTH(n##_3),             \
		   ZMM_BOTH(n##_4), ZMM_BOTH(n##_5), ZMM_BOTH(n##_6) },                            \
	  .of_signs = { ZMM_BOTH(n##_0s), ZMM_BOTH(n##_1s), ZMM_BOTH(n##_2s), ZMM_BOTH(n##_3s),    \
			ZMM_BOTH(n##_4s), ZMM_BOTH(n##_5s), ZMM_BOTH(n##_6s) } },

static const struct valu_direct list[] = {
	LIST_COMPARE(ROW_COMPARE) LIST_INT1(ROW1) LIST_INT2(ROW2) LIST_INT2_SDWA(ROW2_SDWA)
		LIST_INT3(ROW3) LIST_FLOAT2(ROW2F)
			ROW3F(v_fma_f32){ .name = "v_sqrt_f32",
					  .nr = 1,
					  .leaves = GCN_LEAVES_ROW,
					  .run = { ZMM_BOTH(v_sqrt_f32_0) },
					  .of_signs = { ZMM_BOTH(v_sqrt_f32_0s) } },
	ROW2(v_cndmask_b32) ROW2(v_add_co_u32) ROW2(v_sub_co_u32) ROW2(v_subrev_co_u32)
		ROW2(v_addc_co_u32) ROW2(v_subb_co_u32)
			ROW2(v_subbrev_co_u32){ .name = "v_cmp_class_f32",
						.nr = 2,
						.leaves = GCN_LEAVES_AS_BEFORE,
						.run = { [2] = ZMM_BOTH(v_cmp_class_f32_2) } },
};

const struct valu_direct *PASTE(valu_direct32, VALU_SUFFIX)(unsigned int n)
{
	return n < sizeof(list) / sizeof(list[0]) ? &list[n] : NULL;
}

#else

const struct valu_direct *PASTE(valu_direct32, VALU_SUFFIX)(unsigned int n)
{
	(void)n;
	return NULL;
}

#endif
