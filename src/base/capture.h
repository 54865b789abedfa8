/* SPDX-License-Identifier: MIT */
/* capture.h - the values of the options that choose what is recorded: --period, --range, --gpus and
 * so on
 *
 * `rtl trace` checks them before the program starts, librtl reads them in the program. A parser
 * returns 0, or
 * -EINVAL with a message: what is wrong, where, and what is allowed.
 */
#ifndef RTL_BASE_CAPTURE_H
#define RTL_BASE_CAPTURE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_ERROR_SIZE 200
#define CAPTURE_FLIGHT_MIN (UINT64_C(128) << 10) /* bytes */
#define CAPTURE_MAX_TEXT 4000			 /* bytes of a value */

enum capture_kind {
	CAPTURE_SECONDS, /* 2, 0.25, 500ms, 2m */
	CAPTURE_PERIODS, /* DELAY:DURATION[:REPEAT], several separated by blanks or commas */
	CAPTURE_RANGE,	 /* NAME, NAME@N */
	CAPTURE_REGEX,	 /* a POSIX extended regular expression */
	CAPTURE_LIST,	 /* 0,2,4-7 */
	CAPTURE_FLIGHT,	 /* a size or a time: 64M, 30s */
	CAPTURE_TIME,	 /* with a unit: 10ms */
};

/* Checks a value of any kind. */
int capture_check(enum capture_kind kind, const char *text, char error[CAPTURE_ERROR_SIZE]);

/* Bytes or nanoseconds, the other one is 0: what a flight recorder keeps. */
int capture_flight(const char *text, uint64_t *bytes, uint64_t *ns, char error[CAPTURE_ERROR_SIZE]);
/* Nanoseconds of a time with a unit: us, ms, s, m (or min) or h. */
int capture_time(const char *text, uint64_t *ns, char error[CAPTURE_ERROR_SIZE]);

/* Nanoseconds of seconds, or of a time with a unit; `text` ends at `size`. */
int capture_seconds(const char *text, size_t size, uint64_t *ns, char error[CAPTURE_ERROR_SIZE]);

struct capture_period {
	uint64_t delay_ns, duration_ns;
	uint64_t repeat; /* 0: for ever */
};
#define CAPTURE_MAX_PERIODS 32u
int capture_periods(const char *text, struct capture_period out[CAPTURE_MAX_PERIODS], uint32_t *nr,
		    char error[CAPTURE_ERROR_SIZE]);

struct capture_range {
	size_t size;	 /* of the name, which is the first part of the text */
	uint64_t number; /* of the occurrence, from 1; 0: each */
};
int capture_range(const char *text, struct capture_range *out, char error[CAPTURE_ERROR_SIZE]);
/* Whether `name` is like the first `size` bytes of `pattern`: '*' any text, '?' any byte, '\' the
 * next byte itself. */
bool capture_like(const char *pattern, size_t size, const char *name);

/* Allocates; the caller calls regfree(). */
int capture_regex(const char *text, regex_t *out, char error[CAPTURE_ERROR_SIZE]);

/* Whether a checked list contains the number. */
bool capture_list_has(const char *text, uint64_t number);
/* The highest number of a checked list. */
uint64_t capture_list_last(const char *text);

#endif
