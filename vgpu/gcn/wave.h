/* SPDX-License-Identifier: MIT */
/* wave.h - the state of a wave, of its workgroup and of the dispatch that they belong to
 *
 * A wave is plain data that can be resumed at any instruction: there is no thread or stack behind
 * it.
 */
#ifndef VGPU_GCN_WAVE_H
#define VGPU_GCN_WAVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cache.h"
#include "gcn.h"
#include "inst.h"

#define GCN_LANES 64
#define GCN_WAVES_MAX 16
#define GCN_LDS_SIZE 65536
/* vector registers, accumulation registers, and spare rows for the widest access at the last
 * register */
#define GCN_VGPR_ROWS (512 + 32)
#define GCN_SGPRS (128 + 16)

/* high halves of the apertures' addresses: LDS 1 << 48, scratch 2 << 48 (engine/gpu.h says the
 * same) */
#define GCN_LDS_HI 0x10000u
#define GCN_SCRATCH_HI 0x20000u

enum gcn_wave_state { GCN_WAVE_RUN, GCN_WAVE_BARRIER, GCN_WAVE_END };

typedef uint32_t gcn_row[GCN_LANES];

struct gcn_wave {
	uint32_t sgpr[GCN_SGPRS]; /* by operand code: VCC, M0 and EXEC are in here */
	uint64_t pc;
	uint32_t scc;
	uint32_t mode; /* FP_ROUND 3:0, FP_DENORM 7:4, DX10_CLAMP 8, IEEE 9, FP16_OVFL 23 */
	bool fp_plain; /* round to nearest, all denormals kept, as on the host */
	bool idx_on;   /* s_set_gpr_idx_on */
	uint8_t idx_mode;
	uint8_t state;
	bool gws_waits; /* at a barrier of the dispatch */
	uint32_t gws_passed;
	uint32_t number; /* in its workgroup */
	gcn_row *vgpr;	 /* GCN_VGPR_ROWS */
	struct gcn_run *run;
	uint64_t mask_of; /* the EXEC that mask[] was made for */
	gcn_row mask;	  /* all ones in active lanes */
};

struct gcn_page;
struct gcn_block;

/* How often a block of code ran since the counts were last added up: by the low bits of its number
 * on the page. */
#define GCN_TALLIES 256

struct gcn_tally {
	const struct gcn_block *block;
	uint64_t nr;
};

#define GCN_RANGES 4

/* instructions of a page of code */
#define GCN_HITS 1024

static inline unsigned int gcn_hit_of(const struct gcn_inst *i)
{
	return (unsigned int)((uintptr_t)i / sizeof(*i) % GCN_HITS);
}

/* COMPUTE_USER_DATA_0 to _15: as many scalar registers can a wave have at its start */
#define GCN_USER_SGPRS 16

/* threads to which workgroups are dealt */
#define GCN_DEALS_MAX 64

/* A dispatch in execution, or a part of it: one workgroup after the other, each with all that its
 * waves need. The first part, the lead, stands for the dispatch; more are made for more threads,
 * and while all workgroups wait for others. */
struct gcn_run {
	/* constant during a dispatch */
	struct gcn_launch launch;
	unsigned char packet[64] __attribute__((aligned(64))); /* device code reads it */
	const struct gcn_host *host;
	const struct gcn_arch *arch;
	uint64_t entry, start; /* of the kernel, and where its waves begin */
	/* kernel arguments that a wave has in registers at its start, behind the other user
	 * registers */
	uint32_t preload[GCN_USER_SGPRS], nr_preload;
	uint32_t mode, rsrc2, props;
	uint32_t nr_vgprs, nr_agprs;
	uint32_t size[3], group[3], nr_groups[3];
	uint32_t lds_size;
	uint32_t wave_stride; /* of scratch, bytes */
	/* the lead's `cache` is on: what each access asks is in a line that no thread writes */
	bool has_cache;

	/* of a part */
	struct gcn_run *lead, *next_part;
	unsigned int slot; /* number of the part, and of its scratch memory */
	bool taken,
		/* under the lead's lock: a thread runs it; its workgroup waited at the end */
		waited;
	unsigned int tried;   /* the slice in which it ran last, if it waited */
	uint64_t clock_base;  /* instructions of other parts, for s_memtime */
	uint64_t done_before; /* instructions that the dispatch has counted of this part */

	/* of the lead: all threads write it, so it has cache lines of its own */
	pthread_mutex_t lock __attribute__((aligned(64)));
	struct gcn_run *last_part, *cursor, *failed;
	unsigned int nr_parts, parts_max, nr_threads, slice;
	unsigned int nr_working, nr_resident,
		nr_waited; /* taken and not waiting; begun; of these waiting */
	/* workgroups: all, given to parts, of these not begun by parts that no thread runs,
	 * ended */
	uint64_t nr_all, nr_dealt, nr_kept, nr_ended;
	uint64_t deal[GCN_DEALS_MAX]; /* of each thread the next one */
	unsigned int nr_deals;
	bool in_turn;			  /* a workgroup waited for another one */
	uint32_t gws_arrived, gws_passed; /* waves at the barrier, and how often all were; atomic */
	uint64_t done;			  /* instructions, when a part was last given back */
	bool works;			  /* a part had more to do at the end of the slice */
	enum gcn_status outcome;
	struct gcn_counters total;

	uint32_t at[3] __attribute__((aligned(64))); /* the resident workgroup */
	uint64_t number;
	uint64_t next, until; /* workgroups that it begins next */
	unsigned int thread;  /* which runs it, or did last */
	uint64_t ended;	      /* workgroups, since a thread took it */
	bool resident;
	uint32_t nr_waves, nr_live, next_wave;
	/* Instructions left of the slice, and of the next wave's turn. They are written one at a
	 * time; side by side GCC reads both by one load, which has to wait for the stores. */
	int64_t budget;
	const bool *halt; /* atomic: the slice is over for all threads; NULL: there is one */
	int64_t turn;
	uint64_t steps;			    /* instructions executed, */
	uint64_t wave_steps[GCN_WAVES_MAX]; /* and by each wave of the resident workgroup */
	bool yield;			    /* the running wave wants to wait: run others first */
	uint32_t yields;		    /* turns in a row that ended so */
	bool waits;  /* for something outside of the workgroup, at the end of the last slice */
	bool stored; /* to global memory, since the last fence */
	uint64_t poll_pc, poll_addr; /* the load that was executed last of those that may poll */
	uint32_t polls;		     /* how often in a row, without a store or atomic */

	enum gcn_status status;
	struct gcn_stop stop;
	const struct gcn_inst
		*stopped_at; /* by the running wave, if it was not the last one of its block */
	struct gcn_counters counters;
	struct gcn_tally tally[GCN_TALLIES];
	uint8_t tallied[GCN_TALLIES]; /* those that are used */
	unsigned int nr_tallied;
	uint64_t executed[GCN_CLASS_NR];	/* without what gcn_tally_up() has not added yet */
	uint64_t executed_before[GCN_CLASS_NR]; /* by earlier workgroups */
	uint64_t wait[GCN_CLASS_NR];		/* for their turn, in units of two cycles */
	uint64_t mfma[GCN_MFMA_NR], mfma_mops[GCN_MFMA_NR], mfma_cycles;

	struct gcn_range range[GCN_RANGES + 1]; /* the last one is the packet */
	unsigned int next_range, generation;
	unsigned int hit;	/* the one that was used last, */
	uint8_t hits[GCN_HITS]; /* and by an instruction */
	struct gcn_page *page;	/* decoded code: the page used last */
	struct cache cache;	/* of the lead; with it there is one thread */

	struct gcn_wave wave[GCN_WAVES_MAX];
	gcn_row *rows; /* of all waves */
	uint32_t ids[GCN_WAVES_MAX][3][GCN_LANES];
	uint64_t ids_exec[GCN_WAVES_MAX];
	uint32_t ids_for[3];
	uint32_t ids_waves;
	unsigned char *lds;
};

static inline uint64_t gcn_get64(const struct gcn_wave *w, unsigned int reg)
{
	return w->sgpr[reg] | (uint64_t)w->sgpr[reg + 1] << 32;
}

static inline void gcn_set64(struct gcn_wave *w, unsigned int reg, uint64_t v)
{
	/* one store: of two halves compilers make a vector first */
	memcpy(&w->sgpr[reg], &v, sizeof(v));
}

static inline uint64_t gcn_exec(const struct gcn_wave *w)
{
	return gcn_get64(w, GCN_REG_EXEC);
}

/* Constants by operand code, 128 to 248; f32 patterns for those of floating point. */
extern const uint32_t gcn_const32[128];
/* The same as doubles' patterns and as half floats', from code 240. */
extern const uint64_t gcn_const64[9];
extern const uint16_t gcn_const16[9];

/* A scalar source: register, constant, flag or literal. */
static inline uint32_t gcn_src32(const struct gcn_wave *w, const struct gcn_inst *i,
				 unsigned int code)
{
	if (code < 128)
		return w->sgpr[code];
	if (code < GCN_SRC_VCCZ)
		return gcn_const32[code - 128];
	if (code == GCN_SRC_LITERAL)
		return i->literal;
	if (code == GCN_SRC_VCCZ)
		return !gcn_get64(w, GCN_REG_VCC);
	if (code == GCN_SRC_EXECZ)
		return !gcn_exec(w);
	if (code == GCN_SRC_SCC)
		return w->scc;
	return gcn_const32[(code - 128) & 127];
}

uint64_t gcn_src64_other(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int code);

static inline uint64_t gcn_src64(const struct gcn_wave *w, const struct gcn_inst *i,
				 unsigned int code)
{
	return code < 128 ? gcn_get64(w, code) : gcn_src64_other(w, i, code);
}

/* All ones in each active lane. */
const uint32_t *gcn_mask(struct gcn_wave *w);

/* Sets the MODE register. */
void gcn_set_mode(struct gcn_wave *w, uint32_t mode);

/* run.c: runs workgroups on a part until r->budget is used up, all waves of one wait for something
 * outside of it, or none is left to begin. */
void gcn_run_groups(struct gcn_run *r);

/* Adds the instructions of blocks that ran to r->executed. Afterwards each block is compared with
 * memory again when it runs. */
void gcn_tally_up(struct gcn_run *r);

/* Instructions that a part has executed. */
static inline uint64_t gcn_executed(struct gcn_run *r)
{
	uint64_t n = 0;

	gcn_tally_up(r);
	for (unsigned int k = 0; k < GCN_CLASS_NR; k++)
		n += r->executed[k];
	return n;
}

/* At the end of the resident workgroup: counts the waits of its waves for each other. */
void gcn_count_group(struct gcn_run *r);

/* Stops the dispatch at the current instruction. */
void gcn_stop(struct gcn_wave *w, enum gcn_status status, uint64_t addr);

#endif
