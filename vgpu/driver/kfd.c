/* SPDX-License-Identifier: MIT */
/* kfd.c - the requests of /dev/kfd
 *
 * A request is known by its number. Its size is the program's: an argument may be shorter than
 * today's, then the rest is 0, or longer, then the rest is left alone, as in the kernel.
 *
 * Threads:  any.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../engine/clock.h"
#include "../engine/gpu.h"
#include "../engine/knobs.h"
#include "../engine/log.h"
#include "driver.h"
#include "kfd_abi.h"

static bool reported[KNOBS_DEVICES_MAX]; /* atomic; in the log of this process */

union argument {
	struct kfd_get_version version;
	struct kfd_create_queue create_queue;
	struct kfd_queue_id queue_id;
	struct kfd_update_queue update_queue;
	struct kfd_set_cu_mask cu_mask;
	struct kfd_queue_wave_state wave_state;
	struct kfd_available_memory available_memory;
	struct kfd_memory_policy memory_policy;
	struct kfd_clock_counters clock_counters;
	struct kfd_apertures apertures;
	struct kfd_apertures_new apertures_new;
	struct kfd_create_event create_event;
	struct kfd_event_id event_id;
	struct kfd_wait_events wait_events;
	struct kfd_scratch_backing scratch_backing;
	struct kfd_tile_config tile_config;
	struct kfd_trap_handler trap_handler;
	struct kfd_acquire_vm acquire_vm;
	struct kfd_alloc_memory alloc_memory;
	struct kfd_memory_handle memory_handle;
	struct kfd_map_memory map_memory;
	struct kfd_queue_gws gws;
	struct kfd_dmabuf_info dmabuf_info;
	struct kfd_import_dmabuf import_dmabuf;
	struct kfd_export_dmabuf export_dmabuf;
	struct kfd_ipc_import ipc_import;
	struct kfd_ipc_export ipc_export;
	struct kfd_smi_events smi_events;
	struct kfd_xnack_mode xnack_mode;
	struct kfd_runtime_enable runtime_enable;
};

static int of_gpu(uint32_t gpu_id)
{
	return driver_gpu(gpu_id) < 0 ? -EINVAL : 0;
}

static int get_version(union argument *a)
{
	a->version.major = KFD_MAJOR;
	a->version.minor = knobs.no_events ? 0 : KFD_MINOR;
	return 0;
}

static int create_queue(union argument *a)
{
	return queue_request_create(&a->create_queue);
}

static int destroy_queue(union argument *a)
{
	return queue_request_destroy(a->queue_id.queue_id);
}

static int update_queue(union argument *a)
{
	return queue_request_update(&a->update_queue);
}

/* Every queue may use all compute units. */
static int set_cu_mask(union argument *a)
{
	return a->cu_mask.num_cu_mask % 32 ? -EINVAL : 0;
}

/* No queue is preempted: nothing was saved. */
static int get_wave_state(union argument *a)
{
	a->wave_state.ctl_stack_used = a->wave_state.save_area_used = 0;
	return 0;
}

static int set_memory_policy(union argument *a)
{
	return of_gpu(a->memory_policy.gpu_id);
}

static int get_clock_counters(union argument *a)
{
	int gpu = driver_gpu(a->clock_counters.gpu_id);
	uint64_t ticks = 0, ns = clock_now();

	if (gpu >= 0) {
		clock_sample((unsigned int)gpu, &ticks, &ns);
		if (!__atomic_exchange_n(&reported[gpu], true, __ATOMIC_RELAXED))
			log_clock((unsigned int)gpu);
	}
	a->clock_counters.gpu = ticks;
	a->clock_counters.cpu = a->clock_counters.system = ns;
	a->clock_counters.system_hz = 1000000000;
	return 0;
}

static struct kfd_aperture aperture(unsigned int gpu)
{
	return (struct kfd_aperture){
		.lds_base = GPU_LDS_BASE,
		.lds_limit = GPU_LDS_BASE + UINT32_MAX,
		.scratch_base = GPU_SCRATCH_BASE,
		.scratch_limit = GPU_SCRATCH_BASE + UINT32_MAX,
		.gpuvm_base = 4096,
		.gpuvm_limit = (1ull << 47) - 1,
		.gpu_id = gpu_number(gpu),
	};
}

static int get_apertures(union argument *a)
{
	uint32_t nr = knobs.devices < KFD_APERTURES_OLD ? (uint32_t)knobs.devices :
							  KFD_APERTURES_OLD;

	memset(&a->apertures, 0, sizeof(a->apertures));
	for (uint32_t i = 0; i < nr; i++)
		a->apertures.at[i] = aperture(i);
	a->apertures.num_of_nodes = nr;
	return 0;
}

static int get_apertures_new(union argument *a)
{
	struct kfd_apertures_new *args = &a->apertures_new;
	struct kfd_aperture *out = (struct kfd_aperture *)(uintptr_t)args->apertures_ptr;
	uint32_t nr = args->num_of_nodes < knobs.devices ? args->num_of_nodes :
							   (uint32_t)knobs.devices;

	/* 0: how many are there? */
	args->num_of_nodes = nr ? nr : (uint32_t)knobs.devices;
	for (uint32_t i = 0; i < nr; i++)
		out[i] = aperture(i);
	return 0;
}

static int create_event(union argument *a)
{
	return event_request_create(&a->create_event);
}

static int destroy_event(union argument *a)
{
	return event_request_destroy(a->event_id.event_id);
}

static int set_event(union argument *a)
{
	return event_request_set(a->event_id.event_id);
}

static int reset_event(union argument *a)
{
	return event_request_reset(a->event_id.event_id);
}

static int wait_events(union argument *a)
{
	return event_request_wait(&a->wait_events);
}

/* The addresses of scratch memory are in amd_queue_t. */
static int set_scratch_backing(union argument *a)
{
	return of_gpu(a->scratch_backing.gpu_id);
}

static int get_tile_config(union argument *a)
{
	struct kfd_tile_config *args = &a->tile_config;

	if (driver_gpu(args->gpu_id) < 0)
		return -EINVAL;
	if (args->tile_config_ptr)
		memset((void *)(uintptr_t)args->tile_config_ptr, 0,
		       args->num_tile_configs * sizeof(uint32_t));
	if (args->macro_tile_config_ptr)
		memset((void *)(uintptr_t)args->macro_tile_config_ptr, 0,
		       args->num_macro_tile_configs * sizeof(uint32_t));
	args->gb_addr_config = GPU_ADDR_CONFIG;
	args->num_banks = 16;
	args->num_ranks = 1;
	return 0;
}

/* The handler is device code for what this GPU reports by itself. */
static int set_trap_handler(union argument *a)
{
	return of_gpu(a->trap_handler.gpu_id);
}

static int acquire_vm(union argument *a)
{
	struct node node = node_of_fd((int)a->acquire_vm.drm_fd);
	int gpu = driver_gpu(a->acquire_vm.gpu_id);

	return gpu >= 0 && node.kind == NODE_RENDER && node.gpu == (unsigned int)gpu ? 0 : -EINVAL;
}

static int alloc_memory(union argument *a)
{
	return memory_request_alloc(&a->alloc_memory);
}

static int free_memory(union argument *a)
{
	return memory_request_free(a->memory_handle.handle);
}

static int map_memory(union argument *a)
{
	return memory_request_map(&a->map_memory);
}

static int unmap_memory(union argument *a)
{
	return memory_request_unmap(&a->map_memory);
}

static int dmabuf_info(union argument *a)
{
	return memory_request_dmabuf_info(&a->dmabuf_info);
}

static int import_dmabuf(union argument *a)
{
	return memory_request_import(&a->import_dmabuf);
}

static int export_dmabuf(union argument *a)
{
	return memory_request_export(&a->export_dmabuf);
}

static int ipc_import(union argument *a)
{
	return memory_request_ipc_import(&a->ipc_import);
}

static int ipc_export(union argument *a)
{
	return memory_request_ipc_export(&a->ipc_export);
}

static int smi_events(union argument *a)
{
	int gpu = driver_gpu(a->smi_events.gpu_id),
	    fd = gpu < 0 ? -EINVAL : smi_open((unsigned int)gpu);

	if (fd < 0)
		return fd;
	a->smi_events.fd = (uint32_t)fd;
	return 0;
}

static int available_memory(union argument *a)
{
	int gpu = driver_gpu(a->available_memory.gpu_id);

	if (gpu < 0)
		return -EINVAL;
	a->available_memory.available = memory_available((unsigned int)gpu);
	return 0;
}

/* Barriers of a dispatch are its own: no number is ever used up. */
static int alloc_gws(union argument *a)
{
	if (a->gws.num_gws > GPU_GWS)
		return -EBUSY;
	a->gws.first_gws = 0;
	return 0;
}

/* -1 asks for the mode. GPUs do not retry. */
static int set_xnack_mode(union argument *a)
{
	if (a->xnack_mode.enabled > 0)
		return -EPERM;
	a->xnack_mode.enabled = 0;
	return 0;
}

/* Unless supported, the runtime reads queue errors from queue_inactive_signal, as with older
 * drivers. */
static int runtime_enable(union argument *a)
{
	a->runtime_enable.capabilities = 0;
	return knobs.exceptions ? 0 : -EINVAL;
}

void kfd_forked(void)
{
	memset(reported, 0, sizeof(reported));
}

struct request {
	int (*carry_out)(union argument *a);
	size_t size;
};

#define REQUEST(function, member)                                                                  \
	{                                                                                          \
		function, sizeof(((union argument *)0)->member)                                    \
	}

static const struct request requests[] = {
	[KFD_GET_VERSION] = REQUEST(get_version, version),
	[KFD_CREATE_QUEUE] = REQUEST(create_queue, create_queue),
	[KFD_DESTROY_QUEUE] = REQUEST(destroy_queue, queue_id),
	[KFD_SET_MEMORY_POLICY] = REQUEST(set_memory_policy, memory_policy),
	[KFD_GET_CLOCK_COUNTERS] = REQUEST(get_clock_counters, clock_counters),
	[KFD_GET_PROCESS_APERTURES] = REQUEST(get_apertures, apertures),
	[KFD_UPDATE_QUEUE] = REQUEST(update_queue, update_queue),
	[KFD_CREATE_EVENT] = REQUEST(create_event, create_event),
	[KFD_DESTROY_EVENT] = REQUEST(destroy_event, event_id),
	[KFD_SET_EVENT] = REQUEST(set_event, event_id),
	[KFD_RESET_EVENT] = REQUEST(reset_event, event_id),
	[KFD_WAIT_EVENTS] = REQUEST(wait_events, wait_events),
	[KFD_SET_SCRATCH_BACKING_VA] = REQUEST(set_scratch_backing, scratch_backing),
	[KFD_GET_TILE_CONFIG] = REQUEST(get_tile_config, tile_config),
	[KFD_SET_TRAP_HANDLER] = REQUEST(set_trap_handler, trap_handler),
	[KFD_GET_PROCESS_APERTURES_NEW] = REQUEST(get_apertures_new, apertures_new),
	[KFD_ACQUIRE_VM] = REQUEST(acquire_vm, acquire_vm),
	[KFD_ALLOC_MEMORY] = REQUEST(alloc_memory, alloc_memory),
	[KFD_FREE_MEMORY] = REQUEST(free_memory, memory_handle),
	[KFD_MAP_MEMORY] = REQUEST(map_memory, map_memory),
	[KFD_UNMAP_MEMORY] = REQUEST(unmap_memory, map_memory),
	[KFD_SET_CU_MASK] = REQUEST(set_cu_mask, cu_mask),
	[KFD_GET_QUEUE_WAVE_STATE] = REQUEST(get_wave_state, wave_state),
	[KFD_GET_DMABUF_INFO] = REQUEST(dmabuf_info, dmabuf_info),
	[KFD_IMPORT_DMABUF] = REQUEST(import_dmabuf, import_dmabuf),
	[KFD_ALLOC_QUEUE_GWS] = REQUEST(alloc_gws, gws),
	[KFD_SMI_EVENTS] = REQUEST(smi_events, smi_events),
	[KFD_SET_XNACK_MODE] = REQUEST(set_xnack_mode, xnack_mode),
	[KFD_AVAILABLE_MEMORY] = REQUEST(available_memory, available_memory),
	[KFD_EXPORT_DMABUF] = REQUEST(export_dmabuf, export_dmabuf),
	[KFD_RUNTIME_ENABLE] = REQUEST(runtime_enable, runtime_enable),
	[KFD_IPC_IMPORT] = REQUEST(ipc_import, ipc_import),
	[KFD_IPC_EXPORT] = REQUEST(ipc_export, ipc_export),
};

int kfd_request(unsigned int number, void *arg, size_t size)
{
	union argument a;
	int ret;

	if (number == KFD_SVM)
		return arg ? memory_request_svm(arg, size) : -EFAULT;
	/* the debugger's requests, those of AMD's own driver, and later ones */
	if (number >= sizeof(requests) / sizeof(requests[0]) || !requests[number].carry_out)
		return -EINVAL;
	if (!arg)
		return -EFAULT;
	memset(&a, 0, sizeof(a));
	memcpy(&a, arg, size < sizeof(a) ? size : sizeof(a));
	ret = requests[number].carry_out(&a);
	if (ret >= 0 || number == KFD_WAIT_EVENTS)
		memcpy(arg, &a, size < requests[number].size ? size : requests[number].size);
	return ret;
}
