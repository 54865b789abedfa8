/* SPDX-License-Identifier: MIT */
/* selftest_time.c - the self-test's comparisons of times: HIP events, and the cost of a launch
 *
 * Untraced and traced runs take turns, so that a machine that becomes slower or faster does so for
 * both. The statistics are those of `rtl diff` (compare.h): a difference counts if it can be
 * distinguished from noise and is larger than its limit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "cli/selftest/selftest.h"
#include "cli/ui.h"

#define VALUES_MAX 512
#define EVENTS_LIMIT 0.05 /* of the time between two events */
/* The virtual GPU's kernels last as long as they are given, not as long as they compute. */
#define VIRTUAL_KERNEL_NS "VGPU_KERNEL_NS=200000"

struct sides {
	int64_t values[2][VALUES_MAX]; /* ns */
	size_t nr[2];
};

/* Takes turns: untraced, traced. Whether all runs went well. `last` is the last traced run, the
 * caller's to end. */
static bool take_turns(struct selftest *s, enum selftest_id id, const struct selftest_play *play,
		       unsigned int rounds, const char *key, double unit_ns, struct sides *out,
		       struct selftest_run *last)
{
	bool good = true;

	memset(out, 0, sizeof(*out));
	memset(last, 0, sizeof(*last));
	for (unsigned int i = 0; i < 2 * rounds && good; i++) {
		struct selftest_play one = *play;
		unsigned int side = i % 2;

		one.way = side ? WAY_RTL : WAY_NONE;
		selftest_done(last);
		selftest_play(s, &one, last);
		good = selftest_went_well(s, id, last, 0);
		out->nr[side] += selftest_times(&last->account, key, unit_ns,
						out->values[side] + out->nr[side],
						VALUES_MAX - out->nr[side]);
	}
	if (good && (!out->nr[0] || !out->nr[1])) {
		selftest_set(s, id, SELFTEST_FAIL, "the program wrote no times");
		good = false;
	}
	return good;
}

/* Kernels between two events take at least as long as the events are apart, less a tick or two. */
static void check_kernels(struct selftest *s, const struct selftest_run *run, double elapsed_us)
{
	uint64_t kernels = selftest_number(&run->account, "kernels");
	sqlite3 *db = selftest_open(s, SELFTEST_ENCLOSE, run);
	int64_t median;

	if (!db)
		return;
	median = selftest_query(
		db,
		"SELECT end_ns - begin_ns AS ns FROM rtl_dispatch WHERE kernel = 'rtl_selftest_spin' AND "
		"flags & 46 = 0 ORDER BY ns LIMIT 1 OFFSET (SELECT count(*) / 2 FROM rtl_dispatch WHERE "
		"kernel = 'rtl_selftest_spin' AND flags & 46 = 0)");
	selftest_set(s, SELFTEST_ENCLOSE,
		     median > 0 && (double)median * (double)kernels / 1e3 <= elapsed_us * 1.01 + 1 ?
			     SELFTEST_PASS :
			     SELFTEST_FAIL,
		     "%" PRIu64 " kernels of %.1f us each in %.1f us", kernels,
		     (double)median / 1e3, elapsed_us);
	sqlite3_close(db);
}

bool selftest_events_differ(int64_t *plain, size_t nr_plain, int64_t *traced, size_t nr_traced,
			    struct compare_result *out)
{
	if (compare_samples(plain, nr_plain, traced, nr_traced, 1, out))
		ui_die_memory();
	return out->p < COMPARE_ALPHA && (out->low > EVENTS_LIMIT || out->high < -EVENTS_LIMIT);
}

bool selftest_costs_more(int64_t *plain, size_t nr_plain, int64_t *traced, size_t nr_traced,
			 uint64_t limit_ns, struct compare_result *out)
{
	if (compare_samples(plain, nr_plain, traced, nr_traced, 1, out))
		ui_die_memory();
	return out->p < COMPARE_ALPHA && (double)out->a * out->low > (double)limit_ns;
}

void selftest_events(struct selftest *s)
{
	struct selftest_play play = { .scenario = "events",
				      .args = s->quick ? "pairs=10" : "pairs=20" };
	static struct sides sides;
	struct compare_result r;
	struct selftest_run last;
	bool differ;

	if (s->virtual) {
		play.args = s->quick ? "pairs=10 rounds=16" : "pairs=20 rounds=16";
		play.more = VIRTUAL_KERNEL_NS;
	}
	if (take_turns(s, SELFTEST_EVENTS, &play, s->quick ? 1 : 3, "elapsed_us", 1e3, &sides,
		       &last)) {
		differ = selftest_events_differ(sides.values[0], sides.nr[0], sides.values[1],
						sides.nr[1], &r);
		selftest_set(
			s, SELFTEST_EVENTS, differ ? SELFTEST_FAIL : SELFTEST_PASS,
			"%.1f us untraced, %.1f us traced: %+.1f %% (95 %%: %+.1f to %+.1f; limit "
			"%.0f %%)",
			(double)r.a / 1e3, (double)r.b / 1e3, 100 * r.change, 100 * r.low,
			100 * r.high, 100 * EVENTS_LIMIT);
		check_kernels(s, &last, (double)r.b / 1e3);
	}
	selftest_rest(s, SELFTEST_EVENTS, SELFTEST_ENCLOSE, SELFTEST_SKIP, "a run failed");
	selftest_done(&last);
}

void selftest_overhead(struct selftest *s)
{
	const struct selftest_play play = { .scenario = "overhead",
					    .args = s->quick ? "batches=10" : "batches=40" };
	static struct sides sides;
	struct compare_result r;
	struct selftest_run last;
	double low, high;
	bool more;

	if (take_turns(s, SELFTEST_OVERHEAD, &play, s->quick ? 1 : 3, "launch_ns", 1, &sides,
		       &last)) {
		more = selftest_costs_more(sides.values[0], sides.nr[0], sides.values[1],
					   sides.nr[1], s->limit_ns, &r);
		low = (double)r.a * r.low;
		high = (double)r.a * r.high;
		selftest_set(s, SELFTEST_OVERHEAD, more ? SELFTEST_FAIL : SELFTEST_PASS,
			     "%" PRId64 " ns untraced, %" PRId64 " ns traced: %+" PRId64
			     " ns (95 %%: %+.0f to %+.0f; limit "
			     "%" PRIu64 ")",
			     r.a, r.b, r.b - r.a, low, high, s->limit_ns);
	}
	selftest_done(&last);
}
