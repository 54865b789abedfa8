/* SPDX-License-Identifier: MIT */
/* test_base.c - clock, CRC, strings, allocation, descriptors, locks */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/crc.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/owned.h"
#include "base/str.h"
#include "base/sys.h"
#include "support/test.h"

TEST(clock_is_boottime_by_default)
{
	uint64_t before = clock_read_ns(CLOCK_BOOTTIME);
	uint64_t now = clock_now_ns();
	uint64_t after = clock_read_ns(CLOCK_BOOTTIME);

	CHECK_LE_UINT(before, now);
	CHECK_LE_UINT(now, after);
	clock_select(CLOCK_REALTIME);
	CHECK_GE_UINT(clock_now_ns(), UINT64_C(1500000000000000000));
	CHECK_EQ_UINT(clock_read_ns((clockid_t)9999), 0);
}

static uint32_t crc_by_bits(const uint8_t *p, size_t n)
{
	uint32_t c = 0xffffffff;

	for (; n; n--, p++) {
		c ^= *p;
		for (int i = 0; i < 8; i++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
	}
	return ~c;
}

TEST(crc_equals_zlibs)
{
	uint8_t data[300];

	CHECK_EQ_UINT(crc_add(0, "123456789", 9), 0xcbf43926);
	CHECK_EQ_UINT(crc_add(0, "", 0), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37 + (i >> 3));
	for (size_t from = 0; from < 9; from++) {
		for (size_t n = 0; n + from < sizeof(data); n += 7)
			CHECK_EQ_UINT(crc_add(0, data + from, n), crc_by_bits(data + from, n));
	}
}

TEST(crc_of_parts_equals_crc_of_whole)
{
	CHECK_EQ_UINT(crc_add(crc_add(0, "12345", 5), "6789", 4), 0xcbf43926);
}

TEST(long_text_is_cut_and_reported)
{
	char text[8];
	struct str s;

	str_init(&s, text, sizeof(text));
	str_add(&s, "ab");
	str_add_uint(&s, 0);
	str_add_hex(&s, 0xf, 2);
	CHECK_STR_EQ(text, "ab00f");
	CHECK(!s.cut);
	str_add(&s, "cdefg");
	CHECK_STR_EQ(text, "ab00fcd");
	CHECK(s.cut);
}

TEST(largest_numbers_are_written)
{
	char text[64];
	struct str s;

	str_init(&s, text, sizeof(text));
	str_add_uint(&s, UINT64_MAX);
	str_add(&s, " ");
	str_add_hex(&s, UINT64_MAX, 16);
	CHECK_STR_EQ(text, "18446744073709551615 ffffffffffffffff");
}

TEST(nth_allocation_fails_on_request)
{
	void *p;

	alloc_fail_at(2);
	p = alloc_pages(4096);
	CHECK_NOT_NULL(p);
	CHECK_NULL(alloc_heap(1));
	CHECK_NULL(alloc_pages(1));
	CHECK_EQ_UINT(alloc_nr_calls(), 3);
	alloc_fail_at(0);
	alloc_pages_free(p, 4096);
	p = alloc_zero(3, 5);
	CHECK_NOT_NULL(p);
	CHECK_NULL(alloc_resize(NULL, SIZE_MAX, 2));
	alloc_free(p);
}

TEST(opened_descriptor_is_high_and_close_on_exec)
{
	const char *path = test_tmpfile("f");
	int fd = fd_open(path, O_RDWR | O_CREAT, 0600);
	struct stat st;
	int low;

#ifdef RTL_SANITIZE_THREAD
	/* a second thread shares the descriptor table, which librtl then does not grow */
	CHECK_GE_INT(fd, 40);
#else
	CHECK_GE_INT(fd, 700);
#endif
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	fstat(fd, &st);
	CHECK(fd_is(fd, st.st_dev, st.st_ino));
	CHECK(!fd_is(-1, st.st_dev, st.st_ino));
	low = open("/dev/null", O_RDONLY);
	CHECK_LT_INT(low, 20);
	dup2(low, fd);
	CHECK(!fd_is(fd, st.st_dev, st.st_ino));
	CHECK_EQ_INT(fd_open("/no/such/file", O_RDONLY, 0), -ENOENT);
}

static void *wait_for_unlock(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

/* The kernel makes a program with threads wait while it grows their table. */
TEST(opened_descriptor_grows_no_table_that_threads_share)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char text[4096] = "";
	pthread_t thread;
	int size, fd;

	CHECK_GT_INT(fd_read_file("/proc/self/status", text, sizeof(text) - 1), 0);
	CHECK_NOT_NULL(strstr(text, "\nFDSize:"));
	size = (int)strtol(strstr(text, "\nFDSize:") + strlen("\nFDSize:"), NULL, 10);
	CHECK_LT_INT(size, 700);
	CHECK_GE_INT(size, 64);
	pthread_mutex_lock(&mutex);
	CHECK_OK(pthread_create(&thread, NULL, wait_for_unlock, &mutex));
	fd = fd_open("/dev/null", O_RDONLY, 0);
	CHECK_LT_INT(fd, size);
	CHECK_GE_INT(fd, size - 16);
	pthread_mutex_unlock(&mutex);
	CHECK_OK(pthread_join(thread, NULL));
}

TEST(occupied_numbers_use_next_free_descriptor)
{
	struct rlimit limit;
	int fd;

	CHECK_OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 64;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	fd = fd_open("/dev/null", O_RDONLY, 0);
	CHECK_GE_INT(fd, 40);
	limit.rlim_cur = 0;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_EQ_INT(fd_open("/dev/null", O_RDONLY, 0), -EMFILE);
	limit.rlim_cur = limit.rlim_max;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
}

TEST(failed_transfer_ends_with_its_error)
{
	const char *path = test_tmpfile("f");
	int fd = fd_open(path, O_RDWR | O_CREAT, 0600);
	char bytes[8] = "1234567";

	CHECK_OK(fd_pwrite(fd, bytes, sizeof(bytes), 0));
	errno = EINTR; /* of an earlier call */
	CHECK_OK(fd_pread(fd, bytes, sizeof(bytes), 0));
	CHECK_EQ_INT(fd_pread(fd, bytes, sizeof(bytes), 4), -EIO);
	CHECK_EQ_INT(fd_pread(-1, bytes, sizeof(bytes), 0), -EBADF);
	CHECK_EQ_INT(fd_pwrite(-1, bytes, sizeof(bytes), 0), -EBADF);
}

TEST(small_file_is_read_completely)
{
	const char *path = test_tmpfile("f");
	int fd = fd_open(path, O_RDWR | O_CREAT, 0600);
	char text[16];

	CHECK_OK(fd_pwrite(fd, "hello\nworld\n", 12, 0));
	CHECK_EQ_INT(fd_read_file(path, text, sizeof(text)), 12);
	CHECK_OK(fd_read_line(path, text, sizeof(text)));
	CHECK_STR_EQ(text, "hello");
	CHECK_OK(fd_read_line(path, text, 4));
	CHECK_STR_EQ(text, "hel");
	CHECK_EQ_INT(fd_read_line("/no/such", text, sizeof(text)), -ENOENT);
	CHECK_STR_EQ(text, "");
	CHECK_EQ_INT(fd_pwrite(-1, "x", 1, 0), -EBADF);
}

TEST(barrier_is_ready_after_first_use)
{
	if (!barrier_all())
		SKIP("the kernel has no membarrier");
	CHECK(barrier_all());
}

TEST(locks_out_of_order_abort_debug_build)
{
#ifdef RTL_DEBUG_CHECKS
	struct lock outer = LOCK_INIT(LOCK_QUEUE);
	struct lock inner = LOCK_INIT(LOCK_META);
	int status;
	pid_t pid;

	lock_take(&outer);
	lock_take(&inner);
	lock_assert_held(&outer);
	lock_drop(&inner);
	lock_drop(&outer);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		close(STDERR_FILENO);
		lock_take(&inner);
		lock_take(&outer);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
#else
	SKIP("the checks are not built in");
#endif
}

/* ---- cancellation ---------------------------------------------------------------------------- */

static struct lock outer_lock = LOCK_INIT(LOCK_RECORDER), inner_lock = LOCK_INIT(LOCK_META);
static int got_to;

static void *use_system_calls(void *arg)
{
	const struct timespec nap = { 0, 1000 };
	char text[16];
	int fd;

	pthread_cancel(pthread_self());
	fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(sys_read(fd, text, sizeof(text)), sizeof(text));
	CHECK_EQ_INT(sys_pread(fd, text, 1, 0), 1);
	CHECK_EQ_INT(sys_poll(NULL, 0, 1), 0);
	CHECK_OK(sys_close(fd));
	CHECK_EQ_INT(sys_write(-1, text, 1), -1);
	CHECK_EQ_INT(errno, EBADF);
	CHECK_EQ_INT(sys_waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ_INT(errno, ECHILD);
	/* a nap ends with ETIMEDOUT, which the program's call has not */
	errno = 77;
	sys_nap(&nap);
	CHECK_EQ_INT(errno, 77);
	got_to = 1;
	pthread_testcancel();
	got_to = 2;
	return arg;
}

TEST(own_system_calls_are_no_cancellation_points)
{
	pthread_t thread;
	void *result;

#ifdef RTL_SANITIZE_ADDRESS
	SKIP("gcc's address sanitizer takes the stack of a thread that was cancelled for one in use");
#endif
	CHECK_OK(pthread_create(&thread, NULL, use_system_calls, NULL));
	CHECK_OK(pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ_INT(got_to, 1);
}

static void *use_locks(void *arg)
{
	pthread_cancel(pthread_self());
	lock_take(&outer_lock);
	CHECK(lock_try(&inner_lock));
	pthread_testcancel();
	got_to = 1;
	lock_drop(&outer_lock); /* in any order */
	pthread_testcancel();
	got_to = 2;
	sys_cancel_off();
	lock_drop(&inner_lock);
	pthread_testcancel();
	got_to = 3;
	sys_cancel_on();
	pthread_testcancel();
	got_to = 4;
	return arg;
}

TEST(thread_with_a_lock_is_not_cancelled)
{
	pthread_t thread;
	void *result;

	CHECK_OK(pthread_create(&thread, NULL, use_locks, NULL));
	CHECK_OK(pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ_INT(got_to, 3);
	/* free again */
	CHECK(lock_try(&outer_lock));
	CHECK(lock_try(&inner_lock));
	lock_drop(&inner_lock);
	lock_drop(&outer_lock);
}

TEST(allocation_of_more_than_there_is_fails)
{
	void *p = alloc_resize(NULL, 4, 8);

	CHECK_NOT_NULL(p);
	/* the product is 16 */
	CHECK_NULL(alloc_resize(p, SIZE_MAX / 8 + 3, 8));
	CHECK_NULL(alloc_zero(SIZE_MAX / 8 + 3, 8));
	alloc_free(p);
}

TEST(copied_text_ends_at_its_end_or_at_the_size)
{
	char *all = alloc_string("abc"), *some = alloc_string_n("abc", 2),
	     *more = alloc_string_n("abc", 9);

	CHECK_STR_EQ(all, "abc");
	CHECK_STR_EQ(some, "ab");
	CHECK_STR_EQ(more, "abc");
	alloc_free(all);
	alloc_free(some);
	alloc_free(more);
}

/* What owned_remove_path() returns for a file of that text; whether it is gone. */
static int remove_file(const char *text, bool *is_gone)
{
	const char *path = test_tmpfile("owned");
	FILE *out = fopen(path, "we");
	int ret;

	CHECK_NOT_NULL(out);
	CHECK(fputs(text, out) >= 0);
	CHECK_OK(fclose(out));
	ret = owned_remove_path(path, "MARK", 4);
	*is_gone = access(path, F_OK) != 0;
	return ret;
}

TEST(files_of_an_earlier_run_are_removed_and_no_others)
{
	const char *link = test_tmpfile("link");
	bool is_gone;

	CHECK_OK(remove_file("MARK and more", &is_gone));
	CHECK(is_gone);
	CHECK_OK(remove_file("", &is_gone));
	CHECK(is_gone);
	CHECK_EQ_INT(remove_file("MAR", &is_gone), -EMEDIUMTYPE);
	CHECK(!is_gone);
	CHECK_EQ_INT(remove_file("MORE than that", &is_gone), -EMEDIUMTYPE);
	CHECK(!is_gone);
	CHECK_OK(symlink(test_tmpfile("owned"), link));
	CHECK_EQ_INT(owned_remove_path(link, "MORE", 4), -EMEDIUMTYPE);
	CHECK_EQ_INT(owned_remove_path(test_tmpfile("none"), "MARK", 4), -ENOENT);
}
