/* SPDX-License-Identifier: MIT */
/* diff_html.c - rtl diff --format html: the comparison as one page; web/diff.js shows it
 *
 * The data are JSON in an element that is no script. Every '<' in it is escaped: names in a trace
 * can't end the element.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/diff_html.h"
#include "cli/ui.h"
#include "export/json.h"
#include "export/report/page.h"

#define SAMPLE 200 /* values of a side that are drawn */

static void number(struct json *j, const char *key, double value, bool is_known)
{
	json_key(j, key);
	if (is_known && isfinite(value))
		json_double(j, value);
	else
		json_null(j);
}

static void put_values(struct json *j, const struct diff_side *side)
{
	size_t shown = side->nr < SAMPLE ? side->nr : SAMPLE;

	json_object(j);
	json_key(j, "nr");
	json_uint(j, side->nr);
	json_key(j, "sample");
	json_array(j);
	for (size_t i = 0; i < shown; i++)
		json_int(j, side->values[shown > 1 ? i * (side->nr - 1) / (shown - 1) : 0]);
	json_array_end(j);
	json_object_end(j);
}

static void put_median(struct json *j, const char *key, const struct diff_side *side)
{
	json_key(j, key);
	if (side->nr)
		json_int(j, side->median);
	else
		json_null(j);
}

static void put_item(struct json *j, const struct diff_row *row)
{
	const struct diff_side *a = &row->sides[0], *b = &row->sides[1];
	const struct compare_result *r = &row->result;
	bool both = diff_is_compared(row), interval = both && diff_has_interval(row);

	json_object(j);
	json_member_text(j, "what", diff_kinds[row->kind]);
	json_member_text(j, "measure", diff_measures[row->measure]);
	json_member_text(j, "name", row->name);
	json_member_text(j, "verdict", diff_verdicts[row->verdict]);
	number(j, "change", r->change, both);
	number(j, "change_low", r->low, interval && isfinite(r->high));
	number(j, "change_high", r->high, interval && isfinite(r->low));
	number(j, "effect", r->effect, both);
	number(j, "p", r->p, both && !row->is_exact);
	json_key(j, "totals");
	json_array(j);
	json_uint(j, a->total);
	json_uint(j, b->total);
	json_array_end(j);
	json_key(j, "values");
	json_array(j);
	put_values(j, a);
	put_values(j, b);
	json_array_end(j);
	put_median(j, "a_median", a);
	put_median(j, "b_median", b);
	json_object_end(j);
}

static void put_conditions(struct json *j, const struct diff *d, const struct gate *gate)
{
	static const char *const states[] = { [GATE_PASSED] = "passed",
					      [GATE_FAILED] = "failed",
					      [GATE_UNDECIDED] = "undecided",
					      [GATE_UNMATCHED] = "unmatched" };

	json_key(j, "conditions");
	json_array(j);
	for (size_t c = 0; gate && c < gate->nr; c++) {
		const struct gate_result *r = &gate->results[c];

		json_object(j);
		json_member_text(j, "text", r->text);
		json_member_text(j, "state", states[r->state]);
		json_key(j, "failed");
		json_array(j);
		for (size_t i = 0; i < r->nr_failed; i++)
			json_text(j, d->rows[r->failed[i]].name);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_sides(struct json *j, const struct diff *d, const struct diff_html_sides *sides)
{
	json_key(j, "sides");
	json_array(j);
	for (int side = 0; side < 2; side++) {
		json_object(j);
		json_key(j, "files");
		json_array(j);
		for (size_t i = 0; i < d->nr_runs[side]; i++)
			json_text(j, sides->files[side][i]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

void diff_html_print(const struct diff *d, const struct diff_html_sides *sides,
		     const struct gate *gate, uint64_t rows)
{
	struct json *j = malloc(sizeof(*j));
	uint64_t shown = 0;

	if (!j)
		ui_die_memory();
	fwrite(page_diff_head, 1, page_diff_head_size, ui_output_file());
	ui_put("<script type=\"application/json\" id=\"data\">");
	json_init(j, json_write_page, ui_output_file());
	json_object(j);
	put_sides(j, d, sides);
	json_key(j, "pooled");
	json_bool(j, d->pooled);
	put_conditions(j, d, gate);
	json_key(j, "runs_needed");
	json_uint(j, gate ? gate->runs_needed : 0);
	json_key(j, "items");
	json_array(j);
	for (size_t i = 0; i < d->nr && (!rows || shown < rows); i++)
		if (diff_is_news(&d->rows[i])) {
			put_item(j, &d->rows[i]);
			shown++;
		}
	json_array_end(j);
	json_object_end(j);
	json_flush(j); /* an error shows in ui_flush() */
	free(j);
	ui_put("</script>\n");
	fwrite(page_diff_tail, 1, page_diff_tail_size, ui_output_file());
	ui_flush();
}
