/* SPDX-License-Identifier: MIT */
/* buffer.c - librocprofiler-sdk: buffers of records, over those of lib/face
 *
 * An entry is a header of AMD's, whose payload is the record behind it. A tool's function gets all
 * headers of a half at once.
 *
 * A lossless buffer that is full makes a thread wait, 200 ms at most; then it grows. So a tool's
 * function may call what it likes, also what a waiting thread holds up. Records of operations never
 * make a thread wait: it may be the one that collects them. Threads that submit operations wait
 * instead while a buffer has grown by half of its limit, 1 ms each time. Beyond the limit records
 * are dropped, counted for the tool, and reported by a message.
 *
 * Owns:     the buffers, which are never freed; ids are never used again.
 * Threads:  any; a tool's function on the buffer's callback thread alone.
 * Hot path: buffer_put(): one atomic operation, no lock unless the buffer is full or has reached
 * its watermark.
 * Fails:    without memory for what does not fit, records are lost, and counted among those that
 *           were dropped.
 */
#define LOG_TOPIC "sdk"
#include "buffer.h"

#include "../face/buffer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"

#include "context.h"
#include "state.h"
#include "threads.h"

/* handles of buffers begin here; 0 is none */
#define FIRST_HANDLE UINT64_C(8192)
#define MAX_BUFFERS 1024u
#define MIN_SIZE ((size_t)1024)
#define MIN_RECORD 32u
/* what a lossless buffer grows by at most, and what more a large one may */
#define MAX_ASIDE ((size_t)256 << 20)
#define ASIDE_FACTOR 4u
/* A flush waits so long for a tool's function, then it fails. */
#define FLUSH_NS UINT64_C(10000000000)

enum state { OPEN, DESTROYED, ENDED };

struct sdk_buffer {
	/* constant */
	rocprofiler_buffer_id_t id;
	rocprofiler_context_id_t context;
	int client;
	rocprofiler_buffer_tracing_cb_t fn;
	void *arg;
	struct buffer *records;
	rocprofiler_record_header_t **headers; /* the callback thread's */
	size_t nr_headers;

	bool is_lossless;
	_Atomic bool has_warned;
	_Atomic int state;
};

static _Atomic(struct sdk_buffer *) buffers[MAX_BUFFERS];
static _Atomic uint32_t nr_buffers;

struct sdk_buffer *buffer_find(rocprofiler_buffer_id_t id)
{
	uint64_t index = id.handle - FIRST_HANDLE;
	struct sdk_buffer *b;

	if (index >= MAX_BUFFERS)
		return NULL;
	/* acquire: pairs with publish() */
	b = atomic_load_explicit(&buffers[index], memory_order_acquire);
	return b && atomic_load(&b->state) != DESTROYED ? b : NULL;
}

static void report_lost(struct sdk_buffer *b, uint64_t nr)
{
	if (nr && b->is_lossless && !atomic_exchange(&b->has_warned, true))
		log_warn(
			"buffer %llu of a tool: lossless, but its function has not taken %llu records, which are lost: too slow, it "
			"does not return, or memory has run out; a larger buffer or less work in the function avoids that",
			(unsigned long long)b->id.handle, (unsigned long long)nr);
}

/* Records that were written after the last flush: the tool has been finalised, and must not be
 * called any more. */
static void report_late(const struct sdk_buffer *b, uint64_t nr)
{
	if (nr)
		log_warn(
			"buffer %llu of a tool: %llu records are lost: their calls ended while the tool was finalised",
			(unsigned long long)b->id.handle, (unsigned long long)nr);
}

static void deliver(const char *begin, const char *end, void *arg)
{
	rocprofiler_record_header_t *h = (void *)(uintptr_t)begin, *last = (void *)(uintptr_t)end;
	struct sdk_buffer *b = arg;
	uint64_t nr_dropped = buffer_take_lost(b->records);
	size_t nr;

	report_lost(b, nr_dropped);
	for (; h < last && atomic_load(&b->state) == OPEN; h += nr) {
		for (nr = 0; nr < b->nr_headers && h + nr < last; nr++)
			b->headers[nr] = h + nr;
		b->fn(b->context, b->id, b->headers, nr, b->arg, nr_dropped);
		nr_dropped = 0;
	}
	report_late(b, (uint64_t)(last - h));
}

/* Two areas of `size` bytes of records each, and their headers. */
static int open_records(struct sdk_buffer *b, size_t size, size_t watermark, bool drops)
{
	struct buffer_config config = {
		.entry_size = sizeof(rocprofiler_record_header_t),
		.link = offsetof(rocprofiler_record_header_t, payload),
		.watermark = watermark,
		.watermark_of_data = true,
		.policy = drops ? BUFFER_DROP : BUFFER_WAIT,
		.deliver = deliver,
		.arg = b,
		.thread = threads_default(),
		/* what a lossless buffer loses is in the program's trace, too */
		.core = drops ? NULL : state_core(),
		.reason = SPOOL_REASON_pool_memory,
	};

	if (size < MIN_SIZE)
		size = MIN_SIZE;
	if (!config.thread || size > SIZE_MAX / (2 * ASIDE_FACTOR))
		return -1;
	config.half_size = size + size / MIN_RECORD * config.entry_size;
	config.max_aside = size > MAX_ASIDE / ASIDE_FACTOR ? size * ASIDE_FACTOR : MAX_ASIDE;
	b->nr_headers = size / MIN_RECORD;
	b->headers = alloc_heap(b->nr_headers * sizeof(rocprofiler_record_header_t *));
	return b->headers ? buffer_open(&config, &b->records) : -1;
}

static rocprofiler_status_t publish(struct sdk_buffer *b)
{
	uint32_t index = atomic_fetch_add(&nr_buffers, 1);

	if (index >= MAX_BUFFERS)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	b->id.handle = FIRST_HANDLE + index;
	/* release: pairs with buffer_find() */
	atomic_store_explicit(&buffers[index], b, memory_order_release);
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t create(const struct sdk_buffer *template, size_t size, size_t watermark,
				   bool drops, rocprofiler_buffer_id_t *id)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	struct sdk_buffer *b = alloc_heap(sizeof(*b));

	if (!b)
		return status;
	*b = *template;
	b->is_lossless = !drops;
	if (open_records(b, size, watermark, drops) == 0) {
		status = publish(b);
		if (status == ROCPROFILER_STATUS_SUCCESS) {
			*id = b->id;
			return status;
		}
		buffer_discard(b->records);
	}
	alloc_free(b->headers);
	alloc_free(b);
	return status;
}

EXPORT rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
						      size_t watermark,
						      rocprofiler_buffer_policy_t policy,
						      rocprofiler_buffer_tracing_cb_t callback,
						      void *callback_data,
						      rocprofiler_buffer_id_t *buffer_id)
{
	const struct sdk_buffer b = {
		.context = context,
		.client = state_current(),
		.fn = callback,
		.arg = callback_data,
	};

	if (state_phase() > -1 || b.client < 0)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!callback || !buffer_id ||
	    (policy != ROCPROFILER_BUFFER_POLICY_DISCARD &&
	     policy != ROCPROFILER_BUFFER_POLICY_LOSSLESS))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (buffer_find(*buffer_id))
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	return create(&b, size, watermark, policy == ROCPROFILER_BUFFER_POLICY_DISCARD, buffer_id);
}

rocprofiler_status_t buffer_flush_one(struct sdk_buffer *b)
{
	return buffer_flush_for(b->records, FLUSH_NS) == 0 ? ROCPROFILER_STATUS_SUCCESS :
							     ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
}

bool buffer_is_ended(struct sdk_buffer *b)
{
	return atomic_load(&b->state) == ENDED;
}

EXPORT rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id)
{
	struct sdk_buffer *b = buffer_find(buffer_id);

	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	if (buffer_discard(b->records) < 0)
		return ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
	atomic_store(&b->state, DESTROYED);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_assign_callback_thread(
	rocprofiler_buffer_id_t buffer_id, rocprofiler_callback_thread_t cb_thread_id)
{
	struct buffer_thread *t = threads_find(cb_thread_id);
	struct sdk_buffer *b = buffer_find(buffer_id);

	if (state_phase() == 1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!t)
		return ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND;
	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	return buffer_move(b->records, t) == 0 ? ROCPROFILER_STATUS_SUCCESS :
						 ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
}

static bool is_of_graphs(uint32_t kind)
{
#if ROCPROFILER_SDK_ABI > 0
	return kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH;
#else
	(void)kind;
	return false;
#endif
}

/* Records of operations: the thread may be the one that collects those of all threads. */
static bool is_of_operations(uint32_t kind)
{
	return kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH ||
	       kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY || is_of_graphs(kind) ||
	       kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT;
}

struct buffer *buffer_of(const struct context *c, uint32_t kind)
{
	/* acquire: pairs with buffered.c */
	const struct sdk_buffer *b = atomic_load_explicit(&c->buffers[kind], memory_order_acquire);

	return b ? b->records : NULL;
}

void buffer_put(struct context *c, uint32_t kind, const void *record, uint32_t size)
{
	const rocprofiler_record_header_t header = {
		.category = ROCPROFILER_BUFFER_CATEGORY_TRACING,
		.kind = kind,
	};
	struct buffer *b = buffer_of(c, kind);

	if (RTL_UNLIKELY(!b))
		return;
	if (is_of_operations(kind))
		buffer_write_now(b, &header, 1, record, size);
	else
		buffer_write(b, &header, 1, record, size);
}

void buffer_lose_for(uint64_t mask, uint32_t kind)
{
	for (; mask; mask &= mask - 1) {
		const struct context *c = context_at((unsigned int)__builtin_ctzll(mask));
		/* acquire: pairs with buffered.c */
		const struct sdk_buffer *b =
			atomic_load_explicit(&c->buffers[kind], memory_order_acquire);

		if (b)
			buffer_lose(b->records, 1);
	}
}

void buffer_put_counter(struct sdk_buffer *b, uint32_t kind, const void *record, uint32_t size)
{
	const rocprofiler_record_header_t header = {
		.category = ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
		.kind = kind,
	};

	if (atomic_load(&b->state) == OPEN)
		buffer_write_now(b->records, &header, 1, record, size);
}

static uint32_t count(void)
{
	uint32_t nr = atomic_load(&nr_buffers);

	return nr < MAX_BUFFERS ? nr : MAX_BUFFERS;
}

void buffer_flush_client(int client)
{
	for (uint32_t i = 0; i < count(); i++) {
		const struct sdk_buffer *b = atomic_load(&buffers[i]);

		if (b && (client < 0 || b->client == client))
			buffer_flush_for(b->records, FLUSH_NS);
	}
}

void buffer_end_client(int client)
{
	for (uint32_t i = 0; i < count(); i++) {
		struct sdk_buffer *b = atomic_load(&buffers[i]);
		int open = OPEN, nr_late;

		if (!b || b->client != client ||
		    !atomic_compare_exchange_strong(&b->state, &open, ENDED))
			continue;
		report_lost(b, buffer_take_lost(b->records));
		/* one that is still delivering delivers nothing more after that, and says so
		 * itself */
		nr_late = buffer_discard(b->records);
		report_late(b, nr_late > 0 ? (uint64_t)nr_late : 0);
	}
}
