/* SPDX-License-Identifier: MIT */
/* sampling.c - standalone contexts of rocprofiler around a kernel whose counts are known
 *
 *	sampling sequences|groups|handler|gpus|papi|trace|overflow
 */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>

#define NR_FEATURES 4

static struct counted counted[GPUS_MAX];
static hsa_queue_t *queues[GPUS_MAX];

struct sampler {
	rocprofiler_feature_t f[NR_FEATURES];
	rocprofiler_properties_t properties;
	rocprofiler_t *context;
};

static void open_sampler(struct sampler *s, unsigned int gpu, rocprofiler_handler_t handler)
{
	memset(s, 0, sizeof(*s));
	s->f[0] = metric("SQ_WAVES");
	s->f[1] = metric("SQ_INSTS_VALU");
	s->f[2] = metric("GPUBusy");
	s->f[3] = metric("TCC_MISS_sum");
	s->properties.queue_depth = 128;
	s->properties.handler = handler;
	GOOD(rocprofiler_open(gpus[gpu], s->f, NR_FEATURES, &s->context,
			      ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE |
				      ROCPROFILER_MODE_SINGLEGROUP,
			      &s->properties));
}

static void close_sampler(struct sampler *s)
{
	GOOD(rocprofiler_close(s->context));
	HSA(hsa_queue_destroy(s->properties.queue));
}

/* The data of `n` dispatches since the start. */
static void check(struct sampler *s, uint32_t n)
{
	GOOD(rocprofiler_get_data(s->context, 0));
	GOOD(rocprofiler_get_metrics(s->context));
	EQUAL(s->f[0].data.kind, ROCPROFILER_DATA_KIND_INT64);
	EQUAL(s->f[0].data.result_int64, n * WAVES);
	EQUAL(s->f[1].data.result_int64, n * VALU);
	EQUAL(s->f[2].data.kind, ROCPROFILER_DATA_KIND_DOUBLE);
	EQUAL(s->f[2].data.result_double, n ? 100 : 0);
	EQUAL(s->f[3].data.result_double, n * 2 * LINES);
}

/* S start, K kernel, R read, P stop, 0 to 9: get_data, get_metrics: so many kernels since the
 * start. X: reset */
static void run_sequence(struct sampler *s, const char *steps)
{
	for (const char *at = steps; *at; at++) {
		int before = nr_wrong;

		switch (*at) {
		case 'S':
			GOOD(rocprofiler_start(s->context, 0));
			break;
		case 'K':
			run_counted(&counted[0], queues[0]);
			break;
		case 'R':
			GOOD(rocprofiler_read(s->context, 0));
			break;
		case 'P':
			GOOD(rocprofiler_stop(s->context, 0));
			break;
		case 'X':
			GOOD(rocprofiler_reset(s->context, 0));
			break;
		default:
			check(s, (uint32_t)(*at - '0'));
		}
		if (nr_wrong != before)
			printf("in %s at %zu\n", steps, (size_t)(at - steps));
	}
}

static void sequences(void)
{
	/* the first ones work in AMD's library, the others hang or abort there */
	static const char *const all[] = { "SKR1P",	  "SKR1KR2P2",	 "SKP1",       "SKP1SKKP2",
					   "SKR1PSKR1P1", "SKRKR2P",	 "SKP1SKR1P1", "SKP1R1P1R1",
					   "SR0KRRR1P1",  "SKR1XKR2P2X", "SP0",	       "SSKP1" };
	struct sampler s;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		open_sampler(&s, 0, NULL);
		run_sequence(&s, all[i]);
		close_sampler(&s);
	}
	/* one context for all of them */
	open_sampler(&s, 0, NULL);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		run_sequence(&s, all[i]);
	BAD(rocprofiler_start((open_sampler(&s, 0, NULL), s.context), 7), HSA_STATUS_ERROR,
	    "index exceeding the maximum 0");
	BAD(rocprofiler_get_data(s.context, 0), HSA_STATUS_ERROR, "no data of group 0");
	BAD(rocprofiler_read(s.context, 0), HSA_STATUS_ERROR, "was not started");
	BAD(rocprofiler_get_metrics(s.context), HSA_STATUS_ERROR, "is uninitialized");
	close_sampler(&s);
}

/* More counters than a run has: the groups are counted in runs of their own, and saved; a second
 * context gets the data. */
static void groups(void)
{
	static const char *const names[] = {
		"SQ_WAVES",	    "SQ_INSTS_VALU",	"SQ_INSTS_SALU", "SQ_INSTS_SMEM",
		"SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_LDS",	 "SQ_INSTS_GDS",
		"SQ_INSTS_FLAT",    "SQ_WAIT_INST_LDS", "VALUInsts",
	};
	enum { NR = sizeof(names) / sizeof(names[0]) };
	rocprofiler_feature_t f[NR], other[NR];
	rocprofiler_properties_t properties = { .queue_depth = 64 };
	rocprofiler_t *context, *second;
	rocprofiler_data_t saved[8][32];
	rocprofiler_group_t g;
	uint32_t n = 0;

	for (int i = 0; i < NR; i++)
		other[i] = f[i] = metric(names[i]);
	BAD(rocprofiler_open(gpus[0], f, NR, &context, ROCPROFILER_MODE_SINGLEGROUP, NULL),
	    HSA_STATUS_ERROR, "Metrics list exceeds HW limits: it needs 2 groups: ");
	GOOD(rocprofiler_open(gpus[0], f, NR, &context,
			      ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE,
			      &properties));
	GOOD(rocprofiler_group_count(context, &n));
	EQUAL(n, 2);
	for (uint32_t i = 0; i < n; i++) {
		GOOD(rocprofiler_get_group(context, i, &g));
		EQUAL(g.index, i);
		GOOD(rocprofiler_group_start(&g));
		run_counted(&counted[0], queues[0]);
		GOOD(rocprofiler_group_read(&g));
		GOOD(rocprofiler_group_get_data(&g));
		GOOD(rocprofiler_group_stop(&g));
		for (uint32_t k = 0; k < g.feature_count; k++) {
			EQUAL(g.features[k]->data.kind, ROCPROFILER_DATA_KIND_INT64);
			saved[i][k] = g.features[k]->data;
		}
	}
	GOOD(rocprofiler_get_metrics(context));
	EQUAL(f[0].data.result_int64, WAVES);
	EQUAL(f[1].data.result_int64, VALU);
	EQUAL(f[2].data.result_int64, SALU);
	EQUAL(f[6].data.result_int64, WAVES * 2);
	EQUAL(f[10].data.result_double, VALU / WAVES);
	/* as if the program had run again: a mode without a queue suffices */
	GOOD(rocprofiler_open(gpus[0], other, NR, &second, 0, NULL));
	BAD(rocprofiler_get_metrics(second), HSA_STATUS_ERROR, "is uninitialized");
	for (uint32_t i = 0; i < n; i++) {
		GOOD(rocprofiler_get_group(second, i, &g));
		for (uint32_t k = 0; k < g.feature_count; k++)
			g.features[k]->data = saved[i][k];
	}
	GOOD(rocprofiler_get_metrics(second));
	EQUAL(other[10].data.result_double, VALU / WAVES);
	EQUAL(other[2].data.result_int64, SALU);
	BAD(rocprofiler_start(second, 0), HSA_STATUS_ERROR, "MODE_STANDALONE");
	GOOD(rocprofiler_close(second));
	GOOD(rocprofiler_close(context));
	HSA(hsa_queue_destroy(properties.queue));
}

static _Atomic int nr_handled;

static bool on_data(rocprofiler_group_t group, void *arg)
{
	(void)arg;
	if (group.context && group.feature_count)
		nr_handled++;
	return false;
}

static void wait_handled(int n)
{
	for (int i = 0; i < 5000 && nr_handled < n; i++)
		usleep(1000);
	EQUAL(nr_handled, n);
}

/* The handler comes once; after a reset once more. */
static void handler(void)
{
	struct sampler s;

	open_sampler(&s, 0, on_data);
	run_sequence(&s, "SKR");
	wait_handled(1);
	run_sequence(&s, "1KR2XKR");
	wait_handled(2);
	run_sequence(&s, "3P3");
	close_sampler(&s);
	EQUAL(nr_handled, 2);
}

static void *sample_gpu(void *arg)
{
	unsigned int gpu = (unsigned int)(uintptr_t)arg;
	struct sampler s;

	open_sampler(&s, gpu, NULL);
	for (uint32_t round = 0; round < 3; round++) {
		GOOD(rocprofiler_start(s.context, 0));
		for (uint32_t n = 1; n <= gpu + 1; n++) {
			run_counted(&counted[gpu], queues[gpu]);
			GOOD(rocprofiler_read(s.context, 0));
			check(&s, n);
		}
		GOOD(rocprofiler_stop(s.context, 0));
	}
	close_sampler(&s);
	return NULL;
}

/* A context for each GPU at the same time; a second one on a GPU has to wait for the first. */
static void all_gpus(void)
{
	pthread_t threads[GPUS_MAX];
	struct sampler a, b;

	for (unsigned int i = 0; i < nr_gpus; i++)
		CHECK(pthread_create(&threads[i], NULL, sample_gpu, (void *)(uintptr_t)i) == 0);
	for (unsigned int i = 0; i < nr_gpus; i++)
		pthread_join(threads[i], NULL);
	open_sampler(&a, 0, NULL);
	open_sampler(&b, 0, NULL);
	GOOD(rocprofiler_start(a.context, 0));
	BAD(rocprofiler_start(b.context, 0), HSA_STATUS_ERROR, "GPU 0 are in use");
	run_sequence(&a, "KP1");
	run_sequence(&b, "SKP1");
	close_sampler(&b);
	close_sampler(&a);
}

/* ---- as PAPI does ---------------------------------------------------------------------------- */

static char event_names[4096][64];
static uint32_t nr_events;

static hsa_status_t count_event(const rocprofiler_info_data_t info, void *data)
{
	if (info.kind == ROCPROFILER_INFO_KIND_METRIC)
		++*(uint32_t *)data;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t store_event(const rocprofiler_info_data_t info, void *data)
{
	uint32_t n = info.metric.instances;

	(void)data;
	CHECK(info.metric.name && info.metric.description);
	for (uint32_t i = 0; i < n && nr_events < 4096; i++) {
		if (n > 1)
			snprintf(event_names[nr_events++], 64, "%s[%u]", info.metric.name, i);
		else
			snprintf(event_names[nr_events++], 64, "%s", info.metric.name);
	}
	return HSA_STATUS_SUCCESS;
}

/* Each event that there is, one after the other, in contexts that are started twice. */
static void papi(void)
{
	uint32_t n = 0;

	GOOD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, count_event, &n));
	GOOD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, store_event, NULL));
	CHECK(n && nr_events > n);
	for (uint32_t i = 0; i < nr_events; i += 7) {
		rocprofiler_feature_t f = metric(event_names[i]);
		rocprofiler_properties_t properties = { NULL, 128, { NULL }, { NULL } };
		rocprofiler_t *context = NULL;

		GOOD(rocprofiler_open(gpus[0], &f, 1, &context, 7, &properties));
		for (int round = 0; round < 2 && context; round++) {
			GOOD(rocprofiler_start(context, 0));
			GOOD(rocprofiler_read(context, 0));
			GOOD(rocprofiler_get_data(context, 0));
			GOOD(rocprofiler_get_metrics(context));
			EQUAL(f.data.kind == ROCPROFILER_DATA_KIND_UNINIT, 0);
			GOOD(rocprofiler_stop(context, 0));
			GOOD(rocprofiler_reset(context, 0));
		}
		GOOD(rocprofiler_close(context));
		HSA(hsa_queue_destroy(properties.queue));
	}
}

/* ---- thread traces --------------------------------------------------------------------------- */

struct tracer {
	rocprofiler_feature_t f[2];
	rocprofiler_properties_t properties;
	rocprofiler_parameter_t parameters[1];
	rocprofiler_t *context;
};

static void open_tracer(struct tracer *t)
{
	memset(t, 0, sizeof(*t));
	t->properties.queue_depth = 64;
	t->parameters[0].parameter_name = HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET;
	t->f[0] = metric("SQ_WAVES");
	t->f[1].kind = ROCPROFILER_FEATURE_KIND_TRACE;
	t->f[1].name = "TT";
	t->f[1].parameters = t->parameters;
	t->f[1].parameter_count = 1;
	GOOD(rocprofiler_open(gpus[0], t->f, 2, &t->context, 3, &t->properties));
}

/* Counters and a trace in one context, twice. */
static void trace(void)
{
	struct tracer t;

	open_tracer(&t);
	BAD(rocprofiler_iterate_trace_data(t.context, on_instance, NULL), HSA_STATUS_ERROR,
	    "was not stopped");
	for (uint32_t round = 1; round <= 2; round++) {
		struct tokens seen = { 0 }, copied = { 0 };
		const char *at;
		uint32_t size;

		t.f[1].data.result_bytes.copy = round == 2;
		GOOD(rocprofiler_start(t.context, 0));
		for (uint32_t i = 0; i < round; i++)
			run_counted(&counted[0], queues[0]);
		GOOD(rocprofiler_stop(t.context, 0));
		run_counted(&counted[0], queues[0]);
		GOOD(rocprofiler_get_data(t.context, 0));
		EQUAL(t.f[0].data.result_int64, round * WAVES);
		EQUAL(t.f[1].data.kind, ROCPROFILER_DATA_KIND_BYTES);
		EQUAL(t.f[1].data.result_bytes.instance_count, 4);
		GOOD(rocprofiler_iterate_trace_data(t.context, on_instance, &seen));
		EQUAL(seen.instances, 4);
		EQUAL(seen.starts, round * WAVES);
		EQUAL(seen.ends, round * WAVES);
		at = t.f[1].data.result_bytes.ptr;
		for (uint32_t i = 0; round == 2 && i < 4; i++) {
			memcpy(&size, at, sizeof(size));
			count_tokens(at + sizeof(size), size, &copied);
			at += sizeof(size) + size;
		}
		EQUAL(copied.starts, round == 2 ? seen.starts : 0);
	}
	GOOD(rocprofiler_close(t.context));
	HSA(hsa_queue_destroy(t.properties.queue));
}

/* A buffer of four pages, which a plug-in has asked for, is too small for so many waves. */
static void overflow(void)
{
	struct tokens seen = { 0 };
	struct tracer t;

	open_tracer(&t);
	GOOD(rocprofiler_start(t.context, 0));
	for (uint32_t i = 0; i < 40; i++)
		run_counted(&counted[0], queues[0]);
	GOOD(rocprofiler_stop(t.context, 0));
	BAD(rocprofiler_get_data(t.context, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES,
	    "trace buffer overflow: the buffers of 4 of 4 shader engines were full; trace_size is 16384 bytes");
	/* what there is is there */
	EQUAL(t.f[1].data.kind, ROCPROFILER_DATA_KIND_BYTES);
	GOOD(rocprofiler_iterate_trace_data(t.context, on_instance, &seen));
	EQUAL(seen.all, 16384 / 32);
	GOOD(rocprofiler_close(t.context));
	HSA(hsa_queue_destroy(t.properties.queue));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = { { "sequences", sequences }, { "groups", groups }, { "handler", handler },
		      { "gpus", all_gpus },	  { "papi", papi },	{ "trace", trace },
		      { "overflow", overflow } };

	CHECK(argc == 2);
	open_agents();
	for (unsigned int i = 0; i < nr_gpus; i++) {
		counted[i] = load_counted(i);
		queues[i] = new_queue(i, 64);
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return end_of_client();
}
