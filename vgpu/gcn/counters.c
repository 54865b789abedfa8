/* SPDX-License-Identifier: MIT */
/* counters.c - the counters of a dispatch
 *
 * Instructions are counted as they are executed. Cycles come from a model: a wave instruction
 * occupies its unit for four cycles, and workgroups are distributed over all compute units, of four
 * SIMDs each. The waves of a workgroup proceed in step: each time that all of them need a unit, the
 * first waits for none, the second for one, and so on.
 */
#include "wave.h"

_Static_assert(GCN_CLASS_NR - GCN_VALU_KINDS == GCN_VALU_KINDS_NR,
	       "as classes and counters have them");

enum { CYCLES = 4, SIMDS_OF_CU = 4, LAUNCH_CYCLES = 1000 };

void gcn_count_group(struct gcn_run *r)
{
	uint64_t on_cu = r->nr_waves, on_simd = (on_cu + SIMDS_OF_CU - 1) / SIMDS_OF_CU;

	gcn_tally_up(r);
	for (unsigned int n = 0; n < GCN_CLASS_NR; n++) {
		bool is_vector = n == GCN_VALU || n >= GCN_VALU_KINDS;
		uint64_t rivals = (is_vector ? on_simd : on_cu) - 1;

		r->wait[n] += (r->executed[n] - r->executed_before[n]) * rivals;
		r->executed_before[n] = r->executed[n];
	}
}

/* Waits for each kind of unit, in units of four cycles as in hardware. */
static void count_waits(const uint64_t *n, struct gcn_counters *c)
{
	c->wait_valu = n[GCN_VALU] / 2;
	c->wait_sca = (n[GCN_SALU] + n[GCN_SMEM_CLASS]) / 2;
	c->wait_vmem = (n[GCN_VMEM_RD] + n[GCN_VMEM_WR]) / 2;
	c->wait_flat = (n[GCN_FLAT_RD] + n[GCN_FLAT_WR]) / 2;
	c->wait_lds = n[GCN_LDS] / 2;
	c->wait_misc = (n[GCN_BRANCH] + n[GCN_MSG]) / 2;
	c->wait_any = c->wait_valu + c->wait_sca + c->wait_vmem + c->wait_flat + c->wait_lds +
		      c->wait_misc;
}

/* What is counted as it happens, of all parts. */
static void add_part(struct gcn_counters *c, const struct gcn_run *part)
{
	const struct gcn_counters *p = &part->counters;

	c->insts += part->steps;
	c->waves += p->waves;
	c->items += p->items;
	c->wait += p->wait;
	c->tcp_req += p->tcp_req;
	c->tcp_hit += p->tcp_hit;
	c->tcc_hit += p->tcc_hit;
	c->tcc_miss += p->tcc_miss;
	c->tcc_rd += p->tcc_rd;
	c->tcc_wr += p->tcc_wr;
	c->ea_rd += p->ea_rd;
	c->ea_wr += p->ea_wr;
	c->mfma_cycles += part->mfma_cycles;
	for (unsigned int t = 0; t < GCN_MFMA_NR; t++) {
		c->mfma_of[t] += part->mfma[t];
		c->mfma_mops[t] += part->mfma_mops[t];
	}
}

const struct gcn_counters *gcn_run_counters(struct gcn_run *r)
{
	struct gcn_counters *c = &r->total;
	uint64_t n[GCN_CLASS_NR] = { 0 }, wait[GCN_CLASS_NR] = { 0 }, simds, spread;

	memset(c, 0, sizeof(*c));
	for (const struct gcn_run *part = r; part; part = part->next_part) {
		add_part(c, part);
		for (unsigned int k = 0; k < GCN_CLASS_NR; k++) {
			n[k] += part->executed[k];
			wait[k] += part->wait[k];
		}
	}
	for (unsigned int k = 0; k < GCN_VALU_KINDS_NR; k++) {
		c->valu_of[k] = n[GCN_VALU_KINDS + k];
		n[GCN_VALU] += n[GCN_VALU_KINDS + k];
		wait[GCN_VALU] += wait[GCN_VALU_KINDS + k];
	}
	simds = r->arch->nr_simds;
	spread = c->waves < simds ? c->waves : simds;
	c->valu = n[GCN_VALU];
	c->salu = n[GCN_SALU];
	c->smem = n[GCN_SMEM_CLASS];
	c->branch = n[GCN_BRANCH];
	c->flat = n[GCN_FLAT_RD] + n[GCN_FLAT_WR];
	/* FLAT instructions are vector memory instructions too, as the hardware counts them */
	c->vmem_rd = n[GCN_VMEM_RD] + n[GCN_FLAT_RD];
	c->vmem_wr = n[GCN_VMEM_WR] + n[GCN_FLAT_WR];
	c->lds = n[GCN_LDS];
	c->msg = n[GCN_MSG];
	for (unsigned int t = 0; t < GCN_MFMA_NR; t++)
		c->mfma += c->mfma_of[t];
	count_waits(wait, c);
	c->busy_cycles = spread ? (c->insts * CYCLES + spread - 1) / spread : 0;
	c->gui_cycles = c->busy_cycles + LAUNCH_CYCLES;
	/* changed lines of the second level are written to memory at the end of the dispatch */
	c->ea_wr_end = r->cache.on ? r->cache.nr_dirty : 0;
	return c;
}
