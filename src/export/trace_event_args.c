/* SPDX-License-Identifier: MIT */
/* trace_event_args.c - the arguments of a call as JSON, from their text in the database
 *
 * Numbers become numbers, {x,y,z} an array, quoted strings unescaped strings, and all other values
 * (pointers, enumerators) strings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/call_args.h"
#include "export/trace_event.h"

#define MAX_EXACT (INT64_C(1) << 53) /* readers convert numbers to doubles */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

/* Writes a quoted string without its quotes and escapes. */
static void put_string(struct json *j, const char *at, const char *end)
{
	char *text = alloc_heap((size_t)(end - at));
	size_t n = 0;

	if (!text) {
		json_text_size(j, at, (size_t)(end - at));
		return;
	}
	for (at++; at < end - 1; at++) {
		if (*at != '\\') {
			text[n++] = *at;
			continue;
		}
		at++;
		if (*at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
			text[n++] = (char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
			at += 2;
		} else {
			text[n++] = *at == 'n' ? '\n' : *at;
		}
	}
	json_text_size(j, text, n);
	alloc_free(text);
}

/* Up to 15 digits, which any double holds. */
static bool put_digits(struct json *j, const char *at, size_t n)
{
	int64_t value = 0;

	if (!n || n > 15)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		value = value * 10 + (at[i] - '0');
	}
	json_int(j, value);
	return true;
}

/* Writes a decimal number if a double holds it exactly. */
static bool put_number(struct json *j, const char *at, const char *end)
{
	char text[40], *rest;
	size_t n = (size_t)(end - at);
	long long whole;

	if (put_digits(j, at, n))
		return true;
	if (!n || n >= sizeof(text) || strspn(at, "+-.0123456789eE") < n || *at == '+' ||
	    *at == 'e' || *at == 'E')
		return false;
	memcpy(text, at, n);
	text[n] = 0;
	errno = 0;
	whole = strtoll(text, &rest, 10);
	if (!*rest) {
		if (errno || whole > MAX_EXACT || whole < -MAX_EXACT)
			return false;
		json_int(j, whole);
		return true;
	}
	double real = strtod(text, &rest);

	if (*rest)
		return false;
	json_double(j, real);
	return true;
}

static void put_array(struct json *j, const char *at, const char *end)
{
	json_array(j);
	for (at++; at < end - 1;) {
		const char *next = at;

		while (next < end - 1 && *next != ',')
			next++;
		if (!put_number(j, at, next))
			json_text_size(j, at, (size_t)(next - at));
		at = next < end - 1 ? next + 1 : next;
	}
	json_array_end(j);
}

static void put_value(struct json *j, const char *at, const char *end)
{
	size_t n = (size_t)(end - at);

	if (*at == '"' && n > 1 && end[-1] == '"')
		put_string(j, at, end);
	else if (*at == '{' && end[-1] == '}')
		put_array(j, at, end);
	else if (n == 4 && memcmp(at, "true", n) == 0)
		json_bool(j, true);
	else if (n == 5 && memcmp(at, "false", n) == 0)
		json_bool(j, false);
	else if (n == 4 && memcmp(at, "NULL", n) == 0)
		json_null(j);
	else if (!put_number(j, at, end))
		json_text_size(j, at, n);
}

static void put_key(struct json *j, const struct call_arg *arg)
{
	char name[CALL_ARGS_NAME];

	memcpy(name, arg->name, arg->name_size);
	name[arg->name_size] = 0;
	json_key(j, name);
}

static bool write_any(struct json *j, const char *text)
{
	struct call_arg arg;

	if (!call_args_is_form(text))
		return false;
	json_object(j);
	while ((text = call_args_next(text, &arg)) != NULL) {
		if (!arg.name_size) { /* the text was cut here */
			json_member_text(j, "...", arg.value);
			break;
		}
		put_key(j, &arg);
		put_value(j, arg.value, arg.value + arg.value_size);
	}
	json_object_end(j);
	return true;
}

/* ---- the same in one pass, for what most arguments are ---- */

enum { IN_NAME = 1, IN_VALUE = 2, IN_NUMBER = 4, IN_INT = 8 };

/* What a byte may be part of as it is: plain ones only, which a string of JSON has without
 * escapes. */
static uint8_t classes[256];

static void make_classes(void)
{
	for (int c = 0x20; c < 0x7f; c++) {
		if (c != '"' && c != '\\')
			classes[c] = IN_VALUE | (strchr("=, {()|", c) ? 0 : IN_NAME);
		if (strchr("+-.0123456789eE", c))
			classes[c] |= IN_NUMBER;
		if (c >= '0' && c <= '9')
			classes[c] |= IN_INT;
	}
}

static inline const char *skip(const char *at, uint8_t class)
{
	while (classes[(unsigned char)*at] & class)
		at++;
	return at;
}

static inline char *copy(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
	return to + n;
}

/* Whether digits are how JSON writes the number. */
static bool is_int(const char *at, const char *end)
{
	return end > at && end - at <= 15 && (*at != '0' || end == at + 1);
}

/* Each of these writes one value and moves `at` to its end; NULL: it is of another kind. */

static char *copy_string(char *to, const char **at, const char *stop)
{
	const char *end = *at + 1;

	end += json_plain(end, (size_t)(stop - end));
	if (*end != '"')
		return NULL;
	to = copy(to, *at, (size_t)(end + 1 - *at));
	*at = end + 1;
	return to;
}

static char *copy_array(char *to, const char **at)
{
	const char *end = *at;

	*to++ = '[';
	do {
		const char *from = end + 1;

		end = skip(from, IN_INT);
		if (!is_int(from, end))
			return NULL;
		to = copy(to, from, (size_t)(end - from));
		*to++ = *end == ',' ? ',' : ']';
	} while (*end == ',');
	*at = end + 1;
	return *end == '}' ? to : NULL;
}

static char *copy_word(char *to, const char **at)
{
	const char *from = *at, *end = from;
	size_t n;

	while ((classes[(unsigned char)*end] & IN_VALUE) && !(end[0] == ',' && end[1] == ' '))
		end++;
	n = (size_t)(end - from);
	*at = end;
	if (is_int(from, end) && skip(from, IN_INT) >= end)
		return copy(to, from, n);
	if (n && (classes[(unsigned char)*from] & IN_NUMBER) && skip(from, IN_NUMBER) >= end)
		return NULL;
	if (n == 4 && memcmp(from, "true", n) == 0)
		return copy(to, from, n);
	if (n == 5 && memcmp(from, "false", n) == 0)
		return copy(to, from, n);
	if (n == 4 && memcmp(from, "NULL", n) == 0)
		return copy(to, "null", n);
	*to++ = '"';
	to = copy(to, from, n);
	*to++ = '"';
	return to;
}

/* Writes all arguments, at most six bytes for each of the text, and a few; NULL: there is one of
 * another kind. */
static char *copy_all(char *to, const char *at, const char *stop)
{
	*to++ = '{';
	for (;;) {
		const char *end = skip(at, IN_NAME);

		if (*end != '=' || end == at || end - at >= CALL_ARGS_NAME)
			return NULL;
		*to++ = '"';
		to = copy(to, at, (size_t)(end - at));
		*to++ = '"';
		*to++ = ':';
		at = end + 1;
		to = *at == '"' ? copy_string(to, &at, stop) :
		     *at == '{' ? copy_array(to, &at) :
				  copy_word(to, &at);
		if (!to || !*at)
			break;
		if (at[0] != ',' || at[1] != ' ')
			return NULL;
		at += 2;
		*to++ = ',';
	}
	if (to)
		*to++ = '}';
	return to;
}

bool trace_event_args_write(struct json *j, const char *text)
{
	size_t size = strlen(text);
	char *from, *end;

	if (size > TRACE_EVENT_SHORT)
		return write_any(j, text);
	if (!classes['a'])
		make_classes();
	json_reserve(j, TRACE_EVENT_SPACE);
	from = j->buf + j->used + (!j->after_key && j->more[j->depth]);
	end = copy_all(from, text, text + size);
	if (!end)
		return write_any(j, text);
	json_raw(j, "", 0); /* the comma */
	j->used += (size_t)(end - from);
	return true;
}

void trace_event_args_put(struct json *j, const char *text)
{
	if (!*text)
		return;
	JSON_KEY(j, "args");
	if (!trace_event_args_write(j, text))
		json_text(j, text);
}
