/* SPDX-License-Identifier: MIT */
/* stress.c - registering and removing callbacks, opening and closing pools, while other threads
 * make calls
 *
 *	stress SECONDS
 *
 * A callback and its argument always belong together, whatever is registered meanwhile. Needs no
 * GPU, so that it can run under a sanitizer. Prints what is wrong; the exit status says whether
 * anything is.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_roctx.h"
#include "stress.h"

static atomic_ulong nr_seen;

void on_call(uint32_t domain, uint32_t cid, const void *data, const void *arg, const int *its)
{
	const roctx_api_data_t *d = data;

	if (domain != ACTIVITY_DOMAIN_ROCTX || arg != its ||
	    (cid == ROCTX_API_ID_roctxRangePushA && !d->args.message))
		fail("callback and argument");
	atomic_fetch_add(&nr_seen, 1);
}

static void no_records(const char *begin, const char *end, void *arg)
{
	(void)begin;
	(void)end;
	(void)arg;
	fail("a record");
}

static void *change(void *arg)
{
	int n = (int)((int *)arg - arguments);
	roctracer_properties_t props = { .buffer_size = 256, .buffer_callback_fun = no_records };
	roctracer_pool_t *pool;
	unsigned round = 0;

	while (!atomic_load(&over)) {
		uint32_t op = round++ % ROCTX_API_ID_NUMBER;

		if (roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, op, callbacks[n], arg) ||
		    roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, callbacks[n], arg) ||
		    (n % 2 && roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, op)))
			fail("callbacks");
		if (roctracer_open_pool_expl(&props, &pool) ||
		    roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_ROCTX, pool) ||
		    roctracer_flush_activity_expl(pool) ||
		    roctracer_disable_domain_activity(ACTIVITY_DOMAIN_ROCTX) ||
		    roctracer_close_pool_expl(pool))
			fail("pools");
		roctracer_stop();
		roctracer_start();
	}
	return arg;
}

static void *call(void *arg)
{
	while (!atomic_load(&over)) {
		roctxMarkA("mark");
		roctxRangePushA("push");
		if (roctxRangePop() != 0)
			fail("level");
		roctxRangeStop(roctxRangeStartA("start"));
	}
	return arg;
}

int main(int argc, char **argv)
{
	run(change, call, argc > 1 ? strtol(argv[1], NULL, 10) : 1);
	if (!atomic_load(&nr_seen))
		fail("no callback was called");
	return verdict();
}
