/* SPDX-License-Identifier: MIT */
/* metrics_file.h - users' counters and metrics, of a file in XML (metrics_xml.h) or YAML
 * (metrics_yaml.h)
 *
 * Threads:  one at a time for each file. What metrics_file_gpu() returns does not change, and is
 *           for any thread.
 */
#ifndef RTL_COUNTER_METRICS_FILE_H
#define RTL_COUNTER_METRICS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counter/gpus.h"

#define METRICS_FILE_ERROR_SIZE 512u

enum metrics_file_use {
	/* the GPU's own counters and metrics, and the file's, which go before those of the same
	 * name */
	METRICS_FILE_EXTENDS,
	METRICS_FILE_ALONE, /* the file's alone, as with ROCP_METRICS */
};

struct metrics_file;

void metrics_file_close(struct metrics_file *f); /* NULL: does nothing */

/* What an agent, "gfx90a:sramecc+", can count; it lives as long as the file. A metric of <global>
 * that needs what only other GPUs have is left out. NULL: the counters of that GPU are not known
 * (gpus_find()), or a metric can't be used: `error` says which and why. */
const struct counter_gpu *metrics_file_gpu(struct metrics_file *f, const char *agent,
					   enum metrics_file_use use, char *error);

#endif
