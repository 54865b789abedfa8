/* SPDX-License-Identifier: MIT */
/* rpd_pinned.c - pinned host memory by time
 *
 * From the calls that allocate or register memory and those that release it: it is pinned from the
 * end of the former to the begin of the latter. Calls come in any order, so a separate pass over
 * each part of the trace collects them, if the process made any.
 *
 * A region is an address; its spans follow one another in time. Regions are sorted by address, and
 * a tree over them has the furthest end of each subtree, so that the search for the span of a
 * pointer takes logarithmic time.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/args.h"

/* Calls kept: memory of further calls counts as not pinned. 32 MiB. */
#define MAX_EVENTS (UINT32_C(1) << 20)

struct span {
	uint64_t end; /* address */
	uint64_t from_ns, to_ns;
};

struct region {
	uint64_t addr, end; /* the furthest of its spans */
	uint32_t first, nr; /* spans, by time */
};

struct rpd_pinned {
	struct span *spans;
	struct region *regions;
	uint32_t nr_regions, nr_leaves;
	uint64_t *
		/* tree: node n is the maximum of 2n and 2n + 1, leaves from nr_leaves on */
		furthest;
};

enum what { NOTHING, ALLOCATED, RELEASED, FREED };

static enum what what_of(const struct store_op *op)
{
	static const struct {
		const char *name;
		enum what what;
	} all[] = {
		{ "hipHostMalloc", ALLOCATED },	   { "hipHostAlloc", ALLOCATED },
		{ "hipMallocHost", ALLOCATED },	   { "hipMemAllocHost", ALLOCATED },
		{ "hipHostRegister", ALLOCATED },  { "hipHostFree", RELEASED },
		{ "hipFreeHost", RELEASED },	   { "hipMemFreeHost", RELEASED },
		{ "hipHostUnregister", RELEASED }, { "hipFree", FREED },
	};

	for (size_t i = 0; op->domain == REC_API_HIP && i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(op->name, all[i].name) == 0)
			return all[i].what;
	return NOTHING;
}

/* The memory's address: the pointer that the call returned, else its first pointer argument. */
static bool address_of(const struct store_api *api, uint64_t *addr)
{
	const struct store_op *op = api->op;
	const struct store_arg *found = NULL;

	for (uint32_t i = 0; i < op->nr_args; i++) {
		const struct store_arg *arg = &op->args[i];

		if (arg->type == 'p' && (!found || arg->name[0] == '*'))
			found = arg;
	}
	if (!found)
		return false;
	*addr = api->words[found->word];
	return *addr != 0;
}

static int keep_event(struct rpd_process *p, const struct rpd_pin_event *event)
{
	struct rpd_pin_event *events;

	if (p->nr_pin_events == MAX_EVENTS) {
		p->pins_full = true;
		return 0;
	}
	events = alloc_grow(p->pin_events, p->nr_pin_events, &p->cap_pin_events, 256,
			    sizeof(*events));
	if (!events)
		return -ENOMEM;
	p->pin_events = events;
	p->pin_events[p->nr_pin_events++] = *event;
	return 0;
}

static int on_call(void *arg, const struct store_api *api)
{
	struct rpd_process *p = arg;
	enum what what = (enum what)p->pin_ops[api->op - p->ops];
	struct rpd_pin_event event = { .ns = api->begin_ns };
	uint64_t known;

	if (what == NOTHING || api->status != 0 || !api->nr_words || !address_of(api, &event.addr))
		return 0;
	/* hipFree() of device memory */
	if (what == FREED && !map_get(&p->pin_addrs, event.addr, &known))
		return 0;
	if (what == ALLOCATED) {
		event.ns = api->end_ns;
		event.size = args_value(api, "bytes", 0);
		if (!event.size)
			return 0;
		if (map_put(&p->pin_addrs, event.addr, 1) < 0)
			return -ENOMEM;
	}
	return keep_event(p, &event);
}

/* By address, then time; a release comes before an allocation at the same time. */
static int compare_events(const void *a, const void *b)
{
	const struct rpd_pin_event *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->size != 0) - (y->size != 0);
}

/* Sorts the events. The same one comes twice if its call was in memory first and on disk in a later
 * part. */
static void sort_events(struct rpd_process *p)
{
	uint32_t nr = 0;

	qsort(p->pin_events, p->nr_pin_events, sizeof(*p->pin_events), compare_events);
	for (uint32_t i = 0; i < p->nr_pin_events; i++)
		if (!nr ||
		    memcmp(&p->pin_events[nr - 1], &p->pin_events[i], sizeof(*p->pin_events)) != 0)
			p->pin_events[nr++] = p->pin_events[i];
	p->nr_pin_events = nr;
}

/* Converts the sorted events to regions and spans. */
static void make_spans(struct rpd_pinned *pinned, const struct rpd_process *p)
{
	struct region *region = NULL;
	uint32_t nr_spans = 0;
	bool open = false;

	for (uint32_t i = 0; i < p->nr_pin_events; i++) {
		const struct rpd_pin_event *e = &p->pin_events[i];

		if (!region || region->addr != e->addr) {
			region = &pinned->regions[pinned->nr_regions++];
			*region = (struct region){ .addr = e->addr, .first = nr_spans };
			open = false;
		}
		/* a span without a release ends where the next one begins */
		if (open)
			pinned->spans[nr_spans - 1].to_ns = e->ns;
		open = e->size != 0;
		if (!open)
			continue;
		pinned->spans[nr_spans++] = (struct span){ e->size > UINT64_MAX - e->addr ?
								   UINT64_MAX :
								   e->addr + e->size,
							   e->ns, UINT64_MAX };
		region->nr++;
		if (pinned->spans[nr_spans - 1].end > region->end)
			region->end = pinned->spans[nr_spans - 1].end;
	}
}

static int build_index(struct rpd_process *p)
{
	struct rpd_pinned *pinned = p->pinned;
	uint32_t nr, leaves = 1;

	sort_events(p);
	nr = p->nr_pin_events;
	while (leaves < nr)
		leaves *= 2;
	pinned->spans = alloc_zero(nr, sizeof(*pinned->spans));
	pinned->regions = alloc_zero(nr, sizeof(*pinned->regions));
	pinned->furthest = alloc_zero(2 * (size_t)leaves, sizeof(*pinned->furthest));
	if (!pinned->spans || !pinned->regions || !pinned->furthest)
		return -ENOMEM;
	make_spans(pinned, p);
	pinned->nr_leaves = leaves;
	for (uint32_t i = 0; i < pinned->nr_regions; i++)
		pinned->furthest[leaves + i] = pinned->regions[i].end;
	for (uint32_t n = leaves - 1; n > 0; n--) {
		uint64_t a = pinned->furthest[2 * n], b = pinned->furthest[2 * n + 1];

		pinned->furthest[n] = a > b ? a : b;
	}
	return 0;
}

int rpd_pinned_begin(struct rpd_process *p)
{
	static const struct store_visitor visitor = { .api = on_call };
	struct load_error err = { "" };
	bool any = p->nr_pin_events > 0;
	size_t nr;
	int ret;

	index_ops(p->index, &nr);
	p->pin_ops = alloc_zero(nr, sizeof(*p->pin_ops));
	p->pinned = alloc_zero(1, sizeof(*p->pinned));
	if (!p->pin_ops || !p->pinned)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		p->pin_ops[i] = (uint8_t)what_of(&p->ops[i]);
		any |= p->pin_ops[i] == ALLOCATED;
	}
	if (!any)
		return 0;
	ret = index_visit_ahead(p->index, &visitor, p, &err);
	if (ret < 0 || !p->nr_pin_events)
		return ret;
	if (p->pins_full)
		rpd_warn(
			p->r,
			"%s: more than %u calls that pin or release host memory: column \"pinned\" "
			"of rocpd_copyapi considers the first of them only",
			p->path, p->nr_pin_events);
	return build_index(p);
}

void rpd_pinned_end_part(struct rpd_process *p)
{
	alloc_free(p->pin_ops);
	p->pin_ops = NULL;
	if (!p->pinned)
		return;
	alloc_free(p->pinned->spans);
	alloc_free(p->pinned->regions);
	alloc_free(p->pinned->furthest);
	alloc_free(p->pinned);
	p->pinned = NULL;
}

/* Whether one of the region's spans contains the pointer at that time. */
static bool region_holds(const struct rpd_pinned *pinned, const struct region *region,
			 uint64_t pointer, uint64_t ns)
{
	const struct span *spans = &pinned->spans[region->first];
	uint32_t lo = 0, hi = region->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (spans[mid].from_ns <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && spans[lo - 1].to_ns >= ns && spans[lo - 1].end > pointer;
}

bool rpd_pinned_has(const struct rpd_process *p, uint64_t pointer, uint64_t ns)
{
	const struct rpd_pinned *pinned = p->pinned;
	uint32_t stack[64], depth = 0;
	uint32_t lo = 0, hi = pinned ? pinned->nr_regions : 0;

	/* regions [0, lo) begin at or before the pointer */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pinned->regions[mid].addr <= pointer)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	stack[depth++] = 1;
	while (depth) {
		uint32_t n = stack[--depth], first = n, size = 1;

		if (pinned->furthest[n] <= pointer)
			continue;
		for (; first < pinned->nr_leaves; first *= 2)
			size *= 2;
		if (first - pinned->nr_leaves >= lo)
			continue;
		if (size == 1 &&
		    region_holds(pinned, &pinned->regions[n - pinned->nr_leaves], pointer, ns))
			return true;
		if (size > 1) {
			stack[depth++] = 2 * n;
			stack[depth++] = 2 * n + 1;
		}
	}
	return false;
}
