/* SPDX-License-Identifier: MIT */
/* test_rest.c - blocks in the memory half, and what is read from them after the process's end */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "event/block.h"
#include "event/event.h"
#include "spool/rest.h"
#include "support/test.h"

#define BLOCKS (UINT64_C(64) << 10)
#define SIZE (SPOOL_HEADER_SIZE + BLOCKS)

static struct spool_header *half;
static int half_fd;
static uint64_t nr_populated;
static int populate_error;

static int populate(uint64_t offset, uint64_t bytes)
{
	CHECK_GE_UINT(offset, half->blocks_offset);
	nr_populated += bytes;
	return populate_error;
}

/* A memory half without slots. */
static void make_half(void)
{
	half_fd = memfd_create("half", MFD_CLOEXEC);
	CHECK_OK(ftruncate(half_fd, SIZE));
	half = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, half_fd, 0);
	CHECK(half != MAP_FAILED);
	half->blocks_offset = SPOOL_HEADER_SIZE;
	half->blocks_size = BLOCKS;
	nr_populated = 0;
	populate_error = 0;
	block_open(half, half_fd, populate);
}

/* Whether writes to the block reach the memory half. */
static bool is_in_half(const void *entries)
{
	struct spool_block *b = block_of(entries), *in;
	uint64_t used = atomic_load(&half->blocks_used), mark = b->reserved[1] + 1, at = 0;
	bool found = false;

	b->reserved[1] = mark;
	for (; at < used; at += in->size) {
		in = (struct spool_block *)((char *)half + half->blocks_offset + at);
		found = found || (in->reserved[1] == mark && in->size == b->size);
	}
	b->reserved[1] = mark - 1;
	return found;
}

static struct {
	union {
		struct rec_head head;
		struct rec_inflight inflight;
		struct rec_copy copy;
		struct rec_barrier barrier;
		struct rec_submitted submitted;
		struct rec_written written;
	} rec[64];
	uint32_t nr;
} got;

static void read_rest(void)
{
	static struct rest rest;
	_Alignas(8) uint8_t out[REST_MAX_SIZE];
	uint32_t size;

	got.nr = 0;
	rest_begin(&rest, half, SIZE);
	while ((size = rest_next(&rest, out)) != 0) {
		CHECK_LT_UINT(got.nr, 64);
		CHECK_EQ_UINT(size, ((struct rec_head *)(void *)out)->size8 * 8u);
		memcpy(&got.rec[got.nr++], out, size);
	}
}

static uint32_t count(uint8_t type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < got.nr; i++)
		n += got.rec[i].head.type == type;
	return n;
}

static struct spool_inflight *queue_block(uint32_t queue, uint32_t nr, uint64_t first,
					  uint64_t pushed)
{
	struct spool_inflight *e = block_alloc(SPOOL_BLOCK_QUEUE, nr, sizeof(*e));

	CHECK_NOT_NULL(e);
	atomic_store(&block_of(e)->queue, queue);
	atomic_store(&block_of(e)->first, first);
	atomic_store(&block_of(e)->pushed, pushed);
	return e;
}

/* A dispatch in flight. */
static void fill(struct spool_inflight *e, uint64_t packet)
{
	atomic_store(&e->state, INFLIGHT_OURS);
	e->kind = INFLIGHT_DISPATCH;
	e->flags = REC_F_HAD_SIGNAL;
	e->nr_looks = 0;
	e->correlation = 100 + packet;
	e->marker = 7;
	e->submitter = UINT64_C(1) << 32 | 55;
	e->packet = packet;
	e->head = (struct spool_packet){ .type = 2,
					 .group = { 64, 2, 1 },
					 .grid = { 640, 4, 1 },
					 .private_size = 8,
					 .group_size = 16,
					 .object = 0xabc0 };
}

TEST(blocks_are_in_memory_half_one_behind_another)
{
	struct spool_inflight *a, *b;

	make_half();
	a = block_alloc(SPOOL_BLOCK_QUEUE, 64, sizeof(*a));
	b = block_alloc(SPOOL_BLOCK_QUEUE, 1, sizeof(*b));
	CHECK(is_in_half(a) && is_in_half(b));
	CHECK_EQ_UINT((uintptr_t)a % 128, 0);
	CHECK_EQ_PTR(block_of(b), (char *)block_of(a) + block_of(a)->size);
	CHECK_EQ_UINT(atomic_load(&half->blocks_used), block_of(a)->size + block_of(b)->size);
	CHECK_EQ_UINT(nr_populated, atomic_load(&half->blocks_used));
}

TEST(block_without_space_is_in_private_memory)
{
	struct spool_inflight *e;

	make_half();
	e = block_alloc(SPOOL_BLOCK_QUEUE, BLOCKS / sizeof(*e), sizeof(*e));
	CHECK(e && !is_in_half(e));
	populate_error = -28;
	e = block_alloc(SPOOL_BLOCK_QUEUE, 1, sizeof(*e));
	CHECK(e && !is_in_half(e));
	CHECK_EQ_UINT(block_of(e)->nr_items, 1);
	CHECK_EQ_UINT(atomic_load(&half->blocks_used), 0);
	alloc_fail_at(1);
	CHECK_NULL(block_alloc(SPOOL_BLOCK_QUEUE, 1, sizeof(*e)));
	alloc_fail_at(0);
}

TEST(forked_child_writes_to_copies_of_blocks)
{
	struct spool_inflight *e;
	int status;
	pid_t pid;

	make_half();
	e = block_alloc(SPOOL_BLOCK_QUEUE, 4, sizeof(*e));
	e[1].packet = 5;
	pid = fork();
	if (pid == 0) {
		block_forked();
		status = e[1].packet == 5 ? 0 : 1;
		e[1].packet = 6;
		status |= is_in_half(block_alloc(SPOOL_BLOCK_QUEUE, 1, sizeof(*e))) << 1;
		_exit(status);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK_EQ_INT(status, 0);
	CHECK_EQ_UINT(e[1].packet, 5);
}

TEST(dispatches_in_flight_are_read_and_others_are_not)
{
	static const uint32_t in_flight[] = { INFLIGHT_CALLING, INFLIGHT_ARMED, INFLIGHT_BUSY,
					      INFLIGHT_CAPTURED, INFLIGHT_OURS };
	static const uint32_t others[] = { INFLIGHT_FREE, INFLIGHT_HELD, INFLIGHT_DONE, 99 };
	struct spool_inflight *e;
	const struct rec_inflight *r;

	make_half();
	e = queue_block(3, 16, 0, 9);
	for (uint32_t i = 0; i < 5; i++) {
		fill(&e[i], i);
		atomic_store(&e[i].state, in_flight[i]);
	}
	for (uint32_t i = 0; i < 4; i++) {
		fill(&e[5 + i], 5 + i);
		atomic_store(&e[5 + i].state, others[i]);
	}
	e[2].nr_looks = INFLIGHT_RECORDING;
	read_rest();
	CHECK_EQ_UINT(count(REC_INFLIGHT), 5);
	CHECK_EQ_UINT(got.nr, 6);
	CHECK_EQ_UINT(got.rec[0].submitted.count, 9);
	CHECK_EQ_UINT(got.rec[0].head.id, 3);
	r = &got.rec[2].inflight;
	CHECK_EQ_UINT(r->h.id, 55);
	CHECK_EQ_UINT(r->h.flags, REC_F_HAD_SIGNAL | REC_F_UNFINISHED);
	CHECK_EQ_UINT(got.rec[3].head.flags, REC_F_HAD_SIGNAL | REC_F_UNFINISHED | REC_F_MAYBE);
	CHECK_EQ_UINT(r->packet, 1);
	CHECK_EQ_UINT(r->correlation, 101);
	CHECK_EQ_UINT(r->marker, 7);
	CHECK_EQ_UINT(r->object, 0xabc0);
	CHECK_EQ_UINT(r->queue, 3);
	CHECK_EQ_UINT(r->grid[0], 640);
	CHECK_EQ_UINT(r->group[1], 2);
	CHECK_EQ_UINT(r->private_size, 8);
	CHECK_EQ_UINT(r->group_size, 16);
}

TEST(grid_of_clusters_is_in_workitems)
{
	struct spool_inflight *e;

	make_half();
	e = queue_block(0, 1, 0, 1);
	fill(&e[0], 0);
	e[0].head.type = 0;
	e[0].head.format = 3;
	e[0].head.grid[0] = 5;
	e[0].head.grid[1] = 7 << 16 | 6;
	e[0].head.grid[2] = 1 << 16 | 3 << 8 | 2;
	read_rest();
	CHECK_EQ_UINT(got.rec[1].inflight.grid[0], 5 * 2 * 64);
	CHECK_EQ_UINT(got.rec[1].inflight.grid[1], 6 * 3 * 2);
	CHECK_EQ_UINT(got.rec[1].inflight.grid[2], 7 * 1 * 1);
}

TEST(left_out_operations_are_neither_read_nor_counted)
{
	struct spool_inflight *e;

	make_half();
	e = queue_block(0, 4, 10, 12);
	fill(&e[0], 0);
	fill(&e[1], 1);
	e[1].correlation |= EVENT_LEFT_OUT;
	read_rest();
	CHECK_EQ_UINT(got.nr, 2);
	CHECK_EQ_UINT(got.rec[0].submitted.count, 1);
}

TEST(block_of_closed_queue_is_skipped)
{
	struct spool_inflight *e;

	make_half();
	e = queue_block(SPOOL_NO_QUEUE, 4, 0, 3);
	fill(&e[0], 0);
	e = queue_block(5, 4, 2, 3);
	e[0].kind = INFLIGHT_BARRIER;
	read_rest();
	CHECK_EQ_UINT(got.nr, 1);
	CHECK_EQ_UINT(got.rec[0].head.id, 5);
	CHECK_EQ_UINT(got.rec[0].submitted.count, 1);
}

TEST(barriers_and_copies_in_flight_are_records_of_their_type)
{
	struct spool_inflight *e;
	struct spool_copy *c;

	make_half();
	e = queue_block(5, 4, 0, 1);
	fill(&e[3], 9);
	e[3].kind = INFLIGHT_BARRIER;
	e[3].head.type = 3;
	c = block_alloc(SPOOL_BLOCK_COPIES, 2, 256);
	fill(&c->entry, 0);
	c->entry.kind = INFLIGHT_COPY;
	c->what = (struct spool_copy_what){ 4096, 0x10, 0x20, 1, 2, REC_COPY_H2D, 3 };
	atomic_store(&block_of(c)->copies[3], 2);
	atomic_store(&block_of(c)->copies[SPOOL_MAX_ENGINES], 1);
	read_rest();
	CHECK_EQ_UINT(got.nr, 5);
	CHECK_EQ_UINT(got.rec[1].head.type, REC_BARRIER);
	CHECK_EQ_UINT(got.rec[1].barrier.packet, 9);
	CHECK_EQ_UINT(got.rec[1].barrier.kind, 3);
	CHECK_EQ_UINT(got.rec[2].submitted.engine, 3);
	CHECK_EQ_UINT(got.rec[2].submitted.count, 2);
	CHECK_EQ_UINT(got.rec[3].submitted.engine, UINT32_MAX);
	CHECK_EQ_UINT(got.rec[4].head.type, REC_COPY);
	CHECK_EQ_UINT(got.rec[4].copy.bytes, 4096);
	CHECK_EQ_UINT(got.rec[4].copy.src_agent, 2);
	CHECK_EQ_UINT(got.rec[4].copy.engine, 3);
	CHECK(got.rec[4].head.flags & REC_F_UNFINISHED);
}

TEST(written_records_are_summed_over_all_blocks)
{
	struct spool_written *w;

	make_half();
	for (int i = 0; i < 2; i++) {
		w = block_alloc(SPOOL_BLOCK_WRITTEN, 3, sizeof(*w));
		atomic_store(&w[2].count[REC_API], 10);
		atomic_store(&w[i].count[REC_INFO], 1);
	}
	read_rest();
	CHECK_EQ_UINT(got.nr, 2);
	CHECK_EQ_UINT(got.rec[0].head.id, REC_INFO);
	CHECK_EQ_UINT(got.rec[0].written.count, 2);
	CHECK_EQ_UINT(got.rec[1].head.id, REC_API);
	CHECK_EQ_UINT(got.rec[1].written.count, 20);
}

TEST(damaged_blocks_end_the_reading)
{
	struct spool_block *b;

	for (int i = 0; i < 9; i++) {
		make_half();
		b = block_of(queue_block(1, 4, 0, 1));
		queue_block(2, 4, 0, 1);
		if (i == 0)
			b->magic++;
		else if (i == 1)
			b->size = UINT64_MAX - 4095;
		else if (i == 2)
			b->size = 0;
		else if (i == 3)
			b->nr_items = UINT32_MAX;
		else if (i == 4)
			b->item_size = 0;
		else if (i == 5)
			b->item_size = UINT32_C(1) << 31;
		else if (i == 6)
			atomic_store(&half->blocks_used, UINT64_MAX);
		else if (i == 7) /* as many as fit without the block's head */
			b->nr_items = (uint32_t)(b->size / b->item_size);
		else
			half->blocks_offset = UINT64_MAX - 4095;
		read_rest();
		CHECK_MSG(got.nr == 0, "damage %d: %u records", i, got.nr);
	}
}

TEST(half_without_blocks_has_no_rest)
{
	make_half();
	half->blocks_offset = 0;
	read_rest();
	CHECK_EQ_UINT(got.nr, 0);
}
