/* SPDX-License-Identifier: MIT */
/* paths.h - the directories of this installation, relative to /proc/self/exe, so that it can be
 * moved */
#ifndef RTL_CLI_PATHS_H
#define RTL_CLI_PATHS_H

#include <limits.h>
#include <stdbool.h>

struct paths {
	char exe[PATH_MAX];
	char root[PATH_MAX];	/* the prefix, which contains bin/ */
	char lib_dir[PATH_MAX]; /* contains librtl.so.1; "" if not found */
	char librtl[PATH_MAX];
	char librtlmpi[PATH_MAX];	  /* "" if not found */
	char vgpu_dir[PATH_MAX];	  /* contains libvgpu.so; "" if not found */
	char tsan_suppressions[PATH_MAX]; /* "" if not found */
};

/* 0, or -errno of readlink("/proc/self/exe"). */
int paths_find(struct paths *paths);
/* The same below a given root; for tests. */
void paths_find_below(struct paths *paths, const char *root);

/* dir/name into buf of PATH_MAX; false: too long. */
bool paths_join(char buf[PATH_MAX], const char *dir, const char *name);
/* The directory of path: "." for a plain name. */
void paths_dirname(char buf[PATH_MAX], const char *path);
/* Where the file's suffix begins (".db"); the end of `path` if there is none. */
const char *paths_suffix(const char *path);
/* An absolute path of a file that need not exist; its directory must. 0 or -errno. */
int paths_absolute(char buf[PATH_MAX], const char *path);

/* Whether a file of that name, and its temporary one, can be written: creates the latter and
 * deletes it. 0 or -errno. */
int paths_try_output(const char *path);

#endif
