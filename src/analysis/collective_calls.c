/* SPDX-License-Identifier: MIT */
/* collective_calls.c - reads the calls of RCCL, and finds that of a kernel */
#include "analysis/collective_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/row.h"
#include "query/sorter.h"
#include "query/spill.h"
#include "store/map.h"

enum { SORTED_ROWS = 32 << 10, ITEMS_BYTES = 1 << 20, WINDOW_ITEMS = 256 };

struct function {
	const char *name;
	const char *count; /* the argument with the number of elements; NULL: they are in arrays */
	bool is_of_each;   /* the count is that of one party's share of the data */
	bool is_point_to_point;
	char bus; /* 'r': 2 (n - 1) / n; 'g': (n - 1) / n; '1' */
};

static const struct function functions[] = {
	{ "ncclAllReduce", "count=", false, false, 'r' },
	{ "ncclAllReduceWithBias", "count=", false, false, 'r' },
	{ "ncclAllGather", "sendcount=", true, false, 'g' },
	{ "ncclReduceScatter", "recvcount=", true, false, 'g' },
	{ "ncclAllToAll", "count=", true, false, 'g' },
	{ "ncclAllToAllv", NULL, false, false, 'g' },
	{ "ncclBroadcast", "count=", false, false, '1' },
	{ "ncclBcast", "count=", false, false, '1' },
	{ "ncclReduce", "count=", false, false, '1' },
	{ "ncclGather", "sendcount=", true, false, 'g' },
	{ "ncclScatter", "recvcount=", true, false, 'g' },
	{ "ncclSend", "count=", false, true, '1' },
	{ "ncclRecv", "count=", false, true, '1' },
};
enum { NR_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* By the number of ncclDataType_t. */
static const unsigned char sizes_of[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

/* Beside the functions, in the rows of calls. */
enum { GROUP_START = -1, GROUP_END = -2 };

/* A collective, with the call that launched it: its own, or the ncclGroupEnd behind it. */
struct item {
	int64_t begin, end;
	uint64_t comm, stream, bytes;
	int64_t function;
};

/* The items of a thread, by time, and where the last look-up was. */
struct thread {
	int64_t pid, tid, depth;
	uint64_t first, nr, at;
	struct spill_window window;
};

/* A communicator is made. */
struct made {
	int64_t pid, begin;
	uint64_t comm, parent; /* handles in the process; parent 0: of an id */
	uint64_t
		/* the same on all its ranks; of a split, until it is resolved, its colour; 0: not
		 * known */
		id;
	size_t before; /* of the same handle, SIZE_MAX: none */
};

struct collective_calls {
	struct query *q;
	bool has_calls;
	sqlite3_stmt *name, *stream;
	struct map functions; /* ids of names: 1 + number of the function, or what it is instead */
	struct map graphs;    /* ids of names: whether such a call launches a graph */
	struct sorter *sorter;
	struct spill items;
	struct item *open; /* of the outermost group that has not ended */
	size_t nr_open, max_open;
	struct thread *threads;
	size_t nr_threads, max_threads;
	struct map thread_index;
	struct made *made;
	size_t nr_made, max_made;
	struct map made_index; /* of (pid, handle): the last one */
	struct map sizes;      /* of communicators */
	bool has_unknown;      /* a communicator whose size no call says */
	/* of each party: the last flush, and its kernels so far */
	struct seen {
		int64_t begin, tid;
		size_t nr;
	} * seen;
	size_t nr_seen, max_seen;
};

/* ---- reading ---- */

struct call {
	int64_t pid, tid, begin, end, function, comm, stream, bytes;
};
ROW_CHECK(struct call, 8, bytes);

enum { OTHER = 100, ENTRY_START, ENTRY_END, ENTRY_RANK, ENTRY_ALL, ENTRY_SPLIT };

uint64_t collective_calls_argument(const char *args, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = args; (at = strstr(at, key)) != NULL; at += n)
		if (at == args || at[-1] == ' ')
			return strtoull(at + n, NULL, 0);
	return 0;
}

static int function_of(const char *name)
{
	for (int i = 0; i < NR_FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0)
			return i;
	return -1;
}

/* A function's number, or one of the enum above. */
static int entry_of_name(const char *name)
{
	int function = function_of(name);

	if (function >= 0)
		return function;
	if (strcmp(name, "ncclGroupStart") == 0)
		return ENTRY_START;
	if (strcmp(name, "ncclGroupEnd") == 0)
		return ENTRY_END;
	if (strncmp(name, "ncclCommInitRank", 16) == 0)
		return ENTRY_RANK;
	if (strcmp(name, "ncclCommInitAll") == 0)
		return ENTRY_ALL;
	return strcmp(name, "ncclCommSplit") == 0 || strcmp(name, "ncclCommShrink") == 0 ?
		       ENTRY_SPLIT :
		       OTHER;
}

static int entry_of(struct collective_calls *c, int64_t name, int *entry)
{
	uint64_t known;

	if (!map_get(&c->functions, (uint64_t)name, &known)) {
		known = (uint64_t)entry_of_name(query_look_up(c->name, name));
		if (map_put(&c->functions, (uint64_t)name, known))
			return query_fail_memory(c->q);
	}
	*entry = (int)known;
	return 0;
}

static uint64_t bytes_of(const struct function *f, const char *args)
{
	uint64_t type = collective_calls_argument(args, "datatype=");

	return f->count && type < sizeof(sizes_of) ?
		       collective_calls_argument(args, f->count) * sizes_of[type] :
		       0;
}

/* A call that makes a communicator. Recordings of earlier versions have no handle. */
static int note_made(struct collective_calls *c, int entry, int64_t pid, int64_t begin,
		     const char *args)
{
	uint64_t size = collective_calls_argument(args, entry == ENTRY_ALL ? "ndev=" : "nranks=");
	uint64_t handle = collective_calls_argument(args, "handle="),
		 id = collective_calls_argument(args, "commId=");
	struct made *made;

	c->has_unknown |= entry == ENTRY_SPLIT;
	if (entry != ENTRY_SPLIT && size && map_put(&c->sizes, size, 1))
		return query_fail_memory(c->q);
	/* a split has to be counted where this rank is in none of its parts, too */
	if (entry == ENTRY_ALL || (!handle && (entry != ENTRY_SPLIT || !strstr(args, "handle="))))
		return 0;
	made = alloc_grow(c->made, c->nr_made, &c->max_made, 8, sizeof(*made));
	if (!made)
		return query_fail_memory(c->q);
	c->made = made;
	made[c->nr_made++] = (struct made){
		.pid = pid,
		.begin = begin,
		.comm = handle,
		.parent = entry == ENTRY_SPLIT ? collective_calls_argument(args, "comm=") : 0,
		.id = entry == ENTRY_SPLIT ? collective_calls_argument(args, "color=") : id,
		.before = SIZE_MAX,
	};
	return 0;
}

static int take_row(void *arg, sqlite3_value **v)
{
	struct collective_calls *c = arg;
	const char *args = (const char *)sqlite3_value_text(v[5]);
	struct call call = { 0 };
	int entry = OTHER, ret = entry_of(c, sqlite3_value_int64(v[4]), &entry);

	row_take(&call, v, ROW_BEFORE(struct call, function));
	args = args ? args : "";
	c->has_calls = true;
	if (ret || entry == OTHER)
		return ret;
	if (entry >= ENTRY_RANK)
		return note_made(c, entry, call.pid, call.begin, args);
	call.function = entry == ENTRY_START ? GROUP_START : entry == ENTRY_END ? GROUP_END : entry;
	if (entry < NR_FUNCTIONS) {
		call.comm = (int64_t)collective_calls_argument(args, "comm=");
		call.stream = (int64_t)collective_calls_argument(args, "stream=");
		call.bytes = (int64_t)bytes_of(&functions[entry], args);
	}
	ret = sorter_add(c->sorter, &call);
	return ret ? query_fail(c->q, ret, "calls of RCCL: %s", strerror(-ret)) : 0;
}

static int compare_calls(const void *x, const void *y)
{
	const struct call *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* ---- by thread ---- */

static uint64_t hash_of(int64_t a, uint64_t b)
{
	const uint64_t both[2] = { (uint64_t)a, b };

	return map_hash(both, sizeof(both));
}

static struct thread *thread_of(struct collective_calls *c, int64_t pid, int64_t tid)
{
	uint64_t hash = hash_of(pid, (uint64_t)tid), at;

	for (; map_get(&c->thread_index, hash, &at); hash++)
		if (c->threads[at].pid == pid && c->threads[at].tid == tid)
			return &c->threads[at];
	return NULL;
}

static int add_thread(struct collective_calls *c, int64_t pid, int64_t tid)
{
	struct thread *threads =
		alloc_grow(c->threads, c->nr_threads, &c->max_threads, 8, sizeof(*threads));
	uint64_t hash = hash_of(pid, (uint64_t)tid), at;

	if (!threads)
		return query_fail_memory(c->q);
	c->threads = threads;
	while (map_get(&c->thread_index, hash, &at))
		hash++;
	if (map_put(&c->thread_index, hash, c->nr_threads))
		return query_fail_memory(c->q);
	threads[c->nr_threads++] =
		(struct thread){ .pid = pid, .tid = tid, .first = spill_nr(&c->items) };
	return 0;
}

static int flush(struct collective_calls *c, struct thread *t, int64_t begin, int64_t end)
{
	for (size_t i = 0; i < c->nr_open; i++) {
		int ret;

		c->open[i].begin = begin;
		c->open[i].end = end;
		ret = spill_add(&c->items, &c->open[i]);
		if (ret)
			return query_fail(c->q, ret, "calls of RCCL: %s", strerror(-ret));
		t->nr++;
	}
	c->nr_open = 0;
	return 0;
}

/* Calls by thread and time. */
static int take_call(void *arg, const void *row)
{
	const struct call *call = row;
	struct collective_calls *c = arg;
	struct thread *t = c->nr_threads ? &c->threads[c->nr_threads - 1] : NULL;
	struct item *open;

	if (!t || t->pid != call->pid || t->tid != call->tid) {
		int ret = add_thread(c, call->pid, call->tid);

		if (ret)
			return ret;
		t = &c->threads[c->nr_threads - 1];
		c->nr_open = 0;
	}
	if (call->function == GROUP_START) {
		t->depth++;
		return 0;
	}
	if (call->function == GROUP_END) {
		t->depth -= t->depth > 0;
		return t->depth ? 0 : flush(c, t, call->begin, call->end);
	}
	open = alloc_grow(c->open, c->nr_open, &c->max_open, 16, sizeof(*open));
	if (!open)
		return query_fail_memory(c->q);
	c->open = open;
	open[c->nr_open++] = (struct item){ .comm = (uint64_t)call->comm,
					    .stream = (uint64_t)call->stream,
					    .bytes = (uint64_t)call->bytes,
					    .function = call->function };
	return t->depth ? 0 : flush(c, t, call->begin, call->end);
}

/* ---- communicators ---- */

static int compare_made(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : 0;
}

/* The communicator of a handle at a time. */
static const struct made *made_at(const struct collective_calls *c, int64_t pid, uint64_t comm,
				  int64_t time)
{
	uint64_t hash = hash_of(pid, comm), at;
	size_t i;

	for (; map_get(&c->made_index, hash, &at); hash++)
		if (c->made[at].pid == pid && c->made[at].comm == comm) {
			for (i = (size_t)at; i != SIZE_MAX && c->made[i].begin > time;)
				i = c->made[i].before;
			return i == SIZE_MAX ? NULL : &c->made[i];
		}
	return NULL;
}

/* The splits of a communicator are the same on all its ranks, in the same order. */
static uint64_t id_of_split(const struct collective_calls *c, size_t split)
{
	const struct made *m = &c->made[split];
	const struct made *parent = made_at(c, m->pid, m->parent, m->begin);
	uint64_t key[3] = { 0 };

	if (!parent || !parent->id)
		return 0;
	key[0] = parent->id;
	key[1] = m->id;
	for (size_t i = (size_t)(parent - c->made); i < split; i++)
		key[2] += c->made[i].pid == m->pid && c->made[i].parent == m->parent;
	return map_hash(key, sizeof(key));
}

static int index_made(struct collective_calls *c)
{
	if (c->nr_made)
		qsort(c->made, c->nr_made, sizeof(*c->made), compare_made);
	for (size_t i = 0; i < c->nr_made; i++) {
		struct made *m = &c->made[i];
		uint64_t hash = hash_of(m->pid, m->comm), at;

		if (m->parent)
			m->id = id_of_split(c, i);
		for (; map_get(&c->made_index, hash, &at); hash++)
			if (c->made[at].pid == m->pid && c->made[at].comm == m->comm) {
				m->before = (size_t)at;
				break;
			}
		if (map_put(&c->made_index, hash, i))
			return query_fail_memory(c->q);
	}
	return 0;
}

int collective_calls_scan(struct query *q, const char *domain,
			  int (*take)(void *arg, sqlite3_value **columns), struct sorter *sorter,
			  sorter_fn each, void *arg)
{
	char from[256];
	int ret;

	snprintf(
		from, sizeof(from),
		"rocpd_api A CROSS JOIN rocpd_ustring U ON U.id = A.args_id WHERE A.domain_id IN (SELECT id "
		"FROM rocpd_string WHERE string = '%s')",
		domain);
	ret = query_scan(q, "A.pid, A.tid, A.start, A.\"end\", A.apiName_id, U.string, A.id", from,
			 take, arg);
	if (ret)
		return ret;
	ret = sorter_read(sorter, each, arg);
	if (ret && !q->res->error[0])
		query_fail(q, ret, "calls of %s: %s", domain, strerror(-ret));
	return ret;
}

static int read_calls(struct collective_calls *c)
{
	int ret = spill_init(&c->items, sizeof(struct item), ITEMS_BYTES);

	c->sorter = sorter_new(sizeof(struct call), compare_calls, SORTED_ROWS);
	if (ret || !c->sorter)
		return query_fail_memory(c->q);
	ret = collective_calls_scan(c->q, "rccl", take_row, c->sorter, take_call, c);
	sorter_free(c->sorter);
	c->sorter = NULL;
	return ret ? ret : index_made(c);
}

static int open_calls(struct collective_calls *c)
{
	const struct query_sql list[] = {
		{ &c->name, QUERY_STRING },
		{ &c->stream,
		  c->q->ours ? "SELECT stream FROM rocpd_kernelapi WHERE api_ptr_id = ?1" : NULL },
	};
	int ret = query_prepare_all(c->q, list, 2);

	return ret || !c->q->ours ? ret : read_calls(c);
}

int collective_calls_open(struct query *q, struct collective_calls **out)
{
	struct collective_calls *c = alloc_zero(1, sizeof(*c));
	int ret;

	*out = c;
	if (!c)
		return query_fail_memory(q);
	c->q = q;
	ret = open_calls(c);
	if (ret) {
		collective_calls_close(c);
		*out = NULL;
	}
	return ret;
}

void collective_calls_close(struct collective_calls *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->name);
	sqlite3_finalize(c->stream);
	sorter_free(c->sorter);
	spill_fini(&c->items);
	for (size_t i = 0; i < c->nr_threads; i++)
		spill_window_fini(&c->threads[i].window);
	map_fini(&c->functions);
	map_fini(&c->graphs);
	map_fini(&c->thread_index);
	map_fini(&c->made_index);
	map_fini(&c->sizes);
	alloc_free(c->open);
	alloc_free(c->threads);
	alloc_free(c->made);
	alloc_free(c->seen);
	alloc_free(c);
}

/* ---- finding ---- */

void collective_calls_restart(struct collective_calls *c)
{
	c->nr_seen = 0;
}

/* How many kernels of this flush the party had before. */
static int count_seen(struct collective_calls *c, size_t party, int64_t tid, int64_t begin,
		      size_t *nr)
{
	while (c->nr_seen <= party) {
		struct seen *seen =
			alloc_grow(c->seen, c->nr_seen, &c->max_seen, 16, sizeof(*seen));

		if (!seen)
			return query_fail_memory(c->q);
		c->seen = seen;
		c->seen[c->nr_seen++] = (struct seen){ 0 };
	}
	if (c->seen[party].begin != begin || c->seen[party].tid != tid)
		c->seen[party] = (struct seen){ begin, tid, 0 };
	*nr = c->seen[party].nr++;
	return 0;
}

static int get_item(struct collective_calls *c, struct thread *t, uint64_t i,
		    const struct item **item)
{
	const void *row = NULL;
	int ret = spill_get(&c->items, &t->window, WINDOW_ITEMS, t->first + i, &row);

	*item = row;
	return ret ? query_fail(c->q, ret, "calls of RCCL: %s", strerror(-ret)) : 0;
}

/* Moves t->at to the first item of the last flush that began by `time`; t->nr: there is none.
 * Kernels come in the order of their launches, nearly. */
static int seek(struct collective_calls *c, struct thread *t, int64_t time)
{
	const struct item *item;
	uint64_t low = 0, high = t->nr;
	int ret = t->at < t->nr ? get_item(c, t, t->at, &item) : 0;

	if (ret)
		return ret;
	if (t->at < t->nr && item->begin <= time) {
		uint64_t next = t->at;

		for (;; next++) {
			int64_t begin = item->begin;

			while (next < t->nr && !(ret = get_item(c, t, next, &item)) &&
			       item->begin == begin)
				next++;
			if (ret || next == t->nr || item->begin > time)
				return ret;
			t->at = next;
		}
	}
	while (low < high) { /* the first item that begins later */
		uint64_t middle = low + (high - low) / 2;

		ret = get_item(c, t, middle, &item);
		if (ret)
			return ret;
		if (item->begin <= time)
			low = middle + 1;
		else
			high = middle;
	}
	t->at = t->nr;
	if (!low)
		return 0;
	ret = get_item(c, t, low - 1, &item);
	if (!ret) {
		int64_t begin = item->begin;

		for (t->at = low - 1; t->at && !ret; t->at--) {
			ret = get_item(c, t, t->at - 1, &item);
			if (!ret && item->begin != begin)
				break;
		}
	}
	return ret;
}

/* The stream of a launch is needed only where its group has several. */
static int stream_of(struct collective_calls *c, struct thread *t, int64_t call, bool *has,
		     uint64_t *stream)
{
	const struct item *item;
	int64_t begin = 0;
	bool is_one = true;

	for (uint64_t i = t->at; i < t->nr; i++) {
		int ret = get_item(c, t, i, &item);

		if (ret)
			return ret;
		if (i == t->at) {
			begin = item->begin;
			*stream = item->stream;
		}
		if (item->begin != begin)
			break;
		is_one &= item->stream == *stream;
	}
	*has = true;
	if (!is_one) {
		const char *text = query_look_up(c->stream, call);

		*has = *text != '\0';
		*stream = strtoull(text, NULL, 0);
	}
	return 0;
}

/* The items of a flush on a stream that are of the nr-th communicator there; its last one has all
 * kernels behind it. */
static int choose(struct collective_calls *c, struct thread *t, uint64_t stream, size_t nr,
		  struct collective_launch *out)
{
	const struct item *item = NULL;
	uint64_t comm = 0;
	int64_t begin = 0;
	size_t at = 0, nr_items = 0, nr_p2p = 0;
	const struct made *made;

	for (uint64_t i = t->at; i < t->nr; i++) {
		const struct function *f;
		int ret = get_item(c, t, i, &item);

		if (ret)
			return ret;
		if (i == t->at)
			begin = item->begin;
		if (item->begin != begin)
			break;
		if (item->stream != stream)
			continue;
		f = &functions[item->function];
		if (item->comm != comm) {
			if (comm && at++ == nr)
				break;
			comm = item->comm;
			out->comm = out->bytes = 0;
			out->name = NULL;
			nr_items = nr_p2p = 0;
		}
		out->comm = comm;
		out->name = !out->name || out->name == f->name ? f->name : "ncclGroupEnd";
		out->bytes += item->bytes;
		nr_items++;
		nr_p2p += f->is_point_to_point;
	}
	if (nr > at) /* RCCL cut them in several kernels: the first one has the bytes */
		out->bytes = 0;
	out->is_point_to_point = nr_items && nr_p2p == nr_items;
	made = made_at(c, t->pid, out->comm, begin);
	out->id = made ? made->id : 0;
	return 0;
}

int collective_calls_graph(struct collective_calls *c, int64_t name, bool *is_graph)
{
	uint64_t known;

	if (!map_get(&c->graphs, (uint64_t)name, &known)) {
		known = strncmp(query_look_up(c->name, name), "hipGraphLaunch", 14) == 0;
		if (map_put(&c->graphs, (uint64_t)name, known))
			return query_fail_memory(c->q);
	}
	*is_graph = known;
	return 0;
}

int collective_calls_find(struct collective_calls *c, const struct collective_call *call,
			  size_t party, struct collective_launch *out)
{
	const struct item *item;
	struct thread *t;
	uint64_t stream = 0;
	size_t nr = 0;
	bool has_stream = false, is_graph = false;
	int ret = call->id ? collective_calls_graph(c, call->name, &is_graph) : 0;

	if (ret || !call->id || !c->has_calls || is_graph)
		return ret;
	t = thread_of(c, call->pid, call->tid);
	if (!t)
		return 0;
	ret = seek(c, t, call->begin);
	if (!ret && t->at < t->nr)
		ret = get_item(c, t, t->at, &item);
	if (ret || t->at == t->nr || item->end < call->begin)
		return ret;
	ret = stream_of(c, t, call->id, &has_stream, &stream);
	if (!ret && has_stream)
		ret = count_seen(c, party, call->tid, item->begin, &nr);
	return ret || !has_stream ? ret : choose(c, t, stream, nr, out);
}

size_t collective_calls_nr_sizes(const struct collective_calls *c)
{
	return c->has_unknown ? 0 : c->sizes.nr;
}

bool collective_calls_has_size(const struct collective_calls *c, size_t size)
{
	uint64_t value;

	return map_get(&c->sizes, size, &value);
}

double collective_calls_bus_factor(const char *name, size_t nr)
{
	int function = function_of(name);
	double n = (double)nr, each = function >= 0 && functions[function].is_of_each ? n : 1;

	/* links of MPI are not known */
	if (strncmp(name, "MPI_", 4) == 0)
		return 0;
	if (function < 0 || functions[function].bus == '1')
		return each;
	return each * (functions[function].bus == 'r' ? 2 : 1) * (n - 1) / n;
}
