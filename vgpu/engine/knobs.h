/* SPDX-License-Identifier: MIT */
/* knobs.h - settings of the virtual GPU, read once from VGPU_* environment variables
 *
 * The table with every name, default and range is in knobs.c; the user's page is
 * docs/virtual-gpu.md.
 */
#ifndef VGPU_KNOBS_H
#define VGPU_KNOBS_H

#include <stdbool.h>
#include <stdint.h>

#define KNOBS_DEVICES_MAX 16
#define KNOBS_THREADS_MAX 64

enum knobs_clock { KNOBS_CLOCK_REAL, KNOBS_CLOCK_DETERMINISTIC };
enum knobs_model { KNOBS_MODEL_FIXED, KNOBS_MODEL_GRID, KNOBS_MODEL_INSTS, KNOBS_MODEL_MEASURED };
enum knobs_doorbell { KNOBS_DOORBELL_LENIENT, KNOBS_DOORBELL_STRICT, KNOBS_DOORBELL_ALONE };
enum knobs_exec { KNOBS_EXEC_OFF, KNOBS_EXEC_ON, KNOBS_EXEC_AUTO };

struct knobs {
	/* set in knobs_init(), constant after */
	uint64_t devices;
	uint64_t arch[KNOBS_DEVICES_MAX]; /* enum gcn_arch_id */
	uint64_t vram_mb;
	uint64_t clock;
	uint64_t clock_hz;
	uint64_t settle_us;
	int64_t drift_ppb[KNOBS_DEVICES_MAX];
	uint64_t offset[KNOBS_DEVICES_MAX];
	uint64_t model;
	uint64_t kernel_ns;
	uint64_t signal_ns;
	double ns_per_item;
	double ns_per_group;
	double ns_per_inst;
	uint64_t exec;
	uint64_t threads; /* the engine's and the workers */
	uint64_t counters;
	double copy_gbps;
	uint64_t overlap;
	uint64_t doorbell;
	uint64_t exceptions;
	uint64_t no_atomics;
	uint64_t no_events;
	uint64_t nap_us;
	uint64_t log_sync;
	const char *log;
};

extern struct knobs knobs;

/* Reads the environment, once per process; prints a warning for bad values and unknown names and
 * ignores them. */
void knobs_init(void);

/* The same without warnings: for a library besides the one that prints them. */
void knobs_init_quietly(void);

#endif
