/* SPDX-License-Identifier: MIT */
/* proto.c - encodes messages of Protocol Buffers */
#include "export/pftrace/proto.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/varint.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

void proto_fini(struct proto *p)
{
	alloc_free(p->buf);
	memset(p, 0, sizeof(*p));
}

static char *grow(struct proto *p, size_t size)
{
	size_t cap = p->cap ? p->cap : 1024;
	char *grown;

	if (p->failed)
		return NULL;
	while (cap < p->used + size)
		cap *= 2;
	if (cap != p->cap) {
		grown = alloc_resize(p->buf, cap, 1);
		if (!grown) {
			p->failed = true;
			return NULL;
		}
		p->buf = grown;
		p->cap = cap;
	}
	return p->buf + p->used;
}

/* Space for `size` more bytes; NULL: out of memory. */
static inline char *reserve(struct proto *p, size_t size)
{
	return !p->failed && p->cap - p->used >= size ? p->buf + p->used : grow(p, size);
}

static inline char *put_varint(char *at, uint64_t value)
{
	return (char *)varint_put((unsigned char *)at, value);
}

static inline char *put_tag(char *at, uint32_t field, enum wire wire)
{
	return put_varint(at, (uint64_t)field << 3 | (uint64_t)wire);
}

void proto_uint(struct proto *p, uint32_t field, uint64_t value)
{
	char *at = reserve(p, 2 * VARINT_BYTES);

	if (at)
		p->used = (size_t)(put_varint(put_tag(at, field, WIRE_VARINT), value) - p->buf);
}

void proto_uints(struct proto *p, uint32_t field, uint32_t first, uint64_t a, uint32_t second,
		 uint64_t b)
{
	char *start = reserve(p, 5 * VARINT_BYTES), *at, *size;

	if (!start)
		return;
	size = put_tag(start, field, WIRE_BYTES);
	at = put_varint(put_tag(size + 1, first, WIRE_VARINT), a);
	at = put_varint(put_tag(at, second, WIRE_VARINT), b);
	/* at most four varints: one byte for the size */
	*size = (char)(at - size - 1);
	p->used = (size_t)(at - p->buf);
}

void proto_fixed64(struct proto *p, uint32_t field, uint64_t value)
{
	char *at = reserve(p, VARINT_BYTES + sizeof(value));

	if (!at)
		return;
	at = put_tag(at, field, WIRE_64);
	memcpy(at, &value, sizeof(value));
	p->used = (size_t)(at - p->buf) + sizeof(value);
}

void proto_double(struct proto *p, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(p, field, bits);
}

void proto_bytes(struct proto *p, uint32_t field, const void *bytes, size_t size)
{
	char *at = reserve(p, 2 * VARINT_BYTES + size);

	if (!at)
		return;
	at = put_varint(put_tag(at, field, WIRE_BYTES), size);
	memcpy(at, bytes, size);
	p->used = (size_t)(at - p->buf) + size;
}

void proto_text(struct proto *p, uint32_t field, const char *text, size_t size)
{
	size_t at, run;

	for (run = 0; run < size && !((unsigned char)text[run] & 0x80); run++)
		;
	if (run == size) {
		proto_bytes(p, field, text, size);
		return;
	}
	at = proto_begin(p, field);
	while (size) {
		size_t n = (unsigned char)*text & 0x80 ?
				   text_utf8_size((const unsigned char *)text, size) :
				   1;

		if (n)
			proto_raw(p, text, n);
		else
			proto_raw(p, "\xef\xbf\xbd", 3);
		n = n ? n : 1;
		text += n;
		size -= n;
	}
	proto_end(p, at);
}

void proto_raw(struct proto *p, const void *bytes, size_t size)
{
	char *at = reserve(p, size);

	if (!at)
		return;
	memcpy(at, bytes, size);
	p->used += size;
}

size_t proto_begin(struct proto *p, uint32_t field)
{
	char *at = reserve(p, VARINT_BYTES + 1);

	if (!at)
		return 0;
	/* one byte for the size: most messages are short */
	p->used = (size_t)(put_tag(at, field, WIRE_BYTES) - p->buf) + 1;
	return p->used;
}

void proto_end(struct proto *p, size_t at)
{
	char size[VARINT_BYTES];
	size_t n, more;

	if (p->failed || !reserve(p, VARINT_BYTES))
		return;
	n = p->used - at;
	more = (size_t)(put_varint(size, n) - size) - 1;
	if (more)
		memmove(p->buf + at + more, p->buf + at, n);
	memcpy(p->buf + at - 1, size, more + 1);
	p->used += more;
}
