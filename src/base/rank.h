/* SPDX-License-Identifier: MIT */
/* rank.h - which of a job's processes this is, by the variables of what launched it
 *
 * torchrun, Open MPI, MPICH and others with PMI, MVAPICH, Flux, PALS, Slurm; in that order, since
 * the inner launcher knows best: torchrun below srun, mpirun inside of an sbatch script.
 */
#ifndef RTL_BASE_RANK_H
#define RTL_BASE_RANK_H

#include <stdint.h>

#define RANK_NONE (-1)

struct rank {
	int64_t rank, world_size, local_rank; /* RANK_NONE: not known */
	char job[64];			      /* the scheduler's job id, "" when there is none */
};

typedef const char *(*rank_getenv_fn)(const char *name);

/* `get` as getenv(3); NULL for getenv(3) itself. */
void rank_read(struct rank *out, rank_getenv_fn get);

#endif
