/* SPDX-License-Identifier: MIT */
/* fake_copy.c - the fake runtime's copies, and the times that it returns for signals
 *
 * Threads: any.
 */
#include "support/fake_parts.h"
#include "support/test.h"

void fake_copy_complete(hsa_signal_t s, uint64_t begin_ticks, uint64_t end_ticks)
{
	struct fake_signal *sig = fake_signal_check(s);

	atomic_store(&sig->copy_begin, begin_ticks);
	atomic_store(&sig->copy_end, end_ticks);
	atomic_store(&sig->copying, false);
	__atomic_fetch_sub(&sig->amd.value, 1, __ATOMIC_RELEASE);
}

static hsa_status_t real_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
				    hsa_agent_t src_agent, size_t size, uint32_t nr,
				    const hsa_signal_t *deps, hsa_signal_t s)
{
	struct fake_signal *sig = fake_signal_check(s);

	(void)dst;
	(void)dst_agent;
	(void)src;
	(void)src_agent;
	(void)nr;
	(void)deps;
	fake_gets_work();
	if (fake.refuse_copy) {
		if (fake.in_copy)
			fake.in_copy();
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	atomic_store(&sig->copy_begin, 0);
	atomic_store(&sig->copy_end, 0);
	atomic_store(&sig->copying, true);
	if (fake.copy_by_kernel) {
		atomic_store(&sig->copying, false);
		fake_internal_dispatch(fake.internal, (uint32_t)size, s, fake.copy_at_once);
	} else if (fake.copy_at_once) {
		fake_copy_complete(s, fake_begin_ticks((uint32_t)size),
				   fake_end_ticks((uint32_t)size));
	}
	if (fake.in_copy)
		fake.in_copy();
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				   hsa_agent_t src_agent, size_t size, uint32_t nr,
				   const hsa_signal_t *deps, hsa_signal_t s, int engine, bool force)
{
	(void)engine;
	(void)force;
	return real_async_copy(dst, dst_agent, src, src_agent, size, nr, deps, s);
}

/* Each operation separately, up to the refused one (fake.refuse_op). */
static hsa_status_t real_batch(const void *ops, uint32_t n, uint32_t nr_deps,
			       const hsa_signal_t *deps)
{
	size_t stride = fake.batch_stride ? fake.batch_stride : sizeof(struct fake_op);

	for (uint32_t i = 0; i < n; i++) {
		const struct fake_op *op = (const void *)((const char *)ops + i * stride);

		if (fake.refuse_op == i + 1)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		if (op->completion_signal.handle)
			real_async_copy(NULL, (hsa_agent_t){ 0 }, op->src, op->src_agent, op->size,
					nr_deps, deps, op->completion_signal);
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
			      const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
			      const hsa_dim3_t *range, hsa_agent_t agent,
			      hsa_amd_copy_direction_t dir, uint32_t nr, const hsa_signal_t *deps,
			      hsa_signal_t s)
{
	(void)dst_offset;
	(void)src_offset;
	(void)dir;
	return real_async_copy(dst->base, agent, src->base, agent, range->x, nr, deps, s);
}

static hsa_status_t real_memory_copy(void *dst, const void *src, size_t size)
{
	memmove(dst, src, size);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_memory_fill(void *ptr, uint32_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((uint32_t *)ptr)[i] = value;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_enable(bool enable)
{
	(void)enable;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t convert_tick(hsa_agent_t agent, uint64_t ticks, uint64_t *ns)
{
	if (agent.handle != FAKE_AGENT_BASE + 1 && agent.handle != FAKE_AGENT_BASE + 2)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	*ns = fake_ticks_to_ns(ticks);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t copy_time(hsa_signal_t s, hsa_amd_profiling_async_copy_time_t *time)
{
	struct fake_signal *sig = fake_signal_check(s);
	uint64_t begin = atomic_load(&sig->copy_begin), end = atomic_load(&sig->copy_end);

	if (atomic_load(&sig->copying))
		atomic_fetch_add(&fake.nr_early_times, 1);
	if (!end) {
		begin = __atomic_load_n(&sig->amd.start_ts, __ATOMIC_RELAXED);
		end = __atomic_load_n(&sig->amd.end_ts, __ATOMIC_ACQUIRE);
	}
	time->start = fake_ticks_to_ns(begin);
	time->end = fake_ticks_to_ns(end);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t dispatch_time(hsa_agent_t agent, hsa_signal_t s,
				  hsa_amd_profiling_dispatch_time_t *time)
{
	struct fake_signal *sig = fake_signal_check(s);

	(void)agent;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	time->start = fake_ticks_to_ns(__atomic_load_n(&sig->amd.start_ts, __ATOMIC_RELAXED));
	time->end = fake_ticks_to_ns(__atomic_load_n(&sig->amd.end_ts, __ATOMIC_ACQUIRE));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t fake_copy(uint64_t bytes, hsa_signal_t completion)
{
	return FAKE_AMD(memory_async_copy)((void *)0x1000, fake_agent(0), (const void *)0x2000,
					   fake_agent(1), bytes, 0, NULL, completion);
}

void fake_copy_fill(unsigned nr)
{
	fake.core.entry[HSA_CORE_memory_copy] = (void *)real_memory_copy;
	fake_fill_amd(nr, 3, (void *)copy_enable);
	fake_fill_amd(nr, 4, (void *)dispatch_time);
	fake_fill_amd(nr, 5, (void *)copy_time);
	fake_fill_amd(nr, 6, (void *)convert_tick);
	fake_fill_amd(nr, 15, (void *)real_async_copy);
	fake_fill_amd(nr, 22, (void *)real_memory_fill);
	fake_fill_amd(nr, 38, (void *)real_rect);
	if (nr >= 55)
		fake.amd.entry[16] = (void *)real_on_engine;
	if (nr >= 79)
		fake.amd.entry[78] = (void *)real_batch;
}
