/* SPDX-License-Identifier: MIT */
/* spool_make.c - writes spools for tests, straight from spool/format.h */
#include "support/spool_make.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define NR_SLOTS 64u

/* Separate from base/crc.c, which is under test. */
static uint32_t crc32_of(uint32_t crc, const void *data, size_t size)
{
	static uint32_t table[256];
	const uint8_t *p = data;

	if (!table[1]) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int bit = 0; bit < 8; bit++)
				c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
			table[i] = c;
		}
	}
	crc = ~crc;
	while (size--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static void put(int fd, const void *data, size_t size, uint64_t offset)
{
	if (fd >= 0 && pwrite(fd, data, size, (off_t)offset) != (ssize_t)size) {
		perror("spool_make: pwrite");
		abort();
	}
}

static int create(const char *path)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		perror(path);
		abort();
	}
	return fd;
}

void spool_make_begin(struct spool_make *m, const char *path, uint32_t pid, bool mem)
{
	struct spool_header *h = &m->header;
	size_t len = strlen(path);

	memset(m, 0, sizeof(*m));
	m->mem_fd = -1;
	snprintf(m->path, sizeof(m->path), "%s", path);
	m->disk_fd = create(path);
	if (mem) {
		snprintf(m->mem_path, sizeof(m->mem_path), "%.*s.mem", (int)(len - 4), path);
		m->mem_fd = create(m->mem_path);
	}
	h->magic = SPOOL_MAGIC;
	h->version = SPOOL_VERSION;
	h->header_size = SPOOL_HEADER_SIZE;
	h->trace_id[0] = 0x1122334455667788u;
	h->trace_id[1] = pid;
	h->pid = pid;
	h->ppid = 1;
	h->start_ns = 1000000;
	h->proc_start_ticks = 1;
	h->nr_slots = NR_SLOTS;
	h->slot_size = SLOT_SIZE;
	h->desc_offset = SPOOL_HEADER_SIZE;
	h->slots_offset = SPOOL_HEADER_SIZE + SPOOL_PAGE;
	snprintf(h->boot_id, sizeof(h->boot_id), "00000000-0000-4000-8000-000000000001");
	snprintf(h->mem_path, sizeof(h->mem_path), "%s", m->mem_path);
	snprintf(h->disk_path, sizeof(h->disk_path), "%s", path);
	h->clock_id = SPOOL_CLOCK_BOOTTIME;
	m->disk_end = SPOOL_HEADER_SIZE;
	if (mem && ftruncate(m->mem_fd, h->slots_offset + (off_t)NR_SLOTS * SLOT_SIZE) < 0)
		abort();
}

struct spool_make *spool_make_new(const char *path, uint32_t pid, bool mem)
{
	struct spool_make *m = malloc(sizeof(*m));

	if (!m)
		abort();
	spool_make_begin(m, path, pid, mem);
	return m;
}

void spool_make_free(struct spool_make *m)
{
	free(m);
}

void spool_make_process(struct spool_make *m, uint64_t trace_id, uint64_t start_ns,
			uint64_t start_ticks, const char *boot_id)
{
	m->header.trace_id[1] = trace_id;
	m->header.start_ns = start_ns;
	m->header.proc_start_ticks = start_ticks;
	snprintf(m->header.boot_id, sizeof(m->header.boot_id), "%s", boot_id);
}

void spool_make_chunk(struct spool_make *m, uint32_t tid)
{
	memset(&m->chunk, 0, sizeof(m->chunk));
	m->chunk.magic = CHUNK_MAGIC;
	m->chunk.seq = ++m->seq;
	m->chunk.tid = tid;
	m->used = 0;
	m->next_shape = 0;
	m->open = true;
}

void spool_make_chunk_end(struct spool_make *m)
{
	uint32_t crc;

	m->chunk.committed = m->used;
	m->chunk.crc = 0;
	crc = crc32_of(0, &m->chunk, sizeof(m->chunk));
	m->chunk.crc = crc32_of(crc, m->payload, m->used);
	put(m->disk_fd, &m->chunk, sizeof(m->chunk), m->disk_end);
	put(m->disk_fd, m->payload, m->used, m->disk_end + sizeof(m->chunk));
	m->disk_end += sizeof(m->chunk) + m->used;
	m->open = false;
}

void spool_make_chunk_slot(struct spool_make *m, enum slot_state state)
{
	uint64_t at = m->header.slots_offset + (uint64_t)m->slot * SLOT_SIZE;
	struct slot_desc desc = { .state = state };

	m->chunk.committed = m->used;
	m->chunk.crc = 0;
	put(m->mem_fd, &m->chunk, sizeof(m->chunk), at);
	put(m->mem_fd, m->payload, m->used, at + sizeof(m->chunk));
	put(m->mem_fd, &desc, sizeof(desc), m->header.desc_offset + m->slot * sizeof(desc));
	m->slot++;
	m->open = false;
}

uint32_t spool_make_left(const struct spool_make *m)
{
	return CHUNK_PAYLOAD - m->used;
}

void spool_make_raw(struct spool_make *m, const void *rec, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7;

	if (!m->open || padded > spool_make_left(m)) {
		fprintf(stderr, "spool_make: no space for %zu bytes\n", padded);
		abort();
	}
	memcpy(m->payload + m->used, rec, size);
	memset(m->payload + m->used + size, 0, padded - size);
	m->used += (uint32_t)padded;
	m->chunk.nr_records++;
}

void spool_make_end(struct spool_make *m, bool closed)
{
	struct spool_header *h = &m->header;

	h->disk_end = m->disk_end;
	h->next_seq = m->seq;
	h->closed = closed;
	if (closed) {
		if (!h->end_kind)
			h->end_kind = SPOOL_END_EXIT;
		h->mem_path[0] = '\0';
	}
	put(m->disk_fd, h, sizeof(*h), 0);
	put(m->mem_fd, h, sizeof(*h), 0);
	close(m->disk_fd);
	if (m->mem_fd >= 0)
		close(m->mem_fd);
}

void spool_make_loss(struct spool_make *m, enum spool_reason reason, uint64_t count,
		     uint64_t first_ns, uint64_t last_ns)
{
	m->header.loss[reason].count = count;
	m->header.loss[reason].first_ns = first_ns;
	m->header.loss[reason].last_ns = last_ns;
}

static struct rec_head head(enum rec_type type, size_t size, uint32_t flags, uint32_t id)
{
	return (struct rec_head){ (uint8_t)type, (uint8_t)((size + 7) / 8), (uint16_t)flags, id };
}

void spool_make_string(struct spool_make *m, uint32_t id, const char *text)
{
	uint32_t total = (uint32_t)strlen(text);
	uint32_t offset = 0;

	do {
		_Alignas(8) uint8_t bytes[REC_MAX_SIZE];
		uint32_t size = MIN(total - offset, REC_STRING_PIECE);
		struct rec_string rec = { head(REC_STRING, sizeof(rec) + size, 0, id), total,
					  offset };

		memcpy(bytes, &rec, sizeof(rec));
		memcpy(bytes + sizeof(rec), text + offset, size);
		spool_make_raw(m, bytes, sizeof(rec) + size);
		offset += size;
	} while (offset < total);
}

void spool_make_info(struct spool_make *m, uint32_t string_id, const char *key, const char *value)
{
	struct rec_info rec = { head(REC_INFO, sizeof(rec), 0, 0), string_id, string_id + 1 };

	/* a string may be used before its definition */
	spool_make_raw(m, &rec, sizeof(rec));
	spool_make_string(m, string_id, key);
	spool_make_string(m, string_id + 1, value);
}

void spool_make_clock(struct spool_make *m, uint32_t agent_plus_1, uint64_t ns, uint64_t ticks)
{
	struct rec_clock rec = { head(REC_CLOCK, sizeof(rec), 0, agent_plus_1),
				 ns,
				 ns - 500,
				 ns,
				 ns + 1700000000000000000u,
				 ticks };

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_thread(struct spool_make *m, uint32_t tid, const char *name, uint64_t ns)
{
	struct rec_thread rec = { .h = head(REC_THREAD, sizeof(rec), 0, tid), .first_ns = ns };

	memcpy(rec.name, name, MIN(strlen(name), sizeof(rec.name)));
	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_agent(struct spool_make *m, uint32_t id, enum rec_agent_type type, uint32_t gpu,
		      uint32_t name)
{
	struct rec_agent rec = {
		.h = head(REC_AGENT, sizeof(rec), 0, id),
		.handle = 0x5000 + id,
		.name = name,
		.agent_type = type,
		.gpu_index = gpu,
		.node = id,
		.nr_cu = 64,
		.simd_per_cu = 4,
		.wave_size = 64,
		.max_waves_per_cu = 40,
		.clock_mhz = 1500,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_queue(struct spool_make *m, uint32_t id, uint32_t agent, uint32_t flags,
		      uint64_t ns)
{
	struct rec_queue rec = {
		.h = head(REC_QUEUE, sizeof(rec), flags, id),
		.hsa_id = id + 10,
		.handle = 0x7f0000001000u + id * 0x100u,
		.time_ns = ns,
		.agent = agent,
		.size = 1024,
		.tid = m->header.pid,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_code_object(struct spool_make *m, uint32_t id, uint32_t agent, uint32_t uri,
			    uint64_t ns)
{
	struct rec_code_object rec = {
		.h = head(REC_CODE_OBJECT, sizeof(rec), 0, id),
		.load_base = 0x10000,
		.load_size = 4096,
		.load_delta = 0x10000,
		.time_ns = ns,
		.uri = uri,
		.agent = agent,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_kernel(struct spool_make *m, uint32_t id, uint32_t name, uint32_t agent,
		       uint32_t code_object)
{
	struct rec_kernel rec = {
		.h = head(REC_KERNEL, sizeof(rec), 0, id),
		.object = 0x20000 + id * 64u,
		.name = name,
		.code_object = code_object,
		.agent = agent,
		.kernarg_size = 32,
		.group_size = 512,
		.private_size = 0,
		.rsrc1 = 3 | 2 << 6, /* 16 vector, 32 scalar registers on gfx9 */
		.rsrc2 = 1,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_end_of(struct spool_make *m, enum rec_type type, uint32_t id, uint64_t ns,
		       uint64_t marker)
{
	struct rec_end rec = { head(type, sizeof(rec), 0, id), ns, marker };

	spool_make_raw(m, &rec, sizeof(rec));
}

uint32_t spool_make_shape(struct spool_make *m, uint32_t kernel, uint32_t queue, uint32_t grid_x,
			  uint16_t group_x)
{
	struct rec_shape rec = {
		.h = head(REC_SHAPE, sizeof(rec), 0, m->next_shape),
		.kernel = kernel,
		.queue = queue,
		.grid = { grid_x, 2, 1 },
		.group = { group_x, 1, 1 },
		.private_size = 16,
		.group_size = 512,
	};

	spool_make_raw(m, &rec, sizeof(rec));
	return m->next_shape++;
}

void spool_make_dispatch(struct spool_make *m, const struct spool_make_op *op)
{
	struct rec_dispatch rec = {
		.h = head(REC_DISPATCH, sizeof(rec), op->flags, op->tid),
		.begin_ticks = op->ticks,
		.begin_ns = op->begin_ns,
		.ticks = (uint32_t)((op->end_ns - op->begin_ns) / 10),
		.ns = (uint32_t)(op->end_ns - op->begin_ns),
		.shape = op->shape,
		.packet = op->packet,
		.correlation = op->correlation,
		.marker = op->marker,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_dispatch_wide(struct spool_make *m, const struct spool_make_op *op)
{
	struct rec_dispatch_wide rec = {
		.h = head(REC_DISPATCH_WIDE, sizeof(rec), op->flags, op->tid),
		.begin_ticks = op->ticks,
		.end_ticks = op->ticks + (op->end_ns - op->begin_ns),
		.begin_ns = op->begin_ns,
		.end_ns = op->end_ns,
		.packet = (UINT64_C(1) << 33) + op->packet,
		.correlation = op->correlation,
		.marker = op->marker,
		.shape = op->shape,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_copy(struct spool_make *m, const struct spool_make_op *op, enum rec_copy_kind kind,
		     uint32_t src_agent, uint32_t dst_agent, uint64_t bytes)
{
	struct rec_copy rec = {
		.h = head(REC_COPY, sizeof(rec), op->flags, op->tid),
		.begin_ns = op->begin_ns,
		.end_ns = op->end_ns,
		.bytes = bytes,
		.correlation = op->correlation,
		.marker = op->marker,
		.dst = 0xd000,
		.src = 0x5000,
		.dst_agent = dst_agent,
		.src_agent = src_agent,
		.kind = kind,
		.engine = kind == REC_COPY_H2D ? 1 : UINT32_MAX,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_barrier(struct spool_make *m, const struct spool_make_op *op, uint32_t queue)
{
	struct rec_barrier rec = {
		.h = head(REC_BARRIER, sizeof(rec), op->flags, op->tid),
		.begin_ns = op->begin_ns,
		.end_ns = op->end_ns,
		.packet = op->packet,
		.correlation = op->correlation,
		.queue = queue,
		.kind = 3,
	};

	spool_make_raw(m, &rec, sizeof(rec));
}

void spool_make_marker(struct spool_make *m, enum rec_marker_kind kind, uint32_t tid, uint64_t id,
		       uint64_t parent, uint32_t level, uint64_t ns, const char *text)
{
	_Alignas(8) uint8_t bytes[REC_MAX_SIZE];
	uint32_t size = (uint32_t)MIN(strlen(text), REC_MARKER_TEXT_MAX);
	struct rec_marker rec = {
		.h = head(REC_MARKER, sizeof(rec) + size, REC_F_TEXT, tid),
		.time_ns = ns,
		.marker = id,
		.parent = parent,
		.kind = kind,
		.level = level,
		.text_size = size,
	};

	memcpy(bytes, &rec, sizeof(rec));
	memcpy(bytes + sizeof(rec), text, size);
	spool_make_raw(m, bytes, sizeof(rec) + size);
}

static void sample_meta(struct spool_make *m, const struct spool_make_sample *s, uint64_t t)
{
	static char piece[2 * REC_STRING_PIECE + 100];

	memset(piece, 'u', sizeof(piece) - 1);
	memcpy(piece, "file://", 7);
	spool_make_info(m, 100, "host", s->host ? s->host : "nodeA");
	spool_make_info(m, 102, "command", "./demo --size 4");
	spool_make_info(m, 104, "rank", "3");
	spool_make_info(m, 106, "library", "/opt/rocm/lib/libamdhip64.so.5");
	spool_make_info(m, 108, "library", "/opt/rocm/lib/libhsa-runtime64.so.1");
	spool_make_info(m, 110, "mode", "standard");
	spool_make_thread(m, s->pid, "main", t);
	spool_make_clock(m, 0, t, 0);
	spool_make_clock(m, 2, t, 4000);
	spool_make_clock(m, 2, t + 1000000, 104000);
	spool_make_string(m, 1, "gfx900");
	spool_make_string(m, 2, "AMD EPYC");
	spool_make_string(m, 3, "_Z4vaddPKfS0_Pfi.kd");
	spool_make_string(m, 4, "plain_name");
	spool_make_string(m, 5, piece);
	spool_make_agent(m, 0, REC_AGENT_CPU, UINT32_MAX, 2);
	spool_make_agent(m, 1, REC_AGENT_GPU, 0, 1);
	spool_make_agent(m, 2, REC_AGENT_GPU, 1, 1);
	spool_make_queue(m, 0, 1, 0, t);
	spool_make_queue(m, 2, 1, REC_QUEUE_INTERNAL, t);
	spool_make_code_object(m, 1, 1, 5, t);
	spool_make_kernel(m, 1, 3, 1, 1);
	spool_make_kernel(m, 2, 4, 2, 1);
}

void spool_make_sample(const char *path, const struct spool_make_sample *s)
{
	struct spool_make *m = spool_make_new(path, s->pid, s->mem);
	uint64_t t = s->base_ns ? s->base_ns : 1000000000;
	uint32_t tid = s->pid;
	struct spool_make_op op = { .tid = tid, .correlation = 1, .marker = 2, .packet = 0 };
	uint32_t shape, other;

	/* uses before definitions: queue 1 and kernel 3 are defined in the last chunk */
	spool_make_chunk(m, tid);
	spool_make_marker(m, REC_MARKER_PUSH, tid, 1, 0, 0, t + 100, "outer");
	spool_make_marker(m, REC_MARKER_PUSH, tid, 2, 1, 1, t + 200, "inner \"quoted\"");
	op.shape = spool_make_shape(m, 1, 0, 65536, 256);
	shape = spool_make_shape(m, 2, 1, 1024, 64);
	other = spool_make_shape(m, 1, 2, 64, 64);
	for (uint32_t i = 0; i < 4; i++) {
		op.begin_ns = t + 1000 + i * 1000;
		op.end_ns = op.begin_ns + 500;
		op.ticks = 5000 + i * 100;
		op.packet = i;
		op.correlation = 10 + i;
		op.flags = i == 3 ? REC_F_HAD_SIGNAL : 0;
		spool_make_dispatch(m, &op);
	}
	spool_make_end_of(m, REC_MARKER_END, tid, t + 6000, 2);
	spool_make_marker(m, REC_MARKER_MARK, tid, 3, 1, 1, t + 6500, "point");
	op.marker = 1;
	op.shape = other;
	op.flags = REC_F_INTERNAL;
	op.begin_ns = t + 7000;
	op.end_ns = t + 8000;
	op.correlation = 20;
	spool_make_dispatch(m, &op);
	op.shape = shape;
	op.flags = REC_F_INVERTED;
	op.begin_ns = t + 9000;
	op.end_ns = t + 8500;
	op.ticks = 6000;
	op.correlation = 21;
	op.packet = 0;
	spool_make_dispatch_wide(m, &op);
	spool_make_chunk_end(m);

	spool_make_chunk(m, tid + 1);
	/* the end of a range whose begin is in a later chunk */
	spool_make_end_of(m, REC_MARKER_END, tid + 1, t + 20000, 4);
	op.tid = tid + 1;
	op.marker = 0;
	op.flags = 0;
	op.begin_ns = t + 10000;
	op.end_ns = t + 11000;
	op.correlation = 30;
	spool_make_copy(m, &op, REC_COPY_H2D, 0, 1, 4096);
	op.begin_ns = t + 12000;
	op.end_ns = t + 12500;
	op.correlation = 31;
	spool_make_copy(m, &op, REC_COPY_D2H, 2, 0, 8192);
	op.begin_ns = t + 13000;
	op.end_ns = t + 13900;
	op.correlation = 20;
	spool_make_copy(m, &op, REC_COPY_D2D, 1, 1, 16384);
	op.shape = spool_make_shape(m, 3, 1, 128, 64);
	op.flags = REC_F_NO_TIME;
	op.begin_ns = op.end_ns = op.ticks = 0;
	op.correlation = 32;
	op.packet = 1;
	spool_make_dispatch(m, &op);
	op.flags = 0;
	op.begin_ns = t + 15000;
	op.end_ns = t + 16000;
	op.ticks = 7000;
	op.correlation = 33;
	op.packet = 2;
	spool_make_dispatch(m, &op);
	op.begin_ns = t + 16000;
	op.end_ns = t + 16200;
	op.correlation = 34;
	op.packet = 3;
	spool_make_dispatch(m, &op);
	op.packet = 4;
	op.correlation = 35;
	spool_make_barrier(m, &op, 1);
	spool_make_chunk_end(m);

	spool_make_chunk(m, tid);
	sample_meta(m, s, t);
	spool_make_queue(m, 1, 2, 0, t + 10);
	spool_make_end_of(m, REC_QUEUE_END, 0, t + 30000, 0);
	spool_make_kernel(m, 3, 4, 2, 0);
	spool_make_marker(m, REC_MARKER_START, tid, 4, 0, 0, t + 18000, "across threads");
	spool_make_marker(m, REC_MARKER_PUSH, tid, 5, 0, 0, t + 19000, "never closed");
	spool_make_end_of(m, REC_MARKER_END, tid, t + 17000, 1);
	op.tid = tid;
	op.shape = spool_make_shape(m, 1, 0, 65536, 256);
	op.flags = REC_F_UNFINISHED;
	op.begin_ns = t + 25000;
	op.end_ns = t + 25000;
	op.correlation = 40;
	op.packet = 4;
	spool_make_dispatch(m, &op);
	if (s->mem)
		spool_make_chunk_slot(m, SLOT_OPEN);
	else
		spool_make_chunk_end(m);
	spool_make_loss(m, SPOOL_REASON_unfinished, 1, t + 25000, t + 25000);
	spool_make_end(m, s->closed);
	free(m);
}

void spool_make_many(const char *path, uint64_t nr)
{
	struct spool_make *m = spool_make_new(path, 4242, false);
	uint32_t shapes[8];
	char name[64];

	spool_make_chunk(m, 4242);
	spool_make_agent(m, 0, REC_AGENT_GPU, 0, 0);
	for (uint32_t i = 0; i < 4; i++)
		spool_make_queue(m, i, 0, 0, 1000);
	for (uint32_t i = 1; i <= 8; i++) {
		snprintf(name, sizeof(name), "_ZN2ml6kernelILi%uEEEvPfi", i);
		spool_make_string(m, i, name);
		spool_make_kernel(m, i, i, 0, 0);
	}
	spool_make_chunk_end(m);
	m->open = false;
	for (uint64_t i = 0; i < nr; i++) {
		struct spool_make_op op = { .tid = 4242 + (uint32_t)(m->seq & 3) };

		if (m->open && spool_make_left(m) < sizeof(struct rec_dispatch))
			spool_make_chunk_end(m);
		if (!m->open) {
			spool_make_chunk(m, 4242 + (uint32_t)(m->seq & 3));
			for (uint32_t k = 0; k < 8; k++)
				shapes[k] = spool_make_shape(m, k + 1, k & 3, 65536 << k, 256);
			op.tid = m->chunk.tid;
		}
		op.shape = shapes[i & 7];
		op.begin_ns = 1000000000 + i * 5000;
		op.end_ns = op.begin_ns + 3000 + (i & 1023);
		op.ticks = 100000 + i * 500;
		op.packet = (uint32_t)(i >> 2);
		op.correlation = (uint32_t)i + 1;
		op.tid = m->chunk.tid;
		spool_make_dispatch(m, &op);
	}
	if (m->open)
		spool_make_chunk_end(m);
	spool_make_end(m, true);
	free(m);
}

/* ---- operations in flight -------------------------------------------------------------------- */

static void rest_kernel(struct spool_make *m, uint32_t id, uint32_t name)
{
	struct rec_kernel r = { .h = { REC_KERNEL, sizeof(r) / 8, 0, id },
				.object = 0xabc0,
				.name = name,
				.code_object = id,
				.agent = 0 };

	spool_make_raw(m, &r, sizeof(r));
}

static void rest_dispatch(struct spool_make *m, uint64_t packet, uint16_t flags, uint64_t object,
			  uint64_t correlation)
{
	struct rec_inflight r = { .h = { REC_INFLIGHT, sizeof(r) / 8, flags | REC_F_UNFINISHED, 7 },
				  .packet = packet,
				  .correlation = correlation,
				  .object = object,
				  .grid = { 640, 1, 1 },
				  .group = { 64, 1, 1 },
				  .private_size = 8,
				  .group_size = 16 };

	spool_make_raw(m, &r, sizeof(r));
}

static void rest_copy(struct spool_make *m, uint16_t flags, uint64_t bytes, uint64_t end_ns)
{
	struct rec_copy r = { .h = { REC_COPY, sizeof(r) / 8, flags, 7 },
			      .begin_ns = end_ns ? end_ns - 100 : 0,
			      .end_ns = end_ns,
			      .bytes = bytes,
			      .correlation = 500 + bytes,
			      .dst = 0x1000,
			      .src = 0x2000,
			      .kind = REC_COPY_H2D };

	spool_make_raw(m, &r, sizeof(r));
}

static void rest_count(struct spool_make *m, uint32_t queue, uint64_t count)
{
	struct rec_submitted r = { .h = { REC_SUBMITTED, sizeof(r) / 8, 0, queue },
				   .count = count };

	spool_make_raw(m, &r, sizeof(r));
}

static void evicted_count(struct spool_make *m, enum rec_type type, uint32_t id, uint64_t count)
{
	struct rec_written r = { .h = { (uint8_t)type, sizeof(r) / 8, 0, id }, .count = count };

	spool_make_raw(m, &r, sizeof(r));
}

static void evicted_carried(struct spool_make *m)
{
	struct rec_evicted total = { .h = { REC_EVICTED, sizeof(total) / 8, 0, 0 },
				     .first_ns = 2000,
				     .last_ns = 4900,
				     .earlier_ns = 3000 };
	static const struct {
		enum rec_type type;
		uint64_t count;
	} types[] = { { REC_STRING, 2 }, { REC_AGENT, 1 },  { REC_QUEUE, 1 },
		      { REC_KERNEL, 1 }, { REC_SHAPE, 1 },  { REC_DISPATCH, 3 },
		      { REC_COPY, 2 },	 { REC_MARKER, 2 }, { REC_API, 1 } };

	spool_make_chunk(m, 0);
	m->chunk.seq = CHUNK_CARRIED(m->header.kept_from, 0);
	spool_make_raw(m, &total, sizeof(total));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		evicted_count(m, REC_EVICTED_TYPE, types[i].type, types[i].count);
	evicted_count(m, REC_EVICTED_OPS, 0, 3);
	evicted_count(m, REC_EVICTED_OPS, SPOOL_NO_QUEUE, 2);
	spool_make_string(m, 1, "_Z3newv");
	spool_make_string(m, 2, "gfx900");
	spool_make_agent(m, 0, REC_AGENT_GPU, 0, 2);
	spool_make_queue(m, 0, 0, 0, 1000);
	rest_kernel(m, 1, 1);
	spool_make_marker(m, REC_MARKER_PUSH, 7, 1, 0, 0, 2000, "open");
	spool_make_chunk_end(m);
	spool_make_chunk(m, 0);
	m->chunk.seq = CHUNK_CARRIED(m->header.kept_from, 1);
	spool_make_thread(m, 7, "worker", 900);
	spool_make_chunk_end(m);
}

void spool_make_evicted(const char *path)
{
	struct spool_make_op op = { .tid = 7,
				    .correlation = 55,
				    .packet = 3,
				    .begin_ns = 5000,
				    .end_ns = 5500,
				    .ticks = 50,
				    .marker = 1 };
	static struct spool_make m;

	spool_make_begin(&m, path, 7, false);
	m.disk_end = SPOOL_HEADER_SIZE + 1024;
	m.header.kept_from = m.disk_end;
	spool_make_chunk(&m, 0);
	m.chunk.seq = CHUNK_CARRIED(SPOOL_HEADER_SIZE + 512, 0);
	spool_make_string(&m, 9, "superseded");
	spool_make_chunk_end(&m);
	/* given back: zeroes */
	put(m.disk_fd, (uint64_t[4]){ 0 }, 32, m.disk_end - 32);
	spool_make_chunk(&m, 7);
	op.shape = spool_make_shape(&m, 1, 0, 640, 64);
	spool_make_dispatch(&m, &op);
	spool_make_chunk_end(&m);
	atomic_store(&m.header.carried_at, m.disk_end);
	evicted_carried(&m);
	spool_make_chunk(&m, 0);
	rest_count(&m, 0, 4);
	rest_count(&m, SPOOL_NO_QUEUE, 2);
	evicted_count(&m, REC_WRITTEN, REC_DISPATCH, 4);
	evicted_count(&m, REC_WRITTEN, REC_COPY, 2);
	evicted_count(&m, REC_WRITTEN, REC_STRING, 2);
	evicted_count(&m, REC_WRITTEN, REC_API, 1);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
}

void spool_make_rest(const char *path, uint64_t missing)
{
	struct rec_barrier barrier = { .h = { REC_BARRIER, sizeof(barrier) / 8, REC_F_UNFINISHED,
					      7 },
				       .packet = 9,
				       .correlation = 900,
				       .kind = 3 };
	struct rec_written written = { .h = { REC_WRITTEN, sizeof(written) / 8, 0, REC_COPY },
				       .count = 1 };
	struct spool_make_op op = { .tid = 7, .correlation = 55, .packet = 5 };
	static struct spool_make m;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_string(&m, 1, "_Z3oldv");
	spool_make_string(&m, 2, "_Z3newv");
	spool_make_string(&m, 3, "gfx900");
	spool_make_agent(&m, 0, REC_AGENT_GPU, 0, 3);
	spool_make_queue(&m, 0, 0, 0, 1000);
	rest_kernel(&m, 2, 2);
	rest_kernel(&m, 1, 1);
	op.shape = spool_make_shape(&m, 2, 0, 640, 64);
	op.begin_ns = 5000;
	op.end_ns = 5500;
	op.ticks = 50;
	spool_make_dispatch(&m, &op);
	rest_copy(&m, 0, 64, 6000);
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 0);
	rest_count(&m, 0, 5 + missing);
	rest_dispatch(&m, 5, REC_F_MAYBE, 0xabc0, 55);
	rest_dispatch(&m, 6, REC_F_MAYBE, 0xabc0, 56);
	rest_dispatch(&m, 7, 0, 0xabc0, 57);
	rest_dispatch(&m, 8, 0, 0xdef0, 0);
	spool_make_raw(&m, &barrier, sizeof(barrier));
	rest_count(&m, SPOOL_NO_QUEUE, 2 + missing);
	rest_copy(&m, REC_F_MAYBE | REC_F_UNFINISHED, 64, 0);
	rest_copy(&m, REC_F_UNFINISHED, 128, 0);
	spool_make_raw(&m, &written, sizeof(written));
	spool_make_chunk_end(&m);
	atomic_store(&m.header.end_kind, SPOOL_END_SIGNAL);
	atomic_store(&m.header.end_status, 9);
	spool_make_end(&m, true);
}
