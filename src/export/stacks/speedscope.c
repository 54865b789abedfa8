/* SPDX-License-Identifier: MIT */
/* speedscope.c - speedscope's own format: a profile for each thread and each strip of a queue
 *
 * A profile is a list of frames that open and close, in the order of time, and frames nest. It is
 * written as it is read. What does not nest meanwhile goes to further profiles, which wait in
 * temporary files. Names are listed once, at the end of the file. Memory grows with names and
 * strips. Operations without valid times and instant markers have no length, and are left out.
 */
#include "export/stacks/speedscope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/json.h"
#include "export/output.h"
#include "export/tracks.h"
#include "query/apart.h"
#include "rtl_version.h"
#include "store/map.h"

/* A list that is written beside the file. */
struct aside {
	FILE *file;
	struct json *json;
};

/* One profile: in the file itself, or beside it. */
struct profile {
	struct json *to;
	struct aside aside;
	char name[TRACK_NAME + 80];
	int64_t first_ns, last_ns;
	uint64_t nr;
};

struct writer {
	struct query *q;
	struct json *out;
	struct aside frames;
	struct map names; /* hash of a name -> its frame */
	uint64_t nr_frames, nr_profiles, nr_untimed, nr_events;
	struct profile main;  /* the one that is open in the file */
	struct profile *more; /* beside it, by strip */
	size_t nr_more, max_more;
	struct track track;
	struct nest nest;
	struct track_strips apart;
	enum rows_order order;
	int64_t pid, tid;
	bool open;
	struct apart apart_names;
	sqlite3_stmt *label, *symbol, *type, *stream, *call, *args;
};

/* ---- lists beside the file ---- */

static int aside_open(struct writer *w, struct aside *a)
{
	a->file = tmpfile();
	a->json = alloc_heap(sizeof(*a->json));
	if (!a->file || !a->json)
		return query_fail(w->q, -ENOMEM, "no temporary file: %s", strerror(errno));
	json_init(a->json, json_write_file, a->file);
	json_array(a->json);
	return 0;
}

/* Closes the list; its text becomes a value of the file. */
static int aside_take(struct writer *w, struct aside *a)
{
	char buf[16384];
	size_t n;
	int ret;

	json_array_end(a->json);
	ret = json_flush(a->json);
	if (ret == 0 && (fflush(a->file) || fseek(a->file, 0, SEEK_SET)))
		ret = -errno;
	/* an empty raw value brings the comma */
	json_raw(w->out, "", 0);
	while (ret == 0 && (n = fread(buf, 1, sizeof(buf), a->file)) > 0)
		json_bytes(w->out, buf, n);
	if (ret == 0 && ferror(a->file))
		ret = -EIO;
	return ret ? query_fail(w->q, ret, "a temporary file can't be read: %s", strerror(-ret)) :
		     0;
}

static void aside_close(struct aside *a)
{
	if (a->file)
		fclose(a->file);
	alloc_free(a->json);
	*a = (struct aside){ 0 };
}

/* ---- frames ---- */

static int frame_of(struct writer *w, const char *name, uint64_t *frame)
{
	uint64_t hash;

	name = *name ? name : "unnamed";
	hash = map_hash(name, strlen(name));
	if (map_get(&w->names, hash, frame))
		return 0;
	*frame = w->nr_frames++;
	json_object(w->frames.json);
	json_member_text(w->frames.json, "name", name);
	json_object_end(w->frames.json);
	return map_put(&w->names, hash, *frame) ? query_fail_memory(w->q) : 0;
}

/* ---- profiles ---- */

static void profile_head(struct writer *w, const char *name)
{
	struct json *j = w->out;

	json_object(j);
	json_member_text(j, "type", "evented");
	json_member_text(j, "name", name);
	json_member_text(j, "unit", "nanoseconds");
	json_key(j, "events");
	w->nr_profiles++;
}

static void profile_tail(struct writer *w, const struct profile *p)
{
	json_member_int(w->out, "startValue", p->first_ns - w->q->first_ns);
	json_member_int(w->out, "endValue", p->last_ns - w->q->first_ns);
	json_object_end(w->out);
	json_bytes(w->out, "\n", 1);
}

static int put_event(struct writer *w, struct profile *p, bool open, int64_t ns, uint64_t frame)
{
	struct json *j = p->to;

	if (!p->nr++) {
		p->first_ns = ns;
		if (p == &w->main) { /* a profile of nothing is not written */
			profile_head(w, p->name);
			json_array(j);
		}
	}
	p->last_ns = ns > p->last_ns ? ns : p->last_ns;
	json_object(j);
	JSON_KEY(j, "type");
	json_text(j, open ? "O" : "C");
	JSON_KEY(j, "at");
	json_int(j, ns - w->q->first_ns);
	JSON_KEY(j, "frame");
	json_uint(j, frame);
	json_object_end(j);
	w->nr_events++;
	return j->error;
}

/* A frame without others in it. */
static int put_frame(struct writer *w, struct profile *p, int64_t begin, int64_t end,
		     uint64_t frame)
{
	int ret = put_event(w, p, true, begin, frame);

	return ret ? ret : put_event(w, p, false, end, frame);
}

/* Ends the profile of the file, and writes those beside it. */
static int end_profiles(struct writer *w)
{
	int ret = 0;

	if (w->main.nr) {
		json_array_end(w->out);
		profile_tail(w, &w->main);
	}
	w->main = (struct profile){ .to = w->out };
	for (size_t i = 0; i < w->nr_more; i++) {
		struct profile *p = &w->more[i];

		if (ret == 0 && p->nr) {
			profile_head(w, p->name);
			ret = aside_take(w, &p->aside);
			profile_tail(w, p);
		}
		aside_close(&p->aside);
	}
	w->nr_more = 0;
	return ret;
}

/* The profile beside the file of that number, from 0 on, each after the one before. */
static struct profile *beside(struct writer *w, size_t i, const char *name)
{
	struct profile *grown;

	if (i < w->nr_more)
		return &w->more[i];
	grown = alloc_grow(w->more, w->nr_more, &w->max_more, 4, sizeof(*grown));
	if (!grown)
		return NULL;
	w->more = grown;
	grown[i] = (struct profile){ 0 };
	if (aside_open(w, &grown[i].aside)) {
		aside_close(&grown[i].aside);
		return NULL;
	}
	grown[i].to = grown[i].aside.json;
	snprintf(grown[i].name, sizeof(grown[i].name), "%s", name);
	w->nr_more++;
	return &grown[i];
}

/* ---- threads ---- */

static int end_slice(void *arg, int64_t end_ns, int64_t id)
{
	struct writer *w = arg;

	return put_event(w, &w->main, false, end_ns, (uint64_t)id);
}

static int choose_thread(struct writer *w, int64_t pid, int64_t tid)
{
	int ret;

	if (w->open && w->pid == pid && w->tid == tid)
		return 0;
	ret = tracks_until(&w->nest, INT64_MAX, end_slice, w);
	if (ret == 0)
		ret = end_profiles(w);
	w->open = true;
	w->pid = pid;
	w->tid = tid;
	w->apart.nr = 0;
	snprintf(w->main.name, sizeof(w->main.name), "thread %lld of process %lld", (long long)tid,
		 (long long)pid);
	return ret;
}

static int put_apart(struct writer *w, int64_t begin, int64_t end, uint64_t frame)
{
	struct track_strip *strip = tracks_find_strip(&w->apart, begin, end);
	char name[sizeof(w->main.name)];
	struct profile *p;

	snprintf(name, sizeof(name), "thread %lld of process %lld, overlapping ranges #%zu",
		 (long long)w->tid, (long long)w->pid, w->apart.nr);
	p = strip ? beside(w, (size_t)(strip - w->apart.strips), name) : NULL;
	return p ? put_frame(w, p, begin, end, frame) : query_fail_memory(w->q);
}

static int take_call(void *arg, const struct rows_call *row)
{
	struct writer *w = arg;
	enum track_shape shape;
	uint64_t frame;
	int64_t begin;
	int ret = choose_thread(w, row->pid, row->tid);

	shape = tracks_shape_of(w->q, row, &begin);
	if (ret == 0)
		ret = tracks_until(&w->nest, begin, end_slice, w);
	if (ret || shape == TRACK_INSTANT)
		return ret;
	ret = frame_of(w,
		       row->marker ? query_look_up(w->args, row->args) :
				     query_look_up(w->call, row->name),
		       &frame);
	if (ret)
		return ret;
	if (shape == TRACK_SLICE && tracks_open(&w->nest, begin, row->end, (int64_t)frame))
		return put_event(w, &w->main, true, begin, frame);
	return put_apart(w, begin, row->end, frame);
}

/* ---- operations ---- */

static int frame_of_op(struct writer *w, const struct rows_op *op, uint64_t *frame)
{
	char label[LABEL_SIZE];

	if (w->order == ROWS_RUNTIME)
		return frame_of(w,
				apart_label(&w->apart_names, label,
					    query_look_up(w->symbol, op->name)),
				frame);
	if (op->copy)
		return frame_of(w, query_look_up(w->type, op->type), frame);
	return frame_of(w, apart_label(&w->apart_names, label, query_look_up(w->label, op->name)),
			frame);
}

static int take_op(void *arg, const struct rows_op *op)
{
	struct writer *w = arg;
	char group[TRACK_NAME], name[TRACK_NAME], whole[sizeof(w->main.name)] = "";
	struct profile *p = &w->main;
	struct track_strip *strip;
	uint64_t frame;
	int ret = 0;

	if (!rows_timed(op->start, op->end, op->flags) || op->start <= 0) {
		w->nr_untimed++;
		return 0;
	}
	if (tracks_begins(&w->track, op, w->order))
		ret = end_profiles(w);
	strip = tracks_find_strip(&w->track.strips, op->start, op->end);
	if (ret || !strip)
		return ret ? ret : query_fail_memory(w->q);
	if (!strip->id) {
		strip->id = 1;
		tracks_group(&w->track, group);
		tracks_name(w->q, &w->track, op, w->track.strips.nr - 1, w->stream, name);
		snprintf(whole, sizeof(whole), "%.60s %s", group, name);
		if (strip == w->track.strips.strips)
			memcpy(w->main.name, whole, sizeof(whole));
	}
	if (strip != w->track.strips.strips)
		p = beside(w, (size_t)(strip - w->track.strips.strips) - 1, whole);
	if (!p)
		return query_fail_memory(w->q);
	ret = frame_of_op(w, op, &frame);
	return ret ? ret : put_frame(w, p, op->start, op->end, frame);
}

static int write_ops(struct writer *w, enum rows_order order)
{
	int ret;

	w->track.open = false;
	w->order = order;
	ret = rows_ops(w->q, order, take_op, w);
	return ret ? ret : end_profiles(w);
}

/* ---- the file ---- */

static int write_profiles(struct writer *w)
{
	int ret = rows_calls(w->q, take_call, w);

	if (ret == 0)
		ret = tracks_until(&w->nest, INT64_MAX, end_slice, w);
	if (ret == 0)
		ret = end_profiles(w);
	if (ret == 0)
		ret = write_ops(w, ROWS_BY_QUEUE);
	return ret ? ret : write_ops(w, ROWS_RUNTIME);
}

static int fill(void *arg, struct json *j)
{
	struct writer *w = arg;
	int ret;

	w->out = j;
	w->main.to = j;
	json_object(j);
	json_member_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_member_text(j, "exporter", "rocm-trace-lite " RTL_VERSION_STRING);
	json_member_text(j, "name", w->q->path);
	json_member_int(j, "activeProfileIndex", 0);
	json_key(j, "profiles");
	json_array(j);
	ret = aside_open(w, &w->frames);
	if (ret == 0)
		ret = write_profiles(w);
	if (ret)
		return ret;
	json_array_end(j);
	json_key(j, "shared");
	json_object(j);
	json_key(j, "frames");
	ret = aside_take(w, &w->frames);
	json_object_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	w->q->res->nr_ops = w->nr_events;
	if (w->nr_untimed)
		job_warn(w->q->res, "%llu operations without valid times were left out",
			 (unsigned long long)w->nr_untimed);
	return ret;
}

int speedscope_write(struct query *q, const char *out)
{
	struct writer w = { .q = q };
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
		ret = output_write(q, out, fill, &w);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(*all[i].stmt);
	for (size_t i = 0; i < w.nr_more; i++)
		aside_close(&w.more[i].aside);
	aside_close(&w.frames);
	alloc_free(w.more);
	map_fini(&w.names);
	tracks_fini_strips(&w.track.strips);
	tracks_fini_strips(&w.apart);
	apart_fini(&w.apart_names);
	return ret;
}
