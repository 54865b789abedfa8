/* SPDX-License-Identifier: MIT */
/* docgen.c - manual pages, Markdown and shell completions, generated from the option tables
 *
 * What it prints is committed (docs/cli/, docs/man/, completions/); tests/cli/drift.sh compares.
 */
#include "cli/cmd/docgen.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/ui.h"
#include "rtl_version.h"

/* Calls line(arg, text, len) for each line of a text that ends in NUL. */
static void each_line(const char *text, void (*line)(const char *text, size_t len))
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		line(text, n);
		text += n + (text[n] == '\n');
	}
}

/* The text of one option: `help` as a sentence, then `more`. */
static void put_option_text(const struct opt *opt, void (*put)(const char *))
{
	char first[160];

	snprintf(first, sizeof(first), "%c%s.", toupper((unsigned char)opt->help[0]),
		 opt->help + 1);
	put(first);
	if (opt->more) {
		put(" ");
		put(opt->more);
	}
}

/* ---- the terminal ---- */

#define WRAP 78

/* Words of a paragraph, wrapped at WRAP columns behind indent. */
static void wrap_text(const char *text, size_t len, unsigned int indent)
{
	size_t column = 0;

	while (len) {
		size_t n = 0, blanks = 0;

		while (blanks < len && text[blanks] == ' ')
			blanks++;
		text += blanks;
		len -= blanks;
		while (n < len && text[n] != ' ')
			n++;
		if (!n)
			break;
		if (column && column + 1 + n > WRAP - indent) {
			ui_put("\n");
			column = 0;
		}
		if (!column)
			ui_putf("%*s", (int)indent, "");
		ui_putf("%s%.*s", column ? " " : "", (int)n, text);
		column += n + (column ? 1 : 0);
		text += n;
		len -= n;
	}
	ui_put("\n");
}

static void text_line(const char *text, size_t len)
{
	if (len && text[0] == ' ') /* preformatted */
		ui_putf("  %.*s\n", (int)len, text);
	else if (len)
		wrap_text(text, len, 2);
	else
		ui_put("\n");
}

static void text_example(const char *text, size_t len)
{
	ui_putf("  %.*s\n", (int)len, text);
}

void docgen_text(const struct command *cmd)
{
	char label[OPTS_LABEL_SIZE];

	ui_putf("rtl %s - %s\n\nusage: rtl %s %s\n\n", cmd->name, cmd->summary, cmd->name,
		cmd->usage);
	each_line(cmd->about, text_line);
	ui_put("\nOptions:\n");
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		const struct opt *opt = &cmd->opts[i];

		ui_putf("  %s\n", opts_label(opt, label));
		wrap_text(opt->help, strlen(opt->help), 10);
		if (opt->more)
			wrap_text(opt->more, strlen(opt->more), 10);
	}
	ui_put("  -h, --help\n          the options, on one screen\n");
	if (cmd->statuses) {
		ui_put("\nExit status:\n");
		for (const struct opt_status *s = cmd->statuses; s->status; s++)
			ui_putf("  %-6s %s\n", s->status, s->text);
	}
	if (cmd->examples) {
		ui_put("\nExamples:\n");
		each_line(cmd->examples, text_example);
	}
}

/* ---- Markdown ---- */

static bool in_block;

static void md_line(const char *text, size_t len)
{
	bool block = len && text[0] == ' ';

	if (block != in_block && (block || in_block))
		ui_put("```\n");
	in_block = block;
	ui_putf("%.*s\n", (int)(block ? len - 1 : len), text + block);
}

static void md_example(const char *text, size_t len)
{
	ui_putf("%.*s\n", (int)len, text);
}

/* Escapes bars, which end a cell. */
static void md_cell(const char *text)
{
	for (; *text; text++)
		ui_putf("%s%c", *text == '|' ? "\\" : "", *text);
}

static const char md_banner[] = "<!-- Made by `rtl help --markdown`; do not edit. -->";

void docgen_markdown(const struct command *cmd)
{
	char label[OPTS_LABEL_SIZE];

	ui_putf("%s\n# rtl %s\n\n%c%s.\n\n```\nrtl %s %s\n```\n\n", md_banner, cmd->name,
		toupper((unsigned char)cmd->summary[0]), cmd->summary + 1, cmd->name, cmd->usage);
	each_line(cmd->about, md_line);
	if (in_block)
		ui_put("```\n");
	in_block = false;
	ui_put("\n## Options\n\n| option | meaning |\n|---|---|\n");
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		const char *text = opts_label(&cmd->opts[i], label);

		ui_put("| `");
		md_cell(text + strspn(text, " "));
		ui_put("` | ");
		put_option_text(&cmd->opts[i], md_cell);
		if (cmd->opts[i].choices && cmd->opts[i].type == OPT_CHOICE) {
			ui_put(" One of: ");
			md_cell(cmd->opts[i].choices);
			ui_put(".");
		} else if (cmd->opts[i].choices) {
			ui_putf(" Range: %s.", cmd->opts[i].choices);
		}
		ui_put(" |\n");
	}
	ui_put("| `-h, --help` | The options, on one screen. |\n");
	if (cmd->statuses) {
		ui_put("\n## Exit status\n\n| status | meaning |\n|---|---|\n");
		for (const struct opt_status *s = cmd->statuses; s->status; s++) {
			ui_putf("| %s | ", s->status);
			md_cell(s->text);
			ui_put(" |\n");
		}
	}
	if (cmd->examples) {
		ui_put("\n## Examples\n\n```\n");
		each_line(cmd->examples, md_example);
		ui_put("```\n");
	}
}

void docgen_markdown_index(void)
{
	ui_putf("%s\n# The command line\n\n"
		"stdout is data, stderr is talk. Numbers have units; a name is never cut without `...`.\n"
		"`NO_COLOR`, `COLUMNS` and `TERM=dumb` are respected.\n\n| command | what it does |\n|---|---|\n",
		md_banner);
	for (const struct command *const *c = commands; *c; c++)
		ui_putf("| [rtl %s](%s.md) | %s |\n", (*c)->name, (*c)->name, (*c)->summary);
	ui_put("\nThe same text is in the manual pages (`man rtl-trace`) and in `rtl help COMMAND`.\n"
	       "Environment variables: [environment.md](environment.md).\n");
}

/* ---- man pages ---- */

/* Text for roff: no line may begin with a dot or a quote, dashes and backslashes are escaped. */
static void man_text(const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			ui_put("\\&");
		start = *text == '\n';
		if (*text == '\\')
			ui_put("\\e");
		else if (*text == '-')
			ui_put("\\-");
		else
			ui_putf("%c", *text);
	}
}

static void man_line(const char *text, size_t len)
{
	char line[1024];
	bool block = len && text[0] == ' ';

	if (block != in_block)
		ui_put(block ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n");
	in_block = block;
	if (!len) {
		ui_put(".PP\n");
		return;
	}
	snprintf(line, sizeof(line), "%.*s\n", (int)len, text);
	man_text(line + (block ? 1 : 0));
}

static void man_head(const char *name, const char *summary)
{
	ui_putf(".\\\" Made by rtl help --man; do not edit.\n.TH RTL%s%s 1 \"\" \"rocm-trace-lite %s\" "
		"\"User Commands\"\n.SH NAME\nrtl%s%s \\- ",
		*name ? "\\-" : "", name, RTL_VERSION_STRING, *name ? "\\-" : "", name);
	man_text(summary);
	ui_put("\n");
}

void docgen_man(const struct command *cmd)
{
	char label[OPTS_LABEL_SIZE];

	man_head(cmd->name, cmd->summary);
	ui_putf(".SH SYNOPSIS\n.B rtl %s\n", cmd->name);
	man_text(cmd->usage);
	ui_put("\n.SH DESCRIPTION\n");
	each_line(cmd->about, man_line);
	if (in_block)
		ui_put(".fi\n.RE\n");
	in_block = false;
	ui_put(".SH OPTIONS\n");
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		const char *text = opts_label(&cmd->opts[i], label);

		ui_put(".TP\n.B ");
		man_text(text + strspn(text, " "));
		ui_put("\n");
		put_option_text(&cmd->opts[i], man_text);
		if (cmd->opts[i].choices && cmd->opts[i].type == OPT_CHOICE)
			ui_putf(" One of: %s.", cmd->opts[i].choices);
		else if (cmd->opts[i].choices)
			ui_putf(" Range: %s.", cmd->opts[i].choices);
		ui_put("\n");
	}
	ui_put(".TP\n.B \\-h, \\-\\-help\nThe options, on one screen.\n");
	if (cmd->statuses) {
		ui_put(".SH EXIT STATUS\n");
		for (const struct opt_status *s = cmd->statuses; s->status; s++) {
			ui_putf(".TP\n.B %s\n", s->status);
			man_text(s->text);
			ui_put("\n");
		}
	}
	if (cmd->examples) {
		ui_put(".SH EXAMPLES\n.nf\n");
		man_text(cmd->examples);
		ui_put("\n.fi\n");
	}
	ui_put(".SH SEE ALSO\n.BR rtl (1)\n");
}

void docgen_man_index(void)
{
	man_head("", "traces GPU programs on ROCm");
	ui_put(".SH SYNOPSIS\n.B rtl\nCOMMAND [options] ...\n.SH COMMANDS\n");
	for (const struct command *const *c = commands; *c; c++) {
		ui_putf(".TP\n.BR rtl\\-%s (1)\n", (*c)->name);
		man_text((*c)->summary);
		ui_put("\n");
	}
	ui_put(".SH ENVIRONMENT\nVariables named RTL_* set what the options leave open; an option goes "
	       "before a variable.\n.B rtl help \\-\\-environment\nlists them.\n");
}

/* ---- completions ---- */

static void choices_spaced(const char *choices)
{
	for (; *choices; choices++)
		ui_putf("%c", *choices == '|' ? ' ' : *choices);
}

/* The command's operands are another command line: use its completions. */
static void bash_child(const struct command *cmd)
{
	bool first = true;

	ui_put("\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	       "\t\t\tcase ${COMP_WORDS[i]} in\n\t\t\t--) ((i++)); break ;;\n\t\t\t");
	for (size_t o = 0; o < cmd->nr_opts; o++) {
		const struct opt *opt = &cmd->opts[o];

		if (opt->type == OPT_FLAG || opt->optional)
			continue;
		if (opt->letter)
			ui_putf("%s-%c", first ? "" : "|", opt->letter);
		ui_putf("%s--%s", first && !opt->letter ? "" : "|", opt->name);
		first = false;
	}
	ui_put(")\n\t\t\t\t((i++))\n\t\t\t\t[ \"${COMP_WORDS[i]}\" = = ] && ((i++)) ;;\n"
	       "\t\t\t-*|=) ;;\n\t\t\t*) break ;;\n\t\t\tesac\n\t\tdone\n"
	       "\t\tif ((i < COMP_CWORD)); then\n"
	       "\t\t\tif declare -F _command_offset > /dev/null; then\n"
	       "\t\t\t\t_command_offset $i\n\t\t\telse\n"
	       "\t\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\t\t\tfi\n"
	       "\t\t\treturn\n\t\tfi\n");
}

void docgen_bash(void)
{
	ui_put("# Made by rtl help --completion=bash; do not edit.\n"
	       "# shellcheck shell=bash disable=SC2207,SC1007\n"
	       "_rtl()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev= cmd=${COMP_WORDS[1]} i\n"
	       "\t((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	       "\tif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	       "\t[ \"$cur\" = = ] && cur=\n"
	       "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W \"");
	for (const struct command *const *c = commands; *c; c++)
		ui_putf("%s ", (*c)->name);
	ui_put("--version --help\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $cmd in\n");
	for (const struct command *const *c = commands; *c; c++) {
		ui_putf("\t%s)\n", (*c)->name);
		if ((*c)->child)
			bash_child(*c);
		ui_put("\t\tcase $prev in\n");
		for (size_t o = 0; o < (*c)->nr_opts; o++) {
			const struct opt *opt = &(*c)->opts[o];

			if (opt->type == OPT_FLAG)
				continue;
			ui_put("\t\t");
			if (opt->letter)
				ui_putf("-%c|", opt->letter);
			ui_putf("--%s) COMPREPLY=($(compgen ", opt->name);
			if (opt->type == OPT_CHOICE) {
				ui_put("-W \"");
				choices_spaced(opt->choices);
				ui_put("\"");
			} else {
				ui_put(opt->type == OPT_FILE ? "-f" :
				       opt->type == OPT_DIR  ? "-d" :
							       "-W \"\"");
			}
			ui_put(" -- \"$cur\")); return ;;\n");
		}
		ui_put("\t\tesac\n\t\tcase $cur in\n\t\t-*) COMPREPLY=($(compgen -W \"");
		for (size_t o = 0; o < (*c)->nr_opts; o++)
			ui_putf("--%s ", (*c)->opts[o].name);
		ui_putf("--help\" -- \"$cur\")) ;;\n\t\t*) COMPREPLY=($(compgen %s -- \"$cur\")) ;;\n\t\tesac\n\t\t;;\n",
			(*c)->child	? "-c -f" :
			*c == &cmd_help ? "-W \"$(rtl help --names 2> /dev/null)\"" :
					  "-f");
	}
	ui_put("\tesac\n}\ncomplete -o filenames -F _rtl rtl\n");
}

/* Text inside a single-quoted zsh specification: escapes colons and brackets. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			ui_put("'\\''");
		else if (strchr(":[]\\", *text))
			ui_putf("\\%c", *text);
		else
			ui_putf("%c", *text);
	}
}

static void zsh_value(const struct opt *opt)
{
	if (opt->type == OPT_FLAG)
		return;
	ui_put(opt->optional ? "::" : ":");
	zsh_text(opt->arg);
	ui_put(":");
	if (opt->type == OPT_CHOICE) {
		ui_put("(");
		choices_spaced(opt->choices);
		ui_put(")");
	} else if (opt->type == OPT_FILE) {
		ui_put("_files");
	} else if (opt->type == OPT_DIR) {
		ui_put("_files -/");
	} else {
		ui_put(" ");
	}
}

void docgen_zsh(void)
{
	ui_put("#compdef rtl\n# Made by rtl help --completion=zsh; do not edit.\n"
	       "_rtl() {\n\tlocal -a cmds\n\tcmds=(\n");
	for (const struct command *const *c = commands; *c; c++) {
		ui_putf("\t\t'%s:", (*c)->name);
		zsh_text((*c)->summary);
		ui_put("'\n");
	}
	ui_put("\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe command cmds\n\t\treturn\n\tfi\n"
	       "\tlocal cmd=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $cmd in\n");
	for (const struct command *const *c = commands; *c; c++) {
		ui_putf("\t%s)\n\t\t_arguments -s -S", (*c)->name);
		for (size_t o = 0; o < (*c)->nr_opts; o++) {
			const struct opt *opt = &(*c)->opts[o];

			for (int form = opt->letter ? 0 : 1; form < 2; form++) {
				ui_put(" \\\n\t\t\t'");
				if (form == 0)
					ui_putf("-%c%s", opt->letter,
						opt->type == OPT_FLAG || opt->optional ? "" : "+");
				else
					ui_putf("--%s%s", opt->name,
						opt->type == OPT_FLAG ? "" :
						opt->optional	      ? "=-" :
									"=");
				ui_put("[");
				zsh_text(opt->help);
				ui_put("]");
				zsh_value(opt);
				ui_put("'");
			}
		}
		ui_put(" \\\n\t\t\t'--help[the options, on one screen]'");
		ui_put((*c)->child ?
			       " \\\n\t\t\t'(-):command: _command_names -e' \\\n\t\t\t'*::arguments: _normal'\n" :
		       *c == &cmd_help ? " \\\n\t\t\t'1:command:(($cmds))'\n" :
					 " \\\n\t\t\t'*:file:_files'\n");
		ui_put("\t\t;;\n");
	}
	ui_put("\tesac\n}\n_rtl \"$@\"\n");
}

static void fish_text(const char *text)
{
	for (; *text; text++)
		ui_putf("%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
}

void docgen_fish(void)
{
	ui_put("# Made by rtl help --completion=fish; do not edit.\n");
	for (const struct command *const *c = commands; *c; c++) {
		ui_putf("complete -c rtl -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
		fish_text((*c)->summary);
		ui_put("'\n");
		for (size_t o = 0; o < (*c)->nr_opts; o++) {
			const struct opt *opt = &(*c)->opts[o];

			ui_putf("complete -c rtl -n '__fish_seen_subcommand_from %s' -l %s",
				(*c)->name, opt->name);
			if (opt->letter)
				ui_putf(" -s %c", opt->letter);
			if (opt->type != OPT_FLAG && !opt->optional)
				ui_put(opt->type == OPT_FILE || opt->type == OPT_DIR ? " -r" :
										       " -x");
			if (opt->type == OPT_CHOICE) {
				ui_put(" -a '");
				choices_spaced(opt->choices);
				ui_put("'");
			}
			ui_put(" -d '");
			fish_text(opt->help);
			ui_put("'\n");
		}
		if ((*c)->child)
			ui_putf("complete -c rtl -n '__fish_seen_subcommand_from %s' -x -a "
				"'(__fish_complete_subcommand)'\n",
				(*c)->name);
	}
}
