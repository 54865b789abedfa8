/* SPDX-License-Identifier: MIT */
/* roctx_calls.c - a client of roctx, in C and in C++: what calls return, what callbacks get
 *
 * Prints a line for each callback and each result; the test compares. Linked with libroctx64.so.4,
 * or with .so.1 (OLD).
 */
#include "roctx_layout.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "mark", "push", "pop", "start", "stop" };

static void show(const char *who, uint32_t domain, uint32_t op, const void *data)
{
	const roctx_api_data_t *d = (const roctx_api_data_t *)data;
	const char *message = d->args.message;

	printf("%s: domain %u %s %s %llu\n", who, domain, op < 5 ? names[op] : "?",
	       message ? message : "(none)", (unsigned long long)d->args.id);
}

static int on_all(activity_domain_t domain, uint32_t op, void *data)
{
	show("all", domain, op, data);
	return 0;
}

static void on_one(uint32_t domain, uint32_t op, const void *data, void *arg)
{
	show((const char *)arg, domain, op, data);
}

static char arg_one[] = "one", arg_two[] = "two";

static void round_of_calls(void)
{
	roctx_range_id_t id;

	roctxMark("m");
	printf("push %d\n", roctxRangePush("outer"));
	printf("push %d\n", roctxRangePush(NULL));
	printf("pop %d\n", roctxRangePop());
	printf("pop %d\n", roctxRangePop());
	printf("pop %d\n", roctxRangePop());
	id = roctxRangeStart("s");
	roctxRangeStop(id);
	roctxRangeStop(id);
}

#ifdef OLD
#ifdef __cplusplus
extern "C"
#endif
	const char *
	roctracer_error_string(void);

static void show_range(const roctx_range_data_t *range, void *arg)
{
	printf("%s %s\n", (const char *)arg, range->message);
}

static void *other_thread(void *arg)
{
	roctxRangePushA("of a thread");
	RangeStackIterate(show_range, arg);
	return arg;
}

static void open_ranges(void)
{
	pthread_t thread;
	const char *text = roctracer_error_string();

	printf("error '%s'\n", text);
	free((void *)text);
	roctxRangePushA("a");
	roctxRangePushA("b");
	pthread_create(&thread, NULL, other_thread, arg_one);
	pthread_join(thread, NULL);
	RangeStackIterate(show_range, arg_two);
	roctxRangePop();
	RangeStackIterate(show_range, arg_one);
	roctxRangePop();
	RangeStackIterate(show_range, arg_two);
}
#endif

int main(void)
{
	printf("version %u.%u\n", roctx_version_major(), roctx_version_minor());
	round_of_calls();
	roctxRegisterTracerCallback(on_all);
	round_of_calls();
	printf("register %d %d\n", RegisterApiCallback(1, (void *)on_one, arg_one),
	       RegisterApiCallback(5, (void *)on_one, NULL));
	roctxRegisterTracerCallback(NULL);
	printf("register %d\n", RegisterApiCallback(2, (void *)on_one, arg_two));
	round_of_calls();
	printf("remove %d %d %d\n", RemoveApiCallback(1), RemoveApiCallback(2),
	       RemoveApiCallback(5));
	round_of_calls();
#ifdef OLD
	open_ranges();
#endif
	return 0;
}
