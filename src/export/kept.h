/* SPDX-License-Identifier: MIT */
/* kept.h - encoded texts by number, in bounded memory: when it is full it begins anew
 *
 * A zeroed one is empty. One thread.
 */
#ifndef RTL_EXPORT_KEPT_H
#define RTL_EXPORT_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/map.h"

#define KEPT_RECENT_BITS 10

struct kept_part {
	const char *bytes;
	size_t size;
};

struct kept {
	struct map index; /* key -> offset and size */
	char *bytes;
	size_t used, cap;
	char *large; /* the last one that is too large to be kept */
	/* those that were asked for last, by the lowest bits of the key, which has a comparison
	 * less than the map */
	struct kept_recent {
		uint64_t key, location;
		bool is_set;
	} recent[1 << KEPT_RECENT_BITS];
};

/* Valid until the next kept_put(). */
bool kept_get(struct kept *k, uint64_t key, struct kept_part *part);
/* Copies the bytes. 0 or -ENOMEM. */
int kept_put(struct kept *k, uint64_t key, struct kept_part *part);
void kept_fini(struct kept *k);

#endif
