/* SPDX-License-Identifier: MIT */
/* rpd.c - writes and merges databases: one temporary file, renamed when it is complete
 *
 * Threads:  one.
 * Fails:    the temporary file is removed; OUT and the inputs do not change.
 * Not here: tables (rpd_schema.c), rows (rpd_spool.c, rpd_merge.c).
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/fd.h"
#include "base/temporary.h"
#include "base/testpoint.h"
#include "query/transfer.h"
#include "store/changed.h"

#define PROGRESS_NS UINT64_C(200000000)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int rpd_progress(struct rpd *r, uint64_t done_of_input)
{
	uint64_t now;

	r->done_of_input = done_of_input;
	if (!r->opt->progress)
		return 0;
	now = now_ns();
	if (now - r->progress_ns < PROGRESS_NS)
		return 0;
	r->progress_ns = now;
	if (r->opt->progress(r->opt->progress_arg, r->done + done_of_input, r->total) != 0)
		return rpd_fail(r, -ECANCELED, "%s: stopped; nothing was written", r->out);
	return 0;
}

int rpd_check_stopped(struct rpd *r)
{
	r->progress_ns = 0;
	return rpd_progress(r, r->done_of_input);
}

int64_t rpd_node_of(struct rpd *r, const char *host, const char *boot_id)
{
	struct rpd_node *nodes;
	char key[512];

	snprintf(key, sizeof(key), "%s\n%s", host, boot_id);
	for (size_t i = 0; i < r->nr_nodes; i++) {
		if (strcmp(r->nodes[i].key, key) == 0)
			return (int64_t)i;
	}
	nodes = alloc_resize(r->nodes, r->nr_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	r->nodes = nodes;
	nodes[r->nr_nodes].key = alloc_string(key);
	if (!nodes[r->nr_nodes].key)
		return -ENOMEM;
	return (int64_t)r->nr_nodes++;
}

int rpd_take_trace(struct rpd *r, const char *trace_id, const char *path)
{
	char(*traces)[RPD_TRACE_ID];

	for (size_t i = 0; i < r->nr_traces; i++) {
		if (strcmp(r->traces[i], trace_id) == 0)
			return rpd_fail(r, -EEXIST,
					"%s: contains trace %s, which is in another input, "
					"too: give each trace once",
					path, trace_id);
	}
	traces = alloc_resize(r->traces, r->nr_traces + 1, sizeof(*traces));
	if (!traces)
		return rpd_fail(r, -ENOMEM, "%s: out of memory", path);
	r->traces = traces;
	snprintf(traces[r->nr_traces++], sizeof(*traces), "%s", trace_id);
	return 0;
}

static int check_journals(struct rpd *r)
{
	char error[sizeof(r->res->error)];
	int err = dbfile_check(r->out, error, sizeof(error));

	return err ? rpd_fail(r, err, "%s", error) : 0;
}

/* Checks before any work: OUT exists, or can't be a file. */
static int check_out(struct rpd *r)
{
	struct stat st;

	if (!r->out[0] || strlen(r->out) >= PATH_MAX)
		return rpd_fail(r, -EINVAL, "%s: is not a file name; choose another with -o",
				r->out);
	if (stat(r->out, &st) < 0)
		return check_journals(r);
	if (!S_ISREG(st.st_mode))
		return rpd_fail(r, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
				"%s: is %s, a database can't be written there", r->out,
				S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	if (!r->opt->force && fd_is_taken(r->out))
		return rpd_fail(r, -EEXIST, "%s: exists; use --force to replace it, or -o NAME",
				r->out);
	return check_journals(r);
}

static int rename_output(struct rpd *r)
{
	char journal[PATH_MAX + 64];
	int err = check_journals(r);

	if (err)
		return err;
	/* It is empty. A process that is killed after the file has its name leaves nothing
	 * behind. */
	rpd_copy_journal(r, journal);
	if (r->is_copy)
		temporary_delete(journal);
	else if (r->keeps_state)
		unlink(journal);
	err = temporary_publish(r->tmp, r->out, r->opt->force, job_is_private(r->opt, r->has_args));
	if (err == -EEXIST)
		return rpd_fail(r, -EEXIST,
				"%s: exists: another program made it meanwhile; try again", r->out);
	if (err)
		return rpd_fail(r, err, "%s: the database can't be renamed to it: %s", r->out,
				strerror(-err));
	return 0;
}

int rpd_transaction(struct rpd *r)
{
	int ret = r->in_transaction ? 0 : rpd_db_exec(r, "BEGIN");

	r->in_transaction |= ret == 0;
	return ret;
}

static int commit(struct rpd *r)
{
	int ret = r->in_transaction ? rpd_db_exec(r, "COMMIT") : 0;

	r->in_transaction = false;
	return ret;
}

/* The name of the file until it is complete. */
static void name_file(struct rpd *r)
{
	/* SQLite would take a name that begins with "file:" for a URI */
	const char *front = strncmp(r->out, "file:", 5) ? "" : "./";

	if (r->opt->unfinished && !r->is_copy)
		snprintf(r->tmp, sizeof(r->tmp), "%s", r->opt->unfinished);
	else if (r->part)
		snprintf(r->tmp, sizeof(r->tmp), "%s%s.part-%ld-%u", front, r->out, (long)getpid(),
			 r->part + 1);
	else
		snprintf(r->tmp, sizeof(r->tmp), "%s%s.%s-%ld", front, r->out,
			 r->keeps_state && !r->is_copy ? "part" : "tmp", (long)getpid());
}

static int begin_database(struct rpd *r)
{
	const char *unfinished = r->opt->unfinished;
	int ret = rpd_db_open(r);

	if (ret == 0 && unfinished)
		ret = rpd_state_load(r);
	else if (ret == 0)
		ret = rpd_schema_create(r);
	if (ret == 0 && r->keeps_state && !unfinished)
		ret = rpd_state_create(r);
	if (ret == 0)
		ret = rpd_feed_create(&r->feed, r);
	return ret;
}

static int write_identity(struct rpd *r)
{
	const char *const *pair = r->opt->identity;
	int64_t id = r->next_block * RPD_BLOCK;
	sqlite3_stmt *stmt = NULL;
	int ret;

	if (!pair || !pair[0])
		return 0;
	r->next_block++;
	ret = rpd_db_prepare(r, &stmt, "INSERT INTO rtl_info VALUES (?, NULL, ?, ?)");
	for (; ret == 0 && pair[0] && pair[1]; pair += 2)
		ret = rpd_db_insert(r, stmt, "itt", ++id, pair[0], pair[1]);
	sqlite3_finalize(stmt);
	return ret;
}

/* What changed_add() compares. The counter in the file is final by now: SQLite increments it with
 * the first transaction of a connection that locks the file for itself. */
static int note_rows(struct rpd *r)
{
	int ret = 0;

	for (const char *const *table = changed_tables; *table && ret == 0; table++) {
		int64_t rows = strcmp(*table, "rocpd_op") == 0 ? r->nr_op_rows : r->nr_api_rows;

		/* counting those that were written here takes a minute for each billion */
		if (r->has_merged)
			rows = rpd_db_int(r, 0, "SELECT count(*) FROM %s", *table);
		ret = rpd_db_execf(r,
				   "INSERT INTO rocpd_metadata(tag, value) VALUES "
				   "('" CHANGED_ROWS_TAG "%s', '%lld')",
				   *table, (long long)rows);
	}
	if (ret == 0)
		ret = rpd_db_execf(r,
				   "INSERT INTO rocpd_metadata(tag, value) VALUES "
				   "('" CHANGED_COUNTER_TAG "', '%lld')",
				   (long long)changed_counter(r->tmp) + (r->keeps_state ? 1 : 0));
	return ret;
}

static void count_gpus(struct rpd *r)
{
	r->res->nr_gpus = r->gpus.nr;
	if (r->has_merged)
		r->res->nr_gpus = (uint64_t)
			rpd_db_int(r, 0,
				   "SELECT count(DISTINCT gpuId) FROM rocpd_op WHERE gpuId >= 0");
}

static void free_processes(struct rpd *r)
{
	for (size_t i = 0; i < r->nr_processes; i++)
		rpd_spool_free(r->processes[i]);
	alloc_free(r->processes);
	r->processes = NULL;
	r->nr_processes = 0;
}

static int finish_database(struct rpd *r)
{
	int ret = rpd_spool_finish_rest(r);

	if (ret == 0)
		ret = rpd_transaction(r);
	if (ret == 0)
		ret = write_identity(r);
	if (ret == 0)
		ret = rpd_db_execf(r,
				   "INSERT INTO rocpd_metadata(tag, value) VALUES "
				   "('session_count', '%lld')",
				   (long long)r->next_block);
	if (ret == 0 && r->has_merged)
		ret = rpd_split_join(r);
	if (ret == 0 && r->res->nr_processes > 1)
		ret = rpd_meta_tell_apart(r);
	RTL_TESTPOINT("rpd_indexes");
	if (ret == 0)
		ret = rpd_schema_finish(r);
	if (ret == 0 && r->has_merged && !r->has_args)
		r->has_args = query_number(r->db, QUERY_HAS_ARGS_OURS, 1) != 0;
	/* note_rows() reads the counter that this writes. With a journal every commit increments
	 * it, also the last one, which has to be a single one: a file that can't be continued is
	 * complete */
	if (ret == 0 && !r->keeps_state)
		ret = commit(r);
	if (ret == 0)
		ret = note_rows(r);
	if (ret == 0 && r->keeps_state)
		ret = rpd_state_drop(r);
	if (ret == 0)
		ret = commit(r);
	count_gpus(r);
	rpd_feed_destroy(r->feed);
	r->feed = NULL;
	free_processes(r);
	if (ret == 0 && sqlite3_close(r->db) != SQLITE_OK)
		ret = rpd_db_fail(r, r->out);
	if (ret == 0) {
		r->db = NULL;
		ret = rpd_check_stopped(r);
	}
	RTL_TESTPOINT("rpd_closed");
	if (ret == 0)
		ret = rename_output(r);
	return ret;
}

static void free_job(struct rpd *r, int ret)
{
	struct job_result *res = r->res;
	char journal[PATH_MAX + 64];

	rpd_feed_destroy(r->feed);
	free_processes(r);
	rpd_db_close(r);
	if (ret < 0 && r->tmp[0] && (!r->keeps_state || r->is_copy))
		temporary_delete(r->tmp);
	if (ret < 0 && r->tmp[0] && r->is_copy) {
		rpd_copy_journal(r, journal);
		temporary_delete(journal);
	}
	if (ret < 0 && !res->error[0])
		snprintf(res->error, sizeof(res->error), "%s: %s", r->out, strerror(-ret));
	verdict_finish(&r->verdict);
	job_verdict(res, &r->verdict);
	for (size_t i = 0; i < r->nr_nodes; i++)
		alloc_free(r->nodes[i].key);
	alloc_free(r->nodes);
	alloc_free(r->traces);
	map_fini(&r->gpus);
	alloc_free(r);
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static int add_input(struct rpd *r, const char *path, bool spools_only)
{
	enum identify_kind kind = IDENTIFY_SPOOL;
	char error[sizeof(r->res->error)];
	int ret = 0;

	if (!spools_only)
		ret = identify_file(path, &kind, error, sizeof(error));
	if (ret < 0)
		return rpd_fail(r, ret, "%s", error);
	switch (kind) {
	case IDENTIFY_OURS:
	case IDENTIFY_RPD:
		ret = commit(r); /* it attaches the file */
		if (ret == 0)
			ret = rpd_merge_add(r, path, kind);
		break;
	case IDENTIFY_SQLITE:
		ret = rpd_fail(r, -EINVAL,
			       "%s: is an SQLite database without the tables of a trace (rocpd_op, "
			       "rocpd_api): give databases of rtl or RPD, or spools",
			       path);
		break;
	default:
		/* reports the error if it isn't a spool either */
		ret = rpd_spool_add(r, path);
		break;
	}
	r->done += file_size(path);
	r->done_of_input = 0;
	return ret;
}

/* A job that has not begun. */
static struct rpd *new_job(const char *out, const struct job_options *opt, struct job_result *res)
{
	static const struct job_options defaults;
	struct rpd *r = alloc_zero(1, sizeof(*r));

	memset(res, 0, sizeof(*res));
	if (!r) {
		snprintf(res->error, sizeof(res->error), "%s: out of memory", out);
		return NULL;
	}
	r->out = out;
	r->opt = opt ? opt : &defaults;
	r->res = res;
	r->keeps_state = r->opt->unfinished != NULL;
	r->is_copy = r->keeps_state && r->opt->keeps_unfinished;
	verdict_init(&r->verdict);
	return r;
}

/* copies and fills that HIP made with kernels */
#define BY_KERNELS                                                                                                 \
	"SELECT count(*) FROM rocpd_op WHERE description_id IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_BLIT( \
		"string") ")"

/* What the job would have counted. */
static void count_rows(struct rpd *r)
{
	struct job_result *res = r->res;
	const struct {
		uint64_t *number;
		const char *sql;
	} all[] = {
		{ &res->nr_processes, "SELECT count(*) FROM rtl_process" },
		{ &res->nr_dispatches,
		  "SELECT (SELECT count(*) FROM rtl_op_kernel) - (" BY_KERNELS ")" },
		{ &res->nr_copies, "SELECT (SELECT count(*) FROM rtl_op_copy) + (" BY_KERNELS ")" },
		{ &res->nr_apis, "SELECT count(*) FROM rtl_api_data" },
		{ &res->nr_markers, "SELECT count(*) FROM rtl_marker_data" },
		{ &res->nr_ops, "SELECT count(*) FROM rocpd_op" },
		{ &res->first_ns, "SELECT min(first_ns) FROM rtl_process WHERE first_ns" },
		{ &res->last_ns, "SELECT max(last_ns) FROM rtl_process" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		*all[i].number = (uint64_t)rpd_db_int(r, 0, "%s", all[i].sql);
	r->has_merged = true;
	count_gpus(r);
}

/* The unfinished database has all its rows: the process that wrote it ended before it gave it its
 * name. */
static int name_complete(struct rpd *r, const char *const *inputs, size_t nr)
{
	struct load_error error = { "" };
	int ret = rpd_db_open(r);

	if (ret == 0 && r->is_copy)
		ret = rpd_copy_check(r, inputs, nr);
	if (ret < 0)
		return ret;
	count_rows(r);
	r->has_args = query_number(r->db, QUERY_HAS_ARGS_OURS, 1) != 0;
	rpd_db_close(r);
	ret = verdict_of_db(&r->verdict, r->tmp, &error);
	return ret < 0 ? rpd_fail(r, ret, "%s", error.text) : rename_output(r);
}

static int write_inputs(const char *const *inputs, size_t nr, const char *out,
			const struct job_options *opt, struct job_result *res, bool spools_only)
{
	struct rpd *r = new_job(out, opt, res);
	int ret;

	if (!r)
		return -ENOMEM;
	ret = check_out(r);
	if (ret == 0)
		name_file(r);
	r->is_compact = !r->opt->rows &&
			(r->keeps_state || spools_only || rpd_merge_is_compact(inputs, nr));
	if (ret == 0 && r->is_copy)
		ret = rpd_copy(r, r->opt->unfinished);
	if (ret == 0 && r->keeps_state && !rpd_grow_is_unfinished(r->tmp)) {
		ret = name_complete(r, inputs, nr);
		free_job(r, ret);
		return ret;
	}
	for (size_t i = 0; i < nr; i++)
		r->total += file_size(inputs[i]);
	if (ret == 0)
		ret = begin_database(r);
	if (ret == 0 && r->is_copy)
		ret = rpd_copy_check(r, inputs, nr);
	RTL_TESTPOINT("rpd_begun");
	for (size_t i = 0; i < nr && ret == 0; i++) {
		ret = rpd_check_stopped(r);
		if (ret == 0)
			ret = add_input(r, inputs[i], spools_only);
		if (ret == 0 && !r->keeps_state)
			ret = commit(r);
	}
	if (ret == 0)
		ret = finish_database(r);
	free_job(r, ret);
	return ret;
}

/* Ends the job; nothing is to continue with its file. */
static void abandon(struct rpd *r, int ret)
{
	char tmp[sizeof(r->tmp)];

	snprintf(tmp, sizeof(tmp), "%s", r->opt->unfinished ? "" : r->tmp);
	free_job(r, ret);
	if (tmp[0])
		unlink(tmp);
}

static int grow(struct rpd **out, const char *path, uint32_t part, const struct job_options *opt,
		struct job_result *res)
{
	struct rpd *r = new_job(path, opt, res);
	int ret;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->keeps_state = true;
	r->is_compact = true;
	r->part = part;
	ret = check_out(r);
	if (ret == 0) {
		name_file(r);
		ret = begin_database(r);
	}
	if (ret == 0)
		ret = rpd_grow_commit(r);
	if (ret < 0)
		abandon(r, ret);
	else
		*out = r;
	return ret;
}

int rpd_grow(struct rpd **out, const char *path, const struct job_options *opt,
	     struct job_result *res)
{
	return grow(out, path, 0, opt, res);
}

const char *rpd_grow_file(const struct rpd *r)
{
	return r->tmp;
}

int rpd_grow_add(struct rpd *r, const char *spool)
{
	return rpd_spool_part(r, spool);
}

int rpd_grow_commit(struct rpd *r)
{
	int ret = rpd_transaction(r);

	if (ret == 0)
		ret = rpd_state_save(r);
	return ret == 0 ? commit(r) : ret;
}

uint64_t rpd_grow_offset(const struct rpd *r, const char *spool)
{
	for (size_t i = 0; i < r->nr_processes; i++)
		if (strcmp(r->processes[i]->path, spool) == 0)
			return r->processes[i]->past.offset;
	return 0;
}

void rpd_grow_end(struct rpd *r)
{
	free_job(r, -ECANCELED);
}

uint32_t rpd_grow_part(const struct rpd *r)
{
	return r->part + 1;
}

int rpd_grow_split(struct rpd *r, struct rpd **next, const struct job_options *opt,
		   struct job_result *res)
{
	int ret = grow(next, r->out, r->part + 1, opt, res);

	if (ret < 0)
		return ret;
	r->is_split = true;
	ret = rpd_spool_split(r, *next);
	if (ret == 0)
		ret = rpd_grow_commit(*next);
	if (ret < 0) {
		abandon(*next, ret);
		*next = NULL;
	}
	return ret;
}

int rpd_grow_finish(struct rpd *r, const char *path)
{
	int ret;

	r->out = path;
	ret = finish_database(r);
	free_job(r, ret);
	return ret;
}

int rpd_write(const char *const *spools, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res)
{
	return write_inputs(spools, nr, out, opt, res, true);
}

int rpd_publish(const char *path, const char *const *inputs, size_t nr, const char *name,
		const struct job_options *opt, struct job_result *res)
{
	struct job_options own = *opt;
	struct rpd *r;
	int ret;

	own.unfinished = path;
	own.keeps_unfinished = true;
	r = new_job(name, &own, res);
	if (!r)
		return -ENOMEM;
	ret = check_out(r);
	if (ret == 0) {
		name_file(r);
		ret = rpd_copy(r, path);
	}
	if (ret == 0)
		ret = rpd_grow_is_unfinished(r->tmp) ? -EAGAIN : name_complete(r, inputs, nr);
	free_job(r, ret);
	return ret;
}

int rpd_merge(const char *const *inputs, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res)
{
	return write_inputs(inputs, nr, out, opt, res, false);
}
