/* SPDX-License-Identifier: MIT */
/* rpd_marker.c - markers in RPD's form: calls named UserMarker, the message as arguments
 *
 * A range's begin and end are separate records that may come in either order and from different
 * threads. The row is written at the begin and changed at the end, so that memory grows only
 * with the number of simultaneously open ranges.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>

/* The string id of the category, which is that of RPD's own markers. */
static int category_of(struct rpd_process *p, int64_t kind, int64_t *id)
{
	bool is_mark = kind == REC_MARKER_MARK;
	int64_t *known = is_mark ? &p->marks : &p->ranges;
	int ret = *known ? 0 : rpd_spool_string(p, is_mark ? "mark" : "range", known);

	*id = *known;
	return ret;
}

static void widen_last_ns(struct rpd_process *p, int64_t ns)
{
	if (ns > p->last_ns)
		p->last_ns = ns;
}

int rpd_marker_begin(void *arg, const struct store_marker *m)
{
	struct rpd_process *p = arg;
	int64_t id = rpd_spool_marker(p, m->marker);
	int64_t end = (int64_t)m->time_ns;
	int64_t end_tid = m->tid;
	int64_t text = 0, category = 0;
	uint64_t early;
	int ret;

	if (!id)
		return 0;
	widen_last_ns(p, (int64_t)m->time_ns);
	if (m->kind != REC_MARKER_MARK) {
		if (map_get(&p->early, m->marker * 2, &early)) {
			uint64_t tid = 0;

			end = (int64_t)early;
			if (map_get(&p->early, m->marker * 2 + 1, &tid))
				end_tid = (int64_t)tid;
			map_del(&p->early, m->marker * 2);
			map_del(&p->early, m->marker * 2 + 1);
		} else if (map_put(&p->open, m->marker, m->tid) < 0) {
			return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
		}
	}
	ret = category_of(p, m->kind, &category);
	if (ret == 0)
		ret = rpd_spool_ustring(p, m->text, &text);
	if (ret < 0)
		return ret;
	ret = rpd_db_insert(p->r, p->add_api, "iiiiiiiii", id, p->pid, (int64_t)m->tid,
			    (int64_t)m->time_ns, end, p->name_marker, category, p->domain_roctx,
			    text);
	if (ret < 0)
		return ret;
	p->r->nr_api_rows += sqlite3_changes(p->r->db);
	p->r->res->nr_markers++;
	return rpd_db_insert(p->r, p->add_marker, "iiiiii", id, (int64_t)m->kind, (int64_t)m->level,
			     rpd_spool_marker(p, m->parent), (int64_t)0, end_tid);
}

/* An end without an open range: its begin is in a chunk that was drained later, or the program
 * stopped the range twice. The first end in time counts. */
static int end_unopened_range(struct rpd_process *p, const struct store_marker_end *e, int64_t id)
{
	uint64_t other;
	int ret = rpd_db_insert(p->r, p->sooner_marker, "ii", (int64_t)e->time_ns, id);

	if (ret < 0)
		return ret;
	if (sqlite3_changes(p->r->db) > 0)
		return rpd_db_insert(p->r, p->move_marker, "iii", (int64_t)0, (int64_t)e->tid, id);
	if (map_get(&p->early, e->marker * 2, &other) && other <= e->time_ns)
		return 0;
	if (map_put(&p->early, e->marker * 2, e->time_ns) < 0 ||
	    map_put(&p->early, e->marker * 2 + 1, e->tid) < 0)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	return 0;
}

int rpd_marker_end(void *arg, const struct store_marker_end *e)
{
	struct rpd_process *p = arg;
	int64_t id = rpd_spool_marker(p, e->marker);
	uint64_t tid;
	int ret;

	if (!id)
		return 0;
	widen_last_ns(p, (int64_t)e->time_ns);
	if (!map_get(&p->open, e->marker, &tid))
		return end_unopened_range(p, e, id);
	map_del(&p->open, e->marker);
	ret = rpd_db_insert(p->r, p->end_marker, "ii", (int64_t)e->time_ns, id);
	if (ret == 0 && tid != e->tid)
		ret = rpd_db_insert(p->r, p->move_marker, "iii", (int64_t)0, (int64_t)e->tid, id);
	return ret;
}

/* One range: columns of the row in the earlier database. */
static int continue_range(struct rpd_process *to, sqlite3_stmt *row, uint64_t marker)
{
	int64_t id = rpd_spool_marker(to, marker), parent = sqlite3_column_int64(row, 5);
	const char *text = (const char *)sqlite3_column_text(row, 2);
	int64_t args, category = 0;
	int ret = rpd_spool_ustring(to, text ? text : "", &args);

	if (ret == 0)
		ret = category_of(to, sqlite3_column_int64(row, 3), &category);
	if (ret == 0)
		ret = rpd_db_insert(to->r, to->add_api, "iiiiiiiii", id, to->pid,
				    (int64_t)sqlite3_column_int64(row, 0),
				    (int64_t)sqlite3_column_int64(row, 1),
				    (int64_t)sqlite3_column_int64(row, 1), to->name_marker,
				    category, to->domain_roctx, args);
	if (ret < 0)
		return ret;
	to->r->nr_api_rows += sqlite3_changes(to->r->db);
	to->r->res->nr_markers++;
	return rpd_db_insert(to->r, to->add_marker, "iiiiii", id,
			     (int64_t)sqlite3_column_int64(row, 3),
			     (int64_t)sqlite3_column_int64(row, 4),
			     parent > 0 ? rpd_spool_marker(to, (uint64_t)parent) : (int64_t)0,
			     (int64_t)0, (int64_t)sqlite3_column_int64(row, 0));
}

int rpd_marker_continue(struct rpd_process *from, struct rpd_process *to)
{
	sqlite3_stmt *stmt = NULL;
	int ret = rpd_db_prepare(from->r, &stmt,
				 "SELECT a.tid, a.start, s.string, m.kind, m.level, "
				 "m.parent_id - ?2 FROM rocpd_api a "
				 "JOIN rtl_marker_data m ON m.api_id = a.id "
				 "LEFT JOIN rocpd_ustring s ON s.id = a.args_id WHERE a.id = ?1");

	for (size_t i = 0; i < from->open.cap && ret == 0; i++) {
		const struct map_entry *entry = &from->open.entries[i];

		if (!entry->value_plus_1)
			continue;
		sqlite3_bind_int64(stmt, 1, rpd_spool_marker(from, entry->key));
		sqlite3_bind_int64(stmt, 2, rpd_spool_marker(from, 1) - 1);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			ret = continue_range(to, stmt, entry->key);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	return ret;
}

int rpd_marker_finish(struct rpd_process *p, int64_t last_ns)
{
	int ret = 0;

	for (size_t i = 0; i < p->open.cap && ret == 0; i++) {
		const struct map_entry *entry = &p->open.entries[i];
		int64_t id;

		if (!entry->value_plus_1)
			continue;
		id = rpd_spool_marker(p, entry->key);
		ret = rpd_db_insert(p->r, p->end_marker, "ii", last_ns, id);
		if (ret == 0)
			ret = rpd_db_insert(p->r, p->move_marker, "iii", (int64_t)1,
					    (int64_t)(entry->value_plus_1 - 1), id);
	}
	return ret;
}
