/* SPDX-License-Identifier: MIT */
/* leaving_hsa.h - the kernels that clients of leaving.h submit */
#ifndef TESTS_PROGRAMS_LEAVING_HSA_H
#define TESTS_PROGRAMS_LEAVING_HSA_H

#include "hsa_common.h"
#include "leaving.h"

static struct machine machine;
static hsa_queue_t *queue;

__attribute__((unused)) static void submit_kernel(void)
{
	hsa_signal_t none = { 0 };
	hsa_kernel_dispatch_packet_t p =
		packet_dispatch(&machine, &machine.gpus[0].short_kernel, 64, 64, false, none);

	submit(queue, &p);
}

__attribute__((unused)) static void make_signal(void)
{
	HSA(hsa_signal_destroy(signal_new(1)));
}

static void open_queue(void)
{
	machine_open(&machine);
	queue = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_MULTI);
}

/* All packets have completed. */
static void close_queue(void)
{
	hsa_signal_t none = { 0 }, done = signal_new(1);
	hsa_barrier_and_packet_t p = packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true, none, done);

	submit(queue, &p);
	signal_wait_le(done, 0, "kernels");
	HSA(hsa_signal_destroy(done));
	HSA(hsa_queue_destroy(queue));
}

#endif
