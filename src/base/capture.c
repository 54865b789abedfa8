/* SPDX-License-Identifier: MIT */
/* capture.c - the values of the options that choose what is recorded
 *
 * Threads:  any; capture_regex() allocates.
 */
#include "base/capture.h"

#include <errno.h>
#include <string.h>

#include "base/regular.h"
#include "base/str.h"

#define NS_PER_S UINT64_C(1000000000)
#define MAX_SECONDS UINT64_C(1000000000)
#define MAX_NUMBER UINT64_C(1000000000)

/* "'TEXT' at character N WHAT"; `at`: within `whole`. */
static int fail(char *error, const char *whole, const char *at, size_t size, const char *what)
{
	struct str s;

	str_init(&s, error, CAPTURE_ERROR_SIZE);
	if (size) {
		str_add(&s, "'");
		str_add_n(&s, at, size < 40 ? size : 40);
		str_add(&s, "' ");
	}
	str_add(&s, "at character ");
	str_add_uint(&s, (uint64_t)(at - whole) + 1);
	str_add(&s, " ");
	str_add(&s, what);
	return -EINVAL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits up to `end`; returns where they stop. Numbers above `most` become most + 1. */
static const char *read_number(const char *p, const char *end, uint64_t most, uint64_t *out)
{
	for (*out = 0; p < end && is_digit(*p); p++) {
		*out = *out * 10 + (uint64_t)(*p - '0');
		if (*out > most)
			*out = most + 1;
	}
	return p;
}

struct unit {
	const char *name;
	uint64_t size; /* bytes or nanoseconds */
};

static const struct unit times[] = { { "us", 1000 },
				     { "ms", 1000000 },
				     { "s", NS_PER_S },
				     { "m", 60 * NS_PER_S },
				     { "min", 60 * NS_PER_S },
				     { "h", 3600 * NS_PER_S },
				     { NULL, 0 } };
static const struct unit sizes[] = { { "K", 1 << 10 },
				     { "M", 1 << 20 },
				     { "G", UINT64_C(1) << 30 },
				     { "T", UINT64_C(1) << 40 },
				     { NULL, 0 } };

/* Billionths of a number with digits behind the point, times the unit's size. false: it does not
 * fit. */
static bool scale(uint64_t billionths, uint64_t size, uint64_t most, uint64_t *out)
{
	if (billionths / NS_PER_S > most / size)
		return false;
	/* thousandths, so that the product fits */
	*out = billionths / NS_PER_S * size + billionths % NS_PER_S / 1000000 * size / 1000;
	return true;
}

/* NULL: [p, end) is none of them. */
static const struct unit *find_unit(const struct unit *units, const char *p, const char *end)
{
	for (; units->name; units++)
		if (strncmp(units->name, p, (size_t)(end - p)) == 0 && !units->name[end - p])
			return units;
	return NULL;
}

static int read_seconds(const char *whole, const char *p, const char *end, uint64_t *ns,
			char *error)
{
	uint64_t seconds, unit = NS_PER_S / 10;
	const struct unit *unit_of;
	const char *start = p;
	bool digits;

	p = read_number(p, end, MAX_SECONDS, &seconds);
	digits = p > start;
	*ns = seconds * NS_PER_S;
	if (p < end && *p == '.') {
		for (p++; p < end && is_digit(*p); p++, unit /= 10) {
			*ns += (uint64_t)(*p - '0') * unit;
			digits = true;
		}
	}
	unit_of = p < end ? find_unit(times, p, end) : NULL;
	if (!digits || (p != end && !unit_of))
		return fail(error, whole, start, (size_t)(end - start),
			    "is not a number of seconds; allowed: 2, 0.25, 500ms, 10s, 2m, 1h");
	if (seconds > MAX_SECONDS || (unit_of && strcmp(unit_of->name, "s") != 0 &&
				      !scale(*ns, unit_of->size, MAX_SECONDS * NS_PER_S, ns)))
		return fail(error, whole, start, (size_t)(end - start),
			    "is too large; allowed: up to 1000000000 seconds");
	return 0;
}

int capture_seconds(const char *text, size_t size, uint64_t *ns, char error[CAPTURE_ERROR_SIZE])
{
	return read_seconds(text, text, text + size, ns, error);
}

/* A number with one of the units. -ENOENT: it has another one. */
static int read_with_unit(const char *text, const struct unit *units, uint64_t *out, char *error)
{
	const char *end = text + strspn(text, "0123456789.");
	uint64_t billionths;
	int err;

	units = find_unit(units, end, end + strlen(end));
	if (!units)
		return -ENOENT;
	err = read_seconds(text, text, end, &billionths, error);
	if (err)
		return err;
	if (!scale(billionths, units->size, UINT64_C(1) << 62, out))
		return fail(error, text, text, strlen(text), "is too large");
	return 0;
}

int capture_time(const char *text, uint64_t *ns, char error[CAPTURE_ERROR_SIZE])
{
	int err = read_with_unit(text, times, ns, error);

	if (err == -ENOENT)
		return fail(error, text, text, strlen(text),
			    "is not a time with a unit; allowed: 500us, 10ms, 1.5s, 2m, 1h");
	return err;
}

int capture_flight(const char *text, uint64_t *bytes, uint64_t *ns, char error[CAPTURE_ERROR_SIZE])
{
	int err = read_with_unit(text, times, ns, error);

	*bytes = 0;
	if (err == -ENOENT) {
		*ns = 0;
		err = read_with_unit(text, sizes, bytes, error);
	}
	if (err == -ENOENT)
		return fail(error, text, text, strlen(text),
			    "is neither a size nor a time; allowed: 64M, 2G, 30s, 5min");
	if (!err && *bytes && *bytes < CAPTURE_FLIGHT_MIN)
		return fail(error, text, text, strlen(text),
			    "is too small; allowed: 128K and more");
	if (!err && !*bytes && !*ns)
		return fail(error, text, text, strlen(text), "would keep nothing");
	return err;
}

/* One period in [p, end). */
static int read_period(const char *whole, const char *p, const char *end,
		       struct capture_period *out, char *error)
{
	const char *first = memchr(p, ':', (size_t)(end - p)), *second, *stop;
	int err;

	if (!first)
		return fail(error, whole, p, (size_t)(end - p),
			    "has no duration; allowed: DELAY:DURATION or DELAY:DURATION:REPEAT");
	second = memchr(first + 1, ':', (size_t)(end - first - 1));
	err = read_seconds(whole, p, first, &out->delay_ns, error);
	if (!err)
		err = read_seconds(whole, first + 1, second ? second : end, &out->duration_ns,
				   error);
	if (err)
		return err;
	if (!out->duration_ns)
		return fail(error, whole, first + 1, (size_t)((second ? second : end) - first - 1),
			    "is no duration; allowed: more than 0 seconds");
	out->repeat = 1;
	if (!second)
		return 0;
	stop = read_number(second + 1, end, MAX_NUMBER, &out->repeat);
	if (stop == second + 1 || stop != end || out->repeat > MAX_NUMBER)
		return fail(error, whole, second + 1, (size_t)(end - second - 1),
			    "is not a number of repetitions; allowed: 0 (for ever) to 1000000000");
	return 0;
}

int capture_periods(const char *text, struct capture_period out[CAPTURE_MAX_PERIODS], uint32_t *nr,
		    char error[CAPTURE_ERROR_SIZE])
{
	const char *p = text + strspn(text, " ,");
	int err;

	for (*nr = 0; *p; p += strspn(p, " ,")) {
		const char *end = p + strcspn(p, " ,");

		if (*nr == CAPTURE_MAX_PERIODS)
			return fail(error, text, p, (size_t)(end - p),
				    "is one period too many; allowed: 32");
		if (*nr && !out[*nr - 1].repeat)
			return fail(error, text, p, (size_t)(end - p),
				    "is never reached: the period before it repeats for ever");
		err = read_period(text, p, end, &out[*nr], error);
		if (err)
			return err;
		++*nr;
		p = end;
	}
	if (!*nr)
		return fail(error, text, p, 0,
			    "there is no period; allowed: DELAY:DURATION:REPEAT");
	return 0;
}

int capture_range(const char *text, struct capture_range *out, char error[CAPTURE_ERROR_SIZE])
{
	size_t size = strlen(text), digits = size;

	while (digits && is_digit(text[digits - 1]))
		digits--;
	out->size = size;
	out->number = 0;
	if (digits && text[digits - 1] == '@' && !(digits > 1 && text[digits - 2] == '\\')) {
		if (digits == size)
			return fail(error, text, text + digits, 0,
				    "there is no number behind '@'; allowed: NAME or NAME@N");
		out->size = digits - 1;
		read_number(text + digits, text + size, MAX_NUMBER, &out->number);
		if (!out->number || out->number > MAX_NUMBER)
			return fail(error, text, text + digits, size - digits,
				    "is no occurrence; allowed: 1 to 1000000000");
	}
	if (!out->size)
		return fail(error, text, text, 0, "there is no name; allowed: NAME or NAME@N");
	return 0;
}

bool capture_like(const char *pattern, size_t size, const char *name)
{
	const char *end = pattern + size;
	const char *star = NULL,
		   *again = NULL; /* behind the last '*'; where its text ends so far */

	while (*name) {
		char want = pattern < end ? *pattern : '\0';
		const char *next = pattern + 1;
		bool any = want == '?';

		if (pattern < end && want == '*') {
			star = ++pattern;
			again = name;
			continue;
		}
		if (want == '\\' && next < end)
			want = *next++;
		if (pattern < end && (any || want == *name)) {
			pattern = next;
			name++;
		} else if (star) {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

int capture_regex(const char *text, regex_t *out, char error[CAPTURE_ERROR_SIZE])
{
	char why[REGULAR_ERROR_SIZE];
	struct str s;

	if (regular_compile(text, out, why) == 0)
		return 0;
	str_init(&s, error, CAPTURE_ERROR_SIZE);
	str_add(&s, "'");
	str_add_n(&s, text, strnlen(text, 60));
	str_add(&s, "' is not a POSIX extended regular expression: ");
	str_add(&s, why);
	return -EINVAL;
}

/* Reads "N" or "N-M" in [p, end). */
static bool read_span(const char *p, const char *end, uint64_t *low, uint64_t *high)
{
	const char *stop = read_number(p, end, MAX_NUMBER, low);

	*high = *low;
	if (stop == p)
		return false;
	if (stop < end && *stop == '-') {
		p = stop + 1;
		stop = read_number(p, end, MAX_NUMBER, high);
		if (stop == p)
			return false;
	}
	return stop == end && *low <= *high && *high <= MAX_NUMBER;
}

static int check_list(const char *text, char *error)
{
	uint64_t low, high;

	for (const char *p = text;;) {
		const char *end = p + strcspn(p, ",");

		if (!read_span(p, end, &low, &high))
			return fail(
				error, text, p, (size_t)(end - p),
				"is not a number; allowed: numbers from 0 and spans of them, as 0,2,4-7");
		if (!*end)
			return 0;
		p = end + 1;
	}
}

bool capture_list_has(const char *text, uint64_t number)
{
	uint64_t low, high;

	for (const char *p = text;;) {
		const char *end = p + strcspn(p, ",");

		if (read_span(p, end, &low, &high) && low <= number && number <= high)
			return true;
		if (!*end)
			return false;
		p = end + 1;
	}
}

uint64_t capture_list_last(const char *text)
{
	uint64_t low, high, last = 0;

	for (const char *p = text;;) {
		const char *end = p + strcspn(p, ",");

		if (read_span(p, end, &low, &high) && high > last)
			last = high;
		if (!*end)
			return last;
		p = end + 1;
	}
}

int capture_check(enum capture_kind kind, const char *text, char error[CAPTURE_ERROR_SIZE])
{
	struct capture_period periods[CAPTURE_MAX_PERIODS];
	struct capture_range range;
	uint64_t ns, bytes;
	uint32_t nr;
	regex_t regex;
	int err;

	if (strlen(text) > CAPTURE_MAX_TEXT)
		return fail(error, text, text + CAPTURE_MAX_TEXT, 0,
			    "it is too long; allowed: 4000 characters");
	switch (kind) {
	case CAPTURE_SECONDS:
		return capture_seconds(text, strlen(text), &ns, error);
	case CAPTURE_PERIODS:
		return capture_periods(text, periods, &nr, error);
	case CAPTURE_RANGE:
		return capture_range(text, &range, error);
	case CAPTURE_REGEX:
		err = capture_regex(text, &regex, error);
		if (!err)
			regfree(&regex);
		return err;
	case CAPTURE_LIST:
		return check_list(text, error);
	case CAPTURE_FLIGHT:
		return capture_flight(text, &bytes, &ns, error);
	case CAPTURE_TIME:
		return capture_time(text, &ns, error);
	}
	return -EINVAL;
}
