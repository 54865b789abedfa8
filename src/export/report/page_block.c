/* SPDX-License-Identifier: MIT */
/* page_block.c - deflated bytes as BASE64, and numbers in few bytes */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/varint.h"
#include "export/report/page_internal.h"

#define LEVEL 4 /* of zlib: half the time of the default, and 3 % more bytes on columns */

struct page_pack {
	struct json *out;
	z_stream z;
	unsigned char packed[16384];
	unsigned char rest[3]; /* bytes that are not yet a group of three */
	size_t nr_rest;
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(struct json *out, const unsigned char b[3], size_t nr)
{
	uint32_t bits = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
	char text[4];

	for (int i = 0; i < 4; i++)
		text[i] = digits[bits >> (18 - 6 * i) & 63];
	for (size_t i = nr + 1; i < 4; i++)
		text[i] = '=';
	json_bytes(out, text, 4);
}

static void put_base64(struct page_pack *p, const unsigned char *bytes, size_t size)
{
	char text[4096];
	size_t used = 0;

	for (; size && p->nr_rest; size--) {
		p->rest[p->nr_rest++] = *bytes++;
		if (p->nr_rest == 3) {
			put_group(p->out, p->rest, 3);
			p->nr_rest = 0;
		}
	}
	for (; size >= 3; size -= 3, bytes += 3) {
		uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

		for (int i = 0; i < 4; i++)
			text[used++] = digits[bits >> (18 - 6 * i) & 63];
		if (used == sizeof(text)) {
			json_bytes(p->out, text, used);
			used = 0;
		}
	}
	if (used)
		json_bytes(p->out, text, used);
	for (; size; size--)
		p->rest[p->nr_rest++] = *bytes++;
}

static void put_text(struct json *out, const char *text)
{
	json_bytes(out, text, strlen(text));
}

struct page_pack *page_pack_open(struct json *out, const char *id)
{
	struct page_pack *p = alloc_zero(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	if (deflateInit(&p->z, LEVEL) != Z_OK) {
		alloc_free(p);
		return NULL;
	}
	put_text(out, "<script type=\"text/plain\" id=\"");
	put_text(out, id);
	put_text(out, "\">");
	return p;
}

static void deflate_bytes(struct page_pack *p, int flush)
{
	do {
		p->z.next_out = p->packed;
		p->z.avail_out = sizeof(p->packed);
		deflate(&p->z, flush);
		put_base64(p, p->packed, sizeof(p->packed) - p->z.avail_out);
	} while (p->z.avail_out == 0);
}

int page_pack_write(void *pack, const char *bytes, size_t size)
{
	struct page_pack *p = pack;

	p->z.next_in = (unsigned char *)(uintptr_t)bytes; /* zlib does not write to it */
	p->z.avail_in = (unsigned int)size;
	deflate_bytes(p, Z_NO_FLUSH);
	return p->out->error;
}

int page_pack_close(struct page_pack *p)
{
	int ret;

	if (!p)
		return 0;
	p->z.avail_in = 0;
	deflate_bytes(p, Z_FINISH);
	if (p->nr_rest) {
		memset(p->rest + p->nr_rest, 0, 3 - p->nr_rest);
		put_group(p->out, p->rest, p->nr_rest);
	}
	put_text(p->out, "</script>\n");
	ret = p->out->error;
	deflateEnd(&p->z);
	alloc_free(p);
	return ret;
}

int page_bytes_put(struct page_bytes *b, uint64_t value)
{
	if (b->max - b->nr < VARINT_BYTES) {
		size_t max = b->max ? 2 * b->max : 1024;
		unsigned char *grown = alloc_resize(b->bytes, max, 1);

		if (!grown)
			return -ENOMEM;
		b->bytes = grown;
		b->max = max;
	}
	b->nr = (size_t)(varint_put(b->bytes + b->nr, value) - b->bytes);
	return 0;
}
