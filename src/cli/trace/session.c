/* SPDX-License-Identifier: MIT */
/* session.c - the output of one `rtl trace` and the directory of its spools
 *
 * Not here: draining the spools (drainer.c), writing the database (export/rpd/rpd.c).
 */
#include "cli/trace/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dbfile.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/pattern.h"
#include "base/proc.h"
#include "base/temporary.h"
#include "base/testpoint.h"
#include "cli/paths.h"
#include "cli/trace/converter.h"
#include "cli/trace/dataset.h"
#include "cli/ui.h"
#include "spool/drain.h"
#include "store/load.h"

#define TEMPORARY_AGE_S 5
#define LITTLE_SPACE (UINT64_C(64) << 20)

__attribute__((format(printf, 3, 4))) static int fail_session(char *error, int err, const char *fmt,
							      ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, SESSION_ERROR_SIZE, fmt, ap);
	va_end(ap);
	return err;
}

static void report_unknown_pattern(const char *where)
{
	ui_error(
		"output name: '%.20s' is not a pattern and stays in the name (%%p pid, %%h host, %%r rank, "
		"%%j job, %%q{VAR}, %%%%)",
		where);
}

/* The paths of files in the directory must fit into a spool's header. */
#define DIR_MAX (SPOOL_NAME_SIZE - 64)

static int expand_pattern(char out[PATH_MAX], const char *pattern, pid_t pid, bool warn)
{
	struct pattern_facts facts;
	struct rank rank;

	pattern_facts_read(&facts, &rank);
	facts.pid = (uint32_t)pid;
	facts.unknown = warn ? report_unknown_pattern : NULL;
	return pattern_expand(out, PATH_MAX, pattern, &facts);
}

/* A data set: its folder, and the database in it. `dir`: that of the folder. */
static int name_set(struct session *s, char dir[PATH_MAX], pid_t pid)
{
	size_t n = strlen(s->shown);
	int err;

	while (n > 1 && s->shown[n - 1] == '/')
		n--;
	s->shown[n] = '\0';
	paths_dirname(dir, s->shown);
	/* its last part may be "..", and need not exist */
	if (dataset_is(s->shown)) {
		char *real = realpath(s->shown, NULL);

		err = real ? 0 : -errno;
		if (real)
			snprintf(s->set, sizeof(s->set), "%s", real);
		free(real);
	} else {
		err = paths_absolute(s->set, s->shown);
	}
	return err ? err : dataset_output(s->output, s->set, pid);
}

int session_names(struct session *s, const char *pattern, const char *spool_dir, pid_t pid,
		  char error[SESSION_ERROR_SIZE])
{
	char dir[PATH_MAX], parent[PATH_MAX];
	const char *base;
	int err;

	memset(s, 0, sizeof(*s));
	s->lock_fd = -1;
	err = expand_pattern(s->shown, pattern, pid, pid != getpid());
	if (err)
		return fail_session(error, err, "%.200s...: the name of the output is too long",
				    pattern);
	if (!*s->shown)
		return fail_session(error, -ENOENT, "the output has no name: use -o FILE");
	err = dataset_is(s->shown) ? name_set(s, dir, pid) : paths_absolute(s->output, s->shown);
	if (!*s->set)
		paths_dirname(dir, s->shown);
	if (err == -ENOENT)
		return fail_session(error, err,
				    "%s: there is no directory '%s'; make it first: mkdir -p '%s'",
				    s->shown, dir, dir);
	if (err)
		return fail_session(error, err, "%s: %s", s->shown, strerror(-err));
	base = strrchr(s->output, '/') + 1;
	if (!spool_dir || !*spool_dir) {
		if (snprintf(s->dir, sizeof(s->dir), "%s.spool", s->output) >= DIR_MAX)
			return fail_session(
				error, -ENAMETOOLONG,
				"%s: the path is too long for a spool directory beside it; "
				"choose another directory with --spool-dir",
				s->output);
		return 0;
	}
	err = expand_pattern(s->parent, spool_dir, pid, false);
	if (!err)
		err = paths_absolute(parent, s->parent);
	if (err == -ENOENT) {
		paths_dirname(dir, s->parent);
		return fail_session(
			error, err,
			"%s: spool directory: there is no directory '%s' to make it in; make that first: mkdir -p '%s'",
			spool_dir, dir, dir);
	}
	if (err)
		return fail_session(error, err, "%s: spool directory: %s", spool_dir,
				    strerror(-err));
	memcpy(s->parent, parent, sizeof(parent));
	if (snprintf(s->dir, sizeof(s->dir), "%s/%s.%d.spool", parent, base, (int)pid) >= DIR_MAX)
		return fail_session(error, -ENAMETOOLONG, "%s: the name is too long", spool_dir);
	return 0;
}

/* A disk that gets full loses nothing that is in memory, but the program may record more than
 * that. */
static void warn_little_space(const char *dir, const char *what)
{
	char have[UI_NUMBER_SIZE];
	struct statvfs fs;

	if (statvfs(dir, &fs) || (uint64_t)fs.f_bavail * fs.f_frsize >= LITTLE_SPACE)
		return;
	ui_say("%s: %s free for %s; a dispatch takes about 50 bytes in the raw trace and 200 in the "
	       "database",
	       dir, ui_bytes(have, (uint64_t)fs.f_bavail * fs.f_frsize), what);
}

static int check_output(const struct session *s, bool force, char *error)
{
	char dir[PATH_MAX];
	struct stat st;
	int err;

	if (stat(s->output, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return fail_session(error, -EISDIR,
					    "%s: is a directory; give the name of a file",
					    s->shown);
		if (!S_ISREG(st.st_mode))
			return fail_session(error, -EINVAL,
					    "%s: is not a plain file; a database needs one",
					    s->shown);
		if (!force && fd_is_taken(s->output))
			return fail_session(
				error, -EEXIST,
				"%s: exists already; use --force to overwrite it, or -o FILE",
				s->shown);
	}
	err = dbfile_check(s->output, error, SESSION_ERROR_SIZE);
	if (err)
		return err;
	paths_dirname(dir, s->output);
	if (access(dir, W_OK | X_OK))
		return fail_session(error, -errno, "%s: the directory '%s' can't be written: %s",
				    s->shown, dir, strerror(errno));
	/* a quota, a name that is too long, a directory that can't be changed */
	err = paths_try_output(s->output);
	if (err)
		return fail_session(error, err, "%s: can't be written: %s; choose another with -o",
				    s->shown, strerror(-err));
	warn_little_space(dir, "the database");
	return 0;
}

/* The traced program's records go into this directory: no other user may read, replace or plant
 * files there. */
static int open_dir(struct session *s, char *error)
{
	bool is_new = mkdir(s->dir, 0700) == 0;
	struct stat st;

	if (!is_new && errno != EEXIST)
		return fail_session(
			error, -errno,
			"%s: can't be made: %s; choose another directory with --spool-dir", s->dir,
			strerror(errno));
	s->lock_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (s->lock_fd < 0)
		return fail_session(error, -errno, "%s: spool directory: %s", s->dir,
				    errno == ENOTDIR || errno == ELOOP ?
					    "is not a directory; remove it, or choose another "
					    "directory with --spool-dir" :
					    strerror(errno));
	if (fstat(s->lock_fd, &st))
		return fail_session(error, -errno, "%s: spool directory: %s", s->dir,
				    strerror(errno));
	if (st.st_uid != geteuid())
		return fail_session(
			error, -EPERM,
			"%s: belongs to another user (uid %u); choose another directory "
			"with --spool-dir",
			s->dir, (unsigned)st.st_uid);
	/* whatever the umask is */
	if (is_new && fchmod(s->lock_fd, 0700) == 0)
		st.st_mode &= ~(mode_t)077;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail_session(error, -EPERM,
				    "%s: other users can write to it; chmod go-w '%s', or choose "
				    "another directory with --spool-dir",
				    s->dir, s->dir);
	return 0;
}

/* Whether librtl can make its files there. */
static int try_dir(const char *dir)
{
	char file[PATH_MAX];

	return paths_join(file, dir, "try") ? paths_try_output(file) : -ENAMETOOLONG;
}

/* Makes the folder of a data set. */
static int open_set(struct session *s, char *error)
{
	s->made_set = mkdir(s->set, 0777) == 0;
	if (s->made_set || errno == EEXIST)
		return 0;
	return fail_session(error, -errno, "%s: can't be made: %s; choose another with -o",
			    s->shown, strerror(errno));
}

/* The mark stays as long as there is anything of the rank that is not in the data set. */
static void leave_set(struct session *s)
{
	if (s->has_mark && access(s->dir, F_OK) && access(s->output, F_OK)) {
		dataset_unmark(s->output);
		s->has_mark = false;
	}
	if (s->made_set && !s->has_mark)
		rmdir(s->set); /* refused unless it is empty */
}

int session_open(struct session *s, bool force, char error[SESSION_ERROR_SIZE])
{
	char **spools;
	ssize_t nr;
	int err = *s->set ? open_set(s, error) : 0;

	if (err == 0)
		err = check_output(s, force, error);
	if (err) {
		leave_set(s);
		return err;
	}
	s->made_parent = s->parent[0] && mkdir(s->parent, 0777) == 0;
	err = open_dir(s, error);
	if (err)
		goto out;
	/* Other errors: the file system has no locks; continue without. */
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		err = fail_session(
			error, -EBUSY,
			"%s: another rtl trace uses this directory; choose another output "
			"with -o FILE (%%p in it is the process id)",
			s->dir);
		goto out;
	}
	nr = session_spools(s->dir, &spools);
	if (nr > 0 && !force) {
		err = fail_session(
			error, -EEXIST,
			"%s: contains %zd trace%s of an earlier run; 'rtl recover %s' converts them "
			"to a database, --force deletes them",
			s->dir, nr, nr > 1 ? "s" : "", s->dir);
		session_free_spools(spools, (size_t)nr);
		goto out;
	}
	for (ssize_t i = 0; i < nr; i++)
		session_delete_spool(spools[i]);
	converter_remove(&(struct converter_location){ .dir = s->dir,
						       .outputs = { s->output },
						       .nr = 1 },
			 true);
	if (nr >= 0)
		session_free_spools(spools, (size_t)nr);
	err = try_dir(s->dir);
	if (!err && *s->set) {
		err = dataset_mark(s->output, s->dir);
		s->has_mark = !err;
	}
	if (!err) {
		if (s->parent[0])
			warn_little_space(s->dir, "the raw trace");
		return 0;
	}
	fail_session(error, err,
		     "%s: can't be written: %s; choose another directory with --spool-dir", s->dir,
		     strerror(-err));
	rmdir(s->dir);
out:
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
	leave_set(s);
	return err;
}

static void delete_matching(const char *path, const char *pattern)
{
	char file[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)))
		if (fnmatch(pattern, entry->d_name, 0) == 0 &&
		    paths_join(file, path, entry->d_name))
			unlink(file);
	if (dir)
		closedir(dir);
}

bool session_is_locked(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

void session_remove_dir(const char *dir)
{
	delete_matching(dir, "log.[0-9]*");
	rmdir(dir); /* refused unless it is empty, which is what we want */
}

/* BASE.tmp-PID: its pid; 0: another name. */
static uint32_t pid_of_temporary(const char *name, const char *base)
{
	size_t n = strlen(base);
	unsigned long pid;
	char *end;

	if (strncmp(name, base, n) != 0 || strncmp(name + n, ".tmp-", 5) != 0)
		return 0;
	pid = strtoul(name + n + 5, &end, 10);
	/* of a copy that is continued (export/rpd/rpd_copy.c) */
	if (strcmp(end, "-journal") == 0)
		end += strlen(end);
	return *end || pid > UINT32_MAX ? 0 : (uint32_t)pid;
}

size_t session_remove_temporaries(const char *output)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
	char dir_path[PATH_MAX], file[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	size_t nr = 0;
	DIR *dir;

	paths_dirname(dir_path, output);
	dir = opendir(dir_path);
	while (dir && (entry = readdir(dir))) {
		uint32_t pid = pid_of_temporary(entry->d_name, base);

		if (pid && !proc_alive(pid, 0) && paths_join(file, dir_path, entry->d_name) &&
		    lstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
		    time(NULL) - st.st_mtime > TEMPORARY_AGE_S && unlink(file) == 0)
			nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

void session_remove(struct session *s)
{
	delete_matching(s->dir, "*.rtl");
	delete_matching(s->dir, "*.mem");
	delete_matching(s->dir, CONVERTER_FILE);
	delete_matching(s->dir, "log.[0-9]*");
	session_close(s);
}

void session_leave(struct session *s)
{
	close(s->lock_fd);
	s->lock_fd = -1;
}

void session_close(struct session *s)
{
	if (s->lock_fd < 0)
		return;
	rmdir(s->dir); /* refused unless it is empty, which is what we want */
	if (s->made_parent)
		rmdir(s->parent);
	session_leave(s);
	leave_set(s);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

ssize_t session_spools(const char *path, char ***out)
{
	struct dirent *entry;
	size_t nr = 0, max = 0;
	DIR *dir;

	*out = NULL;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (fnmatch("*.rtl", entry->d_name, FNM_PERIOD))
			continue;
		if (nr == max) {
			max = max ? max * 2 : 16;
			*out = reallocarray(*out, max, sizeof(**out));
			if (!*out)
				ui_die_memory();
		}
		(*out)[nr++] = ui_format("%s/%s", path, entry->d_name);
	}
	closedir(dir);
	if (nr)
		qsort(*out, nr, sizeof(**out), compare_names);
	return (ssize_t)nr;
}

/* No link to one: what is behind it may be anybody's. */
static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

ssize_t session_find(const char *path, char ***out)
{
	ssize_t nr = session_spools(path, out), more;
	struct dirent *entry;
	char **inner, sub[PATH_MAX];
	DIR *dir = opendir(path);

	while (nr >= 0 && dir && (entry = readdir(dir))) {
		if (fnmatch("*.spool", entry->d_name, 0) || !paths_join(sub, path, entry->d_name) ||
		    !is_directory(sub))
			continue;
		more = session_spools(sub, &inner);
		if (more <= 0)
			continue;
		*out = reallocarray(*out, (size_t)(nr + more), sizeof(**out));
		if (!*out)
			ui_die_memory();
		memcpy(*out + nr, inner, (size_t)more * sizeof(*inner));
		nr += more;
		free(inner);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static bool has_spools(const char *dir)
{
	char **spools;
	ssize_t nr = session_spools(dir, &spools);

	if (nr >= 0)
		session_free_spools(spools, (size_t)nr);
	return nr > 0;
}

bool session_left_by(const char *output, char dir[PATH_MAX])
{
	const char *parent = env_str(ENV_SPOOL_DIR), *base = strrchr(output, '/');
	struct dirent *entry;
	bool found = false;
	DIR *list;

	base = base ? base + 1 : output;
	if (snprintf(dir, PATH_MAX, "%s.spool", output) < PATH_MAX && has_spools(dir))
		return true;
	list = *parent ? opendir(parent) : NULL;
	while (list && !found && (entry = readdir(list)))
		found = strncmp(entry->d_name, base, strlen(base)) == 0 &&
			fnmatch(".[0-9]*.spool", entry->d_name + strlen(base), 0) == 0 &&
			paths_join(dir, parent, entry->d_name) && has_spools(dir);
	if (list)
		closedir(list);
	return found;
}

int session_check_spool(const char *path, char error[SESSION_ERROR_SIZE])
{
	char dir[PATH_MAX];
	struct stat st, dir_st;

	paths_dirname(dir, path);
	if (lstat(path, &st) || stat(dir, &dir_st))
		return fail_session(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail_session(error, -EINVAL, "%s: is %s, not a file; it is left alone", path,
				    fd_kind(st.st_mode));
	if (st.st_uid != dir_st.st_uid && st.st_uid != geteuid())
		return fail_session(error, -EPERM,
				    "%s: belongs to another user (uid %u); it is left alone", path,
				    (unsigned)st.st_uid);
	return 0;
}

void session_free_spools(char **spools, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(spools[i]);
	free(spools);
}

static bool read_header(const char *path, struct spool_header *h)
{
	return fd_read_file(path, h, sizeof(*h)) == (ssize_t)sizeof(*h) &&
	       h->magic == SPOOL_MAGIC && memchr(h->mem_path, 0, sizeof(h->mem_path)) &&
	       memchr(h->disk_path, 0, sizeof(h->disk_path));
}

/* Whether the file is not a copy: the memory half is the original's. */
static bool is_original(const char *path, const struct spool_header *h)
{
	struct stat own, named;

	return stat(path, &own) == 0 &&
	       (stat(h->disk_path, &named) != 0 ||
		(own.st_dev == named.st_dev && own.st_ino == named.st_ino));
}

void session_delete_spool(const char *disk_path)
{
	struct spool_header *h = malloc(sizeof(*h));
	struct load_error error;
	struct load *load;

	if (!h)
		ui_die_memory();
	if (read_header(disk_path, h) && is_original(disk_path, h) &&
	    load_open(&load, disk_path, &error) == 0) {
		/* has_mem: load_open() checked that both halves belong together */
		if (load_facts(load)->has_mem && drain_is_memory_half(h, disk_path))
			unlink(h->mem_path);
		load_close(load);
	}
	free(h);
	unlink(disk_path);
}

void session_drain(const char *path)
{
	struct spool_header *h = malloc(sizeof(*h));
	struct drain d;
	int64_t got = -EBUSY;
	int err;

	if (!h)
		ui_die_memory();
	err = read_header(path, h) && is_original(path, h) ? drain_open(&d, path) : -EXDEV;
	free(h);
	if (err)
		return; /* -ENOENT: complete on disk; else load_open() reports the error */
	/* the last drainer may have died with its process; it can be replaced after a second */
	for (int tries = 0; tries < 30 && !ui_stopped_by(); tries++) {
		if (drain_take(&d, clock_boot_ns())) {
			got = drain_run(&d, true, 0, clock_boot_ns());
			if (got >= 0)
				drain_finish(&d);
			drain_give(&d);
			break;
		}
		poll(NULL, 0, 50);
	}
	if (got < 0 && !ui_stopped_by())
		ui_error(
			"%s: can't be drained: %s; its memory half stays, and rtl recover --remove frees it",
			path, strerror((int)-got));
	drain_close(&d);
}
