/* SPDX-License-Identifier: MIT */
/* mpi_requests.h - requests of MPI that are open, and which a call completes
 *
 * A handle is that of the newest request that has it and was there when the call began: MPI uses
 * handles again. Traces from before calls recorded which requests they complete: those complete the
 * oldest ones of their thread, and where these are not all, each that was open may have been one of
 * them (is_unclear). MPI_PROC_NULL's requests count, too. Memory grows with open requests. One
 * thread.
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
	int64_t begin, since; /* of the call that made it: its begin and its end */
	uint64_t of;	      /* the owner's */
	bool is_cancelled;    /* without a message, or that is not known (has_done is false) */
	bool is_unclear, is_freed;
	bool has_done; /* what its completion says is known: */
	struct mpi_done done;
};

struct mpi_requests {
	struct mpi_request *open;	/* the oldest first */
	struct mpi_request *persistent; /* that can be started */
	size_t nr, max, nr_persistent, max_persistent;
	uint64_t nr_all;
};

typedef int (*mpi_requests_fn)(void *arg, const struct mpi_request *request);

/* Whether calls of this kind leave a request behind. */
bool mpi_requests_is_begun(enum mpi_kind kind);
/* Adds `handle`, `kind`, `call`, `tid`, `begin`, `since` and `of` of a request. `number` may be
 * NULL. 0 or -ENOMEM. */
int mpi_requests_add(struct mpi_requests *r, const struct mpi_request *request, uint64_t *number);
/* The same with one that can be started. */
int mpi_requests_add_persistent(struct mpi_requests *r, const struct mpi_request *request);
/* The one that a call at that time starts; NULL: it is not known. Until the next call here. */
const struct mpi_request *mpi_requests_find_persistent(const struct mpi_requests *r,
						       uint64_t handle, int64_t begin);
/* Handles of matched probes' messages are other ones than those of requests. */
#define MPI_REQUESTS_MESSAGE (UINT64_C(1) << 62)
/* A matched probe's message has become the request of a receive. Returns its number; 0: the probe
 * is not known. */
uint64_t mpi_requests_rename(struct mpi_requests *r, uint64_t message, uint64_t handle,
			     int64_t begin, int64_t since);
/* Passes the request on that a call has completed, which began at that time; or nothing. 0 or what
 * `each` returned. */
int mpi_requests_done(struct mpi_requests *r, const struct mpi_done *done, int64_t begin,
		      mpi_requests_fn each, void *arg);
/* Passes those on that a call completes, frees or cancels, the oldest first. 0 or what `each`
 * returned. */
int mpi_requests_complete(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
			  int64_t tid, int64_t begin, mpi_requests_fn each, void *arg);
/* The same with all that are open. */
int mpi_requests_end(struct mpi_requests *r, mpi_requests_fn each, void *arg);
void mpi_requests_fini(struct mpi_requests *r);

#endif
