/* SPDX-License-Identifier: MIT */
/* fuzz_load.c - any bytes as a trace: loader, index, and at times the whole conversion
 *
 * libFuzzer (clang -fsanitize=fuzzer) calls LLVMFuzzerTestOneInput(). Built with FUZZ_MAIN it runs
 * the files named on its command line once, to debug a crash with other compilers.
 * Chunks get a valid CRC, or mutations would never pass it.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confined.h"
#include "export/rpd/rpd.h"
#include "mend.h"
#include "store/args.h"
#include "store/index.h"
#include "store/verdict.h"

#define MAX_SIZE (1u << 20)

static char dir[64];
static char disk[96], mem[96], db[96];
static const struct index *looked_at;

static void setup(void)
{
	snprintf(dir, sizeof(dir), "%s", confined_scratch());
	setenv("TMPDIR", dir, 1);
	snprintf(disk, sizeof(disk), "%s/f.rtl", dir);
	snprintf(mem, sizeof(mem), "%s/f.mem", dir);
	snprintf(db, sizeof(db), "%s/f.db", dir);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		perror(path);
		exit(1);
	}
	close(fd);
}

/* Makes the headers valid enough that the loader reads on. */
static void mend(uint8_t *data, size_t size)
{
	struct spool_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	h.magic = SPOOL_MAGIC;
	h.version = SPOOL_VERSION;
	h.header_size = SPOOL_HEADER_SIZE;
	h.slot_size = SLOT_SIZE;
	h.mem_path[0] = '\0';
	h.disk_path[0] = '\0';
	if (h.closed & 2)
		h.disk_end = size;
	memcpy(data, &h, sizeof(h));
	mend_chunks(data, size);
}

static int on_dispatch(void *arg, const struct store_dispatch *op)
{
	*(uint64_t *)arg += op->kernel->id + op->queue->id + (*op->shape_cookie)++;
	return 0;
}

static int on_marker(void *arg, const struct store_marker *marker)
{
	*(uint64_t *)arg += strlen(marker->text);
	return 0;
}

static int on_api(void *arg, const struct store_api *api)
{
	char text[300];

	*(uint64_t *)arg += args_text(looked_at, api, text, sizeof(text)) + strlen(api->op->name) +
			    args_value(api, "stream", 0) + index_called(looked_at, api->parent);
	return 0;
}

static void look(const char *path)
{
	static const struct store_visitor visitor = { .dispatch = on_dispatch,
						      .marker_begin = on_marker,
						      .api = on_api };
	static struct verdict verdict;
	struct load_error err;
	struct index *index;
	uint64_t sum = 0;

	if (index_open(&index, path, &err) < 0)
		return;
	looked_at = index;
	for (int pass = 0; pass < 2; pass++) {
		if (index_visit(index, &visitor, &sum, &err) < 0)
			break;
	}
	verdict_init(&verdict);
	verdict_add_trace(&verdict, index);
	verdict_finish(&verdict);
	index_close(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte selects: 1 make headers valid, 2 split in two halves, 5 of the low four bits:
 * convert, which is slow. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t copy[MAX_SIZE];
	const struct job_options opt = { .force = true };
	static struct job_result res;
	const char *spool = disk;
	uint8_t mode;
	size_t half;

	if (!dir[0])
		setup();
	if (size < 1 || size > MAX_SIZE)
		return 0;
	mode = data[0];
	memcpy(copy, data + 1, --size);
	if (mode & 1)
		mend(copy, size);
	half = mode & 2 && size > 2 * (size_t)SPOOL_HEADER_SIZE ? size / 2 & ~(size_t)7 : size;
	write_file(disk, copy, half);
	unlink(mem);
	if (half < size) {
		/* the memory half belongs to the disk half when their trace ids agree */
		memcpy(copy + half, copy, offsetof(struct spool_header, pid));
		write_file(mem, copy + half, size - half);
		look(mem);
	}
	look(disk);
	if ((mode & 15) == 5)
		rpd_write(&spool, 1, db, &opt, &res);
	return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	static uint8_t data[MAX_SIZE];

	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, data, sizeof(data));

		if (n < 0) {
			perror(argv[i]);
			return 1;
		}
		close(fd);
		LLVMFuzzerTestOneInput(data, (size_t)n);
	}
	return 0;
}
#endif
