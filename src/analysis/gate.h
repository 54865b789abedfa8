/* SPDX-License-Identifier: MIT */
/* gate.h - conditions on a comparison: "kernel:gemm.* > +5%; kernel.count:gemm.* > 0%; wall > +3%"
 *
 * A condition fails if one of the rows that it names differs, in its direction and beyond its
 * limit. The rows of all conditions are a family of tests of their own, so that a gate on one name
 * needs few runs. A condition of which no row could be decided is
 * undecided: it has neither passed nor failed. One thread.
 */
#ifndef RTL_ANALYSIS_GATE_H
#define RTL_ANALYSIS_GATE_H

#include "analysis/diff.h"

#define GATE_ERROR_SIZE 512

enum gate_state { GATE_PASSED, GATE_FAILED, GATE_UNDECIDED, GATE_UNMATCHED };

struct gate_condition;

struct gate_result {
	const char *text; /* the condition as written; borrowed from the gate */
	enum gate_state state;
	bool is_above;	/* '>', else '<' */
	size_t *failed; /* rows of the diff */
	size_t nr_failed;
	size_t nr_rows;	    /* that it names */
	size_t nr_too_few;  /* of these: with too few runs */
	size_t nr_one_side; /* of these: a median, of a name that is on one side only */
};

struct gate {
	struct gate_condition *conditions;
	struct gate_result *results; /* one for each condition */
	size_t nr;
	size_t runs_needed; /* on each side, so that each row can be decided */
};

/* 0, or -EINVAL or -ENOMEM with a message in `error`; *out is NULL then. The caller frees with
 * gate_free(). */
int gate_parse(const char *text, struct gate **out, char error[GATE_ERROR_SIZE]);
/* Fills gate->results, after diff_compare(). 0 or -ENOMEM. */
int gate_check(struct gate *gate, const struct diff *d);
/* Whether any condition is in that state. */
bool gate_any(const struct gate *gate, enum gate_state state);
/* Accepts NULL. */
void gate_free(struct gate *gate);

#endif
