/* SPDX-License-Identifier: MIT */
/* plan.c - the steps of a block: their order, and the rows that need not be stored
 *
 * A step that reads what the step before wrote has it in registers of the host. So a step comes
 * behind the one whose row it reads, where nothing depends on the order. A row that is written
 * again within the block, with the same EXEC, and is read by steps that have it in registers alone,
 * is not stored. An instruction that stops the wave within a block loses the wave's registers, so
 * a row that was not stored can't be observed.
 *
 * What an instruction reads and writes is known for those that kernels use most. All others stay
 * where they are, and are taken to read all.
 */
#include "plan.h"

#include <string.h>

#include "rows.h"
#include "valu.h"

/* What instructions depend on: scalar registers and vector registers by their codes, and two
 * more. */
enum {
	VECTORS = 128,
	SCC = VECTORS + GCN_VGPR_ROWS,
	MEMORY, /* loads and what uses LDS keep their order */
	RESOURCES,
	RANGES = 8,
};

struct range {
	uint16_t first, nr;
};

struct effects {
	bool known;
	uint8_t nr_reads, nr_writes;
	struct range reads[RANGES], writes[RANGES];
	struct range row; /* vector registers that are written in all active lanes */
};

/* ---- what instructions read and write -------------------------------------------------------- */

static void reads(struct effects *e, unsigned int first, unsigned int nr)
{
	e->reads[e->nr_reads++] = (struct range){ (uint16_t)first, (uint16_t)nr };
}

static void writes(struct effects *e, unsigned int first, unsigned int nr)
{
	e->writes[e->nr_writes++] = (struct range){ (uint16_t)first, (uint16_t)nr };
}

/* A source of an instruction. EXEC and M0 change between known instructions never. */
static void source(struct effects *e, unsigned int code, unsigned int nr)
{
	if (code >= GCN_SRC_VGPR && code < GCN_SRC_NONE)
		reads(e, code - GCN_SRC_VGPR + VECTORS, nr);
	else if (code < GCN_REG_M0)
		reads(e, code, nr);
	else if (code >= GCN_SRC_VCCZ && code <= GCN_SRC_SCC)
		e->known = false;
}

/* Scalar registers of an instruction's result: not those of traps, nor M0 and EXEC. */
static void result(struct effects *e, unsigned int code, unsigned int nr)
{
	if (code + nr > GCN_REG_VCC + 2)
		e->known = false;
	else
		writes(e, code, nr);
}

static void of_scalar(const struct gcn_inst *i, struct effects *e)
{
	enum { LAST_SOP1 = 27, LAST_SOPK = 15 };

	e->known = (i->enc != GCN_SOP1 || i->op <= LAST_SOP1) &&
		   (i->enc != GCN_SOPK || i->op <= LAST_SOPK);
	source(e, i->src[0], 2);
	source(e, i->src[1], 2);
	reads(e, SCC, 1);
	writes(e, SCC, 1);
	if (i->enc != GCN_SOPC) {
		source(e, i->dst, 2);
		result(e, i->dst, 2);
	}
}

static void of_vector(const struct gcn_inst *i, struct effects *e)
{
	const struct gcn_valu *v = i->valu;
	unsigned int nr = valu_width(v->dst) == 64 ? 2 : 1;

	e->known = !i->ext && !(v->flags & VALU_CMPX);
	for (unsigned int n = 0; n < 3; n++)
		source(e, i->src[n],
		       valu_width(v->src[n]) == 64 || i->src[n] < GCN_SRC_VGPR ? 2 : 1);
	if (v->flags & (VALU_CARRY_IN | VALU_VCC_IN))
		reads(e, GCN_REG_VCC, 2);
	if (v->flags & (VALU_CARRY_OUT | VALU_COMPARE))
		result(e, i->sdst & 127, 2);
	if (v->flags & VALU_COMPARE)
		return;
	writes(e, VECTORS + i->dst, nr);
	if (v->flags & (VALU_KEEP_HI | VALU_ACC_HI) || i->op_sel)
		reads(e, VECTORS + i->dst, nr);
	else
		e->row = e->writes[e->nr_writes - 1];
}

static void of_scalar_load(const struct gcn_inst *i, struct effects *e)
{
	source(e, i->src[0], 2);
	source(e, i->src[1], 1);
	result(e, i->dst, gcn_nr_registers(gcn_mnemonic(i)));
	reads(e, MEMORY, 1);
	writes(e, MEMORY, 1);
}

/* Loads and stores of whole dwords, and the like. */
static void of_memory(const struct gcn_inst *i, struct effects *e)
{
	const char *name = gcn_mnemonic(i);
	unsigned int nr = gcn_nr_registers(name);

	source(e, i->src[0], i->enc == GCN_DS ? 1 : 2);
	if (i->enc == GCN_DS) {
		source(e, i->src[1], nr);
		source(e, i->src[2], nr);
	} else {
		source(e, i->src[2], 2);
	}
	/* a load from two addresses writes as many again, a store nothing */
	writes(e, VECTORS + i->dst, 2 * nr);
	if (i->class == GCN_VMEM_RD || i->class == GCN_FLAT_RD || !strncmp(name, "ds_read", 7))
		e->row = (struct range){ (uint16_t)(VECTORS + i->dst), (uint16_t)nr };
	reads(e, MEMORY, 1);
	writes(e, MEMORY, 1);
}

static struct effects effects_of(const struct gcn_inst *i)
{
	struct effects e = { .known = true };

	if (i->enc <= GCN_SOPC)
		of_scalar(i, &e);
	else if (i->enc == GCN_SMEM)
		of_scalar_load(i, &e);
	else if (i->enc >= GCN_VOP2 && i->enc <= GCN_VOP3 && i->valu)
		of_vector(i, &e);
	else if ((i->enc == GCN_DS || i->enc == GCN_FLAT) && rows_kind()->quick(i) == i->run)
		of_memory(i, &e);
	else
		e.known = false;
	return e;
}

/* ---- their order ----------------------------------------------------------------------------- */

/* What comes to be a step: one instruction, or two. */
struct node {
	const struct gcn_inst *i[2];
	uint8_t nr;
	bool known;
	uint64_t after; /* nodes that must come before it */
	struct effects effects[2];
};

/* Who used a resource: the last that wrote it, and those that have read it since. */
struct use {
	uint64_t writer, readers;
};

/* Adds what node `me` depends on because of an instruction. */
static void depend(struct node *node, uint64_t me, const struct effects *e, struct use *use)
{
	for (unsigned int n = 0; n < e->nr_reads; n++) {
		for (unsigned int k = 0; k < e->reads[n].nr; k++) {
			node->after |= use[e->reads[n].first + k].writer;
			use[e->reads[n].first + k].readers |= me;
		}
	}
	for (unsigned int n = 0; n < e->nr_writes; n++) {
		for (unsigned int k = 0; k < e->writes[n].nr; k++) {
			struct use *u = &use[e->writes[n].first + k];

			node->after |= u->writer | u->readers;
			u->writer = me;
			u->readers = 0;
		}
	}
	node->after &= ~me;
}

/* Finds what each node depends on. Nodes of unknown instructions depend on all before, and all
 * behind on them. */
static void find_order(struct node *node, unsigned int nr)
{
	struct use use[RESOURCES];
	uint64_t all = 0, fixed = 0;

	memset(use, 0, sizeof(use));
	for (unsigned int n = 0; n < nr; n++) {
		uint64_t me = 1ull << n;

		node[n].after = node[n].known ? fixed : all;
		for (unsigned int k = 0; node[n].known && k < node[n].nr; k++)
			depend(&node[n], me, &node[n].effects[k], use);
		if (!node[n].known)
			fixed = all | me;
		all |= me;
	}
}

/* ---- rows that need not be stored ------------------------------------------------------------ */

static bool has(const struct range *r, unsigned int at)
{
	return at - r->first < r->nr;
}

/* Whether instruction k of a step has a row that it may read in registers of the host, as all
 * sources that are this row. */
static bool has_left(const struct node *node, const struct gcn_step *step, unsigned int k,
		     unsigned int row)
{
	const struct gcn_inst *i = node->i[k];
	bool has_it = false;

	if (k) {
		/* the sources of the second one that may be left */
		unsigned int high = i->src[1] - GCN_SRC_VGPR;

		if (i->reads & GCN_READS_64 << 1)
			return row == high && step->last & GCN_LAST << 1;
		return row == high && i->src[0] != i->src[1] && step->last & GCN_LAST_HIGH;
	}
	for (unsigned int n = 0; n < 3; n++) {
		bool pair = i->reads & GCN_READS_64 << n || i->enc == GCN_FLAT;
		unsigned int from = row + GCN_SRC_VGPR - i->src[n];

		if (from > pair)
			continue;
		if (!(step->last & GCN_LAST << n))
			return false;
		has_it = true;
	}
	return has_it;
}

/* Whether a step reads a row from memory. */
static bool reads_stored(const struct node *node, const struct gcn_step *step, unsigned int row)
{
	for (unsigned int k = 0; k < node->nr; k++) {
		const struct effects *e = &node->effects[k];

		for (unsigned int n = 0; n < e->nr_reads; n++) {
			if (has(&e->reads[n], row + VECTORS) && !has_left(node, step, k, row))
				return true;
		}
	}
	return false;
}

static bool writes_row(const struct node *node, unsigned int row)
{
	for (unsigned int k = 0; k < node->nr; k++) {
		if (has(&node->effects[k].row, row + VECTORS))
			return true;
	}
	return false;
}

/* The steps of a block, in their order. */
struct plan {
	unsigned int nr;
	struct node node[PLAN_MAX];
	const struct node *of[PLAN_MAX]; /* each step */
};

/* Whether all that read a row of step n, until it is written again, have it in registers. */
static bool is_dead(const struct plan *p, const struct gcn_step *step, unsigned int n,
		    unsigned int row)
{
	for (unsigned int k = n + 1; k < p->nr && p->of[k]->known; k++) {
		if (reads_stored(p->of[k], &step[k], row))
			return false;
		if (writes_row(p->of[k], row))
			return true;
	}
	return false;
}

static void mark_dead(const struct plan *p, struct gcn_step *step, unsigned int n)
{
	const struct gcn_inst *i = step[n].i, *second = i + step[n].words;
	const struct gcn_inst *last = step[n].nr > 1 ? second : i;
	unsigned int a = last->dst, b = last->dst + 1u;
	bool pair = last->reads & GCN_WRITES_64;

	if (step[n].nr > 1 && !pair) {
		/* a sum: the second one may read the first one's from memory */
		a = i->dst;
		b = second->dst;
		pair = true;
		if (a == b || second->src[0] - (unsigned int)GCN_SRC_VGPR == a ||
		    second->src[1] - (unsigned int)GCN_SRC_VGPR == a)
			return;
	} else if (step[n].nr > 1 && is_dead(p, step, n, i->dst)) {
		step[n].last |= GCN_DEAD_FIRST;
	}
	if (is_dead(p, step, n, a))
		step[n].last |= GCN_DEAD_A;
	if (pair && is_dead(p, step, n, b))
		step[n].last |= GCN_DEAD_B;
}

/* ---- steps ----------------------------------------------------------------------------------- */

enum { OP_NOP = 0, OP_SETPRIO = 15 };

static bool does_nothing(const struct gcn_inst *i)
{
	return gcn_is_wait(i) || (i->enc == GCN_SOPP && (i->op == OP_NOP || i->op == OP_SETPRIO));
}

static bool overlap(const struct range *a, unsigned int nr_a, const struct range *b,
		    unsigned int nr_b)
{
	for (unsigned int n = 0; n < nr_a; n++) {
		for (unsigned int k = 0; k < nr_b; k++) {
			if (a[n].first < b[k].first + b[k].nr && b[k].first < a[n].first + a[n].nr)
				return true;
		}
	}
	return false;
}

/* Whether two known instructions, one behind the other, may be exchanged. */
static bool may_swap(const struct effects *a, const struct effects *b)
{
	return a->known && b->known && !overlap(a->writes, a->nr_writes, b->writes, b->nr_writes) &&
	       !overlap(a->writes, a->nr_writes, b->reads, b->nr_reads) &&
	       !overlap(a->reads, a->nr_reads, b->writes, b->nr_writes);
}

/* Instructions between two of one step, at most. */
#define BETWEEN 4

/* Makes a node of one instruction its second one, too: the next with which it has a step, and that
 * may be exchanged with all between. */
static void find_second(struct node *node, unsigned int nr)
{
	for (unsigned int n = 1; n < nr && n <= BETWEEN + 1; n++) {
		bool may = node[n].nr == 1 && gcn_fuses(node->i[0], node[n].i[0]);

		for (unsigned int k = 1; k < n && may; k++)
			may = !node[k].nr || may_swap(&node[k].effects[0], &node[n].effects[0]);
		if (!may)
			continue;
		node->i[1] = node[n].i[0];
		node->effects[1] = node[n].effects[0];
		node->known &= node[n].known;
		node->nr = 2;
		node[n].nr = 0;
		return;
	}
}

static void find_nodes(struct plan *p, const struct gcn_inst *i, unsigned int left)
{
	unsigned int nr = 0;

	for (; left; left--, i += i->nr_words) {
		struct node *node = &p->node[nr];

		if (does_nothing(i))
			continue;
		node->i[0] = i;
		node->nr = 1;
		node->effects[0] = effects_of(i);
		node->known = node->effects[0].known;
		nr++;
	}
	for (unsigned int n = 0; n < nr; n++) {
		if (p->node[n].nr == 1)
			find_second(&p->node[n], nr - n);
		if (p->node[n].nr)
			p->node[p->nr++] = p->node[n];
	}
}

static const struct gcn_inst *second_of(const struct node *node)
{
	return node->nr > 1 ? node->i[1] : NULL;
}

/* The next node: one that reads what the step before left, or the first. */
static const struct node *choose(const struct plan *p, uint64_t done, const struct gcn_left *rows)
{
	const struct node *first = NULL;

	for (unsigned int n = 0; n < p->nr; n++) {
		const struct node *node = &p->node[n];

		if (done >> n & 1 || node->after & ~done)
			continue;
		if (!first)
			first = node;
		if (node->known && gcn_reads_left(node->i[0], second_of(node), rows))
			return node;
		if (!node->known)
			break;
	}
	return first;
}

unsigned int plan_steps(struct gcn_step *step, const struct gcn_inst *i, unsigned int nr)
{
	struct gcn_left rows = { GCN_LEFT_NONE, GCN_LEFT_NONE };
	struct plan p;
	uint64_t done = 0;

	p.nr = 0;
	find_nodes(&p, i, nr);
	find_order(p.node, p.nr);
	for (unsigned int n = 0; n < p.nr; n++) {
		p.of[n] = choose(&p, done, &rows);
		done |= 1ull << (p.of[n] - p.node);
		gcn_make_step(&step[n], p.of[n]->i[0], second_of(p.of[n]), &rows);
	}
	for (unsigned int n = 0; n < p.nr; n++) {
		if (p.of[n]->known && p.of[n]->effects[p.of[n]->nr - 1].row.nr)
			mark_dead(&p, step, n);
	}
	return p.nr;
}
