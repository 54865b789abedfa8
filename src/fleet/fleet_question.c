/* SPDX-License-Identifier: MIT */
/* fleet_question.c - a question's file of SQL, its columns, and rows of text that become a table */
#include "fleet/fleet_ask.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "WITH part AS (\n"

static const struct {
	const char *name;
	enum sheet_unit unit;
	bool symbol;
} units[] = {
	{ "name", SHEET_NAME, false },	   { "kernel", SHEET_NAME, true },
	{ "number", SHEET_NUMBER, false }, { "count", SHEET_COUNT, false },
	{ "ns", SHEET_SPAN, false },	   { "bytes", SHEET_BYTES, false },
	{ "share", SHEET_SHARE, false },   { "real", SHEET_REAL, false },
	{ "ratio", SHEET_RATIO, false },
};

/* The text between the bars, without blanks around it; *at moves behind it. */
static char *take_field(const char **at)
{
	const char *begin = *at, *end;

	while (*begin == ' ')
		begin++;
	end = begin + strcspn(begin, "|\n");
	*at = *end == '|' ? end + 1 : end;
	while (end > begin && end[-1] == ' ')
		end--;
	return strndup(begin, (size_t)(end - begin));
}

/* "rank_ns" -> "RANK"; units are in the cells. */
static char *title_of(const char *key)
{
	char *title = strdup(key);
	size_t n = strlen(key);

	if (title && n > 3 && strcmp(key + n - 3, "_ns") == 0)
		title[n - 3] = '\0';
	for (char *c = title; c && *c; c++)
		*c = *c == '_' ? ' ' : (char)toupper((unsigned char)*c);
	return title;
}

static int take_column(struct fleet_question *q, const char *at)
{
	char *key = take_field(&at), *unit = take_field(&at), *meaning = take_field(&at);
	size_t n = q->nr_columns, i;

	for (i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			break;
	free(unit);
	if (!key || !meaning || i == sizeof(units) / sizeof(units[0]) || n == SHEET_COLUMNS) {
		free(key);
		free(meaning);
		return -EINVAL;
	}
	q->columns[n] = key;
	q->meanings[n] = meaning;
	q->titles[n] = title_of(key);
	q->units[n] = units[i].unit;
	q->symbols[n] = units[i].symbol;
	q->nr_columns++;
	return q->titles[n] ? 0 : -ENOMEM;
}

/* The comments, and where the query begins. */
static int take_head(struct fleet_question *q, const char **at)
{
	int err = 0;

	while (!err && strncmp(*at, "--", 2) == 0) {
		const char *line = *at + 2, *end = strchr(line, '\n');

		if (!end)
			return -EINVAL;
		while (*line == ' ')
			line++;
		if (*line == '|')
			err = take_column(q, line + 1);
		else if (!q->about && strncmp(line, "SPDX", 4) != 0)
			q->about = strndup(line, (size_t)(end - line));
		*at = end + 1;
	}
	return err ? err : q->about && q->nr_columns ? 0 : -EINVAL;
}

int fleet_question_open(struct fleet_question *q, const char *name)
{
	const struct fleet_text *t = fleet_texts;
	const char *at, *end;
	int err;

	memset(q, 0, sizeof(*q));
	while (t->name && strcmp(t->name, name) != 0)
		t++;
	if (!t->name)
		return -ENOENT;
	q->name = t->name;
	at = t->sql;
	err = take_head(q, &at);
	if (!err && strncmp(at, BEGIN, strlen(BEGIN)) != 0)
		err = -EINVAL;
	end = err ? NULL : strstr(at, "\n)");
	if (end) {
		at += strlen(BEGIN);
		q->part = strndup(at, (size_t)(end - at));
		/* "), more AS (" goes on with more of them */
		if (asprintf(&q->rest, "%s%s", end[2] == ',' ? "WITH" : "", end + 3) < 0)
			q->rest = NULL;
	}
	if (!err && (!end || !q->part || !q->rest))
		err = end ? -ENOMEM : -EINVAL;
	if (err)
		fleet_question_close(q);
	return err;
}

void fleet_question_close(struct fleet_question *q)
{
	for (size_t i = 0; i < q->nr_columns; i++) {
		free(q->columns[i]);
		free(q->meanings[i]);
		free(q->titles[i]);
	}
	free(q->about);
	free(q->part);
	free(q->rest);
	memset(q, 0, sizeof(*q));
}

char *fleet_question_sql(const struct fleet_question *q)
{
	bool more = strncmp(q->rest, "WITH ", 5) == 0;
	char *sql = NULL;

	if (asprintf(&sql, BEGIN "%s\n)%s%s", q->part, more ? ", " : "\n",
		     q->rest + (more ? 5 : 0)) < 0)
		return NULL;
	return sql;
}

bool fleet_question_uses(const struct fleet_question *q, const char *table)
{
	size_t n = strlen(table);

	for (const char *at = strstr(q->part, table); at; at = strstr(at + 1, table))
		if ((at == q->part || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
		    !(isalnum((unsigned char)at[n]) || at[n] == '_'))
			return true;
	return false;
}

void fleet_question_columns(const struct fleet_question *q, struct sheet *t)
{
	struct sheet_column columns[SHEET_COLUMNS] = { 0 };

	for (size_t i = 0; i < q->nr_columns; i++)
		columns[i] = (struct sheet_column){ .key = q->columns[i],
						    .title = q->titles[i],
						    .unit = q->units[i],
						    .symbol = q->symbols[i] };
	sheet_columns(t, columns, q->nr_columns);
}

/* A number of any engine: integers of any length, decimals, real ones. */
static void take_number(struct sheet_cell *cell, enum sheet_unit unit, const char *text)
{
	char *end;
	long long whole;

	cell->real = strtod(text, &end);
	if (end == text)
		cell->none = true;
	errno = 0;
	whole = strtoll(text, &end, 10);
	/* beyond 64 bits: the nearest that there is */
	if (errno || *end)
		whole = cell->real >= 9.2e18  ? INT64_MAX :
			cell->real <= -9.2e18 ? INT64_MIN :
						(long long)cell->real;
	if (*end && !errno && cell->real < 9.2e18 && cell->real > -9.2e18)
		whole = (long long)(cell->real + (cell->real < 0 ? -0.5 : 0.5));
	cell->num = unit == SHEET_SPAN || whole > 0 ? (uint64_t)whole : 0;
	/* a process without a rank, -1, is an identity, too */
	if (unit == SHEET_NUMBER && whole < 0)
		cell->none = true;
}

int fleet_question_row(const struct fleet_question *q, struct sheet *t, size_t nr,
		       const char *const *values)
{
	struct sheet_cell cells[SHEET_COLUMNS] = { 0 };

	if (nr != q->nr_columns)
		return -EBADMSG;
	for (size_t i = 0; i < nr; i++) {
		cells[i].none = !values[i];
		cells[i].text = values[i];
		if (values[i] && q->units[i] != SHEET_NAME) {
			cells[i].text = NULL;
			take_number(&cells[i], q->units[i], values[i]);
		}
	}
	sheet_row(t, cells);
	return 0;
}
