/* SPDX-License-Identifier: MIT */
/* checks.h - what is wrong with the value of an option that more than one command has
 *
 * Each is a why_not of struct opt: NULL: nothing, else a text that is valid until the next call.
 */
#ifndef RTL_CLI_CHECKS_H
#define RTL_CLI_CHECKS_H

#include <stdint.h>

const char *checks_size(const char *text);
const char *checks_seconds(const char *text);
const char *checks_duration(const char *text);
const char *checks_periods(const char *text);
const char *checks_range(const char *text);
const char *checks_regex(const char *text);
const char *checks_list(const char *text);
const char *checks_flight(const char *text);
const char *checks_time(const char *text);

/* Bytes: a number with K, M, G or T. 0: it is no size. */
uint64_t checks_read_size(const char *text);

#endif
