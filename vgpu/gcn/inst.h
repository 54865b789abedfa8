/* SPDX-License-Identifier: MIT */
/* inst.h - one decoded instruction
 *
 * Operands are nine-bit codes as the ISA numbers them: 0-127 scalar registers (VCC 106, M0 124,
 * EXEC 126), 128-248 inline constants, 251-253 flags, 255 the literal, 256-511 vector registers.
 * Accumulation registers, which instructions mark in other bits, are 512-767: behind the vector
 * registers, as in the wave's file (struct gcn_wave, vgpr).
 */
#ifndef VGPU_GCN_INST_H
#define VGPU_GCN_INST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

struct gcn_run;
struct gcn_wave;
struct gcn_inst;
struct gcn_valu;
struct gcn_mfma;

typedef void gcn_fn(struct gcn_wave *w, const struct gcn_inst *i);

/* A step of a block (code.h): executes its instruction and then the next step, whose function it
 * calls last, so that compilers make a jump of it. */
struct gcn_step;
typedef void gcn_step_fn(struct gcn_wave *w, const struct gcn_step *step);

struct gcn_step {
	gcn_step_fn *run;
	const struct gcn_inst *i;
	uint8_t nr;	/* instructions, from `i` on; 0: it ends the block, with its last one */
	uint8_t last;	/* what is in registers of the host alone: GCN_LAST and the others */
	uint16_t words; /* of two: from the first to the second; of the end: of the block */
};

/* Vector registers whose rows a step leaves in registers of the host (zmm.h), or none. */
struct gcn_left {
	unsigned int a, b;
};

#define GCN_LEFT_NONE 0x10000u
enum gcn_leaves { GCN_LEAVES_NOTHING, GCN_LEAVES_AS_BEFORE, GCN_LEAVES_ROW, GCN_LEAVES_PAIR };

/* In `last`: bits for sources that are row a, and that the higher source of a pair is row b; rows
 * that need not be stored (plan.c): a and b, and the first instruction's of two. */
enum { GCN_LAST = 1, GCN_LAST_HIGH = 8, GCN_DEAD_A = 16, GCN_DEAD_B = 32, GCN_DEAD_FIRST = 64 };

/* That of any instruction. */
gcn_step_fn gcn_any_step;

/* The step of a handler, which is inlined for the usual operands of instruction `i`: then it needs
 * no frame for calls. */
#define GCN_STEP_FOR(name, usual)                                                                  \
	static __attribute__((flatten)) void name##_step(struct gcn_wave *w,                       \
							 const struct gcn_step *step)              \
	{                                                                                          \
		const struct gcn_inst *i = step->i;                                                \
                                                                                                   \
		(void)i;                                                                           \
		if (__builtin_expect(!(usual), 0)) {                                               \
			gcn_any_step(w, step);                                                     \
			return;                                                                    \
		}                                                                                  \
		name(w, step->i);                                                                  \
		step++;                                                                            \
		step->run(w, step);                                                                \
	}
#define GCN_STEP(name) GCN_STEP_FOR(name, true)

enum gcn_enc {
	GCN_SOP2,
	GCN_SOPK,
	GCN_SOP1,
	GCN_SOPC,
	GCN_SOPP,
	GCN_SMEM,
	GCN_VOP2,
	GCN_VOP1,
	GCN_VOPC,
	GCN_VOP3,
	GCN_VOP3P,
	GCN_DS,
	GCN_FLAT,
	GCN_MUBUF,
	GCN_MTBUF,
	GCN_MIMG,
	GCN_OTHER,
	GCN_ENC_NR
};

/* Classes of instructions for counters. */
enum gcn_class {
	GCN_VALU,
	GCN_SALU,
	GCN_BRANCH,
	GCN_SMEM_CLASS,
	GCN_VMEM_RD,
	GCN_VMEM_WR,
	GCN_FLAT_RD,
	GCN_FLAT_WR,
	GCN_LDS,
	GCN_MSG,
	GCN_MISC,
	/* vector instructions of a kind that gfx90a counts, in the order of its events; the others
	 * are GCN_VALU */
	GCN_VALU_KINDS,
	GCN_VALU_ADD_F16 = GCN_VALU_KINDS,
	GCN_VALU_MUL_F16,
	GCN_VALU_FMA_F16,
	GCN_VALU_TRANS_F16,
	GCN_VALU_ADD_F32,
	GCN_VALU_MUL_F32,
	GCN_VALU_FMA_F32,
	GCN_VALU_TRANS_F32,
	GCN_VALU_ADD_F64,
	GCN_VALU_MUL_F64,
	GCN_VALU_FMA_F64,
	GCN_VALU_TRANS_F64,
	GCN_VALU_INT32,
	GCN_VALU_INT64,
	GCN_VALU_CVT,
	GCN_CLASS_NR
};

/* The first accumulation register's row in a wave's file. */
#define GCN_AGPR_ROW 256

enum {
	GCN_REG_FLAT_SCRATCH = 102,
	GCN_REG_VCC = 106,
	GCN_REG_M0 = 124,
	GCN_REG_EXEC = 126,
	GCN_SRC_VCCZ = 251,
	GCN_SRC_EXECZ = 252,
	GCN_SRC_SCC = 253,
	GCN_SRC_LITERAL = 255,
	GCN_SRC_VGPR = 256,
	GCN_SRC_AGPR = 512,
	GCN_SRC_NONE = 768,
};

/* The kind of a VALU instruction's second word. */
enum gcn_ext { GCN_EXT_NONE, GCN_EXT_SDWA, GCN_EXT_DPP };

/* A handler and its step. */
struct gcn_both {
	gcn_fn *run;
	gcn_step_fn *step;
};

#define GCN_BOTH(name)                                                                             \
	{                                                                                          \
		name, name##_step                                                                  \
	}

struct gcn_inst {
	gcn_fn *run;
	union {
		const struct gcn_valu *valu; /* VALU */
		const struct gcn_mfma *mfma; /* matrix instructions */
		gcn_fn *general;	     /* memory: for what a quick handler leaves */
	};
	uint32_t word[2];
	uint32_t literal;
	uint32_t ext_word;	/* SDWA or DPP */
	int32_t imm;		/* offset or SIMM16, sign-extended where the encoding says so */
	uint16_t op, dst, sdst; /* dst: vector register, accumulation registers from 256 on */
	uint16_t src[3];
	uint8_t enc, class, nr_words, ext;
	uint8_t neg, abs; /* a bit for each source */
	uint8_t omod, clamp;
	uint8_t op_sel, op_sel_hi, neg_hi;
	uint8_t reads; /* VALU: enum gcn_reads */
	uint8_t arch;  /* enum gcn_arch_id */
	uint8_t jumps; /* may set the program counter */
	/* others of the block may follow: it can't let the wave wait, nor read the program counter
	 * or write global memory; if it stops the wave, it says where */
	uint8_t plain;
} __attribute__((aligned(64)));

/* What a VALU instruction reads from registers and constants: a bit for each source, and another if
 * it has 64 bits. */
enum gcn_reads { GCN_READS = 1, GCN_READS_64 = 8, GCN_WRITES_64 = 64 };

/* The mnemonics and handlers of one encoding, by opcode. */
struct gcn_entry {
	const char *name;
	gcn_fn *run;
	uint8_t class;
	uint8_t only; /* architectures that have it, GCN_ONLY_*; 0: all */
	/* handlers for two scalar registers, and for one and a constant, which is in the
	 * instruction's `literal`; NULL: the general one */
	gcn_fn *of_registers, *of_constant;
	/* the steps of run, of_registers and of_constant; NULL: that of any handler */
	gcn_step_fn *step, *step_of_registers, *step_of_constant;
};

extern const struct gcn_entry gcn_sop2[128], gcn_sopk[32], gcn_sop1[256], gcn_sopc[128],
	gcn_sopp[128];
extern const struct gcn_entry gcn_smem[256], gcn_ds[256], gcn_flat[128], gcn_mubuf[128],
	gcn_mimg[128];

/* Of gcn_mubuf: one of gfx942 has another instruction's number. */
const struct gcn_entry *gcn_mubuf_entry(const struct gcn_inst *i);

/* Decodes the instruction of an architecture at `code`, of which `nr` words may be read (1 to 3).
 * An instruction that does not exist, or is not implemented, decodes too: running it stops the
 * wave. */
void gcn_decode(struct gcn_inst *i, enum gcn_arch_id arch, const uint32_t *code, unsigned int nr);

/* Makes the step of a decoded instruction, or of two for which there is one. `rows` are those that
 * the step before leaves, and become those that this one does. */
void gcn_make_step(struct gcn_step *step, const struct gcn_inst *i, const struct gcn_inst *second,
		   struct gcn_left *rows);

/* Whether there is a step for two, where nothing between them matters to the second. */
bool gcn_fuses(const struct gcn_inst *i, const struct gcn_inst *second);

/* Whether one, or one of two, reads rows that the step before leaves. */
bool gcn_reads_left(const struct gcn_inst *i, const struct gcn_inst *second,
		    const struct gcn_left *rows);

/* Makes the step that ends a block: of its last instruction. `words` are those of the block. */
void gcn_make_end(struct gcn_step *step, const struct gcn_inst *i, unsigned int words);

/* Its mnemonic, or "?". */
const char *gcn_mnemonic(const struct gcn_inst *i);

/* The number of data registers of a memory instruction, by its name. */
unsigned int gcn_nr_registers(const char *name);

/* The instruction with its operands as text, cut to `size` bytes with the 0. */
void gcn_disassemble(const struct gcn_inst *i, char *text, size_t size);

/* s_waitcnt: whether it is one; whether it is for all instructions of a kind; and what such a one
 * does behind stores, beside being counted. */
bool gcn_is_wait(const struct gcn_inst *i);
bool gcn_waits_for_all(const struct gcn_inst *i);
void gcn_run_fence(struct gcn_run *r);

/* For instructions that can't run. */
gcn_fn gcn_run_unimplemented, gcn_run_illegal, gcn_run_misaligned;

#endif
