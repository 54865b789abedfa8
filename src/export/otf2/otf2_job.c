/* SPDX-License-Identifier: MIT */
/* otf2_job.c - an archive of several traces, each of a rank of a job
 *
 * A trace is read once, and closed before the next one is opened. Its texts and regions are those
 * of the archive from the beginning, so that no event is written again. Groups and locations are
 * defined at the end, in the order of their ranks, whatever the order of the traces. Memory grows
 * with names, locations and ranks.
 *
 * Fails:    a trace that can't be read refuses the archive, and is named.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/testpoint.h"
#include "export/otf2/otf2_internal.h"
#include "export/otf2/otf2_mpi.h"
#include "export/otf2/otf2.h"

/* Of traces without a rank: behind those that have one. */
#define NO_RANK (UINT64_C(1) << 31)
/* How many parts of the progress a trace has. */
#define PARTS 1000u

struct job {
	const char *const *inputs;
	size_t nr, at; /* `at`: the trace that is read */
	const struct job_options *opt;
	struct job_result *res;
	struct job_options own; /* of a trace */
	struct job_result one;	/* the same */
	struct otf2_archive archive;
	struct otf2_clocks clocks;
	struct otf2_comms comms;
	struct map files; /* hash of device and file -> trace + 1 */
	struct map ranks; /* rank -> trace */
	bool has_args;
	uint64_t nr_untimed, nr_incomplete;
	char incomplete[sizeof(((struct job_result *)0)->verdict)]; /* the first one */
};

static int step(void *arg, uint64_t done, uint64_t total)
{
	const struct job *j = arg;

	return j->opt->progress(j->opt->progress_arg,
				(uint64_t)j->at * PARTS + (total ? done * PARTS / total : 0),
				(uint64_t)j->nr * PARTS);
}

/* All of them can be read, and none comes twice. */
static int check_inputs(struct job *j)
{
	for (size_t i = 0; i < j->nr; i++) {
		struct stat st;
		uint64_t file[2], before;

		if (stat(j->inputs[i], &st))
			return job_fail(j->res, -errno, "%s: %s", j->inputs[i], strerror(errno));
		file[0] = (uint64_t)st.st_dev;
		file[1] = (uint64_t)st.st_ino;
		if (map_get(&j->files, map_hash(file, sizeof(file)), &before))
			return job_fail(j->res, -EINVAL,
					"%s: is the same trace as %s; give it once", j->inputs[i],
					j->inputs[before]);
		if (map_put(&j->files, map_hash(file, sizeof(file)), i))
			return job_fail(j->res, -ENOMEM, "%s: out of memory", j->inputs[i]);
	}
	return 0;
}

/* A rank is in one trace, which may have several processes of it. */
static int check_ranks(struct job *j, struct query *q)
{
	for (size_t i = 0; i < q->nr_processes; i++) {
		int64_t rank = q->processes[i].rank;
		uint64_t trace;

		if (rank < 0)
			continue;
		if (rank >= (int64_t)NO_RANK)
			return query_fail(q, -EINVAL, "%s: rank %lld is too large", q->path,
					  (long long)rank);
		if (map_get(&j->ranks, (uint64_t)rank, &trace)) {
			if (trace == j->at)
				continue;
			return query_fail(
				q, -EINVAL,
				"%s: has rank %lld, as %s has; give one trace of each rank",
				q->path, (long long)rank, j->inputs[trace]);
		}
		if (map_put(&j->ranks, (uint64_t)rank, j->at))
			return query_fail_memory(q);
		if (q->processes[i].world_size > (int64_t)j->comms.nr_ranks &&
		    q->processes[i].world_size <= OTF2_MAX_RANKS)
			j->comms.nr_ranks = (uint64_t)q->processes[i].world_size;
	}
	return 0;
}

/* Where the GPUs of a trace are, and what they are named after: its rank; of several the first. */
static int own_trace(struct job *j, struct query *q, struct otf2_trace *trace, char name[48])
{
	const struct query_process *first = NULL;

	for (size_t i = 0; i < q->nr_processes; i++) {
		const struct query_process *p = &q->processes[i];

		if (!first || (p->rank >= 0 && (first->rank < 0 || p->rank < first->rank)))
			first = p;
	}
	trace->is_one_of_several = true;
	trace->name = name;
	if (first && first->rank >= 0) {
		snprintf(name, 48, "rank %lld", (long long)first->rank);
		trace->owner.key = (uint64_t)first->rank;
	} else {
		snprintf(name, 48, "trace %zu", j->at + 1);
		trace->owner.key = NO_RANK + j->at;
	}
	return otf2_archive_node(&j->archive, first && *first->host ? first->host : "host", "node",
				 0, &trace->owner.node);
}

static void count_verdict(struct job *j, const struct query *q)
{
	if (j->one.complete)
		return;
	if (!j->nr_incomplete++)
		snprintf(j->incomplete, sizeof(j->incomplete), "%.200s: %.280s", q->path,
			 j->one.verdict);
}

static int write_open(struct job *j, struct query *q)
{
	struct otf2_trace trace = { .comms = &j->comms };
	char name[48];
	int ret = query_read_processes(q);

	if (ret == 0)
		ret = check_ranks(j, q);
	if (ret == 0)
		ret = otf2_clocks_find(&j->clocks, q, &trace.owner.clock);
	if (ret == 0)
		ret = own_trace(j, q, &trace, name);
	j->comms.clock = trace.owner.clock;
	if (ret == 0)
		ret = otf2_write_trace(&j->archive, q, &trace);
	if (ret)
		return ret;
	RTL_TESTPOINT("output_begun");
	otf2_clocks_extend(&j->clocks, trace.owner.clock, q->first_ns, (int64_t)j->archive.last_ns);
	j->nr_untimed += trace.nr_untimed;
	j->has_args |= query_has_args(q);
	count_verdict(j, q);
	return 0;
}

static int write_one(struct job *j, export_open_fn open)
{
	struct query *q = NULL;
	int ret = open(&q, j->inputs[j->at], &j->own, &j->one);

	if (ret == 0)
		ret = write_open(j, q);
	query_close(q);
	j->res->nr_lost += j->one.nr_lost;
	if (j->one.warning[0])
		memcpy(j->res->warning, j->one.warning, sizeof(j->res->warning));
	if (ret && j->one.error[0])
		job_fail(j->res, ret, "%s", j->one.error);
	return ret;
}

static int write_all(struct job *j, export_open_fn open, struct otf2_times *times)
{
	uint32_t root;
	int ret = otf2_clocks_begin(&j->clocks, j->opt, j->res);

	j->comms.archive = &j->archive;
	j->comms.clocks = &j->clocks;
	if (ret == 0)
		ret = otf2_archive_node(&j->archive, "job", "machine",
					OTF2_UNDEFINED_SYSTEM_TREE_NODE, &root);
	for (j->at = 0; j->at < j->nr && ret == 0; j->at++)
		ret = write_one(j, open);
	if (ret == 0)
		ret = otf2_clocks_solve(&j->clocks, times);
	if (ret == 0)
		ret = otf2_comms_complete(&j->comms, root);
	times->comms = &j->comms;
	return ret;
}

static void say(struct job *j)
{
	struct job_result *res = j->res;

	res->nr_ops = j->archive.nr_events;
	res->complete = !j->nr_incomplete;
	if (res->complete)
		snprintf(res->verdict, sizeof(res->verdict), "complete: %zu traces", j->nr);
	else
		snprintf(res->verdict, sizeof(res->verdict),
			 "incomplete: %llu of %zu traces are, the first is %.400s",
			 (unsigned long long)j->nr_incomplete, j->nr, j->incomplete);
	if (j->comms.nr_left_out)
		job_warn(
			res,
			"%llu calls of MPI have no record of their message or collective: the trace does not "
			"say which ranks it is of",
			(unsigned long long)j->comms.nr_left_out);
	if (j->nr_untimed)
		job_warn(res, OTF2_UNTIMED, (unsigned long long)j->nr_untimed);
}

static int write_job(struct job *j, const char *out, export_open_fn open)
{
	struct otf2_files files = { .tmp = "" };
	struct otf2_times times = { 0 };
	int ret = check_inputs(j);

	if (ret == 0)
		ret = otf2_files_create(&files, j->opt, j->res, out);
	if (ret == 0) {
		ret = otf2_archive_open(&j->archive, j->res, files.tmp, files.name);
		if (ret == 0)
			ret = write_all(j, open, &times);
		ret = otf2_archive_close(&j->archive, &times, ret);
	}
	if (ret == 0)
		say(j);
	ret = otf2_files_publish(&files, j->opt, j->res, job_is_private(j->opt, j->has_args), ret);
	otf2_clocks_end(&j->clocks);
	otf2_comms_end(&j->comms);
	return ret;
}

int otf2_write_job(const char *const *inputs, size_t nr, const char *out, export_open_fn open,
		   const struct job_options *opt, struct job_result *res)
{
	struct job *j = alloc_zero(1, sizeof(*j));
	int ret;

	memset(res, 0, sizeof(*res));
	if (!j)
		return job_fail(res, -ENOMEM, "%s: out of memory", out);
	j->inputs = inputs;
	j->nr = nr;
	j->opt = opt;
	j->res = res;
	j->own = *opt;
	if (opt->progress) {
		j->own.progress = step;
		j->own.progress_arg = j;
	}
	ret = write_job(j, out, open);
	map_fini(&j->files);
	map_fini(&j->ranks);
	alloc_free(j);
	return ret;
}
