/* SPDX-License-Identifier: MIT */
/* opts.c - the parser of command lines, and --help
 *
 * Not here: manual pages and completions (docgen.c).
 */
#include "cli/opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/capture.h"
#include "base/env.h"
#include "cli/others.h"
#include "cli/ui.h"

__attribute__((format(printf, 2, 3))) static int fail_parse(char *error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, OPTS_ERROR_SIZE, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

#define WORD_MAX 40

/* Number of letters to change, remove, add or swap to turn b into a; stops beyond limit. */
static unsigned int edit_distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int rows[3][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return limit + 1;
	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[na % 3][nb];
}

const char *opts_suggest(const char *word, const char *const *names)
{
	/* two letters of a short word are too much of it: "nope" is not "top" */
	unsigned int limit = strlen(word) <= 5 ? 1 : 2, best = limit + 1;
	const char *found = NULL;

	for (; *names; names++) {
		unsigned int d = edit_distance(word, *names, limit);

		if (d < best) {
			best = d;
			found = *names;
		}
	}
	return found;
}

/* The long name that the word abbreviates, if there is exactly one: `--progress` for `--prog`. */
static const char *suggest_option(const struct command *cmd, const char *word)
{
	const char *names[OPTS_MAX + 2];
	const char *begins = NULL;
	size_t n = 0, nr_begins = 0;

	for (size_t i = 0; i < cmd->nr_opts; i++) {
		names[n++] = cmd->opts[i].name;
		if (strlen(word) >= 2 && strncmp(cmd->opts[i].name, word, strlen(word)) == 0) {
			begins = cmd->opts[i].name;
			nr_begins++;
		}
	}
	names[n++] = "help";
	names[n] = NULL;
	return nr_begins == 1 ? begins : opts_suggest(word, names);
}

/* The index of text in "a|b|c", or -1. */
static int find_choice(const char *choices, const char *text)
{
	size_t len = strlen(text);

	for (int i = 0;; i++) {
		size_t n = strcspn(choices, "|");

		if (n == len && memcmp(choices, text, n) == 0)
			return i;
		if (!choices[n])
			return -1;
		choices += n + 1;
	}
}

int opts_next_choice(const char *choices, const char **text)
{
	size_t n = strcspn(*text, ",");
	char word[WORD_MAX + 1];

	if (n > WORD_MAX)
		return -1;
	memcpy(word, *text, n);
	word[n] = 0;
	*text += n + ((*text)[n] == ',');
	return find_choice(choices, word);
}

/* The first of several choices; -1: one of them is unknown, *wrong. */
static int find_choices(const char *choices, const char *text, const char **wrong)
{
	const char *at = text;
	int first = -1;

	do {
		int choice;

		*wrong = at;
		choice = opts_next_choice(choices, &at);
		if (choice < 0)
			return -1;
		first = first < 0 ? choice : first;
	} while (*at);
	return first;
}

/* "; did you mean api?", if one of the choices is like the word. */
static const char *suggest_choice(const char *choices, const char *word, char buf[96])
{
	char copy[512], *save = NULL;
	const char *names[OPTS_MAX + 1], *name;
	size_t n = 0;

	buf[0] = 0;
	if (strlen(choices) >= sizeof(copy))
		return buf;
	snprintf(copy, sizeof(copy), "%s", choices);
	for (char *at = strtok_r(copy, "|", &save); at && n < OPTS_MAX;
	     at = strtok_r(NULL, "|", &save))
		names[n++] = at;
	names[n] = NULL;
	name = opts_suggest(word, names);
	if (name)
		snprintf(buf, 96, "; did you mean %.60s?", name);
	return buf;
}

/* A time with a unit, 10s or 500ms, for an option that counts SECONDS or MS: as many of these,
 * which have to be whole. */
static bool is_time(const struct opt *opt, const char *text, uint64_t *num)
{
	uint64_t unit = strcmp(opt->arg, "SECONDS") == 0 ? 1000000000u :
			strcmp(opt->arg, "MS") == 0	 ? 1000000u :
							   0;
	char error[CAPTURE_ERROR_SIZE];
	uint64_t ns;

	if (!unit || capture_time(text, &ns, error) || ns % unit)
		return false;
	*num = ns / unit;
	return true;
}

static int set_uint(const struct opt *opt, struct opt_value *v, const char *text, char *error)
{
	uint64_t min = 0, max = UINT64_MAX;
	unsigned long long num;
	char *end;

	if (opt->choices) {
		min = strtoull(opt->choices, &end, 10);
		max = strtoull(end + 2, NULL, 10); /* behind ".." */
	}
	if (is_time(opt, text, &v->num)) {
		if (v->num >= min && v->num <= max)
			return 0;
		return fail_parse(error, "--%s: '%.80s' is not from %s %s", opt->name, text,
				  opt->choices, opt->arg);
	}
	errno = 0;
	num = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || num < min || num > max) {
		if (opt->choices)
			return fail_parse(error, "--%s: '%.80s' is not a number from %s", opt->name,
					  text, opt->choices);
		return fail_parse(error, "--%s: '%.80s' is not a number", opt->name, text);
	}
	v->num = num;
	return 0;
}

static int set_value(const struct opt *opt, struct opt_value *v, const char *text, char *error)
{
	char word[WORD_MAX + 1], like[96];
	const char *why, *wrong = text;
	int choice;

	v->count++;
	v->text = text;
	v->nr_more = 0;
	if (!text)
		return 0;
	switch (opt->type) {
	case OPT_UINT:
		return set_uint(opt, v, text, error);
	case OPT_CHOICE:
		choice = opt->several ? find_choices(opt->choices, text, &wrong) :
					find_choice(opt->choices, text);
		why = choice < 0 && opt->why_not ? opt->why_not(text) : NULL;
		if (why)
			return fail_parse(error, "--%s: %s", opt->name, why);
		snprintf(word, sizeof(word), "%.*s",
			 (int)(opt->several ? strcspn(wrong, ",") : strlen(wrong)), wrong);
		if (choice < 0)
			return fail_parse(error, "--%s: '%.40s' is not one of %s%s", opt->name,
					  word, opt->choices,
					  suggest_choice(opt->choices, word, like));
		v->num = (uint64_t)choice;
		return 0;
	case OPT_FILE:
	case OPT_DIR:
	case OPT_TEXT:
		if (!*text)
			return fail_parse(error, "--%s: the %s is empty", opt->name, opt->arg);
		why = opt->type == OPT_TEXT && opt->why_not ? opt->why_not(text) : NULL;
		if (why)
			return fail_parse(error, "--%s: %s", opt->name, why);
		return 0;
	case OPT_FLAG:
		break;
	}
	return 0;
}

static int fail_unknown(const struct command *cmd, const char *shown, const char *word, char *error)
{
	const char *ours = others_option(cmd, shown), *name;

	if (ours)
		return fail_parse(error, "%.80s: unknown option; %s", shown, ours);
	name = suggest_option(cmd, word);
	if (name)
		return fail_parse(error, "%.80s: unknown option; did you mean --%s?", shown, name);
	return fail_parse(error, "%.80s: unknown option; 'rtl %s --help' lists what there is",
			  shown, cmd->name);
}

/* Parses "--name" or "--name=value" at argv[*at]; advances *at if the value is the next
 * argument. */
static int parse_long(const struct command *cmd, int argc, char **argv, int *at,
		      struct opt_parsed *out, char *error)
{
	const char *arg = argv[*at] + 2, *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	char word[WORD_MAX + 1];

	if (len == 4 && memcmp(arg, "help", 4) == 0 && !equals) {
		out->help = true;
		return 0;
	}
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		const struct opt *opt = &cmd->opts[i];
		const char *value = equals ? equals + 1 : NULL;

		if (strlen(opt->name) != len || memcmp(opt->name, arg, len) != 0)
			continue;
		if (opt->type == OPT_FLAG && value)
			return fail_parse(error, "--%s: takes no value ('%.80s' given)", opt->name,
					  value);
		/* `--virtual-gpu 8 ./app`: a number is no command */
		if (opt->optional && opt->type == OPT_UINT && !value && *at + 1 < argc &&
		    argv[*at + 1][0] && !argv[*at + 1][strspn(argv[*at + 1], "0123456789")])
			value = argv[++*at];
		if (opt->type != OPT_FLAG && !opt->optional && !value) {
			if (*at + 1 >= argc)
				return fail_parse(error, "--%s: a value is missing: --%s=%s",
						  opt->name, opt->name, opt->arg);
			value = argv[++*at];
		}
		return set_value(opt, &out->values[i], value, error);
	}
	snprintf(word, sizeof(word), "%.*s", len > WORD_MAX ? WORD_MAX : (int)len, arg);
	return fail_unknown(cmd, argv[*at], word, error);
}

static bool is_long_name(const struct command *cmd, const char *word)
{
	for (size_t i = 0; i < cmd->nr_opts; i++)
		if (strlen(word) > 2 && strcmp(cmd->opts[i].name, word) == 0)
			return true;
	return false;
}

/* Parses "-x", "-xVALUE" or "-xyz". */
static int parse_short(const struct command *cmd, int argc, char **argv, int *at,
		       struct opt_parsed *out, char *error)
{
	/* -output would be -o with the value utput */
	if (is_long_name(cmd, argv[*at] + 1))
		return fail_unknown(cmd, argv[*at], argv[*at] + 1, error);
	for (const char *c = argv[*at] + 1; *c; c++) {
		const struct opt *opt = NULL;
		size_t i;
		int err;

		for (i = 0; i < cmd->nr_opts && !opt; i++)
			if (cmd->opts[i].letter == *c)
				opt = &cmd->opts[i];
		if (!opt && *c == 'h') {
			out->help = true;
			continue;
		}
		for (size_t o = 0; o < cmd->nr_opts && !opt; o++)
			if (cmd->opts[o].was == *c)
				return fail_parse(
					error,
					"-%c: is --%s here: it has no letter, because -%c is the format of an "
					"output elsewhere",
					*c, cmd->opts[o].name, *c);
		if (!opt) /* the user may have meant "--output" */
			return fail_unknown(cmd, argv[*at], argv[*at] + 1, error);
		i--;
		if (opt->type == OPT_FLAG || opt->optional) {
			err = set_value(opt, &out->values[i], NULL, error);
			if (err)
				return err;
			continue;
		}
		if (c[1]) {
			err = set_value(opt, &out->values[i], c + 1, error);
			/* -mode lite */
			return err && strlen(c) > 2 && suggest_option(cmd, argv[*at] + 1) ?
				       fail_unknown(cmd, argv[*at], argv[*at] + 1, error) :
				       err;
		}
		if (*at + 1 >= argc)
			return fail_parse(error, "-%c: a value is missing: -%c %s", *c, *c,
					  opt->arg);
		return set_value(opt, &out->values[i], argv[++*at], error);
	}
	return 0;
}

/* A word that is no option, in a command of lists: a value of the option before it. */
static int add_word(const struct command *cmd, char **word, struct opt_parsed *out, int last,
		    char *error)
{
	struct opt_value *v = last < 0 ? NULL : &out->values[last];

	if (v && cmd->opts[last].type != OPT_FLAG && !v->text) {
		v->count--;
		return set_value(&cmd->opts[last], v, *word, error);
	}
	if (v && cmd->opts[last].list) {
		v->more = v->nr_more ? v->more : word;
		v->nr_more++;
		return 0;
	}
	return fail_parse(
		error, "'%.80s': is no value of an option; the command begins behind --: rtl %s %s",
		*word, cmd->name, cmd->usage);
}

/* The option that an argument in front of argv[at] has set; -1: none. */
static int last_option(const struct command *cmd, const unsigned int *before,
		       const struct opt_parsed *out, int last)
{
	for (size_t i = 0; i < cmd->nr_opts; i++)
		if (out->values[i].count != before[i])
			return (int)i;
	return last;
}

static int check_operands(const struct command *cmd, const struct opt_parsed *out, char *error)
{
	if (out->help)
		return 0;
	if (out->nr_operands < cmd->min_operands)
		return fail_parse(error, "%s is missing; usage: rtl %s %s",
				  cmd->child ? "the command to run" : cmd->operands, cmd->name,
				  cmd->usage);
	if (cmd->max_operands >= 0 && out->nr_operands > cmd->max_operands)
		return fail_parse(error, "'%.80s': one operand too many; usage: rtl %s %s",
				  out->operands[cmd->max_operands], cmd->name, cmd->usage);
	return 0;
}

bool opts_is_public(const struct opt_value *v)
{
	return v->count > 0 || env_bool(ENV_PUBLIC);
}

int opts_parse(const struct command *cmd, int argc, char **argv, struct opt_parsed *out,
	       char error[OPTS_ERROR_SIZE])
{
	unsigned int before[OPTS_MAX];
	int kept = 0, last = -1, at, err;

	memset(out, 0, sizeof(*out));
	error[0] = 0;
	/* Moves each operand to the front: they are argv[1, 1 + kept). */
	for (at = 1; at < argc; at++) {
		char *arg = argv[at];

		if (strcmp(arg, "--") == 0) {
			out->has_dashes = true;
			at++;
			break;
		}
		if (arg[0] != '-' || !arg[1]) {
			if (cmd->lists) {
				err = add_word(cmd, argv + at, out, last, error);
				if (err)
					return err;
				continue;
			}
			if (cmd->child)
				break;
			argv[1 + kept++] = arg;
			continue;
		}
		for (size_t i = 0; i < cmd->nr_opts; i++)
			before[i] = out->values[i].count;
		err = arg[1] == '-' ? parse_long(cmd, argc, argv, &at, out, error) :
				      parse_short(cmd, argc, argv, &at, out, error);
		if (err)
			return err;
		last = last_option(cmd, before, out, last);
	}
	if (at > argc)
		at = argc;
	if (kept) {
		memmove(argv + 1 + kept, argv + at, (size_t)(argc - at) * sizeof(*argv));
		out->operands = argv + 1;
	} else {
		out->operands = argv + at; /* a child's argv is the rest, with its NULL */
	}
	out->nr_operands = kept + argc - at;
	return check_operands(cmd, out, error);
}

const char *opts_label(const struct opt *opt, char buf[OPTS_LABEL_SIZE])
{
	int n = opt->letter ? snprintf(buf, OPTS_LABEL_SIZE, "-%c, --%s", opt->letter, opt->name) :
			      snprintf(buf, OPTS_LABEL_SIZE, "    --%s", opt->name);

	if (opt->type != OPT_FLAG && n > 0 && n < OPTS_LABEL_SIZE)
		snprintf(buf + n, OPTS_LABEL_SIZE - (size_t)n, opt->optional ? "[=%s]" : "=%s",
			 opt->arg);
	return buf;
}

/* The names of options that the manual alone explains. */
static void list_others(const struct command *cmd)
{
	char label[OPTS_LABEL_SIZE];
	int used = 0;

	for (size_t i = 0; i < cmd->nr_opts; i++) {
		int n;

		if (!cmd->opts[i].in_manual || cmd->opts[i].unlisted)
			continue;
		opts_label(&cmd->opts[i], label);
		if (cmd->opts[i].optional)
			label[strcspn(label, "[")] = 0;
		n = (int)strlen(label + 4) + 1;
		if (used && used + n > 78) {
			ui_put("\n");
			used = 0;
		}
		ui_putf(used ? " %s" : "  %s", label + 4);
		used += used ? n : n + 1;
	}
	if (used)
		ui_put("\n");
}

void opts_help(const struct command *cmd)
{
	char label[OPTS_LABEL_SIZE];
	int width = 12, status_width = 1;

	ui_putf("rtl %s - %s\nusage: rtl %s %s\n", cmd->name, cmd->summary, cmd->name, cmd->usage);
	for (size_t i = 0; i < cmd->nr_opts; i++) {
		int n = (int)strlen(opts_label(&cmd->opts[i], label));

		if (cmd->opts[i].in_manual)
			continue;
		if (n > width && n <= 26)
			width = n;
	}
	for (size_t i = 0; i < cmd->nr_opts; i++)
		if (!cmd->opts[i].in_manual)
			ui_putf("  %-*s  %s\n", width, opts_label(&cmd->opts[i], label),
				cmd->opts[i].help);
	list_others(cmd);
	for (const struct opt_status *s = cmd->statuses; s && s->status; s++)
		if ((int)strlen(s->status) > status_width)
			status_width = (int)strlen(s->status);
	for (const struct opt_status *s = cmd->statuses; s && s->status; s++)
		ui_putf("%s%-*s  %s\n", s == cmd->statuses ? "exit status: " : "             ",
			status_width, s->status, s->text);
	ui_putf("More: rtl help %s\n", cmd->name);
}
