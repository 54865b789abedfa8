/* SPDX-License-Identifier: MIT */
/* otf2_files.c - the files of an archive
 *
 * Fails:    they are made in a directory of another name, and NAME.otf2, which readers open, is the
 *           last that gets its own. What is there is only replaced (--force) if it is an archive's:
 *           files in a directory that is open, never what a link leads to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/testpoint.h"
#include "export/otf2/otf2_internal.h"
#include "export/output.h"

#define ENDING ".otf2"
#define MARK "\003" /* the begin of each file of OTF2 */

/* In the order in which they get their names. */
static const char *const endings[] = { ".def", "", ENDING };

/* NAME and an ending. false: it is too long. */
static bool name_part(char part[NAME_MAX + 1], const char *name, const char *ending)
{
	return snprintf(part, NAME_MAX + 1, "%s%s", name, ending) <= NAME_MAX;
}

static int open_dir(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* NUMBER.evt and NUMBER.def */
static bool is_of_location(const char *name)
{
	const char *ending = name + strspn(name, "0123456789");

	return ending > name && (strcmp(ending, ".evt") == 0 || strcmp(ending, ".def") == 0);
}

/* Calls `each` for the files of locations in a directory. 0 or -errno. */
static int each_location(int dir_fd, const char *name,
			 int (*each)(int fd, const char *file, void *arg), void *arg)
{
	int fd = open_dir(dir_fd, name), ret = 0;
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (ret == 0 && (entry = readdir(dir)) != NULL)
		if (is_of_location(entry->d_name))
			ret = each(fd, entry->d_name, arg);
	closedir(dir);
	return ret;
}

static int remove_location(int fd, const char *file, void *arg)
{
	int ret = owned_remove(fd, file, MARK, strlen(MARK));

	(void)arg;
	return ret == -ENOENT ? 0 : ret;
}

/* Removes the parts of an archive in a directory. What is no part of one stays: -errno. */
static int remove_archive(int dir_fd, const char *name)
{
	char part[NAME_MAX + 1];
	int ret = 0;

	for (size_t i = sizeof(endings) / sizeof(endings[0]); i-- > 0 && ret == 0;) {
		if (!name_part(part, name, endings[i]))
			return -ENAMETOOLONG;
		if (*endings[i]) {
			ret = owned_remove(dir_fd, part, MARK, strlen(MARK));
		} else {
			ret = each_location(dir_fd, part, remove_location, NULL);
			if (ret == 0 && unlinkat(dir_fd, part, AT_REMOVEDIR))
				ret = -errno;
		}
		ret = ret == -ENOENT ? 0 : ret;
	}
	return ret;
}

static void remove_tmp(const struct otf2_files *f)
{
	int fd = open_dir(f->dir_fd, f->tmp_name);

	if (fd < 0)
		return;
	remove_archive(fd, f->name);
	close(fd);
	unlinkat(f->dir_fd, f->tmp_name, AT_REMOVEDIR);
}

static int check_free(const struct otf2_files *f, const struct job_options *opt,
		      struct job_result *res)
{
	char part[NAME_MAX + 1];
	struct stat st;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (!name_part(part, f->name, endings[i]))
			return job_fail(res, -ENAMETOOLONG, "%s" ENDING ": the name is too long",
					f->stem);
		if (fstatat(f->dir_fd, part, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (*endings[i] ? !S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode))
			return job_fail(
				res, -EEXIST,
				"%s%s: is no part of an archive; choose another name with -o",
				f->stem, endings[i]);
		/* an empty file is one that mktemp(1) made for the output */
		if (!opt->force && (!*endings[i] || st.st_size))
			return job_fail(
				res, -EEXIST,
				"%s%s: exists; use --force to replace it, or -o NAME" ENDING,
				f->stem, endings[i]);
	}
	return 0;
}

static int make_tmp(struct otf2_files *f, struct job_result *res, const char *out)
{
	int ret;

	snprintf(f->tmp, sizeof(f->tmp), "%s.tmp-%ld", f->stem, (long)getpid());
	f->tmp_name = f->tmp + (f->name - f->stem);
	/* of a process that was killed and had the same pid */
	remove_tmp(f);
	if (mkdirat(f->dir_fd, f->tmp_name, 0700) == 0)
		return 0;
	ret = -errno;
	f->tmp[0] = '\0';
	return job_fail(res, ret, "%s: can't be made: %s", out, strerror(-ret));
}

int otf2_files_create(struct otf2_files *f, const struct job_options *opt, struct job_result *res,
		      const char *out)
{
	int ret;

	if (!output_has_ending(out, ENDING))
		return job_fail(res, -EINVAL,
				"%s: an archive of OTF2 is several files; use -o NAME" ENDING, out);
	if (strlen(out) >= sizeof(f->stem))
		return job_fail(res, -ENAMETOOLONG, "%s: the name is too long", out);
	snprintf(f->stem, sizeof(f->stem), "%.*s", (int)(strlen(out) - strlen(ENDING)), out);
	f->dir_fd = owned_open_dir(f->stem, &f->name);
	if (f->dir_fd < 0)
		return job_fail(res, f->dir_fd, "%s: can't be made: %s", out, strerror(-f->dir_fd));
	ret = check_free(f, opt, res);
	if (ret == 0)
		ret = make_tmp(f, res, out);
	if (ret)
		close(f->dir_fd);
	return ret;
}

/* The library made the files of locations by the umask. */
static int restrict_location(int fd, const char *file, void *arg)
{
	const mode_t *mask = arg;

	return fchmodat(fd, file, 0666 & ~*mask, 0) ? -errno : 0;
}

static int rename_parts(const struct otf2_files *f, int tmp_fd, mode_t mask)
{
	char part[NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		int ret = 0;

		RTL_TESTPOINT("archive_named");
		name_part(part, f->name, endings[i]);
		if (!*endings[i])
			ret = each_location(tmp_fd, part, restrict_location, &mask);
		if (ret)
			return ret;
		if (fchmodat(tmp_fd, part, (*endings[i] ? 0666 : 0777) & ~mask, 0) ||
		    renameat(tmp_fd, part, f->dir_fd, part))
			return -errno;
	}
	return 0;
}

static int rename_all(const struct otf2_files *f, mode_t mask)
{
	int fd = open_dir(f->dir_fd, f->tmp_name), ret = fd;

	if (fd >= 0) {
		ret = rename_parts(f, fd, mask);
		close(fd);
	}
	return ret ? ret : unlinkat(f->dir_fd, f->tmp_name, AT_REMOVEDIR) ? -errno : 0;
}

int otf2_files_publish(struct otf2_files *f, const struct job_options *opt, struct job_result *res,
		       bool is_private, int ret)
{
	mode_t mask = umask(077);

	umask(mask);
	if (!f->tmp[0])
		return ret;
	if (ret == 0 && opt->progress && opt->progress(opt->progress_arg, 1, 1))
		ret = job_fail(res, -ECANCELED, "%s: stopped; it was not written", f->stem);
	if (ret == 0) {
		ret = remove_archive(f->dir_fd, f->name);
		if (ret)
			job_fail(res, ret, "%s: has other files than an archive's: %s", f->stem,
				 strerror(-ret));
	}
	if (ret == 0) {
		ret = rename_all(f, is_private ? 077 : mask);
		if (ret)
			remove_archive(f->dir_fd, f->name);
	}
	if (ret)
		remove_tmp(f);
	close(f->dir_fd);
	return ret ? job_fail(res, ret, "%s" ENDING ": can't be written: %s", f->stem,
			      strerror(-ret)) :
		     0;
}
