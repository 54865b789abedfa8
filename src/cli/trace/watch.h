/* SPDX-License-Identifier: MIT */
/* watch.h - processes of a run that leave no trace of themselves, seen from outside
 *
 * Such a process has a ROCm runtime and not librtl (its environment was cleared, it is setuid), or
 * it can't write to the spool directory and sends a notice (base/notice.h). For each of them the
 * watch writes a spool that has the loss alone, so that the verdict names it. On the drainer's
 * thread, then on that of the caller of drainer_stop().
 */
#ifndef RTL_CLI_TRACE_WATCH_H
#define RTL_CLI_TRACE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

/* `dir`, the spool directory, is borrowed. Never fails: without memory the process ends, without a
 * socket no notice arrives. */
struct watch *watch_start(const char *dir, uint32_t child);
void watch_destroy(struct watch *w);
/* To poll for notices; -1: none will arrive. */
int watch_fd(const struct watch *w);

/* Looks at the child and its descendants. true: one of them should be looked at again soon. */
bool watch_look(struct watch *w);
/* The program has ended: writes the spools, with a message for each process. */
void watch_conclude(struct watch *w);

/* After watch_conclude(): a process that was seen without librtl and without a runtime, for the
 * message that nothing was
 * traced: "process 12 (/usr/bin/x) ran without librtl: its environment was cleared"; NULL: none. */
const char *watch_suspect(const struct watch *w);

/* The pids of running processes that have the session in their environment. Returns their number,
 * at most max. */
size_t watch_left(const char *dir, uint32_t *pids, size_t max);
/* The same after they have ended, or so long: helpers outlive their program by a moment. */
size_t watch_wait(const char *dir, uint32_t *pids, size_t max, unsigned int grace_ms);

#endif
