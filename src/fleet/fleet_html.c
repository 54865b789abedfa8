/* SPDX-License-Identifier: MIT */
/* fleet_html.c - the answers to questions as the data of a page
 *
 * The data are JSON in an element that is no script. Cells of heat maps are numbers in the order of
 * the page's ranks: thousandths of a bin, and means in ns.
 */
#include "fleet/fleet_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/json.h"
#include "export/json_cell.h"
#include "export/report/page.h"
#include "rtl_version.h"

const char *const fleet_html_questions[FLEET_HTML_QUESTIONS] = {
	"overview", "ranks",   "slow-ranks", "slow-hosts",   "imbalance", "collectives",
	"outliers", "kernels", "busy",	     "rank-kernels", "timeline"
};

/* A line of the heat maps. */
struct line {
	int64_t rank;
	const char *host, *state, *why; /* why: NULL: nothing is wrong */
	int64_t pid;			/* of one that is not finished; -1 */
};

struct page {
	const struct fleet_html *h;
	struct json *j;
	struct line *lines;
	size_t nr_lines, nr_ranks; /* that the page has, that there are */
	const char **names;	   /* of timelines, sorted */
	size_t nr_names;
};

/* ---- cells ---- */

static const struct sheet_cell *cell_of(const struct sheet *t, size_t row, const char *key)
{
	static const struct sheet_cell none = { .none = true };

	for (size_t i = 0; i < t->nr_columns; i++)
		if (strcmp(t->columns[i].key, key) == 0)
			return sheet_cell(t, row, i);
	return &none;
}

static int64_t number_of(const struct sheet *t, size_t row, const char *key)
{
	const struct sheet_cell *cell = cell_of(t, row, key);

	return cell->none ? -1 : (int64_t)cell->num;
}

static const char *text_of(const struct sheet *t, size_t row, const char *key)
{
	const struct sheet_cell *cell = cell_of(t, row, key);

	return cell->none || !cell->text ? "" : cell->text;
}

static double real_of(const struct sheet *t, size_t row, const char *key)
{
	const struct sheet_cell *cell = cell_of(t, row, key);

	return cell->none ? 0 : cell->real;
}

/* ---- which ranks have a timeline ---- */

struct extra {
	int64_t rank;
	double ns;
};

static int compare_extras(const void *a, const void *b)
{
	const struct extra *x = a, *y = b;

	return x->ns != y->ns	 ? (x->ns > y->ns ? -1 : 1) :
	       x->rank < y->rank ? -1 :
				   x->rank > y->rank;
}

static int compare_extra_ranks(const void *a, const void *b)
{
	const struct extra *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int fleet_html_pick(struct fleet_html *h)
{
	const struct sheet *t = &h->sheets[FLEET_HTML_RANK_KERNELS];
	struct extra *list = calloc(t->nr_rows + 1, sizeof(*list));
	size_t nr = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		list[i].rank = number_of(t, i, "rank");
		if (number_of(t, i, "collective") == 0)
			list[i].ns = (double)(number_of(t, i, "mean_ns") -
					      number_of(t, i, "median_ns")) *
				     (double)number_of(t, i, "calls");
	}
	qsort(list, t->nr_rows, sizeof(*list), compare_extra_ranks);
	for (size_t i = 0; i < t->nr_rows; i++) {
		if (nr && list[nr - 1].rank == list[i].rank)
			list[nr - 1].ns += list[i].ns;
		else
			list[nr++] = list[i];
	}
	qsort(list, nr, sizeof(*list), compare_extras);
	h->nr_picked = 0;
	if (nr)
		h->picked[h->nr_picked++] = list[0].rank;
	if (nr > 1)
		h->picked[h->nr_picked++] = list[nr / 2].rank;
	free(list);
	return 0;
}

/* ---- ranks ---- */

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : strcmp(x->state, y->state);
}

static bool is_of_job(const struct page *p, const struct fleet_rank *r)
{
	return strcmp(r->job, p->h->job) == 0;
}

/* Those that were asked, those that can't be read, those that are not finished. */
static int list_ranks(struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_OF_RANKS];
	size_t most = t->nr_rows + p->h->set->nr + p->h->nr_marks, nr = 0;

	p->lines = calloc(most + 1, sizeof(*p->lines));
	if (!p->lines)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		bool whole = number_of(t, i, "incomplete") <= 0 && number_of(t, i, "lost") <= 0;

		p->lines[nr++] = (struct line){ .rank = number_of(t, i, "rank"),
						.host = text_of(t, i, "host"),
						.state = whole ? "complete" : "incomplete",
						.pid = -1 };
	}
	for (size_t i = 0; i < p->h->set->nr; i++) {
		const struct fleet_rank *r = &p->h->set->ranks[i];

		if (r->bad && is_of_job(p, r))
			p->lines[nr++] = (struct line){
				.rank = r->rank, .host = "", .state = "damaged", .pid = -1
			};
	}
	for (size_t i = 0; i < p->h->nr_marks; i++)
		p->lines[nr++] = (struct line){ .rank = p->h->marks[i].rank,
						.host = p->h->marks[i].host,
						.state = "unfinished",
						.pid = p->h->marks[i].pid };
	qsort(p->lines, nr, sizeof(*p->lines), compare_lines);
	p->nr_ranks = nr;
	p->nr_lines = nr < FLEET_HTML_RANKS ? nr : FLEET_HTML_RANKS;
	return 0;
}

/* Whether the answers have something of it. */
static bool is_answered(const struct line *l)
{
	return strcmp(l->state, "damaged") != 0 && strcmp(l->state, "unfinished") != 0;
}

static void put_ranks(const struct page *p)
{
	json_member_int(p->j, "nr_ranks", (int64_t)p->nr_ranks);
	json_key(p->j, "ranks");
	json_array(p->j);
	for (size_t i = 0; i < p->nr_lines; i++) {
		json_object(p->j);
		json_member_int(p->j, "rank", p->lines[i].rank);
		json_member_text(p->j, "host", p->lines[i].host);
		json_member_text(p->j, "state", p->lines[i].state);
		if (p->lines[i].pid >= 0)
			json_member_int(p->j, "pid", p->lines[i].pid);
		json_object_end(p->j);
	}
	json_array_end(p->j);
	json_key(p->j, "problems");
	json_array(p->j);
	for (size_t i = 0; i < p->h->set->nr_problems && i < FLEET_HTML_ROWS; i++)
		json_text(p->j, p->h->set->problems[i]);
	json_array_end(p->j);
}

/* ---- tables ---- */

static const char *kind_of(const struct sheet_column *c)
{
	switch (c->unit) {
	case SHEET_NAME:
		return c->symbol || strcmp(c->key, "name") == 0 ? "name" : "text";
	case SHEET_SPAN:
	case SHEET_TIME:
		return "time";
	case SHEET_BYTES:
		return "bytes";
	case SHEET_SHARE:
		return "share";
	case SHEET_COUNT:
		return "count";
	default:
		return "number";
	}
}

/* As a text where a script's numbers, of 53 bits, can't have it. */
static void put_cell(const struct page *p, const struct sheet_column *c,
		     const struct sheet_cell *cell)
{
	char text[24];

	if (c->unit != SHEET_NUMBER || cell->none || cell->num <= UINT64_C(1) << 53) {
		json_cell(p->j, c, cell);
		return;
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)cell->num);
	json_member_text(p->j, c->key, text);
}

static void put_table(const struct page *p, size_t which)
{
	const struct fleet_question *q = &p->h->questions[which];
	const struct sheet *t = &p->h->sheets[which];

	json_object(p->j);
	json_member_text(p->j, "name", q->name);
	json_member_text(p->j, "about", q->about);
	json_member_int(p->j, "nr", (int64_t)t->nr_rows);
	json_key(p->j, "columns");
	json_array(p->j);
	for (size_t i = 0; i < t->nr_columns; i++) {
		json_object(p->j);
		json_member_text(p->j, "key", t->columns[i].key);
		json_member_text(p->j, "title", t->columns[i].title);
		json_member_text(p->j, "kind", kind_of(&t->columns[i]));
		json_member_text(p->j, "hint", q->meanings[i]);
		json_object_end(p->j);
	}
	json_array_end(p->j);
	json_key(p->j, "rows");
	json_array(p->j);
	for (size_t r = 0; r < t->nr_rows && r < FLEET_HTML_ROWS; r++) {
		json_object(p->j);
		for (size_t i = 0; i < t->nr_columns; i++)
			put_cell(p, &t->columns[i], sheet_cell(t, r, i));
		json_object_end(p->j);
	}
	json_array_end(p->j);
	json_object_end(p->j);
}

/* ---- heat maps: answers come in the order of ranks ---- */

static int64_t zero_of(const struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_BUSY];

	return t->nr_rows ? number_of(t, 0, "wall_ns") - number_of(t, 0, "at_ns") : 0;
}

static void put_busy(const struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_BUSY];
	int64_t bin_ns = t->nr_rows ? number_of(t, 0, "bin_ns") : 1, nr = 0;
	size_t at = 0;

	for (size_t i = 0; i < t->nr_rows; i++)
		if (number_of(t, i, "at_ns") / bin_ns >= nr)
			nr = number_of(t, i, "at_ns") / bin_ns + 1;
	json_member_int(p->j, "bin_ns", bin_ns);
	json_member_int(p->j, "nr_bins", nr);
	json_key(p->j, "busy");
	json_array(p->j);
	for (size_t i = 0; i < p->nr_lines; i++) {
		int64_t bin = 0;

		json_array(p->j);
		while (is_answered(&p->lines[i]) && at < t->nr_rows &&
		       number_of(t, at, "rank") <= p->lines[i].rank) {
			if (number_of(t, at, "rank") == p->lines[i].rank) {
				for (; bin < number_of(t, at, "at_ns") / bin_ns; bin++)
					json_int(p->j, 0);
				json_int(p->j, (int64_t)(1000 * real_of(t, at, "share") + 0.5));
				bin++;
			}
			at++;
		}
		json_array_end(p->j);
	}
	json_array_end(p->j);
}

/* The means or the calls of a kernel, whose rows begin at `at`. */
static void put_of_ranks(const struct page *p, size_t at, const char *key)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_RANK_KERNELS];
	int64_t nth = number_of(t, at, "nth");

	json_key(p->j, key);
	json_array(p->j);
	for (size_t i = 0; i < p->nr_lines; i++) {
		while (at < t->nr_rows && number_of(t, at, "nth") == nth &&
		       number_of(t, at, "rank") < p->lines[i].rank)
			at++;
		if (is_answered(&p->lines[i]) && at < t->nr_rows &&
		    number_of(t, at, "nth") == nth && number_of(t, at, "rank") == p->lines[i].rank)
			json_int(p->j, number_of(t, at, key));
		else
			json_null(p->j);
	}
	json_array_end(p->j);
}

static void put_kernels(const struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_RANK_KERNELS];

	json_key(p->j, "kernels");
	json_array(p->j);
	for (size_t at = 0; at < t->nr_rows; at++) {
		if (at && number_of(t, at, "nth") == number_of(t, at - 1, "nth"))
			continue;
		json_object(p->j);
		json_member_text(p->j, "name", text_of(t, at, "kernel"));
		json_key(p->j, "collective");
		json_bool(p->j, number_of(t, at, "collective") > 0);
		json_member_int(p->j, "median_ns", number_of(t, at, "median_ns"));
		put_of_ranks(p, at, "mean_ns");
		put_of_ranks(p, at, "calls");
		json_object_end(p->j);
	}
	json_array_end(p->j);
}

/* ---- timelines ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_names(struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_TIMELINE];
	size_t nr = 0;

	p->names = calloc(t->nr_rows + 1, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		p->names[i] = text_of(t, i, "name");
	qsort(p->names, t->nr_rows, sizeof(*p->names), compare_names);
	for (size_t i = 0; i < t->nr_rows; i++)
		if (!nr || strcmp(p->names[nr - 1], p->names[i]) != 0)
			p->names[nr++] = p->names[i];
	p->nr_names = nr;
	return 0;
}

static bool is_same_line(const struct sheet *t, size_t a, size_t b)
{
	static const char *const keys[] = { "rank", "pid", "gpu", "queue" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (number_of(t, a, keys[i]) != number_of(t, b, keys[i]))
			return false;
	return strcmp(text_of(t, a, "what"), text_of(t, b, "what")) == 0;
}

/* name, begin since the first bin, span, calls, sum of their times */
static void put_piece(const struct page *p, const struct sheet *t, size_t i)
{
	const char *name = text_of(t, i, "name");
	const char **found =
		bsearch(&name, p->names, p->nr_names, sizeof(*p->names), compare_names);

	json_int(p->j, found ? found - p->names : 0);
	json_int(p->j, number_of(t, i, "wall_ns") - zero_of(p));
	json_int(p->j, number_of(t, i, "span_ns"));
	json_int(p->j, number_of(t, i, "calls"));
	json_int(p->j, number_of(t, i, "sum_ns"));
}

static void put_timelines(const struct page *p)
{
	const struct sheet *t = &p->h->sheets[FLEET_HTML_TIMELINE];

	json_key(p->j, "names");
	json_array(p->j);
	for (size_t i = 0; i < p->nr_names; i++)
		json_text(p->j, p->names[i]);
	json_array_end(p->j);
	json_key(p->j, "picked");
	json_array(p->j);
	for (size_t i = 0; i < p->h->nr_picked; i++)
		json_int(p->j, p->h->picked[i]);
	json_array_end(p->j);
	json_key(p->j, "lanes");
	json_array(p->j);
	for (size_t i = 0; i < t->nr_rows;) {
		size_t first = i;

		json_object(p->j);
		json_member_int(p->j, "rank", number_of(t, i, "rank"));
		json_member_text(p->j, "what", text_of(t, i, "what"));
		json_member_int(p->j, "pid", number_of(t, i, "pid"));
		json_member_int(p->j, "gpu", number_of(t, i, "gpu"));
		json_member_int(p->j, "queue", number_of(t, i, "queue"));
		json_key(p->j, "pieces");
		json_array(p->j);
		for (; i < t->nr_rows && is_same_line(t, first, i); i++)
			put_piece(p, t, i);
		json_array_end(p->j);
		json_object_end(p->j);
	}
	json_array_end(p->j);
}

/* ---- the file ---- */

static int put_data(struct page *p, FILE *out)
{
	char zero[32];

	json_init(p->j, json_write_page, out);
	json_object(p->j);
	json_member_text(p->j, "version", RTL_VERSION_STRING);
	json_member_text(p->j, "set", p->h->shown);
	json_member_text(p->j, "job", p->h->job);
	/* beyond the 53 bits of a script's numbers */
	snprintf(zero, sizeof(zero), "%lld", (long long)zero_of(p));
	json_member_text(p->j, "zero_ns", zero);
	put_ranks(p);
	put_busy(p);
	put_kernels(p);
	put_timelines(p);
	json_key(p->j, "tables");
	json_array(p->j);
	for (size_t i = 0; i < FLEET_HTML_TABLES; i++)
		put_table(p, i);
	json_array_end(p->j);
	json_object_end(p->j);
	return json_flush(p->j);
}

int fleet_html_write(const struct fleet_html *h, FILE *out)
{
	static const char before[] = "<script type=\"application/json\" id=\"data\">",
			  behind[] = "</script>\n";
	struct page p = { .h = h, .j = malloc(sizeof(*p.j)) };
	int err = p.j ? list_ranks(&p) : -ENOMEM;

	if (!err)
		err = list_names(&p);
	if (!err) {
		fwrite(page_fleet_head, 1, page_fleet_head_size, out);
		fputs(before, out);
		err = put_data(&p, out);
		fputs(behind, out);
		fwrite(page_fleet_tail, 1, page_fleet_tail_size, out);
	}
	free(p.j);
	free(p.lines);
	free(p.names);
	return err;
}
