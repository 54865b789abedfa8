/* SPDX-License-Identifier: MIT */
/* otf2.c - a trace as an archive of OTF2: a location for each thread and each strip of a queue
 *
 * A thread is a location of its process, a strip of a queue a location of its GPU. Events of a
 * location are written in the order of time, and nest. Operations without valid times are left out.
 * An instant marker is a region of no length.
 */
#include "export/otf2/otf2.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/otf2/otf2_internal.h"
#include "export/otf2/otf2_mpi.h"
#include "export/otf2/otf2_rma.h"
#include "export/tracks.h"
#include "query/apart.h"

#define NAME_SIZE (TRACK_NAME + 48)

struct writer {
	struct query *q;
	struct otf2_archive *archive;
	struct otf2_trace *trace;
	size_t location; /* of the thread */
	uint32_t group;	 /* of its process, or of the queue's GPU */
	struct nest nest;
	struct track_strips apart; /* their ids are locations + 1 */
	struct track track;
	int64_t pid, tid;
	char whose[48]; /* "rank 3, ": before names of what belongs to the process; "": alone */
	bool open;
	struct apart apart_names;
	struct walk *walk;
	sqlite3_stmt *stream;
	struct otf2_attribute made[OTF2_NOTES_MAX]; /* the part that was encoded last */
	uint32_t region;			    /* the name that was encoded last */
	struct otf2_metric metric;
	int64_t metric_gpu;
	char metric_name[TRACK_NAME];		  /* counter of the last sample; "": none */
	struct otf2_mpi *mpi;			  /* NULL: no records of MPI */
	struct otf2_mpi_call pending[NEST_DEPTH]; /* of the slices of `nest` */
	struct otf2_rma *rma;			  /* NULL: copies have no records */
	int64_t last_ns;			  /* of the thread's location */
};

static int end_strips(struct writer *w, const struct track_strips *strips, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		if (strips->strips[i].id)
			ret = otf2_archive_end(w->archive, strips->strips[i].id - 1);
	return ret;
}

static int put_region(struct writer *w, size_t location, int64_t begin, int64_t end,
		      uint32_t region, const char *category, const struct walk_notes *notes)
{
	int ret = otf2_archive_enter(w->archive, location, begin, region, category, notes);

	return ret ? ret : otf2_archive_leave(w->archive, location, end, region);
}

/* ---- threads ---- */

static int end_slice(void *arg, int64_t end_ns, int64_t id)
{
	struct writer *w = arg;
	int ret = 0;

	w->last_ns = end_ns > w->last_ns ? end_ns : w->last_ns;
	if (w->mpi)
		ret = otf2_mpi_leave(w->mpi, w->location, end_ns, &w->pending[w->nest.depth]);
	return ret ? ret : otf2_archive_leave(w->archive, w->location, end_ns, (uint32_t)id);
}

static int end_thread(struct writer *w)
{
	int ret = tracks_until(&w->nest, INT64_MAX, end_slice, w);

	if (ret == 0 && w->open && w->mpi)
		ret = otf2_mpi_thread_ends(w->mpi, w->location, w->last_ns);
	if (ret == 0 && w->open)
		ret = otf2_archive_end(w->archive, w->location);
	if (ret == 0)
		ret = end_strips(w, &w->apart, w->apart.nr);
	w->apart.nr = 0;
	w->open = false;
	return ret;
}

static const struct query_process *find_process(const struct query *q, int64_t pid)
{
	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].pid == pid)
			return &q->processes[i];
	return NULL;
}

/* "rank 3, ./app (pid 12)" of "./app (rank 3, pid 12)" */
static void name_process(const struct writer *w, const struct query_process *process, int64_t pid,
			 char name[NAME_SIZE])
{
	const char *text = process ? process->name : NULL, *end = text ? strrchr(text, '(') : NULL;

	if (!text)
		snprintf(name, NAME_SIZE, "%sprocess %lld", w->whose, (long long)pid);
	else if (!*w->whose || !end || process->rank < 0)
		snprintf(name, NAME_SIZE, "%s%s", w->whose, text);
	else
		snprintf(name, NAME_SIZE, "%s%.*s(pid %lld)", w->whose, (int)(end - text), text,
			 (long long)pid);
}

/* The owner of a process's group, and w->whose. */
static int find_owner(struct writer *w, const struct query_process *process,
		      struct otf2_owner *owner)
{
	*owner = w->trace->owner;
	w->whose[0] = '\0';
	if (!w->trace->is_one_of_several)
		return 0;
	if (!process || process->rank < 0) {
		snprintf(w->whose, sizeof(w->whose), "%s, ", w->trace->name);
		return 0;
	}
	owner->key = (uint64_t)process->rank;
	snprintf(w->whose, sizeof(w->whose), "rank %lld, ", (long long)process->rank);
	return otf2_archive_node(w->archive, *process->host ? process->host : "host", "node", 0,
				 &owner->node);
}

/* Opens a thread's location. */
static int open_thread(struct writer *w, int64_t pid, int64_t tid)
{
	const struct query_process *process = find_process(w->q, pid);
	struct otf2_owner owner;
	char name[NAME_SIZE];
	int ret = find_owner(w, process, &owner);

	name_process(w, process, pid, name);
	if (ret == 0)
		ret = otf2_archive_group(w->archive, OTF2_GROUP_OF_PROCESS, pid, name, &owner,
					 &w->group);
	snprintf(name, sizeof(name), "%sThread %lld", w->whose, (long long)tid);
	if (ret == 0)
		ret = otf2_archive_location(w->archive, name, OTF2_LOCATION_TYPE_CPU_THREAD,
					    w->group, &w->location);
	w->open = ret == 0;
	w->last_ns = 0;
	if (ret == 0 && w->rma)
		ret = otf2_rma_thread(w->rma, pid, tid, w->location);
	if (w->mpi)
		otf2_mpi_thread(w->mpi, process ? process->rank : -1);
	return ret;
}

static int choose_thread(struct writer *w, int64_t pid, int64_t tid)
{
	int ret;

	if (w->open && w->pid == pid && w->tid == tid)
		return 0;
	ret = end_thread(w);
	w->pid = pid;
	w->tid = tid;
	return ret ? ret : open_thread(w, pid, tid);
}

/* One of several traces has a location for each of its processes, also for one without calls. */
static int write_silent(struct writer *w)
{
	int ret = 0;

	for (size_t i = 0; i < w->q->nr_processes && w->trace->is_one_of_several && ret == 0; i++) {
		const struct query_process *p = &w->q->processes[i];

		if (!otf2_archive_find_group(w->archive, OTF2_GROUP_OF_PROCESS, p->pid))
			ret = choose_thread(w, p->pid, p->pid);
		if (ret == 0 && p->rank >= 0)
			ret = otf2_comms_locate(w->trace->comms, (uint32_t)p->rank,
						otf2_archive_find_group(w->archive,
									OTF2_GROUP_OF_PROCESS,
									p->pid)
								->first -
							1);
	}
	return ret ? ret : end_thread(w);
}

/* A call that has a strip of its own. */
static int put_call(struct writer *w, size_t location, const struct walk_call *call, int64_t begin,
		    uint32_t region, const char *category)
{
	struct otf2_mpi_call mpi = { 0 };
	int64_t end = call->row->end;
	int ret = otf2_archive_enter(w->archive, location, begin, region, category, &call->notes);

	if (ret == 0 && w->mpi && !call->row->marker)
		ret = otf2_mpi_enter(w->mpi, location, call->row, &mpi);
	if (ret == 0 && w->mpi)
		ret = otf2_mpi_leave(w->mpi, location, end, &mpi);
	return ret ? ret : otf2_archive_leave(w->archive, location, end, region);
}

static int put_apart(struct writer *w, const struct walk_call *call, int64_t begin, uint32_t region,
		     const char *category)
{
	int64_t end = call->row->end;
	struct track_strip *strip = tracks_find_strip(&w->apart, begin, end);
	char name[NAME_SIZE];
	size_t location;
	int ret;

	if (!strip)
		return query_fail_memory(w->q);
	if (!strip->id) {
		snprintf(name, sizeof(name), "%sThread %lld, overlapping ranges #%zu", w->whose,
			 (long long)w->tid, w->apart.nr);
		ret = otf2_archive_location(w->archive, name, OTF2_LOCATION_TYPE_CPU_THREAD,
					    w->group, &location);
		if (ret)
			return ret;
		strip->id = location + 1;
	}
	return put_call(w, strip->id - 1, call, begin, region, category);
}

/* A slice of the thread, which was opened. */
static int enter_slice(struct writer *w, const struct walk_call *call, int64_t begin,
		       uint32_t region, const char *category)
{
	struct otf2_mpi_call *mpi = &w->pending[w->nest.depth - 1];
	int ret =
		otf2_archive_enter(w->archive, w->location, begin, region, category, &call->notes);

	*mpi = (struct otf2_mpi_call){ 0 };
	if (ret == 0 && w->mpi && !call->row->marker)
		ret = otf2_mpi_enter(w->mpi, w->location, call->row, mpi);
	return ret;
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
	const struct rows_call *row = call->row;
	const char *category = row->marker ? "marker_api" : call->domain;
	enum track_shape shape;
	uint32_t region;
	int64_t begin;
	int ret = choose_thread(w, row->pid, row->tid);

	shape = tracks_shape_of(w->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (row->marker && ret == 0)
		ret = otf2_archive_region(w->archive, call->message, OTF2_REGION_ROLE_CODE,
					  OTF2_PARADIGM_USER, &region);
	else
		region = region_of(&call->name);
	if (ret)
		return ret;
	w->last_ns = begin > w->last_ns ? begin : w->last_ns;
	if (shape == TRACK_INSTANT)
		return put_region(w, w->location, begin, begin, region, category, &call->notes);
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row->end, (int64_t)region))
		return enter_slice(w, call, begin, region, category);
	return put_apart(w, call, begin, region, category);
}

/* ---- operations ---- */

/* `nr`: of the strips of the track before, which are still in memory. */
static int begin_track(struct writer *w, size_t nr)
{
	char track[TRACK_NAME], name[NAME_SIZE];
	int ret = end_strips(w, &w->track.strips, nr);

	tracks_group(&w->track, track);
	snprintf(name, sizeof(name), "%s%s%s", w->trace->name, *w->trace->name ? ", " : "", track);
	return ret ? ret :
		     otf2_archive_group(w->archive, OTF2_GROUP_OF_GPU, w->track.gpu, name,
					&w->trace->owner, &w->group);
}

static int put_op(struct writer *w, size_t location, const struct walk_operation *op)
{
	const struct rows_op *row = op->row;
	uint32_t region = region_of(&op->name);
	struct walk_cause cause;
	struct otf2_rma_op rma;
	int ret;

	if (!row->copy || !w->rma)
		return put_region(w, location, row->start, row->end, region,
				  row->copy ? "memory_copy" : "kernel_dispatch", &op->notes);
	ret = otf2_archive_enter(w->archive, location, row->start, region, "memory_copy",
				 &op->notes);
	if (ret == 0)
		ret = otf2_rma_enter(w->rma, location, row,
				     walk_cause(w->walk, row, &cause) ? &cause : NULL, &rma);
	if (ret == 0)
		ret = otf2_rma_leave(w->rma, location, row, &rma);
	return ret ? ret : otf2_archive_leave(w->archive, location, row->end, region);
}

static int take_op(void *arg, const struct walk_operation *op)
{
	struct writer *w = arg;
	const struct rows_op *row = op->row;
	struct track_strips *strips = &w->track.strips;
	size_t location, nr_before = strips->nr;
	char track[TRACK_NAME], name[NAME_SIZE];
	struct track_strip *strip;
	int ret = 0;

	if (!op->timed) {
		w->trace->nr_untimed++;
		return 0;
	}
	if (tracks_begins(&w->track, row, op->kind))
		ret = begin_track(w, nr_before);
	strip = tracks_find_strip(strips, row->start, row->end);
	if (ret || !strip)
		return ret ? ret : query_fail_memory(w->q);
	if (!strip->id) {
		tracks_name(w->q, &w->track, row, strips->nr - 1, w->stream, track);
		snprintf(name, sizeof(name), "%s%s%s", w->trace->name, *w->trace->name ? ", " : "",
			 track);
		ret = otf2_archive_location(w->archive, name, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
					    w->group, &location);
		if (ret)
			return ret;
		strip->id = location + 1;
	}
	return put_op(w, strip->id - 1, op);
}

static int write_ops(struct writer *w, enum rows_order order)
{
	int ret = walk_operations_by(w->walk, order);

	if (ret == 0)
		ret = end_strips(w, &w->track.strips, w->track.strips.nr);
	w->track.strips.nr = 0;
	w->track.open = false;
	return ret;
}

/* ---- counters ---- */

static int begin_metric(struct writer *w, const struct walk_sample *sample)
{
	const struct track track = { .kind = ROWS_BY_QUEUE, .gpu = sample->gpu };
	const char *whose = w->trace->name, *comma = *whose ? ", " : "";
	char gpu[TRACK_NAME], name[NAME_SIZE];
	int ret;

	tracks_group(&track, gpu);
	snprintf(name, sizeof(name), "%s%s%s", whose, comma, gpu);
	ret = otf2_archive_group(w->archive, OTF2_GROUP_OF_GPU, sample->gpu, name, &w->trace->owner,
				 &w->group);
	snprintf(name, sizeof(name), "%s%s%s", whose, comma, w->metric_name);
	return ret ? ret :
		     otf2_metric_begin(w->archive, &w->metric, sample->counter, name, w->group);
}

static int take_sample(void *arg, const struct walk_sample *sample)
{
	struct writer *w = arg;
	char counter[TRACK_NAME];
	int ret = 0;

	snprintf(counter, sizeof(counter), "%s", sample->counter);
	if (strcmp(counter, w->metric_name) != 0 || sample->gpu != w->metric_gpu) {
		memcpy(w->metric_name, counter, sizeof(counter));
		w->metric_gpu = sample->gpu;
		ret = begin_metric(w, sample);
	}
	return ret ? ret : otf2_metric_put(w->archive, &w->metric, sample->ns, sample->value);
}

/* ---- names and annotations, which are encoded once ---- */

static int encode_name(void *arg, enum walk_what what, const char *text, struct kept_part *to)
{
	struct writer *w = arg;
	bool is_mpi = what == WALK_FUNCTION_NAME && strncmp(text, "MPI_", 4) == 0;
	char label[LABEL_SIZE];

	*to = (struct kept_part){ (const char *)&w->region, sizeof(w->region) };
	return otf2_archive_region(w->archive,
				   what == WALK_KERNEL_NAME ?
					   apart_label(&w->apart_names, label, text) :
					   text,
				   what == WALK_COPY_NAME ? OTF2_REGION_ROLE_DATA_TRANSFER :
				   is_mpi		  ? otf2_mpi_role(text) :
							    OTF2_REGION_ROLE_FUNCTION,
				   is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_HIP, &w->region);
}

static int encode_notes(void *arg, const struct walk_note *notes, size_t nr, struct kept_part *to)
{
	struct writer *w = arg;
	size_t made;
	int ret = otf2_archive_convert(w->archive, notes, nr, w->made, &made);

	*to = (struct kept_part){ (const char *)w->made, made * sizeof(w->made[0]) };
	return ret;
}

/* ---- the archive ---- */

static int write_events(struct writer *w)
{
	static const struct walk_ops ops = { .operation = take_op,
					     .call = take_call,
					     .sample = take_sample,
					     .name = encode_name,
					     .encode = encode_notes };
	int ret = walk_begin(&w->walk, w->q, &ops, w);

	if (ret == 0)
		ret = walk_calls(w->walk);
	if (ret == 0)
		ret = write_silent(w);
	if (ret == 0)
		ret = write_ops(w, ROWS_BY_QUEUE);
	if (ret == 0)
		ret = write_ops(w, ROWS_RUNTIME);
	if (ret == 0 && w->rma)
		ret = otf2_rma_finish(w->rma);
	if (ret == 0)
		ret = walk_samples(w->walk);
	if (ret == 0)
		ret = otf2_metric_end(w->archive, &w->metric);
	walk_end(w->walk);
	return ret;
}

int otf2_write_trace(struct otf2_archive *a, struct query *q, struct otf2_trace *trace)
{
	struct writer *w = alloc_zero(1, sizeof(*w));
	int ret;

	if (!w)
		return query_fail_memory(q);
	w->q = q;
	w->archive = a;
	w->trace = trace;
	otf2_archive_next_trace(a);
	ret = query_prepare(q, &w->stream, ROWS_STREAM_NAME);
	if (ret == 0 && trace->comms && q->ours)
		ret = otf2_mpi_begin(&w->mpi, trace->comms, q);
	if (ret == 0 && q->ours)
		ret = otf2_rma_begin(&w->rma, a, q, trace);
	if (ret == 0)
		ret = apart_read(&w->apart_names, q);
	if (ret == 0)
		ret = write_events(w);
	sqlite3_finalize(w->stream);
	tracks_fini_strips(&w->track.strips);
	tracks_fini_strips(&w->apart);
	apart_fini(&w->apart_names);
	otf2_mpi_end(w->mpi);
	otf2_rma_end(w->rma);
	alloc_free(w);
	return ret;
}

/* The host is the root of the system's tree. */
static int define_host(struct otf2_archive *a, struct query *q)
{
	sqlite3_stmt *host = NULL;
	uint32_t root;
	int ret = q->ours ? query_prepare(q, &host, "SELECT host FROM rtl_process ORDER BY id") : 0;

	if (ret == 0)
		ret = otf2_archive_node(a,
					host && sqlite3_step(host) == SQLITE_ROW ?
						query_text(host, 0) :
						"host",
					"node", OTF2_UNDEFINED_SYSTEM_TREE_NODE, &root);
	sqlite3_finalize(host);
	return ret;
}

int otf2_write(struct query *q, const char *out)
{
	struct otf2_archive archive = { .res = q->res };
	struct otf2_trace trace = { .name = "" };
	struct otf2_files files = { .tmp = "" };
	struct otf2_times times = {
		.first_ns = (uint64_t)q->first_ns,
		.realtime_ns = q->nr_processes ? q->processes[0].realtime_ns : 0,
	};
	int ret = otf2_files_create(&files, q->opt, q->res, out);

	if (ret == 0) {
		ret = otf2_archive_open(&archive, q->res, files.tmp, files.name, NULL);
		if (ret == 0)
			ret = define_host(&archive, q);
		if (ret == 0)
			ret = otf2_write_trace(&archive, q, &trace);
		times.last_ns = archive.last_ns;
		ret = otf2_archive_close(&archive, &times, ret);
	}
	ret = otf2_files_publish(&files, q->opt, q->res, job_is_private(q->opt, query_has_args(q)),
				 ret);
	q->res->nr_ops = archive.nr_events;
	if (trace.nr_untimed)
		job_warn(q->res, OTF2_UNTIMED, (unsigned long long)trace.nr_untimed);
	return ret;
}
