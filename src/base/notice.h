/* SPDX-License-Identifier: MIT */
/* notice.h - a traced process that has no spool notifies `rtl trace`
 *
 * The spool directory belongs to the user who runs rtl; a process of another user can't leave
 * anything there. Notices are datagrams to a socket without a file (an abstract address), whose
 * name is made of the directory's. The kernel adds the sender's pid and uid. No notice arrives from
 * another network namespace, or after `rtl trace` has ended.
 */
#ifndef RTL_BASE_NOTICE_H
#define RTL_BASE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

enum notice_kind {
	NOTICE_NO_SPOOL = 1, /* the spool could not be made; `error` is the errno */
	NOTICE_FORKED,	     /* a forked child uses the GPU, and could not be traced */
	/* HSA's runtime was used and did not load librtl as a tool; there is no spool */
	NOTICE_NO_TABLES,
};

struct notice {
	enum notice_kind kind;
	int error;
	uint32_t pid, uid;
};

/* In the traced process. Never blocks; changes neither errno nor descriptors. */
void notice_send(const char *session, enum notice_kind kind, int error);

/* In `rtl trace`: a descriptor to poll and to receive from, or -errno. */
int notice_open(const char *session);
/* Takes one notice; false: there is none. */
bool notice_next(int fd, struct notice *out);

#endif
