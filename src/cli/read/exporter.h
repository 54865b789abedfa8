/* SPDX-License-Identifier: MIT */
/* exporter.h - commands that write a trace, or what they found, to a file of the user's: names,
 * refusals, messages
 *
 * On a failure the process ends with a message.
 */
#ifndef RTL_CLI_READ_EXPORTER_H
#define RTL_CLI_READ_EXPORTER_H

#include "cli/ui.h"
#include "export/export.h"

struct exporter {
	const struct export_format *format;
	const char *input;
	/* several, of which the first is `input`; NULL: that alone */
	const char *const *inputs;
	size_t nr_inputs;
	const char *output;   /* NULL: the input's name with the format's ending; "-": stdout */
	const char *activity; /* of the progress bar: "converting" */
	enum ui_progress_mode progress;
	struct job_options opt; /* all but its progress */
};

/* Writes the trace and says where. The exit status. */
int exporter_run(const struct exporter *e);

/* The value of an option of which "-" is stdout: "-", too, for a name of stdout. Ends the process
 * if it is that of a device, a FIFO or a socket, and says what the format can be written to; NULL:
 * text, which stdout takes. */
const char *exporter_output(const char *path, const struct export_format *format);
/* Ends the process with `status` unless `path` can be written as a file: before the work, which
 * takes its time. "-" can; a device can't, since it would be replaced. */
void exporter_check(const char *path, bool force, int status);
/* The same for a database, which "-" can't be. */
void exporter_check_database(const char *path, bool force);
/* Writes a text as a file, which is there as a whole or not at all. 0 or -errno. */
int exporter_write(const char *path, const char *text);
/* Writes what `print` puts out by ui.h as such a file, and says where. */
void exporter_print(const char *path, void (*print)(void *arg), void *arg);

#endif
