/* SPDX-License-Identifier: MIT */
/* rpd_api.c - the calls of one process as rows, and RPD's tables of launches, copies and graphs
 *
 * The roles of its arguments (spool/format.h) determine the tables of a function, looked up once
 * for each function. The same arguments repeat often, so a cache keeps their texts by their words:
 * memory is bounded, and an evicted text is written again, as RPD allows.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "store/args.h"

#define NR_SETS 4096u /* a cache, by hash: sets of WAYS */
#define WAYS 4u
#define ARGS_WORDS 13u	      /* calls with more words are not cached */
#define ARGS_TEXT (64u << 10) /* longer texts are cut */

struct arguments {
	int64_t id;
	int64_t launch; /* what follows from them, see find_launch(); 0: not known */
	uint32_t fn, nr_words;
	uint64_t words[ARGS_WORDS];
};

/* The entries are far more than a processor's caches hold near: their tags are apart. */
struct rpd_args {
	uint16_t tags[NR_SETS * WAYS]; /* of their hashes; 0: empty */
	struct arguments all[NR_SETS * WAYS];
};

#define NR_LAUNCHES 8192u /* a cache: an evicted one is written again */

struct launch_key {
	int64_t stream, kernel_name;
	uint32_t grid[3], group[3], shared, zero;
};

struct rpd_launch {
	struct launch_key key;
	int64_t id; /* 0: empty */
};

enum role {
	ROLE_GRID,
	ROLE_GRIDX,
	ROLE_GRIDY,
	ROLE_GRIDZ,
	ROLE_GLOBALX,
	ROLE_GLOBALY,
	ROLE_GLOBALZ,
	ROLE_BLOCK,
	ROLE_BLOCKX,
	ROLE_BLOCKY,
	ROLE_BLOCKZ,
	ROLE_SHARED,
	ROLE_STREAM,
	ROLE_KERNEL,
	ROLE_NAME,
	ROLE_BYTES,
	ROLE_WIDTH,
	ROLE_HEIGHT,
	ROLE_KIND,
	ROLE_DST,
	ROLE_SRC,
	ROLE_DSTDEV,
	ROLE_SRCDEV,
	ROLE_AGENTS,
	ROLE_GRAPH,
	ROLE_EXEC,
	ROLE_NODE,
	NR_ROLES
};

static const char *const roles[NR_ROLES] = {
	[ROLE_GRID] = "grid",	    [ROLE_GRIDX] = "gridx",	[ROLE_GRIDY] = "gridy",
	[ROLE_GRIDZ] = "gridz",	    [ROLE_GLOBALX] = "globalx", [ROLE_GLOBALY] = "globaly",
	[ROLE_GLOBALZ] = "globalz", [ROLE_BLOCK] = "block",	[ROLE_BLOCKX] = "blockx",
	[ROLE_BLOCKY] = "blocky",   [ROLE_BLOCKZ] = "blockz",	[ROLE_SHARED] = "shared",
	[ROLE_STREAM] = "stream",   [ROLE_KERNEL] = "kernel",	[ROLE_NAME] = "name",
	[ROLE_BYTES] = "bytes",	    [ROLE_WIDTH] = "width",	[ROLE_HEIGHT] = "height",
	[ROLE_KIND] = "kind",	    [ROLE_DST] = "dst",		[ROLE_SRC] = "src",
	[ROLE_DSTDEV] = "dstdev",   [ROLE_SRCDEV] = "srcdev",	[ROLE_AGENTS] = "agents",
	[ROLE_GRAPH] = "graph",	    [ROLE_EXEC] = "exec",	[ROLE_NODE] = "node",
};

struct rpd_fn {
	int64_t name; /* string id */
	uint32_t in;  /* the tables of its calls, beside RPD_IN_API */
	int32_t kind; /* hipMemcpyKind that the name implies, or -1 */
	bool async;
	bool is_part;		 /* prepares a launch <<<...>>> */
	uint8_t scale;		 /* bytes of one unit of ROLE_BYTES and ROLE_WIDTH */
	int16_t words[NR_ROLES]; /* index of the word, -1: no such argument */
};

static bool has_role(const struct rpd_fn *fn, enum role role)
{
	return fn->words[role] >= 0;
}

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The tables of a function's calls. Graph functions are those that RPD lists: they relate streams
 * to graphs and graphs to executables. */
static uint32_t tables_of(const struct rpd_fn *fn, const struct store_op *op)
{
	const char *name = op->name;

	if (op->domain != REC_API_HIP)
		return 0;
	if (begins_with(name, "hipGraphLaunch"))
		return RPD_IN_GRAPHLAUNCHAPI;
	if (begins_with(name, "hipStreamBeginCapture") ||
	    begins_with(name, "hipStreamEndCapture") || begins_with(name, "hipGraphInstantiate"))
		return RPD_IN_GRAPHAPI;
	/* functions that add graph nodes do not launch or copy anything */
	if (has_role(fn, ROLE_GRAPH) || has_role(fn, ROLE_EXEC) || has_role(fn, ROLE_NODE))
		return 0;
	if ((has_role(fn, ROLE_GRID) || has_role(fn, ROLE_GRIDX) || has_role(fn, ROLE_GLOBALX)) &&
	    (has_role(fn, ROLE_KERNEL) || has_role(fn, ROLE_NAME)) && has_role(fn, ROLE_STREAM))
		return RPD_IN_KERNELAPI;
	if (begins_with(name, "hipMemcpy") || begins_with(name, "hipMemset") ||
	    begins_with(name, "hipDrvMemcpy"))
		return RPD_IN_COPYAPI;
	return 0;
}

static int32_t kind_of(const char *name)
{
	static const struct {
		const char *part;
		int32_t kind;
	} kinds[] = { { "HtoD", 1 }, { "HtoA", 1 }, { "DtoH", 2 },
		      { "AtoH", 2 }, { "DtoD", 3 }, { "Peer", 3 } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strstr(name, kinds[i].part))
			return kinds[i].kind;
	}
	return -1;
}

/* Arguments without a role, which mean something in certain functions only. */
static void find_roles_by_name(struct rpd_fn *fn, const struct store_op *op)
{
	enum role other = has_role(fn, ROLE_SRC) ? ROLE_DST : ROLE_SRC;

	fn->scale = 1;
	if (begins_with(op->name, "hipMemsetD16") || begins_with(op->name, "hipMemsetD2D16"))
		fn->scale = 2;
	else if (begins_with(op->name, "hipMemsetD32") || begins_with(op->name, "hipMemsetD2D32"))
		fn->scale = 4;
	for (uint32_t i = 0; i < op->nr_args; i++) {
		if (strcmp(op->args[i].name, "symbol") == 0 && !has_role(fn, other))
			fn->words[other] = (int16_t)op->args[i].word;
		if (strcmp(op->args[i].name, "count") == 0 && fn->scale > 1)
			fn->words[ROLE_BYTES] = (int16_t)op->args[i].word;
	}
}

static void find_roles(struct rpd_fn *fn, const struct store_op *op)
{
	for (int role = 0; role < NR_ROLES; role++) {
		fn->words[role] = -1;
		for (uint32_t i = op->nr_args; i-- > 0;) {
			if (strcmp(op->args[i].role, roles[role]) == 0)
				fn->words[role] = (int16_t)op->args[i].word;
		}
	}
	find_roles_by_name(fn, op);
	fn->in = tables_of(fn, op);
	fn->kind = kind_of(op->name);
	fn->async = strstr(op->name, "Async") != NULL;
	fn->is_part = strcmp(op->name, "__hipPushCallConfiguration") == 0 ||
		      strcmp(op->name, "__hipPopCallConfiguration") == 0;
}

/* As in the records of calls. */
static uint64_t fn_key(const struct store_op *op)
{
	return (uint64_t)op->domain << 16 | op->number;
}

/* The string id of the function's name. */
static int name_fn(struct rpd_process *p, const struct store_op *op, int64_t *id)
{
	uint64_t known;
	int ret;

	if (map_get(&p->fn_ids, fn_key(op), &known)) {
		*id = (int64_t)known;
		return 0;
	}
	ret = rpd_spool_string(p, op->name, id);
	if (ret == 0 && map_put(&p->fn_ids, fn_key(op), (uint64_t)*id) < 0)
		ret = rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	return ret;
}

static int begin_calls(struct rpd_process *p)
{
#define DOMAIN_NAME(name, text) [REC_API_##name] = text,
	static const char *const domains[REC_API_NR_DOMAINS] = { REC_API_EACH_DOMAIN(DOMAIN_NAME) };
#undef DOMAIN_NAME
	int ret = 0;

	if (p->has_apis)
		return 0;
	p->has_apis = true;
	/* also domain 0, of damaged records */
	for (int i = 0; i < REC_API_NR_DOMAINS && ret == 0; i++)
		ret = rpd_spool_string(p, domains[i] ? domains[i] : "unknown", &p->domain_api[i]);
	return ret;
}

int rpd_api_begin(struct rpd_process *p)
{
	size_t nr;
	int ret;

	p->ops = index_ops(p->index, &nr);
	if (!index_totals(p->index)->apis)
		return 0;
	p->fns = alloc_zero(nr, sizeof(*p->fns));
	if (!p->args)
		p->args = alloc_zero(1, sizeof(*p->args));
	if (!p->args_text)
		p->args_text = alloc_heap(ARGS_TEXT);
	if (!p->launch_rows)
		p->launch_rows = alloc_zero(NR_LAUNCHES, sizeof(*p->launch_rows));
	if (!p->fns || !p->args || !p->args_text || !p->launch_rows)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	ret = begin_calls(p);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		find_roles(&p->fns[i], &p->ops[i]);
		/* the name of an unknown one may be in the next part; if not, it is made for its
		 * first call */
		if (p->ops[i].known)
			ret = name_fn(p, &p->ops[i], &p->fns[i].name);
	}
	if (ret == 0) {
		ret = rpd_pinned_begin(p);
		if (ret < 0)
			rpd_fail(p->r, ret, "%s: pinned memory: %s", p->path, strerror(-ret));
	}
	return ret;
}

void rpd_api_end_part(struct rpd_process *p)
{
	rpd_pinned_end_part(p);
	alloc_free(p->fns);
	p->fns = NULL;
}

void rpd_api_fini(struct rpd_process *p)
{
	rpd_api_end_part(p);
	alloc_free(p->pin_events);
	map_fini(&p->pin_addrs);
	alloc_free(p->args);
	alloc_free(p->args_text);
	alloc_free(p->launch_rows);
	map_fini(&p->call_names);
	map_fini(&p->fn_ids);
}

static int write_args(struct rpd_process *p, const struct store_api *api, int64_t *id)
{
	args_text(p->index, api, p->args_text, ARGS_TEXT);
	p->r->has_args = true;
	*id = p->base + p->next_ustring++;
	return rpd_db_insert(p->r, p->add_ustring, "it", *id, p->args_text);
}

/* The arguments of the call in the cache, added if they are not there; NULL: they can't be in it.
 * *id is the string id of their text. */
static int args_of(struct rpd_process *p, const struct store_api *api, struct arguments **out,
		   int64_t *id)
{
	uint32_t fn = (uint32_t)fn_key(api->op);
	size_t size = api->nr_words * sizeof(api->words[0]);
	struct arguments *args;
	uint64_t hash;
	uint16_t tag, *tags;
	uint32_t way = WAYS;
	int ret;

	*out = NULL;
	*id = p->empty_ustring;
	if (!api->nr_words || !api->op->nr_args)
		return 0;
	if (api->nr_words > ARGS_WORDS)
		return write_args(p, api, id);
	hash = map_hash_words(api->words, api->nr_words) + fn * UINT64_C(0x9e3779b97f4a7c15);
	tag = (uint16_t)(hash >> 48 | 1);
	tags = &p->args->tags[hash % NR_SETS * WAYS];
	args = &p->args->all[hash % NR_SETS * WAYS];
	for (uint32_t i = 0; i < WAYS; i++) {
		if (tags[i] == tag && args[i].fn == fn && args[i].nr_words == api->nr_words &&
		    memcmp(args[i].words, api->words, size) == 0) {
			*out = &args[i];
			*id = args[i].id;
			return 0;
		}
		if (!tags[i])
			way = i;
	}
	ret = write_args(p, api, id);
	/* evict any way, but not always the same */
	if (way == WAYS)
		way = (uint32_t)(*id % WAYS);
	tags[way] = tag;
	args += way;
	args->id = *id;
	args->launch = 0;
	args->fn = fn;
	args->nr_words = api->nr_words;
	memcpy(args->words, api->words, size);
	*out = args;
	return ret;
}

static uint64_t word_of(const struct rpd_fn *fn, const struct store_api *api, enum role role,
			uint64_t fallback)
{
	return has_role(fn, role) ? api->words[fn->words[role]] : fallback;
}

static int64_t handle_of(const struct rpd_fn *fn, const struct store_api *api, enum role role)
{
	return (int64_t)word_of(fn, api, role, (uint64_t)RPD_NO_HANDLE);
}

/* The handle of a graph or executable that the call made; none if it failed. */
static int64_t created_handle(const struct rpd_fn *fn, const struct store_api *api, enum role role)
{
	int64_t value = handle_of(fn, api, role);

	return value ? value : RPD_NO_HANDLE;
}

static void fill_size(const struct rpd_fn *fn, const struct store_api *api, enum role whole,
		      enum role x, int64_t out[3])
{
	if (has_role(fn, whole)) {
		const uint64_t *words = &api->words[fn->words[whole]];

		out[0] = (uint32_t)words[0];
		out[1] = (uint32_t)(words[0] >> 32);
		out[2] = (uint32_t)words[1];
		return;
	}
	for (int i = 0; i < 3; i++)
		out[i] = (uint32_t)word_of(fn, api, x + (enum role)i, 0);
}

/* The string id of the kernel's name in the call's arguments; 0: the call has none. */
static int name_of(struct rpd_process *p, uint64_t string, int64_t *id)
{
	const char *mangled = string ? index_string(p->index, string) : "";
	uint64_t known;
	char *name;
	int ret;

	*id = 0;
	if (!mangled[0])
		return 0;
	if (map_get(&p->call_names, string, &known)) {
		*id = (int64_t)known;
		return 0;
	}
	name = demangle_dup(mangled);
	ret = name ? rpd_meta_name(p, name, SIZE_MAX, id) :
		     rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	if (ret == 0)
		ret = rpd_spool_string(p, name, id);
	alloc_free(name);
	if (ret >= 0 && map_put(&p->call_names, string, (uint64_t)*id) < 0)
		ret = rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	return ret < 0 ? ret : 0;
}

/* Sets row->launch to the id of what it has in common with others. */
static int find_launch(struct rpd_process *p, struct rpd_row *row)
{
	struct launch_key key = { .stream = row->stream,
				  .kernel_name = row->kernel_name,
				  .shared = (uint32_t)row->shared };
	char stream[ROWFILE_HANDLE + 1];
	struct rpd_launch *launch;

	if (!p->add_launch)
		return 0;
	for (int i = 0; i < 3; i++) {
		key.grid[i] = (uint32_t)row->grid[i];
		key.group[i] = (uint32_t)row->group[i];
	}
	launch = &p->launch_rows[map_hash(&key, sizeof(key)) % NR_LAUNCHES];
	row->launch = launch->id;
	if (launch->id && memcmp(&launch->key, &key, sizeof(key)) == 0)
		return 0;
	stream[rowfile_handle(stream, row->stream)] = '\0';
	launch->key = key;
	row->launch = launch->id = p->base + p->next_launch++;
	return rpd_db_insert(p->r, p->add_launch, "itiiiiiiiii", launch->id, stream, row->grid[0],
			     row->grid[1], row->grid[2], row->group[0], row->group[1],
			     row->group[2], row->shared, row->private, row->kernel_name);
}

/* args: of the call, or NULL */
static int fill_launch(struct rpd_process *p, const struct rpd_fn *fn, const struct store_api *api,
		       struct arguments *args, struct rpd_row *row)
{
	bool global = has_role(fn, ROLE_GLOBALX), has_name;
	int ret;

	/* the compact layout has no other column of a launch */
	if (args && args->launch) {
		row->launch = args->launch;
		return 0;
	}
	fill_size(fn, api, ROLE_BLOCK, ROLE_BLOCKX, row->group);
	fill_size(fn, api, ROLE_GRID, global ? ROLE_GLOBALX : ROLE_GRIDX, row->grid);
	/* convert work-items to workgroups, as in the other functions */
	for (int i = 0; i < 3 && global; i++) {
		if (row->group[i])
			row->grid[i] = (row->grid[i] + row->group[i] - 1) / row->group[i];
	}
	row->stream = handle_of(fn, api, ROLE_STREAM);
	row->shared = (uint32_t)word_of(fn, api, ROLE_SHARED, 0);
	row->private = 0;
	ret = name_of(p, word_of(fn, api, ROLE_NAME, 0), &row->kernel_name);
	has_name = row->kernel_name != 0;
	if (ret == 0 && !has_name) {
		row->kernel_name = p->empty_string;
		p->nr_unnamed++;
		ret = rpd_db_insert(p->r, p->add_unnamed, "i", row->id);
	}
	if (ret == 0)
		ret = find_launch(p, row);
	if (ret == 0 && args && has_name && p->add_launch)
		args->launch = row->launch;
	return ret;
}

static bool is_pinned(const struct rpd_process *p, const struct store_api *api, int64_t pointer)
{
	return pointer != RPD_NO_HANDLE && rpd_pinned_has(p, (uint64_t)pointer, api->begin_ns);
}

static void fill_copy(const struct rpd_process *p, const struct rpd_fn *fn,
		      const struct store_api *api, struct rpd_row *row)
{
	uint64_t agents = word_of(fn, api, ROLE_AGENTS, 0);

	row->stream = handle_of(fn, api, ROLE_STREAM);
	row->bytes = (int64_t)(word_of(fn, api, ROLE_BYTES, 0) * fn->scale);
	row->width = (int64_t)(word_of(fn, api, ROLE_WIDTH, 0) * fn->scale);
	row->height = (int64_t)word_of(fn, api, ROLE_HEIGHT, 0);
	row->kind = (int32_t)word_of(fn, api, ROLE_KIND, (uint64_t)(int64_t)fn->kind);
	row->dst = handle_of(fn, api, ROLE_DST);
	row->src = handle_of(fn, api, ROLE_SRC);
	row->dst_device = (int32_t)word_of(fn, api, ROLE_DSTDEV, UINT64_MAX);
	row->src_device = (int32_t)word_of(fn, api, ROLE_SRCDEV, UINT64_MAX);
	row->sync = !fn->async;
	row->pinned = is_pinned(p, api, row->dst) || is_pinned(p, api, row->src);
	row->from_agent = rpd_meta_agent(p, (uint32_t)(agents & UINT16_MAX) - 1);
	row->to_agent = rpd_meta_agent(p, (uint32_t)(agents >> 16 & UINT16_MAX) - 1);
	if (row->from_agent || row->to_agent)
		row->in |= RPD_IN_API_COPY;
}

/* Fills in the columns beyond rocpd_api; a call without arguments has none. */
static int fill_more(struct rpd_process *p, const struct rpd_fn *fn, const struct store_api *api,
		     struct arguments *args, struct rpd_row *row)
{
	if (!fn->in || !api->nr_words)
		return 0;
	row->in |= fn->in;
	switch (fn->in) {
	case RPD_IN_KERNELAPI:
		return fill_launch(p, fn, api, args, row);
	case RPD_IN_COPYAPI:
		fill_copy(p, fn, api, row);
		return 0;
	default:
		row->graph = created_handle(fn, api, ROLE_GRAPH);
		row->exec = created_handle(fn, api, ROLE_EXEC);
		row->stream = handle_of(fn, api, ROLE_STREAM);
		return 0;
	}
}

#define SUBMITS (RPD_IN_KERNELAPI | RPD_IN_COPYAPI | RPD_IN_GRAPHLAUNCHAPI)

/* What the call means for the check of launches. 0 or -ENOMEM. */
static int note_launch(struct rpd_process *p, const struct rpd_fn *fn, const struct store_api *api)
{
	bool succeeded = !(api->flags & REC_F_NO_STATUS) && api->status == 0;
	const char *name = api->op->name;

	if (fn->in == RPD_IN_GRAPHAPI && succeeded) {
		if (begins_with(name, "hipStreamBeginCapture"))
			return launches_capture(&p->launches, api->begin_ns);
		if (begins_with(name, "hipStreamEndCapture"))
			return launches_capture_end(&p->launches, api->end_ns);
	}
	/* its operations belong to the outer call */
	if (api->parent)
		return 0;
	if (succeeded && fn->in & SUBMITS)
		p->launches.nr_submits++;
	return launches_call(&p->launches, api->correlation,
			     fn->in == RPD_IN_KERNELAPI && succeeded, api->begin_ns);
}

/* The string id of the call's category. */
static int category_of(struct rpd_process *p, const struct rpd_fn *fn, const struct store_api *api,
		       int64_t *id)
{
	int ret = 0;

	*id = p->empty_string;
	p->nr_parts += fn->is_part;
	if (!(api->flags & REC_F_CONFIGURED))
		return 0;
	p->nr_configured++;
	if (!p->configured)
		ret = rpd_spool_string(p, RPD_CONFIGURED, &p->configured);
	*id = p->configured;
	return ret;
}

/* Whether a damaged trace may have the call twice, here or in this part and an earlier one. */
static bool may_be_double(const struct rpd_process *p, const struct store_api *api)
{
	const struct store_totals *past = &p->past.totals;

	return index_has_doubles(p->index) ||
	       (past->apis && api->correlation <= past->max_correlation);
}

int rpd_api_call(void *arg, const struct store_api *api)
{
	struct rpd_process *p = arg;
	struct rpd_fn *fn = &p->fns[api->op - p->ops];
	struct arguments *args;
	struct rpd_row *row;
	int64_t args_id = 0, category = 0;
	int ret = args_of(p, api, &args, &args_id);

	if (ret == 0 && !fn->name)
		ret = name_fn(p, api->op, &fn->name);
	if (ret == 0)
		ret = category_of(p, fn, api, &category);
	if (ret == 0)
		ret = rpd_feed_row(p->r->feed, &row);
	if (ret < 0)
		return ret;
	row->in = RPD_IN_API | (may_be_double(p, api) ? RPD_MAYBE_DOUBLE : 0);
	row->correlation = rpd_spool_call(p, api->correlation);
	row->id = row->correlation ? row->correlation : p->next_api++;
	row->pid = p->pid;
	row->tid = api->tid;
	row->start = (int64_t)api->begin_ns;
	row->end = (int64_t)api->end_ns;
	row->name = fn->name;
	row->category = category;
	row->domain = p->domain_api[api->domain < REC_API_NR_DOMAINS ? api->domain : 0];
	row->args = args_id;
	row->status = api->flags & REC_F_NO_STATUS ? RPD_NO_STATUS : api->status;
	row->parent = rpd_spool_call(p, api->parent);
	if (row->end > p->last_ns)
		p->last_ns = row->end;
	p->r->res->nr_apis++;
	ret = note_launch(p, fn, api);
	return ret < 0 ? ret : fill_more(p, fn, api, args, row);
}

/* Launches of temp.rtl_named get the names of their operations' kernels. */
static int name_launches(struct rpd_process *p)
{
	int ret;

	if (!p->r->is_compact)
		return rpd_db_exec(
			p->r,
			"UPDATE main.rocpd_kernelapi SET kernelName_id = O.description_id FROM temp.rtl_named "
			"N CROSS JOIN main.rocpd_op O ON O.id = N.op_id WHERE api_ptr_id = N.api_id");
	/* a row of rtl_launch may be that of launches of several kernels */
	ret = rpd_db_execf(
		p->r,
		"CREATE TEMP TABLE rtl_renamed AS SELECT row_number() OVER (ORDER BY launch, name) + %lld "
		"AS id, launch, name FROM (SELECT DISTINCT A.rtl_launch_id AS launch, O.description_id AS "
		"name FROM temp.rtl_named N CROSS JOIN main.rocpd_op O ON O.id = N.op_id CROSS JOIN "
		"main.rocpd_api A ON A.id = N.api_id WHERE A.rtl_launch_id IS NOT NULL);"
		"INSERT INTO main.rtl_launch SELECT R.id, L.stream, L.gridX, L.gridY, L.gridZ, L.workgroupX, "
		"L.workgroupY, L.workgroupZ, L.groupSegmentSize, L.privateSegmentSize, R.name FROM temp.rtl_renamed R CROSS "
		"JOIN main.rtl_launch L ON L.id = R.launch",
		(long long)(p->base + p->next_launch - 1));
	if (ret < 0)
		return ret;
	p->next_launch += sqlite3_changes(p->r->db);
	return rpd_db_exec(
		p->r,
		"UPDATE main.rocpd_api SET rtl_launch_id = R.id FROM temp.rtl_named N CROSS JOIN "
		"main.rocpd_op O ON O.id = N.op_id CROSS JOIN temp.rtl_renamed R ON R.name = "
		"O.description_id WHERE rocpd_api.id = N.api_id AND R.launch = "
		"rocpd_api.rtl_launch_id;"
		"DROP TABLE temp.rtl_renamed");
}

int rpd_api_name(struct rpd_process *p, int64_t first_op, bool final)
{
	int ret = 0;

	/* launches without a kernel's name get that of their first dispatch */
	if (p->nr_unnamed)
		ret = rpd_db_execf(
			p->r,
			"CREATE TEMP TABLE rtl_named AS SELECT L.api_id AS api_id, min(L.op_id) AS op_id "
			"FROM main.rocpd_api_ops L CROSS JOIN rtl_unnamed U ON U.api_id = L.api_id "
			"CROSS JOIN main.rtl_op_kernel K ON K.op_id = L.op_id WHERE L.id >= %lld AND L.id < %lld "
			"GROUP BY L.api_id",
			(long long)first_op, (long long)(p->base + p->next_op));
	if (ret == 0 && p->nr_unnamed)
		ret = name_launches(p);
	if (ret == 0 && p->nr_unnamed)
		ret = rpd_db_exec(
			p->r,
			"DELETE FROM rtl_unnamed WHERE api_id IN (SELECT api_id FROM temp.rtl_named);"
			"DROP TABLE temp.rtl_named");
	if (ret == 0 && p->nr_unnamed && final)
		ret = rpd_db_execf(p->r,
				   "DELETE FROM rtl_unnamed WHERE api_id >= %lld AND api_id < %lld",
				   (long long)p->base,
				   (long long)(p->base + p->blocks * RPD_BLOCK));
	return ret;
}
