/* SPDX-License-Identifier: MIT */
/* digest_host.c - what the host did: calls, errors, gaps; the calls of copies and launches
 *
 * Fails:    as digest.c
 */
#include "analysis/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/label.h"
#include "query/timeline.h"
#include "query/transfer.h"

/* ---- idle time ---- */

/* The first kept gap that ends behind `ns`. */
static size_t gap_behind(const struct digest_gpu *l, int64_t ns)
{
	size_t low = 0, high = l->nr_kept;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (l->gaps[mid].end <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Idle time of the GPU before `ns`, in kept gaps. */
static uint64_t idle_until(const struct digest_gpu *l, int64_t ns)
{
	size_t at = gap_behind(l, ns);
	uint64_t idle = l->idle_before[at];

	if (at < l->nr_kept && l->gaps[at].begin < ns)
		idle += (uint64_t)(ns - l->gaps[at].begin);
	return idle;
}

static bool is_idle_at(const struct digest_gpu *l, int64_t ns)
{
	size_t at = gap_behind(l, ns);

	return at < l->nr_kept && l->gaps[at].begin <= ns;
}

/* ---- calls ---- */

struct calls {
	struct digest *d;
	struct map inner;  /* calls within another call */
	struct map failed; /* id -> status */
};

static int add_error(struct calls *c, struct digest_sum *sum, int64_t status, int64_t ns)
{
	struct digest *d = c->d;
	struct digest_error *e;

	for (size_t i = 0; i < d->nr_errors; i++) {
		e = &d->errors[i];
		if (e->status == status && strcmp(e->function, sum->name) == 0) {
			e->count++;
			return 0;
		}
	}
	e = alloc_resize(d->errors, d->nr_errors + 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	d->errors = e;
	e += d->nr_errors;
	*e = (struct digest_error){ .function = alloc_string(sum->name),
				    .status = status,
				    .status_type = label_status_type(sum->name),
				    .count = 1,
				    .first_ns = ns };
	if (!e->function)
		return -ENOMEM;
	d->nr_errors++;
	return 0;
}

/* Of the function, whichever process called it: each has an id of its own for a name. */
static struct digest_sum *call_sum(struct digest *d, int64_t name)
{
	struct digest_sum *sum;
	const char *text;
	uint64_t hash, at;

	if (map_get(&d->call_ids, (uint64_t)name, &at))
		return &d->calls.sums[at];
	text = digest_name(d, name);
	if (!text)
		return NULL;
	for (hash = map_hash(text, strlen(text));; hash++) {
		sum = digest_sum_of(&d->calls, hash);
		if (!sum || !sum->name || strcmp(sum->name, text) == 0)
			break;
	}
	if (sum && !sum->name) {
		sum->name = alloc_string(text);
		sum->id = name;
	}
	if (!sum || !sum->name ||
	    map_put(&d->call_ids, (uint64_t)name, (uint64_t)(sum - d->calls.sums)))
		return NULL;
	return sum;
}

/* A status that is no failure: hipErrorNotReady of queries. */
static bool is_failure(int64_t status, const char *name)
{
	return status != 0 && !(status == 600 && strstr(name, "Query"));
}

static int on_call(void *arg, const void *row)
{
	const struct timeline_call *call = row;
	struct calls *c = arg;
	struct digest *d = c->d;
	const struct digest_gpu *all = &d->gpus[0];
	struct digest_sum *sum = call_sum(d, call->name);
	int64_t begin = call->begin, end = call->end;
	uint64_t status, one, idle;

	if (!sum)
		return -ENOMEM;
	d->nr_calls++;
	sum->calls++;
	if (c->failed.nr && map_get(&c->failed, (uint64_t)call->id, &status) &&
	    is_failure((int64_t)status, sum->name)) {
		sum->errors++;
		d->nr_failed++;
		sum->last_error = (int64_t)status;
		if (add_error(c, sum, (int64_t)status, begin))
			return -ENOMEM;
	}
	if (end < begin) {
		sum->untimed++;
		return 0;
	}
	sum->ns += (uint64_t)(end - begin);
	if ((uint64_t)(end - begin) > sum->max_ns)
		sum->max_ns = (uint64_t)(end - begin);
	if (!slice_clip(d->filter, &begin, &end))
		return 0;
	if (c->inner.nr && map_get(&c->inner, (uint64_t)call->id, &one))
		return 0;
	idle = idle_until(all, end) - idle_until(all, begin);
	if (end > sum->idle_until) {
		sum->idle_ns += begin >= sum->idle_until ?
					idle :
					idle_until(all, end) - idle_until(all, sum->idle_until);
		sum->idle_until = end;
	}
	/* GPUs worked for a part of the call that is no accident, and had nothing left to do when
	 * it returned */
	if (all->nr_kept && idle < (uint64_t)(end - begin) / 20 * 19 && is_idle_at(all, end)) {
		sum->nr_waits++;
		/* the first copy may wait for the start-up, too */
		if (sum->wait_until < d->wall.work)
			sum->wait_until = d->wall.work;
		if (end > sum->wait_until) {
			sum->wait_ns +=
				(uint64_t)(end -
					   (begin > sum->wait_until ? begin : sum->wait_until));
			sum->wait_until = end;
		}
	}
	if (end > d->covered_until) {
		if (begin < d->covered_until)
			begin = d->covered_until;
		d->outside_ns -= idle_until(all, end) - idle_until(all, begin);
		d->covered_until = end;
	}
	return 0;
}

static void begin_calls(void *arg)
{
	struct calls *c = arg;
	struct digest *d = c->d;

	digest_free_sums(&d->calls, true);
	map_clear(&d->call_ids);
	for (size_t i = 0; i < d->nr_errors; i++)
		alloc_free(d->errors[i].function);
	d->nr_errors = 0;
	d->nr_calls = d->nr_failed = 0;
	d->covered_until = INT64_MIN;
	d->outside_ns = d->gpus[0].idle_before[d->gpus[0].nr_kept];
}

static int read_map(struct digest *d, struct map *map, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(d->q, &stmt, sql);

	while (ret == 0 && (ret = query_step(d->q, stmt)) == 1)
		ret = map_put(map, (uint64_t)sqlite3_column_int64(stmt, 0),
			      (uint64_t)sqlite3_column_int64(stmt, 1));
	sqlite3_finalize(stmt);
	return ret;
}

/* Calls that failed, with their status, and calls inside of others, in one reading of the rows. */
static int read_odd(struct digest *d, struct map *failed, struct map *inner)
{
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(d->q, &stmt,
				"SELECT api_id, coalesce(status, 0), parent_id FROM rtl_api_data "
				"WHERE status <> 0 OR parent_id <> 0");

	while (ret == 0 && (ret = query_step(d->q, stmt)) == 1) {
		uint64_t call = (uint64_t)sqlite3_column_int64(stmt, 0);

		ret = 0;
		if (sqlite3_column_int64(stmt, 1))
			ret = map_put(failed, call, (uint64_t)sqlite3_column_int64(stmt, 1));
		if (ret == 0 && sqlite3_column_int64(stmt, 2))
			ret = map_put(inner, call, 1);
	}
	sqlite3_finalize(stmt);
	return ret;
}

/* SQL: calls, without markers and rows that stand for threads. */
static const struct timeline_rows calls_ours = {
	.columns = TIMELINE_CALL,
	.id = "id",
	.size = sizeof(struct timeline_call),
	.from = "rocpd_api WHERE domain_id NOT IN (SELECT id FROM rocpd_string WHERE string IN ('rtl', 'roctx')) AND id "
		"BETWEEN ?1 AND ?2",
};
static const struct timeline_rows calls_rpd = {
	.columns = TIMELINE_CALL,
	.id = "id",
	.size = sizeof(struct timeline_call),
	.from = "rocpd_api WHERE apiName_id NOT IN (SELECT id FROM rocpd_string WHERE string = 'UserMarker') AND id "
		"BETWEEN ?1 AND ?2",
};

bool digest_lacks_calls(struct query *q)
{
	return q->ours &&
	       query_number(q->db,
			    "SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason = 'filtered_call')",
			    0);
}

int digest_read_calls(struct digest *d)
{
	struct calls c = { .d = d };
	int ret = 0;

	if (d->q->ours)
		ret = read_odd(d, &c.failed, &c.inner);
	begin_calls(&c);
	if (ret == 0)
		ret = timeline_read(d->q, d->q->ours ? &calls_ours : &calls_rpd, TIMELINE_HERE,
				    on_call, begin_calls, &c);
	d->has_all_calls = d->nr_calls && !digest_lacks_calls(d->q);
	map_fini(&c.failed);
	map_fini(&c.inner);
	digest_sort(&d->calls);
	return ret;
}

/* ---- listed gaps ---- */

struct explain {
	struct digest *d;
	struct digest_gap **gaps; /* by begin */
	size_t nr;
	struct map inner;
	struct map *host; /* of each gap: ns by name */
};

static int explain_call(void *arg, const void *row)
{
	const struct timeline_call *call = row;
	struct explain *e = arg;
	size_t low = 0, high = e->nr;
	uint64_t one, ns;

	if (e->inner.nr && map_get(&e->inner, (uint64_t)call->id, &one))
		return 0;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (e->gaps[mid]->end <= call->begin)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < e->nr && e->gaps[low]->begin < call->end; low++) {
		const struct digest_gap *g = e->gaps[low];
		int64_t begin = call->begin > g->begin ? call->begin : g->begin;
		int64_t end = call->end < g->end ? call->end : g->end;

		if (end <= begin)
			continue;
		ns = 0;
		map_get(&e->host[low], (uint64_t)call->name, &ns);
		if (map_put(&e->host[low], (uint64_t)call->name, ns + (uint64_t)(end - begin)))
			return -ENOMEM;
	}
	return 0;
}

static void reset_explain(void *arg)
{
	struct explain *e = arg;

	for (size_t i = 0; i < e->nr; i++)
		map_clear(&e->host[i]);
}

static int keep_longest(struct digest_gap *g, const struct map *host)
{
	alloc_free(g->host);
	g->host = alloc_zero(DIGEST_HOST, sizeof(*g->host));
	if (!g->host)
		return -ENOMEM;
	for (size_t i = 0; i < host->cap; i++) {
		uint64_t ns = host->entries[i].value_plus_1;
		int at = DIGEST_HOST;

		if (!ns)
			continue;
		ns--;
		while (at > 0 && ns > g->host[at - 1].ns)
			at--;
		if (at == DIGEST_HOST)
			continue;
		memmove(&g->host[at + 1], &g->host[at],
			(size_t)(DIGEST_HOST - 1 - at) * sizeof(g->host[0]));
		g->host[at].name = (int64_t)host->entries[i].key;
		g->host[at].ns = ns;
	}
	return 0;
}

int digest_compare_lengths(const void *a, const void *b)
{
	const struct digest_gap *x = a, *y = b;
	int64_t nx = x->end - x->begin, ny = y->end - y->begin;

	return nx != ny ? (nx > ny ? -1 : 1) : x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int compare_begins(const void *a, const void *b)
{
	const struct digest_gap *x = *(struct digest_gap *const *)a;
	const struct digest_gap *y = *(struct digest_gap *const *)b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int digest_explain(struct digest *d, struct digest_gpu *of, size_t nr)
{
	struct explain e = { .d = d, .nr = nr < of->nr_kept ? nr : of->nr_kept };
	int ret = 0;

	if (!e.nr)
		return 0;
	qsort(of->gaps, of->nr_kept, sizeof(*of->gaps), digest_compare_lengths);
	e.gaps = alloc_zero(e.nr, sizeof(*e.gaps));
	e.host = alloc_zero(e.nr, sizeof(*e.host));
	if (!e.gaps || !e.host) {
		alloc_free(e.gaps);
		alloc_free(e.host);
		return query_fail_memory(d->q);
	}
	for (size_t i = 0; i < e.nr; i++)
		e.gaps[i] = &of->gaps[i];
	qsort(e.gaps, e.nr, sizeof(struct digest_gap *), compare_begins);
	if (d->q->ours)
		ret = read_map(d, &e.inner,
			       "SELECT api_id, 1 FROM rtl_api_data WHERE parent_id <> 0");
	if (ret == 0)
		ret = timeline_read(d->q, d->q->ours ? &calls_ours : &calls_rpd, TIMELINE_APART,
				    explain_call, reset_explain, &e);
	for (size_t i = 0; i < e.nr; i++) {
		if (ret == 0)
			ret = keep_longest(e.gaps[i], &e.host[i]);
		map_fini(&e.host[i]);
	}
	map_fini(&e.inner);
	alloc_free(e.gaps);
	alloc_free(e.host);
	return ret == -ENOMEM ? query_fail_memory(d->q) : ret;
}

/* ---- copies ---- */

static int read_kinds(struct digest *d)
{
	sqlite3_stmt *stmt = NULL;
	int ret = transfer_view(d->q);

	if (ret == 0)
		ret = query_prepare(
			d->q, &stmt,
			"SELECT name, count(*), sum(bytes), sum(CASE WHEN flags & " KINDS_UNTIMED
			" OR end_ns < begin_ns THEN 0 ELSE end_ns - begin_ns END) FROM temp.query_copy GROUP BY 1");
	while (ret == 0 && (ret = query_step(d->q, stmt)) == 1) {
		struct digest_sum *sum = digest_sum_of(&d->copies, d->copies.nr);

		if (sum)
			sum->name = alloc_string(query_text(stmt, 0));
		ret = sum && sum->name ? 0 : -ENOMEM;
		if (ret)
			break;
		sum->calls = (uint64_t)sqlite3_column_int64(stmt, 1);
		sum->bytes = (uint64_t)sqlite3_column_int64(stmt, 2);
		sum->ns = (uint64_t)sqlite3_column_int64(stmt, 3);
		d->copies_ns += sum->ns;
	}
	sqlite3_finalize(stmt);
	digest_sort(&d->copies);
	return ret;
}

/* Calls that copied from and to host memory, which was pinned or not. */
static int read_unpinned(struct digest *d)
{
	int64_t until = d->wall.work;
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(
		d->q, &stmt,
		"SELECT C.pinned, C.size, A.start, A.end FROM rocpd_copyapi C JOIN rocpd_api A ON A.id = "
		"C.api_ptr_id JOIN rocpd_string N ON N.id = A.apiName_id WHERE C.kind IN (1, 2, 4) AND C.size >= "
		"65536 AND N.string LIKE 'hipMemcpy%' ORDER BY A.start");

	while (ret == 0 && (ret = query_step(d->q, stmt)) == 1) {
		int64_t begin = sqlite3_column_int64(stmt, 2), end = sqlite3_column_int64(stmt, 3);

		ret = 0;
		if (sqlite3_column_int64(stmt, 0)) {
			d->pinned_bytes += (uint64_t)sqlite3_column_int64(stmt, 1);
			continue;
		}
		d->unpinned_calls++;
		d->unpinned_bytes += (uint64_t)sqlite3_column_int64(stmt, 1);
		begin = begin > until ? begin : until;
		d->unpinned_ns += end > begin ? (uint64_t)(end - begin) : 0;
		until = end > until ? end : until;
	}
	sqlite3_finalize(stmt);
	return ret;
}

int digest_read_copies(struct digest *d)
{
	int ret = read_kinds(d);

	return ret == 0 && d->q->ours ? read_unpinned(d) : ret;
}

/* ---- launches ---- */

enum { SAMPLE = 200000 };

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(int64_t *values, size_t nr)
{
	if (!nr)
		return 0;
	qsort(values, nr, sizeof(*values), compare_numbers);
	return values[(nr - 1) / 2];
}

struct sample {
	struct digest *d;
	int64_t *launch, *queue; /* times of the kernels so far */
	struct map streams;
	int64_t until, gpu; /* of the kernel before */
	uint64_t stream;
};

/* Columns: begin, end, begin and end of the call, stream, GPU; in the order of begin. */
static int add_to_sample(struct sample *s, sqlite3_stmt *row)
{
	int64_t begin = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t call_end = sqlite3_column_int64(row, 3);
	const char *name = query_text(row, 4);
	uint64_t own = map_hash(name, strlen(name));
	bool same_gpu = s->gpu == sqlite3_column_int64(row, 5);
	struct digest *d = s->d;

	s->launch[d->nr_sampled] = begin - sqlite3_column_int64(row, 2);
	s->queue[d->nr_sampled++] = begin - call_end;
	d->queue_full += call_end < s->until;
	if (same_gpu && own != s->stream && s->until != INT64_MIN) {
		d->nr_order++;
		d->nr_behind += call_end < s->until && begin >= s->until;
	}
	s->stream = own;
	s->gpu = sqlite3_column_int64(row, 5);
	s->until = end > s->until || !same_gpu ? end : s->until;
	return map_put(&s->streams, own, 1);
}

int digest_sample(struct digest *d)
{
#define SAMPLE_OF(launch)                                                                                \
	"SELECT O.start, O.end, A.start, A.end, C.stream, O.gpuId FROM (SELECT id, start, end, "         \
	"correlation_id, gpuId, description_id FROM rocpd_op WHERE correlation_id <> 0 LIMIT 200000) O " \
	"JOIN rocpd_api A ON A.id = O.correlation_id JOIN " launch " ORDER BY 1"
	const char *sql = d->q->is_compact ? SAMPLE_OF("rtl_launch C ON C.id = A.rtl_launch_id") :
					     SAMPLE_OF("rocpd_kernelapi C ON C.api_ptr_id = A.id");
	struct sample s = { .d = d, .until = INT64_MIN, .gpu = -1 };
	sqlite3_stmt *row = NULL;
	int ret;

	if (!d->q->ours || !query_has(d->q->db, "rocpd_kernelapi") ||
	    /* without launches each of the sample's operations would be looked up in vain */
	    (d->q->is_compact &&
	     !query_number(d->q->db, "SELECT EXISTS (SELECT 1 FROM rtl_launch)", 1)))
		return 0;
	s.launch = alloc_zero(SAMPLE, sizeof(*s.launch));
	s.queue = alloc_zero(SAMPLE, sizeof(*s.queue));
	ret = s.launch && s.queue ? query_prepare(d->q, &row, sql) : -ENOMEM;
	while (ret == 0 && d->nr_sampled < SAMPLE && (ret = query_step(d->q, row)) == 1)
		ret = add_to_sample(&s, row);
	sqlite3_finalize(row);
	if (ret == 0) {
		d->launch_ns = median(s.launch, d->nr_sampled);
		d->queue_ns = median(s.queue, d->nr_sampled);
		d->nr_streams = s.streams.nr;
	}
	map_fini(&s.streams);
	alloc_free(s.launch);
	alloc_free(s.queue);
	return ret;
}
