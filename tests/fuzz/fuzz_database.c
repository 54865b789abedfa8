/* SPDX-License-Identifier: MIT */
/* fuzz_database.c - databases of others as the input of each command that reads one
 *
 * The first byte chooses the command, the second the database: one of rtl, or one of RPD. Then come
 * changes of it: values of any type in any cell, rows and tables that are gone, bytes of the file.
 * So all that is read from it is not what its writer would have written.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "export/rpd/rpd.h"
#include "support/spool_api.h"

#define NAMES_MAX 64
#define CHANGES_MAX 64
#define DB "../in/a.db"
#define OTHER "../in/b.db"

static const char *const commands_of[][10] = {
	{ "summary", DB },
	{ "summary", DB, "--by", "kernel", "--wide", "--metrics", "roofline" },
	{ "summary", DB, "--by", "kernel", "-f", "csv", "--names", "full" },
	{ "summary", DB, "--by", "api,error,copy", "-f", "json" },
	{ "summary", DB, "--by", "marker,range,stream", "--internal" },
	{ "summary", DB, "--by", "gpu,gap,graph" },
	{ "summary", DB, "--by", "counter,process,rank" },
	{ "summary", DB, "--by", "kernel,rank,api,process,copy,rank,range,process,gpu" },
	{ "summary", DB, "--critical-path" },
	{ "summary", DB, "--kernels", "v.*", "--time", ":3s" },
	{ "summary", DB, "--range", "outer" },
	{ "summary", DB, "-f", "json", "--by", "overview" },
	{ "info", DB },
	{ "info", DB, "-f", "json" },
	{ "report", DB, "-o", "a.html" },
	{ "convert", DB, "-f", "pftrace", "-o", "a" },
	{ "convert", DB, "-f", "perfetto", "-o", "a" },
	{ "convert", DB, "-f", "csv", "-o", "a" },
	{ "convert", DB, "-f", "jsonl", "-o", "a" },
	{ "convert", DB, "-f", "kineto", "-o", "a" },
	{ "convert", DB, "-f", "otf2", "-o", "a" },
	{ "convert", DB, "-f", "speedscope", "-o", "a" },
	{ "convert", DB, "-f", "folded", "-o", "a" },
	{ "convert", DB, "-f", "rocprofv3-csv", "-o", "a" },
	{ "convert", DB, "-f", "rocprofv3-json", "-o", "a" },
	{ "convert", DB, "-f", "rocpd3", "-o", "a" },
	{ "diff", DB, OTHER },
	{ "diff", DB, OTHER, "-f", "html", "-o", "a.html" },
	{ "diff", OTHER, DB, "-f", "json" },
	{ "merge", DB, OTHER, "-o", "c.db" },
	{ "merge", OTHER, DB, "-o", "c.db" },
};
#define NR_COMMANDS (sizeof(commands_of) / sizeof(commands_of[0]))

/* As RPD's own recorder makes them. */
static const char rpd_sql[] =
	"create table rocpd_metadata(id integer primary key, tag text, value text);"
	"create table rocpd_string(id integer primary key, string text);"
	"create table rocpd_api(id integer primary key, pid int, tid int, start int, end int, apiName_id int, args_id int);"
	"create table rocpd_op(id integer primary key, gpuId int, queueId int, sequenceId int, completionSignal text,"
	" start int, end int, description_id int, opType_id int);"
	"create table rocpd_api_ops(id integer primary key, api_id int, op_id int);"
	"insert into rocpd_metadata(tag, value) values ('schema_version', '2');"
	"insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, 'CopyHostToDevice');"
	"insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1), (2, 77, 78, 2500, 2700, 2, 1);"
	"insert into rocpd_op values (1, 0, 0, 1, '', 3000, 5000, 3, 4), (2, 0, 0, 2, '', 5000, 6000, 1, 5);"
	"insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2);";

struct made {
	unsigned char *bytes;
	sqlite3_int64 size;
};

static struct made databases[3];

static struct made content_of(sqlite3 *db)
{
	struct made made;

	made.bytes = sqlite3_serialize(db, "main", &made.size, 0);
	if (!made.bytes)
		abort();
	sqlite3_close(db);
	return made;
}

static struct made made_by_rtl(void (*make)(const char *path))
{
	const char *scratch = getenv("FUZZ_SCRATCH"), *spool;
	struct job_options opt = { .force = true };
	static struct job_result res;
	char path[300], out[300];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/a.rtl", scratch);
	snprintf(out, sizeof(out), "%s/a.db", scratch);
	make(path);
	spool = path;
	if (rpd_write(&spool, 1, out, &opt, &res) || sqlite3_open(out, &db)) {
		fprintf(stderr, "%s\n", res.error);
		abort();
	}
	remove(path);
	return content_of(db);
}

static void make_calls(const char *path)
{
	spool_api_sample(path, true, false);
}

static void make_sample(const char *path)
{
	const struct spool_make_sample sample = { .pid = 100, .closed = true };

	spool_make_sample(path, &sample);
}

static void setup(void)
{
	sqlite3 *db;

	if (databases[0].bytes)
		return;
	command_setup();
	databases[0] = made_by_rtl(make_calls);
	databases[1] = made_by_rtl(make_sample);
	if (sqlite3_open(":memory:", &db) || sqlite3_exec(db, rpd_sql, NULL, NULL, NULL))
		abort();
	databases[2] = content_of(db);
	command_write("in/b.db", databases[1].bytes, (size_t)databases[1].size);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The n-th name that the query answers, in quotes; "": none. */
static void pick(sqlite3 *db, const char *sql, unsigned int n, char out[NAMES_MAX])
{
	sqlite3_stmt *row = NULL;
	unsigned int nr = 0;

	out[0] = '\0';
	for (int pass = 0; pass < 2; pass++) {
		unsigned int at = 0;

		if (sqlite3_prepare_v2(db, sql, -1, &row, NULL))
			return;
		while (sqlite3_step(row) == SQLITE_ROW) {
			if (pass && at == n % nr)
				snprintf(out, NAMES_MAX, "\"%s\"", sqlite3_column_text(row, 0));
			at++;
		}
		sqlite3_finalize(row);
		nr = at;
		if (!nr)
			return;
	}
}

static void bind(sqlite3_stmt *row, struct bytes *in)
{
	static const int64_t edges[] = { 0,	     1,		 -1,
					 INT64_MAX,  INT64_MIN,	 INT32_MAX,
					 INT32_MIN,  UINT32_MAX, INT64_C(1) << 62,
					 1000000000, 2,		 63,
					 64,	     1000 };
	uint8_t type = take_byte(in);
	const uint8_t *bytes;
	size_t nr;

	switch (type % 6) {
	case 0:
		sqlite3_bind_int64(row, 1, edges[type / 6 % (sizeof(edges) / sizeof(edges[0]))]);
		break;
	case 1:
		sqlite3_bind_int64(row, 1, (int8_t)take_byte(in));
		break;
	case 2: {
		int64_t value = 0;

		for (int i = 0; i < 8; i++)
			value = (int64_t)((uint64_t)value << 8 | take_byte(in));
		sqlite3_bind_int64(row, 1, value);
		break;
	}
	case 3:
		bytes = take_bytes(in, take_byte(in), &nr);
		sqlite3_bind_text(row, 1, (const char *)bytes, (int)nr, SQLITE_TRANSIENT);
		break;
	case 4:
		bytes = take_bytes(in, take_byte(in), &nr);
		sqlite3_bind_blob(row, 1, bytes, (int)nr, SQLITE_TRANSIENT);
		break;
	default:
		if (type & 64)
			sqlite3_bind_null(row, 1);
		else
			sqlite3_bind_double(row, 1, type & 128 ? 1e300 : -0.5);
	}
}

/* One change; the kinds that are seldom of use are seldom. */
static void change(sqlite3 *db, struct bytes *in)
{
	uint8_t what = take_byte(in), column_no, row_no;
	char table[NAMES_MAX], column[NAMES_MAX], sql[400];
	sqlite3_stmt *row = NULL;

	pick(db, "select name from sqlite_master where type = 'table' order by 1", take_byte(in),
	     table);
	column_no = take_byte(in);
	row_no = take_byte(in);
	if (!table[0])
		return;
	snprintf(sql, sizeof(sql), "select name from pragma_table_info(%s)", table);
	pick(db, sql, column_no, column);
	if (what < 200)
		snprintf(
			sql, sizeof(sql),
			"update %s set %s = ?1 where rowid = (select rowid from %s limit 1 offset %u)",
			table, column, table, row_no);
	else if (what < 230)
		snprintf(sql, sizeof(sql), "update %s set %s = ?1", table, column);
	else if (what < 240)
		snprintf(sql, sizeof(sql), "delete from %s where rowid %% 3 = %u", table,
			 row_no % 3u);
	else if (what < 244)
		snprintf(sql, sizeof(sql), "alter table %s rename column %s to gone", table,
			 column);
	else if (what < 248)
		snprintf(sql, sizeof(sql), "drop table %s", table);
	else if (what < 252)
		snprintf(sql, sizeof(sql), "insert into %s select null, * from %s", table, table);
	else
		snprintf(sql, sizeof(sql),
			 "create view if not exists evil as select * from sqlite_master; ");
	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK) {
		if (sqlite3_bind_parameter_count(row))
			bind(row, in);
		sqlite3_step(row);
	}
	sqlite3_finalize(row);
}

static void run(void *arg)
{
	command_main(arg);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setup();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, data + size };
	const char *const *words = commands_of[take_byte(&in) % NR_COMMANDS];
	const struct made *from = &databases[take_byte(&in) % 3u];
	struct made made = { sqlite3_malloc64((sqlite3_uint64)from->size), from->size };
	size_t nr_pokes = take_byte(&in);
	sqlite3 *db;

	memcpy(made.bytes, from->bytes, (size_t)from->size);
	if (sqlite3_open(":memory:", &db) ||
	    sqlite3_deserialize(db, "main", made.bytes, made.size, made.size,
				SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
		abort();
	sqlite3_exec(db, "begin", NULL, NULL, NULL);
	for (int i = 0; i < CHANGES_MAX && in.at < in.end; i++)
		change(db, &in);
	if (sqlite3_exec(db, "commit", NULL, NULL, NULL))
		sqlite3_exec(db, "rollback", NULL, NULL, NULL);
	made = content_of(db);
	/* few files have damaged bytes: SQLite finds most of them */
	for (size_t i = 0; nr_pokes < 16 && i < nr_pokes && size > 8; i++) {
		size_t at = (size_t)data[i % size] << 8 | data[(i * 7 + 3) % size];

		made.bytes[at * 31 % (size_t)made.size] ^= data[(i * 3 + 1) % size];
	}
	command_write("in/a.db", made.bytes, (size_t)made.size);
	sqlite3_free(made.bytes);
	command_run(run, (void *)(uintptr_t)words);
	return 0;
}
