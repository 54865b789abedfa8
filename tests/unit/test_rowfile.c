/* SPDX-License-Identifier: MIT */
/* test_rowfile.c - rows beside a database give the same answers as rows in it */
#include "query/rowfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/test.h"

/* The tables as a database has them, for the answers that are right. */
static const char plain[] =
	"CREATE TABLE plain.rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, start, \"end\", description_id, opType_id, "
	"completionSignal, roctxId, correlation_id);"
	"CREATE TABLE plain.rocpd_api_ops (id INTEGER PRIMARY KEY, api_id, op_id);"
	"CREATE TABLE plain.rtl_op_kernel (op_id INTEGER PRIMARY KEY, thread_id, shape_id, flags, begin_ticks, end_ticks);"
	"CREATE TABLE plain.rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, category_id, domain_id, args_id);"
	"CREATE TABLE plain.rtl_api_data (api_id INTEGER PRIMARY KEY, status, correlation_id, parent_id);"
	"CREATE TABLE plain.rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream, gridX, gridY, gridZ, workgroupX, workgroupY, "
	"workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id)";

static const char virtual_tables[] =
	"CREATE VIRTUAL TABLE rocpd_op USING rtl_rows(id integer, gpuId integer, queueId integer, sequenceId integer, start integer, "
	"\"end\" integer, description_id integer, opType_id integer, completionSignal text, roctxId integer, correlation_id integer);"
	"CREATE VIRTUAL TABLE rocpd_api_ops USING rtl_rows(id integer, api_id integer, op_id integer);"
	"CREATE VIRTUAL TABLE rtl_op_kernel USING rtl_rows(op_id integer, thread_id integer, shape_id integer, flags integer, "
	"begin_ticks integer, end_ticks integer);"
	"CREATE VIRTUAL TABLE rocpd_api USING rtl_rows(id integer, pid integer, tid integer, start integer, \"end\" integer, "
	"apiName_id integer, category_id integer, domain_id integer, args_id integer);"
	"CREATE VIRTUAL TABLE rtl_api_data USING rtl_rows(api_id integer, status integer, correlation_id integer, parent_id integer);"
	"CREATE VIRTUAL TABLE rocpd_kernelapi USING rtl_rows(api_ptr_id integer, stream text, gridX integer, gridY integer, gridZ "
	"integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer, "
	"kernelName_id integer)";

static void run(sqlite3 *db, const char *sql)
{
	char *error = NULL;

	sqlite3_exec(db, sql, NULL, NULL, &error);
	CHECK_STR_EQ(error ? error : "", "");
}

static sqlite3 *open_tables(struct rowfile *file)
{
	sqlite3 *db;

	CHECK_EQ_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	run(db, "ATTACH ':memory:' AS plain");
	run(db, plain);
	CHECK_EQ_INT(rowfile_attach(file, db), SQLITE_OK);
	run(db, virtual_tables);
	return db;
}

static uint64_t next_random(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return state >> 33;
}

static void add_op(struct rowfile *file, sqlite3 *db, int64_t id)
{
	int64_t base = (int64_t)(next_random() % 1000);
	const struct rowfile_op op = { .id = id,
				       .api = id / 2,
				       .gpu = base % 4,
				       .queue = base % 7,
				       .sequence = id,
				       .start = base * 1000,
				       .end = base * 1000 + 500,
				       .description = base % 11,
				       .type = base % 3,
				       .marker = base % 5,
				       .correlation = id / 2,
				       .is_kernel = base % 3 != 0,
				       .thread = base % 2,
				       .shape = base % 13,
				       .flags = base % 17,
				       .begin_ticks = base,
				       .end_ticks = base + 1 };
	char *sql = sqlite3_mprintf(
		"INSERT OR IGNORE INTO plain.rocpd_op VALUES (%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, '', %lld, %lld);"
		"INSERT OR IGNORE INTO plain.rocpd_api_ops VALUES (%lld, %lld, %lld)",
		op.id, op.gpu, op.queue, op.sequence, op.start, op.end, op.description, op.type,
		op.marker, op.correlation, op.id, op.api, op.id);

	run(db, sql);
	sqlite3_free(sql);
	/* a second row of an id is no kernel's either */
	if (sqlite3_changes(db) && op.is_kernel) {
		sql = sqlite3_mprintf(
			"INSERT INTO plain.rtl_op_kernel VALUES (%lld, %lld, %lld, %lld, %lld, %lld)",
			op.id, op.thread, op.shape, op.flags, op.begin_ticks, op.end_ticks);
		run(db, sql);
		sqlite3_free(sql);
	}
	CHECK_OK(rowfile_add_ops(file, &op, 1));
}

static void add_call(struct rowfile *file, sqlite3 *db, int64_t id)
{
	int64_t base = (int64_t)(next_random() % 1000);
	const struct rowfile_api api = { .id = id,
					 .pid = 1,
					 .tid = base % 3,
					 .start = base,
					 .end = base * 2,
					 .name = base % 19,
					 .domain = base % 2,
					 .args = base % 23,
					 .is_call = 1,
					 .status = base % 5 ? base % 7 : ROWFILE_NONE,
					 .correlation = id,
					 .parent = id + 1,
					 .is_kernel = base % 2,
					 .stream = base % 3 ? base << 40 | base : ROWFILE_NONE,
					 .grid = { base, 2, 3 },
					 .group = { 64, 1, 1 },
					 .kernel_name = base % 29 };
	char *sql = sqlite3_mprintf(
		"INSERT INTO plain.rocpd_api VALUES (%lld, 1, %lld, %lld, %lld, %lld, 0, %lld, %lld);"
		"INSERT INTO plain.rtl_api_data VALUES (%lld, nullif(%lld, %lld), %lld, %lld)",
		id, api.tid, api.start, api.end, api.name, api.domain, api.args, id, api.status,
		ROWFILE_NONE, api.correlation, api.parent);

	run(db, sql);
	sqlite3_free(sql);
	if (api.is_kernel) {
		sql = sqlite3_mprintf(
			"INSERT INTO plain.rocpd_kernelapi VALUES (%lld, iif(%d, '', printf('0x%%x', %lld)), %lld, 2, 3, 64, 1, 1, 0, 0, %lld)",
			id, api.stream == ROWFILE_NONE, api.stream, api.grid[0], api.kernel_name);
		run(db, sql);
		sqlite3_free(sql);
	}
	CHECK_OK(rowfile_add_apis(file, &api, 1));
}

/* All rows of the answer as one text. */
static char *answer(sqlite3 *db, const char *sql, const char *schema)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_str *with = sqlite3_str_new(db);
	sqlite3_stmt *row = NULL;
	char *full;

	/* @ stands for the schema */
	for (const char *at = sql; *at; at++)
		if (*at == '@')
			sqlite3_str_appendf(with, "%s.", schema);
		else
			sqlite3_str_appendchar(with, 1, *at);
	full = sqlite3_str_finish(with);
	sqlite3_prepare_v2(db, full, -1, &row, NULL);
	CHECK_STR_EQ(sqlite3_errmsg(db), "not an error");
	while (sqlite3_step(row) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(row); i++)
			sqlite3_str_appendf(text, "%d:%s%c", sqlite3_column_type(row, i),
					    sqlite3_column_text(row, i),
					    i + 1 == sqlite3_column_count(row) ? '\n' : '|');
	CHECK_EQ_INT(sqlite3_finalize(row), SQLITE_OK);
	sqlite3_free(full);
	return sqlite3_str_finish(text);
}

static void compare(sqlite3 *db, const char *sql)
{
	char *expected = answer(db, sql, "plain"), *got = answer(db, sql, "main");

	CHECK(expected && strlen(expected) > 0);
	CHECK_STR_EQ(got, expected);
	sqlite3_free(expected);
	sqlite3_free(got);
}

static const char *const questions[] = {
	"SELECT * FROM @rocpd_op ORDER BY id",
	"SELECT * FROM @rocpd_op ORDER BY id DESC",
	"SELECT * FROM @rtl_op_kernel",
	"SELECT * FROM @rocpd_api_ops",
	"SELECT * FROM @rocpd_api",
	"SELECT * FROM @rtl_api_data",
	"SELECT * FROM @rocpd_kernelapi",
	"SELECT count(*), min(id), max(id), sum(start) FROM @rocpd_op",
	"SELECT * FROM @rocpd_op WHERE id BETWEEN 4294967297 + 1000 AND 4294967297 + 3000",
	"SELECT id FROM @rocpd_op WHERE id > 4294967297 + 1022 AND id < 4294967297 + 1028",
	"SELECT id FROM @rocpd_op WHERE id >= 4294967297 + 1022.5 AND id <= 4294967297 + 1028.5",
	"SELECT id FROM @rocpd_op WHERE id >= -5 AND id < 9223372036854775807 LIMIT 3",
	"SELECT count(*) FROM @rocpd_op WHERE id = 4294967297.5 OR id = NULL OR id > NULL OR id = 'x'",
	"SELECT count(*) FROM @rocpd_op WHERE id = '4294967299'",
	"SELECT count(*) FROM @rocpd_op WHERE id IN (SELECT op_id FROM @rtl_op_kernel WHERE flags & 1)",
	"SELECT O.*, K.* FROM @rocpd_op O LEFT JOIN @rtl_op_kernel K ON K.op_id = O.id",
	"SELECT L.api_id, sum(O.start) FROM @rocpd_api_ops L JOIN @rocpd_op O ON O.id = L.op_id GROUP BY 1 ORDER BY 1",
	"SELECT count(*) FROM @rocpd_api_ops L JOIN @rocpd_op O ON L.op_id = O.id JOIN @rtl_op_kernel K ON K.op_id = L.op_id",
	"SELECT A.id, X.status, C.stream FROM @rocpd_api A LEFT JOIN @rtl_api_data X ON X.api_id = A.id LEFT JOIN @rocpd_kernelapi "
	"C ON C.api_ptr_id = A.id ORDER BY A.start, A.id",
	"SELECT max(stream), min(stream), count(DISTINCT stream) FROM @rocpd_kernelapi",
	"SELECT count(*) FROM @rocpd_op A JOIN @rocpd_op B ON B.id = A.id + 1",
};

static void compare_all(sqlite3 *db)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		compare(db, questions[i]);
}

/* Ids of two processes, with holes, of three threads in turns, each call after the one inside
 * it. */
static void fill(struct rowfile *file, sqlite3 *db)
{
	run(db, "BEGIN");
	for (int64_t process = 1; process <= 2; process++) {
		int64_t base = process << 32;

		for (int64_t i = 1; i <= 5000; i++)
			if (i % 10 && i / 1500 != 2)
				add_op(file, db, base + i);
		for (int64_t i = 0; i < 3000; i++) {
			int64_t turn = i / 100, thread = turn % 3, n = turn / 3 * 100 + i % 100;

			add_call(file, db, base + 1 + ((n * 3 + thread) ^ 1));
		}
	}
	/* far away from the others, and before them */
	add_op(file, db, INT64_C(1) << 50);
	add_op(file, db, 7);
	/* the first one counts */
	add_op(file, db, 7);
	run(db, "COMMIT");
}

/* What is known without reading the rows. */
static void compare_facts(struct rowfile *file, sqlite3 *db)
{
	struct rowfile_facts facts = rowfile_facts(file);
	char *expected = answer(
		db,
		"SELECT (SELECT count(*) FROM @rocpd_op), (SELECT count(*) FROM @rocpd_api), (SELECT min(start) FROM (SELECT start FROM "
		"@rocpd_op UNION ALL SELECT start FROM @rocpd_api) WHERE start > 0)",
		"plain");
	char *got = sqlite3_mprintf("1:%lld|1:%lld|1:%lld\n", (int64_t)facts.nr_ops,
				    (int64_t)facts.nr_apis, facts.first_ns);

	CHECK_STR_EQ(got, expected);
	sqlite3_free(expected);
	sqlite3_free(got);
}

TEST(answers_are_those_of_plain_tables)
{
	struct rowfile *file;
	sqlite3 *db;

	CHECK_OK(rowfile_new(&file));
	db = open_tables(file);
	fill(file, db);
	compare_all(db);
	compare_facts(file, db);
	/* what was added between two statements is read */
	add_op(file, db, 12);
	add_call(file, db, 13);
	compare_all(db);
	CHECK_OK(rowfile_seal(file));
	compare_all(db);
	sqlite3_close(db);
	rowfile_free(file);
}

TEST(rows_are_changed_and_added_by_sql)
{
	static const char *const statements[] = {
		"UPDATE @rocpd_kernelapi SET kernelName_id = 12345 WHERE api_ptr_id % 7 = 1",
		"UPDATE @rocpd_api SET \"end\" = 5 WHERE id = 4294967300",
		"UPDATE @rocpd_api SET \"end\" = 6 WHERE id = 4294967300 AND \"end\" > 5",
		"UPDATE @rtl_api_data SET correlation_id = 77 WHERE api_id BETWEEN 4294967300 AND 4294967400",
		"INSERT OR IGNORE INTO @rocpd_api VALUES (99, 1, 2, 3, 4, 5, 6, 7, 8)",
		"INSERT OR IGNORE INTO @rocpd_api VALUES (99, 9, 9, 9, 9, 9, 9, 9, 9)",
		"UPDATE @rocpd_api SET args_id = 1 WHERE id = 99",
	};
	struct rowfile *file;
	sqlite3 *db;

	CHECK_OK(rowfile_new(&file));
	db = open_tables(file);
	fill(file, db);
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		sqlite3_free(answer(db, statements[i], "plain"));
		sqlite3_free(answer(db, statements[i], "main"));
		compare_all(db);
	}
	CHECK_EQ_INT(sqlite3_exec(db, "DELETE FROM rocpd_op WHERE id = 7", NULL, NULL, NULL),
		     SQLITE_READONLY);
	CHECK_EQ_INT(sqlite3_exec(db, "UPDATE rocpd_op SET id = 8 WHERE id = 7", NULL, NULL, NULL),
		     SQLITE_READONLY);
	CHECK_EQ_INT(sqlite3_exec(db, "INSERT INTO rtl_op_kernel VALUES (1, 2, 3, 4, 5, 6)", NULL,
				  NULL, NULL),
		     SQLITE_READONLY);
	compare_all(db);
	sqlite3_close(db);
	rowfile_free(file);
}

TEST(tables_that_are_not_there_are_refused)
{
	struct rowfile *file;
	sqlite3 *db;

	CHECK_OK(rowfile_new(&file));
	CHECK(rowfile_has("rocpd_op") && !rowfile_has("rocpd_string"));
	CHECK_EQ_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	CHECK_EQ_INT(rowfile_attach(file, db), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, "CREATE VIRTUAL TABLE other USING rtl_rows(id integer)", NULL,
				  NULL, NULL),
		     SQLITE_ERROR);
	CHECK_STR_EQ(sqlite3_errmsg(db), "other: not a table of rtl_rows");
	CHECK_EQ_INT(sqlite3_exec(db, "CREATE VIRTUAL TABLE rocpd_op USING rtl_rows(id integer)",
				  NULL, NULL, NULL),
		     SQLITE_ERROR);
	run(db,
	    "CREATE VIRTUAL TABLE rocpd_api_ops USING rtl_rows(id integer, api_id integer, op_id integer)");
	CHECK_EQ_INT(sqlite3_exec(db, "SELECT * FROM rocpd_api_ops", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	rowfile_free(file);
}

TEST(disk_that_is_full_is_an_error)
{
	const struct rlimit small = { 4096, 4096 };
	struct rowfile_op ops[64] = { { .id = 1 } };
	struct rowfile *file;

	CHECK_OK(rowfile_new(&file));
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &small));
	for (int i = 0; i < 64; i++)
		ops[i].id = i + 1;
	CHECK_EQ_INT(rowfile_add_ops(file, ops, 64), -EFBIG);
	rowfile_free(file);
}

TEST(directory_that_is_not_there_is_an_error)
{
	struct rowfile *file;

	CHECK_OK(setenv("TMPDIR", "/nonexistent", 1));
	CHECK_EQ_INT(rowfile_new(&file), -ENOENT);
	CHECK(!file);
}

TEST(handles_are_written_as_c_does)
{
	const int64_t handles[] = { 0, 1, 15, 16, 0x7f0012345678, -1, INT64_MAX, INT64_MIN + 1 };
	char text[ROWFILE_HANDLE + 1], expected[32];

	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		text[rowfile_handle(text, handles[i])] = '\0';
		snprintf(expected, sizeof(expected), "0x%llx", (unsigned long long)handles[i]);
		CHECK_STR_EQ(text, expected);
	}
	CHECK_EQ_INT(rowfile_handle(text, ROWFILE_NONE), 0);
}
