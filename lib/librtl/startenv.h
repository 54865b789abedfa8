/* SPDX-License-Identifier: MIT */
/* startenv.h - the environment that the process started with, as far as it concerns librtl
 *
 * A program may clear its environment before it uses the GPU. What the user asked for by it still
 * holds: librtl is loaded and records calls. So what looks at these variables later looks at those
 * of the start, and what has to be found in the environment by the runtime or by a second copy of
 * librtl is there for the time of one call.
 */
#ifndef RTL_LIB_LIBRTL_STARTENV_H
#define RTL_LIB_LIBRTL_STARTENV_H

#include <stdbool.h>

struct startenv_loan {
	char **before, **lent;
};

/* Before the program's first thread. Again in a second copy of librtl: what is lent then. */
void startenv_init(void);

/* Whether LD_PRELOAD, HSA_TOOLS_LIB or ROCPROFILER_REGISTER_LIBRARY named librtl at the start, or
 * names it now. */
bool startenv_names(const char *variable);
/* Whether one of them does, or the loader puts librtl in front of every program: the process is
 * recorded from its start. */
bool startenv_is_requested(void);

/* Gives the process an environment with the variables of the start that are missing in its own;
 * `as_tool`: HSA_TOOLS_LIB names librtl in front of what it names. false: nothing was changed: no
 * memory, or the names are too long. Other threads see one of two whole arrays, which are never
 * freed. One loan at a time. */
bool startenv_lend(struct startenv_loan *loan, bool as_tool);
void startenv_take_back(const struct startenv_loan *loan);

#endif
