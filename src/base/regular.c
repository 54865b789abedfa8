/* SPDX-License-Identifier: MIT */
/* regular.c - users' regular expressions
 *
 * Users bring expressions of rocprofv3 (ECMAScript), of Python and Perl. regcomp() takes "\d" as
 * the letter d without a word, so classes are translated before, and what can't be is refused.
 *
 * Threads:  any; no state.
 * Fails:    with the reason; no memory is one.
 */
#include "base/regular.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* The longest text for two characters: "[^[:alnum:]_]" */
#define GROWTH 8

/* Copies of characters that repetitions may need: glibc's regcomp() copies what is repeated, a "+"
 * once, "{1,255}" 255 times, and nested ones multiply: 24 "+" in a row would take gigabytes. */
#define COPIES_MAX 4096
/* "+" and "*" with all copies: it lists for each what can follow without a character, which is
 * every other one of nested ones. A dozen "+" in a row took a second and a gigabyte. */
#define LOOPS_MAX 512

struct translation {
	struct str out;
	char *why;
	bool in_brackets;
};

static const struct escape {
	char letter;
	const char *outside, *inside; /* inside NULL: not possible there */
} escapes[] = {
	{ 'd', "[0-9]", "0-9" },
	{ 'w', "[[:alnum:]_]", "[:alnum:]_" },
	{ 's', "[[:space:]]", "[:space:]" },
	{ 'D', "[^0-9]", NULL },
	{ 'W', "[^[:alnum:]_]", NULL },
	{ 'S', "[^[:space:]]", NULL },
	{ 't', "\t", "\t" },
	{ 'n', "\n", "\n" },
	{ 'r', "\r", "\r" },
	{ 'f', "\f", "\f" },
	{ 'v', "\v", "\v" },
	/* the edge of a word: of the C library's own */
	{ 'b', "\\b", NULL },
	{ 'B', "\\B", NULL },
};

static int refuse(struct translation *t, char letter)
{
	const char name[] = { '\\', letter, 0 };
	struct str s;

	str_init(&s, t->why, REGULAR_ERROR_SIZE);
	str_add(&s, name);
	str_add(&s, t->in_brackets ? " is not possible within brackets" :
				     " has no meaning here; \\d \\w \\s \\D \\W \\S \\b \\B \\t "
				     "\\n \\r \\f \\v have");
	return -EINVAL;
}

static int put_escape(struct translation *t, char letter)
{
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		const struct escape *e = &escapes[i];

		if (e->letter != letter)
			continue;
		if (t->in_brackets && !e->inside)
			return refuse(t, letter);
		str_add(&t->out, t->in_brackets ? e->inside : e->outside);
		return 0;
	}
	return refuse(t, letter);
}

/* "[:alpha:]", "[.-.]" and "[=a=]" within brackets: the size, or 0. */
static size_t class_size(const char *at)
{
	const char *end;

	if (at[0] != '[' || !at[1] || !strchr(":.=", at[1]))
		return 0;
	end = strchr(at + 2, at[1]);
	return end && end[1] == ']' ? (size_t)(end + 2 - at) : 0;
}

static int translate(struct translation *t, const char *text)
{
	const char *first = NULL; /* where a ']' stands for itself */

	for (const char *at = text; *at;) {
		size_t size = t->in_brackets ? class_size(at) : 0;

		if (*at == '\\' && isalpha((unsigned char)at[1])) {
			int ret = put_escape(t, at[1]);

			if (ret)
				return ret;
			at += 2;
			continue;
		}
		if (!size)
			size = *at == '\\' && at[1] && !t->in_brackets ? 2 : 1;
		if (t->in_brackets && *at == ']' && at != first) {
			t->in_brackets = false;
		} else if (!t->in_brackets && *at == '[') {
			t->in_brackets = true;
			first = at + 1 + (at[1] == '^');
		}
		str_add_n(&t->out, at, size);
		at += size;
	}
	return 0;
}

/* The end of the bracket expression at `at`: its "]", or the text's last character. */
static const char *bracket_end(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	if (*at == ']')
		at++;
	while (*at && *at != ']')
		at += class_size(at) ? class_size(at) : 1;
	return *at ? at : at - 1;
}

/* How often "{n}", "{n,}" or "{n,m}" repeats what is in front of it; 1 for another text. */
static uint32_t times_of(const char *at)
{
	char *end;
	unsigned long least = strtoul(at + 1, &end, 10), most = least;

	if (*end == ',' && end[1] != '}')
		most = strtoul(end + 1, &end, 10);
	else if (*end == ',')
		most = least + 1;
	return most > 1 ? (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX) : 1;
}

/* Of a part of an expression, with copies: characters, and repetitions without an end. */
struct amount {
	uint64_t nodes, loops;
};

static void repeat(struct amount *all, struct amount *last, uint64_t times)
{
	all->nodes += last->nodes * (times - 1);
	all->loops += last->loops * (times - 1);
	last->nodes *= times;
	last->loops *= times;
}

/* Whether the copies of all repetitions are few enough. `open` has space for an amount for each
 * "(". */
static bool is_small(const char *at, struct amount *open)
{
	struct amount all = { 0 }, last = { 0 };
	uint64_t copies = 0, times;
	size_t depth = 0;

	for (; *at; at++) {
		times = *at == '+' ? 2 : *at == '{' ? times_of(at) : 1;
		copies += last.nodes * (times - 1);
		repeat(&all, &last, times);
		if (*at == '+' || *at == '*') {
			all.loops++;
			last.loops++;
		}
		if (copies > COPIES_MAX || all.loops > LOOPS_MAX)
			return false;
		if (*at == '(') {
			open[depth++] = all;
			all = last = (struct amount){ 0 };
		} else if (*at == ')' && depth) {
			last = (struct amount){ all.nodes + 1, all.loops };
			depth--;
			all.nodes = open[depth].nodes + last.nodes;
			all.loops = open[depth].loops + last.loops;
		} else if (*at == '|') {
			last = (struct amount){ 0 };
		} else if (!strchr("+*?{", *at)) {
			if (*at == '[')
				at = bracket_end(at);
			else if (*at == '\\' && at[1])
				at++;
			last = (struct amount){ .nodes = 1 };
			all.nodes++;
		}
	}
	return true;
}

static int check_size(struct translation *t, const char *posix)
{
	struct amount *open = alloc_heap((strlen(posix) + 1) * sizeof(*open));
	bool small;
	struct str s;

	str_init(&s, t->why, REGULAR_ERROR_SIZE);
	if (!open) {
		str_add(&s, "there is no memory");
		return -ENOMEM;
	}
	small = is_small(posix, open);
	alloc_free(open);
	if (!small)
		str_add(&s, "its repetitions, such as + and {n}, are too many within each other");
	return small ? 0 : -EINVAL;
}

int regular_compile(const char *text, regex_t *out, char why[REGULAR_ERROR_SIZE])
{
	size_t size = strlen(text) * GROWTH + 1;
	char *posix = alloc_heap(size);
	struct translation t = { .why = why };
	int ret;

	why[0] = '\0';
	if (!posix) {
		str_init(&t.out, why, REGULAR_ERROR_SIZE);
		str_add(&t.out, "there is no memory");
		return -ENOMEM;
	}
	str_init(&t.out, posix, size);
	ret = translate(&t, text);
	if (ret == 0)
		ret = check_size(&t, posix);
	if (ret == 0) {
		int err = regcomp(out, posix, REG_EXTENDED | REG_NOSUB);

		if (err)
			regerror(err, out, why, REGULAR_ERROR_SIZE);
		ret = err == REG_ESPACE ? -ENOMEM : err ? -EINVAL : 0;
	}
	alloc_free(posix);
	return ret;
}
