/* SPDX-License-Identifier: MIT */
/* any_hip.c - runs the packaged example on whichever generation of HIP is installed
 *
 * HIP's library has another name with each major version; what the example uses of it is the same
 * in all. The example is a library PROGRAM.so beside this program, whose symbols are found in the
 * HIP that was loaded before.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					     "libamdhip64.so.5" };
	int (*entry)(int, char **) = NULL;
	void *hip = NULL, *example;
	char path[PATH_MAX];
	ssize_t n;

	for (unsigned i = 0; !hip && i < sizeof(names) / sizeof(names[0]); i++)
		hip = dlopen(names[i], RTLD_LAZY | RTLD_GLOBAL);
	if (!hip) {
		fprintf(stderr,
			"%s: HIP is not installed: libamdhip64.so.5 to .7 are not found; Debian's "
			"package is libamdhip64-5, AMD's hip-runtime-amd\n",
			argv[0]);
		return 1;
	}
	n = readlink("/proc/self/exe", path, sizeof(path) - 4);
	if (n > 0) {
		snprintf(path + n, 4, ".so");
		example = dlopen(path, RTLD_NOW);
		if (example)
			entry = (int (*)(int, char **))dlsym(example, "main");
	}
	if (!entry) {
		fprintf(stderr, "%s: %s\n", argv[0],
			n > 0 ? dlerror() : "/proc/self/exe can't be read");
		return 1;
	}
	return entry(argc, argv);
}
