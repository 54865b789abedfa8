/* SPDX-License-Identifier: MIT */
/* tui_time.h - the timeline of `rtl tui`: a thread that reads the trace and makes pictures of parts
 * of it
 *
 * The thread first reads every row once (tui_levels.h), and answers requests meanwhile. A part with
 * few rows is read again, exactly; a picture of a longer one is made of bins. Only the last request
 * is answered. The drawing thread calls the functions here.
 *
 *	tui_time.c	the thread, reading, pictures
 *	tui_slice.c	one slice: its details, what caused it and what it caused, the next one
 *	tui_collectives.c	lanes of collectives
 */
#ifndef RTL_CLI_READ_TUI_TIME_H
#define RTL_CLI_READ_TUI_TIME_H

#include <stdio.h>

#include "cli/db.h"
#include "cli/read/tui_levels.h"
#include "export/texts.h"
#include "query/kinds.h"

/* A column of a lane. */
struct tui_cell {
	float share;  /* of its time that slices cover */
	int64_t id;   /* row of the longest slice in it, 0: not known */
	int32_t name; /* index in the picture's names, -1: nothing is here */
};

/* A slice on the screen. */
struct tui_spot {
	bool is_known;
	size_t lane; /* in the order of the screen */
	int64_t begin, end;
};

/* What is asked for: a picture, and perhaps a slice. */
struct tui_ask {
	int64_t begin, end; /* of the part; end <= begin: all */
	size_t columns, first_lane, max_lanes;
	bool by_stream;	    /* lanes of streams instead of queues */
	size_t lane;	    /* of the cursor, in the order of the screen */
	int64_t at, at_end; /* the time that the cursor is on */
	/* The slice to find from there: the next one (1) or the one before (-1) in the lane; with a
	 * text, in any lane, whose name contains it. 0: none. */
	int find;
	char text[80];
	/* A name whose durations are counted; NULL: none. */
	char *histogram; /* owned */
	enum lane_kind histogram_kind;
};

#define TUI_BUCKETS 512 /* 8 for each power of two */

struct tui_picture {
	uint64_t serial; /* of the request */
	int64_t trace_begin, trace_end, begin, end;
	size_t columns, nr_lanes, first_lane, rows;
	bool is_exact, is_read;	    /* all of the trace has been read */
	uint64_t nr_read, nr_total; /* rows */
	char **lanes;		    /* names of the rows */
	enum lane_kind *kinds;
	struct tui_cell *cells; /* of each row, one after the other */
	char **names;
	size_t nr_names;

	char *details; /* lines about the slice under the cursor; NULL: none is there */
	struct tui_spot self,
		other; /* that slice; what it is joined to: its call, or its first operation */
	struct tui_spot found; /* with `find` */
	bool is_find;

	char *histogram; /* the name */
	uint64_t *buckets;
};

/* Begins. The thread reads by q->second. */
void tui_time_start(struct query *q);
/* Replaces the last request, and takes its texts; returns its serial number. */
uint64_t tui_time_ask(struct tui_ask *ask);
/* A new picture, the caller's, or NULL. */
struct tui_picture *tui_time_take(void);
void tui_time_free(struct tui_picture *p);
/* Bucket of a duration, and the shortest duration of a bucket. */
unsigned int tui_bucket(uint64_t ns);
uint64_t tui_bucket_ns(unsigned int bucket);

/* ---- within the thread ---- */

struct tui_reader {
	struct query q; /* with the connection of the thread alone */
	struct kinds kinds;
	struct levels levels;
	struct map odd;			     /* operations without measured times */
	const struct query_process *process; /* of the last operation */
	bool by_stream;
	int64_t user_marker, internal; /* ids of texts */
	sqlite3_stmt *rows[TUI_TABLES], *level, *scan;
	bool has_collectives; /* they have been read */
	struct map streams;   /* hash of a handle -> its number */
	enum tui_table scanned;
	bool is_read;
	uint64_t nr_read, nr_total;
	size_t last_lane; /* a guess */
	const struct tui_ask *ask;
	struct tui_picture *picture;
};

/* A row of a table, as a slice. */
struct tui_row {
	int64_t id, begin, end;
	size_t lane;
	int64_t name; /* id of a text: of a message in lanes of ranges; of temp.tui_name in those of
		       * collectives */
};

/* Calls `each` for the rows in a part of the time; `columns` as in the table. Ends when it returns
 * false. */
typedef bool (*tui_row_fn)(struct tui_reader *r, const struct tui_row *row, void *arg);
void tui_read_block(struct tui_reader *r, enum tui_table table, const struct level_block *block,
		    tui_row_fn each, void *arg);
enum tui_table tui_table_of(const struct tui_reader *r, size_t lane);
/* The text of a row's name, malloc'd. */
char *tui_name(struct tui_reader *r, enum lane_kind kind, int64_t name);
/* Distinguishes the names of all kinds of lanes. */
static inline uint64_t tui_name_key(enum lane_kind kind, int64_t name)
{
	return (uint64_t)name << 2 | (kind == LANE_RANGES ? 1 : kind == LANE_COLLECTIVES ? 2 : 0);
}
/* The row with that id; false: it is no slice. */
bool tui_find_row(struct tui_reader *r, enum tui_table table, int64_t id, struct tui_row *row);
/* Whether there is a newer request. */
bool tui_is_late(void);
/* Answers one, if there is one that needs no new reading. */
void tui_answer_meanwhile(struct tui_reader *r);
size_t tui_screen_lane(const struct tui_reader *r, size_t lane);

/* Makes the tables that collectives are in, and fills them, once. */
void tui_collectives_prepare(struct tui_reader *r);
void tui_collectives_read(struct tui_reader *r);
/* Writes lines about the collective of a slice. Whether *last is the kernel or call of the rank
 * that came last. */
bool tui_collectives_text(struct tui_reader *r, int64_t id, FILE *to, struct tui_row *last);

/* Fills details, self, other and found of the picture. */
void tui_slice_details(struct tui_reader *r, int64_t id, size_t lane);
void tui_slice_find(struct tui_reader *r);

#endif
