/* SPDX-License-Identifier: MIT */
/* messages.c - a program whose ranks know of each message which call sent it, and which received it
 *
 * Usage: messages LOG [ROUNDS]
 *                        Rank N writes LOGN, a line for each message that it receives: "R THREAD
 *                        CALL RANK THREAD SENT": the call that received it, the sender's rank in
 *                        MPI_COMM_WORLD, and the call that sent it; "U ..." if the calls do not say
 *                        which message it was. Threads are numbered in the order in which they
 *                        began, from 0, and the calls of each as they are recorded, from 1.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(call)                                                                                 \
	do {                                                                                       \
		nr_calls++;                                                                        \
		if ((call) != MPI_SUCCESS)                                                         \
			abort();                                                                   \
	} while (0)

struct message {
	int rank, thread, sent;
};

static int rank, ranks;
static _Thread_local int thread, nr_calls;
static FILE *log_file;

static struct message *stamp(struct message *m)
{
	*m = (struct message){ rank, thread, nr_calls };
	return m;
}

static void note(char kind, const struct message *m)
{
	fprintf(log_file, "%c %d %d %d %d %d\n", kind, thread, nr_calls, m->rank, m->thread,
		m->sent);
}

static void blocking(MPI_Comm comm, int own, int nr)
{
	struct message m;

	for (int i = 0; i < 6; i++) {
		if (own % 2 == 0 && own + 1 < nr) {
			CALL(MPI_Send(stamp(&m), 3, MPI_INT, own + 1, i % 2, comm));
		} else if (own % 2) {
			CALL(MPI_Recv(&m, 3, MPI_INT, i < 3 ? own - 1 : MPI_ANY_SOURCE,
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
			CALL(MPI_Send(stamp(&m), 3, MPI_INT, other, tag, MPI_COMM_WORLD));
	else
		for (int tag = 13; tag >= 10; tag--) {
			CALL(MPI_Recv(&m, 3, MPI_INT, other, tag, MPI_COMM_WORLD,
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
		CALL(MPI_Irecv(&in[i], 3, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[i]));
	for (int i = 0; i < NR; i++)
		CALL(MPI_Isend(stamp(&out[i]), 3, MPI_INT, right, 20, MPI_COMM_WORLD,
			       &requests[NR + i]));
	CALL(MPI_Isend(out, 3, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[2 * NR]));
	CALL(MPI_Irecv(in, 3, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[2 * NR + 1]));
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
		CALL(MPI_Sendrecv(stamp(&out), 3, MPI_INT, (own + 1) % nr, 30, &in, 3, MPI_INT,
				  (own + nr - 1) % nr, 30, comm, MPI_STATUS_IGNORE));
		note('R', &in);
	}
}

/* ---- requests of all kinds ---- */

enum { MAX = 64, TAGS = 3, LIST = 200 };

static unsigned seed;

static int some(int below)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)(seed >> 8) % below;
}

struct set {
	MPI_Request requests[2 * LIST];
	struct message messages[2 * LIST];
	int is_receive[2 * LIST], is_kept[2 * LIST]; /* kept: to be freed at the end */
	MPI_Request kept[2 * LIST];
	int nr;
};

static void done(const struct set *s, int at)
{
	if (at >= 0 && s->is_receive[at])
		note('R', &s->messages[at]);
}

static void add_receive(struct set *s, int from, int tag, int is_kept)
{
	int at = s->nr++;

	s->is_receive[at] = 1;
	s->is_kept[at] = is_kept;
	if (is_kept) {
		CALL(MPI_Recv_init(&s->messages[at], 3, MPI_INT, from, tag, MPI_COMM_WORLD,
				   &s->requests[at]));
		CALL(MPI_Start(&s->requests[at]));
	} else {
		CALL(MPI_Irecv(&s->messages[at], 3, MPI_INT, from, tag, MPI_COMM_WORLD,
			       &s->requests[at]));
	}
	s->kept[at] = s->requests[at];
}

static void add_send(struct set *s, int to, int tag, int is_kept)
{
	int at = s->nr++;

	s->is_receive[at] = 0;
	s->is_kept[at] = is_kept;
	if (is_kept) {
		CALL(MPI_Send_init(&s->messages[at], 3, MPI_INT, to, tag, MPI_COMM_WORLD,
				   &s->requests[at]));
		nr_calls++;
		stamp(&s->messages[at]);
		nr_calls--;
		CALL(MPI_Startall(1, &s->requests[at]));
	} else {
		CALL(MPI_Isend(stamp(&s->messages[at]), 3, MPI_INT, to, tag, MPI_COMM_WORLD,
			       &s->requests[at]));
	}
	s->kept[at] = s->requests[at];
}

/* All of the set, in one of seven ways. */
static void complete(struct set *s, int way, int has_statuses)
{
	static MPI_Status all[2 * LIST];
	MPI_Status *statuses = has_statuses ? all : MPI_STATUSES_IGNORE;
	MPI_Status *status = has_statuses ? all : MPI_STATUS_IGNORE;
	int nr = 0, flag = 0, indices[2 * LIST], nr_done = 0, index = 0;

	switch (way) {
	case 0:
		CALL(MPI_Waitall(s->nr, s->requests, statuses));
		break;
	case 1:
		while (!flag)
			CALL(MPI_Testall(s->nr, s->requests, &flag, statuses));
		break;
	default:
		break;
	}
	for (int i = 0; way < 2 && i < s->nr; i++)
		done(s, i);
	while (way >= 2 && nr < s->nr) {
		flag = 1;
		nr_done = 1;
		index = MPI_UNDEFINED;
		if (way == 2) {
			CALL(MPI_Waitany(s->nr, s->requests, &index, status));
		} else if (way == 3) {
			CALL(MPI_Testany(s->nr, s->requests, &index, &flag, status));
		} else if (way == 4) {
			CALL(MPI_Waitsome(s->nr, s->requests, &nr_done, indices, statuses));
		} else if (way == 5) {
			CALL(MPI_Testsome(s->nr, s->requests, &nr_done, indices, statuses));
		} else {
			/* the last one first */
			index = s->nr - 1 - nr;
			for (flag = 0; !flag;)
				CALL(MPI_Test(&s->requests[index], &flag, status));
		}
		if (way != 4 && way != 5)
			indices[0] = index;
		for (int i = 0; flag && i < nr_done; i++) {
			done(s, indices[i]);
			nr += indices[i] >= 0;
		}
	}
	for (int i = 0; i < s->nr; i++)
		if (s->is_kept[i])
			CALL(MPI_Request_free(&s->kept[i]));
	s->nr = 0;
}

/* Each rank sends some messages to some ranks; the receivers know how many from whom with which
 * tag, and wait for them by rank and tag, by the tag or by nothing. */
static void mixed(int round, int most, int way)
{
	static struct set set;
	int plan[MAX], nr = 1 + round % most, any_all, mode[TAGS];

	seed = (unsigned)round * 7919u;
	for (int from = 0; from < ranks; from++)
		for (int i = 0; i < nr; i++)
			plan[from * nr + i] = some(ranks) * TAGS + some(TAGS);
	seed += (unsigned)rank * 104729u;
	any_all = some(3) == 0;
	for (int tag = 0; tag < TAGS; tag++)
		mode[tag] = some(2);
	for (int from = 0; from < ranks; from++)
		for (int i = 0; i < nr; i++) {
			int tag = plan[from * nr + i] % TAGS;

			if (plan[from * nr + i] / TAGS == rank)
				add_receive(&set, any_all || mode[tag] ? MPI_ANY_SOURCE : from,
					    any_all ? MPI_ANY_TAG : 50 + tag, some(3) == 0);
		}
	for (int i = 0; i < nr; i++)
		add_send(&set, plan[rank * nr + i] / TAGS, 50 + plan[rank * nr + i] % TAGS,
			 some(3) == 0);
	/* all has been sent before it is asked for again and again */
	if (way == 1 || way == 3 || way > 4)
		CALL(MPI_Barrier(MPI_COMM_WORLD));
	complete(&set, way, some(2));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
}

/* More requests than a record has. */
static void many(void)
{
	static struct set set;
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (int i = 0; i < LIST; i++)
		add_receive(&set, left, 60, 0);
	for (int i = 0; i < LIST; i++)
		add_send(&set, right, 60, 0);
	complete(&set, 0, 0);
}

/* Persistent requests that are started again and again. */
static void again(void)
{
	struct message in[2], out[2];
	MPI_Request requests[4];
	int right = (rank + 1) % ranks, index;

	for (int i = 0; i < 2; i++)
		CALL(MPI_Recv_init(&in[i], 3, MPI_INT, MPI_ANY_SOURCE, 70 + i, MPI_COMM_WORLD,
				   &requests[i]));
	CALL(MPI_Send_init(&out[0], 3, MPI_INT, right, 70, MPI_COMM_WORLD, &requests[2]));
	CALL(MPI_Ssend_init(&out[1], 3, MPI_INT, right, 71, MPI_COMM_WORLD, &requests[3]));
	for (int i = 0; i < 4; i++) {
		nr_calls++;
		stamp(&out[0]);
		stamp(&out[1]);
		nr_calls--;
		CALL(MPI_Startall(4, requests));
		for (int j = 0; j < 4; j++) {
			if (i % 2)
				CALL(MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE));
			else
				CALL(MPI_Wait(&requests[index = 3 - j], MPI_STATUS_IGNORE));
			if (index < 2)
				note('R', &in[index]);
		}
	}
	for (int i = 0; i < 4; i++)
		CALL(MPI_Request_free(&requests[i]));
}

/* Cancelled receives take no message; a send whose request is freed is one. */
static void cancelled(void)
{
	struct message out[2], in[2];
	MPI_Request requests[2], send;
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (int i = 0; i < 2; i++)
		CALL(MPI_Irecv(&in[i], 3, MPI_INT, i ? MPI_ANY_SOURCE : left, 80, MPI_COMM_WORLD,
			       &requests[i]));
	for (int i = 0; i < 2; i++)
		CALL(MPI_Cancel(&requests[i]));
	CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < 2; i++) {
		CALL(MPI_Isend(stamp(&out[i]), 3, MPI_INT, right, 80, MPI_COMM_WORLD, &send));
		CALL(MPI_Request_free(&send));
	}
	for (int i = 0; i < 2; i++) {
		CALL(MPI_Recv(&in[i], 3, MPI_INT, left, 80, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		note('R', &in[i]);
	}
	CALL(MPI_Barrier(MPI_COMM_WORLD));
}

static void probed(void)
{
	struct message out[4], in;
	MPI_Request requests[4], request;
	MPI_Message message;
	int right = (rank + 1) % ranks, flag;

	for (int i = 0; i < 4; i++)
		CALL(MPI_Isend(stamp(&out[i]), 3, MPI_INT, right, 90, MPI_COMM_WORLD,
			       &requests[i]));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < 4; i++) {
		if (i < 2)
			CALL(MPI_Mprobe(MPI_ANY_SOURCE, 90, MPI_COMM_WORLD, &message,
					MPI_STATUS_IGNORE));
		for (flag = i < 2; !flag;)
			CALL(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
					 &message, MPI_STATUS_IGNORE));
		if (i % 2) {
			CALL(MPI_Imrecv(&in, 3, MPI_INT, &message, &request));
			CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
		} else {
			CALL(MPI_Mrecv(&in, 3, MPI_INT, &message, MPI_STATUS_IGNORE));
		}
		note('R', &in);
	}
	CALL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
}

/* ---- a thread that completes the requests of others ---- */

enum { WORKERS = 2, TURNS = 20 };

struct job {
	MPI_Request request;
	struct message message;
	int is_receive, is_done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *waiting[2 * WORKERS];
static int nr_waiting, nr_working;

static void *work(void *arg)
{
	struct job in = { .is_receive = 1 }, out = { .is_receive = 0 };
	int tag;

	thread = *(int *)arg;
	tag = 100 + thread;
	for (int i = 0; i < TURNS; i++) {
		CALL(MPI_Irecv(&in.message, 3, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
			       &in.request));
		CALL(MPI_Isend(stamp(&out.message), 3, MPI_INT, (rank + 1) % ranks, tag,
			       MPI_COMM_WORLD, &out.request));
		pthread_mutex_lock(&lock);
		in.is_done = out.is_done = 0;
		waiting[nr_waiting++] = &in;
		waiting[nr_waiting++] = &out;
		pthread_cond_broadcast(&changed);
		while (!in.is_done || !out.is_done)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	nr_working--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Takes what waits; false: nothing will. */
static int take(struct job **jobs, int nr)
{
	pthread_mutex_lock(&lock);
	while (!nr && !nr_waiting && nr_working)
		pthread_cond_wait(&changed, &lock);
	while (nr_waiting)
		jobs[nr++] = waiting[--nr_waiting];
	pthread_mutex_unlock(&lock);
	return nr;
}

static void *progress(void *arg)
{
	struct job *jobs[2 * WORKERS];
	MPI_Request requests[2 * WORKERS];
	int nr = 0, nr_done, indices[2 * WORKERS], left;

	thread = *(int *)arg;
	while ((nr = take(jobs, nr)) > 0) {
		for (int i = 0; i < nr; i++)
			requests[i] = jobs[i]->request;
		CALL(MPI_Testsome(nr, requests, &nr_done, indices, MPI_STATUSES_IGNORE));
		pthread_mutex_lock(&lock);
		for (int i = 0; i < nr_done; i++) {
			struct job *job = jobs[indices[i]];

			if (job->is_receive)
				note('R', &job->message);
			jobs[indices[i]] = NULL;
			job->is_done = 1;
		}
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		left = 0;
		for (int i = 0; i < nr; i++)
			if (jobs[i])
				jobs[left++] = jobs[i];
		nr = left;
		if (!nr_done)
			sched_yield();
	}
	return NULL;
}

static void by_threads(void)
{
	int numbers[WORKERS + 1];
	pthread_t threads[WORKERS + 1];

	nr_working = WORKERS;
	for (int i = 0; i <= WORKERS; i++) {
		numbers[i] = i + 1;
		if (pthread_create(&threads[i], NULL, i < WORKERS ? work : progress, &numbers[i]))
			abort();
	}
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/* What no call says: a receive whose request is freed, and messages between two groups. */
static void unknown(void)
{
	struct message out, in, theirs;
	MPI_Comm half, both;
	MPI_Request request;
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	CALL(MPI_Irecv(&in, 3, MPI_INT, left, 40, MPI_COMM_WORLD, &request));
	CALL(MPI_Request_free(&request));
	CALL(MPI_Ssend(stamp(&out), 3, MPI_INT, right, 40, MPI_COMM_WORLD));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
	note('U', &in);
	CALL(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half));
	CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 41, &both));
	if (rank == 0) {
		CALL(MPI_Send(stamp(&out), 3, MPI_INT, 0, 42, both));
	} else if (rank == 1) {
		CALL(MPI_Recv(&theirs, 3, MPI_INT, 0, 42, both, MPI_STATUS_IGNORE));
		note('U', &theirs);
	}
	CALL(MPI_Comm_free(&both));
	CALL(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
	MPI_Comm halves, twin;
	char name[4096];
	int own, nr, provided, rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 14;

	CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
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
	for (int i = 0; i < rounds; i++)
		mixed(i, 9, i % 7);
	many();
	again();
	cancelled();
	probed();
	if (provided == MPI_THREAD_MULTIPLE)
		by_threads();
	unknown();
	CALL(MPI_Finalize());
	fclose(log_file);
	return 0;
}
