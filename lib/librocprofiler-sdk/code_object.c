/* SPDX-License-Identifier: MIT */
/* code_object.c - librocprofiler-sdk: code objects and their kernels, from the core's events to
 * callbacks
 *
 * The core emits an executable's objects and kernels while it holds locks. They are noted, and
 * shown when the program's hsa_executable_freeze() is over; those that were loaded before a context
 * was started, when it starts. A context gets each object that is loaded while it is active or when
 * it starts, once, and its end.
 *
 * Owns:     the objects and kernels, and texts of the core, which are never freed: tools may keep
 *           pointers to them.
 * Threads:  any; on_event() under the core's locks.
 * Fails:    without memory an object, or a kernel, is not shown.
 */
#include "code_object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "context.h"
#include "host_functions.h"
#include "state.h"

#define MAX_AGENTS 256u

/* An object or a kernel, and the contexts to which it was shown. */
struct shown {
	_Atomic uint64_t mask;
	rocprofiler_user_data_t user[SDK_MAX_SLOTS];
};

#if ROCPROFILER_SDK_ABI > 0
/* A function of the host that stands for a kernel. */
struct host {
	struct host *next;
	struct shown shown;
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t data;
};
#endif

struct kernel {
	struct kernel *next; /* of the object's, the newest first */
	struct shown shown;
#if ROCPROFILER_SDK_ABI > 0
	struct host *hosts;
#endif
	rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t data;
};

struct object {
	uint64_t executable;
	uint32_t id;
	_Atomic bool is_over;
	_Atomic(struct kernel *) kernels;
	struct shown shown;
	rocprofiler_callback_tracing_code_object_load_data_t data;
};

struct agent {
	uint64_t handle;
	uint32_t node;
	const char *name;
};

GUARDED_LOCK(lock, LOCK_SDK_OBJECTS);
static struct object **objects RTL_GUARDED_BY(lock); /* in the order of their loading */
static size_t nr_objects RTL_GUARDED_BY(lock), objects_size RTL_GUARDED_BY(lock);
static const char **strings RTL_GUARDED_BY(lock);
static size_t strings_size RTL_GUARDED_BY(lock);
static struct agent agents[MAX_AGENTS] RTL_GUARDED_BY(lock);
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* the functions that stood in HSA's table */
static hsa_executable_freeze_fn_t next_freeze;
static hsa_executable_destroy_fn_t next_destroy;

RTL_REQUIRES(lock) static const char *text_of(uint32_t id)
{
	return id < strings_size && strings[id] ? strings[id] : "";
}

RTL_REQUIRES(lock) static void keep_string(const struct event_string *s)
{
	const char **more = strings;
	char *text;

	if (s->id >= strings_size) {
		size_t size = (s->id + 1024) * 2;

		more = alloc_resize(strings, size, sizeof(*more));
		if (!more)
			return;
		memset(more + strings_size, 0, (size - strings_size) * sizeof(*more));
		strings = more;
		strings_size = size;
	}
	text = strings[s->id] ? NULL : alloc_heap((size_t)s->size + 1);
	if (!text)
		return;
	memcpy(text, s->text, s->size);
	text[s->size] = '\0';
	strings[s->id] = text;
}

RTL_REQUIRES(lock) static void keep_agent(const struct event_agent *a)
{
	if (a->index < MAX_AGENTS)
		agents[a->index] = (struct agent){ a->handle, a->node, text_of(a->name) };
}

RTL_REQUIRES(lock) static bool append(struct object *o)
{
	if (nr_objects == objects_size) {
		size_t size = objects_size ? objects_size * 2 : 64;
		struct object **more = alloc_resize(objects, size, sizeof(struct object *));

		if (!more)
			return false;
		objects = more;
		objects_size = size;
	}
	objects[nr_objects++] = o;
	return true;
}

RTL_REQUIRES(lock) static void keep_object(const struct event_code_object *e)
{
	/* one without memory or file is the runtime's own */
	struct object *o = e->storage ? alloc_zero(1, sizeof(*o)) : NULL;
	const struct agent *a = &agents[e->agent % MAX_AGENTS];

	if (!o)
		return;
	o->executable = e->executable;
	o->id = e->id;
	o->data.size = sizeof(o->data);
	o->data.code_object_id = e->id;
	o->data.rocp_agent.handle = SDK_FIRST_AGENT + a->node;
	o->data.hsa_agent.handle = a->handle;
	o->data.uri = text_of(e->uri);
	o->data.load_base = e->load_base;
	o->data.load_size = e->load_size;
	o->data.load_delta = (int64_t)e->load_delta;
	o->data.storage_type = (rocprofiler_code_object_storage_type_t)e->storage;
	if (o->data.storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE) {
		o->data.storage_file = (int)e->memory_base;
	} else {
		o->data.memory_base = e->memory_base;
		o->data.memory_size = e->memory_size;
	}
	if (!append(o))
		alloc_free(o);
}

RTL_REQUIRES(lock) static struct object *find(uint32_t id)
{
	for (size_t i = nr_objects; i-- > 0;)
		if (objects[i]->id == id)
			return objects[i];
	return NULL;
}

/* Registers of a kernel, from its descriptor. */
static void
fill_registers(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *d,
	       const struct event_kernel *e, const char *gfx)
{
	bool is_gfx9 = strncmp(gfx, "gfx9", 4) == 0;
	bool is_unified = strncmp(gfx, "gfx90a", 6) == 0 || strncmp(gfx, "gfx94", 5) == 0 ||
			  strncmp(gfx, "gfx95", 5) == 0;
	uint32_t granules = (e->rsrc1 & 63) + 1;
	bool is_wave32 = e->properties & 1u << 10;

	d->sgpr_count = is_gfx9 ? ((e->rsrc1 >> 6 & 15) / 2 + 1) * 16 : 128;
	if (is_unified) {
		d->arch_vgpr_count = ((e->rsrc3 & 63) + 1) * 4;
		d->accum_vgpr_count = granules * 8 - d->arch_vgpr_count;
		return;
	}
	d->arch_vgpr_count = granules * (is_wave32 ? 8 : 4);
	if (strncmp(gfx, "gfx908", 6) == 0)
		d->accum_vgpr_count = d->arch_vgpr_count;
}

#if ROCPROFILER_SDK_ABI > 0
static void keep_host(struct kernel *k, const struct sdk_host_function *f)
{
	static _Atomic uint64_t last_id;
	struct host *h = alloc_zero(1, sizeof(*h));

	if (!h)
		return;
	h->data.size = sizeof(h->data);
	h->data.host_function_id = atomic_fetch_add(&last_id, 1) + 1;
	h->data.kernel_id = k->data.kernel_id;
	h->data.code_object_id = k->data.code_object_id;
	h->data.host_function.value = f->function;
	h->data.modules.value = f->modules;
	h->data.device_function = f->name;
	h->data.thread_limit = f->thread_limit;
	h->data.thread_ids = f->thread_ids;
	h->data.block_ids = f->block_ids;
	h->data.block_dims = f->block_dims;
	h->data.grid_dims = f->grid_dims;
	h->data.workgroup_size = f->workgroup_size;
	h->next = k->hosts;
	k->hosts = h;
}

/* Symbols have a suffix that registrations lack. */
static void keep_hosts(struct kernel *k)
{
	const struct sdk_host_function *f = NULL;
	size_t length = strlen(k->data.kernel_name);
	char name[1024];

	if (length < 3 || length - 3 >= sizeof(name) ||
	    strcmp(k->data.kernel_name + length - 3, ".kd") != 0)
		return;
	memcpy(name, k->data.kernel_name, length - 3);
	name[length - 3] = '\0';
	while ((f = host_functions_find(name, f)))
		keep_host(k, f);
}
#endif

RTL_REQUIRES(lock) static void keep_kernel(const struct event_kernel *e)
{
	struct object *o = e->code_object ? find(e->code_object) : NULL;
	struct kernel *k = o ? alloc_zero(1, sizeof(*k)) : NULL;

	if (!k)
		return;
	k->data.size = sizeof(k->data);
	k->data.kernel_id = e->id;
	k->data.code_object_id = o->data.code_object_id;
	k->data.kernel_name = text_of(e->name);
	k->data.kernel_object = e->object;
	k->data.kernarg_segment_size = e->kernarg_size;
	k->data.kernarg_segment_alignment = e->kernarg_align;
	k->data.group_segment_size = e->group_size;
	k->data.private_segment_size = e->private_size;
	fill_registers(&k->data, e, agents[e->agent % MAX_AGENTS].name);
#if ROCPROFILER_SDK_ABI > 0
	k->data.kernel_code_entry_byte_offset = (int64_t)e->entry_offset;
	k->data.kernel_address.value = e->object + e->entry_offset;
	keep_hosts(k);
#endif
	k->next = atomic_load(&o->kernels);
	/* release: pairs with the readers of the list */
	atomic_store_explicit(&o->kernels, k, memory_order_release);
}

static void on_event(const struct event *ev)
{
	struct object *o;

	lock_take(&lock);
	switch (ev->kind) {
	case EVENT_STRING:
		keep_string(&ev->string);
		break;
	case EVENT_AGENT:
		keep_agent(&ev->agent);
		break;
	case EVENT_CODE_OBJECT:
		keep_object(&ev->code_object);
		break;
	case EVENT_KERNEL:
		keep_kernel(&ev->kernel);
		break;
	case EVENT_CODE_OBJECT_END:
		o = find(ev->end.id);
		if (o)
			atomic_store(&o->is_over, true);
		break;
	default:
		break;
	}
	lock_drop(&lock);
}

#define WANTED                                                                                     \
	(EVENT_BIT(EVENT_STRING) | EVENT_BIT(EVENT_AGENT) | EVENT_BIT(EVENT_CODE_OBJECT) |         \
	 EVENT_BIT(EVENT_CODE_OBJECT_END) | EVENT_BIT(EVENT_KERNEL))

static const struct sink sink = { .name = "rocprofiler-sdk", .event = on_event, .wants = WANTED };

static void attach(void)
{
	state_core()->bus_attach(&sink);
}

void code_object_listen(void)
{
	if (state_core())
		pthread_once(&once, attach);
}

/* Calls the contexts in `mask`. */
static void show(struct shown *s, uint64_t mask, uint32_t operation,
		 rocprofiler_callback_phase_t phase, void *payload)
{
	for (; mask; mask &= mask - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(mask);
		struct context *c = context_at(i);
		const struct service *service =
			&c->services[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT];
		rocprofiler_callback_tracing_record_t record = {
			.context_id = c->id,
			.thread_id = (uint64_t)gettid(),
			.kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
			.operation = operation,
			.phase = phase,
			.payload = payload,
		};

		service->fn(record, &s->user[i], service->arg);
	}
}

static void show_load(struct shown *s, uint32_t operation, const void *data, size_t size)
{
	uint64_t wanted = context_mask(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, operation);
	char copy[sizeof(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t) +
		  sizeof(rocprofiler_callback_tracing_code_object_load_data_t)];

	wanted &= ~atomic_fetch_or(&s->mask, wanted);
	if (!wanted)
		return;
	memcpy(copy, data, size);
	show(s, wanted, operation, ROCPROFILER_CALLBACK_PHASE_LOAD, copy);
}

static void show_object(struct object *o)
{
	/* acquire: pairs with keep_kernel() */
	struct kernel *k = atomic_load_explicit(&o->kernels, memory_order_acquire);

	if (atomic_load(&o->is_over))
		return;
	show_load(&o->shown, ROCPROFILER_CODE_OBJECT_LOAD, &o->data, sizeof(o->data));
	for (; k; k = k->next) {
		show_load(&k->shown, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
			  &k->data, sizeof(k->data));
#if ROCPROFILER_SDK_ABI > 0
		for (struct host *h = k->hosts; h; h = h->next)
			show_load(&h->shown, ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER,
				  &h->data, sizeof(h->data));
#endif
	}
}

/* Kernels first, as the specification has it. Once: the thread that takes the mask shows it. */
static void show_end(struct object *o)
{
	struct kernel *k = atomic_load_explicit(&o->kernels, memory_order_acquire);

	atomic_store(&o->is_over, true);
	for (; k; k = k->next)
		show(&k->shown, atomic_exchange(&k->shown.mask, 0),
		     ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
		     ROCPROFILER_CALLBACK_PHASE_UNLOAD, &k->data);
	show(&o->shown, atomic_exchange(&o->shown.mask, 0), ROCPROFILER_CODE_OBJECT_LOAD,
	     ROCPROFILER_CALLBACK_PHASE_UNLOAD, &o->data);
}

/* The objects of an executable, 0: all. No lock is held while they are shown. */
static struct object **copy_of(uint64_t executable, size_t *nr)
{
	struct object **copy;

	*nr = 0;
	lock_take(&lock);
	copy = alloc_heap((nr_objects + 1) * sizeof(struct object *));
	for (size_t i = 0; copy && i < nr_objects; i++)
		if (!executable || objects[i]->executable == executable)
			copy[(*nr)++] = objects[i];
	lock_drop(&lock);
	return copy;
}

static void show_objects(uint64_t executable)
{
	size_t nr;
	struct object **list = copy_of(executable, &nr);

	for (size_t i = 0; i < nr; i++)
		show_object(list[i]);
	alloc_free(list);
}

/* The newest first. */
static void show_ends(uint64_t executable)
{
	size_t nr;
	struct object **list = copy_of(executable, &nr);

	while (nr)
		show_end(list[--nr]);
	alloc_free(list);
}

void code_object_show(void)
{
	if (context_has(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT))
		show_objects(0);
}

void code_object_end(void)
{
	show_ends(0);
}

static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
	hsa_status_t status = next_freeze(executable, options);

	if (status == HSA_STATUS_SUCCESS && !state_is_over())
		show_objects(executable.handle);
	return status;
}

static hsa_status_t destroy(hsa_executable_t executable)
{
	if (!state_is_over())
		show_ends(executable.handle);
	return next_destroy(executable);
}

void code_object_install(const struct hsa_mirror_root *root)
{
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_executable_freeze);

	if (slot && *slot) {
		next_freeze = (hsa_executable_freeze_fn_t)*slot;
		*slot = (void *)freeze;
	}
	slot = hsa_table_core_slot(root->core, HSA_CORE_executable_destroy);
	if (slot && *slot) {
		next_destroy = (hsa_executable_destroy_fn_t)*slot;
		*slot = (void *)destroy;
	}
}
