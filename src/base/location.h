/* SPDX-License-Identifier: MIT */
/* location.h - the paths that this process writes to, read from the environment at its start
 *
 * At its start, since the program may later change its directory and its environment. All paths are
 * absolute, without a trailing slash.
 */
#ifndef RTL_BASE_LOCATION_H
#define RTL_BASE_LOCATION_H

#include <stdbool.h>

#define LOCATION_SIZE 512 /* as SPOOL_NAME_SIZE of spool/format.h */

struct rank;

/* After env_init(). No malloc. 0, or -ENAMETOOLONG: then location_error() says which. */
int location_init(void);

const char *location_output(void);    /* the database */
const char *location_spool_dir(void); /* of the spool's part on disk */
const char *location_mem_dir(void); /* of the spool's part in memory; "" for the spool directory */
bool location_is_session(void);	    /* `rtl trace` started this process and drains its spool */
const struct rank *location_rank(void);
const char *location_host(void);
const char *location_error(void); /* "" if there was none */
/* Warns, once, of a part of the output's name that begins like a pattern and is not one. */
void location_report(void);

#endif
