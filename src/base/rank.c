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
 * step; `restart`: how often it has started the ranks again. */
struct launcher {
	const char *rank;
	const char *needs;
	const char *step;
	const char *world[2];
	const char *local[2];
	const char *restart;
};

static const struct launcher launchers[] = {
	{ .rank = "RANK",
	  .needs = "WORLD_SIZE",
	  .world = { "WORLD_SIZE" },
	  .local = { "LOCAL_RANK" },
	  .restart = "TORCHELASTIC_RESTART_COUNT" },
	{ .rank = "OMPI_COMM_WORLD_RANK",
	  .world = { "OMPI_COMM_WORLD_SIZE" },
	  .local = { "OMPI_COMM_WORLD_LOCAL_RANK" } },
	{ .rank = "MV2_COMM_WORLD_RANK",
	  .world = { "MV2_COMM_WORLD_SIZE" },
	  .local = { "MV2_COMM_WORLD_LOCAL_RANK" } },
	{ .rank = "PMI_RANK",
	  .world = { "PMI_SIZE" },
	  .local = { "MPI_LOCALRANKID", "PMI_LOCAL_RANK" } },
	/* PMIx itself says the rank alone; under srun its launcher has the rest */
	{ .rank = "PMIX_RANK",
	  .world = { "PMIX_SIZE", "SLURM_STEP_NUM_TASKS" },
	  .local = { "PMIX_LOCAL_RANK", "SLURM_LOCALID" },
	  .restart = "SLURM_RESTART_COUNT" },
	{ .rank = "FLUX_TASK_RANK",
	  .world = { "FLUX_JOB_SIZE" },
	  .local = { "FLUX_TASK_LOCAL_ID" } },
	{ .rank = "PALS_RANKID", .world = { "PALS_SIZE" }, .local = { "PALS_LOCAL_RANKID" } },
	/* for programs that call jax.distributed.initialize() with them */
	{ .rank = "JAX_PROCESS_ID",
	  .needs = "JAX_COORDINATOR_ADDRESS",
	  .world = { "JAX_NUM_PROCESSES", "JAX_PROCESS_COUNT" },
	  .local = { "JAX_LOCAL_PROCESS_ID" } },
	{ .rank = "SLURM_PROCID",
	  .step = "SLURM_STEP_ID",
	  .world = { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" },
	  .local = { "SLURM_LOCALID" },
	  .restart = "SLURM_RESTART_COUNT" }, /* of a job that was put back into the queue */
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

/* Slurm numbers the steps of srun from 0. A batch script and salloc's shell have a PROCID of 0,
 * too, and a step from the end of 32 bits (21), below 0 (26) or none (22 to 24): they are no
 * rank. */
static bool is_special_step(rank_getenv_fn get, const char *name)
{
	const char *text = name ? get(name) : NULL;

	return name && (!text || *text == '-' || number(get, name) >= INT64_C(0xfffffff0));
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

/* The job's id, with the number of its start. */
static void read_job(struct rank *out, rank_getenv_fn get)
{
	struct str restart, job;
	char text[32] = "";

	str_init(&restart, text, sizeof(text));
	if (out->restarts > 0) {
		str_add(&restart, "-restart");
		str_add_uint(&restart, (uint64_t)out->restarts);
	}
	/* an id is cut, not the number */
	str_init(&job, out->job, sizeof(out->job) - restart.used);
	for (size_t i = 0; i < ARRAY_SIZE(jobs) && !job.used; i++) {
		const char *id = get(jobs[i]);

		if (id)
			str_add(&job, id);
	}
	if (restart.used && !job.used)
		str_add(&job, "0");
	job.size = sizeof(out->job);
	str_add(&job, text);
}

void rank_read(struct rank *out, rank_getenv_fn get)
{
	if (!get)
		get = getenv_plain;
	out->rank = out->world_size = out->local_rank = RANK_NONE;
	out->restarts = 0;
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const struct launcher *l = &launchers[i];

		if (number(get, l->rank) == RANK_NONE || (l->needs && !get(l->needs)) ||
		    is_special_step(get, l->step))
			continue;
		out->rank = number(get, l->rank);
		out->world_size = first_of(get, l->world);
		out->local_rank = first_of(get, l->local);
		out->restarts = number(get, l->restart) > 0 ? number(get, l->restart) : 0;
		break;
	}
	read_job(out, get);
}
