/* SPDX-License-Identifier: MIT */
/* fd.h - file descriptors of librtl in another program's process
 *
 * They are close-on-exec and numbered high: the program's own open() continues to return the lowest
 * free number. The program may close them (closefrom) and get the number for a file of its own;
 * fd_is() detects that.
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
/* Whether the program can still open `wanted` files. */
bool fd_has_spare(int wanted);
/* Writes the whole buffer at `offset`. 0 or -errno; interrupted and short writes are continued. */
int fd_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* Reads `size` bytes at `offset`. 0 or -errno; -EIO where the file ends before them. */
int fd_pread(int fd, void *out, size_t size, uint64_t offset);
/* Up to `size` bytes of a file, NUL-terminated if there is space. Bytes read, or -errno. */
ssize_t fd_read_file(const char *path, void *out, size_t size);
/* As above: one line of text, always NUL-terminated, without its newline. 0 or -errno. */
int fd_read_line(const char *path, char *out, size_t size);

/* Whether a file of that name exists and is more than an empty one, which mktemp(1) makes for a
 * program's output. */
bool fd_is_taken(const char *path);
/* What kind of file a mode means, for messages: "a FIFO". */
const char *fd_kind(mode_t mode);

#endif
