/* SPDX-License-Identifier: MIT */
/* metric.c - what a GPU can count, by name
 *
 * Not here: the tables (gpus.h), the form of expressions (expression.h).
 */
#include "counter/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/expression.h"

#define DEPTH_MAX 32u	     /* of metrics within metrics: users' may be circular */
#define PARTS_MAX (1u << 17) /* of a metric, with those of the metrics in it */
#define NAME_SIZE 128u

static const struct {
	const char *name, *description, *unit;
} constants[] = {
	{ "CU_NUM", "compute units of the GPU", "units" },
	{ "MAX_WAVE_SIZE", "work-items of a wavefront", "work-items" },
	{ "SE_NUM", "shader engines of the GPU", "units" },
	{ "SIMD_NUM", "SIMD units of the GPU", "units" },
	{ "XCC_NUM", "compute dies of the GPU", "units" },
};
#define NR_CONSTANTS (sizeof(constants) / sizeof(constants[0]))

/* ---- names ----------------------------------------------------------------------------------- */

/* NAME[INDEX]REST; index -1: there is none. */
struct parts {
	char name[NAME_SIZE];
	int32_t index;
	const char *rest;
};

static bool split(const char *text, struct parts *p)
{
	size_t n = strcspn(text, "[:");
	char *end;
	long index;

	*p = (struct parts){ .index = -1 };
	if (n >= sizeof(p->name))
		return false;
	memcpy(p->name, text, n);
	p->rest = text + n;
	if (text[n] != '[')
		return true;
	index = strtol(text + n + 1, &end, 10);
	if (end == text + n + 1 || *end != ']' || index < 0 || index > INT32_MAX)
		return false;
	p->index = (int32_t)index;
	p->rest = end + 1;
	return true;
}

static const struct counter_block *find_block(const struct counter_gpu *gpu, const char *name)
{
	for (uint32_t i = 0; i < gpu->nr_blocks; i++)
		if (strcmp(gpu->blocks[i].name, name) == 0)
			return &gpu->blocks[i];
	return NULL;
}

static bool check_instance(const struct counter_block *b, const char *name, int32_t index,
			   char *error)
{
	if (index < (int32_t)b->instances)
		return true;
	snprintf(error, METRIC_ERROR_SIZE, "%s: block %s has the instances 0 to %u", name, b->name,
		 b->instances - 1);
	return false;
}

/* BLOCK:EVENT */
static bool find_raw(const struct counter_gpu *gpu, const char *name, const struct parts *p,
		     struct metric *m, char *error)
{
	const struct counter_block *b = find_block(gpu, p->name);
	unsigned long event;
	char *end;

	if (!b) {
		snprintf(error, METRIC_ERROR_SIZE, "%s: %s has no block '%s'", name, gpu->name,
			 p->name);
		return false;
	}
	event = strtoul(p->rest + 1, &end, 10);
	if (end == p->rest + 1 || *end || event > UINT16_MAX) {
		snprintf(error, METRIC_ERROR_SIZE, "%s: behind ':' stands the number of an event",
			 name);
		return false;
	}
	*m = (struct metric){ .kind = METRIC_BASIC,
			      .name = name,
			      .description = "an event by its number",
			      .unit = "",
			      .block = b,
			      .event = (uint32_t)event,
			      .instance = p->index };
	return check_instance(b, name, p->index, error);
}

static bool find_basic(const struct counter_gpu *gpu, const char *name, const struct parts *p,
		       struct metric *m)
{
	for (uint32_t i = 0; i < gpu->nr_basics; i++) {
		const struct counter_basic *b = &gpu->basics[i];

		if (strcmp(b->name, p->name) != 0)
			continue;
		*m = (struct metric){ .kind = METRIC_BASIC,
				      .name = name,
				      .description = b->description,
				      .unit = b->unit,
				      .block = b->block,
				      .event = b->event,
				      .instance = p->index };
		return true;
	}
	return false;
}

static bool find_derived(const struct counter_gpu *gpu, const char *name, struct metric *m)
{
	for (uint32_t i = 0; i < gpu->nr_deriveds; i++) {
		const struct counter_derived *d = &gpu->deriveds[i];

		if (strcmp(d->name, name) != 0)
			continue;
		*m = (struct metric){ .kind = METRIC_DERIVED,
				      .name = d->name,
				      .description = d->description,
				      .unit = d->unit,
				      .instance = -1,
				      .expression = d->expression,
				      .rules = d->rules };
		return true;
	}
	return false;
}

static bool find_constant(const char *name, struct metric *m)
{
	for (size_t i = 0; i < NR_CONSTANTS; i++) {
		if (strcmp(constants[i].name, name) != 0)
			continue;
		*m = (struct metric){ .kind = METRIC_CONSTANT,
				      .name = constants[i].name,
				      .description = constants[i].description,
				      .unit = constants[i].unit,
				      .instance = -1 };
		return true;
	}
	return false;
}

/* How many letters must be changed, put in or left out to make one of the other. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_SIZE], n = (unsigned int)strlen(b);

	if (n >= NAME_SIZE)
		return UINT32_MAX;
	for (unsigned int j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= n; j++) {
			unsigned int up = row[j], same = a[i - 1] == b[j - 1] ? 0 : 1;
			unsigned int least = up < row[j - 1] ? up : row[j - 1];

			row[j] = diagonal + same < least + 1 ? diagonal + same : least + 1;
			diagonal = up;
		}
	}
	return row[n];
}

static void consider(const char *name, const char *candidate, const char **best,
		     unsigned int *least)
{
	unsigned int d = distance(name, candidate);

	if (d >= *least)
		return;
	*least = d;
	*best = candidate;
}

static void say_unknown(const struct counter_gpu *gpu, const char *name, char *error)
{
	unsigned int least = (unsigned int)strlen(name) / 3 + 1;
	const char *best = NULL;

	for (uint32_t i = 0; i < gpu->nr_basics; i++)
		consider(name, gpu->basics[i].name, &best, &least);
	for (uint32_t i = 0; i < gpu->nr_deriveds; i++)
		consider(name, gpu->deriveds[i].name, &best, &least);
	snprintf(error, METRIC_ERROR_SIZE, "%s has no counter '%s'%s%s%s", gpu->name, name,
		 best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

bool metric_find(const struct counter_gpu *gpu, const char *name, struct metric *m, char *error)
{
	struct parts p;

	if (!split(name, &p)) {
		snprintf(error, METRIC_ERROR_SIZE, "'%s' is not NAME or NAME[INSTANCE]", name);
		return false;
	}
	if (*p.rest == ':')
		return find_raw(gpu, name, &p, m, error);
	if (!*p.rest && find_basic(gpu, name, &p, m))
		return check_instance(m->block, name, p.index, error);
	if (!*p.rest && p.index < 0 && (find_derived(gpu, name, m) || find_constant(name, m)))
		return true;
	say_unknown(gpu, name, error);
	return false;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_there(const struct metric_events *e, const struct metric_event *event)
{
	for (uint32_t i = 0; i < e->nr; i++)
		if (e->all[i].block == event->block && e->all[i].instance == event->instance &&
		    e->all[i].event == event->event)
			return true;
	return false;
}

static bool add_event(struct metric_events *e, struct metric_event event)
{
	if (is_there(e, &event))
		return true;
	if (e->nr == e->size) {
		uint32_t size = e->size ? e->size * 2 : 32;
		struct metric_event *more = alloc_resize(e->all, size, sizeof(*more));

		if (!more)
			return false;
		e->all = more;
		e->size = size;
	}
	e->all[e->nr++] = event;
	return true;
}

bool metric_events_add(struct metric_events *to, const struct metric_events *from)
{
	for (uint32_t i = 0; i < from->nr; i++)
		if (!add_event(to, from->all[i]))
			return false;
	return true;
}

void metric_events_free(struct metric_events *e)
{
	alloc_free(e->all);
	*e = (struct metric_events){ 0 };
}

static bool add_basic(const struct metric *m, struct metric_events *to)
{
	uint32_t first = m->instance < 0 ? 0 : (uint32_t)m->instance;
	uint32_t last = m->instance < 0 ? m->block->instances - 1 : first;

	for (uint32_t i = first; i <= last; i++)
		if (!add_event(to, (struct metric_event){ m->block, i, m->event }))
			return false;
	return true;
}

/* What goes on within a metric's expression. */
struct walk {
	const struct counter_gpu *gpu;
	struct metric_events *to;
	const struct metric_values *from;
	unsigned int depth;
	uint32_t nr_parts;
	char *error;
};

/* Users' metrics may double at each level. */
static bool is_too_large(struct walk *w, const char *name)
{
	if (w->nr_parts++ < PARTS_MAX)
		return false;
	snprintf(w->error, METRIC_ERROR_SIZE, "%.100s: the metric has too many parts", name);
	return true;
}

static bool add(struct walk *w, const char *name);

static const char *with_index(char buf[NAME_SIZE + 16], const char *name, int32_t index)
{
	if (index < 0)
		return name;
	snprintf(buf, NAME_SIZE + 16, "%.*s[%d]", (int)NAME_SIZE - 1, name, index);
	return buf;
}

static bool on_name(const char *name, int32_t index, void *arg)
{
	char buf[NAME_SIZE + 16];

	return add(arg, with_index(buf, name, index));
}

/* NULL: it is nested too deeply, or not an expression. */
static struct expression *open_expression(struct walk *w, const struct metric *m)
{
	char why[EXPRESSION_ERROR_SIZE];
	struct expression *e;

	if (w->depth == DEPTH_MAX) {
		snprintf(w->error, METRIC_ERROR_SIZE, "%s: metrics that need each other", m->name);
		return NULL;
	}
	e = expression_parse(m->expression, m->rules, why);
	if (!e)
		snprintf(w->error, METRIC_ERROR_SIZE, "%.40s: %s", m->name, why);
	return e;
}

static bool add_derived(struct walk *w, const struct metric *m)
{
	struct expression *e = open_expression(w, m);
	bool good;

	if (!e)
		return false;
	w->depth++;
	good = expression_names(e, on_name, w);
	w->depth--;
	expression_free(e);
	return good;
}

static bool add(struct walk *w, const char *name)
{
	struct metric m;

	if (is_too_large(w, name) || !metric_find(w->gpu, name, &m, w->error))
		return false;
	if (m.kind == METRIC_DERIVED)
		return add_derived(w, &m);
	if (m.kind == METRIC_CONSTANT || add_basic(&m, w->to))
		return true;
	snprintf(w->error, METRIC_ERROR_SIZE, "%s: no memory", name);
	return false;
}

bool metric_add_events(const struct counter_gpu *gpu, const char *name, struct metric_events *to,
		       char *error)
{
	struct walk w = { .gpu = gpu, .to = to, .error = error };

	return add(&w, name);
}

bool metric_add_any_event(const struct counter_gpu *gpu, struct metric_events *to)
{
	static const char *const common[] = { "SQ_WAVES", "GRBM_COUNT" };
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]) && !to->nr; i++)
		if (metric_find(gpu, common[i], &m, error) && m.kind == METRIC_BASIC)
			(void)add_basic(&m, to);
	return to->nr != 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool value_of(struct walk *w, const char *name, double *value);

static bool on_value(const char *name, int32_t index, void *arg, double *value)
{
	char buf[NAME_SIZE + 16];

	return value_of(arg, with_index(buf, name, index), value);
}

static bool value_of_basic(struct walk *w, const struct metric *m, double *value)
{
	uint32_t first = m->instance < 0 ? 0 : (uint32_t)m->instance;
	uint32_t last = m->instance < 0 ? m->block->instances - 1 : first;

	*value = 0;
	for (uint32_t i = first; i <= last; i++) {
		struct metric_event e = { m->block, i, m->event };
		double one = 0;

		if (!w->from->count(&e, w->from->arg, &one)) {
			snprintf(w->error, METRIC_ERROR_SIZE, "%s was not counted", m->name);
			return false;
		}
		*value += one;
	}
	return true;
}

static bool value_of_derived(struct walk *w, const struct metric *m, double *value)
{
	struct expression *e = open_expression(w, m);
	bool good;

	if (!e)
		return false;
	w->depth++;
	good = expression_value(e, on_value, w, value);
	w->depth--;
	expression_free(e);
	return good;
}

static bool value_of(struct walk *w, const char *name, double *value)
{
	struct metric m;

	if (is_too_large(w, name) || !metric_find(w->gpu, name, &m, w->error))
		return false;
	if (m.kind == METRIC_BASIC)
		return value_of_basic(w, &m, value);
	if (m.kind == METRIC_DERIVED)
		return value_of_derived(w, &m, value);
	if (w->from->constant(m.name, w->from->arg, value))
		return true;
	snprintf(w->error, METRIC_ERROR_SIZE, "%s is not known of this GPU", m.name);
	return false;
}

bool metric_value(const struct counter_gpu *gpu, const char *name, const struct metric_values *from,
		  double *value, char *error)
{
	struct walk w = { .gpu = gpu, .from = from, .error = error };

	return value_of(&w, name, value);
}
