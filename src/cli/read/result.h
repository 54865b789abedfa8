/* SPDX-License-Identifier: MIT */
/* result.h - messages on stderr about a database that was just written, or is not there */
#ifndef RTL_CLI_READ_RESULT_H
#define RTL_CLI_READ_RESULT_H

#include "base/rank.h"
#include "query/job.h"

/* Ends the process with STATUS_INPUT if the input of a command is no file. */
void result_refuse_input(const char *path);
/* Where the earlier databases of a trace are that was split. */
void result_say_parts(const char *output, unsigned int nr);
/* Prints the file, its counts, the verdict, and losses by name. */
void result_say(const char *path, const char *shown, const struct job_result *res);
/* The same for a database of one rank of several, which have one each: rank 0 prints a line for
 * all, the others only what is wrong or unusual with theirs. `pattern`: the name of all of them;
 * NULL: `shown` is the data set that each adds its folder to. */
void result_say_rank(const char *path, const char *shown, const char *pattern,
		     const struct rank *rank, const struct job_result *res);
/* Prints the first lines of librtl's logs, dir/log.PID. */
void result_say_logs(const char *dir, bool quiet);

#endif
