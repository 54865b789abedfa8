/* SPDX-License-Identifier: MIT */
/* pmc_file.c - input files of rocprof and rocprofv3: what is to be counted, of which kernels and GPUs */
#include "cli/pmc_file.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/ui.h"

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

static void read_words(struct pmc_file *f, const char *key, char *words)
{
	char *save = NULL;

	/* of gpu and kernel the last line counts, as in rocprof */
	if (strcmp(key, "gpu") == 0)
		f->gpus = NULL;
	else if (strcmp(key, "kernel") == 0)
		f->kernels = NULL;
	for (char *word = strtok_r(words, ", \t", &save); word;
	     word = strtok_r(NULL, ", \t", &save)) {
		if (strcmp(key, "pmc") == 0)
			f->names = append(f->names, ",", word);
		else if (strcmp(key, "gpu") == 0)
			f->gpus = append(f->gpus, ",", word);
		else
			f->kernels = append(f->kernels, "|", quote(word));
	}
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
	if (strcmp(key, "pmc") != 0 && strcmp(key, "gpu") != 0 && strcmp(key, "kernel") != 0)
		ui_die(STATUS_TRACE, "%s:%u: '%.80s': rtl reads the lines pmc, gpu and kernel; %s",
		       path, number, key,
		       strcmp(key, "range") == 0 ?
			       "choose dispatches with --kernels, or a part of the run with --range or --period" :
			       "API calls are chosen with --calls");
	read_words(f, key, colon + 1);
}

/* ---- text ------------------------------------------------------------------------------------ */

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

static unsigned int line_of(const char *text, const char *at)
{
	unsigned int number = 1;

	for (; text < at; text++)
		number += *text == '\n';
	return number;
}

/* One attribute; its value need not be in quotes. Returns what follows. */
static char *read_attribute(struct pmc_file *f, const char *path, unsigned int number, char *at)
{
	static const char *const known[][2] = { { "name", "pmc" },
						{ "gpu_index", "gpu" },
						{ "kernel", "kernel" } };
	char *key = at, *value, *end;
	size_t size = strcspn(at, "= \t\r\n>");

	if (at[size] != '=')
		ui_die(STATUS_TRACE, "%s:%u: '%.40s' is not NAME=VALUE", path, number, at);
	value = at + size + 1;
	if (*value == '"' || *value == '\'') {
		end = strchr(value + 1, *value);
		if (!end)
			ui_die(STATUS_TRACE, "%s:%u: a quote is not closed", path, number);
		value++;
	} else {
		end = value + strcspn(value, " \t\r\n>");
	}
	at = end + (*end != '>' && *end);
	if (*end == '>') /* the caller stops there */
		at = ui_keep(ui_format("%s", end));
	key[size] = *end = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(key, known[i][0]) != 0)
			continue;
		read_words(f, known[i][1], value);
		return at;
	}
	ui_die(STATUS_TRACE, "%s:%u: '%.40s': rtl reads the attributes name, gpu_index and kernel",
	       path, number, key);
}

/* rocprof reads <metric name=A,B kernel="part" ></metric>, which is not quite XML. */
static void read_xml(struct pmc_file *f, const char *path, char *text)
{
	char *copy = ui_keep(ui_format("%s", text)), *element = copy;

	while ((element = strchr(element, '<')) != NULL) {
		unsigned int number = line_of(copy, element);
		char *end = strchr(element, '>'), *at = element + 7;
		bool is_metric = strncmp(element, "<metric", 7) == 0;

		if (!end)
			ui_die(STATUS_TRACE, "%s:%u: an element is not closed", path, number);
		if (!is_metric && strncmp(element, "</", 2) != 0 &&
		    strncmp(element, "<?", 2) != 0 && strncmp(element, "<!--", 4) != 0)
			ui_die(STATUS_TRACE,
			       "%s:%u: '%.20s': rtl reads the element metric; calls are recorded with --mode hip and --hsa",
			       path, number, element);
		element = end + 1;
		if (!is_metric)
			continue;
		/* values are cut out of a copy of their own */
		at = ui_keep(ui_format("%.*s>", (int)(end - at), at));
		for (at += strspn(at, " \t\r\n"); *at != '>'; at += strspn(at, " \t\r\n"))
			at = read_attribute(f, path, number, at);
	}
}

/* ---- JSON of rocprofv3 ----------------------------------------------------------------------- */

static void refuse_json(const char *path, sqlite3 *db, const char *why)
{
	ui_die(STATUS_TRACE, "--pmc-file: %s: %s", path, why ? why : sqlite3_errmsg(db));
}

static void read_value(struct pmc_file *f, const char *path, const char *key, const char *value)
{
	char *words = ui_keep(ui_format("%s", value));

	if (strcmp(key, "pmc") == 0)
		read_words(f, key, words);
	else if (strcmp(key, "kernel_include_regex") == 0)
		f->kernels = *value ? words : NULL;
	else
		ui_die(STATUS_TRACE,
		       "--pmc-file: %s: '%.40s': rtl reads pmc and kernel_include_regex of a job; the others are "
		       "options of rtl rocprofv3",
		       path, key);
}

static void read_json(struct pmc_file *f, const char *path, const char *text)
{
	static const char sql[] =
		"SELECT K.key, coalesce(V.value, '') FROM json_each(?1, '$.jobs') J, json_each(J.value) K, "
		"json_each(CASE K.type WHEN 'array' THEN K.value ELSE json_array(K.value) END) V";
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;
	int rc;

	if (sqlite3_open(":memory:", &db) || sqlite3_prepare_v2(db, sql, -1, &row, NULL))
		refuse_json(path, db, NULL);
	sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW)
		read_value(f, path, (const char *)sqlite3_column_text(row, 0),
			   (const char *)sqlite3_column_text(row, 1));
	if (rc != SQLITE_DONE)
		refuse_json(path, db, NULL);
	sqlite3_finalize(row);
	sqlite3_close(db);
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
		ui_die(STATUS_TRACE, "--pmc-file: %s: can't be read: %s", path, strerror(errno));
	n = fread(text, 1, FILE_MAX + 1, in);
	if (ferror(in))
		ui_die(STATUS_TRACE, "--pmc-file: %s: can't be read: %s", path, strerror(errno));
	if (n > FILE_MAX || memchr(text, 0, n))
		ui_die(STATUS_TRACE, "--pmc-file: %s: is no text of at most %u bytes", path,
		       FILE_MAX);
	text[n] = 0;
	fclose(in);
	return text;
}

void pmc_file_read(const char *path, struct pmc_file *f)
{
	char *text = read_whole(path);

	*f = (struct pmc_file){ NULL, NULL, NULL };
	switch (text[strspn(text, " \t\r\n")]) {
	case '<':
		read_xml(f, path, text);
		break;
	case '{':
		read_json(f, path, text);
		break;
	default:
		read_text(f, path, text);
	}
	free(text);
	if (!f->names)
		ui_die(STATUS_TRACE, "--pmc-file: %s: it names no counters: 'pmc : NAME...'", path);
}
