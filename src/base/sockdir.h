/* SPDX-License-Identifier: MIT */
/* sockdir.h - where the sockets of a user's traced processes lie
 *
 * A directory of the user's: mode 0700, not a link, below a directory in which no other user can
 * replace it. One that another user made is refused. A socket is named PID.NAMESPACE: the pid
 * within its pid namespace, and the inode of that in hexadecimal, so that containers that share
 * /tmp do not collide.
 */
#ifndef RTL_BASE_SOCKDIR_H
#define RTL_BASE_SOCKDIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOCKDIR_SIZE 256
#define SOCKDIR_NAME_SIZE 32

/* The i-th candidate for `uid`: RUNTIME_DIR/rtl if runtime_dir is an absolute path,
 * /run/user/UID/rtl, /tmp/rtl-UID. "": this one does not exist. false: no more. */
bool sockdir_path(uid_t uid, const char *runtime_dir, unsigned int i, char out[SOCKDIR_SIZE]);
#define SOCKDIR_RUNTIME                                                                            \
	0 /* the i of RUNTIME_DIR, and of /tmp: the ones in which sockets are made */
#define SOCKDIR_TMP 2

/* Opens it with O_PATH, if need be makes it. -EPERM: other users have access to it, or another user
 * owns it. */
int sockdir_open(const char *path, uid_t uid, bool create);

/* The inode of this process's pid namespace; 0: unknown. */
uint64_t sockdir_namespace(void);

void sockdir_name(char out[SOCKDIR_NAME_SIZE], uint32_t pid, uint64_t pid_namespace);
/* false: no name of a socket. */
bool sockdir_parse(const char *name, uint32_t *pid, uint64_t *pid_namespace);

#endif
