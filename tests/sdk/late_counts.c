/* SPDX-License-Identifier: MIT */
/* late_counts.c - a tool that begins to count when the program has a queue already: that one's
 * dispatches are not counted, a later one's are
 *
 *	late_counts
 *
 * stdout: how many dispatches of either queue were counted.
 */
#include "../vgpu/hsa_machine.h"
#include "client.h"

#include <stdatomic.h>

#include <rocprofiler-sdk/rocprofiler.h>

#define OK(call) CHECK((call) == ROCPROFILER_STATUS_SUCCESS)

static rocprofiler_context_id_t context;
static rocprofiler_counter_config_id_t config;
static _Atomic int nr_asked, nr_counted;

static rocprofiler_status_t choose(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *all,
				   size_t nr, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < nr; i++) {
		rocprofiler_counter_info_v0_t info;

		OK(rocprofiler_query_counter_info(all[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
						  &info));
		if (strcmp(info.name, "SQ_WAVES") == 0)
			OK(rocprofiler_create_counter_config(agent, &all[i], 1, &config));
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t data,
			rocprofiler_counter_config_id_t *wanted, rocprofiler_user_data_t *user,
			void *arg)
{
	(void)user;
	(void)arg;
	if (!config.handle)
		OK(rocprofiler_iterate_agent_supported_counters(data.dispatch_info.agent_id, choose,
								NULL));
	nr_asked++;
	*wanted = config;
}

static void on_record(rocprofiler_dispatch_counting_service_data_t data,
		      rocprofiler_counter_record_t *records, size_t nr,
		      rocprofiler_user_data_t user, void *arg)
{
	double sum = 0;

	(void)data;
	(void)user;
	(void)arg;
	for (size_t i = 0; i < nr; i++)
		sum += records[i].counter_value;
	CHECK(sum > 15.5 && sum < 16.5);
	nr_counted++;
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	(void)fini;
	(void)data;
	OK(rocprofiler_create_context(&context));
	OK(rocprofiler_configure_callback_dispatch_counting_service(context, on_dispatch, NULL,
								    on_record, NULL));
	OK(rocprofiler_start_context(context));
	return 0;
}

SDK_FORCED_CLIENT("late_counts")

int main(void)
{
	hsa_kernel_dispatch_packet_t p;
	hsa_queue_t *queues[2];
	struct kernel k;
	uint64_t *kernarg;
	void *memory;

	open_agents();
	k = load_kernel("counted.co", "counted.kd");
	memory = allocate(2 * 65536);
	kernarg = allocate(4096);
	kernarg[0] = (uintptr_t)memory;
	queues[0] = new_queue(0, 64);
	OK(rocprofiler_force_configure(configure));
	queues[1] = new_queue(0, 64);
	for (int i = 0; i < 6; i++) {
		p = dispatch_of(&k, 1024, 256, kernarg);
		p.group_segment_size = 1024;
		wait_done(submit(queues[i % 2], &p));
	}
	for (int i = 0; i < 5000 && nr_counted < nr_asked; i++)
		usleep(1000);
	printf("asked %d counted %d\n", nr_asked, nr_counted);
	return 0;
}
