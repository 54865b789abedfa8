/* SPDX-License-Identifier: MIT */
/* test_spool.c - the two files of a trace and their slots */
#include "sink/recorder/spool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/fd.h"
#include "spool/slot.h"
#include "support/spool_read.h"

#define MIB (UINT64_C(1) << 20)

static struct spool spool;

static const char *dir(void)
{
	return test_tmpfile("spool");
}

TEST(created_halves_agree)
{
	const char *mem = test_tmpfile("mem");
	struct spool_read r = { 0 };
	struct stat st;

	mkdir(mem, 0700);
	CHECK_OK(spool_create(&spool, dir(), mem, 4 * MIB));
	CHECK_EQ_UINT(spool.header->nr_slots, 4 * MIB / SLOT_SIZE);
	CHECK_EQ_UINT(spool.header->nr_prepared, SPOOL_START_SLOTS);
	CHECK_EQ_UINT(spool.header->nr_free, SPOOL_START_SLOTS);
	CHECK_EQ_UINT(spool.header->pid, getpid());
	CHECK_GT_UINT(spool.header->proc_start_ticks, 0);
	CHECK_EQ_INT(strlen(spool.header->boot_id), 36);
	CHECK_OK(stat(spool.header->mem_path, &st));
	CHECK_EQ_UINT(st.st_mode & 0777, 0600);
	CHECK_STR_HAS(spool.header->mem_path, mem);
	CHECK_OK(stat(spool.header->disk_path, &st));
	CHECK_EQ_UINT(st.st_mode & 0777, 0600);
	read_spool(&r, spool.header->disk_path, false);
	CHECK_MEM_EQ(&r.header.trace_id, spool.header->trace_id, 16);
	CHECK_STR_EQ(r.header.mem_path, spool.header->mem_path);
	CHECK_EQ_UINT(r.header.disk_end, SPOOL_HEADER_SIZE);
	CHECK_GE_INT(spool.disk_fd, 3);
	CHECK_GE_INT(spool.mem_fd, 3);
}

TEST(slots_are_prepared_up_to_the_limit)
{
	uint32_t nr = 0;

	CHECK_OK(spool_create(&spool, dir(), "", 3 * MIB));
	CHECK_EQ_UINT(spool.header->nr_slots, 32);
	CHECK_EQ_UINT(spool_prepare(&spool, 14), 14);
	CHECK_EQ_UINT(spool_prepare(&spool, 10), 6);
	CHECK_EQ_UINT(spool_prepare(&spool, 16), 0);
	for (uint32_t slot; (slot = slot_pop(spool.header)) != SLOT_NONE; nr++)
		memset(slot_chunk(spool.header, slot), 0x5a, SLOT_SIZE);
	CHECK_EQ_UINT(nr, 32);
	CHECK_EQ_UINT(spool.header->nr_free, 0);
}

static void check_in_spool_dir(const char *mem_dir)
{
	CHECK_OK(spool_create(&spool, dir(), mem_dir, MIB));
	CHECK_STR_HAS(spool.header->mem_path, dir());
	CHECK_EQ_INT(read_count_files(dir()), 2);
}

TEST(missing_memory_setting_uses_spool_directory)
{
	check_in_spool_dir("");
}

TEST(missing_memory_directory_uses_spool_directory)
{
	check_in_spool_dir(test_tmpfile("none"));
}

TEST(file_as_memory_directory_uses_spool_directory)
{
	const char *path = test_tmpfile("file");

	close(open(path, O_CREAT | O_WRONLY, 0600));
	check_in_spool_dir(path);
}

TEST(read_only_memory_directory_uses_spool_directory)
{
	check_in_spool_dir("/proc/self");
}

TEST(failed_creation_leaves_no_file)
{
	CHECK_EQ_INT(spool_create(&spool, "/proc/self/spool", "", MIB), -ENOENT);
	CHECK_EQ_INT(spool_create(&spool, test_tmpfile("a/b"), "", MIB), -ENOENT);
	CHECK_NULL(spool.header);
}

TEST(missing_descriptors_leave_no_file)
{
	struct rlimit limit = { 0, 0 };

	CHECK_OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 3;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_EQ_INT(spool_create(&spool, dir(), "", MIB), -EMFILE);
	limit.rlim_cur = limit.rlim_max;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_EQ_INT(access(dir(), F_OK), -1);
}

TEST(file_size_limit_reduces_slots)
{
	struct rlimit limit = { 3 * MIB, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_OK(spool_create(&spool, dir(), "", 32 * MIB));
	CHECK_EQ_UINT(spool.header->nr_slots, (3 * MIB - 5 * SPOOL_PAGE) / SLOT_SIZE);
	spool_release(&spool);
	limit.rlim_cur = MIB;
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_OK(spool_create(&spool, test_tmpfile("small"), "", 32 * MIB));
	CHECK_EQ_UINT(spool.header->nr_slots, (MIB - 5 * SPOOL_PAGE) / SLOT_SIZE);
	spool_release(&spool);
	limit.rlim_cur = 100000;
	CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_EQ_INT(spool_create(&spool, test_tmpfile("other"), "", 32 * MIB), -ENOSPC);
	CHECK_EQ_INT(access(test_tmpfile("other"), F_OK), -1);
}

TEST(address_space_limit_leaves_no_space_for_blocks)
{
	struct rlimit limit, before;
	char line[64];
	long pages;

	CHECK_OK(fd_read_line("/proc/self/statm", line, sizeof(line)));
	pages = strtol(line, NULL, 10);
	CHECK_OK(getrlimit(RLIMIT_AS, &before));
	limit = before;
	limit.rlim_cur = (rlim_t)pages * SPOOL_PAGE + 64 * MIB;
	CHECK_OK(setrlimit(RLIMIT_AS, &limit));
	CHECK_OK(spool_create(&spool, dir(), "", 8 * MIB));
	CHECK_OK(setrlimit(RLIMIT_AS, &before));
	CHECK_EQ_UINT(spool.header->blocks_offset, 0);
	CHECK_EQ_UINT(spool.header->nr_slots, 8 * MIB / SLOT_SIZE);
	spool_release(&spool);
	CHECK_OK(spool_create(&spool, test_tmpfile("more"), "", 8 * MIB));
	CHECK_GT_UINT(spool.header->blocks_size, 0);
	CHECK_OK(spool_populate_blocks(&spool, spool.header->blocks_offset, SPOOL_PAGE));
	spool_release(&spool);
}

/* A memory file system of `size`, mounted for this test only. */
static const char *small_fs(const char *size)
{
	const char *path = test_tmpfile("tmpfs");

	mkdir(path, 0700);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", path, "tmpfs", 0, size) != 0)
		SKIP("no right to mount: %s", strerror(errno));
	return path;
}

TEST(small_memory_file_system_is_at_most_half_filled)
{
	const char *mem = small_fs("size=4m");
	uint32_t nr = SPOOL_START_SLOTS;

	CHECK_OK(spool_create(&spool, dir(), mem, 32 * MIB));
	CHECK_STR_HAS(spool.header->mem_path, mem);
	CHECK_LE_UINT(spool.header->nr_slots, 2 * MIB / SLOT_SIZE);
	while (spool_prepare(&spool, 8))
		nr = spool.header->nr_prepared;
	CHECK_EQ_UINT(nr, spool.header->nr_slots);
}

TEST(filled_file_system_reduces_slots)
{
	const char *mem = small_fs("size=8m");
	char big[PATH_MAX];
	uint32_t nr = 0;
	int fd;

	CHECK_OK(spool_create(&spool, dir(), mem, 32 * MIB));
	snprintf(big, sizeof(big), "%s/big", mem);
	fd = open(big, O_CREAT | O_WRONLY, 0600);
	CHECK_OK(posix_fallocate(fd, 0, 5 * (off_t)MIB));
	while (spool_prepare(&spool, 8) && nr < 1000)
		nr++;
	CHECK_LT_UINT(spool.header->nr_prepared, 72);
	CHECK_GE_UINT(spool.header->nr_prepared, SPOOL_START_SLOTS);
	for (uint32_t slot; (slot = slot_pop(spool.header)) != SLOT_NONE;)
		memset(slot_chunk(spool.header, slot), 0x5a, SLOT_SIZE);
}

TEST(full_memory_file_system_uses_spool_directory)
{
	check_in_spool_dir(small_fs("size=200k"));
}

TEST(descriptor_closed_by_program_is_reopened)
{
	const char *theirs = test_tmpfile("theirs");
	int old;
	int fd;

	CHECK_OK(spool_create(&spool, dir(), "", MIB));
	old = spool_disk_fd(&spool);
	CHECK_GE_INT(old, 3);
	close(old);
	fd = open(theirs, O_CREAT | O_RDWR, 0600);
	CHECK_EQ_INT(dup2(fd, old), old);
	fd = spool_disk_fd(&spool);
	CHECK_GE_INT(fd, 3);
	CHECK_NE_INT(fd, old);
	CHECK_EQ_INT(fcntl(old, F_GETFD), 0);
	/* the program's file at that path is not librtl's either */
	close(fd);
	unlink(spool.header->disk_path);
	close(open(spool.header->disk_path, O_CREAT | O_RDWR, 0600));
	CHECK_EQ_INT(spool_disk_fd(&spool), -1);
	CHECK_EQ_INT(spool_disk_fd(&spool), -1);
}

TEST(slots_are_prepared_without_descriptor)
{
	CHECK_OK(spool_create(&spool, dir(), "/dev/shm", 3 * MIB));
	close(spool.mem_fd);
	unlink(spool.header->mem_path);
	CHECK_EQ_UINT(spool_prepare(&spool, 16), 16);
}
