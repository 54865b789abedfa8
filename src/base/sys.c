/* SPDX-License-Identifier: MIT */
/* sys.c - system calls that are no cancellation points, by syscall(2)
 *
 * Owns:     for each thread, how deep it is in sections without cancellation.
 * Threads:  any.
 */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* bytes of a signal set as the kernel has it */
#define KERNEL_SIGSET ((size_t)_NSIG / 8)

static _Thread_local uint32_t depth;
/* how deep it was when the innermost call of the program by callout() began */
static _Thread_local uint32_t outside;
static _Thread_local int state_before;
/* Always 0: sys_nap() waits for it to change. */
static _Atomic uint32_t never;
static _Atomic bool hit_limit;

static long note_limit(long result)
{
	/* relaxed: of this thread, or of one that has ended */
	if (result < 0 && errno == EFBIG)
		atomic_store_explicit(&hit_limit, true, memory_order_relaxed);
	return result;
}

bool sys_hit_limit(void)
{
	return atomic_load_explicit(&hit_limit, memory_order_relaxed);
}

int sys_openat(int dir, const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int sys_open(const char *path, int flags, mode_t mode)
{
	return sys_openat(AT_FDCWD, path, flags, mode);
}

int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

ssize_t sys_read(int fd, void *out, size_t size)
{
	return syscall(SYS_read, fd, out, size);
}

ssize_t sys_write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, size);
}

ssize_t sys_pread(int fd, void *out, size_t size, off_t offset)
{
	return syscall(SYS_pread64, fd, out, size, offset);
}

ssize_t sys_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return note_limit(syscall(SYS_pwrite64, fd, data, size, offset));
}

int sys_fsync(int fd)
{
	return (int)syscall(SYS_fsync, fd);
}

int sys_fallocate(int fd, int mode, off_t offset, off_t size)
{
	return (int)note_limit(syscall(SYS_fallocate, fd, mode, offset, size));
}

int sys_poll(struct pollfd *fds, unsigned long nr, int timeout_ms)
{
	struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	return (int)syscall(SYS_ppoll, fds, nr, timeout_ms < 0 ? NULL : &timeout, NULL, (size_t)0);
}

int sys_accept(int fd, int flags)
{
	return (int)syscall(SYS_accept4, fd, NULL, NULL, flags);
}

ssize_t sys_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		   unsigned int length)
{
	return syscall(SYS_sendto, fd, data, size, flags, to, length);
}

ssize_t sys_send(int fd, const void *data, size_t size, int flags)
{
	return sys_sendto(fd, data, size, flags, NULL, 0);
}

ssize_t sys_recv(int fd, void *out, size_t size, int flags)
{
	return syscall(SYS_recvfrom, fd, out, size, flags, NULL, NULL);
}

ssize_t sys_recvmsg(int fd, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, fd, message, flags);
}

pid_t sys_waitpid(pid_t pid, int *status, int options)
{
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

ssize_t sys_getrandom(void *out, size_t size, unsigned flags)
{
	return syscall(SYS_getrandom, out, size, flags);
}

int sys_take_signal(const sigset_t *set)
{
	struct timespec none = { 0, 0 };

	return (int)syscall(SYS_rt_sigtimedwait, set, NULL, &none, KERNEL_SIGSET);
}

/* A mutex that checks for errors knows its owner. */
uint32_t sys_gettid(void)
{
#ifdef __GLIBC__
	pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	uint32_t tid;

	if (pthread_mutex_lock(&m) == 0) {
		tid = (uint32_t)m.__data.__owner;
		pthread_mutex_unlock(&m);
		if (tid)
			return tid;
	}
#endif
	return (uint32_t)syscall(SYS_gettid);
}

void sys_nap(const struct timespec *length)
{
	int saved = errno;

	syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, length, NULL, 0);
	errno = saved;
}

void sys_cancel_off(void)
{
	if (!depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_before);
}

void sys_cancel_on(void)
{
	/* 0: of a call that was left, though its frame is still there */
	if (depth && !--depth)
		pthread_setcancelstate(state_before, NULL);
}

uint32_t sys_cancel_outside(void)
{
	uint32_t was = outside;

	outside = depth;
	return was;
}

uint32_t sys_cancel_deep(void)
{
	return depth;
}

void sys_cancel_inside(uint32_t was)
{
	outside = was;
}

void sys_cancel_back_to(uint32_t deep)
{
	if (depth <= deep)
		return;
	depth = deep;
	if (!deep)
		pthread_setcancelstate(state_before, NULL);
}
