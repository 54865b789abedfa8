/* SPDX-License-Identifier: MIT */
/* rocprofv3.h - traces as the files of rocprofv3: JSON, CSV, and the database of rocpd
 * (docs/formats/rocprofv3.md)
 *
 * Each writes one file, or one set of files, per process. `out` is a directory (it exists, or ends
 * in "/" and is made): out/HOST/PID_results.json; or a name, in which %pid% and its like
 * (base/pattern.h) stand for those of the process. A name that several processes have gets _PID.
 * Databases of RPD are refused: they lack what these formats require.
 */
#ifndef RTL_EXPORT_ROCPROFV3_ROCPROFV3_H
#define RTL_EXPORT_ROCPROFV3_ROCPROFV3_H

#include "query/query.h"

/* What is written of a trace. */
enum rocprofv3_domain {
	ROCPROFV3_KERNEL = 1 << 0,
	ROCPROFV3_COPY = 1 << 1,
	ROCPROFV3_MARKER = 1 << 2,
	ROCPROFV3_HIP_RUNTIME = 1 << 3,
	ROCPROFV3_HIP_COMPILER = 1 << 4,
	ROCPROFV3_HSA_CORE = 1 << 5,
	ROCPROFV3_HSA_AMD = 1 << 6,
	ROCPROFV3_HSA_IMAGE = 1 << 7,
	ROCPROFV3_HSA_FINALIZE = 1 << 8,
	ROCPROFV3_ALLOCATION = 1 << 9,
	ROCPROFV3_STATS = 1 << 10, /* tables of statistics */
	ROCPROFV3_COUNTERS = 1 << 11,
	ROCPROFV3_RCCL = 1 << 12,
	ROCPROFV3_SCRATCH = 1 << 13,
};
#define ROCPROFV3_HIP (ROCPROFV3_HIP_RUNTIME | ROCPROFV3_HIP_COMPILER)
#define ROCPROFV3_HSA                                                                              \
	(ROCPROFV3_HSA_CORE | ROCPROFV3_HSA_AMD | ROCPROFV3_HSA_IMAGE | ROCPROFV3_HSA_FINALIZE)
#define ROCPROFV3_ALL 0x3fffu

/* How agents are numbered in tables: in HSA's order, by the driver's node, or within their type. */
enum rocprofv3_index { ROCPROFV3_RELATIVE, ROCPROFV3_ABSOLUTE, ROCPROFV3_TYPE_RELATIVE };

struct rocprofv3_choice {
	uint32_t domains; /* enum rocprofv3_domain */
	enum rocprofv3_index index;
	bool mangled, truncated; /* names of kernels in tables */
	bool renamed;		 /* kernels are named after the range that they were launched in */
	/* of %launch_time% and %launch_date%, as strftime() has them; NULL: rocprofv3's own */
	const char *time_format, *date_format;
};

/* export_write_fns; q->res->nr_files is set. */
int rocprofv3_csv_write(struct query *q, const char *out);
int rocprofv3_json_write(struct query *q, const char *out);
int rocpd3_write(struct query *q, const char *out);
/* Another format, of which each process gets a file: export.c knows both. */
struct rocprofv3_viewer {
	const char *format, *suffix; /* "rocprofv3-otf2", "_results.otf2" */
	const char *const *endings;  /* names that end so are used as they are; NULL-ended */
	int (*write)(struct query *q, const char *name); /* the file of q->only */
	bool own_names; /* of streams, and of tracks of counters: those of rocprofv3 */
};
int rocprofv3_viewer_write(struct query *q, const char *out, const struct rocprofv3_viewer *viewer);

/* Documents the columns of each CSV file, and the tables and views of the database (struct
 * export_format). */
void rocprofv3_csv_document(void (*put)(const char *line));
void rocpd3_document(void (*put)(const char *line));

/* From here on the kernels of an open trace have the bare names of their functions. 0 or -errno
 * with q->res->error. */
int rocprofv3_names_shorten(struct query *q);

#endif
