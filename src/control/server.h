/* SPDX-License-Identifier: MIT */
/* server.h - answers requests on a socket in the user's directory
 *
 * A client sends one message and gets one; it has SERVER_WAIT_NS for that. Of more than
 * SERVER_CLIENTS at once the oldest is dropped. Clients of other users, root excepted, are dropped.
 */
#ifndef RTL_CONTROL_SERVER_H
#define RTL_CONTROL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sockdir.h"
#include "control/protocol.h"

#define SERVER_CLIENTS 8
#define SERVER_WAIT_NS UINT64_C(2000000000)

struct server {
	int fd; /* listens; -1: not open */
	uid_t uid;
	/* Fills in the whole reply, whatever the message is. */
	void (*answer)(const void *message, size_t size, struct control_reply *reply);
	struct server_client {
		int fd; /* -1: none */
		uint64_t until_ns;
	} clients[SERVER_CLIENTS];
};

/* Makes the socket `name` in the directory. An older one of that name, of an earlier process, is
 * replaced. 0 or -errno. */
int server_open(struct server *s, int dir_fd, const char *dir, const char *name);
/* Waits until something is to be done, at most timeout_ms (-1: no limit), and does it. Never blocks
 * otherwise. 0, or -errno: the socket is of no use any more. */
int server_step(struct server *s, int timeout_ms);
/* Closes all; the socket's file stays. */
void server_close(struct server *s);

#endif
