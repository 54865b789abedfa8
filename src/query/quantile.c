/* SPDX-License-Identifier: MIT */
/* quantile.c - the values at some positions of an order (quantile.h) */
#include "query/quantile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "query/sorter.h"

static int compare(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* From now on they are sorted. */
static int open_sorter(struct quantile *q)
{
	int ret = 0;

	q->sorter = sorter_new(sizeof(int64_t), compare, 0);
	if (!q->sorter)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < q->nr; i++)
		ret = sorter_add(q->sorter, &q->values[i]);
	q->nr = 0;
	return ret;
}

int quantile_add(struct quantile *q, int64_t value)
{
	int64_t *values;
	int ret = 0;

	if (q->nr == q->most && !q->sorter)
		ret = open_sorter(q);
	if (ret || q->sorter)
		return ret ? ret : sorter_add(q->sorter, &value);
	values = alloc_grow(q->values, q->nr, &q->max, 64, sizeof(*values));
	if (!values)
		return -ENOMEM;
	q->values = values;
	values[q->nr++] = value;
	return 0;
}

/* ---- in memory ---- */

static void swap(int64_t *a, int64_t *b)
{
	int64_t value = *a;

	*a = *b;
	*b = value;
}

/* Puts the value of position `at` there, the smaller ones before it and the larger ones behind. */
static void select_at(int64_t *v, size_t nr, size_t at)
{
	size_t first = 0, last = nr - 1;

	/* each round halves what is left, mostly: what does not is sorted */
	for (int round = 0; first < last; round++) {
		size_t low = first, high = last, middle = first + (last - first) / 2;
		int64_t pivot;

		if (round == 2 * 64) {
			qsort(v + first, last - first + 1, sizeof(*v), compare);
			return;
		}
		if (v[middle] < v[first])
			swap(&v[middle], &v[first]);
		if (v[last] < v[first])
			swap(&v[last], &v[first]);
		if (v[last] < v[middle])
			swap(&v[last], &v[middle]);
		pivot = v[middle];
		/* the ends stop both: they are no more, and no less, than the pivot */
		for (;;) {
			while (v[low] < pivot)
				low++;
			while (pivot < v[high])
				high--;
			if (low >= high)
				break;
			swap(&v[low++], &v[high--]);
		}
		if (at <= high)
			last = high;
		else
			first = high + 1;
	}
}

/* ---- in the file ---- */

struct picking {
	const uint64_t *at;
	size_t nr, next;
	int64_t *found;
	uint64_t row;
};

static int pick(void *arg, const void *row)
{
	struct picking *p = arg;

	for (; p->next < p->nr && p->at[p->next] == p->row; p->next++)
		p->found[p->next] = *(const int64_t *)row;
	p->row++;
	return 0;
}

int quantile_read(struct quantile *q, const uint64_t *at, size_t nr, int64_t *found)
{
	struct picking p = { .at = at, .nr = nr, .found = found };
	int ret;

	if (!q->sorter) {
		for (size_t i = 0, from = 0; i < nr; i++) {
			select_at(q->values + from, q->nr - from, (size_t)at[i] - from);
			found[i] = q->values[at[i]];
			from = (size_t)at[i];
		}
		q->nr = 0;
		return 0;
	}
	ret = sorter_read(q->sorter, pick, &p);
	sorter_free(q->sorter);
	q->sorter = NULL;
	return ret;
}

void quantile_fini(struct quantile *q)
{
	alloc_free(q->values);
	sorter_free(q->sorter);
	*q = (struct quantile){ .most = q->most };
}
