/* SPDX-License-Identifier: MIT */
/* kmt_memory.c - memory: all of it is the host's, and has the same address on every GPU
 *
 * Owns:     tables ordered by address: allocations, which never overlap, ranges of the program's own memory that were
 *           registered, which may, or of other processes' memory that were imported, or of kmt_vmem.c's that were mapped;
 *           and addresses that are reserved, without memory.
 * Threads:  any.
 * Locks:    `lock`, innermost: the engine looks ranges up under its own lock. Ranges are removed under both: a range that
 *           the engine has checked stays valid until it releases its lock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"
#include "fault.h"
#include "kmt.h"
#include "kmt_event.h"
#include "kmt_memory.h"
#include "kmt_vmem.h"
#include "knobs.h"
#include "log.h"

#define PAGE 4096ull
#define NODES_MAX (KNOBS_DEVICES_MAX + 1)

/* HsaMemFlags from 6.0 on */
#define FLAG_NO_ADDRESS (1u << 18)
#define FLAG_ONLY_ADDRESS (1u << 19)

struct range {
	uintptr_t start;
	uint64_t size;
	HSAuint32 node;
	HsaMemFlags flags;
	void *user_data;
	unsigned int refs; /* registrations of this start; `size` is the largest of theirs */
	bool imported;	   /* memory of another process: ours to unmap */
	int shared;	   /* file that other processes import, or -1 */
	HSAuint32 mapped[NODES_MAX];
	HSAuint32 nr_mapped;
};

struct table {
	struct range **at;
	size_t nr, cap;
	uint64_t largest;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct table allocs, users, reserved;
static uint64_t node_used[NODES_MAX];

unsigned int kmt_memory_generation = 1;

/* Call it before the memory itself is unmapped. */
static void invalidate_ranges(void)
{
	__atomic_fetch_add(&kmt_memory_generation, 1, __ATOMIC_ACQ_REL);
}

/* Index of the first range that starts after `addr`. */
static size_t upper_bound(const struct table *t, uintptr_t addr)
{
	size_t lo = 0, hi = t->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->at[mid]->start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct range *find_range(const struct table *t, uintptr_t addr)
{
	for (size_t i = upper_bound(t, addr); i-- > 0;) {
		struct range *r = t->at[i];

		if (addr - r->start < r->size)
			return r;
		/* no range with a lower start reaches addr */
		if (addr - r->start >= t->largest)
			break;
	}
	return NULL;
}

static struct range *find_start(const struct table *t, uintptr_t addr, size_t *index)
{
	size_t i = upper_bound(t, addr);

	if (!i || t->at[i - 1]->start != addr)
		return NULL;
	if (index)
		*index = i - 1;
	return t->at[i - 1];
}

static bool insert(struct table *t, struct range *r)
{
	size_t i = upper_bound(t, r->start);

	if (t->nr == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		struct range **at = realloc(t->at, cap * sizeof(*at));

		if (!at)
			return false;
		t->at = at;
		t->cap = cap;
	}
	memmove(&t->at[i + 1], &t->at[i], (t->nr - i) * sizeof(*t->at));
	t->at[i] = r;
	t->nr++;
	if (r->size > t->largest)
		t->largest = r->size;
	return true;
}

static void drop(struct table *t, size_t i)
{
	free(t->at[i]);
	memmove(&t->at[i], &t->at[i + 1], (t->nr - i - 1) * sizeof(*t->at));
	t->nr--;
}

static uint64_t node_limit(HSAuint32 node)
{
	return node ? knobs.vram_mb << 20 : UINT64_MAX;
}

/* Maps `size` bytes at a multiple of `align`, or at `fixed`; NULL: out of memory. */
static void *map_pages(uint64_t size, uint64_t align, void *fixed, int access)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0);
	uint64_t more = fixed || align <= PAGE ? 0 : align - PAGE;
	char *p = mmap(fixed, size + more, access, how, -1, 0);
	uint64_t skip;

	if (p == MAP_FAILED)
		return NULL;
	if (more) {
		skip = -(uintptr_t)p & (align - 1);
		if (skip)
			munmap(p, skip);
		if (more > skip)
			munmap(p + skip + size, more - skip);
		p += skip;
	}
	return p;
}

static HSAKMT_STATUS alloc_locked(HSAuint32 node, uint64_t size, uint64_t align, HsaMemFlags flags,
				  void **addr)
{
	bool addresses = flags.Value & FLAG_ONLY_ADDRESS;
	bool counts = !flags.ui32.Scratch && !addresses;
	struct range *r;
	void *p;

	if (counts && node_used[node] + size > node_limit(node))
		return HSAKMT_STATUS_NO_MEMORY;
	p = map_pages(size, align, flags.ui32.FixedAddress ? *addr : NULL,
		      addresses ? PROT_NONE : PROT_READ | PROT_WRITE);
	if (!p)
		return HSAKMT_STATUS_NO_MEMORY;
	r = calloc(1, sizeof(*r));
	if (!r)
		goto fail;
	r->start = (uintptr_t)p;
	r->size = size;
	r->node = node;
	r->flags = flags;
	r->shared = -1;
	if (!insert(addresses ? &reserved : &allocs, r))
		goto fail;
	if (counts)
		node_used[node] += size;
	*addr = p;
	return HSAKMT_STATUS_SUCCESS;
fail:
	free(r);
	munmap(p, size);
	return HSAKMT_STATUS_NO_MEMORY;
}

KMT_API HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 size, HSAuint64 align,
					     HsaMemFlags flags, void **addr)
{
	HSAKMT_STATUS status;

	if (!addr || !size || node > knobs.devices || (align & (align - 1)))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (fault_match(FAULT_ALLOC, &(struct fault_event){ (int64_t)node - 1, -1, size, false })) {
		struct log_where where = { .gpu = node ? node - 1 : 0 };

		log_fault(&where, fault_name(FAULT_ALLOC), size);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	size = (size + PAGE - 1) & ~(PAGE - 1);
	if (flags.Value & FLAG_NO_ADDRESS)
		return kmt_vmem_create(node, size, addr);
	pthread_mutex_lock(&lock);
	status = alloc_locked(node, size, align, flags, addr);
	pthread_mutex_unlock(&lock);
	return status;
}

KMT_API HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags,
					void **addr)
{
	return hsaKmtAllocMemoryAlign(node, size, 0, flags, addr);
}

KMT_API HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes)
{
	if (!bytes || !kmt_topology_is_gpu(node))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	*bytes = node_limit(node) - node_used[node];
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

/* Removes what starts at `addr` from the tables; its size, or 0: nothing does. Under both locks. */
static uint64_t forget(uintptr_t addr, int *shared)
{
	struct range *r;
	uint64_t size;
	size_t i;

	r = find_start(&reserved, addr, &i);
	if (r) {
		size = r->size;
		drop(&reserved, i);
		return size;
	}
	r = find_start(&allocs, addr, &i);
	if (!r)
		return 0;
	size = r->size;
	*shared = r->shared;
	if (!r->flags.ui32.Scratch)
		node_used[r->node] -= size;
	invalidate_ranges();
	drop(&allocs, i);
	return size;
}

KMT_API HSAKMT_STATUS hsaKmtFreeMemory(void *addr, HSAuint64 size)
{
	int shared = -1;

	if (kmt_vmem_free(addr))
		return HSAKMT_STATUS_SUCCESS;
	engine_lock();
	pthread_mutex_lock(&lock);
	size = forget((uintptr_t)addr, &shared);
	pthread_mutex_unlock(&lock);
	engine_unlock();
	if (!size)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	/* without the locks: the range is removed already, and munmap() may take long */
	munmap(addr, size);
	if (shared >= 0)
		close(shared);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *addr, HSAuint64 size, HsaMemFlags flags)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
	struct range *r;

	if (!addr || !size)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	r = find_start(&users, (uintptr_t)addr, NULL);
	if (r) {
		r->refs++;
		if (size > r->size)
			r->size = size;
		if (size > users.largest)
			users.largest = size;
	} else {
		r = calloc(1, sizeof(*r));
		if (r) {
			r->start = (uintptr_t)addr;
			r->size = size;
			r->flags = flags;
			r->refs = 1;
			r->shared = -1;
		}
		if (!r || !insert(&users, r)) {
			free(r);
			status = HSAKMT_STATUS_NO_MEMORY;
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}

KMT_API HSAKMT_STATUS hsaKmtRegisterMemory(void *addr, HSAuint64 size)
{
	return hsaKmtRegisterMemoryWithFlags(addr, size, (HsaMemFlags){ .Value = 0 });
}

KMT_API HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *addr, HSAuint64 size, HSAuint64 nr,
						  HSAuint32 *nodes)
{
	HSAKMT_STATUS status = hsaKmtRegisterMemory(addr, size);

	if (status != HSAKMT_STATUS_SUCCESS)
		return status;
	return hsaKmtMapMemoryToGPUNodes(addr, size, NULL, (HsaMemMapFlags){ .Value = 0 }, nr,
					 nodes);
}

KMT_API HSAKMT_STATUS hsaKmtDeregisterMemory(void *addr)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
	uint64_t imported = 0;
	struct range *r;
	size_t i;

	engine_lock();
	pthread_mutex_lock(&lock);
	r = find_start(&users, (uintptr_t)addr, &i);
	if (r) {
		if (!--r->refs) {
			invalidate_ranges();
			imported = r->imported ? r->size : 0;
			drop(&users, i);
		}
		status = HSAKMT_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	if (imported)
		munmap(addr, imported);
	return status;
}

static struct range *find_any(uintptr_t addr)
{
	struct range *r = find_range(&allocs, addr);

	return r ? r : find_range(&users, addr);
}

static void map_node(struct range *r, HSAuint32 node)
{
	for (HSAuint32 i = 0; i < r->nr_mapped; i++) {
		if (r->mapped[i] == node)
			return;
	}
	if (r->nr_mapped < NODES_MAX)
		r->mapped[r->nr_mapped++] = node;
}

KMT_API HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *addr, HSAuint64 size, HSAuint64 *alternate,
						HsaMemMapFlags flags, HSAuint64 nr,
						HSAuint32 *nodes)
{
	struct range *r;

	(void)size;
	(void)flags;
	if (nr && !nodes)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	r = find_any((uintptr_t)addr);
	for (HSAuint64 i = 0; r && i < nr; i++)
		map_node(r, nodes[i]);
	pthread_mutex_unlock(&lock);
	if (!r)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (alternate)
		*alternate = (uintptr_t)addr;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *addr, HSAuint64 size, HSAuint64 *alternate)
{
	HSAuint32 nodes[KNOBS_DEVICES_MAX];

	for (HSAuint32 i = 0; i < knobs.devices; i++)
		nodes[i] = i + 1;
	return hsaKmtMapMemoryToGPUNodes(addr, size, alternate, (HsaMemMapFlags){ .Value = 0 },
					 knobs.devices, nodes);
}

KMT_API HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *addr)
{
	struct range *r;

	pthread_mutex_lock(&lock);
	r = find_any((uintptr_t)addr);
	if (r)
		r->nr_mapped = 0;
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

bool kmt_memory_range(uint64_t addr, struct gcn_range *out)
{
	struct range *r;

	pthread_mutex_lock(&lock);
	r = find_any((uintptr_t)addr);
	if (r)
		*out = (struct gcn_range){ r->start, r->start + r->size, 0 };
	pthread_mutex_unlock(&lock);
	out->shift = 0;
	/* device code writes to the mailboxes, which belong to the driver */
	return r || kmt_event_mailboxes(addr, &out->lo, &out->hi);
}

bool kmt_memory_reserve(uint32_t node, uint64_t size)
{
	bool fits;

	pthread_mutex_lock(&lock);
	fits = node_used[node] + size <= node_limit(node);
	if (fits)
		node_used[node] += size;
	pthread_mutex_unlock(&lock);
	return fits;
}

void kmt_memory_release(uint32_t node, uint64_t size)
{
	pthread_mutex_lock(&lock);
	node_used[node] -= size;
	pthread_mutex_unlock(&lock);
}

bool kmt_memory_map(void *addr, uint64_t size, uint32_t node)
{
	struct range *r;
	bool there = true;

	pthread_mutex_lock(&lock);
	r = find_start(&users, (uintptr_t)addr, NULL);
	if (r) {
		r->refs++;
	} else {
		r = calloc(1, sizeof(*r));
		if (r)
			*r = (struct range){ .start = (uintptr_t)addr,
					     .size = size,
					     .node = node,
					     .refs = 1,
					     .shared = -1 };
		there = r && insert(&users, r);
		if (!there)
			free(r);
	}
	pthread_mutex_unlock(&lock);
	return there;
}

bool kmt_memory_unmap(void *addr)
{
	bool last = false;
	struct range *r;
	size_t i;

	engine_lock();
	pthread_mutex_lock(&lock);
	r = find_start(&users, (uintptr_t)addr, &i);
	if (r && !--r->refs) {
		invalidate_ranges();
		drop(&users, i);
		last = true;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	return last;
}

KMT_API HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *ptr, HsaPointerInfo *info)
{
	struct range *r;
	bool user = false;

	if (!ptr || !info)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(info, 0, sizeof(*info));
	info->Type = HSA_POINTER_UNKNOWN;
	pthread_mutex_lock(&lock);
	r = find_range(&allocs, (uintptr_t)ptr);
	if (!r) {
		r = find_range(&users, (uintptr_t)ptr);
		user = true;
	}
	if (r) {
		info->Type = !user	 ? HSA_POINTER_ALLOCATED :
			     r->imported ? HSA_POINTER_REGISTERED_SHARED :
					   HSA_POINTER_REGISTERED_USER;
		info->Node = r->node;
		info->MemFlags = r->flags;
		info->CPUAddress = (void *)r->start;
		info->GPUAddress = r->start;
		info->SizeInBytes = r->size;
		info->UserData = r->user_data;
		/* valid until the range is freed or unmapped, as with the real thunk */
		info->NMappedNodes = r->nr_mapped;
		info->MappedNodes = r->nr_mapped ? r->mapped : NULL;
	}
	pthread_mutex_unlock(&lock);
	return r ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

KMT_API HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *ptr, void *data)
{
	struct range *r;

	pthread_mutex_lock(&lock);
	r = find_any((uintptr_t)ptr);
	if (r)
		r->user_data = data;
	pthread_mutex_unlock(&lock);
	return r ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

/* ---- memory of other processes --------------------------------------------------------------- */

/* The words of a handle. The runtime uses the last two itself. */
enum { HANDLE_MAGIC, HANDLE_PID, HANDLE_FD, HANDLE_INODE, HANDLE_NODE };

#define MAGIC 0x76677075u

static bool is_zero(const char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* The name of a file that has shared memory, with its node. A page at its end is kmt_vmem.c's. */
#define SHARED_NAME "vgpu-memory-"

/* Moves an allocation to a file, at the same address. Under both locks, so that no kernel uses it meanwhile. -1: no. */
static int make_shared(const struct range *r)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), SHARED_NAME "%u", r->node);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)(r->size + PAGE)))
		goto fail;
	for (uint64_t at = 0; at < r->size; at += PAGE) {
		const char *page = (const char *)r->start + at;

		if (!is_zero(page) && pwrite(fd, page, PAGE, (off_t)at) != (ssize_t)PAGE)
			goto fail;
	}
	if (mmap((void *)r->start, r->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		goto fail;
	return fd;
fail:
	close(fd);
	return -1;
}

/* The allocation that holds `addr`, in a file now if `shared` is not -1. Under both locks. */
static struct range *share_range(uintptr_t addr)
{
	struct range *r = find_range(&allocs, addr);

	if (r && r->shared < 0)
		r->shared = make_shared(r);
	return r;
}

KMT_API HSAKMT_STATUS hsaKmtShareMemory(void *addr, HSAuint64 size, HsaSharedMemoryHandle *handle)
{
	HSAuint32 *words = (HSAuint32 *)handle;
	HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
	struct range *r;
	struct stat st;

	(void)size;
	if (!addr || !handle)
		return status;
	engine_lock();
	pthread_mutex_lock(&lock);
	r = share_range((uintptr_t)addr);
	if (r && (r->shared < 0 || fstat(r->shared, &st))) {
		status = HSAKMT_STATUS_NO_MEMORY;
	} else if (r) {
		memset(handle, 0, sizeof(*handle));
		words[HANDLE_MAGIC] = MAGIC;
		words[HANDLE_PID] = (HSAuint32)getpid();
		words[HANDLE_FD] = (HSAuint32)r->shared;
		words[HANDLE_INODE] = (HSAuint32)st.st_ino;
		words[HANDLE_NODE] = r->node;
		status = HSAKMT_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	return status;
}

HSAKMT_STATUS kmt_memory_export(const void *addr, uint64_t size, int *fd, uint64_t *offset)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
	struct range *r;

	engine_lock();
	pthread_mutex_lock(&lock);
	r = share_range((uintptr_t)addr);
	if (r && size <= r->size - ((uintptr_t)addr - r->start)) {
		*offset = (uintptr_t)addr - r->start;
		*fd = r->shared < 0 ? -1 : fcntl(r->shared, F_DUPFD_CLOEXEC, 0);
		status = *fd < 0 ? HSAKMT_STATUS_NO_MEMORY : HSAKMT_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	return status;
}

bool kmt_memory_exported(int fd, uint64_t *size, uint32_t *node)
{
	static const char begin[] = "/memfd:" SHARED_NAME;
	char path[64], name[64];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	if (n <= 0 || fstat(fd, &st) || st.st_size <= (off_t)PAGE)
		return false;
	name[n] = '\0';
	if (strncmp(name, begin, sizeof(begin) - 1) != 0)
		return false;
	*size = (uint64_t)st.st_size - PAGE;
	*node = (uint32_t)strtoul(name + sizeof(begin) - 1, NULL, 10);
	if (*node > knobs.devices)
		*node = 0;
	return true;
}

/* The file of a handle, if its process still has it; -1: no. */
static int open_shared(const HSAuint32 *words, uint64_t *size)
{
	struct stat st;
	char path[64];
	int fd;

	if (words[HANDLE_MAGIC] != MAGIC)
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", words[HANDLE_PID], words[HANDLE_FD]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || (HSAuint32)st.st_ino != words[HANDLE_INODE] ||
	    st.st_size <= (off_t)PAGE) {
		close(fd);
		return -1;
	}
	*size = (uint64_t)st.st_size - PAGE;
	return fd;
}

/* Maps a file that has another process's memory of a node. */
static HSAKMT_STATUS import_file(int fd, uint64_t bytes, uint32_t node, void **addr)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	struct range *r = calloc(1, sizeof(*r));

	if (p == MAP_FAILED || !r)
		goto fail;
	*r = (struct range){
		.start = (uintptr_t)p,
		.size = bytes,
		.node = node <= knobs.devices ? node : 0,
		.refs = 1,
		.imported = true,
		.shared = -1,
	};
	r->flags.ui32.HostAccess = 1;
	pthread_mutex_lock(&lock);
	if (!insert(&users, r)) {
		pthread_mutex_unlock(&lock);
		goto fail;
	}
	pthread_mutex_unlock(&lock);
	*addr = p;
	return HSAKMT_STATUS_SUCCESS;
fail:
	free(r);
	if (p != MAP_FAILED)
		munmap(p, bytes);
	return HSAKMT_STATUS_NO_MEMORY;
}

KMT_API HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle, void **addr,
						 HSAuint64 *size)
{
	const HSAuint32 *words = (const HSAuint32 *)handle;
	HSAKMT_STATUS status;
	uint64_t bytes;
	int fd;

	if (!handle || !addr || !size)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	fd = open_shared(words, &bytes);
	if (fd < 0)
		return HSAKMT_STATUS_INVALID_HANDLE;
	status = import_file(fd, bytes, words[HANDLE_NODE], addr);
	close(fd);
	if (status == HSAKMT_STATUS_SUCCESS)
		*size = bytes;
	return status;
}

/* The runtime from 6.2 on imports by a descriptor that it has got from the other process; the flags ask for an address. */
KMT_API HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 handle,
							     HsaGraphicsResourceInfo *info,
							     HSAuint64 nr, HSAuint32 *nodes,
							     HSAuint32 flags)
{
	HSAKMT_STATUS status;
	uint64_t bytes;
	uint32_t node;
	void *addr;

	(void)nr;
	(void)nodes;
	(void)flags;
	if (!info)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!kmt_memory_exported((int)handle, &bytes, &node))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	status = import_file((int)handle, bytes, node, &addr);
	if (status != HSAKMT_STATUS_SUCCESS)
		return status;
	/* the reserved word became the node; a GPU's, which the runtime imports host memory by */
	*info = (HsaGraphicsResourceInfo){ .MemoryAddress = addr,
					   .SizeInBytes = bytes,
					   .Reserved = node ? node : 1 };
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle,
							void **addr, HSAuint64 *size, HSAuint64 nr,
							HSAuint32 *nodes)
{
	HSAKMT_STATUS status = hsaKmtRegisterSharedHandle(handle, addr, size);

	if (status != HSAKMT_STATUS_SUCCESS)
		return status;
	return hsaKmtMapMemoryToGPUNodes(*addr, *size, NULL, (HsaMemMapFlags){ .Value = 0 }, nr,
					 nodes);
}

void kmt_memory_lock(void)
{
	pthread_mutex_lock(&lock);
}

void kmt_memory_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
