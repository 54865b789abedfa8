/* SPDX-License-Identifier: MIT */
/* call_args.h - the arguments of a call, from their text in the database: "name=value,
 * name=value" */
#ifndef RTL_EXPORT_CALL_ARGS_H
#define RTL_EXPORT_CALL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_ARGS_NAME 128 /* a name is shorter */

/* Within the text, which the caller keeps. */
struct call_arg {
	const char *name, *value;
	size_t name_size; /* 0: `value` is the rest of a text that was cut */
	size_t value_size;
};

/* Whether all of the text has this form; it may have been cut. */
bool call_args_is_form(const char *text);
/* The next argument of a text of this form; NULL at its end, else what follows the argument. */
const char *call_args_next(const char *text, struct call_arg *out);
/* The value of an argument of that name. */
bool call_args_find(const char *text, const char *name, struct call_arg *out);

#endif
