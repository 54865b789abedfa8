/* SPDX-License-Identifier: MIT */
/* export.c - the table of formats that a trace can be written in */
#include "export/export.h"

#include <string.h>

#include "export/csv.h"
#include "export/kineto.h"
#include "export/perfetto.h"

const struct export_format export_formats[] = {
	{ "rpd", ".db", "RPD-compatible SQLite database (docs/formats/database.md)", rpd_merge,
	  false, false },
	{ "perfetto", ".json", "Chrome JSON for ui.perfetto.dev and chrome://tracing",
	  perfetto_write, false, false },
	{ "chrome", ".json", "the same under its other name", perfetto_write, false, false },
	{ "kineto", ".pt.trace.json", "Chrome JSON as PyTorch's profiler writes it", kineto_write,
	  true, false },
	{ "csv", "", "rocprof's CSV files: statistics and traces", csv_write, false, true },
	{ NULL, NULL, NULL, NULL, false, false },
};

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}
