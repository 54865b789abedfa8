/* SPDX-License-Identifier: MIT */
/* mpi_requests.c - requests of MPI that are open, the oldest first */
#include "analysis/mpi_requests.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

void mpi_requests_fini(struct mpi_requests *r)
{
	alloc_free(r->open);
	*r = (struct mpi_requests){ 0 };
}

bool mpi_requests_is_begun(enum mpi_kind kind, const struct mpi_call *call)
{
	return kind == MPI_CALL_ISEND || kind == MPI_CALL_IRECV || kind == MPI_CALL_ICOLLECTIVE ||
	       (kind == MPI_CALL_UNKNOWN && call->request);
}

int mpi_requests_add(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
		     int64_t tid, uint64_t of, uint64_t *number)
{
	struct mpi_request *grown = alloc_grow(r->open, r->nr, &r->max, 16, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->open = grown;
	grown[r->nr++] = (struct mpi_request){ .handle = call->request,
					       .number = ++r->nr_all,
					       .kind = kind,
					       .call = *call,
					       .tid = tid,
					       .of = of };
	if (number)
		*number = r->nr_all;
	return 0;
}

static int complete_at(struct mpi_requests *r, size_t at, mpi_requests_fn each, void *arg)
{
	const struct mpi_request one = r->open[at];

	r->nr--;
	memmove(&r->open[at], &r->open[at + 1], (r->nr - at) * sizeof(*r->open));
	return each(arg, &one);
}

/* The oldest of that handle: MPICH has one for all that are complete at once. */
static struct mpi_request *find_request(struct mpi_requests *r, uint64_t handle)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->open[i].handle == handle)
			return &r->open[i];
	return NULL;
}

static int complete_oldest(struct mpi_requests *r, int64_t nr, int64_t tid, mpi_requests_fn each,
			   void *arg)
{
	int64_t nr_open = 0;
	int ret = 0;

	for (size_t i = 0; i < r->nr; i++)
		nr_open += r->open[i].tid == tid;
	for (size_t i = 0; nr > 0 && nr < nr_open && i < r->nr; i++)
		if (r->open[i].tid == tid)
			r->open[i].is_unclear = true;
	for (size_t i = 0; nr > 0 && i < r->nr && ret == 0;) {
		if (r->open[i].tid != tid) {
			i++;
			continue;
		}
		ret = complete_at(r, i, each, arg);
		nr--;
	}
	return ret;
}

int mpi_requests_complete(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
			  int64_t tid, mpi_requests_fn each, void *arg)
{
	struct mpi_request *request;

	switch (kind) {
	case MPI_CALL_WAIT:
		request = call->nr && call->request ? find_request(r, call->request) : NULL;
		if (!request)
			return 0;
		request->is_unclear = false;
		return complete_at(r, (size_t)(request - r->open), each, arg);
	case MPI_CALL_CANCEL:
		request = call->request ? find_request(r, call->request) : NULL;
		if (request)
			request->is_cancelled = true;
		return 0;
	case MPI_CALL_WAIT_ALL:
	case MPI_CALL_WAIT_ANY:
	case MPI_CALL_WAIT_SOME:
		return complete_oldest(r, call->nr, tid, each, arg);
	default:
		return 0;
	}
}

int mpi_requests_end(struct mpi_requests *r, mpi_requests_fn each, void *arg)
{
	int ret = 0;

	while (r->nr && ret == 0)
		ret = complete_at(r, 0, each, arg);
	return ret;
}
