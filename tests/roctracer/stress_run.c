/* SPDX-License-Identifier: MIT */
/* stress_run.c - what stress.c and hip_stress.c share */
#include "stress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

atomic_bool over;
atomic_int nr_wrong;
int arguments[NR_THREADS + 1];

#define CALLBACK(n)                                                                                \
	static void callback_##n(uint32_t domain, uint32_t cid, const void *data, void *arg)       \
	{                                                                                          \
		on_call(domain, cid, data, arg, &arguments[n]);                                    \
	}
CALLBACK(0)
CALLBACK(1)
CALLBACK(2)
CALLBACK(3)
CALLBACK(4)
CALLBACK(5)
CALLBACK(6)
CALLBACK(7)
CALLBACK(8)

const activity_rtapi_callback_t callbacks[NR_THREADS + 1] = {
	callback_0, callback_1, callback_2, callback_3, callback_4,
	callback_5, callback_6, callback_7, callback_8,
};

void fail(const char *what)
{
	if (atomic_fetch_add(&nr_wrong, 1) < 20)
		printf("%s\n", what);
}

void run(void *(*first)(void *), void *(*second)(void *), time_t seconds)
{
	struct timespec time = { seconds, 0 };
	pthread_t threads[2 * NR_THREADS];
	unsigned nr = 0;

	for (unsigned i = 0; i < NR_THREADS; i++) {
		pthread_create(&threads[nr++], NULL, first, &arguments[i]);
		if (second)
			pthread_create(&threads[nr++], NULL, second, &arguments[i]);
	}
	nanosleep(&time, NULL);
	atomic_store(&over, true);
	while (nr)
		pthread_join(threads[--nr], NULL);
}

int verdict(void)
{
	printf("%d wrong\n", atomic_load(&nr_wrong));
	return atomic_load(&nr_wrong) != 0;
}
