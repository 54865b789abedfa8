/* SPDX-License-Identifier: MIT */
/* folded.c - the GPU's time as folded stacks: "process;thread;range;call;kernel NANOSECONDS"
 *
 * One line for each different stack, so memory grows with stacks, not with events. The stack of a
 * call is found when its thread is read, and kept in a temporary table until the operations are
 * read. An operation whose call is unknown is below its range, else below its process. Operations
 * without valid times are left out.
 */
#include "export/stacks/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "export/json.h"
#include "export/output.h"
#include "export/tracks.h"
#include "query/apart.h"
#include "store/map.h"

/* A stack: its innermost frame, and the stack that it is in. */
struct stack {
	uint32_t parent, name;
	uint64_t ns;
};

struct writer {
	struct query *q;
	struct stack *stacks; /* 0: nothing */
	char **names;
	size_t nr_stacks, max_stacks, nr_names, max_names;
	struct map of_name;   /* hash of a text -> name */
	struct map of_parent; /* parent << 32 | name -> stack */
	struct nest nest;
	int64_t pid, tid;
	bool open;
	uint32_t thread;
	uint64_t nr_untimed;
	int64_t last_id; /* of the row that was looked up last */
	uint32_t last_stack;
	struct apart apart_names;
	sqlite3_stmt *call, *args, *put, *get, *label, *type;
};

/* ---- stacks ---- */

/* The separators of the format become other characters; so does what a terminal would act on. */
static void clean(char *text)
{
	char *whole = text;

	for (; *text; text++)
		if (*text == ';')
			*text = ':';
		else if ((unsigned char)*text < ' ')
			*text = ' ';
	text_clean(whole, "");
}

static int name_of(struct writer *w, const char *text, uint32_t *name)
{
	uint64_t hash = map_hash(text, strlen(text)), found;
	char **grown;

	if (map_get(&w->of_name, hash, &found)) {
		*name = (uint32_t)found;
		return 0;
	}
	grown = alloc_grow(w->names, w->nr_names, &w->max_names, 64, sizeof(*grown));
	if (!grown)
		return query_fail_memory(w->q);
	w->names = grown;
	grown[w->nr_names] = alloc_string(*text ? text : "unnamed");
	if (!grown[w->nr_names] || map_put(&w->of_name, hash, w->nr_names))
		return query_fail_memory(w->q);
	clean(grown[w->nr_names]);
	*name = (uint32_t)w->nr_names++;
	return 0;
}

/* The stack with one more frame. */
static int stack_of(struct writer *w, uint32_t parent, const char *text, uint32_t *out)
{
	struct stack *grown;
	uint64_t key, found;
	uint32_t name = 0;
	int ret = name_of(w, text, &name);

	if (ret)
		return ret;
	key = (uint64_t)parent << 32 | name;
	if (map_get(&w->of_parent, key, &found)) {
		*out = (uint32_t)found;
		return 0;
	}
	grown = alloc_grow(w->stacks, w->nr_stacks, &w->max_stacks, 256, sizeof(*grown));
	if (!grown)
		return query_fail_memory(w->q);
	w->stacks = grown;
	grown[w->nr_stacks] = (struct stack){ .parent = parent, .name = name };
	if (map_put(&w->of_parent, key, w->nr_stacks))
		return query_fail_memory(w->q);
	*out = (uint32_t)w->nr_stacks++;
	return 0;
}

static int process_stack(struct writer *w, const char *name, int64_t pid, uint32_t *out)
{
	char text[64];

	snprintf(text, sizeof(text), "process %lld", (long long)pid);
	return stack_of(w, 0, name && *name ? name : text, out);
}

/* ---- threads ---- */

static int end_slice(void *arg, int64_t end_ns, int64_t id)
{
	(void)arg;
	(void)end_ns;
	(void)id;
	return 0;
}

static int choose_thread(struct writer *w, const struct rows_call *row)
{
	const struct query_process *process = query_process_of(w->q, row->id);
	char text[64];
	uint32_t stack;
	int ret;

	if (w->open && w->pid == row->pid && w->tid == row->tid)
		return 0;
	tracks_until(&w->nest, INT64_MAX, end_slice, w);
	w->open = true;
	w->pid = row->pid;
	w->tid = row->tid;
	ret = process_stack(w, process ? process->name : NULL, w->pid, &stack);
	snprintf(text, sizeof(text), "thread %lld", (long long)w->tid);
	return ret ? ret : stack_of(w, stack, text, &w->thread);
}

static int keep(struct writer *w, int64_t id, uint32_t stack)
{
	sqlite3_reset(w->put);
	sqlite3_bind_int64(w->put, 1, id);
	sqlite3_bind_int64(w->put, 2, stack);
	return sqlite3_step(w->put) == SQLITE_DONE ? 0 : query_fail_sql(w->q);
}

static int take_call(void *arg, const struct rows_call *row)
{
	struct writer *w = arg;
	enum track_shape shape;
	uint32_t stack = 0;
	int64_t begin;
	int ret = choose_thread(w, row);

	shape = tracks_shape_of(w->q, row, &begin);
	if (ret || shape == TRACK_INSTANT)
		return ret;
	tracks_until(&w->nest, begin, end_slice, w);
	ret = stack_of(w, w->nest.depth ? (uint32_t)tracks_top(&w->nest) : w->thread,
		       row->marker ? query_look_up(w->args, row->args) :
				     query_look_up(w->call, row->name),
		       &stack);
	/* what overlaps others is around nothing, but may have caused operations */
	if (ret == 0 && shape == TRACK_SLICE)
		tracks_open(&w->nest, begin, row->end, stack);
	return ret ? ret : keep(w, row->id, stack);
}

/* ---- operations ---- */

static uint32_t kept_stack(struct writer *w, int64_t id)
{
	if (id != w->last_id) {
		sqlite3_stmt *row = query_row(w->get, id);

		w->last_id = id;
		w->last_stack = row ? (uint32_t)sqlite3_column_int64(row, 0) : 0;
	}
	return w->last_stack;
}

static int take_op(void *arg, const struct rows_op *op)
{
	struct writer *w = arg;
	char label[LABEL_SIZE];
	const struct query_process *process;
	uint32_t stack = 0;
	int ret = 0;

	if (!rows_timed(op->start, op->end, op->flags) || op->start <= 0) {
		w->nr_untimed++;
		return 0;
	}
	if (op->call || op->marker)
		stack = kept_stack(w, op->call ? op->call : op->marker);
	if (!stack) {
		process = query_process_of(w->q, op->id);
		ret = process_stack(w, process ? process->name : NULL, process ? process->pid : 0,
				    &stack);
	}
	if (ret == 0)
		ret = stack_of(w, stack,
			       op->copy ? query_look_up(w->type, op->type) :
					  apart_label(&w->apart_names, label,
						      query_look_up(w->label, op->name)),
			       &stack);
	if (ret == 0)
		w->stacks[stack].ns += (uint64_t)(op->end - op->start);
	return ret;
}

/* ---- the file ---- */

static int put_line(struct writer *w, struct json *j, uint32_t stack)
{
	uint32_t frames[NEST_DEPTH + 8];
	size_t nr = 0;
	char text[32];

	for (uint32_t s = stack; s && nr < sizeof(frames) / sizeof(frames[0]);
	     s = w->stacks[s].parent)
		frames[nr++] = w->stacks[s].name;
	while (nr--) {
		json_bytes(j, w->names[frames[nr]], strlen(w->names[frames[nr]]));
		json_bytes(j, nr ? ";" : " ", 1);
	}
	snprintf(text, sizeof(text), "%" PRIu64 "\n", w->stacks[stack].ns);
	json_bytes(j, text, strlen(text));
	return j->error;
}

static int fill(void *arg, struct json *j)
{
	struct writer *w = arg;
	uint32_t none;
	int ret = stack_of(w, 0, "", &none);

	if (ret == 0)
		ret = rows_calls(w->q, take_call, w);
	if (ret == 0)
		ret = rows_ops(w->q, ROWS_BY_QUEUE, take_op, w);
	for (size_t i = 1; ret == 0 && i < w->nr_stacks; i++)
		if (w->stacks[i].ns) {
			ret = put_line(w, j, (uint32_t)i);
			w->q->res->nr_ops++;
		}
	if (w->nr_untimed)
		job_warn(w->q->res, "%llu operations without valid times were left out",
			 (unsigned long long)w->nr_untimed);
	return ret;
}

int folded_write(struct query *q, const char *out)
{
	struct writer w = { .q = q };
	const struct query_sql all[] = {
		{ &w.put, "INSERT INTO temp.folded_row (id, stack) VALUES (?1, ?2)" },
		{ &w.get, "SELECT stack FROM temp.folded_row WHERE id = ?1" },
		{ &w.label, QUERY_STRING },
		{ &w.type, ROWS_TYPE_NAME },
		{ &w.call, QUERY_STRING },
		{ &w.args, query_args_sql(q) },
	};
	int ret = query_run(q,
			    "CREATE TEMP TABLE folded_row (id INTEGER PRIMARY KEY, stack INTEGER)");

	if (ret == 0)
		ret = query_prepare_all(q, all, sizeof(all) / sizeof(all[0]));
	if (ret == 0)
		ret = apart_read(&w.apart_names, q);
	if (ret == 0)
		ret = output_write(q, out, fill, &w);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(*all[i].stmt);
	for (size_t i = 0; i < w.nr_names; i++)
		alloc_free(w.names[i]);
	alloc_free(w.names);
	alloc_free(w.stacks);
	map_fini(&w.of_name);
	map_fini(&w.of_parent);
	apart_fini(&w.apart_names);
	return ret;
}
