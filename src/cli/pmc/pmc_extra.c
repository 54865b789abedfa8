/* SPDX-License-Identifier: MIT */
/* pmc_extra.c - files of counters as rocprofv3's option --extra-counters takes them
 *
 * YAML becomes JSON, whose definitions SQLite finds; they are written as a file of metrics, a line
 * for each counter. It is done twice: the instances of a counter that the file defines have to be
 * known where a reduce() names it.
 */
#include "cli/pmc/pmc_extra.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cli/pmc/pmc_yaml.h"
#include "counter/loose_xml.h"
#include "counter/reduce.h"

#define FILE_MAX (1u << 20)

struct extra {
	const char *path;
	char *error;
	sqlite3 *db;
	struct metrics_file *counters; /* without expressions; NULL in the first round */
	FILE *out;
};

/* False, always. */
static bool __attribute__((format(printf, 2, 3))) fail(struct extra *x, const char *what, ...)
{
	char why[METRICS_FILE_ERROR_SIZE / 2];
	va_list args;

	va_start(args, what);
	vsnprintf(why, sizeof(why), what, args);
	va_end(args);
	snprintf(x->error, METRICS_FILE_ERROR_SIZE, "%.200s: %s", x->path, why);
	return false;
}

/* A file without such a name: of a descriptor, as librocprofiler-sdk-tool.so passes it. */
static bool begins_so(const char *path)
{
	static const char key[] = "rocprofiler-sdk:";
	char text[4096], *p = text;
	FILE *file = fopen(path, "re");
	struct stat s;
	/* what is read of a pipe is lost */
	size_t n = file && fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode) ?
			   fread(text, 1, sizeof(text) - 1, file) :
			   0;

	if (file)
		fclose(file);
	text[n] = '\0';
	while (p += strspn(p, " \t\r\n"), *p == '#')
		p += strcspn(p, "\n");
	return strncmp(p, key, sizeof(key) - 1) == 0;
}

bool pmc_extra_is(const char *path)
{
	const char *dot = strrchr(path, '.');

	return (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) || begins_so(path);
}

/* The file as JSON, to be freed, or NULL. */
static char *read_json(struct extra *x)
{
	FILE *file = fopen(x->path, "re");
	char *text = malloc(FILE_MAX + 1), *json = NULL, why[PMC_YAML_ERROR_SIZE];
	size_t n = file && text ? fread(text, 1, FILE_MAX + 1, file) : 0;

	if (!file || !text || ferror(file)) {
		fail(x, "can't be read: %s", strerror(errno));
	} else if (n > FILE_MAX || memchr(text, 0, n)) {
		fail(x, "is no text of at most %u bytes", FILE_MAX);
	} else {
		text[n] = 0;
		json = pmc_yaml_to_json(text, why);
		if (!json)
			snprintf(x->error, METRICS_FILE_ERROR_SIZE, "%.200s:%.250s", x->path, why);
	}
	if (file)
		fclose(file);
	free(text);
	return json;
}

/* One row for each architecture of a definition; what is missing is NULL. */
static const char definitions_sql[] =
	"SELECT C.key + 1, json_extract(C.value, '$.name'), json_extract(C.value, '$.description'), A.value, "
	"json_extract(D.value, '$.block'), json_extract(D.value, '$.event'), json_extract(D.value, '$.expression') "
	"FROM json_each(?1, '$.\"rocprofiler-sdk\".counters') C "
	"LEFT JOIN json_each(CASE C.type WHEN 'object' THEN C.value ELSE '{}' END, '$.definitions') D "
	"LEFT JOIN json_each(CASE D.type WHEN 'object' THEN D.value ELSE '{}' END, '$.architectures') A "
	"ORDER BY C.key, D.key, A.key";

enum { NUMBER, NAME, DESCRIPTION, GPU, BLOCK, EVENT, EXPRESSION };

static const char *column(sqlite3_stmt *row, int i)
{
	const char *text = (const char *)sqlite3_column_text(row, i);

	return text ? text : "";
}

/* A scope's name is that of an element of XML. */
static bool is_word(const char *text)
{
	return *text &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       strlen(text);
}

/* Writes the expression as expression.h has it. */
static bool put_expression(struct extra *x, sqlite3_stmt *row)
{
	const char *expression = column(row, EXPRESSION), *gpu = column(row, GPU);
	const struct counter_gpu *known =
		metrics_file_gpu(x->counters, gpu, METRICS_FILE_EXTENDS, x->error);
	char *text;

	if (!known)
		return false;
	text = reduce_translate(known, expression);
	if (!text)
		return fail(
			x,
			"counter %s: '%.80s': rtl reads reduce(NAME,sum|avr|min|max), select(NAME,[DIMENSION_INSTANCE=[N]]) and accumulate(NAME,HIGH_RES) of what %s has",
			column(row, NAME), expression, gpu);
	loose_xml_put_attribute(x->out, "expr", text);
	alloc_free(text);
	return true;
}

/* A GPU whose counters rtl does not know is left out: nothing can be counted on it. */
static bool put_definition(struct extra *x, sqlite3_stmt *row)
{
	bool derived = *column(row, EXPRESSION), basic = *column(row, BLOCK) && *column(row, EVENT);
	int number = sqlite3_column_int(row, NUMBER);

	if (!*column(row, NAME))
		return fail(x, "counter %d of the list: has no name", number);
	if (!is_word(column(row, GPU)))
		return fail(x, "counter %s: a definition has a list of architectures",
			    column(row, NAME));
	if (derived == basic)
		return fail(x, "counter %s: a definition has an expression, or block and event",
			    column(row, NAME));
	if ((derived && !x->counters) || (derived && !gpus_find(column(row, GPU))))
		return true;
	fprintf(x->out, "<%s><metric", column(row, GPU));
	loose_xml_put_attribute(x->out, "name", column(row, NAME));
	loose_xml_put_attribute(x->out, "descr", column(row, DESCRIPTION));
	if (basic) {
		loose_xml_put_attribute(x->out, "block", column(row, BLOCK));
		loose_xml_put_attribute(x->out, "event", column(row, EVENT));
	} else if (!put_expression(x, row)) {
		return false;
	}
	fprintf(x->out, "/></%s>", column(row, GPU));
	return true;
}

/* Line N has counter N of the list. */
static bool put_rows(struct extra *x, sqlite3_stmt *row)
{
	int line = 1, rc;

	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		for (; line < sqlite3_column_int(row, NUMBER); line++)
			fputc('\n', x->out);
		if (!put_definition(x, row))
			return false;
	}
	return rc == SQLITE_DONE || fail(x, "%s", sqlite3_errmsg(x->db));
}

/* The definitions as a file of metrics: those without an expression alone, or all. */
static struct metrics_file *make_metrics(struct extra *x, const char *json)
{
	struct metrics_file *made = NULL;
	sqlite3_stmt *row = NULL;
	char *text = NULL, *name;
	size_t size = 0;
	bool good;

	x->out = open_memstream(&text, &size);
	if (!x->out)
		return fail(x, "no memory"), NULL;
	good = sqlite3_prepare_v2(x->db, definitions_sql, -1, &row, NULL) == SQLITE_OK &&
	       sqlite3_bind_text(row, 1, json, -1, SQLITE_STATIC) == SQLITE_OK;
	good = good ? put_rows(x, row) : fail(x, "%s", sqlite3_errmsg(x->db));
	sqlite3_finalize(row);
	if (fclose(x->out) != 0)
		good = fail(x, "no memory");
	/* errors name FILE, counter:N */
	if (good && asprintf(&name, "%.150s, counter", x->path) > 0) {
		made = metrics_file_parse(name, text, size, EXPRESSION_ORDINARY, x->error);
		free(name);
	}
	free(text);
	return made;
}

/* Whether it has a list of counters of a version that is known. */
static bool check_head(struct extra *x, const char *json)
{
	sqlite3_stmt *row = NULL;
	bool good = sqlite3_prepare_v2(
			    x->db,
			    "SELECT json_type(?1, '$.\"rocprofiler-sdk\".counters'), "
			    "json_extract(?1, '$.\"rocprofiler-sdk\".\"counters-schema-version\"')",
			    -1, &row, NULL) == SQLITE_OK &&
		    sqlite3_bind_text(row, 1, json, -1, SQLITE_STATIC) == SQLITE_OK &&
		    sqlite3_step(row) == SQLITE_ROW;

	if (!good)
		fail(x, "%s", sqlite3_errmsg(x->db));
	else if (strcmp(column(row, 0), "array") != 0)
		good = fail(x, "has no list 'counters' in 'rocprofiler-sdk'");
	else if (*column(row, 1) && strcmp(column(row, 1), "1") != 0)
		good = fail(x, "counters-schema-version is %.40s; rtl reads 1", column(row, 1));
	sqlite3_finalize(row);
	return good;
}

struct metrics_file *pmc_extra_open(const char *path, char *error)
{
	struct extra x = { .path = path, .error = error };
	struct metrics_file *made = NULL;
	char *json = read_json(&x);

	if (json && sqlite3_open(":memory:", &x.db) != SQLITE_OK)
		fail(&x, "no memory");
	else if (json && check_head(&x, json))
		x.counters = make_metrics(&x, json);
	if (x.counters)
		made = make_metrics(&x, json);
	metrics_file_close(x.counters);
	sqlite3_close(x.db);
	free(json);
	return made;
}
