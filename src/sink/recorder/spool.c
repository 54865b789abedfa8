/* SPDX-License-Identifier: MIT */
/* spool.c - makes the two files of a trace, and prepares slots ahead of need
 *
 * Owns:     the mapping and both descriptors.
 * Threads:  one at a time, see spool.h.
 * Fails:    -errno from spool_create(), with nothing left behind; later, fewer slots.
 * Format:   spool/format.h.
 * Not here: filling chunks (buf.c), moving them to disk (spool/drain.c).
 */
#include "sink/recorder/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/sys.h"
#include "spool/slot.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define MAX_TRIES 5
/* with fewer descriptors left for the program librtl keeps none */
#define FDS_OF_PROGRAM 16
#define MAX_SLOTS (UINT32_C(1) << 19)
/* Address space for operations in flight: two million. */
#define BLOCKS_SIZE (UINT64_C(256) << 20)

static void close_fd(int *fd)
{
	if (*fd >= 0)
		sys_close(*fd);
	*fd = -1;
}

/* Descriptor of a new file, identity in dev and ino; or -errno. */
static int create_file(const char *path, dev_t *dev, ino_t *ino)
{
	int fd = fd_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		int err = -errno;

		sys_close(fd);
		unlink(path);
		return err;
	}
	*dev = st.st_dev;
	*ino = st.st_ino;
	return fd;
}

static uint64_t own_start_ticks(void)
{
	char stat[1024];
	uint64_t ticks = 0;

	if (fd_read_line("/proc/self/stat", stat, sizeof(stat)) == 0)
		ticks = proc_stat_number(stat, PROC_START_TICKS);
	return ticks ? clock_boot_ticks(ticks) : 0;
}

static void random_id(uint64_t id[2])
{
	if (sys_getrandom(id, 16, GRND_NONBLOCK) == 16)
		return;
	/* early in the boot, or an old kernel: unique on this host suffices */
	id[0] = clock_read_ns(CLOCK_REALTIME) * UINT64_C(0x9e3779b97f4a7c15);
	id[1] = clock_read_ns(CLOCK_MONOTONIC) ^ (uint64_t)getpid() << 40 ^ (uintptr_t)id;
}

/* Maximum number of slots on the file system of `fd`: half of the free space, since programs use
 * the memory file system, too (RCCL). */
static uint32_t slots_that_fit(int fd, uint64_t buffer_bytes)
{
	uint64_t slots = buffer_bytes / SLOT_SIZE;
	struct rlimit limit;
	struct statvfs vfs;

	if (fstatvfs(fd, &vfs) == 0 && vfs.f_blocks) {
		uint64_t space = (uint64_t)vfs.f_bavail * vfs.f_frsize / 2;

		if (slots * SLOT_SIZE > space)
			slots = space / SLOT_SIZE;
	}
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		/* minus the header and the slots' descriptors */
		uint64_t other = SPOOL_HEADER_SIZE + 2 * SPOOL_PAGE + limit.rlim_cur / SPOOL_PAGE;
		uint64_t space = limit.rlim_cur > other ? limit.rlim_cur - other : 0;

		if (slots * SLOT_SIZE > space)
			slots = space / SLOT_SIZE;
	}
	return slots > MAX_SLOTS ? MAX_SLOTS : (uint32_t)slots;
}

static uint32_t round_up(uint64_t bytes)
{
	return (uint32_t)((bytes + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE);
}

/* Allocates blocks for a range of the file. 0 or -errno. */
static int allocate(int fd, uint64_t offset, uint64_t bytes)
{
	static const char zeros[SPOOL_PAGE];
	int err = 0;

	if (sys_fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0)
		return 0;
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
		return -errno;
	/* not every file system supports it; no thread uses the range yet */
	for (uint64_t i = 0; i < bytes && !err; i += sizeof(zeros))
		err = fd_pwrite(fd, zeros, sizeof(zeros), offset + i);
	return err;
}

/* Populates a range of the memory half, so that no thread takes a slow fault or SIGBUS. The range
 * is whole pages. 0 or -errno. */
static int populate(const struct spool *s, uint64_t offset, uint64_t bytes)
{
	char *p = (char *)s->header + offset;
	bool have_fd = fd_is(s->mem_fd, s->mem_dev, s->mem_ino);
	int err = have_fd ? allocate(s->mem_fd, offset, bytes) : 0;

	if (err)
		return err;
	if (madvise(p, bytes, MADV_POPULATE_WRITE) == 0)
		return 0;
	/* an older kernel: touching pages is safe only if the file has the blocks */
	if (errno == EFAULT || errno == ENOMEM || !have_fd)
		return -errno;
	for (uint64_t i = 0; i < bytes; i += SPOOL_PAGE)
		*(volatile char *)(p + i) = 0;
	return 0;
}

/* Sets the size of the memory half: s->size, or without space for blocks if a file may not be as
 * large. */
static int set_size(struct spool *s, uint64_t blocks_offset)
{
	if (ftruncate(s->mem_fd, (off_t)s->size) == 0)
		return 0;
	s->size = blocks_offset;
	return ftruncate(s->mem_fd, (off_t)s->size) == 0 ? 0 : -errno;
}

/* Maps the memory half into the area, which is made as large as it can get. MAP_FAILED: see
 * errno. */
static void *map_half(struct spool *s, uint64_t most)
{
	void *p;

	if (s->area && s->size <= s->area_size)
		return mmap(s->area, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			    s->mem_fd, 0);
	p = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return p;
	/* an earlier area stays, since late threads may access it */
	s->area = p;
	s->area_size = most;
	return map_half(s, most);
}

/* Replaces the mapping by zeroed memory. */
static void unmap_half(struct spool *s)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	/* if it fails, late threads write to a file that has no name any more */
	s->is_mapped = s->is_mapped && mmap(s->area, s->area_size, PROT_READ | PROT_WRITE, flags,
					    -1, 0) == MAP_FAILED;
}

/* The size of a memory half of `bytes` for slots. */
static uint64_t most_size(uint64_t buffer_bytes)
{
	uint64_t slots = buffer_bytes / SLOT_SIZE;

	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	return SPOOL_HEADER_SIZE + round_up(slots * sizeof(struct slot_desc)) + slots * SLOT_SIZE +
	       SPOOL_PAGE + BLOCKS_SIZE;
}

/* Makes the memory half in `dir`, mapped and empty. */
static int create_memory_half(struct spool *s, const char *dir, const uint64_t id[2],
			      uint64_t buffer_bytes)
{
	char path[SPOOL_NAME_SIZE];
	struct spool_header *h;
	uint32_t slots;
	uint32_t slots_offset, start;
	uint64_t blocks_offset;
	struct str p;
	int err;

	str_init(&p, path, sizeof(path));
	str_add(&p, dir);
	str_add(&p, "/rtl-");
	str_add_uint(&p, (uint64_t)getuid());
	str_add(&p, "-");
	str_add_hex(&p, id[0], 16);
	str_add_hex(&p, id[1], 16);
	str_add(&p, ".mem");
	if (p.cut)
		return -ENAMETOOLONG;
	s->mem_fd = create_file(path, &s->mem_dev, &s->mem_ino);
	if (s->mem_fd < 0)
		return s->mem_fd;
	slots = slots_that_fit(s->mem_fd, buffer_bytes);
	slots_offset = SPOOL_HEADER_SIZE + round_up((uint64_t)slots * sizeof(struct slot_desc));
	blocks_offset = (slots_offset + (uint64_t)slots * SLOT_SIZE + SPOOL_PAGE - 1) / SPOOL_PAGE *
			SPOOL_PAGE;
	s->size = blocks_offset + BLOCKS_SIZE;
	start = slots < SPOOL_START_SLOTS ? slots : SPOOL_START_SLOTS;
	err = slots < SPOOL_MIN_SLOTS ? -ENOSPC : 0;
	if (!err)
		err = set_size(s, blocks_offset);
	if (err)
		goto out;
	h = map_half(s, most_size(buffer_bytes));
	if (h == MAP_FAILED && s->size > blocks_offset) {
		/* a limit of address space: operations in flight do without */
		s->size = blocks_offset;
		h = map_half(s, s->size);
	}
	if (h == MAP_FAILED) {
		err = -errno;
		goto out;
	}
	s->header = h;
	s->is_mapped = true;
	err = populate(s, 0, slots_offset);
	if (err)
		goto out;
	h->nr_slots = slots;
	h->slot_size = SLOT_SIZE;
	h->slots_offset = slots_offset;
	h->desc_offset = SPOOL_HEADER_SIZE;
	h->blocks_size = s->size - blocks_offset;
	h->blocks_offset = h->blocks_size ? blocks_offset : 0;
	memcpy(h->mem_path, path, p.used + 1);
	if (spool_prepare(s, start) < start)
		err = -ENOSPC;
out:
	if (err) {
		unmap_half(s);
		close_fd(&s->mem_fd);
		unlink(path);
	}
	return err;
}

/* *made: whether the directory is new. */
static int create_disk_half(struct spool *s, const char *dir, uint64_t start_ns, char *path,
			    bool *made)
{
	struct str p;

	str_init(&p, path, SPOOL_NAME_SIZE);
	str_add(&p, dir);
	str_add(&p, "/");
	str_add_uint(&p, (uint64_t)getpid());
	str_add(&p, "-");
	str_add_hex(&p, start_ns, 1);
	str_add(&p, ".rtl");
	if (p.cut)
		return -ENAMETOOLONG;
	/* repeated, since another process that ends may remove the empty directory */
	for (int i = 0; i < MAX_TRIES; i++) {
		*made = mkdir(dir, 0700) == 0;
		if (!*made && errno != EEXIST)
			return -errno;
		s->disk_fd = create_file(path, &s->disk_dev, &s->disk_ino);
		if (s->disk_fd != -ENOENT)
			break;
	}
	return s->disk_fd < 0 ? s->disk_fd : 0;
}

static enum spool_clock clock_name(void)
{
	/* relaxed: set before the trace is started */
	switch (atomic_load_explicit(&clock_id, memory_order_relaxed)) {
	case CLOCK_MONOTONIC:
		return SPOOL_CLOCK_MONOTONIC;
	case CLOCK_MONOTONIC_RAW:
		return SPOOL_CLOCK_MONOTONIC_RAW;
	case CLOCK_REALTIME:
		return SPOOL_CLOCK_REALTIME;
	default:
		return SPOOL_CLOCK_BOOTTIME;
	}
}

void spool_note_clock(struct spool *s)
{
	/* relaxed: an independent value */
	atomic_store_explicit(&s->header->clock_id, clock_name(), memory_order_relaxed);
}

int spool_create(struct spool *s, const char *dir, const char *mem_dir, uint64_t buffer_bytes)
{
	uint64_t start_ns = clock_read_ns(CLOCK_BOOTTIME);
	char path[SPOOL_NAME_SIZE];
	uint64_t id[2];
	struct spool_header *h;
	bool made = false;
	int err;

	s->mem_fd = s->disk_fd = -1;
	s->is_scarce = false;
	random_id(id);
	err = create_disk_half(s, dir, start_ns, path, &made);
	if (err) {
		if (made)
			rmdir(dir);
		return err;
	}
	err = *mem_dir ? create_memory_half(s, mem_dir, id, buffer_bytes) : -ENOENT;
	if (err)
		err = create_memory_half(s, dir, id, buffer_bytes);
	if (err)
		goto out;
	h = s->header;
	h->version = SPOOL_VERSION;
	h->header_size = SPOOL_HEADER_SIZE;
	memcpy(h->trace_id, id, sizeof(id));
	h->pid = (uint32_t)getpid();
	h->ppid = (uint32_t)getppid();
	h->start_ns = start_ns;
	h->proc_start_ticks = own_start_ticks();
	fd_read_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof(h->boot_id));
	memcpy(h->disk_path, path, strlen(path) + 1);
	atomic_store_explicit(&h->disk_end, SPOOL_HEADER_SIZE, memory_order_relaxed);
	spool_note_clock(s);
	/* last: before it, the file is not a spool */
	atomic_thread_fence(memory_order_release);
	h->magic = SPOOL_MAGIC;
	err = fd_pwrite(s->disk_fd, h, SPOOL_HEADER_SIZE, 0);
	if (!err)
		return 0;
	unlink(h->mem_path);
out:
	spool_leave(s, false);
	unlink(path);
	if (made)
		rmdir(dir);
	return err;
}

/* Bytes that may be allocated in the memory half: other programs use its file system, too, so an
 * eighth of that stays free. */
static uint64_t free_bytes(const struct spool *s)
{
	struct statvfs vfs;
	uint64_t kept;

	if (!fd_is(s->mem_fd, s->mem_dev, s->mem_ino) || fstatvfs(s->mem_fd, &vfs) != 0 ||
	    !vfs.f_blocks)
		return UINT64_MAX;
	kept = vfs.f_blocks / 8;
	return vfs.f_bavail > kept ? (vfs.f_bavail - kept) * vfs.f_frsize : 0;
}

uint32_t spool_prepare(struct spool *s, uint32_t nr)
{
	struct spool_header *h = s->header;
	uint32_t first = atomic_load_explicit(&h->nr_prepared, memory_order_relaxed);
	uint64_t bytes;

	if (nr > h->nr_slots - first)
		nr = h->nr_slots - first;
	bytes = first ? free_bytes(s) : UINT64_MAX;
	if ((uint64_t)nr * SLOT_SIZE > bytes)
		nr = (uint32_t)(bytes / SLOT_SIZE);
	if (!nr || populate(s, h->slots_offset + (uint64_t)first * SLOT_SIZE,
			    (uint64_t)nr * SLOT_SIZE) != 0)
		return 0;
	/* before they are free: a reader reads prepared slots only */
	atomic_store_explicit(&h->nr_prepared, first + nr, memory_order_release);
	for (uint32_t i = 0; i < nr; i++)
		slot_push(h, first + nr - 1 - i);
	return nr;
}

bool spool_has_plenty(const struct spool *s, uint64_t bytes)
{
	return bytes <= free_bytes(s) / 16;
}

int spool_populate_blocks(const struct spool *s, uint64_t offset, uint64_t bytes)
{
	return bytes <= free_bytes(s) ? populate(s, offset, bytes) : -ENOSPC;
}

/* Whether the file is this trace: an inode number may be reused. */
static bool is_ours(const struct spool *s, int fd)
{
	uint64_t id[2];

	return fd_is(fd, s->disk_dev, s->disk_ino) &&
	       sys_pread(fd, id, sizeof(id), offsetof(struct spool_header, trace_id)) ==
		       sizeof(id) &&
	       memcmp(id, s->header->trace_id, sizeof(id)) == 0;
}

int spool_disk_fd(struct spool *s)
{
	int fd;

	if (fd_is(s->disk_fd, s->disk_dev, s->disk_ino))
		return s->disk_fd;
	/* not closed: the number belongs to the program now */
	s->disk_fd = -1;
	fd = fd_open(s->header->disk_path, O_RDWR | O_NOFOLLOW, 0);
	if (fd >= 0 && !is_ours(s, fd))
		close_fd(&fd);
	s->disk_fd = fd >= 0 ? fd : -1;
	return s->disk_fd;
}

/* Not a number that the program has reused for a file of its own. */
static void close_own(int *fd, dev_t dev, ino_t ino)
{
	if (*fd >= 0 && fd_is(*fd, dev, ino))
		sys_close(*fd);
	*fd = -1;
}

bool spool_spare_fds(struct spool *s)
{
	if (!s->is_scarce)
		s->is_scarce = !fd_has_spare(FDS_OF_PROGRAM);
	if (!s->is_scarce)
		return false;
	close_own(&s->mem_fd, s->mem_dev, s->mem_ino);
	close_own(&s->disk_fd, s->disk_dev, s->disk_ino);
	return true;
}

void spool_leave(struct spool *s, bool in_use)
{
	if (in_use) {
		s->area = NULL;
		s->is_mapped = false;
	}
	unmap_half(s);
	close_own(&s->mem_fd, s->mem_dev, s->mem_ino);
	close_own(&s->disk_fd, s->disk_dev, s->disk_ino);
}

void spool_release(struct spool *s)
{
	spool_leave(s, false);
	if (s->area)
		munmap(s->area, s->area_size);
	s->header = s->area = NULL;
}
