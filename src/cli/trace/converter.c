/* SPDX-License-Identifier: MIT */
/* converter.c - converts the traces of a session while its programs run
 *
 * Owns:     in its process the unfinished database; the caller's process shares nothing with it.
 * Threads:  the process has one.
 * Fails:    the process ends; its last commit stays, and the caller or `rtl recover` continue from
 *           there.
 * Not here: draining (drainer.c), what an unfinished database is (export/rpd/rpd_state.c).
 */
#include "cli/trace/converter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/temporary.h"
#include "base/testpoint.h"
#include "cli/exit_status.h"
#include "cli/paths.h"
#include "cli/trace/session.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"
#include "spool/drain.h"

#define BEGIN_BYTES (UINT64_C(4) << 20) /* of all traces: smaller ones are converted at the end */
#define STEP_BYTES (UINT64_C(1) << 20)	/* not converted yet: less waits for more */
/* A byte of packed records becomes some eight bytes of rows. */
#define SPLIT_STEPS 64
#define LOOK_MS 250
#define PART_INFIX ".part-" /* export/rpd/rpd.c gives the names */
#define NICE 10
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_IDLE (3 << 13)

/* A spool, as it was when it was converted last. */
struct converted {
	char *path;
	struct drain *drain; /* for its header; NULL: not open */
	uint64_t size;	     /* of the disk half, when nothing of it could be converted any more */
};

struct conversion {
	const char *dir, *output;
	const struct job_options *opt;
	int stop_fd;
	bool gives_back;
	uint64_t begin_bytes, step_bytes;
	const struct converter_split *split;
	uint64_t begun_ns; /* the database */
	struct rpd *job;
	struct job_result res[2]; /* of this database and of the next one, in turns */
	struct converted *spools;
	size_t nr;
};

/* Whether the caller wants the process to end. */
static bool is_stopped(const struct conversion *c, int wait_ms)
{
	struct pollfd fd = { .fd = c->stop_fd, .events = POLLIN };

	return poll(&fd, 1, wait_ms) > 0;
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ?
		       (uint64_t)st.st_size :
		       0;
}

static struct converted *find(struct conversion *c, const char *path)
{
	struct converted *more;

	for (size_t i = 0; i < c->nr; i++)
		if (strcmp(c->spools[i].path, path) == 0)
			return &c->spools[i];
	more = reallocarray(c->spools, c->nr + 1, sizeof(*more));
	if (!more)
		return NULL;
	c->spools = more;
	more[c->nr] = (struct converted){ .path = strdup(path) };
	return more[c->nr].path ? &more[c->nr++] : NULL;
}

/* Bytes of the spool that are new and not converted. */
static uint64_t waiting(const struct conversion *c, const struct converted *s)
{
	uint64_t size = size_of(s->path);
	uint64_t done = c->job ? rpd_grow_offset(c->job, s->path) : 0;

	return size > done && size > s->size ? size - done : 0;
}

/* Finds new spools. The bytes that wait, and in *most the spool that has most of them. */
static uint64_t look(struct conversion *c, struct converted **most)
{
	char error[SESSION_ERROR_SIZE];
	uint64_t sum = 0, largest = 0;
	char **paths;
	ssize_t nr = session_spools(c->dir, &paths);

	*most = NULL;
	for (ssize_t i = 0; i < nr; i++)
		if (session_check_spool(paths[i], error) == 0)
			find(c, paths[i]);
	if (nr >= 0)
		session_free_spools(paths, (size_t)nr);
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t bytes = waiting(c, &c->spools[i]);

		sum += bytes;
		if (bytes > largest) {
			largest = bytes;
			*most = &c->spools[i];
		}
	}
	return sum;
}

/* The file CONVERTER_FILE: its first line is the unfinished database. While one database ends and
 * the next one begins there are two
 * more: the one that ends, and the name that it gets. */
enum { LINE_CURRENT, LINE_ENDING, LINE_NAME, NR_LINES };

struct names {
	char text[NR_LINES * (PATH_MAX + 64)];
	const char *lines[NR_LINES]; /* NULL: there is none */
};

/* Writes the names where others look for them. `ending` and `name` may be NULL. */
static int publish_names(const char *dir, const char *current, const char *ending, const char *name)
{
	char path[PATH_MAX], temporary[PATH_MAX + 8], text[sizeof(struct names)];
	int fd, n, err = 0;

	if (!paths_join(path, dir, CONVERTER_FILE))
		return -ENAMETOOLONG;
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	n = snprintf(text, sizeof(text), "%s\n%s%s%s%s", current, ending ? ending : "",
		     ending ? "\n" : "", name ? name : "", name ? "\n" : "");
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)n) != n)
		err = -EIO;
	close(fd);
	return err ? err : rename(temporary, path) ? -errno : 0;
}

static int begin(struct conversion *c)
{
	int err = rpd_grow(&c->job, c->output, c->opt, &c->res[1]);

	if (err)
		return err;
	c->begun_ns = ui_now_ns();
	err = publish_names(c->dir, rpd_grow_file(c->job), NULL, NULL);
	if (err)
		unlink(rpd_grow_file(c->job));
	return err;
}

/* Lets the drainer remove what is in the file. */
static void note_converted(const struct conversion *c, struct converted *s)
{
	if (!s->drain) {
		s->drain = malloc(sizeof(*s->drain));
		if (!s->drain || drain_open(s->drain, s->path)) {
			/* its process has closed it: the caller deletes it at the end */
			free(s->drain);
			s->drain = NULL;
			return;
		}
	}
	/* release: pairs with the acquire of the drainer: the rows are committed */
	atomic_store_explicit(&s->drain->header->converted, rpd_grow_offset(c->job, s->path),
			      memory_order_release);
}

static int convert(struct conversion *c, struct converted *s)
{
	uint64_t size = size_of(s->path), before = 0;
	int err = c->job ? 0 : begin(c);

	if (err == 0) {
		before = rpd_grow_offset(c->job, s->path);
		err = rpd_grow_add(c->job, s->path);
	}
	RTL_TESTPOINT("converter_added");
	if (err == 0)
		err = rpd_grow_commit(c->job);
	RTL_TESTPOINT("converter_committed");
	/* the rest are records that are not whole: they wait until there is more */
	if (err == 0 && rpd_grow_offset(c->job, s->path) == before)
		s->size = size;
	if (err == 0 && c->gives_back)
		note_converted(c, s);
	return err;
}

/* Begins the next database and completes this one. A process that is killed meanwhile leaves two
 * files; which of them has the trace, converter_settle() finds out. */
static int split(struct conversion *c)
{
	char name[PATH_MAX];
	struct rpd *next = NULL;
	int err = converter_name(name, c->output, rpd_grow_part(c->job));

	if (err == 0)
		err = rpd_grow_split(c->job, &next, c->opt,
				     &c->res[(rpd_grow_part(c->job) + 1) % 2]);
	if (err == 0)
		err = publish_names(c->dir, rpd_grow_file(next), rpd_grow_file(c->job), name);
	RTL_TESTPOINT("converter_split");
	if (err && next) {
		unlink(rpd_grow_file(next));
		rpd_grow_end(next);
	}
	if (err)
		return err;
	err = rpd_grow_finish(c->job, name);
	c->job = next;
	RTL_TESTPOINT("converter_finished");
	c->begun_ns = ui_now_ns();
	for (size_t i = 0; i < c->nr && err == 0 && c->gives_back; i++)
		note_converted(c, &c->spools[i]);
	return err ? err : publish_names(c->dir, rpd_grow_file(next), NULL, NULL);
}

static bool is_time(const struct conversion *c)
{
	return c->split->ns && ui_now_ns() - c->begun_ns >= c->split->ns;
}

static bool is_large(const struct conversion *c)
{
	return c->job && c->split->bytes && size_of(rpd_grow_file(c->job)) >= c->split->bytes;
}

/* The time is over: what was recorded until now belongs to this database. */
static int convert_rest(struct conversion *c)
{
	struct converted *most;
	int err = 0;

	while (!err && look(c, &most) && most && !is_stopped(c, 0))
		err = convert(c, most);
	return err;
}

static int step(struct conversion *c)
{
	struct converted *most;
	int err = 0;

	while (!err && look(c, &most) >= (c->job ? c->step_bytes : c->begin_bytes) && most) {
		err = convert(c, most);
		if (!err && is_large(c))
			err = split(c);
		if (is_stopped(c, 0))
			return err;
	}
	if (!err && is_time(c)) {
		err = convert_rest(c);
		if (!err && c->job && !is_stopped(c, 0))
			err = split(c);
		c->begun_ns = ui_now_ns();
	}
	return err;
}

/* The process. Its status is of no interest: the file has what it committed. */
_Noreturn static void convert_all(struct conversion *c)
{
	int err = 0;

	c->begun_ns = ui_now_ns();
	while (!err && !is_stopped(c, LOOK_MS))
		err = step(c);
	if (c->job)
		rpd_grow_end(c->job);
	_exit(err ? STATUS_FAILED : 0);
}

/* Keeps standard streams and the descriptor, which gets the number 3. */
static void keep_descriptors(int *fd)
{
	int dev_null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* a program that reads rtl's output to its end must not wait for this process */
	for (int i = 0; i < 3 && dev_null >= 0; i++)
		dup2(dev_null, i);
	dup2(*fd, 3);
	*fd = 3;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 4u, ~0u, 0u) == 0)
		return;
#endif
	for (int i = 4; i < 1024; i++)
		close(i);
}

static void lower_priority(void)
{
	setpriority(PRIO_PROCESS, 0, NICE);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

/* Sizes for tests, which have small traces: RTL_TEST_FOLLOW=BYTES. */
static void take_test_sizes(struct conversion *c)
{
#ifdef RTL_DEBUG_CHECKS
	const char *text = getenv("RTL_TEST_FOLLOW");

	if (text)
		c->begin_bytes = c->step_bytes = strtoull(text, NULL, 10);
#else
	(void)c;
#endif
}

int converter_start(struct converter *f, const char *dir, const char *output,
		    const struct job_options *opt, const struct converter_split *split,
		    bool gives_back)
{
	struct job_options own = { .force = opt->force, .access = opt->access };
	struct conversion c = { .dir = dir,
				.output = output,
				.opt = &own,
				.gives_back = gives_back,
				.split = split,
				.begin_bytes = BEGIN_BYTES,
				.step_bytes = STEP_BYTES };
	pid_t parent = getpid();
	int fds[2];

	*f = (struct converter){ .stop_fd = -1 };
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	f->pid = fork();
	if (f->pid < 0) {
		int err = -errno;

		f->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	f->was = f->pid;
	if (f->pid > 0) {
		close(fds[0]);
		f->stop_fd = fds[1];
		return 0;
	}
	/* the rows of a step are an eighth of a database */
	if (split->bytes && split->bytes / SPLIT_STEPS < c.begin_bytes)
		c.begin_bytes = split->bytes / SPLIT_STEPS;
	if (split->bytes && split->bytes / SPLIT_STEPS < c.step_bytes)
		c.step_bytes = own.part_bytes = split->bytes / SPLIT_STEPS;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "rtl-convert");
	if (getppid() != parent)
		_exit(0);
	c.stop_fd = fds[0];
	keep_descriptors(&c.stop_fd);
	lower_priority();
	take_test_sizes(&c);
	convert_all(&c);
}

void converter_stop(struct converter *f)
{
	int status;

	if (!f->pid)
		return;
	close(f->stop_fd);
	while (waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
		if (ui_stopped_by())
			kill(f->pid, SIGKILL);
	f->pid = 0;
}

static void unlink_database(const char *path)
{
	char journal[PATH_MAX + 16];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(path);
	unlink(journal);
}

int converter_name(char name[PATH_MAX], const char *output, unsigned int number)
{
	const char *end = paths_suffix(output);
	int n = snprintf(name, PATH_MAX, "%.*s.%03u%s", (int)(end - output), output, number, end);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

unsigned int converter_names(const char *output)
{
	char name[PATH_MAX];
	unsigned int nr = 0;

	while (converter_name(name, output, nr + 1) == 0 && access(name, F_OK) == 0)
		nr++;
	return nr;
}

/* ---- what a converter has left ---- */

/* A directory of spools may come from anywhere: what it says names nothing but unfinished databases
 * beside outputs that the caller expects, by names that a converter makes there. Nothing else is
 * read, renamed or removed. */

/* Whether the file is no link and belongs to this user, or to the owner of the directory of
 * spools. */
static bool is_own_file(const char *path, uid_t owner)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == owner);
}

/* 1: the list's lines; 0: there is none, or it names no file; -EINVAL: rtl trace, which writes it
 * whole, did not write it. */
static int read_names(int dir_fd, struct names *names)
{
	int fd = openat(dir_fd, CONVERTER_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *at = names->text;
	struct stat st;
	ssize_t n = -1;

	memset(names, 0, sizeof(*names));
	if (fd < 0)
		return errno == ENOENT ? 0 : -EINVAL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, names->text, sizeof(names->text) - 1, 0);
	close(fd);
	if (n == 0 || (n == 1 && *at == '\n'))
		return 0;
	if (n < 0 || names->text[n - 1] != '\n' || memchr(names->text, '\0', (size_t)n))
		return -EINVAL;
	for (int i = 0; i < NR_LINES && *at; i++) {
		char *end = strchr(at, '\n');

		if (!end || end == at || end - at >= PATH_MAX)
			return -EINVAL;
		*end = '\0';
		names->lines[i] = at;
		at = end + 1;
	}
	return *at ? -EINVAL : 1;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The digits at *at, which are skipped. false: there are none, or too many. */
static bool read_number(const char **at, unsigned int *number)
{
	size_t n = strspn(*at, "0123456789");

	if (!n || n > 9 || **at == '0')
		return false;
	*number = (unsigned int)strtoul(*at, NULL, 10);
	*at += n;
	return true;
}

/* Whether `base` is BASE.part-PID or BASE.part-PID-NUMBER of the output. */
static bool is_part_of(const char *base, const char *output, unsigned int *pid,
		       unsigned int *number)
{
	const char *own = base_of(output), *at = base + strlen(own);

	*number = 1;
	if (strncmp(base, own, strlen(own)) != 0 ||
	    strncmp(at, PART_INFIX, strlen(PART_INFIX)) != 0)
		return false;
	at += strlen(PART_INFIX);
	return read_number(&at, pid) &&
	       (!*at || (*at++ == '-' && read_number(&at, number) && !*at));
}

/* Whether any output may have had an unfinished database of that name. */
static bool has_form(const char *base)
{
	const char *at = strrchr(base, '.');
	unsigned int number;

	if (!at || at == base || strncmp(at, PART_INFIX, strlen(PART_INFIX)) != 0)
		return false;
	at += strlen(PART_INFIX);
	return read_number(&at, &number) &&
	       (!*at || (*at++ == '-' && read_number(&at, &number) && !*at));
}

static int foreign(const struct converter_location *where, char *error)
{
	snprintf(
		error, SESSION_ERROR_SIZE,
		"%s/%s: names a file that rtl trace does not make; nothing is done with it: remove this list if the directory is "
		"not from an untrusted source, and try again",
		where->dir, CONVERTER_FILE);
	return -EINVAL;
}

/* The file of that line beside one of the outputs. 0: there is none. */
static int look_for(const struct converter_location *where, const char *line, uid_t owner,
		    char path[PATH_MAX], unsigned int *number, char *error)
{
	const char *base = base_of(line);
	unsigned int pid;
	char dir[PATH_MAX];

	*path = '\0';
	for (size_t i = 0; i < where->nr; i++) {
		if (!is_part_of(base, where->outputs[i], &pid, number) ||
		    (where->pid && pid != (unsigned int)where->pid))
			continue;
		paths_dirname(dir, where->outputs[i]);
		if (paths_join(path, dir, base) && is_own_file(path, owner))
			return 1;
		*path = '\0';
	}
	for (size_t i = 0; i < where->nr; i++)
		if (is_part_of(base, where->outputs[i], &pid, number))
			return 0;
	/* with --spool-dir, or after a directory was renamed */
	if (!has_form(base))
		return foreign(where, error);
	snprintf(
		error, SESSION_ERROR_SIZE,
		"%s: records of this trace are in an unfinished database beside its output, %.*s.part-...: give that "
		"output with -o",
		where->dir, (int)(strrchr(base, '.') - base), base);
	return -EINVAL;
}

int converter_find(const struct converter_location *at, struct converter_found *found,
		   char error[SESSION_ERROR_SIZE])
{
	int fd = open(at->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	unsigned int number;
	struct names names;
	struct stat st;

	memset(found, 0, sizeof(*found));
	*error = '\0';
	if (fd < 0)
		return 0;
	ret = fstat(fd, &st) == 0 ? read_names(fd, &names) : -EINVAL;
	if (ret < 0)
		foreign(at, error);
	if (ret > 0)
		ret = look_for(at, names.lines[LINE_CURRENT], st.st_uid, found->current, &number,
			       error);
	if (ret >= 0 && names.lines[LINE_NAME]) {
		int more = look_for(at, names.lines[LINE_ENDING], st.st_uid, found->ending,
				    &found->number, error);

		ret = more < 0 ? more : ret | more;
	}
	close(fd);
	return ret;
}

void converter_settle(const struct converter_location *at, const struct job_options *opt)
{
	char error[SESSION_ERROR_SIZE], name[PATH_MAX];
	struct converter_found found;

	if (converter_find(at, &found, error) <= 0 || !*found.ending)
		return;
	if (rpd_grow_is_unfinished(found.ending)) {
		/* its last rows were not committed: it goes on as if there were no next one */
		if (publish_names(at->dir, found.ending, NULL, NULL) == 0 && *found.current)
			unlink_database(found.current);
		return;
	}
	if (converter_name(name, at->outputs[0], found.number) == 0)
		temporary_publish(found.ending, name, opt->force, opt->access != JOB_ACCESS_UMASK);
	publish_names(at->dir, found.current, NULL, NULL);
}

void converter_remove(const struct converter_location *at, bool files)
{
	char error[SESSION_ERROR_SIZE];
	struct converter_found found;
	int fd = open(at->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (files && converter_find(at, &found, error) > 0) {
		if (*found.current)
			unlink_database(found.current);
		if (*found.ending)
			unlink_database(found.ending);
	}
	if (fd < 0)
		return;
	unlinkat(fd, CONVERTER_FILE, 0);
	close(fd);
}
