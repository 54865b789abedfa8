/* SPDX-License-Identifier: MIT */
/* drain.c - moves chunks from memory to disk, exactly once, even if a drainer is killed
 *
 * Owns:     the mapping and the disk descriptor of drain_open(); nothing of drain_init().
 * Threads:  one for each struct drain. Drainers, here and in other processes, exclude each other by
 *           header->drainer; concurrent ones would be harmless.
 * Fails:    a failed write leaves its chunk sealed, to be written again.
 * Not here: reading it back (store/load.c).
 *
 * ONE CHUNK AT A TIME
 *   1. intent = (slot, disk_end)	by compare-and-swap from 0
 *   2. state of the slot: SEALED -> DRAINING
 *   3. copy the chunk, and pack the copy; check that this drainer still has the right to drain
 *   4. write that at disk_end
 *   5. disk_end += its size		by compare-and-swap
 *   6. free the slot, intent = 0
 *   If it is killed before 5, the successor finds the intent and writes the same chunk at the same
 *   offset. After 5, the successor finds the offset behind disk_end, and frees the slot. A drainer
 *   that was stalled and replaced writes, if at all, the same bytes as its successor, since it
 *   copied them before it checked whether it was replaced. A slot that is DRAINING without an
 *   intent was taken by a drainer that was replaced between 1 and 3: its chunk is not on disk.
 *
 * REMOVING CHUNKS (format.h, REMOVED CHUNKS)
 *   1. evict_upto = where the removal ends	by compare-and-swap; only if it is kept_from or less
 *   2. intent = (EVICT, disk_end)		by compare-and-swap from 0
 *   3. write the carried chunks at disk_end, which replace [kept_from, evict_upto) and those before
 *   4. disk_end += their size			by compare-and-swap
 *   5. carried_at = their offset, kept_from = evict_upto: from here on they are in force
 *   6. intent = 0
 *   7. update the disk half's header, then give the file's bytes back
 *   If it is killed before 4, the successor writes the same bytes at the same offset, since nothing
 *   that they depend on has changed; from 4 on, it continues with 5. Bytes that were not given back
 *   are with the next removal.
 */
#include "spool/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "spool/carry.h"
#include "spool/rest.h"
#include "spool/slot.h"
#include "spool/turns.h"

#define INTENT_SLOT_BITS 20
#define INTENT_SLOT ((UINT64_C(1) << INTENT_SLOT_BITS) - 1)
#define INTENT_EVICT INTENT_SLOT       /* instead of slot + 1 */
#define EVICT_STEP (UINT64_C(4) << 20) /* bytes that are removed at a time */
#define NUMBER_SHIFT 32
#define OUR_BITS (~DRAINER_BUSY)

void drain_set_fd(struct drain *d, int disk_fd)
{
	struct stat st;

	d->disk_fd = disk_fd;
	if (disk_fd < 0 || fstat(disk_fd, &st) != 0)
		return;
	d->disk_dev = st.st_dev;
	d->disk_ino = st.st_ino;
}

void drain_init(struct drain *d, struct spool_header *header, size_t size, int disk_fd)
{
	static _Atomic uint32_t last_number;
	uint32_t number;

	d->header = header;
	d->size = size;
	d->mapped_here = false;
	d->self = (uint32_t)getpid();
	d->header_sum = 0;
	d->punched = 0;
	d->see = NULL;
	d->disk_dev = d->disk_ino = 0;
	d->mem_dev = d->mem_ino = 0;
	/* distinguishes two drainers of equal pid: of one process, or of two pid namespaces */
	number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
	number = (number << 16 ^ (uint32_t)(clock_read_ns(CLOCK_MONOTONIC) >> 10)) & 0x7fffffff;
	d->token = (uint64_t)number << NUMBER_SHIFT | d->self;
	drain_set_fd(d, disk_fd);
}

static bool is_sane(const struct spool_header *h, uint64_t size)
{
	uint64_t descs = (uint64_t)h->nr_slots * sizeof(struct slot_desc);

	return h->magic == SPOOL_MAGIC && SPOOL_IS_READ(h->version) &&
	       h->header_size == SPOOL_HEADER_SIZE && h->slot_size >= SPOOL_PAGE &&
	       h->slot_size <= SLOT_SIZE && h->slot_size % 8 == 0 &&
	       h->nr_slots < INTENT_EVICT - 1 && h->desc_offset % 8 == 0 &&
	       h->desc_offset >= SPOOL_HEADER_SIZE && h->desc_offset + descs <= h->slots_offset &&
	       h->slots_offset % 8 == 0 &&
	       h->slots_offset + (uint64_t)h->nr_slots * h->slot_size <= size;
}

/* The directory of a path, with a slash at its end; "." of a name alone. false: it is too long. */
static bool directory_of(const char *path, char *dir, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash + 1 - path) : 1;

	if (length >= size)
		return false;
	memcpy(dir, slash ? path : ".", length);
	dir[length] = '\0';
	return true;
}

/* Whether both names are in the same directory; `disk_path` may be relative. */
static bool share_directory(const char *mem_path, const char *disk_path)
{
	char dir[sizeof(((struct spool_header *)0)->mem_path)];
	struct stat a, b;

	return directory_of(mem_path, dir, sizeof(dir)) && !stat(dir, &a) &&
	       directory_of(disk_path, dir, sizeof(dir)) && !stat(dir, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* NAME.mem is the memory half of NAME.rtl in its directory. */
static bool is_beside(const char *mem_path, const char *disk_path)
{
	const char *slash = strrchr(disk_path, '/'), *disk = slash ? slash + 1 : disk_path;
	const char *mem = strrchr(mem_path, '/') + 1;
	size_t length = strlen(disk);

	return length > 4 && strlen(mem) == length && strncmp(mem, disk, length - 4) == 0 &&
	       strcmp(disk + length - 4, ".rtl") == 0 && strcmp(mem + length - 4, ".mem") == 0 &&
	       share_directory(mem_path, disk_path);
}

bool drain_is_memory_half(const struct spool_header *disk, const char *disk_path)
{
	const char *slash;
	char id[2 * 16 + sizeof(".mem")];
	struct str s;

	if (disk->mem_path[0] != '/' || !memchr(disk->mem_path, 0, sizeof(disk->mem_path)))
		return false;
	if (is_beside(disk->mem_path, disk_path))
		return true;
	str_init(&s, id, sizeof(id));
	str_add_hex(&s, disk->trace_id[0], 16);
	str_add_hex(&s, disk->trace_id[1], 16);
	str_add(&s, ".mem");
	slash = strrchr(disk->mem_path, '/') + 1;
	if (strncmp(slash, "rtl-", 4) != 0)
		return false;
	slash += 4;
	slash += strspn(slash, "0123456789");
	return *slash == '-' && strcmp(slash + 1, id) == 0;
}

/* Opens the memory half that a disk half names: nothing but a file of the same owner, or of this
 * user where the disk has its own idea of owners. A file system for all users may hold anything
 * under that name. The descriptor or -errno. */
static int open_memory_half(const struct spool_header *disk, const char *disk_path, int disk_fd,
			    int flags, off_t *size)
{
	struct stat st, disk_st;
	int err = 0, fd;

	/* a spool may come from anywhere: it names no file that is not of our own form */
	if (!drain_is_memory_half(disk, disk_path))
		return -EINVAL;
	fd = sys_open(disk->mem_path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || fstat(disk_fd, &disk_st) != 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)SPOOL_HEADER_SIZE)
		err = -EINVAL;
	else if (st.st_uid != disk_st.st_uid && st.st_uid != geteuid())
		err = -EPERM;
	if (err) {
		sys_close(fd);
		return err;
	}
	*size = st.st_size;
	return fd;
}

/* A closed disk half that still names its memory half: the process was killed in drain_finish(). */
static void remove_leftover(const struct spool_header *disk, const char *disk_path, int disk_fd)
{
	struct spool_header *mem;
	off_t size;
	int fd = open_memory_half(disk, disk_path, disk_fd, O_RDONLY, &size);

	if (fd < 0)
		return;
	mem = mmap(NULL, SPOOL_HEADER_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (mem != MAP_FAILED) {
		if (mem->magic == SPOOL_MAGIC &&
		    memcmp(mem->trace_id, disk->trace_id, sizeof(mem->trace_id)) == 0)
			unlink(disk->mem_path);
		munmap(mem, SPOOL_HEADER_SIZE);
	}
	sys_close(fd);
}

static int map_memory_half(struct drain *d, const struct spool_header *disk, const char *disk_path,
			   int disk_fd)
{
	struct spool_header *h;
	off_t size;
	int fd = open_memory_half(disk, disk_path, disk_fd, O_RDWR, &size);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0) {
		d->mem_dev = st.st_dev;
		d->mem_ino = st.st_ino;
	}
	h = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		err = -errno;
	sys_close(fd);
	if (err)
		return err;
	if (!is_sane(h, (uint64_t)size) ||
	    memcmp(h->trace_id, disk->trace_id, sizeof(h->trace_id)) != 0) {
		munmap(h, (size_t)size);
		return -EINVAL;
	}
	d->header = h;
	d->size = (size_t)size;
	return 0;
}

int drain_open(struct drain *d, const char *disk_path)
{
	union {
		struct spool_header header;
		uint8_t bytes[SPOOL_HEADER_SIZE];
	} disk;
	ssize_t n;
	int err;
	/* a directory of spools may hold anything: nothing is waited for, nothing but a plain file
	 * is read */
	int fd = fd_open(disk_path, O_RDWR | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	drain_init(d, NULL, 0, -1);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		sys_close(fd);
		return -EINVAL;
	}
	do
		n = sys_pread(fd, disk.bytes, sizeof(disk.bytes), 0);
	while (n < 0 && errno == EINTR);
	err = n < 0 ? -errno : 0;
	if (!err && (n != (ssize_t)sizeof(disk.bytes) || disk.header.magic != SPOOL_MAGIC ||
		     !SPOOL_IS_READ(disk.header.version) ||
		     !memchr(disk.header.mem_path, 0, sizeof(disk.header.mem_path))))
		err = -EINVAL;
	if (!err && disk.header.mem_path[0] && disk.header.closed)
		remove_leftover(&disk.header, disk_path, fd);
	if (!err && (!disk.header.mem_path[0] || disk.header.closed))
		err = -ENOENT;
	if (!err)
		err = map_memory_half(d, &disk.header, disk_path, fd);
	if (err) {
		sys_close(fd);
		return err;
	}
	drain_set_fd(d, fd);
	d->mapped_here = true;
	return 0;
}

void drain_close(struct drain *d)
{
	if (!d->mapped_here)
		return;
	if (d->header)
		munmap(d->header, d->size);
	if (d->disk_fd >= 0)
		sys_close(d->disk_fd);
	d->header = NULL;
	d->disk_fd = -1;
	d->mapped_here = false;
}

static bool holds(const struct drain *d)
{
	/* acquire: pairs with the exchange of the drainer that replaced this one */
	return (atomic_load_explicit(&d->header->drainer, memory_order_acquire) & OUR_BITS) ==
	       d->token;
}

static bool may_replace(const struct drain *d, uint64_t holder, uint64_t now_ns)
{
	uint64_t seen = atomic_load_explicit(&d->header->drainer_ns, memory_order_relaxed);
	pid_t pid = (pid_t)(uint32_t)holder;

	if (now_ns > seen && now_ns - seen > DRAIN_TAKEOVER_NS)
		return true;
	/* a pid of another namespace may seem to be gone; concurrent drainers are harmless, see
	 * above */
	return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

bool drain_take(struct drain *d, uint64_t now_ns)
{
	struct spool_header *h = d->header;
	uint64_t old = atomic_load_explicit(&h->drainer, memory_order_acquire);

	for (;;) {
		if ((old & OUR_BITS) != d->token && old && !may_replace(d, old, now_ns))
			return false;
		/* before the exchange: otherwise the next drainer could consider this one dead */
		atomic_store_explicit(&h->drainer_ns, now_ns, memory_order_relaxed);
		if ((old & OUR_BITS) == d->token)
			return true;
		/* acq_rel: pairs with itself and holds(): the state left by the previous drainer */
		if (atomic_compare_exchange_strong_explicit(&h->drainer, &old, d->token,
							    memory_order_acq_rel,
							    memory_order_acquire))
			return true;
	}
}

void drain_give(struct drain *d)
{
	uint64_t old = atomic_load_explicit(&d->header->drainer, memory_order_relaxed);

	/* release: pairs with drain_take() of the next drainer */
	if ((old & OUR_BITS) == d->token)
		atomic_compare_exchange_strong_explicit(&d->header->drainer, &old, 0,
							memory_order_release, memory_order_relaxed);
}

/* Counts the records of the copied chunk, up to the first invalid one. */
static uint32_t count_records(const struct drain *d, uint32_t size)
{
	const uint8_t *p = d->copy + sizeof(struct chunk_header);
	const uint8_t *end = p + size;
	uint32_t nr = 0;

	while (p < end) {
		uint32_t bytes = ((const struct rec_head *)(const void *)p)->size8 * 8u;

		if (!bytes || bytes > (uint32_t)(end - p))
			break;
		p += bytes;
		nr++;
	}
	return nr;
}

/* Copies the chunk in `slot`; returns its bytes, 0 for an empty or impossible one. */
static uint32_t copy_chunk(struct drain *d, uint32_t slot)
{
	struct chunk_header *from = slot_chunk(d->header, slot);
	struct chunk_header *to = (struct chunk_header *)(void *)d->copy;
	/* acquire: pairs with the release in buf_commit(): the bytes of the records */
	uint32_t size = atomic_load_explicit(&from->committed, memory_order_acquire);

	if (from->magic != CHUNK_MAGIC || !from->seq || size > CHUNK_PAYLOAD ||
	    size > d->header->slot_size - sizeof(*from))
		return 0;
	size &= ~7u;
	if (!size)
		return 0;
	memcpy(d->copy + sizeof(*to), from + 1, size);
	to->magic = CHUNK_MAGIC;
	to->seq = from->seq;
	atomic_store_explicit(&to->committed, size, memory_order_relaxed);
	to->tid = from->tid;
	to->nr_records = count_records(d, size);
	return size + (uint32_t)sizeof(*to);
}

static bool set_intent(struct drain *d, uint64_t from, uint64_t to)
{
	/* acq_rel: a drainer that finds the intent also finds the slot's state stored before it */
	return atomic_compare_exchange_strong_explicit(&d->header->intent, &from, to,
						       memory_order_acq_rel, memory_order_acquire);
}

/* Steps 5 and 6. With `final` no thread takes slots any more, and the slots of late writers stay
 * unchanged. */
static void finish_move(struct drain *d, uint32_t slot, uint64_t intent, bool final)
{
	if (final)
		atomic_store_explicit(&slot_desc(d->header, slot)->state, SLOT_FREE,
				      memory_order_release);
	else
		slot_push(d->header, slot);
	set_intent(d, intent, 0);
}

/* Steps 3 to 6 for a slot that is DRAINING. Bytes in memory, or -errno. */
static int64_t move_on(struct drain *d, uint32_t slot, uint64_t intent, uint64_t offset, bool final)
{
	struct spool_header *h = d->header;
	uint32_t size = copy_chunk(d, slot), stored = 0;
	const uint8_t *bytes = NULL;
	int err = 0;

	if (size)
		bytes = pack_chunk((struct chunk_header *)(void *)d->copy, d->packed,
				   h->version >= SPOOL_VERSION_PACKED, &stored);
	if (size && d->see)
		d->see(d->see_arg, slot, (const struct chunk_header *)(const void *)d->copy,
		       size - (uint32_t)sizeof(struct chunk_header));
	RTL_TESTPOINT("drain_copied");
	if (!holds(d))
		return -EBUSY;
	if (size) {
		if (!fd_is(d->disk_fd, d->disk_dev, d->disk_ino))
			err = -EBADF;
		else
			err = fd_pwrite(d->disk_fd, bytes, stored, offset);
		/* relaxed: a number for display */
		if (err != -EBADF)
			atomic_store_explicit(&h->disk_state, (uint32_t)-err, memory_order_relaxed);
		if (err) {
			atomic_store_explicit(&slot_desc(h, slot)->state, SLOT_SEALED,
					      memory_order_release);
			set_intent(d, intent, 0);
			return err;
		}
		RTL_TESTPOINT("drain_written");
		/* acq_rel: the bytes are on disk before disk_end covers them */
		if (!atomic_compare_exchange_strong_explicit(&h->disk_end, &offset, offset + stored,
							     memory_order_acq_rel,
							     memory_order_acquire))
			return -EBUSY;
		atomic_fetch_add_explicit(&h->nr_records,
					  ((struct chunk_header *)(void *)d->copy)->nr_records,
					  memory_order_relaxed);
	}
	RTL_TESTPOINT("drain_ended");
	if (!holds(d))
		return -EBUSY;
	finish_move(d, slot, intent, final);
	return size;
}

static int64_t move(struct drain *d, uint32_t slot, uint32_t state, bool final)
{
	struct spool_header *h = d->header;
	uint64_t offset = atomic_load_explicit(&h->disk_end, memory_order_acquire);
	uint64_t intent = (offset / 8) << INTENT_SLOT_BITS | (slot + 1);

	if (!set_intent(d, 0, intent))
		return -EBUSY;
	RTL_TESTPOINT("drain_intent");
	/* acquire: pairs with the release in buf_seal() */
	if (!atomic_compare_exchange_strong_explicit(&slot_desc(h, slot)->state, &state,
						     SLOT_DRAINING, memory_order_acq_rel,
						     memory_order_acquire)) {
		set_intent(d, intent, 0);
		return 0;
	}
	RTL_TESTPOINT("drain_marked");
	return move_on(d, slot, intent, offset, final);
}

/* A sum that changes when one of the counters changes. */
static uint64_t sum_counters(const uint64_t *words, size_t nr)
{
	uint64_t sum = 1;

	for (size_t i = 0; i < nr; i++)
		sum = sum * UINT64_C(0x100000001b3) + words[i];
	return sum;
}

static int write_header(struct drain *d, bool keep_mem_path)
{
	static const size_t half = SPOOL_PAGE / sizeof(uint64_t);
	union {
		struct spool_header header;
		uint64_t words[SPOOL_HEADER_SIZE / sizeof(uint64_t)];
	} out;
	_Atomic uint64_t *counters = (_Atomic uint64_t *)(void *)((char *)d->header + SPOOL_PAGE);
	uint64_t sum;
	int err;

	memcpy(&out, d->header, SPOOL_PAGE);
	/* relaxed: each counter is valid on its own */
	for (size_t i = 0; i < half; i++)
		out.words[half + i] = atomic_load_explicit(&counters[i], memory_order_relaxed);
	/* momentary values mean nothing on disk */
	atomic_store_explicit(&out.header.drainer, 0, memory_order_relaxed);
	atomic_store_explicit(&out.header.drainer_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&out.header.intent, 0, memory_order_relaxed);
	atomic_store_explicit(&out.header.free_head, 0, memory_order_relaxed);
	atomic_store_explicit(&out.header.hold_until_ns, 0, memory_order_relaxed);
	if (!keep_mem_path)
		memset(out.header.mem_path, 0, sizeof(out.header.mem_path));
	sum = sum_counters(out.words + half, half);
	if (keep_mem_path && sum == d->header_sum)
		return 0;
	if (!fd_is(d->disk_fd, d->disk_dev, d->disk_ino))
		return -EBADF;
	err = fd_pwrite(d->disk_fd, &out, sizeof(out), 0);
	if (!err)
		d->header_sum = sum;
	return err;
}

/* Where the chunks begin that were not removed. */
static uint64_t first_kept(const struct spool_header *h)
{
	/* acquire: pairs with the exchange in evict_commit() */
	uint64_t from = atomic_load_explicit(&h->kept_from, memory_order_acquire);

	return from ? from : SPOOL_HEADER_SIZE;
}

/* Writes the copy, `size` bytes, at *at, which it advances. 0 or -errno. */
static int64_t write_carried_chunk(struct drain *d, uint32_t size, uint64_t *at)
{
	int err;

	/* what was read is as it was when this drainer began, if it still holds the right */
	if (!holds(d))
		return -EBUSY;
	if (!fd_is(d->disk_fd, d->disk_dev, d->disk_ino))
		return -EBADF;
	err = fd_pwrite(d->disk_fd, d->copy, size, *at);
	*at += size;
	return err;
}

/* Writes the chunks that replace those before `upto` at `offset`. Bytes or -errno. */
static int64_t write_carried(struct drain *d, uint64_t upto, uint64_t offset)
{
	struct spool_header *h = d->header;
	struct chunk_header *chunk = (struct chunk_header *)(void *)d->copy;
	uint32_t space = h->slot_size - (uint32_t)sizeof(*chunk), nr;
	uint64_t at = offset;
	struct carry carry;
	int64_t n = carry_begin(&carry, d->disk_fd, first_kept(h), upto,
				atomic_load_explicit(&h->carried_at, memory_order_acquire), offset);

	for (uint32_t i = 0; n == 0; i++) {
		n = carry_next(&carry, d->copy + sizeof(*chunk), space, &nr);
		if (n <= 0)
			break;
		if (i == CHUNK_CARRIED_MAX) {
			n = -EFBIG;
			break;
		}
		*chunk = (struct chunk_header){ .magic = CHUNK_MAGIC,
						.seq = CHUNK_CARRIED(upto, i),
						.committed = (uint32_t)n,
						.nr_records = nr };
		n += (int64_t)sizeof(*chunk);
		chunk->crc = crc_add(0, d->copy, (size_t)n);
		RTL_TESTPOINT("evict_made");
		n = write_carried_chunk(d, (uint32_t)n, &at);
		atomic_store_explicit(&h->drainer_ns, clock_boot_ns(), memory_order_relaxed);
	}
	carry_end(&carry);
	return n < 0 ? n : (int64_t)(at - offset);
}

/* Gives whole pages of the file back. Not every file system can. */
static void punch(const struct drain *d, uint64_t from, uint64_t to)
{
	from = (from + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
	to = to / SPOOL_PAGE * SPOOL_PAGE;
	if (from < to)
		sys_fallocate(d->disk_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			      (off_t)(to - from));
}

/* Gives the payload of superseded chunks back; their heads stay, by which readers skip them. */
static void punch_carried(const struct drain *d, uint64_t at, uint64_t kept_from)
{
	struct chunk_header head;

	for (uint32_t i = 0; i < CHUNK_CARRIED_MAX; i++) {
		uint32_t size;

		if (sys_pread(d->disk_fd, &head, sizeof(head), (off_t)at) != sizeof(head) ||
		    head.magic != CHUNK_MAGIC || head.seq != CHUNK_CARRIED(kept_from, i))
			return;
		size = pack_stored(&head);
		punch(d, at + sizeof(head), at + sizeof(head) + size);
		at += sizeof(head) + size;
	}
}

/* Steps 5 to 7: the carried chunks are on disk at `offset`. 0 or -errno. */
static int64_t evict_commit(struct drain *d, uint64_t offset)
{
	struct spool_header *h = d->header;
	uint64_t upto = atomic_load_explicit(&h->evict_upto, memory_order_acquire);
	uint64_t from = atomic_load_explicit(&h->kept_from, memory_order_acquire);
	uint64_t old = atomic_load_explicit(&h->carried_at, memory_order_acquire);
	uint64_t intent = (offset / 8) << INTENT_SLOT_BITS | INTENT_EVICT;
	struct chunk_header head;
	int err;

	if (!holds(d))
		return -EBUSY;
	if (from < upto &&
	    sys_pread(d->disk_fd, &head, sizeof(head), (off_t)offset) == sizeof(head) &&
	    head.magic == CHUNK_MAGIC && head.seq == CHUNK_CARRIED(upto, 0)) {
		uint64_t was = old, first = from;

		/* acq_rel, both: the chunks are on disk before a reader looks for them */
		if (old != offset &&
		    !atomic_compare_exchange_strong_explicit(&h->carried_at, &was, offset,
							     memory_order_acq_rel,
							     memory_order_acquire))
			return -EBUSY;
		RTL_TESTPOINT("evict_carried");
		if (!atomic_compare_exchange_strong_explicit(&h->kept_from, &first, upto,
							     memory_order_acq_rel,
							     memory_order_acquire))
			return -EBUSY;
	}
	RTL_TESTPOINT("evict_kept");
	set_intent(d, intent, 0);
	/* before the bytes are gone: a reader may have the disk half alone */
	err = write_header(d, true);
	RTL_TESTPOINT("evict_header");
	if (err)
		return err;
	if (old && old != offset)
		punch_carried(d, old, from);
	upto = first_kept(h);
	punch(d, d->punched ? d->punched : SPOOL_HEADER_SIZE, upto);
	d->punched = upto / SPOOL_PAGE * SPOOL_PAGE; /* the page of `upto` is with the next */
	RTL_TESTPOINT("evict_punched");
	return 0;
}

/* Steps 3 to 7, with the intent set. 0 or -errno. */
static int64_t evict_on(struct drain *d, uint64_t offset)
{
	struct spool_header *h = d->header;
	uint64_t upto = atomic_load_explicit(&h->evict_upto, memory_order_acquire);
	int64_t size = first_kept(h) < upto ? write_carried(d, upto, offset) : 0;

	if (size == -EBUSY)
		return size;
	if (size <= 0) {
		/* tried again with the next removal, at another offset */
		set_intent(d, (offset / 8) << INTENT_SLOT_BITS | INTENT_EVICT, 0);
		return size;
	}
	RTL_TESTPOINT("evict_written");
	/* acq_rel: as in move_on() */
	if (!atomic_compare_exchange_strong_explicit(&h->disk_end, &offset, offset + (uint64_t)size,
						     memory_order_acq_rel, memory_order_acquire))
		return -EBUSY;
	RTL_TESTPOINT("evict_ended");
	return evict_commit(d, offset);
}

static int64_t resume_evict(struct drain *d, uint64_t offset, uint64_t end)
{
	if (!fd_is(d->disk_fd, d->disk_dev, d->disk_ino))
		return -EBADF;
	return offset == end ? evict_on(d, offset) : evict_commit(d, offset);
}

/* Removes at most EVICT_STEP bytes. Bytes, 0: nothing is left to remove, or -errno. */
static int64_t evict_step(struct drain *d, uint64_t wanted)
{
	struct spool_header *h = d->header;
	uint64_t from = first_kept(h), offset;
	uint64_t upto = atomic_load_explicit(&h->evict_upto, memory_order_acquire);
	int64_t n;

	if (upto <= from) {
		n = carry_limit(d->disk_fd, from, wanted, EVICT_STEP);
		if (n <= (int64_t)from)
			return n < 0 ? n : 0;
		if (!holds(d) ||
		    !atomic_compare_exchange_strong_explicit(&h->evict_upto, &upto, (uint64_t)n,
							     memory_order_acq_rel,
							     memory_order_acquire))
			return -EBUSY;
		upto = (uint64_t)n;
	}
	offset = atomic_load_explicit(&h->disk_end, memory_order_acquire);
	RTL_TESTPOINT("evict_upto");
	if (!holds(d) || !set_intent(d, 0, (offset / 8) << INTENT_SLOT_BITS | INTENT_EVICT))
		return -EBUSY;
	RTL_TESTPOINT("evict_intent");
	n = evict_on(d, offset);
	return n < 0 ? n : (int64_t)(upto - from);
}

/* Continues what the previous drainer began. Bytes of a chunk that it moved, or -errno. */
static int64_t resume(struct drain *d, bool final)
{
	struct spool_header *h = d->header;
	uint64_t intent = atomic_load_explicit(&h->intent, memory_order_acquire);
	uint32_t slot = (uint32_t)(intent & INTENT_SLOT) - 1;
	uint64_t offset = (intent >> INTENT_SLOT_BITS) * 8;
	uint64_t end = atomic_load_explicit(&h->disk_end, memory_order_acquire);
	uint32_t state;

	if (!intent)
		return 0;
	if ((intent & INTENT_SLOT) == INTENT_EVICT)
		return resume_evict(d, offset, end);
	if (slot >= h->nr_slots || offset > end) {
		set_intent(d, intent, 0);
		return 0;
	}
	state = atomic_load_explicit(&slot_desc(h, slot)->state, memory_order_acquire);
	if (state != SLOT_DRAINING) {
		set_intent(d, intent, 0);
		return 0;
	}
	if (offset == end)
		return move_on(d, slot, intent, offset, final);
	finish_move(d, slot, intent, final);
	return 0;
}

int drain_header(struct drain *d)
{
	return write_header(d, true);
}

/* false: another drainer has the right to drain. */
static bool begin_busy(struct drain *d, uint64_t now_ns)
{
	struct spool_header *h = d->header;
	uint64_t token = d->token;

	/* acq_rel: as in drain_take() */
	if (!atomic_compare_exchange_strong_explicit(&h->drainer, &token, d->token | DRAINER_BUSY,
						     memory_order_acq_rel, memory_order_acquire) &&
	    (token & OUR_BITS) != d->token)
		return false;
	atomic_store_explicit(&h->drainer_ns, now_ns, memory_order_relaxed);
	return true;
}

static void end_busy(struct drain *d)
{
	uint64_t token = d->token | DRAINER_BUSY;

	atomic_compare_exchange_strong_explicit(&d->header->drainer, &token, d->token,
						memory_order_acq_rel, memory_order_acquire);
}

/* Moves chunks in the order of their numbers, each slot at most once. */
static int64_t move_all(struct drain *d, bool final, uint64_t max_bytes, uint64_t ahead,
			int64_t *total)
{
	struct turn turns[TURNS], after;
	uint32_t nr = TURNS, left = d->header->nr_slots;
	bool is_first = true;

	while (nr == TURNS && left) {
		nr = turns_find(d->header, final, is_first ? NULL : &after, turns);
		is_first = false;
		for (uint32_t i = 0; i < nr && left; i++, left--) {
			int64_t n;

			if (max_bytes && (uint64_t)*total >= max_bytes)
				return 0;
			n = move(d, turns[i].slot, turns[i].state, final);
			atomic_store_explicit(&d->header->drainer_ns, clock_boot_ns() + ahead,
					      memory_order_relaxed);
			if (n < 0)
				return n;
			*total += n;
			after = turns[i];
		}
	}
	return 0;
}

int64_t drain_run(struct drain *d, bool final, uint64_t max_bytes, uint64_t now_ns)
{
	/* advances the caller's time at the clock's rate */
	uint64_t ahead = now_ns - clock_boot_ns();
	int64_t total = 0;
	int64_t n;

	if (!begin_busy(d, now_ns))
		return -EBUSY;
	n = resume(d, final);
	if (n > 0)
		total = n;
	if (n >= 0)
		n = move_all(d, final, max_bytes, ahead, &total);
	if (total > 0) {
		int err = write_header(d, true);

		if (n >= 0 && err)
			n = err;
	}
	end_busy(d);
	return n < 0 ? n : total;
}

void drain_look(const struct drain *d)
{
	struct spool_header *h = d->header;
	uint32_t nr = atomic_load_explicit(&h->nr_prepared, memory_order_acquire);

	for (uint32_t i = 0; i < nr && i < h->nr_slots; i++) {
		const struct chunk_header *chunk = slot_chunk(h, i);
		uint32_t size;

		/* acquire: the chunk's header is complete */
		if (atomic_load_explicit(&slot_desc(h, i)->state, memory_order_acquire) !=
		    SLOT_OPEN)
			continue;
		/* acquire: pairs with the release in buf_commit(): the bytes of the records */
		size = atomic_load_explicit(&chunk->committed, memory_order_acquire);
		if (size <= h->slot_size - sizeof(*chunk))
			d->see(d->see_arg, i, chunk, size);
	}
}

/* A time that is further ahead is not one that a process of this rtl has set. */
static bool is_held(const struct spool_header *h)
{
	uint64_t until = atomic_load_explicit(&h->hold_until_ns, memory_order_acquire);
	uint64_t now = clock_boot_ns();

	return until > now && until - now <= DRAIN_HOLD_NS;
}

int64_t drain_evict(struct drain *d, uint64_t upto)
{
	uint64_t end = atomic_load_explicit(&d->header->disk_end, memory_order_acquire);
	int64_t n, total = 0;

	if (upto > end)
		upto = end;
	if (upto <= first_kept(d->header) || is_held(d->header))
		return 0;
	if (!begin_busy(d, clock_boot_ns()))
		return -EBUSY;
	n = fd_is(d->disk_fd, d->disk_dev, d->disk_ino) ? resume(d, false) : -EBADF;
	if (n > 0)
		n = 0;
	while (n >= 0 && (n = evict_step(d, upto)) > 0)
		total += n;
	end_busy(d);
	return n < 0 ? n : total;
}

uint64_t drain_waiting(const struct drain *d, bool open)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < d->header->nr_slots; i++) {
		/* relaxed: a number for display */
		uint32_t state =
			atomic_load_explicit(&slot_desc(d->header, i)->state, memory_order_relaxed);

		if (turns_wanted(state, open))
			total += atomic_load_explicit(&slot_chunk(d->header, i)->committed,
						      memory_order_relaxed);
	}
	return total;
}

/* Fills the copy with a chunk of records of what was in flight. Returns its bytes, 0: none are
 * left. */
static uint32_t rest_chunk(struct drain *d, struct rest *rest, uint64_t seq)
{
	struct chunk_header *chunk = (struct chunk_header *)(void *)d->copy;
	uint32_t space = d->header->slot_size, size = sizeof(*chunk), n;

	memset(chunk, 0, sizeof(*chunk));
	while (space - size >= REST_MAX_SIZE && (n = rest_next(rest, d->copy + size)) != 0) {
		size += n;
		chunk->nr_records++;
	}
	if (!chunk->nr_records)
		return 0;
	chunk->magic = CHUNK_MAGIC;
	chunk->seq = seq;
	atomic_store_explicit(&chunk->committed, size - (uint32_t)sizeof(*chunk),
			      memory_order_relaxed);
	chunk->crc = crc_add(0, d->copy, size);
	return size;
}

/* Writes what was in flight, see format.h. A successor writes the same bytes at the same offset,
 * since the process is over. 0 or -errno. */
static int write_rest(struct drain *d)
{
	struct spool_header *h = d->header;
	uint64_t at = 0, end = atomic_load_explicit(&h->disk_end, memory_order_acquire);
	uint64_t seq = atomic_load_explicit(&h->next_seq, memory_order_relaxed), start = end;
	uint64_t records = 0;
	struct rest rest;
	uint32_t size;

	rest_begin(&rest, h, d->size);
	/* acq_rel, both: as in move_on() */
	if (!atomic_compare_exchange_strong_explicit(&h->rest_at, &at, end, memory_order_acq_rel,
						     memory_order_acquire))
		start = at;
	if (start != end)
		return 0; /* the previous drainer wrote it */
	while ((size = rest_chunk(d, &rest, ++seq)) != 0) {
		int err = fd_pwrite(d->disk_fd, d->copy, size, start);

		if (err)
			return err;
		start += size;
		records += ((struct chunk_header *)(void *)d->copy)->nr_records;
	}
	RTL_TESTPOINT("drain_rest");
	if (atomic_compare_exchange_strong_explicit(&h->disk_end, &end, start, memory_order_acq_rel,
						    memory_order_acquire))
		atomic_fetch_add_explicit(&h->nr_records, records, memory_order_relaxed);
	return 0;
}

/* Whether the memory half names itself: else it stays where it is. */
static bool names_own_half(const struct drain *d)
{
	const struct spool_header *h = d->header;
	struct stat st;

	if (!h->mem_path[0] || !memchr(h->mem_path, 0, sizeof(h->mem_path)))
		return false;
	/* in its own process it was not opened here */
	return d->mem_ino ? lstat(h->mem_path, &st) == 0 && st.st_dev == d->mem_dev &&
				    st.st_ino == d->mem_ino :
			    drain_is_memory_half(h, "");
}

int drain_finish(struct drain *d)
{
	struct spool_header *h = d->header;
	uint64_t end;
	int err;

	if (drain_waiting(d, true))
		return -EAGAIN;
	if (!fd_is(d->disk_fd, d->disk_dev, d->disk_ino))
		return -EBADF;
	err = write_rest(d);
	if (err)
		return err;
	end = atomic_load_explicit(&h->disk_end, memory_order_acquire);
	/* removes a torn write after the end */
	if (ftruncate(d->disk_fd, (off_t)end) != 0)
		return -errno;
	atomic_store_explicit(&h->closed, 1, memory_order_release);
	err = write_header(d, true);
	if (err) {
		atomic_store_explicit(&h->closed, 0, memory_order_release);
		return err;
	}
	RTL_TESTPOINT("drain_closed");
	if (names_own_half(d) && unlink(h->mem_path) != 0 && errno != ENOENT)
		return -errno;
	return write_header(d, false);
}
