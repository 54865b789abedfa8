/* SPDX-License-Identifier: MIT */
/* table_clocks.c - the clocks of the hosts of a trace: how far each is ahead of another one, and
 * how well that is known */
#include <errno.h>
#include <stdlib.h>

#include "analysis/collective.h"
#include "analysis/tables_internal.h"
#include "query/figure.h"

enum {
	C_HOST,
	C_OF,
	C_METHOD,
	C_OFFSET,
	C_DRIFT,
	C_ERROR,
	C_COLLECTIVES,
	C_FIRST,
	C_LAST,
	C_REASON,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_HOST] = { "host", "HOST", SHEET_NAME },
	[C_OF] = { "of_host", "AHEAD OF", SHEET_NAME },
	[C_METHOD] = { "method", "BY", SHEET_NAME },
	[C_OFFSET] = { "offset_ns", "OFFSET", SHEET_SPAN },
	[C_DRIFT] = { "drift_ppm", "DRIFT PPM", SHEET_REAL },
	[C_ERROR] = { "error_ns", "ERROR", SHEET_TIME },
	[C_COLLECTIVES] = { "collectives", "COLLECTIVES", SHEET_COUNT, 1 },
	[C_FIRST] = { "first_ns", NULL, SHEET_NUMBER },
	[C_LAST] = { "last_ns", NULL, SHEET_NUMBER },
	[C_REASON] = { "reason", NULL, SHEET_NAME },
};

/* A piece of time in which offset and drift hold; NULL: there is none. */
static void add_piece(struct sheet *out, const struct clock_align *clocks, size_t i,
		      const struct clock_piece *piece)
{
	const struct clock_host *h = &clocks->hosts[i];
	/* a piece is of the one of the two that has the higher number */
	int sign = h->parent < i ? 1 : -1;
	struct sheet_cell cells[C_NR] = { { 0 } };

	cells[C_HOST].text = h->host;
	cells[C_OF] = (struct sheet_cell){
		.text = clocks->hosts[h->method == CLOCK_NONE ? 0 : h->parent].host,
		.none = h->method == CLOCK_REFERENCE,
	};
	cells[C_METHOD].text = clock_methods[h->method];
	for (int k = C_OFFSET; k <= C_ERROR; k++)
		cells[k].none = !piece;
	cells[C_FIRST].none = cells[C_LAST].none = !piece || h->method == CLOCK_BOOT;
	if (piece) {
		cells[C_OFFSET].num = (uint64_t)(sign * piece->offset);
		cells[C_DRIFT].real = sign * 1e6 * piece->drift;
		cells[C_ERROR].num = (uint64_t)piece->error;
		cells[C_FIRST].num = (uint64_t)piece->first;
		cells[C_LAST].num = (uint64_t)piece->last;
	}
	cells[C_COLLECTIVES].num = piece && h->method == CLOCK_COLLECTIVES ? piece->nr : h->nr;
	cells[C_REASON] = (struct sheet_cell){ .text = h->reason, .none = !h->reason };
	sheet_row(out, cells);
}

static void add_rows(struct sheet *out, const struct clock_align *clocks)
{
	sheet_columns(out, columns, C_NR);
	for (size_t i = 0; i < clocks->nr; i++) {
		const struct clock_host *h = &clocks->hosts[i];

		for (size_t k = 0; k < h->nr_pieces; k++)
			add_piece(out, clocks, i, &h->pieces[k]);
		if (!h->nr_pieces)
			add_piece(out, clocks, i, NULL);
	}
}

/* The clock of a host: how far it is ahead of that of another one, and how well that is known. */
static void note_clock(struct sheet *out, const struct clock_align *clocks, size_t i)
{
	const struct clock_host *h = &clocks->hosts[i], *parent = &clocks->hosts[h->parent];
	char offset[FIGURE_SIZE], error[FIGURE_SIZE], nr[FIGURE_SIZE];
	int64_t most = 0, ahead;

	if (h->method == CLOCK_NONE) {
		sheet_note(out, "the clock of host %s can't be compared with that of %s: %s",
			   h->host, clocks->hosts[0].host, h->reason);
		return;
	}
	for (size_t k = 0; k < h->nr_pieces; k++)
		most = h->pieces[k].error > most ? h->pieces[k].error : most;
	/* a piece is of the one of the two that has the higher number */
	ahead = h->parent < i ? h->pieces[0].offset : -h->pieces[0].offset;
	figure_time(offset, llabs(ahead));
	if (h->method == CLOCK_BOOT)
		sheet_note(out, "the clock of host %s is %s %s that of %s: another time namespace",
			   h->host, offset, ahead < 0 ? "behind" : "ahead of", parent->host);
	else
		sheet_note(
			out,
			"the clock of host %s is %s %s that of %s, drift %+.3f ppm, error %s at most, by %s%s",
			h->host, offset, ahead < 0 ? "behind" : "ahead of", parent->host,
			(h->parent < i ? 1e6 : -1e6) * h->pieces[0].drift, figure_time(error, most),
			h->method == CLOCK_REALTIME ? "the wall clock" : figure_count(nr, h->nr),
			h->method == CLOCK_REALTIME ? "" : " collectives");
}

void table_clocks_notes(struct sheet *out, const struct clock_align *clocks)
{
	for (size_t i = 1; i < clocks->nr; i++)
		note_clock(out, clocks, i);
}

int table_clocks_end(struct tables_job *job)
{
	const struct collectives *c;
	int ret = table_collectives_read(job->t, &c);

	if (ret == 0)
		add_rows(job->out, &c->clocks);
	return ret;
}
