/* SPDX-License-Identifier: MIT */
/* pmc_limit.c - which dispatches keep their counters: by their number, or by how often the kernel ran before */
#include "cli/pmc_limit.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pmc_database.h"
#include "cli/ui.h"

#define MAX_RANGES 256u

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
	return errno == 0;
}

/* FROM:TO, without TO. */
static bool read_dispatches(const char *text, struct ranges *r)
{
	struct range *one = &r->all[0];

	r->nr = 1;
	if (!read_number(&text, &one->first))
		return false;
	one->last = *text ? INT64_MAX : one->first;
	if (!*text)
		return true;
	if (*text++ != ':')
		return false;
	if (!*text)
		return true;
	return read_number(&text, &one->last) && !*text && one->last-- > one->first;
}

/* FIRST-LAST or FIRST, in brackets or not. */
static bool read_iteration(const char **at, struct range *r)
{
	bool has_bracket = **at == '[';

	*at += has_bracket;
	if (!read_number(at, &r->first))
		return false;
	r->last = r->first;
	if (**at == '-') {
		++*at;
		if (!read_number(at, &r->last))
			return false;
	}
	if (has_bracket && *(*at)++ != ']')
		return false;
	return r->first > 0 && r->first <= r->last;
}

static bool read_iterations(const char *text, struct ranges *r)
{
	for (r->nr = 0; r->nr < MAX_RANGES;) {
		text += strspn(text, " ");
		if (!read_iteration(&text, &r->all[r->nr++]))
			return false;
		text += strspn(text, " ");
		if (!*text)
			return true;
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

/* SQL: whether `column` is in a range. */
static const char *in_ranges(const char *column, const struct ranges *r)
{
	const char *sql = "0";

	for (unsigned int i = 0; i < r->nr; i++)
		sql = ui_keep(ui_format("%s OR %s BETWEEN %lld AND %lld", sql, column,
					(long long)r->all[i].first, (long long)r->all[i].last));
	return sql;
}

/* In the order in which they were launched, or if that is not known, ran. */
static const char numbered[] =
	"CREATE TEMP TABLE pmc_number AS SELECT op_id, row_number() OVER (PARTITION BY process ORDER BY "
	"correlation_id, begin_ns, op_id) - 1 AS dispatch, row_number() OVER (PARTITION BY process, kernel ORDER BY "
	"correlation_id, begin_ns, op_id) AS iteration FROM (SELECT K.op_id, T.process_id AS process, Y.demangled AS "
	"kernel, coalesce(O.correlation_id, 0) AS correlation_id, O.start AS begin_ns FROM rtl_op_kernel K JOIN "
	"rocpd_op O ON O.id = K.op_id JOIN rtl_thread T ON T.id = K.thread_id JOIN rtl_shape S ON S.id = K.shape_id "
	"JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id)";

static int apply(struct pmc_database *d, const struct ranges *dispatches,
		 const struct ranges *iterations)
{
	const char *keeps =
		ui_keep(ui_format("SELECT op_id FROM temp.pmc_number WHERE (%s) AND (%s)",
				  dispatches->nr ? in_ranges("dispatch", dispatches) : "1",
				  iterations->nr ? in_ranges("iteration", iterations) : "1"));
	int ret = pmc_database_run(d, "%s", numbered);

	if (ret == 0)
		ret = pmc_database_run(d, "DELETE FROM rocpd_counter WHERE op_id NOT IN (%s)",
				       keeps);
	if (ret == 0)
		ret = pmc_database_run(d, "DELETE FROM rtl_op_counter WHERE op_id NOT IN (%s)",
				       keeps);
	if (ret == 0)
		ui_say("%lld dispatches of the range have counters",
		       (long long)pmc_database_number(
			       d, "SELECT count(DISTINCT op_id) FROM rocpd_counter"));
	return ret;
}

int pmc_limit_apply(const char *path, const char *dispatches, const char *iterations)
{
	struct ranges by_dispatch = { .nr = 0 }, by_iteration = { .nr = 0 };
	struct pmc_database d;
	int ret;

	if (dispatches)
		read_dispatches(dispatches, &by_dispatch);
	if (iterations)
		read_iterations(iterations, &by_iteration);
	if (!by_dispatch.nr && !by_iteration.nr)
		return 0;
	ret = pmc_database_open(&d, path);
	if (ret == 0)
		ret = apply(&d, &by_dispatch, &by_iteration);
	return pmc_database_close(&d, ret);
}
