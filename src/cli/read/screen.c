/* SPDX-License-Identifier: MIT */
/* screen.c - the whole terminal, drawn with ncurses
 *
 * Fails:    without the library, or on a terminal that can't move its cursor, screen_open() says
 *           so.
 * Not here: what is drawn (tui.c).
 */
#include "cli/read/screen.h"

#include <curses.h>
#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <wchar.h>

#include "base/lock.h"

/* Functions alone: the macros of curses.h use variables of the library. */
#define FUNCTIONS(X)                                                                               \
	X(newterm)                                                                                 \
	X(endwin)                                                                                  \
	X(delscreen)                                                                               \
	X(cbreak)                                                                                  \
	X(noecho)                                                                                  \
	X(nonl)                                                                                    \
	X(keypad)                                                                                  \
	X(nodelay)                                                                                 \
	X(newwin)                                                                                  \
	X(wgetch)                                                                                  \
	X(curs_set)                                                                                \
	X(has_colors)                                                                              \
	X(start_color)                                                                             \
	X(use_default_colors)                                                                      \
	X(init_pair)                                                                               \
	X(werase)                                                                                  \
	X(wmove)                                                                                   \
	X(waddnstr)                                                                                \
	X(wattrset)                                                                                \
	X(wnoutrefresh)                                                                            \
	X(doupdate)                                                                                \
	X(clearok)                                                                                 \
	X(wresize)                                                                                 \
	X(getmaxx)                                                                                 \
	X(getmaxy)                                                                                 \
	X(set_escdelay)

#undef getmaxx
#undef getmaxy
#undef cbreak
#undef noecho
#undef nonl

#define MEMBER(name) __typeof__(&(name)) name;
static struct {
	FUNCTIONS(MEMBER)
	WINDOW **stdscr;
} lib;

/* What the terminal is sent by one thread at a time; and `closed`. */
static struct lock terminal = LOCK_INIT(LOCK_SCREEN);

static SCREEN *screen;
static WINDOW *window;
static bool closed = true;
static bool utf8, plain;
static attr_t styles[SCREEN_STYLES];
static int wake_fd = -1;

/* ---- the library ---- */

static int load_library(void)
{
	void *handle = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ENOENT;
#define LOAD(name)                                                                                 \
	lib.name = (__typeof__(lib.name))dlsym(handle, #name);                                     \
	if (!lib.name)                                                                             \
		return -ENOENT;
	FUNCTIONS(LOAD)
	lib.stdscr = dlsym(handle, "stdscr");
	return lib.stdscr ? 0 : -ENOENT;
}

/* ---- opening and closing ---- */

static void choose_styles(bool colour)
{
	static const short slices[SCREEN_SLICES] = { COLOR_CYAN,    COLOR_GREEN, COLOR_YELLOW,
						     COLOR_MAGENTA, COLOR_BLUE,	 COLOR_RED };
	bool default_colours;

	plain = !colour || !lib.has_colors() || lib.start_color() == ERR;
	styles[SCREEN_STRONG] = A_BOLD;
	styles[SCREEN_FAINT] = plain ? A_NORMAL : A_DIM;
	styles[SCREEN_BAR] = A_REVERSE;
	styles[SCREEN_SELECTED] = A_REVERSE | A_BOLD;
	styles[SCREEN_GOOD] = A_BOLD;
	styles[SCREEN_BAD] = A_BOLD;
	for (int i = 0; i < SCREEN_SLICES; i++) {
		styles[SCREEN_SLICE + i] = i % 2 ? A_BOLD : A_NORMAL;
		styles[SCREEN_FILLED + i] = i % 2 ? A_REVERSE : A_UNDERLINE;
	}
	if (plain)
		return;
	default_colours = lib.use_default_colors() == OK;
	for (short i = 0; i < SCREEN_SLICES; i++) {
		lib.init_pair((short)(i + 1), slices[i], default_colours ? -1 : COLOR_BLACK);
		lib.init_pair((short)(SCREEN_SLICES + i + 1), COLOR_BLACK, slices[i]);
		styles[SCREEN_SLICE + i] = COLOR_PAIR(i + 1);
		styles[SCREEN_FILLED + i] = COLOR_PAIR(SCREEN_SLICES + i + 1);
	}
	lib.init_pair(2 * SCREEN_SLICES + 1, COLOR_BLACK, COLOR_CYAN);
	styles[SCREEN_BAR] = COLOR_PAIR(2 * SCREEN_SLICES + 1);
	styles[SCREEN_GOOD] = COLOR_PAIR(2);
	styles[SCREEN_BAD] = COLOR_PAIR(6) | A_BOLD;
}

int screen_open(const struct screen_options *options)
{
	int ret = load_library();

	if (ret)
		return ret;
	setlocale(LC_CTYPE, "");
	utf8 = !options->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return -errno;
	screen = lib.newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	window = *lib.stdscr;
	closed = false;
	lib.cbreak();
	lib.noecho();
	lib.nonl();
	lib.keypad(window, TRUE);
	lib.nodelay(window, TRUE);
	lib.set_escdelay(50);
	lib.curs_set(0);
	choose_styles(options->colour);
	return 0;
}

void screen_close(void)
{
	lock_take(&terminal);
	if (!closed)
		lib.endwin();
	closed = true;
	lock_drop(&terminal);
}

void screen_wake(void)
{
	uint64_t one = 1;

	if (write(wake_fd, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

/* ---- drawing ---- */

int screen_rows(void)
{
	return lib.getmaxy(window);
}

int screen_columns(void)
{
	return lib.getmaxx(window);
}

bool screen_is_utf8(void)
{
	return utf8;
}

bool screen_is_plain(void)
{
	return plain;
}

void screen_clear(void)
{
	lib.wattrset(window, 0);
	lib.werase(window);
}

/* The bytes of the character at `text` and its columns; what can't be shown as it is, is a '?': 0
 * bytes. */
static size_t measure(const char *text, int *columns)
{
	unsigned char first = (unsigned char)*text;
	mbstate_t state = { 0 };
	size_t size;
	wchar_t c;

	*columns = 1;
	if (first < 0x80)
		return first >= ' ' && first != 0x7f ? 1 : 0;
	size = utf8 ? mbrtowc(&c, text, MB_CUR_MAX, &state) : 0;
	if (size == 0 || size > MB_CUR_MAX)
		return 0;
	*columns = wcwidth(c);
	/* no marks of direction: they change the order of what is around them */
	if (*columns < 1 || (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x2069)) {
		*columns = 1;
		return 0;
	}
	return size;
}

/* The bytes that a '?' stands for. */
static size_t skip(const char *text)
{
	size_t size = 1;

	while (utf8 && (text[size] & 0xc0) == 0x80)
		size++;
	return size;
}

int screen_put(int row, int column, enum screen_style style, const char *text, int width, int pad)
{
	int used = 0, columns;

	if (row < 0 || row >= screen_rows() || column < 0 || column >= screen_columns())
		return 0;
	if (width > screen_columns() - column)
		width = screen_columns() - column;
	if (pad > screen_columns() - column)
		pad = screen_columns() - column;
	lib.wmove(window, row, column);
	lib.wattrset(window, (int)styles[style]);
	while (*text) {
		size_t size = measure(text, &columns);

		if (used + columns > width)
			break;
		lib.waddnstr(window, size ? text : "?", size ? (int)size : 1);
		used += columns;
		text += size ? size : skip(text);
	}
	for (; used < pad; used++)
		lib.waddnstr(window, " ", 1);
	return used;
}

void screen_show(void)
{
	lock_take(&terminal);
	if (!closed) {
		lib.wnoutrefresh(window);
		lib.doupdate();
	}
	lock_drop(&terminal);
}

/* ---- keys ---- */

static int translate(int c)
{
	static const int keys[][2] = {
		{ KEY_UP, SCREEN_UP },
		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },
		{ KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP },
		{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_FIRST },
		{ KEY_END, SCREEN_LAST },
		{ KEY_ENTER, SCREEN_ENTER },
		{ '\r', SCREEN_ENTER },
		{ '\n', SCREEN_ENTER },
		{ 27, SCREEN_ESCAPE },
		{ KEY_BACKSPACE, SCREEN_BACKSPACE },
		{ 127, SCREEN_BACKSPACE },
		{ 8, SCREEN_BACKSPACE },
		{ '\t', SCREEN_TAB },
		{ KEY_BTAB, SCREEN_BACK_TAB },
		{ KEY_RESIZE, SCREEN_RESIZED },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] == c)
			return keys[i][1];
	if (c >= KEY_F(1) && c <= KEY_F(10))
		return SCREEN_F1 + c - KEY_F(1);
	return c >= 0 && c < KEY_MIN ? c : SCREEN_NO_KEY;
}

static int read_key(void)
{
	int c;

	/* it may write to the terminal */
	lock_take(&terminal);
	c = closed ? ERR : lib.wgetch(window);
	lock_drop(&terminal);
	return c;
}

int screen_key(int ms)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = wake_fd, .events = POLLIN } };
	int c = read_key();
	uint64_t count;

	if (c != ERR)
		return translate(c);
	if (poll(fds, 2, ms) > 0 && read(wake_fd, &count, sizeof(count)) < 0)
		count = 0; /* it was a key */
	c = read_key();
	if (c != ERR)
		return translate(c);
	return fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ? SCREEN_END : SCREEN_NO_KEY;
}
