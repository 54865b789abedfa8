/* SPDX-License-Identifier: MIT */
/* otf2_files.c - the files of an archive
 *
 * Fails:    they are made in a directory of another name, and NAME.otf2, which readers open, is the last that gets its own. What is there
 *           is only replaced (--force) if it is an archive's.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "export/otf2/otf2_internal.h"
#include "export/output.h"

#define ENDING ".otf2"
#define PATH_SIZE (OTF2_NAME_SIZE + 600)

/* In the order in which they get their names. */
static const char *const endings[] = { ".def", "", ENDING };

/* Removes the directory of an archive's locations if nothing else is in it. 0 or -errno. */
static int remove_locations(const char *path)
{
	char file[2 * PATH_SIZE];
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)) != NULL) {
		if (!output_has_ending(entry->d_name, ".evt") &&
		    !output_has_ending(entry->d_name, ".def"))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		unlink(file);
	}
	if (dir)
		closedir(dir);
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

/* 0 or -errno: the directory has other files, too. */
static int remove_archive(const char *stem)
{
	char path[PATH_SIZE];
	int ret = 0;

	for (size_t i = sizeof(endings) / sizeof(endings[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", stem, endings[i]);
		if (!*endings[i])
			ret = remove_locations(path);
		else
			unlink(path);
	}
	return ret;
}

static void remove_tmp(const struct otf2_files *f)
{
	char stem[PATH_SIZE];

	snprintf(stem, sizeof(stem), "%s/%s", f->tmp, f->name);
	remove_archive(stem);
	rmdir(f->tmp);
}

static int check_free(const struct otf2_files *f, struct query *q)
{
	char path[PATH_SIZE];
	struct stat st;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", f->stem, endings[i]);
		if (stat(path, &st))
			continue;
		if (*endings[i] ? !S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode))
			return query_fail(
				q, -EEXIST,
				"%s: is no part of an archive; choose another name with -o", path);
		if (!q->opt->force && (!*endings[i] || fd_is_taken(path)))
			return query_fail(
				q, -EEXIST,
				"%s: exists; use --force to replace it, or -o NAME" ENDING, path);
	}
	return 0;
}

int otf2_files_create(struct otf2_files *f, struct query *q, const char *out)
{
	const char *slash;
	int ret;

	if (!output_has_ending(out, ENDING))
		return query_fail(q, -EINVAL,
				  "%s: an archive of OTF2 is several files; use -o NAME" ENDING,
				  out);
	if (strlen(out) >= sizeof(f->stem))
		return query_fail(q, -ENAMETOOLONG, "%s: the name is too long", out);
	snprintf(f->stem, sizeof(f->stem), "%.*s", (int)(strlen(out) - strlen(ENDING)), out);
	slash = strrchr(f->stem, '/');
	f->name = slash ? slash + 1 : f->stem;
	ret = check_free(f, q);
	if (ret)
		return ret;
	snprintf(f->tmp, sizeof(f->tmp), "%s.tmp-%ld", f->stem, (long)getpid());
	/* of a process that was killed and had the same pid */
	remove_tmp(f);
	if (mkdir(f->tmp, 0700)) {
		ret = -errno;
		f->tmp[0] = '\0';
		return query_fail(q, ret, "%s: can't be made: %s", out, strerror(-ret));
	}
	return 0;
}

/* The library made the files of locations by the umask. */
static int restrict_locations(const char *path, mode_t mask)
{
	char file[2 * PATH_SIZE];
	struct dirent *entry;
	DIR *dir = opendir(path);
	int ret = dir ? 0 : -errno;

	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (*entry->d_name != '.' && chmod(file, 0666 & ~mask))
			ret = -errno;
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int rename_all(const struct otf2_files *f, mode_t mask)
{
	char from[PATH_SIZE], to[PATH_SIZE];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(from, sizeof(from), "%s/%s%s", f->tmp, f->name, endings[i]);
		snprintf(to, sizeof(to), "%s%s", f->stem, endings[i]);
		if (!*endings[i]) {
			int ret = restrict_locations(from, mask);

			if (ret)
				return ret;
		}
		if (chmod(from, (*endings[i] ? 0666 : 0777) & ~mask) || rename(from, to))
			return -errno;
	}
	return rmdir(f->tmp) ? -errno : 0;
}

int otf2_files_publish(struct otf2_files *f, struct query *q, int ret)
{
	mode_t mask = umask(077);

	umask(mask);
	if (!f->tmp[0])
		return ret;
	if (ret == 0 && q->opt->progress &&
	    q->opt->progress(q->opt->progress_arg, q->done, q->total))
		ret = query_fail(q, -ECANCELED, "%s: stopped; it was not written", f->stem);
	if (ret == 0) {
		ret = remove_archive(f->stem);
		if (ret)
			query_fail(q, ret, "%s: has other files than an archive's: %s", f->stem,
				   strerror(-ret));
	}
	if (ret == 0) {
		ret = rename_all(f, job_is_private(q->opt, query_has_args(q)) ? 077 : mask);
		if (ret)
			remove_archive(f->stem);
	}
	if (ret)
		remove_tmp(f);
	return ret ? query_fail(q, ret, "%s" ENDING ": can't be written: %s", f->stem,
				strerror(-ret)) :
		     0;
}
