/* SPDX-License-Identifier: MIT */
/* load.c - opens a trace, determines its state, and returns its records one by one
 *
 * Owns:     the descriptors of both halves; nothing is mapped, so that a file that shrinks while it
 *           is read gives a short read, not a signal.
 * Threads:  one.
 * Fails:    a file that is not a trace is refused with the reason; damaged chunks are skipped and
 *           counted.
 * Format:   spool/format.h.
 * Not here: where chunks lie (load_chunk.c), what records mean (index.c), draining (spool/drain.h).
 */
#include "store/load_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "records_check_gen.h"

#define BLOCKS_MAX (UINT64_C(1) << 28) /* bytes of what is in flight */

__attribute__((format(printf, 2, 3))) static void set_error(struct load_error *err, const char *fmt,
							    ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
}

/* Sets the reason why `bytes` are not the header of a trace that this version reads. */
static void explain_foreign(struct load_error *err, const char *path, const unsigned char *bytes,
			    int64_t size)
{
	uint64_t magic = 0;
	uint32_t version = 0;

	if (size >= 8)
		memcpy(&magic, bytes, 8);
	if (size >= 12)
		memcpy(&version, bytes + 8, 4);
	if (size == 0)
		set_error(
			err,
			"%s: is empty: no trace was written to it; look for another .rtl file, or "
			"trace the program again",
			path);
	else if (size >= 15 && memcmp(bytes, "SQLite format 3", 15) == 0)
		set_error(err,
			  "%s: is an SQLite database, not a spool: use it as it is (rtl info, rtl "
			  "summary, rtl merge)",
			  path);
	else if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		set_error(err, "%s: is compressed with gzip: unpack it first (gunzip)", path);
	else if (size >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
		set_error(err, "%s: is a program or library, not a spool; spools end in .rtl",
			  path);
	else if (magic == __builtin_bswap64(SPOOL_MAGIC))
		set_error(err,
			  "%s: was written on a big-endian machine, which this program does not "
			  "read; read it there",
			  path);
	else if (magic == SPOOL_MAGIC && size >= 12 && !SPOOL_IS_READ(version))
		set_error(err,
			  "%s: is a spool of format version %" PRIu32
			  " (offset 8); this program reads "
			  "versions 1 to %d: use the rtl that belongs to the library that wrote it",
			  path, version, SPOOL_VERSION);
	else if (magic == SPOOL_MAGIC && size < (int64_t)SPOOL_HEADER_SIZE)
		set_error(err,
			  "%s: is cut off at offset %" PRId64
			  " within the header of %u bytes: nothing "
			  "can be read from it; was the disk full, or the copy interrupted?",
			  path, size, SPOOL_HEADER_SIZE);
	else if (size < 8)
		set_error(err, "%s: is not a spool: %" PRId64 " bytes long; spools end in .rtl",
			  path, size);
	else
		set_error(err,
			  "%s: is not a spool: begins with %02x %02x %02x %02x %02x %02x %02x %02x "
			  "instead of \"RTLSPOOL\" (offset 0); spools end in .rtl",
			  path, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5],
			  bytes[6], bytes[7]);
}

static int open_file(const char *path, int flags, struct load_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);

	if (fd < 0) {
		int error = errno;

		set_error(err, "%s: can't be opened: %s", path, strerror(error));
		return -error;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		bool dir = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);

		close(fd);
		if (dir)
			set_error(
				err,
				"%s: is a directory: name the .rtl files in it, or use rtl recover",
				path);
		else
			set_error(err, "%s: is %s; a raw trace is a file", path,
				  fd_kind(st.st_mode));
		return dir ? -EISDIR : -EINVAL;
	}
	return fd;
}

/* The header of the half at fd, checked. 0 or -errno with err. */
static int read_header(int fd, const char *path, struct spool_header *h, struct load_error *err)
{
	int64_t n = load_read(fd, h, sizeof(*h), 0);

	if (n < 0) {
		set_error(err, "%s: can't be read at offset 0: %s", path, strerror((int)-n));
		return (int)n;
	}
	if (n < (int64_t)sizeof(*h) || h->magic != SPOOL_MAGIC || !SPOOL_IS_READ(h->version)) {
		explain_foreign(err, path, (const unsigned char *)h, n);
		return -EINVAL;
	}
	if (h->header_size != SPOOL_HEADER_SIZE || h->slot_size < SPOOL_PAGE ||
	    h->slot_size > LOAD_MAX_SLOT || h->slot_size % 8) {
		set_error(err,
			  "%s: the header is damaged: header size %" PRIu32
			  " (offset 12), slot size "
			  "%" PRIu32 " (offset 60); restore the file, or leave it out",
			  path, h->header_size, h->slot_size);
		return -EINVAL;
	}
	h->boot_id[sizeof(h->boot_id) - 1] = '\0';
	h->mem_path[sizeof(h->mem_path) - 1] = '\0';
	h->disk_path[sizeof(h->disk_path) - 1] = '\0';
	return 0;
}

#define GET(field) atomic_load_explicit(&(field), memory_order_relaxed) /* a copy of our own */

static void take_facts(struct load *load, const struct spool_header *h, bool closed)
{
	struct load_facts *f = &load->facts;

	f->version = h->version;
	f->pid = h->pid;
	f->ppid = h->ppid;
	f->clock_id = GET(h->clock_id);
	f->end_kind = GET(h->end_kind);
	f->end_status = GET(h->end_status);
	memcpy(f->trace_id, h->trace_id, sizeof(f->trace_id));
	f->start_ns = h->start_ns;
	f->proc_start_ticks = h->proc_start_ticks;
	f->end_ns = GET(h->end_ns);
	f->rest_at = GET(h->rest_at);
	memcpy(f->boot_id, h->boot_id, sizeof(f->boot_id));
	for (size_t i = 0; i < SPOOL_MAX_REASONS; i++) {
		f->loss[i].count = GET(h->loss[i].count);
		f->loss[i].first_ns = GET(h->loss[i].first_ns);
		f->loss[i].last_ns = GET(h->loss[i].last_ns);
	}
	/* the reader counts these itself */
	memset(&f->loss[SPOOL_REASON_bad_chunk], 0, sizeof(f->loss[0]));
	f->state = load_state_of(f, closed);
}

/* Whether both halves have one owner, or this user owns the other half: a file system for all users
 * may hold anything under its name. */
static bool is_of_one_owner(int own_fd, int other_fd)
{
	struct stat own, other;

	return fstat(own_fd, &own) == 0 && fstat(other_fd, &other) == 0 &&
	       (own.st_uid == other.st_uid || other.st_uid == geteuid());
}

/* Opens the other half of the trace `own`: at `named`, or beside own_path with another suffix. */
static int open_other(const char *own_path, int own_fd, const char *suffix, const char *named,
		      const struct spool_header *own, struct spool_header *other, char *found)
{
	char beside[PATH_MAX];
	const char *paths[2] = { named, beside };
	size_t len = strlen(own_path);

	beside[0] = '\0';
	if (len > 4 && own_path[len - 4] == '.' && len < sizeof(beside))
		snprintf(beside, sizeof(beside), "%.*s%s", (int)(len - 4), own_path, suffix);
	for (int i = 0; i < 2; i++) {
		int fd = paths[i][0] ? open_file(paths[i], O_NOFOLLOW, NULL) : -1;

		if (fd < 0)
			continue;
		if (is_of_one_owner(own_fd, fd) && read_header(fd, paths[i], other, NULL) == 0 &&
		    memcmp(other->trace_id, own->trace_id, sizeof(own->trace_id)) == 0) {
			snprintf(found, SPOOL_NAME_SIZE, "%s", paths[i]);
			return fd;
		}
		close(fd);
	}
	return -1;
}

static int compare_want(const void *a, const void *b)
{
	const struct load_want *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Lists the chunks in the memory half. It runs before disk_end is read: a chunk that is drained
 * between the two is then found twice, never missed. */
static int list_slots(struct load *load, const struct spool_header *h, struct load_error *err)
{
	struct slot_desc *desc;
	struct stat st;
	uint32_t nr = h->nr_slots;
	int64_t n;

	load->slots_offset = h->slots_offset;
	load->desc_offset = h->desc_offset;
	if (fstat(load->mem_fd, &st) < 0)
		return -errno;
	if (h->desc_offset >= (uint64_t)st.st_size || h->slots_offset > (uint64_t)st.st_size ||
	    h->slots_offset % 8) {
		set_error(err,
			  "%s: the header is damaged: slots at offset %" PRIu32 " of %lld bytes",
			  load->facts.mem_path, h->slots_offset, (long long)st.st_size);
		return -EINVAL;
	}
	if (nr > ((uint64_t)st.st_size - h->desc_offset) / sizeof(*desc))
		nr = (uint32_t)(((uint64_t)st.st_size - h->desc_offset) / sizeof(*desc));
	desc = alloc_zero(nr ? nr : 1, sizeof(*desc));
	load->want = alloc_zero(nr ? nr : 1, sizeof(*load->want));
	if (!desc || !load->want) {
		alloc_free(desc);
		return -ENOMEM;
	}
	n = load_read(load->mem_fd, desc, nr * sizeof(*desc), h->desc_offset);
	for (uint32_t i = 0; n > 0 && i < (uint64_t)n / sizeof(*desc); i++) {
		uint32_t state = GET(desc[i].state);
		uint64_t at = h->slots_offset + (uint64_t)i * h->slot_size;
		struct chunk_header chunk;
		uint32_t committed;

		if (state != SLOT_OPEN && state != SLOT_SEALED && state != SLOT_DRAINING)
			continue;
		if (load_read(load->mem_fd, &chunk, sizeof(chunk), at) != (int64_t)sizeof(chunk))
			continue;
		committed = GET(chunk.committed);
		/* taken, but its head is not written: the slot is empty */
		if (chunk.magic != CHUNK_MAGIC || chunk.seq == 0 || committed == 0)
			continue;
		if (committed % 8 || committed > h->slot_size - sizeof(chunk)) {
			load->bad_slots++;
			load_warn(load,
				  "%s: the chunk at offset %" PRIu64
				  " has an impossible size: left out",
				  load->facts.mem_path, at);
			continue;
		}
		load->want[load->nr_want++] =
			(struct load_want){ .seq = chunk.seq, .slot = i, .committed = committed };
	}
	alloc_free(desc);
	qsort(load->want, load->nr_want, sizeof(*load->want), compare_want);
	return 0;
}

/* A number of the memory half's header, which is up to date; of the disk half's without one. 0 if
 * it can't be read. */
static uint64_t read_counter(const struct load *load, size_t offset)
{
	uint64_t value = 0;
	int fd = load->facts.has_mem ? load->mem_fd : load->disk_fd;

	return load_read(fd, &value, sizeof(value), offset) == (int64_t)sizeof(value) ? value : 0;
}

bool load_is_stale(const struct load *load)
{
	return read_counter(load, offsetof(struct spool_header, kept_from)) > load->facts.kept_from;
}

struct carried {
	struct chunk_header chunk;
	struct rec_evicted rec;
};

/* The first carried chunk in force, which is at `at`. */
static bool read_carried(const struct load *load, uint64_t at, struct carried *out)
{
	return load_read(load->disk_fd, out, sizeof(*out), at) == (int64_t)sizeof(*out) &&
	       out->chunk.magic == CHUNK_MAGIC && out->chunk.seq == CHUNK_CARRIED(load->first, 0) &&
	       out->rec.h.type == REC_EVICTED && out->rec.h.size8 * 8u >= sizeof(out->rec);
}

/* The latest time in removed chunks; 0: not known. While the next removal comes into force, or
 * after a kill in it, `carried_at` is that of the next chunks already. */
static uint64_t read_window_ns(const struct load *load, uint64_t end)
{
	uint64_t at = read_counter(load, offsetof(struct spool_header, carried_at));
	struct carried carried;

	if (read_carried(load, at, &carried))
		return carried.rec.last_ns;
	for (at = load->first; at < end;) {
		memset(&carried, 0, sizeof(carried));
		if (read_carried(load, at, &carried))
			return carried.rec.last_ns;
		if (carried.chunk.magic != CHUNK_MAGIC)
			return 0;
		at += sizeof(carried.chunk) + pack_stored(&carried.chunk);
	}
	return 0;
}

/* Determines which part of the disk half is read. The memory half's header is up to date, the disk
 * half's may be older. `kept_from` is read first: what replaces the chunks before it is in front of
 * disk_end. */
static int measure_disk(struct load *load, const struct spool_header *disk)
{
	uint64_t kept = read_counter(load, offsetof(struct spool_header, kept_from));
	uint64_t end = GET(disk->disk_end), again;
	struct stat st;

	again = read_counter(load, offsetof(struct spool_header, disk_end));
	if (again > end)
		end = again;
	if (fstat(load->disk_fd, &st) < 0)
		return -errno;
	if (end < SPOOL_HEADER_SIZE)
		end = SPOOL_HEADER_SIZE;
	if (kept > SPOOL_HEADER_SIZE && kept <= end && kept % 8 == 0) {
		load->facts.kept_from = load->first = kept;
		load->facts.is_converted =
			read_counter(load, offsetof(struct spool_header, converted)) >= kept;
		if (!load->facts.is_converted)
			load->facts.window_ns = read_window_ns(load, end);
	}
	load->disk_end = end;
	if (end > (uint64_t)st.st_size) {
		load->disk_end = (uint64_t)st.st_size;
		load->cut = end - (uint64_t)st.st_size;
	}
	return 0;
}

/* The headers of the two halves: `own` of the file that the caller named, `other` of the half that
 * was found. */
struct halves {
	struct spool_header own, other;
	const struct spool_header *disk, *mem;
	bool closed;
};

static int from_mem(struct load *load, const char *path, struct halves *h)
{
	load->mem_fd = load->disk_fd;
	snprintf(load->facts.mem_path, SPOOL_NAME_SIZE, "%s", path);
	load->disk_fd = open_other(path, load->mem_fd, ".rtl", h->own.disk_path, &h->own, &h->other,
				   load->facts.disk_path);
	if (load->disk_fd >= 0)
		snprintf(load->path, sizeof(load->path), "%s", load->facts.disk_path);
	h->mem = &h->own;
	h->disk = load->disk_fd >= 0 ? &h->other : NULL;
	h->closed = GET(h->own.closed) || (h->disk && GET(h->disk->closed));
	return 0;
}

static int from_disk(struct load *load, const char *path, struct halves *h, struct load_error *err)
{
	int ret = 0;

	snprintf(load->facts.disk_path, SPOOL_NAME_SIZE, "%s", path);
	h->disk = &h->own;
	h->closed = GET(h->own.closed) != 0;
	if (h->closed)
		return 0;
	load->mem_fd = open_other(path, load->disk_fd, ".mem", h->own.mem_path, &h->own, &h->other,
				  load->facts.mem_path);
	h->mem = load->mem_fd >= 0 ? &h->other : NULL;
	if (h->mem)
		return 0;
	/* the process may have ended normally between the two reads */
	ret = read_header(load->disk_fd, path, &h->own, err);
	h->closed = ret == 0 && GET(h->own.closed);
	load->facts.mem_missing = !h->closed;
	if (load->facts.mem_missing)
		snprintf(load->facts.mem_path, SPOOL_NAME_SIZE, "%s", h->own.mem_path);
	return ret;
}

static int open_halves(struct load *load, const char *path, struct halves *h,
		       struct load_error *err)
{
	size_t len = strlen(path);
	int ret;

	load->disk_fd = open_file(path, 0, err);
	if (load->disk_fd < 0)
		return load->disk_fd;
	ret = read_header(load->disk_fd, path, &h->own, err);
	if (ret == 0)
		ret = len > 4 && strcmp(path + len - 4, ".mem") == 0 ?
			      from_mem(load, path, h) :
			      from_disk(load, path, h, err);
	if (ret < 0)
		return ret;
	load->slot_size = h->own.slot_size;
	load->max_shapes = load_max_shapes(load);
	load->shapes = alloc_zero(load->max_shapes, sizeof(*load->shapes));
	load->unpacked = alloc_heap(load->slot_size);
	if (!load->shapes || !load->unpacked)
		return -ENOMEM;
	load->facts.has_disk = h->disk != NULL;
	load->facts.has_mem = h->mem != NULL && !h->closed;
	take_facts(load, load->facts.has_mem ? h->mem : h->disk ? h->disk : h->mem, h->closed);
	if (load->facts.has_mem)
		ret = list_slots(load, h->mem, err);
	if (ret == -EINVAL && h->disk) {
		/* the disk half can be read alone */
		load_warn(load, "%s", err->text);
		load->facts.has_mem = false;
		load->facts.mem_missing = true;
		err->text[0] = '\0';
		ret = 0;
	}
	if (ret == 0 && h->disk)
		ret = measure_disk(load, h->disk);
	/* the memory half's header was read before its slots were listed */
	load->safe = load->disk_end;
	if (load->facts.has_mem && GET(h->mem->disk_end) < load->safe)
		load->safe = GET(h->mem->disk_end);
	if (load->facts.rest_at && load->facts.rest_at < load->safe)
		load->safe = load->facts.rest_at;
	return ret;
}

int load_open(struct load **out, const char *path, struct load_error *err)
{
	struct load *load = alloc_zero(1, sizeof(*load));
	/* 16 KiB: too large for a small stack */
	struct halves *halves = alloc_zero(1, sizeof(*halves));
	int ret = -ENOMEM;

	*out = NULL;
	err->text[0] = '\0';
	if (load) {
		load->disk_fd = -1;
		load->mem_fd = -1;
		load->first = SPOOL_HEADER_SIZE;
		load->buf = alloc_heap(LOAD_BUFFER);
		snprintf(load->path, sizeof(load->path), "%s", path);
		if (load->buf)
			ret = halves ? open_halves(load, path, halves, err) : -ENOMEM;
	}
	alloc_free(halves);
	if (ret < 0) {
		if (!err->text[0])
			set_error(err, "%s: %s", path, strerror(-ret));
		load_close(load);
		return ret;
	}
	load_rewind(load);
	*out = load;
	return 0;
}

void load_close(struct load *load)
{
	if (!load)
		return;
	if (load->disk_fd >= 0)
		close(load->disk_fd);
	if (load->mem_fd >= 0)
		close(load->mem_fd);
	if (load->rest_map)
		munmap((void *)(uintptr_t)load->rest_map, load->rest_size);
	alloc_free(load->want);
	alloc_free(load->shapes);
	alloc_free(load->unpacked);
	alloc_free(load->buf);
	alloc_free(load);
}

bool load_is_over(const struct load_facts *facts)
{
	return facts->state == LOAD_KILLED || facts->end_kind == SPOOL_END_EXIT ||
	       facts->end_kind == SPOOL_END_CLOSED;
}

/* Copies the header and the blocks of the memory half to the same offsets of `map`: the file may be
 * cut meanwhile. 0 or -errno. */
static int read_blocks(const struct load *load, uint8_t *map, size_t size)
{
	const struct spool_header *h = (const struct spool_header *)(const void *)map;
	int64_t n = load_read(load->mem_fd, map, sizeof(*h), 0);
	uint64_t used;

	if (n < (int64_t)sizeof(*h))
		return n < 0 ? (int)n : -EIO;
	used = GET(h->blocks_used);
	/* rest_begin() takes others for damage */
	if (h->blocks_offset < SPOOL_HEADER_SIZE || h->blocks_offset > size ||
	    used > size - h->blocks_offset || used > BLOCKS_MAX)
		return 0;
	n = load_read(load->mem_fd, map + h->blocks_offset, used, h->blocks_offset);
	return n < 0 ? (int)n : 0;
}

int load_add_rest(struct load *load)
{
	const struct load_facts *f = &load->facts;
	struct stat st;
	void *map;
	int err;

	if (!f->has_mem || !load_is_over(f) || (f->rest_at && f->rest_at < load->disk_end))
		return 0;
	if (fstat(load->mem_fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < sizeof(struct spool_header))
		return 0;
	/* pages that are not read take no memory */
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	err = read_blocks(load, map, (size_t)st.st_size);
	if (err) {
		munmap(map, (size_t)st.st_size);
		return err;
	}
	load->rest_map = map;
	load->rest_size = (size_t)st.st_size;
	return 0;
}

void load_rewind(struct load *load)
{
	load->phase = LOAD_PHASE_DISK;
	load->pos = load->first;
	load->end = load->disk_end;
	load->slot_idx = 0;
	load->buf_size = 0;
	load->bytes_done = 0;
	load->unknown = 0;
	load->facts.loss[SPOOL_REASON_bad_chunk].count = load->bad_before + load->bad_slots;
	load->size = 0;
	load->at = 0;
	load->nr_shapes = 0;
	load->shape = NULL;
	for (size_t i = 0; i < load->nr_want; i++)
		load->want[i].seen = false;
}

void load_rewind_to(struct load *load, uint64_t offset)
{
	load_rewind(load);
	if (offset > load->pos)
		load->pos = offset < load->disk_end ? offset : load->disk_end;
}

uint64_t load_disk_end(const struct load *load)
{
	return load->disk_end;
}

uint32_t load_at(const struct load *load)
{
	return load->at;
}

bool load_is_final(const struct load *load)
{
	return load->phase == LOAD_PHASE_DISK;
}

void load_begin_at(struct load *load, uint64_t offset, uint64_t bad_chunks)
{
	load->first = offset;
	load->skips_carried = true;
	load->bad_before = bad_chunks;
	load_rewind(load);
}

uint64_t load_safe(const struct load *load)
{
	return load->safe;
}

bool load_is_before(const struct load *load, uint64_t offset)
{
	return load->phase == LOAD_PHASE_DISK && load->chunk_offset < offset;
}

uint64_t load_offset(const struct load *load)
{
	return load->chunk_offset;
}

void load_warn(struct load *load, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(load->warning, sizeof(load->warning), fmt, args);
	va_end(args);
}

static uint32_t pad8(uint32_t size)
{
	return (size + 7) & ~7u;
}

static bool note_shape(struct load *load, const struct rec_shape *shape)
{
	if (shape->h.id != load->nr_shapes || load->nr_shapes >= load->max_shapes)
		return false;
	load->shapes[load->nr_shapes++] = shape;
	return true;
}

static bool use_shape(struct load *load, uint32_t shape)
{
	if (shape >= load->nr_shapes)
		return false;
	load->shape = load->shapes[shape];
	return true;
}

int load_next(struct load *load, const struct rec_head **rec, const struct chunk_header **chunk)
{
	for (;;) {
		const struct rec_head *head;
		const char *what;
		uint32_t size;

		if (load->at >= load->size) {
			int ret = load_chunk_next(load);

			if (ret <= 0)
				return ret;
			continue;
		}
		head = (const struct rec_head *)(const void *)(load->payload + load->at);
		size = head->size8 * 8u;
		if (size == 0 || size > load->size - load->at) {
			load_chunk_damaged(load, size ? "reaches beyond its chunk" : "has size 0");
			continue;
		}
		if (!least[head->type].bytes) {
			load->unknown++;
			load->at += size;
			continue;
		}
		if (size < pad8(least[head->type].bytes)) {
			load_chunk_damaged(load, least[head->type].what);
			continue;
		}
		what = check_record(load, head, size);
		if (what) {
			load_chunk_damaged(load, what);
			continue;
		}
		load->at += size;
		if (head->type == REC_EVICTED) /* chunks that were damaged when they were removed */
			load->facts.loss[SPOOL_REASON_bad_chunk].count += head->id;
		*rec = head;
		if (chunk)
			*chunk = &load->chunk;
		return 1;
	}
}

const struct rec_shape *load_shape(const struct load *load)
{
	return load->shape;
}

const struct load_facts *load_facts(const struct load *load)
{
	return &load->facts;
}

uint64_t load_size(const struct load *load)
{
	uint64_t size = load->disk_end > load->first ? load->disk_end - load->first : 0;

	for (size_t i = 0; i < load->nr_want; i++)
		size += load->want[i].committed;
	return size;
}

uint64_t load_pos(const struct load *load)
{
	return load->bytes_done;
}

uint64_t load_unknown(const struct load *load)
{
	return load->unknown;
}

const char *load_warning(const struct load *load)
{
	return load->warning;
}

const char *load_clock_name(uint32_t id)
{
	switch (id) {
	case SPOOL_CLOCK_BOOTTIME:
		return "BOOTTIME";
	case SPOOL_CLOCK_MONOTONIC:
		return "MONOTONIC";
	case SPOOL_CLOCK_MONOTONIC_RAW:
		return "MONOTONIC_RAW";
	case SPOOL_CLOCK_REALTIME:
		return "REALTIME";
	default:
		return "";
	}
}
