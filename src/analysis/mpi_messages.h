/* SPDX-License-Identifier: MIT */
/* mpi_messages.h - messages of MPI between the processes of a trace: each send with its receive
 *
 * A channel is a communicator, a sender, a receiver and a tag. MPI delivers the messages of a
 * channel in the order of their sends to the receives in the order in which these were begun, so
 * that the n-th send and the n-th receive are one message. Who is who in a communicator other than
 * MPI_COMM_WORLD the calls that made it say.
 *
 * A receive of any rank or any tag has the rank and the tag of what came, from the call that waited
 * for it. Where none did, or calls are not recorded, nothing says what it took: then a channel
 * counts only if it has as many sends as receives, so that all are known.
 *
 * Memory grows with channels and open requests; messages beyond some MiB are in a file.
 */
#ifndef RTL_ANALYSIS_MPI_MESSAGES_H
#define RTL_ANALYSIS_MPI_MESSAGES_H

#include "query/query.h"

/* An end of a message: a call. `id`: in rocpd_api. */
struct mpi_messages_end {
	int64_t id, pid, tid, begin, end;
};

struct mpi_message {
	struct mpi_messages_end send;
	struct mpi_messages_end receive; /* the call in which the receive was complete */
	int64_t bytes, tag;		 /* of the send */
};

/* What has been passed on, and what has not, and why. */
struct mpi_messages {
	uint64_t nr;
	uint64_t nr_alone;   /* sends without a receive in the trace, and receives without a send */
	uint64_t nr_unclear; /* sends and receives of which it is not known which belong together */
	uint64_t nr_open;    /* whose receive no call is known to have completed */
	uint64_t nr_apart;   /* between hosts, whose clocks differ */
};

typedef int (*mpi_messages_fn)(void *arg, const struct mpi_message *message);

/* Passes each message on, by channels, in their order. A trace without calls of MPI, and one that
 * is not rtl's, has none. 0, what `each` returned, or -errno with q->res->error. */
int mpi_messages_read(struct query *q, mpi_messages_fn each, void *arg, struct mpi_messages *out);

/* What has no arrow, as a sentence; "" if all have one. */
#define MPI_MESSAGES_TEXT 320
const char *mpi_messages_text(const struct mpi_messages *m, char text[MPI_MESSAGES_TEXT]);

#endif
