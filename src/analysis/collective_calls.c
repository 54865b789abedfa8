/* SPDX-License-Identifier: MIT */
/* collective_calls.c - reads the calls of RCCL, and finds that of a kernel */
#include "analysis/collective_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/map.h"

struct function {
	const char *name;
	const char *count; /* the argument with the number of elements; NULL: they are in arrays */
	bool is_of_each;   /* the count is that of one lane's share of the data */
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

struct collective_calls {
	struct query *q;
	bool has_calls;
	sqlite3_stmt *call, *flush, *items, *insert;
	struct map sizes; /* of communicators */
	bool has_unknown; /* a communicator whose size no call says */
	/* of each lane: the last flush, and its kernels so far */
	struct seen {
		int64_t begin, tid;
		size_t nr;
	} * seen;
	size_t nr_seen, max_seen;
};

/* ---- reading ---- */

struct item {
	int64_t function;
	uint64_t comm, stream, bytes;
};

/* The calls of a thread. */
struct group {
	int64_t pid, tid, depth;
	struct item *items;
	size_t nr, max;
};

/* The value of an argument, 0 if there is none. */
static uint64_t argument(const char *args, const char *key)
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

static uint64_t bytes_of(const struct function *f, const char *args)
{
	uint64_t type = argument(args, "datatype=");

	return f->count && type < sizeof(sizes_of) ? argument(args, f->count) * sizes_of[type] : 0;
}

static int flush(struct collective_calls *c, struct group *g, int64_t begin, int64_t end)
{
	for (size_t i = 0; i < g->nr; i++) {
		const int64_t values[] = { g->pid,
					   g->tid,
					   begin,
					   end,
					   (int64_t)i,
					   g->items[i].function,
					   (int64_t)g->items[i].comm,
					   (int64_t)g->items[i].stream,
					   (int64_t)g->items[i].bytes };

		for (int k = 0; k < 9; k++)
			sqlite3_bind_int64(c->insert, k + 1, values[k]);
		if (sqlite3_step(c->insert) != SQLITE_DONE) {
			sqlite3_reset(c->insert);
			return query_fail_sql(c->q);
		}
		sqlite3_reset(c->insert);
	}
	g->nr = 0;
	return 0;
}

static int note_size(struct collective_calls *c, const char *name, const char *args)
{
	uint64_t size = argument(args, strcmp(name, "ncclCommInitAll") == 0 ? "ndev=" : "nranks=");

	if (strncmp(name, "ncclCommInitRank", 16) != 0 && strcmp(name, "ncclCommInitAll") != 0) {
		c->has_unknown |= strcmp(name, "ncclCommSplit") == 0 ||
				  strcmp(name, "ncclCommShrink") == 0;
		return 0;
	}
	return size && map_put(&c->sizes, size, 1) ? query_fail_memory(c->q) : 0;
}

static int take_call(struct collective_calls *c, struct group *g, const char *name, int64_t begin,
		     int64_t end, const char *args)
{
	int function = function_of(name);
	struct item *items;

	if (strcmp(name, "ncclGroupStart") == 0) {
		g->depth++;
		return 0;
	}
	if (strcmp(name, "ncclGroupEnd") == 0) {
		g->depth -= g->depth > 0;
		return g->depth ? 0 : flush(c, g, begin, end);
	}
	if (function < 0)
		return note_size(c, name, args);
	items = alloc_grow(g->items, g->nr, &g->max, 16, sizeof(*items));
	if (!items)
		return query_fail_memory(c->q);
	g->items = items;
	items[g->nr++] = (struct item){ function, argument(args, "comm="),
					argument(args, "stream="),
					bytes_of(&functions[function], args) };
	return g->depth ? 0 : flush(c, g, begin, end);
}

static int read_calls(struct collective_calls *c)
{
	struct group g = { 0 };
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(
		c->q, &stmt,
		"SELECT A.pid, A.tid, A.start, A.\"end\", N.string, U.string FROM rocpd_api A JOIN rocpd_string "
		"N ON N.id = A.apiName_id JOIN rocpd_ustring U ON U.id = A.args_id WHERE A.domain_id IN (SELECT id FROM "
		"rocpd_string WHERE string = 'rccl') ORDER BY A.pid, A.tid, A.start");

	while (!ret && (ret = query_step(c->q, stmt)) == 1) {
		int64_t pid = sqlite3_column_int64(stmt, 0), tid = sqlite3_column_int64(stmt, 1);

		if (pid != g.pid || tid != g.tid) {
			g.pid = pid;
			g.tid = tid;
			g.depth = 0;
			g.nr = 0;
		}
		c->has_calls = true;
		ret = take_call(c, &g, query_text(stmt, 4), sqlite3_column_int64(stmt, 2),
				sqlite3_column_int64(stmt, 3), query_text(stmt, 5));
	}
	sqlite3_finalize(stmt);
	alloc_free(g.items);
	return ret < 0 ? ret : 0;
}

static int open_calls(struct collective_calls *c)
{
	static const char table[] =
		"DROP TABLE IF EXISTS temp.collective_call; CREATE TEMP TABLE collective_call(pid INT, tid INT, "
		"begin INT, \"end\" INT, item INT, function INT, comm INT, stream INT, bytes INT, PRIMARY KEY(pid, "
		"tid, begin, item)) WITHOUT ROWID";
	const struct query_sql list[] = {
		{ &c->insert,
		  "INSERT INTO temp.collective_call VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" },
		{ &c->flush,
		  "SELECT begin, \"end\" FROM temp.collective_call WHERE pid = ?1 AND tid = ?2 AND begin <= ?3 "
		  "ORDER BY begin DESC LIMIT 1" },
		{ &c->items,
		  "SELECT function, comm, stream, bytes FROM temp.collective_call WHERE pid = ?1 AND tid = "
		  "?2 AND begin = ?3 ORDER BY item" },
	};
	const char *call =
		c->q->ours ?
			"SELECT A.pid, A.tid, A.start, N.string, L.stream FROM rocpd_api A JOIN rocpd_string N ON N.id = "
			"A.apiName_id JOIN rtl_api_data X ON X.api_id = A.id LEFT JOIN rocpd_kernelapi L ON L.api_ptr_id "
			"= A.id WHERE A.id = ?1" :
			"SELECT A.pid, A.tid, A.start, N.string, NULL FROM rocpd_api A JOIN rocpd_string N ON N.id = "
			"A.apiName_id WHERE A.id = ?1";
	int ret = query_prepare(c->q, &c->call, call);

	if (ret || !c->q->ours)
		return ret;
	ret = query_run(c->q, table);
	if (!ret)
		ret = query_prepare_all(c->q, list, 3);
	return ret ? ret : read_calls(c);
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
	sqlite3_finalize(c->call);
	sqlite3_finalize(c->flush);
	sqlite3_finalize(c->items);
	sqlite3_finalize(c->insert);
	map_fini(&c->sizes);
	alloc_free(c->seen);
	alloc_free(c);
}

/* ---- finding ---- */

void collective_calls_restart(struct collective_calls *c)
{
	c->nr_seen = 0;
}

/* How many kernels of this flush the lane had before. */
static int count_seen(struct collective_calls *c, size_t lane, int64_t tid, int64_t begin,
		      size_t *nr)
{
	while (c->nr_seen <= lane) {
		struct seen *seen =
			alloc_grow(c->seen, c->nr_seen, &c->max_seen, 16, sizeof(*seen));

		if (!seen)
			return query_fail_memory(c->q);
		c->seen = seen;
		c->seen[c->nr_seen++] = (struct seen){ 0 };
	}
	if (c->seen[lane].begin != begin || c->seen[lane].tid != tid)
		c->seen[lane] = (struct seen){ begin, tid, 0 };
	*nr = c->seen[lane].nr++;
	return 0;
}

/* The items of a flush on a stream that are of the nr-th communicator there; its last one has all kernels behind it. */
static void choose(struct collective_calls *c, uint64_t stream, size_t nr,
		   struct collective_launch *out)
{
	uint64_t comm = 0;
	size_t at = 0, nr_items = 0, nr_p2p = 0;

	while (sqlite3_step(c->items) == SQLITE_ROW) {
		const struct function *f = &functions[sqlite3_column_int(c->items, 0)];
		uint64_t of = (uint64_t)sqlite3_column_int64(c->items, 1);

		if (stream != (uint64_t)sqlite3_column_int64(c->items, 2))
			continue;
		if (of != comm) {
			if (comm && at++ == nr)
				break;
			comm = of;
			*out = (struct collective_launch){ 0 };
			nr_items = nr_p2p = 0;
		}
		out->comm = comm;
		out->name = !out->name || out->name == f->name ? f->name : "ncclGroupEnd";
		out->bytes += (uint64_t)sqlite3_column_int64(c->items, 3);
		nr_items++;
		nr_p2p += f->is_point_to_point;
	}
	if (nr > at) /* RCCL cut them in several kernels: the first one has the bytes */
		out->bytes = 0;
	out->is_point_to_point = nr_items && nr_p2p == nr_items;
	sqlite3_reset(c->items);
}

static int find_flush(struct collective_calls *c, int64_t pid, int64_t tid, size_t lane,
		      int64_t launch, uint64_t stream, struct collective_launch *out)
{
	int64_t begin, end;
	size_t nr = 0;
	int ret;

	sqlite3_bind_int64(c->flush, 1, pid);
	sqlite3_bind_int64(c->flush, 2, tid);
	sqlite3_bind_int64(c->flush, 3, launch);
	if (sqlite3_step(c->flush) != SQLITE_ROW) {
		sqlite3_reset(c->flush);
		return 0;
	}
	begin = sqlite3_column_int64(c->flush, 0);
	end = sqlite3_column_int64(c->flush, 1);
	sqlite3_reset(c->flush);
	if (end < launch)
		return 0;
	ret = count_seen(c, lane, tid, begin, &nr);
	if (ret)
		return ret;
	sqlite3_bind_int64(c->items, 1, pid);
	sqlite3_bind_int64(c->items, 2, tid);
	sqlite3_bind_int64(c->items, 3, begin);
	choose(c, stream, nr, out);
	return 0;
}

int collective_calls_find(struct collective_calls *c, int64_t call, size_t lane,
			  struct collective_launch *out)
{
	sqlite3_stmt *row = call ? query_row(c->call, call) : NULL;
	const char *stream;
	int64_t begin;

	if (!row)
		return 0;
	begin = sqlite3_column_int64(row, 2);
	out->is_graph = strncmp(query_text(row, 3), "hipGraphLaunch", 14) == 0;
	stream = query_text(row, 4);
	if (!c->has_calls || !*stream)
		return 0;
	return find_flush(c, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), lane,
			  begin, strtoull(stream, NULL, 0), out);
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

	if (function < 0 || functions[function].bus == '1')
		return each;
	return each * (functions[function].bus == 'r' ? 2 : 1) * (n - 1) / n;
}
