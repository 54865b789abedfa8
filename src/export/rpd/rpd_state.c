/* SPDX-License-Identifier: MIT */
/* rpd_state.c - what continues an unfinished database, in the database itself
 *
 * The state is written in the transaction of the rows that it belongs to, so that it holds for
 * exactly the rows that are there, whenever a process that writes them is killed. Another process
 * then continues with the file: `rtl trace` after the program's end, `rtl recover` after a kill.
 * Both use the same code as the first writer.
 *
 * rtl_state		id 0 is the job, others the processes: structures as they are in memory
 * rtl_state_records	the records that define what later ones refer to: they only grow
 *
 * The tables are gone from a finished database. A state is read by the version that wrote it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/rpd/rpd_internal.h"
#include "rtl_version.h"

/* One pass over a structure, in either direction. */
struct state {
	char *bytes;
	size_t size, cap, at;
	bool reads, bad;
};

static void both(struct state *s, void *value, size_t size)
{
	if (s->bad || !size)
		return;
	if (s->reads) {
		s->bad = size > s->size - s->at;
		if (!s->bad)
			memcpy(value, s->bytes + s->at, size);
		s->at += size;
		return;
	}
	if (s->size + size > s->cap) {
		size_t cap = (s->size + size) * 2;
		char *bytes = alloc_resize(s->bytes, cap, 1);

		s->bad = !bytes;
		if (s->bad)
			return;
		s->bytes = bytes;
		s->cap = cap;
	}
	memcpy(s->bytes + s->size, value, size);
	s->size += size;
}

/* An array of *nr items. `items` points to the pointer to it. */
static void both_array(struct state *s, void *items, size_t *nr, size_t *cap, size_t item_size)
{
	void *array;

	memcpy(&array, items, sizeof(array));
	both(s, nr, sizeof(*nr));
	if (s->reads && !s->bad) {
		s->bad = *nr > (s->size - s->at) / item_size;
		array = s->bad ? NULL : alloc_zero(*nr, item_size);
		s->bad = !array;
		if (s->bad)
			*nr = 0;
		if (cap)
			*cap = *nr;
		memcpy(items, &array, sizeof(array));
	}
	if (!s->bad)
		both(s, array, *nr * item_size);
}

static void both_map(struct state *s, struct map *map)
{
	size_t nr = map->nr;

	both(s, &nr, sizeof(nr));
	if (!s->reads) {
		for (size_t i = 0; i < map->cap; i++)
			if (map->entries[i].value_plus_1)
				both(s, &map->entries[i], sizeof(map->entries[i]));
		return;
	}
	for (size_t i = 0; i < nr && !s->bad; i++) {
		struct map_entry entry = { 0, 0 };

		both(s, &entry, sizeof(entry));
		s->bad |= map_put(map, entry.key, entry.value_plus_1 - 1) < 0;
	}
}

static void both_text(struct state *s, char **text)
{
	size_t size = *text ? strlen(*text) + 1 : 0;

	both_array(s, text, &size, NULL, 1);
	if (s->reads && !s->bad && (!size || (*text)[size - 1]))
		s->bad = true;
}

static void both_flow(struct state *s, struct flow *flow)
{
	struct flow saved = { .rows = flow->rows, .nr = flow->nr };

	both_array(s, &saved.rows, &saved.nr, NULL, sizeof(*saved.rows));
	memcpy(saved.written, flow->written, sizeof(saved.written));
	memcpy(saved.read, flow->read, sizeof(saved.read));
	both(s, saved.written, sizeof(saved.written));
	both(s, saved.read, sizeof(saved.read));
	if (!s->reads)
		return;
	s->bad |= flow_add(flow, &saved) < 0;
	alloc_free(saved.rows);
}

static void both_past(struct state *s, struct index_past *past)
{
	both(s, &past->offset, sizeof(past->offset));
	both_array(s, &past->links, &past->nr_links, &past->cap_links, sizeof(*past->links));
	both_array(s, &past->recent, &past->nr_recent, &past->cap_recent, sizeof(*past->recent));
	both(s, &past->bad_chunks, sizeof(past->bad_chunks));
	both(s, &past->totals, sizeof(past->totals));
	both_flow(s, &past->flow);
}

static void both_launches(struct state *s, struct launches *l)
{
	both(s, &l->is_given_up, sizeof(l->is_given_up));
	both_map(s, &l->open);
	both_map(s, &l->early);
	both_array(s, &l->begins, &l->nr_begins, &l->cap_begins, sizeof(*l->begins));
	both_array(s, &l->ends, &l->nr_ends, &l->cap_ends, sizeof(*l->ends));
}

static void both_process(struct state *s, struct rpd_process *p)
{
	size_t nr_pins = p->nr_pin_events;

#define FIELD(name) both(s, &p->name, sizeof(p->name))
	both_text(s, &p->path);
	FIELD(trace);
	FIELD(begun);
	FIELD(wide);
	FIELD(has_apis);
	FIELD(base);
	FIELD(blocks);
	FIELD(node);
	FIELD(pid);
	FIELD(call_base);
	FIELD(next_string);
	FIELD(next_ustring);
	FIELD(empty_string);
	FIELD(empty_ustring);
	FIELD(name_marker);
	FIELD(name_thread);
	FIELD(domain_rtl);
	FIELD(domain_roctx);
	FIELD(type_kernel);
	FIELD(type_copy);
	FIELD(domain_api);
	FIELD(next_op);
	FIELD(next_shape);
	FIELD(next_clock);
	FIELD(next_copy);
	FIELD(next_launch);
	FIELD(next_scratch);
	FIELD(first_api);
	FIELD(next_api);
	FIELD(last_ns);
	FIELD(nr_unnamed);
	FIELD(nr_configured);
	FIELD(nr_parts);
	FIELD(configured);
	FIELD(marks);
	FIELD(ranges);
	FIELD(pins_full);
#undef FIELD
	both_past(s, &p->past);
	both_map(s, &p->kernel_ids);
	both_map(s, &p->fn_ids);
	both_array(s, &p->threads, &p->nr_threads, &p->cap_threads, sizeof(*p->threads));
	both_map(s, &p->thread_of);
	both_array(s, &p->pending, &p->nr_pending, &p->cap_pending, sizeof(*p->pending));
	both_array(s, &p->pin_events, &nr_pins, &p->cap_pin_events, sizeof(*p->pin_events));
	p->nr_pin_events = (uint32_t)nr_pins;
	both_map(s, &p->pin_addrs);
	both_map(s, &p->open);
	both_map(s, &p->early);
	both_launches(s, &p->launches);
}

/* Numbers of the job's result; texts are of the process that ends it. */
static void both_result(struct state *s, struct job_result *res)
{
	uint64_t *const numbers[] = { &res->nr_processes, &res->nr_dispatches, &res->nr_internal,
				      &res->nr_copies,	  &res->nr_barriers,   &res->nr_apis,
				      &res->nr_markers,	  &res->nr_ops,	       &res->nr_unknown,
				      &res->first_ns,	  &res->last_ns };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		both(s, numbers[i], sizeof(*numbers[i]));
}

static void both_job(struct state *s, struct rpd *r)
{
	both(s, &r->part, sizeof(r->part));
	both(s, &r->next_block, sizeof(r->next_block));
	both(s, &r->nr_op_rows, sizeof(r->nr_op_rows));
	both(s, &r->nr_api_rows, sizeof(r->nr_api_rows));
	both(s, &r->has_args, sizeof(r->has_args));
	both_map(s, &r->gpus);
	both_array(s, &r->nodes, &r->nr_nodes, NULL, sizeof(*r->nodes));
	for (size_t i = 0; i < r->nr_nodes && !s->bad; i++) {
		if (s->reads)
			r->nodes[i].key = NULL;
		both_text(s, &r->nodes[i].key);
	}
	both_array(s, &r->traces, &r->nr_traces, NULL, sizeof(*r->traces));
	both_result(s, r->res);
}

/* What a state can be read by. */
static void both_layout(struct state *s)
{
	char version[64] = "";
	uint64_t sizes[] = { sizeof(struct rpd_process), sizeof(struct store_totals),
			     SPOOL_WRITTEN_TYPES };
	uint64_t written[3] = { sizes[0], sizes[1], sizes[2] };
	char own[sizeof(version)];

	memset(own, 0, sizeof(own));
	snprintf(own, sizeof(own), "%s", RTL_VERSION_STRING);
	memcpy(version, own, sizeof(own));
	both(s, version, sizeof(version));
	both(s, written, sizeof(written));
	s->bad |= memcmp(version, own, sizeof(own)) != 0 ||
		  memcmp(written, sizes, sizeof(sizes)) != 0;
}

int rpd_state_copy(struct rpd_process *from, struct rpd_process *to)
{
	struct state s = { 0 };
	int ret = 0;

	alloc_free(to->path);
	to->path = NULL;
	both_process(&s, from);
	s.reads = true;
	if (!s.bad)
		both_process(&s, to);
	to->past.records = s.bad ? NULL : alloc_resize(NULL, from->past.size + 1, 1);
	if (s.bad || !to->past.records)
		ret = rpd_fail(from->r, -ENOMEM, "%s: out of memory", from->path);
	alloc_free(s.bytes);
	if (ret < 0)
		return ret;
	memcpy(to->past.records, from->past.records, from->past.size);
	to->past.size = from->past.size;
	to->past.cap = from->past.size + 1;
	return 0;
}

bool rpd_grow_is_unfinished(const char *path)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, "SELECT 1 FROM rtl_state", -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	/* one that another program has locked is there: who continues it waits for the lock */
	return rc == SQLITE_OK || rc == SQLITE_BUSY;
}

int rpd_state_create(struct rpd *r)
{
	return rpd_db_exec(
		r, "CREATE TABLE rtl_state (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
		   "CREATE TABLE rtl_state_records (process INTEGER NOT NULL, data BLOB NOT "
		   "NULL)");
}

int rpd_state_drop(struct rpd *r)
{
	return rpd_db_exec(r, "DROP TABLE rtl_state; DROP TABLE rtl_state_records");
}

static int put_blob(struct rpd *r, const char *sql, int64_t id, const void *bytes, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	int ret = rpd_db_prepare(r, &stmt, sql);

	if (ret == 0) {
		sqlite3_bind_int64(stmt, 1, id);
		sqlite3_bind_blob64(stmt, 2, bytes, size, SQLITE_STATIC);
		ret = rpd_db_step(r, stmt);
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int save(struct rpd *r, int64_t id, struct rpd_process *p)
{
	struct state s = { 0 };
	int ret;

	both_layout(&s);
	if (p)
		both_process(&s, p);
	else
		both_job(&s, r);
	ret = s.bad ? rpd_fail(r, -ENOMEM, "%s: out of memory", r->out) :
		      put_blob(r, "INSERT OR REPLACE INTO rtl_state VALUES (?, ?)", id, s.bytes,
			       s.size);
	alloc_free(s.bytes);
	if (ret == 0 && p && p->past.size > p->records_saved) {
		ret = put_blob(r, "INSERT INTO rtl_state_records VALUES (?, ?)", id,
			       p->past.records + p->records_saved, p->past.size - p->records_saved);
		p->records_saved = p->past.size;
	}
	return ret;
}

int rpd_state_save(struct rpd *r)
{
	int ret = save(r, 0, NULL);

	for (size_t i = 0; i < r->nr_processes && ret == 0; i++) {
		struct rpd_process *p = r->processes[i];

		if (p->changed)
			ret = save(r, (int64_t)i + 1, p);
		p->changed = false;
	}
	return ret;
}

static int load_records(struct rpd *r, int64_t id, struct index_past *past)
{
	sqlite3_stmt *stmt = NULL;
	int ret = rpd_db_prepare(
		r, &stmt, "SELECT data FROM rtl_state_records WHERE process = ? ORDER BY rowid");

	if (ret == 0)
		sqlite3_bind_int64(stmt, 1, id);
	while (ret == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		size_t size = (size_t)sqlite3_column_bytes(stmt, 0);
		char *grown = alloc_resize(past->records, past->size + size, 1);

		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		past->records = grown;
		memcpy(grown + past->size, sqlite3_column_blob(stmt, 0), size);
		past->size += size;
		past->cap = past->size;
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int load_process(struct rpd *r, int64_t id, struct state *s)
{
	struct rpd_process **all =
		alloc_resize(r->processes, r->nr_processes + 1, sizeof(struct rpd_process *));
	struct rpd_process *p;
	int ret;

	if (!all)
		return -ENOMEM;
	r->processes = all;
	p = alloc_zero(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->r = r;
	all[r->nr_processes++] = p;
	both_process(s, p);
	if (s->bad)
		return -EINVAL;
	ret = load_records(r, id, &p->past);
	p->records_saved = p->past.size;
	return ret == 0 ? rpd_spool_prepare(p) : ret;
}

int rpd_state_load(struct rpd *r)
{
	sqlite3_stmt *stmt = NULL;
	int ret = rpd_db_prepare(r, &stmt, "SELECT id, data FROM rtl_state ORDER BY id");

	while (ret == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		struct state s = { .bytes = (char *)(uintptr_t)sqlite3_column_blob(stmt, 1),
				   .size = (size_t)sqlite3_column_bytes(stmt, 1),
				   .reads = true };
		int64_t id = sqlite3_column_int64(stmt, 0);

		both_layout(&s);
		if (s.bad)
			ret = rpd_fail(
				r, -EINVAL,
				"%s: was begun by another version of rtl: finish it with that one",
				r->tmp);
		else if (id)
			ret = load_process(r, id, &s);
		else
			both_job(&s, r);
		if (ret == 0 && s.bad)
			ret = -EINVAL;
	}
	sqlite3_finalize(stmt);
	return ret < 0 ? rpd_fail(r, ret, "%s: is no unfinished database that can be continued",
				  r->tmp) :
			 0;
}
