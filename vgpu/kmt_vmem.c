/* SPDX-License-Identifier: MIT */
/* kmt_vmem.c - virtual memory management: memory without an address, and buffers of libdrm that stand for it
 *
 * The runtime (6.0 and later) reserves addresses, creates memory without an address, exports a file descriptor of the memory
 * and imports that as a buffer of libdrm for each agent; it maps the buffer at reserved addresses for a GPU by
 * amdgpu_bo_va_op(), and for the host by mmap() of the device's file, at an offset that the driver gives it. HIP's memory
 * pools (hipMallocAsync) do this from 7.0 on, its hipMem...() functions always.
 *
 * Here all such memory of a process is in one file, which is also the device's: a GPU has the host's addresses, and mapping is
 * mmap() for both. While a GPU may access memory the host may, too.
 *
 * An allocation of the usual kind that is exported has a file of its own, which other processes map (kmt_memory.c).
 *
 * Owns:     the file, the memory (`memories`) and the buffers.
 * Threads:  any.
 * Locks:    `lock`; inside it those of kmt_memory.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kmt_memory.h"
#include "kmt_vmem.h"

#define MAGIC 0x6d656d76u
/* ioctl of amdgpu that asks where in the device's file a buffer is */
#define DRM_AMDGPU_GEM_MMAP 1

enum bo_type { BO_KMS = 1, BO_DMA_BUF = 2 };
enum va_op { VA_MAP = 1, VA_UNMAP = 2 };

struct memory {
	struct memory *next;
	int file;
	uint64_t at, size; /* in the file */
	HSAuint32 node, id;
	unsigned int refs; /* by its handle, and by buffers */
	bool released;	   /* the handle is gone */
	bool foreign;	   /* another process's, in a file of its own; not in the list */
};

/* amdgpu_bo_handle */
struct bo {
	struct memory *memory;
};

/* struct amdgpu_bo_import_result of libdrm */
struct bo_import {
	struct bo *bo;
	uint64_t size;
};

/* struct amdgpu_bo_metadata and amdgpu_bo_info of libdrm */
struct bo_metadata {
	uint64_t flags, tiling;
	uint32_t size, words[64];
};
struct bo_info {
	uint64_t size, alignment;
	uint32_t heap;
	uint64_t flags;
	struct bo_metadata metadata;
};
static_assert(sizeof(struct bo_metadata) == 280 && sizeof(struct bo_info) == 312,
	      "as libdrm has it");

/* What a descriptor that stands for memory reads. */
struct dma_buf {
	uint32_t magic, id;
	int64_t pid;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct memory *memories;
static HSAuint32 last_id;
static uint64_t file_size;
static int file = -1;

HSAKMT_STATUS hsaKmtExportDMABufHandle(void *addr, HSAuint64 size, int *fd, HSAuint64 *offset);
int amdgpu_bo_cpu_map(struct bo *bo, void **addr);
int amdgpu_bo_free(struct bo *bo);
int amdgpu_bo_export(struct bo *bo, int type, uint32_t *handle);
int amdgpu_bo_import(void *device, int type, uint32_t handle, struct bo_import *out);
int amdgpu_bo_query_info(struct bo *bo, struct bo_info *info);
int amdgpu_bo_set_metadata(struct bo *bo, const struct bo_metadata *metadata);
int amdgpu_bo_va_op(struct bo *bo, uint64_t offset, uint64_t size, uint64_t addr, uint64_t flags,
		    uint32_t op);
int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size);

static int file_locked(void)
{
	if (file < 0)
		file = memfd_create("vgpu-vmem", MFD_CLOEXEC);
	return file;
}

int kmt_vmem_file(void)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = file_locked();
	pthread_mutex_unlock(&lock);
	return fd;
}

HSAKMT_STATUS kmt_vmem_create(HSAuint32 node, HSAuint64 size, void **handle)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m || !kmt_memory_reserve(node, size)) {
		free(m);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	pthread_mutex_lock(&lock);
	/* offsets are used once: the file is sparse, and 2^63 bytes do not run out */
	if (file_locked() < 0 || ftruncate(file, (off_t)(file_size + size))) {
		pthread_mutex_unlock(&lock);
		kmt_memory_release(node, size);
		free(m);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*m = (struct memory){ .next = memories,
			      .file = file,
			      .at = file_size,
			      .size = size,
			      .node = node,
			      .id = ++last_id,
			      .refs = 1 };
	memories = m;
	file_size += size;
	pthread_mutex_unlock(&lock);
	*handle = m;
	return HSAKMT_STATUS_SUCCESS;
}

/* The memory with this handle, or with this id. Under lock. */
static struct memory *find(const void *handle, HSAuint32 id)
{
	for (struct memory *m = memories; m; m = m->next) {
		if (handle ? m == handle && !m->released : m->id == id)
			return m;
	}
	return NULL;
}

static void put(struct memory *m)
{
	struct memory **at = &memories;

	if (--m->refs)
		return;
	if (m->foreign) {
		close(m->file);
		free(m);
		return;
	}
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	(void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)m->at,
			(off_t)m->size);
	kmt_memory_release(m->node, m->size);
	free(m);
}

void kmt_vmem_lock(void)
{
	pthread_mutex_lock(&lock);
}

void kmt_vmem_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool kmt_vmem_free(void *handle)
{
	struct memory *m;

	pthread_mutex_lock(&lock);
	m = find(handle, 0);
	if (m) {
		m->released = true;
		put(m);
	}
	pthread_mutex_unlock(&lock);
	return m != NULL;
}

KMT_API HSAKMT_STATUS hsaKmtExportDMABufHandle(void *addr, HSAuint64 size, int *fd,
					       HSAuint64 *offset)
{
	struct dma_buf text = { .magic = MAGIC, .pid = getpid() };
	struct memory *m;
	int out;

	if (!addr || !fd || !offset)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	m = find(addr, 0);
	text.id = m && size <= m->size ? m->id : 0;
	pthread_mutex_unlock(&lock);
	if (!m)
		return kmt_memory_export(addr, size, fd, offset);
	if (!text.id)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	out = memfd_create("vgpu-dma-buf", MFD_CLOEXEC);
	if (out < 0)
		return HSAKMT_STATUS_NO_MEMORY;
	if (pwrite(out, &text, sizeof(text), 0) != (ssize_t)sizeof(text)) {
		close(out);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*fd = out;
	*offset = 0;
	return HSAKMT_STATUS_SUCCESS;
}

/* Memory that is an allocation of another process, or of this one. */
static struct memory *foreign_memory(int fd)
{
	struct memory m = { .foreign = true }, *copy;

	if (!kmt_memory_exported(fd, &m.size, &m.node))
		return NULL;
	copy = malloc(sizeof(*copy));
	m.file = copy ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (m.file < 0) {
		free(copy);
		return NULL;
	}
	*copy = m;
	return copy;
}

/* The memory that a descriptor stands for. Under lock. */
static struct memory *memory_of(int fd)
{
	struct memory *m = foreign_memory(fd);
	struct dma_buf text;

	if (m)
		return m;
	if (pread(fd, &text, sizeof(text), 0) != (ssize_t)sizeof(text) || text.magic != MAGIC ||
	    text.pid != getpid())
		return NULL;
	return find(NULL, text.id);
}

KMT_API int amdgpu_bo_import(void *device, int type, uint32_t handle, struct bo_import *out)
{
	struct bo *bo = calloc(1, sizeof(*bo));
	int err = -EOPNOTSUPP;

	(void)device;
	if (!bo)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	bo->memory = type == BO_DMA_BUF ? memory_of((int)handle) : NULL;
	if (bo->memory) {
		bo->memory->refs++;
		*out = (struct bo_import){ .bo = bo, .size = bo->memory->size };
		err = 0;
	}
	pthread_mutex_unlock(&lock);
	if (err)
		free(bo);
	return err;
}

KMT_API int amdgpu_bo_free(struct bo *bo)
{
	if (!bo)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	put(bo->memory);
	pthread_mutex_unlock(&lock);
	free(bo);
	return 0;
}

KMT_API int amdgpu_bo_export(struct bo *bo, int type, uint32_t *handle)
{
	if (!bo || !handle)
		return -EINVAL;
	if (type != BO_KMS)
		return -EOPNOTSUPP;
	*handle = bo->memory->id;
	return 0;
}

KMT_API int amdgpu_bo_cpu_map(struct bo *bo, void **addr)
{
	void *p;

	if (!bo || !addr)
		return -EINVAL;
	p = mmap(NULL, bo->memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->memory->file,
		 (off_t)bo->memory->at);
	if (p == MAP_FAILED)
		return -errno;
	*addr = p;
	return 0;
}

KMT_API int amdgpu_bo_va_op(struct bo *bo, uint64_t offset, uint64_t size, uint64_t addr,
			    uint64_t flags, uint32_t op)
{
	void *p = (void *)(uintptr_t)
		addr; /* NOLINT(performance-no-int-to-ptr): the caller has it as a number */

	(void)flags;
	if (!bo || !size || offset > bo->memory->size || size > bo->memory->size - offset)
		return -EINVAL;
	switch (op) {
	case VA_MAP:
		if (mmap(p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, bo->memory->file,
			 (off_t)(bo->memory->at + offset)) == MAP_FAILED)
			return -errno;
		return kmt_memory_map(p, size, bo->memory->node) ? 0 : -ENOMEM;
	case VA_UNMAP:
		/* another GPU may have it still */
		if (!kmt_memory_unmap(p))
			return 0;
		if (mmap(p, size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			return -errno;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * What is attached to a buffer, for all processes that have it. The runtime keeps a number there, by which it knows that a handle
 * of IPC is of this memory and not of what was there before.
 */
KMT_API int amdgpu_bo_set_metadata(struct bo *bo, const struct bo_metadata *metadata)
{
	if (!bo || !metadata || metadata->size > sizeof(metadata->words))
		return -EINVAL;
	if (!bo->memory->foreign)
		return -EOPNOTSUPP;
	return pwrite(bo->memory->file, metadata, sizeof(*metadata), (off_t)bo->memory->size) ==
			       (ssize_t)sizeof(*metadata) ?
		       0 :
		       -EIO;
}

KMT_API int amdgpu_bo_query_info(struct bo *bo, struct bo_info *info)
{
	if (!bo || !info)
		return -EINVAL;
	if (!bo->memory->foreign)
		return -EOPNOTSUPP;
	memset(info, 0, sizeof(*info));
	info->size = bo->memory->size;
	info->alignment = 4096;
	return pread(bo->memory->file, &info->metadata, sizeof(info->metadata),
		     (off_t)bo->memory->size) == (ssize_t)sizeof(info->metadata) ?
		       0 :
		       -EIO;
}

KMT_API int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size)
{
	struct memory *m;
	uint64_t *word = data; /* a buffer's handle in its low half; the offset comes back */

	(void)fd;
	if (command != DRM_AMDGPU_GEM_MMAP || !data || size < sizeof(*word))
		return -EOPNOTSUPP;
	pthread_mutex_lock(&lock);
	m = find(NULL, (HSAuint32)*word);
	if (m)
		*word = m->at;
	pthread_mutex_unlock(&lock);
	return m ? 0 : -ENOENT;
}
