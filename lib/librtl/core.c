/* SPDX-License-Identifier: MIT */
/* core.c - the table that librtl.so gives to the faces */
#include "core.h"
#include "source/rccl/rccl.h"

#include <stdbool.h>

#include "base/clock.h"
#include "event/corr.h"
#include "event/life.h"
#include "boot.h"
#include "entry.h"
#include "event/pause.h"
#include "forked.h"
#include "hsa_init.h"
#include "hsa_past.h"
#include "hsa_wrap_gen.h"
#include "rebind.h"
#include "register.h"
#include "source/hsa/agent.h"
#include "source/hsa/counter/counter.h"
#include "source/hip/frame.h"
#include "startenv.h"

static void quiet(bool on)
{
	thread_get()->in_hook = on;
}

static uint64_t corr_new_id(void)
{
	return corr_new(thread_get());
}

static uint64_t corr_call_id(void)
{
	return thread_get()->corr_current & EVENT_ID;
}

static const struct live_call *innermost(void)
{
	return live_innermost(thread_get());
}

EXPORT const struct rtl_core *rtl_core_get(uint32_t version)
{
	static const struct rtl_core core = {
		.version = RTL_CORE_VERSION,
		.on_load = entry_load,
		.on_unload = entry_unload,
		.now_ns = clock_now_ns,
		.clock_keep = life_keep_clock,
		.hip_find = hip_find,
		.host_function_listen = host_function_listen,
		.be_copy = forked_be_copy,
		.rebind = rebind_all,
		.quiet = quiet,
		.table_add_layer = table_add_layer,
		.submit_listen = submit_listen,
		.times_listen = harvest_listen_times,
		.submit_listen_taken = submit_listen_taken,
		.announce_dispatches = announce_dispatches,
		.announce_over = announce_over,
		.announce_left = announce_left,
		.submit_mark = code_object_mark,
		.submit_epoch_of_event = collect_epoch_of_event,
		.copy_listen = copy_listen,
		.harvest_flush = harvest_flush,
		.client_register = client_register,
		.client_switch = client_switch,
		.counter_settle = counter_settle,
		.counter_reserve = counter_reserve,
		.counter_unreserve = counter_unreserve,
		.agent_index = agent_index,
		.agent_handle = agent_handle,
		.profile_available = profile_available,
		.profile_make = profile_make,
		.profile_allocate = profile_allocate,
		.profile_enclose = profile_enclose,
		.profile_get = profile_get,
		.profile_free = profile_free,
		.profile_packet = profile_packet,
		.profile_read = profile_read,
		.profile_nr_values = profile_nr_values,
		.profile_nr_samples = profile_nr_samples,
		.profile_first_value = profile_first_value,
		.profile_put = profile_put,
		.profile_wait = profile_wait,
		.profile_queue_open = profile_queue_open,
		.profile_queue_close = profile_queue_close,
		.profile_queue_run = profile_queue_run,
		.profile_enable_queue = profile_enable_queue,
		.harvest_is_any_in_flight = harvest_is_any_in_flight,
		.bus_attach = bus_attach,
		.bus_loss = bus_loss,
		.live_subscribe = live_subscribe,
		.live_innermost = innermost,
		.live_want = live_want,
		.live_pause = live_pause,
		.hsa_wrap = boot_wrap_hsa,
		.hsa_real = hsa_wrap_real,
		.rccl_real = rccl_real,
		.hsa_init_as_tool = hsa_init_as_tool,
		.hsa_init = hsa_init_front,
		.hsa_is_past = hsa_past_is,
		.hsa_past_begin = hsa_past_begin,
		.hsa_past_end = hsa_past_end,
		.set_api_table = register_set_api_table,
		.pause_switch = pause_switch,
		.corr_keep_order = corr_keep_order,
		.corr_new_id = corr_new_id,
		.corr_call_id = corr_call_id,
		.activity_turn_on = activity_turn_on,
		.activity_want_ops = activity_want_ops,
		.activity_pause_ops = activity_pause_ops,
		.activity_settle = activity_settle,
		.activity_last_id = activity_last_id,
		.range_front = range_front,
		.range_listen = range_listen,
		.range_listen_end = range_listen_end,
		.range_mark = range_mark,
		.range_push = range_push,
		.range_pop = range_pop,
		.range_start = range_start,
		.range_stop = range_stop,
		.range_profiler = range_profiler,
		.range_thread_id = range_thread_id,
		.range_name = range_name,
		.mpi_start = mpi_calls_start,
		.mpi_enter = mpi_calls_enter,
		.mpi_leave = mpi_calls_leave,
		.mpi_pass = mpi_calls_pass,
		.mpi_text = mpi_calls_text,
		.mpi_rank = mpi_calls_rank,
	};

	hip_boot();
	if (version != core.version)
		return NULL;
	if (!startenv_names("LD_PRELOAD") && !startenv_names("HSA_TOOLS_LIB"))
		life_leave_sinks_out();
	return &core;
}
