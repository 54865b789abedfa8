/* SPDX-License-Identifier: MIT */
/* client.h - shared by the clients of rocprofiler: the kernel of counted.s, whose counts are known,
 * and checks
 *
 * Any failure is printed and counted; the program's status is 1 then.
 */
#ifndef ROCPROFILER_CLIENT_H
#define ROCPROFILER_CLIENT_H

#include "../vgpu/hsa_machine.h"

#include "rocprofiler/rocprofiler.h"

enum { GROUP = 256, GROUPS = 4, ITEMS = GROUP * GROUPS, OUT_AT = 65536, DATA_SIZE = 2 * OUT_AT };
/* of one dispatch, counted by hand (tests/vgpu/test_pmc.py) */
enum {
	WAVES = 16,
	VALU = WAVES * 14,
	SALU = WAVES * 24,
	LINES = WAVES * 4,
	CYCLES = 59 * 4 + 1000
};

static int nr_wrong;

#define GOOD(call)                                                                                 \
	do {                                                                                       \
		hsa_status_t good_ = (call);                                                       \
		if (good_ != HSA_STATUS_SUCCESS) {                                                 \
			printf("%s:%d: %s: 0x%x %s", __FILE__, __LINE__, #call, (unsigned)good_,   \
			       rocprofiler_last_error_string());                                   \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

/* It fails with a status and a text. */
#define BAD(call, status, text)                                                                    \
	do {                                                                                       \
		hsa_status_t bad_ = (call);                                                        \
		if (bad_ != (status) || !strstr(rocprofiler_last_error_string(), text) ||          \
		    rocprofiler_errno() != (rocprofiler_errno_t)(status)) {                        \
			printf("%s:%d: %s: 0x%x, not 0x%x: %s", __FILE__, __LINE__, #call,         \
			       (unsigned)bad_, (unsigned)(status),                                 \
			       rocprofiler_last_error_string());                                   \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

#define EQUAL(what, value)                                                                         \
	do {                                                                                       \
		double is_ = (double)(what), be_ = (double)(value);                                \
		if (is_ < be_ || is_ > be_) {                                                      \
			printf("%s:%d: %s is %g, not %g\n", __FILE__, __LINE__, #what, is_, be_);  \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

struct counted {
	struct kernel kernel;
	uint32_t *data;	   /* in, and 64 KiB behind it out */
	uint64_t *kernarg; /* one argument: data */
	unsigned int gpu;
};

static inline void allow_all(void *p)
{
	HSA(hsa_amd_agents_allow_access(nr_gpus, gpus, NULL, p));
}

/* load_kernel() for another GPU than the first. */
static inline struct counted load_counted(unsigned int gpu)
{
	hsa_agent_t first = gpus[0];
	struct counted c = { .gpu = gpu };

	gpus[0] = gpus[gpu];
	c.kernel = load_kernel("counted.co", "counted.kd");
	gpus[0] = first;
	c.data = allocate(DATA_SIZE);
	c.kernarg = allocate(4096);
	allow_all(c.data);
	allow_all(c.kernarg);
	c.kernarg[0] = (uintptr_t)c.data;
	for (uint32_t i = 0; i < ITEMS; i++)
		c.data[i] = i * 3;
	return c;
}

static inline hsa_kernel_dispatch_packet_t counted_packet(const struct counted *c)
{
	hsa_kernel_dispatch_packet_t p = dispatch_of(&c->kernel, ITEMS, GROUP, c->kernarg);

	p.group_segment_size = 1024;
	return p;
}

/* Dispatches it, waits, and checks what it has computed. */
static inline void run_counted(const struct counted *c, hsa_queue_t *q)
{
	hsa_kernel_dispatch_packet_t p = counted_packet(c);

	memset(c->data + ITEMS, 0, DATA_SIZE - ITEMS * sizeof(*c->data));
	wait_done(submit(q, &p));
	for (uint32_t i = 0; i < ITEMS; i++)
		CHECK(c->data[OUT_AT / 4 + i] == c->data[i] * 1024 + 1);
}

static inline rocprofiler_feature_t metric(const char *name)
{
	rocprofiler_feature_t f;

	memset(&f, 0, sizeof(f));
	f.kind = ROCPROFILER_FEATURE_KIND_METRIC;
	f.name = name;
	return f;
}

/* As docs/virtual-gpu.md has them. */
struct token {
	uint8_t type, engine, rest[18];
	uint32_t queue;
	uint64_t index;
};
_Static_assert(sizeof(struct token) == 32, "a token");

struct tokens {
	uint32_t starts, ends, all, instances;
	/* the runtime copies with kernels on a queue of its own, the first one */
	uint32_t starts_of_runtime;
	bool has_several_dispatches;
	uint64_t dispatch; /* queue and index, not the runtime's */
};

static inline void count_tokens(const void *data, uint32_t size, struct tokens *t)
{
	struct token token;

	for (uint32_t at = 0; at + sizeof(token) <= size; at += sizeof(token)) {
		memcpy(&token, (const char *)data + at, sizeof(token));
		t->all++;
		if (token.type == 3 && !token.queue) {
			t->starts_of_runtime++;
		} else if (token.type == 3) {
			uint64_t of = (uint64_t)token.queue << 32 | token.index;

			t->has_several_dispatches |= t->dispatch && t->dispatch != of;
			t->dispatch = of;
		}
		t->starts += token.type == 3;
		t->ends += token.type == 6;
	}
}

static inline hsa_status_t on_instance(hsa_ven_amd_aqlprofile_info_type_t type,
				       hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	struct tokens *t = arg;
	void *host = allocate(d->trace_data.size + 1);

	EQUAL(type, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA);
	EQUAL(d->sample_id, t->instances);
	t->instances++;
	if (d->trace_data.size)
		HSA(hsa_memory_copy(host, d->trace_data.ptr, d->trace_data.size));
	count_tokens(host, d->trace_data.size, t);
	return HSA_STATUS_SUCCESS;
}

static inline int end_of_client(void)
{
	printf("wrong %d\n", nr_wrong);
	return nr_wrong != 0;
}

#endif
