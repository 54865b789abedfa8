/* SPDX-License-Identifier: MIT */
/* calls.c - a program that calls MPI's functions: what it calls goes to a log, what it got to a
 * file
 *
 * Usage: calls LOG RESULT DATA    each followed by the rank; DATA: a file that all ranks share
 * With at least two ranks. A line of the log is a function's name, with its peer, tag and bytes
 * where it has them. Nothing of what it writes depends on times.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 16

static FILE *calls, *results;
static int rank, size;

static void note(const char *text)
{
	fprintf(calls, "%s\n", text);
}

/* a call, which is noted */
#define C(fn) (note(#fn), fn)

static void put(const char *what, const int *values, int nr)
{
	fprintf(results, "%s", what);
	for (int i = 0; i < nr; i++)
		fprintf(results, " %d", values[i]);
	fprintf(results, "\n");
}

static void put_status(const char *what, const MPI_Status *s)
{
	int values[3] = { s->MPI_SOURCE, s->MPI_TAG, 0 };

	MPI_Get_count(s, MPI_INT, &values[2]);
	put(what, values, 3);
}

static int buf[N], other[N], many[64];
static int counts[64], displs[64];

static void fill(void)
{
	for (int i = 0; i < N; i++) {
		buf[i] = 100 * rank + i;
		other[i] = -1;
	}
	memset(many, 0, sizeof(many));
}

/* Even ranks send, the next ones receive, in each mode. */
static void point_to_point(void)
{
	int peer = rank ^ 1, is_sender = rank % 2 == 0, nr, flag, at;
	int which[2];
	MPI_Request r, two[2];
	MPI_Status s, ss[2];
	MPI_Message m;
	char space[4096];
	void *back;

	fill();
	if (peer >= size)
		return;
	MPI_Buffer_attach(space, sizeof(space));
	if (is_sender) {
		C(MPI_Send)(buf, 3, MPI_INT, peer, 11, MPI_COMM_WORLD);
		C(MPI_Ssend)(buf, 4, MPI_INT, peer, 12, MPI_COMM_WORLD);
		C(MPI_Bsend)(buf, 2, MPI_DOUBLE, peer, 13, MPI_COMM_WORLD);
		C(MPI_Isend)(buf, 5, MPI_INT, peer, 14, MPI_COMM_WORLD, &r);
		C(MPI_Wait)(&r, MPI_STATUS_IGNORE);
		C(MPI_Issend)(buf, 1, MPI_INT, peer, 15, MPI_COMM_WORLD, &two[0]);
		C(MPI_Ibsend)(buf, 1, MPI_INT, peer, 16, MPI_COMM_WORLD, &two[1]);
		C(MPI_Waitall)(2, two, MPI_STATUSES_IGNORE);
		C(MPI_Send_init)(buf, 6, MPI_INT, peer, 17, MPI_COMM_WORLD, &r);
		C(MPI_Start)(&r);
		C(MPI_Wait)(&r, &s);
		C(MPI_Startall)(1, &r);
		C(MPI_Waitany)(1, &r, &at, &s);
		C(MPI_Request_free)(&r);
		C(MPI_Bsend_init)(buf, 1, MPI_INT, peer, 18, MPI_COMM_WORLD, &r);
		C(MPI_Request_free)(&r);
		C(MPI_Ssend_init)(buf, 1, MPI_INT, peer, 18, MPI_COMM_WORLD, &r);
		C(MPI_Request_free)(&r);
		C(MPI_Rsend_init)(buf, 1, MPI_INT, peer, 18, MPI_COMM_WORLD, &r);
		C(MPI_Request_free)(&r);
		C(MPI_Recv)
		(other, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		C(MPI_Rsend)(buf, 2, MPI_INT, peer, 19, MPI_COMM_WORLD);
		C(MPI_Irsend)(buf, 2, MPI_INT, peer, 20, MPI_COMM_WORLD, &r);
		C(MPI_Waitsome)(1, &r, &nr, which, &s);
		C(MPI_Send)(buf, 7, MPI_INT, peer, 21, MPI_COMM_WORLD);
		C(MPI_Send)(buf, 8, MPI_INT, peer, 22, MPI_COMM_WORLD);
		C(MPI_Send)(buf, 0, MPI_INT, peer, 23, MPI_COMM_WORLD);
	} else {
		C(MPI_Recv)(other, N, MPI_INT, peer, 11, MPI_COMM_WORLD, &s);
		put_status("recv", &s);
		C(MPI_Recv)(other, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		put_status("recv any", &s);
		C(MPI_Recv)
		(other, N * sizeof(int), MPI_BYTE, peer, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		C(MPI_Irecv)(other, N, MPI_INT, peer, 14, MPI_COMM_WORLD, &r);
		C(MPI_Wait)(&r, &s);
		put_status("wait", &s);
		C(MPI_Irecv)(other, 1, MPI_INT, peer, 15, MPI_COMM_WORLD, &two[0]);
		C(MPI_Irecv)(other + 1, 1, MPI_INT, peer, 16, MPI_COMM_WORLD, &two[1]);
		C(MPI_Waitall)(2, two, ss);
		put_status("first", &ss[0]);
		put_status("second", &ss[1]);
		C(MPI_Recv_init)(other, N, MPI_INT, peer, 17, MPI_COMM_WORLD, &r);
		for (int i = 0; i < 2; i++) {
			C(MPI_Start)(&r);
			C(MPI_Wait)(&r, MPI_STATUS_IGNORE);
		}
		C(MPI_Request_free)(&r);
		C(MPI_Irecv)(other, 2, MPI_INT, peer, 19, MPI_COMM_WORLD, &two[0]);
		C(MPI_Irecv)(other + 2, 2, MPI_INT, peer, 20, MPI_COMM_WORLD, &two[1]);
		C(MPI_Send)(buf, 1, MPI_INT, peer, 18, MPI_COMM_WORLD);
		C(MPI_Waitall)(2, two, MPI_STATUSES_IGNORE);
		C(MPI_Probe)(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		C(MPI_Mprobe)(peer, 21, MPI_COMM_WORLD, &m, &s);
		put_status("mprobe", &s);
		C(MPI_Mrecv)(other, N, MPI_INT, &m, MPI_STATUS_IGNORE);
		C(MPI_Mprobe)(peer, 22, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
		C(MPI_Imrecv)(other, N, MPI_INT, &m, &r);
		C(MPI_Wait)(&r, &s);
		put_status("imrecv", &s);
		C(MPI_Recv)(other, N, MPI_INT, peer, 23, MPI_COMM_WORLD, &s);
		put_status("nothing", &s);
	}
	MPI_Buffer_detach(&back, &nr);
	note("MPI_Buffer_detach");
	C(MPI_Sendrecv)(buf, 2, MPI_INT, peer, 31, other, N, MPI_INT, peer, 31, MPI_COMM_WORLD, &s);
	put_status("sendrecv", &s);
	C(MPI_Sendrecv_replace)
	(other, 2, MPI_INT, peer, 32, MPI_ANY_SOURCE, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	C(MPI_Send)(buf, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	C(MPI_Recv)(buf, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
	put_status("of nobody", &s);
	/* none is there: each of these returns at once */
	C(MPI_Iprobe)(peer, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	put("iprobe", &flag, 1);
	C(MPI_Improbe)(peer, 99, MPI_COMM_WORLD, &flag, &m, &s);
	put("improbe", &flag, 1);
	C(MPI_Irecv)(other, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &r);
	C(MPI_Test)(&r, &flag, &s);
	put("test", &flag, 1);
	C(MPI_Request_get_status)(r, &flag, MPI_STATUS_IGNORE);
	C(MPI_Testall)(1, &r, &flag, MPI_STATUSES_IGNORE);
	C(MPI_Testany)(1, &r, &at, &flag, MPI_STATUS_IGNORE);
	C(MPI_Testsome)(1, &r, &nr, which, MPI_STATUSES_IGNORE);
	C(MPI_Cancel)(&r);
	C(MPI_Wait)(&r, &s);
	MPI_Test_cancelled(&s, &flag);
	put("cancelled", &flag, 1);
	put("exchanged", other, N);
}

static void collectives(MPI_Comm comm)
{
	int n, me;
	MPI_Datatype types[64];
	int one[64], bytes[64];

	fill();
	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	for (int i = 0; i < n; i++) {
		counts[i] = 1 + i % 2;
		displs[i] = 2 * i;
		one[i] = 1;
		bytes[i] = (int)sizeof(int) * i;
		types[i] = MPI_INT;
	}
	C(MPI_Barrier)(comm);
	C(MPI_Bcast)(buf, 3, MPI_INT, 0, comm);
	C(MPI_Gather)(buf, 2, MPI_INT, many, 2, MPI_INT, 0, comm);
	C(MPI_Gatherv)(buf, counts[me], MPI_INT, many, counts, displs, MPI_INT, 0, comm);
	C(MPI_Scatter)(many, 2, MPI_INT, other, 2, MPI_INT, 0, comm);
	C(MPI_Scatterv)(many, counts, displs, MPI_INT, other, counts[me], MPI_INT, 0, comm);
	C(MPI_Allgather)(buf, 2, MPI_INT, many, 2, MPI_INT, comm);
	C(MPI_Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 2, MPI_INT, comm);
	C(MPI_Allgatherv)(buf, counts[me], MPI_INT, many, counts, displs, MPI_INT, comm);
	put("gathered", many, 2 * n);
	C(MPI_Alltoall)(many, 1, MPI_INT, other, 1, MPI_INT, comm);
	C(MPI_Alltoallv)(many, one, displs, MPI_INT, other, one, displs, MPI_INT, comm);
	C(MPI_Alltoallw)(many, one, bytes, types, other, one, bytes, types, comm);
	put("all to all", other, n);
	C(MPI_Reduce)(buf, other, 3, MPI_INT, MPI_SUM, 0, comm);
	C(MPI_Allreduce)(buf, other, 4, MPI_INT, MPI_SUM, comm);
	C(MPI_Allreduce)(MPI_IN_PLACE, other, 4, MPI_INT, MPI_MAX, comm);
	C(MPI_Reduce_scatter)(many, other, one, MPI_INT, MPI_SUM, comm);
	C(MPI_Reduce_scatter_block)(many, other, 1, MPI_INT, MPI_SUM, comm);
	C(MPI_Scan)(buf, other, 2, MPI_INT, MPI_SUM, comm);
	C(MPI_Exscan)(buf, many, 2, MPI_INT, MPI_SUM, comm);
	put("reduced", other, N);
}

static void wait_for(MPI_Request *r)
{
	C(MPI_Wait)(r, MPI_STATUS_IGNORE);
}

static void nonblocking(MPI_Comm comm)
{
	int n, me, one[64], bytes[64];
	MPI_Datatype types[64];
	MPI_Request r;

	fill();
	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	for (int i = 0; i < n; i++) {
		counts[i] = 1 + i % 2;
		displs[i] = 2 * i;
		one[i] = 1;
		bytes[i] = (int)sizeof(int) * i;
		types[i] = MPI_INT;
	}
	C(MPI_Ibarrier)(comm, &r), wait_for(&r);
	C(MPI_Ibcast)(buf, 3, MPI_INT, 0, comm, &r), wait_for(&r);
	C(MPI_Igather)(buf, 2, MPI_INT, many, 2, MPI_INT, 0, comm, &r), wait_for(&r);
	C(MPI_Igatherv)
	(buf, counts[me], MPI_INT, many, counts, displs, MPI_INT, 0, comm, &r), wait_for(&r);
	C(MPI_Iscatter)(many, 2, MPI_INT, other, 2, MPI_INT, 0, comm, &r), wait_for(&r);
	C(MPI_Iscatterv)
	(many, counts, displs, MPI_INT, other, counts[me], MPI_INT, 0, comm, &r), wait_for(&r);
	C(MPI_Iallgather)(buf, 2, MPI_INT, many, 2, MPI_INT, comm, &r), wait_for(&r);
	C(MPI_Iallgatherv)
	(buf, counts[me], MPI_INT, many, counts, displs, MPI_INT, comm, &r), wait_for(&r);
	C(MPI_Ialltoall)(many, 1, MPI_INT, other, 1, MPI_INT, comm, &r), wait_for(&r);
	C(MPI_Ialltoallv)
	(many, one, displs, MPI_INT, other, one, displs, MPI_INT, comm, &r), wait_for(&r);
	C(MPI_Ialltoallw)
	(many, one, bytes, types, other, one, bytes, types, comm, &r), wait_for(&r);
	C(MPI_Ireduce)(buf, other, 3, MPI_INT, MPI_SUM, 0, comm, &r), wait_for(&r);
	C(MPI_Iallreduce)(buf, other, 4, MPI_INT, MPI_SUM, comm, &r), wait_for(&r);
	C(MPI_Ireduce_scatter)(many, other, one, MPI_INT, MPI_SUM, comm, &r), wait_for(&r);
	C(MPI_Ireduce_scatter_block)(many, other, 1, MPI_INT, MPI_SUM, comm, &r), wait_for(&r);
	C(MPI_Iscan)(buf, other, 2, MPI_INT, MPI_SUM, comm, &r), wait_for(&r);
	C(MPI_Iexscan)(buf, many, 2, MPI_INT, MPI_SUM, comm, &r), wait_for(&r);
	put("not blocking", other, N);
}

static void neighbours(MPI_Comm ring)
{
	int one[2] = { 1, 1 }, at[2] = { 0, 1 };
	MPI_Aint bytes[2] = { 0, sizeof(int) };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT };
	MPI_Request r;

	fill();
	C(MPI_Neighbor_allgather)(buf, 1, MPI_INT, other, 1, MPI_INT, ring);
	C(MPI_Neighbor_allgatherv)(buf, 1, MPI_INT, other, one, at, MPI_INT, ring);
	C(MPI_Neighbor_alltoall)(buf, 1, MPI_INT, other, 1, MPI_INT, ring);
	C(MPI_Neighbor_alltoallv)(buf, one, at, MPI_INT, other, one, at, MPI_INT, ring);
	C(MPI_Neighbor_alltoallw)(buf, one, bytes, types, other, one, bytes, types, ring);
	C(MPI_Ineighbor_allgather)(buf, 1, MPI_INT, other, 1, MPI_INT, ring, &r), wait_for(&r);
	C(MPI_Ineighbor_allgatherv)
	(buf, 1, MPI_INT, other, one, at, MPI_INT, ring, &r), wait_for(&r);
	C(MPI_Ineighbor_alltoall)(buf, 1, MPI_INT, other, 1, MPI_INT, ring, &r), wait_for(&r);
	C(MPI_Ineighbor_alltoallv)
	(buf, one, at, MPI_INT, other, one, at, MPI_INT, ring, &r), wait_for(&r);
	C(MPI_Ineighbor_alltoallw)
	(buf, one, bytes, types, other, one, bytes, types, ring, &r), wait_for(&r);
	put("neighbours", other, 2);
}

static void communicators(void)
{
	int dims = size, yes = 1, index[64], edges[128], next = (rank + 1) % size,
	    before = (rank + size - 1) % size;
	MPI_Comm half, copy, ring, graph, sub, inter, merged;
	MPI_Group group, some;
	MPI_Request r;

	C(MPI_Comm_dup)(MPI_COMM_WORLD, &copy);
	collectives(copy);
	C(MPI_Comm_free)(&copy);
	C(MPI_Comm_dup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, &copy);
	C(MPI_Comm_disconnect)(&copy);
	C(MPI_Comm_idup)(MPI_COMM_WORLD, &copy, &r), wait_for(&r);
	C(MPI_Barrier)(copy);
	C(MPI_Comm_free)(&copy);
	C(MPI_Comm_split)(MPI_COMM_WORLD, rank % 2, -rank, &half);
	C(MPI_Barrier)(half);
	C(MPI_Intercomm_create)
	(half, 0, MPI_COMM_WORLD, size - 1 - (size - 1 - !(rank % 2)) % 2, 7, &inter);
	C(MPI_Barrier)(inter);
	C(MPI_Bcast)
	(buf, 1, MPI_INT, rank % 2 ? 0 : rank >= size - 2 ? MPI_ROOT : MPI_PROC_NULL, inter);
	C(MPI_Intercomm_merge)(inter, rank % 2, &merged);
	C(MPI_Barrier)(merged);
	C(MPI_Comm_free)(&merged);
	C(MPI_Comm_free)(&inter);
	C(MPI_Comm_free)(&half);
	C(MPI_Comm_split)(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, 0, &half);
	if (half != MPI_COMM_NULL) {
		C(MPI_Barrier)(half);
		C(MPI_Comm_free)(&half);
	}
	C(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
	C(MPI_Comm_free)(&half);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_incl(group, 2, (int[]){ 1, 0 }, &some);
	C(MPI_Comm_create)(MPI_COMM_WORLD, some, &half);
	if (half != MPI_COMM_NULL) {
		C(MPI_Allreduce)(MPI_IN_PLACE, buf, 1, MPI_INT, MPI_SUM, half);
		C(MPI_Comm_free)(&half);
	}
	if (rank < 2) {
		C(MPI_Comm_create_group)(MPI_COMM_WORLD, some, 3, &half);
		C(MPI_Barrier)(half);
		C(MPI_Comm_free)(&half);
	}
	MPI_Group_free(&some);
	MPI_Group_free(&group);
	C(MPI_Cart_create)(MPI_COMM_WORLD, 1, &dims, &yes, 0, &ring);
	neighbours(ring);
	C(MPI_Cart_sub)(ring, &yes, &sub);
	C(MPI_Comm_free)(&sub);
	C(MPI_Comm_free)(&ring);
	for (int i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	C(MPI_Graph_create)(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	C(MPI_Comm_free)(&graph);
	C(MPI_Dist_graph_create_adjacent)
	(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
	 &graph);
	C(MPI_Comm_free)(&graph);
	C(MPI_Dist_graph_create)
	(MPI_COMM_WORLD, 1, &rank, &yes, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	C(MPI_Comm_free)(&graph);
}

static void one_sided(void)
{
	int *memory, *shared, peer = rank ^ 1, value = rank, was = 0, flag;
	MPI_Group group, some;
	MPI_Request r;
	MPI_Comm node;
	MPI_Win win;

	fill();
	if (size % 2)
		return;
	C(MPI_Win_allocate)
	(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, N * sizeof(int));
	C(MPI_Win_fence)(0, win);
	C(MPI_Put)(buf, 4, MPI_INT, peer, 0, 4, MPI_INT, win);
	C(MPI_Win_fence)(0, win);
	C(MPI_Get)(other, 4, MPI_INT, peer, 0, 4, MPI_INT, win);
	C(MPI_Win_fence)(0, win);
	C(MPI_Accumulate)(buf, 2, MPI_INT, peer, 4, 2, MPI_INT, MPI_SUM, win);
	C(MPI_Win_fence)(0, win);
	C(MPI_Win_lock)(MPI_LOCK_SHARED, peer, 0, win);
	C(MPI_Get_accumulate)(buf, 1, MPI_INT, &was, 1, MPI_INT, peer, 6, 1, MPI_INT, MPI_SUM, win);
	C(MPI_Win_flush)(peer, win);
	C(MPI_Win_flush_local)(peer, win);
	C(MPI_Fetch_and_op)(&value, &was, MPI_INT, peer, 7, MPI_SUM, win);
	C(MPI_Compare_and_swap)(&value, &was, &was, MPI_INT, peer, 8, win);
	C(MPI_Rput)(buf, 1, MPI_INT, peer, 9, 1, MPI_INT, win, &r), wait_for(&r);
	C(MPI_Rget)(other, 1, MPI_INT, peer, 9, 1, MPI_INT, win, &r), wait_for(&r);
	C(MPI_Raccumulate)(buf, 1, MPI_INT, peer, 10, 1, MPI_INT, MPI_SUM, win, &r), wait_for(&r);
	C(MPI_Rget_accumulate)
	(buf, 1, MPI_INT, &was, 1, MPI_INT, peer, 10, 1, MPI_INT, MPI_NO_OP, win, &r), wait_for(&r);
	C(MPI_Win_unlock)(peer, win);
	C(MPI_Win_lock_all)(0, win);
	C(MPI_Win_flush_all)(win);
	C(MPI_Win_flush_local_all)(win);
	C(MPI_Win_sync)(win);
	C(MPI_Win_unlock_all)(win);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_incl(group, 1, &peer, &some);
	C(MPI_Win_post)(some, 0, win);
	C(MPI_Win_start)(some, 0, win);
	C(MPI_Put)(buf, 1, MPI_INT, peer, 11, 1, MPI_INT, win);
	C(MPI_Win_complete)(win);
	C(MPI_Win_wait)(win);
	C(MPI_Win_post)(some, 0, win);
	C(MPI_Win_start)(some, 0, win);
	C(MPI_Win_complete)(win);
	C(MPI_Barrier)(MPI_COMM_WORLD);
	do
		C(MPI_Win_test)(win, &flag);
	while (!flag);
	MPI_Group_free(&some);
	MPI_Group_free(&group);
	put("window", memory, 12);
	C(MPI_Barrier)(MPI_COMM_WORLD);
	C(MPI_Win_free)(&win);
	C(MPI_Win_create)(buf, N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	C(MPI_Win_free)(&win);
	C(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	C(MPI_Win_allocate_shared)(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &shared, &win);
	C(MPI_Win_free)(&win);
	C(MPI_Comm_free)(&node);
	C(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	C(MPI_Win_attach)(win, buf, sizeof(buf));
	C(MPI_Win_detach)(win, buf);
	C(MPI_Win_free)(&win);
	put("one sided", other, 4);
}

static void files(const char *path)
{
	MPI_Offset at = rank * (MPI_Offset)(N * sizeof(int));
	MPI_Request r;
	MPI_Status s;
	MPI_File f;

	fill();
	C(MPI_File_open)(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	C(MPI_File_set_size)(f, 0);
	C(MPI_File_preallocate)(f, size * (MPI_Offset)(N * sizeof(int)));
	C(MPI_File_set_view)(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	C(MPI_File_write_at)(f, at, buf, 4, MPI_INT, MPI_STATUS_IGNORE);
	C(MPI_File_write_at_all)(f, at, buf, 4, MPI_INT, &s);
	C(MPI_File_iwrite_at)(f, at + 16, buf, 4, MPI_INT, &r), wait_for(&r);
	C(MPI_File_iwrite_at_all)(f, at + 16, buf, 4, MPI_INT, &r), wait_for(&r);
	C(MPI_File_write_at_all_begin)(f, at + 32, buf, 4, MPI_INT);
	C(MPI_File_write_at_all_end)(f, buf, &s);
	C(MPI_File_seek)(f, at + 48, MPI_SEEK_SET);
	C(MPI_File_write)(f, buf, 1, MPI_INT, &s);
	C(MPI_File_write_all)(f, buf, 1, MPI_INT, &s);
	C(MPI_File_iwrite)(f, buf, 1, MPI_INT, &r), wait_for(&r);
	C(MPI_File_iwrite_all)(f, buf, 1, MPI_INT, &r), wait_for(&r);
	C(MPI_File_sync)(f);
	C(MPI_File_seek)(f, at, MPI_SEEK_SET);
	C(MPI_File_write_all_begin)(f, buf, 1, MPI_INT);
	C(MPI_File_write_all_end)(f, buf, &s);
	C(MPI_File_sync)(f);
	C(MPI_Barrier)(MPI_COMM_WORLD);
	C(MPI_File_read_at)(f, at, other, 4, MPI_INT, &s);
	C(MPI_File_read_at_all)(f, at, other, 4, MPI_INT, MPI_STATUS_IGNORE);
	C(MPI_File_iread_at)(f, at, other, 4, MPI_INT, &r), wait_for(&r);
	C(MPI_File_iread_at_all)(f, at, other, 4, MPI_INT, &r), wait_for(&r);
	C(MPI_File_read_at_all_begin)(f, at, other, 4, MPI_INT);
	C(MPI_File_read_at_all_end)(f, other, &s);
	C(MPI_File_seek)(f, at, MPI_SEEK_SET);
	C(MPI_File_read)(f, other, 1, MPI_INT, &s);
	C(MPI_File_read_all)(f, other + 1, 1, MPI_INT, &s);
	C(MPI_File_iread)(f, other + 2, 1, MPI_INT, &r), wait_for(&r);
	C(MPI_File_iread_all)(f, other + 3, 1, MPI_INT, &r), wait_for(&r);
	C(MPI_File_read_all_begin)(f, other + 4, 1, MPI_INT);
	C(MPI_File_read_all_end)(f, other + 4, &s);
	put("read", other, 5);
	C(MPI_File_close)(&f);
	C(MPI_Barrier)(MPI_COMM_WORLD);
	if (rank == 0)
		C(MPI_File_delete)(path, MPI_INFO_NULL);
}

/* Errors are the program's affair. */
static void errors(void)
{
	int failed[2];

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	failed[0] = C(MPI_Send)(buf, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
	failed[1] = C(MPI_Send)(buf, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
	put("failed", failed, 2);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

#if MPI_VERSION >= 4
static void newer(void)
{
	MPI_Request r;
	MPI_Count n = 2;

	fill();
	C(MPI_Send_c)(buf, n, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	C(MPI_Allreduce_c)(buf, other, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	C(MPI_Isendrecv)
	(buf, 1, MPI_INT, rank, 5, other, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r), wait_for(&r);
	C(MPI_Isendrecv_replace)
	(buf, 1, MPI_INT, rank, 5, rank, 5, MPI_COMM_WORLD, &r), wait_for(&r);
	C(MPI_Barrier_init)(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	C(MPI_Start)(&r), wait_for(&r);
	C(MPI_Request_free)(&r);
	C(MPI_Allreduce_init)(buf, other, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	C(MPI_Start)(&r), wait_for(&r);
	C(MPI_Request_free)(&r);
	put("newer", other, 2);
}
#endif

static FILE *open_for(const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%d", path, rank);
	return fopen(name, "w");
}

int main(int argc, char **argv)
{
	int provided;

	if (argc != 4)
		return 2;
	if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
		return 3;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	calls = open_for(argv[1]);
	results = open_for(argv[2]);
	if (!calls || !results || size > 32)
		return 4;
	note("MPI_Init_thread");
	point_to_point();
	collectives(MPI_COMM_WORLD);
	nonblocking(MPI_COMM_WORLD);
	communicators();
	one_sided();
	files(argv[3]);
	errors();
#if MPI_VERSION >= 4
	newer();
#endif
	C(MPI_Finalize)();
	fclose(calls);
	return fclose(results) == 0 ? 0 : 5;
}
