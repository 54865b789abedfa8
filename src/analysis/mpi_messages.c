/* SPDX-License-Identifier: MIT */
/* mpi_messages.c - pairs the sends and the receives of MPI
 *
 * Calls are read by their begin. Each end of a message becomes a row with its channel and its index
 * in it; in the order of these, the two rows of a message follow each other. A receive has its
 * index when it begins, and its row when it is complete.
 */
#include "analysis/mpi_messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/mpi_requests.h"
#include "base/alloc.h"
#include "query/row.h"
#include "query/sorter.h"
#include "store/map.h"

enum { SORTED_ROWS = 32 << 10 };

/* A call, by its begin. */
struct call_row {
	int64_t begin, id, process, tid, end, kind;
	int64_t comm, newcomm, request, bytes, peer, tag, source, recvtag, newrank, nr;
};
ROW_CHECK(struct call_row, 16, nr);

/* An end of a message. */
struct end_row {
	int64_t channel, at, is_receive;
	int64_t id, pid, tid, begin, end;
	int64_t bytes;
	int64_t is_known;   /* 0: the call that completed it is not known */
	int64_t is_unclear; /* it is one of several that the call may have completed */
};
ROW_CHECK(struct end_row, 11, is_unclear);

struct channel {
	int64_t comm, sender, receiver, tag; /* ranks in the communicator */
	int64_t own;			     /* of MPI_COMM_SELF: its process; else -1 */
	int64_t nr[2];			     /* sends, receives */
	size_t process[2];		     /* of the last send and the last receive */
};

/* A communicator in a process. */
struct member {
	size_t process;
	uint64_t comm;
	int64_t rank; /* the process's; -1: not known */
	bool is_inter;
	bool is_unclear; /* it has receives of which nothing says what they took */
};

struct reader {
	struct query *q;
	struct mpi_messages *out;
	mpi_messages_fn each;
	void *arg;
	sqlite3_stmt *name;
	struct map kinds; /* ids of names -> kind */
	struct sorter *calls, *ends;
	struct map channel_index, member_index; /* hashes -> number */
	struct channel *channels;
	struct member *members;
	size_t nr_channels, max_channels, nr_members, max_members;
	struct process {
		struct mpi_requests requests;
		bool is_unclear; /* sends or receives messages that are not known */
	} * processes;
	const struct call_row *call; /* the one that completes requests; NULL: none does */
	size_t process;
	struct end_row last; /* a send, of which the receive may follow; id 0: none */
};

/* ---- what is known of channels and members ---- */

static struct channel *channel_of(struct reader *r, const struct channel *key)
{
	const int64_t parts[] = { key->comm, key->sender, key->receiver, key->tag, key->own };
	uint64_t hash = map_hash(parts, sizeof(parts)), at;
	struct channel *grown;

	for (; map_get(&r->channel_index, hash, &at); hash++) {
		struct channel *c = &r->channels[at];

		if (c->comm == key->comm && c->sender == key->sender &&
		    c->receiver == key->receiver && c->tag == key->tag && c->own == key->own)
			return c;
	}
	grown = alloc_grow(r->channels, r->nr_channels, &r->max_channels, 64, sizeof(*grown));
	if (!grown)
		return NULL;
	r->channels = grown;
	if (map_put(&r->channel_index, hash, r->nr_channels))
		return NULL;
	grown[r->nr_channels] = *key;
	return &grown[r->nr_channels++];
}

static struct member *member_of(struct reader *r, size_t process, uint64_t comm)
{
	const uint64_t parts[] = { process, comm };
	uint64_t hash = map_hash(parts, sizeof(parts)), at;
	struct member *grown;

	for (; map_get(&r->member_index, hash, &at); hash++)
		if (r->members[at].process == process && r->members[at].comm == comm)
			return &r->members[at];
	grown = alloc_grow(r->members, r->nr_members, &r->max_members, 16, sizeof(*grown));
	if (!grown)
		return NULL;
	r->members = grown;
	if (map_put(&r->member_index, hash, r->nr_members))
		return NULL;
	grown[r->nr_members] = (struct member){
		.process = process,
		.comm = comm,
		.rank = comm == MPI_CALL_WORLD ? r->q->processes[process].rank :
			comm == MPI_CALL_SELF  ? 0 :
						 -1,
	};
	return &grown[r->nr_members++];
}

/* ---- ends ---- */

static int add_end(struct reader *r, const struct end_row *row)
{
	int ret = sorter_add(r->ends, row);

	return ret ? query_fail(r->q, ret, "messages of MPI: %s", strerror(-ret)) : 0;
}

/* The index in the channel of a message between this process and a peer. *channel is -1 if there is
 * none: the peer is MPI_PROC_NULL; or the message is not known, which is counted. */
static int find_index(struct reader *r, const struct call_row *call, bool is_receive,
		      struct end_row *row)
{
	int64_t peer = is_receive && call->kind == MPI_CALL_SENDRECV ? call->source : call->peer;
	int64_t tag = is_receive && call->kind == MPI_CALL_SENDRECV ? call->recvtag : call->tag;
	struct member *m;
	struct channel key, *c;

	*row = (struct end_row){ .channel = -1, .is_receive = is_receive, .bytes = call->bytes };
	if (peer == MPI_CALL_PROC_NULL)
		return 0;
	m = call->comm ? member_of(r, r->process, (uint64_t)call->comm) : NULL;
	if (call->comm && !m)
		return query_fail_memory(r->q);
	if (!m || m->is_inter || m->rank < 0 || peer < 0 || tag < 0) {
		r->out->nr_unclear++;
		/* what is not known of one channel may be a message of any */
		if (m && !m->is_inter)
			m->is_unclear = true;
		else if (!m)
			r->processes[r->process].is_unclear = true;
		return 0;
	}
	key = (struct channel){ .comm = call->comm,
				.sender = is_receive ? peer : m->rank,
				.receiver = is_receive ? m->rank : peer,
				.tag = tag,
				.own = call->comm == MPI_CALL_SELF ? (int64_t)r->process : -1 };
	c = channel_of(r, &key);
	if (!c)
		return query_fail_memory(r->q);
	row->channel = c - r->channels;
	row->at = c->nr[is_receive]++;
	c->process[is_receive] = r->process;
	return 0;
}

static void set_call(const struct reader *r, const struct call_row *call, struct end_row *row)
{
	row->id = call->id;
	row->pid = r->q->processes[call->process].pid;
	row->tid = call->tid;
	row->begin = call->begin;
	row->end = call->end;
	row->is_known = 1;
}

/* A send, or a receive that waits. */
static int add_waiting(struct reader *r, const struct call_row *call, bool is_receive)
{
	struct end_row row;
	int ret = find_index(r, call, is_receive, &row);

	if (ret || row.channel < 0)
		return ret;
	set_call(r, call, &row);
	return add_end(r, &row);
}

/* A receive whose index is in request->call. */
static int end_request(void *arg, const struct mpi_request *request)
{
	struct reader *r = arg;
	struct end_row row;

	if (request->kind != MPI_CALL_IRECV || !request->of)
		return 0;
	row = (struct end_row){ .channel = (int64_t)request->of - 1,
				.at = request->call.nr,
				.is_receive = 1,
				.bytes = request->call.bytes };
	if (r->call && !request->is_cancelled)
		set_call(r, r->call, &row);
	/* the row before it in its channel was another's message, and this one's is no one's */
	if (request->is_cancelled)
		r->processes[r->process].is_unclear = true;
	row.is_unclear = request->is_unclear;
	return add_end(r, &row);
}

/* A message without waiting: its receive has its index, and a row when it is complete. */
static int begin_request(struct reader *r, const struct call_row *call)
{
	struct mpi_requests *requests = &r->processes[r->process].requests;
	struct mpi_call of = { .request = (uint64_t)call->request, .bytes = call->bytes };
	struct end_row row = { .channel = -1 };
	int ret = 0;

	if (call->kind == MPI_CALL_IRECV)
		ret = find_index(r, call, true, &row);
	of.nr = row.at;
	if (ret)
		return ret;
	return mpi_requests_add(requests, (enum mpi_kind)call->kind, &of, call->tid,
				(uint64_t)(row.channel + 1), NULL) ?
		       query_fail_memory(r->q) :
		       0;
}

/* A message that the record lacks something of. */
static int add_unknown(struct reader *r, const struct call_row *call)
{
	const struct mpi_call none = { 0 };
	struct process *p = &r->processes[r->process];
	int ret = 0;

	p->is_unclear = true;
	r->out->nr_unclear += call->nr > 0 ? (uint64_t)call->nr : 1;
	if (call->request)
		return begin_request(r, call);
	for (int64_t i = 0; i < call->nr && ret == 0; i++)
		ret = mpi_requests_add(&p->requests, MPI_CALL_UNKNOWN, &none, call->tid, 0, NULL);
	return ret ? query_fail_memory(r->q) : 0;
}

static int note_new(struct reader *r, const struct call_row *call)
{
	struct member *m = member_of(r, r->process, (uint64_t)call->newcomm);

	if (!m)
		return query_fail_memory(r->q);
	m->rank = call->newrank;
	m->is_inter = call->kind == MPI_CALL_MAKES_INTER;
	return 0;
}

static int use_call(void *arg, const void *row)
{
	struct reader *r = arg;
	const struct call_row *call = row;
	struct mpi_call of = { .request = (uint64_t)call->request, .nr = call->nr };
	int ret = 0;

	r->process = (size_t)call->process;
	if (call->newcomm)
		ret = note_new(r, call);
	if (ret)
		return ret;
	switch (call->kind) {
	case MPI_CALL_SEND:
		return add_waiting(r, call, false);
	case MPI_CALL_RECV:
		return add_waiting(r, call, true);
	case MPI_CALL_SENDRECV:
		ret = add_waiting(r, call, false);
		return ret ? ret : add_waiting(r, call, true);
	case MPI_CALL_ISEND:
		ret = add_waiting(r, call, false);
		return ret ? ret : begin_request(r, call);
	case MPI_CALL_IRECV:
	case MPI_CALL_ICOLLECTIVE:
		return begin_request(r, call);
	case MPI_CALL_UNKNOWN:
		return add_unknown(r, call);
	default:
		r->call = call;
		return mpi_requests_complete(&r->processes[r->process].requests,
					     (enum mpi_kind)call->kind, &of, call->tid, end_request,
					     r);
	}
}

/* ---- reading ---- */

static int kind_of(struct reader *r, int64_t name, uint64_t *kind)
{
	if (map_get(&r->kinds, (uint64_t)name, kind))
		return 0;
	*kind = mpi_function_kind_of(query_look_up(r->name, name));
	return map_put(&r->kinds, (uint64_t)name, *kind) ? query_fail_memory(r->q) : 0;
}

/* id, tid, begin, end, status, name, arguments */
static int take_call(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	const struct query_process *process = query_process_of(r->q, sqlite3_value_int64(v[0]));
	struct mpi_call call;
	uint64_t kind;
	int ret = kind_of(r, sqlite3_value_int64(v[5]), &kind);

	if (ret || kind == MPI_CALL_OTHER || !process || sqlite3_value_int64(v[4]))
		return ret;
	mpi_function_read((enum mpi_kind)kind, (const char *)sqlite3_value_text(v[6]), &call);
	if (!call.newcomm &&
	    (kind == MPI_CALL_COLLECTIVE || kind == MPI_CALL_MAKES || kind == MPI_CALL_MAKES_INTER))
		return 0;
	ret = sorter_add(r->calls, &(struct call_row){
					   .begin = sqlite3_value_int64(v[2]),
					   .id = sqlite3_value_int64(v[0]),
					   .process = process - r->q->processes,
					   .tid = sqlite3_value_int64(v[1]),
					   .end = sqlite3_value_int64(v[3]),
					   .kind = (int64_t)kind,
					   .comm = (int64_t)call.comm,
					   .newcomm = (int64_t)call.newcomm,
					   .request = (int64_t)call.request,
					   .bytes = call.bytes,
					   .peer = call.peer,
					   .tag = call.tag,
					   .source = call.source,
					   .recvtag = call.recvtag,
					   .newrank = call.newrank,
					   .nr = call.nr,
				   });
	return ret ? query_fail(r->q, ret, "calls of MPI: %s", strerror(-ret)) : 0;
}

static int compare_calls(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_ends(const void *a, const void *b)
{
	const struct end_row *x = a, *y = b;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->is_receive < y->is_receive ? -1 : x->is_receive > y->is_receive;
}

/* ---- pairs ---- */

/* Whether the n-th send and the n-th receive are one message though one side has more of them: all
 * calls are recorded, and no other receive can have taken one. */
static bool is_clear(struct reader *r, const struct channel *c)
{
	for (int side = 0; side < 2; side++) {
		const struct member *m =
			c->nr[side] ? member_of(r, c->process[side], (uint64_t)c->comm) : NULL;

		if (m && (m->is_unclear || r->processes[c->process[side]].is_unclear))
			return false;
	}
	return r->q->verdict.complete && !r->q->verdict.nr_skipped;
}

static void count_single(struct reader *r)
{
	if (r->last.id)
		r->out->nr_alone++;
	r->last.id = 0;
}

static int pass_pair(struct reader *r, const struct end_row *row)
{
	const struct end_row *send = &r->last;
	const struct channel *c = &r->channels[row->channel];
	const struct query_process *from = &r->q->processes[c->process[0]],
				   *to = &r->q->processes[c->process[1]];
	struct mpi_message m;

	if (from->clock != to->clock) {
		r->out->nr_apart++;
		return 0;
	}
	if (!row->is_known || row->is_unclear) {
		r->out->nr_open++;
		return 0;
	}
	/* no message comes before it was sent: then they are not one */
	if (row->end < send->begin) {
		r->out->nr_unclear += 2;
		return 0;
	}
	m = (struct mpi_message){ { send->id, send->pid, send->tid, send->begin, send->end },
				  { row->id, row->pid, row->tid, row->begin, row->end },
				  send->bytes,
				  c->tag };
	r->out->nr++;
	return r->each(r->arg, &m);
}

static int use_end(void *arg, const void *end)
{
	struct reader *r = arg;
	const struct end_row *row = end;
	const struct channel *c = &r->channels[row->channel];
	bool is_next = r->last.id && r->last.channel == row->channel && r->last.at == row->at;
	int ret;

	if (c->nr[0] != c->nr[1] && c->nr[0] && c->nr[1] && !is_clear(r, c)) {
		count_single(r);
		r->out->nr_unclear++;
		return 0;
	}
	if (!row->is_receive) {
		count_single(r);
		r->last = *row;
		return 0;
	}
	if (!is_next) {
		count_single(r);
		r->out->nr_alone++;
		return 0;
	}
	ret = pass_pair(r, row);
	r->last.id = 0;
	return ret;
}

static int read_all(struct reader *r)
{
	struct query *q = r->q;
	int ret = query_read_processes(q);

	if (ret == 0)
		ret = query_prepare(q, &r->name, QUERY_STRING);
	r->processes = alloc_zero(q->nr_processes + 1, sizeof(*r->processes));
	r->calls = sorter_new(sizeof(struct call_row), compare_calls, SORTED_ROWS);
	r->ends = sorter_new(sizeof(struct end_row), compare_ends, SORTED_ROWS);
	if (!r->processes || !r->calls || !r->ends)
		return query_fail_memory(q);
	if (ret == 0)
		ret = query_scan(
			q, "A.id, A.tid, A.start, A.\"end\", X.status, A.apiName_id, U.string",
			"rocpd_api A CROSS JOIN rocpd_ustring U ON U.id = A.args_id LEFT JOIN "
			"rtl_api_data X ON X.api_id = A.id WHERE A.domain_id IN (SELECT id FROM "
			"rocpd_string WHERE string = 'mpi')",
			take_call, r);
	if (ret == 0)
		ret = sorter_read(r->calls, use_call, r);
	r->call = NULL;
	for (size_t i = 0; ret == 0 && i < q->nr_processes; i++) {
		r->process = i;
		ret = mpi_requests_end(&r->processes[i].requests, end_request, r);
	}
	if (ret == 0)
		ret = sorter_read(r->ends, use_end, r);
	if (ret == 0)
		count_single(r);
	if (ret && !q->res->error[0])
		query_fail(q, ret, "messages of MPI: %s", strerror(-ret));
	return ret;
}

/* Adds "3 of this" to a list. */
static void add_part(char *text, uint64_t nr, const char *what)
{
	size_t used = strlen(text);

	if (nr)
		snprintf(text + used, MPI_MESSAGES_TEXT - used, "%s%llu %s", used ? "; " : "",
			 (unsigned long long)nr, what);
}

const char *mpi_messages_text(const struct mpi_messages *m, char text[MPI_MESSAGES_TEXT])
{
	*text = '\0';
	add_part(text, m->nr_unclear, "sends and receives of MPI whose partner is not recorded");
	add_part(text, m->nr_open,
		 "messages of MPI of which no call is known to have completed the receive");
	add_part(text, m->nr_apart, "messages of MPI between hosts with clocks of their own");
	return text;
}

int mpi_messages_read(struct query *q, mpi_messages_fn each, void *arg, struct mpi_messages *out)
{
	struct reader r = { .q = q, .out = out, .each = each, .arg = arg };
	struct map domains = { 0 };
	bool has_calls;
	int ret;

	*out = (struct mpi_messages){ 0 };
	if (!q->ours)
		return 0;
	/* most traces have none, and are spared a pass over their calls */
	ret = query_ids(q, &domains, "mpi");
	has_calls = domains.nr > 0;
	map_fini(&domains);
	if (ret || !has_calls)
		return ret;
	ret = read_all(&r);
	sqlite3_finalize(r.name);
	sorter_free(r.calls);
	sorter_free(r.ends);
	map_fini(&r.kinds);
	map_fini(&r.channel_index);
	map_fini(&r.member_index);
	for (size_t i = 0; r.processes && i < q->nr_processes; i++)
		mpi_requests_fini(&r.processes[i].requests);
	alloc_free(r.processes);
	alloc_free(r.channels);
	alloc_free(r.members);
	return ret;
}
