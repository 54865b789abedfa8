/* SPDX-License-Identifier: MIT */
/* export.c - the table of formats that a trace can be written in */
#include "export/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/chrome_trace/chrome_trace.h"
#include "export/csv/csv.h"
#include "export/jsonl/jsonl.h"
#include "export/kineto/kineto.h"
#include "export/otf2/otf2.h"
#include "export/parquet/parquet.h"
#include "export/pftrace/pftrace.h"
#include "export/rocprofv3/rocprofv3.h"
#include "export/rpd/rpd.h"
#include "export/rpd/rpd_tables.h"
#include "export/stacks/folded.h"
#include "export/stacks/speedscope.h"
#include "query/rows.h"

/* rocprofv3's files of viewers are those formats under its names. */
static int write_v3_pftrace(struct query *q, const char *out)
{
	static const char *const endings[] = { ".pftrace", ".pftrace.gz", NULL };
	static const struct rocprofv3_viewer viewer = { "rocprofv3-pftrace", "_results.pftrace",
							endings, pftrace_write, true };

	return rocprofv3_viewer_write(q, out, &viewer);
}

static int write_v3_otf2(struct query *q, const char *out)
{
	static const char *const endings[] = { ".otf2", NULL };
	static const struct rocprofv3_viewer viewer = { "rocprofv3-otf2", "_results.otf2", endings,
							otf2_write, false };

	return rocprofv3_viewer_write(q, out, &viewer);
}

/* X(name, suffix, write, shape, reads_rows, document, use, about): `use` is the format's clause in
 * the option's help, `about` its paragraph in the command's help, with an empty line before it. */
#define FORMATS(X)                                                                                                     \
	X("perfetto", ".json", chrome_trace_write, EXPORT_STREAM, true, NULL,                                          \
	  "perfetto and chrome are one format: it is read by ui.perfetto.dev, chrome://tracing "                       \
	  "and speedscope.",                                                                                           \
	  "\n\nIn the Chrome JSON each traced process is a process, with its threads, their markers and "              \
	  "calls; each GPU is a process with its queues as threads, and a second one with its streams, if they are "   \
	  "known. An arrow leads from a call to each operation that it caused, "                                       \
	  "and from a marker to kernels whose call is unknown. Times are microseconds since "                          \
	  "the earliest event. Every event carries its ids, its exact nanoseconds, and for "                           \
	  "kernels the mangled name, grid and workgroup, for calls each argument; the header "                         \
	  "carries the version of rtl and the verdict.")                                                               \
	X("chrome", ".json", chrome_trace_write, EXPORT_STREAM, true, NULL, "", "")                                    \
	X("pftrace", ".pftrace", pftrace_write, EXPORT_STREAM, true, NULL,                                             \
	  " pftrace is Perfetto's own format, smaller and faster to load.",                                            \
	  "\n\npftrace has the same tracks, and counters as tracks of their own; calls and the operations that they "  \
	  "caused have one flow.")                                                                                     \
	X("speedscope", ".speedscope.json", speedscope_write, EXPORT_STREAM, true, NULL,                               \
	  " speedscope is that viewer's own format, folded is text for flame graphs.",                                 \
	  "\n\nspeedscope has a profile for each thread and each queue, in nanoseconds since the earliest event, "     \
	  "whose frames are ranges, calls and kernels by their short names. folded has one line for each different "   \
	  "stack of process, thread, ranges, call and kernel, with the nanoseconds that the GPU spent in it; "         \
	  "flamegraph.pl and speedscope read it.")                                                                     \
	X("folded", ".folded", folded_write, EXPORT_STREAM, true, NULL, "", "")                                        \
	X("kineto", ".pt.trace.json", kineto_write, EXPORT_STREAM, false, NULL,                                        \
	  " kineto is the format of PyTorch's profiler, for HTA, TraceLens and TensorBoard.",                          \
	  "\n\nA kineto file has one process. For a trace of several, rtl writes a file for each: "                    \
	  "OUT.rank0.pt.trace.json, or OUT.pid1234.pt.trace.json if they have no ranks.")                              \
	X("otf2", ".otf2", otf2_write, EXPORT_ARCHIVE, false, NULL,                                                    \
	  " otf2 is the format of Vampir, Score-P and Cube.",                                                          \
	  "\n\nAn otf2 archive is OUT.otf2, OUT.def and the directory OUT, with a location for each thread and each "  \
	  "strip of a queue; calls and the operations that they caused have the same correlation_id. Of several "      \
	  "traces, one for each rank of a job, rtl writes one archive, whose locations are named after the ranks and " \
	  "have their order. libotf2 3 has to be installed.")                                                          \
	X("jsonl", ".jsonl", jsonl_write, EXPORT_STREAM, false, NULL,                                                  \
	  " jsonl is a JSON object on each line, for scripts.",                                                        \
	  "\n\njsonl has one object on each line: an operation, a call, a range, a count of a counter, a loss. "       \
	  "record says which, and the other members are the columns of the database's view of that name: "             \
	  "dispatch is a row of rtl_dispatch.")                                                                        \
	X("parquet", ".parquet", parquet_write, EXPORT_SET, true, parquet_document,                                    \
	  " parquet makes a data set for DuckDB, ClickHouse, Spark and Dask, of many traces.",                         \
	  "\n\nA parquet data set is a directory, to which each trace adds the folders of its ranks: "                 \
	  "OUT/job=JOB/rank=RANK has dispatches.parquet, copies.parquet, calls.parquet, ranges.parquet, "              \
	  "processes.parquet, losses.parquet, agents.parquet, counters.parquet and clocks.parquet. A folder appears "  \
	  "when all of them are complete. JOB is the scheduler's id of the job (0: there was none), RANK is -1 for "   \
	  "processes without one.")                                                                                    \
	X("csv", "", csv_write, EXPORT_SEVERAL, false, csv_document,                                                   \
	  " csv writes rocprof's files, for scripts.",                                                                 \
	  "\n\ncsv writes OUT.csv (rocprof's table of kernels), OUT.stats.csv, "                                       \
	  "OUT.hip_stats.csv, OUT.hsa_stats.csv and OUT.copy_stats.csv with rocprof's columns, "                       \
	  "and OUT.kernel_trace.csv, OUT.hip_api_trace.csv, OUT.hsa_api_trace.csv, "                                   \
	  "OUT.memory_copy_trace.csv and OUT.marker_api_trace.csv with those of rocprofv3. In a "                      \
	  "directory the names have no prefix: DIR/hip_stats.csv, and DIR/results.csv. "                               \
	  "Files without rows are not written, except those of kernels.")                                              \
	X("rocprofv3-csv", "", rocprofv3_csv_write, EXPORT_SEVERAL, false, rocprofv3_csv_document,                     \
	  " rocprofv3-csv, rocprofv3-json and rocpd3 are rocprofv3's three formats, for tools that read those.",       \
	  "\n\nThe formats of rocprofv3 have one process in a file, or in a set of files. In OUT, %pid%, %hostname% "  \
	  "and %rank% are those of the process; a name that is the same for several gets _PID. In a directory the "    \
	  "names are DIR/HOST/PID_results.json and its like. rocprofv3-csv writes OUT_kernel_trace.csv, "              \
	  "OUT_hip_api_trace.csv, OUT_hsa_api_trace.csv, OUT_marker_api_trace.csv, OUT_memory_copy_trace.csv, "        \
	  "OUT_memory_allocation_trace.csv, statistics of each (OUT_kernel_stats.csv), OUT_domain_stats.csv and "      \
	  "OUT_agent_info.csv; files without rows are not written. rocprofv3-json writes what TraceLens reads, "       \
	  "rocpd3 a database of schema 3 for rocpd.")                                                                  \
	X("rocprofv3-json", "_results.json", rocprofv3_json_write, EXPORT_SEVERAL, false, NULL,                        \
	  "", "")                                                                                                      \
	X("rocpd3", "_results.db", rocpd3_write, EXPORT_SEVERAL, false, rocpd3_document, "", "")                       \
	X("rocprofv3-pftrace", "_results.pftrace", write_v3_pftrace, EXPORT_SEVERAL, false, NULL,                      \
	  "", "")                                                                                                      \
	X("rocprofv3-otf2", "_results.otf2", write_v3_otf2, EXPORT_SEVERAL, false, NULL, "", "")                       \
	X("rpd", ".db", NULL, EXPORT_DATABASE, false, rpd_tables_document,                                             \
	  " rpd is the database itself, for a raw trace.", "")

#define ROW(name, suffix, write, shape, reads_rows, document, use, about)                          \
	{ name, suffix, write, shape, reads_rows, document },
#define NAME(name, suffix, write, shape, reads_rows, document, use, about) "|" name
#define USE(name, suffix, write, shape, reads_rows, document, use, about) use
#define ABOUT(name, suffix, write, shape, reads_rows, document, use, about) about

const struct export_format export_formats[] = { FORMATS(ROW){ NULL, NULL, NULL, EXPORT_STREAM,
							      false, NULL } };
const char export_names[] = FORMATS(NAME);
const char export_help[] = "pftrace (default), perfetto, csv, ...: what to write";
const char export_uses[] = FORMATS(USE);
const char export_about[] =
	"FILE is a database of rtl or RPD, or a raw trace (FILE.rtl). It is read as a stream: "
	"memory does not grow with the trace." FORMATS(ABOUT);

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

const char *export_needs(const struct export_format *format)
{
	static const char several[] =
		"writes several files: name a directory, -o DIR/, or the begin of their names, "
		"-o PREFIX";
	static const char *const needs[] = {
		[EXPORT_DATABASE] = "is a database, which needs a plain file: -o NAME.db",
		[EXPORT_ARCHIVE] = "is an archive of several files: -o NAME.otf2",
		[EXPORT_SET] = "is a data set of several files: name a directory, -o DIR",
		[EXPORT_SEVERAL] = several,
	};

	return needs[format->shape];
}

void export_document(void (*put)(const char *line))
{
	put("<!-- Made by `rtl help --tables`; do not edit. -->");
	put("# Tables and columns");
	for (const struct export_format *format = export_formats; format->name; format++)
		if (format->document)
			format->document(put);
}

static int open_inputs(struct query **q, const char *const *inputs, size_t nr,
		       const struct export_format *format, const struct job_options *opt,
		       struct job_result *res)
{
	int ret = query_open(q, inputs, nr, rpd_merge, opt, res);

	res->nr_ops = 0;
	if (ret == 0 && opt->has_basenames)
		ret = rocprofv3_names_shorten(*q);
	if (ret == 0) {
		(*q)->reads_rows = format->reads_rows;
		(*q)->no_origin = format->shape == EXPORT_SET;
		ret = rows_prepare(*q);
	}
	return ret;
}

static int open_for_archive(struct query **q, const char *input, const struct job_options *opt,
			    struct job_result *res)
{
	return open_inputs(q, &input, 1, export_find("otf2"), opt, res);
}

int export_run(const struct export_format *format, const char *const *inputs, size_t nr,
	       const char *out, const struct job_options *opt, struct job_result *res)
{
	struct job_options own = opt ? *opt : (struct job_options){ 0 };
	struct query *q;
	int ret;

	if (strcmp(out, "-") == 0 && export_needs(format)) {
		snprintf(res->error, sizeof(res->error), "standard output: the format %s %s",
			 format->name, export_needs(format));
		return -EINVAL;
	}
	if (!format->write)
		return rpd_merge(inputs, nr, out, opt, res);
	own.twice = true;
	if (nr > 1 && format->shape == EXPORT_ARCHIVE)
		return otf2_write_job(inputs, nr, out, open_for_archive, &own, res);
	ret = open_inputs(&q, inputs, nr, format, &own, res);
	if (ret == 0)
		ret = format->write(q, out);
	query_close(q);
	return ret;
}
