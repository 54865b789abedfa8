/* SPDX-License-Identifier: MIT */
/* pool.c - pools of records: two halves and a thread
 *
 * Writers fill the one half while the pool's thread hands the other to the program. Records grow from
 * the begin of a half, names of kernels from its end. A writer whose record does not fit waits
 * until the other half is free: nothing is dropped.
 *
 * The program may make calls in its callback that end up in the same pool, on the pool's own thread, which
 * cannot wait for itself: what does not fit then goes to a list on the side.
 *
 * Owns:     all pools. A closed one's structure is kept and used again, last of all: a call that is
 *           just ending may still look at it.
 * Locks:    each pool's own; never held while the program's code runs.
 * Threads:  any; the callback on the pool's thread alone, all signals blocked.
 * Fails:    without memory or a thread a pool is not opened. Without memory for the list on the side its records are
 *           lost: the next flush or the closing says how many, and they are counted as `pool_memory`.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/lock.h"
#include "facade.h"

#define RECORD sizeof(activity_record_t)
#define MIN_HALF (2 * RECORD)

struct half {
	char *begin;
	size_t used, names; /* bytes from the begin, from the end */
};

struct side {
	activity_record_t *records;
	size_t nr, size;
};

struct pool {
	struct pool *next; /* of those that are closed */
	/* set in open under lock, constant until close; read under lock by whoever may come after the close, when the
	 * structure is another pool's */
	roctracer_properties_t properties;
	size_t half_size;
	_Atomic uint32_t nr_forks; /* that had been when it was opened */
	pthread_t thread;
	struct lock lock;
	pthread_cond_t work, idle;
	/* under lock */
	struct half halves[2];
	int active;
	bool is_open, stop;
	bool is_full; /* the other half waits for the thread, or is at it */
	uint64_t nr_given, nr_done;
	uint64_t nr_lost; /* since the last pool_take_lost() */
	struct side side;
};

static _Atomic uint32_t nr_forks;
static struct lock pools_lock = LOCK_INIT(LOCK_POOLS);
static struct pool *closed_first RTL_GUARDED_BY(pools_lock);
static struct pool **closed_last RTL_GUARDED_BY(pools_lock) = &closed_first;

static bool is_own_thread(const struct pool *p)
{
	return pthread_equal(p->thread, pthread_self());
}

static void in_child(void)
{
	atomic_fetch_add_explicit(&nr_forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void pool_hold(bool on)
{
	lock_hold(&pools_lock, on);
}

/* The child of a fork has no thread that would empty the pool. */
static bool is_orphan(const struct pool *p)
{
	/* relaxed: the child has one thread */
	return atomic_load_explicit(&p->nr_forks, memory_order_relaxed) !=
	       atomic_load_explicit(&nr_forks, memory_order_relaxed);
}

static _Thread_local bool is_delivering;

bool pool_is_delivering(void)
{
	return is_delivering;
}

static void call_back(struct pool *p, const void *begin, size_t size)
{
	const char *at = begin;

	is_delivering = true;
	if (size)
		p->properties.buffer_callback_fun(at, at + size, p->properties.buffer_callback_arg);
	is_delivering = false;
}

/* On the pool's thread. */
static void deliver(struct pool *p, struct half *h)
{
	struct side side;

	call_back(p, h->begin, h->used);
	for (;;) {
		lock_take(&p->lock);
		side = p->side;
		memset(&p->side, 0, sizeof(p->side));
		lock_drop(&p->lock);
		if (!side.nr)
			break;
		call_back(p, side.records, side.nr * RECORD);
		free(side.records);
	}
}

static void *pool_main(void *arg)
{
	struct pool *p = arg;

	prctl(PR_SET_NAME, "rtl-pool");
	lock_take(&p->lock);
	for (;;) {
		struct half *h;

		while (!p->is_full && !p->stop)
			lock_wait(&p->lock, &p->work);
		if (!p->is_full)
			break;
		h = &p->halves[!p->active];
		lock_drop(&p->lock);
		deliver(p, h);
		lock_take(&p->lock);
		h->used = h->names = 0;
		p->is_full = false;
		p->nr_done = p->nr_given;
		pthread_cond_broadcast(&p->idle);
	}
	lock_drop(&p->lock);
	return NULL;
}

/* With the other half free. */
static void give(struct pool *p) RTL_REQUIRES(p->lock);
static void wait_for_room(struct pool *p) RTL_REQUIRES(p->lock);
static void put_aside(struct pool *p, const activity_record_t *records, uint32_t nr)
	RTL_REQUIRES(p->lock);
static void append(struct pool *p, const activity_record_t *records, uint32_t nr, size_t name)
	RTL_REQUIRES(p->lock);

static void give(struct pool *p)
{
	p->is_full = true;
	p->active = !p->active;
	p->nr_given++;
	pthread_cond_signal(&p->work);
}

static void wait_for_room(struct pool *p)
{
	while (p->is_full)
		lock_wait(&p->lock, &p->idle);
}

static bool fits(const struct pool *p, size_t size)
{
	const struct half *h = &p->halves[p->active];

	return h->used + h->names + size <= p->half_size;
}

/* Under the pool's lock. */
static void lose(struct pool *p, uint32_t nr)
{
	p->nr_lost += nr;
	if (stream_core())
		stream_core()->bus_loss(SPOOL_REASON_pool_memory, nr);
}

/* Under the pool's lock. */
static void put_aside(struct pool *p, const activity_record_t *records, uint32_t nr)
{
	struct side *s = &p->side;

	if (s->nr + nr > s->size) {
		size_t size = (s->nr + nr) * 2;
		activity_record_t *larger = realloc(s->records, size * RECORD);

		if (!larger) {
			lose(p, nr);
			return;
		}
		s->records = larger;
		s->size = size;
	}
	memcpy(&s->records[s->nr], records, nr * RECORD);
	s->nr += nr;
}

/* The name of a dispatch that is to be copied, with its NUL; 0: there is none. */
static size_t name_size(const activity_record_t *r)
{
	if ((r->domain != ACTIVITY_DOMAIN_HIP_OPS && r->domain != ACTIVITY_DOMAIN_HSA_OPS) ||
	    r->op != 0 || !r->kernel_name)
		return 0;
	return strlen(r->kernel_name) + 1;
}

static void append(struct pool *p, const activity_record_t *records, uint32_t nr, size_t name)
{
	struct half *h = &p->halves[p->active];
	activity_record_t *last;

	memcpy(h->begin + h->used, records, nr * RECORD);
	h->used += nr * RECORD;
	if (!name)
		return;
	last = (activity_record_t *)(void *)(h->begin + h->used - RECORD);
	h->names += name;
	memcpy(h->begin + p->half_size - h->names, last->kernel_name, name);
	last->kernel_name = h->begin + p->half_size - h->names;
}

void pool_write(struct pool *p, const activity_record_t *records, uint32_t nr)
{
	size_t name = name_size(&records[nr - 1]);
	bool is_large;
	uint64_t mine;

	if (is_orphan(p))
		return;
	lock_take(&p->lock);
	if (!p->properties.buffer_callback_fun) {
		lock_drop(&p->lock);
		return;
	}
	/* a name that fits into no half stays where it is, and its record is delivered at once */
	is_large = nr * RECORD + name > p->half_size;
	if (is_large)
		name = 0;
	while (p->is_open && !fits(p, nr * RECORD + name)) {
		if (p->is_full && is_own_thread(p)) {
			put_aside(p, records, nr);
			lock_drop(&p->lock);
			return;
		}
		if (p->is_full)
			wait_for_room(p);
		else
			give(p);
	}
	if (p->is_open)
		append(p, records, nr, name);
	if (p->is_open && is_large && !is_own_thread(p)) {
		wait_for_room(p);
		if (p->halves[p->active].used)
			give(p);
		mine = p->nr_given;
		while (p->nr_done < mine)
			lock_wait(&p->lock, &p->idle);
	}
	lock_drop(&p->lock);
}

void pool_flush(struct pool *p)
{
	uint64_t mine;

	if (is_orphan(p))
		return;
	lock_take(&p->lock);
	if (p->is_open && p->properties.buffer_callback_fun && !is_own_thread(p)) {
		wait_for_room(p);
		if (p->halves[p->active].used)
			give(p);
		mine = p->nr_given;
		while (p->nr_done < mine)
			lock_wait(&p->lock, &p->idle);
	}
	lock_drop(&p->lock);
}

uint64_t pool_take_lost(struct pool *p)
{
	uint64_t nr;

	/* what was there at the fork stays: a thread that is not here may hold the lock */
	if (is_orphan(p))
		return 0;
	lock_take(&p->lock);
	nr = p->nr_lost;
	p->nr_lost = 0;
	lock_drop(&p->lock);
	return nr;
}

static char *allocate(const roctracer_properties_t *properties, size_t size)
{
	char *memory = NULL;

	if (!properties->alloc_fun)
		return malloc(size);
	properties->alloc_fun(&memory, size, properties->alloc_arg);
	return memory;
}

static void release(const roctracer_properties_t *properties, char *memory)
{
	if (!properties->alloc_fun)
		free(memory);
	else
		properties->alloc_fun(&memory, 0, properties->alloc_arg);
}

static struct pool *take_structure(void)
{
	struct pool *p;

	lock_take(&pools_lock);
	p = closed_first;
	if (p) {
		closed_first = p->next;
		if (!closed_first)
			closed_last = &closed_first;
	}
	lock_drop(&pools_lock);
	if (p || !(p = calloc(1, sizeof(*p))))
		return p;
	lock_init(&p->lock, LOCK_POOL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	return p;
}

static void keep_structure(struct pool *p)
{
	lock_take(&pools_lock);
	p->next = NULL;
	*closed_last = p;
	closed_last = &p->next;
	lock_drop(&pools_lock);
}

static int start_thread(struct pool *p)
{
	sigset_t all, old;
	int err;

	if (!p->properties.buffer_callback_fun)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, NULL, pool_main, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

enum error pool_open(const roctracer_properties_t *properties, struct pool **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pool *p = take_structure();
	size_t half = properties->buffer_size < MIN_HALF ? MIN_HALF : properties->buffer_size;
	char *memory;
	bool good;

	*out = NULL;
	if (!p)
		return ERROR_MEMORY;
	pthread_once(&once, watch_forks);
	half -= half % sizeof(uint64_t);
	memory = allocate(properties, 2 * half);
	lock_take(&p->lock);
	p->properties = *properties;
	p->half_size = half;
	atomic_store_explicit(&p->nr_forks, atomic_load_explicit(&nr_forks, memory_order_relaxed),
			      memory_order_relaxed);
	p->stop = p->is_full = false;
	p->active = 0;
	p->halves[0] = (struct half){ .begin = memory };
	p->halves[1] = (struct half){ .begin = memory ? memory + half : NULL };
	good = p->is_open = memory && start_thread(p) == 0;
	lock_drop(&p->lock);
	if (good) {
		*out = p;
		return ERROR_NONE;
	}
	if (memory)
		release(properties, memory);
	keep_structure(p);
	return ERROR_MEMORY;
}

enum error pool_close(struct pool *p, uint64_t *nr_lost)
{
	bool has_thread = p->properties.buffer_callback_fun && !is_orphan(p);
	char *memory;

	*nr_lost = 0;
	if (has_thread && is_own_thread(p))
		return ERROR_GENERAL;
	/* what was there at the fork stays: a thread that is not here may hold its lock */
	if (is_orphan(p))
		return ERROR_NONE;
	pool_flush(p);
	lock_take(&p->lock);
	if (!p->is_open) {
		lock_drop(&p->lock);
		return ERROR_NONE;
	}
	if (has_thread) {
		wait_for_room(p);
		if (p->halves[p->active].used)
			give(p);
	}
	p->is_open = false;
	p->stop = true;
	pthread_cond_signal(&p->work);
	lock_drop(&p->lock);
	if (has_thread)
		pthread_join(p->thread, NULL);
	/* whoever waited for room sees that it is closed */
	lock_take(&p->lock);
	pthread_cond_broadcast(&p->idle);
	memory = p->halves[0].begin;
	p->halves[0].begin = p->halves[1].begin = NULL;
	*nr_lost = p->nr_lost;
	p->nr_lost = 0;
	lock_drop(&p->lock);
	release(&p->properties, memory);
	keep_structure(p);
	return ERROR_NONE;
}
