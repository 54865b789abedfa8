/* SPDX-License-Identifier: MIT */
/* mpi_function.h - what a function of MPI does with messages, requests and communicators, and the
 * arguments of a call that say so */
#ifndef RTL_ANALYSIS_MPI_FUNCTION_H
#define RTL_ANALYSIS_MPI_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of communicators and peers, as in traces (docs/mpi.md). */
enum { MPI_CALL_WORLD = 1, MPI_CALL_SELF = 2 };
enum { MPI_CALL_ANY = -1, MPI_CALL_PROC_NULL = -2 };

enum mpi_kind {
	MPI_CALL_OTHER,
	MPI_CALL_SEND,
	MPI_CALL_RECV,
	MPI_CALL_SENDRECV,
	MPI_CALL_ISEND,
	MPI_CALL_IRECV,
	MPI_CALL_ISENDRECV, /* both, with one request */
	MPI_CALL_SEND_INIT, /* persistent requests: begun by MPI_CALL_START */
	MPI_CALL_RECV_INIT,
	MPI_CALL_OTHER_INIT, /* of collectives and of messages in parts */
	MPI_CALL_START,
	MPI_CALL_PROBE, /* matched: the message is received by MRECV or IMRECV, and by no other */
	MPI_CALL_MRECV,
	MPI_CALL_IMRECV,
	MPI_CALL_WAIT,	    /* for a request; with a flag, if it is set */
	MPI_CALL_WAIT_ALL,  /* for `count` of them */
	MPI_CALL_WAIT_ANY,  /* for one */
	MPI_CALL_WAIT_SOME, /* for `outcount` */
	MPI_CALL_CANCEL,
	MPI_CALL_FREE, /* a request: nothing completes it then */
	MPI_CALL_COLLECTIVE,
	MPI_CALL_ICOLLECTIVE,
	MPI_CALL_MAKES,	      /* a communicator, and maybe waits for its other ranks */
	MPI_CALL_MAKES_INTER, /* a communicator between two groups */
};

/* By the function's name in C or in Fortran, with or without the _c of large counts. */
enum mpi_kind mpi_function_kind_of(const char *name);
/* Whether the names are of one function in that sense. */
bool mpi_function_is(const char *name, const char *function);

/* Arguments. What the call has none of is 0; a peer or a root: -1. */
struct mpi_call {
	uint64_t comm, newcomm, request;
	int64_t bytes, peer, tag, root, ranks;
	int64_t source, recvtag, received; /* of what MPI_Sendrecv() receives */
	int64_t newranks, newrank, key;	   /* newrank: -1: not recorded */
	uint64_t message;		   /* of a matched probe */
	int64_t nr;			   /* requests that it completes, or starts */
	const char *list;		   /* of `args`: which ones; NULL: that is not recorded */
};

void mpi_function_read(enum mpi_kind kind, const char *args, struct mpi_call *out);

/* A request of a list. */
struct mpi_done {
	uint64_t handle; /* 0: `more` requests that the record has no space for */
	int64_t more;
	bool has_source, is_cancelled;
	int64_t source, tag; /* of a receive: of what came */
};
/* Moves on in a list. false: it is at its end. */
bool mpi_function_next(const char **list, struct mpi_done *out);

#endif
