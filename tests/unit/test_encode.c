/* SPDX-License-Identifier: MIT */
/* test_encode.c - the bytes of encoded records do not change
 *
 * tests/golden/v1-kinds.rtl contains a record of every type, written by the first encoder of
 * version 1; the thread's is written by hand. RTL_GOLDEN=FILE also writes the trace that is
 * compared with it.
 */
#include "sink/recorder/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "event/event.h"
#include "sink/recorder/buf.h"
#include "support/spool_make.h"
#include "support/test.h"

#define TID 70
#define LONG_TEXT (REC_STRING_PIECE + 15)

/* Each byte of a field is different, so that a truncated field is detected. */
#define B2 0x2122u
#define B4 0x31323334u
#define B8 UINT64_C(0x4142434445464748)

static struct {
	struct chunk_header head;
	_Alignas(8) uint8_t payload[CHUNK_PAYLOAD];
} chunk;

static char long_text[LONG_TEXT];
static const uint64_t words[] = { B8, 0, B8 + 1 };
static const struct event_dispatch dispatch = {
	.begin_ticks = B8,
	.end_ticks = B8 + 1000,
	.begin_ns = B8 + 1,
	.end_ns = B8 + 2001,
	.packet = B4,
	.correlation = B4 + 1,
	.marker = B4 + 2,
	.kernel = 7,
	.queue = 3,
	.grid = { B4 + 3, B4 + 4, B4 + 5 },
	.group = { B2, B2 + 1, B2 + 2 },
	.private_size = B4 + 6,
	.group_size = B4 + 7,
	.tid = TID,
	.flags = REC_F_HAD_SIGNAL,
};

static const struct event events[] = {
	{ EVENT_STRING, .string = { .id = 5, .size = 5, .text = "_Z3fv" } },
	{ EVENT_STRING, .string = { .id = 6, .size = LONG_TEXT, .text = long_text } },
	{ EVENT_STRING, .string = { .id = 9, .size = 0, .text = "" } },
	{ EVENT_INFO, .info = { .key = 5, .value = 6 } },
	{ EVENT_CLOCK, .clock = { .agent = 2,
				  .system_ns = B8,
				  .monotonic_ns = B8 + 1,
				  .boottime_ns = B8 + 2,
				  .realtime_ns = B8 + 3,
				  .ticks = B8 + 4 } },
	{ EVENT_AGENT, .agent = { .index = 1,
				  .handle = B8,
				  .name = 5,
				  .product = 6,
				  .vendor = 9,
				  .uuid = B4,
				  .agent_type = REC_AGENT_GPU,
				  .gpu_index = B4 + 1,
				  .node = B4 + 2,
				  .nr_cu = B4 + 3,
				  .simd_per_cu = B4 + 4,
				  .wave_size = B4 + 5,
				  .max_waves_per_cu = B4 + 6,
				  .clock_mhz = B4 + 7,
				  .bdf = B4 + 8 } },
	{ EVENT_QUEUE, .queue = { .index = 3,
				  .flags = REC_QUEUE_INTERNAL,
				  .agent = 1,
				  .size = B4,
				  .tid = TID,
				  .queue_type = 2,
				  .hsa_id = B8,
				  .handle = B8 + 1,
				  .time_ns = B8 + 2 } },
	{ EVENT_QUEUE_END, .end = { .id = 3, .time_ns = B8 } },
	{ EVENT_CODE_OBJECT, .code_object = { .id = 4,
					      .agent = 1,
					      .uri = 5,
					      .load_base = B8,
					      .load_size = B8 + 1,
					      .load_delta = B8 + 2,
					      .time_ns = B8 + 3 } },
	{ EVENT_CODE_OBJECT_END, .end = { .id = 4, .time_ns = B8 } },
	{ EVENT_KERNEL, .kernel = { .id = 7,
				    .name = 5,
				    .code_object = 4,
				    .agent = 1,
				    .kernarg_size = B4,
				    .group_size = B4 + 1,
				    .private_size = B4 + 2,
				    .rsrc1 = B4 + 3,
				    .rsrc2 = B4 + 4,
				    .rsrc3 = B4 + 5,
				    .object = B8 } },
	{ EVENT_COPY, .copy = { .begin_ns = B8,
				.end_ns = B8 + 9,
				.bytes = B8 + 1,
				.correlation = B4,
				.marker = B8 + 2,
				.dst = B8 + 3,
				.src = B8 + 4,
				.dst_agent = 1,
				.src_agent = B4 + 1,
				.kind = REC_COPY_P2P,
				.engine = UINT32_MAX,
				.tid = TID,
				.flags = REC_F_HOST_TIME } },
	{ EVENT_BARRIER, .barrier = { .begin_ns = B8 + 1,
				      .end_ns = B8,
				      .packet = B8 + 2,
				      .correlation = B4,
				      .queue = 3,
				      .kind = 5,
				      .tid = TID,
				      .flags = REC_F_SHARED } },
	{ EVENT_MARKER, .marker = { .time_ns = B8,
				    .marker = 1,
				    .parent = 0,
				    .kind = REC_MARKER_PUSH,
				    .level = B4,
				    .tid = TID,
				    .size = 3,
				    .text = "one" } },
	{ EVENT_MARKER_END, .end = { .id = TID, .time_ns = B8, .marker = B8 + 1 } },
	{ EVENT_OP, .op = { .domain = REC_API_HIP, .op = 300, .name = 5, .signature = 6 } },
	{ EVENT_API, .api = { .begin_ns = B8,
			      .end_ns = B8 + 1,
			      .correlation = B8 + 2,
			      .parent = B8 + 3,
			      .tid = TID,
			      .status = -2,
			      .op = B2,
			      .domain = REC_API_HIP,
			      .nr_words = 3,
			      .words = words } },
	{ EVENT_LINK,
	  .link = { .operation = B8, .correlation = B8 + 1, .marker = B8 + 2, .tid = TID } },
};

static void encode(struct buf *b, const struct event *ev)
{
	CHECK(encode_event(b, ev));
}

/* Dispatches: one with its shape, one whose shape exists already, and one in the wide form. */
static void encode_dispatches(struct buf *b)
{
	struct event ev = { EVENT_DISPATCH, .dispatch = dispatch };

	encode(b, &ev);
	ev.dispatch.end_ns = ev.dispatch.begin_ns;
	encode(b, &ev);
	ev.dispatch.marker = B8;
	ev.dispatch.end_ns--;
	encode(b, &ev);
}

static struct spool_written written;

static void encode_all(struct buf *b)
{
	for (size_t i = 0; i < LONG_TEXT; i++)
		long_text[i] = (char)('a' + i % 26);
	memset(&chunk, 0xff, sizeof(chunk));
	b->lane.chunk = &chunk.head;
	b->lane.pos = chunk.payload;
	b->lane.end = chunk.payload + sizeof(chunk.payload);
	b->seq = 1;
	b->lane.written = &written;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		encode(b, &events[i]);
	encode_dispatches(b);
}

TEST(records_of_every_type_equal_the_golden_trace)
{
	static struct spool_make m;
	static uint8_t want[SLOT_SIZE], got[SLOT_SIZE];
	const char *keep = getenv("RTL_GOLDEN"), *path = keep ? keep : test_tmpfile("kinds.rtl");
	static struct buf b;
	ssize_t size, n;

	encode_all(&b);
	spool_make_begin(&m, path, 100, false);
	spool_make_chunk(&m, TID);
	for (const uint8_t *p = chunk.payload; p < b.lane.pos;) {
		const struct rec_head *h = (const void *)p;

		CHECK_GT_UINT(h->size8, 0);
		spool_make_raw(&m, p, h->size8 * 8u);
		p += h->size8 * 8u;
	}
	spool_make_thread(&m, TID, "worker", B8);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);

	size = fd_read_file(V1_KINDS, want, sizeof(want));
	n = fd_read_file(path, got, sizeof(got));
	CHECK_EQ_INT(n, size);
	/* headers contain their files' names */
	for (ssize_t i = SPOOL_HEADER_SIZE + (ssize_t)sizeof(chunk.head); i < n; i++)
		CHECK_MSG(got[i] == want[i], "byte %ld of the payload: 0x%x instead of 0x%x",
			  (long)(i - (ssize_t)(SPOOL_HEADER_SIZE + sizeof(chunk.head))), got[i],
			  want[i]);
}
