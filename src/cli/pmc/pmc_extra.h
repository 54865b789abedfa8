/* SPDX-License-Identifier: MIT */
/* pmc_extra.h - files of counters as rocprofv3's option --extra-counters takes them (YAML), as a
 * file of metrics
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
#ifndef RTL_CLI_PMC_PMC_EXTRA_H
#define RTL_CLI_PMC_PMC_EXTRA_H

#include <stdbool.h>

#include "counter/metrics_file.h"

/* Whether a file is one: by the ending .yaml or .yml of its name, or by its first key. */
bool pmc_extra_is(const char *path);
/* Reads it. NULL: it is not understood; `error`, of METRICS_FILE_ERROR_SIZE bytes, names file and
 * counter. */
struct metrics_file *pmc_extra_open(const char *path, char *error);

#endif
