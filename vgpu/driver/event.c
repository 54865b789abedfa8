/* SPDX-License-Identifier: MIT */
/* event.c - events, with which the device wakes host threads
 *
 * An event has an id, and a slot in a page of memory that the program allocates: the device stores
 * the id there and interrupts. Records are never freed, only reused: the device may signal an event
 * while it is being destroyed.
 *
 * Owns:     the table of events.
 * Threads:  any.
 * Locks:    `lock`; taken under the engine's lock, never the other way round.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../engine/engine.h"
#include "../engine/gpu.h"
#include "../engine/host.h"
#include "driver.h"
#include "kfd_abi.h"

#define EVENTS_MAX 4096 /* slots of the page */
#define WAITED_MAX 16
#define FOREVER UINT32_MAX
#define EVENTS_PAGE (2ull << 62) /* the offset of mmap() at which the kernel has it */

struct waiter {
	pthread_cond_t cond;
};

/* One event that one thread waits for. */
struct link {
	struct link *next;
	struct waiter *waiter;
	struct event *event;
	bool activated;
};

struct event {
	struct event *next_free;
	struct link *links;
	uint32_t id, type;
	unsigned int nr_alone; /* threads that wait for all of a list that is this event */
	uint64_t age;	       /* number of its signals, from 1 on */
	bool live, manual, signaled;
	struct kfd_memory_exception fault;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct event *table[EVENTS_MAX];
static uint32_t nr_events = 1; /* id 0 is none */
static struct event *free_head, *free_tail;
static struct event *memory_event;

static struct event *find_event(uint32_t id)
{
	struct event *e = id < nr_events ? table[id] : NULL;

	return e && e->live ? e : NULL;
}

/* As in the kernel, a signal wakes all waiting threads, and is kept only if there are none. */
static void signal_locked(struct event *e)
{
	e->signaled = e->manual || !e->links;
	e->age++;
	for (struct link *l = e->links; l; l = l->next) {
		l->activated = true;
		pthread_cond_signal(&l->waiter->cond);
	}
}

void host_event_set(uint32_t id)
{
	event_request_set(id);
}

bool host_event_blocks(uint32_t id)
{
	struct event *e;
	bool blocks;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	blocks = e && e->nr_alone;
	pthread_mutex_unlock(&lock);
	return blocks;
}

void host_memory_fault(unsigned int gpu, uint64_t addr, unsigned int error_type)
{
	bool handled = false;

	smi_fault(gpu);
	pthread_mutex_lock(&lock);
	if (memory_event) {
		memory_event->fault = (struct kfd_memory_exception){
			.not_present = !error_type,
			.va = addr & ~4095ull,
			.gpu_id = gpu_number(gpu),
			.error_type = error_type & 7,
		};
		signal_locked(memory_event);
		handled = true;
	}
	pthread_mutex_unlock(&lock);
	if (handled)
		return;
	/* the kernel sends SIGBUS or SIGSEGV to a process without such an event */
	fprintf(stderr,
		"vgpu: memory access fault by GPU node-%u on address 0x%llx, for which the runtime has no handler\n",
		gpu + 1, (unsigned long long)(addr & ~4095ull));
	abort();
}

static struct event *take_event(void)
{
	struct event *e = free_head;

	if (e) {
		free_head = e->next_free;
		if (!free_head)
			free_tail = NULL;
		return e;
	}
	if (nr_events == EVENTS_MAX)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->id = nr_events;
	table[nr_events++] = e;
	return e;
}

int event_request_create(struct kfd_create_event *args)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = take_event();
	if (e) {
		e->type = args->event_type;
		e->manual = !args->auto_reset;
		e->signaled = false;
		e->age = 1;
		e->live = true;
		memset(&e->fault, 0, sizeof(e->fault));
		if (e->type == KFD_EVENT_MEMORY)
			memory_event = e;
		args->event_id = args->trigger_data = args->slot_index = e->id;
		/* the thunk has an address for the slot only if this is set; it made the page
		 * itself */
		args->page_offset = EVENTS_PAGE;
	}
	pthread_mutex_unlock(&lock);
	return e ? 0 : -ENOSPC;
}

int event_request_destroy(uint32_t id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	if (e) {
		signal_locked(e);
		e->live = false;
		e->next_free = NULL;
		if (e == memory_event)
			memory_event = NULL;
		/* reuse the slot as late as possible, so that a late signal does not wake threads
		 * of a new event */
		if (free_tail)
			free_tail->next_free = e;
		else
			free_head = e;
		free_tail = e;
	}
	pthread_mutex_unlock(&lock);
	return e ? 0 : -EINVAL;
}

int event_request_set(uint32_t id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	if (e)
		signal_locked(e);
	pthread_mutex_unlock(&lock);
	return e ? 0 : -EINVAL;
}

int event_request_reset(uint32_t id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	if (e)
		e->signaled = false;
	pthread_mutex_unlock(&lock);
	return e ? 0 : -EINVAL;
}

static bool satisfied(const struct link *links, uint32_t nr, bool all)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < nr; i++)
		set += links[i].activated;
	return all ? set == nr : set > 0;
}

static struct timespec deadline(uint32_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

/*
 * Ages, of interface 1.14: a thread that waits with the age that the event had when it looked at
 * what the event announces misses no signal in between. 0 is no age.
 */
static bool is_younger(const struct event *e, uint64_t age)
{
	return e->type == KFD_EVENT_SIGNAL && age && age != e->age;
}

/* Whether a thread waits for one event, as the thunk's wait for one does. A list of which any
 * suffices is a runtime's own thread, which waits for all that is in flight, and now and then that
 * is one event. */
static bool is_alone(const struct kfd_wait_events *args)
{
	return args->num_events == 1 && args->wait_for_all;
}

static int link_all(struct link *links, const struct kfd_event_data *data, uint32_t nr, bool alone,
		    struct waiter *waiter)
{
	for (uint32_t i = 0; i < nr; i++) {
		links[i].event = find_event(data[i].event_id);
		if (!links[i].event)
			return -EINVAL;
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct event *e = links[i].event;

		links[i].activated = e->signaled || is_younger(e, data[i].signal.last_event_age);
		if (!e->manual)
			e->signaled = false;
		links[i].waiter = waiter;
		links[i].next = e->links;
		e->links = &links[i];
		e->nr_alone += alone;
	}
	return 0;
}

static void unlink_all(struct link *links, uint32_t nr, bool alone)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct link **at = &links[i].event->links;

		while (*at && *at != &links[i])
			at = &(*at)->next;
		if (*at)
			*at = links[i].next;
		links[i].event->nr_alone -= alone;
	}
}

/* What the events have to say, for those that were signaled. */
static void tell(const struct link *links, struct kfd_event_data *data, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct event *e = links[i].event;

		if (!links[i].activated)
			continue;
		if (e->type == KFD_EVENT_MEMORY)
			data[i].memory = e->fault;
		else if (e->type == KFD_EVENT_SIGNAL && data[i].signal.last_event_age)
			data[i].signal.last_event_age = e->age;
	}
}

/*
 * Of two threads that wait for one event one can take the other's signal, between its look at what
 * the event announces and its wait (seen in hsa_queue_destroy() of 5.2.3, 2 of 360 runs). Ages
 * prevent that. A wait without an age ends by then as if the event had been
 * signaled: the runtime looks again after each wait, and what was a hang is a delay.
 */
#define LONGEST_WAIT_MS 500u

static bool looks_again(const struct kfd_wait_events *args, const struct kfd_event_data *data)
{
	const struct event *e = is_alone(args) ? find_event(data->event_id) : NULL;

	return e && e->type == KFD_EVENT_SIGNAL && !data->signal.last_event_age &&
	       args->timeout_ms > LONGEST_WAIT_MS;
}

static int wait_locked(struct kfd_wait_events *args, struct kfd_event_data *data,
		       struct link *links)
{
	bool again = looks_again(args, data);
	uint32_t nr = args->num_events, ms = again ? LONGEST_WAIT_MS : args->timeout_ms;
	struct timespec until = deadline(ms);
	struct waiter waiter;
	pthread_condattr_t attr;
	bool got = false;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&waiter.cond, &attr);
	pthread_condattr_destroy(&attr);
	err = link_all(links, data, nr, is_alone(args), &waiter);
	if (!err) {
		int timed_out = 0;

		while (!(got = satisfied(links, nr, args->wait_for_all)) && ms &&
		       timed_out != ETIMEDOUT)
			timed_out = ms == FOREVER ?
					    pthread_cond_wait(&waiter.cond, &lock) :
					    pthread_cond_timedwait(&waiter.cond, &lock, &until);
		unlink_all(links, nr, is_alone(args));
		if (got)
			tell(links, data, nr);
		args->result = got || again ? KFD_WAIT_COMPLETE : KFD_WAIT_TIMEOUT;
	} else {
		args->result = KFD_WAIT_FAIL;
	}
	pthread_cond_destroy(&waiter.cond);
	return err;
}

int event_request_wait(struct kfd_wait_events *args)
{
	struct kfd_event_data *data = (struct kfd_event_data *)(uintptr_t)args->events_ptr;
	struct link on_stack[WAITED_MAX], *links = on_stack;
	int err, state;

	if (args->num_events > WAITED_MAX) {
		links = calloc(args->num_events, sizeof(*links));
		if (!links)
			return -ENOMEM;
	}
	if (args->timeout_ms)
		engine_kick();
	/* an ioctl is no cancellation point */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	err = wait_locked(args, data, links);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
	if (links != on_stack)
		free(links);
	return err;
}

void event_lock(void)
{
	pthread_mutex_lock(&lock);
}

void event_unlock(bool child)
{
	/* the records are not freed: the stacks of the parent's threads have links to them */
	if (child) {
		memset(table, 0, sizeof(table));
		nr_events = 1;
		free_head = free_tail = memory_event = NULL;
	}
	pthread_mutex_unlock(&lock);
}
