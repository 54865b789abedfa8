/* SPDX-License-Identifier: MIT */
/* activity_map.h - from HIP's number of a command to the call that submitted it
 *
 * Any thread. Each entry is taken once; the entry of a command that HIP never reports stays.
 */
#ifndef RTL_SOURCE_HIP_ACTIVITY_MAP_H
#define RTL_SOURCE_HIP_ACTIVITY_MAP_H

#include <stdint.h>

struct activity_origin {
	uint64_t number; /* of the command */
	uint64_t correlation, marker;
	const char *kernel;
	uint32_t tid;
	uint32_t wanted; /* subscribers that want it, a bit each */
};

/* Once, before the others. */
void activity_map_init(void);
/* Without memory the entry is dropped: the operation will have no call. */
void activity_map_put(const struct activity_origin *o);
/* Fills in and removes the entry of o->number; leaves `o` alone if there is none. */
void activity_map_take(struct activity_origin *o);

#endif
