/* SPDX-License-Identifier: MIT */
/* probe.h - tries to load a library, in a child process, because its constructors may do anything,
 * or crash */
#ifndef RTL_CLI_TRACE_PROBE_H
#define RTL_CLI_TRACE_PROBE_H

#include <limits.h>
#include <stdbool.h>

struct probe_result {
	bool loaded;
	char path[PATH_MAX]; /* the real file that was loaded */
	char error[512];     /* the loader's message, or the signal that ended the process */
	bool has_symbol;
};

/* Loads `name` as a program would. Loads `first` (may be NULL) before it, so that `name` uses it
 * instead of the library with the same soname. Looks `symbol` up (may be NULL). */
void probe_library(struct probe_result *out, const char *name, const char *first,
		   const char *symbol);

#endif
