/* SPDX-License-Identifier: MIT */
/* ui_text.c - what is printed on stdout: ui_put(), ui_putf()
 *
 * Half of what is printed is text of others: names, arguments, paths. So the argument of each %s is
 * one line of text in which what a terminal would act on becomes '?' (base/text.h), and no caller
 * can forget it. What is in a format is ours: newlines, tabs, colours.
 *
 * Fails:    out of memory and write errors end the process.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ui.h"

#define SPEC_SIZE 32

/* One conversion, "%-*.*s", with its width and precision as numbers. */
struct spec {
	char text[SPEC_SIZE];
	size_t used;
	int precision; /* -1: none */
	bool is_long;  /* a number of 64 bits */
	char kind;
};

static void add(struct spec *s, char c)
{
	if (s->used + 1 < SPEC_SIZE)
		s->text[s->used++] = c;
}

/* Adds digits, or the argument that '*' stands for. */
static const char *add_number(struct spec *s, const char *at, int *number, va_list *args)
{
	char digits[16];

	if (*at == '*') {
		*number = va_arg(*args, int);
		at++;
	} else {
		for (*number = 0; *at >= '0' && *at <= '9'; at++)
			*number = 10 * *number + (*at - '0');
	}
	snprintf(digits, sizeof(digits), "%d", *number);
	for (const char *c = digits; *c; c++)
		add(s, *c);
	return at;
}

/* `at` is behind the '%'. Returns what follows the conversion. */
static const char *read_spec(struct spec *s, const char *at, va_list *args)
{
	int width;

	*s = (struct spec){ .text = "%", .used = 1, .precision = -1 };
	for (; *at && strchr("-+ 0#", *at); at++)
		add(s, *at);
	if (*at == '*' || (*at >= '1' && *at <= '9'))
		at = add_number(s, at, &width, args);
	if (*at == '.') {
		add(s, '.');
		at = add_number(s, at + 1, &s->precision, args);
	}
	for (; *at && strchr("hljzt", *at); at++)
		s->is_long |= *at != 'h';
	s->kind = *at;
	if (s->is_long && s->kind && strchr("diuxXo", s->kind))
		add(s, 'l');
	add(s, s->kind);
	return *at ? at + 1 : at;
}

/* A copy with '?' for what is not safe, but for the characters of `keep`; NULL: the text is
 * safe. */
static char *cleaned(const char *text, size_t size, const char *keep)
{
	char *copy;
	size_t n;

	for (size_t i = 0; i < size; i += n) {
		if (text_is_safe(text + i, size - i, &n) || strchr(keep, text[i]))
			continue;
		copy = strndup(text, size);
		if (!copy)
			ui_die_memory();
		text_clean(copy, keep);
		return copy;
	}
	return NULL;
}

/* The specifications are those of literals that the compiler has checked (ui.h). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int put_text(FILE *out, const struct spec *s, const char *text)
{
	size_t size = s->precision < 0 ? strlen(text) : strnlen(text, (size_t)s->precision);
	char *copy = cleaned(text, size, "");
	int n = fprintf(out, s->text, copy ? copy : text);

	free(copy);
	return n;
}

static int put_number(FILE *out, const struct spec *s, va_list *args)
{
	if (s->kind && strchr("eEfFgGaA", s->kind))
		return fprintf(out, s->text, va_arg(*args, double));
	if (s->kind == 'p')
		return fprintf(out, s->text, va_arg(*args, void *));
	return s->is_long ? fprintf(out, s->text, va_arg(*args, long)) :
			    fprintf(out, s->text, va_arg(*args, int));
}

#pragma GCC diagnostic pop

void ui_put(const char *text)
{
	char *copy = cleaned(text, strlen(text), "\n\t");

	ui_put_raw(copy ? copy : text);
	free(copy);
}

void ui_putf(const char *fmt, ...)
{
	FILE *out = ui_output_file();
	struct spec spec;
	va_list args;
	int n = 0;

	va_start(args, fmt);
	while (*fmt && n >= 0) {
		size_t literal = strcspn(fmt, "%");

		if (literal) {
			n = fwrite(fmt, 1, literal, out) == literal ? 0 : -1;
			fmt += literal;
		} else if (fmt[1] == '%') {
			n = fputc('%', out) == EOF ? -1 : 0;
			fmt += 2;
		} else {
			fmt = read_spec(&spec, fmt + 1, &args);
			n = spec.kind == 's' ? put_text(out, &spec, va_arg(args, const char *)) :
					       put_number(out, &spec, &args);
		}
	}
	va_end(args);
	if (n < 0)
		ui_flush();
}
