/* SPDX-License-Identifier: MIT */
/* rccl.c - librocprofiler-sdk: the numbers of RCCL's functions, which differ from release to
 * release
 *
 * From ROCm 7.1 on a function stands in the middle of the numbers. Which set of numbers is in use
 * is decided once: by the length of the table that RCCL offers, or by the functions of the library
 * that is in the process. Until then they are those of 7.0, and what tools have configured with
 * them is kept for the same functions.
 *
 * Owns:     the set; the kinds of callbacks and records with their names.
 * Threads:  any.
 */
#include "rccl.h"

#include "context.h"
#include "effects.h"

#define UNDECIDED (-1)
#define FIRST_UNUSED                                                                               \
	(SDK_MAX_OPERATIONS - 1) /* no function has it: set for contexts that want all */

static _Atomic int set = UNDECIDED;
static const struct rtl_core *core;

/* The contexts that want a function by its number of before get it by its new one. */
static void renumber(_Atomic uint64_t row[SDK_MAX_OPERATIONS], uint32_t to)
{
	uint64_t old[RCCL_OP_NR];

	for (uint32_t op = 0; op < RCCL_OP_NR; op++) {
		const struct tables_route *r = &tables_rccl[TABLES_RCCL][op];

		old[op] = atomic_load(&row[r->kind ? r->id : FIRST_UNUSED]);
	}
	for (uint32_t op = 0; op < RCCL_OP_NR; op++)
		if (tables_rccl[to][op].kind)
			atomic_store(&row[tables_rccl[to][op].id], old[op]);
}

static void decide(uint32_t to)
{
	int undecided = UNDECIDED;

	if (!atomic_compare_exchange_strong(&set, &undecided, (int)to) || to == TABLES_RCCL)
		return;
	renumber(context_wanted[ROCPROFILER_CALLBACK_TRACING_RCCL_API], to);
	renumber(context_records_wanted[ROCPROFILER_BUFFER_TRACING_RCCL_API], to);
}

static uint64_t version_of_library(void)
{
	int (*get)(int *);
	int version = 0;

	*(void **)&get = core->rccl_real(RCCL_OP_ncclGetVersion);
	if (!get || get(&version) != 0)
		return 0;
	return (uint64_t)version;
}

void rccl_start(const struct rtl_core *of)
{
	core = of;
}

bool rccl_is_decided(void)
{
	return atomic_load_explicit(&set, memory_order_relaxed) != UNDECIDED;
}

uint32_t rccl_numbers(void)
{
	int now = atomic_load(&set);

	if (now == UNDECIDED && core && core->rccl_real(RCCL_OP_ncclGetVersion)) {
		decide(core->rccl_real(RCCL_OP_ncclCommShrink)	      ? TABLES_RCCL_NEWEST :
		       core->rccl_real(RCCL_OP_ncclAllReduceWithBias) ? TABLES_RCCL_BIAS :
									TABLES_RCCL);
		now = atomic_load(&set);
	}
	return now == UNDECIDED ? TABLES_RCCL : (uint32_t)now;
}

bool rccl_first_call(void)
{
	if (rccl_is_decided())
		return false;
	rccl_numbers();
	effects_runtime(EFFECTS_RCCL, version_of_library(), 0);
	return true;
}

void rccl_take_table(const void *table, uint64_t version, uint64_t instance)
{
	uint64_t nr;

	if (!instance) {
		nr = *(const uint64_t *)table / sizeof(void *) - 1;
		decide(nr > RCCL_OP_ncclCommShrink	  ? TABLES_RCCL_NEWEST :
		       nr > RCCL_OP_ncclAllReduceWithBias ? TABLES_RCCL_BIAS :
							    TABLES_RCCL);
	}
	effects_runtime(EFFECTS_RCCL, version, instance);
}

const struct tables_kind *rccl_callback_kind(uint32_t kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API ? &tables_rccl_kinds[rccl_numbers()] :
							       &tables_callback_kinds[kind];
}

const struct tables_kind *rccl_buffer_kind(uint32_t kind)
{
	return kind == ROCPROFILER_BUFFER_TRACING_RCCL_API ? &tables_rccl_kinds[rccl_numbers()] :
							     &tables_buffer_kinds[kind];
}
