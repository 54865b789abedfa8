/* SPDX-License-Identifier: MIT */
/* exporter.c - commands that write a trace, or what they found, to a file of the user's: names,
 * refusals, messages */
#include "cli/read/exporter.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dbfile.h"
#include "base/fd.h"
#include "base/temporary.h"
#include "cli/db.h"
#include "cli/exit_status.h"
#include "cli/paths.h"

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* "-" for a name of stdout, which would be replaced as any file is. */
static const char *known_name(const char *path)
{
	static const char *const names[] = { "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(path, names[i]) == 0)
			return "-";
	return path;
}

const char *exporter_output(const char *path, const struct export_format *format)
{
	const char *needs = format ? export_needs(format) : NULL;
	struct stat st;

	path = known_name(path);
	if (is_stdout(path) || stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return path;
	if (needs)
		ui_die(STATUS_FAILED, "%s: is %s, but the format %s %s", path, fd_kind(st.st_mode),
		       format->name, needs);
	ui_die(STATUS_FAILED, "%s: is %s; the shell can write to it: -o - > %s", path,
	       fd_kind(st.st_mode), path);
}

static void check_writable(const char *path, int status)
{
	int err = paths_try_output(path);
	char dir[PATH_MAX];

	paths_dirname(dir, path);
	if (err == -ENOENT && access(dir, F_OK))
		ui_die(status, "%s: there is no directory %s; make it, or choose another with -o",
		       path, dir);
	if (err)
		ui_die(status, "%s: can't be written: %s; choose another with -o", path,
		       strerror(-err));
}

void exporter_check(const char *path, bool force, int status)
{
	struct stat st;

	if (is_stdout(path))
		return;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		ui_die(status, "%s: is %s; choose another with -o", path, fd_kind(st.st_mode));
	if (!force && fd_is_taken(path))
		ui_die(status, "%s: exists already; use --force to overwrite it, or -o OUT", path);
	check_writable(path, status);
}

void exporter_check_database(const char *path, bool force)
{
	char error[PATH_MAX + 512];

	if (is_stdout(known_name(path)))
		ui_die(STATUS_FAILED, "standard output: a database needs a plain file: -o NAME.db");
	exporter_check(path, force, STATUS_FAILED);
	if (dbfile_check(path, error, sizeof(error)))
		ui_die(STATUS_FAILED, "%s", error);
}

/* Several files, in a directory or with a prefix: which there will be is not known yet. */
static bool is_several(const struct export_format *format)
{
	return format->shape == EXPORT_SEVERAL || format->shape == EXPORT_SET;
}

static void check_several(const char *path)
{
	struct stat st;

	if (is_stdout(path) || path[strlen(path) - 1] == '/' ||
	    (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return;
	exporter_check(path, true, STATUS_FAILED);
}

int exporter_write(const char *path, const char *text)
{
	char *part = ui_format("%s.tmp-%ld", path, (long)getpid());
	int fd = temporary_create(part), err = fd < 0 ? fd : 0;

	if (!err) {
		err = fd_pwrite(fd, text, strlen(text), 0);
		if (close(fd) && !err)
			err = -errno;
		if (!err)
			err = temporary_publish(part, path, true, false);
		if (err)
			temporary_delete(part);
	}
	free(part);
	return err;
}

int exporter_run(const struct exporter *e)
{
	struct job_result *res = calloc(1, sizeof(*res));
	struct job_options opt = e->opt;
	const char *output = e->output ? exporter_output(e->output, e->format) : NULL;
	struct ui_progress progress;
	int err;

	if (!res)
		ui_die_memory();
	if (!output)
		output = ui_keep(ui_format("%.*s%s", (int)(paths_suffix(e->input) - e->input),
					   e->input, e->format->suffix));
	if (is_several(e->format))
		check_several(output);
	else
		exporter_check(output, opt.force, STATUS_FAILED);
	ui_stop_in_order(is_stdout(output) ?
				 "the output ends here" :
			 is_several(e->format) ?
				 "files that are there are complete; run it again with --force" :
				 "nothing was written; run it again");
	opt.progress = ui_progress_step;
	opt.progress_arg = &progress;
	ui_progress_start(&progress, e->activity, e->progress);
	err = export_run(e->format, e->inputs ? e->inputs : &e->input, e->inputs ? e->nr_inputs : 1,
			 output, &opt, res);
	ui_progress_end(&progress);
	if (err == -EPIPE)
		return 128 + 13; /* as if SIGPIPE had ended the process */
	db_check_job(res, err);
	if (res->warning[0])
		ui_say("%s", res->warning);
	if (is_several(e->format) || res->nr_files > 1)
		ui_say("%s: %llu files written; the trace is %s", e->input,
		       (unsigned long long)res->nr_files, res->verdict);
	else if (!is_stdout(output))
		ui_say("%s: written; the trace is %s", output, res->verdict);
	free(res);
	return 0;
}

void exporter_print(const char *output, void (*print)(void *arg), void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int err;

	if (!file)
		ui_die_memory();
	ui_output(file);
	print(arg);
	ui_output(stdout);
	if (fclose(file) || !text)
		ui_die_memory();
	err = exporter_write(output, text);
	if (err)
		ui_die(STATUS_FAILED, "%s: can't be written: %s; choose another with -o", output,
		       strerror(-err));
	ui_say("%s: written", output);
	free(text);
}
