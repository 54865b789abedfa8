/* SPDX-License-Identifier: MIT */
/* sys.h - system calls that are no cancellation points, and sections that no cancellation ends
 *
 * POSIX has a thread with a pending pthread_cancel() end in the next cancellation point, which
 * open(), nanosleep() and fallocate() are in libc, and a launch is not: a thread that ends in
 * librtl would leave its locks and the turn of its queue taken. So librtl and the faces use these
 * functions instead of libc's (tools/check_exports.py), and call the runtime and the program's
 * callbacks under a lock or a turn only between sys_cancel_off() and sys_cancel_on().
 *
 * Each returns what libc's function of that name returns, and sets errno.
 *
 * Threads:  any.
 */
#ifndef RTL_BASE_SYS_H
#define RTL_BASE_SYS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct msghdr;
struct pollfd;
struct sockaddr;

int sys_open(const char *path, int flags, mode_t mode);
int sys_openat(int dir, const char *path, int flags, mode_t mode);
int sys_close(int fd);
ssize_t sys_read(int fd, void *out, size_t size);
ssize_t sys_write(int fd, const void *data, size_t size);
ssize_t sys_pread(int fd, void *out, size_t size, off_t offset);
ssize_t sys_pwrite(int fd, const void *data, size_t size, off_t offset);
int sys_fsync(int fd);
int sys_fallocate(int fd, int mode, off_t offset, off_t size);
int sys_poll(struct pollfd *fds, unsigned long nr, int timeout_ms);
int sys_accept(int fd, int flags); /* accept4() without an address */
ssize_t sys_send(int fd, const void *data, size_t size, int flags);
ssize_t sys_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		   unsigned int length);
ssize_t sys_recv(int fd, void *out, size_t size, int flags);
ssize_t sys_recvmsg(int fd, struct msghdr *message, int flags);
pid_t sys_waitpid(pid_t pid, int *status, int options);
ssize_t sys_getrandom(void *out, size_t size, unsigned flags);
/* Whether a call of this process had more to write than a file may have: the kernel raised
 * SIGXFSZ. */
bool sys_hit_limit(void);
/* Takes a pending signal of the set, without waiting; -1: none is. */
int sys_take_signal(const sigset_t *set);

/* The calling thread's id without a system call, which a filter of the program's may forbid. Any
 * thread. */
uint32_t sys_gettid(void);

/* Sleeps that long at most; a signal ends it. A futex(2), which every program with threads needs:
 * of the calls that sleep, a seccomp filter forbids that one last. errno stays: a program's thread
 * may nap within its call. */
void sys_nap(const struct timespec *length);

/* Cancellations of this thread wait from the first to the last of nested calls. errno stays. */
void sys_cancel_off(void);
void sys_cancel_on(void);

/* For callout.c. A call of the program begins: returns how deep this thread was in such sections
 * when the call around it began; 0: there is none. sys_cancel_inside() with that value when it is
 * over. sys_cancel_back_to(): those that began since are over. */
uint32_t sys_cancel_outside(void);
void sys_cancel_inside(uint32_t outside);
void sys_cancel_back_to(uint32_t deep);
uint32_t sys_cancel_deep(void); /* how deep it is now */

#endif
