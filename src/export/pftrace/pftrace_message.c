/* SPDX-License-Identifier: MIT */
/* pftrace_message.c - messages of MPI in Perfetto's format: flows from the begin of a send to the
 * end of the call that has received it
 *
 * Readers lead a flow from its earlier packet to its later one: a receive may begin before its
 * send, and never ends before it.
 */
#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

struct pftrace_messages {
	/* calls -> the last one of `all` that they have sent, received */
	struct map sends, receives;
	struct message {
		/* of those of the same call, + 1; 0: none */
		size_t sent_before, received_before;
	} * all;
	size_t nr, max;
	uint64_t nr_left_out;
};

static int keep_message(void *trace, const struct mpi_message *m)
{
	struct pftrace *t = trace;
	struct pftrace_messages *k = t->messages;
	uint64_t before;
	struct message *all, message = { 0 };

	if (k->nr == PFTRACE_MESSAGES) {
		k->nr_left_out++;
		return 0;
	}
	all = alloc_grow(k->all, k->nr, &k->max, 64, sizeof(*all));
	if (!all)
		return query_fail_memory(t->q);
	k->all = all;
	if (map_get(&k->sends, (uint64_t)m->send.id, &before))
		message.sent_before = before + 1;
	if (map_get(&k->receives, (uint64_t)m->receive.id, &before))
		message.received_before = before + 1;
	if (map_put(&k->receives, (uint64_t)m->receive.id, k->nr) ||
	    map_put(&k->sends, (uint64_t)m->send.id, k->nr))
		return query_fail_memory(t->q);
	all[k->nr++] = message;
	return 0;
}

int pftrace_messages_begin(struct pftrace *t)
{
	int ret;

	t->messages = alloc_zero(1, sizeof(*t->messages));
	if (!t->messages)
		return query_fail_memory(t->q);
	ret = walk_messages(t->walk, keep_message);
	if (ret == 0 && t->messages->nr_left_out)
		job_warn(t->q->res, "%llu messages of MPI have no arrow: there are more than %u",
			 (unsigned long long)t->messages->nr_left_out, PFTRACE_MESSAGES);
	return ret;
}

void pftrace_messages_end(struct pftrace *t)
{
	if (!t->messages)
		return;
	map_fini(&t->messages->sends);
	map_fini(&t->messages->receives);
	alloc_free(t->messages->all);
	alloc_free(t->messages);
	t->messages = NULL;
}

void pftrace_sent(struct pftrace *t, int64_t call)
{
	uint64_t last;

	if (!map_get(&t->messages->sends, (uint64_t)call, &last))
		return;
	for (size_t i = (size_t)last + 1; i; i = t->messages->all[i - 1].sent_before)
		proto_fixed64(&t->packet, EVENT_FLOW, PFTRACE_FLOW_OF_MESSAGE(i));
}

void pftrace_received(struct pftrace *t, int64_t call)
{
	uint64_t last;

	if (!map_get(&t->messages->receives, (uint64_t)call, &last))
		return;
	for (size_t i = (size_t)last + 1; i; i = t->messages->all[i - 1].received_before)
		proto_fixed64(&t->packet, EVENT_FLOW, PFTRACE_FLOW_OF_MESSAGE(i));
}
