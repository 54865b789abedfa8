/* SPDX-License-Identifier: MIT */
/* info.c - a trace's metadata and counts, from files of any kind */
#include "cli/read/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/exit_status.h"
#include "cli/trace/session.h"
#include "cli/ui.h"
#include "query/identify.h"

void *info_grow(void *array, size_t *nr, size_t size)
{
	char *grown = array;

	/* full: capacities are powers of two */
	if ((*nr & (*nr - 1)) == 0) {
		grown = reallocarray(array, *nr ? *nr * 2 : 1, size);
		if (!grown)
			ui_die_memory();
	}
	memset(grown + *nr * size, 0, size);
	++*nr;
	return grown;
}

void info_warn(struct info *info, const char *text)
{
	info->warnings = info_grow(info->warnings, &info->nr_warnings, sizeof(*info->warnings));
	info->warnings[info->nr_warnings - 1] = ui_format("%s", text);
}

static void read_path(struct info *info)
{
	char error[1024] = "", **spools;
	enum identify_kind kind;
	struct stat st;
	ssize_t nr;
	int err;

	if (stat(info->path, &st))
		ui_die(STATUS_FAILED, "%s: %s", info->path, strerror(errno));
	verdict_init(&info->verdict);
	if (S_ISDIR(st.st_mode)) {
		nr = session_find(info->path, &spools);
		if (nr == 0 && identify_data_set(info->path))
			ui_die(STATUS_FAILED, "%s: " IDENTIFY_DATA_SET, info->path, info->path);
		if (nr <= 0)
			ui_die(STATUS_FAILED, "%s: %s", info->path,
			       nr < 0 ? strerror((int)-nr) : "contains no raw trace (*.rtl)");
		info->kind = "raw traces";
		info->schema = "";
		for (ssize_t i = 0; i < nr; i++)
			if (session_check_spool(spools[i], error))
				info_warn(info, error);
			else
				info_spool_read(info, spools[i]);
		session_free_spools(spools, (size_t)nr);
		verdict_finish(&info->verdict);
		return;
	}
	err = identify_file(info->path, &kind, error, sizeof(error));
	if (err)
		ui_die(STATUS_FAILED, "%s", error[0] ? error : strerror(-err));
	if (kind == IDENTIFY_SPOOL) {
		info->kind = "raw trace";
		info->schema = "";
		info_spool_read(info, info->path);
		verdict_finish(&info->verdict);
		if (!info->nr_processes)
			ui_die(STATUS_FAILED, "%s", info->warnings[0]);
		return;
	}
	info->size = (uint64_t)st.st_size;
	info_db_read(info);
}

static void sum_counts(struct info *info)
{
	for (size_t i = 0; i < info->nr_processes; i++) {
		const struct info_counts *c = &info->processes[i].counts;

		info->counts.dispatches += c->dispatches;
		info->counts.internal += c->internal;
		info->counts.copies += c->copies;
		info->counts.barriers += c->barriers;
		info->counts.apis += c->apis;
		info->counts.markers += c->markers;
	}
}

void info_read(struct info *info)
{
	read_path(info);
	sum_counts(info);
}
