/* SPDX-License-Identifier: MIT */
/* parquet.c - a trace as a data set: a folder for each rank, DIR/job=JOB/rank=RANK, with a file for
 * each table
 *
 * Fails:    the files are made in a folder beside it, whose name begins with a dot; it gets its
 *           name when all are complete. A folder that is replaced (--force) is exchanged for it,
 *           and holds nothing but files of a data set.
 */
#include "export/parquet/parquet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/owned.h"
#include "base/testpoint.h"
#include "export/output.h"
#include "export/parquet/parquet_internal.h"
#include "query/rows.h"

#define ENDING ".parquet"
#define MARK "PAR1" /* the begin of each file of Parquet */
#define NO_JOB "0"
#define MAX_VALUE 240u

/* A process and the folder that its rows go to; without a process, those of RPD. */
struct member {
	const struct query_process *process;
	char *job;
	int64_t rank;
	size_t order;
};

struct set {
	struct query *q;
	const char *out;
	struct member *members;
	size_t nr;
	struct parquet_rows *rows;
	char folder[PATH_MAX], tmp[PATH_MAX]; /* of the rank that is written; tmp "": none */
	bool made_out, made_job;	      /* their folders were not there */
};

/* ---- the members ---- */

/* A value of a partition: letters, digits and _.- as they are, other bytes as %XX, which readers
 * decode. Schedulers' ids have up to 63 bytes (rank.h); what is longer than the name of a folder
 * can be is cut. */
static char *partition_value(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *value = alloc_heap(MAX_VALUE + 4);
	size_t n = 0;

	for (; value && *text && n < MAX_VALUE; text++) {
		unsigned char c = (unsigned char)*text;

		if (strchr("_.-", c) || (c >= '0' && c <= '9') ||
		    ((c | 32) >= 'a' && (c | 32) <= 'z')) {
			value[n++] = (char)c;
			continue;
		}
		value[n++] = '%';
		value[n++] = digits[c >> 4];
		value[n++] = digits[c & 15];
	}
	if (value)
		value[n] = '\0';
	return value;
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int by = strcmp(x->job, y->job);

	if (by)
		return by;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_same_folder(const struct member *a, const struct member *b)
{
	return strcmp(a->job, b->job) == 0 && a->rank == b->rank;
}

static int add_member(struct set *s, const struct query_process *process, const char *job)
{
	const struct parquet_choice *choice = s->q->opt->format;
	struct member *m = &s->members[s->nr];

	int64_t rank = process && process->rank >= 0 ? process->rank : -1;

	if (choice && choice->has_own && rank < 0) {
		rank = choice->own_rank < 0 ? -1 : choice->own_rank;
		job = *job ? job : choice->own_job;
	}
	if (choice && choice->job)
		job = choice->job;
	*m = (struct member){ .process = process,
			      .job = partition_value(*job ? job : NO_JOB),
			      .rank = rank,
			      .order = s->nr };
	if (!m->job)
		return query_fail_memory(s->q);
	s->nr++;
	return 0;
}

static int list_members(struct set *s)
{
	struct query *q = s->q;
	sqlite3_stmt *job = NULL;
	int ret = 0;

	s->members = alloc_zero(q->nr_processes + 1, sizeof(*s->members));
	if (!s->members)
		return query_fail_memory(q);
	if (q->nr_processes)
		ret = query_prepare(q, &job,
				    "SELECT coalesce(job, '') FROM rtl_process WHERE id = ?1");
	for (size_t i = 0; i < q->nr_processes && ret == 0; i++)
		ret = add_member(s, &q->processes[i],
				 query_text(query_row(job, q->processes[i].id), 0));
	sqlite3_finalize(job);
	if (ret == 0 && !s->nr)
		ret = add_member(s, NULL, "");
	if (ret == 0)
		qsort(s->members, s->nr, sizeof(*s->members), compare_members);
	return ret;
}

/* ---- folders ---- */

static int fail(const struct set *s, const char *path, int error)
{
	return query_fail(s->q, error, "%s: can't be made: %s", path, strerror(-error));
}

/* *made: it was not there. */
static int make_folder(const struct set *s, const char *path, bool *made)
{
	struct stat st;

	*made = mkdir(path, 0777) == 0;
	if (*made)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return fail(s, path, errno == EEXIST ? -ENOTDIR : -errno);
}

/* `job` is the value of the partition. */
static int put_folder(char *buf, size_t size, const char *out, const char *job, int64_t rank)
{
	size_t n = strlen(out);

	while (n > 1 && out[n - 1] == '/')
		n--;
	return snprintf(buf, size, "%.*s/job=%s/rank=%lld", (int)n, out, job, (long long)rank) <
			       (int)size - 64 ?
		       0 :
		       -ENAMETOOLONG;
}

int parquet_folder(char *buf, size_t size, const char *out, const char *job, int64_t rank)
{
	char *value = partition_value(*job ? job : NO_JOB);
	int ret = value ? put_folder(buf, size, out, value, rank < 0 ? -1 : rank) : -ENOMEM;

	alloc_free(value);
	return ret;
}

static int name_folder(struct set *s, const struct member *m)
{
	if (put_folder(s->folder, sizeof(s->folder), s->out, m->job, m->rank) == 0)
		return 0;
	return query_fail(s->q, -ENAMETOOLONG, "%s: the name is too long", s->out);
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name), end = strlen(ENDING);

	for (const struct parquet_table *t = parquet_tables; t->name; t++)
		if (n == strlen(t->name) + end && strncmp(name, t->name, n - end) == 0 &&
		    strcmp(name + n - end, ENDING) == 0)
			return true;
	return false;
}

/* Whether a folder has only files of a data set; one that can't be read has others. */
static bool has_ours_alone(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool ours = dir != NULL;

	while (ours && (entry = readdir(dir)) != NULL)
		ours = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		       is_ours(entry->d_name);
	if (dir)
		closedir(dir);
	return ours;
}

/* 0, or -ENOENT without such a folder, or why it can't be replaced. */
static int check_folder(const struct set *s)
{
	struct stat st;

	if (lstat(s->folder, &st))
		return errno == ENOENT ? -ENOENT : fail(s, s->folder, -errno);
	if (!s->q->opt->force)
		return query_fail(s->q, -EEXIST,
				  "%s: exists; use --force to replace it, --job NAME or -o DIR",
				  s->folder);
	if (!S_ISDIR(st.st_mode) || !has_ours_alone(s->folder))
		return query_fail(s->q, -EEXIST,
				  "%s: has other files than a data set's; move them away, or "
				  "use -o DIR",
				  s->folder);
	return 0;
}

static int check_all(struct set *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		int ret = name_folder(s, &s->members[i]);

		if (ret == 0)
			ret = check_folder(s);
		if (ret && ret != -ENOENT)
			return ret;
	}
	return 0;
}

/* Removes the files of a data set in a folder, and the folder; what is no such file stays. */
static void remove_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[NAME_MAX + 1];

	for (const struct parquet_table *t = parquet_tables; fd >= 0 && t->name; t++) {
		snprintf(name, sizeof(name), "%s" ENDING, t->name);
		owned_remove(fd, name, MARK, strlen(MARK));
	}
	if (fd >= 0)
		close(fd);
	rmdir(path);
}

static int make_tmp(struct set *s)
{
	char *slash = strrchr(s->folder, '/');
	int ret;

	*slash = '\0';
	ret = make_folder(s, s->folder, &s->made_job);
	snprintf(s->tmp, sizeof(s->tmp), "%.4000s/.%s.tmp-%ld", s->folder, slash + 1,
		 (long)getpid());
	*slash = '/';
	if (ret) {
		s->tmp[0] = '\0';
		return ret;
	}
	/* of a process that was killed and had the same pid */
	remove_folder(s->tmp);
	if (mkdir(s->tmp, 0700) == 0)
		return 0;
	ret = fail(s, s->tmp, -errno);
	s->tmp[0] = '\0';
	return ret;
}

/* ---- publishing ---- */

static int set_modes(const struct set *s)
{
	mode_t mask = umask(077);
	char path[PATH_MAX + NAME_MAX];

	umask(mask);
	if (job_is_private(s->q->opt, query_has_args(s->q)))
		mask = 077;
	for (const struct parquet_table *t = parquet_tables; t->name; t++) {
		snprintf(path, sizeof(path), "%s/%s" ENDING, s->tmp, t->name);
		if (chmod(path, 0666 & ~mask))
			return -errno;
	}
	return chmod(s->tmp, 0777 & ~mask) ? -errno : 0;
}

/* Gives the folder its name. One that is there is then in tmp. */
static int exchange(struct set *s, bool is_there)
{
	char old[PATH_MAX + 8];

	if (!is_there)
		return renameat2(AT_FDCWD, s->tmp, AT_FDCWD, s->folder, RENAME_NOREPLACE) &&
				       (errno != EINVAL || rename(s->tmp, s->folder)) ?
			       -errno :
			       0;
	if (renameat2(AT_FDCWD, s->tmp, AT_FDCWD, s->folder, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* the file system can't: for a moment there is none */
	snprintf(old, sizeof(old), "%s.old", s->tmp);
	if (rename(s->folder, old))
		return -errno;
	if (rename(s->tmp, s->folder)) {
		int ret = -errno;

		rename(old, s->folder);
		return ret;
	}
	return rename(old, s->tmp) ? -errno : 0;
}

/* Removes the folders that were made for a rank that there is not, unless another one is in
 * them. */
static void remove_made(struct set *s)
{
	char *slash = strrchr(s->folder, '/');

	if (s->made_job && slash) {
		*slash = '\0';
		rmdir(s->folder);
		*slash = '/';
	}
	if (s->made_out)
		rmdir(s->out);
}

static int publish(struct set *s, int ret)
{
	int there;

	if (!s->tmp[0])
		return ret;
	if (ret == 0 && s->q->opt->progress &&
	    s->q->opt->progress(s->q->opt->progress_arg, s->q->done, s->q->total))
		ret = query_fail(s->q, -ECANCELED, "%s: stopped; it was not written", s->folder);
	if (ret == 0) {
		there = check_folder(s);
		ret = there == -ENOENT ? 0 : there;
	}
	if (ret == 0)
		ret = set_modes(s);
	if (ret == 0)
		ret = exchange(s, there == 0);
	if (ret)
		query_fail(s->q, ret, "%s: can't be written: %s", s->folder, strerror(-ret));
	remove_folder(s->tmp);
	s->tmp[0] = '\0';
	if (ret)
		remove_made(s);
	return ret;
}

/* ---- ranks ---- */

static int open_files(struct set *s, struct parquet_file **files)
{
	char path[PATH_MAX + NAME_MAX];
	int ret = 0;

	for (size_t i = 0; parquet_tables[i].name && ret == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s" ENDING, s->tmp, parquet_tables[i].name);
		ret = parquet_file_create(&files[i], s->q, path, &parquet_tables[i]);
	}
	return ret;
}

/* Writes the folder of `nr` processes. */
static int write_rank(struct set *s, const struct member *members, size_t nr)
{
	struct parquet_file *files[PARQUET_MAX_TABLES] = { NULL };
	uint64_t nr_files = 0;
	int ret = name_folder(s, members);

	if (ret == 0)
		ret = make_tmp(s);
	RTL_TESTPOINT("output_begun");
	if (ret == 0)
		ret = open_files(s, files);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		s->q->only = members[i].process;
		ret = parquet_rows_add(s->rows, files);
	}
	s->q->only = NULL;
	for (size_t i = 0; i < PARQUET_MAX_TABLES; i++) {
		nr_files += files[i] != NULL;
		ret = parquet_file_close(files[i], ret);
	}
	ret = publish(s, ret);
	if (ret == 0)
		s->q->res->nr_files += nr_files;
	return ret;
}

int parquet_write(struct query *q, const char *out)
{
	struct set *s = alloc_zero(1, sizeof(*s));
	int ret;

	if (!s)
		return query_fail_memory(q);
	s->q = q;
	s->out = out;
	ret = *out ? 0 : query_fail(q, -EINVAL, "the output has no name: use -o DIR");
	if (ret == 0)
		ret = list_members(s);
	if (ret == 0)
		ret = check_all(s);
	if (ret == 0)
		ret = parquet_rows_begin(&s->rows, q);
	if (ret == 0)
		ret = make_folder(s, out, &s->made_out);
	for (size_t i = 0, n; i < s->nr && ret == 0; i += n) {
		for (n = 1; i + n < s->nr && is_same_folder(&s->members[i], &s->members[i + n]);
		     n++)
			;
		ret = write_rank(s, &s->members[i], n);
	}
	parquet_rows_end(s->rows);
	for (size_t i = 0; i < s->nr; i++)
		alloc_free(s->members[i].job);
	alloc_free(s->members);
	alloc_free(s);
	return ret;
}
