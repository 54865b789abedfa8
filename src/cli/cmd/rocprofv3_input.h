/* SPDX-License-Identifier: MIT */
/* rocprofv3_input.h - rocprofv3's input files: a list of jobs, each with options (JSON, YAML), or
 * sets of counters (text) */
#ifndef RTL_CLI_CMD_ROCPROFV3_INPUT_H
#define RTL_CLI_CMD_ROCPROFV3_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/opts.h"

/* The options of a job as words of a command line: "--kernel-trace", "true", "--pmc", "SQ_WAVES".
 * They live as long as the process. */
struct rocprofv3_job {
	char **words;
	size_t nr, max;
	bool is_counting; /* it has counters, or a text's line for them */
};

struct rocprofv3_input {
	struct rocprofv3_job *jobs;
	size_t nr, max;
	bool is_text; /* lines "pmc:", not a list of jobs */
};

/* Reads the file. `options` are rocprofv3's. Ends the process with a message that names file, job
 * and option if it can't be read or understood. */
void rocprofv3_input_read(const char *path, const struct opt *options, size_t nr_options,
			  struct rocprofv3_input *in);

#endif
