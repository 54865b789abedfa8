/* SPDX-License-Identifier: MIT */
/* pmc_test.c - performance counters, programmed and read by PM4 packets like AQLprofile's
 *
 *	pmc_test counts|queues|waits|endless|bad|wild
 *
 * Prints the counters; test_pmc.py compares them. Any failure ends the program with status 1.
 */
#include "hsa_machine.h"

enum { GROUP = 256, GROUPS = 4, ITEMS = GROUP * GROUPS };
enum { OUT_AT = 65536, DATA_SIZE = 2 * OUT_AT, SAMPLES_MAX = 4096 };

static struct kernel counted;
static uint32_t *data;	  /* in, and 64 KiB behind it out */
static uint64_t *kernarg; /* one argument: data */
static uint64_t *samples; /* written by READ packets */

static void open_machine(void)
{
	open_agents();
	counted = load_kernel("counted.co", "counted.kd");
	data = allocate(DATA_SIZE);
	kernarg = allocate(4096);
	samples = allocate(SAMPLES_MAX * sizeof(*samples));
	kernarg[0] = (uintptr_t)data;
	for (uint32_t i = 0; i < ITEMS; i++)
		data[i] = i * 3;
}

static void run_kernel(hsa_queue_t *q)
{
	hsa_kernel_dispatch_packet_t p = dispatch_of(&counted, ITEMS, GROUP, kernarg);

	memset(data + ITEMS, 0, DATA_SIZE - ITEMS * sizeof(*data));
	p.group_segment_size = 1024;
	wait_done(submit(q, &p));
	for (uint32_t i = 0; i < ITEMS; i++)
		CHECK(data[OUT_AT / 4 + i] == data[i] * 1024 + 1);
}

/* ---- PM4 ---- */
enum {
	EVENT_WRITE = 0x46,
	COPY_DATA = 0x40,
	ACQUIRE_MEM = 0x58,
	WAIT_REG_MEM = 0x3c,
	INDIRECT_BUFFER = 0x3f,
	RELEASE_MEM = 0x49,
	WRITE_DATA = 0x37,
	NOP = 0x10,
	SET_SH_REG = 0x76,
	SET_UCONFIG_REG = 0x79,
};
enum {
	GFX_INDEX = 0xc200,
	CNTL = 0xd808,
	CLK_CNTL = 0xdcbf,
	SQ_CTRL = 0xd9e0,
	SQ_MASK = 0xd9e1,
	ENABLE = 0x2e0b,
};

#define BROADCAST 0xe0000000u

struct stream {
	uint32_t *code;
	uint32_t nr;
};

static struct stream new_stream(void)
{
	return (struct stream){ .code = allocate(65536) };
}

static void emit(struct stream *s, uint32_t op, uint32_t n, const uint32_t *body)
{
	CHECK((s->nr + n + 1) * 4 <= 65536);
	s->code[s->nr++] = 0xc0000000 | (n - 1) << 16 | op << 8;
	memcpy(s->code + s->nr, body, n * 4);
	s->nr += n;
}

#define EMIT(s, op, ...)                                                                           \
	emit(s, op, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, (uint32_t[]){ __VA_ARGS__ })
#define LO(p) (uint32_t)(uintptr_t)(p)
#define HI(p) (uint32_t)((uintptr_t)(p) >> 32)

static void set(struct stream *s, uint32_t reg, uint32_t value)
{
	EMIT(s, SET_UCONFIG_REG, reg - 0xc000, value);
}

static void flush(struct stream *s)
{
	EMIT(s, EVENT_WRITE, 0x407);
}

static hsa_signal_t send(hsa_queue_t *q, const struct stream *s)
{
	uint32_t packet[16] = { 1 << 16,     0xc0023f00,	 LO(s->code),
				HI(s->code), 0x10800000 | s->nr, 10 };

	return submit(q, packet);
}

struct counter {
	const char *name;
	uint32_t event, select, lo, instances;
	bool per_se, sq;
};

#define SQ(n, name, event)                                                                         \
	{                                                                                          \
		name, event, 0xd9c0 + n, 0xd1c0 + 2 * n, 1, true, true                             \
	}
#define GRBM(name, event, select, lo)                                                              \
	{                                                                                          \
		name, event, select, lo, 1, false, false                                           \
	}
#define TCC(name, event, select, lo)                                                               \
	{                                                                                          \
		name, event, select, lo, 16, false, false                                          \
	}
#define TCP(name, event, select, lo)                                                               \
	{                                                                                          \
		name, event, select, lo, 16, true, false                                           \
	}
#define NR_COUNTERS 18

static const struct counter sets[2][NR_COUNTERS] = {
	{ SQ(0, "SQ_WAVES", 4), SQ(1, "SQ_INSTS_VALU", 26), SQ(2, "SQ_INSTS_SALU", 30),
	  SQ(3, "SQ_INSTS_SMEM", 31), SQ(4, "SQ_INSTS_VMEM_RD", 28), SQ(5, "SQ_INSTS_VMEM_WR", 27),
	  SQ(6, "SQ_INSTS_LDS", 34), SQ(7, "SQ_INSTS_BRANCH", 38),
	  GRBM("GRBM_COUNT", 0, 0xd840, 0xd040), GRBM("GRBM_GUI_ACTIVE", 2, 0xd841, 0xd043),
	  TCC("TCC_HIT", 20, 0xdb80, 0xd380), TCC("TCC_MISS", 22, 0xdb82, 0xd382),
	  TCC("TCC_EA_WRREQ", 29, 0xdb84, 0xd384), TCC("TCC_EA_RDREQ", 41, 0xdb85, 0xd386),
	  TCP("TCP_TOTAL_ACCESSES", 126, 0xdb40, 0xd340), TCP("TCP_HIT", 128, 0xdb42, 0xd342),
	  TCP("TCC_READ", 23, 0xdb44, 0xd344), TCP("TCC_WRITE", 24, 0xdb45, 0xd346) },
	{ SQ(0, "SQ_WAIT_INST_ANY", 60), SQ(1, "SQ_WAIT_INST_VMEM", 61),
	  SQ(2, "SQ_WAIT_INST_SCA", 62), SQ(3, "SQ_WAIT_INST_LDS", 63),
	  SQ(4, "SQ_WAIT_INST_VALU", 64), SQ(5, "SQ_WAIT_INST_MISC", 66), SQ(6, "SQ_INSTS", 25),
	  SQ(7, "SQ_BUSY_CYCLES", 3),
	  /* GRBM counters in the other order, the same event twice */
	  GRBM("GRBM_GUI_ACTIVE", 2, 0xd840, 0xd040), GRBM("GRBM_COUNT", 0, 0xd841, 0xd043),
	  TCC("TCC_EA_RDREQ", 41, 0xdb80, 0xd380), TCC("TCC_EA_WRREQ", 29, 0xdb82, 0xd382),
	  TCC("TCC_MISS", 22, 0xdb84, 0xd384), TCC("TCC_MISS", 22, 0xdb85, 0xd386),
	  TCP("TCC_WRITE", 133, 0xdb40, 0xd340), TCP("TCC_READ", 130, 0xdb42, 0xd342),
	  TCP("TCP_HIT", 128, 0xdb44, 0xd344), TCP("TCP_HIT", 128, 0xdb45, 0xd346) },
};

static struct stream start_stream(const struct counter *set_of)
{
	struct stream s = new_stream();

	flush(&s);
	set(&s, GFX_INDEX, BROADCAST);
	set(&s, CLK_CNTL, 1);
	set(&s, CNTL, 0);
	set(&s, SQ_CTRL, 0xffff007f);
	for (unsigned int c = 0; c < NR_COUNTERS; c++) {
		const struct counter *n = &set_of[c];

		for (uint32_t i = 0; i < n->instances; i++) {
			set(&s, GFX_INDEX, n->instances > 1 ? 0xa0000000 | i : BROADCAST);
			set(&s, n->select, n->sq ? 0x0f0ff000 | n->event : n->event);
		}
		if (n->sq) {
			set(&s, SQ_MASK, 0xffffffff);
			set(&s, SQ_CTRL, 0xffff0057);
		}
	}
	set(&s, GFX_INDEX, BROADCAST);
	EMIT(&s, SET_SH_REG, ENABLE - 0x2c00, 1);
	set(&s, CNTL, 0);
	set(&s, CNTL, 1);
	flush(&s);
	return s;
}

static uint32_t selector(const struct counter *n, uint32_t se, uint32_t i)
{
	if (n->per_se)
		return n->instances > 1 ? 0x20000000 | se << 16 | i : 0x60000000 | se << 16;
	return n->instances > 1 ? 0xa0000000 | i : BROADCAST;
}

/* Only the instances that `set_of` names: one sample each, in order. */
static struct stream read_stream(const struct counter *set_of, uint32_t cntl)
{
	struct stream s = new_stream();
	uint64_t *to = samples;

	set(&s, CNTL, cntl);
	set(&s, GFX_INDEX, BROADCAST);
	flush(&s);
	for (unsigned int c = 0; c < NR_COUNTERS; c++) {
		const struct counter *n = &set_of[c];

		for (uint32_t k = 0; k < n->instances * (n->per_se ? 4 : 1); k++, to++) {
			set(&s, GFX_INDEX, selector(n, k / n->instances, k % n->instances));
			EMIT(&s, COPY_DATA, 0x02002500, n->lo, 0, LO(to), HI(to));
			EMIT(&s, COPY_DATA, 0x02002500, n->lo + 1, 0, LO((char *)to + 4),
			     HI((char *)to + 4));
		}
	}
	CHECK(to - samples <= SAMPLES_MAX);
	set(&s, GFX_INDEX, BROADCAST);
	EMIT(&s, ACQUIRE_MEM, 0x28c40000, 0x40, 0, LO((uintptr_t)samples >> 8), 0, 0x10);
	return s;
}

static struct stream stop_stream(void)
{
	struct stream s = new_stream();

	set(&s, GFX_INDEX, BROADCAST);
	set(&s, CNTL, 2);
	set(&s, CLK_CNTL, 0);
	flush(&s);
	return s;
}

static void show(const struct counter *set_of, const char *when)
{
	const uint64_t *at = samples;

	for (unsigned int c = 0; c < NR_COUNTERS; c++) {
		uint64_t sum = 0;

		for (uint32_t k = 0; k < set_of[c].instances * (set_of[c].per_se ? 4 : 1); k++)
			sum += *at++;
		printf("%s %s %llu\n", when, set_of[c].name, (unsigned long long)sum);
	}
	memset(samples, 0xff, SAMPLES_MAX * sizeof(*samples));
}

static void counts(void)
{
	struct stream stop = stop_stream();
	hsa_queue_t *q = new_queue(0, 64);

	for (unsigned int n = 0; n < 2; n++) {
		struct stream start = start_stream(sets[n]), read = read_stream(sets[n], 0x401),
			      last = read_stream(sets[n], 0x402), stale = read_stream(sets[n], 1);
		char when[32];

		wait_done(send(q, &start));
		for (unsigned int k = 1; k <= 2; k++) {
			run_kernel(q);
			wait_done(send(q, &read));
			snprintf(when, sizeof(when), "set %u after %u:", n, k);
			show(sets[n], when);
		}
		/* counts without a sample are not visible, and kernels after the stop are not
		 * counted */
		run_kernel(q);
		wait_done(send(q, &stale));
		snprintf(when, sizeof(when), "set %u stale:", n);
		show(sets[n], when);
		wait_done(send(q, &stop));
		run_kernel(q);
		wait_done(send(q, &last));
		snprintf(when, sizeof(when), "set %u stopped:", n);
		show(sets[n], when);
		wait_done(send(q, &start));
		wait_done(send(q, &read));
		snprintf(when, sizeof(when), "set %u again:", n);
		show(sets[n], when);
	}
}

/* Waves are counted on enabled queues, cache lines and cycles on all. */
static void queues(void)
{
	struct stream start = start_stream(sets[0]), read = read_stream(sets[0], 0x401);
	struct stream enable = new_stream(), disable = new_stream();
	hsa_queue_t *q = new_queue(0, 64), *other = new_queue(0, 64);

	EMIT(&enable, SET_SH_REG, ENABLE - 0x2c00, 1);
	EMIT(&disable, SET_SH_REG, ENABLE - 0x2c00, 0);
	wait_done(send(q, &start));
	run_kernel(other);
	wait_done(send(q, &read));
	show(sets[0], "not enabled:");
	wait_done(send(other, &enable));
	run_kernel(other);
	wait_done(send(q, &read));
	show(sets[0], "enabled:");
	wait_done(send(other, &disable));
	run_kernel(other);
	wait_done(send(q, &read));
	show(sets[0], "disabled:");
}

static void waits(void)
{
	struct stream s = new_stream(), inner = new_stream();
	volatile uint32_t *flag = (uint32_t *)samples;
	uint64_t *out = samples + 8;
	hsa_queue_t *q = new_queue(0, 64);
	hsa_signal_t done;

	/* memory equal to 7, from within a buffer that the buffer jumps to */
	EMIT(&inner, WRITE_DATA, 5 << 8, LO(out), HI(out), 11, 12);
	EMIT(&inner, WAIT_REG_MEM, 3 | 1 << 4, LO(flag), HI(flag), 7, 0xff, 4);
	EMIT(&inner, WRITE_DATA, 5 << 8 | 1 << 16, LO(out + 1), HI(out + 1), 13, 14);
	s.code[s.nr++] = 0x80000000;
	EMIT(&s, NOP, 1, 2, 3);
	EMIT(&s, COPY_DATA, 9 | 5 << 8 | 1 << 16, 0, 0, LO(out + 2), HI(out + 2));
	EMIT(&s, INDIRECT_BUFFER, LO(inner.code), HI(inner.code), 0x10800000 | inner.nr);
	EMIT(&s, RELEASE_MEM, 0x514, 3u << 29, LO(out + 3), HI(out + 3), 0, 0, 0);
	EMIT(&s, RELEASE_MEM, 0x514, 2u << 29, LO(out + 4), HI(out + 4), 0x55667788, 0x11223344, 0);
	EMIT(&s, COPY_DATA, 5 | 5 << 8, 77, 0, LO(out + 5), HI(out + 5));
	EMIT(&s, COPY_DATA, 1 | 5 << 8 | 1 << 16, LO(out + 4), HI(out + 4), LO(out + 6),
	     HI(out + 6));
	done = send(q, &s);
	CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 100000000,
					HSA_WAIT_STATE_BLOCKED) == 1);
	CHECK(out[0] == (12ull << 32 | 11) && !out[1] && out[2] && !out[3] && !out[4]);
	*flag = 0xabcdef07;
	wait_done(done);
	/* the clock shows that packets before the wait were not executed twice */
	CHECK(out[1] == 14 && out[3] >= out[2] && out[4] == 0x1122334455667788);
	CHECK(out[5] == 77 && out[6] == out[4]);
	printf("waits %llu\n", (unsigned long long)(out[3] - out[2]));
}

/* Buffers that jump practically without end: other queues make progress, and the queue can be
 * destroyed. */
static void endless(void)
{
	struct stream s[3] = { new_stream(), new_stream(), new_stream() };
	hsa_queue_t *q = new_queue(0, 64), *other = new_queue(0, 64);
	hsa_signal_t done;

	for (unsigned int n = 0; n < 16000; n++)
		s[2].code[s[2].nr++] = 0x80000000;
	for (unsigned int level = 2; level--;) {
		for (unsigned int n = 0; n < 4000; n++)
			EMIT(&s[level], INDIRECT_BUFFER, LO(s[level + 1].code),
			     HI(s[level + 1].code), s[level + 1].nr);
	}
	done = send(q, &s[0]);
	for (unsigned int n = 0; n < 20; n++)
		run_kernel(other);
	CHECK(hsa_signal_load_scacquire(done) == 1);
	HSA(hsa_queue_destroy(q));
	run_kernel(other);
	printf("went on\n");
}

static void bad(bool wild)
{
	struct stream s = new_stream();

	HSA(hsa_amd_register_system_event_handler(on_system_event, NULL));
	if (wild)
		EMIT(&s, COPY_DATA, 5 | 5 << 8, 1, 0, 0x23456000, 0x1);
	else
		EMIT(&s, 0x99, 0, 0);
	wait_done(send(new_queue(0, 64), &s));
	printf("survived\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	open_machine();
	if (!strcmp(what, "counts"))
		counts();
	else if (!strcmp(what, "queues"))
		queues();
	else if (!strcmp(what, "waits"))
		waits();
	else if (!strcmp(what, "endless"))
		endless();
	else if (!strcmp(what, "bad") || !strcmp(what, "wild"))
		bad(!strcmp(what, "wild"));
	else
		CHECK(!"what to do");
	return 0;
}
