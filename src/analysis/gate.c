/* SPDX-License-Identifier: MIT */
/* gate.c - parses the conditions of a gate, and decides them
 *
 * Fails:    -EINVAL with a message for a wrong condition; -ENOMEM.
 */
#include "analysis/gate.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regular.h"

struct gate_condition {
	char *text; /* as written, for messages */
	enum diff_kind kind;
	enum diff_measure measure;
	regex_t name;
	bool has_name; /* else of whole runs */
	bool is_above;
	double limit; /* of the change: 0.05 */
};

/* ---- parsing ---- */

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

static int refuse(const char *text, char *error)
{
	snprintf(
		error, GATE_ERROR_SIZE,
		"'%.200s': is no condition; write kernel:NAME > +5%%, with kernel, call, copy, range or collective, or "
		"kernel.total:NAME or kernel.count:NAME, collective.skew, .transfer, .wait or .late, or wall, busy, total or count of whole runs",
		text);
	return -EINVAL;
}

static int find_word(const char *const *words, int nr, const char *word)
{
	for (int i = 0; i < nr; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* "5%", "+5", "-3 %" */
static int parse_change(struct gate_condition *c, char *text)
{
	char *end;
	double percent = strtod(text, &end);

	end = trim(end);
	if (end == text || (strcmp(end, "%") != 0 && *end) || !isfinite(percent) || !*text)
		return -EINVAL;
	c->limit = percent / 100;
	return 0;
}

static int parse_name(struct gate_condition *c, const char *name, char *error)
{
	char why[REGULAR_ERROR_SIZE], *whole = alloc_heap(strlen(name) + 5);
	int ret;

	if (!whole)
		return -ENOMEM;
	snprintf(whole, strlen(name) + 5, "^(%s)$", name);
	ret = regular_compile(whole, &c->name, why);
	alloc_free(whole);
	c->has_name = ret == 0;
	if (ret)
		snprintf(error, GATE_ERROR_SIZE, "'%.200s': the name is no regular expression: %s",
			 c->text, why);
	return ret;
}

/* What it is about: "wall", "kernel", "kernel.count". */
static int parse_subject(struct gate_condition *c, char *subject, bool has_name)
{
	char *dot = strchr(subject, '.');
	int kind, measure;

	if (!has_name) {
		measure = find_word(diff_measures, DIFF_NR_MEASURES, subject);
		if (measure <= DIFF_MEDIAN || measure > DIFF_BUSY)
			return -EINVAL;
		c->kind = DIFF_RUN;
		c->measure = (enum diff_measure)measure;
		return 0;
	}
	if (dot)
		*dot++ = 0;
	kind = find_word(diff_kinds, DIFF_NR_KINDS, subject);
	measure = dot ? find_word(diff_measures, DIFF_NR_MEASURES, dot) : DIFF_MEDIAN;
	if (kind < 0 || kind == DIFF_RUN || measure < 0 ||
	    (measure > DIFF_COUNT && (kind != DIFF_COLLECTIVE || measure < DIFF_SKEW)))
		return -EINVAL;
	c->kind = (enum diff_kind)kind;
	c->measure = (enum diff_measure)measure;
	return 0;
}

/* The text is changed. */
static int parse_condition(struct gate_condition *c, char *text, char *error)
{
	char *name = strchr(text, ':');
	char *above = strrchr(text, '>'), *below = strrchr(text, '<');
	char *sign = !above || (below && below > above) ? below : above;

	if (!sign)
		return refuse(c->text, error);
	if (name && name > sign)
		name = NULL;
	c->is_above = *sign == '>';
	*sign = 0;
	if (name)
		*name++ = 0;
	if (parse_subject(c, trim(text), name != NULL) || parse_change(c, trim(sign + 1)))
		return refuse(c->text, error);
	return name ? parse_name(c, trim(name), error) : 0;
}

static int add_condition(struct gate *gate, size_t *max, char *part, char *error)
{
	struct gate_condition *grown =
		alloc_grow(gate->conditions, gate->nr, max, 4, sizeof(*grown));
	struct gate_condition *c;

	if (!grown)
		return -ENOMEM;
	gate->conditions = grown;
	c = &gate->conditions[gate->nr];
	*c = (struct gate_condition){ .text = alloc_string(part) };
	if (!c->text)
		return -ENOMEM;
	gate->nr++;
	return parse_condition(c, part, error);
}

int gate_parse(const char *text, struct gate **out, char error[GATE_ERROR_SIZE])
{
	struct gate *gate = alloc_zero(1, sizeof(*gate));
	char *copy = alloc_string(text), *rest = copy, *part;
	int ret = gate && copy ? 0 : -ENOMEM;
	size_t max = 0;

	*out = NULL;
	snprintf(error, GATE_ERROR_SIZE, "out of memory");
	while (!ret && (part = strsep(&rest, ";")) != NULL) {
		part = trim(part);
		if (*part)
			ret = add_condition(gate, &max, part, error);
	}
	if (!ret && !gate->nr)
		ret = refuse(text, error);
	if (!ret) {
		gate->results = alloc_zero(gate->nr, sizeof(*gate->results));
		ret = gate->results ? 0 : -ENOMEM;
	}
	alloc_free(copy);
	if (ret)
		gate_free(gate);
	else
		*out = gate;
	return ret;
}

/* ---- deciding ---- */

static bool concerns(const struct gate_condition *c, const struct diff_row *row)
{
	return row->kind == c->kind && row->measure == c->measure &&
	       (!c->has_name || regexec(&c->name, row->name, 0, NULL, 0) == 0);
}

/* What a name has on one side alone: a total or a number that was 0, or became it. */
static double change_of(const struct diff_row *row, enum diff_verdict verdict)
{
	return verdict == DIFF_ONLY_A ? -1 : verdict == DIFF_ONLY_B ? INFINITY : row->result.change;
}

static int check_row(const struct gate_condition *c, struct gate_result *r, const struct diff *d,
		     size_t at, enum diff_verdict verdict)
{
	const struct diff_row *row = &d->rows[at];
	bool one_side = verdict == DIFF_ONLY_A || verdict == DIFF_ONLY_B;
	double change = change_of(row, verdict);
	size_t *grown;

	r->nr_rows++;
	r->nr_too_few += verdict == DIFF_TOO_FEW;
	r->nr_one_side += one_side && diff_is_median(row->measure);
	if (one_side ? diff_is_median(row->measure) : !diff_is_change(verdict))
		return 0;
	if (c->is_above ? change <= c->limit : change >= c->limit)
		return 0;
	grown = alloc_resize(r->failed, r->nr_failed + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->failed = grown;
	r->failed[r->nr_failed++] = at;
	return 0;
}

static enum gate_state state_of(const struct gate_result *r)
{
	if (!r->nr_rows)
		return GATE_UNMATCHED;
	if (r->nr_failed)
		return GATE_FAILED;
	return r->nr_too_few + r->nr_one_side == r->nr_rows ? GATE_UNDECIDED : GATE_PASSED;
}

static int check_all(struct gate *gate, const struct diff *d, const size_t *rows, size_t nr,
		     const enum diff_verdict *verdicts)
{
	for (size_t c = 0; c < gate->nr; c++) {
		const struct gate_condition *condition = &gate->conditions[c];
		struct gate_result *r = &gate->results[c];

		alloc_free(r->failed);
		*r = (struct gate_result){ .text = condition->text,
					   .is_above = condition->is_above };
		for (size_t i = 0; i < nr; i++)
			if (concerns(condition, &d->rows[rows[i]]) &&
			    check_row(condition, r, d, rows[i], verdicts[i]))
				return -ENOMEM;
		r->state = state_of(r);
	}
	return 0;
}

int gate_check(struct gate *gate, const struct diff *d)
{
	size_t *rows = alloc_zero(d->nr + 1, sizeof(*rows)), nr = 0;
	enum diff_verdict *verdicts = alloc_zero(d->nr + 1, sizeof(*verdicts));
	int ret = rows && verdicts ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < d->nr; i++) {
		bool is_named = false;

		for (size_t c = 0; c < gate->nr && !is_named; c++)
			is_named = concerns(&gate->conditions[c], &d->rows[i]);
		if (is_named)
			rows[nr++] = i;
	}
	if (!ret)
		ret = diff_judge(d, rows, nr, verdicts, &gate->runs_needed);
	if (!ret)
		ret = check_all(gate, d, rows, nr, verdicts);
	alloc_free(rows);
	alloc_free(verdicts);
	return ret;
}

bool gate_any(const struct gate *gate, enum gate_state state)
{
	for (size_t c = 0; c < gate->nr; c++)
		if (gate->results[c].state == state)
			return true;
	return false;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	for (size_t i = 0; i < gate->nr; i++) {
		if (gate->conditions[i].has_name)
			regfree(&gate->conditions[i].name);
		alloc_free(gate->conditions[i].text);
		if (gate->results)
			alloc_free(gate->results[i].failed);
	}
	alloc_free(gate->conditions);
	alloc_free(gate->results);
	alloc_free(gate);
}
