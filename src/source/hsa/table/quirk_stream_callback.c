/* SPDX-License-Identifier: MIT */
/* quirk_stream_callback.c - makes stream callbacks of HIP 5.2 end while its activity callbacks are
 * on
 *
 * Threads:  any; a handler runs on ROCr's handler thread.
 * Hot path: load_relaxed(): reads one thread-local variable.
 * Fails:    without memory the handler is registered unchanged.
 */
#include "source/hsa/table/quirk_stream_callback.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"

/* set in quirk_stream_callback_install(), constant afterwards */
static struct {
	hsa_amd_signal_async_handler_fn_t async_handler;
	hsa_signal_load_relaxed_fn_t load_relaxed;
} next;

struct registration {
	hsa_amd_signal_handler fn;
	void *arg;
	hsa_signal_t signal;
};

/* the signal whose handler runs on this thread, 0: none */
static _Thread_local uint64_t handled;

static hsa_signal_value_t load_relaxed(hsa_signal_t signal)
{
	hsa_signal_value_t value = next.load_relaxed(signal);

	return RTL_UNLIKELY(handled && signal.handle == handled) && value > 0 ? value - 1 : value;
}

static bool run_stream_callback(hsa_signal_value_t value, void *arg)
{
	struct registration *r = arg;
	bool again;

	handled = r->signal.handle;
	again = r->fn(value, r->arg);
	handled = 0;
	if (!again)
		alloc_free(r);
	return again;
}

static bool is_hips(hsa_amd_signal_handler handler)
{
	Dl_info info;

	return dladdr((void *)handler, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "libamdhip64");
}

static hsa_status_t async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
				  hsa_signal_value_t value, hsa_amd_signal_handler handler,
				  void *arg)
{
	struct registration *r = NULL;
	hsa_status_t status;

	/* HIP's handlers of kernels and copies wait for "below 1" */
	if (condition == HSA_SIGNAL_CONDITION_LT && value == 2 && is_hips(handler))
		r = alloc_heap(sizeof(*r));
	if (!r)
		return next.async_handler(signal, condition, value, handler, arg);
	*r = (struct registration){ handler, arg, signal };
	status = next.async_handler(signal, condition, value, run_stream_callback, r);
	if (status != HSA_STATUS_SUCCESS)
		alloc_free(r);
	return status;
}

void quirk_stream_callback_install(const struct hsa_mirror_root *root)
{
	void **load = hsa_table_core_slot(root->core, HSA_CORE_signal_load_relaxed);
	void **async = hsa_table_amd_slot(root->amd_ext, HSA_AMD_signal_async_handler);

	if (!load || !async || !*load || !*async || *load == (void *)load_relaxed)
		return;
	next.load_relaxed = (hsa_signal_load_relaxed_fn_t)*load;
	next.async_handler = (hsa_amd_signal_async_handler_fn_t)*async;
	*load = (void *)load_relaxed;
	*async = (void *)async_handler;
}
