/* SPDX-License-Identifier: MIT */
/* rpd_pinned.c - which host memory was pinned when
 *
 * From the calls that allocate, register and give it back: pinned from the end of the one to the begin of
 * the other. Calls come in any order, so they are gathered in a pass of their own, where a process
 * has made such calls at all.
 *
 * Spans of one address follow one another in time. Addresses are in order, and a tree over them tells
 * where the furthest end is, so that what holds a pointer is found in a few steps among any number.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/args.h"

/* Calls kept: beyond, what lies in their memory is not known as pinned. 32 MiB. */
#define MAX_EVENTS (UINT32_C(1) << 20)

struct event {
	uint64_t addr, size; /* size 0: given back */
	uint64_t ns;
};

struct span {
	uint64_t end; /* address */
	uint64_t from_ns, to_ns;
};

struct place {
	uint64_t addr, end; /* the furthest of its spans */
	uint32_t first, nr; /* spans, by time */
};

struct rpd_pinned {
	struct event *events;
	uint32_t nr_events, cap_events;
	bool full;
	struct map addrs; /* that were allocated or registered so far */
	struct span *spans;
	struct place *places;
	uint32_t nr_places, nr_leaves;
	uint64_t *furthest; /* tree: of 2n and 2n + 1 at n, leaves from nr_leaves on */
};

enum what { NOTHING, ALLOCATED, GIVEN_BACK, FREED };

static enum what what_of(const struct store_op *op)
{
	static const struct {
		const char *name;
		enum what what;
	} all[] = {
		{ "hipHostMalloc", ALLOCATED },	     { "hipHostAlloc", ALLOCATED },
		{ "hipMallocHost", ALLOCATED },	     { "hipMemAllocHost", ALLOCATED },
		{ "hipHostRegister", ALLOCATED },    { "hipHostFree", GIVEN_BACK },
		{ "hipFreeHost", GIVEN_BACK },	     { "hipMemFreeHost", GIVEN_BACK },
		{ "hipHostUnregister", GIVEN_BACK }, { "hipFree", FREED },
	};

	for (size_t i = 0; op->domain == REC_API_HIP && i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(op->name, all[i].name) == 0)
			return all[i].what;
	return NOTHING;
}

/* The word of the memory's address: what came back, else the first pointer. */
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

static int keep(struct rpd_pinned *pinned, const struct event *event)
{
	if (pinned->nr_events == pinned->cap_events) {
		uint32_t cap = pinned->cap_events ? pinned->cap_events * 2 : 256;
		struct event *events;

		if (cap > MAX_EVENTS) {
			pinned->full = true;
			return 0;
		}
		events = alloc_resize(pinned->events, cap, sizeof(*events));
		if (!events)
			return -ENOMEM;
		pinned->events = events;
		pinned->cap_events = cap;
	}
	pinned->events[pinned->nr_events++] = *event;
	return 0;
}

static int on_call(void *arg, const struct store_api *api)
{
	struct rpd_process *p = arg;
	struct rpd_pinned *pinned = p->pinned;
	enum what what = (enum what)p->pin_ops[api->op - p->ops];
	struct event event = { .ns = api->begin_ns };
	uint64_t known;

	if (what == NOTHING || api->status != 0 || !api->nr_words || !address_of(api, &event.addr))
		return 0;
	/* mostly of device memory */
	if (what == FREED && !map_get(&pinned->addrs, event.addr, &known))
		return 0;
	if (what == ALLOCATED) {
		event.ns = api->end_ns;
		event.size = args_value(api, "bytes", 0);
		if (!event.size)
			return 0;
		if (map_put(&pinned->addrs, event.addr, 1) < 0)
			return -ENOMEM;
	}
	return keep(pinned, &event);
}

/* By address, then time; a place is given back before it is had again. */
static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->size != 0) - (y->size != 0);
}

/* Turns the events, in order, into places and spans. */
static void pair(struct rpd_pinned *pinned)
{
	struct place *place = NULL;
	uint32_t nr_spans = 0;
	bool open = false;

	for (uint32_t i = 0; i < pinned->nr_events; i++) {
		const struct event *e = &pinned->events[i];

		if (!place || place->addr != e->addr) {
			place = &pinned->places[pinned->nr_places++];
			*place = (struct place){ .addr = e->addr, .first = nr_spans };
			open = false;
		}
		/* one that was not given back is, where another begins */
		if (open)
			pinned->spans[nr_spans - 1].to_ns = e->ns;
		open = e->size != 0;
		if (!open)
			continue;
		pinned->spans[nr_spans++] = (struct span){ e->size > UINT64_MAX - e->addr ?
								   UINT64_MAX :
								   e->addr + e->size,
							   e->ns, UINT64_MAX };
		place->nr++;
		if (pinned->spans[nr_spans - 1].end > place->end)
			place->end = pinned->spans[nr_spans - 1].end;
	}
}

static int build(struct rpd_pinned *pinned)
{
	uint32_t nr = pinned->nr_events, leaves = 1;

	while (leaves < nr)
		leaves *= 2;
	qsort(pinned->events, nr, sizeof(*pinned->events), compare);
	pinned->spans = alloc_zero(nr, sizeof(*pinned->spans));
	pinned->places = alloc_zero(nr, sizeof(*pinned->places));
	pinned->furthest = alloc_zero(2 * (size_t)leaves, sizeof(*pinned->furthest));
	if (!pinned->spans || !pinned->places || !pinned->furthest)
		return -ENOMEM;
	pair(pinned);
	pinned->nr_leaves = leaves;
	for (uint32_t i = 0; i < pinned->nr_places; i++)
		pinned->furthest[leaves + i] = pinned->places[i].end;
	for (uint32_t n = leaves - 1; n > 0; n--) {
		uint64_t a = pinned->furthest[2 * n], b = pinned->furthest[2 * n + 1];

		pinned->furthest[n] = a > b ? a : b;
	}
	alloc_free(pinned->events);
	pinned->events = NULL;
	return 0;
}

int rpd_pinned_begin(struct rpd_process *p)
{
	static const struct store_visitor visitor = { .api = on_call };
	struct load_error err = { "" };
	bool any = false;
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
	ret = index_visit(p->index, &visitor, p, &err);
	if (ret < 0 || !p->pinned->nr_events)
		return ret;
	if (p->pinned->full)
		rpd_warn(p->r,
			 "%s: more than %u calls that pin host memory or give it back: \"pinned\" "
			 "of rocpd_copyapi goes by the first of them",
			 p->path, p->pinned->nr_events);
	return build(p->pinned);
}

void rpd_pinned_fini(struct rpd_process *p)
{
	alloc_free(p->pin_ops);
	if (!p->pinned)
		return;
	alloc_free(p->pinned->events);
	alloc_free(p->pinned->spans);
	alloc_free(p->pinned->places);
	alloc_free(p->pinned->furthest);
	map_fini(&p->pinned->addrs);
	alloc_free(p->pinned);
}

/* Whether one of the place's spans holds the pointer at that time. */
static bool holds(const struct rpd_pinned *pinned, const struct place *place, uint64_t pointer,
		  uint64_t ns)
{
	const struct span *spans = &pinned->spans[place->first];
	uint32_t lo = 0, hi = place->nr;

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
	uint32_t lo = 0, hi = pinned ? pinned->nr_places : 0;

	/* places [0, lo) begin at or before the pointer */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pinned->places[mid].addr <= pointer)
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
		if (size == 1 && holds(pinned, &pinned->places[n - pinned->nr_leaves], pointer, ns))
			return true;
		if (size > 1) {
			stack[depth++] = 2 * n;
			stack[depth++] = 2 * n + 1;
		}
	}
	return false;
}
