/* SPDX-License-Identifier: MIT */
/* ui.h - messages, colours and progress bars: messages go to stderr, data to stdout
 *
 * Single-threaded, except ui_say(), which any thread may call. Only this file and main.c may end
 * the process.
 */
#ifndef RTL_CLI_UI_H
#define RTL_CLI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "query/figure.h"

enum ui_progress_mode { UI_PROGRESS_AUTO, UI_PROGRESS_ALWAYS, UI_PROGRESS_NEVER };

/* The prefix of every message: "rtl trace". The text must live as long as the process. */
void ui_init(const char *prefix);
void ui_quiet(bool quiet); /* turns ui_say() off; errors are still printed */

/* For a program that has the whole screen. Both are called on the thread that has the message. */
struct ui_hooks {
	void (*say)(const char *text); /* gets what ui_say() would print, without the prefix */
	void (*leave)(void);	       /* gives the terminal back before an error is printed */
};
/* NULL: none, as at first. */
void ui_hook(const struct ui_hooks *hooks);

/* Prints a line on stderr: the prefix, ": " and the text. One write(2), so that lines of several
 * processes stay whole. */
void ui_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for errors: printed even when quiet. */
void ui_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ui_die(int status, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
_Noreturn void ui_die_memory(void);
/* The status that STATUS_FAILED becomes in ui_die() and other fatal errors from here on, for a
 * command whose status 1 means something else. */
void ui_failure_status(int status);

/* COLUMNS if it is set, else the columns of the terminal on fd, else `otherwise`. */
unsigned int ui_columns(int fd, unsigned int otherwise);
/* Whether fd is a terminal whose cursor can be moved: TERM is set and not "dumb". */
bool ui_terminal(int fd);
/* Whether to use colours on fd: ui_terminal(fd), and NO_COLOR is not set. */
bool ui_colour(int fd);

/* INT, TERM, HUP and QUIT, unless they are ignored: from here on they end the process with status
 * 128 + N, after its temporary files are deleted. */
void ui_stop_at_once(void);
/* From here on the first of them is only noted: ui_progress_step() returns non-zero to stop its
 * caller. A second one, not of the same moment, ends the process at once and prints the hint, which
 * says what to do to continue; it must live as long as the process. */
void ui_stop_in_order(const char *hint);
int ui_stopped_by(void); /* the signal, or 0 */
const char *ui_stop_hint(void);
/* In a new process, before it executes a program: the default actions again. */
void ui_stop_default(void);

/* A bar on stderr, if it is a terminal, for work that takes longer than a second. */
struct ui_progress {
	const char *what;
	enum ui_progress_mode mode;
	uint64_t start_ns, drawn_ns;
	bool drawn;
};
void ui_progress_start(struct ui_progress *p, const char *what, enum ui_progress_mode mode);
/* Shows `done` of `total` bytes; has the type of job_options.progress. Non-zero: stop
 * (ui_stop_in_order()). */
int ui_progress_step(void *progress, uint64_t done, uint64_t total);
void ui_progress_end(struct ui_progress *p); /* erases the bar */

/* Numbers as text: query/figure.h. */
#define UI_NUMBER_SIZE FIGURE_SIZE
#define ui_count figure_count
#define ui_time figure_time
#define ui_share figure_share
#define ui_percent figure_percent
#define ui_bytes figure_bytes

/* Writes text to stdout; a closed pipe ends the process quietly, another error with a message. */
void ui_put(const char *text);
/* The argument of each %s is a line of text of others: newlines, tabs, escapes and whatever else a
 * terminal would act on become '?'. What is in the format is printed as it is; ui_put() keeps
 * newlines and tabs. No %n, no wide characters, no long double. */
void ui_putf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ui_put_raw(
	const char *
		/* our own escape sequences, or text that csv_field() or a writer of ours made */
		text);
void ui_flush(void);
/* Where ui_put() writes from here on, stdout at first. */
void ui_output(FILE *file);
FILE *ui_output_file(void);

uint64_t ui_now_ns(void); /* CLOCK_MONOTONIC */

/* Keeps a pointer to memory that lives as long as the process, so that leak checkers find it;
 * returns it. */
void *ui_keep(void *memory);
/* printf to a malloc'd string; out of memory ends the process. */
char *ui_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
