/* SPDX-License-Identifier: MIT */
/* gate.c - the conditions of rtl diff --fail-if: "kernel:gemm.* > +5%; range:step < -3%" */
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "cli/status.h"
#include "cli/read/diff.h"
#include "cli/ui.h"

struct condition {
	char *text; /* as written, for messages */
	enum diff_kind kind;
	regex_t name;
	bool is_above; /* '>', else '<' */
	double limit;  /* of the change: 0.05 */
};

struct gate {
	struct condition *conditions;
	size_t nr;
};

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

static _Noreturn void die_form(const char *text)
{
	ui_die(STATUS_USAGE,
	       "--fail-if '%.200s': is no condition; write kernel:NAME > +5%%, with kernel, call, copy or range",
	       text);
}

static double parse_change(const struct condition *c, char *text)
{
	char *end;
	double percent = strtod(text, &end);

	end = trim(end);
	if (end == text || (strcmp(end, "%") != 0 && *end) || !isfinite(percent) || !*text)
		die_form(c->text);
	return percent / 100;
}

static void parse_name(struct condition *c, const char *name)
{
	char error[REGULAR_ERROR_SIZE], *whole = ui_format("^(%s)$", name);
	int ret = regular_compile(whole, &c->name, error);

	free(whole);
	if (ret)
		ui_die(STATUS_USAGE, "--fail-if '%.200s': the name is no regular expression: %s",
		       c->text, error);
}

static void parse_condition(struct condition *c, const char *text, const char *const *kinds)
{
	char *copy = ui_format("%s", text), *name = strchr(copy, ':');
	char *above = strrchr(copy, '>'), *below = strrchr(copy, '<');
	char *sign = !above || (below && below > above) ? below : above;
	int kind = 0;

	c->text = ui_format("%s", text);
	if (!name || !sign || sign < name)
		die_form(c->text);
	*name++ = 0;
	c->is_above = *sign == '>';
	*sign = 0;
	while (kind < DIFF_NR_KINDS && strcmp(kinds[kind], trim(copy)) != 0)
		kind++;
	if (kind == DIFF_NR_KINDS)
		die_form(c->text);
	c->kind = (enum diff_kind)kind;
	parse_name(c, trim(name));
	c->limit = parse_change(c, trim(sign + 1));
	free(copy);
}

struct gate *gate_parse(const char *text, const char *const *kinds)
{
	char *copy = ui_format("%s", text), *rest = copy, *part;
	struct gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		ui_die_memory();
	while ((part = strsep(&rest, ";")) != NULL) {
		part = trim(part);
		if (!*part)
			continue;
		gate->conditions =
			reallocarray(gate->conditions, gate->nr + 1, sizeof(*gate->conditions));
		if (!gate->conditions)
			ui_die_memory();
		memset(&gate->conditions[gate->nr], 0, sizeof(*gate->conditions));
		parse_condition(&gate->conditions[gate->nr++], part, kinds);
	}
	if (!gate->nr)
		die_form(text);
	free(copy);
	return gate;
}

static bool holds(const struct condition *c, const struct diff_item *item)
{
	double change = item->result.change;

	if (item->verdict != DIFF_SLOWER && item->verdict != DIFF_FASTER)
		return false;
	return c->is_above ? change > c->limit : change < c->limit;
}

static bool concerns(const struct condition *c, const struct diff_item *item)
{
	return item->kind == c->kind && regexec(&c->name, item->name, 0, NULL, 0) == 0;
}

size_t gate_nr(const struct gate *gate)
{
	return gate ? gate->nr : 0;
}

const char *gate_text(const struct gate *gate, size_t condition)
{
	return gate->conditions[condition].text;
}

bool gate_holds(const struct gate *gate, size_t condition, const struct diff_item *item)
{
	const struct condition *c = &gate->conditions[condition];

	return concerns(c, item) && holds(c, item);
}

static bool check_condition(const struct condition *c, const struct diff *d)
{
	bool failed = false, matched = false;

	for (size_t i = 0; i < d->nr; i++) {
		const struct diff_item *item = &d->items[i];
		const struct compare_result *r = &item->result;

		if (!concerns(c, item))
			continue;
		matched = true;
		if (!holds(c, item))
			continue;
		failed = true;
		ui_error("fails '%s': %s %.200s: %+.1f %% (95 %%: %+.1f %% to %+.1f %%)", c->text,
			 c->is_above ? "above the limit," : "below the limit,", item->name,
			 100 * r->change, 100 * r->low, 100 * r->high);
	}
	if (!matched)
		ui_die(STATUS_USAGE, "--fail-if '%.200s': no name in the traces matches", c->text);
	return failed;
}

bool gate_check(const struct gate *gate, const struct diff *d)
{
	bool failed = false;

	for (size_t i = 0; i < gate->nr; i++)
		failed |= check_condition(&gate->conditions[i], d);
	return failed;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	for (size_t i = 0; i < gate->nr; i++) {
		regfree(&gate->conditions[i].name);
		free(gate->conditions[i].text);
	}
	free(gate->conditions);
	free(gate);
}
