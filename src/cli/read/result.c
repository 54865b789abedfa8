/* SPDX-License-Identifier: MIT */
/* result.c - messages on stderr about a database that was just written */
#include "analysis/wall.h"
#include "cli/db.h"
#include "cli/read/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/exit_status.h"
#include "cli/paths.h"
#include "cli/read/summary.h"
#include "cli/trace/converter.h"
#include "cli/trace/session.h"
#include "cli/ui.h"
#include "store/verdict.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void say_losses(const char *path)
{
	struct verdict *v = malloc(sizeof(*v));
	struct verdict_group group;
	struct load_error error;
	char count[UI_NUMBER_SIZE];
	size_t at = 0;

	if (!v)
		ui_die_memory();
	if (verdict_of_db(v, path, &error) == 0)
		while (verdict_next_group(v, &at, &group))
			ui_say("  %s: %s %s: %s%s", load_class_name(group.row->class),
			       ui_count(count, group.count), group.row->reason, group.row->text,
			       group.pids);
	free(v);
}

void result_refuse_input(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;
	/* stat(2) opens nothing: a device may act on that, a FIFO waits */
	int err = stat(path, &st) ? errno : 0;

	if ((err == ENOENT || (!err && S_ISREG(st.st_mode) && !st.st_size)) &&
	    session_left_by(path, dir))
		ui_die(STATUS_FAILED,
		       "%s: %s: the rtl trace that was to write it still runs or was killed, and its raw "
		       "traces are in %s; 'rtl recover %s-o %s %s' writes it when the program has ended",
		       path, err ? strerror(err) : "is empty", dir, err ? "" : "--force ", path,
		       dir);
	if (!err && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		ui_die(STATUS_INPUT, "%s: is %s; a trace is read from a file: copy it to one", path,
		       fd_kind(st.st_mode));
}

void result_say_parts(const char *output, unsigned int nr)
{
	char first[PATH_MAX], last[PATH_MAX];

	if (!nr || converter_name(first, output, 1) || converter_name(last, output, nr))
		return;
	ui_say("what was recorded before is in %s%s%s", first, nr > 1 ? " to " : "",
	       nr > 1 ? last : "");
}

/* The wall time of a database of rtl, as rtl summary has it. */
static uint64_t wall_of(const char *path, const struct job_result *res)
{
	struct query q = { .ours = true };
	struct wall wall = { .ns = res->last_ns - res->first_ns };

	if (query_open_file(&q.db, path) == SQLITE_OK)
		wall_read(&q, NULL, &wall);
	sqlite3_close(q.db);
	return wall.ns;
}

/* What a database has, in a line. */
static void describe(char text[400], const char *path, const struct job_result *res)
{
	char dispatches[UI_NUMBER_SIZE], copies[UI_NUMBER_SIZE], markers[UI_NUMBER_SIZE];
	char processes[UI_NUMBER_SIZE], span[UI_NUMBER_SIZE], apis[UI_NUMBER_SIZE], calls[64] = "";
	int gpus = (int)res->nr_gpus;

	ui_count(dispatches, res->nr_dispatches);
	ui_count(copies, res->nr_copies);
	ui_count(markers, res->nr_markers);
	ui_count(processes, res->nr_processes);
	if (res->nr_apis)
		snprintf(calls, sizeof(calls), ", %s API call%s", ui_count(apis, res->nr_apis),
			 plural(res->nr_apis));
	snprintf(text, 400, "%s dispatch%s on %d GPU%s, %s cop%s%s, %s marker%s, %s process%s, %s",
		 dispatches, res->nr_dispatches == 1 ? "" : "es", gpus, plural((uint64_t)gpus),
		 copies, res->nr_copies == 1 ? "y" : "ies", calls, markers, plural(res->nr_markers),
		 processes, res->nr_processes == 1 ? "" : "es", ui_time(span, wall_of(path, res)));
}

void result_say(const char *path, const char *shown, const struct job_result *res)
{
	char text[400];

	describe(text, path, res);
	ui_say("%s: %s", shown, text);
	ui_say("%s", res->verdict);
	say_losses(path);
	if (!res->nr_dispatches && !res->nr_copies)
		summary_overview_say_empty(path);
	if (res->warning[0])
		ui_say("%s", res->warning);
}

void result_say_rank(const char *path, const char *shown, const char *pattern,
		     const struct rank *rank, const struct job_result *res)
{
	char text[400];

	if (!res->complete || (!res->nr_dispatches && !res->nr_copies) || res->warning[0]) {
		result_say(path, shown, res);
	} else if (rank->rank == 0) {
		describe(text, path, res);
		if (!pattern) {
			ui_say("each of the %lld ranks adds its folder to the data set %s; rank 0: %s, complete",
			       (long long)rank->world_size, shown, text);
			return;
		}
		ui_say("each of the %lld ranks writes its own database, %s%s; 'rtl merge' joins them; rank 0: %s, complete",
		       (long long)rank->world_size, pattern,
		       strstr(pattern, "%r") ? " (%r is the rank)" : "", text);
	}
}

#define LOG_LINES 8

/* NULL: there is none, or the name is that of another kind of file. */
static FILE *open_log(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fdopen(fd, "r");
	close(fd);
	return NULL;
}

static void say_log(const char *path, const char *name, unsigned int *nr_said, unsigned int *more)
{
	FILE *file = open_log(path);
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while (file && (n = getline(&line, &size, file)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		if (*nr_said < LOG_LINES) {
			ui_say("process %s: %s", name + strlen("log."), line);
			++*nr_said;
		} else {
			++*more;
		}
	}
	free(line);
	if (file)
		fclose(file);
}

void result_say_logs(const char *dir_path, bool quiet)
{
	unsigned int nr_said = 0, more = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (quiet)
		return;
	dir = opendir(dir_path);
	while (dir && (entry = readdir(dir)))
		if (fnmatch("log.[0-9]*", entry->d_name, 0) == 0 &&
		    paths_join(path, dir_path, entry->d_name))
			say_log(path, entry->d_name, &nr_said, &more);
	if (dir)
		closedir(dir);
	if (more)
		ui_say("... and %u more messages (--keep-spool keeps them, in %s)", more, dir_path);
}
