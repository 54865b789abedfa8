/* SPDX-License-Identifier: MIT */
/* hsa_past.h - whether HSA's runtime was initialised before librtl could get its tables */
#ifndef RTL_LIB_LIBRTL_HSA_PAST_H
#define RTL_LIB_LIBRTL_HSA_PAST_H

#include <stdbool.h>

#include "event/bus.h"

/* At the end of a trace: counts the loss. */
extern const struct source hsa_past_source;
/* Whether the runtime was initialised, and librtl has no tables of it; false while they may still
 * come, on whichever thread. Any thread. */
bool hsa_past_is(void);
/* Around a call in which the runtime may pass its tables on: hsa_init(), OnLoad(). They nest. Any
 * thread. */
void hsa_past_begin(void);
void hsa_past_end(void);
/* At the process's end: says to rtl trace if the process has no trace because its runtime was
 * initialised without librtl. */
void hsa_past_conclude(void);
/* A function of a runtime that is loaded, also as the dependency of a library that was loaded with
 * local scope. NULL: there is none. */
void *hsa_past_find(const char *name);

#endif
