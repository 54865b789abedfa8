/* SPDX-License-Identifier: MIT */
/* rocprofv3_keys.c - parts of names of files that rocprofv3 alone has: %tag%, %argv%, %launch_time%
 * and their like
 *
 * Written %key% or {key}. Others stay as they are, for base/pattern.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "export/rocprofv3/rocprofv3_internal.h"

#define WORD_SIZE 512

/* Takes the next word of a command line as `rtl` records it: those with blanks are in single
 * quotes. False: there is none. */
static bool next_word(const char **at, char word[WORD_SIZE])
{
	bool quoted = false;
	size_t n = 0;

	*at += strspn(*at, " ");
	if (!**at)
		return false;
	for (; **at && (quoted || **at != ' '); ++*at) {
		if (**at == '\'')
			quoted = !quoted;
		else if (n + 1 < WORD_SIZE)
			word[n++] = **at;
	}
	word[n] = 0;
	return true;
}

/* A word as a part of a name: without blanks around it, '/' is '_', no dots and underscores at its
 * begin. */
static void put_word(struct str *s, const char *word)
{
	size_t n;

	word += strspn(word, " \t\n");
	for (n = strlen(word); n && isspace((unsigned char)word[n - 1]); n--)
		;
	while (n && *word == '.') {
		word++;
		n--;
	}
	while (n && (*word == '_' || *word == '/')) {
		word++;
		n--;
	}
	for (; n; n--, word++)
		str_add_n(s, *word == '/' ? "_" : word, 1);
}

/* Words first to last of the command. */
static void put_words(struct str *s, const char *command, unsigned int first, unsigned int last)
{
	char word[WORD_SIZE];
	bool any = false;

	for (unsigned int i = 0; i <= last && next_word(&command, word); i++) {
		if (i < first)
			continue;
		if (any)
			str_add(s, "_");
		put_word(s, word);
		any = true;
	}
}

static void put_tag(struct str *s, const char *command)
{
	char word[WORD_SIZE] = "";
	const char *slash;

	next_word(&command, word);
	slash = strrchr(word, '/');
	str_add(s, slash ? slash + 1 : word);
}

/* A format that yields more than `text` holds, or nothing, adds nothing. It may be the user's:
 * strftime() takes no arguments from it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_time(struct str *s, int64_t seconds, const char *format)
{
	time_t when = (time_t)seconds;
	char text[256];
	struct tm tm;

	if (localtime_r(&when, &tm) && strftime(text, sizeof(text), format, &tm))
		str_add(s, text);
}
#pragma GCC diagnostic pop

static bool put_key(struct str *s, const char *key, const struct rocprofv3_facts *f)
{
	if (strcmp(key, "tag") == 0)
		put_tag(s, f->command);
	else if (strcmp(key, "argv") == 0)
		put_words(s, f->command, 0, UINT32_MAX);
	else if (strcmp(key, "args") == 0)
		put_words(s, f->command, 1, UINT32_MAX);
	else if (strcmp(key, "cwd") == 0)
		str_add(s, f->cwd);
	else if (strcmp(key, "launch_date") == 0)
		put_time(s, f->launched, f->date_format);
	else if (strcmp(key, "launch_time") == 0)
		put_time(s, f->launched, f->time_format);
	else if (strncmp(key, "arg", 3) == 0 && isdigit((unsigned char)key[3]) &&
		 strspn(key + 3, "0123456789") == strlen(key + 3) && strlen(key) < 8) {
		unsigned int number = (unsigned int)strtoul(key + 3, NULL, 10);

		put_words(s, f->command, number, number);
	} else if (strcmp(key, "argt") == 0) {
		put_tag(s, f->command);
		put_words(s, f->command, 1, UINT32_MAX);
	} else
		return false;
	return true;
}

int rocprofv3_keys_expand(char *out, size_t size, const char *pattern,
			  const struct rocprofv3_facts *f)
{
	struct str s;

	str_init(&s, out, size);
	for (const char *at = pattern; *at;) {
		char close = *at == '%' ? '%' : '}', key[16] = "";
		/* %env{VAR}% and %q{VAR} have braces of their own */
		bool is_brace = *at == '{' && (at == pattern || !strchr("vq", at[-1]));
		const char *end = *at == '%' || is_brace ? strchr(at + 1, close) : NULL;

		if (end && (size_t)(end - at - 1) < sizeof(key))
			memcpy(key, at + 1, (size_t)(end - at - 1));
		if (*key && put_key(&s, key, f)) {
			at = end + 1;
			continue;
		}
		str_add_n(&s, at++, 1);
	}
	return s.cut ? -1 : 0;
}
