/* SPDX-License-Identifier: MIT */
/* verdict.c - whether a trace is complete, and if not, what is missing */
#include "store/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sqlite3.h>

#include "base/dbfile.h"
#include "store/changed.h"

#define RUNNING_TEXT "the process still runs: later records are missing"
#define CONTINUED_TEXT                                                                             \
	"the trace is continued in another file; counts of losses are those since its beginning"
#define CONVERTING_TEXT                                                                            \
	"records that are in the database which rtl trace writes: it is complete after the program's end"
#define CONVERTED_TEXT                                                                             \
	"records that rtl trace had moved to its unfinished database, which was not found"
#define MEMORY_TEXT "the memory half is missing: records that were in buffers are lost"

void verdict_init(struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->complete = true;
}

static enum load_class class_by_name(const char *name)
{
	for (int i = LOAD_LOSS; i <= LOAD_NOTE; i++) {
		if (strcmp(name, load_class_name((enum load_class)i)) == 0)
			return (enum load_class)i;
	}
	return LOAD_LOSS;
}

/* The reasons that state how a process ended without its exit handlers. */
static bool is_end(const char *reason)
{
	static const char *const ends[] = { "killed", "sudden_exit", "executed", "end_unknown" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(reason, ends[i]) == 0)
			return true;
	return false;
}

void verdict_add(struct verdict *v, uint32_t pid, const char *reason, enum load_class class,
		 uint64_t count, uint64_t first_ns, uint64_t last_ns, const char *text)
{
	struct verdict_row *row;

	if (!count)
		return;
	if (class == LOAD_LOSS) {
		v->complete = false;
		v->nr_lost += count;
	} else if (class == LOAD_SKIPPED) {
		v->nr_skipped += count;
	}
	if (is_end(reason)) {
		v->nr_ended++;
		snprintf(v->end, sizeof(v->end), "%.*s", (int)strcspn(text, ":"), text);
	}
	if (strcmp(reason, "running") == 0)
		v->nr_running++;
	if (strcmp(reason, "continued") == 0)
		v->nr_continued++;
	if (v->nr_rows == VERDICT_MAX) {
		v->nr_more++;
		return;
	}
	row = &v->rows[v->nr_rows++];
	row->pid = pid;
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	row->class = class;
	row->count = count;
	row->first_ns = first_ns;
	row->last_ns = last_ns;
	snprintf(row->text, sizeof(row->text), "%s", text);
}

void verdict_remove(struct verdict *v, const char *reason, uint32_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->nr_rows; i++) {
		if (nr && strcmp(v->rows[i].reason, reason) == 0) {
			nr--;
			if (strcmp(reason, "continued") == 0)
				v->nr_continued--;
			continue;
		}
		v->rows[kept++] = v->rows[i];
	}
	v->nr_rows = kept;
}

static bool in_same_group(const struct verdict_row *a, const struct verdict_row *b)
{
	return a->class == b->class && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->text, b->text) == 0;
}

#define PIDS_SHOWN 4

bool verdict_next_group(const struct verdict *v, size_t *at, struct verdict_group *group)
{
	char list[64] = "";
	size_t nr = 0, length = 0, earlier = 0;

	/* rows of earlier groups */
	for (; *at < v->nr_rows; (*at)++) {
		for (earlier = 0; earlier < *at; earlier++)
			if (in_same_group(&v->rows[earlier], &v->rows[*at]))
				break;
		if (earlier == *at)
			break;
	}
	if (*at == v->nr_rows)
		return false;
	*group = (struct verdict_group){ .row = &v->rows[*at] };
	for (size_t i = (*at)++; i < v->nr_rows; i++) {
		const struct verdict_row *row = &v->rows[i];

		if (!in_same_group(row, group->row))
			continue;
		group->count += row->count;
		if (row->pid && nr++ < PIDS_SHOWN)
			length += (size_t)snprintf(list + length, sizeof(list) - length,
						   "%s%" PRIu32, nr > 1 ? ", " : "", row->pid);
	}
	if (v->nr_processes < 2 || !nr)
		return true;
	if (nr > PIDS_SHOWN)
		snprintf(list + length, sizeof(list) - length, " and %zu more", nr - PIDS_SHOWN);
	snprintf(group->pids, sizeof(group->pids), " (pid%s %s)", nr > 1 ? "s" : "", list);
	return true;
}

/* "SIGKILL"; NULL: not a common one. sigabbrev_np() needs glibc 2.32, and HPC systems have older
 * ones. */
static const char *signal_name(uint32_t number)
{
	static const struct {
		uint32_t number;
		const char *name;
	} names[] = {
#define NAME(sig) { sig, #sig }
		NAME(SIGABRT), NAME(SIGALRM), NAME(SIGBUS),  NAME(SIGFPE),  NAME(SIGHUP),
		NAME(SIGILL),  NAME(SIGINT),  NAME(SIGKILL), NAME(SIGPIPE), NAME(SIGQUIT),
		NAME(SIGSEGV), NAME(SIGSYS),  NAME(SIGTERM), NAME(SIGTRAP), NAME(SIGUSR1),
		NAME(SIGUSR2), NAME(SIGXCPU), NAME(SIGXFSZ),
#undef NAME
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

/* How the process ended, unless its exit handlers ran to the end. */
static void add_end(struct verdict *v, const struct load_facts *f)
{
	const char *reason = "end_unknown", *signal = NULL;
	char what[96], text[160];

	switch (f->end_kind) {
	case SPOOL_END_EXIT:
	case SPOOL_END_CLOSED:
		return;
	case SPOOL_END_SIGNAL:
		reason = "killed";
		signal = signal_name(f->end_status);
		if (signal)
			snprintf(what, sizeof(what), "the process was killed by %s", signal);
		else
			snprintf(what, sizeof(what), "the process was killed by signal %" PRIu32,
				 f->end_status);
		break;
	case SPOOL_END_SUDDEN:
		reason = "sudden_exit";
		snprintf(what, sizeof(what),
			 "the process ended without its exit handlers, with status %" PRIu32,
			 f->end_status);
		break;
	case SPOOL_END_EXEC:
		reason = "executed";
		snprintf(what, sizeof(what), "the process executed another program");
		break;
	default:
		snprintf(what, sizeof(what), "the process ended without its exit handlers");
		break;
	}
	snprintf(text, sizeof(text), "%s: operations that it saw completed are in the trace", what);
	verdict_add(v, f->pid, reason, LOAD_NOTE, 1, 0, 0, text);
}

/* Records that were counted as dropped, at most: they explain operations that are missing. */
static uint64_t counted(const struct load_facts *f)
{
	static const enum spool_reason drops[] = {
		SPOOL_REASON_buffer_full,  SPOOL_REASON_disk_full,	 SPOOL_REASON_write_error,
		SPOOL_REASON_thread_slots, SPOOL_REASON_reentrant,	 SPOOL_REASON_late,
		SPOOL_REASON_paused,	   SPOOL_REASON_filtered_kernel, SPOOL_REASON_filtered_gpu,
		SPOOL_REASON_max_size,
	};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		n += f->loss[drops[i]].count;
	return n;
}

/* "DISPATCH" for REC_DISPATCH. */
static const char *type_name(uint32_t type)
{
#define X(name) [REC_##name] = #name,
	static const char *const names[REC_NR_TYPES] = { REC_EACH_TYPE(X) };
#undef X
	return type < REC_NR_TYPES && names[type] ? names[type] : "unknown";
}

/* Operations that were submitted, and records that were written, which are neither in the trace nor
 * counted as lost. */
static void add_missing(struct verdict *v, const struct load_facts *f, const struct flow *flow)
{
	uint64_t ops = 0, records = 0, most = 0, missing;
	const struct flow_row *worst = NULL;
	const char *types = "";
	char where[80] = "", text[160];

	for (uint32_t i = 0; i < SPOOL_WRITTEN_TYPES; i++) {
		records += flow_missing_records(flow, i);
		if (flow_missing_records(flow, i))
			types = type_name(i);
	}

	for (size_t i = 0; i < flow->nr; i++) {
		ops += flow_missing(&flow->rows[i]);
		if (flow_missing(&flow->rows[i]) > most) {
			worst = &flow->rows[i];
			most = flow_missing(worst);
		}
	}
	/* a lost record of an operation is missed by both counts */
	missing = ops > records ? ops : records;
	/* chunks that are damaged or in a lost memory half have any number of records */
	if (missing <= counted(f) || f->loss[SPOOL_REASON_bad_chunk].count || f->mem_missing)
		return;
	missing -= counted(f);
	if (worst && worst->queue == SPOOL_NO_QUEUE)
		snprintf(where, sizeof(where), ": of %" PRIu64 " copies %" PRIu64 " are there",
			 worst->submitted, worst->recorded);
	else if (worst)
		snprintf(where, sizeof(where),
			 ": of %" PRIu64 " operations of queue %" PRIu32 " %" PRIu64 " are there",
			 worst->submitted, worst->queue, worst->recorded);
	else
		snprintf(where, sizeof(where), ": records of type %s", types);
	snprintf(text, sizeof(text), "submitted or recorded by the process, and not in the trace%s",
		 where);
	verdict_add(v, f->pid, "unaccounted", LOAD_LOSS, missing, 0, 0, text);
}

/* What librtl and the reader counted. */
static void add_counts(struct verdict *v, const struct load_facts *f)
{
	char name[16];
	char text[64];

	for (unsigned int i = 0; i < SPOOL_MAX_REASONS; i++) {
		const struct load_loss *loss = &f->loss[i];
		const char *known = load_reason_name(i);

		snprintf(name, sizeof(name), "reason%u", i);
		snprintf(text, sizeof(text), "a reason that is unknown to this version");
		verdict_add(v, f->pid, known ? known : name, load_reason_class(i), loss->count,
			    loss->first_ns, loss->last_ns, known ? load_reason_text(i) : text);
	}
}

void verdict_add_part(struct verdict *v, struct index *index)
{
	const struct load_facts *f = load_facts(index_load(index));

	v->nr_processes++;
	add_counts(v, f);
	verdict_add(v, f->pid, "continued", LOAD_NOTE, 1, 0, 0, CONTINUED_TEXT);
}

void verdict_add_trace(struct verdict *v, struct index *index)
{
	const struct load_facts *f = load_facts(index_load(index));
	uint64_t unfinished = f->loss[SPOOL_REASON_unfinished].count;
	bool runs = f->state == LOAD_RUNNING || f->end_kind == SPOOL_END_COPY;

	v->nr_processes++;
	add_counts(v, f);
	/* those that librtl could not count */
	if (index_totals(index)->unfinished > unfinished)
		verdict_add(v, f->pid, load_reason_name(SPOOL_REASON_unfinished), LOAD_NOTE,
			    index_totals(index)->unfinished - unfinished, 0, 0,
			    load_reason_text(SPOOL_REASON_unfinished));
	if (f->window_ns)
		verdict_add(v, f->pid, load_reason_name(SPOOL_REASON_flight_recorder), LOAD_SKIPPED,
			    index_totals(index)->evicted, index_totals(index)->evicted_first_ns,
			    f->window_ns, load_reason_text(SPOOL_REASON_flight_recorder));
	add_missing(v, f, index_flow(index));
	if (f->is_converted)
		verdict_add(v, f->pid, "converted", runs ? LOAD_SKIPPED : LOAD_LOSS,
			    index_totals(index)->evicted, index_totals(index)->evicted_first_ns,
			    index_totals(index)->evicted_last_ns,
			    runs ? CONVERTING_TEXT : CONVERTED_TEXT);
	if (f->mem_missing)
		verdict_add(v, f->pid, "memory_missing", LOAD_LOSS, 1, 0, 0, MEMORY_TEXT);
	if (runs)
		verdict_add(v, f->pid, "running", LOAD_NOTE, 1, 0, 0, RUNNING_TEXT);
	else
		add_end(v, f);
}

/* A HIP call that submits work succeeds only in a process whose HSA runtime is in use, and from it
 * librtl gets the GPUs before the first call returns. */
static bool is_runtime_unseen(const struct load_facts *f, const struct index *index)
{
	size_t nr_agents;

	index_agents(index, &nr_agents);
	return !nr_agents && !f->mem_missing && !f->loss[SPOOL_REASON_bad_chunk].count;
}

void verdict_add_launches(struct verdict *v, struct index *index, uint64_t missing,
			  uint64_t submits)
{
	const struct load_facts *f = load_facts(index_load(index));
	uint64_t explained = 0;

	if (is_runtime_unseen(f, index)) {
		explained = f->loss[SPOOL_REASON_no_tables].count;
		verdict_add(v, f->pid, load_reason_name(SPOOL_REASON_no_tables), LOAD_LOSS,
			    submits > explained ? submits - explained : 0, 0, 0,
			    load_reason_text(SPOOL_REASON_no_tables));
		return;
	}
	/* what is in flight is known when the trace is closed; what HIP's own threads did not
	 * submit by then is not */
	if (f->state != LOAD_CLOSED || f->mem_missing || index_has_links(index))
		return;
	for (unsigned int i = 0; i < SPOOL_MAX_REASONS; i++)
		if (load_reason_class(i) != LOAD_NOTE)
			explained += f->loss[i].count;
	if (missing > explained)
		verdict_add(v, f->pid, "unjoined", LOAD_LOSS, missing - explained, 0, 0,
			    "launches that are recorded without a dispatch");
}

/* The reasons of a class with their counts over all processes, largest first. */
static void list_reasons(const struct verdict *v, enum load_class class, char *out, size_t size)
{
	bool done[VERDICT_MAX] = { false };
	size_t used = 0;

	out[0] = '\0';
	for (;;) {
		uint64_t best = 0;
		const char *name = NULL;
		int n;

		for (size_t i = 0; i < v->nr_rows; i++) {
			uint64_t sum = 0;

			if (done[i] || v->rows[i].class != class)
				continue;
			for (size_t k = 0; k < v->nr_rows; k++) {
				if (v->rows[k].class == class &&
				    strcmp(v->rows[k].reason, v->rows[i].reason) == 0)
					sum += v->rows[k].count;
			}
			if (sum > best) {
				best = sum;
				name = v->rows[i].reason;
			}
		}
		if (!name)
			return;
		for (size_t i = 0; i < v->nr_rows; i++)
			done[i] = done[i] || strcmp(v->rows[i].reason, name) == 0;
		n = snprintf(out + used, size - used, "%s%s %" PRIu64, used ? ", " : "", name,
			     best);
		if (n < 0 || (size_t)n >= size - used) {
			/* no cut words: "..." stands for the reasons that don't fit */
			snprintf(out + used, size - used, used + 5 < size ? ", ..." : "");
			return;
		}
		used += (size_t)n;
	}
}

void verdict_finish(struct verdict *v)
{
	char reasons[128], skipped[192] = "";
	char end[sizeof(v->end) + 2] = "";

	if (v->nr_ended == 1 && v->nr_processes == 1)
		snprintf(end, sizeof(end), "; %s", v->end);
	else if (v->nr_ended)
		snprintf(end, sizeof(end),
			 "; %" PRIu32 " of %" PRIu32 " processes ended without their exit handlers",
			 v->nr_ended, v->nr_processes);
	else if (v->nr_running)
		snprintf(end, sizeof(end), "; still running");
	else if (v->nr_continued)
		snprintf(end, sizeof(end), "; continued in another file");
	if (v->nr_skipped) {
		list_reasons(v, LOAD_SKIPPED, reasons, sizeof(reasons));
		snprintf(skipped, sizeof(skipped), "; %" PRIu64 " left out (%s)", v->nr_skipped,
			 reasons);
	}
	if (v->complete) {
		snprintf(v->line, sizeof(v->line), "complete%s%s", skipped, end);
		return;
	}
	list_reasons(v, LOAD_LOSS, reasons, sizeof(reasons));
	snprintf(v->line, sizeof(v->line), "incomplete: %" PRIu64 " lost (%s)%s%s", v->nr_lost,
		 reasons, skipped, end);
}

static void set_db_error(struct load_error *err, const char *path, sqlite3 *db, const char *todo)
{
	if (err && (!db || !dbfile_explain(path, sqlite3_extended_errcode(db), err->text,
					   sizeof(err->text))))
		snprintf(err->text, sizeof(err->text), "%s: %s%s", path,
			 db ? sqlite3_errmsg(db) : "out of memory", todo);
}

static const char *text_column(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

static int add_loss_rows(struct verdict *v, sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db,
				    "SELECT pid, reason, class, count, first_ns, last_ns, text "
				    "FROM rtl_loss",
				    -1, &stmt, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		verdict_add(v, (uint32_t)sqlite3_column_int64(stmt, 0), text_column(stmt, 1),
			    class_by_name(text_column(stmt, 2)),
			    (uint64_t)sqlite3_column_int64(stmt, 3),
			    (uint64_t)sqlite3_column_int64(stmt, 4),
			    (uint64_t)sqlite3_column_int64(stmt, 5), text_column(stmt, 6));
		rc = SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : -EINVAL;
}

static int query_count(sqlite3 *db, const char *sql, uint64_t *value)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		*value = (uint64_t)sqlite3_column_int64(stmt, 0);
		rc = SQLITE_DONE;
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : -EINVAL;
}

int verdict_of_db(struct verdict *v, const char *path, struct load_error *err)
{
	char name[DBFILE_NAME_SIZE];
	sqlite3 *db = NULL;
	uint64_t nr = 0;
	int ret = 0;

	verdict_init(v);
	if (sqlite3_open_v2(dbfile_to_read(path, name), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
			    NULL) != SQLITE_OK) {
		set_db_error(err, path, db, "");
		ret = -EINVAL;
	} else if (query_count(db, "SELECT count(*) FROM sqlite_master WHERE name = 'rtl_process'",
			       &nr) < 0) {
		set_db_error(err, path, db, "; trace again, or merge from another copy");
		ret = -EINVAL;
	} else if (!nr) {
		v->complete = false;
		snprintf(v->line, sizeof(v->line),
			 "unknown: the file has no rtl_ tables, which "
			 "count losses");
		if (err)
			snprintf(err->text, sizeof(err->text), "%s: %s", path, v->line);
		ret = -ENODATA;
	} else {
		ret = query_count(db, "SELECT count(*) FROM rtl_process", &nr);
		v->nr_processes = (uint32_t)nr;
		if (ret == 0)
			ret = add_loss_rows(v, db);
		if (ret == 0)
			changed_add(v, db, path);
		if (ret < 0)
			set_db_error(err, path, db,
				     "; the file is damaged: write it again from its spools");
		verdict_finish(v);
	}
	sqlite3_close(db);
	return ret;
}
