/* SPDX-License-Identifier: MIT */
/* fleet_keep.c - bounds a data set: deletes its oldest ranks as whole folders */
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

#define ENDING ".parquet"
#define MARK "PAR1"

struct item {
	struct fleet_rank *rank;
	int64_t last_ns;
	uint64_t bytes;
};

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

static void measure(const struct fleet_set *set, struct item *i)
{
	char path[PATH_MAX * 2];
	struct stat st;

	i->last_ns = last_event(set, i->rank);
	snprintf(path, sizeof(path), "%s/%s", set->dir, i->rank->folder);
	if (!i->last_ns && lstat(path, &st) == 0)
		i->last_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	for (size_t t = 0; t < FLEET_TABLES; t++) {
		snprintf(path, sizeof(path), "%s/%s/%s" ENDING, set->dir, i->rank->folder,
			 fleet_tables[t]);
		if (lstat(path, &st) == 0)
			i->bytes += (uint64_t)st.st_blocks * 512;
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->last_ns != y->last_ns ? (x->last_ns < y->last_ns ? -1 : 1) :
					  strcmp(x->rank->folder, y->rank->folder);
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

/* Whether all that is in the folder is ours; one that can't be read has others. */
static bool has_ours_alone(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	bool ours = dir != NULL;

	while (ours && (entry = readdir(dir)) != NULL)
		ours = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		       (is_file_of_ours(entry->d_name) && begins_as_ours(own, entry->d_name));
	if (dir)
		closedir(dir);
	else if (own >= 0)
		close(own);
	return ours;
}

/* 0 or -errno; -EMEDIUMTYPE: it has other files. */
static int delete_in(int job, const char *name)
{
	int fd = openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st, now;
	char hidden[64], file[64];

	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EMEDIUMTYPE : -errno;
	snprintf(hidden, sizeof(hidden), ".%s.deleted-%ld", name, (long)getpid());
	if (!has_ours_alone(fd))
		err = -EMEDIUMTYPE;
	else if (fstat(fd, &st) || renameat(job, name, job, hidden))
		err = -errno;
	/* the name may have been another folder's meanwhile */
	else if (fstatat(job, hidden, &now, AT_SYMLINK_NOFOLLOW) || now.st_ino != st.st_ino ||
		 now.st_dev != st.st_dev) {
		renameat(job, hidden, job, name);
		err = -EMEDIUMTYPE;
	}
	for (size_t i = 0; i < FLEET_TABLES && !err; i++) {
		int one;

		snprintf(file, sizeof(file), "%s" ENDING, fleet_tables[i]);
		one = owned_remove(fd, file, MARK, strlen(MARK));
		err = one == -ENOENT ? 0 : one;
	}
	if (!err && unlinkat(job, hidden, AT_REMOVEDIR))
		err = -errno;
	close(fd);
	return err;
}

static int delete_rank(const struct fleet_set *set, const struct fleet_rank *r)
{
	const char *slash = strchr(r->folder, '/');
	char job_name[NAME_MAX + 1];
	int top, job, err;

	snprintf(job_name, sizeof(job_name), "%.*s", (int)(slash - r->folder), r->folder);
	top = open(set->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	job = openat(top, job_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = job < 0 ? (errno == ELOOP || errno == ENOTDIR ? -EMEDIUMTYPE : -errno) :
			delete_in(job, slash + 1);
	/* the folder of a job that has no rank any more; refused while it has one */
	if (!err)
		unlinkat(top, job_name, AT_REMOVEDIR);
	if (job >= 0)
		close(job);
	close(top);
	return err;
}

int fleet_keep(struct fleet_set *set, struct fleet_keep *k)
{
	struct item *items = calloc(set->nr + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	k->bytes_left = 0;
	for (size_t i = 0; i < set->nr; i++) {
		items[i].rank = &set->ranks[i];
		measure(set, &items[i]);
		k->bytes_left += items[i].bytes;
	}
	qsort(items, set->nr, sizeof(*items), compare_items);
	for (size_t i = 0; i < set->nr; i++) {
		const struct item *it = &items[i];
		bool old = k->max_age_ns && it->last_ns < k->now_ns &&
			   (uint64_t)(k->now_ns - it->last_ns) > k->max_age_ns;
		int err;

		if (!old && !(k->max_bytes && k->bytes_left > k->max_bytes))
			continue;
		err = k->dry_run ? 0 : delete_rank(set, it->rank);
		if (err) {
			fleet_set_problem(
				set, "%s/%s: is not deleted: %s", set->dir, it->rank->folder,
				err == -EMEDIUMTYPE ?
					"it has other files than a data set's, or is a link; move them away" :
					strerror(-err));
			continue;
		}
		k->nr_deleted++;
		k->bytes_deleted += it->bytes;
		k->bytes_left -= it->bytes;
		k->deleted(k->arg, it->rank, it->last_ns, it->bytes);
	}
	free(items);
	return 0;
}
