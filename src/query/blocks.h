/* SPDX-License-Identifier: MIT */
/* blocks.h - rows of several cursors of one database, read by blocks of ids
 *
 * SQLite hands over many rows within one sqlite3_step() in a third of the time that a step for each
 * takes. So each cursor reads its next ids as a block, and asks for the one behind it before it
 * needs that. Another thread reads these by q->second; what it has not begun with when it is needed
 * is read by the caller's thread.
 */
#ifndef RTL_QUERY_BLOCKS_H
#define RTL_QUERY_BLOCKS_H

#include "query/timeline.h"

struct blocks;

/* Opens nr cursors over `rows`, which has `id`. `two`: another thread may read by q->second, both
 * are in a transaction, and their statements see the same. 0 or -errno with q->res->error. One
 * thread calls these functions. */
int blocks_open(struct query *q, const struct timeline_rows *rows, size_t nr, bool two, void *arg,
		struct blocks **out);
/* Cursor i reads the ids from `first` to `last`. 0 or -errno with q->res->error. */
int blocks_begin(struct blocks *b, size_t i, int64_t first, int64_t last);
/* As query_step(): 1 with the row, which stays until the cursor's next one, 0, or -errno with
 * q->res->error. HOT. */
int blocks_step(struct blocks *b, size_t i, const void **row);
/* Accepts NULL. */
void blocks_close(struct blocks *b);

#endif
