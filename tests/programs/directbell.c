/* SPDX-License-Identifier: MIT */
/* directbell.c - writes the hardware's doorbell itself, as HIP does with
 * DEBUG_CLR_DIRECT_DOORBELL=1
 *
 *	directbell [before=N] [count=N] [parts=N] [after=N] [size=N]
 *
 * On one queue: `before` dispatches that are announced by hsa_signal_store, `parts` times `count`
 * that are announced by a store to the address that the doorbell signal holds, and `after` more by
 * hsa_signal_store. Each part is waited for.
 */
#include "hsa_common.h"

#ifndef HSA_LARGE_MODEL
#define HSA_LARGE_MODEL 1 /* amd_hsa_signal.h: 64-bit pointers */
#endif
#include <hsa/amd_hsa_signal.h>

static struct machine machine;

/* The address of the queue's doorbell. */
static volatile uint64_t *hardware_doorbell(const hsa_queue_t *queue)
{
	const amd_signal_t *s = (const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle;

	if (s->kind != AMD_SIGNAL_KIND_DOORBELL)
		die(1, "the queue's doorbell is a signal of kind %d", (int)s->kind);
	return s->hardware_doorbell_ptr;
}

static void dispatch(hsa_queue_t *queue, uint64_t nr, volatile uint64_t *doorbell)
{
	hsa_signal_t done = signal_new(1), none = { 0 };

	for (uint64_t i = 0; i < nr; i++) {
		hsa_kernel_dispatch_packet_t d =
			packet_dispatch(&machine, &machine.gpus[0].short_kernel, 64, 64, true,
					i + 1 == nr ? done : none);
		uint64_t index;
		void *slot;

		if (!doorbell) {
			submit(queue, &d);
			continue;
		}
		slot = slot_take(queue, &index);
		slot_publish(slot, &d);
		atomic_thread_fence(memory_order_seq_cst);
		*doorbell = index;
	}
	if (nr)
		signal_wait_le(done, 0, doorbell ? "direct doorbells" : "doorbells");
	HSA(hsa_signal_destroy(done));
}

int main(int argc, char **argv)
{
	uint64_t before = arg_num(argc, argv, "before", 0), after = arg_num(argc, argv, "after", 0);
	uint64_t count = arg_num(argc, argv, "count", 100), parts = arg_num(argc, argv, "parts", 1);
	hsa_queue_t *queue;

	machine_open(&machine);
	queue = queue_open(&machine, 0, (uint32_t)arg_num(argc, argv, "size", 1024),
			   HSA_QUEUE_TYPE_MULTI);
	dispatch(queue, before, NULL);
	for (uint64_t i = 0; i < parts; i++)
		dispatch(queue, count, hardware_doorbell(queue));
	dispatch(queue, after, NULL);
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_shut_down());
	printf("directbell: %llu dispatches, %llu of them by the doorbell itself\n",
	       (unsigned long long)(before + count * parts + after),
	       (unsigned long long)(count * parts));
	return 0;
}
