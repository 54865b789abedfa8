/* SPDX-License-Identifier: MIT */
/* diff_html.h - rtl diff --format html */
#ifndef RTL_CLI_READ_DIFF_HTML_H
#define RTL_CLI_READ_DIFF_HTML_H

#include "analysis/gate.h"

/* The files of the two sides, d->nr_runs of each; borrowed. */
struct diff_html_sides {
	char **files[2];
};

/* Writes the page to stdout, with at most `rows` rows, 0: all. `gate` was checked; it may be
 * NULL. */
void diff_html_print(const struct diff *d, const struct diff_html_sides *sides,
		     const struct gate *gate, uint64_t rows);

#endif
