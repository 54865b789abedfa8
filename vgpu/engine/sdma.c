/* SPDX-License-Identifier: MIT */
/* sdma.c - copy engine: packets of a gfx9 SDMA user queue
 *
 * Packets are executed. A copy is done in slices, so that one large copy does not delay the other
 * queues, and ends no earlier than VGPU_COPY_GBPS allows. The ring's tail is padded with zeros,
 * which are one-dword NOPs, so a packet never wraps. The packets between two completions are one
 * operation of the runtime, and get one line in the log.
 *
 * Threads:  the engine's, under the engine's lock.
 */
#include "sdma.h"

#include <string.h>

#include "clock.h"
#include "deliver.h"
#include "engine.h"
#include "gpu.h"
#include "host.h"
#include "knobs.h"
#include "mem.h"
#include "vtime.h"

#define BATCH 64
#define SLICE (256 * 1024)

enum {
	OP_NOP = 0,
	OP_COPY = 1,
	OP_FENCE = 5,
	OP_TRAP = 6,
	OP_POLL = 8,
	OP_ATOMIC = 10,
	OP_FILL = 11,
	OP_TIMESTAMP = 13,
	OP_GCR = 17,
};

enum { SUB_LINEAR = 0, SUB_RECT = 4 };

#define ATOMIC_ADD64 47

/* A packet's outcome: its length in dwords, or one of these. */
enum { WAITS = 0, UNKNOWN = -1, FAULT = -2 };

struct rect {
	uint64_t base, pitch, slice; /* bytes */
};

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool deterministic(void)
{
	return knobs.clock == KNOBS_CLOCK_DETERMINISTIC;
}

static uint64_t ticks_now(const struct queue *q)
{
	return deterministic() ? clock_virtual_ticks(q->gpu, q->gate_vns) :
				 clock_ticks(q->gpu, q->gate_ns);
}

static uint64_t duration_ns(uint64_t bytes)
{
	return knobs.copy_gbps > 0 ? (uint64_t)((double)bytes / knobs.copy_gbps) : 0;
}

/* Adds a transfer to the operation's line in the log. */
static void account_transfer(struct queue *q, bool fill, uint64_t src, uint64_t dst, uint64_t bytes)
{
	struct log_copy *c = &q->sdma->copy;

	if (!c->packets) {
		c->fill = fill;
		c->src = src;
		c->dst = dst;
		c->begin = deterministic() ? clock_virtual_ticks(q->gpu, q->sdma->begin_vns) :
					     clock_ticks(q->gpu, q->sdma->begin_ns);
	}
	c->packets++;
	c->bytes += bytes;
	c->end = ticks_now(q);
}

/* The bytes are moved: sets the time until which the model's engine is busy. */
static void end_transfer(struct queue *q, uint64_t bytes)
{
	struct queue_sdma *s = q->sdma;
	uint64_t ns = duration_ns(bytes);

	q->gate_ns = max64(s->begin_ns + ns, clock_now());
	q->gate_vns = s->begin_vns + ns;
	s->begun = false;
	s->done_bytes = 0;
}

static void begin_transfer(struct queue *q)
{
	struct queue_sdma *s = q->sdma;

	if (s->begun)
		return;
	s->begun = true;
	s->done_bytes = 0;
	s->begin_ns = q->gate_ns;
	s->begin_vns = q->gate_vns;
}

/* Whether the range is valid memory; if not, reports a memory fault, as for kernels. */
static bool reachable(struct queue *q, uint64_t addr, uint64_t bytes)
{
	struct gcn_range range;

	/* it may span several allocations */
	while (host_range(addr, &range)) {
		if (bytes <= range.hi - addr)
			return true;
		bytes -= range.hi - addr;
		addr = range.hi;
	}
	engine_memory_fault(q, q->sdma->copy.op, addr, 0);
	return false;
}

/* Where reachable memory is for the host, and how many of the bytes from there on are in one
 * piece. */
static void *piece(uint64_t addr, uint64_t *bytes)
{
	struct gcn_range range = { addr, UINT64_MAX, 0 };

	host_range(addr, &range);
	if (range.hi - addr < *bytes)
		*bytes = range.hi - addr;
	return mem_ptr(addr + range.shift);
}

/* Where a word in memory is for the host; NULL: nowhere, which was reported. */
static void *word_at(struct queue *q, uint64_t addr, uint64_t bytes)
{
	return reachable(q, addr, bytes) ? piece(addr, &bytes) : NULL;
}

/* false: it was reported that a range is no memory. */
static bool move(struct queue *q, uint64_t dst, uint64_t src, uint64_t bytes)
{
	if (!reachable(q, src, bytes) || !reachable(q, dst, bytes))
		return false;
	while (bytes) {
		uint64_t n = bytes;
		const void *from = piece(src, &n);
		void *to = piece(dst, &n);

		memmove(to, from, n);
		src += n;
		dst += n;
		bytes -= n;
	}
	return true;
}

/* What the field at `p` counts, plus one. AMD's runtimes from 6.0 on make use of its 30 bits on
 * gfx90a (seen in 6.1.2, 6.4.3, 7.2.4; 5.2.3 does not). */
static uint64_t get_count(const struct queue *q, const unsigned char *p)
{
	return (mem_get32(p) & gpu_kind(q->gpu)->sdma_count) + 1ull;
}

static int do_linear(struct queue *q, const unsigned char *p)
{
	uint64_t bytes = get_count(q, p + 4);
	uint64_t src = mem_get64(p + 12), dst = mem_get64(p + 20);
	uint64_t at = q->sdma->done_bytes, n;

	begin_transfer(q);
	n = bytes - at < SLICE ? bytes - at : SLICE;
	if (!move(q, dst + at, src + at, n))
		return FAULT;
	q->sdma->done_bytes += n;
	if (q->sdma->done_bytes < bytes)
		return WAITS;
	if (fault_match(FAULT_WRONG_COPY, &(struct fault_event){ q->gpu, -1, bytes, false })) {
		unsigned char *wrong = word_at(q, dst + bytes / 2, 1);

		if (!wrong)
			return FAULT;
		*wrong ^= 1;
	}
	end_transfer(q, bytes);
	account_transfer(q, false, src, dst, bytes);
	return 7;
}

static struct rect get_rect(const unsigned char *p, unsigned int shift)
{
	uint32_t xy = mem_get32(p + 8), z = mem_get32(p + 12);
	uint64_t pitch = ((z >> 13) + 1ull) << shift;
	uint64_t slice = ((mem_get32(p + 16) & 0xfffffff) + 1ull) << shift;
	struct rect r = { .pitch = pitch, .slice = slice };

	r.base = mem_get64(p) + ((uint64_t)(xy & 0x3fff) << shift) + (xy >> 16 & 0x3fff) * pitch +
		 (z & 0x7ff) * slice;
	return r;
}

static int do_rect(struct queue *q, const unsigned char *p)
{
	unsigned int shift = mem_get32(p) >> 29;
	struct rect src = get_rect(p + 4, shift), dst = get_rect(p + 24, shift);
	uint32_t wh = mem_get32(p + 44);
	uint64_t width = ((wh & 0x3fff) + 1ull) << shift, height = (wh >> 16 & 0x3fff) + 1ull;
	uint64_t depth = (mem_get32(p + 48) & 0x7ff) + 1ull, rows = height * depth;
	uint64_t moved = 0;

	begin_transfer(q);
	/* done_bytes counts rows here */
	while (q->sdma->done_bytes < rows && moved < SLICE) {
		uint64_t y = q->sdma->done_bytes % height, z = q->sdma->done_bytes / height;

		if (!move(q, dst.base + z * dst.slice + y * dst.pitch,
			  src.base + z * src.slice + y * src.pitch, width))
			return FAULT;
		moved += width;
		q->sdma->done_bytes++;
	}
	if (q->sdma->done_bytes < rows)
		return WAITS;
	end_transfer(q, width * rows);
	account_transfer(q, false, src.base, dst.base, width * rows);
	return 13;
}

static int do_fill(struct queue *q, const unsigned char *p)
{
	uint64_t dst = mem_get64(p + 4);
	uint32_t value = mem_get32(p + 12);
	uint64_t count = (get_count(q, p + 16) - 1) / 4 + 1;

	begin_transfer(q);
	if (!reachable(q, dst, count * 4))
		return FAULT;
	for (uint64_t done = 0, n; done < count * 4; done += n) {
		unsigned char *at;

		n = count * 4 - done;
		at = piece(dst + done, &n);
		for (uint64_t i = 0; i < n; i += 4)
			memcpy(at + i, &value, 4);
	}
	end_transfer(q, count * 4);
	account_transfer(q, true, 0, dst, count * 4);
	return 5;
}

/* The address of the signal whose value is the 64-bit word at `addr`, if it is one. */
static uint64_t signal_at(uint64_t addr)
{
	return (addr & ~7ull) - offsetof(amd_signal_t, value);
}

/* Before a word in memory is written that completes the operation. */
static void end_operation(struct queue *q, uint64_t addr)
{
	struct log_copy *c = &q->sdma->copy;
	struct log_where where = queue_where(q);

	if (deterministic())
		vtime_set(signal_at(addr), q->gate_vns);
	if (c->packets) {
		c->signal = signal_at(addr);
		log_copied(&where, c);
	}
	*c = (struct log_copy){ .op = c->op + 1 };
}

static int do_fence(struct queue *q, const unsigned char *p)
{
	uint64_t addr = mem_get64(p + 4);
	void *word = word_at(q, addr, 4);

	if (!word)
		return FAULT;
	if (q->sdma->copy.packets)
		end_operation(q, addr);
	mem_store32(word, mem_get32(p + 12));
	return 4;
}

static int do_atomic(struct queue *q, const unsigned char *p)
{
	uint64_t addr = mem_get64(p + 4);
	const amd_signal_t *s;
	uint64_t *word;

	if (mem_get32(p) >> 25 != ATOMIC_ADD64)
		return UNKNOWN;
	word = word_at(q, addr, 8);
	if (!word)
		return FAULT;
	end_operation(q, addr);
	s = mem_ptr(signal_at(addr));
	if (deterministic() && mem_get64(p + 12) == UINT64_MAX && s->kind == AMD_SIGNAL_KIND_USER) {
		deliver_signal(q, signal_at(addr), q->gate_vns, false);
		return 8;
	}
	__atomic_fetch_add(word, mem_get64(p + 12), __ATOMIC_ACQ_REL);
	return 8;
}

static bool compare(unsigned int how, uint32_t value, uint32_t ref)
{
	switch (how) {
	case 0:
		return true;
	case 1:
		return value < ref;
	case 2:
		return value <= ref;
	case 3:
		return value == ref;
	case 4:
		return value != ref;
	case 5:
		return value >= ref;
	default:
		return value > ref;
	}
}

static int do_poll(struct queue *q, const unsigned char *p, uint64_t now)
{
	uint32_t dw0 = mem_get32(p), have;
	uint64_t addr = mem_get64(p + 4);
	const void *word;

	/* bit 31: a word of memory; else a register, or a flush of the host data path, which needs
	 * nothing */
	if (!(dw0 >> 31) || dw0 >> 26 & 1)
		return 6;
	word = word_at(q, addr, 4);
	if (!word)
		return FAULT;
	have = mem_load32(word);
	/* half of a signal's value, which the device may see before the host does */
	if (deterministic() && vtime_pending(signal_at(addr)))
		have = (uint32_t)((uint64_t)deliver_value(signal_at(addr)) >> (addr & 4 ? 32 : 0));
	if (!compare(dw0 >> 28 & 7, have & mem_get32(p + 16), mem_get32(p + 12)))
		return WAITS;
	q->gate_ns = max64(q->gate_ns, now);
	if (deterministic())
		q->gate_vns = max64(q->gate_vns, vtime_get(signal_at(addr)));
	return 6;
}

static int do_packet(struct queue *q, const unsigned char *p, uint64_t now)
{
	uint32_t dw0 = mem_get32(p);
	void *word;

	switch (dw0 & 0xff) {
	case OP_NOP:
		return 1 + (int)(dw0 >> 16 & 0x3fff);
	case OP_COPY:
		if ((dw0 >> 8 & 0xff) == SUB_LINEAR)
			return do_linear(q, p);
		return (dw0 >> 8 & 0xff) == SUB_RECT ? do_rect(q, p) : UNKNOWN;
	case OP_FENCE:
		return do_fence(q, p);
	case OP_TRAP:
		host_event_set(mem_get32(p + 4) & 0xfffffff);
		return 2;
	case OP_POLL:
		return do_poll(q, p, now);
	case OP_ATOMIC:
		return do_atomic(q, p);
	case OP_FILL:
		return do_fill(q, p);
	case OP_TIMESTAMP:
		word = word_at(q, mem_get64(p + 4), 8);
		if (!word)
			return FAULT;
		mem_store64(word, ticks_now(q));
		return 3;
	case OP_GCR:
		return 5;
	default:
		return UNKNOWN;
	}
}

/* Records the write pointer, and when it changed. */
static void scan_ring(struct queue_sdma *s, uint64_t write_ptr, uint64_t now)
{
	if (write_ptr == s->seen)
		return;
	s->seen_before = s->seen;
	s->seen_before_ns = s->seen_ns;
	s->seen = write_ptr;
	s->seen_ns = now;
}

struct queue_visit sdma_serve(struct queue *q)
{
	struct queue_visit v = { .wake_ns = QUEUE_NEVER };
	struct queue_sdma *s = q->sdma;
	uint64_t write_ptr = mem_load64(q->doorbell), now;

	if (q->nr_late)
		v.progress = deliver_serve(q, clock_now(), &v.wake_ns);
	if (q->dead || q->paused || *s->read_ptr == write_ptr)
		return v;
	now = clock_now();
	scan_ring(s, write_ptr, now);
	for (unsigned int i = 0; i < BATCH && *s->read_ptr < s->seen; i++) {
		int dwords;

		if (now < q->gate_ns) {
			v.wake_ns = q->gate_ns < v.wake_ns ? q->gate_ns : v.wake_ns;
			break;
		}
		/* a packet does not begin before it was written */
		q->gate_ns = max64(q->gate_ns,
				   *s->read_ptr >= s->seen_before ? s->seen_ns : s->seen_before_ns);
		dwords = do_packet(q, q->ring + *s->read_ptr % q->size, now);
		if (dwords == UNKNOWN) {
			struct log_where where = queue_where(q);

			log_fault(&where, "unknown_sdma_packet", *s->read_ptr);
			q->dead = true;
			break;
		}
		if (dwords == FAULT)
			break;
		if (dwords == WAITS) {
			v.progress |= s->begun;
			break;
		}
		/* pairs with the acquire of the runtime, which waits for space in the ring */
		mem_store64(s->read_ptr, *s->read_ptr + (uint64_t)dwords * 4);
		v.progress = true;
		if (now < q->gate_ns)
			now = clock_now();
	}
	return v;
}
