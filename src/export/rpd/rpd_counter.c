/* SPDX-License-Identifier: MIT */
/* rpd_counter.c - hardware counters of dispatches as rows
 *
 * The records have the values of events; the user named counters and metrics (INFO "counters"),
 * which are computed here from those of one dispatch. Metrics of the user's own are defined by INFO
 * "counter_metrics". A record may come before its dispatch, and in another part: the rows wait in
 * rtl_counted, by queue and packet, until all dispatches have theirs.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/gpus.h"
#include "counter/metric.h"
#include "counter/metrics_xml.h"

#define MAX_NAMES 256u
#define NAME_SIZE 128u
/* At a time. Some never become complete: a chunk was lost. */
#define MAX_PARTS 64u

struct counted_event {
	uint32_t block, instance, event, samples;
	uint32_t first; /* index of its first value */
};

struct counted_name {
	char name[NAME_SIZE];
	int64_t id; /* of its string; 0: none yet */
	/* the last dispatch that has it: passes may have counters in common */
	uint64_t packet;
	uint32_t queue;
	bool is_had;
};

/* A dispatch whose values are in several records, of which not all were read yet. Chunks are not
 * read in the order of time, and a packet that is replayed has such records of each pass. */
struct counted_part {
	uint32_t queue, nr;
	uint64_t packet;
	const char *events; /* of the pass: the index's string */
	uint64_t *values;
};

struct rpd_counters {
	sqlite3_stmt *add;
	struct counted_name names[MAX_NAMES];
	size_t nr_names;
	struct metrics_file *metrics; /* the user's; NULL: none */
	/* the events of the last record */
	char *events_text;
	struct counted_event *events;
	size_t nr_events, cap_events;
	/* the values of the present dispatch */
	uint64_t *values;
	uint32_t total;
	struct counted_part parts[MAX_PARTS];
	uint32_t next_part;
	const struct store_agent *agent;
	const struct counter_gpu *gpu;
	uint32_t shader_engines, xccs;
};

/* Takes the next name of "SQ_WAVES,FETCH_SIZE". False: there is none. */
static bool next_name(const char **at, char name[NAME_SIZE])
{
	size_t size = strcspn(*at, ",");

	if (!size)
		return false;
	snprintf(name, NAME_SIZE, "%.*s", (int)size, *at);
	*at += size + ((*at)[size] == ',');
	return true;
}

static void read_names(struct rpd_counters *c, const struct index *index)
{
	size_t nr;
	const struct store_info *infos = index_infos(index, &nr);

	c->nr_names = 0;
	for (size_t i = 0; i < nr; i++) {
		const char *at = infos[i].value;

		if (strcmp(infos[i].key, "counters") != 0)
			continue;
		while (c->nr_names < MAX_NAMES && next_name(&at, c->names[c->nr_names].name))
			c->nr_names++;
	}
}

/* The user's metrics. What can't be understood is warned of once; their values are missing then. */
static void read_metrics(struct rpd_process *p)
{
	char error[METRICS_FILE_ERROR_SIZE];
	size_t nr;
	const struct store_info *infos = index_infos(p->index, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(infos[i].key, "counter_metrics") != 0 || p->counters->metrics)
			continue;
		p->counters->metrics = metrics_xml_parse("counter_metrics", infos[i].value,
							 strlen(infos[i].value),
							 EXPRESSION_ORDINARY, error);
		if (!p->counters->metrics)
			rpd_warn(p->r, "%s: the user's metrics can't be read: %s", p->path, error);
	}
}

static struct rpd_counters *get_counters(struct rpd_process *p)
{
	if (p->counters)
		return p->counters;
	p->counters = alloc_zero(1, sizeof(*p->counters));
	if (!p->counters || rpd_db_prepare(p->r, &p->counters->add,
					   "INSERT INTO rtl_counted VALUES (?, ?, ?, ?, ?, ?)") < 0)
		return NULL;
	read_names(p->counters, p->index);
	read_metrics(p);
	return p->counters;
}

void rpd_counter_free(struct rpd_process *p)
{
	struct rpd_counters *c = p->counters;

	if (!c)
		return;
	sqlite3_finalize(c->add);
	metrics_file_close(c->metrics);
	alloc_free(c->events_text);
	alloc_free(c->events);
	alloc_free(c->values);
	for (uint32_t i = 0; i < MAX_PARTS; i++)
		alloc_free(c->parts[i].values);
	alloc_free(c);
	p->counters = NULL;
}

/* Reads BLOCK.INSTANCE.EVENTxSAMPLES,... False: it is not that, or no memory. */
static bool read_events(struct rpd_counters *c, const char *text)
{
	const char *at = text;

	if (c->events_text && strcmp(c->events_text, text) == 0)
		return true;
	alloc_free(c->events_text);
	c->events_text = NULL;
	c->nr_events = 0;
	c->total = 0;
	while (*at) {
		struct counted_event e;
		struct counted_event *all;
		int n = 0;

		if (sscanf(at, "%u.%u.%ux%u%n", &e.block, &e.instance, &e.event, &e.samples, &n) !=
			    4 ||
		    e.samples > 4096 || c->nr_events == 65536)
			return false;
		all = alloc_grow(c->events, c->nr_events, &c->cap_events, 64, sizeof(*all));
		if (!all)
			return false;
		c->events = all;
		e.first = c->total;
		c->total += e.samples;
		all[c->nr_events++] = e;
		at += n + (at[n] == ',');
	}
	c->values = alloc_resize(c->values, c->total + 1, sizeof(*c->values));
	c->events_text = c->values ? alloc_string(text) : NULL;
	return c->events_text != NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct counted_event *find_event(const struct rpd_counters *c,
					      const struct metric_event *wanted)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (c->events[i].block == wanted->block->id &&
		    c->events[i].instance == wanted->instance &&
		    c->events[i].event == wanted->event)
			return &c->events[i];
	return NULL;
}

static bool count_of(const struct metric_event *wanted, void *arg, double *value)
{
	const struct rpd_counters *c = arg;
	const struct counted_event *e = find_event(c, wanted);

	*value = 0;
	for (uint32_t i = 0; e && i < e->samples; i++)
		*value += (double)c->values[e->first + i];
	return e != NULL;
}

static bool constant_of(const char *name, void *arg, double *value)
{
	const struct rpd_counters *c = arg;
	const struct {
		const char *name;
		uint32_t value;
	} all[] = {
		{ "CU_NUM", c->agent->nr_cu },
		{ "SIMD_NUM", c->agent->nr_cu * c->agent->simd_per_cu },
		{ "SE_NUM", c->shader_engines },
		{ "XCC_NUM", c->xccs },
		{ "MAX_WAVE_SIZE", c->agent->wave_size },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(name, all[i].name) != 0)
			continue;
		*value = all[i].value;
		return true;
	}
	return false;
}

static int add_row(struct rpd_process *p, const struct store_counters *at, int64_t name,
		   int64_t instance, int64_t sample, double value)
{
	sqlite3_stmt *add = p->counters->add;

	sqlite3_bind_int64(add, 1, p->base + (int64_t)at->queue + 1);
	sqlite3_bind_int64(add, 2, (int64_t)at->packet);
	sqlite3_bind_int64(add, 3, name);
	sqlite3_bind_int64(add, 4, instance);
	sqlite3_bind_int64(add, 5, sample);
	sqlite3_bind_double(add, 6, value);
	return rpd_db_step(p->r, add);
}

/* A row for each sample of a counter. */
static int add_samples(struct rpd_process *p, const struct store_counters *at,
		       const struct metric *m, int64_t name)
{
	struct rpd_counters *c = p->counters;
	int ret = 0;

	for (size_t i = 0; i < c->nr_events && ret == 0; i++) {
		const struct counted_event *e = &c->events[i];

		if (e->block != m->block->id || e->event != m->event ||
		    (m->instance >= 0 && e->instance != (uint32_t)m->instance))
			continue;
		for (uint32_t s = 0; s < e->samples && ret == 0; s++)
			ret = add_row(p, at, name, e->instance, s, (double)c->values[e->first + s]);
	}
	return ret;
}

/* The string of a name, and what it is. */
static int add_name(struct rpd_process *p, struct counted_name *n, const struct metric *m)
{
	int ret = rpd_spool_string(p, n->name, &n->id);

	return ret ? ret :
		     rpd_db_execf(
			     p->r,
			     "INSERT OR IGNORE INTO rtl_counter_name VALUES (%lld, %Q, %Q, %Q)",
			     (long long)n->id, m->unit, m->description,
			     m->expression ? m->expression : "");
}

/* The value of a metric whose events were counted in this pass, and those of its samples. */
static int add_metric(struct rpd_process *p, const struct store_counters *at,
		      struct counted_name *n)
{
	struct rpd_counters *c = p->counters;
	const struct metric_values from = { count_of, constant_of, c };
	char error[METRIC_ERROR_SIZE];
	struct metric m;
	double value;
	int ret = 0;

	if (n->is_had && n->packet == at->packet && n->queue == at->queue)
		return 0; /* an earlier pass has it */
	if (!metric_find(c->gpu, n->name, &m, error) ||
	    !metric_value(c->gpu, n->name, &from, &value, error))
		return 0; /* it is counted in another pass */
	n->is_had = true;
	n->packet = at->packet;
	n->queue = at->queue;
	if (!n->id)
		ret = add_name(p, n, &m);
	if (ret == 0)
		ret = add_row(p, at, n->id, -1, -1, value);
	return ret == 0 && m.kind == METRIC_BASIC ? add_samples(p, at, &m, n->id) : ret;
}

static int add_dispatch(struct rpd_process *p, const struct store_counters *at)
{
	struct rpd_counters *c = p->counters;
	int ret = 0;

	c->shader_engines = at->shader_engines;
	c->xccs = at->xccs;
	for (size_t i = 0; i < c->nr_names && ret == 0; i++)
		ret = add_metric(p, at, &c->names[i]);
	return ret;
}

/* What an agent can count. */
static const struct counter_gpu *gpu_of(struct rpd_counters *c, const char *agent)
{
	char error[METRICS_FILE_ERROR_SIZE];
	const struct counter_gpu *gpu = NULL;

	if (c->metrics)
		gpu = metrics_file_gpu(c->metrics, agent, METRICS_FILE_EXTENDS, error);
	return gpu ? gpu : gpus_find(agent);
}

/* The GPU of a queue. */
static bool find_gpu(struct rpd_process *p, uint32_t queue)
{
	struct rpd_counters *c = p->counters;
	size_t nr_queues, nr_agents;
	const struct store_queue *queues = index_queues(p->index, &nr_queues);
	const struct store_agent *agents = index_agents(p->index, &nr_agents);

	for (size_t q = 0; q < nr_queues; q++)
		for (size_t a = 0; queues[q].id == queue && a < nr_agents; a++) {
			if (agents[a].id != queues[q].agent)
				continue;
			c->agent = &agents[a];
			c->gpu = gpu_of(c, agents[a].name);
			return c->gpu != NULL;
		}
	return false;
}

/* The part of the dispatch; a new one replaces the oldest. NULL: no memory. */
static struct counted_part *find_part(struct rpd_counters *c, const struct store_counters *at)
{
	struct counted_part *part;
	uint64_t *values;

	for (part = c->parts; part < c->parts + MAX_PARTS; part++)
		if (part->nr && part->queue == at->queue && part->packet == at->packet &&
		    part->events == at->events)
			return part;
	part = &c->parts[c->next_part++ % MAX_PARTS];
	values = alloc_resize(part->values, c->total + 1, sizeof(*values));
	if (!values)
		return NULL;
	*part = (struct counted_part){
		.queue = at->queue,
		.packet = at->packet,
		.events = at->events,
		.values = values,
	};
	return part;
}

static int add_part(struct rpd_process *p, const struct store_counters *at)
{
	struct rpd_counters *c = p->counters;
	struct counted_part *part = find_part(c, at);

	if (!part)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	memcpy(part->values + at->first, at->values, at->nr * sizeof(*part->values));
	part->nr += at->nr;
	if (part->nr < c->total)
		return 0;
	part->nr = 0;
	memcpy(c->values, part->values, c->total * sizeof(*c->values));
	return add_dispatch(p, at);
}

int rpd_counter_add(void *arg, const struct store_counters *at)
{
	struct rpd_process *p = arg;
	struct rpd_counters *c = get_counters(p);

	if (!c)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	if (!find_gpu(p, at->queue) || !read_events(c, at->events)) {
		rpd_warn(p->r, "%s: counters of queue %u can't be read; they are left out", p->path,
			 at->queue);
		return 0;
	}
	if (at->first > c->total || at->nr > c->total - at->first)
		return 0;
	if (at->nr < c->total)
		return add_part(p, at);
	memcpy(c->values, at->values, at->nr * sizeof(*c->values));
	return add_dispatch(p, at);
}

int rpd_counter_create(struct rpd *r)
{
	return rpd_db_execf(
		r,
		"CREATE %sTABLE rtl_counted (queue_id INTEGER, packet INTEGER, name_id INTEGER, "
		"instance INTEGER, sample INTEGER, value REAL)",
		r->keeps_state ? "" : "TEMP ");
}

static int add_loss(struct rpd *r, const struct rpd_process *p, int64_t nr, const char *text)
{
	const char *reason = load_reason_name(SPOOL_REASON_not_counted);
	int64_t last = p->base + p->blocks * RPD_BLOCK - 1;

	if (!nr)
		return 0;
	verdict_add(&r->verdict, (uint32_t)p->pid, reason, LOAD_LOSS, (uint64_t)nr, 0, 0, text);
	return rpd_db_execf(
		r,
		"INSERT INTO rtl_loss_data SELECT (SELECT coalesce(max(id), %lld) + 1 FROM "
		"rtl_loss_data WHERE id BETWEEN %lld AND %lld), %lld, %Q, %Q, %Q, %lld, 0, 0",
		(long long)p->base, (long long)p->base, (long long)last, (long long)p->base + 1,
		reason, load_class_name(LOAD_LOSS), text, (long long)nr);
}

/* Counters whose dispatch is not in the file: it is at the end of the one before (--split), or was
 * lost itself. */
static int report_unmatched(struct rpd *r, const struct rpd_process *p)
{
	int64_t last = p->base + p->blocks * RPD_BLOCK - 1;
	int64_t nr =
		rpd_db_int(r, 0,
			   "SELECT count(*) FROM (SELECT queue_id, packet FROM rtl_counted WHERE "
			   "queue_id BETWEEN %lld AND %lld EXCEPT SELECT queue_id, packet FROM "
			   "rtl_counted_op)",
			   (long long)p->base, (long long)last);

	return add_loss(r, p, nr, load_reason_text(SPOOL_REASON_not_counted));
}

/* The names that the user gave, from the database: the spool may be gone. NULL: none. */
static char *read_asked(struct rpd *r, const struct rpd_process *p)
{
	sqlite3_stmt *stmt = NULL;
	char *asked = NULL;

	if (rpd_db_prepare(
		    r, &stmt,
		    "SELECT value FROM rtl_info WHERE process_id = ?1 AND key = 'counters'") < 0)
		return NULL;
	sqlite3_bind_int64(stmt, 1, p->base + 1);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
		asked = alloc_string((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return asked;
}

/* Kernels that were counted, but never for one of the names: they were launched less often than
 * there are passes, can't be replayed, or the events of a pass could not be counted. A loss for
 * each kernel and name; the warning has the names. */
static int report_missing(struct rpd *r, const struct rpd_process *p)
{
	long long last = p->base + p->blocks * RPD_BLOCK - 1, base = p->base;
	char name[NAME_SIZE], *missing = NULL, *asked = read_asked(r, p);
	const char *at = asked ? asked : "";
	int64_t nr_kernels, nr = 0;
	size_t nr_names = 0, nr_missing = 0;
	int ret;

	nr_kernels = rpd_db_int(r, 0,
				"SELECT count(DISTINCT kernel_id) FROM rtl_counted_kernel WHERE "
				"kernel_id BETWEEN %lld AND %lld",
				base, last);
	while (nr_kernels && next_name(&at, name)) {
		int64_t without = nr_kernels -
				  rpd_db_int(r, 0,
					     "SELECT count(DISTINCT K.kernel_id) FROM "
					     "rtl_counted_kernel K JOIN rocpd_string W ON W.id = "
					     "K.name_id WHERE W.string = %Q AND K.kernel_id "
					     "BETWEEN %lld AND %lld",
					     name, base, last);
		char *more;

		nr_names++;
		if (without <= 0)
			continue;
		nr += without;
		more = sqlite3_mprintf("%s%s%s", missing ? missing : "", missing ? ", " : "", name);
		sqlite3_free(missing);
		missing = more;
		nr_missing++;
	}
	if (nr)
		rpd_warn(
			r,
			"%s: %zu of %zu counters are missing for kernels that were counted in fewer "
			"passes than there are (rtl trace --passes has other ways): %s",
			p->path, nr_missing, nr_names, missing ? missing : "");
	ret = add_loss(
		r, p, nr,
		"counters missing for a kernel: it was counted in fewer passes than there are "
		"(--passes has other ways)");
	sqlite3_free(missing);
	alloc_free(asked);
	return ret;
}

static int give_counters(struct rpd *r)
{
	static const char *const statements[] = {
		"CREATE INDEX %srtl_counted_packet ON rtl_counted (queue_id, packet)",
		"CREATE TEMP TABLE rtl_counted_op AS SELECT K.op_id, C.* FROM rtl_op_kernel K "
		"CROSS JOIN rtl_shape S ON S.id = K.shape_id CROSS JOIN rocpd_op O ON O.id = "
		"K.op_id CROSS JOIN rtl_counted C ON C.queue_id = S.queue_id AND C.packet = "
		"O.sequenceId",
		"INSERT INTO rocpd_counter (value, op_id, name_id) SELECT value, op_id, name_id "
		"FROM rtl_counted_op WHERE instance < 0",
		"INSERT INTO rtl_op_counter (op_id, name_id, instance, sample, value) SELECT op_id, "
		"name_id, instance, sample, value FROM rtl_counted_op WHERE instance >= 0",
		"CREATE INDEX rtl_counter_op ON rocpd_counter (op_id)",
		"CREATE TEMP TABLE rtl_counted_kernel AS SELECT DISTINCT S.kernel_id, C.name_id FROM "
		"rtl_counted_op C JOIN rtl_op_kernel K ON K.op_id = C.op_id JOIN rtl_shape S ON S.id = "
		"K.shape_id WHERE C.instance < 0",
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && ret == 0; i++)
		ret = rpd_db_execf(r, statements[i], r->keeps_state ? "" : "temp.");
	for (size_t i = 0; i < r->nr_processes && ret == 0; i++) {
		ret = report_unmatched(r, r->processes[i]);
		if (ret == 0)
			ret = report_missing(r, r->processes[i]);
	}
	return ret == 0 ?
		       rpd_db_exec(r, "DROP TABLE rtl_counted_op; DROP TABLE rtl_counted_kernel") :
		       ret;
}

int rpd_counter_finish(struct rpd *r)
{
	int ret = 0;

	if (rpd_db_int(r, 0, "SELECT 1 FROM rtl_counted LIMIT 1"))
		ret = give_counters(r);
	return ret == 0 ? rpd_db_exec(r, "DROP TABLE rtl_counted") : ret;
}
