/* SPDX-License-Identifier: MIT */
/* code_calls.c - the calls that load and unload code
 *
 * Threads:  any.
 */
#include "source/hsa/code/code_calls.h"

#include "event/corr.h"
#include "event/life.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/table/real.h"

/* The runtime copies the code to the GPU within this call, with kernels of its own. */
static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
	struct internal_queue_call call = { .signal = NULL };
	hsa_status_t status;
	struct thread *t;

	if (!life_enter(&t))
		return real.hsa_executable_freeze(executable, options);
	call.correlation = corr_take(t);
	internal_queue_enter(&call);
	status = real.hsa_executable_freeze(executable, options);
	internal_queue_leave(&call, t);
	life_leave(t);
	return status;
}

hsa_status_t code_calls_freeze(hsa_executable_t executable, const char *options)
{
	hsa_status_t status = freeze(executable, options);

	if (status == HSA_STATUS_SUCCESS && life_on())
		code_object_load(executable);
	return status;
}

hsa_status_t code_calls_destroy(hsa_executable_t executable)
{
	if (life_on())
		code_object_unload(executable);
	return real.hsa_executable_destroy(executable);
}
