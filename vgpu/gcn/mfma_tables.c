/* SPDX-License-Identifier: MIT */
/* mfma_tables.c - the matrix instructions of each architecture: names, opcodes, shapes, cycles */
#include "mfma.h"

static const struct gcn_mfma of_gfx90a[] = {
	{ "v_mfma_f32_32x32x1f32", 64, MFMA_F32, 32, 1, 2, 1, 64, 0, false },
	{ "v_mfma_f32_16x16x1f32", 65, MFMA_F32, 16, 1, 4, 1, 32, 0, false },
	{ "v_mfma_f32_4x4x1f32", 66, MFMA_F32, 4, 1, 16, 1, 8, 0, false },
	{ "v_mfma_f32_32x32x2f32", 68, MFMA_F32, 32, 2, 1, 1, 64, 0, false },
	{ "v_mfma_f32_16x16x4f32", 69, MFMA_F32, 16, 4, 1, 1, 32, 0, false },
	{ "v_mfma_f32_32x32x4f16", 72, MFMA_F16, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x4f16", 73, MFMA_F16, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_f32_4x4x4f16", 74, MFMA_F16, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_f32_32x32x8f16", 76, MFMA_F16, 32, 8, 1, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x16f16", 77, MFMA_F16, 16, 16, 1, 4, 32, 0, false },
	{ "v_mfma_i32_32x32x4i8", 80, MFMA_I8, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_i32_16x16x4i8", 81, MFMA_I8, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_i32_4x4x4i8", 82, MFMA_I8, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_i32_32x32x8i8", 84, MFMA_I8, 32, 8, 1, 4, 64, 0, false },
	{ "v_mfma_i32_16x16x16i8", 85, MFMA_I8, 16, 16, 1, 4, 32, 0, false },
	{ "v_mfma_f32_32x32x4bf16_1k", 99, MFMA_BF16, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x4bf16_1k", 100, MFMA_BF16, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_f32_4x4x4bf16_1k", 101, MFMA_BF16, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_f32_32x32x8bf16_1k", 102, MFMA_BF16, 32, 8, 1, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x16bf16_1k", 103, MFMA_BF16, 16, 16, 1, 4, 32, 0, false },
	{ "v_mfma_f32_32x32x2bf16", 104, MFMA_BF16, 32, 2, 2, 2, 64, 0, false },
	{ "v_mfma_f32_16x16x2bf16", 105, MFMA_BF16, 16, 2, 4, 2, 32, 0, false },
	{ "v_mfma_f32_4x4x2bf16", 107, MFMA_BF16, 4, 2, 16, 2, 8, 0, false },
	{ "v_mfma_f32_32x32x4bf16", 108, MFMA_BF16, 32, 4, 1, 2, 64, 0, false },
	{ "v_mfma_f32_16x16x8bf16", 109, MFMA_BF16, 16, 8, 1, 2, 32, 0, false },
	{ "v_mfma_f64_16x16x4f64", 110, MFMA_F64, 16, 4, 1, 1, 32, 0, false },
	{ "v_mfma_f64_4x4x4f64", 111, MFMA_F64, 4, 4, 4, 1, 16, 0, false },
};

#define A_BF8 1
#define B_BF8 2

static const struct gcn_mfma of_gfx942[] = {
	{ "v_mfma_f32_16x16x8_xf32", 62, MFMA_XF32, 16, 8, 1, 2, 16, 0, false },
	{ "v_mfma_f32_32x32x4_xf32", 63, MFMA_XF32, 32, 4, 1, 2, 32, 0, false },
	{ "v_mfma_f32_32x32x1_2b_f32", 64, MFMA_F32, 32, 1, 2, 1, 64, 0, false },
	{ "v_mfma_f32_16x16x1_4b_f32", 65, MFMA_F32, 16, 1, 4, 1, 32, 0, false },
	{ "v_mfma_f32_4x4x1_16b_f32", 66, MFMA_F32, 4, 1, 16, 1, 8, 0, false },
	{ "v_mfma_f32_32x32x2_f32", 68, MFMA_F32, 32, 2, 1, 1, 64, 0, false },
	{ "v_mfma_f32_16x16x4_f32", 69, MFMA_F32, 16, 4, 1, 1, 32, 0, false },
	{ "v_mfma_f32_32x32x4_2b_f16", 72, MFMA_F16, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x4_4b_f16", 73, MFMA_F16, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_f32_4x4x4_16b_f16", 74, MFMA_F16, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_f32_32x32x8_f16", 76, MFMA_F16, 32, 8, 1, 4, 32, 0, false },
	{ "v_mfma_f32_16x16x16_f16", 77, MFMA_F16, 16, 16, 1, 4, 16, 0, false },
	{ "v_mfma_i32_32x32x4_2b_i8", 80, MFMA_I8, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_i32_16x16x4_4b_i8", 81, MFMA_I8, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_i32_4x4x4_16b_i8", 82, MFMA_I8, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_i32_32x32x16_i8", 86, MFMA_I8, 32, 16, 1, 8, 32, 0, false },
	{ "v_mfma_i32_16x16x32_i8", 87, MFMA_I8, 16, 32, 1, 8, 16, 0, false },
	{ "v_mfma_f32_32x32x4_2b_bf16", 93, MFMA_BF16, 32, 4, 2, 4, 64, 0, false },
	{ "v_mfma_f32_16x16x4_4b_bf16", 94, MFMA_BF16, 16, 4, 4, 4, 32, 0, false },
	{ "v_mfma_f32_4x4x4_16b_bf16", 95, MFMA_BF16, 4, 4, 16, 4, 8, 0, false },
	{ "v_mfma_f32_32x32x8_bf16", 96, MFMA_BF16, 32, 8, 1, 4, 32, 0, false },
	{ "v_mfma_f32_16x16x16_bf16", 97, MFMA_BF16, 16, 16, 1, 4, 16, 0, false },
	{ "v_smfmac_f32_16x16x32_f16", 98, MFMA_F16, 16, 32, 1, 4, 16, 0, true },
	{ "v_smfmac_f32_32x32x16_f16", 100, MFMA_F16, 32, 16, 1, 4, 32, 0, true },
	{ "v_smfmac_f32_16x16x32_bf16", 102, MFMA_BF16, 16, 32, 1, 4, 16, 0, true },
	{ "v_smfmac_f32_32x32x16_bf16", 104, MFMA_BF16, 32, 16, 1, 4, 32, 0, true },
	{ "v_smfmac_i32_16x16x64_i8", 106, MFMA_I8, 16, 64, 1, 8, 16, 0, true },
	{ "v_smfmac_i32_32x32x32_i8", 108, MFMA_I8, 32, 32, 1, 8, 32, 0, true },
	{ "v_mfma_f64_16x16x4_f64", 110, MFMA_F64, 16, 4, 1, 1, 32, 0, false },
	{ "v_mfma_f64_4x4x4_4b_f64", 111, MFMA_F64, 4, 4, 4, 1, 16, 0, false },
	{ "v_mfma_f32_16x16x32_bf8_bf8", 112, MFMA_F8, 16, 32, 1, 8, 16, A_BF8 | B_BF8, false },
	{ "v_mfma_f32_16x16x32_bf8_fp8", 113, MFMA_F8, 16, 32, 1, 8, 16, A_BF8, false },
	{ "v_mfma_f32_16x16x32_fp8_bf8", 114, MFMA_F8, 16, 32, 1, 8, 16, B_BF8, false },
	{ "v_mfma_f32_16x16x32_fp8_fp8", 115, MFMA_F8, 16, 32, 1, 8, 16, 0, false },
	{ "v_mfma_f32_32x32x16_bf8_bf8", 116, MFMA_F8, 32, 16, 1, 8, 32, A_BF8 | B_BF8, false },
	{ "v_mfma_f32_32x32x16_bf8_fp8", 117, MFMA_F8, 32, 16, 1, 8, 32, A_BF8, false },
	{ "v_mfma_f32_32x32x16_fp8_bf8", 118, MFMA_F8, 32, 16, 1, 8, 32, B_BF8, false },
	{ "v_mfma_f32_32x32x16_fp8_fp8", 119, MFMA_F8, 32, 16, 1, 8, 32, 0, false },
	{ "v_smfmac_f32_16x16x64_bf8_bf8", 120, MFMA_F8, 16, 64, 1, 8, 16, A_BF8 | B_BF8, true },
	{ "v_smfmac_f32_16x16x64_bf8_fp8", 121, MFMA_F8, 16, 64, 1, 8, 16, A_BF8, true },
	{ "v_smfmac_f32_16x16x64_fp8_bf8", 122, MFMA_F8, 16, 64, 1, 8, 16, B_BF8, true },
	{ "v_smfmac_f32_16x16x64_fp8_fp8", 123, MFMA_F8, 16, 64, 1, 8, 16, 0, true },
	{ "v_smfmac_f32_32x32x32_bf8_bf8", 124, MFMA_F8, 32, 32, 1, 8, 32, A_BF8 | B_BF8, true },
	{ "v_smfmac_f32_32x32x32_bf8_fp8", 125, MFMA_F8, 32, 32, 1, 8, 32, A_BF8, true },
	{ "v_smfmac_f32_32x32x32_fp8_bf8", 126, MFMA_F8, 32, 32, 1, 8, 32, B_BF8, true },
	{ "v_smfmac_f32_32x32x32_fp8_fp8", 127, MFMA_F8, 32, 32, 1, 8, 32, 0, true },
};

#define TABLE(ops)                                                                                 \
	{                                                                                          \
		ops, sizeof(ops) / sizeof((ops)[0])                                                \
	}
const struct mfma_table mfma_gfx90a = TABLE(of_gfx90a), mfma_gfx942 = TABLE(of_gfx942);
