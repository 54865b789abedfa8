/* SPDX-License-Identifier: MIT */
/* rocpd_internal.h - what the files of the database writer share
 *
 *	rocpd.c		the interface: names, temporary file, order of things
 *	rocpd_db.c	SQLite: open, run, errors as text
 *	rocpd_schema.c	tables, views, indexes
 *	rocpd_feed.c	rows of operations in bulk
 *	rocpd_meta.c	what operations refer to, and losses
 *	rocpd_spool.c	operations of a spool
 *	rocpd_api.c	calls of a spool
 *	rocpd_pinned.c	which host memory was pinned when
 *	rocpd_marker.c	markers
 *	rocpd_merge.c	rows of another database
 *	rocpd_carry.c	its tables and columns
 *	rocpd_identify.c what kind of file an input is
 */
#ifndef RTL_EXPORT_ROCPD_INTERNAL_H
#define RTL_EXPORT_ROCPD_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/rocpd.h"
#include "store/index.h"
#include "store/map.h"
#include "store/verdict.h"

#define ROCPD_BLOCK (INT64_C(1) << 32)
/* Numbers of a process from here on are damage: they could reach into another's block. */
#define ROCPD_MAX_LOCAL (UINT64_C(1) << 40)
#define ROCPD_PID_STRIDE INT64_C(10000000)
#define ROCPD_GPU_STRIDE INT64_C(1000)

/* Stored in our flags beside enum rec_flags. */
#define ROCPD_F_PLACED (1 << 16) /* the times in rocpd_op are a place on the axis, not measured */

struct rocpd_node {
	char *key; /* host and boot */
};

struct rocpd {
	sqlite3 *db;
	const char *out;
	char tmp[PATH_MAX + 32];
	const struct rocpd_options *opt;
	struct rocpd_result *res;
	int64_t next_block;
	struct rocpd_node *nodes;
	size_t nr_nodes;
	char (*traces)[33]; /* trace ids taken so far */
	size_t nr_traces;
	struct verdict verdict;
	struct rocpd_feed *feed;
	uint64_t done, total; /* bytes, for progress */
	uint64_t progress_ns;
};

/* rocpd_db.c */
int rocpd_db_open(struct rocpd *r);
void rocpd_db_close(struct rocpd *r);
/* Runs statements. 0 or -errno with the error text set. */
int rocpd_db_exec(struct rocpd *r, const char *sql);
/* fmt: as sqlite3_mprintf(), with %Q and %w. */
int rocpd_db_execf(struct rocpd *r, const char *fmt, ...);
int rocpd_db_prepare(struct rocpd *r, sqlite3_stmt **stmt, const char *sql);
/* Steps a statement that returns no rows, and resets it. */
int rocpd_db_step(struct rocpd *r, sqlite3_stmt *stmt);
/* Binds and steps: types is one letter for each value: i int64_t, t const char *, n an int64_t that is not
 * used: NULL, e const char * whose "" is NULL. */
int rocpd_db_insert(struct rocpd *r, sqlite3_stmt *stmt, const char *types, ...);
/* The first column of the first row; fallback where there is none. */
int64_t rocpd_db_int(struct rocpd *r, int64_t fallback, const char *fmt, ...);
/* Turns the last SQLite error into res->error; `what` is the file. Returns -errno. */
int rocpd_db_fail(struct rocpd *r, const char *what);
int rocpd_fail(struct rocpd *r, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void rocpd_warn(struct rocpd *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* rocpd.c */
int rocpd_progress(struct rocpd *r, uint64_t done_of_input);
/* The node number of a host, given out in the order of first use. Negative: -ENOMEM. */
int64_t rocpd_node_of(struct rocpd *r, const char *host, const char *boot_id);
/* -EEXIST when that trace is in the database already. */
int rocpd_take_trace(struct rocpd *r, const char *trace_id, const char *path);

/* rocpd_schema.c */
int rocpd_schema_create(struct rocpd *r);
int rocpd_schema_finish(struct rocpd *r); /* views and indexes */

/* rocpd_feed.c */
enum {
	ROCPD_IN_OP = 1,      /* rocpd_op and rocpd_api_ops */
	ROCPD_IN_KERNEL = 2,  /* rtl_op_kernel */
	ROCPD_IN_COPY = 4,    /* rtl_op_copy */
	ROCPD_IN_RUNTIME = 8, /* rtl_op_runtime */
	ROCPD_IN_API = 16,    /* rocpd_api and rtl_api_data */
	ROCPD_IN_KERNELAPI = 32,
	ROCPD_IN_COPYAPI = 64,
	ROCPD_IN_GRAPHAPI = 128,
	ROCPD_IN_GRAPHLAUNCHAPI = 256,
};

#define ROCPD_SIGNAL_SIZE 96

/* No handle: the column is ''. No address is this. */
#define ROCPD_NO_HANDLE INT64_MIN
#define ROCPD_NO_STATUS INT64_MIN

struct rocpd_row {
	uint32_t in;
	uint32_t signal_size;
	int64_t id, start, end, correlation, kind, bytes, src, dst;
	union {
		struct { /* an operation */
			int64_t gpu, queue, sequence, description, type, marker, api;
			int64_t thread, shape, flags, begin_ticks, end_ticks;
			int64_t src_agent, dst_agent, engine;
			char signal[ROCPD_SIGNAL_SIZE];
		};
		struct { /* a call */
			int64_t pid, tid, name, category, domain, args, status, parent;
			int64_t stream, grid[3], group[3], shared, private, kernel_name;
			int64_t width, height, dst_device, src_device, sync, pinned;
			int64_t graph, exec;
		};
	};
};

struct rocpd_feed;
int rocpd_feed_create(struct rocpd_feed **out, struct rocpd *r);
void rocpd_feed_destroy(struct rocpd_feed *feed);
/* Room for one row; NULL: rocpd_feed_flush() first. The caller fills all that its `in` uses. */
struct rocpd_row *rocpd_feed_row(struct rocpd_feed *feed);
int rocpd_feed_flush(struct rocpd_feed *feed);

/* rocpd_spool.c */
struct rocpd_shape;
struct rocpd_fn;
struct rocpd_args;
struct rocpd_pinned;

struct rocpd_span {
	int64_t begin, end; /* begin 0: no operation so far */
	uint64_t nr;
};

struct rocpd_text {
	char *text;
	int64_t id;
};
#define ROCPD_TEXTS 4096u

/* One process being written. */
struct rocpd_process {
	struct rocpd *r;
	struct index *index;
	const char *path;
	int64_t base, node, pid;
	int64_t call_base; /* added to correlation ids; that of a call is its row */
	int64_t next_string, next_ustring;
	int64_t empty_string, empty_ustring;
	int64_t name_marker, name_thread, domain_rtl, domain_roctx, type_kernel;
	int64_t type_copy[REC_COPY_FILL + 1];
	int64_t domain_api[REC_API_NR_DOMAINS];
	int64_t *kernel_names; /* string ids, parallel to index_kernels() */
	const struct store_kernel *kernels;
	const struct store_thread *threads;
	size_t nr_threads;
	struct rocpd_span *spans; /* parallel to threads */
	size_t last_thread;
	int64_t next_op, next_shape, next_clock, next_copy;
	int64_t first_api; /* of the synthetic rows: first_api + thread index */
	int64_t next_api;  /* of calls without a correlation id, behind those */
	int64_t last_ns;   /* latest time seen while writing */
	struct rocpd_shape *shapes;
	struct rocpd_text *texts;
	const struct store_op *ops;
	struct rocpd_fn *fns;	 /* parallel to ops */
	struct rocpd_args *args; /* arguments seen lately */
	char *args_text;
	struct rocpd_pinned *pinned;
	uint8_t *pin_ops;      /* parallel to ops: rocpd_pinned.c's */
	uint64_t nr_unnamed;   /* launches that do not name their kernel */
	struct map names;      /* hash of a name to the index of its kernel */
	struct map call_names; /* string id of a kernel's name in a call to its string's id */
	struct map open;       /* marker id to thread, ranges without an end so far */
	struct map early;      /* marker id to end time, ends without a begin so far */
	sqlite3_stmt *add_string, *add_ustring, *add_api, *add_shape, *add_marker, *add_barrier;
	sqlite3_stmt *add_clock, *end_marker, *move_marker, *sooner_marker, *add_unnamed;
};

int rocpd_spool_add(struct rocpd *r, const char *path);
/* Index of the thread, SIZE_MAX when it is not known. */
size_t rocpd_spool_thread(struct rocpd_process *p, uint32_t tid);
/* Adds base; 0 stays 0, and so does what is out of bounds. */
int64_t rocpd_spool_id(const struct rocpd_process *p, uint64_t local);
/* The same for a correlation id, which with that is the id of the call's row, too. */
int64_t rocpd_spool_call(const struct rocpd_process *p, uint64_t correlation);
/* Room for a row, with `in` 0; flushes as need be. */
int rocpd_spool_row(struct rocpd_process *p, struct rocpd_row **row);
int rocpd_spool_string(struct rocpd_process *p, const char *text, int64_t *id);
int rocpd_spool_ustring(struct rocpd_process *p, const char *text, int64_t *id);

/* rocpd_api.c */
/* After rocpd_meta_write(): the names of functions, what their arguments are good for. */
int rocpd_api_begin(struct rocpd_process *p);
int rocpd_api_call(void *arg, const struct store_api *api);
/* After the feed was flushed: what could only be known of all rows. */
int rocpd_api_finish(struct rocpd_process *p);
void rocpd_api_fini(struct rocpd_process *p);

/* rocpd_pinned.c */
/* Reads the trace for what pins host memory. 0 or -errno. */
int rocpd_pinned_begin(struct rocpd_process *p);
void rocpd_pinned_fini(struct rocpd_process *p);
/* Whether the pointer was into pinned host memory at that time. */
bool rocpd_pinned_has(const struct rocpd_process *p, uint64_t pointer, uint64_t ns);

/* rocpd_meta.c */
int rocpd_meta_write(struct rocpd_process *p);
/* The string of a kernel's demangled name; kernels of the same name share one. `index` is that of the
 * kernel, or SIZE_MAX: only look. 1 when found or made, else 0 or -errno. */
int rocpd_meta_name(struct rocpd_process *p, const char *name, size_t index, int64_t *id);
/* After all passes: the process' row, its losses, its place in the verdict. */
int rocpd_meta_finish(struct rocpd_process *p);
int64_t rocpd_meta_agent(const struct rocpd_process *p, uint32_t agent);

/* rocpd_marker.c */
int rocpd_marker_begin(void *arg, const struct store_marker *marker);
int rocpd_marker_end(void *arg, const struct store_marker_end *end);
/* Ranges that were never closed end where the process does. */
int rocpd_marker_finish(struct rocpd_process *p, int64_t last_ns);

/* rocpd_carry.c: of the database that is attached as `src` */
struct rocpd_carry {
	const char *name, *columns;
	bool optional; /* of files other than ours: not there is no fault */
};
struct rocpd_carry_to {
	struct rocpd *r;
	int64_t base;  /* added to ids */
	int64_t empty; /* the id of a string '' for what the input does not have */
};
const struct rocpd_carry *rocpd_carry_tables(size_t *nr);
/* Whether it has the table, or, with `column`, that column of it. */
bool rocpd_carry_has(struct rocpd *r, const char *table, const char *column);
/* The statement that takes a table over, of sqlite3_malloc(); NULL without memory. */
char *rocpd_carry_sql(const struct rocpd_carry_to *to, const struct rocpd_carry *table);

/* rocpd_merge.c */
int rocpd_merge_add(struct rocpd *r, const char *path, enum rocpd_kind kind);

#endif
