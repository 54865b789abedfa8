/* SPDX-License-Identifier: MIT */
/* critical.c - follows the critical path of a trace
 *
 * Three steps: operations and calls are read into arrays; a sweep over launches, records of events
 * and waits for them, in the order of time, finds what each operation depends on; a walk from the
 * end to the begin chooses what came last at each point.
 */
#include "analysis/critical.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/kinds.h"
#include "query/rows.h"
#include "store/map.h"

#define NONE UINT32_MAX

struct op {
	int64_t start, end, name;
	uint64_t stream, queue, block; /* keys; stream 0: unknown */
	int64_t gpu;
	uint32_t call;	 /* NONE: unknown */
	uint32_t before; /* on the stream; NONE: none, or it is unknown */
	uint32_t queued; /* before it on the queue, which several streams may share */
	uint32_t event;	 /* before the record of an event that it waits for */
	bool copy;
};

enum call_kind {
	CALL_PLAIN,
	CALL_RECORD,
	CALL_WAIT_EVENT,
	CALL_CREATES, /* a stream that does not wait for the null stream */
	CALL_WAITS,
	CALL_WAITS_STREAM,
	CALL_WAITS_EVENT
};

struct call {
	int64_t begin, end, name, pid, tid;
	uint64_t stream,
		/* keys of the arguments, 0: none; of CALL_WAITS_EVENT after sweep_call(): its
		 * operation + 1 */
		event;
	enum call_kind kind;
};

struct act {
	int64_t ns;
	uint32_t index;
	bool is_call; /* a record or a wait; else an operation, at the begin of its call */
};

struct path {
	struct query *q;
	struct op *ops;
	size_t nr_ops, max_ops;
	uint32_t *by_end;   /* operations */
	struct call *calls; /* by process, thread, begin */
	size_t nr_calls, max_calls;
	struct map call_index, parts, kinds, handles;
	sqlite3_stmt *name, *args, *stream;
	struct critical *out;
	size_t max_parts;
	int64_t from; /* the path begins there at the earliest */
};

/* ---- reading ---- */

static uint64_t key_of(uint64_t block, uint64_t handle)
{
	const uint64_t both[2] = { block, handle };
	uint64_t key = map_hash(both, sizeof(both));

	return key ? key : 1;
}

/* The handle behind "stream=" in the arguments of a call, as a key; 0: it has none. */
static uint64_t argument(const char *args, const char *name, uint64_t block)
{
	size_t n = strlen(name);

	for (const char *at = args; (at = strstr(at, name)); at += n)
		if ((at == args || at[-1] == ' ') && strncmp(at + n, "0x", 2) == 0)
			return key_of(block, strtoull(at + n, NULL, 16));
	return 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static enum call_kind kind_of(const char *name)
{
	static const char *const waits[] = { "hipFree",
					     "hipHostFree",
					     "hipFreeHost",
					     "hipFreeArray",
					     "hipModuleUnload",
					     "hipStreamDestroy",
					     "hipMemcpyWithStream",
					     "hipHostUnregister",
					     NULL };

	if (strncmp(name, "hipEventRecord", 14) == 0)
		return CALL_RECORD;
	if (strncmp(name, "hipStreamWaitEvent", 18) == 0)
		return CALL_WAIT_EVENT;
	if (strncmp(name, "hipStreamCreateWith", 19) == 0)
		return CALL_CREATES;
	if (strncmp(name, "hipEventSynchronize", 19) == 0)
		return CALL_WAITS_EVENT;
	if (strncmp(name, "hipStreamSynchronize", 20) == 0)
		return CALL_WAITS_STREAM;
	if (kinds_synchronizes(name) || is_one_of(name, waits))
		return CALL_WAITS;
	if ((strncmp(name, "hipMemcpy", 9) == 0 || strncmp(name, "hipMemset", 9) == 0) &&
	    !strstr(name, "Async"))
		return CALL_WAITS;
	return CALL_PLAIN;
}

static int add_call(void *arg, const struct rows_call *row)
{
	struct path *p = arg;
	struct call *c, *last = p->nr_calls ? &p->calls[p->nr_calls - 1] : NULL;
	uint64_t known, block = (uint64_t)row->id >> 32;

	/* rows of a thread come by their begin, the longest first: inner calls are within the last
	 * outer one */
	if (row->marker || row->end < row->start)
		return 0;
	if (last && last->pid == row->pid && last->tid == row->tid && row->start < last->end)
		return map_put(&p->call_index, (uint64_t)row->id, p->nr_calls - 1);
	c = alloc_grow(p->calls, p->nr_calls, &p->max_calls, 1024, sizeof(*c));
	if (!c)
		return -ENOMEM;
	p->calls = c;
	c += p->nr_calls;
	*c = (struct call){ .begin = row->start,
			    .end = row->end,
			    .name = row->name,
			    .pid = row->pid,
			    .tid = row->tid };
	if (!map_get(&p->kinds, (uint64_t)c->name, &known)) {
		known = (uint64_t)kind_of(query_look_up(p->name, c->name));
		if (map_put(&p->kinds, (uint64_t)c->name, known))
			return -ENOMEM;
	}
	c->kind = (enum call_kind)known;
	if (c->kind != CALL_PLAIN && c->kind != CALL_WAITS) {
		const char *args = query_look_up(p->args, row->args);

		c->event = argument(args, "event=", block);
		c->stream = argument(args, c->kind == CALL_CREATES ? "*stream=" : "stream=", block);
		if (c->kind == CALL_CREATES && !strstr(args, "flags=1"))
			c->kind = CALL_PLAIN;
		/* of hipEventRecord() without one, as of operations */
		if (!c->stream && c->kind != CALL_WAITS_EVENT)
			c->stream = key_of(block, 0);
	}
	return map_put(&p->call_index, (uint64_t)row->id, p->nr_calls++);
}

static int stream_key(struct path *p, const struct rows_op *op, uint64_t *key)
{
	uint64_t number = (uint64_t)rows_stream_key(op);

	*key = 0;
	if (!op->stream || map_get(&p->handles, number, key))
		return 0;
	*key = key_of((uint64_t)op->id >> 32,
		      strtoull(query_look_up(p->stream, (int64_t)number), NULL, 16));
	return map_put(&p->handles, number, *key);
}

static int add_op(void *arg, const struct rows_op *row)
{
	struct path *p = arg;
	uint64_t call = NONE;
	struct op *o;

	if (!rows_timed(row->start, row->end, row->flags) || row->start <= 0)
		return 0;
	o = alloc_grow(p->ops, p->nr_ops, &p->max_ops, 1024, sizeof(*o));
	if (!o)
		return -ENOMEM;
	p->ops = o;
	o += p->nr_ops++;
	*o = (struct op){ .start = row->start,
			  .end = row->end,
			  .name = row->copy ? row->type : row->name,
			  .queue = key_of((uint64_t)row->id >> 32,
					  (uint64_t)row->gpu << 32 ^ (uint64_t)row->queue),
			  .block = (uint64_t)row->id >> 32,
			  .gpu = row->gpu,
			  .call = NONE,
			  .before = NONE,
			  .queued = NONE,
			  .event = NONE,
			  .copy = row->copy != 0 };
	if (row->call && map_get(&p->call_index, (uint64_t)row->call, &call))
		o->call = (uint32_t)call;
	return stream_key(p, row, &o->stream);
}

/* ---- dependencies ---- */

static const struct op *compared; /* of the sorting functions; one thread */

static int compare_starts(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) :
				      (x->end > y->end) - (x->end < y->end);
}

static int compare_ends(const void *a, const void *b)
{
	const struct op *x = &compared[*(const uint32_t *)a], *y = &compared[*(const uint32_t *)b];

	return x->end != y->end ? (x->end < y->end ? -1 : 1) : (x > y) - (x < y);
}

static int compare_acts(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) :
				(x->index > y->index) - (x->index < y->index);
}

static uint32_t later(const struct path *p, uint32_t a, uint32_t b)
{
	return a == NONE ? b : b == NONE || p->ops[a].end >= p->ops[b].end ? a : b;
}

static uint32_t mapped(const struct map *map, uint64_t key)
{
	uint64_t value;

	return map_get(map, key, &value) ? (uint32_t)value : NONE;
}

struct sweep {
	struct path *p;
	struct map last, waits, events; /* operation: last of a stream; to wait for; of an event */
	struct map apart;		/* streams that do not wait for the null stream */
	struct map blocking;		/* by process: the last operation of the others */
	uint64_t call;			/* of the last operation that had to wait, and for what */
	uint32_t waited;
};

/* The null stream waits for the other streams of its GPU, and they for it. */
static int sweep_null_stream(struct sweep *w, uint32_t i)
{
	struct op *o = &w->p->ops[i];
	uint64_t null = key_of(o->block, 0), known;
	uint32_t other;

	if (!o->stream || map_get(&w->apart, o->stream, &known))
		return 0;
	other = mapped(o->stream == null ? &w->blocking : &w->last,
		       o->stream == null ? o->block : null);
	if (other != NONE && w->p->ops[other].gpu == o->gpu)
		o->event = later(w->p, o->event, other);
	return map_put(&w->blocking, o->block, i);
}

static int sweep_op(struct sweep *w, uint32_t i)
{
	struct op *o = &w->p->ops[i];
	uint64_t key = o->stream ? o->stream : o->queue;
	uint32_t wait = mapped(&w->waits, key);

	o->before = mapped(&w->last, key);
	o->queued = mapped(&w->last, o->queue);
	if (wait != NONE) {
		map_del(&w->waits, key);
		w->call = o->call;
		w->waited = wait;
	}
	/* all operations of a call: those of a graph */
	if (w->waited != NONE && o->call != NONE && w->call == o->call)
		o->event = w->waited;
	if (sweep_null_stream(w, i) || map_put(&w->last, key, i))
		return -ENOMEM;
	return map_put(&w->last, o->queue, i);
}

static int sweep_call(struct sweep *w, struct call *c)
{
	uint32_t op;

	if (c->kind == CALL_CREATES)
		return map_put(&w->apart, c->stream, 1);
	if (c->kind == CALL_RECORD)
		return map_put(&w->events, c->event, mapped(&w->last, c->stream));
	op = mapped(&w->events, c->event);
	if (op == NONE)
		return 0;
	if (c->kind == CALL_WAITS_EVENT) {
		c->stream = (uint64_t)op + 1;
		c->event = 0;
		return 0;
	}
	return map_put(&w->waits, c->stream, later(w->p, mapped(&w->waits, c->stream), op));
}

static int find_dependencies(struct path *p)
{
	struct sweep w = { .p = p, .call = NONE, .waited = NONE };
	size_t nr = 0, max = p->nr_ops + p->nr_calls;
	struct act *acts = alloc_heap((max + 1) * sizeof(*acts));
	int ret = acts ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < p->nr_ops; i++) {
		const struct op *o = &p->ops[i];

		acts[nr++] = (struct act){ o->call != NONE ? p->calls[o->call].begin : o->start,
					   (uint32_t)i, false };
	}
	for (size_t i = 0; ret == 0 && i < p->nr_calls; i++) {
		enum call_kind kind = p->calls[i].kind;

		if (kind == CALL_RECORD || kind == CALL_WAIT_EVENT || kind == CALL_CREATES ||
		    kind == CALL_WAITS_EVENT)
			acts[nr++] = (struct act){ p->calls[i].begin, (uint32_t)i, true };
	}
	if (ret == 0)
		qsort(acts, nr, sizeof(*acts), compare_acts);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = acts[i].is_call ? sweep_call(&w, &p->calls[acts[i].index]) :
					sweep_op(&w, acts[i].index);
	alloc_free(acts);
	map_fini(&w.last);
	map_fini(&w.waits);
	map_fini(&w.events);
	map_fini(&w.apart);
	map_fini(&w.blocking);
	return ret;
}

/* ---- the walk ---- */

/* `again`: more of the part that was added before, for a call */
static int add_part(struct path *p, enum critical_kind kind, int64_t name, bool copy, bool again,
		    int64_t begin, int64_t end)
{
	int64_t ns = end - (begin > p->from ? begin : p->from);
	uint64_t key = (uint64_t)kind << 58 ^ (uint64_t)copy << 57 ^
		       ((uint64_t)name & ~UINT64_C(0) >> 8);
	struct critical_part *grown;
	uint64_t at;

	if (end < p->from || (ns <= 0 && kind != CRITICAL_KERNEL && kind != CRITICAL_COPY))
		return 0;
	if (!map_get(&p->parts, key, &at)) {
		grown = alloc_grow(p->out->parts, p->out->nr, &p->max_parts, 64, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->out->parts = grown;
		at = p->out->nr++;
		grown[at] = (struct critical_part){ .kind = kind, .name = name, .copy = copy };
		if (map_put(&p->parts, key, at))
			return -ENOMEM;
	}
	p->out->parts[at].ns += (uint64_t)(ns > 0 ? ns : 0);
	p->out->parts[at].count += !again || !p->out->parts[at].count;
	return 0;
}

/* The last call of the thread that began before `ns`; NONE: the thread has none. */
static uint32_t call_before(const struct path *p, int64_t pid, int64_t tid, int64_t ns)
{
	size_t low = 0, high = p->nr_calls;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct call *c = &p->calls[mid];
		bool before = c->pid != pid ? c->pid < pid :
			      c->tid != tid ? c->tid < tid :
					      c->begin < ns;

		if (before)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || p->calls[low - 1].pid != pid || p->calls[low - 1].tid != tid)
		return NONE;
	return (uint32_t)low - 1;
}

/* The operation whose end let a waiting call return; NONE: it did not wait for one. */
static uint32_t released_by(const struct path *p, const struct call *c, int64_t until,
			    int64_t below)
{
	size_t low = 0, high = p->nr_ops;

	if (c->kind == CALL_WAITS_EVENT) {
		uint32_t op = c->event || !c->stream ? NONE : (uint32_t)(c->stream - 1);

		return op != NONE && p->ops[op].end > c->begin && p->ops[op].end <= until &&
				       p->ops[op].end < below ?
			       op :
			       NONE;
	}
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (p->ops[p->by_end[mid]].end <= until)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low && p->ops[p->by_end[low - 1]].end > c->begin; low--) {
		const struct op *o = &p->ops[p->by_end[low - 1]];
		const struct call *launch = o->call == NONE ? NULL : &p->calls[o->call];

		if (o->end >= below ||
		    (launch && (launch->pid != c->pid || launch->begin > c->begin)))
			continue;
		/* a call that is not for waiting may wait for what it launched itself: copies of
		 * pageable memory */
		if (c->kind < CALL_WAITS && launch != c)
			continue;
		if (c->kind == CALL_WAITS_STREAM && o->stream && o->stream != c->stream)
			continue;
		return p->by_end[low - 1];
	}
	return NONE;
}

/* What an operation waited for last: an operation that had ended when it began, and after it was
 * launched; NONE: its launch. */
static uint32_t waited_for(const struct path *p, const struct op *o)
{
	int64_t launched = o->call == NONE ? INT64_MIN : p->calls[o->call].begin;
	uint32_t best = NONE, all[] = { o->before, o->queued, o->event };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] != NONE && p->ops[all[i]].end <= o->start &&
		    p->ops[all[i]].end > launched)
			best = later(p, best, all[i]);
	return best;
}

struct walk {
	int64_t now, pid, tid;
	/* operations that let a call return end before: those of no length are there once */
	int64_t below;
	uint32_t op; /* NONE: on the host */
	uint32_t
		/* the last one on the path: one that waits for its own operation is there twice */
		call;
	bool done;
};

static int walk_op(struct path *p, struct walk *w)
{
	const struct op *o = &p->ops[w->op];
	uint32_t before = waited_for(p, o);
	int64_t until = o->end < w->now ? o->end : w->now;
	int ret = add_part(p, o->copy ? CRITICAL_COPY : CRITICAL_KERNEL, o->name, false, false,
			   o->start, until);

	p->out->operations++;
	w->below = o->end;
	w->now = o->start;
	if (ret)
		return ret;
	if (before != NONE) {
		ret = add_part(p, CRITICAL_WAIT, o->name, o->copy, false, p->ops[before].end,
			       o->start);
		w->now = p->ops[before].end;
		w->op = before;
		return ret;
	}
	w->op = NONE;
	if (o->call == NONE) {
		w->done = true;
		return 0;
	}
	w->pid = p->calls[o->call].pid;
	w->tid = p->calls[o->call].tid;
	if (p->calls[o->call].end < w->now) {
		ret = add_part(p, CRITICAL_LAUNCH, o->name, o->copy, false, p->calls[o->call].end,
			       w->now);
		w->now = p->calls[o->call].end;
	}
	return ret;
}

static int walk_host(struct path *p, struct walk *w)
{
	uint32_t i = call_before(p, w->pid, w->tid, w->now), op;
	const struct call *c;
	int ret = 0;

	if (i == NONE && w->tid != w->pid) {
		/* a thread begins: the main thread made it */
		w->tid = w->pid;
		i = call_before(p, w->pid, w->tid, w->now);
	}
	if (i == NONE) {
		w->done = true;
		return 0;
	}
	c = &p->calls[i];
	if (c->end < w->now) {
		ret = add_part(p, CRITICAL_HOST, 0, false, false, c->end, w->now);
		w->now = c->end;
	}
	op = released_by(p, c, w->now, w->below);
	if (ret == 0)
		ret = add_part(p, CRITICAL_CALL, c->name, false, w->call == i,
			       op == NONE ? c->begin : p->ops[op].end, w->now);
	w->call = i;
	w->now = op == NONE ? c->begin : p->ops[op].end;
	w->op = op;
	return ret;
}

/* The end of the path: of the last operation or call. */
static void find_end(const struct path *p, struct walk *w)
{
	const struct call *last = NULL;

	for (size_t i = 0; i < p->nr_calls; i++)
		if (!last || p->calls[i].end > last->end)
			last = &p->calls[i];
	w->op = p->nr_ops ? p->by_end[p->nr_ops - 1] : NONE;
	if (last && (w->op == NONE || last->end >= p->ops[w->op].end))
		w->op = NONE;
	w->now = w->op == NONE ? last->end : p->ops[w->op].end;
	if (w->op == NONE) {
		w->pid = last->pid;
		w->tid = last->tid;
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct critical_part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) :
				    (x->name > y->name) - (x->name < y->name);
}

static int walk_path(struct path *p)
{
	struct walk w = { .op = NONE, .call = NONE, .below = INT64_MAX };
	int ret = 0;

	find_end(p, &w);
	p->out->end = w.now;
	/* times only fall; operations without length may stay at one time, but each is there
	 * once */
	for (uint64_t steps = 0;
	     ret == 0 && !w.done && w.now > p->from && steps <= 2 * (p->nr_ops + p->nr_calls) + 2;
	     steps++)
		ret = w.op != NONE ? walk_op(p, &w) : walk_host(p, &w);
	p->out->begin = w.now > p->from ? w.now : p->from;
	p->out->end = p->out->end > p->out->begin ? p->out->end : p->out->begin;
	p->out->pid = w.pid;
	if (p->out->nr)
		qsort(p->out->parts, p->out->nr, sizeof(*p->out->parts), compare_parts);
	return ret;
}

/* ---- all of it ---- */

static int read_path(struct path *p)
{
	struct query *q = p->q;
	const struct query_sql all[] = {
		{ &p->name, QUERY_STRING },
		{ &p->args, query_args_sql(q) },
		{ &p->stream, ROWS_STREAM_NAME },
	};
	int ret = query_prepare_all(q, all, sizeof(all) / sizeof(all[0]));

	if (ret == 0)
		ret = rows_calls(q, add_call, p);
	if (ret == 0)
		ret = rows_by_time(q, add_op, p);
	if (ret || p->nr_ops + p->nr_calls == 0)
		return ret;
	if (p->nr_ops >= NONE || p->nr_calls >= NONE)
		return query_fail(q, -EFBIG, "%s: has too many operations for a critical path",
				  q->path);
	/* calls refer to operations by their position from here on */
	if (p->nr_ops)
		qsort(p->ops, p->nr_ops, sizeof(*p->ops), compare_starts);
	p->by_end = alloc_heap((p->nr_ops + 1) * sizeof(*p->by_end));
	if (!p->by_end)
		return query_fail_memory(q);
	for (size_t i = 0; i < p->nr_ops; i++)
		p->by_end[i] = (uint32_t)i;
	compared = p->ops;
	if (p->nr_ops)
		qsort(p->by_end, p->nr_ops, sizeof(*p->by_end), compare_ends);
	ret = find_dependencies(p);
	if (ret == 0)
		ret = walk_path(p);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}

int critical_read(struct query *q, int64_t from, struct critical *c)
{
	struct path p = { .q = q, .out = c, .from = from };
	int ret;

	*c = (struct critical){ 0 };
	ret = read_path(&p);
	sqlite3_finalize(p.name);
	sqlite3_finalize(p.args);
	sqlite3_finalize(p.stream);
	map_fini(&p.call_index);
	map_fini(&p.parts);
	map_fini(&p.kinds);
	map_fini(&p.handles);
	alloc_free(p.ops);
	alloc_free(p.by_end);
	alloc_free(p.calls);
	return ret;
}

void critical_fini(struct critical *c)
{
	alloc_free(c->parts);
	*c = (struct critical){ 0 };
}
