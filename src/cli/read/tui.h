/* SPDX-License-Identifier: MIT */
/* tui.h - the screen of `rtl tui`, shared by its files
 *
 *	cmd_tui.c	the command
 *	tui.c		the loop, keys, titles, the line for input, help
 *	tui_table.c	tables and texts: order, filter, search, details of a row
 *	tui_lanes.c	the timeline on the screen
 *	tui_load.c	the thread that makes tables
 *	tui_time.c	the thread that reads the timeline (tui_levels.c, tui_slice.c,
 *			tui_collectives.c)
 *	screen.c	the terminal
 */
#ifndef RTL_CLI_READ_TUI_H
#define RTL_CLI_READ_TUI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/read/tui_load.h"
#include "cli/read/tui_time.h"

/* A table or text on the screen. */
struct tui_view {
	struct tui_page page;
	bool is_ready, is_asked;
	size_t top, at;	       /* first line on the screen; the cursor */
	size_t *rows, nr_rows; /* of the grid: those that pass the filter, in order */
	char **names;	       /* of each row of the grid: shortened, for the column `name` */
	size_t name;
	struct grid_layout layout;
	unsigned int laid_out; /* for this width; 0: not yet */
	char filter[80];
	int sort; /* column, -1: as it was made */
	bool reverse;
	char **lines; /* of a text; or of the details of a row */
	size_t nr_lines;
	bool is_detail;
	size_t detail; /* row of the grid */
};

struct tui_lanes {
	struct tui_picture *picture;
	int64_t begin, end; /* what is shown; end <= begin: all */
	size_t top, lane;   /* first row; that of the cursor */
	int64_t at;	    /* time of the cursor */
	int64_t mark;	    /* times are measured from it; 0: there is none */
	bool is_pinned;	    /* the cursor is on the slice that begins there, not on its column */
	bool by_stream;
	bool is_stale;	 /* the picture is to be asked for */
	bool is_finding; /* a slice is looked for: keys wait, or they would replace the request */
	uint64_t asked;	 /* the last request */
};

enum tui_input { INPUT_NONE, INPUT_SEARCH, INPUT_FILTER };

struct tui {
	struct query *q;
	const char *path;
	enum tui_tab tab;
	struct tui_view views[TAB_NR];
	struct tui_lanes lanes;
	uint64_t *buckets; /* of `histogram` */
	char *histogram;
	int waiting[64]; /* keys, while a slice is looked for */
	size_t nr_waiting;
	enum tui_input input;
	char typed[80];
	char search[80];
	char message[160]; /* until the next key */
	bool is_help, is_grown, is_over, reload;
	size_t help_top;
	int64_t state; /* of the file, as it was read */
};

/* Runs until the user ends it; `tab` is the first one. true: the trace is to be read again. */
bool tui_run(struct query *q, const char *path, enum tui_tab *tab);

/* Rows between the titles and the keys. */
#define TUI_TOP 2
int tui_height(void);
void tui_say(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void tui_table_draw(struct tui *t);
/* Whether the key meant something. */
bool tui_table_key(struct tui *t, int key);
void tui_table_search(struct tui *t, int step);
void tui_table_filter(struct tui *t);
void tui_table_forget(struct tui_view *v);

void tui_lanes_draw(struct tui *t);
bool tui_lanes_key(struct tui *t, int key);
void tui_lanes_search(struct tui *t, int step);
/* Asks for what is shown now; find and text as in tui_ask. */
void tui_lanes_ask(struct tui *t, int find, const char *text);
/* Takes a new picture, if there is one; and asks for one that is needed. */
void tui_lanes_take(struct tui *t);

#endif
