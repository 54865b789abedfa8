/* SPDX-License-Identifier: MIT */
/* ends.c - where AMD's library ends the process: a status with a text, or the dispatch goes through
 * as without the library
 *
 *	ends trace|callbacks|metrics|order|reads|object|queue|allocation|none
 */
#include "client.h"

#include <stdatomic.h>

static const hsa_status_t error = HSA_STATUS_ERROR;

static hsa_status_t wants_nothing(const rocprofiler_callback_data_t *data, void *arg,
				  rocprofiler_group_t *group)
{
	(void)data;
	(void)arg;
	(void)group;
	return HSA_STATUS_SUCCESS;
}

/* A trace whose parameters are counted and not there. */
static void trace_without_parameters(void)
{
	rocprofiler_feature_t f = { .kind = ROCPROFILER_FEATURE_KIND_TRACE, .name = "TT" };
	rocprofiler_t *context = NULL;

	f.parameter_count = 1;
	BAD(rocprofiler_open(gpus[0], &f, 1, &context, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT,
	    "rocprofiler_open(), add_trace(), feature 0: 'parameters' is NULL");
	EQUAL(context == NULL, 1);
}

static void second_callbacks(void)
{
	const rocprofiler_queue_callbacks_t c = { .dispatch = wants_nothing };
	int data = 0;

	GOOD(rocprofiler_set_queue_callbacks(c, &data));
	BAD(rocprofiler_set_queue_callbacks(c, &data), error,
	    "remove_queue_callbacks() comes first");
	GOOD(rocprofiler_remove_queue_callbacks());
	GOOD(rocprofiler_set_queue_callbacks(c, &data));
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ROCP_METRICS is wrong: prints the text. */
static void metrics(void)
{
	uint32_t n = 0;

	BAD(rocprofiler_get_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, &n), error, ".xml");
	printf("%s", rocprofiler_last_error_string());
}

static void standalone(const char *steps)
{
	struct counted k = load_counted(0);
	hsa_queue_t *q = new_queue(0, 64);
	rocprofiler_feature_t f = metric("SQ_WAVES");
	rocprofiler_properties_t properties = { .queue_depth = 64 };
	rocprofiler_t *context = NULL;
	int64_t since = 0, seen = 0;

	GOOD(rocprofiler_open(gpus[0], &f, 1, &context, 3, &properties));
	for (const char *s = steps; *s; s++) {
		switch (*s) {
		case 'S':
			GOOD(rocprofiler_start(context, 0));
			since = 0;
			break;
		case 'k':
			run_counted(&k, q);
			since++;
			break;
		case 'R':
			GOOD(rocprofiler_read(context, 0));
			seen = since;
			break;
		case 'P':
			GOOD(rocprofiler_stop(context, 0));
			seen = since;
			break;
		default:
			GOOD(rocprofiler_get_data(context, 0));
			EQUAL(f.data.result_int64, seen * WAVES);
		}
	}
	GOOD(rocprofiler_close(context));
	HSA(hsa_queue_destroy(properties.queue));
}

static void order(void)
{
	standalone("SkRGkPSkRGP");
}

static void reads(void)
{
	standalone("SkRkRGkPG");
}

/* ---- dispatches: ROCP_HSA_INTERCEPT=1 -------------------------------------------------------- */

static _Atomic int nr_asked, nr_done;
static char name_seen[64];
static int64_t nr_waves = WAVES; /* of a dispatch */

static bool on_done(rocprofiler_group_t group, void *arg)
{
	rocprofiler_feature_t *f = arg;

	GOOD(rocprofiler_group_get_data(&group));
	EQUAL(f->data.result_int64, nr_waves);
	GOOD(rocprofiler_close(group.context));
	free(f);
	nr_done++;
	return false;
}

static hsa_status_t count(const rocprofiler_callback_data_t *data, void *arg,
			  rocprofiler_group_t *group)
{
	rocprofiler_feature_t *f = calloc(1, sizeof(*f));
	rocprofiler_properties_t properties = { .handler = on_done, .handler_arg = f };
	rocprofiler_t *context = NULL;

	(void)arg;
	nr_asked++;
	snprintf(name_seen, sizeof(name_seen), "%s", data->kernel_name);
	*f = metric("SQ_WAVES");
	GOOD(rocprofiler_open(data->agent, f, 1, &context, 0, &properties));
	return rocprofiler_get_group(context, 0, group);
}

static void intercept(void)
{
	const rocprofiler_queue_callbacks_t c = { .dispatch = count };

	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
}

static void wait_for(int n)
{
	for (int i = 0; i < 20000 && nr_done < n; i++)
		usleep(1000);
	EQUAL(nr_done, n);
}

/* A kernel that the program has copied: no code object has this address. */
static void unknown_object(void)
{
	struct counted k = load_counted(0);
	hsa_queue_t *q = new_queue(0, 64);
	const uint64_t from = k.kernel.object;
	char *copy = allocate(4096);
	int64_t entry;

	intercept();
	allow_all(copy);
	HSA(hsa_memory_copy(copy, (const void *)(uintptr_t)from, 64));
	/* kernel_code_entry_byte_offset counts from the descriptor */
	memcpy(&entry, copy + 16, sizeof(entry));
	entry += (int64_t)(from - (uintptr_t)copy);
	memcpy(copy + 16, &entry, sizeof(entry));
	k.kernel.object = (uintptr_t)copy;
	run_counted(&k, q);
	wait_for(1);
	EQUAL(strcmp(name_seen, "unknown kernel"), 0);
	GOOD(rocprofiler_remove_queue_callbacks());
}

static _Atomic int nr_errors;

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)queue;
	EQUAL(*(int *)data, 5);
	EQUAL(status != HSA_STATUS_SUCCESS, 1);
	nr_errors++;
}

/* The error comes to the program's callback; another queue goes on. */
static void queue_error(void)
{
	struct counted k = load_counted(0);
	hsa_kernel_dispatch_packet_t p = counted_packet(&k);
	hsa_queue_t *broken = NULL, *q;
	int arg = 5;

	intercept();
	HSA(hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, on_error, &arg, UINT32_MAX,
			     UINT32_MAX, &broken));
	q = new_queue(0, 64);
	/* no wave starts */
	p.workgroup_size_x = 0;
	nr_waves = 0;
	submit(broken, &p);
	for (int i = 0; i < 20000 && !nr_errors; i++)
		usleep(1000);
	EQUAL(nr_errors, 1);
	GOOD(rocprofiler_remove_queue_callbacks());
	HSA(hsa_queue_destroy(broken));
	run_counted(&k, q);
}

/* What the intercepted call refuses is the program's status: the plug-in has hsa_intercepting. */
static void allocation(void)
{
	void *p = NULL;

	EQUAL(hsa_amd_memory_pool_allocate(gpu_pool, (size_t)1 << 60, 0, &p) != HSA_STATUS_SUCCESS,
	      1);
	EQUAL(hsa_amd_memory_pool_allocate(gpu_pool, 4096, 0, &p), HSA_STATUS_SUCCESS);
	HSA(hsa_amd_memory_pool_free(p));
}

static void no_aqlprofile(void)
{
	rocprofiler_feature_t f = metric("SQ_WAVES");
	rocprofiler_t *context = NULL;
	struct counted k;

	intercept();
	k = load_counted(0);
	run_counted(&k, new_queue(0, 64));
	BAD(rocprofiler_open(gpus[0], &f, 1, &context, 0, NULL), error,
	    "there is no AQLprofile (libhsa-amd-aqlprofile64.so)");
	GOOD(rocprofiler_remove_queue_callbacks());
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "trace", trace_without_parameters },
		{ "callbacks", second_callbacks },
		{ "metrics", metrics },
		{ "order", order },
		{ "reads", reads },
		{ "object", unknown_object },
		{ "queue", queue_error },
		{ "allocation", allocation },
		{ "none", no_aqlprofile },
	};

	CHECK(argc == 2);
	open_agents();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return end_of_client();
}
