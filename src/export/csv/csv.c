/* SPDX-License-Identifier: MIT */
/* csv.c - rocprof's CSV files: their names, and which there are
 *
 * Fails:    each file has a temporary name until it is complete; nothing is written if one of the
 *           files exists.
 * Not here: the tables (csv_tables.c), lines and fields (../csv_table.c).
 */
#include "export/csv/csv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "export/csv/csv_internal.h"
#include "export/output.h"
#include "query/cause.h"
#include "query/transfer.h"

#define NAME_SIZE 4096

/* ---- the options of rocprof ---- */

bool csv_has_column(const struct query *q, const char *name)
{
	const struct csv_choice *c = q->opt->format;
	size_t n = strlen(name);

	if (!c || n < 2 || strcmp(name + n - 2, "Ns") != 0)
		return true;
	return strcmp(name, "DurationNs") == 0 ? c->stats : c->times;
}

bool csv_is_plain(const struct query *q)
{
	const struct csv_choice *c = q->opt->format;

	return c && !c->stats;
}

/* ---- one table ---- */

static const struct csv_table *find_table(const char *name)
{
	for (const struct csv_table *t = csv_tables; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

int csv_print(struct query *q, const char *table, uint64_t rows, struct json *j)
{
	const struct csv_table *t = find_table(table);
	sqlite3_stmt *row = NULL;
	int ret = t && csv_table_rows(q, t) ? cause_make(q, true) : -EINVAL;

	if (ret == 0)
		ret = transfer_prepare(q);
	if (ret == 0)
		ret = csv_table_prepare(q, t, &row);
	if (ret == 0)
		ret = query_step(q, row);
	if (ret >= 0)
		ret = csv_table_put(j, q, t, row, ret, rows);
	sqlite3_finalize(row);
	return ret ? ret : json_flush(j);
}

/* ---- files ---- */

struct target {
	const char *out;
	bool is_dir;
};

static int name_file(char name[NAME_SIZE], const struct target *to, const struct csv_table *t)
{
	size_t n = strlen(to->out) - (!to->is_dir && output_has_ending(to->out, ".csv") ? 4 : 0);
	const char *slash = to->is_dir && to->out[n - 1] != '/' ? "/" : "";
	bool is_plain = strcmp(t->name, "results") == 0;
	int m;

	if (to->is_dir)
		m = snprintf(name, NAME_SIZE, "%s%s%s.csv", to->out, slash, t->name);
	else
		m = snprintf(name, NAME_SIZE, "%.*s%s%s.csv", (int)n, to->out, is_plain ? "" : ".",
			     is_plain ? "" : t->name);
	return m < NAME_SIZE ? 0 : -ENAMETOOLONG;
}

/* Whether it has rows, and the options of rocprof ask for it. */
static bool is_written(const struct query *q, const struct csv_table *t)
{
	const struct csv_choice *c = q->opt->format;

	if (t->no_file || !csv_table_rows(q, t))
		return false;
	if (!c || strcmp(t->name, "results") == 0)
		return true;
	return c->stats &&
	       (strcmp(t->name, "stats") == 0 || (c->hip && strcmp(t->name, "hip_stats") == 0) ||
		(c->hsa && strcmp(t->name, "hsa_stats") == 0) ||
		((c->hip || c->hsa) && strcmp(t->name, "copy_stats") == 0));
}

/* Fails if a file exists that may be written. */
static int check_names(struct query *q, const struct target *to)
{
	char name[NAME_SIZE];

	for (const struct csv_table *t = csv_tables; t->name; t++) {
		if (!is_written(q, t))
			continue;
		if (name_file(name, to, t))
			return query_fail(q, -ENAMETOOLONG, "%s: the name is too long", to->out);
		if (!q->opt->force && fd_is_taken(name))
			return query_fail(q, -EEXIST, "%s: exists; use --force to replace it",
					  name);
	}
	return 0;
}

int csv_write(struct query *q, const char *out)
{
	struct target to = { .out = out };
	char name[NAME_SIZE];
	struct stat st;
	int ret;

	if (!*out)
		return query_fail(q, -EINVAL, "the output has no name: use -o DIR or -o PREFIX");
	to.is_dir = out[strlen(out) - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode));
	if (to.is_dir && mkdir(out, 0777) && errno != EEXIST)
		return query_fail(q, -errno, "%s: can't be made: %s", out, strerror(errno));
	ret = check_names(q, &to);
	q->total *= 2; /* calls and operations are each read twice */
	for (const struct csv_table *t = csv_tables; t->name && ret == 0; t++) {
		if (!is_written(q, t))
			continue;
		name_file(name, &to, t);
		ret = csv_table_write(q, t, name);
		q->res->nr_files += ret == 1;
		ret = ret < 0 ? ret : 0;
	}
	return ret;
}

void csv_document(void (*put)(const char *line))
{
	put("");
	put("## Columns of rocprof's CSV files");
	put("");
	put("| file | columns |");
	put("|---|---|");
	for (const struct csv_table *t = csv_tables; t->name; t++)
		if (!t->no_file)
			csv_table_document(put, t);
}
