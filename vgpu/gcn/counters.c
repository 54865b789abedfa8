/* SPDX-License-Identifier: MIT */
/* counters.c - what the counters of a dispatch are made of
 *
 * Instructions are counted as they are executed. Cycles come from a model: a wave instruction occupies its unit
 * for four cycles, and workgroups are spread over 64 compute units of four SIMDs.
 */
#include "wave.h"

enum { CYCLES = 4, SIMDS = 256, LAUNCH_CYCLES = 1000 };

const struct gcn_counters *gcn_run_counters(struct gcn_run *r)
{
	struct gcn_counters *c = &r->counters;
	const uint64_t *n = r->executed;
	uint64_t spread = c->waves < SIMDS ? c->waves : SIMDS;

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
	c->busy_cycles = spread ? (r->steps * CYCLES + spread - 1) / spread : 0;
	c->gui_cycles = c->busy_cycles + LAUNCH_CYCLES;
	/* what the second level holds goes to memory when the dispatch is over */
	c->ea_wr_end = r->cache.on ? r->cache.nr_dirty : 0;
	return c;
}
