/* SPDX-License-Identifier: MIT */
/* tui_load.h - the tables of `rtl tui`: a thread that makes them, with the code of `rtl summary`,
 * when they are first looked at
 *
 * The drawing thread calls the functions here.
 */
#ifndef RTL_CLI_READ_TUI_LOAD_H
#define RTL_CLI_READ_TUI_LOAD_H

#include "cli/db.h"
#include "cli/grid.h"

enum tui_tab {
	TAB_OVERVIEW,
	TAB_TIMELINE,
	TAB_KERNELS,
	TAB_CALLS,
	TAB_COPIES,
	TAB_RANGES,
	TAB_GAPS,
	TAB_FINDINGS,
	TAB_LOSSES,
	TAB_ERRORS,
	TAB_STREAMS,
	TAB_GPUS,
	TAB_PROCESSES,
	TAB_COUNTERS,
	TAB_GRAPHS,
	TAB_NR
};
#define TUI_TABS                                                                                   \
	"overview|timeline|kernels|calls|copies|ranges|gaps|findings|losses|errors|streams|gpus|"  \
	"processes|counters|graphs"

/* A tab: a table, or a text. */
struct tui_page {
	struct sheet table; /* without columns: none */
	char *text;
	char *note;	    /* what rtl summary says about it */
	unsigned int width; /* of the text */
};

/* Begins. The thread reads by q->db. */
void tui_load_start(struct query *q);
/* Asks for a tab, with texts of `width` columns. The last one asked for is made next. */
void tui_load_ask(enum tui_tab tab, unsigned int width);
/* A tab that was made: its number, and the page, which is the caller's; -1: none. */
int tui_load_take(struct tui_page *page);
void tui_load_free(struct tui_page *page);
/* On the thread alone: what was said about the table that it makes. */
void tui_load_note(const char *text);

#endif
