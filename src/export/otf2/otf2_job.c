/* SPDX-License-Identifier: MIT */
/* otf2_job.c - an archive of several traces, each of a rank of a job
 *
 * Processes write the events of traces, each read once, into the files of the archive; this one
 * defines what they have. Groups and locations are defined at the end, in the order of their ranks,
 * whatever the order of the traces. Memory grows with names, locations and ranks.
 *
 * Fails:    a trace that can't be read refuses the archive, and is named.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/testpoint.h"
#include "export/otf2/otf2.h"
#include "export/otf2/otf2_part.h"

/* Of traces without a rank: behind those that have one. */
#define NO_RANK (UINT64_C(1) << 31)
struct job {
	const char *const *inputs;
	size_t nr;
	const struct job_options *opt;
	struct job_result *res;
	export_open_fn open;
	struct otf2_files files;
	struct otf2_archive archive;
	struct otf2_clocks clocks;
	struct otf2_comms comms;
	struct map inodes; /* hash of device and file -> trace + 1 */
	struct map ranks;  /* rank -> trace */
	int64_t *first;	   /* by trace: its first rank + 1, as far as it is known */
	char name[OTF2_NAME_SIZE + 48];
	bool has_args;
	uint64_t nr_untimed, nr_incomplete;
	char incomplete[sizeof(((struct job_result *)0)->verdict)]; /* the first one */
};

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
		if (map_get(&j->inodes, map_hash(file, sizeof(file)), &before))
			return job_fail(j->res, -EINVAL,
					"%s: is the same trace as %s; give it once", j->inputs[i],
					j->inputs[before]);
		if (map_put(&j->inodes, map_hash(file, sizeof(file)), i))
			return job_fail(j->res, -ENOMEM, "%s: out of memory", j->inputs[i]);
	}
	return 0;
}

/* ---- in the process that writes a trace ---- */

static int step(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	otf2_worker_progress(total ? done * OTF2_PROGRESS / total : 0);
	return 0;
}

/* Reports which ranks the trace has, before it is read: pairs of a rank and the job's
 * size. */
static int report_ranks(struct query *q)
{
	int64_t *pairs = alloc_zero(q->nr_processes * 2 + 1, sizeof(*pairs));
	size_t nr = 0;
	int ret = pairs ? 0 : query_fail_memory(q);

	for (size_t i = 0; i < q->nr_processes && ret == 0; i++) {
		const struct query_process *p = &q->processes[i];

		if (p->rank < 0)
			continue;
		if (p->rank >= (int64_t)NO_RANK)
			ret = query_fail(q, -EINVAL, "%s: rank %lld is too large", q->path,
					 (long long)p->rank);
		pairs[nr++] = p->rank;
		pairs[nr++] = p->world_size;
	}
	if (ret == 0)
		otf2_worker_report(pairs, nr);
	alloc_free(pairs);
	return ret;
}

/* Where the GPUs of a trace are, and what they are named after: its rank; of several the first. */
static int own_trace(struct otf2_archive *a, size_t number, struct query *q,
		     struct otf2_trace *trace, char name[48])
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
		snprintf(name, 48, "trace %zu", number + 1);
		trace->owner.key = NO_RANK + number;
	}
	return otf2_archive_node(a, first && *first->host ? first->host : "host", "node", 0,
				 &trace->owner.node);
}

/* A trace with definitions of its own. */
struct part {
	struct otf2_archive archive;
	struct otf2_clocks clocks;
	struct otf2_comms comms;
	struct otf2_bytes log;
	struct otf2_summary summary;
};

static int write_open(const struct job *j, struct part *p, struct query *q, size_t number,
		      struct job_result *res)
{
	struct otf2_trace trace = { .comms = &p->comms };
	char name[48];
	int ret = query_read_processes(q);

	if (ret == 0)
		ret = report_ranks(q);
	if (ret == 0)
		ret = otf2_archive_open(&p->archive, res, j->files.tmp, j->files.name, &p->log);
	p->comms.archive = &p->archive;
	p->comms.clocks = &p->clocks;
	if (ret == 0)
		ret = otf2_clocks_begin(&p->clocks, q->opt, res);
	if (ret == 0)
		ret = otf2_clocks_find(&p->clocks, q, &trace.owner.clock);
	if (ret == 0)
		ret = own_trace(&p->archive, number, q, &trace, name);
	if (ret == 0)
		ret = otf2_write_trace(&p->archive, q, &trace);
	ret = otf2_archive_complete(&p->archive, ret);
	if (ret)
		return ret;
	RTL_TESTPOINT("output_begun");
	otf2_clocks_extend(&p->clocks, 0, q->first_ns, (int64_t)p->archive.last_ns);
	p->summary.nr_untimed = trace.nr_untimed;
	p->summary.has_args = query_has_args(q);
	p->summary.is_complete = res->complete;
	snprintf(p->summary.verdict, sizeof(p->summary.verdict), "%.200s: %.280s", q->path,
		 res->verdict);
	return 0;
}

/* The library's errors do not name the trace. */
#define OF_ARCHIVE "the archive"
static void name_error(struct job_result *res, const char *input)
{
	char error[sizeof(res->error)];

	memcpy(error, res->error, sizeof(error));
	snprintf(res->error, sizeof(res->error), "%.300s: %.700s", input, error);
}

static int write_one(void *arg, size_t number, struct otf2_bytes *out, struct job_result *res)
{
	const struct job *j = arg;
	struct job_options own = *j->opt;
	struct part *p = alloc_zero(1, sizeof(*p));
	struct query *q = NULL;
	int ret;

	if (!p)
		return job_fail(res, -ENOMEM, "%s: out of memory", j->inputs[number]);
	own.progress = step;
	ret = j->open(&q, j->inputs[number], &own, res);
	if (ret == 0)
		ret = write_open(j, p, q, number, res);
	query_close(q);
	p->summary.nr_lost = res->nr_lost;
	memcpy(p->summary.warning, res->warning, sizeof(p->summary.warning));
	if (ret == 0 && otf2_part_put(&p->archive, &p->comms, &p->clocks, &p->summary, out))
		ret = job_fail(res, -ENOMEM, "%s: out of memory", j->inputs[number]);
	if (ret && strncmp(res->error, OF_ARCHIVE, strlen(OF_ARCHIVE)) == 0)
		name_error(res, j->inputs[number]);
	otf2_archive_free(&p->archive);
	otf2_clocks_end(&p->clocks);
	otf2_comms_end(&p->comms);
	otf2_bytes_fini(&p->log);
	alloc_free(p);
	return ret;
}

/* ---- in the caller's process ---- */

static const char *name_trace(void *arg, size_t number)
{
	struct job *j = arg;

	if (!j->first[number])
		return j->inputs[number];
	snprintf(j->name, sizeof(j->name), "%.*s (rank %lld)", OTF2_NAME_SIZE - 1,
		 j->inputs[number], (long long)j->first[number] - 1);
	return j->name;
}

/* A rank is in one trace, which may have several processes of it. */
static int check_ranks(void *arg, size_t number, const int64_t *pairs, size_t nr)
{
	struct job *j = arg;

	for (size_t i = 0; i + 1 < nr; i += 2) {
		int64_t rank = pairs[i], size = pairs[i + 1];
		uint64_t other;

		if (!j->first[number] || rank + 1 < j->first[number])
			j->first[number] = rank + 1;
		if (size > (int64_t)j->comms.nr_ranks && size <= OTF2_MAX_RANKS)
			j->comms.nr_ranks = (uint64_t)size;
		if (!map_get(&j->ranks, (uint64_t)rank, &other)) {
			if (map_put(&j->ranks, (uint64_t)rank, number))
				return job_fail(j->res, -ENOMEM, "%s: out of memory",
						j->inputs[number]);
			continue;
		}
		if (other != number)
			return job_fail(j->res, -EINVAL,
					"%s: has rank %lld, as %s has; give one trace of each rank",
					j->inputs[number > other ? number : other], (long long)rank,
					j->inputs[number > other ? other : number]);
	}
	return 0;
}

static int take_part(void *arg, size_t number, struct otf2_bytes *bytes)
{
	struct job *j = arg;
	struct otf2_summary summary;
	int ret = otf2_part_adopt(&j->archive, &j->comms, &j->clocks, bytes, &summary);

	(void)number;
	if (ret)
		return ret;
	j->nr_untimed += summary.nr_untimed;
	j->has_args |= summary.has_args;
	j->res->nr_lost += summary.nr_lost;
	if (summary.warning[0])
		memcpy(j->res->warning, summary.warning, sizeof(j->res->warning));
	if (!summary.is_complete && !j->nr_incomplete++)
		memcpy(j->incomplete, summary.verdict, sizeof(j->incomplete));
	return 0;
}

static int show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct job *j = arg;

	if (!j->opt->progress || !j->opt->progress(j->opt->progress_arg, done, total))
		return 0;
	return job_fail(j->res, -ECANCELED, "%s: stopped; it was not written", j->files.stem);
}

static int write_all(struct job *j, struct otf2_times *times)
{
	static const struct otf2_worker_ops ops = {
		.write = write_one,
		.note = check_ranks,
		.take = take_part,
		.progress = show_progress,
		.name = name_trace,
	};
	uint32_t root;
	int ret = otf2_clocks_begin(&j->clocks, j->opt, j->res);

	j->comms.archive = &j->archive;
	j->comms.clocks = &j->clocks;
	if (ret == 0)
		ret = otf2_archive_node(&j->archive, "job", "machine",
					OTF2_UNDEFINED_SYSTEM_TREE_NODE, &root);
	if (ret == 0)
		ret = otf2_workers_run(&ops, j, j->nr, j->res);
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

static int write_job(struct job *j, const char *out)
{
	struct otf2_times times = { 0 };
	int ret = check_inputs(j);

	if (ret == 0)
		ret = otf2_files_create(&j->files, j->opt, j->res, out);
	if (ret == 0) {
		ret = otf2_archive_open(&j->archive, j->res, j->files.tmp, j->files.name, NULL);
		if (ret == 0)
			ret = write_all(j, &times);
		ret = otf2_archive_close(&j->archive, &times, ret);
	}
	if (ret == 0)
		say(j);
	ret = otf2_files_publish(&j->files, j->opt, j->res, job_is_private(j->opt, j->has_args),
				 ret);
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
	j->open = open;
	j->first = alloc_zero(nr + 1, sizeof(*j->first));
	ret = j->first ? write_job(j, out) : job_fail(res, -ENOMEM, "%s: out of memory", out);
	alloc_free(j->first);
	map_fini(&j->inodes);
	map_fini(&j->ranks);
	alloc_free(j);
	return ret;
}
