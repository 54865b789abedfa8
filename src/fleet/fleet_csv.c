/* SPDX-License-Identifier: MIT */
/* fleet_csv.c - rows that an engine has written as CSV (RFC 4180)
 *
 * A field without quotes that is empty or \N is no value: engines write all others in quotes, or
 * numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "fleet/fleet_ask.h"

/* The field at *at without its quotes, where it is; *at moves behind it. *last: the row ends
 * there. */
static char *take_field(char **at, bool *last)
{
	char *begin = *at, *from = begin, *to = begin;

	if (*from == '"') {
		for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
			from += *from == '"';
			*to++ = *from;
		}
		from += *from == '"';
	} else {
		while (*from && !strchr(",\r\n", *from))
			*to++ = *from++;
	}
	from += *from == '\r';
	*last = *from != ',';
	*at = *from ? from + 1 : from;
	*to = '\0';
	return begin;
}

int fleet_csv_text(char *text, const struct fleet_question *q, struct sheet *t,
		   char error[FLEET_MESSAGE])
{
	const char *values[SHEET_COLUMNS];
	int err = 0;

	for (char *at = text; *at && !err;) {
		size_t nr = 0;
		bool last = false;

		while (!last && nr < SHEET_COLUMNS) {
			bool quoted = *at == '"';
			char *value = take_field(&at, &last);

			values[nr++] = !quoted && (!*value || strcmp(value, "\\N") == 0) ? NULL :
											   value;
		}
		err = fleet_question_row(q, t, nr, values);
		if (err)
			snprintf(error, FLEET_MESSAGE,
				 "the engine's answer has %zu columns, not %zu", nr, q->nr_columns);
	}
	return err;
}

int fleet_csv(const char *path, const struct fleet_question *q, struct sheet *t,
	      char error[FLEET_MESSAGE])
{
	struct stat st;
	char *text;
	ssize_t n;
	int err;

	if (stat(path, &st))
		return -errno;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = fd_read_file(path, text, (size_t)st.st_size);
	text[n > 0 ? n : 0] = '\0';
	err = fleet_csv_text(text, q, t, error);
	free(text);
	return err;
}
