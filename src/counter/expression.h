/* SPDX-License-Identifier: MIT */
/* expression.h - expressions of metrics: "100*sum(TCC_HIT,16)/(sum(TCC_HIT,16)+sum(TCC_MISS,16))"
 *
 *	sum      product (+|- product)*
 *	product  factor (*|/ factor)*
 *	factor   -factor | number | NAME | NAME[INDEX] | ( sum ) | sum|avr|min|max(NAME,N)
 *
 * Values are doubles. The functions are over NAME[0] to NAME[N-1]. A division by zero makes the
 * value of the whole expression 0.
 */
#ifndef RTL_COUNTER_EXPRESSION_H
#define RTL_COUNTER_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

enum expression_rules {
	EXPRESSION_ORDINARY,
	/* Of rocprofiler 5.2.3, for users' files that rely on them: what is behind + or - is its
	 * right operand as a whole, so that 10-3-2 is 9; integers alone, of 32 bits; a missing
	 * operand is 0; a ) too many ends the expression, one too few is ignored. */
	EXPRESSION_V1,
};

#define EXPRESSION_ERROR_SIZE 256u
#define EXPRESSION_ALL (-1) /* a name without an index */

struct expression;

/* NULL: not an expression, or no memory; `error`, of EXPRESSION_ERROR_SIZE bytes, says what and
 * where. */
struct expression *expression_parse(const char *text, enum expression_rules rules, char *error);
void expression_free(struct expression *e);

/* Calls `fn` for each name in it, in order; once for each index that a function needs. Stops, and
 * returns false, when `fn` does. */
typedef bool (*expression_name_fn)(const char *name, int32_t index, void *arg);
bool expression_names(const struct expression *e, expression_name_fn fn, void *arg);

/* Stores its value. False: `fn` had no value for a name. */
typedef bool (*expression_value_fn)(const char *name, int32_t index, void *arg, double *value);
bool expression_value(const struct expression *e, expression_value_fn fn, void *arg, double *value);

#endif
