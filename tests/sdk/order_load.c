/* SPDX-License-Identifier: MIT */
/* order_load.c - loads each library that it is given, with local scope, and calls its work() */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL);
		int (*work)(void) = lib ? (int (*)(void))dlsym(lib, "work") : NULL;

		if (!work)
			fprintf(stderr, "%s\n", dlerror());
		failed |= work ? work() : 2;
	}
	return failed;
}
