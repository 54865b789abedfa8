/* SPDX-License-Identifier: MIT */
/* kineto.c - kineto's dialect of Chrome JSON: the header, and one file for each process
 *
 * Readers take each file for one rank, and compare files by their `ts`: all files of a week count
 * from the same instant of the wall clock, so near that a double holds their nanoseconds.
 *
 * Not here: events (kineto_events.c).
 */
#include "export/kineto/kineto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "export/kineto/kineto_internal.h"
#include "export/output.h"
#include "rtl_version.h"

#define BASE_STEP (INT64_C(7) * 86400 * 1000000000)

/* ---- header ---- */

/* Writes major and minor version: gfx90a: 9, 0; gfx1100: 11, 0. The last two digits are minor
 * version and stepping. */
static void put_version(struct json *j, const char *isa)
{
	const char *digits = isa + strspn(isa, "gfx");
	size_t n = strspn(digits, "0123456789abcdef");
	int64_t major = 0;

	if (strncmp(isa, "gfx", 3) != 0 || n < 3)
		return;
	for (size_t i = 0; i < n - 2; i++)
		major = major * 10 + (digits[i] - '0');
	json_member_int(j, "computeMajor", major);
	json_member_int(j, "computeMinor",
			digits[n - 2] <= '9' ? digits[n - 2] - '0' : digits[n - 2] - 'a' + 10);
}

/* The file's process; NULL if the input does not distinguish processes. */
static const struct query_process *process_of(const struct query *q)
{
	return q->only ? q->only : q->nr_processes ? q->processes : NULL;
}

/* Readers read the first element of the array without a check, so without GPUs the array is left
 * out. */
static int put_devices(struct trace_events *t)
{
	struct json *j = t->json;
	sqlite3_stmt *row = NULL;
	bool any = false;
	int ret = 0;

	if (t->q->ours)
		ret = query_prepare(
			t->q, &row,
			"SELECT DISTINCT gpu_id % 1000, coalesce(nullif(product, ''), name), name, "
			"nr_cu, wave_size, max_waves_per_cu FROM rtl_agent WHERE type = 'GPU' AND "
			"gpu_id >= 0 AND (?1 = 0 OR process_id = ?1) ORDER BY 1");
	if (row)
		sqlite3_bind_int64(row, 1, t->q->only ? t->q->only->id : 0);
	while (row && ret == 0 && (ret = query_step(t->q, row)) == 1) {
		if (!any) {
			json_key(j, "deviceProperties");
			json_array(j);
		}
		any = true;
		json_bytes(j, "\n", 1);
		json_object(j);
		json_member_int(j, "id", sqlite3_column_int64(row, 0));
		json_member_text(j, "name", query_text(row, 1));
		put_version(j, query_text(row, 2));
		json_member_int(j, "numSms", sqlite3_column_int64(row, 3));
		json_member_int(j, "warpSize", sqlite3_column_int64(row, 4));
		json_member_int(j, "maxThreadsPerMultiprocessor",
				sqlite3_column_int64(row, 4) * sqlite3_column_int64(row, 5));
		json_member_text(j, "gfx", query_text(row, 2));
		json_object_end(j);
		ret = 0;
	}
	sqlite3_finalize(row);
	if (any) {
		json_array_end(j);
		json_bytes(j, ",\n", 2);
	}
	return ret;
}

/* Readers find the rank with a pattern that requires the space behind the colon. */
static void put_rank(struct trace_events *t)
{
	const struct query_process *process = process_of(t->q);
	int64_t rank = process ? process->rank : -1, world = process ? process->world_size : -1;
	struct json *j = t->json;
	bool ranked = rank >= 0;

	if (!ranked) { /* without ranks the processes are numbered */
		rank = process ? process - t->q->processes : 0;
		world = t->q->nr_processes ? (int64_t)t->q->nr_processes : 1;
	}
	json_bytes(j, "\"distributedInfo\": ", 19);
	j->after_key = true;
	json_object(j);
	j->spaced = true;
	json_member_text(j, "backend", ranked ? "nccl" : "none");
	json_member_int(j, "rank", rank);
	json_member_int(j, "world_size", world > 0 ? world : 1);
	j->spaced = false;
	json_object_end(j);
	json_bytes(j, ",\n", 2);
}

static int put_header(struct trace_events *t, int64_t base_ns)
{
	struct json *j = t->json;
	int ret;

	json_object(j);
	json_member_int(j, "schemaVersion", 1);
	json_bytes(j, ",\n", 2);
	j->more[j->depth] = false;
	ret = put_devices(t);
	j->more[j->depth] = false;
	put_rank(t);
	j->more[j->depth] = false;
	json_member_text(j, "displayTimeUnit", "ms");
	json_member_int(j, "baseTimeNanoseconds", base_ns);
	json_member_text(j, "traceName", t->q->path);
	json_key(j, "rocm_trace_lite");
	json_object(j);
	json_member_text(j, "version", RTL_VERSION_STRING);
	json_member_int(j, "format_version", 1);
	json_member_text(j, "verdict", t->q->verdict.line);
	json_object_end(j);
	json_bytes(j, ",\n\"traceEvents\":", 16);
	j->after_key = true;
	return ret;
}

/* Returns the wall clock time that `ts` counts from, and sets t->base_ns to the same in the trace's
 * clock. Hosts have separate clocks, so the earliest process is that on the wall clock. */
static int64_t choose_base(struct trace_events *t)
{
	const struct query_process *process = process_of(t->q);
	int64_t first = INT64_MAX, base;

	t->base_ns = t->q->first_ns;
	if (!process || !process->realtime_ns)
		return t->base_ns; /* without wall clock: the earliest event */
	for (size_t i = 0; i < t->q->nr_processes; i++) {
		const struct query_process *other = &t->q->processes[i];

		if (other->realtime_ns && other->first_ns > 0 &&
		    other->first_ns + other->realtime_ns < first)
			first = other->first_ns + other->realtime_ns;
	}
	if (first == INT64_MAX)
		first = t->q->first_ns + process->realtime_ns;
	base = first / BASE_STEP * BASE_STEP;
	t->base_ns = base - process->realtime_ns;
	return base;
}

static int fill_file(void *arg, struct json *j)
{
	struct trace_events t = { .q = arg, .json = j };
	int ret = put_header(&t, choose_base(&t));

	json_array(j);
	json_bytes(j, "\n", 1);
	if (ret == 0)
		ret = kineto_events_write(&t);
	json_array_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	t.q->res->nr_ops += t.nr_events;
	return ret;
}

/* ---- files ---- */

/* out.pt.trace.json -> out.rank3.pt.trace.json, or out.pid1234... if ranks are not unique. */
static int name_file(char *name, size_t size, const char *out, const struct query_process *process,
		     bool ranks)
{
	static const char *const endings[] = {
		".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", ".gz", ""
	};
	size_t n = strlen(out), m = 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		m = strlen(endings[i]);
		if (n > m && strcmp(out + n - m, endings[i]) == 0)
			break;
	}
	return snprintf(name, size, "%.*s.%s%lld%s", (int)(n - m), out, ranks ? "rank" : "pid",
			(long long)(ranks ? process->rank : process->pid),
			out + n - m) < (int)size ?
		       0 :
		       -ENAMETOOLONG;
}

static bool ranks_differ(const struct query *q, const bool *wanted)
{
	for (size_t i = 0; i < q->nr_processes; i++) {
		if (wanted[i] && q->processes[i].rank < 0)
			return false;
		for (size_t k = 0; wanted[i] && k < i; k++)
			if (wanted[k] && q->processes[k].rank == q->processes[i].rank)
				return false;
	}
	return true;
}

static int write_each(struct query *q, const char *out, const bool *wanted)
{
	bool ranks = ranks_differ(q, wanted);
	size_t nr = 0;
	char name[4096];
	int ret = 0;

	if (strcmp(out, "-") == 0)
		return query_fail(
			q, -EINVAL,
			"%s: has several processes, but a kineto file has one: use -o NAME",
			q->path);
	for (size_t i = 0; i < q->nr_processes && ret == 0; i++) {
		if (!wanted[i])
			continue;
		if (name_file(name, sizeof(name), out, &q->processes[i], ranks))
			return query_fail(q, -ENAMETOOLONG, "%s: the name is too long", out);
		/* check all names before the first file is written */
		if (!q->opt->force && fd_is_taken(name))
			return query_fail(q, -EEXIST, "%s: exists; use --force to replace it",
					  name);
	}
	for (size_t i = 0; i < q->nr_processes && ret == 0; i++) {
		if (!wanted[i])
			continue;
		name_file(name, sizeof(name), out, &q->processes[i], ranks);
		q->only = &q->processes[i];
		if (q->only->first_ns > 0)
			q->first_ns = q->only->first_ns;
		ret = output_write(q, name, fill_file, q);
		nr += ret == 0;
	}
	q->res->nr_files = nr;
	if (ret == 0)
		snprintf(q->res->warning, sizeof(q->res->warning),
			 "%.400s: holds %zu processes: one file for each, the last one is %.500s",
			 q->path, nr, name);
	return ret;
}

int kineto_write(struct query *q, const char *out)
{
	bool *wanted = alloc_zero(q->nr_processes + 1, sizeof(*wanted));
	size_t nr = 0;
	int ret;

	if (!wanted)
		return query_fail_memory(q);
	for (size_t i = 0; i < q->nr_processes; i++) {
		wanted[i] = query_has_events(q, &q->processes[i]);
		nr += wanted[i];
		if (wanted[i])
			q->only = &q->processes[i];
	}
	if (nr > 1)
		ret = write_each(q, out, wanted);
	else
		ret = output_write(q, out, fill_file, q);
	if (nr <= 1)
		q->res->nr_files = 1;
	alloc_free(wanted);
	return ret;
}
