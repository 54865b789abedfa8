/* SPDX-License-Identifier: MIT */
/* become.h - root acts as the user of the process that a command is about */
#ifndef RTL_CLI_TRACE_BECOME_H
#define RTL_CLI_TRACE_BECOME_H

#include <stdint.h>
#include <sys/types.h>

/* Takes the user, the group and the groups of the process, for good; `uid` is who it is expected to
 * be. What it then names can't make rtl write where its user could not. Nothing if that is this
 * user. Ends the process with a message if it can't. */
void become_must(uint32_t pid, uid_t uid);

#endif
