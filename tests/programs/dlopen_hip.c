/* SPDX-License-Identifier: MIT */
/* dlopen_hip.c - a program that is not linked to HIP and gets it through dlopen, twice
 *
 * Calls without kernels: device count, memory, copies, synchronisation.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { H2D = 1, D2H = 2 };

static void *need(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return p;
}

static int use(void *lib)
{
	int (*count)(int *) = (int (*)(int *))need(lib, "hipGetDeviceCount");
	int (*alloc)(void **, size_t) = (int (*)(void **, size_t))need(lib, "hipMalloc");
	int (*copy)(void *, const void *, size_t, int) =
		(int (*)(void *, const void *, size_t, int))need(lib, "hipMemcpy");
	int (*release)(void *) = (int (*)(void *))need(lib, "hipFree");
	int (*sync)(void) = (int (*)(void))need(lib, "hipDeviceSynchronize");
	enum { SIZE = 1 << 20 };
	char *a = malloc(SIZE), *b = calloc(1, SIZE);
	void *d = NULL;
	int n = 0, bad = 0;

	for (int i = 0; i < SIZE; i++)
		a[i] = (char)(i * 7);
	bad |= count(&n);
	bad |= alloc(&d, SIZE);
	for (int i = 0; i < 5; i++) {
		bad |= copy(d, a, SIZE, H2D);
		bad |= copy(b, d, SIZE, D2H);
	}
	bad |= sync();
	bad |= memcmp(a, b, SIZE) != 0;
	bad |= release(d);
	printf("dlopen: %d devices, %s\n", n, bad ? "wrong" : "right");
	free(a);
	free(b);
	return bad;
}

int main(void)
{
	void *lib = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
	int bad;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	bad = use(lib);
	dlclose(lib);
	lib = dlopen("libamdhip64.so.5", RTLD_LAZY | RTLD_GLOBAL);
	return bad || !lib || use(lib);
}
