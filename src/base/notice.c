/* SPDX-License-Identifier: MIT */
/* notice.c - a traced process that has no spool notifies `rtl trace`
 *
 * Threads:  any.
 */
#include "base/notice.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sys.h"

#define NOTICE_MAGIC UINT32_C(0x4e4c5452) /* "RTLN" */

struct message {
	uint32_t magic, kind;
	int32_t error;
};

/* The address of that session. Returns its length. */
static socklen_t address_of(const char *session, struct sockaddr_un *address)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	struct str s;

	for (const char *p = session; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	str_init(&s, address->sun_path + 1, sizeof(address->sun_path) - 1);
	str_add(&s, "rocm-trace-lite/");
	str_add_hex(&s, hash, 16);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + s.used);
}

void notice_send(const char *session, enum notice_kind kind, int error)
{
	struct message message = { NOTICE_MAGIC, kind, error };
	struct sockaddr_un address;
	socklen_t length = address_of(session, &address);
	int saved = errno;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0) {
		sys_sendto(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT,
			   (const struct sockaddr *)&address, length);
		sys_close(fd);
	}
	errno = saved;
}

int notice_open(const char *session)
{
	struct sockaddr_un address;
	socklen_t length = address_of(session, &address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)&address, length) == 0)
		return fd;
	err = -errno;
	sys_close(fd);
	return err;
}

bool notice_next(int fd, struct notice *out)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct message message;
	struct iovec data = { &message, sizeof(message) };
	struct msghdr header = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *part;
	struct ucred who;
	ssize_t n;

	for (;;) {
		header.msg_control = control;
		header.msg_controllen = sizeof(control);
		n = sys_recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		part = CMSG_FIRSTHDR(&header);
		/* of another program, or of another version */
		if (n != (ssize_t)sizeof(message) || message.magic != NOTICE_MAGIC || !part ||
		    part->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&who, CMSG_DATA(part), sizeof(who));
		out->kind = (enum notice_kind)message.kind;
		out->error = message.error;
		out->pid = (uint32_t)who.pid;
		out->uid = (uint32_t)who.uid;
		return true;
	}
}
