/* SPDX-License-Identifier: MIT */
/* play_faces.c - scenarios in which the program is a client of the drop-in libraries: roctx,
 * roctracer, rocprofiler-sdk, rocprofiler
 *
 * A client gets records of the same kernels that count themselves. The libraries are loaded by
 * name: `rtl selftest` puts those of this installation first. Callbacks run on threads of the
 * libraries, after the kernels' end.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roctracer/roctracer_ext.h"
#include "selftest/account.h"
#include "selftest/play.h"

/* What a client was given of the kernels. */
static _Atomic uint64_t nr_a, nr_b, nr_calls, nr_inverted;

static void *open_library(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_GLOBAL);

	if (!lib)
		account_lack("%s: %.200s", name, dlerror());
	return lib;
}

static void *look_up(void *lib, const char *name)
{
	void *at = dlsym(lib, name);

	if (!at)
		account_lack("the library has no %s", name);
	return at;
}

static void note_kernel(const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	if (!name)
		return;
	if (strncmp(name, KERNELS_COUNT_A, strlen(KERNELS_COUNT_A)) == 0)
		nr_a++;
	else if (strncmp(name, KERNELS_COUNT_B, strlen(KERNELS_COUNT_B)) == 0)
		nr_b++;
	else
		return;
	nr_inverted += !begin_ns || begin_ns > end_ns;
}

static void report_records(void)
{
	account_number("records_a", nr_a);
	account_number("records_b", nr_b);
	account_number("records_calls", nr_calls);
	account_number("records_inverted", nr_inverted);
}

/* The counted kernels, on all GPUs. */
static void count(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int nr = play_open(gpus, 0);

	play_counts(gpus, nr, nr > 2 ? nr : 2, 2, (unsigned int)play_number("launches", 50));
}

/* ---- roctx ----------------------------------------------------------------------------------- */

void play_ranges(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	void *lib = open_library("libroctx64.so.4");
	int (*push)(const char *) = (int (*)(const char *))look_up(lib, "roctxRangePushA");
	int (*pop)(void) = (int (*)(void))look_up(lib, "roctxRangePop");
	void (*mark)(const char *) = (void (*)(const char *))look_up(lib, "roctxMarkA");
	unsigned int rounds = (unsigned int)play_number("rounds", 10);
	uint32_t counters[PLAY_COUNTERS];
	hip_stream stream;

	play_open(gpus, 1);
	HIP(SetDevice(0));
	HIP(StreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
	for (unsigned int i = 0; i < rounds; i++) {
		push("selftest outer");
		play_launch(&gpus[0], gpus[0].count_a, PLAY_A, stream);
		push("selftest inner");
		play_launch(&gpus[0], gpus[0].count_b, PLAY_B, stream);
		pop();
		mark("selftest mark");
		pop();
	}
	HIP(StreamSynchronize(stream));
	play_read(&gpus[0], counters);
	account_number("rounds", rounds);
	account_number("counted_a", counters[PLAY_A]);
	account_number("counted_b", counters[PLAY_B]);
	account_number("launched_a", rounds);
	account_number("launched_b", rounds);
}

/* ---- roctracer ------------------------------------------------------------------------------- */

static int (*next_record)(const activity_record_t *record, const activity_record_t **next);

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = (const activity_record_t *)(const void *)begin;

	(void)arg;
	while ((const char *)r < end) {
		if (r->domain == ACTIVITY_DOMAIN_HIP_OPS && r->op == 0)
			note_kernel(r->kernel_name, r->begin_ns, r->end_ns);
		nr_calls += r->domain == ACTIVITY_DOMAIN_HIP_API;
		if (next_record(r, &r))
			break;
	}
}

void play_roctracer(void)
{
	void *lib = open_library("libroctracer64.so.4");
	roctracer_properties_t pool = { .buffer_size = 64 << 10,
					.buffer_callback_fun = on_records };
	int (*open_pool)(const roctracer_properties_t *, roctracer_pool_t **) =
		(__typeof__(open_pool))look_up(lib, "roctracer_open_pool_expl");
	int (*enable)(activity_domain_t, roctracer_pool_t *) =
		(__typeof__(enable))look_up(lib, "roctracer_enable_domain_activity_expl");
	int (*disable)(activity_domain_t) =
		(__typeof__(disable))look_up(lib, "roctracer_disable_domain_activity");
	int (*flush)(roctracer_pool_t *) =
		(__typeof__(flush))look_up(lib, "roctracer_flush_activity_expl");

	runtime_load_hip();
	next_record = (__typeof__(next_record))look_up(lib, "roctracer_next_record");
	if (open_pool(&pool, NULL) || enable(ACTIVITY_DOMAIN_HIP_OPS, NULL) ||
	    enable(ACTIVITY_DOMAIN_HIP_API, NULL))
		account_fail("roctracer: a pool can't be opened, or a domain not be enabled");
	count();
	disable(ACTIVITY_DOMAIN_HIP_API);
	disable(ACTIVITY_DOMAIN_HIP_OPS);
	if (flush(NULL))
		account_fail("roctracer_flush_activity: failed");
	report_records();
}

/* ---- rocprofiler-sdk ------------------------------------------------------------------------- */

#ifdef SELFTEST_HAS_SDK
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define SDK_FUNCTIONS(X)                                                                           \
	X(force_configure)                                                                         \
	X(create_context)                                                                          \
	X(start_context)                                                                           \
	X(stop_context)                                                                            \
	X(create_buffer)                                                                           \
	X(flush_buffer)                                                                            \
	X(configure_buffer_tracing_service)                                                        \
	X(configure_callback_tracing_service)

static struct {
#define X(name) __typeof__(&rocprofiler_##name) name;
	SDK_FUNCTIONS(X)
#undef X
} sdk;

#define KERNELS_MAX 65536

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
/* by kernel id: 1 A, 2 B */
static _Atomic unsigned char kernel_of[KERNELS_MAX];

#define SDK(call)                                                                                  \
	do {                                                                                       \
		rocprofiler_status_t status_ = sdk.call;                                           \
		if (status_ != ROCPROFILER_STATUS_SUCCESS)                                         \
			account_fail("rocprofiler_%s: status %d", #call, (int)status_);            \
	} while (0)

static void on_symbol(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		      void *arg)
{
	const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *data =
		record.payload;

	(void)user;
	(void)arg;
	if (record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER ||
	    record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD || data->kernel_id >= KERNELS_MAX)
		return;
	if (strncmp(data->kernel_name, KERNELS_COUNT_A, strlen(KERNELS_COUNT_A)) == 0)
		kernel_of[data->kernel_id] = 1;
	if (strncmp(data->kernel_name, KERNELS_COUNT_B, strlen(KERNELS_COUNT_B)) == 0)
		kernel_of[data->kernel_id] = 2;
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
		      rocprofiler_record_header_t **headers, size_t nr, void *arg, uint64_t drops)
{
	(void)id;
	(void)from;
	(void)arg;
	(void)drops;
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_buffer_tracing_kernel_dispatch_record_t *r = headers[i]->payload;
		unsigned int kernel = 0;

		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API)
			nr_calls++;
		if (headers[i]->kind != ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
			continue;
		if (r->dispatch_info.kernel_id < KERNELS_MAX)
			kernel = kernel_of[r->dispatch_info.kernel_id];
		note_kernel(kernel == 1 ? KERNELS_COUNT_A :
			    kernel == 2 ? KERNELS_COUNT_B :
					  NULL,
			    r->start_timestamp, r->end_timestamp);
	}
}

static int initialize(rocprofiler_client_finalize_t end, void *arg)
{
	(void)end;
	(void)arg;
	SDK(create_context(&context));
	SDK(create_buffer(context, 256 << 10, 128 << 10, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
			  on_buffer, NULL, &buffer));
	SDK(configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
					       NULL, 0, on_symbol, NULL));
	SDK(configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
					     NULL, 0, buffer));
	SDK(configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
					     NULL, 0, buffer));
	SDK(start_context(context));
	return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *text, uint32_t priority, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, NULL,
							      NULL };

	(void)version;
	(void)text;
	(void)priority;
	id->name = "rtl selftest";
	return &result;
}

void play_sdk(void)
{
	void *lib = open_library("librocprofiler-sdk.so.1");

#define X(name) sdk.name = (__typeof__(sdk.name))look_up(lib, "rocprofiler_" #name);
	SDK_FUNCTIONS(X)
#undef X
	SDK(force_configure(configure));
	count();
	SDK(flush_buffer(buffer));
	SDK(stop_context(context));
	SDK(flush_buffer(buffer));
	report_records();
}
#else
void play_sdk(void)
{
	account_lack(
		"this build has no client of rocprofiler-sdk: it was made without HIP's headers");
}
#endif
