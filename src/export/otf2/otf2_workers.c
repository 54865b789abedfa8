/* SPDX-License-Identifier: MIT */
/* otf2_workers.c - processes that write the events of traces, one after the other each
 *
 * A process takes the next trace that none has taken, and sends what the archive has of it through
 * a pipe of its own; traces' parts are taken in their order. It writes only files of the archive's
 * temporary folder, which the caller removes.
 *
 * Fails:    one that ends otherwise than by the end of its work ends the others, and the trace that
 *           it wrote is named. With the caller's process all of them die.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/otf2/otf2_part.h"

#define MAX_WORKERS 64
/* Between two calls of ops->progress. */
#define STEP_MS 100

enum message_kind { BEGUN, NOTED, PROGRESS, PART, FAILED };

struct message {
	enum message_kind kind;
	int error;	 /* FAILED: -errno */
	uint64_t number; /* trace; PROGRESS: how far it is */
	uint64_t size;	 /* of what follows */
};

struct worker {
	pid_t pid;
	int fd;		      /* -1: it has ended */
	struct otf2_bytes in; /* what is not handled yet */
	bool is_busy;
	size_t trace; /* that it writes, or wrote last */
	uint64_t done;
};

struct workers {
	const struct otf2_worker_ops *ops;
	void *arg;
	size_t nr_traces;
	struct job_result *res;
	struct worker *all;
	size_t nr;
	_Atomic uint64_t *next;	  /* trace, of all processes */
	struct otf2_bytes *parts; /* by trace: those that came before their turn */
	size_t nr_taken;
};

/* ---- in a worker ---- */

static int out_fd = -1;
static uint64_t sent_progress;

/* Ends the process if the caller's has closed its end of the pipe. */
static void send(const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(out_fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		at += n;
		size -= (size_t)n;
	}
}

static void send_message(enum message_kind kind, int error, uint64_t number, const void *data,
			 size_t size)
{
	const struct message m = { kind, error, number, size };

	send(&m, sizeof(m));
	send(data, size);
}

void otf2_worker_report(const int64_t *numbers, size_t nr)
{
	send_message(NOTED, 0, 0, numbers, nr * sizeof(*numbers));
}

void otf2_worker_progress(uint64_t done)
{
	if (done > sent_progress)
		send_message(PROGRESS, 0, done, NULL, 0);
	sent_progress = done > sent_progress ? done : sent_progress;
}

static _Noreturn void work(struct workers *w)
{
	struct job_result *res = alloc_zero(1, sizeof(*res));
	uint64_t trace;

	signal(SIGPIPE, SIG_IGN);
	while (res && (trace = atomic_fetch_add(w->next, 1)) < w->nr_traces) {
		struct otf2_bytes part = { 0 };
		int ret;

		memset(res, 0, sizeof(*res));
		sent_progress = 0;
		send_message(BEGUN, 0, trace, NULL, 0);
		ret = w->ops->write(w->arg, trace, &part, res);
		if (ret) {
			send_message(FAILED, ret, trace, res->error, strlen(res->error) + 1);
			_exit(0);
		}
		send_message(PART, 0, trace, part.data, part.size);
		otf2_bytes_fini(&part);
	}
	_exit(res ? 0 : 1);
}

/* ---- in the caller's process ---- */

static int fail_memory(const struct workers *w)
{
	return job_fail(w->res, -ENOMEM, "the archive: out of memory");
}

static int start(struct workers *w, struct worker *worker)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe(fds))
		return job_fail(w->res, -errno, "the archive: no pipe: %s", strerror(errno));
	worker->pid = fork();
	if (worker->pid == 0) {
		/* should the caller be killed */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		for (struct worker *before = w->all; before < worker; before++)
			close(before->fd);
		close(fds[0]);
		out_fd = fds[1];
		work(w);
	}
	close(fds[1]);
	worker->fd = fds[0];
	if (worker->pid > 0)
		return 0;
	close(fds[0]);
	worker->fd = -1;
	return job_fail(w->res, -errno, "the archive: no process: %s", strerror(errno));
}

/* Takes the parts whose turn it is. */
static int take_parts(struct workers *w)
{
	int ret = 0;

	while (ret == 0 && w->nr_taken < w->nr_traces && w->parts[w->nr_taken].size) {
		ret = w->ops->take(w->arg, w->nr_taken, &w->parts[w->nr_taken]);
		otf2_bytes_fini(&w->parts[w->nr_taken++]);
	}
	return ret;
}

static int handle(struct workers *w, struct worker *worker, const struct message *m,
		  const char *data)
{
	switch (m->kind) {
	case BEGUN:
		worker->is_busy = true;
		worker->trace = m->number;
		worker->done = 0;
		return 0;
	case NOTED:
		/* copied: it is not aligned */
		{
			int64_t *numbers = alloc_zero(m->size + 1, 1);
			int ret = -ENOMEM;

			if (!numbers)
				return fail_memory(w);
			memcpy(numbers, data, m->size);
			ret = w->ops->note(w->arg, worker->trace, numbers,
					   m->size / sizeof(*numbers));
			alloc_free(numbers);
			return ret;
		}
	case PROGRESS:
		worker->done = m->number;
		return 0;
	case PART:
		worker->is_busy = false;
		worker->done = 0;
		if (otf2_bytes_put(&w->parts[worker->trace], data, m->size))
			return fail_memory(w);
		return take_parts(w);
	case FAILED:
		worker->is_busy = false;
		return job_fail(w->res, m->error, "%s", data);
	}
	return 0;
}

/* The process has ended, or was ended. */
static int reap(struct workers *w, struct worker *worker)
{
	int status = 0;

	close(worker->fd);
	worker->fd = -1;
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	worker->pid = 0;
	if (!worker->is_busy && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return job_fail(
			w->res, -ECHILD,
			"%s: the process that wrote its events was killed by signal %d (%s)",
			w->ops->name(w->arg, worker->trace), WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return job_fail(w->res, -ECHILD,
			"%s: the process that wrote its events ended with status %d",
			w->ops->name(w->arg, worker->trace), WEXITSTATUS(status));
}

static int receive(struct workers *w, struct worker *worker)
{
	char block[65536];
	ssize_t n = read(worker->fd, block, sizeof(block));
	struct otf2_bytes *in = &worker->in;
	struct message m;
	int ret = 0;

	if (n < 0)
		return errno == EINTR ? 0 : reap(w, worker);
	if (n == 0)
		return reap(w, worker);
	if (otf2_bytes_put(in, block, (size_t)n))
		return fail_memory(w);
	while (ret == 0 && in->size - in->at >= sizeof(m)) {
		memcpy(&m, in->data + in->at, sizeof(m));
		if (in->size - in->at - sizeof(m) < m.size)
			break;
		ret = handle(w, worker, &m, in->data + in->at + sizeof(m));
		in->at += sizeof(m) + m.size;
	}
	memmove(in->data, in->data + in->at, in->size - in->at);
	in->size -= in->at;
	in->at = 0;
	return ret;
}

static int show_progress(struct workers *w)
{
	uint64_t done = w->nr_taken * OTF2_PROGRESS;

	for (size_t i = w->nr_taken; i < w->nr_traces; i++)
		done += w->parts[i].size ? OTF2_PROGRESS : 0;
	for (size_t i = 0; i < w->nr; i++)
		done += w->all[i].is_busy ? w->all[i].done : 0;
	return w->ops->progress(w->arg, done, w->nr_traces * OTF2_PROGRESS);
}

static int loop(struct workers *w)
{
	struct pollfd fds[MAX_WORKERS];
	int ret = 0;

	while (ret == 0) {
		size_t nr = 0;

		for (size_t i = 0; i < w->nr; i++) {
			fds[i] = (struct pollfd){ .fd = w->all[i].fd, .events = POLLIN };
			nr += w->all[i].fd >= 0;
		}
		if (!nr)
			break;
		if (poll(fds, w->nr, STEP_MS) < 0 && errno != EINTR)
			return job_fail(w->res, -errno, "the archive: %s", strerror(errno));
		for (size_t i = 0; i < w->nr && ret == 0; i++)
			if (w->all[i].fd >= 0 && fds[i].revents)
				ret = receive(w, &w->all[i]);
		if (ret == 0)
			ret = show_progress(w);
	}
	return ret;
}

static size_t count_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) > MAX_WORKERS ? MAX_WORKERS : (size_t)CPU_COUNT(&set);
}

static void end(struct workers *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		struct worker *worker = &w->all[i];

		if (worker->pid > 0)
			kill(worker->pid, SIGKILL);
	}
	for (size_t i = 0; i < w->nr; i++) {
		struct worker *worker = &w->all[i];

		if (worker->fd >= 0)
			close(worker->fd);
		while (worker->pid > 0 && waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		otf2_bytes_fini(&worker->in);
	}
	for (size_t i = 0; w->parts && i < w->nr_traces; i++)
		otf2_bytes_fini(&w->parts[i]);
	alloc_free(w->parts);
	alloc_free(w->all);
}

int otf2_workers_run(const struct otf2_worker_ops *ops, void *arg, size_t nr_traces,
		     struct job_result *res)
{
	struct workers w = { .ops = ops, .arg = arg, .nr_traces = nr_traces, .res = res };
	size_t nr = count_processors();
	int ret = 0;

	nr = nr > nr_traces ? nr_traces : nr;
	w.all = alloc_zero(nr + 1, sizeof(*w.all));
	w.parts = alloc_zero(nr_traces + 1, sizeof(*w.parts));
	w.next = mmap(NULL, sizeof(*w.next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (!w.all || !w.parts || w.next == MAP_FAILED)
		ret = fail_memory(&w);
	for (; w.nr < nr && ret == 0; w.nr += ret == 0)
		ret = start(&w, &w.all[w.nr]);
	if (ret == 0)
		ret = loop(&w);
	end(&w);
	if (w.next != MAP_FAILED)
		munmap(w.next, sizeof(*w.next));
	return ret;
}
