/* SPDX-License-Identifier: MIT */
/* counters.c - the counters of a dispatch
 *
 * Instructions are counted as they are executed. Cycles come from a model: a wave instruction occupies its unit
 * for four cycles, and workgroups are distributed over all compute units, of four SIMDs each. The waves of a workgroup proceed
 * in step: each time that all of them need a unit, the first waits for none, the second for one, and so on.
 */
#include "wave.h"

enum { CYCLES = 4, SIMDS_OF_CU = 4, LAUNCH_CYCLES = 1000 };

void gcn_count_group(struct gcn_run *r)
{
	uint64_t on_cu = r->nr_waves, on_simd = (on_cu + SIMDS_OF_CU - 1) / SIMDS_OF_CU;

	for (unsigned int n = 0; n < GCN_CLASS_NR; n++) {
		uint64_t rivals = (n == GCN_VALU ? on_simd : on_cu) - 1;

		r->wait[n] += (r->executed[n] - r->executed_before[n]) * rivals;
		r->executed_before[n] = r->executed[n];
	}
}

/* Waits for each kind of unit, in units of four cycles as in hardware. */
static void count_waits(const struct gcn_run *r, struct gcn_counters *c)
{
	const uint64_t *n = r->wait;

	c->wait_valu = n[GCN_VALU] / 2;
	c->wait_sca = (n[GCN_SALU] + n[GCN_SMEM_CLASS]) / 2;
	c->wait_vmem = (n[GCN_VMEM_RD] + n[GCN_VMEM_WR]) / 2;
	c->wait_flat = (n[GCN_FLAT_RD] + n[GCN_FLAT_WR]) / 2;
	c->wait_lds = n[GCN_LDS] / 2;
	c->wait_misc = (n[GCN_BRANCH] + n[GCN_MSG]) / 2;
	c->wait_any = c->wait_valu + c->wait_sca + c->wait_vmem + c->wait_flat + c->wait_lds +
		      c->wait_misc;
}

const struct gcn_counters *gcn_run_counters(struct gcn_run *r)
{
	struct gcn_counters *c = &r->counters;
	const uint64_t *n = r->executed;
	uint64_t simds = r->arch->nr_simds, spread = c->waves < simds ? c->waves : simds;

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
	c->insts = r->steps;
	c->mfma = 0;
	for (unsigned int t = 0; t < GCN_MFMA_NR; t++) {
		c->mfma += r->mfma[t];
		c->mfma_of[t] = r->mfma[t];
		c->mfma_mops[t] = r->mfma_mops[t];
	}
	c->mfma_cycles = r->mfma_cycles;
	count_waits(r, c);
	c->busy_cycles = spread ? (r->steps * CYCLES + spread - 1) / spread : 0;
	c->gui_cycles = c->busy_cycles + LAUNCH_CYCLES;
	/* changed lines of the second level are written to memory at the end of the dispatch */
	c->ea_wr_end = r->cache.on ? r->cache.nr_dirty : 0;
	return c;
}
