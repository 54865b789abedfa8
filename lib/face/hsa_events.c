/* SPDX-License-Identifier: MIT */
/* hsa_events.c - events of HSA: memory, copies, packets, code
 *
 * Most events follow a successful call; those of memory that is freed and code that is unloaded
 * precede it. Packets are seen on queues that were created while HSA_EVT_ID_SUBMIT was enabled.
 *
 * Owns:     the set of enabled events; the agents.
 * Threads:  any. The agents are set under ROCr's init lock, constant after.
 * Hot path: on_packet(): no lock, no allocation.
 * Fails:    without memory a code object's URI is empty, and a queue's packets have no events.
 */
#include "hsa_events.h"

#include <stdlib.h>
#include <string.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "../librtl/core.h"
#include "agents.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/compiler.h"
#include "fork_guard.h"
#include "hsa_wrap_gen.h"
#include "roctracer/roctracer_hsa.h"

#define ALLOCATE (1u << HSA_EVT_ID_ALLOCATE)
#define DEVICE (1u << HSA_EVT_ID_DEVICE)
#define MEMCOPY (1u << HSA_EVT_ID_MEMCOPY)
#define SUBMIT (1u << HSA_EVT_ID_SUBMIT)
#define CODE (1u << HSA_EVT_ID_KSYMBOL | 1u << HSA_EVT_ID_CODEOBJ | KERNELS | CODE_MEMORY)
/* kernel names are kept for later packets */
#define KERNELS (1u << HSA_EVT_ID_NUMBER)
/* the runtime's life */
#define LIFE (KERNELS << 1)
#define CODE_MEMORY (KERNELS << 2)

static const struct {
	uint32_t op, events;
} sources[] = {
	{ HSA_OP_hsa_memory_allocate, ALLOCATE },
	{ HSA_OP_hsa_memory_free, ALLOCATE },
	{ HSA_OP_hsa_amd_memory_pool_allocate, ALLOCATE | DEVICE },
	{ HSA_OP_hsa_amd_memory_pool_free, ALLOCATE },
	{ HSA_OP_hsa_memory_assign_agent, DEVICE },
	{ HSA_OP_hsa_amd_agents_allow_access, DEVICE },
	{ HSA_OP_hsa_memory_copy, MEMCOPY },
	{ HSA_OP_hsa_amd_memory_async_copy, MEMCOPY },
	{ HSA_OP_hsa_amd_memory_async_copy_rect, MEMCOPY },
	{ HSA_OP_hsa_queue_create, SUBMIT },
	{ HSA_OP_hsa_queue_destroy, SUBMIT | KERNELS },
	{ HSA_OP_hsa_init, LIFE },
	{ HSA_OP_hsa_shut_down, LIFE },
	{ HSA_OP_hsa_executable_freeze, CODE },
	{ HSA_OP_hsa_executable_destroy, CODE },
};

/* A queue whose packets are seen. Used again after the queue's end. */
struct seen_queue {
	struct seen_queue *next;
	hsa_queue_t *_Atomic queue; /* NULL: none */
	uint32_t agent_id;
};

/* As large as what clients may read that take it for the data of a HIP call. */
union block {
	hsa_evt_data_t data;
	char space[256];
};

static _Atomic uint32_t wanted;
/* calls of hsa_init() less those of hsa_shut_down(): a tool of 5.2 gets OnUnload() at the runtime's
 * end, this library does not */
static _Atomic uint32_t nr_inits;
GUARDED_LOCK(lock, LOCK_HSA_EVENTS);
/* set in hsa_events_start(), constant after */
static struct hsa_events_user user;
static const struct rtl_core *core;
static int index_of;
/* set in hsa_events_on_runtime(), constant after */
static struct agent agents[AGENTS_MAX];
static uint32_t nr_agents;
static hsa_ven_amd_loader_1_01_pfn_t loader;
static struct seen_queue *_Atomic seen_queues; /* written under lock */
/* in a callback: HSA's calls from there make no events */
static _Thread_local bool in_callback;

#define REAL(name) ((name##_fn_t)core->hsa_real(HSA_OP_##name))

static void change_wanted(uint32_t set, uint32_t clear)
{
	uint32_t now;

	/* code is memory, too */
	if (user.reports_code_memory && set & ALLOCATE)
		set |= CODE_MEMORY;
	if (clear & ALLOCATE)
		clear |= CODE_MEMORY;
	lock_take(&lock);
	now = (atomic_load_explicit(&wanted, memory_order_relaxed) | set) & ~clear;
	/* relaxed: a call that runs meanwhile may be seen */
	atomic_store_explicit(&wanted, now, memory_order_relaxed);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		core->live_want(index_of, API_HSA, sources[i].op,
				sources[i].events & now ? LIVE_CALLS : LIVE_NOTHING);
	lock_drop(&lock);
}

void hsa_events_want(uint32_t event, bool on)
{
	change_wanted(on ? 1u << event : 0, on ? 0 : 1u << event);
}

static bool is_wanted(uint32_t events)
{
	return (atomic_load_explicit(&wanted, memory_order_relaxed) & events) != 0;
}

struct reported {
	uint32_t event;
	const union block *b;
};

static void call_user(void *arg)
{
	const struct reported *r = arg;

	user.report(r->event, &r->b->data);
}

static void end_callback(void *unneeded)
{
	(void)unneeded;
	in_callback = false;
}

static void report(uint32_t event, const union block *b)
{
	struct reported r = { event, b };

	if (in_callback)
		return;
	in_callback = true;
	callout(call_user, end_callback, &r);
	in_callback = false;
}

/* ---- agents --------------------------------------------------------------------------------- */

static uint32_t id_of(const struct agent *a)
{
	return user.numbers_by_index ? a->index : a->node;
}

static const struct agent *find_agent(hsa_agent_t handle)
{
	static const struct agent none;

	for (uint32_t i = 0; i < nr_agents; i++) {
		if (agents[i].handle.handle == handle.handle)
			return &agents[i];
	}
	return &none;
}

void hsa_events_on_runtime(void)
{
	nr_agents = agents_list(REAL(hsa_iterate_agents), REAL(hsa_agent_get_info), agents);
	memset(&loader, 0, sizeof(loader));
	if (!REAL(hsa_system_get_major_extension_table) ||
	    REAL(hsa_system_get_major_extension_table)(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader),
						       &loader) != HSA_STATUS_SUCCESS)
		memset(&loader, 0, sizeof(loader));
	/* relaxed: before the program sees the wrappers */
	atomic_store_explicit(&nr_inits, 1, memory_order_relaxed);
	change_wanted(KERNELS | (user.ends_runtime ? LIFE : 0), 0);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void allocated(void *const *ptr, size_t size, uint32_t segment, uint32_t flags)
{
	union block b = { .space = { 0 } };

	b.data.allocate.ptr = ptr ? *ptr : NULL;
	b.data.allocate.size = size;
	b.data.allocate.segment = (hsa_amd_segment_t)segment;
	b.data.allocate.global_flag = (hsa_amd_memory_pool_global_flag_t)flags;
	report(HSA_EVT_ID_ALLOCATE, &b);
}

static void freed(const void *ptr)
{
	union block b = { .space = { 0 } };

	b.data.allocate.ptr = ptr;
	report(HSA_EVT_ID_ALLOCATE, &b);
}

static void has_access(hsa_agent_t handle, const void *ptr)
{
	const struct agent *a = find_agent(handle);
	union block b = { .space = { 0 } };

	b.data.device.type = a->type;
	b.data.device.id = id_of(a);
	b.data.device.agent = handle;
	b.data.device.ptr = ptr;
	report(HSA_EVT_ID_DEVICE, &b);
}

static void region_allocated(hsa_region_t region, size_t size, void *const *ptr)
{
	uint32_t segment = 0, flags = 0;

	REAL(hsa_region_get_info)(region, HSA_REGION_INFO_SEGMENT, &segment);
	REAL(hsa_region_get_info)(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
	allocated(ptr, size, segment, flags);
}

static void pool_allocated(hsa_amd_memory_pool_t pool, size_t size, void *const *ptr)
{
	hsa_amd_memory_pool_access_t access;
	uint32_t segment = 0, flags = 0;

	if (!size)
		return;
	REAL(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	REAL(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	allocated(ptr, size, segment, flags);
	for (uint32_t i = 0; i < nr_agents && is_wanted(DEVICE); i++) {
		access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
		REAL(hsa_amd_agent_memory_pool_get_info)
		(agents[i].handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access);
		if (access == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT)
			has_access(agents[i].handle, *ptr);
	}
}

static void copied(const void *dst, const void *src, size_t size)
{
	union block b = { .space = { 0 } };

	b.data.memcopy.dst = dst;
	b.data.memcopy.src = src;
	b.data.memcopy.size = size;
	report(HSA_EVT_ID_MEMCOPY, &b);
}

static void rectangle_copied(const hsa_pitched_ptr_t *dst, const hsa_pitched_ptr_t *src,
			     const hsa_dim3_t *range)
{
	copied(dst->base, src->base, (size_t)range->x * range->y * range->z);
}

/* ---- packets -------------------------------------------------------------------------------- */

static const struct seen_queue *find_seen(const hsa_queue_t *queue)
{
	/* acquire: pairs with the release in queue_created(); entries are never freed */
	const struct seen_queue *s = atomic_load_explicit(&seen_queues, memory_order_acquire);

	while (s && atomic_load_explicit(&s->queue, memory_order_acquire) != queue)
		s = s->next;
	return s;
}

/* On the thread that submits it. */
static void on_packet(const hsa_queue_t *queue, const void *packet, uint64_t index)
{
	const struct seen_queue *s = is_wanted(SUBMIT) ? find_seen(queue) : NULL;
	const hsa_kernel_dispatch_packet_t *p = packet;
	union block b = { .space = { 0 } };
	uint32_t type;

	(void)index;
	if (!s)
		return;
	type = p->header >> HSA_PACKET_HEADER_TYPE & 0xff;
	b.data.submit.packet = p;
	b.data.submit.kernel_name =
		type == HSA_PACKET_TYPE_KERNEL_DISPATCH ? hsa_kernels_name(p->kernel_object) : NULL;
	b.data.submit.queue = atomic_load_explicit(&s->queue, memory_order_relaxed);
	b.data.submit.device_type = HSA_DEVICE_TYPE_GPU;
	b.data.submit.device_id = s->agent_id;
	report(HSA_EVT_ID_SUBMIT, &b);
}

static void queue_created(hsa_queue_t *queue, hsa_agent_t agent)
{
	static bool is_listening RTL_GUARDED_BY(lock);
	struct seen_queue *s;

	lock_take(&lock);
	if (!is_listening)
		is_listening = core->submit_listen(on_packet);
	s = atomic_load_explicit(&seen_queues, memory_order_relaxed);
	while (s && atomic_load_explicit(&s->queue, memory_order_relaxed))
		s = s->next;
	if (s) {
		s->agent_id = id_of(find_agent(agent));
		atomic_store_explicit(&s->queue, queue, memory_order_release);
	} else if ((s = alloc_zero(1, sizeof(*s))) != NULL) {
		s->next = atomic_load_explicit(&seen_queues, memory_order_relaxed);
		s->agent_id = id_of(find_agent(agent));
		atomic_store_explicit(&s->queue, queue, memory_order_relaxed);
		atomic_store_explicit(&seen_queues, s, memory_order_release);
	}
	lock_drop(&lock);
}

static void queue_ended(const hsa_queue_t *queue)
{
	lock_take(&lock);
	for (struct seen_queue *s = atomic_load_explicit(&seen_queues, memory_order_relaxed); s;
	     s = s->next) {
		if (atomic_load_explicit(&s->queue, memory_order_relaxed) == queue)
			atomic_store_explicit(&s->queue, NULL, memory_order_relaxed);
	}
	lock_drop(&lock);
}

/* ---- code ----------------------------------------------------------------------------------- */

static uint64_t object_info(hsa_loaded_code_object_t o, uint32_t what)
{
	uint64_t v = 0;

	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		o, (hsa_ven_amd_loader_loaded_code_object_info_t)what, &v);
	return v;
}

static char *uri_of(hsa_loaded_code_object_t o, uint32_t *length)
{
	char *uri;

	*length = (uint32_t)object_info(o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH);
	uri = alloc_zero(1, (size_t)*length + 1);
	if (uri)
		loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
	else
		*length = 0;
	return uri;
}

static hsa_status_t on_object(hsa_executable_t ex, hsa_loaded_code_object_t o, void *data)
{
	const int *unload = data;
	union block b = { .space = { 0 } };
	int file = -1;
	char *uri;

	(void)ex;
#define INFO(what) object_info(o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##what)
	b.data.codeobj.storage_type = (uint32_t)INFO(CODE_OBJECT_STORAGE_TYPE);
	if (b.data.codeobj.storage_type == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE)
		file = (int)INFO(CODE_OBJECT_STORAGE_FILE);
	if (b.data.codeobj.storage_type == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
		b.data.codeobj.memory_base = INFO(CODE_OBJECT_STORAGE_MEMORY_BASE);
		b.data.codeobj.memory_size = INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE);
	}
	b.data.codeobj.storage_file = file;
	b.data.codeobj.load_base = INFO(LOAD_BASE);
	b.data.codeobj.load_size = INFO(LOAD_SIZE);
	b.data.codeobj.load_delta = INFO(LOAD_DELTA);
#undef INFO
	b.data.codeobj.unload = *unload;
	uri = uri_of(o, &b.data.codeobj.uri_length);
	b.data.codeobj.uri = uri ? uri : "";
	report(HSA_EVT_ID_CODEOBJ, &b);
	alloc_free(uri);
	if (user.reports_code_memory) {
		union block a = { .space = { 0 } };

		a.data.allocate.ptr = (const void *)(uintptr_t)b.data.codeobj.load_base;
		a.data.allocate.size = *unload ? 0 : b.data.codeobj.load_size;
		a.data.allocate.is_code = 1;
		report(HSA_EVT_ID_ALLOCATE, &a);
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_symbol(hsa_executable_t ex, hsa_executable_symbol_t symbol, void *data)
{
	hsa_executable_symbol_get_info_fn_t get = REAL(hsa_executable_symbol_get_info);
	hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
	const int *unload = data;
	union block b = { .space = { 0 } };
	char *name;

	(void)ex;
	get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
	if (kind != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &b.data.ksymbol.object);
	get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &b.data.ksymbol.name_length);
	b.data.ksymbol.unload = *unload;
	if (*unload) {
		report(HSA_EVT_ID_KSYMBOL, &b);
		hsa_kernels_remove(b.data.ksymbol.object);
		return HSA_STATUS_SUCCESS;
	}
	name = alloc_zero(1, (size_t)b.data.ksymbol.name_length + 1);
	if (name) {
		get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
		b.data.ksymbol.name = hsa_kernels_add(b.data.ksymbol.object, name);
	}
	report(HSA_EVT_ID_KSYMBOL, &b);
	alloc_free(name);
	return HSA_STATUS_SUCCESS;
}

static void code(hsa_executable_t executable, int unload)
{
	if (loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects &&
	    is_wanted(CODE & ~KERNELS))
		loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable,
										 on_object,
										 &unload);
	if (REAL(hsa_executable_iterate_symbols) && REAL(hsa_executable_symbol_get_info))
		REAL(hsa_executable_iterate_symbols)(executable, on_symbol, &unload);
}

/* ---- from calls to events ------------------------------------------------------------------- */

#define ARG(fn, name) (((const struct hsa_args_##fn *)call->args)->name)

static void on_enter(struct live_call *call)
{
	switch (call->operation) {
	case HSA_OP_hsa_memory_free:
		freed(ARG(hsa_memory_free, ptr));
		break;
	case HSA_OP_hsa_amd_memory_pool_free:
		freed(ARG(hsa_amd_memory_pool_free, ptr));
		break;
	case HSA_OP_hsa_executable_destroy:
		code(ARG(hsa_executable_destroy, executable), 1);
		break;
	case HSA_OP_hsa_shut_down:
		if (atomic_fetch_sub_explicit(&nr_inits, 1, memory_order_relaxed) == 1)
			core->on_unload();
		break;
	default:
		break;
	}
}

static void on_return(struct live_call *call)
{
	if (*(const hsa_status_t *)call->result != HSA_STATUS_SUCCESS)
		return;
	switch (call->operation) {
	case HSA_OP_hsa_init:
		atomic_fetch_add_explicit(&nr_inits, 1, memory_order_relaxed);
		break;
	case HSA_OP_hsa_memory_allocate:
		region_allocated(ARG(hsa_memory_allocate, region), ARG(hsa_memory_allocate, size),
				 ARG(hsa_memory_allocate, ptr));
		break;
	case HSA_OP_hsa_amd_memory_pool_allocate:
		pool_allocated(ARG(hsa_amd_memory_pool_allocate, memory_pool),
			       ARG(hsa_amd_memory_pool_allocate, size),
			       ARG(hsa_amd_memory_pool_allocate, ptr));
		break;
	case HSA_OP_hsa_memory_assign_agent:
		has_access(ARG(hsa_memory_assign_agent, agent), ARG(hsa_memory_assign_agent, ptr));
		break;
	case HSA_OP_hsa_amd_agents_allow_access:
		for (uint32_t i = 0; i < ARG(hsa_amd_agents_allow_access, num_agents); i++)
			has_access(ARG(hsa_amd_agents_allow_access, agents)[i],
				   ARG(hsa_amd_agents_allow_access, ptr));
		break;
	case HSA_OP_hsa_memory_copy:
		copied(ARG(hsa_memory_copy, dst), ARG(hsa_memory_copy, src),
		       ARG(hsa_memory_copy, size));
		break;
	case HSA_OP_hsa_amd_memory_async_copy:
		copied(ARG(hsa_amd_memory_async_copy, dst), ARG(hsa_amd_memory_async_copy, src),
		       ARG(hsa_amd_memory_async_copy, size));
		break;
	case HSA_OP_hsa_amd_memory_async_copy_rect:
		rectangle_copied(ARG(hsa_amd_memory_async_copy_rect, dst),
				 ARG(hsa_amd_memory_async_copy_rect, src),
				 ARG(hsa_amd_memory_async_copy_rect, range));
		break;
	case HSA_OP_hsa_queue_create:
		queue_created(*ARG(hsa_queue_create, queue), ARG(hsa_queue_create, agent));
		break;
	case HSA_OP_hsa_queue_destroy:
		queue_ended(ARG(hsa_queue_destroy, queue));
		break;
	case HSA_OP_hsa_executable_freeze:
		code(ARG(hsa_executable_freeze, executable), 0);
		break;
	default:
		break;
	}
}

static const struct live_subscriber subscriber = { .enter = on_enter, .exit = on_return };

int hsa_events_start(const struct hsa_events_user *of)
{
	user = *of;
	core = of->core;
	index_of = core->live_subscribe(&subscriber);
	return index_of;
}
