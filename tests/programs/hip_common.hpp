/* SPDX-License-Identifier: MIT */
/* hip_common.hpp - shared by the HIP test programs */
#ifndef TESTS_PROGRAMS_HIP_COMMON_H
#define TESTS_PROGRAMS_HIP_COMMON_H

#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err_ = (call);                                                          \
		if (err_ != hipSuccess) {                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				hipGetErrorString(err_));                                          \
			fflush(NULL);                                                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* "name=value" among the arguments, or the default. */
static inline const char *arg_text(int argc, char **argv, const char *name, const char *dflt)
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return dflt;
}

static inline long arg_num(int argc, char **argv, const char *name, long dflt)
{
	const char *text = arg_text(argc, argv, name, NULL);

	return text ? strtol(text, NULL, 0) : dflt;
}

/* The arguments of main(), for what runs before it. */
static inline void own_args(int *argc, char ***argv)
{
	static char text[4096], *args[64];
	FILE *f = fopen("/proc/self/cmdline", "r");
	size_t size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	*argc = 0;
	for (char *at = text; at < text + size && *argc < 63; at += strlen(at) + 1)
		args[(*argc)++] = at;
	*argv = args;
	if (f)
		fclose(f);
}

static inline void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Ends the process by a function that runs no handlers of exit(); returns where `how` is none of
 * them. */
static inline void end_suddenly(const char *how)
{
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
}

#endif
