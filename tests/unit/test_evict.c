/* SPDX-License-Identifier: MIT */
/* test_evict.c - chunks are removed from the front of a trace, and nothing that the rest needs gets
 * lost */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/testpoint.h"
#include "spool/drain.h"
#include "spool/flight.h"
#include "store/index.h"
#include "store/verdict.h"
#include "support/spool_make.h"
#include "support/test.h"

#define QUEUE 0u
#define OLD_QUEUE 1u
#define BASE_NS UINT64_C(1000000000)

static struct drain drain;
static struct spool_make m;
static const char *path;
static uint64_t ends[512]; /* of the chunks */
static uint64_t written[SPOOL_WRITTEN_TYPES];
static uint64_t nr_dispatches;
static uint64_t swallowed; /* operations that are submitted and written, and not there */

static uint64_t now(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

static void raw(const void *rec, size_t size)
{
	written[((const struct rec_head *)rec)->type]++;
	spool_make_raw(&m, rec, size);
}

static void put_kernel(uint32_t id, uint32_t name, uint32_t object)
{
	written[REC_KERNEL]++;
	spool_make_kernel(&m, id, name, 0, object);
}

static void put_string(uint32_t id, const char *text)
{
	written[REC_STRING]++;
	spool_make_string(&m, id, text);
}

static void put_marker(enum rec_marker_kind kind, uint64_t id, uint64_t ns, const char *text)
{
	written[REC_MARKER]++;
	spool_make_marker(&m, kind, 7, id, 0, 0, ns, text);
}

static void put_end(enum rec_type type, uint32_t id, uint64_t ns, uint64_t marker)
{
	written[type]++;
	spool_make_end_of(&m, type, id, ns, marker);
}

/* In a chunk of the process, or of the drainer at the end. */
static void put_submitted(uint32_t queue, uint64_t count, bool at_end)
{
	struct rec_submitted r = { .h = { REC_SUBMITTED, sizeof(r) / 8, 0, queue },
				   .count = count };

	written[REC_SUBMITTED] += !at_end;
	spool_make_raw(&m, &r, sizeof(r));
}

/* Dispatch i of its queue takes 10 ns, ends at BASE_NS + 100 * i, and has correlation id i + 1. */
static void put_dispatches(uint32_t queue, uint32_t kernel, uint32_t nr)
{
	struct spool_make_op op = { .tid = 7, .marker = 1, .ticks = 1 };

	written[REC_SHAPE]++;
	op.shape = spool_make_shape(&m, kernel, queue, 64, 64);
	for (uint32_t i = 0; i < nr; i++, nr_dispatches++) {
		op.packet = (uint32_t)nr_dispatches;
		op.correlation = op.packet + 1;
		op.end_ns = BASE_NS + 100 * nr_dispatches;
		op.begin_ns = op.end_ns - 10;
		written[REC_DISPATCH]++;
		spool_make_dispatch(&m, &op);
	}
}

static void put_names(void)
{
	struct rec_op hip = { .h = { REC_OP, sizeof(hip) / 8, 0, REC_API_HIP << 16 | 5 },
			      .name = 3 };

	put_string(1, "_Z3oldv");
	put_string(2, "_Z3newv");
	put_string(3, "hipTest");
	put_string(4, "gfx900");
	written[REC_AGENT]++;
	spool_make_agent(&m, 0, REC_AGENT_GPU, 0, 4);
	written[REC_QUEUE] += 2;
	spool_make_queue(&m, QUEUE, 0, 0, 1000);
	spool_make_queue(&m, OLD_QUEUE, 0, 0, 1000);
	written[REC_CODE_OBJECT]++;
	spool_make_code_object(&m, 1, 0, 0, 1000);
	put_kernel(1, 1, 1);
	put_kernel(2, 2, 0);
	written[REC_THREAD]++;
	spool_make_thread(&m, 7, "worker", 900);
	written[REC_INFO]++;
	written[REC_STRING] += 2;
	spool_make_info(&m, 100, "mode", "standard");
	raw(&hip, sizeof(hip));
}

/* A trace of nr chunks with `each` dispatches of queue QUEUE: names in the first one, an open range
 * 1, range 2 and a code object that ended in chunk 3, a queue with 3 operations that ended there;
 * then the counts of a process that ended. */
static void make(int nr, uint32_t each)
{
	struct rec_written w = { .h = { .type = REC_WRITTEN, .size8 = sizeof(w) / 8 } };
	struct stat st;

	memset(written, 0, sizeof(written));
	nr_dispatches = 0;
	path = test_tmpfile("t.rtl");
	spool_make_begin(&m, path, (uint32_t)getpid(), true);
	for (int i = 0; i < nr; i++) {
		spool_make_chunk(&m, 7);
		written[REC_CLOCK]++;
		spool_make_clock(&m, 1, BASE_NS + 100 * nr_dispatches + 1, 1 + nr_dispatches);
		if (i == 0) {
			put_names();
			put_marker(REC_MARKER_PUSH, 1, 2000, "open");
			put_marker(REC_MARKER_PUSH, 2, 2100, "closed");
			put_dispatches(OLD_QUEUE, 1, 3);
			put_submitted(OLD_QUEUE, 3, false);
		}
		put_dispatches(QUEUE, 2, each);
		if (i == 3) {
			put_end(REC_MARKER_END, 7, BASE_NS + 100 * nr_dispatches - 50, 2);
			put_end(REC_QUEUE_END, OLD_QUEUE, BASE_NS + 100 * nr_dispatches - 50, 0);
			put_end(REC_CODE_OBJECT_END, 1, BASE_NS + 100 * nr_dispatches - 50, 0);
		}
		spool_make_chunk_end(&m);
		ends[i] = m.disk_end;
	}
	spool_make_chunk(&m, 0);
	for (uint32_t type = 0; type < SPOOL_WRITTEN_TYPES; type++) {
		w.h.id = type;
		w.count = written[type] + (type == REC_DISPATCH ? swallowed : 0);
		if (w.count)
			spool_make_raw(&m, &w, sizeof(w));
	}
	put_submitted(QUEUE, nr_dispatches - 3 + swallowed, true);
	spool_make_chunk_end(&m);
	spool_make_end(&m, false);
	CHECK_OK(stat(m.mem_path, &st));
	CHECK_OK(truncate(m.mem_path, (off_t)(m.header.slots_offset +
					      (uint64_t)m.header.nr_slots * SLOT_SIZE)));
}

/* ---- reading ---- */

struct seen {
	uint64_t nr, first, last; /* dispatches; their packets */
	uint64_t markers, ends;
};

static int on_dispatch(void *arg, const struct store_dispatch *op)
{
	struct seen *s = arg;

	if (!s->nr++)
		s->first = op->packet;
	else
		CHECK_EQ_UINT(op->packet, s->last + 1);
	s->last = op->packet;
	CHECK(op->kernel->known && op->queue->known);
	if (op->queue->id == QUEUE)
		CHECK_STR_EQ(op->kernel->demangled, "new()");
	CHECK_EQ_UINT(op->end_ns, BASE_NS + 100 * op->packet);
	CHECK_EQ_UINT(op->queue->gpu_index, 0);
	return 0;
}

static int on_marker(void *arg, const struct store_marker *marker)
{
	struct seen *s = arg;

	s->markers |= UINT64_C(1) << marker->marker;
	return 0;
}

static int on_end(void *arg, const struct store_marker_end *end)
{
	struct seen *s = arg;

	s->ends |= UINT64_C(1) << end->marker;
	return 0;
}

/* Reads the trace, which has dispatches [first, nr_dispatches). */
static struct seen check_trace(uint64_t first)
{
	static const struct store_visitor v = { .dispatch = on_dispatch,
						.marker_begin = on_marker,
						.marker_end = on_end };
	static struct verdict verdict;
	struct seen seen = { 0 };
	const struct store_totals *t;
	const struct store_thread *threads;
	const struct store_op *ops;
	struct load_error err;
	struct index *index;
	size_t nr;

	CHECK_MSG(index_open(&index, path, &err) == 0, "%s", err.text);
	CHECK_MSG(index_visit(index, &v, &seen, &err) == 0, "%s", err.text);
	CHECK_STR_EQ(load_warning(index_load(index)), "");
	CHECK_EQ_UINT(seen.first, first);
	CHECK_EQ_UINT(seen.nr, nr_dispatches - first);
	threads = index_threads(index, &nr);
	CHECK_EQ_UINT(nr, 1);
	CHECK_STR_EQ(threads[0].name, "worker");
	ops = index_ops(index, &nr);
	CHECK_EQ_UINT(nr, 1);
	CHECK_STR_EQ(ops[0].name, "hipTest");
	CHECK_STR_EQ(index_info(index, "mode"), "standard");
	CHECK(seen.markers & 1 << 1);
	t = index_totals(index);
	if (first) {
		CHECK_GE_UINT(t->evicted, first);
		CHECK_GE_UINT(t->evicted_last_ns, BASE_NS + 100 * (first - 1));
		CHECK_LE_UINT(t->evicted_last_ns, BASE_NS + 100 * first);
	}
	verdict_init(&verdict);
	verdict_add_trace(&verdict, index);
	verdict_finish(&verdict);
	CHECK_MSG(verdict.complete, "%s", verdict.line);
	CHECK_MSG((strstr(verdict.line, "flight_recorder") != NULL) == (first > 0), "%s",
		  verdict.line);
	for (uint32_t type = 0; type < SPOOL_WRITTEN_TYPES; type++)
		CHECK_EQ_UINT(index_flow(index)->read[type], written[type]);
	index_close(index);
	return seen;
}

static void open_spool(void)
{
	CHECK_OK(drain_open(&drain, path));
	CHECK(drain_take(&drain, now()));
}

TEST(removed_chunks_leave_definitions_open_ranges_and_counts)
{
	struct seen seen;

	make(20, 100);
	check_trace(0);
	open_spool();
	CHECK_EQ_INT(drain_evict(&drain, ends[1] + 100), ends[1] - SPOOL_HEADER_SIZE);
	CHECK_EQ_UINT(drain.header->kept_from, ends[1]);
	seen = check_trace(203);
	CHECK_EQ_UINT(seen.markers, 1 << 1 | 1 << 2);
	CHECK_EQ_UINT(seen.ends, 1 << 2);
	CHECK_EQ_INT(drain_evict(&drain, ends[1]), 0);
	CHECK_EQ_INT(drain_evict(&drain, ends[3]), ends[3] - ends[1]);
	seen = check_trace(403);
	CHECK_EQ_UINT(seen.markers, 1 << 1);
	CHECK_EQ_UINT(seen.ends, 0);
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 0);
	CHECK_OK(drain_finish(&drain));
	drain_close(&drain);
	check_trace(403);
	CHECK_EQ_INT(access(m.mem_path, F_OK), -1);
}

static size_t nr_of(const char *what)
{
	struct load_error err;
	struct index *index;
	size_t nr = 0;

	CHECK_OK(index_open(&index, path, &err));
	if (strcmp(what, "queues") == 0)
		index_queues(index, &nr);
	else if (strcmp(what, "kernels") == 0)
		index_kernels(index, &nr);
	else if (strcmp(what, "clocks") == 0)
		nr = index_totals(index)->clocks;
	else if (strcmp(what, "flow") == 0)
		nr = index_flow(index)->nr;
	index_close(index);
	return nr;
}

TEST(objects_that_ended_are_not_carried_for_ever)
{
	make(20, 100);
	open_spool();
	CHECK_GT_INT(drain_evict(&drain, ends[3]), 0);
	/* an operation of a later chunk may be one of theirs */
	CHECK_EQ_UINT(nr_of("queues"), 2);
	CHECK_EQ_UINT(nr_of("kernels"), 2);
	CHECK_GT_INT(drain_evict(&drain, ends[5]), 0);
	CHECK_GT_INT(drain_evict(&drain, ends[7]), 0);
	CHECK_EQ_UINT(nr_of("queues"), 1);
	CHECK_EQ_UINT(nr_of("kernels"), 1);
	CHECK_EQ_UINT(nr_of("flow"), 1);
	/* the last sample of what was removed, and one in each chunk */
	CHECK_EQ_UINT(nr_of("clocks"), 1 + 12);
	check_trace(803);
}

TEST(carried_chunks_replace_each_other_and_space_is_given_back)
{
	uint64_t first = 0, last = 0;
	struct stat st;

	make(300, 1000);
	open_spool();
	for (int i = 0; i < 290; i++) {
		uint64_t end = drain.header->disk_end;

		CHECK_GT_INT(drain_evict(&drain, ends[i]), 0);
		last = drain.header->disk_end - end;
		if (i == 20)
			first = last;
	}
	CHECK_LE_UINT(last, first + 16);
	check_trace(3 + 290 * 1000);
	CHECK_OK(stat(path, &st));
	/* 10 chunks of 48 KB, and at most a page of each superseded chunk */
	CHECK_LT_UINT((uint64_t)st.st_blocks * 512, 10 * 50000 + 290 * 2 * 4096);
	CHECK_GT_INT(st.st_size, 14000000);
	/* they are removed as others are */
	CHECK_GT_INT(drain_evict(&drain, UINT64_MAX), 0);
	CHECK_OK(stat(path, &st));
	CHECK_LT_UINT((uint64_t)st.st_blocks * 512, 10 * 4096);
}

static const char *verdict_now(void)
{
	static struct verdict verdict;
	struct load_error err;
	struct index *index;

	CHECK_OK(index_open(&index, path, &err));
	verdict_init(&verdict);
	verdict_add_trace(&verdict, index);
	verdict_finish(&verdict);
	index_close(index);
	return verdict.line;
}

TEST(swallowed_records_are_missed_after_a_removal)
{
	swallowed = 2;
	make(20, 100);
	open_spool();
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (unaccounted 2)");
	CHECK_GT_INT(drain_evict(&drain, ends[10]), 0);
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (unaccounted 2)");
	CHECK_GT_INT(drain_evict(&drain, UINT64_MAX), 0);
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (unaccounted 2)");
}

TEST(damaged_chunks_are_counted_when_they_are_removed)
{
	make(20, 100);
	open_spool();
	CHECK_EQ_INT(pwrite(drain.disk_fd, "xxxx", 4, (off_t)(ends[2] + 100)), 4);
	CHECK_EQ_INT(pwrite(drain.disk_fd, "xxxx", 4, (off_t)(ends[5])), 4);
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (bad_chunk 2)");
	CHECK_GT_INT(drain_evict(&drain, ends[4]), 0);
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (bad_chunk 2)");
	CHECK_GT_INT(drain_evict(&drain, ends[10]), 0);
	CHECK_STR_HAS(verdict_now(), "incomplete: 2 lost (bad_chunk 2)");
}

TEST(removal_without_memory_is_tried_again)
{
	make(20, 100);
	open_spool();
	CHECK_EQ_INT(drain_evict(&drain, SPOOL_HEADER_SIZE), 0);
	for (int i = 1; i <= 3; i++) {
		alloc_fail_at((uint64_t)i);
		CHECK_EQ_INT(drain_evict(&drain, ends[7]), -ENOMEM);
		alloc_fail_at(0);
		CHECK_EQ_UINT(drain.header->intent, 0);
		check_trace(0);
	}
	CHECK_GT_INT(drain_evict(&drain, ends[7]), 0);
	check_trace(803);
}

static int count_calls(void *arg, const struct store_api *api)
{
	*(uint64_t *)arg |= UINT64_C(1) << api->correlation;
	return 0;
}

static void put_call(uint64_t correlation, uint64_t end_ns)
{
	struct rec_api r = { .h = { REC_API, sizeof(r) / 8, 0, 8 },
			     .begin_ns = end_ns - 20,
			     .end_ns = end_ns,
			     .correlation = correlation,
			     .op = 5,
			     .domain = REC_API_HIP };

	spool_make_raw(&m, &r, sizeof(r));
}

/* A thread with few records, whose chunk is behind those that are removed. */
TEST(records_of_the_removed_time_are_left_out_wherever_they_are)
{
	static const struct store_visitor v = { .api = count_calls };
	struct spool_make_op op = { .tid = 8, .correlation = 5, .packet = 5, .ticks = 1 };
	struct spool_make_op old = op;
	const struct store_totals *t;
	uint64_t calls = 0;
	struct load_error err;
	struct index *index;

	path = test_tmpfile("w.rtl");
	spool_make_begin(&m, path, (uint32_t)getpid(), true);
	spool_make_chunk(&m, 7);
	put_names();
	put_dispatches(QUEUE, 2, 10);
	spool_make_chunk_end(&m);
	ends[0] = m.disk_end;
	spool_make_chunk(&m, 8);
	op.shape = old.shape = spool_make_shape(&m, 2, QUEUE, 64, 64);
	put_call(4, BASE_NS + 300); /* of nothing that is kept */
	put_call(5, BASE_NS + 400); /* of the operation that is kept */
	put_call(6, BASE_NS + 950); /* in the window */
	op.end_ns = BASE_NS + 2000;
	op.begin_ns = op.end_ns - 10;
	spool_make_dispatch(&m, &op);
	old.correlation = 4;
	old.end_ns = BASE_NS + 500;
	old.begin_ns = old.end_ns - 10;
	spool_make_dispatch(&m, &old);
	spool_make_marker(&m, REC_MARKER_MARK, 8, 3, 0, 0, BASE_NS + 100, "old mark");
	spool_make_chunk_end(&m);
	spool_make_end(&m, false);
	CHECK_OK(truncate(m.mem_path, (off_t)(m.header.slots_offset +
					      (uint64_t)m.header.nr_slots * SLOT_SIZE)));
	open_spool();
	CHECK_EQ_INT(drain_evict(&drain, ends[0]), ends[0] - SPOOL_HEADER_SIZE);
	CHECK_OK(index_open(&index, path, &err));
	CHECK_OK(index_visit(index, &v, &calls, &err));
	t = index_totals(index);
	CHECK_EQ_UINT(t->evicted_last_ns, BASE_NS + 900);
	CHECK_EQ_UINT(calls, 1 << 5 | 1 << 6);
	CHECK_EQ_UINT(t->dispatches, 1);
	CHECK_EQ_UINT(t->apis, 2);
	CHECK_EQ_UINT(t->markers, 0);
	CHECK_EQ_UINT(t->evicted, 10 + 3);
	CHECK(!index_called(index, 4));
	CHECK(index_called(index, 5));
	index_close(index);
}

TEST(flight_recorder_keeps_its_size_or_its_time)
{
	static struct flight flight;

	make(300, 1000);
	open_spool();
	CHECK_EQ_INT(flight_step(&flight, &drain, now()), 0);
	drain.header->flight_bytes = 1 << 20;
	CHECK_GT_INT(flight_step(&flight, &drain, now()), 0);
	CHECK_GE_UINT(drain.header->disk_end - drain.header->kept_from, 1 << 20);
	CHECK_LE_UINT(drain.header->disk_end - drain.header->kept_from, (1 << 20) * 9 / 8 + 50000);
	drain.header->flight_bytes = 0;
	drain.header->flight_ns = 1000;
	CHECK_EQ_INT(flight_step(&flight, &drain, 10000), 0);
	CHECK_EQ_INT(flight_step(&flight, &drain, 10999), 0);
	drain.header->hold_until_ns = now() + DRAIN_HOLD_NS / 2;
	CHECK_EQ_INT(flight_step(&flight, &drain, 12000), 0);
	drain.header->hold_until_ns = 0;
	CHECK_GT_INT(flight_step(&flight, &drain, 13000), 0);
}

static int copy_fd(void)
{
	return open(test_tmpfile("copy.rtl"), O_CREAT | O_TRUNC | O_RDWR, 0600);
}

TEST(copy_of_a_trace_has_what_the_trace_has)
{
	struct load_error err;
	int fd;

	make(20, 100);
	fd = copy_fd();
	CHECK_OK(load_copy(path, fd, &err));
	open_spool();
	CHECK_GT_INT(drain_evict(&drain, ends[5]), 0);
	CHECK_GT_INT(drain_evict(&drain, ends[7]), 0);
	path = test_tmpfile("copy.rtl");
	check_trace(0);
	path = test_tmpfile("t.rtl");
	close(fd);
	fd = copy_fd();
	CHECK_OK(load_copy(path, fd, &err));
	drain_close(&drain);
	CHECK_OK(unlink(path));
	path = test_tmpfile("copy.rtl");
	check_trace(803);
}

#ifdef RTL_DEBUG_CHECKS
static const char *const windows[] = { "evict_upto",	"evict_intent", "evict_made",
				       "evict_written", "evict_ended",	"evict_carried",
				       "evict_kept",	"evict_header", "evict_punched" };

static void nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* A child that removes up to ends[7] and stalls at a testpoint. */
static pid_t remove_in_child(const char *window, uint64_t stall_ms)
{
	pid_t pid;

	testpoint_set(window, stall_ms);
	pid = fork();
	if (pid == 0) {
		if (drain_open(&drain, path) == 0 && drain_take(&drain, now()))
			drain_evict(&drain, ends[7]);
		_exit(0);
	}
	testpoint_set(NULL, 0);
	CHECK_OK(drain_open(&drain, path));
	for (int i = 0; i < 5000 && !atomic_load(&drain.header->evict_upto); i++)
		nap_ms(1);
	CHECK_EQ_UINT(drain.header->evict_upto, ends[7]);
	nap_ms(20); /* on to the testpoint */
	return pid;
}
#endif

TEST(removal_of_drainer_killed_at_any_step_is_resumed)
{
#ifdef RTL_DEBUG_CHECKS
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		pid_t pid;

		make(20, 100);
		/* the second removal: there are carried chunks */
		open_spool();
		CHECK_GT_INT(drain_evict(&drain, ends[2]), 0);
		atomic_store(&drain.header->evict_upto, 0);
		drain_give(&drain);
		drain_close(&drain);
		pid = remove_in_child(windows[i], 30000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		check_trace(drain.header->kept_from == ends[7] ? 803 : 303);
		CHECK(drain_take(&drain, now()));
		CHECK_GE_INT(drain_run(&drain, false, 0, now()), 0);
		CHECK_EQ_UINT(drain.header->intent, 0);
		CHECK_GE_INT(drain_evict(&drain, ends[9]), 0);
		check_trace(1003);
		CHECK_GE_INT(drain_run(&drain, true, 0, now()), 0);
		CHECK_OK(drain_finish(&drain));
		check_trace(1003);
		drain_close(&drain);
	}
#else
	SKIP("no testpoints in this build");
#endif
}

TEST(drainer_replaced_at_any_step_removes_nothing_twice)
{
#ifdef RTL_DEBUG_CHECKS
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		pid_t pid;

		make(20, 100);
		pid = remove_in_child(windows[i], 250);
		CHECK(drain_take(&drain, now() + 2 * DRAIN_TAKEOVER_NS));
		CHECK_GE_INT(drain_evict(&drain, ends[9]), 0);
		check_trace(1003);
		waitpid(pid, NULL, 0);
		check_trace(1003);
		CHECK_EQ_UINT(drain.header->intent, 0);
		CHECK_GT_INT(drain_evict(&drain, ends[11]), 0);
		check_trace(1203);
		drain_close(&drain);
	}
#else
	SKIP("no testpoints in this build");
#endif
}

TEST(trace_without_its_memory_half_begins_at_what_was_kept)
{
	make(20, 100);
	open_spool();
	CHECK_GT_INT(drain_evict(&drain, ends[9]), 0);
	drain_close(&drain);
	CHECK_OK(unlink(m.mem_path));
	{
		struct load_error err;
		struct index *index;
		struct seen seen = { 0 };
		static const struct store_visitor v = { .dispatch = on_dispatch };

		CHECK_OK(index_open(&index, path, &err));
		CHECK_OK(index_visit(index, &v, &seen, &err));
		CHECK_EQ_UINT(seen.first, 1003);
		CHECK_EQ_UINT(seen.last, nr_dispatches - 1);
		CHECK_STR_EQ(load_warning(index_load(index)), "");
		index_close(index);
	}
}

TEST(trace_whose_chunks_are_removed_while_it_is_read_is_stale)
{
	struct load_error err;
	const struct rec_head *rec;
	struct load *load;
	int ret;

	make(300, 1000);
	open_spool();
	CHECK_OK(load_open(&load, path, &err));
	CHECK_EQ_INT(load_next(load, &rec, NULL), 1);
	CHECK_GT_INT(drain_evict(&drain, ends[200]), 0);
	while ((ret = load_next(load, &rec, NULL)) == 1)
		;
	CHECK_EQ_INT(ret, -ESTALE);
	CHECK_STR_HAS(load_warning(load), "removed while it was read");
	load_close(load);
}
