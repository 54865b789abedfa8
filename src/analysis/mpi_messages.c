/* SPDX-License-Identifier: MIT */
/* mpi_messages.c - pairs the sends and the receives of MPI
 *
 * Calls are read by their begin; one that completes or starts several requests is a row for each.
 * Each end of a message becomes a row with its channel and its index in it; in the order of these,
 * the two rows of a message follow each other. Of a receive it is known when it is complete from
 * whom it was, but its index is by the time when it began: receives are sorted by that first.
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

/* A call, by its begin, or what it says of one of its requests. */
struct call_row {
	int64_t begin, id, at, process, tid, end, kind;
	int64_t comm, newcomm, request, bytes, peer, tag, source, recvtag, newrank, nr;
	int64_t has_done, has_source, is_cancelled; /* struct mpi_done; with source, recvtag */
};
ROW_CHECK(struct call_row, 20, is_cancelled);

/* A receive in its channel, by the begin of the call that began it. */
struct receive_row {
	int64_t channel, began, by;
	int64_t id, pid, tid, begin, end;
	int64_t is_known, is_unclear;
};
ROW_CHECK(struct receive_row, 10, is_unclear);

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
	struct sorter *calls, *receives, *ends;
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

/* The channel of a message between this process and a peer. *out is NULL if there is none: the peer
 * is MPI_PROC_NULL; or the message is not known, which is counted. */
static int find_channel(struct reader *r, uint64_t comm, int64_t peer, int64_t tag, bool is_receive,
			struct channel **out)
{
	struct member *m;
	struct channel key;

	*out = NULL;
	if (peer == MPI_CALL_PROC_NULL)
		return 0;
	m = comm ? member_of(r, r->process, comm) : NULL;
	if (comm && !m)
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
	key = (struct channel){ .comm = (int64_t)comm,
				.sender = is_receive ? peer : m->rank,
				.receiver = is_receive ? m->rank : peer,
				.tag = tag,
				.own = comm == MPI_CALL_SELF ? (int64_t)r->process : -1 };
	*out = channel_of(r, &key);
	if (!*out)
		return query_fail_memory(r->q);
	(*out)->process[is_receive] = r->process;
	return 0;
}

static int add_send(struct reader *r, const struct call_row *call)
{
	struct channel *c;
	int ret = find_channel(r, (uint64_t)call->comm, call->peer, call->tag, false, &c);
	struct end_row row = { .bytes = call->bytes, .is_known = 1 };

	if (ret || !c)
		return ret;
	row.channel = c - r->channels;
	row.at = c->nr[0]++;
	row.id = call->id;
	row.pid = r->q->processes[call->process].pid;
	row.tid = call->tid;
	row.begin = call->begin;
	row.end = call->end;
	return add_end(r, &row);
}

/* A receive that a call has begun, and `call` has completed; NULL: none is known to have. */
static int add_receive(struct reader *r, const struct mpi_request *request,
		       const struct call_row *call)
{
	const struct mpi_done *done = &request->done;
	int64_t peer = request->call.peer, tag = request->call.tag;
	struct receive_row row = { .began = request->begin,
				   .by = (int64_t)request->of,
				   .is_unclear = request->is_unclear };
	struct channel *c;
	int ret;

	if (done->has_source && peer == MPI_CALL_ANY)
		peer = done->source;
	if (done->has_source && tag == MPI_CALL_ANY)
		tag = done->tag;
	ret = find_channel(r, request->call.comm, peer, tag, true, &c);
	if (ret || !c)
		return ret;
	row.channel = c - r->channels;
	c->nr[1]++;
	if (call) {
		row.id = call->id;
		row.pid = r->q->processes[call->process].pid;
		row.tid = call->tid;
		row.begin = call->begin;
		row.end = call->end;
		row.is_known = 1;
	}
	ret = sorter_add(r->receives, &row);
	return ret ? query_fail(r->q, ret, "messages of MPI: %s", strerror(-ret)) : 0;
}

/* The request that a call has begun; `peer` and `tag` of what it receives. */
static struct mpi_request request_of(const struct call_row *call, enum mpi_kind kind, int64_t peer,
				     int64_t tag)
{
	return (struct mpi_request){ .handle = (uint64_t)call->request,
				     .kind = kind,
				     .call = { .comm = (uint64_t)call->comm,
					       .bytes = call->bytes,
					       .peer = peer,
					       .tag = tag },
				     .tid = call->tid,
				     .begin = call->begin,
				     .since = call->end,
				     .of = (uint64_t)call->id };
}

/* A receive that waits. */
static int add_waiting(struct reader *r, const struct call_row *call, int64_t peer, int64_t tag)
{
	const struct mpi_request request = request_of(call, MPI_CALL_IRECV, peer, tag);

	return add_receive(r, &request, call);
}

static int end_request(void *arg, const struct mpi_request *request)
{
	struct reader *r = arg;

	if (request->kind != MPI_CALL_IRECV)
		return 0;
	if (!request->is_cancelled)
		return add_receive(r, request, request->is_freed ? NULL : r->call);
	if (request->has_done)
		return 0;
	/* whether it has taken a message before that is not known */
	r->processes[r->process].is_unclear = true;
	return add_receive(r, request, NULL);
}

static int begin_request(struct reader *r, const struct call_row *call, enum mpi_kind kind,
			 int64_t peer, int64_t tag)
{
	const struct mpi_request request = request_of(call, kind, peer, tag);

	return mpi_requests_add(&r->processes[r->process].requests, &request, NULL) ?
		       query_fail_memory(r->q) :
		       0;
}

/* Messages of which nothing is known. */
static int count_unknown(struct reader *r, int64_t nr)
{
	r->processes[r->process].is_unclear = true;
	r->out->nr_unclear += nr > 0 ? (uint64_t)nr : 1;
	return 0;
}

static int start_request(struct reader *r, const struct call_row *call)
{
	const struct mpi_request *of =
		mpi_requests_find_persistent(&r->processes[r->process].requests,
					     (uint64_t)call->request, call->begin);
	struct call_row as = *call;
	int ret = 0;

	if (!of)
		return count_unknown(r, call->nr);
	as.comm = (int64_t)of->call.comm;
	as.bytes = of->call.bytes;
	as.peer = of->call.peer;
	as.tag = of->call.tag;
	if (of->kind == MPI_CALL_RECV_INIT)
		return begin_request(r, &as, MPI_CALL_IRECV, as.peer, as.tag);
	if (of->kind == MPI_CALL_SEND_INIT)
		ret = add_send(r, &as);
	return ret ? ret : begin_request(r, &as, MPI_CALL_ISEND, as.peer, as.tag);
}

/* A message that a matched probe has found, which is the receive of it. */
static int receive_probed(struct reader *r, const struct call_row *call)
{
	struct mpi_requests *requests = &r->processes[r->process].requests;
	const struct mpi_done done = { .handle = (uint64_t)call->request };
	size_t nr = requests->nr;
	int ret;

	r->call = call;
	ret = mpi_requests_done(requests, &done, call->begin, end_request, r);
	/* the probe is not recorded */
	if (ret == 0 && requests->nr == nr && call->peer != MPI_CALL_PROC_NULL)
		ret = count_unknown(r, 1);
	return ret;
}

static int complete_requests(struct reader *r, const struct call_row *call)
{
	struct mpi_requests *requests = &r->processes[r->process].requests;
	const struct mpi_call of = { .request = (uint64_t)call->request, .nr = call->nr };
	const struct mpi_done done = { .handle = (uint64_t)call->request,
				       .has_source = call->has_source != 0,
				       .is_cancelled = call->is_cancelled != 0,
				       .source = call->source,
				       .tag = call->recvtag };

	r->call = call;
	return call->has_done ? mpi_requests_done(requests, &done, call->begin, end_request, r) :
				mpi_requests_complete(requests, (enum mpi_kind)call->kind, &of,
						      call->tid, call->begin, end_request, r);
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
	enum mpi_kind kind = (enum mpi_kind)call->kind;
	struct mpi_request request;
	int ret = 0;

	r->process = (size_t)call->process;
	if (call->newcomm)
		ret = note_new(r, call);
	if (ret)
		return ret;
	switch (kind) {
	case MPI_CALL_SEND:
		return add_send(r, call);
	case MPI_CALL_RECV:
		return add_waiting(r, call, call->peer, call->tag);
	case MPI_CALL_SENDRECV:
		ret = add_send(r, call);
		return ret ? ret : add_waiting(r, call, call->source, call->recvtag);
	case MPI_CALL_ISENDRECV:
		ret = add_send(r, call);
		return ret ? ret :
			     begin_request(r, call, MPI_CALL_IRECV, call->source, call->recvtag);
	case MPI_CALL_ISEND:
		ret = add_send(r, call);
		return ret ? ret : begin_request(r, call, kind, call->peer, call->tag);
	case MPI_CALL_IRECV:
	case MPI_CALL_ICOLLECTIVE:
		return begin_request(r, call, kind, call->peer, call->tag);
	case MPI_CALL_PROBE:
		return call->nr && call->request ?
			       begin_request(r, call, MPI_CALL_IRECV, call->peer, call->tag) :
			       0;
	case MPI_CALL_MRECV:
		return receive_probed(r, call);
	case MPI_CALL_IMRECV:
		mpi_requests_rename(&r->processes[r->process].requests, (uint64_t)call->source,
				    (uint64_t)call->request, call->begin, call->end);
		return 0;
	case MPI_CALL_SEND_INIT:
	case MPI_CALL_RECV_INIT:
	case MPI_CALL_OTHER_INIT:
		request = request_of(call, kind, call->peer, call->tag);
		return mpi_requests_add_persistent(&r->processes[r->process].requests, &request) ?
			       query_fail_memory(r->q) :
			       0;
	case MPI_CALL_START:
		return start_request(r, call);
	default:
		return complete_requests(r, call);
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

static int add_call(struct reader *r, const struct call_row *row)
{
	int ret = sorter_add(r->calls, row);

	return ret ? query_fail(r->q, ret, "calls of MPI: %s", strerror(-ret)) : 0;
}

/* A row for each request of the call's list. */
static int add_list(struct reader *r, struct call_row *row, const char *list)
{
	enum mpi_kind kind = (enum mpi_kind)row->kind;
	struct mpi_done done;
	int ret = 0;

	for (row->at = 0; ret == 0 && mpi_function_next(&list, &done); row->at++) {
		row->kind = kind == MPI_CALL_START ? kind :
			    done.handle		   ? MPI_CALL_WAIT :
						     MPI_CALL_WAIT_ALL;
		row->request = (int64_t)done.handle;
		row->nr = done.handle ? 1 : done.more;
		row->has_done = done.handle != 0;
		row->has_source = done.has_source;
		row->is_cancelled = done.is_cancelled;
		row->source = done.source;
		row->recvtag = done.tag;
		ret = add_call(r, row);
	}
	return ret;
}

/* id, tid, begin, end, status, name, arguments */
static int take_call(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	const struct query_process *process = query_process_of(r->q, sqlite3_value_int64(v[0]));
	struct call_row row;
	struct mpi_call call;
	uint64_t kind;
	int ret = kind_of(r, sqlite3_value_int64(v[5]), &kind);

	if (ret || kind == MPI_CALL_OTHER || !process || sqlite3_value_int64(v[4]))
		return ret;
	mpi_function_read((enum mpi_kind)kind, (const char *)sqlite3_value_text(v[6]), &call);
	if (!call.newcomm &&
	    (kind == MPI_CALL_COLLECTIVE || kind == MPI_CALL_MAKES || kind == MPI_CALL_MAKES_INTER))
		return 0;
	row = (struct call_row){
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
	};
	if (call.list)
		return add_list(r, &row, call.list);
	if (kind == MPI_CALL_PROBE || kind == MPI_CALL_MRECV)
		row.request = call.message ? (int64_t)(call.message | MPI_REQUESTS_MESSAGE) : 0;
	else if (kind == MPI_CALL_IMRECV)
		row.source = call.message ? (int64_t)(call.message | MPI_REQUESTS_MESSAGE) : 0;
	return add_call(r, &row);
}

static int compare_calls(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int compare_receives(const void *a, const void *b)
{
	const struct receive_row *x = a, *y = b;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return x->by < y->by ? -1 : x->by > y->by;
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

struct indexing {
	struct reader *r;
	int64_t channel, nr;
};

static int index_receive(void *arg, const void *receive)
{
	struct indexing *i = arg;
	const struct receive_row *row = receive;

	if (row->channel != i->channel)
		i->nr = 0;
	i->channel = row->channel;
	return add_end(i->r, &(struct end_row){ .channel = row->channel,
						.at = i->nr++,
						.is_receive = 1,
						.id = row->id,
						.pid = row->pid,
						.tid = row->tid,
						.begin = row->begin,
						.end = row->end,
						.is_known = row->is_known,
						.is_unclear = row->is_unclear });
}

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
	struct indexing indexing = { .r = r, .channel = -1 };
	int ret = query_read_processes(q);

	if (ret == 0)
		ret = query_prepare(q, &r->name, QUERY_STRING);
	r->processes = alloc_zero(q->nr_processes + 1, sizeof(*r->processes));
	r->calls = sorter_new(sizeof(struct call_row), compare_calls, SORTED_ROWS);
	r->receives = sorter_new(sizeof(struct receive_row), compare_receives, SORTED_ROWS);
	r->ends = sorter_new(sizeof(struct end_row), compare_ends, SORTED_ROWS);
	if (!r->processes || !r->calls || !r->receives || !r->ends)
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
		ret = sorter_read(r->receives, index_receive, &indexing);
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
	sorter_free(r.receives);
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
