/* SPDX-License-Identifier: MIT */
/* fake_hip.c - libamdhip64 as a tracer sees it: some calls, the callbacks, a GPU that is a thread
 *
 * Built twice. By default it is HIP up to 5.3, with a callback for each call: a structure is
 * requested at the begin of a call, filled and shown; after the call it is shown again, and the end
 * is reported. With FAKE_HIP_TRACER it is HIP from 5.4 on, with hipRegisterTracerCallback() alone.
 *
 * For unit tests, and for tests under sanitizers, which do not see into the real runtime.
 * Operations have private numbers.
 */
#include "support/fake_hip.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))

static _Atomic int last_status;

API const char *hipApiName(uint32_t id);

int hipPeekAtLastError(void)
{
	return last_status;
}

void fake_hip_set_status(int status)
{
	last_status = status;
}

#ifdef FAKE_HIP_TRACER

typedef int (*tracer_fn)(uint32_t domain, uint32_t op, void *data);

API void hipRegisterTracerCallback(tracer_fn fn);

static tracer_fn tracer;
static const char *(*api_names)(uint32_t id);
static uint64_t last_number;

const char *hipApiName(uint32_t id)
{
	return api_names ? api_names(id) : "unknown";
}

void hipRegisterTracerCallback(tracer_fn fn)
{
	tracer = fn;
}

void fake_hip_set_names(const char *(*fn)(uint32_t id))
{
	api_names = fn;
}

unsigned int fake_hip_nr_registered(void)
{
	return tracer != NULL;
}

int fake_hip_op(uint32_t op, void *record)
{
	return tracer ? tracer(2, op, record) : -1;
}

uint64_t fake_hip_number(void)
{
	return last_number;
}

int fake_hip_traced(uint32_t id, size_t size, uint64_t arg, void (*inside)(void))
{
	struct {
		uint64_t ns, phase_data;
		void (*enter)(uint32_t id, void *block);
		void (*leave)(uint32_t id, void *block);
	} tail;
	unsigned char block[4096];
	uint64_t *phase_data;

	memset(block, 0xa5, sizeof(block));
	if (!tracer || tracer(3, id, block))
		return 1;
	memcpy(&last_number, block, sizeof(last_number));
	memcpy(&tail, block + size, sizeof(tail));
	memcpy(&phase_data, block + size - 8, sizeof(phase_data));
	if ((unsigned char *)phase_data != block + size + 8)
		return 2;
	for (size_t i = 16; i < size - 8; i++)
		if (block[i] != 0xa5)
			return 3;
	for (size_t i = size + sizeof(tail); i < sizeof(block); i++)
		if (block[i] != 0xa5)
			return 4;
	memcpy(block + 16, &arg, sizeof(arg));
	if (tail.enter)
		tail.enter(id, block);
	if (inside)
		inside();
	if (tail.leave)
		tail.leave(id, block);
	return 0;
}

#else

/* as in HIP 5.2 */
#define LAST_ID 333u
enum { KIND_KERNEL = 0x11f0, KIND_COPY = 0x11f4, KIND_MARKER = 0x11fe };
#define NR_OPS 3u
#define RING 1024u

struct op_record {
	uint32_t domain, kind, op, reserved;
	uint64_t number, begin_ns, end_ns;
	int32_t device;
	uint32_t reserved2;
	uint64_t queue, bytes;
};

typedef void *(*sync_fn)(uint32_t id, void *record, const void *data, void *arg);
typedef void (*user_fn)(uint32_t domain, uint32_t id, const void *data, void *arg);

static struct {
	_Atomic sync_fn sync;
	_Atomic user_fn user;
	_Atomic(void *) sync_arg, user_arg;
} table[LAST_ID + 1];

static _Atomic unsigned int nr_registered, nr_lookups;
static _Atomic bool is_enabled[NR_OPS];
static _Atomic uint64_t next_number;
/* set by hipInitActivityCallback() before an operation is enabled */
static void (*id_callback)(uint64_t number);
static void (*op_callback)(uint32_t op, void *record, void *arg);
static void *op_arg;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, space = PTHREAD_COND_INITIALIZER;
static struct op_record ring[RING];
static uint64_t nr_put, nr_done;
static bool has_thread, is_held;

static const char *const names[LAST_ID + 1] = {
	[ID_FREE] = "hipFree",	   [ID_SYNCHRONIZE] = "hipDeviceSynchronize",
	[ID_MALLOC] = "hipMalloc", [ID_LAUNCH] = "hipLaunchKernel",
	[ID_MEMCPY] = "hipMemcpy", [ID_MODULE_LAUNCH] = "hipModuleLaunchKernel",
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- functions for tracers ------------------------------------------------------------------- */

API int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg);
API int hipRemoveActivityCallback(uint32_t id);
API int hipRegisterApiCallback(uint32_t id, void *fn, void *arg);
API int hipRemoveApiCallback(uint32_t id);
API void hipInitActivityCallback(void *on_id, void *on_op, void *arg);
API bool hipEnableActivityCallback(uint32_t op, bool enable);
API const char *hipGetCmdName(uint32_t kind);
API const char *hipKernelNameRef(void *function);
API int hipKernelGetName(const char **name, const void *kernel);
API const char *hipKernelNameRefByPtr(const void *function, void *stream);

API int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg)
{
	if (!id || id > LAST_ID)
		return 1;
	atomic_store(&table[id].sync_arg, arg);
	atomic_store(&table[id].sync, (sync_fn)fn);
	nr_registered += fn != NULL;
	return 0;
}

API int hipRemoveActivityCallback(uint32_t id)
{
	return hipRegisterActivityCallback(id, NULL, NULL);
}

API int hipRegisterApiCallback(uint32_t id, void *fn, void *arg)
{
	if (!id || id > LAST_ID)
		return 1;
	atomic_store(&table[id].user_arg, arg);
	atomic_store(&table[id].user, (user_fn)fn);
	return 0;
}

API int hipRemoveApiCallback(uint32_t id)
{
	return hipRegisterApiCallback(id, NULL, NULL);
}

API void hipInitActivityCallback(void *on_id, void *on_op, void *arg)
{
	id_callback = (void (*)(uint64_t))on_id;
	op_callback = (void (*)(uint32_t, void *, void *))on_op;
	op_arg = arg;
}

API bool hipEnableActivityCallback(uint32_t op, bool enable)
{
	if (op >= NR_OPS)
		return false;
	atomic_store(&is_enabled[op], enable);
	return true;
}

API const char *hipApiName(uint32_t id)
{
	return id <= LAST_ID && names[id] ? names[id] : "unknown";
}

API const char *hipGetCmdName(uint32_t kind)
{
	return kind == KIND_KERNEL ? "KernelExecution" :
	       kind == KIND_COPY   ? "CopyHostToDevice" :
	       kind == KIND_MARKER ? "Marker" :
				     "Unknown command type";
}

/* A module's kernel: the pointer is its name. Small numbers are handles of unit tests; odd ones
 * have no name. */
API const char *hipKernelNameRef(void *function)
{
	uintptr_t handle = (uintptr_t)function;

	nr_lookups++;
	if (handle >= 1u << 20)
		return function;
	return handle % 2 ? NULL : "by_handle";
}

API const char *hipKernelNameRefByPtr(const void *function, void *stream)
{
	(void)stream;
	nr_lookups++;
	return !function || (uintptr_t)function % 2 ? NULL : "fake_kernel";
}

/* Kernels of libraries lie at 3 modulo 4. */
API int hipKernelGetName(const char **name, const void *kernel)
{
	if ((uintptr_t)kernel % 4 != 3)
		return last_status = 400;
	*name = "of_a_library";
	return 0;
}

API int hipGetLastError(void)
{
	return atomic_exchange(&last_status, 0);
}

unsigned int fake_hip_nr_registered(void)
{
	return nr_registered;
}

unsigned int fake_hip_nr_lookups(void)
{
	return nr_lookups;
}

void *fake_hip_call(uint32_t id, void *arg)
{
	sync_fn sync = atomic_load(&table[id].sync);

	return sync ? sync(id, NULL, NULL, arg ? atomic_load(&table[id].sync_arg) : NULL) : NULL;
}

/* ---- the GPU --------------------------------------------------------------------------------- */

static void *gpu(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct op_record r;

		while (nr_done == nr_put || is_held)
			pthread_cond_wait(&work, &lock);
		r = ring[nr_done % RING];
		pthread_mutex_unlock(&lock);
		r.begin_ns = now_ns();
		r.end_ns = now_ns() + 1;
		op_callback(r.op, &r, op_arg);
		pthread_mutex_lock(&lock);
		nr_done++;
		pthread_cond_broadcast(&space);
	}
	return arg;
}

void fake_hip_hold_gpu(bool on)
{
	pthread_mutex_lock(&lock);
	is_held = on;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&lock);
}

static void put(uint32_t op, uint32_t kind)
{
	struct op_record r = { .domain = 2, .kind = kind, .op = op, .queue = 1 };
	pthread_t thread;

	if (!atomic_load(&is_enabled[op]))
		return;
	r.number = atomic_fetch_add(&next_number, 1);
	id_callback(r.number);
	pthread_mutex_lock(&lock);
	if (!has_thread) {
		has_thread = true;
		pthread_create(&thread, NULL, gpu, NULL);
		pthread_detach(thread);
	}
	while (nr_put - nr_done == RING)
		pthread_cond_wait(&space, &lock);
	ring[nr_put++ % RING] = r;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&lock);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&lock);
	for (uint64_t mine = nr_put; nr_done < mine;)
		pthread_cond_wait(&space, &lock);
	pthread_mutex_unlock(&lock);
}

/* ---- functions for programs ----------------------------------------------------------------- */

struct call {
	uint32_t id;
	sync_fn sync;
	struct call_data *data; /* NULL: no subscriber */
};

static void show(const struct call *c)
{
	user_fn user = atomic_load(&table[c->id].user);

	if (user)
		user(3, c->id, c->data, atomic_load(&table[c->id].user_arg));
}

static struct call begin(uint32_t id, uint64_t first, uint64_t second, uint64_t third)
{
	struct call c = { .id = id, .sync = atomic_load(&table[id].sync) };

	c.data = c.sync ? c.sync(id, NULL, NULL, NULL) : NULL;
	if (!c.data)
		return c;
	c.data->args[0] = first;
	c.data->args[1] = second;
	c.data->args[2] = third;
	show(&c);
	return c;
}

static int end(const struct call *c)
{
	if (c->data) {
		c->data->phase = 1;
		show(c);
		c->sync(c->id, NULL, NULL, atomic_load(&table[c->id].sync_arg));
	}
	return 0;
}

bool fake_hip_around(uint32_t id, void (*inside)(void))
{
	struct call c = begin(id, 0, 0, 0);

	if (inside)
		inside();
	end(&c);
	return c.data != NULL;
}

int hipInit(unsigned int flags)
{
	return (int)flags + 1000;
}

int hipMalloc(void **ptr, size_t size)
{
	/* args[1] is the copy of what `ptr` points to */
	struct call c = begin(ID_MALLOC, (uintptr_t)ptr, 0, size);

	*ptr = malloc(size);
	return end(&c);
}

int hipFree(void *ptr)
{
	struct call c = begin(ID_FREE, (uintptr_t)ptr, 0, 0);

	free(ptr);
	return end(&c);
}

int hipMemcpy(void *dst, const void *src, size_t size, int kind)
{
	struct call c = begin(ID_MEMCPY, (uintptr_t)dst, (uintptr_t)src, size);

	(void)kind;
	memcpy(dst, src, size);
	put(1, KIND_COPY);
	return end(&c);
}

int hipDeviceSynchronize(void)
{
	struct call c = begin(ID_SYNCHRONIZE, 0, 0, 0);

	wait_for_all();
	return end(&c);
}

int hipLaunchKernel(const void *function, struct grid blocks, struct grid block, void **args,
		    size_t shared, void *stream)
{
	struct call c = begin(ID_LAUNCH, (uintptr_t)function, 0, 0);

	(void)blocks;
	(void)block;
	(void)args;
	(void)shared;
	(void)stream;
	put(0, KIND_KERNEL);
	return end(&c);
}

/* Calls another function before it submits its kernel. */
int hipModuleLaunchKernel(void *function, uint32_t x, uint32_t y, uint32_t z, uint32_t bx,
			  uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **args,
			  void **extra)
{
	struct call c = begin(ID_MODULE_LAUNCH, (uintptr_t)function, x, y);

	(void)z;
	(void)bx;
	(void)by;
	(void)bz;
	(void)shared;
	(void)stream;
	(void)args;
	(void)extra;
	hipDeviceSynchronize();
	put(0, KIND_KERNEL);
	return end(&c);
}

#endif
