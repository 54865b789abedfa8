/* SPDX-License-Identifier: MIT */
/* yaml_text.c - the part of YAML that rocprofv3's input files use, as JSON
 *
 * One pass over the text: what is at a column belongs to the mapping or sequence that began there.
 */
#include "counter/yaml_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/yaml_lib.h"

#define DEPTH_MAX 32u

struct yaml {
	const char *text, *at;
	FILE *out;
	char *error;
	unsigned int depth;
};

/* False, always; the first error counts. */
static bool fail(struct yaml *y, const char *what)
{
	unsigned int line = 1;

	if (y->error[0])
		return false;
	for (const char *p = y->text; p < y->at; p++)
		line += *p == '\n';
	snprintf(y->error, YAML_TEXT_ERROR_SIZE, "%u: %s: '%.*s'", line, what,
		 (int)(strcspn(y->at, "\n") < 40 ? strcspn(y->at, "\n") : 40), y->at);
	return false;
}

static int column_of(const struct yaml *y, const char *at)
{
	const char *begin = at;

	while (begin > y->text && begin[-1] != '\n')
		begin--;
	return (int)(at - begin);
}

static int column(const struct yaml *y)
{
	return column_of(y, y->at);
}

/* To the next character that is no blank and in no comment, perhaps on another line. */
static void skip(struct yaml *y)
{
	for (;;) {
		y->at += strspn(y->at, " \r\n");
		if (*y->at != '#')
			return;
		y->at += strcspn(y->at, "\n");
	}
}

static void skip_blanks(struct yaml *y)
{
	y->at += strspn(y->at, " \r");
}

static bool is_dash(const char *at)
{
	return at[0] == '-' && (at[1] == 0 || strchr(" \r\n", at[1]));
}

static void put_json(struct yaml *y, const char *text, size_t n)
{
	fputc('"', y->out);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(y->out, "\\%c", c);
		else if (c < 0x20)
			fprintf(y->out, "\\u%04x", c);
		else
			fputc(c, y->out);
	}
	fputc('"', y->out);
}

/* Behind a line of a scalar that goes on on a following one, at the newline: to where it goes on.
 * That is a blank, or a newline for each empty line. */
static const char *fold(const char *at, char *text, size_t *n)
{
	size_t lines = 0;

	while (*n && strchr(" \r", text[*n - 1]))
		--*n;
	for (; *at && strchr(" \r\n", *at); at++)
		lines += *at == '\n';
	if (lines < 2)
		text[(*n)++] = ' ';
	else
		while (--lines)
			text[(*n)++] = '\n';
	return at;
}

/* In '...' two quotes are one; in "..." a backslash takes the next character as it is, but for n
 * and t. */
static bool put_quoted(struct yaml *y)
{
	char quote = *y->at, *text = alloc_heap(strlen(y->at) + 1);
	size_t n = 0;
	const char *at = y->at + 1;

	if (!text)
		return fail(y, "no memory");
	while (*at && (*at != quote || (quote == '\'' && at[1] == quote))) {
		if (*at == '\n') {
			at = fold(at, text, &n);
		} else if (quote == '"' && *at == '\\' && at[1] && at[1] != '\n') {
			at++;
			text[n++] = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
			at++;
		} else {
			at += *at == quote;
			text[n++] = *at++;
		}
	}
	if (*at == quote)
		put_json(y, text, n);
	alloc_free(text);
	if (*at != quote)
		return fail(y, "a quote is not closed");
	y->at = at + 1;
	return true;
}

/* Where a plain scalar ends: at ": ", " #", the end of the line, and within brackets at , ] and
 * }. */
static size_t plain_size(const char *at, bool is_flow)
{
	size_t n = 0;

	for (; at[n] && at[n] != '\n'; n++) {
		if (at[n] == ':' && (!at[n + 1] || strchr(" \r\n", at[n + 1])))
			break;
		if (at[n] == '#' && n && at[n - 1] == ' ')
			break;
		if (is_flow && strchr(",[]{}", at[n]))
			break;
	}
	while (n && strchr(" \r", at[n - 1]))
		n--;
	return n;
}

static bool put_scalar(struct yaml *y, bool is_flow, bool is_key)
{
	size_t n;

	if (*y->at == '"' || *y->at == '\'')
		return put_quoted(y);
	if (strchr("&*!|>%@`", *y->at) && *y->at)
		return fail(y, yaml_lib_is_there() ?
				       "this part of YAML is not read" :
				       "this part of YAML needs libyaml-0.so.2 (package "
				       "libyaml-0-2)");
	n = plain_size(y->at, is_flow);
	if (!n)
		return fail(y, "a value is missing");
	if (!is_key && ((n == 4 && memcmp(y->at, "true", 4) == 0) ||
			(n == 5 && memcmp(y->at, "false", 5) == 0)))
		fprintf(y->out, "%.*s", (int)n, y->at);
	else
		put_json(y, y->at, n);
	y->at += n;
	return true;
}

/* Where a plain scalar of a block goes on behind the end of a line of it: further in than what it
 * belongs to. NULL: nowhere. */
static const char *goes_on(const struct yaml *y, const char *end, int parent)
{
	const char *at = end + strspn(end, " \r"), *behind;

	if (*at != '\n')
		return NULL;
	at += strspn(at, " \r\n");
	behind = at + plain_size(at, false);
	behind += strspn(behind, " ");
	return *at && *at != '#' && *behind != ':' && column_of(y, at) > parent ? at : NULL;
}

/* A scalar of several lines; the first one is a plain one. */
static bool put_lines(struct yaml *y, int parent)
{
	char *text = alloc_heap(strlen(y->at) + 1);
	const char *at = y->at;
	size_t n = 0;

	if (!text)
		return fail(y, "no memory");
	while (at) {
		size_t size = plain_size(at, false);

		memcpy(text + n, at, size);
		n += size;
		y->at = at + size;
		at = goes_on(y, y->at, parent);
		if (at)
			fold(y->at, text, &n);
	}
	put_json(y, text, n);
	alloc_free(text);
	return true;
}

/* ---- in brackets ----------------------------------------------------------------------------- */

static bool put_flow(struct yaml *y);

static bool put_flow_item(struct yaml *y, bool is_map)
{
	if (!is_map)
		return put_flow(y);
	if (!put_scalar(y, true, true))
		return false;
	skip(y);
	if (*y->at != ':')
		return fail(y, "':' is expected");
	y->at++;
	fputc(':', y->out);
	skip(y);
	return put_flow(y);
}

static bool put_flow_list(struct yaml *y, char close)
{
	fputc(*y->at++, y->out);
	for (bool is_first = true;; is_first = false) {
		skip(y);
		if (*y->at == close)
			break;
		if (!is_first)
			fputc(',', y->out);
		if (!put_flow_item(y, close == '}'))
			return false;
		skip(y);
		if (*y->at == ',')
			y->at++;
		else if (*y->at != close)
			return fail(y, close == ']' ? "',' or ']' is expected" :
						      "',' or '}' is expected");
	}
	fputc(*y->at++, y->out);
	return true;
}

static bool put_flow(struct yaml *y)
{
	bool good;

	if (*y->at != '[' && *y->at != '{')
		return put_scalar(y, true, false);
	if (y->depth++ == DEPTH_MAX)
		return fail(y, "nested too deeply");
	good = put_flow_list(y, *y->at == '[' ? ']' : '}');
	y->depth--;
	return good;
}

/* A value of a block that belongs to what stands at the column `parent`. */
static bool put_plain(struct yaml *y, int parent)
{
	size_t n = plain_size(y->at, false);

	if (n && !strchr("\"'[{&*!|>%@`", *y->at) && goes_on(y, y->at + n, parent))
		return put_lines(y, parent);
	return *y->at == '[' || *y->at == '{' ? put_flow(y) : put_scalar(y, false, false);
}

/* ---- by indentation -------------------------------------------------------------------------- */

static bool put_block(struct yaml *y, int least);

/* What stands behind "key:" or "-": on the same line, or further in on the following ones. */
static bool put_value(struct yaml *y, int parent, bool is_key)
{
	skip_blanks(y);
	if (*y->at && *y->at != '\n' && *y->at != '#') {
		bool good;

		if (!is_key) /* "- key: value" begins a mapping */
			return put_block(y, parent + 1);
		good = put_plain(y, parent);
		skip_blanks(y);
		if (good && *y->at && *y->at != '\n' && *y->at != '#')
			return fail(y, "the end of the line is expected");
		return good;
	}
	skip(y);
	/* the dashes of a sequence may stand below its key */
	if (*y->at && (column(y) > parent || (is_key && column(y) == parent && is_dash(y->at))))
		return put_block(y, column(y) > parent ? parent + 1 : column(y));
	fprintf(y->out, "null");
	return true;
}

static bool put_sequence(struct yaml *y, int at)
{
	fputc('[', y->out);
	for (bool is_first = true; *y->at && column(y) == at && is_dash(y->at); is_first = false) {
		if (!is_first)
			fputc(',', y->out);
		y->at++;
		if (!put_value(y, at, false))
			return false;
		skip(y);
	}
	fputc(']', y->out);
	return true;
}

static bool put_mapping(struct yaml *y, int at)
{
	fputc('{', y->out);
	for (bool is_first = true; *y->at && column(y) == at && !is_dash(y->at); is_first = false) {
		if (!is_first)
			fputc(',', y->out);
		if (!put_scalar(y, false, true))
			return false;
		skip_blanks(y);
		if (*y->at != ':')
			return fail(y, "KEY: VALUE is expected");
		y->at++;
		fputc(':', y->out);
		if (!put_value(y, at, true))
			return false;
		skip(y);
	}
	fputc('}', y->out);
	return true;
}

/* Whether the line goes on as "key:". */
static bool is_mapping(const struct yaml *y)
{
	const char *at = y->at;

	if (*at == '[' || *at == '{')
		return false;
	if (*at == '"' || *at == '\'') {
		at = strchr(at + 1, *at);
		return at && at[1] == ':';
	}
	at += plain_size(at, false);
	at += strspn(at, " ");
	return *at == ':';
}

/* `least`: the column from which on it has to stand. */
static bool put_block(struct yaml *y, int least)
{
	bool good;
	int at = column(y);

	if (at < least)
		return fail(y, "it does not stand far enough to the right");
	if (y->depth++ == DEPTH_MAX)
		return fail(y, "nested too deeply");
	if (is_dash(y->at))
		good = put_sequence(y, at);
	else if (is_mapping(y))
		good = put_mapping(y, at);
	else
		good = put_plain(y, least - 1);
	y->depth--;
	return good;
}

static bool put_document(struct yaml *y)
{
	const char *tab = strchr(y->text, '\t');

	if (tab) {
		y->at = tab;
		return fail(y, "YAML is indented by blanks, not by tabs");
	}
	skip(y);
	if (strncmp(y->at, "---", 3) == 0)
		y->at += 3;
	skip(y);
	if (!*y->at)
		return fail(y, "it is empty");
	if (!put_block(y, 0))
		return false;
	skip(y);
	return !*y->at || fail(y, "it stands at no level that was begun");
}

char *yaml_text_to_json(const char *text, char *error)
{
	char *json = NULL;
	size_t size = 0;
	struct yaml y = {
		.text = text, .at = text, .out = open_memstream(&json, &size), .error = error
	};
	bool good;

	error[0] = '\0';
	if (!y.out) {
		fail(&y, "no memory");
		return NULL;
	}
	good = put_document(&y);
	if (fclose(y.out) != 0)
		good = fail(&y, "no memory");
	if (good)
		return json;
	alloc_free(json);
	/* what this file does not read */
	return yaml_lib_to_json(text);
}

bool yaml_text_is(const char *path, const char *text)
{
	const char *dot = strrchr(path, '.');

	if (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
		return true;
	while (text += strspn(text, " \t\r\n"), *text == '#')
		text += strcspn(text, "\n");
	return strncmp(text, "---", 3) == 0 || strncmp(text, "jobs:", 5) == 0;
}
