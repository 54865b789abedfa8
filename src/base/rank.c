/* SPDX-License-Identifier: MIT */
/* rank.c - rank identity from the environment
 *
 * Threads:  rank_read() as getenv(3).
 */
#include "base/rank.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/str.h"

/* A launcher; it applies if `rank` and, if named, `needs` are set. `step`: number of the job's
 * step. */
struct launcher {
	const char *rank;
	const char *needs;
	const char *step;
	const char *world[2];
	const char *local[2];
};

static const struct launcher launchers[] = {
	{ "RANK", "WORLD_SIZE", NULL, { "WORLD_SIZE", NULL }, { "LOCAL_RANK", NULL } },
	{ "OMPI_COMM_WORLD_RANK",
	  NULL,
	  NULL,
	  { "OMPI_COMM_WORLD_SIZE", NULL },
	  { "OMPI_COMM_WORLD_LOCAL_RANK", NULL } },
	{ "MV2_COMM_WORLD_RANK",
	  NULL,
	  NULL,
	  { "MV2_COMM_WORLD_SIZE", NULL },
	  { "MV2_COMM_WORLD_LOCAL_RANK", NULL } },
	{ "PMI_RANK", NULL, NULL, { "PMI_SIZE", NULL }, { "MPI_LOCALRANKID", "PMI_LOCAL_RANK" } },
	/* PMIx itself says the rank alone; under srun its launcher has the rest */
	{ "PMIX_RANK",
	  NULL,
	  NULL,
	  { "PMIX_SIZE", "SLURM_STEP_NUM_TASKS" },
	  { "PMIX_LOCAL_RANK", "SLURM_LOCALID" } },
	{ "FLUX_TASK_RANK", NULL, NULL, { "FLUX_JOB_SIZE", NULL }, { "FLUX_TASK_LOCAL_ID", NULL } },
	{ "PALS_RANKID", NULL, NULL, { "PALS_SIZE", NULL }, { "PALS_LOCAL_RANKID", NULL } },
	/* for programs that call jax.distributed.initialize() with them */
	{ "JAX_PROCESS_ID",
	  "JAX_COORDINATOR_ADDRESS",
	  NULL,
	  { "JAX_NUM_PROCESSES", "JAX_PROCESS_COUNT" },
	  { "JAX_LOCAL_PROCESS_ID", NULL } },
	{ "SLURM_PROCID",
	  NULL,
	  "SLURM_STEP_ID",
	  { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" },
	  { "SLURM_LOCALID", NULL } },
};

static const char *const jobs[] = {
	"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID",	      "LSB_JOBID",
	"FLUX_JOB_ID",	"JOB_ID",      "TORCHELASTIC_RUN_ID",
};

static int64_t number(rank_getenv_fn get, const char *name)
{
	const char *text = name ? get(name) : NULL;
	char *end;
	long long value;

	if (!text || *text < '0' || *text > '9')
		return RANK_NONE;
	errno = 0;
	value = strtoll(text, &end, 10);
	return errno || *end ? RANK_NONE : value;
}

/* Slurm numbers the steps of srun from 0. A batch script and salloc's shell are steps, too, with a
 * PROCID of 0 and numbers from the end of 32 bits, or below 0: they are no rank. */
static bool is_special_step(rank_getenv_fn get, const char *name)
{
	const char *text = name ? get(name) : NULL;

	return text && (*text == '-' || number(get, name) >= INT64_C(0xfffffff0));
}

static int64_t first_of(rank_getenv_fn get, const char *const names[2])
{
	int64_t value = number(get, names[0]);

	return value != RANK_NONE ? value : number(get, names[1]);
}

static const char *getenv_plain(const char *name)
{
	return getenv(name);
}

void rank_read(struct rank *out, rank_getenv_fn get)
{
	struct str job;

	if (!get)
		get = getenv_plain;
	out->rank = out->world_size = out->local_rank = RANK_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const struct launcher *l = &launchers[i];

		if (number(get, l->rank) == RANK_NONE || (l->needs && !get(l->needs)) ||
		    is_special_step(get, l->step))
			continue;
		out->rank = number(get, l->rank);
		out->world_size = first_of(get, l->world);
		out->local_rank = first_of(get, l->local);
		break;
	}
	str_init(&job, out->job, sizeof(out->job));
	for (size_t i = 0; i < ARRAY_SIZE(jobs) && !job.used; i++) {
		const char *text = get(jobs[i]);

		if (text)
			str_add(&job, text);
	}
}
