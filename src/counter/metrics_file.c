/* SPDX-License-Identifier: MIT */
/* metrics_file.c - users' counters and metrics, as lists for a GPU
 *
 * Owns:     what a file says, and the lists that are made of it.
 *
 * Not here: the form of the file (loose_xml.h), names and values (metric.h).
 */
#include "counter/metrics_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/loose_xml.h"
#include "counter/metric.h"

#define ENTRIES_MAX 8192u /* of all scopes, with those of their bases */
#define SCOPES_MAX 256u
#define NAME_MAX_SIZE 100u

/* An element metric. Its block or its expression is NULL. */
struct entry {
	const char *name, *expression, *block, *description, *unit;
	uint32_t event;
	enum expression_rules rules;
	const char *file;
	unsigned int line;
};

struct scope {
	const char *name, *base; /* base: of the element that is being read */
	struct entry **entries;
	uint32_t nr, size;
};

/* The lists of a GPU. */
struct made {
	struct made *next;
	const char *agent;
	enum metrics_file_use use;
	struct counter_gpu gpu;
	struct counter_basic *basics;
	struct counter_derived *deriveds;
	const struct entry **from; /* of each derived metric; NULL: the GPU's own */
	const struct entry **all;  /* the file's for this GPU */
	uint32_t nr_all;
};

struct kept {
	struct kept *next;
	char text[];
};

struct metrics_file {
	struct scope scopes[SCOPES_MAX];
	uint32_t nr_scopes, nr_entries;
	struct made *made;
	struct kept *kept;
	enum expression_rules rules;
	struct scope *open; /* the element that is being read */
	unsigned int depth;
	char *error;
};

/* ---- memory and errors ----------------------------------------------------------------------- */

/* False, always. */
static bool __attribute__((format(printf, 3, 4)))
fail(char *error, const struct loose_xml_at *at, const char *what, ...)
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

static bool fail_entry(char *error, const struct entry *e, const char *why)
{
	const struct loose_xml_at at = { e->file, e->line };

	return fail(error, &at, "metric %.*s: %s", (int)NAME_MAX_SIZE, e->name, why);
}

static void *keep_bytes(struct metrics_file *f, size_t size)
{
	struct kept *k = alloc_zero(1, sizeof(*k) + size);

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

static struct scope *find_scope(struct metrics_file *f, const char *name, size_t size)
{
	for (uint32_t i = 0; i < f->nr_scopes; i++)
		if (strlen(f->scopes[i].name) == size && memcmp(f->scopes[i].name, name, size) == 0)
			return &f->scopes[i];
	return NULL;
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

static bool begin_scope(struct metrics_file *f, const char *name, const char **attributes,
			const struct loose_xml_at *at)
{
	const char *base = attribute(attributes, "base");

	if (strcmp(name, "metric") == 0)
		return fail(f->error, at,
			    "a metric stands in a scope: <gfx90a>, <global> or <const>");
	f->open = find_scope(f, name, strlen(name));
	if (!f->open) {
		if (f->nr_scopes == SCOPES_MAX)
			return fail(f->error, at, "more than %u scopes", SCOPES_MAX);
		f->open = &f->scopes[f->nr_scopes];
		f->open->name = keep(f, name);
		if (!f->open->name)
			return fail(f->error, at, "no memory");
		f->nr_scopes++;
	}
	if (base && (!find_scope(f, base, strlen(base)) || strcmp(base, name) == 0))
		return fail(f->error, at, "base=%.80s: there is no such scope before this one",
			    base);
	f->open->base = base ? find_scope(f, base, strlen(base))->name : NULL;
	return true;
}

static bool add_entry(struct metrics_file *f, struct scope *s, struct entry *e)
{
	if (f->nr_entries == ENTRIES_MAX)
		return fail_entry(f->error, e, "the file has too many metrics");
	if (s->nr == s->size) {
		uint32_t size = s->size ? 2 * s->size : 64;
		struct entry **more = alloc_resize(s->entries, size, sizeof(struct entry *));

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
	return n && n <= NAME_MAX_SIZE && !name[n] && !isdigit((unsigned char)*name);
}

static bool read_event(struct metrics_file *f, struct entry *e, const char *text)
{
	char *end;
	unsigned long event = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || event > UINT16_MAX)
		return fail_entry(f->error, e, "event= is not a number from 0 to 65535");
	e->event = (uint32_t)event;
	return true;
}

static bool read_rules(struct metrics_file *f, struct entry *e, const char *text)
{
	if (text && strcmp(text, "v1") != 0 && strcmp(text, "ordinary") != 0)
		return fail_entry(f->error, e, "rules= is v1 or ordinary");
	e->rules = !text ? f->rules : *text == 'v' ? EXPRESSION_V1 : EXPRESSION_ORDINARY;
	return true;
}

static bool read_expression(struct metrics_file *f, struct entry *e, const char *text)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *parsed = expression_parse(text, e->rules, why);

	if (!parsed)
		return fail_entry(f->error, e, why);
	expression_free(parsed);
	e->expression = keep(f, text);
	return true;
}

static bool add_metric(struct metrics_file *f, const char **attributes,
		       const struct loose_xml_at *at)
{
	const char *name = attribute(attributes, "name"), *expr = attribute(attributes, "expr"),
		   *block = attribute(attributes, "block"), *event = attribute(attributes, "event"),
		   *description = attribute(attributes, "descr"),
		   *unit = attribute(attributes, "unit");
	struct entry *e = keep_bytes(f, sizeof(*e));

	if (!e)
		return fail(f->error, at, "no memory");
	if (!name || !is_good_name(name))
		return fail(
			f->error, at,
			"metric: name=%.*s: a name has letters, digits and '_', and is no function",
			(int)NAME_MAX_SIZE, name ? name : "");
	*e = (struct entry){ .name = keep(f, name), .file = keep(f, at->file), .line = at->line };
	e->description = keep(f, description ? description : "");
	e->unit = keep(f, unit ? unit : "");
	if (!e->name || !e->file || !e->description || !e->unit)
		return fail(f->error, at, "no memory");
	if (expr ? (block || event) : !(block && event))
		return fail_entry(f->error, e, "it has expr=, or block= and event=");
	if (!read_rules(f, e, attribute(attributes, "rules")) ||
	    (event && !read_event(f, e, event)) || (expr && !read_expression(f, e, expr)))
		return false;
	e->block = block ? keep(f, block) : NULL;
	if (!e->block && !e->expression)
		return fail(f->error, at, "no memory");
	return add_entry(f, f->open, e);
}

static bool on_begin(void *arg, const char *name, const char **attributes, struct loose_xml_at at)
{
	struct metrics_file *f = arg;
	unsigned int depth = f->depth++;

	if (depth == 0)
		return begin_scope(f, name, attributes, &at);
	if (depth == 1 && strcmp(name, "metric") == 0)
		return add_metric(f, attributes, &at);
	return fail(f->error, &at,
		    "<%.80s>: in a scope stands the element metric, and nothing in it", name);
}

static const struct entry *find_entry(const struct scope *s, const char *name)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (strcmp(s->entries[i]->name, name) == 0)
			return s->entries[i];
	return NULL;
}

/* What the scope takes over from its base stands behind its own. */
static bool on_end(void *arg, const char *name)
{
	struct metrics_file *f = arg;
	struct scope *s = f->open, *base;

	(void)name;
	if (--f->depth != 0 || !s->base)
		return true;
	base = find_scope(f, s->base, strlen(s->base));
	for (uint32_t i = 0; i < base->nr; i++)
		if (!find_entry(s, base->entries[i]->name) && !add_entry(f, s, base->entries[i]))
			return false;
	return true;
}

static struct metrics_file *open_any(const char *name, const char *text, size_t size,
				     enum expression_rules rules, char *error)
{
	struct metrics_file *f = alloc_zero(1, sizeof(*f));
	const struct loose_xml_handler h = { on_begin, on_end, f, error };

	_Static_assert(METRICS_FILE_ERROR_SIZE == LOOSE_XML_ERROR_SIZE, "they share a buffer");
	if (!f) {
		fail(error, NULL, "%s: no memory", name);
		return NULL;
	}
	f->rules = rules;
	f->error = error;
	if (text ? loose_xml_parse(name, text, size, &h) : loose_xml_read(name, &h))
		return f;
	metrics_file_close(f);
	return NULL;
}

struct metrics_file *metrics_file_open(const char *path, enum expression_rules rules, char *error)
{
	return open_any(path, NULL, 0, rules, error);
}

struct metrics_file *metrics_file_parse(const char *name, const char *text, size_t size,
					enum expression_rules rules, char *error)
{
	return open_any(name, text, size, rules, error);
}

static void free_made(struct made *m)
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
	for (struct made *m = f->made, *next; m; m = next) {
		next = m->next;
		free_made(m);
	}
	for (struct kept *k = f->kept, *next; k; k = next) {
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
static const struct scope *scope_of(struct metrics_file *f, const char *agent, const char *gpu)
{
	static const char *const differ[] = { "gfx906", "gfx908", "gfx90a", "gfx94" };
	size_t size = strcspn(agent, ":");
	const struct scope *s = find_scope(f, agent, size);

	if (!s)
		s = find_scope(f, gpu, strlen(gpu));
	for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
		if (strncmp(agent, differ[i], strlen(differ[i])) == 0)
			return s;
	return s || size < 3 ? s : find_scope(f, agent, size - 2);
}

static bool is_constant(const struct counter_gpu *gpu, const char *name)
{
	struct metric m;
	char error[METRIC_ERROR_SIZE];
	const struct counter_gpu bare = { .name = gpu->name };

	return metric_find(&bare, name, &m, error) && m.kind == METRIC_CONSTANT;
}

/* The file's entries for this GPU, each name once. */
static bool gather(struct metrics_file *f, struct made *m, const struct counter_gpu *shipped,
		   char *error)
{
	const struct scope *scopes[] = { find_scope(f, "const", 5),
					 scope_of(f, m->agent, shipped->name),
					 find_scope(f, "global", 6) };

	m->all = alloc_zero(f->nr_entries + 1, sizeof(*m->all));
	if (!m->all)
		return fail(error, NULL, "no memory");
	for (size_t s = 0; s < sizeof(scopes) / sizeof(scopes[0]); s++)
		for (uint32_t i = 0; scopes[s] && i < scopes[s]->nr; i++) {
			const struct entry *e = scopes[s]->entries[i];
			char why[METRICS_FILE_ERROR_SIZE / 2];

			if (is_constant(shipped, e->name))
				return fail_entry(error, e, "the GPU has a constant of that name");
			for (uint32_t k = 0; k < m->nr_all; k++) {
				if (strcmp(m->all[k]->name, e->name) != 0)
					continue;
				snprintf(why, sizeof(why), "it is defined already at %.150s:%u",
					 m->all[k]->file, m->all[k]->line);
				return fail_entry(error, e, why);
			}
			m->all[m->nr_all++] = e;
		}
	return true;
}

static const struct entry *file_entry(const struct made *m, const char *name)
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

/* That of the GPU's own of that name. */
static const char *shipped_unit(const struct counter_gpu *shipped, const char *name)
{
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	return metric_find(shipped, name, &m, error) ? m.unit : "";
}

static bool add_file_entry(struct made *m, const struct counter_gpu *shipped, const struct entry *e,
			   char *error)
{
	const struct counter_block *block = e->block ? find_block(shipped, e->block) : NULL;
	const char *unit = *e->unit ? e->unit : shipped_unit(shipped, e->name);
	char why[METRICS_FILE_ERROR_SIZE / 2];

	if (e->expression) {
		m->from[m->gpu.nr_deriveds] = e;
		m->deriveds[m->gpu.nr_deriveds++] =
			(struct counter_derived){ e->name, e->expression, e->description, unit,
						  e->rules };
		return true;
	}
	if (!block) {
		snprintf(why, sizeof(why), "%s has no block '%.80s'", shipped->name, e->block);
		return fail_entry(error, e, why);
	}
	m->basics[m->gpu.nr_basics++] =
		(struct counter_basic){ e->name, e->description, unit, block, e->event };
	return true;
}

static bool fill(struct made *m, const struct counter_gpu *shipped, char *error)
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
		if (!add_file_entry(m, shipped, m->all[i], error))
			return false;
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
	char name[NAME_MAX_SIZE + 1]; /* without its instance */
	char why[METRIC_ERROR_SIZE];
};

static bool on_name(const char *name, int32_t index, void *arg)
{
	struct lacking *l = arg;
	char buf[NAME_MAX_SIZE + 32];
	struct metric m;

	snprintf(buf, sizeof(buf), index < 0 ? "%.*s" : "%.*s[%d]", (int)NAME_MAX_SIZE, name,
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

static void leave_out(struct made *m, uint32_t at)
{
	uint32_t rest = --m->gpu.nr_deriveds - at;

	memmove(&m->deriveds[at], &m->deriveds[at + 1], rest * sizeof(m->deriveds[0]));
	memmove(&m->from[at], &m->from[at + 1], rest * sizeof(m->from[0]));
}

static bool is_global(struct metrics_file *f, const struct entry *e)
{
	const struct scope *s = find_scope(f, "global", 6);

	return s && find_entry(s, e->name) == e;
}

/* Checks the file's metrics. Those of <global> that need what this GPU lacks are left out, one
 * after the other. */
static bool check(struct metrics_file *f, struct made *m, char *error)
{
	struct lacking l;

	for (uint32_t i = 0; i < m->gpu.nr_deriveds; i++) {
		const struct entry *e = m->from[i];

		if (!e || !lacks(&m->gpu, &m->deriveds[i], &l))
			continue;
		if (!is_global(f, e) || !is_known(f, l.name))
			return fail_entry(error, e, l.why);
		leave_out(m, i);
		i = UINT32_MAX; /* others may need it */
	}
	for (uint32_t i = 0; i < m->gpu.nr_deriveds; i++) {
		struct metric_events events = { 0 };
		char why[METRIC_ERROR_SIZE];
		bool good = !m->from[i] ||
			    metric_add_events(&m->gpu, m->deriveds[i].name, &events, why);

		metric_events_free(&events);
		if (!good)
			return fail_entry(error, m->from[i], why);
	}
	return true;
}

static struct made *make(struct metrics_file *f, const char *agent, enum metrics_file_use use,
			 char *error)
{
	const struct counter_gpu *shipped = gpus_find(agent);
	struct made *m = shipped ? alloc_zero(1, sizeof(*m)) : NULL;

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

static struct made *get(struct metrics_file *f, const char *agent, enum metrics_file_use use,
			char *error)
{
	struct made *m = f->made;

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
	const struct made *m = get(f, agent, use, error);

	return m ? &m->gpu : NULL;
}

/* ---- excerpts -------------------------------------------------------------------------------- */

struct excerpt {
	const struct made *made;
	bool *wanted; /* by the index in `all` */
	unsigned int depth;
};

static bool want(const char *name, int32_t index, void *arg);

static void want_parts(struct excerpt *x, const char *expression, enum expression_rules rules)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *e = expression_parse(expression, rules, why);

	if (!e)
		return;
	x->depth++;
	expression_names(e, want, x);
	x->depth--;
	expression_free(e);
}

/* What a metric needs is followed once: of a metric of the GPU's own it may be the file's, too. */
static bool want(const char *name, int32_t index, void *arg)
{
	struct excerpt *x = arg;
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	(void)index;
	for (uint32_t i = 0; i < x->made->nr_all; i++) {
		if (strcmp(x->made->all[i]->name, name) != 0)
			continue;
		if (x->wanted[i])
			return true;
		x->wanted[i] = true;
	}
	if (x->depth < 32 && metric_find(&x->made->gpu, name, &m, error) &&
	    m.kind == METRIC_DERIVED)
		want_parts(x, m.expression, m.rules);
	return true;
}

static void put_entry(FILE *out, const struct entry *e)
{
	fputs("<metric", out);
	loose_xml_put_attribute(out, "name", e->name);
	if (e->expression) {
		loose_xml_put_attribute(out, "expr", e->expression);
		loose_xml_put_attribute(out, "rules",
					e->rules == EXPRESSION_V1 ? "v1" : "ordinary");
	} else {
		loose_xml_put_attribute(out, "block", e->block);
		fprintf(out, " event=\"%u\"", e->event);
	}
	if (*e->description)
		loose_xml_put_attribute(out, "descr", e->description);
	if (*e->unit)
		loose_xml_put_attribute(out, "unit", e->unit);
	fputs("/>\n", out);
}

char *metrics_file_excerpt(struct metrics_file *f, const char *agent, const char *const *names,
			   uint32_t nr, char *error)
{
	const struct made *m = get(f, agent, METRICS_FILE_EXTENDS, error);
	struct excerpt x = { .made = m };
	char *text = NULL;
	size_t size = 0;
	bool any = false;
	FILE *out;

	if (!m)
		return NULL;
	x.wanted = alloc_zero(m->nr_all + 1, sizeof(*x.wanted));
	out = x.wanted ? open_memstream(&text, &size) : NULL;
	for (uint32_t i = 0; out && i < nr; i++) {
		char name[NAME_MAX_SIZE + 1];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names[i], "["), names[i]);
		want(name, -1, &x);
	}
	for (uint32_t i = 0; out && i < m->nr_all; i++) {
		if (!x.wanted[i])
			continue;
		if (!any)
			fprintf(out, "<%.*s>\n", (int)strcspn(agent, ":"), agent);
		any = true;
		put_entry(out, m->all[i]);
	}
	if (any)
		fprintf(out, "</%.*s>\n", (int)strcspn(agent, ":"), agent);
	alloc_free(x.wanted);
	if (out && fclose(out) == 0)
		return text;
	fail(error, NULL, "no memory");
	alloc_free(text);
	return NULL;
}
