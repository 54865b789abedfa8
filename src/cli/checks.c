/* SPDX-License-Identifier: MIT */
/* checks.c - what is wrong with the value of an option that more than one command has */
#include "cli/checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capture.h"

#define MIN_SIZE (UINT64_C(16) << 20)

uint64_t checks_read_size(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t bytes;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (errno || (*end && (!unit || end[1])))
		return 0;
	for (; unit && unit >= units; unit--) {
		if (bytes > UINT64_MAX >> 10)
			return 0;
		bytes <<= 10;
	}
	return bytes;
}

const char *checks_size(const char *text)
{
	return checks_read_size(text) >= MIN_SIZE ? NULL :
						    "is no size of 16M or more; allowed: 500M, 2G";
}

/* What is wrong with a value, for the rest of the process; NULL: nothing. */
static const char *why_not(enum capture_kind kind, const char *text)
{
	static char error[CAPTURE_ERROR_SIZE];

	return capture_check(kind, text, error) ? error : NULL;
}

const char *checks_seconds(const char *text)
{
	return why_not(CAPTURE_SECONDS, text);
}

const char *checks_duration(const char *text)
{
	const char *why = checks_seconds(text);

	return why ? why :
	       strpbrk(text, "123456789") ?
		     NULL :
		     "nothing would be recorded in 0 seconds; allowed: more than 0";
}

const char *checks_periods(const char *text)
{
	return why_not(CAPTURE_PERIODS, text);
}

const char *checks_range(const char *text)
{
	return why_not(CAPTURE_RANGE, text);
}

const char *checks_regex(const char *text)
{
	return why_not(CAPTURE_REGEX, text);
}

const char *checks_list(const char *text)
{
	return why_not(CAPTURE_LIST, text);
}

const char *checks_flight(const char *text)
{
	return why_not(CAPTURE_FLIGHT, text);
}

const char *checks_time(const char *text)
{
	return why_not(CAPTURE_TIME, text);
}
