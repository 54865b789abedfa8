/* SPDX-License-Identifier: MIT */
/* activity_map.h - whose call submitted the command that HIP numbers so
 *
 * Any thread. Each entry is taken once; one that HIP never reports stays.
 */
#ifndef RTL_SOURCE_HIP_ACTIVITY_MAP_H
#define RTL_SOURCE_HIP_ACTIVITY_MAP_H

#include <stdint.h>

struct activity_origin {
	uint64_t number; /* HIP's */
	uint64_t correlation, marker;
	const char *kernel;
	uint32_t tid;
	uint32_t wanted; /* subscribers that want it, a bit each */
};

/* Once, before anything else. */
void activity_map_init(void);
/* Without memory the entry is lost: the operation will have no call. */
void activity_map_put(const struct activity_origin *o);
/* Fills in and removes the entry of o->number; leaves `o` alone if there is none. */
void activity_map_take(struct activity_origin *o);

#endif
