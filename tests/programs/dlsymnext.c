/* SPDX-License-Identifier: MIT */
/* dlsymnext.c - dlsym() where the result depends on the caller: prints the object of each function
 *
 * Built with -rdynamic; it defines a getppid() and a hipArrayGetInfo(). For HIP's functions it
 * prints only whether they were found: a tracer may return its wrapper.
 *
 *	dlsymnext [libamdhip64.so.5 local|global]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) pid_t getppid(void)
{
	return 4711;
}

__attribute__((visibility("default"))) int hipArrayGetInfo(void);
__attribute__((visibility("default"))) int hipArrayGetInfo(void)
{
	return 4712;
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

/* `runtime`: a handle, or NULL. Functions of any release, of 5.2, of later ones, of none. */
static void ask_for_hip(void *runtime)
{
	static const char *const names[] = {
		"hipInit",	     "hipMalloc",	   "hipGraphUpload",
		"hipGetProcAddress", "hipEventRecord_spt", "__hipPopCallConfiguration",
		"hipNoSuchFunction"
	};
	void *self = dlopen(NULL, RTLD_LAZY);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *found[4] = { dlsym(RTLD_DEFAULT, names[i]), dlsym(RTLD_NEXT, names[i]),
				   dlsym(self, names[i]), NULL };

		if (runtime)
			found[3] = dlsym(runtime, names[i]);
		dlerror();
		printf("%s: default %d, next %d, self %d, runtime %d\n", names[i], !!found[0],
		       !!found[1], !!found[2], !!found[3]);
	}
	dlsym(RTLD_DEFAULT, "hipGetProcAddress");
	puts(dlerror() ? "an error is set" : "no error is set");
	say("its own, default", dlsym(RTLD_DEFAULT, "hipArrayGetInfo"));
}

int main(int argc, char **argv)
{
	void *libm = dlopen("libm.so.6", RTLD_LAZY);

	say("default", dlsym(RTLD_DEFAULT, "getppid"));
	say("next", dlsym(RTLD_NEXT, "getppid"));
	say("handle", dlsym(libm, "cos"));
	say("handle's dependency", dlsym(libm, "getppid"));
	say("missing", dlsym(libm, "no_such_function"));
	puts(dlerror() ? "an error is set" : "no error is set");
	say("missing, as HIP's", dlsym(libm, "hipNoSuchFunction"));
	puts(dlerror() ? "an error is set" : "no error is set");
	say("null handle", dlsym(NULL, "cos"));
	ask_for_hip(NULL);
	if (argc > 2) {
		void *runtime =
			dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL :
										     RTLD_LOCAL));

		puts(runtime ? "runtime" : "no runtime");
		ask_for_hip(runtime);
	}
	return 0;
}
