/* SPDX-License-Identifier: MIT */
/* str.h - builds text in a buffer of the caller; text that does not fit is cut, and the cut
 * recorded */
#ifndef RTL_BASE_STR_H
#define RTL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *text; /* always NUL-terminated */
	size_t size;
	size_t used; /* without the NUL */
	bool cut;
};

/* `size` is at least 1. */
void str_init(struct str *s, char *buffer, size_t size);
void str_add(struct str *s, const char *more);
void str_add_n(struct str *s, const char *more, size_t size);
void str_add_uint(struct str *s, uint64_t value);
/* Lower-case hexadecimal, at least `digits` digits. */
void str_add_hex(struct str *s, uint64_t value, int digits);

#endif
