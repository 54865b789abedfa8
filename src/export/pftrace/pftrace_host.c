/* SPDX-License-Identifier: MIT */
/* pftrace_host.c - markers and calls in Perfetto's format: a process for each traced process, with its threads
 *
 * Calls and ranges of a thread nest: they are slices of its track. Ranges of start and stop, and damaged rows that overlap, go to lanes
 * beside it. An instant marker is an instant.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/call_args.h"
#include "export/pftrace/pftrace_internal.h"
#include "query/label.h"
#include "store/args.h"

struct writer {
	struct pftrace *t;
	struct map processes; /* pid -> track */
	uint64_t process, thread;
	int64_t pid, tid;
	bool open;
	struct nest nest;
	struct lanes apart;
	sqlite3_stmt *name, *args, *thread_name;
};

/* ---- tracks ---- */

static uint64_t add_process(struct writer *w, int64_t pid, const char *name)
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
	struct writer *w = arg;

	(void)id;
	return pftrace_slice_end(w->t, w->thread, end_ns);
}

/* Ends the thread before, and begins another. */
static int choose_thread(struct writer *w, int64_t pid, int64_t tid)
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

static struct lane *find_apart(struct writer *w, int64_t begin, int64_t end)
{
	struct lane *lane = tracks_find_lane(&w->apart, begin, end);
	char name[96];

	if (lane && !lane->id) {
		snprintf(name, sizeof(name), "thread %lld, overlapping ranges #%zu",
			 (long long)w->tid, w->apart.nr);
		lane->id = pftrace_track(w->t, &(struct pftrace_track){
						       .name = name,
						       .parent = w->process,
						       .rank = (int64_t)w->t->nr_tracks,
						       .pid = -1,
						       .tid = -1,
					       });
	}
	return lane;
}

/* ---- annotations ---- */

/* Each argument is an entry of the dictionary "args"; a text of another form is one text. */
static void put_args(struct writer *w, const char *text)
{
	struct proto *p = &w->t->packet;
	struct call_arg arg;
	size_t at, entry;

	if (!*text)
		return;
	if (!call_args_is_form(text)) {
		pftrace_put_text(p, A_ARGS, text);
		return;
	}
	at = proto_begin(p, EVENT_ANNOTATION);
	proto_uint(p, ANNOTATION_NAME, A_ARGS);
	while ((text = call_args_next(text, &arg)) != NULL) {
		bool cut = arg.name_size == 0;
		uint64_t key = cut ? pftrace_key(w->t, "...", 3) :
				     pftrace_key(w->t, arg.name, arg.name_size);

		entry = proto_begin(p, ANNOTATION_ENTRY);
		proto_uint(p, ANNOTATION_NAME, key);
		proto_text(p, ANNOTATION_TEXT, arg.value, cut ? strlen(arg.value) : arg.value_size);
		proto_end(p, entry);
		if (cut)
			break;
	}
	proto_end(p, at);
}

static void put_status(struct writer *w, const char *function, int64_t status)
{
	const char *error;

	pftrace_put_int(&w->t->packet, A_STATUS, status);
	if (!status)
		return;
	error = args_enum(strncmp(function, "hsa_", 4) == 0 ? "hsa_status_t" : "hipError_t",
			  (uint64_t)status);
	pftrace_put_text(&w->t->packet, A_ERROR, error ? error : "unknown");
}

static void put_annotations(struct writer *w, const int64_t *row, const char *function,
			    const char *text)
{
	int64_t first = row[CALL_ID] - query_local_id(w->t->q, row[CALL_ID]);
	struct proto *p = &w->t->packet;

	if (row[CALL_MARKER]) {
		pftrace_put_int(p, A_MARKER, row[CALL_ID] - first);
	} else {
		pftrace_put_interned(w->t, p, A_OPERATION, function);
		put_args(w, text);
		if (w->t->q->ours)
			put_status(w, function, row[CALL_STATUS]);
		pftrace_put_int(p, A_API_ID, row[CALL_ID] - first);
	}
	pftrace_put_int(p, A_TID, row[CALL_TID]);
	pftrace_put_int(p, A_CORR_ID, row[CALL_CORRELATION] ? row[CALL_CORRELATION] - first : 0);
	if (row[CALL_PARENT])
		pftrace_put_int(p, A_PARENT_ID, row[CALL_PARENT] - first);
	pftrace_put_int(p, A_BEGIN_NS, row[CALL_START]);
	pftrace_put_int(p, A_END_NS, row[CALL_END]);
	pftrace_put_int(p, A_DELTA_NS, row[CALL_END] - row[CALL_START]);
	if (row[CALL_UNCLOSED])
		pftrace_put_int(p, A_UNCLOSED, 1);
}

/* ---- events ---- */

static enum pftrace_category category_of(const char *function)
{
	const char *domain = label_domain(function);

	return strcmp(domain, "hip_api") == 0 ? C_HIP :
	       strcmp(domain, "hsa_api") == 0 ? C_HSA :
						C_API;
}

static int put_row(struct writer *w, const int64_t *row, enum pftrace_type type, uint64_t track,
		   int64_t begin)
{
	const char *text = query_look_up(w->args, row[CALL_ARGS]);
	const char *function = row[CALL_MARKER] ? "" : query_look_up(w->name, row[CALL_NAME]);
	struct proto *p = &w->t->packet;

	pftrace_begin(w->t, type, track, begin);
	if (row[CALL_MARKER]) {
		/* messages of markers may all be different: they are not interned */
		proto_uint(p, EVENT_CATEGORY, C_MARKER);
		proto_text(p, EVENT_NAME_TEXT, text, strlen(text));
	} else {
		proto_uint(p, EVENT_CATEGORY, category_of(function));
		pftrace_name_text(w->t, NAME_CALL, row[CALL_NAME], function);
	}
	put_annotations(w, row, function, text);
	proto_fixed64(p, EVENT_FLOW, (uint64_t)row[CALL_ID]);
	return pftrace_end(w->t);
}

static int put_apart(struct writer *w, const int64_t *row, int64_t begin)
{
	struct lane *lane = find_apart(w, begin, row[CALL_END]);
	int ret;

	if (!lane)
		return query_fail_memory(w->t->q);
	ret = put_row(w, row, TYPE_BEGIN, lane->id, begin);
	return ret ? ret : pftrace_slice_end(w->t, lane->id, row[CALL_END]);
}

static bool is_wanted(struct writer *w, const int64_t *row)
{
	const struct query *q = w->t->q;

	return !q->left_out ||
	       rows_has_call(q, row, label_domain(query_look_up(w->name, row[CALL_NAME])));
}

static int take_row(void *arg, const int64_t *row)
{
	struct writer *w = arg;
	enum track_shape shape;
	int64_t begin;
	int ret;

	if (!is_wanted(w, row))
		return 0;
	ret = choose_thread(w, row[CALL_PID], row[CALL_TID]);

	shape = tracks_shape_of(w->t->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (ret)
		return ret;
	if (shape == TRACK_INSTANT)
		return put_row(w, row, TYPE_INSTANT, w->thread, begin);
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row[CALL_END], row[CALL_ID]))
		return put_row(w, row, TYPE_BEGIN, w->thread, begin);
	return put_apart(w, row, begin);
}

int pftrace_host_write(struct pftrace *t)
{
	struct writer w = { .t = t };
	struct query *q = t->q;
	const struct query_sql all[] = {
		{ &w.name, QUERY_STRING },
		{ &w.args, query_args_sql(q) },
		{ &w.thread_name,
		  q->ours ?
			  "SELECT coalesce(T.name, '') FROM rtl_thread T JOIN rtl_process P ON P.id = "
			  "T.process_id WHERE P.pid = ?1 AND T.tid = ?2" :
			  NULL },
	};
	int ret = query_prepare_all(q, all, sizeof(all) / sizeof(all[0]));

	/* all processes of the file, with their names */
	for (size_t i = 0; ret == 0 && i < q->nr_processes; i++)
		if (!q->only || q->only == &q->processes[i])
			add_process(&w, q->processes[i].pid, q->processes[i].name);
	if (ret == 0)
		ret = rows_calls(q, take_row, &w);
	if (ret == 0)
		ret = tracks_until(&w.nest, INT64_MAX, end_slice, &w);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(*all[i].stmt);
	map_fini(&w.processes);
	tracks_fini_lanes(&w.apart);
	return ret;
}
