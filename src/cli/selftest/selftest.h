/* SPDX-License-Identifier: MIT */
/* selftest.h - shared by the files of `rtl selftest`
 *
 *	cmd_selftest.c	    options, order of the scenarios
 *	selftest.c	    the verdicts
 *	selftest_run.c	    runs rtl-selftest-gpu, untraced and traced, and reads its account
 *	selftest_check.c    compares accounts and traces: numbers, order, names, ways, faces
 *	selftest_time.c	    compares times: events, the cost of a launch
 *	selftest_report.c   the table, the JSON, the machine
 *
 * One thread. A scenario is one thing that the program does; it is checked by several checks, each
 * of which has one verdict.
 */
#ifndef RTL_CLI_SELFTEST_SELFTEST_H
#define RTL_CLI_SELFTEST_SELFTEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sqlite3.h>

#include "analysis/compare.h"
#include "cli/paths.h"

/* In the order in which they are made. */
#define SELFTEST_CHECKS(X)                                                                         \
	X(GPU, "gpu", "kernels can be compiled here for the GPUs that HSA shows")                  \
	X(HIPRTC, "hiprtc", "hipRTC's kernels run, too")                                           \
	X(COUNT, "count.untraced", "kernels that count themselves are as many as were launched")   \
	X(TRACED, "count.traced", "the trace has as many dispatches of each name")                 \
	X(GPUS, "count.gpus", "it has those of each GPU")                                          \
	X(THREADS, "count.threads", "it has the threads that launched them")                       \
	X(CALLS, "count.calls", "it has each launch, and each dispatch belongs to one")            \
	X(COMPLETE, "count.complete", "it is complete by its own account")                         \
	X(RESULT, "count.result",                                                                  \
	  "the traced program's counts and exit status are the untraced ones")                     \
	X(TIMES, "order.times", "each dispatch has a begin and an end after it")                   \
	X(STREAM, "order.queue",                                                                   \
	  "no dispatch begins before the one before it on its queue has ended")                    \
	X(CLOCKS, "order.clocks", "dispatches lie between launch and wait, by the host's clock")   \
	X(COPY, "copies.untraced", "copies and fills arrive")                                      \
	X(COPY_NR, "copies.traced", "the trace has each with its kind and bytes")                  \
	X(GRAPH, "graphs.untraced", "graphs run their kernels")                                    \
	X(GRAPH_NR, "graphs.traced", "the trace has each kernel of each replay")                   \
	X(HSA, "hsa.untraced", "packets on queues of the program's own run")                       \
	X(HSA_NR, "hsa.traced", "the trace has each of them")                                      \
	X(HSA_ORDER, "hsa.order", "in order, since each waits for the one before it")              \
	X(KILL, "kill", "what a program killed by SIGKILL had waited for is in the trace")         \
	X(EVENTS, "events.times", "times between HIP events are the untraced ones")                \
	X(ENCLOSE, "events.kernels", "they are at least those of the kernels in between")          \
	X(TOOLS, "way.tools", "HSA_TOOLS_LIB alone traces each dispatch")                          \
	X(PRELOAD, "way.preload", "LD_PRELOAD alone traces each dispatch")                         \
	X(REGISTER, "way.register", "rocprofiler-register alone traces each dispatch")             \
	X(LITE, "mode.lite", "so does mode lite")                                                  \
	X(STANDARD, "mode.standard", "so does mode standard")                                      \
	X(FULL, "mode.full", "so does mode full, with HSA's calls")                                \
	X(ROCTX, "face.roctx", "ranges and marks are in the trace, and kernels in their ranges")   \
	X(ROCTRACER, "face.roctracer", "a client of libroctracer64 gets a record of each")         \
	X(SDK, "face.sdk", "a client of librocprofiler-sdk gets a record of each")                 \
	X(ROCPROFILER, "face.rocprofiler", "a client of librocprofiler64 is called for each")      \
	X(OVERHEAD, "overhead", "what tracing adds to a launch is below its limit")                \
	X(EXITS, "exits", "traced programs end no worse than untraced ones")

enum selftest_id {
#define X(id, name, what) SELFTEST_##id,
	SELFTEST_CHECKS(X)
#undef X
		SELFTEST_NR
};

enum selftest_verdict { SELFTEST_NOT_RUN, SELFTEST_PASS, SELFTEST_FAIL, SELFTEST_SKIP };

struct selftest_result {
	enum selftest_verdict verdict;
	char *text; /* the numbers, or the reason */
};

#define ACCOUNT_LINES_MAX 512

/* What the program wrote about its run. */
struct selftest_account {
	char *text;
	const char *keys[ACCOUNT_LINES_MAX], *values[ACCOUNT_LINES_MAX];
	size_t nr;
};

struct selftest {
	struct paths paths;
	char helper[PATH_MAX];
	char faces[PATH_MAX]; /* the directory of the drop-in libraries */
	char dir[PATH_MAX];   /* of databases, accounts and code; removed at the end */
	char output[PATH_MAX];
	bool virtual, quick;
	uint64_t virtual_gpus;
	uint64_t timeout_s; /* of a run */
	uint64_t limit_ns;  /* of --max-overhead */
	const char *only;   /* a list, NULL: all */
	unsigned int nr_runs;
	/* untraced, traced: all, and those that died or hung after their work, in exit handlers of
	 * the runtimes */
	unsigned int nr_ended[2], nr_died[2];
	double seconds;
	struct selftest_account machine; /* of the scenario "probe" */
	bool has_hip;
	struct selftest_result results[SELFTEST_NR];
};

extern const char *const selftest_names[SELFTEST_NR], *const selftest_whats[SELFTEST_NR];

/* Stores the verdict of a check, unless --only leaves it out. */
void selftest_set(struct selftest *s, enum selftest_id id, enum selftest_verdict verdict,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Whether any check from `first` to `last` is wanted. */
bool selftest_wants(const struct selftest *s, enum selftest_id first, enum selftest_id last);
/* Gives the checks from `first` to `last` that have no verdict yet this one. */
void selftest_rest(struct selftest *s, enum selftest_id first, enum selftest_id last,
		   enum selftest_verdict verdict, const char *why);

/* ---- runs ---- */

enum selftest_way {
	WAY_NONE,     /* not traced */
	WAY_RTL,      /* rtl trace */
	WAY_TOOLS,    /* HSA_TOOLS_LIB alone */
	WAY_PRELOAD,  /* LD_PRELOAD alone */
	WAY_REGISTER, /* ROCPROFILER_REGISTER_LIBRARY alone */
	WAY_FACE,     /* not traced, with the drop-in libraries first */
};

struct selftest_play {
	const char *scenario;
	const char *args; /* separated by spaces, NULL: none */
	enum selftest_way way;
	const char *mode;  /* of rtl trace, NULL: its default */
	const char *tools; /* HSA_TOOLS_LIB, for a face */
	const char *more;  /* one more variable, NAME=value */
};

struct selftest_run {
	int status;    /* as a shell gives it; -1: it did not end in time */
	bool lacks;    /* something is not there: `why` */
	char why[512]; /* what failed, or ""; its last line on stderr if it gave no reason */
	struct selftest_account account;
	char db[PATH_MAX]; /* "": no trace was written */
};

/* Runs the program, again if it died in exit handlers of the runtime, which some releases do. `out`
 * stays valid until selftest_done(). */
void selftest_play(struct selftest *s, const struct selftest_play *play, struct selftest_run *out);
void selftest_done(struct selftest_run *run);
/* Whether the run ended as it should; if not, the check fails, or is skipped where something is
 * missing. */
bool selftest_went_well(struct selftest *s, enum selftest_id id, const struct selftest_run *run,
			int status);

/* Of an account: the number of a key, and whether it is there. */
uint64_t selftest_number(const struct selftest_account *account, const char *key);
const char *selftest_text(const struct selftest_account *account, const char *key);
/* The times of a key, which may be there often, in units of unit_ns; out: in ns. Their number. */
size_t selftest_times(const struct selftest_account *account, const char *key, double unit_ns,
		      int64_t *out, size_t max);

/* ---- scenarios ---- */

void selftest_probe(struct selftest *s);
void selftest_count(struct selftest *s);
void selftest_copies(struct selftest *s);
void selftest_graphs(struct selftest *s);
void selftest_hsa(struct selftest *s);
void selftest_kill(struct selftest *s);
void selftest_ways(struct selftest *s);
void selftest_faces(struct selftest *s);
void selftest_events(struct selftest *s);
void selftest_overhead(struct selftest *s);
void selftest_exits(struct selftest *s);

/* The database of a run, opened; NULL: then the check fails. */
sqlite3 *selftest_open(struct selftest *s, enum selftest_id id, const struct selftest_run *run);
/* The number that a query gives, -1: none. */
int64_t selftest_query(sqlite3 *db, const char *sql);

/* Whether two sets of times differ by more than a limit and by more than noise: more than
 * EVENTS_LIMIT in either direction; a launch that costs more than limit_ns more. Both sort the
 * sets. */
bool selftest_events_differ(int64_t *plain, size_t nr_plain, int64_t *traced, size_t nr_traced,
			    struct compare_result *out);
bool selftest_costs_more(int64_t *plain, size_t nr_plain, int64_t *traced, size_t nr_traced,
			 uint64_t limit_ns, struct compare_result *out);
/* The chance that all `died` runs are traced ones, `traced` of `all`, if tracing has no part in
 * it. */
double selftest_chance(unsigned int died, unsigned int traced, unsigned int all);

/* ---- report ---- */

/* Writes the table, or JSON, to stdout or to a file. */
void selftest_print(const struct selftest *s, bool json);
int selftest_write(const struct selftest *s, bool json, const char *path);

#endif
