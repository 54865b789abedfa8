/* SPDX-License-Identifier: MIT */
/* play_rocprofiler.c - the scenario in which the program intercepts its dispatches by rocprofiler
 * v1
 *
 * `rtl selftest` sets HSA_TOOLS_LIB to the library and ROCP_HSA_INTERCEPT=1.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "rocprofiler/rocprofiler.h"
#include "selftest/account.h"
#include "selftest/play.h"

static _Atomic uint64_t nr_a, nr_b, nr_unknown;

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
				rocprofiler_group_t *group)
{
	const char *name = data->kernel_name;

	(void)arg;
	(void)group;
	if (name && strncmp(name, KERNELS_COUNT_A, strlen(KERNELS_COUNT_A)) == 0)
		nr_a++;
	else if (name && strncmp(name, KERNELS_COUNT_B, strlen(KERNELS_COUNT_B)) == 0)
		nr_b++;
	else
		nr_unknown += !name;
	return HSA_STATUS_ERROR; /* not to be counted */
}

void play_rocprofiler(void)
{
	const rocprofiler_queue_callbacks_t callbacks = { .dispatch = on_dispatch };
	void *lib = dlopen("librocprofiler64.so.1", RTLD_NOW | RTLD_GLOBAL);
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	hsa_status_t (*set)(rocprofiler_queue_callbacks_t, void *);
	hsa_status_t (*remove)(void);
	unsigned int nr;

	if (!lib)
		account_lack("librocprofiler64.so.1: %.200s", dlerror());
	set = (__typeof__(set))dlsym(lib, "rocprofiler_set_queue_callbacks");
	remove = (__typeof__(remove))dlsym(lib, "rocprofiler_remove_queue_callbacks");
	if (!set || !remove)
		account_lack("librocprofiler64.so.1 has no rocprofiler_set_queue_callbacks");
	if (set(callbacks, NULL) != HSA_STATUS_SUCCESS)
		account_fail("rocprofiler_set_queue_callbacks: failed");
	nr = play_open(gpus, 0);
	play_counts(gpus, nr, nr > 2 ? nr : 2, 2, (unsigned int)play_number("launches", 50));
	remove();
	account_number("records_a", nr_a);
	account_number("records_b", nr_b);
	account_number("records_inverted", 0);
	account_number("records_nameless", nr_unknown);
}
