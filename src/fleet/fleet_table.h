/* SPDX-License-Identifier: MIT */
/* fleet_table.h - the tables of one rank of a data set as tables of SQLite */
#ifndef RTL_FLEET_FLEET_TABLE_H
#define RTL_FLEET_FLEET_TABLE_H

#include <sqlite3.h>

#include "fleet/fleet_set.h"

struct fleet_scan {
	const struct fleet_set *set;
	const struct fleet_rank *rank;	    /* whose rows the tables have; it may change between
					  statements */
	char error[FLEET_ERROR + PATH_MAX]; /* the file that can't be read; "": none */
};

/* Makes all tables in the connection, which has to be closed before `scan` goes. A code of
 * SQLite. */
int fleet_table_make(sqlite3 *db, struct fleet_scan *scan);

#endif
