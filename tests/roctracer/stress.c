/* SPDX-License-Identifier: MIT */
/* stress.c - registering and removing callbacks, opening and closing pools, while others make calls
 *
 *	stress SECONDS
 *
 * A callback and its argument always belong together, whatever is registered meanwhile. Needs no GPU, so
 * that it can run under a sanitizer. Prints what is wrong; the exit status says whether anything is.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_roctx.h"

#define NR_THREADS 8

static atomic_bool over;
static atomic_int nr_wrong;
static atomic_ulong nr_told;
static int arguments[NR_THREADS];

/* Of each pair the callback knows its argument. */
#define CALLBACK(n)                                                                                \
	static void callback_##n(uint32_t domain, uint32_t cid, const void *data, void *arg)       \
	{                                                                                          \
		const roctx_api_data_t *d = data;                                                  \
                                                                                                   \
		if (domain != ACTIVITY_DOMAIN_ROCTX || arg != &arguments[n] ||                     \
		    (cid == ROCTX_API_ID_roctxRangePushA && !d->args.message))                     \
			atomic_fetch_add(&nr_wrong, 1);                                            \
		atomic_fetch_add(&nr_told, 1);                                                     \
	}
CALLBACK(0)
CALLBACK(1)
CALLBACK(2)
CALLBACK(3)
CALLBACK(4)
CALLBACK(5)
CALLBACK(6)
CALLBACK(7)

static const activity_rtapi_callback_t callbacks[NR_THREADS] = {
	callback_0, callback_1, callback_2, callback_3,
	callback_4, callback_5, callback_6, callback_7,
};

static void fail(const char *what)
{
	printf("%s\n", what);
	atomic_fetch_add(&nr_wrong, 1);
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
	struct timespec time = { argc > 1 ? strtol(argv[1], NULL, 10) : 1, 0 };
	pthread_t threads[2 * NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		pthread_create(&threads[2 * i], NULL, change, &arguments[i]);
		pthread_create(&threads[2 * i + 1], NULL, call, NULL);
	}
	nanosleep(&time, NULL);
	atomic_store(&over, true);
	for (int i = 0; i < 2 * NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	if (!atomic_load(&nr_told))
		fail("nothing was told");
	printf("%d wrong\n", atomic_load(&nr_wrong));
	return atomic_load(&nr_wrong) != 0;
}
