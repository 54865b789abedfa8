/* SPDX-License-Identifier: MIT */
/* rocprofiler.h - performance counters and traces of AMD GPUs
 *
 * The API of AMD's rocprofiler 8.0 (librocprofiler64.so.1) over the core of rocm-trace-lite, and
 * what its specification adds. Link with -lrocprofiler64; HSA_TOOLS_LIB=librocprofiler64.so.1 lets
 * HSA's runtime load it.
 *
 * Functions return HSA_STATUS_SUCCESS or an error; rocprofiler_error_string() has the text of the
 * calling thread's last error, rocprofiler_errno() its status. Every function may be called from
 * any thread; a context belongs to one thread at a time. A null pointer where one is needed is
 * HSA_STATUS_ERROR_INVALID_ARGUMENT.
 */
#ifndef ROCPROFILER_H_
#define ROCPROFILER_H_

#if defined(__has_include)
#if __has_include(<hsa/hsa.h>)
#define ROCPROFILER_HSA_IN_FOLDER 1
#endif
#endif
#ifdef ROCPROFILER_HSA_IN_FOLDER
#include <hsa/amd_hsa_kernel_code.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#else
#include <amd_hsa_kernel_code.h>
#include <hsa.h>
#include <hsa_ext_amd.h>
#include <hsa_ven_amd_aqlprofile.h>
#endif
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

/* A program works with a library whose major version is this one or smaller:
 * rocprofiler_is_compatible(). */
#define ROCPROFILER_VERSION_MAJOR 8
#define ROCPROFILER_VERSION_MINOR 0

#define ROCPROFILER_CALL
#if defined(__GNUC__)
#define ROCPROFILER_EXPORT_DECORATOR __attribute__((visibility("default")))
#else
#define ROCPROFILER_EXPORT_DECORATOR
#endif
#define ROCPROFILER_IMPORT_DECORATOR
#define ROCPROFILER_EXPORT ROCPROFILER_EXPORT_DECORATOR ROCPROFILER_CALL
#define ROCPROFILER_IMPORT ROCPROFILER_IMPORT_DECORATOR ROCPROFILER_CALL
#define ROCPROFILER_API ROCPROFILER_IMPORT

#ifdef __cplusplus
#define ROCPROFILER_DEFAULT(value) = value
extern "C" {
#else
#define ROCPROFILER_DEFAULT(value)
#endif

/* ---- version and errors ---- */

ROCPROFILER_API uint32_t rocprofiler_version_major(void);
ROCPROFILER_API uint32_t rocprofiler_version_minor(void);
/* The same, by the specification's names. */
ROCPROFILER_API uint32_t rocprofiler_major_version(void);
ROCPROFILER_API uint32_t rocprofiler_minor_version(void);

static inline bool rocprofiler_is_compatible(void)
{
	return rocprofiler_version_major() <= ROCPROFILER_VERSION_MAJOR;
}

typedef hsa_status_t rocprofiler_errno_t;

/* The text of this thread's last error; "" before any. Valid until the thread's next error. */
ROCPROFILER_API hsa_status_t rocprofiler_error_string(const char **str);
/* The same, returned. */
ROCPROFILER_API const char *rocprofiler_last_error_string(void);
/* The status of this thread's last error; HSA_STATUS_SUCCESS before any. */
ROCPROFILER_API rocprofiler_errno_t rocprofiler_errno(void);

/* ---- the tool plug-in ----
 *
 * ROCP_TOOL_LIB names a library, which is loaded when HSA's runtime loads this one. It exports
 * OnLoadTool() or OnLoadToolProp(), and OnUnloadTool(). */

typedef struct {
	uint32_t intercept_mode;    /* 1: dispatches are intercepted */
	uint32_t code_obj_tracking; /* accepted: code objects always are */
	uint32_t memcopy_tracking;  /* not 0: the times of asynchronous copies are logged */
	uint32_t trace_size;	    /* bytes of a trace's output buffer */
	uint32_t trace_local;	    /* it is in the GPU's memory */
	uint64_t timeout;	    /* ns that rocprofiler_get_data() waits at most */
	uint32_t timestamp_on;	    /* dispatches have records of their times */
	uint32_t hsa_intercepting;  /* rocprofiler_set_hsa_callbacks() has effect */
	uint32_t k_concurrent;	    /* accepted; counted kernels run alone */
	uint32_t opt_mode;	    /* dispatch callbacks without names and records */
	uint32_t obj_dumping;	    /* accepted, without effect */
} rocprofiler_settings_t;

ROCPROFILER_EXPORT void OnLoadTool(void);
ROCPROFILER_EXPORT void OnLoadToolProp(rocprofiler_settings_t *settings);
ROCPROFILER_EXPORT void OnUnloadTool(void);

/* ---- features and their data ---- */

typedef hsa_ven_amd_aqlprofile_parameter_t rocprofiler_parameter_t;
typedef rocprofiler_parameter_t rocprofiler_feature_parameter_t;

typedef enum {
	ROCPROFILER_FEATURE_KIND_METRIC = 0,
	ROCPROFILER_FEATURE_KIND_TRACE = 1,
	ROCPROFILER_FEATURE_KIND_SPM_MOD = 2, /* bits beside TRACE */
	ROCPROFILER_FEATURE_KIND_PCSMP_MOD = 4
} rocprofiler_feature_kind_t;
/* as in the specification's example */
#define ROCPROFILER_METRIC ROCPROFILER_FEATURE_KIND_METRIC

typedef enum {
	ROCPROFILER_DATA_KIND_UNINIT = 0,
	ROCPROFILER_DATA_KIND_INT32 = 1,
	ROCPROFILER_DATA_KIND_INT64 = 2, /* counters */
	ROCPROFILER_DATA_KIND_FLOAT = 3,
	ROCPROFILER_DATA_KIND_DOUBLE = 4, /* derived metrics */
	ROCPROFILER_DATA_KIND_BYTES = 5	  /* traces */
} rocprofiler_data_kind_t;

typedef struct {
	rocprofiler_data_kind_t kind;
	union {
		uint32_t result_int32;
		uint64_t result_int64;
		float result_float;
		double result_double;
		struct {
			void *ptr;
			uint32_t size;
			union {
				uint32_t instance_count;
				uint32_t instances; /* the specification's name */
			};
			bool copy; /* set by the client before the data is got */
		} result_bytes;
	};
} rocprofiler_data_t;

typedef struct {
	union {
		rocprofiler_feature_kind_t kind;
		rocprofiler_feature_kind_t type; /* the specification's name */
	};
	union {
		const char *name;
		struct {
			const char *block;
			uint32_t event;
		} counter;
	};
	const rocprofiler_parameter_t *parameters; /* of a trace */
	uint32_t parameter_count;
	rocprofiler_data_t data;
} rocprofiler_feature_t;

typedef void rocprofiler_feature_set_t;

/* ---- contexts and groups ---- */

typedef void rocprofiler_t;

typedef struct {
	unsigned index;
	rocprofiler_feature_t **features;
	uint32_t feature_count;
	rocprofiler_t *context;
} rocprofiler_group_t;

typedef enum {
	ROCPROFILER_MODE_STANDALONE = 1,  /* the context has a queue */
	ROCPROFILER_MODE_CREATEQUEUE = 2, /* which is made with it */
	ROCPROFILER_MODE_SINGLEGROUP = 4  /* more groups than one are refused */
} rocprofiler_mode_t;

/* The group's data is complete. On a thread of the library; it may close the context. What it
 * returns is ignored. */
typedef bool (*rocprofiler_handler_t)(rocprofiler_group_t group, void *arg);
typedef rocprofiler_handler_t rocprofiler_context_callback_t;

typedef struct {
	hsa_queue_t *
		/* STANDALONE: the queue; with CREATEQUEUE it is stored here, and is the caller's to
		 * destroy */
		queue;
	uint32_t queue_depth; /* CREATEQUEUE: packets */
	union {
		rocprofiler_handler_t handler;
		rocprofiler_context_callback_t callback; /* the specification's name */
	};
	union {
		void *handler_arg;
		void *callback_arg;
	};
} rocprofiler_properties_t;

/* Opens a context for features of a GPU. `features` is the caller's, stays valid until the context
 * is closed, and gets the data. Counters that don't fit in one run are spread over groups, a
 * metric's in one of them. `properties` may be NULL without STANDALONE. */
ROCPROFILER_API hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
					      uint32_t feature_count, rocprofiler_t **context,
					      uint32_t mode, rocprofiler_properties_t *properties);
/* Frees everything that belongs to the context; NULL is accepted. */
ROCPROFILER_API hsa_status_t rocprofiler_close(rocprofiler_t *context);

/* Not in AMD's library: a set of features that grows. *set NULL: a new one. */
ROCPROFILER_API hsa_status_t rocprofiler_add_feature(const rocprofiler_feature_t *feature,
						     rocprofiler_feature_set_t **set);
ROCPROFILER_API hsa_status_t rocprofiler_features_set_open(hsa_agent_t agent,
							   rocprofiler_feature_set_t *set,
							   rocprofiler_t **context, uint32_t mode,
							   rocprofiler_properties_t *properties);

/* The group's handler is called again for the next data. */
ROCPROFILER_API hsa_status_t rocprofiler_reset(rocprofiler_t *context, uint32_t group_index);
ROCPROFILER_API hsa_status_t rocprofiler_get_agent(rocprofiler_t *context, hsa_agent_t *agent);

ROCPROFILER_API hsa_status_t rocprofiler_group_count(const rocprofiler_t *context, uint32_t *count);
ROCPROFILER_API hsa_status_t rocprofiler_get_group(rocprofiler_t *context, uint32_t index,
						   rocprofiler_group_t *group);

/* Starts, stops the counters of a STANDALONE context, or writes their values; by packets in its
 * queue. */
ROCPROFILER_API hsa_status_t rocprofiler_start(rocprofiler_t *context,
					       uint32_t group_index ROCPROFILER_DEFAULT(0));
ROCPROFILER_API hsa_status_t rocprofiler_stop(rocprofiler_t *context,
					      uint32_t group_index ROCPROFILER_DEFAULT(0));
ROCPROFILER_API hsa_status_t rocprofiler_read(rocprofiler_t *context,
					      uint32_t group_index ROCPROFILER_DEFAULT(0));
/* Waits for the values of the last read, stop or dispatch, and stores them in the group's
 * features. */
ROCPROFILER_API hsa_status_t rocprofiler_get_data(rocprofiler_t *context,
						  uint32_t group_index ROCPROFILER_DEFAULT(0));

ROCPROFILER_API hsa_status_t rocprofiler_group_start(rocprofiler_group_t *group);
ROCPROFILER_API hsa_status_t rocprofiler_group_stop(rocprofiler_group_t *group);
ROCPROFILER_API hsa_status_t rocprofiler_group_read(rocprofiler_group_t *group);
ROCPROFILER_API hsa_status_t rocprofiler_group_get_data(rocprofiler_group_t *group);

/* Computes derived metrics from the data in the groups' features, which may have been loaded from
 * an earlier run. */
ROCPROFILER_API hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *context);

typedef hsa_ven_amd_aqlprofile_data_callback_t rocprofiler_trace_data_callback_t;
/* Calls `callback` for each instance of a trace's data. */
ROCPROFILER_API hsa_status_t rocprofiler_iterate_trace_data(
	rocprofiler_t *context, rocprofiler_trace_data_callback_t callback, void *data);

/* ---- interception ---- */

/* ns of HSA's system clock */
typedef struct {
	uint64_t dispatch; /* submitted */
	uint64_t begin;
	uint64_t end;
	uint64_t complete; /* its completion was seen; 0 before */
} rocprofiler_dispatch_record_t;

typedef struct {
	union {
		hsa_agent_t agent;
		struct {
			hsa_agent_t agent;
		} dispatch; /* as in the specification's example */
	};
	uint32_t agent_index;
	const hsa_queue_t *queue;
	uint64_t queue_index; /* of the packet */
	uint32_t queue_id;    /* queues in the order of their creation */
	hsa_signal_t completion_signal;
	const hsa_kernel_dispatch_packet_t *packet;
	const char *kernel_name; /* demangled; stays */
	uint64_t kernel_object;
	const amd_kernel_code_t *kernel_code; /* in host memory */
	uint32_t thread_id;
	const rocprofiler_dispatch_record_t
		*record; /* from malloc(), the client's to free; NULL without timestamps */
} rocprofiler_callback_data_t;

/* A dispatch is about to be submitted. A group stored in *group is counted for it, and its data is
 * in the group then. Without success the dispatch is not counted. */
typedef hsa_status_t (*rocprofiler_callback_t)(const rocprofiler_callback_data_t *callback_data,
					       void *user_data, rocprofiler_group_t *group);

typedef struct {
	rocprofiler_callback_t dispatch;
	hsa_status_t (*create)(hsa_queue_t *queue, void *data);
	hsa_status_t (*destroy)(hsa_queue_t *queue, void *data);
} rocprofiler_queue_callbacks_t;

/* Sets the callbacks and starts them. An error while there are callbacks with other data. */
ROCPROFILER_API hsa_status_t
rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data);
ROCPROFILER_API hsa_status_t rocprofiler_remove_queue_callbacks(void);
/* Dispatch callbacks alone. */
ROCPROFILER_API hsa_status_t rocprofiler_start_queue_callbacks(void);
ROCPROFILER_API hsa_status_t rocprofiler_stop_queue_callbacks(void);

/* The specification's names. */
typedef rocprofiler_queue_callbacks_t rocprofiler_intercepting_t;
ROCPROFILER_API hsa_status_t rocprofiler_set_intercepting(rocprofiler_intercepting_t callbacks,
							  void *data);
ROCPROFILER_API hsa_status_t rocprofiler_remove_intercepting(void);
ROCPROFILER_API hsa_status_t rocprofiler_add_dispatch_callback(rocprofiler_callback_t callback,
							       void *data);

/* hsa_queue_create() of a queue whose dispatches are intercepted and have records, whatever
 * ROCP_HSA_INTERCEPT is. */
ROCPROFILER_API hsa_status_t rocprofiler_queue_create_profiled(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue);

/* ---- pools: contexts that are used again ---- */

typedef void rocprofiler_pool_t;

typedef struct {
	rocprofiler_t *context;
	void *payload; /* aligned to 64 bytes; zeroed when the pool is opened */
} rocprofiler_pool_entry_t;

/* An entry's data is complete; entries come in the order in which they were fetched. What it
 * returns is ignored. */
typedef bool (*rocprofiler_pool_handler_t)(const rocprofiler_pool_entry_t *entry, void *arg);

typedef struct {
	uint32_t num_entries;
	uint32_t payload_bytes;
	rocprofiler_pool_handler_t handler;
	void *handler_arg;
} rocprofiler_pool_properties_t;

ROCPROFILER_API hsa_status_t rocprofiler_pool_open(hsa_agent_t agent,
						   rocprofiler_feature_t *features,
						   uint32_t feature_count,
						   rocprofiler_pool_t **pool, uint32_t mode,
						   rocprofiler_pool_properties_t *properties);
ROCPROFILER_API hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *pool);
/* The next entry; waits while all are in use, and handles complete ones meanwhile. */
ROCPROFILER_API hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *pool,
						    rocprofiler_pool_entry_t *entry);
/* Gives an entry back that was fetched and not used. */
ROCPROFILER_API hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry);
/* Calls `callback` for each entry that is in use, the oldest first, until it returns something else
 * than success. */
ROCPROFILER_API hsa_status_t rocprofiler_pool_iterate(
	rocprofiler_pool_t *pool,
	hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry, void *data), void *data);
/* Handles what is complete. */
ROCPROFILER_API hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *pool);

/* ---- what there is ---- */

typedef enum {
	ROCPROFILER_INFO_KIND_METRIC = 0,
	ROCPROFILER_INFO_KIND_METRIC_COUNT = 1,
	ROCPROFILER_INFO_KIND_TRACE = 2,
	ROCPROFILER_INFO_KIND_TRACE_COUNT = 3,
	ROCPROFILER_INFO_KIND_TRACE_PARAMETER = 4,
	ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT = 5
} rocprofiler_info_kind_t;

typedef union {
	rocprofiler_info_kind_t info_kind;
	struct {
		const char *trace_name;
	} trace_parameter;
} rocprofiler_info_query_t;

typedef struct {
	uint32_t agent_index;
	rocprofiler_info_kind_t kind;
	union {
		struct {
			const char *name;
			uint32_t instances;
			const char *expr; /* NULL: a counter */
			const char *description;
			const char *block_name;
			uint32_t block_counters; /* that can be counted at the same time */
		} metric;
		struct {
			const char *name;
			const char *description;
			uint32_t parameter_count;
		} trace;
		struct {
			uint32_t code;
			const char *trace_name;
			const char *parameter_name;
			const char *description;
		} trace_parameter;
	};
} rocprofiler_info_data_t;

/* METRIC_COUNT, TRACE_COUNT, TRACE_PARAMETER_COUNT: a uint32_t is stored in *data. `agent` NULL: of
 * all GPUs together. */
ROCPROFILER_API hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent,
						  rocprofiler_info_kind_t kind, void *data);
/* METRIC, TRACE, TRACE_PARAMETER: calls `callback` for each. HSA_STATUS_INFO_BREAK ends that, with
 * success; another status than success ends it and is returned. Strings stay. `agent` NULL: of each
 * GPU. */
ROCPROFILER_API hsa_status_t rocprofiler_iterate_info(
	const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data);
/* The same for a kind, or for the parameters of the trace that has the name. */
ROCPROFILER_API hsa_status_t rocprofiler_query_info(
	const hsa_agent_t *agent, rocprofiler_info_query_t query,
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data);
/* The specification's rocprofiler_query_info(): the same for what equals `query`, whose members
 * that are NULL or 0 equal everything. `query` NULL: all. */
ROCPROFILER_API hsa_status_t rocprofiler_query_info_data(
	const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
	const rocprofiler_info_data_t *query,
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data);

/* ---- times ---- */

typedef enum {
	ROCPROFILER_TIME_ID_CLOCK_REALTIME = 0,
	ROCPROFILER_TIME_ID_CLOCK_REALTIME_COARSE = 1,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC = 2,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_COARSE = 3,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW = 4
} rocprofiler_time_id_t;

/* `timestamp`, ns of HSA's system clock, as a time of another clock, and the error of that. Either
 * pointer may be NULL. */
ROCPROFILER_API hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id, uint64_t timestamp,
						  uint64_t *value_ns, uint64_t *error_ns);

/* ---- HSA's calls ---- */

typedef enum {
	ROCPROFILER_HSA_CB_ID_ALLOCATE = 0,
	ROCPROFILER_HSA_CB_ID_DEVICE = 1,
	ROCPROFILER_HSA_CB_ID_MEMCOPY = 2,
	ROCPROFILER_HSA_CB_ID_SUBMIT = 3,
	ROCPROFILER_HSA_CB_ID_KSYMBOL = 4,
	ROCPROFILER_HSA_CB_ID_CODEOBJ = 5
} rocprofiler_hsa_cb_id_t;

typedef struct {
	union {
		struct {
			const void *ptr;
			size_t size; /* 0: freed */
			hsa_amd_segment_t segment;
			hsa_amd_memory_pool_global_flag_t global_flag;
			int is_code;
		} allocate;
		struct {
			hsa_device_type_t type;
			uint32_t id;
			hsa_agent_t agent;
			const void *ptr;
		} device;
		struct {
			const void *dst;
			const void *src;
			size_t size;
		} memcopy;
		struct {
			const void *packet;
			const char *kernel_name; /* NULL: not a dispatch */
			hsa_queue_t *queue;
			uint32_t device_type;
			uint32_t device_id;
		} submit;
		struct {
			uint64_t object;
			const char *name;
			uint32_t name_length;
			int unload;
		} ksymbol;
		struct {
			uint32_t storage_type;
			int storage_file;
			uint64_t memory_base;
			uint64_t memory_size;
			uint64_t load_base;
			uint64_t load_size;
			uint64_t load_delta;
			uint32_t uri_length;
			char *uri;
			int unload;
		} codeobj;
	};
} rocprofiler_hsa_callback_data_t;

typedef hsa_status_t (*rocprofiler_hsa_callback_fun_t)(rocprofiler_hsa_cb_id_t id,
						       const rocprofiler_hsa_callback_data_t *data,
						       void *arg);

typedef struct {
	rocprofiler_hsa_callback_fun_t allocate;
	rocprofiler_hsa_callback_fun_t device;
	rocprofiler_hsa_callback_fun_t memcopy;
	rocprofiler_hsa_callback_fun_t submit;
	rocprofiler_hsa_callback_fun_t ksymbol;
	rocprofiler_hsa_callback_fun_t codeobj;
} rocprofiler_hsa_callbacks_t;

/* Replaces all callbacks and their argument. They are called if a tool has set hsa_intercepting;
 * `submit` always. */
ROCPROFILER_API hsa_status_t
rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t callbacks, void *arg);

#ifdef __cplusplus
}

/* The specification's signatures. */
static inline const char *rocprofiler_error_string()
{
	return rocprofiler_last_error_string();
}
static inline hsa_status_t rocprofiler_query_info(
	const hsa_agent_t *agent, rocprofiler_info_kind_t kind, rocprofiler_info_data_t query,
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data)
{
	return rocprofiler_query_info_data(agent, kind, &query, callback, data);
}
#endif

#endif
