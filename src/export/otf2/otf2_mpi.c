/* SPDX-License-Identifier: MIT */
/* otf2_mpi.c - calls of MPI as records of messages and collectives
 *
 * Within a call are what it sends and the begin of a collective at its begin, what it received and
 * the end of the collective at its end. A message without waiting ends in the call that completes
 * its request. Calls that complete several do not say which: the oldest are taken, and at the end
 * of a thread all that are open. Calls that failed have no records. Memory grows with open
 * requests.
 */
#include "export/otf2/otf2_mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "export/call_args.h"

enum kind {
	NOTHING,
	SEND,
	RECV,
	SENDRECV,
	ISEND,
	IRECV,
	WAIT,	   /* for a request; with a flag, if it is set */
	WAIT_ALL,  /* for `count` of them */
	WAIT_ANY,  /* for one */
	WAIT_SOME, /* for `outcount` */
	CANCEL,
	COLLECTIVE,
	ICOLLECTIVE,
	UNKNOWN, /* a message whose record would lack something */
};

/* What of a collective's data a rank sends and receives: its share, or one for each rank. */
enum volume { NO_DATA, ONE_TO_ALL, ALL_TO_ONE, ALL_TO_ALL, EACH_ONE };

static const struct function {
	const char *name; /* without the _c of large counts */
	enum kind kind;
	OTF2_CollectiveOp op;
	enum volume volume;
} functions[] = {
	{ "MPI_Send", SEND, 0, NO_DATA },
	{ "MPI_Bsend", SEND, 0, NO_DATA },
	{ "MPI_Ssend", SEND, 0, NO_DATA },
	{ "MPI_Rsend", SEND, 0, NO_DATA },
	{ "MPI_Recv", RECV, 0, NO_DATA },
	{ "MPI_Mrecv", RECV, 0, NO_DATA },
	{ "MPI_Sendrecv", SENDRECV, 0, NO_DATA },
	{ "MPI_Sendrecv_replace", SENDRECV, 0, NO_DATA },
	{ "MPI_Isend", ISEND, 0, NO_DATA },
	{ "MPI_Ibsend", ISEND, 0, NO_DATA },
	{ "MPI_Issend", ISEND, 0, NO_DATA },
	{ "MPI_Irsend", ISEND, 0, NO_DATA },
	{ "MPI_Irecv", IRECV, 0, NO_DATA },
	{ "MPI_Imrecv", UNKNOWN, 0, NO_DATA },
	{ "MPI_Isendrecv", UNKNOWN, 0, NO_DATA },
	{ "MPI_Isendrecv_replace", UNKNOWN, 0, NO_DATA },
	{ "MPI_Start", UNKNOWN, 0, NO_DATA },
	{ "MPI_Startall", UNKNOWN, 0, NO_DATA },
	{ "MPI_Wait", WAIT, 0, NO_DATA },
	{ "MPI_Test", WAIT, 0, NO_DATA },
	{ "MPI_Request_free", WAIT, 0, NO_DATA },
	{ "MPI_Cancel", CANCEL, 0, NO_DATA },
	{ "MPI_Waitall", WAIT_ALL, 0, NO_DATA },
	{ "MPI_Testall", WAIT_ALL, 0, NO_DATA },
	{ "MPI_Waitany", WAIT_ANY, 0, NO_DATA },
	{ "MPI_Testany", WAIT_ANY, 0, NO_DATA },
	{ "MPI_Waitsome", WAIT_SOME, 0, NO_DATA },
	{ "MPI_Testsome", WAIT_SOME, 0, NO_DATA },
#define BOTH(name, op, volume)                                                                     \
	{ "MPI_" name, COLLECTIVE, OTF2_COLLECTIVE_OP_##op, volume },                              \
	{                                                                                          \
		"MPI_I" name, ICOLLECTIVE, OTF2_COLLECTIVE_OP_##op, volume                         \
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
		"MPI_" name, COLLECTIVE, OTF2_COLLECTIVE_OP_CREATE_HANDLE, NO_DATA                 \
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
	{ "MPI_Comm_free", COLLECTIVE, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, NO_DATA },
	{ "MPI_Comm_disconnect", COLLECTIVE, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, NO_DATA },
};
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
/* In m->kinds: a function that makes a communicator between two groups, or may make another one. */
#define MAKES_INTER NR_FUNCTIONS
#define MAKES_OTHER (NR_FUNCTIONS + 1)
#define OF_NO_KIND (NR_FUNCTIONS + 2)

struct request {
	uint64_t handle, number;
	const struct function *function;
	struct otf2_mpi_call call;
	bool is_cancelled;
};

struct otf2_mpi {
	struct otf2_comms *comms;
	struct query *q;
	struct query_texts texts;
	sqlite3_stmt *string;
	struct map kinds; /* id of a name -> index of `functions` */
	struct map seen;  /* communicators of the rank: number -> reference */
	int64_t rank;	  /* -1: none */
	uint64_t nr_requests;
	uint64_t nr_joint;    /* collectives of all ranks in which all wait */
	struct request *open; /* of the thread, the oldest first */
	size_t nr, max;
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
	alloc_free(m->open);
	alloc_free(m);
}

void otf2_mpi_thread(struct otf2_mpi *m, int64_t rank)
{
	if (rank != m->rank) {
		map_clear(&m->seen);
		m->nr_joint = 0;
	}
	m->rank = rank < OTF2_MAX_RANKS ? rank : -1;
	m->nr = 0;
}

/* ---- functions ---- */

static size_t find_function(const char *name)
{
	static const char *const inter[] = { "MPI_Intercomm_create", "MPI_Comm_spawn",
					     "MPI_Comm_accept", "MPI_Comm_connect",
					     "MPI_Comm_join" };
	size_t size = strlen(name);

	if (strncmp(name, "MPI_", 4) != 0)
		return OF_NO_KIND;
	size -= size > 2 && strcmp(name + size - 2, "_c") == 0 ? 2 : 0;
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (strlen(functions[i].name) == size &&
		    strncasecmp(functions[i].name, name, size) == 0)
			return i;
	for (size_t i = 0; i < sizeof(inter) / sizeof(inter[0]); i++)
		if (strncmp(name, inter[i], strlen(inter[i])) == 0)
			return MAKES_INTER;
	return strncmp(name, "MPI_Comm_", 9) == 0 || strcmp(name, "MPI_Intercomm_merge") == 0 ?
		       MAKES_OTHER :
		       OF_NO_KIND;
}

OTF2_RegionRole otf2_mpi_role(const char *name)
{
	size_t i = find_function(name);

	if (i >= NR_FUNCTIONS)
		return OTF2_REGION_ROLE_FUNCTION;
	if (functions[i].kind != COLLECTIVE && functions[i].kind != ICOLLECTIVE)
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

static int function_of(struct otf2_mpi *m, int64_t name, uint64_t *index)
{
	if (map_get(&m->kinds, (uint64_t)name, index))
		return 0;
	*index = find_function(query_look_up(m->string, name));
	return map_put(&m->kinds, (uint64_t)name, *index) ? query_fail_memory(m->q) : 0;
}

/* ---- arguments ---- */

/* `otherwise` if the call has none of that name. */
static int64_t number_of(const char *args, const char *name, int64_t otherwise)
{
	struct call_arg arg;

	if (!call_args_find(args, name, &arg) || !arg.value_size)
		return otherwise;
	return arg.value[0] == '-' ? strtoll(arg.value, NULL, 0) :
				     (int64_t)strtoull(arg.value, NULL, 0);
}

/* The communicator of a call, with the peers or the size that the call says. */
static int use_comm(struct otf2_mpi *m, const char *args, struct otf2_mpi_call *call,
		    bool *is_known)
{
	uint64_t number = (uint64_t)number_of(args, "comm", 0), least;
	struct otf2_comm *comm;
	int ret = 0;

	*is_known = number != 0;
	if (number)
		ret = otf2_comms_find(m->comms, &m->seen, (uint32_t)m->rank, number, &call->comm);
	if (ret || !number)
		return ret;
	comm = &m->comms->all[call->comm];
	least = call->ranks > 0 ? (uint64_t)call->ranks :
		call->peer >= 0 ? (uint64_t)call->peer + 1 :
				  0;
	*is_known = !comm->is_inter && least <= OTF2_MAX_RANKS;
	if (*is_known && least > comm->size)
		comm->size = least;
	return 0;
}

/* A communicator that a call made. */
static int note_new(struct otf2_mpi *m, const char *args, const char *function, bool is_inter)
{
	uint64_t number = (uint64_t)number_of(args, "newcomm", 0);
	int64_t size = number_of(args, "newranks", 0);
	struct otf2_comm *comm;
	uint32_t ref;
	int ret;

	if (!number)
		return 0;
	ret = otf2_comms_find(m->comms, &m->seen, (uint32_t)m->rank, number, &ref);
	if (ret)
		return ret;
	comm = &m->comms->all[ref];
	/* one between two groups has another one on each side */
	if (!comm->parent && !is_inter)
		comm->parent = (uint64_t)number_of(args, "comm", 0);
	comm->is_inter |= is_inter;
	if (size > 0 && (uint64_t)size > comm->size && size <= OTF2_MAX_RANKS)
		comm->size = (uint64_t)size;
	if (strcasecmp(function, "MPI_Comm_split") == 0)
		for (size_t i = comm->nr; i-- > 0;)
			if (comm->members[i].rank == (uint32_t)m->rank) {
				comm->members[i].key = number_of(args, "key", 0);
				break;
			}
	return 0;
}

/* ---- requests ---- */

static int add_request(struct otf2_mpi *m, const struct function *f,
		       const struct otf2_mpi_call *call, uint64_t *number)
{
	struct request *grown = alloc_grow(m->open, m->nr, &m->max, 16, sizeof(*grown));

	if (!grown)
		return query_fail_memory(m->q);
	m->open = grown;
	*number = ++m->nr_requests;
	m->open[m->nr++] = (struct request){
		.handle = (uint64_t)call->request, .number = *number, .function = f, .call = *call
	};
	return 0;
}

static int end_collective(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
			  const struct function *f, const struct otf2_mpi_call *call,
			  const uint64_t *request)
{
	const struct otf2_comm *comm = &m->comms->all[call->comm];
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
						  writer, NULL, (uint64_t)ns, f->op, call->comm,
						  root, sent, received, *request));
	return otf2_archive_check(m->comms->archive,
				  otf2_lib.EvtWriter_MpiCollectiveEnd(writer, NULL, (uint64_t)ns,
								      f->op, call->comm, root, sent,
								      received));
}

/* Ends the request `at` of the open ones. */
static int complete(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns, size_t at)
{
	const struct request r = m->open[at];
	struct otf2_archive *a = m->comms->archive;

	m->nr--;
	memmove(&m->open[at], &m->open[at + 1], (m->nr - at) * sizeof(*m->open));
	errno = 0;
	if (r.is_cancelled)
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiRequestCancelled(writer, NULL,
										    (uint64_t)ns,
										    r.number));
	switch (r.function->kind) {
	case ISEND:
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiIsendComplete(writer, NULL,
										 (uint64_t)ns,
										 r.number));
	case IRECV:
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiIrecv(writer, NULL, (uint64_t)ns,
									 (uint32_t)r.call.peer,
									 r.call.comm,
									 (uint32_t)r.call.tag,
									 (uint64_t)r.call.bytes,
									 r.number));
	default:
		return end_collective(m, writer, ns, r.function, &r.call, &r.number);
	}
}

static int complete_oldest(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns, int64_t nr)
{
	int ret = 0;

	for (; nr > 0 && m->nr && ret == 0; nr--)
		ret = complete(m, writer, ns, 0);
	return ret;
}

/* The oldest of that handle: MPICH has one for all that are complete at once. */
static struct request *find_request(struct otf2_mpi *m, uint64_t handle)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->open[i].handle == handle)
			return &m->open[i];
	return NULL;
}

int otf2_mpi_thread_ends(struct otf2_mpi *m, size_t location, int64_t ns)
{
	OTF2_EvtWriter *writer = m->comms->archive->locations[location].writer;

	return writer ? complete_oldest(m, writer, ns, (int64_t)m->nr) : 0;
}

/* ---- calls ---- */

static int send(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns, const struct function *f,
		const struct otf2_mpi_call *call)
{
	struct otf2_archive *a = m->comms->archive;
	uint64_t number;
	int ret;

	if (f->kind != ISEND)
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiSend(writer, NULL, (uint64_t)ns,
									(uint32_t)call->peer,
									call->comm,
									(uint32_t)call->tag,
									(uint64_t)call->bytes));
	ret = add_request(m, f, call, &number);
	return ret ? ret :
		     otf2_archive_check(a,
					otf2_lib.EvtWriter_MpiIsend(writer, NULL, (uint64_t)ns,
								    (uint32_t)call->peer,
								    call->comm, (uint32_t)call->tag,
								    (uint64_t)call->bytes, number));
}

/* What a call records when it begins. */
static int begin_call(struct otf2_mpi *m, OTF2_EvtWriter *writer, int64_t ns,
		      const struct function *f, const struct otf2_mpi_call *call)
{
	struct otf2_archive *a = m->comms->archive;
	uint64_t number;
	int ret;

	errno = 0;
	switch (f->kind) {
	case SEND:
	case ISEND:
		return send(m, writer, ns, f, call);
	case SENDRECV:
		return call->peer >= 0 ? send(m, writer, ns, f, call) : 0;
	case IRECV:
		ret = add_request(m, f, call, &number);
		return ret ? ret :
			     otf2_archive_check(a, otf2_lib.EvtWriter_MpiIrecvRequest(writer, NULL,
										      (uint64_t)ns,
										      number));
	case COLLECTIVE:
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiCollectiveBegin(writer, NULL,
										   (uint64_t)ns));
	case ICOLLECTIVE:
		ret = add_request(m, f, call, &number);
		return ret ? ret :
			     otf2_archive_check(a, otf2_lib.EvtWriter_NonBlockingCollectiveRequest(
							   writer, NULL, (uint64_t)ns, number));
	default:
		return 0;
	}
}

/* Whether a call of this kind, which has a communicator, can have its records; others are counted,
 * but for messages of no partner. */
static bool can_record(struct otf2_mpi *m, const struct function *f,
		       const struct otf2_mpi_call *call, const char *args, bool is_known)
{
	int64_t partner = f->kind == SENDRECV && call->peer < 0 ? number_of(args, "source", -1) :
								  call->peer;

	if (f->kind == COLLECTIVE || f->kind == ICOLLECTIVE) {
		if (!is_known ||
		    (call->root < 0 && (f->volume == ONE_TO_ALL || f->volume == ALL_TO_ONE))) {
			m->comms->nr_left_out++;
			return false;
		}
		return true;
	}
	if (partner == -2 && is_known)
		return false;
	if (is_known && f->kind != UNKNOWN && partner >= 0)
		return true;
	m->comms->nr_left_out++;
	return false;
}

static int read_call(struct otf2_mpi *m, const struct function *f, const char *args,
		     struct otf2_mpi_call *call, bool *is_recorded)
{
	bool is_known;
	int ret;

	*call = (struct otf2_mpi_call){
		.bytes = number_of(args, "bytes", 0),
		.peer = number_of(args, "peer", -1),
		.tag = number_of(args, "tag", 0),
		.root = number_of(args, "root", -1),
		.ranks = number_of(args, "ranks", 0),
		.request = number_of(args, "request", 0),
	};
	*is_recorded = true;
	switch (f->kind) {
	case WAIT:
		*is_recorded = number_of(args, "flag", 1) != 0;
		return 0;
	case WAIT_ALL:
		call->nr = number_of(args, "flag", 1) ? number_of(args, "count", 0) : 0;
		return 0;
	case WAIT_ANY:
		call->nr = number_of(args, "flag", 1) && number_of(args, "index", -1) >= 0;
		return 0;
	case WAIT_SOME:
		call->nr = number_of(args, "outcount", 0);
		return 0;
	case CANCEL:
	case NOTHING:
		return 0;
	default:
		break;
	}
	ret = use_comm(m, args, call, &is_known);
	if (ret == 0)
		ret = note_new(m, args, f->name, false);
	*is_recorded = ret == 0 && can_record(m, f, call, args, is_known);
	return ret;
}

/* What is received, of MPI_Sendrecv() beside what is sent. */
static void read_received(const struct function *f, const char *args, struct otf2_mpi_call *call)
{
	if (f->kind != SENDRECV)
		return;
	call->peer = number_of(args, "source", -1);
	call->tag = number_of(args, "recvtag", 0);
	call->bytes = number_of(args, "received", 0);
}

/* Collectives of all ranks say how far the clocks of hosts are apart. All ranks count them by their
 * names, also those without data. */
static int note_joint(struct otf2_mpi *m, const struct function *f,
		      const struct otf2_mpi_call *call, const struct rows_call *row)
{
	uint64_t number;

	if (f->kind != COLLECTIVE || !clock_align_waits(f->name, true) ||
	    m->comms->all[call->comm].number != OTF2_COMM_WORLD)
		return 0;
	number = m->nr_joint++;
	return clock_align_waits(f->name, call->bytes > 0) ?
		       otf2_clocks_add(m->comms->clocks, m->comms->clock, number, (int)f->op + 1,
				       row->start, row->end) :
		       0;
}

int otf2_mpi_enter(struct otf2_mpi *m, size_t location, const struct rows_call *row,
		   struct otf2_mpi_call *call)
{
	const struct function *f;
	const char *args;
	bool is_recorded;
	uint64_t index;
	int ret;

	*call = (struct otf2_mpi_call){ 0 };
	if (m->rank < 0 || row->status || row->unclosed)
		return 0;
	ret = function_of(m, row->name, &index);
	if (ret || index == OF_NO_KIND)
		return ret;
	args = query_texts_get(&m->texts, row->args);
	if (index >= NR_FUNCTIONS)
		return note_new(m, args, "", index == MAKES_INTER);
	f = &functions[index];
	ret = otf2_comms_locate(m->comms, (uint32_t)m->rank,
				m->comms->archive->locations[location].id);
	if (ret == 0)
		ret = read_call(m, f, args, call, &is_recorded);
	if (ret || !is_recorded)
		return ret;
	ret = begin_call(m, m->comms->archive->locations[location].writer, row->start, f, call);
	if (ret == 0)
		ret = note_joint(m, f, call, row);
	read_received(f, args, call);
	call->kind = (int)index + 1;
	return ret;
}

int otf2_mpi_leave(struct otf2_mpi *m, size_t location, int64_t ns,
		   const struct otf2_mpi_call *call)
{
	struct otf2_archive *a = m->comms->archive;
	OTF2_EvtWriter *writer = a->locations[location].writer;
	const struct function *f = call->kind ? &functions[call->kind - 1] : NULL;
	struct request *request;

	errno = 0;
	switch (f ? f->kind : NOTHING) {
	case RECV:
	case SENDRECV:
		if (call->peer < 0)
			return 0;
		return otf2_archive_check(a, otf2_lib.EvtWriter_MpiRecv(writer, NULL, (uint64_t)ns,
									(uint32_t)call->peer,
									call->comm,
									(uint32_t)call->tag,
									(uint64_t)call->bytes));
	case COLLECTIVE:
		return end_collective(m, writer, ns, f, call, NULL);
	case WAIT:
		request = find_request(m, (uint64_t)call->request);
		return request ? complete(m, writer, ns, (size_t)(request - m->open)) : 0;
	case CANCEL:
		request = find_request(m, (uint64_t)call->request);
		if (request)
			request->is_cancelled = true;
		return 0;
	case WAIT_ALL:
	case WAIT_ANY:
	case WAIT_SOME:
		return complete_oldest(m, writer, ns, call->nr);
	default:
		return 0;
	}
}
