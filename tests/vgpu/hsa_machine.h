/* SPDX-License-Identifier: MIT */
/* hsa_machine.h - shared by the HSA programs on the virtual GPU: agents, memory, kernels, packets
 *
 * Any failure ends the program with status 1 and a line on stderr.
 */
#ifndef VGPU_HSA_MACHINE_H
#define VGPU_HSA_MACHINE_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define GPUS_MAX 16

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define HSA(call) CHECK((call) == HSA_STATUS_SUCCESS)

static hsa_agent_t cpu, gpus[GPUS_MAX];
static unsigned int nr_gpus;
static hsa_amd_memory_pool_t host_pool, gpu_pool;

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU)
		gpus[nr_gpus++] = agent;
	else
		cpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;

	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment == HSA_AMD_SEGMENT_GLOBAL && !((hsa_amd_memory_pool_t *)data)->handle)
		*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_SUCCESS;
}

static inline void open_agents(void)
{
	HSA(hsa_init());
	HSA(hsa_iterate_agents(on_agent, NULL));
	CHECK(nr_gpus);
	HSA(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, &host_pool));
	HSA(hsa_amd_agent_iterate_memory_pools(gpus[0], on_pool, &gpu_pool));
}

/* Zeroed memory of the host that the first GPU can access. */
static inline void *allocate(size_t size)
{
	void *p;

	HSA(hsa_amd_memory_pool_allocate(host_pool, size, 0, &p));
	HSA(hsa_amd_agents_allow_access(1, &gpus[0], NULL, p));
	memset(p, 0, size);
	return p;
}

struct kernel {
	uint64_t object;
	uint32_t private_size;
	hsa_executable_t exec;
};

/* The kernel `name` of the code object `file` in the program's directory. */
static inline struct kernel load_kernel(const char *file, const char *name)
{
	hsa_code_object_reader_t reader;
	hsa_executable_symbol_t symbol;
	struct kernel k;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	int fd;

	CHECK(n > 0 && strlen(file) < 32);
	path[n] = '\0';
	memcpy(strrchr(path, '/') + 1, file, strlen(file) + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	HSA(hsa_code_object_reader_create_from_file(fd, &reader));
	HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				      NULL, &k.exec));
	HSA(hsa_executable_load_agent_code_object(k.exec, gpus[0], reader, NULL, NULL));
	HSA(hsa_executable_freeze(k.exec, NULL));
	HSA(hsa_executable_get_symbol_by_name(k.exec, name, &gpus[0], &symbol));
	HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					   &k.object));
	HSA(hsa_executable_symbol_get_info(symbol,
					   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
					   &k.private_size));
	close(fd);
	return k;
}

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)data;
	printf("queue %llu error 0x%x\n", (unsigned long long)queue->id, (unsigned int)status);
	fflush(stdout);
	_exit(0);
}

/* For hsa_amd_register_system_event_handler(). */
static inline hsa_status_t on_system_event(const hsa_amd_event_t *event, void *data)
{
	(void)data;
	printf("event %d fault 0x%llx\n", (int)event->event_type,
	       (unsigned long long)event->memory_fault.virtual_address);
	fflush(stdout);
	_exit(0);
}

static inline hsa_queue_t *new_queue(unsigned int gpu, uint32_t size)
{
	hsa_queue_t *q = NULL;

	HSA(hsa_queue_create(gpus[gpu], size, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL,
			     UINT32_MAX, UINT32_MAX, &q));
	return q;
}

static inline hsa_signal_t new_signal(int64_t value)
{
	hsa_signal_t s;

	HSA(hsa_signal_create(value, 0, NULL, &s));
	return s;
}

static inline void wait_zero(hsa_signal_t s)
{
	hsa_signal_value_t v = hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, 20000000000,
							 HSA_WAIT_STATE_BLOCKED);

	if (v > 0)
		fprintf(stderr, "signal stays at %lld\n", (long long)v);
	CHECK(v <= 0);
}

static inline void *slot(hsa_queue_t *q, uint64_t index)
{
	while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
		sched_yield();
	return (char *)q->base_address + (index & (q->size - 1)) * 64;
}

static inline uint16_t header(hsa_packet_type_t type, bool barrier)
{
	return (uint16_t)(type | barrier << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

static inline void put(hsa_queue_t *q, uint64_t index, const void *packet)
{
	char *at = slot(q, index);

	memcpy(at + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)(void *)at, *(const uint32_t *)packet, __ATOMIC_RELEASE);
}

static inline uint64_t take(hsa_queue_t *q, uint64_t n)
{
	return hsa_queue_add_write_index_screlease(q, n);
}

static inline void ring(hsa_queue_t *q, uint64_t index)
{
	hsa_signal_store_screlease(q->doorbell_signal, (int64_t)index);
}

/* Submits a packet, with a signal that becomes 0 on completion. */
static inline hsa_signal_t submit(hsa_queue_t *q, void *packet)
{
	uint64_t index = take(q, 1);
	hsa_signal_t done = new_signal(1);

	memcpy((char *)packet + 56, &done, sizeof(done));
	put(q, index, packet);
	ring(q, index);
	return done;
}

static inline void wait_done(hsa_signal_t done)
{
	wait_zero(done);
	HSA(hsa_signal_destroy(done));
}

/* A dispatch of `items` work-items in groups of `group`. */
static inline hsa_kernel_dispatch_packet_t dispatch_of(const struct kernel *k, uint32_t items,
						       uint16_t group, void *kernarg)
{
	return (hsa_kernel_dispatch_packet_t){
		.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH, false),
		.setup = 1,
		.workgroup_size_x = group,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = items,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.private_segment_size = k->private_size,
		.kernel_object = k->object,
		.kernarg_address = kernarg,
	};
}

#endif
