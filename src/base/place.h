/* SPDX-License-Identifier: MIT */
/* place.h - where this process writes to, worked out from the environment at its start
 *
 * At its start, since later the program may have changed its directory and its environment.
 * All paths are absolute, without a slash at the end.
 */
#ifndef RTL_BASE_PLACE_H
#define RTL_BASE_PLACE_H

#include <stdbool.h>

#define PLACE_PATH_SIZE 512 /* as SPOOL_NAME_SIZE of event/format.h */

struct rank;

/* After env_init(). No malloc. 0, or -ENAMETOOLONG: then place_error() says which. */
int place_init(void);

const char *place_output(void);	   /* the database */
const char *place_spool_dir(void); /* where the disk half lies */
const char *place_mem_dir(void);   /* where the memory half lies; "" for beside the spool */
bool place_is_session(void);	   /* `rtl trace` is above and drains */
const struct rank *place_rank(void);
const char *place_host(void);
const char *place_error(void); /* "" when all is well */
/* Warns, once, of what looks like a pattern in the output's name and is none. */
void place_report(void);

#endif
