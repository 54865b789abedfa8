/* SPDX-License-Identifier: MIT */
/* valu_class.c - the kind of a vector instruction for gfx90a's counters, by its mnemonic
 *
 * A packed instruction is one instruction. Instructions that move, compare floats, select, or work
 * on bits have no kind.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inst.h"
#include "valu.h"

static bool begins(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(name, *words, strlen(*words)) == 0)
			return true;
	return false;
}

static bool ends(const char *name, const char *word)
{
	size_t n = strlen(name), k = strlen(word);

	return n >= k && strcmp(name + n - k, word) == 0;
}

/* GCN_VALU_INT32, GCN_VALU_INT64 or GCN_VALU */
static uint8_t integer_class(const char *name)
{
	if (strstr(name, "_i64") || strstr(name, "_u64"))
		return GCN_VALU_INT64;
	if (ends(name, "_i32") || ends(name, "_u32") || ends(name, "_i24") || ends(name, "_u24"))
		return GCN_VALU_INT32;
	return GCN_VALU;
}

uint8_t valu_class(const char *name)
{
	static const char *const add[] = { "add_", "sub_", "subrev_", NULL };
	static const char *const mul[] = { "mul_", NULL };
	static const char *const fma[] = {
		"fma_", "fmac_", "mac_", "mad_", "madak_", "madmk_", NULL
	};
	static const char *const trans[] = { "rcp_", "rsq_", "sqrt_", "exp_",
					     "log_", "sin_", "cos_",  NULL };
	unsigned int type;

	name += strncmp(name, "v_", 2) == 0 ? 2 : 0;
	if (strncmp(name, "cvt_", 4) == 0)
		return GCN_VALU_CVT;
	name += strncmp(name, "pk_", 3) == 0 ? 3 : 0;
	if (ends(name, "_f16"))
		type = 0;
	else if (ends(name, "_f32"))
		type = GCN_VALU_ADD_F32 - GCN_VALU_ADD_F16;
	else if (ends(name, "_f64"))
		type = GCN_VALU_ADD_F64 - GCN_VALU_ADD_F16;
	else
		return integer_class(name);
	if (begins(name, add))
		return (uint8_t)(GCN_VALU_ADD_F16 + type);
	if (begins(name, mul))
		return (uint8_t)(GCN_VALU_MUL_F16 + type);
	if (begins(name, fma))
		return (uint8_t)(GCN_VALU_FMA_F16 + type);
	if (begins(name, trans))
		return (uint8_t)(GCN_VALU_TRANS_F16 + type);
	return GCN_VALU;
}
