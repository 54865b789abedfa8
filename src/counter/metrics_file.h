/* SPDX-License-Identifier: MIT */
/* metrics_file.h - users' counters and metrics: files as rocprof's option -m and its variable
 * ROCP_METRICS take them
 *
 *	#include "gfx_metrics.xml"
 *	<gfx90a>
 *	  <metric name=MY_WAVES block=SQ event=4 descr="wavefronts" ></metric>
 *	</gfx90a>
 *	<global>
 *	  <metric name=MyRatio expr=100*MY_WAVES/GRBM_COUNT unit=percent ></metric>
 *	</global>
 *
 * Of the elements that enclose metrics (scopes) a GPU has three: <const>, <global>, and that of its
 * name or family. `base` names an earlier scope, whose metrics are in this one as well, but for
 * those whose name it has itself. The form is that of loose_xml.h.
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

/* Reads a file, or a text that is called `name`. `rules` are those of its expressions; a metric's
 * attribute rules=v1 or rules=ordinary goes before them. NULL: it is not understood; `error`, of
 * METRICS_FILE_ERROR_SIZE bytes, is "FILE:LINE: what is wrong". */
struct metrics_file *metrics_file_open(const char *path, enum expression_rules rules, char *error);
struct metrics_file *metrics_file_parse(const char *name, const char *text, size_t size,
					enum expression_rules rules, char *error);
void metrics_file_close(struct metrics_file *f); /* NULL: does nothing */

/* What an agent, "gfx90a:sramecc+", can count; it lives as long as the file. A metric of <global>
 * that needs what only other GPUs have is left out. NULL: the counters of that GPU are not known
 * (gpus_find()), or a metric can't be used: `error` says which and why. */
const struct counter_gpu *metrics_file_gpu(struct metrics_file *f, const char *agent,
					   enum metrics_file_use use, char *error);

/* The definitions that the agent's metrics `names` need of the file, as a text for
 * metrics_file_parse(): "" if there are none. They are those for METRICS_FILE_EXTENDS. To be freed.
 * NULL: as metrics_file_gpu(), or no memory; an unknown name needs nothing. */
char *metrics_file_excerpt(struct metrics_file *f, const char *agent, const char *const *names,
			   uint32_t nr, char *error);

#endif
