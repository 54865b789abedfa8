/* SPDX-License-Identifier: MIT */
/* loose_xml.c - XML as rocprof's files have it: made well-formed line by line, then read by expat
 *
 * An #include becomes a processing instruction, at which the other file is read with a parser of
 * its own and the same handler.
 *
 * Not here: what the elements mean.
 */
#include "base/alloc.h"
#include "base/text.h"
#include "counter/loose_xml.h"

#include <ctype.h>
#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)4 << 20)
#define INCLUDES_MAX 16u /* of files within files */
#define ROOT "rtl-root"
#define INCLUDE "rtl-include"

/* ---- to well-formed XML ---------------------------------------------------------------------- */

struct tidy {
	const char *at, *end;
	char *out;
	size_t used, size;
	const char *unclosed, *unclosed_what; /* the first that is not */
	bool no_memory;
};

static void put_n(struct tidy *t, const char *text, size_t n)
{
	if (t->no_memory)
		return;
	if (t->used + n > t->size) {
		size_t size = 2 * (t->used + n) + 256;
		char *more = alloc_resize(t->out, size, 1);

		if (!more) {
			t->no_memory = true;
			return;
		}
		t->out = more;
		t->size = size;
	}
	memcpy(t->out + t->used, text, n);
	t->used += n;
}

static void put(struct tidy *t, const char *text)
{
	put_n(t, text, strlen(text));
}

static void note_unclosed(struct tidy *t, const char *at, const char *what)
{
	if (t->unclosed)
		return;
	t->unclosed = at;
	t->unclosed_what = what;
}

static bool is_next(const struct tidy *t, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(t->end - t->at) >= n && memcmp(t->at, text, n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* &lt; stays what it is; any other & is a letter. */
static bool is_entity(const struct tidy *t)
{
	static const char *const names[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_next(t, names[i]))
			return true;
	return false;
}

static void put_letter(struct tidy *t)
{
	switch (*t->at) {
	case '<':
		put(t, "&lt;");
		break;
	case '"':
		put(t, "&quot;");
		break;
	case '&':
		put(t, is_entity(t) ? "&" : "&amp;");
		break;
	default:
		put_n(t, t->at, 1);
	}
	t->at++;
}

/* Leaves the text up to `behind` out, but for its lines. */
static void skip_to(struct tidy *t, const char *behind)
{
	while (t->at < t->end && !is_next(t, behind)) {
		if (*t->at == '\n')
			put(t, "\n");
		t->at++;
	}
	t->at += t->at < t->end ? strlen(behind) : 0;
}

static void skip_line(struct tidy *t)
{
	while (t->at < t->end && *t->at != '\n')
		t->at++;
}

/* #include "FILE". False: it is not that. */
static bool put_include(struct tidy *t)
{
	const char *name, *close;

	if (!is_next(t, "#include"))
		return false;
	name = t->at + strlen("#include");
	while (name < t->end && (*name == ' ' || *name == '\t'))
		name++;
	if (name == t->end || *name != '"')
		return false;
	name++;
	for (close = name; close < t->end && *close != '"' && *close != '\n'; close++)
		;
	if (close == t->end || *close != '"')
		return false;
	put(t, "<?" INCLUDE " ");
	put_n(t, name, (size_t)(close - name));
	put(t, "?>");
	skip_line(t);
	return true;
}

/* A value of an attribute, behind its '='. */
static void put_value(struct tidy *t)
{
	char quote = *t->at == '"' || *t->at == '\'' ? *t->at : 0;
	const char *begin = t->at;

	put(t, "\"");
	t->at += quote != 0;
	while (t->at < t->end) {
		if (quote ? *t->at == quote :
			    is_blank(*t->at) || *t->at == '>' || *t->at == '#' || is_next(t, "/>"))
			break;
		if (*t->at == '\\' && t->end - t->at > 1 && (t->at[1] == '"' || t->at[1] == '\\'))
			t->at++;
		put_letter(t);
	}
	put(t, "\" ");
	if (quote && t->at == t->end)
		note_unclosed(t, begin, "a quote is not closed");
	t->at += quote && t->at < t->end;
}

/* From '<' to '>'. */
static void put_tag(struct tidy *t)
{
	const char *begin = t->at;

	while (t->at < t->end) {
		char c = *t->at;

		if (c == '#') {
			skip_line(t);
			continue;
		}
		put_n(t, t->at++, 1);
		if (c == '>')
			return;
		if (c != '=')
			continue;
		/* blanks around the '=' are XML's */
		while (t->at < t->end && is_blank(*t->at))
			put_n(t, t->at++, 1);
		if (t->at < t->end)
			put_value(t);
	}
	note_unclosed(t, begin, "an element is not closed");
}

static void put_comment(struct tidy *t)
{
	t->at += strlen("<!--");
	skip_to(t, "-->");
}

static void tidy_up(struct tidy *t)
{
	bool at_begin = true; /* of a line */

	put(t, "<" ROOT ">");
	while (t->at < t->end) {
		bool was_at_begin = at_begin;

		at_begin = *t->at == '\n';
		if (*t->at == '#') {
			if (!was_at_begin || !put_include(t))
				skip_line(t);
		} else if (is_next(t, "<!--")) {
			put_comment(t);
		} else if (is_next(t, "<?")) {
			skip_to(t, "?>");
		} else if (*t->at == '<') {
			put_tag(t);
		} else {
			put_n(t, t->at++, 1);
		}
	}
	put(t, "</" ROOT ">");
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
	const struct loose_xml_handler *h;
	const char *file;
	unsigned int depth; /* of included files */
	XML_Parser parser;
	bool stopped;
};

static bool read_file(const char *path, unsigned int depth, const struct loose_xml_handler *h);

static void __attribute__((format(printf, 4, 5)))
say(const struct loose_xml_handler *h, const char *file, unsigned long line, const char *what, ...)
{
	char why[LOOSE_XML_ERROR_SIZE / 2];
	va_list args;

	va_start(args, what);
	vsnprintf(why, sizeof(why), what, args);
	va_end(args);
	if (line)
		snprintf(h->error, LOOSE_XML_ERROR_SIZE, "%.200s:%lu: %s", file, line, why);
	else
		snprintf(h->error, LOOSE_XML_ERROR_SIZE, "%.200s: %s", file, why);
}

static unsigned long line_of(const struct reading *r)
{
	return (unsigned long)XML_GetCurrentLineNumber(r->parser);
}

static void stop(struct reading *r)
{
	r->stopped = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static void XMLCALL on_begin(void *arg, const char *name, const char **attributes)
{
	struct reading *r = arg;
	const struct loose_xml_at at = { r->file, (unsigned int)line_of(r) };

	if (!r->stopped && strcmp(name, ROOT) != 0 && !r->h->begin(r->h->arg, name, attributes, at))
		stop(r);
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct reading *r = arg;

	if (!r->stopped && strcmp(name, ROOT) != 0 && !r->h->end(r->h->arg, name))
		stop(r);
}

static void XMLCALL on_text(void *arg, const char *text, int size)
{
	struct reading *r = arg;

	for (int i = 0; i < size && !r->stopped; i++) {
		int rest = size - i < 20 ? size - i : 20;

		if (is_blank(text[i]))
			continue;
		say(r->h, r->file, line_of(r), "'%.*s' stands outside of '<' and '>'", rest,
		    text + i);
		stop(r);
	}
}

static void XMLCALL on_include(void *arg, const char *target, const char *name)
{
	struct reading *r = arg;
	const char *slash = strrchr(r->file, '/');
	char path[4096];
	int n;

	if (r->stopped || strcmp(target, INCLUDE) != 0)
		return;
	n = snprintf(path, sizeof(path), "%.*s%s",
		     *name == '/' || !slash ? 0 : (int)(slash + 1 - r->file), r->file, name);
	if (n < 0 || (size_t)n >= sizeof(path) || r->depth == INCLUDES_MAX)
		say(r->h, r->file, line_of(r),
		    r->depth == INCLUDES_MAX ? "#include: files include each other" :
					       "#include: the path is too long");
	else if (read_file(path, r->depth + 1, r->h))
		return;
	stop(r);
}

static unsigned long line_in(const char *text, const char *at)
{
	unsigned long line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static bool parse(const char *name, const char *text, size_t size, unsigned int depth,
		  const struct loose_xml_handler *h)
{
	struct tidy t = { .at = text, .end = text + size };
	struct reading r = { .h = h, .file = name, .depth = depth };
	bool good = false;

	h->error[0] = '\0';
	tidy_up(&t);
	if (t.unclosed) {
		say(h, name, line_in(text, t.unclosed), "%s", t.unclosed_what);
		alloc_free(t.out);
		return false;
	}
	r.parser = t.no_memory || t.used > INT32_MAX ? NULL : XML_ParserCreate("UTF-8");
	if (!r.parser) {
		say(h, name, 0, "no memory");
		alloc_free(t.out);
		return false;
	}
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_begin, on_end);
	XML_SetCharacterDataHandler(r.parser, on_text);
	XML_SetProcessingInstructionHandler(r.parser, on_include);
	good = XML_Parse(r.parser, t.out, (int)t.used, XML_TRUE) == XML_STATUS_OK && !r.stopped;
	if (!good && !r.stopped)
		say(h, name, line_of(&r), "%s", XML_ErrorString(XML_GetErrorCode(r.parser)));
	XML_ParserFree(r.parser);
	alloc_free(t.out);
	return good;
}

bool loose_xml_parse(const char *name, const char *text, size_t size,
		     const struct loose_xml_handler *h)
{
	return parse(name, text, size, 0, h);
}

static bool read_file(const char *path, unsigned int depth, const struct loose_xml_handler *h)
{
	FILE *in = fopen(path, "re");
	char *text = in ? alloc_heap(FILE_MAX + 1) : NULL;
	size_t n = 0;
	bool good = false;

	if (text)
		n = fread(text, 1, FILE_MAX + 1, in);
	if (!in || (text && ferror(in)))
		say(h, path, 0, "can't be read: %s", strerror(errno));
	else if (!text)
		say(h, path, 0, "no memory");
	else if (n > FILE_MAX)
		say(h, path, 0, "is larger than %zu bytes", FILE_MAX);
	else
		good = parse(path, text, n, depth, h);
	alloc_free(text);
	if (in)
		fclose(in);
	return good;
}

bool loose_xml_read(const char *path, const struct loose_xml_handler *h)
{
	return read_file(path, 0, h);
}

void loose_xml_put_attribute(FILE *out, const char *name, const char *text)
{
	/* YAML is read whatever bytes its texts have, XML is not */
	char *valid = text_valid(text);

	fprintf(out, " %s=\"", name);
	for (text = valid ? valid : text; *text; text++) {
		if (strncmp(text, "\xef\xbf\xbe", 3) == 0 ||
		    strncmp(text, "\xef\xbf\xbf", 3) == 0) {
			fputc('?', out); /* U+FFFE, U+FFFF: no characters of XML */
			text += 2;
		} else if (strchr("<&\"\\", *text)) {
			fprintf(out, "&#%d;", *text);
		} else {
			fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
		}
	}
	fputc('"', out);
	alloc_free(valid);
}
