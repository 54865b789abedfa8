/* SPDX-License-Identifier: MIT */
/* mpi_requests.c - requests of MPI that are open, the oldest first */
#include "analysis/mpi_requests.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

void mpi_requests_fini(struct mpi_requests *r)
{
	alloc_free(r->open);
	alloc_free(r->persistent);
	*r = (struct mpi_requests){ 0 };
}

bool mpi_requests_is_begun(enum mpi_kind kind)
{
	return kind == MPI_CALL_ISEND || kind == MPI_CALL_IRECV || kind == MPI_CALL_ISENDRECV ||
	       kind == MPI_CALL_ICOLLECTIVE;
}

int mpi_requests_add(struct mpi_requests *r, const struct mpi_request *request, uint64_t *number)
{
	struct mpi_request *grown = alloc_grow(r->open, r->nr, &r->max, 16, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->open = grown;
	grown[r->nr] = *request;
	grown[r->nr++].number = ++r->nr_all;
	if (number)
		*number = r->nr_all;
	return 0;
}

int mpi_requests_add_persistent(struct mpi_requests *r, const struct mpi_request *request)
{
	struct mpi_request *grown =
		alloc_grow(r->persistent, r->nr_persistent, &r->max_persistent, 16, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->persistent = grown;
	grown[r->nr_persistent++] = *request;
	return 0;
}

static int complete_at(struct mpi_requests *r, size_t at, mpi_requests_fn each, void *arg)
{
	const struct mpi_request one = r->open[at];

	r->nr--;
	memmove(&r->open[at], &r->open[at + 1], (r->nr - at) * sizeof(*r->open));
	return each(arg, &one);
}

static struct mpi_request *find_newest(struct mpi_request *all, size_t nr, uint64_t handle,
				       int64_t begin)
{
	for (size_t i = nr; handle && i-- > 0;)
		if (all[i].handle == handle && all[i].since <= begin)
			return &all[i];
	return NULL;
}

const struct mpi_request *mpi_requests_find_persistent(const struct mpi_requests *r,
						       uint64_t handle, int64_t begin)
{
	return find_newest(r->persistent, r->nr_persistent, handle, begin);
}

uint64_t mpi_requests_rename(struct mpi_requests *r, uint64_t message, uint64_t handle,
			     int64_t begin, int64_t since)
{
	struct mpi_request *request = find_newest(r->open, r->nr, message, begin);

	if (!request)
		return 0;
	request->handle = handle;
	request->kind = MPI_CALL_IRECV;
	request->since = since;
	return request->number;
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

int mpi_requests_done(struct mpi_requests *r, const struct mpi_done *done, int64_t begin,
		      mpi_requests_fn each, void *arg)
{
	struct mpi_request *request = find_newest(r->open, r->nr, done->handle, begin);

	if (!request)
		return 0;
	request->is_unclear = false;
	request->is_cancelled = done->is_cancelled;
	request->has_done = true;
	request->done = *done;
	return complete_at(r, (size_t)(request - r->open), each, arg);
}

static int free_request(struct mpi_requests *r, uint64_t handle, int64_t begin,
			mpi_requests_fn each, void *arg)
{
	struct mpi_request *request = find_newest(r->persistent, r->nr_persistent, handle, begin);

	if (request) {
		size_t at = (size_t)(request - r->persistent);

		r->nr_persistent--;
		memmove(request, request + 1, (r->nr_persistent - at) * sizeof(*request));
	}
	request = find_newest(r->open, r->nr, handle, begin);
	if (!request)
		return 0;
	request->is_freed = true;
	return complete_at(r, (size_t)(request - r->open), each, arg);
}

/* All that the call names, and as many of the oldest as it has no space for. */
static int complete_list(struct mpi_requests *r, const char *list, int64_t tid, int64_t begin,
			 mpi_requests_fn each, void *arg)
{
	struct mpi_done done;
	int ret = 0;

	while (ret == 0 && mpi_function_next(&list, &done))
		ret = done.handle ? mpi_requests_done(r, &done, begin, each, arg) :
				    complete_oldest(r, done.more, tid, each, arg);
	return ret;
}

int mpi_requests_complete(struct mpi_requests *r, enum mpi_kind kind, const struct mpi_call *call,
			  int64_t tid, int64_t begin, mpi_requests_fn each, void *arg)
{
	struct mpi_request *request;

	if (call->list && kind != MPI_CALL_START)
		return complete_list(r, call->list, tid, begin, each, arg);
	switch (kind) {
	case MPI_CALL_WAIT:
		request = call->nr ? find_newest(r->open, r->nr, call->request, begin) : NULL;
		if (!request)
			return 0;
		request->is_unclear = false;
		return complete_at(r, (size_t)(request - r->open), each, arg);
	case MPI_CALL_FREE:
		return free_request(r, call->request, begin, each, arg);
	case MPI_CALL_CANCEL:
		request = find_newest(r->open, r->nr, call->request, begin);
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
