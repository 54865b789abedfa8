/* SPDX-License-Identifier: MIT */
/* metrics_xml.c - files of metrics: their elements become entries, and entries elements
 *
 * Not here: what a GPU can count of them (metrics_file.c), the form of the file (loose_xml.h).
 */
#include "counter/metrics_xml.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/loose_xml.h"
#include "counter/metric.h"
#include "counter/metrics_file_internal.h"

#define fail metrics_file_fail

struct reading {
	struct metrics_file *file;
	struct metrics_scope *open; /* the element that is being read */
	const struct metrics_scope *base;
	unsigned int depth;
	char *error;
};

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

static bool begin_scope(struct reading *r, const char *name, const char **attributes,
			const struct metrics_at *at)
{
	const char *base = attribute(attributes, "base");

	if (strcmp(name, "metric") == 0)
		return fail(r->error, at,
			    "a metric stands in a scope: <gfx90a>, <global> or <const>");
	r->open = metrics_file_scope(r->file, name, at);
	if (!r->open)
		return false;
	r->base = base ? metrics_file_find(r->file, base, strlen(base)) : NULL;
	if (base && (!r->base || r->base == r->open))
		return fail(r->error, at, "base=%.80s: there is no such scope before this one",
			    base);
	return true;
}

static bool add_metric(struct reading *r, const char **attributes, const struct metrics_at *at)
{
	const struct metrics_given given = {
		.name = attribute(attributes, "name"),
		.expression = attribute(attributes, "expr"),
		.block = attribute(attributes, "block"),
		.event = attribute(attributes, "event"),
		.description = attribute(attributes, "descr"),
		.unit = attribute(attributes, "unit"),
		.rules = attribute(attributes, "rules"),
	};

	return metrics_file_add(r->file, r->open, &given, at);
}

static bool on_begin(void *arg, const char *name, const char **attributes,
		     struct loose_xml_at where)
{
	const struct metrics_at at = { where.file, where.line };
	struct reading *r = arg;
	unsigned int depth = r->depth++;

	if (depth == 0)
		return begin_scope(r, name, attributes, &at);
	if (depth == 1 && strcmp(name, "metric") == 0)
		return add_metric(r, attributes, &at);
	return fail(r->error, &at,
		    "<%.80s>: in a scope stands the element metric, and nothing in it", name);
}

/* What the scope takes over from its base stands behind its own. */
static bool on_end(void *arg, const char *name)
{
	struct reading *r = arg;

	(void)name;
	return --r->depth != 0 || !r->base || metrics_file_inherit(r->file, r->open, r->base);
}

static struct metrics_file *open_any(const char *name, const char *text, size_t size,
				     enum expression_rules rules, char *error)
{
	struct reading r = { .file = metrics_file_new(name, rules, error), .error = error };
	const struct loose_xml_handler h = { on_begin, on_end, &r, error };

	_Static_assert(METRICS_FILE_ERROR_SIZE == LOOSE_XML_ERROR_SIZE, "they share a buffer");
	if (!r.file)
		return NULL;
	if (text ? loose_xml_parse(name, text, size, &h) : loose_xml_read(name, &h))
		return r.file;
	metrics_file_close(r.file);
	return NULL;
}

struct metrics_file *metrics_xml_open(const char *path, enum expression_rules rules, char *error)
{
	return open_any(path, NULL, 0, rules, error);
}

struct metrics_file *metrics_xml_parse(const char *name, const char *text, size_t size,
				       enum expression_rules rules, char *error)
{
	return open_any(name, text, size, rules, error);
}

/* ---- excerpts -------------------------------------------------------------------------------- */

struct excerpt {
	const struct metrics_made *made;
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

static void put_entry(FILE *out, const struct metrics_entry *e)
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

char *metrics_xml_excerpt(struct metrics_file *f, const char *agent, const char *const *names,
			  uint32_t nr, char *error)
{
	const struct metrics_made *m = metrics_file_made(f, agent, METRICS_FILE_EXTENDS, error);
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
		char name[METRICS_NAME_MAX + 1];

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
