/* SPDX-License-Identifier: MIT */
/* call_args.c - splits the text of a call's arguments */
#include "export/call_args.h"

#include <string.h>

/* Whether the text ends in "...", so it was cut. */
static bool is_cut(const char *text)
{
	size_t n = strlen(text);

	return n >= 3 && strcmp(text + n - 3, "...") == 0;
}

/* The end of the value at `at`: at ", " or the end of the text. NULL: a string that does not
 * end. */
static const char *value_end(const char *at)
{
	const char *start = at;

	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			if (*at == '\\' && at[1])
				at++;
		if (*at)
			return at + 1;
	} else if (*at == '{') {
		const char *end = strchr(at, '}');

		if (end)
			return end + 1;
	} else {
		while (*at && !(at[0] == ',' && at[1] == ' '))
			at++;
		return at;
	}
	return is_cut(start) ? start + strlen(start) : NULL;
}

static const bool name_ends[256] = {
	[0] = true,   ['='] = true, [','] = true, [' '] = true, ['"'] = true,
	['{'] = true, ['('] = true, [')'] = true, ['|'] = true
};

/* "name=" in front of a value; NULL: something else. */
static const char *name_end(const char *at)
{
	const char *start = at;

	while (!name_ends[(unsigned char)*at])
		at++;
	return *at == '=' && at > start && at - start < CALL_ARGS_NAME ? at : NULL;
}

bool call_args_is_form(const char *text)
{
	bool any = false;

	for (;; text += 2) {
		const char *at = name_end(text);

		if (!at)
			return any && is_cut(text);
		any = true;
		text = value_end(at + 1);
		if (!text || !*text)
			return text != NULL;
		if (text[0] != ',' || text[1] != ' ')
			return false;
	}
}

const char *call_args_next(const char *text, struct call_arg *out)
{
	const char *at = *text ? name_end(text) : NULL, *end;

	*out = (struct call_arg){ .value = text, .value_size = strlen(text) };
	if (!at)
		return *text ? text + out->value_size : NULL;
	out->name = text;
	out->name_size = (size_t)(at - text);
	out->value = at + 1;
	end = value_end(out->value);
	if (!end)
		end = out->value + strlen(out->value);
	out->value_size = (size_t)(end - out->value);
	return *end ? end + 2 : end;
}

bool call_args_find(const char *text, const char *name, struct call_arg *out)
{
	size_t size = strlen(name);

	if (!call_args_is_form(text))
		return false;
	while ((text = call_args_next(text, out)) != NULL)
		if (out->name_size == size && memcmp(out->name, name, size) == 0)
			return true;
	return false;
}
