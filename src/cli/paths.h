/* SPDX-License-Identifier: MIT */
/* paths.h - where the parts of this installation lie: found from /proc/self/exe, wherever it was moved */
#ifndef RTL_CLI_PATHS_H
#define RTL_CLI_PATHS_H

#include <limits.h>
#include <stdbool.h>

struct paths {
	char exe[PATH_MAX];
	char root[PATH_MAX];	/* the prefix: what holds bin/ */
	char lib_dir[PATH_MAX]; /* holds librtl.so.1; "" when it was not found */
	char librtl[PATH_MAX];
	char vgpu_dir[PATH_MAX]; /* holds libhsakmt.so.1; "" when it was not found */
};

/* 0 or -errno: where our own program lies can't be told. */
int paths_find(struct paths *paths);
/* The same below a given root; for tests. */
void paths_find_below(struct paths *paths, const char *root);

/* dir/name into buf of PATH_MAX; false: too long. */
bool paths_join(char buf[PATH_MAX], const char *dir, const char *name);
/* The directory that path lies in: "." for a plain name. */
void paths_dirname(char buf[PATH_MAX], const char *path);
/* An absolute path of a file that need not exist; its directory must. 0 or -errno. */
int paths_absolute(char buf[PATH_MAX], const char *path);

#endif
