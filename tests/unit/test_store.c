/* SPDX-License-Identifier: MIT */
/* test_store.c - references resolved in any order, operations as a stream, the verdict, the map */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/index.h"
#include "store/map.h"
#include "store/verdict.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct load_error err;

static const char *sample(bool mem, bool closed)
{
	const char *path = test_tmpfile("a.rtl");
	struct spool_make_sample s = { .pid = 100, .mem = mem, .closed = closed };

	spool_make_sample(path, &s);
	return path;
}

static struct index *open_ok(const char *path)
{
	struct index *index;
	int ret = index_open(&index, path, &err);

	CHECK_MSG(ret == 0, "%s", err.text);
	return index;
}

struct seen {
	unsigned int dispatches, copies, barriers, begins, ends, clocks, internal;
	uint64_t cookies;
	int stop_at;
};

static int on_dispatch(void *arg, const struct store_dispatch *op)
{
	struct seen *seen = arg;

	CHECK_NOT_NULL(op->kernel);
	CHECK_NOT_NULL(op->queue);
	if (op->correlation == 10) {
		CHECK_STR_EQ(op->kernel->demangled,
			     "vadd(float const*, float const*, float*, int)");
		CHECK_EQ_UINT(op->grid[0], 65536);
		CHECK_EQ_UINT(op->group[0], 256);
		CHECK_EQ_UINT(op->end_ns - op->begin_ns, 500);
		CHECK_EQ_UINT(op->queue->gpu_index, 0);
		CHECK_EQ_UINT(op->marker, 2);
	}
	if (op->correlation == 21) {
		CHECK_EQ_UINT(op->packet, (UINT64_C(1) << 33));
		CHECK(op->flags & REC_F_INVERTED);
		CHECK_LT_UINT(op->end_ns, op->begin_ns);
		CHECK_EQ_UINT(op->queue->id, 1);
		CHECK(op->queue->known);
		CHECK_EQ_UINT(op->queue->gpu_index, 1);
	}
	if (op->correlation == 40)
		CHECK_EQ_UINT(op->end_ns, 0);
	seen->internal += (op->flags & REC_F_INTERNAL) != 0;
	seen->cookies += (*op->shape_cookie)++ > 0;
	seen->dispatches++;
	return seen->stop_at && (int)seen->dispatches == seen->stop_at ? -ECANCELED : 0;
}

static int on_copy(void *arg, const struct store_copy *op)
{
	struct seen *seen = arg;

	if (op->kind == REC_COPY_H2D) {
		CHECK_EQ_UINT(op->dst_gpu, 0);
		CHECK_EQ_UINT(op->src_gpu, UINT32_MAX);
		CHECK_EQ_UINT(op->engine, 1);
	}
	seen->copies++;
	return 0;
}

static int on_barrier(void *arg, const struct store_barrier *op)
{
	CHECK_EQ_UINT(op->queue->id, 1);
	((struct seen *)arg)->barriers++;
	return 0;
}

static int on_marker(void *arg, const struct store_marker *marker)
{
	if (marker->marker == 2)
		CHECK_STR_EQ(marker->text, "inner \"quoted\"");
	((struct seen *)arg)->begins++;
	return 0;
}

static int on_marker_end(void *arg, const struct store_marker_end *end)
{
	CHECK_NE_INT(end->marker, 0);
	((struct seen *)arg)->ends++;
	return 0;
}

static int on_clock(void *arg, const struct store_clock *clock)
{
	CHECK_NE_INT(clock->system_ns, 0);
	((struct seen *)arg)->clocks++;
	return 0;
}

static const struct store_visitor all = {
	.dispatch = on_dispatch,
	.copy = on_copy,
	.barrier = on_barrier,
	.marker_begin = on_marker,
	.marker_end = on_marker_end,
	.clock = on_clock,
};

static void check_sample(struct index *index)
{
	const struct store_totals *t = index_totals(index);
	struct seen seen = { 0 };

	CHECK_EQ_UINT(t->dispatches, 10);
	CHECK_EQ_UINT(t->copies, 3);
	CHECK_EQ_UINT(t->markers, 5);
	CHECK_EQ_UINT(t->unfinished, 1);
	CHECK_EQ_UINT(t->first_ns, 1000000100);
	CHECK_EQ_UINT(t->last_ns, 1000025000);
	CHECK_EQ_UINT(t->max_marker, 5);
	CHECK_EQ_UINT(t->max_correlation, 40);
	for (int pass = 0; pass < 2; pass++) {
		memset(&seen, 0, sizeof(seen));
		CHECK_OK(index_visit(index, &all, &seen, &err));
		CHECK_EQ_UINT(seen.dispatches, 10);
		CHECK_EQ_UINT(seen.internal, 1);
		CHECK_EQ_UINT(seen.cookies, 5);
		CHECK_EQ_UINT(seen.copies, 3);
		CHECK_EQ_UINT(seen.barriers, 1);
		CHECK_EQ_UINT(seen.begins, 5);
		CHECK_EQ_UINT(seen.ends, 3);
		CHECK_EQ_UINT(seen.clocks, 3);
	}
}

TEST(use_before_definition_is_resolved)
{
	struct index *index = open_ok(sample(false, true));
	const struct store_kernel *kernels;
	const struct store_queue *queues;
	const struct store_code_object *objects;
	const struct store_clock *clocks;
	size_t nr;

	check_sample(index);
	kernels = index_kernels(index, &nr);
	CHECK_EQ_UINT(nr, 3);
	CHECK_STR_EQ(kernels[0].name, "_Z4vaddPKfS0_Pfi.kd");
	CHECK_STR_EQ(kernels[2].demangled, "plain_name");
	queues = index_queues(index, &nr);
	CHECK_EQ_UINT(nr, 3);
	CHECK_EQ_UINT(queues[0].end_ns, 1000030000);
	CHECK_EQ_UINT(queues[2].flags, REC_QUEUE_INTERNAL);
	objects = index_code_objects(index, &nr);
	CHECK_EQ_UINT(nr, 1);
	CHECK_EQ_UINT(strlen(objects[0].uri), 2 * REC_STRING_PIECE + 99);
	CHECK_EQ_INT(strncmp(objects[0].uri, "file://uuu", 10), 0);
	clocks = index_clocks(index, &nr);
	CHECK_EQ_UINT(nr, 4);
	CHECK_EQ_UINT(clocks[3].ticks, 104000);
	CHECK_STR_EQ(index_info(index, "rank"), "3");
	CHECK_STR_EQ(index_info(index, "none"), "");
	index_infos(index, &nr);
	CHECK_EQ_UINT(nr, 6);
	index_threads(index, &nr);
	CHECK_EQ_UINT(nr, 2);
	index_agents(index, &nr);
	CHECK_EQ_UINT(nr, 3);
	index_close(index);
}

TEST(memory_half_is_indexed)
{
	struct index *index = open_ok(sample(true, false));

	check_sample(index);
	index_close(index);
}

TEST(visitor_error_ends_visit)
{
	struct index *index = open_ok(sample(false, true));
	struct seen seen = { .stop_at = 3 };

	CHECK_EQ_INT(index_visit(index, &all, &seen, &err), -ECANCELED);
	CHECK_EQ_UINT(seen.dispatches, 3);
	index_close(index);
}

TEST(undefined_id_has_unknown_entry)
{
	const char *path = test_tmpfile("n.rtl");
	struct spool_make_op op = { .tid = 5, .begin_ns = 10, .end_ns = 20 };
	static struct spool_make m;
	const struct store_kernel *kernels;
	struct index *index;
	struct seen seen = { 0 };
	size_t nr;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_shape(&m, 77, 3, 64, 64);
	spool_make_dispatch(&m, &op);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	index = open_ok(path);
	kernels = index_kernels(index, &nr);
	CHECK_EQ_UINT(nr, 1);
	CHECK_STR_EQ(kernels[0].demangled, "kernel#77");
	CHECK(!kernels[0].known);
	CHECK_OK(index_visit(index, &all, &seen, &err));
	CHECK_EQ_UINT(seen.dispatches, 1);
	index_close(index);
}

static int on_linked_dispatch(void *arg, const struct store_dispatch *op)
{
	CHECK_EQ_UINT(op->correlation, op->packet == 1 ? 500 : 3);
	CHECK_EQ_UINT(op->marker, op->packet == 1 ? 600 : 4);
	CHECK_EQ_UINT(op->tid, op->packet == 1 ? 70 : 7);
	++*(int *)arg;
	return 0;
}

static int on_linked_copy(void *arg, const struct store_copy *op)
{
	CHECK_EQ_UINT(op->correlation, 501);
	CHECK_EQ_UINT(op->marker, 0);
	CHECK_EQ_UINT(op->tid, 71);
	++*(int *)arg;
	return 0;
}

static int on_linked_barrier(void *arg, const struct store_barrier *op)
{
	CHECK_EQ_UINT(op->correlation, 502);
	CHECK_EQ_UINT(op->tid, 70);
	++*(int *)arg;
	return 0;
}

/* Links come before or behind the operation's record, also in another chunk; impossible ones are
 * ignored. */
TEST(link_sets_call_and_thread_of_operation)
{
	static const struct store_visitor visitor = { .dispatch = on_linked_dispatch,
						      .copy = on_linked_copy,
						      .barrier = on_linked_barrier };
	const struct rec_link links[] = {
		{ { REC_LINK, 4, 0, 70 }, 1, 500, 600 },
		{ { REC_LINK, 4, 0, 71 }, 2, 501, 0 },
		{ { REC_LINK, 4, 0, 70 }, 5000, 502, 0 },
		{ { REC_LINK, 4, 0, 70 }, 3, 0, 9 },
		{ { REC_LINK, 4, 0, 70 }, 3, UINT64_C(1) << 40, 9 },
		{ { REC_LINK, 4, 0, 1u << 24 }, 3, 9, 9 },
		{ { REC_LINK, 4, 0, 70 }, 0, 9, 9 },
		{ { REC_LINK, 4, 0, 70 }, UINT64_MAX, 9, 9 },
	};
	struct spool_make_op op = { .tid = 7, .marker = 4, .begin_ns = 100, .end_ns = 200 };
	const char *path = test_tmpfile("l.rtl");
	static struct spool_make m;
	struct index *index;
	int nr = 0;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_queue(&m, 0, 0, 0, 1);
	op.shape = spool_make_shape(&m, 1, 0, 64, 64);
	op.correlation = op.packet = 1;
	spool_make_dispatch(&m, &op);
	op.correlation = op.packet = 3;
	spool_make_dispatch_wide(&m, &op);
	op.correlation = 2;
	spool_make_copy(&m, &op, REC_COPY_H2D, 0, 1, 4);
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 8);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		spool_make_raw(&m, &links[i], sizeof(links[i]));
	op.correlation = 5000;
	spool_make_barrier(&m, &op, 0);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	index = open_ok(path);
	CHECK_OK(index_visit(index, &visitor, &nr, &err));
	CHECK_EQ_INT(nr, 4);
	index_close(index);
}

/* A record of 16 bytes may claim a string of 4 GB: memory is allocated for the pieces that
 * exist. */
TEST(string_with_missing_pieces_keeps_offsets)
{
	struct rec_string piece = { { REC_STRING, 2 + REC_STRING_PIECE / 8, 0, 1 },
				    0xffffffffu,
				    0 };
	const char *path = test_tmpfile("s.rtl");
	uint8_t bytes[sizeof(piece) + REC_STRING_PIECE];
	static struct spool_make m;
	struct rec_info info = { { REC_INFO, 2, 0, 0 }, 1, 2 };
	struct index *index;
	size_t nr;

	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, &piece, sizeof(piece));
	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_raw(&m, bytes, sizeof(bytes));
	spool_make_raw(&m, &info, sizeof(info));
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	index = open_ok(path);
	CHECK_EQ_INT(strncmp(index_infos(index, &nr)[0].key, "xxxx", 4), 0);
	CHECK_LE_UINT(strlen(index_infos(index, &nr)[0].key), 2 * REC_STRING_PIECE);
	CHECK_STR_EQ(index_infos(index, &nr)[0].value, "");
	index_close(index);
}

TEST(index_open_without_memory_fails_and_frees)
{
	const char *path = sample(true, false);
	struct index *index = NULL;
	int ret = -ENOMEM;

	for (uint64_t nth = 1; ret < 0; nth++) {
		CHECK_LT_UINT(nth, 10000);
		alloc_fail_at(nth);
		ret = index_open(&index, path, &err);
		alloc_fail_at(0);
		if (ret < 0)
			CHECK_EQ_INT(ret, -ENOMEM);
	}
	index_close(index);
}

static struct verdict verdict;

static void read_verdict(const char *path)
{
	struct index *index = open_ok(path);

	verdict_init(&verdict);
	verdict_add_trace(&verdict, index);
	verdict_finish(&verdict);
	index_close(index);
}

static void make_lossy(const char *path, enum spool_reason reason, uint64_t count, bool closed)
{
	static struct spool_make m;

	spool_make_begin(&m, path, 7, false);
	spool_make_loss(&m, reason, count, 5, 9);
	if (reason == SPOOL_REASON_buffer_full)
		spool_make_loss(&m, SPOOL_REASON_late, 3, 5, 9);
	spool_make_end(&m, closed);
}

TEST(verdict_groups_name_the_processes_with_the_same_reason)
{
	struct verdict_group group;
	size_t at = 0;

	verdict_init(&verdict);
	verdict.nr_processes = 6;
	for (uint32_t pid = 10; pid < 16; pid++) {
		verdict_add(&verdict, pid, "killed", LOAD_NOTE, 1, 0, 0, "killed by SIGKILL");
		if (pid < 12)
			verdict_add(&verdict, pid, "late", LOAD_LOSS, 1000, 0, 0, "too late");
	}
	verdict_add(&verdict, 12, "late", LOAD_LOSS, 5, 0, 0, "another sentence");
	CHECK(verdict_next_group(&verdict, &at, &group));
	CHECK_STR_EQ(group.row->reason, "killed");
	CHECK_EQ_UINT(group.count, 6);
	CHECK_STR_EQ(group.pids, " (pids 10, 11, 12, 13 and 2 more)");
	CHECK(verdict_next_group(&verdict, &at, &group));
	CHECK_STR_EQ(group.row->reason, "late");
	CHECK_EQ_UINT(group.count, 2000);
	CHECK_STR_EQ(group.pids, " (pids 10, 11)");
	CHECK(verdict_next_group(&verdict, &at, &group));
	CHECK_EQ_UINT(group.count, 5);
	CHECK_STR_EQ(group.pids, " (pid 12)");
	CHECK(!verdict_next_group(&verdict, &at, &group));

	/* one process needs no number */
	verdict.nr_processes = 1;
	at = 0;
	CHECK(verdict_next_group(&verdict, &at, &group));
	CHECK_STR_EQ(group.pids, "");
}

TEST(verdict_line_names_losses)
{
	const char *path = test_tmpfile("v.rtl");

	read_verdict(sample(false, true));
	CHECK(verdict.complete);
	CHECK_STR_EQ(verdict.line, "complete");
	make_lossy(path, SPOOL_REASON_buffer_full, 17, true);
	read_verdict(path);
	CHECK(!verdict.complete);
	CHECK_STR_EQ(verdict.line, "incomplete: 20 lost (buffer_full 17, late 3)");
	CHECK_EQ_UINT(verdict.rows[0].first_ns, 5);
	make_lossy(path, SPOOL_REASON_lite_signal, 17, true);
	read_verdict(path);
	CHECK(verdict.complete);
	CHECK_EQ_UINT(verdict.nr_skipped, 17);
	CHECK_STR_EQ(verdict.line, "complete; 17 left out (lite_signal 17)");
	read_verdict(sample(true, false));
	CHECK(verdict.complete);
	CHECK_STR_EQ(verdict.line, "complete; the process ended without its exit handlers");
	CHECK_OK(unlink(test_tmpfile("a.mem")));
	read_verdict(test_tmpfile("a.rtl"));
	CHECK_STR_EQ(verdict.line, "incomplete: 1 lost (memory_missing 1); "
				   "the process ended without its exit handlers");
}

/* Which packets and copied bytes the visitor got, as bits. */
struct rest_seen {
	uint64_t packets, bytes, doubles;
	uint64_t lone_correlation;
};

static int on_rest_dispatch(void *arg, const struct store_dispatch *op)
{
	struct rest_seen *seen = arg;

	seen->doubles += seen->packets >> op->packet & 1;
	seen->packets |= UINT64_C(1) << op->packet;
	if (op->packet == 8) {
		CHECK_STR_EQ(op->kernel->demangled, "kernel object 0xdef0");
		seen->lone_correlation = op->correlation;
	} else {
		CHECK_STR_EQ(op->kernel->demangled, "new()");
	}
	if (op->packet > 5) {
		CHECK_EQ_UINT(op->flags, REC_F_UNFINISHED);
		CHECK_EQ_UINT(op->grid[0], 640);
		CHECK_EQ_UINT(op->group_size, 16);
		CHECK_EQ_UINT(op->end_ns, 0);
	}
	return 0;
}

static int on_rest_copy(void *arg, const struct store_copy *op)
{
	struct rest_seen *seen = arg;

	seen->doubles += (seen->bytes & op->bytes) != 0;
	seen->bytes |= op->bytes;
	return 0;
}

TEST(operations_in_flight_are_visited_once)
{
	static const struct store_visitor v = { .dispatch = on_rest_dispatch,
						.copy = on_rest_copy };
	const char *path = test_tmpfile("rest.rtl");
	const struct store_totals *t;
	struct rest_seen seen = { 0 };
	struct index *index;

	spool_make_rest(path, 0);
	index = open_ok(path);
	CHECK_OK(index_visit(index, &v, &seen, &err));
	CHECK_EQ_UINT(seen.packets, 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8);
	CHECK_EQ_UINT(seen.bytes, 64 | 128);
	CHECK_EQ_UINT(seen.doubles, 0);
	CHECK_GT_UINT(seen.lone_correlation, 900);
	t = index_totals(index);
	CHECK_EQ_UINT(t->dispatches, 4);
	CHECK_EQ_UINT(t->copies, 2);
	CHECK_EQ_UINT(t->barriers, 1);
	CHECK_EQ_UINT(t->unfinished, 5);
	index_close(index);
}

TEST(missing_operations_are_unaccounted_unless_counted_as_lost)
{
	const char *path = test_tmpfile("rest.rtl");

	spool_make_rest(path, 0);
	read_verdict(path);
	CHECK_STR_EQ(verdict.line, "complete; the process was killed by SIGKILL");
	CHECK_STR_EQ(verdict.rows[0].reason, "unfinished");
	CHECK_EQ_UINT(verdict.rows[0].count, 5);
	spool_make_rest(path, 3);
	read_verdict(path);
	CHECK_STR_EQ(verdict.line,
		     "incomplete: 6 lost (unaccounted 6); the process was killed by SIGKILL");
	CHECK_STR_EQ(verdict.rows[1].text, "submitted or recorded by the process, and not in the "
					   "trace: of 8 operations of queue 0 5 are there");
}

/* Only what the process said that it submitted can be missing. */
TEST(queue_without_count_of_submissions_misses_nothing)
{
	static const struct rec_submitted said = { .h.id = 3, .count = 5 };
	struct flow one = { 0 }, two = { 0 };

	CHECK_OK(flow_recorded(&one, 3, 2));
	one.rows[0].submitted = 9;
	CHECK(!one.rows[0].is_known);
	CHECK_EQ_UINT(flow_missing(&one.rows[0]), 0);
	CHECK_OK(flow_submitted(&one, &said));
	CHECK(one.rows[0].is_known);
	CHECK_EQ_UINT(flow_missing(&one.rows[0]), 12);
	/* known in one of the parts of a trace */
	CHECK_OK(flow_recorded(&two, 3, 1));
	CHECK_OK(flow_recorded(&two, 4, 1));
	CHECK_OK(flow_add(&two, &one));
	CHECK(two.rows[0].is_known);
	CHECK(!two.rows[1].is_known);
	CHECK_EQ_UINT(flow_missing(&two.rows[0]), 11);
	two.rows[1].recorded = 0;
	two.rows[1].is_known = true;
	CHECK_EQ_UINT(flow_missing(&two.rows[1]), 0);
	flow_fini(&one);
	flow_fini(&two);
}

/* 5 dispatches were submitted, and none is in the trace. */
static void make_missing(const char *path, bool mem, enum spool_reason reason, uint64_t lost)
{
	struct rec_submitted said = {
		.h = { .type = REC_SUBMITTED, .size8 = sizeof(said) / 8, .id = 0 }, .count = 5
	};
	static struct spool_make m;

	spool_make_begin(&m, path, 7, mem);
	spool_make_chunk(&m, 7);
	spool_make_queue(&m, 0, 1, 0, 5);
	spool_make_raw(&m, &said, sizeof(said));
	spool_make_chunk_end(&m);
	if (lost)
		spool_make_loss(&m, reason, lost, 5, 9);
	spool_make_end(&m, !mem);
}

TEST(missing_operations_are_explained_by_what_was_counted)
{
	const char *path = test_tmpfile("m.rtl");
	static const enum spool_reason drops[] = { SPOOL_REASON_buffer_full, SPOOL_REASON_disk_full,
						   SPOOL_REASON_late, SPOOL_REASON_paused,
						   SPOOL_REASON_max_size };

	make_missing(path, false, SPOOL_REASON_late, 0);
	read_verdict(path);
	CHECK_STR_EQ(verdict.line, "incomplete: 5 lost (unaccounted 5)");
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		make_missing(path, false, drops[i], 5);
		read_verdict(path);
		CHECK_NULL(strstr(verdict.line, "unaccounted"));
		make_missing(path, false, drops[i], 2);
		read_verdict(path);
		CHECK_STR_HAS(verdict.line, "unaccounted 3");
	}
	/* a memory half that is missing may have had any number of them */
	make_missing(path, true, SPOOL_REASON_late, 0);
	CHECK_OK(unlink(test_tmpfile("m.mem")));
	read_verdict(path);
	CHECK_STR_HAS(verdict.line, "memory_missing 1");
	CHECK_NULL(strstr(verdict.line, "unaccounted"));
}

static int on_untimed(void *arg, const struct store_dispatch *op)
{
	CHECK_EQ_UINT(op->end_ns, 0);
	CHECK_EQ_UINT(op->end_ticks, 0);
	++*(int *)arg;
	return 0;
}

/* The two short fields of a record hold lengths, which such an operation has not. */
TEST(operation_without_times_has_no_end_in_ns_or_ticks)
{
	static const struct store_visitor visitor = { .dispatch = on_untimed };
	static const uint32_t flags[] = { REC_F_NO_TIME, REC_F_UNFINISHED };
	const char *path = test_tmpfile("u.rtl");
	static struct spool_make m;
	struct index *index;
	int nr = 0;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_shape(&m, 0, 0, 64, 64);
	for (size_t i = 0; i < 2; i++)
		spool_make_dispatch(&m, &(struct spool_make_op){ .tid = 7,
								 .flags = flags[i],
								 .begin_ns = 10,
								 .end_ns = 20,
								 .ticks = 1000 });
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	index = open_ok(path);
	CHECK_OK(index_visit(index, &visitor, &nr, &err));
	CHECK_EQ_INT(nr, 2);
	index_close(index);
}

TEST(each_reason_has_name_text_and_class)
{
	for (unsigned int i = 0; i < SPOOL_NR_REASONS; i++) {
		CHECK_NOT_NULL(load_reason_name(i));
		CHECK_GT_UINT(strlen(load_reason_text(i)), 10);
		CHECK_LT_UINT(strlen(load_reason_text(i)), sizeof(verdict.rows[0].text));
		CHECK_LT_UINT(strlen(load_reason_name(i)), sizeof(verdict.rows[0].reason));
		CHECK_NOT_NULL(load_class_name(load_reason_class(i)));
	}
	CHECK_NULL(load_reason_name(SPOOL_NR_REASONS));
	CHECK_EQ_INT(load_reason_class(SPOOL_REASON_buffer_full), LOAD_LOSS);
	CHECK_EQ_INT(load_reason_class(SPOOL_REASON_lite_signal), LOAD_SKIPPED);
	CHECK_EQ_INT(load_reason_class(SPOOL_REASON_inverted), LOAD_NOTE);
}

TEST(map_returns_put_values_and_not_deleted_ones)
{
	struct map map = { 0 };
	uint64_t value;

	CHECK(!map_get(&map, 5, &value));
	CHECK(!map_del(&map, 5));
	for (uint64_t i = 0; i < 5000; i++)
		CHECK_OK(map_put(&map, i << 32, i));
	for (uint64_t i = 0; i < 5000; i += 3)
		CHECK(map_del(&map, i << 32));
	for (uint64_t i = 0; i < 5000; i++) {
		CHECK_EQ_INT(map_get(&map, i << 32, &value), i % 3 != 0);
		if (i % 3)
			CHECK_EQ_UINT(value, i);
	}
	CHECK_OK(map_put(&map, 7, UINT64_MAX));
	CHECK(map_get(&map, 7, &value));
	CHECK_EQ_UINT(value, UINT64_MAX - 1);
	map_clear(&map);
	CHECK(!map_get(&map, 7, &value));
	map_fini(&map);
}
