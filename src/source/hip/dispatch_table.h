/* SPDX-License-Identifier: MIT */
/* dispatch_table.h - HIP's dispatch tables: the wrappers of programs that don't come through
 * librtl's symbols
 *
 * HIP 6 and later call each exported function by an entry of a table, and offer the tables to a
 * tool by way of rocprofiler-register, once, within the program's first HIP call. From then on the
 * wrappers stand in the entries. Those that are librtl's symbols call the functions that the
 * entries held, so that a call comes to one wrapper, whichever way the program takes; the one
 * during which the tables are handed over is seen by its first wrapper alone.
 */
#ifndef RTL_SOURCE_HIP_DISPATCH_TABLE_H
#define RTL_SOURCE_HIP_DISPATCH_TABLE_H

#include <stdint.h>

/* An entry, by its index in the table. Without a wrapper it stays as it is. */
struct dispatch_entry {
	uint16_t op; /* enum hip_op */
	void *wrapper;
};

/* Emitted with the wrappers: the tables up to the newest version that is known. Entries are only
 * ever appended. */
extern const struct dispatch_entry dispatch_runtime[], dispatch_compiler[];
extern const uint32_t dispatch_nr_runtime, dispatch_nr_compiler;

/* Puts wrappers into the entries that `table`, of this size, has; `name`: "hip" or "hip_compiler",
 * another table stays as it is. Within the runtime's initialisation: no exported function of HIP
 * may be called. Once for each table. */
void dispatch_table_take(const char *name, void *table);

#endif
