/* SPDX-License-Identifier: MIT */
/* requests.c - librtlmpi: which requests a call has completed or started
 *
 * A call takes the handles of what it completes out of the program's array, so that they are copied
 * before it. Where the program wants no statuses, it gets own ones: a status alone says what a
 * receive from any rank has received, and whether a request was cancelled.
 *
 * Owns:     memory for calls with many requests, of which some is kept for the next one.
 * Threads:  any. A block of memory belongs to the call that took it.
 * Fails:    without memory the requests are not recorded. Those beyond MOST of a call are counted
 *           in it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi_wrap.h"
#include "spool/format.h"

/* The record has two words for each, and one pair for the number of the rest; other arguments come
 * before. */
enum { OTHER_WORDS = 6, MOST = (MPI_WORDS - OTHER_WORDS) / 2 - 1 };

struct mpi_memory {
	size_t size;
	uint64_t words[];
};

static _Atomic(struct mpi_memory *) spare[8];

static struct mpi_memory *take_memory(size_t size)
{
	struct mpi_memory *m;

	for (size_t i = 0; i < ARRAY_SIZE(spare); i++) {
		/* acq_rel: what another call did with it comes before, as in give_memory() */
		m = atomic_load_explicit(&spare[i], memory_order_relaxed) ?
			    atomic_exchange_explicit(&spare[i], NULL, memory_order_acq_rel) :
			    NULL;
		if (m && m->size >= size)
			return m;
		if (m)
			alloc_pages_free(m, m->size);
	}
	m = alloc_pages(size);
	if (m)
		m->size = size;
	return m;
}

static void give_memory(struct mpi_memory *m)
{
	for (size_t i = 0; m && i < ARRAY_SIZE(spare); i++)
		if (!atomic_load_explicit(&spare[i], memory_order_relaxed))
			m = atomic_exchange_explicit(&spare[i], m, memory_order_acq_rel);
	if (m)
		alloc_pages_free(m, m->size);
}

/* MPICH leaves them as they are for sends. */
static void *own_statuses(const struct mpi_abi *a, struct mpi_list *list, int64_t nr)
{
	const int unknown = SPOOL_SOURCE_UNKNOWN;
	char *own = list->memory ? (char *)(list->handles + list->nr) : (char *)list->own;

	for (int64_t i = 0; i < nr; i++)
		memcpy(own + (size_t)i * a->status_size + a->source_at, &unknown, sizeof(unknown));
	return own;
}

void *mpi_list_begin(struct mpi_list *list, int64_t nr, const void *requests, void *statuses,
		     int64_t nr_statuses)
{
	const struct mpi_abi *a = mpi_has_args() ? mpi_abi() : NULL;
	bool is_own = a && nr_statuses > 0 && statuses == a->status_ignore;
	int saved = errno;
	size_t step;

	list->nr = 0;
	list->memory = NULL;
	list->handles = list->few;
	if (!a || nr <= 0 || !requests)
		return statuses;
	if (nr > MPI_FEW) {
		/* powers of two, or calls with ever more of them would each need a block */
		size_t size = 4096, own = is_own ? (size_t)nr_statuses * a->status_size : 0;

		while (size < sizeof(*list->memory) + (size_t)nr * sizeof(uint64_t) + own)
			size *= 2;
		list->memory = take_memory(size);
		errno = saved;
		if (!list->memory)
			return statuses;
		list->handles = list->memory->words;
	}
	list->nr = nr;
	step = a->kind == MPI_MPICH ? sizeof(uint32_t) : sizeof(mpi_handle);
	for (int64_t i = 0; i < nr; i++)
		list->handles[i] = mpi_value((const char *)requests + (size_t)i * step);
	return is_own ? own_statuses(a, list, nr_statuses) : statuses;
}

/* What a status says, as the second word of a request. */
static uint64_t word_of(const struct mpi_abi *a, const char *status)
{
	int source, tag, is_cancelled = 0;

	if (!status)
		return (uint32_t)SPOOL_SOURCE_UNKNOWN;
	if (a->test_cancelled(status, &is_cancelled) == 0 && is_cancelled)
		return (uint32_t)SPOOL_SOURCE_CANCELLED;
	memcpy(&source, status + a->source_at, sizeof(source));
	memcpy(&tag, status + a->tag_at, sizeof(tag));
	return (uint64_t)(uint32_t)mpi_tag(tag) << 32 | (uint32_t)mpi_peer(source);
}

uint32_t mpi_list_words(const struct mpi_list *list, int64_t nr, const int *indices,
			const void *statuses, uint64_t *words)
{
	const struct mpi_abi *a = list->nr ? mpi_abi() : NULL;
	const char *status = a && statuses != a->status_ignore ? statuses : NULL;
	uint32_t nr_words = 0;
	uint64_t nr_more = 0;
	int saved = errno;

	for (int64_t i = 0; a && i < nr; i++) {
		int64_t at = indices ? indices[i] : i;

		if (at < 0 || at >= list->nr || list->handles[at] == a->request_null ||
		    !list->handles[at])
			continue;
		if (nr_words == 2 * MOST) {
			nr_more++;
			continue;
		}
		words[nr_words++] = list->handles[at];
		words[nr_words++] = word_of(a, status ? status + (size_t)i * a->status_size : NULL);
	}
	if (nr_more) {
		words[nr_words++] = 0;
		words[nr_words++] = nr_more;
	}
	errno = saved;
	return nr_words;
}

void mpi_list_end(struct mpi_list *list)
{
	int saved = errno;

	if (list->memory)
		give_memory(list->memory);
	errno = saved;
}
