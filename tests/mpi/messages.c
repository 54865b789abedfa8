/* SPDX-License-Identifier: MIT */
/* messages.c - a program whose ranks know of each message which call sent it, and which received it
 *
 * Usage: messages LOG    Rank N writes LOGN, a line for each message that it receives: "R CALL RANK
 *                        SENT": the number of the call that received it, the sender's rank in
 *                        MPI_COMM_WORLD, and the number of the call that sent it; "U CALL RANK
 *                        SENT" if the calls do not say which message it was. Calls are numbered as
 *                        they are recorded, from 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(call)                                                                                 \
	do {                                                                                       \
		nr_calls++;                                                                        \
		if ((call) != MPI_SUCCESS)                                                         \
			abort();                                                                   \
	} while (0)

struct message {
	int rank, sent;
};

static int rank, ranks, nr_calls;
static FILE *log_file;

static struct message *stamp(struct message *m)
{
	*m = (struct message){ rank, nr_calls };
	return m;
}

static void note(char kind, const struct message *m)
{
	fprintf(log_file, "%c %d %d %d\n", kind, nr_calls, m->rank, m->sent);
}

static void blocking(MPI_Comm comm, int own, int nr)
{
	struct message m;

	for (int i = 0; i < 6; i++) {
		if (own % 2 == 0 && own + 1 < nr) {
			CALL(MPI_Send(stamp(&m), 2, MPI_INT, own + 1, i % 2, comm));
		} else if (own % 2) {
			CALL(MPI_Recv(&m, 2, MPI_INT, i < 3 ? own - 1 : MPI_ANY_SOURCE,
				      i < 3 ? i % 2 : MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
			note('R', &m);
		}
	}
}

/* The messages of a tag overtake those of another one. */
static void by_tags(void)
{
	struct message m;
	int other = rank ^ 1;

	if (other >= ranks)
		return;
	if (rank % 2 == 0)
		for (int tag = 10; tag < 14; tag++)
			CALL(MPI_Send(stamp(&m), 2, MPI_INT, other, tag, MPI_COMM_WORLD));
	else
		for (int tag = 13; tag >= 10; tag--) {
			CALL(MPI_Recv(&m, 2, MPI_INT, other, tag, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE));
			note('R', &m);
		}
}

/* Several messages on one channel, and a send and a receive of MPI_PROC_NULL; `by_one`: each is
 * waited for, the last one first. */
static void without_waiting(int by_one)
{
	enum { NR = 4 };
	struct message in[NR], out[NR];
	MPI_Request requests[2 * NR + 2];
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (int i = 0; i < NR; i++)
		CALL(MPI_Irecv(&in[i], 2, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[i]));
	for (int i = 0; i < NR; i++)
		CALL(MPI_Isend(stamp(&out[i]), 2, MPI_INT, right, 20, MPI_COMM_WORLD,
			       &requests[NR + i]));
	CALL(MPI_Isend(out, 2, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[2 * NR]));
	CALL(MPI_Irecv(in, 2, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[2 * NR + 1]));
	if (!by_one)
		CALL(MPI_Waitall(2 * NR + 2, requests, MPI_STATUSES_IGNORE));
	for (int i = 2 * NR + 1; i >= 0; i--) {
		if (by_one)
			CALL(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
		if (i < NR)
			note('R', &in[i]);
	}
}

static void ring(MPI_Comm comm, int own, int nr)
{
	struct message out, in;

	for (int i = 0; i < 3; i++) {
		CALL(MPI_Sendrecv(stamp(&out), 2, MPI_INT, (own + 1) % nr, 30, &in, 2, MPI_INT,
				  (own + nr - 1) % nr, 30, comm, MPI_STATUS_IGNORE));
		note('R', &in);
	}
}

/* A receive from any rank that does not wait, and one of two requests. */
static void unknown(void)
{
	struct message out[3], in[3];
	MPI_Request requests[3], sends[3];
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, index;

	CALL(MPI_Irecv(&in[0], 2, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &requests[0]));
	CALL(MPI_Isend(stamp(&out[0]), 2, MPI_INT, right, 40, MPI_COMM_WORLD, &sends[0]));
	CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	note('U', &in[0]);
	CALL(MPI_Wait(&sends[0], MPI_STATUS_IGNORE));
	for (int i = 1; i < 3; i++)
		CALL(MPI_Irecv(&in[i], 2, MPI_INT, left, 41, MPI_COMM_WORLD, &requests[i]));
	for (int i = 1; i < 3; i++)
		CALL(MPI_Send(stamp(&out[i]), 2, MPI_INT, right, 41, MPI_COMM_WORLD));
	for (int i = 1; i < 3; i++) {
		CALL(MPI_Waitany(2, requests + 1, &index, MPI_STATUS_IGNORE));
		note('U', &in[index + 1]);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm halves, twin;
	char name[4096];
	int own, nr;

	CALL(MPI_Init(&argc, &argv));
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	snprintf(name, sizeof(name), "%s%d", argc > 1 ? argv[1] : "log", rank);
	log_file = fopen(name, "w");
	if (!log_file)
		abort();
	blocking(MPI_COMM_WORLD, rank, ranks);
	by_tags();
	without_waiting(0);
	without_waiting(1);
	ring(MPI_COMM_WORLD, rank, ranks);
	/* the other way round */
	CALL(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &halves));
	MPI_Comm_rank(halves, &own);
	MPI_Comm_size(halves, &nr);
	blocking(halves, own, nr);
	CALL(MPI_Comm_dup(halves, &twin));
	ring(twin, own, nr);
	CALL(MPI_Comm_free(&twin));
	CALL(MPI_Comm_free(&halves));
	unknown();
	CALL(MPI_Finalize());
	fclose(log_file);
	return 0;
}
