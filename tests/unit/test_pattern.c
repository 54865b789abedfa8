/* SPDX-License-Identifier: MIT */
/* test_pattern.c - output names, rank identity, and the paths that a process writes to */
#include "base/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/env.h"
#include "base/location.h"
#include "base/rank.h"
#include "support/test.h"

static const char *const *vars; /* name, value, ..., NULL */
static int nr_unknown;

static const char *get(const char *name)
{
	for (int i = 0; vars && vars[i]; i += 2) {
		if (strcmp(vars[i], name) == 0)
			return vars[i + 1];
	}
	return NULL;
}

static void unknown(const char *where)
{
	(void)where;
	nr_unknown++;
}

static const char *expand(const char *pattern)
{
	static char out[128];
	static struct rank rank;
	struct pattern_facts facts = { 42, "node/7", &rank, get, unknown, 7 };

	rank_read(&rank, get);
	CHECK_OK(pattern_expand(out, sizeof(out), pattern, &facts));
	return out;
}

TEST(patterns_of_both_spellings_are_expanded)
{
	static const char *const env[] = { "RANK", "3", "WORLD_SIZE", "8", "SLURM_JOB_ID",
					   "99",   "A", "b/c",	      NULL };

	vars = env;
	CHECK_STR_EQ(expand("x.%p.%h.%r.%j.%q{A}.%%"), "x.42.node_7.3.99.b/c.%");
	CHECK_STR_EQ(expand("x.%pid%.%hostname%.%rank%.%job%.%env{A}%"), "x.42.node_7.3.99.b/c");
	CHECK_STR_EQ(expand("%ppid%.%nid%.%size%"), "7.3.8");
	CHECK_STR_EQ(expand("%q{NONE}|%env{NONE}%|"), "||");
	CHECK_STR_EQ(expand("plain"), "plain");
	CHECK_EQ_INT(nr_unknown, 0);
}

TEST(unknown_pattern_is_kept_and_reported)
{
	vars = NULL;
	CHECK_STR_EQ(expand("a%zb%"), "a%zb%");
	CHECK_STR_EQ(expand("%nid%.%size%"), "42.1");
	CHECK_EQ_INT(nr_unknown, 2);
	CHECK_STR_EQ(expand("%q{OPEN"), "%q{OPEN");
	CHECK_EQ_INT(nr_unknown, 3);
	CHECK_STR_EQ(expand("%env{X}"), "%env{X}");
	CHECK_STR_EQ(expand("%r-%j"), "0-0");
}

TEST(too_long_name_is_refused)
{
	struct pattern_facts facts = { 1, "h", NULL, get, NULL, 0 };
	char out[4];

	CHECK_EQ_INT(pattern_expand(out, sizeof(out), "abcd", &facts), -ENAMETOOLONG);
	CHECK_OK(pattern_expand(out, sizeof(out), "abc", &facts));
	CHECK_EQ_INT(pattern_expand(out, 0, "", &facts), -ENAMETOOLONG);
}

static void check_rank(const char *const *env, long rank, long world, long local, const char *job)
{
	struct rank r;

	vars = env;
	rank_read(&r, get);
	CHECK_EQ_INT(r.rank, rank);
	CHECK_EQ_INT(r.world_size, world);
	CHECK_EQ_INT(r.local_rank, local);
	CHECK_STR_EQ(r.job, job);
}

#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(variables_of_every_launcher_give_rank)
{
	check_rank(ENV("RANK", "5", "WORLD_SIZE", "16", "LOCAL_RANK", "1"), 5, 16, 1, "");
	check_rank(ENV("OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "4",
		       "OMPI_COMM_WORLD_LOCAL_RANK", "0"),
		   2, 4, 0, "");
	check_rank(ENV("PMI_RANK", "1", "PMI_SIZE", "2", "MPI_LOCALRANKID", "1"), 1, 2, 1, "");
	check_rank(ENV("MV2_COMM_WORLD_RANK", "1", "MV2_COMM_WORLD_SIZE", "3"), 1, 3, -1, "");
	check_rank(ENV("SLURM_PROCID", "7", "SLURM_STEP_NUM_TASKS", "8", "SLURM_NTASKS", "9",
		       "SLURM_LOCALID", "3", "SLURM_STEP_ID", "0", "SLURM_JOB_ID", "1234"),
		   7, 8, 3, "1234");
	check_rank(ENV("FLUX_TASK_RANK", "2", "FLUX_JOB_SIZE", "4", "FLUX_TASK_LOCAL_ID", "0"), 2,
		   4, 0, "");
	check_rank(ENV("PALS_RANKID", "9", "PALS_SIZE", "16", "PALS_LOCAL_RANKID", "1"), 9, 16, 1,
		   "");
	check_rank(ENV("JAX_PROCESS_ID", "1", "JAX_NUM_PROCESSES", "2", "JAX_COORDINATOR_ADDRESS",
		       "a:1", "JAX_LOCAL_PROCESS_ID", "0"),
		   1, 2, 0, "");
	/* srun --mpi=pmix; Open MPI 6 on nodes of which each has more than one rank */
	check_rank(ENV("PMIX_RANK", "3", "SLURM_PROCID", "3", "SLURM_STEP_NUM_TASKS", "4",
		       "SLURM_LOCALID", "1", "SLURM_STEP_ID", "0"),
		   3, 4, 1, "");
	check_rank(ENV("PMIX_RANK", "1", "OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "3",
		       "OMPI_COMM_WORLD_LOCAL_RANK", "2"),
		   1, 3, 2, "");
	check_rank(ENV("PBS_JOBID", "12.host"), -1, -1, -1, "12.host");
}

TEST(inner_launcher_has_precedence)
{
	check_rank(ENV("SLURM_PROCID", "0", "SLURM_JOB_ID", "1", "OMPI_COMM_WORLD_RANK", "6",
		       "OMPI_COMM_WORLD_SIZE", "8"),
		   6, 8, -1, "1");
	check_rank(ENV("SLURM_PROCID", "1", "SLURM_NTASKS", "2", "RANK", "12", "WORLD_SIZE", "16",
		       "LOCAL_RANK", "4"),
		   12, 16, 4, "");
}

TEST(script_of_slurm_has_no_rank)
{
	check_rank(ENV("SLURM_PROCID", "0", "SLURM_LOCALID", "0", "SLURM_STEP_ID", "-5",
		       "SLURM_NTASKS", "4", "SLURM_JOB_ID", "8"),
		   -1, -1, -1, "8");
	check_rank(ENV("SLURM_PROCID", "0", "SLURM_STEP_ID", "4294967291"), -1, -1, -1, "");
	/* Slurm 22 */
	check_rank(ENV("SLURM_PROCID", "0", "SLURM_LOCALID", "0", "SLURM_NTASKS", "2",
		       "SLURM_JOB_ID", "8"),
		   -1, -1, -1, "8");
	check_rank(ENV("SLURM_PROCID", "0", "SLURM_STEP_ID", "0", "SLURM_STEP_NUM_TASKS", "2"), 0,
		   2, -1, "");
}

TEST(rank_that_was_started_again_says_how_often)
{
	struct rank rank;

	vars = ENV("RANK", "1", "WORLD_SIZE", "2", "TORCHELASTIC_RESTART_COUNT", "3");
	rank_read(&rank, get);
	CHECK_EQ_INT(rank.restarts, 3);
	CHECK_STR_EQ(rank.job, "0-restart3");
	/* those of another launcher are not its own */
	vars = ENV("PMI_RANK", "1", "TORCHELASTIC_RESTART_COUNT", "3");
	rank_read(&rank, get);
	CHECK_EQ_INT(rank.restarts, 0);
	CHECK_STR_EQ(rank.job, "");
	vars = ENV("SLURM_PROCID", "1", "SLURM_STEP_ID", "0", "SLURM_RESTART_COUNT", "1",
		   "SLURM_JOB_ID", "4711");
	rank_read(&rank, get);
	CHECK_EQ_INT(rank.restarts, 1);
	CHECK_STR_EQ(rank.job, "4711-restart1");
	/* a long id is cut, not the number */
	vars = ENV("RANK", "1", "WORLD_SIZE", "2", "TORCHELASTIC_RESTART_COUNT", "12",
		   "TORCHELASTIC_RUN_ID",
		   "0123456789012345678901234567890123456789012345678901234567890123456789");
	rank_read(&rank, get);
	CHECK_STR_EQ(rank.job, "01234567890123456789012345678901234567890123456789012-restart12");
}

TEST(incomplete_or_invalid_rank_is_ignored)
{
	check_rank(ENV("RANK", "5"), -1, -1, -1, "");
	check_rank(ENV("PMI_RANK", "x1"), -1, -1, -1, "");
	check_rank(ENV("PMI_RANK", "-1", "SLURM_PROCID", "2", "SLURM_STEP_ID", "1"), 2, -1, -1, "");
}

TEST(paths_are_absolute_and_derived_from_output)
{
	char cwd[LOCATION_SIZE];
	char want[LOCATION_SIZE + 32];

	CHECK_OK(chdir(test_tmpdir()));
	CHECK_NOT_NULL(getcwd(cwd, sizeof(cwd)));
	setenv("RTL_OUTPUT", "out-%p.db", 1);
	env_init();
	CHECK_OK(location_init());
	snprintf(want, sizeof(want), "%s/out-%d.db", cwd, (int)getpid());
	CHECK_STR_EQ(location_output(), want);
	snprintf(want, sizeof(want), "%s/out-%d.db.spool", cwd, (int)getpid());
	CHECK_STR_EQ(location_spool_dir(), want);
	CHECK_STR_EQ(location_mem_dir(), "/dev/shm");
	CHECK(!location_is_session());
}

TEST(session_sets_spool_directory)
{
	setenv("RTL_SESSION", "/s/dir/", 1);
	setenv("RTL_SPOOL_DIR", "/other", 1);
	setenv("RTL_MEM_DIR", "none", 1);
	env_init();
	CHECK_OK(location_init());
	CHECK_STR_EQ(location_spool_dir(), "/s/dir");
	CHECK_STR_EQ(location_mem_dir(), "");
	CHECK(location_is_session());
}

TEST(too_long_output_is_an_error)
{
	char name[LOCATION_SIZE + 10];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	setenv("RTL_OUTPUT", name, 1);
	env_init();
	CHECK_EQ_INT(location_init(), -ENAMETOOLONG);
	CHECK_STR_EQ(location_error(), "RTL_OUTPUT");
}
