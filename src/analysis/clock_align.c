/* SPDX-License-Identifier: MIT */
/* clock_align.c - lines between the bounds that collectives give
 *
 * A pair of clocks has pieces of at most PIECE_NR collectives and PIECE_NS. In a piece the offset
 * is a line, below all upper bounds and above all lower ones. Only the hulls of the bounds matter.
 * The slopes that leave a line are an interval, found by bisection of a concave function; so are
 * the extremes at a time. A piece whose bounds leave no line is cut in two.
 */
#include "analysis/clock_align.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

enum { PIECE_NR = 512, PIECE_LEAST = 8, STEPS = 100 };
#define PIECE_NS INT64_C(10000000000)
#define SLOPE_MOST 2e-3	     /* two clocks, each slewed as fast as a kernel's discipline may */
#define WANDER 1e-7	     /* that a rate changes within a piece */
#define WALL_GROWTH 5e-4     /* of the bound of the wall clock's error */
#define GPU_NS INT64_C(1000) /* of the conversion of a GPU's ticks */

const char *const clock_methods[CLOCK_NR_METHODS] = {
	[CLOCK_REFERENCE] = "reference", [CLOCK_BOOT] = "boot", [CLOCK_COLLECTIVES] = "collectives",
	[CLOCK_REALTIME] = "realtime",	 [CLOCK_NONE] = "none",
};

/* Relative to the first of its piece. */
struct point {
	double t, low, high, end;
};

struct sample {
	int64_t time, low, high, end; /* time: of clock b; the others: b - a */
};

struct clock_pair {
	size_t a, b; /* a < b */
	struct sample samples[PIECE_NR];
	size_t nr;
	struct clock_piece *pieces;
	size_t nr_pieces, max_pieces;
	uint64_t nr_all;
	bool is_contradictory, is_boot, is_realtime;
};

/* ---- one piece ---- */

struct hull {
	struct point points[PIECE_NR]; /* t, low: the line's points */
	size_t nr;
};

/* The upper hull of the lower bounds, or the lower one of the upper bounds, which is kept with the
 * sign changed. */
static void make_hull(struct hull *h, const struct point *points, size_t nr, bool is_upper)
{
	h->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct point p = { points[i].t, is_upper ? points[i].low : -points[i].high, 0, 0 };

		while (h->nr >= 2) {
			const struct point *x = &h->points[h->nr - 2], *y = &h->points[h->nr - 1];

			if ((y->low - x->low) * (p.t - x->t) > (p.low - x->low) * (y->t - x->t))
				break;
			h->nr--;
		}
		h->points[h->nr++] = p;
	}
}

struct space {
	struct hull lower, upper; /* bounds; upper with the sign changed */
	double slope[2];	  /* between which there are lines */
};

/* The least and the most intercept of a line of this slope. */
static double least_of(const struct space *s, double slope)
{
	double most = -HUGE_VAL;

	for (size_t i = 0; i < s->lower.nr; i++)
		most = fmax(most, s->lower.points[i].low - slope * s->lower.points[i].t);
	return most;
}

static double most_of(const struct space *s, double slope)
{
	double least = HUGE_VAL;

	for (size_t i = 0; i < s->upper.nr; i++)
		least = fmin(least, -s->upper.points[i].low - slope * s->upper.points[i].t);
	return least;
}

/* What is highest in [low, high], of: the space between the intercepts; the highest line at t; the
 * lowest line, with the sign changed. All are concave. */
enum aim { AIM_SPACE, AIM_HIGHEST, AIM_LOWEST };

static double value_of(const struct space *s, enum aim aim, double slope, double t)
{
	switch (aim) {
	case AIM_SPACE:
		return most_of(s, slope) - least_of(s, slope);
	case AIM_HIGHEST:
		return most_of(s, slope) + slope * t;
	default:
		return -least_of(s, slope) - slope * t;
	}
}

static double best_slope(const struct space *s, enum aim aim, double low, double high, double t)
{
	for (int i = 0; i < STEPS; i++) {
		double x = low + (high - low) / 3, y = high - (high - low) / 3;

		if (value_of(s, aim, x, t) < value_of(s, aim, y, t))
			low = x;
		else
			high = y;
	}
	return (low + high) / 2;
}

/* Where the space ends, between a slope that has some and one that has none. */
static double end_of_space(const struct space *s, double inside, double outside)
{
	if (value_of(s, AIM_SPACE, outside, 0) >= 0)
		return outside;
	for (int i = 0; i < STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (value_of(s, AIM_SPACE, middle, 0) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

static double within(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* The line of the ends, by medians: each end of the first half has one of the second. */
static void line_of_ends(const struct space *s, const struct point *points, size_t nr,
			 double *slope, double *intercept)
{
	double values[PIECE_NR];
	size_t half = nr / 2, n = 0;

	for (size_t i = 0; i + half < nr; i++)
		if (points[i + half].t > points[i].t)
			values[n++] = (points[i + half].end - points[i].end) /
				      (points[i + half].t - points[i].t);
	*slope = within(n ? median_of(values, n) : 0, s->slope[0], s->slope[1]);
	for (size_t i = 0; i < nr; i++)
		values[i] = points[i].end - *slope * points[i].t;
	*intercept = within(median_of(values, nr), least_of(s, *slope), most_of(s, *slope));
}

/* How far the true line may be from that of the ends at a time. */
static double error_at(const struct space *s, double at, double t)
{
	double high = value_of(s, AIM_HIGHEST,
			       best_slope(s, AIM_HIGHEST, s->slope[0], s->slope[1], t), t);
	double low =
		-value_of(s, AIM_LOWEST, best_slope(s, AIM_LOWEST, s->slope[0], s->slope[1], t), t);

	return fmax(high - at, at - low);
}

/* False: no line is between the bounds. */
static bool solve_piece(const struct sample *samples, size_t nr, struct clock_piece *out)
{
	struct point points[PIECE_NR] = { 0 };
	struct space s;
	double slope, intercept, length, best;

	for (size_t i = 0; i < nr; i++)
		points[i] = (struct point){ (double)(samples[i].time - samples[0].time),
					    (double)(samples[i].low - samples[0].end),
					    (double)(samples[i].high - samples[0].end),
					    (double)(samples[i].end - samples[0].end) };
	make_hull(&s.lower, points, nr, true);
	make_hull(&s.upper, points, nr, false);
	best = best_slope(&s, AIM_SPACE, -SLOPE_MOST, SLOPE_MOST, 0);
	if (value_of(&s, AIM_SPACE, best, 0) < 0)
		return false;
	s.slope[0] = end_of_space(&s, best, -SLOPE_MOST);
	s.slope[1] = end_of_space(&s, best, SLOPE_MOST);
	line_of_ends(&s, points, nr, &slope, &intercept);
	length = points[nr - 1].t;
	*out = (struct clock_piece){
		.first = samples[0].time,
		.last = samples[nr - 1].time,
		.offset = samples[0].end + (int64_t)llround(intercept),
		.drift = slope,
		.drift_error = fmax(s.slope[1] - slope, slope - s.slope[0]) + WANDER,
		.error = (int64_t)ceil(fmax(error_at(&s, intercept, 0),
					    error_at(&s, intercept + slope * length, length)) +
				       WANDER * length) +
			 GPU_NS,
		.nr = nr,
	};
	return true;
}

static int add_piece(struct clock_pair *p, const struct clock_piece *piece)
{
	struct clock_piece *pieces =
		alloc_grow(p->pieces, p->nr_pieces, &p->max_pieces, 4, sizeof(*pieces));

	if (!pieces)
		return -ENOMEM;
	p->pieces = pieces;
	pieces[p->nr_pieces++] = *piece;
	return 0;
}

static int solve_samples(struct clock_pair *p, const struct sample *samples, size_t nr)
{
	struct clock_piece piece;
	int ret;

	if (nr < PIECE_LEAST)
		return 0;
	if (solve_piece(samples, nr, &piece))
		return add_piece(p, &piece);
	p->is_contradictory = true;
	ret = solve_samples(p, samples, nr / 2);
	return ret ? ret : solve_samples(p, samples + nr / 2, nr - nr / 2);
}

/* ---- pairs ---- */

static struct clock_pair *pair_of(struct clock_align *c, size_t a, size_t b)
{
	struct clock_pair *pairs;

	for (size_t i = 0; i < c->nr_pairs; i++)
		if (c->pairs[i].a == a && c->pairs[i].b == b)
			return &c->pairs[i];
	pairs = alloc_grow(c->pairs, c->nr_pairs, &c->max_pairs, 2, sizeof(*pairs));
	if (!pairs)
		return NULL;
	c->pairs = pairs;
	pairs[c->nr_pairs] = (struct clock_pair){ .a = a, .b = b };
	return &pairs[c->nr_pairs++];
}

struct clock_side clock_align_side(int64_t begin, int64_t end, bool is_call)
{
	return (struct clock_side){ begin, end, is_call ? CLOCK_APART : end - begin };
}

void clock_align_join(struct clock_side *side, const struct clock_side *other)
{
	if (other->last_begin > side->last_begin)
		side->last_begin = other->last_begin;
	if (other->first_end < side->first_end)
		side->first_end = other->first_end;
	if (other->shortest < side->shortest)
		side->shortest = other->shortest;
}

bool clock_align_waits(const char *name, bool has_data)
{
	static const char *const names[] = { "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall",
					     "MPI_Reduce_scatter_block" };
	size_t size = strlen(name);

	size -= size > 2 && strcasecmp(name + size - 2, "_c") == 0 ? 2 : 0;
	if (strcasecmp(name, "MPI_Barrier") == 0)
		return true;
	for (size_t i = 0; has_data && i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == size && strncasecmp(names[i], name, size) == 0)
			return true;
	return false;
}

int clock_align_add(struct clock_align *c, size_t a, const struct clock_side *at_a, size_t b,
		    const struct clock_side *at_b)
{
	struct clock_pair *p = pair_of(c, a, b);
	int64_t apart = at_a->shortest < at_b->shortest ? at_a->shortest : at_b->shortest;
	int64_t end = at_b->first_end - at_a->first_end;
	int64_t low = at_b->last_begin - at_a->first_end, high = at_b->first_end - at_a->last_begin;
	int ret = 0;

	if (!p)
		return -ENOMEM;
	if (p->nr == PIECE_NR ||
	    (p->nr >= 2 * PIECE_LEAST && at_b->first_end - p->samples[0].time > PIECE_NS)) {
		ret = solve_samples(p, p->samples, p->nr);
		p->nr = 0;
	}
	/* streams of one GPU: an end may be before that of the collective before */
	if (p->nr && at_b->first_end < p->samples[p->nr - 1].time)
		return ret;
	p->samples[p->nr++] = (struct sample){ .time = at_b->first_end,
					       .low = low > end - apart ? low : end - apart,
					       .high = high < end + apart ? high : end + apart,
					       .end = end };
	p->nr_all++;
	return ret;
}

/* The rest of a pair's collectives. */
static int end_pair(struct clock_pair *p)
{
	int ret = solve_samples(p, p->samples, p->nr);

	p->nr = 0;
	return ret;
}

/* ---- clocks that the system knows ---- */

/* When it was sampled, what has to be added for the wall clock, and how far that may be off; false:
 * nothing holds it. */
struct wall {
	int64_t time[2], add[2], error;
};

static bool read_wall(struct query *q, int64_t process, struct wall *w)
{
	static const char samples[] =
		"SELECT system_ns, realtime_ns - system_ns FROM rtl_clock WHERE process_id = ?1 AND agent_id IS NULL "
		"ORDER BY system_ns";
	static const char sync[] =
		"SELECT value FROM rtl_info WHERE process_id = ?1 AND key = 'clock_sync'";
	sqlite3_stmt *stmt = NULL;
	long long error_us = -1;
	size_t nr = 0;

	if (query_prepare(q, &stmt, samples))
		return false;
	sqlite3_bind_int64(stmt, 1, process);
	while (query_step(q, stmt) == 1) {
		w->time[nr != 0] = sqlite3_column_int64(stmt, 0);
		w->add[nr != 0] = sqlite3_column_int64(stmt, 1);
		nr++;
	}
	sqlite3_finalize(stmt);
	if (nr < 2 || w->time[1] <= w->time[0] || query_prepare(q, &stmt, sync))
		return false;
	if (sscanf(query_look_up(stmt, process), "synchronised maxerror_us=%lld", &error_us) != 1)
		error_us = -1;
	sqlite3_finalize(stmt);
	w->error = error_us * 1000;
	return error_us >= 0;
}

/* By the wall clock, where both have it. */
static int add_wall(struct query *q, struct clock_align *c, size_t b)
{
	struct wall x, y;
	struct clock_pair *p;
	struct clock_piece piece;

	if (!read_wall(q, q->processes[c->hosts[0].process].id, &x) ||
	    !read_wall(q, q->processes[c->hosts[b].process].id, &y))
		return 0;
	p = pair_of(c, 0, b);
	if (!p)
		return -ENOMEM;
	if (p->nr_pieces)
		return 0;
	p->is_realtime = true;
	piece = (struct clock_piece){ .first = y.time[0],
				      .last = y.time[1],
				      .offset = x.add[0] - y.add[0],
				      .error = x.error + y.error };
	/* a kernel's bound grows until the next time that it is set */
	piece.error += (int64_t)(WALL_GROWTH * (double)(y.time[1] - y.time[0]));
	piece.drift = ((double)(x.add[1] - x.add[0]) / (double)(x.time[1] - x.time[0])) -
		      ((double)(y.add[1] - y.add[0]) / (double)(y.time[1] - y.time[0]));
	piece.drift_error = WALL_GROWTH;
	return add_piece(p, &piece);
}

static int add_boot(struct query *q, struct clock_align *c, size_t a, size_t b)
{
	const struct query_process *x = &q->processes[c->hosts[a].process],
				   *y = &q->processes[c->hosts[b].process];
	const struct clock_piece piece = { .first = INT64_MIN / 4,
					   .last = INT64_MAX / 4,
					   .offset = y->time_offset_ns - x->time_offset_ns };
	struct clock_pair *p;

	if (!x->boot_id[0] || strcmp(x->boot_id, y->boot_id) != 0)
		return 0;
	p = pair_of(c, a, b);
	if (!p)
		return -ENOMEM;
	p->is_boot = true;
	p->nr_pieces = 0;
	return add_piece(p, &piece);
}

/* ---- all ---- */

int clock_align_begin(struct query *q, struct clock_align *c)
{
	*c = (struct clock_align){ 0 };
	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].clock >= c->nr)
			c->nr = q->processes[i].clock + 1;
	c->hosts = alloc_zero(c->nr + 1, sizeof(*c->hosts));
	if (!c->hosts)
		return query_fail_memory(q);
	for (size_t i = q->nr_processes; i-- > 0;) {
		struct clock_host *h = &c->hosts[q->processes[i].clock];

		h->process = i;
		h->host = q->processes[i].host;
	}
	return 0;
}

static int64_t error_of(const struct clock_pair *p)
{
	int64_t most = 0;

	for (size_t i = 0; i < p->nr_pieces; i++)
		most = p->pieces[i].error > most ? p->pieces[i].error : most;
	return most;
}

/* The pair with the least error of those that have one host connected to the reference and one
 * not. */
static const struct clock_pair *best_pair(const struct clock_align *c)
{
	const struct clock_pair *best = NULL;

	for (size_t i = 0; i < c->nr_pairs; i++) {
		const struct clock_pair *p = &c->pairs[i];
		bool is_a = c->hosts[p->a].method != CLOCK_NONE,
		     is_b = c->hosts[p->b].method != CLOCK_NONE;

		if (p->nr_pieces && is_a != is_b && (!best || error_of(p) < error_of(best)))
			best = p;
	}
	return best;
}

/* From the reference outwards. */
static void connect(struct clock_align *c)
{
	const struct clock_pair *p;

	for (size_t i = 1; i < c->nr; i++)
		c->hosts[i] = (struct clock_host){ .host = c->hosts[i].host,
						   .process = c->hosts[i].process,
						   .method = CLOCK_NONE,
						   .parent = i };
	while ((p = best_pair(c)) != NULL) {
		bool is_a = c->hosts[p->a].method != CLOCK_NONE;
		struct clock_host *h = &c->hosts[is_a ? p->b : p->a];

		h->parent = is_a ? p->a : p->b;
		h->method = p->is_boot	   ? CLOCK_BOOT :
			    p->is_realtime ? CLOCK_REALTIME :
					     CLOCK_COLLECTIVES;
		h->pieces = p->pieces;
		h->nr_pieces = p->nr_pieces;
		h->nr = p->nr_all;
	}
}

static void explain(struct clock_align *c)
{
	for (size_t i = 1; i < c->nr; i++) {
		struct clock_host *h = &c->hosts[i];
		bool is_contradictory = false;

		if (h->method != CLOCK_NONE)
			continue;
		for (size_t k = 0; k < c->nr_pairs; k++)
			if (c->pairs[k].a == i || c->pairs[k].b == i) {
				h->nr += c->pairs[k].nr_all;
				is_contradictory |= c->pairs[k].is_contradictory;
			}
		h->reason = is_contradictory ?
				    "the times of its collectives contradict each other" :
			    h->nr ? "it has too few collectives with other hosts" :
				    "it has no collectives with other hosts";
	}
}

int clock_align_solve(struct query *q, struct clock_align *c)
{
	int ret = 0;

	for (size_t i = 0; i < c->nr_pairs && !ret; i++)
		ret = end_pair(&c->pairs[i]);
	for (size_t a = 0; a < c->nr && !ret; a++)
		for (size_t b = a + 1; b < c->nr && !ret; b++)
			ret = add_boot(q, c, a, b);
	if (!ret)
		connect(c);
	for (size_t i = 1; i < c->nr && !ret; i++)
		if (c->hosts[i].method == CLOCK_NONE)
			ret = add_wall(q, c, i);
	if (ret)
		return query_fail_memory(q);
	connect(c);
	explain(c);
	return 0;
}

/* The offset of a pair's clocks at a time of b. */
static int64_t offset_at(const struct clock_pair *p, int64_t time, int64_t *error)
{
	const struct clock_piece *piece = &p->pieces[0];
	int64_t outside, offset;

	for (size_t low = 0, high = p->nr_pieces;
	     low < high;) { /* the last one that begins before */
		size_t middle = low + (high - low) / 2;

		if (p->pieces[middle].first <= time) {
			piece = &p->pieces[middle];
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	/* the nearer one of two */
	if (time > piece->last && piece + 1 < p->pieces + p->nr_pieces &&
	    piece[1].first - time < time - piece->last)
		piece++;
	outside = time < piece->first ? piece->first - time :
		  time > piece->last  ? time - piece->last :
					0;
	offset = piece->offset + (int64_t)llround(piece->drift * (double)(time - piece->first));
	*error = piece->error + (int64_t)ceil(piece->drift_error * (double)outside);
	return offset;
}

static const struct clock_pair *find_pair(const struct clock_align *c, size_t a, size_t b)
{
	for (size_t i = 0; i < c->nr_pairs; i++)
		if (c->pairs[i].a == (a < b ? a : b) && c->pairs[i].b == (a < b ? b : a))
			return &c->pairs[i];
	return NULL;
}

bool clock_align_convert(const struct clock_align *c, size_t clock, int64_t time, int64_t *out,
			 int64_t *error)
{
	*error = 0;
	while (clock && clock < c->nr) {
		const struct clock_host *h = &c->hosts[clock];
		const struct clock_pair *p =
			h->method == CLOCK_NONE ? NULL : find_pair(c, clock, h->parent);
		int64_t more;

		if (!p)
			return false;
		if (p->b == clock) {
			time -= offset_at(p, time, &more);
		} else {
			int64_t at = time + offset_at(p, p->pieces[0].first, &more);

			for (int i = 0; i < 3; i++)
				at = time + offset_at(p, at, &more);
			time = at;
		}
		*error += more;
		clock = h->parent;
	}
	*out = time;
	return true;
}

void clock_align_fini(struct clock_align *c)
{
	for (size_t i = 0; i < c->nr_pairs; i++)
		alloc_free(c->pairs[i].pieces);
	alloc_free(c->pairs);
	alloc_free(c->hosts);
	*c = (struct clock_align){ 0 };
}
