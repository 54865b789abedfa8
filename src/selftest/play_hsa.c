/* SPDX-License-Identifier: MIT */
/* play_hsa.c - the scenario without HIP: packets that the program writes to queues of its own
 *
 * Each packet has the barrier bit, so that none may begin before the one before it has ended; every
 * eighth has a signal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftest/account.h"
#include "selftest/play.h"

#define SIGNAL_EVERY 8
#define QUEUE_PACKETS 256
#define WAIT_NS 10000000000u

struct memory {
	hsa_amd_memory_pool_t kernarg, local;
	bool has_kernarg, has_local;
};

struct gpu_work {
	hsa_agent_t agent;
	hsa_queue_t *queue;
	uint64_t object;
	uint32_t group_size, private_size;
	void *kernarg;
	uint32_t *counter; /* in its memory */
};

/* The first pool for kernel arguments, and the first of a GPU's own. */
static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *out)
{
	struct memory *m = out;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	HSA(amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA(amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) && !m->has_kernarg) {
		m->kernarg = pool;
		m->has_kernarg = true;
	}
	if (!m->has_local) {
		m->local = pool;
		m->has_local = true;
	}
	return HSA_STATUS_SUCCESS;
}

/* Loads kernel A; returns the size of its arguments. */
static uint32_t load(struct gpu_work *w, const struct runtime_gpu *gpu)
{
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	hsa_executable_symbol_t symbol;
	struct kernels_code code;
	uint32_t size = 0;

	play_code(gpu->isa, &code);
	HSA(code_object_reader_create_from_memory(code.bytes, code.size, &reader));
	HSA(executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
				  &executable));
	HSA(executable_load_agent_code_object(executable, gpu->agent, reader, NULL, NULL));
	HSA(executable_freeze(executable, NULL));
	HSA(executable_get_symbol_by_name(executable, KERNELS_COUNT_A ".kd", &gpu->agent, &symbol));
	HSA(executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
				       &w->object));
	HSA(executable_symbol_get_info(symbol,
				       HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
				       &size));
	HSA(executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
				       &w->group_size));
	HSA(executable_symbol_get_info(symbol,
				       HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
				       &w->private_size));
	return size < 64 ? 64 : size;
}

static void open_gpu(struct gpu_work *w, const struct runtime_gpu *gpu, hsa_agent_t cpu)
{
	struct memory host = { 0 }, own = { 0 };
	uint32_t size;

	w->agent = gpu->agent;
	size = load(w, gpu);
	HSA(amd_agent_iterate_memory_pools(cpu, take_pool, &host));
	HSA(amd_agent_iterate_memory_pools(gpu->agent, take_pool, &own));
	if (!host.has_kernarg || !own.has_local)
		account_fail("HSA shows no memory for kernel arguments, or none of the GPU");
	HSA(amd_memory_pool_allocate(host.kernarg, size, 0, &w->kernarg));
	HSA(amd_agents_allow_access(1, &gpu->agent, NULL, w->kernarg));
	HSA(amd_memory_pool_allocate(own.local, 4096, 0, (void **)&w->counter));
	HSA(amd_memory_fill(w->counter, 0, 16));
	memset(w->kernarg, 0, size);
	memcpy(w->kernarg, &w->counter, sizeof(w->counter));
	HSA(queue_create(gpu->agent, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
			 UINT32_MAX, &w->queue));
}

/* Writes one packet and rings the doorbell. */
static void submit(const struct gpu_work *w, hsa_signal_t signal)
{
	hsa_queue_t *q = w->queue;
	uint64_t index = hsa.queue_add_write_index_relaxed(q, 1);
	hsa_kernel_dispatch_packet_t *p =
		(hsa_kernel_dispatch_packet_t *)q->base_address + index % q->size;
	uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
			  1 << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	uint16_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;

	while (index - hsa.queue_load_read_index_scacquire(q) >= q->size)
		;
	memset((char *)p + 4, 0, sizeof(*p) - 4);
	p->workgroup_size_x = 64;
	p->workgroup_size_y = p->workgroup_size_z = 1;
	p->grid_size_x = 64;
	p->grid_size_y = p->grid_size_z = 1;
	p->private_segment_size = w->private_size;
	p->group_segment_size = w->group_size;
	p->kernel_object = w->object;
	p->kernarg_address = w->kernarg;
	p->completion_signal = signal;
	__atomic_store_n((uint32_t *)(void *)p, header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
	hsa.signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)index);
}

static void run(const struct gpu_work *w, unsigned int launches)
{
	hsa_signal_t signal;

	HSA(signal_create((hsa_signal_value_t)((launches + SIGNAL_EVERY - 1) / SIGNAL_EVERY), 0,
			  NULL, &signal));
	for (unsigned int i = launches; i > 0; i--)
		submit(w, (i - 1) % SIGNAL_EVERY ? (hsa_signal_t){ 0 } : signal);
	if (hsa.signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, WAIT_NS,
				      HSA_WAIT_STATE_BLOCKED) >= 1)
		account_fail("packets on a queue do not complete within 10 s");
	HSA(signal_destroy(signal));
}

void play_hsa(void)
{
	static struct gpu_work works[RUNTIME_GPUS_MAX];
	unsigned int launches = (unsigned int)play_number("launches", 100);
	struct runtime_gpus found;
	uint64_t counted = 0;

	runtime_load_hsa();
	if (hsa.init() != HSA_STATUS_SUCCESS)
		account_lack("hsa_init() fails: HSA finds no GPU that it can use");
	runtime_find_gpus(&found);
	if (!found.nr)
		account_lack("HSA shows no GPU");
	for (unsigned int i = 0; i < found.nr; i++)
		open_gpu(&works[i], &found.gpus[i], found.cpu);
	account_number("first_ns", runtime_now_ns());
	for (unsigned int i = 0; i < found.nr; i++)
		run(&works[i], launches);
	account_number("last_ns", runtime_now_ns());
	for (unsigned int i = 0; i < found.nr; i++) {
		uint32_t n = 0;
		char key[32];

		HSA(memory_copy(&n, works[i].counter, sizeof(n)));
		counted += n;
		snprintf(key, sizeof(key), "gpu%u_counted", i);
		account_number(key, n);
		HSA(queue_destroy(works[i].queue));
	}
	account_number("gpus", found.nr);
	account_number("launched_a", (uint64_t)launches * found.nr);
	account_number("launched_b", 0);
	account_number("counted_a", counted);
	account_number("counted_b", 0);
	HSA(shut_down());
}
