/* SPDX-License-Identifier: MIT */
/* disasm.c - one instruction as text, for messages about unimplemented ones
 *
 * In LLVM's form, as far as the decoder goes: for formatted buffers, images and exports only the
 * family is named.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "inst.h"

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

static void put_valu(struct text *t, const struct gcn_inst *i)
{
	put_operand(t, i, i->dst + GCN_SRC_VGPR, 1);
	for (int n = 0; n < 3; n++) {
		bool abs = i->abs >> n & 1;

		if (i->src[n] == GCN_SRC_NONE || (i->enc == GCN_VOP1 && n))
			continue;
		put(t, "%s%s%s", t->separator, i->neg >> n & 1 ? "-" : "", abs ? "|" : "");
		t->separator = "";
		put_operand(t, i, i->src[n], 1);
		put(t, "%s", abs ? "|" : "");
	}
}

static void put_memory(struct text *t, const struct gcn_inst *i, const char *name)
{
	unsigned int nr = gcn_nr_registers(name);
	uint32_t w = i->word[0], x = i->word[1];

	if (i->enc == GCN_SMEM) {
		put_operand(t, i, i->dst, nr);
		put_operand(t, i, i->src[0], strncmp(name, "s_buffer", 8) == 0 ? 4 : 2);
		if (i->src[1] != GCN_SRC_NONE)
			put_operand(t, i, i->src[1], 1);
		else
			put(t, ", 0x%x", (unsigned int)i->imm);
		return;
	}
	if (i->enc == GCN_MUBUF) {
		bool idxen = w >> 13 & 1, offen = w >> 12 & 1;

		if (!(w >> 16 & 1)) /* to LDS: no data */
			put_operand(t, i, i->dst + GCN_SRC_VGPR, nr);
		if (idxen || offen) {
			put_operand(t, i, i->src[0], idxen && offen ? 2 : 1);
		} else {
			put(t, "%soff", t->separator);
			t->separator = ", ";
		}
		put_operand(t, i, i->src[1], 4);
		put_operand(t, i, i->src[2], 1);
		put(t, "%s%s", idxen ? " idxen" : "", offen ? " offen" : "");
	} else if (i->enc == GCN_DS) {
		put_operand(t, i, i->src[0], 1);
		put_operand(t, i, i->src[1], nr);
	} else {
		put_operand(t, i, i->dst + GCN_SRC_VGPR, nr);
		put_operand(t, i, i->src[0], i->src[2] == 127 ? 2 : 1);
		if (i->src[2] != 127)
			put_operand(t, i, i->src[2], 2);
	}
	if (i->imm)
		put(t, " offset:%d", i->imm);
	if (i->enc == GCN_DS && w >> 16 & 1)
		put(t, " gds");
	else if ((i->enc == GCN_MUBUF && w >> 16 & 1) || (i->enc == GCN_FLAT && w >> 13 & 1))
		put(t, " lds");
	if (i->enc == GCN_MUBUF && x >> 23 & 1)
		put(t, " tfe");
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

	if (i->word[0] >> 26 == 0x35) {
		put_interp(&t, i->word[0]);
		return;
	}
	put(&t, "%s", name);
	switch (i->enc) {
	case GCN_SOPP:
		put(&t, " %u", i->imm & 0xffff);
		break;
	case GCN_VOP1:
	case GCN_VOP2:
	case GCN_VOP3:
	case GCN_VOP3P:
		put_valu(&t, i);
		break;
	case GCN_SMEM:
	case GCN_DS:
	case GCN_FLAT:
	case GCN_MUBUF:
		put_memory(&t, i, name);
		break;
	default:
		break;
	}
}
