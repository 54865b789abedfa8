/* SPDX-License-Identifier: MIT */
/* perfetto.c - Chrome JSON: input, output, header, time base
 *
 * Fails:    the output is a temporary file until it is whole; stdout ends where it fails.
 * Not here: events of GPUs (perfetto_gpu.c) and of threads (perfetto_host.c).
 */
#include "export/perfetto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "export/perfetto_internal.h"
#include "rtl_version.h"
#include "store/verdict.h"

#define PROGRESS_ROWS 4096u
#define TEXTS_MAX (8u << 20) /* bytes; then the texts of a kind are made anew */

__attribute__((format(printf, 3, 4))) static int fail(struct rocpd_result *res, int error,
						      const char *fmt, ...)
{
	va_list args;

	/* the first error is the cause, later ones follow from it */
	if (!res->error[0]) {
		va_start(args, fmt);
		vsnprintf(res->error, sizeof(res->error), fmt, args);
		va_end(args);
	}
	return error;
}

/* ---- reading ---- */

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
		    p->opt->progress(p->opt->progress_arg, p->done, p->total) != 0)
			return fail(p->res, -ECANCELED, "%s: stopped", p->path);
		return 1;
	}
	if (rc == SQLITE_DONE)
		return 0;
	if (rc == SQLITE_FULL)
		return fail(p->res, -ENOSPC,
			    "%s: no room to sort its rows; TMPDIR names another place", p->path);
	return fail(p->res, -EIO, "%s: damaged: %s", p->path, sqlite3_errmsg(p->db));
}

static int64_t number(struct perfetto *p, const char *sql, int64_t otherwise)
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

const struct perfetto_process *perfetto_process_of(const struct perfetto *p, int64_t id)
{
	for (size_t i = 0; i < p->nr_processes; i++)
		if (id >= p->processes[i].id_first && id <= p->processes[i].id_last)
			return &p->processes[i];
	return NULL;
}

static int read_processes(struct perfetto *p)
{
	sqlite3_stmt *stmt = NULL;
	int ret;

	if (!p->ours)
		return 0;
	ret = perfetto_prepare(
		p, &stmt,
		"SELECT id, id_first, id_last, pid, coalesce(rank, -1), os_pid, "
		"coalesce(host, ''), coalesce(command, '') FROM rtl_process ORDER BY id");
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
		snprintf(name, sizeof(name), "%s (%spid %lld)", sqlite3_column_text(stmt, 7), rank,
			 (long long)sqlite3_column_int64(stmt, 5));
		grown[p->nr_processes++] = (struct perfetto_process){
			.id = sqlite3_column_int64(stmt, 0),
			.id_first = sqlite3_column_int64(stmt, 1),
			.id_last = sqlite3_column_int64(stmt, 2),
			.pid = sqlite3_column_int64(stmt, 3),
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
		int64_t ns = number(p, any[i], INT64_MAX);

		if (ns < p->base_ns)
			p->base_ns = ns;
	}
	if (p->base_ns == INT64_MAX)
		p->base_ns = 0;
}

static int open_input(struct perfetto *p, const char *file)
{
	if (sqlite3_open_v2(file, &p->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return fail(p->res, -EINVAL, "%s: %s", p->path, sqlite3_errmsg(p->db));
	sqlite3_busy_timeout(p->db, 2000);
	sqlite3_exec(p->db, "PRAGMA cache_size=-16384; PRAGMA temp_store=FILE", NULL, NULL, NULL);
	p->ours = number(p, "SELECT count(*) FROM sqlite_master WHERE name = 'rtl_op_kernel'", 0) >
		  0;
	p->has_ustring =
		number(p, "SELECT count(*) FROM sqlite_master WHERE name = 'rocpd_ustring'", 0) > 0;
	p->total = (uint64_t)number(p, "SELECT count(*) FROM rocpd_op", 0) +
		   (uint64_t)number(p, "SELECT count(*) FROM rocpd_api", 0) +
		   (uint64_t)number(p, "SELECT count(*) FROM rtl_op_runtime", 0);
	find_base(p);
	return read_processes(p);
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
		fail(p->res, -ENOMEM, "%s: out of memory", p->path);
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
	json_key(j, text ? "name" : "sort_index");
	if (text)
		json_text(j, text);
	else
		json_int(j, value);
	json_object_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

static void put_losses(struct json *j, const struct verdict *v)
{
	json_key(j, "losses");
	json_array(j);
	for (size_t i = 0; i < v->nr_rows; i++) {
		json_object(j);
		json_key(j, "pid");
		json_uint(j, v->rows[i].pid);
		put_text(j, "reason", v->rows[i].reason);
		put_text(j, "class", load_class_name(v->rows[i].class));
		json_key(j, "count");
		json_uint(j, v->rows[i].count);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_header(struct perfetto *p, const struct verdict *v)
{
	int64_t rank = p->nr_processes == 1 ? number(p, "SELECT rank FROM rtl_process", -1) : -1;
	struct json *j = &p->json;

	json_object(j);
	put_text(j, "displayTimeUnit", "ns");
	json_key(j, "baseTimeNanoseconds");
	json_int(j, p->base_ns);
	if (rank >= 0) { /* readers of kineto's traces look for it by the text `"rank": N` */
		json_key(j, "distributedInfo");
		json_object(j);
		j->spaced = true;
		json_key(j, "rank");
		json_int(j, rank);
		json_key(j, "world_size");
		json_int(j, number(p, "SELECT world_size FROM rtl_process", 1));
		j->spaced = false;
		json_object_end(j);
	}
	json_key(j, "metadata");
	json_object(j);
	put_text(j, "tool", "rocm-trace-lite");
	put_text(j, "version", RTL_VERSION_STRING);
	json_key(j, "format_version");
	json_int(j, 1);
	put_text(j, "source", p->path);
	put_text(j, "verdict", v->line);
	json_key(j, "complete");
	json_bool(j, v->complete);
	put_losses(j, v);
	json_object_end(j);
	json_bytes(j, ",\n", 2);
	json_bytes(j, "\"traceEvents\":", 14);
	j->after_key = true;
	json_array(j);
	json_bytes(j, "\n", 1);
}

static int write_events(struct perfetto *p, const char *db_path)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	struct load_error error;
	int ret;

	if (!v)
		return fail(p->res, -ENOMEM, "%s: out of memory", p->path);
	verdict_of_db(v, db_path, &error);
	p->res->complete = v->complete;
	p->res->nr_lost = v->nr_lost;
	snprintf(p->res->verdict, sizeof(p->res->verdict), "%s", v->line);
	put_header(p, v);
	alloc_free(v);
	ret = perfetto_host_write(p);
	if (ret == 0)
		ret = perfetto_gpu_write(p);
	json_array_end(&p->json);
	json_object_end(&p->json);
	json_bytes(&p->json, "\n", 1);
	return ret == 0 ? json_flush(&p->json) : ret;
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

static int open_output(struct output *o, const char *out, const struct rocpd_options *opt,
		       struct rocpd_result *res)
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
static int close_output(struct output *o, const char *out, const struct rocpd_options *opt,
			struct rocpd_result *res, int ret)
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
		   const struct rocpd_options *opt, struct rocpd_result *res)
{
	struct perfetto *p = alloc_zero(1, sizeof(*p));
	struct output o;
	int ret;

	if (!p)
		return fail(res, -ENOMEM, "%s: out of memory", path);
	p->path = path;
	p->opt = opt;
	p->res = res;
	ret = open_input(p, db_path);
	if (ret == 0)
		ret = open_output(&o, out, opt, res);
	if (ret == 0) {
		json_init(&p->json, o.gz ? write_gz : write_plain, &o);
		ret = write_events(p, db_path);
		res->nr_ops = p->nr_events;
		ret = close_output(&o, out, opt, res, ret);
	}
	destroy(p);
	return ret;
}

/* What is no database yet becomes one in a temporary file, which is gone afterwards. */
static int convert_through_database(const char *const *inputs, size_t nr, const char *out,
				    const struct rocpd_options *opt, struct rocpd_result *res)
{
	const struct rocpd_options inner = { .force = true,
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
	ret = rocpd_merge(inputs, nr, tmp, &inner, res);
	if (ret == 0)
		ret = convert(inputs[0], tmp, out, opt, res);
	unlink(tmp);
	return ret;
}

int perfetto_write(const char *const *inputs, size_t nr, const char *out,
		   const struct rocpd_options *opt, struct rocpd_result *res)
{
	static const struct rocpd_options defaults;
	enum rocpd_kind kind;
	int ret;

	memset(res, 0, sizeof(*res));
	if (!opt)
		opt = &defaults;
	if (nr == 0)
		return fail(res, -EINVAL, "nothing to convert");
	ret = rocpd_identify(inputs[0], &kind, res->error, sizeof(res->error));
	if (ret < 0)
		return ret;
	if (nr > 1 || kind == ROCPD_KIND_SPOOL)
		return convert_through_database(inputs, nr, out, opt, res);
	if (kind != ROCPD_KIND_OURS && kind != ROCPD_KIND_RPD)
		return fail(res, -EINVAL,
			    "%s: is no trace: neither a database of rtl or RPD nor a raw trace",
			    inputs[0]);
	return convert(inputs[0], inputs[0], out, opt, res);
}
