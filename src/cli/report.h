/* SPDX-License-Identifier: MIT */
/* report.h - what is said on stderr about a database that was just written */
#ifndef RTL_CLI_REPORT_H
#define RTL_CLI_REPORT_H

#include "query/job.h"

/* Ends the process where `err` is an error, with what the result says of it, or that it was stopped. */
void report_check(const struct job_result *res, int err);
/* One block: the file, what is in it, the verdict, losses by name. */
void report_result(const char *path, const char *shown, const struct job_result *res);
/* What librtl had to say in the processes: the first lines of dir/log.PID. */
void report_logs(const char *dir, bool quiet);

#endif
