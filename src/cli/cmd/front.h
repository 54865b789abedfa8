/* SPDX-License-Identifier: MIT */
/* front.h - commands that take another tool's options: the command line of `rtl trace` that they
 * make of them */
#ifndef RTL_CLI_CMD_FRONT_H
#define RTL_CLI_CMD_FRONT_H

#include <stdbool.h>

#include "cli/opts.h"
#include "query/job.h"

#define FRONT_WORDS_MAX 64

struct front_line {
	char *words[FRONT_WORDS_MAX + 1]; /* live as long as the process */
	int nr;
};

/* Adds an option, and its value unless that is NULL. */
void front_add(struct front_line *line, const char *option, const char *text);
/* Runs `rtl trace` with the line and the program's words; its exit status. */
int front_run(const struct front_line *line, const struct opt_parsed *p);
/* Adds --virtual-gpu as `v` of the same option has it. */
void front_add_gpus(struct front_line *line, const struct opt_value *v);
/* After the run: calls `write` for the files, unless nothing was recorded, and removes the database
 * unless `keep`, or if they could not be written. The exit status: the program's `status`, or that
 * of `write` if that is 0. */
int front_finish(const char *database, int status, bool keep, int (*write)(const void *arg),
		 const void *arg);
/* Prints what went wrong with the files, or was noticed. STATUS_TRACE or 0. */
int front_check(const struct job_result *res, int err);
/* Prints both as a command. */
void front_print(const struct front_line *line, const struct opt_parsed *p);

#endif
