/* SPDX-License-Identifier: MIT */
/* fuzz_control.c - any clients of a process's socket: messages, and what they do with their
 * connections
 *
 * The input is a list of steps of up to sixteen clients, with the bytes that they send. After it
 * the server must still answer a request that is right. The same bytes are then taken as a request,
 * as an answer, as a name and as arguments of a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/trace/control.h"
#include "confined.h"
#include "control/message.h"
#include "control/server.h"
#include "control/service.h"
#include "event/life.h"

#define NR_CLIENTS 16

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: false: %s\n", __FILE__, __LINE__, #cond);          \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum step {
	CONNECT,
	SEND,
	SEND_REQUEST, /* a right one, with some bytes changed */
	SEND_FILE,    /* with a descriptor */
	RECEIVE,
	SHUT,
	CLOSE,
	SERVE,
	NR_STEPS
};

static struct server server = { .fd = -1 };
static char dir[64];
static int clients[NR_CLIENTS];

static const struct spool_header *no_trace(void)
{
	return NULL;
}

static void nothing(void)
{
}

static void setup(void)
{
	static const struct service_host host = { .flush = nothing, .trace = no_trace };
	int fd;

	snprintf(dir, sizeof(dir), "%s/sockets", confined_scratch());
	service_init(&host);
	/* requests are checked, and answered as after the end of a trace */
	life_set_state(LIFE_STOPPED);
	server.uid = geteuid();
	server.answer = service_answer;
	fd = sockdir_open(dir, geteuid(), true);
	CHECK(fd >= 0);
	CHECK(server_open(&server, fd, dir, "1.1") == 0);
	close(fd);
	for (int i = 0; i < NR_CLIENTS; i++)
		clients[i] = -1;
}

static int connect_client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/1.1", dir);
	CHECK(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	CHECK(errno == EAGAIN);
	close(fd);
	return -1;
}

static struct control_request right_request(void)
{
	return (struct control_request){ .magic = CONTROL_MAGIC,
					 .version = CONTROL_VERSION,
					 .size = sizeof(struct control_request),
					 .command = CONTROL_STATUS };
}

static void send_changed(int fd, const uint8_t *data, size_t size)
{
	struct control_request r = right_request();

	/* an offset and a value each */
	for (size_t i = 0; i + 1 < size && i < 16; i += 2)
		((uint8_t *)&r)[data[i] % (offsetof(struct control_request, dir) + 16)] =
			data[i + 1];
	send(fd, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_file(int fd, const uint8_t *data, size_t size)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.space) };
	int file = STDERR_FILENO;

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool receive(int fd)
{
	struct control_reply reply, copy;
	ssize_t n = recv(fd, &reply, sizeof(reply), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	CHECK(n == (ssize_t)sizeof(reply));
	CHECK(reply.magic == CONTROL_MAGIC && reply.size == sizeof(reply));
	CHECK(reply.status <= 0);
	CHECK(!reply.status || *reply.text);
	CHECK(control_read_reply(&reply, (size_t)n, &copy));
	return true;
}

static void serve(void)
{
	CHECK(server_step(&server, 0) == 0);
}

static void take_step(uint8_t what, const uint8_t *data, size_t size)
{
	int *fd = &clients[what / NR_STEPS % NR_CLIENTS];
	enum step step = (enum step)(what % NR_STEPS);

	if (step == SERVE) {
		serve();
		return;
	}
	if (*fd < 0)
		*fd = connect_client();
	if (*fd < 0)
		return;
	if (step == SEND)
		send(*fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	else if (step == SEND_REQUEST)
		send_changed(*fd, data, size);
	else if (step == SEND_FILE)
		send_file(*fd, data, size);
	else if (step == RECEIVE)
		receive(*fd);
	else if (step == SHUT)
		shutdown(*fd, size % 3);
	if (step == CLOSE) {
		close(*fd);
		*fd = -1;
	}
}

static void check_answers(void)
{
	struct control_request r = right_request();
	int fd = -1;

	for (int i = 0; i < 4 && fd < 0; i++) {
		serve();
		fd = connect_client();
	}
	CHECK(fd >= 0);
	CHECK(send(fd, &r, sizeof(r), MSG_NOSIGNAL) == (ssize_t)sizeof(r));
	for (int i = 0; i < 4; i++)
		serve();
	CHECK(receive(fd));
	close(fd);
}

static void take_as_others(const uint8_t *data, size_t size)
{
	struct control_request request;
	struct control_reply reply;
	char text[CONTROL_TEXT_SIZE], name[64];
	uint64_t pid_namespace;
	uint32_t pid;

	if (message_check(data, size, &request, text) != 0)
		CHECK(*text && memchr(text, 0, sizeof(text)));
	else
		CHECK(request.command && request.command < CONTROL_NR_COMMANDS);
	if (control_read_reply(data, size, &reply))
		CHECK(strlen(reply.text) < sizeof(reply.text) &&
		      strlen(reply.spool) < sizeof(reply.spool));
	message_text(text, sizeof(text), (const char *)data, size, (int)(size & 1));
	CHECK(strlen(text) < sizeof(text) && !strpbrk(text, "\033\n\r"));
	snprintf(name, sizeof(name), "%.*s", (int)(size < 60 ? size : 60), (const char *)data);
	if (sockdir_parse(name, &pid, &pid_namespace))
		CHECK(pid && !strchr(name, '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Steps: the first byte says what and which client, two more the bytes that follow. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *at = data, *end = data + size;

	if (!dir[0])
		setup();
	while (end - at >= 3) {
		size_t left = (size_t)(end - at) - 3, n = at[1] | (size_t)at[2] << 8;

		n = n < left ? n : left;
		take_step(at[0], at + 3, n);
		at += 3 + n;
	}
	check_answers();
	for (int i = 0; i < NR_CLIENTS; i++) {
		if (clients[i] >= 0)
			close(clients[i]);
		clients[i] = -1;
	}
	for (int i = 0; i < 4; i++)
		serve();
	for (int i = 0; i < SERVER_CLIENTS; i++)
		CHECK(server.clients[i].fd < 0);
	take_as_others(data, size);
	return 0;
}
