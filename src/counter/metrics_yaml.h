/* SPDX-License-Identifier: MIT */
/* metrics_yaml.h - counters and metrics as rocprofiler-sdk has them, in YAML, as a file of metrics:
 * of rocprofv3's option --extra-counters, of rocprofiler_load_counter_definition(), of AMD's own
 * files
 *
 *	rocprofiler-sdk:
 *	  counters-schema-version: 1
 *	  counters:
 *	    - name: BUSY
 *	      description: cycles of all units
 *	      definitions:
 *	        - architectures: [gfx90a, gfx942]
 *	          expression: reduce(GRBM_GUI_ACTIVE,max)*CU_NUM
 *	        - architectures: [gfx906]
 *	          block: CPC
 *	          event: 25
 */
#ifndef RTL_COUNTER_METRICS_YAML_H
#define RTL_COUNTER_METRICS_YAML_H

#include <stdbool.h>

#include "counter/metrics_file.h"

struct metrics_text {
	const char *name, *text;
};

/* Whether a file is one: by the ending .yaml or .yml of its name, or by its first key. */
bool metrics_yaml_is(const char *path);
/* Reads it. NULL: it is not understood; `error`, of METRICS_FILE_ERROR_SIZE bytes, names file and
 * counter. */
struct metrics_file *metrics_yaml_open(const char *path, char *error);
/* The text of a file, to be freed. NULL: `error`, as above. */
char *metrics_yaml_read(const char *path, char *error);

#define METRICS_YAML_PATH_SIZE 4096u
/* The file that counts in folders with a colon between, as of ROCPROFILER_METRICS_PATH. False: none
 * has one. */
bool metrics_yaml_find(const char *folders, char path[METRICS_YAML_PATH_SIZE]);

/* What several texts define for one GPU, an agent's name. What it can't count is left out, and of
 * definitions of one name that of the first text counts: AMD's own files have much that rtl does
 * not know. `use`: for metrics_file_gpu(). NULL: one of the texts is none. */
struct metrics_file *metrics_yaml_parse(const struct metrics_text *texts, uint32_t nr,
					const char *agent, enum metrics_file_use use, char *error);

#endif
