/* SPDX-License-Identifier: MIT */
/* nodes.c - descriptors of /dev/kfd and /dev/dri/renderD*
 *
 * A device is a file in memory, and its descriptors are descriptors of that file: dup(), fcntl(),
 * fork(), sending and closing them need no help, and neither does mmap(), since the offsets that
 * the driver gives out are those of the file. A descriptor is known by its file's inode, never by
 * its number: programs have threads and children with tables of descriptors of their own.
 *
 * Owns:     a descriptor of each file, above those that programs use.
 * Threads:  any.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../engine/knobs.h"
#include "drm_abi.h"
#include "driver.h"

#define KFD "/dev/kfd"
#define FILES "vgpu-" /* the begin of their names */
#define RENDER "/dev/dri/renderD"
#define RENDER_FIRST 128u
#define KFD_MAJOR_NUMBER 235u /* of Linux's dynamic ones: what it often is */
/* programs that close all descriptors from 3 on stop earlier, or at their limit */
#define FIRST_OWN 512

#define NODES (1 + KNOBS_DEVICES_MAX)

struct file {
	int fd;
	dev_t dev;
	ino_t ino;
	bool there; /* atomic; release: the others are set before it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* under lock, or constant once `there` */
static struct file files[NODES];
/* atomic: how many there are */
static unsigned int nr_files;
/* atomic: a page that the kernel clears in each child that has a copy of it; it says whether this
 * process made them. Without a system call, which a program may have forbidden itself. */
static bool *own;

/* The functions of the C library are those of files.c. */
static int real_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static struct node node_at(unsigned int i)
{
	return i ? (struct node){ NODE_RENDER, i - 1 } : (struct node){ NODE_KFD, 0 };
}

static unsigned int index_of(struct node node)
{
	return node.kind == NODE_RENDER ? 1 + node.gpu : 0;
}

struct node node_of_path(const char *path)
{
	struct node none = { NODE_NONE, 0 };
	const char *rest;
	unsigned long minor;
	char *end;

	if (!path || !driver_behind(path, "/dev/"))
		return none;
	rest = driver_behind(path, KFD);
	if (rest && !*rest)
		return (struct node){ NODE_KFD, 0 };
	path = driver_behind(path, RENDER);
	if (!path)
		return none;
	minor = strtoul(path, &end, 10);
	if (end == path || *end || minor < RENDER_FIRST)
		return none;
	knobs_init_quietly();
	if (minor - RENDER_FIRST >= knobs.devices)
		return none;
	return (struct node){ NODE_RENDER, (unsigned int)(minor - RENDER_FIRST) };
}

void node_path(struct node node, char *out, size_t size)
{
	if (node.kind == NODE_KFD)
		snprintf(out, size, KFD);
	else
		snprintf(out, size, RENDER "%u", RENDER_FIRST + node.gpu);
}

dev_t node_device(struct node node)
{
	return node.kind == NODE_KFD ? makedev(KFD_MAJOR_NUMBER, 0) :
				       makedev(DRM_MAJOR, RENDER_FIRST + node.gpu);
}

/* The size is set once: files are sparse, and a limit of file sizes that the program sets
 * afterwards is none of the GPU's. One that it has before leaves no space for a GPU's memory:
 * EFBIG, and not the signal that the kernel sends for it. */
static bool may_be_large(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= FOREIGN_AT)
		return true;
	fprintf(stderr,
		"vgpu: there is no GPU: its memory is in a file, and the limit of file sizes (ulimit -f) is too small\n");
	return false;
}

/* Under lock. Kernels before 4.14 do not clear it: a child that no handler of pthread_atfork() saw
 * is taken for its parent. */
static bool make_own(void)
{
	void *page;

	if (own)
		return true;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return false;
	madvise(page, 4096, MADV_WIPEONFORK);
	__atomic_store_n(&own, page, __ATOMIC_RELAXED);
	return true;
}

/* Under lock. */
static int make_file(struct file *f, const char *name)
{
	struct stat st;
	int fd, high;

	if (!may_be_large())
		return -EFBIG;
	if (!make_own())
		return -ENOMEM;
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OWN);
	if (high >= 0) {
		syscall(SYS_close, fd);
		fd = high;
	}
	if (real_fstat(fd, &st) || ftruncate(fd, (off_t)FOREIGN_AT)) {
		int err = -errno;

		syscall(SYS_close, fd);
		return err;
	}
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	*own = true;
	/* pairs with the acquire in node_of_fd() */
	__atomic_store_n(&f->there, true, __ATOMIC_RELEASE);
	__atomic_add_fetch(&nr_files, 1, __ATOMIC_RELAXED);
	return 0;
}

static bool is_of(const struct file *f, int fd)
{
	struct stat st;

	return !real_fstat(fd, &st) && st.st_ino == f->ino && st.st_dev == f->dev;
}

int node_file(struct node node)
{
	struct file *f = &files[index_of(node)];
	char name[32];
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!f->there) {
		snprintf(name, sizeof(name), node.kind == NODE_KFD ? FILES "kfd" : FILES "%u",
			 node.gpu);
		err = make_file(f, name);
	} else if (!is_of(f, f->fd)) {
		err = -EIO;
	}
	pthread_mutex_unlock(&lock);
	return err ? err : f->fd;
}

bool nodes_are_own(void)
{
	const bool *o = __atomic_load_n(&own, __ATOMIC_RELAXED);

	return o && *o;
}

int node_open(struct node node, int flags)
{
	char path[64];
	int file = node_file(node), fd;

	if (file < 0)
		return file;
	if (!nodes_are_own())
		return -ENODEV;
	/* a description of its own: as each open() of a device */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | (flags & (O_CLOEXEC | O_NONBLOCK)),
			  0);
	return fd < 0 ? -errno : fd;
}

bool node_is_foreign(int fd)
{
	static const char start[] = "/memfd:" FILES;
	char path[64], name[sizeof(start) - 1];
	ssize_t n;

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlink, path, name, sizeof(name));
	return n == (ssize_t)sizeof(name) && memcmp(name, start, sizeof(name)) == 0;
}

void nodes_forget(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		if (files[i].there && is_of(&files[i], files[i].fd))
			syscall(SYS_close, files[i].fd);
		files[i].there = false;
	}
	nr_files = 0;
	/* another thread of the parent may have had it */
	pthread_mutex_init(&lock, NULL);
}

struct node node_of_fd(int fd)
{
	struct node none = { NODE_NONE, 0 };
	struct stat st;

	if (!__atomic_load_n(&nr_files, __ATOMIC_RELAXED) || fd < 0 || real_fstat(fd, &st))
		return none;
	for (unsigned int i = 0; i < NODES; i++) {
		/* pairs with the release in make_file() */
		if (__atomic_load_n(&files[i].there, __ATOMIC_ACQUIRE) &&
		    files[i].ino == st.st_ino && files[i].dev == st.st_dev)
			return node_at(i);
	}
	return none;
}
