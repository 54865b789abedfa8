/* SPDX-License-Identifier: MIT */
/* empty_calls.c - a program that calls every function of HIP or HSA that there is, with arguments
 * that are all zero; but empty_given.c's
 *
 *	sdk_empty_calls hip|hsa FILE [NAME]
 *
 * FILE lists the functions that are left out, one on a line; NAME is the first one, else all are
 * called. stdout has a line for each function that the runtime has: its name, and `= status`, `=
 * none` where it has none, or `left out`.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "empty_calls.h"

char empty_memory[4096];
uint64_t empty_signal;
void *empty_queue;

static char left_out[512][96];
static int nr_left_out;

void *empty_find(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol);
}

/* The runtime of the suite in which the program runs, and HSA's. */
static void load(void)
{
	static const char *const names[] = { "libamdhip64.so.5", "libamdhip64.so.6",
					     "libamdhip64.so.7" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dlopen(names[i], RTLD_NOW | RTLD_GLOBAL))
			return;
}

static void read_list(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[96];

	while (f && nr_left_out < 512 && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " #\n")] = '\0';
		if (line[0])
			memcpy(left_out[nr_left_out++], line, sizeof(line));
	}
	if (f)
		fclose(f);
}

static int is_left_out(const char *name)
{
	for (int i = 0; i < nr_left_out; i++)
		if (strcmp(left_out[i], name) == 0)
			return 1;
	return 0;
}

static int keep_gpu(uint64_t agent, void *to)
{
	int (*info)(uint64_t, int, void *);
	unsigned int type = 0;

	*(void **)&info = empty_find("hsa_agent_get_info");
	/* HSA_AGENT_INFO_DEVICE, HSA_DEVICE_TYPE_GPU; 1 ends the iteration */
	if (info(agent, 17, &type) || type != 1)
		return 0;
	*(uint64_t *)to = agent;
	return 1;
}

/* 0, or what failed. A handle of HSA is passed as a number. */
static int begin_hsa(void)
{
	int (*agents)(int (*fn)(uint64_t, void *), void *);
	int (*signal)(long, uint32_t, const uint64_t *, uint64_t *);
	int (*queue)(uint64_t, uint32_t, int, void *, void *, uint32_t, uint32_t, void **);
	int (*init)(void);
	uint64_t gpu = 0;

	*(void **)&init = empty_find("hsa_init");
	*(void **)&agents = empty_find("hsa_iterate_agents");
	*(void **)&signal = empty_find("hsa_signal_create");
	*(void **)&queue = empty_find("hsa_queue_create");
	if (!init || init())
		return 1;
	agents(keep_gpu, &gpu);
	if (signal(0, 0, NULL, &empty_signal) ||
	    queue(gpu, 256, 0, NULL, NULL, UINT32_MAX, UINT32_MAX, &empty_queue))
		return 1;
	empty_give_hsa();
	return 0;
}

static int begin_hip(void)
{
	int (*init)(unsigned int);

	*(void **)&init = empty_find("hipInit");
	if (!init || init(0))
		return 1;
	empty_give_hip();
	return 0;
}

static const struct empty_call *given(const struct empty_call *c)
{
	for (const struct empty_call *g = empty_given; g->name; g++)
		if (strcmp(g->name, c->name) == 0)
			return g;
	return c;
}

static void call(const struct empty_call *c)
{
	enum empty_result what;
	long long result = 0;

	printf("%s ", c->name);
	what = given(c)->call(&result);
	if (what == EMPTY_ABSENT)
		printf("is absent\n");
	else if (what == EMPTY_STATUS)
		printf("= %lld\n", result);
	else
		printf("= none\n");
}

int main(int argc, char **argv)
{
	const struct empty_call *c;
	int has_begun = argc < 4, is_hip;

	if (argc < 3)
		return 2;
	/* what the last call was is known when it does not return */
	setvbuf(stdout, NULL, _IONBF, 0);
	read_list(argv[2]);
	load();
	is_hip = strcmp(argv[1], "hip") == 0;
	if (is_hip ? begin_hip() : begin_hsa())
		return 3;
	for (c = is_hip ? empty_hip : empty_hsa; c->name; c++) {
		has_begun |= argc > 3 && strcmp(argv[3], c->name) == 0;
		if (!has_begun)
			continue;
		if (!is_left_out(c->name))
			call(c);
		else if (empty_find(c->name))
			printf("%s left out\n", c->name);
	}
	return 0;
}
