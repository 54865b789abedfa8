/* SPDX-License-Identifier: MIT */
/* collective_calls.h - which call of RCCL launched a kernel: communicator, bytes, function
 *
 * RCCL launches in the call of a collective, or in the ncclGroupEnd that ends the outermost group,
 * on the calling thread. Both are kept by thread and time, beyond a MiB in a file, so that memory
 * does not grow with them. A trace without calls of RCCL has none. One thread.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_CALLS_H
#define RTL_ANALYSIS_COLLECTIVE_CALLS_H

#include "query/query.h"
#include "query/sorter.h"

struct collective_calls;

struct collective_launch {
	bool is_point_to_point; /* sends and receives: no collective */
	uint64_t comm; /* handle in its process; 0: not launched by a call of RCCL in the trace */
	uint64_t
		/* of the communicator: the same on all its ranks, also of other processes; 0:
		 * unknown */
		id;
	uint64_t
		/* that the call names: of an all-gather, a reduce-scatter and an all-to-all, one
		 * party's share; 0: unknown */
		bytes;
	const char *
		/* RCCL's function, "ncclGroupEnd" if it launched different ones; NULL: unknown.
		 * Lives as long as the process */
		name;
};

/* Reads the calls of RCCL. 0 or -errno with q->res->error. */
int collective_calls_open(struct query *q, struct collective_calls **out);
/* The call that launched a kernel. */
struct collective_call {
	int64_t id;		       /* in rocpd_api; 0: unknown */
	int64_t pid, tid, begin, name; /* name: in rocpd_string */
};
/* Of a kernel on a party, in the order of the party's kernels; `out` is zeroed. 0 or -errno with
 * q->res->error. */
int collective_calls_find(struct collective_calls *c, const struct collective_call *call,
			  size_t party, struct collective_launch *out);
/* Whether calls of that name, in rocpd_string, launch graphs. 0 or -errno with q->res->error. */
int collective_calls_graph(struct collective_calls *c, int64_t name, bool *is_graph);
/* Kernels begin again. */
void collective_calls_restart(struct collective_calls *c);
/* The sizes of communicators that the trace has, if it has all of them; 0: they are not known. */
size_t collective_calls_nr_sizes(const struct collective_calls *c);
bool collective_calls_has_size(const struct collective_calls *c, size_t size);
/* Bytes on a link of the ring for each byte that the call names, of one function among `nr`
 * parties: what RCCL's tests call bus bandwidth. Functions that are not known count once. */
double collective_calls_bus_factor(const char *name, size_t nr);
/* Accepts NULL. */
void collective_calls_close(struct collective_calls *c);
/* Reads the calls of a domain ("rccl", "mpi") that have arguments. `take` gets pid, tid, begin,
 * end, id of the name, arguments, id, and adds rows to `sorter`; `each` gets these in their order.
 * 0 or -errno with q->res->error. */
int collective_calls_scan(struct query *q, const char *domain,
			  int (*take)(void *arg, sqlite3_value **columns), struct sorter *sorter,
			  sorter_fn each, void *arg);
/* The value of a call's argument, "key=", 0 if there is none. */
uint64_t collective_calls_argument(const char *args, const char *key);

#endif
