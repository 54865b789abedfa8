/* SPDX-License-Identifier: MIT */
/* csv_field.h - the one function that writes a text to CSV, of whatever file */
#ifndef RTL_EXPORT_CSV_FIELD_H
#define RTL_EXPORT_CSV_FIELD_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*csv_field_fn)(void *arg, const char *bytes, size_t size);

/* As RFC 4180: in quotes, which are doubled within. always: also where it needs none. Valid UTF-8:
 * bytes that are not become U+FFFD. Spreadsheets execute a cell that begins like a formula: it gets
 * an apostrophe, which they don't show. What a terminal would act on becomes '?'; newlines and tabs
 * stay. */
void csv_field(csv_field_fn put, void *arg, const char *text, bool always);

#endif
