/* SPDX-License-Identifier: MIT */
/* rocprofv3_input.c - rocprofv3's input files as options
 *
 *	{"jobs": [{"kernel_trace": true, "output_directory": "a"}, {"pmc": ["SQ_WAVES"]}]}
 *
 *	jobs:
 *	  - kernel_trace: true
 *	    output_format: [csv, json]
 *
 *	pmc: SQ_WAVES SQ_INSTS_VALU
 *
 * Names are those of the options with _ or -. A list is several words, null is nothing.
 */
#include "cli/cmd/rocprofv3_input.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/ui.h"
#include "counter/yaml_text.h"

#define INPUT_MAX (1u << 20)

struct reader {
	const char *path;
	const struct opt *options;
	size_t nr_options;
	struct rocprofv3_input *in;
};

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = ui_keep(malloc(INPUT_MAX + 1));
	size_t n;

	if (!text)
		ui_die_memory();
	if (!file)
		ui_die(STATUS_TRACE, "--input: %s: can't be read: %s", path, strerror(errno));
	n = fread(text, 1, INPUT_MAX + 1, file);
	if (ferror(file))
		ui_die(STATUS_TRACE, "--input: %s: can't be read: %s", path, strerror(errno));
	if (n > INPUT_MAX || memchr(text, 0, n))
		ui_die(STATUS_TRACE, "--input: %s: is no text of at most %u bytes", path,
		       INPUT_MAX);
	text[n] = 0;
	fclose(file);
	return text;
}

/* ---- jobs ---- */

static struct rocprofv3_job *add_job(struct rocprofv3_input *in)
{
	if (in->nr == in->max) {
		in->max = in->max ? 2 * in->max : 8;
		in->jobs = realloc(in->jobs, in->max * sizeof(*in->jobs));
		if (!in->jobs)
			ui_die_memory();
	}
	in->jobs[in->nr] = (struct rocprofv3_job){ .words = NULL };
	return &in->jobs[in->nr++];
}

static void add_word(struct rocprofv3_job *job, char *word)
{
	if (job->nr == job->max) {
		job->max = job->max ? 2 * job->max : 16;
		job->words = realloc(job->words, job->max * sizeof(*job->words));
		if (!job->words)
			ui_die_memory();
	}
	job->words[job->nr++] = ui_keep(word);
}

static struct rocprofv3_job *last_job(struct reader *r)
{
	return &r->in->jobs[r->in->nr - 1];
}

static void add_option(struct reader *r, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", key);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	for (size_t i = 0; i < r->nr_options; i++)
		if (strcmp(r->options[i].name, name) == 0 && strcmp(name, "input") != 0) {
			add_word(last_job(r), ui_format("--%s", name));
			last_job(r)->is_counting |= strcmp(name, "pmc") == 0;
			return;
		}
	ui_die(STATUS_TRACE, "--input: %s: job %zu: '%.60s' is not an option of rocprofv3", r->path,
	       r->in->nr, key);
}

/* ---- JSON ---- */

static const char jobs_sql[] =
	"SELECT J.key, J.type, K.key, K.type, V.value, V.type, V.key FROM json_each(?1, '$.jobs') J LEFT JOIN json_each(CASE "
	"J.type WHEN 'object' THEN J.value ELSE '{}' END) K LEFT JOIN json_each(CASE K.type WHEN 'array' THEN "
	"K.value ELSE json_array(CASE K.type WHEN 'true' THEN json('true') WHEN 'false' THEN json('false') ELSE K.value "
	"END) END) V ON K.key IS NOT NULL";

static const char *column(sqlite3_stmt *row, int i)
{
	const char *text = (const char *)sqlite3_column_text(row, i);

	return text ? text : "";
}

/* One value of an option of a job. */
static void read_value(struct reader *r, sqlite3_stmt *row, const char *key)
{
	const char *type = column(row, 5);

	/* [1, [3-4]]: rocprofv3 takes lists within it as it takes texts */
	if (strcmp(type, "array") == 0 && strcmp(key, "kernel_iteration_range") == 0) {
		char *list = ui_format("%s", column(row, 4)), *to = list;

		for (const char *c = list; *c; c++)
			if (*c != '"')
				*to++ = *c;
		*to = 0;
		add_word(last_job(r), list);
		return;
	}
	if (strcmp(type, "object") == 0 || strcmp(type, "array") == 0)
		ui_die(STATUS_TRACE,
		       "--input: %s: job %zu: %s: is neither a value nor a list of values", r->path,
		       r->in->nr, key);
	add_word(last_job(r), ui_format("%s", strcmp(type, "true") == 0	 ? "true" :
					      strcmp(type, "false") == 0 ? "false" :
									   column(row, 4)));
}

static void read_row(struct reader *r, sqlite3_stmt *row, sqlite3_int64 *job, char *last,
		     size_t size)
{
	const char *key = column(row, 2);

	if (sqlite3_column_int64(row, 0) != *job) {
		*job = sqlite3_column_int64(row, 0);
		*last = 0;
		add_job(r->in);
		if (strcmp(column(row, 1), "object") != 0)
			ui_die(STATUS_TRACE, "--input: %s: job %zu: is no list of options", r->path,
			       r->in->nr);
	}
	/* an empty list, an empty text and null are as if they were not there */
	if (!*key || strcmp(column(row, 3), "null") == 0 ||
	    sqlite3_column_type(row, 6) == SQLITE_NULL || !*column(row, 4))
		return;
	if (strcmp(key, last) != 0)
		add_option(r, key);
	snprintf(last, size, "%s", key);
	read_value(r, row, key);
}

/* A job with pmc_groups is one job for each group, which is a list of names or one name. */
static const char groups_sql[] =
	"SELECT json_object('jobs', json_group_array(json(V))) FROM (SELECT CASE WHEN G.type IS NULL THEN CASE J.type WHEN "
	"'object' THEN J.value ELSE json_array(J.value) END ELSE json_set(json_remove(J.value, '$.pmc_groups'), '$.pmc', "
	"json(CASE G.type WHEN 'array' THEN G.value ELSE json_array(G.value) END)) END AS V FROM json_each(?1, '$.jobs') J "
	"LEFT JOIN json_each(CASE WHEN J.type = 'object' AND json_type(CASE J.type WHEN 'object' THEN J.value END, "
	"'$.pmc_groups') = 'array' THEN json_extract(J.value, '$.pmc_groups') ELSE '[]' END) G ORDER BY J.key, G.key)";

/* The statement with one text. */
static int prepare(sqlite3 *db, const char *sql, const char *text, sqlite3_stmt **row)
{
	int rc = sqlite3_prepare_v2(db, sql, -1, row, NULL);

	return rc ? rc : sqlite3_bind_text(*row, 1, text, -1, SQLITE_TRANSIENT);
}

static void read_json(struct reader *r, const char *text)
{
	sqlite3_stmt *row = NULL, *groups = NULL;
	sqlite3 *db = NULL;
	sqlite3_int64 job = -1;
	char last[64] = "";
	int rc = sqlite3_open(":memory:", &db);

	if (rc == SQLITE_OK)
		rc = prepare(db, groups_sql, text, &groups);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(groups);
	if (rc == SQLITE_ROW)
		rc = prepare(db, jobs_sql, column(groups, 0), &row);
	while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		read_row(r, row, &job, last, sizeof(last));
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE)
		ui_die(STATUS_TRACE, "--input: %s: %s", r->path, sqlite3_errmsg(db));
	sqlite3_finalize(row);
	sqlite3_finalize(groups);
	sqlite3_close(db);
}

/* ---- text ---- */

/* rocprof's files have these lines, too; rocprofv3 passes over them. */
static bool is_empty_filter(const char *line)
{
	static const char *const keys[] = { "gpu", "range", "kernel" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i]);
		const char *rest = line + n;

		if (strncmp(line, keys[i], n) != 0)
			continue;
		rest += strspn(rest, " \t");
		return *rest == ':' && !rest[1 + strspn(rest + 1, " \t\r")];
	}
	return false;
}

/* Behind "pmc:", or NULL. */
static char *names_of(char *line)
{
	char *rest = strncmp(line, "pmc", 3) == 0 ? line + 3 : NULL;

	if (rest)
		rest += strspn(rest, " \t");
	return rest && *rest == ':' ? rest + 1 : NULL;
}

/* Lines "pmc: NAME NAME", each a job, which without a name counts nothing; # begins a comment.
 * Other lines are none of rocprofv3's: nothing of them is done. */
static void read_text(struct reader *r, char *text)
{
	size_t number = 0;

	for (char *next = text; next;) {
		char *line = next, *names, *save;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		number++;
		line[strcspn(line, "#\r")] = 0;
		line += strspn(line, " \t");
		names = names_of(line);
		if (!names) {
			if (*line && !is_empty_filter(line))
				ui_say("--input: %s:%zu: '%.60s' is not 'pmc: COUNTER COUNTER ...', and is passed over",
				       r->path, number, line);
			continue;
		}
		add_job(r->in)->is_counting = true;
		for (char *word = strtok_r(names, " \t,", &save); word;
		     word = strtok_r(NULL, " \t,", &save)) {
			if (!last_job(r)->nr)
				add_word(last_job(r), ui_format("--pmc"));
			add_word(last_job(r), ui_format("%s", word));
		}
	}
}

/* ---- any ---- */

void rocprofv3_input_read(const char *path, const struct opt *options, size_t nr_options,
			  struct rocprofv3_input *in)
{
	struct reader r = { path, options, nr_options, in };
	char error[YAML_TEXT_ERROR_SIZE], *text = read_whole(path);

	if (text[strspn(text, " \t\r\n")] == '{') {
		read_json(&r, text);
	} else if (yaml_text_is(path, text)) {
		char *json = yaml_text_to_json(text, error);

		if (!json)
			ui_die(STATUS_TRACE, "--input: %s:%s", path, error);
		read_json(&r, ui_keep(json));
	} else {
		in->is_text = true;
		read_text(&r, text);
	}
	if (!in->nr)
		ui_die(STATUS_TRACE, "--input: %s: has no jobs", path);
}
