/* SPDX-License-Identifier: MIT */
/* commands.h - the commands of rtl: each is a table in cmd_<name>.c, listed in commands.c */
#ifndef RTL_CLI_CMD_COMMANDS_H
#define RTL_CLI_CMD_COMMANDS_H

#include "cli/exit_status.h"
#include "cli/opts.h"

extern const struct command cmd_trace, cmd_summary, cmd_info, cmd_convert, cmd_merge, cmd_recover,
	cmd_doctor, cmd_help, cmd_ps, cmd_start, cmd_stop, cmd_status, cmd_top, cmd_snapshot,
	cmd_rocprofv3, cmd_rocprof, cmd_list_counters, cmd_report, cmd_diff, cmd_tui, cmd_selftest,
	cmd_fleet;

/* Ends in NULL; in the order of the overview. */
extern const struct command *const commands[];
/* Of the commands that read traces. */
extern const struct opt_status commands_statuses[];
const struct command *commands_find(const char *name);
/* The overview of all commands, on stdout. */
void commands_overview(void);

/* The name of the command that is most like a word, or NULL. */
const char *commands_suggest(const char *word);

#endif
