/* SPDX-License-Identifier: MIT */
/* fake_queue.c - the fake runtime's queues, the programs that use them, and the GPU
 *
 * Owns:    the queues. Their memory is kept, or reused by the next one where a test sets
 *          `fake.reuse`.
 * Threads: as the runtime's; fake_gpu_*() one thread for each of the program's queues.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/life.h"
#include "support/fake_parts.h"
#include "support/test.h"

#define MAX_OWN 4096u
#define MAX_HANDLES 4096u

/* The program's handle of a counted queue. Behind the hsa_queue_t its memory is private to the
 * runtime. */
struct handle {
	amd_queue_t amd; /* must be first */
	_Atomic bool alive;
	struct fake_queue *queue;
};

static _Thread_local struct fake_queue *writing;
static _Atomic uint64_t next_queue_id = 1;
static struct fake_queue *_Atomic own[MAX_OWN];
static _Atomic unsigned nr_own;
static struct handle handles[MAX_HANDLES];
static _Atomic unsigned nr_handles;
static pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uint64_t *write_index(const struct fake_queue *q)
{
	return (_Atomic uint64_t *)(uintptr_t)&q->amd.write_dispatch_id;
}

static _Atomic uint64_t *read_index(const struct fake_queue *q)
{
	return (_Atomic uint64_t *)(uintptr_t)&q->amd.read_dispatch_id;
}

static uint16_t header_of(const union fake_packet *p)
{
	return __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);
}

static bool is_valid(const union fake_packet *p)
{
	return packet_type(header_of(p)) != HSA_PACKET_TYPE_INVALID;
}

static void make_invalid(union fake_packet *p)
{
	__atomic_store_n(&p->header, HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE,
			 __ATOMIC_RELEASE);
}

/* The slot of packet `index`. */
static union fake_packet *slot_of(const struct fake_queue *q, uint64_t index)
{
	return &q->hw[index % q->hw_size];
}

/* ---- the hardware's ring --------------------------------------------------------------------- */

static bool has_doorbell(const struct fake_queue *q)
{
	return q->kind == FAKE_PLAIN;
}

static void check_ring(const struct fake_queue *q, uint64_t end)
{
	uint64_t was = atomic_load(&q->announced), read = atomic_load(q->read);

	CHECK_MSG(end == atomic_load(q->write), "the doorbell says %llu, the write index is %llu",
		  (unsigned long long)end - 1, (unsigned long long)atomic_load(q->write));
	CHECK_MSG(end >= was, "the doorbell goes back from %llu to %llu",
		  (unsigned long long)was - 1, (unsigned long long)end - 1);
	CHECK_MSG(end <= read + q->hsa.size, "%llu packets in a ring of %u",
		  (unsigned long long)(end - read), q->hsa.size);
	for (uint64_t i = was > read ? was : read; i < end; i++)
		CHECK_MSG(is_valid(slot_of(q, i)) || atomic_load(q->read) > i,
			  "packet %llu was announced and is not valid", (unsigned long long)i);
}

void fake_gets_work(void)
{
	CHECK(!fake.wake_first || atomic_load(&life_sleeping) != LIFE_DEEP);
}

void fake_queue_rang(struct fake_queue *q, int64_t value, enum hsa_core_id how)
{
	uint64_t end = (uint64_t)value + 1, was = atomic_load(&q->announced);
	uint64_t n = atomic_load(&q->nr_rings);

	CHECK(!atomic_load(&q->destroyed));
	fake_gets_work();
	q->rings[n % FAKE_NR_RINGS] = (struct fake_ring){ value, how };
	atomic_store(&q->nr_rings, n + 1);
	if (!q->lax)
		check_ring(q, end);
	while (was < end && !atomic_compare_exchange_weak(&q->announced, &was, end))
		;
}

struct fake_ring fake_ring_at(struct fake_queue *q, uint64_t i)
{
	uint64_t n = atomic_load(&q->nr_rings);

	CHECK_LT_UINT(i, n);
	CHECK_LE_UINT(n - i, FAKE_NR_RINGS);
	return q->rings[i % FAKE_NR_RINGS];
}

static void to_ring(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	uint64_t write = atomic_load(q->write), read = atomic_load(q->read);

	/* Submit() of ROCr 5.2.3 needs more free slots than packets, or it corrupts the ring. */
	if (!fake.staging && q->hsa.size - (write - read) <= n)
		FAIL("the ring overflows: %llu of %u are used, %llu more come",
		     (unsigned long long)(write - read), q->hsa.size, (unsigned long long)n);
	CHECK_LT_UINT(write - read + n, q->hw_size);
	for (uint64_t i = 0; i < n; i++)
		*slot_of(q, write + i) = packets[i];
	atomic_store_explicit(q->write, write + n, memory_order_release);
}

static void writer(const void *packets, uint64_t n)
{
	CHECK_NOT_NULL(writing);
	fake_gets_work();
	writing->nr_writes++;
	to_ring(writing, packets, n);
}

union fake_packet *fake_hw(struct fake_queue *q, uint64_t hw)
{
	if (q->taken && hw < atomic_load(q->read))
		return &q->taken[hw % FAKE_LOG_SIZE];
	return slot_of(q, hw);
}

static uint64_t end_of_ring(struct fake_queue *q)
{
	return has_doorbell(q) ? atomic_load_explicit(&q->announced, memory_order_acquire) :
				 atomic_load_explicit(q->write, memory_order_acquire);
}

uint64_t fake_in_ring(struct fake_queue *q)
{
	return end_of_ring(q) - atomic_load(q->read);
}

/* ---- the GPU --------------------------------------------------------------------------------- */

uint64_t fake_begin_ticks(uint32_t id)
{
	return FAKE_TICKS_BASE + 64 * (uint64_t)id;
}

uint64_t fake_end_ticks(uint32_t id)
{
	return fake_begin_ticks(id) + 3 + id % 32;
}

uint64_t fake_ticks_to_ns(uint64_t ticks)
{
	return 10 * ticks + 12345;
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
	return packet_type(p->header) != HSA_PACKET_TYPE_BARRIER_AND ||
	       barrier_is_open(&p->barrier);
}

static void run_packet(struct fake_queue *q, const union fake_packet *p, uint64_t hw)
{
	uint64_t odd = FAKE_TICKS_BASE / 2 + 2 * hw + 1;
	uint32_t id = p->dispatch.grid_size_x;

	if (packet_type(p->header) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
	    p->ext.amd_format == PACKET_AMD_EXT_DISPATCH)
		id = p->ext.cluster_count_x;
	else if (packet_type(p->header) != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		fake_signal_complete(q, p->barrier.completion_signal, odd, odd + 1);
		return;
	}
	fake_signal_complete(q, p->dispatch.completion_signal, fake_begin_ticks(id),
			     fake_end_ticks(id));
}

/* Copies the next announced packet to `p`. false: none. */
static bool look_at_next(struct fake_queue *q, union fake_packet *p)
{
	uint64_t read = atomic_load(q->read);

	if (read >= end_of_ring(q))
		return false;
	if (has_doorbell(q) && !q->lax) {
		CHECK_MSG(is_valid(slot_of(q, read)), "packet %llu was announced and is not valid",
			  (unsigned long long)read);
		/* a reader of the write index alone sees the packet, too */
		CHECK_GT_UINT(atomic_load(q->write), read);
	}
	memcpy(p, slot_of(q, read), sizeof(*p));
	return true;
}

/* Frees the slot of `p`. */
static void take_next(struct fake_queue *q, const union fake_packet *p)
{
	uint64_t read = atomic_load(q->read);

	if (q->taken)
		q->taken[read % FAKE_LOG_SIZE] = *p;
	if (q->kind == FAKE_PLAIN)
		make_invalid(slot_of(q, read));
	atomic_store_explicit(q->read, read + 1, memory_order_release);
}

static uint64_t run_queue(struct fake_queue *q, uint64_t n)
{
	union fake_packet p;

	for (uint64_t i = 0; i < n; i++) {
		if (!look_at_next(q, &p) || !may_run(&p))
			return i;
		run_packet(q, &p, atomic_load(q->read));
		/* after the signal: completion does not mean that the slot is free */
		take_next(q, &p);
	}
	return n;
}

void fake_gpu_run_ours(void)
{
	unsigned n = atomic_load(&nr_own);

	for (unsigned i = 0; i < n && !fake.hold_ours; i++) {
		struct fake_queue *q = atomic_load(&own[i]);

		/* another thread runs it, or it is being destroyed */
		if (!q || atomic_load(&q->destroyed) || pthread_mutex_trylock(&q->gpu) != 0)
			continue;
		if (!atomic_load(&q->destroyed))
			run_queue(q, UINT64_MAX);
		pthread_mutex_unlock(&q->gpu);
	}
}

uint64_t fake_gpu_run(struct fake_queue *q, uint64_t n)
{
	uint64_t done = run_queue(q, n);

	fake_gpu_run_ours();
	return done;
}

void fake_gpu_launch(struct fake_queue *q, uint64_t n)
{
	union fake_packet p;

	CHECK_LE_UINT(n, fake_in_ring(q));
	for (uint64_t i = 0; i < n && look_at_next(q, &p); i++)
		take_next(q, &p);
}

void fake_gpu_complete(struct fake_queue *q, uint64_t hw)
{
	CHECK_LT_UINT(hw, atomic_load(q->read));
	run_packet(q, fake_hw(q, hw), hw);
}

/* Includes packets outside of the hardware's ring, which the harvester may submit later. */
static bool has_run_all(struct fake_queue *q)
{
	return !fake_in_ring(q) && FAKE_CORE(queue_load_read_index_scacquire)(&q->hsa) >=
					   FAKE_CORE(queue_load_write_index_relaxed)(&q->hsa);
}

static void *run_gpu(void *arg)
{
	struct fake_gpu *g = arg;

	while (!atomic_load(&g->stop) || !has_run_all(g->q)) {
		uint64_t n = fake_gpu_run(g->q, g->stretch ? g->stretch : 64);

		g->nr_run += n;
		if (g->pause_us || !n)
			usleep(g->pause_us ? g->pause_us : 50);
	}
	return NULL;
}

void fake_gpu_start(struct fake_gpu *g)
{
	atomic_store(&g->stop, false);
	CHECK_OK(pthread_create(&g->thread, NULL, run_gpu, g));
}

void fake_gpu_stop(struct fake_gpu *g)
{
	atomic_store(&g->stop, true);
	CHECK_OK(pthread_join(g->thread, NULL));
	fake_gpu_run_ours();
}

struct fake_queue *fake_own_queue(unsigned i)
{
	CHECK_LT_UINT(i, atomic_load(&nr_own));
	return atomic_load(&own[i]);
}

/* ---- queues ---------------------------------------------------------------------------------- */

void *fake_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Resets a queue to its state after creation. */
static void reset_queue(struct fake_queue *q)
{
	atomic_store(q->write, 0);
	atomic_store(q->read, 0);
	atomic_store(&q->announced, 0);
	atomic_store(&q->nr_rings, 0);
	for (uint64_t i = 0; q->kind == FAKE_PLAIN && i < q->hw_size; i++)
		make_invalid(&q->hw[i]);
	q->hsa.id = atomic_fetch_add(&next_queue_id, 1);
	q->lax = false;
	q->nr_refs = 1;
	atomic_store(&q->profiled, false);
	atomic_store(&q->dead, false);
	atomic_store(&q->destroyed, false);
}

static struct fake_queue *make_queue(enum fake_kind kind, uint32_t size)
{
	struct fake_queue *q = aligned_alloc(64, (sizeof(*q) + 63) / 64 * 64);

	CHECK_NOT_NULL(q);
	FAKE_KEPT(q);
	memset(q, 0, sizeof(*q));
	q->kind = kind;
	q->hsa.size = size;
	q->hsa.type = HSA_QUEUE_TYPE_MULTI;
	q->hsa.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	q->hw_size = kind == FAKE_INTERCEPTED ? FAKE_LOG_SIZE : size;
	q->hw = fake_memory(q->hw_size * sizeof(*q->hw));
	q->hsa.base_address = q->hw;
	q->write = kind == FAKE_INTERCEPTED ? &q->hw_write : write_index(q);
	q->read = kind == FAKE_INTERCEPTED ? &q->hw_read : read_index(q);
	if (kind == FAKE_PLAIN)
		q->taken = fake_memory(FAKE_LOG_SIZE * sizeof(*q->taken));
	/* an intercepted queue's doorbell is an ordinary signal that the runtime polls */
	q->hsa.doorbell_signal = kind != FAKE_PLAIN ?
					 fake_signal(0) :
					 fake_signal_make(fake.soft ? AMD_SIGNAL_KIND_USER :
								      AMD_SIGNAL_KIND_DOORBELL,
							  0, q);
	pthread_mutex_init(&q->lock, NULL);
	pthread_mutex_init(&q->gpu, NULL);
	reset_queue(q);
	q->lax = fake.soft;
	return q;
}

static struct fake_queue *queue_of(const hsa_queue_t *hsa)
{
	const struct handle *h = (const struct handle *)(const void *)hsa;

	if (h < handles || h >= handles + MAX_HANDLES)
		return (struct fake_queue *)(uintptr_t)hsa;
	CHECK_MSG(atomic_load(&h->alive),
		  "the handle of a counted queue is used after its release");
	return h->queue;
}

static void saw_index(const hsa_queue_t *hsa)
{
	if (fake.in_index)
		fake.in_index(hsa);
	/* the hardware makes progress during each read, not only when a test runs a queue */
	if (queue_of(hsa)->is_ours)
		fake_gpu_run_ours();
}

static struct fake_queue *reuse_or_make(uint32_t size)
{
	struct fake_queue *q = fake.reuse;

	if (!q)
		return make_queue(FAKE_PLAIN, size);
	CHECK(atomic_load(&q->destroyed));
	CHECK_EQ_UINT(q->hsa.size, size);
	fake.reuse = NULL;
	reset_queue(q);
	return q;
}

/* For the program, or for librtl itself. */
static struct fake_queue *make_plain(uint32_t size, bool is_ours)
{
	struct fake_queue *q = is_ours ? make_queue(FAKE_PLAIN, size) : reuse_or_make(size);
	unsigned n;

	q->is_ours = is_ours;
	if (is_ours) {
		n = atomic_fetch_add(&nr_own, 1);
		CHECK_LT_UINT(n, MAX_OWN);
		atomic_store(&own[n], q);
	}
	atomic_fetch_add(is_ours ? &fake.nr_own_queues : &fake.nr_plain_queues, 1);
	return q;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
			   uint32_t private_size, uint32_t group_size, hsa_queue_t **out)
{
	bool is_ours = private_size == UINT32_MAX;
	struct fake_queue *q;

	(void)agent;
	(void)group_size;
	if (size & (size - 1) || size == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (is_ours && fake.refuse_ours)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (type == HSA_QUEUE_TYPE_COOPERATIVE && fake.cooperative) {
		fake.cooperative->nr_refs++;
		*out = &fake.cooperative->hsa;
		return HSA_STATUS_SUCCESS;
	}
	q = make_plain(size < 64 ? 64 : size, is_ours);
	if (type == HSA_QUEUE_TYPE_COOPERATIVE)
		fake.cooperative = q;
	q->hsa.type = type;
	q->error = callback;
	q->error_data = data;
	*out = &q->hsa;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				     void (*callback)(hsa_status_t, hsa_queue_t *, void *),
				     void *data, uint32_t private_size, uint32_t group_size,
				     hsa_queue_t **out)
{
	struct fake_queue *q;

	(void)agent;
	(void)private_size;
	(void)group_size;
	if (fake.refuse_intercept)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (size & (size - 1) || size == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	q = make_queue(FAKE_INTERCEPTED, size < 64 ? 64 : size);
	q->hsa.type = type;
	q->error = callback;
	q->error_data = data;
	*out = &q->hsa;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_register(hsa_queue_t *queue, hsa_amd_queue_intercept_handler handler,
				       void *data)
{
	struct fake_queue *q = queue_of(queue);

	if (fake.refuse_register)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	q->handler = handler;
	q->handler_data = data;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy(hsa_queue_t *queue)
{
	struct fake_queue *q = queue_of(queue);

	if (fake.refuse_destroy)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (q->kind == FAKE_UNKNOWN)
		return HSA_STATUS_SUCCESS;
	CHECK(!atomic_load(&q->destroyed));
	if (--q->nr_refs)
		return HSA_STATUS_SUCCESS;
	pthread_mutex_lock(&q->gpu); /* its GPU takes no more packets */
	atomic_store(&q->destroyed, true);
	pthread_mutex_unlock(&q->gpu);
	if (q->is_ours)
		atomic_fetch_sub(&fake.nr_own_queues, 1);
	else if (fake.in_destroy)
		fake.in_destroy(q);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t inactivate(hsa_queue_t *queue)
{
	atomic_store(&queue_of(queue)->dead, true);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t set_profiler(hsa_queue_t *queue, int enable)
{
	atomic_store(&queue_of(queue)->profiled, enable != 0);
	return HSA_STATUS_SUCCESS;
}

/* ---- queues by descriptors ------------------------------------------------------------------- */

static void create_one(struct fake_desc *d)
{
	struct fake_queue *q = make_plain(d->queue_size_bytes / 64, false);

	q->error = d->callback;
	q->error_data = d->callback_data;
	if (d->engine_type == 1) { /* SDMA: bytes, not AQL packets */
		q->hsa.size = d->queue_size_bytes;
		q->hsa.features = 0;
		q->lax = true;
	}
	d->queue = &q->hsa;
}

static hsa_status_t create_described(hsa_agent_t agent, void *descs, uint32_t n)
{
	size_t size = fake.desc_size ? fake.desc_size : sizeof(struct fake_desc);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	(void)agent;
	if (fake.refuse_descs)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	for (uint32_t i = 0; i < n; i++) {
		struct fake_desc *d = (struct fake_desc *)(void *)((char *)descs + i * size);

		if (fake.refuse_desc == i + 1 || (!fake.desc_size && d->version != 1)) {
			d->queue = NULL;
			status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
			continue;
		}
		create_one(d);
		/* members that a later version adds */
		for (size_t at = sizeof(*d); at < size; at++)
			CHECK_EQ_UINT(((unsigned char *)d)[at], 0x5a);
	}
	return status;
}

/* ---- counted queues -------------------------------------------------------------------------- */

static hsa_status_t acquire(hsa_agent_t agent, hsa_queue_type32_t type, int priority,
			    void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
			    uint64_t flags, hsa_queue_t **out)
{
	struct handle *h;
	unsigned n;

	(void)agent;
	(void)type;
	(void)priority;
	(void)flags;
	pthread_mutex_lock(&counted_lock);
	if (!fake.counted) {
		fake.counted = reuse_or_make(FAKE_COUNTED_SIZE);
		fake.counted->error = callback;
		fake.counted->error_data = data;
		atomic_store(&fake.counted->profiled, true);
	}
	pthread_mutex_unlock(&counted_lock);
	n = atomic_fetch_add(&nr_handles, 1);
	CHECK_LT_UINT(n, MAX_HANDLES);
	h = &handles[n];
	memset(&h->amd, 0xa5, sizeof(h->amd));
	h->amd.hsa_queue = fake.counted->hsa;
	h->queue = fake.counted;
	atomic_store(&h->alive, true);
	atomic_fetch_add(&fake.nr_acquired, 1);
	*out = &h->amd.hsa_queue;
	if (fake.in_acquire)
		fake.in_acquire();
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t release(hsa_queue_t *queue)
{
	struct handle *h = (struct handle *)(void *)queue;

	if (fake.refuse_destroy)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	CHECK(h >= handles && h < handles + MAX_HANDLES);
	CHECK(atomic_exchange(&h->alive, false));
	for (size_t at = sizeof(hsa_queue_t); at < sizeof(h->amd); at++)
		CHECK_EQ_UINT(((unsigned char *)&h->amd)[at], 0xa5);
	atomic_fetch_sub(&fake.nr_acquired, 1);
	return HSA_STATUS_SUCCESS;
}

hsa_queue_t *fake_acquire(void)
{
	hsa_queue_t *handle = NULL;

	CHECK_EQ_INT(FAKE_AMD(counted_queue_acquire)(fake_agent(1), HSA_QUEUE_TYPE_MULTI, 0, NULL,
						     NULL, 0, &handle),
		     HSA_STATUS_SUCCESS);
	return handle;
}

void fake_release(hsa_queue_t *handle)
{
	CHECK_EQ_INT(FAKE_AMD(counted_queue_release)(handle), HSA_STATUS_SUCCESS);
}

/* ---- the runtime's functions for indices ----------------------------------------------------- */

#define LOAD(what, order)                                                                          \
	static uint64_t load_##what##_##order(const hsa_queue_t *queue)                            \
	{                                                                                          \
		saw_index(queue);                                                                  \
		return atomic_load(what##_index(queue_of(queue)));                                 \
	}
#define STORE(what, order)                                                                         \
	static void store_##what##_##order(const hsa_queue_t *queue, uint64_t value)               \
	{                                                                                          \
		saw_index(queue);                                                                  \
		atomic_store(what##_index(queue_of(queue)), value);                                \
	}
#define ADD(what, order)                                                                           \
	static uint64_t add_##what##_##order(const hsa_queue_t *queue, uint64_t n)                 \
	{                                                                                          \
		return atomic_fetch_add(what##_index(queue_of(queue)), n);                         \
	}
#define CAS(what, order)                                                                           \
	static uint64_t cas_##what##_##order(const hsa_queue_t *queue, uint64_t expected,          \
					     uint64_t value)                                       \
	{                                                                                          \
		saw_index(queue);                                                                  \
		atomic_compare_exchange_strong(what##_index(queue_of(queue)), &expected, value);   \
		return expected;                                                                   \
	}
#define INDICES(X)                                                                                 \
	X(LOAD, load, read, relaxed)                                                               \
	X(LOAD, load, read, scacquire)                                                             \
	X(LOAD, load, write, relaxed)                                                              \
	X(LOAD, load, write, scacquire)                                                            \
	X(STORE, store, write, relaxed)                                                            \
	X(STORE, store, write, screlease)                                                          \
	X(ADD, add, write, relaxed)                                                                \
	X(ADD, add, write, scacquire)                                                              \
	X(ADD, add, write, screlease)                                                              \
	X(ADD, add, write, scacq_screl)                                                            \
	X(CAS, cas, write, relaxed)                                                                \
	X(CAS, cas, write, scacquire)                                                              \
	X(CAS, cas, write, screlease)                                                              \
	X(CAS, cas, write, scacq_screl)
#define X(DEFINE, op, what, order) DEFINE(what, order)
INDICES(X)
#undef X

static hsa_status_t internal_register(hsa_amd_runtime_queue_notifier fn, void *data)
{
	(void)data;
	fake.internal_notifier = fn;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t pointer_info(const void *p, hsa_amd_pointer_info_t *info,
				 void *(*alloc)(size_t size), uint32_t *nr, hsa_agent_t **agents)
{
	(void)alloc;
	(void)nr;
	(void)agents;
	CHECK_EQ_UINT(info->size, sizeof(*info));
	for (unsigned i = 0; i < fake.nr_memory; i++) {
		const struct fake_memory *m = &fake.memory[i];

		if ((uintptr_t)p - (uintptr_t)m->base >= m->size)
			continue;
		info->type = (hsa_amd_pointer_type_t)m->type;
		info->agentOwner = fake_agent(m->agent);
		return HSA_STATUS_SUCCESS;
	}
	info->type = HSA_EXT_POINTER_TYPE_HSA;
	info->agentOwner = fake_agent(fake.in_device ? 1 : 0);
	return HSA_STATUS_SUCCESS;
}

void fake_queue_fill(unsigned nr)
{
	fake.core.entry[HSA_CORE_queue_create] = (void *)create;
	fake.core.entry[HSA_CORE_queue_destroy] = (void *)destroy;
	fake.core.entry[HSA_CORE_queue_inactivate] = (void *)inactivate;
#define X(DEFINE, op, what, order)                                                                 \
	fake.core.entry[HSA_CORE_queue_##op##_##what##_index_##order] =                            \
		(void *)op##_##what##_##order;
	INDICES(X)
#undef X
	fake_fill_amd(nr, 2, (void *)set_profiler);
	fake_fill_amd(nr, 26, (void *)pointer_info);
	fake_fill_amd(nr, 35, (void *)intercept_create);
	fake_fill_amd(nr, 36, (void *)intercept_register);
	fake_fill_amd(nr, 39, (void *)internal_register);
	if (nr >= 78) {
		fake.amd.entry[76] = (void *)acquire;
		fake.amd.entry[77] = (void *)release;
	}
	if (nr >= 87 && nr != 88) /* one table has other functions there */
		fake.amd.entry[86] = (void *)create_described;
}

/* ---- the program -------------------------------------------------------------------------- */

struct fake_queue *fake_queue_create(uint32_t size)
{
	hsa_queue_t *queue = NULL;

	CHECK_EQ_INT(FAKE_CORE(queue_create)(fake_agent(1), size, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
					     0, 0, &queue),
		     HSA_STATUS_SUCCESS);
	CHECK_NOT_NULL(queue);
	return queue_of(queue);
}

void fake_queue_destroy(struct fake_queue *q)
{
	CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&q->hsa), HSA_STATUS_SUCCESS);
}

uint64_t fake_reserve(struct fake_queue *q, uint64_t n)
{
	return FAKE_CORE(queue_add_write_index_screlease)(&q->hsa, n);
}

uint64_t fake_reserve_cas(struct fake_queue *q, uint64_t expected, uint64_t value)
{
	return FAKE_CORE(queue_cas_write_index_relaxed)(&q->hsa, expected, value);
}

void fake_reserve_store(struct fake_queue *q, uint64_t value)
{
	FAKE_CORE(queue_store_write_index_screlease)(&q->hsa, value);
}

void fake_publish(struct fake_queue *q, uint64_t index, const union fake_packet *p)
{
	union fake_packet *slot = slot_of(q, index);

	CHECK_LT_UINT(index, atomic_load(q->read) + q->hsa.size);
	CHECK(!is_valid(slot));
	memcpy(&slot->bytes[sizeof(slot->header)], &p->bytes[sizeof(p->header)],
	       sizeof(*p) - sizeof(p->header));
	__atomic_store_n(&slot->header, p->header, __ATOMIC_RELEASE);
}

void fake_ring(struct fake_queue *q, uint64_t value)
{
	FAKE_CORE(signal_store_screlease)(q->hsa.doorbell_signal, (hsa_signal_value_t)value);
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

union fake_packet fake_ext_dispatch(uint32_t id, hsa_signal_t completion)
{
	union fake_packet p;

	memset(&p, 0, sizeof(p));
	p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
	p.ext.amd_format = PACKET_AMD_EXT_DISPATCH;
	p.ext.setup = 3;
	p.ext.workgroup_size[0] = p.ext.workgroup_size[1] = p.ext.workgroup_size[2] = 1;
	p.ext.cluster_count_x = id;
	p.ext.cluster_count_y = p.ext.cluster_count_z = 1;
	p.ext.cluster_size[0] = p.ext.cluster_size[1] = p.ext.cluster_size[2] = 1;
	p.ext.private_segment_size = 16;
	p.ext.group_segment_size = 32;
	p.ext.kernel_object = 0x4000;
	p.ext.completion_signal = completion;
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

/* Calls the handler once. */
static void submit_intercepted(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	uint64_t index;

	pthread_mutex_lock(&q->lock);
	index = q->user_index;
	writing = q;
	q->nr_writes = 0;
	q->user_index += n;
	q->handler(packets, n, index, q->handler_data, writer);
	writing = NULL;
	q->nr_callbacks++;
	if (!atomic_load(&q->dead) && !atomic_load(&q->destroyed))
		CHECK_EQ_UINT(q->nr_writes, 1);
	pthread_mutex_unlock(&q->lock);
}

void fake_submit(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	uint64_t index;

	if (q->kind == FAKE_INTERCEPTED) {
		submit_intercepted(q, packets, n);
		return;
	}
	index = fake_reserve(q, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t read = FAKE_CORE(queue_load_read_index_scacquire)(&q->hsa);

		if (i && index + i - read >= q->hsa.size)
			fake_ring(q, index + i - 1);
		while (index + i - read >= q->hsa.size) {
			usleep(20);
			read = FAKE_CORE(queue_load_read_index_scacquire)(&q->hsa);
		}
		fake_publish(q, index + i, &packets[i]);
	}
	fake_ring(q, index + n - 1);
}

void fake_submit_dispatch(struct fake_queue *q, uint32_t id)
{
	union fake_packet p = fake_dispatch(id, (hsa_signal_t){ 0 });

	fake_submit(q, &p, 1);
}

/* ---- actions of the runtime and the GPU ------------------------------------------------------ */

struct fake_queue *fake_internal_queue(uint32_t size)
{
	struct fake_queue *q = make_queue(FAKE_INTERNAL, size);

	fake.internal = q;
	if (fake.internal_notifier)
		fake.internal_notifier(&q->hsa, fake_agent(1), NULL);
	return q;
}

void fake_internal_dispatch(struct fake_queue *q, uint32_t id, hsa_signal_t completion, bool run)
{
	union fake_packet p = fake_dispatch(id, completion);
	uint64_t write = atomic_load(q->write);

	p.header = HSA_PACKET_TYPE_INVALID; /* as the packet processor leaves a free slot */
	*slot_of(q, write) = p;
	atomic_store_explicit(q->write, write + 1, memory_order_release);
	/* the GPU takes its packets as soon as they are written */
	atomic_store_explicit(q->read, write + 1, memory_order_release);
	if (run)
		fake_signal_complete(q, completion, fake_begin_ticks(id), fake_end_ticks(id));
}

void fake_bypass(struct fake_queue *q, const union fake_packet *packets, uint64_t n)
{
	uint64_t index = atomic_fetch_add(q->write, n);

	for (uint64_t i = 0; i < n; i++)
		fake_publish(q, index + i, &packets[i]);
	atomic_store(&q->announced, index + n);
}

void fake_ring_hardware(struct fake_queue *q, uint64_t value)
{
	q->lax = true;
	atomic_store(&q->announced, value + 1);
}

uint64_t fake_write_index(const struct fake_queue *q)
{
	return atomic_load(write_index(q));
}
