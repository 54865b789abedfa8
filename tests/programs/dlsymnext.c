/* SPDX-License-Identifier: MIT */
/* dlsymnext.c - what dlsym() says where the caller matters: prints which object each function is in
 *
 * Built with -rdynamic; it has a getppid() of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) pid_t getppid(void)
{
	return 4711;
}

static void say(const char *what, void *fn)
{
	Dl_info info;
	const char *base = "nowhere";

	if (fn && dladdr(fn, &info) && info.dli_fname) {
		base = strrchr(info.dli_fname, '/');
		base = base ? base + 1 : info.dli_fname;
	}
	printf("%s: %s\n", what, base);
}

int main(void)
{
	void *libm = dlopen("libm.so.6", RTLD_LAZY);

	say("default", dlsym(RTLD_DEFAULT, "getppid"));
	say("next", dlsym(RTLD_NEXT, "getppid"));
	say("handle", dlsym(libm, "cos"));
	say("handle's dependency", dlsym(libm, "getppid"));
	say("missing", dlsym(libm, "no_such_function"));
	puts(dlerror() ? "an error is told" : "no error is told");
	say("missing, as HIP's", dlsym(libm, "hipNoSuchFunction"));
	puts(dlerror() ? "an error is told" : "no error is told");
	say("null handle", dlsym(NULL, "cos"));
	return 0;
}
