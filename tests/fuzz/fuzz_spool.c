/* SPDX-License-Identifier: MIT */
/* fuzz_spool.c - a directory of raw traces from someone else, as the input of each command that
 * reads one
 *
 * The first byte chooses the command. Then come files of a.db.spool/: which, how many bytes, and
 * the bytes: raw traces, whose headers and checksums are made valid at times, a memory half, what
 * names an unfinished database, logs, a link.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "mend.h"

#define DIR_NAME "a.db.spool"
#define SPOOL DIR_NAME "/100.rtl"
#define MEM_SIZE (SPOOL_HEADER_SIZE + 8 + SLOT_SIZE) /* more than a file of the input */

static const char *const commands_of[][8] = {
	{ "recover", DIR_NAME },
	{ "recover", DIR_NAME, "-o", "b.db", "--force", "--remove" },
	{ "recover", SPOOL, "-o", "c.db", "--or-pid" },
	{ "recover", DIR_NAME, "--remove" },
	{ "recover", DIR_NAME, "-o", "b.db" },
	{ "info", DIR_NAME },
	{ "info", SPOOL },
	{ "summary", SPOOL },
	{ "summary", DIR_NAME },
	{ "convert", SPOOL, "-f", "pftrace", "-o", "a" },
	{ "report", SPOOL, "-o", "a.html" },
	{ "snapshot", DIR_NAME, "-o", "s.db" },
	{ "snapshot", SPOOL, "-o", "s.db" },
	{ "merge", SPOOL, DIR_NAME, "-o", "m.db" },
	{ "diff", SPOOL, SPOOL },
};
#define NR_COMMANDS (sizeof(commands_of) / sizeof(commands_of[0]))

/* The last is a link, whose target are the bytes. */
static const char *const names[] = { "100.rtl",	   "100.mem", "101.rtl", "101.mem",
				     "unfinished", "part.db", "next.db", "part.db-journal",
				     "log.100",	   "log.200", "try",	 "102.rtl" };
#define NR_NAMES (sizeof(names) / sizeof(names[0]))
#define LINK (NR_NAMES - 1)

/* As mend() of fuzz_load.c; the halves' names stay what the input has, in this directory where they
 * are empty. */
static void mend(uint8_t *data, size_t size, bool is_mem)
{
	struct spool_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	h.magic = SPOOL_MAGIC;
	h.version = SPOOL_VERSION;
	h.header_size = SPOOL_HEADER_SIZE;
	h.slot_size = SLOT_SIZE;
	if (h.closed & 2)
		h.disk_end = size;
	memcpy(data, &h, sizeof(h));
	if (!is_mem)
		mend_chunks(data, size);
}

static void expand(char name[SPOOL_NAME_SIZE])
{
	char path[SPOOL_NAME_SIZE];

	if (name[0] != '@')
		return;
	snprintf(path, sizeof(path), "%s%.*s", getenv("FUZZ_SCRATCH"), 200, name + 1);
	memcpy(name, path, sizeof(path));
}

/* In the names of halves @ at the begin is the run's directory. */
static void name_halves(uint8_t *data, size_t size)
{
	struct spool_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	expand(h.mem_path);
	expand(h.disk_path);
	memcpy(data, &h, sizeof(h));
}

/* bit 7 of the first byte: made valid. */
static void write_one(struct bytes *in)
{
	static uint8_t copy[MEM_SIZE];
	uint8_t which = take_byte(in);
	size_t n = (which & 127) % NR_NAMES, size = take_byte(in) | (size_t)take_byte(in) << 8, nr;
	const uint8_t *bytes = take_bytes(in, size, &nr);
	char name[64];

	snprintf(name, sizeof(name), "out/" DIR_NAME "/%s", names[n]);
	memset(copy, 0, sizeof(copy));
	memcpy(copy, bytes, nr);
	if (n < 4)
		name_halves(copy, nr);
	if (n == LINK) {
		char path[600], target[256];

		snprintf(target, sizeof(target), "%.*s", (int)(nr < 200 ? nr : 200),
			 (const char *)bytes);
		snprintf(path, sizeof(path), "%s/%s", getenv("FUZZ_SCRATCH"), name);
		if (target[0])
			symlink(target, path);
		return;
	}
	if (which & 128 && n < 4)
		mend(copy, nr, n & 1);
	/* a memory half has all of its slot, most of which is zeros */
	command_write(name, copy, n < 4 && n & 1 ? MEM_SIZE : nr);
}

static void run(void *arg)
{
	command_main(arg);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	command_setup();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, data + size };
	const char *const *words = commands_of[take_byte(&in) % NR_COMMANDS];
	char dir[600];

	snprintf(dir, sizeof(dir), "%s/out/" DIR_NAME, getenv("FUZZ_SCRATCH"));
	if (mkdir(dir, 0700))
		abort();
	for (int i = 0; i < 8 && in.at < in.end; i++)
		write_one(&in);
	command_run(run, (void *)(uintptr_t)words);
	return 0;
}
