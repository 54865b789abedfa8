/* SPDX-License-Identifier: MIT */
/* job_page.c - rtl fleet -f html: the questions of the page, all of the same ranks */
#include "cli/read/job_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/capture.h"
#include "cli/exit_status.h"
#include "cli/ui.h"
#include "fleet/fleet_html.h"

/* The job that it is of. */
static const char *choose_job(const struct job_page *p)
{
	const char *last = NULL;
	char list[400] = "";
	size_t used = 0, nr = 0;

	for (size_t i = 0; i < p->set->nr && !p->job; i++) {
		if (last && strcmp(last, p->set->ranks[i].job) == 0)
			continue;
		last = p->set->ranks[i].job;
		nr++;
		if (used + 100 < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.80s",
						 used ? ", " : "", last);
	}
	if (nr > 1)
		ui_die(STATUS_USAGE, "%s: has %zu jobs; --job JOB chooses one: %s%s", p->shown, nr,
		       list, used + 100 < sizeof(list) ? "" : ", ...");
	return p->job ? p->job : last;
}

static void list_marks(const struct job_page *p, struct fleet_html *h)
{
	size_t most = p->nr_marks > 0 ? (size_t)p->nr_marks : 0;
	struct fleet_html_mark *list = calloc(most + 1, sizeof(*list));

	if (!list)
		ui_die_memory();
	for (size_t i = 0; i < most; i++) {
		const struct dataset_mark *m = &p->marks[i];

		if (strcmp(*m->job ? m->job : "0", h->job) == 0)
			list[h->nr_marks++] = (struct fleet_html_mark){ .rank = m->rank,
									.pid = m->pid,
									.host = m->host };
	}
	h->marks = list;
}

/* The ranks with a timeline. */
static void pick(const struct job_page *p, struct fleet_html *h)
{
	if (!p->ranks && fleet_html_pick(h))
		ui_die_memory();
	for (size_t i = 0; i < p->set->nr && p->ranks; i++) {
		const struct fleet_rank *r = &p->set->ranks[i];

		if (!fleet_set_asks(r) || r->rank < 0 ||
		    !capture_list_has(p->ranks, (uint64_t)r->rank))
			continue;
		if (h->nr_picked == FLEET_HTML_PICKED)
			ui_die(STATUS_USAGE,
			       "--ranks %s: the page has timelines of %d ranks at most", p->ranks,
			       FLEET_HTML_PICKED);
		h->picked[h->nr_picked++] = r->rank;
	}
	if (p->ranks && !h->nr_picked)
		ui_die(STATUS_FAILED, "--ranks %s: job %s has none of these ranks", p->ranks,
		       h->job);
}

static void release(struct fleet_html *h)
{
	for (size_t i = 0; i < FLEET_HTML_QUESTIONS; i++) {
		sheet_fini(&h->sheets[i]);
		fleet_question_close(&h->questions[i]);
	}
	memset(h->sheets, 0, sizeof(h->sheets));
	h->nr_picked = 0;
}

static void ask_all(const struct job_page *p, struct fleet_html *h)
{
	fleet_set_ask(p->set, h->job, NULL, 0);
	if (!p->set->nr_asked)
		ui_die(STATUS_FAILED, "%s: job %s has no rank that can be read", p->shown, h->job);
	for (size_t i = 0; i < FLEET_HTML_QUESTIONS; i++) {
		if (fleet_question_open(&h->questions[i], fleet_html_questions[i]))
			ui_die(STATUS_FAILED, "the question %s can't be read",
			       fleet_html_questions[i]);
		if (i == FLEET_HTML_TIMELINE) {
			pick(p, h);
			fleet_set_ask(p->set, h->job, h->picked, h->nr_picked);
		}
		/* a job may have no dispatch, and so no rank with a timeline */
		if (p->set->nr_asked)
			p->ask(p->arg, &h->questions[i], &h->sheets[i]);
	}
}

void job_page_print(const struct job_page *p)
{
	struct fleet_html *h = calloc(1, sizeof(*h));
	size_t nr_bad;

	if (!h)
		ui_die_memory();
	h->set = p->set;
	h->shown = p->shown;
	h->job = choose_job(p);
	list_marks(p, h);
	/* a rank that was left out meanwhile is in the answers before */
	do {
		release(h);
		nr_bad = p->set->nr_bad;
		ask_all(p, h);
	} while (p->set->nr_bad > nr_bad);
	if (fleet_html_write(h, ui_output_file()) == -ENOMEM)
		ui_die_memory();
	ui_flush(); /* says what is wrong with the file */
	release(h);
	free((void *)(uintptr_t)h->marks);
	free(h);
}
