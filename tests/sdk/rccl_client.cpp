/* SPDX-License-Identifier: MIT */
/* rccl_client.cpp - a program that reduces on all GPUs with RCCL and is its own tool: calls of RCCL
 * with arguments and results
 *
 * Arguments: reduce=1 (with AMD's library and its kernels), late=1 (looks a function up, too).
 * Prints what the tool has seen, as the numbers and names that the library gives.
 */
#include "hip_common.hpp"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define WRONG(what, ...) (printf(what "\n", ##__VA_ARGS__), nr_wrong++)
#define SDK(call)                                                                                  \
	do {                                                                                       \
		rocprofiler_status_t status_ = (call);                                             \
		if (status_ != ROCPROFILER_STATUS_SUCCESS)                                         \
			WRONG("%s: %s", #call, rocprofiler_get_status_name(status_));              \
	} while (0)

typedef struct ncclComm *comm_t;
struct unique_id {
	char bytes[128];
};
extern "C" {
int ncclGetVersion(int *version);
int ncclGetUniqueId(unique_id *id);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommInitAll(comm_t *comms, int nr, const int *devices);
int ncclCommCount(comm_t comm, int *count);
int ncclCommDestroy(comm_t comm);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, comm_t comm,
		  hipStream_t stream);
const char *ncclGetErrorString(int code);
}

struct call {
	std::string name;
	uint64_t id;
	int result;
	bool is_over;
	rocprofiler_rccl_api_args_t args;
};

static int nr_wrong;
static bool reduces;
static std::mutex lock;
static std::vector<call> *calls;
static std::vector<std::string> *expected;
static std::map<uint64_t, std::string> *records; /* by id */
static std::map<uint64_t, uint64_t> *launches;	 /* id of a launch -> that around it */
static size_t nr_dispatches, nr_of_launches, within_rccl;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static uint64_t main_tid;

static std::string name_of(int64_t operation)
{
	const char *name = nullptr;

	rocprofiler_query_callback_tracing_kind_operation_name(
		ROCPROFILER_CALLBACK_TRACING_RCCL_API, (rocprofiler_tracing_operation_t)operation,
		&name, nullptr);
	return name ? name : "unknown";
}

static void on_rccl(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *)
{
	auto *d = static_cast<rocprofiler_callback_tracing_rccl_api_data_t *>(record.payload);
	std::lock_guard<std::mutex> guard(lock);

	/* threads of the library's own call it, too */
	if (!main_tid)
		main_tid = record.thread_id;
	if (record.thread_id != main_tid)
		return;
	if (d->size != sizeof(*d))
		WRONG("size %llu", (unsigned long long)d->size);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user->value = calls->size();
		calls->push_back({ name_of(record.operation), record.correlation_id.internal, -1,
				   false, d->args });
		return;
	}
	call &c = calls->at(user->value);
	if (c.is_over || c.id != record.correlation_id.internal ||
	    c.name != name_of(record.operation))
		WRONG("%s: its end", c.name.c_str());
	c.is_over = true;
	c.result = c.name == "ncclGetErrorString" ?
			   d->retval.const_charp_retval && *d->retval.const_charp_retval :
			   d->retval.ncclResult_t_retval;
}

static void on_launch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		      void *)
{
	std::lock_guard<std::mutex> guard(lock);

	if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
		return;
#if ROCPROFILER_SDK_ABI > 0
	(*launches)[record.correlation_id.internal] = record.correlation_id.ancestor;
#else
	(*launches)[record.correlation_id.internal] = 0;
#endif
}

static bool is_within_rccl(uint64_t ancestor)
{
	for (const call &c : *calls)
		if (ancestor && c.id == ancestor)
			return true;
	return false;
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t lost)
{
	std::lock_guard<std::mutex> guard(lock);

	if (lost)
		WRONG("%llu lost", (unsigned long long)lost);
	for (size_t i = 0; i < nr; i++) {
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_RCCL_API) {
			auto *r = static_cast<rocprofiler_buffer_tracing_rccl_api_record_t *>(
				headers[i]->payload);
			if (r->thread_id != main_tid)
				continue;
			if (r->kind != ROCPROFILER_BUFFER_TRACING_RCCL_API ||
			    r->size != sizeof(*r) || !r->start_timestamp ||
			    r->start_timestamp > r->end_timestamp)
				WRONG("record of %s", name_of(r->operation).c_str());
			(*records)[r->correlation_id.internal] = name_of(r->operation);
		} else {
			auto *r =
				static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(
					headers[i]->payload);
			nr_dispatches++;
			nr_of_launches += launches->count(r->correlation_id.internal);
			within_rccl += is_within_rccl((*launches)[r->correlation_id.internal]);
		}
	}
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	calls = new std::vector<call>;
	expected = new std::vector<std::string>;
	records = new std::map<uint64_t, std::string>;
	launches = new std::map<uint64_t, uint64_t>;
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_create_buffer(context, 1 << 16, 1 << 15, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, nullptr, &buffer));
	SDK(rocprofiler_configure_callback_tracing_service(context,
							   ROCPROFILER_CALLBACK_TRACING_RCCL_API,
							   nullptr, 0, on_rccl, nullptr));
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, nullptr, 0, on_launch,
		nullptr));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_RCCL_API,
							 nullptr, 0, buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
							 nullptr, 0, buffer));
	SDK(rocprofiler_start_context(context));
	return 0;
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, nullptr,
							      nullptr };

	id->name = "rccl_client";
	return &result;
}

/* Makes the call and notes what the tool should have seen. */
#define RCCL(fn, want, ...)                                                                        \
	do {                                                                                       \
		int result_ = fn(__VA_ARGS__);                                                     \
		if (result_ != (want))                                                             \
			WRONG("%s: %d", #fn, result_);                                             \
		expected->push_back(std::string(#fn " ") + std::to_string(result_));               \
	} while (0)

static void reduce(int nr, size_t count)
{
	std::vector<comm_t> comms(nr);
	std::vector<hipStream_t> streams(nr);
	std::vector<float *> from(nr), to(nr);
	int wrong_sums = 0, size = 0;

	RCCL(ncclCommInitAll, 0, comms.data(), nr, nullptr);
	for (int i = 0; i < nr; i++) {
		std::vector<float> host(count);

		for (size_t k = 0; k < count; k++)
			host[k] = (float)(k * (i + 1));
		HIP(hipSetDevice(i));
		HIP(hipStreamCreate(&streams[i]));
		HIP(hipMalloc(&from[i], count * sizeof(float)));
		HIP(hipMalloc(&to[i], count * sizeof(float)));
		HIP(hipMemcpy(from[i], host.data(), count * sizeof(float), hipMemcpyHostToDevice));
	}
	RCCL(ncclCommCount, 0, comms[0], &size);
	RCCL(ncclGroupStart, 0);
	for (int i = 0; i < nr; i++) {
		size_t at = calls->size();

		HIP(hipSetDevice(i));
		RCCL(ncclAllReduce, 0, from[i], to[i], count, 7, 0, comms[i], streams[i]);
		const auto &a = calls->at(at).args.ncclAllReduce;
		if (a.sendbuff != from[i] || a.recvbuff != to[i] || a.count != count ||
		    (int)a.datatype != 7 || (int)a.op != 0 || (void *)a.comm != comms[i] ||
		    a.stream != streams[i])
			WRONG("arguments of ncclAllReduce");
	}
	RCCL(ncclGroupEnd, 0);
	for (int i = 0; i < nr; i++) {
		std::vector<float> host(count);

		HIP(hipSetDevice(i));
		HIP(hipStreamSynchronize(streams[i]));
		HIP(hipMemcpy(host.data(), to[i], count * sizeof(float), hipMemcpyDeviceToHost));
		for (size_t k = 0; k < count; k++)
			wrong_sums += host[k] != (float)(k * (nr * (nr + 1) / 2));
		RCCL(ncclCommDestroy, 0, comms[i]);
	}
	printf("wrong sums %d\n", wrong_sums);
}

/* Each call once, in order, with its result, and a record of each. */
static void compare()
{
	size_t at = 0;

	for (const call &c : *calls) {
		if (!c.is_over)
			WRONG("%s: no end", c.name.c_str());
		if ((*records)[c.id] != c.name)
			WRONG("%s: no record", c.name.c_str());
		if (at < expected->size() &&
		    (*expected)[at] == c.name + " " + std::to_string(c.result))
			at++;
		else
			printf("inner %s\n", c.name.c_str());
	}
	if (at != expected->size())
		WRONG("%zu of %zu calls", at, expected->size());
	if (records->size() != calls->size())
		WRONG("%zu records of %zu calls", records->size(), calls->size());
}

/* What a look-up finds is seen; what the library lacks is not found. */
static void look_up()
{
	void *lib = dlopen("librccl.so.1", RTLD_NOW | RTLD_LOCAL);
	auto get = reinterpret_cast<int (*)(int *)>(dlsym(lib, "ncclGetVersion"));
	int version = 0;

	RCCL(get, 0, &version);
	expected->back() = "ncclGetVersion 0";
}

static void look_up_absent()
{
	void *lib = dlopen("librccl.so.1", RTLD_NOW | RTLD_LOCAL);

	for (const char *name : { "ncclCommShrink", "mscclUnloadAlgo", "ncclGetVersion" })
		if (!dlsym(RTLD_DEFAULT, name) != !dlsym(lib, name))
			WRONG("%s: there or not?", name);
}

int main(int argc, char **argv)
{
	unique_id id;
	int version = 0, count = 0, nr = 0;

	reduces = arg_num(argc, argv, "reduce", 0);
	HIP(hipGetDeviceCount(&nr));
	RCCL(ncclGetVersion, 0, &version);
	RCCL(ncclGetUniqueId, 0, &id);
	RCCL(ncclCommCount, 4, nullptr, &count);
	if (!*ncclGetErrorString(4))
		WRONG("no text");
	expected->push_back("ncclGetErrorString 1");
	look_up_absent();
	if (arg_num(argc, argv, "late", 0))
		look_up();
	if (reduces)
		reduce(nr, 1024);
	SDK(rocprofiler_flush_buffer(buffer));
	SDK(rocprofiler_stop_context(context));
	compare();
	printf("version %d\nsplit %s\n23 %s\ncalls %zu\ndispatches %zu\nof launches %zu\nwithin %zu\n",
	       version, name_of(24).c_str(), name_of(23).c_str(), calls->size(), nr_dispatches,
	       nr_of_launches, within_rccl);
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
