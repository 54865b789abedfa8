/* SPDX-License-Identifier: MIT */
/* paths.h - the paths that this process writes to, read from the environment at its start
 *
 * At its start, since the program may later change its directory and its environment. All paths are
 * absolute, without a trailing slash.
 */
#ifndef RTL_BASE_PATHS_H
#define RTL_BASE_PATHS_H

#include <stdbool.h>

#define PATHS_SIZE 512 /* as SPOOL_NAME_SIZE of event/format.h */

struct rank;

/* After env_init(). No malloc. 0, or -ENAMETOOLONG: then paths_error() says which. */
int paths_init(void);

const char *paths_output(void);	   /* the database */
const char *paths_spool_dir(void); /* of the spool's part on disk */
const char *paths_mem_dir(void);   /* of the spool's part in memory; "" for the spool directory */
bool paths_is_session(void);	   /* `rtl trace` started this process and drains its spool */
const struct rank *paths_rank(void);
const char *paths_host(void);
const char *paths_error(void); /* "" if there was none */
/* Warns, once, of a part of the output's name that begins like a pattern and is not one. */
void paths_report(void);

#endif
