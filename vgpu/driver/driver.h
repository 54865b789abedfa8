/* SPDX-License-Identifier: MIT */
/* driver.h - the kernel driver that libvgpu.so stands for: what its files share
 *
 * There are two libraries. libvgpu.so is preloaded into each process, and has what decides whether
 * a call is for the driver: files.c, nodes.c, tree.c. It loads libvgpu_engine.so, which has all
 * else, when a device is first opened: other processes have neither its memory nor the libraries
 * that it needs.
 *
 * A request returns 0 or a value of its own, or -errno, as the driver's functions in the kernel do.
 * GPUs are numbered from 0 on.
 */
#ifndef VGPU_DRIVER_DRIVER_H
#define VGPU_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The text of `path` behind `start`; NULL: it begins otherwise. For what is called with each path
 * of the program: strncmp() may be a function of the program's, or of a sanitizer's that has not
 * been set up yet. */
static inline const char *driver_behind(const char *path, const char *start)
{
	while (*start)
		if (*path++ != *start++)
			return (const char *)0;
	return path;
}

/* ---- process.c ------------------------------------------------------------------------------ */

/* Before a process has a descriptor of a device; the first call reads the settings. Any thread. */
void driver_start(void);

/* The GPU with this number of the kernel's; -1: none has. */
int driver_gpu(uint32_t gpu_id);

/* ---- nodes.c: descriptors of /dev/kfd and /dev/dri/renderD* --------------------------------- */

enum node_kind { NODE_NONE, NODE_KFD, NODE_RENDER };

struct node {
	enum node_kind kind;
	unsigned int gpu; /* of a render node */
};

/* The device that a path names. */
struct node node_of_path(const char *path);

/* Opens it with the flags of open(2); a descriptor, or -errno. */
int node_open(struct node node, int flags);

/* What a descriptor is; it may have been duplicated, inherited or received. Cheap while no device
 * was opened. */
struct node node_of_fd(int fd);

/* Whether a descriptor that node_of_fd() does not know is of a device that another process opened:
 * its parent, say. */
bool node_is_foreign(int fd);

/* Whether this process opened the devices. A child of vfork() or clone() in which no handler of
 * pthread_atfork() ran has the tables of its parent, but none of its threads. */
bool nodes_are_own(void);

/* In a forked child: what it has is its parent's. */
void nodes_forget(void);

/* The path of a device, as /proc/self/fd shows it. */
void node_path(struct node node, char *out, size_t size);

/* The kernel's number of a device file. */
dev_t node_device(struct node node);

/*
 * The file that the memory of a GPU is in: a render node's descriptors are of this file, so that
 * mmap() needs no help. Doorbells are in the file of /dev/kfd. -errno: it can't be made, or the
 * program has closed it. Not the caller's to close.
 */
int node_file(struct node node);

/* ---- between the two libraries -------------------------------------------------------------- */

/* What the engine's library asks of the preloaded one. */
struct driver_front {
	int (*node_file)(struct node node);
	struct node (*node_of_fd)(int fd);
	void (*forget_nodes)(void);
};

/* What the preloaded library asks of the engine's. */
struct driver_engine {
	/* A request of /dev/kfd or of a render node; `size`: bytes at `arg`. */
	int (*kfd_request)(unsigned int number, void *arg, size_t size);
	int (*drm_request)(unsigned int gpu, unsigned int number, void *arg, size_t size);
	/* The file and the offset in it behind an offset of mmap() that is not in the render node's
	 * file; false: it is there. */
	bool (*mmap)(uint64_t offset, int *fd, uint64_t *at);
	/* What lseek(fd, 0, whence) is of a descriptor of exported memory; -1: it is of none. */
	int64_t (*seek)(int fd, int whence);
	/* Bytes of a GPU's memory that this process uses. */
	uint64_t (*memory_used)(unsigned int gpu);
	/* Before a device is opened. */
	void (*start)(void);
};

/* The one function that libvgpu_engine.so exports. `front` is constant. */
const struct driver_engine *vgpu_engine(const struct driver_front *front);

/* ---- what a device does --------------------------------------------------------------------- */

int kfd_request(unsigned int number, void *arg, size_t size);
int drm_request(unsigned int gpu, unsigned int number, void *arg, size_t size);
void kfd_forked(void);

/* From here on an offset is not one in the file of the descriptor: memory_mmap(). */
#define FOREIGN_AT (1ull << 60)

/* The offset of a GPU's doorbells for mmap(), as the kernel makes it: thunks take the offset in the
 * page from its low bits, some with a mask that is larger than the page. */
#define DOORBELLS_TYPE (3ull << 62)
#define DOORBELLS_OFFSET(gpu) (DOORBELLS_TYPE | (uint64_t)gpu_number(gpu) << 46)
#define OFFSET_GPU(offset) ((uint32_t)((offset) >> 46 & 0xffff))

/* Where in the file of /dev/kfd a GPU's doorbells are, a slot of 8 bytes for each queue; a page
 * that takes stores behind them. */
#define DOORBELLS_SIZE 8192ull
#define DOORBELL_SLOTS (DOORBELLS_SIZE / 8)
#define DOORBELLS_AT(gpu) ((uint64_t)(gpu)*DOORBELLS_SIZE)
#define MMIO_AT DOORBELLS_AT(KNOBS_DEVICES_MAX)

/* smi.c: a descriptor of a GPU's events, or -errno; a memory fault by a GPU; in a forked child. */
int smi_open(unsigned int gpu);
void smi_fault(unsigned int gpu);
void smi_forked(void);

/* queue.c */
struct kfd_create_queue;
struct kfd_update_queue;
int queue_request_create(struct kfd_create_queue *args);
int queue_request_update(const struct kfd_update_queue *args);
int queue_request_destroy(uint32_t id);
void queue_forked(void);

/* event.c */
struct kfd_create_event;
struct kfd_wait_events;
int event_request_create(struct kfd_create_event *args);
int event_request_destroy(uint32_t id);
int event_request_set(uint32_t id);
int event_request_reset(uint32_t id);
int event_request_wait(struct kfd_wait_events *args);
void event_lock(void);
void event_unlock(bool child);

/* memory.c */
struct kfd_alloc_memory;
struct kfd_map_memory;
struct kfd_svm;
struct kfd_dmabuf_info;
struct kfd_import_dmabuf;
struct kfd_export_dmabuf;
struct kfd_ipc_import;
struct kfd_ipc_export;
int memory_request_alloc(struct kfd_alloc_memory *args);
int memory_request_free(uint64_t handle);
int memory_request_map(struct kfd_map_memory *args);
int memory_request_unmap(struct kfd_map_memory *args);
int memory_request_svm(struct kfd_svm *args, size_t size);
int memory_request_dmabuf_info(struct kfd_dmabuf_info *args);
int memory_request_import(struct kfd_import_dmabuf *args);
int memory_request_export(struct kfd_export_dmabuf *args);
int memory_request_ipc_import(struct kfd_ipc_import *args);
int memory_request_ipc_export(struct kfd_ipc_export *args);
uint64_t memory_available(unsigned int gpu);
uint64_t memory_used(unsigned int gpu);

/* Memory by its number, as libdrm uses it. Any thread. */
struct drm_metadata;
struct memory_facts {
	uint64_t size;
	bool is_vram;
};
int memory_gem_import(int fd, uint32_t *handle);
int memory_gem_export(uint32_t handle, int flags, int *fd);
int memory_gem_close(uint32_t handle);
int memory_gem_map(uint32_t handle, uint64_t va, uint64_t offset, uint64_t size);
int memory_gem_unmap(uint64_t va, uint64_t size);
int memory_gem_offset(uint32_t handle, uint64_t *offset);
int memory_gem_facts(uint32_t handle, struct memory_facts *out);
int memory_gem_metadata(uint32_t handle, bool set, struct drm_metadata *data);

bool memory_mmap(uint64_t offset, int *fd, uint64_t *at);
int64_t memory_seek(int fd, int whence);

void memory_lock(void);
void memory_unlock(bool child);

#endif
