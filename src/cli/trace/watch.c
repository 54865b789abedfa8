/* SPDX-License-Identifier: MIT */
/* watch.c - processes of a run that leave no trace of themselves, seen from outside
 *
 * Owns:     the list of the processes that were seen, the socket of notices.
 * Fails:    a process that can't be read, or ended between two looks, is not in the list.
 * Not here: messages about traces that exist (drainer.c, cmd_trace.c).
 */
#include "cli/trace/watch.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/notice.h"
#include "base/proc.h"
#include "cli/ui.h"
#include "spool/format.h"

#define MAX_PROCESSES 4096
/* for processes that are in the middle of an exec */
#define EXEC_TRIES 3
#define EXEC_WAIT_MS 5
#define NO_PIDFD_MS 20

enum what {
	NEW,	 /* neither librtl nor a runtime yet */
	INSIDE,	 /* has librtl, which traces it */
	OUTSIDE, /* has a runtime, and not librtl */
	DENIED,	 /* has librtl, which has no spool */
	FORKED,	 /* a forked child of a traced process, which uses the GPU */
	UNSEEN,	 /* has librtl, which its runtime did not load as a tool */
};

/* Why it has no librtl. */
enum why { NO_REASON, CLEARED, REMOVED, SECURE };
static const char *const why_texts[] = {
	[NO_REASON] = "the loader did not load it",
	[CLEARED] = "its environment was cleared",
	[REMOVED] = "LD_PRELOAD was removed from its environment",
	[SECURE] =
		"it is setuid or has capabilities of its own, so that the loader ignores LD_PRELOAD",
};
static const char *const why_todo[] = {
	[NO_REASON] = "trace the program itself, not the one that starts it",
	[CLEARED] =
		"put rtl trace behind the command that clears it, as in 'env -i ... rtl trace ... PROGRAM'",
	[REMOVED] =
		"keep LD_PRELOAD and HSA_TOOLS_LIB, or put rtl trace behind the command that removes them",
	[SECURE] = "trace a copy of the program that is not",
};

struct process {
	uint32_t pid;
	uint64_t start_ticks;
	dev_t dev; /* of its program */
	ino_t ino;
	enum what what;
	enum why why;
	bool gone;
	int error;    /* of a notice */
	uint32_t uid; /* of a notice */
	char *exe;
};

struct watch {
	const char *dir;
	dev_t own_dev; /* of rtl's program */
	ino_t own_ino;
	int fd;
	struct process *processes;
	size_t nr, max;
	char *suspect;
	char *text; /* work buffer for files of /proc */
	size_t text_size;
};

struct watch *watch_start(const char *dir, uint32_t child)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct stat st;

	if (!w || !(w->processes = calloc(64, sizeof(*w->processes))))
		ui_die_memory();
	w->max = 64;
	w->dir = dir;
	w->fd = notice_open(dir);
	if (stat("/proc/self/exe", &st) == 0) {
		w->own_dev = st.st_dev;
		w->own_ino = st.st_ino;
	}
	w->processes[w->nr++] =
		(struct process){ .pid = child, .start_ticks = proc_start_ticks(child) };
	return w;
}

void watch_destroy(struct watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nr; i++)
		free(w->processes[i].exe);
	free(w->processes);
	free(w->suspect);
	free(w->text);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

int watch_fd(const struct watch *w)
{
	return w->fd;
}

/* Reads a file of a process; its text ends with a NUL more. NULL: can't be read, or is empty. */
static const char *read_proc(struct watch *w, uint32_t pid, const char *name, size_t *length)
{
	char path[64];
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do {
		used += (size_t)n;
		if (w->text_size - used < 4096) {
			w->text_size = w->text_size ? w->text_size * 2 : 65536;
			w->text = realloc(w->text, w->text_size);
			if (!w->text)
				ui_die_memory();
		}
		n = read(fd, w->text + used, w->text_size - used - 1);
	} while (n > 0);
	close(fd);
	w->text[used] = '\0';
	*length = used;
	return used ? w->text : NULL;
}

/* The value of a variable in the text of an environment; NULL: it is not set. */
static const char *variable(const char *text, size_t length, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p < text + length; p += strlen(p) + 1)
		if (strncmp(p, name, n) == 0 && p[n] == '=')
			return p + n + 1;
	return NULL;
}

static bool names_librtl(const char *text, size_t length, const char *name)
{
	const char *value = variable(text, length, name);

	return value && strstr(value, "librtl.so");
}

static bool is_secure(struct watch *w, uint32_t pid)
{
	size_t length;
	const char *text = read_proc(w, pid, "auxv", &length);
	Elf64_auxv_t entry;

	for (size_t at = 0; text && at + sizeof(entry) <= length; at += sizeof(entry)) {
		memcpy(&entry, text + at, sizeof(entry));
		if (entry.a_type == AT_SECURE)
			return entry.a_un.a_val != 0;
	}
	return false;
}

/* Whether a process whose environment reads as empty has an empty one. Between the two halves of an
 * exec, and when the process is ending, it has none yet, or none any more: then field 50 of its
 * stat (env_start) is 0. */
static bool has_empty_environment(struct watch *w, uint32_t pid)
{
	size_t length;
	const char *stat = read_proc(w, pid, "stat", &length);

	return stat && proc_stat_number(stat, PROC_ENV_START) != 0;
}

/* Sets why the process has no librtl. false: it may still load it, or belongs to another
 * session. */
static bool find_reason(struct watch *w, struct process *p)
{
	size_t length;
	const char *text, *session;

	p->why = NO_REASON;
	if (is_secure(w, p->pid)) {
		p->why = SECURE;
		return true;
	}
	text = read_proc(w, p->pid, "environ", &length);
	if (!text) {
		if (access("/proc/self/environ", R_OK) || !has_empty_environment(w, p->pid))
			return false;
		p->why = CLEARED;
		return true;
	}
	session = variable(text, length, "RTL_SESSION");
	if (session && strcmp(session, w->dir) != 0)
		return false;
	if (!session)
		p->why = CLEARED;
	else if (names_librtl(text, length, "HSA_TOOLS_LIB") ||
		 names_librtl(text, length, "ROCPROFILER_REGISTER_LIBRARY"))
		return false;
	else if (!names_librtl(text, length, "LD_PRELOAD"))
		p->why = REMOVED;
	return true;
}

static void note_exe(struct process *p)
{
	char path[64], exe[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", p->pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	free(p->exe);
	p->exe = n > 0 ? ui_format("%.*s", (int)n, exe) : NULL;
}

/* Whether it executes another program than at the last look. */
static bool has_changed(struct process *p)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/exe", p->pid);
	if (stat(path, &st) || (st.st_dev == p->dev && st.st_ino == p->ino))
		return false;
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	note_exe(p);
	return true;
}

static void classify(struct watch *w, struct process *p)
{
	size_t length;
	const char *maps;
	bool has_librtl, has_runtime;

	/* what an earlier program of the process left out stays in the verdict */
	if (p->what > INSIDE)
		return;
	if (has_changed(p)) {
		p->what = NEW;
		p->why = NO_REASON;
	}
	/* between its fork and its exec the child still is rtl */
	if (p->what != NEW || !p->exe || (p->dev == w->own_dev && p->ino == w->own_ino))
		return;
	maps = read_proc(w, p->pid, "maps", &length);
	if (!maps)
		return;
	has_librtl = strstr(maps, "/librtl.so");
	has_runtime = strstr(maps, "/libhsa-runtime64.so") || strstr(maps, "/libamdhip64.so");
	if (has_librtl && !is_secure(w, p->pid)) {
		p->what = INSIDE;
		p->why = NO_REASON;
	} else if (find_reason(w, p) && has_runtime) {
		p->what = OUTSIDE;
	}
}

static bool is_known(const struct watch *w, uint32_t pid)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->processes[i].pid == pid && !w->processes[i].gone)
			return true;
	return false;
}

/* Whether the process must stay in the list when it is gone. */
static bool is_remarkable(const struct process *p)
{
	return p->what > INSIDE || p->why != NO_REASON;
}

static struct process *add_process(struct watch *w, uint32_t pid)
{
	struct process *p = NULL;

	for (size_t i = 1; i < w->nr && !p; i++)
		if (w->processes[i].gone && !is_remarkable(&w->processes[i]))
			p = &w->processes[i];
	if (!p && w->nr == MAX_PROCESSES)
		return NULL;
	if (!p && w->nr == w->max) {
		w->max *= 2;
		w->processes = reallocarray(w->processes, w->max, sizeof(*w->processes));
		if (!w->processes)
			ui_die_memory();
	}
	if (!p)
		p = &w->processes[w->nr++];
	else
		free(p->exe);
	*p = (struct process){ .pid = pid, .start_ticks = proc_start_ticks(pid) };
	return p;
}

static void add_children(struct watch *w, uint32_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		char name[400], text[4096], *at = text, *end;
		ssize_t n;

		if (*entry->d_name == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s/children", path, entry->d_name);
		n = fd_read_file(name, text, sizeof(text) - 1);
		if (n <= 0)
			continue;
		text[n] = '\0';
		for (unsigned long child; (child = strtoul(at, &end, 10)) && end != at; at = end)
			if (!is_known(w, (uint32_t)child))
				add_process(w, (uint32_t)child);
	}
	if (tasks)
		closedir(tasks);
}

static void take_notices(struct watch *w)
{
	struct notice notice;

	while (w->fd >= 0 && notice_next(w->fd, &notice)) {
		struct process *p = NULL;

		for (size_t i = 0; i < w->nr && !p; i++)
			if (w->processes[i].pid == notice.pid && !w->processes[i].gone)
				p = &w->processes[i];
		if (!p)
			p = add_process(w, notice.pid);
		if (!p || p->what > INSIDE)
			continue;
		p->what = notice.kind == NOTICE_FORKED	  ? FORKED :
			  notice.kind == NOTICE_NO_TABLES ? UNSEEN :
							    DENIED;
		p->error = notice.error;
		p->uid = notice.uid;
		note_exe(p);
	}
}

bool watch_look(struct watch *w)
{
	bool soon = false;

	take_notices(w);
	/* the list grows meanwhile */
	for (size_t i = 0; i < w->nr; i++) {
		struct process *p = &w->processes[i];

		if (p->gone)
			continue;
		if (!p->start_ticks || proc_start_ticks(p->pid) != p->start_ticks) {
			p->gone = true;
			continue;
		}
		classify(w, p);
		soon = soon || p->what == NEW;
		add_children(w, p->pid);
	}
	return soon;
}

/* A spool of the process that has the loss alone. */
static int write_spool(const struct watch *w, const struct process *p, enum spool_reason reason)
{
	struct spool_header *h = calloc(1, sizeof(*h));
	uint64_t now = clock_read_ns(CLOCK_BOOTTIME);
	char path[PATH_MAX];
	int fd, err;

	if (!h)
		ui_die_memory();
	h->magic = SPOOL_MAGIC;
	h->version = SPOOL_VERSION;
	h->header_size = SPOOL_HEADER_SIZE;
	h->slot_size = SLOT_SIZE;
	h->pid = p->pid;
	h->start_ns = now;
	h->proc_start_ticks = p->start_ticks;
	if (getrandom(h->trace_id, sizeof(h->trace_id), 0) != (ssize_t)sizeof(h->trace_id))
		h->trace_id[0] = now;
	fd_read_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof(h->boot_id));
	atomic_store_explicit(&h->disk_end, SPOOL_HEADER_SIZE, memory_order_relaxed);
	atomic_store_explicit(&h->clock_id, SPOOL_CLOCK_BOOTTIME, memory_order_relaxed);
	atomic_store_explicit(&h->closed, 1, memory_order_relaxed);
	atomic_store_explicit(&h->end_kind, SPOOL_END_EXIT, memory_order_relaxed);
	atomic_store_explicit(&h->loss[reason].count, 1, memory_order_relaxed);
	snprintf(path, sizeof(path), "%s/%u-%llx.rtl", w->dir, p->pid, (unsigned long long)now);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = fd < 0 ? -errno : fd_pwrite(fd, h, sizeof(*h), 0);
	if (fd >= 0)
		close(fd);
	free(h);
	return err;
}

static void conclude(const struct watch *w, const struct process *p)
{
	const char *exe = p->exe ? p->exe : "?";
	enum spool_reason reason = SPOOL_REASON_start_failed;
	int err;

	switch (p->what) {
	case OUTSIDE:
		reason = SPOOL_REASON_librtl_missing;
		ui_say("process %u (%s) used a ROCm runtime without librtl: %s; %s", p->pid, exe,
		       why_texts[p->why], why_todo[p->why]);
		break;
	case FORKED:
		reason = SPOOL_REASON_forked;
		ui_say("process %u (%s) was forked from a traced process and uses the GPU: what it does "
		       "is not traced; fork before the parent uses HIP, or let the child execute a program",
		       p->pid, exe);
		break;
	case UNSEEN:
		reason = SPOOL_REASON_no_tables;
		ui_say("process %u (%s) used the GPU, and its HSA runtime did not load librtl as a tool, so "
		       "that its kernels and copies are missing: don't remove HSA_TOOLS_LIB from the "
		       "environment before the program uses the GPU",
		       p->pid, exe);
		break;
	default:
		if (p->error == EACCES || p->error == EPERM)
			reason = SPOOL_REASON_spool_denied;
		ui_say("process %u (%s) of user %u could not make its trace in %s: %s%s", p->pid,
		       exe, p->uid, w->dir, strerror(p->error),
		       p->error == EACCES || p->error == EPERM ?
			       "; put rtl trace behind the command that changes the user, as in "
			       "'setpriv ... rtl trace ... PROGRAM'" :
			       "");
		break;
	}
	err = write_spool(w, p, reason);
	if (err)
		ui_error("%s: %s; the verdict does not count process %u", w->dir, strerror(-err),
			 p->pid);
}

void watch_conclude(struct watch *w)
{
	take_notices(w);
	for (size_t i = 0; i < w->nr; i++) {
		const struct process *p = &w->processes[i];

		if (p->what > INSIDE)
			conclude(w, p);
		else if (p->what == NEW && p->why != NO_REASON && !w->suspect)
			w->suspect = ui_format("process %u (%s) ran without librtl: %s", p->pid,
					       p->exe ? p->exe : "?", why_texts[p->why]);
	}
}

const char *watch_suspect(const struct watch *w)
{
	return w->suspect;
}

/* Whether the environment of a process is empty: it may be in the middle of an exec, or have none.
 * A thread of the kernel has no program. */
static bool is_between(uint32_t pid)
{
	char path[64], byte;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	if (access(path, R_OK))
		return false;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return readlink(path, &byte, 1) > 0;
}

/* *again: a process could not be read. */
static size_t list_left(struct watch *w, uint32_t *pids, size_t max, bool *again)
{
	struct dirent *entry;
	size_t nr = 0, length;
	DIR *proc = opendir("/proc");

	*again = false;
	while (proc && nr < max && (entry = readdir(proc))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		const char *text = pid ? read_proc(w, pid, "environ", &length) : NULL;
		const char *session = text ? variable(text, length, "RTL_SESSION") : NULL;

		if (session && strcmp(session, w->dir) == 0 && proc_start_ticks(pid))
			pids[nr++] = pid;
		*again = *again || (pid && !text && is_between(pid));
	}
	if (proc)
		closedir(proc);
	return nr;
}

size_t watch_left(const char *dir, uint32_t *pids, size_t max)
{
	struct watch w = { .dir = dir };
	bool again = true;
	size_t nr = 0;

	for (int i = 0; i < EXEC_TRIES && again && !nr; i++) {
		if (i)
			poll(NULL, 0, EXEC_WAIT_MS);
		nr = list_left(&w, pids, max, &again);
	}
	free(w.text);
	return nr;
}

/* Waits for the end of a process, at most so long. */
static void wait_for(uint32_t pid, uint64_t until_ns)
{
	uint64_t now = ui_now_ns();
	struct pollfd fd = { .fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), .events = POLLIN };
	int ms = now < until_ns ? (int)((until_ns - now) / 1000000) + 1 : 0;

	/* a kernel before 5.3 has no such descriptors */
	poll(&fd, fd.fd >= 0, fd.fd >= 0 || ms < NO_PIDFD_MS ? ms : NO_PIDFD_MS);
	if (fd.fd >= 0)
		close(fd.fd);
}

size_t watch_wait(const char *dir, uint32_t *pids, size_t max, unsigned int grace_ms)
{
	uint64_t until_ns = ui_now_ns() + grace_ms * UINT64_C(1000000);
	size_t nr;

	while ((nr = watch_left(dir, pids, max)) > 0 && ui_now_ns() < until_ns && !ui_stopped_by())
		wait_for(pids[0], until_ns);
	return nr;
}
