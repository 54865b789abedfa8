/* SPDX-License-Identifier: MIT */
/* rocprofv3_files.c - the processes of a trace, and the names of their files
 *
 * Fails:    nothing is written if one of the files exists, unless it may be replaced.
 * Not here: what is in the files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/pattern.h"
#include "export/output.h"
#include "export/rocprofv3/rocprofv3_internal.h"

const struct rocprofv3_choice *rocprofv3_files_choice(const struct query *q)
{
	static const struct rocprofv3_choice all = { .domains = ROCPROFV3_ALL };

	return q->opt->format ? q->opt->format : &all;
}

/* ---- names ---- */

struct named {
	const struct query_process *process; /* NULL: a trace without processes */
	char *name;
};

struct files {
	struct query *q;
	const struct rocprofv3_form *form;
	const char *out;
	bool is_dir;
	sqlite3_stmt *facts; /* of a process: pid, parent, host, job, command, directory, begin */
	struct named *list;
	size_t nr;
};

/* The ending of `out` that makes it the whole name of a file, or NULL. */
static const char *whole_ending(const struct files *f)
{
	for (const char *const *e = f->form->endings; !f->is_dir && *e; e++)
		if (output_has_ending(f->out, *e))
			return *e;
	return NULL;
}

static int fail_long(struct files *f)
{
	return query_fail(f->q, -ENAMETOOLONG, "%s: the name is too long", f->out);
}

/* The name up to what the format adds; `unique` puts the pid behind it. */
static int expand_stem(struct files *f, const struct query_process *p, bool unique,
		       char stem[ROCPROFV3_NAME_SIZE])
{
	sqlite3_stmt *row = p ? query_row(f->facts, p->id) : NULL;
	struct rank rank = { .rank = p ? p->rank : -1, .world_size = p ? p->world_size : -1 };
	struct pattern_facts facts = {
		.pid = row ? (uint32_t)sqlite3_column_int64(row, 0) : 0,
		.ppid = row ? (uint32_t)sqlite3_column_int64(row, 1) : 0,
		.host = row ? query_text(row, 2) : "unknown",
		.rank = &rank,
	};
	const char *ending = whole_ending(f);
	size_t size = strlen(f->out) - (ending ? strlen(ending) : 0), used;
	const struct rocprofv3_choice *choice = rocprofv3_files_choice(f->q);
	const struct rocprofv3_facts own = {
		.command = row ? query_text(row, 4) : "",
		.cwd = row ? query_text(row, 5) : "",
		.launched =
			row && p ? (sqlite3_column_int64(row, 6) + p->realtime_ns) / 1000000000 : 0,
		.time_format = choice->time_format ? choice->time_format : "%F_%H.%M",
		.date_format = choice->date_format ? choice->date_format : "%F",
	};
	char pattern[ROCPROFV3_NAME_SIZE], keyed[ROCPROFV3_NAME_SIZE];

	snprintf(rank.job, sizeof(rank.job), "%s", query_text(row, 3));
	if (size + 32 > sizeof(pattern))
		return fail_long(f);
	snprintf(pattern, sizeof(pattern), "%.*s%s", (int)size, f->out,
		 !f->is_dir		 ? "" :
		 f->out[size - 1] == '/' ? "%hostname%/%pid%" :
					   "/%hostname%/%pid%");
	if (rocprofv3_keys_expand(keyed, sizeof(keyed), pattern, &own) ||
	    pattern_expand(stem, ROCPROFV3_NAME_SIZE - 128, keyed, &facts))
		return fail_long(f);
	used = strlen(stem);
	if (unique)
		snprintf(stem + used, ROCPROFV3_NAME_SIZE - used, "_%lld",
			 (long long)(p ? p->pid : 0));
	return 0;
}

static bool is_taken(const struct files *f, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(f->list[i].name, name) == 0)
			return true;
	return false;
}

static int name_one(struct files *f, size_t i, bool unique)
{
	char stem[ROCPROFV3_NAME_SIZE], name[ROCPROFV3_NAME_SIZE];
	const char *ending = whole_ending(f);
	int ret = expand_stem(f, f->list[i].process, unique, stem);

	if (ret)
		return ret;
	if (snprintf(name, sizeof(name), "%s%s", stem, ending ? ending : f->form->suffix) >=
	    (int)sizeof(name))
		return fail_long(f);
	/* a pid that the system used twice */
	for (unsigned int n = 2; is_taken(f, i, name) && n < 10000; n++)
		snprintf(name, sizeof(name), "%.3900s_%u%s", stem, n,
			 ending ? ending : f->form->suffix);
	alloc_free(f->list[i].name);
	f->list[i].name = alloc_string(name);
	return f->list[i].name ? 0 : query_fail_memory(f->q);
}

/* Names the files of all processes; if the pattern gives the same name twice, with their pids. */
static int name_all(struct files *f)
{
	char stem[ROCPROFV3_NAME_SIZE], first[ROCPROFV3_NAME_SIZE] = "";
	bool unique = false;
	int ret = 0;

	for (size_t i = 0; i < f->nr && ret == 0 && !f->is_dir; i++) {
		ret = expand_stem(f, f->list[i].process, false, stem);
		unique = unique || strcmp(first, stem) == 0;
		memcpy(first, stem, sizeof(first));
	}
	for (size_t i = 0; i < f->nr && ret == 0; i++)
		ret = name_one(f, i, unique);
	return ret;
}

static bool is_there(const struct files *f, const char *name)
{
	return f->form->exists ? f->form->exists(f->q, name) : fd_is_taken(name);
}

static int check_all(struct files *f)
{
	for (size_t i = 0; i < f->nr && !f->q->opt->force; i++)
		if (is_there(f, f->list[i].name))
			return query_fail(f->q, -EEXIST,
					  "%s%s: exists; use --force to replace it, or -o NAME",
					  f->list[i].name, *f->form->suffix ? "" : "_...");
	return 0;
}

/* ---- processes ---- */

static int choose_processes(struct files *f)
{
	struct query *q = f->q;

	f->list = alloc_zero(q->nr_processes + 1, sizeof(*f->list));
	if (!f->list)
		return query_fail_memory(q);
	for (size_t i = 0; i < q->nr_processes; i++)
		if (query_has_events(q, &q->processes[i]))
			f->list[f->nr++].process = &q->processes[i];
	if (!f->nr)
		f->list[f->nr++].process = q->nr_processes ? q->processes : NULL;
	return 0;
}

/* Makes the folders of a file's name. */
static int make_folders(struct files *f, const char *name)
{
	char path[ROCPROFV3_NAME_SIZE];

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			return query_fail(f->q, -errno, "%s: can't be made: %s", path,
					  strerror(errno));
		*slash = '/';
	}
	return 0;
}

/* What the names of the first process' files have in common. */
static void say_where(struct files *f)
{
	const char *name = f->list[0].name;
	size_t size = strlen(name), end = strlen(f->form->suffix);

	f->q->res->nr_where = f->nr;
	if (whole_ending(f) || end > size || strcmp(name + size - end, f->form->suffix) != 0)
		snprintf(f->q->res->where, sizeof(f->q->res->where), "%.1000s", name);
	else
		snprintf(f->q->res->where, sizeof(f->q->res->where), "%.*s_*",
			 (int)(size - end < 1000 ? size - end : 1000), name);
}

/* The number of files, or -errno. */
static int write_process(struct files *f, const char *name)
{
	int ret;

	if (!f->form->write_one)
		return f->form->write(f->q, name);
	ret = f->form->write_one(f->q, name);
	return ret ? ret : 1;
}

static int write_all(struct files *f)
{
	struct query *q = f->q;
	int64_t first_ns = q->first_ns;
	int ret = 0;

	for (size_t i = 0; i < f->nr && ret >= 0; i++) {
		q->only = f->list[i].process;
		q->first_ns = q->only && q->only->first_ns > 0 ? q->only->first_ns : first_ns;
		ret = make_folders(f, f->list[i].name);
		if (ret == 0)
			ret = write_process(f, f->list[i].name);
		q->res->nr_files += ret > 0 ? (uint64_t)ret : 0;
	}
	say_where(f);
	q->only = NULL;
	q->first_ns = first_ns;
	return ret < 0 ? ret : 0;
}

/* Processes that were merged from RPD's files have none of rtl's rows. */
static void warn_of_rpd(struct query *q)
{
	int64_t nr = query_number(q->db, "SELECT count(*) FROM rtl_process WHERE state = 'rpd'", 0);

	if (nr)
		job_warn(
			q->res,
			"%s: %lld processes are from files of RPD: they lack what rocprofv3's formats "
			"require, and their operations are not in them",
			q->path, (long long)nr);
}

static int check_out(struct files *f)
{
	const char *out = f->out;
	struct stat st;

	if (!*out)
		return query_fail(f->q, -EINVAL, "the output has no name: use -o DIR or -o NAME");
	if (!f->q->ours)
		return query_fail(f->q, -EINVAL,
				  "%s: is a database of RPD, which lacks what %s requires (agents, "
				  "queues, processes); -f csv and -f perfetto read it",
				  f->q->path, f->form->format);
	f->is_dir = out[strlen(out) - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode));
	return 0;
}

int rocprofv3_files_write(struct query *q, const char *out, const struct rocprofv3_form *form)
{
	struct files f = { .q = q, .form = form, .out = out };
	int ret = check_out(&f);

	if (ret == 0)
		ret = query_prepare(
			q, &f.facts,
			"SELECT os_pid, coalesce(ppid, 0), coalesce(nullif(host, ''), "
			"'unknown'), job, coalesce(command, ''), coalesce(cwd, ''), "
			"coalesce(nullif(start_ns, 0), first_ns, 0) FROM rtl_process WHERE "
			"id = ?1");
	if (ret == 0)
		ret = choose_processes(&f);
	if (ret == 0)
		ret = name_all(&f);
	if (ret == 0)
		ret = check_all(&f);
	if (ret == 0)
		ret = rocprofv3_names_make(q);
	if (ret == 0 && form->own_names)
		ret = rocprofv3_names_for_viewer(q);
	if (ret == 0)
		ret = write_all(&f);
	if (ret == 0)
		warn_of_rpd(q);
	sqlite3_finalize(f.facts);
	for (size_t i = 0; i < f.nr; i++)
		alloc_free(f.list[i].name);
	alloc_free(f.list);
	return ret;
}
