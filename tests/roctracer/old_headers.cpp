/* SPDX-License-Identifier: MIT */
/* old_headers.cpp - what ROCm up to 5.2 has for tools in C++: the timer and the table of callbacks
 *
 * Exits with whether anything was not as it should be.
 */
#include "../support/expect.h"
#include "roctracer/ext/hsa_rt_utils.hpp"
#include "roctracer/roctracer_cb_table.h"

static int nr_wrong;

static hsa_status_t answer(hsa_system_info_t attribute, void *value)
{
	uint64_t *number = static_cast<uint64_t *>(value);

	*number = attribute == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY ? 27000000 : 54;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t refuse(hsa_system_info_t attribute, void *value)
{
	(void)attribute;
	(void)value;
	return HSA_STATUS_ERROR_NOT_INITIALIZED;
}

static void timer()
{
	hsa_rt_utils::Timer t(answer), none(nullptr), refused(refuse);
	hsa_rt_utils::Timer::timestamp_t ticks = 27;

	IS(t.timestamp_fn_ns(), 2000);
	IS(t.timestamp_ns(), 2000);
	IS(t.timestamp_to_ns(ticks), 1000);
	IS(t.timestamp_rate() > 37.03L && t.timestamp_rate() < 37.04L, 1);
	IS(none.timestamp_fn_ns(), 0);
	IS(refused.timestamp_fn_ns(), 0);
	IS(refused.timestamp_to_ns(ticks), 0);
}

static void callback(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)domain;
	(void)cid;
	(void)data;
	(void)arg;
}

static void table()
{
	roctracer::CbTable<2> callbacks;
	activity_rtapi_callback_t fn = callback;
	void *arg = &fn;

	IS(callbacks.get(1, &fn, &arg), 1);
	IS(fn == nullptr && arg == nullptr, 1);
	IS(callbacks.set(1, callback, &fn), 1);
	IS(callbacks.get(1, &fn, &arg), 1);
	IS(fn == callback && arg == &fn, 1);
	IS(callbacks.get(0, &fn, &arg), 1);
	IS(fn == nullptr && arg == nullptr, 1);
	fn = callback;
	IS(callbacks.set(2, callback, nullptr), 0);
	IS(callbacks.get(2, &fn, &arg), 0);
	IS(fn == nullptr && arg == nullptr, 1);
}

int main()
{
	timer();
	table();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
