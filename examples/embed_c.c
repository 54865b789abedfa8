/* SPDX-License-Identifier: MIT */
/* embed_c.c - a C program that records two of its phases, each into a database of its own
 *
 *	embed_c DIRECTORY [launches]
 *
 * Built with: cc embed_c.c $(pkg-config --cflags --libs rocm-trace-lite) embed_work
 */
#include <rtl/rtl.h>

#include <stdio.h>
#include <stdlib.h>

long embed_work(int launches);

static void check(rtl_status_t status, const char *what)
{
	if (status >= RTL_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, rtl_status_text(status));
	exit(1);
}

static void record(const char *directory, int phase, int launches)
{
	rtl_session_options_t options = { .size = sizeof(options), .flags = RTL_SESSION_REPLACE };
	rtl_statistics_t figures = { .size = sizeof(figures) };
	rtl_session_t session;
	char path[1024];

	snprintf(path, sizeof(path), "%s/phase%d.db", directory, phase);
	options.database = path;
	check(rtl_session_open(&options, &session), "open");
	if (embed_work(launches * phase) != 0)
		exit(2);
	check(rtl_session_flush(session), "flush");
	check(rtl_session_statistics(session, &figures), "statistics");
	printf("phase %d: %llu calls, %llu kernels, %llu copies, %llu lost\n", phase,
	       (unsigned long long)figures.calls, (unsigned long long)figures.kernels,
	       (unsigned long long)figures.copies, (unsigned long long)figures.lost);
	check(rtl_session_close(session), "close");
}

int main(int argc, char **argv)
{
	int launches = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10;

	if (argc < 2) {
		fprintf(stderr, "usage: embed_c DIRECTORY [launches]\n");
		return 1;
	}
	/* the GPU is used before the first session */
	check(rtl_prepare(), "prepare");
	if (embed_work(3) != 0)
		return 2;
	record(argv[1], 1, launches);
	if (embed_work(5) != 0)
		return 2;
	record(argv[1], 2, launches);
	return 0;
}
