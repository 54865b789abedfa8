/* SPDX-License-Identifier: MIT */
/* decode.c - words of machine code to struct gcn_inst
 *
 * VOP3 has further opcodes for the instructions of VOPC, VOP2 and VOP1: they are mapped to those,
 * so that there is one implementation of each.
 */
#include <stddef.h>
#include <string.h>

#include "memory.h"
#include "mfma.h"
#include "rows.h"
#include "salu.h"
#include "valu.h"
#include "wave.h"

enum { SRC_SDWA = 249, SRC_DPP = 250 };

enum {
	VOP2_MADMK_F32 = 23,
	VOP2_MADAK_F32 = 24,
	VOP2_MADMK_F16 = 36,
	VOP2_MADAK_F16 = 37,
	SOPK_SETREG_IMM32 = 20,
	FLAT_LDS_FIRST = 38, /* loads to LDS: of global and scratch memory alone */
	FLAT_LDS_LAST = 42,
	MUBUF_UBYTE = 16, /* loads of up to a dword */
	MUBUF_DWORD = 20,
	FLAT_ATOMIC = 64, /* the first of them: none is of scratch memory */
	VOP1_ACCVGPR_MOV = 82,
	VOP3P_MAI = 62, /* the first matrix instruction */
	VOP3P_ACCVGPR_READ = 88,
	VOP3P_ACCVGPR_WRITE = 89,
};

static uint32_t bits(uint32_t word, unsigned int hi, unsigned int lo)
{
	return word >> lo & (uint32_t)((2ull << (hi - lo)) - 1);
}

static int32_t sext(uint32_t v, unsigned int nr_bits)
{
	return (int32_t)(v << (32 - nr_bits)) >> (32 - nr_bits);
}

static uint8_t bit(uint32_t word, unsigned int at)
{
	return word >> at & 1;
}

static void set_entry(struct gcn_inst *i, const struct gcn_entry *e)
{
	bool has = e->name && (!e->only || e->only >> i->arch & 1);

	i->run = !has ? gcn_run_illegal : e->run ? e->run : gcn_run_unimplemented;
	i->class = e->class;
}

static void decode_scalar(struct gcn_inst *i)
{
	uint32_t w = i->word[0];

	i->class = GCN_SALU;
	i->dst = (uint16_t)bits(w, 22, 16);
	i->src[0] = (uint16_t)bits(w, 7, 0);
	i->src[1] = (uint16_t)bits(w, 15, 8);
	if (bits(w, 31, 23) == 0x17d) {
		i->enc = GCN_SOP1;
		i->op = (uint16_t)bits(w, 15, 8);
		i->src[1] = GCN_SRC_NONE;
		set_entry(i, &gcn_sop1[i->op]);
	} else if (bits(w, 31, 23) == 0x17e) {
		i->enc = GCN_SOPC;
		i->op = (uint16_t)bits(w, 22, 16);
		set_entry(i, &gcn_sopc[i->op]);
	} else if (bits(w, 31, 23) == 0x17f) {
		i->enc = GCN_SOPP;
		i->op = (uint16_t)bits(w, 22, 16);
		i->imm = sext(bits(w, 15, 0), 16);
		i->src[0] = i->src[1] = GCN_SRC_NONE;
		set_entry(i, &gcn_sopp[i->op]);
	} else if (bits(w, 31, 28) == 0xb) {
		i->enc = GCN_SOPK;
		i->op = (uint16_t)bits(w, 27, 23);
		i->imm = sext(bits(w, 15, 0), 16);
		i->src[0] = i->op == SOPK_SETREG_IMM32 ? GCN_SRC_LITERAL : GCN_SRC_NONE;
		i->src[1] = GCN_SRC_NONE;
		set_entry(i, &gcn_sopk[i->op]);
	} else {
		i->enc = GCN_SOP2;
		i->op = (uint16_t)bits(w, 29, 23);
		set_entry(i, &gcn_sop2[i->op]);
	}
}

static void decode_sdwa(struct gcn_inst *i, bool vopc)
{
	uint32_t x = i->ext_word;

	i->ext = GCN_EXT_SDWA;
	i->src[0] = (uint16_t)(bits(x, 7, 0) + (bit(x, 23) ? 0 : GCN_SRC_VGPR));
	if (bit(x, 31) && i->src[1] >= GCN_SRC_VGPR)
		i->src[1] -= GCN_SRC_VGPR;
	i->abs = (uint8_t)(bit(x, 21) | bit(x, 29) << 1);
	i->neg = (uint8_t)(bit(x, 20) | bit(x, 28) << 1);
	if (vopc) {
		i->sdst = bit(x, 15) ? (uint16_t)bits(x, 14, 8) : GCN_REG_VCC;
	} else {
		i->clamp = bit(x, 13);
		i->omod = (uint8_t)bits(x, 15, 14);
	}
}

static void decode_dpp(struct gcn_inst *i)
{
	uint32_t x = i->ext_word;

	i->ext = GCN_EXT_DPP;
	i->src[0] = (uint16_t)(bits(x, 7, 0) + GCN_SRC_VGPR);
	i->neg = (uint8_t)(bit(x, 20) | bit(x, 22) << 1);
	i->abs = (uint8_t)(bit(x, 21) | bit(x, 23) << 1);
}

/* VOP2, VOP1 and VOPC in their one-word form */
static void decode_vop(struct gcn_inst *i)
{
	uint32_t w = i->word[0];

	i->class = GCN_VALU;
	i->src[0] = (uint16_t)bits(w, 8, 0);
	i->sdst = GCN_REG_VCC;
	if (bits(w, 31, 25) == 0x3e) {
		i->enc = GCN_VOPC;
		i->op = (uint16_t)bits(w, 24, 17);
		i->src[1] = (uint16_t)(bits(w, 16, 9) + GCN_SRC_VGPR);
	} else if (bits(w, 31, 25) == 0x3f) {
		i->enc = GCN_VOP1;
		i->op = (uint16_t)bits(w, 16, 9);
		i->dst = (uint16_t)bits(w, 24, 17);
	} else {
		i->enc = GCN_VOP2;
		i->op = (uint16_t)bits(w, 30, 25);
		i->dst = (uint16_t)bits(w, 24, 17);
		i->src[1] = (uint16_t)(bits(w, 16, 9) + GCN_SRC_VGPR);
		if (i->op == VOP2_MADMK_F32 || i->op == VOP2_MADMK_F16) {
			i->src[2] = i->src[1];
			i->src[1] = GCN_SRC_LITERAL;
		} else if (i->op == VOP2_MADAK_F32 || i->op == VOP2_MADAK_F16) {
			i->src[2] = GCN_SRC_LITERAL;
		}
	}
	if (i->src[0] == SRC_SDWA)
		decode_sdwa(i, i->enc == GCN_VOPC);
	else if (i->src[0] == SRC_DPP)
		decode_dpp(i);
	if (i->enc == GCN_VOP1 && i->op == VOP1_ACCVGPR_MOV && gcn_archs[i->arch].agprs) {
		i->dst += GCN_AGPR_ROW;
		i->src[0] += i->src[0] >= GCN_SRC_VGPR ? GCN_SRC_AGPR - GCN_SRC_VGPR : 0;
	}
	valu_bind(i);
}

/* Matrix instructions: any operand may be of accumulation registers. Other fields: mfma.c. */
static void decode_mai(struct gcn_inst *i)
{
	uint32_t w = i->word[0], x = i->word[1];

	i->neg = i->clamp = 0;
	if (i->op == VOP3P_ACCVGPR_READ || i->op == VOP3P_ACCVGPR_WRITE) {
		i->src[1] = i->src[2] = GCN_SRC_NONE;
		if (i->op == VOP3P_ACCVGPR_WRITE)
			i->dst += GCN_AGPR_ROW;
		else if (i->src[0] >= GCN_SRC_VGPR)
			i->src[0] += GCN_SRC_AGPR - GCN_SRC_VGPR;
		valu_bind(i);
		return;
	}
	for (unsigned int n = 0; n < 2; n++) {
		if (bit(x, 27 + n) && i->src[n] >= GCN_SRC_VGPR)
			i->src[n] += GCN_SRC_AGPR - GCN_SRC_VGPR;
	}
	if (bit(w, 15)) {
		i->dst += GCN_AGPR_ROW;
		/* a sparse one's third source is its indices, in a vector register */
		if (i->src[2] >= GCN_SRC_VGPR && !mfma_is_sparse(i))
			i->src[2] += GCN_SRC_AGPR - GCN_SRC_VGPR;
	}
	mfma_bind(i);
}

static void decode_vop3(struct gcn_inst *i)
{
	uint32_t w = i->word[0], x = i->word[1];
	uint32_t op = bits(w, 25, 16);

	i->class = GCN_VALU;
	i->dst = (uint16_t)bits(w, 7, 0);
	i->src[0] = (uint16_t)bits(x, 8, 0);
	i->src[1] = (uint16_t)bits(x, 17, 9);
	i->src[2] = (uint16_t)bits(x, 26, 18);
	i->neg = (uint8_t)bits(x, 31, 29);
	i->clamp = bit(w, 15);
	if (bits(w, 25, 23) == 7) {
		i->enc = GCN_VOP3P;
		i->op = (uint16_t)bits(w, 22, 16);
		if (i->op >= VOP3P_MAI && gcn_archs[i->arch].agprs) {
			decode_mai(i);
			return;
		}
		i->op_sel = (uint8_t)bits(w, 13, 11);
		i->op_sel_hi = (uint8_t)(bits(x, 28, 27) | (uint32_t)bit(w, 14) << 2);
		i->neg_hi = (uint8_t)bits(w, 10, 8);
		valu_bind(i);
		return;
	}
	i->enc = op < 256 ? GCN_VOPC : op < 320 ? GCN_VOP2 : op < 448 ? GCN_VOP1 : GCN_VOP3;
	i->op = (uint16_t)(op < 256 ? op : op < 320 ? op - 256 : op < 448 ? op - 320 : op);
	i->omod = (uint8_t)bits(x, 28, 27);
	if (i->enc == GCN_VOPC)
		i->sdst = (uint16_t)bits(w, 7, 0);
	if (valu_writes_mask(i) && i->enc != GCN_VOPC) {
		/* VOP3b: a scalar destination lies where the other form has its modifiers */
		i->sdst = (uint16_t)bits(w, 14, 8);
	} else {
		i->abs = (uint8_t)bits(w, 10, 8);
		i->op_sel = (uint8_t)bits(w, 14, 11);
	}
	valu_bind(i);
	if (i->enc == GCN_VOP1 && i->op == VOP1_ACCVGPR_MOV)
		i->run = gcn_run_illegal;
	if (i->enc == GCN_VOP2 && (i->op == VOP2_MADMK_F32 || i->op == VOP2_MADAK_F32 ||
				   i->op == VOP2_MADMK_F16 || i->op == VOP2_MADAK_F16))
		i->run = gcn_run_illegal;
}

static void decode_smem(struct gcn_inst *i)
{
	uint32_t w = i->word[0], x = i->word[1];

	i->enc = GCN_SMEM;
	i->op = (uint16_t)bits(w, 25, 18);
	i->dst = (uint16_t)bits(w, 12, 6);
	i->src[0] = (uint16_t)(bits(w, 5, 0) << 1);
	i->src[1] = GCN_SRC_NONE;
	if (bit(w, 17)) {
		i->imm = sext(bits(x, 20, 0), 21);
		if (bit(w, 14))
			i->src[1] = (uint16_t)bits(x, 31, 25);
	} else {
		i->src[1] = bit(w, 14) ? (uint16_t)bits(x, 31, 25) : (uint16_t)bits(x, 6, 0);
	}
	set_entry(i, &gcn_smem[i->op]);
}

/* Registers that hold more than a dword each are pairs, or more, from an even one on: addresses,
 * data, results. */
static bool is_aligned(const struct gcn_inst *i, bool addr64)
{
	const char *name = gcn_mnemonic(i);
	bool swap = strstr(name, "_cmpswap"), result = gcn_nr_registers(name) > 1;
	bool wide = result || swap;
	bool two = !strncmp(name, "ds_read2", 8) || !strncmp(name, "ds_wrxchg2", 10);
	bool reads = i->enc != GCN_MUBUF && i->enc != GCN_MIMG;

	if (addr64 && i->src[0] & 1)
		return false;
	/* what a swap compares with follows its data, which buffers have where the result is */
	if ((result || two || (swap && !reads)) && i->dst & 1)
		return false;
	return !wide || !reads || !((i->src[1] | (i->enc == GCN_DS ? i->src[2] : 0)) & 1);
}

/* What a memory instruction of an architecture with accumulation registers has beside the others'
 * fields. */
static void decode_unified(struct gcn_inst *i)
{
	bool ds = i->enc == GCN_DS, two_addr,
	     agpr = bit(ds ? i->word[0] : i->word[1], ds ? 25 : 23);

	if (i->enc == GCN_MIMG)
		agpr = bit(i->word[0], 16);
	if (agpr) {
		i->dst += GCN_AGPR_ROW;
		if (ds || i->enc == GCN_FLAT)
			i->src[1] += GCN_SRC_AGPR - GCN_SRC_VGPR;
		if (ds)
			i->src[2] += GCN_SRC_AGPR - GCN_SRC_VGPR;
	}
	two_addr = i->enc == GCN_FLAT ? i->sdst != 1 && (!i->sdst || i->src[2] == 127) :
					i->enc == GCN_MUBUF && bits(i->word[0], 13, 12) == 3;
	if (i->enc != GCN_MIMG && !is_aligned(i, two_addr) && i->run != gcn_run_illegal)
		i->run = gcn_run_misaligned;
}

/* src: address, data, second data (DS), scalar address (FLAT) or resource and offset (MUBUF) */
static void decode_memory(struct gcn_inst *i, uint32_t top)
{
	uint32_t w = i->word[0], x = i->word[1];

	i->src[0] = (uint16_t)(bits(x, 7, 0) + GCN_SRC_VGPR);
	i->src[1] = (uint16_t)(bits(x, 15, 8) + GCN_SRC_VGPR);
	i->dst = (uint16_t)bits(x, 31, 24);
	if (top == 0x36) {
		i->enc = GCN_DS;
		i->op = (uint16_t)bits(w, 24, 17);
		i->imm = (int32_t)bits(w, 15, 0);
		i->src[2] = (uint16_t)(bits(x, 23, 16) + GCN_SRC_VGPR);
		set_entry(i, &gcn_ds[i->op]);
		/* global data share: of it there are the barriers alone */
		if (bit(w, 16) != (i->op >= 152 && i->op <= 157))
			i->run = gcn_run_unimplemented;
	} else if (top == 0x37) {
		i->enc = GCN_FLAT;
		i->op = (uint16_t)bits(w, 24, 18);
		i->src[2] = (uint16_t)bits(x, 22, 16);
		i->sdst = (uint16_t)bits(w, 15, 14); /* segment: 0 flat, 1 scratch, 2 global */
		i->imm = i->sdst ? sext(bits(w, 12, 0), 13) : (int32_t)bits(w, 11, 0);
		set_entry(i, &gcn_flat[i->op]);
		if (i->class == GCN_FLAT_RD && i->sdst)
			i->class = GCN_VMEM_RD;
		else if (i->class == GCN_FLAT_WR && i->sdst)
			i->class = GCN_VMEM_WR;
		/* to LDS, or, of scratch memory, that there is a vector register */
		if ((bit(w, 13) && !(gcn_archs[i->arch].own_scratch && i->sdst == 1)) ||
		    i->sdst == 3)
			i->run = gcn_run_unimplemented;
		if ((!i->sdst && i->op >= FLAT_LDS_FIRST && i->op <= FLAT_LDS_LAST) ||
		    (i->sdst == 1 && i->op >= FLAT_ATOMIC))
			i->run = gcn_run_illegal;
	} else if (top == 0x3c) {
		i->enc = GCN_MIMG;
		i->op = (uint16_t)bits(w, 24, 18);
		i->dst = (uint16_t)bits(x, 15, 8);
		i->src[1] = (uint16_t)(bits(x, 20, 16) << 2);
		i->src[2] = (uint16_t)(bits(x, 25, 21) << 2);
		set_entry(i, &gcn_mimg[i->op]);
		/* all of the others exist, too: comparisons and offsets */
		if (!gcn_mimg[i->op].name && i->op >= 32)
			i->run = gcn_run_unimplemented;
		if (!gcn_archs[i->arch].images)
			i->run = gcn_run_illegal;
	} else {
		i->enc = GCN_MUBUF;
		i->op = (uint16_t)bits(w, 24, 18);
		i->dst = (uint16_t)bits(x, 15, 8);
		i->src[1] = (uint16_t)(bits(x, 20, 16) << 2);
		i->src[2] = (uint16_t)bits(x, 31, 24);
		i->imm = (int32_t)bits(w, 11, 0);
		set_entry(i, gcn_mubuf_entry(i));
		/* to LDS more than a dword; partially resident textures */
		if ((bit(w, 16) && (i->op < MUBUF_UBYTE || i->op > MUBUF_DWORD)) ||
		    (bit(x, 23) && !gcn_archs[i->arch].agprs))
			i->run = gcn_run_unimplemented;
	}
	if (gcn_archs[i->arch].agprs)
		decode_unified(i);
}

/* The number of words, without the literal. */
static unsigned int base_words(uint32_t w)
{
	switch (bits(w, 31, 26)) {
	case 0x30: /* SMEM */
	case 0x34: /* VOP3 */
	case 0x36: /* DS */
	case 0x37: /* FLAT */
	case 0x38: /* MUBUF */
	case 0x3a: /* MTBUF */
	case 0x3c: /* MIMG */
	case 0x31: /* EXP */
		return 2;
	default:
		return 1;
	}
}

static bool wants_literal(const struct gcn_inst *i)
{
	if (i->enc == GCN_VOP2 && (i->src[1] == GCN_SRC_LITERAL || i->src[2] == GCN_SRC_LITERAL))
		return true;
	return i->src[0] == GCN_SRC_LITERAL || (i->enc <= GCN_SOPC && i->src[1] == GCN_SRC_LITERAL);
}

/* Handlers for the usual operands of scalar instructions. */
static void bind_scalar(struct gcn_inst *i)
{
	const struct gcn_entry *e = i->enc == GCN_SOP2 ? &gcn_sop2[i->op] :
				    i->enc == GCN_SOPC ? &gcn_sopc[i->op] :
							 NULL;

	if (!e || !e->of_registers || i->run != e->run || i->src[0] >= 128)
		return;
	if (i->src[1] < 128) {
		i->run = e->of_registers;
	} else if (i->src[1] < GCN_SRC_VCCZ || i->src[1] == GCN_SRC_LITERAL) {
		if (i->src[1] < GCN_SRC_VCCZ)
			i->literal = gcn_const32[i->src[1] - 128];
		i->run = e->of_constant;
	}
}

/* A handler for the usual case in front of the general one. */
static void bind_quick(struct gcn_inst *i)
{
	gcn_fn *quick = rows_kind()->quick(i);

	if (!quick || i->run == gcn_run_illegal || i->run == gcn_run_unimplemented ||
	    i->run == gcn_run_misaligned)
		return;
	i->general = i->run;
	i->run = quick;
}

static bool is_plain(const struct gcn_inst *i)
{
	enum { GETPC = 28, RFE = 31, CALL = 21, NOP = 0, WAITCNT = 12, SETPRIO = 15, LOADX16 = 4 };
	enum { SETREG = 18, SETREG_IMM = 20, SET_GPR_IDX_ON = 17 }; /* they change the mode */
	enum { GWS_FIRST = 152, GWS_LAST = 157 };

	if (i->run == gcn_run_illegal || i->run == gcn_run_unimplemented ||
	    i->run == gcn_run_misaligned)
		return false;
	switch (i->enc) {
	case GCN_SOP2:
	case GCN_VOP2:
	case GCN_VOP1:
	case GCN_VOPC:
	case GCN_VOP3:
		return true;
	case GCN_SOPC:
		return i->op != SET_GPR_IDX_ON;
	case GCN_SOPK:
		return i->op != CALL && i->op != SETREG && i->op != SETREG_IMM;
	case GCN_SOP1:
		return i->op < GETPC || i->op > RFE;
	case GCN_SOPP:
		return i->op == NOP || i->op == WAITCNT || i->op == SETPRIO;
	case GCN_VOP3P:
		return i->op < VOP3P_MAI;
	case GCN_SMEM: /* a fault stops the wave before the block's last instruction */
		return i->op <= LOADX16;
	case GCN_DS:
		return i->op < GWS_FIRST || i->op > GWS_LAST;
	case GCN_FLAT: /* loads that don't poll, into registers */
		return (i->class == GCN_VMEM_RD || i->class == GCN_FLAT_RD) &&
		       !memory_may_poll(i) && (i->op < FLAT_LDS_FIRST || i->op > FLAT_LDS_LAST);
	default:
		return false;
	}
}

void gcn_decode(struct gcn_inst *i, enum gcn_arch_id arch, const uint32_t *code, unsigned int nr)
{
	uint32_t w = code[0];
	uint32_t top = bits(w, 31, 26);
	unsigned int nr_words = base_words(w);
	bool one_word_valu = !bit(w, 31);

	memset(i, 0, sizeof(*i));
	i->arch = (uint8_t)arch;
	i->word[0] = w;
	i->word[1] = nr > 1 ? code[1] : 0;
	i->ext_word = i->word[1];
	i->src[0] = i->src[1] = i->src[2] = GCN_SRC_NONE;
	i->enc = GCN_OTHER;
	i->class = GCN_MISC;
	i->run = gcn_run_illegal;

	if (one_word_valu)
		decode_vop(i);
	else if (bits(w, 31, 30) == 2)
		decode_scalar(i);
	else if (top == 0x30)
		decode_smem(i);
	else if (top == 0x34)
		decode_vop3(i);
	else if (top == 0x36 || top == 0x37 || top == 0x38 || top == 0x3c)
		decode_memory(i, top);
	else if (top == 0x3a || top == 0x31 || top == 0x35)
		/* interpolation and exports are of graphics */
		i->run = top == 0x3a || arch == GCN_GFX900 ? gcn_run_unimplemented :
							     gcn_run_illegal;

	if (nr_words == 1 && (i->ext || wants_literal(i)))
		nr_words = 2;
	else if (nr_words == 2 && top == 0x34 &&
		 (i->src[0] == GCN_SRC_LITERAL || i->src[1] == GCN_SRC_LITERAL ||
		  i->src[2] == GCN_SRC_LITERAL))
		i->run = gcn_run_illegal; /* gfx9 has no literals there */
	if (nr_words > nr) {
		i->run = gcn_run_illegal;
		nr_words = nr;
	}
	i->literal = i->word[1];
	i->nr_words = (uint8_t)nr_words;
	i->jumps = i->enc == GCN_SOPP || i->enc == GCN_SOP1 || i->enc == GCN_SOPK ||
		   i->enc == GCN_OTHER;
	i->plain = is_plain(i);
	bind_scalar(i);
	if (i->enc >= GCN_VOP2 && i->enc <= GCN_VOP3)
		valu_bind_form(i);
	bind_quick(i);
}

void gcn_any_step(struct gcn_wave *w, const struct gcn_step *step)
{
	step->i->run(w, step->i);
	step++;
	step->run(w, step);
}

static void any_end(struct gcn_wave *w, const struct gcn_step *step)
{
	if (w->state != GCN_WAVE_RUN)
		return;
	w->pc += step->words * 4u;
	step->i->run(w, step->i);
}

void gcn_make_end(struct gcn_step *step, const struct gcn_inst *i, unsigned int words)
{
	step->run = i->enc == GCN_SOPP ? gcn_sopp[i->op].step : NULL;
	if (!step->run)
		step->run = any_end;
	step->i = i;
	step->nr = step->last = 0;
	step->words = (uint16_t)words;
}

static const struct gcn_entry *scalar_entry(const struct gcn_inst *i)
{
	switch (i->enc) {
	case GCN_SOP2:
		return &gcn_sop2[i->op];
	case GCN_SOPC:
		return &gcn_sopc[i->op];
	case GCN_SOP1:
		return &gcn_sop1[i->op];
	case GCN_SOPK:
		return &gcn_sopk[i->op];
	case GCN_SMEM:
		return &gcn_smem[i->op];
	default:
		return NULL;
	}
}

/* Which sources of an instruction the step before left. Of memory instructions that is the address
 * alone, and of one in LDS that moves values the values, too. */
static uint8_t last_of(const struct gcn_inst *i, const struct gcn_left *rows)
{
	enum { DS_BPERMUTE = 63 };
	unsigned int nr = i->enc == GCN_FLAT || (i->enc == GCN_DS && i->op != DS_BPERMUTE) ? 1 : 3;
	uint8_t last = 0;

	for (unsigned int n = 0; n < nr; n++) {
		bool is = i->src[n] - (unsigned int)GCN_SRC_VGPR == rows->a;

		/* addresses of flat and global memory are pairs, too */
		if (i->reads & GCN_READS_64 << n || i->enc == GCN_FLAT)
			is &= rows->b == rows->a + 1;
		last |= (uint8_t)(is << n);
	}
	return last;
}

static void leave(const struct gcn_inst *i, enum gcn_leaves what, struct gcn_left *rows)
{
	if (what == GCN_LEAVES_NOTHING)
		rows->a = rows->b = GCN_LEFT_NONE;
	if (what == GCN_LEAVES_ROW || what == GCN_LEAVES_PAIR)
		rows->a = i->dst;
	if (what == GCN_LEAVES_ROW && rows->b == i->dst)
		rows->b = GCN_LEFT_NONE;
	if (what == GCN_LEAVES_PAIR)
		rows->b = i->dst + 1u;
}

static gcn_step_fn *find_fused(const struct gcn_inst *i, const struct gcn_inst *second)
{
	return i->enc == GCN_SOP2 ? salu_fuse(i, second) : rows_kind()->fuse(i, second);
}

bool gcn_fuses(const struct gcn_inst *i, const struct gcn_inst *second)
{
	return find_fused(i, second);
}

/* The same of two instructions, where the second one's source may be row b. */
static uint8_t last_of_two(const struct gcn_inst *i, const struct gcn_inst *second,
			   const struct gcn_left *rows)
{
	uint8_t last = last_of(i, rows);

	if (second->src[1] - (unsigned int)GCN_SRC_VGPR == rows->b &&
	    second->src[1] != i->dst + GCN_SRC_VGPR)
		last |= GCN_LAST_HIGH;
	return last;
}

bool gcn_reads_left(const struct gcn_inst *i, const struct gcn_inst *second,
		    const struct gcn_left *rows)
{
	return second ? last_of_two(i, second, rows) : last_of(i, rows);
}

static void make_fused(struct gcn_step *step, const struct gcn_inst *i,
		       const struct gcn_inst *second, struct gcn_left *rows)
{
	step->run = find_fused(i, second);
	step->nr = 2;
	step->words = (uint16_t)(second - i);
	step->last = last_of_two(i, second, rows);
	if (i->enc == GCN_SOP2) {
		leave(second, GCN_LEAVES_NOTHING, rows);
		return;
	}
	leave(second, GCN_LEAVES_PAIR, rows);
	if (!(second->reads & GCN_WRITES_64)) {
		rows->a = i->dst == second->dst ? GCN_LEFT_NONE : i->dst;
		rows->b = second->dst;
	}
}

void gcn_make_step(struct gcn_step *step, const struct gcn_inst *i, const struct gcn_inst *second,
		   struct gcn_left *rows)
{
	const struct gcn_entry *e = scalar_entry(i);
	enum gcn_leaves what = GCN_LEAVES_NOTHING;

	step->i = i;
	if (second) {
		make_fused(step, i, second, rows);
		return;
	}
	step->run = NULL;
	step->nr = 1;
	step->words = 0;
	step->last = last_of(i, rows);
	if (e && i->run == e->run)
		step->run = e->step;
	else if (e && i->run == e->of_registers)
		step->run = e->step_of_registers;
	else if (e && i->run == e->of_constant)
		step->run = e->step_of_constant;
	else if (i->enc >= GCN_VOP2 && i->enc <= GCN_VOP3)
		step->run = valu_step(i, &what);
	else if (rows_kind()->quick(i) == i->run)
		step->run = rows_kind()->quick_step(i, &what);
	if (!step->run) {
		step->run = gcn_any_step;
		step->last = 0;
		what = GCN_LEAVES_NOTHING;
	}
	leave(i, what, rows);
}

/* Encodings of which nothing is implemented. */
static const char *family(uint32_t top)
{
	switch (top) {
	case 0x31:
		return "exp";
	case 0x35:
		return "v_interp";
	case 0x3a:
		return "tbuffer";
	default:
		return NULL;
	}
}

const char *gcn_mnemonic(const struct gcn_inst *i)
{
	const char *name = NULL;

	switch (i->enc) {
	case GCN_SOP2:
		name = gcn_sop2[i->op].name;
		break;
	case GCN_SOPK:
		name = gcn_sopk[i->op].name;
		break;
	case GCN_SOP1:
		name = gcn_sop1[i->op].name;
		break;
	case GCN_SOPC:
		name = gcn_sopc[i->op].name;
		break;
	case GCN_SOPP:
		name = gcn_sopp[i->op].name;
		break;
	case GCN_SMEM:
		name = gcn_smem[i->op].name;
		break;
	case GCN_DS:
		name = gcn_ds[i->op].name;
		break;
	case GCN_FLAT:
		name = gcn_flat[i->op].name;
		break;
	case GCN_MUBUF:
		name = gcn_mubuf_entry(i)->name;
		break;
	case GCN_MIMG:
		name = gcn_mimg[i->op].name ? gcn_mimg[i->op].name : "image";
		break;
	case GCN_OTHER:
		name = family(bits(i->word[0], 31, 26));
		break;
	default:
		name = valu_name(i); /* and those of matrices */
		break;
	}
	return name ? name : "?";
}
