/* SPDX-License-Identifier: MIT */
/* collective.h - collectives of several GPUs: the same one is found on all ranks, with who came
 * last, by how much and why
 *
 * A party is a GPU of a process: a rank of a job, or one of the GPUs of one process; or the host of
 * a process, whose calls of MPI are collectives by MPI's communicator and their order in it. Else a
 * collective is
 * a kernel whose name is in a table (query/collectives.h), or matches a pattern of the user's. Its
 * channel on the party is the communicator of RCCL's call that launched it, if RCCL's calls are in
 * the trace, else its queue. Communicators of several processes that have the same id, by the calls
 * that made them, belong together. Of others and of queues, the n-th collective of the k-th channel
 * of a party is the n-th of the k-th channel of the others: communicators and queues count in the
 * order of their first use. The parties of a channel are those of RCCL's communicator if its size
 * says so; else channels whose kernels run at the same time, if those make equal sets; else all.
 *
 * The last party to arrive does not wait: the duration of its kernel is the transfer. The others
 * wait from their begin to that of the last one. Reads the operations once, and keeps the
 * collectives in a file beyond a MiB; memory grows with parties, names and the collectives that not
 * all parties have reached. One thread.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_H
#define RTL_ANALYSIS_COLLECTIVE_H

#include <regex.h>

#include "analysis/clock_align.h"
#include "query/query.h"

enum collective_class {
	COLLECTIVE_TRANSFER, /* transfer is at least twice the skew */
	COLLECTIVE_SKEW,     /* the other way round */
	COLLECTIVE_MIXED,
	/* another name on another party, times that are missing, or clocks of hosts that differ by
	 * an unknown time or by one whose error is too large for any of these */
	COLLECTIVE_INCONCLUSIVE,
	COLLECTIVE_NR_CLASSES
};
extern const char *const collective_classes[COLLECTIVE_NR_CLASSES];

/* What the last party did, more than the others, since its collective before. */
enum collective_cause {
	COLLECTIVE_UNKNOWN, /* nothing explains half of it */
	COLLECTIVE_KERNEL,
	COLLECTIVE_COPY,
	COLLECTIVE_HOST,  /* the GPU waited until the host launched */
	COLLECTIVE_GRAPH, /* the same; what it launched after the longest wait was a graph */
	/* the GPU had nothing to do; whether the host was late is not known without calls */
	COLLECTIVE_IDLE,
	COLLECTIVE_CALL, /* of MPI: the host came to the call late */
	COLLECTIVE_NR_CAUSES
};
extern const char *const collective_causes[COLLECTIVE_NR_CAUSES];

/* Whether a party comes last more often than chance explains. */
enum collective_verdict {
	COLLECTIVE_IN_TIME,
	COLLECTIVE_LATE,
	/* it does, by its host, but by no more than a few times what that or the waits of the
	 * others vary by: inconclusive, as on processors that are shared */
	COLLECTIVE_UNSTEADY,
	/* it does, by its host, always by as much as threads wait for a processor, and within
	 * calls: inconclusive, too */
	COLLECTIVE_SLICED,
	COLLECTIVE_NR_VERDICTS
};
extern const char *const collective_verdicts[COLLECTIVE_NR_VERDICTS]; /* the first one is empty */

struct collective_party {
	const struct query_process *process; /* NULL: unknown (RPD) */
	int64_t gpu;			     /* -1: the host, whose calls of MPI are collectives */
	char name[64];			     /* "rank 3", "GPU 3", "rank 3 GPU 0" */
};

/* A party in a group. */
struct collective_member {
	size_t party;
	uint64_t wait_ns; /* for later parties, in all */
	uint64_t
		/* times that it came last by more than the transfer or as much: those of class
		 * skew */
		nr_last;
	uint64_t late_ns; /* of these: behind the median of the others, in all */
	uint64_t causes[COLLECTIVE_NR_CAUSES];
	uint64_t worst_ns; /* of late_ns, and in that one: */
	int64_t worst_begin, worst_kernel,
		/* ids of the longest kernel before it and of its own operation; 0: none */
		worst_op;
	enum collective_verdict verdict;
	/* of a verdict on its host: the median distance of its lateness from the median */
	uint64_t varies_ns;
};

/* The collectives of one name on one channel. */
struct collective_group {
	char *name;	/* RCCL's function, or the kernel */
	size_t channel; /* number of the channel on each party, from 0 */
	bool by_calls;	/* channel is a communicator, else a queue */
	struct collective_member *members;
	size_t nr_members;
	uint64_t nr, nr_class[COLLECTIVE_NR_CLASSES];
	uint64_t skew_ns, transfer_ns; /* in all, without those of class inconclusive */
	uint64_t bytes;		       /* that the calls name, in all; 0: unknown */
	double bus_bytes;	       /* bytes times the factor of the algorithm, in all */
};

/* Two parties whose orders differ. */
struct collective_order {
	size_t channel;
	bool by_calls; /* as of a group */
	size_t parties[2];
	char *names[2];
	uint64_t number; /* of the first such collective in the channel, from 1 */
	uint64_t count;	 /* of such collectives in the channel */
};

struct collectives {
	struct collective_party *parties;
	size_t nr_parties;
	struct collective_group *groups;
	size_t nr_groups;
	struct collective_order *orders; /* at most one for each channel */
	size_t nr_orders;
	struct clock_align clocks; /* of hosts; one: all times can be compared */
	uint64_t nr_incomplete;	   /* that some parties never reached */
	uint64_t nr_alone;	   /* kernels in a channel that no other party has */
	uint64_t nr_unclear;	   /* kernels in channels whose parties are not known */
};

/* One collective, when its last party has it. */
struct collective_arrival {
	size_t party;
	int64_t op;	    /* id of the kernel, or of the call of MPI */
	int64_t begin, end; /* ns, as in the trace */
	/* ns, of the party's clock against that of the first host; 0: it is that one */
	int64_t error;
	uint64_t bytes;
};
struct collective_one {
	const char *name;
	size_t channel;
	bool by_calls; /* channel is a communicator, else a queue */
	/* number of the parties that share it: several sets may have one channel */
	size_t set;
	uint64_t number; /* in the channel, from 1, as in rtl_collective */
	/* from the first arrival to the last, and from there to the end; not of class
	 * inconclusive */
	int64_t skew_ns, transfer_ns;
	const struct collective_arrival *arrivals;
	size_t nr;
	size_t last; /* of arrivals */
	enum collective_class class;
	enum collective_cause cause;
};
typedef int (*collective_fn)(void *arg, const struct collective_one *one);

/* Whether the trace has a kernel or a call of MPI with a collective's name: false without reading
 * operations. */
bool collective_may_be(struct query *q);
/* `more`: names of kernels that are collectives, too, and `each`: gets each one; both may be NULL.
 * 0 or -errno with q->res->error, or what `each` returned. */
int collective_read(struct query *q, const regex_t *more, collective_fn each, void *arg,
		    struct collectives *out);
void collective_fini(struct collectives *c);
/* Fills the names, by process and GPU: as short as tells these parties apart. */
void collective_name_parties(struct collective_party *parties, size_t nr);
/* The cause of most of the collectives to which it came last. */
enum collective_cause collective_main_cause(const struct collective_member *m);

#endif
