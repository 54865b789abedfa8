/* SPDX-License-Identifier: MIT */
/* test_imbalance.c - a kernel that is slow on a GPU in a part of a made run is found with GPU and
 * time, and nothing is found where durations vary as on healthy machines */
#include "analysis/imbalance.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/alloc.h"
#include "support/db.h"
#include "support/test.h"

enum { GEMM = 2, MIX, TAIL, EXPERT, REDUCE, ONCE, NR_KERNELS = ONCE - GEMM };

#define TEXTS                                                                                      \
	"INSERT INTO rocpd_string VALUES(1, 'KernelExecution'), (2, 'gemm'), (3, 'mix'), (4, "     \
	"'tail'), (5, 'expert'), (6, "                                                             \
	"'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)'), (7, 'once');"

#define FIRST_NS INT64_C(1000000000)

/* One process with `parties` GPUs, which run the same kernels in each round. */
struct plan {
	size_t parties, rounds;
	size_t slow; /* party on which gemm takes `times` as long from a round to another */
	double times;
	size_t from, to;
	uint64_t seed;
};

struct made {
	sqlite3_str *sql;
	int64_t op, now[16];
	int64_t begin, end; /* of the calls that are slow */
	double clock[16], expert[16];
	uint64_t state;
};

static double uniform(uint64_t *state)
{
	return 0.5 * erfc(-compare_normal(state) / sqrt(2));
}

/* ns of a kernel: normal; of two kinds; with a heavy tail; by data that differ between GPUs for a
 * while; and a collective, in which one GPU waits for long. */
static double duration(struct made *m, int kernel, size_t party)
{
	switch (kernel) {
	case GEMM:
		return 200000 * (1 + 0.02 * compare_normal(&m->state));
	case MIX:
		return uniform(&m->state) < 0.5 ? 100000 : 300000;
	case TAIL:
		return 100000 * exp(0.5 * compare_normal(&m->state));
	case EXPERT:
		return 100000 * m->expert[party] * (1 + 0.02 * compare_normal(&m->state));
	default:
		return party == 1 ? 30000 : 90000;
	}
}

static void add_op(struct made *m, size_t party, int name, int64_t ns)
{
	sqlite3_str_appendf(m->sql,
			    "INSERT INTO rocpd_op VALUES(%lld, %d, %d, 0, %lld, %lld, %d, 1);",
			    ++m->op, (int)party, (int)party + 3, m->now[party], m->now[party] + ns,
			    name);
	m->now[party] += ns + 2000;
}

static void add_round(struct made *m, const struct plan *p, size_t round)
{
	/* all GPUs are slower in the middle of the run */
	double common = round > p->rounds / 2 && round < p->rounds * 2 / 3 ? 1.3 : 1;

	for (size_t i = 0; i < p->parties; i++) {
		bool is_slow = i == p->slow && round >= p->from && round < p->to;

		/* the clock of each GPU wanders by some percent, and comes back */
		m->clock[i] = 0.98 * m->clock[i] + 0.002 * compare_normal(&m->state);
		if (round % 90 == 0)
			m->expert[i] = 0.7 + 0.7 * uniform(&m->state);
		for (int k = GEMM; k < ONCE; k++) {
			double ns = duration(m, k, i) * common * (1 + m->clock[i]);

			if (k == GEMM && is_slow) {
				ns *= p->times;
				m->begin = m->begin ? m->begin : m->now[i];
				m->end = m->now[i] + (int64_t)ns;
			}
			add_op(m, i, k, (int64_t)ns);
		}
		if (round < 20)
			add_op(m, i, ONCE, i ? 1000 : 9000);
	}
}

static const char *make(const struct plan *p, struct made *m)
{
	const char *path = test_tmpfile("made.db");
	char *sql;

	*m = (struct made){ .sql = sqlite3_str_new(NULL), .state = p->seed };
	for (size_t i = 0; i < p->parties; i++)
		m->now[i] = FIRST_NS;
	sqlite3_str_appendall(m->sql, "BEGIN;" TEXTS);
	for (size_t round = 0; round < p->rounds; round++)
		add_round(m, p, round);
	sqlite3_str_appendall(m->sql, "COMMIT");
	sql = sqlite3_str_finish(m->sql);
	remove(path);
	db_make_rpd(path, sql);
	sqlite3_free(sql);
	return path;
}

static int read_made(const char *path, struct imbalance *out)
{
	static struct job_options opt;
	static struct job_result res;
	struct kinds kinds = { 0 };
	struct query *q;
	int ret;

	CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
	ret = imbalance_read(q, &kinds, out);
	kinds_fini(&kinds);
	query_close(q);
	return ret;
}

static const struct imbalance_name *find(const struct imbalance *i, const char *name)
{
	for (size_t n = 0; n < i->nr_names; n++)
		if (strncmp(i->names[n].name, name, strlen(name)) == 0)
			return &i->names[n];
	FAIL("%s is missing", name);
	return NULL;
}

TEST(clean_runs_name_nothing)
{
	size_t nr = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		const struct plan p = { .parties = 3 + seed % 6,
					.rounds = 200 + seed % 5 * 60,
					.slow = SIZE_MAX,
					.seed = seed };
		struct imbalance found;
		struct made m;

		CHECK_OK(read_made(make(&p, &m), &found));
		CHECK_EQ_UINT(found.nr_parties, p.parties);
		CHECK_EQ_UINT(found.nr_names, NR_KERNELS + 1);
		for (size_t n = 0; n < found.nr_names; n++)
			nr += found.names[n].nr_slow;
		CHECK(find(&found, "gemm")->is_judged);
		CHECK(find(&found, "tail")->is_judged);
		/* those that wait in a collective take longer; 20 calls say nothing */
		CHECK(!find(&found, "nccl")->is_judged);
		CHECK(!find(&found, "once")->is_judged);
		imbalance_fini(&found);
	}
	CHECK_EQ_UINT(nr, 0);
}

TEST(planted_part_is_found_with_its_gpu_and_time)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct plan p = { .parties = 3 + seed % 6,
				  .rounds = 640,
				  .slow = seed % 3,
				  .times = 1.2 + 0.1 * (double)(seed % 4),
				  .seed = seed };
		const struct imbalance_name *gemm;
		struct imbalance found;
		struct made m;
		int64_t block;

		p.from = 64 * (1 + seed % 4) + seed % 40;
		p.to = p.from + 160 + seed * 2;
		CHECK_OK(read_made(make(&p, &m), &found));
		gemm = find(&found, "gemm");
		for (size_t n = 0; n < found.nr_names; n++)
			if (&found.names[n] != gemm)
				CHECK_EQ_UINT(found.names[n].nr_slow, 0);
		CHECK_EQ_UINT(gemm->nr_slow, 1);
		CHECK_EQ_INT(found.parties[gemm->slow[0].party].gpu, (int64_t)p.slow);
		CHECK_EQ_UINT(gemm->slow[0].nr_blocks, 10);
		/* a block is a tenth of the run */
		block = (m.now[p.slow] - FIRST_NS) / 8;
		CHECK_LT_INT(llabs(gemm->slow[0].begin - m.begin), block);
		CHECK_LT_INT(llabs(gemm->slow[0].end - m.end), block);
		CHECK_LT_INT(llabs((int64_t)(1000 * (gemm->slow[0].ratio - p.times))), 60);
		imbalance_fini(&found);
	}
}

TEST(gpu_that_is_slow_throughout_is_one_finding)
{
	const struct plan p = {
		.parties = 3, .rounds = 640, .slow = 2, .times = 1.3, .to = 640, .seed = 5
	};
	const struct imbalance_name *gemm;
	struct imbalance found;
	struct made m;

	CHECK_OK(read_made(make(&p, &m), &found));
	gemm = find(&found, "gemm");
	CHECK_EQ_UINT(gemm->nr_slow, 1);
	CHECK_EQ_UINT(gemm->slow[0].first, 0);
	CHECK_EQ_UINT(gemm->slow[0].last + 1, gemm->slow[0].nr_blocks);
	CHECK_EQ_UINT(gemm->slow[0].calls, 640);
	CHECK_EQ_INT(gemm->slow[0].begin, m.begin);
	CHECK_EQ_INT(gemm->slow[0].end, m.end);
	CHECK_STR_EQ(found.parties[gemm->slowest].name, "GPU 2");
	imbalance_fini(&found);
}

TEST(two_gpus_are_not_judged)
{
	const struct plan p = {
		.parties = 2, .rounds = 300, .slow = 1, .times = 1.5, .to = 300, .seed = 5
	};
	struct imbalance found;
	struct made m;

	CHECK_OK(read_made(make(&p, &m), &found));
	for (size_t n = 0; n < found.nr_names; n++)
		CHECK(!found.names[n].is_judged && !found.names[n].nr_slow);
	CHECK_STR_EQ(found.parties[find(&found, "gemm")->slowest].name, "GPU 1");
	imbalance_fini(&found);
}

TEST(interval_of_the_median_misses_it_as_rarely_as_said)
{
	uint64_t state = 7, nr = 0;

	/* 60 values tell nothing at that chance */
	CHECK_LE_UINT(60, imbalance_outside(60, 1e-14));
	for (int i = 0; i < 20000; i++) {
		uint64_t below = 0, outside = imbalance_outside(200, 0.01);

		for (int k = 0; k < 200; k++)
			below += compare_normal(&state) < 0;
		nr += below <= outside;
	}
	CHECK_LE_UINT(nr, 200);
	CHECK_GT_UINT(nr, 0);
}

TEST(failed_allocations_are_errors)
{
	const struct plan p = {
		.parties = 3, .rounds = 200, .slow = 1, .times = 1.5, .to = 100, .seed = 3
	};
	struct imbalance found;
	struct made m;
	const char *path = make(&p, &m);
	static struct job_options opt;
	static struct job_result res;
	uint64_t n = 1;

	for (;; n++) {
		struct kinds kinds = { 0 };
		struct query *q;
		int ret;

		CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
		alloc_fail_at(n);
		ret = imbalance_read(q, &kinds, &found);
		alloc_fail_at(0);
		kinds_fini(&kinds);
		query_close(q);
		if (ret == 0)
			break;
		imbalance_fini(&found);
		CHECK_LT_INT(ret, 0);
		CHECK_LT_UINT(n, 2000);
	}
	CHECK_EQ_UINT(find(&found, "gemm")->nr_slow, 1);
	imbalance_fini(&found);
	CHECK_GT_UINT(n, 20);
}
