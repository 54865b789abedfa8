/* SPDX-License-Identifier: MIT */
/* hipdlsym.c - the same HIP calls, linked to libamdhip64 or found by dlopen and dlsym
 *
 *	hipdlsym module=KERNELS.co way=dlsym|dlvsym|past rounds=20 account=FILE
 *	hiplinked ... way=linked|dlsym|mixed|dlvsym|past
 *
 * Built twice: hipdlsym has no link to HIP, hiplinked has one. way=mixed takes every other call
 * from dlsym; way=past takes every other one from dlvsym, which no tool interposes, and way=dlvsym
 * all. Each launch has a unique grid and each copy a unique length; FILE gets one line of JSON for
 * each call, as of hip_account.hpp.
 */
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                               \
	X(hipGetDeviceCount)                                                                       \
	X(hipSetDevice)                                                                            \
	X(hipMalloc)                                                                               \
	X(hipFree)                                                                                 \
	X(hipHostMalloc)                                                                           \
	X(hipHostFree)                                                                             \
	X(hipMemcpy)                                                                               \
	X(hipMemcpyAsync)                                                                          \
	X(hipMemsetAsync)                                                                          \
	X(hipStreamCreate)                                                                         \
	X(hipStreamSynchronize)                                                                    \
	X(hipStreamDestroy)                                                                        \
	X(hipEventCreate)                                                                          \
	X(hipEventRecord)                                                                          \
	X(hipEventSynchronize)                                                                     \
	X(hipEventDestroy)                                                                         \
	X(hipModuleLoad)                                                                           \
	X(hipModuleGetFunction)                                                                    \
	X(hipModuleLaunchKernel)                                                                   \
	X(hipModuleUnload)                                                                         \
	X(hipDeviceSynchronize)

struct functions {
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

static struct functions found;
#ifndef LINKED
static struct functions seen;
#else
#define ENTRY(name) .name = name,
static const struct functions linked = { FUNCTIONS(ENTRY) };
#endif
static const struct functions *ways[2];
static unsigned long nr_calls;
static FILE *account;

static void *look_for(void *lib, const char *name, bool past)
{
	return past ? dlvsym(lib, name, "hip_4.2") : dlsym(lib, name);
}

static void look_up(struct functions *to, bool past)
{
	void *lib = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define LOOK(name)                                                                                 \
	*(void **)&to->name = look_for(lib, #name, past);                                          \
	if (!to->name) {                                                                           \
		fprintf(stderr, "%s: not found\n", #name);                                         \
		exit(1);                                                                           \
	}
	FUNCTIONS(LOOK)
}

static void note(const char *api, int status, const void *stream, const char *op)
{
	if (account)
		fprintf(account,
			"{\"tid\": %ld, \"api\": \"%s\", \"status\": %d, \"stream\": \"%#lx\", "
			"\"exec\": \"0\", \"ops\": [%s]}\n",
			(long)syscall(SYS_gettid), api, status, (unsigned long)stream, op);
	if (status) {
		fprintf(stderr, "%s: %d\n", api, status);
		exit(1);
	}
}

#define CALL_OP(stream, op, fn, ...)                                                               \
	note(#fn, (int)ways[nr_calls++ % 2]->fn(__VA_ARGS__), stream, op)
#define CALL(fn, ...) CALL_OP(NULL, "", fn, __VA_ARGS__)

static const char *kernel_op(unsigned int blocks)
{
	static char text[128];

	snprintf(text, sizeof(text), "[\"kernel\", \"flood_short\", %u, 1, 1, 64, 1, 1]",
		 blocks * 64);
	return text;
}

static const char *copy_op(const char *kind, size_t n, const char *direction)
{
	static char text[128];

	snprintf(text, sizeof(text), "[\"%s\", %zu, \"%s\"]", kind, n, direction);
	return text;
}

static const char *option(int argc, char **argv, const char *name, const char *dflt)
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return dflt;
}

static int work(const char *path, unsigned int rounds)
{
	enum { SIZE = 4 << 20 };
	char *host = NULL, *back = NULL;
	void *dev = NULL, *out;
	hipStream_t stream = NULL;
	hipEvent_t event = NULL;
	hipModule_t module = NULL;
	hipFunction_t function = NULL;
	int devices = 0, bad = 0;

	CALL(hipGetDeviceCount, &devices);
	CALL(hipSetDevice, 0);
	CALL(hipMalloc, &dev, SIZE);
	CALL(hipHostMalloc, (void **)&host, SIZE, 0);
	CALL(hipHostMalloc, (void **)&back, SIZE, 0);
	/* the kernel writes other bytes than those copied */
	out = (char *)dev + SIZE / 2;
	CALL(hipStreamCreate, &stream);
	CALL(hipEventCreate, &event);
	CALL(hipModuleLoad, &module, path);
	CALL(hipModuleGetFunction, &function, module, "flood_short");
	for (unsigned int i = 1; i <= rounds; i++) {
		void *args[] = { &out };
		size_t n = 4096 + 64 * i;

		memset(host, (int)i, n + 32);
		CALL_OP(stream, copy_op("copy", n, "HostToDevice"), hipMemcpyAsync, dev, host, n,
			hipMemcpyHostToDevice, stream);
		CALL_OP(stream, kernel_op(i), hipModuleLaunchKernel, function, i, 1, 1, 64, 1, 1, 0,
			stream, args, NULL);
		CALL(hipEventRecord, event, stream);
		CALL_OP(stream, copy_op("copy", n + 16, "DeviceToHost"), hipMemcpyAsync, back, dev,
			n + 16, hipMemcpyDeviceToHost, stream);
		CALL(hipStreamSynchronize, stream);
		CALL(hipEventSynchronize, event);
		bad |= memcmp(host, back, n) != 0;
		CALL_OP(stream, copy_op("fill", 8192 + 2048 * (size_t)i, ""), hipMemsetAsync, dev,
			(int)i, 8192 + 2048 * (size_t)i, stream);
		CALL_OP(NULL, copy_op("copy", n + 32, "HostToDevice"), hipMemcpy, dev, host, n + 32,
			hipMemcpyHostToDevice);
	}
	CALL(hipDeviceSynchronize);
	CALL(hipModuleUnload, module);
	CALL(hipEventDestroy, event);
	CALL(hipStreamDestroy, stream);
	CALL(hipHostFree, back);
	CALL(hipHostFree, host);
	CALL(hipFree, dev);
	printf("hipdlsym: %d devices, %lu calls, %s\n", devices, nr_calls, bad ? "wrong" : "right");
	return bad;
}

int main(int argc, char **argv)
{
	const char *path = option(argc, argv, "account", NULL);
	int status;

	if (path && !(account = fopen(path, "w"))) {
		perror(path);
		return 1;
	}
	ways[0] = ways[1] = &found;
#ifdef LINKED
	const char *way = option(argc, argv, "way", "linked");

	if (!strcmp(way, "linked") || !strcmp(way, "mixed") || !strcmp(way, "past"))
		ways[0] = &linked;
	if (!strcmp(way, "linked"))
		ways[1] = &linked;
#else
	const char *way = option(argc, argv, "way", "dlsym");

	if (!strcmp(way, "past")) {
		ways[0] = &seen;
		look_up(&seen, false);
	}
#endif
	if (ways[1] == &found)
		look_up(&found, !strcmp(way, "past") || !strcmp(way, "dlvsym"));
	status = work(option(argc, argv, "module", ""),
		      (unsigned int)strtoul(option(argc, argv, "rounds", "20"), NULL, 0));
	if (account && fclose(account))
		return 1;
	return status;
}
