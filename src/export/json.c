/* SPDX-License-Identifier: MIT */
/* json.c - writes JSON as a stream
 *
 * Hot path: numbers and escapes go straight into the buffer, without stdio.
 */
#include "export/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

void json_init(struct json *j, json_write_fn write, void *arg)
{
	memset(j, 0, offsetof(struct json, buf));
	j->write = write;
	j->arg = arg;
}

int json_flush(struct json *j)
{
	if (!j->error && j->used)
		j->error = j->write(j->arg, j->buf, j->used);
	j->used = 0;
	return j->error;
}

void json_reserve(struct json *j, size_t size)
{
	if (sizeof(j->buf) - j->used < size)
		json_flush(j);
}

void json_bytes_over(struct json *j, const char *bytes, size_t size)
{
	while (size) {
		size_t n = sizeof(j->buf) - j->used;

		if (n > size)
			n = size;
		memcpy(j->buf + j->used, bytes, n);
		j->used += n;
		bytes += n;
		size -= n;
		if (j->used == sizeof(j->buf))
			json_flush(j);
	}
}

static inline void put_char(struct json *j, char c)
{
	if (j->used == sizeof(j->buf))
		json_flush(j);
	j->buf[j->used++] = c;
}

/* Writes the comma or line break before a value. */
static inline void begin_value(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->more[j->depth])
		put_char(j, ',');
	j->more[j->depth] = true;
}

static void open_level(struct json *j, char c)
{
	begin_value(j);
	put_char(j, c);
	if (j->depth + 1 >= JSON_DEPTH) {
		if (!j->error)
			j->error = -EOVERFLOW;
		return;
	}
	j->more[++j->depth] = false;
}

static void close_level(struct json *j, char c)
{
	if (j->depth)
		j->depth--;
	put_char(j, c);
}

void json_object(struct json *j)
{
	open_level(j, '{');
}

void json_object_end(struct json *j)
{
	close_level(j, '}');
}

void json_array(struct json *j)
{
	open_level(j, '[');
}

void json_array_end(struct json *j)
{
	close_level(j, ']');
}

static void put_escape(struct json *j, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char seq[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	switch (c) {
	case '"':
	case '\\':
		seq[1] = (char)c;
		break;
	case '\n':
		seq[1] = 'n';
		break;
	case '\t':
		seq[1] = 't';
		break;
	case '\r':
		seq[1] = 'r';
		break;
	default:
		json_bytes(j, seq, 6);
		return;
	}
	json_bytes(j, seq, 2);
}

/* Characters that a terminal or a viewer would act on, beyond ASCII. */
static void put_code(struct json *j, uint32_t code)
{
	char seq[16];
	int n = code < 0x10000 ? snprintf(seq, sizeof(seq), "\\u%04x", code) :
				 snprintf(seq, sizeof(seq), "\\u%04x\\u%04x",
					  0xd800 + ((code - 0x10000) >> 10),
					  0xdc00 + ((code - 0x10000) & 0x3ff));

	json_bytes(j, seq, (size_t)n);
}

size_t json_plain(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;

	/* a byte is special if it is below 0x20, one of the two, or above 0x7e: eight at a time */
	for (; i + 8 <= size; i += 8) {
		const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
		uint64_t v, quote, backslash;

		memcpy(&v, s + i, 8);
		quote = v ^ ones * '"';
		backslash = v ^ ones * '\\';
		/* with bytes below 0x80, the sums don't carry into the next byte */
		if (((v | (v + ones)) & high) ||
		    (~((v + ones * 0x60) & (quote + ones * 0x7f) & (backslash + ones * 0x7f)) &
		     high))
			break;
	}
	while (i < size && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

static void put_string(struct json *j, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;

	put_char(j, '"');
	while (i < size) {
		size_t start = i, n;

		i += json_plain(text + i, size - i);
		if (i > start)
			json_bytes(j, text + start, i - start);
		if (i == size)
			break;
		if (s[i] < 0x80) {
			put_escape(j, s[i++]);
			continue;
		}
		if (text_is_safe(text + i, size - i, &n))
			json_bytes(j, text + i, n);
		else if (n > 1)
			put_code(j, text_code(s + i, n));
		else
			json_bytes(j, "\xef\xbf\xbd", 3);
		i += n;
	}
	put_char(j, '"');
}

void json_key(struct json *j, const char *key)
{
	if (j->more[j->depth])
		put_char(j, ',');
	j->more[j->depth] = true;
	put_string(j, key, strlen(key));
	put_char(j, ':');
	if (j->spaced)
		put_char(j, ' ');
	j->after_key = true;
}

void json_text_size(struct json *j, const char *text, size_t size)
{
	begin_value(j);
	put_string(j, text, size);
}

void json_text(struct json *j, const char *text)
{
	if (text)
		json_text_size(j, text, strlen(text));
	else
		json_null(j);
}

/* Reserves size bytes, less than the buffer. */
static inline char *reserve(struct json *j, size_t size)
{
	json_reserve(j, size);
	return j->buf + j->used;
}

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233"
	"34353637383940414243444546474849505152535455565758596061626364656667"
	"6869707172737475767778798081828384858687888990919293949596979899";

/* The number of digits of a value that is not 0. */
static inline size_t count_digits(uint64_t value)
{
	static const uint64_t tens[] = {
		0,
		UINT64_C(10),
		UINT64_C(100),
		UINT64_C(1000),
		UINT64_C(10000),
		UINT64_C(100000),
		UINT64_C(1000000),
		UINT64_C(10000000),
		UINT64_C(100000000),
		UINT64_C(1000000000),
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	/* 1233 / 4096: the logarithm of 2 to base 10 */
	unsigned int n = (unsigned int)(64 - __builtin_clzll(value)) * 1233 >> 12;

	return n + (value >= tens[n] ? 1 : 0);
}

/* Right to left, without a copy: the number of digits is known before. */
static inline size_t put_digits(char *to, uint64_t value)
{
	size_t nr = count_digits(value | 1);
	char *at = to + nr;
	uint32_t low;

	while (value > UINT32_MAX) {
		uint64_t rest = value / 10000;

		low = (uint32_t)(value - rest * 10000);
		memcpy(at -= 2, digit_pairs + 2 * (size_t)(low % 100), 2);
		memcpy(at -= 2, digit_pairs + 2 * (size_t)(low / 100), 2);
		value = rest;
	}
	for (low = (uint32_t)value; low >= 100; low /= 100)
		memcpy(at -= 2, digit_pairs + 2 * (size_t)(low % 100), 2);
	if (low >= 10)
		memcpy(at - 2, digit_pairs + 2 * (size_t)low, 2);
	else
		at[-1] = (char)('0' + low);
	return nr;
}

size_t json_digits(char *to, int64_t value)
{
	if (value >= 0)
		return put_digits(to, (uint64_t)value);
	*to = '-';
	return 1 + put_digits(to + 1, 0 - (uint64_t)value);
}

void json_uint(struct json *j, uint64_t value)
{
	begin_value(j);
	j->used += put_digits(reserve(j, JSON_DIGITS), value);
}

void json_int(struct json *j, int64_t value)
{
	begin_value(j);
	j->used += json_digits(reserve(j, JSON_DIGITS + 1), value);
}

void json_member_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

void json_member_int(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	json_int(j, value);
}

/* Microseconds with three decimals. */
static inline size_t put_us(char *to, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	unsigned int rest = (unsigned int)(n % 1000);
	char *at = to;

	if (ns < 0)
		*at++ = '-';
	at += put_digits(at, n / 1000);
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	memcpy(at, digit_pairs + 2 * (size_t)(rest % 100), 2);
	return (size_t)(at + 2 - to);
}

void json_us(struct json *j, int64_t ns)
{
	begin_value(j);
	j->used += put_us(reserve(j, JSON_DIGITS + 5), ns);
}

/* Space for a key, which follows another member or not, and a number. */
static inline char *begin_member(struct json *j, const char *quoted, size_t size)
{
	char *at = reserve(j, size + JSON_DIGITS + 6);

	if (j->more[j->depth])
		*at++ = ',';
	j->more[j->depth] = true;
	memcpy(at, quoted, size);
	return at + size;
}

void json_raw_member_int(struct json *j, const char *quoted, size_t size, int64_t value)
{
	char *at = begin_member(j, quoted, size);

	at += json_digits(at, value);
	j->used = (size_t)(at - j->buf);
}

void json_raw_member_us(struct json *j, const char *quoted, size_t size, int64_t ns)
{
	char *at = begin_member(j, quoted, size);

	at += put_us(at, ns);
	j->used = (size_t)(at - j->buf);
}

void json_double(struct json *j, double value)
{
	char text[32];
	int n;

	if (!isfinite(value)) {
		json_null(j);
		return;
	}
	n = snprintf(text, sizeof(text), "%.17g", value);
	for (int precision = 6; precision < 17;
	     precision++) { /* the shortest form that reads back as the same value */
		char shorter[32];
		int len = snprintf(shorter, sizeof(shorter), "%.*g", precision, value);

		if (strtod(shorter, NULL) == value) {
			memcpy(text, shorter, (size_t)len + 1);
			n = len;
			break;
		}
	}
	begin_value(j);
	json_bytes(j, text, (size_t)n);
}

void json_bool(struct json *j, bool value)
{
	begin_value(j);
	json_bytes(j, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *j)
{
	begin_value(j);
	json_bytes(j, "null", 4);
}

void json_raw(struct json *j, const char *json, size_t size)
{
	begin_value(j);
	json_bytes(j, json, size);
}

int json_write_memory(void *arg, const char *bytes, size_t size)
{
	struct json_memory *m = arg;
	char *grown = alloc_resize(m->bytes, m->size + size, 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + m->size, bytes, size);
	m->bytes = grown;
	m->size += size;
	return 0;
}

int json_write_page(void *file, const char *bytes, size_t size)
{
	const char *end = bytes + size;
	int ret = 0;

	while (bytes < end && ret == 0) {
		const char *mark = memchr(bytes, '<', (size_t)(end - bytes));

		ret = json_write_file(file, bytes, (size_t)((mark ? mark : end) - bytes));
		if (mark && ret == 0)
			ret = json_write_file(file, "\\u003c", 6);
		bytes = mark ? mark + 1 : end;
	}
	return ret;
}

int json_write_file(void *file, const char *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, file) != size)
		return errno ? -errno : -EIO;
	return 0;
}
