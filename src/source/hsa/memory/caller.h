/* SPDX-License-Identifier: MIT */
/* caller.h - whether a copy was submitted by the program itself, or by the runtime on its behalf */
#ifndef RTL_SOURCE_HSA_CALLER_H
#define RTL_SOURCE_HSA_CALLER_H

#include <stdint.h>

#include "event/thread.h"

/* The id of a copy on `t`: corr_take(), but a program that calls HSA itself has missed no call of
 * HIP. `caller`: the return address of HSA's function; ROCr's exported functions jump to those of
 * its table. Looks the code up only where a call would be missed. Any thread, takes the loader's
 * lock of its list then. */
uint64_t caller_correlation(struct thread *t, const void *caller);

#endif
