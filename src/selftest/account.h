/* SPDX-License-Identifier: MIT */
/* account.h - what the self-test's program knows of its own run, for `rtl selftest` to compare with
 * the trace
 *
 * Lines "key value" in a file. account_write() replaces the file as a whole, so that it is also
 * there after a SIGKILL.
 */
#ifndef RTL_SELFTEST_ACCOUNT_H
#define RTL_SELFTEST_ACCOUNT_H

#include <stdint.h>

/* The file; before any other function. */
void account_open(const char *path);
/* Adds a line. One thread at a time. */
void account_add(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void account_number(const char *key, uint64_t value);
/* Writes all lines so far. */
void account_write(void);
/* Adds "failed" with the reason, writes, and ends the process with status 1. */
_Noreturn void account_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with "lacking", for something that is not there, and status 77. */
_Noreturn void account_lack(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
