/* SPDX-License-Identifier: MIT */
/* commands.c - the list of commands, and its overview */
#include "cli/cmd/commands.h"

#include <string.h>

#include "cli/ui.h"

const struct command *const commands[] = {
	&cmd_trace,    &cmd_summary,   &cmd_tui,     &cmd_report,	 &cmd_diff,
	&cmd_info,     &cmd_convert,   &cmd_merge,   &cmd_fleet,	 &cmd_recover,
	&cmd_ps,       &cmd_start,     &cmd_stop,    &cmd_status,	 &cmd_top,
	&cmd_snapshot, &cmd_rocprofv3, &cmd_rocprof, &cmd_list_counters, &cmd_doctor,
	&cmd_selftest, &cmd_help,      NULL,
};

const struct opt_status commands_statuses[] = {
	{ "0", "done" },
	{ "1", "FILE can't be read, or the output can't be written" },
	{ "2", "the command line is wrong" },
	{ "3", "FILE is a device, a FIFO or a socket" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command *commands_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

void commands_overview(void)
{
	ui_put("rtl - traces GPU programs on ROCm\n"
	       "usage: rtl COMMAND [options] ...\n\n");
	for (const struct command *const *c = commands; *c; c++)
		ui_putf("  %-13s %s\n", (*c)->name, (*c)->summary);
	ui_put("\n"
	       "First steps:\n"
	       "  rtl trace ./program             writes trace.db\n"
	       "  rtl summary trace.db            times by kernel\n"
	       "  rtl tui trace.db                tables and a timeline in the terminal\n"
	       "  rtl report trace.db             trace.html, for a browser\n"
	       "  rtl convert trace.db -f perfetto   for ui.perfetto.dev\n"
	       "No GPU at hand? rtl trace --virtual-gpu ./program\n\n"
	       "rtl COMMAND --help shows a command's options, rtl help COMMAND its manual.\n");
}

const char *commands_suggest(const char *word)
{
	const char *names[64];
	size_t n = 0;

	for (const struct command *const *c = commands; *c && n < 63; c++) {
		if (strcmp((*c)->name, word) == 0)
			return (*c)->name;
		names[n++] = (*c)->name;
	}
	names[n] = NULL;
	return opts_suggest(word, names);
}
