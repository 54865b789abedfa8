/* SPDX-License-Identifier: MIT */
/* drainer.c - drains every spool of a session from outside
 *
 * Owns:     the list of spools.
 * Threads:  one, "rtl-drain"; see drainer.h.
 * Fails:    disk full: chunks stay in memory and are tried again; the traced process
 *           counts the records that it drops meanwhile.
 */
#include "cli/trace/drainer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/testpoint.h"
#include "cli/trace/converter.h"
#include "cli/trace/session.h"
#include "cli/trace/watch.h"
#include "cli/ui.h"
#include "spool/drain.h"
#include "spool/flight.h"

#define SLICE_BYTES (UINT64_C(16) << 20) /* drained of one spool before the next one */
/* recorded from one look at the sizes until the program has stopped, on a loaded machine */
#define LATE_BYTES (UINT64_C(2) << 20)
#define WAIT_MIN_MS 20
#define WAIT_MAX_MS 100
#define DEATH_CHECK_NS UINT64_C(500000000)

enum spool_state {
	SPOOL_NEW, /* not opened yet: its header may be incomplete */
	SPOOL_OPEN,
	SPOOL_DONE, /* complete on disk */
};

struct drained {
	char *path;
	struct drain *drain; /* NULL unless SPOOL_OPEN */
	struct flight flight;
	struct trigger trigger; /* without slots: not used */
	enum spool_state state;
	bool taken, running;
	bool has_executed; /* another program in its process */
	uint32_t pid;
	uint64_t start_ticks;
	uint64_t looked_ns;  /* when its process was last seen alive */
	uint64_t given_back; /* offset in the disk half */
	uint64_t was, is;    /* bytes of drained chunks in memory and on disk */
};

struct drainer {
	/* set in start, constant after */
	const char *dir;
	uint32_t child;
	struct drainer_limit limit;
	int wake_fd;
	pthread_t thread;
	/* the thread's, then those of the caller of drainer_stop() */
	struct drained *spools;
	size_t nr, max;
	struct watch *watch;
	struct drainer_triggers *triggers;
	int error;
	const int *child_status; /* NULL: not known */
	bool started, is_over;	 /* no status will come any more */
	bool is_full;		 /* the session has the size that it may have */
	_Atomic bool stop;
	_Atomic uint32_t nr_asked; /* snapshots that the user has asked for */
};

static struct drained *find_spool(struct drainer *d, const char *path)
{
	for (size_t i = 0; i < d->nr; i++)
		if (strcmp(d->spools[i].path, path) == 0)
			return &d->spools[i];
	return NULL;
}

/* Adds the spools that are new in the directory. */
static void scan_dir(struct drainer *d)
{
	char **paths;
	ssize_t nr = session_spools(d->dir, &paths);

	for (ssize_t i = 0; i < nr; i++) {
		if (find_spool(d, paths[i]))
			continue;
		if (d->nr == d->max) {
			d->max = d->max ? d->max * 2 : 8;
			d->spools = reallocarray(d->spools, d->max, sizeof(*d->spools));
			if (!d->spools)
				ui_die_memory();
		}
		memset(&d->spools[d->nr], 0, sizeof(d->spools[0]));
		d->spools[d->nr++].path = paths[i];
		paths[i] = NULL;
	}
	if (nr >= 0)
		session_free_spools(paths, (size_t)nr);
}

/* Reads pid and state from the disk half, for spools whose memory half is gone. */
static bool read_header(struct drained *s, bool *closed)
{
	struct spool_header *header = malloc(sizeof(*header));
	bool good;

	if (!header)
		ui_die_memory();
	good = fd_read_file(s->path, header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
	       header->magic == SPOOL_MAGIC;
	if (good) {
		s->pid = header->pid;
		s->start_ticks = header->proc_start_ticks;
		*closed = atomic_load_explicit(&header->closed, memory_order_relaxed) != 0;
	}
	free(header);
	return good;
}

/* A process has one trace for each program that it executes. */
static void note_earlier_program(struct drainer *d, const struct drained *s)
{
	for (size_t i = 0; i < d->nr; i++) {
		struct drained *other = &d->spools[i];

		if (other != s && other->state == SPOOL_OPEN && other->pid == s->pid &&
		    other->start_ticks == s->start_ticks &&
		    other->drain->header->start_ns < s->drain->header->start_ns)
			other->has_executed = true;
	}
}

/* The process learns it with its next tick. */
static void stop_recording(struct drained *s)
{
	if (s->drain)
		/* relaxed: nothing else is published */
		atomic_store_explicit(&s->drain->header->is_full, 1, memory_order_relaxed);
}

/* Bytes of the disk that a file takes. */
static uint64_t disk_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Bytes in memory of a spool's records that have no rows: on disk they are packed. */
static uint64_t unconverted(const struct drained *s)
{
	uint64_t done = 0, end = 0;
	struct stat st;

	if (s->drain) {
		/* relaxed, both: an estimate */
		done = atomic_load_explicit(&s->drain->header->converted, memory_order_relaxed);
		end = atomic_load_explicit(&s->drain->header->disk_end, memory_order_relaxed);
	} else if (stat(s->path, &st) == 0) {
		done = s->given_back;
		end = (uint64_t)st.st_size;
	}
	end = end > done ? end - done : 0;
	return s->is ? (uint64_t)((double)end * (double)s->was / (double)s->is) : end;
}

/* Stops recording when the session takes, or will take when all is converted, as much as it may:
 * the database of a record is at most twice as large as the record. */
static void check_limit(struct drainer *d)
{
	uint64_t late = d->limit.max_bytes / 8 < LATE_BYTES ? d->limit.max_bytes / 8 : LATE_BYTES;
	uint64_t bytes = d->limit.max_bytes / 16 + late;
	const struct converter_location where = { .dir = d->dir,
						  .outputs = { d->limit.output },
						  .nr = 1 };
	struct converter_found found;
	char database[PATH_MAX], error[SESSION_ERROR_SIZE];

	if (!d->limit.max_bytes || d->is_full)
		return;
	for (size_t i = 0; i < d->nr; i++) {
		const struct drained *s = &d->spools[i];

		bytes += disk_bytes(s->path) + 2 * unconverted(s);
		if (s->drain)
			bytes += 3 * drain_waiting(s->drain, true);
	}
	if (converter_find(&where, &found, error) > 0)
		bytes += disk_bytes(found.current) + disk_bytes(found.ending);
	for (unsigned int i = converter_names(d->limit.output);
	     i && converter_name(database, d->limit.output, i) == 0; i--)
		bytes += disk_bytes(database);
	d->is_full = bytes >= d->limit.max_bytes;
	for (size_t i = 0; i < d->nr && d->is_full; i++)
		stop_recording(&d->spools[i]);
}

static void open_spool(struct drainer *d, struct drained *s)
{
	struct drain *drain = malloc(sizeof(*drain));
	bool closed = false;

	if (!drain)
		ui_die_memory();
	if (drain_open(drain, s->path) == 0) {
		s->drain = drain;
		s->state = SPOOL_OPEN;
		s->pid = drain->header->pid;
		s->start_ticks = drain->header->proc_start_ticks;
		note_earlier_program(d, s);
		if (d->is_full)
			stop_recording(s);
		if (trigger_is_used(&d->triggers->options) &&
		    trigger_init(&s->trigger, &d->triggers->options, drain))
			ui_die_memory();
		return;
	}
	free(drain);
	if (read_header(s, &closed) && closed)
		s->state = SPOOL_DONE;
}

static void close_spool(struct drained *s)
{
	if (s->taken)
		drain_give(s->drain);
	drain_close(s->drain);
	free(s->drain);
	trigger_fini(&s->trigger);
	s->drain = NULL;
	s->taken = false;
}

static void note_failed_run(struct drainer *d, struct drained *s, int64_t got)
{
	if (got == -EBUSY) /* another drainer took over; it may release the spool again */
		s->taken = false;
	else if (got < 0)
		d->error = (int)-got;
}

static void note_end(const struct drainer *d, const struct drained *s)
{
	struct spool_header *h = s->drain->header;
	/* relaxed, all: the process is gone */
	uint32_t kind = atomic_load_explicit(&h->end_kind, memory_order_relaxed);
	uint32_t status = 0;

	/* the process has closed this trace itself, and gone on */
	if (kind == SPOOL_END_CLOSED)
		return;
	if (s->has_executed && kind == SPOOL_END_NONE) {
		kind = SPOOL_END_EXEC;
	} else if (s->pid == d->child && d->child_status && !s->has_executed &&
		   kind != SPOOL_END_EXEC) {
		if (WIFSIGNALED(*d->child_status)) {
			kind = SPOOL_END_SIGNAL;
			status = (uint32_t)WTERMSIG(*d->child_status);
		} else {
			kind = kind == SPOOL_END_EXIT ? SPOOL_END_EXIT : SPOOL_END_SUDDEN;
			status = (uint32_t)WEXITSTATUS(*d->child_status);
		}
	}
	atomic_store_explicit(&h->end_status, status, memory_order_relaxed);
	atomic_store_explicit(&h->end_kind, kind, memory_order_relaxed);
}

/* drain_run(), and notes how much smaller chunks become. */
static int64_t run(struct drained *s, bool final, uint64_t max_bytes, uint64_t now_ns)
{
	_Atomic uint64_t *end = &s->drain->header->disk_end;
	uint64_t before = atomic_load_explicit(end, memory_order_relaxed); /* an estimate */
	int64_t got = drain_run(s->drain, final, max_bytes, now_ns);

	if (got > 0) {
		s->was += (uint64_t)got;
		s->is += atomic_load_explicit(end, memory_order_relaxed) - before;
	}
	return got;
}

/* After the process ended: drains the rest to disk and closes the trace. */
static void finish_spool(struct drainer *d, struct drained *s)
{
	int64_t got;
	int err;

	if (!s->taken && !drain_take(s->drain, clock_boot_ns()))
		return; /* the process' own harvester still drains it */
	s->taken = true;
	note_end(d, s);
	got = run(s, true, 0, clock_boot_ns());
	note_failed_run(d, s, got);
	if (got < 0)
		return; /* tried again; else `rtl recover` reads both halves */
	note_failed_run(d, s, flight_step(&s->flight, s->drain, clock_boot_ns()));
	err = drain_finish(s->drain);
	if (err == -EAGAIN)
		return;
	if (err)
		d->error = -err;
	close_spool(s);
	s->state = SPOOL_DONE;
}

/* The name of a memory half is random; in another mount namespace its path may be another one. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A process in its exit handlers may record API calls until it is gone. The child is not taken for
 * gone before its status is known. */
static bool has_ended(const struct drainer *d, struct drained *s, uint64_t now_ns, bool look)
{
	uint32_t kind;

	if (s->has_executed)
		return true;
	kind = atomic_load_explicit(&s->drain->header->end_kind, memory_order_acquire);
	if (kind == SPOOL_END_EXIT || kind == SPOOL_END_EXEC)
		look = true;
	if (!look && now_ns - s->looked_ns < DEATH_CHECK_NS)
		return false;
	s->looked_ns = now_ns;
	if (!proc_alive(s->pid, s->start_ticks))
		return s->pid != d->child || d->child_status || d->is_over;
	s->has_executed = !proc_maps(s->pid, s->start_ticks, base_name(s->drain->header->mem_path));
	return s->has_executed;
}

/* Removes what is in the database (converter.h) from the spool. */
static void give_back(struct drainer *d, struct drained *s)
{
	/* acquire: pairs with the release in converter.c, after the rows */
	uint64_t upto = atomic_load_explicit(&s->drain->header->converted, memory_order_acquire);
	int64_t got;

	if (upto <= s->given_back)
		return;
	got = drain_evict(s->drain, upto);
	note_failed_run(d, s, got);
	if (got >= 0)
		s->given_back = upto;
}

/* Drains one spool once. Returns the number of bytes. */
static uint64_t drain_once(struct drainer *d, struct drained *s, bool look)
{
	uint64_t now_ns = clock_boot_ns();
	int64_t got;

	if (s->state == SPOOL_NEW)
		open_spool(d, s);
	if (s->state != SPOOL_OPEN)
		return 0;
	if (!s->taken && !drain_take(s->drain, now_ns))
		return 0;
	s->taken = true;
	if (has_ended(d, s, now_ns, look)) {
		finish_spool(d, s);
		return 0;
	}
	if (s->trigger.slots)
		drain_look(s->drain);
	got = run(s, false, SLICE_BYTES, now_ns);
	note_failed_run(d, s, got);
	if (got > 0)
		drain_header(s->drain);
	if (got >= 0)
		give_back(d, s);
	if (got >= 0)
		note_failed_run(d, s, flight_step(&s->flight, s->drain, now_ns));
	return got > 0 ? (uint64_t)got : 0;
}

/* Begins snapshots for what triggers and the user asked for. */
static void ask_snapshots(struct drainer *d)
{
	struct snapshots *s = &d->triggers->snapshots;
	uint32_t nr = atomic_exchange_explicit(&d->nr_asked, 0, memory_order_relaxed);

	snapshots_poll(s);
	if (nr && s->running)
		atomic_fetch_add_explicit(&d->nr_asked, nr, memory_order_relaxed); /* later */
	else if (nr)
		snapshots_ask(s, nr, "rtl got SIGUSR2");
	for (size_t i = 0; i < d->nr; i++) {
		uint64_t matched = trigger_take(&d->spools[i].trigger);

		if (matched)
			snapshots_ask(s, matched, d->spools[i].trigger.text);
	}
}

static void wake(struct drainer *d)
{
	uint64_t one = 1;

	if (write(d->wake_fd, &one, sizeof(one)) < 0)
		ui_error("%s: %s", d->dir,
			 strerror(errno)); /* the thread scans every 100 ms anyway */
}

void drainer_ask_snapshot(struct drainer *d)
{
	atomic_fetch_add_explicit(&d->nr_asked, 1, memory_order_relaxed);
	wake(d);
}

static void clear_wake(struct drainer *d)
{
	uint64_t nr;

	while (read(d->wake_fd, &nr, sizeof(nr)) < 0 && errno == EINTR)
		;
}

static void *drain_thread(void *arg)
{
	struct drainer *d = arg;
	int wait_ms = WAIT_MIN_MS;

	pthread_setname_np(pthread_self(), "rtl-drain");
	/* pairs with the release in drainer_halt(), which publishes nothing else */
	while (!atomic_load_explicit(&d->stop, memory_order_acquire)) {
		struct pollfd fds[] = { { .fd = d->wake_fd, .events = POLLIN },
					{ .fd = watch_fd(d->watch), .events = POLLIN } };
		uint64_t most = 0;
		bool soon = watch_look(d->watch);

		scan_dir(d);
		for (size_t i = 0; i < d->nr; i++) {
			uint64_t got = drain_once(d, &d->spools[i], false);

			if (got > most)
				most = got;
		}
		check_limit(d);
		ask_snapshots(d);
		if (most >= SLICE_BYTES / 2)
			continue; /* there is more: don't sleep */
		wait_ms = most || soon		     ? WAIT_MIN_MS :
			  wait_ms + 10 < WAIT_MAX_MS ? wait_ms + 10 :
						       WAIT_MAX_MS;
		if (poll(fds, 2, wait_ms) > 0 && fds[0].revents & POLLIN)
			clear_wake(d);
	}
	return NULL;
}

int drainer_start(struct drainer **out, const char *dir, uint32_t child,
		  const struct drainer_limit *limit, struct drainer_triggers *triggers)
{
	struct drainer *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->dir = dir;
	d->child = child;
	d->limit = *limit;
	d->triggers = triggers;
	d->watch = watch_start(dir, child);
	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = d->wake_fd < 0 ? errno : pthread_create(&d->thread, NULL, drain_thread, d);
	if (err) {
		drainer_destroy(d);
		return -err;
	}
	d->started = true;
	*out = d;
	return 0;
}

static size_t count_open(const struct drainer *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nr; i++)
		n += d->spools[i].state == SPOOL_OPEN;
	return n;
}

void drainer_halt(struct drainer *d)
{
	if (!d->started)
		return;
	atomic_store_explicit(&d->stop, true, memory_order_release);
	wake(d);
	pthread_join(d->thread, NULL);
	d->started = false;
}

void drainer_stop(struct drainer *d, uint64_t grace_ms, const int *status)
{
	uint64_t until = ui_now_ns() + grace_ms * 1000000;

	drainer_halt(d);
	snapshots_end(&d->triggers->snapshots); /* what came since is in the database */
	d->child_status = status;
	d->is_over = true;
	for (;;) {
		RTL_TESTPOINT("drainer_stops");
		scan_dir(d);
		for (size_t i = 0; i < d->nr; i++)
			while (!ui_stopped_by() &&
			       drain_once(d, &d->spools[i], true) >= SLICE_BYTES)
				;
		if (!count_open(d) || ui_now_ns() >= until || ui_stopped_by())
			break;
		poll(NULL, 0, 10);
	}
	for (size_t i = 0; i < d->nr; i++) {
		struct drained *s = &d->spools[i];

		if (s->state == SPOOL_OPEN) {
			s->running = proc_alive(s->pid, s->start_ticks);
			close_spool(s);
			s->state = SPOOL_NEW;
		}
	}
	watch_conclude(d->watch);
	scan_dir(d);
}

void drainer_destroy(struct drainer *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr; i++)
		free(d->spools[i].path);
	free(d->spools);
	watch_destroy(d->watch);
	if (d->wake_fd >= 0)
		close(d->wake_fd);
	free(d);
}

size_t drainer_nr(const struct drainer *d)
{
	return d->nr;
}

const char *drainer_path(const struct drainer *d, size_t i)
{
	return d->spools[i].path;
}

bool drainer_running(const struct drainer *d, size_t i)
{
	return d->spools[i].running;
}

uint32_t drainer_pid(const struct drainer *d, size_t i)
{
	return d->spools[i].pid;
}

const char *drainer_suspect(const struct drainer *d)
{
	return watch_suspect(d->watch);
}

int drainer_error(const struct drainer *d)
{
	return d->error;
}
