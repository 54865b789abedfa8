/* SPDX-License-Identifier: MIT */
/* id_map.h - from the ids of events, which are dense, to numbers; 0 at first
 *
 * Threads:  any. Nothing is freed.
 * Fails:    without memory, and for ids beyond ID_MAP_MAX, a number stays 0.
 */
#ifndef RTL_LIB_FACE_ID_MAP_H
#define RTL_LIB_FACE_ID_MAP_H

#include <stdatomic.h>
#include <stdint.h>

#define ID_MAP_CHUNK 1024u
#define ID_MAP_CHUNKS 1024u
#define ID_MAP_MAX (ID_MAP_CHUNK * ID_MAP_CHUNKS)

/* Static: zeroed. */
struct id_map {
	_Atomic(_Atomic uint64_t *) chunks[ID_MAP_CHUNKS];
};

/* HOT: what the number stands for was stored before. */
uint64_t id_map_get(struct id_map *m, uint32_t id);
void id_map_set(struct id_map *m, uint32_t id, uint64_t value);

#endif
