/* SPDX-License-Identifier: MIT */
/* test_collective.c - collectives of made traces: all are matched, a planted delay is reported with
 * its rank and cause, and runs without one report no late rank */
#include "analysis/collective.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/alloc.h"
#include "support/db.h"
#include "support/test.h"

enum { KERNEL = 1, COPY, WORK, REDUCE, GATHER, EMPTY, LAUNCH, GRAPH };

#define TEXTS                                                                                                           \
	"INSERT INTO rocpd_string VALUES(1, 'KernelExecution'), (2, 'CopyHostToDevice'), (3, 'gemm'), (4, "             \
	"'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)'), (5, 'void vllm::cross_device_reduce_1stage<__half, " \
	"8>(vllm::RankData*)'), (6, ''), (7, 'hipLaunchKernel'), (8, 'hipGraphLaunch');"

/* One process with `parties` GPUs: in each round a kernel and a collective, which ends on all when
 * the last one has come. A graph has the kernel, in every other round the collective, too. */
struct plan {
	size_t parties, rounds, late; /* late: SIZE_MAX: none is */
	enum collective_cause cause;
	/* is_swapped: two collectives of party 1 are in another order */
	bool has_calls, is_swapped;
	bool is_grouped; /* parties in sets of two, which do not wait for each other */
	/* by which the late party comes later than the others, 0: 0.5 ms, and by which each host's
	 * launches vary */
	int64_t late_ns, varies_ns;
	int64_t other_ns; /* by which the host of the party behind the late one is late each third
			   * round */
	uint64_t seed;
};

struct made {
	sqlite3_str *sql;
	int64_t op, now[16];
	uint64_t state;
	const struct plan *plan;
};

static void add_op(struct made *m, size_t party, int name, int type, int64_t begin, int64_t end,
		   int64_t launch, int call)
{
	int64_t id = ++m->op;

	sqlite3_str_appendf(m->sql,
			    "INSERT INTO rocpd_op VALUES(%lld, %d, %d, 0, %lld, %lld, %d, %d);", id,
			    (int)party, (int)party + 3, begin, end, name, type);
	if (m->plan->has_calls)
		sqlite3_str_appendf(m->sql,
				    "INSERT INTO rocpd_api VALUES(%lld, 1, %d, %lld, %lld, %d, 6);"
				    "INSERT INTO rocpd_api_ops VALUES(%lld, %lld, %lld);",
				    id, (int)party, launch, launch + 3000, call, id, id, id);
}

/* The time at which the party has done its work of a round. */
static int64_t work(struct made *m, size_t party, bool is_late, int64_t other_ns)
{
	int64_t at = m->now[party] + other_ns, launch = at - (other_ns ? 1000 : 20000);
	int64_t long_ns = is_late ? (m->plan->late_ns ? m->plan->late_ns : 500000) : 0;
	int64_t ns = 100000 + (int64_t)(1000 * compare_normal(&m->state));

	switch (m->plan->cause) {
	case COLLECTIVE_KERNEL:
		ns += long_ns;
		break;
	case COLLECTIVE_COPY:
		if (is_late)
			add_op(m, party, EMPTY, COPY, at, at + long_ns, launch, LAUNCH);
		at += long_ns;
		break;
	default:
		if (m->plan->varies_ns)
			long_ns += (int64_t)((double)m->plan->varies_ns *
					     fabs(compare_normal(&m->state)));
		at += long_ns;
		launch += long_ns + (long_ns ? 19000 : 0);
		break;
	}
	add_op(m, party, WORK, KERNEL, at, at + ns, launch,
	       m->plan->cause == COLLECTIVE_GRAPH ? GRAPH : LAUNCH);
	return at + ns + 2000;
}

static void add_round(struct made *m, size_t round)
{
	const struct plan *p = m->plan;
	size_t in_set = p->is_grouped ? 2 : p->parties;
	int64_t begins[16];

	for (size_t i = 0; i < p->parties; i++)
		begins[i] =
			work(m, i, i == p->late && round > 0,
			     i == (p->late + 1) % p->parties && round % 3 == 0 ? p->other_ns : 0);
	for (size_t set = 0; set < p->parties; set += in_set) {
		int64_t last = 0;

		for (size_t i = set; i < set + in_set; i++)
			last = begins[i] > last ? begins[i] : last;
		for (size_t i = set; i < set + in_set; i++) {
			bool gather = round % 2 != (p->is_swapped && i == 1 && (round / 2 == 3));

			add_op(m, i, gather ? GATHER : REDUCE, KERNEL, begins[i], last + 50000,
			       begins[i] - 5000,
			       p->cause == COLLECTIVE_GRAPH && round % 2 ? GRAPH : LAUNCH);
			m->now[i] = last + 80000;
		}
	}
}

static const char *make(const struct plan *p)
{
	const char *path = test_tmpfile("made.db");
	struct made m = { .sql = sqlite3_str_new(NULL), .state = p->seed, .plan = p };
	char *sql;

	for (size_t i = 0; i < p->parties; i++)
		m.now[i] = 1000000000 + (p->is_grouped ? (int64_t)(i / 2) * 130000 : 0);
	sqlite3_str_appendall(m.sql, "BEGIN;" TEXTS);
	for (size_t round = 0; round < p->rounds; round++)
		add_round(&m, round);
	sqlite3_str_appendall(m.sql, "COMMIT");
	sql = sqlite3_str_finish(m.sql);
	remove(path);
	db_make_rpd(path, sql);
	sqlite3_free(sql);
	return path;
}

struct seen {
	uint64_t nr, nr_wrong; /* wrong: arrivals that are not of one round */
};

static int see(void *arg, const struct collective_one *one)
{
	struct seen *seen = arg;

	seen->nr++;
	for (size_t i = 1; i < one->nr; i++)
		seen->nr_wrong += one->arrivals[i].end != one->arrivals[0].end;
	return 0;
}

static void read_made(const char *path, const char *more, struct seen *seen,
		      struct collectives *out)
{
	static struct job_options opt;
	static struct job_result res;
	struct query *q;
	regex_t regex;

	memset(seen, 0, sizeof(*seen));
	CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
	if (more)
		CHECK_OK(regcomp(&regex, more, REG_EXTENDED | REG_NOSUB));
	CHECK_OK(collective_read(q, more ? &regex : NULL, see, seen, out));
	if (more)
		regfree(&regex);
	query_close(q);
}

static size_t nr_late(const struct collectives *c, size_t *party, enum collective_cause *cause)
{
	size_t nr = 0;

	for (size_t g = 0; g < c->nr_groups; g++)
		for (size_t i = 0; i < c->groups[g].nr_members; i++) {
			const struct collective_member *m = &c->groups[g].members[i];

			if (m->verdict != COLLECTIVE_LATE)
				continue;
			nr++;
			*party = (size_t)c->parties[m->party].gpu;
			for (int k = 0; k < COLLECTIVE_NR_CAUSES; k++)
				if (m->causes[k] > m->causes[*cause])
					*cause = (enum collective_cause)k;
		}
	return nr;
}

TEST(planted_lateness_has_its_rank_and_its_cause)
{
	static const enum collective_cause causes[] = { COLLECTIVE_KERNEL, COLLECTIVE_COPY,
							COLLECTIVE_HOST, COLLECTIVE_GRAPH,
							COLLECTIVE_IDLE };
	static const size_t parties[] = { 2, 4, 8 };

	for (size_t c = 0; c < 5; c++)
		for (size_t n = 0; n < 3; n++)
			for (uint64_t seed = 1; seed <= 4; seed++) {
				const struct plan p = { .parties = parties[n],
							.rounds = 31,
							.late = seed % parties[n],
							.cause = causes[c],
							.has_calls = causes[c] != COLLECTIVE_IDLE,
							.seed = seed };
				enum collective_cause cause = COLLECTIVE_UNKNOWN;
				struct collectives found;
				struct seen seen;
				size_t party = 99;

				read_made(make(&p), NULL, &seen, &found);
				CHECK_EQ_UINT(seen.nr, 31);
				CHECK_EQ_UINT(seen.nr_wrong, 0);
				CHECK_EQ_UINT(found.nr_groups, 2);
				CHECK_EQ_UINT(nr_late(&found, &party, &cause), 2);
				CHECK_EQ_UINT(party, p.late);
				CHECK_STR_EQ(collective_causes[cause],
					     collective_causes[causes[c]]);
				collective_fini(&found);
			}
}

TEST(clean_runs_accuse_nobody)
{
	size_t accused = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		const struct plan p = { .parties = seed % 2 ? 8 : 2,
					.rounds = 30,
					.late = SIZE_MAX,
					.has_calls = true,
					.seed = seed };
		enum collective_cause cause = COLLECTIVE_UNKNOWN;
		struct collectives found;
		struct seen seen;
		size_t party;

		read_made(make(&p), NULL, &seen, &found);
		CHECK_EQ_UINT(seen.nr, 30);
		for (size_t g = 0; g < found.nr_groups; g++)
			CHECK_EQ_UINT(found.groups[g].nr_class[COLLECTIVE_TRANSFER],
				      found.groups[g].nr);
		accused += nr_late(&found, &party, &cause);
		collective_fini(&found);
	}
	CHECK_LE_UINT(accused, 1);
}

/* Verdicts on the late party by the sizes of its lateness and of what all hosts vary by. */
static size_t nr_verdicts(enum collective_cause cause, int64_t late_ns, int64_t varies_ns,
			  enum collective_verdict verdict)
{
	size_t nr = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct plan p = { .parties = seed % 2 ? 2 : 4,
					.rounds = 61,
					.late = seed % 2,
					.cause = cause,
					.has_calls = true,
					.late_ns = late_ns,
					.varies_ns = varies_ns,
					.seed = seed };
		struct collectives found;
		struct seen seen;

		read_made(make(&p), NULL, &seen, &found);
		for (size_t g = 0; g < found.nr_groups; g++)
			for (size_t i = 0; i < found.groups[g].nr_members; i++) {
				const struct collective_member *m = &found.groups[g].members[i];
				bool is_it = found.parties[m->party].gpu == (int64_t)p.late;

				CHECK(is_it || m->verdict == COLLECTIVE_IN_TIME);
				nr += is_it && m->verdict == verdict;
			}
		collective_fini(&found);
	}
	return nr;
}

TEST(hosts_that_wait_for_processors_accuse_nobody)
{
	/* one host is always a slice behind the other, and all vary by nearly one: 40 verdicts */
	CHECK_EQ_UINT(nr_verdicts(COLLECTIVE_HOST, 4000000, 3000000, COLLECTIVE_LATE), 0);
	CHECK_GE_UINT(nr_verdicts(COLLECTIVE_HOST, 4000000, 3000000, COLLECTIVE_UNSTEADY), 30);
	/* with the same noise a rank that is late by more than that stands out */
	CHECK_GE_UINT(nr_verdicts(COLLECTIVE_HOST, 40000000, 3000000, COLLECTIVE_LATE), 38);
	/* the GPU's own times are not a matter of processors */
	CHECK_EQ_UINT(nr_verdicts(COLLECTIVE_KERNEL, 4000000, 0, COLLECTIVE_LATE), 40);
}

/* How many of two groups call the late party late, and how often it was last in one of them, where
 * the other party's host is late in a third of the rounds. */
static size_t nr_late_beside(enum collective_cause cause, uint64_t *nr_last)
{
	const struct plan p = { .parties = 2,
				.rounds = 49,
				.late = 1,
				.cause = cause,
				.has_calls = true,
				.late_ns = 4000000,
				.other_ns = 6000000,
				.seed = 7 };
	enum collective_cause named = COLLECTIVE_UNKNOWN;
	struct collectives found;
	struct seen seen;
	size_t party = 99, nr;

	read_made(make(&p), NULL, &seen, &found);
	nr = nr_late(&found, &party, &named);
	CHECK(!nr || (party == 1 && named == cause));
	*nr_last = 0;
	for (size_t i = 0; i < found.groups[0].nr_members; i++)
		if (found.parties[found.groups[0].members[i].party].gpu == 1)
			*nr_last = found.groups[0].members[i].nr_last;
	collective_fini(&found);
	return nr;
}

TEST(gpu_with_longer_work_is_late_though_another_host_often_comes_last)
{
	uint64_t nr_last;

	/* by counts alone chance explains it */
	CHECK_EQ_UINT(nr_late_beside(COLLECTIVE_KERNEL, &nr_last), 2);
	CHECK_LE_UINT(nr_last, 17);
	CHECK_EQ_UINT(nr_late_beside(COLLECTIVE_COPY, &nr_last), 2);
	CHECK_LE_UINT(nr_last, 17);
}

TEST(another_order_on_a_rank_is_found)
{
	const struct plan p = {
		.parties = 3, .rounds = 20, .late = SIZE_MAX, .is_swapped = true, .seed = 5
	};
	struct collectives found;
	struct seen seen;

	read_made(make(&p), NULL, &seen, &found);
	CHECK_EQ_UINT(found.nr_orders, 1);
	CHECK_EQ_UINT(found.orders[0].number, 7);
	CHECK_EQ_UINT(found.orders[0].count, 2);
	CHECK_EQ_UINT(found.orders[0].channel, 0);
	CHECK(!found.orders[0].by_calls);
	CHECK_EQ_UINT(found.parties[found.orders[0].parties[1]].gpu, 1);
	CHECK_STR_HAS(found.orders[0].names[0], "AllReduce");
	CHECK_STR_HAS(found.orders[0].names[1], "cross_device_reduce");
	collective_fini(&found);
}

TEST(sets_of_gpus_that_do_not_wait_for_each_other_are_apart)
{
	const struct plan p = {
		.parties = 8, .rounds = 20, .late = SIZE_MAX, .is_grouped = true, .seed = 9
	};
	struct collectives found;
	struct seen seen;

	read_made(make(&p), NULL, &seen, &found);
	CHECK_EQ_UINT(seen.nr, 4 * 20);
	CHECK_EQ_UINT(seen.nr_wrong, 0);
	for (size_t g = 0; g < found.nr_groups; g++)
		CHECK_EQ_UINT(found.groups[g].nr_members, 2);
	collective_fini(&found);
}

TEST(patterns_of_the_user_add_names)
{
	const struct plan p = { .parties = 2, .rounds = 4, .late = SIZE_MAX, .seed = 3 };
	struct collectives found;
	struct seen seen;

	read_made(make(&p), "^gemm$", &seen, &found);
	CHECK_EQ_UINT(seen.nr, 8);
	collective_fini(&found);
}

TEST(collective_that_a_rank_never_reached_is_counted)
{
	const struct plan p = { .parties = 3, .rounds = 10, .late = SIZE_MAX, .seed = 4 };
	const char *path = make(&p);
	struct collectives found;
	struct seen seen;

	db_exec(path,
		"DELETE FROM rocpd_op WHERE id = (SELECT max(id) FROM rocpd_op WHERE gpuId = 2)");
	read_made(path, NULL, &seen, &found);
	CHECK_EQ_UINT(seen.nr, 9);
	CHECK_EQ_UINT(found.nr_incomplete, 1);
	collective_fini(&found);
	db_exec(path, "DELETE FROM rocpd_op WHERE gpuId > 0");
	read_made(path, NULL, &seen, &found);
	CHECK_EQ_UINT(seen.nr, 0);
	CHECK_EQ_UINT(found.nr_alone, 10);
	collective_fini(&found);
}

static uint64_t allocations_of(size_t rounds)
{
	const struct plan p = {
		.parties = 8, .rounds = rounds, .late = 3, .cause = COLLECTIVE_KERNEL, .seed = 2
	};
	const char *path = make(&p);
	struct collectives found;
	struct seen seen;
	uint64_t nr;

	alloc_fail_at(0);
	read_made(path, NULL, &seen, &found);
	nr = alloc_nr_calls();
	CHECK_EQ_UINT(seen.nr, rounds);
	collective_fini(&found);
	return nr;
}

TEST(memory_does_not_grow_with_collectives)
{
	/* both are more than fits into memory */
	CHECK_EQ_UINT(allocations_of(1500), allocations_of(3000));
}

TEST(failed_allocations_are_errors)
{
	const struct plan p = { .parties = 3,
				.rounds = 40,
				.late = 1,
				.has_calls = true,
				.is_swapped = true,
				.cause = COLLECTIVE_HOST,
				.seed = 6 };
	const char *path = make(&p);
	static struct job_options opt;
	static struct job_result res;
	uint64_t n = 1;

	for (;; n++) {
		struct collectives found;
		struct query *q;
		int ret;

		CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
		alloc_fail_at(n);
		ret = collective_read(q, NULL, NULL, NULL, &found);
		alloc_fail_at(0);
		query_close(q);
		if (ret == 0) {
			collective_fini(&found);
			break;
		}
		CHECK_LT_INT(ret, 0);
		CHECK_LT_UINT(n, 2000);
	}
	CHECK_GT_UINT(n, 20);
}

TEST(main_cause_is_the_most_frequent_one)
{
	for (int i = 0; i < COLLECTIVE_NR_CAUSES; i++) {
		struct collective_member m = { .causes = { 1, 1 } };

		m.causes[i] = 2;
		CHECK_STR_EQ(collective_causes[collective_main_cause(&m)], collective_causes[i]);
	}
}
