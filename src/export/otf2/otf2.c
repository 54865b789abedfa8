/* SPDX-License-Identifier: MIT */
/* otf2.c - a trace as an archive of OTF2: a location for each thread and each lane of a queue
 *
 * A thread is a location of its process, a lane of a queue a location of its GPU. Events of a location are written in the order of
 * time, and nest. Operations without valid times are left out. An instant marker is a region of no length.
 */
#include "export/otf2/otf2.h"

#include <stdio.h>
#include <string.h>

#include "export/otf2/otf2_internal.h"
#include "export/tracks.h"
#include "query/apart.h"

struct writer {
	struct query *q;
	struct otf2_archive archive;
	size_t location; /* of the thread */
	uint32_t group;	 /* of its process, or of the queue's GPU */
	struct nest nest;
	struct lanes apart; /* their ids are locations + 1 */
	struct track track;
	enum rows_order order;
	int64_t pid, tid;
	bool open;
	uint64_t nr_untimed;
	struct apart apart_names;
	sqlite3_stmt *label, *symbol, *type, *stream, *call, *args;
};

static int end_lanes(struct writer *w, const struct lanes *lanes, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		if (lanes->lanes[i].id)
			ret = otf2_archive_end(&w->archive, lanes->lanes[i].id - 1);
	return ret;
}

static int put_region(struct writer *w, size_t location, int64_t begin, int64_t end,
		      uint32_t region, const struct otf2_about *about)
{
	int ret = otf2_archive_enter(&w->archive, location, begin, region, about);

	return ret ? ret : otf2_archive_leave(&w->archive, location, end, region);
}

/* ---- threads ---- */

static int end_slice(void *arg, int64_t end_ns, int64_t id)
{
	struct writer *w = arg;

	return otf2_archive_leave(&w->archive, w->location, end_ns, (uint32_t)id);
}

static int end_thread(struct writer *w)
{
	int ret = tracks_until(&w->nest, INT64_MAX, end_slice, w);

	if (ret == 0 && w->open)
		ret = otf2_archive_end(&w->archive, w->location);
	if (ret == 0)
		ret = end_lanes(w, &w->apart, w->apart.nr);
	w->apart.nr = 0;
	w->open = false;
	return ret;
}

static int choose_thread(struct writer *w, int64_t pid, int64_t tid)
{
	const char *process = NULL;
	char name[64];
	int ret;

	if (w->open && w->pid == pid && w->tid == tid)
		return 0;
	ret = end_thread(w);
	w->pid = pid;
	w->tid = tid;
	for (size_t i = 0; i < w->q->nr_processes; i++)
		if (w->q->processes[i].pid == pid)
			process = w->q->processes[i].name;
	snprintf(name, sizeof(name), "process %lld", (long long)pid);
	if (ret == 0)
		ret = otf2_archive_group(&w->archive, OTF2_GROUP_OF_PROCESS, pid,
					 process ? process : name, &w->group);
	snprintf(name, sizeof(name), "Thread %lld", (long long)tid);
	if (ret == 0)
		ret = otf2_archive_location(&w->archive, name, OTF2_LOCATION_TYPE_CPU_THREAD,
					    w->group, &w->location);
	w->open = ret == 0;
	return ret;
}

static int put_apart(struct writer *w, int64_t begin, int64_t end, uint32_t region,
		     const struct otf2_about *about)
{
	struct lane *lane = tracks_find_lane(&w->apart, begin, end);
	char name[96];
	size_t location;
	int ret;

	if (!lane)
		return query_fail_memory(w->q);
	if (!lane->id) {
		snprintf(name, sizeof(name), "Thread %lld, overlapping ranges #%zu",
			 (long long)w->tid, w->apart.nr);
		ret = otf2_archive_location(&w->archive, name, OTF2_LOCATION_TYPE_CPU_THREAD,
					    w->group, &location);
		if (ret)
			return ret;
		lane->id = location + 1;
	}
	return put_region(w, lane->id - 1, begin, end, region, about);
}

static int take_call(void *arg, const int64_t *row)
{
	struct writer *w = arg;
	const char *name = row[CALL_MARKER] ? query_look_up(w->args, row[CALL_ARGS]) :
					      query_look_up(w->call, row[CALL_NAME]);
	int64_t first = row[CALL_ID] - query_local_id(w->q, row[CALL_ID]);
	const struct otf2_about about = {
		.category = row[CALL_MARKER] ? "marker_api" : label_domain(name),
		.correlation = row[CALL_CORRELATION] ? (uint64_t)(row[CALL_CORRELATION] - first) :
						       0,
	};
	enum track_shape shape;
	uint32_t region;
	int64_t begin;
	int ret;

	if (!rows_has_call(w->q, row, about.category))
		return 0;
	ret = choose_thread(w, row[CALL_PID], row[CALL_TID]);
	shape = tracks_shape_of(w->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (ret == 0)
		ret = otf2_archive_region(&w->archive, name,
					  row[CALL_MARKER] ? OTF2_REGION_ROLE_CODE :
							     OTF2_REGION_ROLE_FUNCTION,
					  &region);
	if (ret)
		return ret;
	if (shape == TRACK_INSTANT)
		return put_region(w, w->location, begin, begin, region, &about);
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row[CALL_END], (int64_t)region))
		return otf2_archive_enter(&w->archive, w->location, begin, region, &about);
	return put_apart(w, begin, row[CALL_END], region, &about);
}

/* ---- operations ---- */

static int region_of_op(struct writer *w, const int64_t *op, uint32_t *region)
{
	char label[LABEL_SIZE];

	if (op[OP_COPY] && w->order == ROWS_BY_QUEUE)
		return otf2_archive_region(&w->archive, query_look_up(w->type, op[OP_TYPE]),
					   OTF2_REGION_ROLE_DATA_TRANSFER, region);
	return otf2_archive_region(&w->archive,
				   apart_label(&w->apart_names, label,
					       query_look_up(w->order == ROWS_RUNTIME ? w->symbol :
											w->label,
							     op[OP_NAME])),
				   OTF2_REGION_ROLE_FUNCTION, region);
}

/* `nr`: of the lanes of the track before, which are still in memory. */
static int begin_track(struct writer *w, size_t nr)
{
	char name[TRACK_NAME];
	int ret = end_lanes(w, &w->track.lanes, nr);

	tracks_group(&w->track, name);
	return ret ? ret :
		     otf2_archive_group(&w->archive, OTF2_GROUP_OF_GPU, w->track.gpu, name,
					&w->group);
}

static int take_op(void *arg, const int64_t *op)
{
	struct writer *w = arg;
	const struct query_process *process = query_process_of(w->q, op[OP_ID]);
	int64_t first = process ? process->id_first : 0;
	const struct otf2_about about = {
		.category = op[OP_COPY] ? "memory_copy" : "kernel_dispatch",
		.correlation = op[OP_CORRELATION] ? (uint64_t)(op[OP_CORRELATION] - first) : 0,
		.bytes = op[OP_COPY] ? (uint64_t)op[OP_BYTES] : 0,
	};
	struct lanes *lanes = &w->track.lanes;
	char name[TRACK_NAME];
	struct lane *lane;
	uint32_t region;
	size_t location, nr_before;
	int ret = 0;

	if (!rows_has_op(w->q, op))
		return 0;
	if (!rows_timed(op[OP_START], op[OP_END], op[OP_FLAGS]) || op[OP_START] <= 0) {
		w->nr_untimed++;
		return 0;
	}
	nr_before = lanes->nr;
	if (tracks_begins(&w->track, op, w->order))
		ret = begin_track(w, nr_before);
	lane = tracks_find_lane(lanes, op[OP_START], op[OP_END]);
	if (ret || !lane)
		return ret ? ret : query_fail_memory(w->q);
	if (!lane->id) {
		tracks_name(w->q, &w->track, op, lanes->nr - 1, w->stream, name);
		ret = otf2_archive_location(&w->archive, name,
					    OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, w->group,
					    &location);
		if (ret)
			return ret;
		lane->id = location + 1;
	}
	ret = region_of_op(w, op, &region);
	return ret ? ret : put_region(w, lane->id - 1, op[OP_START], op[OP_END], region, &about);
}

static int write_ops(struct writer *w, enum rows_order order)
{
	int ret;

	w->order = order;
	ret = rows_ops(w->q, order, take_op, w);
	if (ret == 0)
		ret = end_lanes(w, &w->track.lanes, w->track.lanes.nr);
	w->track.lanes.nr = 0;
	w->track.open = false;
	return ret;
}

/* ---- the archive ---- */

static int write_events(struct writer *w)
{
	int ret = rows_calls(w->q, take_call, w);

	if (ret == 0)
		ret = end_thread(w);
	if (ret == 0)
		ret = write_ops(w, ROWS_BY_QUEUE);
	return ret ? ret : write_ops(w, ROWS_RUNTIME);
}

int otf2_write(struct query *q, const char *out)
{
	struct writer w = { .q = q };
	struct otf2_files files = { .tmp = "" };
	const struct query_sql all[] = {
		{ &w.label, QUERY_STRING },
		{ &w.type, ROWS_TYPE_NAME },
		{ &w.call, QUERY_STRING },
		{ &w.stream, ROWS_STREAM_NAME },
		{ &w.args, query_args_sql(q) },
		{ &w.symbol,
		  q->ours ? "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" : NULL },
	};
	int ret = query_prepare_all(q, all, sizeof(all) / sizeof(all[0]));

	if (ret == 0)
		ret = apart_read(&w.apart_names, q);
	if (ret == 0)
		ret = otf2_files_create(&files, q, out);
	if (ret == 0) {
		ret = otf2_archive_open(&w.archive, q, files.tmp, files.name);
		if (ret == 0)
			ret = write_events(&w);
		ret = otf2_archive_close(&w.archive, ret);
	}
	ret = otf2_files_publish(&files, q, ret);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(*all[i].stmt);
	q->res->nr_ops = w.archive.nr_events;
	if (w.nr_untimed)
		job_warn(q->res, "%llu operations without valid times were left out",
			 (unsigned long long)w.nr_untimed);
	tracks_fini_lanes(&w.track.lanes);
	tracks_fini_lanes(&w.apart);
	apart_fini(&w.apart_names);
	return ret;
}
