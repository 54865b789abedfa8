/* SPDX-License-Identifier: MIT */
/* ui.c - messages, colours and progress bars
 *
 * Fails:    out of memory and write errors on stdout end the process.
 * Not here: tables (grid.c), help texts (opts.c).
 */
#include "cli/ui.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"
#include "base/text.h"
#include "cli/exit_status.h"

static const char *prefix = "rtl";
static bool quiet;
static const struct ui_hooks *hooks;
static int failure_status = STATUS_FAILED;

void ui_init(const char *new_prefix)
{
	prefix = new_prefix;
}

void ui_quiet(bool now)
{
	quiet = now;
}

void ui_hook(const struct ui_hooks *new_hooks)
{
	hooks = new_hooks;
}

/* Prints a message. It may contain names from a trace, so what a terminal would act on becomes
 * '?'. */
static void print_message(const char *fmt, va_list ap)
{
	char buf[4096];
	size_t used;
	int n;

	if (hooks)
		hooks->leave();
	used = (size_t)snprintf(buf, sizeof(buf), "%s: ", prefix);
	n = vsnprintf(buf + used, sizeof(buf) - used - 1, fmt, ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(buf) - used - 1) {
		memcpy(buf + sizeof(buf) - 5, "...", 3);
		used = sizeof(buf) - 2;
	} else {
		used += (size_t)n;
	}
	buf[used] = '\0';
	used = text_clean(buf, "\n\t");
	buf[used++] = '\n';
	for (size_t done = 0; done < used;) {
		ssize_t got = write(STDERR_FILENO, buf + done, used - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break; /* stderr is closed: drop the message */
		done += (size_t)got;
	}
}

void ui_say(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	if (hooks) {
		char text[1024];

		vsnprintf(text, sizeof(text), fmt, ap);
		hooks->say(text);
	} else {
		print_message(fmt, ap);
	}
	va_end(ap);
}

void ui_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

void ui_die(int status, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	exit(status == STATUS_FAILED ? failure_status : status);
}

void ui_failure_status(int status)
{
	failure_status = status;
}

void ui_die_memory(void)
{
	ui_error("out of memory");
	exit(failure_status);
}

unsigned int ui_columns(int fd, unsigned int otherwise)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;

	if (text) {
		char *end;
		unsigned long n = strtoul(text, &end, 10);

		if (!*end && n >= 20 && n <= 10000)
			return (unsigned int)n;
	}
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return isatty(fd) ? 80 : otherwise;
}

bool ui_terminal(int fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool ui_colour(int fd)
{
	const char *no = getenv("NO_COLOR");

	/* with hooks what is printed goes to them, or to a text for the screen */
	return !hooks && !(no && *no) && ui_terminal(fd);
}

uint64_t ui_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* timeout(1) sends its signal twice: to the process and to its group */
#define SAME_STOP_NS UINT64_C(100000000)

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define NR_STOP_SIGNALS (sizeof(stop_signals) / sizeof(stop_signals[0]))

static volatile sig_atomic_t stopped_by, stops_in_order;
static uint64_t stopped_ns; /* the handler's */
static const char *volatile stop_hint;

/* As write(2) returns: the process ends anyway. */
static ssize_t put_text(const char *text)
{
	return write(STDERR_FILENO, text, strlen(text));
}

static void on_stop(int signo)
{
	int saved = errno;
	uint64_t now = ui_now_ns();
	const char *hint = stop_hint;

	if (stops_in_order && !stopped_by) {
		stopped_by = signo;
		stopped_ns = now;
	} else if (!stops_in_order || now - stopped_ns >= SAME_STOP_NS) {
		temporary_delete_all();
		if (stops_in_order && put_text(prefix) >= 0 &&
		    put_text(": stopped at once; ") >= 0 && put_text(hint) >= 0)
			put_text("\n");
		_exit(128 + signo);
	}
	errno = saved;
}

static void set_stop(void (*handler)(int), void (*unless)(int))
{
	struct sigaction action, old;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	for (size_t i = 0; i < NR_STOP_SIGNALS; i++)
		sigaddset(&action.sa_mask, stop_signals[i]);
	for (size_t i = 0; i < NR_STOP_SIGNALS; i++)
		if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != unless)
			sigaction(stop_signals[i], &action, NULL);
}

void ui_stop_at_once(void)
{
	set_stop(on_stop, SIG_IGN); /* keep ignored signals ignored: nohup */
}

void ui_stop_in_order(const char *hint)
{
	stop_hint = hint;
	stops_in_order = 1;
	ui_stop_at_once();
}

int ui_stopped_by(void)
{
	return stopped_by;
}

const char *ui_stop_hint(void)
{
	return stop_hint ? stop_hint : "nothing was written";
}

void ui_stop_default(void)
{
	set_stop(SIG_DFL, SIG_IGN);
}

void ui_progress_start(struct ui_progress *p, const char *what, enum ui_progress_mode mode)
{
	memset(p, 0, sizeof(*p));
	p->what = what;
	p->mode = mode;
	p->start_ns = ui_now_ns();
	if (mode == UI_PROGRESS_AUTO && (quiet || !ui_terminal(STDERR_FILENO)))
		p->mode = UI_PROGRESS_NEVER;
}

int ui_progress_step(void *progress, uint64_t done, uint64_t total)
{
	struct ui_progress *p = progress;
	unsigned int percent, filled;
	uint64_t now;
	char bar[25];

	if (stopped_by)
		return 1;
	if (p->mode == UI_PROGRESS_NEVER)
		return 0;
	now = ui_now_ns();
	if (p->mode == UI_PROGRESS_AUTO && now - p->start_ns < 1000000000u)
		return 0;
	if (p->drawn && now - p->drawn_ns < 100000000u)
		return 0;
	if (done > total)
		done = total;
	percent = total ? (unsigned int)((double)done * 100.0 / (double)total) : 0;
	filled = percent * (sizeof(bar) - 1) / 100;
	memset(bar, '-', sizeof(bar) - 1);
	memset(bar, '#', filled);
	bar[sizeof(bar) - 1] = 0;
	dprintf(STDERR_FILENO, "\r%s: %s [%s] %3u%%", prefix, p->what, bar, percent);
	p->drawn = true;
	p->drawn_ns = now;
	return 0;
}

void ui_progress_end(struct ui_progress *p)
{
	if (p->drawn && ui_terminal(STDERR_FILENO))
		dprintf(STDERR_FILENO, "\r\033[K");
	else if (p->drawn)
		dprintf(STDERR_FILENO, "\n");
	p->drawn = false;
}

static void stdout_failed(void)
{
	int error = errno;

	if (error == EPIPE) /* `rtl summary f | head` is not an error */
		_exit(141);
	ui_error("standard output: %s", strerror(error));
	_exit(failure_status);
}

static FILE *output; /* NULL: stdout */

void ui_output(FILE *file)
{
	output = file;
}

FILE *ui_output_file(void)
{
	return output ? output : stdout;
}

void ui_put_raw(const char *text)
{
	if (fputs(text, ui_output_file()) == EOF)
		stdout_failed();
}

void ui_flush(void)
{
	if (fflush(ui_output_file()) == EOF || ferror(ui_output_file()))
		stdout_failed();
}

char *ui_format(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		ui_die_memory();
	return text;
}

void *ui_keep(void *memory)
{
	static void **kept;
	static size_t nr;

	if ((nr & (nr - 1)) == 0) {
		kept = reallocarray(kept, nr ? nr * 2 : 1, sizeof(*kept));
		if (!kept)
			ui_die_memory();
	}
	kept[nr++] = memory;
	return memory;
}
