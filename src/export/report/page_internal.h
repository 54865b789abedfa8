/* SPDX-License-Identifier: MIT */
/* page_internal.h - what the files of the report share
 *
 * The file is the head of the page, blocks of data, and the rest of the page (web/). A block is an
 *	element <script type="text/plain" id="bN">BASE64</script>
 * with deflated bytes. So no byte of the trace is text of the page. There are five kinds of blocks:
 *	slices	 of one row: columns of varints, one after another, in the order of PAGE_COLUMNS
 *	texts	 (id tN) the arguments of the calls, or ranks of the collectives, of block bN, each
 *		 with a 0 behind it
 *	messages calls that send and receive messages of MPI (page_messages.c), if there are some
 *	levels	 the groups of all rows, for pictures of long times
 *	main	 (id "main", the last) JSON: what the trace is, tables, lanes, rows, names
 * A lane is what the page shows under one name: a queue, the calls of a thread. A row is a part of
 * a lane whose slices do not overlap, sorted by begin. web/decode.js reads what page_block.c
 * writes.
 *
 * Memory grows with names, rows and groups (one for up to 64 slices), not with slices. One thread.
 */
#ifndef RTL_EXPORT_REPORT_PAGE_INTERNAL_H
#define RTL_EXPORT_REPORT_PAGE_INTERNAL_H

#include "analysis/tables.h"
#include "export/json.h"
#include "query/query.h"
#include "query/rows.h"
#include "store/map.h"

/* ---- the embedded page, made by web/bundle.py ---- */

extern const unsigned char page_head[], page_tail[];
extern const size_t page_head_size, page_tail_size;
/* The element of the script that pages with messages have. */
extern const unsigned char page_script[];
extern const size_t page_script_size;

/* ---- names: texts by their number in the page ---- */

/* Where an id of the database is a text's. */
enum page_space {
	PAGE_STRING,  /* rocpd_string */
	PAGE_MESSAGE, /* texts of markers */
	PAGE_SYMBOL,  /* rtl_kernel_symbol */
	PAGE_SHAPE,   /* rtl_shape: grid, workgroup, memory */
	PAGE_AGENT,   /* rtl_agent */
	PAGE_STREAM,  /* rows_stream_key() */
	PAGE_SPACES,
};

struct page_names {
	struct query *q;
	char **texts;
	size_t nr, max;
	struct map by_text; /* hash -> number; colliding hashes are probed upwards */
	struct map by_id[PAGE_SPACES];
	sqlite3_stmt *look_up[PAGE_SPACES];
};

int page_names_init(struct page_names *names, struct query *q);
void page_names_fini(struct page_names *names);
/* The number of a text; -ENOMEM. Number 0 is "". */
int64_t page_names_add(struct page_names *names, const char *text);
/* The number of the text with an id; 0 for id 0. -errno with the job's error. */
int64_t page_names_of(struct page_names *names, enum page_space space, int64_t id);

/* ---- blocks ---- */

/* Bytes that are deflated and written as BASE64 while they come. */
struct page_pack;

/* Opens the element with that id. NULL: out of memory. */
struct page_pack *page_pack_open(struct json *out, const char *id);
int page_pack_write(void *pack, const char *bytes, size_t size); /* a json_write_fn */
/* Ends the element, and releases the pack, which may be NULL. */
int page_pack_close(struct page_pack *pack);

struct page_bytes {
	unsigned char *bytes;
	size_t nr, max;
};

/* Appends a number, 7 bits in a byte, the low ones first. 0 or -ENOMEM. */
int page_bytes_put(struct page_bytes *b, uint64_t value);

/* Columns of slices. DELTA: what is added to the value of the slice before, 0 before the first;
 * with its sign in bit 0. */
#define PAGE_COLUMNS(X)                                                                            \
	X(begin, DELTA)                                                                            \
	X(duration, PLAIN)                                                                         \
	X(name, PLAIN)                                                                             \
	X(flags, PLAIN)                                                                            \
	X(id, DELTA)                                                                               \
	X(call, DELTA)                                                                             \
	X(marker, DELTA)                                                                           \
	X(extra, DELTA)                                                                            \
	X(text, PLAIN)                                                                             \
	X(bytes, PLAIN)

struct page_slice {
	int64_t begin;	  /* ns since the trace's first event */
	int64_t duration; /* ns */
	int64_t name;	  /* number of a text */
	int64_t flags;	  /* enum rec_flags and QUERY_F_PLACED; of a marker its kind */
	/* of the operation, call or marker in the database; of a collective its number */
	int64_t id;
	int64_t call; /* id of the call that caused the operation; of a call: the call around it */
	int64_t marker; /* id of the range around an operation */
	/* of an operation: number of the text of its stream; of a call: its status */
	int64_t extra;
	int64_t text;  /* number of a text with details */
	int64_t bytes; /* of a copy */
	/* of a counter; its column is behind the others, as IEEE doubles, in such lanes only */
	double value;
};

/* ---- lanes ---- */

enum page_kind {
	PAGE_KERNELS,
	PAGE_COPIES,
	PAGE_RUNTIME,
	PAGE_BARRIERS,
	PAGE_CALLS,
	PAGE_RANGES,
	PAGE_COUNTER,
	PAGE_COLLECTIVES,
	PAGE_KINDS
};

#define PAGE_ROWS_MAX 64 /* of a lane; what overlaps more deeply is in the last row */

struct page_lane;
struct page;

/* Begins a lane: `group` is the process or GPU above it. NULL: out of memory. */
struct page_lane *page_lane_begin(struct page *page, enum page_kind kind, const char *group,
				  const char *name, int64_t pid);
/* Adds a slice, which does not begin before the last one. `args`: the arguments of a call, the
 * ranks of a collective, or NULL. */
int page_lane_add(struct page_lane *lane, const struct page_slice *slice, const char *args);
/* Writes the rest of its blocks. NULL: nothing. */
int page_lane_end(struct page_lane *lane);
/* The lanes as JSON; and the block of groups. */
void page_lane_write(struct page *page, struct json *j);
int page_lane_write_levels(struct page *page);
void page_lane_free(struct page *page);

/* ---- tables ---- */

enum page_table {
	PAGE_TABLE_KERNELS,
	PAGE_TABLE_CALLS,
	PAGE_TABLE_COPIES,
	PAGE_TABLE_RANGES,
	PAGE_TABLE_WORK, /* of ranges: what was launched in them */
	PAGE_TABLE_COUNTERS,
	PAGE_TABLE_ROOFLINE,
	PAGE_TABLE_IMBALANCE,
	PAGE_TABLES
};

/* What has no name. */
#define PAGE_UNNAMED "unnamed"

#define PAGE_BINS 240

/* ---- the report ---- */

struct page {
	struct query *q;
	struct json *out;
	struct page_names names;
	struct sheet tables[PAGE_TABLES];
	struct page_lane **lanes;
	size_t nr_lanes, max_lanes;
	uint64_t nr_blocks, nr_slices, nr_messages;
	int64_t t0,
		span;  /* first event; ns from it to the last one, from the database's own sums */
	int64_t until; /* the largest end that was seen, since t0 */
	bool args, args_left_out;
	struct tables analysis;
	struct digest *digest;		 /* its */
	const struct findings *findings; /* its */
};

/* SQL for the product and the ISA of a GPU. */
#define PAGE_AGENT_NAME                                                                            \
	"SELECT coalesce(nullif(product, ''), name) || ' (' || name || ')' FROM rtl_agent WHERE "  \
	"gpu_id = ?1"

/* "GPU 0: AMD Instinct MI25 (gfx900)", the lane's group. `agent`: of PAGE_AGENT_NAME; NULL: not
 * known. */
#define PAGE_GROUP_SIZE 256
void page_gpu_name(sqlite3_stmt *agent, int64_t gpu, char group[PAGE_GROUP_SIZE]);

/* The tables, before anything is written; as JSON. */
int page_tables_read(struct page *page);
int page_tables_write(struct page *page, struct json *j);

int page_ops_write(struct page *page);
int page_counters_write(struct page *page);
int page_calls_write(struct page *page);
int page_collectives_write(struct page *page);
int page_messages_write(struct page *page);

#endif
