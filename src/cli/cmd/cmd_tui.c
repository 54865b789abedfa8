/* SPDX-License-Identifier: MIT */
/* cmd_tui.c - rtl tui: a trace on the screen of a terminal
 *
 * Not here: the screen (tui.h lists its files).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/opts.h"
#include "cli/read/screen.h"
#include "cli/read/tui.h"
#include "cli/ui.h"

#define STATUS_NO_TERMINAL 4

enum { O_TAB, O_ASCII, O_NO_COLOUR };

static const struct opt options[] = {
	[O_TAB] = { 't', "tab", OPT_CHOICE, .arg = "TAB", .choices = TUI_TABS,
		    .help = "the first tab: overview, timeline, kernels, ...",
		    .more = "overview is the default." },
	[O_ASCII] = { 0, "ascii", .help = "draw with ASCII characters alone",
		      .more = "The default where the locale is not UTF-8." },
	[O_NO_COLOUR] = { 0, "no-color", .help = "no colours; also with NO_COLOR set" },
};

static const struct ui_hooks hooks = { .say = tui_load_note, .leave = screen_close };

static void open_screen(const struct opt_value *v)
{
	const struct screen_options o = {
		.ascii = v[O_ASCII].count > 0,
		.colour = !v[O_NO_COLOUR].count && ui_colour(STDOUT_FILENO),
	};
	const char *term = getenv("TERM");
	int err = screen_open(&o);

	if (err == -ENOENT)
		ui_die(STATUS_FAILED,
		       "needs the library libncursesw.so.6, which is not there: install it (Debian: apt "
		       "install libncursesw6), or use rtl summary or rtl report");
	if (err == -ENOTTY)
		ui_die(STATUS_NO_TERMINAL,
		       "TERM=%s: this terminal is not known; set TERM to its kind, or use rtl summary",
		       term ? term : "");
	if (err)
		ui_die(STATUS_FAILED, "%s", strerror(-err));
}

/* Reads the file again: as if the command were given again. */
static void start_again(const char *path, const struct opt_value *v, enum tui_tab tab)
{
	const char *tabs = TUI_TABS;
	const char *argv[8] = { "rtl", "tui" };
	char name[32];
	int nr = 2;

	for (int i = 0; i < (int)tab; i++)
		tabs = strchr(tabs, '|') + 1;
	snprintf(name, sizeof(name), "--tab=%.*s", (int)strcspn(tabs, "|"), tabs);
	argv[nr++] = name;
	if (v[O_ASCII].count)
		argv[nr++] = "--ascii";
	if (v[O_NO_COLOUR].count)
		argv[nr++] = "--no-color";
	argv[nr++] = "--";
	argv[nr++] = path;
	argv[nr] = NULL;
	execv("/proc/self/exe", (char **)argv);
	ui_die(STATUS_FAILED, "can't start again: %s", strerror(errno));
}

static int run_tui(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	const char *path = p->operands[0];
	enum tui_tab tab = (enum tui_tab)v[O_TAB].num;
	struct query *q;
	bool again;

	if (!ui_terminal(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		ui_die(STATUS_NO_TERMINAL,
		       "needs a terminal for its screen and its keys; rtl summary prints "
		       "the same tables, rtl report writes a page");
	q = db_open(path);
	ui_stop_in_order("");
	open_screen(v);
	ui_hook(&hooks);
	again = tui_run(q, path, &tab);
	screen_close();
	if (again)
		start_again(path, v, tab);
	ui_flush();
	/* the threads that read the trace hold nothing that outlives the process */
	_exit(ui_stopped_by() ? 128 + ui_stopped_by() : 0);
}

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "FILE can't be read, or there is no ncurses" },
	{ "2", "the command line is wrong" },
	{ "3", "FILE is a device, a FIFO or a socket" },
	{ "4", "there is no terminal, or one that can't move its cursor" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_tui = {
	.name = "tui",
	.summary = "shows a trace on the screen: tables and a timeline",
	.usage = "FILE [options]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = statuses,
	.about =
		"FILE is a database of rtl or RPD, or a raw trace. Tabs show the overview and the tables of rtl summary "
		"(kernels, calls, copies, ranges, gaps, findings, losses, failed calls, streams, GPUs, processes, "
		"counters, graphs), which can be sorted, filtered and searched, and a timeline of queues or streams, copies and "
		"threads. Enter shows the details of a row: all columns and, of kernels, calls and ranges, "
		"a histogram of the durations.\n"
		"\n"
		"In the timeline each row is a queue, a stream, the copies of a GPU, or the ranges or calls of a "
		"thread, or the collectives of some ranks. Of a long part each column shows the share of its time with operations, and the "
		"name that took most of it by a colour. In a short part each operation is there, with its name where there is space. "
		"Below it is what the cursor is on, the call that launched it, and when; of a call what it launched; of a collective "
		"which rank came last, why, and how long the others waited. The key g goes from one to the other.\n"
		"\n"
		"Keys are as in htop and uftrace; F1 or ? shows them. The trace is read in the background, while keys are "
		"answered; memory does not grow with the number of operations. If the file changes, as one that "
		"is still written does, F5 reads it again.\n"
		"\n"
		"Colours and characters beyond ASCII are used where terminal and locale have them. The command needs a terminal of "
		"at least 30 columns and 6 lines, and the library libncursesw.so.6, which other commands don't need.",
	.examples = "rtl tui trace.db\nrtl tui --tab timeline trace.db\n"
		    "rtl tui --ascii trace.db\n",
	.run = run_tui,
};
