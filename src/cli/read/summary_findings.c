/* SPDX-License-Identifier: MIT */
/* summary_findings.c - findings on a screen */
#include <stdlib.h>
#include <string.h>

#include "cli/read/summary.h"
#include "cli/ui.h"

const struct findings *summary_findings(struct summary *s)
{
	const struct findings *found;

	db_check(s->q, tables_findings(&s->tables, &found));
	return found;
}

char *summary_findings_text(const struct finding *f)
{
	/* together, so that they differ */
	char **names = names_make((const char *const *)f->symbols, f->nr_symbols, NAMES_SHORT, 60);
	char *text = ui_format("%s", ""), *whole;
	const char *at = f->text;

	for (size_t i = 0; i < f->nr_symbols; i++) {
		const char *found = strstr(at, f->symbols[i]);
		char *more;

		if (!found)
			continue;
		more = ui_format("%s%.*s%s", text, (int)(found - at), at, names[i]);
		at = found + strlen(f->symbols[i]);
		free(text);
		text = more;
	}
	names_free(names, f->nr_symbols);
	whole = ui_format("%s%s", text, at);
	free(text);
	return whole;
}
