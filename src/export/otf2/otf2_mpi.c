/* SPDX-License-Identifier: MIT */
/* otf2_mpi.c - calls of MPI as records of messages and collectives
 *
 * Within a call are what it sends and the begin of a collective at its begin, what it received and
 * the end of the collective at its end. A message without waiting ends in the call that completes
 * its request, as analysis/mpi_requests.h says, or at the end of its thread. Calls that failed have
 * no records. Memory grows with open requests.
 */
#include "export/otf2/otf2_mpi.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* What of a collective's data a rank sends and receives: its share, or one for each rank. */
enum volume { NO_DATA, ONE_TO_ALL, ALL_TO_ONE, ALL_TO_ALL, EACH_ONE };

/* Collectives; other calls have their kind alone. */
static const struct function {
	const char *name; /* without the _c of large counts */
	OTF2_CollectiveOp op;
	enum volume volume;
} functions[] = {
#define BOTH(name, op, volume)                                                                     \
	{ "MPI_" name, OTF2_COLLECTIVE_OP_##op, volume },                                          \
	{                                                                                          \
		"MPI_I" name, OTF2_COLLECTIVE_OP_##op, volume                                      \
	}
	BOTH("barrier", BARRIER, NO_DATA),
	BOTH("bcast", BCAST, ONE_TO_ALL),
	BOTH("gather", GATHER, ALL_TO_ONE),
	BOTH("gatherv", GATHERV, ALL_TO_ONE),
	BOTH("scatter", SCATTER, ONE_TO_ALL),
	BOTH("scatterv", SCATTERV, ONE_TO_ALL),
	BOTH("allgather", ALLGATHER, ALL_TO_ALL),
	BOTH("allgatherv", ALLGATHERV, ALL_TO_ALL),
	BOTH("alltoall", ALLTOALL, ALL_TO_ALL),
	BOTH("alltoallv", ALLTOALLV, EACH_ONE),
	BOTH("alltoallw", ALLTOALLW, EACH_ONE),
	BOTH("allreduce", ALLREDUCE, ALL_TO_ALL),
	BOTH("reduce", REDUCE, ALL_TO_ONE),
	BOTH("reduce_scatter", REDUCE_SCATTER, ALL_TO_ALL),
	BOTH("reduce_scatter_block", REDUCE_SCATTER_BLOCK, ALL_TO_ALL),
	BOTH("scan", SCAN, EACH_ONE),
	BOTH("exscan", EXSCAN, EACH_ONE),
#undef BOTH
#define MAKES(name)                                                                                \
	{                                                                                          \
		"MPI_" name, OTF2_COLLECTIVE_OP_CREATE_HANDLE, NO_DATA                             \
	}
	MAKES("Comm_dup"),
	MAKES("Comm_dup_with_info"),
	MAKES("Comm_split"),
	MAKES("Comm_split_type"),
	MAKES("Comm_create"),
	MAKES("Cart_create"),
	MAKES("Cart_sub"),
	MAKES("Graph_create"),
	MAKES("Dist_graph_create"),
	MAKES("Dist_graph_create_adjacent"),
#undef MAKES
	{ "MPI_Comm_free", OTF2_COLLECTIVE_OP_DESTROY_HANDLE, NO_DATA },
	{ "MPI_Comm_disconnect", OTF2_COLLECTIVE_OP_DESTROY_HANDLE, NO_DATA },
};
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
/* Of calls that are no collectives. */
#define NO_FUNCTION NR_FUNCTIONS

/* In mpi_request.of: a request that has records, the function and the communicator. */
#define HAS_RECORDS (UINT64_C(1) << 63)

struct otf2_mpi {
	struct otf2_comms *comms;
	struct query *q;
	struct query_texts texts;
	sqlite3_stmt *string;
	struct map kinds;	      /* id of a name -> its kind and its number in `functions` */
	struct map seen;	      /* communicators of the rank: number -> reference */
	int64_t rank;		      /* -1: none */
	uint64_t nr_joint;	      /* collectives of all ranks in which all wait */
	struct mpi_requests requests; /* of the thread */
	OTF2_EvtWriter *writer;	      /* of the call that completes requests, and its end */
	int64_t ns;
};

int otf2_mpi_begin(struct otf2_mpi **out, struct otf2_comms *comms, struct query *q)
{
	struct otf2_mpi *m = alloc_zero(1, sizeof(*m));
	int ret;

	*out = m;
	if (!m)
		return query_fail_memory(q);
	m->comms = comms;
	m->q = q;
	m->rank = -1;
	ret = query_texts_begin(q, &m->texts);
	return ret ? ret : query_prepare(q, &m->string, QUERY_STRING);
}

void otf2_mpi_end(struct otf2_mpi *m)
{
	if (!m)
		return;
	query_texts_end(&m->texts);
	sqlite3_finalize(m->string);
	map_fini(&m->kinds);
	map_fini(&m->seen);
	mpi_requests_fini(&m->requests);
	alloc_free(m);
}

void otf2_mpi_thread(struct otf2_mpi *m, int64_t rank)
{
	if (rank != m->rank) {
		map_clear(&m->seen);
		m->nr_joint = 0;
	}
	m->rank = rank < OTF2_MAX_RANKS ? rank : -1;
	m->requests.nr = m->requests.nr_persistent = 0;
}

/* ---- functions ---- */

static size_t find_function(const char *name)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (mpi_function_is(name, functions[i].name))
			return i;
	return NO_FUNCTION;
}

OTF2_RegionRole otf2_mpi_role(const char *name)
{
	enum mpi_kind kind = mpi_function_kind_of(name);
	size_t i = find_function(name);

	if (kind == MPI_CALL_OTHER || kind == MPI_CALL_MAKES || kind == MPI_CALL_MAKES_INTER)
		return OTF2_REGION_ROLE_FUNCTION;
	if (i == NO_FUNCTION)
		return OTF2_REGION_ROLE_POINT2POINT;
	if (functions[i].op == OTF2_COLLECTIVE_OP_BARRIER)
		return OTF2_REGION_ROLE_BARRIER;
	switch (functions[i].volume) {
	case ONE_TO_ALL:
		return OTF2_REGION_ROLE_COLL_ONE2ALL;
	case ALL_TO_ONE:
		return OTF2_REGION_ROLE_COLL_ALL2ONE;
	case ALL_TO_ALL:
	case EACH_ONE:
		return OTF2_REGION_ROLE_COLL_ALL2ALL;
	default:
		return OTF2_REGION_ROLE_COLL_OTHER;
	}
}

static int function_of(struct otf2_mpi *m, int64_t name, struct otf2_mpi_call *call)
{
	uint64_t known;
	const char *text;

	if (!map_get(&m->kinds, (uint64_t)name, &known)) {
		text = query_look_up(m->string, name);
		known = (uint64_t)mpi_function_kind_of(text) << 32 | find_function(text);
		if (map_put(&m->kinds, (uint64_t)name, known))
			return query_fail_memory(m->q);
	}
	call->kind = (enum mpi_kind)(known >> 32);
	call->function = (uint32_t)known;
	return 0;
}

/* The communicator of a call, with the peers or the size that the call says. */
static int use_comm(struct otf2_mpi *m, struct otf2_mpi_call *call, bool *is_known)
{
	uint64_t number = call->call.comm, least;
	struct otf2_comm *comm;
	int ret = 0;

	*is_known = number != 0;
	if (number)
		ret = otf2_comms_find(m->comms, &m->seen, (uint32_t)m->rank, number, &call->comm);
	if (ret || !number)
		return ret;
	comm = &m->comms->all[call->comm];
	least = call->call.ranks > 0 ? (uint64_t)call->call.ranks :
		call->call.peer >= 0 ? (uint64_t)call->call.peer + 1 :
				       0;
	*is_known = !comm->is_inter && least <= OTF2_MAX_RANKS;
	if (*is_known && least > comm->size)
		comm->size = least;
	return 0;
}

/* A communicator that a call made; `has_key`: by MPI_Comm_split(). */
static int note_new(struct otf2_mpi *m, const struct mpi_call *call, bool is_inter, bool has_key)
{
	struct otf2_comm *comm;
	uint32_t ref;
	int ret;

	if (!call->newcomm)
		return 0;
	ret = otf2_comms_find(m->comms, &m->seen, (uint32_t)m->rank, call->newcomm, &ref);
	if (ret)
		return ret;
	comm = &m->comms->all[ref];
	/* one between two groups has another one on each side */
	if (!comm->parent && !is_inter)
		comm->parent = call->comm;
	comm->is_inter |= is_inter;
	if (call->newranks > 0 && (uint64_t)call->newranks > comm->size &&
	    call->newranks <= OTF2_MAX_RANKS)
		comm->size = (uint64_t)call->newranks;
	for (size_t i = comm->nr; has_key && i-- > 0;)
		if (comm->members[i].rank == (uint32_t)m->rank) {
			comm->members[i].key = call->key;
			break;
		}
	return 0;
}

/* ---- requests ---- */

static struct mpi_request request_of(const struct otf2_mpi_call *call, uint64_t handle,
				     bool has_records)
{
	return (struct mpi_request){
		.handle = handle,
		.kind = call->kind,
		.call = call->call,
		.begin = call->begin,
		.since = call->end,
		.of = has_records ? HAS_RECORDS | (uint64_t)call->function << 32 | call->comm : 0
	};
}

/* `number` may be NULL. */
static int add_request(struct otf2_mpi *m, const struct otf2_mpi_call *call, bool has_records,
		       uint64_t *number)
{
	const struct mpi_request request = request_of(call, call->call.request, has_records);

	return mpi_requests_add(&m->requests, &request, number) ? query_fail_memory(m->q) : 0;
}

static int end_collective(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
			  const struct function *f, const struct mpi_call *call, uint32_t ref,
			  const uint64_t *request)
{
	const struct otf2_comm *comm = &m->comms->all[ref];
	uint64_t share = call->bytes > 0 ? (uint64_t)call->bytes : 0, sent = share,
		 received = share;
	uint64_t all = share * (call->ranks > 0 ? (uint64_t)call->ranks : 1);
	bool is_rooted = f->volume == ONE_TO_ALL || f->volume == ALL_TO_ONE;
	/* in others the own rank is not known */
	bool is_root = comm->number == OTF2_COMM_WORLD && call->root == m->rank;
	uint32_t root = is_rooted && call->root >= 0 ? (uint32_t)call->root :
						       OTF2_COLLECTIVE_ROOT_NONE;

	switch (f->volume) {
	case NO_DATA:
		sent = received = 0;
		break;
	case ONE_TO_ALL:
		sent = is_root ? all : 0;
		break;
	case ALL_TO_ONE:
		received = is_root ? all : 0;
		break;
	case ALL_TO_ALL:
		sent = received = all;
		break;
	case EACH_ONE:
		break;
	}
	if (request)
		return otf2_archive_check(m->comms->archive,
					  otf2_lib.EvtWriter_NonBlockingCollectiveComplete(
						  writer, NULL, (uint64_t)ns, f->op, ref, root,
						  sent, received, *request));
	return otf2_archive_check(m->comms->archive,
				  otf2_lib.EvtWriter_MpiCollectiveEnd(writer, NULL, (uint64_t)ns,
								      f->op, ref, root, sent,
								      received));
}

/* Of any rank or any tag: whether it has a message is known at its end, so that its request has no
 * record. */
static bool is_from_any(const struct mpi_call *call)
{
	return call->peer == MPI_CALL_ANY || call->tag == MPI_CALL_ANY;
}

/* Of a receive that is complete; `number`: of its request; NULL: that has no record. */
static int end_receive(struct otf2_mpi *m, uint32_t ref, const struct mpi_request *r,
		       const uint64_t *number)
{
	struct otf2_archive *a = m->comms->archive;
	int64_t peer = r->call.peer, tag = r->call.tag;
	struct otf2_comm *comm = &m->comms->all[ref];
	uint64_t ns = (uint64_t)m->ns, bytes = (uint64_t)r->call.bytes;

	if (r->done.has_source && peer == MPI_CALL_ANY)
		peer = r->done.source;
	if (r->done.has_source && tag == MPI_CALL_ANY)
		tag = r->done.tag;
	if (peer < 0 || tag < 0 || peer >= OTF2_MAX_RANKS) {
		m->comms->nr_left_out++;
		return 0;
	}
	if ((uint64_t)peer >= comm->size)
		comm->size = (uint64_t)peer + 1;
	return otf2_archive_check(a, number ? otf2_lib.EvtWriter_MpiIrecv(m->writer, NULL, ns,
									  (uint32_t)peer, ref,
									  (uint32_t)tag, bytes,
									  *number) :
					      otf2_lib.EvtWriter_MpiRecv(m->writer, NULL, ns,
									 (uint32_t)peer, ref,
									 (uint32_t)tag, bytes));
}

static int end_request(void *arg, const struct mpi_request *r)
{
	struct otf2_mpi *m = arg;
	struct otf2_archive *a = m->comms->archive;
	uint32_t ref = (uint32_t)r->of, function = (uint32_t)(r->of >> 32 & INT32_MAX);
	uint64_t ns = (uint64_t)m->ns;

	if (!r->of)
		return 0;
	errno = 0;
	if (r->is_cancelled && r->kind == MPI_CALL_IRECV && is_from_any(&r->call))
		return 0;
	if (r->is_cancelled)
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiRequestCancelled(m->writer, NULL,
										    ns, r->number));
	switch (r->kind) {
	case MPI_CALL_ISEND:
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiIsendComplete(m->writer, NULL,
										 ns, r->number));
	case MPI_CALL_IRECV:
		return end_receive(m, ref, r, is_from_any(&r->call) ? NULL : &r->number);
	case MPI_CALL_PROBE:
		return r->has_done ? end_receive(m, ref, r, NULL) : 0;
	default:
		return end_collective(m, m->writer, m->ns, &functions[function], &r->call, ref,
				      &r->number);
	}
}

int otf2_mpi_thread_ends(struct otf2_mpi *m, size_t location, int64_t ns)
{
	m->writer = m->comms->archive->locations[location].writer;
	m->ns = ns;
	return m->writer ? mpi_requests_end(&m->requests, end_request, m) : 0;
}

/* ---- calls ---- */

static int send(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
		const struct otf2_mpi_call *call)
{
	struct otf2_archive *a = m->comms->archive;
	uint64_t number;
	int ret;

	if (call->kind != MPI_CALL_ISEND)
		return otf2_archive_check(a,
					  otf2_lib.EvtWriter_MpiSend(writer, NULL, (uint64_t)ns,
								     (uint32_t)call->call.peer,
								     call->comm,
								     (uint32_t)call->call.tag,
								     (uint64_t)call->call.bytes));
	ret = add_request(m, call, true, &number);
	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.EvtWriter_MpiIsend(writer, NULL, (uint64_t)ns,
								       (uint32_t)call->call.peer,
								       call->comm,
								       (uint32_t)call->call.tag,
								       (uint64_t)call->call.bytes,
								       number));
}

static int begin_receive(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
			 const struct otf2_mpi_call *call)
{
	uint64_t number;
	int ret = add_request(m, call, true, &number);

	return ret || is_from_any(&call->call) ?
		       ret :
		       otf2_archive_check(m->comms->archive,
					  otf2_lib.EvtWriter_MpiIrecvRequest(writer, NULL,
									     (uint64_t)ns, number));
}

/* A persistent request is a message from now on. */
static int start(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
		 const struct otf2_mpi_call *call, uint64_t handle)
{
	const struct mpi_request *of =
		mpi_requests_find_persistent(&m->requests, handle, call->begin);
	struct otf2_mpi_call as = *call;

	m->comms->nr_left_out += !of;
	if (!of || !of->of)
		return 0;
	as.kind = of->kind == MPI_CALL_SEND_INIT ? MPI_CALL_ISEND : MPI_CALL_IRECV;
	as.comm = (uint32_t)of->of;
	as.function = (uint32_t)(of->of >> 32 & INT32_MAX);
	as.call = of->call;
	as.call.request = handle;
	return as.kind == MPI_CALL_ISEND ? send(m, writer, ns, &as) :
					   begin_receive(m, writer, ns, &as);
}

static int start_all(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
		     const struct otf2_mpi_call *call)
{
	const char *list = call->call.list;
	struct mpi_done done;
	int ret = 0;

	if (!list)
		return start(m, writer, ns, call, call->call.request);
	while (ret == 0 && mpi_function_next(&list, &done))
		ret = start(m, writer, ns, call, done.handle);
	return ret;
}

/* The message that a matched probe found has become a request. */
static int begin_probed(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
			const struct otf2_mpi_call *call)
{
	uint64_t number = mpi_requests_rename(&m->requests,
					      call->call.message | MPI_REQUESTS_MESSAGE,
					      call->call.request, call->begin, call->end);

	return number ? otf2_archive_check(m->comms->archive,
					   otf2_lib.EvtWriter_MpiIrecvRequest(writer, NULL,
									      (uint64_t)ns,
									      number)) :
			0;
}

/* What a call records when it begins. */
static int begin_call(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
		      const struct otf2_mpi_call *call)
{
	struct otf2_archive *a = m->comms->archive;
	uint64_t number;
	int ret;

	errno = 0;
	switch (call->kind) {
	case MPI_CALL_SEND:
	case MPI_CALL_ISEND:
		return send(m, writer, ns, call);
	case MPI_CALL_SENDRECV:
		return call->call.peer >= 0 ? send(m, writer, ns, call) : 0;
	case MPI_CALL_IRECV:
		return begin_receive(m, writer, ns, call);
	case MPI_CALL_START:
		return start_all(m, writer, ns, call);
	case MPI_CALL_IMRECV:
		return begin_probed(m, writer, ns, call);
	case MPI_CALL_COLLECTIVE:
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiCollectiveBegin(writer, NULL,
										   (uint64_t)ns));
	case MPI_CALL_ICOLLECTIVE:
		ret = add_request(m, call, true, &number);
		return ret ? ret :
			     otf2_archive_check(a, otf2_lib.EvtWriter_NonBlockingCollectiveRequest(
							   writer, NULL, (uint64_t)ns, number));
	default:
		return 0;
	}
}

/* Whether a call of this kind, which has a communicator, can have its records; others are counted,
 * but for messages of no partner. */
static bool can_record(struct otf2_mpi *m, const struct otf2_mpi_call *call, bool is_known)
{
	const struct mpi_call *args = &call->call;
	int64_t partner = call->kind == MPI_CALL_SENDRECV && args->peer < 0 ? args->source :
									      args->peer;

	if (call->kind == MPI_CALL_COLLECTIVE || call->kind == MPI_CALL_ICOLLECTIVE) {
		enum volume volume = functions[call->function].volume;

		if (!is_known ||
		    (args->root < 0 && (volume == ONE_TO_ALL || volume == ALL_TO_ONE))) {
			m->comms->nr_left_out++;
			return false;
		}
		return true;
	}
	if (partner == MPI_CALL_PROC_NULL && is_known)
		return false;
	/* what a request receives from any rank is known when it is complete */
	if (is_known && call->kind != MPI_CALL_ISENDRECV &&
	    (partner >= 0 || call->kind == MPI_CALL_IRECV || call->kind == MPI_CALL_RECV_INIT))
		return true;
	m->comms->nr_left_out++;
	return false;
}

/* A persistent request, and the message of a matched probe, have records later. */
static int add_later(struct otf2_mpi *m, const struct otf2_mpi_call *call, bool *is_recorded)
{
	bool is_probe = call->kind == MPI_CALL_PROBE;
	const struct mpi_request request =
		request_of(call,
			   is_probe ? call->call.message | MPI_REQUESTS_MESSAGE :
				      call->call.request,
			   true);
	int ret;

	if (!is_probe && call->kind != MPI_CALL_SEND_INIT && call->kind != MPI_CALL_RECV_INIT)
		return 0;
	*is_recorded = false;
	ret = is_probe ? mpi_requests_add(&m->requests, &request, NULL) :
			 mpi_requests_add_persistent(&m->requests, &request);
	return ret ? query_fail_memory(m->q) : 0;
}

/* Whether the call has records. */
static int use_call(struct otf2_mpi *m, struct otf2_mpi_call *call, bool *is_recorded)
{
	bool is_known;
	int ret;

	*is_recorded = true;
	switch (call->kind) {
	case MPI_CALL_WAIT:
	case MPI_CALL_WAIT_ALL:
	case MPI_CALL_WAIT_ANY:
	case MPI_CALL_WAIT_SOME:
	case MPI_CALL_CANCEL:
	case MPI_CALL_FREE:
	case MPI_CALL_START:
	case MPI_CALL_MRECV:
	case MPI_CALL_IMRECV:
		return 0;
	case MPI_CALL_OTHER_INIT:
		*is_recorded = false;
		return 0;
	case MPI_CALL_PROBE:
		if (!call->call.nr || !call->call.message) {
			*is_recorded = false;
			return 0;
		}
		break;
	case MPI_CALL_MAKES:
	case MPI_CALL_MAKES_INTER:
		*is_recorded = false;
		return note_new(m, &call->call, call->kind == MPI_CALL_MAKES_INTER, false);
	default:
		break;
	}
	ret = use_comm(m, call, &is_known);
	if (ret == 0)
		ret = note_new(m, &call->call, false,
			       call->function < NR_FUNCTIONS &&
				       strcmp(functions[call->function].name, "MPI_Comm_split") ==
					       0);
	*is_recorded = ret == 0 && can_record(m, call, is_known);
	if (ret)
		return ret;
	if (!*is_recorded)
		return mpi_requests_is_begun(call->kind) ? add_request(m, call, false, NULL) : 0;
	return add_later(m, call, is_recorded);
}

/* Collectives of all ranks say how far the clocks of hosts are apart. All ranks count them by their
 * names, also those without data. */
static int note_joint(struct otf2_mpi *m, const struct otf2_mpi_call *call,
		      const struct rows_call *row)
{
	const struct function *f = &functions[call->function];
	uint64_t number;

	if (call->kind != MPI_CALL_COLLECTIVE || !clock_align_waits(f->name, true) ||
	    m->comms->all[call->comm].number != OTF2_COMM_WORLD)
		return 0;
	number = m->nr_joint++;
	return clock_align_waits(f->name, call->call.bytes > 0) ?
		       otf2_clocks_add(m->comms->clocks, m->comms->clock, number, (int)f->op + 1,
				       row->start, row->end) :
		       0;
}

int otf2_mpi_enter(struct otf2_mpi *m, size_t location, const struct rows_call *row,
		   struct otf2_mpi_call *call)
{
	bool is_recorded;
	int ret;

	call->kind = MPI_CALL_OTHER;
	if (m->rank < 0 || row->status || row->unclosed)
		return 0;
	ret = function_of(m, row->name, call);
	if (ret || call->kind == MPI_CALL_OTHER)
		return ret;
	call->begin = row->start;
	call->end = row->end;
	call->args = row->args;
	mpi_function_read(call->kind, query_texts_get(&m->texts, row->args), &call->call);
	if (call->kind != MPI_CALL_MAKES && call->kind != MPI_CALL_MAKES_INTER)
		ret = otf2_comms_locate(m->comms, (uint32_t)m->rank,
					m->comms->archive->locations[location].id);
	if (ret == 0)
		ret = use_call(m, call, &is_recorded);
	if (ret == 0 && is_recorded)
		ret = begin_call(m, m->comms->archive->locations[location].writer, row->start,
				 call);
	if (ret == 0 && is_recorded)
		ret = note_joint(m, call, row);
	if (ret || !is_recorded)
		call->kind = MPI_CALL_OTHER;
	return ret;
}

static int receive(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns, uint32_t comm,
		   int64_t peer, int64_t tag, int64_t bytes)
{
	return peer < 0 ? 0 :
			  otf2_archive_check(m->comms->archive,
					     otf2_lib.EvtWriter_MpiRecv(writer, NULL, (uint64_t)ns,
									(uint32_t)peer, comm,
									(uint32_t)tag,
									(uint64_t)bytes));
}

static int complete(struct otf2_mpi *m, const struct otf2_mpi_call *call)
{
	const struct mpi_done probed = { .handle = call->call.message | MPI_REQUESTS_MESSAGE };
	struct mpi_call args = call->call;

	if (call->kind == MPI_CALL_MRECV)
		return mpi_requests_done(&m->requests, &probed, call->begin, end_request, m);
	/* the list is of the text of another call by now, if there were calls within this one */
	if (args.list)
		mpi_function_read(call->kind, query_texts_get(&m->texts, call->args), &args);
	return mpi_requests_complete(&m->requests, call->kind, &args, 0, call->begin, end_request,
				     m);
}

int otf2_mpi_leave(struct otf2_mpi *m, size_t location, int64_t ns,
		   const struct otf2_mpi_call *call)
{
	OTF2_EvtWriter *writer = m->comms->archive->locations[location].writer;
	const struct mpi_call *args = &call->call;

	errno = 0;
	switch (call->kind) {
	case MPI_CALL_OTHER:
		return 0;
	case MPI_CALL_RECV:
		return receive(m, writer, ns, call->comm, args->peer, args->tag, args->bytes);
	case MPI_CALL_SENDRECV:
		return receive(m, writer, ns, call->comm, args->source, args->recvtag,
			       args->received);
	case MPI_CALL_COLLECTIVE:
		return end_collective(m, writer, ns, &functions[call->function], args, call->comm,
				      NULL);
	default:
		m->writer = writer;
		m->ns = ns;
		return complete(m, call);
	}
}
