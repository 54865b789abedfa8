/* SPDX-License-Identifier: MIT */
/* kfd_abi.h - what programs ask of /dev/kfd: the requests of the kernel driver's interface 1.17
 *
 * The names without their prefix and the layouts are those of linux/kfd_ioctl.h. That header is not
 * included: Debian's copies of it differ by release, and all of them include drm/drm.h, which is in
 * another package. Later interfaces only add members at the end of an
 * argument: the request's number says how many bytes a program has.
 */
#ifndef VGPU_DRIVER_KFD_ABI_H
#define VGPU_DRIVER_KFD_ABI_H

#include <assert.h>
#include <stdint.h>

#define KFD_MAJOR 1
#define KFD_MINOR 17

#define KFD_TYPE 'K'

enum kfd_request {
	KFD_GET_VERSION = 0x01,
	KFD_CREATE_QUEUE = 0x02,
	KFD_DESTROY_QUEUE = 0x03,
	KFD_SET_MEMORY_POLICY = 0x04,
	KFD_GET_CLOCK_COUNTERS = 0x05,
	KFD_GET_PROCESS_APERTURES = 0x06,
	KFD_UPDATE_QUEUE = 0x07,
	KFD_CREATE_EVENT = 0x08,
	KFD_DESTROY_EVENT = 0x09,
	KFD_SET_EVENT = 0x0a,
	KFD_RESET_EVENT = 0x0b,
	KFD_WAIT_EVENTS = 0x0c,
	KFD_SET_SCRATCH_BACKING_VA = 0x11,
	KFD_GET_TILE_CONFIG = 0x12,
	KFD_SET_TRAP_HANDLER = 0x13,
	KFD_GET_PROCESS_APERTURES_NEW = 0x14,
	KFD_ACQUIRE_VM = 0x15,
	KFD_ALLOC_MEMORY = 0x16,
	KFD_FREE_MEMORY = 0x17,
	KFD_MAP_MEMORY = 0x18,
	KFD_UNMAP_MEMORY = 0x19,
	KFD_SET_CU_MASK = 0x1a,
	KFD_GET_QUEUE_WAVE_STATE = 0x1b,
	KFD_GET_DMABUF_INFO = 0x1c,
	KFD_IMPORT_DMABUF = 0x1d,
	KFD_ALLOC_QUEUE_GWS = 0x1e,
	KFD_SMI_EVENTS = 0x1f,
	KFD_SVM = 0x20,
	KFD_SET_XNACK_MODE = 0x21,
	KFD_AVAILABLE_MEMORY = 0x23,
	KFD_EXPORT_DMABUF = 0x24,
	KFD_RUNTIME_ENABLE = 0x25,
	/* of AMD's own build of the driver alone; thunks before 6.4 share memory by them */
	KFD_IPC_IMPORT = 0x80,
	KFD_IPC_EXPORT = 0x81,
};

enum kfd_queue_type {
	KFD_QUEUE_COMPUTE,
	KFD_QUEUE_SDMA,
	KFD_QUEUE_AQL,
	KFD_QUEUE_SDMA_XGMI,
	KFD_QUEUE_SDMA_BY_ENGINE,
};

enum kfd_event_type {
	KFD_EVENT_SIGNAL = 0,
	KFD_EVENT_HW_EXCEPTION = 3,
	KFD_EVENT_MEMORY = 8,
};

enum kfd_wait_result { KFD_WAIT_COMPLETE, KFD_WAIT_TIMEOUT, KFD_WAIT_FAIL };

enum kfd_memory_flag {
	KFD_MEMORY_VRAM = 1u << 0,
	KFD_MEMORY_GTT = 1u << 1,
	KFD_MEMORY_USERPTR = 1u << 2,
	KFD_MEMORY_DOORBELL = 1u << 3,
	KFD_MEMORY_MMIO = 1u << 4,
};

struct kfd_get_version {
	uint32_t major, minor;
};

struct kfd_create_queue {
	uint64_t ring_base, write_pointer, read_pointer, doorbell_offset;
	uint32_t ring_size, gpu_id, queue_type, percentage, priority, queue_id;
	uint64_t eop_base, eop_size, ctx_save_restore;
	uint32_t ctx_save_restore_size, ctl_stack_size;
	uint32_t sdma_engine_id, pad; /* since 1.17 */
};
#define KFD_CREATE_QUEUE_BEFORE_1_17 88
static_assert(sizeof(struct kfd_create_queue) == 96, "as the kernel has it");

struct kfd_queue_id { /* DESTROY_QUEUE */
	uint32_t queue_id, pad;
};

struct kfd_update_queue {
	uint64_t ring_base;
	uint32_t queue_id, ring_size, percentage, priority;
};

struct kfd_set_cu_mask {
	uint32_t queue_id, num_cu_mask;
	uint64_t cu_mask_ptr;
};

struct kfd_queue_wave_state {
	uint64_t ctl_stack;
	uint32_t ctl_stack_used, save_area_used, queue_id, pad;
};

struct kfd_available_memory {
	uint64_t available;
	uint32_t gpu_id, pad;
};

struct kfd_memory_policy {
	uint64_t alternate_base, alternate_size;
	uint32_t gpu_id, default_policy, alternate_policy, pad;
};

struct kfd_clock_counters {
	uint64_t gpu, cpu, system, system_hz;
	uint32_t gpu_id, pad;
};

struct kfd_aperture {
	uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
	uint32_t gpu_id, pad;
};

#define KFD_APERTURES_OLD 7
struct kfd_apertures {
	struct kfd_aperture at[KFD_APERTURES_OLD];
	uint32_t num_of_nodes, pad;
};
static_assert(sizeof(struct kfd_apertures) == 400, "as the kernel has it");

struct kfd_apertures_new {
	uint64_t apertures_ptr;
	uint32_t num_of_nodes, pad;
};

struct kfd_create_event {
	uint64_t page_offset; /* in: the first time, the handle of the events' page */
	uint32_t trigger_data, event_type, auto_reset, node_id, event_id, slot_index;
};

struct kfd_event_id { /* DESTROY_EVENT, SET_EVENT, RESET_EVENT */
	uint32_t event_id, pad;
};

struct kfd_memory_exception {
	uint32_t not_present, read_only, no_execute, imprecise;
	uint64_t va;
	uint32_t gpu_id, error_type;
};

struct kfd_event_data {
	union {
		struct kfd_memory_exception memory;
		struct {
			uint32_t reset_type, reset_cause, memory_lost, gpu_id;
		} hw;
		struct {
			uint64_t last_event_age; /* since 1.14 */
		} signal;
	};
	uint64_t ext;
	uint32_t event_id, pad;
};
static_assert(sizeof(struct kfd_event_data) == 48, "as the kernel has it");

struct kfd_wait_events {
	uint64_t events_ptr;
	uint32_t num_events, wait_for_all, timeout_ms, result;
};

struct kfd_scratch_backing {
	uint64_t va;
	uint32_t gpu_id, pad;
};

struct kfd_tile_config {
	uint64_t tile_config_ptr, macro_tile_config_ptr;
	uint32_t num_tile_configs, num_macro_tile_configs, gpu_id, gb_addr_config, num_banks,
		num_ranks;
};

struct kfd_trap_handler {
	uint64_t tba, tma;
	uint32_t gpu_id, pad;
};

struct kfd_acquire_vm {
	uint32_t drm_fd, gpu_id;
};

struct kfd_alloc_memory {
	uint64_t va, size, handle, mmap_offset;
	uint32_t gpu_id, flags;
};

struct kfd_memory_handle { /* FREE_MEMORY */
	uint64_t handle;
};

struct kfd_map_memory { /* MAP_MEMORY, UNMAP_MEMORY */
	uint64_t handle, gpu_ids_ptr;
	uint32_t nr_gpus, nr_done;
};

struct kfd_queue_gws {
	uint32_t queue_id, num_gws, first_gws, pad;
};

struct kfd_dmabuf_info {
	uint64_t size, metadata_ptr;
	uint32_t metadata_size, gpu_id, flags, fd;
};

struct kfd_ipc_import {
	uint64_t handle, va, mmap_offset;
	uint32_t share_handle[4], gpu_id, flags;
};
static_assert(sizeof(struct kfd_ipc_import) == 48, "as AMD's driver has it");

struct kfd_ipc_export {
	uint64_t handle;
	uint32_t share_handle[4], gpu_id, flags;
};
static_assert(sizeof(struct kfd_ipc_export) == 32, "as AMD's driver has it");

struct kfd_import_dmabuf {
	uint64_t va, handle;
	uint32_t gpu_id, fd;
};

struct kfd_export_dmabuf {
	uint64_t handle;
	uint32_t flags, fd;
};

struct kfd_smi_events {
	uint32_t gpu_id, fd;
};

enum kfd_svm_op { KFD_SVM_SET, KFD_SVM_GET };

enum kfd_svm_type {
	KFD_SVM_PREFERRED,
	KFD_SVM_PREFETCH,
	KFD_SVM_ACCESS,
	KFD_SVM_ACCESS_AS_IS,
	KFD_SVM_NO_ACCESS,
	KFD_SVM_SET_FLAGS,
	KFD_SVM_CLR_FLAGS,
	KFD_SVM_GRANULARITY,
};

struct kfd_svm_attribute {
	uint32_t type, value;
};

struct kfd_svm {
	uint64_t start, size;
	uint32_t op, nr;
	struct kfd_svm_attribute attributes[];
};

struct kfd_xnack_mode {
	int32_t enabled;
};

struct kfd_runtime_enable {
	uint64_t r_debug;
	uint32_t mode_mask, capabilities;
};

/* The begin of a queue's save area, which the thunk fills before it creates the queue. */
struct kfd_save_area {
	uint32_t control_stack_offset, control_stack_size, wave_state_offset, wave_state_size;
	uint32_t debug_offset, debug_size;
	uint64_t error_reason; /* address of a 64-bit mask of exceptions */
	uint32_t error_event, pad;
};
static_assert(sizeof(struct kfd_save_area) == 40, "as the kernel has it");

#endif
