/* SPDX-License-Identifier: MIT */
/* kmt_event.c - events, with which the device wakes host threads
 *
 * An event has an id, and a word of memory (mailbox) into which the device writes the id. Event records are
 * never freed, only reused: the device may signal an event while it is being destroyed.
 *
 * Owns:     the table of events, the mailboxes.
 * Threads:  any.
 * Locks:    `lock`; taken under the engine's lock, never the other way round.
 */
#include "kmt_event.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine.h"
#include "kmt.h"
#include "mem.h"

#define EVENTS_MAX 65536
#define LINKS_MAX 16

struct waiter {
	pthread_cond_t cond;
};

/* One event that one thread waits for. */
struct link {
	struct link *next;
	struct waiter *waiter;
	bool activated;
};

struct event {
	HsaEvent pub; /* the runtime's view; must be first */
	struct event *next_free;
	struct link *links;
	unsigned int nr_blocked; /* threads in hsaKmtWaitOnEvent() */
	uint64_t age;		 /* number of its signals, from 1 on */
	bool live, manual, signaled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct event *table[EVENTS_MAX];
static uint32_t nr_events = 1; /* id 0 is none */
static struct event *free_head, *free_tail;
static uint64_t *mailboxes;
static struct event *memory_event;

static struct event *find_event(uint32_t id)
{
	struct event *e = id < nr_events ? table[id] : NULL;

	return e && e->live ? e : NULL;
}

/* As in the kernel driver, a signal wakes all waiting threads, and is kept only if there are none.
 * The runtime depends on it: when a queue is destroyed two of its threads wait for the same event. */
static void signal_locked(struct event *e)
{
	e->signaled = e->manual || !e->links;
	e->age++;
	for (struct link *l = e->links; l; l = l->next) {
		l->activated = true;
		pthread_cond_signal(&l->waiter->cond);
	}
}

void kmt_event_set(uint32_t id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	if (e)
		signal_locked(e);
	pthread_mutex_unlock(&lock);
}

bool kmt_event_blocks(uint32_t id)
{
	struct event *e;
	bool blocks;

	pthread_mutex_lock(&lock);
	e = find_event(id);
	blocks = e && e->nr_blocked;
	pthread_mutex_unlock(&lock);
	return blocks;
}

void kmt_event_memory_fault(unsigned int gpu, uint64_t addr, unsigned int error_type)
{
	bool handled = false;

	addr &= ~4095ull;
	pthread_mutex_lock(&lock);
	if (memory_event && memory_event->live) {
		HsaMemoryAccessFault *fault =
			&memory_event->pub.EventData.EventData.MemoryAccessFault;

		fault->NodeId = gpu + 1;
		fault->VirtualAddress = addr;
		fault->Failure.NotPresent = !error_type;
		fault->Failure.ErrorType = error_type & 7;
		fault->Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
		signal_locked(memory_event);
		handled = true;
	}
	pthread_mutex_unlock(&lock);
	if (handled)
		return;
	/* what the runtime's handler does */
	fprintf(stderr,
		"vgpu: memory access fault by GPU node-%u on address 0x%llx, for which the runtime has no handler\n",
		gpu + 1, (unsigned long long)addr);
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
	if (!mailboxes) {
		mailboxes = mmap(NULL, EVENTS_MAX * sizeof(*mailboxes), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (mailboxes == MAP_FAILED) {
			mailboxes = NULL;
			return NULL;
		}
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->pub.EventId = nr_events;
	table[nr_events++] = e;
	return e;
}

KMT_API HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *desc, bool manual, bool signaled,
					HsaEvent **out)
{
	struct event *e;

	if (!desc || !out)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	e = take_event();
	if (e) {
		memset(&e->pub.EventData, 0, sizeof(e->pub.EventData));
		e->pub.EventData.EventType = desc->EventType;
		e->pub.EventData.EventData.SyncVar = desc->SyncVar;
		e->pub.EventData.HWData1 = e->pub.EventId;
		e->pub.EventData.HWData2 = (uintptr_t)&mailboxes[e->pub.EventId];
		e->pub.EventData.HWData3 = e->pub.EventId;
		/* the device may write the id of the slot's previous event until here */
		mem_store64(&mailboxes[e->pub.EventId], 0);
		e->manual = manual;
		e->signaled = signaled;
		e->age = 1;
		e->live = true;
		if (desc->EventType == HSA_EVENTTYPE_MEMORY)
			memory_event = e;
		*out = &e->pub;
	}
	pthread_mutex_unlock(&lock);
	return e ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NO_MEMORY;
}

KMT_API HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event)
{
	struct event *e = (struct event *)event;

	if (!e)
		return HSAKMT_STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	if (e->live) {
		signal_locked(e);
		e->live = false;
		e->next_free = NULL;
		if (e == memory_event)
			memory_event = NULL;
		/* reuse the slot as late as possible, so that a late signal does not wake threads of a new event */
		if (free_tail)
			free_tail->next_free = e;
		else
			free_head = e;
		free_tail = e;
	}
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	signal_locked((struct event *)event);
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	((struct event *)event)->signaled = false;
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

/* Consumes the event's kept signal; false if there is none. */
static bool take_signal(struct event *e)
{
	bool had = e->signaled;

	if (!e->manual)
		e->signaled = false;
	return had;
}

static bool satisfied(const struct link *links, HSAuint32 nr, bool all)
{
	HSAuint32 set = 0;

	for (HSAuint32 i = 0; i < nr; i++)
		set += links[i].activated;
	return all ? set == nr : set > 0;
}

static struct timespec deadline(HSAuint32 ms)
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

static void unlink_waiter(HsaEvent *events[], HSAuint32 nr, struct link *links)
{
	for (HSAuint32 i = 0; i < nr; i++) {
		struct link **at = &((struct event *)events[i])->links;

		while (*at && *at != &links[i])
			at = &(*at)->next;
		if (*at)
			*at = links[i].next;
	}
}

/*
 * Ages, of interface 1.14: a thread that waits with the age that the event had when it looked at what the event announces misses
 * no signal in between. Events of other types have none, and 0 is no age.
 */
static bool has_age(const struct event *e, const uint64_t *age)
{
	return age && *age && e->pub.EventData.EventType == HSA_EVENTTYPE_SIGNAL;
}

static void store_ages(HsaEvent *events[], HSAuint32 nr, const struct link *links, uint64_t *ages)
{
	for (HSAuint32 i = 0; ages && i < nr; i++) {
		const struct event *e = (const struct event *)events[i];

		if (links[i].activated && has_age(e, &ages[i]))
			ages[i] = e->age;
	}
}

/* ages: NULL, or one for each event; those of events that were signaled become the present ones. */
static HSAKMT_STATUS wait_locked(HsaEvent *events[], HSAuint32 nr, bool all, HSAuint32 ms,
				 uint64_t *ages, struct link *links)
{
	struct timespec until = deadline(ms);
	struct waiter waiter;
	pthread_condattr_t attr;
	bool got;
	int err = 0;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&waiter.cond, &attr);
	pthread_condattr_destroy(&attr);
	for (HSAuint32 i = 0; i < nr; i++) {
		struct event *e = (struct event *)events[i];

		links[i].activated = take_signal(e) ||
				     (ages && has_age(e, &ages[i]) && ages[i] != e->age);
		links[i].waiter = &waiter;
		links[i].next = e->links;
		e->links = &links[i];
	}
	while (!(got = satisfied(links, nr, all)) && ms && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&waiter.cond, &lock, &until);
	unlink_waiter(events, nr, links);
	if (got)
		store_ages(events, nr, links, ages);
	pthread_cond_destroy(&waiter.cond);
	return got ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

KMT_API HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *events[], HSAuint32 nr, bool all,
						     HSAuint32 ms, uint64_t *age)
{
	struct link on_stack[LINKS_MAX], *links = on_stack;
	HSAKMT_STATUS status;

	if (!events || !nr)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	/* a forked child has no engine that could signal an event */
	if (kmt_misc_inert())
		return HSAKMT_STATUS_WAIT_FAILURE;
	if (nr > LINKS_MAX) {
		links = calloc(nr, sizeof(*links));
		if (!links)
			return HSAKMT_STATUS_NO_MEMORY;
	}
	if (ms)
		engine_kick();
	pthread_mutex_lock(&lock);
	status = wait_locked(events, nr, all, ms, age, links);
	pthread_mutex_unlock(&lock);
	if (links != on_stack)
		free(links);
	return status;
}

KMT_API HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *events[], HSAuint32 nr, bool all,
						 HSAuint32 ms)
{
	return hsaKmtWaitOnMultipleEvents_Ext(events, nr, all, ms, NULL);
}

static void count_blocked(HsaEvent *event, unsigned int change)
{
	pthread_mutex_lock(&lock);
	((struct event *)event)->nr_blocked += change;
	pthread_mutex_unlock(&lock);
}

/* ROCr checks its signals whenever a wait returns. If two of its threads wait for one event, one can
 * take the other's wake-up (seen in hsa_queue_destroy() of 5.2.3, 2 of 360 runs): a limit of the wait
 * makes that a delay instead of a hang. */
#define LONGEST_WAIT_MS 500u

KMT_API HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 ms, uint64_t *age)
{
	HSAKMT_STATUS status;

	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	count_blocked(event, 1);
	status = hsaKmtWaitOnMultipleEvents_Ext(&event, 1, true,
						ms < LONGEST_WAIT_MS ? ms : LONGEST_WAIT_MS, age);
	count_blocked(event, -1u);
	return ms > LONGEST_WAIT_MS ? HSAKMT_STATUS_SUCCESS : status;
}

KMT_API HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 ms)
{
	return hsaKmtWaitOnEvent_Ext(event, ms, NULL);
}

KMT_API HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	return hsaKmtWaitOnMultipleEvents(&event, 1, true, 0);
}

bool kmt_event_mailboxes(uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	uint64_t start = (uintptr_t)__atomic_load_n(&mailboxes, __ATOMIC_ACQUIRE);

	if (!start || addr < start || addr - start >= EVENTS_MAX * sizeof(*mailboxes))
		return false;
	*lo = start;
	*hi = start + EVENTS_MAX * sizeof(*mailboxes);
	return true;
}

void kmt_event_lock(void)
{
	pthread_mutex_lock(&lock);
}

void kmt_event_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
