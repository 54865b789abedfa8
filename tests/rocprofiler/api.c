/* SPDX-License-Identifier: MIT */
/* api.c - what rocprofiler refuses, and what it knows
 *
 *	api bad|info|times|no_hsa|metrics|hooks
 *
 * Each wrong input has a status and a text; where AMD's library ends the process or crashes, too.
 */
#include "client.h"
#include "layout.h"

#include <time.h>

static const hsa_status_t argument = HSA_STATUS_ERROR_INVALID_ARGUMENT, error = HSA_STATUS_ERROR;

static hsa_status_t open_one(rocprofiler_feature_t f, uint32_t mode,
			     rocprofiler_properties_t *properties)
{
	static rocprofiler_feature_t kept;
	rocprofiler_t *context = NULL;
	hsa_status_t status;

	kept = f;
	status = rocprofiler_open(gpus[0], &kept, 1, &context, mode, properties);
	if (status == HSA_STATUS_SUCCESS)
		rocprofiler_close(context);
	return status;
}

static void bad_opens(void)
{
	rocprofiler_feature_t twice[2] = { metric("SQ_WAVES"), metric("SQ_WAVES") };
	rocprofiler_feature_t f = metric("SQ_WAVES"),
			      trace = { .kind = ROCPROFILER_FEATURE_KIND_TRACE };
	rocprofiler_properties_t no_depth = { .queue_depth = 0 }, no_queue = { .queue = NULL };
	const hsa_agent_t nobody = { 12345 };
	rocprofiler_t *context = NULL;
	char name[64];

	BAD(rocprofiler_open(nobody, &f, 1, &context, 0, NULL), error, "agent is not found");
	BAD(rocprofiler_open(cpu, &f, 1, &context, 0, NULL), error, "agent is not found");
	BAD(rocprofiler_open(gpus[0], &f, 1, NULL, 0, NULL), argument, "'context' is NULL");
	BAD(rocprofiler_open(gpus[0], NULL, 1, &context, 0, NULL), argument, "'features' is NULL");
	BAD(open_one(f, 2, NULL), error, "invalid mode (2)");
	BAD(open_one(f, 6, NULL), error, "invalid mode (6)");
	BAD(open_one(f, 8, NULL), error, "invalid mode (8)");
	/* AMD's library reads properties in any mode */
	BAD(open_one(f, ROCPROFILER_MODE_STANDALONE, NULL), argument, "'properties' is NULL");
	GOOD(open_one(f, 0, NULL));
	GOOD(open_one(f, ROCPROFILER_MODE_SINGLEGROUP, NULL));
	BAD(open_one(f, 3, &no_depth), error, "CreateQueue() failed: queue_depth 0");
	BAD(open_one(metric(NULL), 0, NULL), error, "metric name NULL");
	BAD(rocprofiler_open(gpus[0], twice, 2, &context, 0, NULL), error,
	    "registered more then once");
	BAD(open_one(metric("NO_SUCH"), 0, NULL), error, "input metric 'NO_SUCH' is not found");
	BAD(open_one(metric("CU_NUM"), 0, NULL), error, "bad metric 'CU_NUM' is empty");
	f.kind = (rocprofiler_feature_kind_t)2;
	BAD(open_one(f, 0, NULL), error, "bad rocprofiler feature kind (2)");
	f.kind = (rocprofiler_feature_kind_t)8;
	BAD(open_one(f, 0, NULL), error, "bad rocprofiler feature kind (8)");
	BAD(open_one(metric("TCC:4"), 0, NULL), error, "Malformed indexed metric name");
	BAD(open_one(metric("TCC[4:4"), 0, NULL), error, "Malformed metric name");
	BAD(open_one(metric("NOPE:4"), 0, NULL), error, "no block 'NOPE'");
	BAD(open_one(metric("TCC[99]:4"), 0, NULL), error, "instances 0 to 15");
	GOOD(open_one(metric("SQ:4"), 0, NULL));
	GOOD(open_one(metric("TCC[3]:20"), 0, NULL));
	trace.parameter_count = 1;
	BAD(open_one(trace, 0, NULL), argument, "'parameters' is NULL");
	trace.parameter_count = 0;
	trace.name = "SQ_WAVES";
	trace.kind = ROCPROFILER_FEATURE_KIND_TRACE | ROCPROFILER_FEATURE_KIND_SPM_MOD;
	BAD(open_one(trace, 0, NULL), error, "streams of counters (SPM_MOD) are not there");
	trace.kind = ROCPROFILER_FEATURE_KIND_TRACE | ROCPROFILER_FEATURE_KIND_PCSMP_MOD;
	BAD(open_one(trace, 0, NULL), error, "samples of the program counter (PCSMP_MOD)");
	/* a long name is cut */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	BAD(open_one(metric(name), 0, NULL), error, "is not found");
	/* a context without a queue opens, and can't be started */
	GOOD(rocprofiler_open(gpus[0], NULL, 0, &context, ROCPROFILER_MODE_STANDALONE, &no_queue));
	BAD(rocprofiler_start(context, 0), error, "opened without a queue");
	BAD(rocprofiler_read(context, 0), error, "opened without a queue");
	BAD(rocprofiler_stop(context, 0), error, "opened without a queue");
	GOOD(rocprofiler_close(context));
}

static void bad_contexts(void)
{
	static uint64_t other[32];
	rocprofiler_group_t group = { .index = 9 };
	rocprofiler_feature_t f = metric("SQ_WAVES");
	rocprofiler_t *context = NULL;
	hsa_agent_t agent;
	uint32_t n;

	GOOD(rocprofiler_close(NULL));
	BAD(rocprofiler_close(other), argument, "not an open context");
	BAD(rocprofiler_get_metrics(other), argument, "not an open context");
	BAD(rocprofiler_reset(NULL, 0), argument, "'context' is NULL");
	BAD(rocprofiler_get_agent(NULL, &agent), argument, "'context' is NULL");
	BAD(rocprofiler_group_count(NULL, &n), argument, "'context' is NULL");
	BAD(rocprofiler_get_group(NULL, 0, &group), argument, "'context' is NULL");
	BAD(rocprofiler_start(NULL, 0), argument, "'context' is NULL");
	BAD(rocprofiler_group_start(NULL), argument, "'group' is NULL");
	BAD(rocprofiler_group_stop(NULL), argument, "'group' is NULL");
	BAD(rocprofiler_group_read(NULL), argument, "'group' is NULL");
	BAD(rocprofiler_group_get_data(NULL), argument, "'group' is NULL");
	BAD(rocprofiler_iterate_trace_data(NULL, NULL, NULL), argument, "'context' is NULL");
	GOOD(rocprofiler_open(gpus[0], &f, 1, &context, 0, NULL));
	group.context = context;
	BAD(rocprofiler_group_start(&group), error, "index exceeding the maximum 0");
	BAD(rocprofiler_get_group(context, 1, &group), error, "index exceeding the maximum 0");
	BAD(rocprofiler_get_group(context, 0, NULL), argument, "'group' is NULL");
	BAD(rocprofiler_get_data(context, 1), error, "index exceeding the maximum 0");
	BAD(rocprofiler_reset(context, 5), error, "index exceeding the maximum 0");
	BAD(rocprofiler_group_count(context, NULL), argument, "'count' is NULL");
	BAD(rocprofiler_get_agent(context, NULL), argument, "'agent' is NULL");
	/* AMD's library crashes without a queue, and waits for ever without data */
	BAD(rocprofiler_start(context, 0), error, "MODE_STANDALONE");
	BAD(rocprofiler_get_data(context, 0), error, "no data of group 0");
	GOOD(rocprofiler_get_agent(context, &agent));
	EQUAL(agent.handle, gpus[0].handle);
	GOOD(rocprofiler_close(context));
}

static void bad_pools(void)
{
	rocprofiler_pool_properties_t properties = { .num_entries = 2 };
	rocprofiler_feature_t f = metric("SQ_WAVES"), wrong = metric("NO_SUCH");
	rocprofiler_pool_t *pool = NULL;
	rocprofiler_pool_entry_t entry = { NULL, NULL };

	BAD(rocprofiler_pool_open(gpus[0], &f, 1, NULL, 0, &properties), argument,
	    "'pool' is NULL");
	BAD(rocprofiler_pool_open(gpus[0], &f, 1, &pool, 0, NULL), argument,
	    "'properties' is NULL");
	BAD(rocprofiler_pool_open(cpu, &f, 1, &pool, 0, &properties), error, "agent is not found");
	BAD(rocprofiler_pool_open(gpus[0], &wrong, 1, &pool, 0, &properties), error,
	    "'NO_SUCH' is not found");
	BAD(rocprofiler_pool_close(NULL), argument, "'pool' is NULL");
	BAD(rocprofiler_pool_flush(NULL), argument, "'pool' is NULL");
	BAD(rocprofiler_pool_release(NULL), argument, "'entry' is NULL");
	BAD(rocprofiler_pool_iterate(NULL, NULL, NULL), argument, "'pool' is NULL");
	/* AMD's library crashes on both */
	GOOD(rocprofiler_pool_open(gpus[0], &f, 1, &pool, 0, &properties));
	GOOD(rocprofiler_pool_close(pool));
	GOOD(rocprofiler_pool_open(gpus[0], &f, 1, &pool, 0, &properties));
	GOOD(rocprofiler_pool_fetch(pool, &entry));
	GOOD(rocprofiler_pool_close(pool));
}

static hsa_status_t stop_at_once(const rocprofiler_info_data_t info, void *data)
{
	(void)info;
	return *(hsa_status_t *)data;
}

static void bad_info(void)
{
	hsa_status_t answer = HSA_STATUS_INFO_BREAK;
	const hsa_agent_t nobody = { 1 };
	uint32_t n = 0;

	BAD(rocprofiler_get_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, &n), error,
	    "unknown info kind(0)");
	BAD(rocprofiler_get_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, NULL), argument,
	    "'data' is NULL");
	BAD(rocprofiler_get_info(&nobody, ROCPROFILER_INFO_KIND_METRIC_COUNT, &n), error,
	    "agent is not found");
	BAD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, stop_at_once,
				     &answer),
	    error, "unknown info kind(1)");
	/* AMD's library crashes on these two */
	BAD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, NULL, NULL), argument,
	    "'callback' is NULL");
	BAD(rocprofiler_iterate_info(&nobody, ROCPROFILER_INFO_KIND_METRIC, stop_at_once, &answer),
	    error, "agent is not found");
	GOOD(rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC, stop_at_once, &answer));
	answer = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	BAD(rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC, stop_at_once, &answer),
	    answer, "iterate_info error, info kind(0)");
	BAD(rocprofiler_error_string(NULL), argument, "'str' is NULL");
	BAD(rocprofiler_add_feature(NULL, NULL), argument, "'feature' is NULL");
	BAD(rocprofiler_features_set_open(gpus[0], NULL, NULL, 0, NULL), argument, "'set' is NULL");
	BAD(rocprofiler_add_dispatch_callback(NULL, NULL), argument, "'callback' is NULL");
	BAD(rocprofiler_queue_create_profiled(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0,
					      NULL),
	    argument, "'queue' is NULL");
}

static void bad(void)
{
	const char *text = NULL;

	/* before any error */
	GOOD(rocprofiler_error_string(&text));
	EQUAL(strcmp(text, ""), 0);
	EQUAL(rocprofiler_errno(), 0);
	bad_opens();
	bad_contexts();
	bad_pools();
	bad_info();
	/* success leaves the last error as it is; texts name the function and end in a newline */
	GOOD(rocprofiler_error_string(&text));
	EQUAL(strncmp(text, "rocprofiler_queue_create_profiled(), ", 37), 0);
	EQUAL(text[strlen(text) - 1], '\n');
	EQUAL(rocprofiler_errno(), argument);
}

/* ---- information ----------------------------------------------------------------------------- */

struct seen {
	uint32_t metrics, counters, derived, instances, traces, parameters, waves;
	char agents[GPUS_MAX];
};

static hsa_status_t see(const rocprofiler_info_data_t info, void *data)
{
	struct seen *s = data;

	CHECK(info.agent_index < nr_gpus);
	s->agents[info.agent_index] = 1;
	switch (info.kind) {
	case ROCPROFILER_INFO_KIND_METRIC:
		CHECK(info.metric.name && info.metric.description && info.metric.instances);
		s->metrics++;
		s->instances += info.metric.instances;
		s->derived += info.metric.expr != NULL;
		s->waves += strcmp(info.metric.name, "SQ_WAVES") == 0;
		if (!info.metric.expr) {
			CHECK(info.metric.block_name && info.metric.block_counters);
			s->counters++;
		}
		break;
	case ROCPROFILER_INFO_KIND_TRACE:
		s->traces++;
		EQUAL(strcmp(info.trace.name, "TT"), 0);
		EQUAL(info.trace.parameter_count, 5);
		break;
	default:
		s->parameters++;
		EQUAL(strcmp(info.trace_parameter.trace_name, "TT"), 0);
		EQUAL(info.trace_parameter.code, s->parameters - 1);
	}
	return HSA_STATUS_SUCCESS;
}

static struct seen query(const rocprofiler_info_data_t *wanted)
{
	struct seen s;

	memset(&s, 0, sizeof(s));
	GOOD(rocprofiler_query_info_data(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, wanted, see, &s));
	return s;
}

static void info(void)
{
	struct seen one = { 0 }, all = { 0 }, found;
	rocprofiler_info_query_t q = { .info_kind = ROCPROFILER_INFO_KIND_METRIC };
	rocprofiler_info_data_t wanted;
	uint32_t n = 0, of_all = 0, traces = 0;

	EQUAL(rocprofiler_version_major(), 8);
	EQUAL(rocprofiler_version_minor(), 0);
	EQUAL(rocprofiler_major_version() * 10 + rocprofiler_minor_version(), 80);
	EQUAL(rocprofiler_is_compatible(), 1);
	GOOD(rocprofiler_get_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, &n));
	GOOD(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, &of_all));
	GOOD(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_TRACE_COUNT, &traces));
	EQUAL(of_all, n * nr_gpus);
	EQUAL(traces, nr_gpus);
	GOOD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC, see, &one));
	GOOD(rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC, see, &all));
	/* instances one by one, and five constants */
	EQUAL(n, one.instances + 5);
	EQUAL(all.metrics, one.metrics * nr_gpus);
	EQUAL(memchr(all.agents, 0, nr_gpus) == NULL, 1);
	EQUAL(one.waves, 1);
	EQUAL(one.counters && one.derived, 1);
	memset(&one, 0, sizeof(one));
	GOOD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_TRACE, see, &one));
	GOOD(rocprofiler_iterate_info(&gpus[0], ROCPROFILER_INFO_KIND_TRACE_PARAMETER, see, &one));
	EQUAL(one.traces * 10 + one.parameters, 15);
	/* queries: NULL and 0 are as any */
	memset(&wanted, 0, sizeof(wanted));
	found = query(NULL);
	EQUAL(query(&wanted).metrics, found.metrics);
	wanted.metric.name = "SQ_WAVES";
	EQUAL(query(&wanted).waves, 1);
	EQUAL(query(&wanted).metrics, 1);
	wanted.metric.name = NULL;
	wanted.metric.block_name = "GRBM";
	EQUAL(query(&wanted).metrics > 1 && query(&wanted).metrics < found.metrics, 1);
	wanted.metric.name = "SQ_WAVES";
	EQUAL(query(&wanted).metrics, 0);
	memset(&all, 0, sizeof(all));
	GOOD(rocprofiler_query_info(&gpus[0], q, see, &all));
	EQUAL(all.metrics, found.metrics);
	q.trace_parameter.trace_name = "TT";
	GOOD(rocprofiler_query_info(&gpus[0], q, see, &all));
	EQUAL(all.parameters, 5);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void times(void)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC,
					    CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW };
	uint64_t now, value, before, after, off;

	for (int i = 0; i < 5; i++) {
		before = clock_ns(clocks[i]);
		HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
		after = clock_ns(clocks[i]);
		GOOD(rocprofiler_get_time((rocprofiler_time_id_t)i, now, &value, &off));
		if (value + off < before || value > after + off) {
			printf("clock %d: %llu is not between %llu and %llu, error %llu\n", i,
			       (unsigned long long)value, (unsigned long long)before,
			       (unsigned long long)after, (unsigned long long)off);
			nr_wrong++;
		}
	}
	GOOD(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, now, NULL, &off));
	GOOD(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, now, &value, NULL));
	GOOD(rocprofiler_get_time((rocprofiler_time_id_t)5, now, NULL, NULL));
	BAD(rocprofiler_get_time((rocprofiler_time_id_t)5, now, &value, NULL), error,
	    "there is no clock 5");
	EQUAL(value, 0);
}

/* ROCP_METRICS: a file of the user's. Its expressions have the rules of AMD's library. */
static void metrics(void)
{
	uint32_t n = 0;

	if (rocprofiler_get_info(&gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, &n) !=
	    HSA_STATUS_SUCCESS) {
		printf("%s", rocprofiler_last_error_string());
	} else {
		rocprofiler_feature_t f[2] = { metric("MY_WAVES"), metric("MyNine") };
		rocprofiler_properties_t properties = { .queue_depth = 64 };
		struct counted c = load_counted(0);
		hsa_queue_t *q = new_queue(0, 64);
		rocprofiler_t *context = NULL;

		printf("metrics %u\n", n);
		GOOD(rocprofiler_open(gpus[0], f, 2, &context, 3, &properties));
		GOOD(rocprofiler_start(context, 0));
		run_counted(&c, q);
		GOOD(rocprofiler_stop(context, 0));
		GOOD(rocprofiler_get_data(context, 0));
		GOOD(rocprofiler_get_metrics(context));
		EQUAL(f[0].data.result_int64, WAVES);
		/* 16-10-3*... has the rest on the right */
		EQUAL(f[1].data.result_double, 9);
		BAD(open_one(metric("SQ_INSTS_VALU"), 0, NULL), error, "is not found");
		GOOD(rocprofiler_close(context));
	}
}

/* ---- hooks for roctracer; sets of features --------------------------------------------------- */

const char *GetOpName(uint32_t op);
bool RegisterApiCallback(uint32_t op, void *callback, void *arg);
bool RemoveApiCallback(uint32_t op);
bool InitActivityCallback(void *callback, void *arg);
bool EnableActivityCallback(uint32_t op, bool enable);
const char *GetEvtName(uint32_t op);
bool RegisterEvtCallback(uint32_t op, void *callback, void *arg);
bool RemoveEvtCallback(uint32_t op);

static int nr_of_event[6];

static void on_event(uint32_t domain, uint32_t op, const void *data, void *arg)
{
	EQUAL(domain, 7);
	EQUAL(op < 6 && data && arg == nr_of_event, 1);
	nr_of_event[op % 6]++;
}

static void check_name(const char *name, const char *wanted)
{
	EQUAL(strcmp(name, wanted), 0);
	free((void *)(uintptr_t)name);
}

static void hooks(void)
{
	rocprofiler_feature_t f[2] = { metric("SQ_WAVES"), metric("SQ_INSTS_VALU") };
	rocprofiler_feature_set_t *set = NULL;
	rocprofiler_t *context = NULL;
	rocprofiler_group_t group;
	struct counted k;
	hsa_queue_t *q;
	void *p;

	/* samples of the program counter are refused */
	check_name(GetOpName(0), "PCSAMPLE");
	EQUAL(RegisterApiCallback(0, on_event, NULL) && RemoveApiCallback(0), 1);
	EQUAL(InitActivityCallback(on_event, NULL), 0);
	EQUAL(strstr(rocprofiler_last_error_string(), "samples of the program counter") != NULL, 1);
	EQUAL(EnableActivityCallback(0, true), 0);
	EQUAL(EnableActivityCallback(0, false), 1);
	/* events of HSA are not */
	check_name(GetEvtName(3), "SUBMIT");
	EQUAL(RegisterEvtCallback(6, on_event, nr_of_event), 0);
	EQUAL(RegisterEvtCallback(0, NULL, nr_of_event), 0);
	for (uint32_t op = 0; op < 6; op++)
		EQUAL(RegisterEvtCallback(op, on_event, nr_of_event), 1);
	k = load_counted(0);
	q = new_queue(0, 64);
	run_counted(&k, q);
	EQUAL(nr_of_event[3], 1);
	EQUAL(nr_of_event[0] > 0 && nr_of_event[1] > 0 && nr_of_event[4] > 0, 1);
	for (uint32_t op = 0; op < 6; op++)
		EQUAL(RemoveEvtCallback(op), 1);
	memset(nr_of_event, 0, sizeof(nr_of_event));
	p = allocate(4096);
	HSA(hsa_amd_memory_pool_free(p));
	run_counted(&k, q);
	for (uint32_t op = 0; op < 6; op++)
		EQUAL(nr_of_event[op], 0);

	for (int i = 0; i < 2; i++)
		GOOD(rocprofiler_add_feature(&f[i], &set));
	GOOD(rocprofiler_features_set_open(gpus[0], set, &context, 0, NULL));
	GOOD(rocprofiler_get_group(context, 0, &group));
	EQUAL(group.feature_count, 2);
	EQUAL(strcmp(group.features[1]->name, "SQ_INSTS_VALU"), 0);
	GOOD(rocprofiler_close(context));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "bad", bad },		{ "info", info },   { "times", times },
		{ "metrics", metrics }, { "hooks", hooks },
	};

	CHECK(argc == 2);
	open_agents();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return end_of_client();
}
