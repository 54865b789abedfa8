/* SPDX-License-Identifier: MIT */
/* info_spool.c - a trace's metadata and counts, from a raw trace, complete or still growing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/testpoint.h"
#include "cli/read/info.h"
#include "cli/ui.h"
#include "query/transfer.h"
#include "store/index.h"

static const char *keep_info(const struct index *index, const char *key)
{
	return ui_format("%s", index_info(index, key));
}

static int64_t keep_number(const struct index *index, const char *key)
{
	const char *text = index_info(index, key);
	char *end;
	long long n = strtoll(text, &end, 10);

	return *text && !*end ? n : -1;
}

static void read_agents(struct info_process *p, const struct index *index)
{
	size_t nr, nr_queues;
	const struct store_agent *agents = index_agents(index, &nr);
	const struct store_queue *queues = index_queues(index, &nr_queues);

	for (size_t i = 0; i < nr; i++) {
		struct info_agent *a;

		p->agents = info_grow(p->agents, &p->nr_agents, sizeof(*p->agents));
		a = &p->agents[p->nr_agents - 1];
		a->gpu = agents[i].gpu_index == UINT32_MAX ? -1 : (int64_t)agents[i].gpu_index;
		a->nr_cu = agents[i].nr_cu;
		a->clock_mhz = agents[i].clock_mhz;
		a->wave_size = agents[i].wave_size;
		a->type = agents[i].agent_type == REC_AGENT_GPU ? "GPU" :
			  agents[i].agent_type == REC_AGENT_CPU ? "CPU" :
								  "other";
		a->name = ui_format("%s", agents[i].name);
		a->product = ui_format("%s", agents[i].product);
		a->uuid = ui_format("%s", agents[i].uuid);
		for (size_t q = 0; q < nr_queues; q++)
			a->nr_queues += queues[q].known && queues[q].agent == agents[i].id;
	}
}

static int count_transfer(void *arg, const struct store_dispatch *op)
{
	uint64_t *n = arg;

	*n += !(op->flags & REC_F_INTERNAL) &&
	      kinds_transfer_of(op->kernel->name) != KINDS_NO_TRANSFER;
	return 0;
}

/* Dispatches of kernels with which HIP copies or fills. The trace is read for them where it has
 * such kernels. */
static uint64_t count_transfers(struct index *index)
{
	static const struct store_visitor visitor = { .dispatch = count_transfer };
	struct load_error error;
	uint64_t n = 0;
	size_t nr;
	const struct store_kernel *kernels = index_kernels(index, &nr);

	for (size_t i = 0; i < nr; i++)
		if (kinds_transfer_of(kernels[i].name) != KINDS_NO_TRANSFER) {
			index_visit(index, &visitor, &n, &error);
			break;
		}
	return n;
}

static void read_process(struct info_process *p, struct index *index)
{
	const struct load_facts *facts = load_facts(index_load(index));
	const struct store_totals *totals = index_totals(index);
	const struct store_clock *clocks;
	const struct store_info *infos;
	uint64_t transfers;
	size_t nr;

	p->pid = facts->pid;
	p->ppid = facts->ppid;
	p->state = load_state_name(facts);
	p->clock = load_clock_name(facts->clock_id);
	p->start_ns = facts->start_ns;
	p->first_ns = totals->first_ns;
	p->last_ns = totals->last_ns;
	p->host = keep_info(index, "host");
	p->command = keep_info(index, "command");
	p->exe = keep_info(index, "exe");
	p->cwd = keep_info(index, "cwd");
	p->job = keep_info(index, "job");
	p->mode = keep_info(index, "mode");
	p->version = keep_info(index, "version");
	p->rank = keep_number(index, "rank");
	p->world_size = keep_number(index, "world_size");
	p->local_rank = keep_number(index, "local_rank");
	p->counts = (struct info_counts){ .dispatches =
						  totals->dispatches - totals->internal_dispatches,
					  .internal = totals->internal_dispatches,
					  .copies = totals->copies,
					  .barriers = totals->barriers,
					  .apis = totals->apis,
					  .markers = totals->markers };
	transfers = count_transfers(index);
	p->counts.dispatches -= transfers;
	p->counts.copies += transfers;
	clocks = index_clocks(index, &p->nr_clocks);
	if (p->nr_clocks)
		p->realtime_offset_ns = (int64_t)(clocks[0].realtime_ns - clocks[0].system_ns);
	index_threads(index, &p->nr_threads);
	index_kernels(index, &p->nr_kernels);
	index_ops(index, &p->nr_functions);
	infos = index_infos(index, &nr);
	for (size_t i = 0; i < nr; i++)
		if (strcmp(infos[i].key, "library") == 0) {
			p->libraries =
				info_grow(p->libraries, &p->nr_libraries, sizeof(*p->libraries));
			p->libraries[p->nr_libraries - 1] = ui_format("%s", infos[i].value);
		}
	read_agents(p, index);
}

void info_spool_read(struct info *info, const char *path)
{
	struct load_error error;
	struct info_process *p;
	struct index *index;
	const char *warning;
	struct stat st;

	RTL_TESTPOINT("info_reads");
	if (index_open(&index, path, &error)) {
		info_warn(info, error.text);
		return;
	}
	info->processes = info_grow(info->processes, &info->nr_processes, sizeof(*info->processes));
	p = &info->processes[info->nr_processes - 1];
	read_process(p, index);
	p->spool = ui_format("%s", path);
	if (stat(path, &st) == 0)
		info->size += (uint64_t)st.st_size;
	if (!info->version || !*info->version)
		info->version = p->version;
	verdict_add_trace(&info->verdict, index);
	warning = load_warning(index_load(index));
	if (*warning)
		info_warn(info, warning);
	index_close(index);
}
