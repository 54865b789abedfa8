/* SPDX-License-Identifier: MIT */
/* fuzz_pm4.c - any words as PM4 packets: the virtual GPU's packets and its counters' registers
 *
 * libFuzzer (clang -fsanitize=fuzzer) calls LLVMFuzzerTestOneInput(). The words end at the end of a
 * page, with nothing mapped behind; the other accessible memory begins and ends unaligned.
 */
#include <sanitizer/asan_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/clock.h"
#include "engine/cp_pm4.h"
#include "engine/gpu.h"
#include "engine/host.h"
#include "engine/knobs.h"
#include "engine/perf.h"
#include "engine/queue.h"
#include "engine/sqtt.h"

#define MAX_SIZE 65536u
#define PAGE 4096u
/* low addresses: short to encode */
#define CODE_END 0x10020000u
#define DATA_PAGE 0x20000000u
#define DATA_LO (DATA_PAGE + 8)
#define DATA_HI (DATA_PAGE + PAGE - 6)
#define CALLS_MAX 24

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct knobs knobs = { .devices = KNOBS_DEVICES_MAX, .clock_hz = 27000000 };

static uint64_t code_lo;

const struct gpu_kind *gpu_kind(unsigned int gpu)
{
	static const struct gpu_kind kinds[] = {
		[GCN_GFX900] = { .nr_cus = 64, .nr_xccs = 1, .shader_engines = 4 },
		[GCN_GFX90A] = { .nr_cus = 104, .nr_xccs = 1, .shader_engines = 8 },
		[GCN_GFX942] = { .nr_cus = 304, .nr_xccs = 8, .shader_engines = 32 },
	};

	return &kinds[knobs.arch[gpu]];
}

bool host_range(uint64_t addr, struct gcn_range *out)
{
	*out = (struct gcn_range){ addr < DATA_PAGE ? code_lo : DATA_LO,
				   addr < DATA_PAGE ? CODE_END : DATA_HI, 0 };
	return addr >= out->lo && addr < out->hi;
}

void log_thread_trace(unsigned int gpu, unsigned int se, uint64_t buffer, uint64_t tokens,
		      uint64_t lost)
{
	(void)buffer;
	(void)tokens;
	(void)lost;
	CHECK(gpu < KNOBS_DEVICES_MAX && se < SQTT_SES);
}

static void *at(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

static void map(uint64_t addr, size_t size)
{
	void *p = mmap(at(addr), size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != at(addr)) {
		perror("mmap");
		exit(1);
	}
}

enum { GFX_INDEX = 0xc200, CNTL = 0xd808, SQ_CTRL = 0xd9e0, ENABLE = 0x2e0b, TRACE_CTRL = 0xc335 };

/* accessible memory, and some that is not */
static const uint32_t regs[] = {
	GFX_INDEX, CNTL,   SQ_CTRL, ENABLE, 0xd840, 0xd841, 0xd9c0, 0xd9c7, 0xdb80, 0xdb85,
	0xdb40,	   0xdb45, 0xd040,  0xd041, 0xd043, 0xd1c0, 0xd1cf, 0xd380, 0xd386, 0xd340,
	0xd347,	   0xdcbf, 0xc330,  0xc331, 0xc335, 0xc336, 0xc339, 0xc33a,
};

static uint32_t one_reg(uint32_t n)
{
	return regs[n % (sizeof(regs) / sizeof(regs[0]))];
}

/* An address that may be valid: in the code, in the data, or just behind. */
static void aim(uint32_t *lo, uint32_t *hi)
{
	uint32_t span = (uint32_t)(CODE_END - code_lo) + 12;

	*lo = *hi & 1 ? DATA_PAGE + *lo % (PAGE + 8) : (uint32_t)code_lo + *lo % span;
	if (*hi & 14)
		*lo &= ~3u;
	*hi = 0;
}

/* Makes headers, registers and addresses valid enough that packets are executed. */
static void mend(uint32_t *code, uint32_t nr)
{
	static const uint8_t ops[] = { 0x10, 0x23, 0x37, 0x3c, 0x3f, 0x40,
				       0x46, 0x49, 0x58, 0x76, 0x79, 0x40 };

	for (uint32_t i = 0; i < nr;) {
		uint32_t op = ops[(code[i] >> 8 & 0xff) % sizeof(ops)], n = code[i] >> 16 & 15;
		uint32_t *body = code + i + 1;

		if (n + 2 > nr - i)
			break;
		code[i] = 0xc0000000 | n << 16 | op << 8;
		if (op == 0x79)
			body[0] = one_reg(body[0]) - 0xc000;
		else if (op == 0x76)
			body[0] = ENABLE - 0x2c00 + (body[0] & 1);
		else if (op == 0x3f && n >= 2)
			aim(&body[0], &body[1]);
		else if (op == 0x49 && n >= 5)
			aim(&body[2], &body[3]);
		else if (op == 0x37 && n >= 3)
			aim(&body[1], &body[2]);
		else if (op == 0x3c && n >= 5 && body[0] & 0x30)
			aim(&body[1], &body[2]);
		else if (op == 0x40 && n >= 4 && (body[0] & 15) == 4)
			body[1] = one_reg(body[1]);
		else if (op == 0x40 && n >= 4)
			aim(&body[1], &body[2]);
		if (op == 0x40 && n >= 4)
			aim(&body[3], &body[4]);
		i += n + 2;
	}
}

/* Resets the state between inputs. */
static void forget(unsigned int gpu)
{
	static const struct {
		uint32_t first, nr;
	} selects[] = { { CNTL, 1 },   { SQ_CTRL, 1 }, { 0xd840, 2 },
			{ 0xd9c0, 8 }, { 0xdb40, 6 },  { 0xdb80, 6 } };

	perf_write(gpu, GFX_INDEX, 0xe0000000);
	for (size_t n = 0; n < sizeof(selects) / sizeof(selects[0]); n++) {
		for (uint32_t i = 0; i < selects[n].nr; i++)
			perf_write(gpu, selects[n].first + i, 0);
	}
	for (uint32_t reg = 0xc330; sqtt_has_register(reg); reg++)
		sqtt_write(gpu, 0xe0000000, reg, reg == TRACE_CTRL ? 1u << 31 : 0);
}

/* Events during a wait of the queue: kernels are counted and traced, the program writes. */
static void meanwhile(struct queue *q, unsigned int call)
{
	struct gcn_counters counters;
	struct sqtt_token token = { .se = call % SQTT_SES };

	memset(&counters, call & 1 ? 0xff : (int)call, sizeof(counters));
	perf_count(q->gpu, q->counts_waves, &counters);
	memset(at(DATA_LO), (int)(call * 0x11), DATA_HI - DATA_LO);
	sqtt_put(q->gpu, &token);
}

static void run(struct queue *q, const unsigned char *packet)
{
	enum cp_pm4_state state = CP_PM4_WAITS;
	struct gcn_range range;
	uint64_t addr = 0;

	for (unsigned int call = 0; call < CALLS_MAX; call++) {
		state = cp_pm4_run(q, packet, &addr);
		if (state != CP_PM4_WAITS && state != CP_PM4_MORE)
			break;
		meanwhile(q, call);
	}
	CHECK(state <= CP_PM4_FAULT);
	/* a fault is at an address without memory, or with too little */
	if (state == CP_PM4_FAULT)
		CHECK(addr & 3 || !host_range(addr, &range) || range.hi - addr < 4u << 20);
	if (state != CP_PM4_WAITS && state != CP_PM4_MORE)
		CHECK(!q->pm4_at[0] && !q->pm4_at[1] && !q->pm4_at[2]);
	for (size_t n = 0; n < sizeof(regs) / sizeof(regs[0]); n++)
		perf_read(q->gpu, regs[n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first word: bit 0 makes the stream valid, bit 1 takes the packet from the input, too; then
 * the GPU. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char packet[QUEUE_PACKET_SIZE];
	uint32_t jump[4] = { 0xc0023f00 };
	struct queue q = { 0 };

	if (!code_lo) {
		for (unsigned int gpu = 0; gpu < KNOBS_DEVICES_MAX; gpu++)
			knobs.arch[gpu] = gpu % GCN_ARCH_NR;
		map(CODE_END - MAX_SIZE - PAGE, MAX_SIZE + PAGE);
		map(DATA_PAGE, PAGE);
		clock_init();
		ASAN_POISON_MEMORY_REGION(at(DATA_PAGE), DATA_LO - DATA_PAGE);
		ASAN_POISON_MEMORY_REGION(at(DATA_HI), DATA_PAGE + PAGE - DATA_HI);
		code_lo = CODE_END;
	}
	if (size < 8 || size > MAX_SIZE)
		return 0;
	q.gpu = data[1] % KNOBS_DEVICES_MAX;
	code_lo = CODE_END - (size - 4) / 4 * 4;
	ASAN_UNPOISON_MEMORY_REGION(at(CODE_END - MAX_SIZE - PAGE), MAX_SIZE + PAGE);
	memcpy(at(code_lo), data + 4, CODE_END - code_lo);
	ASAN_POISON_MEMORY_REGION(at(CODE_END - MAX_SIZE - PAGE),
				  code_lo - (CODE_END - MAX_SIZE - PAGE));
	memset(at(DATA_LO), 0, DATA_HI - DATA_LO);
	if (data[0] & 1)
		mend(at(code_lo), (uint32_t)(CODE_END - code_lo) / 4);
	jump[1] = (uint32_t)code_lo;
	jump[3] = (uint32_t)(CODE_END - code_lo) / 4;
	if (data[0] & 2 && size >= 24)
		memcpy(jump, data + 4, sizeof(jump));
	memcpy(packet + 4, jump, sizeof(jump));
	forget(q.gpu);
	run(&q, packet);
	return 0;
}
