/* SPDX-License-Identifier: MIT */
/* page_sum.c - times and counts by name: what the page's tables show */
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"

struct page_sum *page_sum_of(struct page_sums *sums, int64_t name)
{
	struct page_sum *grown;
	uint64_t at;

	if (map_get(&sums->by_name, (uint64_t)name, &at))
		return &sums->sums[at];
	grown = alloc_grow(sums->sums, sums->nr, &sums->max, 64, sizeof(*grown));
	if (!grown)
		return NULL;
	sums->sums = grown;
	if (map_put(&sums->by_name, (uint64_t)name, sums->nr))
		return NULL;
	grown[sums->nr] = (struct page_sum){ .name = name };
	return &grown[sums->nr++];
}

void page_sum_add(struct page_sum *sum, int64_t begin, int64_t end, bool timed)
{
	int64_t ns = end - begin;

	sum->count++;
	if (!timed) {
		sum->untimed++;
		return;
	}
	if (sum->count - sum->untimed == 1 || ns < sum->min)
		sum->min = ns;
	if (sum->count - sum->untimed == 1 || ns > sum->max)
		sum->max = ns;
	sum->total =
		(int64_t)((uint64_t)sum->total + (uint64_t)ns); /* damaged times may overflow */
}

static void write_values(const struct page *page, struct json *j)
{
	/* each: kernel, counter, dispatches, sum, smallest, largest, ns */
	json_key(j, "values");
	json_array(j);
	for (size_t i = 0; i < page->nr_values; i++) {
		const struct page_value *v = &page->values[i];

		json_array(j);
		json_int(j, v->kernel);
		json_int(j, v->counter);
		json_uint(j, v->count);
		json_double(j, v->total);
		json_double(j, v->min);
		json_double(j, v->max);
		json_int(j, v->ns);
		json_array_end(j);
	}
	json_array_end(j);
}

void page_sum_write(const struct page *page, struct json *j)
{
	static const char *const names[PAGE_TABLES] = { "kernels", "calls", "copies", "ranges",
							"runtime" };

	json_key(j, "tables");
	json_object(j);
	for (int t = 0; t < PAGE_TABLES; t++) {
		json_key(j, names[t]);
		json_array(j);
		for (size_t i = 0; i < page->tables[t].nr; i++) {
			const struct page_sum *s = &page->tables[t].sums[i];

			json_object(j);
			json_member_int(j, "name", s->name);
			json_member_int(j, "count", (int64_t)s->count);
			json_member_int(j, "untimed", (int64_t)s->untimed);
			json_member_int(j, "errors", (int64_t)s->errors);
			json_member_int(j, "bytes", (int64_t)s->bytes);
			json_member_int(j, "total", s->total);
			json_member_int(j, "min", s->min);
			json_member_int(j, "max", s->max);
			/* two numbers: a double does not hold 64 bits */
			json_member_int(j, "gpus", (int64_t)(s->gpus & UINT32_MAX));
			json_member_int(j, "gpus_high", (int64_t)(s->gpus >> 32));
			json_object_end(j);
		}
		json_array_end(j);
	}
	json_object_end(j);
	write_values(page, j);
}
