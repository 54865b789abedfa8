/* SPDX-License-Identifier: MIT */
/* put.c - puts packets into queues that others may write to, too
 *
 * Threads:  any.
 */
#include <time.h>

#include "base/sys.h"
#include "source/hsa/queue/packet.h"
#include "v1.h"

#define NAP_NS 20000

static void nap(void)
{
	const struct timespec t = { .tv_nsec = NAP_NS };

	sys_nap(&t);
}

bool put_is_over(uint64_t *waited_ns)
{
	nap();
	*waited_ns += NAP_NS;
	return *waited_ns > settings.timeout;
}

/* Reserves a slot of a queue that others may write to, too. False: it stays full. */
static bool reserve(hsa_queue_t *q, uint64_t *index)
{
	uint64_t waited_ns = 0, now;

	for (;;) {
		*index = hsa.hsa_queue_load_write_index_relaxed(q);
		if (*index - hsa.hsa_queue_load_read_index_scacquire(q) >= q->size) {
			if (put_is_over(&waited_ns))
				return false;
			continue;
		}
		now = hsa.hsa_queue_cas_write_index_scacq_screl(q, *index, *index + 1);
		if (now == *index)
			return true;
	}
}

bool put_packet(hsa_queue_t *q, const union packet *p, hsa_signal_t done)
{
	union packet copy = *p;
	union packet *slot;
	uint64_t index;

	if (!reserve(q, &index))
		return false;
	slot = (union packet *)q->base_address + index % q->size;
	copy.dispatch.completion_signal = done;
	if (done.handle)
		hsa.hsa_signal_add_screlease(done, 1);
	copy.header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
	*slot = copy;
	/* the packet processor may take the packet as soon as its header is valid */
	__atomic_store_n(&slot->header, p->header, __ATOMIC_RELEASE);
	hsa.hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)index);
	return true;
}
