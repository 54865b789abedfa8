/* SPDX-License-Identifier: MIT */
/* occupancy.h - the waves that a kernel can have at a time, of those that its GPU has space for */
#ifndef RTL_ANALYSIS_OCCUPANCY_H
#define RTL_ANALYSIS_OCCUPANCY_H

#include "query/query.h"

struct occupancy {
	unsigned int waves, max_waves; /* of a SIMD; 0: not known */
	const char *limit;	       /* "VGPRs", "SGPRs", "LDS", "workgroup size", or "" */
};

/* Of the first shape of the kernel, by its name. *stmt is NULL at first, and the caller's to
 * finalize. 0 or -errno with the job's error. */
int occupancy_read(struct query *q, sqlite3_stmt **stmt, const char *kernel, struct occupancy *o);

#endif
