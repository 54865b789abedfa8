/* SPDX-License-Identifier: MIT */
/* fuzz_reply.c - any answers of a process's socket, for the commands that ask
 *
 * The first byte chooses the command. A process of the fuzzer's listens under a name of its own,
 * and answers each request with the next answer of the input: a right one whose texts and numbers
 * are changed, or any bytes; then it closes the connection. The trace that an answer may name is
 * there: out/x.spool/1.rtl.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/sockdir.h"
#include "command.h"
#include "control/protocol.h"
#include "support/spool_make.h"

#define ANSWERS_MAX 16

static const char *const commands_of[][8] = {
	{ "status", "PID" },
	{ "start", "PID", "-o", "s.db" },
	{ "start", "PID" },
	{ "stop", "PID" },
	{ "stop", "PID", "-o", "t.db", "--force" },
	{ "ps" },
	{ "ps", "-f", "json" },
	{ "snapshot", "PID", "-o", "p.db" },
	{ "snapshot", "PID" },
	{ "top", "PID", "--once", "-d", "10" },
};
#define NR_COMMANDS (sizeof(commands_of) / sizeof(commands_of[0]))

struct run {
	const char *const *words;
	struct bytes in;
};

static unsigned char *spool;
static size_t spool_size;

static struct control_reply right_reply(uint32_t pid)
{
	struct control_reply r = { .magic = CONTROL_MAGIC,
				   .version = CONTROL_VERSION,
				   .size = sizeof(r),
				   .state = CONTROL_PAUSED,
				   .pid = pid,
				   .flags = CONTROL_F_COUNTED };

	snprintf(r.spool, sizeof(r.spool), "%s/out/x.spool/1.rtl", getenv("FUZZ_SCRATCH"));
	snprintf(r.output, sizeof(r.output), "%s/out/x.db", getenv("FUZZ_SCRATCH"));
	snprintf(r.command, sizeof(r.command), "./program");
	return r;
}

/* A text of the answer; @ at its begin is the run's directory. */
static void put_text(char *out, size_t size, const char *text, size_t nr)
{
	bool is_path = nr && text[0] == '@';
	int n = (int)(nr - is_path);

	memset(out, 0, size);
	snprintf(out, size, "%s%.*s", is_path ? getenv("FUZZ_SCRATCH") : "", n, text + is_path);
}

/* Where the database goes is what the user said to rtl start, which the process keeps. */
static void keep_inside(char *output)
{
	for (char *c = output; *c; c++)
		if (*c == '/')
			*c = '_';
}

/* Changes: where, and what; or a text for one of the texts. */
static void change(struct control_reply *r, struct bytes *in)
{
	char *const texts[] = { r->text, r->spool, r->output, r->command };
	const size_t sizes[] = { sizeof(r->text), sizeof(r->spool), sizeof(r->output),
				 sizeof(r->command) };

	for (uint8_t n = take_byte(in) % 8u; n && in->at < in->end; n--) {
		uint8_t where = take_byte(in);
		size_t nr;

		if (where < offsetof(struct control_reply, text)) {
			((uint8_t *)r)[where] = take_byte(in);
		} else {
			size_t which = where % 4u;
			const uint8_t *bytes = take_bytes(in, take_byte(in), &nr);

			put_text(texts[which], sizes[which], (const char *)bytes, nr);
			if (texts[which] == r->output)
				keep_inside(r->output);
		}
	}
}

static void answer(int fd, struct bytes *in)
{
	struct control_reply reply = right_reply((uint32_t)getpid());
	unsigned char request[CONTROL_MAX_SIZE];
	const uint8_t *bytes;
	size_t nr;

	if (recv(fd, request, sizeof(request), 0) <= 0)
		return;
	if (take_byte(in) & 1) {
		bytes = take_bytes(in, take_byte(in) * 16u, &nr);
		send(fd, bytes, nr, MSG_NOSIGNAL);
		return;
	}
	change(&reply, in);
	send(fd, &reply, sizeof(reply), MSG_NOSIGNAL);
}

/* In a process of its own, until it is killed with the command. */
static void serve(int fd, struct bytes in)
{
	for (int i = 0; i < ANSWERS_MAX; i++) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			break;
		answer(client, &in);
		close(client);
	}
	_exit(0);
}

static int listen_as(uint32_t pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char dir[SOCKDIR_SIZE], name[SOCKDIR_NAME_SIZE];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), dir_fd;

	if (!sockdir_path(geteuid(), getenv("XDG_RUNTIME_DIR"), 0, dir))
		abort();
	dir_fd = sockdir_open(dir, geteuid(), true);
	sockdir_name(name, pid, sockdir_namespace());
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
	if (dir_fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 16)) {
		perror(dir);
		abort();
	}
	close(dir_fd);
	return fd;
}

static void run(void *arg)
{
	struct run *r = arg;
	const char *words[8];
	char number[16];
	pid_t pid;
	int ready[2];

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		int fd = listen_as((uint32_t)getpid());

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		close(ready[1]);
		serve(fd, r->in);
	}
	close(ready[1]);
	if (read(ready[0], number, 1) != 1)
		abort();
	snprintf(number, sizeof(number), "%d", (int)pid);
	for (int i = 0; i < 8; i++)
		words[i] = r->words[i] && strcmp(r->words[i], "PID") == 0 ? number : r->words[i];
	command_main(words);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct spool_make_sample sample = { .pid = 100, .closed = true };
	char path[300];
	FILE *file;

	(void)argc;
	(void)argv;
	command_setup();
	snprintf(path, sizeof(path), "%s/in/1.rtl", getenv("FUZZ_SCRATCH"));
	spool_make_sample(path, &sample);
	file = fopen(path, "rb");
	spool = malloc(1 << 20);
	spool_size = file && spool ? fread(spool, 1, 1 << 20, file) : 0;
	if (!spool_size)
		abort();
	fclose(file);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = { .in = { data, data + size } };
	char dir[600];

	r.words = commands_of[take_byte(&r.in) % NR_COMMANDS];
	snprintf(dir, sizeof(dir), "%s/out/x.spool", getenv("FUZZ_SCRATCH"));
	if (mkdir(dir, 0700))
		abort();
	command_write("out/x.spool/1.rtl", spool, spool_size);
	command_run(run, &r);
	return 0;
}
