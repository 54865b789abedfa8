/* SPDX-License-Identifier: MIT */
/* pmc_file.c - input files of rocprof and rocprofv3: what is to be counted, of which kernels and
 * GPUs */
#include "cli/pmc/pmc_file.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit_status.h"
#include "cli/pmc/pmc_limit.h"
#include "cli/ui.h"
#include "counter/loose_xml.h"
#include "counter/yaml_text.h"

#define FILE_MAX 65536u

/* `text` and one more word. */
static const char *append(const char *text, const char *between, const char *word)
{
	return ui_keep(text ? ui_format("%s%s%s", text, between, word) : ui_format("%s", word));
}

/* A part of a kernel's name as a regular expression. */
static const char *quote(const char *word)
{
	char *quoted = malloc(2 * strlen(word) + 1), *to = quoted;

	if (!quoted)
		ui_die_memory();
	for (; *word; word++) {
		if (strchr("\\^$.[]|()?*+{}", *word))
			*to++ = '\\';
		*to++ = *word;
	}
	*to = 0;
	return ui_keep(quoted);
}

/* A new set of names: those behind it are added to this one. */
static void begin_set(struct pmc_file *f, const char *path)
{
	if (!f->names.sets)
		f->names.sets = ui_keep(calloc(PMC_MAX_PASSES, sizeof(*f->names.sets)));
	if (!f->names.sets)
		ui_die_memory();
	if (f->names.nr == PMC_MAX_PASSES)
		ui_die(STATUS_TRACE, "%s: more than %u sets of counters; use several files", path,
		       PMC_MAX_PASSES);
	f->names.sets[f->names.nr++] = NULL;
}

static void add_name(struct pmc_file *f, const char *word)
{
	const char **set = &f->names.sets[f->names.nr - 1];

	*set = append(*set, ",", word);
}

/* A set without a name is none. */
static void end_set(struct pmc_file *f)
{
	f->names.nr -= f->names.nr && !f->names.sets[f->names.nr - 1];
}

static void read_words(struct pmc_file *f, const char *key, char *words)
{
	char *save = NULL;

	/* of the others the last line counts, as in rocprof */
	if (strcmp(key, "gpu") == 0)
		f->gpus = NULL;
	else if (strcmp(key, "kernel") == 0)
		f->kernels = NULL;
	for (char *word = strtok_r(words, ", \t", &save); word;
	     word = strtok_r(NULL, ", \t", &save)) {
		if (strcmp(key, "pmc") == 0)
			add_name(f, word);
		else if (strcmp(key, "gpu") == 0)
			f->gpus = append(f->gpus, ",", word);
		else
			f->kernels = append(f->kernels, "|", quote(word));
	}
}

/* FROM:TO, FROM: and FROM, which is one dispatch; blanks are left out. */
static void read_range(struct pmc_file *f, const char *path, unsigned int number, const char *text)
{
	char *range = ui_keep(ui_format("%s", text)), *to = range;
	const char *why;

	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
	*to = 0;
	why = pmc_limit_check_dispatches(range);
	if (why)
		ui_die(STATUS_TRACE, "%s:%u: range: '%s' %s", path, number, range, why);
	f->dispatches = range;
}

static void read_key(struct pmc_file *f, const char *path, unsigned int number, const char *key,
		     char *value)
{
	if (strcmp(key, "range") == 0) {
		read_range(f, path, number, value);
		return;
	}
	if (strcmp(key, "pmc") == 0)
		begin_set(f, path);
	read_words(f, key, value);
	if (strcmp(key, "pmc") == 0)
		end_set(f);
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_known(const char *key)
{
	return strcmp(key, "pmc") == 0 || strcmp(key, "gpu") == 0 || strcmp(key, "kernel") == 0 ||
	       strcmp(key, "range") == 0;
}

static void read_line(struct pmc_file *f, const char *path, unsigned int number, char *line)
{
	char *key = line + strspn(line, " \t"), *colon, *end;

	key[strcspn(key, "#\r\n")] = 0;
	if (!*key)
		return;
	colon = strchr(key, ':');
	if (!colon)
		ui_die(STATUS_TRACE, "%s:%u: '%.80s' is not KEYWORD : VALUES", path, number, key);
	for (end = colon; end > key && isblank((unsigned char)end[-1]); end--)
		;
	*end = 0;
	if (!is_known(key))
		ui_die(STATUS_TRACE,
		       "%s:%u: '%.80s': rtl reads the lines pmc, range, gpu and kernel; API calls are chosen with --calls",
		       path, number, key);
	read_key(f, path, number, key, colon + 1);
}

static void read_text(struct pmc_file *f, const char *path, char *text)
{
	unsigned int number = 0;

	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		read_line(f, path, ++number, line);
	}
}

/* ---- XML ------------------------------------------------------------------------------------- */

struct xml {
	struct pmc_file *f;
	char error[LOOSE_XML_ERROR_SIZE];
};

static bool on_element(void *arg, const char *name, const char **attributes, struct loose_xml_at at)
{
	static const char *const known[][2] = { { "name", "pmc" },
						{ "gpu_index", "gpu" },
						{ "kernel", "kernel" },
						{ "range", "range" } };
	struct xml *x = arg;

	if (strcmp(name, "metric") != 0)
		ui_die(STATUS_TRACE,
		       "%s:%u: <%.20s>: rtl reads the element metric; calls are recorded with --mode hip and --hsa",
		       at.file, at.line, name);
	for (; *attributes; attributes += 2) {
		size_t i = 0, nr = sizeof(known) / sizeof(known[0]);

		while (i < nr && strcmp(attributes[0], known[i][0]) != 0)
			i++;
		if (i == nr)
			ui_die(STATUS_TRACE,
			       "%s:%u: '%.40s': rtl reads the attributes name, gpu_index, kernel and range",
			       at.file, at.line, attributes[0]);
		read_key(x->f, at.file, at.line, known[i][1],
			 ui_keep(ui_format("%s", attributes[1])));
	}
	return true;
}

static bool on_end(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return true;
}

/* rocprof reads <metric name=A,B kernel="part" ></metric>, which is not quite XML. */
static void read_xml(struct pmc_file *f, const char *path, const char *text)
{
	struct xml x = { .f = f };
	const struct loose_xml_handler h = { on_element, on_end, &x, x.error };

	if (!loose_xml_parse(path, text, strlen(text), &h))
		ui_die(STATUS_TRACE, "%s", x.error);
}

/* ---- JSON and YAML of rocprofv3 -------------------------------------------------------------- */

static void refuse_json(const char *path, sqlite3 *db, const char *why)
{
	ui_die(STATUS_TRACE, "%s: %s", path, why ? why : sqlite3_errmsg(db));
}

/* All jobs are of the same kernels, or their counters could not be in one trace. */
static void check_jobs(const char *path, sqlite3 *db, const char *text)
{
	static const char *const keys[] = { "kernel_include_regex", "kernel_exclude_regex",
					    "kernel_iteration_range" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *sql = ui_format(
			"SELECT count(DISTINCT coalesce(json_extract(value, '$.%s'), '')) > 1 "
			"FROM json_each(?1, '$.jobs')",
			keys[i]);
		sqlite3_stmt *row = NULL;
		bool differ;

		sqlite3_prepare_v2(db, sql, -1, &row, NULL);
		sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
		differ = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0);
		sqlite3_finalize(row);
		free(sql);
		if (differ)
			ui_die(STATUS_TRACE,
			       "%s: %s differs between jobs: rtl writes one trace of all; use a file for each",
			       path, keys[i]);
	}
}

static void read_value(struct pmc_file *f, const char *path, const char *key, const char *value)
{
	const char *text = *value ? ui_keep(ui_format("%s", value)) : NULL, *why;

	if (strcmp(key, "pmc") == 0) {
		read_words(f, key, ui_keep(ui_format("%s", value)));
	} else if (strcmp(key, "kernel_include_regex") == 0) {
		f->kernels = text;
	} else if (strcmp(key, "kernel_exclude_regex") == 0) {
		f->not_kernels = text;
	} else if (strcmp(key, "kernel_iteration_range") == 0) {
		why = *value ? pmc_limit_check_iterations(value) : NULL;
		if (why)
			ui_die(STATUS_TRACE, "%s: %s: '%.80s' %s", path, key, value, why);
		f->iterations = text;
	} else {
		ui_die(STATUS_TRACE,
		       "%s: '%.40s': rtl reads pmc, kernel_include_regex, kernel_exclude_regex and "
		       "kernel_iteration_range of a job; the others are options of rtl rocprofv3",
		       path, key);
	}
}

/* Of a key that several values have, kernel_iteration_range for instance, they are joined. */
static void read_json(struct pmc_file *f, const char *path, const char *text)
{
	static const char sql[] =
		"SELECT J.key, K.key, coalesce(group_concat(V.value, ','), '') FROM json_each(?1, '$.jobs') J, "
		"json_each(J.value) K, json_each(CASE K.type WHEN 'array' THEN K.value ELSE json_array(K.value) "
		"END) V GROUP BY J.id, K.id ORDER BY J.id, K.id";
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;
	int64_t job = -1;
	int rc;

	if (sqlite3_open(":memory:", &db) || sqlite3_prepare_v2(db, sql, -1, &row, NULL))
		refuse_json(path, db, NULL);
	sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		if (sqlite3_column_int64(row, 0) != job) {
			end_set(f);
			begin_set(f, path);
		}
		job = sqlite3_column_int64(row, 0);
		read_value(f, path, (const char *)sqlite3_column_text(row, 1),
			   (const char *)sqlite3_column_text(row, 2));
	}
	if (rc != SQLITE_DONE)
		refuse_json(path, db, NULL);
	end_set(f);
	check_jobs(path, db, text);
	sqlite3_finalize(row);
	sqlite3_close(db);
}

static void read_yaml(struct pmc_file *f, const char *path, const char *text)
{
	char error[YAML_TEXT_ERROR_SIZE];
	char *json = yaml_text_to_json(text, error);

	if (!json)
		ui_die(STATUS_TRACE, "%s:%s", path, error);
	read_json(f, path, json);
	free(json);
}

/* ---- any ------------------------------------------------------------------------------------- */

static char *read_whole(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = malloc(FILE_MAX + 1);
	size_t n;

	if (!text)
		ui_die_memory();
	if (!in)
		ui_die(STATUS_TRACE, "%s: can't be read: %s", path, strerror(errno));
	n = fread(text, 1, FILE_MAX + 1, in);
	if (ferror(in))
		ui_die(STATUS_TRACE, "%s: can't be read: %s", path, strerror(errno));
	if (n > FILE_MAX || memchr(text, 0, n))
		ui_die(STATUS_TRACE,
		       "%s: is no input file of counters: no text of at most %u bytes", path,
		       FILE_MAX);
	text[n] = 0;
	fclose(in);
	return text;
}

void pmc_file_read(const char *path, struct pmc_file *f)
{
	char *text = read_whole(path);

	*f = (struct pmc_file){ .gpus = NULL };
	switch (text[strspn(text, " \t\r\n")]) {
	case '<':
		read_xml(f, path, text);
		break;
	case '{':
		read_json(f, path, text);
		break;
	default:
		if (yaml_text_is(path, text))
			read_yaml(f, path, text);
		else
			read_text(f, path, text);
	}
	free(text);
	if (!f->names.nr)
		ui_die(STATUS_TRACE, "%s: it names no counters; a line 'pmc : NAME...' does", path);
}
