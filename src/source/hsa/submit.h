/* SPDX-License-Identifier: MIT */
/* submit.h - the packet callback: each packet before the hardware sees it */
#ifndef RTL_SOURCE_HSA_SUBMIT_H
#define RTL_SOURCE_HSA_SUBMIT_H

#include <stdint.h>

#include "hsa_table_gen.h"

/* HOT: `count` packets that the program put into its queue from `index` on are handed to the hardware by
 * `writer`, which is called once, and not at all for a queue that has failed. `data` is the struct queue. The runtime calls it, on the
 * thread that rang the doorbell, one at a time for each queue. */
void submit_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		    hsa_amd_queue_intercept_packet_writer writer);

#endif
