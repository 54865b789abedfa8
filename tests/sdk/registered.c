/* SPDX-License-Identifier: MIT */
/* registered.c - a program with a HIP runtime and an RCCL of its own, which offer their dispatch
 * tables by way of rocprofiler-register
 *
 * They do what AMD's do from ROCm 6 on: the first call makes the tables, the register finds a tool
 * and passes each table to rocprofiler_set_api_table(), and calls go by the tables' entries. Built
 * for each ABI.
 *
 * Arguments: real: AMD's librocprofiler-register.so.0, else one of the program's own. rccl=N:
 * RCCL's table has N functions.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define VERSION UINT64_C(70200)
#define RUNTIME(name) ROCPROFILER_HIP_RUNTIME_API_ID_##name
#define COMPILER(name) ROCPROFILER_HIP_COMPILER_API_ID_##name
#define FROM_TOOL 77

static int nr_wrong;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t end_client;

/* ---- the runtime ---- */

struct table {
	size_t size;
	void *entries[512];
};
static struct table runtime, compiler, second;
static int nr_mallocs, nr_registered, nr_second;
static char memory[64];

static const char *api_name(uint32_t id)
{
	(void)id;
	return "unknown";
}

static int do_malloc(void **ptr, size_t size)
{
	nr_mallocs++;
	*ptr = size ? memory : NULL;
	return size ? 0 : 1;
}

static int do_malloc_second(void **ptr, size_t size)
{
	(void)ptr;
	(void)size;
	nr_second++;
	return 5;
}

static int do_synchronize(void)
{
	return 709;
}

static void do_register(void **modules, const void *function, char *device, const char *name,
			unsigned int limit, void *tid, void *bid, void *block, void *grid,
			int *size)
{
	nr_registered += modules == (void **)1 && function == (void *)2 && limit == 1024 &&
			 strcmp(device, "kernel") == 0 && strcmp(name, "kernel") == 0 && !tid &&
			 !bid && !block && !grid && !size;
}

static int hip_malloc(void **ptr, size_t size)
{
	return ((int (*)(void **, size_t))runtime.entries[RUNTIME(hipMalloc)])(ptr, size);
}

static int hip_synchronize(void)
{
	return ((int (*)(void))runtime.entries[RUNTIME(hipDeviceSynchronize)])();
}

static void hip_register(void)
{
	char name[] = "kernel";
	void (*fn)(void **, const void *, char *, const char *, unsigned int, void *, void *,
		   void *, void *, int *);

	*(void **)&fn = compiler.entries[COMPILER(__hipRegisterFunction)];
	fn((void **)1, (void *)2, name, name, 1024, NULL, NULL, NULL, NULL, NULL);
}

/* ---- the register ---- */

typedef int (*set_fn)(const char *name, uint64_t version, uint64_t instance, void **tables,
		      uint64_t nr_tables);

/* Of AMD's library. */
typedef uint32_t (*import_fn)(void);
typedef int (*register_fn)(const char *name, import_fn import, uint32_t version, void **tables,
			   uint64_t nr, uint64_t *id);
static register_fn real_register;

#define IMPORT(name)                                                                               \
	uint32_t rocprofiler_register_import_##name(void);                                         \
	__attribute__((visibility("default"))) uint32_t rocprofiler_register_import_##name(void)   \
	{                                                                                          \
		return VERSION;                                                                    \
	}
IMPORT(hip)
IMPORT(hip_compiler)
IMPORT(rccl)

static int offer_to_real(const char *name, void *table)
{
	import_fn import = strcmp(name, "rccl") == 0 ? rocprofiler_register_import_rccl :
			   strcmp(name, "hip") == 0  ? rocprofiler_register_import_hip :
						       rocprofiler_register_import_hip_compiler;
	uint64_t id = 0;
	int status = real_register(name, import, VERSION, &table, 1, &id);

	IS(id != 0, 1);
	return status;
}

static int offer(const char *name, uint64_t instance, void *table)
{
	if (real_register)
		return offer_to_real(name, table);

	set_fn set = (set_fn)dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");

	/* 1: no tool */
	return dlsym(RTLD_DEFAULT, "rocprofiler_configure") && set ?
		       set(name, VERSION, instance, &table, 1) :
		       1;
}

static void find_register(void)
{
	void *lib = dlopen("librocprofiler-register.so.0", RTLD_NOW | RTLD_LOCAL);

	IS(lib != NULL, 1);
	if (lib)
		*(void **)&real_register = dlsym(lib, "rocprofiler_register_library_api_table");
	IS(real_register != NULL, 1);
}

static void make_tables(void)
{
	runtime.size = compiler.size = second.size = sizeof(runtime);
	runtime.entries[RUNTIME(hipApiName)] = (void *)api_name;
	runtime.entries[RUNTIME(hipMalloc)] = (void *)do_malloc;
	runtime.entries[RUNTIME(hipDeviceSynchronize)] = (void *)do_synchronize;
	compiler.entries[COMPILER(__hipRegisterFunction)] = (void *)do_register;
	second.entries[RUNTIME(hipMalloc)] = (void *)do_malloc_second;
	IS(offer("hip_compiler", 0, &compiler), 0);
	IS(offer("hip", 0, &runtime), 0);
	IS(offer("hip", 1, &second), 0);
}

/* ---- the tool ---- */

static struct {
	int nr_enter, nr_exit, nr_records, nr_runtimes, tables;
	uint64_t enter_id, last_id;
	int status;
} seen;
static void *next_malloc;

/* Stands in the table in front of the runtime's function. */
static int tools_malloc(void **ptr, size_t size)
{
	int status = ((int (*)(void **, size_t))next_malloc)(ptr, size);

	return size == 13 ? FROM_TOOL : status;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t nr, void *data)
{
	struct table *t = tables[0];

	IS(version, VERSION);
	IS(nr, 1);
	IS(data == &seen, 1);
	if (instance)
		return;
	seen.tables |= type;
	if (type == ROCPROFILER_HIP_RUNTIME_TABLE) {
		next_malloc = t->entries[RUNTIME(hipMalloc)];
		t->entries[RUNTIME(hipMalloc)] = (void *)tools_malloc;
	}
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *arg)
{
	rocprofiler_callback_tracing_hip_api_data_t *d = record.payload;

	(void)arg;
	IS(record.kind, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
	if (record.operation == RUNTIME(hipMalloc))
		IS((uintptr_t)d->args.hipMalloc.ptr % sizeof(void *), 0);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		IS(seen.nr_enter++, seen.nr_exit);
		IS(user->value, 0);
		IS(d->retval.hipError_t_retval, 0);
		seen.enter_id = user->value = record.correlation_id.internal;
		IS(seen.enter_id > seen.last_id, 1);
		return;
	}
	IS(record.phase, ROCPROFILER_CALLBACK_PHASE_EXIT);
	IS(++seen.nr_exit, seen.nr_enter);
	IS(user->value, record.correlation_id.internal);
	seen.last_id = user->value;
	seen.status = (int)d->retval.hipError_t_retval;
}

/* What code registers of itself goes by the compiler's table. */
static int nr_shown;
static void on_compiler(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
			void *arg)
{
	rocprofiler_callback_tracing_hip_api_data_t *d = record.payload;

	(void)arg;
	IS(record.operation, COMPILER(__hipRegisterFunction));
	IS(record.phase,
	   nr_shown++ ? ROCPROFILER_CALLBACK_PHASE_EXIT : ROCPROFILER_CALLBACK_PHASE_ENTER);
	IS(d->size, sizeof(*d));
	IS(d->args.__hipRegisterFunction.modules == (void **)1, 1);
	IS(d->args.__hipRegisterFunction.hostFunction == (void *)2, 1);
	IS(strcmp(d->args.__hipRegisterFunction.deviceName, "kernel"), 0);
	IS(d->args.__hipRegisterFunction.threadLimit, 1024);
	IS(user->value, nr_shown == 2 ? record.correlation_id.internal : 0);
	user->value = record.correlation_id.internal;
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t nr, void *data, uint64_t lost)
{
	(void)c;
	(void)b;
	(void)data;
	IS(lost, 0);
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_buffer_tracing_hip_api_record_t *r = headers[i]->payload;

		IS(r->start_timestamp > 0 && r->start_timestamp <= r->end_timestamp, 1);
		seen.nr_records++;
	}
}

/* ---- RCCL ---- */

static struct table rccl;
static int nr_rccl = 37; /* functions of its table */
static struct {
	int nr, operation, result;
	const char *name;
	const void *argument;
} seen_rccl;

static int do_split(void *comm, int color, int key, void **out, void *config)
{
	(void)config;
	*out = comm;
	return color + key;
}

static int do_shrink(void *comm, int *ranks, int nr, void **out, void *config, int flags)
{
	(void)config;
	(void)ranks;
	*out = comm;
	return nr + flags;
}

static void on_rccl(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *arg)
{
	rocprofiler_callback_tracing_rccl_api_data_t *d = record.payload;

	(void)user;
	(void)arg;
	IS(d->size, sizeof(*d));
	seen_rccl.nr++;
	seen_rccl.operation = (int)record.operation;
	seen_rccl.argument = d->args.ncclCommSplit.comm;
	seen_rccl.result = (int)d->retval.ncclResult_t_retval;
	seen_rccl.name = NULL;
	IS(rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
								  &seen_rccl.name, NULL),
	   OK);
}

/* Entries are where RCCL's header has them: what came later is at the end, the numbers of the SDK
 * are others. */
static void check_rccl(void)
{
	bool is_newest = nr_rccl > 38;
	void *out = NULL, *comm = memory;
	int (*split)(void *, int, int, void **, void *);
	int (*shrink)(void *, int *, int, void **, void *, int);

	rccl.size = sizeof(rccl.size) + (size_t)nr_rccl * sizeof(void *);
	rccl.entries[23] = (void *)do_split;
	/* behind the end of a shorter table */
	rccl.entries[38] = (void *)do_shrink;
	IS(offer("rccl", 0, &rccl), 0);
	IS(rccl.entries[23] != (void *)do_split, 1);
	IS(rccl.entries[38] != (void *)do_shrink, is_newest);
	*(void **)&split = rccl.entries[23];
	*(void **)&shrink = rccl.entries[38];
	IS(split(comm, 3, 4, &out, NULL), 7);
	IS(out == comm, 1);
	IS(seen_rccl.nr, 2);
	IS(seen_rccl.result, 7);
	IS(seen_rccl.argument == comm, 1);
	IS(seen_rccl.operation, is_newest ? 24 : 23);
	IS(strcmp(seen_rccl.name, "ncclCommSplit"), 0);
	IS(shrink(comm, NULL, 2, &out, NULL, 6), 8);
	IS(seen_rccl.nr, is_newest ? 4 : 2);
	IS(strcmp(seen_rccl.name, is_newest ? "ncclCommShrink" : "ncclCommSplit"), 0);
	IS(rocprofiler_query_callback_tracing_kind_operation_name(
		   ROCPROFILER_CALLBACK_TRACING_RCCL_API, 37, &seen_rccl.name, NULL),
	   nr_rccl > 37 ? OK : ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND);
	IS(strcmp(seen_rccl.name ? seen_rccl.name : "none", is_newest	 ? "ncclCommDeregister" :
							    nr_rccl > 37 ? "ncclAllReduceWithBias" :
									   "none"),
	   0);
}

#if ROCPROFILER_SDK_ABI > 0
static void on_runtime(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		       void *arg)
{
	const rocprofiler_callback_tracing_runtime_initialization_data_t *d = record.payload;

	(void)user;
	(void)arg;
	if (record.operation == ROCPROFILER_RUNTIME_INITIALIZATION_RCCL)
		return;
	IS(record.operation, ROCPROFILER_RUNTIME_INITIALIZATION_HIP);
	IS(d->version, VERSION);
	IS(d->instance, seen.nr_runtimes++);
}
#endif

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	(void)data;
	end_client = fini;
	IS(rocprofiler_create_context(&context), OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL),
	   OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API, NULL, 0, on_compiler,
		   NULL),
	   OK);
	{
		/* by their numbers of before, which become others with a newer library */
		rocprofiler_tracing_operation_t operations[37];

		for (int i = 0; i < 37; i++)
			operations[i] = (rocprofiler_tracing_operation_t)i;
		IS(rocprofiler_configure_callback_tracing_service(
			   context, ROCPROFILER_CALLBACK_TRACING_RCCL_API,
			   nr_rccl > 38 ? NULL : operations, nr_rccl > 38 ? 0 : 37, on_rccl, NULL),
		   OK);
	}
#if ROCPROFILER_SDK_ABI > 0
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0,
		   on_runtime, NULL),
	   OK);
#endif
	IS(rocprofiler_create_buffer(context, 65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_records, NULL, &buffer),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(context,
							ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
							NULL, 0, buffer),
	   OK);
	IS(rocprofiler_start_context(context), OK);
	return 0;
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, NULL,
							      NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	id->name = "registered";
	client = id;
	IS(rocprofiler_at_intercept_table_registration(on_table,
						       ROCPROFILER_HIP_RUNTIME_TABLE |
							       ROCPROFILER_HIP_COMPILER_TABLE,
						       &seen),
	   OK);
	return &result;
}

int main(int argc, char **argv)
{
	void *p = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "real") == 0)
			find_register();
		else
			sscanf(argv[i], "rccl=%d", &nr_rccl);
	}
	make_tables();
	IS(seen.tables, ROCPROFILER_HIP_RUNTIME_TABLE | ROCPROFILER_HIP_COMPILER_TABLE);
	IS(hip_malloc(&p, 8), 0);
	IS(p == memory, 1);
	IS(seen.status, 0);
	IS(hip_malloc(&p, 0), 1);
	IS(seen.status, 1);
	/* the tool's own function is between the runtime's and what tools see */
	IS(hip_malloc(&p, 13), FROM_TOOL);
	IS(seen.status, FROM_TOOL);
	IS(hip_synchronize(), 709);
	IS(seen.status, 709);
	IS(seen.nr_enter, 4);
	IS(seen.nr_exit, 4);
	IS(nr_mallocs, 3);
	/* that of a second runtime stays its own */
	IS(((int (*)(void **, size_t))second.entries[RUNTIME(hipMalloc)])(&p, 1), 5);
	IS(nr_second, 1);
	IS(seen.nr_enter, 4);
	hip_register();
	IS(nr_registered, 1);
	IS(nr_shown, 2);
	check_rccl();
	IS(rocprofiler_stop_context(context), OK);
	IS(hip_malloc(&p, 8), 0);
	IS(seen.nr_enter, 4);
	IS(rocprofiler_flush_buffer(buffer), OK);
	IS(seen.nr_records, 4);
	end_client(*client);
	/* after the end the tables still lead to the runtime */
	IS(hip_malloc(&p, 8), 0);
	IS(nr_mallocs, 5);
	IS(offer("hip", 2, &second), 0);
#if ROCPROFILER_SDK_ABI > 0
	IS(seen.nr_runtimes, 2);
#endif
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
