/* SPDX-License-Identifier: MIT */
/* screen.h - the whole terminal, drawn with ncurses
 *
 * The library is loaded when a command first needs it: other commands neither wait for it nor need
 * it. One thread draws and reads keys; screen_close() and screen_wake() may be called on any.
 */
#ifndef RTL_CLI_READ_SCREEN_H
#define RTL_CLI_READ_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_STRONG,
	SCREEN_FAINT,
	SCREEN_BAR,	 /* titles of columns, keys */
	SCREEN_SELECTED, /* what the cursor is on */
	SCREEN_GOOD,
	SCREEN_BAD,
#define SCREEN_SLICES 6
	SCREEN_SLICE, /* operations and calls: SCREEN_SLICE + 0..5 */
	SCREEN_FILLED = SCREEN_SLICE + SCREEN_SLICES, /* their names, on their colour */
	SCREEN_STYLES = SCREEN_FILLED + SCREEN_SLICES,
};

/* Keys beside characters. */
enum screen_key {
	SCREEN_NO_KEY = -1, /* time is over, or screen_wake() */
	SCREEN_END = -2,    /* the terminal is gone */
	SCREEN_UP = 0x200000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_FIRST,
	SCREEN_LAST,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_TAB,
	SCREEN_BACK_TAB,
	SCREEN_RESIZED,
	SCREEN_F1,
	SCREEN_F10 = SCREEN_F1 + 9,
};

struct screen_options {
	bool ascii;  /* no character beyond ASCII, whatever the locale is */
	bool colour; /* if the terminal has colours */
};

/* Takes the terminal on stdin and stdout. 0; -ENOENT: there is no ncurses; -ENOTTY: the terminal
 * can't move its cursor, or terminfo does not know it. */
int screen_open(const struct screen_options *options);
/* Gives the terminal back, once. */
void screen_close(void);
/* screen_key() returns. */
void screen_wake(void);

int screen_rows(void);
int screen_columns(void);
bool screen_is_utf8(void);
/* Reverse video stands for colours. */
bool screen_is_plain(void);

void screen_clear(void);
/* Writes at most `width` columns of text, and spaces up to `pad` columns. Control characters become
 * '?'. Returns the columns written. */
int screen_put(int row, int column, enum screen_style style, const char *text, int width, int pad);
/* Shows what was written since the last time. */
void screen_show(void);

/* The next key or character, after at most `ms`. */
int screen_key(int ms);

#endif
