/* SPDX-License-Identifier: MIT */
/* intercept.c - librocprofiler-sdk: dispatch tables of runtimes, for tools that put functions of
 * their own into them
 *
 * Of HSA's table a tool's functions are called before the call is shown to tools, of HIP's after
 * that: a call comes to both.
 *
 * Owns:     the functions that are called for tables.
 * Threads:  the one that initialises the runtime: HSA's under its init lock.
 */
#define LOG_TOPIC "sdk"
#include "intercept.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "context.h"
#include "state.h"

#define MAX_LISTENERS 64u

struct listener {
	rocprofiler_intercept_library_cb_t fn;
	int tables; /* 0: all */
	void *data;
	_Atomic bool is_set;
};

static struct listener listeners[MAX_LISTENERS];
static _Atomic uint32_t nr_listeners;
/* as the runtime gave it; 0: it did not */
static _Atomic uint64_t hsa_version, hsa_instance;

static void notify(uint32_t type, uint64_t version, uint64_t instance, void **tables)
{
	for (uint32_t i = 0; i < MAX_LISTENERS; i++) {
		const struct listener *l = &listeners[i];

		/* acquire: pairs with rocprofiler_at_intercept_table_registration() */
		if (atomic_load_explicit(&l->is_set, memory_order_acquire) &&
		    (!l->tables || (uint32_t)l->tables & type))
			l->fn((rocprofiler_intercept_table_t)type, version, instance, tables, 1,
			      l->data);
	}
}

static uint64_t version_of(const struct hsa_mirror_root *root)
{
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_system_get_info);
	hsa_status_t (*get)(hsa_system_info_t, void *);
	uint16_t major = 0, minor = 0;

	if (!slot || !*slot)
		return 0;
	*(void **)&get = *slot;
	get(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
	get(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
	return major * UINT64_C(10000) + minor * UINT64_C(100);
}

void intercept_note_hsa(uint64_t version, uint64_t instance)
{
	atomic_store(&hsa_version, version);
	atomic_store(&hsa_instance, instance);
}

void intercept_hsa(const struct hsa_mirror_root *root)
{
	uint64_t version = atomic_load(&hsa_version);
	void *table = (void *)(uintptr_t)root;

	if (atomic_load(&nr_listeners))
		notify(ROCPROFILER_HSA_TABLE, version ? version : version_of(root),
		       atomic_load(&hsa_instance), &table);
}

/* The tables of a name, in the order in which they come: bits of rocprofiler_intercept_table_t.
 * HSA's come by the registry. */
static const struct {
	const char *name;
	uint32_t types[3];
} by_name[] = {
	{ "hip", { ROCPROFILER_HIP_RUNTIME_TABLE } },
	{ "hip_compiler", { ROCPROFILER_HIP_COMPILER_TABLE } },
	{ "roctx",
	  { ROCPROFILER_MARKER_CORE_TABLE, ROCPROFILER_MARKER_CONTROL_TABLE,
	    ROCPROFILER_MARKER_NAME_TABLE } },
	{ "rccl", { ROCPROFILER_RCCL_TABLE } },
#if ROCPROFILER_SDK_ABI > 0
	{ "rocdecode", { ROCPROFILER_ROCDECODE_TABLE } },
	{ "rocjpeg", { ROCPROFILER_ROCJPEG_TABLE } },
	{ "rocshmem", { ROCPROFILER_ROCSHMEM_TABLE } },
	{ "hipFile", { ROCPROFILER_HIPFILE_TABLE } },
#endif
};

#if ROCPROFILER_SDK_ABI > 0
/* Their calls are not shown: tools that configure all kinds are to run where there are none. */
static void warn_of_unseen(const char *name, uint32_t table)
{
	static const struct {
		uint32_t table, callbacks, records, ext;
	} unseen[] = {
#define CALLBACKS(name) ROCPROFILER_##name##_TABLE, ROCPROFILER_CALLBACK_TRACING_##name##_API
#define RECORDS(name) ROCPROFILER_BUFFER_TRACING_##name
		{ CALLBACKS(ROCDECODE), RECORDS(ROCDECODE_API), RECORDS(ROCDECODE_API_EXT) },
		{ CALLBACKS(ROCJPEG), RECORDS(ROCJPEG_API), RECORDS(ROCJPEG_API) },
		{ CALLBACKS(ROCSHMEM), RECORDS(ROCSHMEM_API), RECORDS(ROCSHMEM_API_EXT) },
		{ CALLBACKS(HIPFILE), RECORDS(HIPFILE_API), RECORDS(HIPFILE_API_EXT) },
	};
	static _Atomic uint32_t said;

	for (size_t i = 0; i < ARRAY_SIZE(unseen); i++) {
		if (unseen[i].table != table ||
		    (!context_has(unseen[i].callbacks) && !context_has_records(unseen[i].records) &&
		     !context_has_records(unseen[i].ext)))
			continue;
		if (!(atomic_fetch_or(&said, table) & table))
			log_warn("calls of %s are not shown to tools that have asked for them",
				 name);
	}
}
#else
static void warn_of_unseen(const char *name, uint32_t table)
{
	(void)name;
	(void)table;
}
#endif

void intercept_tables(const char *name, uint64_t version, uint64_t instance, void **tables,
		      uint64_t nr)
{
	for (size_t i = 0; name && tables && i < ARRAY_SIZE(by_name); i++) {
		if (strcmp(by_name[i].name, name) != 0)
			continue;
		warn_of_unseen(name, by_name[i].types[0]);
		for (uint32_t t = 0; t < 3 && t < nr && by_name[i].types[t]; t++)
			if (tables[t])
				notify(by_name[i].types[t], version, instance, &tables[t]);
	}
}

EXPORT rocprofiler_status_t rocprofiler_at_intercept_table_registration(
	rocprofiler_intercept_library_cb_t callback, int libs, void *data)
{
	struct listener *l;
	uint32_t index;

	if (state_phase() == 1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	index = atomic_fetch_add(&nr_listeners, 1);
	if (index >= MAX_LISTENERS)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	l = &listeners[index];
	l->fn = callback;
	l->tables = libs;
	l->data = data;
	/* release: pairs with notify() */
	atomic_store_explicit(&l->is_set, true, memory_order_release);
	return ROCPROFILER_STATUS_SUCCESS;
}
