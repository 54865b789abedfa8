/* SPDX-License-Identifier: MIT */
/* client.hpp - what the clients share
 *
 * Each client makes the calls of one tool that people use, in that tool's order and with its
 * arguments, and prints what it got when it is finalised, with its name (CLIENT) before each line.
 * app.cpp calls client_start() and client_stop() around each session.
 */
#ifndef TESTS_SDK_CLIENTS_CLIENT_H
#define TESTS_SDK_CLIENTS_CLIENT_H

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" {
ROCPROFILER_PUBLIC_API void client_start(void);
ROCPROFILER_PUBLIC_API void client_stop(void);
}

static std::atomic<int> nr_wrong;

__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s: ", CLIENT);
	va_list args;

	va_start(args, format);
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, args);
	va_end(args);
	text[n++] = '\n';
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		nr_wrong++;
}

/* By its name: some clients are not linked with the library. */
static inline const char *status_name(rocprofiler_status_t status)
{
	auto fn = reinterpret_cast<decltype(&rocprofiler_get_status_name)>(
		dlsym(RTLD_DEFAULT, "rocprofiler_get_status_name"));

	return fn ? fn(status) : "?";
}

#define SDK_IS(call, status)                                                                       \
	do {                                                                                       \
		rocprofiler_status_t status_ = (call);                                             \
		if (status_ != (status)) {                                                         \
			say("%s:%d: %s: %s", __FILE__, __LINE__, #call, status_name(status_));     \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)
#define SDK(call) SDK_IS(call, ROCPROFILER_STATUS_SUCCESS)

static inline void wrong(const char *what)
{
	say("wrong: %s", what);
	nr_wrong++;
}

static inline std::mutex &lock()
{
	static std::mutex *m = new std::mutex;

	return *m;
}

/* Objects of tools are never destroyed: callbacks come until the process ends. */
static inline std::map<rocprofiler_kernel_id_t, std::string> &kernels()
{
	static auto *m = new std::map<rocprofiler_kernel_id_t, std::string>;

	return *m;
}

/* Names of kernels, from the callbacks of code objects. */
static inline void on_symbol(rocprofiler_callback_tracing_record_t record,
			     rocprofiler_user_data_t *, void *)
{
	auto *data = static_cast<
		rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
		record.payload);

	if (record.kind != ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT ||
	    record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER ||
	    record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
		return;
	std::lock_guard<std::mutex> guard(lock());
	kernels()[data->kernel_id] = data->kernel_name;
}

static inline std::string kernel_name(rocprofiler_kernel_id_t id)
{
	std::lock_guard<std::mutex> guard(lock());
	auto found = kernels().find(id);

	return found == kernels().end() ? "?" : found->second;
}

/* "kernel NAME id begin end grid workgroup external", "copy OPERATION id begin end bytes
 * external" */
static inline void say_kernel(const rocprofiler_buffer_tracing_kernel_dispatch_record_t &r)
{
	say("kernel %s %llu %llu %llu %u %u %llu", kernel_name(r.dispatch_info.kernel_id).c_str(),
	    (unsigned long long)r.correlation_id.internal, (unsigned long long)r.start_timestamp,
	    (unsigned long long)r.end_timestamp, r.dispatch_info.grid_size.x,
	    r.dispatch_info.workgroup_size.x, (unsigned long long)r.correlation_id.external.value);
}

static inline void say_copy(const rocprofiler_buffer_tracing_memory_copy_record_t &r)
{
	say("copy %d %llu %llu %llu %llu %llu", (int)r.operation,
	    (unsigned long long)r.correlation_id.internal, (unsigned long long)r.start_timestamp,
	    (unsigned long long)r.end_timestamp, (unsigned long long)r.bytes,
	    (unsigned long long)r.correlation_id.external.value);
}

/* A record of either kind; another one: false. */
static inline bool say_operation(const rocprofiler_record_header_t *h)
{
	if (h->category != ROCPROFILER_BUFFER_CATEGORY_TRACING)
		return false;
	if (h->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
		say_kernel(*static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(
			h->payload));
	else if (h->kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY)
		say_copy(*static_cast<rocprofiler_buffer_tracing_memory_copy_record_t *>(
			h->payload));
	else
		return false;
	return true;
}

/* The agents, copied: tools do not keep the library's. */
static inline rocprofiler_status_t copy_agents(rocprofiler_agent_version_t version,
					       const void **agents, size_t nr, void *data)
{
	auto *out = static_cast<std::vector<rocprofiler_agent_v0_t> *>(data);

	if (version != ROCPROFILER_AGENT_INFO_VERSION_0)
		return ROCPROFILER_STATUS_ERROR;
	for (size_t i = 0; i < nr; i++)
		out->push_back(*static_cast<const rocprofiler_agent_v0_t *>(agents[i]));
	return ROCPROFILER_STATUS_SUCCESS;
}

static inline std::vector<rocprofiler_agent_v0_t> get_agents()
{
	std::vector<rocprofiler_agent_v0_t> out;

	SDK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, copy_agents,
					       sizeof(rocprofiler_agent_v0_t), &out));
	return out;
}

#endif
