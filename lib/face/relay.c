/* SPDX-License-Identifier: MIT */
/* relay.c - a list that any thread adds to, and the thread that empties it
 *
 * Owns:     the thread of each relay.
 * Threads:  any.
 * Hot path: relay_send(): no lock.
 */
#include "relay.h"
#include "base/sys.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#define NAP_NS 100000
/* More items than this are far behind. */
#define FAR_BEHIND 64u
#define RELIEF_NAPS 10
/* After an item the thread looks by itself for the next ones, so that those who send need not wake
 * it each time. */
#define LOOKS 20u

static _Thread_local const struct relay *current;

bool relay_is_current(const struct relay *r)
{
	return current == r;
}

void relay_send(struct relay *r, struct relay_item *item)
{
	struct relay_item *newest = atomic_load_explicit(&r->arrived, memory_order_relaxed);

	atomic_fetch_add_explicit(&r->nr_sent, 1, memory_order_relaxed);
	do
		item->next = newest;
	/* pairs with take(); seq_cst, with the next line: pairs with rest(): it sees the item, or
	 * this that it sleeps */
	while (!atomic_compare_exchange_weak(&r->arrived, &newest, item));
	if (!newest && atomic_load(&r->is_asleep) && atomic_exchange(&r->is_asleep, false))
		sem_post(&r->has_arrived);
}

/* In the order in which they have come. */
static struct relay_item *take(struct relay *r)
{
	/* acquire: pairs with relay_send() */
	struct relay_item *item = atomic_exchange_explicit(&r->arrived, NULL, memory_order_acquire);
	struct relay_item *first = NULL, *next;

	for (; item; item = next) {
		next = item->next;
		item->next = first;
		first = item;
	}
	return first;
}

/* Waits for items. `looks`: how often it was in vain. */
static void rest(struct relay *r, unsigned looks)
{
	struct timespec until;

	if (looks < LOOKS) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += NAP_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		sem_clockwait(&r->has_arrived, CLOCK_MONOTONIC, &until);
		return;
	}
	/* seq_cst, all: pairs with relay_send() */
	atomic_store(&r->is_asleep, true);
	/* one that was woken for nothing looks once more */
	if (!atomic_load(&r->arrived))
		sem_wait(&r->has_arrived);
	atomic_store(&r->is_asleep, false);
}

static void *run_relay(void *arg)
{
	struct relay *r = arg;
	unsigned looks = LOOKS;

	current = r;
	for (;;) {
		struct relay_item *item = take(r), *next;

		looks = item ? 0 : looks + 1;
		for (; item; item = next) {
			next = item->next;
			r->deliver(item);
			/* release: pairs with relay_settle() */
			atomic_fetch_add_explicit(&r->nr_delivered, 1, memory_order_release);
		}
		rest(r, looks);
	}
	return NULL;
}

bool relay_start(struct relay *r, relay_fn deliver)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int err;

	r->deliver = deliver;
	if (sem_init(&r->has_arrived, 0, 0) != 0 || pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, run_relay, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return err == 0;
}

void relay_relieve(const struct relay *r)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	/* relaxed: a hint */
	for (int i = 0;
	     i < RELIEF_NAPS && !relay_is_current(r) &&
	     atomic_load_explicit(&r->nr_sent, memory_order_relaxed) -
			     atomic_load_explicit(&r->nr_delivered, memory_order_relaxed) >
		     FAR_BEHIND;
	     i++)
		sys_nap(&nap);
}

void relay_settle(struct relay *r, uint64_t ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t sent = atomic_load_explicit(&r->nr_sent, memory_order_relaxed);

	if (atomic_load_explicit(&r->nr_delivered, memory_order_acquire) < sent)
		sem_post(&r->has_arrived);
	/* acquire: pairs with run_relay() */
	for (uint64_t waited = 0;
	     waited < ns && atomic_load_explicit(&r->nr_delivered, memory_order_acquire) < sent;
	     waited += NAP_NS)
		sys_nap(&nap);
}
