/* SPDX-License-Identifier: MIT */
/* rank.h - the rank of this process in its job, from the variables of the job's launcher
 *
 * torchrun, Open MPI, MPICH and others with PMI, MVAPICH, Flux, PALS, JAX, Slurm; in that order,
 * since the inner launcher is more exact: torchrun under srun, mpirun in an sbatch script.
 */
#ifndef RTL_BASE_RANK_H
#define RTL_BASE_RANK_H

#include <stdint.h>

#define RANK_NONE (-1)

struct rank {
	int64_t rank, world_size, local_rank; /* RANK_NONE: unknown */
	int64_t restarts; /* how often the launcher has started this rank again */
	/* the scheduler's job id, "" if there is none. Ranks that were started again are a job of
	 * their own, "4711-restart1": their collectives and times are others than the first
	 * start's */
	char job[64];
};

typedef const char *(*rank_getenv_fn)(const char *name);

/* `get` as getenv(3); NULL for getenv(3) itself. */
void rank_read(struct rank *out, rank_getenv_fn get);

#endif
