/* SPDX-License-Identifier: MIT */
/* fake_hsa.c - a runtime without a GPU
 *
 * Owns:    its queues and signals. A destroyed signal's memory is freed, so that the address
 *          sanitizer sees a late access and addresses are used again; a queue's is kept.
 * Threads: as the runtime's; fake_gpu_*() one thread for each queue.
 */
#include "support/fake_hsa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "event/life.h"
#include "source/hsa/harvest.h"
#include "source/hsa/table.h"
#include "support/sink_record.h"
#include "support/test.h"

#ifdef RTL_SANITIZE_ADDRESS
#include <sanitizer/lsan_interface.h>
/* The source under test keeps signals and queues in memory that the leak sanitizer does not see. */
#define KEPT(p) __lsan_ignore_object(p)
#else
#define KEPT(p) ((void)0)
#endif

#define ALIVE UINT64_C(0x616c697665736967)
#define TICKS_BASE (UINT64_C(1) << 32)
#define FIRST_STRANGER UINT64_C(0x10000)
#define AGENT_BASE UINT64_C(0xa9e000)

struct fake_hsa fake;

struct signal {
	amd_signal_t amd; /* must be first */
	uint64_t magic;
	_Atomic bool copying;
	_Atomic uint64_t copy_begin, copy_end;
};

struct executable {
	const struct fake_symbol *symbols;
	unsigned nr;
};

static _Thread_local struct fake_queue *writing;
static _Atomic uint64_t next_queue_id = 1;
static struct executable executables[4096];
static unsigned nr_executables;

/* ---- ticks ---------------------------------------------------------------------------------- */

uint64_t fake_begin_ticks(uint32_t id)
{
	return TICKS_BASE + 64 * (uint64_t)id;
}

uint64_t fake_end_ticks(uint32_t id)
{
	return fake_begin_ticks(id) + 3 + id % 32;
}

uint64_t fake_ticks_to_ns(uint64_t ticks)
{
	return 10 * ticks + 12345;
}

/* ---- signals -------------------------------------------------------------------------------- */

static struct signal *signal_check(hsa_signal_t s)
{
	struct signal *sig = (struct signal *)(uintptr_t)s.handle;

	CHECK(sig != NULL);
	CHECK(sig->magic == ALIVE);
	return sig;
}

static hsa_signal_t make_signal(int64_t value)
{
	struct signal *sig = aligned_alloc(64, (sizeof(*sig) + 63) / 64 * 64);

	CHECK(sig != NULL);
	KEPT(sig);
	memset(sig, 0, sizeof(*sig));
	sig->magic = ALIVE;
	sig->amd.kind = AMD_SIGNAL_KIND_USER;
	sig->amd.value = value;
	return (hsa_signal_t){ (uint64_t)(uintptr_t)sig };
}

static hsa_status_t amd_signal_create(hsa_signal_value_t value, uint32_t nr, const hsa_agent_t *who,
				      uint64_t attributes, hsa_signal_t *out)
{
	uint64_t limit = atomic_load(&fake.no_signal_after);

	(void)nr;
	(void)who;
	CHECK_EQ_UINT(attributes, HSA_AMD_SIGNAL_AMD_GPU_ONLY);
	if (limit && atomic_load(&fake.nr_signals_made) >= limit)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	atomic_fetch_add(&fake.nr_signals_made, 1);
	*out = make_signal(value);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_signal_destroy(hsa_signal_t s)
{
	struct signal *sig = signal_check(s);

	sig->magic = 0;
	free(sig);
	atomic_fetch_add(&fake.nr_signals_destroyed, 1);
	return HSA_STATUS_SUCCESS;
}

hsa_signal_t fake_signal(int64_t value)
{
	return make_signal(value);
}

void fake_signal_destroy(hsa_signal_t s)
{
	hsa_signal_destroy_fn_t fn = (hsa_signal_destroy_fn_t)fake.core.entry[38];

	CHECK_EQ_INT(fn(s), HSA_STATUS_SUCCESS);
	atomic_fetch_sub(&fake.nr_signals_destroyed, 1); /* the program's own is not counted */
}

void fake_signal_set(hsa_signal_t s, int64_t value)
{
	__atomic_store_n(&signal_check(s)->amd.value, value, __ATOMIC_RELEASE);
}

int64_t fake_signal_get(hsa_signal_t s)
{
	return __atomic_load_n(&signal_check(s)->amd.value, __ATOMIC_ACQUIRE);
}

/* As the packet processor completes a packet: times, then the value. */
static void complete(const struct fake_queue *q, hsa_signal_t s, uint64_t begin, uint64_t end)
{
	struct signal *sig;

	if (!s.handle)
		return;
	sig = signal_check(s);
	if (atomic_load(&q->profiled) && !atomic_load(&fake.no_times)) {
		if (atomic_load(&fake.inverted)) {
			uint64_t swap = begin;

			begin = end;
			end = swap;
		}
		__atomic_store_n(&sig->amd.start_ts, begin, __ATOMIC_RELAXED);
		__atomic_store_n(&sig->amd.end_ts, end, __ATOMIC_RELEASE);
	}
	__atomic_fetch_sub(&sig->amd.value, 1, __ATOMIC_RELEASE);
}

/* ---- the hardware's ring and the GPU --------------------------------------------------------- */

static void to_ring(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	uint64_t write = atomic_load(&q->write), read = atomic_load(&q->read);

	/* Submit() of ROCr 5.2.3 wants more free slots than packets, or it goes astray. */
	if (!fake.staging && q->hsa.size - (write - read) <= n)
		FAIL("the ring overflows: %llu of %u are used, %llu more come",
		     (unsigned long long)(write - read), q->hsa.size, (unsigned long long)n);
	CHECK_LT_UINT(write - read + n, q->hw_size);
	for (uint64_t i = 0; i < n; i++)
		q->hw[(write + i) % q->hw_size] = packets[i];
	atomic_store_explicit(&q->write, write + n, memory_order_release);
}

static void writer(const void *packets, uint64_t n)
{
	CHECK_NOT_NULL(writing);
	writing->nr_writes++;
	to_ring(writing, packets, n);
}

union fake_packet *fake_hw(struct fake_queue *q, uint64_t hw)
{
	return &q->hw[hw % q->hw_size];
}

uint64_t fake_in_ring(struct fake_queue *q)
{
	return atomic_load(&q->write) - atomic_load(&q->read);
}

static bool barrier_is_open(const hsa_barrier_and_packet_t *b)
{
	for (int i = 0; i < 5; i++)
		if (b->dep_signal[i].handle && fake_signal_get(b->dep_signal[i]) != 0)
			return false;
	return true;
}

static bool may_run(const union fake_packet *p)
{
	return (p->header & 0xff) != HSA_PACKET_TYPE_BARRIER_AND || barrier_is_open(&p->barrier);
}

static void run_packet(struct fake_queue *q, const union fake_packet *p, uint64_t hw)
{
	uint64_t odd = TICKS_BASE / 2 + 2 * hw + 1;

	switch (p->header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		complete(q, p->dispatch.completion_signal,
			 fake_begin_ticks(p->dispatch.grid_size_x),
			 fake_end_ticks(p->dispatch.grid_size_x));
		break;
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		complete(q, p->barrier.completion_signal, odd, odd + 1);
		break;
	default:
		break;
	}
}

uint64_t fake_gpu_run(struct fake_queue *q, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t read = atomic_load(&q->read);
		union fake_packet *p = fake_hw(q, read);

		if (read == atomic_load_explicit(&q->write, memory_order_acquire) || !may_run(p))
			return i;
		run_packet(q, p, read);
		/* after the signal: a completed packet says nothing of its own slot */
		atomic_store_explicit(&q->read, read + 1, memory_order_release);
	}
	return n;
}

void fake_gpu_launch(struct fake_queue *q, uint64_t n)
{
	CHECK_LE_UINT(n, fake_in_ring(q));
	atomic_fetch_add(&q->read, n);
}

void fake_gpu_complete(struct fake_queue *q, uint64_t hw)
{
	CHECK_LT_UINT(hw, atomic_load(&q->read));
	run_packet(q, fake_hw(q, hw), hw);
}

/* ---- queues --------------------------------------------------------------------------------- */

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static struct fake_queue *make_queue(uint32_t size, uint64_t hw_size)
{
	struct fake_queue *q = calloc(1, sizeof(*q));

	CHECK_NOT_NULL(q);
	KEPT(q);
	q->hsa.id = atomic_fetch_add(&next_queue_id, 1);
	q->hsa.size = size;
	q->hsa.type = HSA_QUEUE_TYPE_MULTI;
	q->hw_size = hw_size;
	q->hw = map(hw_size * sizeof(*q->hw));
	q->hsa.base_address = q->hw;
	pthread_mutex_init(&q->lock, NULL);
	return q;
}

static hsa_status_t real_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				      void (*callback)(hsa_status_t, hsa_queue_t *, void *),
				      void *data, uint32_t private_size, uint32_t group_size,
				      hsa_queue_t **out)
{
	struct fake_queue *q;

	(void)agent;
	(void)type;
	(void)private_size;
	(void)group_size;
	if (size & (size - 1) || size == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	q = make_queue(size < 64 ? 64 : size, FAKE_HW_SIZE);
	q->error = callback;
	q->error_data = data;
	*out = &q->hsa;
	atomic_fetch_add(&fake.nr_plain_queues, 1);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				     void (*callback)(hsa_status_t, hsa_queue_t *, void *),
				     void *data, uint32_t private_size, uint32_t group_size,
				     hsa_queue_t **out)
{
	hsa_status_t status;

	if (fake.refuse_intercept)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status =
		real_queue_create(agent, size, type, callback, data, private_size, group_size, out);
	if (status == HSA_STATUS_SUCCESS)
		atomic_fetch_sub(&fake.nr_plain_queues, 1);
	return status;
}

static hsa_status_t intercept_register(hsa_queue_t *queue, hsa_amd_queue_intercept_handler handler,
				       void *data)
{
	struct fake_queue *q = (struct fake_queue *)(void *)queue;

	if (fake.refuse_register)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	q->handler = handler;
	q->handler_data = data;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_queue_destroy(hsa_queue_t *queue)
{
	struct fake_queue *q = (struct fake_queue *)(void *)queue;

	if (fake.refuse_destroy)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	CHECK(!atomic_exchange(&q->destroyed, true));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_queue_inactivate(hsa_queue_t *queue)
{
	atomic_store(&((struct fake_queue *)(void *)queue)->dead, true);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_set_profiler(hsa_queue_t *queue, int enable)
{
	atomic_store(&((struct fake_queue *)(void *)queue)->profiled, enable != 0);
	return HSA_STATUS_SUCCESS;
}

static uint64_t load_write_index(const hsa_queue_t *queue)
{
	const struct fake_queue *q = (const struct fake_queue *)(const void *)queue;

	if (atomic_load(&q->reserved) > q->user_index)
		return atomic_load(&q->reserved);
	return q->handler ? q->user_index : atomic_load(&q->write);
}

static uint64_t real_add(const hsa_queue_t *queue, uint64_t n)
{
	struct fake_queue *q = (struct fake_queue *)(uintptr_t)queue;

	return atomic_fetch_add(&q->reserved, n);
}

static uint64_t real_cas(const hsa_queue_t *queue, uint64_t expected, uint64_t value)
{
	struct fake_queue *q = (struct fake_queue *)(uintptr_t)queue;

	atomic_compare_exchange_strong(&q->reserved, &expected, value);
	return expected;
}

static void real_store(const hsa_queue_t *queue, uint64_t value)
{
	atomic_store(&((struct fake_queue *)(uintptr_t)queue)->reserved, value);
}

uint64_t fake_reserve(struct fake_queue *q, uint64_t n)
{
	return ((hsa_queue_add_write_index_screlease_fn_t)
			fake.core.entry[HSA_CORE_queue_add_write_index_screlease])(&q->hsa, n);
}

void fake_reserve_cas(struct fake_queue *q, uint64_t expected, uint64_t value)
{
	((hsa_queue_cas_write_index_relaxed_fn_t)
		 fake.core.entry[HSA_CORE_queue_cas_write_index_relaxed])(&q->hsa, expected, value);
}

void fake_reserve_store(struct fake_queue *q, uint64_t value)
{
	((hsa_queue_store_write_index_screlease_fn_t)
		 fake.core.entry[HSA_CORE_queue_store_write_index_screlease])(&q->hsa, value);
}

/* The runtime's own queues: their packets are taken as soon as they are written. */
static uint64_t load_read_index(const hsa_queue_t *queue)
{
	return load_write_index(queue);
}

struct fake_queue *fake_queue_create(uint32_t size)
{
	hsa_queue_create_fn_t fn = (hsa_queue_create_fn_t)fake.core.entry[7];
	hsa_queue_t *queue = NULL;

	CHECK_EQ_INT(fn(fake_agent(1), size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue),
		     HSA_STATUS_SUCCESS);
	CHECK_NOT_NULL(queue);
	return (struct fake_queue *)(void *)queue;
}

void fake_queue_destroy(struct fake_queue *q)
{
	hsa_queue_destroy_fn_t fn = (hsa_queue_destroy_fn_t)fake.core.entry[9];

	CHECK_EQ_INT(fn(&q->hsa), HSA_STATUS_SUCCESS);
}

union fake_packet fake_dispatch(uint32_t id, hsa_signal_t completion)
{
	union fake_packet p;

	memset(&p, 0, sizeof(p));
	p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
		   1 << HSA_PACKET_HEADER_BARRIER |
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	p.dispatch.setup = 1;
	p.dispatch.grid_size_x = id;
	p.dispatch.grid_size_y = 2;
	p.dispatch.grid_size_z = 3;
	p.dispatch.workgroup_size_x = 64;
	p.dispatch.workgroup_size_y = 4;
	p.dispatch.workgroup_size_z = 5;
	p.dispatch.private_segment_size = 16;
	p.dispatch.group_segment_size = 32;
	p.dispatch.kernel_object = 0x4000;
	p.dispatch.completion_signal = completion;
	return p;
}

union fake_packet fake_barrier(hsa_signal_t dep, hsa_signal_t completion)
{
	union fake_packet p;

	memset(&p, 0, sizeof(p));
	p.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
	p.barrier.dep_signal[0] = dep;
	p.barrier.completion_signal = completion;
	return p;
}

void fake_submit(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	pthread_mutex_lock(&q->lock);
	if (q->handler) {
		uint64_t index = q->user_index;

		writing = q;
		q->nr_writes = 0;
		q->user_index += n;
		q->handler(packets, n, index, q->handler_data, writer);
		writing = NULL;
		q->nr_callbacks++;
		if (!atomic_load(&q->dead) && !atomic_load(&q->destroyed))
			CHECK_EQ_UINT(q->nr_writes, 1);
	} else {
		to_ring(q, packets, n);
	}
	pthread_mutex_unlock(&q->lock);
}

void fake_submit_dispatch(struct fake_queue *q, uint32_t id)
{
	union fake_packet p = fake_dispatch(id, (hsa_signal_t){ 0 });

	fake_submit(q, &p, 1);
}

struct fake_queue *fake_runtime_queue(uint32_t size)
{
	struct fake_queue *q = make_queue(size, size);

	fake.rtqueue = q;
	if (fake.rtqueue_notifier)
		fake.rtqueue_notifier(&q->hsa, fake_agent(1), NULL);
	return q;
}

void fake_runtime_dispatch(struct fake_queue *q, uint32_t id, hsa_signal_t completion, bool run)
{
	union fake_packet p = fake_dispatch(id, completion);
	uint64_t write = atomic_load(&q->write);

	*fake_hw(q, write) = p;
	fake_hw(q, write)->header = HSA_PACKET_TYPE_INVALID; /* as the packet processor leaves it */
	atomic_store_explicit(&q->write, write + 1, memory_order_release);
	if (run)
		complete(q, completion, fake_begin_ticks(id), fake_end_ticks(id));
}

static hsa_status_t queue_create_register(hsa_amd_runtime_queue_notifier fn, void *data)
{
	(void)data;
	fake.rtqueue_notifier = fn;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t register_system_event_handler(hsa_amd_system_event_callback_t fn, void *data)
{
	(void)data;
	fake.fault_handler = fn;
	return HSA_STATUS_SUCCESS;
}

/* ---- copies --------------------------------------------------------------------------------- */

void fake_copy_complete(hsa_signal_t s, uint64_t begin_ticks, uint64_t end_ticks)
{
	struct signal *sig = signal_check(s);

	atomic_store(&sig->copy_begin, begin_ticks);
	atomic_store(&sig->copy_end, end_ticks);
	atomic_store(&sig->copying, false);
	__atomic_fetch_sub(&sig->amd.value, 1, __ATOMIC_RELEASE);
}

static hsa_status_t real_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
				    hsa_agent_t src_agent, size_t size, uint32_t nr,
				    const hsa_signal_t *deps, hsa_signal_t s)
{
	struct signal *sig = signal_check(s);

	(void)dst;
	(void)dst_agent;
	(void)src;
	(void)src_agent;
	(void)nr;
	(void)deps;
	if (fake.refuse_copy)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	atomic_store(&sig->copy_begin, 0);
	atomic_store(&sig->copy_end, 0);
	atomic_store(&sig->copying, true);
	if (fake.copy_by_kernel) {
		atomic_store(&sig->copying, false);
		fake_runtime_dispatch(fake.rtqueue, (uint32_t)size, s, fake.copy_at_once);
	} else if (fake.copy_at_once) {
		fake_copy_complete(s, fake_begin_ticks((uint32_t)size),
				   fake_end_ticks((uint32_t)size));
	}
	if (fake.in_copy)
		fake.in_copy();
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				   hsa_agent_t src_agent, size_t size, uint32_t nr,
				   const hsa_signal_t *deps, hsa_signal_t s, int engine, bool force)
{
	(void)engine;
	(void)force;
	return real_async_copy(dst, dst_agent, src, src_agent, size, nr, deps, s);
}

static hsa_status_t real_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
			      const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
			      const hsa_dim3_t *range, hsa_agent_t agent,
			      hsa_amd_copy_direction_t dir, uint32_t nr, const hsa_signal_t *deps,
			      hsa_signal_t s)
{
	(void)dst_offset;
	(void)src_offset;
	(void)dir;
	return real_async_copy(dst->base, agent, src->base, agent, range->x, nr, deps, s);
}

static hsa_status_t real_memory_copy(void *dst, const void *src, size_t size)
{
	memmove(dst, src, size);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_memory_fill(void *ptr, uint32_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((uint32_t *)ptr)[i] = value;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_enable(bool enable)
{
	(void)enable;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t convert_tick(hsa_agent_t agent, uint64_t ticks, uint64_t *ns)
{
	if (agent.handle != AGENT_BASE + 1 && agent.handle != AGENT_BASE + 2)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	*ns = fake_ticks_to_ns(ticks);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_time(hsa_signal_t s, hsa_amd_profiling_async_copy_time_t *time)
{
	struct signal *sig = signal_check(s);
	uint64_t begin = atomic_load(&sig->copy_begin), end = atomic_load(&sig->copy_end);

	if (atomic_load(&sig->copying))
		atomic_fetch_add(&fake.nr_early_times, 1);
	if (!end) {
		begin = __atomic_load_n(&sig->amd.start_ts, __ATOMIC_RELAXED);
		end = __atomic_load_n(&sig->amd.end_ts, __ATOMIC_ACQUIRE);
	}
	time->start = fake_ticks_to_ns(begin);
	time->end = fake_ticks_to_ns(end);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t dispatch_time(hsa_agent_t agent, hsa_signal_t s,
				  hsa_amd_profiling_dispatch_time_t *time)
{
	struct signal *sig = signal_check(s);

	(void)agent;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	time->start = fake_ticks_to_ns(__atomic_load_n(&sig->amd.start_ts, __ATOMIC_RELAXED));
	time->end = fake_ticks_to_ns(__atomic_load_n(&sig->amd.end_ts, __ATOMIC_ACQUIRE));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t fake_copy(uint64_t bytes, hsa_signal_t completion)
{
	hsa_amd_memory_async_copy_fn_t fn =
		(hsa_amd_memory_async_copy_fn_t)*hsa_table_amd_slot(&fake.amd,
								    HSA_AMD_memory_async_copy);

	return fn((void *)0x1000, fake_agent(0), (const void *)0x2000, fake_agent(1), bytes, 0,
		  NULL, completion);
}

/* ---- agents and facts ----------------------------------------------------------------------- */

hsa_agent_t fake_agent(unsigned index)
{
	return (hsa_agent_t){ AGENT_BASE + index };
}

static hsa_status_t iterate_agents(hsa_status_t (*fn)(hsa_agent_t, void *), void *data)
{
	for (unsigned i = 0; i < FAKE_NR_AGENTS; i++)
		if (fn(fake_agent(i), data) != HSA_STATUS_SUCCESS)
			return HSA_STATUS_ERROR;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
	uint32_t i = (uint32_t)(agent.handle - AGENT_BASE);

	switch ((uint32_t)what) {
	case HSA_AGENT_INFO_DEVICE:
		*(hsa_device_type_t *)value = i ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
		break;
	case HSA_AGENT_INFO_NAME:
	case HSA_AGENT_INFO_VENDOR_NAME:
		snprintf(value, 64, "%s", i ? "gfx900" : "CPU");
		break;
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		snprintf(value, 64, "Product %u", i);
		break;
	case HSA_AMD_AGENT_INFO_UUID:
		snprintf(value, 21, "GPU-%u", i);
		break;
	case HSA_AMD_AGENT_INFO_BDFID:
		*(uint32_t *)value = i << 8;
		break;
	case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
		*(uint32_t *)value = i;
		break;
	default:
		*(uint32_t *)value = 4;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_get_info(hsa_system_info_t what, void *value)
{
	if (what == HSA_SYSTEM_INFO_TIMESTAMP)
		*(uint64_t *)value = clock_read_ns(CLOCK_BOOTTIME);
	else if (what == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
		*(uint64_t *)value = 1000000000;
	else
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t status_string(hsa_status_t status, const char **text)
{
	*text = status == HSA_STATUS_ERROR_EXCEPTION ? "AN EXCEPTION" : "?";
	return HSA_STATUS_SUCCESS;
}

/* ---- executables ----------------------------------------------------------------------------- */

hsa_executable_t fake_executable(const struct fake_symbol *symbols, unsigned nr)
{
	CHECK_LT_UINT(nr_executables, sizeof(executables) / sizeof(executables[0]));
	executables[nr_executables] = (struct executable){ symbols, nr };
	return (hsa_executable_t){ (uint64_t)(uintptr_t)&executables[nr_executables++] };
}

static hsa_status_t executable_freeze(hsa_executable_t ex, const char *options)
{
	(void)ex;
	(void)options;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t executable_destroy(hsa_executable_t ex)
{
	(void)ex;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t
iterate_symbols(hsa_executable_t ex,
		hsa_status_t (*fn)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
	const struct executable *e = (const struct executable *)(uintptr_t)ex.handle;

	for (unsigned i = 0; i < e->nr; i++)
		fn(ex, (hsa_executable_symbol_t){ (uint64_t)(uintptr_t)&e->symbols[i] }, data);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_get_info(hsa_executable_symbol_t sym, hsa_executable_symbol_info_t what,
				    void *value)
{
	const struct fake_symbol *s = (const struct fake_symbol *)(uintptr_t)sym.handle;

	switch ((uint32_t)what) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		*(hsa_symbol_kind_t *)value = s->object ? HSA_SYMBOL_KIND_KERNEL :
							  HSA_SYMBOL_KIND_VARIABLE;
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		*(uint64_t *)value = s->object;
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		*(hsa_agent_t *)value = fake_agent(s->agent);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		*(uint32_t *)value = (uint32_t)strlen(s->name);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
		memcpy(value, s->name, strlen(s->name)); /* without a NUL, as the runtime's */
		break;
	default:
		*(uint32_t *)value = 8;
	}
	return HSA_STATUS_SUCCESS;
}

static const uint32_t descriptor[16] = { 512, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x33, 0x11, 0x22 };

static hsa_status_t query_host_address(const void *device, const void **host)
{
	(void)device;
	*host = descriptor;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t
iterate_objects(hsa_executable_t ex,
		hsa_status_t (*fn)(hsa_executable_t, hsa_loaded_code_object_t, void *), void *data)
{
	return fn(ex, (hsa_loaded_code_object_t){ ex.handle }, data);
}

static hsa_status_t object_get_info(hsa_loaded_code_object_t o,
				    hsa_ven_amd_loader_loaded_code_object_info_t what, void *value)
{
	static const char uri[] = "file:///a.co";

	switch ((uint32_t)what) {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
		*(hsa_agent_t *)value = fake_agent(1);
		break;
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
		*(uint32_t *)value = sizeof(uri) - 1;
		break;
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
		memcpy(value, uri, sizeof(uri) - 1);
		break;
	default:
		*(uint64_t *)value = o.handle;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_extension_table(uint16_t extension, uint16_t major, size_t size, void *out)
{
	hsa_ven_amd_loader_1_01_pfn_t table;

	(void)major;
	CHECK_EQ_INT(extension, HSA_EXTENSION_AMD_LOADER);
	memset(&table, 0, sizeof(table));
	table.hsa_ven_amd_loader_query_host_address = query_host_address;
	table.hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_objects;
	table.hsa_ven_amd_loader_loaded_code_object_get_info = object_get_info;
	memcpy(out, &table, size < sizeof(table) ? size : sizeof(table));
	return HSA_STATUS_SUCCESS;
}

/* ---- tables --------------------------------------------------------------------------------- */

void *fake_stranger(unsigned index)
{
	return (void *)(uintptr_t)(FIRST_STRANGER + 16 * index);
}

/* Where an entry of ROCm 5.2.3 is in a table of `nr` entries: from 5.6 on two were put in front of
 * the 17th. */
static unsigned place(unsigned index, unsigned nr)
{
	return index >= 16 && nr >= 55 ? index + 2 : index;
}

static void fill_amd(unsigned nr)
{
	const struct {
		unsigned index;
		void *fn;
	} fns[] = {
		{ 2, (void *)real_set_profiler },
		{ 3, (void *)copy_enable },
		{ 4, (void *)dispatch_time },
		{ 5, (void *)copy_time },
		{ 6, (void *)convert_tick },
		{ 15, (void *)real_async_copy },
		{ 22, (void *)real_memory_fill },
		{ 31, (void *)amd_signal_create },
		{ 34, (void *)register_system_event_handler },
		{ 35, (void *)intercept_create },
		{ 36, (void *)intercept_register },
		{ 38, (void *)real_rect },
		{ 39, (void *)queue_create_register },
	};

	for (unsigned i = 0; i < FAKE_MAX_AMD; i++)
		fake.amd.entry[i] = fake_stranger(1000 + i);
	for (unsigned i = 0; i < sizeof(fns) / sizeof(fns[0]); i++)
		fake.amd.entry[place(fns[i].index, nr)] = fns[i].fn;
	if (nr >= 55)
		fake.amd.entry[16] = (void *)real_on_engine;
	fake.amd.version.major_id = nr >= 67 ? 2 : 1;
	fake.amd.version.minor_id = 16 + 8 * nr;
}

static void fill_core(void)
{
	const struct {
		unsigned index;
		void *fn;
	} fns[] = {
		{ 2, (void *)system_get_info },	     { 5, (void *)iterate_agents },
		{ 6, (void *)agent_get_info },	     { 7, (void *)real_queue_create },
		{ 9, (void *)real_queue_destroy },   { 10, (void *)real_queue_inactivate },
		{ 11, (void *)load_read_index },     { 13, (void *)load_write_index },
		{ 14, (void *)load_write_index },    { 35, (void *)real_memory_copy },
		{ 38, (void *)real_signal_destroy }, { 84, (void *)executable_destroy },
		{ 86, (void *)executable_freeze },   { 93, (void *)symbol_get_info },
		{ 94, (void *)iterate_symbols },     { 95, (void *)status_string },
		{ 98, (void *)get_extension_table },
	};

	for (unsigned i = 0; i < HSA_CORE_NR; i++)
		fake.core.entry[i] = fake_stranger(i);
	for (unsigned i = 0; i < sizeof(fns) / sizeof(fns[0]); i++)
		fake.core.entry[fns[i].index] = fns[i].fn;
	fake.core.entry[HSA_CORE_queue_add_write_index_screlease] = (void *)real_add;
	fake.core.entry[HSA_CORE_queue_cas_write_index_relaxed] = (void *)real_cas;
	fake.core.entry[HSA_CORE_queue_store_write_index_screlease] = (void *)real_store;
	fake.core.version.major_id = 1;
	fake.core.version.minor_id = 16 + 8 * 125;
}

void fake_build_tables(unsigned nr_amd)
{
	fill_core();
	fill_amd(nr_amd);
	memset(&fake.root, 0, sizeof(fake.root));
	fake.root.version.major_id = nr_amd >= 68 ? 3 : nr_amd >= 67 ? 2 : 1;
	fake.root.version.minor_id = nr_amd >= 70 ? 64 : nr_amd >= 68 ? 56 : 48;
	fake.root.core = &fake.core;
	fake.root.amd_ext = &fake.amd;
}

void fake_setup(const char *mode)
{
	setenv("RTL_MODE", mode ? mode : "standard", 1);
	env_init();
	log_init();
	sink_record_open();
}

void fake_open(const char *mode, unsigned nr_amd)
{
	fake_setup(mode);
	fake_build_tables(nr_amd ? nr_amd : 48);
	CHECK(table_load(&fake.root));
}

void fake_open_live(const char *mode, unsigned nr_amd)
{
	static const struct source *const sources[] = { &harvest_source, NULL };
	static const struct sink *const sinks[] = { &sink_record, NULL };

	setenv("RTL_MODE", mode ? mode : "standard", 1);
	life_init(sources, sinks);
	CHECK(life_start());
	fake_build_tables(nr_amd ? nr_amd : 48);
	CHECK(table_load(&fake.root));
}

void fake_tick(unsigned ms)
{
	static uint64_t now_ns;

	if (!now_ns)
		now_ns = clock_now_ns();
	now_ns += ms * UINT64_C(1000000);
	harvest_source.tick(now_ns);
}

void fake_harvest(void)
{
	for (int i = 0; i < 6; i++)
		fake_tick(25);
}
