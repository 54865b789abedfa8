/* SPDX-License-Identifier: MIT */
/* test_clock_align.c - offsets between clocks of made jobs, against the one true clock: within
 * their own bounds, or refused */
#include "analysis/clock_align.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare.h"
#include "support/test.h"

/* Two hosts; the second one's clock is ahead by `offset` and fast by `drift` and, from `bend` on,
 * by `more`. Collectives take a transfer of 20 us and more, and end on the hosts within a few us;
 * either host comes last. */
struct plan {
	int64_t offset, bend;
	double drift, more;
	size_t rounds;
	uint64_t seed;
	bool always_last; /* the other host is */
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static int64_t by_other(const struct plan *p, int64_t time)
{
	double ahead = p->drift * (double)time;

	if (p->bend && time > p->bend)
		ahead += p->more * (double)(time - p->bend);
	return time + p->offset + (int64_t)ahead;
}

static void fill(const struct plan *p, struct clock_align *c, int64_t *last)
{
	uint64_t state = p->seed;
	int64_t now = 1000000;

	for (size_t i = 0; i < p->rounds; i++) {
		int64_t skew = (int64_t)(next_random(&state) % 200000),
			transfer = 20000 + (int64_t)(next_random(&state) % 20000),
			late = (int64_t)(next_random(&state) % 4000);
		bool is_other_last = p->always_last || next_random(&state) % 2;
		int64_t end = now + skew + transfer;
		struct clock_side a = { now + (is_other_last ? 0 : skew), end, 0 },
				  b = { by_other(p, now + (is_other_last ? skew : 0)),
					by_other(p, end + late), 0 };

		a.shortest = a.first_end - a.last_begin;
		b.shortest = b.first_end - b.last_begin;
		CHECK_OK(clock_align_add(c, 0, &a, 1, &b));
		*last = end;
		now = end + 500000 + (int64_t)(next_random(&state) % 1000000);
	}
}

static void begin(struct query *q, struct clock_align *c)
{
	static char names[2][8] = { "a", "b" };
	static struct query_process processes[2];
	static struct job_result res;
	sqlite3 *db;

	for (size_t i = 0; i < 2; i++)
		processes[i] = (struct query_process){
			.id = (int64_t)i + 1, .clock = i, .host = names[i], .boot_id = names[i]
		};
	CHECK_OK(sqlite3_open(":memory:", &db));
	CHECK_OK(sqlite3_exec(
		db,
		"CREATE TABLE rtl_clock(process_id, agent_id, system_ns, realtime_ns); CREATE TABLE "
		"rtl_info(process_id, key, value)",
		NULL, NULL, NULL));
	*q = (struct query){ .processes = processes, .nr_processes = 2, .db = db, .res = &res };
	CHECK_OK(clock_align_begin(q, c));
}

static void end(struct query *q, struct clock_align *c)
{
	clock_align_fini(c);
	sqlite3_close(q->db);
}

/* The largest error of the alignment at any time, which its bound has to hold. */
static int64_t worst_of(const struct plan *p, const struct clock_align *c, int64_t last,
			int64_t *bound)
{
	int64_t worst = 0;

	*bound = 0;
	for (int64_t time = 1000000; time <= last; time += last / 200) {
		int64_t found, error;

		CHECK(clock_align_convert(c, 1, by_other(p, time), &found, &error));
		CHECK_LE_INT(llabs(found - time), error);
		worst = llabs(found - time) > worst ? llabs(found - time) : worst;
		*bound = error > *bound ? error : *bound;
	}
	return worst;
}

TEST(error_is_within_its_bound_and_small)
{
	int64_t most = 0, most_bound = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct plan p = { .offset = (int64_t)(seed * 1234567890123) *
						  (seed % 2 ? 1 : -1),
					.drift = ((double)seed - 25) * 2e-6,
					.rounds = 1000,
					.seed = seed,
					.always_last = seed % 5 == 0 };
		struct clock_align c;
		struct query q;
		int64_t last = 0, worst, bound;

		begin(&q, &c);
		fill(&p, &c, &last);
		CHECK_OK(clock_align_solve(&q, &c));
		CHECK_EQ_INT(c.hosts[1].method, CLOCK_COLLECTIVES);
		worst = worst_of(&p, &c, last, &bound);
		CHECK_LT_INT(worst, 20000);
		most = worst > most ? worst : most;
		most_bound = bound > most_bound ? bound : most_bound;
		end(&q, &c);
	}
	printf("error %lld ns, bound %lld ns\n", (long long)most, (long long)most_bound);
}

TEST(rate_that_changes_is_followed)
{
	const struct plan p = { .offset = 77,
				.bend = 700000000,
				.drift = 5e-6,
				.more = 400e-6,
				.rounds = 1000,
				.seed = 3 };
	struct clock_align c;
	struct query q;
	int64_t last = 0, bound;

	begin(&q, &c);
	fill(&p, &c, &last);
	CHECK_OK(clock_align_solve(&q, &c));
	CHECK_GT_UINT(c.hosts[1].nr_pieces, 1);
	CHECK_LT_INT(worst_of(&p, &c, last, &bound), 30000);
	end(&q, &c);
}

TEST(few_collectives_and_contradictions_are_refused)
{
	static const struct clock_side a = { 1000, 2000, 1000 }, b = { 1000, 2000, 1000 },
				       late_a = { 1900000, 2000000, 2000 },
				       late_b = { 1000, 3000, 2000 };
	const struct plan few = { .rounds = 7, .seed = 1 };
	struct clock_align c;
	struct query q;
	int64_t last, found, error;

	begin(&q, &c);
	fill(&few, &c, &last);
	CHECK_OK(clock_align_solve(&q, &c));
	CHECK_EQ_INT(c.hosts[1].method, CLOCK_NONE);
	CHECK_STR_HAS(c.hosts[1].reason, "too few");
	CHECK(!clock_align_convert(&c, 1, 5, &found, &error));
	end(&q, &c);

	begin(&q, &c);
	for (int i = 0; i < 8; i++) {
		CHECK_OK(clock_align_add(&c, 0, &a, 1, &b));
		CHECK_OK(clock_align_add(&c, 0, &late_a, 1, &late_b));
	}
	CHECK_OK(clock_align_solve(&q, &c));
	CHECK_EQ_INT(c.hosts[1].method, CLOCK_NONE);
	CHECK_STR_HAS(c.hosts[1].reason, "contradict");
	end(&q, &c);
}

static bool by_wall(const char *sync, int64_t *found, int64_t *error)
{
	struct clock_align c;
	struct query q;
	bool is_known;
	char *sql;

	begin(&q, &c);
	/* at 1 s by the first one, the second one, which is 10 us per second slower, reads 5 s */
	sql = sqlite3_mprintf(
		"INSERT INTO rtl_clock VALUES(1, NULL, 1000000000, 101000000000), (1, NULL, 3000000000, 103000000000), "
		"(2, NULL, 5000000000, 101000000000), (2, NULL, 7000000000, 103000020000); INSERT INTO rtl_info "
		"VALUES(1, 'clock_sync', 'synchronised maxerror_us=300 esterror_us=2 tai=37'), (2, 'clock_sync', %Q)",
		sync);
	CHECK_OK(sqlite3_exec(q.db, sql, NULL, NULL, NULL));
	sqlite3_free(sql);
	CHECK_OK(clock_align_solve(&q, &c));
	is_known = clock_align_convert(&c, 1, 7000000000, found, error);
	CHECK_EQ_INT(c.hosts[1].method, is_known ? CLOCK_REALTIME : CLOCK_NONE);
	end(&q, &c);
	return is_known;
}

TEST(wall_clock_is_used_where_both_are_held)
{
	int64_t found, error;

	CHECK(by_wall("synchronised maxerror_us=200 esterror_us=1 tai=37", &found, &error));
	CHECK_EQ_INT(found, 3000020000);
	/* what both state, and what may be added to that in two seconds */
	CHECK_EQ_INT(error, 500000 + 1000000);
	CHECK(!by_wall("free", &found, &error));
}
