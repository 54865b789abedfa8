/* SPDX-License-Identifier: MIT */
/* test_drain.c - chunks go to disk once, with drainers that are killed, stalled, or concurrent */
#include "spool/drain.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "sink/recorder/buf.h"
#include "sink/recorder/spool.h"
#include "spool/slot.h"
#include "support/spool_read.h"

#define MIB (UINT64_C(1) << 20)

static struct spool spool;
static struct drain drain;
static struct drain other;
static struct buf *buf;
static uint64_t nr_written;

static uint64_t now(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

static void begin(void)
{
	CHECK_OK(spool_create(&spool, test_tmpfile("spool"), "", 128 * SLOT_SIZE));
	CHECK_OK(buf_init(spool.header));
	while (spool_prepare(&spool, 64))
		;
	drain_init(&drain, spool.header, spool.size, spool.disk_fd);
	buf = buf_take(1);
}

static bool write_one(struct buf *b, uint64_t nr)
{
	struct rec_end *r = buf_reserve(b, sizeof(*r));

	if (!r)
		return false;
	r->h = (struct rec_head){ REC_MARKER_END, sizeof(*r) / 8, 0, 1 };
	r->time_ns = 0;
	r->marker = nr;
	buf_commit(b, sizeof(*r), 1, REC_MARKER_END);
	return true;
}

static void write_chunks(int nr)
{
	for (int i = 0; i < nr; i++) {
		for (int k = 0; k < 10; k++, nr_written++)
			CHECK(write_one(buf, nr_written));
		buf_seal(buf);
	}
}

static struct spool_read *read_back(bool memory)
{
	static struct spool_read r;

	memset(&r, 0, sizeof(r));
	read_spool(&r, spool.header->disk_path, memory);
	return &r;
}

TEST(sealed_chunks_go_to_disk_and_free_their_slots)
{
	uint32_t nr_free;

	begin();
	nr_free = spool.header->nr_free;
	write_chunks(5);
	write_one(buf, nr_written++);
	CHECK_EQ_UINT(spool.header->nr_free, nr_free - 6);
	CHECK_EQ_UINT(drain_waiting(&drain, false), 5 * 240);
	CHECK_EQ_UINT(drain_waiting(&drain, true), 5 * 240 + 24);
	CHECK(drain_take(&drain, now()));
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), 5 * (240 + 32));
	CHECK_EQ_UINT(spool.header->nr_free, nr_free - 1);
	CHECK_EQ_UINT(read_back(false)->nr_records, 50);
	CHECK_EQ_UINT(read_back(true)->nr_records, 51);
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), 0);
	CHECK_EQ_INT(drain_finish(&drain), -EAGAIN);
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 24 + 32);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, 51);
	CHECK_EQ_UINT(read_back(false)->header.closed, 1);
	CHECK_STR_EQ(read_back(false)->header.mem_path, "");
	CHECK_EQ_UINT(read_back(false)->header.nr_records, 51);
	CHECK_EQ_INT(access(spool.header->mem_path, F_OK), -1);
}

/* A killed program's halves of version 1 may be read by an rtl of before: nothing is packed. */
TEST(trace_of_version_1_gets_no_packed_chunks)
{
	begin();
	spool.header->version = 1;
	write_chunks(2);
	CHECK(drain_take(&drain, now()));
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 2 * 272);
	CHECK_EQ_UINT(spool.header->disk_end, SPOOL_HEADER_SIZE + 2 * 272);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, 20);
	CHECK_EQ_UINT(read_back(false)->header.version, 1);
}

TEST(bounded_run_is_fair_to_all_slots)
{
	begin();
	write_chunks(9);
	CHECK(drain_take(&drain, now()));
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(drain_run(&drain, false, 2 * 272 + 1, now()), 3 * 272);
	CHECK_EQ_INT(drain_run(&drain, false, 1, now()), 0);
	CHECK_EQ_UINT(read_back(false)->nr_records, 90);
}

/* Freed slots are taken again in another order than they stand in. */
TEST(chunks_are_in_the_file_in_the_order_of_their_numbers)
{
	struct chunk_header chunk;
	off_t at = 0;
	uint64_t last = 0;
	FILE *f;
	int nr = 0;

	begin();
	CHECK(drain_take(&drain, now()));
	for (int i = 0; i < 5; i++) {
		write_chunks(9 + 17 * i);
		CHECK(drain_run(&drain, false, 0, now()) > 0);
	}
	f = fopen(spool.header->disk_path, "r");
	CHECK(f != NULL);
	at = SPOOL_HEADER_SIZE;
	while (fseek(f, at, SEEK_SET) == 0 && fread(&chunk, sizeof(chunk), 1, f) == 1 &&
	       chunk.magic == CHUNK_MAGIC) {
		CHECK(chunk.seq > last);
		last = chunk.seq;
		nr++;
		at += (off_t)(sizeof(chunk) + pack_stored(&chunk));
	}
	fclose(f);
	CHECK_EQ_INT(nr, 9 + 26 + 43 + 60 + 77);
}

TEST(second_drainer_is_refused)
{
	begin();
	drain_init(&other, spool.header, spool.size, spool.disk_fd);
	CHECK(drain_take(&drain, now()));
	CHECK(drain_take(&drain, now()));
	CHECK(!drain_take(&other, now()));
	CHECK_EQ_INT(drain_run(&other, false, 0, now()), -EBUSY);
	CHECK_EQ_UINT((uint32_t)spool.header->drainer, getpid());
	drain_give(&drain);
	CHECK_EQ_UINT(spool.header->drainer, 0);
	CHECK(drain_take(&other, now()));
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), -EBUSY);
	drain_give(&drain);
	CHECK_EQ_UINT((uint32_t)spool.header->drainer, getpid());
}

TEST(silent_drainer_is_replaced)
{
	begin();
	drain_init(&other, spool.header, spool.size, spool.disk_fd);
	CHECK(drain_take(&drain, now()));
	CHECK(!drain_take(&other, now() + DRAIN_TAKEOVER_NS / 2));
	CHECK(drain_take(&other, now() + DRAIN_TAKEOVER_NS * 2));
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), -EBUSY);
	CHECK(!drain_take(&drain, now()));
}

#ifdef RTL_DEBUG_CHECKS
static pid_t in_child(void (*fn)(void))
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		fn();
		_exit(0);
	}
	CHECK_GT_INT(pid, 0);
	return pid;
}

static void take_and_run(void)
{
	static struct drain mine;

	if (drain_open(&mine, spool.header->disk_path) == 0 && drain_take(&mine, now()))
		drain_run(&mine, false, 0, now());
}

static const char *const windows[] = { "drain_intent", "drain_marked", "drain_copied",
				       "drain_written", "drain_ended" };

static void nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void wait_for_intent(void)
{
	for (int i = 0; i < 5000 && !atomic_load(&spool.header->intent); i++)
		nap_ms(1);
	CHECK_NE_UINT(spool.header->intent, 0);
	/* on to the testpoint */
	nap_ms(20);
}
#endif

TEST(move_of_drainer_killed_at_any_step_is_resumed)
{
#ifdef RTL_DEBUG_CHECKS
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		pid_t pid;

		nr_written = 0;
		begin();
		write_chunks(4);
		testpoint_set(windows[i], 30000);
		pid = in_child(take_and_run);
		testpoint_set(NULL, 0);
		wait_for_intent();
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* its pid is gone: no need to wait for the takeover time */
		CHECK(drain_take(&drain, now()));
		write_chunks(1);
		CHECK_GE_INT(drain_run(&drain, false, 0, now()), 0);
		CHECK_OK(drain_finish(&drain));
		CHECK_EQ_UINT(read_back(false)->nr_records, 50);
		CHECK_EQ_UINT(spool.header->intent, 0);
		CHECK_EQ_UINT(spool.header->nr_free, spool.header->nr_slots);
		spool_release(&spool);
	}
#else
	SKIP("no testpoints in this build");
#endif
}

TEST(drainer_replaced_at_any_step_writes_nothing_twice)
{
#ifdef RTL_DEBUG_CHECKS
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		pid_t pid;

		nr_written = 0;
		begin();
		write_chunks(4);
		testpoint_set(windows[i], 250);
		pid = in_child(take_and_run);
		testpoint_set(NULL, 0);
		wait_for_intent();
		CHECK(drain_take(&drain, now() + 2 * DRAIN_TAKEOVER_NS));
		CHECK_GE_INT(drain_run(&drain, false, 0, now()), 0);
		/* reuses slots while the replaced drainer is still stalled */
		write_chunks(100);
		CHECK_GE_INT(drain_run(&drain, false, 0, now()), 0);
		waitpid(pid, NULL, 0);
		write_chunks(3);
		CHECK_GE_INT(drain_run(&drain, true, 0, now()), 0);
		CHECK_OK(drain_finish(&drain));
		CHECK_EQ_UINT(read_back(false)->nr_records, nr_written);
		spool_release(&spool);
	}
#else
	SKIP("no testpoints in this build");
#endif
}

static _Atomic bool over;

static void *race(void *arg)
{
	struct drain *d = arg;

	while (!atomic_load(&over)) {
		if (drain_take(d, now()))
			drain_run(d, false, 1, now());
		drain_give(d);
	}
	return NULL;
}

TEST(concurrent_drainers_write_no_chunk_twice)
{
	static struct drain third;
	struct drain *all[] = { &drain, &other, &third };
	pthread_t threads[3];
	uint64_t end_ns = test_now_ns() + 1000000000u;

	begin();
	drain_init(&other, spool.header, spool.size, spool.disk_fd);
	drain_init(&third, spool.header, spool.size, spool.disk_fd);
	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, race, all[i]));
	while (test_now_ns() < end_ns && nr_written < 400000) {
		if (write_one(buf, nr_written))
			nr_written++;
		else
			sched_yield();
	}
	buf_seal(buf);
	atomic_store(&over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(drain_take(&drain, now()));
	CHECK_GE_INT(drain_run(&drain, true, 0, now()), 0);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, nr_written);
}

TEST(full_disk_keeps_chunks_until_there_is_space)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	uint64_t end;
	sigset_t set;

	begin();
	write_chunks(1);
	CHECK(drain_take(&drain, now()));
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), 272);
	end = spool.header->disk_end;
	limit.rlim_cur = end + 16; /* less than a chunk's header */
	write_chunks(2);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), -EFBIG);
	CHECK_EQ_UINT(spool.header->disk_state, EFBIG);
	CHECK_EQ_UINT(spool.header->disk_end, end);
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), -EFBIG);
	CHECK_EQ_INT(drain_finish(&drain), -EAGAIN);
	CHECK_EQ_UINT(read_back(true)->nr_records, 30);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 2 * 272);
	CHECK_EQ_UINT(spool.header->disk_state, 0);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, 30);
}

TEST(torn_write_is_overwritten_or_truncated)
{
	begin();
	write_chunks(1);
	CHECK_EQ_INT(pwrite(spool.disk_fd, "torn torn torn", 14, SPOOL_HEADER_SIZE), 14);
	CHECK_EQ_INT(pwrite(spool.disk_fd, "torn", 4, SPOOL_HEADER_SIZE + 5000), 4);
	CHECK(drain_take(&drain, now()));
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 272);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, 10);
	CHECK_LT_UINT(read_back(false)->size, SPOOL_HEADER_SIZE + 272);
}

TEST(reused_descriptor_of_program_is_never_written)
{
	int fd;

	begin();
	write_chunks(1);
	CHECK(drain_take(&drain, now()));
	fd = open(test_tmpfile("theirs"), O_CREAT | O_RDWR, 0600);
	dup2(fd, spool.disk_fd);
	CHECK_EQ_INT(drain_run(&drain, false, 0, now()), -EBADF);
	CHECK_EQ_INT(drain_header(&drain), -EBADF);
	CHECK_EQ_INT(lseek(fd, 0, SEEK_END), 0);
	CHECK_EQ_UINT(drain_waiting(&drain, false), 240);
	drain_set_fd(&drain, open(spool.header->disk_path, O_RDWR));
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 272);
	CHECK_OK(drain_finish(&drain));
}

TEST(other_process_opens_drains_and_finishes_spool)
{
	begin();
	write_chunks(2);
	write_one(buf, nr_written++);
	CHECK_OK(drain_open(&other, spool.header->disk_path));
	CHECK(drain_take(&other, now()));
	CHECK_EQ_INT(drain_run(&other, true, 0, now()), 2 * 272 + 56);
	CHECK_OK(drain_finish(&other));
	drain_close(&other);
	CHECK_EQ_UINT(read_back(false)->nr_records, 21);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -ENOENT);
}

static void poke(const char *path, off_t at, const void *data, size_t size)
{
	int fd = open(path, O_RDWR);

	CHECK_EQ_INT(pwrite(fd, data, size, at), (ssize_t)size);
	close(fd);
}

TEST(invalid_spool_is_refused)
{
	const char *path = test_tmpfile("junk");
	uint32_t n, nr_slots;

	CHECK_EQ_INT(drain_open(&other, path), -ENOENT);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	CHECK_EQ_INT(drain_open(&other, path), -EINVAL);
	begin();
	nr_slots = spool.header->nr_slots;
	/* every number that could lead out of the mapping */
	n = 1000000;
	poke(spool.header->mem_path, offsetof(struct spool_header, nr_slots), &n, 4);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -EINVAL);
	poke(spool.header->mem_path, offsetof(struct spool_header, nr_slots), &nr_slots, 4);
	n = 2 * SLOT_SIZE;
	poke(spool.header->mem_path, offsetof(struct spool_header, slot_size), &n, 4);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -EINVAL);
	n = 32768; /* as in older traces */
	poke(spool.header->mem_path, offsetof(struct spool_header, slot_size), &n, 4);
	CHECK_OK(drain_open(&other, spool.header->disk_path));
	drain_close(&other);
	n = SLOT_SIZE;
	poke(spool.header->mem_path, offsetof(struct spool_header, slot_size), &n, 4);
	n = UINT32_MAX & ~7u;
	poke(spool.header->mem_path, offsetof(struct spool_header, slots_offset), &n, 4);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -EINVAL);
	n = SPOOL_HEADER_SIZE + SPOOL_PAGE;
	poke(spool.header->mem_path, offsetof(struct spool_header, slots_offset), &n, 4);
	CHECK_OK(drain_open(&other, spool.header->disk_path));
	drain_close(&other);
	n = SPOOL_VERSION + 1;
	poke(spool.header->disk_path, offsetof(struct spool_header, version), &n, 4);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -EINVAL);
}

TEST(halves_of_two_traces_are_refused)
{
	uint64_t id = 1;

	begin();
	poke(spool.header->disk_path, offsetof(struct spool_header, trace_id), &id, 8);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -EINVAL);
}

TEST(interrupted_finish_leaves_no_memory_half)
{
	uint32_t one = 1;

	begin();
	poke(spool.header->disk_path, offsetof(struct spool_header, closed), &one, 4);
	CHECK_EQ_INT(drain_open(&other, spool.header->disk_path), -ENOENT);
	CHECK_EQ_INT(access(spool.header->mem_path, F_OK), -1);
}

TEST(interrupted_finish_leaves_the_memory_half_of_another_trace)
{
	const char *disk = test_tmpfile("a.rtl"), *memory = test_tmpfile("a.mem");
	uint64_t magic = SPOOL_MAGIC, id = 1;
	uint32_t one = 1;
	int fd;

	begin();
	CHECK_OK(link(spool.header->disk_path, disk));
	poke(disk, offsetof(struct spool_header, mem_path), memory, strlen(memory) + 1);
	poke(disk, offsetof(struct spool_header, closed), &one, 4);
	fd = open(memory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK_OK(ftruncate(fd, SPOOL_HEADER_SIZE));
	close(fd);
	poke(memory, offsetof(struct spool_header, magic), &magic, 8);
	poke(memory, offsetof(struct spool_header, trace_id), &id, 8);
	CHECK_EQ_INT(drain_open(&other, disk), -ENOENT);
	CHECK_OK(access(memory, F_OK));
	/* that of its own is removed */
	poke(memory, offsetof(struct spool_header, trace_id), spool.header->trace_id, 16);
	CHECK_EQ_INT(drain_open(&other, disk), -ENOENT);
	CHECK_EQ_INT(access(memory, F_OK), -1);
}

TEST(unchanged_counters_are_not_written)
{
	struct stat before;
	struct stat after;

	begin();
	CHECK(drain_take(&drain, now()));
	spool.header->loss[SPOOL_REASON_signal_create].count = 3;
	CHECK_OK(drain_header(&drain));
	CHECK_EQ_UINT(read_back(false)->header.loss[SPOOL_REASON_signal_create].count, 3);
	CHECK_EQ_UINT(read_back(false)->header.drainer, 0);
	stat(spool.header->disk_path, &before);
	usleep(20000);
	spool.header->drainer_ns++;
	CHECK_OK(drain_header(&drain));
	stat(spool.header->disk_path, &after);
	CHECK_EQ_INT(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

TEST(invalid_chunks_are_not_written)
{
	begin();
	write_chunks(1);
	write_one(buf, 0);
	buf->lane.chunk->committed = SLOT_SIZE * 2;
	CHECK(drain_take(&drain, now()));
	CHECK_EQ_INT(drain_run(&drain, true, 0, now()), 272);
	CHECK_OK(drain_finish(&drain));
	CHECK_EQ_UINT(read_back(false)->nr_records, 10);
}
