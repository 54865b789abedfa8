/* SPDX-License-Identifier: MIT */
/* session.h - the output of one `rtl trace` and the directory where its spools lie meanwhile
 *
 * The directory is locked (flock) while `rtl trace` lives, so that two never share one.
 */
#ifndef RTL_CLI_SESSION_H
#define RTL_CLI_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SESSION_ERROR_SIZE 1024

struct session {
	char output[PATH_MAX]; /* absolute */
	char shown[PATH_MAX];  /* as the user wrote it, patterns filled in */
	char dir[PATH_MAX];    /* absolute; files of librtl: *.rtl, *.mem, log.PID */
	char parent[PATH_MAX]; /* of --spool-dir, absolute; "" without */
	int lock_fd;	       /* of dir; -1: not open */
	bool made_parent;
};

/* Fills in the names: the pattern with the program's pid; spool_dir NULL or "": beside the output,
 * else a directory of its own in there, so that several may name the same one.
 * Touches nothing, so that two processes come to the same names. 0, or -errno with `error`. */
int session_names(struct session *s, const char *pattern, const char *spool_dir, pid_t pid,
		  char error[SESSION_ERROR_SIZE]);
/* Checks that the output may and can be written, makes the directory and locks it. With `force` an
 * existing output is fine and traces of an earlier run in the directory are deleted. */
int session_open(struct session *s, bool force, char error[SESSION_ERROR_SIZE]);
/* Deletes our files in the directory, and the directory when nothing else is in it. */
void session_remove(struct session *s);
/* Deletes the directory if nothing was put there. */
void session_close(struct session *s);

/* The paths of *.rtl in dir, sorted, malloc'd. Number, or -errno. */
ssize_t session_spools(const char *dir, char ***out);
/* The same, with those of sessions in there: dir/X.spool/Y.rtl. */
ssize_t session_find(const char *dir, char ***out);
void session_free_spools(char **spools, size_t nr);
/* Deletes both halves of a spool. */
void session_delete_spool(const char *disk_path);
/* Deletes the logs in a spool directory that is done with, and it, unless something else is there. */
void session_remove_dir(const char *dir);

#endif
