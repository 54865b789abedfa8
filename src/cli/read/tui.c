/* SPDX-License-Identifier: MIT */
/* tui.c - the screen of `rtl tui`: the loop, keys, titles, the line for input, help
 *
 * The thread of this file draws what it has and reads keys; it never waits for the trace, which two
 * other threads read.
 */
#include "cli/read/tui.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/opts.h"
#include "cli/paths.h"
#include "cli/read/screen.h"
#include "cli/ui.h"

#define LOOK_MS 500 /* between looks at the file and for signals */

static const char *const titles[TAB_NR] = {
	"Overview", "Timeline", "Kernels", "Calls", "Copies",	 "Ranges",   "Gaps",   "Findings",
	"Losses",   "Errors",	"Streams", "GPUs",  "Processes", "Counters", "Graphs",
};

int tui_height(void)
{
	int rows = screen_rows() - TUI_TOP - 1;

	return rows < 3 ? 3 : rows;
}

void tui_say(struct tui *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
}

/* ---- the file ---- */

/* Bytes and the time of the last change; of a raw trace those of its files. It changes when the
 * trace grows. */
static int64_t state_of(const char *path)
{
	int64_t state = 0;
	struct stat st;
	struct dirent *entry;
	DIR *dir;

	if (stat(path, &st))
		return 0;
	state = st.st_size + st.st_mtim.tv_sec * 1000003 + st.st_mtim.tv_nsec;
	dir = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		char file[PATH_MAX];

		if (entry->d_name[0] != '.' && paths_join(file, path, entry->d_name) &&
		    stat(file, &st) == 0)
			state += st.st_size + st.st_mtim.tv_sec * 1000003 + st.st_mtim.tv_nsec;
	}
	if (dir)
		closedir(dir);
	return state;
}

/* ---- drawing ---- */

static void draw_title(const struct tui *t)
{
	const struct verdict *v = &t->q->verdict;
	char text[sizeof(v->line) + 8];
	int used;

	screen_put(0, 0, SCREEN_PLAIN, "", 0, screen_columns());
	used = screen_put(0, 1, SCREEN_STRONG, t->path, screen_columns() / 2, 0);
	snprintf(text, sizeof(text), "   %s", v->line);
	screen_put(0, used + 1, v->complete ? SCREEN_FAINT : SCREEN_BAD, text, screen_columns(), 0);
	if (t->is_grown) {
		static const char grown[] = " the file has changed: F5 reads it again ";

		used = screen_columns() - (int)sizeof(grown) + 1;
		screen_put(0, used, SCREEN_SELECTED, grown, screen_columns(), 0);
	}
}

/* The titles of the tabs; where they don't fit, those around the chosen one. */
static void draw_tabs(const struct tui *t)
{
	int width = 0, first = 0, x = 0;

	for (int i = 0; i <= (int)t->tab; i++)
		width += (int)strlen(titles[i]) + 2;
	while (width > screen_columns() - 4)
		width -= (int)strlen(titles[first++]) + 2;
	screen_put(1, 0, SCREEN_PLAIN, "", 0, screen_columns());
	if (first)
		x = screen_put(1, 0, SCREEN_FAINT, "<", 1, 0);
	for (int i = first; i < TAB_NR; i++) {
		char text[32];

		snprintf(text, sizeof(text), " %s ", titles[i]);
		if (x + (int)strlen(text) > screen_columns() - 1) {
			screen_put(1, screen_columns() - 1, SCREEN_FAINT, ">", 1, 0);
			break;
		}
		x += screen_put(1, x, i == (int)t->tab ? SCREEN_SELECTED : SCREEN_PLAIN, text, 32,
				0);
	}
}

/* F1Help F3Search ...: the keys of what is shown. */
static void draw_keys(const struct tui *t)
{
	static const char *const of_table[] = { "F1",	  "Help", "F3",	  "Search", "F4",
						"Filter", "F6",	  "Sort", "Enter",  "Details",
						"Tab",	  "Next", "q",	  "Quit",   NULL };
	static const char *const of_text[] = { "F1",   "Help", "F3",   "Search", "Tab",
					       "Next", "q",    "Quit", NULL };
	static const char *const of_lanes[] = { "F1",  "Help", "F3", "Search", "+-", "Zoom",
						"ad",  "Pan",  "[]", "Slices", "g",  "Joined",
						"Tab", "Next", "q",  "Quit",   NULL };
	static const char *const of_detail[] = { "F1", "Help", "Esc", "Back", "q", "Quit", NULL };
	const struct tui_view *v = &t->views[t->tab];
	const char *const *keys = t->tab == TAB_TIMELINE ? of_lanes :
				  v->is_detail		 ? of_detail :
				  v->page.text		 ? of_text :
							   of_table;
	int x = 0, y = screen_rows() - 1;

	for (; keys[0]; keys += 2) {
		x += screen_put(y, x, SCREEN_PLAIN, keys[0], 10, 0);
		x += screen_put(y, x, SCREEN_BAR, keys[1], 12, (int)strlen(keys[1]) + 1);
	}
}

static void draw_bottom(const struct tui *t)
{
	const struct tui_view *v = &t->views[t->tab];
	int y = screen_rows() - 1;
	char text[300];

	if (t->input) {
		snprintf(text, sizeof(text), "%s: %s_",
			 t->input == INPUT_SEARCH ? "Search" : "Filter", t->typed);
		screen_put(y, 0, SCREEN_STRONG, text, screen_columns(), screen_columns());
		return;
	}
	if (*t->message) {
		screen_put(y, 0, SCREEN_STRONG, t->message, screen_columns(), screen_columns());
		return;
	}
	draw_keys(t);
	if (t->tab != TAB_TIMELINE && v->is_ready && v->page.table.nr_columns && !v->is_detail) {
		size_t all = v->page.table.nr_rows;

		if (*v->filter)
			snprintf(text, sizeof(text), " %zu/%zu of %zu, with '%s'",
				 v->nr_rows ? v->at + 1 : 0, v->nr_rows, all, v->filter);
		else
			snprintf(text, sizeof(text), " %zu/%zu", v->nr_rows ? v->at + 1 : 0, all);
		screen_put(y, screen_columns() - (int)strlen(text) - 1, SCREEN_PLAIN, text, 100, 0);
	}
}

static const char *const help[] = {
	"KEYS",
	"  F1 ? h (not in the timeline)  this help         F10 q     quit",
	"  Tab Shift-Tab     next, previous tab            1 to 9    that tab",
	"  F3 /  n N         search, next, previous        F5 R      read the file again",
	"",
	"TABLES",
	"  Up Down j k  PgUp PgDn  Home End   move         Enter     details, with a histogram",
	"  F6 > <            sort by the next, previous column       I  invert the order",
	"  F4 \\              show only rows with a text in the name  Esc  show all",
	"  A kernel's LAUNCH is the time from the begin of its call, DELAY from the end of it;",
	"  rtl help summary explains all columns. Columns that don't fit are in the details.",
	"",
	"TIMELINE",
	"  Up Down j k       row                           Left Right h l   cursor",
	"  + - w s           zoom in, out at the cursor    a d       pan",
	"  0                 all of the trace              Home End  its begin, its end",
	"  ] [               next, previous slice of the row",
	"  Enter             show the slice under the cursor",
	"  g                 from an operation to its call, from a call to its first operation,",
	"                    from a collective to the kernel of the rank that came last",
	"  m                 set a mark, from which times are measured",
	"  t                 rows of streams, or of queues",
	"  A column's height is the share of its time with operations, its colour that of the",
	"  longest one's name.",
};
#define HELP_LINES (sizeof(help) / sizeof(help[0]))

static void draw_help(struct tui *t)
{
	size_t height = (size_t)screen_rows() - 1;

	if (t->help_top + height > HELP_LINES)
		t->help_top = HELP_LINES > height ? HELP_LINES - height : 0;
	for (size_t i = 0; i < height && t->help_top + i < HELP_LINES; i++) {
		const char *line = help[t->help_top + i];

		screen_put((int)i, 0, *line == ' ' ? SCREEN_PLAIN : SCREEN_STRONG, line,
			   screen_columns(), 0);
	}
	screen_put((int)height, 0, SCREEN_BAR, " any key: back   Up Down: scroll", screen_columns(),
		   screen_columns());
}

static void draw(struct tui *t)
{
	screen_clear();
	if (screen_rows() < 6 || screen_columns() < 30) {
		screen_put(0, 0, SCREEN_PLAIN, "larger window, please", screen_columns(), 0);
	} else if (t->is_help) {
		draw_help(t);
	} else {
		draw_title(t);
		draw_tabs(t);
		if (t->tab == TAB_TIMELINE)
			tui_lanes_draw(t);
		else
			tui_table_draw(t);
		draw_bottom(t);
	}
	screen_show();
}

/* ---- keys ---- */

static void search(struct tui *t, int step)
{
	if (t->tab == TAB_TIMELINE)
		tui_lanes_search(t, step);
	else
		tui_table_search(t, step);
}

static void end_input(struct tui *t, int key)
{
	enum tui_input input = t->input;

	t->input = INPUT_NONE;
	if (key == SCREEN_ESCAPE)
		return;
	if (input == INPUT_FILTER) {
		tui_table_filter(t);
		return;
	}
	snprintf(t->search, sizeof(t->search), "%s", t->typed);
	search(t, 1);
}

static void input_key(struct tui *t, int key)
{
	size_t used = strlen(t->typed);

	if (key == SCREEN_ENTER || key == SCREEN_ESCAPE) {
		end_input(t, key);
	} else if (key == SCREEN_BACKSPACE) {
		while (used && (t->typed[--used] & 0xc0) == 0x80)
			;
		t->typed[used] = 0;
	} else if (key >= ' ' && key < 256 && key != 127 && used + 1 < sizeof(t->typed)) {
		t->typed[used] = (char)key;
		t->typed[used + 1] = 0;
	}
}

static void begin_input(struct tui *t, enum tui_input input)
{
	if (input == INPUT_FILTER &&
	    (t->tab == TAB_TIMELINE || !t->views[t->tab].page.table.nr_columns)) {
		tui_say(t, "only tables have a filter");
		return;
	}
	t->input = input;
	t->typed[0] = 0;
}

static void choose_tab(struct tui *t, int tab)
{
	t->tab = (enum tui_tab)((tab + TAB_NR) % TAB_NR);
	if (t->tab == TAB_TIMELINE)
		t->lanes.is_stale = true;
}

static bool common_key(struct tui *t, int key)
{
	switch (key) {
	case SCREEN_F10:
	case 'q':
		t->is_over = true;
		return true;
	case SCREEN_F1:
	case '?':
	case 'h':
		t->is_help = true;
		return true;
	case SCREEN_F1 + 2:
	case '/':
		begin_input(t, INPUT_SEARCH);
		return true;
	case SCREEN_F1 + 3:
	case '\\':
		begin_input(t, INPUT_FILTER);
		return true;
	case SCREEN_F1 + 4:
	case 'R':
		t->reload = t->is_over = true;
		return true;
	case 'n':
	case 'N':
		search(t, key == 'n' ? 1 : -1);
		return true;
	case SCREEN_TAB:
		choose_tab(t, (int)t->tab + 1);
		return true;
	case SCREEN_BACK_TAB:
		choose_tab(t, (int)t->tab - 1);
		return true;
	}
	if (key >= '1' && key <= '9') {
		choose_tab(t, key - '1');
		return true;
	}
	return false;
}

static void help_key(struct tui *t, int key)
{
	if (key == SCREEN_DOWN || key == 'j')
		t->help_top++;
	else if (key == SCREEN_UP || key == 'k')
		t->help_top -= t->help_top > 0;
	else
		t->is_help = false;
}

/* Whether the key has to wait for the slice that is looked for. Esc and what leaves the timeline
 * don't. */
static bool waits(struct tui *t, int key)
{
	if (t->tab != TAB_TIMELINE || !t->lanes.is_finding)
		return false;
	if (key == SCREEN_ESCAPE) {
		t->lanes.is_finding = false;
		t->lanes.is_stale = true;
		t->nr_waiting = 0;
	}
	if (key == SCREEN_ESCAPE || key == 'q' || key == SCREEN_F10 || key == SCREEN_TAB ||
	    key == SCREEN_BACK_TAB || key == SCREEN_RESIZED)
		return false;
	if (t->nr_waiting < sizeof(t->waiting) / sizeof(t->waiting[0]))
		t->waiting[t->nr_waiting++] = key;
	return true;
}

static void take_key(struct tui *t, int key)
{
	if (waits(t, key))
		return;
	t->message[0] = 0;
	if (key == SCREEN_RESIZED)
		t->lanes.is_stale = true;
	else if (t->is_help)
		help_key(t, key);
	else if (t->input)
		input_key(t, key);
	else if (t->tab == TAB_TIMELINE ? tui_lanes_key(t, key) : tui_table_key(t, key))
		return;
	else
		common_key(t, key);
}

static void take_waiting_keys(struct tui *t)
{
	while (t->nr_waiting && !t->lanes.is_finding) {
		int key = t->waiting[0];

		memmove(t->waiting, t->waiting + 1, --t->nr_waiting * sizeof(key));
		take_key(t, key);
	}
}

/* ---- the loop ---- */

static void take_pages(struct tui *t)
{
	struct tui_page page;
	int tab = tui_load_take(&page);
	struct tui_view *v;

	if (tab < 0)
		return;
	v = &t->views[tab];
	tui_table_forget(v);
	v->page = page;
	v->is_ready = true;
	v->is_asked = false;
}

static void look_at_file(struct tui *t)
{
	static uint64_t looked_ns;
	uint64_t now = ui_now_ns();

	if (now - looked_ns < 2u * LOOK_MS * 1000000u)
		return;
	looked_ns = now;
	if (!t->is_grown)
		t->is_grown = state_of(t->path) != t->state;
}

static void end(struct tui *t)
{
	for (int i = 0; i < TAB_NR; i++)
		tui_table_forget(&t->views[i]);
	tui_time_free(t->lanes.picture);
	free(t->buckets);
	free(t->histogram);
}

bool tui_run(struct query *q, const char *path, enum tui_tab *tab)
{
	static struct tui tui;
	struct tui *t = &tui;

	t->q = q;
	t->path = path;
	t->tab = *tab;
	t->state = state_of(path);
	for (int i = 0; i < TAB_NR; i++)
		t->views[i].sort = -1;
	tui_load_start(q);
	tui_time_start(q);
	while (!t->is_over && !ui_stopped_by()) {
		int key;

		take_pages(t);
		tui_lanes_take(t);
		take_waiting_keys(t);
		look_at_file(t);
		draw(t);
		key = screen_key(LOOK_MS);
		/* keys that are there already, before anything is drawn */
		for (; key >= 0 && !t->is_over; key = screen_key(0))
			take_key(t, key);
		if (key == SCREEN_END)
			t->is_over = true;
	}
	*tab = t->tab;
	end(t);
	return t->reload;
}
