/* SPDX-License-Identifier: MIT */
/* test_control.c - the directory of sockets, the server, the thread's own descriptors, hostile
 * clients */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sockdir.h"
#include "control/message.h"
#include "control/own_table.h"
#include "control/server.h"
#include "support/test.h"

/* ---- sockdir --------------------------------------------------------------------------------- */

TEST(directory_is_of_the_runtime_dir_or_tmp)
{
	char path[SOCKDIR_SIZE], longer[400];

	CHECK(sockdir_path(1000, "/run/x", SOCKDIR_RUNTIME, path));
	CHECK_STR_EQ(path, "/run/x/rtl");
	CHECK(sockdir_path(1000, "x", SOCKDIR_RUNTIME, path));
	CHECK_STR_EQ(path, "");
	CHECK(sockdir_path(1000, NULL, SOCKDIR_RUNTIME, path));
	CHECK_STR_EQ(path, "");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	CHECK(sockdir_path(1000, longer, SOCKDIR_RUNTIME, path));
	CHECK_STR_EQ(path, "");
	CHECK(sockdir_path(1000, NULL, 1, path));
	CHECK_STR_EQ(path, "/run/user/1000/rtl");
	CHECK(sockdir_path(1000, NULL, SOCKDIR_TMP, path));
	CHECK_STR_EQ(path, "/tmp/rtl-1000");
	CHECK(!sockdir_path(1000, NULL, SOCKDIR_TMP + 1, path));
}

static int mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int)(st.st_mode & 07777) : -1;
}

TEST(directory_is_made_private_under_any_umask)
{
	static const mode_t masks[] = { 0, 022, 0777 };

	for (int i = 0; i < 3; i++) {
		const char *path = test_tmpfile(i == 0 ? "a" : i == 1 ? "b" : "c");
		mode_t old = umask(masks[i]);
		int fd = sockdir_open(path, geteuid(), true);

		umask(old);
		CHECK_GE_INT(fd, 0);
		CHECK_EQ_INT(mode_of(path), 0700);
		close(fd);
		fd = sockdir_open(path, geteuid(), true);
		CHECK_GE_INT(fd, 0);
		close(fd);
	}
	CHECK_EQ_INT(sockdir_open(test_tmpfile("none"), geteuid(), false), -ENOENT);
}

TEST(directory_that_others_can_enter_is_refused)
{
	const char *path = test_tmpfile("d");

	for (mode_t mode = 0; mode < 0777; mode++) {
		int fd;

		if (mode == 0700)
			continue;
		CHECK_OK(mkdir(path, 0700));
		CHECK_OK(chmod(path, mode));
		fd = sockdir_open(path, geteuid(), true);
		CHECK_OK(rmdir(path));
		CHECK_EQ_INT(fd, -EPERM);
	}
}

TEST(directory_of_another_user_a_link_and_a_file_are_refused)
{
	const char *path = test_tmpfile("d"), *link = test_tmpfile("l"), *file = test_tmpfile("f");

	CHECK_OK(mkdir(path, 0700));
	CHECK_EQ_INT(sockdir_open(path, geteuid() + 1, true), -EPERM);
	CHECK_OK(symlink(path, link));
	CHECK_EQ_INT(sockdir_open(link, geteuid(), true), -EPERM);
	close(open(file, O_WRONLY | O_CREAT, 0600));
	CHECK_EQ_INT(sockdir_open(file, geteuid(), true), -EPERM);
}

TEST(directory_that_others_can_replace_is_refused)
{
	const char *above = test_tmpfile("above"), *path = test_tmpfile("above/d");
	int fd;

	CHECK_OK(mkdir(above, 0700));
	CHECK_OK(mkdir(path, 0700));
	CHECK_OK(chmod(above, 0777));
	CHECK_EQ_INT(sockdir_open(path, geteuid(), true), -EPERM);
	CHECK_OK(chmod(above, 01777));
	fd = sockdir_open(path, geteuid(), true);
	CHECK_GE_INT(fd, 0);
	close(fd);
}

TEST(names_of_sockets_are_pid_and_namespace)
{
	static const char *const bad[] = { "",
					   ".",
					   "..",
					   "1",
					   "1.",
					   ".1",
					   "0.1",
					   "01.1",
					   "1.01",
					   "1.g",
					   " 1.1",
					   "+1.1",
					   "1.+1",
					   "1. 1",
					   "1.0x1",
					   "1.A",
					   "1.1.new",
					   "4294967296.1",
					   "1.1\n",
					   "-1.1",
					   "1.-1",
					   "1.10000000000000000",
					   "99999999999999999999999.1" };
	char name[SOCKDIR_NAME_SIZE];
	uint64_t pid_namespace;
	uint32_t pid;

	sockdir_name(name, 4711, 0xeffffffc);
	CHECK_STR_EQ(name, "4711.effffffc");
	CHECK(sockdir_parse(name, &pid, &pid_namespace));
	CHECK_EQ_UINT(pid, 4711);
	CHECK_EQ_UINT(pid_namespace, 0xeffffffc);
	sockdir_name(name, UINT32_MAX, UINT64_MAX);
	CHECK(sockdir_parse(name, &pid, &pid_namespace));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!sockdir_parse(bad[i], &pid, &pid_namespace), "%s is a name", bad[i]);
	CHECK_NE_UINT(sockdir_namespace(), 0);
}

/* ---- the table of descriptors ---------------------------------------------------------------- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

struct table_test {
	bool old;
	int fd, err;
	bool sees, first_is_open, second_is_open;
};

static void *take_table(void *arg)
{
	struct table_test *t = arg;

	t->err = own_table_take(t->old);
	t->sees = is_open(t->fd);
	t->first_is_open = is_open(0) && is_open(1);
	t->second_is_open = is_open(2);
#ifndef RTL_SANITIZE_THREAD
	t->second_is_open &= dup(2) == 3;
#endif
	return NULL;
}

TEST(thread_has_descriptors_of_its_own)
{
	for (int old = 0; old < 2; old++) {
		struct table_test t = { .old = old, .fd = open("/dev/null", O_RDONLY) };
		pthread_t thread;

		CHECK_OK(pthread_create(&thread, NULL, take_table, &t));
		CHECK_OK(pthread_join(thread, NULL));
		CHECK_OK(t.err);
#ifndef RTL_SANITIZE_THREAD
		CHECK(!t.sees);
#endif
		CHECK(is_open(t.fd));
		CHECK(is_open(2));
		CHECK(!is_open(t.fd + 1));
#if !defined(RTL_SANITIZE_THREAD) && !defined(RTL_SANITIZE_ADDRESS)
		CHECK(t.first_is_open);
#endif
		CHECK(t.second_is_open);
		close(t.fd);
	}
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct control_request request_of(enum control_command command)
{
	return (struct control_request){ .magic = CONTROL_MAGIC,
					 .version = CONTROL_VERSION,
					 .size = sizeof(struct control_request),
					 .command = command };
}

TEST(requests_of_other_sizes_and_versions_are_read_or_refused)
{
	static unsigned char longer[CONTROL_MAX_SIZE + 8];
	struct control_request r = request_of(CONTROL_STOP), out;
	char text[CONTROL_TEXT_SIZE];

	CHECK_OK(message_check(&r, sizeof(r), &out, text));
	CHECK_EQ_INT(out.command, CONTROL_STOP);
	r.size = CONTROL_REQUEST_LEAST;
	CHECK_OK(message_check(&r, CONTROL_REQUEST_LEAST, &out, text));
	CHECK_STR_EQ(out.dir, "");
	CHECK_STR_EQ(out.output, "");
	r.size = sizeof(longer);
	memcpy(longer, &r, sizeof(r));
	CHECK_EQ_INT(message_check(longer, sizeof(longer), &out, text), -EBADMSG);
	r.size = CONTROL_MAX_SIZE;
	memcpy(longer, &r, sizeof(r));
	CHECK_OK(message_check(longer, CONTROL_MAX_SIZE, &out, text));
	r = request_of(CONTROL_STOP);
	CHECK_EQ_INT(message_check(&r, sizeof(r) - 1, &out, text), -EBADMSG);
	for (size_t size = 0; size < CONTROL_REQUEST_LEAST; size++)
		CHECK_EQ_INT(message_check(&r, size, &out, text), -EBADMSG);
	r.version = 2;
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EPROTONOSUPPORT);
	CHECK_STR_HAS(text, "version 2");
	r = request_of(CONTROL_NR_COMMANDS);
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EOPNOTSUPP);
	r = request_of(0);
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EOPNOTSUPP);
	r = request_of(CONTROL_START);
	memset(r.dir, '/', sizeof(r.dir));
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -ENAMETOOLONG);
	memcpy(r.dir, "here", 5);
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EINVAL);
	memcpy(r.dir, "/here", 6);
	CHECK_OK(message_check(&r, sizeof(r), &out, text));
	memcpy(r.output, "there", 6);
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EINVAL);
	r.magic++;
	CHECK_EQ_INT(message_check(&r, sizeof(r), &out, text), -EBADMSG);
	CHECK_STR_HAS(text, "it is none");
}

TEST(texts_are_printable)
{
	char out[8];

	message_text(out, sizeof(out), "a\0b\033[", 6, 1);
	CHECK_STR_EQ(out, "a b?[");
	message_text(out, sizeof(out), "a\0b", 3, 0);
	CHECK_STR_EQ(out, "a");
	message_text(out, sizeof(out), "0123456789", 10, 1);
	CHECK_STR_EQ(out, "0123456");
	message_text(out, sizeof(out), "x\0", 2, 1);
	CHECK_STR_EQ(out, "x");
}

/* ---- the server ------------------------------------------------------------------------------ */

static unsigned int nr_answered;
static size_t answered_size;

static void answer(const void *message, size_t size, struct control_reply *reply)
{
	struct control_request request;

	nr_answered++;
	answered_size = size;
	message_begin_reply(reply);
	reply->status = message_check(message, size, &request, reply->text);
}

static struct server server;
static char server_dir[200];

static void open_server(void)
{
	int dir;

	snprintf(server_dir, sizeof(server_dir), "%s", test_tmpfile("sockets"));
	dir = sockdir_open(server_dir, geteuid(), true);
	CHECK_GE_INT(dir, 0);
	server.uid = geteuid();
	server.answer = answer;
	CHECK_OK(server_open(&server, dir, server_dir, "1.1"));
	close(dir);
}

static int client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/1.1", server_dir);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -errno;
}

/* What the server does with what is there now. */
static void settle(void)
{
	for (int i = 0; i < 8; i++)
		CHECK_OK(server_step(&server, 0));
}

static int answer_to(int fd, struct control_reply *reply)
{
	settle();
	return recv(fd, reply, sizeof(*reply), MSG_DONTWAIT) == (ssize_t)sizeof(*reply) ? 0 :
											  -errno;
}

TEST(request_is_answered_and_the_connection_closed)
{
	struct control_request r = request_of(CONTROL_STATUS);
	struct control_reply reply;
	char path[256];
	int fd;

	open_server();
	snprintf(path, sizeof(path), "%s/1.1", server_dir);
	CHECK_EQ_INT(mode_of(path), 0600);
	fd = client();
	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(send(fd, &r, sizeof(r), 0), sizeof(r));
	CHECK_OK(answer_to(fd, &reply));
	CHECK_EQ_INT(reply.status, 0);
	CHECK_EQ_UINT(reply.magic, CONTROL_MAGIC);
	CHECK_EQ_UINT(reply.size, sizeof(reply));
	CHECK_EQ_INT(recv(fd, &reply, sizeof(reply), MSG_DONTWAIT), 0);
	close(fd);
	server_close(&server);
	CHECK_EQ_INT(client(), -ECONNREFUSED);
}

TEST(socket_of_an_earlier_process_is_replaced)
{
	open_server();
	server_close(&server);
	open_server();
	CHECK_GE_INT(client(), 0);
}

TEST(garbage_is_answered_with_a_reason)
{
	static unsigned char bytes[3 * CONTROL_MAX_SIZE];
	static const size_t sizes[] = { 1, 15, 16, 1040, CONTROL_MAX_SIZE, sizeof(bytes) };
	struct control_reply reply;

	open_server();
	memset(bytes, 0xa5, sizeof(bytes));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = client();

		CHECK_EQ_INT(send(fd, bytes, sizes[i], 0), sizes[i]);
		CHECK_OK(answer_to(fd, &reply));
		CHECK_EQ_INT(reply.status, -EBADMSG);
		CHECK_NE_INT(reply.text[0], 0);
		CHECK_EQ_UINT(answered_size, sizes[i]);
		close(fd);
	}
}

TEST(clients_that_leave_at_once_or_take_no_answer_do_no_harm)
{
	struct control_request r = request_of(CONTROL_STATUS);
	struct control_reply reply;

	open_server();
	for (int i = 0; i < 100; i++) {
		int fd = client();

		CHECK_GE_INT(fd, 0);
		if (i % 3)
			send(fd, &r, sizeof(r), 0);
		if (i % 3 == 2)
			shutdown(fd, SHUT_RD);
		close(fd);
		settle();
	}
	{
		int fd = client();

		send(fd, &r, sizeof(r), 0);
		CHECK_OK(answer_to(fd, &reply));
		close(fd);
	}
	for (int i = 0; i < SERVER_CLIENTS; i++)
		CHECK_EQ_INT(server.clients[i].fd, -1);
}

TEST(silent_clients_are_dropped_after_their_time)
{
	int fds[SERVER_CLIENTS];
	uint64_t begin = test_now_ns();
	char byte;

	open_server();
	for (int i = 0; i < SERVER_CLIENTS; i++)
		fds[i] = client();
	settle();
	for (int i = 0; i < SERVER_CLIENTS; i++)
		CHECK_EQ_INT(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
	/* without a limit of its own: the clients' deadlines end it */
	while (server.clients[0].fd >= 0 || server.clients[SERVER_CLIENTS - 1].fd >= 0)
		CHECK_OK(server_step(&server, -1));
	CHECK_GE_INT(test_now_ns() - begin, SERVER_WAIT_NS);
	for (int i = 0; i < SERVER_CLIENTS; i++)
		CHECK_EQ_INT(recv(fds[i], &byte, 1, MSG_DONTWAIT), 0);
}

TEST(silent_clients_do_not_keep_others_waiting)
{
	struct control_request r = request_of(CONTROL_STATUS);
	struct control_reply reply;
	int silent[40], fd;

	open_server();
	for (int i = 0; i < 40; i++) {
		silent[i] = client();
		CHECK_GE_INT(silent[i], 0);
		if (i % 8 == 7)
			settle();
	}
	fd = client();
	send(fd, &r, sizeof(r), 0);
	CHECK_OK(answer_to(fd, &reply));
	CHECK_EQ_INT(reply.status, 0);
	for (int i = 0; i < 40; i++)
		close(silent[i]);
	close(fd);
}

TEST(many_requests_of_many_processes_are_all_answered)
{
	enum { NR = 16, EACH = 200 };
	unsigned int failed = 0;
	pid_t pids[NR];

	open_server();
	for (int i = 0; i < NR; i++) {
		pids[i] = fork();
		for (int n = 0; pids[i] == 0 && n < EACH;) {
			struct control_request r = request_of(CONTROL_STATUS);
			struct control_reply reply;
			int fd = client();

			if (fd == -EAGAIN)
				continue;
			if (fd < 0)
				_exit(1);
			fcntl(fd, F_SETFL, 0);
			if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) == (ssize_t)sizeof(r) &&
			    recv(fd, &reply, sizeof(reply), 0) == (ssize_t)sizeof(reply))
				n++;
			/* else it was dropped for newer clients, and asks again */
			close(fd);
		}
		if (pids[i] == 0)
			_exit(0);
	}
	for (int done = 0; done < NR;) {
		int status;

		CHECK_OK(server_step(&server, 10));
		while (done < NR && waitpid(-1, &status, WNOHANG) > 0) {
			done++;
			failed += status != 0;
		}
	}
	CHECK_EQ_UINT(failed, 0);
	CHECK_GE_UINT(nr_answered, NR * EACH);
}

TEST(another_user_is_not_answered)
{
	struct control_request r = request_of(CONTROL_STATUS);
	struct control_reply reply;
	int fd;

	open_server();
	if (geteuid() == 0) {
		/* root reaches all; what another user gets is tested as that user */
		pid_t pid;
		int status;

		fd = client();
		settle();
		close(fd);
		/* the directory protects the socket; the server protects itself where that is
		 * open */
		CHECK_OK(chmod(server_dir, 0777));
		CHECK_OK(chmod(test_tmpdir(), 0777));
		CHECK_OK(chmod(test_tmpfile("sockets/1.1"), 0777));
		pid = fork();
		if (pid == 0) {
			if (setresuid(12345, 12345, 12345) != 0)
				_exit(2);
			fd = client();
			if (fd < 0)
				_exit(3);
			fcntl(fd, F_SETFL, 0);
			send(fd, &r, sizeof(r), MSG_NOSIGNAL);
			_exit(recv(fd, &reply, sizeof(reply), 0) > 0 ? 4 : 0);
		}
		while (waitpid(pid, &status, WNOHANG) == 0)
			CHECK_OK(server_step(&server, 10));
		CHECK_EQ_INT(status, 0);
	} else {
		server.uid = geteuid() + 1;
		fd = client();
		send(fd, &r, sizeof(r), 0);
		CHECK_NE_INT(answer_to(fd, &reply), 0);
	}
	CHECK_EQ_UINT(nr_answered, 0);
}
