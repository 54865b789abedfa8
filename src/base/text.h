/* SPDX-License-Identifier: MIT */
/* text.h - texts of others: UTF-8, and what a terminal would act on
 *
 * Names, arguments, ranges and paths of a program may have any bytes. Each way out has one
 * function:
 *
 *	terminal, stderr  ui_putf(), ui_put(), ui_error() (cli/ui.h), log.c: text_clean()
 *	tables            grid.h, by text_is_safe()
 *	CSV               csv_field() (export/csv_field.h)
 *	JSON, HTML        json_text() (export/json.h)
 *	protocol buffers  proto_text()
 *	databases, OTF2   text_valid()
 */
#ifndef RTL_BASE_TEXT_H
#define RTL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 sequence of several bytes at `s`, of which `size` may be read; 0: it is
 * invalid (overlong, a surrogate, beyond U+10FFFF), or one byte. */
size_t text_utf8_size(const unsigned char *s, size_t size);
/* The code point of a valid sequence. */
uint32_t text_code(const unsigned char *s, size_t n);

/* Whether the character at `text`, of which `size` bytes may be read, is shown as it is by a
 * terminal, and nothing around it differently: no control character (C0, DEL, C1), no mark of
 * direction, no separator of lines, nothing invisible, no invalid byte. *n: its bytes, at least
 * 1. */
bool text_is_safe(const char *text, size_t size, size_t *n);

/* Replaces by '?' what is not safe, but for the characters of `keep`. The text gets no longer.
 * Returns its length. */
size_t text_clean(char *text, const char *keep);

/* NULL: the text is valid UTF-8. Else its copy on the heap, in which `\xe9` stands for a byte that
 * is not; or "" on the heap without memory for more. alloc_free() frees it. */
char *text_valid(const char *text);

#endif
