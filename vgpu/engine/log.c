/* SPDX-License-Identifier: MIT */
/* log.c - VGPU_LOG: one JSON object on a line of its own for each packet processed
 *
 * Owns:     the file and the buffer.
 * Threads:  any; nearly always the engine's alone.
 * Locks:    `lock`, innermost; held across write(2).
 * Fails:    if the log can't be opened or written, prints one warning and stops logging.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hsa/hsa.h>

#include "clock.h"
#include "../gcn/gcn.h"
#include "knobs.h"

#define BUF_SIZE (256 * 1024)
#define LINE_MAX_SIZE 4096
#define FLUSH_NS 50000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static char buf[BUF_SIZE];
static size_t used; /* written under lock, looked at without by log_tick() */
static uint64_t flushed_ns;
static bool at_exit;

bool log_enabled(void)
{
	return __atomic_load_n(&fd, __ATOMIC_RELAXED) >= 0;
}

static void write_out(void)
{
	size_t done = 0;

	while (done < used) {
		ssize_t n = write(fd, buf + done, used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fprintf(stderr,
				"vgpu: VGPU_LOG: writing failed: %s; no further lines are logged\n",
				strerror(errno));
			close(fd);
			__atomic_store_n(&fd, -1, __ATOMIC_RELAXED);
			break;
		}
		done += (size_t)n;
	}
	__atomic_store_n(&used, 0, __ATOMIC_RELAXED);
}

/* Line builders. A line never exceeds LINE_MAX_SIZE: at most 68 numbers, a name of 256 bytes and
 * short fixed words. */
static char *put_str(char *p, const char *s)
{
	size_t len = strlen(s);

	memcpy(p, s, len);
	return p + len;
}

static char *put_num(char *p, const char *key, uint64_t v)
{
	char tmp[20];
	unsigned int n = 0;

	p = put_str(p, key);
	do {
		tmp[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		*p++ = tmp[--n];
	return p;
}

static char *put_hex(char *p, const char *key, uint64_t v)
{
	unsigned int digits = v ? (67 - (unsigned int)__builtin_clzll(v)) / 4 : 1;

	p = put_str(p, key);
	p = put_str(p, "\"0x");
	while (digits--)
		*p++ = "0123456789abcdef"[v >> (digits * 4) & 15];
	*p++ = '"';
	return p;
}

static char *put_where(char *p, const char *kind, const struct log_where *where)
{
	p = put_str(p, "{\"kind\":\"");
	p = put_str(p, kind);
	p = put_num(p, "\",\"gpu\":", where->gpu);
	p = put_num(p, ",\"queue\":", where->queue);
	return put_num(p, ",\"queue_id\":", where->queue_id);
}

/* Space for one line; NULL without a log. On success the lock is held until finish(). */
static char *begin_line(void)
{
	if (!log_enabled())
		return NULL;
	pthread_mutex_lock(&lock);
	if (fd < 0) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	if (used + LINE_MAX_SIZE > BUF_SIZE)
		write_out();
	return buf + used;
}

static void finish(char *p)
{
	p = put_str(p, "}\n");
	__atomic_store_n(&used, (size_t)(p - buf), __ATOMIC_RELAXED);
	if (knobs.log_sync || at_exit)
		write_out();
	pthread_mutex_unlock(&lock);
}

static void file_name(char *out, size_t size)
{
	size_t n = 0;

	for (const char *p = knobs.log; *p && n + 12 < size; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			n += (size_t)snprintf(out + n, size - n, "%ld", (long)getpid());
			p++;
		} else {
			out[n++] = *p;
		}
	}
	out[n] = '\0';
}

void log_open(void)
{
	char name[4096];
	char *p;
	int f;

	if (!knobs.log || log_enabled())
		return;
	file_name(name, sizeof(name));
	f = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (f < 0) {
		fprintf(stderr, "vgpu: VGPU_LOG: %s: %s; nothing is logged\n", name,
			strerror(errno));
		return;
	}
	flushed_ns = clock_now();
	__atomic_store_n(&fd, f, __ATOMIC_RELAXED);
	p = begin_line();
	p = put_num(p, "{\"kind\":\"process\",\"pid\":", (uint64_t)getpid());
	p = put_num(p, ",\"gpus\":", knobs.devices);
	p = put_str(p, knobs.clock == KNOBS_CLOCK_REAL ? ",\"clock\":\"real\"" :
							 ",\"clock\":\"deterministic\"");
	finish(p);
}

void log_clock(unsigned int gpu)
{
	struct clock_gpu_info info;
	char *p = begin_line();
	char drift[40];

	if (!p)
		return;
	clock_info(gpu, &info);
	p = put_num(p, "{\"kind\":\"clock\",\"gpu\":", gpu);
	p = put_num(p, ",\"frequency_hz\":", info.hz);
	p = put_num(p, ",\"offset\":", info.offset);
	p = put_num(p, ",\"epoch_ns\":", info.epoch_ns);
	snprintf(drift, sizeof(drift), ",\"drift_ppm\":%.3f", (double)info.drift_ppb / 1000);
	finish(put_str(p, drift));
}

void log_queue(const struct log_where *where, bool create, const char *engine, uint64_t size)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, create ? "queue_create" : "queue_destroy", where);
	p = put_str(p, ",\"engine\":\"");
	p = put_str(p, engine);
	p = put_num(p, "\",\"size\":", size);
	finish(p);
}

static char *put_triple(char *p, const char *key, uint64_t x, uint64_t y, uint64_t z)
{
	p = put_num(p, key, x);
	p = put_num(p, ",", y);
	p = put_num(p, ",", z);
	*p++ = ']';
	return p;
}

struct count {
	const char *key;
	uint64_t value;
};

static char *put_counts(char *p, const struct count *list, size_t nr)
{
	for (size_t n = 0; n < nr; n++)
		p = put_num(p, list[n].key, list[n].value);
	return p;
}

static char *put_counters(char *p, const struct gcn_counters *c)
{
	const struct count list[] = {
		{ ",\"counters\":{\"SQ_WAVES\":", c->waves },
		{ ",\"SQ_ITEMS\":", c->items },
		{ ",\"SQ_INSTS\":", c->insts },
		{ ",\"SQ_INSTS_VALU\":", c->valu },
		{ ",\"SQ_INSTS_SALU\":", c->salu },
		{ ",\"SQ_INSTS_SMEM\":", c->smem },
		{ ",\"SQ_INSTS_BRANCH\":", c->branch },
		{ ",\"SQ_INSTS_VMEM_RD\":", c->vmem_rd },
		{ ",\"SQ_INSTS_VMEM_WR\":", c->vmem_wr },
		{ ",\"SQ_INSTS_FLAT\":", c->flat },
		{ ",\"SQ_INSTS_LDS\":", c->lds },
		{ ",\"SQ_INSTS_SENDMSG\":", c->msg },
		{ ",\"SQ_INSTS_WAIT\":", c->wait },
		{ ",\"SQ_WAIT_INST_ANY\":", c->wait_any },
		{ ",\"SQ_WAIT_INST_VALU\":", c->wait_valu },
		{ ",\"SQ_WAIT_INST_SCA\":", c->wait_sca },
		{ ",\"SQ_WAIT_INST_VMEM\":", c->wait_vmem },
		{ ",\"SQ_WAIT_INST_FLAT\":", c->wait_flat },
		{ ",\"SQ_WAIT_INST_LDS\":", c->wait_lds },
		{ ",\"SQ_WAIT_INST_MISC\":", c->wait_misc },
		{ ",\"SQ_BUSY_CYCLES\":", c->busy_cycles },
		{ ",\"GRBM_COUNT\":", c->gui_cycles },
		{ ",\"GRBM_GUI_ACTIVE\":", c->gui_cycles },
		{ ",\"TCP_TOTAL_ACCESSES\":", c->tcp_req },
		{ ",\"TCP_HIT\":", c->tcp_hit },
		{ ",\"TCC_READ\":", c->tcc_rd },
		{ ",\"TCC_WRITE\":", c->tcc_wr },
		{ ",\"TCC_HIT\":", c->tcc_hit },
		{ ",\"TCC_MISS\":", c->tcc_miss },
		{ ",\"TCC_EA_RDREQ\":", c->ea_rd },
		{ ",\"TCC_EA_WRREQ\":", c->ea_wr + c->ea_wr_end },
	};

	return put_counts(p, list, sizeof(list) / sizeof(list[0]));
}

/* of GPUs with matrix instructions: vector instructions by kind, and matrix instructions */
static char *put_matrix_counters(char *p, const struct gcn_counters *c)
{
	const struct count list[] = {
		{ ",\"SQ_INSTS_VALU_ADD_F16\":", c->valu_of[0] },
		{ ",\"SQ_INSTS_VALU_MUL_F16\":", c->valu_of[1] },
		{ ",\"SQ_INSTS_VALU_FMA_F16\":", c->valu_of[2] },
		{ ",\"SQ_INSTS_VALU_TRANS_F16\":", c->valu_of[3] },
		{ ",\"SQ_INSTS_VALU_ADD_F32\":", c->valu_of[4] },
		{ ",\"SQ_INSTS_VALU_MUL_F32\":", c->valu_of[5] },
		{ ",\"SQ_INSTS_VALU_FMA_F32\":", c->valu_of[6] },
		{ ",\"SQ_INSTS_VALU_TRANS_F32\":", c->valu_of[7] },
		{ ",\"SQ_INSTS_VALU_ADD_F64\":", c->valu_of[8] },
		{ ",\"SQ_INSTS_VALU_MUL_F64\":", c->valu_of[9] },
		{ ",\"SQ_INSTS_VALU_FMA_F64\":", c->valu_of[10] },
		{ ",\"SQ_INSTS_VALU_TRANS_F64\":", c->valu_of[11] },
		{ ",\"SQ_INSTS_VALU_INT32\":", c->valu_of[12] },
		{ ",\"SQ_INSTS_VALU_INT64\":", c->valu_of[13] },
		{ ",\"SQ_INSTS_VALU_CVT\":", c->valu_of[14] },
		{ ",\"SQ_INSTS_MFMA\":", c->mfma },
		{ ",\"SQ_INSTS_VALU_MFMA_F32\":", c->mfma_of[MFMA_F32] },
		{ ",\"SQ_INSTS_VALU_MFMA_F16\":", c->mfma_of[MFMA_F16] },
		{ ",\"SQ_INSTS_VALU_MFMA_BF16\":", c->mfma_of[MFMA_BF16] },
		{ ",\"SQ_INSTS_VALU_MFMA_I8\":", c->mfma_of[MFMA_I8] },
		{ ",\"SQ_INSTS_VALU_MFMA_F64\":", c->mfma_of[MFMA_F64] },
		{ ",\"SQ_INSTS_VALU_MFMA_F8\":", c->mfma_of[MFMA_F8] },
		{ ",\"SQ_INSTS_VALU_MFMA_XF32\":", c->mfma_of[MFMA_XF32] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_F32\":", c->mfma_mops[MFMA_F32] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_F16\":", c->mfma_mops[MFMA_F16] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_BF16\":", c->mfma_mops[MFMA_BF16] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_I8\":", c->mfma_mops[MFMA_I8] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_F64\":", c->mfma_mops[MFMA_F64] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_F8\":", c->mfma_mops[MFMA_F8] },
		{ ",\"SQ_INSTS_VALU_MFMA_MOPS_XF32\":", c->mfma_mops[MFMA_XF32] },
		{ ",\"SQ_VALU_MFMA_BUSY_CYCLES\":", c->mfma_cycles },
	};

	return put_counts(p, list, sizeof(list) / sizeof(list[0]));
}

void log_dispatch(const struct log_where *where, uint64_t index, const void *packet, uint64_t begin,
		  uint64_t end, const struct gcn_counters *counters)
{
	const hsa_kernel_dispatch_packet_t *d = packet;
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, "dispatch", where);
	p = put_num(p, ",\"index\":", index);
	p = put_hex(p, ",\"object\":", d->kernel_object);
	p = put_num(p, ",\"begin\":", begin);
	p = put_num(p, ",\"end\":", end);
	p = put_triple(p, ",\"grid\":[", d->grid_size_x, d->grid_size_y, d->grid_size_z);
	p = put_triple(p, ",\"group\":[", d->workgroup_size_x, d->workgroup_size_y,
		       d->workgroup_size_z);
	p = put_hex(p, ",\"signal\":", d->completion_signal.handle);
	/* the engine may get no processor when the kernel should end: the signal's value changes
	 * later */
	if (knobs.log_sync)
		p = put_num(p, ",\"done_ns\":", clock_now());
	if (counters) {
		p = put_counters(p, counters);
		if (gcn_archs[knobs.arch[where->gpu]].agprs)
			p = put_matrix_counters(p, counters);
		*p++ = '}';
	}
	finish(p);
}

void log_packet(const struct log_where *where, const char *kind, uint64_t index, uint64_t begin,
		uint64_t end, uint64_t signal)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, kind, where);
	p = put_num(p, ",\"index\":", index);
	p = put_num(p, ",\"begin\":", begin);
	p = put_num(p, ",\"end\":", end);
	finish(put_hex(p, ",\"signal\":", signal));
}

void log_copied(const struct log_where *where, const struct log_copy *copy)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, copy->fill ? "fill" : "copy", where);
	p = put_num(p, ",\"index\":", copy->op);
	p = put_num(p, ",\"bytes\":", copy->bytes);
	p = put_num(p, ",\"packets\":", copy->packets);
	if (!copy->fill)
		p = put_hex(p, ",\"src\":", copy->src);
	p = put_hex(p, ",\"dst\":", copy->dst);
	p = put_num(p, ",\"begin\":", copy->begin);
	p = put_num(p, ",\"end\":", copy->end);
	finish(put_hex(p, ",\"signal\":", copy->signal));
}

void log_thread_trace(unsigned int gpu, unsigned int se, uint64_t buffer, uint64_t tokens,
		      uint64_t lost)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_num(p, "{\"kind\":\"thread_trace\",\"gpu\":", gpu);
	p = put_num(p, ",\"se\":", se);
	p = put_hex(p, ",\"buffer\":", buffer);
	p = put_num(p, ",\"tokens\":", tokens);
	finish(put_num(p, ",\"lost\":", lost));
}

/* Names come from a file that the program loaded: leaves out characters that would break the
 * line. */
static char *put_name(char *p, const char *name)
{
	for (unsigned int n = 0; name[n] && n < 255; n++) {
		if (name[n] >= ' ' && name[n] < 127 && name[n] != '"' && name[n] != '\\')
			*p++ = name[n];
	}
	return p;
}

void log_stop(const struct log_where *where, const char *fault, uint64_t index, const char *kernel,
	      const struct gcn_stop *stop)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, "fault", where);
	p = put_str(p, ",\"fault\":\"");
	p = put_str(p, fault);
	p = put_num(p, "\",\"index\":", index);
	p = put_str(p, ",\"kernel\":\"");
	p = put_name(p, kernel);
	p = put_hex(p, "\",\"offset\":", stop->offset);
	p = put_hex(p, ",\"pc\":", stop->pc);
	p = put_hex(p, ",\"address\":", stop->addr);
	p = put_str(p, ",\"instruction\":\"");
	p = put_name(p, stop->text);
	p = put_hex(p, "\",\"words\":[", stop->word[0]);
	p = put_hex(p, ",", stop->word[1]);
	p = put_triple(p, "],\"group\":[", stop->group[0], stop->group[1], stop->group[2]);
	finish(put_num(p, ",\"wave\":", stop->wave));
}

void log_fault(const struct log_where *where, const char *fault, uint64_t index)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, "fault", where);
	p = put_str(p, ",\"fault\":\"");
	p = put_str(p, fault);
	finish(put_num(p, "\",\"index\":", index));
}

void log_memory_fault(const struct log_where *where, uint64_t index, uint64_t addr)
{
	char *p = begin_line();

	if (!p)
		return;
	p = put_where(p, "fault", where);
	p = put_str(p, ",\"fault\":\"memory_fault\"");
	p = put_num(p, ",\"index\":", index);
	finish(put_hex(p, ",\"address\":", addr));
}

void log_flush(void)
{
	if (!log_enabled())
		return;
	pthread_mutex_lock(&lock);
	if (fd >= 0 && used)
		write_out();
	pthread_mutex_unlock(&lock);
}

void log_tick(uint64_t now_ns, bool idle)
{
	if (!log_enabled() || !__atomic_load_n(&used, __ATOMIC_RELAXED))
		return;
	if (idle || now_ns - flushed_ns > FLUSH_NS) {
		log_flush();
		flushed_ns = now_ns;
	}
}

void log_lock(void)
{
	pthread_mutex_lock(&lock);
}

void log_unlock(bool child)
{
	if (child) {
		used = 0;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	pthread_mutex_unlock(&lock);
}

/* Packets may still be processed after this: from here on each line is written at once. */
__attribute__((destructor)) static void stop_buffering(void)
{
	if (!log_enabled())
		return;
	pthread_mutex_lock(&lock);
	at_exit = true;
	if (fd >= 0 && used)
		write_out();
	pthread_mutex_unlock(&lock);
}
