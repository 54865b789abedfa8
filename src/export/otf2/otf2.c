/* SPDX-License-Identifier: MIT */
/* otf2.c - a trace as an archive of OTF2: a location for each thread and each lane of a queue
 *
 * A thread is a location of its process, a lane of a queue a location of its GPU. Events of a
 * location are written in the order of time, and nest. Operations without valid times are left out.
 * An instant marker is a region of no length.
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
	int64_t pid, tid;
	bool open;
	uint64_t nr_untimed;
	struct apart apart_names;
	struct walk *walk;
	sqlite3_stmt *stream;
	struct otf2_attribute made[OTF2_NOTES_MAX]; /* the part that was encoded last */
	uint32_t region;			    /* the name that was encoded last */
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
		      uint32_t region, const char *category, const struct walk_notes *notes)
{
	int ret = otf2_archive_enter(&w->archive, location, begin, region, category, notes);

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
		     const char *category, const struct walk_notes *notes)
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
	return put_region(w, lane->id - 1, begin, end, region, category, notes);
}

/* The region of an encoded name. */
static uint32_t region_of(const struct kept_part *name)
{
	uint32_t region;

	memcpy(&region, name->bytes, sizeof(region));
	return region;
}

static int take_call(void *arg, const struct walk_call *call)
{
	struct writer *w = arg;
	const int64_t *row = call->row;
	const char *category = row[CALL_MARKER] ? "marker_api" : call->domain;
	enum track_shape shape;
	uint32_t region;
	int64_t begin;
	int ret = choose_thread(w, row[CALL_PID], row[CALL_TID]);

	shape = tracks_shape_of(w->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (row[CALL_MARKER] && ret == 0)
		ret = otf2_archive_region(&w->archive, call->message, OTF2_REGION_ROLE_CODE,
					  &region);
	else
		region = region_of(&call->name);
	if (ret)
		return ret;
	if (shape == TRACK_INSTANT)
		return put_region(w, w->location, begin, begin, region, category, &call->notes);
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row[CALL_END], (int64_t)region))
		return otf2_archive_enter(&w->archive, w->location, begin, region, category,
					  &call->notes);
	return put_apart(w, begin, row[CALL_END], region, category, &call->notes);
}

/* ---- operations ---- */

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

static int take_op(void *arg, const struct walk_operation *op)
{
	struct writer *w = arg;
	const int64_t *row = op->row;
	struct lanes *lanes = &w->track.lanes;
	size_t location, nr_before = lanes->nr;
	char name[TRACK_NAME];
	struct lane *lane;
	int ret = 0;

	if (!op->timed) {
		w->nr_untimed++;
		return 0;
	}
	if (tracks_begins(&w->track, row, op->kind))
		ret = begin_track(w, nr_before);
	lane = tracks_find_lane(lanes, row[OP_START], row[OP_END]);
	if (ret || !lane)
		return ret ? ret : query_fail_memory(w->q);
	if (!lane->id) {
		tracks_name(w->q, &w->track, row, lanes->nr - 1, w->stream, name);
		ret = otf2_archive_location(&w->archive, name,
					    OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, w->group,
					    &location);
		if (ret)
			return ret;
		lane->id = location + 1;
	}
	return put_region(w, lane->id - 1, row[OP_START], row[OP_END], region_of(&op->name),
			  row[OP_COPY] ? "memory_copy" : "kernel_dispatch", &op->notes);
}

static int write_ops(struct writer *w, enum rows_order order)
{
	int ret = walk_operations_by(w->walk, order);

	if (ret == 0)
		ret = end_lanes(w, &w->track.lanes, w->track.lanes.nr);
	w->track.lanes.nr = 0;
	w->track.open = false;
	return ret;
}

/* ---- names and annotations, which are encoded once ---- */

static int encode_name(void *arg, enum walk_what what, const char *text, struct kept_part *to)
{
	struct writer *w = arg;
	char label[LABEL_SIZE];

	*to = (struct kept_part){ (const char *)&w->region, sizeof(w->region) };
	return otf2_archive_region(&w->archive,
				   what == WALK_KERNEL_NAME ?
					   apart_label(&w->apart_names, label, text) :
					   text,
				   what == WALK_COPY_NAME ? OTF2_REGION_ROLE_DATA_TRANSFER :
							    OTF2_REGION_ROLE_FUNCTION,
				   &w->region);
}

static int encode_notes(void *arg, const struct walk_note *notes, size_t nr, struct kept_part *to)
{
	struct writer *w = arg;
	size_t made;
	int ret = otf2_archive_convert(&w->archive, notes, nr, w->made, &made);

	*to = (struct kept_part){ (const char *)w->made, made * sizeof(w->made[0]) };
	return ret;
}

/* ---- the archive ---- */

static int write_events(struct writer *w)
{
	static const struct walk_ops ops = {
		.operation = take_op, .call = take_call, .name = encode_name, .encode = encode_notes
	};
	int ret = walk_begin(&w->walk, w->q, &ops, w);

	if (ret == 0)
		ret = walk_calls(w->walk);
	if (ret == 0)
		ret = end_thread(w);
	if (ret == 0)
		ret = write_ops(w, ROWS_BY_QUEUE);
	if (ret == 0)
		ret = write_ops(w, ROWS_RUNTIME);
	walk_end(w->walk);
	return ret;
}

int otf2_write(struct query *q, const char *out)
{
	struct writer w = { .q = q };
	struct otf2_files files = { .tmp = "" };
	int ret = query_prepare(q, &w.stream, ROWS_STREAM_NAME);

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
	sqlite3_finalize(w.stream);
	q->res->nr_ops = w.archive.nr_events;
	if (w.nr_untimed)
		job_warn(q->res, "%llu operations without valid times were left out",
			 (unsigned long long)w.nr_untimed);
	tracks_fini_lanes(&w.track.lanes);
	tracks_fini_lanes(&w.apart);
	apart_fini(&w.apart_names);
	return ret;
}
