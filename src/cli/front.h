/* SPDX-License-Identifier: MIT */
/* front.h - commands that take another tool's options: the command line of `rtl trace` that they make of them */
#ifndef RTL_CLI_FRONT_H
#define RTL_CLI_FRONT_H

#include "cli/opts.h"

#define FRONT_WORDS_MAX 64

struct front_line {
	char *words[FRONT_WORDS_MAX + 1]; /* live as long as the process */
	int nr;
};

/* Adds an option, and its value unless that is NULL. */
void front_add(struct front_line *line, const char *option, const char *text);
/* Runs `rtl trace` with the line and the program's words; its exit status. */
int front_run(const struct front_line *line, const struct opt_parsed *p);
/* Prints both as a command. */
void front_print(const struct front_line *line, const struct opt_parsed *p);

#endif
