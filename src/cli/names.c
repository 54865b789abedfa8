/* SPDX-License-Identifier: MIT */
/* names.c - shorter names of kernels that still differ
 *
 * Fails:    out of memory ends the process (ui_die_memory).
 */
#include "cli/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"

enum { MAX_ARGS = 64, MIN_WIDTH = 12, MAX_COMPARED = 1000 };

struct part {
	const char *at;
	size_t size;
};

/* The parts of a name; sizes are 0 where it has none. */
struct parts {
	struct part scope, base; /* "a::b::", "f" */
	struct part args[MAX_ARGS];
	size_t nr_args;
	struct part params; /* "(float*)" and what is behind */
	bool whole;	    /* not understood: the base is the name */
};

static const char anonymous[] = "(anonymous namespace)";

/* Behind the bracket that closes the one at `at`; NULL: there is none. */
static const char *skip_brackets(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '<' || *at == '(' || *at == '[' || *at == '{')
			depth++;
		/* "->" is no bracket */
		else if ((*at == '>' && at[-1] != '-') || *at == ')' || *at == ']' || *at == '}')
			if (--depth == 0)
				return at + 1;
	}
	return NULL;
}

static void split_args(struct parts *p, const char *begin, const char *end)
{
	const char *from = begin;

	for (const char *at = begin; at <= end; at++) {
		if (at < end && strchr("<([{", *at)) {
			const char *behind = skip_brackets(at);

			if (!behind || behind > end)
				break;
			at = behind - 1;
		} else if ((at == end || *at == ',') && p->nr_args < MAX_ARGS) {
			while (from < at && *from == ' ')
				from++;
			p->args[p->nr_args++] = (struct part){ from, (size_t)(at - from) };
			from = at + 1;
		}
	}
}

/* Fills `p`; it points into the name. */
static void parse_name(const char *name, struct parts *p)
{
	const char *base = name, *scope = name, *args = NULL, *args_end = NULL, *at = name;

	memset(p, 0, sizeof(*p));
	p->whole = strstr(name, "operator") != NULL || !*name;
	while (*at && !p->whole) {
		if (strncmp(at, anonymous, sizeof(anonymous) - 1) == 0) {
			at += sizeof(anonymous) - 1;
		} else if (*at == ':' && at[1] == ':') {
			at += 2;
			base = at;
			args = NULL;
		} else if (*at == ' ') {
			at++;
			base = scope = at;
			args = NULL;
		} else if (*at == '<' || *at == '{') {
			const char *behind = skip_brackets(at);

			p->whole = !behind;
			args = *at == '<' ? at + 1 : args;
			args_end = behind ? behind - 1 : NULL;
			at = behind;
		} else if (*at == '(') {
			const char *behind = skip_brackets(at);

			/* a function in a function */
			if (behind && behind[0] == ':' && behind[1] == ':') {
				at = behind;
				continue;
			}
			break;
		} else {
			at++;
		}
		if (!at)
			break;
	}
	if (p->whole) {
		p->base = (struct part){ name, strlen(name) };
		return;
	}
	p->scope = (struct part){ scope, (size_t)(base - scope) };
	p->base = (struct part){ base, (size_t)((args ? args - 1 : at) - base) };
	p->params = (struct part){ at, strlen(at) };
	if (args)
		split_args(p, args, args_end);
}

static bool same_part(struct part a, struct part b)
{
	return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

struct text {
	char *at;
	size_t size;
};

static void put(struct text *t, const char *from, size_t size)
{
	t->at = realloc(t->at, t->size + size + 1);
	if (!t->at)
		ui_die_memory();
	memcpy(t->at + t->size, from, size);
	t->size += size;
	t->at[t->size] = 0;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Without scopes: "a::b<c::d>" as "b<d>". */
static void put_plain(struct text *t, struct part p)
{
	for (size_t i = 0; i < p.size;) {
		size_t n = 0;

		while (i + n < p.size && is_word(p.at[i + n]))
			n++;
		if (n && i + n + 1 < p.size && p.at[i + n] == ':' && p.at[i + n + 1] == ':') {
			i += n + 2;
			continue;
		}
		n = n ? n : 1;
		put(t, p.at + i, n);
		i += n;
	}
}

/* What the short form has beside the base. */
struct extra {
	bool scope, params, args;
};

/* differs: bit n: the n-th argument is not that of all names of the function. */
static char *short_form(const struct parts *p, uint64_t differs, const struct extra *with)
{
	struct text t = { 0 };
	bool left_out = false;

	if (with->scope)
		put(&t, p->scope.at, p->scope.size);
	put(&t, p->base.at, p->base.size);
	for (size_t i = 0; i < p->nr_args; i++) {
		bool shown = with->args || differs >> i & 1;

		if (!i)
			put(&t, "<", 1);
		else if (shown || !left_out)
			put(&t, ", ", 2);
		if (!shown && !left_out)
			put(&t, "...", 3);
		left_out = !shown;
		if (with->args)
			put(&t, p->args[i].at, p->args[i].size);
		else if (shown)
			put_plain(&t, p->args[i]);
	}
	if (p->nr_args)
		put(&t, ">", 1);
	if (with->params)
		put(&t, p->params.at, p->params.size);
	if (!t.at)
		put(&t, "", 0);
	return t.at;
}

/* Bits of the arguments in which names with this base differ. */
static uint64_t find_differences(const struct parts *all, size_t nr, size_t own)
{
	const struct parts *p = &all[own];
	uint64_t differs = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct parts *o = &all[i];

		if (i == own || !same_part(o->base, p->base))
			continue;
		for (size_t a = 0; a < p->nr_args; a++)
			if (a >= o->nr_args || o->nr_args != p->nr_args ||
			    !same_part(o->args[a], p->args[a]))
				differs |= UINT64_C(1) << a;
	}
	return differs;
}

/* The short forms; those that would be the same get their scope, then their parameters, then
 * all. */
static char **short_forms(const char *const *names, const struct parts *all, size_t nr)
{
	char **texts = calloc(nr + 1, sizeof(*texts));
	struct extra *with = calloc(nr + 1, sizeof(*with));
	uint64_t *differs = calloc(nr + 1, sizeof(*differs));

	if (!texts || !with || !differs)
		ui_die_memory();
	for (size_t i = 0; i < nr; i++) {
		differs[i] = find_differences(all, nr, i);
		texts[i] = short_form(&all[i], differs[i], &with[i]);
	}
	for (int step = 0; step < 3; step++) {
		bool *same = calloc(nr + 1, sizeof(*same));

		if (!same)
			ui_die_memory();
		for (size_t i = 0; i < nr; i++)
			for (size_t j = i + 1; j < nr; j++)
				if (strcmp(texts[i], texts[j]) == 0 &&
				    strcmp(names[i], names[j]) != 0)
					same[i] = same[j] = true;
		for (size_t i = 0; i < nr; i++) {
			if (!same[i])
				continue;
			with[i] = (struct extra){ .scope = true, .params = step > 0 };
			free(texts[i]);
			texts[i] = step < 2 ? short_form(&all[i], differs[i], &with[i]) :
					      ui_format("%s", names[i]);
		}
		free(same);
	}
	free(with);
	free(differs);
	return texts;
}

/* Bytes that two texts have in common at their begin. */
static size_t common_begin(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* A byte at which a UTF-8 sequence begins, not behind `at`. */
static size_t sequence_begin(const char *text, size_t at)
{
	while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* "head...middle...": from where the text differs from the one that is most like it. */
static char *cut_middle(const char *text, size_t from, size_t width)
{
	size_t size = strlen(text), head, middle;

	if (width < MIN_WIDTH)
		width = MIN_WIDTH;
	if (size <= width)
		return ui_format("%s", text);
	if (from <= width - 8) /* the begin shows it */
		return ui_format("%.*s...", (int)sequence_begin(text, width - 3), text);
	head = sequence_begin(text, (width - 6) / 3);
	middle = width - 6 - head;
	from = from > 2 ? from - 2 : 0;
	if (size - from <= middle + 3) {
		from = size - middle - 3;
		while (((unsigned char)text[from] & 0xc0) == 0x80)
			from++;
		return ui_format("%.*s...%s", (int)head, text, text + from);
	}
	from = sequence_begin(text, from);
	middle = sequence_begin(text + from, middle);
	return ui_format("%.*s...%.*s...", (int)head, text, (int)middle, text + from);
}

static size_t most_common(char *const *texts, size_t nr, size_t own)
{
	size_t most = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t n = i == own ? 0 : common_begin(texts[own], texts[i]);

		if (n > most && strcmp(texts[own], texts[i]) != 0)
			most = n;
	}
	return most;
}

/* What differs in no other way gets a number. */
static void number_same(const char *const *names, char **texts, size_t nr, size_t width)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned int number = 1;

		for (size_t j = i + 1; j < nr; j++) {
			size_t keep = strlen(texts[j]);
			char *text;

			if (strcmp(texts[i], texts[j]) != 0 || strcmp(names[i], names[j]) == 0)
				continue;
			if (keep + 4 > width)
				keep = sequence_begin(texts[j], width > 4 ? width - 4 : 0);
			text = ui_format("%.*s #%u", (int)keep, texts[j], ++number);
			free(texts[j]);
			texts[j] = text;
		}
	}
}

static struct parts *parse_all(const char *const *names, size_t nr)
{
	struct parts *all = calloc(nr + 1, sizeof(*all));

	if (!all)
		ui_die_memory();
	for (size_t i = 0; i < nr; i++)
		parse_name(names[i], &all[i]);
	return all;
}

static char *medium_form(const struct parts *p)
{
	return short_form(p, 0, &(struct extra){ .scope = true, .args = true });
}

/* More names than anyone compares: each for itself, without the work of comparing all with all. */
static char **make_many(const char *const *names, size_t nr, enum names_form form, size_t width)
{
	char **texts = calloc(nr + 1, sizeof(*texts));

	if (!texts)
		ui_die_memory();
	for (size_t i = 0; i < nr; i++) {
		struct parts parts;
		char *text;

		parse_name(names[i], &parts);
		text = form == NAMES_SHORT || form == NAMES_MEDIUM ? medium_form(&parts) :
								     ui_format("%s", names[i]);
		texts[i] = width ? cut_middle(text, 0, width) : text;
		if (width)
			free(text);
	}
	return texts;
}

char **names_make(const char *const *names, size_t nr, enum names_form form, size_t width)
{
	struct parts *all;
	char **texts;

	if (nr > MAX_COMPARED)
		return make_many(names, nr, form, width);
	all = parse_all(names, nr);
	texts = short_forms(names, all, nr);
	for (size_t i = 0; i < nr; i++) {
		size_t full = strlen(names[i]);
		char *medium = medium_form(&all[i]), *text = NULL;
		bool is_auto = form == NAMES_AUTO;

		if (form >= NAMES_FULL || (is_auto && (!width || full <= width)))
			text = ui_format("%s", names[i]);
		else if (form == NAMES_MEDIUM || (is_auto && strlen(medium) <= width))
			text = ui_format("%s", medium);
		free(medium);
		if (text) {
			free(texts[i]);
			texts[i] = text;
		}
	}
	/* parameters alone tell them apart */
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < nr; j++)
			if (i != j && strcmp(texts[i], texts[j]) == 0 &&
			    strcmp(names[i], names[j]) != 0) {
				free(texts[i]);
				texts[i] = ui_format("%s", names[i]);
			}
	if (width) {
		char **cut = calloc(nr + 1, sizeof(*cut));

		if (!cut)
			ui_die_memory();
		for (size_t i = 0; i < nr; i++)
			cut[i] = cut_middle(texts[i], most_common(texts, nr, i), width);
		names_free(texts, nr);
		texts = cut;
		number_same(names, texts, nr, width);
	}
	free(all);
	return texts;
}

void names_free(char **texts, size_t nr)
{
	for (size_t i = 0; texts && i < nr; i++)
		free(texts[i]);
	free(texts);
}

size_t names_width(const char *const *names, size_t nr)
{
	struct parts *all;
	size_t longest = 0;
	char **texts;

	if (nr > MAX_COMPARED)
		return 60;
	all = parse_all(names, nr);
	texts = short_forms(names, all, nr);

	for (size_t i = 0; i < nr; i++)
		if (strlen(texts[i]) > longest)
			longest = strlen(texts[i]);
	names_free(texts, nr);
	free(all);
	return longest;
}
