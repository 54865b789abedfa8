/* SPDX-License-Identifier: MIT */
/* gpus.h - GPUs, their blocks of counters, the counters and the metrics that have names
 *
 * The tables are made from data/ (codegen/emit_counters.py). Constant; any thread.
 */
#ifndef RTL_COUNTER_GPUS_H
#define RTL_COUNTER_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "counter/expression.h"

/* A block of the hardware. It has `counters` counters in each of its instances. */
struct counter_block {
	const char *name;
	uint32_t id;	   /* hsa_ven_amd_aqlprofile_block_name_t */
	uint32_t counters; /* of an instance, at the same time */
	uint32_t instances;
	bool per_se; /* an instance is in each shader engine: a sample for each */
};

/* A counter: an event of a block. */
struct counter_basic {
	const char *name, *description; /* description: "" where there is none */
	const char *unit;		/* "cycles"; "" where it is not known */
	const struct counter_block *block;
	uint32_t event;
};

/* A metric: an expression over counters, metrics and constants. */
struct counter_derived {
	const char *name, *expression, *description, *unit;
	enum expression_rules rules;
};

struct counter_gpu {
	const char *name; /* "gfx90a": as of the agents that it stands for, or their family */
	const struct counter_block *blocks;
	const struct counter_basic *basics;
	const struct counter_derived *deriveds;
	uint32_t nr_blocks, nr_basics, nr_deriveds;
};

extern const struct counter_gpu counter_gpus[];
extern const uint32_t counter_nr_gpus;

/* The GPU of an agent: "gfx900", "gfx942:sramecc+:xnack-", "gfx1036". NULL: its counters are not
 * known. */
const struct counter_gpu *gpus_find(const char *agent);

#endif
