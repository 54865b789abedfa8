/* SPDX-License-Identifier: MIT */
/* id_map.c - from the ids of events to numbers */
#include "base/alloc.h"
#include "id_map.h"

#include <stdlib.h>

static _Atomic uint64_t *entry_of(struct id_map *m, uint32_t id)
{
	_Atomic uint64_t *chunk;

	if (id >= ID_MAP_MAX)
		return NULL;
	/* acquire: pairs with id_map_set() */
	chunk = atomic_load_explicit(&m->chunks[id / ID_MAP_CHUNK], memory_order_acquire);
	return chunk ? &chunk[id % ID_MAP_CHUNK] : NULL;
}

uint64_t id_map_get(struct id_map *m, uint32_t id)
{
	const _Atomic uint64_t *e = entry_of(m, id);

	/* acquire: pairs with id_map_set() */
	return e ? atomic_load_explicit(e, memory_order_acquire) : 0;
}

void id_map_set(struct id_map *m, uint32_t id, uint64_t value)
{
	_Atomic uint64_t *e = entry_of(m, id), *there = NULL;

	if (!e && id < ID_MAP_MAX) {
		_Atomic uint64_t *chunk = alloc_zero(ID_MAP_CHUNK, sizeof(*chunk));

		if (chunk &&
		    !atomic_compare_exchange_strong_explicit(&m->chunks[id / ID_MAP_CHUNK], &there,
							     chunk, memory_order_acq_rel,
							     memory_order_acquire))
			alloc_free(chunk);
		e = entry_of(m, id);
	}
	if (e)
		atomic_store_explicit(e, value, memory_order_release);
}
