/* SPDX-License-Identifier: MIT */
/* main.c - the program rtl: finds the command, parses its options, runs it
 *
 * To add a command: a file as cmd_info.c, a row in commands.c, and tests/cli/drift.sh --update for
 * its pages.
 */
#include <string.h>

#include "base/env.h"
#include "base/testpoint.h"
#include "cli/cmd/commands.h"
#include "cli/others.h"
#include "cli/read/result.h"
#include "cli/ui.h"
#include "rtl_version.h"

static void report_variable(const char *line)
{
	ui_error("%s", line);
}

/* -o FILE or --virtual-gpu, without a command in front. */
static bool is_option_of_trace(const char *word)
{
	for (size_t i = 0; i < cmd_trace.nr_opts; i++) {
		const struct opt *o = &cmd_trace.opts[i];
		size_t n = strlen(o->name);

		if (o->letter && word[1] == o->letter && !word[2])
			return true;
		if (word[1] == '-' && strncmp(word + 2, o->name, n) == 0 &&
		    (!word[2 + n] || word[2 + n] == '='))
			return true;
	}
	return false;
}

static int report_unknown_command(const char *word)
{
	const char *name = word + strspn(word, "-"), *near = commands_suggest(name);
	const char *ours = others_command(word);
	/* by -v others mean --version, by --summary the command */
	bool is_other = strcmp(word, "-v") == 0 || (near && strcmp(near, name) == 0);

	if (word[0] == '-' && is_option_of_trace(word) && !is_other)
		ui_error("%s: is an option of 'rtl trace': rtl trace %s ... PROGRAM", word, word);
	else if (ours)
		ui_error("%s: unknown %s; %s", word, word[0] == '-' ? "option" : "command", ours);
	else if (word[0] == '-' && near)
		ui_error("%s: unknown option; did you mean 'rtl %s'?", word, near);
	else if (word[0] == '-')
		ui_error("%s: unknown option; usage: rtl COMMAND [options] ...", word);
	else if (near)
		ui_error("%s: unknown command; did you mean 'rtl %s'?", word, near);
	else
		ui_error("%s: unknown command; 'rtl help' lists the commands (to trace a program: "
			 "rtl trace %s)",
			 word, word);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	char error[OPTS_ERROR_SIZE];
	const struct command *cmd;
	struct opt_parsed parsed;
	int status;

	env_init();
	if (argc < 2) {
		commands_overview();
		ui_flush();
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		ui_put("rtl " RTL_VERSION_STRING "\n");
		ui_flush();
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		commands_overview();
		ui_flush();
		return 0;
	}
	cmd = commands_find(argv[1]);
	if (!cmd)
		return report_unknown_command(argv[1]);
	ui_init(ui_format("rtl %s", cmd->name));
	if (opts_parse(cmd, argc - 1, argv + 1, &parsed, error)) {
		ui_error("%s", error);
		return cmd->usage_status;
	}
	if (parsed.help) {
		opts_help(cmd);
		ui_flush();
		return 0;
	}
	if (cmd != &cmd_help)
		env_report(report_variable);
	testpoint_init();
	ui_stop_at_once();
	RTL_TESTPOINT("command");
	for (int i = 0; cmd->reads && i < parsed.nr_operands; i++)
		result_refuse_input(parsed.operands[i]);
	status = cmd->run(&parsed);
	ui_flush();
	return status;
}
