/* SPDX-License-Identifier: MIT */
/* activity_map.c - from HIP's number of a command to the call that submitted it
 *
 * HIP's numbers go up by one, and commands end in nearly that order. Each of PARTS parts is a ring
 * indexed by number, which doubles when two numbers need the same slot.
 *
 * Owns:     the parts.
 * Locks:    each part's own, a leaf; nothing but memory is touched inside.
 */
#include "source/hip/activity_map.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/lock.h"

#define PARTS 64u
#define FIRST_SIZE 64u
#define MAX_SIZE (1u << 20)

struct part {
	struct lock lock;
	/* under lock */
	struct activity_origin *entries; /* number + 1 in `number`; 0: free */
	uint32_t size;
};

static struct part parts[PARTS];

void activity_map_init(void)
{
	for (uint32_t i = 0; i < PARTS; i++)
		lock_init(&parts[i].lock, LOCK_ACTIVITY_MAP);
}

static struct activity_origin *slot_of(struct activity_origin *entries, uint32_t size,
				       uint64_t number)
{
	return &entries[number / PARTS & (size - 1)];
}

/* Whether all entries fit into the larger ring; otherwise it has to be larger still. */
static bool move(struct activity_origin *to, uint32_t to_size, const struct part *p)
{
	for (uint32_t i = 0; i < p->size; i++) {
		const struct activity_origin *from = &p->entries[i];
		struct activity_origin *e = slot_of(to, to_size, from->number - 1);

		if (!from->number)
			continue;
		if (e->number)
			return false;
		*e = *from;
	}
	return true;
}

static bool grow(struct part *p) RTL_REQUIRES(p->lock);
static bool grow(struct part *p)
{
	uint32_t size = p->size ? p->size * 2 : FIRST_SIZE;

	for (; size <= MAX_SIZE; size *= 2) {
		struct activity_origin *larger = alloc_pages(size * sizeof(*larger));

		if (!larger)
			return false;
		if (move(larger, size, p)) {
			alloc_pages_free(p->entries, p->size * sizeof(*p->entries));
			p->entries = larger;
			p->size = size;
			return true;
		}
		alloc_pages_free(larger, size * sizeof(*larger));
	}
	return false;
}

void activity_map_put(const struct activity_origin *o)
{
	struct part *p = &parts[o->number % PARTS];
	struct activity_origin *e = NULL;

	lock_take(&p->lock);
	do {
		if (p->size)
			e = slot_of(p->entries, p->size, o->number);
	} while ((!e || e->number) && grow(p));
	if (e && !e->number) {
		*e = *o;
		e->number++;
	}
	lock_drop(&p->lock);
}

void activity_map_take(struct activity_origin *o)
{
	struct part *p = &parts[o->number % PARTS];
	struct activity_origin *e;

	lock_take(&p->lock);
	if (p->size) {
		e = slot_of(p->entries, p->size, o->number);
		if (e->number == o->number + 1) {
			*o = *e;
			o->number--;
			e->number = 0;
		}
	}
	lock_drop(&p->lock);
}
