/* SPDX-License-Identifier: MIT */
/* own_table.h - a table of descriptors for one thread of another program's process
 *
 * The thread's sockets are then not the program's: it can neither close nor inherit them, and the
 * numbers that it gets for its own files stay the same.
 */
#ifndef RTL_CONTROL_OWN_TABLE_H
#define RTL_CONTROL_OWN_TABLE_H

#include <stdbool.h>

/* Gives the calling thread a table in which only 0, 1 and 2 are used, by descriptors that lead
 * nowhere: what is written to stderr here by mistake reaches no client. `old`: as on a kernel
 * before 5.9; for tests. 0 or -errno: the table is the process's. */
int own_table_take(bool old);

#endif
