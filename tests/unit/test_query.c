/* SPDX-License-Identifier: MIT */
/* test_query.c - traces of every kind opened for reading, and readable names */
#include "query/query.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/rpd/rpd.h"
#include "query/label.h"
#include "query/rows.h"
#include "query/slice.h"
#include "query/timeline.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static struct job_options opt;

static int open_one(struct query **q, const char *input)
{
	return query_open(q, &input, 1, rpd_merge, &opt, &res);
}

static size_t nr_files(const char *pattern)
{
	char path[4096];
	glob_t found = { 0 };
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), pattern);
	glob(path, 0, NULL, &found);
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

TEST(raw_trace_opens_as_unlinked_database)
{
	const struct spool_make_sample sample = { .host = "nodeA", .pid = 500, .closed = true };
	const char *input = test_tmpfile("in.rtl");
	struct query *q;

	spool_make_sample(input, &sample);
	CHECK_OK(setenv("TMPDIR", test_tmpdir(), 1));
	CHECK_OK(open_one(&q, input));
	CHECK_EQ_UINT(nr_files("rtl-*"), 0);
	CHECK(q->ours && q->converted);
	CHECK_EQ_UINT(q->verdict.nr_processes, 1);
	CHECK_OK(query_read_processes(q));
	CHECK_EQ_UINT(q->nr_processes, 1);
	CHECK_EQ_INT(q->processes[0].pid, 500);
	CHECK_EQ_INT(query_local_id(q, q->processes[0].id_first + 7), 7);
	CHECK_NULL(query_process_of(q, q->processes[0].id_last + 1));
	query_close(q);
}

TEST(rpd_database_opens_without_conversion)
{
	const char *input = test_tmpfile("in.db");
	struct query *q;

	db_make_rpd(input, "INSERT INTO rocpd_string VALUES (1, 'k')");
	CHECK_OK(open_one(&q, input));
	CHECK(!q->ours && !q->converted && !q->has_ustring);
	CHECK(!q->verdict.complete);
	CHECK_OK(query_read_processes(q));
	CHECK_EQ_UINT(q->nr_processes, 0);
	CHECK_EQ_INT(query_local_id(q, 7), 7);
	query_close(q);
}

/* Every second operation has a call, with the triple of its number, and stream 1. */
static const char causes[] =
	"DELETE FROM temp.query_cause; DELETE FROM temp.query_stream; INSERT INTO temp.query_cause SELECT id, 3 * id, "
	"'s' FROM rocpd_op WHERE id % 2; INSERT INTO temp.query_stream SELECT DISTINCT id >> 32, 's', 1 FROM rocpd_op";

static int check_cause(void *arg, const struct rows_op *op)
{
	int64_t *nr = arg;

	CHECK_EQ_INT(op->call, op->id % 2 ? 3 * op->id : 0);
	CHECK_EQ_INT(op->stream, op->id % 2);
	++*nr;
	return 0;
}

TEST(operations_by_time_have_their_causes_read_by_one_thread_or_two)
{
	const char *inputs[2] = { test_tmpfile("a.rtl"), test_tmpfile("b.rtl") };

	for (int i = 0; i < 2; i++)
		spool_make_sample(inputs[i], &(struct spool_make_sample){ .host = "nodeA",
									  .pid = 500 + (uint32_t)i,
									  .closed = true });
	/* two processes are merged by their begins: their causes are not in the order of ids */
	for (size_t nr = 1; nr <= 2; nr++)
		for (int twice = 0; twice < 2; twice++) {
			struct job_options with = { .twice = twice };
			struct query *q;
			int64_t seen = 0;

			CHECK_OK(query_open(&q, inputs, nr, rpd_merge, &with, &res));
			CHECK_OK(rows_prepare(q));
			CHECK_EQ_UINT(q->nr_processes, nr);
			CHECK_OK(query_run(q, causes));
			CHECK_OK(rows_by_time(q, check_cause, &seen));
			CHECK_EQ_INT(seen, query_number(q->db, "SELECT count(*) FROM rocpd_op", 0));
			CHECK(seen > 1);
			query_close(q);
		}
}

struct causes {
	size_t nr, nr_calls, nr_streams;
	uint64_t sum;
	const struct query *q;
};

static int add_cause(void *arg, const struct rows_op *op)
{
	struct causes *c = arg;

	c->nr++;
	c->nr_calls += op->call != 0;
	c->nr_streams += op->stream != 0;
	c->sum =
		c->sum * 31 + (uint64_t)op->id + 7 * (uint64_t)op->call + 11 * (uint64_t)op->stream;
	if (c->q->causes_ordered && op->call_end)
		CHECK(op->call_end >= op->call_start && op->call_pid == 500 + (op->id >> 32));
	return 0;
}

/* Of all orders; each process has two streams. */
static struct causes read_causes(const char *db, bool reads_rows, bool ordered)
{
	const struct job_options with = { .twice = true };
	struct causes c = { 0 };
	struct query *q;

	CHECK_OK(query_open(&q, &db, 1, rpd_merge, &with, &res));
	q->reads_rows = reads_rows;
	c.q = q;
	CHECK_OK(rows_prepare(q));
	CHECK(q->causes_ordered == ordered);
	CHECK_OK(rows_ops(q, ROWS_BY_STREAM, add_cause, &c));
	CHECK_EQ_UINT(c.nr, c.nr_streams);
	CHECK_OK(rows_ops(q, ROWS_BY_QUEUE, add_cause, &c));
	c.nr = c.nr_calls = c.nr_streams = 0;
	CHECK_OK(rows_by_time(q, add_cause, &c));
	CHECK_EQ_INT(query_number(q->db, "SELECT count(*) FROM temp.query_stream", 0),
		     2 * (int64_t)q->nr_processes);
	CHECK_EQ_INT(q->streams, 2);
	query_close(q);
	return c;
}

TEST(causes_beside_operations_are_those_of_the_tables)
{
	const char *spool = test_tmpfile("a.rtl"), *db = test_tmpfile("a.db");
	const struct job_options none = { .force = true };
	struct causes tables, beside;

	spool_make_sample(spool, &(struct spool_make_sample){
					 .host = "nodeA", .pid = 500, .closed = true });
	CHECK_OK(rpd_merge(&spool, 1, db, &none, &res));
	db_make_plain(db);
	/* calls of two streams, by their arguments or a row of their own, and rows that stand for
	 * threads */
	db_exec(db,
		"DELETE FROM rocpd_api_ops;"
		"INSERT INTO rocpd_string (id, string) VALUES (9001, 'rtl'), (9002, 'hip'), (9003, 'hipCall');"
		"INSERT INTO rocpd_ustring (id, string) VALUES (9001, ''), (9002, 'n=1, stream=0x70, m=2');"
		"INSERT INTO rocpd_api (id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id) SELECT "
		"100000 + id, 500, 1, start - 1, start, 9003, 9003, CASE id % 4 WHEN 3 THEN 9001 ELSE 9002 END, CASE id "
		"% 4 WHEN 1 THEN 9002 ELSE 9001 END FROM rocpd_op;"
		"INSERT INTO rtl_api_data SELECT id, 0, id, 0 FROM rocpd_api WHERE id > 100000;"
		"INSERT INTO rocpd_kernelapi (api_ptr_id, stream, gridX, gridY, gridZ, workgroupX, workgroupY, "
		"workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id) SELECT 100000 + id, '(nil)', 1, 1, 1, "
		"1, 1, 1, 0, 0, 9003 FROM rocpd_op WHERE id % 4 = 2;"
		"INSERT INTO rocpd_api_ops (api_id, op_id) SELECT 100000 + id, id FROM rocpd_op ORDER BY id");
	tables = read_causes(db, false, false);
	beside = read_causes(db, true, true);
	CHECK(tables.nr_calls > 2 && tables.nr_calls < tables.nr);
	CHECK(tables.nr_streams > 1 && tables.nr_streams < tables.nr_calls);
	CHECK_EQ_UINT(beside.nr_calls, tables.nr_calls);
	CHECK_EQ_UINT(beside.nr_streams, tables.nr_streams);
	CHECK_EQ_UINT(beside.sum, tables.sum);
	/* in another order, they are in the tables */
	db_exec(db, "UPDATE rocpd_api_ops SET id = -id");
	CHECK_EQ_UINT(read_causes(db, true, false).sum, tables.sum);
}

TEST(causes_in_rows_of_operations_are_those_of_the_tables)
{
	const char *spools[2] = { test_tmpfile("a.rtl"), test_tmpfile("b.rtl") };
	const char *db = test_tmpfile("a.db");
	const struct job_options none = { .force = true };
	struct causes tables, beside;

	for (uint32_t i = 0; i < 2; i++)
		spool_make_sample(spools[i], &(struct spool_make_sample){ .host = "nodeA",
									  .pid = 500 + i,
									  .closed = true });
	CHECK_OK(rpd_merge(spools, 2, db, &none, &res));
	/* of each process: a launch, whose row both have, and its stream; a launch that has none,
	 * and a call with arguments; a call without a stream; and a row that stands for a thread */
	db_exec(db,
		"INSERT INTO rocpd_string (id, string) VALUES (9001, 'rtl'), (9002, 'hip'), (9003, 'hipCall');"
		"INSERT INTO rocpd_ustring (id, string) VALUES (9001, ''), (9002, 'n=1, stream=0x70, m=2');"
		"INSERT INTO rtl_launch VALUES (9001, '0x50', 1, 1, 1, 1, 1, 1, 0, 0, 9003), (9002, '', 1, 1, 1, 1, 1, "
		"1, 0, 0, 9003);"
		"INSERT INTO rocpd_api (id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id, "
		"rtl_status, rtl_parent_id, rtl_launch_id) SELECT 100000 + id, 500 + (id >> 32), 1, start - 1, start, "
		"9003, 9003, CASE id % 4 WHEN 3 THEN 9001 ELSE 9002 END, CASE WHEN id % 4 = 1 THEN 9002 ELSE 9001 "
		"END, 0, CASE WHEN id % 4 <> 3 THEN 0 END, CASE id % 8 WHEN 2 THEN 9001 WHEN 1 THEN 9002 END FROM "
		"rocpd_op;"
		"UPDATE rocpd_op SET rtl_api_id = 100000 + id");
	tables = read_causes(db, false, false);
	beside = read_causes(db, true, true);
	CHECK(tables.nr_calls > 4 && tables.nr_calls < tables.nr);
	CHECK(tables.nr_streams > 3 && tables.nr_streams < tables.nr_calls);
	CHECK_EQ_UINT(beside.nr_calls, tables.nr_calls);
	CHECK_EQ_UINT(beside.nr_streams, tables.nr_streams);
	CHECK_EQ_UINT(beside.sum, tables.sum);
}

TEST(part_of_rank_0_is_found_and_of_no_rank_refused)
{
	const char *spool = test_tmpfile("a.rtl"), *db = test_tmpfile("a.db");
	const struct job_options none = { .force = true };
	static const char *const lists[] = { "0", "1" };

	spool_make_sample(spool, &(struct spool_make_sample){
					 .host = "nodeA", .pid = 500, .closed = true });
	CHECK_OK(rpd_merge(&spool, 1, db, &none, &res));
	db_exec(db, "UPDATE rtl_process SET rank = 0, world_size = 2");
	for (int i = 0; i < 2; i++) {
		struct slice part = { .ranks = lists[i] };
		struct query *q;

		CHECK_OK(query_open(&q, &db, 1, rpd_merge, &none, &res));
		CHECK_EQ_INT(slice_apply(q, &part), i ? -ENOENT : 0);
		query_close(q);
		slice_fini(&part);
	}
}

struct order {
	uint64_t nr, sum, until;
	int64_t last;
};

struct order_row {
	int64_t begin, id, end;
};

static int add_row(void *arg, const void *of)
{
	const struct order_row *row = of;
	struct order *o = arg;

	CHECK(row->begin >= o->last);
	o->last = row->begin;
	o->sum = o->sum * 31 + (uint64_t)row->begin + 7 * (uint64_t)row->id + (uint64_t)row->end;
	return ++o->nr == o->until ? -ECANCELED : 0;
}

static void forget_rows(void *arg)
{
	*(struct order *)arg = (struct order){ .last = INT64_MIN };
}

/* Reads the rows until `until` of them were passed, 0: all; two: whether the second connection's
 * SQLite has read some. `table`: of timeline_rows. */
static struct order read_order(const char *db, const char *table, enum timeline_how how,
			       uint64_t until, bool two)
{
	const struct timeline_rows rows = {
		.columns = "start, id, \"end\"",
		.from = "rocpd_op WHERE id BETWEEN ?1 AND ?2",
		.size = sizeof(struct order_row),
		.table = table,
	};
	const struct job_options with = { .twice = true };
	struct order o = { .last = INT64_MIN, .until = until };
	struct query *q;
	int read = 0, most;

	CHECK_OK(query_open(&q, &db, 1, rpd_merge, &with, &res));
	CHECK_EQ_INT(timeline_read(q, &rows, how, add_row, forget_rows, &o),
		     until ? -ECANCELED : 0);
	sqlite3_db_status(q->second, SQLITE_DBSTATUS_CACHE_MISS, &read, &most, 0);
	/* opening reads its first pages */
	CHECK((read > 10) == two);
	query_close(q);
	return o;
}

TEST(columns_that_are_not_those_of_the_row_are_an_error)
{
	static const char *const columns[] = { "start, id", "start, id, \"end\", gpuId" };
	const char *spool = test_tmpfile("a.rtl");
	struct order o = { .last = INT64_MIN };
	struct query *q;

	spool_make_sample(spool, &(struct spool_make_sample){
					 .host = "nodeA", .pid = 500, .closed = true });
	CHECK_OK(query_open(&q, &spool, 1, rpd_merge, &(struct job_options){ 0 }, &res));
	for (size_t i = 0; i < 2; i++) {
		const struct timeline_rows rows = {
			.columns = columns[i],
			.from = "rocpd_op WHERE id BETWEEN ?1 AND ?2",
			.size = sizeof(struct order_row),
		};

		CHECK_EQ_INT(timeline_read(q, &rows, TIMELINE_HERE, add_row, forget_rows, &o),
			     -EINVAL);
		CHECK(strstr(res.error, "for rows of 24"));
	}
	CHECK_EQ_UINT(o.nr, 0);
	query_close(q);
}

TEST(rows_read_by_two_threads_are_in_the_order_of_one)
{
	static const struct {
		const char *what, *rows;
		bool two;
	} cases[] = {
		/* 131 blocks of 2048 ids, and one row more or less */
		{ "whole blocks", "i + 4", true },
		{ "a row more", "i + 4 FROM n UNION ALL SELECT 268293", true },
		{ "a row less", "i + 4 FROM n WHERE i > 1", true },
		{ "blocks without rows", "i + 4 FROM n WHERE i NOT BETWEEN 20000 AND 30000", true },
		/* most blocks would be empty */
		{ "ids that are far apart", "i * 3000", false },
		{ "few rows", "i FROM n WHERE i < 5000", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *db = test_tmpfile("order.db");
		struct order one, two;
		char sql[512];

		unlink(db);
		/* begins of four queues, each of which is late by another time */
		snprintf(
			sql, sizeof(sql),
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 268288), m(id) AS "
			"(SELECT %s%s) INSERT INTO rocpd_op (id, start, end) SELECT id, 10 * id - 700 * (id %% 4), 10 * id "
			"FROM m",
			cases[i].rows, strstr(cases[i].rows, "FROM") ? "" : " FROM n");
		db_make_rpd(db, sql);
		one = read_order(db, NULL, TIMELINE_HERE, 0, false);
		two = read_order(db, NULL, TIMELINE_TWO, 0, cases[i].two);
		CHECK_MSG(one.nr > 4000 && two.nr == one.nr && two.sum == one.sum,
			  "%s: %llu rows, not %llu", cases[i].what, (unsigned long long)two.nr,
			  (unsigned long long)one.nr);
		two = read_order(db, "rocpd_op", TIMELINE_TWO, 0, false);
		CHECK_MSG(two.nr == one.nr && two.sum == one.sum, "%s: %llu rows, not %llu",
			  cases[i].what, (unsigned long long)two.nr, (unsigned long long)one.nr);
		/* an end in the middle leaves no thread behind */
		one = read_order(db, NULL, TIMELINE_HERE, 3000, false);
		CHECK_EQ_UINT(read_order(db, NULL, TIMELINE_TWO, 3000, cases[i].two).sum, one.sum);
		CHECK_EQ_UINT(read_order(db, "rocpd_op", TIMELINE_TWO, 3000, false).sum, one.sum);
		/* what pages do not have as a number is read by SQL, where it belongs */
		db_exec(db, "UPDATE rocpd_op SET \"end\" = 'x' WHERE id = 5000");
		one = read_order(db, NULL, TIMELINE_HERE, 0, false);
		two = read_order(db, "rocpd_op", TIMELINE_TWO, 0, false);
		CHECK(two.nr == one.nr && two.sum == one.sum);
	}
}

/* Reads the rows of all processes, by blocks of ids or not, from pages or not, each row `times`
 * times. */
static struct order read_processes(const char *db, bool blocks, bool table, bool twice, int times,
				   uint64_t until)
{
	const struct timeline_rows rows = {
		.columns = "O.start, O.id, O.\"end\"",
		.id = blocks ? "O.id" : NULL,
		.from = times == 1 ?
				"rocpd_op O WHERE O.id BETWEEN ?1 AND ?2" :
				"rocpd_op O JOIN (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) "
				"WHERE O.id BETWEEN ?1 AND ?2",
		.size = sizeof(struct order_row),
		.table = times == 1 && table ? "rocpd_op" : NULL,
	};
	const struct job_options options = { .twice = twice };
	sqlite3_stmt *outer;
	struct order o;
	struct query *q;

	CHECK_OK(query_open(&q, &db, 1, rpd_merge, &options, &res));
	CHECK_OK(query_read_processes(q));
	/* within the reading of others, and again */
	CHECK_OK(query_prepare(q, &outer, "SELECT id FROM rocpd_op"));
	CHECK_EQ_INT(query_step(q, outer), 1);
	for (int i = 0; i < 2; i++) {
		o = (struct order){ .last = INT64_MIN, .until = until };
		CHECK_EQ_INT(timeline_read(q, &rows, TIMELINE_HERE, add_row, forget_rows, &o),
			     until ? -ECANCELED : 0);
	}
	CHECK_EQ_INT(query_step(q, outer), 1);
	sqlite3_finalize(outer);
	query_close(q);
	return o;
}

TEST(rows_of_processes_read_by_blocks_of_ids_are_those_of_the_table)
{
	static const struct {
		const char *what, *ids; /* from n.i, 1 to 8000 */
	} cases[] = {
		{ "dense", "n.i" },
		{ "two holes", "n.i + 100000 * (n.i > 2500) + 70000000 * (n.i > 7000)" },
		{ "far apart", "n.i * 100003" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *spools[3] = { test_tmpfile("a.rtl"), test_tmpfile("b.rtl"),
					  test_tmpfile("c.rtl") };
		const char *db = test_tmpfile("processes.db");
		const struct job_options none = { .force = true };
		struct order all, some;
		char sql[640];

		unlink(db);
		for (int n = 0; n < 3; n++)
			spool_make_sample(spools[n],
					  &(struct spool_make_sample){ .host = "nodeA",
								       .pid = (uint32_t)(500 + n),
								       .closed = true });
		CHECK_OK(rpd_merge(spools, 3, db, &none, &res));
		/* the third has few rows; begins of four queues, each of which is late by another
		 * time */
		snprintf(
			sql, sizeof(sql),
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000), m(id, first) AS "
			"(SELECT P.id_first + 1000 + %s, P.id_first FROM rtl_process P JOIN n WHERE P.pid < 502 OR n.i < 4) "
			"INSERT INTO rocpd_op (id, start, end, gpuId, queueId, sequenceId, description_id, opType_id) SELECT "
			"id, 10 * (id - first) - 70 * (id %% 4), id, 0, 0, 0, 1, 1 FROM m",
			cases[i].ids);
		db_exec(db, sql);
		all = read_processes(db, false, false, false, 1, 0);
		CHECK(all.nr > 16000);
		for (int how = 0; how < 4; how++) {
			bool table = how & 1, two = how & 2;

			some = read_processes(db, true, table, two, 1, 0);
			CHECK_MSG(some.nr == all.nr && some.sum == all.sum,
				  "%s: %llu rows, not %llu", cases[i].what,
				  (unsigned long long)some.nr, (unsigned long long)all.nr);
			/* an end in the middle leaves no thread behind */
			CHECK_EQ_UINT(read_processes(db, true, table, two, 1, 3000).nr, 3000);
		}
		/* more rows than ids */
		CHECK_EQ_UINT(read_processes(db, true, true, true, 3, 0).nr, 3 * all.nr);
	}
}

TEST(file_that_is_not_a_trace_is_refused)
{
	const char *input = test_tmpfile("other.db");
	sqlite3 *db;
	struct query *q;
	FILE *file;

	CHECK_EQ_INT(sqlite3_open(input, &db), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, "CREATE TABLE x (a)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK_EQ_INT(open_one(&q, input), -EINVAL);
	CHECK_NULL(q);
	CHECK_STR_HAS(res.error, "other.db: is an SQLite database, but not of a trace");
	CHECK_STR_HAS(res.error, "give the file that rtl trace -o wrote");
	file = fopen(test_tmpfile("text"), "w");
	CHECK_NOT_NULL(file);
	fputs("hello\n", file);
	fclose(file);
	CHECK_EQ_INT(open_one(&q, test_tmpfile("text")), -EINVAL);
	CHECK_STR_HAS(res.error, "text: is not a trace");
	file = fopen(test_tmpfile("empty"), "w");
	CHECK_NOT_NULL(file);
	fclose(file);
	CHECK_EQ_INT(open_one(&q, test_tmpfile("empty")), -EINVAL);
	CHECK_STR_HAS(res.error, "empty: is empty: no trace was written to it");
	file = fopen(test_tmpfile("trace.db.gz"), "w");
	CHECK_NOT_NULL(file);
	fputs("\x1f\x8b\x08", file);
	fclose(file);
	CHECK_EQ_INT(open_one(&q, test_tmpfile("trace.db.gz")), -EINVAL);
	CHECK_STR_HAS(res.error, "trace.db.gz: is compressed with gzip: unpack it first");
	CHECK_EQ_INT(query_open(&q, NULL, 0, rpd_merge, &opt, &res), -EINVAL);
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	CHECK(done <= total);
	return 1;
}

TEST(nonzero_progress_return_stops_reading)
{
	const char *input = test_tmpfile("in.db");
	sqlite3_stmt *row;
	struct query *q;
	int ret;

	db_make_rpd(input, "");
	CHECK_OK(open_one(&q, input));
	opt.progress = stop;
	CHECK_OK(query_prepare(
		q, &row,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
		"i < 100000) SELECT i FROM n"));
	do
		ret = query_step(q, row);
	while (ret == 1);
	CHECK_EQ_INT(ret, -ECANCELED);
	sqlite3_finalize(row);
	CHECK_EQ_INT(query_prepare(q, &row, "SELECT nothing"), -EINVAL);
	query_close(q);
}

TEST(kernel_label_has_no_parameters_and_is_bounded)
{
	char buf[LABEL_SIZE], name[400], shown[400];

	CHECK_STR_EQ(label_kernel(buf, "vadd(float*, int)"), "vadd");
	CHECK_STR_EQ(label_kernel(buf, "void f<int (*)(int)>(g(), h)"), "void f<int (*)(int)>");
	CHECK_STR_EQ(label_kernel(buf, "(anonymous)"), "(anonymous)");
	CHECK_STR_EQ(label_kernel(buf, "f) [clone]"), "f) [clone]");
	CHECK_STR_EQ(label_kernel(buf, ""), "unnamed");
	memset(name, 'k', 160);
	name[160] = 0;
	CHECK_STR_EQ(label_kernel(buf, name), name);
	memset(name, 'k', 399);
	name[399] = 0;
	snprintf(shown, sizeof(shown), "%.157s...", name);
	CHECK_STR_EQ(label_kernel(buf, name), shown);
}

TEST(domain_label_follows_function_prefix)
{
	CHECK_STR_EQ(label_domain("hipMalloc"), "hip_api");
	CHECK_STR_EQ(label_domain("__hipPushCallConfiguration"), "hip_api");
	CHECK_STR_EQ(label_domain("hsa_init"), "hsa_api");
	CHECK_STR_EQ(label_domain("cudaMalloc"), "api");
}
