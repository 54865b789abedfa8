/* SPDX-License-Identifier: MIT */
/* test_collective_events.c - collectives come back as they were added, from memory and from a
 * file */
#include "analysis/collective_events.h"

#include <string.h>

#include "support/test.h"

enum { CHANNELS = 40 };

/* Numbers of a generator that both sides have. */
struct made {
	uint64_t state, nr;
	struct collective_event last[CHANNELS];
};

static uint64_t next(struct made *m)
{
	m->state = m->state * 6364136223846793005u + 1442695040888963407u;
	return m->state >> 11;
}

/* Most are as those before of their channel; some have the ends of each type. */
static struct collective_event make(struct made *m)
{
	uint32_t channel = (uint32_t)(next(m) % CHANNELS);
	struct collective_event *e = &m->last[channel];

	e->channel = channel;
	e->since = e->has_before ? e->end : INT64_MIN;
	e->begin = e->end + (int64_t)(next(m) % 5000);
	e->end = e->begin + (int64_t)(next(m) % 9000);
	e->op += next(m) % 3 ? 1 : -7;
	e->has_before = true;
	e->is_graph = next(m) % 100 == 0;
	e->kernel_ns = next(m) % 2 ? (int64_t)(next(m) % 70000) : 0;
	e->copy_ns = next(m) % 5 ? 0 : 77;
	e->host_ns = next(m) % 5 ? 0 : 99;
	e->is_untimed = e->is_call = e->has_launch = m->nr % 1000 == 1;
	if (m->nr++ % 1000 == 0) {
		e->begin = next(m) % 2 ? INT64_MIN : INT64_MAX;
		e->end = next(m) % 2 ? INT64_MAX / 2 : INT64_MIN / 2;
		e->op = INT64_MAX / 2;
		e->longest = INT64_MIN;
		e->bytes = UINT64_MAX;
		e->tid = INT32_MIN;
		e->name = UINT32_MAX;
	} else if (e->bytes) {
		e->begin = 1000;
		e->end = 2000;
		e->bytes = e->name = 0;
	}
	return *e;
}

static void check_all(const struct collective_events *c, uint64_t nr, uint64_t seed)
{
	struct collective_events_reader r;
	const struct collective_event *found;
	struct made m = { .state = seed };

	CHECK_OK(collective_events_begin(c, &r));
	for (uint64_t i = 0; i < nr; i++) {
		struct collective_event e = make(&m);

		CHECK(collective_events_next(&r, &found) == 1);
		CHECK(memcmp(&e, found, sizeof(e)) == 0);
	}
	CHECK_EQ_INT(collective_events_next(&r, &found), 0);
	CHECK_EQ_INT(collective_events_next(&r, &found), 0);
	collective_events_end(&r);
}

TEST(collective_events_come_back_as_they_were)
{
	/* none, one, a block, more than memory holds */
	static const uint64_t sizes[] = { 0, 1, 700, 200000 };
	struct collective_events c;

	CHECK_OK(collective_events_init(&c));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct made m = { .state = i };

		collective_events_clear(&c);
		for (uint64_t k = 0; k < sizes[i]; k++) {
			struct collective_event e = make(&m);

			CHECK_OK(collective_events_add(&c, &e));
		}
		check_all(&c, sizes[i], i);
		check_all(&c, sizes[i], i);
	}
	collective_events_fini(&c);
}
