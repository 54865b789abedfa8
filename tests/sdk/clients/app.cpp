/* SPDX-License-Identifier: MIT */
/* app.cpp - the program in which clients work: sessions of copies, kernels and markers, with work
 * outside of them, too
 *
 * Arguments: sessions=N, launches=N (in each), load=PATH (loads it first), client=PATH (a library
 * that is loaded: client_start() and client_stop() around each session). load= and client= may be
 * repeated.
 */
#include "hip_common.hpp"

#include <dlfcn.h>

#include <vector>

#include <rocprofiler-sdk-roctx/roctx.h>

#define NR 65536

__global__ void client_kernel(float *v, float by)
{
	v[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

struct hooks {
	void (*start)(void);
	void (*stop)(void);
};

static void work(long launches)
{
	static float *device, *host;
	static hipStream_t stream;

	if (!host) {
		HIP(hipMalloc(&device, NR * sizeof(float)));
		HIP(hipHostMalloc(&host, NR * sizeof(float)));
		HIP(hipStreamCreate(&stream));
	}
	roctxRangePush("step");
	HIP(hipMemcpyAsync(device, host, NR * sizeof(float), hipMemcpyHostToDevice, stream));
	for (long i = 0; i < launches; i++)
		client_kernel<<<16, 64, 0, stream>>>(device, 2);
	HIP(hipMemcpyAsync(host, device, NR * sizeof(float), hipMemcpyDeviceToHost, stream));
	HIP(hipStreamSynchronize(stream));
	roctxRangePop();
}

static void load(const char *path)
{
	if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

static hooks hooks_of(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (!lib) {
		fprintf(stderr, "%s is not loaded\n", path);
		exit(1);
	}
	return { (void (*)(void))dlsym(lib, "client_start"),
		 (void (*)(void))dlsym(lib, "client_stop") };
}

int main(int argc, char **argv)
{
	long sessions = arg_num(argc, argv, "sessions", 1);
	long launches = arg_num(argc, argv, "launches", 1);
	std::vector<hooks> clients;

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "load=", 5))
			load(argv[i] + 5);
	/* the first use of HIP, by which tools are configured */
	HIP(hipInit(0));
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "client=", 7))
			clients.push_back(hooks_of(argv[i] + 7));
	for (long s = 0; s < sessions; s++) {
		for (auto &c : clients)
			c.start();
		work(launches);
		for (auto &c : clients)
			c.stop();
		roctxMark("between");
		work(1);
	}
	puts("done");
	fflush(stdout);
	return 0;
}
