/* SPDX-License-Identifier: MIT */
/* reach.c - the memory that kernels of a GPU can reach
 *
 * Owns:     the table of ranges, by address; the locks of host memory, which may overlap; which
 *           agent has a memory pool.
 * Threads:  any, under `lock`. Not under it: the runtime's functions.
 * Fails:    no memory for the table: it is not complete, so that no kernel is replayed.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/memory/reach.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <hsa/hsa_ext_amd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/sys.h"
#include "event/event.h"
#include "source/hsa/agent.h"
#include "source/hsa/table/real.h"
#include "source/hsa/table/table.h"

#define MAX_POOLS 256u
#define FIRST_RANGES 256u
#define FIRST_PINS 64u
#define MAX_HANDLES 4096u

struct owner {
	uint64_t handle; /* of a pool, or of physical memory */
	uint32_t agent;
};

/* One call of hsa_amd_memory_lock() that was not undone. The runtime counts them, so each is
 * kept. */
struct pin {
	uint64_t host; /* by which it is undone */
	uint64_t base, size;
};

static struct lock lock = LOCK_INIT(LOCK_REACH);
static struct reach_range *ranges RTL_GUARDED_BY(lock);
static size_t nr_ranges RTL_GUARDED_BY(lock);
static size_t cap_ranges RTL_GUARDED_BY(lock);
static struct pin *pins RTL_GUARDED_BY(lock);
static size_t nr_pins RTL_GUARDED_BY(lock);
static size_t cap_pins RTL_GUARDED_BY(lock);
static bool is_complete RTL_GUARDED_BY(lock) = true;
static struct owner physical[MAX_HANDLES] RTL_GUARDED_BY(lock);
static uint32_t nr_physical RTL_GUARDED_BY(lock);
static struct owner pools[MAX_POOLS]; /* constant after reach_install() */
static uint32_t nr_pools;
static _Atomic uint64_t version = 1;	      /* changes under the lock */
static uint32_t nr_kept RTL_GUARDED_BY(lock); /* replays that run */

/* ---- the table ------------------------------------------------------------------------------- */

/* The position of the first range that ends behind the address. Ranges do not overlap. */
static size_t position(const struct reach_range *all, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (all[mid].base + all[mid].size <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

RTL_REQUIRES(lock) static void changed(void)
{
	/* release: pairs with reach_read(), which reads it without the lock first */
	atomic_fetch_add_explicit(&version, 1, memory_order_release);
}

RTL_REQUIRES(lock) static bool make_space(void)
{
	size_t more = cap_ranges ? 2 * cap_ranges : FIRST_RANGES;
	struct reach_range *all;

	if (nr_ranges < cap_ranges)
		return true;
	all = alloc_pages(more * sizeof(*all));
	if (!all)
		return false;
	if (cap_ranges) {
		memcpy(all, ranges, nr_ranges * sizeof(*all));
		alloc_pages_free(ranges, cap_ranges * sizeof(*all));
	}
	ranges = all;
	cap_ranges = more;
	return true;
}

RTL_REQUIRES(lock) static void remove_at(size_t i)
{
	memmove(&ranges[i], &ranges[i + 1], (nr_ranges - i - 1) * sizeof(*ranges));
	nr_ranges--;
	changed();
}

/* The same; what was removed is from *begin to *stop afterwards. */
RTL_REQUIRES(lock) static void remove_within(size_t i, uint64_t *begin, uint64_t *stop)
{
	uint64_t base = ranges[i].base, end = base + ranges[i].size;

	*begin = base < *begin ? base : *begin;
	*stop = end > *stop ? end : *stop;
	remove_at(i);
}

RTL_REQUIRES(lock) static bool insert_at(size_t i, const struct reach_range *r)
{
	changed();
	if (!make_space()) {
		is_complete = false;
		return false;
	}
	memmove(&ranges[i + 1], &ranges[i], (nr_ranges - i) * sizeof(*ranges));
	ranges[i] = *r;
	nr_ranges++;
	return true;
}

/* What the table lacks of the locked memory of which a part is from `begin` to `stop`. */
RTL_REQUIRES(lock) static void insert_pins(uint64_t begin, uint64_t stop)
{
	for (size_t n = 0; n < nr_pins; n++) {
		uint64_t at = pins[n].base, end = at + pins[n].size;

		/* allocations come here, too: most have nothing to do with locks */
		if (at >= stop || end <= begin)
			continue;

		while (at < end) {
			size_t i = position(ranges, nr_ranges, at);
			uint64_t next = i < nr_ranges && ranges[i].base < end ? ranges[i].base :
										end;
			const struct reach_range r = { .base = at,
						       .size = next - at,
						       .agent = AGENT_NONE,
						       .kind = REACH_HOST,
						       .is_pinned = true };

			if (next <= at)
				at = ranges[i].base + ranges[i].size;
			else if (insert_at(i, &r))
				at = next;
			else
				return;
		}
	}
}

/* What was there before was freed by other ways. */
RTL_REQUIRES(lock) static void insert(const struct reach_range *r)
{
	uint64_t begin = r->base, stop = r->base + r->size;
	size_t i = position(ranges, nr_ranges, r->base);

	while (i < nr_ranges && ranges[i].base < r->base + r->size)
		remove_within(i, &begin, &stop);
	if (insert_at(i, r))
		insert_pins(begin, stop);
}

static void add(const void *base, uint64_t size, uint32_t agent, enum reach_kind kind,
		uint64_t handle)
{
	const struct reach_range r = { .base = (uint64_t)(uintptr_t)base,
				       .size = size,
				       .agent = agent,
				       .kind = kind,
				       .handle = handle };

	if (!base || !size)
		return;
	lock_take(&lock);
	insert(&r);
	lock_drop(&lock);
}

static bool is_of_host(const struct reach_range *r)
{
	return r->kind == REACH_HOST && r->agent == AGENT_NONE && !r->handle && !r->is_pinned;
}

/* Memory of the host, which may be a part of what is in the table, or overlap it: attributes are
 * set for parts of it. */
static void add_host(const void *address, uint64_t size)
{
	struct reach_range r = { .base = (uint64_t)(uintptr_t)address,
				 .size = size,
				 .agent = AGENT_NONE,
				 .kind = REACH_HOST };
	uint64_t last = r.base + size;

	if (!address || !size)
		return;
	lock_take(&lock);
	for (size_t i = position(ranges, nr_ranges, r.base); i < nr_ranges && ranges[i].base < last;
	     i++) {
		uint64_t end = ranges[i].base + ranges[i].size;

		if (!is_of_host(&ranges[i]))
			continue;
		r.base = ranges[i].base < r.base ? ranges[i].base : r.base;
		last = end > last ? end : last;
	}
	r.size = last - r.base;
	insert(&r);
	lock_drop(&lock);
}

RTL_REQUIRES(lock) static struct reach_range *find(const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	size_t i = position(ranges, nr_ranges, at);

	return i < nr_ranges && ranges[i].base <= at ? &ranges[i] : NULL;
}

/* ---- replays --------------------------------------------------------------------------------- */

void reach_keep(bool on)
{
	lock_take(&lock);
	nr_kept += on ? 1 : -1u;
	lock_drop(&lock);
}

RTL_REQUIRES(lock) static bool is_kept(const void *address)
{
	const struct reach_range *r = address ? find(address) : NULL;

	return nr_kept && (!address || (r && r->kind == REACH_OWN));
}

/* Before memory of a GPU is freed or shared: a replay may save or restore it now. Takes the lock
 * when none does. NULL: any memory. */
static void lock_settled(const void *address) RTL_ACQUIRES(lock)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	uint64_t deadline_ns = clock_now_ns() + 2 * env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000);

	lock_take(&lock);
	while (is_kept(address) && clock_now_ns() < deadline_ns) {
		lock_drop(&lock);
		sys_nap(&nap);
		lock_take(&lock);
	}
}

/* It is about to be freed. */
static void remove_range(const void *base)
{
	const struct reach_range *r;

	lock_settled(base);
	r = find(base);
	if (r && r->base == (uint64_t)(uintptr_t)base)
		remove_at((size_t)(r - ranges));
	lock_drop(&lock);
}

/* The range with that address becomes one of the kind, unless it is one of a later kind already. */
static void share(const void *address, enum reach_kind kind)
{
	struct reach_range *r;

	lock_settled(address);
	r = find(address);
	if (r && r->kind < kind) {
		r->kind = kind;
		changed();
	}
	lock_drop(&lock);
}

RTL_REQUIRES(lock) static bool add_pin(const struct pin *p)
{
	size_t more = cap_pins ? 2 * cap_pins : FIRST_PINS;
	struct pin *all;

	if (nr_pins == cap_pins) {
		all = alloc_pages(more * sizeof(*all));
		if (!all)
			return false;
		if (cap_pins) {
			memcpy(all, pins, nr_pins * sizeof(*all));
			alloc_pages_free(pins, cap_pins * sizeof(*all));
		}
		pins = all;
		cap_pins = more;
	}
	pins[nr_pins++] = *p;
	return true;
}

/* Memory of the host was locked: a GPU has it at `base`. */
static void pin(const void *host, const void *base, uint64_t size)
{
	const struct pin p = { .host = (uint64_t)(uintptr_t)host,
			       .base = (uint64_t)(uintptr_t)base,
			       .size = size };

	if (!base || !size)
		return;
	lock_settled(base);
	/* memory of a pool, or what was there before and was freed by other ways */
	for (size_t i = position(ranges, nr_ranges, p.base);
	     i < nr_ranges && ranges[i].base < p.base + size; i++)
		if (ranges[i].kind < REACH_HOST)
			ranges[i].kind = REACH_HOST;
	if (add_pin(&p))
		insert_pins(p.base, p.base + p.size);
	else
		is_complete = false;
	changed();
	lock_drop(&lock);
}

/* The last lock is undone by the number of calls: until then the largest range stays. */
RTL_REQUIRES(lock) static struct pin *smallest_pin(const void *host)
{
	struct pin *p = NULL;

	for (size_t i = 0; i < nr_pins; i++)
		if (pins[i].host == (uint64_t)(uintptr_t)host && (!p || pins[i].size < p->size))
			p = &pins[i];
	return p;
}

static void unpin(const void *host)
{
	uint64_t begin, stop;
	struct pin *p, old;

	lock_take(&lock);
	p = smallest_pin(host);
	if (p) {
		old = *p;
		begin = old.base;
		stop = old.base + old.size;
		*p = pins[--nr_pins];
		for (size_t i = position(ranges, nr_ranges, old.base);
		     i < nr_ranges && ranges[i].base < old.base + old.size;)
			if (ranges[i].is_pinned)
				remove_within(i, &begin, &stop);
			else
				i++;
		insert_pins(begin, stop);
	}
	lock_drop(&lock);
}

bool reach_read(struct reach_view *v)
{
	/* acquire: pairs with changed() */
	if (v->version == atomic_load_explicit(&version, memory_order_acquire))
		return true;
	lock_take(&lock);
	if (v->cap < nr_ranges) {
		reach_free(v);
		v->ranges = alloc_pages(cap_ranges * sizeof(*v->ranges));
		v->cap = v->ranges ? cap_ranges : 0;
	}
	v->version = 0;
	if (v->cap >= nr_ranges) {
		if (nr_ranges)
			memcpy(v->ranges, ranges, nr_ranges * sizeof(*ranges));
		v->nr = nr_ranges;
		v->is_complete = is_complete;
		v->version = atomic_load_explicit(&version, memory_order_relaxed);
	}
	lock_drop(&lock);
	return v->version != 0;
}

void reach_free(struct reach_view *v)
{
	if (v->ranges)
		alloc_pages_free(v->ranges, v->cap * sizeof(*v->ranges));
	*v = (struct reach_view){ 0 };
}

const struct reach_range *reach_find(const struct reach_view *v, uint64_t address)
{
	size_t i = position(v->ranges, v->nr, address);

	return i < v->nr && v->ranges[i].base <= address ? &v->ranges[i] : NULL;
}

bool reach_has(const struct reach_range *r)
{
	const struct reach_range *now;
	bool has;

	lock_take(&lock);
	now = find((const void *)(uintptr_t)r->base);
	has = now && now->base == r->base && now->size == r->size && now->kind == r->kind;
	lock_drop(&lock);
	return has;
}

void reach_add_code(uint32_t agent, uint64_t base, uint64_t size)
{
	if (env_bool(ENV_PMC_REPLAY))
		add((const void *)(uintptr_t)base, size, agent, REACH_OWN, 0);
}

void reach_settle(void)
{
	if (!env_bool(ENV_PMC_REPLAY))
		return;
	lock_settled(NULL);
	lock_drop(&lock);
}

void reach_remove_code(uint64_t base)
{
	const struct reach_range *r;

	if (!env_bool(ENV_PMC_REPLAY))
		return;
	lock_take(&lock);
	r = find((const void *)(uintptr_t)base);
	if (r)
		remove_at((size_t)(r - ranges));
	lock_drop(&lock);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *agent)
{
	if (nr_pools < MAX_POOLS)
		pools[nr_pools++] = (struct owner){ pool.handle, *(const uint32_t *)agent };
	return HSA_STATUS_SUCCESS;
}

static void scan_pools(void)
{
	nr_pools = 0;
	for (uint32_t i = 0; i < AGENT_MAX && real.hsa_amd_agent_iterate_memory_pools; i++)
		if (agent_handle(i).handle)
			real.hsa_amd_agent_iterate_memory_pools(agent_handle(i), see_pool, &i);
}

/* AGENT_NONE: a pool that was not found. */
static uint32_t owner_of(const struct owner *all, uint32_t nr, uint64_t handle)
{
	for (uint32_t i = 0; i < nr; i++)
		if (all[i].handle == handle)
			return all[i].agent;
	return AGENT_NONE;
}

static enum reach_kind kind_of(uint32_t agent)
{
	if (agent == AGENT_NONE)
		return REACH_UNKNOWN;
	return agent_is_gpu(agent) ? REACH_OWN : REACH_HOST;
}

/* ---- the runtime's functions ----------------------------------------------------------------- */

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
				  void **ptr)
{
	uint32_t agent = owner_of(pools, nr_pools, pool.handle);
	hsa_status_t status = real.hsa_amd_memory_pool_allocate(pool, size, flags, ptr);

	if (status == HSA_STATUS_SUCCESS)
		add(*ptr, size, agent, kind_of(agent), 0);
	return status;
}

static hsa_status_t pool_free(void *ptr)
{
	/* before the runtime's call: another thread may get the address at once */
	remove_range(ptr);
	return real.hsa_amd_memory_pool_free(ptr);
}

/* A region is the pool of the same handle. */
static hsa_status_t region_allocate(hsa_region_t region, size_t size, void **ptr)
{
	uint32_t agent = owner_of(pools, nr_pools, region.handle);
	hsa_status_t status = real.hsa_memory_allocate(region, size, ptr);

	if (status == HSA_STATUS_SUCCESS)
		add(*ptr, size, agent, kind_of(agent), 0);
	return status;
}

static hsa_status_t region_free(void *ptr)
{
	remove_range(ptr);
	return real.hsa_memory_free(ptr);
}

/* Where the host has access to a GPU's memory (large BAR), HIP stores data and arguments there
 * without a call of the runtime, which a replay would undo. So the program is on a machine where it
 * has none: it copies then. */
static hsa_status_t agent_pool_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
				    hsa_amd_agent_memory_pool_info_t what, void *value)
{
	hsa_status_t status = real.hsa_amd_agent_memory_pool_get_info(agent, pool, what, value);
	uint32_t owner = owner_of(pools, nr_pools, pool.handle);

	if (status == HSA_STATUS_SUCCESS && what == HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS &&
	    agent_is_gpu(owner) && !agent_is_gpu(agent_index(agent))) {
		hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;

		memcpy(value, &access, sizeof(access));
	}
	return status;
}

/* What access by these agents makes of memory of `owner`. */
static enum reach_kind kind_for(uint32_t owner, const hsa_agent_t *agents, uint32_t nr)
{
	enum reach_kind kind = REACH_OWN;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t agent = agent_index(agents[i]);

		if (agent != owner)
			kind = agent_is_gpu(agent) ? REACH_OTHER_GPU : REACH_HOST;
	}
	return kind;
}

static uint32_t owner_at(const void *address)
{
	const struct reach_range *r;
	uint32_t owner = AGENT_NONE;

	lock_take(&lock);
	r = find(address);
	if (r && r->kind == REACH_OWN)
		owner = r->agent;
	lock_drop(&lock);
	return owner;
}

static hsa_status_t allow_access(uint32_t nr, const hsa_agent_t *agents, const uint32_t *flags,
				 const void *ptr)
{
	uint32_t owner = owner_at(ptr);
	enum reach_kind kind = owner == AGENT_NONE || !agents ? REACH_OWN :
								kind_for(owner, agents, nr);

	if (kind != REACH_OWN)
		share(ptr, kind);
	return real.hsa_amd_agents_allow_access(nr, agents, flags, ptr);
}

static hsa_status_t lock_memory(void *host, size_t size, hsa_agent_t *agents, int nr,
				void **agent_ptr)
{
	hsa_status_t status = real.hsa_amd_memory_lock(host, size, agents, nr, agent_ptr);

	if (status == HSA_STATUS_SUCCESS)
		pin(host, *agent_ptr, size);
	return status;
}

static hsa_status_t lock_to_pool(void *host, size_t size, hsa_agent_t *agents, int nr,
				 hsa_amd_memory_pool_t pool, uint32_t flags, void **agent_ptr)
{
	hsa_status_t status =
		real.hsa_amd_memory_lock_to_pool(host, size, agents, nr, pool, flags, agent_ptr);

	if (status == HSA_STATUS_SUCCESS)
		pin(host, *agent_ptr, size);
	return status;
}

static hsa_status_t unlock_memory(void *host)
{
	unpin(host);
	return real.hsa_amd_memory_unlock(host);
}

static hsa_status_t ipc_create(void *ptr, size_t size, hsa_amd_ipc_memory_t *handle)
{
	share(ptr, REACH_OTHER_USER);
	return real.hsa_amd_ipc_memory_create(ptr, size, handle);
}

static hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t *handle, size_t size, uint32_t nr,
			       const hsa_agent_t *agents, void **ptr)
{
	hsa_status_t status = real.hsa_amd_ipc_memory_attach(handle, size, nr, agents, ptr);

	if (status == HSA_STATUS_SUCCESS)
		add(*ptr, size, AGENT_NONE, REACH_OTHER_USER, 0);
	return status;
}

static hsa_status_t ipc_detach(void *ptr)
{
	remove_range(ptr);
	return real.hsa_amd_ipc_memory_detach(ptr);
}

static hsa_status_t map_buffer(uint32_t nr, hsa_agent_t *agents, int handle, uint32_t flags,
			       size_t *size, void **ptr, size_t *metadata_size,
			       const void **metadata)
{
	hsa_status_t status = real.hsa_amd_interop_map_buffer(nr, agents, handle, flags, size, ptr,
							      metadata_size, metadata);

	if (status == HSA_STATUS_SUCCESS)
		add(*ptr, *size, AGENT_NONE, REACH_OTHER_USER, 0);
	return status;
}

static hsa_status_t unmap_buffer(void *ptr)
{
	remove_range(ptr);
	return real.hsa_amd_interop_unmap_buffer(ptr);
}

static hsa_status_t export_dmabuf(const void *ptr, size_t size, int *dmabuf, uint64_t *offset)
{
	share(ptr, REACH_OTHER_USER);
	return real.hsa_amd_portable_export_dmabuf(ptr, size, dmabuf, offset);
}

static hsa_status_t set_attributes(void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *list,
				   size_t nr)
{
	hsa_status_t status = real.hsa_amd_svm_attributes_set(ptr, size, list, nr);

	if (status == HSA_STATUS_SUCCESS)
		add_host(ptr, size);
	return status;
}

/* ---- mapped memory --------------------------------------------------------------------------- */

/* hsa_amd_memory_access_desc_t of ROCr 5.6 and later */
struct access { /* 0: no permission */
	hsa_access_permission_t permissions;
	hsa_agent_t agent;
};

static hsa_status_t handle_create(hsa_amd_memory_pool_t pool, size_t size, int type, uint64_t flags,
				  uint64_t *handle)
{
	hsa_status_t status = real.hsa_amd_vmem_handle_create(pool, size, type, flags, handle);
	uint32_t i = 0;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	lock_take(&lock);
	while (i < nr_physical && physical[i].handle != *handle)
		i++;
	if (i < MAX_HANDLES) {
		nr_physical += i == nr_physical;
		physical[i] = (struct owner){ *handle, owner_of(pools, nr_pools, pool.handle) };
	}
	lock_drop(&lock);
	return status;
}

static hsa_status_t handle_release(uint64_t handle)
{
	lock_take(&lock);
	for (uint32_t i = 0; i < nr_physical; i++)
		if (physical[i].handle == handle)
			physical[i] = physical[--nr_physical];
	lock_drop(&lock);
	return real.hsa_amd_vmem_handle_release(handle);
}

static hsa_status_t map(void *va, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
	hsa_status_t status = real.hsa_amd_vmem_map(va, size, offset, handle, flags);
	uint32_t agent;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	lock_take(&lock);
	agent = owner_of(physical, nr_physical, handle);
	lock_drop(&lock);
	/* imported memory has no known owner */
	add(va, size, agent, agent == AGENT_NONE ? REACH_OTHER_USER : REACH_NOBODYS, handle);
	return status;
}

static hsa_status_t unmap(void *va, size_t size)
{
	remove_range(va);
	return real.hsa_amd_vmem_unmap(va, size);
}

static void set_kinds(const void *va, size_t size, const struct access *access, size_t nr)
{
	uint64_t base = (uint64_t)(uintptr_t)va;

	lock_settled(va);
	for (size_t i = position(ranges, nr_ranges, base);
	     i < nr_ranges && ranges[i].base < base + size; i++) {
		struct reach_range *r = &ranges[i];

		for (size_t a = 0; a < nr && r->kind <= REACH_OTHER_GPU; a++) {
			enum reach_kind kind = kind_for(r->agent, &access[a].agent, 1);

			if (access[a].permissions != 0 &&
			    (kind != REACH_OWN || r->kind == REACH_NOBODYS))
				r->kind = kind == REACH_OWN && !agent_is_gpu(r->agent) ?
						  REACH_HOST :
						  kind;
		}
	}
	changed();
	lock_drop(&lock);
}

static hsa_status_t set_access(void *va, size_t size, const void *desc, size_t nr)
{
	if (desc)
		set_kinds(va, size, desc, nr);
	return real.hsa_amd_vmem_set_access(va, size, desc, nr);
}

static hsa_status_t export_handle(int *dmabuf, uint64_t handle, uint64_t flags)
{
	lock_take(&lock);
	for (size_t i = 0; i < nr_ranges; i++)
		if (ranges[i].handle == handle)
			ranges[i].kind = REACH_OTHER_USER;
	for (uint32_t i = 0; i < nr_physical; i++)
		if (physical[i].handle == handle)
			physical[i].agent = AGENT_NONE; /* what is mapped later, too */
	changed();
	lock_drop(&lock);
	return real.hsa_amd_vmem_export_shareable_handle(dmabuf, handle, flags);
}

/* ---- installing ------------------------------------------------------------------------------ */

void reach_install(const struct hsa_mirror_root *root)
{
	if (!env_bool(ENV_PMC_REPLAY))
		return;
	scan_pools();
#define CORE(name, fn) TABLE_CORE(root, name, fn)
#define AMD(name, fn) TABLE_AMD(root, name, fn)
	CORE(memory_allocate, region_allocate);
	CORE(memory_free, region_free);
	AMD(memory_pool_allocate, pool_allocate);
	AMD(memory_pool_free, pool_free);
	AMD(agent_memory_pool_get_info, agent_pool_info);
	AMD(agents_allow_access, allow_access);
	AMD(memory_lock, lock_memory);
	AMD(memory_lock_to_pool, lock_to_pool);
	AMD(memory_unlock, unlock_memory);
	AMD(ipc_memory_create, ipc_create);
	AMD(ipc_memory_attach, ipc_attach);
	AMD(ipc_memory_detach, ipc_detach);
	AMD(interop_map_buffer, map_buffer);
	AMD(interop_unmap_buffer, unmap_buffer);
	AMD(portable_export_dmabuf, export_dmabuf);
	AMD(svm_attributes_set, set_attributes);
	AMD(vmem_handle_create, handle_create);
	AMD(vmem_handle_release, handle_release);
	AMD(vmem_map, map);
	AMD(vmem_unmap, unmap);
	AMD(vmem_set_access, set_access);
	AMD(vmem_export_shareable_handle, export_handle);
#undef AMD
#undef CORE
}

void reach_reset(void)
{
	lock_take(&lock);
	nr_ranges = 0;
	nr_pins = 0;
	nr_physical = 0;
	is_complete = true;
	changed();
	lock_drop(&lock);
}
