/* SPDX-License-Identifier: MIT */
/* top_view.h - one picture of `rtl top`, as text */
#ifndef RTL_CLI_READ_TOP_VIEW_H
#define RTL_CLI_READ_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/read/tally.h"
#include "cli/trace/control.h"
#include "store/load.h"

struct top_view {
	uint32_t pid;
	const struct control_reply *reply;
	struct tally *tally;
	const struct load_facts *facts; /* NULL: no trace is open */
	uint64_t span_ns;		/* of the fresh sums */
	unsigned int columns, rows;	/* the screen's; rows 0: no limit */
	size_t nr_names;		/* most rows of kernels and functions; 0: as many as fit */
	bool colour;
};

/* The text, malloc'd: lines of at most `columns` columns. */
char *top_view_text(const struct top_view *v);

#endif
