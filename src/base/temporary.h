/* SPDX-License-Identifier: MIT */
/* temporary.h - files that are not complete yet: they have another name, and only their owner can
 * read them
 *
 * Their names are listed, so that a signal handler can delete them before the process ends.
 */
#ifndef RTL_BASE_TEMPORARY_H
#define RTL_BASE_TEMPORARY_H

#include <stdbool.h>

/* Creates the file, with mode 0600 whatever the umask is; one that a killed process with the same
 * pid left is deleted. The descriptor, or -errno. */
int temporary_create(const char *path);
/* Lists a file that exists already. */
void temporary_add(const char *path);
/* Renames the file to `out`, and removes the journals of a database that had the name (dbfile.h).
 * `out` may be on another file system; without `replace` an `out` that is taken (fd_is_taken()) is
 * -EEXIST. `is_private`: only its owner can read it, else the umask decides. 0, or -errno: then the
 * file keeps its name. */
int temporary_publish(const char *path, const char *out, bool replace, bool is_private);
/* TMPDIR, or /tmp. */
const char *temporary_directory(void);
/* A file in it that has no name; `prefix` begins the one that it has for a moment where it needs
 * one. The descriptor or -errno. */
int temporary_unnamed(const char *prefix);
/* Waits until the published file and its name are on the disk. 0 or -errno. */
int temporary_sync(const char *out);
void temporary_delete(const char *path);
/* Deletes all that are listed. May run in a signal handler. */
void temporary_delete_all(void);

#endif
