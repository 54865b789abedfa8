/* SPDX-License-Identifier: MIT */
/* rpd_internal.h - shared by the files of the database writer
 *
 *	rpd.c		the interface: names, temporary file, order of steps
 *	rpd_db.c	SQLite: open, run, errors as text
 *	rpd_tables.c	every table and its columns
 *	rpd_schema.c	makes tables, views, indexes
 *	rpd_feed.c	rows of operations in bulk
 *	rpd_page.c	rows in SQLite's file format
 *	rpd_meta.c	metadata and losses
 *	rpd_spool.c	operations of a spool
 *	rpd_api.c	calls of a spool
 *	rpd_pending.c	operations whose call is not recorded yet
 *	rpd_state.c	what continues an unfinished database
 *	rpd_split.c	a trace in several databases
 *	rpd_pinned.c	pinned host memory by time
 *	rpd_marker.c	markers
 *	rpd_merge.c	rows of another database
 *	rpd_carry.c	its tables and columns
 *
 */
#ifndef RTL_EXPORT_RPD_INTERNAL_H
#define RTL_EXPORT_RPD_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/rpd/rpd.h"
#include "export/rpd/rpd_tables.h"
#include "query/identify.h"
#include "query/query.h"
#include "query/rowfile.h"
#include "store/index.h"
#include "store/launches.h"
#include "store/map.h"
#include "store/verdict.h"

#define RPD_BLOCK (INT64_C(1) << 32)
/* Larger ids of a process are damage: they could reach into the block of another process. */
#define RPD_MAX_LOCAL (UINT64_C(1) << 40)
/* Ids of a process whose trace was not complete when its first row was written: markers and threads
 * with small numbers are in front of calls, the others far behind them. */
#define RPD_WIDE_MARKERS (UINT64_C(1) << 24)
#define RPD_WIDE_THREADS (UINT64_C(1) << 16)
#define RPD_WIDE_FAR (INT64_C(1) << 41) /* multiples: markers, threads, calls without an id */
#define RPD_WIDE_BLOCKS (INT64_C(4) * RPD_WIDE_FAR / RPD_BLOCK)
#define RPD_PID_STRIDE INT64_C(10000000)
#define RPD_GPU_STRIDE INT64_C(1000)

/* A trace's id and, from its second database on, the number of that. */
#define RPD_TRACE_ID (32 + 12)

struct rpd_node {
	char *key; /* host and boot */
};

struct rpd {
	sqlite3 *db;
	const char *out;
	char tmp[PATH_MAX + 32];
	const struct job_options *opt;
	struct job_result *res;
	int64_t next_block;
	struct rpd_node *nodes;
	size_t nr_nodes;
	char (*traces)[RPD_TRACE_ID]; /* ids of the traces written so far */
	size_t nr_traces;
	struct verdict verdict;
	struct rpd_feed *feed;
	struct rpd_process **processes; /* begun */
	size_t nr_processes;
	bool is_compact;  /* the layout of the rows (rpd_tables.h) */
	bool is_copy;	  /* of an unfinished database */
	bool keeps_state; /* a later process may continue with the file */
	uint32_t part;	  /* of the trace, from 0 */
	bool is_split;	  /* another file has what follows */
	bool in_transaction;
	int64_t nr_op_rows, nr_api_rows; /* of rocpd_op, rocpd_api */
	struct map gpus;		 /* gpuId of operations */
	uint64_t done, total;		 /* bytes, for the progress bar */
	uint64_t done_of_input;		 /* of the current input, when progress was shown last */
	uint64_t progress_ns;
	bool has_args;	 /* arguments of calls are in the database, from a raw trace */
	bool has_merged; /* rows of another database, too */
};

/* rpd_copy.c */
/* Makes r->tmp a copy of the unfinished database, with its journal. 0 or -errno. */
int rpd_copy(struct rpd *r, const char *path);
void rpd_copy_journal(const struct rpd *r, char name[PATH_MAX + 64]);
/* Whether its trace is one of the inputs. */
int rpd_copy_check(struct rpd *r, const char *const *inputs, size_t nr);

/* rpd_db.c */
int rpd_db_open(struct rpd *r);
void rpd_db_close(struct rpd *r);
/* Runs statements. 0 or -errno with the error text set. */
int rpd_db_exec(struct rpd *r, const char *sql);
/* fmt: as sqlite3_mprintf(), with %Q and %w. */
int rpd_db_execf(struct rpd *r, const char *fmt, ...);
int rpd_db_prepare(struct rpd *r, sqlite3_stmt **stmt, const char *sql);
/* Steps a statement that returns no rows, and resets it. */
int rpd_db_step(struct rpd *r, sqlite3_stmt *stmt);
/* Binds and steps. `types` has one letter for each value: i int64_t; t const char *; n an int64_t
 * that is ignored, binds NULL; e const char *, "" binds NULL. */
int rpd_db_insert(struct rpd *r, sqlite3_stmt *stmt, const char *types, ...);
/* The first column of the first row; fallback without a row. */
int64_t rpd_db_int(struct rpd *r, int64_t fallback, const char *fmt, ...);
/* Turns the last SQLite error into res->error; `what` is the file. Returns -errno. */
int rpd_db_fail(struct rpd *r, const char *what);
#define rpd_fail(r, error, ...) job_fail((r)->res, error, __VA_ARGS__)
#define rpd_warn(r, ...) job_warn((r)->res, __VA_ARGS__)

/* rpd.c */
/* Begins a transaction unless there is one. */
int rpd_transaction(struct rpd *r);
int rpd_progress(struct rpd *r, uint64_t done_of_input);
/* Whether the caller wants the job to end, however long ago it was asked: 0, or -ECANCELED. */
int rpd_check_stopped(struct rpd *r);
/* The node number of a host, in the order of first use. Negative: -ENOMEM. */
int64_t rpd_node_of(struct rpd *r, const char *host, const char *boot_id);
/* Registers a trace; -EEXIST if it is in the database already. */
int rpd_take_trace(struct rpd *r, const char *trace_id, const char *path);

/* rpd_schema.c */
int rpd_schema_create(struct rpd *r);
int rpd_schema_finish(struct rpd *r); /* views and indexes */
/* The indexes of tables that rpd_feed.c fills which have none of most rows: those whose flags have
 * none of QUERY_UNTIMED. NULL ends them. */
extern const char *const rpd_schema_untimed[];

/* rpd_feed.c */
enum {
	RPD_IN_OP = 1,	    /* rocpd_op, and its link to a call */
	RPD_IN_KERNEL = 2,  /* rtl_op_kernel */
	RPD_IN_COPY = 4,    /* rtl_op_copy */
	RPD_IN_RUNTIME = 8, /* rtl_op_runtime */
	RPD_IN_API = 16,    /* rocpd_api and rtl_api_data */
	RPD_IN_KERNELAPI = 32,
	RPD_IN_COPYAPI = 64,
	RPD_IN_GRAPHAPI = 128,
	RPD_IN_GRAPHLAUNCHAPI = 256,
	RPD_IN_API_COPY = 512,
	RPD_MAYBE_DOUBLE = 1024, /* a call that the file may have already: the first one is kept */
};

/* No handle: the column is ''. Not a valid address. */
#define RPD_NO_HANDLE ROWFILE_NONE
/* rocpd_api.category of a launch <<<...>>> */
#define RPD_CONFIGURED "<<<>>>"
#define RPD_NO_STATUS ROWFILE_NONE
#define RPD_NO_ENGINE ROWFILE_NONE

struct rpd_row {
	uint32_t in;
	int64_t id, start, end, correlation, kind, bytes, src, dst;
	union {
		struct { /* an operation */
			int64_t gpu, queue, sequence, description, type, marker, api;
			int64_t thread, shape, flags, begin_ticks, end_ticks;
			int64_t src_agent, dst_agent, engine;
		};
		struct { /* a call */
			int64_t pid, tid, name, category, domain, args, status, parent;
			int64_t stream, grid[3], group[3], shared, private, kernel_name, launch;
			int64_t width, height, dst_device, src_device, sync, pinned;
			int64_t graph, exec;
			int64_t from_agent, to_agent;
		};
	};
};

struct rpd_feed;
int rpd_feed_create(struct rpd_feed **out, struct rpd *r);
void rpd_feed_destroy(struct rpd_feed *feed);
/* A row to fill, with `in` 0; it is written with the next one. The caller sets all fields of the
 * tables in its `in`. */
int rpd_feed_row(struct rpd_feed *feed, struct rpd_row **row);
int rpd_feed_flush(struct rpd_feed *feed);

/* rpd_spool.c */
struct rpd_shape;
struct rpd_fn;
struct rpd_args;
struct rpd_launch;
struct rpd_pinned;
struct rpd_counters;

struct rpd_span {
	int64_t begin, end; /* begin 0: no operation yet */
	uint64_t nr;
};

/* A thread, in the order of first appearance. */
struct rpd_thread {
	uint32_t tid;
	struct rpd_span span; /* of its operations without a call */
};

/* An operation with a row whose call is not recorded yet. */
struct rpd_pending {
	int64_t row, start, end;
	uint64_t correlation;
	uint32_t thread;
	uint32_t in; /* RPD_IN_; 0: a barrier */
};

struct rpd_pin_event {
	uint64_t addr, size; /* size 0: released */
	uint64_t ns;
};

struct rpd_text {
	char *text;
	int64_t id;
};
#define RPD_TEXTS 4096u

/* A process being written: its trace may come in several parts. */
struct rpd_process {
	struct rpd *r;
	struct index *index; /* of the part being written */
	struct index_past past;
	size_t records_saved; /* bytes of past.records that are in the file's state */
	char *path;
	char trace[33];
	bool begun;    /* its names are written */
	bool wide;     /* see RPD_WIDE_MARKERS */
	bool has_apis; /* a call was written */
	bool finished, changed;
	int64_t base, blocks, node, pid;
	int64_t call_base; /* added to correlation ids; the sum is the id of the call's row */
	int64_t next_string, next_ustring;
	int64_t empty_string, empty_ustring;
	int64_t name_marker, name_thread, domain_rtl, domain_roctx, type_kernel;
	int64_t type_copy[REC_COPY_FILL + 1];
	int64_t domain_api[REC_API_NR_DOMAINS];
	int64_t *kernel_names; /* string ids, parallel to index_kernels() */
	const struct store_kernel *kernels;
	struct map kernel_ids; /* kernel to the string id of its name */
	struct map fn_ids;     /* function (rpd_api.c) to that of its name */
	struct rpd_thread *threads;
	size_t nr_threads, cap_threads;
	struct map thread_of; /* tid to thread */
	size_t last_thread;
	struct rpd_pending *pending;
	size_t nr_pending, cap_pending;
	int64_t part_op; /* first operation of this part */
	int64_t next_op, next_shape, next_clock, next_copy, next_launch, next_scratch;
	int64_t first_api; /* first_api + thread: the row that stands for a thread */
	int64_t next_api;  /* the next row for a call without a correlation id, behind those */
	int64_t last_ns;   /* latest time seen while writing */
	struct rpd_shape *shapes;
	struct rpd_text *texts;
	const struct store_op *ops;
	struct rpd_fn *fns;		/* parallel to ops */
	struct rpd_args *args;		/* cache of arguments' texts */
	struct rpd_launch *launch_rows; /* cache of rtl_launch */
	char *args_text;
	struct rpd_pinned *pinned;
	struct rpd_pin_event *pin_events; /* so far */
	uint32_t nr_pin_events;
	size_t cap_pin_events;
	struct map pin_addrs; /* addresses allocated or registered so far */
	bool pins_full;
	uint8_t *pin_ops;	/* parallel to ops, private to rpd_pinned.c */
	uint64_t nr_unnamed;	/* launches without the name of their kernel */
	uint64_t nr_configured; /* launches <<<...>>>, */
	uint64_t nr_parts;	/* and the calls that prepare them and have rows of their own */
	int64_t configured;	/* string id of their category; 0: none so far */
	int64_t marks, ranges;	/* the same of the categories of markers */
	struct map names;	/* hash of a name to the index of its kernel */
	struct map call_names;	/* string id of a kernel's name in a call to its string's id */
	struct map open;	/* marker id to thread, for ranges without an end so far */
	struct map early;	/* marker id to end time, for ends without a begin so far */
	struct launches launches;
	struct rpd_counters *counters; /* NULL: none so far */
	sqlite3_stmt *add_string, *add_ustring, *add_api, *add_shape, *add_marker, *add_barrier;
	sqlite3_stmt *add_clock, *end_marker, *move_marker, *sooner_marker, *add_unnamed, *find_api;
	sqlite3_stmt *add_scratch;
	sqlite3_stmt *add_launch; /* NULL: the layout is plain */
};

/* The id of the trace, to find the process of an earlier part. */
int rpd_spool_trace(struct rpd *r, const char *path, char id[33]);
/* Writes the trace to its end. */
int rpd_spool_add(struct rpd *r, const char *path);
/* Writes what was added to a trace that still grows. */
int rpd_spool_part(struct rpd *r, const char *path);
/* Finishes the processes that have a part in the file and whose trace is not to be written to its
 * end. */
int rpd_spool_finish_rest(struct rpd *r);
void rpd_spool_free(struct rpd_process *p);
/* Gives a process its ids in the database. `complete`: its trace ends in this part. */
int rpd_spool_begin(struct rpd_process *p, bool complete);
/* Writes the names that every process has. */
int rpd_spool_names(struct rpd_process *p);
/* Writes what is on disk so far as the last of each process, and begins them in the next
 * database. */
int rpd_spool_split(struct rpd *r, struct rpd *next);
/* After rpd_state_load(). */
int rpd_spool_prepare(struct rpd_process *p);
/* local + base; 0 for 0 and for ids out of range. */
int64_t rpd_spool_id(const struct rpd_process *p, uint64_t local);
/* The same for a marker. */
int64_t rpd_spool_marker(const struct rpd_process *p, uint64_t marker);
/* The row that stands for a thread. */
int64_t rpd_spool_thread(const struct rpd_process *p, size_t thread);
/* The thread's number; SIZE_MAX if unknown. */
size_t rpd_spool_thread_index(struct rpd_process *p, uint32_t tid);
/* Links an operation to its thread, for want of a call. */
void rpd_spool_widen(struct rpd_process *p, size_t thread, int64_t start, int64_t end);
/* Whether the call of that correlation id is in the file, or in this part. */
bool rpd_spool_called(struct rpd_process *p, uint64_t correlation);
/* The same for a correlation id: the result is the id of the call's row. */
int64_t rpd_spool_call(const struct rpd_process *p, uint64_t correlation);
int rpd_spool_string(struct rpd_process *p, const char *text, int64_t *id);
int rpd_spool_ustring(struct rpd_process *p, const char *text, int64_t *id);

/* rpd_pending.c */
/* Notes the operation of that row, which has no call so far. */
int rpd_pending_add(struct rpd_process *p, const struct rpd_row *row, uint64_t correlation,
		    size_t thread);
int rpd_pending_barrier(struct rpd_process *p, int64_t row, uint64_t correlation, size_t thread);
/* After the feed was flushed: looks for their calls in this part. `final`: those that have none get
 * their threads.
 * *first is the first row that was pending or is of this part. */
int rpd_pending_resolve(struct rpd_process *p, bool final, int64_t *first);

/* rpd_state.c */
int rpd_state_create(struct rpd *r);
int rpd_state_save(struct rpd *r);
int rpd_state_load(struct rpd *r);
int rpd_state_drop(struct rpd *r);
/* Gives `to`, which is empty, the state of the other. */
int rpd_state_copy(struct rpd_process *from, struct rpd_process *to);

/* rpd_split.c */
/* After a merge: databases of one trace that are followed by their next one are continued no
 * more. */
int rpd_split_join(struct rpd *r);
/* Makes of a process' copy its beginning in the next database. The index of the part that was
 * written last is open. */
int rpd_split_begin(struct rpd_process *from, struct rpd_process *to);

/* rpd_api.c */
/* Writes the names of functions and finds the roles of their arguments. */
int rpd_api_begin(struct rpd_process *p);
int rpd_api_call(void *arg, const struct store_api *api);
/* After the feed was flushed: gives calls the names of the kernels of operations from that row
 * on. */
int rpd_api_name(struct rpd_process *p, int64_t first_op, bool final);
void rpd_api_end_part(struct rpd_process *p);
void rpd_api_fini(struct rpd_process *p);

/* rpd_pinned.c */
/* Reads the calls that pin host memory. 0 or -errno. */
int rpd_pinned_begin(struct rpd_process *p);
void rpd_pinned_end_part(struct rpd_process *p);
/* Whether the pointer pointed into pinned host memory at that time. */
bool rpd_pinned_has(const struct rpd_process *p, uint64_t pointer, uint64_t ns);

/* rpd_meta.c */
/* Kernels of several processes that read alike, and are different ones by their mangled names, get
 * names of their own, as those of one process have (store/index_meta.c): all but those of the first
 * process. 0 or -errno. */
int rpd_meta_tell_apart(struct rpd *r);
/* Gives every kernel of this part that is known the string id of its name. */
int rpd_meta_names(struct rpd_process *p);
/* That of one kernel of this part. */
int rpd_meta_kernel(struct rpd_process *p, size_t kernel, int64_t *name);
int rpd_meta_write(struct rpd_process *p);
/* The trace's id, as it is in the database. */
void rpd_meta_trace(const struct rpd_process *p, char id[RPD_TRACE_ID]);
/* The string id of a kernel's demangled name; kernels of the same name share it. Adds the name for
 * kernel `index` if it is missing;
 * SIZE_MAX: only searches. 1: *id is set; 0: not found; or -errno. */
int rpd_meta_name(struct rpd_process *p, const char *name, size_t index, int64_t *id);
/* After all passes: writes the process' row and losses, and adds it to the verdict. */
int rpd_meta_finish(struct rpd_process *p);
int64_t rpd_meta_agent(const struct rpd_process *p, uint32_t agent);

/* rpd_marker.c */
int rpd_marker_begin(void *arg, const struct store_marker *marker);
int rpd_marker_end(void *arg, const struct store_marker_end *end);
/* Ends ranges that were never closed at last_ns, the end of the process. */
/* Writes the ranges that are open to the next database. */
int rpd_marker_continue(struct rpd_process *from, struct rpd_process *to);
int rpd_marker_finish(struct rpd_process *p, int64_t last_ns);

/* rpd_counter.c */
int rpd_counter_create(struct rpd *r);
int rpd_counter_add(void *arg, const struct store_counters *counters);
/* All dispatches are written: gives them their counters. */
int rpd_counter_finish(struct rpd *r);
void rpd_counter_free(struct rpd_process *p);

/* rpd_carry.c: of the database that is attached as `src` */
struct rpd_carry_to {
	struct rpd *r;
	int64_t base;  /* added to ids */
	int64_t empty; /* id of the string '', for columns that the input lacks */
};
/* Whether it has the table, or, unless `column` is NULL, that column. */
bool rpd_carry_has(struct rpd *r, const char *table, const char *column);
/* The statement that copies a table, to be released with sqlite3_free(); NULL: out of memory. */
char *rpd_carry_sql(const struct rpd_carry_to *to, const struct rpd_table *table);

/* rpd_merge.c */
int rpd_merge_add(struct rpd *r, const char *path, enum identify_kind kind);
/* Whether none of the inputs has rows that need the plain layout. */
bool rpd_merge_is_compact(const char *const *inputs, size_t nr);

#endif
