/* SPDX-License-Identifier: MIT */
/* core.c - the table that librtl.so gives to the faces */
#include "core.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/corr.h"
#include "event/life.h"
#include "event/pause.h"
#include "forked.h"
#include "hsa_wrap_gen.h"
#include "source/hip/frame.h"

static bool is_named_in(const char *variable)
{
	const char *value = getenv(variable);

	return value && strstr(value, "librtl.so");
}

static void quiet(bool on)
{
	thread_get()->in_hook = on;
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
		.be_copy = forked_be_copy,
		.quiet = quiet,
		.table_add_layer = table_add_layer,
		.submit_listen = submit_listen,
		.times_listen = harvest_listen_times,
		.bus_attach = bus_attach,
		.bus_loss = bus_loss,
		.live_subscribe = live_subscribe,
		.live_want = live_want,
		.live_pause = live_pause,
		.live_scratch = live_scratch,
		.hsa_wrap = entry_wrap_hsa,
		.hsa_real = hsa_wrap_real,
		.pause_switch = pause_switch,
		.corr_keep_order = corr_keep_order,
		.activity_turn_on = activity_turn_on,
		.activity_want_ops = activity_want_ops,
		.activity_pause_ops = activity_pause_ops,
		.activity_settle = activity_settle,
		.activity_last_id = activity_last_id,
		.range_front = range_front,
		.range_listen = range_listen,
		.range_mark = range_mark,
		.range_push = range_push,
		.range_pop = range_pop,
		.range_start = range_start,
		.range_stop = range_stop,
	};

	hip_boot();
	if (version != core.version)
		return NULL;
	if (!is_named_in("LD_PRELOAD") && !is_named_in("HSA_TOOLS_LIB"))
		life_leave_sinks_out();
	return &core;
}
