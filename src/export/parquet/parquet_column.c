/* SPDX-License-Identifier: MIT */
/* parquet_column.c - a column of a row group: pages, dictionary, statistics
 *
 * Pages are of version 1, which all readers take with these encodings. A page is encoded as soon as
 * it is full, so that what is kept of a row group is what it takes in the file. A dictionary that
 * gets too large for what it saves is closed: the pages behind it have differences, or texts as
 * they are.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/varint.h"
#include "export/parquet/parquet_internal.h"

/* of Parquet's own definitions */
enum { TYPE_BOOLEAN = 0, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_NONE = 0, CODEC_GZIP = 2 };

enum { MAX_ENTRIES = 1 << 16, MAX_ENTRY_BYTES = 1 << 20, MAX_PLAIN = 1 << 20, MAX_RANGE_TEXT = 64 };

static bool is_text(const struct parquet_chunk *c)
{
	return c->column->type == PARQUET_TEXT;
}

/* ---- the dictionary ---- */

/* The slot of the entry that begins at the end of `entries`. */
static size_t add_entry(struct parquet_chunk *c, uint64_t key)
{
	if (c->nr_entries == c->max_entries) {
		uint32_t *grown =
			alloc_grow(c->offsets, c->nr_entries, &c->max_entries, 64, sizeof(*grown));

		if (!grown) {
			c->entries.failed = true;
			return 0;
		}
		c->offsets = grown;
	}
	if (map_put(&c->index, key, c->nr_entries))
		c->entries.failed = true;
	c->offsets[c->nr_entries] = (uint32_t)c->entries.used;
	return c->nr_entries++;
}

static bool is_full(const struct parquet_chunk *c, size_t size)
{
	return c->nr_entries >= MAX_ENTRIES || c->entries.used + size > MAX_ENTRY_BYTES ||
	       c->entries.failed;
}

static struct parquet_recent *recent_of(struct parquet_chunk *c, uint64_t key)
{
	return &c->recent[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PARQUET_RECENT_BITS)];
}

/* Of a page of numbers. false: the dictionary is full, and the page has none. */
static bool slots_of_numbers(struct parquet_chunk *c, int64_t slots[PARQUET_PAGE])
{
	for (size_t i = 0; i < c->nr; i++) {
		int64_t value = c->values[i];
		struct parquet_recent *recent;
		uint64_t found;

		/* mostly */
		if (i && value == c->values[i - 1]) {
			slots[i] = slots[i - 1];
			continue;
		}
		recent = recent_of(c, (uint64_t)value);
		if (!recent->slot_plus_1 || recent->key != (uint64_t)value) {
			if (!map_get(&c->index, (uint64_t)value, &found)) {
				if (is_full(c, 8))
					return false;
				found = add_entry(c, (uint64_t)value);
				parquet_add_number(&c->entries, (uint64_t)value, 8);
			}
			*recent = (struct parquet_recent){ (uint64_t)value, found + 1 };
		}
		slots[i] = (int64_t)recent->slot_plus_1 - 1;
	}
	return true;
}

/* ---- pages ---- */

/* A page with its header; releases it. */
static void put_page(struct parquet_chunk *c, struct parquet_bytes *to, int kind,
		     struct parquet_bytes *page, size_t nr, int encoding)
{
	struct parquet_thrift t;
	size_t size = page->used;

	if (c->column->is_packed)
		parquet_pack(page, 0);
	c->saved += size - page->used;
	parquet_begin(&t, to);
	parquet_i32(&t, 1, kind);
	parquet_i32(&t, 2, (int64_t)size);
	parquet_i32(&t, 3, (int64_t)page->used);
	parquet_struct(&t, kind == PAGE_DATA ? 5 : 7);
	parquet_i32(&t, 1, (int64_t)nr);
	parquet_i32(&t, 2, encoding);
	if (kind == PAGE_DATA) {
		parquet_i32(&t, 3, ENCODING_RLE);
		parquet_i32(&t, 4, ENCODING_RLE);
	}
	parquet_end(&t);
	parquet_end(&t);
	parquet_add(to, page->data, page->used);
	to->failed = to->failed || page->failed;
	parquet_fini(page);
}

static void put_levels(struct parquet_bytes *to, const struct parquet_chunk *c)
{
	size_t at = to->used;

	parquet_add_number(to, 0, 4);
	parquet_add_runs(to, c->levels, c->nr_rows, 1);
	for (size_t i = 0; i < 4 && !to->failed; i++)
		to->data[at + i] = (unsigned char)((to->used - at - 4) >> 8 * i);
}

static void put_bits(struct parquet_bytes *to, const struct parquet_chunk *c)
{
	for (size_t i = 0; i < c->nr; i += 8) {
		uint64_t bits = 0;

		for (size_t k = 0; k < 8 && i + k < c->nr; k++)
			bits |= (uint64_t)(c->values[i + k] != 0) << k;
		parquet_add_number(to, bits, 1);
	}
}

static void put_slots(struct parquet_bytes *to, const struct parquet_chunk *c, const int64_t *slots)
{
	unsigned int width = parquet_width(c->nr_entries - 1);

	parquet_add_number(to, width, 1);
	parquet_add_runs(to, slots, c->nr, width);
}

/* Values of the page by its encoding, which is returned. */
static int put_values(struct parquet_bytes *to, struct parquet_chunk *c)
{
	int64_t slots[PARQUET_PAGE];

	if (c->nr == 0)
		return ENCODING_PLAIN;
	if (c->how == PARQUET_DICTIONARY && !is_text(c)) {
		if (slots_of_numbers(c, slots)) {
			put_slots(to, c, slots);
			return ENCODING_DICTIONARY;
		}
		c->how = PARQUET_DELTA;
	}
	switch (c->how) {
	case PARQUET_DICTIONARY:
		put_slots(to, c, c->values);
		return ENCODING_DICTIONARY;
	case PARQUET_DELTA:
		parquet_add_deltas(to, c->values, c->nr);
		return ENCODING_DELTA;
	case PARQUET_PLAIN:
		break;
	}
	if (is_text(c))
		parquet_add(to, c->plain.data, c->plain.used);
	else if (c->column->type == PARQUET_BOOL)
		put_bits(to, c);
	else
		for (size_t i = 0; i < c->nr; i++)
			parquet_add_number(to, (uint64_t)c->values[i], 8);
	return ENCODING_PLAIN;
}

static void add_to_range(struct parquet_chunk *c)
{
	size_t i = 0;

	if (is_text(c) || c->how == PARQUET_DICTIONARY || c->column->type != PARQUET_INT)
		return;
	if (c->nr && !c->has_range) {
		c->least = c->most = c->values[i++];
		c->has_range = true;
	}
	for (; i < c->nr; i++) {
		c->least = c->values[i] < c->least ? c->values[i] : c->least;
		c->most = c->values[i] > c->most ? c->values[i] : c->most;
	}
}

void parquet_page_end(struct parquet_chunk *c)
{
	struct parquet_bytes page = { 0 };
	int encoding;

	if (c->nr_rows == 0)
		return;
	if (c->column->optional)
		put_levels(&page, c);
	encoding = put_values(&page, c);
	add_to_range(c);
	put_page(c, &c->pages, PAGE_DATA, &page, c->nr_rows, encoding);
	c->used |= c->nr ? 1u << c->how : 1u << PARQUET_PLAIN;
	c->nr_values += c->nr_rows;
	c->nr_nulls += c->nr_rows - c->nr;
	c->nr_rows = c->nr = c->plain.used = 0;
	/* numbers that mostly differ */
	if (c->how == PARQUET_DICTIONARY && !is_text(c) && c->nr_entries > c->nr_values / 4)
		c->how = PARQUET_DELTA;
}

/* ---- texts ---- */

/* The pages behind this one have no dictionary. */
static void close_dictionary(struct parquet_chunk *c)
{
	parquet_page_end(c);
	c->how = PARQUET_PLAIN;
}

/* Texts have their bytes as they came. */
static bool is_entry(const struct parquet_chunk *c, uint64_t slot, const char *text, size_t size)
{
	const unsigned char *at = c->entries.data + c->offsets[slot];
	size_t end = slot + 1 < c->nr_entries ? c->offsets[slot + 1] : c->entries.used;

	return end - c->offsets[slot] == size && memcmp(at, text, size) == 0;
}

static bool slot_of_text(struct parquet_chunk *c, const char *text, size_t size, uint64_t hash,
			 int64_t *slot)
{
	struct parquet_recent *recent = recent_of(c, hash);
	uint64_t key = hash, found;

	if (recent->slot_plus_1 && recent->key == hash &&
	    is_entry(c, recent->slot_plus_1 - 1, text, size)) {
		*slot = (int64_t)recent->slot_plus_1 - 1;
		return true;
	}
	while (map_get(&c->index, key, &found) && !is_entry(c, found, text, size))
		key++;
	if (!map_get(&c->index, key, &found)) {
		if (is_full(c, size))
			return false;
		found = add_entry(c, key);
		parquet_add(&c->entries, text, size);
	}
	*recent = (struct parquet_recent){ hash, found + 1 };
	*slot = (int64_t)found;
	return true;
}

/* ---- values ---- */

/* A text as the file has it, which is UTF-8 (text_valid()). */
static void put_text(struct parquet_bytes *to, const char *text, size_t size)
{
	char *copy = alloc_string_n(text, size), *valid = copy ? text_valid(copy) : NULL;
	const char *clean = valid ? valid : copy;

	if (clean) {
		parquet_add_number(to, strlen(clean), 4);
		parquet_add(to, clean, strlen(clean));
	} else {
		to->failed = true;
	}
	alloc_free(valid);
	alloc_free(copy);
}

/* The bounds of a text: they begin with 4 bytes of its length. */
static void widen_range(struct parquet_chunk *c, const unsigned char *text, size_t size)
{
	const struct parquet_bytes *bounds[2] = { &c->first_text, &c->last_text };

	if (size > MAX_RANGE_TEXT)
		c->too_long = true;
	for (size_t i = 0; i < 2 && !c->too_long; i++) {
		struct parquet_bytes *bound = i ? &c->last_text : &c->first_text;
		size_t least = bounds[i]->used < size ? bounds[i]->used : size;
		int by = least ? memcmp(text, bounds[i]->data, least) : 0;

		by = by ? by : size < bounds[i]->used ? -1 : size > bounds[i]->used;
		if (c->has_range && (i ? by <= 0 : by >= 0))
			continue;
		bound->used = 0;
		parquet_add(bound, text, size);
	}
	c->has_range = true;
}

void parquet_chunk_text(struct parquet_chunk *c, const char *text, size_t size, uint64_t hash)
{
	int64_t slot = 0;
	size_t at;

	if (c->how == PARQUET_DICTIONARY && !slot_of_text(c, text, size, hash, &slot))
		close_dictionary(c);
	if (c->how == PARQUET_PLAIN) {
		at = c->plain.used;
		put_text(&c->plain, text, size);
		if (!c->plain.failed)
			widen_range(c, c->plain.data + at + 4, c->plain.used - at - 4);
	}
	parquet_chunk_int(c, slot);
	if (c->plain.used > MAX_PLAIN)
		parquet_page_end(c);
}

void parquet_chunk_string(struct parquet_chunk *c, const char *text)
{
	size_t size = strlen(text);

	parquet_chunk_text(c, text, size, map_hash(text, size));
}

bool parquet_chunk_known(struct parquet_chunk *c, int64_t id)
{
	const struct parquet_recent *recent = &c->recent_ids[(uint64_t)id % PARQUET_RECENT_IDS];

	if (c->how != PARQUET_DICTIONARY || !recent->slot_plus_1 || recent->key != (uint64_t)id)
		return false;
	parquet_chunk_int(c, (int64_t)recent->slot_plus_1 - 1);
	return true;
}

void parquet_chunk_string_of(struct parquet_chunk *c, int64_t id, const char *text)
{
	size_t at = c->nr;

	parquet_chunk_string(c, text);
	/* behind the end of a page the value is still there */
	if (c->how == PARQUET_DICTIONARY)
		c->recent_ids[(uint64_t)id % PARQUET_RECENT_IDS] =
			(struct parquet_recent){ (uint64_t)id, (size_t)c->values[at] + 1 };
}

/* ---- the row group ---- */

void parquet_chunk_begin(struct parquet_chunk *c, const struct parquet_column *column)
{
	c->column = column;
	c->how = column->how;
	c->nr_rows = c->nr = c->nr_entries = 0;
	c->nr_values = c->nr_nulls = c->used = c->saved = 0;
	c->plain.used = c->pages.used = c->entries.used = 0;
	c->first_text.used = c->last_text.used = 0;
	c->has_range = c->too_long = false;
	map_clear(&c->index);
	memset(c->recent, 0, sizeof(c->recent));
	memset(c->recent_ids, 0, sizeof(c->recent_ids));
}

void parquet_chunk_fini(struct parquet_chunk *c)
{
	parquet_fini(&c->plain);
	parquet_fini(&c->pages);
	parquet_fini(&c->entries);
	parquet_fini(&c->first_text);
	parquet_fini(&c->last_text);
	map_fini(&c->index);
	alloc_free(c->offsets);
}

size_t parquet_chunk_size(const struct parquet_chunk *c)
{
	return c->pages.used + c->entries.used + c->plain.used;
}

bool parquet_chunk_failed(const struct parquet_chunk *c)
{
	return c->plain.failed || c->pages.failed || c->entries.failed || c->first_text.failed ||
	       c->last_text.failed;
}

/* The dictionary's entries as they are in the file; adds them to the statistics. */
static void put_entries(struct parquet_bytes *to, struct parquet_chunk *c)
{
	for (size_t i = 0; i < c->nr_entries && !c->entries.failed; i++) {
		const unsigned char *entry = c->entries.data + c->offsets[i];
		size_t end = i + 1 < c->nr_entries ? c->offsets[i + 1] : c->entries.used;
		size_t at = to->used;
		int64_t number;

		if (is_text(c)) {
			put_text(to, (const char *)entry, end - c->offsets[i]);
			if (!to->failed)
				widen_range(c, to->data + at + 4, to->used - at - 4);
			continue;
		}
		parquet_add(to, entry, 8);
		number = 0;
		for (size_t k = 0; k < 8; k++)
			number |= (int64_t)((uint64_t)entry[k] << 8 * k);
		c->least = !c->has_range || number < c->least ? number : c->least;
		c->most = !c->has_range || number > c->most ? number : c->most;
		c->has_range = true;
	}
}

static void put_statistics(struct parquet_thrift *t, const struct parquet_chunk *c)
{
	parquet_struct(t, 12);
	parquet_i64(t, 3, (int64_t)c->nr_nulls);
	if (c->has_range && is_text(c) && !c->too_long) {
		parquet_binary(t, 5, c->last_text.data, c->last_text.used);
		parquet_binary(t, 6, c->first_text.data, c->first_text.used);
	} else if (c->has_range && !is_text(c)) {
		unsigned char most[8], least[8];

		for (size_t i = 0; i < 8; i++) {
			most[i] = (unsigned char)((uint64_t)c->most >> 8 * i);
			least[i] = (unsigned char)((uint64_t)c->least >> 8 * i);
		}
		parquet_binary(t, 5, most, 8);
		parquet_binary(t, 6, least, 8);
	}
	parquet_end(t);
}

/* RLE is that of levels; with a dictionary its own page is PLAIN. */
static void put_encodings(struct parquet_thrift *t, const struct parquet_chunk *c)
{
	bool has[3] = { c->used & (1u << PARQUET_PLAIN | 1u << PARQUET_DICTIONARY),
			c->used & 1u << PARQUET_DELTA, c->used & 1u << PARQUET_DICTIONARY };
	static const int encodings[3] = { ENCODING_PLAIN, ENCODING_DELTA, ENCODING_DICTIONARY };

	parquet_list(t, 2, PARQUET_I32S, 1u + has[0] + has[1] + has[2]);
	parquet_add_varint(t->to, varint_zigzag(ENCODING_RLE));
	for (size_t i = 0; i < 3; i++)
		if (has[i])
			parquet_add_varint(t->to, varint_zigzag(encodings[i]));
}

static void put_column(struct parquet_thrift *t, const struct parquet_chunk *c, uint64_t offset,
		       uint64_t dictionary, uint64_t size)
{
	static const int types[] = { [PARQUET_INT] = TYPE_INT64,
				     [PARQUET_REAL] = TYPE_DOUBLE,
				     [PARQUET_BOOL] = TYPE_BOOLEAN,
				     [PARQUET_TEXT] = TYPE_BYTE_ARRAY };
	size_t length = strlen(c->column->name);

	parquet_item(t);
	parquet_i64(t, 2, 0); /* file_offset: ColumnMetaData is in the footer alone */
	parquet_struct(t, 3);
	parquet_i32(t, 1, types[c->column->type]);
	put_encodings(t, c);
	parquet_list(t, 3, PARQUET_BINARIES, 1);
	parquet_add_varint(t->to, length);
	parquet_add(t->to, c->column->name, length);
	parquet_i32(t, 4, c->column->is_packed ? CODEC_GZIP : CODEC_NONE);
	parquet_i64(t, 5, (int64_t)c->nr_values);
	parquet_i64(t, 6, (int64_t)(size + c->saved));
	parquet_i64(t, 7, (int64_t)size);
	parquet_i64(t, 9, (int64_t)(offset + dictionary));
	if (dictionary)
		parquet_i64(t, 11, (int64_t)offset);
	put_statistics(t, c);
	parquet_end(t);
	parquet_end(t);
}

void parquet_chunk_end(struct parquet_chunk *c, struct parquet_bytes *out,
		       struct parquet_thrift *meta, uint64_t offset)
{
	struct parquet_bytes entries = { 0 };
	size_t dictionary;

	parquet_page_end(c);
	if (c->used & 1u << PARQUET_DICTIONARY) {
		put_entries(&entries, c);
		put_page(c, out, PAGE_DICTIONARY, &entries, c->nr_entries, ENCODING_PLAIN);
	}
	dictionary = out->used;
	parquet_add(out, c->pages.data, c->pages.used);
	put_column(meta, c, offset, dictionary, out->used);
}
