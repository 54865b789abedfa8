/* SPDX-License-Identifier: MIT */
/* mpi_function.c - what a function of MPI does, and the arguments of its calls */
#include "analysis/mpi_function.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- functions ---- */

static const struct function {
	const char *name;
	enum mpi_kind kind;
} functions[] = {
	{ "MPI_Send", MPI_CALL_SEND },
	{ "MPI_Bsend", MPI_CALL_SEND },
	{ "MPI_Ssend", MPI_CALL_SEND },
	{ "MPI_Rsend", MPI_CALL_SEND },
	{ "MPI_Recv", MPI_CALL_RECV },
	{ "MPI_Mrecv", MPI_CALL_MRECV },
	{ "MPI_Sendrecv", MPI_CALL_SENDRECV },
	{ "MPI_Sendrecv_replace", MPI_CALL_SENDRECV },
	{ "MPI_Isend", MPI_CALL_ISEND },
	{ "MPI_Ibsend", MPI_CALL_ISEND },
	{ "MPI_Issend", MPI_CALL_ISEND },
	{ "MPI_Irsend", MPI_CALL_ISEND },
	{ "MPI_Irecv", MPI_CALL_IRECV },
	{ "MPI_Imrecv", MPI_CALL_IMRECV },
	{ "MPI_Mprobe", MPI_CALL_PROBE },
	{ "MPI_Improbe", MPI_CALL_PROBE },
	{ "MPI_Isendrecv", MPI_CALL_ISENDRECV },
	{ "MPI_Isendrecv_replace", MPI_CALL_ISENDRECV },
	{ "MPI_Send_init", MPI_CALL_SEND_INIT },
	{ "MPI_Bsend_init", MPI_CALL_SEND_INIT },
	{ "MPI_Ssend_init", MPI_CALL_SEND_INIT },
	{ "MPI_Rsend_init", MPI_CALL_SEND_INIT },
	{ "MPI_Recv_init", MPI_CALL_RECV_INIT },
	{ "MPI_Psend_init", MPI_CALL_OTHER_INIT },
	{ "MPI_Precv_init", MPI_CALL_OTHER_INIT },
	{ "MPI_Start", MPI_CALL_START },
	{ "MPI_Startall", MPI_CALL_START },
	{ "MPI_Wait", MPI_CALL_WAIT },
	{ "MPI_Test", MPI_CALL_WAIT },
	{ "MPI_Request_free", MPI_CALL_FREE },
	{ "MPI_Cancel", MPI_CALL_CANCEL },
	{ "MPI_Waitall", MPI_CALL_WAIT_ALL },
	{ "MPI_Testall", MPI_CALL_WAIT_ALL },
	{ "MPI_Waitany", MPI_CALL_WAIT_ANY },
	{ "MPI_Testany", MPI_CALL_WAIT_ANY },
	{ "MPI_Waitsome", MPI_CALL_WAIT_SOME },
	{ "MPI_Testsome", MPI_CALL_WAIT_SOME },
	{ "MPI_Comm_free", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_disconnect", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_dup", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_dup_with_info", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_split", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_split_type", MPI_CALL_COLLECTIVE },
	{ "MPI_Comm_create", MPI_CALL_COLLECTIVE },
	{ "MPI_Cart_create", MPI_CALL_COLLECTIVE },
	{ "MPI_Cart_sub", MPI_CALL_COLLECTIVE },
	{ "MPI_Graph_create", MPI_CALL_COLLECTIVE },
	{ "MPI_Dist_graph_create", MPI_CALL_COLLECTIVE },
	{ "MPI_Dist_graph_create_adjacent", MPI_CALL_COLLECTIVE },
};
enum { NR_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* Each with and without waiting: MPI_Barrier, MPI_Ibarrier. */
static const char *const collectives[] = { "barrier",	"bcast",	  "gather",
					   "gatherv",	"scatter",	  "scatterv",
					   "allgather", "allgatherv",	  "alltoall",
					   "alltoallv", "alltoallw",	  "allreduce",
					   "reduce",	"reduce_scatter", "reduce_scatter_block",
					   "scan",	"exscan" };

static const char *const inter[] = { "MPI_Intercomm_create", "MPI_Comm_spawn", "MPI_Comm_accept",
				     "MPI_Comm_connect", "MPI_Comm_join" };

static size_t size_of(const char *name)
{
	size_t size = strlen(name);

	return size > 2 && strcmp(name + size - 2, "_c") == 0 ? size - 2 : size;
}

bool mpi_function_is(const char *name, const char *function)
{
	return size_of(name) == strlen(function) &&
	       strncasecmp(name, function, strlen(function)) == 0;
}

static bool is_collective(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
		if (strlen(collectives[i]) == size && strncasecmp(collectives[i], name, size) == 0)
			return true;
	return false;
}

enum mpi_kind mpi_function_kind_of(const char *name)
{
	size_t size = size_of(name);

	if (strncmp(name, "MPI_", 4) != 0)
		return MPI_CALL_OTHER;
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (mpi_function_is(name, functions[i].name))
			return functions[i].kind;
	if (is_collective(name + 4, size - 4))
		return MPI_CALL_COLLECTIVE;
	if (size > 9 && strncasecmp(name + size - 5, "_init", 5) == 0 &&
	    is_collective(name + 4, size - 9))
		return MPI_CALL_OTHER_INIT;
	if ((name[4] == 'I' || name[4] == 'i') && is_collective(name + 5, size - 5))
		return MPI_CALL_ICOLLECTIVE;
	for (size_t i = 0; i < sizeof(inter) / sizeof(inter[0]); i++)
		if (strncmp(name, inter[i], strlen(inter[i])) == 0)
			return MPI_CALL_MAKES_INTER;
	return strncmp(name, "MPI_Comm_", 9) == 0 || strcmp(name, "MPI_Intercomm_merge") == 0 ?
		       MPI_CALL_MAKES :
		       MPI_CALL_OTHER;
}

/* ---- arguments ---- */

/* The value at `at`, which may be negative, decimal or hexadecimal. */
static int64_t number_at(const char *at)
{
	return *at == '-' ? strtoll(at, NULL, 0) : (int64_t)strtoull(at, NULL, 0);
}

/* Texts, of files and commands, are in calls that none of these is of. */
void mpi_function_read(enum mpi_kind kind, const char *args, struct mpi_call *out)
{
	int64_t flag = 1, count = 0, outcount = 0, index = -1;
	const struct {
		const char *name;
		void *to;
	} all[] = {
		{ "bytes", &out->bytes },
		{ "peer", &out->peer },
		{ "tag", &out->tag },
		{ "root", &out->root },
		{ "ranks", &out->ranks },
		{ "request", &out->request },
		{ "comm", &out->comm },
		{ "newcomm", &out->newcomm },
		{ "newranks", &out->newranks },
		{ "newrank", &out->newrank },
		{ "key", &out->key },
		{ "source", &out->source },
		{ "recvtag", &out->recvtag },
		{ "received", &out->received },
		{ "flag", &flag },
		{ "count", &count },
		{ "outcount", &outcount },
		{ "index", &index },
		{ "message", &out->message },
	};

	*out = (struct mpi_call){ .peer = -1, .root = -1, .source = -1, .newrank = -1 };
	for (const char *at = args; at && *at; at = strstr(at, ", "), at = at ? at + 2 : NULL) {
		size_t size = strcspn(at, "=,");

		if (at[size] != '=' || at[size + 1] == '"')
			continue;
		if (strncmp(at, "done=", 5) == 0 || strncmp(at, "started=", 8) == 0) {
			out->list = at + size + 1;
			continue;
		}
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			if (strncmp(all[i].name, at, size) == 0 && !all[i].name[size])
				*(int64_t *)all[i].to = number_at(at + size + 1);
	}
	switch (kind) {
	case MPI_CALL_WAIT:
	case MPI_CALL_PROBE:
		out->nr = flag != 0;
		break;
	case MPI_CALL_WAIT_ALL:
		out->nr = flag ? count : 0;
		break;
	case MPI_CALL_WAIT_ANY:
		out->nr = flag && index >= 0;
		break;
	case MPI_CALL_WAIT_SOME:
		out->nr = outcount;
		break;
	case MPI_CALL_START:
		out->nr = out->request ? 1 : count;
		break;
	default:
		break;
	}
}

bool mpi_function_next(const char **list, struct mpi_done *out)
{
	const char *at = *list + strspn(*list, " ");
	char *end;

	*out = (struct mpi_done){ .handle = 0 };
	if (*at == '+') {
		out->more = strtoll(at, &end, 10);
		*list = end;
		return true;
	}
	/* at the end, or before the next argument */
	if (strncmp(at, "0x", 2) != 0)
		return false;
	out->handle = strtoull(at, &end, 16);
	if (strncmp(end, ":cancelled", 10) == 0) {
		out->is_cancelled = true;
		end += 10;
	} else if (*end == ':') {
		out->source = strtoll(end + 1, &end, 10);
		out->has_source = *end == ':';
		out->tag = out->has_source ? strtoll(end + 1, &end, 10) : 0;
	}
	*list = end;
	return true;
}
