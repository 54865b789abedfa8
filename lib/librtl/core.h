/* SPDX-License-Identifier: MIT */
/* core.h - the table that librtl.so gives to the faces, which link to it
 *
 * One exported function returns it, so that the core is in the process once. It is private to the
 * libraries of one
 * build: librtl gives it for its own version only.
 */
#ifndef RTL_LIB_LIBRTL_CORE_H
#define RTL_LIB_LIBRTL_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core_version.h"
#include "event/bus.h"
#include "source/api/live.h"
#include "source/hip/activity.h"
#include "source/hip/host_function.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/counter/client.h"
#include "source/hsa/counter/profile.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/queue/announce.h"
#include "source/hsa/queue/submit.h"
#include "source/hsa/table/table.h"
#include "source/mpi/mpi_calls.h"
#include "source/roctx/range.h"

/* The libraries on top of the core that one process may hold: both generations of each. A library
 * that is added raises a number here, and what has become too small is found at compile time. */
#define CORE_NR_ROCTRACERS 2
#define CORE_NR_ROCTXS 2
#define CORE_NR_SDK_ROCTXS 2
#define CORE_NR_SDKS 2
#define CORE_NR_ROCPROFILERS 1 /* librocprofiler64, of v1 */
/* libroctracer64: one for API calls, one for events of HSA; libroctx64 has none */
_Static_assert(2 * CORE_NR_ROCTRACERS + CORE_NR_SDKS + CORE_NR_ROCPROFILERS <= LIVE_MAX_SUBSCRIBERS,
	       "a number for each subscriber");
_Static_assert(CORE_NR_ROCTRACERS + CORE_NR_ROCTXS + CORE_NR_SDKS <= RANGE_MAX_LISTENERS,
	       "a slot for each");
/* range_front() */
_Static_assert(CORE_NR_ROCTXS + CORE_NR_SDK_ROCTXS <= RANGE_MAX_LISTENERS, "a slot for each");
/* librtl's three, and one of each library */
_Static_assert(3 + CORE_NR_ROCTRACERS + CORE_NR_SDKS + CORE_NR_ROCPROFILERS <= TABLE_MAX_LAYERS,
	       "a slot for each layer");
/* libroctracer64: one for names of kernels, one for events of HSA */
_Static_assert(2 * CORE_NR_ROCTRACERS + CORE_NR_ROCPROFILERS <= SUBMIT_MAX_LISTENERS,
	       "a slot for each");
_Static_assert(CORE_NR_SDKS <= SUBMIT_MAX_TAKERS, "a slot for each");
_Static_assert(CORE_NR_SDKS <= COPY_MAX_LISTENERS, "a slot for each");
_Static_assert(CORE_NR_SDKS <= HOST_FUNCTION_LISTENERS, "a slot for each");
/* those that count */
_Static_assert(CORE_NR_SDKS + CORE_NR_ROCPROFILERS <= CLIENT_MAX, "a number for each client");
/* beside the recorder's; librocprofiler-sdk: one for code objects, one for operations;
 * librocprofiler64: one for kernels, one for dispatches */
_Static_assert(1 + CORE_NR_ROCTRACERS + 2 * CORE_NR_SDKS + 2 * CORE_NR_ROCPROFILERS <=
		       BUS_MAX_SINKS,
	       "a slot for each sink");
/* those that want HSA's tables */
#define CORE_NR_INITS (CORE_NR_SDKS + CORE_NR_ROCPROFILERS)

/* Whether a face wants HSA's tables. */
typedef bool (*hsa_init_wants_fn)(void);

struct rtl_core {
	uint32_t version;

	/* the work of OnLoad() and OnUnload() */
	bool (*on_load)(void *table);
	void (*on_unload)(void);

	uint64_t (*now_ns)(void);
	uint64_t (*clock_keep)(void); /* life_keep_clock() */
	void *(*hip_find)(const char *name);
	bool (*host_function_listen)(host_function_fn fn); /* host_function.h */
	/* this librtl is the copy, in a forked child, of the one at `path` (forked.h) */
	void (*be_copy)(const char *path);
	/* rebind.h: from the face's constructor */
	void (*rebind)(void);
	/* calls of this thread are suppressed from now on, or traced again */
	void (*quiet)(bool on);

	/* table.h, submit.h, harvest.h have the contracts */
	bool (*table_add_layer)(const struct table_layer *layer);
	bool (*submit_listen)(submit_listener_fn fn);
	void (*times_listen)(harvest_times_fn fn);
	bool (*submit_listen_taken)(submit_taken_fn fn);
	/* announce.h */
	struct queue *(*announce_dispatches)(hsa_signal_t doorbell, hsa_signal_value_t value,
					     submit_taken_fn fn);
	void (*announce_over)(struct queue *q);
	void (*announce_left)(struct queue *q, uint64_t end);
	/* code_object.h, collect.h: which dispatches were submitted after a moment */
	uint32_t (*submit_mark)(void);
	uint32_t (*submit_epoch_of_event)(void);
	int (*copy_listen)(copy_listener_fn fn); /* copy.h */
	void (*harvest_flush)(void);
	bool (*harvest_is_any_in_flight)(void);

	/* client.h has the contracts */
	int (*client_register)(const struct counter_client *client);
	void (*client_switch)(int client, uint32_t agent, bool on);
	/* counter.h has the contracts */
	void (*counter_settle)(uint64_t wait_ns);
	int (*counter_reserve)(uint32_t agent, uint64_t wait_ns);
	void (*counter_unreserve)(uint32_t agent);
	/* agent.h: AGENT_NONE: unknown */
	uint32_t (*agent_index)(hsa_agent_t agent);
	hsa_agent_t (*agent_handle)(uint32_t index);

	/* profile.h has the contracts */
	bool (*profile_available)(void);
	int (*profile_make)(hsa_agent_t agent, const struct profile_event *events, uint32_t nr,
			    char *why, struct profile **made);
	hsa_status_t (*profile_allocate)(hsa_amd_memory_pool_t from, size_t size, void **memory);
	int (*profile_enclose)(struct profile **events, hsa_agent_t agent,
			       const union packet *before, const union packet *after,
			       void *const *memory);
	void (*profile_get)(struct profile *p);
	void (*profile_free)(struct profile *p);
	const union packet *(*profile_packet)(const struct profile *p, enum profile_part part);
	bool (*profile_read)(struct profile *p, uint64_t *values);
	uint32_t (*profile_nr_values)(const struct profile *p);
	uint32_t (*profile_nr_samples)(const struct profile *p, uint32_t event);
	uint32_t (*profile_first_value)(const struct profile *p, uint32_t event);
	void (*profile_put)(hsa_queue_t *hsa, const union packet *packet, hsa_signal_t done);
	bool (*profile_wait)(hsa_signal_t done);
	bool (*profile_queue_open)(hsa_agent_t agent, struct profile_queue *q);
	void (*profile_queue_close)(struct profile_queue *q);
	bool (*profile_queue_run)(const struct profile_queue *q, const struct profile *p,
				  enum profile_part part);
	bool (*profile_enable_queue)(hsa_agent_t agent, hsa_queue_t *hsa);

	/* bus.h, live.h have the contracts */
	int (*bus_attach)(const struct sink *sink);
	void (*bus_loss)(enum spool_reason reason, uint64_t count);
	int (*live_subscribe)(const struct live_subscriber *s);
	void (*live_want)(int index, enum api_domain domain, uint32_t operation, unsigned int what);
	void (*live_pause)(int index, bool paused);
	/* of this thread; NULL: none. Valid until the call returns */
	const struct live_call *(*live_innermost)(void);
	/* Records HSA's calls from now on, or from the next hsa_init() on. false: too many layers.
	 * May be called again */
	bool (*hsa_wrap)(void);
	void *(*hsa_real)(uint32_t op);	 /* hsa_wrap_real() */
	void *(*rccl_real)(uint32_t op); /* rccl.h */

	/* hsa_init.c: the program's hsa_init() asks `wants`, on its thread, and if that is so gives
	 * librtl the tables, though HSA_TOOLS_LIB does not name it */
	void (*hsa_init_as_tool)(hsa_init_wants_fn wants);
	/* librtl's hsa_init(), for a library that the loader searches before the runtime */
	hsa_status_t (*hsa_init)(void);
	/* Whether HSA's runtime has been initialised before librtl could get its tables. Not within
	 * hsa_init() */
	bool (*hsa_is_past)(void);
	/* hsa_past.h: around what the runtime calls in the face to pass its tables on */
	void (*hsa_past_begin)(void);
	void (*hsa_past_end)(void);
	/* register.c: the tables of HIP or HSA were offered to the face */
	int (*set_api_table)(const char *name, uint64_t version, uint64_t instance, void **tables,
			     uint64_t nr_tables);

	/* pause.h, corr.h, activity.h have the contracts */
	void (*pause_switch)(bool recording);
	void (*corr_keep_order)(void);
	uint64_t (*corr_new_id)(void); /* corr_new() on this thread */
	/* the id of the recorded call in progress on this thread, the outermost; 0: none */
	uint64_t (*corr_call_id)(void);
	bool (*activity_turn_on)(void);
	void (*activity_want_ops)(int index, activity_fn fn);
	void (*activity_pause_ops)(int index, bool paused);
	void (*activity_settle)(void);
	uint32_t (*activity_last_id)(void);

	/* roctx: range.h has the contracts */
	void (*range_front)(const void *fn);
	int (*range_listen)(range_listener_fn fn);
	int (*range_listen_end)(range_end_fn fn);
	void (*range_mark)(const char *message);
	int (*range_push)(const char *message);
	int (*range_pop)(void);
	uint64_t (*range_start)(const char *message);
	void (*range_stop)(uint64_t id);
	int (*range_profiler)(bool resume, uint64_t tid);
	int (*range_thread_id)(uint64_t *tid);
	int (*range_name)(enum range_call call, const char *name, uint64_t of);

	/* mpi_calls.h has the contracts */
	bool (*mpi_start)(const struct api_op *ops, _Atomic uint8_t *named, uint32_t nr);
	bool (*mpi_enter)(uint32_t op, struct api_call *c, uintptr_t frame);
	void (*mpi_leave)(uint32_t op, struct api_call *c, uint64_t end_ns, int32_t status,
			  const uint64_t *words, uint32_t nr_words);
	void (*mpi_pass)(uintptr_t frame);
	uint64_t (*mpi_text)(const char *text);
	void (*mpi_rank)(int64_t rank, int64_t size);
};

/* NULL: `version` is not this librtl's RTL_CORE_VERSION: the caller is of another build, whose
 * table may have another layout. A process with a face is recorded only where LD_PRELOAD or
 * HSA_TOOLS_LIB names librtl itself. */
const struct rtl_core *rtl_core_get(uint32_t version);

#endif
