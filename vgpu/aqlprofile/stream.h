/* SPDX-License-Identifier: MIT */
/* stream.h - a stream of PM4 packets, written to memory or only measured
 *
 * Threads:  one at a time.
 */
#ifndef VGPU_AQLPROFILE_STREAM_H
#define VGPU_AQLPROFILE_STREAM_H

#include <stdint.h>

/* PM4 opcodes */
enum {
	STREAM_PRED_EXEC = 0x23,
	STREAM_WAIT_REG_MEM = 0x3c,
	STREAM_INDIRECT_BUFFER = 0x3f,
	STREAM_COPY_DATA = 0x40,
	STREAM_EVENT_WRITE = 0x46,
	STREAM_ACQUIRE_MEM = 0x58,
	STREAM_SET_SH_REG = 0x76,
	STREAM_SET_UCONFIG_REG = 0x79,
};

struct stream {
	uint32_t *to; /* NULL: nothing is written */
	uint32_t nr;  /* dwords */
};

/* A packet of `n` dwords behind its header. */
static inline void stream_put(struct stream *s, uint32_t op, const uint32_t *body, uint32_t n)
{
	if (s->to) {
		s->to[s->nr] = 0xc0000000u | (n - 1) << 16 | op << 8;
		for (uint32_t i = 0; i < n; i++)
			s->to[s->nr + 1 + i] = body[i];
	}
	s->nr += n + 1;
}

#define STREAM_PUT(s, op, ...)                                                                     \
	stream_put(s, op, (const uint32_t[]){ __VA_ARGS__ },                                       \
		   sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

#define STREAM_LO(address) ((uint32_t)(uint64_t)(address))
#define STREAM_HI(address) ((uint32_t)((uint64_t)(address) >> 32))

#endif
