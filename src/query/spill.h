/* SPDX-License-Identifier: MIT */
/* spill.h - rows of one size, read again by their numbers, in bounded memory
 *
 * The last rows are in memory, all before them in a file without a name in TMPDIR. One thread.
 */
#ifndef RTL_QUERY_SPILL_H
#define RTL_QUERY_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct spill {
	size_t size, max,
		nr_held; /* size: bytes of a row; held: rows in memory, behind `written` */
	uint64_t written;
	unsigned char *held;
	int fd; /* -1: no row is in the file */
};

/* Rows near one that was read. Zeroed: none. Each reader has one. */
struct spill_window {
	uint64_t first;
	size_t nr, max;
	unsigned char *rows;
};

/* `bytes`: what is kept in memory. 0 or -ENOMEM. */
int spill_init(struct spill *s, size_t size, size_t bytes);
/* Accepts a zeroed one. */
void spill_fini(struct spill *s);
/* Forgets all rows; windows of it are to be forgotten, too. */
void spill_clear(struct spill *s);
/* 0 or -errno: of the file, or -ENOMEM. */
int spill_add(struct spill *s, const void *row);
uint64_t spill_nr(const struct spill *s);
/* Row `i`, which is there; `row` is valid until the next call. `ahead`: rows that a window has. 0
 * or -errno. */
int spill_get(const struct spill *s, struct spill_window *w, size_t ahead, uint64_t i,
	      const void **row);
void spill_window_fini(struct spill_window *w);

#endif
