/* SPDX-License-Identifier: MIT */
/* walk_call.c - calls and markers as events, and what they are annotated with */
#include <string.h>

#include "base/alloc.h"
#include "export/walk_internal.h"
#include "query/label.h"
#include "store/args.h"

/* Valid until the next one. NULL: out of memory. */
static const struct walk_function *function_of(struct walk *walk, int64_t id)
{
	struct walk_function *grown;
	const char *name;
	uint64_t i;

	if (walk->nr_functions && walk->function_id == id)
		return &walk->all[walk->function];
	walk->function_id = id;
	if (map_get(&walk->function_index, (uint64_t)id, &i))
		return &walk->all[walk->function = i];
	grown = alloc_grow(walk->all, walk->nr_functions, &walk->max_functions, 64, sizeof(*grown));
	if (grown)
		walk->all = grown;
	if (!grown || map_put(&walk->function_index, (uint64_t)id, walk->nr_functions))
		return NULL;
	name = query_look_up(walk->string, id);
	grown[walk->nr_functions] =
		(struct walk_function){ .domain = label_domain(name),
					.status_type = label_status_type(name) };
	walk->function = walk->nr_functions++;
	return &grown[walk->function];
}

static int add_args(struct walk *walk, int64_t id, struct walk_notes *to)
{
	struct walk_note note = { .key = WALK_ARGS, .type = WALK_ARGUMENTS };

	if (walk_has(&walk->args, (uint64_t)id, to))
		return 0;
	note.text = query_texts_get(&walk->texts, id);
	return walk_keep(walk, &walk->args, (uint64_t)id, &note, *note.text != 0, to);
}

static void add_status(const struct rows_call *row, const struct walk_function *f,
		       struct walk_notes *to)
{
	const char *error;

	walk_add_int(to, WALK_STATUS, row->status);
	if (!row->status)
		return;
	error = args_enum(f->status_type, (uint64_t)row->status);
	walk_add(to, walk_text(WALK_ERROR, error ? error : "unknown"));
}

static int annotate(struct walk *walk, const struct rows_call *row, const struct walk_function *f,
		    struct walk_notes *to)
{
	int64_t first = walk->event.first;
	int ret = 0;

	if (f)
		ret = add_args(walk, row->args, to);
	if (f && walk->q->ours)
		add_status(row, f, to);
	walk_add_int(to, f ? WALK_API_ID : WALK_MARKER, row->id - first);
	walk_add_int(to, WALK_TID, row->tid);
	if (row->correlation)
		walk_add_int(to, WALK_CORR_ID, row->correlation - first);
	if (row->parent)
		walk_add_int(to, WALK_PARENT_ID, row->parent - first);
	walk_add_int(to, WALK_BEGIN_NS, row->start);
	walk_add_int(to, WALK_END_NS, row->end);
	if (row->unclosed)
		walk_add(to, (struct walk_note){
				     .key = WALK_UNCLOSED, .type = WALK_TRUE, .number = 1 });
	return ret;
}

static int pass_call(void *arg, const struct rows_call *row)
{
	struct walk *walk = arg;
	struct walk_call *call = &walk->event;
	const struct walk_function *f = NULL;
	int ret = 0;

	if (!row->marker) {
		f = function_of(walk, row->name);
		if (!f)
			return query_fail_memory(walk->q);
	}
	if (!rows_has_call(walk->q, row, f ? f->domain : ""))
		return 0;
	call->row = row;
	call->domain = f ? f->domain : NULL;
	call->message = f ? "" : query_texts_get(&walk->texts, row->args);
	call->first = row->id - query_local_id(walk->q, row->id);
	call->notes.nr_parts = call->notes.nr = 0;
	if (f)
		ret = walk_name(walk, &walk->functions, row->name, WALK_FUNCTION_NAME, walk->string,
				&call->name);
	if (ret == 0)
		ret = annotate(walk, row, f, &call->notes);
	return ret ? ret : walk->ops->call(walk->w, call);
}

int walk_calls(struct walk *walk)
{
	return rows_calls(walk->q, pass_call, walk);
}

int walk_messages(struct walk *walk, mpi_messages_fn put)
{
	char text[MPI_MESSAGES_TEXT];
	struct mpi_messages messages;
	int ret;

	if (walk->q->only)
		return 0;
	ret = mpi_messages_read(walk->q, put, walk->w, &messages);
	if (ret == 0 && walk->q->nr_processes > 1 && *mpi_messages_text(&messages, text))
		job_warn(walk->q->res, "without an arrow: %s", text);
	return ret;
}
