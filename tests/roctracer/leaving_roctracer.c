/* SPDX-License-Identifier: MIT */
/* leaving_roctracer.c - a client of roctracer whose callback does not return
 *
 *	part=submit	of HSA_EVT, for a packet: within a doorbell
 *	part=call	of HSA_API, before hsa_signal_create()
 *	part=marker	of ROCTX, for a push, which is shown by then
 *	part=pool	of a pool, with its records: on the library's own thread
 *	part=ranges	of RangeStackIterate(), for an open range (OLD: roctx up to 5.2)
 */
#include "../programs/leaving_hsa.h"

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hsa.h"
#include "roctracer/roctracer_roctx.h"
#include "roctracer/roctx.h"
#ifdef OLD

void RangeStackIterate(void (*callback)(const roctx_range_data_t *range, void *arg), void *arg);
#endif

static _Atomic int nr_records;

static void on_event(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	const hsa_evt_data_t *d = data;

	(void)domain;
	(void)id;
	(void)arg;
	/* barriers have one, too */
	if (d->submit.kernel_name)
		leaving_called();
}

/* the begin of hsa_api_data_t, whose header is for C++ in releases up to 5.2 */
struct call_data {
	uint64_t correlation_id;
	uint32_t phase;
};

static void on_call(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	const struct call_data *d = data;

	(void)domain;
	(void)id;
	(void)arg;
	if (d->phase == ACTIVITY_API_PHASE_ENTER)
		leaving_called();
}

static void on_records(const char *begin, const char *end, void *arg)
{
	(void)arg;
	nr_records += (int)((size_t)(end - begin) / sizeof(activity_record_t));
	leaving_called();
}

static void use_pool(void)
{
	roctracer_properties_t properties = { .buffer_size = 4096,
					      .buffer_callback_fun = on_records };

	if (roctracer_open_pool(&properties) ||
	    roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_signal_create))
		die(1, "%s", roctracer_error_string());
	open_queue();
	for (int i = 0; i < LEAVING_MORE; i++) {
		if (i % 10 == 0)
			leaving_arm();
		make_signal();
		roctracer_flush_activity();
	}
	roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_signal_create);
	roctracer_close_pool();
	printf("left %d, records %d\n", leaving_nr_left(), nr_records);
}

static void on_marker(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	(void)domain;
	(void)data;
	(void)arg;
	if (id == ROCTX_API_ID_roctxRangePushA)
		leaving_called();
}

static void push_and_pop(void)
{
	roctxRangePushA("range");
	roctxRangePop();
}

static int use_markers(void)
{
	roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_marker, NULL);
	leaving_try(push_and_pop);
	printf("called %d\n", leaving_nr_called());
	return 0;
}

#ifdef OLD
static void on_range(const roctx_range_data_t *range, void *arg)
{
	(void)range;
	(void)arg;
	leaving_called();
}

/* The library's lock is free: another range can be pushed. */
static void look_at_ranges(void)
{
	RangeStackIterate(on_range, NULL);
	roctxRangePushA("inner");
	roctxRangePop();
}

static int use_ranges(void)
{
	roctxRangePushA("outer");
	leaving_try(look_at_ranges);
	printf("called %d\n", leaving_nr_called());
	return 0;
}
#endif

int main(int argc, char **argv)
{
	const char *part = arg_text(argc, argv, "part", "submit");

	leaving_how = arg_text(argc, argv, "how", "exception");
	if (!strcmp(part, "marker"))
		return use_markers();
#ifdef OLD
	if (!strcmp(part, "ranges"))
		return use_ranges();
#endif
	if (!strcmp(part, "pool")) {
		use_pool();
		close_queue();
		return 0;
	}
	if (!strcmp(part, "submit"))
		roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, HSA_EVT_ID_SUBMIT, on_event,
					     NULL);
	else
		roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_signal_create,
					     on_call, NULL);
	open_queue();
	leaving_try(!strcmp(part, "submit") ? submit_kernel : make_signal);
	printf("called %d\n", leaving_nr_called());
	if (strcmp(part, "submit"))
		roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API,
					      HSA_API_ID_hsa_signal_create);
	close_queue();
	return 0;
}
