/* SPDX-License-Identifier: MIT */
/* rocr.c - what a libhsa-runtime64 can do, by its file
 *
 * The names of what it imports and of the variables that it reads are in it as text. Its version is not:
 * hsa_system's is 1.1 in every release, and the tables of a faulty build are those of its neighbours. AMD's
 * builds have the release in the file's name.
 */
#include "base/rocr.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "libhsa-runtime64.so.1"
#define ROCM_LEAST 10000u /* smaller ones are a patch level of the file */

static const struct rocr_fault faults[] = {
	{ 70200, 70299, 256,
	  "it hands batches to tools through a buffer of 256 packets: a longer one that crosses the end "
	  "of its queue (a graph's launch) writes beyond it" },
};

void rocr_version(struct rocr *out, const char *path)
{
	const char *base = strrchr(path, '/');
	unsigned int minor = 0, patch = 0;

	memset(out, 0, sizeof(*out));
	base = base ? base + 1 : path;
	if (sscanf(base, NAME ".%9u.%9u", &minor, &patch) < 1)
		return;
	out->minor = minor;
	if (patch >= ROCM_LEAST)
		out->rocm = patch;
}

bool rocr_read(struct rocr *out, const char *path)
{
	struct stat st;
	char *text;
	int fd;

	rocr_version(out, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		close(fd);
		return false;
	}
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return false;
#define HAS(word) (memmem(text, (size_t)st.st_size, word, sizeof(word) - 1) != NULL)
	out->registers = HAS("rocprofiler_register_library_api_table");
	out->takes_both = HAS("HSA_TOOLS_ROCPROFILER_V1_TOOLS");
	out->finds_preloaded = HAS("HSA_AMD_TOOL_PRIORITY");
	out->makes_unseen = HAS("\0hsa_amd_queue_create\0");
#undef HAS
	munmap(text, (size_t)st.st_size);
	return true;
}

const struct rocr_fault *rocr_fault(const struct rocr *r)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (r->rocm >= faults[i].first && r->rocm <= faults[i].last)
			return &faults[i];
	return NULL;
}

static bool look(const char *dir, size_t length, char *out, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s/" NAME, (int)length, dir) >= (int)sizeof(path) ||
	    !realpath(path, real) || strlen(real) >= size)
		return false;
	memcpy(out, real, strlen(real) + 1);
	return true;
}

bool rocr_find(const char *library_path, char *out, size_t size)
{
	static const char *const places[] = { "/opt/rocm/lib",
					      "/opt/rocm/lib64",
					      "/usr/local/lib",
					      "/usr/lib/x86_64-linux-gnu",
					      "/lib/x86_64-linux-gnu",
					      "/usr/lib64",
					      "/usr/lib" };

	while (library_path && *library_path) {
		size_t n = strcspn(library_path, ":;");

		if (n && look(library_path, n, out, size))
			return true;
		library_path += n + (library_path[n] != 0);
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (look(places[i], strlen(places[i]), out, size))
			return true;
	return false;
}
