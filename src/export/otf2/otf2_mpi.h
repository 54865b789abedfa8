/* SPDX-License-Identifier: MIT */
/* otf2_mpi.h - records of MPI: communicators, messages, collectives
 *
 *	otf2_comm.c	communicators and the locations of their ranks
 *	otf2_mpi.c	calls of a trace as records of messages and collectives
 */
#ifndef RTL_EXPORT_OTF2_OTF2_MPI_H
#define RTL_EXPORT_OTF2_OTF2_MPI_H

#include "analysis/mpi_requests.h"
#include "export/otf2/otf2_internal.h"

/* ---- communicators of a job; one thread; 0 or -errno with the archive's error ---- */

/* Ranks, sizes and peers beyond that are not believed. */
#define OTF2_MAX_RANKS (1 << 17)

#define OTF2_COMM_WORLD MPI_CALL_WORLD
#define OTF2_COMM_SELF MPI_CALL_SELF

struct otf2_comm {
	uint64_t number;
	uint64_t parent; /* 0: none */
	uint64_t size;	 /* as calls say, and more than each peer; 0: unknown */
	bool is_inter;	 /* its peers are not its members */
	struct otf2_comm_member {
		uint32_t rank; /* in MPI_COMM_WORLD */
		int64_t key;   /* of MPI_Comm_split */
	} * members;
	size_t nr, max;
};

struct otf2_comms {
	struct otf2_archive *archive;
	struct map index;     /* number -> `all`, which is the reference, too */
	struct map locations; /* rank -> number of a location */
	struct otf2_comm *all;
	size_t nr, max;
	uint64_t nr_ranks; /* of the job, as far as known */
	struct otf2_clocks *clocks;
	size_t clock;	      /* of the trace that is read */
	uint64_t nr_left_out; /* calls that would have records, and lack what these need */
};

/* A communicator that a call of a rank names; known ones are in `seen`, which is of the rank. */
int otf2_comms_find(struct otf2_comms *c, struct map *seen, uint32_t rank, uint64_t number,
		    uint32_t *ref);
/* A rank is in the location of this number; the first one stays. */
int otf2_comms_locate(struct otf2_comms *c, uint32_t rank, uint64_t location);
/* When all events are written: ranks without a trace get an empty location. */
int otf2_comms_complete(struct otf2_comms *c, uint32_t node);
/* When locations are defined. The first references of groups and communicators that are free. */
int otf2_comms_define(struct otf2_comms *c, uint32_t *group, uint32_t *comm);
void otf2_comms_end(struct otf2_comms *c);

/* ---- calls of a trace ---- */

/* What is recorded when a call ends; MPI_CALL_OTHER: nothing. */
struct otf2_mpi_call {
	enum mpi_kind kind;
	uint32_t comm;	   /* its reference */
	uint32_t function; /* of otf2_mpi.c */
	int64_t begin, end;
	int64_t args; /* id of its arguments, of which the lists are read again */
	struct mpi_call call;
};

struct otf2_mpi;
/* `comms` live on. */
int otf2_mpi_begin(struct otf2_mpi **out, struct otf2_comms *comms, struct query *q);
/* Accepts NULL. */
void otf2_mpi_end(struct otf2_mpi *m);
/* Calls of another thread follow. `rank`: -1: its process has none, and no records. */
void otf2_mpi_thread(struct otf2_mpi *m, int64_t rank);
/* The thread has no more calls: requests that are open end here. */
int otf2_mpi_thread_ends(struct otf2_mpi *m, size_t location, int64_t ns);
/* Records at the begin of a call (enum rows_call), which was entered. */
int otf2_mpi_enter(struct otf2_mpi *m, size_t location, const struct rows_call *row,
		   struct otf2_mpi_call *call);
/* At its end, before it is left. */
int otf2_mpi_leave(struct otf2_mpi *m, size_t location, int64_t ns,
		   const struct otf2_mpi_call *call);
/* How a function is shown. */
OTF2_RegionRole otf2_mpi_role(const char *function);

#endif
