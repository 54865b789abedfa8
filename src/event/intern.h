/* SPDX-License-Identifier: MIT */
/* intern.h - the table of strings that have an id; never freed */
#ifndef RTL_EVENT_INTERN_H
#define RTL_EVENT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The id of a string; `*fresh`: whether it is new. Under the bus's lock. Without memory the id is
 * new each time, and the string is not stored. */
uint32_t intern_id(const char *text, size_t size, bool *fresh);

/* An id that no string in the table has. HOT, any thread. */
uint32_t intern_new_id(void);

/* Calls `fn` for every string in the table. Under the bus's lock. */
void intern_each(void (*fn)(void *arg, uint32_t id, const char *text, size_t size), void *arg);

#endif
