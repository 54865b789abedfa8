/* SPDX-License-Identifier: MIT */
/* buffer.c - record buffers: two halves, and a thread that delivers them
 *
 * Owns:     all buffers. A closed one's structure is kept and used again, the oldest first: a call
 *           that is just ending may still write to it. The number of the opening in its word tells
 *           the openings apart.
 * Locks:    each buffer's own, for handing halves over; never held while the program's code runs.
 * Threads:  any; deliver() on the buffer's thread alone.
 * Hot path: buffer_write() to a half that is not full: one atomic operation.
 * Fails:    without memory or a thread a buffer is not opened. Without memory for what is put
 *           aside, or beyond its limit, it is lost and counted.
 */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../librtl/core.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/sys.h"
#include "fork_guard.h"

#define NS_PER_S UINT64_C(1000000000)
#define HALF_SHIFT 52
/* how long a writer waits for a half, and how long once one has waited in vain */
#define STALL_NS UINT64_C(200000000)
#define STALLED_NS UINT64_C(1000000)

GUARDED_LOCK(buffers_lock, LOCK_BUFFERS);
static struct buffer *all RTL_GUARDED_BY(buffers_lock);
static struct buffer *closed_first RTL_GUARDED_BY(buffers_lock);
static struct buffer **closed_last RTL_GUARDED_BY(buffers_lock) = &closed_first;
static _Thread_local bool is_delivering;
_Atomic uint32_t buffer_nr_pressed;
_Atomic(void (*)(void)) buffer_on_pressed;

bool buffer_is_delivering(void)
{
	return is_delivering;
}

static bool is_own_thread(const struct buffer *b)
{
	return b->thread && buffer_thread_is_self(b->thread);
}

static bool keeps_nothing(const struct buffer *b)
{
	/* relaxed: callers that go on check again under the lock */
	return atomic_load_explicit(&b->word, memory_order_relaxed) & BUFFER_CLOSED;
}

static void init_lock(struct buffer *b)
{
	pthread_condattr_t attr;

	lock_init(&b->lock, LOCK_BUFFER);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->idle, &attr);
	pthread_condattr_destroy(&attr);
}

/* The child of a fork has no thread that empties its parent's buffers: they are closed, and what
 * was in them stays. The thread that had a lock may be missing as well. */
RTL_NO_TSA static void in_child(void)
{
	for (struct buffer *b = all; b; b = b->next) {
		atomic_fetch_or_explicit(&b->word, BUFFER_CLOSED, memory_order_relaxed);
		b->is_open = b->is_busy = false;
		init_lock(b);
	}
}

static struct timespec deadline(uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	return until;
}

/* ---- halves ---------------------------------------------------------------------------------- */

static uint64_t swap(struct buffer *b, uint64_t closed) RTL_REQUIRES(b->lock);
static void give(struct buffer *b, uint64_t closed) RTL_REQUIRES(b->lock);
static bool wait_for(struct buffer *b, uint64_t half, const struct timespec *until)
	RTL_REQUIRES(b->lock);
static bool drain(struct buffer *b, const struct timespec *until) RTL_REQUIRES(b->lock);

/* The other half, which is free, is written from now on. Returns the word of this one. `closed`:
 * BUFFER_CLOSED or 0. */
static uint64_t swap(struct buffer *b, uint64_t closed)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);

	/* Only what is used changes meanwhile. release: pairs with buffer_reserve(): the other
	 * half's marks */
	return atomic_exchange_explicit(&b->word,
					(word >> HALF_SHIFT << HALF_SHIFT ^ BUFFER_HALF) | closed,
					memory_order_acq_rel);
}

/* With the other half free: the written one goes to the thread. `closed`: as for swap(). */
static void give(struct buffer *b, uint64_t closed)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);

	if (!buffer_word_nr(word) && !closed)
		return;
	word = swap(b, closed);
	if (!buffer_word_nr(word))
		return;
	b->given = word;
	b->is_busy = true;
	b->nr_given++;
	buffer_thread_post(b->thread, &b->job);
}

/* Waits until so many halves are delivered. false: it took too long. until NULL: for ever. */
static bool wait_for(struct buffer *b, uint64_t half, const struct timespec *until)
{
	while (b->nr_done < half) {
		if (!until)
			lock_wait(&b->lock, &b->idle);
		else if (!lock_wait_until(&b->lock, &b->idle, until))
			return b->nr_done >= half;
	}
	return true;
}

/* Waits until everything that was written before is delivered. */
static bool drain(struct buffer *b, const struct timespec *until)
{
	if (!wait_for(b, b->nr_given, until))
		return false;
	/* else the thread has taken what was written, too */
	if (!b->is_busy)
		give(b, 0);
	return wait_for(b, b->nr_given, until);
}

/* ---- the buffer's thread --------------------------------------------------------------------- */

struct delivery {
	const struct buffer *b;
	const char *begin;
	size_t nr;
};

static void deliver(void *arg)
{
	const struct delivery *d = arg;
	const struct buffer_config *c = &d->b->config;

	c->deliver(d->begin, d->begin + d->nr * c->entry_size, c->arg);
}

static void call_back(const struct buffer *b, const char *begin, size_t nr)
{
	struct delivery d = { b, begin, nr };

	is_delivering = true;
	if (nr)
		callout_outlive(deliver, &d);
	is_delivering = false;
}

/* Waits for a writer that was interrupted while it filled its entries. */
static void wait_until_filled(const _Atomic uint8_t *mark)
{
	const struct timespec pause = { 0, 50000 };

	/* acquire: pairs with buffer_mark() */
	for (unsigned i = 0; !atomic_load_explicit(mark, memory_order_acquire); i++) {
		if (i < 1000)
			RTL_RELAX();
		else
			sys_nap(&pause);
	}
}

/* The marks of the half that `word` describes, each of them set. */
static _Atomic uint8_t *filled_marks(const struct buffer *b, uint64_t word)
{
	_Atomic uint8_t *marks = b->marks + (word & BUFFER_HALF ? b->nr_marks : 0);

	for (size_t i = 0; i < buffer_word_nr(word); i++)
		wait_until_filled(&marks[i]);
	return marks;
}

static void deliver_half(struct buffer *b, uint64_t word)
{
	size_t nr = buffer_word_nr(word);
	_Atomic uint8_t *marks = filled_marks(b, word);

	call_back(b, b->memory + (word & BUFFER_HALF ? b->config.half_size : 0), nr);
	/* relaxed: the half is published after this, under the lock */
	for (size_t i = 0; i < nr; i++)
		atomic_store_explicit(&marks[i], 0, memory_order_relaxed);
}

static bool is_due(const struct buffer *b)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);
	size_t weight = atomic_load_explicit(&b->entry_weight, memory_order_relaxed);

	return buffer_word_nr(word) &&
	       buffer_word_nr(word) * weight + buffer_word_data(word) >= b->config.watermark;
}

/* Whether the buffer counts among those that are pressed. */
static void press(struct buffer *b, bool is_pressed) RTL_REQUIRES(b->lock);
static void press(struct buffer *b, bool is_pressed)
{
	void (*on_change)(void);

	if (is_pressed == b->is_pressed)
		return;
	b->is_pressed = is_pressed;
	/* in one order with the loads of the function that is called */
	atomic_fetch_add(&buffer_nr_pressed, is_pressed ? 1 : UINT32_MAX);
	on_change = atomic_load(&buffer_on_pressed);
	if (on_change)
		on_change();
}

void buffer_relieve_slowly(void)
{
	const struct timespec nap = { .tv_nsec = STALLED_NS / 10 };

	for (int i = 0; i < 10 && !is_delivering; i++) {
		sys_nap(&nap);
		if (!atomic_load_explicit(&buffer_nr_pressed, memory_order_relaxed))
			return;
	}
}

/* A half is delivered. What has become due meanwhile is next: the other half, then what was put
 * aside since that was full. */
static bool take_next(struct buffer *b, uint64_t *word, struct buffer_aside *aside)
{
	bool more;

	lock_take(&b->lock);
	more = b->aside.nr || (b->is_open && is_due(b));
	*aside = b->aside;
	b->aside = (struct buffer_aside){ 0 };
	press(b, false);
	b->nr_done++;
	if (more) {
		*word = swap(b, 0);
		b->nr_given++;
	}
	b->is_busy = more;
	pthread_cond_broadcast(&b->idle);
	lock_drop(&b->lock);
	return more;
}

/* Delivers what was handed over. */
static void serve(struct buffer_job *job)
{
	struct buffer *b = RTL_CONTAINER_OF(job, struct buffer, job);
	struct buffer_aside aside = { 0 };
	uint64_t word;

	lock_take(&b->lock);
	word = b->given;
	lock_drop(&b->lock);
	do {
		deliver_half(b, word);
		call_back(b, aside.entries, aside.nr);
		buffer_aside_free(&aside);
	} while (take_next(b, &word, &aside));
}

/* ---- full halves ----------------------------------------------------------------------------- */

struct written {
	const void *entries, *data;
	size_t size;
	uint32_t nr;
	bool may_wait;
};

static void lose(struct buffer *b, uint32_t nr) RTL_REQUIRES(b->lock);
static bool put_aside(struct buffer *b, const struct written *w) RTL_REQUIRES(b->lock);
static bool wait_for_half(struct buffer *b) RTL_REQUIRES(b->lock);

static void lose(struct buffer *b, uint32_t nr)
{
	b->nr_lost += nr;
	if (b->config.core)
		b->config.core->bus_loss(b->config.reason, nr);
}

/* The half counts as full: what is written later comes after what is put aside. */
static void seal(struct buffer *b)
{
	const uint64_t data = BUFFER_MAX_DATA << BUFFER_DATA_SHIFT;
	uint64_t full = (uint64_t)b->config.half_size / 8 << BUFFER_DATA_SHIFT;
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);

	/* relaxed: of writers' data nothing is read here */
	while ((word & data) < full &&
	       !atomic_compare_exchange_weak_explicit(&b->word, &word, (word & ~data) | full,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* false: no memory, or it is too much. */
static bool put_aside(struct buffer *b, const struct written *w)
{
	size_t max = b->config.max_aside;
	size_t bytes = b->aside.bytes + w->nr * b->config.entry_size + (w->data ? w->size : 0);

	if (max && bytes > max)
		return false;
	press(b, max && bytes > max / 2);
	if (!buffer_aside_add(&b->aside, w->entries, w->nr, b->config.entry_size, b->config.link,
			      w->data, w->size))
		return false;
	seal(b);
	return true;
}

/* Waits for the half that is being delivered. false: it takes too long. */
static bool wait_for_half(struct buffer *b)
{
	uint64_t half = b->nr_given;
	struct timespec until = deadline(b->stalled == half ? STALLED_NS : STALL_NS);

	if (wait_for(b, half, &until))
		return true;
	b->stalled = half;
	return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool find_space(struct buffer *b, const struct written *w, size_t data,
		       struct buffer_space *s) RTL_REQUIRES(b->lock);

/* Reserves entries where the half is full. false: they were put aside or dropped. */
static bool find_space(struct buffer *b, const struct written *w, size_t data,
		       struct buffer_space *s)
{
	bool drops = b->config.policy == BUFFER_DROP && !is_own_thread(b);

	while (b->is_open && !buffer_reserve(b, w->nr, data, s)) {
		if (!b->is_busy) {
			give(b, 0);
			continue;
		}
		if (!drops && w->may_wait && !is_delivering && wait_for_half(b))
			continue;
		if (drops || !put_aside(b, w))
			lose(b, w->nr);
		return false;
	}
	return b->is_open;
}

static size_t round_up(size_t size)
{
	return (size + 7) / 8 * 8;
}

static void fill(const struct buffer_space *s, const struct buffer *b, const void *entries,
		 const void *data, size_t size)
{
	char **link;

	memcpy(s->entries, entries, s->nr * b->config.entry_size);
	if (!data)
		return;
	link = (char **)(void *)(s->entries + (s->nr - 1) * b->config.entry_size + b->config.link);
	*link = memcpy(s->data, data, size);
}

static void write_slowly(struct buffer *b, const struct written *w)
{
	size_t rounded = w->data ? round_up(w->size) : 0;
	struct buffer_space s;
	int saved = errno;
	bool is_large;

	if (keeps_nothing(b))
		return;
	lock_take(&b->lock);
	is_large = w->nr * b->config.entry_size + rounded > b->config.half_size;
	if (find_space(b, w, is_large ? 0 : rounded, &s)) {
		fill(&s, b, w->entries, is_large ? NULL : w->data, w->size);
		buffer_mark(&s);
		if (is_large && !is_own_thread(b))
			drain(b, NULL);
	}
	lock_drop(&b->lock);
	errno = saved;
}

static RTL_INLINE void write_entries(struct buffer *b, const void *entries, uint32_t nr,
				     const void *data, size_t size, bool may_wait)
{
	struct buffer_space s;

	if (RTL_UNLIKELY(!buffer_reserve(b, nr, data ? round_up(size) : 0, &s))) {
		write_slowly(b, &(struct written){ entries, data, size, nr, may_wait });
		return;
	}
	fill(&s, b, entries, data, size);
	buffer_commit(b, &s);
}

void buffer_write(struct buffer *b, const void *entries, uint32_t nr, const void *data, size_t size)
{
	write_entries(b, entries, nr, data, size, true);
}

void buffer_write_now(struct buffer *b, const void *entries, uint32_t nr, const void *data,
		      size_t size)
{
	write_entries(b, entries, nr, data, size, false);
}

void buffer_lose(struct buffer *b, uint32_t nr)
{
	lock_take(&b->lock);
	if (b->is_open)
		lose(b, nr);
	lock_drop(&b->lock);
}

void buffer_hand_over(struct buffer *b)
{
	if (keeps_nothing(b))
		return;
	lock_take(&b->lock);
	if (b->is_open && !b->is_busy)
		give(b, 0);
	lock_drop(&b->lock);
}

void buffer_flush(struct buffer *b)
{
	if (keeps_nothing(b))
		return;
	lock_take(&b->lock);
	if (b->is_open && !is_own_thread(b))
		drain(b, NULL);
	lock_drop(&b->lock);
}

int buffer_flush_for(struct buffer *b, uint64_t ns)
{
	struct timespec until = deadline(ns);
	bool good = true;

	if (keeps_nothing(b))
		return 0;
	lock_take(&b->lock);
	if (b->is_open && is_delivering) {
		if (!b->is_busy)
			give(b, 0);
		good = !b->is_busy;
	} else if (b->is_open) {
		good = drain(b, &until);
	}
	lock_drop(&b->lock);
	return good ? 0 : -EBUSY;
}

uint64_t buffer_take_lost(struct buffer *b)
{
	uint64_t nr;

	lock_take(&b->lock);
	nr = b->nr_lost;
	b->nr_lost = 0;
	lock_drop(&b->lock);
	return nr;
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct buffer *take_structure(void)
{
	struct buffer *b;

	lock_take(&buffers_lock);
	b = closed_first;
	if (b) {
		closed_first = b->next_closed;
		if (!closed_first)
			closed_last = &closed_first;
	} else if ((b = alloc_zero(1, sizeof(*b))) != NULL) {
		atomic_store_explicit(&b->word, BUFFER_CLOSED, memory_order_relaxed);
		init_lock(b);
		b->next = all;
		all = b;
	}
	lock_drop(&buffers_lock);
	return b;
}

/* Of a buffer that is closed. */
static void free_memory(struct buffer *b)
{
	if (b->memory && b->config.allocate)
		b->config.allocate(&b->memory, 0, b->config.allocate_arg);
	else
		alloc_free(b->memory);
	alloc_free((void *)b->marks);
}

static void end_thread(struct buffer *b)
{
	if (b->owns_thread)
		buffer_thread_end(b->thread);
	b->owns_thread = false;
	b->thread = NULL;
}

static void release(struct buffer *b)
{
	free_memory(b);
	lock_take(&buffers_lock);
	b->next_closed = NULL;
	*closed_last = b;
	closed_last = &b->next_closed;
	lock_drop(&buffers_lock);
}

/* Memory for both halves, or none. */
static bool allocate(struct buffer *b)
{
	size_t size = 2 * b->config.half_size;

	b->memory = b->config.allocate ? NULL : alloc_heap(size);
	if (b->config.allocate)
		b->config.allocate(&b->memory, size, b->config.allocate_arg);
	b->nr_marks = b->config.half_size / b->config.entry_size;
	b->marks = alloc_zero(2 * b->nr_marks, 1);
	return b->memory && b->marks;
}

/* The part of a half that a word can count, in multiples of 8. */
static size_t limit(size_t half_size, size_t entry_size)
{
	size_t entries = BUFFER_MAX_ENTRIES * entry_size, data = BUFFER_MAX_DATA * 8;
	size_t max = entries < data ? entries : data;

	return (half_size < max ? half_size : max) / 8 * 8;
}

static bool find_thread(struct buffer *b)
{
	b->thread = b->config.thread;
	b->owns_thread = false;
	if (b->thread)
		return buffer_thread_is_here(b->thread);
	b->owns_thread = buffer_thread_start(b->config.core, &b->thread) == 0;
	return b->owns_thread;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

static void configure(struct buffer *b, const struct buffer_config *config)
{
	size_t weight = config->watermark_of_data ? 0 : config->entry_size;

	b->config = *config;
	b->job.run = serve;
	b->config.half_size = limit(config->half_size, config->entry_size);
	b->stalled = 0;
	atomic_store_explicit(&b->half_size, b->config.half_size, memory_order_relaxed);
	atomic_store_explicit(&b->entry_size, config->entry_size, memory_order_relaxed);
	atomic_store_explicit(&b->entry_weight, weight, memory_order_relaxed);
	atomic_store_explicit(&b->watermark, config->watermark, memory_order_relaxed);
}

int buffer_open(const struct buffer_config *config, struct buffer **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct buffer *b = take_structure();
	uint64_t word;
	bool good;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	pthread_once(&once, watch_forks);
	lock_take(&b->lock);
	configure(b, config);
	lock_drop(&b->lock);
	/* it is closed, and in no list of free ones: the program's function allocates without a
	 * lock */
	good = allocate(b) && (!config->deliver || find_thread(b));
	lock_take(&b->lock);
	b->is_open = good;
	word = atomic_load_explicit(&b->word, memory_order_relaxed) + BUFFER_OPENING;
	/* release: pairs with buffer_reserve() */
	if (good && config->deliver)
		atomic_store_explicit(&b->word, word & ~BUFFER_CLOSED, memory_order_release);
	lock_drop(&b->lock);
	if (good)
		*out = b;
	else
		release(b);
	return good ? 0 : -ENOMEM;
}

int buffer_close(struct buffer *b, uint64_t *nr_lost)
{
	bool has_thread;

	*nr_lost = 0;
	lock_take(&b->lock);
	has_thread = b->is_open && b->config.deliver;
	if (has_thread && is_own_thread(b)) {
		lock_drop(&b->lock);
		return -EDEADLK;
	}
	/* before it is closed: deliver() may write */
	if (has_thread)
		drain(b, NULL);
	while (b->is_busy)
		lock_wait(&b->lock, &b->idle);
	if (!b->is_open) {
		lock_drop(&b->lock);
		return 0;
	}
	b->is_open = false;
	give(b, BUFFER_CLOSED);
	while (b->is_busy)
		lock_wait(&b->lock, &b->idle);
	lock_drop(&b->lock);
	end_thread(b);
	*nr_lost = buffer_take_lost(b);
	release(b);
	return 0;
}

int buffer_discard(struct buffer *b)
{
	uint64_t word = 0;
	bool was_open;

	lock_take(&b->lock);
	if (b->is_busy) {
		lock_drop(&b->lock);
		return -EBUSY;
	}
	was_open = b->is_open;
	if (was_open)
		word = swap(b, BUFFER_CLOSED);
	b->is_open = false;
	lock_drop(&b->lock);
	if (!was_open)
		return 0;
	filled_marks(b, word);
	end_thread(b);
	free_memory(b);
	return (int)buffer_word_nr(word);
}

int buffer_move(struct buffer *b, struct buffer_thread *t)
{
	struct buffer_thread *own = NULL;

	if (is_delivering)
		return -EDEADLK;
	lock_take(&b->lock);
	while (b->is_busy)
		lock_wait(&b->lock, &b->idle);
	if (b->owns_thread)
		own = b->thread;
	b->owns_thread = false;
	b->thread = t;
	lock_drop(&b->lock);
	if (own)
		buffer_thread_end(own);
	return 0;
}
