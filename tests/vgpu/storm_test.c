/* SPDX-License-Identifier: MIT */
/* storm_test.c - threads that open, map, allocate, use events, fork and exec at the same time, on
 * the kernel driver of libvgpu.so, without a runtime
 *
 * Arguments: THREADS ROUNDS. "ok" on stdout, or status 1 and a line on stderr. A child that was
 * started by exec has the argument "child".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/kfd_abi.h"
#include "kfd_client.h"

#define SIZE (256u << 10)
static unsigned int nr_rounds;
static const char *self;

static bool has_version(int fd)
{
	struct kfd_get_version v = { 0 };

	return !request(fd, KFD(KFD_GET_VERSION, v), &v) && v.major == 1;
}

static unsigned int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	CHECK(closedir(dir) == 0);
	return n;
}

/* ---- what a thread does in a round ---- */

static void open_and_copy(uint64_t seed)
{
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC), copy;

	(void)seed;
	CHECK(fd >= 0 && has_version(fd));
	copy = dup(fd);
	CHECK(copy >= 0 && close(fd) == 0 && has_version(copy) && close(copy) == 0);
}

static void allocate(uint64_t seed)
{
	uint64_t *va = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kfd_alloc_memory m = {
		.va = (uintptr_t)va, .size = SIZE, .gpu_id = gpu_id, .flags = KFD_MEMORY_VRAM
	};
	struct kfd_memory_handle h;

	CHECK(va != MAP_FAILED && !request(kfd, KFD(KFD_ALLOC_MEMORY, m), &m));
	CHECK(mmap(va, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render,
		   (off_t)m.mmap_offset) == va);
	for (size_t i = 0; i < SIZE / sizeof(*va); i += 512)
		va[i] = seed + i;
	for (size_t i = 0; i < SIZE / sizeof(*va); i += 512)
		CHECK(va[i] == seed + i);
	CHECK(munmap(va, SIZE) == 0);
	h.handle = m.handle;
	CHECK(!request(kfd, KFD(KFD_FREE_MEMORY, h), &h));
}

/* An event that no other thread knows. */
static void use_event(uint64_t seed)
{
	struct kfd_create_event e = { .event_type = KFD_EVENT_SIGNAL, .auto_reset = 1 };
	struct kfd_event_data d = { 0 };
	struct kfd_wait_events w = { .events_ptr = (uintptr_t)&d, .num_events = 1 };
	struct kfd_event_id id = { 0 };

	(void)seed;
	CHECK(!request(kfd, KFD(KFD_CREATE_EVENT, e), &e));
	d.event_id = id.event_id = e.event_id;
	CHECK(!request(kfd, KFD(KFD_WAIT_EVENTS, w), &w) && w.result == KFD_WAIT_TIMEOUT);
	CHECK(!request(kfd, KFD(KFD_SET_EVENT, id), &id));
	CHECK(!request(kfd, KFD(KFD_WAIT_EVENTS, w), &w) && w.result == KFD_WAIT_COMPLETE);
	CHECK(!request(kfd, KFD(KFD_DESTROY_EVENT, id), &id));
}

/* Memory that is none of the driver's. */
static void map(uint64_t seed)
{
	uint64_t *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	p[7] = seed;
	CHECK(p[7] == seed && munmap(p, SIZE) == 0);
}

static void read_topology(uint64_t seed)
{
	char text[64] = "";
	int fd = open("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", O_RDONLY | O_CLOEXEC);

	(void)seed;
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && close(fd) == 0);
	CHECK(strtoul(text, NULL, 10) == gpu_id);
}

static void wait_for_child(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* The parent's descriptors are refused, and the child's own work. */
static void fork_child(uint64_t seed)
{
	struct kfd_get_version v;
	pid_t pid = fork();

	(void)seed;
	if (pid == 0) {
		int own;

		if (request(kfd, KFD(KFD_GET_VERSION, v), &v) != EBADF)
			_exit(1);
		own = open("/dev/kfd", O_RDWR | O_CLOEXEC);
		_exit(own >= 0 && has_version(own) ? 0 : 2);
	}
	wait_for_child(pid);
}

static void exec_child(uint64_t seed)
{
	pid_t pid = fork();

	(void)seed;
	if (pid == 0) {
		execl(self, self, "child", (char *)NULL);
		_exit(3);
	}
	wait_for_child(pid);
}

static void *storm(void *arg)
{
	static void (*const acts[])(uint64_t seed) = { open_and_copy, allocate,	     map,
						       use_event,     read_topology, fork_child,
						       exec_child };
	uint64_t n = (uintptr_t)arg;

	for (unsigned int round = 0; round < nr_rounds; round++)
		acts[(n + round) % (sizeof(acts) / sizeof(acts[0]))](n << 32 | round);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int nr_threads, nr_descriptors;
	pthread_t threads[256];
	uint64_t before;

	CHECK(argc > 1);
	self = argv[0];
	open_gpu();
	if (strcmp(argv[1], "child") == 0)
		return 0;
	CHECK(argc == 3);
	nr_threads = (unsigned int)strtoul(argv[1], NULL, 10);
	nr_rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	CHECK(nr_threads <= 256);
	read_topology(0); /* the library keeps the folder open from the first time on */
	before = available();
	nr_descriptors = count_descriptors();
	for (uintptr_t i = 0; i < nr_threads; i++)
		CHECK(pthread_create(&threads[i], NULL, storm, (void *)i) == 0);
	for (unsigned int i = 0; i < nr_threads; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(available() == before);
	CHECK(count_descriptors() == nr_descriptors);
	puts("ok");
	return 0;
}
