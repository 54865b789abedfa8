/* SPDX-License-Identifier: MIT */
/* metrics_file.c - users' counters and metrics, as lists for a GPU
 *
 * Owns:     what a file says, and the lists that are made of it.
 *
 * Not here: the forms of files (metrics_xml.c, metrics_yaml.c), names and values (metric.h).
 */
#define LOG_TOPIC "counter"
#include "counter/metrics_file_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "counter/metric.h"

#define ENTRIES_MAX 8192u /* of all scopes, with those of their bases */

/* ---- memory and errors ----------------------------------------------------------------------- */

#define fail metrics_file_fail

bool metrics_file_fail(char *error, const struct metrics_at *at, const char *what, ...)
{
	char why[METRICS_FILE_ERROR_SIZE / 2];
	va_list args;

	va_start(args, what);
	vsnprintf(why, sizeof(why), what, args);
	va_end(args);
	if (at)
		snprintf(error, METRICS_FILE_ERROR_SIZE, "%.200s:%u: %s", at->file, at->line, why);
	else
		snprintf(error, METRICS_FILE_ERROR_SIZE, "%s", why);
	return false;
}

static bool fail_entry(char *error, const struct metrics_entry *e, const char *why)
{
	return fail(error, &e->at, "metric %.*s: %s", (int)METRICS_NAME_MAX, e->name, why);
}

static void *keep_bytes(struct metrics_file *f, size_t size)
{
	struct metrics_kept *k = alloc_zero(1, sizeof(*k) + size);

	if (!k)
		return NULL;
	k->next = f->kept;
	f->kept = k;
	return k->text;
}

static const char *keep(struct metrics_file *f, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = keep_bytes(f, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct metrics_scope *metrics_file_find(struct metrics_file *f, const char *name, size_t size)
{
	for (uint32_t i = 0; i < f->nr_scopes; i++)
		if (strlen(f->scopes[i].name) == size && memcmp(f->scopes[i].name, name, size) == 0)
			return &f->scopes[i];
	return NULL;
}

struct metrics_scope *metrics_file_scope(struct metrics_file *f, const char *name,
					 const struct metrics_at *at)
{
	struct metrics_scope *s = metrics_file_find(f, name, strlen(name));

	if (s)
		return s;
	if (f->nr_scopes == METRICS_SCOPES_MAX) {
		fail(f->error, at, "more than %u scopes", METRICS_SCOPES_MAX);
		return NULL;
	}
	s = &f->scopes[f->nr_scopes];
	s->name = keep(f, name);
	if (!s->name) {
		fail(f->error, at, "no memory");
		return NULL;
	}
	f->nr_scopes++;
	return s;
}

static bool add_entry(struct metrics_file *f, struct metrics_scope *s, struct metrics_entry *e)
{
	if (f->nr_entries == ENTRIES_MAX)
		return fail_entry(f->error, e, "the file has too many metrics");
	if (s->nr == s->size) {
		uint32_t size = s->size ? 2 * s->size : 64;
		struct metrics_entry **more =
			alloc_resize(s->entries, size, sizeof(struct metrics_entry *));

		if (!more)
			return fail_entry(f->error, e, "no memory");
		s->entries = more;
		s->size = size;
	}
	s->entries[s->nr++] = e;
	f->nr_entries++;
	return true;
}

static bool is_good_name(const char *name)
{
	static const char *const functions[] = { "sum", "avr", "min", "max" };
	size_t n = 0;

	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(name, functions[i]) == 0)
			return false;
	return n && n <= METRICS_NAME_MAX && !name[n] && !isdigit((unsigned char)*name);
}

static bool read_event(struct metrics_file *f, struct metrics_entry *e, const char *text)
{
	char *end;
	unsigned long event = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || event > UINT16_MAX)
		return fail_entry(f->error, e, "event= is not a number from 0 to 65535");
	e->event = (uint32_t)event;
	return true;
}

static bool read_rules(struct metrics_file *f, struct metrics_entry *e, const char *text)
{
	if (text && strcmp(text, "v1") != 0 && strcmp(text, "ordinary") != 0)
		return fail_entry(f->error, e, "rules= is v1 or ordinary");
	e->rules = !text ? f->rules : *text == 'v' ? EXPRESSION_V1 : EXPRESSION_ORDINARY;
	return true;
}

static bool read_expression(struct metrics_file *f, struct metrics_entry *e, const char *text)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *parsed = expression_parse(text, e->rules, why);

	if (!parsed)
		return fail_entry(f->error, e, why);
	expression_free(parsed);
	e->expression = keep(f, text);
	return true;
}

bool metrics_file_add(struct metrics_file *f, struct metrics_scope *s,
		      const struct metrics_given *given, const struct metrics_at *at)
{
	const char *name = given->name;
	struct metrics_entry *e = keep_bytes(f, sizeof(*e));

	if (!e)
		return fail(f->error, at, "no memory");
	if (!name || !is_good_name(name))
		return fail(
			f->error, at,
			"metric: name=%.*s: a name has letters, digits and '_', and is no function",
			(int)METRICS_NAME_MAX, name ? name : "");
	*e = (struct metrics_entry){ .name = keep(f, name), .at = { keep(f, at->file), at->line } };
	e->description = keep(f, given->description ? given->description : "");
	e->unit = keep(f, given->unit ? given->unit : "");
	if (!e->name || !e->at.file || !e->description || !e->unit)
		return fail(f->error, at, "no memory");
	if (given->expression ? (given->block || given->event) : !(given->block && given->event))
		return fail_entry(f->error, e, "it has expr=, or block= and event=");
	if (!read_rules(f, e, given->rules) || (given->event && !read_event(f, e, given->event)) ||
	    (given->expression && !read_expression(f, e, given->expression)))
		return false;
	e->block = given->block ? keep(f, given->block) : NULL;
	if (!e->block && !e->expression)
		return fail(f->error, at, "no memory");
	return add_entry(f, s, e);
}

static const struct metrics_entry *find_entry(const struct metrics_scope *s, const char *name)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (strcmp(s->entries[i]->name, name) == 0)
			return s->entries[i];
	return NULL;
}

bool metrics_file_inherit(struct metrics_file *f, struct metrics_scope *s,
			  const struct metrics_scope *base)
{
	for (uint32_t i = 0; i < base->nr; i++)
		if (!find_entry(s, base->entries[i]->name) && !add_entry(f, s, base->entries[i]))
			return false;
	return true;
}

struct metrics_file *metrics_file_new(const char *name, enum expression_rules rules, char *error)
{
	struct metrics_file *f = alloc_zero(1, sizeof(*f));

	if (!f) {
		fail(error, NULL, "%s: no memory", name);
		return NULL;
	}
	f->rules = rules;
	f->error = error;
	return f;
}

static void free_made(struct metrics_made *m)
{
	alloc_free(m->basics);
	alloc_free(m->deriveds);
	alloc_free(m->from);
	alloc_free(m->all);
	alloc_free(m);
}

void metrics_file_close(struct metrics_file *f)
{
	if (!f)
		return;
	for (struct metrics_made *m = f->made, *next; m; m = next) {
		next = m->next;
		free_made(m);
	}
	for (struct metrics_kept *k = f->kept, *next; k; k = next) {
		next = k->next;
		alloc_free(k);
	}
	for (uint32_t i = 0; i < f->nr_scopes; i++)
		alloc_free(f->scopes[i].entries);
	alloc_free(f);
}

/* ---- the lists of a GPU ---------------------------------------------------------------------- */

/* The scope of the agent: of its name, of the GPU whose counters it has, or, but for GPUs whose
 * lists differ, of their family: gfx9. */
static const struct metrics_scope *scope_of(struct metrics_file *f, const char *agent,
					    const char *gpu)
{
	static const char *const differ[] = { "gfx906", "gfx908", "gfx90a", "gfx94" };
	size_t size = strcspn(agent, ":");
	const struct metrics_scope *s = metrics_file_find(f, agent, size);

	if (!s)
		s = metrics_file_find(f, gpu, strlen(gpu));
	for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
		if (strncmp(agent, differ[i], strlen(differ[i])) == 0)
			return s;
	return s || size < 3 ? s : metrics_file_find(f, agent, size - 2);
}

static bool is_constant(const struct counter_gpu *gpu, const char *name)
{
	struct metric m;
	char error[METRIC_ERROR_SIZE];
	const struct counter_gpu bare = { .name = gpu->name };

	return metric_find(&bare, name, &m, error) && m.kind == METRIC_CONSTANT;
}

static const struct metrics_entry *file_entry(const struct metrics_made *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_all; i++)
		if (strcmp(m->all[i]->name, name) == 0)
			return m->all[i];
	return NULL;
}

static const struct counter_block *find_block(const struct counter_gpu *gpu, const char *name)
{
	for (uint32_t i = 0; i < gpu->nr_blocks; i++)
		if (strcmp(gpu->blocks[i].name, name) == 0)
			return &gpu->blocks[i];
	return NULL;
}

/* Whether the GPU can have the entry beside those that are gathered; else `why`, of
 * METRICS_FILE_ERROR_SIZE / 2 bytes, says why not. */
static bool can_have(const struct metrics_made *m, const struct counter_gpu *shipped,
		     const struct metrics_entry *e, char *why)
{
	const struct metrics_entry *other = file_entry(m, e->name);
	size_t size = METRICS_FILE_ERROR_SIZE / 2;

	if (is_constant(shipped, e->name))
		snprintf(why, size, "the GPU has a constant of that name");
	else if (other)
		snprintf(why, size, "it is defined already at %.150s:%u", other->at.file,
			 other->at.line);
	else if (e->block && !find_block(shipped, e->block))
		snprintf(why, size, "%s has no block '%.80s'", shipped->name, e->block);
	else
		return true;
	return false;
}

/* What stands in the way of an entry is said; true: the list is made without it. */
static bool goes_without(const struct metrics_file *f, const struct metrics_entry *e,
			 const char *why, char *error)
{
	fail_entry(error, e, why);
	if (f->lenient)
		log_info("%s", error);
	return f->lenient;
}

/* The file's entries for this GPU, each name once. */
static bool gather(struct metrics_file *f, struct metrics_made *m,
		   const struct counter_gpu *shipped, char *error)
{
	const struct metrics_scope *scopes[] = { metrics_file_find(f, "const", 5),
						 scope_of(f, m->agent, shipped->name),
						 metrics_file_find(f, "global", 6) };

	m->all = alloc_zero(f->nr_entries + 1, sizeof(*m->all));
	if (!m->all)
		return fail(error, NULL, "no memory");
	for (size_t s = 0; s < sizeof(scopes) / sizeof(scopes[0]); s++)
		for (uint32_t i = 0; scopes[s] && i < scopes[s]->nr; i++) {
			const struct metrics_entry *e = scopes[s]->entries[i];
			char why[METRICS_FILE_ERROR_SIZE / 2];

			if (can_have(m, shipped, e, why))
				m->all[m->nr_all++] = e;
			else if (!goes_without(f, e, why, error))
				return false;
		}
	return true;
}

/* That of the GPU's own of that name. */
static const char *shipped_unit(const struct counter_gpu *shipped, const char *name)
{
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	return metric_find(shipped, name, &m, error) ? m.unit : "";
}

static void add_file_entry(struct metrics_made *m, const struct counter_gpu *shipped,
			   const struct metrics_entry *e)
{
	const char *unit = *e->unit ? e->unit : shipped_unit(shipped, e->name);

	if (e->expression) {
		m->from[m->gpu.nr_deriveds] = e;
		m->deriveds[m->gpu.nr_deriveds++] =
			(struct counter_derived){ e->name, e->expression, e->description, unit,
						  e->rules };
	} else {
		m->basics[m->gpu.nr_basics++] =
			(struct counter_basic){ e->name, e->description, unit,
						find_block(shipped, e->block), e->event };
	}
}

static bool fill(struct metrics_made *m, const struct counter_gpu *shipped, char *error)
{
	bool extends = m->use == METRICS_FILE_EXTENDS;
	uint32_t nr_basics = extends ? shipped->nr_basics : 0,
		 nr_deriveds = extends ? shipped->nr_deriveds : 0;

	m->gpu = (struct counter_gpu){ .name = shipped->name,
				       .blocks = shipped->blocks,
				       .nr_blocks = shipped->nr_blocks };
	m->gpu.basics = m->basics = alloc_zero(nr_basics + m->nr_all + 1, sizeof(*m->basics));
	m->gpu.deriveds = m->deriveds =
		alloc_zero(nr_deriveds + m->nr_all + 1, sizeof(*m->deriveds));
	m->from = alloc_zero(nr_deriveds + m->nr_all + 1, sizeof(*m->from));
	if (!m->basics || !m->deriveds || !m->from)
		return fail(error, NULL, "no memory");
	for (uint32_t i = 0; i < nr_basics; i++)
		if (!file_entry(m, shipped->basics[i].name))
			m->basics[m->gpu.nr_basics++] = shipped->basics[i];
	for (uint32_t i = 0; i < nr_deriveds; i++)
		if (!file_entry(m, shipped->deriveds[i].name))
			m->deriveds[m->gpu.nr_deriveds++] = shipped->deriveds[i];
	for (uint32_t i = 0; i < m->nr_all; i++)
		add_file_entry(m, shipped, m->all[i]);
	return true;
}

/* Whether some GPU, or some scope of the file, has the name. */
static bool is_known(struct metrics_file *f, const char *name)
{
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	for (uint32_t i = 0; i < f->nr_scopes; i++)
		if (find_entry(&f->scopes[i], name))
			return true;
	for (uint32_t i = 0; i < counter_nr_gpus; i++)
		if (metric_find(&counter_gpus[i], name, &m, error))
			return true;
	return false;
}

/* The first name of an expression that the GPU lacks. */
struct lacking {
	const struct counter_gpu *gpu;
	char name[METRICS_NAME_MAX + 1]; /* without its instance */
	char why[METRIC_ERROR_SIZE];
};

static bool on_name(const char *name, int32_t index, void *arg)
{
	struct lacking *l = arg;
	char buf[METRICS_NAME_MAX + 32];
	struct metric m;

	snprintf(buf, sizeof(buf), index < 0 ? "%.*s" : "%.*s[%d]", (int)METRICS_NAME_MAX, name,
		 index);
	if (metric_find(l->gpu, buf, &m, l->why))
		return true;
	snprintf(l->name, sizeof(l->name), "%s", name);
	return false;
}

static bool lacks(const struct counter_gpu *gpu, const struct counter_derived *d, struct lacking *l)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *e = expression_parse(d->expression, d->rules, why);
	bool has_all;

	*l = (struct lacking){ .gpu = gpu };
	if (!e) /* it was read before: no memory */
		return snprintf(l->why, sizeof(l->why), "%s", why) > 0;
	has_all = expression_names(e, on_name, l);
	expression_free(e);
	return !has_all;
}

static void leave_out(struct metrics_made *m, uint32_t at)
{
	uint32_t rest = --m->gpu.nr_deriveds - at;

	memmove(&m->deriveds[at], &m->deriveds[at + 1], rest * sizeof(m->deriveds[0]));
	memmove(&m->from[at], &m->from[at + 1], rest * sizeof(m->from[0]));
}

static bool is_global(struct metrics_file *f, const struct metrics_entry *e)
{
	const struct metrics_scope *s = metrics_file_find(f, "global", 6);

	return s && find_entry(s, e->name) == e;
}

/* Checks that the GPU has what the file's metrics name. Those of <global> that need what others
 * have are left out, one after the other, and all of a lenient file. */
static bool check_names(struct metrics_file *f, struct metrics_made *m, char *error)
{
	struct lacking l;

	for (uint32_t i = 0; i < m->gpu.nr_deriveds; i++) {
		const struct metrics_entry *e = m->from[i];

		if (!e || !lacks(&m->gpu, &m->deriveds[i], &l))
			continue;
		if (!(is_global(f, e) && is_known(f, l.name)) && !goes_without(f, e, l.why, error))
			return false;
		leave_out(m, i);
		i = UINT32_MAX; /* others may need it */
	}
	return true;
}

static bool check(struct metrics_file *f, struct metrics_made *m, char *error)
{
	if (!check_names(f, m, error))
		return false;
	for (uint32_t i = 0; i < m->gpu.nr_deriveds; i++) {
		struct metric_events events = { 0 };
		char why[METRIC_ERROR_SIZE];
		bool good = !m->from[i] ||
			    metric_add_events(&m->gpu, m->deriveds[i].name, &events, why);

		metric_events_free(&events);
		if (good)
			continue;
		if (!goes_without(f, m->from[i], why, error))
			return false;
		leave_out(m, i);
		i = UINT32_MAX;
	}
	return true;
}

static struct metrics_made *make(struct metrics_file *f, const char *agent,
				 enum metrics_file_use use, char *error)
{
	const struct counter_gpu *shipped = gpus_find(agent);
	struct metrics_made *m = shipped ? alloc_zero(1, sizeof(*m)) : NULL;

	if (!m) {
		fail(error, NULL, shipped ? "no memory" : "the counters of %.40s are not known",
		     agent);
		return NULL;
	}
	m->agent = keep(f, agent);
	m->use = use;
	if (m->agent && gather(f, m, shipped, error) && fill(m, shipped, error) &&
	    check(f, m, error))
		return m;
	if (!m->agent)
		fail(error, NULL, "no memory");
	free_made(m);
	return NULL;
}

const struct metrics_made *metrics_file_made(struct metrics_file *f, const char *agent,
					     enum metrics_file_use use, char *error)
{
	struct metrics_made *m = f->made;

	while (m && (m->use != use || strcmp(m->agent, agent) != 0))
		m = m->next;
	if (m)
		return m;
	m = make(f, agent, use, error);
	if (m) {
		m->next = f->made;
		f->made = m;
	}
	return m;
}

const struct counter_gpu *metrics_file_gpu(struct metrics_file *f, const char *agent,
					   enum metrics_file_use use, char *error)
{
	const struct metrics_made *m = metrics_file_made(f, agent, use, error);

	return m ? &m->gpu : NULL;
}
