/* SPDX-License-Identifier: MIT */
/* apart.h - labels of kernels for formats whose readers tell kernels apart by their label alone
 *
 * A label (label.h) has no parameters and ends at 160 bytes, so overloads and long names share one.
 * Kernels that do are shown by their whole name, each of them, whichever comes first.
 */
#ifndef RTL_QUERY_APART_H
#define RTL_QUERY_APART_H

#include "query/label.h"
#include "query/query.h"
#include "store/map.h"

/* A zeroed one has read nothing. */
struct apart {
	struct map labels;  /* hash of a label -> 1, or SHARED */
	struct map kernels; /* hash of a whole name -> 1 */
};

/* Reads the names of the trace's kernels. Memory grows with their number. */
int apart_read(struct apart *apart, struct query *q);
/* In buf, or the name itself. */
const char *apart_label(const struct apart *apart, char buf[LABEL_SIZE], const char *kernel);
void apart_fini(struct apart *apart);

#endif
