/* SPDX-License-Identifier: MIT */
/* disasm.c - one instruction as text, for messages about illegal and unimplemented ones
 *
 * In LLVM's form, without the suffixes of encodings, SDWA and DPP. Of formatted buffers and images
 * there is only the name, of exports the family. Sizes of operands follow from the names.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mfma.h"
#include "valu.h"

struct text {
	char *at;
	size_t left;
	const char *separator; /* before the next operand */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left ? (int)t->left - 1 : 0;
	t->at += n;
	t->left -= (size_t)n;
}

static void put_range(struct text *t, char file, unsigned int first, unsigned int nr)
{
	if (nr == 1)
		put(t, "%c%u", file, first);
	else
		put(t, "%c[%u:%u]", file, first, first + nr - 1);
}

static void put_special(struct text *t, unsigned int code, unsigned int nr)
{
	static const char *const pairs[] = { [102 - 102] = "flat_scratch",
					     [104 - 102] = "xnack_mask",
					     [106 - 102] = "vcc",
					     [126 - 102] = "exec" };
	static const char *const floats[] = { "0.5",  "-0.5", "1.0",  "-1.0",	   "2.0",
					      "-2.0", "4.0",  "-4.0", "0.15915494" };
	const char *pair = code >= 102 && code < 128 ? pairs[(code & ~1u) - 102] : NULL;

	if (pair)
		put(t, "%s%s", pair, nr > 1 ? "" : code & 1 ? "_hi" : "_lo");
	else if (code == GCN_REG_M0)
		put(t, "m0");
	else if (code >= 108 && code < 124)
		put(t, "ttmp%u", code - 108);
	else if (code >= 128 && code <= 208)
		put(t, "%d", code <= 192 ? (int)code - 128 : 192 - (int)code);
	else if (code >= 240 && code <= 248)
		put(t, "%s", floats[code - 240]);
	else if (code >= GCN_SRC_VCCZ && code <= GCN_SRC_SCC)
		put(t, "%s",
		    code == GCN_SRC_VCCZ  ? "vccz" :
		    code == GCN_SRC_EXECZ ? "execz" :
					    "scc");
	else
		put(t, "?");
}

/* `nr` registers from the one that the nine bits of `code` name. */
static void put_operand(struct text *t, const struct gcn_inst *i, unsigned int code,
			unsigned int nr)
{
	put(t, "%s", t->separator);
	t->separator = ", ";
	if (code >= GCN_SRC_AGPR)
		put_range(t, 'a', code - GCN_SRC_AGPR, nr);
	else if (code >= GCN_SRC_VGPR)
		put_range(t, 'v', code - GCN_SRC_VGPR, nr);
	else if (code < 102)
		put_range(t, 's', code, nr);
	else if (code == GCN_SRC_LITERAL)
		put(t, "0x%x", i->literal);
	else
		put_special(t, code, nr);
}

unsigned int gcn_nr_registers(const char *name)
{
	static const struct {
		const char *text;
		unsigned int nr;
	} endings[] = { { "x2", 2 },   { "x3", 3 }, { "x4", 4 },  { "x8", 8 },
			{ "x16", 16 }, { "64", 2 }, { "b96", 3 }, { "b128", 4 } };
	size_t n = strlen(name);

	for (size_t e = 0; e < sizeof(endings) / sizeof(endings[0]); e++) {
		size_t len = strlen(endings[e].text);

		if (n > len && !strcmp(name + n - len, endings[e].text))
			return endings[e].nr;
	}
	return 1;
}

/* Whether the name has the type or size, as a word between underscores or at the end. */
static bool has_word(const char *name, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = strstr(name, word); p; p = strstr(p + 1, word)) {
		if (p > name && p[-1] == '_' && (!p[len] || p[len] == '_'))
			return true;
	}
	return false;
}

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), k = strlen(with);

	return n >= k && !strcmp(name + n - k, with);
}

/* Of a scalar instruction's result or sources, by the last type in its name. */
static unsigned int scalar_size(const char *name)
{
	return ends(name, "64") ? 2 : 1;
}

static void put_flags(struct text *t, const char *what, uint32_t bits, unsigned int nr,
		      uint32_t usual)
{
	if (bits == usual)
		return;
	put(t, " %s:[", what);
	for (unsigned int n = 0; n < nr; n++)
		put(t, "%s%u", n ? "," : "", bits >> n & 1);
	put(t, "]");
}

/* A hardware register of s_getreg_b32 and s_setreg_b32. */
static void put_hwreg(struct text *t, uint32_t imm)
{
	static const char *const names[] = {
		[1] = "HW_REG_MODE",   [2] = "HW_REG_STATUS",	     [3] = "HW_REG_TRAPSTS",
		[4] = "HW_REG_HW_ID",  [5] = "HW_REG_GPR_ALLOC",     [6] = "HW_REG_LDS_ALLOC",
		[7] = "HW_REG_IB_STS", [15] = "HW_REG_SH_MEM_BASES", [20] = "HW_REG_XCC_ID",
	};
	unsigned int id = imm & 63, at = imm >> 6 & 31, nr = (imm >> 11 & 31) + 1;

	put(t, "%shwreg(", t->separator);
	t->separator = ", ";
	if (id < sizeof(names) / sizeof(names[0]) && names[id])
		put(t, "%s", names[id]);
	else
		put(t, "%u", id);
	if (at || nr != 32)
		put(t, ", %u, %u", at, nr);
	put(t, ")");
}

static void put_imm(struct text *t, const char *format, uint32_t value)
{
	put(t, "%s", t->separator);
	t->separator = ", ";
	put(t, format[0] == 'x' ? "0x%x" : "%u", value);
}

static void put_sopk(struct text *t, const struct gcn_inst *i, const char *name)
{
	uint32_t imm = (uint32_t)i->imm & 0xffff;

	if (starts(name, "s_setreg")) {
		put_hwreg(t, imm);
		put_operand(t, i, i->src[0] == GCN_SRC_LITERAL ? GCN_SRC_LITERAL : i->dst, 1);
		return;
	}
	put_operand(t, i, i->dst, starts(name, "s_call") || starts(name, "s_cbranch") ? 2 : 1);
	if (starts(name, "s_getreg"))
		put_hwreg(t, imm);
	else
		put_imm(t, starts(name, "s_call") || starts(name, "s_cbranch") ? "u" : "x", imm);
}

static void put_scalar(struct text *t, const struct gcn_inst *i, const char *name)
{
	unsigned int size = scalar_size(name), of_dst = size, of_src = size, of_src1 = size;

	if (i->enc == GCN_SOP1) {
		/* the result's type comes first, if there are two */
		if (has_word(name, "i32"))
			of_dst = 1;
		if (starts(name, "s_bitset"))
			of_src = 1;
		if (starts(name, "s_bitreplicate"))
			of_dst = 2;
	} else if (i->enc == GCN_SOP2) {
		if (starts(name, "s_lsh") || starts(name, "s_ashr") || starts(name, "s_bfe"))
			of_src1 = 1;
		else if (starts(name, "s_bfm"))
			of_src = of_src1 = 1;
		else if (ends(name, "_g_fork"))
			of_src = of_src1 = 2;
	} else if (starts(name, "s_bitcmp")) {
		of_src1 = 1;
	}
	if (i->enc != GCN_SOPC && !ends(name, "_g_fork") && !starts(name, "s_setpc") &&
	    !starts(name, "s_rfe") && !starts(name, "s_cbranch_join") &&
	    !starts(name, "s_set_gpr_idx"))
		put_operand(t, i, i->dst, of_dst);
	if (starts(name, "s_getpc"))
		return;
	put_operand(t, i, i->src[0], of_src);
	if (starts(name, "s_set_gpr_idx_on"))
		put_imm(t, "u", i->src[1]);
	else if (i->src[1] != GCN_SRC_NONE)
		put_operand(t, i, i->src[1], of_src1);
}

static unsigned int size_of(unsigned int type)
{
	return valu_width(type) == 64 ? 2 : 1;
}

static void put_source(struct text *t, const struct gcn_inst *i, unsigned int n, unsigned int nr)
{
	bool packed = i->enc == GCN_VOP3P, abs = i->abs >> n & 1 && !packed;

	put(t, "%s%s%s", t->separator, i->neg >> n & 1 && !packed ? "-" : "", abs ? "|" : "");
	t->separator = "";
	put_operand(t, i, i->src[n], nr);
	put(t, "%s", abs ? "|" : "");
}

/* What follows the operands of VOP3 and VOP3P. */
static void put_modifiers(struct text *t, const struct gcn_inst *i, unsigned int nr)
{
	static const char *const scales[] = { "", " mul:2", " mul:4", " div:2" };
	uint32_t all = (1u << nr) - 1, usual = all;

	if (i->enc == GCN_VOP3P) {
		/* of these the field says where the halves are, and not which comes second */
		if (strstr(gcn_mnemonic(i), "_mix"))
			usual = 0;
		put_flags(t, "op_sel", i->op_sel & all, nr, 0);
		put_flags(t, "op_sel_hi", i->op_sel_hi & all, nr, usual);
		put_flags(t, "neg_lo", i->neg & all, nr, 0);
		put_flags(t, "neg_hi", i->neg_hi & all, nr, 0);
	} else if (i->op_sel) {
		/* the last one is the result's */
		put_flags(t, "op_sel", (i->op_sel & all) | (i->op_sel >> 3 & 1) << nr, nr + 1, 0);
	}
	put(t, "%s%s", i->clamp ? " clamp" : "", scales[i->omod & 3]);
}

static void put_matrix(struct text *t, const struct gcn_inst *i)
{
	const struct gcn_mfma *m = i->mfma;
	unsigned int width = m->type == MFMA_F64 ? 2 : 1;
	unsigned int out = (unsigned int)m->size * m->size * m->blocks / 64 * width;
	unsigned int bits = m->type == MFMA_F64				? 64 :
			    m->type == MFMA_F32 || m->type == MFMA_XF32 ? 32 :
			    m->type == MFMA_I8 || m->type == MFMA_F8	? 8 :
									  16;
	unsigned int in = m->per_lane * bits / 32;
	uint32_t cbsz = i->word[0] >> 8 & 7, abid = i->word[0] >> 11 & 15, blgp = i->word[1] >> 29;

	put_operand(t, i, i->dst + GCN_SRC_VGPR, out);
	put_operand(t, i, i->src[0], in);
	put_operand(t, i, i->src[1], in * (1 + m->sparse));
	put_operand(t, i, i->src[2], m->sparse || i->src[2] < GCN_SRC_VGPR ? 1 : out);
	if (cbsz)
		put(t, " cbsz:%u", cbsz);
	if (abid)
		put(t, " abid:%u", abid);
	if (blgp && m->type == MFMA_F64 && i->arch != GCN_GFX90A)
		put_flags(t, "neg", blgp, 3, 0);
	else if (blgp)
		put(t, " blgp:%u", blgp);
}

/* Of instructions without a description, each operand is one register. */
static void put_valu(struct text *t, const struct gcn_inst *i)
{
	static const struct gcn_valu plain = { .dst = VALU_u32,
					       .src = { VALU_u32, VALU_u32, VALU_u32 } };
	const struct gcn_valu *v = i->valu ? i->valu : &plain;
	unsigned int nr = 0;
	bool one_word = i->enc != GCN_VOP3P && i->nr_words == 1;

	if (i->enc == GCN_VOPC)
		put_operand(t, i, i->sdst, 2);
	else if (!strcmp(gcn_mnemonic(i), "v_readlane_b32") ||
		 !strcmp(gcn_mnemonic(i), "v_readfirstlane_b32"))
		put_operand(t, i, i->dst, 1);
	else
		put_operand(t, i, i->dst + GCN_SRC_VGPR, size_of(v->dst));
	if (v->flags & VALU_CARRY_OUT)
		put_operand(t, i, i->sdst, 2);
	for (unsigned int n = 0; n < 3; n++) {
		/* what is there already, or a mask, which follows */
		bool other = v->src[n] == VALU_mask || (n == 2 && v->flags & VALU_ACC);

		if (i->src[n] == GCN_SRC_NONE || other || (i->enc == GCN_VOP1 && n) ||
		    (v == &plain && n == 2 &&
		     (i->enc == GCN_VOP2 || ends(gcn_mnemonic(i), "lane_b32"))))
			continue;
		put_source(t, i, n, size_of(v->src[n]));
		nr++;
	}
	if (v->flags & VALU_CARRY_IN)
		put_operand(t, i,
			    i->enc == GCN_VOP2 && one_word ? GCN_REG_VCC : i->word[1] >> 18 & 511,
			    2);
	if (i->word[0] >> 26 == 0x34 && (v != &plain || i->enc != GCN_VOP3P))
		put_modifiers(t, i, nr);
}

static void put_smem(struct text *t, const struct gcn_inst *i, const char *name)
{
	unsigned int nr = gcn_nr_registers(name);
	bool buffer = starts(name, "s_buffer") || ends(name, "_buffer");

	if (i->op >= 32 && i->op <= 37 && !starts(name, "s_mem"))
		return; /* of caches */
	if (starts(name, "s_mem")) {
		put_operand(t, i, i->dst, 2);
		return;
	}
	if (starts(name, "s_atc_probe"))
		put_imm(t, "u", i->dst);
	else if (!starts(name, "s_dcache"))
		put_operand(t, i, i->dst, strstr(name, "cmpswap") ? 2 * nr : nr);
	put_operand(t, i, i->src[0], buffer ? 4 : 2);
	if (i->src[1] != GCN_SRC_NONE)
		put_operand(t, i, i->src[1], 1);
	else
		put(t, ", 0x%x", (unsigned int)i->imm);
	if (i->src[1] != GCN_SRC_NONE && i->word[0] >> 17 & 1)
		put(t, " offset:0x%x", (unsigned int)i->imm);
	put(t, "%s", i->word[0] >> 16 & 1 ? " glc" : "");
}

/* Cache bits: `first` is GLC's, which gfx942 calls SC0, then the other two. */
static void put_cache(struct text *t, const struct gcn_inst *i, uint32_t first, uint32_t second,
		      uint32_t third)
{
	bool named = i->arch == GCN_GFX942;

	put(t, "%s%s%s", first ? named ? " sc0" : " glc" : "", second ? named ? " nt" : " slc" : "",
	    third && i->arch != GCN_GFX900 ? named ? " sc1" : " scc" : "");
}

static void put_mubuf(struct text *t, const struct gcn_inst *i, const char *name)
{
	uint32_t w = i->word[0];
	bool idxen = w >> 13 & 1, offen = w >> 12 & 1, lds = w >> 16 & 1;
	const char *end = strrchr(name, '_');
	unsigned int nr = gcn_nr_registers(name);

	if (starts(name, "buffer_wb") || starts(name, "buffer_inv")) {
		put_cache(t, i, w >> 14 & 1, 0, w >> 15 & 1);
		return;
	}
	if (strstr(name, "_format_"))
		nr = (unsigned int)strlen(end + 1) / (strstr(name, "_d16_") ? 2 : 1) +
		     (strstr(name, "_d16_") ? strlen(end + 1) % 2 : 0);
	if (strstr(name, "cmpswap"))
		nr *= 2;
	if (!lds) /* to LDS: no data */
		put_operand(t, i, i->dst + GCN_SRC_VGPR, nr);
	if (idxen || offen) {
		put_operand(t, i, i->src[0], idxen && offen ? 2 : 1);
	} else if (strcmp(name, "buffer_store_lds_dword") != 0) {
		put(t, "%soff", t->separator);
		t->separator = ", ";
	}
	put_operand(t, i, i->src[1], 4);
	put_operand(t, i, i->src[2], 1);
	put(t, "%s%s", idxen ? " idxen" : "", offen ? " offen" : "");
	if (i->imm)
		put(t, " offset:%d", i->imm);
	put_cache(t, i, w >> 14 & 1, w >> 17 & 1, w >> 15 & 1);
	put(t, "%s%s", i->word[1] >> 23 & 1 && i->arch == GCN_GFX900 ? " tfe" : "",
	    lds ? " lds" : "");
}

static void put_ds(struct text *t, const struct gcn_inst *i, const char *name)
{
	unsigned int nr = gcn_nr_registers(name);
	bool reads = starts(name, "ds_read"), gws = starts(name, "ds_gws");
	bool pair = starts(name, "ds_read2") || starts(name, "ds_write2") ||
		    starts(name, "ds_wrxchg2");
	bool two_data = pair || strstr(name, "cmpst") || strstr(name, "mskor") ||
			strstr(name, "wrap");
	bool alone = ends(name, "_addtid_b32") || starts(name, "ds_consume") ||
		     starts(name, "ds_append");

	if (!strcmp(name, "ds_nop") || !strcmp(name, "ds_gws_sema_v") ||
	    !strcmp(name, "ds_gws_sema_p") || !strcmp(name, "ds_gws_sema_release_all")) {
		put(t, "%s", gws ? " gds" : "");
		return;
	}
	if ((reads || strstr(name, "_rtn_") || strstr(name, "permute") || strstr(name, "swizzle") ||
	     alone) &&
	    strcmp(name, "ds_write_addtid_b32") != 0)
		put_operand(t, i, i->dst + GCN_SRC_VGPR, pair ? 2 * nr : nr);
	if (!alone)
		put_operand(t, i, i->src[0], 1);
	else if (!strcmp(name, "ds_write_addtid_b32"))
		put_operand(t, i, i->src[1], 1);
	if (!reads && !alone && !gws && !strstr(name, "swizzle"))
		put_operand(t, i, i->src[1], nr);
	if (!reads && two_data)
		put_operand(t, i, i->src[2], nr);
	if (pair) {
		if (i->imm & 255)
			put(t, " offset0:%d", i->imm & 255);
		if (i->imm >> 8)
			put(t, " offset1:%d", i->imm >> 8);
	} else if (i->imm) {
		put(t, " offset:%d", i->imm);
	}
	put(t, "%s", i->word[0] >> 16 & 1 ? " gds" : "");
}

static void put_flat(struct text *t, const struct gcn_inst *i, const char *name)
{
	enum { SCRATCH = 1 };
	uint32_t w = i->word[0];
	bool atomic = strstr(name, "_atomic_"), store = strstr(name, "_store_");
	bool to_lds = strstr(name, "_load_lds_"), returns = atomic ? w >> 16 & 1 : !store;
	bool scalar = i->sdst && i->src[2] != 127;
	bool vector = i->sdst != SCRATCH ||
		      (gcn_archs[i->arch].own_scratch ? w >> 13 & 1 : !scalar);
	unsigned int nr = gcn_nr_registers(name);

	if (returns && !to_lds)
		put_operand(t, i, i->dst + GCN_SRC_VGPR, nr);
	if (vector)
		put_operand(t, i, i->src[0], i->sdst == SCRATCH || scalar ? 1 : 2);
	else
		put(t, "%soff", t->separator);
	t->separator = ", ";
	if (atomic || store)
		put_operand(t, i, i->src[1], strstr(name, "cmpswap") ? 2 * nr : nr);
	if (scalar)
		put_operand(t, i, i->src[2], i->sdst == SCRATCH ? 1 : 2);
	else if (i->sdst)
		put(t, ", off");
	if (i->imm)
		put(t, " offset:%d", i->imm);
	put_cache(t, i, w >> 16 & 1, w >> 17 & 1, w >> 25 & 1);
	put(t, "%s", w >> 13 & 1 && !gcn_archs[i->arch].own_scratch ? " lds" : "");
}

static void put_sopp(struct text *t, const struct gcn_inst *i, const char *name)
{
	uint32_t imm = (uint32_t)i->imm & 0xffff;
	static const char *const alone[] = { "s_wakeup",
					     "s_barrier",
					     "s_icache_inv",
					     "s_ttracedata",
					     "s_endpgm_saved",
					     "s_set_gpr_idx_off",
					     "s_endpgm_ordered_ps_done" };

	for (size_t n = 0; n < sizeof(alone) / sizeof(alone[0]); n++) {
		if (!strcmp(name, alone[n]))
			return;
	}
	if (!strcmp(name, "s_waitcnt"))
		put(t, " vmcnt(%u) expcnt(%u) lgkmcnt(%u)", (imm & 15) | (imm >> 10 & 0x30),
		    imm >> 4 & 7, imm >> 8 & 15);
	else if (strcmp(name, "s_endpgm") != 0 || imm)
		put(t, " %u", imm);
}

static void put_mtbuf(struct text *t, uint32_t w)
{
	static const char *const what[] = { "load_format_", "store_format_", "load_format_d16_",
					    "store_format_d16_" };

	put(t, "tbuffer_%s%.*s", what[w >> 17 & 3], (int)(w >> 15 & 3) + 1, "xyzw");
}

/* VINTRP, which the decoder does not decode */
static void put_interp(struct text *t, uint32_t w)
{
	static const char *const names[] = { "v_interp_p1_f32", "v_interp_p2_f32",
					     "v_interp_mov_f32", "v_interp" };
	static const char *const params[] = { "p10", "p20", "p0" };
	unsigned int op = w >> 16 & 3, src = w & 255;

	put(t, "%s v%u, ", names[op], w >> 18 & 255);
	if (op == 2 && src < 3)
		put(t, "%s", params[src]);
	else
		put(t, "v%u", src);
	put(t, ", attr%u.%c", w >> 10 & 63, "xyzw"[w >> 8 & 3]);
}

void gcn_disassemble(const struct gcn_inst *i, char *text, size_t size)
{
	struct text t = { text, size, " " };
	const char *name = gcn_mnemonic(i);
	static const char *const segments[] = { "flat", "scratch", "global", "flat" };

	if (i->word[0] >> 26 == 0x35) {
		put_interp(&t, i->word[0]);
		return;
	}
	if (i->word[0] >> 26 == 0x3a) {
		put_mtbuf(&t, i->word[0]);
		return;
	}
	if (i->enc == GCN_FLAT && starts(name, "flat"))
		put(&t, "%s%s", segments[i->sdst & 3], name + 4);
	else
		put(&t, "%s", name);
	switch (i->enc) {
	case GCN_SOPP:
		put_sopp(&t, i, name);
		break;
	case GCN_SOPK:
		put_sopk(&t, i, name);
		break;
	case GCN_SOP1:
	case GCN_SOP2:
	case GCN_SOPC:
		put_scalar(&t, i, name);
		break;
	case GCN_VOP1:
	case GCN_VOP2:
	case GCN_VOPC:
	case GCN_VOP3:
	case GCN_VOP3P:
		if (starts(name, "v_mfma") || starts(name, "v_smfmac"))
			put_matrix(&t, i);
		else if (strcmp(name, "v_nop") != 0 && strcmp(name, "v_clrexcp") != 0)
			put_valu(&t, i);
		break;
	case GCN_SMEM:
		put_smem(&t, i, name);
		break;
	case GCN_DS:
		put_ds(&t, i, name);
		break;
	case GCN_FLAT:
		put_flat(&t, i, name);
		break;
	case GCN_MUBUF:
		put_mubuf(&t, i, name);
		break;
	default:
		break;
	}
}
