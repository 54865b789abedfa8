/* SPDX-License-Identifier: MIT */
/* runtime.h - HIP and HSA as the machine has them, loaded at run time
 *
 * The program links to neither: it runs, and says what is missing, where there is no ROCm at all.
 * The functions of HIP used here have the same arguments from HIP 5 to HIP 7. They are looked up by
 * dlsym(), as programs that load HIP late do.
 */
#ifndef RTL_SELFTEST_RUNTIME_H
#define RTL_SELFTEST_RUNTIME_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_GPUS_MAX 16

typedef void *hip_stream, *hip_event, *hip_module, *hip_function, *hip_graph, *hip_exec;

enum { HIP_HOST_TO_DEVICE = 1, HIP_DEVICE_TO_HOST = 2, HIP_DEVICE_TO_DEVICE = 3 };
enum { HIP_STREAM_NON_BLOCKING = 1, HIP_CAPTURE_THREAD_LOCAL = 1 };

#define HIP_FUNCTIONS(X)                                                                           \
	X(GetDeviceCount, (int *nr))                                                               \
	X(SetDevice, (int device))                                                                 \
	X(DeviceGetName, (char *name, int size, int device))                                       \
	X(RuntimeGetVersion, (int *version))                                                       \
	X(Malloc, (void **out, size_t size))                                                       \
	X(Free, (void *memory))                                                                    \
	X(HostMalloc, (void **out, size_t size, unsigned int flags))                               \
	X(HostFree, (void *memory))                                                                \
	X(Memcpy, (void *dst, const void *src, size_t size, int kind))                             \
	X(MemcpyAsync, (void *dst, const void *src, size_t size, int kind, hip_stream stream))     \
	X(MemsetAsync, (void *dst, int value, size_t size, hip_stream stream))                     \
	X(StreamCreateWithFlags, (hip_stream * out, unsigned int flags))                           \
	X(StreamDestroy, (hip_stream stream))                                                      \
	X(StreamSynchronize, (hip_stream stream))                                                  \
	X(ModuleLoadData, (hip_module * out, const void *image))                                   \
	X(ModuleGetFunction, (hip_function * out, hip_module module, const char *name))            \
	X(ModuleLaunchKernel, (hip_function f, unsigned int gx, unsigned int gy, unsigned int gz,  \
			       unsigned int bx, unsigned int by, unsigned int bz,                  \
			       unsigned int lds, hip_stream stream, void **args, void **extra))    \
	X(EventCreate, (hip_event * out))                                                          \
	X(EventRecord, (hip_event event, hip_stream stream))                                       \
	X(EventSynchronize, (hip_event event))                                                     \
	X(EventElapsedTime, (float *ms, hip_event begin, hip_event end))                           \
	X(EventDestroy, (hip_event event))                                                         \
	X(StreamBeginCapture, (hip_stream stream, int mode))                                       \
	X(StreamEndCapture, (hip_stream stream, hip_graph * out))                                  \
	X(GraphInstantiate,                                                                        \
	  (hip_exec * out, hip_graph graph, void **node, char *log, size_t size))                  \
	X(GraphLaunch, (hip_exec exec, hip_stream stream))

struct hip {
#define X(name, arguments) int(*name) arguments;
	HIP_FUNCTIONS(X)
#undef X
	const char *(*GetErrorString)(int error);
};

#define HSA_FUNCTIONS(X)                                                                           \
	X(init)                                                                                    \
	X(shut_down)                                                                               \
	X(system_get_info)                                                                         \
	X(iterate_agents)                                                                          \
	X(agent_get_info)                                                                          \
	X(agent_iterate_isas)                                                                      \
	X(isa_get_info_alt)                                                                        \
	X(queue_create)                                                                            \
	X(queue_destroy)                                                                           \
	X(queue_add_write_index_relaxed)                                                           \
	X(queue_load_read_index_scacquire)                                                         \
	X(signal_create)                                                                           \
	X(signal_destroy)                                                                          \
	X(signal_store_screlease)                                                                  \
	X(signal_wait_scacquire)                                                                   \
	X(code_object_reader_create_from_memory)                                                   \
	X(executable_create_alt)                                                                   \
	X(executable_load_agent_code_object)                                                       \
	X(executable_freeze)                                                                       \
	X(executable_get_symbol_by_name)                                                           \
	X(executable_symbol_get_info)                                                              \
	X(memory_copy)                                                                             \
	X(amd_agent_iterate_memory_pools)                                                          \
	X(amd_memory_pool_get_info)                                                                \
	X(amd_memory_pool_allocate)                                                                \
	X(amd_agents_allow_access)                                                                 \
	X(amd_memory_fill)

struct hsa {
#define X(name) __typeof__(&hsa_##name) name;
	HSA_FUNCTIONS(X)
#undef X
};

extern struct hip hip;
extern struct hsa hsa;

struct runtime_gpu {
	hsa_agent_t agent;
	char isa[128]; /* amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack- */
	char name[64];
	uint32_t units; /* compute units */
};

struct runtime_gpus {
	hsa_agent_t cpu;
	struct runtime_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int nr;
};

/* Each ends the process with account_lack() if the library or one of its functions is not there. */
void runtime_load_hip(void);
void runtime_load_hsa(void);
/* The GPUs that HSA shows. hsa_init() is the caller's. */
void runtime_find_gpus(struct runtime_gpus *out);
/* Now, in ns of the clock that ROCr calls system time; the runtime must be initialised. */
uint64_t runtime_now_ns(void);
/* The library that has the function, as the loader found it; "" unknown. */
const char *runtime_path_of(const void *function);

/* Ends the process with account_fail() if the call fails. */
#define HIP(call) runtime_check_hip(hip.call, "hip" #call)
#define HSA(call) runtime_check_hsa(hsa.call, "hsa_" #call)
void runtime_check_hip(int status, const char *call);
void runtime_check_hsa(hsa_status_t status, const char *call);

#endif
