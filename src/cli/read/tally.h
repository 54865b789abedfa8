/* SPDX-License-Identifier: MIT */
/* tally.h - sums of a growing trace: by kernel, function and kind of copy, in all and since the
 * last look */
#ifndef RTL_CLI_READ_TALLY_H
#define RTL_CLI_READ_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "spool/format.h"

enum tally_kind { TALLY_KERNEL, TALLY_CALL, TALLY_COPY, TALLY_NR_KINDS };

struct tally_sum {
	uint64_t count, ns, bytes;
};

struct tally_row {
	const char *name; /* valid until the next tally_rows() */
	struct tally_sum all, fresh;
};

struct tally;

struct tally *tally_create(void);
void tally_destroy(struct tally *t);
/* A follow_fn. */
void tally_record(void *tally, const struct rec_head *rec, const struct rec_shape *shape);
/* Sums of `fresh` begin at zero again. */
void tally_begin(struct tally *t);
/* Of a kind: the rows, those with most fresh time first, then those with most time. Returns their
 * number; valid until the next call. */
size_t tally_rows(struct tally *t, enum tally_kind kind, const struct tally_row **out);
/* Of all rows of a kind. */
struct tally_row tally_total(const struct tally *t, enum tally_kind kind);

#endif
