/* SPDX-License-Identifier: MIT */
/* pmc_limit.c - which dispatches are counted: by their number, or by how often the kernel ran
 * before */
#include "cli/pmc/pmc_limit.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/ui.h"

#define MAX_RANGES 256u
/* as librtl reads lists of numbers (base/capture.h) */
#define MAX_NUMBER 1000000000

struct range {
	int64_t first, last;
};

struct ranges {
	struct range all[MAX_RANGES];
	unsigned int nr;
};

static bool read_number(const char **at, int64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*number = strtoll(*at, &end, 10);
	*at = end;
	return errno == 0 && *number <= MAX_NUMBER;
}

/* FROM:TO, without TO. */
static bool read_dispatches(const char *text, struct ranges *r)
{
	struct range *one = &r->all[0];

	r->nr = 1;
	if (!read_number(&text, &one->first))
		return false;
	one->last = *text ? MAX_NUMBER : one->first;
	if (!*text)
		return true;
	if (*text++ != ':')
		return false;
	if (!*text)
		return true;
	return read_number(&text, &one->last) && !*text && one->last-- > one->first;
}

/* FIRST-LAST or FIRST. */
static bool read_iteration(const char **at, struct range *r)
{
	if (!read_number(at, &r->first))
		return false;
	r->last = r->first;
	if (**at == '-') {
		++*at;
		if (!read_number(at, &r->last))
			return false;
	}
	return r->first > 0 && r->first <= r->last;
}

/* Brackets and blanks at *at, which the depth counts. False: one closes that was not open. */
static bool skip_brackets(const char **at, unsigned int *depth)
{
	for (; **at && strchr(" []", **at); ++*at) {
		if (**at == ']' && !*depth)
			return false;
		*depth += **at == '[';
		*depth -= **at == ']';
	}
	return true;
}

/* Separated by commas; brackets may be around one, several, all, and within each other: "[1,
 * [3-4]]". */
static bool read_iterations(const char *text, struct ranges *r)
{
	unsigned int depth = 0;

	for (r->nr = 0; r->nr < MAX_RANGES;) {
		if (!skip_brackets(&text, &depth) || !read_iteration(&text, &r->all[r->nr++]) ||
		    !skip_brackets(&text, &depth))
			return false;
		if (!*text)
			return depth == 0;
		if (*text++ != ',')
			return false;
	}
	return false;
}

const char *pmc_limit_check_dispatches(const char *text)
{
	struct ranges r;

	return read_dispatches(text, &r) ?
		       NULL :
		       "is no range of dispatches; allowed: 1:4 (1, 2 and 3), 1: (all from 1 on), 4";
}

const char *pmc_limit_check_iterations(const char *text)
{
	struct ranges r;

	return read_iterations(text, &r) ?
		       NULL :
		       "is no list of iterations, which count from 1; allowed: [1-3],[5] or 1-3,5";
}

static const char *list(const struct ranges *r)
{
	const char *text = NULL;

	for (unsigned int i = 0; i < r->nr; i++)
		text = ui_keep(ui_format("%s%s%lld-%lld", text ? text : "", text ? "," : "",
					 (long long)r->all[i].first, (long long)r->all[i].last));
	return text;
}

const char *pmc_limit_dispatches(const char *text)
{
	struct ranges r;

	return text && read_dispatches(text, &r) ? list(&r) : NULL;
}

const char *pmc_limit_iterations(const char *text)
{
	struct ranges r;

	return text && read_iterations(text, &r) ? list(&r) : NULL;
}

void pmc_limit_report(const char *path)
{
	struct query *q = db_open(path);
	sqlite3_stmt *stmt = db_query(q, "SELECT count(DISTINCT op_id) FROM rocpd_counter");

	if (db_step(q, stmt))
		ui_say("%lld dispatches of the range have counters",
		       (long long)sqlite3_column_int64(stmt, 0));
	sqlite3_finalize(stmt);
	query_close(q);
}
