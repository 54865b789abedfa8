/* SPDX-License-Identifier: MIT */
/* hsa_common.h - shared by the HSA test programs: agents, kernels, queues, packets
 *
 * Written against the public HSA API alone, as an application would be. Every failure ends the
 * program with status 1 and a line on stderr; time-outs with status 3.
 */
#ifndef TESTS_PROGRAMS_HSA_COMMON_H
#define TESTS_PROGRAMS_HSA_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define MAX_GPUS 16

struct kernel {
	uint64_t object;
	uint32_t kernarg_size, group_size, private_size;
};

struct gpu {
	hsa_agent_t agent;
	struct kernel short_kernel, long_kernel;
};

struct machine {
	hsa_agent_t cpu;
	struct gpu gpus[MAX_GPUS];
	unsigned int nr_gpus;
	void *kernarg;	   /* one block of zeros for every launch */
	bool queues_alone; /* see queues_are_made_alone() */
};

/* ROCr 6.1.2 to 7.2.4 add a new queue to a list of its agent without a lock: programs whose threads
 * make queues at the same time damage the heap, untraced, too (storm: 4 of 3,300 runs of 7.2.4 end
 * by it, the address sanitizer's allocator reports 3 to 5 of 300). 5.2.3 has no such list; it is
 * for this function, which came with it. */
extern hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t, size_t)
	__attribute__((weak));

static bool queues_are_made_alone(void)
{
	return hsa_amd_agent_set_async_scratch_limit != NULL;
}

__attribute__((noreturn, format(printf, 2, 3), unused)) static void die(int status, const char *fmt,
									...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(NULL);
	_exit(status);
}

#define HSA(call)                                                                                  \
	do {                                                                                       \
		hsa_status_t status_ = (call);                                                     \
		const char *text_ = "?";                                                           \
		if (status_ != HSA_STATUS_SUCCESS) {                                               \
			hsa_status_string(status_, &text_);                                        \
			die(1, "%s:%d: %s: 0x%x %s", __FILE__, __LINE__, #call, (unsigned)status_, \
			    text_);                                                                \
		}                                                                                  \
	} while (0)

__attribute__((unused)) static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

__attribute__((unused)) static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* "name=value" among the arguments, or the default. */
__attribute__((unused)) static const char *arg_text(int argc, char **argv, const char *name,
						    const char *dflt)
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return dflt;
}

__attribute__((unused)) static uint64_t arg_num(int argc, char **argv, const char *name,
						uint64_t dflt)
{
	const char *text = arg_text(argc, argv, name, NULL);

	return text ? strtoull(text, NULL, 0) : dflt;
}

static hsa_status_t found_agent(hsa_agent_t agent, void *data)
{
	struct machine *m = data;
	hsa_device_type_t type;

	HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		m->cpu = agent;
	else if (type == HSA_DEVICE_TYPE_GPU && m->nr_gpus < MAX_GPUS)
		m->gpus[m->nr_gpus++].agent = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t found_pool(hsa_amd_memory_pool_t pool, void *data)
{
	uint32_t flags = 0;
	hsa_amd_segment_t segment;

	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
		*(hsa_amd_memory_pool_t *)data = pool;
		return HSA_STATUS_INFO_BREAK;
	}
	return HSA_STATUS_SUCCESS;
}

static void find_kernel(hsa_executable_t exec, hsa_agent_t agent, const char *name,
			struct kernel *out)
{
	hsa_executable_symbol_t symbol;

	HSA(hsa_executable_get_symbol_by_name(exec, name, &agent, &symbol));
	HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					   &out->object));
	HSA(hsa_executable_symbol_get_info(symbol,
					   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
					   &out->kernarg_size));
	HSA(hsa_executable_symbol_get_info(symbol,
					   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
					   &out->group_size));
	HSA(hsa_executable_symbol_get_info(symbol,
					   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
					   &out->private_size));
}

/* hsa_kernels.co lies beside the program. */
static int open_kernels(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;
	int fd;

	if (n <= 0)
		die(1, "/proc/self/exe: %s", strerror(errno));
	path[n] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash + 1, "hsa_kernels.co", sizeof("hsa_kernels.co"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(1, "%s: %s", path, strerror(errno));
	return fd;
}

static void load_kernels(struct gpu *gpu)
{
	hsa_code_object_reader_t reader;
	hsa_executable_t exec;
	int fd = open_kernels();

	HSA(hsa_code_object_reader_create_from_file(fd, &reader));
	HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				      NULL, &exec));
	HSA(hsa_executable_load_agent_code_object(exec, gpu->agent, reader, NULL, NULL));
	HSA(hsa_executable_freeze(exec, NULL));
	find_kernel(exec, gpu->agent, "flood_short.kd", &gpu->short_kernel);
	find_kernel(exec, gpu->agent, "flood_long.kd", &gpu->long_kernel);
	HSA(hsa_code_object_reader_destroy(reader));
	close(fd);
}

__attribute__((unused)) static void machine_open(struct machine *m)
{
	hsa_amd_memory_pool_t pool = { 0 };
	hsa_status_t status;

	memset(m, 0, sizeof(*m));
	HSA(hsa_init());
	HSA(hsa_iterate_agents(found_agent, m));
	if (!m->nr_gpus)
		die(1, "no GPU");
	m->queues_alone = queues_are_made_alone();
	status = hsa_amd_agent_iterate_memory_pools(m->cpu, found_pool, &pool);
	if (status != HSA_STATUS_INFO_BREAK)
		die(1, "no pool for kernel arguments");
	HSA(hsa_amd_memory_pool_allocate(pool, 4096, 0, &m->kernarg));
	memset(m->kernarg, 0, 4096);
	for (unsigned int i = 0; i < m->nr_gpus; i++) {
		HSA(hsa_amd_agents_allow_access(1, &m->gpus[i].agent, NULL, m->kernarg));
		load_kernels(&m->gpus[i]);
	}
}

__attribute__((unused)) static void queue_failed(hsa_status_t status, hsa_queue_t *queue,
						 void *data)
{
	const char *text = "?";

	(void)data;
	hsa_status_string(status, &text);
	die(4, "queue %llu: error 0x%x %s", (unsigned long long)queue->id, (unsigned)status, text);
}

/* One at a time where the runtime asks for it: see queues_are_made_alone(). */
__attribute__((unused)) static hsa_queue_t *queue_open(struct machine *m, unsigned int gpu,
						       uint32_t size, hsa_queue_type32_t type)
{
	static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
	hsa_queue_t *queue;

	if (m->queues_alone)
		pthread_mutex_lock(&alone);
	HSA(hsa_queue_create(m->gpus[gpu].agent, size, type, queue_failed, NULL, UINT32_MAX,
			     UINT32_MAX, &queue));
	if (m->queues_alone)
		pthread_mutex_unlock(&alone);
	return queue;
}

__attribute__((unused)) static hsa_signal_t signal_new(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	HSA(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

/* Takes a slot as in the HSA specification: reserve, then wait until it is free. */
__attribute__((unused)) static void *slot_take(hsa_queue_t *queue, uint64_t *index)
{
	uint64_t started = 0;
	unsigned int spins = 0;

	*index = hsa_queue_add_write_index_scacq_screl(queue, 1);
	while (*index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
		if (++spins < 64)
			continue;
		sched_yield();
		if (!started)
			started = now_ns();
		else if (now_ns() - started > 60000000000u)
			die(3, "queue %llu: no free slot for packet %llu in 60 s (read index %llu)",
			    (unsigned long long)queue->id, (unsigned long long)*index,
			    (unsigned long long)hsa_queue_load_read_index_relaxed(queue));
	}
	return (char *)queue->base_address + (*index & (queue->size - 1)) * 64;
}

/* Body first, then the header, which publishes it. */
__attribute__((unused)) static void slot_publish(void *slot, const void *packet)
{
	memcpy((char *)slot + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)slot, *(const uint32_t *)packet, __ATOMIC_RELEASE);
}

static inline uint16_t header(hsa_packet_type_t type, bool barrier)
{
	return (uint16_t)(type << HSA_PACKET_HEADER_TYPE | barrier << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

__attribute__((unused)) static hsa_kernel_dispatch_packet_t
packet_dispatch(struct machine *m, const struct kernel *k, uint16_t group, uint32_t grid,
		bool barrier, hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t p = { 0 };

	p.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier);
	p.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
	p.workgroup_size_x = group;
	p.workgroup_size_y = p.workgroup_size_z = 1;
	p.grid_size_x = grid;
	p.grid_size_y = p.grid_size_z = 1;
	p.private_segment_size = k->private_size;
	p.group_segment_size = k->group_size;
	p.kernel_object = k->object;
	p.kernarg_address = m->kernarg;
	p.completion_signal = signal;
	return p;
}

__attribute__((unused)) static hsa_barrier_and_packet_t
packet_barrier(hsa_packet_type_t type, bool barrier, hsa_signal_t dep, hsa_signal_t signal)
{
	hsa_barrier_and_packet_t p = { 0 };

	p.header = header(type, barrier);
	p.dep_signal[0] = dep;
	p.completion_signal = signal;
	return p;
}

/* Puts one packet on the queue and rings. */
__attribute__((unused)) static uint64_t submit(hsa_queue_t *queue, const void *packet)
{
	uint64_t index;
	void *slot = slot_take(queue, &index);

	slot_publish(slot, packet);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
	return index;
}

/* A runtime may spin for the first 200 ms of a wait: with shorter waits its threads take the
 * processors from librtl's and the virtual GPU's. */
#define WAIT_TICKS UINT64_C(20000000000)

/* Waits until the signal is at most `value`. */
__attribute__((unused)) static void signal_wait_le(hsa_signal_t signal, hsa_signal_value_t value,
						   const char *what)
{
	uint64_t deadline = now_ns() + 120000000000u;
	hsa_signal_value_t v;

	for (;;) {
		v = hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, value + 1,
					      WAIT_TICKS, HSA_WAIT_STATE_BLOCKED);
		if (v <= value)
			return;
		if (now_ns() > deadline)
			die(3, "%s: the signal is still at %lld (waited for %lld)", what,
			    (long long)v, (long long)value);
	}
}

#endif
