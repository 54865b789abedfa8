/* SPDX-License-Identifier: MIT */
/* detach.h - the end of a trace goes on where a launcher's SIGKILL does not reach it
 *
 * mpirun ends a job by SIGTERM and SIGKILL to the process group of each rank: a second later, or at
 * once when another rank of the node has ended (Open MPI 4.1.4, seen). A database may take longer.
 */
#ifndef RTL_CLI_TRACE_DETACH_H
#define RTL_CLI_TRACE_DETACH_H

/* Goes on in a new process, in a session of its own. The caller's process waits, passes signals on
 * that end it (ui_stop_in_order()), and exits with the status of the new one; nothing is lost if it
 * is killed. The caller has one thread and waits for no child afterwards. If no process can be
 * made, the caller's goes on. */
void detach_from_launcher(void);

#endif
