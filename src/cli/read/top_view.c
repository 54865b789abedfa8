/* SPDX-License-Identifier: MIT */
/* top_view.c - one picture of `rtl top`, as text
 *
 * Numbers have fixed columns, names what is left. Rates are of the last interval.
 */
#include "cli/read/top_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/ui.h"

#define NUMBERS 43u /* columns of a table's numbers: RATE, SHARE, MEAN, TOTAL */
#define FEWEST_ROWS 3u
#define PLAIN_ROWS 10u
#define HEADER_ROWS 5u

struct text {
	char *bytes;
	size_t used, size;
	unsigned int columns;
};

/* Adds a line, cut to the columns. */
__attribute__((format(printf, 2, 3))) static void line(struct text *t, const char *fmt, ...)
{
	char whole[1024], cut[1100];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	grid_cut(cut, sizeof(cut), whole, t->columns);
	n = strlen(cut);
	if (t->used + n + 2 > t->size) {
		t->size = 2 * t->size + n + 4096;
		t->bytes = realloc(t->bytes, t->size);
		if (!t->bytes)
			ui_die_memory();
	}
	memcpy(t->bytes + t->used, cut, n);
	t->used += n;
	t->bytes[t->used++] = '\n';
	t->bytes[t->used] = '\0';
}

static uint64_t per_second(const struct top_view *v, uint64_t n)
{
	return v->span_ns ? (uint64_t)((double)n * 1e9 / (double)v->span_ns + 0.5) : 0;
}

static double share(const struct top_view *v, uint64_t ns)
{
	return v->span_ns ? 100.0 * (double)ns / (double)v->span_ns : 0;
}

static void put_rate(struct text *t, const struct top_view *v, const char *what,
		     enum tally_kind kind, uint64_t recorded)
{
	struct tally_row total = tally_total(v->tally, kind);
	char rate[UI_NUMBER_SIZE], all[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE];

	ui_count(rate, per_second(v, total.fresh.count));
	/* what was read lacks chunks that had been removed; the process counts the runtime's own
	 * dispatches, too */
	ui_count(all, v->facts->kept_from ? recorded : total.all.count);
	if (kind == TALLY_COPY)
		line(t, "%-10s %12s/s %15s in all %12s/s", what, rate, all,
		     ui_bytes(bytes, per_second(v, total.fresh.bytes)));
	else
		line(t, "%-10s %12s/s %15s in all %11.1f%% of the time", what, rate, all,
		     share(v, total.fresh.ns));
}

static void put_losses(struct text *t, const struct top_view *v)
{
	char losses[UI_NUMBER_SIZE], left_out[UI_NUMBER_SIZE];
	const struct load_loss *worst = NULL;
	unsigned int reason = 0;

	line(t, "%-10s %12s   %15s left out", "losses", ui_count(losses, v->reply->losses),
	     ui_count(left_out, v->reply->left_out));
	for (unsigned int r = 0; r < SPOOL_NR_REASONS; r++)
		if (v->facts->loss[r].count && load_reason_class(r) == LOAD_LOSS &&
		    (!worst || v->facts->loss[r].count > worst->count)) {
			worst = &v->facts->loss[r];
			reason = r;
		}
	if (worst)
		line(t, "  %s %s: %s", ui_count(losses, worst->count), load_reason_name(reason),
		     load_reason_text(reason));
}

static void put_header(struct text *t, const struct top_view *v)
{
	const struct control_reply *r = v->reply;
	char age[UI_NUMBER_SIZE], causes[256];

	line(t, "%" PRIu32 "  %s%s%s for %s  %s", v->pid, control_state_name(r->state),
	     r->causes ? " " : "", control_causes(causes, sizeof(causes), r),
	     ui_time(age, r->state_age_ns), r->command);
	if (!v->facts) {
		line(t, "no trace is open; rtl start %" PRIu32 " opens one", v->pid);
		return;
	}
	put_rate(t, v, "dispatches", TALLY_KERNEL, r->dispatches);
	put_rate(t, v, "API calls", TALLY_CALL, r->calls);
	put_rate(t, v, "copies", TALLY_COPY, r->copies);
	put_losses(t, v);
}

static void put_row(struct text *t, const struct top_view *v, enum tally_kind kind,
		    const struct tally_row *row, unsigned int width)
{
	char rate[UI_NUMBER_SIZE], mean[UI_NUMBER_SIZE], last[UI_NUMBER_SIZE + 2], name[1024];
	const struct tally_sum *recent = row->fresh.count ? &row->fresh : &row->all;
	int shown, pad;

	grid_cut(name, sizeof(name), row->name, width);
	shown = 0;
	for (const char *c = name; *c; c++)
		shown += ((unsigned char)*c & 0xc0) != 0x80;
	pad = (int)width > shown ? (int)width - shown : 0;
	if (kind == TALLY_COPY)
		snprintf(last, sizeof(last), "%s/s",
			 ui_bytes(mean, per_second(v, row->fresh.bytes)));
	else
		ui_count(last, row->all.count);
	ui_time(mean, recent->count ? recent->ns / recent->count : 0);
	line(t, "%s%*s %10s %6.1f%% %10s %12s", name, pad, "",
	     ui_count(rate, per_second(v, row->fresh.count)), share(v, row->fresh.ns), mean, last);
}

static void put_table(struct text *t, const struct top_view *v, enum tally_kind kind, size_t most)
{
	static const char *const titles[] = { "KERNEL", "API CALL", "COPY" };
	unsigned int width = v->columns > NUMBERS + 10 ? v->columns - NUMBERS : 10;
	const struct tally_row *rows;
	size_t nr = tally_rows(v->tally, kind, &rows);

	if (!nr || !most)
		return;
	line(t, "%s", "");
	line(t, "%-*s %10s %7s %10s %12s", (int)width, titles[kind], "PER SECOND", "TIME", "MEAN",
	     kind == TALLY_COPY	 ? "BANDWIDTH" :
	     v->facts->kept_from ? "SEEN" :
				   "IN ALL");
	for (size_t i = 0; i < nr && i < most; i++)
		put_row(t, v, kind, &rows[i], width);
	if (nr > most && !v->rows)
		line(t, "... and %zu more", nr - most);
}

/* How many kernels and functions fit on the screen, beside the header and the copies. */
static size_t fitting(const struct top_view *v, size_t *kernels)
{
	const struct tally_row *rows;
	size_t copies = tally_rows(v->tally, TALLY_COPY, &rows);
	size_t calls = tally_rows(v->tally, TALLY_CALL, &rows);
	size_t nr = tally_rows(v->tally, TALLY_KERNEL, &rows);
	size_t used = HEADER_ROWS + 1 + (copies ? copies + 2 : 0) + 2 + 2 + 1;
	size_t left = v->rows > used + 2 * FEWEST_ROWS ? v->rows - used : 2 * FEWEST_ROWS;
	size_t half = left / 2;

	/* what one does not need is the other's */
	*kernels = nr < half ? nr : calls < left - half ? left - calls : half;
	return left - *kernels;
}

char *top_view_text(const struct top_view *v)
{
	struct text t = { .columns = v->columns };
	size_t kernels = v->nr_names ? v->nr_names : PLAIN_ROWS, calls = kernels;

	put_header(&t, v);
	if (v->facts && v->rows && !v->nr_names)
		calls = fitting(v, &kernels);
	if (v->facts) {
		put_table(&t, v, TALLY_KERNEL, kernels);
		put_table(&t, v, TALLY_CALL, calls);
		put_table(&t, v, TALLY_COPY, TALLY_NR_KINDS * 3);
	}
	return t.bytes;
}
