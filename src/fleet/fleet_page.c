/* SPDX-License-Identifier: MIT */
/* fleet_page.c - Thrift's compact protocol, and pages of a column: levels, dictionaries,
 * differences
 *
 * Data pages of version 1; PLAIN, RLE_DICTIONARY and DELTA_BINARY_PACKED; gzip or nothing.
 */
#include "fleet/fleet_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fd.h"
#include "fleet/fleet_file.h"

enum { ENCODING_PLAIN = 0, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_OF_DATA = 0, PAGE_OF_DICTIONARY = 2 };
enum { CODEC_NONE = 0, CODEC_GZIP = 2 };
enum { DEPTH_MAX = 16 };
#define UNPACKED_MAX (UINT64_C(1) << 30)

/* ---- bytes ---- */

static const unsigned char *take(struct page_in *in, uint64_t size)
{
	const unsigned char *at = in->at;

	if (in->bad || size > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		return NULL;
	}
	in->at += size;
	return at;
}

static unsigned int take_byte(struct page_in *in)
{
	const unsigned char *b = take(in, 1);

	return b ? *b : 0;
}

static uint64_t take_number(struct page_in *in, unsigned int size)
{
	const unsigned char *b = take(in, size);
	uint64_t value = 0;

	for (unsigned int i = 0; b && i < size; i++)
		value |= (uint64_t)b[i] << (8 * i);
	return value;
}

uint64_t fleet_page_varint(struct page_in *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		unsigned int b = take_byte(in);

		value |= (uint64_t)(b & 127) << shift;
		if (!(b & 128))
			return value;
	}
	in->bad = true;
	return 0;
}

int64_t fleet_page_zigzag(struct page_in *in)
{
	uint64_t value = fleet_page_varint(in);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- structures ---- */

bool fleet_page_field(struct page_in *in, struct page_field *f)
{
	unsigned int head = take_byte(in);

	if (in->bad || !head)
		return false;
	f->type = (int)(head & 15);
	f->id = head >> 4 ? f->id + (int)(head >> 4) : (int)fleet_page_zigzag(in);
	return !in->bad;
}

size_t fleet_page_list(struct page_in *in, int type)
{
	unsigned int head = take_byte(in);
	uint64_t nr = head >> 4 == 15 ? fleet_page_varint(in) : head >> 4;

	/* an item has one byte at least */
	if (nr > (uint64_t)(in->end - in->at) || (nr && type && (int)(head & 15) != type))
		in->bad = true;
	return in->bad ? 0 : (size_t)nr;
}

char *fleet_page_string(struct page_in *in)
{
	uint64_t size = fleet_page_varint(in);
	const unsigned char *b = take(in, size);
	char *text = b ? strndup((const char *)b, size) : NULL;

	if (!text)
		in->bad = true;
	return text;
}

static void skip(struct page_in *in, int type, unsigned int depth)
{
	struct page_field f = { 0 };
	unsigned int head;
	uint64_t nr;

	if (in->bad || depth > DEPTH_MAX) {
		in->bad = true;
		return;
	}
	switch (type) {
	case PAGE_TRUE:
	case PAGE_FALSE:
		break;
	case 3:
		take(in, 1);
		break;
	case 4:
	case 5:
	case 6:
		fleet_page_varint(in);
		break;
	case 7:
		take(in, 8);
		break;
	case PAGE_BINARY:
		nr = fleet_page_varint(in);
		take(in, nr);
		break;
	case PAGE_LIST:
	case 10:
		head = in->at < in->end ? *in->at : 0;
		nr = fleet_page_list(in, 0);
		/* bools of a list have a byte each */
		for (uint64_t i = 0; i < nr && !in->bad; i++)
			skip(in, (head & 15) <= PAGE_FALSE ? 3 : (int)(head & 15), depth + 1);
		break;
	case PAGE_STRUCT:
		while (fleet_page_field(in, &f))
			skip(in, f.type, depth + 1);
		break;
	default:
		in->bad = true;
	}
}

void fleet_page_skip(struct page_in *in, int type)
{
	skip(in, type, 0);
}

/* ---- values ---- */

/* The number of `width` bits at a position in bits; `size` bytes are there. */
static uint64_t bits_at(const unsigned char *b, size_t size, uint64_t bit, unsigned int width)
{
	uint64_t value = 0;
	unsigned int got = 0, shift = (unsigned int)(bit & 7);

	for (size_t i = (size_t)(bit >> 3); got < width && i < size; i++) {
		value |= (uint64_t)(b[i] >> shift) << got;
		got += 8 - shift;
		shift = 0;
	}
	return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

/* RLE: runs of one number, and packs of 8. */
static void take_runs(struct page_in *in, unsigned int width, uint32_t *out, size_t nr)
{
	size_t done = 0;

	if (width > 32)
		in->bad = true;
	while (done < nr && !in->bad) {
		uint64_t head = fleet_page_varint(in), count = head >> 1;

		if (head & 1) {
			uint64_t size = count * width;
			const unsigned char *b = count > nr ? NULL : take(in, size);

			if (!b && size)
				in->bad = true;
			for (uint64_t i = 0; i < count * 8 && done < nr && !in->bad; i++)
				out[done++] = (uint32_t)bits_at(b, (size_t)size, i * width, width);
		} else {
			uint32_t value = (uint32_t)take_number(in, (width + 7) / 8);

			if (!count)
				in->bad = true;
			for (; count && done < nr; count--)
				out[done++] = value;
		}
	}
}

static void take_deltas(struct page_in *in, int64_t *out, size_t nr)
{
	uint64_t block = fleet_page_varint(in), minis = fleet_page_varint(in),
		 total = fleet_page_varint(in);
	uint64_t value = (uint64_t)fleet_page_zigzag(in), per;
	size_t done = 0;

	if (in->bad || total != nr || !minis || minis > 512 || !block || block > 1 << 20 ||
	    block % (minis * 8)) {
		in->bad = true;
		return;
	}
	per = block / minis;
	if (nr)
		out[done++] = (int64_t)value;
	while (done < nr && !in->bad) {
		uint64_t least = (uint64_t)fleet_page_zigzag(in);
		const unsigned char *widths = take(in, minis);

		for (uint64_t m = 0; m < minis && done < nr && !in->bad; m++) {
			uint64_t size = widths[m] > 64 ? UINT64_MAX : per * widths[m] / 8;
			const unsigned char *b = take(in, size);

			for (uint64_t i = 0; i < per && done < nr && !in->bad; i++) {
				value += least + bits_at(b, (size_t)size, i * widths[m], widths[m]);
				out[done++] = (int64_t)value;
			}
		}
	}
}

/* What is decoded into, behind the values of the pages before. */
struct target {
	struct fleet_values *v;
	enum fleet_type type;
	bool optional;
	size_t done;
	/* the dictionary */
	int64_t *numbers;
	const char **texts;
	uint32_t *sizes;
	size_t nr_entries;
};

static void take_text(struct page_in *in, const char **text, uint32_t *size)
{
	*size = (uint32_t)take_number(in, 4);
	*text = (const char *)take(in, *size);
}

static void take_dictionary(struct page_in *in, struct target *t, size_t nr)
{
	if (t->numbers || nr > (size_t)(in->end - in->at)) {
		in->bad = true;
		return;
	}
	t->numbers = calloc(nr + 1, sizeof(*t->numbers));
	t->texts = calloc(nr + 1, sizeof(*t->texts));
	t->sizes = calloc(nr + 1, sizeof(*t->sizes));
	if (!t->numbers || !t->texts || !t->sizes)
		in->bad = true;
	for (size_t i = 0; i < nr && !in->bad; i++) {
		if (t->type == FLEET_TEXT)
			take_text(in, &t->texts[i], &t->sizes[i]);
		else
			t->numbers[i] = (int64_t)take_number(in, 8);
	}
	t->nr_entries = nr;
}

static void put_entry(struct target *t, size_t to, uint32_t slot, struct page_in *in)
{
	if (slot >= t->nr_entries) {
		in->bad = true;
		return;
	}
	if (t->type == FLEET_TEXT) {
		t->v->texts[to] = t->texts[slot];
		t->v->sizes[to] = t->sizes[slot];
	} else {
		t->v->numbers[to] = t->numbers[slot];
	}
}

/* The values that are there go where they are, those without one stay 0. */
static void spread(struct target *t, const int64_t *numbers, const uint32_t *slots, size_t nr,
		   struct page_in *in)
{
	for (size_t i = 0, from = 0; i < nr && !in->bad; i++) {
		if (!t->v->there[t->done + i])
			continue;
		if (slots)
			put_entry(t, t->done + i, slots[from++], in);
		else
			t->v->numbers[t->done + i] = numbers[from++];
	}
}

static void take_plain(struct page_in *in, struct target *t, size_t nr)
{
	size_t bit = 0;

	for (size_t i = t->done; i < t->done + nr && !in->bad; i++) {
		if (!t->v->there[i])
			continue;
		if (t->type == FLEET_TEXT) {
			take_text(in, &t->v->texts[i], &t->v->sizes[i]);
		} else if (t->type == FLEET_BOOL) {
			if ((size_t)(in->end - in->at) <= bit / 8)
				in->bad = true;
			else
				t->v->numbers[i] = in->at[bit / 8] >> (bit % 8) & 1;
			bit++;
		} else {
			t->v->numbers[i] = (int64_t)take_number(in, 8);
		}
	}
}

static void take_data(struct page_in *in, struct target *t, size_t nr, int encoding)
{
	uint32_t *levels = calloc(nr + 1, sizeof(*levels));
	int64_t *numbers = NULL;
	size_t there = nr;

	if (!levels)
		in->bad = true;
	if (t->optional && !in->bad) {
		uint64_t size = take_number(in, 4);
		const unsigned char *b = take(in, size);
		struct page_in of = { .at = b, .end = b ? b + size : b, .bad = !b };

		take_runs(&of, 1, levels, nr);
		in->bad |= of.bad;
	}
	for (size_t i = 0; i < nr && !in->bad; i++) {
		t->v->there[t->done + i] = !t->optional || levels[i];
		there -= !t->v->there[t->done + i];
	}
	if (encoding == ENCODING_PLAIN) {
		take_plain(in, t, nr);
	} else if (encoding == ENCODING_DICTIONARY && !in->bad) {
		unsigned int width = take_byte(in);

		take_runs(in, width, levels, there);
		spread(t, NULL, levels, nr, in);
	} else if (encoding == ENCODING_DELTA && t->type == FLEET_INT && !in->bad) {
		numbers = calloc(there + 1, sizeof(*numbers));
		if (!numbers)
			in->bad = true;
		else if (there)
			take_deltas(in, numbers, there);
		spread(t, numbers, NULL, nr, in);
	} else {
		in->bad = true;
	}
	free(numbers);
	free(levels);
	t->done += nr;
}

struct header {
	int kind, encoding;
	uint64_t unpacked, packed, nr;
};

static void take_header(struct page_in *in, struct header *h)
{
	struct page_field f = { 0 }, inner;

	*h = (struct header){ .kind = -1, .encoding = -1 };
	while (fleet_page_field(in, &f)) {
		if (f.id == 1)
			h->kind = (int)fleet_page_zigzag(in);
		else if (f.id == 2)
			h->unpacked = (uint64_t)fleet_page_zigzag(in);
		else if (f.id == 3)
			h->packed = (uint64_t)fleet_page_zigzag(in);
		else if ((f.id == 5 || f.id == 7) && f.type == PAGE_STRUCT) {
			inner = (struct page_field){ 0 };
			while (fleet_page_field(in, &inner)) {
				if (inner.id == 1)
					h->nr = (uint64_t)fleet_page_zigzag(in);
				else if (inner.id == 2)
					h->encoding = (int)fleet_page_zigzag(in);
				else
					fleet_page_skip(in, inner.type);
			}
		} else {
			fleet_page_skip(in, f.type);
		}
	}
}

/* The bytes of a page as they were before gzip; in the values' memory. */
static void unpack(struct page_in *in, const struct header *h, struct fleet_values *v)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)in->at,
		       .avail_in = (uInt)(in->end - in->at) };
	unsigned char **more = reallocarray(v->unpacked, v->nr_unpacked + 1, sizeof(*more));
	unsigned char *out;
	int ret;

	if (more)
		v->unpacked = more;
	out = more && h->unpacked < UNPACKED_MAX ? malloc(h->unpacked + 1) : NULL;
	if (!out || inflateInit2(&z, 15 + 16) != Z_OK) {
		free(out);
		in->bad = true;
		return;
	}
	v->unpacked[v->nr_unpacked++] = out;
	z.next_out = out;
	z.avail_out = (uInt)h->unpacked + 1;
	ret = inflate(&z, Z_FINISH);
	if (ret != Z_STREAM_END || z.total_out != h->unpacked)
		in->bad = true;
	inflateEnd(&z);
	in->at = out;
	in->end = out + h->unpacked;
}

static void take_pages(struct page_in *in, const struct page_chunk *c, struct target *t)
{
	while (t->done < c->nr_values && !in->bad) {
		struct page_in page;
		struct header h;

		take_header(in, &h);
		page.at = take(in, h.packed);
		if (in->bad)
			return;
		page.end = page.at + h.packed;
		page.bad = h.nr > c->nr_values - (h.kind == PAGE_OF_DATA ? t->done : 0) ||
			   (h.kind == PAGE_OF_DATA && !h.nr);
		if (c->codec == CODEC_GZIP && !page.bad)
			unpack(&page, &h, t->v);
		if (page.bad || (h.kind != PAGE_OF_DATA && h.kind != PAGE_OF_DICTIONARY))
			in->bad = true;
		else if (h.kind == PAGE_OF_DICTIONARY)
			take_dictionary(&page, t, (size_t)h.nr);
		else
			take_data(&page, t, (size_t)h.nr, h.encoding);
		in->bad |= page.bad;
	}
}

int fleet_page_read(struct fleet_file *f, size_t group, size_t column, struct fleet_values *v,
		    char error[FLEET_ERROR])
{
	const struct page_chunk *c = &f->groups[group].chunks[column];
	struct target t = { .v = v,
			    .type = f->columns[column].type,
			    .optional = f->columns[column].optional };
	struct page_in in;
	int err;

	fleet_page_fini(v);
	v->nr = (size_t)c->nr_values;
	v->there = calloc(v->nr + 1, 1);
	if (t.type == FLEET_TEXT) {
		v->texts = calloc(v->nr + 1, sizeof(*v->texts));
		v->sizes = calloc(v->nr + 1, sizeof(*v->sizes));
	} else {
		v->numbers = calloc(v->nr + 1, sizeof(*v->numbers));
	}
	v->bytes = malloc(c->size + 1);
	snprintf(error, FLEET_ERROR, "out of memory");
	if (!v->there || !v->bytes || (t.type == FLEET_TEXT ? !v->texts || !v->sizes : !v->numbers))
		return -ENOMEM;
	err = fd_pread(f->fd, v->bytes, c->size, c->offset);
	snprintf(error, FLEET_ERROR, "can't be read: %s", strerror(-err));
	if (err)
		return err;
	in = (struct page_in){ .at = v->bytes, .end = v->bytes + c->size };
	if (c->codec != CODEC_NONE && c->codec != CODEC_GZIP)
		in.bad = true;
	take_pages(&in, c, &t);
	free(t.numbers);
	free(t.texts);
	free(t.sizes);
	snprintf(error, FLEET_ERROR, "column %s: its pages are damaged", f->columns[column].name);
	if (in.bad)
		return -EBADMSG;
	*error = '\0';
	return 0;
}

void fleet_page_fini(struct fleet_values *v)
{
	for (size_t i = 0; i < v->nr_unpacked; i++)
		free(v->unpacked[i]);
	free(v->unpacked);
	free(v->there);
	free(v->numbers);
	free(v->texts);
	free(v->sizes);
	free(v->bytes);
	memset(v, 0, sizeof(*v));
}
