/* SPDX-License-Identifier: MIT */
/* spool_read.h - reads both halves of a spool strictly, for tests of its writers
 *
 * Unlike the product's reader (store/load.c) it fails the test on any damage.
 */
#ifndef RTL_SUPPORT_SPOOL_READ_H
#define RTL_SUPPORT_SPOOL_READ_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "spool/pack.h"
#include "support/test.h"

#define READ_MAX_SEQ (1u << 20)

struct spool_read {
	struct spool_header header;
	uint64_t nr[REC_NR_TYPES]; /* records by type */
	uint64_t nr_records;
	uint64_t nr_chunks;
	uint64_t lost; /* of every reason of class LOSS that the recorder counts */
	uint8_t seen[READ_MAX_SEQ];
	void (*each)(const struct rec_head *rec);
	uint64_t size;
};

static inline uint64_t read_loss(const struct spool_read *r, enum spool_reason reason)
{
	return r->header.loss[reason].count;
}

static inline void read_chunk(struct spool_read *r, const struct chunk_header *c, uint32_t size)
{
	const uint8_t *p = (const uint8_t *)(c + 1);
	const uint8_t *end = p + size;

	CHECK_LT_UINT(c->seq, READ_MAX_SEQ);
	CHECK_NE_UINT(c->seq, 0);
	CHECK_EQ_UINT(size % 8, 0);
	r->seen[c->seq] = 1;
	r->nr_chunks++;
	while (p < end) {
		const struct rec_head *h = (const struct rec_head *)(const void *)p;

		CHECK_GT_UINT(h->size8, 0);
		CHECK_LE_UINT(h->size8 * 8u, (size_t)(end - p));
		CHECK_GE_UINT(h->type, REC_STRING);
		CHECK_LT_UINT(h->type, REC_NR_TYPES);
		r->nr[h->type]++;
		r->nr_records++;
		if (r->each)
			r->each(h);
		p += h->size8 * 8u;
	}
}

/* The same, as the chunk is on disk. */
static inline void read_packed(struct spool_read *r, const struct chunk_header *c)
{
	static struct {
		struct chunk_header head;
		_Alignas(8) uint8_t records[CHUNK_PAYLOAD];
	} copy;

	if (!c->stored) {
		read_chunk(r, c, c->committed);
		return;
	}
	copy.head = *c;
	CHECK_LE_UINT(c->committed, sizeof(copy.records));
	CHECK(pack_restore(copy.records, c->committed, (const uint8_t *)(c + 1), c->stored));
	read_chunk(r, &copy.head, c->committed);
}

/* Maps a file whole; NULL when it is not there. */
static inline const uint8_t *read_map(const char *path, uint64_t *size)
{
	struct stat st;
	const uint8_t *p;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return NULL;
	CHECK_OK(fstat(fd, &st));
	*size = (uint64_t)st.st_size;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED);
	close(fd);
	return p;
}

static inline void read_memory_half(struct spool_read *r, const uint8_t *p)
{
	const struct spool_header *h = (const void *)p;

	for (uint32_t i = 0; i < h->nr_slots; i++) {
		const struct slot_desc *d = (const void *)(p + h->desc_offset + i * 8u);
		const struct chunk_header *c =
			(const void *)(p + h->slots_offset + (uint64_t)i * SLOT_SIZE);

		if (d->state < SLOT_OPEN || d->state > SLOT_DRAINING || r->seen[c->seq])
			continue;
		CHECK_EQ_UINT(c->magic, CHUNK_MAGIC);
		read_chunk(r, c, c->committed);
	}
}

/* Reads the disk half, and with `memory` the chunks that only the memory half has. Zero `r` but for
 * `each`. */
static inline void read_spool(struct spool_read *r, const char *path, bool memory)
{
	uint64_t at = SPOOL_HEADER_SIZE;
	const uint8_t *p = read_map(path, &r->size);
	const uint8_t *mem = NULL;
	uint64_t mem_size;
	uint64_t end;

	CHECK_MSG(p != NULL, "%s: not there", path);
	CHECK_GE_UINT(r->size, SPOOL_HEADER_SIZE);
	memcpy(&r->header, p, sizeof(r->header));
	CHECK_EQ_UINT(r->header.magic, SPOOL_MAGIC);
	if (memory && r->header.mem_path[0])
		mem = read_map(r->header.mem_path, &mem_size);
	/* the memory half's header is newer */
	if (mem)
		memcpy(&r->header, mem, sizeof(r->header));
	end = r->header.disk_end;
	CHECK_LE_UINT(end, r->size);
	if (r->header.closed)
		CHECK_EQ_UINT(end, r->size);
	while (at < end) {
		struct chunk_header c;
		uint32_t crc;

		memcpy(&c, p + at, sizeof(c));
		CHECK_EQ_UINT(c.magic, CHUNK_MAGIC);
		CHECK_MSG(c.seq < READ_MAX_SEQ && !r->seen[c.seq], "chunk %lu is there twice",
			  (unsigned long)c.seq);
		crc = c.crc;
		c.crc = 0;
		CHECK_EQ_UINT(crc_add(crc_add(0, &c, sizeof(c)), p + at + sizeof(c),
				      pack_stored(&c)),
			      crc);
		read_packed(r, (const struct chunk_header *)(const void *)(p + at));
		at += sizeof(c) + pack_stored(&c);
	}
	CHECK_EQ_UINT(at, end);
	if (mem) {
		read_memory_half(r, mem);
		munmap((void *)(uintptr_t)mem, mem_size);
	}
	munmap((void *)(uintptr_t)p, r->size);
}

/* The nth spool (*.rtl) in `dir`; NULL when there are fewer. */
static inline const char *read_find(const char *dir, int nth)
{
	static char path[1024];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);

		if (n < 4 || strcmp(e->d_name + n - 4, ".rtl") != 0 || nth-- > 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		closedir(d);
		return path;
	}
	if (d)
		closedir(d);
	return NULL;
}

static inline int read_count_files(const char *dir)
{
	int nr = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)) != NULL)
		nr += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return nr;
}

#endif
