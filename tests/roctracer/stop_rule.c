/* SPDX-License-Identifier: MIT */
/* stop_rule.c - what of roctx a client is called for while tracing is stopped
 *
 *	stop_rule EXPECTED [HIP]
 *
 * 100 times three calls of roctx while tracing is on, and three while it is stopped. HIP is a
 * library to load before: which one is in the process tells clients of 5.3 from those of later
 * releases. Exits with whether it was called another number of times than EXPECTED.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/expect.h"
#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_roctx.h"

static int nr_wrong, nr_calls;

static void on_range(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)cid;
	(void)data;
	IS(domain, ACTIVITY_DOMAIN_ROCTX);
	IS(arg == &nr_calls, 1);
	nr_calls++;
}

static void annotate(void)
{
	roctxMarkA("mark");
	roctxRangePushA("range");
	roctxRangePop();
}

int main(int argc, char **argv)
{
	if (argc < 2 || (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL))) {
		printf("%s\n", argc > 2 ? dlerror() : "usage: stop_rule EXPECTED [HIP]");
		return 1;
	}
	IS(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_range, &nr_calls), 0);
	for (int i = 0; i < 100; i++) {
		annotate();
		roctracer_stop();
		annotate();
		roctracer_start();
	}
	IS(nr_calls, strtol(argv[1], NULL, 10));
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
