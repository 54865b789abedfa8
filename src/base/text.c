/* SPDX-License-Identifier: MIT */
/* text.c - texts of others
 *
 * Threads:  any.
 */
#include "base/text.h"

#include <string.h>

#include "base/alloc.h"

size_t text_utf8_size(const unsigned char *s, size_t size)
{
	unsigned char c = s[0], low = 0x80, high = 0xbf;
	size_t n;

	if (c < 0xc2 || c > 0xf4)
		return 0;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	if (n > size || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

uint32_t text_code(const unsigned char *s, size_t n)
{
	uint32_t code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

bool text_is_safe(const char *text, size_t size, size_t *n)
{
	/* pairs: the first and the last of a range */
	static const uint32_t unsafe[][2] = {
		{ 0x80, 0x9f }, /* C1: CSI is one of them */
		{ 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
	};
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code;

	*n = 1;
	if (*s < 0x80)
		return *s >= ' ' && *s != 0x7f;
	*n = text_utf8_size(s, size);
	if (!*n) {
		*n = 1;
		return false;
	}
	code = text_code(s, *n);
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (code >= unsafe[i][0] && code <= unsafe[i][1])
			return false;
	return true;
}

size_t text_clean(char *text, const char *keep)
{
	size_t left = strlen(text), used = 0, n;

	for (char *from = text; left; from += n, left -= n) {
		bool safe = text_is_safe(from, left, &n) || strchr(keep, *from);

		if (safe)
			memmove(text + used, from, n);
		else
			text[used] = '?';
		used += safe ? n : 1;
	}
	text[used] = '\0';
	return used;
}

char *text_valid(const char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	size_t size = strlen(text), bad = 0, used = 0, n;
	char *out;

	for (size_t i = 0; i < size; i += n) {
		n = s[i] < 0x80 ? 1 : text_utf8_size(s + i, size - i);
		bad += !n;
		n += !n;
	}
	if (!bad)
		return NULL;
	out = alloc_heap(size + 3 * bad + 1);
	if (!out)
		return alloc_string("");
	for (size_t i = 0; i < size; i += n) {
		n = s[i] < 0x80 ? 1 : text_utf8_size(s + i, size - i);
		if (n) {
			memcpy(out + used, s + i, n);
			used += n;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = digits[s[i] >> 4];
		out[used++] = digits[s[i] & 15];
		n = 1;
	}
	out[used] = '\0';
	return out;
}
