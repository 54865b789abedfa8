/* SPDX-License-Identifier: MIT */
/* collective_ops.c - the collectives of each party, and what the party did before each: one pass
 * over the operations
 *
 * Calls of MPI follow, by time. RCCL's calls are read before, by the thread and the
 * time in which they launch (collective_calls.c).
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_internal.h"
#include "base/alloc.h"
#include "query/collectives.h"
#include "query/kinds.h"
#include "query/rows.h"
#include "query/sorter.h"
#include "query/timeline.h"
#include "store/map.h"

#define LIST_NAME(pattern) pattern,
static const char *const known_names[] = { COLLECTIVES_EACH(LIST_NAME) };

struct party {
	int64_t process, since,
		busy_until; /* since: end of the collective before, INT64_MIN: none */
	int64_t kernel_ns, copy_ns, host_ns, longest_ns, longest;
	int64_t gap_ns, gap_call; /* the longest gap of host_ns; name of the call that ended it */
	size_t nr_channels[2];
	/* channel and name of its collective before, which are mostly those of the next one */
	struct last {
		bool has_channel, has_name, by_calls;
		uint64_t channel_key, name_key;
		size_t channel;
		uint32_t name;
	} last;
};

enum kind { KIND_OTHER = 1, KIND_COPY, KIND_COLLECTIVE };

struct reader {
	struct query *q;
	struct collective_ops *out;
	const regex_t *more;
	struct kinds copies;	 /* which operations are no kernels of the program */
	struct map kinds, texts; /* ids of texts: what they are; hashes of names: their numbers */
	struct map numbers;	 /* ids of texts, and addresses of RCCL's names: numbers of names */
	struct map others;	 /* ids of domains whose rows are no calls */
	struct map party_index, channel_index;
	struct collective_party *shown;
	struct party *parties;
	size_t nr_parties, max_parties, max_channels, max_names;
	sqlite3_stmt *text, *flags;
	bool has_calls;
	struct map mpi; /* ids of names: 1 + enum mpi_kind */
	struct sorter *calls;
	/* 1 + number of the party of each process and GPU up to GPUS; 0: look it up */
	size_t *quick_parties;
	uint64_t kind_key;   /* of kind_of(), which it was called with before, and what it said */
	enum kind last_kind; /* 0: nothing yet */
};

/* Ranges are looked up of few operations, when all have been read. */
#define NO_MARKER "0"

enum { GPUS = 16 };
enum mpi_kind { MPI_OTHER, MPI_ALL, MPI_ROOTED };

/* An operation; where there are calls, that of its correlation id. */
struct row {
	struct timeline_op op;
	int64_t queue;
};
ROW_CHECK(struct row, 8, queue);
struct call {
	int64_t id, begin, pid, tid, function, domain; /* id 0: not known */
};
struct called {
	struct row row;
	struct call call;
};
ROW_CHECK(struct called, 14, call.domain);

/* ---- names ---- */

static bool is_collective(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
		if (fnmatch(known_names[i], name, 0) == 0)
			return true;
	return r->more && regexec(r->more, name, 0, NULL, 0) == 0;
}

/* By its description and type, whose look-ups are kept. */
static int kind_of(struct reader *r, int64_t name, int64_t type, enum kind *kind)
{
	uint64_t key = (uint64_t)type << 32 ^ (uint64_t)name, known;

	if (r->last_kind && r->kind_key == key) {
		*kind = r->last_kind;
		return 0;
	}
	if (!map_get(&r->kinds, key, &known)) {
		known = kinds_of(&r->copies, name, type) != KINDS_KERNEL ? KIND_COPY :
			is_collective(r, query_look_up(r->text, name))	 ? KIND_COLLECTIVE :
									   KIND_OTHER;
		if (map_put(&r->kinds, key, known))
			return query_fail_memory(r->q);
	}
	r->kind_key = key;
	*kind = r->last_kind = (enum kind)known;
	return 0;
}

static int number_of_name(struct reader *r, const char *name, uint32_t *number)
{
	uint64_t hash = map_hash(name, strlen(name)), at;
	char **names;

	for (; map_get(&r->texts, hash, &at); hash++)
		if (strcmp(r->out->names[at], name) == 0) {
			*number = (uint32_t)at;
			return 0;
		}
	names = alloc_grow(r->out->names, r->out->nr_names, &r->max_names, 16, sizeof(*names));
	if (!names)
		return query_fail_memory(r->q);
	r->out->names = names;
	r->out->names[r->out->nr_names] = alloc_string(name);
	if (!r->out->names[r->out->nr_names] || map_put(&r->texts, hash, r->out->nr_names)) {
		alloc_free(r->out->names[r->out->nr_names]);
		return query_fail_memory(r->q);
	}
	*number = (uint32_t)r->out->nr_names++;
	return 0;
}

static int look_up_name(struct reader *r, const char *function, int64_t kernel, uint64_t key,
			uint32_t *number)
{
	uint64_t at;
	int ret;

	if (map_get(&r->numbers, key, &at)) {
		*number = (uint32_t)at;
		return 0;
	}
	ret = number_of_name(r, function ? function : query_look_up(r->text, kernel), number);
	if (ret)
		return ret;
	return map_put(&r->numbers, key, *number) ? query_fail_memory(r->q) : 0;
}

/* Of RCCL's function, or of a kernel, on a party. */
static int name_of(struct reader *r, size_t party, const char *function, int64_t kernel,
		   uint32_t *number)
{
	uint64_t key = function ? (uint64_t)(uintptr_t)function : (uint64_t)kernel;
	struct last *last = &r->parties[party].last;
	int ret = 0;

	if (!last->has_name || last->name_key != key)
		ret = look_up_name(r, function, kernel, key, &last->name);
	last->has_name = !ret;
	last->name_key = key;
	*number = last->name;
	return ret;
}

/* ---- parties and channels ---- */

static int look_up_party(struct reader *r, const struct query_process *process, int64_t gpu,
			 size_t *party)
{
	const int64_t id = process ? process->id : 0, both[2] = { id, gpu };
	uint64_t hash = map_hash(both, sizeof(both)), at;
	struct collective_party *shown;
	struct party *parties;
	size_t max;

	for (; map_get(&r->party_index, hash, &at); hash++)
		if (r->parties[at].process == id && r->shown[at].gpu == gpu) {
			*party = at;
			return 0;
		}
	max = r->max_parties;
	shown = alloc_grow(r->shown, r->nr_parties, &max, 16, sizeof(*shown));
	if (!shown)
		return query_fail_memory(r->q);
	r->shown = shown;
	parties = alloc_grow(r->parties, r->nr_parties, &r->max_parties, 16, sizeof(*parties));
	if (!parties)
		return query_fail_memory(r->q);
	r->parties = parties;
	if (map_put(&r->party_index, hash, r->nr_parties))
		return query_fail_memory(r->q);
	*party = r->nr_parties++;
	r->shown[*party] = (struct collective_party){ .process = process, .gpu = gpu };
	r->parties[*party] = (struct party){ .process = id, .since = INT64_MIN };
	return 0;
}

static int party_of(struct reader *r, int64_t op, int64_t gpu, size_t *party)
{
	const struct query_process *process = query_process_of(r->q, op);
	size_t *quick = process && gpu >= 0 && gpu < GPUS ?
				r->quick_parties + (process - r->q->processes) * GPUS + gpu :
				NULL;
	int ret;

	if (quick && *quick) {
		*party = *quick - 1;
		return 0;
	}
	ret = look_up_party(r, process, gpu, party);
	if (quick && !ret)
		*quick = *party + 1;
	return ret;
}

static int look_up_channel(struct reader *r, size_t party, const struct collective_launch *launch,
			   uint64_t key, size_t *channel)
{
	const bool by_calls = launch->comm != 0;
	const uint64_t all[3] = { party, by_calls, key };
	uint64_t hash = map_hash(all, sizeof(all)), at;
	struct collective_channel *channels;

	for (; map_get(&r->channel_index, hash, &at); hash++) {
		const struct collective_channel *c = &r->out->channels[at];

		if (c->party == party && c->by_calls == by_calls && c->key == key) {
			*channel = at;
			return 0;
		}
	}
	channels = alloc_grow(r->out->channels, r->out->nr_channels, &r->max_channels, 16,
			      sizeof(*channels));
	if (!channels)
		return query_fail_memory(r->q);
	r->out->channels = channels;
	if (map_put(&r->channel_index, hash, r->out->nr_channels))
		return query_fail_memory(r->q);
	*channel = r->out->nr_channels++;
	channels[*channel] =
		(struct collective_channel){ .party = party,
					     .key = key,
					     .id = launch->id,
					     .by_calls = by_calls,
					     .number = r->parties[party].nr_channels[by_calls]++,
					     .set = SIZE_MAX };
	return 0;
}

static int channel_of(struct reader *r, size_t party, const struct collective_launch *launch,
		      int64_t queue, size_t *channel)
{
	const bool by_calls = launch->comm != 0;
	/* a handle is used again for another communicator */
	const uint64_t key = by_calls ? launch->comm ^ launch->id : (uint64_t)queue;
	struct last *last = &r->parties[party].last;
	int ret = 0;

	if (!last->has_channel || last->channel_key != key || last->by_calls != by_calls)
		ret = look_up_channel(r, party, launch, key, &last->channel);
	last->has_channel = !ret;
	last->channel_key = key;
	last->by_calls = by_calls;
	*channel = last->channel;
	return ret;
}

/* ---- operations ---- */

/* When the call of an operation began; 0: it is not known. */
static int64_t launch_of(const struct reader *r, const struct call *call)
{
	uint64_t unused;

	return !call->begin || map_get(&r->others, (uint64_t)call->domain, &unused) ? 0 :
										      call->begin;
}

/* What was launched when the GPU had nothing to do came late from the host. */
static void note_gap(struct party *party, const struct row *row, const struct call *call,
		     int64_t launch)
{
	int64_t ns = row->op.begin - party->busy_until;

	if (!launch || party->since == INT64_MIN || ns <= 0 || launch < party->busy_until)
		return;
	party->host_ns += ns;
	if (ns > party->gap_ns) {
		party->gap_ns = ns;
		party->gap_call = call->function;
	}
}

static void add_work(struct party *party, const struct row *row, const struct call *call,
		     int64_t launch, bool is_copy)
{
	int64_t begin = row->op.begin > party->since ? row->op.begin : party->since, ns;

	note_gap(party, row, call, launch);
	begin = begin > party->busy_until ? begin : party->busy_until;
	ns = row->op.end - begin;
	if (ns > 0) {
		*(is_copy ? &party->copy_ns : &party->kernel_ns) += ns;
		if (!is_copy && ns > party->longest_ns) {
			party->longest_ns = ns;
			party->longest = row->op.name;
		}
	}
	party->busy_until = row->op.end > party->busy_until ? row->op.end : party->busy_until;
}

static void end_work(struct party *party, const struct row *row)
{
	party->since = row->op.end > party->since ? row->op.end : party->since;
	party->busy_until = party->since;
	party->kernel_ns = party->copy_ns = party->host_ns = party->gap_ns = 0;
	party->longest_ns = party->longest = 0;
}

static int keep(struct reader *r, const struct collective_event *e)
{
	struct collective_channel *c = &r->out->channels[e->channel];
	int ret = collective_events_add(&r->out->events, e);

	if (ret)
		return query_fail(r->q, ret, "collectives: %s", strerror(-ret));
	if (c->nr < COLLECTIVE_SAMPLE) {
		const struct query_process *process = r->shown[c->party].process;
		int64_t wall_ns = process ? process->wall_ns : 0;

		c->begins[c->nr] = e->begin + wall_ns;
		c->ends[c->nr] = e->end + wall_ns;
	}
	c->nr++;
	return 0;
}

/* Whether the times of an operation were measured. One that was not ends where it begins: flags are
 * looked up of those alone. RPD has none. */
static int is_timed(struct reader *r, const struct row *row, bool *timed)
{
	int64_t flags = 0;
	int ret = 0;

	if (row->op.end <= row->op.begin && r->flags) {
		sqlite3_reset(r->flags);
		sqlite3_bind_int64(r->flags, 1, row->op.id);
		ret = query_step(r->q, r->flags);
		if (ret > 0)
			flags = sqlite3_column_int64(r->flags, 0);
	}
	*timed = rows_timed(row->op.begin, row->op.end, flags);
	return ret < 0 ? ret : 0;
}

static int take_collective(struct reader *r, size_t party, const struct row *row,
			   const struct call *by, int64_t launch_ns, bool timed)
{
	struct party *l = &r->parties[party];
	const struct collective_call call = { launch_ns ? by->id : 0, by->pid, by->tid, by->begin,
					      by->function };
	struct collective_launch launch = { 0 };
	struct collective_event e = { .op = row->op.id,
				      .begin = row->op.begin,
				      .end = row->op.end,
				      .kernel_ns = l->kernel_ns,
				      .copy_ns = l->copy_ns,
				      .since = l->since,
				      .has_launch = launch_ns != 0,
				      .longest = l->longest,
				      .tid = launch_ns ? (int32_t)by->tid : 0,
				      .has_before = l->since != INT64_MIN,
				      .is_untimed = !timed };
	size_t channel = 0;
	int ret = collective_calls_find(r->out->calls, &call, party, &launch);

	note_gap(l, row, by, launch_ns);
	e.host_ns = l->host_ns;
	if (!ret && l->gap_ns)
		ret = collective_calls_graph(r->out->calls, l->gap_call, &e.is_graph);
	if (ret || launch.is_point_to_point)
		return ret;
	ret = channel_of(r, party, &launch, row->queue, &channel);
	if (ret)
		return ret;
	e.bytes = launch.bytes;
	e.channel = (uint32_t)channel;
	ret = name_of(r, party, launch.name, row->op.name, &e.name);
	return ret ? ret : keep(r, &e);
}

static int take_op(void *arg, const void *of)
{
	static const struct call no_call = { 0 };
	struct reader *r = arg;
	const struct row *row = of;
	const struct call *call = r->has_calls ? &((const struct called *)of)->call : &no_call;
	enum kind kind = KIND_OTHER;
	int64_t launch;
	bool timed = true;
	size_t party = 0;
	int ret = row->op.gpu < 0 ? 0 : kind_of(r, row->op.name, row->op.type, &kind);

	if (ret || row->op.gpu < 0)
		return ret;
	ret = party_of(r, row->op.id, row->op.gpu, &party);
	if (!ret)
		ret = is_timed(r, row, &timed);
	if (ret)
		return ret;
	launch = launch_of(r, call);
	if (kind != KIND_COLLECTIVE) {
		if (timed)
			add_work(&r->parties[party], row, call, launch, kind == KIND_COPY);
		return 0;
	}
	ret = take_collective(r, party, row, call, launch, timed);
	end_work(&r->parties[party], row);
	return ret;
}

/* The rows come again, in another order. */
static void restart(void *arg)
{
	struct reader *r = arg;

	collective_events_clear(&r->out->events);
	r->out->nr_channels = r->nr_parties = 0;
	map_clear(&r->party_index);
	map_clear(&r->channel_index);
	memset(r->quick_parties, 0, r->q->nr_processes * GPUS * sizeof(*r->quick_parties));
	collective_calls_restart(r->out->calls);
}

static int read_ops(struct reader *r)
{
	/* The rows of markers and threads have the ids of no call, but those of another program's
	 * file may. */
	static const struct timeline_rows ours = {
		.columns = TIMELINE_OP_OF(NO_MARKER) ", O.queueId",
		.id = "O.id",
		.by_wall = "O.start",
		.from = "rocpd_op O WHERE O.id BETWEEN ?1 AND ?2",
		.size = sizeof(struct row),
	};
	static const struct timeline_rows ours_calls = {
		.columns = TIMELINE_OP_OF(
			NO_MARKER) ", O.queueId, coalesce(A.id, 0), coalesce(A.start, 0), A.pid, A.tid, A.apiName_id, A.domain_id",
		.id = "O.id",
		.by_wall = "O.start",
		.from = "rocpd_op O LEFT JOIN rocpd_api A ON A.id = O.correlation_id WHERE O.id BETWEEN ?1 AND ?2",
		.size = sizeof(struct called),
	};
	static const struct timeline_rows rpd = {
		.columns = TIMELINE_OP_RPD
		", O.queueId, coalesce(A.id, 0), coalesce(A.start, 0), A.pid, A.tid, A.apiName_id, 0",
		.id = "O.id",
		.from = "rocpd_op O LEFT JOIN rocpd_api A ON A.id = (SELECT L.api_id FROM rocpd_api_ops L WHERE L.op_id = "
			"O.id) WHERE O.id BETWEEN ?1 AND ?2",
		.size = sizeof(struct called),
	};

	/* what a trace has none of is not joined: that takes longer than the rest */
	r->has_calls = !r->q->ours ||
		       query_number(r->q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data)", 1);
	return timeline_read(r->q,
			     !r->q->ours  ? &rpd :
			     r->has_calls ? &ours_calls :
					    &ours,
			     TIMELINE_HERE, take_op, restart, r);
}

/* ---- calls of MPI ---- */

struct mpi_call {
	int64_t wall; /* the begin, by the wall clock */
	int64_t process, begin, end, id, tid, comm, bytes, name, is_rooted;
};

static int mpi_kind_of(struct reader *r, int64_t name, enum mpi_kind *kind)
{
	static const char *const all[] = { COLLECTIVES_MPI_ALL(LIST_NAME) };
	static const char *const rooted[] = { COLLECTIVES_MPI_ROOTED(LIST_NAME) };
	uint64_t known = MPI_OTHER;
	const char *text;
	size_t size;

	if (!map_get(&r->mpi, (uint64_t)name, &known)) {
		text = query_look_up(r->text, name);
		size = strlen(text);
		size -= size > 2 && strcmp(text + size - 2, "_c") == 0 ? 2 : 0;
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			if (strlen(all[i]) == size && memcmp(all[i], text, size) == 0)
				known = MPI_ALL;
		for (size_t i = 0; i < sizeof(rooted) / sizeof(rooted[0]); i++)
			if (strlen(rooted[i]) == size && memcmp(rooted[i], text, size) == 0)
				known = MPI_ROOTED;
		if (map_put(&r->mpi, (uint64_t)name, known))
			return query_fail_memory(r->q);
	}
	*kind = (enum mpi_kind)known;
	return 0;
}

static int take_mpi_row(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	const struct query_process *process = query_process_of(r->q, sqlite3_value_int64(v[6]));
	const char *args = (const char *)sqlite3_value_text(v[5]);
	struct mpi_call call = { .process = process ? process->id : 0,
				 .begin = sqlite3_value_int64(v[2]),
				 .end = sqlite3_value_int64(v[3]),
				 .id = sqlite3_value_int64(v[6]),
				 .tid = sqlite3_value_int64(v[1]),
				 .name = sqlite3_value_int64(v[4]),
				 .wall = sqlite3_value_int64(v[2]) +
					 (process ? process->wall_ns : 0) };
	enum mpi_kind kind = MPI_OTHER;
	int ret = mpi_kind_of(r, call.name, &kind);

	if (ret || kind == MPI_OTHER || !args || collective_calls_argument(args, "ranks=") < 2)
		return ret;
	call.comm = (int64_t)collective_calls_argument(args, "comm=");
	call.bytes = (int64_t)collective_calls_argument(args, "bytes=");
	call.is_rooted = kind == MPI_ROOTED;
	ret = call.comm ? sorter_add(r->calls, &call) : 0;
	return ret ? query_fail(r->q, ret, "calls of MPI: %s", strerror(-ret)) : 0;
}

static int compare_mpi(const void *x, const void *y)
{
	const struct mpi_call *a = x, *b = y;

	if (a->wall != b->wall)
		return a->wall < b->wall ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* By the wall clock, so that those of one collective come near each other. A rank may leave a
 * rooted one before the others have come: it has its number in the order, and no times that say who
 * waits. */
static int take_mpi(void *arg, const void *row)
{
	const struct mpi_call *call = row;
	struct reader *r = arg;
	const uint64_t key[2] = { (uint64_t)call->comm, 0x6d7069 };
	const struct collective_launch launch = { .comm = (uint64_t)call->comm,
						  .id = map_hash(key, sizeof(key)) };
	struct collective_event e = { .op = call->id,
				      .begin = call->begin,
				      .end = call->end,
				      .tid = (int32_t)call->tid,
				      .bytes = (uint64_t)call->bytes,
				      .is_call = true,
				      .is_untimed = call->is_rooted || call->end <= call->begin };
	size_t party = 0, channel = 0;
	int ret = party_of(r, call->id, -1, &party);

	if (!ret)
		ret = channel_of(r, party, &launch, 0, &channel);
	if (!ret)
		ret = name_of(r, party, NULL, call->name, &e.name);
	if (ret)
		return ret;
	e.channel = (uint32_t)channel;
	/* a call on another communicator may come just before: what counts is the one before on
	 * this one */
	e.has_before = r->out->channels[channel].nr > 0;
	e.since = e.has_before ? r->out->channels[channel].last_end : INT64_MIN;
	r->out->channels[channel].last_end = e.end;
	return keep(r, &e);
}

static int read_mpi(struct reader *r)
{
	int ret;

	r->calls = sorter_new(sizeof(struct mpi_call), compare_mpi, 0);
	if (!r->calls)
		return query_fail_memory(r->q);
	ret = collective_calls_scan(r->q, "mpi", take_mpi_row, r->calls, take_mpi, r);
	sorter_free(r->calls);
	return ret;
}

static int open_reader(struct reader *r)
{
	struct collective_ops *out = r->out;
	int ret = collective_events_init(&out->events);

	r->quick_parties = alloc_zero(r->q->nr_processes * GPUS + 1, sizeof(*r->quick_parties));
	if (ret || !r->quick_parties)
		return query_fail_memory(r->q);
	ret = query_prepare(r->q, &r->text, QUERY_STRING);
	if (!ret && r->q->ours)
		ret = query_prepare(
			r->q, &r->flags,
			"SELECT coalesce((SELECT K.flags FROM rtl_op_kernel K WHERE K.op_id = ?1), "
			"(SELECT C.flags FROM rtl_op_copy C WHERE C.op_id = ?1), 0)");
	if (!ret && r->q->ours)
		ret = query_ids(r->q, &r->others, "rtl");
	if (!ret && r->q->ours)
		ret = query_ids(r->q, &r->others, "roctx");
	if (!ret)
		ret = kinds_read(r->q, &r->copies);
	return ret ? ret : collective_calls_open(r->q, &out->calls);
}

int collective_ops_read(struct query *q, const regex_t *more, struct collective_ops *out,
			struct collective_party **parties, size_t *nr_parties)
{
	struct reader r = { .q = q, .out = out, .more = more };
	int ret = open_reader(&r);

	if (!ret)
		ret = read_ops(&r);
	if (!ret && q->ours)
		ret = read_mpi(&r);
	*parties = r.shown;
	*nr_parties = r.nr_parties;
	kinds_fini(&r.copies);
	map_fini(&r.kinds);
	map_fini(&r.texts);
	map_fini(&r.numbers);
	map_fini(&r.others);
	map_fini(&r.mpi);
	map_fini(&r.party_index);
	map_fini(&r.channel_index);
	alloc_free(r.parties);
	alloc_free(r.quick_parties);
	sqlite3_finalize(r.text);
	sqlite3_finalize(r.flags);
	return ret;
}

void collective_ops_fini(struct collective_ops *ops)
{
	for (size_t i = 0; i < ops->nr_names; i++)
		alloc_free(ops->names[i]);
	alloc_free(ops->names);
	alloc_free(ops->channels);
	collective_events_fini(&ops->events);
	collective_calls_close(ops->calls);
	*ops = (struct collective_ops){ 0 };
}
