/* SPDX-License-Identifier: MIT */
/* chrome_trace_args.c - the arguments of a call as JSON, from their text in the database
 *
 * Numbers become numbers, {x,y,z} an array, quoted strings unescaped strings, and all other values
 * (pointers, enumerators) strings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/call_args.h"
#include "export/chrome_trace/chrome_trace_internal.h"
#include "store/args.h"

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

bool chrome_trace_args_write(struct json *j, const char *text)
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

void chrome_trace_args_put(struct json *j, const char *text)
{
	if (!*text)
		return;
	JSON_KEY(j, "args");
	if (!chrome_trace_args_write(j, text))
		json_text(j, text);
}

void chrome_trace_args_status(struct json *j, const char *function, int64_t status)
{
	const char *error;

	CHROME_TRACE_NUMBER(j, "status", status);
	if (!status)
		return;
	error = args_enum(strncmp(function, "hsa_", 4) == 0 ? "hsa_status_t" : "hipError_t",
			  (uint64_t)status);
	CHROME_TRACE_TEXT(j, "error", error ? error : "unknown");
}
