/* SPDX-License-Identifier: MIT */
/* fd.h - file descriptors that live in someone else's process
 *
 * Descriptors of ours are close-on-exec and numbered high: the program's own open() goes on to
 * return the lowest free number. The program may close them (closefrom) and get the number back
 * for a file of its own; fd_is() tells.
 */
#ifndef RTL_BASE_FD_H
#define RTL_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* open(2) with O_CLOEXEC, moved to a high number. The descriptor or -errno. */
int fd_open(const char *path, int flags, mode_t mode);
/* Whether `fd` is open and is that file. */
bool fd_is(int fd, dev_t dev, ino_t ino);
/* Whole buffer at `offset`. 0 or -errno; interrupted and short writes are taken up again. */
int fd_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* Up to `size` bytes of a file, closed by a NUL when there is room. Bytes read, or -errno. */
ssize_t fd_read_file(const char *path, void *out, size_t size);
/* As above: one line of text, always NUL-terminated, without its newline. 0 or -errno. */
int fd_read_line(const char *path, char *out, size_t size);

#endif
