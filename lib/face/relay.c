/* SPDX-License-Identifier: MIT */
/* relay.c - a list that any thread adds to, and the thread that empties it
 *
 * Owns:     the thread of each relay.
 * Threads:  any.
 * Hot path: relay_send(): no lock.
 */
#include "relay.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#define NAP_NS 100000

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
	/* release: pairs with take() */
	while (!atomic_compare_exchange_weak_explicit(&r->arrived, &newest, item,
						      memory_order_release, memory_order_relaxed));
	/* else the thread has not taken the others yet */
	if (!newest)
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

static void *run_relay(void *arg)
{
	struct relay *r = arg;

	current = r;
	for (;;) {
		struct relay_item *item, *next;

		for (item = take(r); item; item = next) {
			next = item->next;
			r->deliver(item);
			/* release: pairs with relay_settle() */
			atomic_fetch_add_explicit(&r->nr_delivered, 1, memory_order_release);
		}
		while (sem_wait(&r->has_arrived) != 0)
			;
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

void relay_settle(struct relay *r, uint64_t ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t sent = atomic_load_explicit(&r->nr_sent, memory_order_relaxed);

	/* acquire: pairs with run_relay() */
	for (uint64_t waited = 0;
	     waited < ns && atomic_load_explicit(&r->nr_delivered, memory_order_acquire) < sent;
	     waited += NAP_NS)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}
