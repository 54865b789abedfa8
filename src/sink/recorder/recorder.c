/* SPDX-License-Identifier: MIT */
/* recorder.c - the sink that writes events to the spool
 *
 * Owns:     the spool of this process, its drainer, the page that says whether to record.
 * Threads:  event() and loss() any; tick() the life thread; start() and stop() one.
 * Locks:    LOCK_META, when a name finds no room in its thread's chunk.
 * Hot path: record() - no lock, no allocation, no system call.
 * Fails:    no free slot: the event is dropped and counted; no thread place: the same.
 * Not here: files (spool.c), chunks (buf.c), records (encode.c), moving to disk (event/drain.c).
 */
#include "sink/recorder/recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LOG_TOPIC "recorder"
#include "base/alloc.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/location.h"
#include "event/drain.h"
#include "event/life.h"
#include "event/thread.h"
#include "sink/recorder/buf.h"
#include "sink/recorder/encode.h"
#include "sink/recorder/finish.h"
#include "sink/recorder/spool.h"

#define BASE_SLOTS 48u	      /* prepared once the life thread runs: 4.5 MiB */
#define FIRST_STEP 4u	      /* by a program's thread */
#define PREPARE_STEP 24u      /* at a time, so that a tick stays short */
#define DRAIN_STEP (1u << 20) /* bytes in a tick, so that sources get their turn */
#define DRAIN_AGAIN_NS 2000000u
#define RETRY_NS UINT64_C(200000000)
#define QUIET_WAIT_NS 2000000 /* for the writers of one record, where there is no barrier */
#define QUIET_TRIES 50
#define ROOM_PAUSE_NS 50000
#define ROOM_TRIES 200
#define FIRST_TRIES 4000 /* at the beginning: once, and not in the middle of anything */
#define NEW_ROOM_TRIES 64

enum mode { MODE_NONE = 0 /* not started, or a child's copy */, MODE_ON = LANE_OPEN, MODE_OVER };

/* A page of its own that the kernel clears in the child of any fork, also one that no handler of
 * ours sees: the child shares the buffers with us and must not write to them. */
struct page {
	_Atomic int mode; /* enum mode */
};

/* set in start, constant after */
static struct page *page;
/* life thread; the one that stops after it */
static struct spool spool;
static struct drain drain;
static bool drain_ready;
static uint64_t drained_seals;
static bool is_closed;
static uint64_t late_in_file; /* the count of late events when the file was closed */
/* atomic */
static _Atomic uint32_t ticking;
static _Atomic bool has_begun; /* the life thread has prepared its slots */
static struct lock meta_lock = LOCK_INIT(LOCK_META);
static struct buf *meta_buf RTL_GUARDED_BY(meta_lock);

static enum spool_reason why_no_room(void)
{
	/* relaxed: a reason, not a decision */
	int err = (int)atomic_load_explicit(&spool.header->disk_state, memory_order_relaxed);

	if (!err)
		return SPOOL_REASON_buffer_full;
	if (err == ENOSPC || err == EDQUOT || err == EFBIG)
		return SPOOL_REASON_disk_full;
	return SPOOL_REASON_write_error;
}

static void count(enum spool_reason reason, uint64_t nr)
{
	struct spool_loss *l = &spool.header->loss[reason];
	uint64_t now = clock_now_ns();
	uint64_t none = 0;

	/* relaxed: counters on their own */
	atomic_fetch_add_explicit(&l->count, nr, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&l->first_ns, &none, now, memory_order_relaxed,
						memory_order_relaxed);
	atomic_store_explicit(&l->last_ns, now, memory_order_relaxed);
}

static void loss(enum spool_reason reason, uint64_t nr)
{
	/* relaxed: set before the sink is attached; cleared by the kernel */
	int mode = page ? atomic_load_explicit(&page->mode, memory_order_relaxed) : MODE_NONE;

	if (mode == MODE_NONE || (unsigned int)reason >= SPOOL_NR_REASONS)
		return;
	count(reason, nr);
}

/* Rare, and worth the reserve when all else is full. */
static bool names_something(enum event_kind kind)
{
	return EVENT_BIT(kind) & EVENTS_FACTS;
}

/* HOT: the owner begins to write. */
static inline void enter(struct buf *b)
{
	/* relaxed and no fence: barrier_all() in quiet() and buf_reclaim() stands in for it */
	atomic_store_explicit(&b->lane.busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* acquire: pairs with the release in buf_reclaim() */
	if (RTL_UNLIKELY(atomic_load_explicit(&b->lane.revoked, memory_order_acquire)))
		buf_wait(b);
}

/* HOT: its record is committed. */
static inline void leave(struct buf *b)
{
	/* release: pairs with buf_any_busy() and buf_reclaim() */
	atomic_store_explicit(&b->lane.busy, 0, memory_order_release);
}

static bool encode_meta(const struct event *ev)
{
	bool good;

	lock_take(&meta_lock);
	if (!meta_buf) {
		meta_buf = buf_take(thread_get()->tid);
		if (meta_buf)
			meta_buf->is_meta = true;
	}
	good = meta_buf != NULL;
	if (good) {
		enter(meta_buf);
		good = encode_event(meta_buf, ev);
		leave(meta_buf);
	}
	lock_drop(&meta_lock);
	return good;
}

/* Memory that nobody has prepared yet: threads that all begin at once need a chunk each, faster than the
 * life thread has its turns. */
static bool can_prepare(void)
{
	/* relaxed: a hint */
	return atomic_load_explicit(&spool.header->nr_prepared, memory_order_relaxed) <
	       spool.header->nr_slots;
}

static bool has_room(void)
{
	/* relaxed: a hint */
	return atomic_load_explicit(&spool.header->nr_free, memory_order_relaxed) > BUF_RESERVE;
}

/* What completed while the life thread was away is recorded in one burst, by itself or by a thread
 * that found its ring full, with nobody to prepare slots for it: then it is done here. What a
 * program's thread records of its own waits for that only while there is memory left, and never long. */
static bool make_room(const struct thread *t, enum event_kind kind)
{
	struct timespec pause = { 0, ROOM_PAUSE_NS };
	uint32_t step = PREPARE_STEP;
	int tries = ROOM_TRIES;
	bool made;

	if (!t->is_ours && !(EVENT_BIT(kind) & EVENTS_OPERATIONS)) {
		if (!can_prepare())
			return has_room();
		step = FIRST_STEP;
		/* relaxed: a hint */
		if (!atomic_load_explicit(&has_begun, memory_order_relaxed))
			tries = FIRST_TRIES;
	}
	/* acquire: pairs with the release here and in tick() */
	for (int i = 0; atomic_exchange_explicit(&ticking, 1, memory_order_acquire); i++) {
		if (i == tries)
			return has_room();
		if (step == FIRST_STEP && has_room())
			return true;
		nanosleep(&pause, NULL); /* somebody else prepares some */
	}
	made = spool_prepare(&spool, step) > 0;
	atomic_store_explicit(&ticking, 0, memory_order_release);
	return made;
}

/* Others may take the room that was made. */
static RTL_COLD bool encode_in_new_room(const struct thread *t, struct buf *b,
					const struct event *ev)
{
	for (int i = 0; i < NEW_ROOM_TRIES && make_room(t, ev->kind); i++) {
		if (encode_event(b, ev))
			return true;
	}
	return false;
}

static void no_room(const struct event *ev, enum spool_reason reason)
{
	if (!names_something(ev->kind) || !encode_meta(ev))
		count(reason, 1);
}

/* The trace is closed. A runtime that takes its queues and code apart in an exit handler (HIP 7.2) loses nothing
 * by that. */
static RTL_COLD void count_late(const struct event *ev)
{
	if (!(EVENT_BIT(ev->kind) & EVENTS_FACTS))
		loss(SPOOL_REASON_late, 1);
}

static RTL_COLD void give_lane(struct thread *t, struct buf *b)
{
	b->lane.gate = &page->mode;
	t->lane = &b->lane;
}

/* HOT: the sink's event(). */
static void record(const struct event *ev)
{
	struct thread *t = thread_get();
	struct buf *b = t->buf;

	if (RTL_UNLIKELY(!b)) {
		if (atomic_load_explicit(&page->mode, memory_order_relaxed) == MODE_ON)
			b = t->buf = buf_take(t->tid);
		if (!b) {
			if (atomic_load_explicit(&page->mode, memory_order_relaxed) == MODE_ON)
				no_room(ev, SPOOL_REASON_thread_slots);
			else
				count_late(ev);
			return;
		}
	}
	/* relaxed: only a signal handler on this thread can see it set here */
	if (RTL_UNLIKELY(atomic_load_explicit(&b->lane.busy, memory_order_relaxed))) {
		loss(SPOOL_REASON_reentrant, 1);
		return;
	}
	enter(b);
	if (RTL_UNLIKELY(atomic_load_explicit(&page->mode, memory_order_relaxed) != MODE_ON))
		count_late(ev);
	else if (RTL_UNLIKELY(!encode_event(b, ev)) && !encode_in_new_room(t, b, ev))
		no_room(ev, why_no_room());
	else if (RTL_UNLIKELY(t->lane == &lane_none) && ev->kind == EVENT_API)
		give_lane(t, b); /* its thread is on record by now */
	leave(b);
}

static void thread_ends(struct thread *t)
{
	struct buf *b = t->buf;

	t->buf = NULL;
	t->lane = &lane_none;
	if (!b || !page || atomic_load_explicit(&page->mode, memory_order_relaxed) != MODE_ON)
		return;
	encode_done(b);
	buf_give(b);
}

static int start_page(void)
{
	struct page *p = page ? page : alloc_pages(SPOOL_PAGE);

	if (!p)
		return -ENOMEM;
	/* EINVAL on a kernel before 4.14: then pthread_atfork() in life.c is all there is */
	madvise(p, SPOOL_PAGE, MADV_WIPEONFORK);
	page = p;
	return 0;
}

static int start(void)
{
	int err = start_page();

	if (!err)
		err = spool_create(&spool, location_spool_dir(), location_mem_dir(),
				   env_uint(ENV_BUFFER_MB) << 20);
	if (err) {
		log_warn("%s: no spool can be made: %s", location_spool_dir(), strerror(-err));
		return err;
	}
	err = buf_init(spool.header);
	if (err)
		return err;
	drain_init(&drain, spool.header, spool.size, spool.disk_fd);
	drain_ready = true;
	if (!location_is_session())
		drain_take(&drain, clock_read_ns(CLOCK_BOOTTIME));
	thread_at_exit(THREAD_EXIT_RECORDER, thread_ends);
	log_info("spool %s, %u slots in %s", spool.header->disk_path, spool.header->nr_slots,
		 spool.header->mem_path);
	/* release: pairs with bus_attach(), which publishes the sink */
	atomic_store_explicit(&page->mode, MODE_ON, memory_order_release);
	return 0;
}

/* More slots, when more than half of them are in use. */
static void prepare(void)
{
	struct spool_header *h = spool.header;

	for (;;) {
		/* relaxed: hints */
		uint32_t prepared = atomic_load_explicit(&h->nr_prepared, memory_order_relaxed);
		uint32_t nr_free = atomic_load_explicit(&h->nr_free, memory_order_relaxed);

		if (prepared >= h->nr_slots || (prepared >= BASE_SLOTS && nr_free >= prepared / 2))
			return;
		if (!spool_prepare(&spool, PREPARE_STEP))
			return;
	}
}

/* Whether draining is somebody else's: `rtl trace`, also when it has not come to it yet. */
static bool is_drained_outside(uint64_t now_boot_ns)
{
	struct spool_header *h = spool.header;

	if (location_is_session() && !atomic_load_explicit(&h->drainer, memory_order_relaxed) &&
	    now_boot_ns < h->start_ns + DRAIN_TAKEOVER_NS)
		return true;
	return !drain_take(&drain, now_boot_ns);
}

/* One step of draining. Bytes, 0 when there is nothing to do, or -errno. */
static int64_t drain_step(bool final, uint64_t max_bytes, uint64_t now_boot_ns)
{
	int fd = spool_disk_fd(&spool);

	if (fd < 0)
		return -EBADF;
	if (fd != drain.disk_fd)
		drain_set_fd(&drain, fd);
	return drain_run(&drain, final, max_bytes, now_boot_ns);
}

static bool is_low(void)
{
	/* relaxed: hints */
	return atomic_load_explicit(&spool.header->nr_free, memory_order_relaxed) <
	       atomic_load_explicit(&spool.header->nr_prepared, memory_order_relaxed) / 2;
}

/* Slots are out, and not for want of draining: they are open. */
static bool is_starved(void)
{
	return atomic_load_explicit(&spool.header->nr_free, memory_order_relaxed) <=
		       2 * BUF_RESERVE &&
	       !drain_waiting(&drain, false);
}

static int64_t failed_with; /* the last error of a drain that was said; life thread */

/* A write takes as long as the disk likes, while GPU operations wait for this thread to look at them; and
 * what lies in memory outlives the process as well. */
static bool is_worth_a_write(void)
{
	struct spool_header *h = spool.header;
	/* relaxed: hints */
	uint32_t prepared = atomic_load_explicit(&h->nr_prepared, memory_order_relaxed);
	uint32_t nr_free = atomic_load_explicit(&h->nr_free, memory_order_relaxed);

	return prepared > nr_free && (prepared - nr_free) * 4 > h->nr_slots;
}

static uint64_t tick_drain(uint64_t now_boot_ns)
{
	uint64_t seals = buf_nr_sealed();
	int64_t n;

	if (!is_low() && (seals == drained_seals || !is_worth_a_write()))
		return LIFE_IDLE;
	if (is_drained_outside(now_boot_ns)) {
		/* it takes what is there; asked again when there is more, or too much of it */
		drained_seals = seals;
		return is_low() ? RETRY_NS : LIFE_IDLE;
	}
	n = drain_step(false, DRAIN_STEP, now_boot_ns);
	if (n < 0) {
		if (n != failed_with)
			log_warn("%s: %s; kept in memory and tried again", spool.header->disk_path,
				 strerror((int)-n));
		failed_with = n;
		return RETRY_NS;
	}
	if (n >= (int64_t)DRAIN_STEP)
		return 0;
	drained_seals = seals;
	/* low all the same: many threads have a chunk open each */
	return n || is_low() ? DRAIN_AGAIN_NS : LIFE_IDLE;
}

static uint64_t tick(uint64_t now_ns)
{
	uint64_t next;

	(void)now_ns;
	/* acquire: pairs with the release below; stop() may be there if we were slow */
	if (atomic_exchange_explicit(&ticking, 1, memory_order_acquire))
		return LIFE_IDLE;
	prepare();
	atomic_store_explicit(&has_begun, true, memory_order_relaxed);
	if (is_starved())
		buf_reclaim();
	spool_note_clock(&spool);
	next = tick_drain(clock_read_ns(CLOCK_BOOTTIME));
	atomic_store_explicit(&ticking, 0, memory_order_release);
	return next;
}

/* No thread is in the middle of a record when this returns, if at all possible. */
static void quiet(void)
{
	struct timespec pause = { 0, QUIET_WAIT_NS };

	/* seq_cst: before the barrier, which every writer passes after its store to `busy` */
	atomic_store(&page->mode, MODE_OVER);
	if (!barrier_all())
		nanosleep(&pause, NULL);
	pause.tv_nsec /= 10;
	for (int i = 0; i < QUIET_TRIES && buf_any_busy(); i++)
		nanosleep(&pause, NULL);
}

/* All that is left goes to disk. true: the trace is closed. */
static bool drain_rest(void)
{
	int64_t n = drain_step(true, 0, clock_read_ns(CLOCK_BOOTTIME));
	int err = n < 0 ? (int)n : drain_finish(&drain);

	if (!err)
		return true;
	log_warn("%s: %s; the rest stays in %s: run `rtl recover` on the former",
		 spool.header->disk_path, strerror(-err), spool.header->mem_path);
	return false;
}

static void stop(void)
{
	struct spool_header *h = spool.header;
	_Atomic uint64_t *late = &h->loss[SPOOL_REASON_late].count;
	/* acquire: pairs with tick(), which is over then */
	bool hangs = atomic_exchange_explicit(&ticking, 1, memory_order_acquire);
	bool outside = !hangs && is_drained_outside(clock_read_ns(CLOCK_BOOTTIME));

	/* `rtl trace` takes up what comes until the process is gone: the API calls of exit handlers
	 * and destructors that run after this */
	if (!outside)
		quiet();
	spool_note_clock(&spool);
	atomic_store_explicit(&h->end_ns, clock_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&h->end_kind, SPOOL_END_EXIT, memory_order_release);
	if (hangs) {
		log_warn("%s: the disk does not answer; run `rtl recover` on it", h->disk_path);
		return;
	}
	late_in_file = atomic_load_explicit(late, memory_order_relaxed);
	if (!outside)
		is_closed = drain_rest();
	if (is_closed && !location_is_session())
		finish_run(h->disk_path, location_output());
}

void recorder_last_words(void)
{
	uint64_t late;

	if (!is_closed)
		return;
	late = atomic_load_explicit(&spool.header->loss[SPOOL_REASON_late].count,
				    memory_order_relaxed) -
	       late_in_file;
	if (late)
		log_warn("%s: %llu events came when the trace was closed; they are not in it",
			 location_is_session() ? spool.header->disk_path : location_output(),
			 (unsigned long long)late);
}

const struct sink recorder_sink = {
	.name = "recorder",
	.start = start,
	.event = record,
	.loss = loss,
	.tick = tick,
	.stop = stop,
	.pauses = true,
};
