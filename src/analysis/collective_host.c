/* SPDX-License-Identifier: MIT */
/* collective_host.c - how long hosts were in the program's own code before sampled collectives
 *
 * A thread that sleeps, loads data or computes is between calls; one that waits for a processor as
 * the runtime is done with the collective before is within one. The calls are read once, for those
 * groups alone for which it matters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_internal.h"
#include "base/alloc.h"

struct thread {
	int64_t pid, tid;
	size_t member;
	size_t nr; /* of its windows */
	struct window {
		int64_t from, to, until; /* until: calls have been counted up to here */
		int64_t in_ns;
		size_t sample;
	} * windows;
};

struct reader {
	struct thread *threads; /* of members, by pid and tid */
	size_t nr;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : 0;
}

/* The first window that ends later. */
static size_t find_window(const struct thread *t, int64_t time)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->windows[middle].to <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A call within another one counts once: a thread's calls come in the order of their begin. */
static void count_call(struct thread *t, int64_t begin, int64_t end)
{
	for (size_t i = find_window(t, begin); i < t->nr && t->windows[i].from < end; i++) {
		struct window *w = &t->windows[i];
		int64_t from = begin > w->until ? begin : w->until, to = end < w->to ? end : w->to;

		if (to <= from)
			continue;
		w->in_ns += to - from;
		w->until = to;
	}
}

static int take_call(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	const struct thread key = { .pid = sqlite3_value_int64(v[0]),
				    .tid = sqlite3_value_int64(v[1]) };
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_threads(&r->threads[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < r->nr && compare_threads(&r->threads[low], &key) == 0; low++)
		count_call(&r->threads[low], sqlite3_value_int64(v[2]), sqlite3_value_int64(v[3]));
	return 0;
}

/* The thread that launched last, and its samples. */
static int add_thread(struct thread *t, const struct collective_party *party,
		      const struct collective_sample *s, size_t nr_members, size_t member)
{
	const struct collective_point *last = &s->points[(s->nr - 1) * nr_members + member];

	*t = (struct thread){ .pid = party->process ? party->process->pid : 0,
			      .tid = last->tid,
			      .member = member,
			      .windows = alloc_zero(s->nr, sizeof(*t->windows)) };
	if (!t->windows)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		const struct collective_point *p = &s->points[i * nr_members + member];

		if (p->tid == last->tid && p->tid && p->from < p->to)
			t->windows[t->nr++] = (struct window){
				.from = p->from, .to = p->to, .until = p->from, .sample = i
			};
	}
	return 0;
}

int collective_host_read(struct query *q, const struct collective_party *parties,
			 const struct collective_group *g, const struct collective_sample *s,
			 float *own)
{
	struct reader r = { .threads = alloc_zero(g->nr_members, sizeof(*r.threads)) };
	int ret = r.threads ? 0 : query_fail_memory(q);

	for (size_t i = 0; i < s->nr * g->nr_members; i++)
		own[i] = -1;
	for (; r.threads && !ret && r.nr < g->nr_members; r.nr++)
		if (add_thread(&r.threads[r.nr], &parties[g->members[r.nr].party], s, g->nr_members,
			       r.nr))
			ret = query_fail_memory(q);
	if (!ret && q->ours) {
		qsort(r.threads, r.nr, sizeof(*r.threads), compare_threads);
		ret = query_scan(
			q, "A.pid, A.tid, A.start, A.\"end\"",
			"rocpd_api A WHERE A.domain_id NOT IN (SELECT id FROM rocpd_string WHERE string IN ('rtl', "
			"'roctx'))",
			take_call, &r);
		for (size_t i = 0; i < r.nr; i++)
			for (size_t k = 0; k < r.threads[i].nr; k++) {
				const struct window *w = &r.threads[i].windows[k];

				own[w->sample * g->nr_members + r.threads[i].member] =
					(float)(w->to - w->from - w->in_ns);
			}
	}
	for (size_t i = 0; i < r.nr; i++)
		alloc_free(r.threads[i].windows);
	alloc_free(r.threads);
	return ret;
}
