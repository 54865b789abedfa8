/* SPDX-License-Identifier: MIT */
/* selftest_check.c - compares what the self-test's program knows of its run with the trace:
 * numbers, order, names, ways in, faces
 *
 * Each scenario first runs untraced. If it is wrong then, the fault is not tracing's, and the
 * checks of the traced run are skipped.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rocr.h"
#include "cli/selftest/selftest.h"
#include "cli/trace/probe.h"
#include "cli/ui.h"
#include "query/query.h"

/* Of the host's clock and the GPU's, after the runtime has converted the latter. */
#define CLOCK_TOLERANCE_NS 20000
#define EXIT_STATUS 42

#define KERNEL_A "rtl_selftest_count_a"
#define KERNEL_B "rtl_selftest_count_b"
#define OURS "kernel IN ('" KERNEL_A "', '" KERNEL_B "')"
#define TIMED "flags & 46 = 0" /* inverted, without times, unfinished, internal */
#define ENDED "flags & 8 = 0"

/* ---- databases ------------------------------------------------------------------------------- */

sqlite3 *selftest_open(struct selftest *s, enum selftest_id id, const struct selftest_run *run)
{
	sqlite3 *db = NULL;

	if (!run->db[0]) {
		selftest_set(s, id, SELFTEST_FAIL, "no trace was written");
		return NULL;
	}
	if (query_open_file(&db, run->db) == SQLITE_OK)
		return db;
	selftest_set(s, id, SELFTEST_FAIL, "the trace can't be opened: %s", sqlite3_errmsg(db));
	sqlite3_close(db);
	return NULL;
}

int64_t selftest_query(sqlite3 *db, const char *sql)
{
	return query_number(db, sql, -1);
}

__attribute__((format(printf, 2, 3))) static int64_t query_with(sqlite3 *db, const char *fmt, ...)
{
	char sql[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	return selftest_query(db, sql);
}

/* The text of the first row; released by free(). */
static char *query_words(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	const unsigned char *text = NULL;
	char *out;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		text = sqlite3_column_text(stmt, 0);
	out = ui_format("%s", text ? (const char *)text : "");
	sqlite3_finalize(stmt);
	return out;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Whether all kernels that were launched have counted themselves. */
static bool check_counted(struct selftest *s, enum selftest_id id, const struct selftest_run *run)
{
	uint64_t launched = selftest_number(&run->account, "launched_a") +
			    selftest_number(&run->account, "launched_b");
	uint64_t counted = selftest_number(&run->account, "counted_a") +
			   selftest_number(&run->account, "counted_b");
	bool good = launched && launched == counted;

	selftest_set(s, id, good ? SELFTEST_PASS : SELFTEST_FAIL,
		     "%" PRIu64 " kernels launched, %" PRIu64 " counted themselves%s", launched,
		     counted, good ? "" : ", without tracing");
	return good;
}

/* Whether the trace has the dispatches of both kernels that were counted. */
static bool check_dispatches(struct selftest *s, enum selftest_id id,
			     const struct selftest_run *run, sqlite3 *db)
{
	int64_t a = (int64_t)selftest_number(&run->account, "counted_a"),
		b = (int64_t)selftest_number(&run->account, "counted_b");
	int64_t got_a = selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE " ENDED
					   " AND kernel = '" KERNEL_A "'"),
		got_b = selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE " ENDED
					   " AND kernel = '" KERNEL_B "'");
	int64_t open =
		selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE flags & 8 AND " OURS);
	bool good = a == got_a && b == got_b && a + b > 0;
	char more[64] = "";

	if (open > 0)
		snprintf(more, sizeof(more), "; %" PRId64 " more as unfinished", open);
	selftest_set(s, id, good ? SELFTEST_PASS : SELFTEST_FAIL,
		     "%" PRId64 " + %" PRId64 " counted by the GPU, %" PRId64 " + %" PRId64
		     " in the trace%s",
		     a, b, got_a, got_b, more);
	return good;
}

/* The numbers of each GPU, largest first: how HIP numbers GPUs need not be how HSA does. */
static int compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

static void check_gpus(struct selftest *s, const struct selftest_run *run, sqlite3 *db)
{
	int64_t want[64] = { 0 }, got[64] = { 0 };
	size_t nr = selftest_number(&run->account, "gpus"), i = 0;
	sqlite3_stmt *stmt = NULL;
	bool good = true;

	for (size_t g = 0; g < nr && g < 64; g++) {
		char key[32];

		snprintf(key, sizeof(key), "gpu%zu_counted", g);
		want[g] = (int64_t)selftest_number(&run->account, key);
	}
	if (sqlite3_prepare_v2(db,
			       "SELECT count(*) FROM rtl_dispatch WHERE " OURS " GROUP BY agent",
			       -1, &stmt, NULL) == SQLITE_OK)
		while (i < 64 && sqlite3_step(stmt) == SQLITE_ROW)
			got[i++] = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	qsort(want, 64, sizeof(want[0]), compare_numbers);
	qsort(got, 64, sizeof(got[0]), compare_numbers);
	for (size_t g = 0; g < 64; g++)
		good &= want[g] == got[g];
	selftest_set(s, SELFTEST_GPUS, good ? SELFTEST_PASS : SELFTEST_FAIL,
		     "%zu GPU%s, %zu in the trace%s", nr, nr == 1 ? "" : "s", i,
		     good ? ", with the same numbers" : ", or other numbers of dispatches");
}

static void check_calls(struct selftest *s, const struct selftest_run *run, sqlite3 *db)
{
	int64_t launched = (int64_t)(selftest_number(&run->account, "launched_a") +
				     selftest_number(&run->account, "launched_b"));
	int64_t threads = (int64_t)selftest_number(&run->account, "threads");
	int64_t calls = selftest_query(db, "SELECT count(*) FROM rtl_api WHERE domain = 'hip' AND "
					   "name = 'hipModuleLaunchKernel' AND status = 0");
	int64_t tids = selftest_query(db, "SELECT count(DISTINCT tid) FROM rtl_api WHERE domain = "
					  "'hip' AND name = 'hipModuleLaunchKernel'");
	int64_t joined = selftest_query(
		db,
		"SELECT count(DISTINCT A.api_id) FROM rtl_dispatch D JOIN rtl_api A ON "
		"A.correlation_id = D.correlation_id AND A.name = 'hipModuleLaunchKernel' WHERE "
		"D.correlation_id <> 0 AND D." OURS);
	int64_t alone = selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE " OURS
					   " AND correlation_id = 0");

	selftest_set(s, SELFTEST_THREADS, tids == threads ? SELFTEST_PASS : SELFTEST_FAIL,
		     "%" PRId64 " threads launched, %" PRId64 " in the trace", threads, tids);
	selftest_set(s, SELFTEST_CALLS,
		     calls == launched && joined >= launched - 1 && alone <= 0 ? SELFTEST_PASS :
										 SELFTEST_FAIL,
		     "%" PRId64 " launches, %" PRId64 " calls in the trace, %" PRId64
		     " with their dispatch, %" PRId64 " dispatches without a call",
		     launched, calls, joined, alone);
}

/* Of records; times are another check's. */
#define LOST " FROM rtl_loss WHERE class = 'loss' AND count > 0 AND reason <> 'no_timestamps'"

static void check_complete(struct selftest *s, sqlite3 *db)
{
	int64_t losses = selftest_query(db, "SELECT count(*)" LOST);
	char *first = query_words(db, "SELECT reason || ': ' || count || ' ' || text" LOST);

	if (losses == 0)
		selftest_set(s, SELFTEST_COMPLETE, SELFTEST_PASS, "no record was lost");
	else
		selftest_set(s, SELFTEST_COMPLETE, SELFTEST_FAIL,
			     "%" PRId64 " losses, the first: %s", losses, first);
	free(first);
}

static void check_result(struct selftest *s, const struct selftest_run *plain,
			 const struct selftest_run *traced)
{
	bool same = traced->status == EXIT_STATUS;
	static const char *const keys[] = { "launched_a", "launched_b", "counted_a", "counted_b" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		same &= selftest_number(&plain->account, keys[i]) ==
			selftest_number(&traced->account, keys[i]);
	selftest_set(s, SELFTEST_RESULT, same ? SELFTEST_PASS : SELFTEST_FAIL,
		     "exit status %d of %d, %" PRIu64 " kernels counted untraced, %" PRIu64
		     " traced",
		     traced->status, EXIT_STATUS,
		     selftest_number(&plain->account, "counted_a") +
			     selftest_number(&plain->account, "counted_b"),
		     selftest_number(&traced->account, "counted_a") +
			     selftest_number(&traced->account, "counted_b"));
}

/* ---- order ----------------------------------------------------------------------------------- */

static void check_times(struct selftest *s, sqlite3 *db)
{
	int64_t all =
		selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE " ENDED " AND " OURS);
	int64_t none = selftest_query(db,
				      "SELECT count(*) FROM rtl_dispatch WHERE " ENDED " AND " OURS
				      " AND (flags & 4 OR begin_ns = 0 OR end_ns = 0)");
	int64_t inverted = selftest_query(db, "SELECT count(*) FROM rtl_dispatch WHERE " ENDED
					      " AND " OURS " AND end_ns < begin_ns AND end_ns > 0");

	selftest_set(s, SELFTEST_TIMES,
		     all > 0 && none == 0 && inverted == 0 ? SELFTEST_PASS : SELFTEST_FAIL,
		     "of %" PRId64 " dispatches %" PRId64 " have no times, %" PRId64
		     " end before they begin",
		     all, none, inverted);
}

/* In ticks of the GPU, so that no conversion matters; a tick apart is the counter's own step. Those
 * that the clocks' check finds are left out: they lie anywhere. */
static void check_queue(struct selftest *s, enum selftest_id id, const struct selftest_run *run,
			sqlite3 *db)
{
#define SUCCESSIVE                                                                                  \
	"SELECT count(*) FROM (SELECT begin_ticks, lag(end_ticks) OVER (PARTITION BY agent, queue " \
	"ORDER BY packet_index) AS before FROM rtl_dispatch WHERE " TIMED " AND " OURS              \
	" AND begin_ns >= %" PRIu64 " AND end_ns <= %" PRIu64 ") WHERE before IS NOT NULL"
	uint64_t first = selftest_number(&run->account, "first_ns") - CLOCK_TOLERANCE_NS,
		 last = selftest_number(&run->account, "last_ns") + CLOCK_TOLERANCE_NS;
	int64_t pairs = query_with(db, SUCCESSIVE, first, last);
	int64_t wrong = query_with(db, SUCCESSIVE " AND begin_ticks + 1 < before", first, last);

	selftest_set(s, id, pairs > 0 && wrong == 0 ? SELFTEST_PASS : SELFTEST_FAIL,
		     "of %" PRId64 " successive dispatches of a queue %" PRId64 " overlap", pairs,
		     wrong);
}

/* Begin after the launch was called and after the program began to launch, end before its wait
 * returned. */
static void check_clocks(struct selftest *s, const struct selftest_run *run, sqlite3 *db)
{
	uint64_t first = selftest_number(&run->account, "first_ns"),
		 last = selftest_number(&run->account, "last_ns");
	int64_t early = query_with(
		db,
		"SELECT count(*) FROM rtl_dispatch D LEFT JOIN rtl_api A ON A.correlation_id = "
		"D.correlation_id AND D.correlation_id <> 0 WHERE D.flags & 46 = 0 AND D." OURS
		" AND D.begin_ns + %d < max(%" PRIu64 ", ifnull(A.begin_ns, 0))",
		CLOCK_TOLERANCE_NS, first);
	int64_t late = query_with(db,
				  "SELECT count(*) FROM rtl_dispatch WHERE " TIMED " AND " OURS
				  " AND end_ns > %" PRIu64,
				  last + CLOCK_TOLERANCE_NS);
	int64_t head = query_with(db,
				  "SELECT min(begin_ns) - %" PRIu64
				  " FROM rtl_dispatch WHERE " TIMED " AND " OURS,
				  first);
	int64_t tail = query_with(db,
				  "SELECT %" PRIu64 " - max(end_ns) FROM rtl_dispatch WHERE " TIMED
				  " AND " OURS,
				  last);

	selftest_set(s, SELFTEST_CLOCKS,
		     first && last && early == 0 && late == 0 ? SELFTEST_PASS : SELFTEST_FAIL,
		     "%" PRId64 " begin before their launch, %" PRId64
		     " end after the wait; first begin %.1f us after, last end %.1f us before",
		     early, late, (double)head / 1e3, (double)tail / 1e3);
}

/* ---- scenarios ------------------------------------------------------------------------------- */

void selftest_probe(struct selftest *s)
{
	struct selftest_run run;
	struct selftest_play hiprtc = { .scenario = "count",
					.args = "threads=1 streams=1 launches=4 compiler=hiprtc",
					.way = WAY_NONE };
	const char *compiler;

	selftest_play(s, &(struct selftest_play){ .scenario = "probe" }, &run);
	s->machine = run.account;
	s->has_hip = selftest_number(&run.account, "hip_gpus") > 0;
	compiler = selftest_text(&run.account, "compiler");
	if (!selftest_number(&run.account, "code_bytes"))
		selftest_set(s, SELFTEST_GPU, SELFTEST_FAIL, "%s",
			     run.why[0] ? run.why : "the program wrote no account");
	else
		selftest_set(s, SELFTEST_GPU, SELFTEST_PASS, "%s GPU%s of HSA, %s of HIP; %s, %s",
			     selftest_text(&run.account, "gpus"),
			     selftest_number(&run.account, "gpus") == 1 ? "" : "s",
			     s->has_hip ? selftest_text(&run.account, "hip_gpus") : "none",
			     selftest_text(&run.account, "gpu0_isa"), compiler);
	run.account.text = NULL; /* it lives on in s->machine */
	selftest_done(&run);
	if (!s->has_hip || !selftest_wants(s, SELFTEST_HIPRTC, SELFTEST_HIPRTC))
		return;
	/* its code is not to come from the file */
	hiprtc.args = "threads=1 streams=1 launches=4 compiler=hiprtc code=/dev/null/none";
	selftest_play(s, &hiprtc, &run);
	if (selftest_went_well(s, SELFTEST_HIPRTC, &run, 0))
		check_counted(s, SELFTEST_HIPRTC, &run);
	selftest_done(&run);
}

void selftest_count(struct selftest *s)
{
	const char *args = s->quick ? "threads=3 streams=2 launches=40" :
				      "threads=8 streams=4 launches=500";
	char *with = ui_keep(ui_format("%s exit=%d", args, EXIT_STATUS));
	struct selftest_run plain, traced;
	sqlite3 *db = NULL;
	bool good;

	selftest_play(s, &(struct selftest_play){ .scenario = "count", .args = args }, &plain);
	good = selftest_went_well(s, SELFTEST_COUNT, &plain, 0) &&
	       check_counted(s, SELFTEST_COUNT, &plain);
	if (good && selftest_wants(s, SELFTEST_TRACED, SELFTEST_CLOCKS)) {
		selftest_play(s,
			      &(struct selftest_play){ .scenario = "count",
						       .args = with,
						       .way = WAY_RTL,
						       .mode = "hip" },
			      &traced);
		check_result(s, &plain, &traced);
		if (selftest_went_well(s, SELFTEST_TRACED, &traced, EXIT_STATUS))
			db = selftest_open(s, SELFTEST_TRACED, &traced);
		if (db) {
			check_dispatches(s, SELFTEST_TRACED, &traced, db);
			check_gpus(s, &traced, db);
			check_calls(s, &traced, db);
			check_complete(s, db);
			check_times(s, db);
			check_queue(s, SELFTEST_STREAM, &traced, db);
			check_clocks(s, &traced, db);
		}
		sqlite3_close(db);
		selftest_done(&traced);
	}
	selftest_rest(s, SELFTEST_COUNT, SELFTEST_CLOCKS, SELFTEST_SKIP,
		      good ? "the traced run failed" : "the program fails without tracing, too");
	selftest_done(&plain);
}

/* Number and bytes of the large transfers of a kind. */
static bool same_copies(sqlite3 *db, const struct selftest_account *a, const char *kind,
			const char *number, const char *bytes, char *text, size_t size)
{
	int64_t nr = query_with(
		db, "SELECT count(*) FROM rtl_transfer WHERE kind = '%s' AND bytes >= 1048576",
		kind);
	int64_t sum = query_with(
		db, "SELECT sum(bytes) FROM rtl_transfer WHERE kind = '%s' AND bytes >= 1048576",
		kind);
	bool good = nr == (int64_t)selftest_number(a, number) &&
		    sum == (int64_t)selftest_number(a, bytes) && nr > 0;

	if (!good && !*text)
		snprintf(text, size,
			 "%s: %s of %s bytes were made, %" PRId64 " of %" PRId64
			 " are in the trace",
			 kind, selftest_text(a, number), selftest_text(a, bytes), nr,
			 sum < 0 ? 0 : sum);
	return good;
}

void selftest_copies(struct selftest *s)
{
	const char *args = s->quick ? "rounds=2" : "rounds=20";
	struct selftest_run run;
	char text[256] = "";
	bool good = true;
	sqlite3 *db;

	selftest_play(s, &(struct selftest_play){ .scenario = "copies", .args = args }, &run);
	good = selftest_went_well(s, SELFTEST_COPY, &run, 0);
	if (good)
		selftest_set(
			s, SELFTEST_COPY, SELFTEST_PASS,
			"%s each to the GPU, on it, back, filled and back; every byte compared",
			selftest_text(&run.account, "fills"));
	selftest_done(&run);
	if (!good || !selftest_wants(s, SELFTEST_COPY_NR, SELFTEST_COPY_NR)) {
		selftest_rest(s, SELFTEST_COPY, SELFTEST_COPY_NR, SELFTEST_SKIP,
			      "the program fails without tracing, too");
		return;
	}
	selftest_play(s,
		      &(struct selftest_play){
			      .scenario = "copies", .args = args, .way = WAY_RTL, .mode = "hip" },
		      &run);
	db = selftest_went_well(s, SELFTEST_COPY_NR, &run, 0) ?
		     selftest_open(s, SELFTEST_COPY_NR, &run) :
		     NULL;
	if (db) {
		good = same_copies(db, &run.account, "HostToDevice", "to_device", "bytes_to_device",
				   text, sizeof(text)) &
		       same_copies(db, &run.account, "DeviceToHost", "to_host", "bytes_to_host",
				   text, sizeof(text)) &
		       same_copies(db, &run.account, "DeviceToDevice", "on_device",
				   "bytes_on_device", text, sizeof(text)) &
		       same_copies(db, &run.account, "Fill", "fills", "bytes_filled", text,
				   sizeof(text));
		selftest_set(s, SELFTEST_COPY_NR, good ? SELFTEST_PASS : SELFTEST_FAIL, "%s",
			     good ? "each with its kind and bytes" : text);
	}
	sqlite3_close(db);
	selftest_done(&run);
}

/* A scenario that counts kernels, untraced and traced. `order`: of queues, too. */
static void count_twice(struct selftest *s, const struct selftest_play *play,
			enum selftest_id plain, enum selftest_id traced, enum selftest_id last)
{
	struct selftest_play first = *play;
	struct selftest_run run;
	sqlite3 *db;
	bool good;

	first.way = WAY_NONE;
	selftest_play(s, &first, &run);
	good = selftest_went_well(s, plain, &run, 0) && check_counted(s, plain, &run);
	if (run.lacks)
		selftest_rest(s, plain, last, SELFTEST_SKIP, run.why);
	selftest_done(&run);
	if (good && selftest_wants(s, traced, last)) {
		selftest_play(s, play, &run);
		db = selftest_went_well(s, traced, &run, 0) ? selftest_open(s, traced, &run) : NULL;
		if (db)
			check_dispatches(s, traced, &run, db);
		if (db && last != traced)
			check_queue(s, last, &run, db);
		sqlite3_close(db);
		selftest_done(&run);
	}
	selftest_rest(s, plain, last, SELFTEST_SKIP,
		      good ? "the traced run failed" : "the program fails without tracing, too");
}

void selftest_graphs(struct selftest *s)
{
	count_twice(s,
		    &(struct selftest_play){ .scenario = "graphs",
					     .args = s->quick ? "replays=5" : "replays=100",
					     .way = WAY_RTL },
		    SELFTEST_GRAPH, SELFTEST_GRAPH_NR, SELFTEST_GRAPH_NR);
}

void selftest_hsa(struct selftest *s)
{
	count_twice(s,
		    &(struct selftest_play){ .scenario = "hsa",
					     .args = s->quick ? "launches=100" : "launches=2000",
					     .way = WAY_RTL,
					     .mode = "standard" },
		    SELFTEST_HSA, SELFTEST_HSA_NR, SELFTEST_HSA_ORDER);
}

/* One traced run whose dispatches are compared with what was counted. */
static void count_once(struct selftest *s, enum selftest_id id, const struct selftest_play *play,
		       int status)
{
	struct selftest_run run;
	sqlite3 *db = NULL;

	if (!selftest_wants(s, id, id))
		return;
	selftest_play(s, play, &run);
	if (selftest_went_well(s, id, &run, status))
		db = selftest_open(s, id, &run);
	if (db)
		check_dispatches(s, id, &run, db);
	sqlite3_close(db);
	selftest_done(&run);
}

void selftest_kill(struct selftest *s)
{
	count_once(s, SELFTEST_KILL,
		   &(struct selftest_play){ .scenario = "count",
					    .args = "threads=2 streams=2 launches=40 kill=1",
					    .way = WAY_RTL },
		   128 + 9);
}

/* NULL: rocprofiler-register is there and the runtime uses it, else why not. */
static const char *lacks_register(const struct selftest *s)
{
	struct probe_result *r = calloc(1, sizeof(*r));
	struct rocr rocr;
	const char *why = NULL;

	if (!r)
		ui_die_memory();
	if (!rocr_read(&rocr, selftest_text(&s->machine, "hsa_path")) || !rocr.registers)
		why = "this HSA runtime does not use rocprofiler-register (ROCm 6.1 and later do)";
	else
		probe_library(r, "librocprofiler-register.so.0", NULL, NULL);
	if (!why && !r->loaded)
		why = "librocprofiler-register.so.0 is not found by the loader";
	free(r);
	return why;
}

void selftest_ways(struct selftest *s)
{
	struct selftest_play play = { .scenario = "count",
				      .args = "threads=2 streams=2 launches=40" };
	static const struct {
		enum selftest_id id;
		enum selftest_way way;
		const char *mode;
	} rows[] = {
		{ SELFTEST_TOOLS, WAY_TOOLS, NULL },	    { SELFTEST_PRELOAD, WAY_PRELOAD, NULL },
		{ SELFTEST_REGISTER, WAY_REGISTER, NULL },  { SELFTEST_LITE, WAY_RTL, "lite" },
		{ SELFTEST_STANDARD, WAY_RTL, "standard" }, { SELFTEST_FULL, WAY_RTL, "full" },
	};
	const char *why =
		selftest_wants(s, SELFTEST_REGISTER, SELFTEST_REGISTER) ? lacks_register(s) : NULL;

	if (why)
		selftest_set(s, SELFTEST_REGISTER, SELFTEST_SKIP, "%s", why);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (why && rows[i].id == SELFTEST_REGISTER)
			continue;
		play.way = rows[i].way;
		play.mode = rows[i].mode;
		count_once(s, rows[i].id, &play, 0);
	}
}

/* ---- faces ----------------------------------------------------------------------------------- */

static void check_ranges(struct selftest *s)
{
	struct selftest_run run;
	int64_t rounds, outer, inner, marks, a, b;
	sqlite3 *db = NULL;

	selftest_play(s, &(struct selftest_play){ .scenario = "ranges", .way = WAY_RTL }, &run);
	if (selftest_went_well(s, SELFTEST_ROCTX, &run, 0))
		db = selftest_open(s, SELFTEST_ROCTX, &run);
	if (db) {
#define RANGES(name) "SELECT count(*) FROM rtl_marker WHERE message = 'selftest " name "'"
#define WITHIN(name, kernel)                                                                         \
	"SELECT count(*) FROM rtl_dispatch D JOIN rtl_marker M USING (marker_id) WHERE M.message = " \
	"'selftest " name "' AND D.kernel = '" kernel "'"
		rounds = (int64_t)selftest_number(&run.account, "rounds");
		outer = selftest_query(db, RANGES("outer"));
		inner = selftest_query(db, RANGES("inner"));
		marks = selftest_query(db, RANGES("mark"));
		a = selftest_query(db, WITHIN("outer", KERNEL_A));
		b = selftest_query(db, WITHIN("inner", KERNEL_B));
		selftest_set(s, SELFTEST_ROCTX,
			     outer == rounds && inner == rounds && marks == rounds && a == rounds &&
					     b == rounds ?
				     SELFTEST_PASS :
				     SELFTEST_FAIL,
			     "%" PRId64 " rounds: %" PRId64 " outer and %" PRId64
			     " inner ranges, %" PRId64 " marks, %" PRId64 " + %" PRId64
			     " kernels in their range",
			     rounds, outer, inner, marks, a, b);
	}
	sqlite3_close(db);
	selftest_done(&run);
}

static void check_face(struct selftest *s, enum selftest_id id, const struct selftest_play *play)
{
	const char *const keys[] = { "counted_a", "counted_b", "records_a", "records_b",
				     "records_inverted" };
	struct selftest_run run;
	uint64_t n[5];

	if (!selftest_wants(s, id, id))
		return;
	selftest_play(s, play, &run);
	if (selftest_went_well(s, id, &run, 0)) {
		for (size_t i = 0; i < 5; i++)
			n[i] = selftest_number(&run.account, keys[i]);
		selftest_set(s, id,
			     n[0] && n[0] == n[2] && n[1] == n[3] && !n[4] ? SELFTEST_PASS :
									     SELFTEST_FAIL,
			     "%" PRIu64 " + %" PRIu64 " counted by the GPU, %" PRIu64 " + %" PRIu64
			     " given to the client, %" PRIu64 " without times in order",
			     n[0], n[1], n[2], n[3], n[4]);
	}
	selftest_done(&run);
}

void selftest_faces(struct selftest *s)
{
	char v1[PATH_MAX];

	if (selftest_wants(s, SELFTEST_ROCTX, SELFTEST_ROCTX))
		check_ranges(s);
	check_face(s, SELFTEST_ROCTRACER,
		   &(struct selftest_play){ .scenario = "roctracer", .way = WAY_FACE });
	check_face(s, SELFTEST_SDK, &(struct selftest_play){ .scenario = "sdk", .way = WAY_FACE });
	if (paths_join(v1, s->faces, "librocprofiler64.so.1"))
		check_face(s, SELFTEST_ROCPROFILER,
			   &(struct selftest_play){ .scenario = "rocprofiler",
						    .way = WAY_FACE,
						    .tools = v1,
						    .more = "ROCP_HSA_INTERCEPT=1" });
}
