/* SPDX-License-Identifier: MIT */
/* csv_field.c - texts of others in CSV */
#include "export/csv_field.h"

#include <string.h>

#include "base/text.h"

void csv_field(csv_field_fn put, void *arg, const char *text, bool always)
{
	size_t size = strlen(text), n;
	bool formula = size && strchr("=+-@\t\r", *text);
	bool quotes = always || formula || text[strcspn(text, ",\"\r\n")];

	if (quotes)
		put(arg, "\"", 1);
	if (formula)
		put(arg, "'", 1);
	for (size_t i = 0, run; i < size; i += n) {
		for (run = 0; i + run < size && text[i + run] != '"' &&
			      (text_is_safe(text + i + run, size - i - run, &n) ||
			       text[i + run] == '\n' || text[i + run] == '\t');
		     run += n)
			;
		if (run)
			put(arg, text + i, run);
		n = run;
		if (run)
			continue;
		text_is_safe(text + i, size - i, &n);
		if (text[i] == '"')
			put(arg, "\"\"", 2);
		else if (n == 1 && (unsigned char)text[i] >= 0x80)
			put(arg, "\xef\xbf\xbd", 3); /* U+FFFD */
		else
			put(arg, "?", 1);
	}
	if (quotes)
		put(arg, "\"", 1);
}
