/* SPDX-License-Identifier: MIT */
/* test_mpi_function.c - what calls of MPI do: their kinds, arguments, and which requests they
 * complete */
#include "analysis/mpi_requests.h"

#include <errno.h>

#include "support/test.h"

TEST(functions_are_known_by_each_of_their_names)
{
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Send"), MPI_CALL_SEND);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Send_c"), MPI_CALL_SEND);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Send_init"), MPI_CALL_SEND_INIT);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Recv_init_c"), MPI_CALL_RECV_INIT);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Barrier_init"), MPI_CALL_OTHER_INIT);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Allreduce_init_c"), MPI_CALL_OTHER_INIT);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_init"), MPI_CALL_OTHER);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Ibarrier"), MPI_CALL_ICOLLECTIVE);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Barrier"), MPI_CALL_COLLECTIVE);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Reduce_scatter_block_c"), MPI_CALL_COLLECTIVE);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Comm_split"), MPI_CALL_COLLECTIVE);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Comm_idup"), MPI_CALL_MAKES);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Comm_spawn_multiple"), MPI_CALL_MAKES_INTER);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_Init"), MPI_CALL_OTHER);
	CHECK_EQ_INT(mpi_function_kind_of("hipMemcpy"), MPI_CALL_OTHER);
	CHECK_EQ_INT(mpi_function_kind_of("MPI_"), MPI_CALL_OTHER);
}

TEST(arguments_are_read_by_their_names)
{
	struct mpi_call call;

	mpi_function_read(MPI_CALL_SENDRECV,
			  "bytes=8, received=16, peer=-2, tag=31, source=1, recvtag=32, comm=0x1",
			  &call);
	CHECK_EQ_INT(call.bytes, 8);
	CHECK_EQ_INT(call.received, 16);
	CHECK_EQ_INT(call.peer, -2);
	CHECK_EQ_INT(call.tag, 31);
	CHECK_EQ_INT(call.source, 1);
	CHECK_EQ_INT(call.recvtag, 32);
	CHECK_EQ_UINT(call.comm, 1);
	CHECK_EQ_INT(call.newrank, -1);
	mpi_function_read(
		MPI_CALL_COLLECTIVE,
		"comm=0x1, color=0, key=-3, newcomm=0xffffffffffffffff, newranks=2, newrank=0",
		&call);
	CHECK_EQ_UINT(call.newcomm, UINT64_MAX);
	CHECK_EQ_INT(call.key, -3);
	CHECK_EQ_INT(call.newrank, 0);
	/* of a call without arguments, and of one that was cut */
	mpi_function_read(MPI_CALL_SEND, "", &call);
	CHECK_EQ_UINT(call.comm, 0);
	CHECK_EQ_INT(call.peer, -1);
	mpi_function_read(MPI_CALL_SEND, "peer=1, ta...", &call);
	CHECK_EQ_INT(call.peer, 1);
	CHECK_EQ_INT(call.tag, 0);
}

TEST(calls_complete_as_many_as_they_say)
{
	struct mpi_call call;

	mpi_function_read(MPI_CALL_WAIT, "request=0x5", &call);
	CHECK_EQ_INT(call.nr, 1);
	mpi_function_read(MPI_CALL_WAIT, "request=0x5, flag=0", &call);
	CHECK_EQ_INT(call.nr, 0);
	mpi_function_read(MPI_CALL_WAIT_ALL, "count=4", &call);
	CHECK_EQ_INT(call.nr, 4);
	mpi_function_read(MPI_CALL_WAIT_ALL, "count=4, flag=0", &call);
	CHECK_EQ_INT(call.nr, 0);
	mpi_function_read(MPI_CALL_WAIT_ANY, "count=4, index=2", &call);
	CHECK_EQ_INT(call.nr, 1);
	/* MPI_UNDEFINED: none was open */
	mpi_function_read(MPI_CALL_WAIT_ANY, "count=4, index=-32766", &call);
	CHECK_EQ_INT(call.nr, 0);
	mpi_function_read(MPI_CALL_WAIT_SOME, "count=4, outcount=3", &call);
	CHECK_EQ_INT(call.nr, 3);
}

TEST(lists_of_requests_are_read_to_their_end)
{
	struct mpi_done done;
	struct mpi_call call;

	mpi_function_read(MPI_CALL_WAIT_ALL,
			  "count=9, done=0x1f:2:20 0x2f 0x3f:cancelled 0x4f:-1:-1 +5, flag=1",
			  &call);
	CHECK_EQ_INT(call.nr, 9);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK_EQ_UINT(done.handle, 0x1f);
	CHECK(done.has_source && !done.is_cancelled);
	CHECK_EQ_INT(done.source, 2);
	CHECK_EQ_INT(done.tag, 20);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK(done.handle == 0x2f && !done.has_source && !done.is_cancelled);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK(done.handle == 0x3f && !done.has_source && done.is_cancelled);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK(done.handle == 0x4f && done.has_source && done.source == -1);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK_EQ_UINT(done.handle, 0);
	CHECK_EQ_INT(done.more, 5);
	CHECK(!mpi_function_next(&call.list, &done));
	/* none, one that was cut, and a call of a trace without lists */
	mpi_function_read(MPI_CALL_WAIT_ANY, "count=2, index=-32766, done=", &call);
	CHECK(call.list && !mpi_function_next(&call.list, &done));
	mpi_function_read(MPI_CALL_WAIT_ALL, "count=2, done=0x1f:2...", &call);
	CHECK(mpi_function_next(&call.list, &done));
	CHECK(!done.has_source);
	CHECK(!mpi_function_next(&call.list, &done));
	mpi_function_read(MPI_CALL_WAIT_ALL, "count=2", &call);
	CHECK(!call.list);
}

/* ---- requests ---- */

/* ns, of all calls. */
enum { NOW = 1000 };

struct seen {
	uint64_t of[8];
	bool is_unclear[8], is_cancelled[8];
	size_t nr;
};

static int see(void *arg, const struct mpi_request *r)
{
	struct seen *s = arg;

	s->of[s->nr] = r->of;
	s->is_unclear[s->nr] = r->is_unclear;
	s->is_cancelled[s->nr++] = r->is_cancelled;
	return 0;
}

/* Requests 1 to `nr` of a thread, whose handles are 10 more. */
static void add(struct mpi_requests *r, uint64_t first, uint64_t nr, int64_t tid)
{
	for (uint64_t i = first; i < first + nr; i++) {
		const struct mpi_request one = {
			.handle = i + 10, .kind = MPI_CALL_IRECV, .tid = tid, .since = NOW, .of = i
		};

		CHECK_OK(mpi_requests_add(r, &one, NULL));
	}
}

static struct seen complete(struct mpi_requests *r, enum mpi_kind kind, uint64_t handle, int64_t nr,
			    int64_t tid)
{
	const struct mpi_call call = { .request = handle, .nr = nr };
	struct seen s = { .nr = 0 };

	CHECK_OK(mpi_requests_complete(r, kind, &call, tid, NOW, see, &s));
	return s;
}

TEST(wait_completes_the_request_of_its_handle_whichever_thread_began_it)
{
	struct mpi_requests r = { 0 };
	struct seen s;

	add(&r, 1, 3, 100);
	s = complete(&r, MPI_CALL_WAIT, 12, 1, 200);
	CHECK_EQ_UINT(s.nr, 1);
	CHECK_EQ_UINT(s.of[0], 2);
	CHECK(!s.is_unclear[0]);
	/* of one that is not known, and of none */
	CHECK_EQ_UINT(complete(&r, MPI_CALL_WAIT, 12, 1, 200).nr, 0);
	CHECK_EQ_UINT(complete(&r, MPI_CALL_WAIT, 0, 1, 200).nr, 0);
	CHECK_EQ_UINT(r.nr, 2);
	mpi_requests_fini(&r);
}

TEST(call_for_all_completes_those_of_its_thread_in_their_order)
{
	struct mpi_requests r = { 0 };
	struct seen s;

	add(&r, 1, 2, 100);
	add(&r, 3, 1, 200);
	/* more than are open: some were complete before */
	s = complete(&r, MPI_CALL_WAIT_ALL, 0, 5, 100);
	CHECK_EQ_UINT(s.nr, 2);
	CHECK_EQ_UINT(s.of[0], 1);
	CHECK_EQ_UINT(s.of[1], 2);
	CHECK(!s.is_unclear[0] && !s.is_unclear[1]);
	CHECK_EQ_UINT(r.nr, 1);
	mpi_requests_fini(&r);
}

TEST(call_for_some_leaves_all_unclear_but_those_that_are_named_later)
{
	struct mpi_requests r = { 0 };
	struct seen s;

	add(&r, 1, 4, 100);
	s = complete(&r, MPI_CALL_WAIT_SOME, 0, 2, 100);
	CHECK_EQ_UINT(s.nr, 2);
	CHECK(s.is_unclear[0] && s.is_unclear[1]);
	CHECK(!complete(&r, MPI_CALL_WAIT, 14, 1, 100).is_unclear[0]);
	s = complete(&r, MPI_CALL_WAIT_ANY, 0, 1, 100);
	CHECK_EQ_UINT(s.of[0], 3);
	CHECK(s.is_unclear[0]);
	mpi_requests_fini(&r);
}

TEST(cancelled_request_is_one_until_it_ends)
{
	struct mpi_requests r = { 0 };
	struct seen s = { .nr = 0 };

	add(&r, 1, 2, 100);
	CHECK_EQ_UINT(complete(&r, MPI_CALL_CANCEL, 11, 0, 100).nr, 0);
	CHECK_OK(mpi_requests_end(&r, see, &s));
	CHECK_EQ_UINT(s.nr, 2);
	CHECK(s.is_cancelled[0] && !s.is_cancelled[1]);
	mpi_requests_fini(&r);
}

TEST(call_that_names_its_requests_completes_these_alone)
{
	struct mpi_requests r = { 0 };
	struct seen s = { .nr = 0 };
	struct mpi_call call;

	add(&r, 1, 4, 100);
	CHECK_EQ_UINT(complete(&r, MPI_CALL_CANCEL, 12, 0, 100).nr, 0);
	/* 0xd: 3, 0xc: 2, which has received something in spite of it */
	mpi_function_read(MPI_CALL_WAIT_SOME, "count=4, outcount=2, done=0xd:1:7 0xc:1:7", &call);
	CHECK_OK(mpi_requests_complete(&r, MPI_CALL_WAIT_SOME, &call, 200, NOW, see, &s));
	CHECK_EQ_UINT(s.nr, 2);
	CHECK_EQ_UINT(s.of[0], 3);
	CHECK_EQ_UINT(s.of[1], 2);
	CHECK(!s.is_cancelled[1] && !s.is_unclear[0]);
	/* those that there was no space for are the thread's oldest */
	mpi_function_read(MPI_CALL_WAIT_ALL, "count=2, done=+2", &call);
	CHECK_OK(mpi_requests_complete(&r, MPI_CALL_WAIT_ALL, &call, 100, NOW, see, &s));
	CHECK_EQ_UINT(s.nr, 4);
	CHECK_EQ_UINT(s.of[2], 1);
	CHECK(!s.is_unclear[2]);
	mpi_requests_fini(&r);
}

TEST(handle_that_is_used_again_is_the_request_that_was_there_when_the_call_began)
{
	struct mpi_requests r = { 0 };
	struct mpi_request one = { .handle = 5, .kind = MPI_CALL_IRECV, .since = 10, .of = 1 };
	const struct mpi_done done = { .handle = 5 };
	struct seen s = { .nr = 0 };

	CHECK_OK(mpi_requests_add(&r, &one, NULL));
	one.since = 20;
	one.of = 2;
	CHECK_OK(mpi_requests_add(&r, &one, NULL));
	/* another thread began the third while a call completed the second */
	one.since = 40;
	one.of = 3;
	CHECK_OK(mpi_requests_add(&r, &one, NULL));
	CHECK_OK(mpi_requests_done(&r, &done, 30, see, &s));
	CHECK_OK(mpi_requests_done(&r, &done, 50, see, &s));
	CHECK_EQ_UINT(s.nr, 2);
	CHECK_EQ_UINT(s.of[0], 2);
	CHECK_EQ_UINT(s.of[1], 3);
	mpi_requests_fini(&r);
}

TEST(persistent_request_is_known_until_it_is_freed)
{
	struct mpi_requests r = { 0 };
	struct mpi_request one = { .handle = 5, .kind = MPI_CALL_SEND_INIT, .since = 10, .of = 1 };

	CHECK_OK(mpi_requests_add_persistent(&r, &one));
	CHECK(!mpi_requests_find_persistent(&r, 5, 5));
	CHECK(!mpi_requests_find_persistent(&r, 6, 20));
	CHECK_EQ_UINT(mpi_requests_find_persistent(&r, 5, 20)->of, 1);
	CHECK_EQ_UINT(complete(&r, MPI_CALL_FREE, 5, 0, 100).nr, 0);
	CHECK(!mpi_requests_find_persistent(&r, 5, 20));
	/* a receive that goes on: no call completes it */
	one.kind = MPI_CALL_IRECV;
	CHECK_OK(mpi_requests_add(&r, &one, NULL));
	CHECK_EQ_UINT(complete(&r, MPI_CALL_FREE, 5, 0, 100).nr, 1);
	CHECK_EQ_UINT(r.nr, 0);
	/* of a matched probe */
	one.handle = 5 | MPI_REQUESTS_MESSAGE;
	CHECK_OK(mpi_requests_add(&r, &one, NULL));
	CHECK_EQ_UINT(mpi_requests_rename(&r, 5, 9, 20, 30), 0);
	CHECK(mpi_requests_rename(&r, 5 | MPI_REQUESTS_MESSAGE, 9, 20, 30));
	CHECK_EQ_UINT(complete(&r, MPI_CALL_WAIT, 9, 1, 100).nr, 1);
	mpi_requests_fini(&r);
}
