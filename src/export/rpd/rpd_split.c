/* SPDX-License-Identifier: MIT */
/* rpd_split.c - a trace in several databases
 *
 * Each database is complete by itself: processes, kernels, queues and threads are in every one, an
 * operation, a call and a marker is in one of them. A range that is open when a database ends is in
 * the next one, too: there with its begin and its end, in the earlier one it is unclosed. An
 * operation whose call returns later has its call in the next database and is linked to its thread.
 *
 * The next database begins with the state of this one: what it read, what was submitted and not
 * seen yet, and the counts that the verdict of the last one needs. Nothing of it names a row of
 * this database.
 */
#include "export/rpd/rpd_internal.h"

#include <string.h>

/* Ids of rows in the earlier database. */
static void forget_rows(struct rpd_process *p)
{
	map_clear(&p->kernel_ids);
	map_clear(&p->fn_ids);
	p->begun = false;
	p->has_apis = false;
	p->nr_pending = 0; /* settled */
	p->nr_unnamed = 0;
	p->nr_configured = 0;
	p->nr_parts = 0;
	p->configured = 0;
	p->marks = 0;
	p->ranges = 0;
	memset(p->domain_api, 0, sizeof(p->domain_api));
	for (size_t i = 0; i < p->nr_threads; i++)
		p->threads[i].span = (struct rpd_span){ 0 };
	p->past.totals.first_ns = 0;
	p->past.totals.last_ns = 0;
}

int rpd_split_join(struct rpd *r)
{
	int ret = rpd_db_exec(
		r, "DELETE FROM rtl_loss_data WHERE reason = 'continued' AND EXISTS (SELECT 1 FROM "
		   "rtl_process p JOIN rtl_process n ON n.trace_id = substr(p.trace_id, 1, 32) || "
		   "'.' || (max(1, CAST(substr(p.trace_id, 34) AS INTEGER)) + 1) WHERE p.id = "
		   "rtl_loss_data.process_id)");
	uint32_t joined = ret == 0 ? (uint32_t)sqlite3_changes(r->db) : 0;

	verdict_remove(&r->verdict, "continued", joined);
	r->res->nr_processes -= joined;
	return ret;
}

int rpd_split_begin(struct rpd_process *from, struct rpd_process *to)
{
	int ret = rpd_state_copy(from, to);

	if (ret < 0)
		return ret;
	forget_rows(to);
	to->changed = true;
	/* who the process is, is in the open part */
	to->index = from->index;
	ret = rpd_spool_begin(to, false);
	to->index = NULL;
	if (ret == 0)
		ret = rpd_spool_names(to);
	return ret == 0 ? rpd_marker_continue(from, to) : ret;
}
