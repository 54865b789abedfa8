/* SPDX-License-Identifier: MIT */
/* counter_tool.c - a tool as a library that counts dispatches: prints the counters of each, and
 * what is wrong when it is finalised
 *
 *	COUNT_NAMES=SQ_WAVES,FETCH_SIZE   the counters; sets of them have a ; between
 *	COUNT_ROUND=12                    so many dispatches are counted with a set, then as many
 *					  with the next
 *	COUNT_VALUES=1                    each record's value, too: NAME@ ENGINE.INSTANCE=VALUE,...
 *	COUNT_CREATE=NAME=EXPRESSION;...  counters that the tool creates first
 *	COUNT_DEFINE=FILE                 definitions of counters that the tool has (1.0), instead
 *					  of the library's; with COUNT_APPEND=1 beside them
 *	COUNT_BUFFER=1                    records come in a buffer, else by callback
 *	COUNT_EVERY=3                     every third dispatch is counted, the others are not
 *	COUNT_STOP=40                     the context is stopped when so many dispatches were asked
 *					  for
 *	COUNT_TRACE=1                     dispatches are traced, too: their ids are compared
 *	COUNT_FIRST=1                     the first GPU's ids name the counters of all GPUs
 *	COUNT_RETIRE=1                    each dispatch that was counted has an id that is retired
 *
 * Of a dispatch: its id, queue, thread, times, external id, and NAME=SUM/RECORDS for each counter.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define MAX_GPUS 8
#define MAX_NAMES 64
#define MAX_SETS 8
#define MAX_DISPATCHES 4096

#if ROCPROFILER_SDK_ABI > 0
typedef rocprofiler_dispatch_counting_service_data_t data_t;
typedef rocprofiler_dispatch_counting_service_record_t header_t;
#define CONFIGURE_CALLBACK rocprofiler_configure_callback_dispatch_counting_service
#define CONFIGURE_BUFFER rocprofiler_configure_buffer_dispatch_counting_service
#else
typedef rocprofiler_profile_counting_dispatch_data_t data_t;
typedef rocprofiler_profile_counting_dispatch_record_t header_t;
#define CONFIGURE_CALLBACK rocprofiler_configure_callback_dispatch_profile_counting_service
#define CONFIGURE_BUFFER rocprofiler_configure_buffered_dispatch_profile_counting_service
#endif

struct gpu {
	rocprofiler_agent_id_t agent;
	rocprofiler_profile_config_id_t configs[MAX_SETS];
	rocprofiler_counter_id_t counters[MAX_NAMES];
	int nr;
};

static rocprofiler_context_id_t context;
static struct gpu gpus[MAX_GPUS];
static size_t nr_listed; /* counters of the GPU that was added last */
static char *names[MAX_NAMES];
static int set_of[MAX_NAMES];
static int nr_names, nr_sets;
static uint64_t every, stop_at, per_round;
static bool with_values;
static pthread_once_t agents_once = PTHREAD_ONCE_INIT;
static _Atomic int nr_gpus, nr_wrong, nr_asked, nr_shown, nr_retired;
/* by dispatch id: the begin in ns, of its counters and of its trace; the internal ids of both */
static _Atomic uint64_t counted_at[MAX_DISPATCHES], traced_at[MAX_DISPATCHES];
static _Atomic uint64_t counted_as[MAX_DISPATCHES], traced_as[MAX_DISPATCHES];

static void wrong(const char *what, long number)
{
	atomic_fetch_add(&nr_wrong, 1);
	dprintf(STDOUT_FILENO, "tool: wrong: %s %ld\n", what, number);
}

#define IS(call, status)                                                                           \
	do {                                                                                       \
		rocprofiler_status_t is_ = (call);                                                 \
		if (is_ != (status))                                                               \
			wrong(#call, (long)is_);                                                   \
	} while (0)
#define OK(call) IS(call, ROCPROFILER_STATUS_SUCCESS)
#define ERR(name) ROCPROFILER_STATUS_ERROR_##name

/* ---- counters -------------------------------------------------------------------------------- */

static rocprofiler_status_t find_names(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *all,
				       size_t nr, void *arg)
{
	struct gpu *g = arg;

	nr_listed = nr;
	g->agent = agent;
	for (size_t i = 0; i < nr; i++) {
		rocprofiler_counter_info_v0_t info;

		OK(rocprofiler_query_counter_info(all[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
						  &info));
		for (int n = 0; n < nr_names; n++) {
			if (strcmp(info.name, names[n]) == 0) {
				g->counters[n] = all[i];
				g->nr++;
			}
		}
	}
	if (g->nr != nr_names)
		wrong("counters found", g->nr);
	return ROCPROFILER_STATUS_SUCCESS;
}

static struct gpu *gpu_of(rocprofiler_agent_id_t agent)
{
	for (int i = 0; i < atomic_load(&nr_gpus); i++)
		if (gpus[i].agent.handle == agent.handle)
			return &gpus[i];
	return NULL;
}

static rocprofiler_status_t count_dimensions(rocprofiler_counter_id_t id,
					     const rocprofiler_record_dimension_info_t *dims,
					     size_t nr, void *arg)
{
	size_t *product = arg;

	(void)id;
	for (size_t i = 0; i < nr; i++)
		*product *= dims[i].instance_size;
	return ROCPROFILER_STATUS_SUCCESS;
}

#if ROCPROFILER_SDK_ABI > 0
/* A dimension that the counter does not have is at 0; one that there is not is refused. */
static void check_others(const rocprofiler_counter_info_v1_t *info,
			 rocprofiler_counter_instance_id_t instance)
{
	size_t pos;

	for (rocprofiler_counter_dimension_id_t d = 1; d <= 7; d++) {
		bool has = false;

		for (size_t i = 0; i < info->dimensions_count; i++)
			has = has || info->dimensions[i]->id == d;
		pos = 77;
		OK(rocprofiler_query_record_dimension_position(instance, d, &pos));
		if (!has && pos != 0)
			wrong("position in a dimension that is not there", (long)d);
	}
	IS(rocprofiler_query_record_dimension_position(instance, 8, &pos), ERR(DIM_NOT_FOUND));
}
#endif

/* What the queries say of a counter agrees. */
static void check_counter(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t id)
{
	size_t nr = 0, product = 1;

	OK(rocprofiler_query_counter_instance_count(agent, id, &nr));
	OK(rocprofiler_iterate_counter_dimensions(id, count_dimensions, &product));
	if (nr != product)
		wrong("instances", (long)nr);
#if ROCPROFILER_SDK_ABI > 0
	{
		rocprofiler_counter_info_v1_t info = { 0 };

		OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_1, &info));
		if (info.dimensions_instances_count != nr || info.size != sizeof(info))
			wrong("instances of version 1", (long)info.dimensions_instances_count);
		for (size_t i = 0; i < info.dimensions_instances_count; i++) {
			const rocprofiler_counter_record_dimension_instance_info_t *one =
				info.dimensions_instances[i];
			rocprofiler_counter_id_t of = { 0 };

			OK(rocprofiler_query_record_counter_id(one->instance_id, &of));
			if (of.handle != id.handle)
				wrong("counter of an instance", (long)i);
			check_others(&info, one->instance_id);
			for (size_t d = 0; d < info.dimensions_count; d++) {
				size_t pos = 77;

				OK(rocprofiler_query_record_dimension_position(
					one->instance_id, info.dimensions[d]->id, &pos));
				if (pos != one->dimensions[d]->index)
					wrong("position", (long)pos);
			}
		}
	}
#endif
}

static void check_bad(struct gpu *g)
{
	rocprofiler_agent_id_t no_agent = { .handle = 1 };
	rocprofiler_counter_id_t no_counter = { .handle = 12345 };
	rocprofiler_profile_config_id_t config = { .handle = 0 };
	rocprofiler_counter_info_v0_t info;
	size_t n;

	IS(rocprofiler_iterate_agent_supported_counters(no_agent, find_names, g),
	   ERR(AGENT_NOT_FOUND));
	IS(rocprofiler_query_counter_info(no_counter, ROCPROFILER_COUNTER_INFO_VERSION_0, &info),
	   ERR(COUNTER_NOT_FOUND));
	IS(rocprofiler_query_counter_info(g->counters[0], ROCPROFILER_COUNTER_INFO_VERSION_LAST,
					  &info),
	   ERR(INCOMPATIBLE_ABI));
	IS(rocprofiler_query_counter_instance_count(g->agent, no_counter, &n),
	   ERR(COUNTER_NOT_FOUND));
	IS(rocprofiler_iterate_counter_dimensions(no_counter, count_dimensions, &n),
	   ERR(COUNTER_NOT_FOUND));
	IS(rocprofiler_query_record_dimension_position(1, 0, &n), ERR(COUNTER_NOT_FOUND));
	IS(rocprofiler_create_profile_config(no_agent, g->counters, 1, &config),
	   ERR(AGENT_NOT_FOUND));
	IS(rocprofiler_create_profile_config(g->agent, &no_counter, 1, &config),
	   ERR(COUNTER_NOT_FOUND));
	IS(rocprofiler_destroy_profile_config(config), ERR(PROFILE_NOT_FOUND));
}

/* Whether GPUs have the library's own counters. */
static bool has_own(void)
{
	return !getenv("COUNT_DEFINE") && !getenv("ROCPROFILER_METRICS_PATH");
}

#if ROCPROFILER_SDK_ABI > 0
static rocprofiler_status_t create_one(rocprofiler_agent_id_t agent, const char *name,
				       const char *expression, rocprofiler_counter_id_t *id)
{
	return rocprofiler_create_counter(name, strlen(name), expression, strlen(expression),
					  "of the tool", 11, agent, id);
}

static void create_counters(rocprofiler_agent_id_t agent)
{
	static const char *const bad[][2] = {
		{ "SQ_WAVES", "1" },
		{ "CU_NUM", "1" },
		{ "9LIVES", "SQ_WAVES" },
		{ "A B", "SQ_WAVES" },
		{ "BAD_1", "SQ_WAVES+" },
		{ "BAD_2", "NO_SUCH_COUNTER" },
		{ "BAD_3", "reduce(TCC_HIT,median)" },
		{ "BAD_4", "reduce(TCC_HIT" },
		{ "BAD_5", "BAD_5+1" },
		{ "BAD_6", "select(TCC_HIT,[DIMENSION_INSTANCE=[16]])" },
		{ "BAD_7", "sum(TCC_HIT,17)" },
	};
	const rocprofiler_agent_id_t no_agent = { .handle = 1 };
	rocprofiler_counter_id_t id = { .handle = 0 };
	const char *given = getenv("COUNT_CREATE");
	char text[1024], *rest = text, *one;
	rocprofiler_counter_info_v0_t info;

	snprintf(text, sizeof(text), "%s", given ? given : "");
	while (given && (one = strsep(&rest, ";")) != NULL) {
		char *name = strsep(&one, "=");

		OK(create_one(agent, name, one, &id));
		OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
		if (strcmp(info.name, name) != 0 || strcmp(info.description, "of the tool") != 0 ||
		    !info.is_derived || info.is_constant)
			wrong("a created counter", (long)id.handle);
		IS(create_one(agent, name, one, &id), ERR(AST_GENERATION_FAILED));
	}
	for (size_t i = !has_own(); i < sizeof(bad) / sizeof(bad[0]); i++)
		IS(create_one(agent, bad[i][0], bad[i][1], &id), ERR(AST_GENERATION_FAILED));
	IS(create_one(no_agent, "GOOD", "1", &id), ERR(AGENT_NOT_FOUND));
	IS(rocprofiler_create_counter("A", 0, "1", 1, NULL, 0, agent, &id), ERR(INVALID_ARGUMENT));
	IS(rocprofiler_create_counter("A", 1, NULL, 0, NULL, 0, agent, &id), ERR(INVALID_ARGUMENT));
	IS(rocprofiler_create_counter("A", 1, "1", 1, NULL, 0, agent, NULL), ERR(INVALID_ARGUMENT));
}
#endif

static rocprofiler_status_t first_of(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *all,
				     size_t nr, void *arg)
{
	rocprofiler_profile_config_id_t config = { .handle = 0 };

	(void)arg;
	/* all counters of the GPU do not fit in one pass */
	if (has_own())
		IS(rocprofiler_create_profile_config(agent, all, nr, &config),
		   ERR(EXCEEDS_HW_LIMIT));
	return ROCPROFILER_STATUS_SUCCESS;
}

#if ROCPROFILER_SDK_ABI > 0
#define LOAD rocprofiler_load_counter_definition

/* The last definitions that are given before counters are asked for count, whatever they are. */
static void load_definitions(void)
{
	rocprofiler_counter_flag_t how = getenv("COUNT_APPEND") ?
						 ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION :
						 ROCPROFILER_COUNTER_FLAG_NONE;
	const char *path = getenv("COUNT_DEFINE");
	char text[4096];
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t n = file ? fread(text, 1, sizeof(text), file) : 0;

	IS(LOAD(NULL, 1, how), ERR(INVALID_ARGUMENT));
	OK(LOAD("no definitions", 4, ROCPROFILER_COUNTER_FLAG_NONE));
	/* the text need not end where its size is */
	if (n && n < sizeof(text))
		text[n] = '[';
	OK(LOAD(file ? text : NULL, n, how));
	if (file)
		fclose(file);
}
#endif

static void add_gpu(rocprofiler_agent_id_t agent)
{
	struct gpu *g = &gpus[atomic_load(&nr_gpus)];
	/* tools pass what the set of the GPU before left there: that is extended for this one */
	rocprofiler_profile_config_id_t part = g == gpus ? (rocprofiler_profile_config_id_t){ 0 } :
							   g[-1].configs[0];
	rocprofiler_profile_config_id_t empty = { .handle = 0 };

#if ROCPROFILER_SDK_ABI > 0
	create_counters(agent);
#endif
	OK(rocprofiler_iterate_agent_supported_counters(agent, find_names, g));
	OK(rocprofiler_iterate_agent_supported_counters(agent, first_of, g));
#if ROCPROFILER_SDK_ABI > 0
	IS(LOAD("", 0, ROCPROFILER_COUNTER_FLAG_NONE), ROCPROFILER_STATUS_ERROR);
#endif
	dprintf(STDOUT_FILENO, "tool: counters %zu\n", nr_listed);
	for (int i = 0; i < g->nr; i++)
		check_counter(agent, g->counters[i]);
	check_bad(g);
	if (getenv("COUNT_FIRST"))
		memcpy(g->counters, gpus[0].counters, sizeof(g->counters));
	/* of a GPU of which the tool wants nothing */
	OK(rocprofiler_create_profile_config(agent, NULL, 0, &empty));
	OK(rocprofiler_destroy_profile_config(empty));
	/* a set, and another one that has its counters and more */
	OK(rocprofiler_create_profile_config(agent, g->counters, 1, &part));
	for (int i = 0; i < nr_sets; i++) {
		int first = 0, n = 0;

		while (first < nr_names && set_of[first] != i)
			first++;
		while (first + n < nr_names && set_of[first + n] == i)
			n++;
		g->configs[i].handle = i ? 0 : part.handle;
		OK(rocprofiler_create_profile_config(agent, g->counters + first, (size_t)n,
						     &g->configs[i]));
	}
	OK(rocprofiler_destroy_profile_config(part));
	atomic_fetch_add(&nr_gpus, 1);
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
				      size_t nr, void *arg)
{
	(void)version;
	(void)arg;
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_agent_v0_t *a = agents[i];

		if (a->type == ROCPROFILER_AGENT_TYPE_GPU)
			add_gpu(a->id);
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void find_agents(void)
{
	OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
					      sizeof(rocprofiler_agent_v0_t), NULL));
}

/* ---- dispatches ------------------------------------------------------------------------------ */

static void on_dispatch(data_t data, rocprofiler_profile_config_id_t *config,
			rocprofiler_user_data_t *user, void *arg)
{
	uint64_t n = (uint64_t)atomic_fetch_add(&nr_asked, 1);
	const struct gpu *g = gpu_of(data.dispatch_info.agent_id);

	/* not known while HSA's runtime was initialising itself */
	if (!g) {
		pthread_once(&agents_once, find_agents);
		g = gpu_of(data.dispatch_info.agent_id);
	}
	if (arg != &context || data.start_timestamp || data.size != sizeof(data))
		wrong("data of a dispatch", (long)data.size);
	if (stop_at && n + 1 == stop_at)
		OK(rocprofiler_stop_context(context));
	if (n % every || !g)
		return;
	user->value = data.dispatch_info.dispatch_id + 1000;
	*config = g->configs[n / per_round % (uint64_t)nr_sets];
}

/* The position of a record, by the names of its counter's dimensions. */
struct position {
	rocprofiler_counter_instance_id_t id;
	size_t engine, instance;
};

static rocprofiler_status_t find_position(rocprofiler_counter_id_t id,
					  const rocprofiler_record_dimension_info_t *dims,
					  size_t nr, void *arg)
{
	struct position *p = arg;

	(void)id;
	for (size_t i = 0; i < nr; i++) {
		size_t at = 0;

		OK(rocprofiler_query_record_dimension_position(p->id, dims[i].id, &at));
		if (strcmp(dims[i].name, "DIMENSION_SHADER_ENGINE") == 0)
			p->engine = at;
		else if (strcmp(dims[i].name, "DIMENSION_INSTANCE") == 0)
			p->instance = at;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static int put_value(char *text, size_t size, rocprofiler_counter_id_t counter,
		     const rocprofiler_record_counter_t *r, bool is_first)
{
	struct position p = { .id = r->id };

	OK(rocprofiler_iterate_counter_dimensions(counter, find_position, &p));
	return snprintf(text, size, "%s%zu.%zu=%.17g", is_first ? "" : ",", p.engine, p.instance,
			r->counter_value);
}

static void show(const data_t *data, const rocprofiler_record_counter_t *records, size_t nr)
{
	const struct gpu *g = gpu_of(data->dispatch_info.agent_id);
	uint64_t id = data->dispatch_info.dispatch_id;
	char text[16384], values[8192];
	int n;

	n = snprintf(text, sizeof(text),
		     "counted %llu queue %llu begin %llu end %llu external %llu",
		     (unsigned long long)id,
		     (unsigned long long)data->dispatch_info.queue_id.handle,
		     (unsigned long long)data->start_timestamp,
		     (unsigned long long)data->end_timestamp,
		     (unsigned long long)data->correlation_id.external.value);
	for (int i = 0; g && i < g->nr; i++) {
		double sum = 0;
		int of = 0, at = 0;

		for (size_t r = 0; r < nr; r++) {
			rocprofiler_counter_id_t counter;

			OK(rocprofiler_query_record_counter_id(records[r].id, &counter));
			if (counter.handle != g->counters[i].handle)
				continue;
			if (with_values)
				at += put_value(values + at, sizeof(values) - (size_t)at, counter,
						&records[r], !of);
			sum += records[r].counter_value;
			of++;
			if (records[r].dispatch_id != id || records[r].user_data.value != id + 1000)
				wrong("record of a dispatch", (long)id);
		}
		if (!of && nr_sets > 1)
			continue;
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s %.17g %s# %d", names[i], sum,
			      names[i], of);
		if (with_values)
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %s@ %s", names[i],
				      values);
	}
	text[n++] = '\n';
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		wrong("write", n);
	atomic_fetch_add(&nr_shown, 1);
	if (!data->correlation_id.internal)
		wrong("a dispatch without an id", (long)id);
	if (id < MAX_DISPATCHES) {
		atomic_store(&counted_at[id], data->start_timestamp);
		atomic_store(&counted_as[id], data->correlation_id.internal);
	}
}

static void on_record(data_t data, rocprofiler_record_counter_t *records, size_t nr,
		      rocprofiler_user_data_t user, void *arg)
{
	if (arg != gpus || user.value != data.dispatch_info.dispatch_id + 1000)
		wrong("user data", (long)user.value);
	show(&data, records, nr);
}

/* A header and its records come one after the other, possibly in several calls. */
static header_t last_header;
static rocprofiler_record_counter_t pending[4096];
static size_t nr_pending;

static void end_pending(void)
{
	data_t data = { 0 };

	if (!last_header.num_records)
		return;
	if (nr_pending != last_header.num_records)
		wrong("records of a header", (long)nr_pending);
	data.correlation_id = last_header.correlation_id;
	data.start_timestamp = last_header.start_timestamp;
	data.end_timestamp = last_header.end_timestamp;
	data.dispatch_info = last_header.dispatch_info;
	show(&data, pending, nr_pending);
	last_header.num_records = 0;
}

static void on_buffer(rocprofiler_context_id_t c, rocprofiler_buffer_id_t buffer,
		      rocprofiler_record_header_t **headers, size_t nr, void *arg, uint64_t dropped)
{
	(void)c;
	(void)buffer;
	(void)arg;
	if (dropped)
		wrong("dropped", (long)dropped);
	for (size_t i = 0; i < nr; i++) {
		if (headers[i]->category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
		    headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
			atomic_fetch_add(&nr_retired, 1);
			continue;
		}
		if (headers[i]->category == ROCPROFILER_BUFFER_CATEGORY_TRACING) {
			const rocprofiler_buffer_tracing_kernel_dispatch_record_t *d =
				headers[i]->payload;

			if (d->dispatch_info.dispatch_id < MAX_DISPATCHES) {
				atomic_store(&traced_at[d->dispatch_info.dispatch_id],
					     d->start_timestamp);
				atomic_store(&traced_as[d->dispatch_info.dispatch_id],
					     d->correlation_id.internal);
			}
			continue;
		}
		if (headers[i]->category != ROCPROFILER_BUFFER_CATEGORY_COUNTERS) {
			wrong("category", (long)headers[i]->category);
		} else if (headers[i]->kind ==
			   ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER) {
			if (last_header.num_records)
				wrong("a header before all records", (long)nr_pending);
			memcpy(&last_header, headers[i]->payload, sizeof(last_header));
			nr_pending = 0;
		} else if (nr_pending < 4096) {
			memcpy(&pending[nr_pending++], headers[i]->payload, sizeof(pending[0]));
			if (nr_pending == last_header.num_records)
				end_pending();
		}
	}
}

/* ---- the tool -------------------------------------------------------------------------------- */

static void check_services(rocprofiler_buffer_id_t buffer)
{
	rocprofiler_context_id_t none = { .handle = 3 }, other = { .handle = 0 };
	rocprofiler_buffer_id_t no_buffer = { .handle = 77 };

	IS(CONFIGURE_CALLBACK(none, on_dispatch, NULL, on_record, NULL), ERR(CONTEXT_INVALID));
	IS(CONFIGURE_CALLBACK(context, on_dispatch, NULL, on_record, NULL),
	   ERR(SERVICE_ALREADY_CONFIGURED));
	IS(CONFIGURE_BUFFER(context, buffer, on_dispatch, NULL), ERR(SERVICE_ALREADY_CONFIGURED));
	OK(rocprofiler_create_context(&other));
	IS(CONFIGURE_BUFFER(other, no_buffer, on_dispatch, NULL), ERR(BUFFER_NOT_FOUND));
	IS(CONFIGURE_CALLBACK(other, NULL, NULL, on_record, NULL), ERR(INVALID_ARGUMENT));
	OK(CONFIGURE_CALLBACK(other, on_dispatch, NULL, on_record, NULL));
	IS(rocprofiler_start_context(other), ERR(CONTEXT_CONFLICT));
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void read_names(void)
{
	static char text[2048];
	const char *given = getenv("COUNT_NAMES");
	char *rest = text, *set, *name;

	snprintf(text, sizeof(text), "%s", given ? given : "SQ_WAVES");
	while ((set = strsep(&rest, ";")) != NULL && nr_sets < MAX_SETS) {
		while ((name = strsep(&set, ",")) != NULL && nr_names < MAX_NAMES) {
			set_of[nr_names] = nr_sets;
			names[nr_names++] = name;
		}
		nr_sets++;
	}
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_buffer_id_t buffer = { .handle = 0 };

	(void)fini;
	(void)data;
	read_names();
	every = number_of("COUNT_EVERY", 1);
	stop_at = number_of("COUNT_STOP", 0);
	per_round = number_of("COUNT_ROUND", 1);
	with_values = number_of("COUNT_VALUES", 0);
#if ROCPROFILER_SDK_ABI > 0
	load_definitions();
#endif
	OK(rocprofiler_create_context(&context));
	OK(rocprofiler_create_buffer(context, 65536, 32768, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_buffer, NULL, &buffer));
	if (number_of("COUNT_BUFFER", 0))
		OK(CONFIGURE_BUFFER(context, buffer, on_dispatch, &context));
	else
		OK(CONFIGURE_CALLBACK(context, on_dispatch, &context, on_record, gpus));
	if (number_of("COUNT_TRACE", 0))
		OK(rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
	if (number_of("COUNT_RETIRE", 0))
		OK(rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
			buffer));
	OK(rocprofiler_start_context(context));
	check_services(buffer);
	return 0;
}

static void finalize(void *data)
{
	int nr_same = 0;

	(void)data;
	for (int i = 0; i < MAX_DISPATCHES; i++) {
		uint64_t counted = atomic_load(&counted_at[i]), traced = atomic_load(&traced_at[i]);

		nr_same += counted && counted == traced;
		if (counted && traced && counted != traced)
			wrong("begin of a dispatch in its trace", i);
		if (counted && traced && atomic_load(&counted_as[i]) != atomic_load(&traced_as[i]))
			wrong("id of a dispatch in its trace", i);
	}
	if (number_of("COUNT_RETIRE", 0) && atomic_load(&nr_retired) != atomic_load(&nr_shown))
		wrong("ids that were retired", atomic_load(&nr_retired));
	dprintf(STDOUT_FILENO, "tool: asked %d shown %d same %d wrong %d\n", atomic_load(&nr_asked),
		atomic_load(&nr_shown), nr_same, atomic_load(&nr_wrong));
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      &result };

	(void)version;
	(void)runtime_version;
	(void)priority;
	id->name = "counter_tool";
	return &result;
}
