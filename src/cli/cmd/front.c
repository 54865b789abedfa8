/* SPDX-License-Identifier: MIT */
/* front.c - commands that take another tool's options: the command line of `rtl trace` that they
 * make of them */
#include "cli/cmd/front.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/ui.h"

void front_add(struct front_line *line, const char *option, const char *text)
{
	if (line->nr + 2 >= FRONT_WORDS_MAX)
		ui_die(STATUS_TRACE, "too many options");
	line->words[line->nr++] = ui_keep(ui_format("%s", option));
	if (text)
		line->words[line->nr++] = ui_keep(ui_format("%s", text));
}

int front_run(const struct front_line *line, const struct opt_parsed *p)
{
	static struct opt_parsed parsed;
	char error[OPTS_ERROR_SIZE];
	int nr = p->nr_operands, argc = line->nr;
	char **argv = calloc((size_t)(argc + nr) + 1, sizeof(*argv));

	if (!argv)
		ui_die_memory();
	ui_keep(argv);
	memcpy(argv, line->words, (size_t)argc * sizeof(*argv));
	memcpy(argv + argc, p->operands, (size_t)nr * sizeof(*argv));
	if (opts_parse(&cmd_trace, argc + nr, argv, &parsed, error))
		ui_die(STATUS_TRACE, "%s", error);
	/* behind the options of another tool */
	parsed.has_dashes = true;
	return cmd_trace.run(&parsed);
}

void front_add_gpus(struct front_line *line, const struct opt_value *v)
{
	if (v->text)
		front_add(line, ui_keep(ui_format("--virtual-gpu=%s", v->text)), NULL);
	else if (v->count)
		front_add(line, "--virtual-gpu", NULL);
}

int front_check(const struct job_result *res, int err)
{
	if (err)
		ui_error("%s", res->error[0] ? res->error : strerror(-err));
	if (res->warning[0])
		ui_say("%s", res->warning);
	return err ? STATUS_TRACE : 0;
}

int front_finish(const char *database, int status, bool keep, int (*write)(const void *arg),
		 const void *arg)
{
	char *spools = ui_format("%s.spool", database);
	int failed;

	ui_quiet(false);
	if (access(spools, F_OK) == 0)
		ui_say("%s: is kept: processes that the program left behind may still record there; 'rtl recover -o FILE %s' "
		       "writes their trace after their end",
		       spools, spools);
	free(spools);
	if (access(database, F_OK)) {
		ui_say("nothing was recorded: no files were written");
		return status;
	}
	failed = write(arg);
	if (failed || keep)
		ui_say("%s: the database; rtl convert writes the files from it", database);
	else
		unlink(database);
	return status ? status : failed;
}

static void put_word(const char *word)
{
	ui_putf(strchr(word, ' ') ? " '%s'" : " %s", word);
}

void front_print(const struct front_line *line, const struct opt_parsed *p)
{
	ui_put("rtl");
	for (int i = 0; i < line->nr; i++)
		put_word(line->words[i]);
	for (int i = 0; i < p->nr_operands; i++)
		put_word(p->operands[i]);
	ui_put("\n");
}
