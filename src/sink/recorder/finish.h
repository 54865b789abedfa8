/* SPDX-License-Identifier: MIT */
/* finish.h - starts `rtl`: the conversion to a database at the program's end, without `rtl trace`;
 * tables of a trace */
#ifndef RTL_RECORDER_FINISH_H
#define RTL_RECORDER_FINISH_H

#include <stdbool.h>

/* Starts `rtl recover --remove -o OUTPUT disk_path` and waits for it, bounded. If OUTPUT exists and
 * is not empty, and neither `replace` nor RTL_FORCE is set, the pid is inserted into the name. Any
 * failure leaves the spool and logs a warning with the command to run. On the thread that ends the
 * process. */
void finish_run(const char *disk_path, const char *output, bool replace);

/* Writes what `rtl summary --by=TABLES --format=FORMAT TRACE` prints to `file`, which appears whole
 * or not at all; `tables` NULL: the overview. 0, -EINVAL: there is no such table or format,
 * -ENOENT: there is no rtl, -EIO. Any thread, bounded. */
int finish_tables(const char *trace, const char *tables, const char *format, const char *file);

/* Looks for rtl beside the library at `path` instead of beside this one. Before the others. */
void finish_beside(const char *path);

#endif
