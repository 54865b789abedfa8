/* SPDX-License-Identifier: MIT */
/* control.h - the client of the sockets of traced processes
 *
 * A process is addressed by its pid in rtl's pid namespace, or by that in its own one if it is not
 * visible here.
 */
#ifndef RTL_CLI_TRACE_CONTROL_H
#define RTL_CLI_TRACE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sockdir.h"
#include "control/protocol.h"

#define CONTROL_ERROR_SIZE 1024

struct control_target {
	uid_t uid;
	uint32_t pid;
	bool visible; /* pid is of rtl's namespace */
	char dir[SOCKDIR_SIZE];
	char name[SOCKDIR_NAME_SIZE];
};

/* The processes of `uid` that have a socket, by pid; malloc'd. Removes sockets of dead processes.
 * Where a directory is refused, says so. Returns their number. */
size_t control_list(uid_t uid, struct control_target **out);
/* Of all users of whom there may be some, for root. */
size_t control_list_all(struct control_target **out);

/* The process of that pid. 0, or -errno with `error`. */
int control_find(uint32_t pid, struct control_target *out, char error[CONTROL_ERROR_SIZE]);

/* Asks, and waits for the answer. 0: an answer, whose texts end in NUL and are printable; its
 * status may be negative. Else -errno with `error`. */
int control_ask(const struct control_target *target, enum control_command command,
		struct control_reply *reply, char error[CONTROL_ERROR_SIZE]);
/* The same for CONTROL_START to an idle process. */
int control_ask_to_open(const struct control_target *target, enum control_command command,
			const char *dir, const char *output, struct control_reply *reply,
			char error[CONTROL_ERROR_SIZE]);

/* Checks and completes an answer of `size` bytes. false: it is none. */
bool control_read_reply(const void *message, size_t size, struct control_reply *out);

/* The pid that an operand names; ends the process if it names none. */
uint32_t control_pid(const char *operand);
/* control_find() and control_ask(); a failure, and a negative status, end the process with a
 * message. */
void control_must_ask(uint32_t pid, enum control_command command, struct control_target *target,
		      struct control_reply *reply);

/* The same for a process that was found. */
void control_must_ask_it(const struct control_target *target, enum control_command command,
			 struct control_reply *reply);
/* control_find() for a command that writes files where the process says: root becomes the user of
 * another user's process, for good. */
void control_must_reach(uint32_t pid, struct control_target *target);

/* "recording", "paused", "idle", "ending". */
const char *control_state_name(uint32_t state);
/* What holds recording back: "by rtl stop, by the program"; "": nothing. */
const char *control_causes(char *buf, size_t size, const struct control_reply *reply);

#endif
