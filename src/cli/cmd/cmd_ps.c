/* SPDX-License-Identifier: MIT */
/* cmd_ps.c - rtl ps: traced and idle processes */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/grid.h"
#include "cli/trace/control.h"
#include "cli/trace/leftovers.h"
#include "cli/ui.h"

enum { O_FORMAT, O_ALL, O_LEFTOVERS, O_FREE };

static const struct opt options[] = {
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
		       .help = "form of the output: table (default), csv or json" },
	[O_ALL] = { 'a', "all", OPT_FLAG, .help = "processes of all users; for root" },
	[O_LEFTOVERS] = { 0, "leftovers", OPT_FLAG, .help = "what killed processes left instead" },
	[O_FREE] = { 0, "free", OPT_FLAG,
		     .help = "with --leftovers: delete what belongs to no raw trace" },
};

enum {
	C_PID,
	C_UID,
	C_STATE,
	C_SINCE,
	C_DISPATCHES,
	C_COPIES,
	C_CALLS,
	C_LEFT_OUT,
	C_LOSSES,
	C_SPOOL,
	C_COMMAND,
	NR_COLUMNS
};

static const struct sheet_column columns[] = {
	[C_PID] = { "pid", "PID", SHEET_NUMBER },
	[C_UID] = { "uid", NULL, SHEET_NUMBER },
	[C_STATE] = { "state", "STATE", SHEET_NAME },
	[C_SINCE] = { "state_ns", "FOR", SHEET_TIME },
	[C_DISPATCHES] = { "dispatches", "DISPATCHES", SHEET_COUNT },
	[C_COPIES] = { "copies", NULL, SHEET_COUNT },
	[C_CALLS] = { "api_calls", NULL, SHEET_COUNT },
	[C_LEFT_OUT] = { "left_out", NULL, SHEET_COUNT },
	[C_LOSSES] = { "losses", "LOSSES", SHEET_COUNT },
	[C_SPOOL] = { "spool", NULL, SHEET_NAME },
	[C_COMMAND] = { "command", "COMMAND", SHEET_NAME },
};

static void add_row(struct sheet *table, const struct control_target *t)
{
	struct sheet_cell cells[NR_COLUMNS] = { 0 };
	char error[CONTROL_ERROR_SIZE];
	struct control_reply reply;
	bool answers = control_ask(t, CONTROL_STATUS, &reply, error) == 0;
	bool counted = answers && reply.flags & CONTROL_F_COUNTED;

	cells[C_PID].num = t->pid;
	cells[C_UID].num = t->uid;
	cells[C_STATE].text = answers ? control_state_name(reply.state) : "no answer";
	for (int c = C_SINCE; c <= C_LOSSES; c++)
		cells[c].none = c == C_SINCE ? !answers : !counted;
	cells[C_SINCE].num = reply.state_age_ns;
	cells[C_DISPATCHES].num = reply.dispatches;
	cells[C_COPIES].num = reply.copies;
	cells[C_CALLS].num = reply.calls;
	cells[C_LEFT_OUT].num = reply.left_out;
	cells[C_LOSSES].num = reply.losses;
	cells[C_SPOOL].text = answers ? reply.spool : "";
	cells[C_COMMAND].text = answers ? reply.command : error;
	sheet_row(table, cells);
}

static int run_ps(const struct opt_parsed *p)
{
	enum grid_format format = (enum grid_format)p->values[O_FORMAT].num;
	struct control_target *targets;
	struct grid_style style = grid_style(format);
	struct sheet table = { 0 };
	size_t nr;

	if (p->values[O_FREE].count && !p->values[O_LEFTOVERS].count)
		ui_die(STATUS_USAGE, "--free is for --leftovers");
	if (p->values[O_LEFTOVERS].count) {
		leftovers_print(format, p->values[O_FREE].count > 0);
		return 0;
	}
	if (p->values[O_ALL].count && geteuid() != 0)
		ui_die(STATUS_USAGE,
		       "--all is for root; without it, processes of this user are listed");
	nr = p->values[O_ALL].count ? control_list_all(&targets) :
				      control_list(geteuid(), &targets);
	sheet_columns(&table, columns, NR_COLUMNS);
	for (size_t i = 0; i < nr; i++)
		add_row(&table, &targets[i]);
	if (nr || format != GRID_TEXT)
		grid_print(&table, &style);
	else
		ui_say("no process of this user is traced or idle");
	sheet_fini(&table);
	free(targets);
	return 0;
}

static const struct opt_status statuses[] = {
	{ "0", "done, also where no process is traced" },
	{ "2", "the command line is wrong" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_ps = {
	.name = "ps",
	.summary = "lists the processes that are traced, or wait for rtl start",
	.usage = "[options]",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.max_operands = 0,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"Each traced process listens on a socket in $XDG_RUNTIME_DIR/rtl, or /tmp/rtl-UID where that does not exist: a "
		"directory of the user's, which other users can't enter. Sockets of processes that were killed are removed.\n"
		"\n"
		"STATE is 'recording'; 'paused', by rtl stop, the program, or what the trace was limited to; 'idle': started with "
		"RTL_IDLE=1, and nothing is recorded until rtl start; or 'ending': the trace is closed, and the program has not ended yet. "
		"DISPATCHES and LOSSES are those of the trace that is open, or was open last. A process that was started in a container has the pid that it has "
		"here, or, if it is not visible here, that of its own pid namespace.\n"
		"\n"
		"--leftovers lists what killed processes of this user left: in /dev/shm and RTL_MEM_DIR memory of raw traces that no process has open any more, in the current "
		"directory raw traces, unfinished databases (OUTPUT.part-PID) and temporary files. What belongs to a raw trace that is there is recovered with it; the rest, as after a "
		"raw trace was deleted by hand, is deleted with --free.",
	.examples = "rtl ps\nrtl ps --format json\nrtl ps --leftovers\n",
	.run = run_ps,
};
