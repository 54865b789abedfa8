/* SPDX-License-Identifier: MIT */
/* session.h - the output of one `rtl trace`, and the directory of its spools
 *
 * The output of a data set is a database that becomes a folder in it: DIR/.unfinished-HOST-PID.db.
 * While there is any of it, the file DIR/.unfinished-HOST-PID says so (dataset.h).
 *
 * `rtl trace` holds a lock (flock) on the directory as long as it runs, so that no two share one.
 */
#ifndef RTL_CLI_TRACE_SESSION_H
#define RTL_CLI_TRACE_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SESSION_ERROR_SIZE 1024

struct session {
	char output[PATH_MAX]; /* absolute */
	char shown[PATH_MAX];  /* as the user wrote it, patterns expanded */
	char dir[PATH_MAX];    /* absolute; files of librtl: *.rtl, *.mem, log.PID */
	char parent[PATH_MAX]; /* of --spool-dir, absolute; "" without */
	/* the folder of a data set, absolute; "": the output is a database */
	char set[PATH_MAX];
	bool made_set, has_mark;
	int lock_fd; /* of dir; -1: not open */
	bool made_parent;
};

/* Sets the names: the output is the pattern, expanded with the program's pid; the spools' directory
 * is beside it if spool_dir is NULL or "", else a subdirectory of spool_dir, which several sessions
 * may share. Creates nothing, so that rtl and the new process compute the same names. 0, or -errno
 * with `error`. */
int session_names(struct session *s, const char *pattern, const char *spool_dir, pid_t pid,
		  char error[SESSION_ERROR_SIZE]);
/* Checks that the output can be written, makes the directory and locks it. With `force` the output
 * may exist, and traces of an earlier run in the directory are deleted. 0, or -errno with
 * `error`. */
int session_open(struct session *s, bool force, char error[SESSION_ERROR_SIZE]);
/* Deletes rtl's files in the directory, and the directory if it is empty then. */
void session_remove(struct session *s);
/* Deletes the directory if it is empty. */
void session_close(struct session *s);
/* Leaves the directory, even an empty one: processes that still run may record into it. */
void session_leave(struct session *s);

/* The paths of *.rtl in dir, sorted, malloc'd. Returns their number, or -errno. */
ssize_t session_spools(const char *dir, char ***out);
/* The same, and those of sessions in dir: dir/X.spool/Y.rtl. */
ssize_t session_find(const char *dir, char ***out);
/* The directory with the raw traces of a run that was to write this output, beside it or in
 * RTL_SPOOL_DIR. false: there is none. */
bool session_left_by(const char *output, char dir[PATH_MAX]);
/* Whether a file that is listed by them may be read: a file, not a link to one, and of the
 * directory's owner or this user. 0, or -errno with `error`. Root may plant nothing that it could
 * not read. */
int session_check_spool(const char *path, char error[SESSION_ERROR_SIZE]);
/* Drains the memory half of an ended process to disk, so that it survives a reboot. */
void session_drain(const char *path);
void session_free_spools(char **spools, size_t nr);
/* Whether `rtl trace` is at work in a spool directory. */
bool session_is_locked(const char *dir);
/* Deletes both halves of a spool. */
void session_delete_spool(const char *disk_path);
/* Deletes the logs in a converted spool directory, and the directory if it is empty then. */
void session_remove_dir(const char *dir);
/* Deletes the temporary files that killed conversions to `output` have left: of processes that are
 * gone, and not written to in the last seconds, since a process of another host may be at work.
 * Returns their number. */
size_t session_remove_temporaries(const char *output);

#endif
