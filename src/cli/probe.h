/* SPDX-License-Identifier: MIT */
/* probe.h - asks the dynamic loader about a library, in a process of its own: its constructors may
 * do anything, and a crash of it is an answer too */
#ifndef RTL_CLI_PROBE_H
#define RTL_CLI_PROBE_H

#include <limits.h>
#include <stdbool.h>

struct probe_result {
	bool loaded;
	char path[PATH_MAX]; /* the real file that was loaded */
	char error[512];     /* the loader's words, or the signal that ended the process */
	bool has_symbol;
};

/* Loads `name` as a program would. `first` (NULL: none) is loaded before it: what it stands in for
 * is then found there. `symbol` (NULL: none) is looked up. */
void probe_library(struct probe_result *out, const char *name, const char *first,
		   const char *symbol);

#endif
