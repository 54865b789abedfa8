/* SPDX-License-Identifier: MIT */
/* test_reopen.c - traces that are opened and closed while the process runs, one after another */
#include "sink/recorder/recorder.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/special.h"
#include "sink/recorder/buf.h"
#include "support/spool_read.h"

#ifdef __SANITIZE_THREAD__
#define NR_TRACES 25
#define OWN_KIB (UINT64_C(1) << 20)
#elif defined(__SANITIZE_ADDRESS__)
#define NR_TRACES 50
#define OWN_KIB 65536
#else
#define NR_TRACES 120
#define OWN_KIB 4096
#endif

static const struct source *const no_sources[] = { NULL };
static const struct sink *const sinks[] = { &recorder_sink, NULL };
static char closed_path[PATH_MAX];

static const char *dir(void)
{
	return test_tmpfile("spool");
}

/* The core runs, and no trace is open. */
static void begin(const char *buffer_mb)
{
	setenv("RTL_SPOOL_DIR", dir(), 1);
	setenv("RTL_BUFFER_MB", buffer_mb, 1);
	setenv("RTL_LOG_FILE", test_tmpfile("log"), 1);
	setenv("RTL_BIN", "/bin/true", 1);
	setenv("RTL_MEM_DIR", test_tmpdir(), 1);
	life_init(no_sources, sinks);
	life_attach_sinks_later();
	CHECK(life_start());
	CHECK(!recorder_is_open());
}

static void emit_marker(uint64_t id)
{
	struct event ev = { .kind = EVENT_MARKER };

	ev.marker.marker = id;
	ev.marker.tid = thread_get()->tid;
	ev.marker.text = "";
	bus_emit(&ev);
}

static void emit_kernel(uint32_t id)
{
	struct event ev = { .kind = EVENT_KERNEL };

	ev.kernel.id = id;
	ev.kernel.name = bus_string("a kernel", SIZE_MAX);
	bus_emit(&ev);
}

static void emit_dispatch(uint64_t n)
{
	struct event ev = { .kind = EVENT_DISPATCH };

	ev.dispatch.packet = n;
	ev.dispatch.tid = thread_get()->tid;
	ev.dispatch.kernel = 3;
	bus_emit(&ev);
}

/* The end of an API call, written by the thread itself where it has a lane. */
static void end_call(uint64_t correlation, uint64_t begin_ns, uint64_t parent)
{
	struct lane *l = thread_get()->lane;
	struct event ev = { .kind = EVENT_API };
	struct rec_api *r;

	if (!special_any(SPECIAL_FOR_CALLS) && lane_begin(l, sizeof(*r))) {
		r = (struct rec_api *)(void *)l->pos;
		*r = (struct rec_api){ .h = { REC_API, sizeof(*r) / 8, 0, thread_get()->tid },
				       .begin_ns = begin_ns,
				       .correlation = correlation,
				       .parent = parent,
				       .domain = REC_API_HIP };
		lane_end(l, (uint8_t *)(r + 1));
		return;
	}
	ev.api.begin_ns = begin_ns;
	ev.api.correlation = correlation;
	ev.api.parent = parent;
	ev.api.tid = thread_get()->tid;
	ev.api.domain = REC_API_HIP;
	bus_emit(&ev);
}

static void emit_call(uint64_t correlation)
{
	end_call(correlation, clock_now_ns(), 0);
}

static void open_trace(void)
{
	CHECK_OK(recorder_open(dir(), ""));
	CHECK(recorder_is_open());
}

static uint64_t written[REC_NR_TYPES];
static bool one_is_lost; /* and counted as missing */
static void (*each_record)(const struct rec_head *rec);

static void look_at(const struct rec_head *h)
{
	if (h->type == REC_WRITTEN)
		written[h->id] = ((const struct rec_written *)(const void *)h)->count;
	if (each_record)
		each_record(h);
}

/* Closes it and reads it; the trace must be complete in its disk half. */
static struct spool_read *close_and_read(void (*each)(const struct rec_head *rec))
{
	static const uint8_t counted[] = { REC_MARKER, REC_API, REC_DISPATCH, REC_KERNEL };
	static struct spool_read back;

	CHECK_OK(recorder_close(closed_path, sizeof(closed_path)));
	CHECK(!recorder_is_open());
	memset(&back, 0, sizeof(back));
	memset(written, 0, sizeof(written));
	back.each = look_at;
	each_record = each;
	read_spool(&back, closed_path, false);
	for (size_t i = 0; i < sizeof(counted) && !one_is_lost; i++)
		CHECK_EQ_UINT(back.nr[counted[i]], written[counted[i]]);
	CHECK_EQ_UINT(back.header.closed, 1);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_CLOSED);
	CHECK_EQ_UINT(back.header.mem_path[0], 0);
	CHECK_OK(unlink(closed_path));
	return &back;
}

TEST(each_trace_has_its_records_alone_and_the_live_objects)
{
	const struct spool_read *back;

	begin("2");
	emit_kernel(3);
	emit_marker(1);
	for (uint32_t i = 1; i <= 3; i++) {
		open_trace();
		for (uint32_t k = 0; k < i; k++) {
			emit_marker(k + 10);
			emit_dispatch(k);
			emit_call(k + 1);
		}
		back = close_and_read(NULL);
		CHECK_EQ_UINT(back->nr[REC_MARKER], i);
		CHECK_EQ_UINT(back->nr[REC_DISPATCH], i);
		CHECK_EQ_UINT(back->nr[REC_SHAPE], 1);
		CHECK_EQ_UINT(back->nr[REC_API], i);
		CHECK_EQ_UINT(back->nr[REC_KERNEL], 1);
		CHECK_EQ_UINT(back->nr[REC_THREAD], 1);
		CHECK_GE_UINT(back->nr[REC_INFO], 8);
		CHECK_GE_UINT(back->nr[REC_CLOCK], 2);
		for (int r = 0; r < SPOOL_NR_REASONS; r++)
			CHECK_EQ_UINT(read_loss(back, (enum spool_reason)r), 0);
		emit_marker(100 + i);
		bus_loss(SPOOL_REASON_graph_batch, 1);
	}
	CHECK_EQ_INT(read_count_files(dir()), 0);
	life_stop();
}

TEST(opening_and_closing_twice_and_at_the_wrong_time_is_refused)
{
	setenv("RTL_TEST", "", 1);
	CHECK_EQ_INT(recorder_open(dir(), ""), -ESHUTDOWN);
	begin("2");
	CHECK_EQ_INT(recorder_close(closed_path, sizeof(closed_path)), -ENOENT);
	open_trace();
	CHECK_EQ_INT(recorder_open(dir(), ""), -EBUSY);
	thread_get()->in_hook = true;
	CHECK_EQ_INT(recorder_close(closed_path, sizeof(closed_path)), -EDEADLK);
	thread_get()->in_hook = false;
	close_and_read(NULL);
	CHECK_LT_INT(recorder_open("/proc/self/none", ""), 0);
	CHECK(!recorder_is_open());
	emit_marker(1);
	open_trace();
	emit_marker(2);
	CHECK_EQ_UINT(close_and_read(NULL)->nr[REC_MARKER], 1);
	life_stop();
	CHECK_EQ_INT(recorder_open(dir(), ""), -ESHUTDOWN);
}

TEST(trace_of_the_start_is_closed_and_another_is_opened)
{
	setenv("RTL_SPOOL_DIR", dir(), 1);
	setenv("RTL_BUFFER_MB", "2", 1);
	setenv("RTL_MEM_DIR", test_tmpdir(), 1);
	life_init(no_sources, sinks);
	CHECK(life_start());
	emit_marker(1);
	CHECK_EQ_UINT(close_and_read(NULL)->nr[REC_MARKER], 1);
	open_trace();
	emit_marker(2);
	emit_marker(3);
	CHECK_EQ_UINT(close_and_read(NULL)->nr[REC_MARKER], 2);
	life_stop();
}

TEST(open_trace_is_closed_at_the_end)
{
	static struct spool_read back;

	begin("2");
	open_trace();
	emit_marker(1);
	life_stop();
	read_spool(&back, read_find(dir(), 0), false);
	CHECK_EQ_UINT(back.header.closed, 1);
	CHECK_EQ_UINT(back.header.end_kind, SPOOL_END_EXIT);
	CHECK_EQ_UINT(back.nr[REC_MARKER], 1);
}

/* ---- threads that never stop --------------------------------------------------------------- */

#define NR_THREADS 8
static _Atomic bool over;
static _Atomic uint64_t next_id = 1;

#define MAX_IDS (UINT64_C(1) << 28)
/* however long a trace is open: on a loaded machine its reader takes most of the time */
#define IDS_PER_TRACE (UINT64_C(1) << 17)
static _Atomic uint64_t last_id; /* of this trace: threads that are past it record slowly */
static _Atomic uint8_t *found;	 /* by id: how often it is in a trace */
static uint64_t nr_found, nr_twice;

static void find(const struct rec_head *h)
{
	const struct rec_marker *m = (const void *)h;
	const struct rec_api *a = (const void *)h;
	uint64_t id = h->type == REC_MARKER ? m->marker : h->type == REC_API ? a->correlation : 0;

	if (!id)
		return;
	CHECK_LT_UINT(id, MAX_IDS);
	nr_found++;
	nr_twice += atomic_fetch_add(&found[id], 1) != 0;
}

static void *record_all_the_time(void *arg)
{
	for (int i = 1; !atomic_load_explicit(&over, memory_order_relaxed); i++) {
		emit_marker(atomic_fetch_add(&next_id, 1));
		emit_call(atomic_fetch_add(&next_id, 1));
		emit_dispatch(1);
		/* more threads than processors */
		if (i % 256 == 0 || !recorder_is_open() ||
		    atomic_load(&next_id) > atomic_load(&last_id))
			usleep(20);
	}
	return arg;
}

static void *short_thread(void *arg)
{
	emit_marker(atomic_fetch_add(&next_id, 1));
	return arg;
}

static uint64_t kib_mapped(void)
{
	unsigned long size = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK_NOT_NULL(f);
	CHECK_EQ_INT(fscanf(f, "%lu", &size), 1);
	fclose(f);
	return size * 4;
}

/* Records written within a trace, as the traces count them, are in it, and nothing is in two. */
TEST(threads_record_while_traces_are_opened_and_closed)
{
	pthread_t threads[NR_THREADS], one;
	uint64_t mapped = 0;

	found = alloc_pages(MAX_IDS);
	CHECK_NOT_NULL(found);
	begin("4");
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, record_all_the_time, NULL));
	for (int i = 0; i < NR_TRACES; i++) {
		struct spool_read *back;

		open_trace();
		atomic_store(&last_id, atomic_load(&next_id) + IDS_PER_TRACE);
		CHECK_OK(pthread_create(&one, NULL, short_thread, NULL));
		usleep(300);
		pthread_join(one, NULL);
		back = close_and_read(find);
		CHECK_EQ_UINT(read_loss(back, SPOOL_REASON_late), 0);
		CHECK_GE_UINT(back->nr[REC_MARKER], 1);
		CHECK_OK(pthread_create(&one, NULL, short_thread, NULL));
		pthread_join(one, NULL);
		if (i == 10)
			mapped = kib_mapped();
	}
	atomic_store(&over, true);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_GT_UINT(nr_found, 1000);
	CHECK_EQ_UINT(nr_twice, 0);
	/* the thread sanitizer's own memory grows */
	CHECK_LE_UINT(kib_mapped(), mapped + OWN_KIB);
	CHECK_EQ_INT(read_count_files(dir()), 0);
	life_stop();
}

static _Atomic bool may_go_on;

/* In the middle of a record for longer than a closing waits. */
static void *slow_record(void *arg)
{
	struct lane *l;

	emit_call(1);
	l = thread_get()->lane;
	CHECK(lane_begin(l, sizeof(struct rec_api)));
	atomic_store((_Atomic bool *)arg, true);
	while (!atomic_load(&may_go_on))
		usleep(1000);
	memset(l->pos, 0, sizeof(struct rec_api));
	((struct rec_head *)(void *)l->pos)->size8 = sizeof(struct rec_api) / 8;
	((struct rec_head *)(void *)l->pos)->type = REC_API;
	lane_end(l, l->pos + sizeof(struct rec_api));
	emit_call(2);
	emit_marker(3);
	return NULL;
}

/* What it submitted may be in the earlier trace. */
TEST(call_that_began_before_the_trace_is_left_out_and_counted)
{
	const struct spool_read *back;
	uint64_t begin_ns;

	begin("2");
	open_trace();
	emit_call(1);
	emit_call(2); /* in the thread's lane */
	begin_ns = clock_now_ns();
	back = close_and_read(NULL);
	CHECK_EQ_UINT(back->nr[REC_API], 2);
	open_trace();
	end_call(4, clock_now_ns(), 3); /* within that call */
	end_call(3, begin_ns, 0);
	emit_call(5);
	emit_call(6);
	back = close_and_read(NULL);
	CHECK_EQ_UINT(back->nr[REC_API], 3);
	CHECK_EQ_UINT(read_loss(back, SPOOL_REASON_paused), 1);
	life_stop();
}

TEST(record_that_outlasts_the_closing_spoils_no_other_trace)
{
	static _Atomic bool is_in_it;
	struct spool_read *back;
	pthread_t thread;

	begin("2");
	open_trace();
	CHECK_OK(pthread_create(&thread, NULL, slow_record, &is_in_it));
	while (!atomic_load(&is_in_it))
		usleep(1000);
	back = close_and_read(NULL);
	CHECK_EQ_UINT(back->nr[REC_API], 1);
	open_trace();
	emit_marker(1);
	atomic_store(&may_go_on, true);
	pthread_join(thread, NULL);
	one_is_lost = true;
	back = close_and_read(NULL);
	CHECK_EQ_UINT(back->nr[REC_API], 1);
	CHECK_EQ_UINT(written[REC_API], 2);
	CHECK_EQ_UINT(back->nr[REC_MARKER], 2);
	life_stop();
}

TEST(threads_that_end_between_traces_give_their_chunks_back)
{
	pthread_t thread;

	begin("2");
	for (uint32_t i = 0; i < BUF_MAX + 100; i++) {
		if (i % 512 == 0)
			open_trace();
		CHECK_OK(pthread_create(&thread, NULL, short_thread, NULL));
		pthread_join(thread, NULL);
		if (i % 512 == 511)
			CHECK_EQ_UINT(read_loss(close_and_read(NULL), SPOOL_REASON_thread_slots),
				      0);
	}
	life_stop();
}

TEST(forked_child_of_a_process_with_traces_records_nothing)
{
	int status;
	pid_t pid;

	begin("2");
	open_trace();
	emit_marker(1);
	pid = fork();
	if (pid == 0) {
		emit_marker(2);
		emit_call(3);
		_exit(recorder_open(dir(), "") == -ESHUTDOWN &&
				      recorder_close(closed_path, sizeof(closed_path)) ==
					      -ESHUTDOWN ?
			      0 :
			      1);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ_INT(status, 0);
	CHECK_EQ_UINT(close_and_read(NULL)->nr[REC_MARKER], 1);
	life_stop();
}
