/* SPDX-License-Identifier: MIT */
/* json.h - writes JSON as a stream, with memory that does not grow
 *
 * The writer adds commas, colons and escapes; nesting up to JSON_DEPTH. After the first error of
 * the output later calls do nothing, and json_flush() returns that error. Strings may have any
 * bytes; invalid UTF-8 becomes U+FFFD. Not thread-safe; a struct json needs no cleanup.
 */
#ifndef RTL_EXPORT_JSON_H
#define RTL_EXPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_DEPTH 32
#define JSON_BUFFER 65536u

/* Takes size bytes; 0 or -errno. */
typedef int (*json_write_fn)(void *arg, const char *bytes, size_t size);

struct json {
	json_write_fn write;
	void *arg;
	int error;
	unsigned int depth;
	bool after_key;
	bool spaced;	       /* "key": value instead of "key":value */
	bool more[JSON_DEPTH]; /* the next value at this depth needs a comma */
	size_t used;
	char buf[JSON_BUFFER];
};

void json_init(struct json *j, json_write_fn write, void *arg);
/* Writes the rest of the buffer; does not close the output. 0 or the first error. */
int json_flush(struct json *j);

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
/* A key of an object. */
void json_key(struct json *j, const char *key);

/* The same for a literal without escapes: one copy, and never a space behind the colon. */
#define JSON_KEY(j, key) json_key_raw((j), "\"" key "\":", sizeof("\"" key "\":") - 1)
/* The same with a number behind it, as json_int() and json_us(); and with a literal without
 * escapes. */
#define JSON_INT(j, key, value)                                                                    \
	json_raw_member_int((j), "\"" key "\":", sizeof("\"" key "\":") - 1, (value))
#define JSON_US(j, key, ns)                                                                        \
	json_raw_member_us((j), "\"" key "\":", sizeof("\"" key "\":") - 1, (ns))
#define JSON_LITERAL(j, key, text)                                                                 \
	(json_key_raw((j), "\"" key "\":\"" text "\"", sizeof("\"" key "\":\"" text "\"") - 1),    \
	 (void)((j)->after_key = false))
void json_raw_member_int(struct json *j, const char *quoted, size_t size, int64_t value);
void json_raw_member_us(struct json *j, const char *quoted, size_t size, int64_t ns);

void json_text(struct json *j, const char *text); /* NULL becomes null */
void json_text_size(struct json *j, const char *text, size_t size);
void json_uint(struct json *j, uint64_t value);
void json_int(struct json *j, int64_t value);
void json_double(struct json *j, double value); /* not finite: null */
void json_bool(struct json *j, bool value);
void json_null(struct json *j);
/* A key and its value. */
void json_member_text(struct json *j, const char *key, const char *text);
void json_member_int(struct json *j, const char *key, int64_t value);
/* ns as a number of microseconds with three decimals: 1234567 -> 1234.567 */
void json_us(struct json *j, int64_t ns);

/* Makes space for size bytes (at most JSON_BUFFER), which then lie at j->buf + j->used until the
 * next output. */
void json_reserve(struct json *j, size_t size);
/* A value that is JSON already; and any bytes between values, for example a line break. */
void json_raw(struct json *j, const char *json, size_t size);
static inline void json_bytes(struct json *j, const char *bytes, size_t size);
/* The same where the buffer gets full. */
void json_bytes_over(struct json *j, const char *bytes, size_t size);

/* json_write_fns: to growing memory, which the caller releases with alloc_free(); to a FILE. */
struct json_memory {
	char *bytes;
	size_t size;
};
int json_write_memory(void *memory, const char *bytes, size_t size);
int json_write_file(void *file, const char *bytes, size_t size);
/* To a FILE of HTML, within an element: every '<', which in JSON is only in texts, is escaped. */
int json_write_page(void *file, const char *bytes, size_t size);

/* For other writers of text: a number in decimals, at most JSON_DIGITS bytes without an end; their
 * number. */
#define JSON_DIGITS 20
size_t json_digits(char *to, int64_t value);
/* The number of bytes in front of the first one that a string can't have as it is. */
size_t json_plain(const char *text, size_t size);

/* ---- inline: most sizes are constants, and one store writes them ---- */

static inline void json_bytes(struct json *j, const char *bytes, size_t size)
{
	if (size < sizeof(j->buf) && j->used < sizeof(j->buf) - size) {
		memcpy(j->buf + j->used, bytes, size);
		j->used += size;
	} else {
		json_bytes_over(j, bytes, size);
	}
}

static inline void json_key_raw(struct json *j, const char *quoted, size_t size)
{
	if (j->more[j->depth])
		json_bytes(j, ",", 1);
	j->more[j->depth] = true;
	json_bytes(j, quoted, size);
	j->after_key = true;
}

#endif
