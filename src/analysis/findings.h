/* SPDX-License-Identifier: MIT */
/* findings.h - what is wrong with a program: an id, a sentence, its numbers, and what to look at
 *
 * Ids are stable; docs/findings.md says of each what it means and what to do. A finding is there
 * where its cost is at least a twentieth of the time after the start-up (wall.h), of which its
 * shares are. One whose needs the recording lacks is left out, and named.
 */
#ifndef RTL_ANALYSIS_FINDINGS_H
#define RTL_ANALYSIS_FINDINGS_H

#include "analysis/digest.h"

/* By the share of the time that it concerns: a half, a fifth, less. NOTE: where the time goes,
 * which need not be a fault. */
enum findings_severity { FINDINGS_HIGH, FINDINGS_MEDIUM, FINDINGS_LOW, FINDINGS_NOTE };
const char *findings_severity_name(enum findings_severity severity);

enum { FINDINGS_NUMBERS = 6, FINDINGS_SYMBOLS = 4 };

struct finding {
	const char *id; /* "idle-gpu" */
	enum findings_severity severity;
	char *text;	   /* sentences */
	const char *query; /* options of rtl summary that list what is behind it */
	struct finding_number {
		const char *key,
			*unit; /* unit: "ns", "bytes", "bytes/s", "1": a number or a share */
		double value;
	} numbers[FINDINGS_NUMBERS];
	size_t nr_numbers;
	/* kernels that the text names, as it names them: a screen may shorten them */
	char *symbols[FINDINGS_SYMBOLS];
	size_t nr_symbols;
};

struct findings {
	struct finding *list;
	size_t nr, max;
	/* a sentence: which were not looked for, and what they need; NULL: all were */
	char *missing;
	struct imbalance *imbalance; /* what slow-rank was found in; NULL: it was not read */
};

/* Reads them from a digest. The result is in the caller's zeroed structure. 0 or -errno with
 * q->res->error; findings_fini() in both cases. The critical path takes all operations and calls
 * into memory, and is left out above 400,000 of them; slow-rank above 2,000,000 kernels. */
int findings_read(struct query *q, struct digest *d, struct findings *out);
void findings_fini(struct findings *f);

#endif
