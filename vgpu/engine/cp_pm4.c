/* SPDX-License-Identifier: MIT */
/* cp_pm4.c - command processor: PM4 packets, which an AQL packet may point to
 *
 * Profilers send them to program and read performance counters: they write, read and wait for
 * registers, and write memory. Caches and pipelines need no flush: a queue executes PM4 packets
 * when none of its other packets runs. Buffers that jump to buffers may never end, so they are
 * executed in slices, as kernels are.
 *
 *     header  31:30 type (3), 29:16 number of dwords that follow - 1, 15:8 opcode
 *
 * Threads:  the engine's, under the engine's lock.
 * Not here: what registers do (perf.c, sqtt.c).
 */
#include "cp_pm4.h"

#include <stdbool.h>

#include "clock.h"
#include "host.h"
#include "knobs.h"
#include "mem.h"
#include "gpu.h"
#include "perf.h"
#include "queue.h"
#include "sqtt.h"

enum {
	NOP = 0x10,
	PRED_EXEC = 0x23,
	WRITE_DATA = 0x37,
	WAIT_REG_MEM = 0x3c,
	INDIRECT_BUFFER = 0x3f,
	COPY_DATA = 0x40,
	EVENT_WRITE = 0x46,
	RELEASE_MEM = 0x49,
	ACQUIRE_MEM = 0x58,
	SET_SH_REG = 0x76,
	SET_UCONFIG_REG = 0x79,
};

/* where a value comes from, or goes to */
enum {
	SEL_REG = 0,
	SEL_MEM = 1,
	SEL_L2 = 2,
	SEL_PERF = 4,
	SEL_IMM_OR_MEM = 5, /* a source is immediate, a destination memory */
	SEL_CLOCK = 9,
};

#define SH_BASE 0x2c00u
#define UCONFIG_BASE 0xc000u
#define COMPUTE_PERFCOUNT_ENABLE 0x2e0bu
#define EVENT_PERFCOUNTER_SAMPLE 0x1bu
#define NOP_ALONE 0x3fffu /* a NOP of the header alone */

/* dwords in a slice; the last packet may have as many again */
#define SLICE 16384

/* The state of the buffer being executed. */
struct pm4 {
	struct queue *q;
	uint64_t fault; /* address */
	uint32_t done;	/* dwords of this slice */
};

/* Where memory of the GPU is for the host; NULL: it has none there. */
static void *reach(struct pm4 *p, uint64_t addr, uint64_t size)
{
	struct gcn_range range;

	if (!(addr & 3) && host_range(addr, &range) && range.hi - addr >= size)
		return mem_ptr(addr + range.shift);
	p->fault = addr;
	return NULL;
}

static uint64_t address(const uint32_t *body)
{
	return body[0] | (uint64_t)body[1] << 32;
}

static uint64_t ticks(const struct queue *q)
{
	return knobs.clock == KNOBS_CLOCK_DETERMINISTIC ? clock_virtual_ticks(q->gpu, q->gate_vns) :
							  clock_ticks(q->gpu, clock_now());
}

static void write_reg(struct pm4 *p, uint32_t reg, uint32_t value)
{
	if (reg == COMPUTE_PERFCOUNT_ENABLE)
		p->q->counts_waves = value & 1;
	else if (sqtt_has_register(reg))
		sqtt_write(p->q->gpu, perf_index(p->q->gpu), reg, value);
	else
		perf_write(p->q->gpu, reg, value);
}

static uint32_t read_reg(const struct pm4 *p, uint32_t reg)
{
	if (reg == COMPUTE_PERFCOUNT_ENABLE)
		return p->q->counts_waves;
	if (sqtt_has_register(reg))
		return sqtt_read(p->q->gpu, perf_index(p->q->gpu), reg);
	return perf_read(p->q->gpu, reg);
}

static enum cp_pm4_state store(struct pm4 *p, uint64_t addr, uint64_t value, bool wide)
{
	void *at = reach(p, addr, wide ? 8 : 4);

	if (!at)
		return CP_PM4_FAULT;
	if (!wide)
		mem_store32(at, (uint32_t)value);
	else if (addr & 7)
		memcpy(at, &value, sizeof(value));
	else
		mem_store64(at, value);
	return CP_PM4_DONE;
}

static enum cp_pm4_state set_regs(struct pm4 *p, uint32_t base, const uint32_t *body, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		write_reg(p, base + (body[0] & 0xffff) + i - 1, body[i]);
	return CP_PM4_DONE;
}

static enum cp_pm4_state write_data(struct pm4 *p, const uint32_t *body, uint32_t n)
{
	uint32_t to = body[0] >> 8 & 15;
	bool same = body[0] >> 16 & 1; /* write all dwords to one address */

	for (uint32_t i = 3; i < n; i++) {
		uint32_t step = same ? 0 : i - 3;
		enum cp_pm4_state s = CP_PM4_DONE;

		if (to == SEL_REG)
			write_reg(p, body[1] + step, body[i]);
		else if (to == SEL_MEM || to == SEL_L2 || to == SEL_IMM_OR_MEM)
			s = store(p, address(body + 1) + step * 4, body[i], false);
		else
			s = CP_PM4_BAD;
		if (s != CP_PM4_DONE)
			return s;
	}
	return CP_PM4_DONE;
}

static enum cp_pm4_state copy_data(struct pm4 *p, const uint32_t *body)
{
	uint32_t from = body[0] & 15, to = body[0] >> 8 & 15;
	bool wide = body[0] >> 16 & 1;
	const void *source;
	uint64_t value;

	switch (from) {
	case SEL_REG:
	case SEL_PERF:
		value = read_reg(p, body[1]);
		if (wide)
			value |= (uint64_t)read_reg(p, body[1] + 1) << 32;
		break;
	case SEL_MEM:
	case SEL_L2:
		source = reach(p, address(body + 1), wide ? 8 : 4);
		if (!source)
			return CP_PM4_FAULT;
		value = wide ? mem_get64(source) : mem_load32(source);
		break;
	case SEL_IMM_OR_MEM:
		value = address(body + 1);
		break;
	case SEL_CLOCK:
		value = ticks(p->q);
		break;
	default:
		return CP_PM4_BAD;
	}
	switch (to) {
	case SEL_REG:
	case SEL_PERF:
		write_reg(p, body[3], (uint32_t)value);
		if (wide)
			write_reg(p, body[3] + 1, (uint32_t)(value >> 32));
		return CP_PM4_DONE;
	case SEL_MEM:
	case SEL_L2:
	case SEL_IMM_OR_MEM:
		return store(p, address(body + 3), value, wide);
	default:
		return CP_PM4_BAD;
	}
}

static bool compare(uint32_t how, uint32_t a, uint32_t b)
{
	switch (how) {
	case 1:
		return a < b;
	case 2:
		return a <= b;
	case 3:
		return a == b;
	case 4:
		return a != b;
	case 5:
		return a >= b;
	case 6:
		return a > b;
	default:
		return true;
	}
}

static enum cp_pm4_state wait_reg_mem(struct pm4 *p, const uint32_t *body)
{
	const void *at;
	uint32_t value;

	if (!(body[0] >> 4 & 3)) {
		value = read_reg(p, body[1]);
	} else {
		at = reach(p, address(body + 1) & ~3ull, 4);
		if (!at)
			return CP_PM4_FAULT;
		value = mem_load32(at);
	}
	return compare(body[0] & 7, value & body[4], body[3]) ? CP_PM4_DONE : CP_PM4_WAITS;
}

static enum cp_pm4_state release_mem(struct pm4 *p, const uint32_t *body)
{
	enum { NOTHING, LOW, BOTH, CLOCK };
	uint64_t addr = address(body + 2), value = address(body + 4);

	switch (body[1] >> 29) {
	case NOTHING:
		return CP_PM4_DONE;
	case LOW:
		return store(p, addr, value, false);
	case BOTH:
		return store(p, addr, value, true);
	case CLOCK:
		return store(p, addr, ticks(p->q), true);
	default:
		return CP_PM4_BAD;
	}
}

static enum cp_pm4_state run_buffer(struct pm4 *p, unsigned int level, const uint32_t *packet);

static enum cp_pm4_state run_packet(struct pm4 *p, unsigned int level, uint32_t op,
				    const uint32_t *body, uint32_t n)
{
	switch (op) {
	case NOP:
	case ACQUIRE_MEM:
		return CP_PM4_DONE;
	case EVENT_WRITE:
		if ((body[0] & 0x3f) == EVENT_PERFCOUNTER_SAMPLE)
			perf_sample(p->q->gpu);
		return CP_PM4_DONE;
	case SET_SH_REG:
		return set_regs(p, SH_BASE, body, n);
	case SET_UCONFIG_REG:
		return set_regs(p, UCONFIG_BASE, body, n);
	case WRITE_DATA:
		return n < 4 ? CP_PM4_BAD : write_data(p, body, n);
	case COPY_DATA:
		return n < 5 ? CP_PM4_BAD : copy_data(p, body);
	case WAIT_REG_MEM:
		return n < 6 ? CP_PM4_BAD : wait_reg_mem(p, body);
	case RELEASE_MEM:
		return n < 6 ? CP_PM4_BAD : release_mem(p, body);
	case INDIRECT_BUFFER:
		return n < 3 || level + 1 == QUEUE_PM4_LEVELS ? CP_PM4_BAD :
								run_buffer(p, level + 1, body);
	default:
		return CP_PM4_BAD;
	}
}

/* Packets up to some dwords behind `at` are of the dies of a mask. */
static void predicate(struct queue *q, unsigned int level, uint32_t at, uint32_t body)
{
	q->pm4_dies = body >> 24;
	q->pm4_dies_level = level;
	q->pm4_dies_until = at + (body & 0x3fff);
}

/* Whether a die executes the packet: then it is the one whose registers are read. */
static bool of_a_die(const struct queue *q, unsigned int level, uint32_t at)
{
	unsigned int die = 0;

	if (level == q->pm4_dies_level && at < q->pm4_dies_until) {
		die = q->pm4_dies ? (unsigned int)__builtin_ctz(q->pm4_dies) : UINT32_MAX;
		if (die >= gpu_kind(q->gpu)->nr_xccs)
			return false;
	}
	perf_die(q->gpu, die);
	return true;
}

/* `jump`: the body of an INDIRECT_BUFFER packet. Resumes at the packet that waited. */
static enum cp_pm4_state run_buffer(struct pm4 *p, unsigned int level, const uint32_t *jump)
{
	uint64_t addr = address(jump) & ~3ull;
	uint32_t size = jump[2] & 0xfffff, *at = &p->q->pm4_at[level];
	const uint32_t *code = size ? reach(p, addr, size * 4ull) : NULL;

	if (size && !code)
		return CP_PM4_FAULT;
	while (*at < size) {
		/* read once: the program may change it concurrently */
		uint32_t header = mem_load32(code + *at);
		uint32_t n = header >> 16 & 0x3fff, op = header >> 8 & 0xff;
		enum cp_pm4_state s;

		if (p->done >= SLICE)
			return CP_PM4_MORE;
		/* type 2 is a filler */
		if (header >> 30 == 2 || (header >> 30 == 3 && op == NOP && n == NOP_ALONE)) {
			++*at;
			p->done++;
			continue;
		}
		if (header >> 30 != 3 || n + 2 > size - *at)
			return CP_PM4_BAD;
		s = CP_PM4_DONE;
		if (op == PRED_EXEC)
			predicate(p->q, level, *at + n + 2, mem_load32(code + *at + 1));
		else if (of_a_die(p->q, level, *at))
			s = run_packet(p, level, op, code + *at + 1, n + 1);
		if (s != CP_PM4_DONE)
			return s;
		*at += n + 2;
		p->done += n + 2;
	}
	*at = 0;
	return CP_PM4_DONE;
}

enum cp_pm4_state cp_pm4_run(struct queue *q, const unsigned char *packet, uint64_t *addr)
{
	struct pm4 p = { .q = q };
	uint32_t jump[4];
	enum cp_pm4_state s;

	memcpy(jump, packet + 4, sizeof(jump));
	if (jump[0] >> 30 != 3 || (jump[0] >> 8 & 0xff) != INDIRECT_BUFFER)
		return CP_PM4_BAD;
	s = run_buffer(&p, 0, jump + 1);
	/* a buffer that was changed during its execution may leave deeper levels */
	if (s != CP_PM4_WAITS && s != CP_PM4_MORE) {
		memset(q->pm4_at, 0, sizeof(q->pm4_at));
		q->pm4_dies_until = 0;
	}
	*addr = p.fault;
	return s;
}
