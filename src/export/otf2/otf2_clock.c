/* SPDX-License-Identifier: MIT */
/* otf2_clock.c - the clocks of an archive's traces
 *
 * Events keep the times of their host's clock. The file of definitions of a location has what
 * readers add to them, by analysis/clock_align.h, which gets a table of the clocks as a trace of
 * its own: a process for each, with its samples of the wall clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/otf2/otf2_part.h"

/* Of a clock whose pieces are by the time of another one. */
#define STEPS 16

int otf2_clocks_begin(struct otf2_clocks *c, const struct job_options *opt, struct job_result *res)
{
	*c = (struct otf2_clocks){ .q = { .path = "clocks", .opt = opt, .res = res } };
	if (sqlite3_open(":memory:", &c->q.db) != SQLITE_OK)
		return query_fail_memory(&c->q);
	return query_run(&c->q,
			 "CREATE TABLE rtl_clock (process_id, agent_id, system_ns, realtime_ns);"
			 "CREATE TABLE rtl_info (process_id, key, value)");
}

/* Runs `to` with ?1 = number and the columns of `from` for ?1 = id behind it. */
static int copy_rows(struct otf2_clocks *c, struct query *q, const char *from, const char *to,
		     int64_t id, int64_t number)
{
	sqlite3_stmt *row = NULL, *add = NULL;
	int ret = query_prepare(q, &row, from);

	if (ret == 0)
		ret = query_prepare(&c->q, &add, to);
	if (ret == 0)
		sqlite3_bind_int64(row, 1, id);
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		sqlite3_bind_int64(add, 1, number);
		for (int i = 0; i < sqlite3_column_count(row); i++)
			sqlite3_bind_value(add, i + 2, sqlite3_column_value(row, i));
		ret = sqlite3_step(add) == SQLITE_DONE ? 0 : query_fail_sql(&c->q);
		sqlite3_reset(add);
	}
	sqlite3_finalize(row);
	sqlite3_finalize(add);
	return ret;
}

/* A clock that no trace before had; `process` may be NULL. */
static int add_clock(struct otf2_clocks *c, struct query *q, const struct query_process *process)
{
	struct otf2_clocks_span *spans = alloc_resize(c->spans, c->nr + 1, sizeof(*spans));
	struct query_process *p = spans ? alloc_resize(c->q.processes, c->nr + 1, sizeof(*p)) :
					  NULL;
	int64_t id = (int64_t)c->nr + 1;
	struct otf2_clocks_side **sides =
		p ? alloc_resize(c->sides, c->nr + 1, sizeof(struct otf2_clocks_side *)) : NULL;

	c->spans = spans ? spans : c->spans;
	c->q.processes = p ? p : c->q.processes;
	if (!sides)
		return query_fail_memory(q);
	c->sides = sides;
	sides[c->nr] = NULL;
	c->spans[c->nr] = (struct otf2_clocks_span){ INT64_MAX, 0 };
	p[c->nr] = (struct query_process){
		.id = id,
		.clock = c->nr,
		.host = alloc_string(process ? process->host : ""),
		.boot_id = alloc_string(process ? process->boot_id : ""),
		.time_offset_ns = process ? process->time_offset_ns : 0,
		.realtime_ns = process ? process->realtime_ns : 0,
	};
	c->q.nr_processes = ++c->nr;
	return p[c->nr - 1].host && p[c->nr - 1].boot_id ? 0 : query_fail_memory(q);
}

/* The same with its samples, from its trace. */
static int read_clock(struct otf2_clocks *c, struct query *q, const struct query_process *process)
{
	int64_t id = (int64_t)c->nr + 1;
	int ret = add_clock(c, q, process);

	if (ret || !process)
		return ret;
	ret = copy_rows(c, q,
			"SELECT system_ns, realtime_ns FROM rtl_clock WHERE process_id = ?1 AND "
			"agent_id IS NULL",
			"INSERT INTO rtl_clock VALUES (?1, NULL, ?2, ?3)", process->id, id);
	return ret ? ret :
		     copy_rows(
			     c, q,
			     "SELECT value FROM rtl_info WHERE process_id = ?1 AND key = 'clock_sync'",
			     "INSERT INTO rtl_info VALUES (?1, 'clock_sync', ?2)", process->id, id);
}

int otf2_clocks_find(struct otf2_clocks *c, struct query *q, size_t *clock)
{
	static char empty[] = "";
	static const struct query_process none = { .host = empty, .boot_id = empty };
	const struct query_process *process = q->nr_processes ? &q->processes[0] : NULL;

	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].clock)
			return query_fail(
				q, -EINVAL,
				"%s: has processes of several hosts, which is a trace of a whole "
				"job; give the traces of its ranks",
				q->path);
	for (*clock = 0; *clock < c->nr; ++*clock)
		if (query_has_same_clock(&c->q.processes[*clock], process ? process : &none))
			return 0;
	return read_clock(c, q, process);
}

void otf2_clocks_extend(struct otf2_clocks *c, size_t clock, int64_t first_ns, int64_t last_ns)
{
	struct otf2_clocks_span *span = &c->spans[clock];

	if (first_ns > 0 && first_ns < span->first_ns)
		span->first_ns = first_ns;
	if (last_ns > span->last_ns)
		span->last_ns = last_ns;
}

/* ---- collectives ---- */

static int add_side(struct otf2_clocks *c, size_t clock, uint64_t number,
		    const struct otf2_clocks_side *side)
{
	struct otf2_clocks_side *s;

	if (!c->sides[clock])
		c->sides[clock] = alloc_zero(OTF2_CLOCKS_SIDES, sizeof(*s));
	if (!c->sides[clock])
		return query_fail_memory(&c->q);
	s = &c->sides[clock][number];
	if (!s->op) {
		*s = *side;
		return 0;
	}
	if (s->op != side->op)
		s->op = -1;
	clock_align_join(&s->side, &side->side);
	return 0;
}

int otf2_clocks_add(struct otf2_clocks *c, size_t clock, uint64_t number, int op, int64_t begin,
		    int64_t end)
{
	const struct otf2_clocks_side side = { clock_align_side(begin, end, true), op };

	return number >= OTF2_CLOCKS_SIDES || end <= begin ? 0 : add_side(c, clock, number, &side);
}

/* Each host with the first one. */
static int compare_sides(struct otf2_clocks *c)
{
	for (size_t b = 1; b < c->nr; b++)
		for (size_t i = 0; c->sides[0] && c->sides[b] && i < OTF2_CLOCKS_SIDES; i++) {
			const struct otf2_clocks_side *x = &c->sides[0][i], *y = &c->sides[b][i];

			if (x->op > 0 && x->op == y->op &&
			    clock_align_add(&c->align, 0, &x->side, b, &y->side))
				return query_fail_memory(&c->q);
		}
	return 0;
}

/* ---- of a trace that another process read ---- */

struct clock_head {
	struct query_process process; /* its texts follow */
	struct otf2_clocks_span span;
	uint64_t host_size, boot_size, nr_samples, nr_sides;
};

static int put_samples(const struct otf2_clocks *c, struct otf2_bytes *to, uint64_t *nr)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare((struct query *)&c->q, &row,
				"SELECT system_ns, realtime_ns, NULL FROM rtl_clock UNION ALL "
				"SELECT NULL, NULL, value FROM rtl_info");

	for (*nr = 0; ret == 0 && sqlite3_step(row) == SQLITE_ROW; ++*nr) {
		const char *text = (const char *)sqlite3_column_text(row, 2);
		const int64_t sample[3] = { sqlite3_column_int64(row, 0),
					    sqlite3_column_int64(row, 1),
					    text ? (int64_t)strlen(text) + 1 : 0 };

		ret = otf2_bytes_put(to, sample, sizeof(sample));
		if (ret == 0)
			ret = otf2_bytes_put(to, text, (size_t)sample[2]);
	}
	sqlite3_finalize(row);
	return ret;
}

int otf2_clocks_put(const struct otf2_clocks *c, struct otf2_bytes *to)
{
	struct otf2_bytes samples = { 0 };
	struct clock_head head = {
		.process = c->q.processes[0],
		.span = c->spans[0],
		.host_size = strlen(c->q.processes[0].host) + 1,
		.boot_size = strlen(c->q.processes[0].boot_id) + 1,
	};
	int ret = put_samples(c, &samples, &head.nr_samples);

	for (uint64_t i = 0; c->sides[0] && i < OTF2_CLOCKS_SIDES; i++)
		if (c->sides[0][i].op)
			head.nr_sides = i + 1;
	if (ret == 0)
		ret = otf2_bytes_put(to, &head, sizeof(head));
	if (ret == 0)
		ret = otf2_bytes_put(to, head.process.host, head.host_size);
	if (ret == 0)
		ret = otf2_bytes_put(to, head.process.boot_id, head.boot_size);
	if (ret == 0)
		ret = otf2_bytes_put(to, samples.data, samples.size);
	if (ret == 0 && head.nr_sides)
		ret = otf2_bytes_put(to, c->sides[0], head.nr_sides * sizeof(**c->sides));
	otf2_bytes_fini(&samples);
	return ret;
}

/* Of a known clock they are read alone. */
static int adopt_samples(struct otf2_clocks *c, struct otf2_bytes *from, uint64_t nr, int64_t id,
			 bool is_new)
{
	sqlite3_stmt *clock = NULL, *info = NULL;
	int ret = query_prepare(&c->q, &clock, "INSERT INTO rtl_clock VALUES (?1, NULL, ?2, ?3)");

	if (ret == 0)
		ret = query_prepare(&c->q, &info,
				    "INSERT INTO rtl_info VALUES (?1, 'clock_sync', ?2)");
	for (uint64_t i = 0; i < nr && ret == 0; i++) {
		int64_t sample[3];
		sqlite3_stmt *to;

		if (!otf2_bytes_get(from, sample, sizeof(sample)))
			break;
		to = sample[2] ? info : clock;
		sqlite3_bind_int64(to, 1, id);
		if (sample[2]) {
			sqlite3_bind_text(to, 2, from->data + from->at, -1, SQLITE_TRANSIENT);
		} else {
			sqlite3_bind_int64(to, 2, sample[0]);
			sqlite3_bind_int64(to, 3, sample[1]);
		}
		from->at += (size_t)sample[2];
		if (is_new && sqlite3_step(to) != SQLITE_DONE)
			ret = query_fail_sql(&c->q);
		sqlite3_reset(to);
	}
	sqlite3_finalize(clock);
	sqlite3_finalize(info);
	return ret;
}

static int adopt_sides(struct otf2_clocks *c, struct otf2_bytes *from, uint64_t nr, size_t clock)
{
	struct otf2_clocks_side side;

	for (uint64_t i = 0; i < nr; i++)
		if (otf2_bytes_get(from, &side, sizeof(side)) && side.op &&
		    add_side(c, clock, i, &side))
			return query_fail_memory(&c->q);
	return 0;
}

int otf2_clocks_adopt(struct otf2_clocks *c, struct otf2_bytes *from, size_t *clock)
{
	struct clock_head head;
	bool is_new;
	int ret = 0;

	if (!otf2_bytes_get(from, &head, sizeof(head)))
		return query_fail_memory(&c->q);
	head.process.host = from->data + from->at;
	head.process.boot_id = head.process.host + head.host_size;
	from->at += head.host_size + head.boot_size;
	for (*clock = 0; *clock < c->nr; ++*clock)
		if (query_has_same_clock(&c->q.processes[*clock], &head.process))
			break;
	is_new = *clock == c->nr;
	if (is_new)
		ret = add_clock(c, &c->q, &head.process);
	if (ret == 0)
		ret = adopt_samples(c, from, head.nr_samples, (int64_t)*clock + 1, is_new);
	if (ret == 0)
		ret = adopt_sides(c, from, head.nr_sides, *clock);
	if (ret == 0)
		otf2_clocks_extend(c, *clock, head.span.first_ns, head.span.last_ns);
	return ret;
}

/* ---- offsets ---- */

static int compare_times(const void *a, const void *b)
{
	const struct otf2_offset *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* The times at which the offset is said: readers take a line between two. */
static int choose_times(const struct otf2_clocks *c, size_t clock, struct otf2_clock *out)
{
	const struct otf2_clocks_span *span = &c->spans[clock];
	const struct clock_host *h = &c->align.hosts[clock];
	size_t nr_pieces = h->parent < clock ? h->nr_pieces : 0;
	struct otf2_offset *offsets = alloc_zero(2 * nr_pieces + STEPS + 1, sizeof(*offsets));
	size_t nr = 0;

	if (!offsets)
		return -ENOMEM;
	out->offsets = offsets;
	for (size_t i = 0; i < 2 * nr_pieces; i++) {
		int64_t time = i % 2 ? h->pieces[i / 2].last : h->pieces[i / 2].first;

		if (time > span->first_ns && time < span->last_ns)
			offsets[nr++].time = time;
	}
	for (size_t i = 0; i <= STEPS; i++)
		offsets[nr++].time =
			span->first_ns +
			(int64_t)((double)(span->last_ns - span->first_ns) / STEPS * (double)i);
	qsort(offsets, nr, sizeof(*offsets), compare_times);
	out->nr_offsets = 0;
	for (size_t i = 0; i < nr; i++)
		if (!i || offsets[i].time > offsets[out->nr_offsets - 1].time)
			offsets[out->nr_offsets++] = offsets[i];
	return 0;
}

/* The offsets of a clock that is not the reference, and its first and last time by that. */
static int solve_clock(struct otf2_clocks *c, size_t clock, struct otf2_clocks_span *span)
{
	struct otf2_clock *out = &c->clocks[clock];
	const struct clock_host *h = &c->align.hosts[clock];

	if (choose_times(c, clock, out))
		return query_fail_memory(&c->q);
	for (size_t i = 0; i < out->nr_offsets; i++) {
		struct otf2_offset *o = &out->offsets[i];
		int64_t time, error;

		if (!clock_align_convert(&c->align, clock, o->time, &time, &error))
			return job_fail(
				c->q.res, -EINVAL,
				"the clocks of %s and %s are apart by an unknown time: %s; one "
				"archive for each host can be made",
				*h->host ? h->host : "a host without a name",
				*c->align.hosts[0].host ? c->align.hosts[0].host :
							  "a host without a name",
				h->reason ? h->reason : "nothing connects them");
		o->offset = time - o->time;
		o->error = (double)error;
		c->error_ns = error > c->error_ns ? error : c->error_ns;
		if (i == 0)
			span->first_ns = time;
		span->last_ns = time;
	}
	return 0;
}

int otf2_clocks_solve(struct otf2_clocks *c, struct otf2_times *times)
{
	int64_t first = INT64_MAX, last = 0;
	int ret = clock_align_begin(&c->q, &c->align);

	if (ret == 0)
		ret = compare_sides(c);
	if (ret == 0)
		ret = clock_align_solve(&c->q, &c->align);
	c->clocks = alloc_zero(c->nr + 1, sizeof(*c->clocks));
	if (ret == 0 && !c->clocks)
		ret = query_fail_memory(&c->q);
	for (size_t i = 0; i < c->nr && ret == 0; i++) {
		struct otf2_clocks_span span = c->spans[i];

		if (span.first_ns > span.last_ns)
			continue; /* without events */
		if (i)
			ret = solve_clock(c, i, &span);
		first = span.first_ns < first ? span.first_ns : first;
		last = span.last_ns > last ? span.last_ns : last;
	}
	*times = (struct otf2_times){
		.first_ns = first == INT64_MAX ? 0 : (uint64_t)first,
		.last_ns = (uint64_t)last,
		.realtime_ns = c->nr ? c->q.processes[0].realtime_ns : 0,
		.clocks = c->clocks,
		.nr_clocks = c->clocks ? c->nr : 0,
	};
	return ret;
}

void otf2_clocks_end(struct otf2_clocks *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		alloc_free(c->q.processes[i].host);
		alloc_free(c->q.processes[i].boot_id);
		alloc_free(c->sides[i]);
		if (c->clocks)
			alloc_free(c->clocks[i].offsets);
	}
	clock_align_fini(&c->align);
	alloc_free(c->clocks);
	alloc_free(c->spans);
	alloc_free(c->sides);
	alloc_free(c->q.processes);
	sqlite3_close(c->q.db);
}
