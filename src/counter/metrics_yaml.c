/* SPDX-License-Identifier: MIT */
/* metrics_yaml.c - counters and metrics as rocprofiler-sdk has them
 *
 * YAML becomes JSON (yaml_text.h), which is walked through twice: the instances of a counter that
 * a text defines have to be known where a reduce() names it.
 */
#define LOG_TOPIC "counter"
#include "counter/metrics_yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "counter/metrics_file_internal.h"
#include "counter/reduce.h"
#include "counter/yaml_text.h"

#define FILE_MAX (1u << 20)

/* ---- files ----------------------------------------------------------------------------------- */

/* A file without such a name: of a descriptor, as librocprofiler-sdk-tool.so passes it. */
static bool begins_so(const char *path)
{
	static const char key[] = "rocprofiler-sdk:";
	char text[4096], *p = text;
	FILE *file = fopen(path, "re");
	struct stat s;
	/* what is read of a pipe is lost */
	size_t n = file && fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode) ?
			   fread(text, 1, sizeof(text) - 1, file) :
			   0;

	if (file)
		fclose(file);
	text[n] = '\0';
	while (p += strspn(p, " \t\r\n"), *p == '#')
		p += strcspn(p, "\n");
	return strncmp(p, key, sizeof(key) - 1) == 0;
}

bool metrics_yaml_is(const char *path)
{
	const char *dot = strrchr(path, '.');

	return (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) || begins_so(path);
}

/* Newer releases of AMD's look for the former name, older ones for the latter. */
bool metrics_yaml_find(const char *folders, char path[METRICS_YAML_PATH_SIZE])
{
	static const char *const names[] = { "config.yaml", "counter_defs.yaml" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (const char *at = folders; *at; at += strspn(at, ":")) {
			size_t n = strcspn(at, ":");
			int size = snprintf(path, METRICS_YAML_PATH_SIZE, "%.*s/%s", (int)n, at,
					    names[i]);

			if (n && size > 0 && (size_t)size < METRICS_YAML_PATH_SIZE &&
			    access(path, R_OK) == 0)
				return true;
			at += n;
		}
	return false;
}

char *metrics_yaml_read(const char *path, char *error)
{
	FILE *file = fopen(path, "re");
	char *text = alloc_heap(FILE_MAX + 1);
	size_t n = file && text ? fread(text, 1, FILE_MAX + 1, file) : 0;
	bool good = false;

	if (!file || !text || ferror(file)) {
		snprintf(error, METRICS_FILE_ERROR_SIZE, "%.200s: can't be read: %s", path,
			 strerror(errno));
	} else if (n > FILE_MAX || memchr(text, 0, n)) {
		snprintf(error, METRICS_FILE_ERROR_SIZE, "%.200s: is no text of at most %u bytes",
			 path, FILE_MAX);
	} else {
		text[n] = 0;
		good = true;
	}
	if (file)
		fclose(file);
	if (good)
		return text;
	alloc_free(text);
	return NULL;
}

/* ---- JSON without blanks, as yaml_text_to_json() writes it ----------------------------------- */

static const char *skip_text(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
}

static const char *skip_value(const char *at)
{
	unsigned int depth = 0;

	do {
		if (*at == '"')
			at = skip_text(at);
		else if (strchr("[{", *at))
			depth++, at++;
		else if (strchr("]}", *at))
			depth--, at++;
		else if (strchr(",:", *at))
			at++;
		else
			at += strcspn(at, ",:]}");
	} while (depth);
	return at;
}

/* The first item of the list, or the first key of the mapping (`open`), at `at`. NULL: it is empty,
 * or something else. */
static const char *first(const char *at, char open)
{
	return at && *at == open && !strchr("]}", at[1]) ? at + 1 : NULL;
}

static const char *next(const char *at)
{
	at = skip_value(at);
	return *at == ',' ? at + 1 : NULL;
}

/* The value of a key of the mapping; NULL: it has none. */
static const char *member(const char *mapping, const char *key)
{
	size_t size = strlen(key);

	for (const char *at = first(mapping, '{'); at;) {
		const char *value = skip_text(at) + 1;

		if (strncmp(at + 1, key, size) == 0 && at[1 + size] == '"')
			return value;
		at = next(value);
	}
	return NULL;
}

/* The text at `at`; "" where there is none. Allocated. */
static char *text_at(const char *at)
{
	size_t n = 0;
	char *text = alloc_heap(at && *at == '"' ? (size_t)(skip_text(at) - at) : 1);

	if (!text)
		return NULL;
	for (at = at && *at == '"' ? at + 1 : NULL; at && *at != '"'; at++) {
		unsigned int code;

		if (*at != '\\') {
			text[n++] = *at;
		} else if (*++at == 'u' && sscanf(at + 1, "%4x", &code) == 1) {
			text[n++] = code ? (char)code : ' '; /* below 0x20 */
			at += 4;
		} else {
			text[n++] = *at;
		}
	}
	text[n] = '\0';
	return text;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* A definition of a counter for an architecture. "" where something is missing. */
enum part { NAME, DESCRIPTION, GPU, BLOCK, EVENT, EXPRESSION, NR_PARTS };

struct reading {
	const struct metrics_text *from;
	const char *agent;	       /* of which alone definitions are read; NULL: of all */
	enum metrics_file_use use;     /* of `counters` */
	struct metrics_file *counters; /* without expressions; NULL in the first round */
	struct metrics_file *to;
	unsigned int number; /* of the counter in its list, from 1 on */
	char *error;
};

/* False, always. */
static bool fail(const struct reading *r, const char *what)
{
	snprintf(r->error, METRICS_FILE_ERROR_SIZE, "%.200s: %.300s", r->from->name, what);
	return false;
}

static bool __attribute__((format(printf, 3, 4)))
fail_counter(const struct reading *r, char *const *parts, const char *what, ...)
{
	char why[METRICS_FILE_ERROR_SIZE / 2], whole[METRICS_FILE_ERROR_SIZE];
	va_list args;

	va_start(args, what);
	vsnprintf(why, sizeof(why), what, args);
	va_end(args);
	if (*parts[NAME])
		snprintf(whole, sizeof(whole), "counter %.100s: %s", parts[NAME], why);
	else
		snprintf(whole, sizeof(whole), "counter %u of the list: %s", r->number, why);
	return fail(r, whole);
}

/* A scope's name is that of an element of XML, too. */
static bool is_word(const char *text)
{
	return *text &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       strlen(text);
}

/* The expression as expression.h has it, to be freed. NULL: it is not understood. */
static char *translate(const struct reading *r, char *const *parts)
{
	const struct counter_gpu *known =
		metrics_file_gpu(r->counters, r->agent ? r->agent : parts[GPU], r->use, r->error);
	char *text = known ? reduce_translate(known, parts[EXPRESSION]) : NULL;

	if (known && !text)
		fail_counter(
			r, parts,
			"'%.80s': rtl reads reduce(NAME,sum|avr|min|max), select(NAME,[DIMENSION_INSTANCE=[N]]) and accumulate(NAME,HIGH_RES) of what %.20s has",
			parts[EXPRESSION], parts[GPU]);
	return text;
}

static bool add(const struct reading *r, char *const *parts, const char *expression)
{
	char file[METRICS_FILE_ERROR_SIZE];
	const struct metrics_at at = { file, r->number };
	const struct metrics_given given = {
		.name = parts[NAME],
		.description = parts[DESCRIPTION],
		.block = expression ? NULL : parts[BLOCK],
		.event = expression ? NULL : parts[EVENT],
		.expression = expression,
	};
	struct metrics_scope *s;

	/* errors name FILE, counter:N */
	snprintf(file, sizeof(file), "%.150s, counter", r->from->name);
	s = metrics_file_scope(r->to, parts[GPU], &at);
	return s && metrics_file_add(r->to, s, &given, &at);
}

/* A GPU whose counters rtl does not know is left out: nothing can be counted on it. */
static bool put_definition(const struct reading *r, char *const *parts)
{
	bool derived = *parts[EXPRESSION], basic = *parts[BLOCK] && *parts[EVENT], good;
	char *expression;

	if (!*parts[NAME])
		return fail_counter(r, parts, "has no name");
	if (!is_word(parts[GPU]))
		return fail_counter(r, parts, "a definition has a list of architectures");
	if (derived == basic)
		return fail_counter(r, parts, "a definition has an expression, or block and event");
	if (r->agent && strncmp(r->agent, parts[GPU], strlen(parts[GPU])) != 0)
		return true;
	if (basic)
		return add(r, parts, NULL);
	if (!r->counters || !gpus_find(parts[GPU]))
		return true;
	expression = translate(r, parts);
	good = expression && add(r, parts, expression);
	alloc_free(expression);
	return good;
}

/* One for each architecture of each definition; what can't be used is left out where only one GPU's
 * are read. */
static bool put_one(const struct reading *r, const char *counter, const char *definition,
		    const char *architecture)
{
	const char *const at[NR_PARTS] = { [NAME] = member(counter, "name"),
					   [DESCRIPTION] = member(counter, "description"),
					   [GPU] = architecture,
					   [BLOCK] = member(definition, "block"),
					   [EVENT] = member(definition, "event"),
					   [EXPRESSION] = member(definition, "expression") };
	char *parts[NR_PARTS];
	bool good = true;

	for (int i = 0; i < NR_PARTS; i++) {
		parts[i] = text_at(at[i]);
		good = good && parts[i];
	}
	if (!good)
		fail(r, "no memory");
	else
		good = put_definition(r, parts);
	for (int i = 0; i < NR_PARTS; i++)
		alloc_free(parts[i]);
	if (!good && r->agent)
		log_info("%s", r->error);
	return good || r->agent;
}

static bool put_counter(const struct reading *r, const char *counter)
{
	const char *definition = first(member(counter, "definitions"), '[');

	if (!definition)
		return put_one(r, counter, NULL, NULL);
	for (; definition; definition = next(definition)) {
		const char *architecture = first(member(definition, "architectures"), '[');

		do {
			if (!put_one(r, counter, definition, architecture))
				return false;
			architecture = architecture ? next(architecture) : NULL;
		} while (architecture);
	}
	return true;
}

static bool put_counters(struct reading *r, const char *json)
{
	const char *list = member(member(json, "rocprofiler-sdk"), "counters");

	r->number = 0;
	for (const char *counter = first(list, '['); counter; counter = next(counter)) {
		r->number++;
		if (!put_counter(r, counter))
			return false;
	}
	return true;
}

/* Whether it has a list of counters of a version that is known. */
static bool check_head(const struct reading *r, const char *json)
{
	const char *head = member(json, "rocprofiler-sdk"), *list = member(head, "counters");
	char *version = text_at(member(head, "counters-schema-version"));
	char why[128];
	bool good = false;

	if (!version) {
		fail(r, "no memory");
	} else if (!list || *list != '[') {
		fail(r, "has no list 'counters' in 'rocprofiler-sdk'");
	} else if (*version && strcmp(version, "1") != 0) {
		snprintf(why, sizeof(why), "counters-schema-version is %.40s; rtl reads 1",
			 version);
		fail(r, why);
	} else {
		good = true;
	}
	alloc_free(version);
	return good;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The definitions of all texts: those without an expression alone, or all. */
static struct metrics_file *make(struct reading *r, const struct metrics_text *texts,
				 char *const *json, uint32_t nr)
{
	r->to = metrics_file_new(texts[0].name, EXPRESSION_ORDINARY, r->error);
	if (!r->to)
		return NULL;
	r->to->lenient = r->agent != NULL;
	for (uint32_t i = 0; i < nr; i++) {
		r->from = &texts[i];
		if (!check_head(r, json[i]) || !put_counters(r, json[i])) {
			metrics_file_close(r->to);
			return NULL;
		}
	}
	return r->to;
}

static struct metrics_file *parse(struct reading *r, const struct metrics_text *texts, uint32_t nr)
{
	char why[YAML_TEXT_ERROR_SIZE];
	char **json = alloc_zero(nr, sizeof(*json));
	struct metrics_file *made = NULL;
	bool good = json != NULL;

	if (!json)
		snprintf(r->error, METRICS_FILE_ERROR_SIZE, "%.200s: no memory", texts[0].name);
	for (uint32_t i = 0; i < nr && good; i++) {
		json[i] = yaml_text_to_json(texts[i].text, why);
		good = json[i] != NULL;
		if (!good)
			snprintf(r->error, METRICS_FILE_ERROR_SIZE, "%.200s:%.250s", texts[i].name,
				 why);
	}
	if (good)
		r->counters = make(r, texts, json, nr);
	if (r->counters)
		made = make(r, texts, json, nr);
	metrics_file_close(r->counters);
	for (uint32_t i = 0; i < nr && json; i++)
		alloc_free(json[i]);
	alloc_free(json);
	return made;
}

struct metrics_file *metrics_yaml_open(const char *path, char *error)
{
	struct reading r = { .use = METRICS_FILE_EXTENDS, .error = error };
	struct metrics_text one = { path, metrics_yaml_read(path, error) };
	struct metrics_file *made = one.text ? parse(&r, &one, 1) : NULL;

	alloc_free((void *)(uintptr_t)one.text);
	return made;
}

struct metrics_file *metrics_yaml_parse(const struct metrics_text *texts, uint32_t nr,
					const char *agent, enum metrics_file_use use, char *error)
{
	struct reading r = { .agent = agent, .use = use, .error = error };

	return parse(&r, texts, nr);
}
