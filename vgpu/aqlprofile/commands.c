/* SPDX-License-Identifier: MIT */
/* commands.c - a profile's command buffer: a record of sizes, an area for results, and three
 * streams of packets */
#include "commands.h"

#include <stddef.h>
#include <string.h>

#include "stream.h"

/* At the begin of the buffer. Sizes are bytes. */
struct record {
	uint32_t prefix_size, read_size, read2_size, is_read2, start_size, stop_size;
};

#define ALIGN 256u

static uint32_t aligned(uint32_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void write_part(const struct commands *c, const profile_t *p, enum commands_part part,
		       struct stream *s)
{
	if (c->write[part])
		c->write[part](s, p);
}

uint32_t commands_size(const struct commands *c, const profile_t *p)
{
	uint32_t size = aligned(sizeof(struct record) + c->area);

	for (enum commands_part part = 0; part < COMMANDS_PARTS; part++) {
		struct stream s = { NULL, 0 };

		write_part(c, p, part, &s);
		size += part == COMMANDS_STOP ? s.nr * 4 : aligned(s.nr * 4);
	}
	return (size + 0x1800u) & ~0xfffu;
}

void commands_write(const struct commands *c, const profile_t *p)
{
	struct record r = { .prefix_size = aligned(sizeof(r) + c->area) };
	uint32_t *sizes[COMMANDS_PARTS] = { &r.read_size, &r.start_size, &r.stop_size };
	unsigned char *at = (unsigned char *)p->command_buffer.ptr + r.prefix_size;

	for (enum commands_part part = 0; part < COMMANDS_PARTS; part++) {
		struct stream s = { (uint32_t *)(void *)at, 0 };

		write_part(c, p, part, &s);
		*sizes[part] = s.nr * 4;
		at += aligned(*sizes[part]);
	}
	memcpy(p->command_buffer.ptr, &r, sizeof(r));
	memset(commands_area(p), 0, c->area);
}

void commands_part(const profile_t *p, enum commands_part part, const void **at, uint32_t *size)
{
	const unsigned char *base = p->command_buffer.ptr;
	struct record r;

	memcpy(&r, base, sizeof(r));
	base += r.prefix_size;
	*at = base;
	*size = r.read_size;
	if (part == COMMANDS_READ)
		return;
	base += aligned(r.read_size);
	*at = base;
	*size = r.start_size;
	if (part == COMMANDS_START)
		return;
	*at = base + aligned(r.start_size);
	*size = r.stop_size;
}

void *commands_area(const profile_t *p)
{
	return (unsigned char *)p->command_buffer.ptr + sizeof(struct record);
}
