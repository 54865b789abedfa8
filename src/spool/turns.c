/* SPDX-License-Identifier: MIT */
/* turns.c - finds the chunks that are drained next */
#include "spool/turns.h"

#include <stdatomic.h>

#include "spool/slot.h"

bool turns_wanted(uint32_t state, bool final)
{
	return state == SLOT_SEALED || state == SLOT_DRAINING || (final && state == SLOT_OPEN);
}

/* Damaged chunks may have the same number. */
static bool is_behind(const struct turn *a, const struct turn *b)
{
	return a->seq != b->seq ? a->seq > b->seq : a->slot > b->slot;
}

uint32_t turns_find(struct spool_header *h, bool final, const struct turn *after,
		    struct turn turns[TURNS])
{
	uint32_t nr = 0, at;

	for (uint32_t i = 0; i < h->nr_slots; i++) {
		/* acquire: pairs with the release in buf_seal(), for the number */
		struct turn turn = { .slot = i,
				     .state = atomic_load_explicit(&slot_desc(h, i)->state,
								   memory_order_acquire) };

		if (!turns_wanted(turn.state, final))
			continue;
		turn.seq = slot_chunk(h, i)->seq;
		if ((after && !is_behind(&turn, after)) ||
		    (nr == TURNS && !is_behind(&turns[nr - 1], &turn)))
			continue;
		nr += nr < TURNS;
		for (at = nr - 1; at && is_behind(&turns[at - 1], &turn); at--)
			turns[at] = turns[at - 1];
		turns[at] = turn;
	}
	return nr;
}
