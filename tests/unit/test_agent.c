/* SPDX-License-Identifier: MIT */
/* test_agent.c - agents keep their index; their clocks are emitted */
#include "base/clock.h"
#include "source/hsa/agent.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

TEST(agents_are_numbered_in_runtime_order)
{
	fake_open(NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_AGENT), FAKE_NR_AGENTS);
	for (uint32_t i = 0; i < FAKE_NR_AGENTS; i++) {
		const struct event_agent *a = &sink_record_at(EVENT_AGENT, i)->agent;

		CHECK_EQ_UINT(a->index, i);
		CHECK_EQ_UINT(a->handle, fake_agent(i).handle);
		CHECK_EQ_UINT(agent_index(fake_agent(i)), i);
		CHECK_EQ_UINT(agent_handle(i).handle, fake_agent(i).handle);
		CHECK_EQ_INT(agent_is_gpu(i), i > 0);
		CHECK_EQ_UINT(a->agent_type, i ? REC_AGENT_GPU : REC_AGENT_CPU);
		CHECK_EQ_UINT(a->gpu_index, i ? i - 1 : UINT32_MAX);
		CHECK_STR_EQ(sink_record_string(a->name), i ? "gfx900" : "CPU");
		CHECK_EQ_UINT(a->node, i);
		CHECK_EQ_UINT(a->bdf, i << 8);
	}
	CHECK_EQ_UINT(agent_index((hsa_agent_t){ 12345 }), AGENT_NONE);
	CHECK(!agent_is_gpu(AGENT_NONE));
	CHECK_EQ_UINT(agent_handle(AGENT_NONE).handle, 0);
}

TEST(agent_keeps_its_index_after_runtime_restart)
{
	fake_open(NULL, 0);
	table_drop();
	fake_build_tables(48);
	CHECK(table_take(&fake.root));
	CHECK_EQ_UINT(sink_record_count(EVENT_AGENT), FAKE_NR_AGENTS);
	for (uint32_t i = 0; i < FAKE_NR_AGENTS; i++)
		CHECK_EQ_UINT(agent_index(fake_agent(i)), i);
}

TEST(clock_of_gpu_is_emitted_after_a_tick_was_seen)
{
	uint64_t now = clock_now_ns();
	const struct event_clock *c;

	fake_open(NULL, 0);
	agent_emit_clocks();
	CHECK_EQ_UINT(sink_record_count(EVENT_CLOCK), 0);
	/* a tick in the past, and one in the future */
	CHECK(agent_system_ns(1, (now - 12345) / 10 - 100000) > 0);
	CHECK(agent_system_ns(2, (now - 12345) / 10 + 10000000) > now);
	CHECK_EQ_UINT(agent_system_ns(AGENT_NONE, 1), 0);
	agent_emit_clocks();
	CHECK_EQ_UINT(sink_record_count(EVENT_CLOCK), 2);
	for (int i = 0; i < 2; i++) {
		c = &sink_record_at(EVENT_CLOCK, i)->clock;
		CHECK_EQ_UINT(c->agent, i + 2);
		CHECK_EQ_UINT(c->system_ns, fake_ticks_to_ns(c->ticks));
		CHECK_NEAR((double)c->system_ns, (double)c->boottime_ns, 5e6);
		CHECK_NEAR((double)c->ticks * 10, (double)now, 1e9);
	}
}

TEST(number_that_is_no_tick_does_not_settle_the_clock)
{
	uint64_t now = clock_now_ns(), ticks = (now - 12345) / 10;
	struct gpu_clock_piece p = { 0 };

	fake_open(NULL, 0);
	/* before any tick was seen, too */
	CHECK_EQ_UINT(agent_settle_ns(&p, 2, ticks + 1000000000),
		      fake_ticks_to_ns(ticks + 1000000000));
	CHECK_EQ_UINT(p.until, 0);
	CHECK_EQ_UINT(agent_settle_ns(&p, 1, ticks), fake_ticks_to_ns(ticks));
	CHECK(gpu_clock_covers(&p, ticks));
	/* far ahead; so far that ns overflow */
	CHECK_EQ_UINT(agent_settle_ns(&p, 1, ticks + 1000000000),
		      fake_ticks_to_ns(ticks + 1000000000));
	agent_settle_ns(&p, 1, UINT64_MAX / 10 + ticks / 2);
	agent_settle_ns(&p, 1, UINT64_MAX - 5);
	CHECK(!gpu_clock_covers(&p, ticks + 1000000000));
	CHECK_EQ_UINT(agent_settle_ns(&p, 1, 0), 0);
	CHECK_EQ_UINT(agent_settle_ns(&p, 1, ticks + 1000000), fake_ticks_to_ns(ticks + 1000000));
	CHECK(p.until < ticks + 10000000);
}
