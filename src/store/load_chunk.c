/* SPDX-License-Identifier: MIT */
/* load_chunk.c - finds the chunks of a trace: on disk, in slots, and those drained while it reads
 *
 * Disk:   chunk after chunk, each checked by its CRC. Behind damage it searches for the next valid
 *         chunk at a multiple of 8. Carried chunks that are not in force are skipped.
 * Slots:  those listed when the trace was opened and not found on disk. A slot may be drained and
 *         reused while it is read: its sequence number, read again afterwards, shows that.
 * Late:   such chunks are now on disk, behind disk_end.
 */
#include "store/load_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"

#define HOLE_STEPS 8192 /* of 8 bytes, between two looks for a hole */

static uint32_t committed_of(const struct chunk_header *chunk)
{
	/* relaxed: a private copy */
	return atomic_load_explicit(&chunk->committed, memory_order_relaxed);
}

static const char *half_path(const struct load *load)
{
	return load->chunk_in_mem ? load->facts.mem_path : load->path;
}

int64_t load_read(int fd, void *buf, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buf + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

/* `size` bytes of the disk half at offset; NULL: *error is -errno, or 0 if the file ends before
 * them. */
static const uint8_t *read_window(struct load *load, uint64_t offset, size_t size, int *error)
{
	int64_t n;

	*error = 0;
	if (offset + size > load->end)
		return NULL;
	if (offset < load->buf_offset || offset + size > load->buf_offset + load->buf_size) {
		load->buf_size = 0;
		load->buf_offset = offset;
		n = load_read(load->disk_fd, load->buf, LOAD_BUFFER, offset);
		if (n < 0) {
			*error = (int)n;
			return NULL;
		}
		load->buf_size = (size_t)n;
		if ((size_t)n < size)
			return NULL;
	}
	return load->buf + (offset - load->buf_offset);
}

static struct load_want *find_want(struct load *load, uint64_t seq)
{
	size_t lo = 0, hi = load->nr_want;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (load->want[mid].seq < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < load->nr_want && load->want[lo].seq == seq ? &load->want[lo] : NULL;
}

static void count_damage(struct load *load, uint64_t nr)
{
	load->facts.loss[SPOOL_REASON_bad_chunk].count += nr;
}

static int read_failed(struct load *load, int error, uint64_t offset)
{
	load_warn(load, "%s: can't be read at offset %" PRIu64 ": %s", half_path(load), offset,
		  strerror(-error));
	return -EIO;
}

/* NULL and *out if the chunk at `offset` of the disk half is valid, else what is wrong with it. The
 * records of a packed one are then at load->unpacked. */
static const char *check_chunk(struct load *load, uint64_t offset, const uint8_t **out, int *error)
{
	struct chunk_header head;
	const uint8_t *bytes;
	uint32_t committed, stored;
	uint32_t crc;

	bytes = read_window(load, offset, sizeof(head), error);
	if (!bytes)
		return "is cut off";
	memcpy(&head, bytes, sizeof(head));
	committed = committed_of(&head);
	stored = pack_stored(&head);
	if (head.magic != CHUNK_MAGIC)
		return "does not begin with a chunk's magic";
	if (head.seq == 0)
		return "has sequence number 0";
	if (committed % 8 || committed > load->slot_size - sizeof(head) || stored % 8 ||
	    stored > load->slot_size - sizeof(head))
		return "has an impossible size";
	bytes = read_window(load, offset, sizeof(head) + stored, error);
	if (!bytes)
		return "is cut off";
	crc = head.crc;
	head.crc = 0;
	if (crc_add(crc_add(0, &head, sizeof(head)), bytes + sizeof(head), stored) != crc)
		return "does not match its CRC";
	if (head.stored && !pack_restore(load->unpacked, committed, bytes + sizeof(head), stored))
		return "can't be unpacked";
	*out = bytes;
	return NULL;
}

/* The offset itself, or where the hole of the file that it is in ends: a damaged size makes holes
 * of any length. */
static uint64_t skip_hole(const struct load *load, uint64_t offset)
{
	off_t data = lseek(load->disk_fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? load->end : offset;
	/* blocks begin at multiples of 8, as chunks do */
	return (uint64_t)data > offset ? (uint64_t)data & ~UINT64_C(7) : offset;
}

/* Finds the first valid chunk at or behind `offset`; load->end if there isn't one. */
static int find_next_valid(struct load *load, uint64_t offset, uint64_t *found)
{
	const uint8_t *bytes;
	int error;

	for (uint32_t steps = 0;; offset += 8) {
		uint32_t magic;

		if (steps++ % HOLE_STEPS == 0)
			offset = skip_hole(load, offset);
		bytes = read_window(load, offset, sizeof(struct chunk_header), &error);
		if (error < 0)
			return read_failed(load, error, offset);
		if (!bytes)
			break;
		memcpy(&magic, bytes, sizeof(magic));
		if (magic == CHUNK_MAGIC && !check_chunk(load, offset, &bytes, &error)) {
			*found = offset;
			return 0;
		}
		if (error < 0)
			return read_failed(load, error, offset);
	}
	*found = load->end;
	return 0;
}

static void set_chunk(struct load *load, const uint8_t *bytes, uint64_t offset, bool in_mem)
{
	memcpy(&load->chunk, bytes, sizeof(load->chunk));
	if (in_mem)
		load->chunk.stored = 0;
	load->payload = load->chunk.stored ? load->unpacked : bytes + sizeof(load->chunk);
	load->size = committed_of(&load->chunk);
	load->at = 0;
	load->nr_shapes = 0;
	load->chunk_offset = offset;
	load->chunk_in_mem = in_mem;
}

/* The bytes of a carried chunk at load->pos that is not in force (format.h, REMOVED CHUNKS); 0:
 * another one. */
static uint32_t carried_not_in_force(struct load *load)
{
	struct chunk_header head;
	int error;
	const uint8_t *bytes = read_window(load, load->pos, sizeof(head), &error);
	uint32_t stored;

	if (!bytes)
		return 0;
	memcpy(&head, bytes, sizeof(head));
	stored = pack_stored(&head);
	if (head.magic != CHUNK_MAGIC || !(head.seq & CHUNK_IS_CARRIED) || stored % 8 ||
	    stored > load->slot_size - sizeof(head) ||
	    stored + sizeof(head) > load->end - load->pos ||
	    (!load->skips_carried && (head.seq | (CHUNK_CARRIED_MAX - 1)) ==
					     CHUNK_CARRIED(load->first, CHUNK_CARRIED_MAX - 1)))
		return 0;
	return stored + (uint32_t)sizeof(head);
}

/* One chunk of the disk half at load->pos: 1, 0 at its end, -errno. */
static int next_on_disk(struct load *load)
{
	const uint8_t *bytes = NULL;
	const char *what;
	uint64_t found = load->end;
	int error;

	while (load->pos < load->end) {
		uint32_t skipped = carried_not_in_force(load);

		load->bytes_done += skipped;
		load->pos += skipped;
		if (skipped)
			continue;
		load->chunk_in_mem = false;
		what = check_chunk(load, load->pos, &bytes, &error);
		if (error < 0)
			return read_failed(load, error, load->pos);
		if (!what) {
			uint64_t offset = load->pos;

			set_chunk(load, bytes, offset, false);
			load->pos += sizeof(load->chunk) + pack_stored(&load->chunk);
			load->bytes_done += sizeof(load->chunk) + pack_stored(&load->chunk);
			return 1;
		}
		if (!load->skips_carried && load_is_stale(load)) {
			load_warn(load, "%s: chunks were removed while it was read; read it again",
				  load->path);
			return -ESTALE;
		}
		error = find_next_valid(load, load->pos + 8, &found);
		if (error < 0)
			return error;
		if (load->phase == LOAD_PHASE_DISK) {
			count_damage(load, 1);
			load_warn(load,
				  "%s: the chunk at offset %" PRIu64 " %s: %" PRIu64
				  " bytes left out; their records are lost",
				  load->path, load->pos, what, found - load->pos);
		}
		load->bytes_done += found - load->pos;
		load->pos = found;
	}
	return 0;
}

static int next_disk(struct load *load)
{
	int ret = next_on_disk(load);

	if (ret == 1 && load->nr_want) {
		struct load_want *want = find_want(load, load->chunk.seq);

		if (want)
			want->seen = true;
	}
	if (ret == 0 && load->cut) {
		count_damage(load, 1);
		load_warn(load,
			  "%s: cut off at offset %" PRIu64 ": %" PRIu64
			  " bytes that its header counts are missing",
			  load->path, load->end, load->cut);
	}
	return ret;
}

/* Reads the slot of `want`: 1, 0 if it has been reused, -errno. */
static int read_slot(struct load *load, struct load_want *want)
{
	uint64_t offset = load->slots_offset + (uint64_t)want->slot * load->slot_size;
	size_t size = sizeof(struct chunk_header) + want->committed;
	struct chunk_header after;
	int64_t n;

	load->chunk_in_mem = true;
	load->buf_size = 0; /* the window is overwritten */
	n = load_read(load->mem_fd, load->buf, size, offset);
	if (n == (int64_t)size) {
		/* the writer changes the number before it fills the slot again: if it is the same
		 * now, the bytes read above are of that chunk */
		n = load_read(load->mem_fd, &after, sizeof(after), offset);
		if (n == (int64_t)sizeof(after) && after.seq == want->seq &&
		    after.magic == CHUNK_MAGIC) {
			set_chunk(load, load->buf, offset, true);
			if (load->chunk.seq != want->seq)
				return 0;
			load->size = want->committed;
			return 1;
		}
	}
	return n < 0 ? read_failed(load, (int)n, offset) : 0;
}

static int next_slot(struct load *load)
{
	while (load->slot_idx < load->nr_want) {
		struct load_want *want = &load->want[load->slot_idx++];
		int ret;

		load->bytes_done += want->committed;
		if (want->seen)
			continue;
		ret = read_slot(load, want);
		if (ret < 0)
			return ret;
		if (ret == 0)
			continue;
		want->seen = true;
		return 1;
	}
	return 0;
}

static bool all_seen(const struct load *load)
{
	for (size_t i = 0; i < load->nr_want; i++) {
		if (!load->want[i].seen)
			return false;
	}
	return true;
}

/* Chunks that were in a slot at load_open() and have been drained to disk since. */
static int next_late(struct load *load)
{
	for (;;) {
		struct load_want *want;
		int ret = next_on_disk(load);

		if (ret <= 0)
			return ret;
		want = find_want(load, load->chunk.seq);
		if (!want || want->seen)
			continue;
		want->seen = true;
		if (load->size > want->committed)
			load->size = want->committed;
		return 1;
	}
}

/* A chunk of what was in flight: 1, 0 at the end. No drainer has made it, so that it has no CRC. */
static int next_rest(struct load *load)
{
	struct chunk_header head = { .magic = CHUNK_MAGIC, .seq = load->rest_seq + 1 };
	uint32_t size = 0, n;

	while (load->rest_map && load->slot_size - sizeof(head) - size >= REST_MAX_SIZE &&
	       (n = rest_next(&load->rest, load->buf + sizeof(head) + size)) != 0) {
		size += n;
		head.nr_records++;
	}
	if (!size)
		return 0;
	atomic_store_explicit(&head.committed, size, memory_order_relaxed); /* our own */
	memcpy(load->buf, &head, sizeof(head));
	load->rest_seq++;
	set_chunk(load, load->buf, 0, true);
	return 1;
}

static void enter_phase(struct load *load, enum load_phase phase)
{
	struct stat st;

	load->phase = phase;
	load->buf_size = 0;
	if (phase == LOAD_PHASE_REST && load->rest_map) {
		rest_begin(&load->rest, load->rest_map, load->rest_size);
		load->rest_seq =
			atomic_load_explicit(&load->rest_map->next_seq, memory_order_relaxed);
	}
	if (phase != LOAD_PHASE_LATE)
		return;
	load->pos = load->disk_end;
	load->end = load->disk_end;
	if (!all_seen(load) && load->disk_fd >= 0 && fstat(load->disk_fd, &st) == 0 &&
	    (uint64_t)st.st_size > load->disk_end)
		load->end = (uint64_t)st.st_size;
}

static void count_unseen(struct load *load)
{
	for (size_t i = 0; i < load->nr_want; i++) {
		if (load->want[i].seen)
			continue;
		count_damage(load, 1);
		load_warn(load,
			  "%s: chunk %" PRIu64 " was drained while the trace was read and is not "
			  "on disk; read it again when the program has ended",
			  load->path, load->want[i].seq);
	}
}

int load_chunk_next(struct load *load)
{
	int ret;

	load->shape = NULL;
	for (;;) {
		switch (load->phase) {
		case LOAD_PHASE_DISK:
			ret = load->disk_fd >= 0 ? next_disk(load) : 0;
			break;
		case LOAD_PHASE_SLOTS:
			ret = next_slot(load);
			break;
		case LOAD_PHASE_LATE:
			ret = next_late(load);
			break;
		case LOAD_PHASE_REST:
			ret = next_rest(load);
			break;
		default:
			return 0;
		}
		if (ret != 0)
			return ret;
		if (load->phase == LOAD_PHASE_LATE)
			count_unseen(load);
		enter_phase(load, load->phase + 1);
	}
}

void load_chunk_damaged(struct load *load, const char *what)
{
	count_damage(load, 1);
	if (load->chunk.stored)
		load_warn(load,
			  "%s: the record at byte %" PRIu32
			  " of the packed chunk at offset %" PRIu64
			  " %s: the rest of its chunk, %" PRIu32 " bytes, left out",
			  half_path(load), load->at, load->chunk_offset, what,
			  load->size - load->at);
	else
		load_warn(load,
			  "%s: the record at offset %" PRIu64 " %s: the rest of its chunk, %" PRIu32
			  " bytes, left out",
			  half_path(load), load->chunk_offset + sizeof(load->chunk) + load->at,
			  what, load->size - load->at);
	load->at = load->size;
}
