/* SPDX-License-Identifier: MIT */
/* sorter.c - an external merge sort that profits from rows that are nearly in order
 *
 * A buffer of rows is split where order ends, and its parts are merged. A full buffer is appended
 * to the file as a run, or to the run before, if it continues that. At the end each run has a share
 * of the buffer, and a heap finds the least row.
 */
#include "query/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/temporary.h"

enum { ROWS = 64 << 10, STAGE_ROWS = 256 };

/* Rows of the file that are in order, and while they are read those that are in the buffer. */
struct run {
	uint64_t at, end; /* of the file, in rows */
	size_t first, row, nr;
};

struct sorter {
	size_t size, max, nr;
	sorter_cmp compare;
	char *rows;
	uint32_t *order, *spare, *orders; /* orders: the memory of both */
	int fd;				  /* -1: all rows are in memory */
	uint64_t written;
	struct run *runs;
	size_t nr_runs, max_runs;
	_Alignas(int64_t) char last[SORTER_SIZE]; /* of the file */
};

struct sorter *sorter_new(size_t size, sorter_cmp compare, size_t rows)
{
	struct sorter *s = size <= SORTER_SIZE ? alloc_zero(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->size = size;
	s->compare = compare;
	s->max = rows ? rows : ROWS;
	s->fd = -1;
	s->rows = alloc_heap(s->max * size);
	s->orders = alloc_heap(2 * s->max * sizeof(*s->orders));
	if (!s->rows || !s->orders) {
		sorter_free(s);
		return NULL;
	}
	s->order = s->orders;
	s->spare = s->orders + s->max;
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	alloc_free(s->rows);
	alloc_free(s->orders);
	alloc_free(s->runs);
	alloc_free(s);
}

static const void *row_at(const struct sorter *s, size_t i)
{
	return s->rows + i * s->size;
}

/* ---- the buffer ---- */

/* Merges [a, b) and [b, c) of `from`. */
static void merge_parts(const struct sorter *s, const uint32_t *from, uint32_t *to, size_t a,
			size_t b, size_t c)
{
	size_t left = a, right = b;

	for (size_t i = a; i < c; i++) {
		bool take_right = left == b || (right < c && s->compare(row_at(s, from[right]),
									row_at(s, from[left])) < 0);

		to[i] = take_right ? from[right++] : from[left++];
	}
}

/* The end of the part in order that begins at `i`. */
static size_t part_end(const struct sorter *s, size_t i)
{
	for (i++; i < s->nr; i++)
		if (s->compare(row_at(s, s->order[i - 1]), row_at(s, s->order[i])) > 0)
			break;
	return i;
}

static void sort_buffer(struct sorter *s)
{
	for (size_t i = 0; i < s->nr; i++)
		s->order[i] = (uint32_t)i;
	while (s->nr && part_end(s, 0) < s->nr) {
		uint32_t *sorted = s->spare;

		for (size_t a = 0; a < s->nr;) {
			size_t b = part_end(s, a), c = b < s->nr ? part_end(s, b) : b;

			merge_parts(s, s->order, sorted, a, b, c);
			a = c;
		}
		s->spare = s->order;
		s->order = sorted;
	}
}

/* ---- the file ---- */

static int open_file(struct sorter *s)
{
	int fd = temporary_unnamed("rtl-sort");

	s->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

static int add_run(struct sorter *s)
{
	struct run *grown;

	if (s->nr_runs && s->compare(s->last, row_at(s, s->order[0])) <= 0) {
		s->runs[s->nr_runs - 1].end += s->nr;
		return 0;
	}
	grown = alloc_grow(s->runs, s->nr_runs, &s->max_runs, 16, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->runs = grown;
	grown[s->nr_runs++] = (struct run){ .at = s->written, .end = s->written + s->nr };
	return 0;
}

/* Appends the buffer to the file. */
static int spill(struct sorter *s)
{
	char stage[STAGE_ROWS * SORTER_SIZE];
	size_t size = s->size, n = 0;
	int ret = s->fd < 0 ? open_file(s) : 0;

	sort_buffer(s);
	if (ret == 0)
		ret = add_run(s);
	for (size_t i = 0; i < s->nr && ret == 0; i++) {
		memcpy(stage + n++ * size, row_at(s, s->order[i]), size);
		if (n == STAGE_ROWS || i + 1 == s->nr) {
			ret = fd_pwrite(s->fd, stage, n * size, (s->written + i + 1 - n) * size);
			n = 0;
		}
	}
	if (ret == 0)
		memcpy(s->last, row_at(s, s->order[s->nr - 1]), size);
	s->written += s->nr;
	s->nr = 0;
	return ret;
}

int sorter_add(struct sorter *s, const void *row)
{
	int ret = s->nr == s->max ? spill(s) : 0;

	if (ret == 0)
		memcpy(s->rows + s->nr++ * s->size, row, s->size);
	return ret;
}

/* ---- reading ---- */

static const void *row_of(const struct sorter *s, const struct run *r)
{
	return row_at(s, r->first + r->row);
}

/* Moves the first run, whose row has changed, down the heap. */
static void sift(struct sorter *s)
{
	for (size_t i = 0, least = 0;; i = least) {
		struct run moved;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->nr_runs; child++) {
			const struct run *a = &s->runs[child], *b = &s->runs[least];
			int order = s->compare(row_of(s, a), row_of(s, b));

			if (order < 0 || (order == 0 && a->first < b->first))
				least = child;
		}
		if (least == i)
			return;
		moved = s->runs[i];
		s->runs[i] = s->runs[least];
		s->runs[least] = moved;
	}
}

/* Reads the next rows of a run, which has some. */
static int fill(const struct sorter *s, struct run *r, size_t share)
{
	uint64_t left = r->end - r->at, size = s->size;

	r->nr = left < share ? (size_t)left : share;
	r->row = 0;
	r->at += r->nr;
	return fd_pread(s->fd, s->rows + r->first * size, r->nr * size, (r->at - r->nr) * size);
}

static int merge_runs(struct sorter *s, sorter_fn each, void *arg)
{
	size_t nr = s->nr_runs, share = s->max / nr;
	int ret = share ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		s->runs[i].first = i * share;
		ret = fill(s, &s->runs[i], share);
	}
	/* the heap grows by its first element: the others are added from the last on */
	for (size_t i = 0; i < nr && ret == 0; i++) {
		for (size_t at = i; at; at = (at - 1) / 2) {
			struct run *up = &s->runs[(at - 1) / 2], moved = s->runs[at];

			if (s->compare(row_of(s, &moved), row_of(s, up)) >= 0)
				break;
			s->runs[at] = *up;
			*up = moved;
		}
	}
	while (ret == 0 && s->nr_runs) {
		struct run *r = &s->runs[0];

		ret = each(arg, row_of(s, r));
		if (ret == 0 && ++r->row == r->nr) {
			if (r->at < r->end)
				ret = fill(s, r, share);
			else
				*r = s->runs[--s->nr_runs];
		}
		sift(s);
	}
	return ret;
}

int sorter_read(struct sorter *s, sorter_fn each, void *arg)
{
	int ret = 0;

	if (s->fd >= 0) {
		ret = s->nr ? spill(s) : 0;
		return ret ? ret : merge_runs(s, each, arg);
	}
	sort_buffer(s);
	for (size_t i = 0; i < s->nr && ret == 0; i++)
		ret = each(arg, row_at(s, s->order[i]));
	return ret;
}
