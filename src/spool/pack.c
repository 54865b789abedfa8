/* SPDX-License-Identifier: MIT */
/* pack.c - records as differences from what is expected of them
 *
 * Owns:     nothing.
 * Threads:  any; all state is on the caller's stack.
 * Hot path: not the program's threads; some 20 ns of the drainer for each record.
 * Format:   format.h, PACKED CHUNKS, and docs/formats/spool.md; a change needs a new SPOOL_VERSION.
 * Against:  docs/decisions/060-chunks-are-packed-when-written.md.
 *
 * Each record has a model, an earlier record of the same type and size. It is the model with the
 * parts in which it differs from what the model lets expect. The writer chooses the model: the last
 * record with the same hash of type, size, thread and function.
 */
#include "spool/pack.h"

#include <string.h>

#include "base/compiler.h"
#include "base/crc.h"
#include "records_pack_gen.h"

#define MODELS 128u
#define NEW_MODEL 0x80u
#define GROUP 28u     /* parts with a mask in front of them */
#define NUMBER_MAX 9u /* bytes of a number */
/* the longest record, packed: its parts, their masks, model, type and size; zeroes behind it */
#define RECORD_MAX                                                                                 \
	((REC_MAX_SIZE / 8 + 2) * NUMBER_MAX + (REC_MAX_SIZE / 8 / GROUP + 1) * 4 + 3 + 8)
_Static_assert(RECORD_MAX <= PACK_SLACK, "records are packed before their size is known");

/* What both sides know. Offsets of models are those of the records + 1; 0: there is none. */
struct models {
	uint32_t at[MODELS];
	uint64_t last_ns, last_correlation;
};

/* The parts of one record. */
struct parts {
	const struct unit *units;
	uint32_t nr_moving, nr_units, nr; /* units, then words, which begin at `words` */
	uint32_t words;
};

static const uint64_t zeroes[REC_MAX_SIZE / 8]; /* the model of a first record */

static void parts_of(struct parts *p, uint8_t type, uint32_t size)
{
	const struct layout *l = type < REC_NR_TYPES ? &layouts[type] : &layouts[0];

	if (!l->bytes || size < l->bytes) {
		*p = (struct parts){ units, 0, 2, 2 + (size - 8) / 8, 8 };
		return;
	}
	*p = (struct parts){ units + l->first, l->nr_moving, l->nr, l->nr + (size - l->bytes) / 8,
			     l->bytes };
}

static inline struct unit part(const struct parts *p, uint32_t i)
{
	if (i < p->nr_units)
		return p->units[i];
	return (struct unit){ (uint16_t)(p->words + (i - p->nr_units) * 8), 8, UNIT_SAME };
}

static inline uint64_t get(const uint8_t *rec, struct unit u)
{
	uint64_t value = 0;
	uint32_t word;
	uint16_t half;

	switch (u.size) {
	case 8:
		memcpy(&value, rec + u.offset, 8);
		return value;
	case 4:
		memcpy(&word, rec + u.offset, 4);
		return word;
	default:
		memcpy(&half, rec + u.offset, 2);
		return half;
	}
}

static inline void put(uint8_t *rec, struct unit u, uint64_t value)
{
	uint32_t word = (uint32_t)value;
	uint16_t half = (uint16_t)value;

	switch (u.size) {
	case 8:
		memcpy(rec + u.offset, &value, 8);
		return;
	case 4:
		memcpy(rec + u.offset, &word, 4);
		return;
	default:
		memcpy(rec + u.offset, &half, 2);
		return;
	}
}

/* The difference of two values of `size` bytes: small ones of both signs become small numbers. */
static inline uint64_t fold(uint64_t difference, uint32_t size)
{
	uint32_t unused = 64 - size * 8;
	int64_t d = (int64_t)(difference << unused) >> unused;

	return (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
}

static inline uint64_t unfold(uint64_t number)
{
	return number >> 1 ^ (0 - (number & 1));
}

/* The time between the model's begin and the record's. */
struct shift {
	uint64_t ns;
};

/* What is expected in a part that changes. */
static inline uint64_t expect(const struct models *m, struct unit u, uint64_t model,
			      const struct shift *shift)
{
	switch ((enum unit_mode)u.mode) {
	case UNIT_NEXT:
		return model + 1;
	case UNIT_BEGIN:
		return m->last_ns;
	case UNIT_END:
		return model + shift->ns;
	case UNIT_CORRELATION:
		return m->last_correlation + 1;
	case UNIT_SAME:
		break;
	}
	return model;
}

/* Learns from a part that changes. */
static inline void learn(struct models *m, struct unit u, uint64_t model, uint64_t value,
			 struct shift *shift)
{
	if (u.mode == UNIT_BEGIN)
		shift->ns = value - model;
	if (u.mode == UNIT_BEGIN || u.mode == UNIT_END)
		m->last_ns = value;
	if (u.mode == UNIT_CORRELATION && value)
		m->last_correlation = value;
}

/* A number of n bytes has n - 1 zero bits, a one, and its own bits from there on; nine bytes have a
 * zero byte in front of them. Writes nine bytes. */
static inline uint8_t *put_number(uint8_t *to, uint64_t number)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(number | 1), n = (bits + 6) / 7;
	uint64_t out;

	if (RTL_UNLIKELY(n > 8)) {
		*to = 0;
		memcpy(to + 1, &number, 8);
		return to + NUMBER_MAX;
	}
	out = (number << 1 | 1) << (n - 1);
	memcpy(to, &out, 8);
	return to + n;
}

/* The packed bytes that are left. */
struct input {
	const uint8_t *at, *end;
	bool is_bad;
};

static inline uint64_t take_number(struct input *in)
{
	uint8_t tail[NUMBER_MAX + 1] = { 0 };
	const uint8_t *from = in->at;
	size_t left = (size_t)(in->end - in->at);
	uint64_t bits;
	uint32_t n;

	if (RTL_UNLIKELY(left < NUMBER_MAX)) {
		memcpy(tail, in->at, left);
		from = tail;
	}
	n = (uint32_t)__builtin_ctz(*from | 0x100u) + 1;
	if (RTL_UNLIKELY(n > left)) {
		in->is_bad = true;
		return 0;
	}
	in->at += n;
	memcpy(&bits, n == NUMBER_MAX ? from + 1 : from, 8);
	return n == NUMBER_MAX ? bits : bits << (64 - 8 * n) >> (64 - 7 * n);
}

static inline uint8_t take_byte(struct input *in)
{
	if (RTL_UNLIKELY(in->at == in->end)) {
		in->is_bad = true;
		return 0;
	}
	return *in->at++;
}

/* The writer's choice of a model. Readers need not know it. */
static uint32_t choose(const uint8_t *rec, uint32_t size)
{
	const struct rec_head *h = (const struct rec_head *)(const void *)rec;
	uint32_t function = 0, hash;

	if (h->type == REC_API && size >= sizeof(struct rec_api))
		memcpy(&function, rec + offsetof(struct rec_api, op), sizeof(function));
	hash = h->id * 0x9e3779b1u ^ function * 0x85ebca6bu ^
	       (uint32_t)(h->type << 8 | h->size8) * 0xc2b2ae35u;
	return (hash ^ hash >> 15) * 0x2c1b3c6du / (UINT32_C(1) << 25) % MODELS;
}

/* Packs the parts of a record, of which `model` is one of the same size. */
static uint8_t *pack_parts(struct models *m, uint8_t *to, const uint8_t *rec, const uint8_t *model,
			   uint32_t size)
{
	struct shift shift = { 0 };
	struct parts p;
	uint32_t i = 0;

	parts_of(&p, rec[0], size);
	while (i < p.nr) {
		uint8_t numbers[GROUP * NUMBER_MAX + 8], *end = numbers;
		uint32_t mask = 0, bit = 1;

		for (uint32_t last = p.nr - i > GROUP ? i + GROUP : p.nr; i < last;
		     i++, bit <<= 1) {
			struct unit u = part(&p, i);
			uint64_t value = get(rec, u), was = get(model, u), d;

			if (i < p.nr_moving) {
				d = fold(value - expect(m, u, was, &shift), u.size);
				learn(m, u, was, value, &shift);
			} else {
				d = fold(value - was, u.size);
			}
			if (d) {
				mask |= bit;
				end = put_number(end, d);
			}
		}
		to = put_number(to, mask);
		memcpy(to, numbers, (size_t)(end - numbers));
		to += end - numbers;
	}
	return to;
}

/* Packs `size` bytes of records. Bytes at `to`, 0: they are not fewer, or the records are
 * damaged. */
static uint32_t pack_records(uint8_t *to, const uint8_t *from, uint32_t size)
{
	struct models m = { 0 };
	uint8_t *out = to;

	for (uint32_t at = 0; at < size;) {
		const uint8_t *rec = from + at, *model = (const uint8_t *)zeroes;
		uint32_t bytes = rec[1] * 8u, slot;

		if (!bytes || bytes > size - at)
			return 0;
		slot = choose(rec, bytes);
		if (m.at[slot] && from[m.at[slot] - 1] == rec[0] && from[m.at[slot]] == rec[1]) {
			model = from + m.at[slot] - 1;
			*out++ = (uint8_t)slot;
		} else {
			*out++ = (uint8_t)(slot | NEW_MODEL);
			*out++ = rec[0];
			*out++ = rec[1];
		}
		m.at[slot] = at + 1;
		out = pack_parts(&m, out, rec, model, bytes);
		at += bytes;
		if ((uint32_t)(out - to) >= size)
			return 0;
	}
	while ((out - to) % 8)
		*out++ = 0;
	return (uint32_t)(out - to) < size ? (uint32_t)(out - to) : 0;
}

const uint8_t *pack_chunk(struct chunk_header *chunk, uint8_t *to, bool packs, uint32_t *size)
{
	const uint8_t *records = (const uint8_t *)(chunk + 1);
	uint8_t *bytes = (uint8_t *)chunk;
	/* relaxed: the caller's own copy */
	uint32_t committed = atomic_load_explicit(&chunk->committed, memory_order_relaxed);

	chunk->crc = 0;
	chunk->stored = 0;
	*size = (uint32_t)sizeof(*chunk) + committed;
	if (packs)
		chunk->stored = pack_records(to + sizeof(*chunk), records, committed);
	if (chunk->stored) {
		*size = (uint32_t)sizeof(*chunk) + chunk->stored;
		memcpy(to, chunk, sizeof(*chunk));
		bytes = to;
	}
	((struct chunk_header *)(void *)bytes)->crc = crc_add(0, bytes, *size);
	return bytes;
}

/* Makes a record of its model, which is at `rec` already, and its packed parts. */
static void unpack_parts(struct models *m, struct input *in, uint8_t *rec, uint32_t size)
{
	struct shift shift = { 0 };
	struct parts p;

	parts_of(&p, rec[0], size);
	for (uint32_t first = 0; first < p.nr; first += GROUP) {
		uint64_t mask = take_number(in);
		uint32_t nr = p.nr - first > GROUP ? GROUP : p.nr - first;

		if (mask >> nr)
			in->is_bad = true;
		for (uint32_t i = first; i < p.nr_moving; i++) {
			struct unit u = part(&p, i);
			uint64_t was = get(rec, u), value = expect(m, u, was, &shift);

			if (mask & 1u << i)
				value += unfold(take_number(in));
			put(rec, u, value);
			learn(m, u, was, get(rec, u), &shift);
			mask &= ~(UINT64_C(1) << i);
		}
		for (; mask && !in->is_bad; mask &= mask - 1) {
			struct unit u = part(&p, first + (uint32_t)__builtin_ctzll(mask));

			put(rec, u, get(rec, u) + unfold(take_number(in)));
		}
	}
}

bool pack_restore(uint8_t *out, uint32_t size, const uint8_t *packed, uint32_t stored)
{
	struct input in = { .at = packed, .end = packed + stored };
	struct models m = { 0 };

	for (uint32_t at = 0; at < size && !in.is_bad;) {
		const uint8_t *model = (const uint8_t *)zeroes;
		uint32_t slot = take_byte(&in), bytes;
		uint8_t *rec = out + at, type, size8;

		if (slot & NEW_MODEL) {
			slot &= ~NEW_MODEL;
			type = take_byte(&in);
			size8 = take_byte(&in);
		} else if (m.at[slot]) {
			model = out + m.at[slot] - 1;
			type = model[0];
			size8 = model[1];
		} else {
			return false;
		}
		bytes = size8 * 8u;
		if (!bytes || bytes > size - at)
			return false;
		memcpy(rec, model, bytes);
		rec[0] = type;
		rec[1] = size8;
		m.at[slot] = at + 1;
		unpack_parts(&m, &in, rec, bytes);
		at += bytes;
	}
	/* behind them are zeroes up to a multiple of 8 */
	return !in.is_bad && in.end - in.at < 8;
}
