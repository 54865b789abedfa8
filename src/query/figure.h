/* SPDX-License-Identifier: MIT */
/* figure.h - numbers as people read them, in the caller's buffer, which is returned */
#ifndef RTL_QUERY_FIGURE_H
#define RTL_QUERY_FIGURE_H

#include <stdint.h>

#define FIGURE_SIZE 32

const char *figure_count(char buf[FIGURE_SIZE], uint64_t n); /* 1234567 -> "1,234,567" */
const char *figure_time(char buf[FIGURE_SIZE], uint64_t ns); /* 1234567 -> "1.235 ms" */
/* 753, 1000 -> "75.3%"; two digits behind the point where one says little; "0%" alone is nothing at
 * all */
const char *figure_share(char buf[FIGURE_SIZE], uint64_t part, uint64_t all);
const char *figure_percent(char buf[FIGURE_SIZE], double share); /* 0.753 -> "75.3%" */
const char *figure_bytes(char buf[FIGURE_SIZE], uint64_t bytes); /* 1234567 -> "1.18 MiB" */

#endif
