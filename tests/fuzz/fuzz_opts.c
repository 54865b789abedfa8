/* SPDX-License-Identifier: MIT */
/* fuzz_opts.c - any command line: no crash, and the documented properties of the result hold
 *
 * The input is split at NULs (and newlines) into words; the first byte selects the command.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/opts.h"

#define MAX_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_opts: broken: %s\n", what);
	abort();
}

static void check(const struct command *cmd, int argc, char **argv, char **before)
{
	static struct opt_parsed parsed;
	char error[OPTS_ERROR_SIZE];
	int err = opts_parse(cmd, argc, argv, &parsed, error);

	must(strnlen(error, sizeof(error)) < sizeof(error), "an error ends in NUL");
	must((err != 0) == (error[0] != 0), "an error has words");
	if (err)
		return;
	must(parsed.nr_operands >= 0 && parsed.nr_operands < argc, "operands are within argv");
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		const struct opt *opt = &cmd->opts[i];

		must(parsed.values[i].count || !parsed.values[i].text, "a value was given");
		must(opt->type == OPT_FLAG || opt->optional || !parsed.values[i].count ||
			     parsed.values[i].text,
		     "an option that wants a value has one");
	}
	if (!cmd->child)
		return;
	/* the child's arguments are the last of argv, in order, unchanged */
	for (int i = 0; i < parsed.nr_operands; i++)
		must(parsed.operands[i] == before[argc - parsed.nr_operands + i],
		     "the child's argv is untouched");
	must(!parsed.operands[parsed.nr_operands], "the child's argv ends in NULL");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[MAX_WORDS + 2], *before[MAX_WORDS + 2];
	const struct command *cmd = commands[0];
	char *text;
	int argc = 1;

	if (!size)
		return 0;
	for (unsigned int i = 0; i < data[0] % 8u && commands[i]; i++)
		cmd = commands[i];
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	argv[0] = (char *)"rtl";
	for (size_t at = 0; at + 1 < size && argc <= MAX_WORDS;) {
		size_t n = strcspn(text + at, "\n");

		argv[argc++] = text + at;
		text[at + n] = 0;
		at += n + 1;
	}
	argv[argc] = NULL;
	memcpy(before, argv, sizeof(argv[0]) * ((size_t)argc + 1));
	check(cmd, argc, argv, before);
	free(text);
	return 0;
}
