/* SPDX-License-Identifier: MIT */
/* mpi_requests.h - requests of MPI that are open, and which a call completes
 *
 * Calls for several requests do not record which: they complete the oldest ones of their thread.
 * Where those are not all, each that was open may have been one of them (is_unclear).
 * MPI_PROC_NULL's requests count, too. Memory grows with open requests. One thread.
 */
#ifndef RTL_ANALYSIS_MPI_REQUESTS_H
#define RTL_ANALYSIS_MPI_REQUESTS_H

#include "analysis/mpi_function.h"

struct mpi_request {
	uint64_t handle; /* 0: not recorded */
	uint64_t number; /* from 1, in the order of their calls */
	enum mpi_kind kind;
	struct mpi_call call;
	int64_t tid;
	uint64_t of; /* the owner's */
	bool is_cancelled, is_unclear;
};

struct mpi_requests {
	struct mpi_request *open; /* the oldest first */
	size_t nr, max;
	uint64_t nr_all;
};

typedef int (*mpi_requests_fn)(void *arg, const struct mpi_request *request);

/* Whether calls of this kind leave a request behind. */
bool mpi_requests_is_begun(enum mpi_kind kind, const struct mpi_call *call);
/* `number` may be NULL. 0 or -ENOMEM. */
int mpi_requests_add(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
		     int64_t tid, uint64_t of, uint64_t *number);
/* Passes those on that a call completes, the oldest first. 0 or what `each` returned. */
int mpi_requests_complete(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
			  int64_t tid, mpi_requests_fn each, void *arg);
/* The same with all that are open. */
int mpi_requests_end(struct mpi_requests *r, mpi_requests_fn each, void *arg);
void mpi_requests_fini(struct mpi_requests *r);

#endif
