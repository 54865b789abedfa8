/* SPDX-License-Identifier: MIT */
/* given_rtc.c - a program that loads hipRTC's own library, as of HIP 7, with RTLD_LOCAL
 *
 * One line for each way to reach its function: which one it is, its status and its results.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STRAY_ERRNO 77

static void call(const char *way, int (*fn)(int *, int *))
{
	int major = 0, minor = 0, status;

	errno = STRAY_ERRNO;
	status = fn(&major, &minor);
	printf("%s: %d, %d.%d, errno %d\n", way, status, major, minor, errno);
}

int main(void)
{
	void *lib = dlopen(FAKE_HIPRTC, RTLD_NOW | RTLD_LOCAL);
	int (*fn)(int *, int *), (*through)(int *, int *);
	int (*(*address)(void))(int *, int *);
	Dl_info info;

	if (!lib) {
		printf("%s\n", dlerror());
		return 1;
	}
	through = (int (*)(int *, int *))dlsym(lib, "fake_hiprtc_version");
	call("linked", through);
	fn = (int (*)(int *, int *))dlsym(lib, "hiprtcVersion");
	address = (int (*(*)(void))(int *, int *))dlsym(lib, "fake_hiprtc_address");
	printf("given: %s\n", fn == address() ? "library" :
			      dladdr((void *)fn, &info) && strstr(info.dli_fname, "librtl") ?
						"wrapper" :
						"other");
	call("dlsym", fn);
	return 0;
}
