/* SPDX-License-Identifier: MIT */
/* program.h - what the file of a program says: why it can't be run, why librtl can't be loaded into
 * it, which runtime it needs */
#ifndef RTL_CLI_TRACE_PROGRAM_H
#define RTL_CLI_TRACE_PROGRAM_H

#include <limits.h>

struct program {
	const char *untraceable; /* "is statically linked: ...", or NULL */
	char runtime[256];	 /* the ROCm library that it is linked with; "": none */
	char missing
		/* what the script's first line has env(1) look for, and is not in PATH; "": none */
		[256];
};

/* Looks at the file that execvp() would execute; of a script, at its interpreter, also one that
 * env(1) looks for. */
void program_read(const char *command, struct program *out);

/* Why execvp() failed with this error (positive), and what to do. Valid until the next call. */
const char *program_cant_run(const char *command, int error);

#endif
