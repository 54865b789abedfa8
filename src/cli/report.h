/* SPDX-License-Identifier: MIT */
/* report.h - messages on stderr about a database that was just written */
#ifndef RTL_CLI_REPORT_H
#define RTL_CLI_REPORT_H

#include "query/job.h"

/* Ends the process with STATUS_INPUT if the input of a command is no file. */
void report_input(const char *path);
/* If `err` is an error, ends the process with the result's message, or with "stopped". */
void report_check(const struct job_result *res, int err);
/* Where the earlier databases of a trace are that was split. */
void report_parts(const char *output, unsigned int nr);
/* Prints the file, its counts, the verdict, and losses by name. */
void report_result(const char *path, const char *shown, const struct job_result *res);
/* Prints the first lines of librtl's logs, dir/log.PID. */
void report_logs(const char *dir, bool quiet);

#endif
