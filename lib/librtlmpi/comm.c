/* SPDX-License-Identifier: MIT */
/* comm.c - librtlmpi: communicators by numbers that all ranks agree on
 *
 * Owns:     a table from handles to communicators, and how many were made of each kind.
 * Threads:  any. A look-up takes no lock; what changes the table does. MPI is asked outside of the
 *           lock.
 * Fails:    with more than TABLE_SIZE communicators at a time, or kinds in all, the rest have the
 *           number 0.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "mpi_wrap.h"

#define TABLE_SIZE 4096u
#define PROBES 64u
#define GONE UINTPTR_MAX
#define ID_BITS 48

/* `version` is odd while the entry changes; a reader that saw it change looks again. */
struct entry {
	_Atomic uintptr_t handle; /* 0: never used; GONE: free again */
	_Atomic uint32_t version;
	struct mpi_comm comm;
};

/* Communicators with these members that were made from one communicator. */
struct made {
	uint64_t kind; /* 0: unused */
	uint64_t nr;
};

GUARDED_LOCK(lock, LOCK_MPI_COMMS);
static struct entry table[TABLE_SIZE];
static struct made made[TABLE_SIZE] RTL_GUARDED_BY(lock);

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* ---- the table ---- */

/* HOT */
static RTL_INLINE struct entry *find(uintptr_t handle)
{
	uint32_t at = (uint32_t)mix(0, handle);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct entry *e = &table[(at + i) % TABLE_SIZE];
		/* acquire: pairs with put() */
		uintptr_t there = atomic_load_explicit(&e->handle, memory_order_acquire);

		if (there == handle)
			return e;
		if (!there)
			return NULL;
	}
	return NULL;
}

#ifdef RTL_SANITIZE_THREAD
/* the sanitizer does not know fences, and no call of MPI runs under it */
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/* HOT: false: it is not there. */
static RTL_INLINE bool look_up(uintptr_t handle, struct mpi_comm *out)
{
	for (;;) {
		struct entry *e = find(handle);
		uint32_t version;

		if (!e)
			return false;
		/* acquire, and the fence: what was read between lies between the two versions */
		version = atomic_load_explicit(&e->version, memory_order_acquire);
		*out = e->comm;
		atomic_thread_fence(memory_order_acquire);
		if (!(version & 1) &&
		    version == atomic_load_explicit(&e->version, memory_order_relaxed) &&
		    atomic_load_explicit(&e->handle, memory_order_relaxed) == handle)
			return true;
		RTL_RELAX();
	}
}

RTL_REQUIRES(lock) static void set(struct entry *e, uintptr_t handle, const struct mpi_comm *comm)
{
	/* relaxed: the lock orders writers; the fence: an odd version is seen before what
	 * follows */
	uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);

	atomic_store_explicit(&e->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	e->comm = *comm;
	/* release: pair with look_up() and find() */
	atomic_store_explicit(&e->version, version + 2, memory_order_release);
	atomic_store_explicit(&e->handle, handle, memory_order_release);
}

RTL_REQUIRES(lock) static void put(uintptr_t handle, const struct mpi_comm *comm)
{
	struct entry *e = find(handle);
	uint32_t at = (uint32_t)mix(0, handle);

	for (uint32_t i = 0; i < PROBES && !e; i++) {
		struct entry *free_one = &table[(at + i) % TABLE_SIZE];
		uintptr_t there = atomic_load_explicit(&free_one->handle, memory_order_relaxed);

		if (!there || there == GONE)
			e = free_one;
	}
	if (e)
		set(e, handle, comm);
}

/* How many of the kind there were before, and one more. false: no space. */
RTL_REQUIRES(lock) static bool count_one(uint64_t kind, uint64_t *before)
{
	kind |= 1;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct made *m = &made[(kind + i) % TABLE_SIZE];

		if (m->kind && m->kind != kind)
			continue;
		m->kind = kind;
		*before = m->nr++;
		return true;
	}
	return false;
}

/* ---- what MPI says ---- */

/* A hash of the group's ranks in MPI_COMM_WORLD, in their order. false: one is not there. */
static bool hash_group(const struct mpi_abi *a, mpi_handle group, mpi_handle world, uint64_t *hash)
{
	int size = 0, ranks[256], out[256];
	bool all = a->group_size(group, &size) == 0;

	/* rank 0 and an empty group count, too */
	*hash = mix(6, (uint64_t)size);
	for (int from = 0; all && from < size; from += (int)ARRAY_SIZE(ranks)) {
		int nr = size - from < (int)ARRAY_SIZE(ranks) ? size - from :
								(int)ARRAY_SIZE(ranks);

		for (int i = 0; i < nr; i++)
			ranks[i] = from + i;
		all = a->group_translate(group, nr, ranks, world, out) == 0;
		for (int i = 0; i < nr && all; i++) {
			all = out[i] >= 0;
			*hash = mix(*hash, (uint64_t)out[i] + 1);
		}
	}
	return all;
}

static bool hash_members(const struct mpi_abi *a, mpi_handle comm, bool is_inter, uint64_t *hash)
{
	mpi_handle world = 0, group = 0, remote = 0;
	uint64_t other = 0;
	bool all = a->comm_group(a->comm_world, &world) == 0;

	if (!all)
		return false;
	all = a->comm_group(comm, &group) == 0;
	if (all) {
		all = hash_group(a, group, world, hash);
		a->group_free(&group);
	}
	if (all && is_inter) {
		all = a->comm_remote_group(comm, &remote) == 0;
		if (all) {
			all = hash_group(a, remote, world, &other);
			a->group_free(&remote);
		}
		/* the same on both sides */
		*hash = mix(*hash ^ other, *hash + other);
	}
	a->group_free(&world);
	return all;
}

/* All but the number. The communicator exists. false: its members have no common numbers. */
static bool describe(const struct mpi_abi *a, mpi_handle comm, struct mpi_comm *out)
{
	int flag = 0, has_world = 0, size = 0, rank = 0;

	a->initialized(&has_world);
	a->comm_size(comm, &size);
	a->comm_rank(comm, &rank);
	a->comm_test_inter(comm, &flag);
	*out = (struct mpi_comm){ .size = size, .rank = rank, .is_inter = flag != 0 };
	/* without MPI_Init() there is no MPI_COMM_WORLD */
	return has_world && hash_members(a, comm, out->is_inter, &out->members);
}

/* ---- numbers ---- */

static void number(struct mpi_comm *c, uint64_t parent, uintptr_t handle, bool replace)
{
	struct mpi_comm there;
	uint64_t before = 0;

	lock_take(&lock);
	if (!replace && look_up(handle, &there)) {
		/* another thread was first */
		*c = there;
	} else if (count_one(mix(mix(1, parent), c->members), &before)) {
		c->id = mix(mix(mix(2, parent), c->members), before) >> (64 - ID_BITS);
		/* apart from 1 and 2 */
		c->id |= UINT64_C(1) << (ID_BITS - 1);
		put(handle, c);
	}
	lock_drop(&lock);
}

static void describe_any(const struct mpi_abi *a, mpi_handle comm, struct mpi_comm *out)
{
	if (!describe(a, comm, out))
		out->members = mix(mix(3, (uint64_t)getpid()), comm);
}

static RTL_NOINLINE struct mpi_comm add(const struct mpi_abi *a, uint64_t parent, mpi_handle comm,
					bool replace)
{
	struct mpi_comm c = { 0 };
	int saved = errno;

	describe_any(a, comm, &c);
	if (comm == a->comm_world || comm == a->comm_self) {
		c.id = comm == a->comm_world ? 1 : 2;
		lock_take(&lock);
		put(comm, &c);
		lock_drop(&lock);
	} else {
		number(&c, parent, comm, replace);
	}
	errno = saved;
	return c;
}

struct mpi_comm mpi_comm_of(bool ok, mpi_handle comm)
{
	const struct mpi_abi *a = mpi_abi();
	struct mpi_comm c = { 0 };

	if (!a)
		return c;
	comm = mpi_handle_value(comm);
	if (!comm || RTL_LIKELY(look_up(comm, &c)) || !ok || comm == a->comm_null)
		return c;
	return add(a, 0, comm, false);
}

struct mpi_comm mpi_comm_new(bool ok, const struct mpi_comm *parent, const void *comm)
{
	const struct mpi_abi *a = mpi_abi();
	mpi_handle handle = ok ? mpi_value(comm) : 0;

	if (!a || !handle || handle == a->comm_null)
		return (struct mpi_comm){ 0 };
	return add(a, parent ? parent->id : 0, handle, true);
}

struct mpi_comm mpi_comm_copy(bool ok, const struct mpi_comm *parent, const void *comm)
{
	const struct mpi_abi *a = mpi_abi();
	mpi_handle handle = ok ? mpi_value(comm) : 0;
	struct mpi_comm c = *parent, there;
	uint64_t before = 0;
	int saved = errno;

	if (!a || !ok)
		return (struct mpi_comm){ 0 };
	c.id = 0;
	lock_take(&lock);
	if (count_one(mix(mix(4, parent->id), c.members), &before))
		c.id = mix(mix(mix(5, parent->id), c.members), before) >> (64 - ID_BITS) |
		       UINT64_C(1) << (ID_BITS - 1);
	/* a call that does not wait may not have set the handle yet: what is there may be
	 * anything */
	if (c.id && handle && handle != a->comm_null && !look_up(handle, &there))
		put(handle, &c);
	lock_drop(&lock);
	errno = saved;
	return c;
}

struct mpi_comm mpi_comm_take(const void *comm, uint64_t *handle)
{
	struct mpi_comm c = { 0 };
	struct entry *e;

	*handle = mpi_value(comm);
	lock_take(&lock);
	e = *handle ? find(*handle) : NULL;
	if (e) {
		c = e->comm;
		/* relaxed: who uses a communicator that is being freed makes an error */
		atomic_store_explicit(&e->handle, GONE, memory_order_relaxed);
	}
	lock_drop(&lock);
	return c;
}

void mpi_comm_gone(bool ok, uint64_t handle, const struct mpi_comm *taken)
{
	if (ok || !taken->id)
		return;
	lock_take(&lock);
	put(handle, taken);
	lock_drop(&lock);
}

/* ---- arguments with an element for each rank ---- */

int64_t mpi_count(const void *counts, int rank, bool large)
{
	return !counts || rank < 0 ? 0 :
	       large		   ? ((const int64_t *)counts)[rank] :
				     ((const int *)counts)[rank];
}

int64_t mpi_sum(const void *counts, const struct mpi_comm *at, bool large)
{
	int64_t sum = 0;

	/* between two groups there are as many as the other one has */
	for (int i = 0; i < at->size && !at->is_inter; i++)
		sum += mpi_count(counts, i, large);
	return sum;
}

uint64_t mpi_bytes_of_types(const void *counts, const void *types, const struct mpi_comm *at,
			    bool large)
{
	const struct mpi_abi *a = mpi_abi();
	size_t step = a && a->kind == MPI_MPICH ? sizeof(uint32_t) : sizeof(mpi_handle);
	uint64_t bytes = 0;

	for (int i = 0; i < at->size && !at->is_inter; i++) {
		int64_t count = mpi_count(counts, i, large);

		if (count > 0)
			bytes +=
				mpi_bytes(count, mpi_value((const char *)types + (size_t)i * step));
	}
	return bytes;
}

bool mpi_is_root(const struct mpi_comm *at, int root)
{
	return at->is_inter ? mpi_peer(root) == MPI_PEER_ROOT : at->rank == root;
}

bool mpi_is_idle(const struct mpi_comm *at, int root)
{
	return at->is_inter && mpi_peer(root) == MPI_PEER_NULL;
}
