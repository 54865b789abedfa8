/* SPDX-License-Identifier: MIT */
/* service.h - a traced process answers rtl: ps, start, stop, status, top, snapshot
 *
 * The thread "rtl-control" waits for clients of a socket (server.h); all signals are blocked on it,
 * and its descriptors are its own. What needs the process's descriptors, and what has to be
 * recorded by then, is a job of the life thread.
 */
#ifndef RTL_CONTROL_SERVICE_H
#define RTL_CONTROL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "control/protocol.h"
#include "event/life.h"

struct spool_header;

/* What the library can do that the socket belongs to. */
struct service_host {
	/* Records what has completed. Life thread. */
	void (*flush)(void);
	/* Whether operations are in flight. */
	bool (*is_busy)(void);
	/* The open trace; NULL: none. */
	const struct spool_header *(*trace)(void);
	/* Of an idle process: opens a trace, and closes it; as those of the recorder. */
	int (*open)(const char *dir, const char *output);
	int (*close)(char *path, size_t size);
};

/* Reads the environment. After env_init(), before threads. `host` is static. */
void service_init(const struct service_host *host);

/* Carries a request out, which is not trusted, and fills in the answer. Control thread, and
 * tests. */
void service_answer(const void *message, size_t size, struct control_reply *reply);

/* Its first tick starts the thread, if something is traced or the process is idle; its stop removes
 * the socket. */
extern const struct source service_source;

#endif
