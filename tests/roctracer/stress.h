/* SPDX-License-Identifier: MIT */
/* stress.h - threads that register and remove while other threads call */
#ifndef RTL_TESTS_ROCTRACER_STRESS_H
#define RTL_TESTS_ROCTRACER_STRESS_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "roctracer/roctracer.h"

#define NR_THREADS 8u

extern atomic_bool over;
extern atomic_int nr_wrong;
/* Callback N and argument N belong together. One for each thread, and one more. */
extern int arguments[NR_THREADS + 1];
extern const activity_rtapi_callback_t callbacks[NR_THREADS + 1];

/* The program's: a callback was called with `arg`, and its own is `its`. */
void on_call(uint32_t domain, uint32_t cid, const void *data, const void *arg, const int *its);

/* Counts, and prints the first few. */
void fail(const char *what);

/* NR_THREADS threads in first(), as many in second() (NULL: none), each with its argument; `over`
 * after that time. Returns when all have. */
void run(void *(*first)(void *), void *(*second)(void *), time_t seconds);

/* Prints the number of errors; returns the exit status. */
int verdict(void);

#endif
