/* SPDX-License-Identifier: MIT */
/* dbfile.c - the files beside an SQLite database, and who has locked it
 *
 * Threads:  any. Not in a traced process.
 * Format:   https://www.sqlite.org/fileformat2.html for journals, lockingv3.html for the bytes that
 *           are locked.
 */
#include "base/dbfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

/* The bytes that SQLite locks: pending, reserved, and 510 of readers. */
#define LOCK_FIRST 0x40000000
#define LOCK_BYTES 512
/* SQLITE_BUSY and so on: this module does without SQLite */
enum { BUSY = 5, READONLY = 8, CANTOPEN = 14, READONLY_ROLLBACK = 776 };
/* The header's versions of the format for writers and readers, where there is a write-ahead log. */
enum { VERSIONS_AT = 18, VERSION_WAL = 2 };
#define WAIT_MS 2000 /* for a program that writes */
#define WAIT_STEP_MS 20

static bool is_zero(const unsigned char *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

/* The magic number is zero until the journal is on the disk, and again when it is of no use any
 * more (journal_mode = PERSIST). */
static bool is_journal(const unsigned char *head, size_t n)
{
	static const unsigned char magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };

	return n >= sizeof(magic) &&
	       (memcmp(head, magic, sizeof(magic)) == 0 || is_zero(head, sizeof(magic)));
}

static bool is_wal(const unsigned char *head, size_t n)
{
	static const unsigned char magic[3] = { 0x37, 0x7f, 0x06 };

	return n >= 4 && ((memcmp(head, magic, sizeof(magic)) == 0 && (head[3] & 0xfe) == 0x82) ||
			  is_zero(head, n));
}

/* The index of a log: the version of its format, in the byte order of the machine. */
static bool is_shm(const unsigned char *head, size_t n)
{
	uint32_t version;

	if (n < sizeof(version))
		return false;
	memcpy(&version, head, sizeof(version));
	return version == 3007000 || version == __builtin_bswap32(3007000) || is_zero(head, n);
}

static const struct {
	const char *suffix;
	bool (*is)(const unsigned char *head, size_t n);
} sides[] = { { "-journal", is_journal }, { "-wal", is_wal }, { "-shm", is_shm } };

#define NR_SIDES (sizeof(sides) / sizeof(sides[0]))

enum side { SIDE_NONE, SIDE_OURS, SIDE_OTHER };

static enum side look(const char *path, size_t i, char name[PATH_MAX + 16])
{
	unsigned char head[32] = { 0 };
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (snprintf(name, PATH_MAX + 16, "%s%s", path, sides[i].suffix) >= PATH_MAX + 16 ||
	    lstat(name, &st))
		return SIDE_NONE;
	if (S_ISREG(st.st_mode) && !st.st_size)
		return SIDE_OURS;
	fd = S_ISREG(st.st_mode) ?
		     sys_open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0) :
		     -1;
	if (fd >= 0) {
		n = sys_pread(fd, head, sizeof(head), 0);
		sys_close(fd);
	}
	return n > 0 && sides[i].is(head, (size_t)n) ? SIDE_OURS : SIDE_OTHER;
}

static bool any_side(const char *path)
{
	char name[PATH_MAX + 16];

	for (size_t i = 0; i < NR_SIDES; i++)
		if (look(path, i, name) != SIDE_NONE)
			return true;
	return false;
}

/* Who it is: of another pid namespace or another machine there is no number. */
static void describe_holder(pid_t pid, char text[DBFILE_HOLDER_SIZE])
{
	char path[32], name[32];

	if (pid <= 0) {
		snprintf(text, DBFILE_HOLDER_SIZE,
			 "a program of another container or machine, or another user's");
		return;
	}
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	if (fd_read_line(path, name, sizeof(name)) || !*name)
		snprintf(name, sizeof(name), "a program");
	for (char *p = name; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	snprintf(text, DBFILE_HOLDER_SIZE, "%s (pid %ld)", name, (long)pid);
}

bool dbfile_holder(const char *path, bool writes, char text[DBFILE_HOLDER_SIZE])
{
	/* a lock of a reader conflicts with that of a writer alone */
	struct flock lock = { .l_type = writes ? F_RDLCK : F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = LOCK_FIRST,
			      .l_len = LOCK_BYTES };
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	bool is_held;

	if (fd < 0)
		return false;
	is_held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	sys_close(fd);
	if (is_held)
		describe_holder(lock.l_pid, text);
	return is_held;
}

int dbfile_lock_for_reading(int fd)
{
	/* of the descriptor: no other one of this process releases it */
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_FIRST, .l_len = LOCK_BYTES
	};

	return fcntl(fd, F_OFD_SETLK, &lock);
}

/* A reader of a file without journals keeps what it has open. One that has a journal, or makes one
 * by the name, does harm. */
static bool is_held(const char *path, bool has_side, char who[DBFILE_HOLDER_SIZE])
{
	static const struct timespec step = { .tv_nsec = WAIT_STEP_MS * 1000000L };

	for (int ms = 0; ms < WAIT_MS; ms += WAIT_STEP_MS) {
		if (!dbfile_holder(path, !has_side, who))
			return false;
		sys_nap(&step);
	}
	return true;
}

int dbfile_check(const char *path, char *error, size_t size)
{
	char name[PATH_MAX + 16], who[DBFILE_HOLDER_SIZE];
	bool has_side = any_side(path);

	if (is_held(path, has_side, who)) {
		snprintf(error, size,
			 "%s: is locked: %s %s; end it, or choose another database with -o", path,
			 who, has_side ? "has it open" : "writes to it");
		return -EBUSY;
	}
	for (size_t i = 0; i < NR_SIDES; i++) {
		if (look(path, i, name) != SIDE_OTHER)
			continue;
		snprintf(
			error, size,
			"%s: has the name of SQLite's %s for the database and is none, but SQLite would take it for one; rename "
			"it, or choose another database with -o",
			name, i ? "log" : "journal");
		return -EEXIST;
	}
	return 0;
}

int dbfile_clear(const char *path)
{
	char name[PATH_MAX + 16];

	if (!any_side(path))
		return 0;
	for (size_t i = 0; i < NR_SIDES; i++)
		if (look(path, i, name) == SIDE_OTHER)
			return -EEXIST;
	if (unlink(path) && errno != ENOENT)
		return -errno;
	for (size_t i = 0; i < NR_SIDES; i++)
		if (look(path, i, name) == SIDE_OURS && unlink(name) && errno != ENOENT)
			return -errno;
	return 0;
}

static bool has_log(const char *path)
{
	char name[PATH_MAX + 8];
	struct stat st;

	snprintf(name, sizeof(name), "%s-wal", path);
	return stat(name, &st) == 0 && st.st_size > 0;
}

/* Whether SQLite needs a log beside the database to read it, and can't make one. Looks into the
 * file only where that is so. */
static bool needs_log(const char *path)
{
	const char *slash = strrchr(path, '/');
	unsigned char versions[2] = { 0 };
	char directory[PATH_MAX];
	bool is_log;
	int fd;

	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	if (access(directory, W_OK) == 0)
		return false;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	is_log = fd >= 0 && sys_pread(fd, versions, 2, VERSIONS_AT) == 2 &&
		 versions[0] == VERSION_WAL && versions[1] == VERSION_WAL;
	if (fd >= 0)
		sys_close(fd);
	return is_log;
}

const char *dbfile_to_read(const char *path, char name[DBFILE_NAME_SIZE])
{
	bool is_alone = !has_log(path) && needs_log(path);
	size_t n = (size_t)snprintf(name, DBFILE_NAME_SIZE, "file:");

	/* two slashes would begin the name of a host */
	path += path[0] == '/' ? strspn(path, "/") - 1 : 0;
	for (; *path && n < DBFILE_NAME_SIZE - 24; path++)
		n += (size_t)snprintf(name + n, DBFILE_NAME_SIZE - n,
				      strchr("%?#", *path) ? "%%%02x" : "%c",
				      (unsigned int)(unsigned char)*path);
	snprintf(name + n, DBFILE_NAME_SIZE - n, is_alone ? "?immutable=1" : "?mode=ro");
	return name;
}

bool dbfile_explain(const char *path, int rc, char *text, size_t size)
{
	bool is_busy = (rc & 0xff) == BUSY, is_hot = rc == READONLY_ROLLBACK;
	bool is_kept = !is_hot && ((rc & 0xff) == READONLY || (rc & 0xff) == CANTOPEN) &&
		       has_log(path) && needs_log(path);
	char who[DBFILE_HOLDER_SIZE];

	if (is_busy && !dbfile_holder(path, false, who))
		snprintf(who, sizeof(who), "another program");
	if (is_busy)
		snprintf(text, size, "%s: is locked: %s writes to it; try again when it has ended",
			 path, who);
	else if (is_hot)
		snprintf(
			text, size,
			"%s: a program that wrote to it was killed in a transaction (%s-journal is there), which has to be "
			"undone first: sqlite3 '%s' .tables",
			path, path, path);
	else if (is_kept)
		snprintf(
			text, size,
			"%s: has a write-ahead log (%s-wal), which SQLite reads only where it may write beside it: copy both to a "
			"directory that you can write to, and read the copy",
			path, path);
	return is_busy || is_hot || is_kept;
}
