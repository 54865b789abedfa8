/* SPDX-License-Identifier: MIT */
/* cmd_help.c - rtl help: the manual of a command, and the pages that are generated from the
 * tables */
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/docgen.h"
#include "cli/ui.h"
#include "export/export.h"

enum { O_MARKDOWN, O_MAN, O_COMPLETION, O_ENVIRONMENT, O_TABLES, O_NAMES };

static const struct opt options[] = {
	[O_MARKDOWN] = { .name = "markdown", .help = "print the page as Markdown" },
	[O_MAN] = { .name = "man", .help = "print the page as a manual page (roff)" },
	[O_COMPLETION] = { .name = "completion",
			   .type = OPT_CHOICE,
			   .arg = "SHELL",
			   .choices = "bash|zsh|fish",
			   .help = "print the completions of a shell" },
	[O_ENVIRONMENT] = { .name = "environment",
			    .help = "print the table of environment variables" },
	[O_TABLES] = { .name = "tables",
		       .help = "print tables and columns of databases and CSV files" },
	[O_NAMES] = { .name = "names", .help = "print the names of all commands" },
};

static void put_line(const char *line)
{
	ui_putf("%s\n", line);
}

static int run_help(const struct opt_parsed *p)
{
	static void (*const shells[])(void) = { docgen_bash, docgen_zsh, docgen_fish };
	const char *name = p->nr_operands ? p->operands[0] : NULL;
	const struct command *cmd = name ? commands_find(name) : NULL;

	if (name && !cmd) {
		const char *near = commands_suggest(name);

		ui_die(STATUS_USAGE,
		       near ? "%s: unknown command; did you mean '%s'?" :
			      "%s: unknown command; 'rtl help' lists the commands%.0s",
		       name, near ? near : "");
	}
	if (p->values[O_COMPLETION].count) {
		shells[p->values[O_COMPLETION].num]();
	} else if (p->values[O_ENVIRONMENT].count) {
		ui_put("<!-- Made by `rtl help --environment`; do not edit. -->\n# Environment variables\n\n"
		       "What the options of `rtl trace` leave open is read from these, and by librtl where no "
		       "`rtl trace` is above it. A variable named `RTL_*` that is not listed, or a value that "
		       "does not fit, is named once and ignored. Those of the virtual GPU (`VGPU_*`) are in "
		       "[virtual-gpu.md](../virtual-gpu.md).\n\n");
		env_print_table(put_line);
	} else if (p->values[O_TABLES].count) {
		export_document(put_line);
	} else if (p->values[O_NAMES].count) {
		for (const struct command *const *c = commands; *c; c++)
			ui_putf("%s\n", (*c)->name);
	} else if (p->values[O_MARKDOWN].count) {
		if (cmd)
			docgen_markdown(cmd);
		else
			docgen_markdown_index();
	} else if (p->values[O_MAN].count) {
		if (cmd)
			docgen_man(cmd);
		else
			docgen_man_index();
	} else if (cmd) {
		docgen_text(cmd);
	} else {
		commands_overview();
	}
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "the manual of a command",
	.usage = "[options] [COMMAND]",
	.operands = "COMMAND",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.about =
		"Prints the manual of COMMAND, or the list of commands.\n"
		"\n"
		"This command writes the pages in docs/cli/ and docs/man/, docs/formats/tables.md and the shell completions.",
	.examples =
		"rtl help trace\nrtl help --completion=bash > ~/.local/share/bash-completion/completions/rtl\n",
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.run = run_help,
};
