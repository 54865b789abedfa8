/* SPDX-License-Identifier: MIT */
/* test_rpd.c - the database of a trace, read with SQL as RPD's tools and users do */
#include "export/rpd/rpd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/export.h"
#include "store/changed.h"
#include "store/verdict.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static const struct job_options force = { .force = true };

static const char *sample(bool mem, bool closed)
{
	const char *path = test_tmpfile("a.rtl");
	struct spool_make_sample s = { .pid = 100, .mem = mem, .closed = closed };

	spool_make_sample(path, &s);
	return path;
}

static const char *convert(const char *spool)
{
	const char *db = test_tmpfile("a.db");
	int ret = rpd_write(&spool, 1, db, &force, &res);

	CHECK_MSG(ret == 0, "%s", res.error);
	return db;
}

static void no_files_left(void)
{
	char tmp[512];

	snprintf(tmp, sizeof(tmp), "%s/a.db.tmp-%ld", test_tmpdir(), (long)getpid());
	CHECK_EQ_INT(access(tmp, F_OK), -1);
}

static const char *columns(const char *db, const char *table)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT group_concat(name, ' ') FROM pragma_table_info('%s')",
		 table);
	return db_text(db, sql);
}

TEST(tables_and_views_have_names_and_order_of_rpd)
{
	static const struct {
		const char *table, *columns;
	} expected[] = {
		{ "rocpd_metadata", "id tag value\n" },
		{ "rocpd_string", "id string\n" },
		{ "rocpd_ustring", "id string\n" },
		{ "rocpd_api",
		  "id pid tid start end apiName_id category_id domain_id args_id rtl_status "
		  "rtl_parent_id rtl_correlation_id rtl_launch_id\n" },
		{ "rocpd_op", "id gpuId queueId sequenceId start end description_id opType_id "
			      "completionSignal roctxId correlation_id rtl_api_id rtl_thread_id "
			      "rtl_shape_id rtl_flags rtl_begin_ticks rtl_end_ticks\n" },
		{ "rocpd_api_ops", "id api_id op_id\n" },
		{ "rocpd_kernelapi",
		  "api_ptr_id stream gridX gridY gridZ workgroupX workgroupY workgroupZ "
		  "groupSegmentSize privateSegmentSize kernelName_id\n" },
		{ "rocpd_copyapi",
		  "api_ptr_id stream size width height kind dst src dstDevice srcDevice "
		  "sync pinned\n" },
		{ "rocpd_graphapi", "api_ptr_id graph graphExec stream\n" },
		{ "rocpd_graphLaunchapi", "api_ptr_id graph graphExec stream\n" },
		{ "rocpd_monitor", "id deviceType deviceId monitorType start end value\n" },
		{ "rocpd_counter", "id value op_id name_id\n" },
		{ "rocpd_stackframe", "id api_ptr_id depth name_id\n" },
		{ "api", "id pid tid start end domain category apiName args\n" },
		{ "op", "id gpuId queueId sequenceId start end description opType\n" },
		{ "busy", "gpuId GpuTime WallTime Busy\n" },
		{ "top", "Name TotalCalls TotalDuration_us Ave_us Percentage\n" },
		{ "kernel",
		  "id gpuId queueId sequenceId start end duration stream gridX gridY gridZ "
		  "workgroupX workgroupY workgroupZ groupSegmentSize privateSegmentSize "
		  "kernelName\n" },
		{ "copy",
		  "id pid tid start end apiName stream size width height kind dst src dstDevice "
		  "srcDevice sync pinned\n" },
		{ "copyop",
		  "id gpuId queueId sequenceId start end duration stream size width height kind "
		  "dst src dstDevice srcDevice sync pinned apiName\n" },
		{ "stackframe", "id api_ptr_id depth name\n" },
		{ "napi", "id node pid tid start end domain category apiName args\n" },
		{ "nop", "id node gpuId queueId sequenceId start end description opType\n" },
		{ "rtl_dispatch",
		  "op_id kernel agent queue packet_index begin_ticks end_ticks begin_ns "
		  "end_ns grid_x grid_y grid_z group_x group_y group_z correlation_id "
		  "marker_id flags\n" },
		{ "rtl_copy",
		  "op_id kind bytes src dst begin_ns end_ns correlation_id marker_id\n" },
		{ "rtl_collective",
		  "op_id kernel pid rank agent queue number begin_ns end_ns correlation_id marker_id "
		  "flags\n" },
		{ "rtl_api",
		  "api_id pid tid domain name begin_ns end_ns status correlation_id parent_id "
		  "args\n" },
		{ "rtl_marker", "marker_id pid tid kind message begin_ns end_ns level\n" },
		{ "rtl_stream", "pid stream queue gpu first_ns last_ns ops\n" },
		{ "rtl_graph_op", "op_id api_id exec exec_id graph replay node\n" },
		{ "rtl_loss", "pid reason count first_ns last_ns class text\n" },
	};
	const char *db = convert(sample(false, true));

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		CHECK_STR_EQ(columns(db, expected[i].table), expected[i].columns);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT tag, value FROM rocpd_metadata WHERE tag <> 'rtl_change_counter' AND tag NOT LIKE 'references::%' ORDER BY id"),
		"gpu_stride|1000\npid_stride|10000000\nschema_version|3\nrtl_schema_version|2\n"
		"session_count|1\nrtl_rows.rocpd_op|12\nrtl_rows.rocpd_api|7\n");
	CHECK_EQ_INT(db_int(db,
			    "SELECT value FROM rocpd_metadata WHERE tag = 'rtl_change_counter'"),
		     changed_counter(db));
	CHECK_STR_EQ(db_text(db,
			     "SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL "
			     "ORDER BY name"),
		     "rocpd_strin_string_c7b9cd_idx\nrocpd_ustri_string_84d4a7_idx\n"
		     "rtl_copy_untimed\nrtl_graphapi_exec\nrtl_kernel_untimed\n");
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%rtl_feed%'"),
		     0);
	CHECK_STR_EQ(db_text(db, "PRAGMA integrity_check"), "ok\n");
	CHECK_STR_EQ(db_text(db, "PRAGMA foreign_key_check"), "");
	/* AUTOINCREMENT continues behind the last id */
	CHECK_EQ_INT(db_int(db, "SELECT seq FROM sqlite_sequence WHERE name = 'rocpd_op'"), 14);
}

TEST(each_dispatch_is_a_row_with_its_values)
{
	const char *db = convert(sample(false, true));

	CHECK_EQ_UINT(res.nr_dispatches, SPOOL_SAMPLE_DISPATCHES);
	CHECK_EQ_UINT(res.nr_internal, 1);
	CHECK_EQ_UINT(res.nr_copies, 3);
	CHECK_EQ_UINT(res.nr_barriers, 1);
	CHECK_EQ_UINT(res.nr_markers, 5);
	CHECK_EQ_UINT(res.nr_ops, 12);
	CHECK_STR_EQ(res.verdict, "complete");
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 10);
	CHECK_STR_EQ(db_text(db,
			     "SELECT kernel, agent, queue, packet_index, begin_ticks, end_ticks, "
			     "begin_ns, end_ns, grid_x, grid_y, grid_z, group_x, group_y, group_z, "
			     "correlation_id, marker_id, flags FROM rtl_dispatch WHERE "
			     "correlation_id = 13"),
		     "vadd(float const*, float const*, float*, int)|0|0|3|5300|5350|1000004000|"
		     "1000004500|65536|2|1|256|1|1|13|2|1\n");
	/* an end before its begin is stored unchanged */
	CHECK_STR_EQ(
		db_text(db, "SELECT packet_index, begin_ticks, end_ticks, end_ns - begin_ns, flags "
			    "FROM rtl_dispatch WHERE correlation_id = 21"),
		"8589934592|6000|5500|-500|2\n");
	CHECK_STR_EQ(db_text(db,
			     "SELECT description, opType, gpuId, queueId, sequenceId FROM op WHERE "
			     "id = 1"),
		     "vadd(float const*, float const*, float*, int)|KernelExecution|0|0|0\n");
	CHECK_STR_EQ(db_text(db,
			     "SELECT completionSignal, roctxId, correlation_id FROM rocpd_op WHERE "
			     "id = 1"),
		     "|2|10\n");
	CHECK_STR_EQ(
		db_text(db, "SELECT name, demangled, vgpr_count, accum_vgpr_count, sgpr_count, "
			    "group_size FROM rtl_kernel_symbol WHERE kernel_id = 1"),
		"_Z4vaddPKfS0_Pfi.kd|vadd(float const*, float const*, float*, int)|16|0|32|512\n");
}

TEST(operation_without_times_is_placed_with_no_duration)
{
	const char *db = convert(sample(false, true));

	CHECK_STR_EQ(
		db_text(db, "SELECT begin_ns, end_ns, flags FROM rtl_dispatch WHERE correlation_id "
			    "IN (32, 40) ORDER BY op_id"),
		"0|0|65540\n1000025000|0|8\n");
	CHECK_STR_EQ(db_text(db, "SELECT start > 1000000000, end - start FROM rocpd_op WHERE "
				 "correlation_id IN (32, 40)"),
		     "1|0\n1|0\n");
	CHECK_STR_EQ(db_text(db, "SELECT name FROM rtl_flag WHERE value & 65540 ORDER BY value"),
		     "no_time\nplaced\n");
}

TEST(internal_dispatch_is_not_in_rpd_counts)
{
	const char *db = convert(sample(false, true));

	CHECK_STR_EQ(db_text(db,
			     "SELECT op_id, kernel, queue, begin_ns, flags FROM rtl_dispatch WHERE "
			     "flags & 32"),
		     "5|vadd(float const*, float const*, float*, int)|2|1000007000|32\n");
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_op WHERE id = 5"), 0);
	CHECK_EQ_INT(db_int(db, "SELECT TotalCalls FROM top WHERE Name LIKE 'vadd%'"), 5);
	CHECK_EQ_INT(db_int(db, "SELECT GpuTime FROM busy WHERE gpuId = 0"), 3900);
	CHECK_EQ_INT(db_int(db, "SELECT sum(TotalCalls) FROM top"), 12);
}

TEST(copy_row_has_kind_source_and_destination)
{
	const char *db = convert(sample(false, true));

	CHECK_STR_EQ(db_text(db,
			     "SELECT kind, bytes, src, dst, begin_ns, end_ns, correlation_id FROM "
			     "rtl_copy ORDER BY op_id"),
		     "HostToDevice|4096|CPU 0|GPU 0|1000010000|1000011000|30\n"
		     "DeviceToHost|8192|GPU 1|CPU 0|1000012000|1000012500|31\n"
		     "DeviceToDevice|16384|GPU 0|GPU 0|1000013000|1000013900|20\n");
	CHECK_STR_EQ(db_text(db,
			     "SELECT gpuId, opType, description FROM op WHERE opType LIKE 'Copy%' "
			     "ORDER BY id"),
		     "0|CopyHostToDevice|\n1|CopyDeviceToHost|\n0|CopyDeviceToDevice|\n");
	CHECK_STR_EQ(db_text(db, "SELECT size, kind, dstDevice, srcDevice FROM copyop ORDER BY id"),
		     "4096|1|0|-1\n8192|2|-1|1\n16384|3|0|0\n");
	/* the internal dispatch of a copy has the copy's correlation id */
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_copy C JOIN rtl_dispatch D USING "
				"(correlation_id) WHERE D.flags & 32"),
		     1);
}

TEST(marker_is_a_call_named_usermarker)
{
	const char *db = convert(sample(false, true));

	CHECK_STR_EQ(db_text(db,
			     "SELECT marker_id, pid, tid, kind, message, begin_ns - 1000000000, "
			     "end_ns - 1000000000, level FROM rtl_marker ORDER BY 1"),
		     "1|100|100|push|outer|100|17000|0\n"
		     "2|100|100|push|inner \"quoted\"|200|6000|1\n"
		     "3|100|100|mark|point|6500|6500|1\n"
		     "4|100|100|start|across threads|18000|20000|0\n"
		     "5|100|100|push-unclosed|never closed|19000|25000|0\n");
	CHECK_STR_EQ(db_text(db, "SELECT domain, category, apiName, args FROM api WHERE id = 2"),
		     "roctx|range|UserMarker|inner \"quoted\"\n");
	CHECK_STR_EQ(db_text(db, "SELECT parent_id, end_tid FROM rtl_marker_data ORDER BY api_id"),
		     "0|100\n1|100\n1|100\n0|101\n0|100\n");
	CHECK_EQ_INT(
		db_int(db,
		       "SELECT count(*) FROM rtl_dispatch D JOIN rtl_marker M USING (marker_id) "
		       "WHERE M.message = 'inner \"quoted\"'"),
		4);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_api"), 0);
}

/* rpd_trim deletes operations without a linked call; rpd2tracing requires rows in rocpd_api. */
TEST(each_operation_is_linked_to_its_thread)
{
	const char *db = convert(sample(false, true));

	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM "
				"rocpd_api_ops)"),
		     0);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_api_ops"), 12);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT A.pid, A.tid, A.apiName, A.domain, A.args, count(*), min(O.start) "
			">= A.start, max(O.end) <= A.end FROM api A JOIN rocpd_api_ops L ON "
			"L.api_id = A.id JOIN rocpd_op O ON O.id = L.op_id GROUP BY A.id"),
		"100|100|Thread|rtl|main|6|1|1\n100|101|Thread|rtl||6|1|1\n");
	CHECK_STR_EQ(db_text(db, "SELECT type, tid, count(*) FROM rtl_op GROUP BY 1, 2"),
		     "barrier|101|1\ncopy|101|3\nkernel|100|6\nkernel|101|3\nruntime|100|1\n");
}

TEST(identity_and_clocks_are_kept)
{
	const char *spool = sample(false, true);
	const char *const identity[] = { "command_line", "rtl trace ./demo", NULL };
	const struct job_options opt = { .force = true, .identity = identity };
	const char *db = test_tmpfile("a.db");

	CHECK_OK(rpd_write(&spool, 1, db, &opt, &res));
	CHECK_STR_EQ(
		db_text(db,
			"SELECT pid, os_pid, host, node, command, rank, mode, clock, state FROM "
			"rtl_process"),
		"100|100|nodeA|0|./demo --size 4|3|standard|BOOTTIME|closed\n");
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_info WHERE key = 'library'"), 2);
	CHECK_STR_EQ(db_text(db, "SELECT value FROM rtl_info WHERE process_id IS NULL"),
		     "rtl trace ./demo\n");
	CHECK_STR_EQ(
		db_text(db,
			"SELECT A.label, C.system_ns, C.ticks FROM rtl_clock C JOIN rtl_agent A "
			"ON A.id = C.agent_id"),
		"GPU 0|1000000000|4000\nGPU 0|1001000000|104000\n");
	CHECK_EQ_INT(db_int(db, "SELECT length(uri) FROM rtl_code_object"),
		     2 * REC_STRING_PIECE + 99);
	CHECK_STR_EQ(db_text(db, "SELECT queue_id, hsa_id, internal, traced FROM rtl_queue"),
		     "0|10|0|1\n1|11|0|1\n2|12|1|1\n");
}

TEST(losses_and_verdict_are_in_database)
{
	const char *path = test_tmpfile("l.rtl");
	static struct spool_make m;
	static struct verdict v;
	struct load_error err;
	const char *db;

	spool_make_begin(&m, path, 7, false);
	spool_make_loss(&m, SPOOL_REASON_buffer_full, 17, 5, 9);
	spool_make_loss(&m, SPOOL_REASON_lite_signal, 3, 6, 7);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK(!res.complete);
	CHECK_EQ_UINT(res.nr_lost, 17);
	CHECK_STR_EQ(db_text(db,
			     "SELECT pid, reason, count, first_ns, last_ns, class FROM rtl_loss"),
		     "7|buffer_full|17|5|9|loss\n7|lite_signal|3|6|7|skipped\n");
	CHECK_OK(verdict_of_db(&v, db, &err));
	CHECK_STR_EQ(v.line, res.verdict);
	CHECK(!v.complete);
	CHECK_EQ_UINT(v.nr_skipped, 3);
}

TEST(trace_of_killed_process_is_converted)
{
	const char *db = convert(sample(true, false));

	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 10);
	CHECK_STR_EQ(db_text(db, "SELECT state FROM rtl_process"), "unknown\n");
	CHECK_STR_EQ(res.verdict, "complete; the process ended without its exit handlers");
}

TEST(no_spools_give_empty_database)
{
	const char *db = test_tmpfile("a.db");

	CHECK_OK(rpd_write(NULL, 0, db, NULL, &res));
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 0);
	CHECK_STR_EQ(db_text(db, "SELECT * FROM top"), "");
	CHECK_STR_EQ(db_text(db, "SELECT * FROM busy"), "");
}

TEST(existing_database_is_not_overwritten)
{
	const char *spool = sample(false, true);
	const char *db = convert(spool);
	struct stat before, after;

	CHECK_OK(stat(db, &before));
	CHECK_EQ_INT(rpd_write(&spool, 1, db, NULL, &res), -EEXIST);
	CHECK_STR_HAS(res.error, "--force");
	CHECK_OK(stat(db, &after));
	CHECK_EQ_UINT(before.st_ino, after.st_ino);
	CHECK_OK(rpd_write(&spool, 1, db, &force, &res));
	CHECK_EQ_INT(rpd_write(&spool, 1, test_tmpdir(), &force, &res), -EISDIR);
	CHECK_EQ_INT(rpd_write(&spool, 1, "/dev/null", &force, &res), -EINVAL);
	CHECK_STR_HAS(res.error, "not a regular file");
	CHECK_EQ_INT(rpd_write(&spool, 1, test_tmpfile("no/such/dir.db"), &force, &res), -ENOENT);
	CHECK_STR_HAS(res.error, "No such file");
	no_files_left();
}

TEST(input_that_is_not_a_spool_leaves_no_files)
{
	const char *spool = test_tmpfile("x.rtl");
	const char *db = test_tmpfile("a.db");
	int fd = open(spool, O_CREAT | O_WRONLY, 0600);

	CHECK_GE_INT(fd, 0);
	close(fd);
	CHECK_EQ_INT(rpd_write(&spool, 1, db, NULL, &res), -EINVAL);
	CHECK_STR_HAS(res.error, "empty");
	CHECK_EQ_INT(access(db, F_OK), -1);
	no_files_left();
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
	CHECK_LE_UINT(done, total);
	(*(int *)arg)++;
	return 1;
}

TEST(nonzero_progress_return_stops_conversion)
{
	const char *spool = test_tmpfile("many.rtl");
	const char *db = test_tmpfile("a.db");
	int calls = 0;
	const struct job_options opt = { .progress = stop, .progress_arg = &calls };

	spool_make_many(spool, 20000);
	CHECK_EQ_INT(rpd_write(&spool, 1, db, &opt, &res), -ECANCELED);
	CHECK_EQ_INT(calls, 1);
	CHECK_EQ_INT(access(db, F_OK), -1);
	no_files_left();
}

/* RLIMIT_FSIZE stands in for a full disk. */
TEST(file_size_limit_is_reported_and_output_removed)
{
	const char *spool = test_tmpfile("many.rtl");
	const char *db = test_tmpfile("a.db");
	struct rlimit limit = { 1 << 20, 1 << 20 };

	spool_make_many(spool, 50000);
	signal(SIGXFSZ, SIG_IGN);
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_LT_INT(rpd_write(&spool, 1, db, NULL, &res), 0);
	CHECK_STR_HAS(res.error, db);
	CHECK_EQ_INT(access(db, F_OK), -1);
	CHECK_EQ_INT(access(spool, F_OK), 0);
	no_files_left();
}

static void enter_namespace(void)
{
	char map[64];
	int fd;

	snprintf(map, sizeof(map), "0 %u 1", (unsigned int)geteuid());
	if (geteuid() == 0) {
		if (unshare(CLONE_NEWNS) < 0)
			SKIP("no mount namespaces here");
		return;
	}
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		SKIP("no user namespaces here");
	fd = open("/proc/self/uid_map", O_WRONLY);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		SKIP("no user namespaces here");
	close(fd);
}

/* A file system of 1 MiB in a new mount namespace; skipped where the kernel does not allow one. */
TEST(full_disk_is_reported)
{
	const char *spool = test_tmpfile("many.rtl");
	char db[512];

	spool_make_many(spool, 50000);
	enter_namespace();
	snprintf(db, sizeof(db), "%s", test_tmpfile("small"));
	CHECK_OK(mkdir(db, 0700));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", db, "tmpfs", 0, "size=1m") < 0)
		SKIP("no mounting here");
	snprintf(db, sizeof(db), "%s/a.db", test_tmpfile("small"));
	CHECK_EQ_INT(rpd_write(&spool, 1, db, NULL, &res), -ENOSPC);
	CHECK_STR_HAS(res.error, "No space left");
	CHECK_EQ_INT(access(db, F_OK), -1);
	CHECK_EQ_INT(access(spool, F_OK), 0);
	umount(test_tmpfile("small"));
}

TEST(conversion_without_memory_fails_and_cleans_up)
{
	const char *spool = sample(true, false);
	const char *db = test_tmpfile("a.db");
	int ret = -ENOMEM;

	for (uint64_t nth = 1; ret < 0; nth++) {
		CHECK_LT_UINT(nth, 10000);
		alloc_fail_at(nth);
		ret = rpd_write(&spool, 1, db, NULL, &res);
		alloc_fail_at(0);
		if (ret < 0) {
			CHECK_MSG(ret == -ENOMEM, "call %llu: %d: %s", (unsigned long long)nth, ret,
				  res.error);
			CHECK_GT_UINT(strlen(res.error), 0);
			no_files_left();
		}
	}
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 10);
}

/* A raw trace of one kernel, whose dispatches have many shapes. */
static void begin_shapes(struct spool_make *m, const char *path)
{
	spool_make_begin(m, path, 7, false);
	spool_make_chunk(m, 7);
	spool_make_string(m, 1, "k");
	spool_make_kernel(m, 1, 1, 0, 0);
}

static void make_space(struct spool_make *m)
{
	if (spool_make_left(m) >= 200)
		return;
	spool_make_chunk_end(m);
	spool_make_chunk(m, 7);
}

TEST(shapes_and_messages_beyond_cache_stay_right)
{
	const char *path = test_tmpfile("shapes.rtl");
	static struct spool_make m;
	const char *db;

	begin_shapes(&m, path);
	for (uint32_t i = 1; i <= 30000; i++) {
		struct spool_make_op op = {
			.tid = 7, .begin_ns = i, .end_ns = i + 1, .correlation = i
		};
		char text[32];

		make_space(&m);
		snprintf(text, sizeof(text), "step %u", i % 9000);
		spool_make_marker(&m, REC_MARKER_MARK, 7, i, 0, 0, i, text);
		op.shape = spool_make_shape(&m, 1, 0, i % 20000, 64);
		spool_make_dispatch(&m, &op);
	}
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 30000);
	CHECK_EQ_INT(db_int(db,
			    "SELECT count(*) FROM rtl_dispatch WHERE grid_x <> correlation_id % "
			    "20000"),
		     0);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_marker WHERE message <> "
				"printf('step %d', marker_id % 9000)"),
		     0);
}

TEST(shapes_that_fit_into_the_cache_are_written_once)
{
	const char *path = test_tmpfile("shapes.rtl");
	static struct spool_make m;
	const char *db;

	begin_shapes(&m, path);
	for (uint32_t i = 1; i <= 6000; i++) {
		struct spool_make_op op = { .tid = 7, .begin_ns = i, .end_ns = i + 1 };

		make_space(&m);
		op.shape = spool_make_shape(&m, 1, 0, i % 2000, 64);
		spool_make_dispatch(&m, &op);
	}
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_dispatch"), 6000);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_shape"), 2000);
}

/* Values first to last of a dispatch's pass, each of them `value`. */
static void write_values(struct spool_make *m, uint32_t events, uint32_t first, uint32_t last,
			 uint64_t value)
{
	struct {
		struct rec_counters head;
		uint64_t values[REC_COUNTERS_MAX];
	} rec = { .head = { .events = events,
			    .shape = 4 | 1 << 16,
			    .first = first,
			    .nr = last - first + 1 } };
	const size_t size = sizeof(rec.head) + rec.head.nr * sizeof(value);

	rec.head.h = (struct rec_head){ .type = REC_COUNTERS, .size8 = (uint16_t)(size / 8) };
	for (uint32_t i = 0; i < rec.head.nr; i++)
		rec.values[i] = value;
	spool_make_raw(m, &rec, size);
}

TEST(values_of_passes_in_several_records_are_kept_apart)
{
	const char *path = test_tmpfile("passes.rtl");
	const struct spool_make_op op = { .tid = 7, .begin_ns = 2000, .end_ns = 3000 };
	struct spool_make *m = spool_make_new(path, 7, false);
	const char *db;

	spool_make_chunk(m, 7);
	spool_make_string(m, 1, "gfx900");
	spool_make_string(m, 2, "k");
	spool_make_info(m, 10, "counters", "SQ_WAVES,GRBM_COUNT");
	spool_make_string(m, 4, "6.0.4x241");
	spool_make_string(m, 5, "3.0.0x481");
	spool_make_agent(m, 0, REC_AGENT_GPU, 0, 1);
	spool_make_queue(m, 0, 0, 0, 1000);
	spool_make_kernel(m, 1, 2, 0, 0);
	spool_make_shape(m, 1, 0, 64, 64);
	spool_make_dispatch(m, &op);
	/* a packet that was replayed for a larger pass; parts of both, one after the other */
	write_values(m, 4, 0, 239, 1);
	write_values(m, 5, 0, 239, 1000);
	write_values(m, 5, 240, 479, 1000);
	write_values(m, 4, 240, 240, 1);
	write_values(m, 5, 480, 480, 1000);
	spool_make_chunk_end(m);
	spool_make_end(m, true);
	spool_make_free(m);
	db = convert(path);
	CHECK_STR_EQ(db_text(db, "SELECT N.string, CAST(C.value AS INTEGER) FROM rocpd_counter C "
				 "JOIN rocpd_string N ON N.id = C.name_id ORDER BY 1"),
		     "GRBM_COUNT|481000\nSQ_WAVES|241\n");
}

static void write_scratch(struct spool_make *m, const struct rec_scratch *what)
{
	struct rec_scratch rec = *what;

	rec.h.type = REC_SCRATCH;
	rec.h.size8 = sizeof(rec) / 8;
	spool_make_raw(m, &rec, sizeof(rec));
}

TEST(events_of_scratch_memory_have_rows)
{
	const char *path = test_tmpfile("scratch.rtl");
	struct spool_make *m = spool_make_new(path, 7, false);
	const char *db;

	spool_make_chunk(m, 7);
	spool_make_string(m, 1, "gfx900");
	spool_make_agent(m, 0, REC_AGENT_GPU, 0, 1);
	spool_make_queue(m, 3, 0, 0, 1000);
	spool_make_thread(m, 8, "runtime", 1500);
	write_scratch(m, &(struct rec_scratch){ .h.id = 8,
						.begin_ns = 2000,
						.end_ns = 2010,
						.packet = 5,
						.bytes = 1 << 20,
						.waves = 4,
						.queue = 3,
						.kind = REC_SCRATCH_ALLOC,
						.alloc_flags = 1 });
	write_scratch(m, &(struct rec_scratch){ .h.id = 8,
						.begin_ns = 3000,
						.end_ns = 3030,
						.queue = 3,
						.kind = REC_SCRATCH_RECLAIM });
	/* the runtime does not know the dispatch; librtl does not know the queue */
	write_scratch(m, &(struct rec_scratch){ .h.id = 8,
						.begin_ns = 4000,
						.end_ns = 4040,
						.packet = UINT64_MAX,
						.queue = UINT32_MAX,
						.kind = REC_SCRATCH_ALLOC });
	write_scratch(m, &(struct rec_scratch){ .h.id = 7,
						.begin_ns = 5000,
						.end_ns = 5050,
						.correlation = 9,
						.queue = 3,
						.kind = REC_SCRATCH_FREE });
	/* of a newer version */
	write_scratch(m, &(struct rec_scratch){ .h.id = 7, .kind = 77 });
	spool_make_chunk_end(m);
	spool_make_end(m, true);
	spool_make_free(m);
	db = convert(path);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT T.tid, W.operation, W.flags, W.begin_ns, W.end_ns, W.bytes, W.waves, "
			"coalesce(W.packet_index, 'none'), coalesce(Q.queue_id, 'none'), W.correlation_id & "
			"4294967295 FROM rtl_scratch W JOIN rtl_thread T ON T.id = W.thread_id LEFT JOIN rtl_queue "
			"Q ON Q.id = W.queue_id ORDER BY W.id"),
		"8|alloc|1|2000|2010|1048576|4|5|3|0\n"
		"8|reclaim|0|3000|3030|0|0|none|3|0\n"
		"8|alloc|0|4000|4040|0|0|none|none|0\n"
		"7|free|0|5000|5050|0|0|none|3|9\n");
	CHECK_EQ_INT(db_int(db, "SELECT last_ns FROM rtl_process"), 5050);
}

TEST(ids_beyond_32_bits_keep_processes_apart)
{
	const char *spools[2] = { test_tmpfile("1.rtl"), test_tmpfile("2.rtl") };
	struct spool_make_sample s = { .pid = 200, .closed = true };
	const char *db = test_tmpfile("a.db");
	static struct spool_make m;

	spool_make_begin(&m, spools[0], 7, false);
	spool_make_chunk(&m, 7);
	spool_make_marker(&m, REC_MARKER_MARK, 7, (UINT64_C(1) << 33) + 5, 0, 0, 50, "far");
	/* damage: an id out of range */
	spool_make_marker(&m, REC_MARKER_MARK, 7, UINT64_MAX, 0, 0, 51, "nonsense");
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	spool_make_sample(spools[1], &s);
	CHECK_OK(rpd_write(spools, 2, db, NULL, &res));
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_marker"), 6);
	CHECK_EQ_INT(db_int(db, "SELECT marker_id FROM rtl_marker WHERE message = 'far'"),
		     (INT64_C(1) << 33) + 5);
	CHECK_EQ_INT(db_int(db,
			    "SELECT count(*) FROM rtl_process A JOIN rtl_process B ON A.id < B.id "
			    "WHERE A.id_last >= B.id_first"),
		     0);
	CHECK_STR_EQ(db_text(db, "PRAGMA foreign_key_check"), "");
}

static uint64_t seed = 0x2545f4914f6cdd1du;

static uint64_t random_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Flips bits and corrects the CRC, so that the loader accepts the damaged contents. */
TEST(damaged_contents_do_not_crash_writer)
{
	const char *path = test_tmpfile("d.rtl");
	const char *db = test_tmpfile("d.db");
	static struct spool_make m, copy;
	struct spool_make_op op = { .tid = 7, .begin_ns = 100, .end_ns = 200, .correlation = 1 };

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 7, "t", 1);
	spool_make_string(&m, 1, "_Z1fv");
	spool_make_agent(&m, 0, REC_AGENT_GPU, 0, 1);
	spool_make_queue(&m, 0, 0, 0, 1);
	spool_make_kernel(&m, 1, 1, 0, 1);
	spool_make_code_object(&m, 1, 0, 1, 1);
	spool_make_clock(&m, 1, 5, 6);
	spool_make_marker(&m, REC_MARKER_PUSH, 7, 1, 0, 0, 50, "range");
	spool_make_shape(&m, 1, 0, 64, 64);
	spool_make_dispatch(&m, &op);
	spool_make_dispatch_wide(&m, &op);
	spool_make_copy(&m, &op, REC_COPY_H2D, 0, 0, 64);
	spool_make_barrier(&m, &op, 0);
	spool_make_end_of(&m, REC_MARKER_END, 7, 300, 1);
	spool_make_end_of(&m, REC_QUEUE_END, 0, 300, 0);
	for (int round = 0; round < 400; round++) {
		int ret;

		copy = m;
		copy.disk_fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
		CHECK_GE_INT(copy.disk_fd, 0);
		for (uint64_t i = random_next() % 20; i > 0; i--)
			copy.payload[random_next() % copy.used] ^=
				(uint8_t)(1 << random_next() % 8);
		spool_make_chunk_end(&copy);
		spool_make_end(&copy, true);
		ret = rpd_write(&path, 1, db, &force, &res);
		CHECK_MSG(ret == 0, "round %d: %s", round, res.error);
		if (round % 50 == 0)
			CHECK_STR_EQ(db_text(db, "PRAGMA integrity_check"), "ok\n");
	}
	close(m.disk_fd);
}

TEST(memory_does_not_grow_with_operations)
{
	const char *spool = test_tmpfile("many.rtl");
	struct rusage before, after;

#if defined(RTL_SANITIZE_ADDRESS) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer's memory is not ours");
#endif
	spool_make_many(spool, 300000);
	getrusage(RUSAGE_SELF, &before);
	convert(spool);
	getrusage(RUSAGE_SELF, &after);
	CHECK_EQ_UINT(res.nr_dispatches, 300000);
	CHECK_LT_INT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

TEST(format_is_found_by_name)
{
	CHECK_NOT_NULL(export_find("rpd"));
	CHECK_NULL(export_find("nothing"));
}

struct conversion {
	const struct export_format *format;
	const char *db;
	char out[256];
};

static void export_once(void *arg)
{
	const struct conversion *c = arg;

	CHECK_MSG(export_run(c->format, &c->db, 1, c->out, &force, &res) == 0, "%s: %s",
		  c->format->name, res.error);
}

TEST(formats_give_their_memory_back)
{
	struct conversion c = { .db = convert(sample(false, true)) };

	for (c.format = export_formats; c.format->name; c.format++) {
		if (!c.format->write || c.format->shape == EXPORT_SET)
			continue;
		snprintf(c.out, sizeof(c.out), "%s/x%s", test_tmpdir(), c.format->suffix);
		test_heap_is_given_back(export_once, &c);
	}
}

/* libotf2 3.0.2 asks for the id of the host, which the C library takes from the network. */
TEST(formats_open_no_socket)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	struct conversion c = { .db = convert(sample(false, true)) };

	CHECK_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK_OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
	for (c.format = export_formats; c.format->name; c.format++) {
		if (!c.format->write || c.format->shape == EXPORT_SET)
			continue;
		snprintf(c.out, sizeof(c.out), "%s/x%s", test_tmpdir(), c.format->suffix);
		export_once(&c);
	}
}

TEST(formats_write_files_of_rpd)
{
	const char *db = test_tmpfile("rpd.db");
	struct conversion c = { .db = db };
	int ret;

	db_make_rpd(
		db,
		"INSERT INTO rocpd_string VALUES(1, 'KernelExecution'), (2, 'CopyHostToDevice'), (3, 'work'), (4, '');"
		"INSERT INTO rocpd_op VALUES(1, 0, 0, 0, 100, 200, 3, 1), (2, 0, 0, 0, 300, 400, 4, 2);");
	for (c.format = export_formats; c.format->name; c.format++) {
		if (!c.format->write || c.format->shape == EXPORT_SET)
			continue;
		snprintf(c.out, sizeof(c.out), "%s/x%s", test_tmpdir(), c.format->suffix);
		ret = export_run(c.format, &c.db, 1, c.out, &force, &res);
		CHECK_MSG(ret == 0 || (ret == -EINVAL && strstr(res.error, "is a database of RPD")),
			  "%s: %d, %s", c.format->name, ret, res.error);
	}
}

/* ---- databases that grow --------------------------------------------------------------------- */

/* Begins a database with the traces, commits it after each, and ends the job. Its name. */
static const char *leave_unfinished(const char *const *spools, size_t nr)
{
	static char path[256];
	struct rpd *r;

	CHECK_OK(rpd_grow(&r, test_tmpfile("grown.db"), &force, &res));
	snprintf(path, sizeof(path), "%s", rpd_grow_file(r));
	for (size_t i = 0; i < nr; i++) {
		CHECK_OK(rpd_grow_add(r, spools[i]));
		CHECK_OK(rpd_grow_commit(r));
		CHECK_GT_UINT(rpd_grow_offset(r, spools[i]), 0);
	}
	rpd_grow_end(r);
	CHECK(rpd_grow_is_unfinished(path));
	return path;
}

static void two_samples(char path[2][256])
{
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_make_sample s = { .pid = 100 + i, .host = "nodeA", .mem = true };

		snprintf(path[i], sizeof(path[i]), "%s/p%u.rtl", test_tmpdir(), i);
		spool_make_sample(path[i], &s);
	}
}

static const char tables[] =
	"SELECT pid, tid, kernel, begin_ns, end_ns, packet_index FROM rtl_dispatch JOIN rtl_op O USING (op_id) "
	"UNION ALL SELECT pid, kind, message, begin_ns, end_ns, 0 FROM rtl_marker ORDER BY 1, 4, 3, 6";

TEST(unfinished_database_is_continued)
{
	char path[2][256], at_once[8192], grown[8192];
	const char *spools[2] = { path[0], path[1] };
	const char *db = test_tmpfile("grown.db");
	struct job_options more = { .force = true };
	struct job_result whole;

	two_samples(path);
	CHECK_OK(rpd_write(spools, 2, db, &force, &whole));
	snprintf(at_once, sizeof(at_once), "%s", db_text(db, tables));
	CHECK_GT_UINT(strlen(at_once), 100);
	/* 0: the disk was full before anything was committed */
	for (size_t i = 0; i < 6; i++) {
		CHECK_OK(remove(db));
		more.unfinished = leave_unfinished(spools, i / 2);
		more.keeps_unfinished = i % 2;
		CHECK_MSG(rpd_write(spools, 2, db, &more, &res) == 0, "%zu: %s", i, res.error);
		snprintf(grown, sizeof(grown), "%s", db_text(db, tables));
		CHECK_STR_EQ(grown, at_once);
		CHECK_STR_EQ(db_text(db, "PRAGMA foreign_key_check"), "");
		CHECK_EQ_UINT(res.nr_processes, whole.nr_processes);
		CHECK_EQ_UINT(res.nr_dispatches, whole.nr_dispatches);
		CHECK_EQ_UINT(res.nr_markers, whole.nr_markers);
		CHECK_STR_EQ(res.verdict, whole.verdict);
		CHECK_EQ_INT(remove(more.unfinished), more.keeps_unfinished ? 0 : -1);
	}
}

static void check_not_continued(const char *unfinished, const char *spool)
{
	const struct job_options more = { .force = true,
					  .unfinished = unfinished,
					  .keeps_unfinished = true };

	CHECK_EQ_INT(rpd_write(&spool, 1, test_tmpfile("again.db"), &more, &res), -EINVAL);
	CHECK_STR_HAS(res.error, "is no unfinished database that can be continued");
	CHECK_EQ_INT(access(test_tmpfile("again.db"), F_OK), -1);
}

TEST(damaged_state_is_refused)
{
	char path[2][256], name[600] = "", *hex, *sql, *at;
	const char *spools[1] = { path[0] }, *unfinished;
	size_t size;

	two_samples(path);
	unfinished = leave_unfinished(spools, 1);
	hex = strdup(db_text(unfinished, "SELECT hex(data) FROM rtl_state WHERE id = 1"));
	size = strlen(hex) + 100;
	sql = malloc(size);
	/* the path of the trace without its end */
	for (const char *c = path[0]; *c; c++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%02X",
			 (unsigned char)*c);
	at = strstr(hex, name);
	CHECK_NOT_NULL(at);
	at[strlen(name)] = '4';
	snprintf(sql, size, "UPDATE rtl_state SET data = X'%.*s' WHERE id = 1",
		 (int)strcspn(hex, "\n"), hex);
	db_exec(unfinished, sql);
	check_not_continued(unfinished, path[0]);
	/* and one that ends in the middle */
	at[strlen(name)] = '0';
	snprintf(sql, size, "UPDATE rtl_state SET data = X'%.*s' WHERE id = 1",
		 (int)strcspn(hex, "\n") / 4 * 2, hex);
	db_exec(unfinished, sql);
	check_not_continued(unfinished, path[0]);
	free(sql);
	free(hex);
}

TEST(commit_writes_the_state_of_what_changed)
{
	char path[2][256], unfinished[256];
	const char *spools[2] = { path[0], path[1] };
	struct job_options more = { .force = true, .unfinished = unfinished };
	struct rpd *r;

	two_samples(path);
	snprintf(unfinished, sizeof(unfinished), "%s", leave_unfinished(spools, 1));
	db_exec(unfinished,
		"CREATE TABLE saved (id INTEGER); CREATE TRIGGER note AFTER INSERT ON rtl_state "
		"BEGIN INSERT INTO saved VALUES (new.id); END");
	CHECK_OK(rpd_grow(&r, test_tmpfile("grown.db"), &more, &res));
	CHECK_OK(rpd_grow_add(r, spools[1]));
	CHECK_OK(rpd_grow_commit(r));
	CHECK_OK(rpd_grow_commit(r));
	rpd_grow_end(r);
	/* 0 is the job's; of a process once */
	CHECK_STR_EQ(db_text(unfinished, "SELECT id, count(*) FROM saved WHERE id GROUP BY id"),
		     "2|1\n");
}

TEST(merged_parts_of_a_trace_are_one_process)
{
	char path[2][256], first[256], second[256], part[256];
	const char *inputs[2] = { first, second };
	struct job_result of_next;
	struct rpd *r, *next;

	two_samples(path);
	CHECK_OK(rpd_grow(&r, test_tmpfile("split.db"), &force, &res));
	CHECK_OK(rpd_grow_add(r, path[0]));
	CHECK_OK(rpd_grow_commit(r));
	CHECK_OK(rpd_grow_split(r, &next, &force, &of_next));
	snprintf(part, sizeof(part), "%s", rpd_grow_file(next));
	snprintf(first, sizeof(first), "%s/first.db", test_tmpdir());
	snprintf(second, sizeof(second), "%s/second.db", test_tmpdir());
	CHECK_OK(rpd_grow_finish(r, first));
	CHECK_EQ_INT(db_int(first, "SELECT count(*) FROM rtl_loss WHERE reason = 'continued'"), 1);
	CHECK_OK(rpd_grow_finish(next, second));
	CHECK_MSG(rpd_merge(inputs, 2, test_tmpfile("both.db"), &force, &res) == 0, "%s",
		  res.error);
	CHECK_EQ_UINT(res.nr_processes, 1);
	CHECK_NULL(strstr(res.verdict, "continued"));
	CHECK_EQ_INT(db_int(test_tmpfile("both.db"),
			    "SELECT count(*) FROM rtl_loss WHERE reason = 'continued'"),
		     0);
}
