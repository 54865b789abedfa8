/* SPDX-License-Identifier: MIT */
/* control.c - the client of the sockets of traced processes
 *
 * Threads:  one.
 * Fails:    a directory that others have access to is refused; a process that does not answer is
 *           given up after some seconds.
 */
#include "cli/trace/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/trace/become.h"
#include "cli/ui.h"

/* longer than the process waits for its harvester */
#define WAIT_MS 25000
#define CONNECT_TRIES 100
#define CONNECT_NAP_NS 10000000

/* ---- connections ----------------------------------------------------------------------------- */

/* A descriptor, or -errno; -ECONNREFUSED: the process does not listen any more. */
static int connect_to(int dir_fd, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timespec nap = { 0, CONNECT_NAP_NS };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : -EAGAIN;

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
	/* EAGAIN: many clients wait */
	for (int i = 0; err == -EAGAIN && i < CONNECT_TRIES; i++) {
		if (i)
			nanosleep(&nap, NULL);
		err = connect(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	}
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static bool peer_of(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0;
}

/* ---- which processes there are --------------------------------------------------------------- */

static const char *own_runtime_dir(uid_t uid)
{
	return uid == geteuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
}

struct list {
	struct control_target *targets;
	size_t nr, max;
};

static void add_target(struct list *l, const struct control_target *t)
{
	if (l->nr == l->max) {
		l->max = l->max ? 2 * l->max : 16;
		l->targets = reallocarray(l->targets, l->max, sizeof(*l->targets));
		if (!l->targets)
			ui_die_memory();
	}
	l->targets[l->nr++] = *t;
}

/* Whether the entry of the directory is a socket of a live process. Removes that of a dead one. */
static bool is_target(int dir_fd, const char *name, struct control_target *t)
{
	struct ucred peer = { 0 };
	uint64_t pid_namespace;
	struct stat st;
	int fd;

	if (!sockdir_parse(name, &t->pid, &pid_namespace) ||
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = connect_to(dir_fd, name);
	if (fd == -ECONNREFUSED)
		unlinkat(dir_fd, name, 0);
	if (fd < 0)
		return false;
	t->visible = peer_of(fd, &peer) && peer.pid > 0;
	if (t->visible)
		t->pid = (uint32_t)peer.pid;
	close(fd);
	/* no other user's, under a name in this user's directory */
	if (peer.uid != t->uid && peer.uid != 0)
		return false;
	/* sockdir_parse() has made it from the same numbers */
	memcpy(t->name, name, strlen(name) + 1);
	return true;
}

static void list_dir(struct list *l, int dir_fd, const char *path, uid_t uid)
{
	struct control_target t = { .uid = uid };
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	snprintf(t.dir, sizeof(t.dir), "%s", path);
	while (dir && (entry = readdir(dir)))
		if (is_target(dir_fd, entry->d_name, &t))
			add_target(l, &t);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void list_user(struct list *l, uid_t uid, const char *runtime_dir)
{
	char path[SOCKDIR_SIZE];
	struct stat seen[SOCKDIR_TMP + 1];
	int nr_seen = 0;

	for (unsigned int i = 0; sockdir_path(uid, runtime_dir, i, path); i++) {
		int fd = *path ? sockdir_open(path, uid, false) : -ENOENT;
		bool again = false;

		if (fd == -EPERM)
			ui_error(
				"%s: is not read: it is another user's, or others have access to it (it must have mode 0700)",
				path);
		if (fd < 0 || fstat(fd, &seen[nr_seen]) != 0)
			continue;
		for (int k = 0; k < nr_seen; k++)
			again |= seen[k].st_dev == seen[nr_seen].st_dev &&
				 seen[k].st_ino == seen[nr_seen].st_ino;
		nr_seen++;
		if (!again)
			list_dir(l, fd, path, uid);
		close(fd);
	}
}

static int by_pid(const void *a, const void *b)
{
	const struct control_target *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static size_t finish_list(struct list *l, struct control_target **out)
{
	if (l->nr)
		qsort(l->targets, l->nr, sizeof(*l->targets), by_pid);
	*out = l->targets;
	return l->nr;
}

size_t control_list(uid_t uid, struct control_target **out)
{
	struct list l = { 0 };

	list_user(&l, uid, own_runtime_dir(uid));
	return finish_list(&l, out);
}

/* The uid after `prefix` in the names of a directory's entries: that user may have processes. */
static void list_users_of(struct list *l, const char *path, const char *prefix)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *number = entry->d_name + strlen(prefix);
		unsigned long uid;
		bool known = false;
		char *end;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || *number < '0' ||
		    *number > '9')
			continue;
		uid = strtoul(number, &end, 10);
		for (size_t i = 0; i < l->nr; i++)
			known |= l->targets[i].uid == uid;
		if (!*end && uid < UINT32_MAX && !known)
			list_user(l, (uid_t)uid, own_runtime_dir((uid_t)uid));
	}
	if (dir)
		closedir(dir);
}

size_t control_list_all(struct control_target **out)
{
	struct list l = { 0 };

	list_user(&l, geteuid(), own_runtime_dir(geteuid()));
	list_users_of(&l, "/run/user", "");
	list_users_of(&l, "/tmp", "rtl-");
	return finish_list(&l, out);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* The value of XDG_RUNTIME_DIR when that process was started; NULL: unknown. */
static const char *runtime_dir_of(uint32_t pid, char *text, size_t size)
{
	static const char variable[] = "XDG_RUNTIME_DIR=";
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	n = fd_read_file(path, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	for (const char *p = text; n > 0 && p < text + n; p += strlen(p) + 1)
		if (strncmp(p, variable, sizeof(variable) - 1) == 0)
			return p + sizeof(variable) - 1;
	return NULL;
}

static int no_socket(uint32_t pid, const struct stat *st, char error[CONTROL_ERROR_SIZE])
{
	if (!st)
		return snprintf(
			       error, CONTROL_ERROR_SIZE,
			       "%u: there is no such process; rtl ps lists those that can be reached",
			       pid),
		       -ESRCH;
	if (st->st_uid != geteuid() && geteuid() != 0)
		return snprintf(error, CONTROL_ERROR_SIZE,
				"%u: is a process of another user (uid %u)", pid, st->st_uid),
		       -EPERM;
	snprintf(
		error, CONTROL_ERROR_SIZE,
		"%u: has no socket: it is not traced, has not used the GPU yet, or runs with RTL_CONTROL=0; a program "
		"that is started with LD_PRELOAD=$(rtl doctor --path librtl) RTL_IDLE=1 can be traced later",
		pid);
	return -ENOENT;
}

int control_find(uint32_t pid, struct control_target *out, char error[CONTROL_ERROR_SIZE])
{
	static char environment[65536];
	struct list l = { 0 };
	struct stat st;
	char path[32];
	bool exists, found = false;
	uid_t uid;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	exists = stat(path, &st) == 0;
	uid = exists ? st.st_uid : geteuid();
	list_user(&l, uid, own_runtime_dir(uid));
	if (exists)
		list_user(&l, uid, runtime_dir_of(pid, environment, sizeof(environment)));
	/* one that is visible here, before one of a container */
	for (int pass = 0; pass < 2 && !found; pass++)
		for (size_t i = 0; i < l.nr && !found; i++)
			if (l.targets[i].pid == pid && l.targets[i].visible == !pass) {
				*out = l.targets[i];
				found = true;
			}
	free(l.targets);
	return found ? 0 : no_socket(pid, exists ? &st : NULL, error);
}

static void clean_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	text_clean(text, "");
}

bool control_read_reply(const void *message, size_t size, struct control_reply *out)
{
	memset(out, 0, sizeof(*out));
	if (size < CONTROL_REPLY_LEAST || size > CONTROL_MAX_SIZE)
		return false;
	memcpy(out, message, size < sizeof(*out) ? size : sizeof(*out));
	clean_text(out->text, sizeof(out->text));
	clean_text(out->command, sizeof(out->command));
	out->spool[sizeof(out->spool) - 1] = '\0';
	out->output[sizeof(out->output) - 1] = '\0';
	return out->magic == CONTROL_MAGIC && out->version == CONTROL_VERSION && out->size == size;
}

static int fail(char error[CONTROL_ERROR_SIZE], const struct control_target *t, int err,
		const char *what)
{
	snprintf(error, CONTROL_ERROR_SIZE, "%u: %s%s%s", t->pid, what, err ? ": " : "",
		 err ? strerror(-err) : "");
	return err ? err : -EPROTO;
}

static int exchange(int fd, const struct control_target *t, const struct control_request *request,
		    struct control_reply *reply, char error[CONTROL_ERROR_SIZE])
{
	static unsigned char message[CONTROL_MAX_SIZE];
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	struct ucred peer;
	ssize_t n;

	if (!peer_of(fd, &peer) || (peer.uid != t->uid && peer.uid != 0))
		return fail(error, t, 0, "its socket is another user's");
	if (send(fd, request, sizeof(*request), MSG_NOSIGNAL) != (ssize_t)sizeof(*request))
		return fail(error, t, -errno, "the request could not be sent");
	do
		n = poll(&poller, 1, WAIT_MS);
	while (n < 0 && errno == EINTR && !ui_stopped_by());
	if (n <= 0)
		return fail(error, t, n ? -errno : -ETIMEDOUT, "does not answer");
	n = recv(fd, message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return fail(error, t, -errno, "the answer could not be received");
	if (n == 0)
		return fail(error, t, -ECONNRESET, "closed the connection without an answer");
	if (!control_read_reply(message, (size_t)n, reply))
		return fail(error, t, 0,
			    "its answer is of another version of librtl: use the rtl beside that");
	return 0;
}

int control_ask(const struct control_target *t, enum control_command command,
		struct control_reply *reply, char error[CONTROL_ERROR_SIZE])
{
	return control_ask_to_open(t, command, "", "", reply, error);
}

int control_ask_to_open(const struct control_target *t, enum control_command command,
			const char *dir, const char *output, struct control_reply *reply,
			char error[CONTROL_ERROR_SIZE])
{
	struct control_request request = { .magic = CONTROL_MAGIC,
					   .version = CONTROL_VERSION,
					   .size = sizeof(request),
					   .command = command };
	int dir_fd, fd, err;

	if (strlen(dir) >= sizeof(request.dir))
		return fail(error, t, -ENAMETOOLONG, dir);
	if (strlen(output) >= sizeof(request.output))
		return fail(error, t, -ENAMETOOLONG, output);
	memcpy(request.dir, dir, strlen(dir));
	memcpy(request.output, output, strlen(output));
	dir_fd = sockdir_open(t->dir, t->uid, false);
	if (dir_fd < 0)
		return fail(error, t, dir_fd, t->dir);
	fd = connect_to(dir_fd, t->name);
	close(dir_fd);
	if (fd < 0)
		return fail(error, t, fd, "can't be reached");
	err = exchange(fd, t, &request, reply, error);
	close(fd);
	return err;
}

/* ---- for commands ---------------------------------------------------------------------------- */

uint32_t control_pid(const char *operand)
{
	char *end;
	unsigned long pid = strtoul(operand, &end, 10);

	if (*operand < '1' || *operand > '9' || *end || pid > INT32_MAX)
		ui_die(STATUS_USAGE,
		       "%s: is no pid; rtl ps lists the processes that can be reached", operand);
	return (uint32_t)pid;
}

void control_must_ask(uint32_t pid, enum control_command command, struct control_target *target,
		      struct control_reply *reply)
{
	char error[CONTROL_ERROR_SIZE];

	if (control_find(pid, target, error))
		ui_die(STATUS_FAILED, "%s", error);
	control_must_ask_it(target, command, reply);
}

void control_must_ask_it(const struct control_target *target, enum control_command command,
			 struct control_reply *reply)
{
	char error[CONTROL_ERROR_SIZE];

	if (control_ask(target, command, reply, error))
		ui_die(STATUS_FAILED, "%s", error);
	if (reply->status)
		ui_die(STATUS_FAILED, "%u: %s", target->pid, reply->text);
}

void control_must_reach(uint32_t pid, struct control_target *target)
{
	char error[CONTROL_ERROR_SIZE];

	if (control_find(pid, target, error))
		ui_die(STATUS_FAILED, "%s", error);
	if (target->uid == geteuid())
		return;
	if (!target->visible)
		ui_die(STATUS_FAILED,
		       "%u: is a process of another user (uid %u) in a container: run rtl as that user there",
		       pid, (unsigned int)target->uid);
	become_must(pid, target->uid);
}

const char *control_state_name(uint32_t state)
{
	static const char *const names[] = { "unknown", "recording", "paused", "idle", "ending" };

	return names[state < ARRAY_SIZE(names) ? state : 0];
}

const char *control_causes(char *buf, size_t size, const struct control_reply *reply)
{
	/* enum control_cause */
	static const char *const causes[] = { "by the program", "outside the windows of time",
					      "outside the range of --range", "by rtl stop" };
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (reply->causes & 1u << i && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 causes[i]);
	return buf;
}
