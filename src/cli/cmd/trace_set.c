/* SPDX-License-Identifier: MIT */
/* trace_set.c - rtl trace -o DIR/: options that a data set has no use for */
#include "cli/cmd/trace_set.h"

#include "cli/cmd/trace_options.h"
#include "cli/exit_status.h"
#include "cli/trace/dataset.h"
#include "cli/trace/ranks.h"
#include "cli/ui.h"

/* What writes databases of its own is not for a data set. */
void trace_set_check(const struct opt_parsed *p, const char *pattern, bool reruns)
{
	static const struct {
		int option;
		const char *name;
	} others[] = {
		{ TRACE_SPLIT, "--split" },	      { TRACE_LONGER, "--trigger-longer" },
		{ TRACE_ERROR, "--trigger-error" },   { TRACE_MARK, "--trigger-mark" },
		{ TRACE_USR2, "--snapshot-on-usr2" },
	};

	if (!dataset_is(pattern))
		return;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (p->values[others[i].option].count)
			ui_die(STATUS_TRACE,
			       "%s writes databases, which %s, a data set, has none of: use -o FILE, or "
			       "leave it out",
			       others[i].name, pattern);
	if (reruns)
		ui_die(STATUS_TRACE,
		       "--passes=rerun joins the databases of its runs: use -o FILE, and then rtl "
		       "convert -f parquet -o %s",
		       pattern);
	if (ranks_are_split(pattern))
		ui_die(STATUS_TRACE,
		       "%s: a data set has a folder for each rank; leave %%r out of its name",
		       pattern);
}
