/* SPDX-License-Identifier: MIT */
/* mi300.hip - kernels for gfx942, for 470_mi300.py; tests/support/mi300.py says how mi300.co.txt is made of it
 *
 * Without HIP's headers: any clang from 17 on compiles it alone.
 */
#define GLOBAL extern "C" __attribute__((global)) void
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()

typedef float float4v __attribute__((ext_vector_type(4)));
typedef _Float16 half4v __attribute__((ext_vector_type(4)));

GLOBAL add(const float *a, const float *b, float *c)
{
	unsigned int n = GROUP * 64 + ITEM;

	c[n] = a[n] + b[n];
}

/* c[64][64] = a[64][64] b[64][64]: a workgroup makes 16 rows and columns */
GLOBAL product(const _Float16 *a, const _Float16 *b, float *c)
{
	unsigned int row = GROUP / 4 * 16, column = GROUP % 4 * 16, at = ITEM % 16, group = ITEM / 16;
	float4v sum = { 0, 0, 0, 0 };

	for (unsigned int k = group * 4; k < 64; k += 16) {
		half4v x, y;

		for (unsigned int n = 0; n < 4; n++) {
			x[n] = a[(row + at) * 64 + k + n];
			y[n] = b[(k + n) * 64 + column + at];
		}
		sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
	}
	for (unsigned int n = 0; n < 4; n++)
		c[(row + group * 4 + n) * 64 + column + at] = sum[n];
}

/* The same of 16 x 32 and 32 x 16 numbers, which become FP8. */
GLOBAL product_fp8(const float *a, const float *b, float *c)
{
	unsigned int at = ITEM % 16, group = ITEM / 16;
	union {
		int word[2];
		long all;
	} x, y;
	float4v sum = { 0, 0, 0, 0 };

	for (unsigned int n = 0; n < 2; n++) {
		const float *from = a + at * 32 + group * 8 + n * 4, *to = b + (group * 8 + n * 4) * 16 + at;

		x.word[n] = __builtin_amdgcn_cvt_pk_fp8_f32(from[0], from[1], 0, false);
		x.word[n] = __builtin_amdgcn_cvt_pk_fp8_f32(from[2], from[3], x.word[n], true);
		y.word[n] = __builtin_amdgcn_cvt_pk_fp8_f32(to[0], to[16], 0, false);
		y.word[n] = __builtin_amdgcn_cvt_pk_fp8_f32(to[32], to[48], y.word[n], true);
	}
	sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x.all, y.all, sum, 0, 0, 0);
	for (unsigned int n = 0; n < 4; n++)
		c[(group * 4 + n) * 16 + at] = sum[n];
}

/* The die of each workgroup. */
GLOBAL die(unsigned int *out)
{
	out[GROUP] = __builtin_amdgcn_s_getreg(20 | 3 << 11);
}

/* Memory of its own for each work-item: a number in base 7, backwards. */
GLOBAL digits(const unsigned int *in, unsigned int *out)
{
	unsigned int n = GROUP * 64 + ITEM, digit[12], nr = 0, result = 0;

	for (unsigned int v = in[n]; v; v /= 7)
		digit[nr++] = v % 7;
	for (unsigned int k = 0; k < nr; k++)
		result = result * 7 + digit[k];
	out[n] = result;
}
