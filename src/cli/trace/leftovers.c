/* SPDX-License-Identifier: MIT */
/* leftovers.c - what killed processes and conversions left in memory and in the current directory
 *
 * Nothing is taken for left over by its name alone: a memory half has the name that librtl gives to
 * its trace, and no process of this machine has it open; a file of a conversion has the pid of a
 * process that is gone.
 */
#include "cli/trace/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dbfile.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/proc.h"
#include "cli/paths.h"
#include "cli/trace/session.h"
#include "cli/ui.h"
#include "spool/drain.h"

/* a process of another host may be at work, whose pid means nothing here */
#define TEMPORARY_AGE_S 60

enum { C_KIND, C_BYTES, C_PATH, C_TODO, NR_COLUMNS };

static const struct sheet_column columns[] = {
	[C_KIND] = { "kind", "KIND", SHEET_NAME },
	[C_BYTES] = { "bytes", "SIZE", SHEET_BYTES },
	[C_PATH] = { "path", "PATH", SHEET_NAME },
	[C_TODO] = { "todo", "WHAT TO DO", SHEET_NAME },
};

struct leftovers {
	struct sheet table;
	bool frees;
	size_t nr, nr_free;
	uint64_t bytes_free;
};

/* `todo`: NULL: it belongs to no raw trace. */
static void add(struct leftovers *l, const char *kind, const char *path, uint64_t bytes,
		const char *todo)
{
	struct sheet_cell cells[NR_COLUMNS] = { 0 };
	bool is_deleted = !todo && l->frees && unlink(path) == 0;

	cells[C_KIND].text = kind;
	cells[C_BYTES].num = bytes;
	cells[C_PATH].text = path;
	cells[C_TODO].text = todo ? todo : is_deleted ? "deleted" : "rtl ps --leftovers --free";
	sheet_row(&l->table, cells);
	l->nr++;
	l->nr_free += !todo;
	l->bytes_free += todo ? 0 : bytes;
}

/* Whether any process of this kernel, in whatever container, can write to the file: it has it open
 * or mapped. */
static bool is_open_for_writing(int fd)
{
	bool is_open = fcntl(fd, F_SETLEASE, F_RDLCK) != 0;

	if (!is_open)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return is_open;
}

/* Whether the disk half is there. */
static bool has_disk_half(const struct spool_header *mem)
{
	struct spool_header *disk = malloc(sizeof(*disk));
	bool has;

	if (!disk)
		ui_die_memory();
	has = fd_read_file(mem->disk_path, disk, sizeof(*disk)) == (ssize_t)sizeof(*disk) &&
	      disk->magic == SPOOL_MAGIC &&
	      memcmp(disk->trace_id, mem->trace_id, sizeof(mem->trace_id)) == 0;
	free(disk);
	return has;
}

static void look_at_memory_half(struct leftovers *l, int dir_fd, const char *dir, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct spool_header *h = malloc(sizeof(*h));
	char path[PATH_MAX], spools[PATH_MAX];
	struct stat st;

	if (!h)
		ui_die_memory();
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) && h->magic == SPOOL_MAGIC &&
	    memchr(h->disk_path, 0, sizeof(h->disk_path)) && paths_join(path, dir, name) &&
	    strlen(path) < sizeof(h->mem_path)) {
		memcpy(h->mem_path, path, strlen(path) + 1);
		if (drain_is_memory_half(h, "") && !is_open_for_writing(fd)) {
			char *todo;

			paths_dirname(spools, h->disk_path);
			todo = has_disk_half(h) ? ui_format("rtl recover --remove %s", spools) :
						  NULL;
			add(l, "memory", path, (uint64_t)st.st_blocks * 512, todo);
			free(todo);
		}
	}
	free(h);
	if (fd >= 0)
		close(fd);
}

static void look_at_memory(struct leftovers *l, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strncmp(entry->d_name, "rtl-", 4) == 0)
			look_at_memory_half(l, dirfd(d), dir, entry->d_name);
	if (d)
		closedir(d);
}

/* The pid of NAME.part-PID, NAME.part-PID-NUMBER or NAME.tmp-PID; 0: another name. *end: of
 * NAME. */
static uint32_t pid_of(const char *name, const char *infix, const char **end)
{
	const char *at = NULL;
	unsigned long pid;
	char *rest;

	for (const char *p = strstr(name, infix); p; p = strstr(p + 1, infix))
		at = p;
	if (!at || at == name || at[strlen(infix)] < '1' || at[strlen(infix)] > '9')
		return 0;
	pid = strtoul(at + strlen(infix), &rest, 10);
	if (*rest == '-' && rest[1] >= '1' && rest[1] <= '9')
		strtoul(rest + 1, &rest, 10);
	*end = at;
	return *rest || pid > UINT32_MAX ? 0 : (uint32_t)pid;
}

static void look_at_file(struct leftovers *l, const char *name)
{
	char who[DBFILE_HOLDER_SIZE], spools[PATH_MAX + 16];
	const char *end;
	uint32_t part = pid_of(name, ".part-", &end);
	uint32_t pid = part ? part : pid_of(name, ".tmp-", &end);
	char *todo = NULL;
	struct stat st;

	if (!pid || proc_alive(pid, 0) || lstat(name, &st) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || time(NULL) - st.st_mtime < TEMPORARY_AGE_S ||
	    dbfile_holder(name, false, who))
		return;
	snprintf(spools, sizeof(spools), "%.*s.spool", (int)(end - name), name);
	if (part && access(spools, F_OK) == 0)
		todo = ui_format("rtl recover --remove %s", spools);
	add(l, part ? "database" : "temporary", name, (uint64_t)st.st_size, todo);
	free(todo);
}

static uint64_t bytes_of(char **paths, ssize_t nr)
{
	uint64_t bytes = 0;
	struct stat st;

	for (ssize_t i = 0; i < nr; i++)
		if (lstat(paths[i], &st) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	return bytes;
}

/* A directory of raw traces that no `rtl trace` has locked. */
static void look_at_spools(struct leftovers *l, const char *name)
{
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char **paths = NULL, *todo;
	ssize_t nr = -1;

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		nr = session_spools(name, &paths);
	if (nr > 0) {
		todo = ui_format("rtl recover --remove %s", name);
		add(l, "raw trace", name, bytes_of(paths, nr), todo);
		free(todo);
	}
	if (nr >= 0)
		session_free_spools(paths, (size_t)nr);
	if (fd >= 0)
		close(fd);
}

static void look_here(struct leftovers *l)
{
	DIR *d = opendir(".");
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t n = strlen(entry->d_name);

		if (n > 6 && strcmp(entry->d_name + n - 6, ".spool") == 0)
			look_at_spools(l, entry->d_name);
		else
			look_at_file(l, entry->d_name);
	}
	if (d)
		closedir(d);
}

void leftovers_print(enum grid_format format, bool frees)
{
	struct grid_style style = grid_style(format);
	const char *other = env_str(ENV_MEM_DIR);
	struct leftovers l = { .frees = frees };
	char bytes[UI_NUMBER_SIZE];

	sheet_columns(&l.table, columns, NR_COLUMNS);
	look_at_memory(&l, "/dev/shm");
	if (*other == '/' && strcmp(other, "/dev/shm") != 0)
		look_at_memory(&l, other);
	look_here(&l);
	if (l.nr || format != GRID_TEXT)
		grid_print(&l.table, &style);
	else
		ui_say("nothing is left over in /dev/shm and in this directory");
	if (l.nr_free)
		ui_say("%s of them belong to no raw trace%s", ui_bytes(bytes, l.bytes_free),
		       frees ? ", and are deleted" : "; --free deletes those");
	sheet_fini(&l.table);
}
