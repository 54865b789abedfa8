/* SPDX-License-Identifier: MIT */
/* dataset.c - a rank on its way to a data set: its database, its mark, its folder
 *
 * Not here: the files of Parquet and their folders (export/parquet/).
 */
#include "cli/trace/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/rank.h"
#include "base/testpoint.h"
#include "cli/paths.h"
#include "cli/trace/session.h"
#include "cli/trace/watch.h"
#include "cli/ui.h"
#include "export/export.h"
#include "export/parquet/parquet.h"

#define ENDING ".db"
#define MARK_MAX 8192

bool dataset_is(const char *output)
{
	size_t n = strlen(output);
	struct stat st;

	return n && (output[n - 1] == '/' || (stat(output, &st) == 0 && S_ISDIR(st.st_mode)));
}

static void read_host(char host[256])
{
	*host = '\0';
	gethostname(host, 256);
	host[255] = '\0';
	/* a part of a file's name, and a line of text */
	for (char *c = host; *c; c++)
		if (*c == '/' || (unsigned char)*c <= ' ')
			*c = '_';
}

int dataset_output(char out[PATH_MAX], const char *set, pid_t pid)
{
	char host[256];

	read_host(host);
	return snprintf(out, PATH_MAX, "%s/" DATASET_MARK "%s-%ld" ENDING, set, host, (long)pid) <
			       PATH_MAX ?
		       0 :
		       -ENAMETOOLONG;
}

/* The mark of a database; "": it is none of a data set. */
static void mark_of(char mark[PATH_MAX], const char *output)
{
	snprintf(mark, PATH_MAX, "%.*s", (int)(strlen(output) - strlen(ENDING)), output);
}

int dataset_mark(const char *output, const char *spool)
{
	char mark[PATH_MAX], whole[PATH_MAX + 8], host[256];
	struct rank rank;
	char *text;
	int fd, err;

	mark_of(mark, output);
	read_host(host);
	rank_read(&rank, NULL);
	/* of an earlier run with the same pid, whose raw trace is gone */
	snprintf(whole, sizeof(whole), "%s.mark", output);
	unlink(whole);
	fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	text = ui_format("host %s\npid %ld\nrank %lld\njob %s\nspool %s\n", host, (long)getpid(),
			 (long long)rank.rank, rank.job, spool);
	err = fd_pwrite(fd, text, strlen(text), 0);
	free(text);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(whole, mark))
		err = -errno;
	if (err)
		unlink(whole);
	return err;
}

void dataset_unmark(const char *output)
{
	char mark[PATH_MAX];

	mark_of(mark, output);
	unlink(mark);
}

bool dataset_has_rank(char folder[PATH_MAX], const char *set, const char *job, int64_t rank)
{
	struct stat st;

	return parquet_folder(folder, PATH_MAX, set, job, rank) == 0 && lstat(folder, &st) == 0;
}

/* ---- publishing ---- */

static int sync_files(const char *set)
{
	int fd = open(set, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || syncfs(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

int dataset_publish(const char *output, const char *set, const char *job, int64_t rank,
		    const struct job_options *opt, struct job_result *res)
{
	const struct parquet_choice choice = { .has_own = true, .own_job = job, .own_rank = rank };
	struct job_options own = *opt;
	char journal[PATH_MAX + 16];
	int err;

	own.format = &choice;
	err = export_run(export_find("parquet"), &output, 1, set, &own, res);

	RTL_TESTPOINT("dataset_written");
	if (err)
		return err;
	err = sync_files(set);
	if (err)
		return job_fail(res, err, "%s: can't be written to the disk: %s", set,
				strerror(-err));
	snprintf(journal, sizeof(journal), "%s-journal", output);
	unlink(output);
	unlink(journal);
	return 0;
}

/* ---- marks ---- */

/* The value of a line "KEY VALUE"; false: there is none, or it is too long. */
static bool take_line(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, key, n) == 0 && at[n] == ' ') {
			size_t length = strcspn(at + n + 1, "\n");

			if (length >= size)
				return false;
			memcpy(out, at + n + 1, length);
			out[length] = '\0';
			return true;
		}
	return false;
}

static int64_t age_of(const struct stat *st)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = ((int64_t)now.tv_sec - (int64_t)st->st_mtim.tv_sec) * 1000000000 + now.tv_nsec -
	     st->st_mtim.tv_nsec;
	return ns > 0 ? ns : 0;
}

/* A file of this user, or of the folder's owner, that has the lines of a mark. */
static bool read_mark(int dir_fd, const char *set, const char *name, struct dataset_mark *m)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[MARK_MAX + 1], number[32];
	struct stat st, of_set;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && fstat(dir_fd, &of_set) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == geteuid() || st.st_uid == of_set.st_uid))
		n = pread(fd, text, MARK_MAX, 0);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	memset(m, 0, sizeof(*m));
	m->age_ns = age_of(&st);
	m->rank = RANK_NONE;
	if (snprintf(m->output, sizeof(m->output), "%s/%s" ENDING, set, name) >=
	    (int)sizeof(m->output))
		return false;
	take_line(text, "host", m->host, sizeof(m->host));
	take_line(text, "job", m->job, sizeof(m->job));
	take_line(text, "spool", m->spool, sizeof(m->spool));
	if (take_line(text, "rank", number, sizeof(number)))
		m->rank = strtoll(number, NULL, 10);
	if (take_line(text, "pid", number, sizeof(number)))
		m->pid = (uint32_t)strtoul(number, NULL, 10);
	return true;
}

static int compare_marks(const void *a, const void *b)
{
	const struct dataset_mark *x = a, *y = b;

	return strcmp(x->output, y->output);
}

static bool is_mark(const char *name)
{
	const char *dot = strrchr(name, '.');

	/* not .unfinished-HOST-PID.db, .db.spool, .db.part-PID; a host's name may have dots */
	return strncmp(name, DATASET_MARK, strlen(DATASET_MARK)) == 0 &&
	       !strstr(name, ENDING ".") && !(dot && strcmp(dot, ENDING) == 0) &&
	       !strstr(name, ENDING "-");
}

ssize_t dataset_marks(const char *set, struct dataset_mark **out)
{
	size_t nr = 0, max = 0;
	struct dirent *entry;
	char host[256];
	DIR *dir = opendir(set);

	*out = NULL;
	if (!dir)
		return -errno;
	read_host(host);
	while ((entry = readdir(dir))) {
		if (!is_mark(entry->d_name))
			continue;
		if (nr == max) {
			max = max ? max * 2 : 16;
			*out = reallocarray(*out, max, sizeof(**out));
			if (!*out)
				ui_die_memory();
		}
		if (!read_mark(dirfd(dir), set, entry->d_name, &(*out)[nr]))
			continue;
		(*out)[nr].is_here = strcmp((*out)[nr].host, host) == 0;
		nr++;
	}
	closedir(dir);
	if (nr)
		qsort(*out, nr, sizeof(**out), compare_marks);
	return (ssize_t)nr;
}

bool dataset_mark_runs(const struct dataset_mark *m)
{
	uint32_t pid;

	return *m->spool && (session_is_locked(m->spool) || watch_wait(m->spool, &pid, 1, 0));
}
