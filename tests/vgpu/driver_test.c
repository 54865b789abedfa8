/* SPDX-License-Identifier: MIT */
/* driver_test.c - a program that makes the kernel driver's requests itself, without a runtime:
 * libvgpu.so is preloaded
 *
 * First argument: the scenario. "ok" on stdout, or status 1 and a line on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "driver/drm_abi.h"
#include "driver/kfd_abi.h"
#include "kfd_client.h"

#define PAGE 4096ull
#define SIZE (1ull << 20)

static void *reserve(uint64_t size)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static struct kfd_alloc_memory allocate(void *va, uint64_t size, uint32_t flags)
{
	struct kfd_alloc_memory m = {
		.va = (uintptr_t)va, .size = size, .gpu_id = gpu_id, .flags = flags
	};

	CHECK(!request(kfd, KFD(KFD_ALLOC_MEMORY, m), &m));
	return m;
}

static int map_at(unsigned long number, uint64_t handle)
{
	struct kfd_map_memory m = { .handle = handle,
				    .gpu_ids_ptr = (uintptr_t)&gpu_id,
				    .nr_gpus = 1 };
	int err = request(kfd, KFD(number, m), &m);

	CHECK(err || m.nr_done == 1);
	return err;
}

static int release(uint64_t handle)
{
	struct kfd_memory_handle h = { handle };

	return request(kfd, KFD(KFD_FREE_MEMORY, h), &h);
}

/* Memory of the GPU that the host has mapped, too. */
static void *visible(uint64_t size, uint32_t flags, uint64_t *handle)
{
	void *va = reserve(size);
	struct kfd_alloc_memory m = allocate(va, size, flags);

	CHECK(mmap(va, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render,
		   (off_t)m.mmap_offset) == va);
	CHECK(!map_at(KFD_MAP_MEMORY, m.handle));
	if (handle)
		*handle = m.handle;
	return va;
}

static void requests(void)
{
	struct kfd_get_version v = { 0 };
	struct {
		struct kfd_get_version v;
		uint64_t later;
	} longer = { .later = 5 };
	char byte;

	open_gpu();
	CHECK(!request(kfd, KFD(KFD_GET_VERSION, v), &v) && v.major == 1 && v.minor == 17);
	/* the request of a later header, whose argument is longer */
	CHECK(!request(kfd, KFD(KFD_GET_VERSION, longer), &longer) && longer.v.minor == 17 &&
	      longer.later == 5);
	/* unknown ones: the debugger's, AMD's own driver's, later ones, another device's */
	CHECK(request(kfd, KFD(0x26, v), &v) == EINVAL);
	CHECK(request(kfd, KFD(0x82, v), &v) == EINVAL);
	CHECK(request(kfd, KFD(0xff, v), &v) == EINVAL);
	CHECK(request(kfd, TCGETS, &v) == ENOTTY);
	CHECK(request(render, KFD(KFD_GET_VERSION, v), &v) == ENOTTY);
	CHECK(request(kfd, KFD(KFD_GET_VERSION, v), NULL) == EFAULT);
	CHECK(syscall(SYS_ioctl, kfd, KFD(KFD_GET_VERSION, v), &v) == 0);
	/* requests of other files are theirs */
	CHECK(pipe((int[2]){ 0, 0 }) == 0 && request(1000, KFD(KFD_GET_VERSION, v), &v) == EBADF);
	CHECK(read(kfd, &byte, 0) == 0);
}

static void descriptors(void)
{
	struct kfd_get_version v = { 0 };
	char path[64], text[64] = "";
	struct stat st;
	int copy, other;

	open_gpu();
	copy = fcntl(kfd, F_DUPFD_CLOEXEC, 100);
	CHECK(copy >= 100 && (fcntl(copy, F_GETFD) & FD_CLOEXEC));
	other = open("/dev/kfd", O_RDWR);
	CHECK(other >= 0 && !(fcntl(other, F_GETFD) & FD_CLOEXEC));
	close(kfd);
	CHECK(!request(copy, KFD(KFD_GET_VERSION, v), &v));
	CHECK(dup2(copy, kfd) == kfd && !request(kfd, KFD(KFD_GET_VERSION, v), &v));
	close(copy);
	CHECK(request(copy, KFD(KFD_GET_VERSION, v), &v) == EBADF);
	CHECK(!request(other, KFD(KFD_GET_VERSION, v), &v));
	copy = (int)syscall(SYS_openat, AT_FDCWD, "/dev/kfd", O_RDWR);
	CHECK(copy >= 0 && !request(copy, KFD(KFD_GET_VERSION, v), &v));
	/* what libraries look at */
	CHECK(fstat(render, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 226 &&
	      minor(st.st_rdev) == 128);
	CHECK(stat("/dev/dri/renderD128", &st) == 0 && minor(st.st_rdev) == 128);
	CHECK(fstatat(render, "", &st, AT_EMPTY_PATH) == 0 && S_ISCHR(st.st_mode));
	CHECK(access("/dev/kfd", R_OK | W_OK) == 0 && access("/dev/dri/renderD128", F_OK) == 0);
	CHECK(access("/dev/dri/renderD129", F_OK) == -1 &&
	      open("/dev/dri/renderD129", O_RDWR) == -1 && errno == ENOENT);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", render);
	CHECK(readlink(path, text, sizeof(text) - 1) == 19 && !strcmp(text, "/dev/dri/renderD128"));
}

/* What the files of the GPU in /sys say of the memory that the process uses, by each way to open
 * one. */
static uint64_t used(void)
{
	static const char *const paths[] = {
		"/sys/class/drm/card0/device/mem_info_vram_used",
		"/sys/class/drm/renderD128/device/mem_info_vis_vram_used",
		"/sys/dev/char/226:128/device/mem_info_vram_used",
	};
	unsigned long long first = 0, n;
	char text[32];

	for (unsigned int i = 0; i < 3; i++) {
		FILE *f = fopen(paths[i], "r");
		int fd = i ? openat(AT_FDCWD, paths[i], O_RDONLY) : open(paths[i], O_RDONLY);
		ssize_t len = read(fd, text, sizeof(text) - 1);

		CHECK(f && fscanf(f, "%llu", &n) == 1 && (!i || n == first));
		CHECK(len > 0 && !close(fd) && !fclose(f));
		text[len] = '\0';
		CHECK(strtoull(text, NULL, 10) == n && text[len - 1] == '\n');
		first = n;
	}
	return first;
}

static void memory(void)
{
	uint64_t before, busy, handle, *p;
	struct kfd_alloc_memory m = { 0 };
	void *va;

	open_gpu();
	before = available();
	busy = used();
	p = visible(SIZE, KFD_MEMORY_VRAM, &handle);
	CHECK(available() == before - SIZE && used() == busy + SIZE);
	*p = 5;
	CHECK(release(handle) == EBUSY);
	CHECK(!map_at(KFD_UNMAP_MEMORY, handle) && *p == 5);
	CHECK(!release(handle) && release(handle) == EINVAL && available() == before);
	CHECK(used() == busy);
	CHECK(map_at(KFD_MAP_MEMORY, handle) == EINVAL);
	/* new memory has nothing of the old */
	p = visible(SIZE, KFD_MEMORY_VRAM, &handle);
	CHECK(*p == 0);
	/* host memory is not counted; what does not fit is refused */
	visible(SIZE, KFD_MEMORY_GTT, NULL);
	CHECK(available() == before - SIZE);
	va = reserve(PAGE);
	m = (struct kfd_alloc_memory){
		.va = (uintptr_t)va, .size = before + 1, .gpu_id = gpu_id, .flags = KFD_MEMORY_VRAM
	};
	CHECK(request(kfd, KFD(KFD_ALLOC_MEMORY, m), &m) == ENOMEM);
	m.gpu_id = 1;
	CHECK(request(kfd, KFD(KFD_ALLOC_MEMORY, m), &m) == EINVAL);
	/* the host may not see it, and the GPU does: an event's page, say */
	va = reserve(SIZE);
	m = allocate(va, SIZE, KFD_MEMORY_GTT);
	CHECK(mmap(va, SIZE, PROT_NONE, MAP_SHARED | MAP_FIXED, render, (off_t)m.mmap_offset) ==
	      va);
	CHECK(!map_at(KFD_MAP_MEMORY, m.handle));
}

static uint32_t new_event(uint32_t type, bool auto_reset)
{
	struct kfd_create_event e = { .event_type = type, .auto_reset = auto_reset };

	CHECK(!request(kfd, KFD(KFD_CREATE_EVENT, e), &e) && e.event_id && e.page_offset);
	return e.event_id;
}

static int set_event(unsigned long number, uint32_t id)
{
	struct kfd_event_id e = { .event_id = id };

	return request(kfd, KFD(number, e), &e);
}

static uint32_t wait_for(uint32_t id, uint32_t ms, uint64_t *age)
{
	struct kfd_event_data d = { .event_id = id };
	struct kfd_wait_events w = { .events_ptr = (uintptr_t)&d,
				     .num_events = 1,
				     .timeout_ms = ms };

	if (age)
		d.signal.last_event_age = *age;
	CHECK(!request(kfd, KFD(KFD_WAIT_EVENTS, w), &w));
	if (age)
		*age = d.signal.last_event_age;
	return w.result;
}

static void *set_later(void *arg)
{
	CHECK(!set_event(KFD_SET_EVENT, *(uint32_t *)arg));
	return NULL;
}

static void events(void)
{
	uint32_t id, manual;
	struct kfd_wait_events w = { .num_events = 1 };
	struct kfd_event_data d = { .event_id = 4000 };
	uint64_t age = 1;
	pthread_t thread;

	open_gpu();
	id = new_event(KFD_EVENT_SIGNAL, true);
	manual = new_event(KFD_EVENT_SIGNAL, false);
	CHECK(wait_for(id, 0, NULL) == KFD_WAIT_TIMEOUT &&
	      wait_for(id, 1, NULL) == KFD_WAIT_TIMEOUT);
	/* kept for one waiter, or until it is reset */
	CHECK(!set_event(KFD_SET_EVENT, id) && wait_for(id, 0, NULL) == KFD_WAIT_COMPLETE &&
	      wait_for(id, 0, NULL) == KFD_WAIT_TIMEOUT);
	CHECK(!set_event(KFD_SET_EVENT, manual) && wait_for(manual, 0, NULL) == KFD_WAIT_COMPLETE &&
	      wait_for(manual, 0, NULL) == KFD_WAIT_COMPLETE);
	CHECK(!set_event(KFD_RESET_EVENT, manual) && wait_for(manual, 0, NULL) == KFD_WAIT_TIMEOUT);
	/* a waiter with an older age does not wait, and learns the new one */
	CHECK(wait_for(id, 0, &age) == KFD_WAIT_COMPLETE && age == 2 &&
	      wait_for(id, 0, &age) == KFD_WAIT_TIMEOUT);
	/* wakes a thread that waits without a limit */
	CHECK(pthread_create(&thread, NULL, set_later, &id) == 0);
	CHECK(wait_for(id, UINT32_MAX, NULL) == KFD_WAIT_COMPLETE);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(!set_event(KFD_DESTROY_EVENT, id) && set_event(KFD_SET_EVENT, id) == EINVAL);
	w.events_ptr = (uintptr_t)&d;
	CHECK(request(kfd, KFD(KFD_WAIT_EVENTS, w), &w) == EINVAL);
}

#define SLOTS 64

/* A queue of 64 packets, a barrier in it, and a signal that the GPU completes with an interrupt. */
static void queues(void)
{
	amd_queue_t *aq;
	amd_signal_t *signal;
	hsa_barrier_and_packet_t *ring;
	uint64_t *slots, *doorbell;
	struct kfd_create_event e = { .event_type = KFD_EVENT_SIGNAL, .auto_reset = 1 };
	struct kfd_create_queue q = { 0 };
	struct kfd_queue_id id;
	uint64_t handle, page;

	open_gpu();
	slots = visible(32768, KFD_MEMORY_GTT, &handle);
	e.page_offset = handle;
	CHECK(!request(kfd, KFD(KFD_CREATE_EVENT, e), &e));
	ring = visible(PAGE, KFD_MEMORY_GTT, NULL);
	aq = visible(PAGE, KFD_MEMORY_GTT, NULL);
	signal = visible(PAGE, KFD_MEMORY_GTT, NULL);
	for (int i = 0; i < SLOTS; i++)
		ring[i].header = HSA_PACKET_TYPE_INVALID;
	q = (struct kfd_create_queue){
		.ring_base = (uintptr_t)ring,
		.ring_size = PAGE,
		.read_pointer = (uintptr_t)&aq->read_dispatch_id,
		.write_pointer = (uintptr_t)&aq->write_dispatch_id,
		.gpu_id = gpu_id,
		.queue_type = KFD_QUEUE_AQL,
		.percentage = 100,
	};
	/* as a program has it that was built with an older header: 88 bytes */
	CHECK(!request(kfd,
		       _IOC(_IOC_READ | _IOC_WRITE, KFD_TYPE, KFD_CREATE_QUEUE,
			    KFD_CREATE_QUEUE_BEFORE_1_17),
		       &q));
	page = q.doorbell_offset & ~(PAGE - 1);
	doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, (off_t)page);
	CHECK(doorbell != MAP_FAILED);
	signal->value = 1;
	signal->event_mailbox_ptr = (uintptr_t)&slots[e.slot_index];
	signal->event_id = e.trigger_data;
	ring[0].completion_signal.handle = (uintptr_t)signal;
	__atomic_store_n(&aq->write_dispatch_id, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ring[0].header, HSA_PACKET_TYPE_BARRIER_AND, __ATOMIC_RELEASE);
	__atomic_store_n(&doorbell[(q.doorbell_offset - page) / 8], 0, __ATOMIC_RELEASE);
	CHECK(wait_for(e.event_id, UINT32_MAX, NULL) == KFD_WAIT_COMPLETE);
	CHECK(__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) == 0 &&
	      slots[e.slot_index] == e.event_id);
	id = (struct kfd_queue_id){ .queue_id = q.queue_id };
	CHECK(!request(kfd, KFD(KFD_DESTROY_QUEUE, id), &id));
	CHECK(request(kfd, KFD(KFD_DESTROY_QUEUE, id), &id) == EINVAL);
	q.gpu_id = 1;
	CHECK(request(kfd, KFD(KFD_CREATE_QUEUE, q), &q) == EINVAL);
}

#define COPY_DWORDS 7
#define FILL_DWORDS 5
#define FENCE_DWORDS 4

static uint32_t *put_linear_copy(uint32_t *at, uint64_t dst, uint64_t src, uint32_t bytes)
{
	uint32_t packet[COPY_DWORDS] = { 1, bytes - 1, 0, 0, 0, 0, 0 };

	memcpy(packet + 3, &src, sizeof(src));
	memcpy(packet + 5, &dst, sizeof(dst));
	memcpy(at, packet, sizeof(packet));
	return at + COPY_DWORDS;
}

static uint32_t *put_fill(uint32_t *at, uint64_t dst, uint32_t value, uint32_t bytes)
{
	uint32_t packet[FILL_DWORDS] = { 11 | 2u << 30, 0, 0, value, bytes - 4 };

	memcpy(packet + 1, &dst, sizeof(dst));
	memcpy(at, packet, sizeof(packet));
	return at + FILL_DWORDS;
}

static uint32_t *put_fence(uint32_t *at, uint64_t dst, uint32_t value)
{
	uint32_t packet[FENCE_DWORDS] = { 5, 0, 0, value };

	memcpy(packet + 1, &dst, sizeof(dst));
	memcpy(at, packet, sizeof(packet));
	return at + FENCE_DWORDS;
}

/* The program's memory, at an address of the GPU's that is not the program's. */
static uint64_t register_at(void *va, void *user, uint64_t size)
{
	struct kfd_alloc_memory m = { .va = (uintptr_t)va,
				      .size = size,
				      .gpu_id = gpu_id,
				      .flags = KFD_MEMORY_USERPTR,
				      .mmap_offset = (uintptr_t)user };

	CHECK(!request(kfd, KFD(KFD_ALLOC_MEMORY, m), &m));
	CHECK(!map_at(KFD_MAP_MEMORY, m.handle));
	return m.handle;
}

/* Two pieces of the program's memory follow each other for the GPU, and not for the host: what is
 * copied goes over both. */
static void elsewhere(void)
{
	char *va, *first = malloc(3 * PAGE), *second = malloc(3 * PAGE);
	uint32_t *vram, *ring, *end, *fence;
	uint64_t *pointers, *doorbell, page, at, handle;
	struct kfd_create_queue q = { 0 };
	struct kfd_smi_events smi;
	char text[64] = "", wanted[64];
	uint32_t id;

	open_gpu();
	smi = (struct kfd_smi_events){ .gpu_id = gpu_id };
	first = (char *)(((uintptr_t)first + PAGE - 1) & ~(PAGE - 1));
	second = (char *)(((uintptr_t)second + PAGE - 1) & ~(PAGE - 1));
	va = reserve(2 * PAGE);
	handle = register_at(va, first, PAGE);
	register_at(va + PAGE, second, PAGE);
	vram = visible(2 * PAGE, KFD_MEMORY_VRAM, NULL);
	ring = visible(PAGE, KFD_MEMORY_GTT, NULL);
	pointers = visible(PAGE, KFD_MEMORY_GTT, NULL);
	fence = visible(PAGE, KFD_MEMORY_GTT, NULL);
	id = new_event(KFD_EVENT_MEMORY, false);
	q = (struct kfd_create_queue){
		.ring_base = (uintptr_t)ring,
		.ring_size = PAGE,
		.read_pointer = (uintptr_t)&pointers[0],
		.write_pointer = (uintptr_t)&pointers[1],
		.gpu_id = gpu_id,
		.queue_type = KFD_QUEUE_SDMA,
		.percentage = 100,
	};
	CHECK(!request(kfd, KFD(KFD_CREATE_QUEUE, q), &q));
	page = q.doorbell_offset & ~(PAGE - 1);
	doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, (off_t)page);
	CHECK(doorbell != MAP_FAILED);
	doorbell += (q.doorbell_offset - page) / sizeof(*doorbell);
	memset(first, 1, PAGE);
	memset(second, 2, PAGE);
	at = (uintptr_t)va;
	end = put_linear_copy(ring, (uintptr_t)vram, at, 2 * PAGE);
	end = put_fill(end, at + PAGE - 64, 0x03030303, 128);
	end = put_linear_copy(end, at + 256, (uintptr_t)vram + PAGE + 256, 256);
	end = put_fence(end, (uintptr_t)fence, 7);
	__atomic_store_n(doorbell, (uint64_t)(end - ring) * 4, __ATOMIC_RELEASE);
	while (__atomic_load_n(fence, __ATOMIC_ACQUIRE) != 7)
		sched_yield();
	CHECK(vram[PAGE / 4 - 1] == 0x01010101 && vram[PAGE / 4] == 0x02020202);
	CHECK(first[PAGE - 65] == 1 && first[PAGE - 64] == 3 && first[PAGE - 1] == 3);
	CHECK(second[0] == 3 && second[63] == 3 && second[64] == 2);
	CHECK(first[255] == 1 && first[256] == 2 && first[511] == 2 && first[512] == 1);
	/* not any more; a management program learns of it */
	CHECK(!request(kfd, KFD(KFD_SMI_EVENTS, smi), &smi));
	CHECK(write((int)smi.fd, &(uint64_t){ 1 }, 8) == 8);
	CHECK(!map_at(KFD_UNMAP_MEMORY, handle) && !release(handle));
	end = put_linear_copy(end, at, (uintptr_t)vram, 64);
	__atomic_store_n(doorbell, (uint64_t)(end - ring) * 4, __ATOMIC_RELEASE);
	CHECK(wait_for(id, UINT32_MAX, NULL) == KFD_WAIT_COMPLETE && first[0] == 1);
	CHECK(read((int)smi.fd, text, sizeof(text) - 1) > 0);
	snprintf(wanted, sizeof(wanted), "1 %x:driver_test\n", getpid());
	CHECK(!strcmp(text, wanted));
	CHECK(recv((int)smi.fd, text, sizeof(text), MSG_DONTWAIT) == -1 && errno == EAGAIN);
}

/* A child has its parent's descriptors, and the kernel refuses its requests. It opens the device
 * itself, at once and after exec. */
static void forks(const char *self)
{
	struct kfd_get_version v = { 0 };
	uint64_t handle, before;
	int status;
	pid_t pid;

	open_gpu();
	visible(SIZE, KFD_MEMORY_VRAM, &handle);
	before = available();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		if (request(kfd, KFD(KFD_GET_VERSION, v), &v) != EBADF ||
		    syscall(SYS_ioctl, kfd, KFD(KFD_GET_VERSION, v), &v) != -1)
			_exit(1);
		/* all of the GPU's memory is free, and the parent's is not the child's */
		open_gpu();
		if (available() != before + SIZE || map_at(KFD_MAP_MEMORY, handle) != EINVAL)
			_exit(3);
		queues();
		if (fork() == 0)
			_exit(request(kfd, KFD(KFD_GET_VERSION, v), &v) != EBADF);
		if (wait(&status) < 0 || status)
			_exit(4);
		execl(self, self, "requests", (char *)NULL);
		_exit(2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(!request(kfd, KFD(KFD_GET_VERSION, v), &v));
}

static void send_fd(int to, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = space,
			    .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK(sendmsg(to, &m, 0) == 1);
}

static int receive_fd(int from)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = space,
			    .msg_controllen = sizeof(space) };
	int fd;

	CHECK(recvmsg(from, &m, 0) == 1 && CMSG_FIRSTHDR(&m));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The other process: adds 1 to a number in the memory that it gets. */
static void import(int channel)
{
	int fd = receive_fd(channel);
	struct kfd_dmabuf_info info = { .fd = (uint32_t)fd };
	struct kfd_import_dmabuf imported = { .fd = (uint32_t)fd };
	uint64_t *va;

	open_gpu();
	CHECK(!request(kfd, KFD(KFD_GET_DMABUF_INFO, info), &info) && info.size == SIZE &&
	      info.gpu_id == gpu_id);
	/* as libdrm asks for the size: the descriptor stands for the same memory afterwards */
	CHECK(lseek(fd, 0, SEEK_END) == SIZE && lseek(fd, 0, SEEK_SET) == 0);
	va = reserve(SIZE);
	imported.va = (uintptr_t)va;
	imported.gpu_id = gpu_id;
	CHECK(!request(kfd, KFD(KFD_IMPORT_DMABUF, imported), &imported));
	CHECK(!map_at(KFD_MAP_MEMORY, imported.handle));
	CHECK(*va == 41);
	++*va;
	CHECK(write(channel, "", 1) == 1);
	/* lives on when its owner has freed it */
	CHECK(read(channel, &(char){ 0 }, 1) == 1 && *va == 42);
	CHECK(!map_at(KFD_UNMAP_MEMORY, imported.handle) && !release(imported.handle));
	/* what stands for no memory */
	info.fd = (uint32_t)channel;
	CHECK(request(kfd, KFD(KFD_GET_DMABUF_INFO, info), &info) == EINVAL);
}

static void shared(const char *self)
{
	struct kfd_export_dmabuf out = { .flags = O_CLOEXEC };
	int ends[2], status;
	uint64_t handle, *p;
	char number[16];
	pid_t pid;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		snprintf(number, sizeof(number), "%d", ends[1]);
		execl(self, self, "import", number, (char *)NULL);
		_exit(2);
	}
	close(ends[1]);
	open_gpu();
	visible(SIZE, KFD_MEMORY_VRAM, NULL);
	p = visible(SIZE, KFD_MEMORY_VRAM, &handle);
	*p = 41;
	out.handle = handle;
	CHECK(!request(kfd, KFD(KFD_EXPORT_DMABUF, out), &out));
	send_fd(ends[0], (int)out.fd);
	CHECK(read(ends[0], &(char){ 0 }, 1) == 1 && *p == 42);
	CHECK(!map_at(KFD_UNMAP_MEMORY, handle) && !release(handle));
	CHECK(write(ends[0], "", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "requests"))
		requests();
	else if (!strcmp(what, "descriptors"))
		descriptors();
	else if (!strcmp(what, "memory"))
		memory();
	else if (!strcmp(what, "events"))
		events();
	else if (!strcmp(what, "queues"))
		queues();
	else if (!strcmp(what, "elsewhere"))
		elsewhere();
	else if (!strcmp(what, "forks"))
		forks(argv[0]);
	else if (!strcmp(what, "shared"))
		shared(argv[0]);
	else if (!strcmp(what, "import") && argc > 2)
		import((int)strtol(argv[2], NULL, 10));
	else
		CHECK(!"a scenario");
	puts("ok");
	return 0;
}
