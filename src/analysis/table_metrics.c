/* SPDX-License-Identifier: MIT */
/* table_metrics.c - how near each kernel came to what its GPU can do: --metrics compute, memory,
 * roofline
 *
 * Rates are of the dispatches that were counted. The clock and the number of units are the agent's
 * in the trace; operations in a cycle and the bandwidth of memory, which a trace does not have, are
 * those of src/counter/data/peaks.csv.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "counter/view.h"
#include "query/kinds.h"

#define MAX_METRICS 256u
#define NAME_SIZE 128u

enum { C_KERNEL, C_GPU, C_METRIC, C_DISPATCHES, C_VALUE, C_UNIT, C_PEAK, C_SHARE, C_MEANING, C_NR };

static const struct sheet_column columns[C_NR] = {
	[C_KERNEL] = { "kernel", "KERNEL", SHEET_NAME },
	[C_GPU] = { "gpu", NULL, SHEET_NAME },
	[C_METRIC] = { "metric", "METRIC", SHEET_NAME },
	[C_DISPATCHES] = { "dispatches", "DISPATCHES", SHEET_COUNT },
	[C_VALUE] = { "value", "VALUE", SHEET_REAL },
	[C_UNIT] = { "unit", "UNIT", SHEET_NAME },
	[C_PEAK] = { "peak", "PEAK", SHEET_REAL },
	[C_SHARE] = { "of_peak", "OF PEAK", SHEET_SHARE },
	[C_MEANING] = { "meaning", NULL, SHEET_NAME },
};

enum {
	R_KERNEL,
	R_GPU,
	R_CUS,
	R_CLOCK,
	R_WAVES,
	R_METRIC,
	R_DISPATCHES,
	R_MEAN,
	R_WEIGHTED,
	R_TIME,
	R_UNIT
};

/* NULL: not measured. */
#define NS "CASE WHEN K.flags & " KINDS_UNTIMED " THEN NULL ELSE O.\"end\" - O.start END"

/* The kernel that took the longest first. Values of percents are weighted by time. */
static const char rows[] =
	"SELECT Y.demangled, coalesce(G.name, ''), coalesce(G.nr_cu, 0), coalesce(G.clock_mhz, 0), "
	"coalesce(G.max_waves_per_cu, 0), N.string, count(*), avg(C.value), sum(C.value * (" NS
	")) / max(sum(" NS "), 1), avg(" NS "), coalesce(U.unit, '') FROM rtl_op_kernel K JOIN "
	"rocpd_op O ON O.id = K.op_id JOIN rocpd_counter C ON C.op_id = O.id JOIN rocpd_string N ON N.id = C.name_id "
	"LEFT JOIN rtl_counter_name U ON U.id = C.name_id JOIN rtl_shape S ON S.id = K.shape_id JOIN "
	"rtl_kernel_symbol Y ON Y.id = S.kernel_id JOIN rtl_queue Q ON Q.id = S.queue_id JOIN rtl_agent G ON G.id = "
	"Q.agent_id GROUP BY 1, 2, 3, 4, 5, N.string ORDER BY sum(sum(" NS ")) OVER (PARTITION BY "
	"Y.demangled) DESC, 1, 2, 3, 4, 5, min(C.id)";

struct value {
	char name[NAME_SIZE];
	double value, time_ns;
	uint64_t dispatches;
};

/* A kernel on a kind of GPU. */
struct kernel {
	char *name, *gpu;
	double cus, clock_mhz, waves;
	const struct counter_peaks *peaks;
	struct value values[MAX_METRICS];
	size_t nr;
	double time_ns; /* of the dispatches of the last value that was looked up */
	uint64_t dispatches;
};

static bool value_of(const char *name, int32_t index, void *arg, double *value)
{
	struct kernel *k = arg;
	const struct counter_peaks none = { .gpu = "" }, *p = k->peaks ? k->peaks : &none;
	const struct {
		const char *name;
		double value;
	} constants[] = { { "TIME_NS", k->time_ns },	 { "CU_NUM", k->cus },
			  { "CLOCK_MHZ", k->clock_mhz }, { "WAVES_PER_CU", k->waves },
			  { "LANES", p->lanes },	 { "FP16", p->fp16 },
			  { "FP32", p->fp32 },		 { "FP64", p->fp64 },
			  { "DRAM_GBS", p->dram_gbs } };

	(void)index;
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (strcmp(name, constants[i].name) != 0)
			continue;
		*value = constants[i].value;
		return true;
	}
	for (size_t i = 0; i < k->nr; i++) {
		if (strcmp(name, k->values[i].name) != 0)
			continue;
		*value = k->values[i].value;
		k->time_ns = k->values[i].time_ns;
		k->dispatches = k->values[i].dispatches;
		return true;
	}
	return false;
}

static void add_row(struct sheet *out, struct kernel *k, const struct counter_view_row *row)
{
	struct sheet_cell cells[C_NR] = { { 0 } };
	double peak = 0;

	k->time_ns = 0;
	if (!view_value(row, value_of, k, &cells[C_VALUE].real))
		return;
	cells[C_KERNEL].text = k->name;
	cells[C_GPU].text = k->gpu;
	cells[C_METRIC].text = row->name;
	cells[C_DISPATCHES].num = k->dispatches;
	cells[C_UNIT].text = row->unit;
	cells[C_MEANING].text = row->meaning;
	cells[C_PEAK].none = cells[C_SHARE].none = !view_peak(row, value_of, k, &peak);
	cells[C_PEAK].real = peak;
	cells[C_SHARE].real = peak > 0 ? cells[C_VALUE].real / peak : 0;
	sheet_row(out, cells);
}

/* Adds the rows of a kernel, and forgets it. */
static void put_kernel(struct tables_job *job, struct kernel *k)
{
	for (uint32_t i = 0; k->name && i < counter_nr_view_rows; i++)
		if (strcmp(counter_view_rows[i].view, job->t->metrics) == 0)
			add_row(job->out, k, &counter_view_rows[i]);
	alloc_free(k->name);
	alloc_free(k->gpu);
	k->name = k->gpu = NULL;
	k->nr = 0;
}

static bool is_same(const struct kernel *k, sqlite3_stmt *row)
{
	return k->name && strcmp(k->name, query_text(row, R_KERNEL)) == 0 &&
	       strcmp(k->gpu, query_text(row, R_GPU)) == 0 &&
	       k->cus == sqlite3_column_double(row, R_CUS) &&
	       k->clock_mhz == sqlite3_column_double(row, R_CLOCK) &&
	       k->waves == sqlite3_column_double(row, R_WAVES);
}

static int begin_kernel(struct kernel *k, sqlite3_stmt *row)
{
	const struct counter_gpu *gpu = gpus_find(query_text(row, R_GPU));

	k->name = alloc_string(query_text(row, R_KERNEL));
	k->gpu = alloc_string(query_text(row, R_GPU));
	k->cus = sqlite3_column_double(row, R_CUS);
	k->clock_mhz = sqlite3_column_double(row, R_CLOCK);
	k->waves = sqlite3_column_double(row, R_WAVES);
	k->peaks = gpu ? view_peaks(gpu->name) : NULL;
	return k->name && k->gpu ? 0 : -ENOMEM;
}

static void add_value(struct kernel *k, sqlite3_stmt *row)
{
	const char *unit = query_text(row, R_UNIT);
	bool is_share = strcmp(unit, "percent") == 0 || strcmp(unit, "ratio") == 0;
	struct value *v = &k->values[k->nr];

	if (k->nr == MAX_METRICS)
		return;
	*v = (struct value){ .value = sqlite3_column_double(row, is_share ? R_WEIGHTED : R_MEAN),
			     .time_ns = sqlite3_column_double(row, R_TIME),
			     .dispatches = (uint64_t)sqlite3_column_int64(row, R_DISPATCHES) };
	snprintf(v->name, sizeof(v->name), "%s", query_text(row, R_METRIC));
	k->nr++;
}

/* Where the peaks come from: a line for each kind of GPU. */
static void note_peaks(struct sheet *out, const struct kernel *k)
{
	sheet_note(out, "%s: peaks of %.0f compute units at %.0f MHz, which the trace has%s%s%s",
		   k->gpu, k->cus, k->clock_mhz,
		   k->peaks && k->peaks->dram_gbs > 0 ? "; memory as of " : "",
		   k->peaks && k->peaks->dram_gbs > 0 ? k->peaks->dram_of : "",
		   k->peaks && k->peaks->dram_gbs > 0 ? "" :
							"; the bandwidth of memory is not known");
}

struct metrics {
	struct tables_job *job;
	struct kernel *kernel;
	char said[64]; /* the GPU of the last note */
};

static int take_value(void *arg, sqlite3_stmt *row)
{
	struct metrics *m = arg;
	int ret = 0;

	if (!is_same(m->kernel, row)) {
		put_kernel(m->job, m->kernel);
		ret = begin_kernel(m->kernel, row);
		if (ret == 0 && strcmp(m->said, m->kernel->gpu) != 0)
			note_peaks(m->job->out, m->kernel);
		if (ret == 0)
			snprintf(m->said, sizeof(m->said), "%s", m->kernel->gpu);
	}
	if (ret == 0)
		add_value(m->kernel, row);
	return ret;
}

int table_metrics_end(struct tables_job *job)
{
	sqlite3 *db = job->t->q->db;
	struct metrics m = { .job = job, .kernel = alloc_zero(1, sizeof(*m.kernel)) };
	int ret = m.kernel ? 0 : query_fail_memory(job->t->q);

	sheet_columns(job->out, columns, C_NR);
	if (ret == 0 && query_has(db, "rocpd_counter") && query_has(db, "rtl_counter_name"))
		ret = tables_rows(job->t, rows, take_value, &m);
	if (m.kernel)
		put_kernel(job, m.kernel);
	alloc_free(m.kernel);
	return ret;
}
