/* SPDX-License-Identifier: MIT */
/* perfetto_file.c - input and output of the writers of Chrome JSON, and what their events share
 *
 * Fails:    the output is a temporary file until it is whole; stdout ends where it fails.
 * Not here: events of GPUs (perfetto_gpu.c) and of threads (perfetto_host.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "export/export_cause.h"
#include "export/perfetto_internal.h"

#define PROGRESS_ROWS 4096u
#define TEXTS_MAX (8u << 20) /* bytes; then the texts of a kind are made anew */

static int fail_va(struct rpd_result *res, int error, const char *fmt, va_list args)
{
	/* the first error is the cause, later ones follow from it */
	if (!res->error[0])
		vsnprintf(res->error, sizeof(res->error), fmt, args);
	return error;
}

__attribute__((format(printf, 3, 4))) static int fail(struct rpd_result *res, int error,
						      const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error = fail_va(res, error, fmt, args);
	va_end(args);
	return error;
}

int perfetto_fail(struct perfetto *p, int error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error = fail_va(p->res, error, fmt, args);
	va_end(args);
	return error;
}

/* ---- reading ---- */

int perfetto_fail_sql(struct perfetto *p)
{
	int rc = sqlite3_extended_errcode(p->db);

	if (rc == SQLITE_FULL || rc == SQLITE_IOERR_WRITE)
		return fail(p->res, -ENOSPC,
			    "%s: no room to sort its rows: %s; TMPDIR names another place", p->path,
			    sqlite3_errmsg(p->db));
	if (rc == SQLITE_NOMEM)
		return fail(p->res, -ENOMEM, "%s: out of memory", p->path);
	return fail(p->res, -EIO, "%s: damaged: %s", p->path, sqlite3_errmsg(p->db));
}

int perfetto_prepare(struct perfetto *p, sqlite3_stmt **stmt, const char *sql)
{
	if (sqlite3_prepare_v2(p->db, sql, -1, stmt, NULL) == SQLITE_OK)
		return 0;
	return fail(p->res, -EINVAL, "%s: can't be read as a trace: %s", p->path,
		    sqlite3_errmsg(p->db));
}

int perfetto_step(struct perfetto *p, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (p->json.error)
		return p->json.error;
	if (rc == SQLITE_ROW) {
		if (++p->done % PROGRESS_ROWS == 0 && p->opt->progress &&
		    p->opt->progress(p->opt->progress_arg, p->done < p->total ? p->done : p->total,
				     p->total) != 0)
			return fail(p->res, -ECANCELED, "%s: stopped", p->path);
		return 1;
	}
	return rc == SQLITE_DONE ? 0 : perfetto_fail_sql(p);
}

int perfetto_run(struct perfetto *p, const char *sql)
{
	return sqlite3_exec(p->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : perfetto_fail_sql(p);
}

int64_t perfetto_number(struct perfetto *p, const char *sql, int64_t otherwise)
{
	int64_t value = otherwise;
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(p->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return otherwise;
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

const char *perfetto_column_text(sqlite3_stmt *row, int i)
{
	const unsigned char *text = row ? sqlite3_column_text(row, i) : NULL;

	return text ? (const char *)text : "";
}

const struct perfetto_process *perfetto_process_of(const struct perfetto *p, int64_t id)
{
	for (size_t i = 0; i < p->nr_processes; i++)
		if (id >= p->processes[i].id_first && id <= p->processes[i].id_last)
			return &p->processes[i];
	return NULL;
}

static const char processes_sql[] =
	"SELECT P.id, id_first, id_last, pid, coalesce(rank, -1), os_pid, coalesce(host, ''), "
	"coalesce(command, ''), coalesce(world_size, -1), coalesce((SELECT realtime_ns - system_ns "
	"FROM rtl_clock C WHERE C.process_id = P.id AND agent_id IS NULL ORDER BY system_ns LIMIT 1), "
	"0), coalesce(first_ns, 0) FROM rtl_process P ORDER BY P.id";

static int read_processes(struct perfetto *p)
{
	sqlite3_stmt *stmt = NULL;
	int ret;

	if (!p->ours)
		return 0;
	ret = perfetto_prepare(p, &stmt, processes_sql);
	while (ret == 0 && (ret = perfetto_step(p, stmt)) == 1) {
		struct perfetto_process *grown =
			alloc_resize(p->processes, p->nr_processes + 1, sizeof(*grown));
		char name[512], rank[32] = "";

		if (!grown) {
			ret = fail(p->res, -ENOMEM, "%s: out of memory", p->path);
			break;
		}
		p->processes = grown;
		if (sqlite3_column_int64(stmt, 4) >= 0)
			snprintf(rank, sizeof(rank), "rank %lld, ",
				 (long long)sqlite3_column_int64(stmt, 4));
		if (snprintf(name, sizeof(name) - 64, "%s", perfetto_column_text(stmt, 7)) >=
		    (int)sizeof(name) - 64)
			memcpy(name + sizeof(name) - 68, "...", 4);
		snprintf(name + strlen(name), 64, " (%spid %lld)", rank,
			 (long long)sqlite3_column_int64(stmt, 5));
		grown[p->nr_processes++] = (struct perfetto_process){
			.id = sqlite3_column_int64(stmt, 0),
			.id_first = sqlite3_column_int64(stmt, 1),
			.id_last = sqlite3_column_int64(stmt, 2),
			.pid = sqlite3_column_int64(stmt, 3),
			.rank = sqlite3_column_int64(stmt, 4),
			.world_size = sqlite3_column_int64(stmt, 8),
			.realtime_ns = sqlite3_column_int64(stmt, 9),
			.first_ns = sqlite3_column_int64(stmt, 10),
			.name = alloc_string(name),
		};
		ret = 0;
	}
	sqlite3_finalize(stmt);
	return ret;
}

/* The earliest begin of all that becomes an event. */
static void find_base(struct perfetto *p)
{
	static const char *const any[] = {
		"SELECT min(start) FROM rocpd_op WHERE start > 0",
		"SELECT min(start) FROM rocpd_api WHERE start > 0",
		"SELECT min(begin_ns) FROM rtl_op_runtime WHERE begin_ns > 0",
		"SELECT min(begin_ns) FROM rtl_op_barrier WHERE begin_ns > 0",
	};

	p->base_ns = INT64_MAX;
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		int64_t ns = perfetto_number(p, any[i], INT64_MAX);

		if (ns < p->base_ns)
			p->base_ns = ns;
	}
	if (p->base_ns == INT64_MAX)
		p->base_ns = 0;
	p->first_ns = p->base_ns;
}

static int open_input(struct perfetto *p, const char *file)
{
	int ret;

	if (sqlite3_open_v2(file, &p->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return fail(p->res, -EINVAL, "%s: %s", p->path, sqlite3_errmsg(p->db));
	sqlite3_busy_timeout(p->db, 2000);
	sqlite3_exec(p->db, "PRAGMA cache_size=-16384; PRAGMA temp_store=FILE", NULL, NULL, NULL);
	p->ours = export_cause_has(p->db, "rtl_op_kernel");
	p->has_ustring = export_cause_has(p->db, "rocpd_ustring");
	p->total = 2 * (uint64_t)perfetto_number(p, "SELECT count(*) FROM rocpd_op", 0) +
		   (uint64_t)perfetto_number(p, "SELECT count(*) FROM rocpd_api", 0) +
		   (uint64_t)perfetto_number(p, "SELECT count(*) FROM rtl_op_runtime", 0);
	find_base(p);
	ret = read_processes(p);
	return ret == 0 ? perfetto_rows_prepare(p) : ret;
}

/* ---- texts that are made once ---- */

struct memory {
	char *bytes;
	size_t size;
};

static int to_memory(void *arg, const char *bytes, size_t size)
{
	struct memory *m = arg;
	char *grown = alloc_resize(m->bytes, m->size + size, 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + m->size, bytes, size);
	m->bytes = grown;
	m->size += size;
	return 0;
}

const struct perfetto_text *perfetto_text(struct perfetto *p, struct perfetto_texts *texts,
					  int64_t key, sqlite3_stmt *stmt, perfetto_make_fn make)
{
	struct perfetto_text *grown;
	struct memory m = { NULL, 0 };
	uint64_t index;
	struct json *j;

	if (map_get(&texts->index, (uint64_t)key, &index))
		return &texts->texts[index];
	if (texts->size > TEXTS_MAX) {
		perfetto_texts_fini(texts);
		memset(texts, 0, sizeof(*texts));
	}
	j = alloc_heap(sizeof(*j));
	grown = alloc_resize(texts->texts, texts->nr + 1, sizeof(*grown));
	if (grown)
		texts->texts = grown;
	if (j && grown) {
		json_init(j, to_memory, &m);
		sqlite3_reset(stmt);
		sqlite3_bind_int64(stmt, 1, key);
		make(j, sqlite3_step(stmt) == SQLITE_ROW ? stmt : NULL);
	}
	if (!j || !grown || json_flush(j) || map_put(&texts->index, (uint64_t)key, texts->nr)) {
		perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
		alloc_free(j);
		alloc_free(m.bytes);
		return NULL;
	}
	alloc_free(j);
	texts->size += m.size + sizeof(*grown);
	texts->texts[texts->nr] = (struct perfetto_text){ m.bytes, m.size };
	return &texts->texts[texts->nr++];
}

void perfetto_texts_fini(struct perfetto_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		alloc_free(texts->texts[i].json);
	alloc_free(texts->texts);
	map_fini(&texts->index);
}

int perfetto_put_text(struct perfetto *p, struct perfetto_texts *texts, int64_t key,
		      sqlite3_stmt *stmt, perfetto_make_fn make, bool members)
{
	const struct perfetto_text *text = perfetto_text(p, texts, key, stmt, make);

	if (!text)
		return -ENOMEM;
	if (text->size || !members)
		json_raw(&p->json, text->json, text->size);
	return 0;
}

void perfetto_make_string(struct json *j, sqlite3_stmt *row)
{
	json_text(j, perfetto_column_text(row, 0));
}

void perfetto_make_call(struct json *j, sqlite3_stmt *row)
{
	const char *name = perfetto_column_text(row, 0), *rest = name;

	while (*rest == '_')
		rest++;
	json_key(j, "cat");
	json_text(j, strncmp(rest, "hip", 3) == 0  ? "hip_api" :
		     strncmp(rest, "hsa_", 4) == 0 ? "hsa_api" :
						     "api");
	json_key(j, "name");
	json_text(j, *name ? name : "unnamed");
}

/* ---- events ---- */

void perfetto_event(struct perfetto *p, const char *phase, int64_t pid, int64_t tid, int64_t ns)
{
	struct json *j = &p->json;

	/* one event on a line: the file can be looked through with grep */
	json_object(j);
	JSON_KEY(j, "ph");
	json_text(j, phase);
	JSON_KEY(j, "pid");
	json_int(j, pid);
	JSON_KEY(j, "tid");
	json_int(j, tid);
	JSON_KEY(j, "ts");
	json_us(j, ns - p->base_ns);
	p->nr_events++;
}

void perfetto_call(struct perfetto *p, const int64_t *row, const char *phase, int64_t ns,
		   int64_t dur)
{
	struct json *j = &p->json;

	perfetto_event(p, phase, row[CALL_PID], row[CALL_TID], ns);
	if (*phase == 'X') {
		JSON_KEY(j, "dur");
		json_us(j, dur);
	} else if (*phase == 'i') {
		JSON_KEY(j, "s");
		json_text(j, "t");
	} else {
		PERFETTO_NUMBER(j, "id", row[CALL_ID]);
	}
}

void perfetto_event_end(struct perfetto *p)
{
	json_object_end(&p->json);
	json_bytes(&p->json, "\n", 1);
}

void perfetto_meta(struct perfetto *p, const char *what, int64_t pid, int64_t tid, const char *text,
		   int64_t value)
{
	struct json *j = &p->json;

	json_object(j);
	json_key(j, "ph");
	json_text(j, "M");
	json_key(j, "pid");
	json_int(j, pid);
	json_key(j, "tid");
	json_int(j, tid);
	json_key(j, "name");
	json_text(j, what);
	json_key(j, "args");
	json_object(j);
	json_key(j, !text ? "sort_index" : strcmp(what, "process_labels") ? "name" : "labels");
	if (text)
		json_text(j, text);
	else
		json_int(j, value);
	json_object_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
}

/* ---- output ---- */
struct output {
	int fd;
	gzFile gz;	     /* NULL: plain */
	char tmp[4096 + 32]; /* "" for stdout */
};

static int write_plain(void *arg, const char *bytes, size_t size)
{
	struct output *o = arg;

	while (size) {
		ssize_t n = write(o->fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_gz(void *arg, const char *bytes, size_t size)
{
	struct output *o = arg;

	if (gzwrite(o->gz, bytes, (unsigned int)size) == (int)size)
		return 0;
	return errno ? -errno : -EIO;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static int open_output(struct output *o, const char *out, const struct rpd_options *opt,
		       struct rpd_result *res)
{
	struct stat st;

	*o = (struct output){ .fd = STDOUT_FILENO };
	if (strcmp(out, "-") == 0)
		return 0;
	if (strlen(out) >= 4096)
		return fail(res, -ENAMETOOLONG, "%s: the name is too long", out);
	if (stat(out, &st) == 0 && !S_ISREG(st.st_mode))
		return fail(res, -EINVAL, "%s: is no plain file", out);
	if (!opt->force && access(out, F_OK) == 0)
		return fail(res, -EEXIST,
			    "%s: exists; --force replaces it, -o NAME writes elsewhere", out);
	snprintf(o->tmp, sizeof(o->tmp), "%s.tmp-%ld", out, (long)getpid());
	o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd < 0)
		return fail(res, -errno, "%s: can't be written: %s", out, strerror(errno));
	if (ends_with(out, ".gz")) {
		/* level 3: half the time of the default for a tenth more bytes */
		o->gz = gzdopen(o->fd, "wb3");
		if (!o->gz) {
			close(o->fd);
			unlink(o->tmp);
			return fail(res, -ENOMEM, "%s: out of memory", out);
		}
		gzbuffer(o->gz, 256 * 1024);
	}
	return 0;
}

/* Ends the output; gives it its name, or removes it when `ret` is an error. */
static int close_output(struct output *o, const char *out, const struct rpd_options *opt,
			struct rpd_result *res, int ret)
{
	if (o->fd == STDOUT_FILENO)
		return ret == 0 || ret == -EPIPE ?
			       ret :
			       fail(res, ret, "standard output: %s", strerror(-ret));
	errno = 0;
	if (o->gz ? gzclose(o->gz) != Z_OK : close(o->fd) != 0)
		ret = ret ? ret : errno ? -errno : -EIO;
	if (ret == 0 && !opt->force && access(out, F_OK) == 0)
		ret = fail(res, -EEXIST, "%s: exists; it was made meanwhile", out);
	if (ret == 0 && rename(o->tmp, out))
		ret = -errno;
	if (ret == 0)
		return 0;
	unlink(o->tmp);
	return fail(res, ret, "%s: can't be written: %s", out, strerror(-ret));
}

int perfetto_output(struct perfetto *p, const char *out,
		    int (*events)(struct perfetto *p, const char *db_path), const char *db_path)
{
	struct output o;
	int ret = open_output(&o, out, p->opt, p->res);

	if (ret)
		return ret;
	json_init(&p->json, o.gz ? write_gz : write_plain, &o);
	ret = events(p, db_path);
	if (ret == 0)
		ret = json_flush(&p->json);
	p->res->nr_ops = p->nr_events;
	return close_output(&o, out, p->opt, p->res, ret);
}

/* ---- the whole ---- */

static void destroy(struct perfetto *p)
{
	for (size_t i = 0; i < p->nr_processes; i++)
		alloc_free(p->processes[i].name);
	alloc_free(p->processes);
	sqlite3_close(p->db);
	alloc_free(p);
}

static int convert(const char *path, const char *db_path, const char *out,
		   const struct rpd_options *opt, struct rpd_result *res, perfetto_write_fn write)
{
	struct perfetto *p = alloc_zero(1, sizeof(*p));
	int ret;

	if (!p)
		return fail(res, -ENOMEM, "%s: out of memory", path);
	p->path = path;
	p->opt = opt;
	p->res = res;
	ret = open_input(p, db_path);
	if (ret == 0)
		ret = write(p, db_path, out);
	destroy(p);
	return ret;
}

/* What is no database yet becomes one in a temporary file, which is gone afterwards. */
static int convert_through_database(const char *const *inputs, size_t nr, const char *out,
				    const struct rpd_options *opt, struct rpd_result *res,
				    perfetto_write_fn write)
{
	const struct rpd_options inner = { .force = true,
					   .progress = opt->progress,
					   .progress_arg = opt->progress_arg };
	const char *dir = getenv("TMPDIR");
	char tmp[4096];
	int fd, ret;

	snprintf(tmp, sizeof(tmp), "%s/rtl-XXXXXX.db", dir && *dir ? dir : "/tmp");
	fd = mkstemps(tmp, 3);
	if (fd < 0)
		return fail(res, -errno, "%s: %s; TMPDIR names another place", tmp,
			    strerror(errno));
	close(fd);
	ret = rpd_merge(inputs, nr, tmp, &inner, res);
	if (ret == 0)
		ret = convert(inputs[0], tmp, out, opt, res, write);
	unlink(tmp);
	return ret;
}

int perfetto_convert(const char *const *inputs, size_t nr, const char *out,
		     const struct rpd_options *opt, struct rpd_result *res, perfetto_write_fn write)
{
	static const struct rpd_options defaults;
	enum rpd_kind kind;
	int ret;

	memset(res, 0, sizeof(*res));
	if (!opt)
		opt = &defaults;
	if (nr == 0)
		return fail(res, -EINVAL, "nothing to convert");
	ret = rpd_identify(inputs[0], &kind, res->error, sizeof(res->error));
	if (ret < 0)
		return ret;
	if (nr > 1 || kind == RPD_KIND_SPOOL)
		return convert_through_database(inputs, nr, out, opt, res, write);
	if (kind != RPD_KIND_OURS && kind != RPD_KIND_RPD)
		return fail(res, -EINVAL,
			    "%s: is no trace: neither a database of rtl or RPD nor a raw trace",
			    inputs[0]);
	return convert(inputs[0], inputs[0], out, opt, res, write);
}
