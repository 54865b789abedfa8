/* SPDX-License-Identifier: MIT */
/* steps.cpp - a HIP program in which tools are configured early, late, again; it does what its
 * arguments say, in their order
 *
 *	work:N		launches N kernels and waits for them
 *	load:PATH	loads a step_tool
 *	force:NAME	step_force() of the tool whose library's name ends in NAME_ABI.so; so do
 *			start:NAME, stop:NAME
 *
 * In the end each tool reports. Prints the statuses. It is linked with librocprofiler-sdk, as
 * PyTorch is.
 */
#include "hip_common.hpp"

#include <dlfcn.h>

#include <string>
#include <utility>
#include <vector>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

__global__ void step_kernel(float *v)
{
	v[threadIdx.x] += 1;
}

static std::vector<std::pair<std::string, void *>> tools;

static void work(long launches)
{
	float *v;

	HIP(hipMalloc(&v, 256));
	for (long i = 0; i < launches; i++)
		step_kernel<<<1, 64>>>(v);
	HIP(hipDeviceSynchronize());
	HIP(hipFree(v));
}

static void load(const std::string &path)
{
	void *lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	tools.emplace_back(path, lib);
}

static void call(const std::string &what, const std::string &name)
{
	std::string file = name + "_" + std::to_string(ROCPROFILER_SDK_ABI) + ".so";

	for (auto &t : tools) {
		if (t.first.size() < file.size() ||
		    t.first.compare(t.first.size() - file.size(), file.size(), file) != 0)
			continue;
		auto fn = (int (*)(void))dlsym(t.second, ("step_" + what).c_str());
		printf("%s %s: %s\n", what.c_str(), name.c_str(),
		       rocprofiler_get_status_name((rocprofiler_status_t)fn()));
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		std::string text = argv[i], what = text.substr(0, text.find(':')),
			    value = text.substr(text.find(':') + 1);

		if (what == "work")
			work(strtol(value.c_str(), NULL, 10));
		else if (what == "load")
			load(value);
		else
			call(what, value);
	}
	for (auto &t : tools)
		((void (*)(void))dlsym(t.second, "step_report"))();
	return 0;
}
