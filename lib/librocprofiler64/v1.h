/* SPDX-License-Identifier: MIT */
/* v1.h - what the files of librocprofiler64 share
 *
 *	error.c       the text and the status of each thread's last error
 *	settings.c    the settings of the environment
 *	runtime.c     HSA's functions, the GPUs
 *	dictionary.c  counters and metrics by name
 *	info.c        what there is: get_info, iterate_info, query_info; versions
 *	times.c       HSA's times as times of other clocks
 *	context.c     contexts that are open: groups, data, metrics
 *	put.c         packets into queues
 *	trace.c       features of kind TRACE
 *	queues.c      queues of the program, the callbacks of their dispatches
 *	dispatch.c    dispatches that are intercepted: their callbacks, records, groups
 *	callbacks.c   the client sets these callbacks
 *	sample.c      standalone contexts: start, read, stop, get_data
 *	open.c        contexts are opened and closed
 *	pool.c        contexts that are used again
 *	hsa_calls.c   callbacks of HSA's calls
 *	tool.c        the tool plug-in
 *	activity.c    hooks for roctracer
 *	start.c       the library's start; HSA's runtime loads it
 *
 * Each uses those above it.
 */
#ifndef RTL_LIB_LIBROCPROFILER64_V1_H
#define RTL_LIB_LIBROCPROFILER64_V1_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* AMD's header defines this in every file that includes it (5.2 to 7.2). */
extern const unsigned HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE __attribute__((weak));
#include "rocprofiler/rocprofiler.h"

#include "../face/agents.h"
#include "../face/fork_guard.h"
#include "../face/link.h"
#include "base/compiler.h"
#include "counter/metric.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- error.c ---- */
/* The thread's error is now `status`, its text "api(), inner(), ...". Returns `status`. */
hsa_status_t error_set(hsa_status_t status, const char *api, const char *inner, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));
#define FAIL(inner, ...) error_set(HSA_STATUS_ERROR, __func__, inner, __VA_ARGS__)
/* In an exported function: an argument that may not be NULL. */
#define NEED(argument)                                                                             \
	do {                                                                                       \
		if (!(argument))                                                                   \
			return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, __func__,              \
					 "check_arguments", "'%s' is NULL", #argument);            \
	} while (0)

/* ---- runtime.c ---- */
/* As the program calls them: through HSA's tables. */
#define HSA_FUNCTIONS(X)                                                                           \
	X(hsa_init)                                                                                \
	X(hsa_status_string)                                                                       \
	X(hsa_iterate_agents)                                                                      \
	X(hsa_agent_get_info)                                                                      \
	X(hsa_system_get_info)                                                                     \
	X(hsa_system_get_major_extension_table)                                                    \
	X(hsa_queue_create)                                                                        \
	X(hsa_queue_destroy)                                                                       \
	X(hsa_queue_load_write_index_relaxed)                                                      \
	X(hsa_queue_cas_write_index_scacq_screl)                                                   \
	X(hsa_queue_load_read_index_scacquire)                                                     \
	X(hsa_signal_create)                                                                       \
	X(hsa_signal_destroy)                                                                      \
	X(hsa_signal_add_screlease)                                                                \
	X(hsa_signal_load_scacquire)                                                               \
	X(hsa_signal_store_screlease)                                                              \
	X(hsa_signal_wait_scacquire)                                                               \
	X(hsa_memory_copy)                                                                         \
	X(hsa_amd_signal_async_handler)                                                            \
	X(hsa_amd_agent_iterate_memory_pools)                                                      \
	X(hsa_amd_memory_pool_get_info)                                                            \
	X(hsa_amd_memory_pool_allocate)                                                            \
	X(hsa_amd_memory_pool_free)                                                                \
	X(hsa_amd_agents_allow_access)

struct hsa_functions {
#define X(name) __typeof__(&name) name;
	HSA_FUNCTIONS(X)
#undef X
};
/* After runtime_ready(). */
extern RTL_HIDDEN struct hsa_functions hsa;

struct gpu {
	hsa_agent_t agent;
	uint32_t index; /* among the GPUs, in HSA's order */
	char name[64];	/* "gfx900" */
	uint32_t units, simds, engines, dies, wave;
};

/* HSA's runtime is there and up, and the GPUs are known; initialises it if need be. Not
 * HSA_STATUS_SUCCESS: the error is set, as one of `api`. Any thread. */
hsa_status_t runtime_ready(const char *api);
uint32_t runtime_nr_gpus(void);
const struct gpu *runtime_gpu_at(uint32_t index);
/* NULL: not a GPU of the runtime's. */
const struct gpu *runtime_gpu(hsa_agent_t agent);
/* An agent with its index, of any type. NULL: unknown. */
const struct agent *runtime_agent(hsa_agent_t agent);
/* HSA's runtime is up and has this library's functions in its tables. */
bool runtime_has_tables(void);
/* It has them from now on; it goes away. Under ROCr's init lock. */
void runtime_tables_taken(void);
void runtime_forget(void);
/* This thread's calls of HSA are the library's own from now on, or the program's again. */
void runtime_quiet(bool on);
bool runtime_is_quiet(void);

/* ---- settings.c ---- */
extern RTL_HIDDEN rocprofiler_settings_t settings;
/* Reads the environment; once. */
void settings_read(void);
/* Dispatches of the program's queues are intercepted. */
bool settings_intercepts(void);

/* ---- dictionary.c ---- */
/* The counters and metrics of a GPU: those of ROCP_METRICS, or ours. NULL: `error`, of
 * METRIC_ERROR_SIZE bytes, says why. */
const struct counter_gpu *dictionary_get(const struct gpu *gpu, char *error);
/* metric_find(), with the rules of AMD's library for names that are events: BLOCK:EVENT,
 * BLOCK[INSTANCE]:EVENT. */
bool dictionary_find(const struct counter_gpu *of, const char *name, struct metric *m, char *error);
/* For struct metric_values: a constant of a GPU. */
bool dictionary_constant(const struct gpu *gpu, const char *name, double *value);
#define DICTIONARY_NR_CONSTANTS 5u
/* The counter's name, as in an expression. */
#define DICTIONARY_NAME_SIZE 160u
void dictionary_event_name(const struct counter_gpu *of, const struct metric_event *e,
			   char name[DICTIONARY_NAME_SIZE]);

/* ---- context.c ---- */
#define CONTEXT_MAGIC UINT64_C(0x726f637031637478)
struct context;

/* A feature of a group and what it counts. */
struct counted {
	rocprofiler_feature_t *feature;
	const struct counter_block *block;
	uint32_t event;
	int32_t instance; /* -1: the sum of all */
};

struct group {
	struct context *context;
	uint32_t index;
	struct metric_events events;
	struct counted *counted; /* as many as features */
	rocprofiler_feature_t **features;
	uint32_t nr_features, nr_pmc; /* traces are behind the counters */
	uint32_t *metrics;	      /* features of the context */
	uint32_t nr_metrics;
	struct profile *profile; /* NULL: nothing is counted */
	uint64_t *values;
	uint32_t nr_values;
	hsa_signal_t done;	   /* how many of its packets are to complete */
	bool is_running, has_data; /* started; read or stopped since */
	_Atomic bool is_armed;	   /* the handler is registered with `done`, or was called */
	/* dispatch.c: a dispatch has the group */
	bool is_dispatched;
	_Atomic bool is_data_there; /* release: `values` and `why` are set before */
	const char *why;	    /* NULL: it was counted */
	_Atomic int32_t to_wait;    /* completions before the handler is called */
};

struct context {
	uint64_t magic;
	const struct gpu *gpu;
	const struct counter_gpu *counters;
	rocprofiler_feature_t *features; /* the caller's */
	struct metric *found;		 /* of each */
	uint32_t nr_features, mode;
	hsa_queue_t *queue;
	rocprofiler_handler_t handler;
	void *handler_arg;
	struct group *groups;
	uint32_t nr_groups;
	rocprofiler_feature_t *own; /* counters that metrics need and the caller did not ask for */
	char (*own_names)[DICTIONARY_NAME_SIZE];
	uint32_t nr_own;
	struct trace *trace; /* NULL: no features of kind TRACE */
	/* dispatch.c's, under its lock */
	struct taken *taken;  /* dispatches in flight that have a group of it */
	uint32_t nr_handlers; /* that run */
	/* by others */
	void (*on_done)(struct group *g, void *arg); /* instead of the handler */
	void *on_done_arg;
};

/* NULL: not an open context; the error is set. */
struct context *context_of(const rocprofiler_t *context, const char *api);
struct group *context_group(const rocprofiler_t *context, uint32_t index, const char *api);
/* They have no data. */
void context_clear(rocprofiler_feature_t *features, uint32_t nr);
/* It counts this event alone. */
bool context_counts(const struct counted *w, const struct metric_event *e);
/* What counts the event in the group. NULL: nothing does. */
struct counted *context_counted(const struct group *g, const struct metric_event *e);
void context_describe(struct group *g, rocprofiler_group_t *out);
/* One completion of the group: with the last one, its handler is called. */
void context_done(struct group *g);
/* `values` become the features' data. */
void context_store(struct group *g);

/* ---- put.c ---- */
/* Puts a packet into a queue that others may write to, too. `done`: its value is one more until the
 * packet has completed; handle 0: none. False: the queue stays full for longer than
 * settings.timeout. */
bool put_packet(hsa_queue_t *q, const union packet *p, hsa_signal_t done);
/* Waits a moment. Whether settings.timeout is over; `waited_ns`: 0 at first. */
bool put_is_over(uint64_t *waited_ns);

/* ---- sample.c ---- */
hsa_status_t sample_get_data(struct group *g, const char *api);
/* Stops what counts, and waits for its packets. False: they do not complete. */
bool sample_close(struct context *c);

/* ---- trace.c ---- */
/* Feature `index` is of kind TRACE. */
hsa_status_t trace_add(struct context *c, uint32_t index, const char *api);
/* All features were added: the profile is made. */
hsa_status_t trace_make(struct context *c, const char *api);
hsa_status_t trace_start(struct context *c, const char *api);
hsa_status_t trace_stop(struct context *c, const char *api);
/* An intercepted dispatch that had the context is over; is_there: it was traced. */
void trace_counted(struct context *c, bool is_there);
/* The data of the features. */
hsa_status_t trace_store(struct context *c, const char *api);
void trace_close(struct context *c);

/* ---- open.c ---- */
/* rocprofiler_open() of `api`. It writes nothing to the features: another context of a pool may
 * have its results there. */
hsa_status_t open_context(const char *api, hsa_agent_t agent, rocprofiler_feature_t *features,
			  uint32_t nr, uint32_t mode, rocprofiler_properties_t *properties,
			  struct context **out);
void open_close(struct context *c);

#endif
