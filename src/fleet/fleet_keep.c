/* SPDX-License-Identifier: MIT */
/* fleet_keep.c - bounds a data set: deletes its oldest jobs as whole folders */
#include "fleet/fleet_keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/owned.h"
#include "base/testpoint.h"

#define ENDING ".parquet"
#define MARK "PAR1"
#define HIDDEN ".deleted-" /* and the pid, and the name that it had */

/* ---- how old, how large ---- */

/* The latest last_ns + realtime_ns of its processes; 0: not known. */
static int64_t last_event(const struct fleet_set *set, const struct fleet_rank *r)
{
	struct fleet_values last = { 0 }, offset = { 0 };
	char path[PATH_MAX * 2], error[FLEET_ERROR];
	struct fleet_file *f;
	int64_t most = 0;
	int a, b;

	snprintf(path, sizeof(path), "%s/%s/processes" ENDING, set->dir, r->folder);
	if (fleet_file_open(&f, path, error))
		return 0;
	a = fleet_file_column(f, "last_ns");
	b = fleet_file_column(f, "realtime_ns");
	for (size_t g = 0; a >= 0 && b >= 0 && g < f->nr_groups; g++) {
		if (f->columns[a].type != FLEET_INT || f->columns[b].type != FLEET_INT ||
		    fleet_page_read(f, g, (size_t)a, &last, error) ||
		    fleet_page_read(f, g, (size_t)b, &offset, error))
			break;
		for (size_t i = 0; i < last.nr; i++) {
			int64_t sum;

			if (last.there[i] && offset.there[i] &&
			    !__builtin_add_overflow(last.numbers[i], offset.numbers[i], &sum) &&
			    sum > most)
				most = sum;
		}
	}
	fleet_page_fini(&last);
	fleet_page_fini(&offset);
	fleet_file_close(f);
	return most;
}

/* Adds a rank to its job. */
static void measure(const struct fleet_set *set, const struct fleet_rank *r,
		    struct fleet_keep_job *job)
{
	int64_t last_ns = last_event(set, r);
	char path[PATH_MAX * 2];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", set->dir, r->folder);
	if (!last_ns && lstat(path, &st) == 0)
		last_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (!job->nr_ranks || last_ns > job->last_ns)
		job->last_ns = last_ns;
	job->nr_ranks++;
	for (size_t t = 0; t < FLEET_TABLES; t++) {
		snprintf(path, sizeof(path), "%s/%s/%s" ENDING, set->dir, r->folder,
			 fleet_tables[t]);
		if (lstat(path, &st) == 0)
			job->bytes += (uint64_t)st.st_blocks * 512;
	}
}

static int compare_jobs(const void *a, const void *b)
{
	const struct fleet_keep_job *x = a, *y = b;

	return x->last_ns != y->last_ns ? (x->last_ns < y->last_ns ? -1 : 1) :
					  strcmp(x->folder, y->folder);
}

/* The jobs of the set, whose ranks are in the order of jobs. The oldest first; their folders'
 * names are of the caller. NULL: out of memory. */
static struct fleet_keep_job *list_jobs(const struct fleet_set *set, size_t *nr)
{
	struct fleet_keep_job *jobs = calloc(set->nr + 1, sizeof(*jobs));

	*nr = 0;
	for (size_t i = 0; i < set->nr && jobs; i++) {
		const struct fleet_rank *r = &set->ranks[i];

		if (!*nr || strcmp(jobs[*nr - 1].job, r->job) != 0) {
			jobs[*nr].job = r->job;
			jobs[*nr].folder =
				strndup(r->folder, (size_t)(strchr(r->folder, '/') - r->folder));
			if (!jobs[(*nr)++].folder) {
				free(jobs);
				return NULL;
			}
		}
		measure(set, r, &jobs[*nr - 1]);
	}
	if (jobs && *nr)
		qsort(jobs, *nr, sizeof(*jobs), compare_jobs);
	return jobs;
}

/* ---- deleting ---- */

static bool is_file_of_ours(const char *name)
{
	size_t n = strlen(name), end = strlen(ENDING);

	for (size_t i = 0; i < FLEET_TABLES; i++)
		if (n == strlen(fleet_tables[i]) + end &&
		    strncmp(name, fleet_tables[i], n - end) == 0 &&
		    strcmp(name + n - end, ENDING) == 0)
			return true;
	return false;
}

/* A plain file that is empty or begins as Parquet does. */
static bool begins_as_ours(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char head[4];
	struct stat st;
	bool ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (!st.st_size ||
		     (fd_pread(fd, head, sizeof(head), 0) == 0 && memcmp(head, MARK, 4) == 0));

	if (fd >= 0)
		close(fd);
	return ours;
}

/* Calls `each` for the names in a directory until it answers something; -errno where it can't be
 * read. */
static int for_each(int fd, int (*each)(int fd, const char *name))
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = own < 0 ? -errno : 0;
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	if (own >= 0 && !dir) {
		err = -errno;
		close(own);
	}
	while (dir && !err && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = each(fd, entry->d_name);
	if (dir)
		closedir(dir);
	return err;
}

/* A directory, not a link to one; the descriptor, -errno or -EMEDIUMTYPE. */
static int open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd : errno == ELOOP || errno == ENOTDIR ? -EMEDIUMTYPE : -errno;
}

static int check_file(int rank, const char *name)
{
	return is_file_of_ours(name) && begins_as_ours(rank, name) ? 0 : -EMEDIUMTYPE;
}

/* -EBUSY: a rank that is being written. */
static int check_rank(int job, const char *name)
{
	const char *value = fleet_set_value(name, "rank");
	int64_t number;
	int fd, err;

	if (strncmp(name, ".rank=", 6) == 0)
		return -EBUSY;
	if (!value || !fleet_set_number(value, &number))
		return -EMEDIUMTYPE;
	fd = open_folder(job, name);
	err = fd < 0 ? fd : for_each(fd, check_file);
	if (fd >= 0)
		close(fd);
	return err;
}

static int delete_file(int rank, const char *name)
{
	int err = is_file_of_ours(name) ? owned_remove(rank, name, MARK, strlen(MARK)) :
					  -EMEDIUMTYPE;

	return err == -ENOENT ? 0 : err;
}

static int delete_rank(int job, const char *name)
{
	int fd = open_folder(job, name), err = fd < 0 ? fd : for_each(fd, delete_file);

	if (fd >= 0)
		close(fd);
	return err || unlinkat(job, name, AT_REMOVEDIR) == 0 ? err : -errno;
}

/* The ranks and the folder, which has its hidden name. */
static int delete_hidden(int top, int job, const char *hidden)
{
	int err = for_each(job, delete_rank);

	return err || unlinkat(top, hidden, AT_REMOVEDIR) == 0 ? err : -errno;
}

/* 0 or -errno; -EMEDIUMTYPE: it has other files, or is a link. */
static int delete_job(int top, const char *name)
{
	int job = open_folder(top, name), err = job < 0 ? job : for_each(job, check_rank);
	char hidden[NAME_MAX + 64];
	struct stat st, now;

	snprintf(hidden, sizeof(hidden), HIDDEN "%ld.%.200s", (long)getpid(), name);
	if (!err && (fstat(job, &st) || renameat(top, name, top, hidden)))
		err = -errno;
	/* the name may have been another folder's meanwhile */
	else if (!err && (fstatat(top, hidden, &now, AT_SYMLINK_NOFOLLOW) ||
			  now.st_ino != st.st_ino || now.st_dev != st.st_dev)) {
		renameat(top, hidden, top, name);
		err = -EMEDIUMTYPE;
	}
	RTL_TESTPOINT("job_hidden");
	if (!err)
		err = delete_hidden(top, job, hidden);
	if (job >= 0)
		close(job);
	return err;
}

/* What a deletion that was killed has left. */
static int finish_deletion(int top, const char *name)
{
	int job = strncmp(name, HIDDEN, strlen(HIDDEN)) == 0 ? open_folder(top, name) : -ENOENT;

	if (job >= 0) {
		delete_hidden(top, job, name);
		close(job);
	}
	return 0;
}

static void say_kept(struct fleet_set *set, const char *folder, int err)
{
	fleet_set_problem(
		set, "%s/%s: is not deleted: %s", set->dir, folder,
		err == -EMEDIUMTYPE ?
			"it has other files than a data set's, or is a link; move them away" :
		err == -EBUSY ?
			"it has a rank that is being written, or whose writer was killed (.rank=...)" :
			strerror(-err));
}

int fleet_keep(struct fleet_set *set, struct fleet_keep *k)
{
	int top = open(set->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct fleet_keep_job *jobs;
	size_t nr;

	jobs = list_jobs(set, &nr);
	k->bytes_left = 0;
	for (size_t i = 0; i < nr && jobs; i++)
		k->bytes_left += jobs[i].bytes;
	if (top >= 0 && !k->dry_run)
		for_each(top, finish_deletion);
	for (size_t i = 0; i < nr && jobs; i++) {
		const struct fleet_keep_job *j = &jobs[i];
		bool old = k->max_age_ns && j->last_ns < k->now_ns &&
			   (uint64_t)(k->now_ns - j->last_ns) > k->max_age_ns;
		const char *why;

		if (!old && !(k->max_bytes && k->bytes_left > k->max_bytes))
			continue;
		why = k->why_kept(k->arg, j->job);
		if (why) {
			fleet_set_problem(set, "%s/%s: is not deleted: %s", set->dir, j->folder,
					  why);
			continue;
		}
		err = k->dry_run ? 0 : top < 0 ? -EBADF : delete_job(top, j->folder);
		if (err) {
			say_kept(set, j->folder, err);
			continue;
		}
		k->nr_deleted++;
		k->bytes_deleted += j->bytes;
		k->bytes_left -= j->bytes;
		k->deleted(k->arg, j);
	}
	if (top >= 0)
		close(top);
	for (size_t i = 0; i < nr && jobs; i++)
		free((void *)(uintptr_t)jobs[i].folder);
	err = jobs ? 0 : -ENOMEM;
	free(jobs);
	return err;
}
