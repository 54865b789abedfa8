/* SPDX-License-Identifier: MIT */
/* device_counts.c - a tool that samples GPUs as AMD's own test does: a context, a buffer and a set
 * for each counter of each GPU, one after the other; each sample is in the buffer and in the
 * caller's memory, with the same values
 *
 *	device_counts
 *
 * stdout: a line for each GPU, "gpu N counters N constants N", and "N wrong".
 */
#include "../vgpu/hsa_machine.h"
#include "client.h"

#include <stdatomic.h>

#include <rocprofiler-sdk/rocprofiler.h>

#define MAX_CONTEXTS 1000
#define MAX_RECORDS 10000
#define DISPATCHES 5
#define WAVES 16 /* of a dispatch */
#define ERR(status) ROCPROFILER_STATUS_ERROR_##status
#define IS(call, expected)                                                                         \
	do {                                                                                       \
		long is_ = (long)(call), should_ = (long)(expected);                               \
		if (is_ != should_ && nr_wrong++ < 20)                                             \
			printf("%d: %s is %ld, not %ld\n", __LINE__, #call, is_, should_);         \
	} while (0)
#define OK(call) IS(call, ROCPROFILER_STATUS_SUCCESS)

#if ROCPROFILER_SDK_ABI > 0
#define CONFIGURE rocprofiler_configure_device_counting_service
#define CREATE_CONFIG rocprofiler_create_counter_config
typedef rocprofiler_counter_config_id_t config_t;
typedef rocprofiler_device_counting_agent_cb_t set_fn;
typedef rocprofiler_counter_record_t record_t;
#else
#define CONFIGURE rocprofiler_configure_agent_profile_counting_service
#define CREATE_CONFIG rocprofiler_create_profile_config
typedef rocprofiler_profile_config_id_t config_t;
typedef rocprofiler_agent_set_profile_callback_t set_fn;
typedef rocprofiler_record_counter_t record_t;
#endif

struct sampler {
	rocprofiler_context_id_t context;
	rocprofiler_buffer_id_t buffer;
	rocprofiler_agent_id_t agent;
	config_t config;
	char name[64];
	size_t nr_instances;
	bool is_constant;
};

static int nr_wrong;
static struct sampler samplers[MAX_CONTEXTS];
static int nr_samplers, nr_of_gpu[GPUS_MAX];
static rocprofiler_agent_id_t agents[GPUS_MAX];
static int nr_agents;
/* of both GPUs; of none; one that chooses no counters */
static struct sampler both, bare, unset;
static record_t seen[MAX_RECORDS];
static size_t nr_seen;

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg, uint64_t lost)
{
	(void)context;
	(void)buffer;
	(void)arg;
	IS(lost, 0);
	for (size_t i = 0; i < nr && nr_seen < MAX_RECORDS; i++) {
		IS(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_COUNTERS);
		IS(headers[i]->kind, ROCPROFILER_COUNTER_RECORD_VALUE);
		seen[nr_seen++] = *(const record_t *)headers[i]->payload;
	}
}

static void choose(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent, set_fn set,
		   void *arg)
{
	const struct sampler *s = arg;
	config_t none = { .handle = 99 };

	IS(context.handle, s->context.handle);
	IS(set(context, none), ERR(PROFILE_NOT_FOUND));
	for (int i = 0; s == &both && i < nr_samplers; i++)
		if (samplers[i].agent.handle == agent.handle &&
		    strcmp(samplers[i].name, "SQ_WAVES") == 0)
			OK(set(context, samplers[i].config));
	if (s != &both && s != &unset)
		OK(set(context, s->config));
}

static void open_sampler(struct sampler *s)
{
	s->context.handle = 0;
	OK(rocprofiler_create_context(&s->context));
	OK(rocprofiler_create_buffer(s->context, 4000, 4000, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_records, NULL, &s->buffer));
}

static rocprofiler_status_t add_counters(rocprofiler_agent_id_t agent,
					 rocprofiler_counter_id_t *all, size_t nr, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < nr; i++) {
		struct sampler *s = &samplers[nr_samplers++];
		rocprofiler_counter_info_v0_t info;

		CHECK(nr_samplers < MAX_CONTEXTS);
		OK(rocprofiler_query_counter_info(all[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
						  &info));
		snprintf(s->name, sizeof(s->name), "%s", info.name);
		s->is_constant = info.is_constant;
		s->agent = agent;
		OK(rocprofiler_query_counter_instance_count(agent, all[i], &s->nr_instances));
		OK(CREATE_CONFIG(agent, &all[i], 1, &s->config));
		open_sampler(s);
		OK(CONFIGURE(s->context, s->buffer, agent, choose, s));
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **all,
				      size_t nr, void *arg)
{
	(void)version;
	(void)arg;
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_agent_v0_t *a = all[i];

		if (a->type != ROCPROFILER_AGENT_TYPE_GPU)
			continue;
		agents[nr_agents++] = a->id;
		OK(rocprofiler_iterate_agent_supported_counters(a->id, add_counters, NULL));
		nr_of_gpu[nr_agents - 1] = nr_samplers;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t sample(const struct sampler *s, uint64_t user, bool is_async,
				   record_t *records, size_t *nr)
{
	rocprofiler_user_data_t data = { .value = user };
	rocprofiler_counter_flag_t flags = is_async ? ROCPROFILER_COUNTER_FLAG_ASYNC :
						      ROCPROFILER_COUNTER_FLAG_NONE;

#if ROCPROFILER_SDK_ABI > 0
	return rocprofiler_sample_device_counting_service(s->context, data, flags, records, nr);
#else
	(void)records;
	(void)nr;
	return rocprofiler_sample_agent_profile_counting_service(s->context, data, flags);
#endif
}

static int initialize(rocprofiler_client_finalize_t fini, void *arg)
{
	const rocprofiler_context_id_t none = ROCPROFILER_CONTEXT_NONE;

	(void)fini;
	(void)arg;
	OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
					      sizeof(rocprofiler_agent_v0_t), NULL));
	open_sampler(&both);
	open_sampler(&bare);
	open_sampler(&unset);
	for (int i = 0; i < nr_agents; i++)
		OK(CONFIGURE(both.context, both.buffer, agents[i], choose, &both));
	OK(CONFIGURE(unset.context, unset.buffer, agents[0], choose, &unset));
	IS(CONFIGURE(both.context, both.buffer, agents[0], choose, &both), ERR(INVALID_ARGUMENT));
	IS(CONFIGURE(none, both.buffer, agents[0], choose, &both), ERR(CONTEXT_INVALID));
	IS(CONFIGURE(bare.context, (rocprofiler_buffer_id_t){ .handle = 99 }, agents[0], choose,
		     &bare),
	   ERR(BUFFER_NOT_FOUND));
	return 0;
}

SDK_FORCED_CLIENT("device_counts")

/* ---- samples --------------------------------------------------------------------------------- */

static hsa_queue_t *queue;
static struct kernel kernel;
static uint64_t *kernarg;

static void run_kernels(void)
{
	for (int i = 0; i < DISPATCHES; i++) {
		hsa_kernel_dispatch_packet_t p = dispatch_of(&kernel, 1024, 256, kernarg);

		p.group_segment_size = 1024;
		wait_done(submit(queue, &p));
	}
}

/* Of the last sample: as many as there are, of one user's value. */
static double check_seen(size_t nr, uint64_t user)
{
	double sum = 0;

	IS(nr_seen, nr);
	for (size_t i = 0; i < nr_seen; i++) {
		IS(seen[i].user_data.value, user);
		IS(seen[i].dispatch_id, 0);
		sum += seen[i].counter_value;
	}
	return sum;
}

/* A sample of each kind, in turn; 0.x has none for the caller. */
static void sample_one(const struct sampler *s, uint64_t user)
{
	static record_t out[MAX_RECORDS];
	size_t nr = MAX_RECORDS;
	bool is_async = ROCPROFILER_SDK_ABI == 0 || user % 2;

	nr_seen = 0;
	OK(rocprofiler_start_context(s->context));
	run_kernels();
	if (is_async)
		OK(sample(s, user, true, NULL, NULL));
	else
		OK(sample(s, user, false, out, &nr));
	OK(rocprofiler_stop_context(s->context));
	OK(rocprofiler_flush_buffer(s->buffer));
	check_seen(s->nr_instances, user);
	if (!is_async) {
		IS(nr, nr_seen);
		IS(memcmp(out, seen, nr * sizeof(out[0])), 0);
	}
}

static const struct sampler *named(const char *name, int gpu)
{
	for (int i = gpu ? nr_of_gpu[gpu - 1] : 0; i < nr_of_gpu[gpu]; i++)
		if (strcmp(samplers[i].name, name) == 0)
			return &samplers[i];
	return NULL;
}

static void check_loops(void)
{
	const struct sampler *s = named("SQ_WAVES", 0), *c = named("CU_NUM", 0);

	for (uint64_t i = 0; i < 10; i++) {
		nr_seen = 0;
		OK(rocprofiler_start_context(s->context));
		/* constants need no counters of the GPU, which another context has */
		OK(rocprofiler_start_context(c->context));
		run_kernels();
		OK(sample(s, 7 + i, false, NULL, NULL));
		run_kernels();
		OK(rocprofiler_flush_buffer(s->buffer));
		IS(check_seen(s->nr_instances, 7 + i), DISPATCHES * WAVES);
		nr_seen = 0;
		OK(sample(s, 8, true, NULL, NULL));
		OK(rocprofiler_flush_buffer(s->buffer));
		IS(check_seen(s->nr_instances, 8), 2 * DISPATCHES * WAVES);
		nr_seen = 0;
		OK(sample(c, 9, true, NULL, NULL));
		OK(rocprofiler_flush_buffer(c->buffer));
		IS(check_seen(1, 9), 64);
		OK(rocprofiler_stop_context(s->context));
		OK(rocprofiler_stop_context(c->context));
	}
}

static void check_both(void)
{
	nr_seen = 0;
	OK(rocprofiler_start_context(both.context));
	OK(sample(&both, 5, false, NULL, NULL));
	OK(rocprofiler_stop_context(both.context));
	OK(rocprofiler_flush_buffer(both.buffer));
	IS(nr_seen, named("SQ_WAVES", 0)->nr_instances + named("SQ_WAVES", 1)->nr_instances);
#if ROCPROFILER_SDK_ABI > 0
	IS(seen[0].agent_id.handle, agents[0].handle);
	IS(seen[nr_seen - 1].agent_id.handle, agents[1].handle);
#endif
}

static void check_statuses(void)
{
	const struct sampler none = { .context = ROCPROFILER_CONTEXT_NONE };
	const struct sampler *s = named("SQ_WAVES", 0), *other = named("TCC_HIT", 0);

#if ROCPROFILER_SDK_ABI > 0
	record_t out[1];
	size_t nr = 1;

	IS(sample(&none, 1, false, NULL, NULL), ERR(CONTEXT_NOT_FOUND));
	IS(sample(s, 1, false, NULL, NULL), ERR(CONTEXT_NOT_STARTED));
	OK(rocprofiler_start_context(s->context));
	IS(sample(s, 1, true, out, &nr), ERR(INVALID_ARGUMENT));
	IS(sample(s, 1, false, out, NULL), ERR(INVALID_ARGUMENT));
	IS(sample(s, 1, false, out, &nr), ERR(OUT_OF_RESOURCES));
	IS(nr, s->nr_instances);
	nr = 0;
	IS(sample(s, 1, false, out, &nr), ERR(OUT_OF_RESOURCES));
#else
	IS(sample(&none, 1, false, NULL, NULL), ERR(CONTEXT_INVALID));
	IS(sample(s, 1, false, NULL, NULL), ERR(CONTEXT_ERROR));
	OK(rocprofiler_start_context(s->context));
#endif
	OK(rocprofiler_start_context(s->context));
	IS(rocprofiler_start_context(other->context), ERR(CONTEXT_CONFLICT));
	OK(rocprofiler_start_context(bare.context));
	IS(sample(&bare, 1, false, NULL, NULL), ERR(CONTEXT_INVALID));
	OK(rocprofiler_start_context(unset.context));
	OK(sample(&unset, 1, false, NULL, NULL));
	OK(rocprofiler_stop_context(s->context));
	IS(rocprofiler_stop_context(s->context), ERR(CONTEXT_NOT_FOUND));
}

static void check_gpu(int gpu)
{
	hsa_agent_t first = gpus[0];
	int begin = gpu ? nr_of_gpu[gpu - 1] : 0, nr_constants = 0;

	/* the helpers are the first GPU's */
	gpus[0] = gpus[gpu];
	kernel = load_kernel("counted.co", "counted.kd");
	kernarg = allocate(4096);
	kernarg[0] = (uintptr_t)allocate(2 * 65536);
	queue = new_queue(0, 64);
	for (int i = begin; i < nr_of_gpu[gpu]; i++) {
		sample_one(&samplers[i], (uint64_t)(i - begin + 1));
		nr_constants += samplers[i].is_constant;
	}
	if (!gpu) {
		check_loops();
		check_statuses();
	}
	gpus[0] = first;
	printf("gpu %d counters %d constants %d\n", gpu, nr_of_gpu[gpu] - begin, nr_constants);
}

int main(void)
{
	OK(rocprofiler_force_configure(configure));
	open_agents();
	CHECK(nr_gpus == 2 && nr_agents == 2);
	check_gpu(0);
	check_gpu(1);
	check_both();
	printf("%d wrong\n", nr_wrong);
	return 0;
}
