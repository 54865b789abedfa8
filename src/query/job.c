/* SPDX-License-Identifier: MIT */
/* job.c - results of a job */
#include "query/job.h"

#include <stdarg.h>
#include <stdio.h>

#include "store/verdict.h"

int job_fail(struct job_result *res, int error, const char *fmt, ...)
{
	va_list args;

	if (!res->error[0]) {
		va_start(args, fmt);
		vsnprintf(res->error, sizeof(res->error), fmt, args);
		va_end(args);
	}
	return error;
}

void job_warn(struct job_result *res, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(res->warning, sizeof(res->warning), fmt, args);
	va_end(args);
}

void job_verdict(struct job_result *res, const struct verdict *verdict)
{
	res->complete = verdict->complete;
	res->nr_lost = verdict->nr_lost;
	snprintf(res->verdict, sizeof(res->verdict), "%s", verdict->line);
}

bool job_is_private(const struct job_options *opt, bool has_args)
{
	return opt->access == JOB_ACCESS_OWNER || (opt->access == JOB_ACCESS_CONTENT && has_args);
}
