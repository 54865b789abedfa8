/* SPDX-License-Identifier: MIT */
/* test_recorder.c - events become records or are counted, for every end of the process */
#include "sink/recorder/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/testpoint.h"
#include "event/life.h"
#include "sink/recorder/buf.h"
#include "sink/recorder/spool.h"
#include "spool/drain.h"
#include "support/spool_read.h"

#ifdef __SANITIZE_THREAD__
#define SCALE 20
#elif defined(__SANITIZE_ADDRESS__)
#define SCALE 4
#else
#define SCALE 1
#endif

static const struct source *const no_sources[] = { NULL };
static const struct sink *const sinks[] = { &recorder_sink, NULL };
static struct spool_read back;

static const char *spool_dir(void)
{
	return test_tmpfile("spool");
}

/* Starts the core in this test's process. The session setting keeps the upkeep thread from draining
 * for its first second, and no program is started at the end. */
static void begin_with(const struct source *const *sources, const char *buffer_mb, bool session)
{
	setenv("RTL_SPOOL_DIR", spool_dir(), 1);
	setenv("RTL_SESSION", session ? spool_dir() : "", 1);
	setenv("RTL_BUFFER_MB", buffer_mb, 1);
	setenv("RTL_LOG_FILE", test_tmpfile("log"), 1);
	setenv("RTL_BIN", "/bin/true", 1);
	if (!getenv("RTL_MEM_DIR"))
		setenv("RTL_MEM_DIR", test_tmpdir(), 1);
	life_init(sources, sinks);
}

static void begin(const char *buffer_mb, bool session)
{
	begin_with(no_sources, buffer_mb, session);
}

static void start(const char *buffer_mb, bool session)
{
	begin(buffer_mb, session);
	CHECK(life_start());
}

/* Drains as `rtl trace` would after the end, and reads everything. */
static void finish_outside(const char *path)
{
	static struct drain d;
	int err = drain_open(&d, path);

	if (err == -ENOENT)
		return;
	CHECK_EQ_INT(err, 0);
	CHECK(drain_take(&d, clock_read_ns(CLOCK_BOOTTIME) + 2 * DRAIN_TAKEOVER_NS));
	CHECK_GE_INT(drain_run(&d, true, 0, clock_read_ns(CLOCK_BOOTTIME)), 0);
	CHECK_OK(drain_finish(&d));
	drain_close(&d);
}

static void read_back(void)
{
	const char *path = read_find(spool_dir(), 0);

	CHECK_NOT_NULL(path);
	finish_outside(path);
	read_spool(&back, path, true);
}

static void stop_and_read(void)
{
	life_stop();
	CHECK_EQ_INT(atomic_load(&life_state), LIFE_STOPPED);
	read_back();
}

/* The current header of the memory half: the trace may still grow. */
static struct spool_header *live_header(void)
{
	static struct spool_header h;
	int fd = open(read_find(spool_dir(), 0), O_RDONLY);

	CHECK_EQ_INT(pread(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
	close(fd);
	fd = open(h.mem_path, O_RDONLY);
	if (fd >= 0)
		CHECK_EQ_INT(pread(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
	close(fd);
	return &h;
}

static void emit_marker(uint64_t id, const char *text, uint32_t size)
{
	struct event ev = { .kind = EVENT_MARKER };

	ev.marker.marker = id;
	ev.marker.tid = thread_get()->tid;
	ev.marker.text = text;
	ev.marker.size = size;
	bus_emit(&ev);
}

static struct event_dispatch plain_dispatch(uint64_t n)
{
	struct event_dispatch d = {
		.begin_ticks = 1000 + n,
		.end_ticks = 1100 + n,
		.begin_ns = 5000 + n,
		.end_ns = 5900 + n,
		.packet = n,
		.correlation = n + 1,
		.marker = 2,
		.kernel = 3,
		.queue = 1,
		.grid = { 64, 2, 1 },
		.group = { 32, 1, 1 },
		.private_size = 16,
		.group_size = 128,
	};

	d.tid = thread_get()->tid;
	return d;
}

static void emit_dispatch(const struct event_dispatch *d)
{
	struct event ev = { .kind = EVENT_DISPATCH };

	ev.dispatch = *d;
	bus_emit(&ev);
}

static uint64_t nr_good;

static void check_dispatch(const struct rec_head *h)
{
	const struct rec_dispatch *r = (const void *)h;
	const struct rec_dispatch_wide *w = (const void *)h;
	const struct rec_shape *s = (const void *)h;

	if (h->type == REC_SHAPE) {
		CHECK_EQ_UINT(s->queue, 1);
		CHECK_EQ_UINT(s->grid[0], 64);
		CHECK_EQ_UINT(s->group[0], 32);
		CHECK_EQ_UINT(s->group_size, 128);
		CHECK_EQ_UINT(s->private_size, 16);
	} else if (h->type == REC_DISPATCH) {
		CHECK_EQ_UINT(r->begin_ticks - 1000, r->packet);
		CHECK_EQ_UINT(r->begin_ns - 5000, r->packet);
		CHECK_EQ_UINT(r->ticks, 100);
		CHECK_EQ_UINT(r->ns, 900);
		CHECK_EQ_UINT(r->correlation, r->packet + 1);
		CHECK_EQ_UINT(r->marker, 2);
		nr_good++;
	} else if (h->type == REC_DISPATCH_WIDE) {
		CHECK_EQ_UINT(w->begin_ticks, 1000 + w->packet % 10);
		nr_good++;
	}
}

TEST(dispatches_share_shapes_and_are_small)
{
	struct event_dispatch d;

	start("4", true);
	for (uint64_t n = 0; n < 2000; n++) {
		d = plain_dispatch(n);
		d.kernel = 3 + n % 7;
		emit_dispatch(&d);
	}
	back.each = check_dispatch;
	stop_and_read();
	CHECK_EQ_UINT(nr_good, 2000);
	CHECK_EQ_UINT(back.nr[REC_DISPATCH], 2000);
	CHECK_GE_UINT(back.nr[REC_SHAPE], 7);
	CHECK_LE_UINT(back.nr[REC_SHAPE], 7 * back.nr_chunks);
	CHECK_EQ_UINT(back.nr[REC_THREAD], 1);
}

TEST(chunk_contains_each_of_many_shapes_once)
{
	struct event_dispatch d;

	start("4", true);
	for (uint64_t n = 0; n < 8000; n++) {
		d = plain_dispatch(n);
		d.grid[0] = (uint32_t)(64 * (1 + n % 400));
		emit_dispatch(&d);
	}
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_DISPATCH], 8000);
	CHECK_GE_UINT(back.nr[REC_SHAPE], 400);
	CHECK_LE_UINT(back.nr[REC_SHAPE], 400 * back.nr_chunks);
	CHECK_LE_UINT(back.nr_chunks, 6);
}

TEST(large_values_use_wide_records)
{
	struct event_dispatch d[10];

	start("4", true);
	for (int i = 0; i < 10; i++)
		d[i] = plain_dispatch((uint64_t)i);
	d[0].end_ns = d[0].begin_ns - 1;
	d[1].end_ticks = d[1].begin_ticks - 1;
	d[2].end_ns = d[2].begin_ns + (UINT64_C(1) << 32);
	d[3].end_ticks = d[3].begin_ticks + (UINT64_C(1) << 32);
	d[4].packet += UINT64_C(10) << 40;
	d[5].correlation = UINT64_C(1) << 32;
	d[6].marker = UINT64_C(1) << 32;
	d[7].end_ns = d[7].end_ticks = 0;
	d[7].flags = REC_F_UNFINISHED;
	for (int i = 0; i < 10; i++)
		emit_dispatch(&d[i]);
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_DISPATCH_WIDE], 8);
	CHECK_EQ_UINT(back.nr[REC_DISPATCH], 2);
}

static void check_inverted(const struct rec_head *h)
{
	if (h->type == REC_DISPATCH_WIDE || h->type == REC_COPY)
		nr_good += (h->flags & REC_F_INVERTED) != 0;
}

TEST(left_out_operations_are_counted_and_not_written)
{
	struct event copy = { .kind = EVENT_COPY, .copy.correlation = 5 | EVENT_LEFT_OUT };
	struct event barrier = { .kind = EVENT_BARRIER, .barrier.correlation = EVENT_LEFT_OUT };
	struct event_dispatch d = plain_dispatch(1);

	start("4", false);
	emit_dispatch(&d);
	d.correlation |= EVENT_LEFT_OUT;
	emit_dispatch(&d);
	bus_emit(&copy);
	bus_emit(&barrier);
	CHECK(!bus_never_pauses());
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_DISPATCH], 1);
	CHECK_EQ_UINT(back.nr[REC_DISPATCH_WIDE], 0);
	CHECK_EQ_UINT(back.nr[REC_COPY], 0);
	CHECK_EQ_UINT(back.nr[REC_BARRIER], 0);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_paused), 3);
}

TEST(end_before_begin_is_flagged_and_written)
{
	struct event_dispatch d = plain_dispatch(1);
	struct event ev = { .kind = EVENT_COPY };

	start("4", true);
	d.end_ns = 10;
	emit_dispatch(&d);
	ev.copy.begin_ns = 5;
	bus_emit(&ev);
	ev.copy.flags = REC_F_NO_TIME;
	bus_emit(&ev);
	back.each = check_inverted;
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_COPY], 2);
	CHECK_EQ_UINT(nr_good, 2);
}

static uint32_t long_id;
static char gathered[8000];
static uint64_t nr_long;

static void check_text(const struct rec_head *h)
{
	const struct rec_string *s = (const void *)h;
	const struct rec_marker *m = (const void *)h;

	if (h->type == REC_STRING && h->id == long_id)
		memcpy(gathered + s->offset, s->bytes,
		       s->total - s->offset < REC_STRING_PIECE ? s->total - s->offset :
								 REC_STRING_PIECE);
	if (h->type == REC_MARKER && m->marker == 1) {
		CHECK(h->flags & REC_F_TEXT);
		CHECK_EQ_UINT(m->text_size, 5);
		CHECK_MEM_EQ(m->text, "hello\0\0\0", 8);
	}
	if (h->type == REC_MARKER && m->marker == 2) {
		CHECK(!(h->flags & REC_F_TEXT));
		CHECK_GT_UINT(m->text_size, long_id);
		nr_long++;
	}
}

TEST(texts_of_any_length_are_written)
{
	static char text[5000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	start("4", true);
	long_id = bus_string(text, sizeof(text));
	CHECK_EQ_UINT(bus_string(text, sizeof(text)), long_id);
	emit_marker(1, "hello", 5);
	emit_marker(2, text, 1025);
	emit_marker(3, text, 1024);
	emit_marker(4, "", 0);
	bus_string("", 0);
	back.each = check_text;
	stop_and_read();
	CHECK_MEM_EQ(gathered, text, sizeof(text));
	CHECK_EQ_UINT(nr_long, 1);
	CHECK_EQ_UINT(back.nr[REC_MARKER], 4);
}

TEST(every_kind_of_event_has_a_record)
{
	start("4", true);
	for (int kind = 0; kind < EVENT_NR_KINDS; kind++) {
		struct event ev = { .kind = (enum event_kind)kind };

		if (kind == EVENT_MARKER)
			ev.marker.text = "x";
		if (kind == EVENT_STRING)
			ev.string.text = "y";
		bus_emit(&ev);
	}
	stop_and_read();
	for (int type = REC_STRING; type <= REC_MARKER_END; type++) {
		if (type != REC_DISPATCH_WIDE && type != REC_THREAD)
			CHECK_MSG(back.nr[type] > 0, "no record of type %d", type);
	}
	CHECK_GE_UINT(back.nr[REC_CLOCK], 3);
	CHECK_GE_UINT(back.nr[REC_INFO], 8);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_EXIT);
	CHECK_GT_UINT(back.header.end_ns, 0);
	CHECK_EQ_UINT(back.header.closed, 1);
	CHECK_EQ_UINT(back.header.nr_records, back.nr_records);
}

/* A session without an `rtl trace`: nothing is drained, all losses must be counted. */
static uint64_t fill(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		emit_marker(i + 1, "", 0);
	return nr;
}

TEST(full_buffers_are_counted_exactly)
{
	uint64_t n;

	start("1", true);
	n = fill(40000);
	stop_and_read();
	CHECK_GT_UINT(read_loss(&back, SPOOL_REASON_buffer_full), 0);
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_buffer_full), n);
	CHECK_GT_UINT(back.header.loss[SPOOL_REASON_buffer_full].first_ns, 0);
	CHECK_GE_UINT(back.header.loss[SPOOL_REASON_buffer_full].last_ns,
		      back.header.loss[SPOOL_REASON_buffer_full].first_ns);
}

TEST(full_buffers_still_take_naming_records)
{
	struct event ev = { .kind = EVENT_KERNEL };
	uint64_t lost;

	start("1", true);
	fill(40000);
	lost = 0;
	for (int i = 0; i < 500; i++) {
		ev.kernel.id = (uint32_t)i + 1;
		bus_emit(&ev);
	}
	bus_string("after all", SIZE_MAX);
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_KERNEL], 500);
	CHECK_EQ_UINT(lost, 0);
}

TEST(full_disk_is_counted_and_records_stay_in_memory)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t n = 0;
	const char *path;

	start("1", false);
	CHECK_OK(getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_DFL);
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	for (int i = 0; i < 20; i++) {
		n += fill(5000);
		usleep(5000);
	}
	life_stop();
	limit.rlim_cur = RLIM_INFINITY;
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	path = read_find(spool_dir(), 0);
	CHECK_EQ_INT(access(path, F_OK), 0);
	read_back();
	CHECK_GT_UINT(read_loss(&back, SPOOL_REASON_disk_full), 0);
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_disk_full) +
			      read_loss(&back, SPOOL_REASON_buffer_full),
		      n);
}

TEST(write_error_is_counted)
{
	uint64_t n;

	start("1", true);
	n = fill(20000);
	/* As a program that closes descriptors it does not own; bypasses the C library, so that the
	 * thread sanitizer does not report that program's race. */
	CHECK_OK(syscall(SYS_close_range, 3u, ~0u, 0u));
	{
		const char *path = read_find(spool_dir(), 0);
		static struct drain d;

		CHECK_OK(drain_open(&d, path));
		atomic_store(&d.header->disk_state, EIO);
		n += fill(20000);
		atomic_store(&d.header->disk_state, 0);
		drain_close(&d);
	}
	stop_and_read();
	CHECK_GT_UINT(read_loss(&back, SPOOL_REASON_write_error), 0);
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_write_error) +
			      read_loss(&back, SPOOL_REASON_buffer_full),
		      n);
}

TEST(threads_beyond_the_limit_are_counted)
{
	start("1", true);
	while (buf_take(1))
		;
	buf_seal(thread_get()->buf);
	thread_get()->buf = NULL;
	fill(5);
	bus_string("a name", SIZE_MAX);
	stop_and_read();
	CHECK_GE_UINT(read_loss(&back, SPOOL_REASON_thread_slots), 5);
	CHECK_EQ_UINT(back.nr[REC_MARKER], 0);
}

TEST(event_within_event_is_counted_as_reentrant)
{
	start("1", true);
	fill(1);
	atomic_store(&thread_get()->buf->lane.busy, 1);
	fill(3);
	atomic_store(&thread_get()->buf->lane.busy, 0);
	fill(1);
	stop_and_read();
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_reentrant), 3);
	CHECK_EQ_UINT(back.nr[REC_MARKER], 2);
}

TEST(late_events_are_counted)
{
	char text[4096] = "";

	start("1", false);
	fill(2);
	life_stop();
	fill(7);
	recorder_last_words();
	CHECK_GT_INT(fd_read_file(test_tmpfile("log"), text, sizeof(text) - 1), 0);
	CHECK_STR_HAS(text, "7 events came when the trace was closed");
	read_back();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 2);
}

TEST(late_events_are_recorded_with_outside_drainer)
{
	start("1", true);
	fill(2);
	life_stop();
	fill(7);
	bus_loss(SPOOL_REASON_graph_batch, 4);
	read_back();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 9);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_late), 0);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_graph_batch), 4);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_EXIT);
}

TEST(failed_spool_creation_disables_tracing_only)
{
	begin("1", false);
	setenv("RTL_TEST_NOTHING", "", 1);
	close(open(spool_dir(), O_CREAT | O_WRONLY, 0600));
	CHECK(!life_start());
	CHECK(!life_start());
	CHECK_EQ_INT(atomic_load(&life_state), LIFE_STOPPED);
	fill(3);
	life_stop();
}

TEST(missing_descriptors_at_start_disable_tracing_only)
{
	struct rlimit limit = { 0, 0 };

	begin("1", false);
	CHECK_OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 3;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK(!life_start());
	life_stop();
	limit.rlim_cur = limit.rlim_max;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
}

#define NR_WRITERS 16
static uint64_t nr_each;

static void *writer(void *arg)
{
	for (uint64_t i = 0; i < nr_each; i++)
		emit_marker(i + 1, "", 0);
	return arg;
}

static void run_writers(void)
{
	pthread_t threads[NR_WRITERS];

	for (int i = 0; i < NR_WRITERS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, writer, NULL));
	for (int i = 0; i < NR_WRITERS; i++)
		pthread_join(threads[i], NULL);
}

TEST(records_and_losses_of_many_threads_add_up)
{
	nr_each = 2000000 / NR_WRITERS / SCALE;
	start("8", false);
	run_writers();
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_buffer_full),
		      nr_each * NR_WRITERS);
	CHECK_GT_UINT(back.nr[REC_MARKER], 10000);
}

static void *outside(void *arg)
{
	static struct drain d;
	const char *path = read_find(spool_dir(), 0);
	_Atomic bool *over = arg;

	CHECK_OK(drain_open(&d, path));
	while (!atomic_load(over)) {
		uint64_t now = clock_read_ns(CLOCK_BOOTTIME);

		CHECK(drain_take(&d, now));
		drain_run(&d, false, 1 << 20, now);
		usleep(1000);
	}
	drain_give(&d);
	drain_close(&d);
	return NULL;
}

TEST(harvester_does_not_drain_beside_outside_drainer)
{
	static _Atomic bool over;
	pthread_t thread;

#ifdef __SANITIZE_THREAD__
	SKIP("two mappings of one file are two memories to the sanitizer");
#endif
	nr_each = 1000000 / NR_WRITERS / SCALE;
	start("8", true);
	CHECK_OK(pthread_create(&thread, NULL, outside, &over));
	run_writers();
	life_stop();
	CHECK_EQ_UINT(live_header()->closed, 0);
	CHECK_EQ_UINT(live_header()->end_kind, SPOOL_END_EXIT);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	read_back();
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_buffer_full),
		      nr_each * NR_WRITERS);
}

static _Atomic int nr_ticks;

static uint64_t count_tick(uint64_t now_ns)
{
	(void)now_ns;
	atomic_fetch_add(&nr_ticks, 1);
	return LIFE_IDLE;
}

/* Each slot is 96 KiB of memory that a short program does not use. */
TEST(short_program_takes_what_the_start_prepares)
{
	static const struct source counted = { .name = "counted", .tick = count_tick };
	static const struct source *const sources[] = { &counted, NULL };

	begin_with(sources, "64", true);
	CHECK(life_start());
	fill(10);
	/* the sinks' first tick is behind that of the sources */
	while (atomic_load(&nr_ticks) < 2) {
		life_kick();
		usleep(1000);
	}
	CHECK_EQ_UINT(live_header()->nr_prepared, SPOOL_START_SLOTS);
	life_stop();
}

TEST(dead_outside_drainer_is_replaced)
{
	start("1", true);
	for (int i = 0; i < 150; i++) {
		fill(2000);
		usleep(10000);
	}
	/* more than the buffers can hold */
	CHECK_GT_UINT(live_header()->nr_records * sizeof(struct rec_marker), 2 << 20);
	life_stop();
}

static void child_writes(void)
{
	CHECK_EQ_INT(atomic_load(&life_state), LIFE_FORKED);
	fill(1000);
	bus_loss(SPOOL_REASON_late, 3);
	bus_string("from the child", SIZE_MAX);
	life_stop();
#ifdef __SANITIZE_ADDRESS__
	/* the leak checker would search the parent's threads, and hang */
	_exit(0);
#endif
	exit(0);
}

TEST(forked_child_writes_nothing)
{
	pid_t pid;

	start("1", true);
	fill(10);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child_writes();
	waitpid(pid, NULL, 0);
	fill(10);
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 20);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_late), 0);
}

TEST(child_of_bare_clone_writes_nothing)
{
	long pid;

	start("1", true);
	fill(10);
	/* no fork handler sees this one */
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		fill(1000);
		bus_loss(SPOOL_REASON_late, 3);
		syscall(SYS_exit, 0);
	}
	waitpid((pid_t)pid, NULL, 0);
	fill(10);
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 20);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_late), 0);
}

TEST(program_that_closes_all_descriptors_loses_nothing)
{
	const char *path = test_tmpfile("theirs");
	char zeros[4096];
	char text[4096];
	int fds[1100];

#ifdef __SANITIZE_THREAD__
	SKIP("descriptors that change hands are what is tested");
#endif
	start("8", false);
	usleep(20000);
	fill(5000);
	CHECK_OK(syscall(SYS_close_range, 3u, ~0u, 0u));
	memset(zeros, 0, sizeof(zeros));
	/* the program takes every number that librtl had */
	for (int i = 0; i < 900; i++) {
		fds[i] = open(path, O_CREAT | O_RDWR, 0600);
		CHECK_GE_INT(fds[i], 3);
	}
	CHECK_EQ_INT(write(fds[0], zeros, sizeof(zeros)), (ssize_t)sizeof(zeros));
	for (int i = 0; i < 10; i++) {
		fill(5000);
		usleep(5000);
	}
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_buffer_full), 55000);
	CHECK_GE_UINT(back.nr[REC_MARKER], 20000);
	CHECK_EQ_UINT(back.header.closed, 1);
	CHECK_EQ_INT(pread(fds[0], text, sizeof(text), 0), (ssize_t)sizeof(text));
	CHECK_MEM_EQ(text, zeros, sizeof(zeros));
	CHECK_EQ_INT(lseek(fds[1], 0, SEEK_END), (off_t)sizeof(zeros));
}

struct shared {
	_Atomic uint64_t emitted;
};
static struct shared *shared;
static uint64_t highest;

static void find_highest(const struct rec_head *h)
{
	const struct rec_marker *m = (const void *)h;

	if (h->type == REC_MARKER) {
		nr_good++;
		if (m->marker > highest)
			highest = m->marker;
	}
}

/* One writer, killed at a random time; all its committed records must be found. */
static void kill_once(int round)
{
	const char *path;
	uint64_t emitted;
	uint64_t found;
	uint64_t lost;
	pid_t pid;

	atomic_store(&shared->emitted, 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		start("64", false);
		usleep(20000);
		for (uint64_t i = 1;; i++) {
			emit_marker(i, "abc", 3);
			atomic_store(&shared->emitted, i);
			/* slow enough that most of it is drained */
			if (i % 400 == 0)
				usleep(100);
		}
	}
	while (!atomic_load(&shared->emitted))
		sched_yield();
	usleep((useconds_t)(1000 + round * 7919 % 40000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	emitted = atomic_load(&shared->emitted);
	path = read_find(spool_dir(), 0);
	CHECK_NOT_NULL(path);
	memset(&back, 0, sizeof(back));
	nr_good = highest = 0;
	back.each = find_highest;
	read_spool(&back, path, true);
	/* on a busy machine the upkeep thread may be late: then the losses are counted */
	lost = read_loss(&back, SPOOL_REASON_buffer_full);
	CHECK_GE_UINT(nr_good + lost, emitted);
	CHECK_LE_UINT(nr_good + lost, emitted + 1);
	if (!lost)
		CHECK_EQ_UINT(nr_good, highest);
	found = nr_good;
	/* and again after another process has finished it */
	finish_outside(path);
	memset(&back, 0, sizeof(back));
	nr_good = 0;
	back.each = find_highest;
	read_spool(&back, path, true);
	CHECK_EQ_UINT(nr_good, found);
	CHECK_EQ_UINT(back.header.closed, 1);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_NONE);
	unlink(path);
}

TEST(killed_process_loses_no_committed_record)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setenv("RTL_MEM_DIR", "/dev/shm", 1);
	for (int round = 0; round < 25; round++)
		kill_once(round);
}

TEST(short_threads_share_a_chunk)
{
	pthread_t thread;

	start("1", true);
	nr_each = 10;
	/* many more threads than slots */
	for (int i = 0; i < 200; i++) {
		CHECK_OK(pthread_create(&thread, NULL, writer, NULL));
		pthread_join(thread, NULL);
	}
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 2000);
	CHECK_EQ_UINT(back.nr[REC_THREAD], 200);
	CHECK_LE_UINT(back.nr_chunks, 10);
}

#define NR_IDLE 100
static pthread_barrier_t gate;

static void *idle(void *arg)
{
	emit_marker(1, "", 0);
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	emit_marker(2, "", 0);
	return arg;
}

TEST(idle_threads_do_not_use_up_the_slots)
{
	pthread_t threads[NR_IDLE];
	uint64_t n = 0;

	start("3", false);
	usleep(50000);
	pthread_barrier_init(&gate, NULL, NR_IDLE + 1);
	/* three times as many threads as slots */
	for (int i = 0; i < NR_IDLE; i++) {
		CHECK_OK(pthread_create(&threads[i], NULL, idle, NULL));
		usleep(3000);
	}
	pthread_barrier_wait(&gate);
	for (int i = 0; i < 50; i++) {
		n += fill(100);
		usleep(1000);
	}
	pthread_barrier_wait(&gate);
	for (int i = 0; i < NR_IDLE; i++)
		pthread_join(threads[i], NULL);
	stop_and_read();
	CHECK_EQ_UINT(back.nr[REC_MARKER] + read_loss(&back, SPOOL_REASON_buffer_full),
		      n + 2 * NR_IDLE);
	/* without reclaiming, all but the first thirty would be lost, and most of what follows */
	CHECK_GE_UINT(back.nr[REC_MARKER], n);
}

TEST(failure_of_any_allocation_is_survived)
{
	for (uint64_t n = 1; n < 40; n++) {
		int status;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			begin("1", false);
			alloc_fail_at(n);
			life_start();
			fill(100);
			bus_string("text", SIZE_MAX);
			life_stop();
			_exit(alloc_nr_calls() < n ? 1 : 0);
		}
		waitpid(pid, &status, 0);
		CHECK_MSG(WIFEXITED(status), "allocation %d failed: signal %d", (int)n,
			  WTERMSIG(status));
		if (WEXITSTATUS(status) == 1)
			return;
	}
}

static pthread_barrier_t all_there;

static void *begin_at_once(void *arg)
{
	pthread_barrier_wait(&all_there);
	fill(3);
	/* no thread releases its chunk for another */
	pthread_barrier_wait(&all_there);
	return arg;
}

enum { NR_AT_ONCE = 40 }; /* more than the slots before the life thread prepares some */

static void run_threads_at_once(void)
{
	pthread_t threads[NR_AT_ONCE];

	pthread_barrier_init(&all_there, NULL, NR_AT_ONCE);
	for (int i = 0; i < NR_AT_ONCE; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, begin_at_once, NULL));
	for (int i = 0; i < NR_AT_ONCE; i++)
		pthread_join(threads[i], NULL);
}

static void check_nothing_lost(uint64_t nr_markers)
{
	for (int r = 0; r < SPOOL_NR_REASONS; r++)
		CHECK_MSG(!read_loss(&back, (enum spool_reason)r), "reason %d: %llu", r,
			  (unsigned long long)read_loss(&back, (enum spool_reason)r));
	CHECK_EQ_UINT(back.nr[REC_MARKER], nr_markers);
}

TEST(threads_beginning_at_once_lose_no_records)
{
	start("32", true);
	run_threads_at_once();
	life_stop();
	read_back();
	check_nothing_lost(3 * NR_AT_ONCE);
}

static _Atomic bool is_draining;

static void begin_meanwhile(void)
{
	atomic_store(&is_draining, true);
	run_threads_at_once();
}

/* The disk may be slow for longer than a thread can wait. */
TEST(threads_find_space_while_the_life_thread_drains)
{
#ifdef RTL_DEBUG_CHECKS
	uint64_t nr = 0;

	testpoint_run("drain_copied", begin_meanwhile);
	start("8", false);
	/* a quarter of the slots is worth a write; the threads find 40 of the others */
	while (buf_nr_sealed() < 22)
		nr += fill(100);
	while (!atomic_load(&is_draining)) {
		life_kick();
		usleep(1000);
	}
	stop_and_read();
	check_nothing_lost(nr + 3 * NR_AT_ONCE);
#else
	(void)begin_meanwhile;
	SKIP("no testpoints in this build");
#endif
}

static void last_work(void)
{
	fill(5);
}

TEST(work_in_exit_handlers_is_recorded)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		atexit(last_work);
		start("1", true);
		/* registered later, runs first: before the trace ends */
		atexit(last_work);
		exit(0);
	}
	waitpid(pid, NULL, 0);
	read_back();
	CHECK_EQ_UINT(back.nr[REC_MARKER], 10);
	CHECK_EQ_UINT(read_loss(&back, SPOOL_REASON_late), 0);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_EXIT);
}

TEST(recording_keeps_errno)
{
	start("1", true);
	errno = EXDEV;
	fill(40000);
	CHECK_EQ_INT(errno, EXDEV);
	life_stop();
	CHECK_EQ_INT(errno, EXDEV);
}
