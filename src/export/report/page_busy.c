/* SPDX-License-Identifier: MIT */
/* page_busy.c - how long each GPU was busy: overlapping operations count once */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"
#include "query/transfer.h"

/* Sorted by GPU and begin. Operations without measured times have no length (docs/formats/database.md), or a negative one. */
static const char ops_sql[] =
	"SELECT gpuId, start, \"end\", opType_id IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_COPY(
		"string") ") OR description_id IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_BLIT("string") ") "
													       "FROM rocpd_op WHERE gpuId >= 0 ORDER BY 1, 2";

static struct page_gpu *find_gpu(struct page *page, int64_t gpu)
{
	struct page_gpu *g = page->nr_gpus ? &page->gpus[page->nr_gpus - 1] : NULL;

	if (g && g->gpu == gpu)
		return g;
	g = alloc_resize(page->gpus, page->nr_gpus + 1, sizeof(*g));
	if (!g)
		return NULL;
	page->gpus = g;
	g = &page->gpus[page->nr_gpus];
	*g = (struct page_gpu){ .gpu = gpu, .bins = alloc_zero(PAGE_BINS, sizeof(*g->bins)) };
	if (!g->bins)
		return NULL;
	page->nr_gpus++;
	return g;
}

/* Adds a time in which the GPU was busy to the parts of the trace in which it is. */
static void add_to_bins(const struct page *page, struct page_gpu *g, int64_t begin, int64_t end)
{
	int64_t width = page->span / PAGE_BINS + 1;

	begin = begin > page->t0 ? begin - page->t0 : 0;
	end -= page->t0;
	for (int64_t bin = begin / width; bin < PAGE_BINS && begin < end; bin++) {
		int64_t until = (bin + 1) * width < end ? (bin + 1) * width : end;

		g->bins[bin] += (uint64_t)(until - begin);
		begin = until;
	}
}

static void add_op(const struct page *page, struct page_gpu *g, int64_t begin, int64_t end,
		   bool copy)
{
	if (!g->until)
		g->first = g->until = begin;
	if (copy)
		g->copy_ns += (uint64_t)(end - begin);
	else
		g->kernel_ns += (uint64_t)(end - begin);
	if (end <= g->until)
		return;
	if (begin < g->until)
		begin = g->until;
	g->busy_ns += (uint64_t)(end - begin);
	add_to_bins(page, g, begin, end);
	g->until = end;
}

int page_busy_read(struct page *page)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(page->q, &row, ops_sql);

	while (ret == 0 && (ret = query_step(page->q, row)) == 1) {
		int64_t begin = sqlite3_column_int64(row, 1), end = sqlite3_column_int64(row, 2);
		struct page_gpu *g = find_gpu(page, sqlite3_column_int64(row, 0));
		bool copy = sqlite3_column_int(row, 3) != 0;

		ret = g ? 0 : query_fail_memory(page->q);
		if (!g)
			break;
		g->copies += copy;
		g->kernels += !copy;
		if (end > begin && begin > 0)
			add_op(page, g, begin, end, copy);
	}
	sqlite3_finalize(row);
	return ret;
}

void page_busy_write(const struct page *page, struct json *j)
{
	json_member_int(j, "bin_ns", page->span / PAGE_BINS + 1);
	json_key(j, "gpus");
	json_array(j);
	for (size_t i = 0; i < page->nr_gpus; i++) {
		const struct page_gpu *g = &page->gpus[i];

		json_object(j);
		json_member_int(j, "gpu", g->gpu);
		json_member_int(j, "busy_ns", (int64_t)g->busy_ns);
		json_member_int(j, "kernel_ns", (int64_t)g->kernel_ns);
		json_member_int(j, "copy_ns", (int64_t)g->copy_ns);
		json_member_int(j, "kernels", (int64_t)g->kernels);
		json_member_int(j, "copies", (int64_t)g->copies);
		json_member_int(j, "span_ns", g->until - g->first);
		json_key(j, "bins");
		json_array(j);
		for (int k = 0; k < PAGE_BINS; k++)
			json_uint(j, g->bins[k]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}
