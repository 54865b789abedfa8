/* SPDX-License-Identifier: MIT */
/* memory.c - memory of the GPUs: what is allocated, shared, and mapped where
 *
 * All memory of a GPU and all host memory that was allocated by it is in the file of its render
 * node (nodes.c). An allocation is a range of that file; the offset at which a program maps it is
 * its offset there. A GPU has the host's addresses: what the driver maps for a GPU is mapped for
 * the host at the same address, so that the engine can use it. User memory is where it is, and for
 * the GPU where the thunk wants it: there, or at another address.
 *
 * A descriptor that stands for an allocation (dma-buf) is of the same file, with its position at
 * the allocation: descriptions of open files and their positions travel between processes. The page
 * before the allocation says what it is.
 *
 *     offset   at - 4096     struct shared, once the memory was exported
 *              at            the memory
 *
 * Owns:     the allocations, by their number; the ranges that a GPU may access, in the order of
 *           their start.
 * Threads:  any.
 * Locks:    `lock`, innermost: the engine looks ranges up under its own lock. Ranges are removed
 *           under both: a range that the engine has checked stays valid until it releases its lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../engine/engine.h"
#include "../engine/fault.h"
#include "../engine/gpu.h"
#include "../engine/host.h"
#include "../engine/knobs.h"
#include "../engine/log.h"
#include "drm_abi.h"
#include "driver.h"
#include "kfd_abi.h"

#define PAGE 4096ull
#define MAGIC 0x7567706d656d3031ull
#define FOREIGN_SHIFT                                                                              \
	32 /* of the number of memory in another process's file, in an offset of mmap() */

/* What a page before an allocation says, for all processes that have its file. */
struct shared {
	uint64_t magic, size;
	uint32_t flags, gpu;
	struct drm_metadata metadata;
};

struct bo {
	uint32_t id, flags; /* kfd_memory_flag */
	unsigned int gpu, refs;
	uint64_t va, size;
	uint64_t at;   /* in `file`; of user memory: its address for the host */
	uint32_t gpus; /* a bit for each that has it mapped at `va` */
	int file;      /* -1: it has no memory of its own */
	bool foreign;  /* `file` is another process's; ours to close */
	bool exported;
};

/* What GPUs may access. Ranges of user memory may overlap others. `shift`: as in struct
 * gcn_range. */
struct range {
	uint64_t start, size, shift;
	unsigned int refs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct bo **bos; /* by number; [0] is none */
static uint32_t nr_bos, cap_bos, lowest_free = 1;
static struct range *ranges;
static size_t nr_ranges, cap_ranges;
static uint64_t largest_range;
static uint64_t file_end[KNOBS_DEVICES_MAX]; /* of the render nodes' files */
static uint64_t used[KNOBS_DEVICES_MAX];     /* bytes of the GPU's own memory */

unsigned int host_generation = 1;

static void *at_address(uint64_t addr)
{
	return (void *)(uintptr_t)
		addr; /* NOLINT(performance-no-int-to-ptr): programs have it as a number */
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* Index of the first range that starts after `addr`. */
static size_t upper_bound(uint64_t addr)
{
	size_t lo = 0, hi = nr_ranges;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (ranges[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct range *range_at(uint64_t start)
{
	size_t i = upper_bound(start);

	return i && ranges[i - 1].start == start ? &ranges[i - 1] : NULL;
}

static struct range *range_of(uint64_t addr)
{
	for (size_t i = upper_bound(addr); i-- > 0;) {
		struct range *r = &ranges[i];

		if (addr - r->start < r->size)
			return r;
		/* no range with a lower start reaches addr */
		if (addr - r->start >= largest_range)
			break;
	}
	return NULL;
}

static int add_range(uint64_t start, uint64_t size, uint64_t shift)
{
	struct range *r = range_at(start);
	size_t i;

	if (size > largest_range)
		largest_range = size;
	if (r) {
		r->refs++;
		if (size > r->size)
			r->size = size;
		return 0;
	}
	if (nr_ranges == cap_ranges) {
		size_t cap = cap_ranges ? cap_ranges * 2 : 256;
		struct range *more = realloc(ranges, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		ranges = more;
		cap_ranges = cap;
	}
	i = upper_bound(start);
	memmove(&ranges[i + 1], &ranges[i], (nr_ranges - i) * sizeof(*ranges));
	ranges[i] = (struct range){ .start = start, .size = size, .shift = shift, .refs = 1 };
	nr_ranges++;
	return 0;
}

/* Under both locks. Whether nothing has it mapped any more. */
static bool drop_range(uint64_t start)
{
	struct range *r = range_at(start);
	size_t i;

	if (!r || --r->refs)
		return false;
	__atomic_fetch_add(&host_generation, 1, __ATOMIC_ACQ_REL);
	i = (size_t)(r - ranges);
	memmove(r, r + 1, (nr_ranges - i - 1) * sizeof(*ranges));
	nr_ranges--;
	return true;
}

bool host_range(uint64_t addr, struct gcn_range *out)
{
	struct range *r;

	pthread_mutex_lock(&lock);
	r = range_of(addr);
	if (r)
		*out = (struct gcn_range){ r->start, r->start + r->size, r->shift };
	pthread_mutex_unlock(&lock);
	return r != NULL;
}

/* ---- allocations ---------------------------------------------------------------------------- */

static struct bo *find_bo(uint64_t handle)
{
	uint32_t id = (uint32_t)handle;

	return id && id < nr_bos ? bos[id] : NULL;
}

static struct bo *new_bo(void)
{
	struct bo *b = calloc(1, sizeof(*b));
	uint32_t id = lowest_free;

	while (id < nr_bos && bos[id])
		id++;
	if (b && id >= cap_bos) {
		uint32_t cap = cap_bos ? cap_bos * 2 : 1024;
		struct bo **more = realloc(bos, cap * sizeof(*more));

		if (!more) {
			free(b);
			return NULL;
		}
		memset(more + cap_bos, 0, (cap - cap_bos) * sizeof(*more));
		bos = more;
		cap_bos = cap;
	}
	if (!b)
		return NULL;
	if (id >= nr_bos)
		nr_bos = id + 1;
	lowest_free = id + 1;
	b->id = id;
	b->refs = 1;
	b->file = -1;
	bos[id] = b;
	return b;
}

static uint64_t limit(void)
{
	return knobs.vram_mb << 20;
}

static bool is_memory(const struct bo *b)
{
	return b->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT);
}

static void put_bo(struct bo *b)
{
	if (--b->refs)
		return;
	if (b->foreign)
		syscall(SYS_close, b->file);
	else if (is_memory(b)) {
		if (b->flags & KFD_MEMORY_VRAM)
			used[b->gpu] -= b->size;
		/* what was exported lives on as long as others have it, which the file does not
		 * tell: it is freed with the file */
		if (!b->exported)
			(void)fallocate(b->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)b->at, (off_t)b->size);
	}
	bos[b->id] = NULL;
	if (b->id < lowest_free)
		lowest_free = b->id;
	free(b);
}

/* For a descriptor of a render node. */
static uint64_t mmap_offset(const struct bo *b)
{
	return b->foreign ? FOREIGN_AT + ((uint64_t)b->id << FOREIGN_SHIFT) : b->at;
}

/* An offset for the memory in the file of its GPU. */
static int put_in_file(struct bo *b)
{
	int file = node_file((struct node){ NODE_RENDER, b->gpu });
	uint64_t at;

	if (file < 0)
		return file;
	/* offsets are used once: the file is sparse, and its 2^60 bytes do not run out. Large
	 * allocations begin at a huge page. */
	at = file_end[b->gpu] + PAGE;
	if (b->size >= 2 << 20)
		at = (at + (2 << 20) - 1) & ~((2ull << 20) - 1);
	if (at + b->size > FOREIGN_AT)
		return -ENOMEM;
	file_end[b->gpu] = at + b->size;
	b->file = file;
	b->at = at;
	return 0;
}

static int alloc_locked(struct kfd_alloc_memory *args, unsigned int gpu)
{
	struct bo *b;
	int err = 0;

	if ((args->flags & KFD_MEMORY_VRAM) && used[gpu] + args->size > limit())
		return -ENOMEM;
	b = new_bo();
	if (!b)
		return -ENOMEM;
	b->gpu = gpu;
	b->flags = args->flags;
	b->va = args->va;
	b->size = args->size;
	if (is_memory(b))
		err = put_in_file(b);
	else if (b->flags & KFD_MEMORY_USERPTR)
		b->at = args->mmap_offset;
	if (err) {
		b->flags = 0;
		put_bo(b);
		return err;
	}
	if (b->flags & KFD_MEMORY_VRAM)
		used[gpu] += b->size;
	args->handle = (uint64_t)args->gpu_id << 32 | b->id;
	if (is_memory(b))
		args->mmap_offset = b->at;
	else if (b->flags & KFD_MEMORY_DOORBELL)
		args->mmap_offset = DOORBELLS_OFFSET(gpu);
	else if (b->flags & KFD_MEMORY_MMIO)
		args->mmap_offset = MMIO_AT;
	return 0;
}

int memory_request_alloc(struct kfd_alloc_memory *args)
{
	uint32_t kinds = args->flags & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT | KFD_MEMORY_USERPTR |
					KFD_MEMORY_DOORBELL | KFD_MEMORY_MMIO);
	int gpu = driver_gpu(args->gpu_id), err;

	if (gpu < 0 || !args->size || !kinds || (kinds & (kinds - 1)))
		return -EINVAL;
	if ((kinds & (KFD_MEMORY_VRAM | KFD_MEMORY_GTT)) &&
	    fault_match(FAULT_ALLOC, &(struct fault_event){ kinds & KFD_MEMORY_VRAM ? gpu : -1, -1,
							    args->size, false })) {
		log_fault(&(struct log_where){ .gpu = (unsigned int)gpu }, fault_name(FAULT_ALLOC),
			  args->size);
		return -ENOMEM;
	}
	args->size = (args->size + PAGE - 1) & ~(PAGE - 1);
	pthread_mutex_lock(&lock);
	err = alloc_locked(args, (unsigned int)gpu);
	pthread_mutex_unlock(&lock);
	return err;
}

int memory_request_free(uint64_t handle)
{
	struct bo *b;
	int err = 0;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (!b)
		err = -EINVAL;
	else if (b->gpus)
		err = -EBUSY;
	else
		put_bo(b);
	pthread_mutex_unlock(&lock);
	return err;
}

/* Maps part of it at `va` for the host, whatever access the program has asked for there: the engine
 * needs it. */
static int map_host(const struct bo *b, uint64_t va, uint64_t offset, uint64_t size)
{
	return mmap(at_address(va), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, b->file,
		    (off_t)(b->at + offset)) == MAP_FAILED ?
		       -errno :
		       0;
}

static int map_first(struct bo *b)
{
	int err;

	if (b->flags & KFD_MEMORY_USERPTR)
		return add_range(b->va, b->size, b->at - b->va);
	if (b->file < 0)
		return 0;
	err = map_host(b, b->va, 0, b->size);
	return err ? err : add_range(b->va, b->size, 0);
}

/* The bit of each GPU in a list of their numbers; 0: one is unknown. */
static uint32_t gpu_bits(const struct kfd_map_memory *args)
{
	const uint32_t *ids = at_address(args->gpu_ids_ptr);
	uint32_t bits = 0;

	for (uint32_t i = 0; i < args->nr_gpus; i++) {
		int gpu = driver_gpu(ids[i]);

		if (gpu < 0)
			return 0;
		bits |= 1u << gpu;
	}
	return bits;
}

int memory_request_map(struct kfd_map_memory *args)
{
	uint32_t bits = gpu_bits(args);
	struct bo *b;
	int err = 0;

	if (!bits)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	b = find_bo(args->handle);
	if (!b)
		err = -EINVAL;
	else if (!b->gpus)
		err = map_first(b);
	if (!err) {
		b->gpus |= bits;
		args->nr_done = args->nr_gpus;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

int memory_request_unmap(struct kfd_map_memory *args)
{
	uint32_t bits = gpu_bits(args);
	struct bo *b;
	int err = 0;

	if (!bits)
		return -EINVAL;
	engine_lock();
	pthread_mutex_lock(&lock);
	b = find_bo(args->handle);
	if (!b) {
		err = -EINVAL;
	} else {
		if (b->gpus && !(b->gpus &= ~bits))
			drop_range(b->va);
		args->nr_done = args->nr_gpus;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	return err;
}

uint64_t memory_used(unsigned int gpu)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = used[gpu];
	pthread_mutex_unlock(&lock);
	return n;
}

uint64_t memory_available(unsigned int gpu)
{
	return limit() - memory_used(gpu);
}

/* ---- user memory at its own address ---------------------------------------------------------- */

static bool grants(const struct kfd_svm *args)
{
	for (uint32_t i = 0; i < args->nr; i++) {
		if (args->attributes[i].type == KFD_SVM_ACCESS ||
		    args->attributes[i].type == KFD_SVM_ACCESS_AS_IS)
			return true;
	}
	return false;
}

static bool refuses(const struct kfd_svm *args)
{
	for (uint32_t i = 0; i < args->nr; i++) {
		if (args->attributes[i].type == KFD_SVM_NO_ACCESS)
			return true;
	}
	return false;
}

/* What the driver has where nothing was set. */
static void get_svm(struct kfd_svm *args)
{
	for (uint32_t i = 0; i < args->nr; i++) {
		struct kfd_svm_attribute *a = &args->attributes[i];

		switch (a->type) {
		case KFD_SVM_PREFERRED:
		case KFD_SVM_PREFETCH:
			a->value = UINT32_MAX; /* undefined */
			break;
		case KFD_SVM_ACCESS:
			a->type = range_of(args->start) ? KFD_SVM_ACCESS : KFD_SVM_NO_ACCESS;
			break;
		case KFD_SVM_GRANULARITY:
			a->value = 9;
			break;
		default:
			a->value = 0;
		}
	}
}

/* Attributes are set once more for memory that has them: the range counts once, and ends with the
 * first refusal. */
int memory_request_svm(struct kfd_svm *args, size_t size)
{
	int err = 0;

	if (size < sizeof(*args) ||
	    (size - sizeof(*args)) / sizeof(args->attributes[0]) < args->nr || !args->size ||
	    (args->start | args->size) & (PAGE - 1))
		return -EINVAL;
	if (args->op != KFD_SVM_SET && args->op != KFD_SVM_GET)
		return -EINVAL;
	engine_lock();
	pthread_mutex_lock(&lock);
	if (args->op == KFD_SVM_GET) {
		get_svm(args);
	} else if (refuses(args)) {
		drop_range(args->start);
	} else if (grants(args)) {
		struct range *r = range_at(args->start);

		if (!r || r->size < args->size)
			err = add_range(args->start, args->size, 0);
		r = range_at(args->start);
		if (r)
			r->refs = 1;
	}
	pthread_mutex_unlock(&lock);
	engine_unlock();
	return err;
}

/* ---- memory for other processes, and for libdrm --------------------------------------------- */

/* The page before it says what it is from now on. */
static int mark_exported(struct bo *b)
{
	struct shared page = { .magic = MAGIC, .size = b->size, .flags = b->flags, .gpu = b->gpu };

	if (b->file < 0)
		return -EINVAL;
	/* of memory that was exported before it may have metadata already */
	if (!b->exported && !b->foreign &&
	    pwrite(b->file, &page, sizeof(page), (off_t)(b->at - PAGE)) != (ssize_t)sizeof(page))
		return -ENOMEM;
	b->exported = true;
	return 0;
}

/* A descriptor of a file, with this position. */
static int open_at(const char *path, uint64_t at, int flags)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | (flags & O_CLOEXEC), 0);

	if (fd < 0)
		return -errno;
	if (lseek(fd, (off_t)at, SEEK_SET) < 0) {
		syscall(SYS_close, fd);
		return -EIO;
	}
	return fd;
}

static int export_locked(struct bo *b, int flags)
{
	char path[64];
	int err = mark_exported(b);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->file);
	return open_at(path, b->at, flags);
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !syscall(SYS_newfstatat, a, "", &x, AT_EMPTY_PATH) &&
	       !syscall(SYS_newfstatat, b, "", &y, AT_EMPTY_PATH) && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

/* The memory that a descriptor stands for, if it is of this process or is known already. */
static struct bo *known(int fd, uint64_t at)
{
	for (uint32_t i = 1; i < nr_bos; i++) {
		if (bos[i] && bos[i]->file >= 0 && bos[i]->at == at && bos[i]->exported &&
		    same_file(fd, bos[i]->file))
			return bos[i];
	}
	return NULL;
}

/* The position of a descriptor of the kind that export_locked() makes, and what is there. */
static int read_shared(int fd, uint64_t *at, struct shared *page)
{
	off_t pos = lseek(fd, 0, SEEK_CUR);

	if (pos < (off_t)PAGE || ((uint64_t)pos & (PAGE - 1)) ||
	    pread(fd, page, sizeof(*page), pos - (off_t)PAGE) != (ssize_t)sizeof(*page) ||
	    page->magic != MAGIC)
		return -EINVAL;
	*at = (uint64_t)pos;
	return 0;
}

/* As of the kernel's descriptors of exported memory: its end is the memory's, and it has no
 * position to set. libdrm asks for the size in this way. */
int64_t memory_seek(int fd, int whence)
{
	struct shared page;
	struct stat st;
	uint64_t at;

	if (syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) ||
	    st.st_size != (off_t)FOREIGN_AT || read_shared(fd, &at, &page))
		return -1;
	return whence == SEEK_END ? (int64_t)page.size : 0;
}

/* A reference to the memory that a descriptor stands for. */
static int import_locked(int fd, struct bo **out)
{
	struct shared page;
	struct bo *b;
	uint64_t at;
	int err = read_shared(fd, &at, &page);

	if (err)
		return err;
	b = known(fd, at);
	if (b) {
		b->refs++;
		*out = b;
		return 0;
	}
	b = new_bo();
	if (!b)
		return -ENOMEM;
	b->foreign = b->exported = true;
	b->file = fcntl(fd, F_DUPFD_CLOEXEC, 512);
	if (b->file < 0)
		b->file = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	b->at = at;
	b->size = page.size;
	b->flags = page.flags;
	b->gpu = page.gpu < knobs.devices ? page.gpu : 0;
	if (b->file < 0) {
		b->foreign = false;
		b->flags = 0;
		put_bo(b);
		return -EMFILE;
	}
	*out = b;
	return 0;
}

int memory_request_export(struct kfd_export_dmabuf *args)
{
	struct bo *b;
	int fd;

	pthread_mutex_lock(&lock);
	b = find_bo(args->handle);
	fd = b ? export_locked(b, (int)args->flags) : -EINVAL;
	pthread_mutex_unlock(&lock);
	if (fd < 0)
		return fd;
	args->fd = (uint32_t)fd;
	return 0;
}

int memory_request_dmabuf_info(struct kfd_dmabuf_info *args)
{
	struct shared page;
	uint64_t at;
	int err = read_shared((int)args->fd, &at, &page);

	if (err)
		return err;
	if (args->metadata_ptr && args->metadata_size < page.metadata.size)
		return -EINVAL;
	args->size = page.size;
	args->flags = page.flags;
	args->gpu_id = gpu_number(page.gpu < knobs.devices ? page.gpu : 0);
	args->metadata_size = page.metadata.size;
	if (args->metadata_ptr)
		memcpy(at_address(args->metadata_ptr), page.metadata.words, page.metadata.size);
	return 0;
}

/* The memory gets an address of its own in the importer: a second number for it if it has one. */
static int import_for(int fd, uint64_t va, struct bo **out)
{
	struct bo *b, *copy;
	int err = import_locked(fd, &b);

	if (err)
		return err;
	if (b->va) {
		copy = new_bo();
		if (copy) {
			uint32_t id = copy->id;

			*copy = *b;
			copy->id = id;
			copy->refs = 1;
			copy->gpus = 0;
			copy->foreign = true;
			copy->file = fcntl(b->file, F_DUPFD_CLOEXEC, 512);
		}
		put_bo(b);
		b = copy;
		if (!copy)
			return -ENOMEM;
	}
	b->va = va;
	*out = b;
	return 0;
}

int memory_request_import(struct kfd_import_dmabuf *args)
{
	struct bo *b;
	int err;

	if (driver_gpu(args->gpu_id) < 0)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	err = import_for((int)args->fd, args->va, &b);
	if (!err)
		args->handle = (uint64_t)args->gpu_id << 32 | b->id;
	pthread_mutex_unlock(&lock);
	return err;
}

/* What AMD's driver has in a table of its own is in the handle: the process and its file, and where
 * the memory is in it. */
int memory_request_ipc_export(struct kfd_ipc_export *args)
{
	struct bo *b;
	int err;

	pthread_mutex_lock(&lock);
	b = find_bo(args->handle);
	err = b ? mark_exported(b) : -EINVAL;
	if (!err) {
		args->share_handle[0] = (uint32_t)getpid();
		args->share_handle[1] = (uint32_t)b->file;
		args->share_handle[2] = (uint32_t)b->at;
		args->share_handle[3] = (uint32_t)(b->at >> 32);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

int memory_request_ipc_import(struct kfd_ipc_import *args)
{
	const uint32_t *h = args->share_handle;
	char path[64];
	struct bo *b;
	int fd, err;

	if (driver_gpu(args->gpu_id) < 0)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", h[0], h[1]);
	fd = open_at(path, h[2] | (uint64_t)h[3] << 32, O_CLOEXEC);
	if (fd < 0)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	err = import_for(fd, args->va, &b);
	if (!err) {
		args->handle = (uint64_t)args->gpu_id << 32 | b->id;
		args->mmap_offset = mmap_offset(b);
		args->flags = b->flags;
	}
	pthread_mutex_unlock(&lock);
	syscall(SYS_close, fd);
	return err;
}

int memory_gem_import(int fd, uint32_t *handle)
{
	struct bo *b;
	int err;

	pthread_mutex_lock(&lock);
	err = import_locked(fd, &b);
	if (!err)
		*handle = b->id;
	pthread_mutex_unlock(&lock);
	return err;
}

int memory_gem_export(uint32_t handle, int flags, int *fd)
{
	struct bo *b;
	int out;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	out = b ? export_locked(b, flags) : -ENOENT;
	pthread_mutex_unlock(&lock);
	if (out < 0)
		return out;
	*fd = out;
	return 0;
}

int memory_gem_close(uint32_t handle)
{
	struct bo *b;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (b)
		put_bo(b);
	pthread_mutex_unlock(&lock);
	return b ? 0 : -EINVAL;
}

int memory_gem_map(uint32_t handle, uint64_t va, uint64_t offset, uint64_t size)
{
	struct bo *b;
	int err = -ENOENT;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (b && b->file >= 0)
		err = !size || offset > b->size || size > b->size - offset ?
			      -EINVAL :
			      map_host(b, va, offset, size);
	if (!err)
		err = add_range(va, size, 0);
	pthread_mutex_unlock(&lock);
	return err;
}

/* Another GPU may have it still: then it stays. */
int memory_gem_unmap(uint64_t va, uint64_t size)
{
	bool last;

	engine_lock();
	pthread_mutex_lock(&lock);
	last = drop_range(va);
	pthread_mutex_unlock(&lock);
	engine_unlock();
	if (last &&
	    mmap(at_address(va), size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return -errno;
	return 0;
}

int memory_gem_offset(uint32_t handle, uint64_t *offset)
{
	struct bo *b;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (b)
		*offset = mmap_offset(b);
	pthread_mutex_unlock(&lock);
	return b ? 0 : -ENOENT;
}

static bool mmap_doorbells(uint64_t offset, int *fd, uint64_t *at)
{
	int gpu = driver_gpu(OFFSET_GPU(offset)), file;

	file = gpu < 0 ? -1 : node_file((struct node){ NODE_KFD, 0 });
	if (file < 0)
		return false;
	*fd = file;
	*at = DOORBELLS_AT(gpu) + (offset & (DOORBELLS_SIZE - 1));
	return true;
}

bool memory_mmap(uint64_t offset, int *fd, uint64_t *at)
{
	struct bo *b;

	if (offset < FOREIGN_AT)
		return false;
	if ((offset & DOORBELLS_TYPE) == DOORBELLS_TYPE)
		return mmap_doorbells(offset, fd, at);
	pthread_mutex_lock(&lock);
	b = find_bo((offset - FOREIGN_AT) >> FOREIGN_SHIFT);
	if (b) {
		*fd = b->file;
		*at = b->at + (offset & ((1ull << FOREIGN_SHIFT) - 1));
	}
	pthread_mutex_unlock(&lock);
	return b != NULL;
}

int memory_gem_facts(uint32_t handle, struct memory_facts *out)
{
	struct bo *b;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (b)
		*out = (struct memory_facts){ .size = b->size,
					      .is_vram = b->flags & KFD_MEMORY_VRAM };
	pthread_mutex_unlock(&lock);
	return b ? 0 : -ENOENT;
}

/*
 * What is attached to memory, for all processes that have it. The runtime keeps a number there, by
 * which it knows that a handle of IPC is of this memory and not of what was there before.
 */
int memory_gem_metadata(uint32_t handle, bool set, struct drm_metadata *data)
{
	struct bo *b;
	int err = -ENOENT;

	pthread_mutex_lock(&lock);
	b = find_bo(handle);
	if (b && b->file >= 0) {
		off_t at = (off_t)(b->at - PAGE + offsetof(struct shared, metadata));
		ssize_t n = set ? pwrite(b->file, data, sizeof(*data), at) :
				  pread(b->file, data, sizeof(*data), at);

		err = n == (ssize_t)sizeof(*data) ? 0 : -EIO;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void memory_lock(void)
{
	pthread_mutex_lock(&lock);
}

/* In a child of fork() all is its parent's. */
static void forget(void)
{
	for (uint32_t i = 1; i < nr_bos; i++) {
		if (bos[i] && bos[i]->foreign)
			syscall(SYS_close, bos[i]->file);
		free(bos[i]);
	}
	memset(bos, 0, nr_bos * sizeof(*bos));
	memset(file_end, 0, sizeof(file_end));
	memset(used, 0, sizeof(used));
	nr_bos = 0;
	lowest_free = 1;
	nr_ranges = 0;
	__atomic_fetch_add(&host_generation, 1, __ATOMIC_ACQ_REL);
}

void memory_unlock(bool child)
{
	if (child && bos)
		forget();
	pthread_mutex_unlock(&lock);
}
