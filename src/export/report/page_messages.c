/* SPDX-License-Identifier: MIT */
/* page_messages.c - messages of MPI: which call has received what which call has sent
 *
 * The block "messages" has four columns: the ids of both calls, bytes and tag. A trace without
 * messages has neither this block nor its script (web/messages.js).
 */
#include <errno.h>

#include "analysis/mpi_messages.h"
#include "base/alloc.h"
#include "export/report/page_internal.h"

/* Messages beyond this number are left out: a page has at most some MiB of them. */
#define MESSAGES_MAX 400000

enum { SEND, RECEIVE, BYTES, TAG, NR_COLUMNS };

struct writer {
	struct page *page;
	struct page_bytes columns[NR_COLUMNS];
	int64_t last[2]; /* of SEND and RECEIVE */
	uint64_t nr_left_out;
};

static int put_difference(struct writer *w, int column, int64_t value)
{
	int64_t by = value - w->last[column];

	w->last[column] = value;
	return page_bytes_put(&w->columns[column], (uint64_t)by << 1 ^ (uint64_t)(by >> 63));
}

static int put_message(void *arg, const struct mpi_message *m)
{
	struct writer *w = arg;
	int ret;

	if (w->page->nr_messages == MESSAGES_MAX) {
		w->nr_left_out++;
		return 0;
	}
	w->page->nr_messages++;
	ret = put_difference(w, SEND, m->send.id);
	if (ret == 0)
		ret = put_difference(w, RECEIVE, m->receive.id);
	if (ret == 0)
		ret = page_bytes_put(&w->columns[BYTES], m->bytes > 0 ? (uint64_t)m->bytes : 0);
	return ret ? ret : page_bytes_put(&w->columns[TAG], (uint64_t)m->tag);
}

static int write_block(struct writer *w)
{
	struct page_pack *pack;
	int ret;

	json_bytes(w->page->out, (const char *)page_script, page_script_size);
	pack = page_pack_open(w->page->out, "messages");
	ret = pack ? 0 : -ENOMEM;

	for (int i = 0; ret == 0 && i < NR_COLUMNS; i++)
		ret = page_pack_write(pack, (const char *)w->columns[i].bytes, w->columns[i].nr);
	if (page_pack_close(pack) && ret == 0)
		ret = w->page->out->error;
	return ret;
}

int page_messages_write(struct page *page)
{
	struct writer w = { .page = page };
	char text[MPI_MESSAGES_TEXT];
	struct mpi_messages messages;
	int ret = mpi_messages_read(page->q, put_message, &w, &messages);

	if (ret == 0 && page->nr_messages)
		ret = write_block(&w);
	/* one process alone has the other ends in other traces */
	if (ret == 0 && page->q->nr_processes > 1 && *mpi_messages_text(&messages, text))
		job_warn(page->q->res, "without an arrow: %s", text);
	if (ret == 0 && w.nr_left_out)
		job_warn(page->q->res, "%llu messages of MPI have no arrow: there are more than %u",
			 (unsigned long long)w.nr_left_out, MESSAGES_MAX);
	for (int i = 0; i < NR_COLUMNS; i++)
		alloc_free(w.columns[i].bytes);
	return ret;
}
