/* SPDX-License-Identifier: MIT */
/* diff.c - rows of two sides, and their verdicts */
#include "analysis/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const diff_kinds[DIFF_NR_KINDS] = { "kernel", "call",	"copy",
						"range",  "collective", "run" };
const char *const diff_measures[DIFF_NR_MEASURES] = { "median", "total",    "count", "wall", "busy",
						      "skew",	"transfer", "wait",  "late" };
const char *const diff_verdicts[DIFF_NR_VERDICTS] = {
	[DIFF_SLOWER] = "slower",   [DIFF_FASTER] = "faster",	 [DIFF_MORE] = "more often",
	[DIFF_LESS] = "less often", [DIFF_ONLY_A] = "only in A", [DIFF_ONLY_B] = "only in B",
	[DIFF_TOO_FEW] = "too few", [DIFF_NOISE] = "noise",	 [DIFF_EQUAL] = "equal",
};

/* ---- rows ---- */

static uint64_t key_of(enum diff_kind kind, enum diff_measure measure, const char *name)
{
	return (map_hash(name, strlen(name)) * 31 + kind) * 31 + measure;
}

static struct diff_row *find_row(const struct diff *d, enum diff_kind kind,
				 enum diff_measure measure, const char *name, uint64_t *hash)
{
	uint64_t at;

	for (*hash = key_of(kind, measure, name); map_get(&d->by_name, *hash, &at); ++*hash) {
		struct diff_row *row = &d->rows[at];

		if (row->kind == kind && row->measure == measure && strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

static struct diff_row *add_row(struct diff *d, enum diff_kind kind, enum diff_measure measure,
				const char *name)
{
	uint64_t hash;
	struct diff_row *row = find_row(d, kind, measure, name, &hash), *rows;
	char *copy;

	if (row)
		return row;
	rows = alloc_grow(d->rows, d->nr, &d->max, 64, sizeof(*rows));
	if (!rows)
		return NULL;
	d->rows = rows;
	copy = alloc_string(name);
	if (!copy || map_put(&d->by_name, hash, d->nr)) {
		alloc_free(copy);
		return NULL;
	}
	row = &d->rows[d->nr++];
	*row = (struct diff_row){ .kind = kind, .measure = measure, .name = copy };
	return row;
}

static int add_values(struct diff_side *side, const int64_t *values, size_t nr)
{
	if (nr > side->max - side->nr) {
		size_t max = 2 * side->max > side->nr + nr ? 2 * side->max : side->nr + nr;
		int64_t *grown = alloc_resize(side->values, max, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		side->values = grown;
		side->max = max;
	}
	for (size_t i = 0; i < nr; i++)
		side->values[side->nr + i] = values ? values[i] : 0;
	side->nr += nr;
	return 0;
}

int diff_add(struct diff *d, int side, enum diff_kind kind, enum diff_measure measure,
	     const char *name, const int64_t *values, size_t nr)
{
	struct diff_row *row = add_row(d, kind, measure, name);

	return row ? add_values(&row->sides[side], values, nr) : -ENOMEM;
}

static uint64_t sum_of(const struct diff *d, const struct diff_row *like, enum diff_measure measure,
		       int side)
{
	uint64_t hash;
	const struct diff_row *row = find_row(d, like->kind, measure, like->name, &hash);
	uint64_t sum = 0;

	for (size_t i = 0; row && i < row->sides[side].nr; i++)
		sum += (uint64_t)row->sides[side].values[i];
	return sum;
}

/* A run in which a name does not occur has it 0 times, for 0 ns. A side in which no run has it
 * stays without values. */
static int complete_row(struct diff *d, struct diff_row *row)
{
	for (int s = 0; s < 2; s++) {
		struct diff_side *side = &row->sides[s];

		side->count = sum_of(d, row, DIFF_COUNT, s);
		side->total = sum_of(d, row, DIFF_TOTAL, s);
		if (!diff_is_median(row->measure) && side->nr && side->nr < d->nr_runs[s] &&
		    add_values(side, NULL, d->nr_runs[s] - side->nr))
			return -ENOMEM;
	}
	return 0;
}

/* ---- verdicts ---- */

bool diff_is_median(enum diff_measure measure)
{
	return measure == DIFF_MEDIAN || measure == DIFF_SKEW || measure == DIFF_TRANSFER;
}

bool diff_is_compared(const struct diff_row *row)
{
	return row->sides[0].nr && row->sides[1].nr;
}

bool diff_has_interval(const struct diff_row *row)
{
	return !row->is_exact && row->sides[0].nr >= COMPARE_INTERVAL_MIN &&
	       row->sides[1].nr >= COMPARE_INTERVAL_MIN;
}

bool diff_is_change(enum diff_verdict verdict)
{
	return verdict <= DIFF_LESS;
}

bool diff_is_news(const struct diff_row *row)
{
	return (row->measure != DIFF_TOTAL && row->measure != DIFF_COUNT &&
		row->measure != DIFF_WAIT) ||
	       diff_is_change(row->verdict);
}

static bool is_constant(const struct diff_side *side)
{
	for (size_t i = 1; i < side->nr; i++)
		if (side->values[i] != side->values[0])
			return false;
	return true;
}

static enum diff_verdict direction(const struct diff_row *row)
{
	if (row->measure == DIFF_COUNT)
		return row->result.change > 0 ? DIFF_MORE : DIFF_LESS;
	return row->result.change > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

/* Whether its sides have enough values for a difference, were it the only row. */
static bool is_testable(const struct diff_row *row)
{
	return diff_is_compared(row) && !row->is_exact &&
	       compare_least_p(row->sides[0].nr, row->sides[1].nr) <= COMPARE_ALPHA;
}

static enum diff_verdict judge_row(const struct diff_row *row, bool is_significant, size_t nr_tests)
{
	if (!diff_is_compared(row))
		return row->sides[0].nr ? DIFF_ONLY_A : DIFF_ONLY_B;
	if (row->is_exact)
		return row->result.change == 0 ? DIFF_EQUAL : direction(row);
	if (!is_testable(row))
		return DIFF_TOO_FEW;
	if (compare_differs(&row->result, is_significant))
		return direction(row);
	return compare_least_p(row->sides[0].nr, row->sides[1].nr) >
			       COMPARE_ALPHA / (double)nr_tests ?
		       DIFF_TOO_FEW :
		       DIFF_NOISE;
}

/* Rows with too few values even for a test of their own can't give a false alarm: they are not of
 * the family. */
int diff_judge(const struct diff *d, const size_t *rows, size_t nr, enum diff_verdict *verdicts,
	       size_t *needed)
{
	double *p = alloc_zero(nr + 1, sizeof(*p));
	bool *significant = alloc_zero(nr + 1, sizeof(*significant));
	size_t nr_tests = 0, nr_all = 0;
	int ret = p && significant ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < nr; i++) {
		const struct diff_row *row = &d->rows[rows[i]];

		nr_all += diff_is_compared(row) && !row->is_exact;
		if (is_testable(row))
			p[nr_tests++] = row->result.p;
	}
	if (!ret)
		ret = compare_holm(p, nr_tests, COMPARE_ALPHA, significant);
	for (size_t i = 0, k = 0; !ret && i < nr; i++) {
		const struct diff_row *row = &d->rows[rows[i]];
		bool is_significant = is_testable(row) && significant[k++];

		verdicts[i] = judge_row(row, is_significant, nr_tests);
	}
	*needed = compare_values_needed(COMPARE_ALPHA / (double)(nr_all ? nr_all : 1));
	alloc_free(p);
	alloc_free(significant);
	return ret;
}

static int compare_row(struct diff_row *row, uint64_t seed)
{
	struct diff_side *a = &row->sides[0], *b = &row->sides[1];

	if (a->nr)
		a->median = compare_median(a->values, a->nr);
	if (b->nr)
		b->median = compare_median(b->values, b->nr);
	if (!diff_is_compared(row))
		return 0;
	row->is_exact = row->measure == DIFF_COUNT && is_constant(a) && is_constant(b);
	return compare_samples(a->values, a->nr, b->values, b->nr, seed, &row->result);
}

static uint64_t weight_of(const struct diff_row *row)
{
	const struct diff_side *a = &row->sides[0], *b = &row->sides[1];

	return row->kind == DIFF_RUN ? UINT64_MAX : a->total > b->total ? a->total : b->total;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	uint64_t x_ns = weight_of(x), y_ns = weight_of(y);
	int names;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	names = strcmp(x->name, y->name);
	if (names)
		return names;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (int)x->measure - (int)y->measure;
}

static int judge_all(struct diff *d)
{
	enum diff_verdict *verdicts = alloc_zero(d->nr + 1, sizeof(*verdicts));
	size_t *rows = alloc_zero(d->nr + 1, sizeof(*rows));
	int ret = verdicts && rows ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < d->nr; i++)
		rows[i] = i;
	if (!ret)
		ret = diff_judge(d, rows, d->nr, verdicts, &d->runs_needed);
	for (size_t i = 0; !ret && i < d->nr; i++) {
		d->rows[i].verdict = verdicts[i];
		d->nr_verdicts[verdicts[i]]++;
	}
	alloc_free(verdicts);
	alloc_free(rows);
	return ret;
}

int diff_compare(struct diff *d, uint64_t seed)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < d->nr; i++)
		ret = complete_row(d, &d->rows[i]);
	for (size_t i = 0; !ret && i < d->nr; i++)
		ret = compare_row(&d->rows[i], seed + i);
	if (!ret)
		ret = judge_all(d);
	if (!ret && d->nr)
		qsort(d->rows, d->nr, sizeof(*d->rows), compare_rows);
	map_fini(&d->by_name); /* of the order before */
	return ret;
}

void diff_fini(struct diff *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		alloc_free(d->rows[i].name);
		alloc_free(d->rows[i].sides[0].values);
		alloc_free(d->rows[i].sides[1].values);
	}
	alloc_free(d->rows);
	map_fini(&d->by_name);
}
