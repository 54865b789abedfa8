/* SPDX-License-Identifier: MIT */
/* tui_load.c - makes the tables of `rtl tui` with the code of `rtl summary`
 *
 * Fails:    errors of the file and out of memory end the process (ui_die).
 */
#include "cli/read/tui_load.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "cli/read/screen.h"
#include "cli/read/summary.h"
#include "cli/ui.h"

/* What is asked for, and what is done: one of each, since the drawing thread looks at one tab at a
 * time. */
static struct lock lock = LOCK_INIT(LOCK_TUI);
static struct {
	int asked RTL_GUARDED_BY(lock); /* -1: nothing */
	unsigned int width RTL_GUARDED_BY(lock);
	int done RTL_GUARDED_BY(lock);
	struct tui_page page RTL_GUARDED_BY(lock);
	int wake_fd;
} shared = { .asked = -1, .done = -1, .wake_fd = -1 };

void tui_load_free(struct tui_page *page)
{
	sheet_fini(&page->table);
	free(page->text);
	free(page->note);
	*page = (struct tui_page){ 0 };
}

void tui_load_ask(enum tui_tab tab, unsigned int width)
{
	uint64_t one = 1;

	lock_take(&lock);
	shared.asked = (int)tab;
	shared.width = width;
	lock_drop(&lock);
	if (write(shared.wake_fd, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

int tui_load_take(struct tui_page *page)
{
	uint64_t one = 1;
	int tab;

	lock_take(&lock);
	tab = shared.done;
	*page = shared.page;
	shared.page = (struct tui_page){ 0 };
	shared.done = -1;
	lock_drop(&lock);
	/* the thread waits until it is taken */
	if (tab >= 0 && write(shared.wake_fd, &one, sizeof(one)) < 0)
		return tab;
	return tab;
}

/* ---- the thread ---- */

/* of the thread alone */
static struct tui_page made;
static const char *path;

void tui_load_note(const char *text)
{
	size_t size = strlen(path);

	/* the first says why a table is empty; the screen has the path and the verdict already */
	if (made.note)
		return;
	if (strncmp(text, path, size) == 0 && strncmp(text + size, ": ", 2) == 0)
		text += size + 2;
	made.note = ui_format("%s", text);
}

static void make_losses(const struct query *q)
{
	static const struct sheet_column columns[] = {
		{ .key = "count", .title = "COUNT", .unit = SHEET_COUNT },
		{ .key = "class", .title = "CLASS", .unit = SHEET_NAME },
		{ .key = "reason", .title = "REASON", .unit = SHEET_NAME },
		{ .key = "pid", .title = "PID", .unit = SHEET_NUMBER, .drop = 1 },
		{ .key = "text", .title = "WHAT", .unit = SHEET_NAME },
	};
	sheet_columns(&made.table, columns, 5);
	for (size_t i = 0; i < q->verdict.nr_rows; i++) {
		const struct verdict_row *row = &q->verdict.rows[i];
		const struct sheet_cell cells[] = {
			{ .num = row->count },	 { .text = load_class_name(row->class) },
			{ .text = row->reason }, { .num = row->pid, .none = !row->pid },
			{ .text = row->text },
		};

		sheet_row(&made.table, cells);
	}
	made.note = ui_format("nothing was lost: the trace is %s", q->verdict.line);
}

/* Each finding is a paragraph. */
static void make_findings(struct summary *s)
{
	const struct findings *found = summary_findings(s);
	char *all = NULL;

	for (size_t i = 0; i < found->nr; i++) {
		char *own = summary_findings_text(&found->list[i]);
		char *more = ui_format("%s%zu. %s\n", all ? all : "", i + 1, own);

		free(all);
		free(own);
		all = more;
	}
	if (found->missing) {
		char *more = ui_format("%s%s\n", all ? all : "", found->missing);

		free(all);
		all = more;
	}
	made.text = all ? all : ui_format("Nothing conspicuous was found.\n");
}

static void make_text(struct summary *s)
{
	size_t size;
	FILE *file = open_memstream(&made.text, &size);

	if (!file)
		ui_die_memory();
	ui_output(file);
	summary_print(s, "overview");
	ui_output(stdout);
	fclose(file);
}

static void make_page(struct summary *s, enum tui_tab tab, unsigned int width)
{
	static const enum summary_by by[TAB_NR] = {
		[TAB_KERNELS] = SUMMARY_KERNEL,	   [TAB_CALLS] = SUMMARY_API,
		[TAB_COPIES] = SUMMARY_COPY,	   [TAB_RANGES] = SUMMARY_RANGE,
		[TAB_GAPS] = SUMMARY_GAP,	   [TAB_ERRORS] = SUMMARY_ERROR,
		[TAB_STREAMS] = SUMMARY_STREAM,	   [TAB_GPUS] = SUMMARY_GPU,
		[TAB_PROCESSES] = SUMMARY_PROCESS, [TAB_COUNTERS] = SUMMARY_COUNTER,
		[TAB_GRAPHS] = SUMMARY_GRAPH,
	};

	made = (struct tui_page){ .width = width };
	/* many gaps are alike: the longest are enough */
	s->rows = tab == TAB_OVERVIEW ? UINT64_MAX : tab == TAB_GAPS ? 1000 : 0;
	s->style.width = tab == TAB_OVERVIEW ? width - 1 : 0;
	if (tab == TAB_OVERVIEW)
		make_text(s);
	else if (tab == TAB_FINDINGS)
		make_findings(s);
	else if (tab == TAB_LOSSES)
		make_losses(s->q);
	else
		summary_make(s, by[tab], &made.table);
	if (sheet_check(&made.table))
		ui_die_memory();
}

static void publish(enum tui_tab tab)
{
	struct pollfd fd = { .fd = shared.wake_fd, .events = POLLIN };
	bool is_free = false;
	uint64_t count;

	while (!is_free) {
		lock_take(&lock);
		is_free = shared.done < 0;
		if (is_free) {
			shared.done = (int)tab;
			shared.page = made;
		}
		lock_drop(&lock);
		if (!is_free && poll(&fd, 1, 100) > 0 &&
		    read(shared.wake_fd, &count, sizeof(count)) < 0)
			continue;
	}
	screen_wake();
}

static void *load_thread(void *arg)
{
	struct summary *s = arg;
	struct pollfd fd = { .fd = shared.wake_fd, .events = POLLIN };
	uint64_t count;

	pthread_setname_np(pthread_self(), "rtl-load");
	for (;;) {
		unsigned int width;
		int tab;

		lock_take(&lock);
		tab = shared.asked;
		width = shared.width;
		shared.asked = -1;
		lock_drop(&lock);
		if (tab >= 0) {
			make_page(s, (enum tui_tab)tab, width);
			publish((enum tui_tab)tab);
		} else if (poll(&fd, 1, -1) > 0 &&
			   read(shared.wake_fd, &count, sizeof(count)) < 0) {
			continue;
		}
	}
	return NULL;
}

void tui_load_start(struct query *q)
{
	static struct summary summary;
	pthread_t thread;

	summary.q = summary.tables.q = q;
	path = q->path;
	shared.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shared.wake_fd < 0 || pthread_create(&thread, NULL, load_thread, &summary))
		ui_die_memory();
	pthread_detach(thread);
}
