/* SPDX-License-Identifier: MIT */
/* test_follow.c - a trace that grows is read record by record, each once; its sums */
#include "store/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/read/tally.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct spool_make m;
static struct load_error err;
static char seen[1024]; /* the tids of threads, in order */

static void note(void *arg, const struct rec_head *rec, const struct rec_shape *shape)
{
	size_t used = strlen(seen);

	(void)arg;
	CHECK_EQ_INT(shape != NULL, rec->type == REC_DISPATCH);
	if (rec->type == REC_THREAD)
		snprintf(seen + used, sizeof(seen) - used, "%u ", rec->id);
}

static void check_adds(struct follow *f, const char *tids)
{
	seen[0] = '\0';
	CHECK_OK(follow_read(f, note, NULL, &err));
	CHECK_STR_EQ(seen, tids);
}

/* Both halves are open again, for another change. */
static void reopen(void)
{
	m.disk_fd = open(m.path, O_RDWR);
	m.mem_fd = open(m.mem_path, O_RDWR);
	CHECK(m.disk_fd >= 0 && m.mem_fd >= 0);
}

static void add(uint32_t tid)
{
	spool_make_thread(&m, tid, "t", 5);
}

static void save(void)
{
	spool_make_end(&m, false);
}

/* The open chunk in slot 0 as it is now. */
static void save_slot(void)
{
	m.slot = 0;
	m.open = true;
	spool_make_chunk_slot(&m, SLOT_OPEN);
	m.open = true;
	save();
}

static struct follow *begin(void)
{
	struct follow *f;

	spool_make_begin(&m, test_tmpfile("f.rtl"), 7, true);
	spool_make_chunk(&m, 7);
	add(1);
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 7);
	add(2);
	save_slot();
	CHECK_OK(follow_open(&f, test_tmpfile("f.rtl")));
	check_adds(f, "1 2 ");
	return f;
}

TEST(records_are_returned_once)
{
	struct follow *f = begin();

	check_adds(f, "");
	reopen();
	add(3);
	save_slot();
	check_adds(f, "3 ");
	check_adds(f, "");
	CHECK_EQ_UINT(follow_facts(f)->pid, 7);
	follow_close(f);
}

TEST(chunk_that_is_drained_goes_on_where_it_was)
{
	struct follow *f = begin();

	/* the chunk gets a record more, is drained, and its slot gets another */
	reopen();
	add(3);
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 7);
	add(4);
	save_slot();
	check_adds(f, "3 4 ");
	reopen();
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 7);
	add(5);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	check_adds(f, "5 ");
	CHECK_EQ_INT(follow_facts(f)->state, LOAD_CLOSED);
	check_adds(f, "");
	follow_close(f);
}

TEST(slot_that_is_drained_but_not_free_is_not_read_again)
{
	struct follow *f = begin();

	reopen();
	m.open = true;
	spool_make_chunk_end(&m);
	m.open = true;
	m.slot = 0;
	spool_make_chunk_slot(&m, SLOT_DRAINING);
	save();
	check_adds(f, "");
	reopen();
	spool_make_chunk(&m, 7);
	add(9);
	spool_make_chunk_end(&m);
	save();
	check_adds(f, "9 ");
	follow_close(f);
}

TEST(trace_that_is_gone_is_an_error)
{
	struct follow *f = begin();

	CHECK_OK(unlink(m.path));
	CHECK_EQ_INT(follow_read(f, note, NULL, &err), -ENOENT);
	CHECK_STR_HAS(err.text, m.path);
	follow_close(f);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void dispatch(uint32_t shape, uint64_t ns)
{
	const struct spool_make_op op = {
		.tid = 7, .shape = shape, .begin_ns = 1000, .end_ns = 1000 + ns, .ticks = ns
	};

	spool_make_dispatch(&m, &op);
}

TEST(sums_are_of_all_and_of_the_last_interval)
{
	const struct spool_make_op copy = { .tid = 7, .begin_ns = 10, .end_ns = 110 };
	const struct tally_row *rows;
	struct tally *t = tally_create();
	struct follow *f;
	uint32_t shape[3];

	spool_make_begin(&m, test_tmpfile("t.rtl"), 7, true);
	spool_make_chunk(&m, 7);
	for (uint32_t i = 0; i < 3; i++)
		shape[i] = spool_make_shape(&m, i + 1, 0, 64, 64);
	dispatch(shape[0], 100);
	dispatch(shape[1], 300);
	dispatch(shape[2], 50);
	spool_make_copy(&m, &copy, REC_COPY_D2H, 1, 0, 4096);
	/* names come later, and kernels 1 and 2 have the same */
	spool_make_string(&m, 1, "_Z4scalPfi.kd");
	spool_make_string(&m, 2, "other");
	spool_make_kernel(&m, 1, 1, 1, 0);
	spool_make_kernel(&m, 2, 1, 2, 0);
	save_slot();
	CHECK_OK(follow_open(&f, test_tmpfile("t.rtl")));
	CHECK_OK(follow_read(f, tally_record, t, &err));
	CHECK_EQ_UINT(tally_rows(t, TALLY_KERNEL, &rows), 2);
	CHECK_STR_EQ(rows[0].name, "scal");
	CHECK_EQ_UINT(rows[0].all.count, 2);
	CHECK_EQ_UINT(rows[0].all.ns, 400);
	CHECK_STR_EQ(rows[1].name, "kernel#3");
	CHECK_EQ_UINT(tally_rows(t, TALLY_COPY, &rows), 1);
	CHECK_STR_EQ(rows[0].name, "CopyDeviceToHost");
	CHECK_EQ_UINT(rows[0].fresh.bytes, 4096);
	CHECK_EQ_UINT(rows[0].fresh.ns, 100);
	CHECK_EQ_UINT(tally_rows(t, TALLY_CALL, &rows), 0);

	tally_begin(t);
	reopen();
	spool_make_kernel(&m, 3, 2, 1, 0);
	dispatch(shape[2], 70);
	save_slot();
	CHECK_OK(follow_read(f, tally_record, t, &err));
	CHECK_EQ_UINT(tally_rows(t, TALLY_KERNEL, &rows), 2);
	CHECK_STR_EQ(rows[0].name, "other");
	CHECK_EQ_UINT(rows[0].fresh.count, 1);
	CHECK_EQ_UINT(rows[0].fresh.ns, 70);
	CHECK_EQ_UINT(rows[0].all.ns, 120);
	CHECK_EQ_UINT(rows[1].fresh.count, 0);
	CHECK_EQ_UINT(tally_total(t, TALLY_KERNEL).all.count, 4);
	CHECK_EQ_UINT(tally_total(t, TALLY_KERNEL).fresh.count, 1);
	tally_destroy(t);
	follow_close(f);
}

static void tally_once(void *arg)
{
	const char *path = arg;
	const struct tally_row *rows;
	struct tally *t = tally_create();
	struct follow *f;

	CHECK_OK(follow_open(&f, path));
	CHECK_OK(follow_read(f, tally_record, t, &err));
	CHECK_GT_UINT(tally_rows(t, TALLY_KERNEL, &rows), 0);
	CHECK_GT_UINT(tally_rows(t, TALLY_COPY, &rows), 0);
	tally_destroy(t);
	follow_close(f);
}

TEST(tally_gives_its_memory_back)
{
	const char *path = test_tmpfile("s.rtl");
	struct spool_make_sample s = { .pid = 100, .closed = true };
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", path);
	spool_make_sample(copy, &s);
	test_heap_is_given_back(tally_once, copy);
}
