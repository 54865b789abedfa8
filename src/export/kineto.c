/* SPDX-License-Identifier: MIT */
/* kineto.c - kineto's dialect of Chrome JSON: the header, and one file for each process
 *
 * Readers take a file for one rank, and compare files by their `ts`: all files of a week count from
 * the same instant of the wall clock. It is so near that a double holds their nanoseconds.
 *
 * Not here: events (kineto_events.c).
 */
#include "export/kineto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/kineto_internal.h"
#include "rtl_version.h"
#include "store/verdict.h"

#define BASE_STEP (INT64_C(7) * 86400 * 1000000000)

/* ---- header ---- */

/* gfx90a: 9, 0; gfx1100: 11, 0. The last two digits are minor version and stepping. */
static void put_version(struct json *j, const char *isa)
{
	const char *digits = isa + strspn(isa, "gfx");
	size_t n = strspn(digits, "0123456789abcdef");
	int64_t major = 0;

	if (strncmp(isa, "gfx", 3) != 0 || n < 3)
		return;
	for (size_t i = 0; i < n - 2; i++)
		major = major * 10 + (digits[i] - '0');
	json_key(j, "computeMajor");
	json_int(j, major);
	json_key(j, "computeMinor");
	json_int(j, digits[n - 2] <= '9' ? digits[n - 2] - '0' : digits[n - 2] - 'a' + 10);
}

/* Readers take the first element of an array for granted: where no GPU is known there is none. */
static int put_devices(struct perfetto *p)
{
	struct json *j = &p->json;
	sqlite3_stmt *row = NULL;
	bool any = false;
	int ret = 0;

	if (p->ours)
		ret = perfetto_prepare(
			p, &row,
			"SELECT DISTINCT gpu_id % 1000, coalesce(nullif(product, ''), name), name, "
			"nr_cu, wave_size, max_waves_per_cu FROM rtl_agent WHERE type = 'GPU' AND "
			"gpu_id >= 0 AND (?1 = 0 OR process_id = ?1) ORDER BY 1");
	if (row)
		sqlite3_bind_int64(row, 1, p->only ? p->only->id : 0);
	while (row && ret == 0 && (ret = perfetto_step(p, row)) == 1) {
		if (!any) {
			json_key(j, "deviceProperties");
			json_array(j);
		}
		any = true;
		json_bytes(j, "\n", 1);
		json_object(j);
		json_key(j, "id");
		json_int(j, sqlite3_column_int64(row, 0));
		json_key(j, "name");
		json_text(j, perfetto_column_text(row, 1));
		put_version(j, perfetto_column_text(row, 2));
		json_key(j, "numSms");
		json_int(j, sqlite3_column_int64(row, 3));
		json_key(j, "warpSize");
		json_int(j, sqlite3_column_int64(row, 4));
		json_key(j, "maxThreadsPerMultiprocessor");
		json_int(j, sqlite3_column_int64(row, 4) * sqlite3_column_int64(row, 5));
		json_key(j, "gfx");
		json_text(j, perfetto_column_text(row, 2));
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

/* Readers look for the rank with a pattern that wants the space behind the colon. */
static void put_rank(struct perfetto *p)
{
	const struct perfetto_process *process = p->only	 ? p->only :
						 p->nr_processes ? &p->processes[0] :
								   NULL;
	int64_t rank = process ? process->rank : -1, world = process ? process->world_size : -1;
	struct json *j = &p->json;
	bool ranked = rank >= 0;

	if (!ranked) { /* without ranks the processes are numbered */
		rank = process ? process - p->processes : 0;
		world = p->nr_processes ? (int64_t)p->nr_processes : 1;
	}
	json_bytes(j, "\"distributedInfo\": ", 19);
	j->after_key = true;
	json_object(j);
	j->spaced = true;
	json_key(j, "backend");
	json_text(j, ranked ? "nccl" : "none");
	json_key(j, "rank");
	json_int(j, rank);
	json_key(j, "world_size");
	json_int(j, world > 0 ? world : 1);
	j->spaced = false;
	json_object_end(j);
	json_bytes(j, ",\n", 2);
}

static int put_header(struct perfetto *p, int64_t base_ns, const char *db_path)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	struct load_error error;
	struct json *j = &p->json;
	int ret;

	if (!v)
		return perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
	verdict_of_db(v, db_path, &error);
	p->res->complete = v->complete;
	p->res->nr_lost = v->nr_lost;
	snprintf(p->res->verdict, sizeof(p->res->verdict), "%s", v->line);
	alloc_free(v);
	json_object(j);
	json_key(j, "schemaVersion");
	json_int(j, 1);
	json_bytes(j, ",\n", 2);
	j->more[j->depth] = false;
	ret = put_devices(p);
	j->more[j->depth] = false;
	put_rank(p);
	j->more[j->depth] = false;
	json_key(j, "displayTimeUnit");
	json_text(j, "ms");
	json_key(j, "baseTimeNanoseconds");
	json_int(j, base_ns);
	json_key(j, "traceName");
	json_text(j, p->path);
	json_key(j, "rocm_trace_lite");
	json_object(j);
	json_key(j, "version");
	json_text(j, RTL_VERSION_STRING);
	json_key(j, "format_version");
	json_int(j, 1);
	json_key(j, "verdict");
	json_text(j, p->res->verdict);
	json_object_end(j);
	json_bytes(j, ",\n\"traceEvents\":", 16);
	j->after_key = true;
	return ret;
}

/* `ts` counts from base: what it is in the clock of the trace goes to p->base_ns. Hosts have clocks of
 * their own, so the earliest process is looked for on the wall clock. */
static int64_t choose_base(struct perfetto *p)
{
	const struct perfetto_process *process = p->only	 ? p->only :
						 p->nr_processes ? &p->processes[0] :
								   NULL;
	int64_t first = INT64_MAX, base;

	p->base_ns = p->first_ns;
	if (!process || !process->realtime_ns)
		return p->base_ns; /* no wall clock: from the earliest event */
	for (size_t i = 0; i < p->nr_processes; i++) {
		const struct perfetto_process *other = &p->processes[i];

		if (other->realtime_ns && other->first_ns > 0 &&
		    other->first_ns + other->realtime_ns < first)
			first = other->first_ns + other->realtime_ns;
	}
	if (first == INT64_MAX)
		first = p->first_ns + process->realtime_ns;
	base = first / BASE_STEP * BASE_STEP;
	p->base_ns = base - process->realtime_ns;
	return base;
}

static int write_events(struct perfetto *p, const char *db_path)
{
	int ret = put_header(p, choose_base(p), db_path);

	json_array(&p->json);
	json_bytes(&p->json, "\n", 1);
	if (ret == 0)
		ret = kineto_events_write(p);
	json_array_end(&p->json);
	json_object_end(&p->json);
	json_bytes(&p->json, "\n", 1);
	return ret;
}

/* ---- files ---- */

/* Whether there is anything of it to tell. */
static bool has_events(struct perfetto *p, const struct perfetto_process *process)
{
	char sql[512];

	snprintf(
		sql, sizeof(sql),
		"SELECT EXISTS (SELECT 1 FROM rocpd_op WHERE id BETWEEN %lld AND %lld) OR EXISTS (SELECT 1 "
		"FROM rocpd_api A JOIN rocpd_string D ON D.id = A.domain_id WHERE A.id BETWEEN %lld AND "
		"%lld AND D.string <> 'rtl')",
		(long long)process->id_first, (long long)process->id_last,
		(long long)process->id_first, (long long)process->id_last);
	return perfetto_number(p, sql, 0) != 0;
}

/* out.pt.trace.json -> out.rank3.pt.trace.json, or out.pid1234... where ranks do not tell them apart. */
static int name_file(char *name, size_t size, const char *out,
		     const struct perfetto_process *process, bool ranks)
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

static bool ranks_differ(const struct perfetto *p, const bool *wanted)
{
	for (size_t i = 0; i < p->nr_processes; i++) {
		if (wanted[i] && p->processes[i].rank < 0)
			return false;
		for (size_t k = 0; wanted[i] && k < i; k++)
			if (wanted[k] && p->processes[k].rank == p->processes[i].rank)
				return false;
	}
	return true;
}

static int write_each(struct perfetto *p, const char *db_path, const char *out, const bool *wanted)
{
	bool ranks = ranks_differ(p, wanted);
	size_t nr = 0;
	char name[4096];
	int ret = 0;

	if (strcmp(out, "-") == 0)
		return perfetto_fail(
			p, -EINVAL,
			"%s: holds several processes, and a file of kineto's one: -o NAME",
			p->path);
	for (size_t i = 0; i < p->nr_processes && ret == 0; i++) {
		if (!wanted[i])
			continue;
		if (name_file(name, sizeof(name), out, &p->processes[i], ranks))
			return perfetto_fail(p, -ENAMETOOLONG, "%s: the name is too long", out);
		/* all or nothing, as far as that can be told beforehand */
		if (!p->opt->force && access(name, F_OK) == 0)
			return perfetto_fail(p, -EEXIST, "%s: exists; --force replaces it", name);
	}
	for (size_t i = 0; i < p->nr_processes && ret == 0; i++) {
		if (!wanted[i])
			continue;
		name_file(name, sizeof(name), out, &p->processes[i], ranks);
		p->only = &p->processes[i];
		if (p->only->first_ns > 0)
			p->first_ns = p->only->first_ns;
		ret = perfetto_output(p, name, write_events, db_path);
		nr += ret == 0;
	}
	p->res->nr_processes = nr;
	if (ret == 0)
		snprintf(p->res->warning, sizeof(p->res->warning),
			 "%.400s: holds %zu processes: one file for each, the last one is %.500s",
			 p->path, nr, name);
	return ret;
}

static int write_files(struct perfetto *p, const char *db_path, const char *out)
{
	bool *wanted = alloc_zero(p->nr_processes + 1, sizeof(*wanted));
	size_t nr = 0;
	int ret;

	if (!wanted)
		return perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
	for (size_t i = 0; i < p->nr_processes; i++) {
		wanted[i] = has_events(p, &p->processes[i]);
		nr += wanted[i];
		if (wanted[i])
			p->only = &p->processes[i];
	}
	if (nr > 1)
		ret = write_each(p, db_path, out, wanted);
	else
		ret = perfetto_output(p, out, write_events, db_path);
	if (nr <= 1)
		p->res->nr_processes = 1;
	alloc_free(wanted);
	return ret;
}

int kineto_write(const char *const *inputs, size_t nr, const char *out,
		 const struct rpd_options *opt, struct rpd_result *res)
{
	return perfetto_convert(inputs, nr, out, opt, res, write_files);
}
