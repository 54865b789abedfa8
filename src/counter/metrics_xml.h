/* SPDX-License-Identifier: MIT */
/* metrics_xml.h - files of metrics as rocprof's option -m and its variable ROCP_METRICS take them
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
 * Threads:  one at a time for each file.
 */
#ifndef RTL_COUNTER_METRICS_XML_H
#define RTL_COUNTER_METRICS_XML_H

#include "counter/metrics_file.h"

/* Reads a file, or a text that is called `name`. `rules` are those of its expressions; a metric's
 * attribute rules=v1 or rules=ordinary goes before them. NULL: it is not understood; `error`, of
 * METRICS_FILE_ERROR_SIZE bytes, is "FILE:LINE: what is wrong". */
struct metrics_file *metrics_xml_open(const char *path, enum expression_rules rules, char *error);
struct metrics_file *metrics_xml_parse(const char *name, const char *text, size_t size,
				       enum expression_rules rules, char *error);

/* The definitions that the agent's metrics `names` need of the file, as a text for
 * metrics_xml_parse(): "" if there are none. They are those for METRICS_FILE_EXTENDS. To be freed.
 * NULL: as metrics_file_gpu(), or no memory; an unknown name needs nothing. */
char *metrics_xml_excerpt(struct metrics_file *f, const char *agent, const char *const *names,
			  uint32_t nr, char *error);

#endif
