/* SPDX-License-Identifier: MIT */
/* arg_types.h - librocprofiler-sdk: what the types of arguments are, by their C++ manglings */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_ARG_TYPES_H
#define RTL_LIB_LIBROCPROFILER_SDK_ARG_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "names_enums_gen.h"

struct member {
	const char *name, *mangled;
	uint16_t offset, size;
};

/* A structure, with its members in the order in which they are shown: AMD's, the last first. */
struct shape {
	const char *name;
	uint32_t size;
	struct member members[4];
};

/* A class or an enumeration. */
struct arg_type {
	const char *mangled;
	const struct shape *shape;	 /* NULL: its members are not shown */
	const struct names_enum *values; /* of an enumeration that is known, else NULL */
	const char *prefix; /* of an enumeration that is shown by name, without this; else NULL */
	uint32_t size;	/* of what can be shown behind a pointer to it; 0: it is not looked into */
	bool is_handle; /* of HSA */
	bool is_bare;	/* one that is shown without braces */
	bool is_opaque; /* no header completes it */
};

/* HOT: the type whose mangling begins here with its length: a constant. `own`: where it is if it
 * can't be kept. Any thread. */
const struct arg_type *arg_type_of(const char *mangled, struct arg_type *own);

#endif
