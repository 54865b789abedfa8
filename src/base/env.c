/* SPDX-License-Identifier: MIT */
/* env.c - reads the RTL_* variables once
 *
 * Owns:     copies of the values: the program may overwrite its environment.
 * Threads:  env_init() before threads; the rest any.
 * Fails:    an invalid value is kept for env_report(), and the default is used.
 */
#include "base/env.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/capture.h"
#include "base/compiler.h"
#include "base/rank.h"
#include "base/str.h"

/* from SECONDS on in the order of enum capture_kind */
enum type { STR, UINT, BOOL, ENUM, SECONDS, PERIODS, RANGE, REGEX, LIST, FLIGHT, TIME };

struct row {
	const char *name;
	enum type type;
	const char *def;
	const char *range;
	const char *help;
};

static const struct row rows[ENV_NR] = {
#define X(id, name, type, def, range, help) { name, type, def, range, help },
	ENV_TABLE(X)
#undef X
};

/* Names not reported as unknown: the project's build and tests use them. */
static const char *const not_read[] = { "RTL_BUILD", "RTL_SOURCE", "RTL_PRESET" };
#define TEST_PREFIX "RTL_TEST_"

#define VALUE_MAX 4095
#define TEXT_SIZE (16384 + 2 * (ENV_LONG_VALUE_MAX + 1)) /* two values are long: is_long() */
#define MAX_BAD 8

/* set in init, constant afterwards */
static const char *text_of[ENV_NR];
static uint64_t number_of[ENV_NR];
static bool given[ENV_NR];
static char text[TEXT_SIZE];
static size_t text_used;
static char bad[MAX_BAD][320];
static unsigned int nr_bad;
static unsigned int nr_bad_more;
static bool done;

static void note_bad(const char *what, const char *name, const char *value, const char *range)
{
	struct str s;

	if (nr_bad == MAX_BAD) {
		nr_bad_more++;
		return;
	}
	str_init(&s, bad[nr_bad++], sizeof(bad[0]));
	str_add(&s, name);
	if (value) {
		str_add(&s, "=");
		str_add_n(&s, value, strnlen(value, 40));
	}
	str_add(&s, what);
	if (range && *range)
		str_add(&s, range);
}

static bool parse_bool(const char *value, uint64_t *out)
{
	static const char *const yes[] = { "1", "yes", "true", "on" };
	static const char *const no[] = { "0", "no", "false", "off", "" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(value, yes[i]) == 0)
			return *out = 1, true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		if (strcasecmp(value, no[i]) == 0)
			return *out = 0, true;
	}
	return false;
}

static bool parse_uint(const char *value, const char *range, uint64_t *out)
{
	char *end;
	unsigned long long n, low, high;

	if (*value < '0' || *value > '9')
		return false;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno || *end)
		return false;
	low = strtoull(range, &end, 10);
	high = strtoull(end + 2, NULL, 10);
	*out = n;
	return n >= low && n <= high;
}

/* The choice in the table's spelling, copied to the text area. */
static const char *parse_enum(const char *value, const char *range, size_t *size)
{
	for (const char *p = range; *p;) {
		size_t n = strcspn(p, "|");

		if (strlen(value) == n && strncasecmp(value, p, n) == 0) {
			*size = n;
			return p;
		}
		p += n + (p[n] == '|');
	}
	return NULL;
}

static const char *keep(const char *value, size_t size, size_t most)
{
	char *copy = text + text_used;

	if (size > most || size + 1 > TEXT_SIZE - text_used)
		return NULL;
	memcpy(copy, value, size);
	copy[size] = '\0';
	text_used += size + 1;
	return copy;
}

static bool is_long(enum env_id id)
{
	return id == ENV_PMC || id == ENV_PMC_METRICS;
}

/* A value of base/capture.h. */
static bool parse_capture(const struct row *r, const char *value, uint64_t *out)
{
	char error[CAPTURE_ERROR_SIZE];

	if (*value && capture_check((enum capture_kind)(r->type - SECONDS), value, error)) {
		note_bad(": ", r->name, value, error);
		return false;
	}
	if (*value && r->type == SECONDS)
		capture_seconds(value, strlen(value), out, error);
	if (*value && r->type == TIME)
		capture_time(value, out, error);
	return true;
}

static void set(int id, const char *value, bool by_user)
{
	const struct row *r = &rows[id];
	const char *canon = value;
	size_t size = strlen(value);
	uint64_t number = 0;
	bool good = true;

	if (r->type >= SECONDS) {
		if (!parse_capture(r, value, &number))
			return;
		by_user = by_user && *value;
	}
	if (r->type == UINT)
		good = parse_uint(value, r->range, &number);
	else if (r->type == BOOL)
		good = parse_bool(value, &number);
	else if (r->type == ENUM)
		good = (canon = parse_enum(value, r->range, &size)) != NULL;
	if (!good) {
		note_bad(": not one of ", r->name, value, r->range);
		return;
	}
	/* "default" is another name of the standard mode */
	if (id == ENV_MODE && size == 7 && strncmp(canon, "default", 7) == 0) {
		canon = "standard";
		size = 8;
	}
	canon = keep(canon, size, is_long(id) ? ENV_LONG_VALUE_MAX : VALUE_MAX);
	if (!canon) {
		note_bad(": too long", r->name, NULL, NULL);
		return;
	}
	text_of[id] = canon;
	number_of[id] = number;
	given[id] = by_user;
}

/* Processes of ranks that the user does not want are not traced. One without a rank is none of
 * these. */
static void leave_out_rank(void)
{
	struct rank rank;

	if (!given[ENV_RANKS])
		return;
	rank_read(&rank, NULL);
	if (rank.rank != RANK_NONE && !capture_list_has(text_of[ENV_RANKS], (uint64_t)rank.rank))
		set(ENV_DISABLE, "1", true);
}

static int find(const char *name, size_t size)
{
	for (int i = 0; i < ENV_NR; i++) {
		if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0)
			return i;
	}
	return -1;
}

static bool is_ignored(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_read); i++) {
		if (strlen(not_read[i]) == size && memcmp(not_read[i], name, size) == 0)
			return true;
	}
	return strncmp(name, TEST_PREFIX, sizeof(TEST_PREFIX) - 1) == 0;
}

/* Number of different letters, for names of equal length or one longer: finds typing errors. */
static bool is_near(const char *a, size_t a_size, const char *b)
{
	size_t b_size = strlen(b);
	size_t front = 0;
	size_t back = 0;
	size_t most = a_size > b_size ? a_size : b_size;

	while (front < a_size && front < b_size && a[front] == b[front])
		front++;
	while (back + front < a_size && back + front < b_size &&
	       a[a_size - 1 - back] == b[b_size - 1 - back])
		back++;
	return most - front - back <= 2;
}

static void note_unknown(const char *name, size_t size)
{
	char copy[64];
	struct str s;

	str_init(&s, copy, sizeof(copy));
	str_add_n(&s, name, size);
	for (int i = 0; i < ENV_NR; i++) {
		if (is_near(name, size, rows[i].name)) {
			note_bad(": unknown variable; is it ", copy, NULL, rows[i].name);
			return;
		}
	}
	note_bad(": unknown variable", copy, NULL, NULL);
}

void env_init(void)
{
	if (done)
		return;
	done = true;
	for (int i = 0; i < ENV_NR; i++)
		set(i, rows[i].def, false);
	if (getauxval(AT_SECURE)) {
		set(ENV_DISABLE, "1", true);
		return;
	}
	for (char **e = environ; e && *e; e++) {
		const char *equal = strchr(*e, '=');
		int id;

		if (!equal || strncmp(*e, "RTL_", 4) != 0)
			continue;
		id = find(*e, (size_t)(equal - *e));
		if (id >= 0 && !given[id])
			set(id, equal + 1, true);
		else if (id < 0 && !is_ignored(*e, (size_t)(equal - *e)))
			note_unknown(*e, (size_t)(equal - *e));
	}
	leave_out_rank();
}

const char *env_str(enum env_id id)
{
	return text_of[id] ? text_of[id] : rows[id].def;
}

void env_set_default(enum env_id id, const char *value)
{
	if (!env_is_set(id))
		text_of[id] = value;
}

uint64_t env_uint(enum env_id id)
{
	return number_of[id];
}

bool env_bool(enum env_id id)
{
	return number_of[id] != 0;
}

bool env_is_set(enum env_id id)
{
	return given[id];
}

void env_report(void (*say)(const char *line))
{
	for (unsigned int i = 0; i < nr_bad; i++)
		say(bad[i]);
	if (nr_bad_more)
		say("more RTL_* variables are unknown or bad");
	nr_bad = nr_bad_more = 0;
}

void env_print_table(void (*say)(const char *line))
{
	static const char *const types[] = {
		"text",	   "number",	   "yes/no",	 "choice",
		"seconds", "periods",	   "range name", "regular expression",
		"list",	   "size or time", "time"
	};
	char line[512];
	struct str s;

	say("| variable | value | default | meaning |");
	say("|---|---|---|---|");
	for (int i = 0; i < ENV_NR; i++) {
		str_init(&s, line, sizeof(line));
		str_add(&s, "| `");
		str_add(&s, rows[i].name);
		str_add(&s, "` | ");
		str_add(&s, types[rows[i].type]);
		if (*rows[i].range) {
			str_add(&s, ": ");
			for (const char *p = rows[i].range; *p; p++)
				str_add_n(&s, *p == '|' ? ", " : p, *p == '|' ? 2 : 1);
		}
		str_add(&s, " | ");
		if (*rows[i].def) {
			str_add(&s, "`");
			str_add(&s, rows[i].def);
			str_add(&s, "`");
		}
		str_add(&s, " | ");
		str_add(&s, rows[i].help);
		str_add(&s, " |");
		say(line);
	}
}
