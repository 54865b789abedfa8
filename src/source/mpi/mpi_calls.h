/* SPDX-License-Identifier: MIT */
/* mpi_calls.h - calls of MPI, from librtlmpi's wrappers to the recorder
 *
 * The wrappers are in a library of their own, which is preloaded for rtl trace --mpi alone, and
 * come here by the core's table (lib/librtl/core.h). A call of MPI is not the origin of what is
 * submitted within it: the calls of HIP that the library makes are, as those of the program. A call
 * within a call of MPI is the library's own and has no record.
 *
 * Any thread. All preserve errno.
 */
#ifndef RTL_SOURCE_MPI_MPI_CALLS_H
#define RTL_SOURCE_MPI_MPI_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/api/call.h"

/* The first call of MPI: decides whether calls are recorded, and starts the trace. `ops` and
 * `named` as in api_define(). Once. Returns whether arguments are wanted. */
bool mpi_calls_start(const struct api_op *ops, _Atomic uint8_t *named, uint32_t nr);
/* HOT: a call begins. false: it is not recorded, and mpi_calls_pass() follows it. `frame`: the
 * address of the wrapper's frame. */
bool mpi_calls_enter(uint32_t op, struct api_call *c, uintptr_t frame);
/* HOT: it has ended at `end_ns`. `words` in the order of the op's signature; nr_words may be 0. */
void mpi_calls_leave(uint32_t op, struct api_call *c, uint64_t end_ns, int32_t status,
		     const uint64_t *words, uint32_t nr_words);
void mpi_calls_pass(uintptr_t frame);
/* The word of a text. */
uint64_t mpi_calls_text(const char *text);
/* This process's rank in MPI_COMM_WORLD and the number of ranks: stored where the launcher's
 * variables name none. */
void mpi_calls_rank(int64_t rank, int64_t size);

#endif
