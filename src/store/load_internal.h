/* SPDX-License-Identifier: MIT */
/* load_internal.h - shared by load.c (opening, headers) and load_chunk.c (chunks, records) */
#ifndef RTL_STORE_LOAD_INTERNAL_H
#define RTL_STORE_LOAD_INTERNAL_H

#include <limits.h>

#include "spool/pack.h"
#include "spool/rest.h"
#include "store/load.h"

#define LOAD_BUFFER (1024u * 1024u) /* holds the largest chunk */
#define LOAD_MAX_SLOT LOAD_BUFFER

/* A chunk that was in the memory half when the trace was opened. */
struct load_want {
	uint64_t seq;
	uint32_t slot, committed;
	bool seen; /* in this pass */
};

enum load_phase {
	LOAD_PHASE_DISK,  /* chunks that were on disk when the trace was opened */
	LOAD_PHASE_SLOTS, /* chunks of the memory half */
	LOAD_PHASE_LATE,  /* chunks that were drained from there to the disk since */
	LOAD_PHASE_REST,  /* what was in flight, of load_add_rest() */
	LOAD_PHASE_END,
};

struct load {
	/* set in load_open, constant after */
	char path[PATH_MAX];
	int disk_fd, mem_fd; /* -1: not there */
	uint64_t first;	     /* offset of the first chunk that is read */
	uint64_t safe;	     /* load_safe() */
	bool skips_carried;  /* all carried chunks, also those in force */
	uint64_t bad_before; /* damaged chunks in front of it */
	uint64_t disk_end;   /* where the part of the disk half that is read ends */
	uint64_t cut; /* bytes behind disk_end that the header counts but the file does not have */
	uint32_t slot_size, slots_offset, desc_offset;
	uint32_t max_shapes;	/* in a chunk */
	struct load_want *want; /* sorted by seq */
	size_t nr_want;
	uint32_t bad_slots;
	const struct spool_header
		*rest_map; /* a copy of the memory half, of load_add_rest(); NULL: none */
	size_t rest_size;

	/* this pass */
	enum load_phase phase;
	uint64_t pos, end; /* in the disk half */
	size_t slot_idx;
	struct rest rest;
	uint64_t rest_seq;
	uint8_t *buf;	   /* a window of the disk half, or a slot */
	uint8_t *unpacked; /* the records of a packed chunk */
	uint64_t buf_offset;
	size_t buf_size; /* bytes that are valid */
	uint64_t bytes_done;
	uint64_t unknown;

	/* the chunk being read */
	struct chunk_header chunk;
	const uint8_t *payload;
	uint64_t chunk_offset; /* in its file, for messages */
	bool chunk_in_mem;
	uint32_t size, at;
	const struct rec_shape **shapes;
	uint32_t nr_shapes;
	const struct rec_shape *shape; /* of the record last returned */

	struct load_facts facts;
	char warning[PATH_MAX + 256];
};

static inline uint32_t load_max_shapes(const struct load *load)
{
	return load->slot_size / (uint32_t)sizeof(struct rec_shape);
}

/* The next valid chunk: 1, 0 at the end, -errno. */
int load_chunk_next(struct load *load);
/* Sets the text of load_warning(). */
void load_warn(struct load *load, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Skips the rest of the current chunk and counts it. */
void load_chunk_damaged(struct load *load, const char *what);
/* The present state of the process that `facts` name. */
enum load_state load_state_of(const struct load_facts *facts, bool closed);
/* Whether chunks that are to be read have been removed since load_open(). */
bool load_is_stale(const struct load *load);
/* Up to size bytes at offset; bytes read, fewer only at the end of the file, or -errno. */
int64_t load_read(int fd, void *buf, size_t size, uint64_t offset);

#endif
