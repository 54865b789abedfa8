/* SPDX-License-Identifier: MIT */
/* fleet_duckdb.c - DuckDB as an engine: its command, or its library, which is loaded when used
 *
 * Both get the same text: views of the tables of some ranks after the other, what the question
 * wants of them, and COPY of its rows to a temporary file, since the formats of the command and the
 * functions of the library differ between releases.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "fleet/fleet_ask.h"

#define COMMAND "duckdb"
#define LIBRARY "libduckdb.so"
#define BATCH_ROWS UINT64_C(2000000)

/* ---- the text ---- */

static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text, out);
	}
}

/* What [ ? and * mean in patterns is not meant in a name of the user's. */
static bool is_plain(const char *path)
{
	return !strpbrk(path, "*?[{\\");
}

/* Some ranks of a set, from the first up to `end`. */
struct batch {
	size_t first, end;
	const char *types; /* of the columns that folders' names are; "": as DuckDB finds them */
};

static void put_view(FILE *out, const struct fleet_set *set, const char *table,
		     const struct batch *b)
{
	bool listed = b->end - b->first < set->nr || set->nr_asked < set->nr || !is_plain(set->dir);
	int newest = fleet_set_newest(set, b->first, b->end);
	const char *comma = "";

	fprintf(out, "CREATE %sTEMP VIEW %s AS SELECT *", *b->types ? "OR REPLACE " : "", table);
	for (const struct fleet_added *a = fleet_added; a->table; a++)
		if (strcmp(a->table, table) == 0 && newest < a->since)
			fprintf(out, ", CAST(NULL AS %s) AS %s", a->is_text ? "VARCHAR" : "BIGINT",
				a->name);
	fputs(" FROM read_parquet(", out);
	if (listed) {
		fputc('[', out);
		for (size_t i = b->first; i < b->end; i++) {
			if (!fleet_set_asks(&set->ranks[i]))
				continue;
			fprintf(out, "%s'", comma);
			put_quoted(out, set->dir);
			fprintf(out, "/%s/%s.parquet'", set->ranks[i].folder, table);
			comma = ", ";
		}
		fputc(']', out);
	} else {
		fputc('\'', out);
		put_quoted(out, set->dir);
		fprintf(out, "/job=*/rank=*/%s.parquet'", table);
	}
	fprintf(out, ", hive_partitioning = true%s%s);\n", b->types,
		set->is_mixed ? ", union_by_name = true" : "");
}

static void put_views(FILE *out, const struct fleet_set *set, const struct fleet_question *q,
		      const struct batch *b)
{
	for (size_t i = 0; i < FLEET_TABLES; i++)
		if (!q || fleet_question_uses(q, fleet_tables[i]))
			put_view(out, set, fleet_tables[i], b);
}

char *fleet_duckdb_views(const struct fleet_set *set, const struct fleet_question *q)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	const struct batch all = { .end = set->nr, .types = "" };

	if (!out)
		return NULL;
	put_views(out, set, q, &all);
	fclose(out);
	return text;
}

/* ---- batches ---- */

/* Rows that a question reads of a rank. */
static uint64_t rows_of(const struct fleet_rank *r, const struct fleet_question *q)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < FLEET_TABLES && fleet_set_asks(r); i++)
		if (fleet_question_uses(q, fleet_tables[i]))
			rows += r->rows[i];
	return rows;
}

static uint64_t batch_rows(void)
{
#ifdef RTL_DEBUG_CHECKS
	const char *text = getenv("RTL_TEST_BATCH");

	if (text)
		return strtoull(text, NULL, 10);
#endif
	return BATCH_ROWS;
}

/* The next ranks, at least one, which have at most so many rows together; false: there are no
 * more. */
static bool next_batch(const struct fleet_set *set, const struct fleet_question *q, struct batch *b)
{
	uint64_t rows = 0, most = batch_rows();

	b->first = b->end;
	while (b->first < set->nr && !fleet_set_asks(&set->ranks[b->first]))
		b->first++;
	for (b->end = b->first; b->end < set->nr; b->end++) {
		rows += rows_of(&set->ranks[b->end], q);
		if (b->end > b->first && rows > most)
			break;
	}
	return b->first < set->nr;
}

/* What a question wants of each rank, as the table `part`: sorts of all ranks at once would be as
 * large as the data set. */
static void put_part(FILE *out, const struct fleet_set *set, const struct fleet_question *q)
{
	struct batch b = { .types = ", hive_types = {'job': BIGINT, 'rank': BIGINT}" };
	const char *into = "CREATE TEMP TABLE part AS";
	int64_t number;

	for (size_t i = 0; i < set->nr; i++)
		if (fleet_set_asks(&set->ranks[i]) && !fleet_set_number(set->ranks[i].job, &number))
			b.types = ", hive_types = {'job': VARCHAR, 'rank': BIGINT}";
	while (next_batch(set, q, &b)) {
		put_views(out, set, q, &b);
		fprintf(out, "%s %s;\n", into, q->part);
		into = "INSERT INTO part";
	}
}

/* The whole script, whose rows go to the file `to`. `tmp`: where large sorts are put. */
static char *make_script(const struct fleet_set *set, const struct fleet_question *q,
			 const char *tmp, const char *to)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		fputs("SET temp_directory = '", out);
		put_quoted(out, tmp);
		fputs("';\n", out);
		put_part(out, set, q);
		fprintf(out, "COPY (\n%s\n) TO '", q->rest);
		put_quoted(out, to);
		fputs("' (FORMAT csv, HEADER false, FORCE_QUOTE *, NULLSTR '');\n", out);
		fclose(out);
	}
	return text;
}

/* ---- the library ---- */

/* As its header has them since 1.0; a result has 48 bytes there. */
typedef struct {
	uint64_t words[16];
} duckdb_result;

static struct {
	int (*open)(const char *path, void **db);
	int (*connect)(void *db, void **connection);
	int (*query)(void *connection, const char *sql, duckdb_result *result);
	const char *(*result_error)(duckdb_result *result);
	void (*destroy_result)(duckdb_result *result);
	void (*disconnect)(void **connection);
	void (*close)(void **db);
} lib;

static bool load(void)
{
	/* DuckDB's own name, and Debian's */
	static const char *const names[] = { LIBRARY, LIBRARY ".2.0", LIBRARY ".1.5" };
	static void *handle;

	if (handle)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return false;
#define LOAD(name) (lib.name = (__typeof__(lib.name))dlsym(handle, "duckdb_" #name))
	if (LOAD(open) && LOAD(connect) && LOAD(query) && LOAD(result_error) &&
	    LOAD(destroy_result) && LOAD(disconnect) && LOAD(close))
		return true;
#undef LOAD
	dlclose(handle);
	handle = NULL;
	return false;
}

static int ask_library(const char *script, char *error)
{
	void *db = NULL, *connection = NULL;
	duckdb_result result = { { 0 } };
	int err = 0;

	if (lib.open(NULL, &db) || lib.connect(db, &connection)) {
		snprintf(error, FLEET_MESSAGE, "DuckDB can't be opened");
		err = -EIO;
	} else {
		if (lib.query(connection, script, &result)) {
			const char *why = lib.result_error(&result);

			snprintf(error, FLEET_MESSAGE, "DuckDB: %s", why ? why : "failed");
			err = -EIO;
		}
		lib.destroy_result(&result);
	}
	if (connection)
		lib.disconnect(&connection);
	if (db)
		lib.close(&db);
	return err;
}

/* ---- the command ---- */

static bool find_command(char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	for (const char *at = dirs, *end; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, ":");
		if (snprintf(path, PATH_MAX, "%.*s/" COMMAND, (int)(end - at), at) < PATH_MAX &&
		    end > at && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Runs it with the script as its input; what it says is in the file `said`. */
static int run_command(const char *path, const char *script_path, const char *said)
{
	char *const argv[] = { (char *)(uintptr_t)COMMAND,	(char *)(uintptr_t) "-init",
			       (char *)(uintptr_t) "/dev/null", (char *)(uintptr_t) "-bail",
			       (char *)(uintptr_t) "-batch",	NULL };
	pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (!child) {
		int in = open(script_path, O_RDONLY), out = open(said, O_WRONLY);

		if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			_exit(126);
		execv(path, argv);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int ask_command(const char *path, const char *script, const char *dir, char *error)
{
	char in[PATH_MAX + 16], said[PATH_MAX + 16], text[FLEET_MESSAGE - 512] = "";
	int fd, err;

	snprintf(in, sizeof(in), "%s/script", dir);
	snprintf(said, sizeof(said), "%s/said", dir);
	fd = open(in, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : fd_pwrite(fd, script, strlen(script), 0);
	if (fd >= 0)
		close(fd);
	fd = open(said, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	if (!err)
		err = run_command(path, in, said);
	if (err) {
		ssize_t n = fd_read_file(said, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = '\0';
		snprintf(error, FLEET_MESSAGE, "%.400s: %s", path, *text ? text : "can't be run");
	}
	unlink(in);
	unlink(said);
	return err;
}

/* ---- both ---- */

bool fleet_duckdb_is_there(const char **how)
{
	static char path[PATH_MAX];

	*how = LIBRARY;
	if (find_command(path)) {
		*how = path;
		return true;
	}
	return load();
}

int fleet_duckdb(const struct fleet_set *set, const struct fleet_question *q, struct sheet *t,
		 char error[FLEET_MESSAGE])
{
	const char *tmp = getenv("TMPDIR"), *how;
	char dir[PATH_MAX], rows[PATH_MAX + 16], *script;
	int err;

	*error = '\0';
	if (!fleet_duckdb_is_there(&how))
		return -ENOSYS;
	snprintf(dir, sizeof(dir), "%s/rtl-fleet-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		snprintf(error, FLEET_MESSAGE, "%.1000s: %s; set TMPDIR", dir, strerror(errno));
		return -EIO;
	}
	snprintf(rows, sizeof(rows), "%s/rows", dir);
	script = make_script(set, q, dir, rows);
	if (!script)
		err = -ENOMEM;
	else
		err = strcmp(how, LIBRARY) == 0 ? ask_library(script, error) :
						  ask_command(how, script, dir, error);
	if (!err)
		err = fleet_csv(rows, q, t, error);
	free(script);
	unlink(rows);
	rmdir(dir);
	return err;
}
