/* SPDX-License-Identifier: MIT */
/* server.c - answers requests on a socket in the user's directory
 *
 * Owns:     the listening socket and the clients' connections.
 * Threads:  one for each struct server.
 * Fails:    a client that does anything else than to send one message and to take the answer is
 *           dropped.
 */
#include "control/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/str.h"
#include "base/sys.h"

#define BACKLOG 16
#define NEW_SUFFIX ".new"
#define NO_MEMORY_NAP_NS 100000000

static uint64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Binds `fd` to dir/name, by way of the descriptor: what was checked is what is used, however long
 * the path is. */
static int bind_in(int fd, int dir_fd, const char *dir, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct str s;

	str_init(&s, address.sun_path, sizeof(address.sun_path));
	str_add(&s, "/proc/thread-self/fd/");
	str_add_uint(&s, (uint64_t)dir_fd);
	str_add(&s, "/");
	str_add(&s, name);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	/* there is no /proc */
	str_init(&s, address.sun_path, sizeof(address.sun_path));
	str_add(&s, dir);
	str_add(&s, "/");
	str_add(&s, name);
	if (s.cut)
		return -ENAMETOOLONG;
	return bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
}

/* The socket gets its name when it listens: one that refuses connections is that of a dead process,
 * which rtl removes. */
static int publish(int fd, int dir_fd, const char *dir, const char *name)
{
	char first[SOCKDIR_NAME_SIZE + sizeof(NEW_SUFFIX)];
	struct str s;
	int err;

	str_init(&s, first, sizeof(first));
	str_add(&s, name);
	str_add(&s, NEW_SUFFIX);
	unlinkat(dir_fd, first, 0);
	err = bind_in(fd, dir_fd, dir, first);
	if (err)
		return err;
	/* the umask may have left too little, or too much */
	if (fchmodat(dir_fd, first, 0600, 0) != 0 || listen(fd, BACKLOG) != 0 ||
	    renameat(dir_fd, first, dir_fd, name) != 0) {
		err = -errno;
		unlinkat(dir_fd, first, 0);
	}
	return err;
}

int server_open(struct server *s, int dir_fd, const char *dir, const char *name)
{
	int err;

	for (int i = 0; i < SERVER_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	err = publish(s->fd, dir_fd, dir, name);
	if (err)
		server_close(s);
	return err;
}

static void drop(struct server_client *c)
{
	sys_close(c->fd);
	c->fd = -1;
}

void server_close(struct server *s)
{
	if (s->fd >= 0)
		sys_close(s->fd);
	s->fd = -1;
	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			drop(&s->clients[i]);
}

/* A free entry, or that of the client that has waited longest. */
static struct server_client *entry(struct server *s)
{
	struct server_client *oldest = &s->clients[0];

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct server_client *c = &s->clients[i];

		if (c->fd < 0)
			return c;
		if (c->until_ns < oldest->until_ns)
			oldest = c;
	}
	drop(oldest);
	return oldest;
}

static bool may_ask(const struct server *s, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == s->uid || peer.uid == 0);
}

/* One connection: 0, -EAGAIN, or -errno: the socket is of no use any more. */
static int take_client(struct server *s)
{
	const struct timespec nap = { 0, NO_MEMORY_NAP_NS };
	int fd = sys_accept(s->fd, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct server_client *c;

	if (fd < 0 && (errno == EBADF || errno == EINVAL || errno == ENOTSOCK))
		return -errno;
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			sys_nap(&nap);
		return -EAGAIN;
	}
	if (!may_ask(s, fd)) {
		sys_close(fd);
		return 0;
	}
	c = entry(s);
	c->fd = fd;
	c->until_ns = now_ns() + SERVER_WAIT_NS;
	return 0;
}

static void serve(struct server *s, struct server_client *c)
{
	_Alignas(8) unsigned char message[CONTROL_MAX_SIZE];
	struct control_reply reply;
	ssize_t n = sys_recv(c->fd, message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		s->answer(message, (size_t)n, &reply);
		sys_send(c->fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	drop(c);
}

/* ms until the first client has waited long enough, at most timeout_ms. */
static int wait_ms(const struct server *s, int timeout_ms)
{
	uint64_t now = now_ns(), first = UINT64_MAX;
	uint64_t ms;

	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].until_ns < first)
			first = s->clients[i].until_ns;
	if (first == UINT64_MAX)
		return timeout_ms;
	ms = first > now ? (first - now) / 1000000u + 1 : 0;
	return timeout_ms >= 0 && (uint64_t)timeout_ms < ms ? timeout_ms : (int)ms;
}

int server_step(struct server *s, int timeout_ms)
{
	struct pollfd fds[SERVER_CLIENTS + 1];
	uint64_t now;
	int err = 0;

	fds[SERVER_CLIENTS] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
	for (int i = 0; i < SERVER_CLIENTS; i++)
		fds[i] = (struct pollfd){ .fd = s->clients[i].fd, .events = POLLIN };
	if (sys_poll(fds, ARRAY_SIZE(fds), wait_ms(s, timeout_ms)) < 0)
		return errno == EINTR || errno == ENOMEM || errno == EAGAIN ? 0 : -errno;
	now = now_ns();
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct server_client *c = &s->clients[i];

		if (c->fd >= 0 && fds[i].revents)
			serve(s, c);
		if (c->fd >= 0 && now >= c->until_ns)
			drop(c);
	}
	/* as many as are kept at once, so that a flood of them does not keep the others waiting */
	for (int i = 0; i < SERVER_CLIENTS && !err && fds[SERVER_CLIENTS].revents; i++)
		err = take_client(s);
	return err == -EAGAIN ? 0 : err;
}
