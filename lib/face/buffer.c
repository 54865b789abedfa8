/* SPDX-License-Identifier: MIT */
/* buffer.c - record buffers: two halves and a thread
 *
 * Owns:     all buffers. A closed one's structure is kept and used again, the oldest first: a call that is just ending
 *           may still write to it. The number of the opening in its word tells the openings apart.
 * Locks:    each buffer's own, for handing halves over; never held while the program's code runs.
 * Threads:  any; deliver() on the buffer's thread alone.
 * Hot path: buffer_write() to a half that is not full: one atomic operation.
 * Fails:    without memory or a thread a buffer is not opened. What deliver() itself writes beyond the halves goes to a
 *           list; without memory for the list it is lost and counted.
 */
#include "buffer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "../librtl/core.h"
#include "fork_guard.h"

#define NS_PER_S UINT64_C(1000000000)
#define HALF_SHIFT 52

GUARDED_LOCK(buffers_lock, LOCK_BUFFERS);
static struct buffer *all RTL_GUARDED_BY(buffers_lock);
static struct buffer *closed_first RTL_GUARDED_BY(buffers_lock);
static struct buffer **closed_last RTL_GUARDED_BY(buffers_lock) = &closed_first;
static _Thread_local bool is_delivering;

bool buffer_is_delivering(void)
{
	return is_delivering;
}

static bool is_own_thread(const struct buffer *b)
{
	return pthread_equal(b->thread, pthread_self());
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
	pthread_cond_init(&b->work, &attr);
	pthread_cond_init(&b->idle, &attr);
	pthread_condattr_destroy(&attr);
}

/* The child of a fork has no thread that empties its parent's buffers: they are closed, and what was in them stays. The
 * thread that had a lock may be missing as well. */
RTL_NO_TSA static void in_child(void)
{
	for (struct buffer *b = all; b; b = b->next) {
		atomic_fetch_or_explicit(&b->word, BUFFER_CLOSED, memory_order_relaxed);
		b->is_open = b->is_busy = false;
		init_lock(b);
	}
}

/* ---- the buffer's thread --------------------------------------------------------------------- */

static void call_back(const struct buffer *b, const char *begin, size_t nr)
{
	is_delivering = true;
	if (nr)
		b->config.deliver(begin, begin + nr * b->config.entry_size, b->config.arg);
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
			nanosleep(&pause, NULL);
	}
}

/* Delivers the half that `word` describes, then entries that were put aside meanwhile. */
static void deliver(struct buffer *b, uint64_t word)
{
	size_t half = word >> HALF_SHIFT & 1, nr = buffer_word_nr(word);
	_Atomic uint8_t *marks = b->marks + half * b->nr_marks;
	struct buffer_aside aside;

	for (size_t i = 0; i < nr; i++)
		wait_until_filled(&marks[i]);
	call_back(b, b->memory + half * b->config.half_size, nr);
	/* relaxed: the half is published after this, under the lock */
	for (size_t i = 0; i < nr; i++)
		atomic_store_explicit(&marks[i], 0, memory_order_relaxed);
	do {
		lock_take(&b->lock);
		aside = b->aside;
		b->aside = (struct buffer_aside){ 0 };
		lock_drop(&b->lock);
		call_back(b, aside.entries, aside.nr);
		free(aside.entries);
	} while (aside.nr);
}

/* Waits until there may be something to do, and keeps the fast clock going. */
static void rest(struct buffer *b) RTL_REQUIRES(b->lock);
static void rest(struct buffer *b)
{
	struct timespec until;
	uint64_t ns;

	lock_drop(&b->lock);
	ns = b->config.core ? b->config.core->clock_keep() : UINT64_MAX;
	clock_gettime(CLOCK_MONOTONIC, &until);
	/* UINT64_MAX: the counter is of no use; a day then */
	ns = (ns < NS_PER_S * 86400 ? ns : NS_PER_S * 86400) + (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	lock_take(&b->lock);
	if (!b->stop && !b->is_busy)
		pthread_cond_timedwait(&b->work, &b->lock.mutex, &until);
}

static void *thread_main(void *arg)
{
	struct buffer *b = arg;
	uint64_t word;

	prctl(PR_SET_NAME, "rtl-buffer");
	lock_take(&b->lock);
	for (;;) {
		while (!b->is_busy && !b->stop)
			rest(b);
		if (!b->is_busy)
			break;
		word = b->given;
		lock_drop(&b->lock);
		deliver(b, word);
		lock_take(&b->lock);
		b->is_busy = false;
		b->nr_done = b->nr_given;
		pthread_cond_broadcast(&b->idle);
	}
	lock_drop(&b->lock);
	return NULL;
}

static int start_thread(struct buffer *b)
{
	sigset_t everything, old;
	int err;

	sigfillset(&everything);
	pthread_sigmask(SIG_SETMASK, &everything, &old);
	err = pthread_create(&b->thread, NULL, thread_main, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* ---- halves ---------------------------------------------------------------------------------- */

static void give(struct buffer *b, uint64_t closed) RTL_REQUIRES(b->lock);
static void drain(struct buffer *b) RTL_REQUIRES(b->lock);
static void lose(struct buffer *b, uint32_t nr) RTL_REQUIRES(b->lock);
static void put_aside(struct buffer *b, const void *entries, uint32_t nr) RTL_REQUIRES(b->lock);
static bool find_space(struct buffer *b, const void *entries, uint32_t nr, size_t data,
		       struct buffer_space *s) RTL_REQUIRES(b->lock);

/* With the other half free: the written one goes to the thread. `closed`: BUFFER_CLOSED or 0. */
static void give(struct buffer *b, uint64_t closed)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed);

	if (!buffer_word_nr(word) && !closed)
		return;
	/* Only what is used changes meanwhile. release: pairs with buffer_reserve(): the other half's marks */
	word = atomic_exchange_explicit(&b->word,
					(word >> HALF_SHIFT << HALF_SHIFT ^ BUFFER_HALF) | closed,
					memory_order_acq_rel);
	if (!buffer_word_nr(word))
		return;
	b->given = word;
	b->is_busy = true;
	b->nr_given++;
	pthread_cond_signal(&b->work);
}

/* Waits until everything that was written before is delivered. */
static void drain(struct buffer *b)
{
	uint64_t mine;

	while (b->is_busy)
		lock_wait(&b->lock, &b->idle);
	give(b, 0);
	mine = b->nr_given;
	while (b->nr_done < mine)
		lock_wait(&b->lock, &b->idle);
}

static void lose(struct buffer *b, uint32_t nr)
{
	b->nr_lost += nr;
	if (b->config.core)
		b->config.core->bus_loss(b->config.reason, nr);
}

static void put_aside(struct buffer *b, const void *entries, uint32_t nr)
{
	size_t entry_size = b->config.entry_size, size = (b->aside.nr + nr) * 2;
	struct buffer_aside *a = &b->aside;

	if (a->nr + nr > a->size) {
		char *larger = realloc(a->entries, size * entry_size);

		if (!larger) {
			lose(b, nr);
			return;
		}
		a->entries = larger;
		a->size = size;
	}
	memcpy(a->entries + a->nr * entry_size, entries, nr * entry_size);
	a->nr += nr;
}

/* Reserves entries where the half is full. false: they were put aside or dropped. */
static bool find_space(struct buffer *b, const void *entries, uint32_t nr, size_t data,
		       struct buffer_space *s)
{
	while (b->is_open && !buffer_reserve(b, nr, data, s)) {
		if (!b->is_busy) {
			give(b, 0);
		} else if (is_own_thread(b)) {
			put_aside(b, entries, nr);
			return false;
		} else if (b->config.policy == BUFFER_DROP) {
			lose(b, nr);
			return false;
		} else {
			lock_wait(&b->lock, &b->idle);
		}
	}
	return b->is_open;
}

/* ---- writing --------------------------------------------------------------------------------- */

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

static void write_slowly(struct buffer *b, const void *entries, uint32_t nr, const void *data,
			 size_t size)
{
	size_t rounded = data ? round_up(size) : 0;
	struct buffer_space s;
	bool is_large;

	if (keeps_nothing(b))
		return;
	lock_take(&b->lock);
	is_large = nr * b->config.entry_size + rounded > b->config.half_size;
	if (find_space(b, entries, nr, is_large ? 0 : rounded, &s)) {
		fill(&s, b, entries, is_large ? NULL : data, size);
		buffer_mark(&s);
		if (is_large && !is_own_thread(b))
			drain(b);
	}
	lock_drop(&b->lock);
}

void buffer_write(struct buffer *b, const void *entries, uint32_t nr, const void *data, size_t size)
{
	struct buffer_space s;

	if (RTL_UNLIKELY(!buffer_reserve(b, nr, data ? round_up(size) : 0, &s))) {
		write_slowly(b, entries, nr, data, size);
		return;
	}
	fill(&s, b, entries, data, size);
	buffer_commit(b, &s);
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
		drain(b);
	lock_drop(&b->lock);
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
	} else if ((b = calloc(1, sizeof(*b))) != NULL) {
		atomic_store_explicit(&b->word, BUFFER_CLOSED, memory_order_relaxed);
		init_lock(b);
		b->next = all;
		all = b;
	}
	lock_drop(&buffers_lock);
	return b;
}

/* Of a buffer that is closed. */
static void release(struct buffer *b)
{
	if (b->memory && b->config.allocate)
		b->config.allocate(&b->memory, 0, b->config.allocate_arg);
	else
		free(b->memory);
	free((void *)b->marks);
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

	b->memory = b->config.allocate ? NULL : malloc(size);
	if (b->config.allocate)
		b->config.allocate(&b->memory, size, b->config.allocate_arg);
	b->nr_marks = b->config.half_size / b->config.entry_size;
	b->marks = calloc(2 * b->nr_marks, 1);
	return b->memory && b->marks;
}

/* The part of a half that a word can count, in multiples of 8. */
static size_t limit(size_t half_size, size_t entry_size)
{
	size_t entries = BUFFER_MAX_ENTRIES * entry_size, data = BUFFER_MAX_DATA * 8;
	size_t max = entries < data ? entries : data;

	return (half_size < max ? half_size : max) / 8 * 8;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
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
	b->config = *config;
	b->config.half_size = limit(config->half_size, config->entry_size);
	b->stop = false;
	atomic_store_explicit(&b->half_size, b->config.half_size, memory_order_relaxed);
	atomic_store_explicit(&b->entry_size, config->entry_size, memory_order_relaxed);
	atomic_store_explicit(&b->watermark, config->watermark, memory_order_relaxed);
	good = b->is_open = allocate(b) && (!config->deliver || start_thread(b) == 0);
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
		drain(b);
	while (b->is_busy)
		lock_wait(&b->lock, &b->idle);
	if (!b->is_open) {
		lock_drop(&b->lock);
		return 0;
	}
	give(b, BUFFER_CLOSED);
	b->is_open = false;
	b->stop = true;
	pthread_cond_signal(&b->work);
	lock_drop(&b->lock);
	if (has_thread)
		pthread_join(b->thread, NULL);
	*nr_lost = buffer_take_lost(b);
	release(b);
	return 0;
}
