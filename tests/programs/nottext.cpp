/* SPDX-License-Identifier: MIT */
/* nottext.cpp - launches a kernel of a module, all of whose texts may be no UTF-8: nottext MODULE
 * KERNEL
 *
 * Texts of roctx and of a failing call are none in any case. Prints what the kernel has written.
 */
#include <cstdio>
#include <dlfcn.h>

#include <hip/hip_runtime.h>

#include "hip_common.hpp"

int main(int argc, char **argv)
{
	void *roctx = dlopen("libroctx64.so.4", RTLD_NOW);
	auto push = roctx ? (int (*)(const char *))dlsym(roctx, "roctxRangePushA") : nullptr;
	auto pop = roctx ? (int (*)())dlsym(roctx, "roctxRangePop") : nullptr;
	auto mark = roctx ? (void (*)(const char *))dlsym(roctx, "roctxMarkA") : nullptr;
	hipModule_t module;
	hipFunction_t fn;
	int *p, value = 0;

	if (argc != 3 || !push || !pop || !mark) {
		fprintf(stderr, "nottext: MODULE KERNEL, with libroctx64.so.4\n");
		return 2;
	}
	HIP(hipMalloc((void **)&p, sizeof(*p)));
	HIP(hipModuleLoad(&module, argv[1]));
	if (hipModuleGetFunction(&fn, module, "\xff\xfe missing \x02") == hipSuccess)
		return 1;
	HIP(hipModuleGetFunction(&fn, module, argv[2]));
	push("sch\xf6ner range \xc3\x28 \"q\" \\ \x07 <b>");
	mark("\xf0\x9f mark\n two");
	size_t size = sizeof(p);
	void *config[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &p, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
			   HIP_LAUNCH_PARAM_END };
	HIP(hipModuleLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, config));
	HIP(hipMemcpy(&value, p, sizeof(value), hipMemcpyDeviceToHost));
	pop();
	printf("nottext: %d\n", value);
	return 0;
}
