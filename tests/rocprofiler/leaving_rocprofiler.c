/* SPDX-License-Identifier: MIT */
/* leaving_rocprofiler.c - a client of rocprofiler whose dispatch callback does not return
 *
 *	part=dispatch	of a kernel: within a doorbell
 *
 * Needs HSA_TOOLS_LIB and ROCP_HSA_INTERCEPT=1.
 */
#include "../programs/leaving_hsa.h"

#include "rocprofiler/rocprofiler.h"

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
				rocprofiler_group_t *group)
{
	(void)data;
	(void)arg;
	(void)group;
	leaving_called();
	return HSA_STATUS_SUCCESS;
}

int main(int argc, char **argv)
{
	const rocprofiler_queue_callbacks_t callbacks = { .dispatch = on_dispatch };

	leaving_how = arg_text(argc, argv, "how", "exception");
	if (rocprofiler_set_queue_callbacks(callbacks, NULL) != HSA_STATUS_SUCCESS)
		die(1, "%s", rocprofiler_last_error_string());
	open_queue();
	leaving_try(submit_kernel);
	printf("called %d\n", leaving_nr_called());
	close_queue();
	return 0;
}
