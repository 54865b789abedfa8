/* SPDX-License-Identifier: MIT */
/* finish.h - starts the conversion to a database at the program's end, without `rtl trace` */
#ifndef RTL_RECORDER_FINISH_H
#define RTL_RECORDER_FINISH_H

#include <stdbool.h>

/* Starts `rtl recover --remove -o OUTPUT disk_path` and waits for it, bounded. If OUTPUT exists and
 * is not empty, and neither `replace` nor RTL_FORCE is set, the pid is inserted into the name. Any
 * failure leaves the spool and logs a warning with the command to run. On the thread that ends the
 * process. */
void finish_run(const char *disk_path, const char *output, bool replace);

/* Looks for rtl beside the library at `path` instead of beside this one. Before finish_run(). */
void finish_beside(const char *path);

#endif
