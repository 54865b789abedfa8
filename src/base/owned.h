/* SPDX-License-Identifier: MIT */
/* owned.h - files of an earlier run, which this one removes
 *
 * Their names are known, their directory may be anyone's: only a regular file of the expected form
 * is removed, in a directory that is open, and never what a link leads to.
 *
 * Threads:  any.
 */
#ifndef RTL_BASE_OWNED_H
#define RTL_BASE_OWNED_H

#include <stddef.h>

#define OWNED_DATABASE "SQLite format 3" /* with its NUL: the begin of a database */

/* Removes `name` in the directory if it is a regular file that is empty or begins with the `size`
 * bytes of `head`. 0, -ENOENT, -EMEDIUMTYPE: it is something else, which stays, or another
 * -errno. */
int owned_remove(int dir_fd, const char *name, const void *head, size_t size);
/* The same of a path. */
int owned_remove_path(const char *path, const void *head, size_t size);
/* Opens the directory of a path, and stores the last part of it: a part of `path`. The descriptor
 * or -errno. */
int owned_open_dir(const char *path, const char **name);

#endif
