/* SPDX-License-Identifier: MIT */
/* test_csv.c - rocprof's CSV files: of the sample, of RPD's files, their names, errors */
#include "export/csv/csv.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "export/rpd/rpd.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct job_result res;
static const char *input;

static void make_sample(void)
{
	const struct spool_make_sample sample = { .host = "nodeA", .pid = 500, .closed = true };

	input = test_tmpfile("in.rtl");
	spool_make_sample(input, &sample);
}

/* A database as RPD's tracer writes it: without shapes and domains. */
static void make_rpd(void)
{
	input = test_tmpfile("in.db");
	db_make_rpd(
		input,
		"INSERT INTO rocpd_string VALUES (1, 'say \"hi\", twice'), (2, 'KernelExecution'), (3, "
		"'hipLaunchKernel'), (4, ''), (5, 'CopyHostToDevice'), (6, 'hsa_init'), (7, "
		"'UserMarker'), (8, '__hipPushCallConfiguration');"
		"INSERT INTO rocpd_api VALUES (1, 77, 78, 1000, 2000, 3, 4), (2, 77, 77, 10, 20, 6, 4), "
		"(3, 77, 77, 5, 9000, 7, 4), (4, 77, 78, 900, 910, 8, 4);"
		"INSERT INTO rocpd_op VALUES (1, 1, 3, 1, 3000, 5000, 1, 2), (2, 1, 3, 2, 5000, 5500, "
		"4, 5);"
		"INSERT INTO rocpd_api_ops VALUES (1, 1, 1)");
}

static const char *text_of(const char *name)
{
	return test_text_of(test_tmpfile(name));
}

static bool is_there(const char *name)
{
	return access(test_tmpfile(name), F_OK) == 0;
}

static int write_csv(const char *out, bool force)
{
	const struct job_options opt = { .force = force };

	return export_run(export_find("csv"), &input, 1, test_tmpfile(out), &opt, &res);
}

/* Number of files in the folder. */
static unsigned int nr_files(const char *folder)
{
	DIR *dir = opendir(test_tmpfile(folder));
	unsigned int n = 0;

	CHECK_NOT_NULL(dir);
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

#define STATS "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"

TEST(sample_has_rocprof_statistics)
{
	make_sample();
	CHECK_OK(write_csv("out/", false));
	/* three launches of the second have no valid times: they are counted, with no duration */
	CHECK_STR_EQ(text_of("out/stats.csv"),
		     STATS "\"vadd(float const*, float const*, float*, int)\",5,2000,400,62.5\n"
			   "\"plain_name\",4,1200,300,37.5\n");
	CHECK_STR_EQ(text_of("out/copy_stats.csv"),
		     STATS "\"CopyHostToDevice\",1,1000,1000,41.666666666666664\n"
			   "\"CopyDeviceToDevice\",1,900,900,37.5\n"
			   "\"CopyDeviceToHost\",1,500,500,20.833333333333332\n");
	/* the sample has no calls */
	CHECK(!is_there("out/hip_stats.csv"));
	CHECK(!is_there("out/hip_api_trace.csv"));
	CHECK_EQ_UINT(nr_files("out"), 6);
	CHECK_EQ_UINT(res.nr_files, 6);
	CHECK(res.complete);
}

TEST(sample_has_rocprof_traces)
{
	make_sample();
	CHECK_OK(write_csv("out/", false));
	CHECK_STR_EQ(
		text_of("out/memory_copy_trace.csv"),
		"\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,0,1,30,1000010000,1000011000\n"
		"\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",0,2,0,31,1000012000,1000012500\n"
		"\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_DEVICE\",0,1,1,20,1000013000,1000013900\n");
	CHECK_STR_EQ(
		text_of("out/marker_api_trace.csv"),
		"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"\"MARKER_CORE_API\",\"outer\",500,500,0,1000000100,1000017000\n"
		"\"MARKER_CORE_API\",\"inner \"\"quoted\"\"\",500,500,0,1000000200,1000006000\n"
		"\"MARKER_CORE_API\",\"point\",500,500,0,1000006500,1000006500\n"
		"\"MARKER_CORE_API\",\"across threads\",500,500,0,1000018000,1000020000\n"
		"\"MARKER_CORE_API\",\"never closed\",500,500,0,1000019000,1000025000\n");
	CHECK_STR_EQ(
		text_of("out/kernel_trace.csv"),
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",1,0,0,500,1,1,\"vadd(float const*, float const*, float*, int)\",10,1000001000,1000001500,512,16,16,0,32,256,1,1,65536,2,1\n"
		"\"KERNEL_DISPATCH\",1,0,0,500,2,1,\"vadd(float const*, float const*, float*, int)\",11,1000002000,1000002500,512,16,16,0,32,256,1,1,65536,2,1\n"
		"\"KERNEL_DISPATCH\",1,0,0,500,3,1,\"vadd(float const*, float const*, float*, int)\",12,1000003000,1000003500,512,16,16,0,32,256,1,1,65536,2,1\n"
		"\"KERNEL_DISPATCH\",1,0,0,500,4,1,\"vadd(float const*, float const*, float*, int)\",13,1000004000,1000004500,512,16,16,0,32,256,1,1,65536,2,1\n"
		"\"KERNEL_DISPATCH\",2,1,0,500,5,2,\"plain_name\",21,1000009000,1000008500,512,16,16,0,32,64,1,1,1024,2,1\n"
		"\"KERNEL_DISPATCH\",2,1,0,501,6,3,\"plain_name\",33,1000015000,1000016000,512,16,16,0,32,64,1,1,128,2,1\n"
		"\"KERNEL_DISPATCH\",2,1,0,501,7,3,\"plain_name\",34,1000016000,1000016200,512,16,16,0,32,64,1,1,128,2,1\n"
		"\"KERNEL_DISPATCH\",2,1,0,501,8,3,\"plain_name\",32,0,0,512,16,16,0,32,64,1,1,128,2,1\n"
		"\"KERNEL_DISPATCH\",1,0,0,500,9,1,\"vadd(float const*, float const*, float*, int)\",40,1000025000,0,512,16,16,0,32,256,1,1,65536,2,1\n");
	CHECK_STR_EQ(
		text_of("out/results.csv"),
		"\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\",\"wgr\",\"lds\",\"scr\",\"vgpr\",\"sgpr\",\"fbar\",\"sig\",\"obj\",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n"
		"0,\"vadd(float const*, float const*, float*, int)\",0,0,0,500,500,131072,256,512,16,16,32,0,\"0x0\",\"0x20040\",,1000001000,1000001500,1000001500,500\n"
		"1,\"vadd(float const*, float const*, float*, int)\",0,0,1,500,500,131072,256,512,16,16,32,0,\"0x0\",\"0x20040\",,1000002000,1000002500,1000002500,500\n"
		"2,\"vadd(float const*, float const*, float*, int)\",0,0,2,500,500,131072,256,512,16,16,32,0,\"0x0\",\"0x20040\",,1000003000,1000003500,1000003500,500\n"
		"3,\"vadd(float const*, float const*, float*, int)\",0,0,3,500,500,131072,256,512,16,16,32,0,\"0x0\",\"0x20040\",,1000004000,1000004500,1000004500,500\n"
		"4,\"plain_name\",1,1,8589934592,500,500,2048,64,512,16,16,32,0,\"0x0\",\"0x20080\",,1000009000,1000008500,1000008500,0\n"
		"5,\"plain_name\",1,1,2,500,501,256,64,512,16,16,32,0,\"0x0\",\"0x200c0\",,1000015000,1000016000,1000016000,1000\n"
		"6,\"plain_name\",1,1,3,500,501,256,64,512,16,16,32,0,\"0x0\",\"0x200c0\",,1000016000,1000016200,1000016200,200\n"
		"7,\"plain_name\",1,1,1,500,501,256,64,512,16,16,32,0,\"0x0\",\"0x200c0\",,0,0,0,0\n"
		"8,\"vadd(float const*, float const*, float*, int)\",0,0,4,500,500,131072,256,512,16,16,32,0,\"0x0\",\"0x20040\",,1000025000,0,0,0\n");
}

TEST(rpd_file_has_tables_without_packets)
{
	make_rpd();
	CHECK_OK(write_csv("out/", false));
	CHECK_STR_EQ(text_of("out/stats.csv"),
		     STATS "\"say \"\"hi\"\", twice\",1,2000,2000,100.0\n");
	CHECK_STR_EQ(text_of("out/copy_stats.csv"), STATS "\"CopyHostToDevice\",1,500,500,100.0\n");
	CHECK_STR_EQ(text_of("out/hip_stats.csv"),
		     STATS "\"hipLaunchKernel\",1,1000,1000,99.00990099009901\n"
			   "\"__hipPushCallConfiguration\",1,10,10,0.9900990099009901\n");
	CHECK_STR_EQ(text_of("out/hsa_stats.csv"), STATS "\"hsa_init\",1,10,10,100.0\n");
	CHECK_STR_EQ(text_of("out/hip_api_trace.csv"),
		     "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
		     "\"Start_Timestamp\",\"End_Timestamp\"\n"
		     "\"HIP_COMPILER_API\",\"__hipPushCallConfiguration\",77,78,4,900,910\n"
		     "\"HIP_RUNTIME_API\",\"hipLaunchKernel\",77,78,1,1000,2000\n");
	CHECK_STR_HAS(
		text_of("out/kernel_trace.csv"),
		"\n\"KERNEL_DISPATCH\",1,3,0,,1,1,\"say \"\"hi\"\", twice\",1,3000,5000,,,,,,,,,,,\n");
	/* packets are unknown */
	CHECK(!is_there("out/results.csv"));
	CHECK_EQ_UINT(nr_files("out"), 7);
}

TEST(text_is_utf8_and_no_formula)
{
	const char *text;

	input = test_tmpfile("in.db");
	db_make_rpd(
		input,
		"INSERT INTO rocpd_string VALUES (1, '=cmd|calc'), (2, 'KernelExecution'), (3, "
		"CAST(x'61ff62c3a9c3' AS TEXT)), (4, '');"
		"INSERT INTO rocpd_op VALUES (1, 1, 3, 1, 3000, 5000, 1, 2), (2, 1, 3, 2, 5000, "
		"5500, 3, 2);");
	CHECK_OK(write_csv("u.csv", false));
	text = text_of("u.stats.csv");
	CHECK_MSG(strstr(text, "\n\"'=cmd|calc\","), "%s", text);
	CHECK_MSG(strstr(text, "\n\"a\xef\xbf\xbd"
			       "b\xc3\xa9\xef\xbf\xbd\","),
		  "%s", text);
}

TEST(output_is_a_folder_or_a_prefix)
{
	make_sample();
	CHECK_OK(write_csv("p", false));
	CHECK(is_there("p.csv") && is_there("p.stats.csv") && is_there("p.kernel_trace.csv"));
	CHECK_OK(write_csv("q.csv", false));
	CHECK(is_there("q.csv") && is_there("q.stats.csv") && is_there("q.copy_stats.csv"));
	CHECK_OK(mkdir(test_tmpfile("there"), 0777));
	CHECK_OK(write_csv("there", false));
	CHECK(is_there("there/results.csv") && is_there("there/stats.csv"));
	CHECK_EQ_INT(export_run(export_find("csv"), &input, 1, "-", NULL, &res), -EINVAL);
	res.error[0] = 0;
	CHECK_EQ_INT(export_run(export_find("csv"), &input, 1, "", NULL, &res), -EINVAL);
}

TEST(existing_files_are_kept_unless_forced)
{
	FILE *file;

	make_rpd();
	CHECK_OK(mkdir(test_tmpfile("out"), 0777));
	file = fopen(test_tmpfile("out/memory_copy_trace.csv"), "w");
	CHECK_NOT_NULL(file);
	fclose(file);
	/* the existing file is not one of this input's */
	CHECK_OK(write_csv("out", false));
	CHECK_EQ_INT(write_csv("out", false), -EEXIST);
	CHECK_STR_HAS(res.error, "--force");
	make_sample();
	CHECK_OK(write_csv("out", true));
	/* an older file for which the sample has no rows is removed */
	CHECK(!is_there("out/hip_stats.csv"));
	CHECK(!is_there("out/hsa_api_trace.csv"));
	CHECK_EQ_UINT(nr_files("out"), 6);
}

static int stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	(void)done;
	(void)total;
	return 1;
}

TEST(stopped_export_leaves_no_files)
{
	const struct job_options opt = { .progress = stop_at_once };

	input = test_tmpfile("many.rtl");
	spool_make_many(input, 20000);
	CHECK_OK(mkdir(test_tmpfile("out"), 0777));
	CHECK_EQ_INT(export_run(export_find("csv"), &input, 1, test_tmpfile("out"), &opt, &res),
		     -ECANCELED);
	CHECK_EQ_UINT(nr_files("out"), 0);
}

TEST(unwritable_output_is_an_error)
{
	make_sample();
	CHECK_EQ_INT(write_csv("no/such/out", false), -ENOENT);
	CHECK_STR_HAS(res.error, "no/such/out");
	res.error[0] = 0;
	CHECK_EQ_INT(write_csv("no/such/out/", false), -ENOENT);
	input = test_tmpfile("none.db");
	CHECK_EQ_INT(write_csv("out/", false), -ENOENT);
}

static int refuse(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	(void)size;
	return -ENOSPC;
}

static int append(void *arg, const char *bytes, size_t size)
{
	strncat(arg, bytes, size);
	return 0;
}

static struct query *open_input(void)
{
	static const struct job_options opt;
	struct query *q;

	CHECK_OK(query_open(&q, &input, 1, rpd_merge, &opt, &res));
	return q;
}

static int print(struct query *q, const char *table, uint64_t rows, json_write_fn write, char *text)
{
	static struct json j;

	json_init(&j, write, text);
	return csv_print(q, table, rows, &j);
}

TEST(printed_table_equals_file)
{
	static char text[4096];
	struct query *q;

	make_rpd();
	CHECK_OK(write_csv("out/", false));
	q = open_input();
	CHECK_OK(print(q, "hip_stats", 0, append, text));
	CHECK_STR_EQ(text, text_of("out/hip_stats.csv"));
	text[0] = 0;
	CHECK_OK(print(q, "api_stats", 1, append, text));
	CHECK_STR_EQ(text, STATS "\"hipLaunchKernel\",1,1000,1000,98.03921568627452\n");
	CHECK_EQ_INT(print(q, "api_stats", 0, refuse, NULL), -ENOSPC);
	CHECK_EQ_INT(print(q, "results", 0, append, text), -EINVAL);
	CHECK_EQ_INT(print(q, "no such", 0, append, text), -EINVAL);
	query_close(q);
}
