/* SPDX-License-Identifier: MIT */
/* rpd_copy.c - an unfinished database of another process is continued in a copy: what it was made
 * of stays as it is
 *
 * The copy includes the journal of a process that was killed: SQLite then undoes in the copy what
 * was not committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/fd.h"
#include "base/temporary.h"
#include "base/testpoint.h"
#include "export/rpd/rpd_internal.h"

#define BUFFER_SIZE (1u << 20)
#define LOCK_MS 60000
#define LOCK_STEP_MS 20

void rpd_copy_journal(const struct rpd *r, char name[PATH_MAX + 64])
{
	snprintf(name, PATH_MAX + 64, "%s-journal", r->tmp);
}

/* Waits until no other program writes to the file, and keeps it so while `fd` is open. */
static int lock_writers_out(struct rpd *r, int fd, const char *path)
{
	static const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	char who[DBFILE_HOLDER_SIZE];

	for (int ms = 0; ms < LOCK_MS; ms += LOCK_STEP_MS) {
		/* other errors: the file system has no locks */
		if (dbfile_lock_for_reading(fd) == 0 || (errno != EAGAIN && errno != EACCES))
			return 0;
		if (rpd_check_stopped(r))
			return -ECANCELED;
		nanosleep(&step, NULL);
	}
	if (!dbfile_holder(path, true, who))
		snprintf(who, sizeof(who), "another program");
	return rpd_fail(r, -EBUSY, "%s: %s has locked the database for a minute; end it", path,
			who);
}

static int copy_bytes(struct rpd *r, int from, int to)
{
	char *buffer = alloc_heap(BUFFER_SIZE);
	uint64_t offset = 0;
	ssize_t n = 1;
	int err = buffer ? 0 : -ENOMEM;

	while (!err && n > 0) {
		n = pread(from, buffer, BUFFER_SIZE, (off_t)offset);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err = -errno;
		else if (n > 0)
			err = fd_pwrite(to, buffer, (size_t)n, offset), offset += (uint64_t)n;
		if (!err && rpd_check_stopped(r))
			err = -ECANCELED;
	}
	alloc_free(buffer);
	return err;
}

/* Never by a link, and nothing but a file is read. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int copy_file(struct rpd *r, int from, const char *to_path)
{
	int to = temporary_create(to_path), err;

	if (to < 0)
		return to;
	err = ioctl(to, FICLONE, from) == 0 ? 0 : copy_bytes(r, from, to);
	if (close(to) && !err)
		err = -errno;
	return err;
}

int rpd_copy(struct rpd *r, const char *path)
{
	char from_journal[PATH_MAX + 64], to_journal[PATH_MAX + 64];
	int from = open_file(path), journal, err;

	if (from < 0)
		return rpd_fail(r, from, "%s: the unfinished database can't be read: %s", path,
				strerror(-from));
	err = lock_writers_out(r, from, path);
	if (!err)
		err = copy_file(r, from, r->tmp);
	snprintf(from_journal, sizeof(from_journal), "%s-journal", path);
	rpd_copy_journal(r, to_journal);
	journal = err ? -1 : open_file(from_journal);
	if (journal >= 0) {
		err = copy_file(r, journal, to_journal);
		close(journal);
	}
	close(from);
	RTL_TESTPOINT("rpd_copied");
	return err ? rpd_fail(r, err, "%s: can't be written: %s", r->out, strerror(-err)) : 0;
}

/* Whether the copy is of one of these raw traces: a database of another trace may have the name
 * that is expected. */
int rpd_copy_check(struct rpd *r, const char *const *inputs, size_t nr)
{
	/* its disk was full before anything of a trace was committed */
	if (!r->nr_processes &&
	    rpd_db_int(r, 0,
		       "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'rtl_state') AND "
		       "NOT EXISTS (SELECT 1 FROM rtl_process)"))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		char id[33];
		int ret = rpd_spool_trace(r, inputs[i], id);

		if (ret < 0)
			return ret;
		/* a complete one has no state any more, one that is continued no such rows yet */
		for (size_t j = 0; j < r->nr_processes; j++)
			if (strncmp(r->processes[j]->trace, id, strlen(id)) == 0)
				return 0;
		if (rpd_db_int(
			    r, 0,
			    "SELECT count(*) FROM rtl_process WHERE substr(trace_id, 1, 32) = %Q",
			    id) > 0)
			return 0;
	}
	return rpd_fail(
		r, -EINVAL,
		"%s: is the unfinished database of another trace; choose another output with -o",
		r->opt->unfinished);
}
