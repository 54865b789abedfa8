/* SPDX-License-Identifier: MIT */
/* play.c - rtl-selftest-gpu, the program that `rtl selftest` traces
 *
 *	rtl-selftest-gpu SCENARIO ACCOUNT [name=value...]
 *
 * Writes what it knows of its run to the file ACCOUNT. Exit status: 0, or what exit= says; 1:
 * something failed, the account has the reason; 77: something is not there.
 */
#include "selftest/play.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftest/account.h"

static char **arguments;

const char *play_text(const char *name, const char *otherwise)
{
	size_t n = strlen(name);

	for (char **a = arguments; *a; a++)
		if (strncmp(*a, name, n) == 0 && (*a)[n] == '=')
			return *a + n + 1;
	return otherwise;
}

uint64_t play_number(const char *name, uint64_t otherwise)
{
	const char *text = play_text(name, NULL);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- code ------------------------------------------------------------------------------------ */

/* Where the code for an ISA is kept; false: nowhere. */
static bool name_code(char out[4096], const char *isa)
{
	const char *prefix = play_text("code", NULL), *gpu = strstr(isa, "gfx");

	return prefix && snprintf(out, 4096, "%s.%s", prefix, gpu ? gpu : isa) < 4096;
}

static bool read_code(const char *path, struct kernels_code *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	memset(out, 0, sizeof(*out));
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		out->size = (size_t)st.st_size;
		out->bytes = malloc(out->size);
		n = out->bytes ? read(fd, out->bytes, out->size) : -1;
	}
	if (fd >= 0)
		close(fd);
	return n > 0 && (size_t)n == out->size;
}

static void keep_code(const char *path, const struct kernels_code *code)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, code->bytes, code->size) != (ssize_t)code->size)
		unlink(path);
	if (fd >= 0)
		close(fd);
}

void play_code(const char *isa, struct kernels_code *out)
{
	char error[KERNELS_ERROR_SIZE], path[4096];
	bool kept = name_code(path, isa);

	if (kept && read_code(path, out))
		return;
	if (kernels_compile(isa, play_text("compiler", NULL), out, error))
		account_lack("kernels can't be compiled for %s: %.300s", isa, error);
	if (kept)
		keep_code(path, out);
}

/* ---- the scenarios --------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "probe", play_probe },
	{ "count", play_count },
	{ "copies", play_copies },
	{ "graphs", play_graphs },
	{ "events", play_events },
	{ "overhead", play_overhead },
	{ "ranges", play_ranges },
	{ "hsa", play_hsa },
	{ "roctracer", play_roctracer },
	{ "sdk", play_sdk },
	{ "rocprofiler", play_rocprofiler },
};

/* How the program ends: as exit= or kill= says. */
static void finish(void)
{
	int status = (int)play_number("exit", 0);

	account_add("done", "1");
	account_write();
	if (play_number("kill", 0))
		kill(getpid(), SIGKILL);
	exit(status);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: rtl-selftest-gpu SCENARIO ACCOUNT [name=value...]\n"
				"rtl selftest runs it.\n");
		return 2;
	}
	arguments = argv + 3;
	account_open(argv[2]);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(scenarios[i].name, argv[1]) != 0)
			continue;
		scenarios[i].run();
		finish();
	}
	account_fail("no scenario '%s'", argv[1]);
}
