/* SPDX-License-Identifier: MIT */
/* test_rpd_api.c - calls in the database: rows, their operations, and the queries of RPD's
 * readers */
#include "export/rpd/rpd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/spool_api.h"
#include "support/db.h"
#include "support/test.h"

/* Ids of calls come behind those of markers (the largest is 2) and threads (three). */
#define SHIFT "6"

static struct job_result res;
static const struct job_options force = { .force = true };

static const char *convert(const char *spool)
{
	const char *db = test_tmpfile("a.db");
	int ret = rpd_write(&spool, 1, db, &force, &res);

	CHECK_MSG(ret == 0, "%s", res.error);
	return db;
}

static const char *sample(bool calls_first, bool functions_last)
{
	const char *path = test_tmpfile("a.rtl");

	spool_api_sample(path, calls_first, functions_last);
	return convert(path);
}

TEST(each_call_is_a_row_with_its_values)
{
	const char *db = sample(true, false);

	CHECK_EQ_UINT(res.nr_apis, 25);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_api"), 25);
	CHECK_STR_EQ(
		db_text(db, "SELECT api_id - " SHIFT
			    ", pid, tid, domain, name, begin_ns, end_ns, status, "
			    "correlation_id - " SHIFT ", nullif(parent_id - " SHIFT ", -" SHIFT
			    "), args FROM "
			    "rtl_api WHERE api_id - " SHIFT
			    " IN (10, 13, 15, 18, 20, 21, 22, 23) ORDER BY 1"),
		"10|70|70|hip|hipLaunchKernel|2000001000|2000001050|0|10|NULL|function_address=0x4000, "
		"kernel=\"_Z4vaddPKfS0_Pfi.kd\", numBlocks={256,2,1}, dimBlocks={256,1,1}, args=0x7ff0, "
		"sharedMemBytes=64, stream=0xa000\n"
		"13|70|71|hip|hipLaunchKernel|2000001300|2000001350|719|13|NULL|function_address=0x4000, "
		"kernel=\"_Z7missingv\", numBlocks={1,0,1}, dimBlocks={1,0,1}, args=0x0, "
		"sharedMemBytes=0, stream=0xb000\n"
		"15|70|70|hip|hipMemcpyDtoHAsync|2000001500|2000001550|0|15|NULL|dst=0x5000, src=0xd000, "
		"sizeBytes=8192, stream=0xa000\n"
		"18|70|70|hip|hipMemsetAsync|2000001800|2000001850|0|18|NULL|dst=0xd000, value=-1, "
		"sizeBytes=65536, stream=0xb000\n"
		"20|70|70|hsa|hsa_queue_create|2000002000|2000002050|4096|20|19|size=1024\n"
		"21|70|70|hip|hipLaunchKernel|2000002100|2000002150|0|21|NULL|\n"
		"22|70|72|hip|hipModuleGetFunction|2000002200|2000002250|500|22|NULL|*function=0x0, "
		"module=0xe000, kname=\"quoted \\\"name\\\", x=1\"\n"
		"23|70|72|hip|hip#999|2000002300|2000002350|-1|23|NULL|\n");
	CHECK_STR_EQ(db_text(db,
			     "SELECT DISTINCT category FROM api WHERE domain IN ('hip', 'hsa')"),
		     "\n");
	CHECK_STR_EQ(db_text(db, "PRAGMA integrity_check"), "ok\n");
	CHECK_STR_EQ(db_text(db, "PRAGMA foreign_key_check"), "");
	CHECK_STR_EQ(db_text(db, "SELECT marker_id, message, begin_ns, end_ns FROM rtl_marker"),
		     "2|range|2000000000|2000009000\n");
	CHECK_STR_EQ(db_text(db, "SELECT DISTINCT marker_id FROM rtl_dispatch"), "2\n");
}

static const char joined[] =
	"SELECT C.name, C.correlation_id - " SHIFT
	", group_concat(X.what, ' ') FROM rtl_api C JOIN (SELECT L.api_id, "
	"O.opType || coalesce(K.bytes, '') AS what, O.id FROM rocpd_api_ops L JOIN op O ON O.id = L.op_id "
	"LEFT JOIN rtl_copy K ON K.op_id = O.id ORDER BY 2) X ON X.api_id = C.api_id GROUP BY C.api_id "
	"ORDER BY C.api_id";

/* In every order of calls, their operations, and the links between them in the file. */
TEST(operation_is_joined_to_call_that_caused_it)
{
	static const char expected[] =
		"hipLaunchKernel|10|KernelExecution\n"
		"hipModuleLaunchKernel|11|KernelExecution\n"
		"hipExtModuleLaunchKernel|12|KernelExecution\n"
		"hipMemcpy|14|CopyHostToDevice4000 KernelExecution\n"
		"hipMemcpyDtoHAsync|15|CopyDeviceToHost8192\n"
		"hipMemcpy2D|16|CopyHostToDevice3000\n"
		"hipMemsetAsync|18|KernelExecution\n"
		"hipLaunchKernel|21|KernelExecution\n"
		"hipGraphLaunch|34|KernelExecution KernelExecution KernelExecution\n"
		"hipGraphLaunch|35|KernelExecution KernelExecution KernelExecution\n"
		"hipGraphLaunch|38|KernelExecution KernelExecution KernelExecution\n";

	for (int order = 0; order < 4; order++) {
		const char *db = sample(order & 1, order & 2);

		CHECK_STR_EQ(db_text(db, joined), expected);
		/* no operation is linked twice, or to a call with another correlation id */
		CHECK_EQ_INT(db_int(db,
				    "SELECT count(*) - count(DISTINCT op_id) FROM rocpd_api_ops"),
			     0);
		CHECK_EQ_INT(
			db_int(db,
			       "SELECT count(*) FROM rocpd_api_ops L JOIN rtl_api A ON A.api_id = "
			       "L.api_id JOIN rocpd_op O ON O.id = L.op_id WHERE "
			       "O.correlation_id <> A.correlation_id"),
			0);
		/* two operations without a call are linked to the row of their thread, which spans
		 * only them */
		CHECK_STR_EQ(
			db_text(db,
				"SELECT A.apiName, A.domain, A.args, A.start, A.end, count(*) FROM "
				"rocpd_api_ops L JOIN api A ON A.id = L.api_id WHERE A.domain = "
				"'rtl'"),
			"Thread|rtl|main|2000001000|2000006080|2\n");
		CHECK_STR_EQ(
			db_text(db,
				"SELECT kernelName FROM kernel ORDER BY kernelName, id LIMIT 1"),
			"plain_name\n");
	}
}

TEST(launches_are_in_kernelapi)
{
	const char *db = sample(false, true);

	CHECK_STR_EQ(
		db_text(db,
			"SELECT api_ptr_id - " SHIFT
			", stream, gridX, gridY, gridZ, workgroupX, workgroupY, workgroupZ, "
			"groupSegmentSize, privateSegmentSize, string FROM rocpd_kernelapi JOIN rocpd_string "
			"S ON S.id = kernelName_id ORDER BY 1"),
		"10|0xa000|256|2|1|256|1|1|64|0|vadd(float const*, float const*, float*, int)\n"
		/* the name of its dispatch */
		"11|0xa000|8|2|1|128|1|1|0|0|plain_name\n"
		/* 1000 work-items are 16 workgroups of 64 */
		"12|0x0|16|2|1|64|1|1|32|0|plain_name\n"
		"13|0xb000|1|0|1|1|0|1|0|0|missing()\n");
	/* calls and dispatches share the strings of names */
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_string WHERE string LIKE 'vadd%'"), 1);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT id, stream, gridX, gridY, gridZ, workgroupX, kernelName FROM "
			"kernel WHERE id IN (SELECT op_id FROM rocpd_api_ops WHERE api_id - " SHIFT
			" IN "
			"(11, 12, 21)) ORDER BY id"),
		"2|0xa000|8|2|1|128|plain_name\n"
		"3|0x0|16|2|1|64|plain_name\n"
		"9||256|2|1|256|vadd(float const*, float const*, float*, int)\n");
}

TEST(copies_are_in_copyapi)
{
	const char *db = sample(true, true);

	CHECK_STR_EQ(db_text(db, "SELECT api_ptr_id - " SHIFT
				 ", stream, size, width, height, kind, dst, src, dstDevice, "
				 "srcDevice, sync, pinned FROM rocpd_copyapi ORDER BY 1"),
		     "14||4096|0|0|1|0xd000|0x5000|-1|-1|1|0\n"
		     "15|0xa000|8192|0|0|2|0x5000|0xd000|-1|-1|0|0\n"
		     "16||0|100|30|4|0xd000|0x5000|-1|-1|1|0\n"
		     "17||16384|0|0|3|0xd000|0xd100|1|0|1|0\n"
		     "18|0xb000|65536|0|0|-1|0xd000||-1|-1|0|0\n"
		     "24||64|0|0|1|0x600|0x5000|-1|-1|1|0\n"
		     "25||400|0|0|-1|0xd000||-1|-1|1|0\n");
	CHECK_STR_EQ(db_text(db, "SELECT id - " SHIFT
				 ", tid, apiName, stream, size, sync FROM copy ORDER BY id"),
		     "14|70|hipMemcpy||4096|1\n15|70|hipMemcpyDtoHAsync|0xa000|8192|0\n"
		     "16|70|hipMemcpy2D||0|1\n17|70|hipMemcpyPeer||16384|1\n"
		     "18|70|hipMemsetAsync|0xb000|65536|0\n24|70|hipMemcpyToSymbol||64|1\n"
		     "25|70|hipMemsetD32||400|1\n");
	/* the operation has the values that the call lacks */
	CHECK_STR_EQ(
		db_text(db,
			"SELECT apiName, size, width, kind, dst, src, dstDevice, srcDevice FROM copyop "
			"ORDER BY id"),
		"hipMemcpy|4096|0|1|0xd000|0x5000|0|-1\n"
		"hipMemcpy|4096|0|1|0xd000|0x5000|-1|-1\n"
		"hipMemcpyDtoHAsync|8192|0|2|0x5000|0xd000|-1|0\n"
		"hipMemcpy2D|3000|100|4|0xd000|0x5000|0|-1\n"
		"hipMemsetAsync|65536|0|-1|0xd000||-1|-1\n");
}

enum { NEW_BATCH = 100, NEW_FILL, NEW_LAUNCH, NEW_LAUNCH_DRV };

/* Functions of HIP 7 with the signatures of the generated wrappers, shortened. */
TEST(launches_and_copies_of_hip_7_have_rows)
{
	const struct spool_make_op op = { .tid = 7,
					  .correlation = 10,
					  .begin_ns = SPOOL_API_T + 2000,
					  .end_ns = SPOOL_API_T + 2080 };
	const char *path = test_tmpfile("new.rtl"), *db;
	static struct spool_make m;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_api_op(&m, REC_API_HIP, NEW_BATCH, 20, "hipMemcpyBatchAsync",
		     "*dsts:p:dst,*srcs:p:src,*sizes:z,totalBytes:z:bytes,count:u,stream:h:stream");
	spool_api_op(&m, REC_API_HIP, NEW_FILL, 22, "hipMemsetD2D32Async",
		     "dst:p:dst,dstPitch:z,value:u,width:u:width,height:u:height,stream:h:stream");
	spool_api_op(
		&m, REC_API_HIP, NEW_LAUNCH, 24, "hipLaunchKernelExC",
		"*config.gridDim:d:grid,*config.blockDim:d:block,*config.dynamicSmemBytes:z:shared,"
		"*config.stream:h:stream,fPtr:p:kernel,kernelName:s:name");
	spool_api_op(&m, REC_API_HIP, NEW_LAUNCH_DRV, 26, "hipDrvLaunchKernelEx",
		     "*config.gridDimX:u:gridx,*config.gridDimY:u:gridy,*config.gridDimZ:u:gridz,"
		     "*config.blockDimX:u:blockx,*config.blockDimY:u:blocky,*config.blockDimZ:u:"
		     "blockz,*config.sharedMemBytes:u:shared,*config.hStream:h:stream,f:h:kernel,"
		     "kernelName:s:name");
	spool_make_string(&m, 28, "kernel");
	SPOOL_API_SAY(&m, 7, NEW_BATCH, 10, 0, 0xd000, 0x5000, 4096, 12288, 2, 0xa000);
	SPOOL_API_SAY(&m, 7, NEW_FILL, 11, 0, 0xd000, 1024, 7, 100, 3, 0xa000);
	SPOOL_API_SAY(&m, 7, NEW_LAUNCH, 12, 0, 4 | UINT64_C(2) << 32, 1, 64 | UINT64_C(1) << 32, 1,
		      512, 0xb000, 0x4000, 28);
	SPOOL_API_SAY(&m, 7, NEW_LAUNCH_DRV, 13, 0, 5, 6, 7, 32, 2, 1, 16, 0xb000, 0xf000, 28);
	/* the two copies of the batch */
	spool_make_copy(&m, &op, REC_COPY_H2D, 0, 1, 4096);
	spool_make_copy(&m, &op, REC_COPY_H2D, 0, 1, 8192);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_STR_EQ(db_text(db, "SELECT apiName, size FROM copyop ORDER BY id"),
		     "hipMemcpyBatchAsync|4096\nhipMemcpyBatchAsync|8192\n");
	CHECK_STR_EQ(db_text(db, "SELECT stream, size, width, height, dst, src, sync FROM "
				 "rocpd_copyapi ORDER BY api_ptr_id"),
		     "0xa000|12288|0|0|0xd000|0x5000|0\n0xa000|0|400|3|0xd000||0\n");
	CHECK_STR_EQ(db_text(db, "SELECT stream, gridX, gridY, gridZ, workgroupX, workgroupY, "
				 "workgroupZ, groupSegmentSize, S.string FROM rocpd_kernelapi K "
				 "JOIN rocpd_string S ON S.id = kernelName_id ORDER BY api_ptr_id"),
		     "0xb000|4|2|1|64|1|1|512|kernel\n0xb000|5|6|7|32|2|1|16|kernel\n");
}

enum { PIN_MALLOC = 100, PIN_HOST, PIN_REGISTER, PIN_FREE, PIN_UNREGISTER, PIN_FREE_ANY, PIN_COPY };

static void pin_functions(struct spool_make *m)
{
	spool_api_op(m, REC_API_HIP, PIN_MALLOC, 20, "hipHostMalloc",
		     "ptr:p,*ptr:p,size:z:bytes,flags:x");
	spool_api_op(m, REC_API_HIP, PIN_HOST, 22, "hipMallocHost", "ptr:p,*ptr:p,size:z:bytes");
	spool_api_op(m, REC_API_HIP, PIN_REGISTER, 24, "hipHostRegister",
		     "hostPtr:p,sizeBytes:z:bytes,flags:x");
	spool_api_op(m, REC_API_HIP, PIN_FREE, 26, "hipHostFree", "ptr:p");
	spool_api_op(m, REC_API_HIP, PIN_UNREGISTER, 28, "hipHostUnregister", "hostPtr:p");
	spool_api_op(m, REC_API_HIP, PIN_FREE_ANY, 30, "hipFree", "ptr:p");
	spool_api_op(m, REC_API_HIP, PIN_COPY, 32, "hipMemcpy",
		     "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind");
}

#define COPY(m, at, pointer) SPOOL_API_SAY(m, 7, PIN_COPY, at, 0, 0xd0000000, pointer, 64, 1)

/* The calls have ascending times, but are in the trace in the order copies, releases,
 * allocations. */
TEST(pinned_column_follows_pinned_memory_by_time)
{
	static const uint64_t copies[][3] = {
		/* time, pointer, pinned */
		{ 5, 0x10000, 0 },  { 11, 0x10000, 1 }, { 12, 0x10fff, 1 }, { 13, 0x11000, 0 },
		{ 14, 0xffff, 0 },  { 21, 0x10000, 0 }, { 31, 0x10fff, 0 }, { 32, 0x10800, 1 },
		{ 33, 0x107ff, 1 }, { 41, 0x10000, 0 }, { 51, 0x20010, 1 }, { 52, 0x30000, 0 },
		{ 61, 0x20010, 0 }, { 71, 0x40000, 1 }, { 73, 0x40000, 0 }, { 75, 0, 0 },
		{ 76, 0x50001, 0 }, { 77, 0x60001, 0 }, { 78, 0x70000, 1 }, { 79, UINT64_MAX, 0 },
		{ 81, 0x80000, 1 }, { 82, 0x90000, 1 }, { 83, 0x90fff, 1 }, { 84, 0xa0000, 1 },
	};
	const char *path = test_tmpfile("p.rtl"), *db;
	char expected[2000] = "";
	static struct spool_make m;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		COPY(&m, copies[i][0], copies[i][1]);
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			 "%d|%d\n", (int)copies[i][0], (int)copies[i][2]);
	}
	/* the first release ends it, by any function */
	SPOOL_API_SAY(&m, 7, PIN_FREE, 20, 0, 0x10000);
	SPOOL_API_SAY(&m, 7, PIN_FREE, 40, 0, 0x10000);
	SPOOL_API_SAY(&m, 7, PIN_UNREGISTER, 60, 0, 0x20000);
	SPOOL_API_SAY(&m, 7, PIN_FREE, 65, 1, 0x70000); /* fails */
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 8);
	SPOOL_API_SAY(&m, 8, PIN_MALLOC, 10, 0, 0x7ff0, 0x10000, 0x1000, 0);
	/* the same address again, half the size */
	SPOOL_API_SAY(&m, 8, PIN_HOST, 30, 0, 0x7ff0, 0x10000, 0xfff);
	SPOOL_API_SAY(&m, 8, PIN_REGISTER, 50, 0, 0x20000, 0x10000, 0);
	SPOOL_API_SAY(&m, 8, PIN_MALLOC, 62, 0, 0x7ff0, 0x40000, 0x1000, 0);
	SPOOL_API_SAY(&m, 8, PIN_FREE_ANY, 72, 0, 0x40000);
	SPOOL_API_SAY(&m, 8, PIN_MALLOC, 63, 2, 0x7ff0, 0x50000, 0x1000, 0); /* fails */
	SPOOL_API_SAY(&m, 8, PIN_REGISTER, 63, 0, 0x60000, 0, 0);
	SPOOL_API_SAY(&m, 8, PIN_MALLOC, 64, 0, 0x7ff0, 0x70000, 0x1000, 0);
	/* a large region, and later small ones within its addresses */
	SPOOL_API_SAY(&m, 8, PIN_REGISTER, 80, 0, 0x80000, 0x100000, 0);
	spool_api_say(&m, 8, PIN_MALLOC, 85, 0, NULL, 0); /* without arguments */
	for (uint64_t i = 0; i < 300; i++)
		SPOOL_API_SAY(&m, 8, PIN_MALLOC, 100 + i, 0, 0x7ff0, 0x80100 + i * 0x100, 0x100, 0);
	pin_functions(&m);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_STR_EQ(db_text(db,
			     "SELECT A.correlation_id - (SELECT min(correlation_id) FROM rtl_api) "
			     "+ 5, C.pinned FROM rocpd_copyapi C JOIN rtl_api A ON A.api_id = "
			     "C.api_ptr_id ORDER BY 1"),
		     expected);
}

TEST(graph_operations_have_executable_launch_and_node)
{
	const char *db = sample(true, false);

	CHECK_STR_EQ(db_text(db, "SELECT api_ptr_id - " SHIFT
				 ", graph, graphExec, stream FROM rocpd_graphapi ORDER BY 1"),
		     "30|||0xa000\n31|0xabc0||0xa000\n33|0xabc0|0xabd0|\n36|0xabe0|0xabd0|\n"
		     "37|0xabe0||\n");
	CHECK_STR_EQ(db_text(db, "SELECT api_ptr_id - " SHIFT
				 ", graph, graphExec, stream FROM rocpd_graphLaunchapi ORDER BY 1"),
		     "34||0xabd0|0xa000\n35||0xabd0|0xb000\n38||0xabd0|0xa000\n");
	/* a node has the same number in each launch; the numbers of a new executable begin at 1
	 * again */
	CHECK_STR_EQ(
		db_text(db,
			"SELECT G.api_id - " SHIFT
			", G.exec, G.exec_id, G.graph, G.replay, G.node, D.queue, D.packet_index "
			"FROM rtl_graph_op G JOIN rtl_dispatch D ON D.op_id = G.op_id ORDER BY "
			"G.api_id, G.node"),
		"34|0xabd0|1|0xabc0|1|1|0|20\n34|0xabd0|1|0xabc0|1|2|0|21\n34|0xabd0|1|0xabc0|1|3|1|10\n"
		"35|0xabd0|1|0xabc0|2|1|0|22\n35|0xabd0|1|0xabc0|2|2|0|23\n35|0xabd0|1|0xabc0|2|3|1|11\n"
		"38|0xabd0|2|0xabe0|1|1|0|24\n38|0xabd0|2|0xabe0|1|2|0|25\n38|0xabd0|2|0xabe0|1|3|1|12\n");
}

TEST(stream_view_lists_its_queues)
{
	CHECK_STR_EQ(db_text(sample(true, false),
			     "SELECT * FROM rtl_stream ORDER BY stream, queue"),
		     "70|0x0|1|0|2000002200|2000002280|1\n"
		     "70|0xa000|0|0|2000002000|2000004880|5\n"
		     "70|0xa000|1|0|2000002100|2000004880|3\n"
		     "70|0xb000|0|0|2000004500|2000004580|2\n"
		     "70|0xb000|1|0|2000004500|2000004580|1\n");
}

/* The queries of each of RPD's tools. */
TEST(queries_of_rpd_readers_return_rows)
{
	const char *db = sample(false, false);

	/* rpd2tracing: rows in rocpd_api, the tables, ustring or an old version */
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_api"), 27);
	CHECK_EQ_INT(db_int(db, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'"),
		     3);
	CHECK_EQ_INT(db_int(db, "SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride'"), 1000);
	CHECK_EQ_INT(db_int(db, "SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride'"),
		     10000000);
	CHECK_EQ_INT(db_int(db,
			    "SELECT count(*) FROM rocpd_api WHERE args_id NOT IN (SELECT id FROM "
			    "rocpd_ustring)"),
		     0);
	CHECK_EQ_INT(
		db_int(db,
		       "SELECT count(*) FROM rocpd_api A, rocpd_string S WHERE S.id IN (A.apiName_id, "
		       "A.category_id, A.domain_id)"),
		81);
	/* its query for graphs */
	CHECK_STR_EQ(
		db_text(db,
			"SELECT graphExec, gpuId, min(queueId), min(start), max(end) - min(start), count(*) "
			"FROM rocpd_graphLaunchapi A JOIN rocpd_api_ops B ON B.api_id = A.api_ptr_id "
			"JOIN rocpd_op C ON C.id = B.op_id GROUP BY api_ptr_id LIMIT 1"),
		"0xabd0|0|0|2000004400|80|3\n");
	/* raptor: a span, all eight columns of op */
	CHECK_STR_EQ(db_text(db, "SELECT min(start), max(end) FROM rocpd_api"),
		     "2000000000|2000009000\n");
	CHECK_STR_EQ(
		db_text(db,
			"SELECT id, gpuId, queueId, sequenceId, start, end, description, opType FROM "
			"op WHERE id IN (1, 4)"),
		"1|0|0|0|2000002000|2000002080|vadd(float const*, float const*, float*, int)|"
		"KernelExecution\n4|0|10001|0|2000002500|2000002600||CopyHostToDevice\n");
	/* rpd_trim: deletes unlinked operations */
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM "
				"rocpd_api_ops)"),
		     0);
	CHECK_EQ_INT(
		db_int(db, "SELECT count(*) FROM rocpd_api_ops WHERE api_id NOT IN (SELECT id FROM "
			   "rocpd_api) OR op_id NOT IN (SELECT id FROM rocpd_op)"),
		0);
	/* callstack, graph, autograd: kernelapi and view api */
	CHECK_EQ_INT(
		db_int(db,
		       "SELECT count(*) FROM rocpd_kernelapi C JOIN rocpd_api A ON A.id = C.api_ptr_id "
		       "JOIN rocpd_string S ON S.id = C.kernelName_id"),
		4);
	CHECK_STR_EQ(
		db_text(db, "SELECT id - " SHIFT
			    ", pid, tid, start, end, domain, category, apiName, args FROM "
			    "api WHERE id = 34 + " SHIFT),
		"34|70|70|2000003400|2000003450|hip||hipGraphLaunch|graphExec=0xabd0, stream=0xa000\n");
	CHECK_STR_EQ(
		db_text(db,
			"SELECT Name, TotalCalls, TotalDuration_us, Ave_us FROM top ORDER BY Name"),
		"CopyDeviceToHost|1|0.1|0.1\nCopyHostToDevice|2|0.2|0.1\n"
		"plain_name|2|0.16|0.08\n"
		"vadd(float const*, float const*, float*, int)|15|1.2|0.08\n");
	CHECK_STR_EQ(db_text(db, "SELECT gpuId, GpuTime, WallTime, round(Busy, 6) FROM busy"),
		     "0|1660|5080|0.326772\n");
}

TEST(odd_call_is_kept_and_not_joined)
{
	const char *path = test_tmpfile("o.rtl");
	struct spool_api call = { .tid = 70,
				  .domain = REC_API_HIP,
				  .op = SPOOL_API_MALLOC,
				  .begin_ns = 100,
				  .end_ns = 90 };
	static struct spool_make m;
	uint32_t shape;
	const char *db;

	spool_make_begin(&m, path, 70, false);
	spool_make_chunk(&m, 70);
	/* no id, an impossible id, a duplicate id, an invalid domain, an unknown status */
	spool_api_call(&m, &call);
	call.correlation = UINT64_MAX - 5;
	spool_api_call(&m, &call);
	call.correlation = 7;
	call.status = 3;
	spool_api_call(&m, &call);
	call.status = 4;
	spool_api_call(&m, &call);
	call.correlation = 8;
	call.domain = 77;
	call.flags = REC_F_NO_STATUS;
	spool_api_call(&m, &call);
	shape = spool_make_shape(&m, 1, 0, 64, 64);
	spool_api_dispatch(&m, shape, 0, 0);
	spool_api_dispatch(&m, shape, 1, 7);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_api WHERE correlation_id = 0"), 2);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT api_id - 4, domain, status, correlation_id - 4, begin_ns, end_ns FROM rtl_api "
			"WHERE correlation_id <> 0 ORDER BY api_id"),
		"7|hip|3|7|100|90\n8|unknown|NULL|8|100|90\n");
	CHECK_STR_EQ(db_text(db, "SELECT count(*), sum(api_id = 7 + 4) FROM rocpd_api_ops"),
		     "2|1\n");
	CHECK_STR_EQ(db_text(db, "PRAGMA foreign_key_check"), "");
}

TEST(launch_without_kernel_and_dispatch_has_empty_name)
{
	const char *path = test_tmpfile("u.rtl");
	static struct spool_make m;

	spool_make_begin(&m, path, 70, false);
	spool_make_chunk(&m, 70);
	spool_api_op(&m, REC_API_HIP, SPOOL_API_LAUNCH, 10, "hipLaunchKernel",
		     "f:p:kernel,g:d:grid,b:d:block,s:h:stream");
	SPOOL_API_SAY(&m, 70, SPOOL_API_LAUNCH, 1, 98, 1, 2, 3, 4, 5, 6);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_STR_EQ(db_text(convert(path),
			     "SELECT stream, '<' || string || '>' FROM rocpd_kernelapi JOIN "
			     "rocpd_string S ON S.id = kernelName_id"),
		     "0x6|<>\n");
}

/* More than the cache of arguments holds. */
TEST(arguments_beyond_cache_are_all_written)
{
	const char *path = test_tmpfile("d.rtl");
	static struct spool_make m;
	const char *db;

	spool_make_begin(&m, path, 70, false);
	spool_make_chunk(&m, 70);
	spool_api_op(&m, REC_API_HIP, SPOOL_API_MALLOC, 1, "hipMalloc",
		     "ptr:p,size:z:bytes,*ptr:p");
	for (uint64_t i = 1; i <= 50000; i++) {
		if (spool_make_left(&m) < 200) {
			spool_make_chunk_end(&m);
			spool_make_chunk(&m, 70);
		}
		SPOOL_API_SAY(&m, 70, SPOOL_API_MALLOC, i, 0, 0x7000, i % 40000, 0xd0000);
	}
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	db = convert(path);
	CHECK_EQ_INT(db_int(db, "SELECT count(*) FROM rtl_api WHERE args = 'ptr=0x7000, size=' || "
				"((correlation_id - 2) % 40000) || ', *ptr=0xd0000'"),
		     50000);
}

TEST(merged_processes_keep_their_own_calls)
{
	const char *spools[2], *db = test_tmpfile("m.db"), *twice = test_tmpfile("t.db");
	static struct spool_make m;
	int ret;

	spools[0] = test_tmpfile("a.rtl");
	spools[1] = test_tmpfile("b.rtl");
	spool_api_sample(spools[0], true, true);
	spool_make_begin(&m, spools[1], 90, false);
	spool_make_chunk(&m, 90);
	SPOOL_API_SAY(&m, 90, SPOOL_API_QUEUE, 10, 0, 1);
	spool_api_op(&m, REC_API_HSA, SPOOL_API_QUEUE, 1, "hsa_queue_create", "size:u");
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	ret = rpd_write(spools, 2, db, &force, &res);
	CHECK_MSG(ret == 0, "%s", res.error);
	CHECK_EQ_UINT(res.nr_apis, 26);
	CHECK_STR_EQ(
		db_text(db,
			"SELECT pid, name, api_id = correlation_id, api_id - parent_id < 10 FROM rtl_api WHERE "
			"begin_ns = 2000001000 ORDER BY pid"),
		"70|hipLaunchKernel|1|0\n90|hsa_queue_create|1|1\n");
	ret = rpd_merge(&db, 1, twice, &force, &res);
	CHECK_MSG(ret == 0, "%s", res.error);
	CHECK_EQ_UINT(res.nr_apis, 26);
	CHECK_STR_EQ(res.warning, "");
	CHECK_STR_EQ(db_text(twice, "SELECT * FROM rtl_graph_op ORDER BY op_id"),
		     db_text(db, "SELECT * FROM rtl_graph_op ORDER BY op_id"));
	CHECK_STR_EQ(db_text(twice, "SELECT * FROM rtl_api ORDER BY api_id"),
		     db_text(db, "SELECT * FROM rtl_api ORDER BY api_id"));
	CHECK_STR_EQ(db_text(twice, "SELECT * FROM rocpd_copyapi ORDER BY 1"),
		     db_text(db, "SELECT * FROM rocpd_copyapi ORDER BY 1"));
	CHECK_STR_EQ(db_text(twice, "SELECT * FROM rocpd_kernelapi ORDER BY 1"),
		     db_text(db, "SELECT * FROM rocpd_kernelapi ORDER BY 1"));
}
