/* SPDX-License-Identifier: MIT */
/* cmd_top.c - rtl top: what a running process does now
 *
 * It reads the raw trace as that grows; the process itself only answers what its state is. On a
 * terminal each picture replaces the last one; elsewhere they follow one another as text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/read/tally.h"
#include "cli/read/top_view.h"
#include "cli/trace/control.h"
#include "cli/ui.h"
#include "store/follow.h"

enum { O_INTERVAL, O_NUMBER, O_ONCE, O_ROWS };

static const struct opt options[] = {
	[O_INTERVAL] = { 'd', "interval", OPT_UINT, .arg = "MS", .choices = "100..3600000",
			 .help = "time between two pictures (default 1000 ms)" },
	[O_NUMBER] = { 'n', "number", OPT_UINT, .arg = "N", .choices = "1..1000000000",
		       .help = "end after N pictures" },
	[O_ONCE] = { 0, "once", OPT_FLAG, .help = "print one picture, of one interval, as text" },
	[O_ROWS] = { 'r', "rows", OPT_UINT, .arg = "N", .choices = "1..1000",
		     .help = "at most N kernels and N functions" },
};

#define SCREEN_START "\033[H\033[2J"
#define SCREEN_TOP "\033[H"
#define LINE_REST "\033[K"
#define SCREEN_REST "\033[J"
#define DEFAULT_MS 1000u
#define DEFAULT_COLUMNS 80u
#define DEFAULT_ROWS 24u
#define NAP_NS 20000000

struct top {
	struct control_target target;
	struct control_reply reply;
	struct follow *follow; /* NULL: no trace is open */
	struct tally *tally;
	char spool[CONTROL_PATH_SIZE]; /* that is followed */
	uint64_t read_ns;	       /* when it was read */
	uint64_t span_ns;
	bool is_screen, is_drawn;
};

static unsigned int screen_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row :
									     DEFAULT_ROWS;
}

static void forget_trace(struct top *t)
{
	follow_close(t->follow);
	tally_destroy(t->tally);
	t->follow = NULL;
	t->tally = NULL;
	t->spool[0] = '\0';
}

/* Follows the trace that the process writes now. */
static void choose_trace(struct top *t)
{
	if (t->reply.state == CONTROL_IDLE)
		forget_trace(t);
	else if (*t->reply.spool && strcmp(t->spool, t->reply.spool) != 0) {
		forget_trace(t);
		memcpy(t->spool, t->reply.spool, sizeof(t->spool));
		t->tally = tally_create();
		if (follow_open(&t->follow, t->spool) != 0)
			ui_die_memory();
	}
}

/* Reads what is new. The sums of the last interval begin anew. */
static void read_trace(struct top *t)
{
	struct load_error error;
	uint64_t now = ui_now_ns();

	if (!t->follow)
		return;
	tally_begin(t->tally);
	t->span_ns = t->read_ns ? now - t->read_ns : 0;
	if (follow_read(t->follow, tally_record, t->tally, &error) < 0)
		ui_die(STATUS_FAILED, "%s", error.text);
	t->read_ns = now;
}

static void put_screen(struct top *t, const char *text)
{
	ui_put_raw(t->is_drawn ? SCREEN_TOP : SCREEN_START);
	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		ui_putf("%.*s" LINE_REST "\n", (int)(end - text), text);
	}
	ui_put_raw(SCREEN_REST);
}

static void draw(struct top *t, const struct opt_parsed *p)
{
	struct top_view view = {
		.pid = t->target.pid,
		.reply = &t->reply,
		.tally = t->tally,
		.facts = t->follow ? follow_facts(t->follow) : NULL,
		.span_ns = t->span_ns,
		.columns = ui_columns(STDOUT_FILENO, DEFAULT_COLUMNS),
		.rows = t->is_screen ? screen_rows() : 0,
		.nr_names = p->values[O_ROWS].num,
	};
	char *text = top_view_text(&view);

	if (t->is_screen) {
		put_screen(t, text);
	} else {
		ui_put(t->is_drawn ? "\n" : "");
		ui_put(text);
	}
	ui_flush();
	free(text);
	t->is_drawn = true;
}

/* false: a signal wants an end. */
static bool wait_ms(uint64_t ms)
{
	const struct timespec nap = { 0, NAP_NS };
	uint64_t until = ui_now_ns() + ms * 1000000u;

	while (ui_now_ns() < until && !ui_stopped_by())
		nanosleep(&nap, NULL);
	return !ui_stopped_by();
}

/* Whether the process has answered. */
static bool ask(struct top *t)
{
	char error[CONTROL_ERROR_SIZE];

	return control_ask(&t->target, CONTROL_STATUS, &t->reply, error) == 0;
}

static void run_pictures(struct top *t, const struct opt_parsed *p)
{
	uint64_t number = p->values[O_ONCE].count ? 1 : p->values[O_NUMBER].num;
	uint64_t ms = p->values[O_INTERVAL].count ? p->values[O_INTERVAL].num : DEFAULT_MS;

	choose_trace(t);
	read_trace(t); /* what was before: in all, not in the rates */
	for (uint64_t n = 0; (!number || n < number) && wait_ms(ms); n++) {
		if (!ask(t)) {
			ui_say("%u: the process has ended, or its trace", t->target.pid);
			return;
		}
		choose_trace(t);
		read_trace(t);
		draw(t, p);
	}
}

static int run_top(const struct opt_parsed *p)
{
	struct top *t = calloc(1, sizeof(*t));
	int stopped;

	if (!t)
		ui_die_memory();
	control_must_ask(control_pid(p->operands[0]), CONTROL_STATUS, &t->target, &t->reply);
	t->is_screen = ui_terminal(STDOUT_FILENO) && !p->values[O_ONCE].count;
	ui_stop_in_order("");
	run_pictures(t, p);
	forget_trace(t);
	free(t);
	stopped = ui_stopped_by();
	return stopped ? 128 + stopped : 0;
}

static const struct opt_status statuses[] = {
	{ "0", "done, or the process has ended" },
	{ "1", "PID can't be reached, or its raw trace can't be read" },
	{ "2", "the command line is wrong" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_top = {
	.name = "top",
	.summary = "shows what a running process does now",
	.usage = "[options] PID",
	.operands = "PID",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"Shows the rates of dispatches, API calls and copies, the kernels and functions that took most of the last interval, "
		"the bandwidth of copies by direction, and what was lost or left out. On a terminal the picture is replaced at each "
		"interval, until Ctrl-C; elsewhere pictures follow one another as text.\n"
		"\n"
		"TIME is the sum of the times of the operations or calls that ended in the interval, as a share of it: more than 100% where several "
		"run at once. MEAN is the mean time of the interval, or in all if there was none. The command reads "
		"the raw trace while it grows; the process computes nothing for it.",
	.examples =
		"rtl top 4711\nrtl top --once 4711\nrtl top -n 10 --interval 500 4711 > rates.txt\n",
	.run = run_top,
};
