/* SPDX-License-Identifier: MIT */
/* fuzz_drain.c - the two halves of a raw trace, as a program leaves or damages them, for what moves
 * chunks between them
 *
 * The input is a list of steps, and the halves. The steps are those of `rtl trace`, `rtl recover`
 * and the harvester, in any order: draining, removing chunks, a flight recorder's limits, the end
 * of the trace; and those of `rtl top`, which follows the growing trace. What is left must be
 * readable.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confined.h"
#include "mend.h"
#include "spool/drain.h"
#include "spool/flight.h"
#include "store/follow.h"
#include "store/load.h"

#define MAX_SIZE 65536u
#define SLOTS_MAX 4u
#define STEPS_MAX 24

enum step {
	TAKE,
	RUN,
	RUN_FINAL,
	LOOK,
	EVICT,
	FLIGHT,
	FOLLOW,
	HEADER,
	WAITING,
	GIVE,
	FINISH,
	NR_STEPS
};

static char disk[128], mem[128];

static void write_file(const char *path, const void *data, size_t size, uint64_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    (length > size && ftruncate(fd, (off_t)length))) {
		perror(path);
		exit(1);
	}
	close(fd);
}

/* Both halves are of one trace, and name each other; the numbers in them are the input's. */
static void mend_header(uint8_t *half, size_t size)
{
	struct spool_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, half, sizeof(h));
	h.magic = SPOOL_MAGIC;
	h.version = SPOOL_VERSION;
	h.header_size = SPOOL_HEADER_SIZE;
	h.slot_size = SLOT_SIZE;
	h.trace_id[0] = h.trace_id[1] = 7;
	h.nr_slots = (h.nr_slots - 1) % SLOTS_MAX + 1;
	h.desc_offset = SPOOL_HEADER_SIZE;
	h.slots_offset = SPOOL_HEADER_SIZE + 8 * h.nr_slots;
	snprintf(h.mem_path, sizeof(h.mem_path), "%s", mem);
	snprintf(h.disk_path, sizeof(h.disk_path), "%s", disk);
	h.closed = 0;
	memcpy(half, &h, sizeof(h));
}

static void see(void *arg, uint32_t slot, const struct chunk_header *chunk, uint32_t size)
{
	const uint8_t *payload = (const uint8_t *)(chunk + 1);

	for (uint32_t i = 0; i < size; i += 8)
		*(uint64_t *)arg += payload[i] + slot;
}

static void on_record(void *arg, const struct rec_head *rec, const struct rec_shape *shape)
{
	*(uint64_t *)arg += rec->type + (shape ? shape->queue : 0);
}

static void take_steps(struct drain *d, struct follow *follow, const uint8_t *steps, size_t nr)
{
	static struct flight flight;
	struct load_error error;
	uint64_t sum = 0, now = UINT64_C(1) << 40;
	bool is_taken = false, is_over = false;

	memset(&flight, 0, sizeof(flight));
	d->see = see;
	d->see_arg = &sum;
	for (size_t i = 0; i < nr && !is_over; i++) {
		enum step step = steps[i] % NR_STEPS;
		uint32_t arg = steps[i] / NR_STEPS;

		now += arg * UINT64_C(100000000);
		if (step == TAKE)
			is_taken = drain_take(d, now);
		else if (step == FOLLOW && follow)
			follow_read(follow, on_record, &sum, &error);
		else if (step == LOOK)
			drain_look(d);
		else if (step == WAITING)
			sum += drain_waiting(d, arg & 1);
		/* the others are for who has the right to drain */
		if (!is_taken)
			continue;
		if (step == RUN)
			drain_run(d, false, arg * UINT64_C(100), now);
		else if (step == RUN_FINAL)
			drain_run(d, true, 0, now);
		else if (step == EVICT)
			drain_evict(d, arg * UINT64_C(3000));
		else if (step == FLIGHT)
			flight_step(&flight, d, now);
		else if (step == HEADER)
			drain_header(d);
		else if (step == FINISH)
			is_over = drain_finish(d) == 0;
		else if (step == GIVE) {
			drain_give(d);
			is_taken = false;
		}
	}
	if (is_taken)
		drain_give(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes: flags (1: chunks of the disk half are made valid), number of steps, steps, size of the
 * disk half, the halves. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t a[MAX_SIZE], b[MAX_SIZE];
	static struct drain drain;
	struct follow *follow = NULL;
	struct load_error error;
	struct load *load;
	size_t nr, size_a, size_b;
	const uint8_t *steps;
	uint8_t flags;

	if (!disk[0]) {
		snprintf(disk, sizeof(disk), "%s/f.rtl", confined_scratch());
		snprintf(mem, sizeof(mem), "%s/f.mem", confined_scratch());
	}
	if (size < 2)
		return 0;
	flags = data[0];
	nr = data[1] % STEPS_MAX;
	if (size < 4 + nr)
		return 0;
	steps = data + 2;
	size_a = steps[nr] | (size_t)steps[nr + 1] << 8;
	data += 4 + nr;
	size -= 4 + nr;
	size_a = size_a < size ? size_a : size;
	size_b = size - size_a < MAX_SIZE ? size - size_a : MAX_SIZE;
	memcpy(a, data, size_a);
	memcpy(b, data + size_a, size_b);
	mend_header(a, size_a);
	mend_header(b, size_b);
	if (flags & 1)
		mend_chunks(a, size_a);
	write_file(disk, a, size_a, 0);
	write_file(mem, b, size_b, 2 * SPOOL_HEADER_SIZE + SLOTS_MAX * (uint64_t)SLOT_SIZE);
	if (follow_open(&follow, disk))
		return 0;
	if (drain_open(&drain, disk) == 0) {
		take_steps(&drain, follow, steps, nr);
		drain_close(&drain);
	}
	follow_close(follow);
	if (load_open(&load, disk, &error) == 0)
		load_close(load);
	return 0;
}
