/* SPDX-License-Identifier: MIT */
/* valu.h - vector instructions: what each one computes, apart from its operands' modifiers
 *
 * An instruction is a function over rows of 64 lanes and a description of its operands. Fetching
 * operands, SDWA, DPP, negation and the like come before it, output modifiers and EXEC after it,
 * once for all (valu.c). The functions ignore EXEC: results of inactive lanes are discarded.
 */
#ifndef VGPU_GCN_VALU_H
#define VGPU_GCN_VALU_H

#include "wave.h"

/* An operand's type. Rows of 16- and 32-bit types are of uint32_t, of 64-bit types of uint64_t. */
enum valu_type {
	VALU_none,
	VALU_u32,
	VALU_i32,
	VALU_f32,
	VALU_u64,
	VALU_i64,
	VALU_f64,
	VALU_u16,
	VALU_i16,
	VALU_f16,
	VALU_p16,
	VALU_h16,
	VALU_p32, /* two floats, or dwords: VOP3P picks them by op_sel */
	VALU_mask
};

enum valu_flags {
	VALU_ACC = 1,	      /* the third source is the destination's old value */
	VALU_CARRY_IN = 2,    /* reads a mask: VCC, or the third source in VOP3 */
	VALU_CARRY_OUT = 4,   /* writes a mask beside its result */
	VALU_COMPARE = 8,     /* writes a mask only */
	VALU_CMPX = 16,	      /* ... and EXEC */
	VALU_KEEP_HI = 32,    /* a 16-bit result keeps the upper half */
	VALU_VCC_IN = 64,     /* reads VCC in every form */
	VALU_NO_DENORM = 128, /* denormals are flushed in every mode */
	VALU_ACC_HI = 256,    /* writes the upper half only */
	VALU_HOT = 512, /* kernels use it much: it has a handler of its own for plain operands */
};

/* Where the sources are. */
enum valu_form {
	VALU_ANY,
	VALU_ROWS, /* all in vector registers */
	/* the first in a scalar register, or in the instruction's `literal`; the others in vector
	 * registers */
	VALU_SCALAR,
};

struct valu_args {
	void *d;
	const void *s[3];
	uint64_t exec; /* the active lanes, for a function of these alone */
	uint64_t mask; /* in: carries; out: carries or the comparison's result */
	uint32_t clamp;
	uint32_t mode;
	/* VOP3P: op_sel 2:0, op_sel_hi 5:3, neg 8:6, neg_hi 11:9, abs 14:12; VOP3: op_sel 3:0 */
	uint32_t sel;
};

typedef void valu_fn(struct valu_args *a);

struct gcn_valu {
	const char *name;
	valu_fn *fn;
	uint16_t op;
	uint8_t enc; /* enum gcn_enc */
	uint8_t dst, src[3];
	uint16_t flags;
	gcn_fn *run[3]; /* by enum valu_form, if all operands are plain; NULL: that of all others */
};

/* The class of a vector instruction, enum gcn_class. */
uint8_t valu_class(const char *name);

/* One for each file of instructions, three times: for any x86-64, for one with AVX2 and FMA, for
 * one with AVX-512. */
struct valu_table {
	const struct gcn_valu *ops;
	unsigned int nr;
};

extern const struct valu_table valu_int_base, valu_f32_base, valu_f16_base, valu_f64_base,
	valu_cmp_base;
extern const struct valu_table valu_int_v3, valu_f32_v3, valu_f16_v3, valu_f64_v3, valu_cmp_v3;
/* those of gfx90a and later; some have opcodes of others. And those that gfx942 alone has */
extern const struct valu_table valu_gfx90a_base, valu_gfx90a_v3, valu_gfx90a_v4;
extern const struct valu_table valu_gfx942_base, valu_gfx942_v3, valu_gfx942_v4;

/* The last enum gcn_processor that is built: test builds have fewer. */
#ifndef GCN_MOST
#define GCN_MOST 2
#endif

/* Whether the rows for AVX2, or more, are used. */
bool valu_has_v3(void);
extern const struct valu_table valu_int_v4, valu_f32_v4, valu_f16_v4, valu_f64_v4, valu_cmp_v4;

static inline bool valu_is_float(unsigned int type)
{
	return type == VALU_f32 || type == VALU_f64 || type == VALU_f16 || type == VALU_h16;
}

static inline unsigned int valu_width(unsigned int type)
{
	switch (type) {
	case VALU_none:
	case VALU_mask:
		return 0;
	case VALU_u64:
	case VALU_i64:
	case VALU_f64:
	case VALU_p32:
		return 64;
	case VALU_u16:
	case VALU_i16:
	case VALU_f16:
	case VALU_h16:
		return 16;
	default:
		return 32;
	}
}

/* Sets run, valu and reads. */
void valu_bind(struct gcn_inst *i);

/* Sets the handler for the usual sources of a vector instruction, whose `literal` is known. */
void valu_bind_form(struct gcn_inst *i);

/* The step of that handler, and what it leaves; NULL: it has none of its own. */
gcn_step_fn *valu_step(const struct gcn_inst *i, enum gcn_leaves *what);

/* Whether this VOP3 instruction has a scalar destination beside the vector one. */
bool valu_writes_mask(const struct gcn_inst *i);

const char *valu_name(const struct gcn_inst *i);

/* The handler and name of v_readlane and others that are not functions over rows, and of
 * unimplemented instructions; NULL for all others. */
gcn_fn *valu_special(const struct gcn_inst *i, const char **name);

#endif
