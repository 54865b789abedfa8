/* SPDX-License-Identifier: MIT */
/* finish.h - has the database written when the program ends and no `rtl trace` is above it */
#ifndef RTL_RECORDER_FINISH_H
#define RTL_RECORDER_FINISH_H

/* Starts `rtl recover --remove -o OUTPUT disk_path` and waits for it, bounded. When OUTPUT is
 * there already and RTL_FORCE is not set, the pid goes into the name. Any failure leaves
 * the spool as it is and is warned of, with what to run. On the thread that ends the process. */
void finish_run(const char *disk_path, const char *output);

#endif
