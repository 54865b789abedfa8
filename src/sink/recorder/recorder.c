/* SPDX-License-Identifier: MIT */
/* recorder.c - the sink that writes events to the spool
 *
 * Owns:     the spool of this process, its drainer, the page with the recording mode.
 * Threads:  event() and loss() any; tick() the life thread; start() and stop() one at a time;
 *           recorder_open() and recorder_close() any.
 * Locks:    LOCK_META, if a naming record does not fit into its thread's chunk; LOCK_RECORDER,
 *           opening and closing.
 * Hot path: record(): no lock, no allocation, no system call.
 * Fails:    no free slot, or no free buf: the event is dropped and counted.
 * Not here: files (spool.c), chunks (buf.c), records (encode.c), moving to disk (spool/drain.c).
 */
#include "sink/recorder/recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOG_TOPIC "recorder"
#include "base/alloc.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/location.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/notice.h"
#include "base/str.h"
#include "base/sys.h"
#include "event/block.h"
#include "event/facts.h"
#include "event/left_out.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/thread.h"
#include "sink/recorder/buf.h"
#include "sink/recorder/encode.h"
#include "sink/recorder/finish.h"
#include "sink/recorder/spool.h"
#include "spool/drain.h"
#include "spool/flight.h"

#define FIRST_STEP 4u	      /* for calls of a program's thread */
#define PREPARE_STEP 24u      /* per tick at most, so that a tick stays short */
#define DRAIN_STEP (1u << 20) /* bytes per tick, so that sources get their ticks */
#define DRAIN_AGAIN_NS 2000000u
#define RETRY_NS UINT64_C(200000000)
/* Bytes of blocks that are made ahead: as many as there are, within these. The first have space for
 * 4,000 operations in flight. */
#define BLOCKS_SPARE_LEAST (UINT64_C(576) << 10)
#define BLOCKS_SPARE_MOST (UINT64_C(2) << 20)
#define QUIET_WAIT_NS 2000000 /* for a thread to finish its record, if there is no barrier */
#define QUIET_TRIES 50
#define NEW_SPACE_TRIES 64

enum mode {
	MODE_NONE = 0 /* not started, or a forked child's copy */,
	MODE_ON = LANE_OPEN,
	MODE_OVER /* the process ends: what comes is late */,
	MODE_CLOSED /* the trace was closed: what comes belongs to none */,
	MODE_CLOSING /* the same for calls; operations of the trace are still recorded */
};

/* A page that the kernel clears in every forked child, also where no fork handler runs: the child
 * shares the buffers with its parent and must not write to them. */
struct page {
	_Atomic int mode; /* enum mode */
};

/* set in start, constant afterwards */
static struct page *page;
/* opening and closing, one at a time, before it the trace of life_start() */
static struct lock open_lock = LOCK_INIT(LOCK_RECORDER);
static bool is_own;  /* the trace was opened by recorder_open(): `rtl trace` has no part in it */
static bool is_made; /* recorder_open() has made its spool */
static bool has_writers RTL_GUARDED_BY(open_lock); /* buf_close_all() has not waited for all */
static char own_output[LOCATION_SIZE];
/* A call that began before is left out: what it submitted may be in an earlier trace, or in none.
 * 0: all are recorded. */
static _Atomic uint64_t calls_from_ns;
/* Any thread, also a late one: the header of the last trace, or of the open one. */
static _Atomic(struct spool_header *) counters;
/* life thread, then the stopping thread */
static struct spool spool;
static struct drain drain;
static struct flight flight;
static bool drain_ready;
static uint64_t drained_seals;
static bool is_closed;
static uint64_t late_in_file; /* late events already counted when the file was closed */
/* atomic */
static _Atomic uint32_t ticking;
static _Atomic bool is_open, are_sources_kept;
/* guards what prepares slots and blocks: the memory half's descriptor, which may be closed */
static struct lock space_lock = LOCK_INIT(LOCK_SPACE);
static struct lock meta_lock = LOCK_INIT(LOCK_META);
static struct buf *meta_buf RTL_GUARDED_BY(meta_lock);

static int mode_now(void)
{
	/* acquire: pairs with start(): what it has set up is visible */
	return page ? atomic_load_explicit(&page->mode, memory_order_acquire) : MODE_NONE;
}

static enum spool_reason why_no_space(void)
{
	/* relaxed: selects a reason only */
	int err = (int)atomic_load_explicit(&spool.header->disk_state, memory_order_relaxed);

	if (!err)
		return SPOOL_REASON_buffer_full;
	if (err == ENOSPC || err == EDQUOT || err == EFBIG)
		return SPOOL_REASON_disk_full;
	return SPOOL_REASON_write_error;
}

static void count(enum spool_reason reason, uint64_t nr)
{
	struct spool_loss *l = &atomic_load_explicit(&counters, memory_order_relaxed)->loss[reason];
	uint64_t now = clock_now_ns();
	uint64_t none = 0;

	/* relaxed: independent counters */
	atomic_fetch_add_explicit(&l->count, nr, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&l->first_ns, &none, now, memory_order_relaxed,
						memory_order_relaxed);
	atomic_store_explicit(&l->last_ns, now, memory_order_relaxed);
}

/* rtl trace has stopped the recording. */
static bool is_full(void)
{
	/* relaxed: what happens during the change may be recorded or not */
	return atomic_load_explicit(&spool.header->is_full, memory_order_relaxed) != 0;
}

static void loss(enum spool_reason reason, uint64_t nr)
{
	int mode = mode_now(); /* the kernel clears it in a forked child */

	if (mode == MODE_NONE || mode == MODE_CLOSED || (unsigned int)reason >= SPOOL_NR_REASONS)
		return;
	if (reason == SPOOL_REASON_paused && is_full())
		reason = SPOOL_REASON_max_size;
	count(reason, nr);
}

/* Rare records that other records refer to: they may use the reserve. */
static bool names_something(enum event_kind kind)
{
	return EVENT_BIT(kind) & EVENTS_FACTS;
}

/* HOT: the owner begins to write. */
static inline void enter(struct buf *b)
{
	/* relaxed and no fence: the barrier_all() in quiet() and buf_reclaim() replaces it */
	atomic_store_explicit(&b->lane.busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* acquire: pairs with the release in buf_reclaim() */
	if (RTL_UNLIKELY(atomic_load_explicit(&b->lane.revoked, memory_order_acquire)))
		buf_wait(b);
}

/* HOT: the owner has committed its record. */
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

static bool has_space(void)
{
	/* relaxed: a hint */
	return atomic_load_explicit(&spool.header->nr_free, memory_order_relaxed) > BUF_RESERVE;
}

RTL_REQUIRES(space_lock) static uint32_t prepare_more(uint32_t nr)
{
	return spool_prepare(&spool, nr);
}

/* Makes `nr` more slots, unless another thread has just made some. false: there is no space. */
static bool prepare_slots(uint32_t nr)
{
	bool made;

	lock_take(&space_lock);
	made = mode_now() != MODE_CLOSED && (has_space() || prepare_more(nr) > 0);
	lock_drop(&space_lock);
	return made;
}

/* A thread that finds no slot makes some itself: the life thread may be writing to the disk, or
 * wait for a processor while many threads begin at once. Operations that completed while it was
 * away are recorded in one burst, which takes more. */
static bool make_space(const struct thread *t, enum event_kind kind)
{
	return prepare_slots(t->is_ours || (EVENT_BIT(kind) & EVENTS_OPERATIONS) ? PREPARE_STEP :
										   FIRST_STEP);
}

/* Retries, since other threads may take the slots that were prepared. */
static RTL_COLD bool encode_in_new_space(const struct thread *t, struct buf *b,
					 const struct event *ev)
{
	for (int i = 0; i < NEW_SPACE_TRIES && mode_now() != MODE_CLOSED && make_space(t, ev->kind);
	     i++) {
		if (encode_event(b, ev))
			return true;
	}
	return false;
}

static void no_space(const struct event *ev, enum spool_reason reason)
{
	if (!names_something(ev->kind) || !encode_meta(ev))
		count(reason, 1);
}

/* The trace is closed. Ends of queues and code are no loss: HIP 7.2 destroys them in an exit
 * handler. */
static RTL_COLD void count_late(const struct event *ev)
{
	if (!(EVENT_BIT(ev->kind) & EVENTS_FACTS))
		loss(SPOOL_REASON_late, 1);
}

/* The thread's call has been recorded, and so has the record of the thread. Not after a call within
 * another, which may have begun before the trace. */
static RTL_COLD void give_lane(struct thread *t, struct buf *b, const struct event *ev)
{
	if (ev->api.parent)
		return;
	b->lane.gate = &page->mode;
	t->lane = &b->lane;
}

/* The thread's first record of a trace. It had its lane in an earlier one: a call of that time must
 * not take it. */
static RTL_COLD void take_lane(struct thread *t, struct buf *b)
{
	b->was_closed = false;
	t->lane = &lane_none;
}

/* Whether the event is of no trace, or of another than the open one, and was counted. */
static RTL_COLD bool leave_out(const struct event *ev, int mode)
{
	if (mode == MODE_CLOSING && ev->kind != EVENT_API)
		return false;
	if (mode == MODE_ON)
		loss(SPOOL_REASON_paused, 1);
	else if (mode != MODE_CLOSING)
		count_late(ev);
	return true;
}

/* Whether the trace has calls that began then. */
static inline bool has_calls_of(uint64_t begin_ns)
{
	/* relaxed: written while no call has a time that is compared */
	return begin_ns >= atomic_load_explicit(&calls_from_ns, memory_order_relaxed);
}

/* HOT: the sink's event(). */
static void record(const struct event *ev)
{
	struct thread *t = thread_get();
	struct buf *b = t->buf;
	int mode;

	if (RTL_UNLIKELY(!b)) {
		mode = mode_now();
		if (mode == MODE_ON || mode == MODE_CLOSING)
			b = t->buf = buf_take(t->tid);
		if (!b) {
			if (mode == MODE_ON || mode == MODE_CLOSING)
				no_space(ev, SPOOL_REASON_thread_slots);
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
	if (RTL_UNLIKELY(b->was_closed))
		take_lane(t, b);
	/* acquire: pairs with start() */
	mode = atomic_load_explicit(&page->mode, memory_order_acquire);
	if (RTL_UNLIKELY(mode != MODE_ON ||
			 (ev->kind == EVENT_API && !has_calls_of(ev->api.begin_ns))) &&
	    leave_out(ev, mode))
		;
	else if (RTL_UNLIKELY(!encode_event(b, ev)) && !encode_in_new_space(t, b, ev))
		no_space(ev, why_no_space());
	else if (RTL_UNLIKELY(t->lane == &lane_none) && ev->kind == EVENT_API)
		give_lane(t, b, ev);
	leave(b);
}

static void thread_ends(struct thread *t)
{
	struct buf *b = t->buf;
	int mode = mode_now();

	t->buf = NULL;
	t->lane = &lane_none;
	if (!b || mode == MODE_NONE || mode == MODE_OVER)
		return;
	encode_done(b);
	buf_give(b);
}

static int start_page(void)
{
	struct page *p;

	if (page)
		return 0;
	p = alloc_pages(SPOOL_PAGE);
	if (!p)
		return -ENOMEM;
	/* EINVAL on a kernel before 4.14: then pthread_atfork() in life.c is the only protection */
	madvise(p, SPOOL_PAGE, MADV_WIPEONFORK);
	page = p;
	return 0;
}

static int populate_blocks(uint64_t offset, uint64_t bytes)
{
	int err;

	lock_take(&space_lock);
	err = spool_populate_blocks(&spool, offset, bytes);
	lock_drop(&space_lock);
	return err;
}

static bool spare_fds(void)
{
	bool are_closed;

	lock_take(&space_lock);
	are_closed = spool_spare_fds(&spool);
	lock_drop(&space_lock);
	return are_closed;
}

/* The trace is over; late threads may still look at it. */
static void leave_spool(bool in_use)
{
	lock_take(&space_lock);
	spool_leave(&spool, in_use);
	lock_drop(&space_lock);
}

static int make_spool(const char *dir)
{
	int err = spool_create(&spool, dir, location_mem_dir(), env_uint(ENV_BUFFER_MB) << 20);

	if (!err)
		return 0;
	log_warn("%s: no spool can be made: %s", dir, strerror(-err));
	if (location_is_session())
		notice_send(env_str(ENV_SESSION), NOTICE_NO_SPOOL, -err);
	return err;
}

/* Whether `rtl trace` may drain this spool. */
static bool is_session(void)
{
	return location_is_session() && !is_own;
}

static int start(void)
{
	int err = start_page();

	if (!err && !is_made)
		err = make_spool(location_spool_dir());
	if (err)
		return err;
	err = buf_init(spool.header);
	if (err)
		return err;
	flight = (struct flight){ .nr = 0 };
	flight_init(spool.header);
	drain_init(&drain, spool.header, spool.size, spool.disk_fd);
	drain_ready = true;
	if (!is_session())
		drain_take(&drain, clock_boot_ns());
	block_open(spool.header, spool.mem_fd, populate_blocks);
	/* the runtime may need what is left */
	if (spare_fds())
		drain_set_fd(&drain, -1);
	thread_at_exit(THREAD_EXIT_RECORDER, thread_ends);
	log_info("spool %s, %u slots in %s", spool.header->disk_path, spool.header->nr_slots,
		 spool.header->mem_path);
	atomic_store_explicit(&counters, spool.header, memory_order_relaxed);
	/* release: pairs with mode_now(), and with bus_attach(), which publishes the sink */
	atomic_store_explicit(&page->mode, MODE_ON, memory_order_release);
	atomic_store_explicit(&is_open, true, memory_order_relaxed);
	return 0;
}

/* Prepares slots before they run out: those of the start are enough for a short program, and each
 * step doubles them, so that memory grows with the rate of records. */
static void prepare(void)
{
	struct spool_header *h = spool.header;

	while (buf_wants_slots(h)) {
		uint32_t nr;

		lock_take(&space_lock);
		/* relaxed: changed under this lock */
		nr = atomic_load_explicit(&h->nr_prepared, memory_order_relaxed);
		nr = prepare_more(nr < PREPARE_STEP ? nr : PREPARE_STEP);
		lock_drop(&space_lock);
		if (!nr)
			return;
	}
}

/* Whether `rtl trace` drains this spool, or is expected to. */
static bool is_drained_outside(uint64_t now_boot_ns)
{
	struct spool_header *h = spool.header;

	if (is_session() && !atomic_load_explicit(&h->drainer, memory_order_relaxed) &&
	    now_boot_ns < h->start_ns + DRAIN_TAKEOVER_NS)
		return true;
	return !drain_take(&drain, now_boot_ns);
}

/* One step of draining. Bytes, 0 if there is nothing to do, or -errno. */
static int64_t drain_step(bool final, uint64_t max_bytes, uint64_t now_boot_ns)
{
	int fd = spool_disk_fd(&spool);
	int64_t n;

	if (fd < 0)
		return -EBADF;
	if (fd != drain.disk_fd)
		drain_set_fd(&drain, fd);
	n = drain_run(&drain, final, max_bytes, now_boot_ns);
	/* what finishes the trace writes to it once more */
	if (!final && spool.is_scarce && spare_fds())
		drain_set_fd(&drain, -1);
	return n;
}

/* Slots run out although draining keeps up: they are open. */
static bool is_starved(void)
{
	return atomic_load_explicit(&spool.header->nr_free, memory_order_relaxed) <=
		       2 * BUF_RESERVE &&
	       !drain_waiting(&drain, false);
}

static bool is_outside;	      /* whether `rtl trace` drains, when the life thread ended */
static bool is_spare_refused; /* there is little space; under `ticking` */
static int64_t failed_with;   /* the last logged error of a drain; life thread */

/* Whether to write to disk now: a write may take long, while GPU operations wait for this thread to
 * harvest them, and memory outlives the process as well. */
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

	if (!buf_is_low(spool.header) && (seals == drained_seals || !is_worth_a_write()))
		return LIFE_IDLE;
	if (is_drained_outside(now_boot_ns)) {
		/* this drains all sealed chunks; repeated when more are sealed */
		drained_seals = seals;
		return buf_is_low(spool.header) ? RETRY_NS : LIFE_IDLE;
	}
	n = drain_step(false, DRAIN_STEP, now_boot_ns);
	if (n > 0)
		flight_step(&flight, &drain, now_boot_ns); /* what fails is tried again */
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
	/* still low: many threads have an open chunk each */
	return n || buf_is_low(spool.header) ? DRAIN_AGAIN_NS : LIFE_IDLE;
}

/* Rings of operations in flight double when they are full: space for the next ones. */
static void prepare_blocks(void)
{
	/* relaxed: a hint */
	uint64_t spare = atomic_load_explicit(&spool.header->blocks_used, memory_order_relaxed);

	spare = spare < BLOCKS_SPARE_LEAST ? BLOCKS_SPARE_LEAST :
		spare > BLOCKS_SPARE_MOST  ? BLOCKS_SPARE_MOST :
					     spare;
	if (is_spare_refused || !block_wants_spare(spare))
		return;
	if (spool_has_plenty(&spool, spare))
		block_make_spare(spare);
	else
		is_spare_refused =
			true; /* not tried again: threads make space for what they need */
}

static uint64_t tick(uint64_t now_ns)
{
	uint64_t next;

	(void)now_ns;
	/* acquire: pairs with the release below; stop() may have taken it if this tick was late */
	if (atomic_exchange_explicit(&ticking, 1, memory_order_acquire))
		return LIFE_IDLE;
	prepare();
	prepare_blocks();
	if (is_starved())
		buf_reclaim();
	spool_note_clock(&spool);
	if (is_full())
		pause_hold(PAUSE_SIZE, true);
	next = tick_drain(clock_boot_ns());
	atomic_store_explicit(&ticking, 0, memory_order_release);
	return next;
}

/* Waits until no thread is writing a record, if possible. */
static void quiet(void)
{
	struct timespec pause = { 0, QUIET_WAIT_NS };

	/* seq_cst: before the barrier, which every writer passes after its store to `busy` */
	atomic_store(&page->mode, MODE_OVER);
	if (!barrier_all())
		sys_nap(&pause);
	pause.tv_nsec /= 10;
	for (int i = 0; i < QUIET_TRIES && buf_any_busy(); i++)
		sys_nap(&pause);
}

/* Drains everything that is left. true: the trace is closed. */
static bool drain_rest(void)
{
	int64_t n = drain_step(true, 0, clock_boot_ns());
	int err = n < 0 ? (int)n : drain_finish(&drain);

	if (!err)
		return true;
	log_warn("%s: %s; the rest stays in %s: run `rtl recover` on the former",
		 spool.header->disk_path, strerror(-err), spool.header->mem_path);
	return false;
}

/* The database is written by this process's own means. */
static void write_database(void)
{
	const char *output = is_own ? own_output : location_output();

	if (*output && !is_session())
		finish_run(spool.header->disk_path, output, false);
}

static void note_end(enum spool_end kind)
{
	struct spool_header *h = spool.header;

	spool_note_clock(&spool);
	atomic_store_explicit(&h->end_ns, clock_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&h->end_kind, kind, memory_order_release);
}

static void stop(void)
{
	struct spool_header *h = spool.header;
	_Atomic uint64_t *late = &h->loss[SPOOL_REASON_late].count;
	bool hangs, outside;

	/* another thread may be closing it */
	lock_take(&open_lock);
	if (mode_now() == MODE_CLOSED)
		goto out;
	/* acquire: pairs with tick(), which has ended then */
	hangs = atomic_exchange_explicit(&ticking, 1, memory_order_acquire);
	/* as the life thread has seen it last: its system calls may be forbidden to this thread
	 * (seccomp) */
	outside = !hangs && (is_outside || is_drained_outside(clock_boot_ns()));
	/* `rtl trace` drains what comes until the process has ended: API calls of exit handlers and
	 * destructors that run after this */
	if (!outside)
		quiet();
	note_end(SPOOL_END_EXIT);
	if (hangs) {
		log_warn("%s: the disk does not respond; run `rtl recover` on it", h->disk_path);
		goto out;
	}
	late_in_file = atomic_load_explicit(late, memory_order_relaxed);
	if (!outside)
		is_closed = drain_rest();
	if (is_closed)
		write_database();
out:
	lock_drop(&open_lock);
}

const struct spool_header *recorder_trace(void)
{
	return recorder_is_open() ? atomic_load_explicit(&counters, memory_order_relaxed) : NULL;
}

/* Calls of exec that have not failed yet. */
static _Atomic uint32_t nr_execs;

static void mark_exec(struct spool_header *h, enum spool_end from, enum spool_end to)
{
	uint32_t there = from;

	/* not over an end that another thread has noted. seq_cst: see recorder_stays() */
	atomic_compare_exchange_strong(&h->end_kind, &there, to);
}

bool recorder_executes(void)
{
	struct spool_header *h = spool.header;

	if (!recorder_is_open() || h->pid != (uint32_t)getpid())
		return false;
	atomic_fetch_add(&nr_execs, 1);
	mark_exec(h, SPOOL_END_NONE, SPOOL_END_EXEC);
	return true;
}

void recorder_stays(void)
{
	struct spool_header *h = spool.header;

	if (atomic_fetch_sub(&nr_execs, 1) != 1)
		return;
	mark_exec(h, SPOOL_END_EXEC, SPOOL_END_NONE);
	/* another thread came in between, and found its mark there */
	if (atomic_load(&nr_execs))
		mark_exec(h, SPOOL_END_NONE, SPOOL_END_EXEC);
}

void recorder_last_words(void)
{
	uint64_t late;

	/* the process must not end within a closing */
	lock_take(&open_lock);
	lock_drop(&open_lock);
	if (!is_closed)
		return;
	late = atomic_load_explicit(&spool.header->loss[SPOOL_REASON_late].count,
				    memory_order_relaxed) -
	       late_in_file;
	if (late)
		log_warn("%s: %llu events came when the trace was closed; they are not in it",
			 is_session() || (is_own && !*own_output) ? spool.header->disk_path :
			 is_own					  ? own_output :
								    location_output(),
			 (unsigned long long)late);
}

/* ---- opening and closing while the process runs ---------------------------------------------- */

/* Has the right of tick() to the spool; its step of draining ends first. */
static void stop_ticks(void)
{
	const struct timespec pause = { 0, QUIET_WAIT_NS };

	/* acquire: pairs with the release in tick() */
	while (atomic_exchange_explicit(&ticking, 1, memory_order_acquire))
		sys_nap(&pause);
}

static void allow_ticks(void)
{
	atomic_store_explicit(&ticking, 0, memory_order_release);
}

bool recorder_is_open(void)
{
	/* relaxed: what was true a moment ago */
	return atomic_load_explicit(&is_open, memory_order_relaxed);
}

void recorder_path(char *path, size_t size)
{
	struct str s;

	str_init(&s, path, size);
	lock_take(&open_lock);
	if (mode_now() == MODE_ON)
		str_add(&s, spool.header->disk_path);
	lock_drop(&open_lock);
}

void recorder_keep_sources(bool on)
{
	atomic_store_explicit(&are_sources_kept, on, memory_order_relaxed);
}

void recorder_count(struct recorder_counts *c)
{
	const struct spool_header *h = atomic_load_explicit(&counters, memory_order_relaxed);

	memset(c, 0, sizeof(*c));
	if (!recorder_is_open())
		return;
	c->calls = buf_nr_written(REC_API);
	c->kernels = buf_nr_written(REC_DISPATCH) + buf_nr_written(REC_DISPATCH_WIDE);
	c->copies = buf_nr_written(REC_COPY);
	c->markers = buf_nr_written(REC_MARKER);
	for (int r = 0; r < SPOOL_NR_REASONS; r++)
		c->loss[r] = atomic_load_explicit(&h->loss[r].count, memory_order_relaxed);
}

/* Under open_lock, with the right of tick(), in a hook. */
RTL_REQUIRES(open_lock) static int open_trace(const char *dir, const char *output)
{
	struct str s;
	int err = make_spool(dir);

	if (err)
		return err;
	str_init(&s, own_output, sizeof(own_output));
	str_add(&s, output);
	is_own = is_made = true;
	is_closed = false;
	drained_seals = 0;
	failed_with = 0;
	is_spare_refused = false;
	encode_restart();
	thread_forget_recorded();
	left_out_flush();
	bus_forget_losses();
	/* what a thread submitted so far is left out: so is its call, which may end any time
	 * later */
	atomic_store_explicit(&calls_from_ns, UINT64_MAX, memory_order_relaxed);
	block_hold(false);
	err = bus_attach(&recorder_sink);
	block_release();
	atomic_store_explicit(&calls_from_ns, clock_now_ns(), memory_order_relaxed);
	if (!err)
		return 0;
	atomic_store_explicit(&page->mode, MODE_CLOSED, memory_order_release);
	atomic_store_explicit(&is_open, false, memory_order_relaxed);
	unlink(spool.header->mem_path);
	unlink(spool.header->disk_path);
	block_freeze();
	leave_spool(false);
	return err;
}

int recorder_open(const char *dir, const char *output)
{
	struct thread *t;
	int err;

	if (strlen(output) >= sizeof(own_output))
		return -ENAMETOOLONG;
	if (!life_on() || !life_enter(&t))
		return life_on() ? -EDEADLK : -ESHUTDOWN;
	lock_take(&open_lock);
	err = mode_now() == MODE_ON ? -EBUSY : 0;
	if (!err) {
		stop_ticks();
		err = open_trace(dir, output);
		allow_ticks();
	}
	if (!err) {
		facts_clock();
		pause_hold(PAUSE_CLOSED, false);
		life_kick();
	}
	lock_drop(&open_lock);
	life_leave(t);
	return err;
}

/* Under open_lock, in a hook: nothing is recorded any more, and the blocks are as they were at that
 * time. Calls end first: what those in the trace have submitted is recorded, or is in the blocks.
 * Takes the right of tick() when other threads need no space any more for what they are
 * recording. */
RTL_REQUIRES(open_lock) static void end_recording(void)
{
	/* seq_cst: before the barrier, which every writer passes after its store to `busy` */
	atomic_store(&page->mode, MODE_CLOSING);
	buf_pass_all();
	block_hold(true);
	stop_ticks();
	bus_detach(&recorder_sink);
	atomic_store_explicit(&is_open, false, memory_order_relaxed);
	/* seq_cst: as above */
	atomic_store(&page->mode, MODE_CLOSED);
	has_writers = !buf_close_all();
	block_freeze();
	block_release();
}

int recorder_close(char *path, size_t size)
{
	struct thread *t;
	struct str s;
	int err = 0;

	if (!life_on() || !life_enter(&t))
		return life_on() ? -EDEADLK : -ESHUTDOWN;
	lock_take(&open_lock);
	if (mode_now() != MODE_ON) {
		lock_drop(&open_lock);
		life_leave(t);
		return -ENOENT;
	}
	facts_clock();
	if (!bus_never_pauses() && !atomic_load_explicit(&are_sources_kept, memory_order_relaxed))
		pause_hold(PAUSE_CLOSED, true);
	end_recording();
	note_end(SPOOL_END_CLOSED);
	str_init(&s, path, size);
	str_add(&s, spool.header->disk_path);
	/* else `rtl trace` does it, when the process has ended */
	if (!is_drained_outside(clock_boot_ns()))
		err = drain_rest() ? 0 : -EIO;
	leave_spool(has_writers);
	is_made = false;
	allow_ticks();
	lock_drop(&open_lock);
	life_leave(t);
	return err;
}

/* The life thread ends. */
static void leave_thread(void)
{
	is_outside = mode_now() == MODE_ON && is_drained_outside(clock_boot_ns());
}

const struct sink recorder_sink = {
	.name = "recorder",
	.start = start,
	.event = record,
	.loss = loss,
	.tick = tick,
	.leave = leave_thread,
	.stop = stop,
	.pauses = true,
};
