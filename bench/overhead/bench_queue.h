/* SPDX-License-Identifier: MIT */
/* bench_queue.h - one HSA queue with an empty kernel, and ways to dispatch it
 *
 * Included by one file of each program: all of it is static. Packets of a block never fill more
 * than a quarter of the ring, so that no tool has a reason to wait.
 */
#ifndef BENCH_OVERHEAD_BENCH_QUEUE_H
#define BENCH_OVERHEAD_BENCH_QUEUE_H

#include "bench_common.h"

#include <errno.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define MAX_BLOCK 4096
#define BUSY_ITEMS (64u << 16)

static hsa_agent_t gpu, cpu;
static hsa_queue_t *queue;
static hsa_kernel_dispatch_packet_t packet;
static hsa_signal_t done, own[MAX_BLOCK];
static uint64_t block;
static int with_signals;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	_exit(1);
}

#define HSA(call)                                                                                  \
	do {                                                                                       \
		if ((call) != HSA_STATUS_SUCCESS)                                                  \
			die(#call);                                                                \
	} while (0)

static hsa_status_t found_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		cpu = agent;
	else if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t found_pool(hsa_amd_memory_pool_t pool, void *data)
{
	uint32_t flags = 0;

	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT))
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_INFO_BREAK;
}

/* kernels.co is in the program's directory. */
static uint64_t load_kernel(void)
{
	hsa_code_object_reader_t reader;
	hsa_executable_symbol_t symbol;
	hsa_executable_t exec;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	uint64_t object;
	FILE *f;

	if (n <= 0)
		die("/proc/self/exe");
	path[n] = '\0';
	memcpy(strrchr(path, '/') + 1, "kernels.co", sizeof("kernels.co"));
	f = fopen(path, "re");
	if (!f)
		die("kernels.co: not beside the program");
	HSA(hsa_code_object_reader_create_from_file(fileno(f), &reader));
	HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				      NULL, &exec));
	HSA(hsa_executable_load_agent_code_object(exec, gpu, reader, NULL, NULL));
	HSA(hsa_executable_freeze(exec, NULL));
	HSA(hsa_executable_get_symbol_by_name(exec, "bench_empty.kd", &gpu, &symbol));
	HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					   &object));
	fclose(f);
	return object;
}

static uint16_t header(hsa_packet_type_t type)
{
	return (uint16_t)(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

static void set_up(uint32_t size)
{
	hsa_amd_memory_pool_t pool = { 0 };
	void *kernarg;

	HSA(hsa_iterate_agents(found_agent, NULL));
	if (!gpu.handle)
		die("no GPU");
	if (hsa_amd_agent_iterate_memory_pools(cpu, found_pool, &pool) != HSA_STATUS_INFO_BREAK)
		die("no pool for kernel arguments");
	HSA(hsa_amd_memory_pool_allocate(pool, 4096, 0, &kernarg));
	HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, kernarg));
	memset(kernarg, 0, 4096);
	HSA(hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			     &queue));
	HSA(hsa_signal_create(1, 0, NULL, &done));
	for (uint64_t i = 0; with_signals && i < MAX_BLOCK; i++)
		HSA(hsa_signal_create(1, 0, NULL, &own[i]));
	packet.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH);
	packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
	packet.workgroup_size_x = 64;
	packet.workgroup_size_y = packet.workgroup_size_z = 1;
	packet.grid_size_x = 64;
	packet.grid_size_y = packet.grid_size_z = 1;
	packet.kernel_object = load_kernel();
	packet.kernarg_address = kernarg;
}

/* The ring must have space: callers ensure it. */
static inline void submit(const void *p)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;

	memcpy(slot + 4, (const char *)p + 4, 60);
	__atomic_store_n((uint32_t *)(void *)slot, *(const uint32_t *)p, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* Packet `i` of a block, each time with the same signal, which its user sets to 1 before, as HIP
 * does. */
static inline void submit_nr(uint64_t i)
{
	if (with_signals) {
		hsa_signal_store_relaxed(own[i], 1);
		packet.completion_signal = own[i];
	}
	submit(&packet);
}

/* The measured code. bench/bench.py counts the instructions of the function of this name. */
__attribute__((noinline)) static void timed_block(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		submit_nr(i);
}

/* Keeps the GPU busy for a while, set by VGPU_KERNEL_MODEL=grid and VGPU_NS_PER_ITEM. */
__attribute__((unused)) static void hold(void)
{
	hsa_kernel_dispatch_packet_t p = packet;

	p.grid_size_x = BUSY_ITEMS;
	p.completion_signal.handle = 0;
	submit(&p);
}

/* Waits until all submitted packets have completed. */
static void synchronise(void)
{
	hsa_barrier_and_packet_t b = { 0 };

	hsa_signal_store_relaxed(done, 1);
	b.header = header(HSA_PACKET_TYPE_BARRIER_AND);
	b.completion_signal = done;
	submit(&b);
	while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_ACTIVE) > 0)
		;
}

static void tear_down(void)
{
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_signal_destroy(done));
	for (uint64_t i = 0; with_signals && i < MAX_BLOCK; i++)
		HSA(hsa_signal_destroy(own[i]));
}

#endif
