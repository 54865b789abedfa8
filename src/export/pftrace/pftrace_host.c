/* SPDX-License-Identifier: MIT */
/* pftrace_host.c - markers and calls in Perfetto's format: a process for each traced process, with
 * its threads
 *
 * Calls and ranges of a thread nest: they are slices of its track. Ranges of start and stop, and
 * damaged rows that overlap, go to strips beside it. An instant marker is an instant.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

struct pftrace_host {
	struct pftrace *t;
	struct map processes; /* pid -> track */
	uint64_t process, thread;
	int64_t pid, tid;
	bool open;
	struct nest nest;
	struct track_strips apart;
	sqlite3_stmt *thread_name;
};

/* ---- tracks ---- */

static uint64_t add_process(struct pftrace_host *w, int64_t pid, const char *name)
{
	char text[64];
	uint64_t track;

	if (map_get(&w->processes, (uint64_t)pid, &track))
		return track;
	snprintf(text, sizeof(text), "process %lld", (long long)pid);
	track = pftrace_track(w->t, &(struct pftrace_track){
					    .pid = pid, .tid = -1, .process = name ? name : text });
	if (map_put(&w->processes, (uint64_t)pid, track))
		w->t->packet.failed = true;
	return track;
}

static int end_slice(void *arg, int64_t end_ns, int64_t id)
{
	struct pftrace_host *w = arg;

	pftrace_slice_end_begin(w->t, w->thread, end_ns);
	pftrace_received(w->t, id);
	return pftrace_end(w->t);
}

/* Ends the thread before, and begins another. */
static int choose_thread(struct pftrace_host *w, int64_t pid, int64_t tid)
{
	const char *name = "";
	int ret;

	if (w->open && w->pid == pid && w->tid == tid)
		return 0;
	ret = tracks_until(&w->nest, INT64_MAX, end_slice, w);
	if (ret)
		return ret;
	w->open = true;
	w->pid = pid;
	w->tid = tid;
	w->apart.nr = 0;
	w->process = add_process(w, pid, NULL);
	if (w->thread_name) {
		sqlite3_reset(w->thread_name);
		sqlite3_bind_int64(w->thread_name, 1, pid);
		sqlite3_bind_int64(w->thread_name, 2, tid);
		if (sqlite3_step(w->thread_name) == SQLITE_ROW)
			name = query_text(w->thread_name, 0);
	}
	w->thread = pftrace_track(w->t, &(struct pftrace_track){
						.pid = pid,
						.tid = tid,
						.parent = w->process,
						.rank = (int64_t)w->t->nr_tracks,
						.thread = name,
					});
	return 0;
}

static struct track_strip *find_apart(struct pftrace_host *w, int64_t begin, int64_t end)
{
	struct track_strip *strip = tracks_find_strip(&w->apart, begin, end);
	char name[96];

	if (strip && !strip->id) {
		snprintf(name, sizeof(name), "thread %lld, overlapping ranges #%zu",
			 (long long)w->tid, w->apart.nr);
		strip->id = pftrace_track(w->t, &(struct pftrace_track){
							.name = name,
							.parent = w->process,
							.rank = (int64_t)w->t->nr_tracks,
							.pid = -1,
							.tid = -1,
						});
	}
	return strip;
}

/* ---- events ---- */

static enum pftrace_category category_of(const char *domain)
{
	return strcmp(domain, "hip_api") == 0 ? C_HIP :
	       strcmp(domain, "hsa_api") == 0 ? C_HSA :
						C_API;
}

static int put_row(struct pftrace_host *w, const struct walk_call *call, enum pftrace_type type,
		   uint64_t track, int64_t begin)
{
	const struct rows_call *row = call->row;
	struct proto *p = &w->t->packet;

	pftrace_begin(w->t, type, track, begin);
	if (row->marker) {
		/* messages of markers may all be different: they are not interned */
		proto_uint(p, EVENT_CATEGORY, C_MARKER);
		proto_text(p, EVENT_NAME_TEXT, call->message, strlen(call->message));
	} else {
		proto_uint(p, EVENT_CATEGORY, category_of(call->domain));
		proto_raw(p, call->name.bytes, call->name.size);
	}
	pftrace_put_all(w->t, &call->notes);
	if (!row->correlation) /* what TraceLens reads */
		pftrace_put_int(p, PFTRACE_OF(WALK_CORR_ID), 0);
	pftrace_put_int(p, A_DELTA_NS, row->end - row->start);
	proto_fixed64(p, EVENT_FLOW, (uint64_t)row->id);
	pftrace_sent(w->t, row->id);
	return pftrace_end(w->t);
}

static int put_apart(struct pftrace_host *w, const struct walk_call *call, int64_t begin)
{
	int64_t end = call->row->end;
	struct track_strip *strip = find_apart(w, begin, end);
	int ret;

	if (!strip)
		return query_fail_memory(w->t->q);
	ret = put_row(w, call, TYPE_BEGIN, strip->id, begin);
	if (ret)
		return ret;
	pftrace_slice_end_begin(w->t, strip->id, end);
	pftrace_received(w->t, call->row->id);
	return pftrace_end(w->t);
}

int pftrace_host_put(void *trace, const struct walk_call *call)
{
	struct pftrace *t = trace;
	struct pftrace_host *w = t->host;
	const struct rows_call *row = call->row;
	enum track_shape shape;
	int64_t begin;
	int ret = choose_thread(w, row->pid, row->tid);

	shape = tracks_shape_of(t->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (ret)
		return ret;
	if (shape == TRACK_INSTANT)
		return put_row(w, call, TYPE_INSTANT, w->thread, begin);
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row->end, row->id))
		return put_row(w, call, TYPE_BEGIN, w->thread, begin);
	return put_apart(w, call, begin);
}

int pftrace_host_close(struct pftrace *t)
{
	return tracks_until(&t->host->nest, INT64_MAX, end_slice, t->host);
}

int pftrace_host_begin(struct pftrace *t)
{
	const struct query *q = t->q;

	t->host = alloc_zero(1, sizeof(*t->host));
	if (!t->host)
		return query_fail_memory(t->q);
	t->host->t = t;
	/* all processes of the file, with their names */
	for (size_t i = 0; i < q->nr_processes; i++)
		if (!q->only || q->only == &q->processes[i])
			add_process(t->host, q->processes[i].pid, q->processes[i].name);
	return !q->ours ?
		       0 :
		       query_prepare(
			       t->q, &t->host->thread_name,
			       "SELECT coalesce(T.name, '') FROM rtl_thread T JOIN rtl_process P ON P.id = "
			       "T.process_id WHERE P.pid = ?1 AND T.tid = ?2");
}

void pftrace_host_end(struct pftrace *t)
{
	if (!t->host)
		return;
	sqlite3_finalize(t->host->thread_name);
	map_fini(&t->host->processes);
	tracks_fini_strips(&t->host->apart);
	alloc_free(t->host);
}
