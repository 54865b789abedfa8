/* SPDX-License-Identifier: MIT */
/* live_map.h - whose call submitted the command that HIP numbers so
 *
 * Any thread. Each entry is taken once; one that HIP never reports stays.
 */
#ifndef RTL_SOURCE_HIP_LIVE_MAP_H
#define RTL_SOURCE_HIP_LIVE_MAP_H

#include <stdint.h>

struct live_origin {
	uint64_t number; /* HIP's */
	uint64_t correlation, marker;
	const char *kernel;
	uint32_t tid;
	uint32_t wanted; /* listeners that want to be told */
};

/* Once, before anything else. */
void live_map_init(void);
/* Without memory the entry is lost: the operation will have no call. */
void live_map_put(const struct live_origin *o);
/* Fills in and removes the entry of o->number; leaves `o` alone if there is none. */
void live_map_take(struct live_origin *o);

#endif
