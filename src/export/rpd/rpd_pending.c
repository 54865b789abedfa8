/* SPDX-License-Identifier: MIT */
/* rpd_pending.c - operations whose call is not recorded yet
 *
 * A call is recorded when it returns, which may be after its operations; a link of an operation to
 * its call, too. In the parts of a trace that still grows such an operation has its row before. It
 * is linked to its thread then, and noted here; when a later part has the call, its row is changed.
 * A row is changed once at most, and is one of the last: memory and time do not grow with the
 * trace. A database that grows has the compact layout (rpd_tables.h).
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* 12 MiB. The calls of the oldest half are taken for not recorded when there are more. */
#define MAX_PENDING (UINT32_C(1) << 18)

/* The operation has no call: the span of its thread's row covers it. */
static void settle(struct rpd_process *p, const struct rpd_pending *e)
{
	if (e->in & RPD_IN_OP)
		rpd_spool_widen(p, e->thread, e->start, e->end);
}

static int add(struct rpd_process *p, const struct rpd_pending *entry)
{
	struct rpd_pending *pending;

	if (p->nr_pending == MAX_PENDING) {
		size_t half = MAX_PENDING / 2;

		for (size_t i = 0; i < half; i++)
			settle(p, &p->pending[i]);
		p->nr_pending -= half;
		memmove(p->pending, p->pending + half, p->nr_pending * sizeof(*pending));
	}
	pending = alloc_grow(p->pending, p->nr_pending, &p->cap_pending, 256, sizeof(*pending));
	if (!pending)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	p->pending = pending;
	pending[p->nr_pending++] = *entry;
	return 0;
}

/* Whether a later record can change the row. */
static bool may_change(const struct rpd_process *p, uint64_t correlation, uint32_t in)
{
	if (!correlation || correlation >= RPD_MAX_LOCAL || !p->wide)
		return false;
	if (index_has_links(p->index))
		return true;
	return in & RPD_IN_OP && index_totals(p->index)->apis;
}

int rpd_pending_add(struct rpd_process *p, const struct rpd_row *row, uint64_t correlation,
		    size_t thread)
{
	const struct rpd_pending entry = { .row = row->id,
					   .start = row->start,
					   .end = row->end,
					   .correlation = correlation,
					   .thread = (uint32_t)thread,
					   .in = row->in };

	if (may_change(p, correlation, row->in))
		return add(p, &entry);
	settle(p, &entry);
	return 0;
}

int rpd_pending_barrier(struct rpd_process *p, int64_t row, uint64_t correlation, size_t thread)
{
	const struct rpd_pending entry = { .row = row,
					   .correlation = correlation,
					   .thread = (uint32_t)thread };

	return may_change(p, correlation, 0) ? add(p, &entry) : 0;
}

/* Writes call, marker and thread of a row. */
static int change_row(struct rpd_process *p, const struct rpd_pending *e, uint64_t marker)
{
	long long row = (long long)e->row, thread = (long long)(p->base + (int64_t)e->thread + 1);
	long long call = (long long)rpd_spool_call(p, e->correlation);
	long long range = (long long)rpd_spool_marker(p, marker);

	if (e->in & RPD_IN_RUNTIME)
		return rpd_db_execf(
			p->r,
			"UPDATE rtl_op_runtime SET correlation_id = %lld, marker_id = %lld, "
			"thread_id = %lld WHERE op_id = %lld",
			call, range, thread, row);
	if (!e->in)
		return rpd_db_execf(
			p->r,
			"UPDATE rtl_op_barrier SET correlation_id = %lld, thread_id = %lld "
			"WHERE op_id = %lld",
			call, thread, row);
	return rpd_db_execf(
		p->r,
		"UPDATE rocpd_op SET correlation_id = %lld, roctxId = %lld, rtl_api_id = %lld, rtl_thread_id = "
		"iif(rtl_shape_id IS NULL, NULL, %lld) WHERE id = %lld;"
		"UPDATE rtl_op_copy SET thread_id = %lld WHERE op_id = %lld",
		call, range, (long long)rpd_spool_thread(p, e->thread), thread, row, thread, row);
}

/* Applies the operation's link, if there is one by now. 1: it had one; or -errno. */
static int apply_link(struct rpd_process *p, struct rpd_pending *e)
{
	uint64_t correlation, marker;
	uint32_t tid;
	size_t thread;
	int ret;

	if (!index_link(p->index, e->correlation, &correlation, &marker, &tid))
		return 0;
	thread = rpd_spool_thread_index(p, tid);
	if (thread == SIZE_MAX || correlation >= RPD_MAX_LOCAL)
		return 0;
	e->correlation = correlation;
	e->thread = (uint32_t)thread;
	ret = change_row(p, e, marker);
	return ret < 0 ? ret : 1;
}

/* 1: nothing changes the row any more. */
static int resolve(struct rpd_process *p, struct rpd_pending *e)
{
	int linked = apply_link(p, e);

	if (linked < 0)
		return linked;
	if (!(e->in & RPD_IN_OP))
		return linked;
	if (rpd_spool_called(p, e->correlation)) {
		int ret = rpd_db_execf(p->r,
				       "UPDATE rocpd_op SET rtl_api_id = NULL WHERE id = %lld",
				       (long long)e->row);

		return ret < 0 ? ret : 1;
	}
	return 0;
}

int rpd_pending_resolve(struct rpd_process *p, bool final, int64_t *first)
{
	size_t kept = 0;

	*first = p->nr_pending && p->pending[0].row < p->part_op ? p->pending[0].row : p->part_op;
	for (size_t i = 0; i < p->nr_pending; i++) {
		int ret = resolve(p, &p->pending[i]);

		if (ret < 0)
			return ret;
		if (ret == 0 && final)
			settle(p, &p->pending[i]);
		else if (ret == 0)
			p->pending[kept++] = p->pending[i];
	}
	p->nr_pending = kept;
	return 0;
}
