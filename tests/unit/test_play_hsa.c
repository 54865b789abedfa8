/* SPDX-License-Identifier: MIT */
/* test_play_hsa.c - the self-test's scenario without HIP, on a GPU that does no more than it is
 * waited for
 *
 * A packet runs while the program waits for a signal or for space in the queue, and only as long: a
 * program that reads its counters too early reads too few each time, and not once in a while.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "selftest/account.h"
#include "selftest/play.h"
#include "support/test.h"

#define RING 256

struct hsa hsa;

static struct {
	hsa_kernel_dispatch_packet_t ring[RING];
	hsa_queue_t queue;
	uint64_t write, read, shown, stops_at, nr_launches;
	hsa_signal_value_t signal;
	uint32_t counter[4], kernarg[64], pool;
	uint64_t launched, counted;
	jmp_buf failed;
} gpu;

/* ---- what the scenario asks of the program --------------------------------------------------- */

uint64_t play_number(const char *name, uint64_t otherwise)
{
	return strcmp(name, "launches") == 0 ? gpu.nr_launches : otherwise;
}

void play_code(const char *isa, struct kernels_code *out)
{
	(void)isa;
	memset(out, 0, sizeof(*out));
}

void account_number(const char *key, uint64_t value)
{
	if (strcmp(key, "launched_a") == 0)
		gpu.launched = value;
	if (strcmp(key, "counted_a") == 0)
		gpu.counted = value;
}

void account_fail(const char *fmt, ...)
{
	(void)fmt;
	longjmp(gpu.failed, 1);
}

void account_lack(const char *fmt, ...)
{
	FAIL("something is not there: %s", fmt);
}

void runtime_load_hsa(void)
{
}

void runtime_find_gpus(struct runtime_gpus *out)
{
	memset(out, 0, sizeof(*out));
	out->nr = 1;
}

uint64_t runtime_now_ns(void)
{
	return 1;
}

void runtime_check_hsa(hsa_status_t status, const char *call)
{
	CHECK_MSG(status == HSA_STATUS_SUCCESS, "%s", call);
}

/* ---- HSA ------------------------------------------------------------------------------------- */

/* Runs the next packet, if the doorbell has been rung for it. */
static bool run_one(void)
{
	const hsa_kernel_dispatch_packet_t *p = &gpu.ring[gpu.read % RING];
	uint32_t *counter;

	if (gpu.read == gpu.write || gpu.read == gpu.stops_at)
		return false;
	CHECK(p->header & 1 << HSA_PACKET_HEADER_BARRIER);
	CHECK_EQ_UINT(p->header >> HSA_PACKET_HEADER_TYPE & 0xff, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	/* one wave, which counts once */
	CHECK_EQ_UINT(p->setup, 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
	CHECK(p->workgroup_size_x == 64 && p->workgroup_size_y == 1 && p->workgroup_size_z == 1);
	CHECK(p->grid_size_x == 64 && p->grid_size_y == 1 && p->grid_size_z == 1);
	CHECK(!p->reserved0 && !p->reserved2);
	memcpy(&counter, p->kernarg_address, sizeof(counter));
	CHECK_EQ_PTR(counter, gpu.counter);
	++*counter;
	if (p->completion_signal.handle)
		gpu.signal--;
	gpu.read++;
	return true;
}

/* A function without an effect that the scenario could see. */
#define SUCCEEDS(name, ...)                                                                        \
	static hsa_status_t name(__VA_ARGS__)                                                      \
	{                                                                                          \
		return HSA_STATUS_SUCCESS;                                                         \
	}
SUCCEEDS(nothing, void)
SUCCEEDS(destroy_queue, hsa_queue_t *q __attribute__((unused)))
SUCCEEDS(destroy_signal, hsa_signal_t s __attribute__((unused)))
SUCCEEDS(create_reader, const void *code __attribute__((unused)),
	 size_t size __attribute__((unused)), hsa_code_object_reader_t *out __attribute__((unused)))
SUCCEEDS(create_executable, hsa_profile_t profile __attribute__((unused)),
	 hsa_default_float_rounding_mode_t mode __attribute__((unused)),
	 const char *options __attribute__((unused)), hsa_executable_t *out __attribute__((unused)))
SUCCEEDS(load_code, hsa_executable_t e __attribute__((unused)),
	 hsa_agent_t agent __attribute__((unused)),
	 hsa_code_object_reader_t r __attribute__((unused)),
	 const char *options __attribute__((unused)),
	 hsa_loaded_code_object_t *out __attribute__((unused)))
SUCCEEDS(freeze, hsa_executable_t e __attribute__((unused)),
	 const char *options __attribute__((unused)))
SUCCEEDS(find_symbol, hsa_executable_t e __attribute__((unused)),
	 const char *name __attribute__((unused)), const hsa_agent_t *agent __attribute__((unused)),
	 hsa_executable_symbol_t *out __attribute__((unused)))
SUCCEEDS(symbol_info, hsa_executable_symbol_t s __attribute__((unused)),
	 hsa_executable_symbol_info_t what __attribute__((unused)),
	 void *out __attribute__((unused)))
SUCCEEDS(allow_access, uint32_t nr __attribute__((unused)),
	 const hsa_agent_t *agents __attribute__((unused)),
	 const uint32_t *flags __attribute__((unused)), const void *memory __attribute__((unused)))

static hsa_status_t iterate_pools(hsa_agent_t agent,
				  hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *),
				  void *data)
{
	(void)agent;
	return callback((hsa_amd_memory_pool_t){ 1 }, data);
}

static hsa_status_t pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what,
			      void *value)
{
	uint32_t flags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
	hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GLOBAL;

	(void)pool;
	if (what == HSA_AMD_MEMORY_POOL_INFO_SEGMENT)
		memcpy(value, &segment, sizeof(segment));
	else
		memcpy(value, &flags, sizeof(flags));
	return HSA_STATUS_SUCCESS;
}

/* The scenario takes memory for arguments first, and then the GPU's own. */
static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
				  void **out)
{
	(void)pool, (void)flags;
	*out = gpu.pool++ ? (void *)gpu.counter : gpu.kernarg;
	CHECK(gpu.pool == 2 || size <= sizeof(gpu.kernarg));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t fill(void *memory, uint32_t value, size_t count)
{
	(void)value, (void)count;
	memset(memory, 0, sizeof(gpu.counter));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_size, uint32_t group_size, hsa_queue_t **out)
{
	(void)agent, (void)type, (void)callback, (void)data, (void)private_size, (void)group_size;
	CHECK_EQ_UINT(size, RING);
	gpu.queue.base_address = gpu.ring;
	gpu.queue.size = size;
	*out = &gpu.queue;
	return HSA_STATUS_SUCCESS;
}

static uint64_t add_write_index(const hsa_queue_t *queue, uint64_t value)
{
	(void)queue;
	gpu.write += value;
	return gpu.write - value;
}

/* While the queue is full each look at it lets one packet run, which the next look shows. */
static uint64_t load_read_index(const hsa_queue_t *queue)
{
	(void)queue;
	gpu.shown = gpu.read;
	if (gpu.write - gpu.read > RING)
		run_one();
	return gpu.shown;
}

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t nr, const hsa_agent_t *agents,
				  hsa_signal_t *out)
{
	(void)nr, (void)agents;
	gpu.signal = value;
	out->handle = 1;
	return HSA_STATUS_SUCCESS;
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value)
{
	(void)signal;
	CHECK_EQ_UINT((uint64_t)value, gpu.write - 1);
	/* no packet that could be unread is gone */
	CHECK_LT_INT((uint64_t)value - gpu.shown, RING);
}

static hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition,
			       hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state)
{
	(void)signal, (void)timeout, (void)state;
	CHECK_EQ_INT(condition, HSA_SIGNAL_CONDITION_LT);
	while (gpu.signal >= value && run_one())
		;
	return gpu.signal;
}

static void start(uint64_t launches, uint64_t stops_at)
{
	memset(&gpu, 0, sizeof(gpu));
	memset(gpu.ring, 0xff, sizeof(gpu.ring));
	gpu.nr_launches = launches;
	gpu.stops_at = stops_at;
	hsa.init = hsa.shut_down = nothing;
	hsa.queue_destroy = destroy_queue;
	hsa.signal_destroy = destroy_signal;
	hsa.code_object_reader_create_from_memory = create_reader;
	hsa.executable_create_alt = create_executable;
	hsa.executable_load_agent_code_object = load_code;
	hsa.executable_freeze = freeze;
	hsa.executable_get_symbol_by_name = find_symbol;
	hsa.executable_symbol_get_info = symbol_info;
	hsa.amd_agents_allow_access = allow_access;
	hsa.amd_agent_iterate_memory_pools = iterate_pools;
	hsa.amd_memory_pool_get_info = pool_info;
	hsa.amd_memory_pool_allocate = pool_allocate;
	hsa.amd_memory_fill = fill;
	hsa.memory_copy = copy;
	hsa.queue_create = create_queue;
	hsa.queue_add_write_index_relaxed = add_write_index;
	hsa.queue_load_read_index_scacquire = load_read_index;
	hsa.signal_create = create_signal;
	hsa.signal_store_screlease = store_signal;
	hsa.signal_wait_scacquire = wait;
}

TEST(counters_are_read_when_the_last_packet_is_complete)
{
	static const uint64_t launches[] = { 1, 2, 7, 8, 9, 15, 16, 17, 100, 255, 256, 257, 1000 };

	/* static: after longjmp() it has its value */
	static size_t i;

	for (i = 0; i < sizeof(launches) / sizeof(*launches); i++) {
		start(launches[i], UINT64_MAX);
		CHECK_MSG(!setjmp(gpu.failed), "%llu launches", (unsigned long long)launches[i]);
		play_hsa();
		CHECK_EQ_UINT(gpu.launched, launches[i]);
		CHECK_EQ_UINT(gpu.counted, launches[i]);
	}
}

TEST(packet_that_does_not_complete_is_a_failure)
{
	static uint64_t stops_at;

	for (stops_at = 0; stops_at < 17; stops_at++) {
		start(17, stops_at);
		if (!setjmp(gpu.failed)) {
			play_hsa();
			FAIL("%llu of 17 packets are enough", (unsigned long long)stops_at);
		}
	}
}
