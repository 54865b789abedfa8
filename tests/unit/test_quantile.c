/* SPDX-License-Identifier: MIT */
/* test_quantile.c - values by their position in the order, in memory and in a file */
#include "query/quantile.h"

#include <stdlib.h>

#include "support/test.h"

enum { MOST = 5000 };

static int compare(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Value `i` of a kind of data. */
static int64_t value_of(int kind, size_t i, size_t nr)
{
	uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u;

	switch (kind) {
	case 0:
		return (int64_t)(random ^ random >> 29);
	case 1:
		return (int64_t)i;
	case 2:
		return (int64_t)(nr - i);
	case 3:
		return 7;
	case 4:
		return (int64_t)(random >> 62);
	default: /* rises, then falls */
		return (int64_t)(i < nr / 2 ? i : nr - i);
	}
}

TEST(quantiles_are_those_of_the_sorted_values)
{
	static const size_t sizes[] = { 1, 2, 3, 64, 1001, MOST };
	struct quantile q = { .most = 1500 };
	int64_t sorted[MOST], found[4];

	for (int kind = 0; kind < 6; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			size_t nr = sizes[s];
			const uint64_t at[4] = { 0, (nr - 1) / 3, (nr - 1) / 2, nr - 1 };

			for (size_t i = 0; i < nr; i++) {
				sorted[i] = value_of(kind, i, nr);
				CHECK_OK(quantile_add(&q, sorted[i]));
			}
			CHECK_EQ_INT(q.sorter != NULL, nr > q.most);
			qsort(sorted, nr, sizeof(*sorted), compare);
			CHECK_OK(quantile_read(&q, at, 4, found));
			for (int i = 0; i < 4; i++)
				CHECK_EQ_INT(found[i], sorted[at[i]]);
		}
	quantile_fini(&q);
}
