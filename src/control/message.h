/* SPDX-License-Identifier: MIT */
/* message.h - checks what a client has sent */
#ifndef RTL_CONTROL_MESSAGE_H
#define RTL_CONTROL_MESSAGE_H

#include <stddef.h>

#include "control/protocol.h"

/* `size` may be larger than what was received, of which there are CONTROL_MAX_SIZE bytes then. 0
 * and the request, missing members zero; or -errno with `text`. */
int message_check(const void *message, size_t size, struct control_request *out,
		  char text[CONTROL_TEXT_SIZE]);

/* An empty reply. */
void message_begin_reply(struct control_reply *reply);

/* Printable text without control characters, cut to `size`; `text` may lack its NUL, it has at most
 * `max` bytes. Arguments of a process, which NULs separate, are joined if `max` is their size and
 * `join` is set. */
void message_text(char *out, size_t size, const char *text, size_t max, int join);

#endif
