/* SPDX-License-Identifier: MIT */
/* inst_lib.c - one instruction at a time, for inst_test.py
 *
 * The interpreter alone, without the driver or a runtime: registers and memory in, registers and
 * memory out.
 */
#include <stdlib.h>
#include <string.h>

#include "gcn/code.h"
#include "gcn/memory.h"
#include "gcn/valu.h"

struct state {
	uint32_t sgpr[128];
	uint32_t vgpr[512][GCN_LANES]; /* vector registers, accumulation registers */
	uint32_t scc, mode;
	uint64_t pc; /* out: relative to the instruction */
	uint32_t status, wave_state;
	uint64_t fault;
	uint32_t lds_size, idx_on, idx_mode;
	uint64_t memory, memory_size;
	unsigned char lds[GCN_LDS_SIZE];
};

static uint64_t memory_lo, memory_hi, memory_shift;

static bool range(uint64_t addr, struct gcn_range *out)
{
	*out = (struct gcn_range){ memory_lo, memory_hi, memory_shift };
	return addr >= memory_lo && addr < memory_hi;
}

/* From now on the memory of a state is at an address of the GPU's that is not the host's: the
 * host's is `shift` more. */
__attribute__((visibility("default"))) void inst_shift(uint64_t shift)
{
	memory_shift = shift;
}

static enum gcn_arch_id arch;

/* The architecture of all that follows; false: there is none of this name. */
__attribute__((visibility("default"))) bool inst_arch(const char *name)
{
	for (enum gcn_arch_id a = 0; a < GCN_ARCH_NR; a++) {
		if (!strcmp(gcn_archs[a].name, name)) {
			arch = a;
			return true;
		}
	}
	return false;
}

static uint32_t interrupted;

static void interrupt(uint32_t id)
{
	interrupted = id;
}

static const unsigned int generation = 1;

static const struct gcn_host host = {
	.range = range,
	.generation = &generation,
	.interrupt = interrupt,
};

__attribute__((visibility("default"))) size_t inst_state_size(void)
{
	return sizeof(struct state);
}

__attribute__((visibility("default"))) uint32_t inst_interrupted(void)
{
	return interrupted;
}

/* Before the first instruction: the most that is used of the host's processor. */
__attribute__((visibility("default"))) void inst_processor(int most)
{
	gcn_processor((enum gcn_processor)most);
}

/* Runs the instruction in `code`; its number of words. */
__attribute__((visibility("default"))) unsigned int inst_step(const uint32_t *code, unsigned int nr,
							      struct state *s)
{
	static struct gcn_run *r;
	static bool known;
	struct gcn_wave *w;
	struct gcn_inst i;

	if (!r)
		r = gcn_run_create();
	w = &r->wave[0];
	memory_lo = s->memory;
	memory_hi = s->memory + s->memory_size;
	memset(r->range, 0, sizeof(r->range));
	/* every second time as behind another access: quick handlers know the allocation */
	if (known = !known, known)
		r->range[0] = (struct gcn_range){ memory_lo, memory_hi, memory_shift };
	r->generation = generation;
	r->host = &host;
	r->arch = &gcn_archs[arch];
	r->status = GCN_RUNNING;
	r->lds_size = s->lds_size;
	r->steps = 0;
	memcpy(r->lds, s->lds, sizeof(s->lds));
	memset(w->sgpr, 0, sizeof(w->sgpr));
	memcpy(w->sgpr, s->sgpr, sizeof(s->sgpr));
	memcpy(w->vgpr, s->vgpr, sizeof(s->vgpr));
	gcn_set_mode(w, s->mode);
	w->scc = s->scc;
	w->idx_on = s->idx_on;
	w->idx_mode = (uint8_t)s->idx_mode;
	w->state = GCN_WAVE_RUN;
	gcn_decode(&i, arch, code, nr);
	w->pc = 0x10000 + i.nr_words * 4u;
	i.run(w, &i);
	s->pc = w->pc - 0x10000;
	memcpy(s->sgpr, w->sgpr, sizeof(s->sgpr));
	memcpy(s->vgpr, w->vgpr, sizeof(s->vgpr));
	memcpy(s->lds, r->lds, sizeof(s->lds));
	s->scc = w->scc;
	s->mode = w->mode;
	s->idx_on = w->idx_on;
	s->idx_mode = w->idx_mode;
	s->status = r->status;
	s->wave_state = w->state;
	s->fault = r->stop.addr;
	return i.nr_words;
}

/* Whether it runs: 0; 1: it is illegal, 2: not implemented, 3: its registers are misaligned. */
__attribute__((visibility("default"))) int inst_runs(const uint32_t *code, unsigned int nr)
{
	struct gcn_inst i;

	gcn_decode(&i, arch, code, nr);
	return i.run == gcn_run_illegal	      ? 1 :
	       i.run == gcn_run_unimplemented ? 2 :
	       i.run == gcn_run_misaligned    ? 3 :
						0;
}

/* Its text in reports. */
__attribute__((visibility("default"))) const char *inst_text(const uint32_t *code, unsigned int nr)
{
	static char text[sizeof(((struct gcn_stop *)NULL)->text)];
	struct gcn_inst i;

	gcn_decode(&i, arch, code, nr);
	gcn_disassemble(&i, text, sizeof(text));
	return text;
}

/* The mnemonic of an implemented opcode, NULL for others; VALU's encodings with their own
 * opcodes. */
__attribute__((visibility("default"))) const char *inst_name(unsigned int enc, unsigned int op)
{
	static const struct gcn_entry *const tables[] = {
		[GCN_SOP2] = gcn_sop2, [GCN_SOPK] = gcn_sopk, [GCN_SOP1] = gcn_sop1,
		[GCN_SOPC] = gcn_sopc, [GCN_SOPP] = gcn_sopp, [GCN_SMEM] = gcn_smem,
		[GCN_DS] = gcn_ds,     [GCN_FLAT] = gcn_flat, [GCN_MUBUF] = gcn_mubuf,
	};
	static const unsigned int sizes[] = {
		[GCN_SOP2] = 128, [GCN_SOPK] = 32,  [GCN_SOP1] = 256,
		[GCN_SOPC] = 128, [GCN_SOPP] = 128, [GCN_SMEM] = 256,
		[GCN_DS] = 256,	  [GCN_FLAT] = 128, [GCN_MUBUF] = 128,
	};
	struct gcn_inst i = { .enc = (uint8_t)enc, .op = (uint16_t)op, .arch = (uint8_t)arch };

	if (enc >= GCN_VOP2 && enc <= GCN_VOP3P) {
		valu_bind(&i);
		return i.run != gcn_run_illegal && i.run != gcn_run_unimplemented ?
			       gcn_mnemonic(&i) :
			       NULL;
	}
	if (enc >= sizeof(tables) / sizeof(tables[0]) || !tables[enc] || op >= sizes[enc] ||
	    !tables[enc][op].run || (tables[enc][op].only && !(tables[enc][op].only >> arch & 1)))
		return NULL;
	return tables[enc][op].name;
}

/* Replaces instructions that can't run by s_nop, so that kernels run longer. */
static void drop_bad(uint32_t *code, size_t nr)
{
	for (size_t n = 0; n < nr;) {
		struct gcn_inst i;

		gcn_decode(&i, arch, code + n, nr - n > 2 ? 2 : (unsigned int)(nr - n));
		if (i.run == gcn_run_illegal || i.run == gcn_run_unimplemented ||
		    i.run == gcn_run_misaligned) {
			code[n++] = 0xbf800000;
			continue;
		}
		n += i.nr_words;
	}
}

/* After a fault, continues the wave behind the instruction. */
static bool go_on(struct gcn_run *r)
{
	struct gcn_run *part = r->failed;
	struct gcn_wave *w;

	if (!part || (r->outcome != GCN_MEMORY_FAULT && r->outcome != GCN_TRAP) ||
	    !strcmp(r->stop.text, "no code"))
		return false;
	w = &part->wave[r->stop.wave];
	part->status = r->outcome = GCN_RUNNING;
	w->state = GCN_WAVE_RUN;
	part->nr_live++;
	return true;
}

static uint64_t add_to_sum(uint64_t sum, const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t n = 0; n < size; n++)
		sum = (sum ^ p[n]) * 0x100000001b3;
	return sum;
}

static uint64_t fuzz_sum;

/* Of the last inst_fuzz(): a sum of its waves' registers and of LDS. */
__attribute__((visibility("default"))) uint64_t inst_fuzz_sum(void)
{
	return fuzz_sum;
}

/* Runs a kernel object of random words at the start of `memory`, at most `steps` instructions, of
 * which so many are a slice: a slice of one runs no steps of blocks. The first byte of the object:
 * 1: with the model of caches; 2: a fault ends it. */
__attribute__((visibility("default"))) int inst_fuzz(const unsigned char *code, size_t size,
						     uint64_t steps, uint64_t memory,
						     uint64_t memory_size, uint64_t slice)
{
	static struct gcn_run *r;
	unsigned char packet[64] __attribute__((aligned(64))) = { 0 };
	struct gcn_launch launch = {
		.host = &host, .arch = arch, .packet = packet, .scratch_lane_bytes = 64
	};
	enum gcn_status status;

	if (!r)
		r = gcn_run_create();
	memory_lo = memory;
	memory_hi = memory + memory_size;
	gcn_code_changed();
	memcpy(memory_at(memory), code, size);
	drop_bad((uint32_t *)memory_at(memory) + 16, (size - 64) / 4);
	/* a workgroup of 70 x 2 with 2048 bytes of LDS */
	packet[4] = 70;
	packet[6] = 2;
	packet[8] = 1;
	packet[12] = 140;
	packet[16] = 2;
	packet[20] = 1;
	packet[29] = 8;
	memcpy(packet + 32, &memory, 8);
	memcpy(packet + 40, &memory, 8);
	launch.cache_model = code[0] & 1;
	status = gcn_run_start(r, &launch);
	for (uint64_t n = 0; n < steps && status == GCN_RUNNING; n += slice) {
		status = gcn_run_slice(r, (int64_t)slice);
		if (status != GCN_RUNNING && !(code[0] & 2) && go_on(r))
			status = GCN_RUNNING;
	}
	fuzz_sum = add_to_sum(0, r->lds, r->lds_size);
	for (unsigned int n = 0; n < r->nr_waves; n++) {
		fuzz_sum = add_to_sum(fuzz_sum, r->wave[n].vgpr, r->nr_vgprs * sizeof(gcn_row));
		fuzz_sum = add_to_sum(fuzz_sum, r->wave[n].sgpr, sizeof(r->wave[n].sgpr));
	}
	return (int)(gcn_run_counters(r)->insts << 4) | (int)status;
}

static bool keep_code;

/* Whether inst_kernel() keeps what is decoded, as for kernels that follow each other without an
 * allocation in between. */
__attribute__((visibility("default"))) void inst_keep_code(bool keep)
{
	keep_code = keep;
}

/* Runs a kernel object at `memory`. Returns its status; `out`: the counters, in the order of their
 * struct. */
__attribute__((visibility("default"))) int inst_kernel(uint32_t grid, uint16_t group,
						       uint64_t memory, uint64_t memory_size,
						       uint64_t kernarg, uint64_t *out)
{
	static struct gcn_run *r;
	unsigned char packet[64] __attribute__((aligned(64))) = { 0 };
	struct gcn_launch launch = {
		.host = &host, .arch = arch, .packet = packet, .cache_model = true
	};
	enum gcn_status status;

	if (!r)
		r = gcn_run_create();
	memory_lo = memory;
	memory_hi = memory + memory_size;
	if (!keep_code)
		gcn_code_changed();
	memcpy(packet + 4, &group, 2);
	packet[6] = packet[8] = packet[16] = packet[20] = 1;
	memcpy(packet + 12, &grid, 4);
	packet[29] = 4; /* 1024 bytes of LDS */
	memcpy(packet + 32, &memory, 8);
	memcpy(packet + 40, &kernarg, 8);
	status = gcn_run_start(r, &launch);
	while (status == GCN_RUNNING)
		status = gcn_run_slice(r, 777);
	memcpy(out, gcn_run_counters(r), sizeof(struct gcn_counters));
	return (int)status;
}

/* Decodes `size` bytes at `code`; the number of instructions. */
__attribute__((visibility("default"))) size_t inst_predecode(uint64_t code, size_t size)
{
	static struct gcn_run *r;

	if (!r)
		r = gcn_run_create();
	memory_lo = code;
	memory_hi = code + size;
	r->host = &host;
	r->launch.arch = arch;
	gcn_code_changed();
	return gcn_predecode(r, code, size);
}
