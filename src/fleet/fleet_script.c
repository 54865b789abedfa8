/* SPDX-License-Identifier: MIT */
/* fleet_script.c - a question as a text for engines that a user runs: SQL with the tables as views,
 * or a script of Python */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_ask.h"

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Whether the engine takes the path as it is: patterns of ClickHouse have no escape. */
static bool is_plain(const char *path, const char *engine)
{
	return !strpbrk(path, strcmp(engine, "spark") == 0 ? "*?{}[]\\" : "*?{}");
}

/* ---- ClickHouse ---- */

/* Files of several versions: all columns of all of them. */
#define UNION "schema_inference_mode = 'union'"

/* The table function that reads a table. */
static void put_file(FILE *out, const struct fleet_set *set, const char *table)
{
	bool listed = set->nr_asked < set->nr;
	const char *comma = "";

	fputs("SELECT *", out);
	for (const struct fleet_added *a = fleet_added; a->table; a++)
		if (strcmp(a->table, table) == 0 && set->schema < a->since)
			fprintf(out, ", CAST(NULL AS Nullable(%s)) AS %s",
				a->is_text ? "String" : "Int64", a->name);
	fputs(" FROM file('", out);
	put_escaped(out, set->dir);
	fputs(listed ? "/{" : "/job=*/rank=*", out);
	for (size_t r = 0; r < set->nr && listed; r++) {
		if (!fleet_set_asks(&set->ranks[r]))
			continue;
		fprintf(out, "%s%s", comma, set->ranks[r].folder);
		comma = ",";
	}
	fprintf(out, "%s/%s.parquet', Parquet)", listed ? "}" : "", table);
}

static void put_clickhouse(FILE *out, const struct fleet_set *set, const struct fleet_question *q)
{
	fprintf(out,
		"SET use_hive_partitioning = 1, cast_keep_nullable = 1, join_use_nulls = 1%s;\n",
		set->is_mixed ? ", " UNION : "");
	for (size_t i = 0; i < FLEET_TABLES; i++) {
		if (!fleet_question_uses(q, fleet_tables[i]))
			continue;
		fprintf(out, "CREATE OR REPLACE VIEW %s AS ", fleet_tables[i]);
		put_file(out, set, fleet_tables[i]);
		fputs(";\n", out);
	}
}

/* Without views: who asks a server need not be allowed to make them. */
static void put_statement(FILE *out, const struct fleet_set *set, const struct fleet_question *q,
			  const char *sql)
{
	const char *with = "WITH";

	for (size_t i = 0; i < FLEET_TABLES; i++) {
		if (!fleet_question_uses(q, fleet_tables[i]))
			continue;
		fprintf(out, "%s %s AS (", with, fleet_tables[i]);
		put_file(out, set, fleet_tables[i]);
		fputc(')', out);
		with = ",";
	}
	fprintf(out, ",%s\n%sFORMAT CSV\n", sql + strlen("WITH"),
		set->is_mixed ? "SETTINGS " UNION "\n" : "");
}

/* ---- Python ---- */

/* A text between three quotes, which no question has. */
static void put_python(FILE *out, const char *name, const char *text)
{
	fprintf(out, "%s = r\"\"\"%s\"\"\"\n", name, text);
}

/* What files of older versions lack has to be there as a column. */
static void put_columns(FILE *out)
{
	fputs("ADDED = [", out);
	for (const struct fleet_added *a = fleet_added; a->table; a++)
		fprintf(out, "('%s', '%s', '%s'), ", a->table, a->name,
			a->is_text ? "string" : "bigint");
	fputs("]\n", out);
}

static int put_script(FILE *out, const char *script, const struct fleet_set *set,
		      const struct fleet_question *q)
{
	const struct fleet_text *t = fleet_texts;
	const char *main_at;

	while (t->name && strcmp(t->name, script) != 0)
		t++;
	main_at = t->name ? strstr(t->sql, "\nTABLES = ") : NULL;
	if (!main_at)
		return -ENOENT;
	fwrite(t->sql, 1, (size_t)(main_at + 1 - t->sql), out);
	fputs("DIR = '", out);
	put_escaped(out, set->dir);
	fputs("'\nFOLDERS = [", out);
	for (size_t i = 0; i < set->nr; i++)
		if (fleet_set_asks(&set->ranks[i]))
			fprintf(out, "'%s', ", set->ranks[i].folder);
	fputs("]\n", out);
	put_columns(out);
	put_python(out, "PART", q->part);
	put_python(out, "REST", q->rest);
	fputs(main_at + 1, out);
	return 0;
}

int fleet_script(const struct fleet_set *set, const struct fleet_question *q, const char *engine,
		 char **text)
{
	char *sql = fleet_question_sql(q);
	int err = sql ? 0 : -ENOMEM;
	size_t size;
	FILE *out = open_memstream(text, &size);

	if (!out)
		err = -ENOMEM;
	if (!err && strcmp(engine, "dask") != 0 && !is_plain(set->dir, engine))
		err = -EINVAL;
	if (!err && strncmp(engine, "clickhouse", 10) == 0) {
		if (engine[10]) {
			put_statement(out, set, q, sql);
		} else {
			put_clickhouse(out, set, q);
			fprintf(out, "%s;\n", sql);
		}
	} else if (!err) {
		err = put_script(out, engine, set, q);
	}
	if (out && fclose(out))
		err = -ENOMEM;
	free(sql);
	return err;
}
