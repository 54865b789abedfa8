/* SPDX-License-Identifier: MIT */
/* otf2_rma.c - copies as accesses to remote memory, as Score-P has them
 *
 * A trace has one window over the threads that ask for copies, which stand for the memory of the
 * host, and the strips of its GPUs. The strip of a copy gets from the host or puts to it; from a
 * strip's point of view the memory of another GPU is that GPU's first location, which may come
 * later: its slot in the window is given out before. Memory grows with threads and strips that
 * copy.
 *
 * Source:   Score-P's adapters of HIP and CUDA: RmaGet for a copy to the GPU and within it, RmaPut
 *           for one from it, RmaOpCompleteBlocking at its end, all on the location of the stream.
 */
#include "export/otf2/otf2_rma.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* What a type of an operation says of its copy. */
enum direction { NO_COPY, UNKNOWN, TO_GPU, TO_HOST, WITHIN };

struct otf2_rma {
	struct otf2_archive *archive;
	struct query *q;
	const struct otf2_trace *trace;
	sqlite3_stmt *type;
	struct map types;   /* type of an operation -> enum direction */
	struct map agents;  /* id -> GPU + 1; 0: a host */
	struct map threads; /* hash of process and thread -> number of its location */
	struct map members; /* number of a location -> slot in the window */
	struct map gpus;    /* GPU -> the same, of one that had no location then */
	size_t window;	    /* + 1; 0: none yet */
	uint64_t host;	    /* location of the host's memory + 1, for copies without a thread */
	uint64_t nr;	    /* of the copy */
};

static int read_agents(struct otf2_rma *r)
{
	sqlite3_stmt *agent = NULL;
	int ret = query_prepare(r->q, &agent, "SELECT id, gpu_id, type FROM rtl_agent");

	while (ret == 0 && (ret = query_step(r->q, agent)) == 1) {
		bool is_gpu = strcmp(query_text(agent, 2), "GPU") == 0;

		ret = map_put(&r->agents, (uint64_t)sqlite3_column_int64(agent, 0),
			      is_gpu ? (uint64_t)sqlite3_column_int64(agent, 1) + 1 : 0) ?
			      query_fail_memory(r->q) :
			      0;
	}
	sqlite3_finalize(agent);
	return ret;
}

int otf2_rma_begin(struct otf2_rma **out, struct otf2_archive *a, struct query *q,
		   const struct otf2_trace *trace)
{
	struct otf2_rma *r = alloc_zero(1, sizeof(*r));
	int ret;

	*out = r;
	if (!r)
		return query_fail_memory(q);
	r->archive = a;
	r->q = q;
	r->trace = trace;
	ret = query_prepare(q, &r->type, ROWS_TYPE_NAME);
	return ret ? ret : read_agents(r);
}

void otf2_rma_end(struct otf2_rma *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->type);
	map_fini(&r->types);
	map_fini(&r->agents);
	map_fini(&r->threads);
	map_fini(&r->members);
	map_fini(&r->gpus);
	alloc_free(r);
}

static uint64_t thread_key(int64_t pid, int64_t tid)
{
	const int64_t key[2] = { pid, tid };

	return map_hash(key, sizeof(key));
}

int otf2_rma_thread(struct otf2_rma *r, int64_t pid, int64_t tid, size_t location)
{
	return map_put(&r->threads, thread_key(pid, tid), r->archive->locations[location].id) ?
		       otf2_archive_fail_memory(r->archive) :
		       0;
}

/* ---- the window ---- */

static int add_window(struct otf2_rma *r)
{
	struct otf2_archive *a = r->archive;
	struct otf2_window *grown =
		alloc_grow(a->windows, a->nr_windows, &a->max_windows, 4, sizeof(*grown));
	char name[80];

	if (!grown)
		return otf2_archive_fail_memory(a);
	a->windows = grown;
	a->windows[a->nr_windows] = (struct otf2_window){ 0 };
	snprintf(name, sizeof(name), "%s%sHIP memory", r->trace->name, *r->trace->name ? ", " : "");
	r->window = ++a->nr_windows;
	return otf2_archive_text(a, name, &a->windows[r->window - 1].name);
}

static int add_member(struct otf2_rma *r, uint64_t location, uint64_t *slot)
{
	struct otf2_window *window = &r->archive->windows[r->window - 1];
	uint64_t *grown = alloc_grow(window->members, window->nr, &window->max, 4, sizeof(*grown));

	if (!grown)
		return otf2_archive_fail_memory(r->archive);
	window->members = grown;
	*slot = window->nr;
	grown[window->nr++] = location;
	return 0;
}

static int slot_of(struct otf2_rma *r, uint64_t location, uint64_t *slot)
{
	int ret = 0;

	if (map_get(&r->members, location, slot))
		return 0;
	ret = add_member(r, location, slot);
	if (ret == 0 && map_put(&r->members, location, *slot))
		ret = otf2_archive_fail_memory(r->archive);
	return ret;
}

/* A GPU's memory is its first location. */
static int slot_of_gpu(struct otf2_rma *r, uint64_t gpu, uint64_t *slot)
{
	const struct otf2_location_group *group =
		otf2_archive_find_group(r->archive, OTF2_GROUP_OF_GPU, (int64_t)gpu);
	int ret;

	if (map_get(&r->gpus, gpu, slot))
		return 0;
	if (group && group->first)
		return slot_of(r, group->first - 1, slot);
	ret = add_member(r, 0, slot);
	if (ret == 0 && map_put(&r->gpus, gpu, *slot))
		ret = otf2_archive_fail_memory(r->archive);
	return ret;
}

/* The strip of a copy on a GPU: that GPU's slot, if it has one, is that of its first location. */
static int add_strip(struct otf2_rma *r, uint64_t gpu, size_t location, uint64_t *slot)
{
	const struct otf2_location_group *group =
		otf2_archive_find_group(r->archive, OTF2_GROUP_OF_GPU, (int64_t)gpu);
	uint64_t id = r->archive->locations[location].id;

	if (group && group->first == id + 1 && map_get(&r->gpus, gpu, slot))
		return map_put(&r->members, id, *slot) ? otf2_archive_fail_memory(r->archive) : 0;
	return slot_of(r, id, slot);
}

/* The host's memory where no thread asked for the copy: the first location of the first process. */
static int slot_of_host(struct otf2_rma *r, uint64_t *slot)
{
	struct otf2_archive *a = r->archive;
	int64_t pid = r->q->nr_processes ? r->q->processes[0].pid : 0;
	const struct otf2_location_group *group =
		otf2_archive_find_group(a, OTF2_GROUP_OF_PROCESS, pid);
	size_t location;
	uint32_t self;
	int ret = 0;

	if (!r->host && group && group->first)
		r->host = group->first;
	if (!r->host) {
		ret = otf2_archive_group(a, OTF2_GROUP_OF_PROCESS, pid, "host memory",
					 &r->trace->owner, &self);
		if (ret == 0)
			ret = otf2_archive_location(a, "host memory", OTF2_LOCATION_TYPE_CPU_THREAD,
						    self, &location);
		if (ret == 0)
			ret = otf2_archive_end(a, location);
		if (ret)
			return ret;
		r->host = a->locations[location].id + 1;
	}
	return slot_of(r, r->host - 1, slot);
}

static int slot_of_thread(struct otf2_rma *r, const struct walk_cause *cause, uint64_t *slot)
{
	uint64_t location;

	if (cause && map_get(&r->threads, thread_key(cause->pid, cause->tid), &location))
		return slot_of(r, location, slot);
	return slot_of_host(r, slot);
}

int otf2_rma_finish(struct otf2_rma *r)
{
	struct otf2_archive *a = r->archive;
	char name[48];
	int ret = 0;

	for (size_t i = 0; i < r->gpus.cap && ret == 0; i++) {
		const struct map_entry *gpu = &r->gpus.entries[i];
		const struct otf2_location_group *group;
		size_t location;
		uint32_t self;

		if (!gpu->value_plus_1)
			continue;
		group = otf2_archive_find_group(a, OTF2_GROUP_OF_GPU, (int64_t)gpu->key);
		if (!group || !group->first) {
			snprintf(name, sizeof(name), "%s%sGPU %llu", r->trace->name,
				 *r->trace->name ? ", " : "", (unsigned long long)gpu->key);
			ret = otf2_archive_group(a, OTF2_GROUP_OF_GPU, (int64_t)gpu->key, name,
						 &r->trace->owner, &self);
			if (ret == 0)
				ret = otf2_archive_location(a, name,
							    OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
							    self, &location);
			if (ret == 0)
				ret = otf2_archive_end(a, location);
			if (ret)
				break;
			group = &a->groups[self];
		}
		a->windows[r->window - 1].members[gpu->value_plus_1 - 1] = group->first - 1;
	}
	return ret;
}

/* ---- a copy ---- */

static int direction_of(struct otf2_rma *r, int64_t type, uint64_t *direction)
{
	const char *name;

	if (map_get(&r->types, (uint64_t)type, direction))
		return 0;
	name = query_look_up(r->type, type);
	*direction = strncmp(name, "Copy", 4) != 0	     ? NO_COPY :
		     strcmp(name, "CopyHostToHost") == 0     ? NO_COPY :
		     strcmp(name, "CopyHostToDevice") == 0   ? TO_GPU :
		     strcmp(name, "CopyDeviceToHost") == 0   ? TO_HOST :
		     strcmp(name, "CopyDeviceToDevice") == 0 ? WITHIN :
							       UNKNOWN;
	return map_put(&r->types, (uint64_t)type, *direction) ? query_fail_memory(r->q) : 0;
}

/* What the agents of a copy say, where they are known. `gpu`: of the copy's strip; afterwards that
 * at the other end, WITHIN. *is_put: the data is at the other end afterwards. */
static uint64_t look_at_agents(const struct otf2_rma *r, const struct rows_op *row,
			       uint64_t direction, uint64_t *gpu, bool *is_put)
{
	uint64_t src, dst, own = *gpu + 1;

	*is_put = direction == TO_HOST;
	if (!row->src || !row->dst || !map_get(&r->agents, (uint64_t)row->src, &src) ||
	    !map_get(&r->agents, (uint64_t)row->dst, &dst))
		return direction;
	*is_put = src && dst != own;
	if (!src || !dst)
		return src ? TO_HOST : dst ? TO_GPU : NO_COPY;
	*gpu = (dst == own ? src : dst) - 1;
	return WITHIN;
}

int otf2_rma_enter(struct otf2_rma *r, size_t location, const struct rows_op *row,
		   const struct walk_cause *cause, struct otf2_rma_op *op)
{
	struct otf2_archive *a = r->archive;
	uint64_t direction, gpu = (uint64_t)row->gpu;
	int ret = direction_of(r, row->type, &direction);

	*op = (struct otf2_rma_op){ 0 };
	if (ret || direction == NO_COPY)
		return ret;
	direction = look_at_agents(r, row, direction, &gpu, &op->is_put);
	if (direction == NO_COPY || direction == UNKNOWN)
		return 0;
	if (!r->window)
		ret = add_window(r);
	if (ret == 0)
		ret = add_strip(r, (uint64_t)row->gpu, location, &op->remote);
	/* a copy within a GPU is one of its strip from itself */
	if (ret == 0 && direction != WITHIN)
		ret = slot_of_thread(r, cause, &op->remote);
	else if (ret == 0 && gpu != (uint64_t)row->gpu)
		ret = slot_of_gpu(r, gpu, &op->remote);
	if (ret)
		return ret;
	op->nr = ++r->nr;
	errno = 0;
	return otf2_archive_check(a, (op->is_put ? otf2_lib.EvtWriter_RmaPut :
						   otf2_lib.EvtWriter_RmaGet)(
					     a->locations[location].writer, NULL,
					     (uint64_t)row->start, (OTF2_RmaWinRef)r->window - 1,
					     (uint32_t)op->remote, (uint64_t)row->bytes, op->nr));
}

int otf2_rma_leave(struct otf2_rma *r, size_t location, const struct rows_op *row,
		   const struct otf2_rma_op *op)
{
	struct otf2_archive *a = r->archive;

	if (!op->nr)
		return 0;
	errno = 0;
	return otf2_archive_check(
		a, otf2_lib.EvtWriter_RmaOpCompleteBlocking(a->locations[location].writer, NULL,
							    (uint64_t)row->end,
							    (OTF2_RmaWinRef)r->window - 1, op->nr));
}

/* ---- definitions ---- */

static int define_group(struct otf2_archive *a, uint32_t self, uint32_t name, OTF2_GroupType type,
			const uint64_t *members, size_t nr)
{
	return otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteGroup(a->defs, self, name, type,
									 OTF2_PARADIGM_HIP,
									 OTF2_GROUP_FLAG_NONE,
									 (uint32_t)nr, members));
}

int otf2_rma_define(struct otf2_archive *a, uint32_t group, uint32_t comm)
{
	uint64_t *all, nr = 0, used = 0;
	int ret = 0;

	for (size_t i = 0; i < a->nr_windows; i++)
		nr += a->windows[i].nr;
	if (!nr)
		return 0;
	all = alloc_zero(nr, sizeof(*all));
	if (!all)
		return otf2_archive_fail_memory(a);
	for (size_t i = 0; i < a->nr_windows; i++) {
		memcpy(&all[used], a->windows[i].members, a->windows[i].nr * sizeof(*all));
		used += a->windows[i].nr;
	}
	/* the name is the empty text, which is the first */
	ret = define_group(a, group, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, all, nr);
	/* a window's members are numbers in that list */
	for (uint64_t i = 0; i < nr; i++)
		all[i] = i;
	used = 0;
	for (uint32_t i = 0; i < a->nr_windows && ret == 0; i++) {
		const struct otf2_window *window = &a->windows[i];

		ret = define_group(a, group + 1 + i, window->name, OTF2_GROUP_TYPE_COMM_GROUP,
				   &all[used], window->nr);
		if (ret == 0)
			ret = otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteComm(
							    a->defs, comm + i, window->name,
							    group + 1 + i, OTF2_UNDEFINED_COMM,
							    OTF2_COMM_FLAG_NONE));
		if (ret == 0)
			ret = otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteRmaWin(
							    a->defs, i, window->name, comm + i,
							    OTF2_RMA_WIN_FLAG_NONE));
		used += window->nr;
	}
	alloc_free(all);
	return ret;
}
