/* SPDX-License-Identifier: MIT */
/* make_seeds.c - make_seeds DIR: small traces as the fuzzer's first inputs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/spool_make.h"
#include "support/spool_api.h"

#define MAX (1u << 20)

static void copy_to(const char *dir, const char *name, int mode, const char *a, const char *b)
{
	static unsigned char data[MAX];
	const char *const from[] = { a, b };
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		exit(1);
	}
	fputc(mode, out);
	for (int i = 0; i < 2; i++) {
		FILE *in = from[i] ? fopen(from[i], "rb") : NULL;
		size_t n = in ? fread(data, 1, sizeof(data), in) : 0;

		fwrite(data, 1, n, out);
		if (in)
			fclose(in);
	}
	fclose(out);
}

/* A dispatch with two counters and a metric, whose values come in two records. */
static void make_counters(const char *path)
{
	struct spool_make *m = spool_make_new(path, 100, false);
	struct spool_make_op op = { .tid = 100, .packet = 1, .begin_ns = 2000, .end_ns = 3000 };
	struct {
		struct rec_counters head;
		uint64_t values[4];
	} rec = { .head = { .h = { .type = REC_COUNTERS, .size8 = sizeof(rec) / 8, .id = 0 },
			    .packet = 1,
			    .events = 4,
			    .shape = 4 | 1 << 16,
			    .nr = 4 },
		  .values = { 1, 2, 3, 4 } };
	const struct rec_scratch scratch = { .h = { REC_SCRATCH, sizeof(scratch) / 8, 0, 100 },
					     .begin_ns = 1500,
					     .end_ns = 1900,
					     .packet = 1,
					     .bytes = 1 << 20,
					     .waves = 4,
					     .kind = REC_SCRATCH_ALLOC };

	spool_make_chunk(m, 100);
	spool_make_string(m, 1, "gfx900");
	spool_make_string(m, 2, "k");
	spool_make_info(m, 10, "counters", "SQ_WAVES,GRBM_COUNT,CU_NUM,SQ:4");
	spool_make_string(m, 4, "6.0.4x4,3.0.0x1,3.0.2x3");
	spool_make_agent(m, 0, REC_AGENT_GPU, 0, 1);
	spool_make_queue(m, 0, 0, 0, 1000);
	spool_make_kernel(m, 1, 2, 0, 0);
	op.shape = spool_make_shape(m, 1, 0, 64, 64);
	spool_make_dispatch(m, &op);
	spool_make_raw(m, &rec, sizeof(rec));
	spool_make_raw(m, &scratch, sizeof(scratch));
	rec.head.first = 4;
	spool_make_raw(m, &rec, sizeof(rec));
	spool_make_chunk_end(m);
	spool_make_end(m, true);
	spool_make_free(m);
}

int main(int argc, char **argv)
{
	static struct spool_make m;
	struct spool_make_sample s = { .pid = 100, .closed = true };
	char disk[512], mem[512];

	if (argc != 2) {
		fprintf(stderr, "usage: make_seeds DIR\n");
		return 1;
	}
	snprintf(disk, sizeof(disk), "%s/seed.rtl", argv[1]);
	snprintf(mem, sizeof(mem), "%s/seed.mem", argv[1]);
	spool_make_sample(disk, &s);
	copy_to(argv[1], "sample", 0, disk, NULL);
	copy_to(argv[1], "sample-mended", 1, disk, NULL);
	copy_to(argv[1], "sample-converted", 5, disk, NULL);

	spool_api_sample(disk, true, false);
	copy_to(argv[1], "calls", 1, disk, NULL);
	copy_to(argv[1], "calls-converted", 5, disk, NULL);

	spool_make_rest(disk, 1);
	copy_to(argv[1], "rest", 1, disk, NULL);
	copy_to(argv[1], "rest-converted", 5, disk, NULL);

	make_counters(disk);
	copy_to(argv[1], "counters", 1, disk, NULL);
	copy_to(argv[1], "counters-converted", 5, disk, NULL);

	/* a memory half of one slot, small enough to be mutated */
	spool_make_begin(&m, disk, 7, true);
	m.header.nr_slots = 1;
	m.header.slots_offset = SPOOL_HEADER_SIZE + 8;
	m.header.slot_size = SLOT_SIZE;
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 7, "main", 5);
	spool_make_marker(&m, REC_MARKER_PUSH, 7, 1, 0, 0, 5, "open");
	spool_make_chunk_slot(&m, SLOT_OPEN);
	spool_make_end(&m, false);
	if (truncate(mem, m.header.slots_offset + (long)SLOT_SIZE) < 0) {
		perror(mem);
		return 1;
	}
	copy_to(argv[1], "halves", 2, disk, mem);
	copy_to(argv[1], "mem-alone", 0, mem, NULL);
	copy_to(argv[1], "database", 0, NULL, NULL);
	remove(disk);
	remove(mem);
	return 0;
}
