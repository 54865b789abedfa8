/* SPDX-License-Identifier: MIT */
/* kernel_names.c - names of kernels that HIP up to 5.3 does not report with its operations: those
 * of graphs
 *
 * HIP submits a packet with a signal, later gets the signal's times from HSA's runtime, and reports
 * the operation with these times on the same thread. So a packet's kernel is kept by its signal,
 * then by its times, until its record. Where two kernels have the same times on a thread, neither
 * record has a name. Later releases report names.
 *
 * Owns:     three tables, of which the last two overwrite old entries: kernels by object, names by
 *           signal, names by times.
 * Threads:  any.
 * Hot path: on_packet(): no lock, no allocation.
 * Fails:    a kernel whose entry was overwritten has no name. None has one without HSA's tables, in
 *           a program into which HSA's runtime loads no tool.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "facade.h"

#define NR_BUCKETS 4096u
#define NR_SIGNALS 65536u
#define NR_TIMES 16384u
#define BUSY UINT64_C(2) /* instead of a signal or a key: another thread is writing the entry */

struct kernel {
	struct kernel *next; /* loaded before this one */
	uint64_t object;
	const char *name;
};

struct submitted {
	_Atomic uint64_t signal; /* 0: none; BUSY */
	_Atomic(const char *) name;
};

/* Times that the runtime gave to a thread. The key contains the thread. */
struct answer {
	_Atomic uint64_t key;	    /* 0: none; BUSY */
	_Atomic(const char *) name; /* NULL: two kernels had these times */
};

static _Atomic(struct kernel *) kernels[NR_BUCKETS];
static struct submitted submitted[NR_SIGNALS];
static struct answer answers[NR_TIMES];

static uint32_t hash_of(uint64_t n)
{
	return (uint32_t)(n * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* For this thread. Odd, thus neither 0 nor BUSY. */
static uint64_t key_of(uint64_t begin_ns, uint64_t end_ns)
{
	static _Thread_local char here;
	uint64_t n = begin_ns * UINT64_C(0x9e3779b97f4a7c15) ^ end_ns;

	return (n * UINT64_C(0xd1342543de82ef95) ^ (uintptr_t)&here) | 1;
}

void kernel_names_add(uint64_t object, const char *name)
{
	_Atomic(struct kernel *) *bucket = &kernels[hash_of(object) % NR_BUCKETS];
	struct kernel *k = alloc_heap(sizeof(*k));

	if (!k)
		return;
	k->object = object;
	k->name = name;
	k->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: pairs with the acquire in name_of() */
	while (!atomic_compare_exchange_weak_explicit(bucket, &k->next, k, memory_order_release,
						      memory_order_relaxed))
		;
}

/* The name of the kernel that was loaded there last. */
static const char *name_of(uint64_t object)
{
	const struct kernel *k =
		atomic_load_explicit(&kernels[hash_of(object) % NR_BUCKETS], memory_order_acquire);

	while (k && k->object != object)
		k = k->next;
	return k ? k->name : NULL;
}

/* On the thread that submits it. */
static void on_packet(const hsa_queue_t *queue, const void *packet, uint64_t index)
{
	const hsa_kernel_dispatch_packet_t *p = packet;
	struct submitted *s = &submitted[hash_of(p->completion_signal.handle) % NR_SIGNALS];

	(void)queue;
	(void)index;
	if ((p->header >> HSA_PACKET_HEADER_TYPE & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
	    !p->completion_signal.handle)
		return;
	/* relaxed: the program orders reading a signal's times after the submission of its
	 * packet */
	if (atomic_exchange_explicit(&s->signal, BUSY, memory_order_relaxed) == BUSY)
		return;
	atomic_store_explicit(&s->name, name_of(p->kernel_object), memory_order_release);
	atomic_store_explicit(&s->signal, p->completion_signal.handle, memory_order_release);
}

/* The runtime gives the calling thread a signal's times. */
static void on_times(uint64_t signal, uint64_t begin_ns, uint64_t end_ns)
{
	struct submitted *s = &submitted[hash_of(signal) % NR_SIGNALS];
	uint64_t key = key_of(begin_ns, end_ns), before;
	struct answer *a = &answers[hash_of(key) % NR_TIMES];
	const char *name;

	/* acquire: pairs with on_packet() */
	if (!signal || atomic_load_explicit(&s->signal, memory_order_acquire) != signal)
		return;
	name = atomic_load_explicit(&s->name, memory_order_acquire);
	if (atomic_load_explicit(&s->signal, memory_order_relaxed) != signal)
		return;
	before = atomic_exchange_explicit(&a->key, BUSY, memory_order_acquire);
	if (before == BUSY)
		return;
	if (before == key && atomic_load_explicit(&a->name, memory_order_relaxed) != name)
		name = NULL;
	atomic_store_explicit(&a->name, name, memory_order_release);
	atomic_store_explicit(&a->key, key, memory_order_release);
}

const char *kernel_names_find(uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t key = key_of(begin_ns, end_ns);
	struct answer *a = &answers[hash_of(key) % NR_TIMES];
	const char *name;

	/* acquire: pairs with on_times() of another thread, with another key */
	if (atomic_load_explicit(&a->key, memory_order_acquire) != key)
		return NULL;
	name = atomic_load_explicit(&a->name, memory_order_acquire);
	return atomic_load_explicit(&a->key, memory_order_relaxed) == key ? name : NULL;
}

bool kernel_names_are_needed(void)
{
	return !link_core()->hip_find("hipRegisterTracerCallback");
}

void kernel_names_start(void)
{
	const struct rtl_core *core = link_core();

	if (core->submit_listen(on_packet))
		core->times_listen(on_times);
}
