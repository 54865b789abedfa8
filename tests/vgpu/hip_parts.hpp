/* SPDX-License-Identifier: MIT */
/* hip_parts.hpp - shared by the HIP programs that check results: errors, parts named on the command
 * line */
#ifndef VGPU_HIP_PARTS_HPP
#define VGPU_HIP_PARTS_HPP

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			printf("wrong %s: %s\n", #call, hipGetErrorString(err));                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

namespace
{

int failures;

uint32_t random_state = 12345;

uint32_t random_word()
{
	return random_state = random_state * 1664525u + 1013904223u;
}

struct Part {
	const char *name;
	void (*run)();
};

/* Calls `run` for each part named from argv[1] on, or for all. */
template <size_t N, typename F> void run_parts(const Part (&parts)[N], int argc, char **argv, F run)
{
	for (const Part &part : parts) {
		bool wanted = argc < 2;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], part.name);
		if (wanted)
			run(part);
	}
}

/* The end of main(). */
int verdict()
{
	printf("%d failures\n", failures);
	return failures != 0;
}

} // namespace

#endif
