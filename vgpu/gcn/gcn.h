/* SPDX-License-Identifier: MIT */
/* gcn.h - an interpreter of machine code: runs one dispatch, a slice at a time
 *
 * Independent of queues and of the driver. A dispatch is resumable: the caller runs a slice of it,
 * does other work, and resumes it, so that no lock is held and no thread occupied for longer than a
 * slice.
 *
 * synchronisation: a run belongs to one thread at a time, but for gcn_run_work(); the decoded code
 *                  is shared by all runs, and is dropped at the start of a slice: so runs of one
 *                  process belong to the same thread, or to the same lock.
 */
#ifndef VGPU_GCN_GCN_H
#define VGPU_GCN_GCN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

struct gcn_run;

enum gcn_status {
	GCN_RUNNING,
	GCN_DONE,
	GCN_MEMORY_FAULT,  /* stop.addr */
	GCN_ILLEGAL,	   /* no such instruction */
	GCN_UNIMPLEMENTED, /* the instruction exists, but is not implemented */
	GCN_TRAP,	   /* s_trap; stop.addr is its number */
	GCN_BAD_DIMS,	   /* invalid sizes in the packet */
	GCN_BAD_GROUP,	   /* workgroup too big */
	GCN_BAD_LDS,	   /* needs more LDS than there is */
	GCN_BAD_CODE,	   /* the kernel object can't be read */
	GCN_NEEDS_SCRATCH, /* the queue has less scratch memory than the kernel needs */
};

/* Memory that a GPU may access, at its addresses from `lo` to `hi`. `shift` added to one of them,
 * modulo 2^64, is the host's; it is a multiple of the page's size, and 0 for all but memory of the
 * program's that was registered at another address. */
struct gcn_range {
	uint64_t lo, hi, shift;
};

/* The functions that a run needs from its host. */
struct gcn_host {
	/* The allocation that contains `addr`; false: none. */
	bool (*range)(uint64_t addr, struct gcn_range *out);
	/* Changes whenever an allocation is freed. */
	const unsigned int *generation;
	/* s_sendmsg of an interrupt: the event to set. */
	void (*interrupt)(uint32_t event_id);
	/* The GPU's constant-rate counter. */
	uint64_t (*ticks)(unsigned int gpu);
};

struct gcn_launch {
	const struct gcn_host *host;
	enum gcn_arch_id arch;
	const void *packet; /* hsa_kernel_dispatch_packet_t; copied */
	uint64_t queue;	    /* address of the amd_queue_t */
	uint64_t dispatch_id;
	unsigned int gpu;
	uint32_t scratch_srd[4];
	uint64_t scratch_base, scratch_size; /* of the whole queue */
	uint32_t scratch_lane_bytes;
	bool cache_model;
	/* A workgroup ended: its number, x first, and the instructions of each of its waves. NULL:
	 * not wanted. */
	void (*group_end)(void *arg, uint64_t group, const uint64_t *insts, unsigned int nr);
	void *group_arg;
};

/* Where and why a dispatch stopped. */
struct gcn_stop {
	uint64_t pc, offset; /* offset: from the kernel's entry */
	uint64_t addr;
	uint32_t word[2];
	uint32_t group[3], wave;
	char text[128];	 /* the instruction, disassembled */
	const char *why; /* it is illegal though it exists; NULL: no such reason */
};

/* Types of the matrices of v_mfma_*, and how many operations are one of the counts of them. */
enum mfma_type {
	MFMA_F32,
	MFMA_F16,
	MFMA_BF16,
	MFMA_I8,
	MFMA_F64,
	MFMA_F8,
	MFMA_XF32,
	GCN_MFMA_NR
};
#define GCN_MFMA_MOPS 512
/* Kinds of vector instructions: additions, multiplications, fused ones and transcendental ones of
 * 16, 32, 64 bits; integers of 32 and 64; conversions. */
#define GCN_VALU_KINDS_NR 15

/* Counts of a dispatch; docs/virtual-gpu.md describes each. */
struct gcn_counters {
	uint64_t waves, items;
	uint64_t insts, valu, salu, smem, branch, vmem_rd, vmem_wr, flat, lds, msg;
	uint64_t wait; /* s_waitcnt and s_barrier */
	uint64_t busy_cycles, gui_cycles;
	uint64_t tcp_req, tcp_hit, tcc_hit, tcc_miss, tcc_rd, tcc_wr, ea_rd, ea_wr, ea_wr_end;
	uint64_t wait_any, wait_valu, wait_sca, wait_vmem, wait_flat, wait_lds, wait_misc;
	uint64_t valu_of[GCN_VALU_KINDS_NR];
	uint64_t mfma, mfma_of[GCN_MFMA_NR], mfma_mops[GCN_MFMA_NR], mfma_cycles;
};

/* The most of the host's vector units that is used, for tests: before anything is decoded, and once
 * only. */
enum gcn_processor { GCN_X86_64, GCN_AVX2, GCN_AVX512 };
void gcn_processor(enum gcn_processor p);

struct gcn_run *gcn_run_create(void);
void gcn_run_destroy(struct gcn_run *r);

/* Sets a dispatch up; GCN_RUNNING, GCN_DONE for an empty grid, or the error. */
enum gcn_status gcn_run_start(struct gcn_run *r, const struct gcn_launch *launch);

/* Runs about `budget` wave instructions. */
enum gcn_status gcn_run_slice(struct gcn_run *r, int64_t budget);

/* The same by several threads: gcn_run_open() and _close() by one of them, in between
 * gcn_run_work() by all, `thread` from 0 on. Each runs about `budget` instructions, or fewer if
 * `stop` becomes true meanwhile, or there is nothing left for it to do. */
void gcn_run_open(struct gcn_run *r, unsigned int nr_threads);
void gcn_run_work(struct gcn_run *r, unsigned int thread, int64_t budget, const bool *stop);
enum gcn_status gcn_run_close(struct gcn_run *r);

/* Whether several threads have work: there is more than one workgroup, and nothing that has to see
 * them one after the other (the model of caches, the callback for their ends). */
bool gcn_run_several(const struct gcn_run *r);

/* Whether the last slice ended early because all waves of the workgroup wait for something outside
 * of it. */
bool gcn_run_waits(const struct gcn_run *r);

const struct gcn_stop *gcn_run_stop(const struct gcn_run *r);

/* Complete after the dispatch has ended. */
const struct gcn_counters *gcn_run_counters(struct gcn_run *r);

/* Memory that holds code may have changed. */
void gcn_code_changed(void);

/* Decodes [code, code + size) on behalf of a run that was started; the number of instructions. */
size_t gcn_predecode(struct gcn_run *r, uint64_t code, size_t size);

#endif
