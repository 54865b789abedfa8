/* SPDX-License-Identifier: MIT */
/* pmc_gpu.h - what counter.c has for each GPU: librtl's queue, the profiles, and how far the
 * present dispatch is
 *
 * Threads: one is opened by the thread that makes a GPU's first queue, under a lock; the rest
 *          belongs to the thread that advances GPUs (counter.c), one at a time. `state` is read by
 *          any.
 */
#ifndef RTL_SOURCE_HSA_PMC_GPU_H
#define RTL_SOURCE_HSA_PMC_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "source/hsa/agent.h"
#include "source/hsa/counter/chosen.h"
#include "source/hsa/counter/client.h"
#include "source/hsa/counter/profile.h"
#include "source/hsa/counter/replay.h"

#define NR_TURNS 1024u
#define ISA_SIZE 64u /* of HSA_AGENT_INFO_NAME */
#define NR_UNITED 8u

enum pmc_state {
	PMC_UNKNOWN,
	PMC_REFUSED, /* this GPU is not counted */
	PMC_IDLE,
	/* for dispatches that run, of those that were submitted before counting began or are not
	 * counted */
	PMC_WAITING,
	PMC_REPLAYING, /* the passes before the last */
	PMC_STARTING,
	/* a dispatch that is not counted after all: its clients have their results */
	PMC_STOPPING,
	PMC_RUNNING,
	PMC_READING,
};

/* Profiles of several clients as one. NULL: they do not fit together. */
struct united {
	uint64_t serials[CLIENT_MAX + 1];
	uint32_t nr;
	struct profile *profile;
};

struct pmc_gpu {
	_Atomic uint32_t state; /* enum pmc_state; release: the rest is set before it */
	hsa_queue_t *hsa;
	hsa_signal_t done;
	uint32_t nr_profiles, shape; /* of the user's profiles, RTL_PMC */
	struct profile *profiles[CHOSEN_MAX_PASSES];
	struct replay *replay; /* NULL: passes take turns */
	struct united united[NR_UNITED];
	uint32_t next_united;
	uint64_t *values; /* twice: of the profile, of one of its clients */
	uint32_t most_values;
	/* the present dispatch */
	struct client_answers answers;
	struct profile *profile; /* what is counted: a user of it */
	uint32_t only;		 /* index of the want that is counted alone; UINT32_MAX: all are */
	struct queue *queue;
	uint32_t queue_index; /* in the trace: `queue` may be used for another one when it ends */
	uint64_t packet, since_ns;
	uint64_t begin_ns, end_ns; /* 0: it was not recorded */
	/* dispatches, on other queues, that were submitted before counting began and do not run
	 * yet */
	uint64_t later;
	uint32_t releases;   /* client_releases when it began */
	uint32_t last_queue; /* where the search for the next one begins */
	uint32_t last_only;
	bool is_replayed; /* the replay has the values of the passes before the last */
	bool with_last;	  /* and those of the last: the packet counts for the faces alone */
	struct replay_refusal refusal; /* why it is not */
	bool is_granting;	       /* the dispatch is being submitted */
	struct replay_warned warned;
	/* Of each kernel the pass that is next; kernels may share one. */
	uint8_t turn[NR_TURNS];
};

extern struct pmc_gpu *_Atomic pmc_gpus[AGENT_MAX];

/* NULL: the GPU has none. Any thread. */
static inline struct pmc_gpu *pmc_gpu_of(uint32_t agent)
{
	return atomic_load_explicit(&pmc_gpus[agent], memory_order_acquire);
}

static inline uint32_t pmc_state(const struct pmc_gpu *l)
{
	return atomic_load_explicit(&l->state, memory_order_acquire);
}

static inline void pmc_gpu_set(struct pmc_gpu *l, enum pmc_state state)
{
	atomic_store_explicit(&l->state, state, memory_order_release);
}

/* What is kept of a GPU, opened when its first queue is made. NULL: it is not counted. */
struct pmc_gpu *pmc_gpu_open(uint32_t agent);
/* Frees what is the runtime's, while it takes calls. */
void pmc_gpu_close(struct pmc_gpu *l);

/* Space for the values of the profile, twice. False: no memory. */
bool pmc_gpu_make_space(struct pmc_gpu *l, const struct profile *p);

/* HSA_AGENT_INFO_NAME: "gfx90a". */
bool pmc_gpu_isa(hsa_agent_t agent, char isa[ISA_SIZE]);

#endif
