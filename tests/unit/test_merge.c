/* SPDX-License-Identifier: MIT */
/* test_merge.c - a merge keeps every row, keeps processes separate, and refuses unreadable files */
#include "export/rpd/rpd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/identify.h"
#include "support/db.h"
#include "support/spool_api.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static char out[256];

static void name_out(void)
{
	snprintf(out, sizeof(out), "%s/merged.db", test_tmpdir());
}

static const char *make_db(const char *name, uint32_t pid, const char *host)
{
	char spool[256];
	const char *inputs[1] = { spool };
	const char *db = test_tmpfile(name);
	struct spool_make_sample s = { .pid = pid, .host = host, .closed = true };

	snprintf(spool, sizeof(spool), "%s.rtl", db);
	spool_make_sample(spool, &s);
	CHECK_OK(rpd_write(inputs, 1, db, NULL, &res));
	return db;
}

static void merge(const char *const *inputs, size_t nr)
{
	static const struct job_options opt = { .force = true };

	name_out();
	CHECK_MSG(rpd_merge(inputs, nr, out, &opt, &res) == 0, "%s", res.error);
	CHECK_STR_EQ(db_text(out, "PRAGMA integrity_check"), "ok\n");
	CHECK_STR_EQ(db_text(out, "PRAGMA foreign_key_check"), "");
}

static void check_refused(const char *const *inputs, size_t nr, int error, const char *words)
{
	name_out();
	CHECK_EQ_INT(rpd_merge(inputs, nr, out, NULL, &res), -error);
	CHECK_STR_HAS(res.error, words);
	CHECK_EQ_INT(access(out, F_OK), -1);
}

/* Queries for all rows of one process in the views, without the ids that a merge changes. */
static const char *const digests[] = {
	"SELECT kernel, D.agent %% 1000, queue, packet_index, begin_ticks, end_ticks, begin_ns, end_ns, "
	"grid_x, grid_y, grid_z, group_x, group_y, group_z, correlation_id & 0xffffffff, marker_id & "
	"0xffffffff, D.flags, O.tid FROM rtl_dispatch D JOIN rtl_op O USING (op_id) WHERE O.pid = %d "
	"ORDER BY op_id",
	"SELECT kind, bytes, src, dst, begin_ns, end_ns, correlation_id & 0xffffffff FROM rtl_copy JOIN "
	"rtl_op O USING (op_id) WHERE O.pid = %d ORDER BY op_id",
	"SELECT kind, message, begin_ns, end_ns, level, tid FROM rtl_marker WHERE pid = %d ORDER BY "
	"marker_id",
	"SELECT reason, count, first_ns, last_ns, class, text FROM rtl_loss WHERE pid = %d",
	"SELECT tid, start, end, domain, category, apiName, args FROM api WHERE pid = %d ORDER BY id",
	"SELECT key, value FROM rtl_info I JOIN rtl_process P ON P.id = I.process_id WHERE P.pid = %d "
	"ORDER BY I.id",
	"SELECT S.name, demangled, object, vgpr_count, label, uri FROM rtl_kernel_symbol S JOIN "
	"rtl_process P ON P.id = S.process_id LEFT JOIN rtl_agent A ON A.id = S.agent_id LEFT JOIN "
	"rtl_code_object C ON C.id = S.code_object_id WHERE P.pid = %d ORDER BY S.id",
	"SELECT queue_id, hsa_id, label, internal, create_ns, destroy_ns FROM rtl_queue Q JOIN "
	"rtl_process P ON P.id = Q.process_id LEFT JOIN rtl_agent A ON A.id = Q.agent_id WHERE P.pid = %d "
	"ORDER BY Q.id",
	"SELECT label, system_ns, C.monotonic_ns, realtime_ns, ticks FROM rtl_clock C JOIN rtl_process P "
	"ON P.id = C.process_id LEFT JOIN rtl_agent A ON A.id = C.agent_id WHERE P.pid = %d ORDER BY C.id",
	"SELECT os_pid, ppid, host, boot_id, trace_id, command, rank, mode, clock, first_ns, last_ns, "
	"state FROM rtl_process WHERE pid = %d",
	"SELECT A.tid, N.string, O.start, O.end FROM rocpd_api A JOIN rocpd_api_ops L ON L.api_id = A.id "
	"JOIN rocpd_op O ON O.id = L.op_id JOIN rocpd_string N ON N.id = O.description_id WHERE A.pid = "
	"%d ORDER BY L.id",
	"SELECT packet_index, begin_ns, correlation_id & 0xffffffff, O.type FROM rtl_barrier JOIN rtl_op O "
	"USING (op_id) WHERE O.pid = %d",
};

static void check_same(const char *a, int pid_a, const char *b, int pid_b)
{
	for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
		char sql[2][1024];
		const char *text;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(sql[0], sizeof(sql[0]), digests[i], pid_a);
		snprintf(sql[1], sizeof(sql[1]), digests[i], pid_b);
#pragma GCC diagnostic pop
		text = db_text(a, sql[0]);
		CHECK_GT_UINT(strlen(text), 0);
		CHECK_STR_EQ(db_text(b, sql[1]), text);
	}
}

TEST(merged_processes_keep_all_rows)
{
	const char *inputs[3] = { make_db("1.db", 100, "nodeA"), make_db("2.db", 200, "nodeA"),
				  make_db("3.db", 300, "nodeA") };

	merge(inputs, 3);
	for (int i = 0; i < 3; i++)
		check_same(inputs[i], (i + 1) * 100, out, (i + 1) * 100);
	CHECK_EQ_UINT(res.nr_processes, 3);
	CHECK_EQ_UINT(res.nr_dispatches, 27);
	CHECK_EQ_UINT(res.nr_internal, 3);
	CHECK_EQ_UINT(res.nr_copies, 9);
	CHECK_EQ_UINT(res.nr_markers, 15);
	CHECK_EQ_UINT(res.nr_ops, 36);
	CHECK_EQ_UINT(res.first_ns, 1000000100);
	CHECK_EQ_UINT(res.last_ns, 1000025000);
	CHECK_STR_EQ(res.verdict, "complete");
	CHECK_EQ_INT(db_int(out,
			    "SELECT count(*) FROM rtl_dispatch D JOIN rtl_op O USING (op_id) JOIN "
			    "rtl_marker M USING (marker_id) WHERE M.pid <> O.pid"),
		     0);
	CHECK_EQ_INT(
		db_int(out,
		       "SELECT count(*) FROM rocpd_api A JOIN rocpd_api_ops L ON L.api_id = "
		       "A.id JOIN rtl_op O ON O.op_id = L.op_id WHERE A.pid <> O.pid OR A.tid <> "
		       "O.tid"),
		0);
	/* correlation ids are unique in the file */
	CHECK_EQ_INT(
		db_int(out,
		       "SELECT count(*) FROM (SELECT correlation_id FROM rtl_dispatch WHERE NOT "
		       "flags & 32 GROUP BY 1 HAVING count(*) > 1)"),
		0);
	CHECK_STR_EQ(
		db_text(out, "SELECT tag, count(*) FROM rocpd_metadata GROUP BY tag"),
		"gpu_stride|1\npid_stride|1\nreferences::rocpd_string.id|10\nrtl_change_counter|1\nrtl_rows.rocpd_api|1\n"
		"rtl_rows.rocpd_op|1\nrtl_schema_version|1\nschema_version|1\n"
		"session_count|1\n");
}

TEST(merged_database_can_be_merged_again_with_spool)
{
	const char *two[2] = { make_db("1.db", 100, "nodeA"), make_db("2.db", 200, "nodeB") };
	struct spool_make_sample s = { .pid = 300, .host = "nodeB", .closed = true };
	char first[256];
	const char *inputs[2] = { first, test_tmpfile("3.rtl") };

	merge(two, 2);
	snprintf(first, sizeof(first), "%s/first.db", test_tmpdir());
	CHECK_OK(rename(out, first));
	spool_make_sample(inputs[1], &s);
	merge(inputs, 2);
	check_same(two[0], 100, out, 100);
	check_same(two[1], 200, out, 10000200);
	CHECK_STR_EQ(db_text(out, "SELECT pid, os_pid, host, node FROM rtl_process ORDER BY id"),
		     "100|100|nodeA|0\n10000200|200|nodeB|1\n10000300|300|nodeB|1\n");
	/* GPUs are moved once, as processes are */
	CHECK_STR_EQ(db_text(out, "SELECT DISTINCT gpuId / 1000 FROM rocpd_op WHERE gpuId >= 0"),
		     "0\n1\n");
	CHECK_EQ_INT(db_int(out, "SELECT value FROM rocpd_metadata WHERE tag = 'session_count'"),
		     3);
}

TEST(same_pid_on_two_hosts_stays_two_processes)
{
	const char *inputs[2] = { make_db("1.db", 100, "nodeA"), test_tmpfile("2.db") };
	static struct spool_make m;
	struct spool_make_op op = { .tid = 100, .begin_ns = 100, .end_ns = 200, .correlation = 1 };
	const char *spool = test_tmpfile("2.rtl");

	spool_make_begin(&m, spool, 100, false);
	m.header.trace_id[0] = 99;
	spool_make_chunk(&m, 100);
	spool_make_info(&m, 1, "host", "nodeB");
	spool_make_agent(&m, 0, REC_AGENT_GPU, 0, 0);
	spool_make_queue(&m, 0, 0, 0, 1);
	spool_make_shape(&m, 1, 0, 64, 64);
	spool_make_dispatch(&m, &op);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(rpd_write(&spool, 1, inputs[1], NULL, &res));
	merge(inputs, 2);
	CHECK_STR_EQ(
		db_text(out,
			"SELECT node, pid, count(*) FROM napi WHERE apiName = 'Thread' GROUP BY "
			"1, 2"),
		"0|100|2\n1|100|1\n");
	CHECK_STR_EQ(db_text(out, "SELECT node, gpuId, count(*) FROM nop GROUP BY 1, 2"),
		     "0|0|7\n0|1|5\n1|0|1\n");
	CHECK_EQ_INT(db_int(out, "SELECT agent FROM rtl_dispatch WHERE kernel = 'kernel#1'"), 1000);
	CHECK_EQ_INT(db_int(out,
			    "SELECT gpu_id FROM rtl_agent WHERE gpu_index = 0 ORDER BY id DESC"),
		     1000);
}

TEST(trace_given_twice_is_refused)
{
	const char *db = make_db("1.db", 100, "nodeA");
	const char *inputs[2] = { db, db };
	const char *mixed[2] = { db, test_tmpfile("1.db.rtl") };

	check_refused(inputs, 2, EEXIST, "give each trace once");
	check_refused(mixed, 2, EEXIST, "give each trace once");
}

#define RPD2                                                                                               \
	"CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096) "   \
	"NOT NULL, value varchar(4096) NOT NULL);"                                                         \
	"INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '2'), ('note', 'mine');"         \
	"CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string "                \
	"varchar(4096) NOT NULL);"                                                                         \
	"INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'k'), (4, "                  \
	"'KernelExecution'), (5, 'args here');"                                                            \
	"CREATE TABLE rocpd_api (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL, "    \
	"tid integer NOT NULL, start integer NOT NULL, \"end\" integer NOT NULL, apiName_id integer NOT "  \
	"NULL, args_id integer NOT NULL);"                                                                 \
	"INSERT INTO rocpd_api VALUES (8589934593, 100, 101, 10, 20, 2, 5);"                               \
	"CREATE TABLE rocpd_op (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL, "   \
	"queueId integer NOT NULL, sequenceId integer NOT NULL, completionSignal varchar(18) NOT NULL, "   \
	"start integer NOT NULL, \"end\" integer NOT NULL, description_id integer NOT NULL, opType_id "    \
	"integer NOT NULL);"                                                                               \
	"INSERT INTO rocpd_op VALUES (1, 2, 3, 4, '0x5', 30, 40, 3, 4);"                                   \
	"CREATE TABLE rocpd_api_ops (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_id integer NOT "   \
	"NULL, op_id integer NOT NULL);"                                                                   \
	"INSERT INTO rocpd_api_ops VALUES (1, 8589934593, 1);"                                             \
	"CREATE TABLE rocpd_kernelapi (api_ptr_id integer NOT NULL PRIMARY KEY, stream varchar(18) NOT "   \
	"NULL, gridX integer NOT NULL, gridY integer NOT NULL, gridZ integer NOT NULL, workgroupX "        \
	"integer NOT NULL, workgroupY integer NOT NULL, workgroupZ integer NOT NULL, groupSegmentSize "    \
	"integer NOT NULL, privateSegmentSize integer NOT NULL, kernelArgAddress varchar(18) NOT NULL, "   \
	"aquireFence varchar(8) NOT NULL, releaseFence varchar(8) NOT NULL, codeObject_id integer NOT "    \
	"NULL, kernelName_id integer NOT NULL);"                                                           \
	"INSERT INTO rocpd_kernelapi VALUES (8589934593, '0', 7, 1, 1, 64, 1, 1, 0, 0, '', '', '', 0, 3);" \
	"CREATE TABLE ext_other (x);"

TEST(older_rpd_file_is_merged_with_defaults)
{
	const char *inputs[2] = { make_db("1.db", 150, "nodeA"), test_tmpfile("old.rpd") };

	db_exec(inputs[1], RPD2);
	merge(inputs, 2);
	check_same(inputs[0], 150, out, 150);
	CHECK_STR_EQ(
		db_text(out,
			"SELECT pid, tid, start, end, domain, category, apiName, args FROM api "
			"WHERE apiName = 'hipLaunchKernel'"),
		"100|101|10|20|||hipLaunchKernel|args here\n");
	CHECK_STR_EQ(
		db_text(out,
			"SELECT gpuId, queueId, sequenceId, O.start, O.end, completionSignal, "
			"D.string, N.string FROM rocpd_op O JOIN rocpd_string D ON D.id = "
			"O.description_id JOIN rocpd_api_ops L ON L.op_id = O.id JOIN rocpd_api A ON "
			"A.id = L.api_id JOIN rocpd_string N ON N.id = A.apiName_id WHERE "
			"completionSignal = '0x5'"),
		"2|3|4|30|40|0x5|k|hipLaunchKernel\n");
	CHECK_STR_EQ(db_text(out,
			     "SELECT gridX, stream, kernelName FROM kernel WHERE kernelName = 'k'"),
		     "7|0|k\n");
	CHECK_EQ_INT(db_int(out, "SELECT count(*) FROM rtl_api WHERE name = 'hipLaunchKernel'"), 1);
	CHECK_STR_EQ(db_text(out, "SELECT value FROM rocpd_metadata WHERE tag = 'note'"), "mine\n");
	CHECK_STR_EQ(db_text(out, "SELECT state FROM rtl_process ORDER BY id"), "closed\nrpd\n");
	CHECK_STR_HAS(res.warning, "ext_other");
}

/* Beside a file of RPD the rows are in tables as RPD has them; else most of those are views. */
static void check_layouts(const char *const *inputs, size_t nr)
{
	static const char *const tables[] = {
		"rocpd_api_ops ORDER BY id",	"rocpd_kernelapi ORDER BY api_ptr_id",
		"rtl_api_data ORDER BY api_id", "rtl_op_kernel ORDER BY op_id",
		"rtl_dispatch ORDER BY op_id",	"rtl_api ORDER BY api_id",
		"kernel ORDER BY id",		"rtl_stream ORDER BY 1, 2, 3, 4",
	};
	static const char views[] =
		"SELECT group_concat(name) FROM (SELECT name FROM sqlite_master "
		"WHERE type = 'view' AND name IN ('rocpd_api_ops', "
		"'rocpd_kernelapi', 'rtl_api_data', 'rtl_op_kernel'))";
	const char *with_rpd[4] = { inputs[0], inputs[1],
				    nr > 2 ? inputs[2] : test_tmpfile("l.rpd"),
				    test_tmpfile("l.rpd") };
	char plain[sizeof(out) + 8], sql[160];

	merge(with_rpd, nr + 1);
	CHECK_STR_EQ(db_text(out, views), "NULL\n");
	snprintf(plain, sizeof(plain), "%s.plain", out);
	CHECK_OK(rename(out, plain));
	/* the foreign file's rows are the last ones */
	db_exec(plain,
		"DELETE FROM rocpd_api_ops WHERE id = (SELECT max(id) FROM rocpd_api_ops);"
		"DELETE FROM rocpd_kernelapi WHERE api_ptr_id = (SELECT max(api_ptr_id) FROM rocpd_kernelapi);"
		"DELETE FROM rocpd_api WHERE id = (SELECT max(id) FROM rocpd_api)");
	merge(inputs, nr);
	CHECK_EQ_INT(strlen(db_text(out, views)), 57);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const char *text;

		snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[i]);
		text = db_text(plain, sql);
		CHECK_GT_UINT(strlen(text), 0);
		CHECK_STR_EQ(db_text(out, sql), text);
	}
}

TEST(rows_are_the_same_in_both_layouts)
{
	const char *inputs[3] = { test_tmpfile("a.rtl"), test_tmpfile("b.rtl") };
	const char *mixed[3] = { test_tmpfile("a.db"), inputs[1] };

	spool_api_sample(inputs[0], false, true);
	spool_make_sample(inputs[1], &(struct spool_make_sample){ .pid = 200, .closed = true });
	db_exec(test_tmpfile("l.rpd"), RPD2);
	/* raw traces, and a database of the compact layout */
	check_layouts(inputs, 2);
	CHECK_OK(rpd_write(inputs, 1, mixed[0], NULL, &res));
	check_layouts(mixed, 2);
	/* what has the other layout keeps it */
	mixed[0] = test_tmpfile("merged.db.plain");
	mixed[1] = test_tmpfile("c.rtl");
	spool_make_sample(mixed[1], &(struct spool_make_sample){ .pid = 300, .closed = true });
	merge(mixed, 2);
	CHECK_EQ_INT(db_int(out,
			    "SELECT count(*) FROM sqlite_master WHERE name = 'rocpd_api_ops' AND "
			    "type = 'table'"),
		     1);
	CHECK_EQ_INT(db_int(out, "SELECT count(*) FROM rocpd_api_ops"),
		     db_int(mixed[0], "SELECT count(*) FROM rocpd_api_ops") + 12);
}

/* RPD's tools that trim a file remove rows of views, too. */
TEST(links_and_launches_are_removed_as_from_tables)
{
	const char *spool = test_tmpfile("a.rtl"), *db = test_tmpfile("a.db");

	spool_api_sample(spool, false, true);
	CHECK_OK(rpd_write(&spool, 1, db, NULL, &res));
	db_exec(db,
		"CREATE TABLE kept AS SELECT id FROM rocpd_api ORDER BY start LIMIT 4;"
		"CREATE TABLE links AS SELECT * FROM rocpd_api_ops WHERE api_id IN (SELECT id FROM kept);"
		"CREATE TABLE launches AS SELECT * FROM rocpd_kernelapi WHERE api_ptr_id IN (SELECT id FROM kept);"
		"DELETE FROM rocpd_api_ops WHERE api_id NOT IN (SELECT id FROM kept);"
		"DELETE FROM rocpd_kernelapi WHERE api_ptr_id NOT IN (SELECT id FROM kept);"
		"DELETE FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM rocpd_api_ops)");
	CHECK_GT_INT(db_int(db, "SELECT count(*) FROM links"), 0);
	CHECK_GT_INT(db_int(db, "SELECT count(*) FROM launches"), 0);
	CHECK_STR_EQ(db_text(db, "SELECT * FROM rocpd_api_ops ORDER BY 1"),
		     db_text(db, "SELECT * FROM links ORDER BY 1"));
	CHECK_STR_EQ(db_text(db, "SELECT * FROM rocpd_kernelapi ORDER BY 1"),
		     db_text(db, "SELECT * FROM launches ORDER BY 1"));
	CHECK_STR_EQ(db_text(db, "SELECT id FROM rocpd_op ORDER BY 1"),
		     db_text(db, "SELECT op_id FROM links ORDER BY 1"));
	/* and made, and changed */
	db_exec(db,
		"INSERT INTO rocpd_api_ops (api_id, op_id) SELECT 7, id FROM rocpd_op;"
		"UPDATE rocpd_api_ops SET api_id = 8 WHERE id = (SELECT min(id) FROM rocpd_op)");
	CHECK_EQ_INT(db_int(db,
			    "SELECT sum(api_id = 7) + 1 = count(*) AND sum(api_id = 8) = 1 FROM "
			    "rocpd_api_ops"),
		     1);
}

TEST(conflicting_metadata_is_kept_under_new_tag)
{
	const char *inputs[3] = { test_tmpfile("1.rpd"), test_tmpfile("2.rpd"),
				  test_tmpfile("3.rpd") };

	for (int i = 0; i < 3; i++)
		db_exec(inputs[i], RPD2);
	db_exec(inputs[2], "UPDATE rocpd_metadata SET value = 'theirs' WHERE tag = 'note'");
	merge(inputs, 3);
	CHECK_STR_EQ(
		db_text(out,
			"SELECT tag, value FROM rocpd_metadata WHERE tag LIKE 'note%' ORDER BY "
			"id"),
		"note|mine\nnote.6|theirs\n");
	CHECK_EQ_INT(db_int(out, "SELECT count(*) FROM rocpd_api"), 3);
}

TEST(file_that_is_not_a_trace_is_refused)
{
	const char *db = make_db("1.db", 100, "nodeA");
	const char *inputs[2] = { db, test_tmpfile("x") };
	int fd;

	check_refused(inputs, 2, ENOENT, "No such file");
	fd = open(inputs[1], O_CREAT | O_WRONLY, 0600);
	CHECK_GE_INT(fd, 0);
	check_refused(inputs, 2, EINVAL, "empty");
	CHECK_EQ_INT(write(fd, "{\"traceEvents\": []}", 19), 19);
	check_refused(inputs, 2, EINVAL, "is not a spool");
	close(fd);
	CHECK_OK(unlink(inputs[1]));
	db_exec(inputs[1], "CREATE TABLE t (x)");
	check_refused(inputs, 2, EINVAL, "without the tables of a trace");
	inputs[1] = test_tmpdir();
	check_refused(inputs, 2, EISDIR, "directory");
}

TEST(cut_database_reports_offset)
{
	const char *db = make_db("1.db", 100, "nodeA");

	CHECK_OK(truncate(db, 50000));
	check_refused(&db, 1, EINVAL, "cut off at offset 50000");
	CHECK_OK(truncate(db, 50));
	check_refused(&db, 1, EINVAL, "cut off at offset 50");
}

TEST(rtl_database_without_a_table_is_refused)
{
	const char *db = make_db("1.db", 100, "nodeA");

	db_exec(db,
		"DROP VIEW rtl_copy; DROP VIEW copyop; DROP VIEW rtl_op; DROP TABLE rtl_op_copy");
	check_refused(&db, 1, EINVAL, "table rtl_op_copy is missing");
}

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t random_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The result is a complete database or a message that names the file, never a crash. */
TEST(damaged_database_does_not_crash)
{
	const char *db = make_db("1.db", 100, "nodeA");
	static const struct job_options opt = { .force = true };
	struct stat st;
	char *good;
	int fd = open(db, O_RDWR);
	int failed = 0;

	name_out();
	CHECK_GE_INT(fd, 0);
	CHECK_OK(fstat(fd, &st));
	good = calloc(1, (size_t)st.st_size);
	CHECK_NOT_NULL(good);
	CHECK_EQ_INT(read(fd, good, (size_t)st.st_size), st.st_size);
	for (int round = 0; round < 300; round++) {
		enum identify_kind kind;
		char error[512];

		for (uint64_t i = 1 + random_next() % 30; i > 0; i--) {
			uint64_t at = random_next() % (uint64_t)st.st_size;
			char bad = (char)(good[at] ^ (1 << random_next() % 8));

			CHECK_EQ_INT(pwrite(fd, &bad, 1, (off_t)at), 1);
		}
		if (identify_file(db, &kind, error, sizeof(error)) < 0)
			CHECK_STR_HAS(error, db);
		if (rpd_merge(&db, 1, out, &opt, &res) < 0) {
			failed++;
			CHECK_MSG(strlen(res.error) > strlen(db) || strstr(res.error, "merged.db"),
				  "%s", res.error);
		}
		CHECK_EQ_INT(pwrite(fd, good, (size_t)st.st_size, 0), st.st_size);
	}
	CHECK_GT_INT(failed, 0);
	close(fd);
	free(good);
}
