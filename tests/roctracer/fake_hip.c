/* SPDX-License-Identifier: MIT */
/* fake_hip.c - HIP up to 5.3 as a tracer sees it: a few calls, its callbacks, a GPU that is a thread
 *
 * For tests under sanitizers, where the real runtime would not tell of races, or see ones of its own. It
 * calls back as HIP 5.2 does: a structure is asked for at the begin of a call, filled and shown; after
 * the call it is shown again, and the end told. Operations have private numbers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_hip.h"

#define API __attribute__((visibility("default")))

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

static _Atomic bool is_enabled[NR_OPS];
static _Atomic uint64_t next_number;
/* set by hipInitActivityCallback() before an operation is enabled */
static void (*id_callback)(uint64_t number);
static void (*op_callback)(uint32_t op, void *record, void *arg);
static void *op_arg;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
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

/* ---- what a tracer calls --------------------------------------------------------------------- */

API int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg);
API int hipRemoveActivityCallback(uint32_t id);
API int hipRegisterApiCallback(uint32_t id, void *fn, void *arg);
API int hipRemoveApiCallback(uint32_t id);
API void hipInitActivityCallback(void *on_id, void *on_op, void *arg);
API bool hipEnableActivityCallback(uint32_t op, bool enable);
API const char *hipApiName(uint32_t id);
API const char *hipGetCmdName(uint32_t kind);
API const char *hipKernelNameRef(void *function);
API const char *hipKernelNameRefByPtr(const void *function, void *stream);

API int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg)
{
	if (!id || id > LAST_ID)
		return 1;
	atomic_store(&table[id].sync_arg, arg);
	atomic_store(&table[id].sync, (sync_fn)fn);
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

/* Of a module's kernel the test chooses the name: it is the function. */
API const char *hipKernelNameRef(void *function)
{
	return function;
}

API const char *hipKernelNameRefByPtr(const void *function, void *stream)
{
	(void)stream;
	return function ? "fake_kernel" : NULL;
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
		pthread_cond_broadcast(&room);
	}
	return arg;
}

void fake_gpu_hold(bool on)
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
		pthread_cond_wait(&room, &lock);
	ring[nr_put++ % RING] = r;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&lock);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&lock);
	for (uint64_t mine = nr_put; nr_done < mine;)
		pthread_cond_wait(&room, &lock);
	pthread_mutex_unlock(&lock);
}

/* ---- what a program calls -------------------------------------------------------------------- */

struct call {
	uint32_t id;
	sync_fn sync;
	struct call_data *data; /* NULL: nobody wants it */
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

int hipMalloc(void **ptr, size_t size)
{
	/* the copy of what `ptr` points to comes in between */
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

/* Another call is inside of this one, before its own kernel. */
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
