/* SPDX-License-Identifier: MIT */
/* dispatches.c - a program whose dispatches it intercepts itself, by rocprofiler
 *
 *	dispatches spec|times|pool|many|queues|refused|tau|destroyed|traces
 *	dispatches soak N	N dispatches of each GPU through pools; prints the memory of the
 *				process after the half and at the end
 *	dispatches storm N	two threads for each GPU with N dispatches each: by pools, contexts,
 *				groups of contexts, or not counted, while another thread stops and
 *				starts the callbacks
 *
 * Needs HSA_TOOLS_LIB; ROCP_HSA_INTERCEPT as the part says.
 */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>

static struct counted counted[GPUS_MAX];
static int per_thread = 32;
static hsa_queue_t *queues[GPUS_MAX];

static void open_machine(void)
{
	open_agents();
	for (unsigned int i = 0; i < nr_gpus; i++) {
		counted[i] = load_counted(i);
		queues[i] = new_queue(i, 64);
	}
}

/* ---- the specification's example: 5.2 -------------------------------------------------------- */

struct entry {
	rocprofiler_callback_data_t data;
	rocprofiler_group_t group;
	rocprofiler_feature_t *features;
	uint32_t feature_count;
	rocprofiler_dispatch_record_t *record;
};

#define MAX_ENTRIES 256
static struct entry saved[MAX_ENTRIES];
static _Atomic int nr_saved, nr_handled;

static hsa_status_t dispatch_callback(const rocprofiler_callback_data_t *callback_data,
				      void *user_data, rocprofiler_group_t *group)
{
	rocprofiler_t *context = NULL;
	rocprofiler_feature_t *features = calloc(2, sizeof(*features));
	struct entry *e = &saved[nr_saved];
	hsa_status_t status;
	uint32_t count = 0;

	(void)user_data;
	features[0].type = ROCPROFILER_METRIC;
	features[0].name = "L1_MISS_RATIO";
	features[1].type = ROCPROFILER_METRIC;
	features[1].name = "DRAM_BANDWIDTH";
	status = rocprofiler_open(callback_data->dispatch.agent, features, 2, &context,
				  ROCPROFILER_MODE_SINGLEGROUP, NULL);
	GOOD(status);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	GOOD(rocprofiler_group_count(context, &count));
	EQUAL(count, 1);
	status = rocprofiler_get_group(context, 0, group);
	GOOD(status);
	*e = (struct entry){
		.data = *callback_data, .group = *group, .features = features, .feature_count = 2
	};
	nr_saved++;
	return status;
}

static const char *const kernel_name = "counted.kd";

static void spec(void)
{
	hsa_status_t status = rocprofiler_add_dispatch_callback(dispatch_callback, NULL);

	GOOD(status);
	open_machine();
	for (int i = 0; i < 5; i++)
		run_counted(&counted[0], queues[0]);
	EQUAL(nr_saved, 5);
	for (int i = 0; i < nr_saved; i++) {
		struct entry *e = &saved[i];

		GOOD(rocprofiler_group_get_data(&e->group));
		GOOD(rocprofiler_get_metrics(e->group.context));
		/* a line is read once and written once: all reads of it miss */
		EQUAL(e->features[0].data.result_double, 1);
		EQUAL(e->features[1].data.result_double,
		      2.0 * LINES * 64 /
			      e->group.features[e->group.feature_count - 1]->data.result_int64);
		EQUAL(strcmp(e->group.features[e->group.feature_count - 1]->name,
			     "GRBM_GUI_ACTIVE"),
		      0);
		EQUAL(e->group.features[e->group.feature_count - 1]->data.result_int64, CYCLES);
		GOOD(rocprofiler_close(e->group.context));
		EQUAL(strcmp(e->data.kernel_name, kernel_name), 0);
		EQUAL(e->data.queue == queues[0], 1);
		/* the queue's first packet was librtl's */
		EQUAL(e->data.queue_index, i + 1);
		EQUAL(e->data.queue_id, 0);
		EQUAL(e->data.agent_index, 0);
		EQUAL(e->data.kernel_object, counted[0].kernel.object);
		EQUAL(e->data.kernel_code != NULL, 1);
		EQUAL(e->data.thread_id, getpid());
		EQUAL(e->data.completion_signal.handle != 0, 1);
		EQUAL(e->data.record == NULL, 1);
		free(e->features);
	}
	GOOD(rocprofiler_remove_intercepting());
	run_counted(&counted[0], queues[0]);
	EQUAL(nr_saved, 5);
}

/* ---- completion handler and records: ROCP_HSA_INTERCEPT=2 ------------------------------------ */

static bool on_complete(rocprofiler_group_t group, void *arg)
{
	struct entry *e = arg;
	const rocprofiler_dispatch_record_t *r = e->record;

	EQUAL(group.context == e->group.context, 1);
	GOOD(rocprofiler_group_get_data(&group));
	GOOD(rocprofiler_get_metrics(group.context));
	EQUAL(e->features[0].data.result_int64, WAVES);
	EQUAL(e->features[1].data.result_double, VALU / WAVES);
	if (!r || !r->dispatch || r->dispatch > r->begin || r->begin >= r->end ||
	    r->end > r->complete) {
		printf("record %d: %llu %llu %llu %llu\n", (int)(e - saved),
		       (unsigned long long)(r ? r->dispatch : 0),
		       (unsigned long long)(r ? r->begin : 0), (unsigned long long)(r ? r->end : 0),
		       (unsigned long long)(r ? r->complete : 0));
		nr_wrong++;
	}
	GOOD(rocprofiler_close(group.context));
	free(e->record);
	free(e->features);
	nr_handled++;
	return false;
}

static hsa_status_t open_with_handler(const rocprofiler_callback_data_t *data, void *arg,
				      rocprofiler_group_t *group)
{
	struct entry *e = &saved[nr_saved++ % MAX_ENTRIES];
	rocprofiler_properties_t properties = { .handler = on_complete, .handler_arg = e };
	rocprofiler_t *context = NULL;

	EQUAL(*(int *)arg, 77);
	e->features = calloc(2, sizeof(*e->features));
	e->features[0] = metric("SQ_WAVES");
	e->features[1] = metric("VALUInsts");
	e->record = (rocprofiler_dispatch_record_t *)(uintptr_t)data->record;
	GOOD(rocprofiler_open(data->agent, e->features, 2, &context, 0, &properties));
	GOOD(rocprofiler_get_group(context, 0, group));
	e->group = *group;
	return HSA_STATUS_SUCCESS;
}

static void wait_handled(int n)
{
	for (int i = 0; i < 60000 && nr_handled < n; i++)
		usleep(1000);
	EQUAL(nr_handled, n);
}

static void times(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = open_with_handler };
	int arg = 77;

	GOOD(rocprofiler_set_queue_callbacks(c, &arg));
	BAD(rocprofiler_set_queue_callbacks(c, &nr_wrong), HSA_STATUS_ERROR,
	    "remove_queue_callbacks() comes first");
	open_machine();
	for (int i = 0; i < 20; i++)
		run_counted(&counted[0], queues[0]);
	GOOD(rocprofiler_stop_queue_callbacks());
	run_counted(&counted[0], queues[0]);
	GOOD(rocprofiler_start_queue_callbacks());
	run_counted(&counted[0], queues[0]);
	wait_handled(21);
	EQUAL(nr_saved, 21);
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ---- many dispatches at once, several GPUs, threads ------------------------------------------ */

static void *launch(void *arg)
{
	unsigned int gpu = (unsigned int)(uintptr_t)arg;
	hsa_queue_t *q = new_queue(gpu, 64);
	hsa_signal_t done[32];

	for (int i = 0; i < per_thread; i++) {
		hsa_kernel_dispatch_packet_t p = counted_packet(&counted[gpu]);

		if (i >= 32)
			wait_done(done[i % 32]);
		/* the next one waits for it: they share their memory */
		p.header |= 1 << HSA_PACKET_HEADER_BARRIER;
		done[i % 32] = submit(q, &p);
	}
	for (int i = per_thread > 32 ? per_thread - 32 : 0; i < per_thread; i++)
		wait_done(done[i % 32]);
	HSA(hsa_queue_destroy(q));
	return NULL;
}

static void launch_on_all(void)
{
	pthread_t threads[GPUS_MAX];

	for (unsigned int i = 0; i < nr_gpus; i++)
		CHECK(pthread_create(&threads[i], NULL, launch, (void *)(uintptr_t)i) == 0);
	for (unsigned int i = 0; i < nr_gpus; i++)
		pthread_join(threads[i], NULL);
}

static void *launch_again(void *arg)
{
	launch_on_all();
	return arg;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static hsa_status_t open_in_order(const rocprofiler_callback_data_t *data, void *arg,
				  rocprofiler_group_t *group)
{
	hsa_status_t status;

	pthread_mutex_lock(&mutex);
	status = open_with_handler(data, arg, group);
	pthread_mutex_unlock(&mutex);
	return status;
}

static void many(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = open_in_order };
	int arg = 77;

	GOOD(rocprofiler_set_queue_callbacks(c, &arg));
	open_machine();
	launch_on_all();
	wait_handled((int)nr_gpus * 32);
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ---- pools, as PAPI uses them ---------------------------------------------------------------- */

struct payload {
	rocprofiler_group_t group;
	uint64_t number;
};

static rocprofiler_pool_t *pools[GPUS_MAX];
static rocprofiler_feature_t pool_features[GPUS_MAX][3];
/* Where callbacks are stopped and started: dispatches that came meanwhile may run beside the first
 * ones that are counted, and those have an error instead of counts. */
static bool restarts;
static _Atomic int nr_beside;

static bool ran_beside_others(hsa_status_t status)
{
	bool did = restarts && status == HSA_STATUS_ERROR &&
		   strstr(rocprofiler_last_error_string(),
			  "submitted before counting began ran beside it");

	nr_beside += did;
	return did;
}

static uint64_t nr_fetched, last_number[GPUS_MAX];
static bool pools_in_order = true; /* a GPU has one queue */

static bool on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
	unsigned int gpu = (unsigned int)(uintptr_t)arg;
	struct payload *p = entry->payload;
	rocprofiler_feature_t *f = pool_features[gpu];
	hsa_status_t status;

	pthread_mutex_lock(&mutex);
	EQUAL((uintptr_t)p % 64, 0);
	if (pools_in_order)
		EQUAL(p->number > last_number[gpu], 1);
	last_number[gpu] = p->number;
	status = rocprofiler_group_get_data(&p->group);
	if (!ran_beside_others(status)) {
		GOOD(status);
		GOOD(rocprofiler_get_metrics(entry->context));
		EQUAL(f[0].data.result_int64, WAVES);
		EQUAL(f[1].data.result_int64, CYCLES);
		EQUAL(f[2].data.result_double, 2 * LINES);
	}
	nr_handled++;
	pthread_mutex_unlock(&mutex);
	return true;
}

static hsa_status_t fetch(const rocprofiler_callback_data_t *data, void *arg,
			  rocprofiler_group_t *group)
{
	rocprofiler_pool_entry_t entry;
	struct payload *p;

	(void)arg;
	GOOD(rocprofiler_pool_fetch(pools[data->agent_index], &entry));
	GOOD(rocprofiler_get_group(entry.context, 0, group));
	p = entry.payload;
	p->group = *group;
	p->number = __atomic_add_fetch(&nr_fetched, 1, __ATOMIC_RELAXED);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t count_entries(rocprofiler_pool_entry_t *entry, void *arg)
{
	EQUAL(entry->context != NULL, 1);
	++*(int *)arg;
	return HSA_STATUS_SUCCESS;
}

static void open_pools(void)
{
	open_machine();
	for (unsigned int i = 0; i < nr_gpus; i++) {
		rocprofiler_pool_properties_t properties = { 8, sizeof(struct payload), on_entry,
							     (void *)(uintptr_t)i };

		pool_features[i][0] = metric("SQ_WAVES");
		pool_features[i][1] = metric("GRBM_GUI_ACTIVE");
		pool_features[i][2] = metric("TCC_MISS_sum");
		GOOD(rocprofiler_pool_open(gpus[i], pool_features[i], 3, &pools[i], 0,
					   &properties));
	}
}

static void flush_pools(void)
{
	for (unsigned int i = 0; i < nr_gpus; i++)
		GOOD(rocprofiler_pool_flush(pools[i]));
}

static void close_pools(void)
{
	for (unsigned int i = 0; i < nr_gpus; i++)
		GOOD(rocprofiler_pool_close(pools[i]));
}

static void pool(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = fetch };
	rocprofiler_pool_entry_t entry;
	int n = 0;

	open_pools();
	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	launch_on_all();
	flush_pools();
	wait_handled((int)nr_gpus * 32);
	GOOD(rocprofiler_remove_queue_callbacks());
	GOOD(rocprofiler_pool_fetch(pools[0], &entry));
	GOOD(rocprofiler_pool_iterate(pools[0], count_entries, &n));
	EQUAL(n, 1);
	GOOD(rocprofiler_pool_release(&entry));
	GOOD(rocprofiler_pool_iterate(pools[0], count_entries, &n));
	EQUAL(n, 1);
	BAD(rocprofiler_pool_fetch(NULL, &entry), HSA_STATUS_ERROR_INVALID_ARGUMENT,
	    "'pool' is NULL");
	close_pools();
}

static long resident_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%*s %ld", &pages) == 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void soak(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = fetch };
	long half;

	open_pools();
	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	per_thread /= 2;
	launch_on_all();
	flush_pools();
	half = resident_kib();
	launch_on_all();
	flush_pools();
	wait_handled((int)nr_gpus * 2 * per_thread);
	printf("resident %ld %ld\n", half, resident_kib());
	GOOD(rocprofiler_remove_queue_callbacks());
	close_pools();
}

/* ---- all at once ----------------------------------------------------------------------------- */

/* more than one pass has counters for */
static const char *const many_names[] = {
	"SQ_WAVES",	    "SQ_INSTS_VALU",	"SQ_INSTS_SALU",
	"SQ_INSTS_SMEM",    "SQ_INSTS_FLAT",	"SQ_INSTS_LDS",
	"SQ_INSTS_GDS",	    "SQ_INSTS_VMEM_RD", "SQ_ACTIVE_INST_VALU",
	"SQ_INSTS_VMEM_WR",
};
#define NR_MANY (sizeof(many_names) / sizeof(many_names[0]))

static _Atomic int nr_wanted, is_over;

static bool on_group(rocprofiler_group_t group, void *arg)
{
	rocprofiler_feature_t *features = arg;
	hsa_status_t status = rocprofiler_group_get_data(&group);

	if (!ran_beside_others(status)) {
		GOOD(status);
		GOOD(rocprofiler_get_metrics(group.context));
		if (group.index == 0)
			EQUAL(features[0].data.result_int64, WAVES);
	}
	GOOD(rocprofiler_close(group.context));
	free(features);
	nr_handled++;
	return false;
}

static hsa_status_t open_group(const rocprofiler_callback_data_t *data, int i,
			       rocprofiler_group_t *group)
{
	rocprofiler_feature_t *features = calloc(NR_MANY, sizeof(*features));
	rocprofiler_properties_t properties = { .handler = on_group, .handler_arg = features };
	rocprofiler_t *context = NULL;
	uint32_t nr = 0;

	for (size_t k = 0; k < NR_MANY; k++)
		features[k] = metric(many_names[k]);
	GOOD(rocprofiler_open(data->agent, features, NR_MANY, &context, 0, &properties));
	GOOD(rocprofiler_group_count(context, &nr));
	EQUAL(nr, 2);
	return rocprofiler_get_group(context, (uint32_t)i / 4 % 2, group);
}

static hsa_status_t any_way(const rocprofiler_callback_data_t *data, void *arg,
			    rocprofiler_group_t *group)
{
	int i = nr_saved++;

	if (i % 4 == 3)
		return HSA_STATUS_ERROR; /* it is not counted */
	nr_wanted++;
	return i % 4 ? open_group(data, i, group) : fetch(data, arg, group);
}

static void *stop_and_start(void *arg)
{
	while (!is_over) {
		int before = nr_saved;

		while (!is_over && nr_saved < before + 8)
			usleep(200);
		GOOD(rocprofiler_stop_queue_callbacks());
		usleep(500);
		GOOD(rocprofiler_start_queue_callbacks());
	}
	return arg;
}

static void storm(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = any_way };
	pthread_t stopper, more;

	pools_in_order = false;
	restarts = true;
	open_pools();
	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	CHECK(pthread_create(&stopper, NULL, stop_and_start, NULL) == 0);
	CHECK(pthread_create(&more, NULL, launch_again, NULL) == 0);
	launch_on_all();
	pthread_join(more, NULL);
	is_over = 1;
	pthread_join(stopper, NULL);
	flush_pools();
	wait_handled(nr_wanted);
	printf("asked %d wanted %d handled %d beside %d\n", nr_saved, nr_wanted, nr_handled,
	       nr_beside);
	GOOD(rocprofiler_remove_queue_callbacks());
	close_pools();
}

/* ---- queues ---------------------------------------------------------------------------------- */

static int nr_created, nr_destroyed;
static bool keeps;

static hsa_status_t on_create(hsa_queue_t *queue, void *data)
{
	EQUAL(queue != NULL && data == &nr_created, 1);
	nr_created++;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_destroy(hsa_queue_t *queue, void *data)
{
	EQUAL(queue != NULL && data == &nr_created, 1);
	nr_destroyed++;
	return keeps ? HSA_STATUS_ERROR_INVALID_QUEUE : HSA_STATUS_SUCCESS;
}

static uint32_t last_id;

static hsa_status_t note_id(const rocprofiler_callback_data_t *data, void *arg,
			    rocprofiler_group_t *group)
{
	(void)arg;
	(void)group;
	last_id = data->queue_id;
	nr_saved++;
	return HSA_STATUS_ERROR;
}

static void queue_callbacks(void)
{
	rocprofiler_queue_callbacks_t c = { note_id, on_create, on_destroy };
	hsa_queue_t *more, *profiled = NULL;
	rocprofiler_properties_t properties = { .queue_depth = 64 };
	rocprofiler_feature_t f = metric("SQ_WAVES");
	rocprofiler_t *context;

	GOOD(rocprofiler_set_queue_callbacks(c, &nr_created));
	open_machine();
	EQUAL(nr_created, nr_gpus);
	more = new_queue(0, 128);
	EQUAL(nr_created, nr_gpus + 1);
	run_counted(&counted[0], more);
	EQUAL(last_id, nr_gpus);
	EQUAL(nr_saved, 1);
	keeps = true;
	EQUAL(hsa_queue_destroy(more), HSA_STATUS_ERROR_INVALID_QUEUE);
	run_counted(&counted[0], more);
	keeps = false;
	HSA(hsa_queue_destroy(more));
	EQUAL(nr_destroyed, 2);
	GOOD(rocprofiler_queue_create_profiled(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
					       UINT32_MAX, UINT32_MAX, &profiled));
	run_counted(&counted[0], profiled);
	EQUAL(nr_saved, 3);
	HSA(hsa_queue_destroy(profiled));
	/* a context's queue is none of the program's */
	GOOD(rocprofiler_open(gpus[0], &f, 1, &context, 3, &properties));
	EQUAL(nr_created, nr_gpus + 2);
	GOOD(rocprofiler_close(context));
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ---- TAU: times alone ------------------------------------------------------------------------ */

static rocprofiler_dispatch_record_t *records[MAX_ENTRIES];
static rocprofiler_t *contexts[MAX_ENTRIES];

static bool on_times(rocprofiler_group_t group, void *arg)
{
	uintptr_t i = (uintptr_t)arg;

	EQUAL(group.context == NULL && !group.feature_count, 1);
	EQUAL(records[i]->begin < records[i]->end && records[i]->end <= records[i]->complete, 1);
	free(records[i]);
	GOOD(rocprofiler_close(contexts[i]));
	nr_handled++;
	return true;
}

static hsa_status_t open_empty(const rocprofiler_callback_data_t *data, void *arg,
			       rocprofiler_group_t *group)
{
	uintptr_t i = (uintptr_t)nr_saved++;
	rocprofiler_properties_t properties = { .handler = on_times, .handler_arg = (void *)i };

	(void)arg;
	CHECK(i < MAX_ENTRIES && data->record && data->kernel_name);
	records[i] = (rocprofiler_dispatch_record_t *)(uintptr_t)data->record;
	GOOD(rocprofiler_open(data->agent, NULL, 0, &contexts[i], 0, &properties));
	GOOD(rocprofiler_get_group(contexts[i], 0, group));
	return HSA_STATUS_SUCCESS;
}

static void tau(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = open_empty };

	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	open_machine();
	for (int i = 0; i < 20; i++)
		run_counted(&counted[0], queues[0]);
	wait_handled(20);
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ---- queues that end with dispatches in them ------------------------------------------------- */

/* Counted, or a text says why not. */
static bool on_ended(rocprofiler_group_t group, void *arg)
{
	struct entry *e = arg;

	if (rocprofiler_group_get_data(&group) == HSA_STATUS_SUCCESS)
		EQUAL(e->features[0].data.result_int64, WAVES);
	else
		EQUAL(strstr(rocprofiler_last_error_string(), "it was not counted: ") != NULL, 1);
	GOOD(rocprofiler_close(group.context));
	free(e->features);
	nr_handled++;
	return false;
}

static hsa_status_t open_ended(const rocprofiler_callback_data_t *data, void *arg,
			       rocprofiler_group_t *group)
{
	struct entry *e = &saved[nr_saved++ % MAX_ENTRIES];
	rocprofiler_properties_t properties = { .handler = on_ended, .handler_arg = e };
	rocprofiler_t *context = NULL;

	(void)arg;
	e->features = calloc(1, sizeof(*e->features));
	e->features[0] = metric("SQ_WAVES");
	GOOD(rocprofiler_open(data->agent, e->features, 1, &context, 0, &properties));
	GOOD(rocprofiler_get_group(context, 0, group));
	return HSA_STATUS_SUCCESS;
}

static void destroyed(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = open_ended };

	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	open_machine();
	for (int round = 0; round < 20; round++) {
		hsa_queue_t *q = new_queue(0, 64);

		for (int i = 0; i < 8; i++) {
			hsa_kernel_dispatch_packet_t p = counted_packet(&counted[0]);

			submit(q, &p);
		}
		usleep((useconds_t)round * 50);
		HSA(hsa_queue_destroy(q));
	}
	wait_handled(nr_saved);
	run_counted(&counted[0], queues[0]);
	wait_handled(nr_saved);
	GOOD(rocprofiler_remove_queue_callbacks());
}

/* ---- without interception, and callbacks that refuse ----------------------------------------- */

/* ---- thread traces --------------------------------------------------------------------------- */

/* Every second dispatch has a trace alone, the others a counter, too; every fourth one copies its
 * data. */
struct traced {
	rocprofiler_feature_t f[2];
	rocprofiler_parameter_t parameter;
	uint32_t nr;
};

static bool on_traced(rocprofiler_group_t group, void *arg)
{
	struct traced *t = arg;
	rocprofiler_feature_t *trace = &t->f[t->nr - 1];
	struct tokens seen = { 0 }, copied = { 0 };
	const char *at;

	GOOD(rocprofiler_group_get_data(&group));
	if (t->nr == 2)
		EQUAL(t->f[0].data.result_int64, WAVES);
	EQUAL(trace->data.kind, ROCPROFILER_DATA_KIND_BYTES);
	EQUAL(trace->data.result_bytes.instance_count, 4);
	GOOD(rocprofiler_iterate_trace_data(group.context, on_instance, &seen));
	/* of this dispatch alone, though others wait */
	EQUAL(seen.instances, 4);
	EQUAL(seen.starts - seen.starts_of_runtime, WAVES);
	EQUAL(seen.starts, seen.ends);
	EQUAL(seen.has_several_dispatches, 0);
	at = trace->data.result_bytes.ptr;
	for (uint32_t i = 0, size; trace->data.result_bytes.copy && i < 4; i++) {
		memcpy(&size, at, sizeof(size));
		count_tokens(at + sizeof(size), size, &copied);
		at += sizeof(size) + size;
	}
	EQUAL(copied.starts - copied.starts_of_runtime, trace->data.result_bytes.copy ? WAVES : 0);
	GOOD(rocprofiler_close(group.context));
	free(t);
	nr_handled++;
	return false;
}

static hsa_status_t open_traced(const rocprofiler_callback_data_t *data, void *arg,
				rocprofiler_group_t *group)
{
	struct traced *t = calloc(1, sizeof(*t));
	rocprofiler_properties_t properties = { .handler = on_traced, .handler_arg = t };
	rocprofiler_feature_t *trace;
	rocprofiler_t *context = NULL;
	int n = nr_saved++;

	(void)arg;
	t->nr = n % 2 ? 1 : 2;
	t->f[0] = metric("SQ_WAVES");
	trace = &t->f[t->nr - 1];
	trace->kind = ROCPROFILER_FEATURE_KIND_TRACE;
	trace->name = "TT";
	trace->data.result_bytes.copy = n % 4 == 0;
	t->parameter.parameter_name = HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET;
	trace->parameters = &t->parameter;
	trace->parameter_count = 1;
	GOOD(rocprofiler_open(data->agent, t->f, t->nr, &context, 0, &properties));
	return rocprofiler_get_group(context, 0, group);
}

static void *launch_traced(void *arg)
{
	hsa_queue_t *q = arg;
	hsa_kernel_dispatch_packet_t p = counted_packet(&counted[0]);

	for (int i = 0; i < 4; i++)
		wait_done(submit(q, &p));
	return NULL;
}

static void traces(void)
{
	const rocprofiler_queue_callbacks_t callbacks = { .dispatch = open_traced };
	pthread_t threads[2];

	GOOD(rocprofiler_set_queue_callbacks(callbacks, NULL));
	open_machine();
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, launch_traced, new_queue(0, 64)));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	wait_handled(8);
	EQUAL(nr_saved, 8);
	GOOD(rocprofiler_remove_queue_callbacks());
}

static void refused(void)
{
	rocprofiler_queue_callbacks_t c = { .dispatch = note_id };

	GOOD(rocprofiler_set_queue_callbacks(c, NULL));
	open_machine();
	run_counted(&counted[0], queues[0]);
	printf("callbacks %d\n", nr_saved);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "spec", spec },
		{ "times", times },
		{ "many", many },
		{ "pool", pool },
		{ "queues", queue_callbacks },
		{ "tau", tau },
		{ "refused", refused },
		{ "destroyed", destroyed },
		{ "traces", traces },
		{ "soak", soak },
		{ "storm", storm },
	};

	CHECK(argc == 2 || argc == 3);
	if (argc == 3)
		per_thread = (int)strtol(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return end_of_client();
}
