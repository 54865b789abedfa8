/* SPDX-License-Identifier: MIT */
/* str.c - text in a fixed buffer
 *
 * Threads:  any, each with its own struct str. Async-signal-safe.
 */
#include "base/str.h"

#include <string.h>

#include "base/compiler.h"

void str_init(struct str *s, char *buffer, size_t size)
{
	s->text = buffer;
	s->size = size;
	s->used = 0;
	s->cut = false;
	buffer[0] = '\0';
}

void str_add_n(struct str *s, const char *more, size_t size)
{
	size_t space = s->size - 1 - s->used;

	if (size > space) {
		size = space;
		s->cut = true;
	}
	memcpy(s->text + s->used, more, size);
	s->used += size;
	s->text[s->used] = '\0';
}

void str_add(struct str *s, const char *more)
{
	str_add_n(s, more, strlen(more));
}

/* inline: the base is a constant, by which a division is a multiplication */
static RTL_INLINE void add_digits(struct str *s, uint64_t value, unsigned int base, int digits)
{
	char text[24];
	size_t at = sizeof(text);

	while (value || digits > 0 || at == sizeof(text)) {
		text[--at] = "0123456789abcdef"[value % base];
		value /= base;
		digits--;
	}
	str_add_n(s, text + at, sizeof(text) - at);
}

void str_add_uint(struct str *s, uint64_t value)
{
	add_digits(s, value, 10, 1);
}

void str_add_hex(struct str *s, uint64_t value, int digits)
{
	add_digits(s, value, 16, digits > 16 ? 16 : digits);
}
