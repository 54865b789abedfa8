/* SPDX-License-Identifier: MIT */
/* args.c - parses signatures, finds arguments by role, writes them as text
 *
 * Signatures and words come from a file: nothing is read beyond the words that a call has.
 */
#include "store/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "names_enums_gen.h"

struct text {
	char *buf;
	size_t size, used; /* size includes the NUL */
	bool cut;
};

static void add_bytes(struct text *t, const char *bytes, size_t n)
{
	size_t left = t->size - 1 - t->used;

	if (n > left) {
		n = left;
		t->cut = true;
	}
	memcpy(t->buf + t->used, bytes, n);
	t->used += n;
}

__attribute__((format(printf, 2, 3))) static void add_format(struct text *t, const char *fmt, ...)
{
	char buf[64];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	add_bytes(t, buf, n < (int)sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

/* Splits "name:type:role" by writing NULs; false if it can't be parsed. *words, its number of
 * words, is set in both cases. */
static bool parse_arg(char *item, struct store_arg *arg, uint32_t *words)
{
	char *type = strchr(item, ':');
	char *role = type ? strchr(type + 1, ':') : NULL;

	*words = 1;
	if (!type)
		return false;
	*type++ = '\0';
	if (role)
		*role++ = '\0';
	*words = type[0] == 'd' ? 2 : type[0] == 'r' ? 0 : 1;
	arg->name = item;
	arg->type = type[0];
	arg->enum_name = "";
	arg->role = role ? role : "";
	if (type[0] == 'e') {
		arg->enum_name = type[1] == '=' ? type + 2 : "";
		return true;
	}
	return type[0] && !type[1] && strchr("phiuxbfgszdr", type[0]);
}

int args_parse(struct store_op *op)
{
	size_t size = strlen(op->signature) + 1;
	uint32_t nr = 0, word = 0;
	struct store_arg *args;
	char *text, *next;

	op->args = NULL;
	op->nr_args = 0;
	op->nr_words = 0;
	if (size == 1)
		return 0;
	for (const char *p = op->signature; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		nr++;
	/* a record holds fewer words: no call can match such a signature */
	if (nr > REC_API_MAX_WORDS) {
		op->nr_words = REC_API_MAX_WORDS + 1;
		return 0;
	}
	args = alloc_heap(nr * sizeof(*args) + size);
	if (!args)
		return -ENOMEM;
	text = memcpy((char *)(args + nr), op->signature, size);
	for (; text; text = next) {
		uint32_t words;

		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		memset(&args[op->nr_args], 0, sizeof(*args));
		args[op->nr_args].word = word;
		op->nr_args += parse_arg(text, &args[op->nr_args], &words);
		word += words;
	}
	op->args = args;
	op->nr_words = word;
	return 0;
}

const struct store_arg *args_find(const struct store_api *api, const char *role)
{
	const struct store_op *op = api->op;

	if (api->nr_words < op->nr_words)
		return NULL;
	for (uint32_t i = 0; i < op->nr_args; i++) {
		if (strcmp(op->args[i].role, role) == 0)
			return &op->args[i];
	}
	return NULL;
}

uint64_t args_value(const struct store_api *api, const char *role, uint64_t fallback)
{
	const struct store_arg *arg = args_find(api, role);

	return arg ? api->words[arg->word] : fallback;
}

static int compare_enum(const void *key, const void *item)
{
	return strcmp(key, ((const struct names_enum *)item)->name);
}

const char *args_enum(const char *enum_name, uint64_t value)
{
	const struct names_enum *e = bsearch(enum_name, names_enums, names_enums_nr,
					     sizeof(names_enums[0]), compare_enum);

	for (uint32_t i = 0; e && i < e->nr; i++) {
		if (e->values[i].value == (int64_t)value)
			return e->values[i].name;
	}
	return NULL;
}

/* Bytes of the multi-byte UTF-8 character at p; 0 if there isn't a valid one. */
static size_t utf8_size(const unsigned char *p)
{
	size_t size = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong, surrogates, beyond U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return size;
}

static void add_string(struct text *t, const char *string)
{
	const unsigned char *p = (const unsigned char *)string;

	add_bytes(t, "\"", 1);
	while (*p && !t->cut) {
		size_t size = utf8_size(p);

		if (size) {
			/* whole or not at all */
			if (size > t->size - 1 - t->used)
				t->cut = true;
			else
				add_bytes(t, (const char *)p, size);
			p += size;
			continue;
		}
		if (*p == '"' || *p == '\\')
			add_format(t, "\\%c", *p);
		else if (*p == '\n')
			add_bytes(t, "\\n", 2);
		else if (*p < 0x20 || *p >= 0x7f)
			add_format(t, "\\x%02x", *p);
		else
			add_bytes(t, (const char *)p, 1);
		p++;
	}
	add_bytes(t, "\"", 1);
}

/* Requests of MPI: as spool/format.h says, with a space between them. */
static void add_requests(struct text *t, const uint64_t *words, uint32_t nr_words)
{
	for (uint32_t i = 0; i + 1 < nr_words; i += 2) {
		int32_t source = (int32_t)(uint32_t)words[i + 1];

		add_bytes(t, " ", i ? 1 : 0);
		if (!words[i]) {
			add_format(t, "+%" PRIu64, words[i + 1]);
			continue;
		}
		add_format(t, "0x%" PRIx64, words[i]);
		if (source == SPOOL_SOURCE_CANCELLED)
			add_bytes(t, ":cancelled", 10);
		else if (source != SPOOL_SOURCE_UNKNOWN)
			add_format(t, ":%" PRId32 ":%" PRId32, source,
				   (int32_t)(words[i + 1] >> 32));
	}
}

static void add_value(struct text *t, const struct index *index, const struct store_arg *arg,
		      const uint64_t *words)
{
	uint64_t word = words[0];
	uint32_t bits = (uint32_t)word;
	const char *name;
	double d;
	float f;

	switch (arg->type) {
	case 'i':
		add_format(t, "%" PRId64, (int64_t)word);
		break;
	case 'u':
	case 'z':
		add_format(t, "%" PRIu64, word);
		break;
	case 'b':
		add_format(t, "%s", word ? "true" : "false");
		break;
	case 'f':
		memcpy(&f, &bits, sizeof(f));
		add_format(t, "%.9g", (double)f);
		break;
	case 'g':
		memcpy(&d, &word, sizeof(d));
		add_format(t, "%.17g", d);
		break;
	case 's':
		if (word)
			add_string(t, index_string(index, word));
		else
			add_bytes(t, "NULL", 4);
		break;
	case 'e':
		name = args_enum(arg->enum_name, word);
		if (name)
			add_bytes(t, name, strlen(name));
		else
			add_format(t, "%" PRId64, (int64_t)word);
		break;
	case 'd':
		add_format(t, "{%" PRIu32 ",%" PRIu32 ",%" PRIu32 "}", bits, (uint32_t)(word >> 32),
			   (uint32_t)words[1]);
		break;
	default:
		add_format(t, "0x%" PRIx64, word);
		break;
	}
}

/* Ends a cut text in "...", behind a whole character. */
static void end_cut(struct text *t)
{
	size_t at = t->size - 1 > 3 ? t->size - 4 : 0;

	if (t->used < at)
		at = t->used;
	while (at && ((unsigned char)t->buf[at] & 0xc0) == 0x80)
		at--;
	t->used = at;
	add_bytes(t, "...", 3);
}

size_t args_text(const struct index *index, const struct store_api *api, char *buf, size_t size)
{
	const struct store_op *op = api->op;
	struct text t = { .buf = buf, .size = size };

	if (!size)
		return 0;
	memset(buf, 0, size < 4 ? size : 4);
	for (uint32_t i = 0; i < op->nr_args && api->nr_words >= op->nr_words; i++) {
		const struct store_arg *arg = &op->args[i];

		if (strcmp(arg->role, "agents") == 0)
			continue; /* rtl's own */
		if (i)
			add_bytes(&t, ", ", 2);
		add_bytes(&t, arg->name, strlen(arg->name));
		add_bytes(&t, "=", 1);
		if (arg->type == 'r')
			add_requests(&t, api->words + arg->word, api->nr_words - arg->word);
		else
			add_value(&t, index, arg, api->words + arg->word);
	}
	if (t.cut)
		end_cut(&t);
	buf[t.used] = '\0';
	return t.used;
}
